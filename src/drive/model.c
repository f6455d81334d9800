/* SPDX-License-Identifier: Apache-2.0 */
/* model.c -- see model.h. */
#include "model.h"

#include "../base/enter.h"

tc_model *ti_model_of(tc_ctx *ctx, const char *name, tc_module *module)
{
    tc_model *model = tc_new(&ctx->arena, tc_model);
    *model = (tc_model){ti_intern_text(ctx, name), module};
    return model;
}

/* The i-th of the module's ports that are tensors; NULL: there are fewer.  Most often all are. */
static const tc_port *port_at(const tc_graph *g, bool output, size_t i)
{
    const tc_module *m = g->module;
    const tc_port *port = output ? m->signature.out : m->signature.in;
    size_t n = output ? m->signature.n_out : m->signature.n_in, at = 0;
    if (i < n && g == ti_main(m) && n == (output ? g->n_out : g->n_in) &&
        port[i].val == (output ? g->out[i] : g->in[i]))
        return &port[i];
    for (size_t k = 0; k < n; k++)
        if (port[k].val != TC_NONE && at++ == i)
            return &port[k];
    return NULL;
}

const char *ti_input_name(const tc_graph *g, size_t i)
{
    const tc_port *port = port_at(g, false, i);
    return port ? port->name : g->val[g->in[i]]->name;
}

const char *ti_output_name_of(const tc_graph *g, size_t i)
{
    const tc_port *port = port_at(g, true, i);
    return port ? port->name : g->val[g->out[i]]->name;
}

const tc_type *ti_port_codes(const tc_graph *g, bool output, size_t i)
{
    const tc_port *port = g == ti_main(g->module) ? port_at(g, output, i) : NULL;
    const tc_type *type = ti_type_of(g, output ? g->out[i] : g->in[i]);
    const tc_type *codes = port ? port->codes : NULL;
    return codes && codes->dtype == type->dtype && !type->quant ? codes : type;
}

bool ti_port_fill(const tc_graph *g, bool output, size_t i, tc_port_info *out)
{
    if (i >= (output ? g->n_out : g->n_in))
        return 0;
    tc_val v = output ? g->out[i] : g->in[i];
    ti_fill_record(out,
                   &(tc_port_info){.name = output ? ti_output_name_of(g, i) : ti_input_name(g, i),
                                   .type = ti_port_codes(g, output, i),
                                   .value = v},
                   sizeof *out);
    return 1;
}

static tc_status after_pass(void *user, const tc_module *module, const tc_pass *pass)
{
    tc_pass_hook *hook = user;
    tc_model lent = {module->file, (tc_module *)(uintptr_t)module};
    return hook->on_pass(hook->user, &lent, pass->name);
}

tc_trace ti_hook_trace(tc_pass_hook *hook)
{
    return (tc_trace){after_pass, hook};
}
