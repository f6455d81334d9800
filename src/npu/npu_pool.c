/* SPDX-License-Identifier: Apache-2.0 */
/* npu_pool.c -- POOL in all its modes; taps outside the input do not count. */
#include "state.h"

/* The input, and how an output's taps find it. */
typedef struct taps {
    tc_npu_array in;
    const tc_npu_window *v;
} taps;

/* The tap's pixel of the input; NULL: outside, or a zero between two pixels of an upscaled one. */
static const int64_t *tap(const taps *t, int32_t y, int32_t x, int32_t ky, int32_t kx, bool *counts)
{
    const tc_npu_window *v = t->v;
    int32_t iy = y * v->stride_y - v->top + ky * v->dilation_y,
            ix = x * v->stride_x - v->left + kx * v->dilation_x;
    *counts = iy >= 0 && ix >= 0 && iy < v->ih && ix < v->iw;
    if (!*counts || (v->upscale == TC_UPSCALE_ZEROS && (iy | ix) & 1))
        return NULL;
    if (v->upscale) {
        iy /= 2;
        ix /= 2;
    }
    return t->in.v + ((int64_t)iy * t->in.w + ix) * t->in.c;
}

/* ---- one output pixel by mode; acc holds what it starts from ---- */

typedef struct pixel {
    const tc_npu_exec *x;
    const tc_npu_op *op;
    const taps *t;
    int32_t y, i;
} pixel;

#define FOR_TAPS(p, value, inside)                                                                 \
    for (int32_t ky = 0; ky < (p)->t->v->kh; ky++)                                                 \
        for (int32_t kx = 0; kx < (p)->t->v->kw; kx++)                                             \
            for (bool inside = false, once = true; once; once = false)                             \
                for (const int64_t *value = tap((p)->t, (p)->y, (p)->i, ky, kx, &inside); once;    \
                     once = false)

static void sum_pixel(const pixel *p, int64_t *acc)
{
    FOR_TAPS(p, v, inside)
    for (int32_t c = 0; v && c < p->op->ofm.c; c++)
        acc[c] = ti_wrap_add(acc[c], v[c]);
}

/* By the number of taps inside; U55 divides only when there is padding, else its scale holds the
 * reciprocal. */
static void average_pixel(const pixel *p, int64_t *acc)
{
    const tc_npu_window *w = p->t->v;
    uint32_t n = 0;
    memset(acc, 0, (size_t)p->op->ofm.c * sizeof *acc);
    sum_pixel(p, acc);
    FOR_TAPS(p, v, inside)
    {
        (void)v;
        n += inside;
    }
    bool divides = p->x->machine->product == TC_U85 || w->top || w->left || w->bottom || w->right;
    if (!divides || n < 2)
        return;
    tc_scale s = ti_reciprocal_scale(n);
    for (int32_t c = 0; c < p->op->ofm.c; c++)
        acc[c] = ti_npu_scaled(acc[c], (uint32_t)s.multiplier, s.shift, TC_ROUND_NATURAL, 0);
}

static void reduce_pixel(const pixel *p, int64_t *acc)
{
    int64_t all = 0;
    FOR_TAPS(p, v, inside)
    for (int32_t c = 0; v && c < p->t->in.c; c++)
        all = ti_wrap_add(all, v[c]);
    for (int32_t c = 0; c < p->op->ofm.c; c++)
        acc[c] = all;
}

static void extreme_pixel(const pixel *p, int64_t *acc)
{
    bool most = p->op->mode == TC_POOL_MAX, first = true;
    static const int64_t zero;
    FOR_TAPS(p, v, inside)
    {
        if (!inside)
            continue;
        for (int32_t c = 0; c < p->op->ofm.c; c++) {
            int64_t x = v ? v[c] : zero;
            if (first || (most ? x > acc[c] : x < acc[c]))
                acc[c] = x;
        }
        first = false;
    }
    if (first)
        memset(acc, 0, (size_t)p->op->ofm.c * sizeof *acc);
}

/* The index of the first maximum along x or y. */
static void argmax_pixel(const pixel *p, int64_t *acc)
{
    bool along_x = p->op->mode == TC_POOL_ARGMAX_X;
    for (int32_t c = 0; c < p->op->ofm.c; c++) {
        int64_t best = 0, at = -1;
        FOR_TAPS(p, v, inside)
        {
            int64_t x = v ? v[c] : 0;
            if (inside && (at < 0 || x > best)) {
                best = x;
                at = along_x ? kx : ky;
            }
        }
        acc[c] = at < 0 ? 0 : at;
    }
}

typedef void one_pixel(const pixel *p, int64_t *acc);
static one_pixel *const by_mode[] = {
    [TC_POOL_MAX] = extreme_pixel,       [TC_POOL_MIN] = extreme_pixel,
    [TC_POOL_AVERAGE] = average_pixel,   [TC_POOL_SUM] = sum_pixel,
    [TC_POOL_REDUCE_SUM] = reduce_pixel, [TC_POOL_ARGMAX_X] = argmax_pixel,
    [TC_POOL_ARGMAX_Y] = argmax_pixel,
};

bool ti_npu_pooling(tc_npu_exec *x, const tc_npu_op *op)
{
    taps t = {.v = &op->window};
    double work = (double)op->ofm.h * op->ofm.w * op->ofm.c * op->window.kh * op->window.kw;
    if (op->mode == TC_POOL_REDUCE_SUM)
        work *= op->ifm.c;
    if (!ti_npu_spend(x, work) || !ti_npu_start_acc(x, op))
        return false;
    if (op->mode == TC_POOL_NONE)
        return ti_npu_put_acc(x, op);
    if (!ti_npu_load(x, "the input", &op->ifm, op->scalar, &t.in))
        return false;
    int64_t *acc = x->acc.v;
    for (int32_t y = 0; y < op->ofm.h; y++)
        for (int32_t i = 0; i < op->ofm.w; i++, acc += op->ofm.c)
            by_mode[op->mode](&(pixel){x, op, &t, y, i}, acc);
    if (op->mode == TC_POOL_ARGMAX_X || op->mode == TC_POOL_ARGMAX_Y)
        return ti_npu_store(
            x, op, &x->acc); /* the scale only takes the index out of the machine's own word */
    return ti_npu_put_acc(x, op);
}
