/* SPDX-License-Identifier: Apache-2.0 */
/* lower_resize.c -- upsampling and downsampling of one to three axes.
 *
 * Each axis is the interpreter's own table of indices and weights.  RESIZE is used where its
 * rational steps give the same table; otherwise nearest neighbours are gathered rows, and weighted
 * ones a matrix product (floats) or sums of gathered rows times weights (quantized values, weights
 * of 15 bits; floats that may be infinite). */
#include <math.h>

#include "../../base/real.h"
#include "../product/product.h"
#include "lower_index.h"
#include "../composite/composite.h"
#include "../plain/plain.h"
#include "lower_resize.h"

#include "../../num/load.h"

/* ---- one axis by a matrix ---- */

tc_val ti_put_axis_matrix(tc_build *lw, tc_val x, int axis, int64_t n, const double *weight)
{
    if (!x)
        return x;
    tc_type t = *ti_b_type(lw, x);
    int64_t extent = t.dim[axis], rows = tc_type_count(&t) / extent, dim[TC_MAX_RANK];
    double *transposed = tc_new_n(&lw->ctx->arena, double, (size_t)(n * extent));
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < extent; k++)
            transposed[k * n + i] = weight[i * extent + k];
    tc_val last = ti_b_tosa_axis_last(lw, ti_put_cast(lw, x, TC_f32), axis);
    if (!last)
        return last;
    memcpy(dim, ti_b_type(lw, last)->dim, sizeof dim);
    dim[t.rank - 1] = n;
    tc_val a = ti_b_tosa_reshape(lw, last, 3, (int64_t[]){1, rows, extent});
    tc_val b = ti_b_numbers(lw, TC_f32, 3, (int64_t[]){1, extent, n}, transposed);
    tc_val in[4] = {a, b, ti_b_zero_point(lw, a, 0)};
    in[3] = ti_b_zero_point(lw, b, 0);
    tc_val y = ti_b_op(lw, TC_OP_tosa_matmul, NULL, in, 4);
    return ti_put_cast(lw, ti_b_tosa_axis_back(lw, ti_b_tosa_reshape(lw, y, t.rank, dim), axis),
                       t.dtype);
}

/* ---- RESIZE ---- */

/* Steps of one axis: element o of the result is at (o * d + offset) / n. */
typedef struct rational {
    int64_t n, d, offset, border;
} rational;

static int64_t common_divisor(int64_t a, int64_t b)
{
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* Whole ratios by pixel centres, 2k/2: the form that every machine with RESIZE takes. */
static rational whole_steps(const tc_resize_axis *a)
{
    int64_t k = a->out / a->in;
    return (rational){2 * k, 2, 1 - k, k - 1};
}

/* every: the same formula of the extents at all sizes. */
static rational steps(const tc_resize_axis *a, tc_resize_kind kind, bool align_corners, bool every)
{
    if (!every && a->taps == 1 && a->out > a->in && a->out % a->in == 0)
        return whole_steps(a);
    rational r = {2 * a->out, 2 * a->in, a->in - a->out, 0};
    if (kind == TC_RESIZE_NEAREST)
        r.offset = -a->out;
    else if (kind == TC_RESIZE_LINEAR && align_corners)
        r = (rational){a->out > 1 && a->in > 1 ? a->out - 1 : a->out,
                       a->in > 1 && a->out > 1 ? a->in - 1 : 1, 0, 0};
    if (a->in == a->out && !every)
        r = (rational){1, 1, 0, 0};
    int64_t g = every ? 1 : common_divisor(common_divisor(r.n, r.d), r.offset);
    if (kind == TC_RESIZE_NEAREST && g > 1 && (r.n / g) % 2 && a->in != a->out)
        g /= g % 2 ? 1 : 2; /* half of n stays a whole number */
    r = (rational){r.n / g, r.d / g, r.offset / g, 0};
    r.border = (a->out - 1) * r.d - (a->in - 1) * r.n + r.offset;
    return r;
}

/* Whether RESIZE with these steps reads the table's indices. */
static bool reproduces(const rational *r, const tc_resize_axis *a)
{
    bool legal = r->n > 0 && r->d > 0 && r->n <= 2048 && r->d < 16 * r->n && r->n <= 256 * r->d &&
                 r->offset >= -r->n && r->offset < 16 * r->n && r->border >= -16 * r->n &&
                 r->border < r->n && a->in < 16384 && a->out < 16384;
    for (int64_t o = 0; legal && o < a->out; o++) {
        int64_t y = o * r->d + r->offset, i = (int64_t)floor((double)y / (double)r->n),
                rest = y - i * r->n;
        int64_t low = i > 0 ? i : 0, high = i + 1 < a->in - 1 ? i + 1 : a->in - 1;
        if (low >= a->in)
            return false;
        if (a->taps == 1)
            legal = (2 * rest >= r->n ? high : low) == a->place[o];
        else { /* the same number from any pair of rows */
            double part = (double)rest / (double)r->n, off = 0;
            const int64_t at[] = {low, high, a->place[2 * o], a->place[2 * o + 1]};
            const double w[] = {1 - part, part, -a->weight[2 * o], -a->weight[2 * o + 1]};
            for (int k = 0; k < 4; k++) {
                double sum = 0;
                for (int m = 0; m < 4; m++)
                    sum += at[m] == at[k] ? w[m] : 0;
                off = fmax(off, fabs(sum));
            }
            legal = off < 1e-5;
        }
    }
    return legal;
}

/* x [n,c,h,w]: the last two axes at once; `made` is the element type of the result. */
static tc_val put_resize(tc_build *lw, tc_val x, tc_field_resize_mode mode, const rational *r,
                         const int64_t *size, tc_dtype made)
{
    x = ti_b_tosa_channels_last(lw, x);
    if (!x)
        return x;
    tc_val in[4] = {x, ti_b_shape(lw, 4, (int64_t[]){r[0].n, r[0].d, r[1].n, r[1].d})};
    in[2] = ti_b_shape(lw, 2, (int64_t[]){r[0].offset, r[1].offset});
    in[3] = ti_b_shape(lw, 2, (int64_t[]){r[0].border, r[1].border});
    const tc_type *t = ti_b_type(lw, x);
    int64_t dim[] = {t->dim[0], size[0], size[1], t->dim[3]};
    return ti_b_typed(lw, TC_OP_tosa_resize, ti_b_attr(lw, tosa_resize, mode), in, 4,
                      ti_type_make(lw->ctx, made, 4, dim));
}

/* ---- the rules ---- */

/* Whether any machine enlarges by these steps to the nearest: by 2, 4 or 8, both axes equally. */
static bool simple(const rational *r)
{
    int64_t k = r[0].n / r[0].d;
    return r[0].n % r[0].d == 0 && (k == 2 || k == 4 || k == 8) && r[0].d == 2 &&
           r[0].offset == 1 - k && r[1].n == r[0].n && r[1].d == r[0].d &&
           r[1].offset == r[0].offset;
}

typedef struct resampling {
    tc_resize_kind kind;
    int n; /* axes */
    tc_resize_axis axis[3];
    rational step[2]; /* of the last two axes; one axis has another of extent 1 before it */
    bool exact;       /* RESIZE does it */
    bool boxes;       /* RESIZE to the nearest and a mean of neighbours do it */
} resampling;

/* Enlarging by k = 2, 4 or 8 by pixel centres: the weights of every pixel are those that a mean
 * over k + 1 neighbours of the nearest gives, the outer two counted half. */
static bool is_boxes(const resampling *s)
{
    for (int i = 0; i < s->n; i++) {
        const tc_resize_axis *a = &s->axis[i];
        const rational *r = &s->step[2 - s->n + i];
        int64_t k = a->out / a->in;
        bool whole = a->out % a->in == 0 && (k == 2 || k == 4 || k == 8);
        if (!whole || r->n != k * r->d || r->offset * 2 != r->d - r->n ||
            k != s->axis[0].out / s->axis[0].in)
            return false;
    }
    return s->n == 2;
}

static resampling tables(tc_build *lw, const tc_node *node)
{
    const tc_resize_kind kind = ti_resize_kind(node->op);
    const tc_attr_upsample *a = node->attr;
    const tc_type *t = ti_lower_type(lw, node, 0);
    resampling s = {.kind = kind, .n = a->size.n, .step = {{1, 1, 0, 0}, {1, 1, 0, 0}}};
    s.exact = s.n < 3 && kind != TC_RESIZE_CUBIC;
    for (int i = 0; i < s.n; i++) {
        s.axis[i] =
            ti_resize_axis_of(&lw->ctx->arena, kind, a, i, t->dim[2 + i], t->dtype == TC_f64);
        if (s.n == 3)
            continue;
        rational *r = &s.step[2 - s.n + i];
        *r = steps(&s.axis[i], kind, a->align_corners, ti_lower_any_size(lw));
        s.exact = s.exact && reproduces(r, &s.axis[i]);
    }
    if (s.exact && !lw->lower->target->machine->can.resizes) {
        s.exact = kind != TC_RESIZE_LINEAR && simple(s.step);
        s.boxes = kind == TC_RESIZE_LINEAR && t->dtype == TC_i8 && is_boxes(&s);
    }
    return s;
}

/* x as [n,c,h,w], resized, as [n,h,w,c]. */
static tc_val by_resize(tc_build *lw, tc_val x, const resampling *s, tc_dtype made)
{
    int64_t in[2] = {1, 1}, out[2] = {1, 1};
    for (int i = 0; i < s->n; i++) {
        in[2 - s->n + i] = s->axis[i].in;
        out[2 - s->n + i] = s->axis[i].out;
    }
    const int64_t *dim = x ? ti_b_type(lw, x)->dim : in;
    x = ti_b_tosa_reshape(lw, x, 4, (int64_t[]){dim[0], dim[1], in[0], in[1]});
    return put_resize(
        lw, x, s->kind == TC_RESIZE_LINEAR ? TC_resize_mode_bilinear : TC_resize_mode_nearest,
        s->step, out, made);
}

/* One axis of x, tap i of every output element. */
static tc_val tap(tc_build *lw, tc_val x, int axis, const tc_resize_axis *a, int i)
{
    if (!x)
        return x;
    tc_type t = *ti_b_type(lw, x);
    tc_row_list rows = {1, a->in, 1, a->out, NULL, TC_NONE};
    int64_t *place = tc_new_n(&lw->ctx->arena, int64_t, (size_t)a->out);
    for (int64_t o = 0; o < a->out; o++)
        place[o] = a->place[o * a->taps + i];
    rows.known = place;
    for (int k = 0; k < t.rank; k++)
        if (k != axis)
            *(k < axis ? &rows.outer : &rows.inner) *= t.dim[k];
    x = ti_put_rows(lw, x, &rows);
    t.dim[axis] = a->out;
    return ti_b_tosa_reshape(lw, x, t.rank, t.dim);
}

static tc_val pick_all(tc_build *lw, tc_val x, const resampling *s)
{
    for (int i = 0; i < s->n; i++)
        x = tap(lw, x, 2 + i, &s->axis[i], 0);
    return x;
}

static bool resizable(tc_dtype t)
{
    return t == TC_i8 || t == TC_i16 || t == TC_f32 || t == TC_f16 || t == TC_bf16;
}

void ti_lower_upsample_nearest(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *y = ti_lower_result(lw, node, 0);
    resampling s = tables(lw, node);
    tc_val x = ti_move_in(lw, node, 0);
    if (s.exact && resizable(y->dtype))
        out[0] = ti_put_channels_first(lw, by_resize(lw, x, &s, y->dtype), y);
    else
        out[0] = ti_b_tosa_reshape(lw, pick_all(lw, x, &s), y->rank, y->dim);
}

static double *matrix(tc_build *lw, const tc_resize_axis *a)
{
    double *m = tc_new_n(&lw->ctx->arena, double, (size_t)(a->out * a->in));
    for (int64_t o = 0; o < a->out; o++)
        for (int i = 0; i < a->taps; i++)
            m[o * a->in + a->place[o * a->taps + i]] += a->weight[o * a->taps + i];
    return m;
}

static bool holds_infinity(tc_tensor t)
{
    for (int64_t i = 0; t.data && i < tc_type_count(t.type); i++)
        if (!isfinite(ti_load_f64(t, i)))
            return true;
    return false;
}

/* Back through elementwise nodes, moves, reductions and softmax. */
static bool is_infinite_by(const tc_graph *g, tc_val v, int depth)
{
    enum { DEEPEST = 16 };
    const tc_node *def = v ? ti_def(g, v) : NULL;
    if (!def || !ti_is_float(ti_type_of(g, v)->dtype))
        return false;
    if (def->op == TC_OP_const)
        return holds_infinity(ti_tensor_of(g, v));
    if (depth > DEEPEST ||
        TC_OP_IN(def->op, TC_OP_div, TC_OP_remainder, TC_OP_fmod, TC_OP_reciprocal, TC_OP_rsqrt,
                 TC_OP_sqrt, TC_OP_log, TC_OP_log2, TC_OP_log10, TC_OP_log1p, TC_OP_logit,
                 TC_OP_pow, TC_OP_exp, TC_OP_exp2, TC_OP_expm1, TC_OP_sinh, TC_OP_cosh, TC_OP_asin,
                 TC_OP_acos, TC_OP_acosh, TC_OP_atanh, TC_OP_erfinv, TC_OP_xlogy))
        return true;
    bool through = (tc_ops[def->op].traits & (T_ELTWISE | T_MOVES | T_REDUCES)) != 0 ||
                   TC_OP_IN(def->op, TC_OP_softmax, TC_OP_log_softmax);
    for (int i = 0; through && i < def->n_in; i++)
        if (is_infinite_by(g, def->in[i], depth + 1))
            return true;
    return false;
}

bool ti_may_be_infinite(const tc_graph *g, tc_val v)
{
    return is_infinite_by(g, v, 0);
}

/* One axis of floats: the sum of taps times weights, as the interpreter has it.  A weight of 0 makes NaN
 * of an infinite neighbour, which RESIZE does not read at the first row and column. */
static tc_val real_axis(tc_build *lw, tc_val x, int axis, const tc_resize_axis *a)
{
    tc_val sum = TC_NONE;
    for (int i = 0; i < a->taps && x; i++) {
        int64_t dim[TC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
        dim[axis] = a->out;
        double *weight = tc_new_n(&lw->ctx->arena, double, (size_t)a->out);
        for (int64_t o = 0; o < a->out; o++)
            weight[o] = a->weight[o * a->taps + i];
        tc_val by = ti_b_numbers(lw, TC_f32, ti_b_type(lw, x)->rank, dim, weight);
        tc_val one = ti_b_tosa_mul(lw, tap(lw, x, axis, a, i), by);
        sum = sum ? ti_b_tosa_add(lw, sum, one) : one;
    }
    return sum;
}

void ti_lower_plain_upsample(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *y = ti_lower_result(lw, node, 0);
    resampling s = tables(lw, node);
    tc_val x = ti_plain_in(lw, node, 0, TC_f32, 0);
    if (y->dtype == TC_f64)
        ti_lower_refuse(lw, "TOSA does not compute with f64");
    else if (ti_may_be_infinite(lw->rw->from, node->in[0]))
        for (int i = s.n; i-- > 0;)
            x = real_axis(lw, x, 2 + i, &s.axis[i]);
    else if (s.exact)
        x = ti_put_channels_first(lw, by_resize(lw, x, &s, TC_f32), y);
    else
        for (int i = 0; i < s.n; i++)
            x = ti_put_axis_matrix(lw, x, 2 + i, s.axis[i].out, matrix(lw, &s.axis[i]));
    out[0] = ti_put_cast(lw, x, y->dtype);
}

/* ---- quantized ---- */

/* One axis of i32 elements: sums of taps times weights of 2^-15, the result again 2^-15 as large
 * except for `more` bits below the step.  Weights of both axes overshoot to 1.375 at most, and
 * 1.375^2 2^30 is below 2^31.  fine: weights have 15 bits more, which each product is rounded by. */
static tc_val weighted_axis(tc_build *lw, tc_val x, int axis, const tc_resize_axis *a, int more,
                            bool fine)
{
    int below = fine ? 15 : 0;
    tc_val sum = TC_NONE;
    for (int i = 0; i < a->taps && x; i++) {
        int rank = ti_b_type(lw, x)->rank;
        int64_t dim[TC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
        dim[axis] = a->out;
        double *weight = tc_new_n(&lw->ctx->arena, double, (size_t)a->out);
        for (int64_t o = 0; o < a->out; o++)
            weight[o] = rint(ldexp(a->weight[o * a->taps + i], 15 + below));
        tc_val by = ti_b_numbers(lw, TC_i32, rank, dim, weight);
        tc_val one = ti_b_tosa_mul_shift(lw, tap(lw, x, axis, a, i), by, below);
        sum = sum ? ti_b_tosa_add(lw, sum, one) : one;
    }
    return ti_put_rescale(lw, sum, ldexp(1, more - 15), 0, 0, TC_i32);
}

static tc_val by_sums(tc_build *lw, tc_val x, const resampling *s, const tc_type *from,
                      const tc_type *to)
{
    int room = from->dtype == TC_i16 ? 0 : 5; /* bits below the step */
    bool fine = from->dtype == TC_i16 && ti_lower_fine(lw);
    x = ti_put_rescale(lw, x, 1, ti_zero_of(from), 0, TC_i32);
    for (int i = 0; i < s->n; i++)
        x = weighted_axis(lw, x, 2 + i, &s->axis[i], i ? 0 : room, fine);
    return ti_put_rescale(lw, x, ti_scale_of(from) / ti_scale_of(to) * ldexp(1, -room), 0,
                          ti_zero_of(to), to->dtype);
}

/* x [n,h,w,c] with `more` copies of its first and last rows around an axis; each is repeated k
 * times there already. */
static tc_val edges_repeated(tc_build *lw, tc_val x, int axis, int64_t more)
{
    if (!x || !more)
        return x;
    int64_t n = ti_b_type(lw, x)->dim[axis];
    tc_val part[3] = {ti_b_tosa_slice_axis(lw, x, axis, 0, more), x};
    part[2] = ti_b_tosa_slice_axis(lw, x, axis, n - more, more);
    return ti_put_concat(lw, part, 3, axis);
}

/* The nearest, then DEPTHWISE_CONV2D by 1 2 .. 2 1 along both axes: i32 of (2 ky)(2 kx) times the
 * value, without the zero point.  [n,h,w,c] */
static tc_val by_boxes(tc_build *lw, tc_val x, const resampling *s, int64_t zero, double *times)
{
    resampling nearest = *s;
    int64_t k[2] = {1, 1}, size[2];
    nearest.kind = TC_RESIZE_NEAREST;
    for (int i = 0; i < s->n; i++)
        k[2 - s->n + i] = s->axis[i].out / s->axis[i].in;
    for (int i = 0; i < 2; i++) {
        nearest.step[i] = k[i] > 1 ? (rational){2 * k[i], 2, 1 - k[i], k[i] - 1}
                                   : (rational){1, 1, 0, 0};
        size[i] = k[i] > 1 ? k[i] + 1 : 1;
    }
    x = by_resize(lw, x, &nearest, TC_i8);
    for (int i = 0; i < 2; i++)
        x = edges_repeated(lw, x, 1 + i, k[i] / 2);
    if (!x)
        return x;
    int64_t c = ti_b_type(lw, x)->dim[3];
    double *weight = tc_new_n(&lw->ctx->arena, double, (size_t)(size[0] * size[1] * c));
    for (int64_t i = 0; i < size[0] * size[1] * c; i++) {
        int64_t at[2] = {i / c / size[1], i / c % size[1]};
        weight[i] = 1;
        for (int j = 0; j < 2; j++)
            weight[i] *= size[j] > 1 && at[j] > 0 && at[j] + 1 < size[j] ? 2 : 1;
    }
    tc_val w = ti_b_numbers(lw, TC_i8, 4, (int64_t[]){size[0], size[1], c, 1}, weight);
    double *none = tc_new_n(&lw->ctx->arena, double, (size_t)c);
    tc_val bias = ti_b_numbers(lw, TC_i32, 1, &c, none);
    tc_window_shape shape = {.axes = 2};
    *times = (k[0] > 1 ? 2.0 * (double)k[0] : 1) * (k[1] > 1 ? 2.0 * (double)k[1] : 1);
    return ti_put_conv(lw, TC_OP_tosa_depthwise_conv2d, x, zero, w, 0, bias, &shape, TC_i32);
}

/* Programs for many sizes: both numerators follow from extents, and no RESCALE can hold them.  INTDIV
 * takes them out, with as many bits below the step as there is room for. */
static tc_val divided_by_steps(tc_build *lw, tc_val x, const resampling *s, const tc_type *from,
                               const tc_type *to)
{
    enum { MOST = 2048 }; /* numerators */
    double most = fmin(MOST, 2 * (double)ti_lower_longest(lw, 1));
    int more = (int)fmax(0, fmin(7, 30 - 7 - 2 * ceil(ti_log2(most))));
    tc_val times = ti_b_single(lw, TC_i32, 4, (double)(s->step[0].n * s->step[1].n));
    tc_val bits = ti_b_single(lw, TC_i32, 4, more);
    x = ti_b_tosa_intdiv(lw, ti_b_tosa_logical_left_shift(lw, x, bits), times);
    x = ti_b_tosa_sub(lw, x, ti_b_single(lw, TC_i32, 4, ldexp((double)ti_zero_of(from), more)));
    x = ti_put_rescale(lw, x, ldexp(ti_scale_of(from) / ti_scale_of(to), -more), 0, ti_zero_of(to),
                       to->dtype);
    return ti_put_channels_first(lw, ti_put_codes(lw, x, to->quant), to);
}

void ti_lower_int_upsample(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *from = ti_lower_type(lw, node, 0), *to = ti_lower_result(lw, node, 0);
    if (!ti_is_activation(from) || !ti_is_activation(to)) {
        ti_lower_refuse(lw, "its operand or its result does not have one scale");
        return;
    }
    resampling s = tables(lw, node);
    tc_val x = ti_lower_in(lw, node, 0);
    if (s.exact && from->dtype == TC_i8 && ti_lower_any_size(lw))
        out[0] = divided_by_steps(lw, by_resize(lw, x, &s, TC_i32), &s, from, to);
    else if (s.exact) { /* RESIZE multiplies by both numerators, and knows no zero point: its weights add
                      up to them */
        double times = (double)(s.step[0].n * s.step[1].n);
        tc_dtype made = from->dtype == TC_i8 ? TC_i32 : TC_i48;
        x = by_resize(lw, x, &s, made);
        int64_t zero = ti_zero_of(to);
        if (ti_scale_of(from) == ti_scale_of(to) && zero - ti_zero_of(from) <= 127 &&
            zero - ti_zero_of(from) >= -128)
            zero -= ti_zero_of(from); /* steps of one size: the zero points only differ */
        else if (ti_zero_of(from) && made == TC_i32)
            x = ti_b_tosa_sub(lw, x, ti_b_single(lw, TC_i32, 4, (double)ti_zero_of(from) * times));
        x = ti_put_rescale(lw, x, ti_scale_of(from) / (ti_scale_of(to) * times), 0, zero,
                           to->dtype);
        out[0] = ti_put_channels_first(lw, ti_put_codes(lw, x, to->quant), to);
    } else if (s.boxes) {
        double times = 1;
        x = by_boxes(lw, x, &s, ti_zero_of(from), &times);
        x = ti_put_rescale(lw, x, ti_scale_of(from) / (ti_scale_of(to) * times), 0, ti_zero_of(to),
                           to->dtype);
        out[0] = ti_put_channels_first(lw, ti_put_codes(lw, x, to->quant), to);
    } else
        out[0] = ti_b_tosa_reshape(lw, ti_put_codes(lw, by_sums(lw, x, &s, from, to), to->quant),
                                   to->rank, to->dim);
}
