/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_resize.c -- RESIZE: nearest and bilinear, at rational steps with offsets.
 *
 * Along y, with scale n/d, result row o is at  o * d + offset = i * n + rest,  0 <= rest < n:
 * between input rows i and i + 1, both clamped to the input, at the fraction rest / n. */
#include "kernels.h"
#include "tosa.h"

typedef struct place {
    int64_t first, second; /* the two rows (columns) */
    int64_t rest;
} place;

static place place_of(int64_t o, int64_t scale_n, int64_t scale_d, int64_t offset, int64_t extent)
{
    int64_t at = o * scale_d + offset;
    int64_t i = at >= 0 ? at / scale_n : -((-at + scale_n - 1) / scale_n);
    return (place){ti_min_i64(ti_max_i64(i, 0), extent - 1),
                   ti_min_i64(ti_max_i64(i + 1, 0), extent - 1), at - i * scale_n};
}

/* The nearer of the two; the second when the fraction is one half. */
static int64_t nearer(place p, int64_t scale_n)
{
    return 2 * p.rest >= scale_n ? p.second : p.first;
}

/* Offsets of the four neighbours of a result pixel, and their weights in units of 1 / (yn * xn). */
typedef struct corner {
    int64_t at[4], weight[4];
} corner;

static corner corner_of(place y, place x, int64_t yn, int64_t xn, int64_t width, int64_t channels)
{
    return (corner){
        {(y.first * width + x.first) * channels, (y.first * width + x.second) * channels,
         (y.second * width + x.first) * channels, (y.second * width + x.second) * channels},
        {(yn - y.rest) * (xn - x.rest), (yn - y.rest) * x.rest, y.rest * (xn - x.rest),
         y.rest * x.rest}};
}

static void nearest(tc_call *call, int64_t from, int64_t to, int64_t channels)
{
    size_t size = tc_dtypes[call->out[0].type->dtype].bytes;
    memcpy((uint8_t *)call->out[0].data + (size_t)to * size,
           (const uint8_t *)call->in[0].data + (size_t)from * size, (size_t)channels * size);
}

static bool is_fp8(tc_dtype t) { return t == TC_e4m3 || t == TC_e5m2; }

/* fp8: products in f32, each of them and every sum rounded to the result's type, which is that of
 * the draft's accumulator. */
static void bilinear_8(tc_call *call, int64_t image, const corner *c, place y, place x,
                       const int64_t *scale, int64_t to, int64_t channels)
{
    tc_tensor in = call->in[0], out = call->out[0];
    float dy = (float)y.rest / (float)scale[0], dx = (float)x.rest / (float)scale[2];
    const float of_y[4] = {1 - dy, 1 - dy, dy, dy}, of_x[4] = {1 - dx, dx, 1 - dx, dx};
    for (int64_t k = 0; k < channels; k++)
        for (int i = 0; i < 4; i++) {
            float v = (float)ti_load_f64(in, image + c->at[i] + k) * of_y[i] * of_x[i];
            double was = i ? ti_load_f64(out, to + k) : 0;
            ti_store_f64(out, to + k, (double)v);
            if (i)
                ti_store_f64(out, to + k, was + ti_load_f64(out, to + k));
        }
}

/* Integers keep the weights' scale, yn * xn; floats do not. */
static void bilinear(tc_call *call, int64_t image, const corner *c, int64_t to, int64_t channels)
{
    tc_tensor in = call->in[0], out = call->out[0];
    bool real = ti_is_float(in.type->dtype);
    double unit = (double)(c->weight[0] + c->weight[1] + c->weight[2] + c->weight[3]);
    for (int64_t k = 0; k < channels; k++) {
        int64_t sum = 0;
        double real_sum = 0;
        for (int i = 0; i < 4; i++)
            if (real)
                real_sum += (double)c->weight[i] / unit * ti_load_f64(in, image + c->at[i] + k);
            else
                sum = ti_wrap_add(sum,
                                  ti_wrap_mul(c->weight[i], ti_load_i64(in, image + c->at[i] + k)));
        if (real)
            ti_write_reals(out, to + k, 1, &real_sum);
        else
            ti_store_i64(out, to + k, sum);
    }
}

/* Far past the specification's limits, and far from overflow. */
static bool in_range(tc_call *call, const int64_t *scale, const int64_t *offset)
{
    enum { LARGEST = 1 << 20 };
    bool fits = true;
    for (int i = 0; i < 4; i++)
        fits = fits && scale[i] > 0 && scale[i] <= LARGEST;
    for (int i = 0; i < 2; i++)
        fits = fits && offset[i] >= -16 * LARGEST && offset[i] <= 16 * LARGEST;
    call->error = fits ? call->error : "a scale or offset is out of range";
    return fits;
}

void ti_num_tosa_resize(tc_call *call)
{
    const tc_attr_tosa_resize *a = call->attr;
    const int64_t *in = call->in[0].type->dim, *out = call->out[0].type->dim;
    const int64_t *scale = ti_shape_values(call, 1), *offset = ti_shape_values(call, 2);
    int64_t to = 0;
    bool linear = a->mode == TC_resize_mode_bilinear;
    if (!scale || !offset || (!linear && !ti_same_width(call, 0)) || !in_range(call, scale, offset))
        return;
    for (int64_t n = 0; n < out[0]; n++)
        for (int64_t oy = 0; oy < out[1]; oy++) {
            place y = place_of(oy, scale[0], scale[1], offset[0], in[1]);
            for (int64_t ox = 0; ox < out[2]; ox++, to += in[3]) {
                place x = place_of(ox, scale[2], scale[3], offset[1], in[2]);
                int64_t image = n * in[1] * in[2] * in[3];
                corner c = corner_of(y, x, scale[0], scale[2], in[2], in[3]);
                if (linear && is_fp8(call->in[0].type->dtype))
                    bilinear_8(call, image, &c, y, x, scale, to, in[3]);
                else if (linear)
                    bilinear(call, image, &c, to, in[3]);
                else
                    nearest(call,
                            image + (nearer(y, scale[0]) * in[2] + nearer(x, scale[2])) * in[3], to,
                            in[3]);
            }
        }
}
