/* SPDX-License-Identifier: Apache-2.0 */
/* layers.c -- layered layout: rows by longest path, edges that pass a row take a slot in it, and
 * the order inside rows is iterated to the mean of the neighbours while crossings become fewer.
 *
 * An edge over many rows takes no slots once there are more of them than items. */
#include "layers.h"

enum { SWEEPS = 8, PLACES_PER_ITEM = 6, PLACES = 4000 };

/* A slot of a row: an item, or a passing edge. */
typedef struct spot {
    uint32_t row, at;    /* at: its index in the row */
    int32_t what;        /* as the rows say it */
    uint32_t *up, *down; /* slots in the adjacent rows */
    uint32_t n_up, n_down, cap_up, cap_down;
    double wish;
} spot;

typedef struct layers {
    tc_arena *scratch;
    tc_layout_group *g;
    spot *spot;
    size_t n, cap;
    uint32_t **row;
    uint32_t *n_in;
    size_t n_row;
} layers;

/* Producers above readers, as near to them as they can be. */
static void find_rows(const tc_layout_group *g, tc_arena *scratch, uint32_t *rank)
{
    uint32_t *lowest = tc_new_n(scratch, uint32_t, g->n_item);
    bool *fed = tc_new_n(scratch, bool, g->n_item);
    size_t *first = tc_new_n(scratch, size_t, g->n_item + 2),
           *list = tc_new_n(scratch, size_t, g->n_edge + 1);
    for (size_t e = 0; e < g->n_edge; e++)
        first[g->edge[e].from + 2]++;
    for (size_t i = 2; i < g->n_item + 2; i++)
        first[i] += first[i - 1];
    for (size_t e = 0; e < g->n_edge; e++)
        list[first[g->edge[e].from + 1]++] = e;
    for (size_t i = 0; i < g->n_item; i++)
        for (size_t k = first[i]; k < first[i + 1]; k++) {
            uint32_t to = g->edge[list[k]].to;
            fed[to] = true;
            if (rank[to] < rank[i] + 1)
                rank[to] = rank[i] + 1;
        }
    for (size_t i = g->n_item; i-- > 0;) {
        lowest[i] = UINT32_MAX;
        for (size_t k = first[i]; k < first[i + 1]; k++) {
            uint32_t to = rank[g->edge[list[k]].to];
            lowest[i] = to < lowest[i] ? to : lowest[i];
        }
        if (!fed[i] && lowest[i] != UINT32_MAX)
            rank[i] = lowest[i] - 1;
    }
}

static uint32_t add_spot(layers *l, uint32_t row, int32_t what)
{
    tc_grow(l->scratch, l->spot, l->n, l->cap);
    l->spot[l->n] = (spot){.row = row, .what = what};
    return (uint32_t)l->n++;
}

static void grow_list(tc_arena *scratch, uint32_t **list, uint32_t *n, uint32_t *cap,
                      uint32_t value)
{
    size_t room = *cap;
    tc_grow(scratch, *list, *n, room);
    *cap = (uint32_t)room;
    (*list)[(*n)++] = value;
}

static void connect(layers *l, uint32_t above, uint32_t below)
{
    spot *a = &l->spot[above], *b = &l->spot[below];
    grow_list(l->scratch, &a->down, &a->n_down, &a->cap_down, below);
    grow_list(l->scratch, &b->up, &b->n_up, &b->cap_up, above);
}

static void place_edges(layers *l)
{
    size_t places = 0, most = PLACES + PLACES_PER_ITEM * l->g->n_item;
    for (size_t e = 0; e < l->g->n_edge; e++) {
        uint32_t from = l->g->edge[e].from, to = l->g->edge[e].to;
        uint32_t first = l->spot[from].row, last = l->spot[to].row, above = from;
        size_t passes = last - first - 1;
        if (places + passes > most)
            continue;
        places += passes;
        for (uint32_t r = first + 1; r < last; r++) {
            uint32_t s = add_spot(l, r, -1 - (int32_t)e);
            connect(l, above, s);
            above = s;
        }
        connect(l, above, to);
    }
}

static void fill_rows(layers *l)
{
    l->n_in = tc_new_n(l->scratch, uint32_t, l->n_row);
    l->row = tc_new_n(l->scratch, uint32_t *, l->n_row);
    for (size_t s = 0; s < l->n; s++)
        l->n_in[l->spot[s].row]++;
    for (size_t r = 0; r < l->n_row; r++) {
        l->row[r] = tc_new_n(l->scratch, uint32_t, l->n_in[r]);
        l->n_in[r] = 0;
    }
    for (size_t s = 0; s < l->n; s++) {
        uint32_t r = l->spot[s].row;
        l->spot[s].at = l->n_in[r];
        l->row[r][l->n_in[r]++] = (uint32_t)s;
    }
}

static double mean_of(const layers *l, const uint32_t *list, uint32_t n, double otherwise)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += l->spot[list[i]].at;
    return n ? sum / n : otherwise;
}

/* A stable sort of a row by what its spots wish; rows are short, or nearly sorted. */
static void sort_row(layers *l, size_t r)
{
    uint32_t *row = l->row[r], n = l->n_in[r];
    uint32_t *other = tc_new_n(l->scratch, uint32_t, n);
    for (uint32_t width = 1; width < n; width *= 2) {
        for (uint32_t from = 0; from < n; from += 2 * width) {
            uint32_t mid = from + width < n ? from + width : n,
                     end = mid + width < n ? mid + width : n;
            for (uint32_t a = from, b = mid, k = from; k < end; k++)
                other[k] = b >= end || (a < mid && l->spot[row[a]].wish <= l->spot[row[b]].wish)
                               ? row[a++]
                               : row[b++];
        }
        memcpy(row, other, n * sizeof *row);
    }
    for (uint32_t i = 0; i < n; i++)
        l->spot[row[i]].at = i;
}

static void sweep(layers *l, bool down)
{
    for (size_t i = 1; i < l->n_row; i++) {
        size_t r = down ? i : l->n_row - 1 - i;
        tc_mark mark = ti_arena_mark(l->scratch);
        for (uint32_t k = 0; k < l->n_in[r]; k++) {
            spot *s = &l->spot[l->row[r][k]];
            s->wish =
                down ? mean_of(l, s->up, s->n_up, s->at) : mean_of(l, s->down, s->n_down, s->at);
        }
        sort_row(l, r);
        ti_arena_rewind(l->scratch, mark);
    }
}

/* Pairs of edges between a row and the next that cross: inversions, counted in a Fenwick tree. */
static uint64_t crossings_below(layers *l, size_t r, uint32_t *tree)
{
    uint32_t width = l->n_in[r + 1];
    uint64_t crossings = 0, so_far = 0;
    memset(tree, 0, (width + 1) * sizeof *tree);
    for (uint32_t k = 0; k < l->n_in[r]; k++) {
        const spot *s = &l->spot[l->row[r][k]];
        for (uint32_t i = 0; i < s->n_down; i++) {
            uint64_t left = 0;
            for (uint32_t at = l->spot[s->down[i]].at + 1; at; at &= at - 1)
                left += tree[at];
            crossings += so_far - left;
        }
        for (uint32_t i = 0; i < s->n_down; i++, so_far++)
            for (uint32_t at = l->spot[s->down[i]].at + 1; at <= width; at += at & (~at + 1))
                tree[at]++;
    }
    return crossings;
}

static uint64_t crossings_of(layers *l)
{
    tc_mark mark = ti_arena_mark(l->scratch);
    uint32_t widest = 0;
    uint64_t sum = 0;
    for (size_t r = 0; r < l->n_row; r++)
        widest = l->n_in[r] > widest ? l->n_in[r] : widest;
    uint32_t *tree = tc_new_n(l->scratch, uint32_t, widest + 1);
    for (size_t r = 0; r + 1 < l->n_row; r++)
        sum += crossings_below(l, r, tree);
    ti_arena_rewind(l->scratch, mark);
    return sum;
}

static void keep_rows(const layers *l)
{
    tc_layout_group *g = l->g;
    for (size_t r = 0; r < l->n_row; r++) {
        g->n_in_row[r] = l->n_in[r];
        for (uint32_t i = 0; i < l->n_in[r]; i++)
            g->row[r][i] = l->spot[l->row[r][i]].what;
    }
}

static void reserve_rows(const layers *l, tc_arena *arena)
{
    tc_layout_group *g = l->g;
    g->n_row = l->n_row;
    g->row = tc_new_n(arena, int32_t *, l->n_row);
    g->n_in_row = tc_new_n(arena, size_t, l->n_row);
    for (size_t r = 0; r < l->n_row; r++)
        g->row[r] = tc_new_n(arena, int32_t, l->n_in[r]);
}

void ti_layers_make(tc_arena *arena, tc_arena *scratch, tc_layout_group *g)
{
    tc_mark mark = ti_arena_mark(scratch);
    layers l = {.scratch = scratch, .g = g};
    uint32_t *rank = tc_new_n(scratch, uint32_t, g->n_item + 1);
    find_rows(g, scratch, rank);
    for (size_t i = 0; i < g->n_item; i++) {
        add_spot(&l, rank[i], (int32_t)i);
        l.n_row = rank[i] + 1 > l.n_row ? rank[i] + 1 : l.n_row;
    }
    place_edges(&l);
    fill_rows(&l);
    reserve_rows(&l, arena);
    uint64_t best = crossings_of(&l);
    keep_rows(&l);
    for (int i = 0; i < SWEEPS && best; i++) {
        sweep(&l, i % 2 == 0);
        uint64_t now = crossings_of(&l);
        if (now < best) {
            best = now;
            keep_rows(&l);
        }
    }
    ti_arena_rewind(scratch, mark);
}
