/* SPDX-License-Identifier: Apache-2.0 */
/* eltwise_ternary.c -- elementwise operators of three operands, and some with their own layout. */
#include <tgmath.h>

#include "eltwise.h"
#include "../base/real.h"
#include "kernels.h"
#include "load.h"
#include "math.h"

/* out[i] = expression of x, y, z; `before` prepares loop invariants. */
#define LOOP(fn, T, before, expression)                                                            \
    static void fn(tc_run *run)                                                                    \
    {                                                                                              \
        typedef T real TC_UNUSED;                                                                  \
        const T *restrict p = run->in[0], *restrict q = run->in[1], *restrict s = run->in[2];      \
        T *restrict out = run->out;                                                                \
        before;                                                                                    \
        for (size_t i = 0; i < run->n; i++) {                                                      \
            T x = p[i], y = q[i], z = s[i];                                                        \
            out[i] = (T)(expression);                                                              \
        }                                                                                          \
    }
#define KERNEL(name, f32_, f64_, i64_, flags_)                                                     \
    void ti_num_##name(tc_call *call)                                                              \
    {                                                                                              \
        static const tc_eltwise op = {{f32_, f64_, i64_}, flags_};                                 \
        ti_eltwise_run(call, &op, call->out[0].type->dtype);                                       \
    }

/* x + z (y - x), from the nearer end. */
#define BETWEEN fabs(z) < (real)0.5 ? x + z *(y - x) : y - (y - x) * (1 - z)
LOOP(lerp_f32, float, , BETWEEN)
LOOP(lerp_f64, double, , BETWEEN)
KERNEL(lerp, lerp_f32, lerp_f64, NULL, TC_WIDE_SCALARS)

static double value_of(const tc_run *run)
{
    return ((const tc_attr_scale *)run->attr)->value;
}

LOOP(addcmul_f32, float, float value = (float)value_of(run), x + value * y * z)
LOOP(addcmul_f64, double, double value = value_of(run), x + value * y * z)
LOOP(addcmul_i64, int64_t, uint64_t value = (uint64_t)ti_trunc_i64(value_of(run)),
     (uint64_t)x + value * (uint64_t)y * (uint64_t)z)
LOOP(addcdiv_f32, float, float value = (float)value_of(run), x + value * y / z)
LOOP(addcdiv_f64, double, double value = value_of(run), x + value * y / z)
KERNEL(addcmul, addcmul_f32, addcmul_f64, addcmul_i64, 0)
KERNEL(addcdiv, addcdiv_f32, addcdiv_f64, NULL, 0)

/* min(max(x, lo), hi); either bound may be missing, NaN anywhere wins. */
#define CLAMP(fn, T)                                                                               \
    static void fn(tc_run *run)                                                                    \
    {                                                                                              \
        const T *x = run->in[0], *lo = run->in[1], *hi = run->in[2];                               \
        T *out = run->out;                                                                         \
        for (size_t i = 0; i < run->n; i++) {                                                      \
            T v = x[i];                                                                            \
            if (lo && (v < lo[i] || lo[i] != lo[i]))                                               \
                v = lo[i];                                                                         \
            if (hi && (v > hi[i] || hi[i] != hi[i]))                                               \
                v = hi[i];                                                                         \
            out[i] = x[i] != x[i] ? x[i] : v;                                                      \
        }                                                                                          \
    }
CLAMP(clamp_tensor_f32, float)
CLAMP(clamp_tensor_f64, double)
CLAMP(clamp_tensor_i64, int64_t)

void ti_num_clamp_tensor(tc_call *call)
{
    static const tc_eltwise op = {{clamp_tensor_f32, clamp_tensor_f64, clamp_tensor_i64}, 0};
    ti_eltwise_run(call, &op, call->out[0].type->dtype);
}

/* An operand of where in the result's type. */
static tc_tensor in_type(tc_call *call, tc_tensor t, tc_dtype dtype)
{
    if (t.type->dtype == dtype)
        return t;
    tc_type *type = tc_new(call->scratch, tc_type);
    *type = *t.type;
    type->dtype = dtype;
    tc_tensor converted = ti_tensor_new(call->scratch, type);
    ti_convert(t, converted);
    return converted;
}

/* out[i] = test[i] ? x[i] : y[i], where x and y may be one element; elements are copied, so only
 * their size matters. */
#define CHOOSE(fn, T)                                                                              \
    static void fn(const uint8_t *restrict test, const void *from_x, bool one_x,                   \
                   const void *from_y, bool one_y, void *to, int64_t n)                            \
    {                                                                                              \
        const T *restrict x = from_x, *restrict y = from_y;                                        \
        T *restrict out = to, a = *x, b = *y;                                                      \
        if (one_x && one_y)                                                                        \
            for (int64_t i = 0; i < n; i++)                                                        \
                out[i] = test[i] ? a : b;                                                          \
        else if (one_x)                                                                            \
            for (int64_t i = 0; i < n; i++)                                                        \
                b = y[i], out[i] = test[i] ? a : b;                                                \
        else if (one_y)                                                                            \
            for (int64_t i = 0; i < n; i++)                                                        \
                a = x[i], out[i] = test[i] ? a : b;                                                \
        else                                                                                       \
            for (int64_t i = 0; i < n; i++)                                                        \
                a = x[i], b = y[i], out[i] = test[i] ? a : b;                                      \
    }
CHOOSE(choose_8, uint8_t)
CHOOSE(choose_16, uint16_t)
CHOOSE(choose_32, uint32_t)
CHOOSE(choose_64, uint64_t)

void ti_num_where(tc_call *call)
{
    const tc_type *out = call->out[0].type;
    size_t size = tc_dtypes[out->dtype].bytes;
    tc_tensor in[3] = {in_type(call, call->in[0], TC_bool), in_type(call, call->in[1], out->dtype),
                       in_type(call, call->in[2], out->dtype)};
    tc_walk w;
    ti_walk_init(&w, out, in, 3);
    if (w.one[0] || w.length < 16) { /* short runs: expand the operands instead */
        for (int k = 0; k < 3; k++)
            in[k] = k && !in[k].type->rank ? in[k] : ti_expanded(call->scratch, in[k], out);
        ti_walk_init(&w, out, in, 3);
    }
    for (int64_t i = 0; i < w.count; i++, ti_walk_next(&w)) {
        const uint8_t *test = (const uint8_t *)in[0].data + w.offset[0];
        const char *x = (const char *)in[1].data + (size_t)w.offset[1] * size;
        const char *y = (const char *)in[2].data + (size_t)w.offset[2] * size;
        char *to = (char *)call->out[0].data + (size_t)(i * w.length) * size;
        (size == 1   ? choose_8
         : size == 2 ? choose_16
         : size == 4 ? choose_32
                     : choose_64)(test, x, w.one[1], y, w.one[2], to, w.length);
    }
}

/* x > 0 ? x : weight * x; the weight is one element, or one for each channel (axis 1). */
#define PRELU(fn, T)                                                                               \
    static void fn(tc_run *run)                                                                    \
    {                                                                                              \
        const T *restrict x = run->in[0], *restrict weight = run->in[1];                           \
        T *restrict out = run->out;                                                                \
        for (size_t i = 0; i < run->n; i++)                                                        \
            out[i] = x[i] > 0 ? x[i] : weight[i] * x[i];                                           \
    }
PRELU(prelu_f32, float)
PRELU(prelu_f64, double)

void ti_num_prelu(tc_call *call)
{
    static const tc_eltwise op = {{prelu_f32, prelu_f64}, 0};
    tc_type weight = *call->in[1].type;
    weight.dim[0] = tc_type_count(&weight);
    weight.rank = call->in[0].type->rank > 1 ? call->in[0].type->rank - 1 : 1;
    for (int i = 1; i < weight.rank; i++)
        weight.dim[i] = 1;
    tc_tensor in[2] = {call->in[0], {&weight, call->in[1].data}};
    tc_call with = *call;
    with.in = in;
    ti_eltwise_run(&with, &op, call->out[0].type->dtype);
    call->error = with.error;
}

/* x sigmoid(y), x and y the halves of an axis. */
static void glu_f32(tc_run *run)
{
    const float *restrict x = run->in[0], *restrict y = run->in[1];
    float *restrict out = run->out;
    for (size_t i = 0; i < run->n; i++)
        out[i] = x[i] * ti_sigmoidf(y[i]);
}
static void glu_f64(tc_run *run)
{
    const double *x = run->in[0], *y = run->in[1];
    double *out = run->out;
    for (size_t i = 0; i < run->n; i++)
        out[i] = x[i] / (1 + ti_exp(-y[i]));
}

void ti_num_glu(tc_call *call)
{
    static const tc_eltwise op = {{glu_f32, glu_f64}, 0};
    const tc_type *out = call->out[0].type;
    const tc_attr_axis *a = call->attr;
    int64_t outer = 1, half = 1;
    for (int i = 0; i < out->rank; i++)
        *(i < a->axis ? &outer : &half) *= out->dim[i];
    tc_type flat = {.dtype = out->dtype, .rank = 1, .dim = {half}};
    size_t size = tc_type_bytes(&flat);
    for (int64_t o = 0; o < outer && !call->error; o++) {
        char *x = (char *)call->in[0].data + 2 * (size_t)o * size;
        tc_tensor in[2] = {{&flat, x}, {&flat, x + size}};
        tc_tensor to = {&flat, (char *)call->out[0].data + (size_t)o * size};
        tc_call part = {call->attr, 2, 1, in, &to, call->scratch, NULL};
        ti_eltwise_run(&part, &op, out->dtype);
        call->error = part.error;
    }
}
