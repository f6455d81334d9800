/* SPDX-License-Identifier: Apache-2.0 */
/* shader_arith.c -- arithmetic, comparisons, bits and conversions; see shader.h.
 *
 * What SPIR-V leaves open has one answer here: shifts count modulo the width, a division by zero
 * gives all ones, a float that no integer holds becomes the nearest one, NaN zero.  f16 is computed
 * in f32 and rounded, which is the same as rounded once. */
#include "shader_steps.h"

#define SX ti_sh_signed(x, bits)
#define SY ti_sh_signed(y, bits)

/* The quotient of the least number and -1 wraps. */
static int64_t divided(int64_t x, int64_t y)
{
    return y == 0 ? -1 : y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
}

static int64_t rest(int64_t x, int64_t y)
{
    return y == 0 ? -1 : y == -1 ? 0 : x % y;
}

/* With the sign of y. */
static int64_t modulo(int64_t x, int64_t y)
{
    int64_t left = rest(x, y);
    return y && left && (left < 0) != (y < 0) ? left + y : left;
}

static uint64_t high(uint64_t x, uint64_t y, unsigned bits, bool with_sign)
{
    if (bits < 64)
        return with_sign ? (uint64_t)((ti_sh_signed(x, bits) * ti_sh_signed(y, bits)) >> bits)
                         : (x * y) >> bits;
    uint64_t a = x >> 32, b = x & UINT32_MAX, c = y >> 32, d = y & UINT32_MAX;
    uint64_t middle = a * d + (b * d >> 32), low = (middle & UINT32_MAX) + b * c;
    uint64_t top = a * c + (middle >> 32) + (low >> 32);
    return with_sign ? top - ((int64_t)x < 0 ? y : 0) - ((int64_t)y < 0 ? x : 0) : top;
}

static uint64_t count_ones(uint64_t x)
{
    uint64_t n = 0;
    for (; x; x &= x - 1)
        n++;
    return n;
}

static uint64_t reversed(uint64_t x, unsigned bits)
{
    uint64_t y = 0;
    for (unsigned k = 0; k < bits; k++)
        y |= (x >> k & 1) << (bits - 1 - k);
    return y;
}

TC_SH_WHOLE(carry, ((x + y) & mask) < x)
TC_SH_WHOLE(borrow, x < y)
TC_SH_WHOLE(umul_high, high(x, y, bits, false))
TC_SH_WHOLE(smul_high, high(x, y, bits, true))

#define WHOLE(op, n, ...) TC_SH_WHOLE(step_##op, __VA_ARGS__)
#define REAL(op, n, ...) TC_SH_REAL(step_##op, __VA_ARGS__)
#define TRUTH(op, n, ...) TC_SH_TRUTH(step_##op, __VA_ARGS__)
#include "shader_arith.def"

/* The sum of products, in order. */
#define DOT(width, real)                                                                           \
    static const tc_sh_ins *dot_##width(tc_sh_machine *m, const tc_sh_ins *i)                     \
    {                                                                                              \
        real sum = 0;                                                                              \
        for (unsigned k = 0; k < i->n; k++) {                                                      \
            real product = TC_SH_OF_##width(m->r[i->a + k]) * TC_SH_OF_##width(m->r[i->b + k]);    \
            sum = k ? sum + product : product;                                                     \
        }                                                                                          \
        m->r[i->out] = TC_SH_TO_##width(sum);                                                      \
        return i + 1;                                                                              \
    }
DOT(16, float)
DOT(32, float)
DOT(64, double)

static const tc_sh_ins *any(tc_sh_machine *m, const tc_sh_ins *i)
{
    uint64_t found = 0;
    for (unsigned k = 0; k < i->n; k++)
        found |= m->r[i->a + k];
    m->r[i->out] = found;
    return i + 1;
}

static const tc_sh_ins *all(tc_sh_machine *m, const tc_sh_ins *i)
{
    uint64_t found = 1;
    for (unsigned k = 0; k < i->n; k++)
        found &= m->r[i->a + k];
    m->r[i->out] = found;
    return i + 1;
}

/* a ? b : c; d: a has one truth for each scalar. */
static const tc_sh_ins *choose(tc_sh_machine *m, const tc_sh_ins *i)
{
    for (unsigned k = 0; k < i->n; k++)
        m->r[i->out + k] = m->r[i->a + (i->d ? k : 0)] ? m->r[i->b + k] : m->r[i->c + k];
    return i + 1;
}

/* a with the b bits of .. : base a, insert b, offset c, count d. */
static const tc_sh_ins *field_insert(tc_sh_machine *m, const tc_sh_ins *i)
{
    uint64_t whole = UINT64_MAX >> (64 - i->bits), at = m->r[i->c], n = m->r[i->d];
    uint64_t ones = n >= i->bits ? whole : (UINT64_C(1) << n) - 1;
    uint64_t mask = at >= i->bits ? 0 : ones << at & whole;
    for (unsigned k = 0; k < i->n; k++)
        m->r[i->out + k] =
            (m->r[i->a + k] & ~mask) | (mask ? m->r[i->b + k] << at & mask : 0);
    return i + 1;
}

static uint64_t field(uint64_t x, uint64_t at, uint64_t n, unsigned bits, bool with_sign)
{
    if (!n || at >= bits)
        return 0;
    n = n > bits - at ? bits - at : n;
    uint64_t part = x >> at & UINT64_MAX >> (64 - n);
    return with_sign ? (uint64_t)ti_sh_signed(part, (unsigned)n) & UINT64_MAX >> (64 - bits) : part;
}

static const tc_sh_ins *field_signed(tc_sh_machine *m, const tc_sh_ins *i)
{
    for (unsigned k = 0; k < i->n; k++)
        m->r[i->out + k] = field(m->r[i->a + k], m->r[i->b], m->r[i->c], i->bits, true);
    return i + 1;
}

static const tc_sh_ins *field_unsigned(tc_sh_machine *m, const tc_sh_ins *i)
{
    for (unsigned k = 0; k < i->n; k++)
        m->r[i->out + k] = field(m->r[i->a + k], m->r[i->b], m->r[i->c], i->bits, false);
    return i + 1;
}

/* ---- conversions: d is the width of the result ------------------------------------------------ */

enum { BFLOAT = 17 }; /* its own width */

static double real_of(uint64_t v, unsigned bits)
{
    return bits == 16       ? (double)ti_f16_to_f32((uint16_t)v)
           : bits == BFLOAT ? (double)ti_bf16_to_f32((uint16_t)v)
           : bits == 32     ? (double)ti_f32_of((uint32_t)v)
                            : ti_f64_of(v);
}

static uint64_t bits_of(double v, unsigned bits)
{
    return bits == 16       ? ti_f64_to_f16(v)
           : bits == BFLOAT ? ti_f64_to_bf16(v)
           : bits == 32     ? ti_f32_bits((float)v)
                            : ti_f64_bits(v);
}

static uint64_t to_unsigned(double v, unsigned bits)
{
    double top = ldexp(1, (int)bits);
    return !(v > 0) ? 0 : v >= top ? UINT64_MAX >> (64 - bits) : (uint64_t)v;
}

static uint64_t to_signed(double v, unsigned bits)
{
    double top = ldexp(1, (int)bits - 1);
    int64_t most = (int64_t)(UINT64_MAX >> (65 - bits));
    int64_t whole = v != v ? 0 : v >= top ? most : v < -top ? -most - 1 : (int64_t)v;
    return (uint64_t)whole & UINT64_MAX >> (64 - bits);
}

/* Of 64 bits only f32 and f16 could be rounded twice: through f64 and then again. */
static uint64_t whole_to_real(uint64_t v, bool negative, unsigned bits)
{
    if (bits == 32)
        return ti_f32_bits(negative ? -(float)v : (float)v);
    return bits_of(negative ? -(double)v : (double)v, bits);
}

#define CONVERT(name, expression)                                                                  \
    static const tc_sh_ins *name(tc_sh_machine *m, const tc_sh_ins *i)                            \
    {                                                                                              \
        const unsigned bits = i->bits, to = i->d;                                                  \
        for (unsigned k = 0; k < i->n; k++) {                                                      \
            uint64_t x = m->r[i->a + k];                                                           \
            (void)bits;                                                                            \
            m->r[i->out + k] = (expression);                                                       \
        }                                                                                          \
        return i + 1;                                                                              \
    }

CONVERT(real_to_unsigned, to_unsigned(real_of(x, bits), to))
CONVERT(real_to_signed, to_signed(real_of(x, bits), to))
CONVERT(signed_to_real,
        whole_to_real(SX < 0 ? (0 - x) & UINT64_MAX >> (64 - bits) : x, SX < 0, to))
CONVERT(unsigned_to_real, whole_to_real(x, false, to))
CONVERT(unsigned_to_width, x &UINT64_MAX >> (64 - to))
CONVERT(signed_to_width, (uint64_t)SX &UINT64_MAX >> (64 - to))
CONVERT(real_to_real, bits_of(real_of(x, bits), to))
CONVERT(through_f16, bits_of((double)ti_f16_to_f32(ti_f64_to_f16(real_of(x, bits))), to))

/* The same bits in scalars of another width. */
static const tc_sh_ins *recast(tc_sh_machine *m, const tc_sh_ins *i)
{
    uint64_t whole[16] = {0};
    unsigned n = (unsigned)(i->n * i->bits / i->d), each = i->bits, to = i->d;
    for (unsigned k = 0; k < n; k++)
        for (unsigned done = 0; done < to; done += each < to ? each : to) {
            unsigned at = k * to + done; /* the bit of the whole that comes next */
            uint64_t from = m->r[i->a + at / each] >> at % each;
            unsigned take = each < to ? each : to;
            whole[k] |= (from & UINT64_MAX >> (64 - take)) << done;
        }
    for (unsigned k = 0; k < n; k++)
        m->r[i->out + k] = whole[k];
    return i + 1;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Operands: w integers or bools, r reals, s any scalars. */
typedef struct {
    uint32_t op;
    uint8_t n_in;
    char of;
    tc_sh_step *whole, *f16, *f32, *f64;
} row;

static const row rows[] = {
#define WHOLE(op, n, ...) {TC_SPV_##op, n, 'w', step_##op, NULL, NULL, NULL},
#define REAL(op, n, ...) {TC_SPV_##op, n, 'r', NULL, step_##op##_16, step_##op##_32, step_##op##_64},
#define TRUTH REAL
#include "shader_arith.def"
};

static const row *row_of(uint32_t op)
{
    for (size_t i = 0; i < TC_COUNT(rows); i++)
        if (rows[i].op == op)
            return &rows[i];
    return NULL;
}

/* The step for scalars of this type; NULL: there is none. */
static tc_sh_step *step_of(const row *at, const tc_sh_type *element)
{
    bool real = element->kind == TC_SH_FLOAT;
    if ((at->of == 'r') != real || element->is_bfloat)
        return NULL;
    return !real                 ? at->whole
           : element->bits == 16 ? at->f16
           : element->bits == 32 ? at->f32
                                 : at->f64;
}

bool ti_sh_emit(tc_sh_reader *r, uint32_t op, const tc_sh_type *element, uint32_t out, uint32_t a,
                uint32_t b, uint32_t n)
{
    const row *found = row_of(op);
    tc_sh_step *step = found ? step_of(found, element) : NULL;
    if (!step)
        return ti_sh_fail(r, "Op%s has operands of a type that is not supported", ti_spv_name(op));
    ti_sh_put(r, (tc_sh_ins){.step = step, .out = out, .a = a, .b = b, .n = (uint16_t)n,
                             .bits = (uint16_t)element->bits});
    return true;
}

/* Operand i: scalars as many as the result has. */
static uint32_t operand(tc_sh_reader *r, size_t i, uint32_t n, const tc_sh_type **element)
{
    const tc_sh_type *t;
    uint32_t slot = ti_sh_value(r, ti_sh_word(r, i), &t);
    *element = ti_sh_scalar(r, t);
    if (!*element || t->slots != n)
        ti_sh_fail(r, "operand %zu is not of as many numbers as the result", i - 2);
    return slot;
}

static void plain(tc_sh_reader *r, const row *at)
{
    const tc_sh_type *t, *x = NULL, *y = NULL;
    uint32_t out = ti_sh_result(r, &t);
    uint32_t a = operand(r, 2, t->slots, &x), b = at->n_in > 1 ? operand(r, 3, t->slots, &y) : 0;
    bool shift = at->op == TC_SPV_ShiftLeftLogical || at->op == TC_SPV_ShiftRightLogical ||
                 at->op == TC_SPV_ShiftRightArithmetic;
    if (r->error)
        return;
    if (y && (x->kind != y->kind || (!shift && x->bits != y->bits)))
        ti_sh_fail(r, "the operands are not of one type");
    if (!ti_sh_scalar(r, t))
        ti_sh_fail(r, "the result is not of numbers");
    else
        ti_sh_emit(r, at->op, x, out, a, b, t->slots);
}

/* ---- the others ------------------------------------------------------------------------------ */

static unsigned width_of(const tc_sh_type *t)
{
    return t->is_bfloat ? BFLOAT : t->bits;
}

static void convert(tc_sh_reader *r, tc_sh_step *step, tc_sh_kind from, tc_sh_kind to)
{
    const tc_sh_type *t, *x = NULL;
    uint32_t out = ti_sh_result(r, &t), a = operand(r, 2, t->slots, &x);
    const tc_sh_type *scalar = ti_sh_scalar(r, t);
    if (r->error)
        return;
    if (!scalar || x->kind != from || scalar->kind != to)
        ti_sh_fail(r, "a conversion is between other types");
    else
        ti_sh_put(r, (tc_sh_ins){.step = step, .out = out, .a = a, .d = width_of(scalar),
                                 .n = (uint16_t)t->slots, .bits = (uint16_t)width_of(x)});
}

static bool conversions(tc_sh_reader *r)
{
    static const struct {
        uint32_t op;
        tc_sh_step *step;
        tc_sh_kind from, to;
    } list[] = {{TC_SPV_ConvertFToU, real_to_unsigned, TC_SH_FLOAT, TC_SH_INT},
                {TC_SPV_ConvertFToS, real_to_signed, TC_SH_FLOAT, TC_SH_INT},
                {TC_SPV_ConvertSToF, signed_to_real, TC_SH_INT, TC_SH_FLOAT},
                {TC_SPV_ConvertUToF, unsigned_to_real, TC_SH_INT, TC_SH_FLOAT},
                {TC_SPV_UConvert, unsigned_to_width, TC_SH_INT, TC_SH_INT},
                {TC_SPV_SConvert, signed_to_width, TC_SH_INT, TC_SH_INT},
                {TC_SPV_FConvert, real_to_real, TC_SH_FLOAT, TC_SH_FLOAT},
                {TC_SPV_QuantizeToF16, through_f16, TC_SH_FLOAT, TC_SH_FLOAT}};
    for (size_t i = 0; i < TC_COUNT(list); i++)
        if (list[i].op == r->at.op) {
            convert(r, list[i].step, list[i].from, list[i].to);
            return true;
        }
    return false;
}

static void bitcast(tc_sh_reader *r)
{
    const tc_sh_type *t = ti_sh_type(r, ti_sh_word(r, 0)), *from;
    uint32_t a = ti_sh_value(r, ti_sh_word(r, 2), &from);
    const tc_sh_type *x = ti_sh_scalar(r, from), *y = ti_sh_scalar(r, t);
    if (!x || !y || x->bits * from->slots != y->bits * t->slots || from->slots > 16 ||
        t->slots > 16)
        ti_sh_fail(r, "a cast of bits is between types of different sizes");
    else if (x->bits == y->bits)
        ti_sh_result_is(r, a);
    else
        ti_sh_put(r, (tc_sh_ins){.step = recast, .out = ti_sh_result(r, &t), .a = a, .d = y->bits,
                                 .n = (uint16_t)from->slots, .bits = (uint16_t)x->bits});
}

static void select_value(tc_sh_reader *r)
{
    const tc_sh_type *t, *c, *x, *y;
    uint32_t out = ti_sh_result(r, &t), a = ti_sh_value(r, ti_sh_word(r, 2), &c);
    uint32_t b = ti_sh_value(r, ti_sh_word(r, 3), &x), d = ti_sh_value(r, ti_sh_word(r, 4), &y);
    const tc_sh_type *truth = ti_sh_scalar(r, c);
    if (!truth || truth->kind != TC_SH_BOOL || (c->slots != 1 && c->slots != t->slots) || x != t ||
        y != t)
        ti_sh_fail(r, "a selection is between values of other types");
    else
        ti_sh_put(r, (tc_sh_ins){.step = choose, .out = out, .a = a, .b = b, .c = d,
                                 .d = c->slots > 1, .n = (uint16_t)t->slots});
}

static void reduce_truth(tc_sh_reader *r)
{
    const tc_sh_type *t, *x;
    uint32_t out = ti_sh_result(r, &t), a = ti_sh_value(r, ti_sh_word(r, 2), &x);
    const tc_sh_type *truth = ti_sh_scalar(r, x);
    if (t->kind != TC_SH_BOOL || !truth || truth->kind != TC_SH_BOOL)
        ti_sh_fail(r, "the operand is not of truth values");
    ti_sh_put(r, (tc_sh_ins){.step = r->at.op == TC_SPV_Any ? any : all, .out = out, .a = a,
                             .n = (uint16_t)x->slots});
}

static void dot(tc_sh_reader *r)
{
    const tc_sh_type *t, *x, *y;
    uint32_t out = ti_sh_result(r, &t), a = ti_sh_value(r, ti_sh_word(r, 2), &x);
    uint32_t b = ti_sh_value(r, ti_sh_word(r, 3), &y);
    if (t->kind != TC_SH_FLOAT || t->is_bfloat || x != y || ti_sh_scalar(r, x) != t)
        ti_sh_fail(r, "a product is not of two vectors of one type");
    ti_sh_put(r, (tc_sh_ins){.step = t->bits == 16   ? dot_16
                                     : t->bits == 32 ? dot_32
                                                     : dot_64,
                             .out = out, .a = a, .b = b, .n = (uint16_t)x->slots});
}

/* A struct of two: the low part and the high one, or the sum and the carry. */
static void extended(tc_sh_reader *r)
{
    const tc_sh_type *t, *x = NULL, *y = NULL;
    uint32_t out = ti_sh_result(r, &t), half = t->slots / 2;
    uint32_t a = operand(r, 2, half, &x), b = operand(r, 3, half, &y);
    bool sum = r->at.op == TC_SPV_IAddCarry, difference = r->at.op == TC_SPV_ISubBorrow;
    if (r->error)
        return;
    if (t->kind != TC_SH_STRUCT || x->kind != TC_SH_INT || x->bits != y->bits || !half) {
        ti_sh_fail(r, "the result is not a struct of two");
        return;
    }
    tc_sh_step *low = sum ? step_IAdd : difference ? step_ISub : step_IMul;
    tc_sh_step *top = sum                                 ? carry
                      : difference                        ? borrow
                      : r->at.op == TC_SPV_UMulExtended ? umul_high
                                                          : smul_high;
    tc_sh_ins ins = {.step = low, .out = out, .a = a, .b = b, .n = (uint16_t)half,
                     .bits = (uint16_t)x->bits};
    ti_sh_put(r, ins);
    ins.step = top;
    ins.out = out + half;
    ti_sh_put(r, ins);
}

static void bit_field(tc_sh_reader *r)
{
    bool insert = r->at.op == TC_SPV_BitFieldInsert;
    const tc_sh_type *t, *x = NULL, *y = NULL, *p, *q;
    uint32_t out = ti_sh_result(r, &t), a = operand(r, 2, t->slots, &x);
    uint32_t b = insert ? operand(r, 3, t->slots, &y) : 0;
    uint32_t at = ti_sh_value(r, ti_sh_word(r, insert ? 4 : 3), &p);
    uint32_t n = ti_sh_value(r, ti_sh_word(r, insert ? 5 : 4), &q);
    if (r->error)
        return;
    if (x->kind != TC_SH_INT || p->kind != TC_SH_INT || q->kind != TC_SH_INT ||
        (insert && y->bits != x->bits))
        ti_sh_fail(r, "a field is not of whole numbers");
    tc_sh_ins ins = {.step = field_insert, .out = out, .a = a, .b = b, .c = at, .d = n,
                     .n = (uint16_t)t->slots, .bits = (uint16_t)x->bits};
    if (!insert) {
        ins.step = r->at.op == TC_SPV_BitFieldSExtract ? field_signed : field_unsigned;
        ins.b = at;
        ins.c = n;
    }
    ti_sh_put(r, ins);
}

bool ti_sh_arith(tc_sh_reader *r)
{
    static const struct {
        uint32_t op;
        void (*read)(tc_sh_reader *);
    } list[] = {{TC_SPV_Bitcast, bitcast},          {TC_SPV_Select, select_value},
                {TC_SPV_Any, reduce_truth},         {TC_SPV_All, reduce_truth},
                {TC_SPV_Dot, dot},                  {TC_SPV_IAddCarry, extended},
                {TC_SPV_ISubBorrow, extended},      {TC_SPV_UMulExtended, extended},
                {TC_SPV_SMulExtended, extended},    {TC_SPV_BitFieldInsert, bit_field},
                {TC_SPV_BitFieldSExtract, bit_field}, {TC_SPV_BitFieldUExtract, bit_field}};
    const row *found = row_of(r->at.op);
    if (found)
        plain(r, found);
    for (size_t i = 0; !found && i < TC_COUNT(list); i++)
        if (list[i].op == r->at.op) {
            list[i].read(r);
            return true;
        }
    return found || conversions(r);
}
