/* SPDX-License-Identifier: Apache-2.0 */
/* compute_index.c -- reading and writing at indices from other tensors, as shaders.
 *
 * Writes have one invocation for each element of the result, which searches the list of indices: of
 * equal ones the last counts, on every machine. */
#include "compute.h"
#include "compute_family.h"

#include "../../num/index.h"

/* A number of an index tensor; negative ones count from the end of the axis. */
static tc_cs_val index_at(tc_cs *s, int port, tc_cs_val place, int64_t extent, bool from_end)
{
    tc_cs_val i = ti_cs_to(s, TC_CS_I32, ti_cs_load(s, port, place));
    if (!from_end)
        return i;
    tc_cs_val wrapped = ti_cs_add(s, i, ti_cs_i32(s, extent));
    return ti_cs_select(s, ti_cs_less(s, i, ti_cs_i32(s, 0)), wrapped, i);
}

/* Rows of x by number, along an axis; embedding: of the first. */
void ti_cs_rows(tc_cs *s, const tc_node *node, tc_cs_val at)
{
    bool table = node->op == TC_OP_embedding;
    int64_t axis = table ? 0 : ((const tc_attr_axis *)node->attr)->axis;
    const tc_type *x = ti_cs_type(s, 0);
    int64_t n = tc_type_count(ti_cs_type(s, 1)), inner = 1, extent = x->rank ? x->dim[axis] : 1;
    for (int i = (int)axis + 1; i < x->rank; i++)
        inner *= x->dim[i];
    tc_cs_val column = ti_cs_rest(s, at, inner), rest = ti_cs_part(s, at, inner);
    tc_cs_val number = index_at(s, 1, ti_cs_rest(s, rest, n), extent, false);
    tc_cs_val outer = ti_cs_part(s, rest, n), by = ti_cs_i32(s, inner), all = ti_cs_i32(s, extent);
    tc_cs_val row = ti_cs_add(s, ti_cs_mul(s, outer, all), number);
    ti_cs_store(s, 2, at, ti_cs_load(s, 0, ti_cs_add(s, ti_cs_mul(s, row, by), column)));
}

/* x[.., index, ..], element by element. */
void ti_cs_gather(tc_cs *s, const tc_node *node, tc_cs_val at)
{
    int64_t axis = ((const tc_attr_axis *)node->attr)->axis;
    const tc_type *x = ti_cs_type(s, 0);
    tc_cs_val c[TC_MAX_RANK];
    ti_cs_split(s, ti_cs_type(s, 1), at, c);
    tc_cs_val i = index_at(s, 1, at, 1, false);
    if (x->rank)
        c[axis] = i;
    ti_cs_store(s, 2, at, ti_cs_load(s, 0, ti_cs_join(s, x, c)));
}

/* The index tensors from port `first` on, in the node's own order. */
static void indices_of(const tc_cs *s, int first, tc_tensor *index)
{
    for (int i = first; i < s->n_in; i++)
        index[i - first] = (tc_tensor){ti_cs_type(s, i), NULL};
}

static bool any_mask(const tc_cs *s, int first)
{
    for (int i = first; i < s->n_in; i++)
        if (ti_cs_type(s, i) && ti_cs_type(s, i)->dtype == TC_bool)
            return true;
    return false;
}

/* x[i0, i1, ..]: the position of the indices' axes is in `picks`, the others as in x. */
void ti_cs_index(tc_cs *s, const tc_node *node, tc_cs_val at)
{
    const tc_type *x = ti_cs_type(s, 0), *y = ti_cs_type(s, s->n_in);
    tc_tensor index[TC_CS_PORTS];
    tc_picks picks;
    tc_cs_val c[TC_MAX_RANK], own[TC_MAX_RANK];
    indices_of(s, 1, index);
    if (any_mask(s, 1) || !ti_index_picks(x, index, node->n_in - 1, &picks)) {
        s->why = "its places are a mask";
        return;
    }
    ti_cs_split(s, y, at, c);
    tc_type picked = {.dtype = TC_i32, .rank = picks.rank};
    memcpy(picked.dim, picks.dim, sizeof picked.dim);
    for (int i = 0; i < picks.n_kept; i++)
        own[picks.kept[i]] = c[i < picks.first ? i : i + picks.rank];
    tc_cs_val pick = ti_cs_join(s, &picked, c + picks.first);
    for (int i = 1; i < node->n_in; i++)
        if (ti_cs_type(s, i))
            own[i - 1] = index_at(s, i, ti_cs_spread(s, &picked, ti_cs_type(s, i), pick),
                                  x->dim[i - 1], true);
    ti_cs_store(s, s->n_in, at, ti_cs_load(s, 0, ti_cs_join(s, x, own)));
}

/* The end of a loop over indices, inside the branch of a match: the element becomes the source's,
 * or has it added. */
static void end_hit(tc_cs *s, tc_cs_if hit, tc_cs_loop *l, tc_cs_var v, tc_cs_val now, bool adds)
{
    ti_cs_set(s, v, adds ? ti_cs_add(s, ti_cs_get(s, v), now) : now);
    ti_cs_end(s, hit);
    ti_cs_again(s, l);
}

/* x, and where the indices point, the values: set, or added. */
void ti_cs_index_put(tc_cs *s, const tc_node *node, tc_cs_val at)
{
    bool adds = ((const tc_attr_index_put *)node->attr)->accumulate;
    const tc_type *x = ti_cs_type(s, 0), *values = ti_cs_type(s, 1);
    tc_tensor index[TC_CS_PORTS];
    tc_picks picks;
    tc_type shape, picked = {.dtype = TC_i32};
    tc_cs_val c[TC_MAX_RANK], there[TC_MAX_RANK];
    indices_of(s, 2, index);
    if (any_mask(s, 2) || !ti_index_picks(x, index, node->n_in - 2, &picks) ||
        !ti_index_dims(x, &picks, &shape)) {
        s->why = "its places are a mask";
        return;
    }
    picked.rank = picks.rank;
    memcpy(picked.dim, picks.dim, sizeof picked.dim);
    ti_cs_split(s, x, at, c);
    for (int i = 0; i < picks.n_kept; i++)
        there[i < picks.first ? i : i + picks.rank] = c[picks.kept[i]];
    tc_cs_var v = ti_cs_var(s, ti_cs_load(s, 0, at));
    tc_cs_loop l = ti_cs_loop(s, ti_cs_i32(s, ti_dims_count(picks.rank, picks.dim)));
    tc_cs_val hit = ti_cs_number(s, TC_CS_BOOL, 1);
    for (int i = 2; i < node->n_in; i++) {
        if (!ti_cs_type(s, i))
            continue;
        tc_cs_val place = ti_cs_spread(s, &picked, ti_cs_type(s, i), l.at);
        tc_cs_val k = index_at(s, i, place, x->dim[i - 2], true);
        hit = ti_cs_and(s, hit, ti_cs_equal(s, k, c[i - 2]));
    }
    tc_cs_if block = ti_cs_if(s, hit);
    ti_cs_split(s, &picked, l.at, there + picks.first);
    tc_cs_val from = ti_cs_spread(s, &shape, values, ti_cs_join(s, &shape, there));
    tc_cs_val now = ti_cs_load(s, 1, from);
    end_hit(s, block, &l, v, now, adds);
    ti_cs_store(s, s->n_in, at, ti_cs_get(s, v));
}

/* x, and rows of the source at the indices: copied, or alpha times added. */
void ti_cs_put_rows(tc_cs *s, const tc_node *node, tc_cs_val at)
{
    const tc_attr_index_add *add = node->attr;
    bool adds = node->op == TC_OP_index_add;
    int64_t axis = adds ? add->axis : ((const tc_attr_axis *)node->attr)->axis;
    const tc_type *x = ti_cs_type(s, 0);
    tc_type source = *x;
    tc_cs_val c[TC_MAX_RANK] = {ti_cs_i32(s, 0)};
    source.dim[axis] = tc_type_count(ti_cs_type(s, 1));
    source.rank = x->rank ? x->rank : 1;
    if (x->rank)
        ti_cs_split(s, x, at, c);
    tc_cs_val here = c[axis];
    tc_cs_var v = ti_cs_var(s, ti_cs_load(s, 0, at));
    tc_cs_loop l = ti_cs_loop(s, ti_cs_i32(s, source.dim[axis]));
    tc_cs_if block = ti_cs_if(s, ti_cs_equal(s, index_at(s, 1, l.at, 1, false), here));
    c[axis] = l.at;
    tc_cs_val now = ti_cs_load(s, 2, ti_cs_join(s, &source, c));
    if (adds && add->alpha != 1)
        now = ti_cs_mul(s, now, ti_cs_number(s, now.kind, add->alpha));
    end_hit(s, block, &l, v, now, adds);
    ti_cs_store(s, s->n_in, at, ti_cs_get(s, v));
}

/* x, and elements of the source where the index, element by element, points along the axis. */
void ti_cs_scatter(tc_cs *s, const tc_node *node, tc_cs_val at)
{
    const tc_attr_scatter *a = node->attr;
    const tc_type *x = ti_cs_type(s, 0), *index = ti_cs_type(s, 1), *source = ti_cs_type(s, 2);
    tc_cs_val c[TC_MAX_RANK], inside = ti_cs_number(s, TC_CS_BOOL, 1);
    if (!x->rank || (a->combine != TC_combine_set && a->combine != TC_combine_add) ||
        (a->combine == TC_combine_add && !a->include_self)) {
        s->why = "it combines in a way that no shader has";
        return;
    }
    ti_cs_split(s, x, at, c);
    tc_cs_val here = c[a->axis];
    for (int i = 0; i < x->rank; i++)
        if (i != a->axis && index->dim[i] < x->dim[i])
            inside = ti_cs_and(s, inside, ti_cs_less(s, c[i], ti_cs_i32(s, index->dim[i])));
    tc_cs_var v = ti_cs_var(s, ti_cs_load(s, 0, at));
    tc_cs_if reached = ti_cs_if(s, inside);
    tc_cs_loop l = ti_cs_loop(s, ti_cs_i32(s, index->dim[a->axis]));
    c[a->axis] = l.at;
    tc_cs_val i = index_at(s, 1, ti_cs_join(s, index, c), 1, false);
    tc_cs_if block = ti_cs_if(s, ti_cs_equal(s, i, here));
    tc_cs_val now = ti_cs_load(s, 2, ti_cs_join(s, source, c));
    end_hit(s, block, &l, v, now, a->combine == TC_combine_add);
    ti_cs_end(s, reached);
    ti_cs_store(s, s->n_in, at, ti_cs_get(s, v));
}

/* How many boundaries are below, or up to, a value. */
void ti_cs_bucketize(tc_cs *s, const tc_node *node, tc_cs_val at)
{
    bool right = ((const tc_attr_bucketize *)node->attr)->right;
    tc_cs_val x = ti_cs_load(s, 0, at), zero = ti_cs_i32(s, 0), one = ti_cs_i32(s, 1);
    tc_cs_var n = ti_cs_var(s, zero);
    tc_cs_loop l = ti_cs_loop(s, ti_cs_i32(s, tc_type_count(ti_cs_type(s, 1))));
    tc_cs_val edge = ti_cs_load(s, 1, l.at);
    tc_cs_kind kind = edge.kind == TC_CS_F32 ? edge.kind : x.kind;
    edge = ti_cs_to(s, kind, edge);
    tc_cs_val v = ti_cs_to(s, kind, x);
    tc_spv_op up_to = kind == TC_CS_F32 ? TC_SPV_FOrdLessThanEqual : TC_SPV_SLessThanEqual;
    tc_cs_val short_of = right ? ti_cs_less(s, v, edge) : ti_cs_do(s, up_to, TC_CS_BOOL, v, edge);
    tc_cs_val passed = ti_cs_not(s, short_of); /* NaN passes all of them */
    tc_cs_val more = ti_cs_add(s, ti_cs_get(s, n), one);
    ti_cs_set(s, n, ti_cs_select(s, passed, more, ti_cs_get(s, n)));
    ti_cs_again(s, &l);
    ti_cs_store(s, s->n_in, at, ti_cs_get(s, n));
}
