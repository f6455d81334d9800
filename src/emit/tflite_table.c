/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_table.c -- a function of one int8 value in int8 programs, where TensorFlow Lite Micro has no
 * operator for it: the row `code + 128` of a table of 256 codes, CAST, ADD and GATHER.  Exact: each
 * entry is the function of the code's real number, rounded to the result's codes. */
#include "tflite_int8.h"

#include "../num/load.h"
#include "../num/quant.h"
#include "../run/eval.h"

enum { CODES = 256 };

static const tc_type *type_of(const tc_tf8 *e, tc_val v) { return ti_type_of(e->w.g, v); }

/* The one operand that is no constant of one element; -1: there are more. */
static int argument(const tc_tf8 *e, const tc_node *node)
{
    int which = -1;
    for (int i = 0; i < node->n_in; i++) {
        if (!node->in[i] || (ti_is_const(e->w.g, node->in[i]) && tc_type_count(type_of(e, node->in[i])) == 1))
            continue;
        if (which >= 0)
            return -1;
        which = i;
    }
    return which;
}

bool ti_tf8_is_table(const tc_tf8 *e, const tc_node *node)
{
    int at = tc_ops[node->op].traits & T_ELTWISE && node->n_out == 1 ? argument(e, node) : -1;
    const tc_type *y = type_of(e, node->out[0]);
    return at >= 0 && ti_tf8_is_code(type_of(e, node->in[at])) && ti_tf8_is_code(y) && y->rank <= 4 &&
           ti_same_dims(type_of(e, node->in[at]), y);
}

/* The function at the real numbers x, in scratch memory. */
static tc_status evaluate(const tc_tf8 *e, const tc_node *node, int at, tc_tensor x, tc_tensor *y)
{
    tc_ctx *ctx = e->w.ctx;
    tc_tensor *operand = tc_new_n(&ctx->scratch, tc_tensor, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++) {
        if (!node->in[i])
            continue;
        tc_tensor given = ti_tensor_of(e->w.g, node->in[i]);
        operand[i] = i == at             ? x
                     : given.type->quant ? ti_dequantized(ctx, &ctx->scratch, given)
                                         : given;
    }
    return ti_eval_operator(e->w.g->module, node, operand, y, &ctx->scratch);
}

/* Entries for the codes of `from`, in codes of `to`. */
static tc_status fill(const tc_tf8 *e, const tc_node *node, int at, const tc_tfw_tensor *from,
                      const tc_tfw_tensor *to, int8_t *entry)
{
    tc_ctx *ctx = e->w.ctx;
    const int64_t n = CODES;
    tc_tensor x = ti_tensor_new(&ctx->scratch, ti_type_make(ctx, TC_f32, 1, &n)), y;
    for (int i = 0; i < CODES; i++)
        ti_store_f64(x, i, (double)(i + INT8_MIN - from->zero[0]) * from->scale[0]);
    TC_TRY(evaluate(e, node, at, x, &y));
    for (int i = 0; i < CODES; i++) {
        double v = ti_load_f64(y, i);
        entry[i] = (int8_t)ti_tf8_clipped(v == v ? v : 0, to->scale[0], (double)to->zero[0]);
    }
    return TC_OK;
}

/* A tensor like `at` of plain 32-bit integers. */
static int64_t whole_like(tc_tf8 *e, int64_t at)
{
    const tc_tfw_tensor like = e->w.model.tensor[at];
    int64_t new = ti_tf8_like(e, at, like.rank, like.dim);
    tc_tfw_tensor *t = &e->w.model.tensor[new];
    t->type = TFL_INT32;
    t->n_scale = 0;
    return new;
}

tc_status ti_tf8_table(tc_tf8 *e, const tc_node *node)
{
    static const int64_t half = -INT8_MIN, rows = CODES;
    int64_t from, to;
    int at = argument(e, node);
    ti_tf8_like_operand(e, node, at, &from, &to);
    int64_t table = ti_tf8_like(e, to, 1, &rows);
    ti_tf8_narrow(e, from);
    ti_tf8_narrow(e, to);
    ti_tf8_narrow(e, table);
    int8_t *entry = ti_arena_raw(&e->w.ctx->arena, CODES);
    tc_mark mark = ti_arena_mark(&e->w.ctx->scratch);
    tc_status status = fill(e, node, at, &e->w.model.tensor[from], &e->w.model.tensor[to], entry);
    ti_arena_rewind(&e->w.ctx->scratch, mark);
    TC_TRY(status);
    e->w.model.tensor[table].constant = true;
    e->w.model.tensor[table].data = (tc_bytes){(const uint8_t *)entry, CODES};
    int64_t code = whole_like(e, from), add[2] = {code, ti_tfw_ints(&e->w, &half, 1, 0, NULL)},
            row = whole_like(e, from), look[2] = {table, row};
    tc_tfw_op *cast = ti_tf8_op(e, TC_TFLM_CAST, 1, &from, 1, code);
    ti_tf8_set(cast, 0, 'b', TFL_INT8);
    ti_tf8_set(cast, 1, 'b', TFL_INT32);
    ti_tf8_op(e, TC_TFLM_ADD, 1, add, 2, row);
    ti_tf8_op(e, TC_TFLM_GATHER, 2, look, 2, to);
    return TC_OK;
}
