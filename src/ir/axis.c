/* SPDX-License-Identifier: Apache-2.0 */
/* axis.c -- see axis.h. */
#include "axis.h"

int ti_moved_axis(const tc_graph *g, const tc_node *node, int axis)
{
    const tc_type *x = ti_type_of(g, node->in[0]), *y = ti_type_of(g, node->out[0]);
    if (node->n_in != 1 || node->n_out != 1 || x->dtype != y->dtype)
        return -1;
    if (node->op == TC_OP_permute) {
        const tc_ints *perm = &((const tc_attr_perm *)node->attr)->perm;
        for (int i = 0; i < perm->n; i++)
            if (perm->v[i] == axis)
                return i;
        return -1;
    }
    if (node->op == TC_OP_roll) {
        const tc_ints *axes = &((const tc_attr_roll *)node->attr)->axes;
        for (int i = 0; i < axes->n; i++)
            if (axes->v[i] == axis)
                return -1;
        return axes->n ? axis : -1;
    }
    if (node->op == TC_OP_slice)
        return ((const tc_attr_slice *)node->attr)->axis == axis ? -1 : axis;
    if (node->op != TC_OP_reshape || tc_type_count(x) == 0)
        return -1;
    int64_t before = 1, here = 1;
    for (int i = 0; i < axis; i++)
        before *= x->dim[i];
    for (int i = 0; i < y->rank; here *= y->dim[i++])
        if (here == before && y->dim[i] == x->dim[axis])
            return i;
    return -1;
}

int ti_averaged_axis(const tc_graph *g, const tc_node *node, int axis)
{
    const tc_attr_axes *a = node->attr;
    int lost = 0;
    for (int i = 0; i < a->axes.n; i++) {
        int64_t k = a->axes.v[i] < 0 ? a->axes.v[i] + ti_type_of(g, node->in[0])->rank
                                     : a->axes.v[i];
        if (k == axis)
            return -1;
        lost += k < axis;
    }
    return a->axes.n ? axis - (a->keepdim ? 0 : lost) : -1;
}
