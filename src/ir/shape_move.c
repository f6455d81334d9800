/* SPDX-License-Identifier: Apache-2.0 */
/* shape_move.c -- types of operators that move elements. */
#include "shape_check.h"

tc_status ti_shape_reshape(tc_infer *c)
{
    const tc_attr_shape *a = c->attr;
    const tc_type *x = c->in[0].type;
    int64_t count = ti_dims_count(a->shape.n, a->shape.v);
    if (count != tc_type_count(x))
        return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                        "%s has %" PRId64 " elements, the shape %s does not", ti_shape_dims(c, x),
                        tc_type_count(x), ti_dims_text(&c->ctx->scratch, a->shape.n, a->shape.v));
    c->out[0] = ti_type_shaped(x->dtype, a->shape.n, a->shape.v);
    return TC_OK;
}

tc_status ti_shape_permute(tc_infer *c)
{
    const tc_attr_perm *a = c->attr;
    const tc_type *x = c->in[0].type;
    TC_TRY(ti_need_count(c, "axes", a->perm, x->rank));
    TC_TRY(ti_need_axes(c, a->perm, x->rank));
    c->out[0] = (tc_type){.dtype = x->dtype, .rank = x->rank};
    for (int i = 0; i < x->rank; i++)
        c->out[0].dim[i] = x->dim[a->perm.v[i]];
    return TC_OK;
}

tc_status ti_shape_expand(tc_infer *c)
{
    const tc_attr_shape *a = c->attr;
    const tc_type *x = c->in[0].type;
    int lead = a->shape.n - x->rank;
    bool fits = lead >= 0 && ti_dims_count(a->shape.n, a->shape.v) >= 0;
    for (int i = 0; fits && i < x->rank; i++)
        fits = x->dim[i] == 1 || x->dim[i] == a->shape.v[i + lead];
    if (!fits)
        return ti_error(c->ctx, c->loc, TC_E_SHAPE, "%s cannot be expanded to %s", ti_shape_dims(c, x),
                        ti_dims_text(&c->ctx->scratch, a->shape.n, a->shape.v));
    c->out[0] = ti_type_shaped(x->dtype, a->shape.n, a->shape.v);
    return TC_OK;
}

/* Elements of start, start + step, ... below end. */
static tc_status slice_extent(tc_infer *c, const tc_attr_slice *a, int64_t *extent)
{
    const tc_type *x = c->in[0].type;
    TC_TRY(ti_need_axes(c, (tc_ints){1, &a->axis}, x->rank));
    if (a->start < 0 || a->end < a->start || a->end > x->dim[a->axis] || a->step < 1)
        return ti_error(c->ctx, c->loc, TC_E_ARGUMENT,
                        "'%s' from %" PRId64 " to %" PRId64 " by %" PRId64
                        " of an axis of extent %" PRId64,
                        c->op, a->start, a->end, a->step, x->dim[a->axis]);
    *extent = a->end == a->start ? 0 : (a->end - a->start - 1) / a->step + 1;
    return TC_OK;
}

static tc_status check_index(tc_infer *c, const tc_attr_select *a)
{
    const tc_type *x = c->in[0].type;
    TC_TRY(ti_need_axes(c, (tc_ints){1, &a->axis}, x->rank));
    if (a->index < 0 || a->index >= x->dim[a->axis])
        return ti_error(c->ctx, c->loc, TC_E_ARGUMENT,
                        "'%s' of index %" PRId64 " of an axis of extent %" PRId64, c->op, a->index,
                        x->dim[a->axis]);
    return TC_OK;
}

static tc_type without_axis(const tc_type *x, int64_t axis)
{
    tc_type y = {.dtype = x->dtype};
    for (int i = 0; i < x->rank; i++)
        if (i != axis)
            y.dim[y.rank++] = x->dim[i];
    return y;
}

tc_status ti_shape_slice(tc_infer *c)
{
    const tc_attr_slice *a = c->attr;
    int64_t extent = 0;
    TC_TRY(slice_extent(c, a, &extent));
    c->out[0] = *c->in[0].type;
    c->out[0].dim[a->axis] = extent;
    return TC_OK;
}

tc_status ti_shape_select(tc_infer *c)
{
    const tc_attr_select *a = c->attr;
    TC_TRY(check_index(c, a));
    c->out[0] = without_axis(c->in[0].type, a->axis);
    return TC_OK;
}

/* The part that replaces something in x. */
static tc_status replaces(tc_infer *c, const tc_type *part)
{
    if (!ti_same_dims(c->in[1].type, part))
        return ti_error(c->ctx, c->loc, TC_E_SHAPE, "'%s' puts %s where there is room for %s",
                        c->op, ti_shape_dims(c, c->in[1].type), ti_shape_dims(c, part));
    c->out[0] = *c->in[0].type;
    return ti_need_same_dtype(c, 0, 1);
}

tc_status ti_shape_slice_scatter(tc_infer *c)
{
    const tc_attr_slice *a = c->attr;
    int64_t extent = 0;
    TC_TRY(ti_need_operands(c, 2));
    TC_TRY(slice_extent(c, a, &extent));
    tc_type part = *c->in[0].type;
    part.dim[a->axis] = extent;
    return replaces(c, &part);
}

tc_status ti_shape_select_scatter(tc_infer *c)
{
    const tc_attr_select *a = c->attr;
    TC_TRY(ti_need_operands(c, 2));
    TC_TRY(check_index(c, a));
    tc_type part = without_axis(c->in[0].type, a->axis);
    return replaces(c, &part);
}

tc_status ti_shape_cat(tc_infer *c)
{
    const tc_attr_axis *a = c->attr;
    TC_TRY(ti_need_operands(c, c->n_in));
    tc_type y = *c->in[0].type;
    TC_TRY(ti_need_axes(c, (tc_ints){1, &a->axis}, y.rank));
    for (int i = 1; i < c->n_in; i++) {
        tc_type x = *c->in[i].type;
        TC_TRY(ti_need_same_dtype(c, 0, i));
        int64_t extent = x.rank == y.rank ? x.dim[a->axis] : 0;
        x.dim[a->axis] = y.dim[a->axis];
        if (!ti_same_dims(&x, &y))
            return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                            "operand %d of 'cat' is %s, operand 0 is %s", i, ti_shape_dims(c, c->in[i].type),
                            ti_shape_dims(c, c->in[0].type));
        y.dim[a->axis] += extent;
    }
    c->out[0] = y;
    return TC_OK;
}

tc_status ti_shape_stack(tc_infer *c)
{
    const tc_attr_axis *a = c->attr;
    TC_TRY(ti_need_operands(c, c->n_in));
    const tc_type *x = c->in[0].type;
    TC_TRY(ti_need_axes(c, (tc_ints){1, &a->axis}, x->rank + 1));
    for (int i = 1; i < c->n_in; i++) {
        TC_TRY(ti_need_same_dtype(c, 0, i));
        if (!ti_same_dims(x, c->in[i].type))
            return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                            "operand %d of 'stack' is %s, operand 0 is %s", i,
                            ti_shape_dims(c, c->in[i].type), ti_shape_dims(c, x));
    }
    if (x->rank == TC_MAX_RANK)
        return ti_unsupported(c->ctx, c->loc, TC_E_UNSUPPORTED, "'stack' of tensors of rank %d",
                              x->rank);
    c->out[0] = (tc_type){.dtype = x->dtype, .rank = x->rank + 1};
    for (int i = 0; i <= x->rank; i++)
        c->out[0].dim[i] = i < a->axis ? x->dim[i] : i == a->axis ? c->n_in : x->dim[i - 1];
    return TC_OK;
}

tc_status ti_shape_split(tc_infer *c)
{
    const tc_attr_split *a = c->attr;
    const tc_type *x = c->in[0].type;
    TC_TRY(ti_need_axes(c, (tc_ints){1, &a->axis}, x->rank));
    TC_TRY(ti_need_count(c, "sizes", a->sizes, c->n_out));
    int64_t left = x->dim[a->axis];
    for (int i = 0; i < c->n_out; i++) {
        if (a->sizes.v[i] < 0 || a->sizes.v[i] > left)
            return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                            "piece %d of 'split' is %" PRId64 " long, %" PRId64 " are left", i,
                            a->sizes.v[i], left);
        c->out[i] = *x;
        c->out[i].dim[a->axis] = a->sizes.v[i];
        left -= a->sizes.v[i];
    }
    if (left)
        return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                        "'split' leaves %" PRId64 " of %" PRId64 " over", left, x->dim[a->axis]);
    return TC_OK;
}

tc_status ti_shape_unbind(tc_infer *c)
{
    const tc_attr_axis *a = c->attr;
    const tc_type *x = c->in[0].type;
    TC_TRY(ti_need_axes(c, (tc_ints){1, &a->axis}, x->rank));
    if (c->n_out != x->dim[a->axis])
        return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                        "'unbind' has %d results, the axis has extent %" PRId64, c->n_out,
                        x->dim[a->axis]);
    for (int i = 0; i < c->n_out; i++)
        c->out[i] = without_axis(x, a->axis);
    return TC_OK;
}

/* n * times; -1 when that is not a valid extent. */
static int64_t repeated(int64_t n, int64_t times)
{
    int64_t product;
    return times < 0 || __builtin_mul_overflow(n, times, &product) ? -1 : product;
}

tc_status ti_shape_repeat(tc_infer *c)
{
    const tc_attr_repeat *a = c->attr;
    const tc_type *x = c->in[0].type;
    int lead = a->repeats.n - x->rank;
    if (lead < 0 || a->repeats.n > TC_MAX_RANK)
        return ti_error(c->ctx, c->loc, TC_E_ARGUMENT,
                        "'repeat' has %d numbers for a tensor of rank %d", a->repeats.n, x->rank);
    c->out[0] = (tc_type){.dtype = x->dtype, .rank = a->repeats.n};
    for (int i = 0; i < a->repeats.n; i++)
        c->out[0].dim[i] = repeated(i < lead ? 1 : x->dim[i - lead], a->repeats.v[i]);
    return TC_OK;
}

tc_status ti_shape_repeat_interleave(tc_infer *c)
{
    const tc_attr_interleave *a = c->attr;
    c->out[0] = *c->in[0].type;
    TC_TRY(ti_need_axes(c, (tc_ints){1, &a->axis}, c->out[0].rank));
    c->out[0].dim[a->axis] = repeated(c->out[0].dim[a->axis], a->repeats);
    return TC_OK;
}

tc_status ti_shape_flip(tc_infer *c)
{
    const tc_attr_flip *a = c->attr;
    c->out[0] = *c->in[0].type;
    return ti_need_axes(c, a->axes, c->out[0].rank);
}

tc_status ti_shape_roll(tc_infer *c)
{
    const tc_attr_roll *a = c->attr;
    c->out[0] = *c->in[0].type;
    TC_TRY(ti_need_count(c, "shifts", a->shifts, a->axes.n));
    for (int i = 0; i < a->axes.n; i++)
        TC_TRY(ti_need_axes(c, (tc_ints){1, &a->axes.v[i]}, c->out[0].rank));
    return TC_OK;
}

tc_status ti_shape_tri(tc_infer *c)
{
    c->out[0] = *c->in[0].type;
    if (c->out[0].rank < 2)
        return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                        "'%s' of a tensor of rank %d, expected 2 or more", c->op, c->out[0].rank);
    return TC_OK;
}

/* The largest padding of each mode on an axis of extent n. */
static int64_t reach(tc_field_pad_mode mode, int64_t n)
{
    switch (mode) {
    case TC_pad_mode_reflect:
        return n - 1;
    case TC_pad_mode_circular:
        return n;
    case TC_pad_mode_replicate:
        return n ? INT32_MAX : 0;
    default:
        return INT32_MAX;
    }
}

tc_status ti_shape_pad(tc_infer *c)
{
    const tc_attr_pad *a = c->attr;
    c->out[0] = *c->in[0].type;
    TC_TRY(ti_need_count(c, "pads", a->pad, 2 * c->out[0].rank));
    for (int i = 0; i < c->out[0].rank; i++) {
        int64_t n = c->out[0].dim[i], before = a->pad.v[2 * i], after = a->pad.v[2 * i + 1];
        int64_t most = reach(a->mode, n);
        if ((before > 0 && before > most) || (after > 0 && after > most) || before < -n ||
            after < -n || n + before + after < 0)
            return ti_error(c->ctx, c->loc, TC_E_ARGUMENT,
                            "'pad' by %" PRId64 " and %" PRId64 " at axis %d of extent %" PRId64,
                            before, after, i, n);
        c->out[0].dim[i] = n + before + after;
    }
    return TC_OK;
}

tc_status ti_shape_diagonal(tc_infer *c)
{
    const tc_attr_diagonal *a = c->attr;
    const tc_type *x = c->in[0].type;
    TC_TRY(ti_need_axes(c, (tc_ints){2, (int64_t[]){a->axis1, a->axis2}}, x->rank));
    if (a->offset < -INT32_MAX || a->offset > INT32_MAX)
        return ti_error(c->ctx, c->loc, TC_E_ARGUMENT, "'diagonal' with offset %" PRId64,
                        a->offset);
    int64_t h = x->dim[a->axis1], w = x->dim[a->axis2];
    bool outside = a->offset > w || a->offset < -h;
    int64_t extent = outside          ? 0
                     : a->offset >= 0 ? ti_min_i64(h, w - a->offset)
                                      : ti_min_i64(h + a->offset, w);
    tc_type y = {.dtype = x->dtype};
    for (int i = 0; i < x->rank; i++)
        if (i != a->axis1 && i != a->axis2)
            y.dim[y.rank++] = x->dim[i];
    y.dim[y.rank++] = extent;
    c->out[0] = y;
    return TC_OK;
}

/* Whether the strides stay inside is checked at run time: PyTorch, too, accepts such programs. */
tc_status ti_shape_as_strided(tc_infer *c)
{
    const tc_attr_as_strided *a = c->attr;
    const tc_type *x = c->in[0].type;
    TC_TRY(ti_need_count(c, "strides", a->stride, a->size.n));
    bool sound = a->offset >= 0 && ti_dims_count(a->size.n, a->size.v) >= 0;
    for (int i = 0; sound && i < a->size.n; i++)
        sound = a->stride.v[i] >= 0;
    if (!sound)
        return ti_error(c->ctx, c->loc, TC_E_ARGUMENT,
                        "'as_strided' with a negative size, stride or offset");
    c->out[0] = ti_type_shaped(x->dtype, a->size.n, a->size.v);
    return TC_OK;
}

tc_status ti_shape_unfold(tc_infer *c)
{
    const tc_attr_unfold *a = c->attr;
    tc_type y = *c->in[0].type;
    TC_TRY(ti_need_axis(c, a->axis, y.rank));
    int64_t extent = y.rank ? y.dim[a->axis] : 1;
    if (a->size < 0 || a->size > extent || a->step < 1)
        return ti_error(c->ctx, c->loc, TC_E_ARGUMENT,
                        "'unfold' of windows of %" PRId64 " by %" PRId64
                        " on an axis of extent %" PRId64,
                        a->size, a->step, extent);
    if (y.rank == TC_MAX_RANK)
        return ti_unsupported(c->ctx, c->loc, TC_E_UNSUPPORTED, "'unfold' of a tensor of rank %d",
                              y.rank);
    if (y.rank)
        y.dim[a->axis] = (extent - a->size) / a->step + 1;
    y.dim[y.rank++] = a->size;
    c->out[0] = y;
    return TC_OK;
}
