/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_pool.c -- MAX_POOL2D and AVG_POOL2D over the part of a window inside the image. */
#include "tosac_kernels.h"

/* Rows y0 .. y1 and columns x0 .. x1 (past the end) of one window. */
typedef struct part {
    int32_t y0, y1, x0, x1;
} part;

static part part_of(const tosac_pool *p, int32_t oy, int32_t ox)
{
    int32_t y = oy * p->stride_h - p->top, x = ox * p->stride_w - p->left;
    return (part){tosac_max(y, 0), tosac_min(y + p->kernel_h, p->in_h), tosac_max(x, 0),
                  tosac_min(x + p->kernel_w, p->in_w)};
}

static int32_t largest(const tosac_pool *p, const void *x, int32_t image, part w, int32_t c)
{
    int32_t most = INT32_MIN;
    for (int32_t y = w.y0; y < w.y1; y++)
        for (int32_t i = w.x0; i < w.x1; i++) {
            int32_t at = (image + y * p->in_w + i) * p->channels + c;
            most = tosac_max(most, (int32_t)tosac_load(x, p->type, at));
        }
    return most;
}

/* The sum times 1 / n, as reciprocal_scale has it. */
static int32_t mean(const tosac_pool *p, const void *x, int32_t image, part w, int32_t c)
{
    int32_t sum = 0, n = (w.y1 - w.y0) * (w.x1 - w.x0), k = 0;
    for (int32_t y = w.y0; y < w.y1; y++)
        for (int32_t i = w.x0; i < w.x1; i++)
            sum += (int32_t)tosac_load(x, p->type, (image + y * p->in_w + i) * p->channels + c);
    sum -= n * p->x_zero;
    while ((INT32_C(1) << k) < n)
        k++;
    int32_t m = (int32_t)((((INT64_C(1) << 30) + 1) << k) / n);
    int32_t most = p->type == TOSAC_I8 ? INT8_MAX : INT16_MAX;
    return tosac_clip(tosac_scale(sum, m, 30 + k) + p->out_zero, -most - 1, most);
}

static void pool(const tosac_pool *p, const void *x, void *out,
                 int32_t (*of)(const tosac_pool *, const void *, int32_t, part, int32_t))
{
    int32_t at = 0;
    for (int32_t n = 0; n < p->batches; n++)
        for (int32_t oy = 0; oy < p->out_h; oy++)
            for (int32_t ox = 0; ox < p->out_w; ox++)
                for (int32_t c = 0; c < p->channels; c++) {
                    int32_t v = of(p, x, n * p->in_h * p->in_w, part_of(p, oy, ox), c);
                    tosac_store(out, p->type, at++, v);
                }
}

void tosac_max_pool(const tosac_pool *p, const void *x, void *out) { pool(p, x, out, largest); }
void tosac_avg_pool(const tosac_pool *p, const void *x, void *out) { pool(p, x, out, mean); }
