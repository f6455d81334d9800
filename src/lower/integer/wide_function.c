/* SPDX-License-Identifier: Apache-2.0 */
/* wide_function.c -- logarithms, roots and powers of i32: of power spectra, whose codes span
 * nine decades.
 *
 *   x = scale * M,  c = CLZ(M),  n = M << (c - 1) in [2^30, 2^31)
 *   log2(M) = log2(n / 2^30) + 31 - c                    the first by a table over n, steps of 2^-16
 *   sqrt(M) = sqrt(n' / 2^31) * 2^15.5 / 2^h             h = (c - 1) / 2,  n' = M << 2h
 *   hypot: see put_hypot()
 *   x^p     = 2^f * 2^k,  k + f = p * (log2(M) + log2(scale)),  0 <= f < 1: another table
 *
 * log2 is right to 2^-15 octaves for every M, roots and powers to two steps of 16 bits, hypot to
 * 2^-14 of its value and a step.  A table has 513 entries of 16 bits and is linear between them;
 * without EXT-INT16 it is a list of 65536. */
#include <math.h>

#include "../put.h"
#include "../../base/real.h"
#include "table_function.h"

#include "../../num/load.h"

enum { SEGMENTS = 512, CODES = 65536 };
#define OCTAVE TC_OCTAVE

/* ---- what is known of the operand ---- */

typedef enum least { ANY, ZERO, ONE } least; /* its smallest code */

static least smaller(least a, least b) { return a < b ? a : b; }

static least least_constant(tc_tensor t)
{
    int64_t lowest = INT64_MAX;
    for (int64_t i = 0; i < tc_type_count(t.type); i++) {
        int64_t code = ti_load_i64(t, i);
        lowest = code < lowest ? code : lowest;
    }
    return lowest < 0 ? ANY : lowest == 0 ? ZERO : ONE;
}

static least least_of(const tc_graph *g, tc_val v, int depth);

/* No weight and no bias is negative. */
static bool adds_only(const tc_graph *g, const tc_node *node)
{
    for (int i = 1; i < node->n_in; i++) {
        tc_tensor t = node->in[i] ? ti_tensor_of(g, node->in[i]) : (tc_tensor){NULL, NULL};
        if (node->in[i] && (!t.data || !t.type->quant || t.type->quant->zero[0] ||
                            least_constant(t) == ANY))
            return false;
    }
    return true;
}

static least least_made(const tc_graph *g, const tc_node *node, int depth)
{
    least first = node->n_in ? least_of(g, node->in[0], depth) : ANY, second;
    bool same = node->n_in > 1 && node->in[1] &&
                ti_type_of(g, node->in[1])->quant == ti_type_of(g, node->out[0])->quant;
    switch (node->op) {
    case TC_OP_square:
        return ZERO;
    case TC_OP_mul:
        return node->in[0] == node->in[1] ? ZERO
                                          : smaller(ZERO, smaller(first, least_of(g, node->in[1],
                                                                                  depth)));
    case TC_OP_add:
        second = least_of(g, node->in[1], depth);
        if (((const tc_attr_alpha *)node->attr)->alpha != 1 || first == ANY || second == ANY)
            return ANY;
        return same && second == ONE ? ONE : ZERO;
    case TC_OP_hypot:
        return same && ti_tensor_of(g, node->in[1]).data && least_of(g, node->in[1], depth) == ONE
                   ? ONE
                   : ZERO;
    case TC_OP_maximum:
        second = least_of(g, node->in[1], depth);
        return same && second == ONE ? ONE : first == ANY ? smaller(ZERO, second) : ZERO;
    case TC_OP_sum:
    case TC_OP_mean:
        return smaller(ZERO, first);
    case TC_OP_linear:
        return adds_only(g, node) ? smaller(ZERO, first) : ANY;
    case TC_OP_reshape:
    case TC_OP_permute:
    case TC_OP_slice:
    case TC_OP_identity:
        return first;
    default:
        return ANY;
    }
}

static least least_of(const tc_graph *g, tc_val v, int depth)
{
    enum { DEEPEST = 16 };
    tc_tensor known = ti_tensor_of(g, v);
    const tc_node *def = ti_def(g, v);
    const tc_type *t = ti_type_of(g, v);
    if (!t->quant || t->quant->axis >= 0 || t->quant->zero[0])
        return ANY;
    if (known.data)
        return least_constant(known);
    return def && depth < DEEPEST ? least_made(g, def, depth + 1) : ANY;
}

/* ---- steps ---- */

static tc_val plus(tc_build *lw, tc_val a, double b)
{
    return b == 0 ? a : ti_b_tosa_add(lw, a, ti_b_like(lw, a, TC_i32, b));
}

static tc_val left(tc_build *lw, tc_val a, int by)
{
    return ti_b_tosa_logical_left_shift(lw, a, ti_b_like(lw, a, TC_i32, by));
}

/* 128 * f((x * 2^-down + 32768) / 65536), f within 16 bits; x: i32. */
static tc_val looked_up(tc_build *lw, tc_val x, int down, double (*f)(double))
{
    if (!ti_lower_has(lw, TC_FEATURE_INT16)) {
        static const double one = 1;
        static const int64_t none = 0;
        static const tc_quant whole = {-1, 1, -32768, 32767, &one, &none};
        double *entry = tc_new_n(&lw->ctx->arena, double, CODES);
        for (int i = 0; i < CODES; i++)
            entry[i] = f((double)i / CODES);
        x = plus(lw, ti_put_rescale(lw, x, ldexp(1, -down), 0, 0, TC_i32), 32768);
        x = ti_put_at_least(lw, ti_put_at_most(lw, x, CODES - 1), 0);
        return ti_put_rescale(lw, ti_put_listed(lw, x, TC_i16, &whole, entry), 128, 0, 0, TC_i32);
    }
    double entry[SEGMENTS + 1];
    for (int k = 0; k <= SEGMENTS; k++)
        entry[k] = fmin(fmax(rint(f((double)k / SEGMENTS)), -32768), 32767);
    x = ti_put_rescale(lw, x, ldexp(1, -down), 0, 0, TC_i16);
    x = ti_put_table(lw, x, TC_i16, entry, SEGMENTS + 1);
    if (lw->lower->target->machine->can.wide_tables)
        return x;
    x = ti_put_rescale(lw, x, 1.0 / 128, 0, 0, TC_i16); /* its result must be i16 at once */
    return ti_put_rescale(lw, x, 128, 0, 0, TC_i32);
}

static double log_entry(double x) { return (ti_log2(1 + x) - 0.5) * OCTAVE; }
static double root_entry(double x) { return sqrt(x) * 0x1p15; }
static double exp_entry(double x) { return (ti_exp2(x) - 1.5) * 0x1p16; }

tc_val ti_put_log2(tc_build *lw, tc_val m)
{
    tc_val c = ti_b_tosa_clz(lw, m);
    tc_val n = ti_b_tosa_logical_left_shift(lw, m, plus(lw, c, -1));
    tc_val t = looked_up(lw, plus(lw, n, -0x60000000), 14, log_entry);
    t = ti_put_rescale(lw, t, 1.0 / 128, 0, 0, TC_i32);
    return plus(lw, ti_b_tosa_sub(lw, t, left(lw, c, 16)), 31 * OCTAVE + OCTAVE / 2);
}

/* A logarithm, lowered by `drop` where m is 0: below every value that the result's codes
 * distinguish. */
static tc_val dropped(tc_build *lw, tc_val log, tc_val m, double drop)
{
    tc_val some = ti_put_at_most(lw, m, 1);
    some = ti_b_tosa_mul(lw, some, ti_b_like(lw, some, TC_i32, drop));
    return plus(lw, ti_b_tosa_add(lw, log, some), -drop);
}

/* ---- functions ---- */

typedef struct wide {
    tc_build *lw;
    tc_val m;
    double scale; /* of m */
    least least;
    const tc_type *to;
} wide;

/* The result where m was not negative, and elsewhere what NaN becomes: code 0. */
static tc_val checked(const wide *w, tc_val m, tc_val y)
{
    tc_build *lw = w->lw;
    if (w->least != ANY || !y || !m)
        return y;
    int rank = ti_b_type(lw, y)->rank;
    tc_val negative = ti_b_binary(lw, TC_OP_tosa_greater, ti_b_like(lw, m, TC_i32, 0), m);
    return ti_b_op(lw, TC_OP_tosa_select, NULL,
                   (tc_val[]){negative, ti_b_single(lw, w->to->dtype, rank, 0), y}, 3);
}

/* log(x) / log(base), octave: of an octave in that unit; m stands for m * scale / one. */
static tc_val put_log(wide *w, double octave)
{
    tc_build *lw = w->lw;
    tc_val m = w->m, x = w->least == ANY ? ti_put_at_least(lw, m, 0) : m;
    double unit = octave / OCTAVE / ti_scale_of(w->to), more = rint(ti_log2(w->scale) * OCTAVE);
    if (unit > 1) {
        ti_lower_refuse(lw, "its result's steps are finer than those of a table");
        return TC_NONE;
    }
    tc_val y = ti_put_log2(lw, x);
    if (w->least != ONE) {
        double lowest = (double)(w->to->quant->lo - ti_zero_of(w->to) - 1) / unit - more;
        double drop = fmin(ceil(-OCTAVE - lowest), 0x1p28);
        y = drop > 0 ? dropped(lw, y, x, drop) : y;
    }
    y = ti_put_rescale(lw, plus(lw, y, more), unit, 0, ti_zero_of(w->to), w->to->dtype);
    return checked(w, m, ti_put_codes(lw, y, w->to->quant));
}

/* log(1 + x): both in steps that hold their sum. */
static tc_val put_log1p(wide *w)
{
    enum { LEAST = 1024 };
    int down = 2; /* RESCALE takes any i32 by a quarter or less */
    while (1 / ldexp(w->scale, down) > 0x1p30)
        down++;
    double one = rint(1 / ldexp(w->scale, down));
    if (one < LEAST) {
        ti_lower_refuse(w->lw, "its operand's steps are too coarse: 1 is %g of them",
                        1 / w->scale);
        return TC_NONE;
    }
    w->m = plus(w->lw, ti_put_rescale(w->lw, w->m, ldexp(1, -down), 0, 0, TC_i32), one);
    w->scale = 1 / one;
    w->least = w->least == ANY ? ANY : ONE;
    return put_log(w, log(2));
}

static tc_val put_sqrt(const wide *w)
{
    tc_build *lw = w->lw;
    tc_val m = w->least == ANY ? ti_put_at_least(lw, w->m, 0) : w->m;
    tc_val spare = plus(lw, ti_b_tosa_clz(lw, m), -1);
    tc_val half = ti_b_tosa_arithmetic_right_shift(lw, spare, ti_b_like(lw, spare, TC_i32, 1), false);
    tc_val n = ti_b_tosa_logical_left_shift(lw, m, left(lw, half, 1));
    tc_val t = looked_up(lw, plus(lw, n, -0x1p30), 15, root_entry);
    t = ti_b_tosa_arithmetic_right_shift(lw, t, half, true);
    double unit = sqrt(w->scale * 0x1p31) * 0x1p-22; /* sqrt(n / 2^31) is 2^22 steps at h = 0 */
    t = ti_put_rescale(lw, t, ti_scale_factor(unit, ti_scale_of(w->to)), 0, ti_zero_of(w->to),
                       w->to->dtype);
    return checked(w, w->m, ti_put_codes(lw, t, w->to->quant));
}

/* x^p as codes: 2^e, e between what rounds to 0 and what saturates. */
static tc_val put_power(const wide *w, double p)
{
    enum { TOP = 16 };
    tc_build *lw = w->lw;
    if (!(fabs(p) >= 1.0 / 64 && fabs(p) <= 4)) {
        ti_lower_refuse(lw, "its exponent is %g", p);
        return TC_NONE;
    }
    tc_val m = w->least == ANY ? ti_put_at_least(lw, w->m, 0) : w->m, y = ti_put_log2(lw, m);
    if (w->least != ONE)
        y = dropped(lw, y, m, 0x1p26);
    y = plus(lw, y, rint(ti_log2(w->scale) * OCTAVE));
    y = ti_put_rescale(lw, y, fabs(p), 0, 0, TC_i32);
    double codes = rint(-ti_log2(ti_scale_of(w->to)) * OCTAVE);
    y = p > 0 ? plus(lw, y, codes) : ti_b_tosa_sub(lw, ti_b_like(lw, y, TC_i32, codes), y);
    y = ti_put_at_most(lw, ti_put_at_least(lw, y, -3 * OCTAVE), TOP * OCTAVE - 1);
    tc_val k = ti_b_tosa_arithmetic_right_shift(lw, y, ti_b_like(lw, y, TC_i32, 16), false);
    tc_val f = plus(lw, ti_b_tosa_sub(lw, y, left(lw, k, 16)), -32768);
    tc_val t = plus(lw, looked_up(lw, f, 0, exp_entry), 1.5 * 0x1p23); /* 2^f in steps of 2^-23 */
    tc_val down = ti_b_tosa_sub(lw, ti_b_like(lw, k, TC_i32, 23), k);
    t = ti_b_tosa_arithmetic_right_shift(lw, t, down, true);
    t = ti_put_rescale(lw, t, 1, 0, ti_zero_of(w->to), w->to->dtype);
    return checked(w, w->m, ti_put_codes(lw, t, w->to->quant));
}

/* ---- sizes ---- */

#define SIZE_MIDDLE 0.677 /* between sqrt(1 / 8) and 1 */
static double size_entry(double x) { return (sqrt(x) - SIZE_MIDDLE) * 0x1.8p16; }

/* |x| without its lowest bit where that is beyond i32. */
static tc_val magnitude(tc_build *lw, const tc_node *node, int i, int rank)
{
    const tc_type *t = ti_lower_type(lw, node, i);
    tc_val x = ti_b_tosa_rank(lw, ti_lower_in(lw, node, i), rank);
    if (!x || ti_b_constant(lw, x).data)
        return x;
    if (t->quant->lo < 0)
        x = ti_b_unary(lw, TC_OP_tosa_abs, ti_put_at_least(lw, x, 1 - 0x1p31));
    return x;
}

/* hypot of i32 in i32.  With m the larger of both and s = CLZ(m) - 1:
 *   hypot = sqrt((a << s)^2 + (b << s)^2) >> s,  the squares by 2^-32 in [2^28, 2^31) */
static bool put_hypot(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *a = ti_lower_type(lw, node, 0), *b = ti_lower_type(lw, node, 1),
                  *to = ti_lower_result(lw, node, 0);
    double up = a->quant && to->quant ? ti_log2(ti_scale_of(to) / ti_scale_of(a)) : 0;
    for (int i = 0; i < 3; i++) {
        const tc_type *t = i == 0 ? a : i == 1 ? b : to;
        if (t->dtype != TC_i32 || !t->quant || t->quant->axis >= 0 || ti_zero_of(t))
            return false;
    }
    bool same = fabs(up) < 0.5, small = a->quant->hi < 1 << 30 && b->quant->hi < 1 << 30 &&
                                        a->quant->lo > -(1 << 30) && b->quant->lo > -(1 << 30);
    if (ti_scale_of(a) != ti_scale_of(b) || fabs(up - rint(up)) > 1e-6 || up < -0.5 || up > 3.5 ||
        (same && !small))
        return false;
    tc_val x = magnitude(lw, node, 0, to->rank), y = magnitude(lw, node, 1, to->rank);
    tc_val s = plus(lw, ti_b_tosa_clz(lw, ti_b_tosa_maximum(lw, x, y)), -1);
    x = ti_b_tosa_logical_left_shift(lw, x, s);
    y = ti_b_tosa_logical_left_shift(lw, y, s);
    x = ti_b_tosa_mul_shift(lw, x, x, 32);
    y = ti_b_tosa_mul_shift(lw, y, y, 32);
    tc_val p = ti_b_tosa_add(lw, x, y);
    tc_val t = looked_up(lw, plus(lw, p, -0x1p30), 15, size_entry); /* of sqrt(p / 2^31) */
    t = plus(lw, t, SIZE_MIDDLE * 0x1.8p23);
    t = ti_put_rescale(lw, t, sqrt(0.5) * 0x1p6 / 1.5, 0, 0, TC_i32); /* sqrt(p) * 2^13 */
    t = left(lw, t, same ? 2 : 3 - (int)rint(up)); /* below 2^31; s >= 1 of small ones */
    t = ti_b_tosa_arithmetic_right_shift(lw, t, same ? plus(lw, s, -1) : s, true);
    out[0] = ti_b_tosa_expand(lw, t, to->rank, to->dim);
    return true;
}

static tc_val put(wide *w, const tc_node *node)
{
    float p;
    switch (node->op) {
    case TC_OP_log:
        return put_log(w, log(2));
    case TC_OP_log2:
        return put_log(w, 1);
    case TC_OP_log10:
        return put_log(w, log10(2));
    case TC_OP_log1p:
        return put_log1p(w);
    case TC_OP_sqrt:
        return put_sqrt(w);
    case TC_OP_rsqrt:
        return put_power(w, -0.5);
    case TC_OP_pow:
        return ti_function_number(w->lw, node->in[1], &p) ? put_power(w, (double)p) : TC_NONE;
    default:
        return TC_NONE;
    }
}

bool ti_lower_try_wide(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *from = ti_lower_type(lw, node, 0), *to = ti_lower_result(lw, node, 0);
    bool looks = ti_lower_has(lw, TC_FEATURE_INT16) || lw->lower->target->machine->can.gathers;
    if (looks && node->op == TC_OP_hypot)
        return put_hypot(lw, node, out);
    bool has = TC_OP_IN(node->op, TC_OP_log, TC_OP_log2, TC_OP_log10, TC_OP_log1p, TC_OP_sqrt,
                        TC_OP_rsqrt, TC_OP_pow);
    if (!has || from->dtype != TC_i32 || !from->quant || from->quant->axis >= 0 ||
        ti_zero_of(from) || !ti_is_activation(to) || !ti_same_dims(from, to) ||
        (node->op == TC_OP_pow && ti_function_operand(lw, node) != 0))
        return false;
    if (!looks)
        return false;
    wide w = {lw, ti_lower_in(lw, node, 0), ti_scale_of(from),
              least_of(lw->rw->from, node->in[0], 0), to};
    out[0] = put(&w, node);
    return true;
}
