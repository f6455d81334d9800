/* SPDX-License-Identifier: Apache-2.0 */
/* rule.h -- checks that several shape rules make; each gives its message. */
#ifndef TC_RULE_H
#define TC_RULE_H

#include "shape.h"

/* The first n operands are there. */
tc_status tc_rule_operands(tc_infer *c, int n);

/* 0 <= axis < rank; a tensor of rank 0 may be spoken of as having one axis. */
tc_status tc_rule_axis(tc_infer *c, int64_t axis, int rank);

/* Axes in range, none twice. */
tc_status tc_rule_axes(tc_infer *c, tc_ints axes, int rank);

/* Operand i holds integers (bool is not one). */
tc_status tc_rule_integers(tc_infer *c, int i);

/* Operands i and j have one element type. */
tc_status tc_rule_same_dtype(tc_infer *c, int i, int j);

/* A list of n numbers. */
tc_status tc_rule_count(tc_infer *c, const char *what, tc_ints list, int n);

#endif
