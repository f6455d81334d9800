/* SPDX-License-Identifier: Apache-2.0 */
/* judge.h -- what the files of the TOSA judge share. */
#ifndef TC_JUDGE_H
#define TC_JUDGE_H

#include "target.h"

/* Level 8K. */
enum {
    TC_LEVEL_RANK = 6,
    TC_LEVEL_KERNEL = 8192,
    TC_LEVEL_STRIDE = 8192,
    TC_LEVEL_SCALE = 256,
    TC_LEVEL_LOG2_SIZE = 31,
    TC_LEVEL_NESTING = 6,
    TC_LEVEL_LIST = 64,
    TC_LEVEL_SHAPE = 16 /* TOSA 1.1: values of a shape */
};

typedef struct tc_judge {
    tc_ctx *ctx;
    const tc_module *module;
    const tc_target *target; /* NULL: no profile */
    int minor;               /* the rules of TOSA 1.0 or 1.1 */
    const int64_t **known;   /* by value: what its shape holds; NULL: not known */
    tc_map graphs;           /* by name */
    tc_map variables;        /* by name: the type it is declared with */
    const tc_graph *g;
    const tc_node *node;
    tc_status worst;
    size_t lacks[TC_FEATURE_COUNT]; /* nodes that need what the target has not: one message for all */
    const void
        *types[TC_OP_COUNT], *types_end[TC_OP_COUNT]; /* tosa_types.c: an operator's rows of types, once it was met */
} tc_judge;

/* Report that the node at hand breaks a rule (TOSA_RULE, TOSA_LEVEL, TOSA_PROFILE); the format
 * takes at least one argument. */
#define TC_BREAKS(j, id, format, ...)                                                              \
    ((void)((j)->worst = ti_error((j)->ctx, (j)->node->loc, TC_E_##id, "'%s': " format,            \
                                  tc_ops[(j)->node->op].name, __VA_ARGS__)))

/* The target, when there is one, has this feature; else a message that `what` needs it. */
void ti_judge_need(tc_judge *j, tc_feature feature, const char *what);

static inline const tc_type *ti_operand(const tc_judge *j, int i)
{
    return ti_type_of(j->g, j->node->in[i]);
}
static inline const tc_type *ti_result(const tc_judge *j, int i)
{
    return ti_type_of(j->g, j->node->out[i]);
}

/* tosa_limits.c: what limits an operator has beyond element types, zero points and shapes.  They
 * are called for nodes that are complete and whose shape function had no objection. */
typedef void tc_limits(tc_judge *j);
tc_limits ti_limits_none, ti_limits_pool, ti_limits_conv, ti_limits_transpose_conv, ti_limits_fft,
    ti_limits_clamp, ti_limits_list, ti_limits_resize, ti_limits_rescale, ti_limits_cond_if,
    ti_limits_while_loop, ti_limits_variable, ti_limits_adaptive, ti_limits_block_conv,
    ti_limits_block_list; /* the last of tosa_types.c */

/* tosa.c: a row JUDGE of tosa.def; without a family: the operator is none of TOSA. */
typedef struct tc_judge_row {
    const char *in, *out;
    char acc;
    const char *constant, *zeros, *family;
    tc_limits *limits;
} tc_judge_row;
const tc_judge_row *ti_judge_row(tc_op op);
/* "EXT-INT16". */
const char *ti_feature_spec(tc_feature feature);

/* tosa_types.c: whether the table holds the element types of the node at hand, and the target what
 * they need; else with a message. */
bool ti_judge_types(tc_judge *j);
/* They came with TOSA 1.1. */
bool ti_judge_types_are_new(tc_judge *j);
/* What values of the type need that the target has not, or NULL. */
const char *ti_judge_value_needs(tc_judge *j, tc_dtype type);

/* Control flow: how deep graphs run inside each other. */
void ti_judge_nesting(tc_judge *j);

#endif
