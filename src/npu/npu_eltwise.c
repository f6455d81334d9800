/* SPDX-License-Identifier: Apache-2.0 */
/* npu_eltwise.c -- ELEMENTWISE: a = ifm - its zero point, b = ifm2 - its zero point, either of them
 * broadcast.
 *
 * U85 scales both operands before the operation; U55 only those of ADD and SUB, in one of three
 * ways:
 *
 *   0  a OPA, b OPB, factors of 16 bits, no shift
 *   1  a scaled by OPA (32 bits), b shifted left by 19 (8-bit operands) or 14 (16-bit)
 *   2  b scaled by OPA, a shifted left
 *
 * The product of 32-bit operands replaces the multiplier of the output's scale: only its shift and
 * rounding apply. */
#include "number_loops.h"
#include "state.h"

typedef int64_t binary(int64_t a, int64_t b, const tc_npu_op *op);

static int shift_of(int64_t b)
{
    return (int)ti_clip(b, 0, 63);
}

/*    mode     U55 scales the result, what a and b become */
#define MODES                                                                                      \
    MODE(MUL,     true,  ti_wrap_mul(a, b))                                                        \
    MODE(ADD,     true,  ti_wrap_add(a, b))                                                        \
    MODE(SUB,     true,  ti_wrap_sub(a, b))                                                        \
    MODE(MIN,     false, ti_min_i64(a, b))                                                         \
    MODE(MAX,     false, ti_max_i64(a, b))                                                         \
    MODE(ABS,     true,  a < 0 ? ti_wrap_neg(a) : a)                                               \
    MODE(CLZ,     false, (uint32_t)a ? __builtin_clz((uint32_t)a) : 32)                            \
    MODE(SHR,     false, ti_npu_scaled(a, 1, shift_of(b), op->ofm_scale.round, 0))                 \
    MODE(SHL,     false, ti_npu_wrapped((int64_t)((uint64_t)a << shift_of(b)), 32, true))          \
    MODE(LSR,     false, (int64_t)((uint64_t)ti_npu_wrapped(a, 8 * op->ifm.bytes, false) >> shift_of(b))) \
    MODE(DIV,     false, b == 0 ? 0 : b == -1 ? ti_wrap_neg(a) : a / b)                            \
    MODE(CMP_EQ,  false, -(int64_t)(a == b))                                                       \
    MODE(CMP_NE,  false, -(int64_t)(a != b))                                                       \
    MODE(CMP_GE,  false, -(int64_t)(a >= b))                                                       \
    MODE(CMP_GT,  false, -(int64_t)(a > b))                                                        \
    MODE(AND,     false, a & b)                                                                    \
    MODE(OR,      false, a | b)                                                                    \
    MODE(XOR,     false, a ^ b)                                                                    \
    MODE(NOT,     false, ~a)                                                                       \
    MODE(AND_NOT, false, a & ~b)

#define MODE(name, scaled, ...)                                                                    \
    static int64_t do_##name(int64_t a, int64_t b, const tc_npu_op *op)                            \
    {                                                                                              \
        (void)b, (void)op;                                                                         \
        return __VA_ARGS__;                                                                        \
    }
MODES
#undef MODE

/* LRELU comes before its scales, and has none here. */
static const struct {
    binary *f;
    bool scaled_u55; /* the output is */
} modes[] = {
#define MODE(name, scaled, ...) [TC_EW_##name] = {do_##name, scaled},
    MODES
    [TC_EW_LRELU] = {NULL, true},
};

/* ---- operands ---- */

static size_t count(const tc_npu_array *a)
{
    return (size_t)a->h * (size_t)a->w * (size_t)a->c;
}

static void scale_all(tc_npu_array *a, const tc_npu_scale *s)
{
    if (s->multiplier == 1 && s->shift == 0)
        return;
    ti_npu_scale_all(a->v, count(a), s, a->v);
}

static void shift_all(tc_npu_array *a, int by)
{
    for (size_t i = 0, n = count(a); i < n; i++)
        a->v[i] = ti_wrap_mul(a->v[i], INT64_C(1) << by);
}

static void scale_u55(const tc_npu_op *op, tc_npu_array *a, tc_npu_array *b)
{
    int fixed = op->ifm.bytes == 1 ? 19 : 14;
    tc_npu_scale opa = op->ifm_scale, opb = op->ifm2_scale;
    if (op->scale_mode == 0) {
        opa.multiplier &= 0xffff;
        opa.shift = opb.shift = 0;
        scale_all(a, &opa);
        scale_all(b, &opb);
        return;
    }
    opa.double_bits = (uint8_t)(fixed + 1);
    scale_all(op->scale_mode == 1 ? a : b, &opa);
    shift_all(op->scale_mode == 1 ? b : a, fixed);
}

/* a >= 0 ? a : alpha a.  U85 has a scale for either side; U55's output scale is alpha. */
static void leaky(const tc_npu_exec *x, const tc_npu_op *op, tc_npu_array *a)
{
    static const tc_npu_scale one = {.multiplier = 1};
    bool u85 = x->machine->product == TC_U85;
    const tc_npu_scale *up = u85 ? &op->ifm_scale : &one,
                       *down = u85 ? &op->ifm2_scale : &op->ofm_scale;
    for (size_t i = 0, n = count(a); i < n; i++)
        a->v[i] = ti_npu_scale_by(a->v[i], a->v[i] < 0 ? down : up);
}

/* ---- the operation ---- */

/* Steps of an operand to the next row, column, channel; 0 where it is broadcast. */
typedef struct steps {
    int64_t h, w, c;
} steps;

static steps steps_of(const tc_npu_array *a, const tc_npu_array *out)
{
    return (steps){a->h == 1 && out->h > 1 ? 0 : (int64_t)a->w * a->c,
                   a->w == 1 && out->w > 1 ? 0 : a->c, a->c == 1 && out->c > 1 ? 0 : 1};
}

static void combine(const tc_npu_op *op, binary *f, const tc_npu_array *a, const tc_npu_array *b,
                    tc_npu_array *out)
{
    steps s = steps_of(a, out), t = steps_of(b, out);
    int64_t *o = out->v;
    for (int32_t h = 0; h < out->h; h++)
        for (int32_t w = 0; w < out->w; w++) {
            const int64_t *p = a->v + h * s.h + w * s.w, *q = b->v + h * t.h + w * t.w;
            for (int32_t c = 0; c < out->c; c++)
                *o++ = f(p[c * s.c], q[c * t.c], op);
        }
}

bool ti_npu_elementwise(tc_npu_exec *x, const tc_npu_op *op)
{
    bool u85 = x->machine->product == TC_U85,
         scaled = u85 ? op->mode != TC_EW_SHR : modes[op->mode].scaled_u55;
    int64_t nothing = 0;
    tc_npu_array a, b = {1, 1, 1, &nothing, 1};
    if (!ti_npu_load(x, "ifm", &op->ifm, op->scalar, &a) ||
        (op->ifm2.used && !ti_npu_load(x, "ifm2", &op->ifm2, op->scalar, &b)) ||
        !ti_npu_array_make(x, &x->out, op->ofm.h, op->ofm.w, op->ofm.c))
        return false;
    if (op->swapped) {
        tc_npu_array first = a;
        a = b;
        b = first;
    }
    if (op->mode == TC_EW_LRELU) {
        leaky(x, op, &a);
        combine(op, do_ADD, &a, &b, &x->out);
    } else {
        if (u85) {
            scale_all(&a, &op->ifm_scale);
            if (op->ifm2.used)
                scale_all(&b, &op->ifm2_scale);
        } else if (op->mode == TC_EW_ADD || op->mode == TC_EW_SUB)
            scale_u55(op, &a, &b);
        combine(op, modes[op->mode].f, &a, &b, &x->out);
    }
    tc_npu_scale after = op->ofm_scale;
    if (op->mode == TC_EW_MUL && op->ifm.bytes == 4)
        after.multiplier = 1;
    if (scaled && (u85 || op->mode != TC_EW_LRELU))
        scale_all(&x->out, &after);
    return ti_npu_finish(x, op, &x->out);
}
