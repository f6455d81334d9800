/* SPDX-License-Identifier: Apache-2.0 */
/* select_window.c -- see select_window.h. */
#include "select_window.h"

enum { MOST_BEFORE = 127, MOST_AFTER = 255 };

static int64_t rest(int64_t a, int64_t b)
{
    return (a % b + b) % b;
}

static int64_t common(int64_t a, int64_t b)
{
    return b ? common(b, a % b) : a;
}

tc_sel_axis ti_sel_axis(int64_t in, int64_t out, int64_t taps, int64_t stride, int64_t dilation,
                        int64_t before)
{
    return (tc_sel_axis){.in = {0, 1, in},
                         .out = {0, 1, out},
                         .tap = {0, 1, taps},
                         .stride = stride,
                         .dilation = dilation,
                         .before = before};
}

tc_view ti_sel_steps_of(const tc_view *v, int32_t axis, const tc_sel_steps *s)
{
    tc_view out = ti_view_slice(v, axis, s->at, s->n);
    out.stride[axis] *= s->n > 1 ? s->step : 1;
    return out;
}

/* n positions from `from` on, every step-th. */
static tc_sel_steps part(const tc_sel_steps *s, int64_t from, int64_t step, int64_t n)
{
    return (tc_sel_steps){s->at + from * s->step, s->step * step, n};
}

/* Outputs from, from + step, ...: n of them. */
static tc_sel_axis outputs(const tc_sel_axis *a, int64_t from, int64_t step, int64_t n)
{
    tc_sel_axis out = *a;
    out.out = part(&a->out, from, step, n);
    out.before -= from * a->stride;
    out.stride *= step;
    return out;
}

/* Without taps that no output needs, and inputs before the first one. */
static void trim(tc_sel_axis *a)
{
    int64_t last = (a->out.n - 1) * a->stride;
    while (a->tap.n && last - a->before < 0) {
        a->tap = part(&a->tap, 1, 1, a->tap.n - 1);
        a->before -= a->dilation;
    }
    while (a->tap.n && (a->tap.n - 1) * a->dilation - a->before >= a->in.n)
        a->tap.n--;
    if (a->before < 0) {
        a->in = part(&a->in, -a->before, 1, ti_max_i64(0, a->in.n + a->before));
        a->before = 0;
    }
    if (!a->in.n)
        a->tap.n = 0;
}

/* Inputs of which only every g-th is met. */
static void thin(tc_sel_axis *a)
{
    if (a->tap.n == 1)
        a->dilation = a->stride;
    if (a->out.n == 1)
        a->stride = a->dilation;
    int64_t g = common(a->stride, a->dilation), from = rest(-a->before, g);
    a->in = part(&a->in, from, g, a->in.n > from ? ti_parts(a->in.n - from, g) : 0);
    a->before = (a->before + from) / g;
    a->stride /= g;
    a->dilation /= g;
    if (!a->in.n)
        a->tap.n = 0;
}

static void add(tc_sel_pieces *to, const tc_sel_axis *a)
{
    tc_grow(to->arena, to->v, to->n, to->cap);
    to->v[to->n++] = *a;
}

static void add_empty(tc_sel_pieces *to, const tc_sel_axis *a)
{
    tc_sel_axis piece = *a;
    piece.tap.n = 0;
    piece.in = (tc_sel_steps){0, 1, 1};
    if (piece.out.n)
        add(to, &piece);
}

/* Outputs [lo, hi) whose taps are all inside. */
static void inside(const tc_sel_axis *a, int64_t *lo, int64_t *hi)
{
    int64_t reach = (a->tap.n - 1) * a->dilation, room = a->in.n - 1 - reach + a->before;
    *lo = ti_min_i64(a->out.n, ti_parts(ti_max_i64(0, a->before), a->stride));
    *hi = room < 0 ? *lo : ti_max_i64(*lo, ti_min_i64(a->out.n, room / a->stride + 1));
}

static void one_by_one(tc_sel_pieces *to, const tc_sel_axis *a, const tc_sel_limits *limits,
                       int64_t from, int64_t end)
{
    for (int64_t y = from; y < end; y++)
        ti_sel_cut_axis(to, outputs(a, y, 1, 1), limits);
}

/* Outputs whose taps are channels; a border's outputs have fewer of them. */
static void fold(tc_sel_pieces *to, const tc_sel_axis *a, const tc_sel_limits *limits)
{
    int64_t lo, hi;
    inside(a, &lo, &hi);
    if (hi - lo < a->out.n && a->out.n > 1) {
        one_by_one(to, a, limits, 0, lo);
        if (hi > lo)
            ti_sel_cut_axis(to, outputs(a, lo, 1, hi - lo), limits);
        one_by_one(to, a, limits, hi, a->out.n);
        return;
    }
    tc_sel_axis piece = *a;
    piece.folded = true;
    add(to, &piece);
}

/* What registers do not hold of padding: outputs that meet nothing are pieces of their own. */
static void cut_padding(tc_sel_pieces *to, const tc_sel_axis *a, const tc_sel_limits *limits)
{
    int64_t reach = (a->tap.n - 1) * a->dilation, lo = 0, hi = a->out.n;
    while (lo < hi && lo * a->stride - a->before + reach < 0)
        lo++;
    while (hi > lo && (hi - 1) * a->stride - a->before >= a->in.n)
        hi--;
    if (lo == 0 && hi == a->out.n) { /* taps between which all inputs are */
        one_by_one(to, a, limits, 0, a->out.n);
        return;
    }
    tc_sel_axis first = outputs(a, 0, 1, lo), last = outputs(a, hi, 1, a->out.n - hi);
    add_empty(to, &first);
    if (hi > lo)
        ti_sel_cut_axis(to, outputs(a, lo, 1, hi - lo), limits);
    add_empty(to, &last);
}

/* Bottom and right padding, and the inputs that are met. */
static void finish(tc_sel_pieces *to, tc_sel_axis *a, const tc_sel_limits *limits)
{
    int64_t reach = (a->tap.n - 1) * a->dilation + 1;
    int64_t all = (a->out.n - 1) * a->stride + reach - a->before;
    a->after = ti_max_i64(0, all - a->in.n);
    if (a->before > MOST_BEFORE || a->after > MOST_AFTER) {
        if (a->out.n == 1)
            to->too_long = true;
        else
            cut_padding(to, a, limits);
        return;
    }
    a->in.n = all - a->after;
    add(to, a);
}

void ti_sel_cut_axis(tc_sel_pieces *to, tc_sel_axis a, const tc_sel_limits *limits)
{
    if (!a.out.n)
        return;
    if (limits->most && a.out.n > limits->most) {
        for (int64_t y = 0; y < a.out.n; y += limits->most)
            ti_sel_cut_axis(to, outputs(&a, y, 1, ti_min_i64(limits->most, a.out.n - y)), limits);
        return;
    }
    bool many = a.out.n > 1;
    a.stride = many ? a.stride : 1;
    if (many && limits->single) {
        one_by_one(to, &a, limits, 0, a.out.n);
        return;
    }
    trim(&a);
    if (!a.tap.n) {
        add_empty(to, &a);
        return;
    }
    int64_t long_ = (a.out.n - 1) * a.stride + a.tap.n * a.dilation;
    if (many && (a.out.n > TC_HW_EXTENT || long_ > TC_HW_EXTENT)) {
        ti_sel_cut_axis(to, outputs(&a, 0, 1, a.out.n / 2), limits);
        ti_sel_cut_axis(to, outputs(&a, a.out.n / 2, 1, a.out.n - a.out.n / 2), limits);
        return;
    }
    int64_t lo, hi;
    inside(&a, &lo, &hi);
    if (limits->inside && hi - lo < a.out.n && many) {
        one_by_one(to, &a, limits, 0, lo);
        if (hi > lo)
            ti_sel_cut_axis(to, outputs(&a, lo, 1, hi - lo), limits);
        one_by_one(to, &a, limits, hi, a.out.n);
        return;
    }
    if (a.stride <= limits->stride && a.dilation <= limits->dilation &&
        (a.tap.n - 1) * a.dilation < limits->taps) {
        finish(to, &a, limits);
        return;
    }
    bool folds = limits->folds && (a.dilation == 1 || a.tap.n == 1) && a.in.step == 1;
    if (folds) {
        fold(to, &a, limits);
        return;
    }
    thin(&a);
    if (!a.tap.n)
        add_empty(to, &a);
    else if (a.dilation > limits->dilation ||
             (a.dilation > 1 && (a.tap.n - 1) * a.dilation >= limits->taps))
        for (int64_t q = 0; q < a.dilation && q < a.out.n; q++)
            ti_sel_cut_axis(to, outputs(&a, q, a.dilation, ti_parts(a.out.n - q, a.dilation)), limits);
    else if (a.tap.n > limits->taps)
        to->too_long = true;
    else if (a.stride > limits->stride)
        one_by_one(to, &a, limits, 0, a.out.n);
    else
        finish(to, &a, limits);
}

/* ---- operations ---- */

tc_view ti_sel_volumes(const tc_view *v)
{
    if (v->rank == 5)
        return *v;
    tc_view out = *v;
    memmove(out.dim + 2, out.dim + 1, 3 * sizeof *out.dim);
    memmove(out.stride + 2, out.stride + 1, 3 * sizeof *out.stride);
    out.rank = 5;
    out.dim[1] = 1;
    return out;
}

void ti_sel_set_sizes(tc_hw_op *op)
{
    op->op.ifm.h = op->op.window.ih = (int32_t)op->ifm.dim[0];
    op->op.ifm.w = op->op.window.iw = (int32_t)op->ifm.dim[1];
    op->op.ifm.c = op->op.depth = (int32_t)op->ifm.dim[2];
    op->op.ofm.h = (int32_t)op->ofm.dim[0];
    op->op.ofm.w = (int32_t)op->ofm.dim[1];
    op->op.ofm.c = (int32_t)op->ofm.dim[2];
}

void ti_sel_set_window(tc_hw_op *op, const tc_sel_axis *y, const tc_sel_axis *x)
{
    static const tc_sel_axis folded = {.tap = {0, 1, 1}, .stride = 1, .dilation = 1};
    x = x->folded ? &folded : x;
    op->op.window = (tc_npu_window){.kh = (int32_t)y->tap.n,
                                    .kw = (int32_t)x->tap.n,
                                    .stride_y = (int32_t)y->stride,
                                    .stride_x = (int32_t)x->stride,
                                    .dilation_y = (int32_t)y->dilation,
                                    .dilation_x = (int32_t)x->dilation,
                                    .top = (int32_t)y->before,
                                    .bottom = (int32_t)y->after,
                                    .left = (int32_t)x->before,
                                    .right = (int32_t)x->after};
    ti_sel_set_sizes(op);
}
