/* SPDX-License-Identifier: Apache-2.0 */
/* compute_sample.c -- resampling as shaders: grid_sample and upsampling, in the arithmetic of their
 * kernels (num/sample_body.h, num/resize_body.h), tap by tap, so that floats are the same. */
#include "compute.h"
#include "compute_family.h"

#include <math.h>

#include "../../num/load.h"


static const tc_cs_val nothing = {0, TC_CS_BOOL};

static tc_cs_val plus(tc_cs *s, tc_cs_val v, double by)
{
    return ti_cs_add(s, v, ti_cs_real(s, by));
}

static tc_cs_val times(tc_cs *s, tc_cs_val v, double by)
{
    return ti_cs_mul(s, v, ti_cs_real(s, by));
}

/* ---- coordinates of a grid
 * -------------------------------------------------------------------- */

typedef struct taps {
    int n;
    tc_cs_val place[4], inside[4], weight[4];
} taps;

/* Grid coordinate to an index of an axis of n elements. */
static tc_cs_val unscale(tc_cs *s, tc_cs_val at, int64_t n, int axes, bool align_corners)
{
    double size = (double)n;
    tc_cs_val up = ti_cs_add(s, at, ti_cs_real(s, 1));
    if (axes == 2) {
        tc_cs_val v = ti_cs_mul(s, up, ti_cs_real(s, (double)((float)(align_corners ? size - 1 : size) / 2)));
        return align_corners ? v : ti_cs_sub(s, v, ti_cs_real(s, 0.5));
    }
    tc_cs_val two = ti_cs_real(s, 2);
    if (align_corners)
        return times(s, ti_cs_do(s, TC_SPV_FDiv, TC_CS_F32, up, two), size - 1);
    return ti_cs_do(s, TC_SPV_FDiv, TC_CS_F32, plus(s, times(s, up, size), -1), two);
}

/* Into 0 .. n - 1; NaN becomes the first index of a plane and the last of a volume. */
static tc_cs_val clip(tc_cs *s, tc_cs_val at, int64_t n, int axes)
{
    tc_cs_val last = ti_cs_real(s, (double)(n - 1)), zero = ti_cs_real(s, 0), nan = ti_cs_nan(s, at);
    tc_cs_val v = ti_cs_select(s, ti_cs_less(s, zero, at), at, zero);
    v = ti_cs_select(s, ti_cs_less(s, v, last), v, last);
    return ti_cs_select(s, nan, axes == 2 ? zero : last, v);
}

/* Reflected at the ends until it is between them. */
static tc_cs_val mirror(tc_cs *s, tc_cs_val at, int64_t n, int axes, bool align_corners)
{
    double low = align_corners ? 0 : -0.5, span = (double)(align_corners ? n - 1 : n);
    if (span <= 0)
        return ti_cs_real(s, 0);
    tc_cs_val twice = ti_cs_real(s, 2 * span);
    at = ti_cs_ext(s, TC_GLSL_FAbs, ti_cs_sub(s, at, ti_cs_real(s, low)), nothing);
    tc_cs_val turns = ti_cs_do(s, TC_SPV_FDiv, TC_CS_F32, at, twice);
    turns = ti_cs_ext(s, axes == 2 ? TC_GLSL_Floor : TC_GLSL_Trunc, turns, nothing);
    tc_cs_val extra = ti_cs_sub(s, at, ti_cs_mul(s, turns, twice));
    tc_cs_val back = ti_cs_sub(s, twice, extra);
    tc_cs_val near = ti_cs_select(s, ti_cs_less(s, extra, back), extra, back);
    return ti_cs_add(s, near, ti_cs_real(s, low));
}

static tc_cs_val bounded(tc_cs *s, const tc_attr_grid *a, tc_cs_val at, int64_t n, int axes)
{
    if (a->pad == TC_sample_pad_border)
        return clip(s, at, n, axes);
    if (a->pad == TC_sample_pad_reflection)
        return clip(s, mirror(s, at, n, axes, a->align_corners), n, axes);
    return at;
}

static void add_tap(tc_cs *s, taps *t, tc_cs_val at, int64_t n, tc_cs_val weight)
{
    tc_cs_val last = ti_cs_real(s, (double)(n - 1)), zero = ti_cs_real(s, 0);
    tc_cs_val above = ti_cs_do(s, TC_SPV_FOrdLessThanEqual, TC_CS_BOOL, zero, at);
    tc_cs_val below = ti_cs_do(s, TC_SPV_FOrdLessThanEqual, TC_CS_BOOL, at, last);
    t->inside[t->n] = ti_cs_and(s, above, below);
    t->place[t->n] = ti_cs_to(s, TC_CS_I32, ti_cs_select(s, t->inside[t->n], at, zero));
    t->weight[t->n++] = weight;
}

/* ((c d - 5 c) d + 8 c) d - 4 c, and ((c + 2) d - (c + 3)) d d + 1, c = -3/4. */
static tc_cs_val cubic_far(tc_cs *s, tc_cs_val d)
{
    tc_cs_val v = plus(s, times(s, d, -0.75), 3.75);
    v = plus(s, ti_cs_mul(s, v, d), -6);
    return plus(s, ti_cs_mul(s, v, d), 3);
}
static tc_cs_val cubic_near(tc_cs *s, tc_cs_val d)
{
    tc_cs_val v = plus(s, times(s, d, 1.25), -2.25);
    v = ti_cs_mul(s, ti_cs_mul(s, v, d), d);
    return plus(s, v, 1);
}

static taps cubic(tc_cs *s, const tc_attr_grid *a, tc_cs_val at, int64_t n)
{
    taps t = {0};
    tc_cs_val low = ti_cs_ext(s, TC_GLSL_Floor, at, nothing), part = ti_cs_sub(s, at, low);
    tc_cs_val one = ti_cs_real(s, 1), weight[4];
    weight[0] = cubic_far(s, ti_cs_add(s, part, one));
    weight[1] = cubic_near(s, part);
    weight[2] = cubic_near(s, ti_cs_sub(s, one, part));
    weight[3] = cubic_far(s, ti_cs_sub(s, ti_cs_real(s, 2), part));
    tc_cs_val before = ti_cs_sub(s, low, one);
    for (int i = 0; i < 4; i++) {
        tc_cs_val place = ti_cs_add(s, before, ti_cs_real(s, i));
        add_tap(s, &t, bounded(s, a, place, n, 2), n, weight[i]);
    }
    return t;
}

static taps taps_at(tc_cs *s, const tc_attr_grid *a, tc_cs_val coordinate, int64_t n, int axes)
{
    taps t = {0};
    tc_cs_val at = unscale(s, coordinate, n, axes, a->align_corners), one = ti_cs_real(s, 1);
    if (a->mode == TC_sample_mode_bicubic)
        return cubic(s, a, at, n);
    at = bounded(s, a, at, n, axes);
    if (a->mode == TC_sample_mode_nearest) {
        add_tap(s, &t, ti_cs_ext(s, TC_GLSL_RoundEven, at, nothing), n, one);
        return t;
    }
    tc_cs_val low = ti_cs_ext(s, TC_GLSL_Floor, at, nothing), high = ti_cs_add(s, low, one);
    add_tap(s, &t, low, n, ti_cs_sub(s, high, at));
    add_tap(s, &t, high, n, ti_cs_sub(s, at, low));
    return t;
}

/* ---- weighted sums ----------------------------------------------------------------------------- */

/* One element times its weight; outside of a plane 0 times it, of a volume nothing. */
static tc_cs_val weighted(tc_cs *s, int port, tc_cs_val inside, tc_cs_val place, tc_cs_val weight,
                          bool plane)
{
    tc_cs_val zero = ti_cs_real(s, 0);
    tc_cs_val v = ti_cs_to(s, TC_CS_F32, ti_cs_load(s, port, place));
    if (plane)
        return ti_cs_mul(s, weight, ti_cs_select(s, inside, v, zero));
    return ti_cs_select(s, inside, ti_cs_mul(s, weight, v), zero);
}

/* Where a line of the plane or volume at `base` begins. */
static tc_cs_val line_of(tc_cs *s, const int64_t extent[3], tc_cs_val base, tc_cs_val d, tc_cs_val h)
{
    tc_cs_val rows = ti_cs_i32(s, extent[1]), columns = ti_cs_i32(s, extent[2]);
    tc_cs_val line = ti_cs_add(s, ti_cs_mul(s, d, rows), h);
    return ti_cs_add(s, base, ti_cs_mul(s, line, columns));
}

/* The sum over the taps of three axes; base: where the plane or volume begins. */
static tc_cs_val sum_of(tc_cs *s, const taps t[3], const int64_t extent[3], int axes, tc_cs_val base)
{
    tc_cs_val sum = ti_cs_real(s, 0), zero = ti_cs_real(s, 0);
    for (int i = 0; i < t[0].n; i++)
        for (int j = 0; j < t[1].n; j++) {
            tc_cs_val part = zero, across = ti_cs_and(s, t[0].inside[i], t[1].inside[j]);
            tc_cs_val line = line_of(s, extent, base, t[0].place[i], t[1].place[j]);
            for (int k = 0; k < t[2].n; k++) {
                tc_cs_val inside = ti_cs_and(s, across, t[2].inside[k]);
                tc_cs_val place = ti_cs_add(s, line, t[2].place[k]);
                part = ti_cs_add(s, part, weighted(s, 0, inside, place, t[2].weight[k], axes == 2));
            }
            tc_cs_val weight = ti_cs_mul(s, t[0].weight[i], t[1].weight[j]);
            part = ti_cs_mul(s, weight, part);
            sum = ti_cs_add(s, sum, axes == 2 ? part : ti_cs_select(s, across, part, zero));
        }
    return sum;
}

void ti_cs_grid_sample(tc_cs *s, const tc_node *node, tc_cs_val at)
{
    const tc_attr_grid *a = node->attr;
    const tc_type *x = ti_cs_type(s, 0), *y = ti_cs_type(s, 2);
    int axes = x->rank - 2;
    int64_t extent[3] = {1, 1, 1}, plane = 1, places = 1;
    for (int i = 0; i < axes; i++) {
        extent[3 - axes + i] = x->dim[2 + i];
        plane *= x->dim[2 + i];
        places *= y->dim[2 + i];
    }
    tc_cs_val channel = ti_cs_part(s, at, places), point = ti_cs_rest(s, at, places);
    tc_cs_val image = ti_cs_part(s, channel, x->dim[1]);
    tc_cs_val from = ti_cs_add(s, ti_cs_mul(s, image, ti_cs_i32(s, places)), point);
    from = ti_cs_mul(s, from, ti_cs_i32(s, axes));
    taps t[3];
    tc_cs_val yes = ti_cs_number(s, TC_CS_BOOL, 1), zero = ti_cs_i32(s, 0), one = ti_cs_real(s, 1);
    for (int i = 0; i < 3; i++)
        t[i] = (taps){1, {zero}, {yes}, {one}};
    for (int i = 0; i < axes; i++) {
        tc_cs_val place = ti_cs_add(s, from, ti_cs_i32(s, i));
        tc_cs_val coordinate = ti_cs_to(s, TC_CS_F32, ti_cs_load(s, 1, place));
        t[2 - i] = taps_at(s, a, coordinate, extent[2 - i], axes);
    }
    tc_cs_val base = ti_cs_mul(s, channel, ti_cs_i32(s, plane));
    ti_cs_store(s, 2, at, sum_of(s, t, extent, axes, base));
}

/* ---- upsampling -------------------------------------------------------------------------------- */

/* How output index o becomes an input coordinate, in f32: rounded as in num/resize.c, which
 * verifies every o before the form is used. */
typedef enum form {
    BY_STEP,   /* step o */
    BY_HALVES, /* step (o + 1/2) - 1/2, the product rounded */
    BY_PARTS,  /* the same rounded once, as one multiplication and addition is: the product in two parts */
    BY_LIST    /* from lists in the code */
} form;

static float step_of(const tc_attr_upsample *a, int i, const tc_resize_axis *axis, bool align)
{
    double scale = a->scale.n ? a->scale.v[i] : 0;
    if (align)
        return axis->out > 1 ? (float)((double)(axis->in - 1) / (double)(axis->out - 1)) : 0;
    return (float)(scale > 0 ? 1 / scale : (double)axis->in / (double)axis->out);
}

/* The upper half of a float's digits (T. J. Dekker, 1971). */
static float upper(float v)
{
    volatile float c = 4097.0f * v, d = c - v;
    return c - d;
}

static float place_here(form f, float step, int64_t o)
{
    volatile float b = (float)o + 0.5f, p = step * b, s = p - 0.5f, z = s - p;
    volatile float ah = upper(step), al = step - ah, bh = upper(b), bl = b - bh;
    volatile float e1 = ah * bh, e2 = e1 - p, e3 = ah * bl, e4 = e2 + e3, e5 = al * bh, e6 = e4 + e5,
                   e7 = al * bl, e = e6 + e7, y = s - z, y1 = p - y, y2 = -0.5f - z, err = y1 + y2,
                   rest = err + e, step_o = step * (float)o;
    return f == BY_STEP ? step_o : f == BY_HALVES ? s : s + rest;
}

static tc_cs_val upper_of(tc_cs *s, tc_cs_val v)
{
    tc_cs_val c = times(s, v, 4097), d = ti_cs_sub(s, c, v);
    return ti_cs_sub(s, c, d);
}

static tc_cs_val place_there(tc_cs *s, form f, float step, tc_cs_val o)
{
    tc_cs_val number = ti_cs_to(s, TC_CS_F32, o);
    if (f == BY_STEP)
        return times(s, number, (double)step);
    tc_cs_val b = plus(s, number, 0.5), p = times(s, b, (double)step), at = plus(s, p, -0.5);
    if (f == BY_HALVES)
        return at;
    float ah = upper(step), al = step - ah;
    tc_cs_val bh = upper_of(s, b), bl = ti_cs_sub(s, b, bh);
    tc_cs_val e = ti_cs_sub(s, times(s, bh, (double)ah), p);
    e = ti_cs_add(s, e, times(s, bl, (double)ah));
    e = ti_cs_add(s, e, times(s, bh, (double)al));
    e = ti_cs_add(s, e, times(s, bl, (double)al));
    tc_cs_val z = ti_cs_sub(s, at, p), y = ti_cs_sub(s, at, z), y1 = ti_cs_sub(s, p, y);
    tc_cs_val y2 = ti_cs_sub(s, ti_cs_real(s, -0.5), z);
    return ti_cs_add(s, at, ti_cs_add(s, ti_cs_add(s, y1, y2), e));
}

/* Output o by the form, without the table; weights of cubic taps are listed. */
static bool same_here(tc_resize_kind kind, const tc_resize_axis *a, float at, int64_t o)
{
    int64_t last = a->in - 1;
    bool exact = kind == TC_RESIZE_NEAREST_EXACT;
    volatile float up = at + 0.5f;
    if (kind == TC_RESIZE_CUBIC) {
        int64_t low = (int64_t)floorf(at) - 1;
        for (int i = 0; i < 4; i++)
            if (ti_min_i64(ti_max_i64(low + i, 0), last) != a->place[4 * o + i])
                return false;
        return true;
    }
    at = at < 0 ? 0 : at;
    if (kind != TC_RESIZE_LINEAR) {
        float low = floorf(exact ? up : at);
        return (low >= (float)last ? last : low < 0 ? 0 : (int64_t)low) == a->place[o];
    }
    int64_t lo = at >= (float)last ? last : (int64_t)at;
    volatile float part = at - (float)lo;
    part = part > 1 ? 1 : part;
    return lo == a->place[2 * o] && part == (float)a->weight[2 * o + 1] &&
           1 - part == (float)a->weight[2 * o];
}

static form form_of(tc_resize_kind kind, const tc_resize_axis *a, float step, bool align)
{
    bool by_step = align || kind == TC_RESIZE_NEAREST ||
                   (kind == TC_RESIZE_LINEAR && a->in == a->out);
    for (form f = by_step ? BY_STEP : BY_HALVES; f <= (by_step ? BY_STEP : BY_PARTS); f++) {
        int64_t o = 0;
        while (o < a->out && same_here(kind, a, place_here(f, step, o), o))
            o++;
        if (o == a->out)
            return f;
    }
    return BY_LIST;
}

/* An inline list: n taps for each output, of the first `period` outputs. */
static tc_cs_list whole_list(tc_cs *s, const tc_resize_axis *a, int64_t period, bool weights)
{
    int64_t n = period * a->taps;
    tc_dtype dtype = weights ? TC_f32 : TC_i32;
    tc_tensor t = ti_tensor_new(&s->ctx->scratch, ti_type_make(s->ctx, dtype, 1, &n));
    for (int64_t i = 0; i < n; i++)
        if (weights)
            ti_store_f64(t, i, (double)(float)a->weight[i]);
        else
            ti_store_i64(t, i, a->place[i]);
    return (tc_cs_list){t, 0};
}

/* The period of the weights in outputs. */
static int64_t period_of(const tc_resize_axis *a)
{
    for (int64_t p = 1; p < a->out; p++) {
        int64_t i = p * a->taps;
        while (i < a->out * a->taps && a->weight[i] == a->weight[i - p * a->taps])
            i++;
        if (i == a->out * a->taps)
            return p;
    }
    return a->out;
}

static tc_cs_val limited(tc_cs *s, tc_cs_val place, int64_t last)
{
    tc_cs_val zero = ti_cs_i32(s, 0), end = ti_cs_i32(s, last);
    place = ti_cs_select(s, ti_cs_less(s, place, zero), zero, place);
    return ti_cs_select(s, ti_cs_less(s, place, end), place, end);
}

static taps listed(tc_cs *s, const tc_resize_axis *a, tc_cs_val o)
{
    taps t = {.n = a->taps};
    tc_cs_list place = whole_list(s, a, a->out, false), weight = whole_list(s, a, a->out, true);
    tc_cs_val first = ti_cs_mul(s, o, ti_cs_i32(s, a->taps));
    for (int i = 0; i < a->taps; i++) {
        tc_cs_val k = ti_cs_add(s, first, ti_cs_i32(s, i));
        t.place[i] = ti_cs_item(s, &place, k);
        t.weight[i] = ti_cs_item(s, &weight, k);
    }
    return t;
}

/* Four indices around `at`, with periodic weights. */
static taps cubic_taps(tc_cs *s, const tc_resize_axis *a, tc_cs_val at, tc_cs_val o)
{
    taps t = {.n = 4};
    int64_t period = period_of(a);
    tc_cs_list weight = whole_list(s, a, period, true);
    tc_cs_val low = ti_cs_to(s, TC_CS_I32, ti_cs_ext(s, TC_GLSL_Floor, at, nothing));
    tc_cs_val four = ti_cs_i32(s, 4), first = ti_cs_mul(s, ti_cs_rest(s, o, period), four);
    for (int i = 0; i < 4; i++) {
        t.place[i] = limited(s, ti_cs_add(s, low, ti_cs_i32(s, i - 1)), a->in - 1);
        t.weight[i] = ti_cs_item(s, &weight, ti_cs_add(s, first, ti_cs_i32(s, i)));
    }
    return t;
}

/* The indices and weights of output o. */
static taps taps_of(tc_cs *s, tc_resize_kind kind, const tc_resize_axis *a, float step, bool align,
                    tc_cs_val o)
{
    taps t = {.n = a->taps};
    form f = form_of(kind, a, step, align);
    if (f == BY_LIST)
        return listed(s, a, o);
    tc_cs_val at = place_there(s, f, step, o), zero = ti_cs_real(s, 0), one = ti_cs_real(s, 1);
    if (kind == TC_RESIZE_CUBIC)
        return cubic_taps(s, a, at, o);
    at = ti_cs_select(s, ti_cs_less(s, at, zero), zero, at);
    if (kind == TC_RESIZE_NEAREST_EXACT)
        at = plus(s, at, 0.5);
    tc_cs_val low = ti_cs_to(s, TC_CS_I32, ti_cs_ext(s, TC_GLSL_Floor, at, nothing));
    t.place[0] = limited(s, low, a->in - 1);
    t.weight[0] = one;
    if (kind != TC_RESIZE_LINEAR)
        return t;
    tc_cs_val part = ti_cs_sub(s, at, ti_cs_to(s, TC_CS_F32, t.place[0]));
    part = ti_cs_select(s, ti_cs_less(s, one, part), one, part);
    t.place[1] = limited(s, ti_cs_add(s, t.place[0], ti_cs_i32(s, 1)), a->in - 1);
    t.weight[0] = ti_cs_sub(s, one, part);
    t.weight[1] = part;
    return t;
}

/* Where every axis of the result reads. */
static tc_cs_val spread_taps(tc_cs *s, const tc_node *node, tc_cs_val at, taps t[3],
                             int64_t extent[3])
{
    const tc_attr_upsample *a = node->attr;
    const tc_type *x = ti_cs_type(s, 0), *y = ti_cs_type(s, 1);
    tc_cs_val c[TC_MAX_RANK], zero = ti_cs_i32(s, 0), one = ti_cs_real(s, 1);
    int first = 3 - a->size.n;
    int64_t plane = 1;
    ti_cs_split(s, y, at, c);
    for (int i = 0; i < 3; i++) {
        extent[i] = i < first ? 1 : x->dim[2 + i - first];
        plane *= extent[i];
        t[i] = (taps){.n = 1, .place = {zero}, .weight = {one}};
        if (i < first)
            continue;
        tc_resize_kind kind = ti_resize_kind(node->op);
        bool align =
            a->align_corners && (kind == TC_RESIZE_LINEAR || kind == TC_RESIZE_CUBIC);
        tc_resize_axis axis =
            ti_resize_axis_of(&s->ctx->scratch, kind, a, i - first, extent[i], false);
        float step = kind == TC_RESIZE_LINEAR && axis.in == axis.out
                         ? 1
                         : step_of(a, i - first, &axis, align);
        t[i] = taps_of(s, kind, &axis, step, align, c[2 + i - first]);
    }
    tc_cs_val channel = ti_cs_part(s, at, tc_type_count(y) / (y->dim[0] * y->dim[1]));
    return ti_cs_mul(s, channel, ti_cs_i32(s, plane));
}

/* sum_i w_i sum_j w_j sum_k w_k x, from the last axis on. */
void ti_cs_resample(tc_cs *s, const tc_node *node, tc_cs_val at)
{
    taps t[3];
    int64_t extent[3];
    tc_cs_val base = spread_taps(s, node, at, t, extent), sum = ti_cs_real(s, 0);
    for (int i = 0; i < t[0].n; i++) {
        tc_cs_val part = ti_cs_real(s, 0);
        for (int j = 0; j < t[1].n; j++) {
            tc_cs_val along = ti_cs_real(s, 0);
            tc_cs_val line = line_of(s, extent, base, t[0].place[i], t[1].place[j]);
            for (int k = 0; k < t[2].n; k++) {
                tc_cs_val v = ti_cs_load(s, 0, ti_cs_add(s, line, t[2].place[k]));
                v = ti_cs_mul(s, t[2].weight[k], ti_cs_to(s, TC_CS_F32, v));
                along = ti_cs_add(s, along, v);
            }
            part = ti_cs_add(s, part, ti_cs_mul(s, t[1].weight[j], along));
        }
        sum = ti_cs_add(s, sum, ti_cs_mul(s, t[0].weight[i], part));
    }
    ti_cs_store(s, 1, at, sum);
}

/* The one element that is read, as stored. */
void ti_cs_nearest(tc_cs *s, const tc_node *node, tc_cs_val at)
{
    taps t[3];
    int64_t extent[3];
    tc_cs_val base = spread_taps(s, node, at, t, extent);
    tc_cs_val line = line_of(s, extent, base, t[0].place[0], t[1].place[0]);
    tc_cs_val place = ti_cs_add(s, line, t[2].place[0]);
    ti_cs_store(s, 1, at, ti_cs_load(s, 0, place));
}
