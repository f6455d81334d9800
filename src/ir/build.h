/* SPDX-License-Identifier: Apache-2.0 */
/* build.h -- the one way to append nodes to a graph.
 *
 * The record: where nodes go, which source location they carry, and the first failure.
 *
 *     tc_build b = {.ctx = ctx, .g = g, .loc = node->loc};
 *     tc_val y = ti_b_mul(&b, x, ti_b_sigmoid(&b, x));
 *     y = ti_b_reshape(&b, y, 2, (int64_t[]){4, 8});
 *     return b.status;
 *
 * In a rewriter (rewrite.h), instead of a node:
 *
 *     tc_build b = ti_build_instead(rw, node);
 *     return ti_b_replace(&b, ti_b_relu(&b, ti_b_in(&b, 0)), done);
 *
 * The promise: after a failure every verb does nothing and gives TC_NONE, so that a rule reads in
 * straight lines and looks at the status once, at its end.  A message has been given by then: by
 * the shape rules where an operator does not fit its operands, by ti_b_bad or ti_b_unsupported
 * where the caller objects.  Types are inferred at once (ti_b_type).
 *
 * The verbs:
 *   ti_b_exp, ...       tc_b_OP(b, operands.., numbers..), generated from op.def for every operator
 *                       that has one result and no attributes (ti_b_where, ti_b_tosa_add), or
 *                       attributes of a kind in the list below (ti_b_softmax(b, x, axis)).
 *   ti_b_reshape ...    written by hand below: no node where nothing changes.
 *   ti_b_1, _2, _3      any operator by its name and its attributes:
 *                       ti_b_1(b, elu, ti_b_attr(b, elu, .alpha = 1), x)
 *   ti_b_op, ti_b_ops   any operator by its enum: one result, or several (its node).
 *
 * No two arguments of one call may make nodes: C leaves their order open (tools/check-order.py).
 * Lists that a verb is given are copied; records of attributes and tensors must live with the
 * context (ti_b_attr, ti_b_tensor). */
#ifndef TC_BUILD_H
#define TC_BUILD_H

#include "rewrite.h"

typedef struct tc_build tc_build;
typedef struct tc_facts tc_facts; /* read/facts.h */

struct tc_build {
    tc_ctx *ctx;
    tc_graph *g;
    const tc_loc *loc;
    tc_status status;                      /* the first failure */
    void (*fold)(tc_build *b, tc_node *n); /* may fold a new node into a constant; or NULL */
    tc_facts *facts;                       /* argument of `fold` */
    const char *subject;                   /* prefix of messages: 'aten.add.Tensor'; or NULL */
    bool every;                            /* a node for every step, also where nothing changes */
    tc_rewrite *rw;                        /* in a rewriter: its pass, ... */
    const tc_node *node;                   /* ... and the node that is replaced */
    struct tc_lowering *lower;             /* lower/lower.h: in a rule to TOSA; or NULL */
    tc_map *constants;                     /* those of ti_b_copy, each made once; or NULL */
};

static inline const tc_type *ti_b_type(const tc_build *b, tc_val x)
{
    return ti_type_of(b->g, x);
}
static inline tc_dtype ti_b_dtype(const tc_build *b, tc_val x)
{
    return x ? ti_type_of(b->g, x)->dtype : TC_none;
}

static inline bool ti_has_dims(const tc_type *t, int rank, const int64_t *dim)
{
    return t->rank == rank && (!rank || !memcmp(t->dim, dim, (size_t)rank * sizeof *dim));
}

/* Instead of a node: its operand i in the new graph (TC_NONE: absent), the types of that and of its
 * result i, and whether the result is used. */
tc_build ti_build_instead(tc_rewrite *rw, const tc_node *node);
static inline tc_val ti_b_in(const tc_build *b, int i)
{
    return i < b->node->n_in ? b->rw->now[b->node->in[i]] : TC_NONE;
}
static inline const tc_type *ti_b_in_type(const tc_build *b, int i)
{
    return ti_type_of(b->g, ti_b_in(b, i));
}
static inline const tc_type *ti_b_out_type(const tc_build *b, int i)
{
    return ti_type_of(b->rw->from, b->node->out[i]);
}
static inline bool ti_b_is_read(const tc_build *b, int i)
{
    return i < b->node->n_out && b->rw->readers[b->node->out[i]] > 0;
}

/* v replaces the node's first result, whose type and name it takes; gives the status. */
TC_MUST_USE tc_status ti_b_replace(tc_build *b, tc_val v, bool *done);
/* The node itself, on these n operands instead of its own. */
TC_MUST_USE tc_status ti_b_again(tc_build *b, const tc_val *in, int n_in, bool *done);

/* A record of attributes in the context's arena. */
#define ti_b_attr(b, record, ...)                                                                  \
    ((tc_attr_##record *)ti_arena_copy(&(b)->ctx->arena, &(tc_attr_##record){__VA_ARGS__},         \
                                       sizeof(tc_attr_##record)))

/* The same of a record already filled in. */
#define ti_b_keep(b, record) ti_arena_copy(&(b)->ctx->arena, (record), sizeof *(record))

/* Append an operator: its first result, or its node when it has several. */
tc_val ti_b_op(tc_build *b, tc_op op, const void *attr, const tc_val *in, int n_in);
tc_node *ti_b_ops(tc_build *b, tc_op op, const void *attr, const tc_val *in, int n_in, int n_out);
#define ti_b_0(b, op, attr) ti_b_op((b), TC_OP_##op, (attr), NULL, 0)
#define ti_b_1(b, op, attr, x) ti_b_op((b), TC_OP_##op, (attr), (tc_val[]){(x)}, 1)
#define ti_b_2(b, op, attr, x, y) ti_b_op((b), TC_OP_##op, (attr), (tc_val[]){(x), (y)}, 2)
#define ti_b_3(b, op, attr, x, y, z) ti_b_op((b), TC_OP_##op, (attr), (tc_val[]){(x), (y), (z)}, 3)

/* An operator whose result has a type that does not follow from its operands. */
tc_val ti_b_typed(tc_build *b, tc_op op, const void *attr, const tc_val *in, int n_in,
                  const tc_type *type);

/* Messages; the first one sets the status. */
void ti_b_bad(tc_build *b, tc_diag_id id, const char *format, ...) TC_PRINTF(3, 4);
void ti_b_unsupported(tc_build *b, const char *format, ...) TC_PRINTF(2, 3);

/* ---- verbs from the table, by kind of attributes and operand counts ---- */
#define TC_VERB_none_1_1_1 ~, TC_VERB_1
#define TC_VERB_none_2_2_1 ~, TC_VERB_2
#define TC_VERB_none_3_3_1 ~, TC_VERB_3
#define TC_VERB_none_2_3_1 ~, TC_VERB_2_3    /* the third may be absent */
#define TC_VERB_alpha_2_2_1 ~, TC_VERB_SUM   /* alpha is 1 */
#define TC_VERB_div_2_2_1 ~, TC_VERB_EXACT   /* the exact quotient */
#define TC_VERB_axis_1_1_1 ~, TC_VERB_AXIS   /* (b, x, axis) */
#define TC_VERB_axis_2_2_1 ~, TC_VERB_AXIS_2 /* (b, x, y, axis) */
#define TC_VERB_axes_1_1_1 ~, TC_VERB_AXES   /* (b, x, axes, keepdim) */
#define TC_VERB_tosa_axis_1_1_1 ~, TC_VERB_TOSA_AXIS
#define TC_VERB_tosa_axis_nan_1_1_1 ~, TC_VERB_TOSA_AXIS_NAN /* NaN propagates */
#define TC_VERB_tosa_nan_2_2_1 ~, TC_VERB_TOSA_NAN
#define TC_VERB_tosa_shift_2_2_1 ~, TC_VERB_TOSA_SHIFT /* (b, x, y, round) */
/* ... and these have a verb written by hand. */
#define TC_VERB_OF_rescale ~, TC_VERB_NO
#define TC_VERB_OF_tosa_reshape ~, TC_VERB_NO
#define TC_VERB_OF_tosa_slice ~, TC_VERB_NO
#define TC_VERB_OF_tosa_pad ~, TC_VERB_NO
#define TC_VERB_OF_tosa_tile ~, TC_VERB_NO
#define TC_VERB_OF_tosa_mul ~, TC_VERB_NO
#define TC_VERB_OF_tosa_cast ~, TC_VERB_NO

#define TC_VERB_NO(name)
#define TC_VERB_1(name)                                                                            \
    static inline tc_val ti_b_##name(tc_build *b, tc_val x)                                        \
    {                                                                                              \
        return ti_b_1(b, name, NULL, x);                                                           \
    }
#define TC_VERB_2(name)                                                                            \
    static inline tc_val ti_b_##name(tc_build *b, tc_val x, tc_val y)                              \
    {                                                                                              \
        return ti_b_2(b, name, NULL, x, y);                                                        \
    }
#define TC_VERB_3(name)                                                                            \
    static inline tc_val ti_b_##name(tc_build *b, tc_val x, tc_val y, tc_val z)                    \
    {                                                                                              \
        return ti_b_3(b, name, NULL, x, y, z);                                                     \
    }
#define TC_VERB_2_3(name)                                                                          \
    static inline tc_val ti_b_##name(tc_build *b, tc_val x, tc_val y, tc_val z)                    \
    {                                                                                              \
        return ti_b_op(b, TC_OP_##name, NULL, (tc_val[]){x, y, z}, z ? 3 : 2);                     \
    }
#define TC_VERB_WITH_1(name, parameters, ...)                                                      \
    static inline tc_val ti_b_##name parameters                                                    \
    {                                                                                              \
        return ti_b_1(b, name, ti_b_attr(b, __VA_ARGS__), x);                                      \
    }
#define TC_VERB_WITH_2(name, parameters, ...)                                                      \
    static inline tc_val ti_b_##name parameters                                                    \
    {                                                                                              \
        return ti_b_2(b, name, ti_b_attr(b, __VA_ARGS__), x, y);                                   \
    }
#define TC_VERB_SUM(name) TC_VERB_WITH_2(name, (tc_build * b, tc_val x, tc_val y), alpha, 1)
#define TC_VERB_EXACT(name)                                                                        \
    TC_VERB_WITH_2(name, (tc_build * b, tc_val x, tc_val y), div, TC_div_mode_exact)
#define TC_VERB_AXIS(name) TC_VERB_WITH_1(name, (tc_build * b, tc_val x, int64_t axis), axis, axis)
#define TC_VERB_AXIS_2(name)                                                                       \
    TC_VERB_WITH_2(name, (tc_build * b, tc_val x, tc_val y, int64_t axis), axis, axis)
#define TC_VERB_AXES(name)                                                                         \
    TC_VERB_WITH_1(name, (tc_build * b, tc_val x, tc_ints axes, bool keepdim), axes, axes, keepdim)
#define TC_VERB_TOSA_AXIS(name)                                                                    \
    TC_VERB_WITH_1(name, (tc_build * b, tc_val x, int64_t axis), tosa_axis, axis)
#define TC_VERB_TOSA_AXIS_NAN(name)                                                                \
    TC_VERB_WITH_1(name, (tc_build * b, tc_val x, int64_t axis), tosa_axis_nan, axis,              \
                   TC_nan_mode_propagate)
#define TC_VERB_TOSA_NAN(name)                                                                     \
    TC_VERB_WITH_2(name, (tc_build * b, tc_val x, tc_val y), tosa_nan, TC_nan_mode_propagate)
#define TC_VERB_TOSA_SHIFT(name)                                                                   \
    TC_VERB_WITH_2(name, (tc_build * b, tc_val x, tc_val y, bool round), tosa_shift, round)

/* Second argument: `~, WORD` if the macro above is defined, else nothing. */
#define TC_VERB_SECOND(first, second, ...) second
#define TC_VERB_PICK(...) TC_VERB_SECOND(__VA_ARGS__)
#define OP(name, least, most, out, attr, ...)                                                      \
    TC_VERB_PICK(TC_VERB_OF_##name,                                                                \
                 TC_VERB_PICK(TC_VERB_##attr##_##least##_##most##_##out, TC_VERB_NO, ~), ~)        \
    (name)
#include "op.def"

/* ---- arithmetic ---- */
/* An operator given by enum, of one or two operands: as its verb builds it. */
tc_val ti_b_unary(tc_build *b, tc_op op, tc_val x);
tc_val ti_b_binary(tc_build *b, tc_op op, tc_val x, tc_val y);
/* With a constant of x's type. */
tc_val ti_b_add_n(tc_build *b, tc_val x, double number);
tc_val ti_b_mul_n(tc_build *b, tc_val x, double number);
tc_val ti_b_clamp(tc_build *b, tc_val x, double lo, double hi);
tc_val ti_b_cast(tc_build *b, tc_val x, tc_dtype dtype); /* x itself if it has that type already */
/* The same real values in the domain of a type; x itself when it is of that type. */
tc_val ti_b_rescale(tc_build *b, tc_val x, const tc_type *type);
/* Reductions over n axes, in the operand's own type. */
tc_val ti_b_reduce(tc_build *b, tc_op op, tc_val x, const int64_t *axis, int n, bool keep);

/* ---- movement: no node where nothing would change; axes are counted from the front; reshape,
 * permute, slice and cat keep the per-tensor scale of a quantized operand ---- */
/* The type with other extents; its domain is one for the whole tensor. */
const tc_type *ti_type_dims(tc_ctx *ctx, const tc_type *type, int rank, const int64_t *dim);
tc_val ti_b_reshape(tc_build *b, tc_val x, int rank, const int64_t *dim);
/* Reshape to the shape of a type; NULL: an earlier failure, already reported. */
tc_val ti_b_reshape_as(tc_build *b, tc_val x, const tc_type *like);
tc_val ti_b_expand_as(tc_build *b, tc_val x, const tc_type *like);
tc_val ti_b_flat(tc_build *b, tc_val x);
tc_val ti_b_unsqueeze(tc_build *b, tc_val x, int64_t axis);
tc_val ti_b_permute(tc_build *b, tc_val x, const int64_t *perm);
tc_val ti_b_swap(tc_build *b, tc_val x, int i, int j);
tc_val ti_b_expand(tc_build *b, tc_val x, int rank, const int64_t *dim);
tc_val ti_b_slice(tc_build *b, tc_val x, int64_t axis, int64_t start, int64_t end, int64_t step);
tc_val ti_b_flip(tc_build *b, tc_val x, int64_t axis);
tc_val ti_b_cat(tc_build *b, int64_t axis, const tc_val *in, int n);
/* pad: before and after of every axis, with one constant value. */
tc_val ti_b_pad(tc_build *b, tc_val x, const int64_t *pad, double value);
tc_val ti_b_select(tc_build *b, tc_val x, int64_t axis, int64_t index);
/* Rows of an axis by index. */
tc_val ti_b_pick(tc_build *b, tc_val x, int64_t axis, const int64_t *row, int64_t n);
/* GATHER_ND: slices of x at `flat`, a linear index over its first axes; the result has the axes of
 * index but its last, then the remaining ones of x. */
tc_val ti_b_gather_nd(tc_build *b, tc_val x, tc_val flat, const tc_type *index, int first);

/* ---- constants; data is copied, except by ti_b_const and ti_b_data ---- */
tc_val ti_b_const(tc_build *b, tc_tensor t, const char *name);
tc_val ti_b_data(tc_build *b, const tc_type *type, const void *data);
/* A copy of the data, or the equal constant that exists already if the builder keeps a map. */
tc_val ti_b_copy(tc_build *b, const tc_type *type, const void *data);
/* A rank-0 constant: of that type, of the type of `like`; an integer. */
tc_val ti_b_scalar(tc_build *b, tc_dtype dtype, double value);
tc_val ti_b_scalar_i64(tc_build *b, tc_dtype dtype, int64_t value);
tc_val ti_b_number(tc_build *b, tc_val like, double value);
tc_val ti_b_ints(tc_build *b, const int64_t *v, int rank, const int64_t *dim); /* i64 */
tc_val ti_b_list(tc_build *b, const int64_t *v, int64_t count);
tc_val ti_b_full(tc_build *b, int rank, const int64_t *dim, double value, tc_dtype dtype);
tc_val ti_b_arange(tc_build *b, int64_t count, tc_dtype dtype);
/* A new tensor to be filled; then ti_b_const. */
tc_tensor ti_b_tensor(tc_build *b, tc_dtype dtype, int rank, const int64_t *dim);

/* ---- TOSA (build_tosa.c): the same, and stored integers ---- */
tc_val ti_b_tosa_mul(tc_build *b, tc_val x, tc_val y);                  /* no shift */
tc_val ti_b_tosa_mul_shift(tc_build *b, tc_val x, tc_val y, int shift); /* i32: right, rounded */
tc_val ti_b_tosa_clamp(tc_build *b, tc_val x, double lo, double hi);
tc_val ti_b_tosa_cast(tc_build *b, tc_val x, tc_dtype dtype); /* halves to even, saturated */
tc_val ti_b_tosa_reduce(tc_build *b, tc_op op, tc_val x, int64_t axis); /* any REDUCE */

/* Values rounded and saturated to the type; a single one has extent 1 on each of `rank` axes, or on
 * as many as x has, for broadcasting. */
tc_val ti_b_numbers(tc_build *b, tc_dtype dtype, int rank, const int64_t *dim, const double *x);
tc_val ti_b_single(tc_build *b, tc_dtype dtype, int rank, double number);
tc_val ti_b_like(tc_build *b, tc_val x, tc_dtype dtype, double number);
tc_val ti_b_zero_point(tc_build *b, tc_val like, int64_t zero); /* [1], of the type of `like`; of blocks f32 */
tc_val ti_b_shape(tc_build *b, int n, const int64_t *extent);   /* CONST_SHAPE */
/* The stored elements of a constant; NULL data when x is none. */
tc_tensor ti_b_constant(const tc_build *b, tc_val x);

tc_val ti_b_tosa_reshape(tc_build *b, tc_val x, int rank, const int64_t *dim);
tc_val ti_b_tosa_transpose(tc_build *b, tc_val x, const int64_t *perm); /* axis i is x's perm[i] */
tc_val ti_b_tosa_slice(tc_build *b, tc_val x, const int64_t *start, const int64_t *size);
tc_val ti_b_tosa_slice_axis(tc_build *b, tc_val x, int axis, int64_t start, int64_t size);
tc_val ti_b_tosa_pad(tc_build *b, tc_val x, const int64_t *before_after, double stored);
tc_val ti_b_tosa_tile(tc_build *b, tc_val x, const int64_t *times);
tc_val ti_b_tosa_rank(tc_build *b, tc_val x, int rank); /* prepends axes of extent 1, for
                                                         * broadcasting */
tc_val ti_b_tosa_expand(tc_build *b, tc_val x, int rank, const int64_t *dim); /* and tiled */
/* Axis `axis` last, the others in order, and back; axis 1: [n,c,..] <-> [n,..,c]. */
tc_val ti_b_tosa_axis_last(tc_build *b, tc_val x, int axis);
tc_val ti_b_tosa_axis_back(tc_build *b, tc_val x, int axis);
tc_val ti_b_tosa_channels_last(tc_build *b, tc_val x);
tc_val ti_b_tosa_channels_first(tc_build *b, tc_val x);

/* An axis counted from the front; a message when it is out of range (rank 0 counts as rank 1). */
int ti_b_axis(tc_build *b, int64_t axis, int rank);
/* Several of them, each once; all where the list is empty. */
tc_ints ti_b_axes(tc_build *b, tc_ints axes, int rank);
/* n numbers as an attribute. */
static inline tc_ints ti_ints_of(tc_build *b, const int64_t *v, int n)
{
    return ti_ints_copy(&b->ctx->arena, v, n);
}

#endif
