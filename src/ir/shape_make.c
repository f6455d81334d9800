/* SPDX-License-Identifier: Apache-2.0 */
/* shape_make.c -- types of constants and factories, complex numbers, explicit quantization, control
 * flow. */
#include <math.h>

#include "../num/block_scaled.h"
#include "shape_check.h"

/* Constants and results of control flow have the types they were declared with. */
static tc_status declared(tc_infer *c)
{
    for (int i = 0; i < c->n_out; i++)
        if (c->out[i].dtype == TC_none)
            return ti_error(c->ctx, c->loc, TC_E_STRUCTURE, "result %d of '%s' has no type", i,
                            c->op);
    return TC_OK;
}

tc_status ti_shape_const(tc_infer *c) { return declared(c); }

tc_status ti_shape_cond(tc_infer *c)
{
    TC_TRY(ti_need_operands(c, c->n_in));
    const tc_type *p = c->in[0].type;
    if (p->dtype != TC_bool || tc_type_count(p) != 1)
        return ti_error(c->ctx, c->loc, TC_E_TYPE,
                        "the condition of 'cond' is %s, expected one bool",
                        ti_type_text(&c->ctx->scratch, p));
    return declared(c);
}

tc_status ti_shape_while_loop(tc_infer *c)
{
    TC_TRY(ti_need_operands(c, c->n_in));
    if (c->n_out > c->n_in)
        return ti_error(c->ctx, c->loc, TC_E_STRUCTURE,
                        "'while_loop' has %d results and %d operands", c->n_out, c->n_in);
    TC_TRY(declared(c));
    for (int i = 0; i < c->n_out; i++)
        if (!ti_same_dims(&c->out[i], c->in[i].type) || c->out[i].dtype != c->in[i].type->dtype)
            return ti_error(c->ctx, c->loc, TC_E_TYPE, "'while_loop' is given %s and returns %s",
                            ti_type_text(&c->ctx->scratch, c->in[i].type),
                            ti_type_text(&c->ctx->scratch, &c->out[i]));
    return TC_OK;
}

/* infer.c replaces the declared types by those of the called graph's outputs. */
tc_status ti_shape_call(tc_infer *c)
{
    TC_TRY(ti_need_operands(c, c->n_in));
    return declared(c);
}

static tc_status made(tc_infer *c, tc_dtype dtype, int32_t rank, const int64_t *dim)
{
    if (dtype == TC_none || dtype >= TC_DTYPE_COUNT)
        return ti_error(c->ctx, c->loc, TC_E_TYPE, "'%s' has no element type", c->op);
    if (ti_dims_count(rank, dim) < 0)
        return ti_error(c->ctx, c->loc, TC_E_TOO_LARGE, "'%s' of shape %s", c->op,
                        ti_dims_text(&c->ctx->scratch, rank, dim));
    c->out[0] = ti_type_shaped(dtype, rank, dim);
    return TC_OK;
}

tc_status ti_shape_full(tc_infer *c)
{
    const tc_attr_full *a = c->attr;
    return made(c, a->dtype, a->shape.n, a->shape.v);
}

tc_status ti_shape_arange(tc_infer *c)
{
    const tc_attr_arange *a = c->attr;
    if (!isfinite(a->start) || !isfinite(a->step))
        return ti_error(c->ctx, c->loc, TC_E_ARGUMENT, "'arange' from %g by %g", a->start, a->step);
    return made(c, a->dtype, 1, &a->count);
}

tc_status ti_shape_linspace(tc_infer *c)
{
    const tc_attr_linspace *a = c->attr;
    return made(c, a->dtype, 1, &a->steps);
}

tc_status ti_shape_eye(tc_infer *c)
{
    const tc_attr_eye *a = c->attr;
    return made(c, a->dtype, 2, (int64_t[]){a->rows, a->columns});
}

static tc_status need_dtype(tc_infer *c, int i, tc_dtype t)
{
    if (c->in[i].type->dtype == t)
        return TC_OK;
    return ti_error(c->ctx, c->loc, TC_E_TYPE, "operand %d of '%s' is %s, expected %s", i, c->op,
                    tc_dtypes[c->in[i].type->dtype].name, tc_dtypes[t].name);
}

tc_status ti_shape_fft(tc_infer *c)
{
    const tc_attr_fft *a = c->attr;
    const tc_type *x = c->in[0].type;
    TC_TRY(ti_need_axes(c, a->axes, x->rank));
    if (!a->axes.n)
        return ti_error(c->ctx, c->loc, TC_E_ARGUMENT, "'fft' names no axis");
    for (int i = 0; i < a->axes.n; i++)
        if (!x->dim[a->axes.v[i]])
            return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                            "'fft' over axis %" PRId64 ", which has extent 0", a->axes.v[i]);
    TC_TRY(need_dtype(c, 0, a->kind == TC_fft_kind_real_to_complex ? TC_f32 : TC_c64));
    c->out[0] = *x;
    c->out[0].dtype = a->kind == TC_fft_kind_complex_to_real ? TC_f32 : TC_c64;
    int64_t *last = &c->out[0].dim[a->axes.v[a->axes.n - 1]];
    if (a->kind == TC_fft_kind_real_to_complex)
        *last = *last / 2 + 1;
    if (a->kind == TC_fft_kind_complex_to_real) {
        if (a->last < 1 || a->last / 2 + 1 != *last)
            return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                            "'fft' to %" PRId64 " real numbers needs %" PRId64
                            " complex ones, and has %" PRId64,
                            a->last, a->last / 2 + 1, *last);
        *last = a->last;
    }
    return TC_OK;
}

tc_status ti_shape_real_part(tc_infer *c)
{
    TC_TRY(need_dtype(c, 0, TC_c64));
    c->out[0] = *c->in[0].type;
    c->out[0].dtype = TC_f32;
    return TC_OK;
}

tc_status ti_shape_complex(tc_infer *c)
{
    TC_TRY(ti_need_operands(c, 2));
    TC_TRY(need_dtype(c, 0, TC_f32));
    TC_TRY(need_dtype(c, 1, TC_f32));
    const tc_type *a = c->in[0].type, *b = c->in[1].type;
    tc_type y = {.dtype = TC_c64, .rank = a->rank > b->rank ? a->rank : b->rank};
    for (int k = 1; k <= y.rank; k++) {
        int64_t m = k <= a->rank ? a->dim[a->rank - k] : 1,
                n = k <= b->rank ? b->dim[b->rank - k] : 1;
        if (m != n && m != 1 && n != 1)
            return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                            "'complex' of extents %" PRId64 " and %" PRId64, m, n);
        y.dim[y.rank - k] = m == 1 ? n : m;
    }
    c->out[0] = y;
    return TC_OK;
}

/* Scale and zero: attributes, or operands with one value per channel (or one for all). */
static tc_status check_grid(tc_infer *c)
{
    const tc_attr_quantize *a = c->attr;
    const tc_type *x = c->in[0].type;
    if (a->axis != -1)
        TC_TRY(ti_need_axes(c, (tc_ints){1, &a->axis}, x->rank));
    if (a->scale != 0) {
        if (!(a->scale > 0 && a->scale <= 1e300))
            return ti_error(c->ctx, c->loc, TC_E_ARGUMENT, "'%s' by a scale of %g", c->op,
                            a->scale);
        return TC_OK;
    }
    TC_TRY(ti_need_operands(c, 2));
    int64_t expected = a->axis < 0 ? 1 : x->dim[a->axis];
    for (int i = 1; i < c->n_in; i++)
        if (c->in[i].type && tc_type_count(c->in[i].type) != expected)
            return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                            "operand %d of '%s' has %" PRId64 " numbers, expected %" PRId64, i,
                            c->op, tc_type_count(c->in[i].type), expected);
    return TC_OK;
}

static tc_status check_codes(tc_infer *c, tc_dtype stored)
{
    const tc_attr_quantize *a = c->attr;
    if (!ti_is_int(stored) || a->qmin > a->qmax || a->qmin < ti_dtype_min(stored) ||
        a->qmax > ti_dtype_max(stored))
        return ti_error(c->ctx, c->loc, TC_E_ARGUMENT,
                        "'%s' with codes %" PRId64 " to %" PRId64 " in %s", c->op, a->qmin, a->qmax,
                        tc_dtypes[stored].name);
    return TC_OK;
}

static tc_status need_real(tc_infer *c, tc_dtype t)
{
    if (ti_is_float(t))
        return TC_OK;
    return ti_error(c->ctx, c->loc, TC_E_TYPE,
                    "'%s' between integers and %s, expected real numbers", c->op,
                    tc_dtypes[t].name);
}

/* The declared domain stays: it is not inferable. */
tc_status ti_shape_quantize(tc_infer *c)
{
    const tc_attr_quantize *a = c->attr;
    TC_TRY(need_real(c, c->in[0].type->dtype));
    TC_TRY(check_grid(c));
    TC_TRY(check_codes(c, a->dtype));
    const tc_quant *domain = c->out[0].dtype == a->dtype ? c->out[0].quant : NULL;
    c->out[0] = *c->in[0].type;
    c->out[0].dtype = a->dtype;
    c->out[0].quant = domain;
    return TC_OK;
}

tc_status ti_shape_dequantize(tc_infer *c)
{
    const tc_attr_quantize *a = c->attr;
    TC_TRY(ti_need_integers(c, 0));
    TC_TRY(need_real(c, a->dtype));
    TC_TRY(check_grid(c));
    c->out[0] = *c->in[0].type;
    c->out[0].dtype = a->dtype;
    c->out[0].quant = NULL;
    return TC_OK;
}

tc_status ti_shape_fake_quantize(tc_infer *c)
{
    const tc_attr_quantize *a = c->attr;
    TC_TRY(need_real(c, c->in[0].type->dtype));
    TC_TRY(check_grid(c));
    if (a->qmin > a->qmax)
        return ti_error(c->ctx, c->loc, TC_E_ARGUMENT, "'%s' with codes %" PRId64 " to %" PRId64,
                        c->op, a->qmin, a->qmax);
    c->out[0] = *c->in[0].type;
    return TC_OK;
}

tc_status ti_shape_block_round(tc_infer *c)
{
    const tc_attr_block *a = c->attr;
    const tc_type *x = c->in[0].type;
    TC_TRY(need_real(c, x->dtype));
    if (!ti_is_block(a->dtype) || a->axis < 0 || a->axis >= x->rank)
        return ti_error(c->ctx, c->loc, TC_E_ARGUMENT,
                        "'%s' to %s along axis %" PRId64 " of a tensor of rank %d", c->op,
                        tc_dtypes[a->dtype].name, a->axis, (int)x->rank);
    c->out[0] = *x;
    return TC_OK;
}

tc_status ti_shape_choose_qparams(tc_infer *c)
{
    const tc_attr_choose_qparams *a = c->attr;
    TC_TRY(need_real(c, c->in[0].type->dtype));
    if (a->qmin >= a->qmax)
        return ti_error(c->ctx, c->loc, TC_E_ARGUMENT, "'%s' with codes %" PRId64 " to %" PRId64,
                        c->op, a->qmin, a->qmax);
    if (a->by_row)
        TC_TRY(ti_need_rank(c, c->in[0].type, "what has a range for each row", 2, 2));
    int64_t rows = a->by_row ? c->in[0].type->dim[0] : 1;
    c->out[0] = (tc_type){.dtype = TC_f64, .rank = 1, .dim = {rows}};
    c->out[1] = (tc_type){.dtype = TC_i64, .rank = 1, .dim = {rows}};
    return TC_OK;
}

tc_status ti_shape_rescale(tc_infer *c)
{
    TC_TRY(declared(c));
    const tc_type *x = c->in[0].type;
    bool from = x->quant || x->dtype == TC_f32, to = c->out[0].quant || c->out[0].dtype == TC_f32;
    if (!from || !to || !ti_same_dims(x, &c->out[0]))
        return ti_error(c->ctx, c->loc, TC_E_TYPE,
                        "'rescale' of %s to %s, expected two domains (or f32) of one shape",
                        ti_type_text(&c->ctx->scratch, x),
                        ti_type_text(&c->ctx->scratch, &c->out[0]));
    return TC_OK;
}
