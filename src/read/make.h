/* SPDX-License-Identifier: Apache-2.0 */
/* make.h -- small steps that builders of other formats' operators are made of.
 *
 * A builder works on one node of the file and appends nodes of ours.  After a failure every step
 * does nothing and returns TC_NONE, so that builders read in straight lines.  Operators on small
 * constants are computed at once: shape arithmetic leaves no nodes behind. */
#ifndef TC_MAKE_H
#define TC_MAKE_H

#include "../ir/graph.h"

/* What is known of a graph's values while it is being built. */
typedef struct tc_facts {
    const tc_tensor *given; /* by input of the graph: numbers that it is read for, or no data */
    bool *used;             /* by input: a shape follows from them */
    size_t n_given;
    tc_tensor *at; /* by value: computed once */
    size_t cap;
} tc_facts;

/* Inputs from whose numbers shapes followed: the module is good for these numbers only. */
void tc_facts_note_fixed(const tc_facts *f, tc_module *module);

/* Every --shape was an input's; to ask when all are bound. */
TC_MUST_USE tc_status tc_make_shapes_used(tc_ctx *ctx);

typedef struct tc_make {
    tc_ctx *ctx;
    tc_graph *g;
    const tc_loc *loc;
    tc_status status; /* the first failure */
    tc_facts *facts;
} tc_make;

static inline const tc_type *tc_make_type(const tc_make *m, tc_val x)
{
    return tc_type_of(m->g, x);
}
static inline tc_dtype tc_make_dtype(const tc_make *m, tc_val x)
{
    return x ? tc_type_of(m->g, x)->dtype : TC_none;
}

/* A record of attributes in the context's arena. */
#define tc_make_attr(m, record, ...)                                                               \
    ((tc_attr_##record *)tc_arena_copy(&(m)->ctx->arena, &(tc_attr_##record){__VA_ARGS__},         \
                                       sizeof(tc_attr_##record)))

/* Append an operator: its first result, or its node when it has several. */
tc_val tc_make_op(tc_make *m, tc_op op, const void *attr, const tc_val *in, int n_in);
tc_node *tc_make_ops(tc_make *m, tc_op op, const void *attr, const tc_val *in, int n_in, int n_out);
#define tc_make_0(m, op, attr) tc_make_op((m), TC_OP_##op, (attr), NULL, 0)
#define tc_make_1(m, op, attr, a) tc_make_op((m), TC_OP_##op, (attr), (tc_val[]){(a)}, 1)
#define tc_make_2(m, op, attr, a, b) tc_make_op((m), TC_OP_##op, (attr), (tc_val[]){(a), (b)}, 2)
#define tc_make_3(m, op, attr, a, b, c)                                                            \
    tc_make_op((m), TC_OP_##op, (attr), (tc_val[]){(a), (b), (c)}, 3)

/* Messages; the first one sets the status. */
void tc_make_bad(tc_make *m, tc_diag_id id, const char *format, ...) TC_PRINTF(3, 4);
void tc_make_unsupported(tc_make *m, const char *format, ...) TC_PRINTF(2, 3);

/* Arithmetic with broadcasting. */
/* An operator of two operands, broadcast, that has no attributes of its own; sums are plain. */
tc_val tc_make_binary(tc_make *m, tc_op op, tc_val a, tc_val b);
tc_val tc_make_add(tc_make *m, tc_val a, tc_val b);
tc_val tc_make_sub(tc_make *m, tc_val a, tc_val b);
tc_val tc_make_mul(tc_make *m, tc_val a, tc_val b);
tc_val tc_make_div(tc_make *m, tc_val a, tc_val b); /* exact */
/* With a number, in x's own type. */
tc_val tc_make_add_n(tc_make *m, tc_val x, double number);
tc_val tc_make_mul_n(tc_make *m, tc_val x, double number);
tc_val tc_make_clamp(tc_make *m, tc_val x, double lo, double hi);
tc_val tc_make_cast(tc_make *m, tc_val x, tc_dtype dtype); /* x itself when it has it already */

/* Movement.  Axes are counted from the front. */
tc_val tc_make_reshape(tc_make *m, tc_val x, int rank, const int64_t *dim);
tc_val tc_make_flat(tc_make *m, tc_val x);
tc_val tc_make_unsqueeze(tc_make *m, tc_val x, int axis);
tc_val tc_make_permute(tc_make *m, tc_val x, const int64_t *perm);
tc_val tc_make_swap(tc_make *m, tc_val x, int a, int b);
tc_val tc_make_expand(tc_make *m, tc_val x, int rank, const int64_t *dim);
tc_val tc_make_slice(tc_make *m, tc_val x, int axis, int64_t start, int64_t end, int64_t step);
tc_val tc_make_flip(tc_make *m, tc_val x, int axis);
tc_val tc_make_cat(tc_make *m, int axis, const tc_val *in, int n);
/* pad: before and after of every axis; the same number everywhere. */
tc_val tc_make_pad(tc_make *m, tc_val x, const int64_t *pad, double value);
tc_val tc_make_select(tc_make *m, tc_val x, int axis, int64_t index);
/* What lies behind the first axes of x at flat, which counts along them; the result has the axes of
 * index but its last, then those of x that are left. */
tc_val tc_make_gather_nd(tc_make *m, tc_val x, tc_val flat, const tc_type *index, int first);
tc_val tc_make_softmax(tc_make *m, tc_val x, int axis);
tc_val tc_make_where(tc_make *m, tc_val condition, tc_val a, tc_val b);

/* Reductions over n axes, in the operand's own type. */
tc_val tc_make_reduce(tc_make *m, tc_op op, tc_val x, const int64_t *axis, int n, bool keep);

/* Constants; the numbers are copied, except by tc_make_const. */
tc_val tc_make_const(tc_make *m, tc_tensor t, const char *name);
tc_val tc_make_scalar(tc_make *m, tc_dtype dtype, double value);
tc_val tc_make_scalar_i64(tc_make *m, tc_dtype dtype, int64_t value);
tc_val tc_make_list(tc_make *m, const int64_t *v, int64_t count);
tc_val tc_make_full(tc_make *m, int rank, const int64_t *dim, double value, tc_dtype dtype);
tc_val tc_make_arange(tc_make *m, int64_t count, tc_dtype dtype);
/* A new tensor to be filled; then tc_make_const. */
tc_tensor tc_make_tensor(tc_make *m, tc_dtype dtype, int rank, const int64_t *dim);

/* The numbers of x where they follow from constants; false when they do not. */
bool tc_make_known(tc_make *m, tc_val x, tc_tensor *out);
/* The same, or from the numbers that the model is read for; the inputs that took part are fixed. */
bool tc_make_settled(tc_make *m, tc_val x, tc_tensor *out);

/* An axis counted from the front; a message when it is out of range (rank 0 counts as rank 1). */
int tc_make_axis(tc_make *m, int64_t axis, int rank);

#endif
