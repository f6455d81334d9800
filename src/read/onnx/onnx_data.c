/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_data.c -- operators whose number of result rows depends on the data: computed here, from
 * constants or from the data that the model is read for. */
#include <math.h>

#include "../../num/load.h"
#include "onnx.h"

/* ---- NonZero, Compress: onnx_index.c; Unique ---- */

typedef struct rows {
    tc_tensor t;
    int axis; /* of rows; -1: every number by itself */
    int64_t count, outer, inner;
} rows;

/* Number k of row r. */
static double number(const rows *s, int64_t r, int64_t k)
{
    int64_t o = k / s->inner, i = k % s->inner;
    return ti_load_f64(s->t, (o * s->count + r) * s->inner + i);
}

static int compare(const rows *s, int64_t a, int64_t b)
{
    for (int64_t k = 0; k < s->outer * s->inner; k++) {
        double x = number(s, a, k), y = number(s, b, k);
        if (x != y)
            return x < y || (isnan(y) && !isnan(x)) ? -1 : 1;
    }
    return 0;
}

/* By value, ties by index: merge sort of place[0 .. n). */
static void sort_rows(const rows *s, int64_t *place, int64_t *other, int64_t n)
{
    if (n < 2)
        return;
    int64_t half = n / 2, a = 0, b = half;
    sort_rows(s, place, other, half);
    sort_rows(s, place + half, other, n - half);
    for (int64_t k = 0; k < n; k++)
        other[k] = b >= n || (a < half && compare(s, place[a], place[b]) <= 0) ? place[a++]
                                                                                : place[b++];
    memcpy(place, other, (size_t)n * sizeof *place);
}

void ti_onnx_build_unique(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    rows s = {.axis = -1, .outer = 1, .inner = 1};
    tc_val x = ti_onnx_need(n, 0);
    if (!ti_onnx_settled_tensor(n, 0, &s.t))
        return;
    const tc_type *t = s.t.type;
    s.count = tc_type_count(t);
    if (ti_onnx_has(n, "axis") && t->rank) {
        s.axis = ti_b_axis(m, ti_onnx_int(n, "axis", 0), t->rank);
        s.count = t->dim[s.axis];
        for (int i = 0; i < t->rank; i++)
            *(i < s.axis ? &s.outer : &s.inner) *= i == s.axis ? 1 : t->dim[i];
    }
    tc_arena *arena = &m->ctx->arena;
    size_t all = (size_t)s.count;
    int64_t *place = tc_new_n(arena, int64_t, all), *other = tc_new_n(arena, int64_t, all),
            *group = tc_new_n(arena, int64_t, all), *first = tc_new_n(arena, int64_t, all),
            *many = tc_new_n(arena, int64_t, all), found = 0;
    for (int64_t i = 0; i < s.count; i++)
        place[i] = i;
    sort_rows(&s, place, other, s.count);
    for (int64_t i = 0; i < s.count; i++) {
        if (!i || compare(&s, place[i - 1], place[i]) != 0)
            first[found++] = place[i];
        group[place[i]] = found - 1;
        many[found - 1]++;
    }
    if (!ti_onnx_int(n, "sorted", 1)) { /* in the order in which they appear */
        int64_t *renamed = other, *f = tc_new_n(arena, int64_t, all),
                *c = tc_new_n(arena, int64_t, all);
        int64_t next = 0;
        for (int64_t i = 0; i < s.count; i++)
            if (first[group[i]] == i) {
                f[next] = i;
                c[next] = many[group[i]];
                renamed[group[i]] = next++;
            }
        for (int64_t i = 0; i < s.count; i++)
            group[i] = renamed[group[i]];
        first = f;
        many = c;
    }
    tc_val at = ti_b_list(m, first, found);
    x = s.axis < 0 ? ti_b_flat(m, x) : x;
    tc_attr_axis *axis = ti_b_attr(m, axis, s.axis < 0 ? 0 : s.axis);
    ti_onnx_bind(n, 0, ti_b_2(m, index_select, axis, x, at));
    ti_onnx_bind(n, 1, at);
    if (ti_onnx_wants(n, 2))
        ti_onnx_bind(n, 2, ti_b_list(m, group, s.count));
    if (ti_onnx_wants(n, 3))
        ti_onnx_bind(n, 3, ti_b_list(m, many, found));
}

/* ---- NonMaxSuppression ---- */

typedef struct box {
    double lo[2], hi[2];
} box;

static box box_at(tc_tensor boxes, int64_t i, bool centre)
{
    double v[4];
    box b;
    for (int k = 0; k < 4; k++)
        v[k] = ti_load_f64(boxes, 4 * i + k);
    for (int k = 0; k < 2; k++) {
        double from = centre ? v[k] - v[2 + k] / 2 : v[k],
               to = centre ? v[k] + v[2 + k] / 2 : v[2 + k];
        b.lo[k] = fmin(from, to);
        b.hi[k] = fmax(from, to);
    }
    return b;
}

static double overlap(box a, box b)
{
    double shared = 1, own = 1, others = 1;
    for (int k = 0; k < 2; k++) {
        shared *= fmax(0, fmin(a.hi[k], b.hi[k]) - fmax(a.lo[k], b.lo[k]));
        own *= a.hi[k] - a.lo[k];
        others *= b.hi[k] - b.lo[k];
    }
    double all = own + others - shared;
    return all > 0 ? shared / all : 0;
}

/* Takes the best of the rest, then drops all that overlap it; ties by order. */
static int64_t pick_boxes(tc_tensor boxes, tc_tensor scores, int64_t first_box, int64_t first_score,
                          int64_t count, int64_t most, double iou, double least, bool centre,
                          bool *gone, int64_t *out)
{
    int64_t picked = 0;
    for (int64_t i = 0; i < count; i++)
        gone[i] = !(ti_load_f64(scores, first_score + i) > least);
    while (picked < most) {
        int64_t best = -1;
        for (int64_t i = 0; i < count; i++)
            if (!gone[i] && (best < 0 || ti_load_f64(scores, first_score + i) >
                                             ti_load_f64(scores, first_score + best)))
                best = i;
        if (best < 0)
            break;
        out[picked++] = best;
        box chosen = box_at(boxes, first_box + best, centre);
        for (int64_t i = 0; i < count; i++)
            gone[i] = gone[i] || i == best ||
                      (float)overlap(chosen, box_at(boxes, first_box + i, centre)) > (float)iou;
    }
    return picked;
}

void ti_onnx_build_nms(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_tensor boxes, scores;
    if (!ti_onnx_settled_tensor(n, 0, &boxes) || !ti_onnx_settled_tensor(n, 1, &scores))
        return;
    int64_t most = ti_onnx_settled_int(n, 2, 0);
    tc_floats iou = ti_onnx_has_in(n, 3) ? ti_onnx_settled_floats(n, 3) : (tc_floats){0, NULL};
    tc_floats least = ti_onnx_has_in(n, 4) ? ti_onnx_settled_floats(n, 4) : (tc_floats){0, NULL};
    bool centre = ti_onnx_int(n, "center_point_box", 0);
    TC_STOP(m);
    const tc_type *b = boxes.type, *s = scores.type;
    if (b->rank != 3 || s->rank != 3 || b->dim[2] != 4 || b->dim[0] != s->dim[0] ||
        b->dim[1] != s->dim[2]) {
        ti_b_bad(m, TC_E_SHAPE, "boxes and scores have incompatible shapes");
        return;
    }
    int64_t count = b->dim[1], classes = s->dim[1], found = 0;
    most = ti_max_i64(0, ti_min_i64(most, count));
    tc_arena *arena = &m->ctx->arena;
    bool *gone = tc_new_n(arena, bool, (size_t)count);
    int64_t *one = tc_new_n(arena, int64_t, (size_t)most),
            *all = tc_new_n(arena, int64_t, 3 * (size_t)(b->dim[0] * classes * most));
    for (int64_t i = 0; i < b->dim[0] * classes; i++) {
        int64_t picked = pick_boxes(boxes, scores, i / classes * count, i * count, count, most,
                                    iou.n ? iou.v[0] : 0, least.n ? least.v[0] : -INFINITY, centre,
                                    gone, one);
        for (int64_t k = 0; k < picked; k++) {
            all[3 * found] = i / classes;
            all[3 * found + 1] = i % classes;
            all[3 * found++ + 2] = one[k];
        }
    }
    tc_tensor t = ti_b_tensor(m, TC_i64, 2, (int64_t[]){found, 3});
    if (found)
        memcpy(t.data, all, (size_t)found * 3 * sizeof *all);
    ti_onnx_bind(n, 0, ti_b_const(m, t, NULL));
}

/* The same bits as elements of another type of equal width. */
void ti_onnx_build_bit_cast(tc_onnx_node *n)
{
    tc_tensor t;
    tc_dtype dtype = ti_onnx_need_dtype(n, ti_onnx_int(n, "to", 0));
    if (n->m.status != TC_OK || !ti_onnx_settled_tensor(n, 0, &t))
        return;
    if (tc_dtypes[dtype].bytes != tc_dtypes[t.type->dtype].bytes) {
        ti_b_bad(&n->m, TC_E_TYPE, "the bits of %s as %s", tc_dtypes[t.type->dtype].name,
                 tc_dtypes[dtype].name);
        return;
    }
    tc_tensor out = ti_b_tensor(&n->m, dtype, t.type->rank, t.type->dim);
    memcpy(out.data, t.data, tc_type_bytes(out.type));
    ti_onnx_bind(n, 0, ti_b_const(&n->m, out, NULL));
}
