/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_function.c -- functions of one value in int8 programs: an operator of TensorFlow Lite Micro
 * where it has one; two where these are exact but for a rounding.  tflite_table.c has the others. */
#include "tflite_int8.h"

enum { RELU_6 = 3 };

static const tc_type *type_of(const tc_tf8 *e, tc_val v) { return ti_type_of(e->w.g, v); }

/* ---- tensors ---- */

static void set_codes(tc_tf8 *e, int64_t at, double scale, int64_t zero)
{
    tc_tfw_tensor *t = &e->w.model.tensor[at];
    t->type = TFL_INT8;
    t->n_scale = 1;
    t->scale = ti_arena_copy(&e->w.ctx->arena, &scale, sizeof scale);
    t->zero = ti_arena_copy(&e->w.ctx->arena, &zero, sizeof zero);
}

/* Of a tensor's shape, with other codes. */
static int64_t codes_like(tc_tf8 *e, int64_t at, double scale, int64_t zero)
{
    const tc_tfw_tensor t = e->w.model.tensor[at];
    int64_t new = ti_tf8_like(e, at, t.rank, t.dim);
    set_codes(e, new, scale, zero);
    return new;
}

static int64_t constant(tc_tf8 *e, int type, const void *data, size_t bytes)
{
    static const int64_t one = 1;
    tc_tfw_tensor t = {.name = "number", .type = type, .rank = 1, .dim = &one, .constant = true, .offset = -1};
    t.data = (tc_bytes){ti_arena_copy(&e->w.ctx->arena, data, bytes), bytes};
    return ti_tfw_add_tensor(&e->w, t);
}

/* Code 127 of a scale that makes it the number. */
static int64_t code_number(tc_tf8 *e, double v)
{
    int8_t code = INT8_MAX;
    int64_t at = constant(e, TFL_INT8, &code, sizeof code);
    set_codes(e, at, (double)(float)(v / INT8_MAX), 0);
    return at;
}

/* ---- operators ---- */

static void one(tc_tf8 *e, tc_tflm_name name, int version, int64_t from, int64_t to)
{
    ti_tf8_op(e, name, version, &from, 1, to);
}

static tc_tfw_op *two(tc_tf8 *e, tc_tflm_name name, int version, int64_t a, int64_t b, int64_t to)
{
    int64_t in[2] = {a, b};
    tc_tfw_op *op = ti_tf8_op(e, name, version, in, 2, to);
    ti_tf8_set(op, 0, 'b', 0);
    return op;
}

void ti_tf8_fixed(tc_tf8 *e, int64_t to, tc_tfw_op *op, double scale, int64_t zero)
{
    tc_tfw_tensor t = e->w.model.tensor[to];
    if (t.scale[0] == scale && t.zero[0] == zero)
        return;
    int64_t at = codes_like(e, to, scale, zero);
    op->out[0] = at;
    one(e, TC_TFLM_QUANTIZE, 2, at, to);
}

/* x sigmoid(x) */
static void put_silu(tc_tf8 *e, int64_t from, int64_t to)
{
    int64_t s = codes_like(e, to, 1.0 / 256, INT8_MIN);
    one(e, TC_TFLM_LOGISTIC, 2, from, s);
    two(e, TC_TFLM_MUL, 2, from, s, to);
}

/* min(max(x + 3, 0), 6) / 6 */
static void put_hardsigmoid(tc_tf8 *e, int64_t from, int64_t to)
{
    int64_t sum = codes_like(e, to, (double)(float)(6.0 / 255), INT8_MIN);
    ti_tf8_set(two(e, TC_TFLM_ADD, 2, from, code_number(e, 3), sum), 0, 'b', RELU_6);
    two(e, TC_TFLM_MUL, 2, sum, code_number(e, 1.0 / 6), to);
}

/* ---- by operator ---- */

const char *ti_tf8_function(tc_tf8 *e, const tc_node *node)
{
    int64_t from, to;
    if (type_of(e, node->out[0])->rank > 4)
        return "it has more than four axes";
    ti_tf8_like_operand(e, node, 0, &from, &to);
    switch (node->op) {
    case TC_OP_sigmoid:
        ti_tf8_fixed(e, to, ti_tf8_op(e, TC_TFLM_LOGISTIC, 2, &from, 1, to), 1.0 / 256, INT8_MIN);
        break;
    case TC_OP_tanh:
        ti_tf8_fixed(e, to, ti_tf8_op(e, TC_TFLM_TANH, 2, &from, 1, to), 1.0 / 128, 0);
        break;
    case TC_OP_silu: put_silu(e, from, to); break;
    case TC_OP_hardsigmoid: put_hardsigmoid(e, from, to); break;
    case TC_OP_hardswish: one(e, TC_TFLM_HARD_SWISH, 1, from, to); break;
    default:
        ti_tf8_set(ti_tf8_op(e, TC_TFLM_LEAKY_RELU, 2, &from, 1, to), 0, 'f',
                   ((const tc_attr_slope *)node->attr)->slope);
    }
    return NULL;
}
