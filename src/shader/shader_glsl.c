/* SPDX-License-Identifier: Apache-2.0 */
/* shader_glsl.c -- the extended instruction set GLSL.std.450, by the functions of num/math.h; see
 * shader.h.  f16 is computed in f32; f64 has only what is exact or one rounding. */
#include "../num/math.h"
#include "shader_steps.h"

enum {
#define GLSL(number, name) GLSL_##name = number,
#include "../wire/glsl.def"
};

#define SX ti_sh_signed(x, bits)
#define SY ti_sh_signed(y, bits)
#define SZ ti_sh_signed(z, bits)

/* ---- reals ----------------------------------------------------------------------------------- */

/* One number by a function for many. */
#define ONE(name)                                                                                  \
    static float one_##name(float x)                                                               \
    {                                                                                              \
        float y;                                                                                   \
        ti_##name##_f32(&x, &y, 1);                                                                \
        return y;                                                                                  \
    }
ONE(sin) ONE(cos) ONE(tan) ONE(asin) ONE(acos) ONE(atan) ONE(sinh) ONE(cosh)
ONE(tanh) ONE(asinh) ONE(acosh) ONE(atanh) ONE(exp) ONE(log) ONE(exp2) ONE(log2)

#define ROUND(v) _Generic((v), float: roundf, double: round)(v)
#define EVEN(v) _Generic((v), float: rintf, double: rint)(v)
#define CEIL(v) _Generic((v), float: ceilf, double: ceil)(v)
#define ABS(v) _Generic((v), float: fabsf, double: fabs)(v)
#define ROOT(v) _Generic((v), float: sqrtf, double: sqrt)(v)
#define FUSED(a, b, c) _Generic((a), float: fmaf, double: fma)(a, b, c)
#define LEAST(a, b) ((b) < (a) ? (b) : (a))
#define MOST(a, b) ((a) < (b) ? (b) : (a))
/* NaN loses. */
#define NLEAST(a, b) ((a) != (a) ? (b) : (b) != (b) ? (a) : LEAST(a, b))
#define NMOST(a, b) ((a) != (a) ? (b) : (b) != (b) ? (a) : MOST(a, b))

static float smooth(float low, float high, float x)
{
    float t = (x - low) / (high - low);
    t = t < 0.0f ? 0.0f : t > 1.0f ? 1.0f : t;
    return t * t * (3.0f - 2.0f * t);
}

/* ---- integers -------------------------------------------------------------------------------- */

static uint64_t lowest(uint64_t x, unsigned bits)
{
    for (unsigned k = 0; k < bits; k++)
        if (x >> k & 1)
            return k;
    return UINT64_MAX;
}

static uint64_t highest(uint64_t x, unsigned bits)
{
    for (unsigned k = bits; k-- > 0;)
        if (x >> k & 1)
            return k;
    return UINT64_MAX;
}

#define WHOLE(name, n, ...) TC_SH_WHOLE(step_##name, __VA_ARGS__)
#define REAL(name, n, ...) TC_SH_REAL(step_##name, __VA_ARGS__)
#define REAL_32(name, n, ...) TC_SH_REAL_32(step_##name, __VA_ARGS__)
#include "shader_glsl.def"

/* ---- vectors of f32 -------------------------------------------------------------------------- */

static float at(const tc_sh_machine *m, uint32_t slot)
{
    return ti_f32_of((uint32_t)m->r[slot]);
}

static float length_of(const tc_sh_machine *m, const tc_sh_ins *i, bool distance)
{
    float sum = 0;
    for (unsigned k = 0; k < i->n; k++) {
        float d = distance ? at(m, i->a + k) - at(m, i->b + k) : at(m, i->a + k);
        sum += d * d;
    }
    return sqrtf(sum);
}

static const tc_sh_ins *step_length(tc_sh_machine *m, const tc_sh_ins *i)
{
    m->r[i->out] = ti_f32_bits(length_of(m, i, false));
    return i + 1;
}

static const tc_sh_ins *step_distance(tc_sh_machine *m, const tc_sh_ins *i)
{
    m->r[i->out] = ti_f32_bits(length_of(m, i, true));
    return i + 1;
}

static const tc_sh_ins *step_normalize(tc_sh_machine *m, const tc_sh_ins *i)
{
    float length = length_of(m, i, false);
    for (unsigned k = 0; k < i->n; k++)
        m->r[i->out + k] = ti_f32_bits(at(m, i->a + k) / length);
    return i + 1;
}

static const tc_sh_ins *step_cross(tc_sh_machine *m, const tc_sh_ins *i)
{
    float x[3], y[3];
    for (uint32_t k = 0; k < 3; k++) {
        x[k] = at(m, i->a + k);
        y[k] = at(m, i->b + k);
    }
    for (uint32_t k = 0; k < 3; k++) {
        uint32_t p = (k + 1) % 3, q = (k + 2) % 3;
        m->r[i->out + k] = ti_f32_bits(x[p] * y[q] - y[p] * x[q]);
    }
    return i + 1;
}

/* x - 2 (n . x) n */
static const tc_sh_ins *step_reflect(tc_sh_machine *m, const tc_sh_ins *i)
{
    float dot = 0;
    for (unsigned k = 0; k < i->n; k++)
        dot += at(m, i->b + k) * at(m, i->a + k);
    for (unsigned k = 0; k < i->n; k++)
        m->r[i->out + k] = ti_f32_bits(at(m, i->a + k) - 2.0f * dot * at(m, i->b + k));
    return i + 1;
}

/* x * 2^y */
static const tc_sh_ins *step_ldexp(tc_sh_machine *m, const tc_sh_ins *i)
{
    for (unsigned k = 0; k < i->n; k++) {
        int64_t e = ti_sh_signed(m->r[i->b + k], i->d);
        int by = (int)(e < -400 ? -400 : e > 400 ? 400 : e);
        m->r[i->out + k] = ti_f32_bits(ldexpf(at(m, i->a + k), by));
    }
    return i + 1;
}

/* Packing: d says how: bits of each part, and whether codes have a sign; 0: halves. */
enum { PACK_SIGNED = 64 };

static uint32_t packed(float v, uint32_t how)
{
    unsigned bits = how & 63u;
    if (!bits)
        return ti_f32_to_f16(v);
    float least = how & PACK_SIGNED ? -1.0f : 0.0f;
    float most = (float)((1u << (how & PACK_SIGNED ? bits - 1 : bits)) - 1);
    v = v != v ? 0.0f : v < least ? least : v > 1.0f ? 1.0f : v;
    return (uint32_t)(int32_t)rintf(v * most) & ((1u << bits) - 1);
}

static float unpacked(uint32_t code, uint32_t how)
{
    unsigned bits = how & 63u;
    if (!bits)
        return ti_f16_to_f32((uint16_t)code);
    if (!(how & PACK_SIGNED))
        return (float)code / (float)((1u << bits) - 1);
    float v = (float)ti_sh_signed(code, bits) / (float)((1u << (bits - 1)) - 1);
    return v < -1.0f ? -1.0f : v;
}

static const tc_sh_ins *step_pack(tc_sh_machine *m, const tc_sh_ins *i)
{
    uint32_t word = 0;
    for (unsigned k = 0; k < i->n; k++)
        word |= packed(at(m, i->a + k), i->d) << (k * (32u / i->n));
    m->r[i->out] = word;
    return i + 1;
}

static const tc_sh_ins *step_unpack(tc_sh_machine *m, const tc_sh_ins *i)
{
    uint32_t word = (uint32_t)m->r[i->a], each = 32u / i->n;
    for (unsigned k = 0; k < i->n; k++)
        m->r[i->out + k] =
            ti_f32_bits(unpacked(word >> (k * each) & ((UINT32_C(1) << each) - 1), i->d));
    return i + 1;
}

/* ---- the tables ------------------------------------------------------------------------------ */

/* Scalar by scalar. */
static const struct {
    uint32_t number;
    int n_in;
    tc_sh_step *whole, *f16, *f32, *f64;
} rows[] = {
#define WHOLE(name, n, ...) {GLSL_##name, n, step_##name, NULL, NULL, NULL},
#define REAL(name, n, ...) {GLSL_##name, n, NULL, step_##name##_16, step_##name##_32, step_##name##_64},
#define REAL_32(name, n, ...) {GLSL_##name, n, NULL, step_##name##_16, step_##name##_32, NULL},
#include "shader_glsl.def"
};

/* On whole vectors of f32: operands and result have this many scalars, 0: as many as operand 0. */
static const struct {
    uint32_t number;
    int n_in;
    tc_sh_step *step;
    uint32_t n_first, n_out, how;
} vectors[] = {
    {GLSL_Length, 1, step_length, 0, 1, 0},
    {GLSL_Distance, 2, step_distance, 0, 1, 0},
    {GLSL_Normalize, 1, step_normalize, 0, 0, 0},
    {GLSL_Cross, 2, step_cross, 3, 3, 0},
    {GLSL_Reflect, 2, step_reflect, 0, 0, 0},
    {GLSL_PackSnorm4x8, 1, step_pack, 4, 1, 8 | PACK_SIGNED},
    {GLSL_PackUnorm4x8, 1, step_pack, 4, 1, 8},
    {GLSL_PackSnorm2x16, 1, step_pack, 2, 1, 16 | PACK_SIGNED},
    {GLSL_PackUnorm2x16, 1, step_pack, 2, 1, 16},
    {GLSL_PackHalf2x16, 1, step_pack, 2, 1, 0},
    {GLSL_UnpackSnorm2x16, 1, step_unpack, 1, 2, 16 | PACK_SIGNED},
    {GLSL_UnpackUnorm2x16, 1, step_unpack, 1, 2, 16},
    {GLSL_UnpackHalf2x16, 1, step_unpack, 1, 2, 0},
    {GLSL_UnpackSnorm4x8, 1, step_unpack, 1, 4, 8 | PACK_SIGNED},
    {GLSL_UnpackUnorm4x8, 1, step_unpack, 1, 4, 8},
};

static bool refuse(tc_sh_reader *r, uint32_t number)
{
    const char *name = ti_spv_glsl_name(number);
    return ti_sh_fail(r, "%s of GLSL.std.450 (number %" PRIu32 ") %s", name ? name : "an instruction",
                      number, name ? "is not supported, or not for these types" : "is not known");
}

static bool scalars(tc_sh_reader *r, size_t row)
{
    const tc_sh_type *t, *x;
    uint32_t out = ti_sh_result(r, &t), slot[3] = {0};
    const tc_sh_type *e = ti_sh_scalar(r, t);
    if (!e || r->at.n != 4 + (size_t)rows[row].n_in)
        return ti_sh_fail(r, "an extended instruction has the wrong number of operands");
    for (int i = 0; i < rows[row].n_in; i++) {
        slot[i] = ti_sh_value(r, ti_sh_word(r, 4 + (size_t)i), &x);
        const tc_sh_type *own = ti_sh_scalar(r, x);
        if (!own || x->slots != t->slots || own->kind != e->kind || own->bits != e->bits)
            return ti_sh_fail(r, "an operand is not of the result's type");
    }
    tc_sh_step *step = e->kind == TC_SH_INT     ? rows[row].whole
                       : e->kind != TC_SH_FLOAT ? NULL
                       : e->is_bfloat           ? NULL
                       : e->bits == 16          ? rows[row].f16
                       : e->bits == 32          ? rows[row].f32
                                                : rows[row].f64;
    if (!step)
        return refuse(r, rows[row].number);
    ti_sh_put(r, (tc_sh_ins){.step = step, .out = out, .a = slot[0], .b = slot[1], .c = slot[2],
                             .n = (uint16_t)t->slots, .bits = (uint16_t)e->bits});
    return true;
}

static bool whole_vectors(tc_sh_reader *r, size_t row)
{
    const tc_sh_type *t, *x = NULL, *y = NULL;
    uint32_t out = ti_sh_result(r, &t), a = ti_sh_value(r, ti_sh_word(r, 4), &x);
    uint32_t b = vectors[row].n_in > 1 ? ti_sh_value(r, ti_sh_word(r, 5), &y) : 0;
    uint32_t n_first = vectors[row].n_first ? vectors[row].n_first : x->slots;
    uint32_t n_out = vectors[row].n_out ? vectors[row].n_out : x->slots;
    const tc_sh_type *e = ti_sh_scalar(r, x), *f = ti_sh_scalar(r, t);
    if (!e || !f || e->bits != 32 || f->bits != 32 || x->slots != n_first || t->slots != n_out ||
        (y && y != x) || r->at.n != 4 + (size_t)vectors[row].n_in || !n_first)
        return refuse(r, vectors[row].number);
    bool unpack = vectors[row].step == step_unpack;
    ti_sh_put(r, (tc_sh_ins){.step = vectors[row].step, .out = out, .a = a, .b = b,
                             .d = vectors[row].how, .n = (uint16_t)(unpack ? n_out : n_first)});
    return true;
}

static bool power_of_two(tc_sh_reader *r)
{
    const tc_sh_type *t, *x, *y;
    uint32_t out = ti_sh_result(r, &t), a = ti_sh_value(r, ti_sh_word(r, 4), &x);
    uint32_t b = ti_sh_value(r, ti_sh_word(r, 5), &y);
    const tc_sh_type *e = ti_sh_scalar(r, x), *by = ti_sh_scalar(r, y);
    if (x != t || !e || e->kind != TC_SH_FLOAT || e->bits != 32 || !by || by->kind != TC_SH_INT ||
        y->slots != t->slots)
        return refuse(r, GLSL_Ldexp);
    ti_sh_put(r, (tc_sh_ins){.step = step_ldexp, .out = out, .a = a, .b = b, .d = by->bits,
                             .n = (uint16_t)t->slots});
    return true;
}

bool ti_sh_glsl(tc_sh_reader *r)
{
    uint32_t number = ti_sh_word(r, 3);
    for (size_t i = 0; i < TC_COUNT(rows); i++)
        if (rows[i].number == number)
            return scalars(r, i);
    for (size_t i = 0; i < TC_COUNT(vectors); i++)
        if (vectors[i].number == number)
            return whole_vectors(r, i);
    return number == GLSL_Ldexp ? power_of_two(r) : refuse(r, number);
}
