/* SPDX-License-Identifier: Apache-2.0 */
/* op.h -- what op.def turns into. */
#ifndef TC_OP_H
#define TC_OP_H

#include "../num/call.h"
#include "../num/resize.h"

typedef enum tc_op {
#define OP(name, ...) TC_OP_##name,
#include "op.def"
    TC_OP_COUNT
} tc_op;

enum { TC_ANY = 255 }; /* as many operands or results as the node has */

/* Traits of an operator. */
enum {
    T_ELTWISE = 1 << 0,   /* each result element from the operands' elements at the same index,
                           * broadcast */
    T_COMMUTES = 1 << 1,  /* commutative in the first two operands */
    T_MOVES = 1 << 2,     /* elements are moved, never changed: one domain in and out */
    T_MAC = 1 << 3,       /* sums of products */
    T_REDUCES = 1 << 4,   /* over axes */
    T_COMPOSITE = 1 << 5, /* observed at its inputs and outputs only */
    T_CONST = 1 << 6,     /* needs only its attributes */
    T_CONTROL = 1 << 7,   /* runs other graphs */
    T_STATE = 1 << 8,     /* reads or writes state that outlives a run */
    T_MODULAR = 1 << 9,   /* the low 32 bits of an integer result follow from the operands' low
                           * 32 */
    T_KEEPS = 1 << 10,    /* the identity where operand 0 and the result have the same type */
    T_PRODUCT = 1 << 11,  /* fast/float.h computes it; with --kernels=reference, num/ */
};

/* Some of a node's operands or results: one bit each, the last bit covers all that follow. */
typedef uint8_t tc_some;
enum {
    TC_SOME_NONE = 0,
    TC_SOME_ALL = 0xff,
    TC_SOME_ONLY_0 = 1 << 0,
    TC_SOME_ONLY_1 = 1 << 1,
    TC_SOME_BOTH = 3,
    TC_SOME_MIDDLE = 6, /* 1 and 2 */
    TC_SOME_FROM_1 = 0xfe,
    TC_SOME_FROM_2 = 0xfc,
    TC_SOME_BUT_1 = 0xfd
};

static inline bool ti_among(tc_some set, int i)
{
    return set >> (i < 7 ? i : 7) & 1;
}

/* What an operator does to the order of axes. */
typedef enum tc_axes {
    TC_AXES_fixed, /* fixed order, as their types say */
    TC_AXES_free,  /* any order, the same for all */
    TC_AXES_axis,  /* one operand or a list; the attribute's first field is the axis */
    TC_AXES_axes,  /* the attribute's first field is a list of axes, its second is keepdim */
    TC_AXES_each   /* the attribute's first field is a list with one entry (or a pair) per axis */
} tc_axes;

/* The range of integer results, as far as the operands determine it. */
typedef enum tc_range_of {
    TC_RANGE_unknown,
    TC_RANGE_known,       /* a constant's */
    TC_RANGE_operand,     /* operand 0's */
    TC_RANGE_either,      /* those of one operand or the other */
    TC_RANGE_larger,      /* the larger of two */
    TC_RANGE_smaller,     /* the smaller */
    TC_RANGE_moved,       /* those of every operand that is not an index */
    TC_RANGE_linear,      /* sum, difference, product */
    TC_RANGE_negated,     /* the other sign */
    TC_RANGE_size,        /* without sign */
    TC_RANGE_limited,     /* operand 0's, clamped by attributes */
    TC_RANGE_masked,      /* bits common to both operands */
    TC_RANGE_sum,         /* over axes */
    TC_RANGE_running,     /* along an axis */
    TC_RANGE_place,       /* an index into operand 0 */
    TC_RANGE_value_place, /* operand 0's, and an index into it */
    TC_RANGE_bucket,      /* an index into operand 1, or its extent */
    TC_RANGE_remainder,   /* below operand 1, where that is above 0 */
    TC_RANGE_quotient     /* operand 0's and 0, where operand 1 is above 0 */
} tc_range_of;

/* What operands and results are in quantization: role.def has the meaning of the fields. */
typedef enum tc_role_id {
#define ROLE(name, ...) TC_ROLE_##name,
#include "role.def"
    TC_ROLE_COUNT
} tc_role_id;

typedef struct tc_role {
    tc_some carries, carried, weight;
    int8_t channel, bias;
    uint8_t flows;
    enum { TC_RESULT_any, TC_RESULT_share, TC_RESULT_sign } range;
    enum { TC_IS_other, TC_IS_clamp, TC_IS_curve } is;
} tc_role;

extern const tc_role tc_roles[TC_ROLE_COUNT];

typedef struct tc_op_info {
    const char *name; /* as in text: "conv", "tosa.conv2d" */
    uint8_t min_in, max_in, n_out;
    tc_attr_kind attr;
    tc_shape_fn *shape;
    tc_kernel *kernel; /* NULL for control flow and state: eval.c has them */
    uint32_t traits;
    tc_role_id role;
    tc_axes axes;
    tc_some places; /* operands that are indices into a tensor */
    tc_range_of range;
    uint16_t tosa; /* number in the TOSA schema; 0: must be lowered first */
    const char *doc;
} tc_op_info;

extern const tc_op_info tc_ops[TC_OP_COUNT];

/* Whether an operator is one of a list. */
static inline bool ti_op_in(tc_op op, const tc_op *list, size_t n)
{
    while (n && op != list[n - 1])
        n--;
    return n > 0;
}
#define TC_OP_IN(op, ...)                                                                          \
    ti_op_in(op, (const tc_op[]){__VA_ARGS__}, TC_COUNT(((const tc_op[]){__VA_ARGS__})))

/* Of upsample_*: op.def has them in this order. */
static inline tc_resize_kind ti_resize_kind(tc_op op)
{
    return (tc_resize_kind)((int)op - TC_OP_upsample_nearest);
}

/* The operator of that name in text, or TC_OP_COUNT. */
tc_op ti_op_named(tc_str name);
tc_op ti_op_from_tosa(uint32_t number);

#endif
