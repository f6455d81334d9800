/* SPDX-License-Identifier: Apache-2.0 */
/* op.h -- what op.def turns into. */
#ifndef TC_OP_H
#define TC_OP_H

#include "../num/call.h"

typedef enum tc_op {
#define OP(name, ...) TC_OP_##name,
#include "op.def"
    TC_OP_COUNT
} tc_op;

enum { TC_ANY = 255 }; /* as many operands or results as the node has */

/* What a stage may ask of an operator. */
enum {
    T_ELTWISE = 1 << 0,   /* each result element from the same place of the operands, broadcast */
    T_COMMUTES = 1 << 1,  /* the first two operands may change places */
    T_MOVES = 1 << 2,     /* numbers are moved, never changed: one domain in and out */
    T_MAC = 1 << 3,       /* sums of products */
    T_REDUCES = 1 << 4,   /* over axes */
    T_COMPOSITE = 1 << 5, /* observed at its borders only */
    T_CONST = 1 << 6,     /* needs nothing but its attributes */
    T_CONTROL = 1 << 7,   /* runs other graphs */
    T_STATE = 1 << 8,     /* reads or writes what outlives a run */
};

typedef struct tc_op_info {
    const char *name; /* as in text: "conv", "tosa.conv2d" */
    uint8_t min_in, max_in, n_out;
    tc_attr_kind attr;
    tc_shape_fn *shape;
    tc_kernel *kernel; /* NULL for control flow and state: eval.c has them */
    uint32_t traits;
    uint16_t tosa; /* number in the TOSA schema; 0: must be lowered first */
    const char *doc;
} tc_op_info;

extern const tc_op_info tc_ops[TC_OP_COUNT];

/* The operator of that name in text, or TC_OP_COUNT. */
tc_op tc_op_named(tc_str name);
tc_op tc_op_from_tosa(uint32_t number);

#endif
