/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_hlo.c -- builders of StableHLO's operators that the runtime has kernels for:
 * STABLEHLO_PAD, STABLEHLO_GATHER, STABLEHLO_REDUCE_WINDOW; and REDUCE_WINDOW, DILATE.
 *
 * A reduction of windows is built tap by tap, from the first number of a window to its last. */
#include "../../num/load.h"
#include "tflite_program.h"

/* Integers of 64 bits among the options; as many as there are axes, or a message. */
static tc_ints longs(tc_tfl_node *n, uint32_t field, int count)
{
    tc_fb_vector list = ti_fb_list(n->opt, field, 8);
    int64_t *v = tc_new_n(&n->m.ctx->arena, int64_t, list.n + 1);
    for (size_t i = 0; i < list.n; i++)
        v[i] = (int64_t)ti_fb_list_u64(list, i);
    bool fits = list.n <= 2 * TC_MAX_RANK && (count < 0 || list.n == (size_t)count);
    if (n->m.status == TC_OK && !fits)
        ti_b_bad(&n->m, TC_E_ARGUMENT, "%zu numbers where %d are expected", list.n, count);
    return (tc_ints){(int32_t)ti_min_i64((int64_t)list.n, 2 * TC_MAX_RANK), v};
}

/* ---- borders ---- */

/* Whether all are from lo to hi. */
static bool within(tc_ints v, int64_t lo, int64_t hi)
{
    for (int i = 0; i < v.n; i++)
        if (v.v[i] < lo || v.v[i] > hi)
            return false;
    return true;
}

/* Steps of d along an axis: d - 1 times the number between each two. */
static tc_val dilated(tc_build *m, tc_val x, tc_val number, tc_ints step)
{
    TC_STOP_WITH(m, TC_NONE);
    const tc_type *t = ti_b_type(m, x);
    int rank = t->rank;
    int64_t dim[TC_MAX_RANK], all = tc_type_count(t);
    bool fits = step.n == rank && tc_type_count(ti_b_type(m, number)) == 1 && rank < TC_MAX_RANK &&
                within(step, 1, INT32_MAX);
    for (int i = 0; i < rank && fits; i++) {
        dim[i] = t->dim[i];
        fits = dim[i] > 0 && all <= INT32_MAX / step.v[i];
        all *= fits ? step.v[i] : 1;
    }
    if (!fits) {
        ti_b_bad(m, TC_E_SHAPE, "%d steps for a tensor of rank %d", step.n, rank);
        return TC_NONE;
    }
    for (int i = 0; i < rank && m->status == TC_OK; i++) {
        if (step.v[i] == 1)
            continue;
        int64_t wide[TC_MAX_RANK];
        for (int k = 0; k <= rank; k++)
            wide[k] = k <= i ? dim[k] : k == i + 1 ? step.v[i] - 1 : dim[k - 1];
        tc_val flat = ti_b_flat(m, number);
        tc_val gap = ti_b_expand(m, flat, rank + 1, wide);
        tc_val pair[2] = {ti_b_unsqueeze(m, x, i + 1), gap};
        x = ti_b_cat(m, i + 1, pair, 2);
        dim[i] *= step.v[i];
        x = ti_b_reshape(m, x, rank, dim);
        dim[i] -= step.v[i] - 1;
        x = ti_b_slice(m, x, i, 0, dim[i], 1);
    }
    return x;
}

/* The scalar before and after, lo and hi times; negative ones crop. */
static tc_val bordered(tc_build *m, tc_val x, tc_val number, const int64_t *lo, const int64_t *hi)
{
    for (int i = 0; m->status == TC_OK && i < ti_b_type(m, x)->rank; i++) {
        const tc_type *t = ti_b_type(m, x);
        const int64_t most = INT32_MAX / 4, extra[2] = {lo[i], hi[i]};
        if (lo[i] < -most || hi[i] < -most || lo[i] > most || hi[i] > most ||
            t->dim[i] + lo[i] + hi[i] < 0) {
            ti_b_bad(m, TC_E_SHAPE, "borders of %" PRId64 " and %" PRId64 " on %" PRId64 " places",
                     lo[i], hi[i], t->dim[i]);
            return TC_NONE;
        }
        tc_val part[3] = {TC_NONE, x, TC_NONE};
        for (int k = 0; k < 2; k++) {
            int64_t dim[TC_MAX_RANK];
            memcpy(dim, t->dim, sizeof dim);
            dim[i] = extra[k];
            if (extra[k] > 0)
                part[2 * k] = ti_b_expand(m, ti_b_flat(m, number), t->rank, dim);
        }
        int first = !part[0], n = 1 + (part[0] != TC_NONE) + (part[2] != TC_NONE);
        x = n > 1 ? ti_b_cat(m, i, part + first, n) : x;
        if (m->status == TC_OK && (lo[i] < 0 || hi[i] < 0)) {
            int64_t all = ti_b_type(m, x)->dim[i];
            x = ti_b_slice(m, x, i, lo[i] < 0 ? -lo[i] : 0, hi[i] < 0 ? all + hi[i] : all, 1);
        }
    }
    return x;
}

void ti_tfl_build_dilate(tc_tfl_node *n)
{
    tc_val x = ti_tfl_plain(n, 0), number = ti_tfl_plain(n, 2);
    tc_ints step = ti_tfl_settled(n, 1);
    ti_tfl_bind_plain(n, 0, dilated(&n->m, x, number, step));
}

void ti_tfl_build_hlo_pad(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_plain(n, 0), number = ti_tfl_plain(n, 1);
    TC_STOP(m);
    int rank = ti_b_type(m, x)->rank;
    tc_ints lo = longs(n, 0, rank), hi = longs(n, 1, rank), gap = longs(n, 2, rank);
    if (m->status != TC_OK || tc_type_count(ti_b_type(m, number)) != 1 ||
        !within(gap, 0, INT32_MAX - 1)) {
        ti_b_bad(m, TC_E_ARGUMENT, "borders of other than one number, or gaps below none");
        return;
    }
    int64_t *step = tc_new_n(&m->ctx->arena, int64_t, (size_t)rank + 1);
    for (int i = 0; i < rank; i++)
        step[i] = gap.v[i] + 1;
    x = dilated(m, x, number, (tc_ints){rank, step});
    ti_tfl_bind_plain(n, 0, bordered(m, x, number, lo.v, hi.v));
}

/* ---- windows ---- */

typedef struct windows {
    tc_ints size, stride, dilation;
    tc_op op;      /* what combines two elements, or */
    int64_t graph; /* a graph that does */
} windows;

static tc_val joined(tc_tfl_node *n, const windows *w, tc_val a, tc_val b)
{
    if (w->op != TC_OP_COUNT)
        return ti_b_binary(&n->m, w->op, a, b);
    tc_val out = TC_NONE;
    ti_tfl_inline(n, w->graph, (tc_val[]){a, b}, 2, &out, 1);
    return out;
}

/* From the first number on, tap by tap. */
static tc_val reduced(tc_tfl_node *n, tc_val x, tc_val first, const windows *w)
{
    enum { MOST_TAPS = 1 << 12 };
    tc_build *m = &n->m;
    TC_STOP_WITH(m, TC_NONE);
    const tc_type *t = ti_b_type(m, x);
    int64_t out[TC_MAX_RANK], taps = 1;
    bool fits = w->size.n == t->rank && w->stride.n == t->rank && w->dilation.n == t->rank &&
                within(w->size, 1, 1 << 20) && within(w->stride, 1, 1 << 20) &&
                within(w->dilation, 1, 1 << 20) && tc_type_count(ti_b_type(m, first)) == 1;
    for (int i = 0; i < t->rank && fits; i++) {
        int64_t reach = (w->size.v[i] - 1) * w->dilation.v[i] + 1;
        out[i] = (t->dim[i] - reach) / w->stride.v[i] + 1;
        taps *= w->size.v[i];
        fits = t->dim[i] >= reach && taps <= MOST_TAPS;
    }
    if (!fits) {
        ti_b_unsupported(m, "windows that do not fit %s, or of more than %d numbers",
                         ti_type_text(&m->ctx->arena, t), MOST_TAPS);
        return TC_NONE;
    }
    tc_val y = ti_b_expand(m, ti_b_flat(m, first), t->rank, out);
    for (int64_t k = 0; k < taps && m->status == TC_OK; k++) {
        int64_t rest = k;
        tc_val part = x;
        for (int i = t->rank - 1; i >= 0; i--) {
            int64_t at = rest % w->size.v[i] * w->dilation.v[i];
            rest /= w->size.v[i];
            part =
                ti_b_slice(m, part, i, at, at + (out[i] - 1) * w->stride.v[i] + 1, w->stride.v[i]);
        }
        y = joined(n, w, y, part);
    }
    return y;
}

void ti_tfl_build_reduce_window(tc_tfl_node *n)
{
    static const tc_op op[] = {TC_OP_COUNT,   TC_OP_add,         TC_OP_mul,       TC_OP_minimum,
                               TC_OP_maximum, TC_OP_logical_and, TC_OP_logical_or};
    int which = ti_tfl_enum(n, 0) ? ti_tfl_enum(n, 0) : (int)ti_tfl_int(n, 0, 0);
    tc_val x = ti_tfl_plain(n, 0), first = ti_tfl_plain(n, 1);
    windows w = {.op = TC_OP_COUNT};
    w.size = ti_tfl_settled(n, 2);
    w.stride = ti_tfl_settled(n, 3);
    w.dilation = ti_tfl_settled(n, 4);
    if (which < 1 || which >= (int)TC_COUNT(op)) {
        ti_b_unsupported(&n->m, "a reduction of kind %d", which);
        return;
    }
    w.op = op[which];
    ti_tfl_bind_plain(n, 0, reduced(n, x, first, &w));
}

void ti_tfl_build_hlo_reduce_window(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_plain(n, 0), first = ti_tfl_plain(n, 1);
    TC_STOP(m);
    int rank = ti_b_type(m, x)->rank;
    windows w = {.size = longs(n, 0, rank),
                 .stride = longs(n, 1, rank),
                 .dilation = longs(n, 3, rank),
                 .op = TC_OP_COUNT,
                 .graph = ti_tfl_int(n, 5, 0)};
    tc_ints base = longs(n, 2, rank), pad = longs(n, 4, 2 * rank);
    TC_STOP(m);
    int64_t lo[TC_MAX_RANK], hi[TC_MAX_RANK];
    for (int i = 0; i < rank; i++) {
        lo[i] = pad.v[2 * i];
        hi[i] = pad.v[2 * i + 1];
    }
    x = dilated(m, x, first, base);
    x = bordered(m, x, first, lo, hi);
    ti_tfl_bind_plain(n, 0, reduced(n, x, first, &w));
}

/* ---- indices ---- */

static int place_in(tc_ints list, int64_t v)
{
    for (int i = 0; i < list.n; i++)
        if (list.v[i] == v)
            return i;
    return -1;
}

/* Slices of one size that begin at the indices of the second input, clamped. */
void ti_tfl_build_hlo_gather(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_plain(n, 0), start = ti_tfl_need(n, 1);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x), *s = ti_b_type(m, start);
    tc_ints offset = longs(n, 0, -1), gone = longs(n, 1, -1), map = longs(n, 2, -1),
            size = longs(n, 4, t->rank);
    int64_t at = (int64_t)ti_fb_u64(n->opt, 3, 0), stride[TC_MAX_RANK], all = 1;
    bool fits = m->status == TC_OK && s->rank >= 1 && (at == s->rank - 1 || at == s->rank) &&
                map.n == (at < s->rank ? s->dim[at] : 1) && offset.n + gone.n == t->rank &&
                within(map, 0, t->rank - 1) && within(gone, 0, t->rank - 1);
    for (int i = t->rank - 1; i >= 0 && fits; i--) {
        stride[i] = all;
        all *= t->dim[i];
        fits = size.v[i] >= 1 && size.v[i] <= t->dim[i] &&
               (place_in(gone, i) < 0 || size.v[i] == 1);
    }
    if (!fits) {
        ti_b_unsupported(m, "STABLEHLO_GATHER of %s at %s", ti_type_text(&m->ctx->arena, t),
                         ti_type_text(&m->ctx->arena, s));
        return;
    }
    /* where each slice begins, in the flat list */
    int batch = at < s->rank ? s->rank - 1 : s->rank;
    int64_t rows = 1, dim[2 * TC_MAX_RANK], inner = 1;
    for (int i = 0; i < batch; i++)
        rows *= s->dim[i];
    start = ti_b_reshape(m, start, 2, (int64_t[]){rows, map.n});
    start = ti_b_cast(m, start, TC_i64);
    tc_val flat = TC_NONE;
    for (int k = 0; k < map.n && m->status == TC_OK; k++) {
        int axis = (int)map.v[k];
        tc_val v = ti_b_select(m, start, 1, k);
        v = ti_b_clamp(m, v, 0, (double)(t->dim[axis] - size.v[axis]));
        v = ti_b_mul(m, v, ti_b_scalar_i64(m, TC_i64, stride[axis]));
        flat = flat ? ti_b_add(m, flat, v) : v;
    }
    /* what follows that */
    for (int i = 0; i < t->rank; i++)
        inner *= size.v[i];
    if (m->status != TC_OK || inner < 1 || inner > INT32_MAX) {
        ti_b_bad(m, TC_E_TOO_LARGE, "slices of %" PRId64 " numbers", inner);
        return;
    }
    int64_t *behind = tc_new_n(&m->ctx->arena, int64_t, (size_t)inner);
    for (int64_t k = 0; k < inner; k++) {
        int64_t rest = k;
        for (int i = t->rank - 1; i >= 0; i--) {
            behind[k] += rest % size.v[i] * stride[i];
            rest /= size.v[i];
        }
    }
    tc_val list = ti_b_list(m, behind, inner);
    flat = flat ? ti_b_unsqueeze(m, flat, 1) : ti_b_full(m, 2, (int64_t[]){rows, 1}, 0, TC_i64);
    flat = ti_b_add(m, flat, list);
    flat = ti_b_flat(m, flat);
    tc_val y = ti_b_flat(m, x);
    y = ti_b_index_select(m, y, flat, 0);
    /* [batch..., slice...] to where the result has them */
    int rank = 0, total = batch + offset.n;
    int64_t order[2 * TC_MAX_RANK];
    if (total > TC_MAX_RANK || total < 0 || !within(offset, 0, total - 1)) {
        ti_b_unsupported(m, "a result of %d axes", total);
        return;
    }
    for (int i = 0; i < batch; i++)
        dim[rank++] = s->dim[i];
    for (int i = 0; i < t->rank; i++)
        if (place_in(gone, i) < 0)
            dim[rank++] = size.v[i];
    int b = 0;
    for (int i = 0; i < total; i++) {
        int k = place_in(offset, i);
        order[i] = k >= 0 ? batch + k : b++;
    }
    if (rank != total || b != batch) { /* an axis is named twice */
        ti_b_bad(m, TC_E_ARGUMENT, "%d axes of slices and %d of batches for %d", rank - batch, b,
                 total);
        return;
    }
    y = ti_b_reshape(m, y, rank, dim);
    ti_tfl_bind_plain(n, 0, ti_b_permute(m, y, order));
}
