/* SPDX-License-Identifier: Apache-2.0 */
/* split_accumulators.c -- sums of products that are too long for their accumulator, in parts.
 *
 * The bound of a sum is that of its weights, where they are constant, by output channel:
 *
 *     sum of max((x_lo - zx) (w - zw), (x_hi - zx) (w - zw))
 *
 * Where it leaves the accumulator, the sum is cut in two along the input channels, or else along
 * the longest side of the kernel, until each part fits.  What the parts give is made coarser by a
 * power of two, `unit`, and added in 32 bits:
 *
 *     sum * unit = round(part 0 * unit) + round(part 1 * unit) + ... */
#include <math.h>

#include "../../num/load.h"
#include "../move/lower_move.h"
#include "product.h"

enum { MOST_AXES = 3, MOST_PARTS = 64 };

/* A convolution, or the part of one. */
typedef struct sum {
    tc_val x, w, bias;
    int64_t pad[2 * MOST_AXES];
} sum;

typedef struct whole {
    tc_build *lw;
    const tc_product *p;
    tc_op op;
    int axes;
    int64_t stride[MOST_AXES], dilation[MOST_AXES];
    double lo, hi; /* of x less its zero point */
    tc_val part[MOST_PARTS];
    int n;
    double most; /* of the parts' sum */
} whole;

double ti_product_limit(const tc_build *lw, tc_dtype acc)
{
    int bits = lw->lower->target->machine->can.acc_bits;
    return acc == TC_i32 ? 0x1p31 : acc == TC_i48 ? ldexp(1, (bits ? bits : 48) - 1) : INFINITY;
}

static double unit_for(double most)
{
    double unit = 0x1p-3; /* RESCALE of all 32 bits requires less than 1/4 */
    while (most * unit >= 0x1p30)
        unit /= 2;
    return unit;
}

/* ---- bounds ---- */

/* The greatest of sums over constant weights: those of output channel c are at c * step + k * next.
 */
static double by_weights(const whole *s, tc_tensor w, int64_t channels, int64_t terms,
                         double zero, double bias)
{
    bool apart = s->op == TC_OP_tosa_depthwise_conv2d;
    int64_t step = apart ? 1 : terms, next = apart ? channels : 1;
    double most = 0;
    for (int64_t c = 0; c < channels; c++) {
        double up = 0, down = 0;
        for (int64_t k = 0; k < terms; k++) {
            double v = (double)ti_load_i64(w, c * step + k * next) - zero;
            up += fmax(v * s->lo, v * s->hi);
            down += fmin(v * s->lo, v * s->hi);
        }
        most = fmax(most, fmax(up, -down));
    }
    return most + bias;
}

static double bound_of(const whole *s, const sum *t)
{
    const tc_type *w = ti_b_type(s->lw, t->w);
    bool apart = s->op == TC_OP_tosa_depthwise_conv2d;
    int64_t channels = apart ? w->dim[2] * w->dim[3] : w->dim[0],
            terms = tc_type_count(w) / (channels ? channels : 1);
    double zero = (double)ti_product_w_zero(s->p), bias = ti_put_bound(s->lw, t->bias),
           top = fmax((double)ti_dtype_max(w->dtype) - zero, zero - (double)ti_dtype_min(w->dtype)),
           most = (double)terms * top * fmax(s->hi, -s->lo) + bias;
    tc_tensor known = ti_b_constant(s->lw, t->w);
    if (most < ti_product_limit(s->lw, s->p->made) || !known.data)
        return most;
    return by_weights(s, known, channels, terms, zero, bias);
}

/* ---- parts ---- */

static tc_val cut(tc_build *lw, tc_val v, int axis, int64_t start, int64_t n)
{
    tc_tensor from = ti_b_constant(lw, v);
    if (!from.data)
        return ti_b_tosa_slice_axis(lw, v, axis, start, n);
    tc_type type = *from.type;
    type.dim[axis] = n;
    const tc_type *t = ti_type_intern(lw->ctx, &type);
    int64_t outer = 1, inner = tc_dtypes[t->dtype].bytes, whole_axis = from.type->dim[axis];
    for (int i = 0; i < t->rank; i++)
        *(i < axis ? &outer : &inner) *= i == axis ? 1 : t->dim[i];
    char *to = ti_arena_raw(&lw->ctx->arena, tc_type_bytes(t));
    for (int64_t i = 0; i < outer; i++)
        memcpy(to + i * n * inner,
               (const char *)from.data + (i * whole_axis + start) * inner, (size_t)(n * inner));
    return ti_b_data(lw, t, to);
}

/* The axis of the weights that is cut: input channels, or the longest of the kernel's; -1: none. */
static int axis_of(const whole *s, const tc_type *w)
{
    bool apart = s->op == TC_OP_tosa_depthwise_conv2d;
    int axis = apart ? 0 : w->rank - 1;
    if (apart)
        axis = w->dim[1] > w->dim[0] ? 1 : 0;
    else if (w->dim[axis] == 1 && s->op != TC_OP_tosa_transpose_conv2d)
        for (int i = 1; i < w->rank - 1; i++)
            axis = w->dim[i] > w->dim[axis] ? i : axis;
    return w->dim[axis] > 1 ? axis : -1;
}

/* Taps from..to of side `side` of the kernel see this much of x; false: nothing but its border. */
static bool see(const whole *s, sum *t, int side, int64_t taps, int64_t from, int64_t to)
{
    int64_t before = t->pad[2 * side] - from * s->dilation[side],
            after = t->pad[2 * side + 1] - (taps - to) * s->dilation[side],
            n = ti_b_type(s->lw, t->x)->dim[1 + side], start = before < 0 ? -before : 0,
            end = after < 0 ? n + after : n;
    t->pad[2 * side] = before > 0 ? before : 0;
    t->pad[2 * side + 1] = after > 0 ? after : 0;
    if (start >= end)
        return false;
    t->x = ti_b_tosa_slice_axis(s->lw, t->x, 1 + side, start, end - start);
    return true;
}

static tc_val put(const whole *s, const sum *t)
{
    tc_build *lw = s->lw;
    int64_t x_zero = ti_product_x_zero(s->p), w_zero = ti_product_w_zero(s->p);
    tc_window_shape shape = {s->axes, t->pad, s->stride, s->dilation};
    if (s->op != TC_OP_tosa_transpose_conv2d)
        return ti_put_conv(lw, s->op, t->x, x_zero, t->w, w_zero, t->bias, &shape, s->p->acc);
    tc_attr_tosa_transpose_conv *a = tc_new(&lw->ctx->arena, tc_attr_tosa_transpose_conv);
    *a = (tc_attr_tosa_transpose_conv){.out_pad = ti_ints_copy(&lw->ctx->arena, t->pad, 4),
                                       .stride = ti_ints_copy(&lw->ctx->arena, s->stride, 2),
                                       .acc_type = s->p->acc};
    tc_val in[5] = {t->x, t->w, t->bias, ti_b_zero_point(lw, t->x, x_zero)};
    in[4] = ti_b_zero_point(lw, t->w, w_zero);
    return ti_b_op(lw, s->op, a, in, 5);
}

static void collect(whole *s, sum t)
{
    tc_build *lw = s->lw;
    if (!t.x || !t.w || !t.bias || lw->status != TC_OK)
        return;
    double most = s->p->scale ? bound_of(s, &t) : 0;
    const tc_type *w = ti_b_type(lw, t.w);
    int axis = most < ti_product_limit(lw, s->p->made) ? -1 : axis_of(s, w);
    if (axis < 0 && most < ti_product_limit(lw, s->p->made)) {
        s->part[s->n++] = put(s, &t);
        s->most += most;
        return;
    }
    if (axis < 0 || s->n + 2 > MOST_PARTS) {
        ti_lower_refuse(lw, "its sums are too long for their accumulator");
        return;
    }
    bool apart = s->op == TC_OP_tosa_depthwise_conv2d, channels = !apart && axis == w->rank - 1;
    int64_t n = w->dim[axis], half = n / 2;
    for (int i = 0; i < 2; i++) {
        sum own = t;
        int64_t from = i ? half : 0, to = i ? n : half;
        own.w = cut(lw, t.w, axis, from, to - from);
        if (i)
            own.bias = ti_b_single(lw, s->p->made, 1, 0);
        if (channels)
            own.x = ti_b_tosa_slice_axis(lw, t.x, s->axes + 1, from, to - from);
        else if (!see(s, &own, apart ? axis : axis - 1, n, from, to))
            continue;
        collect(s, own);
    }
}

tc_val ti_put_long_conv(tc_build *lw, tc_product *p, tc_op op, tc_val x, tc_val w, tc_val bias,
                        const tc_window_shape *shape)
{
    p->unit = 1;
    if (!x || !w || !bias)
        return TC_NONE;
    whole s = {.lw = lw, .p = p, .op = op, .axes = shape->axes};
    sum all = {x, w, bias, {0}};
    tc_dtype t = ti_b_dtype(lw, x);
    if (p->scale) {
        s.lo = (double)(ti_dtype_min(t) - ti_product_x_zero(p));
        s.hi = (double)(ti_dtype_max(t) - ti_product_x_zero(p));
    }
    for (int i = 0; i < shape->axes; i++) {
        s.stride[i] = shape->stride ? shape->stride[i] : 1;
        s.dilation[i] = shape->dilation ? shape->dilation[i] : 1;
        for (int side = 0; side < 2 && shape->pad; side++)
            all.pad[2 * i + side] = shape->pad[2 * i + side];
    }
    collect(&s, all);
    if (lw->status != TC_OK || !s.n)
        return TC_NONE;
    return s.n == 1 ? s.part[0] : ti_product_sum(lw, s.part, s.n, s.most, &p->unit);
}

tc_val ti_product_sum(tc_build *lw, const tc_val *part, int n, double most, double *unit)
{
    *unit = unit_for(most);
    tc_val y = TC_NONE;
    for (int i = 0; i < n; i++) {
        tc_val own = ti_put_rescale(lw, part[i], *unit, 0, 0, TC_i32);
        y = y ? ti_b_tosa_add(lw, y, own) : own;
    }
    return y;
}
