/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_parts.c -- parts of a value, and products of two, in int8 programs. */
#include "tflite_int8.h"

static const tc_type *type_of(const tc_tf8 *e, tc_val v) { return ti_type_of(e->w.g, v); }

/* A value as [outer, n, inner]: STRIDED_SLICE takes four axes at most. */
typedef struct three {
    int64_t from, dim[3];
} three;

static three as_three(tc_tf8 *e, tc_val v, int64_t axis)
{
    const tc_type *t = type_of(e, v);
    three x = {.dim = {1, t->dim[axis], 1}};
    for (int i = 0; i < t->rank; i++)
        if (i != axis)
            x.dim[i < axis ? 0 : 2] *= t->dim[i];
    int64_t at = ti_tf8_plain(e, v);
    x.from = ti_tf8_like(e, at, 3, x.dim);
    ti_tf8_move(e, TC_TFLM_RESHAPE, at, ti_tf8_list(e, x.dim, 3), x.from);
    return x;
}

/* Elements [start, end) of the middle axis, every step-th, of so many. */
static int64_t put_slice(tc_tf8 *e, const three *x, int64_t start, int64_t end, int64_t step, int64_t n)
{
    const int64_t begin[3] = {0, start, 0}, stop[3] = {x->dim[0], end, x->dim[2]}, by[3] = {1, step, 1},
                  dim[3] = {x->dim[0], n, x->dim[2]};
    int64_t in[4] = {x->from, ti_tf8_list(e, begin, 3), ti_tf8_list(e, stop, 3), ti_tf8_list(e, by, 3)};
    int64_t to = ti_tf8_like(e, x->from, 3, dim);
    tc_tfw_op *op = ti_tf8_op(e, TC_TFLM_STRIDED_SLICE, 1, in, 4, to);
    for (int i = 0; i < 5; i++) /* masks */
        ti_tf8_set(op, i, 'i', 0);
    return to;
}

/* In the shape of the result. */
static void put_part(tc_tf8 *e, int64_t part, tc_val to)
{
    const tc_type *t = type_of(e, to);
    ti_tf8_move(e, TC_TFLM_RESHAPE, part, ti_tf8_list(e, t->dim, t->rank), ti_tfw_tensor(&e->w, to));
}

static const char *check_codes(const tc_tf8 *e, const tc_node *node)
{
    const tc_type *t = type_of(e, node->in[0]);
    for (int i = 0; i < node->n_out; i++) {
        const tc_quant *q = type_of(e, node->out[i])->quant;
        if (!q || q->scale[0] != t->quant->scale[0] || q->zero[0] != t->quant->zero[0])
            return "its results have other scales";
    }
    return NULL;
}

static const char *put_one(tc_tf8 *e, const tc_node *node)
{
    const tc_attr_slice *a = node->attr;
    three x = as_three(e, node->in[0], a->axis);
    int64_t n = type_of(e, node->out[0])->dim[a->axis];
    put_part(e, put_slice(e, &x, a->start, a->end, a->step, n), node->out[0]);
    return NULL;
}

static const char *put_selected(tc_tf8 *e, const tc_node *node)
{
    const tc_attr_select *a = node->attr;
    three x = as_three(e, node->in[0], a->axis);
    put_part(e, put_slice(e, &x, a->index, a->index + 1, 1, 1), node->out[0]);
    return NULL;
}

static const char *put_pieces(tc_tf8 *e, const tc_node *node)
{
    const tc_attr_split *a = node->op == TC_OP_split ? node->attr : NULL;
    three x = as_three(e, node->in[0], a ? a->axis : ((const tc_attr_axis *)node->attr)->axis);
    int64_t start = 0;
    for (int i = 0; i < node->n_out; i++) {
        int64_t n = a ? a->sizes.v[i] : 1;
        put_part(e, put_slice(e, &x, start, start + n, 1, n), node->out[i]);
        start += n;
    }
    return NULL;
}

const char *ti_tf8_parts(tc_tf8 *e, const tc_node *node)
{
    const char *why = check_codes(e, node);
    return why                         ? why
           : node->op == TC_OP_slice  ? put_one(e, node)
           : node->op == TC_OP_select ? put_selected(e, node)
                                      : put_pieces(e, node);
}

const char *ti_tf8_matmul(tc_tf8 *e, const tc_node *node)
{
    int64_t in[2] = {ti_tf8_plain(e, node->in[0]), ti_tf8_plain(e, node->in[1])};
    if (type_of(e, node->out[0])->rank > 4 || type_of(e, node->in[0])->rank < 2 ||
        type_of(e, node->in[1])->rank < 2)
        return "its operands are no matrices, or have more than four axes";
    tc_tfw_op *op = ti_tf8_op(e, TC_TFLM_BATCH_MATMUL, 2, in, 2, ti_tfw_tensor(&e->w, node->out[0]));
    ti_tf8_set(op, 0, 'b', 0);
    ti_tf8_set(op, 1, 'b', 0);
    return NULL;
}
