/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_float.c -- convolutions, products, pools and reductions of floats, written as in the
 * specification. */
#include "tosac_float.h"

/* ---- convolutions ---- */

/* One tap of output channel oc, tap k of the window. */
static double products(const tosac_conv *p, const float *x, const float *w, int32_t k, int32_t oc)
{
    const int32_t taps = p->kernel[0] * p->kernel[1] * p->kernel[2];
    double sum = 0;
    if (p->depthwise)
        return (double)x[oc / (p->out_c / p->in_c)] * (double)w[k * p->out_c + oc];
    w += (oc * taps + k) * p->in_c;
    for (int32_t c = 0; c < p->in_c; c++)
        sum += (double)x[c] * (double)w[c];
    return sum;
}

static double window(const tosac_conv *p, const float *x, const float *w, const int32_t o[3], int32_t oc)
{
    double sum = 0;
    int32_t k = 0;
    for (int32_t kd = 0; kd < p->kernel[0]; kd++)
        for (int32_t kh = 0; kh < p->kernel[1]; kh++)
            for (int32_t kw = 0; kw < p->kernel[2]; kw++, k++) {
                int32_t z = tosac_tap(p, 0, o[0], kd), y = tosac_tap(p, 1, o[1], kh), c = tosac_tap(p, 2, o[2], kw);
                if (z >= 0 && y >= 0 && c >= 0)
                    sum += products(p, x + ((z * p->in[1] + y) * p->in[2] + c) * p->in_c, w, k, oc);
            }
    return sum;
}

void tosac_conv_f32(const tosac_conv *p, const float *x, const float *w, const float *bias, float *out)
{
    int32_t o[3];
    for (int32_t n = 0; n < p->batches; n++, x += p->in[0] * p->in[1] * p->in[2] * p->in_c)
        for (o[0] = 0; o[0] < p->out[0]; o[0]++)
            for (o[1] = 0; o[1] < p->out[1]; o[1]++)
                for (o[2] = 0; o[2] < p->out[2]; o[2]++)
                    for (int32_t oc = 0; oc < p->out_c; oc++)
                        *out++ = (float)(window(p, x, w, o, oc) + (double)bias[oc * p->bias_step]);
}

void tosac_matmul_f32(const tosac_matmul *p, const float *a, const float *b, float *out)
{
    for (int32_t n = 0; n < p->n; n++, b += p->c * p->w)
        for (int32_t h = 0; h < p->h; h++, a += p->c)
            for (int32_t w = 0; w < p->w; w++) {
                double sum = 0;
                for (int32_t c = 0; c < p->c; c++)
                    sum += (double)a[c] * (double)b[c * p->w + w];
                *out++ = (float)sum;
            }
}

/* ---- pools ---- */

static float largest(const tosac_pool *p, int32_t ignore, const float *x, int32_t oy, int32_t ox)
{
    float most = ignore ? NAN : -INFINITY;
    for (int32_t k = 0; k < p->kernel_h * p->kernel_w; k++) {
        const int32_t y = oy * p->stride_h - p->top + k / p->kernel_w;
        const int32_t i = ox * p->stride_w - p->left + k % p->kernel_w;
        if (y < 0 || y >= p->in_h || i < 0 || i >= p->in_w)
            continue;
        const float v = x[(y * p->in_w + i) * p->channels];
        most = ignore ? tosac_fmax_number(most, v) : tosac_fmax(most, v);
    }
    return most;
}

static float mean(const tosac_pool *p, const float *x, int32_t oy, int32_t ox)
{
    double sum = 0;
    int32_t n = 0;
    for (int32_t k = 0; k < p->kernel_h * p->kernel_w; k++) {
        const int32_t y = oy * p->stride_h - p->top + k / p->kernel_w;
        const int32_t i = ox * p->stride_w - p->left + k % p->kernel_w;
        if (y < 0 || y >= p->in_h || i < 0 || i >= p->in_w)
            continue;
        sum += (double)x[(y * p->in_w + i) * p->channels];
        n++;
    }
    return (float)(sum / n);
}

void tosac_max_pool_f32(const tosac_pool *p, int32_t ignore, const float *x, float *out)
{
    for (int32_t n = 0; n < p->batches; n++, x += p->in_h * p->in_w * p->channels)
        for (int32_t oy = 0; oy < p->out_h; oy++)
            for (int32_t ox = 0; ox < p->out_w; ox++)
                for (int32_t c = 0; c < p->channels; c++)
                    *out++ = largest(p, ignore, x + c, oy, ox);
}

void tosac_avg_pool_f32(const tosac_pool *p, const float *x, float *out)
{
    for (int32_t n = 0; n < p->batches; n++, x += p->in_h * p->in_w * p->channels)
        for (int32_t oy = 0; oy < p->out_h; oy++)
            for (int32_t ox = 0; ox < p->out_w; ox++)
                for (int32_t c = 0; c < p->channels; c++)
                    *out++ = mean(p, x + c, oy, ox);
}

/* ---- along one axis ---- */

static double joined(tosac_reduction what, int32_t ignore, double a, double b)
{
    const float x = (float)a, y = (float)b;
    switch (what) {
    case TOSAC_SUM:
        return a + b;
    case TOSAC_PRODUCT:
        return a * b;
    case TOSAC_MAX:
        return (double)(ignore ? tosac_fmax_number(x, y) : tosac_fmax(x, y));
    default:
        return (double)(ignore ? tosac_fmin_number(x, y) : tosac_fmin(x, y));
    }
}

void tosac_reduce_f32(tosac_reduction what, int32_t ignore, int32_t outer, int32_t n, int32_t inner,
                      const float *x, float *out)
{
    for (int32_t o = 0; o < outer; o++, x += n * inner)
        for (int32_t i = 0; i < inner; i++) {
            double v = (double)x[i];
            for (int32_t k = 1; k < n; k++)
                v = joined(what, ignore, v, (double)x[k * inner + i]);
            *out++ = (float)v;
        }
}

/* The first of the largest; the first NaN, unless they are passed over. */
void tosac_argmax_f32(int32_t ignore, int32_t outer, int32_t n, int32_t inner, const float *x,
                      int32_t *out)
{
    for (int32_t o = 0; o < outer; o++, x += n * inner)
        for (int32_t i = 0; i < inner; i++) {
            int32_t best = 0;
            for (int32_t k = 1; k < n; k++) {
                const float most = x[best * inner + i], v = x[k * inner + i];
                const int32_t odd = ignore ? isnan(most) && !isnan(v) : isnan(v) && !isnan(most);
                best = v > most || odd ? k : best;
            }
            *out++ = best;
        }
}

/* ---- RESIZE between four neighbours ---- */

/* Two neighbouring rows (columns), held inside the image, and the part of the second. */
typedef struct place {
    int32_t first, second;
    double part;
} place;

static place place_of(int32_t o, int32_t n, int32_t d, int32_t offset, int32_t extent)
{
    const int32_t at = o * d + offset, i = at >= 0 ? at / n : -((-at + n - 1) / n);
    return (place){tosac_clip(i, 0, extent - 1), tosac_clip(i + 1, 0, extent - 1),
                   (double)(at - i * n) / n};
}

void tosac_resize_f32(const tosac_resize *p, const float *x, float *out)
{
    for (int32_t n = 0; n < p->batches; n++, x += p->in_h * p->in_w * p->channels)
        for (int32_t oy = 0; oy < p->out_h; oy++)
            for (int32_t ox = 0; ox < p->out_w; ox++) {
                const place y = place_of(oy, p->y_n, p->y_d, p->y_offset, p->in_h);
                const place c = place_of(ox, p->x_n, p->x_d, p->x_offset, p->in_w);
                const float *a = x + y.first * p->in_w * p->channels;
                const float *b = x + y.second * p->in_w * p->channels;
                const int32_t f = c.first * p->channels, s = c.second * p->channels;
                for (int32_t k = 0; k < p->channels; k++) {
                    const double upper = (1 - c.part) * (double)a[f + k] + c.part * (double)a[s + k];
                    const double lower = (1 - c.part) * (double)b[f + k] + c.part * (double)b[s + k];
                    *out++ = (float)((1 - y.part) * upper + y.part * lower);
                }
            }
}
