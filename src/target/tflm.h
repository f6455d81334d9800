/* SPDX-License-Identifier: Apache-2.0 */
/* tflm.h -- what TensorFlow Lite Micro (TFLM) runs: its builtin operators, which of ours they
 * compute, and where a program's values are in its arena. */
#ifndef TC_TFLM_H
#define TC_TFLM_H

#include "../ir/graph.h"

/* A builtin operator of the schema that TFLM has. */
typedef struct tc_tflm_builtin {
    const char *name;
    int code;
    int options; /* tag of its table of options; 0: none */
    int version; /* the oldest that has what we write */
} tc_tflm_builtin;

typedef enum tc_tflm_name {
#define BUILTIN(name, code, options, version) TC_TFLM_##name,
#include "tflm.def"
    TC_TFLM_COUNT
} tc_tflm_name;
extern const tc_tflm_builtin tc_tflm_builtins[TC_TFLM_COUNT];

/* By the number of the schema; NULL: TFLM has no such builtin. */
const tc_tflm_builtin *ti_tflm_builtin_of(int code);

/* How the operands and options of a builtin are made of a node: a word of tflm.def. */
typedef enum tc_tflm_how {
#define HOW(word, what) TC_TFLM_HOW_##word,
#include "tflm.def"
    TC_TFLM_HOWS
} tc_tflm_how;

enum {
    TC_TFLM_MOST_JOINED = 10, /* operands of a CONCATENATION */
    TC_TFLM_MOST_MOVED = 5    /* axes of a TRANSPOSE */
};

typedef struct tc_tflm_row {
    tc_op op;
    tc_tflm_name builtin;
    const char
        *types; /* letters of what its tensors may be: f f32, b i8, u u8, h i16, w i32, l i64,
                          t bool; * any */
    tc_tflm_how how;
} tc_tflm_row;

/* The builtin that computes the node as it is, or NULL. */
const tc_tflm_row *ti_tflm_row_for(const tc_graph *g, const tc_node *node);

/* ---- the arena ---- */

enum { TC_TFLM_ALIGN = 16 };

/* What a region wants of the arena: a block, with its operands and results inside. */
typedef struct tc_tflm_block {
    const char *graph; /* that calls name */
    int64_t bytes;
    int64_t *in, *out; /* by operand and result: where in the block */
} tc_tflm_block;

/* One plan for the whole arena.  An operand of a region that is not at its offset in the
 * region's block is copied there first. */
typedef struct tc_tflm_plan {
    int64_t *offset; /* by value; -1: a constant, or a variable, which TFLM places itself */
    int64_t *base;   /* by block: where it is */
    int64_t bytes;
} tc_tflm_plan;

#endif
