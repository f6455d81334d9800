/* SPDX-License-Identifier: Apache-2.0 */
/* emit_cortexm.c -- see emit_cortexm.h. */
#include "emit_cortexm.h"

#include "emit_c.h"
#include "model.h"

/* Codes to floats or other codes, integers and bools to others. */
static bool converts(const tc_graph *g, const tc_node *node)
{
    return node->op == TC_OP_rescale ||
           (node->op == TC_OP_cast && !ti_is_float(ti_type_of(g, node->in[0])->dtype) &&
            !ti_is_float(ti_type_of(g, node->out[0])->dtype));
}

/* The program's own value behind an operand of the call. */
static tc_val given(const tc_graph *g, tc_val v)
{
    const tc_node *def = ti_def(g, v);
    return def && converts(g, def) ? def->in[0] : v;
}

/* A number of one side of the program that is a number of its region's, converted. */
static bool is_border(const tc_graph *g, const tc_node *node, const tc_node *call)
{
    if (node->op == TC_OP_const || node == call)
        return true;
    if (!converts(g, node))
        return false;
    const tc_node *def = ti_def(g, node->in[0]);
    return !def || def == call;
}

/* What the region is given comes from the program's inputs, and what it gives goes to the outputs. */
static bool is_all(const tc_graph *g, const tc_node *call)
{
    bool all = true;
    for (int i = 0; call && i < call->n_in; i++)
        all = all && !ti_def(g, given(g, call->in[i]));
    for (size_t k = 0; call && k < g->n_out; k++)
        all = all && ti_def(g, given(g, g->out[k])) == call;
    return all;
}

/* What else there is: the target has no kernels of floats. */
static tc_status check_whole(tc_ctx *ctx, const tc_compiled *c, const tc_node *call)
{
    const tc_graph *g = ti_main(c->module);
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (is_border(g, node, call))
            continue;
        tc_status status = ti_unsupported(
            ctx, node->loc, TC_E_UNSUPPORTED,
            "'%s' has no integer form, and C for '%s' has integers only", tc_ops[node->op].name,
            c->target.text);
        ti_note(ctx, NULL, "'tosac explain' says why it is not lowered");
        return status;
    }
    if (!is_all(g, call))
        return ti_unsupported(ctx, &(tc_loc){.file = c->module->file}, TC_E_UNSUPPORTED,
                              "a constant or an input goes past the integers of the program, and C "
                              "for '%s' has those only",
                              c->target.text);
    if (!g->n_mutation)
        return TC_OK;
    return ti_unsupported(
        ctx, &(tc_loc){.file = c->module->file}, TC_E_UNSUPPORTED,
        "a buffer of %s lasts from run to run, and C for '%s' has variables of i8",
        ti_type_text(&ctx->arena, ti_type_of(g, g->mutation[0].before)), c->target.text);
}

/* What the codes of a port stand for, where the file says it beside plain integers. */
static const tc_quant *codes_of(const tc_module *m, tc_val v, bool output)
{
    const tc_port *port = output ? m->out_port : m->in_port;
    for (size_t i = 0; i < (output ? m->n_out_port : m->n_in_port); i++)
        if (port[i].val == v && port[i].codes)
            return port[i].codes->quant;
    return NULL;
}

/* One side of the region in the order of the program: its values, and what the user knows of them. */
typedef struct side {
    tc_val *val;
    tc_c_port *port;
    size_t *place; /* in the program */
    size_t n;
} side;

static side new_side(tc_ctx *ctx, size_t n)
{
    return (side){tc_new_n(&ctx->arena, tc_val, n), tc_new_n(&ctx->arena, tc_c_port, n),
                  tc_new_n(&ctx->arena, size_t, n), 0};
}

static void insert(side *s, size_t place, tc_val v, const char *name, const tc_quant *quant)
{
    size_t i = s->n++;
    for (; i && s->place[i - 1] > place; i--) {
        s->val[i] = s->val[i - 1];
        s->port[i] = s->port[i - 1];
        s->place[i] = s->place[i - 1];
    }
    s->val[i] = v;
    s->port[i] = (tc_c_port){name, quant};
    s->place[i] = place;
}

static side inputs_of(tc_ctx *ctx, const tc_compiled *c, const tc_node *call,
                      const tc_graph *region)
{
    const tc_graph *g = ti_main(c->module);
    side s = new_side(ctx, region->n_in);
    for (size_t i = 0; i < region->n_in; i++) {
        tc_val v = call ? given(g, call->in[i]) : g->in[i];
        const tc_quant *q = ti_type_of(region, region->in[i])->quant;
        size_t place = (size_t)ti_value_of(g, v)->index;
        insert(&s, place, region->in[i], ti_input_name(g, place),
               q ? q : codes_of(c->module, v, false));
    }
    return s;
}

static side outputs_of(tc_ctx *ctx, const tc_compiled *c, const tc_node *call,
                       const tc_graph *region)
{
    const tc_graph *g = ti_main(c->module);
    side s = new_side(ctx, region->n_out);
    for (size_t i = 0; i < region->n_out; i++) {
        const tc_quant *q = ti_type_of(region, region->out[i])->quant;
        size_t k = 0;
        while (k < g->n_out && (call ? given(g, g->out[k]) != call->out[i] : k != i))
            k++;
        bool shown = k < g->n_out;
        insert(&s, k, region->out[i], shown ? ti_output_name_of(g, k) : NULL,
               q || !shown ? q : codes_of(c->module, g->out[k], true));
    }
    return s;
}

tc_status ti_emit_cortexm(tc_ctx *ctx, const tc_compiled *c, const char *path, tc_c_source *out)
{
    const tc_node *call = NULL;
    if (c->n_region > 1)
        return ti_unsupported(ctx, &(tc_loc){.file = c->module->file}, TC_E_UNSUPPORTED,
                              "the program has %zu parts of integers, and C for '%s' one",
                              c->n_region, c->target.text);
    const tc_module *region = c->n_region ? c->region[0].module : c->module;
    if (ti_main(c->module) != ti_main(region))
        call = ti_call_of(ti_main(c->module), c->region[0].name);
    if (call || !c->n_region)
        TC_TRY(check_whole(ctx, c, call));
    tc_module *module = ti_module_clone(region);
    tc_graph *g = ti_main(module);
    side in = inputs_of(ctx, c, call, g), outs = outputs_of(ctx, c, call, g);
    g->in = in.val;
    g->out = outs.val;
    tc_c_request request = {.name = ti_c_symbol(ctx, path),
                            .stem = ti_c_stem(ctx, path),
                            .target = c->target.text,
                            .core = c->target.machine->core,
                            .machine = c->target.machine,
                            .in = in.port,
                            .out = outs.port};
    return ti_cortexm_write(ctx, module, &request, out);
}
