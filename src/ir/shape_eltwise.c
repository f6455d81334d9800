/* SPDX-License-Identifier: Apache-2.0 */
/* shape_eltwise.c -- result types of elementwise operators: broadcasting and PyTorch's promotion.
 */
#include "../num/eltwise.h"
#include "formula.h"
#include "shape.h"

static tc_type plain(tc_dtype dtype, const tc_type *shape)
{
    tc_type type = *shape;
    type.dtype = dtype;
    type.quant = NULL;
    return type;
}

static tc_dtype real_of(tc_dtype t)
{
    return ti_is_int(t) || t == TC_bool ? TC_f32 : t;
}

static tc_status no_fit(tc_infer *call, const tc_type *so_far, const tc_type *next)
{
    tc_mark mark = ti_arena_mark(&call->ctx->scratch);
    tc_arena *scratch = &call->ctx->scratch;
    tc_status status =
        ti_error(call->ctx, call->loc, TC_E_SHAPE,
                 "'%s' of shapes %s and %s: every axis, counted from the last, must be "
                 "equal in both, or 1 in one of them",
                 call->op, ti_dims_text(scratch, so_far->rank, so_far->dim),
                 ti_dims_text(scratch, next->rank, next->dim));
    ti_arena_rewind(scratch, mark);
    return status;
}

/* shape becomes the broadcast of both, aligned at the last axis. */
static tc_status widen(tc_infer *call, tc_type *shape, const tc_type *next)
{
    tc_type both = *shape;
    both.rank = shape->rank > next->rank ? shape->rank : next->rank;
    for (int i = 1; i <= both.rank; i++) {
        int64_t a = i <= shape->rank ? shape->dim[shape->rank - i] : 1;
        int64_t b = i <= next->rank ? next->dim[next->rank - i] : 1;
        if (a != b && a != 1 && b != 1)
            return no_fit(call, shape, next);
        both.dim[both.rank - i] = a == 1 ? b : a;
    }
    *shape = both;
    return TC_OK;
}

/* The broadcast shape of all operands present. */
static tc_status broadcast(tc_infer *call, tc_type *shape)
{
    *shape = (tc_type){.dtype = TC_none};
    for (int i = 0; i < call->n_in; i++)
        if (call->in[i].type)
            TC_TRY(widen(call, shape, call->in[i].type));
    return TC_OK;
}

static tc_status needs(tc_infer *call, int operands)
{
    for (int i = 0; i < operands; i++)
        if (!call->in[i].type)
            return ti_error(call->ctx, call->loc, TC_E_STRUCTURE, "operand %d of '%s' is missing",
                            i, call->op);
    return TC_OK;
}

/* The common type of operands first .. n_in. */
static tc_status common(tc_infer *call, int first, tc_dtype *dtype)
{
    *dtype = ti_promote(call->in + first, call->n_in - first);
    if (*dtype != TC_none && *dtype != TC_shape)
        return TC_OK;
    const tc_type *a = call->in[first].type, *b = call->in[first + 1].type;
    return ti_error(call->ctx, call->loc, TC_E_TYPE, "'%s' of %s and %s has no common element type",
                    call->op, a ? tc_dtypes[a->dtype].name : "none",
                    b ? tc_dtypes[b->dtype].name : "none");
}

tc_status ti_shape_same(tc_infer *call)
{
    TC_TRY(needs(call, 1));
    call->out[0] = plain(call->in[0].type->dtype, call->in[0].type);
    return TC_OK;
}

tc_status ti_shape_clamp(tc_infer *call)
{
    return ti_shape_same(call);
}

/* Integers and bool become f32. */
tc_status ti_shape_real(tc_infer *call)
{
    TC_TRY(needs(call, 1));
    call->out[0] = plain(real_of(call->in[0].type->dtype), call->in[0].type);
    return TC_OK;
}

tc_status ti_shape_function(tc_infer *call)
{
    const tc_attr_function *a = call->attr;
    const char *wrong = "";
    if (!a->formula || !ti_formula_good(a->formula, &wrong))
        return ti_error(call->ctx, call->loc, TC_E_SYNTAX,
                        "'function' needs the formula of a number, in elementwise operators on x%s%s%s",
                        *wrong ? "; it cannot be read at '" : "", wrong, *wrong ? "'" : "");
    return ti_shape_real(call);
}

tc_status ti_shape_bool(tc_infer *call)
{
    TC_TRY(needs(call, 1));
    call->out[0] = plain(TC_bool, call->in[0].type);
    return TC_OK;
}

tc_status ti_shape_cast(tc_infer *call)
{
    const tc_attr_cast *a = call->attr;
    TC_TRY(needs(call, 1));
    if (a->dtype == TC_none)
        return ti_error(call->ctx, call->loc, TC_E_TYPE, "'cast' to no element type");
    call->out[0] = plain(a->dtype, call->in[0].type);
    return TC_OK;
}

tc_status ti_shape_promote(tc_infer *call)
{
    tc_type shape;
    tc_dtype dtype;
    TC_TRY(needs(call, call->n_in));
    TC_TRY(broadcast(call, &shape));
    TC_TRY(common(call, 0, &dtype));
    call->out[0] = plain(dtype, &shape);
    return TC_OK;
}

/* Quotients of integers are f32, unless truncated to integers; so are atan2, copysign, xlogy. */
tc_status ti_shape_div(tc_infer *call)
{
    const tc_attr_div *a = call->attr;
    TC_TRY(ti_shape_promote(call));
    if (!a || a->mode == TC_div_mode_exact)
        call->out[0].dtype = real_of(call->out[0].dtype);
    return TC_OK;
}

/* The operands are promoted, the result is bool. */
tc_status ti_shape_compare(tc_infer *call)
{
    TC_TRY(ti_shape_promote(call));
    call->out[0].dtype = TC_bool;
    return TC_OK;
}

tc_status ti_shape_where(tc_infer *call)
{
    tc_type shape;
    tc_dtype dtype;
    TC_TRY(needs(call, 3));
    tc_dtype condition = call->in[0].type->dtype;
    if (condition != TC_bool && condition != TC_u8)
        return ti_error(call->ctx, call->loc, TC_E_TYPE,
                        "the condition of 'where' is %s, expected bool", tc_dtypes[condition].name);
    TC_TRY(broadcast(call, &shape));
    TC_TRY(common(call, 1, &dtype));
    call->out[0] = plain(dtype, &shape);
    return TC_OK;
}

tc_status ti_shape_clamp_tensor(tc_infer *call)
{
    tc_type shape;
    tc_dtype dtype;
    TC_TRY(needs(call, 1));
    TC_TRY(broadcast(call, &shape));
    TC_TRY(common(call, 0, &dtype));
    call->out[0] = plain(dtype, &shape);
    return TC_OK;
}

/* x: [.., 2h, ..]   result: [.., h, ..] */
tc_status ti_shape_glu(tc_infer *call)
{
    const tc_attr_axis *a = call->attr;
    TC_TRY(needs(call, 1));
    const tc_type *x = call->in[0].type;
    if (a->axis < 0 || a->axis >= x->rank)
        return ti_error(call->ctx, call->loc, TC_E_ARGUMENT,
                        "axis %" PRId64 " of 'glu' is outside the %d of its operand", a->axis,
                        x->rank);
    if (x->dim[a->axis] % 2)
        return ti_error(call->ctx, call->loc, TC_E_SHAPE,
                        "'glu' halves axis %" PRId64 ", whose extent is %" PRId64, a->axis,
                        x->dim[a->axis]);
    call->out[0] = plain(x->dtype, x);
    call->out[0].dim[a->axis] /= 2;
    return TC_OK;
}

/* x: any shape   weight: one number, or one for each channel (axis 1) */
tc_status ti_shape_prelu(tc_infer *call)
{
    TC_TRY(needs(call, 2));
    const tc_type *x = call->in[0].type, *weight = call->in[1].type;
    int64_t channels = x->rank > 1 ? x->dim[1] : 1, count = tc_type_count(weight);
    if (count != 1 && count != channels)
        return ti_error(call->ctx, call->loc, TC_E_SHAPE,
                        "'prelu' has %" PRId64 " weights for %" PRId64 " channels", count,
                        channels);
    if (weight->dtype != x->dtype)
        return ti_error(call->ctx, call->loc, TC_E_TYPE,
                        "'prelu' has weights of type %s, expected %s",
                        tc_dtypes[weight->dtype].name, tc_dtypes[x->dtype].name);
    return ti_shape_same(call);
}

/* The magnitude of a complex number is real. */
tc_status ti_shape_abs(tc_infer *call)
{
    TC_TRY(ti_shape_same(call));
    if (call->out[0].dtype == TC_c64)
        call->out[0].dtype = TC_f32;
    return TC_OK;
}
