/* SPDX-License-Identifier: Apache-2.0 */
/* npu_resize.c -- RESIZE of U85: position p = x step + offset, in units of 1 / scale of an input
 * pixel.
 *
 *   BILINEAR   the four pixels around p, weighted by the distance to the opposite ones; scaled up by
 *              the product of both scales, which the output's scale takes away again
 *   NEAREST    the pixel that p is nearest to, halves up
 *   REPLICATE  the pixel that p is in */
#include "state.h"

typedef struct spot {
    int32_t at, next; /* inside the input */
    int64_t rest;     /* of the way from one to the other, in 1 / scale */
} spot;

static spot find(const tc_npu_axis *a, int32_t x, int32_t size)
{
    int64_t p = (int64_t)x * a->step + a->offset, i = p / a->scale;
    i -= p < i * a->scale;
    return (spot){(int32_t)ti_clip(i, 0, size - 1), (int32_t)ti_clip(i + 1, 0, size - 1),
                  p - i * a->scale};
}

static int32_t nearest(const tc_npu_op *op, const tc_npu_axis *a, const spot *s)
{
    return op->mode == TC_NPU_NEAREST && 2 * s->rest >= a->scale ? s->next : s->at;
}

bool ti_npu_resizing(tc_npu_exec *x, const tc_npu_op *op)
{
    const tc_npu_map *o = &op->ofm;
    tc_npu_array in;
    if (!ti_npu_load(x, "the input", &op->ifm, op->scalar, &in) ||
        !ti_npu_array_make(x, &x->out, o->h, o->w, o->c))
        return false;
    x->has_acc = false;
    int64_t *out = x->out.v;
    for (int32_t h = 0; h < o->h; h++)
        for (int32_t w = 0; w < o->w; w++, out += o->c) {
            spot y = find(&op->y, h, in.h), i = find(&op->x, w, in.w);
            const int64_t *row = in.v + (int64_t)y.at * in.w * in.c,
                          *below = in.v + (int64_t)y.next * in.w * in.c;
            if (op->mode != TC_NPU_BILINEAR) {
                const int64_t *p =
                    in.v +
                    ((int64_t)nearest(op, &op->y, &y) * in.w + nearest(op, &op->x, &i)) * in.c;
                for (int32_t c = 0; c < o->c; c++)
                    out[c] = p[c];
                continue;
            }
            for (int32_t c = 0; c < o->c; c++) {
                int64_t a = row[(int64_t)i.at * in.c + c], b = row[(int64_t)i.next * in.c + c];
                int64_t d = below[(int64_t)i.at * in.c + c], e = below[(int64_t)i.next * in.c + c];
                int64_t upper =
                    ti_wrap_add(ti_wrap_mul(a, op->x.scale - i.rest), ti_wrap_mul(b, i.rest));
                int64_t lower =
                    ti_wrap_add(ti_wrap_mul(d, op->x.scale - i.rest), ti_wrap_mul(e, i.rest));
                out[c] = ti_wrap_add(ti_wrap_mul(upper, op->y.scale - y.rest),
                                     ti_wrap_mul(lower, y.rest));
            }
        }
    /* The machine's own word carries the sum above 16 bits. */
    for (int64_t k = 0, n = (int64_t)o->h * o->w * o->c; k < n; k++)
        x->out.v[k] = ti_npu_scale_by(ti_wrap_mul(x->out.v[k], 65536), &op->ofm_scale);
    return ti_npu_finish(x, op, &x->out);
}
