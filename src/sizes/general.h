/* SPDX-License-Identifier: Apache-2.0 */
/* general.h -- what the parts of general.c share: the program as it grows, and what each part puts into
 * it. */
#ifndef TC_GENERAL_H
#define TC_GENERAL_H

#include "sizes.h"

typedef struct tc_general {
    tc_aligned *a;
    tc_graph *g;
    tc_atoms atoms;
    tc_map constant; /* place.at[] => the constant in g */
    tc_map number;   /* values of the formula at all points => a shape of one value in g */
    const tc_row *row;
} tc_general;

/* ---- shapes (general_shapes.c) ---- */

const tc_loc *ti_general_loc(const tc_general *m);
/* A node with one result of that type, or with none where that is NULL. */
tc_val ti_general_add(tc_general *m, tc_op op, const void *attr, const tc_val *in, int n_in,
                      const tc_type *type);
const tc_type *ti_general_shape_type(const tc_general *m, int64_t n);
tc_val ti_general_shape(tc_general *m, const int64_t *v, int64_t n);
/* The type of a value with TC_OPEN for every dimension that differs between points. */
const tc_type *ti_open_type(const tc_general *m, size_t place);

/* The formula of a series; one that fails at a verifying point is fitted to it too. what: for the
 * message where there is none. */
TC_MUST_USE tc_status ti_solve_size(tc_general *m, const tc_series *s, size_t near,
                                    const char *what, const tc_size_formula **out);
/* A formula as a shape of one value. */
tc_val ti_put_formula(tc_general *m, const tc_size_formula *f);
/* n series as one shape. */
TC_MUST_USE tc_status ti_put_shape(tc_general *m, const tc_series *s, int n, size_t near,
                                   const char *what, tc_val *out);

/* ---- inputs and their bounds (general_bounds.c) ---- */

TC_MUST_USE tc_status ti_put_inputs(tc_general *m, const tc_size_bound *bound, size_t n);

/* ---- constants (general_constants.c) ---- */

/* A value that is there already, or a constant, which is made once however many read it. */
TC_MUST_USE tc_status ti_put_operand(tc_general *m, size_t place, int operand, size_t near,
                                     tc_val *out);

/* ---- windows (general_windows.c) ---- */

/* A convolution whose padding differs: in[0] is padded before it, *attr has none. */
TC_MUST_USE tc_status ti_put_padded_conv(tc_general *m, tc_val *in, const void **attr);
/* A pool whose window differs; TC_NONE: it does not. */
TC_MUST_USE tc_status ti_put_pool(tc_general *m, const tc_val *in, const tc_type *type,
                                  tc_val *out);

#endif
