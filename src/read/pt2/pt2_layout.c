/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_layout.c -- the layout of a tensor in its storage, by the declared sizes, strides and offset.
 * Whether `reshape` or `contiguous` gives a view or a copy follows from these; and `as_strided`
 * reads the storage past the tensor it is called on. */
#include "pt2_program.h"

static void pack(tc_pt2_layout *l)
{
    l->offset = 0;
    int64_t step = 1;
    for (int i = l->rank; i-- > 0; step *= l->dim[i] > 1 ? l->dim[i] : 1)
        l->stride[i] = step;
}

/* A stride or offset that no tensor of this size can have counts as none. */
static bool plausible(int64_t stride, int64_t count)
{
    return stride >= 0 && stride <= INT64_MAX / 4 / (count > 1 ? count : 1);
}

tc_pt2_layout ti_pt2_layout(tc_pt2 *reader, const tc_json *meta, const tc_type *type)
{
    tc_pt2_layout l = {.rank = type->rank};
    memcpy(l.dim, type->dim, sizeof l.dim);
    const tc_json *strides = ti_json_get(meta, "strides"), *s = ti_json_first(strides);
    int64_t count = tc_type_count(type);
    bool good = ti_json_is(strides, TC_JSON_LIST) && strides->n == (uint32_t)type->rank &&
                ti_pt2_fixed(reader, ti_json_get(meta, "storage_offset"), &l.offset) &&
                plausible(l.offset, count);
    for (int i = 0; good && i < l.rank; i++, s = s->next)
        good = ti_pt2_fixed(reader, s, &l.stride[i]) && plausible(l.stride[i], count);
    if (!good)
        pack(&l);
    return l;
}

/* The strides with which to->dim is a view of all elements of `from` in their order; false: none
 * exist.  From the last axis on, contiguous axes are merged into a run, and each run is divided
 * into axes of `to`. */
static bool restride(const tc_pt2_layout *from, tc_pt2_layout *to)
{
    int at = to->rank - 1;
    int64_t stride = from->rank ? from->stride[from->rank - 1] : 1, run = 1, made = 1;
    for (int i = from->rank; i-- > 0;) {
        run *= from->dim[i];
        if (i > 0 && (from->dim[i - 1] == 1 || from->stride[i - 1] == run * stride))
            continue;
        for (; at >= 0 && (made < run || to->dim[at] == 1); at--) {
            to->stride[at] = made * stride;
            made *= to->dim[at];
        }
        if (made != run)
            return false;
        stride = i > 0 ? from->stride[i - 1] : 1;
        run = made = 1;
    }
    for (; at >= 0; at--)
        to->stride[at] = 1;
    return true;
}

/* `every`: axes of size 1, whose strides mean nothing, count too. */
static bool same_strides(const tc_pt2_layout *a, const tc_pt2_layout *b, bool every)
{
    if (a->offset != b->offset || a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if ((every || a->dim[i] != 1) && a->stride[i] != b->stride[i])
            return false;
    return true;
}

bool ti_pt2_reshapes_in_place(const tc_pt2_layout *from, const tc_pt2_layout *to)
{
    tc_pt2_layout view = *to;
    view.offset = from->offset;
    for (int i = 0; i < from->rank; i++)
        if (!from->dim[i])
            return true;
    return restride(from, &view) && same_strides(&view, to, false);
}

bool ti_pt2_same_layout(const tc_pt2_layout *a, const tc_pt2_layout *b)
{
    return same_strides(a, b, true);
}

/* The axes from the outermost in storage to the innermost; false: there are gaps or overlaps. */
static bool storage_order(const tc_pt2_layout *l, int64_t perm[TC_MAX_RANK])
{
    bool taken[TC_MAX_RANK] = {false};
    int64_t step = 1;
    for (int to = l->rank; to-- > 0;) {
        int best = -1;
        for (int i = 0; i < l->rank; i++)
            if (!taken[i] && (l->dim[i] == 1 || l->stride[i] == step))
                best = i;
        if (best < 0)
            return false;
        perm[to] = best;
        taken[best] = true;
        step *= l->dim[best];
    }
    return true;
}

/* The storage of a tensor as a flat tensor, and the index of its element 0; NONE with a message
 * where it has more elements than the tensor. */
static tc_val storage_of(tc_pt2_node *n, const tc_json *meta, tc_val x, int64_t *first)
{
    TC_STOP_WITH(&n->m, TC_NONE);
    tc_pt2_layout l = ti_pt2_layout(n->reader, meta, ti_b_type(&n->m, x));
    int64_t perm[TC_MAX_RANK];
    *first = l.offset;
    if (!storage_order(&l, perm)) {
        ti_b_unsupported(&n->m, "strides over a tensor whose storage has other numbers too");
        return TC_NONE;
    }
    return l.rank ? ti_b_permute(&n->m, x, perm) : x;
}

static tc_attr_as_strided *strided_attr(tc_pt2_node *n, int64_t own)
{
    tc_ints size = ti_pt2_ints(n, "size"), stride = ti_pt2_ints(n, "stride");
    int64_t offset = ti_pt2_int(n, "storage_offset", own);
    return ti_b_attr(&n->m, as_strided, size, stride, offset);
}

/* Strides count from the start of the storage, which is that of the tensor self is a view of. */
static void import_as_strided(tc_pt2_node *n)
{
    tc_str tag;
    const tc_json *named = ti_pt2_arg_at(n, 0, &tag);
    tc_val self = ti_pt2_tensor(n, "self"), owner = TC_NONE;
    tc_pt2_cell *cell = n->m.status == TC_OK ? ti_pt2_cell_of(n, named) : NULL;
    if (!cell)
        return;
    tc_pt2_layout own =
        ti_pt2_layout(n->reader, ti_pt2_meta(n->work->scope, named), ti_b_type(&n->m, self));
    tc_attr_as_strided *a = strided_attr(n, own.offset);
    TC_STOP(&n->m);
    n->m.status = ti_pt2_current(n->m.g, ti_pt2_owner(cell), n->m.loc, &owner);
    if (n->m.status == TC_OK && ti_b_type(&n->m, owner)->dtype != ti_b_type(&n->m, self)->dtype)
        ti_b_unsupported(&n->m, "strides over a storage that is read as another element type");
    int64_t first = 0;
    owner = storage_of(n, ti_pt2_owner(cell)->meta, owner, &first);
    TC_STOP(&n->m);
    a->offset -= first;
    ti_pt2_result(n, ti_b_1(&n->m, as_strided, a, owner));
}

/* self, with src where the strides point: as a view of a copy in self's layout. */
static void import_as_strided_scatter(tc_pt2_node *n)
{
    tc_str tag;
    const tc_json *named = ti_pt2_arg_at(n, 0, &tag);
    tc_val self = ti_pt2_tensor(n, "self"), src = ti_pt2_tensor(n, "src"), out = TC_NONE;
    int64_t first = 0;
    TC_STOP(&n->m);
    tc_val storage = storage_of(n, ti_pt2_meta(n->work->scope, named), self, &first);
    tc_attr_as_strided *a = strided_attr(n, first);
    TC_STOP(&n->m);
    a->offset -= first;
    tc_pt2_step step[2];
    int n_step = ti_pt2_trace(n->m.g, self, ti_b_1(&n->m, as_strided, a, storage), step, 2);
    src = ti_b_cast(&n->m, src, ti_b_type(&n->m, self)->dtype);
    TC_STOP(&n->m);
    n->m.status = ti_pt2_put(n->m.g, step, n_step, self, src, n->m.loc, &out);
    ti_pt2_result(n, out);
}

const tc_pt2_row tc_pt2_storage[] = {
    VIEW_ROW("as_strided as_strided_", import_as_strided, as_strided, STORAGE),
    ROW("as_strided_copy", import_as_strided, as_strided, 0),
    ROW("as_strided_scatter", import_as_strided_scatter, as_strided, 0),
    {0},
};

/* The last index that a layout has. */
static int64_t last_of(const tc_pt2_layout *l)
{
    int64_t at = l->offset;
    for (int i = 0; i < l->rank; i++)
        at += (l->dim[i] - 1) * l->stride[i];
    return at;
}

/* Element e in order. */
static int64_t index_of(const tc_pt2_layout *l, int64_t e)
{
    int64_t at = l->offset;
    for (int i = l->rank; i-- > 0; e /= l->dim[i])
        at += e % l->dim[i] * l->stride[i];
    return at;
}

static int64_t count_of(const tc_pt2_layout *l)
{
    int64_t n = 1;
    for (int i = 0; i < l->rank; i++)
        n *= l->dim[i];
    return n;
}

bool ti_pt2_overlaps(tc_pt2 *reader, const tc_pt2_layout *to, const tc_pt2_layout *from)
{
    enum { MOST = 1 << 24 };
    int64_t n = count_of(to), m = count_of(from), end = last_of(to) + 1;
    bool same = to->rank == from->rank && same_strides(to, from, false) &&
                memcmp(to->dim, from->dim, sizeof to->dim) == 0;
    if (same || !n || !m || last_of(from) < to->offset || from->offset >= end)
        return false;
    if (end - to->offset > MOST)
        return true; /* as far as it is looked into */
    bool found = false;
    bool *written = tc_new_n(&reader->work, bool, (size_t)(end - to->offset));
    for (int64_t e = 0; e < n; e++)
        written[index_of(to, e) - to->offset] = true;
    for (int64_t e = 0; e < m && !found; e++) {
        int64_t at = index_of(from, e);
        found = at >= to->offset && at < end && written[at - to->offset];
    }
    return found;
}
