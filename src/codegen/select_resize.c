/* SPDX-License-Identifier: Apache-2.0 */
/* select_resize.c -- RESIZE.  Along an axis result o is at o d + offset, in units of 1 / n of an
 * input pixel.
 *
 *   nearest, every n-th pixel or one alone: a copy
 *   U85            an operation of its own
 *   U55, nearest   2, 4, 8 times as large: the machine's upscaling (select_upscale.c); else, for
 *                  each of n results, copies of every d-th pixel
 *   U55, bilinear  every n-th result has the same weights: a depthwise convolution of 2 x 2 each,
 *                  strides d, over the input with its border repeated, or results at
 *                  the border by themselves; 2, 4, 8 times as large: or means of the upscaled plane */
#include "../num/fixed.h"
#include "select_upscale.h"

enum { MOST_WEIGHT = 255, MOST_STRIDE = 3, MOST_TIMES = 8 };

typedef struct axis {
    int64_t n, d, offset; /* as in TOSA */
    int64_t in, out;
    int64_t period, advance; /* `advance` pixels for every `period` results */
} axis;

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t c = a % b;
        a = b;
        b = c;
    }
    return a;
}

static axis axis_of(const int64_t *scale, int64_t offset, int64_t in, int64_t out)
{
    int64_t g = divisor(scale[0], scale[1]);
    return (axis){scale[0], scale[1], offset, in, out, scale[0] / g, scale[1] / g};
}

/* The pixel that result o is in, or before; outside of the input too. */
static int64_t pixel(const axis *a, int64_t o, int64_t *rest)
{
    int64_t at = o * a->d + a->offset, i = floor_div(at, a->n);
    *rest = at - i * a->n;
    return i;
}

/* The pixel that result o is nearest to. */
static int64_t nearest(const axis *a, int64_t o)
{
    int64_t rest, i = pixel(a, o, &rest);
    return i + (2 * rest >= a->n);
}

static int64_t inside(const axis *a, int64_t i)
{
    return ti_max_i64(0, ti_min_i64(i, a->in - 1));
}

/* The operation on every image of [n, h, w, c]. */
static void emit_images(tc_sel *s, tc_hw_op *op, const tc_view *in, const tc_view *out)
{
    for (int64_t n = 0; n < out->dim[0]; n++) {
        op->ifm = ti_view_at(in, n);
        op->ofm = ti_view_at(out, n);
        op->ifm.dim[0] = op->op.ifm.h = op->op.window.ih;
        op->ifm.dim[1] = op->op.ifm.w = op->op.window.iw;
        op->op.ifm.c = op->op.depth = (int32_t)op->ifm.dim[2];
        op->op.ofm.h = (int32_t)op->ofm.dim[0];
        op->op.ofm.w = (int32_t)op->ofm.dim[1];
        op->op.ofm.c = (int32_t)op->ofm.dim[2];
        ti_sel_emit(s, op);
    }
}

/* ---- U85 ---- */

/* Whole leading pixels that nothing reads are left out of the view: a register's offset is
 * small. */
static bool set_axis(axis *a, tc_view *from, int32_t which, tc_npu_axis *out)
{
    enum { SCALE = 2048, STEPS = 16 };
    int64_t skip = a->offset >= a->n ? a->offset / a->n : 0;
    skip = ti_min_i64(skip, a->in - 1);
    *from = ti_view_slice(from, which, skip, a->in - skip);
    a->offset -= skip * a->n;
    a->in -= skip;
    *out = (tc_npu_axis){
        .scale = (int32_t)a->n, .step = (int32_t)a->d, .offset = (int32_t)a->offset};
    return a->n <= SCALE && a->d < STEPS * a->n && a->offset >= -SCALE && a->offset < SCALE;
}

/* Sums of 48 bits in 32, after a RESCALE of factor one that only the next one reads. */
static tc_val in_32_bits(tc_sel *s, const tc_node *node)
{
    const tc_node *next = ti_sel_only_reader(s, node->out[0]);
    tc_sel_scale q;
    if (ti_sel_dtype(s, node->out[0]) != TC_i48 || !next || next->op != TC_OP_tosa_rescale ||
        ti_sel_dtype(s, next->out[0]) != TC_i32 || !ti_sel_only_reader(s, next->out[0]) ||
        !ti_sel_scale(s, next, &q))
        return node->out[0];
    int64_t f = q.factor[0], n = q.shift[0];
    ti_sel_reduce(&f, &n);
    if (q.n > 1 || f != 1 || n || q.in_zero || q.out_zero)
        return node->out[0];
    s->value[next->out[0]].taken = true;
    return next->out[0];
}

static void resize_u85(tc_sel *s, const tc_node *node, axis y, axis x, bool linear)
{
    const tc_type *t = ti_type_of(s->g, node->out[0]);
    tc_hw_op op = ti_sel_op(s, node, TC_NPU_KIND_RESIZE,
                            linear ? TC_NPU_BILINEAR : TC_NPU_NEAREST);
    op.op.param = op.op.mode;
    tc_view from = ti_sel_channels(s, node, node->in[0]);
    if (s->hw->refused)
        return;
    if (!set_axis(&y, &from, 1, &op.op.y) || !set_axis(&x, &from, 2, &op.op.x)) {
        ti_hw_refuse(s->hw, node, "its scale or offset does not fit the machine's registers");
        return;
    }
    ti_sel_map(&op.op.ifm, ti_sel_bytes(s, node->in[0]), true, 0);
    bool below_30 = ti_sel_bytes(s, node->in[0]) == 1 || y.n * x.n < 1 << 15;
    tc_val v = linear && below_30 ? in_32_bits(s, node) : node->out[0];
    ti_sel_plain_output(s, &op.op, v);
    v = ti_sel_take_tail(
        s, &op, v, (tc_sel_tail){.shifted = linear, .below_30 = below_30, .bounds = !linear});
    op.op.ofm_scale.shift += 16; /* the machine's results are 2^16 times as large */
    tc_view to = ti_sel_result(s, v), place;
    if (op.op.ofm_scale.shift > 63 || !ti_view_reshape(&to, t->rank, t->dim, &place)) {
        ti_hw_refuse(s->hw, node, "its shift does not fit the machine's registers");
        return;
    }
    op.op.window.kh = op.op.window.ih = (int32_t)y.in;
    op.op.window.kw = op.op.window.iw = (int32_t)x.in;
    emit_images(s, &op, &from, &place);
}

/* ---- U55, nearest ---- */

/* Results are k times as many, in order. */
static bool is_times(const axis *a, int64_t k)
{
    bool is = a->out == k * a->in;
    for (int64_t o = 0; o < a->out && is; o++)
        is = inside(a, nearest(a, o)) == o / k;
    return is;
}

/* n results of the axis, `step` apart, from pixels that are `stride` apart. */
static void put_run(tc_sel *s, const tc_node *node, const tc_view *from, const tc_view *to,
                    int32_t which, int64_t at, int64_t step, int64_t pixel_at, int64_t stride,
                    int64_t n)
{
    if (n <= 0)
        return;
    tc_view a = ti_view_slice(from, which, pixel_at, n), b = ti_view_slice(to, which, at, n);
    a.stride[which] *= n > 1 ? stride : 1;
    b.stride[which] *= n > 1 ? step : 1;
    if (stride || n == 1)
        ti_sel_copy(s, node, &a, &b);
    else
        ti_sel_spread(s, node, &a, &b);
}

static void pick(tc_sel *s, const tc_node *node, const axis *a, const tc_view *from,
                 const tc_view *to, int32_t which)
{
    for (int64_t p = 0; p < a->period && p < a->out && !s->hw->refused; p++) {
        int64_t n = (a->out - p + a->period - 1) / a->period, first = nearest(a, p), before = 0,
                behind = 0;
        for (int64_t i = 0; i < n; i++) {
            before += first + i * a->advance < 0;
            behind += first + i * a->advance > a->in - 1;
        }
        put_run(s, node, from, to, which, p, a->period, 0, 0, before);
        put_run(s, node, from, to, which, p + before * a->period, a->period,
                first + before * a->advance, a->advance, n - before - behind);
        put_run(s, node, from, to, which, p + (n - behind) * a->period, a->period, a->in - 1, 0,
                behind);
    }
}

/* The same less those before the middle of the first pixel and behind that of the last one: corners
 * are on corners. */
static bool is_between(const axis *a, int64_t k)
{
    bool is = a->out == k * (a->in - 1) + 1;
    for (int64_t o = 0; o < a->out && is; o++)
        is = inside(a, nearest(a, o)) == (o + k / 2) / k;
    return is;
}

/* Copies along rows, then along columns. */
static void pick_both(tc_sel *s, const tc_node *node, const axis *y, const axis *x, tc_view from,
                      const tc_view *to)
{
    bool rows = y->out != y->in || y->n != y->d || y->offset;
    if (rows) {
        int64_t dim[4];
        memcpy(dim, from.dim, sizeof dim);
        dim[1] = y->out;
        tc_view next = ti_sel_working(s, "rows", s->hw->root[from.root].bytes, 4, dim);
        pick(s, node, y, &from, &next, 1);
        from = next;
    }
    pick(s, node, x, &from, to, 2);
}

static void nearest_u55(tc_sel *s, const tc_node *node, axis y, axis x)
{
    tc_view from = ti_sel_channels(s, node, node->in[0]), to = ti_sel_result(s, node->out[0]);
    if (s->hw->refused)
        return;
    for (int64_t k = 2; k <= MOST_TIMES; k *= 2)
        if (is_times(&y, k) && is_times(&x, k)) {
            ti_sel_times(s, node, k, 0, from, &to);
            return;
        }
    tc_sel_ways ways = ti_sel_ways(s, node);
    pick_both(s, node, &y, &x, from, &to);
    for (int64_t k = 4; k <= MOST_TIMES && !s->hw->judges; k *= 2) {
        if (s->hw->refused || !is_between(&y, k) || !is_between(&x, k))
            continue;
        ti_sel_plain(&ways);
        ti_sel_times(s, node, k, k / 2, from, &to);
        ti_sel_form(&ways, TC_SEL_UPSCALED, true);
        return;
    }
}

/* ---- U55, bilinear ---- */

/* The input with its border repeated where results reach beyond. */
static tc_view bordered(tc_sel *s, const tc_node *node, const axis *y, const axis *x, tc_view from,
                        int64_t *top, int64_t *left)
{
    const axis *a[2] = {y, x};
    int64_t *front[2] = {top, left};
    for (int32_t k = 0; k < 2 && !s->hw->refused; k++) {
        int64_t rest, lo = pixel(a[k], 0, &rest), hi = pixel(a[k], a[k]->out - 1, &rest) + 1;
        int64_t before = ti_max_i64(0, -lo), behind = ti_max_i64(0, hi - (a[k]->in - 1)), dim[4];
        *front[k] = before;
        if (!before && !behind)
            continue;
        memcpy(dim, from.dim, sizeof dim);
        dim[k + 1] += before + behind;
        tc_view next = ti_sel_working(s, "bordered", s->hw->root[from.root].bytes, 4, dim);
        put_run(s, node, &from, &next, k + 1, 0, 1, 0, 0, before);
        put_run(s, node, &from, &next, k + 1, before, 1, 0, 1, a[k]->in);
        put_run(s, node, &from, &next, k + 1, before + a[k]->in, 1, a[k]->in - 1, 0, behind);
        from = next;
    }
    return from;
}

typedef struct phase {
    int64_t at, n;     /* its first result, and how many */
    int64_t first;     /* pixel of that */
    int64_t weight[2]; /* of that one and of the next */
} phase;

static phase phase_of(const axis *a, int64_t p)
{
    int64_t rest, i = pixel(a, p, &rest);
    return (phase){p, (a->out - p + a->period - 1) / a->period, i, {a->n - rest, rest}};
}

/* The phases of an axis. */
typedef struct phases {
    phase *of;
    int64_t n;
} phases;

static phases phases_of(tc_sel *s, const axis *a)
{
    int64_t n = ti_min_i64(a->period, a->out);
    phases all = {tc_new_n(s->hw->arena, phase, (size_t)n), n};
    for (int64_t p = 0; p < n; p++)
        all.of[p] = phase_of(a, p);
    return all;
}

/* A result that the pixel alone is. */
static void add_alone(phases *all, const axis *a, int64_t at, int64_t pixel)
{
    all->of[all->n++] = (phase){at, 1, pixel, {a->n, 0}};
}

/* The same where results that reach beyond the input are phases of their own, so that its border
 * need not be repeated; n of 0: they are more than `most`. */
static phases phases_inside(tc_sel *s, const axis *a, int64_t most)
{
    phases all = {tc_new_n(s->hw->arena, phase, (size_t)(most + a->out + 1)), 0},
           none = {NULL, 0};
    for (int64_t p = 0; p < a->period && p < a->out; p++) {
        phase f = phase_of(a, p);
        int64_t end = f.weight[1] ? a->in - 1 : a->in; /* of first pixels inside */
        for (; f.n > 0 && f.first < 0; f.n--, f.at += a->period, f.first += a->advance)
            add_alone(&all, a, f.at, 0);
        for (; f.n > 0 && f.first + (f.n - 1) * a->advance >= end; f.n--)
            add_alone(&all, a, f.at + (f.n - 1) * a->period, a->in - 1);
        if (f.n > 0)
            all.of[all.n++] = f;
        if (all.n > most)
            return none;
    }
    return all;
}

/* Weights of a phase less 2^n that they have in common: the output's factor has it instead. */
static int lighten(phase *p)
{
    int n = 0;
    while (p->weight[0] % 2 == 0 && p->weight[1] % 2 == 0 && n < 16) {
        p->weight[0] /= 2;
        p->weight[1] /= 2;
        n++;
    }
    return n;
}

/* `light`: what weights have in common is the output's. */
static int64_t most_weight(const phases *a, bool light)
{
    int64_t most = 0;
    for (int64_t p = 0; p < a->n; p++) {
        phase f = a->of[p];
        if (light)
            lighten(&f);
        most = ti_max_i64(most, ti_max_i64(f.weight[0], f.weight[1]));
    }
    return most;
}

static int most_common(const phases *a)
{
    int most = 0;
    for (int64_t p = 0; p < a->n; p++) {
        phase f = a->of[p];
        int n = lighten(&f);
        most = n > most ? n : most;
    }
    return most;
}

/* Whether factors, rounded once, may be 2^n times as large. */
static bool may_lighten(const tc_hw_op *op, int64_t channels, int n)
{
    bool may = op->op.ofm_scale.round == TC_ROUND_NATURAL;
    for (int64_t i = 0; i < channels && may; i++)
        may = op->shift[i] >= n || op->factor[i] <= INT32_MAX >> (n - op->shift[i]);
    return may;
}

/* The stream's factors, 2^n times as large. */
static void scale_up(tc_sel *s, tc_hw_op *op, int64_t channels, int n)
{
    int32_t *factor = tc_new_n(s->hw->arena, int32_t, (size_t)channels);
    uint8_t *shift = tc_new_n(s->hw->arena, uint8_t, (size_t)channels);
    for (int64_t i = 0; i < channels; i++) {
        int less = op->shift[i] < n ? op->shift[i] : n;
        factor[i] = op->factor[i] * (1 << (n - less));
        shift[i] = (uint8_t)(op->shift[i] - less);
    }
    op->factor = factor;
    op->shift = shift;
}

/* The pixels of a phase: where they are, or in a row where steps are too long for a window. */
static tc_view pixels_of(tc_sel *s, const tc_node *node, const phase *p, const axis *a,
                         const tc_view *from, int32_t which, int32_t taps, int32_t *stride)
{
    if (a->advance <= MOST_STRIDE) {
        *stride = (int32_t)a->advance;
        return ti_view_slice(from, which, p->first, (p->n - 1) * a->advance + taps);
    }
    int64_t dim[4];
    memcpy(dim, from->dim, sizeof dim);
    dim[which] = p->n * taps;
    tc_view out = ti_sel_working(s, "pixels", s->hw->root[from->root].bytes, 4, dim);
    for (int32_t k = 0; k < taps; k++)
        put_run(s, node, from, &out, which, k, taps, p->first + k, a->advance, p->n);
    *stride = taps;
    return out;
}

static void emit_phase(tc_sel *s, tc_hw_op one, bool light, const axis *y, const axis *x, phase v,
                       phase h, const tc_view *from, const tc_view *to)
{
    tc_hw_op *op = &one;
    int64_t c = from->dim[3];
    if (light)
        scale_up(s, op, c, lighten(&v) + lighten(&h));
    int32_t kh = v.weight[1] ? 2 : 1, kw = h.weight[1] ? 2 : 1;
    int16_t *w = tc_new_n(s->hw->arena, int16_t, (size_t)(c * kh * kw));
    for (int64_t i = 0; i < c; i++)
        for (int32_t a = 0; a < kh; a++)
            for (int32_t b = 0; b < kw; b++)
                w[(i * kh + a) * kw + b] = (int16_t)(v.weight[a] * h.weight[b]);
    op->weight = w;
    op->op.window = (tc_npu_window){.kh = kh,
                                    .kw = kw,
                                    .dilation_y = 1,
                                    .dilation_x = 1};
    tc_npu_window *window = &op->op.window;
    tc_view in = pixels_of(s, op->node, &v, y, from, 1, kh, &window->stride_y),
            out = ti_view_slice(to, 1, v.at, v.n);
    in = pixels_of(s, op->node, &h, x, &in, 2, kw, &window->stride_x);
    window->ih = (int32_t)in.dim[1];
    window->iw = (int32_t)in.dim[2];
    out = ti_view_slice(&out, 2, h.at, h.n);
    out.stride[1] *= v.n > 1 ? y->period : 1; /* unused for one row, and may be too long */
    out.stride[2] *= h.n > 1 ? x->period : 1;
    emit_images(s, op, &in, &out);
}

/* All phases; false: a weight is larger than the machine's. */
static bool emit_phases(tc_sel *s, const tc_hw_op *op, const axis *y, const axis *x, phases rows,
                        phases columns, const tc_view *from, const tc_view *to)
{
    bool light = may_lighten(op, from->dim[3], most_common(&rows) + most_common(&columns));
    if (most_weight(&rows, light) * most_weight(&columns, light) > MOST_WEIGHT)
        return false;
    for (int64_t v = 0; v < rows.n && !s->hw->refused; v++)
        for (int64_t h = 0; h < columns.n; h++)
            emit_phase(s, *op, light, y, x, rows.of[v], columns.of[h], from, to);
    return true;
}

/* Results are means of the plane that has every pixel k times: with its end, or without. */
static bool is_mean(const axis *a, int64_t k)
{
    bool two = k == 2 || k == 4 || k == MOST_TIMES;
    return two && a->period == k && a->advance == 1 && !a->offset && a->in > 1 &&
           (a->out == k * a->in || a->out == k * (a->in - 1) + 1);
}

/* The operation's factors divide by n as a mean of so many does. */
static bool divides(const tc_hw_op *op, int64_t channels, int64_t n)
{
    tc_scale r = ti_reciprocal_scale((uint32_t)n);
    bool is = op->op.ofm_scale.round == TC_ROUND_NATURAL && op->op.ofm.bytes == op->op.ifm.bytes;
    for (int64_t i = 0; i < channels && is; i++)
        is = op->factor[i] == r.multiplier && op->shift[i] == r.shift;
    return is;
}

/* With the border repeated; or results that reach beyond by themselves, where they are few and
 * that costs less. */
static void bilinear_of(tc_sel *s, const tc_hw_op *op, const axis *y, const axis *x,
                        const tc_view *from, const tc_view *to)
{
    enum { FEW = 4 };
    const tc_node *node = op->node;
    int64_t top = 0, left = 0;
    tc_sel_ways ways = ti_sel_ways(s, node);
    tc_view in = bordered(s, node, y, x, *from, &top, &left);
    axis v = *y, h = *x;
    v.offset += top * v.n;
    h.offset += left * h.n;
    if (!emit_phases(s, op, &v, &h, phases_of(s, &v), phases_of(s, &h), &in, to)) {
        ti_hw_refuse(s->hw, node, "its weights are larger than the machine's");
        return;
    }
    phases rows = phases_inside(s, y, FEW), columns = phases_inside(s, x, FEW);
    int64_t k = y->period;
    if (s->hw->refused || s->hw->judges)
        return;
    ti_sel_plain(&ways);
    if (is_mean(y, k) && is_mean(x, k) && divides(op, from->dim[3], y->n * x->n)) {
        ti_sel_times_mean(s, op, k, *from, to);
        ti_sel_form(&ways, TC_SEL_UPSCALED, true);
    }
    if (in.root == from->root || !rows.n || !columns.n)
        return;
    ti_sel_form(&ways, TC_SEL_BORDER, emit_phases(s, op, y, x, rows, columns, from, to));
}

/* Sums of 16 bits: in 32 bits, and the RESCALE of these; or the means that both are.  false: they are
 * read in another way. */
static bool bilinear_of_16(tc_sel *s, const tc_hw_op *sum, const axis *y, const axis *x)
{
    const tc_node *node = sum->node;
    tc_val v = in_32_bits(s, node);
    if (v == node->out[0])
        return false;
    tc_hw_op op = *sum, scaled = ti_sel_op(s, node, TC_NPU_KIND_ELEMENTWISE, TC_EW_MUL);
    const tc_type *t = ti_type_of(s->g, v);
    int64_t c = t->dim[3];
    ti_sel_unit_scales(s, &op, c);
    ti_sel_plain_type(s, &op.op, 4);
    ti_sel_plain_type(s, &scaled.op, 4);
    tc_val end = ti_sel_take_tail(s, &scaled, v, (tc_sel_tail){.scaled = true, .bounds = true});
    tc_view from = ti_sel_channels(s, node, node->in[0]), to = ti_sel_result_of(s, node, end);
    if (s->hw->refused)
        return true;
    if (end == v) {
        bilinear_of(s, &op, y, x, &from, &to);
        return true;
    }
    tc_sel_ways ways = ti_sel_ways(s, node);
    tc_view sums = ti_sel_working(s, "sums", 4, t->rank, t->dim);
    bilinear_of(s, &op, y, x, &from, &sums);
    ti_sel_scale_sums(s, &scaled, &sums, &to);
    int64_t k = y->period;
    tc_scale r = ti_reciprocal_scale((uint32_t)(y->n * x->n));
    const tc_npu_scale *q = &scaled.op.ofm_scale;
    if (s->hw->refused || s->hw->judges || !is_mean(y, k) || !is_mean(x, k) ||
        q->round != TC_ROUND_NATURAL || q->multiplier != (uint32_t)r.multiplier ||
        q->shift != r.shift || scaled.op.ofm.bytes != 2)
        return true;
    ti_sel_plain(&ways);
    scaled.op.ifm = op.op.ifm;
    ti_sel_times_mean(s, &scaled, k, from, &to);
    ti_sel_form(&ways, TC_SEL_UPSCALED, true);
    return true;
}

static void bilinear_u55(tc_sel *s, const tc_node *node, axis y, axis x)
{
    const tc_type *t = ti_type_of(s->g, node->out[0]);
    uint8_t bytes = ti_sel_bytes(s, node->in[0]);
    tc_hw_op op = ti_sel_op(s, node, TC_NPU_KIND_DEPTHWISE, 0);
    int64_t c = t->dim[3];
    ti_sel_map(&op.op.ifm, bytes, true, 0);
    op.op.acc_bits = bytes == 2 ? 40 : 32;
    op.op.ofm.c = (int32_t)c;
    op.op.per_channel = true;
    op.bias = tc_new_n(s->hw->arena, int64_t, (size_t)c);
    if (bytes == 2 && bilinear_of_16(s, &op, &y, &x))
        return;
    tc_val v = ti_sel_take_tail(s, &op, node->out[0], (tc_sel_tail){.scaled = true, .channel = true});
    if (!op.factor) {
        if (bytes == 2) {
            ti_hw_refuse(s->hw, node, "its sums of 40 bits are read without a RESCALE");
            return;
        }
        ti_sel_unit_scales(s, &op, c);
        ti_sel_plain_output(s, &op.op, node->out[0]);
    } else
        v = ti_sel_take_tail(s, &op, v, (tc_sel_tail){.bounds = op.op.ofm.bytes <= 2});
    tc_view from = ti_sel_channels(s, node, node->in[0]), place = ti_sel_result_of(s, node, v);
    if (!s->hw->refused)
        bilinear_of(s, &op, &y, &x, &from, &place);
}

/* ---- nearest, of every n-th pixel or of one alone ---- */

static bool picks(const axis *a)
{
    int64_t rest;
    return a->in == 1 ||
           (a->period == 1 && pixel(a, 0, &rest) >= 0 && nearest(a, a->out - 1) < a->in);
}

static tc_view picked(const tc_view *v, int32_t which, const axis *a)
{
    tc_view out = *v;
    out.at += a->in == 1 ? 0 : nearest(a, 0) * v->stride[which];
    out.stride[which] = a->in == 1 ? 0 : a->advance * v->stride[which];
    out.dim[which] = a->out;
    return out;
}

static void copy_picked(tc_sel *s, const tc_node *node, const axis *y, const axis *x)
{
    tc_view from = ti_sel_view(s, node->in[0]), to = ti_sel_result(s, node->out[0]);
    if (s->hw->refused)
        return;
    from = picked(&from, 1, y);
    from = picked(&from, 2, x);
    if (y->in == 1 || x->in == 1)
        ti_sel_spread(s, node, &from, &to);
    else
        ti_sel_copy(s, node, &from, &to);
}

/* ---- the rule ---- */

void ti_npu_select_resize(tc_sel *s, const tc_node *node)
{
    const tc_attr_tosa_resize *a = node->attr;
    const tc_type *in = ti_type_of(s->g, node->in[0]), *out = ti_type_of(s->g, node->out[0]);
    const int64_t *scale = ti_sel_numbers(s, node->in[1], NULL),
                  *offset = ti_sel_numbers(s, node->in[2], NULL);
    bool linear = a->mode == TC_resize_mode_bilinear;
    if (!scale || !offset) {
        ti_hw_refuse(s->hw, node, "its scale is not constant");
        return;
    }
    for (int i = 1; i < 4; i++)
        if (in->dim[i] > TC_HW_EXTENT || out->dim[i] > TC_HW_EXTENT) {
            ti_hw_refuse(s->hw, node, "an axis is longer than %d", TC_HW_EXTENT);
            return;
        }
    axis y = axis_of(scale, offset[0], in->dim[1], out->dim[1]),
         x = axis_of(scale + 2, offset[1], in->dim[2], out->dim[2]);
    if (!linear && is_times(&y, 1) && is_times(&x, 1))
        ti_npu_select_identity(s, node);
    else if (!linear && picks(&y) && picks(&x))
        copy_picked(s, node, &y, &x);
    else if (ti_hw_is_u85(s->hw))
        resize_u85(s, node, y, x, linear);
    else if (linear)
        bilinear_u55(s, node, y, x);
    else
        nearest_u55(s, node, y, x);
}
