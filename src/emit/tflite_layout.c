/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_layout.c -- tensors of int8 programs in the order of axes that their readers want. */
#include "tflite_int8.h"

int64_t ti_tf8_like(tc_tf8 *e, int64_t tensor, int rank, const int64_t *dim)
{
    tc_tfw_tensor t = e->w.model.tensor[tensor];
    t.rank = rank;
    t.dim = ti_arena_copy(&e->w.ctx->arena, dim, (size_t)rank * sizeof *dim);
    t.constant = t.variable = false;
    t.data = (tc_bytes){NULL, 0};
    t.offset = -1;
    return ti_tfw_add_tensor(&e->w, t);
}

int64_t ti_tf8_list(tc_tf8 *e, const int64_t *v, int64_t n)
{
    return ti_tfw_ints(&e->w, v, n, 1, &n);
}

void ti_tf8_move(tc_tf8 *e, tc_tflm_name name, int64_t from, int64_t list, int64_t to)
{
    const tc_tflm_builtin *b = &tc_tflm_builtins[name];
    tc_tfw_op *op = ti_tfw_add_op(&e->w, 2, 1);
    op->code = b->code;
    op->version = b->version;
    op->options = name == TC_TFLM_RESHAPE ? 0 : b->options;
    op->in[0] = from;
    op->in[1] = list;
    op->out[0] = to;
}

tc_bytes ti_tf8_reorder(tc_tf8 *e, tc_val v, const int64_t *dim, const int64_t *step)
{
    const tc_value *value = ti_value_of(e->w.g, v);
    size_t each = tc_dtypes[value->type->dtype].bytes, n = 0;
    uint8_t *to = ti_arena_raw(&e->w.ctx->arena, tc_type_bytes(value->type) + 1);
    const uint8_t *from = value->data;
    for (int64_t a = 0; a < dim[0]; a++)
        for (int64_t b = 0; b < dim[1]; b++)
            for (int64_t c = 0; c < dim[2]; c++)
                for (int64_t d = 0; d < dim[3]; d++, n++) {
                    int64_t at = a * step[0] + b * step[1] + c * step[2] + d * step[3];
                    memcpy(to + n * each, from + (size_t)at * each, each);
                }
    return (tc_bytes){to, n * each};
}

bool ti_tf8_same_codes(const tc_tf8 *e, int64_t a, int64_t b)
{
    const tc_tfw_tensor *x = &e->w.model.tensor[a], *y = &e->w.model.tensor[b];
    return x->type == y->type && x->scale[0] == y->scale[0] && x->zero[0] == y->zero[0];
}

int64_t ti_tf8_with_codes(tc_tf8 *e, int64_t at, int64_t like)
{
    ti_tf8_narrow(e, at);
    ti_tf8_narrow(e, like);
    const tc_tfw_tensor t = e->w.model.tensor[at];
    if (ti_tf8_same_codes(e, at, like))
        return at;
    int64_t new = ti_tf8_like(e, like, t.rank, t.dim);
    ti_tf8_op(e, TC_TFLM_QUANTIZE, 2, &at, 1, new);
    return new;
}

/* [N,C,H,W] of a type of up to four axes, ones in front; [N,C,W] is [N,C,1,W]. */
static void four(const tc_type *t, int64_t dim[4])
{
    int from = t->rank == 3 ? 0 : 4 - t->rank, at = 0;
    for (int i = 0; i < 4; i++)
        dim[i] = i < from || (t->rank == 3 && i == 2) ? 1 : t->dim[at++];
}

static void to_last(const int64_t d[4], int64_t out[4])
{
    memcpy(out, (int64_t[]){d[0], d[2], d[3], d[1]}, 4 * sizeof *out);
}

bool ti_tf8_is_last(const tc_tf8 *e, tc_val v)
{
    return e->last[v] || ti_is_const(e->w.g, v);
}

int64_t ti_tf8_new_last(tc_tf8 *e, tc_val v)
{
    int64_t d[4], dim[4], shape = ti_tfw_tensor(&e->w, v);
    four(ti_type_of(e->w.g, v), d);
    to_last(d, dim);
    int64_t at = ti_tf8_like(e, shape, 4, dim);
    e->w.of[v] = 0; /* in its own order it is made when something wants it */
    e->last[v] = at + 1;
    return at;
}

/* Moving the channels moves no byte. */
static bool is_free(const int64_t d[4]) { return d[1] == 1 || d[2] * d[3] == 1; }

/* A constant of fewer axes is a number, or broadcast along the first ones. */
static int64_t constant_last(tc_tf8 *e, tc_val v)
{
    int64_t d[4], dim[4];
    four(ti_type_of(e->w.g, v), d);
    to_last(d, dim);
    int64_t plane = d[2] * d[3], step[4] = {d[1] * plane, d[3], 1, plane};
    int64_t known = ti_tfw_tensor(&e->w, v);
    tc_tfw_tensor t = e->w.model.tensor[known];
    t.rank = 4;
    t.dim = ti_arena_copy(&e->w.ctx->arena, dim, sizeof dim);
    t.data = ti_tf8_reorder(e, v, dim, step);
    return ti_tfw_add_tensor(&e->w, t);
}

int64_t ti_tf8_last(tc_tf8 *e, tc_val v)
{
    if (e->last[v])
        return e->last[v] - 1;
    if (ti_is_const(e->w.g, v)) {
        e->last[v] = constant_last(e, v) + 1;
        return e->last[v] - 1;
    }
    const tc_type *t = ti_type_of(e->w.g, v);
    int64_t d[4], dim[4], from = ti_tfw_tensor(&e->w, v), perm[] = {0, 2, 3, 1};
    four(t, d);
    to_last(d, dim);
    int64_t to = ti_tf8_like(e, from, 4, dim);
    if (t->rank != 4 && !is_free(d)) {
        int64_t wide = ti_tf8_like(e, from, 4, d);
        ti_tf8_move(e, TC_TFLM_RESHAPE, from, ti_tf8_list(e, d, 4), wide);
        from = wide;
    }
    if (is_free(d))
        ti_tf8_move(e, TC_TFLM_RESHAPE, from, ti_tf8_list(e, dim, 4), to);
    else
        ti_tf8_move(e, TC_TFLM_TRANSPOSE, from, ti_tf8_list(e, perm, 4), to);
    e->last[v] = to + 1;
    return to;
}

int64_t ti_tf8_plain(tc_tf8 *e, tc_val v)
{
    if (!v || e->w.of[v] || !e->last[v] || ti_is_const(e->w.g, v))
        return ti_tfw_tensor(&e->w, v);
    const tc_type *t = ti_type_of(e->w.g, v);
    int64_t d[4], from = e->last[v] - 1, perm[] = {0, 3, 1, 2};
    int64_t to = ti_tfw_tensor(&e->w, v);
    four(t, d);
    if (is_free(d)) {
        ti_tf8_move(e, TC_TFLM_RESHAPE, from, ti_tf8_list(e, t->dim, t->rank), to);
        return to;
    }
    int64_t wide = t->rank == 4 ? to : ti_tf8_like(e, from, 4, d);
    ti_tf8_move(e, TC_TFLM_TRANSPOSE, from, ti_tf8_list(e, perm, 4), wide);
    if (wide != to)
        ti_tf8_move(e, TC_TFLM_RESHAPE, wide, ti_tf8_list(e, t->dim, t->rank), to);
    return to;
}

void ti_tf8_like_operand(tc_tf8 *e, const tc_node *node, int i, int64_t *from, int64_t *to)
{
    tc_val x = node->in[i], y = node->out[0];
    bool last = e->last[x] && ti_type_of(e->w.g, y)->rank == ti_type_of(e->w.g, x)->rank;
    *from = last ? ti_tf8_last(e, x) : ti_tf8_plain(e, x);
    *to = last ? ti_tf8_new_last(e, y) : ti_tfw_tensor(&e->w, y);
}
