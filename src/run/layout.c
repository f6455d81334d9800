/* SPDX-License-Identifier: Apache-2.0 */
/* layout.c -- see layout.h. */
#include "layout.h"

tc_layout ti_layout_plain(int32_t rank)
{
    tc_layout l = {.rank = rank};
    for (int i = 0; i < rank; i++)
        l.axis[i] = (int8_t)i;
    return l;
}

tc_layout ti_layout_channels_last(int32_t rank)
{
    tc_layout l = {.rank = rank};
    for (int i = 1; i < rank; i++)
        l.axis[i] = (int8_t)(i == rank - 1 ? 1 : i + 1);
    return l;
}

bool ti_layout_same(const tc_layout *a, const tc_layout *b, const tc_type *type)
{
    for (int i = 0, j = 0;;) {
        while (i < a->rank && type->dim[a->axis[i]] == 1)
            i++;
        while (j < b->rank && type->dim[b->axis[j]] == 1)
            j++;
        if (i == a->rank || j == b->rank)
            return i == a->rank && j == b->rank;
        if (a->axis[i++] != b->axis[j++])
            return false;
    }
}

const tc_type *ti_layout_type(tc_ctx *ctx, const tc_layout *l, const tc_type *type)
{
    tc_type t = *type;
    for (int i = 0; i < l->rank; i++)
        t.dim[i] = type->dim[l->axis[i]];
    if (t.quant && t.quant->axis >= 0) {
        tc_quant q = *t.quant;
        q.axis = ti_layout_at(l, q.axis);
        t.quant = &q;
        return ti_type_intern(ctx, &t);
    }
    return ti_type_intern(ctx, &t);
}

int ti_layout_at(const tc_layout *l, int64_t axis)
{
    int i = 0;
    while (l->axis[i] != axis)
        i++;
    return i;
}

void ti_layout_strides(const tc_layout *l, const tc_type *type, int64_t *stride)
{
    int64_t step = 1;
    for (int i = l->rank - 1; i >= 0; i--) {
        stride[l->axis[i]] = step;
        step *= type->dim[l->axis[i]];
    }
}

tc_layout ti_layout_permute(const tc_layout *l, tc_ints perm)
{
    tc_layout out = {.rank = l->rank};
    for (int j = 0; j < perm.n; j++)
        out.axis[ti_layout_at(l, perm.v[j])] = (int8_t)j;
    return out;
}

bool ti_layout_reshape(const tc_layout *l, const tc_type *from, const tc_type *to, tc_layout *out)
{
    /* Cut both shapes into the smallest groups of neighbouring axes with equal products.  A group
     * that merges or splits must be contiguous and in order; its new axes replace it. */
    int8_t order[TC_MAX_RANK][2]; /* for each group: first new axis, how many */
    int group_of[TC_MAX_RANK], n_group = 0, i = 0, j = 0;
    if (tc_type_count(from) == 0)
        return false;
    while (i < from->rank || j < to->rank) {
        int first_i = i, first_j = j;
        int64_t a = i < from->rank ? from->dim[i++] : 1, b = j < to->rank ? to->dim[j++] : 1;
        while (a != b) {
            if (a < b)
                a *= from->dim[i++];
            else
                b *= to->dim[j++];
        }
        if (i == from->rank)
            j = to->rank; /* the rest have extent 1 */
        if (j == to->rank)
            i = from->rank;
        for (int k = first_i; k < i; k++)
            group_of[k] = n_group;
        order[n_group][0] = (int8_t)first_j;
        order[n_group++][1] = (int8_t)(j - first_j);
    }
    bool placed[TC_MAX_RANK + 1] = {false};
    int n = 0, last_axis = -1, last_group = -1;
    *out = (tc_layout){.rank = to->rank};
    for (int p = 0; p < l->rank; p++) {
        int axis = l->axis[p];
        if (from->dim[axis] == 1)
            continue;
        int g = group_of[axis];
        if (placed[g] && (g != last_group || axis < last_axis))
            return false;
        last_axis = axis;
        last_group = g;
        if (placed[g])
            continue;
        placed[g] = true;
        for (int k = 0; k < order[g][1]; k++)
            out->axis[n++] = (int8_t)(order[g][0] + k);
    }
    for (int g = 0; g < n_group; g++) /* groups of extent 1 may be anywhere */
        for (int k = 0; !placed[g] && k < order[g][1]; k++)
            out->axis[n++] = (int8_t)(order[g][0] + k);
    return n == to->rank;
}

tc_layout ti_layout_drop(const tc_layout *l, tc_ints gone)
{
    tc_layout out = {0};
    for (int i = 0; i < l->rank; i++) {
        int below = 0;
        bool dropped = false;
        for (int k = 0; k < gone.n; k++) {
            dropped = dropped || gone.v[k] == l->axis[i];
            below += gone.v[k] < l->axis[i];
        }
        if (!dropped)
            out.axis[out.rank++] = (int8_t)(l->axis[i] - below);
    }
    return out;
}

void ti_layout_between(const tc_layout *from, const tc_layout *to, int64_t *perm)
{
    for (int i = 0; i < to->rank; i++)
        perm[i] = ti_layout_at(from, to->axis[i]);
}
