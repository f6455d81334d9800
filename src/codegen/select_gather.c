/* SPDX-License-Identifier: Apache-2.0 */
/* select_gather.c -- GATHER and SCATTER: rows [n, k, c] selected by indices [n, w].
 *
 *   U85   DMAs whose source or destination is indexed
 *   U55   constant indices: copies of rows at equal distances */
#include "select.h"

enum { MOST_ROWS = 65535 };

static bool has_rows(const tc_view *v)
{
    return v->dim[v->rank - 1] == 1 || v->stride[v->rank - 1] == 1;
}

/* ---- U85 ---- */

typedef struct moving {
    tc_sel *s;
    const tc_node *node;
    bool scatters; /* the destination is what is indexed */
    tc_view index; /* [n, w], w contiguous */
} moving;

/* Indices [w, w + rows) of planes [n, n + planes). */
static void move_part(const moving *m, const tc_view *from, const tc_view *to, int64_t n, int64_t w,
                      int64_t planes, int64_t rows)
{
    tc_hw *hw = m->s->hw;
    int64_t e = hw->root[from->root].bytes;
    const tc_view *named = m->scatters ? to : from;
    tc_hw_op op = ti_sel_op(m->s, m->node, TC_NPU_KIND_DMA, 0);
    op.ifm = ti_view_slice(from, 0, n, planes);
    op.ofm = ti_view_slice(to, 0, n, planes);
    op.ifm2 = ti_view_slice(&m->index, 0, n, planes);
    op.ifm2 = ti_view_slice(&op.ifm2, 1, w, rows);
    tc_view *other = m->scatters ? &op.ifm : &op.ofm;
    *other = ti_view_slice(other, 1, w, rows);
    hw->root[from->root].h = hw->root[to->root].h = hw->root[m->index.root].h = 0; /* linear */
    op.op.dma = (tc_npu_dma){.src_indexed = !m->scatters,
                             .dst_indexed = m->scatters,
                             .src = (uint64_t)(op.ifm.at * e),
                             .dst = (uint64_t)(op.ofm.at * e),
                             .bytes = (uint64_t)(from->dim[2] * e),
                             .rows = rows,
                             .planes = planes,
                             .src_row = from->stride[1] * e,
                             .src_plane = from->stride[0] * e,
                             .dst_row = to->stride[1] * e,
                             .dst_plane = to->stride[0] * e,
                             .index = (uint64_t)(op.ifm2.at * 4),
                             .index_max = named->dim[1] - 1,
                             .index_skip = 4 * (m->index.stride[0] - rows)};
    if (planes == 1)
        op.op.dma.index_skip = 0;
    ti_sel_emit(m->s, &op);
}

static void move_rows(const moving *m, const tc_view *from, const tc_view *to)
{
    int64_t n = m->index.dim[0], w = m->index.dim[1];
    for (int64_t j = 0; j < n; j += MOST_ROWS)
        for (int64_t i = 0; i < w; i += MOST_ROWS)
            move_part(m, from, to, j, i, ti_min_i64(MOST_ROWS, n - j),
                      ti_min_i64(MOST_ROWS, w - i));
}

/* Indices of a plane contiguous, planes one after the other. */
static tc_view indices(tc_sel *s, const tc_node *node, tc_val v)
{
    tc_view index = ti_sel_view(s, v);
    if (s->hw->refused)
        return index;
    if (ti_view_is_dense(&index)) { /* strides of axes of extent 1 are unused */
        index.stride[1] = 1;
        index.stride[0] = index.dim[1];
        return index;
    }
    tc_view dense = ti_sel_working(s, "indices", 4, index.rank, index.dim);
    ti_sel_copy(s, node, &index, &dense);
    return dense;
}

/* ---- U55: constant indices ---- */

/* Runs of rows at one distance, in the view that is indexed and in the other. */
static void copy_runs(tc_sel *s, const tc_node *node, const int64_t *index, int64_t w, tc_view named,
                      tc_view other, bool scatters)
{
    for (int64_t i = 0, n; i < w && !s->hw->refused; i += n) {
        int64_t step = i + 1 < w ? index[i + 1] - index[i] : 1;
        step = step < (scatters ? 1 : 0) ? 1 : step;
        for (n = 1; i + n < w && index[i + n] == index[i] + n * step; n++)
            ;
        tc_view a = ti_view_slice(&named, 0, index[i], n), b = ti_view_slice(&other, 0, i, n);
        a.stride[0] *= n > 1 ? step : 1;
        if (scatters)
            ti_sel_copy(s, node, &b, &a);
        else if (step || n == 1)
            ti_sel_copy(s, node, &a, &b);
        else
            ti_sel_spread(s, node, &a, &b);
    }
}

static void copy_rows(tc_sel *s, const tc_node *node, const tc_view *named, const tc_view *other,
                      bool scatters)
{
    int64_t n;
    const int64_t *index = ti_sel_numbers(s, node->in[1], &n);
    if (!index) {
        ti_hw_refuse(s->hw, node, "its indices are not constant");
        return;
    }
    int64_t w = other->dim[1];
    for (int64_t i = 0; i < n; i++)
        if (index[i] < 0 || index[i] >= named->dim[1]) {
            ti_hw_refuse(s->hw, node, "an index is out of range");
            return;
        }
    for (int64_t j = 0; j < other->dim[0]; j++)
        copy_runs(s, node, index + j * w, w, ti_view_at(named, j), ti_view_at(other, j), scatters);
}

/* ---- the rules ---- */

static void move(tc_sel *s, const tc_node *node, const tc_view *from, const tc_view *to,
                 bool scatters)
{
    if (s->hw->refused || !ti_view_count(from) || !ti_view_count(to))
        return;
    if (!ti_hw_is_u85(s->hw)) {
        copy_rows(s, node, scatters ? to : from, scatters ? from : to, scatters);
        return;
    }
    moving m = {s, node, scatters, indices(s, node, node->in[1])};
    if (!s->hw->refused)
        move_rows(&m, from, to);
}

/* The result where its rows are contiguous; `place`: where it should be. */
static tc_view result_rows(tc_sel *s, const tc_node *node, tc_view *place)
{
    *place = ti_sel_result(s, node->out[0]);
    return has_rows(place) ? *place
                           : ti_sel_working(s, "rows", s->hw->root[place->root].bytes, place->rank,
                                            place->dim);
}

void ti_npu_select_gather(tc_sel *s, const tc_node *node)
{
    tc_view from = ti_sel_channels(s, node, node->in[0]), place;
    if (s->hw->refused)
        return;
    tc_view to = result_rows(s, node, &place);
    move(s, node, &from, &to, false);
    if (to.root != place.root)
        ti_sel_copy(s, node, &to, &place);
}

void ti_npu_select_scatter(tc_sel *s, const tc_node *node)
{
    tc_view before = ti_sel_view(s, node->in[0]),
            from = ti_sel_channels(s, node, node->in[2]), place;
    if (s->hw->refused)
        return;
    tc_view to = result_rows(s, node, &place);
    ti_sel_copy(s, node, &before, &to);
    move(s, node, &from, &to, true);
    if (to.root != place.root)
        ti_sel_copy(s, node, &to, &place);
}
