/* SPDX-License-Identifier: Apache-2.0 */
/* tflm_inputs.c -- i64 inputs become i32, with a cast to what they were: GATHER takes i32 indices alone. */
#include "tflm_forms.h"
#include "tflm_select.h"

/* Control flow and operators that stay whole have the type that they name. */
static bool is_free(const tc_graph *g, tc_val v)
{
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++)
            if (g->node[k]->in[i] == v && tc_ops[g->node[k]->op].traits & T_CONTROL)
                return false;
    return !ti_graph_keeps(g, v);
}

static const char *name_of(const tc_module *m, const tc_graph *g, tc_val v)
{
    for (size_t i = 0; i < m->signature.n_in; i++)
        if (m->signature.in[i].val == v && m->signature.in[i].name)
            return m->signature.in[i].name;
    return g->val[v]->name ? g->val[v]->name : "";
}

static void narrow(tc_ctx *ctx, tc_module *module, tc_val v, const tc_loc *loc)
{
    tc_graph *g = ti_main(module);
    const tc_type *wide = ti_type_of(g, v);
    tc_attr_cast *a = tc_new(&ctx->arena, tc_attr_cast);
    a->dtype = TC_i64;
    g->val[v]->type = ti_type_make(ctx, TC_i32, wide->rank, wide->dim);
    tc_node *cast = ti_graph_add(g, TC_OP_cast, a, &v, 1, 1, loc);
    g->val[cast->out[0]]->type = wide;
    ti_graph_read_instead(g, v, cast->out[0]);
    cast->in[0] = v;
    for (size_t i = 0; i < g->n_mutation; i++)
        if (g->mutation[i].after == v)
            g->mutation[i].after = cast->out[0];
    for (size_t i = 0; i < module->signature.n_out; i++)
        if (module->signature.out[i].val == v)
            module->signature.out[i].val = cast->out[0];
}

bool ti_tflm_narrow_inputs(tc_ctx *ctx, tc_module *module)
{
    tc_graph *g = ti_main(module);
    size_t n = 0;
    tc_loc *loc = tc_new(&ctx->arena, tc_loc);
    loc->file = module->file;
    if (module->origin.source.size) /* inputs of a .tflite are as they are there */
        return false;
    for (size_t i = 0; i < g->n_in; i++) {
        if (ti_type_of(g, g->in[i])->dtype != TC_i64 || !is_free(g, g->in[i]))
            continue;
        ti_warning(ctx, loc, TC_E_TYPE,
                   "input %zu '%s' is i64, which TensorFlow Lite Micro does not index with: in the "
                   "file it is i32, and its numbers must fit",
                   i, name_of(module, g, g->in[i]));
        narrow(ctx, module, g->in[i], loc);
        n++;
    }
    if (n)
        ti_graph_to_front(g, n);
    return n;
}
