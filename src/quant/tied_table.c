/* SPDX-License-Identifier: Apache-2.0 */
/* tied_table.c -- a table of embeddings whose numbers are a layer's weights, too, is its codes.
 *
 *   embedding(W, i) in 16 bits  =>  embedding(Q, i) * embedding(S, i)      W[r, c] ~ S[r] Q[r, c]
 *
 * Q: the 8-bit codes that the layer has, without its scales, so that a file has them once; S: the
 * layer's scales, one for each row, in 16 bits.  A table in the domain of its rows would have 16
 * bits a number, and be another. */
#include "apply.h"

#include <math.h>

/* The layer, if its weights are rows of 8-bit codes. */
static const tc_node *layer_of(const tc_apply *a, const tc_node *node)
{
    const tc_graph *g = a->rw->from;
    const tc_type *rows = ti_apply_domain(a, node->out[0]);
    if (node->op != TC_OP_embedding || !rows || rows->dtype != TC_i16 || a->config->anchor ||
        !ti_is_tied(g, node->in[0]))
        return NULL;
    const tc_node *layer =
        ti_reader_of_data(g, ti_tensor_of(g, node->in[0]).data, TC_OP_linear, false);
    if (ti_type_of(g, layer->in[1]) != ti_type_of(g, node->in[0]) ||
        !ti_dataflow_quantizes(&a->flow, layer))
        return NULL;
    const tc_setting *s = &a->flow.scheme[layer->out[0]].weight;
    return s->dtype == TC_i8 && s->per_channel && !s->group ? layer : NULL;
}

/* The scales by row, as codes of 16 bits. */
static tc_val scales_of(tc_build *b, const tc_quant *q)
{
    const int64_t dim[] = {q->count, 1};
    double most = 0;
    for (int32_t r = 0; r < q->count; r++)
        most = fmax(most, q->scale[r]);
    double step = (double)(float)(most / INT16_MAX);
    const tc_type *type = ti_apply_type(b->ctx, ti_type_make(b->ctx, TC_f32, 2, dim), TC_i16,
                                        -INT16_MAX, INT16_MAX, step, 0);
    tc_tensor t = ti_tensor_new(&b->ctx->arena, type);
    for (int32_t r = 0; r < q->count; r++)
        ((int16_t *)t.data)[r] = (int16_t)fmin(nearbyint(q->scale[r] / step), INT16_MAX);
    return ti_b_const(b, t, NULL);
}

/* Rows of a table of codes, in its domain. */
static tc_val rows_of(tc_build *b, tc_val table, tc_val index)
{
    TC_STOP_WITH(b, TC_NONE);
    const tc_type *t = ti_b_type(b, table), *i = ti_b_type(b, index);
    int64_t dim[TC_MAX_RANK];
    for (int k = 0; k < i->rank; k++)
        dim[k] = i->dim[k];
    dim[i->rank] = t->dim[1];
    return ti_b_typed(b, TC_OP_embedding, NULL, (tc_val[]){table, index}, 2,
                      ti_type_dims(b->ctx, t, i->rank + 1, dim));
}

tc_status ti_apply_tied(tc_apply *a, const tc_node *node, tc_val *out)
{
    const tc_node *layer = layer_of(a, node);
    tc_val weights, index;
    *out = TC_NONE;
    if (!layer)
        return TC_OK;
    TC_TRY(ti_apply_fixed_operand(a, layer, 1, &weights));
    TC_TRY(ti_apply_real(a, node->in[1], node->loc, &index));
    tc_tensor codes = ti_tensor_of(a->rw->to, weights);
    const tc_quant *q = codes.type->quant;
    if (codes.type->dtype != TC_i8 || !q || q->axis != 0)
        return TC_OK;
    tc_build b = {.ctx = a->rw->ctx, .g = a->rw->to, .loc = node->loc};
    const tc_type *y = ti_apply_domain(a, node->out[0]);
    tc_val table = ti_b_data(&b, ti_apply_type(b.ctx, codes.type, TC_i8, q->lo, q->hi, 1, 0), codes.data),
           row = rows_of(&b, table, index), scale = rows_of(&b, scales_of(&b, q), index);
    *out = ti_b_typed(&b, TC_OP_mul, NULL, (tc_val[]){row, scale}, 2, y);
    return b.status;
}
