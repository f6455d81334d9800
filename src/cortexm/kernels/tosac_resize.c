/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_resize.c -- RESIZE to the nearest, or between four neighbours, whose weights' scale the
 * result keeps. */
#include "tosac_kernels.h"

/* Two neighbouring rows (columns), held inside the image, and the fraction between them. */
typedef struct place {
    int32_t first, second, rest;
} place;

static place place_of(int32_t o, int32_t n, int32_t d, int32_t offset, int32_t extent)
{
    int32_t at = o * d + offset, i = at >= 0 ? at / n : -((-at + n - 1) / n);
    return (place){tosac_clip(i, 0, extent - 1), tosac_clip(i + 1, 0, extent - 1), at - i * n};
}

static int32_t nearer(place p, int32_t n) { return 2 * p.rest >= n ? p.second : p.first; }

void tosac_resize_nearest(const tosac_resize *p, const void *x, void *out)
{
    int32_t at = 0;
    for (int32_t n = 0; n < p->batches; n++)
        for (int32_t oy = 0; oy < p->out_h; oy++) {
            place y = place_of(oy, p->y_n, p->y_d, p->y_offset, p->in_h);
            for (int32_t ox = 0; ox < p->out_w; ox++) {
                place c = place_of(ox, p->x_n, p->x_d, p->x_offset, p->in_w);
                int32_t from = (n * p->in_h + nearer(y, p->y_n)) * p->in_w + nearer(c, p->x_n);
                for (int32_t k = 0; k < p->channels; k++)
                    tosac_store(out, p->type, at++, tosac_load(x, p->type, from * p->channels + k));
            }
        }
}

void tosac_resize_bilinear(const tosac_resize *p, const void *x, void *out)
{
    int32_t at = 0;
    for (int32_t n = 0; n < p->batches; n++)
        for (int32_t oy = 0; oy < p->out_h; oy++) {
            place y = place_of(oy, p->y_n, p->y_d, p->y_offset, p->in_h);
            int32_t a = (n * p->in_h + y.first) * p->in_w, b = (n * p->in_h + y.second) * p->in_w;
            int64_t v = p->y_n - y.rest;
            for (int32_t ox = 0; ox < p->out_w; ox++) {
                place c = place_of(ox, p->x_n, p->x_d, p->x_offset, p->in_w);
                int64_t h = p->x_n - c.rest;
                for (int32_t k = 0; k < p->channels; k++) {
                    int64_t upper =
                        h * tosac_load(x, p->type, (a + c.first) * p->channels + k) +
                        c.rest * tosac_load(x, p->type, (a + c.second) * p->channels + k);
                    int64_t lower =
                        h * tosac_load(x, p->type, (b + c.first) * p->channels + k) +
                        c.rest * tosac_load(x, p->type, (b + c.second) * p->channels + k);
                    tosac_store(out, p->result, at++, v * upper + y.rest * lower);
                }
            }
        }
}
