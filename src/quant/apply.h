/* SPDX-License-Identifier: Apache-2.0 */
/* apply.h -- what apply.c and quant_weights.c share. */
#ifndef TC_APPLY_H
#define TC_APPLY_H

#include "dataflow.h"

#include "../ir/build.h"

typedef struct tc_apply {
    tc_rewrite *rw;
    tc_dataflow flow;
    const tc_config *config;
    const tc_domains *domains;
    tc_val
        *typed;  /* by old value: its form in a domain in the new graph; rw->now has the real one */
    tc_val
        *narrow; /* by old value: its 8-bit copy, if only its own domain has 16 bits */
    bool *is_out; /* by old value: it is an output */
    tc_val *out;  /* by old value: the integer form in the new graph that is the output, or none */
    tc_val *after; /* by mutation: what a buffer of codes holds next, in the new graph */
    tc_map made; /* (old constant, type) => new constant */
} tc_apply;

/* One scale and zero for the whole tensor. */
const tc_type *ti_apply_type(tc_ctx *ctx, const tc_type *real, tc_dtype dtype, int64_t lo,
                             int64_t hi, double scale, int64_t zero);
/* The type of old value v in its domain; NULL: it has none. */
const tc_type *ti_apply_domain(const tc_apply *a, tc_val v);
/* The same as the node reads it: 8 bits of a value with 16, for a node that does not take 16. */
const tc_type *ti_apply_read(const tc_apply *a, const tc_node *node, tc_val v);

/* Old value v in one of its forms. */
TC_MUST_USE tc_status ti_apply_real(tc_apply *a, tc_val v, const tc_loc *loc, tc_val *out);

/* quant_weights.c: a value known at compile time as codes of that type. */
TC_MUST_USE tc_status ti_apply_constant(tc_apply *a, tc_val v, const tc_type *type,
                                        const tc_loc *loc, tc_val *out);
/* The type for such a value by its own range. */
TC_MUST_USE tc_status ti_apply_own(tc_apply *a, tc_val v, tc_setting setting, const tc_type **out);
/* Such a value as operand i of a quantized node: weights, bias, or an ordinary value. */
TC_MUST_USE tc_status ti_apply_fixed_operand(tc_apply *a, const tc_node *node, int i, tc_val *out);

/* tied_table.c: the rows of an embedding whose table is a layer's weights too, in their domain; or
 * none, where they are no such rows. */
TC_MUST_USE tc_status ti_apply_tied(tc_apply *a, const tc_node *node, tc_val *out);

#endif
