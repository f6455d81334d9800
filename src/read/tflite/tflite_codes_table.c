/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_codes_table.c -- builders of functions of one code.
 *
 * Of int8 codes there are 256: the runtime's function is evaluated for each of them, and becomes a
 * TABLE.  Of int16 codes the runtime mostly has a table of 513, which TOSA's TABLE and a RESCALE by
 * 1/128 interpolate the same way; the others are looked up among all 65536. */
#include <math.h>

#include "../../base/real.h"
#include "../../num/fixed.h"
#include "../../num/load.h"
#include "tflite_scalar.h"

typedef struct unary {
    tc_tfl_node *n;
    const tc_tfl_tensor *x, *y;
    float xs, ys;
    int64_t xz, yz; /* as the file has them */
    int64_t lo, hi;
    float (*real)(float v, const struct unary *u);
    double alpha;
    tc_tfl_factor f, g;
} unary;

static int64_t held(const unary *u, int64_t v) { return ti_max_i64(u->lo, ti_min_i64(v, u->hi)); }

/* ---- in f32 ---- */

static float do_tanh(float v, const unary *u) { return (void)u, (float)ti_tanh((double)v); }
static float do_logistic(float v, const unary *u) { return (void)u, 1.0f / (1.0f + (float)ti_exp(-(double)v)); }
static float do_exp(float v, const unary *u) { return (void)u, (float)ti_exp((double)v); }
static float do_elu(float v, const unary *u) { return (void)u, v < 0.0f ? (float)ti_expm1((double)v) : v; }
static float do_gelu(float v, const unary *u)
{
    return (void)u, 0.5f * v * (float)ti_erfc((double)(v * (float)-0.70710678118654752440));
}
static float do_gelu_tanh(float v, const unary *u)
{
    const float k = (float)0.79788456080286535588;
    return (void)u, 0.5f * v * (1.0f + (float)ti_tanh((double)(k * (v + 0.044715f * (v * v * v)))));
}
/* Not a number there: as far down as codes go. */
static float do_log(float v, const unary *u)
{
    return v <= 0 ? u->ys * (float)(u->lo - u->yz) : (float)ti_log((double)v);
}
static float do_rsqrt(float v, const unary *u)
{
    return v <= 0 ? 32767.0f * u->ys : 1.0f / sqrtf(v);
}

/* SQRT is cut off, not rounded. */
static int64_t square_root(const unary *u, int64_t code)
{
    float v = u->xs * (float)(code - u->xz);
    return v > 0 ? held(u, (int64_t)fminf(sqrtf(v) / u->ys, 1e6f) + u->yz) : held(u, u->yz);
}

static int64_t by_real(const unary *u, int64_t code)
{
    float inverse = 1 / u->ys, v = u->real(u->xs * (float)(code - u->xz), u);
    float scaled = roundf(v * inverse) + (float)u->yz;
    return scaled > 1e6f ? u->hi : scaled < -1e6f ? u->lo : held(u, (int64_t)scaled);
}

/* ---- in integers ---- */

static int64_t rescaled(const unary *u, int64_t code)
{
    return held(u, ti_tfl_scaled((int32_t)(code - u->xz), u->f) + u->yz);
}

static int64_t leaky(const unary *u, int64_t code)
{
    int32_t v = (int32_t)(code - u->xz);
    if (v >= 0)
        return held(u, ti_tfl_scaled(v, u->f) + u->yz);
    int64_t low = ti_tfl_scaled(v, u->g);
    return held(u, (u->alpha < 0 ? -low : low) + u->yz);
}

static int16_t high16(int32_t a, int32_t b, bool round)
{
    if (a == b && a == INT16_MIN)
        return INT16_MAX;
    int32_t ab = a * b;
    if (!round)
        return (int16_t)(ab / (1 << 15));
    int32_t nudge = ab >= 0 ? 1 << 14 : 1 - (1 << 14);
    return (int16_t)((ab + nudge) / (1 << 15));
}

static int32_t divided(int32_t v, int by)
{
    if (by <= 0)
        return v;
    int32_t half = 1 << (by - 1);
    return v >= 0 ? (v + half) >> by : -((-v + half) >> by);
}

static int16_t held16(int64_t v)
{
    return (int16_t)ti_max_i64(INT16_MIN, ti_min_i64(v, INT16_MAX));
}

static int16_t fraction16(int32_t fraction)
{
    return fraction >= 0x7FFF8000 ? 32767 : (int16_t)((fraction + (1 << 15)) >> 16);
}

/* x relu6(x + 3) / 6 in 16 bits, f: to the result, g: onto -3 .. 3. */
static int64_t hard_swish(const unary *u, int64_t code)
{
    int16_t wide = (int16_t)((code - u->xz) * 128);
    int16_t out = high16(wide, fraction16(u->f.fraction), true), gate = wide;
    if (u->g.shift > 0)
        gate = held16((int64_t)gate * (INT64_C(1) << ti_min_i64(u->g.shift - 1, 31)));
    gate = high16(gate, fraction16(u->g.fraction), true);
    if (u->g.shift > 0)
        gate = held16((int64_t)gate * 2);
    if (u->g.shift < 0)
        gate = (int16_t)divided(gate, (int)ti_min_i64(-u->g.shift, 15));
    gate = (int16_t)ti_asr((int64_t)gate + (1 << 15), 1);
    int32_t v = divided(high16(gate, out, false), (int)ti_min_i64(-u->f.shift, 30));
    return held(u, (int16_t)(v + u->yz));
}

/* 1 / sqrt(v) with 31 bits of fraction, as the runtime finds it by Newton's steps. */
static int32_t inverse_root(int32_t input, int *shift)
{
    *shift = input <= 1 ? 0 : 11;
    if (input <= 1)
        return INT32_MAX;
    while (input >= 1 << 29) {
        input /= 4;
        ++*shift;
    }
    int lead = 0;
    while (lead < 32 && !((uint32_t)input >> (31 - lead) & 1u))
        lead++;
    int pairs = (lead - 1) / 2 - 1;
    *shift -= pairs;
    input = (int32_t)((uint32_t)input << (2 * pairs));
    const int32_t three = (1 << 28) + (1 << 27);
    int32_t x = 1 << 28; /* one, with three integer bits */
    input = divided(input >> 1, 1);
    for (int i = 0; i < 5; i++) {
        int32_t x2 = (int32_t)ti_asr((int64_t)x * x + (1 << 30), 31);
        int32_t x3 = (int32_t)ti_asr((int64_t)x2 * x + (1 << 30), 31);
        x3 = (int32_t)((uint32_t)x3 << 6);
        int32_t a = (int32_t)ti_asr((int64_t)three * x + (1 << 30), 31),
                b = (int32_t)ti_asr((int64_t)input * x3 + (1 << 30), 31);
        x = (int32_t)((uint32_t)(a - b) << 3);
    }
    int32_t v = (int32_t)ti_asr((int64_t)x * 1518500250 + (1 << 30), 31);
    if (*shift < 0) {
        v = (int32_t)((uint32_t)v << -*shift);
        *shift = 0;
    }
    *shift *= -1;
    return v;
}

enum { ROOT_UP = 20 }; /* fraction bits of a root; u->f removes them */

static int64_t root(const unary *u, int64_t code)
{
    int32_t v = (int32_t)(code - u->xz);
    if (v <= 0)
        return u->hi;
    tc_tfl_factor a = {0, 0};
    a.fraction = inverse_root(v, &a.shift);
    a.shift += ROOT_UP;
    int32_t data = ti_tfl_scaled(1, a);
    return held(u, ti_tfl_scaled(data, u->f) + u->yz);
}

/* ---- int16 ---- */

static int64_t logistic16(const unary *u, int64_t code)
{
    return ti_tfl_curve16(code, u->f, false);
}
static int64_t tanh16(const unary *u, int64_t code) { return ti_tfl_curve16(code, u->f, true); }

/* The factor that both have: 3 * 4096 scales, 16 bits; powers of two that fit are exact. */
static void curve16(unary *u, int most)
{
    int e;
    bool pot = frexp((double)u->xs, &e) == 0.5;
    int left = 12 + e - 1;
    if (pot && left >= 0 && left <= most) {
        u->f = (tc_tfl_factor){3 << left, 0};
        return;
    }
    double f = (double)u->xs * 4096.0 * 3.0;
    u->f.shift = 0;
    while (f <= 32767.0 / 2.0 && u->f.shift <= 30) {
        u->f.shift++;
        f *= 2;
    }
    u->f.fraction = (int32_t)fmin(f, INT32_MAX);
}

/* The runtime's table of 513 and how it is read. */
static tc_val table513(tc_tfl_node *n, const unary *u, tc_val x)
{
    tc_build *m = &n->m;
    int64_t count = 513;
    tc_tensor t = ti_b_tensor(m, TC_i16, 1, &count);
    float from = u->xs * (float)(-32768 - u->xz), to = u->xs * (float)(32767 - u->xz),
          step = (to - from) / 512, half = step / 2,
          inverse = 65536.0f / (u->ys * (float)(32767 - u->yz) - u->ys * (float)(-32768 - u->yz));
    for (int i = 0; i < 512; i++) {
        float v = u->real(from + (float)i * step, u),
              mid = u->real(from + (float)i * step + half, u),
              next = u->real(from + (float)(i + 1) * step, u);
        float here = roundf(v * inverse), between = roundf((next * inverse + here) / 2),
              bias = roundf((between - roundf(mid * inverse)) / 2);
        ti_store_i64(t, i, held16((int64_t)fmaxf(fminf(here - bias, 1e6f), -1e6f)));
    }
    float last = roundf(u->real(to, u) * inverse);
    ti_store_i64(t, 512, held16((int64_t)fmaxf(fminf(last, 1e6f), -1e6f)));
    tc_val y = ti_b_tosa_table(m, x, ti_b_const(m, t, NULL));
    return ti_tfl_rescale(m, y, &(tc_tfl_factor){1 << 24, 0}, 1, 0, 0, TC_i16);
}

/* The runtime's arithmetic is undefined for factors past 2^30. */
static bool in_bounds(tc_tfl_node *n, const unary *u)
{
    int most = u->f.shift > u->g.shift ? u->f.shift : u->g.shift;
    if (most > 30)
        ti_b_unsupported(&n->m, "a scale that is 2^%d times the result's", most);
    return n->m.status == TC_OK;
}

/* All 65536 results in a list. */
static tc_val looked_up(tc_tfl_node *n, const unary *u, tc_val x,
                        int64_t (*of)(const unary *, int64_t))
{
    tc_build *m = &n->m;
    if (!in_bounds(n, u))
        return TC_NONE;
    int64_t *v = tc_new_n(&m->ctx->arena, int64_t, 65536);
    for (int64_t code = -32768; code < 32768; code++)
        v[code + 32768] = of(u, code);
    return ti_tfl_by_code(m, x, ti_tfl_list(m, TC_i16, v, 65536));
}

static tc_val table256(tc_tfl_node *n, const unary *u, tc_val x,
                       int64_t (*of)(const unary *, int64_t))
{
    int8_t table[256];
    if (!in_bounds(n, u))
        return TC_NONE;
    int64_t up = u->x->shifted ? 128 : 0, down = u->y->shifted ? 128 : 0;
    for (int k = 0; k < 256; k++) /* entry k is code k - 128 as we keep it */
        table[k] = (int8_t)(of(u, k - 128 + up) - down);
    return ti_tfl_table(&n->m, x, table);
}

/* ---- builders ---- */

static bool begin(tc_tfl_node *n, unary *u, tc_val *x)
{
    u->n = n;
    u->x = ti_tfl_in_tensor(n, 0);
    u->y = ti_tfl_out_tensor(n, 0);
    *x = ti_tfl_need(n, 0);
    u->xs = (float)ti_tfl_scale(n, u->x);
    u->ys = (float)ti_tfl_scale(n, u->y);
    TC_STOP_WITH(&n->m, false);
    u->xz = u->x->zero[0] + (u->x->shifted ? 128 : 0);
    u->yz = u->y->zero[0] + (u->y->shifted ? 128 : 0);
    u->lo = u->y->shifted ? 0 : ti_dtype_min(u->y->dtype);
    u->hi = u->y->shifted ? 255 : ti_dtype_max(u->y->dtype);
    if (u->x->dtype != u->y->dtype) {
        ti_b_unsupported(&n->m, "from %s to %s", ti_tfl_type_name(u->x->code),
                         ti_tfl_type_name(u->y->code));
        return false;
    }
    return true;
}

/* By a function of real values. */
void ti_tfl_codes_curve(tc_tfl_node *n)
{
    static const struct {
        tc_op op;
        float (*real)(float, const unary *);
    } curves[] = {{TC_OP_tanh, do_tanh}, {TC_OP_sigmoid, do_logistic}, {TC_OP_exp, do_exp},
                  {TC_OP_elu, do_elu},   {TC_OP_gelu, do_gelu},        {TC_OP_log, do_log},
                  {TC_OP_rsqrt, do_rsqrt}};
    unary u = {0};
    tc_val x;
    if (!begin(n, &u, &x))
        return;
    for (size_t i = 0; i < TC_COUNT(curves); i++)
        u.real = curves[i].op == n->row->op ? curves[i].real : u.real;
    if (n->row->op == TC_OP_gelu && ti_tfl_bool(n, 0, false))
        u.real = do_gelu_tanh;
    bool wide = u.x->dtype == TC_i16, sigmoid = n->row->op == TC_OP_sigmoid;
    if (wide && (sigmoid || n->row->op == TC_OP_tanh)) {
        curve16(&u, sigmoid ? 0 : 1);
        ti_tfl_bind(n, 0, looked_up(n, &u, x, sigmoid ? logistic16 : tanh16));
        return;
    }
    if (!wide && n->row->op == TC_OP_rsqrt) {
        u.f = ti_tfl_factor_of((double)(1.0f / (sqrtf(u.xs) * u.ys)));
        u.f.shift -= ROOT_UP;
        ti_tfl_bind(n, 0, table256(n, &u, x, root));
        return;
    }
    ti_tfl_bind(n, 0, wide ? table513(n, &u, x) : table256(n, &u, x, by_real));
}

/* RELU and its kind: rescaled, between the codes that the activation leaves. */
void ti_tfl_codes_activation(tc_tfl_node *n)
{
    unary u = {0};
    tc_val x;
    int which = (int)n->row->extra;
    if (!begin(n, &u, &x))
        return;
    static const double lo[] = {0, 0, -1, 0}, hi[] = {0, 0, 1, 6};
    double least = which == 10 ? 0 : lo[which], most = which == 10 ? 1 : hi[which];
    u.f = ti_tfl_factor_of((double)(u.xs / u.ys));
    u.lo = ti_max_i64(u.lo, (int64_t)roundf(fmaxf((float)least / u.ys, -1e6f)) + u.yz);
    if (which != TFL_RELU)
        u.hi = ti_min_i64(u.hi, (int64_t)roundf(fminf((float)most / u.ys, 1e6f)) + u.yz);
    if (u.x->dtype == TC_i8) {
        if (u.xs == u.ys && u.xz == u.yz && u.x->shifted == u.y->shifted) {
            int64_t down = u.y->shifted ? 128 : 0;
            ti_tfl_bind(n, 0,
                        ti_tfl_clamp(&n->m, x, (tc_tfl_range){u.lo - down, u.hi - down}));
            return;
        }
        ti_tfl_bind(n, 0, table256(n, &u, x, rescaled));
        return;
    }
    x = ti_tfl_rescale(&n->m, x, &u.f, 1, u.xz, u.yz, TC_i16);
    ti_tfl_bind(n, 0, ti_tfl_clamp(&n->m, x, (tc_tfl_range){u.lo, u.hi}));
}

/* Whether the larger of both sides is the right one, of all codes. */
static bool is_larger(const unary *u)
{
    for (int64_t code = INT16_MIN; code <= INT16_MAX && u->alpha >= 0; code++) {
        int64_t up = ti_tfl_scaled((int32_t)code, u->f), down = ti_tfl_scaled((int32_t)code, u->g);
        if (code < 0 ? up > down : up < down)
            return false;
    }
    return u->alpha >= 0;
}

void ti_tfl_codes_leaky_relu(tc_tfl_node *n)
{
    unary u = {0};
    tc_val x;
    if (!begin(n, &u, &x))
        return;
    u.alpha = ti_tfl_float(n, 0, 0);
    u.f = ti_tfl_factor_of((double)u.xs / (double)u.ys); /* as on boards; LiteRT divides in f32 */
    u.g = ti_tfl_factor_of(fabs((double)u.xs * (double)(float)u.alpha / (double)u.ys));
    if (u.x->dtype == TC_i8) {
        ti_tfl_bind(n, 0, table256(n, &u, x, leaky));
        return;
    }
    tc_val up = ti_tfl_rescale(&n->m, x, &u.f, 1, 0, 0, TC_i16),
           down = ti_tfl_rescale(&n->m, x, &u.g, 1, 0, 0, TC_i16);
    if (is_larger(&u)) {
        ti_tfl_bind(n, 0, ti_tfl_narrow_two(&n->m, TC_OP_tosa_maximum, up, down, 0, TC_i16));
        return;
    }
    down = ti_tfl_clamp(&n->m, down, (tc_tfl_range){INT16_MIN, 0});
    tc_op op = u.alpha < 0 ? TC_OP_tosa_sub : TC_OP_tosa_add;
    ti_tfl_bind(n, 0, ti_tfl_joined(&n->m, op, up, down, 0, TC_i16));
}

void ti_tfl_codes_hard_swish(tc_tfl_node *n)
{
    unary u = {0};
    tc_val x;
    if (!begin(n, &u, &x))
        return;
    float fine = (1.0f / 128.0f) * u.xs;
    u.f = ti_tfl_factor_of((double)(fine / u.ys));
    u.g = ti_tfl_factor_of((double)(fine / (3.0f / 32768.0f)));
    if (u.x->dtype != TC_i8 || u.f.shift > 0) {
        ti_b_unsupported(&n->m, "HARD_SWISH of %s%s", ti_tfl_type_name(u.x->code),
                         u.f.shift > 0 ? " onto a finer scale" : "");
        return;
    }
    ti_tfl_bind(n, 0, table256(n, &u, x, hard_swish));
}

void ti_tfl_codes_abs(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    unary u = {0};
    tc_val x;
    if (!begin(n, &u, &x))
        return;
    u.f = u.xs == u.ys ? (tc_tfl_factor){1 << 30, 1} : ti_tfl_factor_of((double)(u.xs / u.ys));
    if (!in_bounds(n, &u))
        return;
    x = ti_tfl_widen(m, x, u.x->zero[0], 0);
    x = ti_b_tosa_abs(m, x);
    ti_tfl_bind(n, 0, ti_tfl_rescale(m, x, &u.f, 1, 0, u.y->zero[0], u.y->dtype));
}

void ti_tfl_codes_sqrt(tc_tfl_node *n)
{
    unary u = {0};
    tc_val x;
    if (!begin(n, &u, &x))
        return;
    ti_tfl_bind(n, 0, u.x->dtype == TC_i8 ? table256(n, &u, x, square_root)
                                          : looked_up(n, &u, x, square_root));
}
