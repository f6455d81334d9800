/* SPDX-License-Identifier: Apache-2.0 */
/* shape_check.h -- checks that several shape functions share, with their messages. */
#ifndef TC_SHAPE_CHECK_H
#define TC_SHAPE_CHECK_H

#include "shape.h"

static inline const tc_type *ti_in(const tc_infer *c, int i)
{
    return i < c->n_in ? c->in[i].type : NULL;
}

/* Of the shape given, not quantized. */
static inline tc_type ti_type_shaped(tc_dtype dtype, int32_t rank, const int64_t *dim)
{
    tc_type t = {.dtype = dtype, .rank = rank};
    memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
    return t;
}

/* "[1,3,8]" for a message. */
static inline const char *ti_shape_dims(const tc_infer *c, const tc_type *t)
{
    return ti_dims_text(&c->ctx->scratch, t->rank, t->dim);
}

/* Operand i is present. */
static inline tc_status ti_need(const tc_infer *c, int i, const char *what)
{
    if (ti_in(c, i))
        return TC_OK;
    return ti_error(c->ctx, c->loc, TC_E_STRUCTURE, "'%s' has no %s", c->op, what);
}

static inline tc_status ti_need_rank(const tc_infer *c, const tc_type *t, const char *what,
                                     int least, int most)
{
    if (t->rank >= least && t->rank <= most)
        return TC_OK;
    if (least == most)
        return ti_error(c->ctx, c->loc, TC_E_SHAPE, "%s of '%s' has rank %d, expected %d", what,
                        c->op, t->rank, least);
    return ti_error(c->ctx, c->loc, TC_E_SHAPE, "%s of '%s' has rank %d, expected %d to %d", what,
                    c->op, t->rank, least, most);
}

/* An extent that two operands must agree on. */
static inline tc_status ti_need_extent(const tc_infer *c, const char *what, int64_t found,
                                       int64_t expected)
{
    if (found == expected)
        return TC_OK;
    return ti_error(c->ctx, c->loc, TC_E_SHAPE, "%s of '%s' is %" PRId64 ", expected %" PRId64,
                    what, c->op, found, expected);
}

/* The operand, if present, has the element type of the first. */
static inline tc_status ti_need_dtype(const tc_infer *c, int i, const char *what)
{
    const tc_type *t = ti_in(c, i), *first = c->in[0].type;
    if (!t || t->dtype == first->dtype)
        return TC_OK;
    return ti_error(c->ctx, c->loc, TC_E_TYPE, "%s of '%s' has type %s, expected %s", what, c->op,
                    tc_dtypes[t->dtype].name, tc_dtypes[first->dtype].name);
}

static inline tc_status ti_need_float(const tc_infer *c, const tc_type *t)
{
    if (ti_is_float(t->dtype))
        return TC_OK;
    return ti_error(c->ctx, c->loc, TC_E_TYPE, "'%s' works on floating-point numbers, not on %s",
                    c->op, tc_dtypes[t->dtype].name);
}

/* Real: complex tensors have no such product or window here. */
static inline tc_status ti_need_real(const tc_infer *c, const tc_type *t)
{
    if (tc_dtypes[t->dtype].kind != TC_COMPLEX)
        return TC_OK;
    return ti_unsupported(c->ctx, c->loc, TC_E_UNSUPPORTED,
                          "'%s' of complex numbers is not supported", c->op);
}

/* A list of n numbers >= `least`, small enough that sums and products of two fit. */
static inline tc_status ti_need_list(const tc_infer *c, const char *what, tc_ints list, int n,
                                     int64_t least)
{
    if (list.n != n)
        return ti_error(c->ctx, c->loc, TC_E_ARGUMENT, "%s of '%s' has %d numbers, expected %d",
                        what, c->op, list.n, n);
    for (int i = 0; i < n; i++)
        if (list.v[i] < least || list.v[i] > INT32_MAX / 4)
            return ti_error(c->ctx, c->loc, TC_E_ARGUMENT,
                            "%s of '%s' is %" PRId64 ", expected at least %" PRId64, what, c->op,
                            list.v[i], least);
    return TC_OK;
}

/* b broadcasts into out, or a message. */
static inline tc_status ti_broadcast_dims(const tc_infer *c, int rank, const int64_t *dim,
                                          int *out_rank, int64_t *out)
{
    int n = rank > *out_rank ? rank : *out_rank;
    int64_t joint[TC_MAX_RANK];
    for (int i = 0; i < n; i++) {
        int64_t a = i < n - *out_rank ? 1 : out[i - (n - *out_rank)];
        int64_t b = i < n - rank ? 1 : dim[i - (n - rank)];
        if (a != b && a != 1 && b != 1)
            return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                            "operands of '%s' have %" PRId64 " and %" PRId64 " on the same axis",
                            c->op, a, b);
        joint[i] = a == 1 ? b : a;
    }
    memcpy(out, joint, (size_t)n * sizeof *out);
    *out_rank = n;
    return TC_OK;
}

/* ---- shape_check.c ---- */

/* The first n operands are present. */
tc_status ti_need_operands(tc_infer *c, int n);

/* 0 <= axis < rank; rank 0 counts as rank 1. */
tc_status ti_need_axis(tc_infer *c, int64_t axis, int rank);

/* Axes in range, none twice. */
tc_status ti_need_axes(tc_infer *c, tc_ints axes, int rank);

/* Operand i holds integers (bool is not one). */
tc_status ti_need_integers(tc_infer *c, int i);

/* Operands i and j have one element type. */
tc_status ti_need_same_dtype(tc_infer *c, int i, int j);

/* A list of n numbers. */
tc_status ti_need_count(tc_infer *c, const char *what, tc_ints list, int n);

#endif
