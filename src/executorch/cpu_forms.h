/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_forms.h -- what the forms of the pass `select-cpu-kernels` share.
 *
 * A form is given a node that no kernel computes and makes nodes that are nearer to having one;
 * what it makes is looked at again.  cpu.c has the walk and the table; the cpu_*.c files have the
 * forms. */
#ifndef TC_CPU_FORMS_H
#define TC_CPU_FORMS_H

#include "../ir/rewrite.h"

/* Nodes being made in the place of one.  After a failure everything is a no-op. */
typedef struct tc_cpu_maker {
    tc_ctx *ctx;
    tc_rewrite *rw;
    tc_graph *g;         /* where nodes go */
    const tc_node *node; /* in whose place */
    const tc_loc *loc;
    tc_status status;
} tc_cpu_maker;

/* false: this form of the operator has no kernels either. */
typedef bool tc_cpu_form(tc_cpu_maker *m);

/* The node's operand i, what it is, and a result's type. */
tc_val tc_cpu_in(const tc_cpu_maker *m, int i);
const tc_type *tc_cpu_in_type(const tc_cpu_maker *m, int i);
const tc_type *tc_cpu_out_type(const tc_cpu_maker *m, int i);
static inline const tc_type *tc_cpu_type(const tc_cpu_maker *m, tc_val v)
{
    return tc_type_of(m->g, v);
}

/* A node with one result. */
tc_val tc_cpu_make(tc_cpu_maker *m, tc_op op, const void *attr, const tc_val *in, int n_in);
tc_val tc_cpu_unary(tc_cpu_maker *m, tc_op op, tc_val x);
tc_val tc_cpu_binary(tc_cpu_maker *m, tc_op op, tc_val x, tc_val y);
/* v, brought to the shape and type of the node's result i, becomes it. */
void tc_cpu_give(tc_cpu_maker *m, int i, tc_val v);
/* The same for the first result, the end of most forms. */
static inline bool tc_cpu_done(tc_cpu_maker *m, tc_val v)
{
    tc_cpu_give(m, 0, v);
    return true;
}
/* Whether anybody reads result i. */
bool tc_cpu_is_read(const tc_cpu_maker *m, int i);

/* Operand i as numbers to compute with: f64 as it is, everything else as f32. */
tc_val tc_cpu_real(tc_cpu_maker *m, int i);

/* A number of x's own type, without axes. */
tc_val tc_cpu_number(tc_cpu_maker *m, tc_val like, double value);
tc_val tc_cpu_ints(tc_cpu_maker *m, const int64_t *v, int32_t rank, const int64_t *dim);

/* An attribute record in the arena. */
#define TC_CPU_ATTR(m, record, ...)                                                                \
    tc_arena_copy(&(m)->ctx->arena, &(tc_attr_##record){__VA_ARGS__}, sizeof(tc_attr_##record))

/* x + alpha * y and the like. */
tc_val tc_cpu_add(tc_cpu_maker *m, tc_val x, tc_val y);
tc_val tc_cpu_sub(tc_cpu_maker *m, tc_val x, tc_val y);
tc_val tc_cpu_mul(tc_cpu_maker *m, tc_val x, tc_val y);
tc_val tc_cpu_div(tc_cpu_maker *m, tc_val x, tc_val y);
tc_val tc_cpu_where(tc_cpu_maker *m, tc_val c, tc_val x, tc_val y);
tc_val tc_cpu_clamp(tc_cpu_maker *m, tc_val x, double lo, double hi);
tc_val tc_cpu_cast(tc_cpu_maker *m, tc_val x, tc_dtype dtype);

tc_val tc_cpu_reshape(tc_cpu_maker *m, tc_val x, int32_t rank, const int64_t *dim);
tc_val tc_cpu_permute(tc_cpu_maker *m, tc_val x, const int64_t *perm);
tc_val tc_cpu_expand(tc_cpu_maker *m, tc_val x, int32_t rank, const int64_t *dim);
tc_val tc_cpu_slice(tc_cpu_maker *m, tc_val x, int64_t axis, int64_t start, int64_t end);
tc_val tc_cpu_cat(tc_cpu_maker *m, const tc_val *x, int n, int64_t axis);
tc_val tc_cpu_reduce(tc_cpu_maker *m, tc_op op, tc_val x, tc_ints axes, bool keepdim);
/* A matrix product as PyTorch's matmul. */
tc_val tc_cpu_matmul(tc_cpu_maker *m, tc_val x, tc_val y);
/* Rows of an axis by number. */
tc_val tc_cpu_pick(tc_cpu_maker *m, tc_val x, int64_t axis, const int64_t *row, int64_t n);

/* cpu_codes.c: the node's product of codes with constant ones, as real numbers; bias: real, or
 * TC_NONE.  false: it is not of that kind. */
bool tc_cpu_on_codes(tc_cpu_maker *m, tc_val bias, tc_val *out);

/* cpu_order.c: a scatter whose numbers are combined where several meet; false: not of that kind. */
bool tc_cpu_scatter_meeting(tc_cpu_maker *m);

#define FORM(op) tc_cpu_form tc_cpu_form_##op;
#include "cpu_forms.def"

#endif
