/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_choice.c -- in int8 programs: what only compares or moves codes, which then have one scale, and
 * what has no codes at all. */
#include "tflite_int8.h"

#include <math.h>

enum { MOST_AXES = 4 };

static const int64_t channels_last[] = {0, 3, 1, 2}; /* by axis: its place there */

static const tc_type *type_of(const tc_tf8 *e, tc_val v) { return ti_type_of(e->w.g, v); }

/* A constant of one code in the codes of a tensor. */
static int64_t code_like(tc_tf8 *e, int64_t like, double v)
{
    static const int64_t one = 1;
    int64_t at = ti_tf8_like(e, like, 1, &one);
    ti_tf8_narrow(e, at);
    tc_tfw_tensor *t = &e->w.model.tensor[at];
    int8_t *code = ti_arena_raw(&e->w.ctx->arena, 1);
    *code = (int8_t)ti_tf8_clipped(v, (float)t->scale[0], (double)t->zero[0]);
    t->constant = true;
    t->data = (tc_bytes){(const uint8_t *)code, 1};
    return at;
}

/* Operands in one layout, with the codes of the result. */
static void operands(tc_tf8 *e, const tc_node *node, int first, int64_t *in, int64_t *to)
{
    const tc_type *y = type_of(e, node->out[0]);
    bool last = y->rank == 4 && first == 0;
    for (int i = first; i < node->n_in; i++)
        last = last && e->last[node->in[i]] && type_of(e, node->in[i])->rank == y->rank;
    *to = last ? ti_tf8_new_last(e, node->out[0]) : ti_tfw_tensor(&e->w, node->out[0]);
    for (int i = 0; i < node->n_in; i++) {
        in[i] = last ? ti_tf8_last(e, node->in[i]) : ti_tf8_plain(e, node->in[i]);
        if (i >= first)
            in[i] = ti_tf8_with_codes(e, in[i], *to);
    }
}

const char *ti_tf8_other_codes(const tc_tf8 *e, const tc_node *node, int first)
{
    tc_dtype kind = type_of(e, node->out[0])->dtype;
    for (int i = first; i < node->n_in; i++)
        if (!ti_tf8_is_code(type_of(e, node->in[i])) || type_of(e, node->in[i])->dtype != kind)
            return "an operand is no int8";
    return NULL;
}

/* One operator on operands that have, from `first` on, the codes of the result. */
static const char *put_choice(tc_tf8 *e, const tc_node *node, int first, tc_tflm_name name, int version)
{
    int64_t in[3], to;
    const char *why = ti_tf8_other_codes(e, node, first);
    if (why || type_of(e, node->out[0])->rank > MOST_AXES)
        return why ? why : "it has more than four axes";
    operands(e, node, first, in, &to);
    ti_tf8_op(e, name, version, in, (size_t)node->n_in, to);
    return NULL;
}

const char *ti_tf8_larger(tc_tf8 *e, const tc_node *node)
{
    return put_choice(e, node, 0, node->op == TC_OP_maximum ? TC_TFLM_MAXIMUM : TC_TFLM_MINIMUM, 2);
}

const char *ti_tf8_either(tc_tf8 *e, const tc_node *node)
{
    return put_choice(e, node, 1, TC_TFLM_SELECT_V2, 1);
}

/* REDUCE_MAX and REDUCE_MIN give the codes that they read. */
const char *ti_tf8_largest(tc_tf8 *e, const tc_node *node)
{
    const tc_attr_axes *a = node->attr;
    const tc_type *y = type_of(e, node->out[0]);
    int64_t from = ti_tf8_plain(e, node->in[0]), to = ti_tfw_tensor(&e->w, node->out[0]);
    int64_t in[2] = {from, ti_tf8_list(e, a->axes.v, a->axes.n)};
    int64_t most = ti_tf8_same_codes(e, from, to) ? to : ti_tf8_like(e, from, y->rank, y->dim);
    tc_tfw_op *op = ti_tf8_op(e, node->op == TC_OP_amax ? TC_TFLM_REDUCE_MAX : TC_TFLM_REDUCE_MIN, 2,
                              in, 2, most);
    ti_tf8_set(op, 0, 'b', a->keepdim);
    if (most != to)
        ti_tf8_op(e, TC_TFLM_QUANTIZE, 2, &most, 1, to);
    return NULL;
}

/* ARG_MAX and ARG_MIN: 32-bit places, without the axis.  Of channels that are last the places of an
 * image are in its own order. */
const char *ti_tf8_place(tc_tf8 *e, const tc_node *node)
{
    const tc_attr_arg *a = node->attr;
    const tc_type *x = type_of(e, node->in[0]), *y = type_of(e, node->out[0]);
    if (y->dtype != TC_i32 || !ti_tf8_is_code(x))
        return "its places have 64 bits";
    bool last = x->rank == 4 && a->axis == 1 && e->last[node->in[0]];
    int64_t from = last ? ti_tf8_last(e, node->in[0]) : ti_tf8_plain(e, node->in[0]);
    int64_t axis = last ? channels_last[a->axis] : a->axis, dim[TC_MAX_RANK];
    int64_t to = ti_tfw_tensor(&e->w, node->out[0]), found = to;
    int rank = 0;
    for (int i = 0; i < x->rank; i++)
        if (i != a->axis)
            dim[rank++] = x->dim[i];
    if (a->keepdim)
        found = ti_tf8_like(e, to, rank, dim);
    int64_t in[2] = {from, ti_tfw_ints(&e->w, &axis, 1, 0, NULL)};
    tc_tfw_op *op = ti_tf8_op(e, node->op == TC_OP_argmax ? TC_TFLM_ARG_MAX : TC_TFLM_ARG_MIN, 1, in, 2, found);
    ti_tf8_set(op, 0, 'b', TFL_INT32);
    if (a->keepdim)
        ti_tf8_move(e, TC_TFLM_RESHAPE, found, ti_tf8_list(e, y->dim, y->rank), to);
    return NULL;
}

const char *ti_tf8_pad(tc_tf8 *e, const tc_node *node)
{
    const tc_attr_pad *a = node->attr;
    const tc_type *t = type_of(e, node->in[0]);
    bool last = t->rank == 4 && e->last[node->in[0]];
    int64_t from, to, pads[2 * TC_MAX_RANK], shape[2] = {t->rank, 2};
    if (t->rank > MOST_AXES)
        return "it has more than four axes";
    for (int i = 0; i < a->pad.n; i++)
        if (a->mode != TC_pad_mode_constant || a->pad.v[i] < 0)
            return "it crops, or pads with its own elements";
    ti_tf8_like_operand(e, node, 0, &from, &to);
    for (int i = 0; i < t->rank; i++)
        for (int k = 0; k < 2; k++)
            pads[2 * (last ? channels_last[i] : i) + k] = a->pad.v[2 * i + k];
    from = ti_tf8_with_codes(e, from, to);
    int64_t in[3] = {from, ti_tfw_ints(&e->w, pads, 2 * t->rank, 2, shape), code_like(e, to, a->value)};
    ti_tf8_op(e, TC_TFLM_PADV2, 2, in, 3, to);
    return NULL;
}

void ti_tf8_bounds(tc_tf8 *e, double lo, double hi)
{
    const struct {
        double bound;
        tc_tflm_name name;
    } side[] = {{lo, TC_TFLM_MAXIMUM}, {hi, TC_TFLM_MINIMUM}};
    for (size_t i = 0; i < TC_COUNT(side); i++) {
        if (!isfinite(side[i].bound))
            continue;
        tc_tfw_op *op = &e->w.model.op[e->w.model.n_op - 1];
        int64_t to = op->out[0];
        const tc_tfw_tensor t = e->w.model.tensor[to];
        int64_t in[2] = {ti_tf8_like(e, to, t.rank, t.dim), code_like(e, to, side[i].bound)};
        op->out[0] = in[0];
        ti_tf8_op(e, side[i].name, 2, in, 2, to);
    }
}

/* ---- without codes ---- */

/* Elementwise on one layout where all operands that are no single numbers have channels last.  TRANSPOSE
 * moves no truth and no 32-bit integers, should another order be wanted. */
static bool is_last(const tc_tf8 *e, const tc_node *node)
{
    const tc_type *y = type_of(e, node->out[0]);
    bool elementwise = tc_ops[node->op].traits & T_ELTWISE || node->op == TC_OP_quantize || node->op == TC_OP_dequantize;
    bool moves = y->quant || y->dtype == TC_f32;
    bool some = false, all = elementwise && moves && y->rank == 4 && node->n_out == 1;
    for (int i = 0; i < node->n_in && all; i++) {
        const tc_type *x = type_of(e, node->in[i]);
        bool number = node->in[i] && ti_is_const(e->w.g, node->in[i]) && tc_type_count(x) == 1;
        all = number || (node->in[i] && x->rank == 4 && e->last[node->in[i]]);
        some = some || !number;
    }
    return all && some;
}

const char *ti_tf8_row(tc_tf8 *e, const tc_node *node)
{
    const tc_tflm_row *row = ti_tflm_row_for(e->w.g, node);
    if (!row)
        return "TensorFlow Lite Micro has no operator for it";
    bool last = is_last(e, node);
    int64_t kept[TC_MAX_RANK + 1];
    int n = last ? node->n_in : 0;
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] && !last)
            ti_tf8_plain(e, node->in[i]);
    for (int i = 0; i < n; i++) {
        kept[i] = e->w.of[node->in[i]];
        if (e->last[node->in[i]])
            e->w.of[node->in[i]] = e->last[node->in[i]];
    }
    if (last)
        e->w.of[node->out[0]] = ti_tf8_new_last(e, node->out[0]) + 1;
    ti_tfw_builtin(&e->w, node, row);
    for (int i = n - 1; i >= 0; i--)
        e->w.of[node->in[i]] = kept[i];
    if (last)
        e->w.of[node->out[0]] = 0;
    return NULL;
}
