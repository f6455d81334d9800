/* SPDX-License-Identifier: Apache-2.0 */
/* shape_tosa.h -- what the shape functions of TOSA operators share.
 *
 * A rule checks the specification's ERROR_IF lines on shapes and attributes, and computes the
 * result type.  A declared quantization is kept. */
#ifndef TC_SHAPE_TOSA_H
#define TC_SHAPE_TOSA_H

#include "shape.h"

/* Reject the node; the format takes at least one argument. */
#define TC_REFUSE(c, format, ...)                                                                  \
    ti_error((c)->ctx, (c)->loc, TC_E_TOSA_RULE, "'%s': " format, (c)->op, __VA_ARGS__)

static inline const tc_type *ti_in(const tc_infer *c, int i)
{
    return c->in[i].type;
}

/* Result i has this element type and shape. */
void ti_tosa_result(tc_infer *c, int i, tc_dtype dtype, int rank, const int64_t *dim);

/* Operand i, called `name` in messages, has this rank. */
TC_MUST_USE tc_status ti_tosa_rank(const tc_infer *c, int i, const char *name, int rank);
/* It has one element and rank 1: zero points, MUL's shift, PAD's value. */
TC_MUST_USE tc_status ti_tosa_single(const tc_infer *c, int i, const char *name);
/* A list attribute has n values between lo and hi. */
TC_MUST_USE tc_status ti_tosa_list(const tc_infer *c, const char *name, tc_ints list, int n,
                                   int64_t lo, int64_t hi);

/* The n values of a shape operand; *out is NULL when they are unknown, which is valid if the result
 * type is declared. */
TC_MUST_USE tc_status ti_tosa_values(const tc_infer *c, int i, const char *name, int64_t n,
                                     const int64_t **out);

/* The operands of a convolution with separate scales. */
TC_MUST_USE tc_status ti_tosa_conv_scales(const tc_infer *c);

/* The declared result type of the operator, or `computed` if there is none. */
static inline tc_dtype ti_tosa_declared(const tc_infer *c, tc_dtype computed)
{
    return c->out[0].dtype != TC_none ? c->out[0].dtype : computed;
}

#endif
