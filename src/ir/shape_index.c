/* SPDX-License-Identifier: Apache-2.0 */
/* shape_index.c -- types of operators that read or write at indices given by other tensors. */
#include "../num/index.h"
#include "shape_check.h"

/* Operands from `first` on are indices into operand 0: integers, absent where an axis stays whole,
 * and masks, which cover as many axes as they have. */
static tc_status check_indices(tc_infer *c, int first, bool *masked)
{
    const tc_type *x = c->in[0].type;
    int axes = 0;
    bool any = false;
    *masked = false;
    for (int i = first; i < c->n_in; i++) {
        const tc_type *index = c->in[i].type;
        bool mask = index && index->dtype == TC_bool;
        for (int k = 0; mask && k < index->rank; k++)
            if (axes + k < x->rank && index->dim[k] != x->dim[axes + k])
                return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                                "a mask of '%s' is %s, the tensor is %s", c->op, ti_shape_dims(c, index),
                                ti_shape_dims(c, x));
        if (index && !mask)
            TC_TRY(ti_need_integers(c, i));
        axes += mask ? index->rank : 1;
        any = any || index;
        *masked = *masked || mask;
    }
    if (!any)
        return ti_error(c->ctx, c->loc, TC_E_STRUCTURE, "'%s' has no index", c->op);
    if (axes > x->rank)
        return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                        "'%s' has indices for %d axes of a tensor of rank %d", c->op, axes,
                        x->rank);
    return TC_OK;
}

static tc_status picked(tc_infer *c, int first, tc_type *out)
{
    tc_picks picks;
    if (!ti_index_picks(c->in[0].type, c->in + first, c->n_in - first, &picks))
        return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                        "the indices of '%s' have shapes that do not broadcast", c->op);
    if (!ti_index_dims(c->in[0].type, &picks, out))
        return ti_unsupported(c->ctx, c->loc, TC_E_UNSUPPORTED, "'%s' with a result of rank %d",
                              c->op, picks.n_kept + picks.rank);
    return TC_OK;
}

tc_status ti_shape_index(tc_infer *c)
{
    bool masked;
    TC_TRY(check_indices(c, 1, &masked));
    if (masked)
        return ti_unsupported(c->ctx, c->loc, TC_E_UNSUPPORTED,
                              "'%s' by a mask: how many elements it picks depends on the data",
                              c->op);
    return picked(c, 1, &c->out[0]);
}

/* How many elements a mask selects is known, and compared, at run time only. */
tc_status ti_shape_index_put(tc_infer *c)
{
    bool masked;
    TC_TRY(ti_need_operands(c, 2));
    TC_TRY(check_indices(c, 2, &masked));
    if (!masked) {
        tc_type there;
        TC_TRY(picked(c, 2, &there));
        if (ti_dims_count(there.rank, there.dim) < 0)
            return ti_error(c->ctx, c->loc, TC_E_TOO_LARGE, "'index_put' has too many indices");
        if (!ti_index_fits(c->in[1].type, &there))
            return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                            "'index_put' puts %s where there is room for %s",
                            ti_shape_dims(c, c->in[1].type), ti_shape_dims(c, &there));
    }
    c->out[0] = *c->in[0].type;
    return ti_need_same_dtype(c, 0, 1);
}

/* Operand 1 is a list of rows of operand 0. */
static tc_status row_list(tc_infer *c, int64_t axis)
{
    TC_TRY(ti_need_axis(c, axis, c->in[0].type->rank));
    TC_TRY(ti_need_integers(c, 1));
    if (c->in[1].type->rank > 1)
        return ti_error(c->ctx, c->loc, TC_E_SHAPE, "the index of '%s' is %s, expected a list",
                        c->op, ti_shape_dims(c, c->in[1].type));
    return TC_OK;
}

tc_status ti_shape_index_select(tc_infer *c)
{
    const tc_attr_axis *a = c->attr;
    TC_TRY(ti_need_operands(c, 2));
    TC_TRY(row_list(c, a->axis));
    c->out[0] = *c->in[0].type;
    int64_t n = tc_type_count(c->in[1].type);
    if (c->out[0].rank)
        c->out[0].dim[a->axis] = n;
    else if (n != 1)
        return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                        "'index_select' of %" PRId64 " rows of a tensor of rank 0", n);
    return TC_OK;
}

static tc_status rows_replaced(tc_infer *c, int64_t axis)
{
    TC_TRY(ti_need_operands(c, 3));
    TC_TRY(row_list(c, axis));
    TC_TRY(ti_need_same_dtype(c, 0, 2));
    tc_type part = *c->in[0].type;
    int64_t n = tc_type_count(c->in[1].type);
    if (part.rank)
        part.dim[axis] = n;
    bool scalar = !part.rank || (part.rank == 1 && n == 1 && c->in[2].type->rank == 0);
    if (scalar ? tc_type_count(c->in[2].type) != n : !ti_same_dims(&part, c->in[2].type))
        return ti_error(c->ctx, c->loc, TC_E_SHAPE, "'%s' puts %s where there is room for %s",
                        c->op, ti_shape_dims(c, c->in[2].type), ti_shape_dims(c, &part));
    c->out[0] = *c->in[0].type;
    return TC_OK;
}

tc_status ti_shape_index_copy(tc_infer *c)
{
    return rows_replaced(c, ((const tc_attr_axis *)c->attr)->axis);
}

tc_status ti_shape_index_add(tc_infer *c)
{
    return rows_replaced(c, ((const tc_attr_index_add *)c->attr)->axis);
}

/* index is no larger than t, except along the axis. */
static tc_status within(tc_infer *c, const tc_type *t, int64_t axis)
{
    const tc_type *index = c->in[1].type;
    bool fits = index->rank == t->rank || (index->rank <= 1 && t->rank <= 1);
    for (int i = 0; fits && i < index->rank && i < t->rank; i++)
        fits = i == axis || index->dim[i] <= t->dim[i];
    if (!fits && tc_type_count(index))
        return ti_error(c->ctx, c->loc, TC_E_SHAPE, "the index of '%s' is %s, and does not fit %s",
                        c->op, ti_shape_dims(c, index), ti_shape_dims(c, t));
    return TC_OK;
}

tc_status ti_shape_gather(tc_infer *c)
{
    const tc_attr_axis *a = c->attr;
    TC_TRY(ti_need_operands(c, 2));
    TC_TRY(ti_need_axis(c, a->axis, c->in[0].type->rank));
    TC_TRY(ti_need_integers(c, 1));
    TC_TRY(within(c, c->in[0].type, a->axis));
    c->out[0] = *c->in[1].type;
    c->out[0].dtype = c->in[0].type->dtype;
    return TC_OK;
}

tc_status ti_shape_scatter(tc_infer *c)
{
    const tc_attr_scatter *a = c->attr;
    TC_TRY(ti_need_operands(c, 3));
    TC_TRY(ti_need_axis(c, a->axis, c->in[0].type->rank));
    TC_TRY(ti_need_integers(c, 1));
    TC_TRY(ti_need_same_dtype(c, 0, 2));
    TC_TRY(within(c, c->in[0].type, a->axis));
    TC_TRY(within(c, c->in[2].type, -1));
    c->out[0] = *c->in[0].type;
    return TC_OK;
}

tc_status ti_shape_embedding(tc_infer *c)
{
    TC_TRY(ti_need_operands(c, 2));
    const tc_type *table = c->in[0].type, *index = c->in[1].type;
    TC_TRY(ti_need_integers(c, 1));
    if (table->rank != 2)
        return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                        "the table of 'embedding' is %s, expected rank 2", ti_shape_dims(c, table));
    if (index->rank == TC_MAX_RANK)
        return ti_unsupported(c->ctx, c->loc, TC_E_UNSUPPORTED,
                              "'embedding' of an index of rank %d", index->rank);
    c->out[0] = *index;
    c->out[0].dtype = table->dtype;
    c->out[0].dim[c->out[0].rank++] = table->dim[1];
    return TC_OK;
}

tc_status ti_shape_bucketize(tc_infer *c)
{
    TC_TRY(ti_need_operands(c, 2));
    if (c->in[1].type->rank != 1)
        return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                        "the boundaries of 'bucketize' are %s, expected a list",
                        ti_shape_dims(c, c->in[1].type));
    c->out[0] = *c->in[0].type;
    c->out[0].dtype = TC_i64;
    return TC_OK;
}
