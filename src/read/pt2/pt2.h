/* SPDX-License-Identifier: Apache-2.0 */
/* pt2.h -- what the files of the .pt2 reader share.
 *
 * pt2.c walks the exported program; for every node it looks the target up in the tables of pt2_*.c
 * and calls the importer found there.  An importer reads the node's arguments by name (with the
 * schema's default where the file leaves one out), normalizes them (negative axes, missing lists),
 * emits one or a few operators and binds the results. */
#ifndef TC_PT2_H
#define TC_PT2_H

#include "../../wire/json.h"
#include "../facts.h"
#include "../read.h"

/* The node being imported. */
typedef struct tc_pt2_node {
    tc_build m; /* a node for every step: views are traced back node by node */
    struct tc_pt2 *reader;
    const struct tc_pt2_row *row;
    const char *target; /* "aten.add.Tensor": without "torch.ops." */
    const tc_json *json;
    int n_result; /* results of the schema, tensors of a Tensor[] counted one by one */
    struct tc_pt2_work *work; /* the reader's own notes on this node */
} tc_pt2_node;

/* Arguments by schema name.  A missing or mistyped one without default sets n->m.status with a
 * message that names node, operator and argument, and returns zeros. */
bool ti_pt2_has(tc_pt2_node *n, const char *arg); /* there, and not None */
bool ti_pt2_is_tensor(tc_pt2_node *n, const char *arg);
tc_val ti_pt2_tensor(tc_pt2_node *n, const char *arg);     /* must be a tensor */
tc_val ti_pt2_tensor_opt(tc_pt2_node *n, const char *arg); /* TC_NONE when missing or None */
/* A Tensor[] or Tensor?[]; TC_NONE for None inside. */
tc_val *ti_pt2_tensors(tc_pt2_node *n, const char *arg, int *count);
int64_t ti_pt2_int(tc_pt2_node *n, const char *arg, int64_t missing);
int64_t ti_pt2_need_int(tc_pt2_node *n, const char *arg);
double ti_pt2_float(tc_pt2_node *n, const char *arg, double missing); /* ints and bools too */
bool ti_pt2_bool(tc_pt2_node *n, const char *arg, bool missing);
tc_ints ti_pt2_ints(tc_pt2_node *n, const char *arg); /* none when missing; an int: a list of one */
tc_floats ti_pt2_floats(tc_pt2_node *n, const char *arg);
const char *ti_pt2_text(tc_pt2_node *n, const char *arg, const char *missing);
tc_dtype ti_pt2_dtype(tc_pt2_node *n, const char *arg, tc_dtype missing);

/* A message: the argument is missing or not `expected`. */
void ti_pt2_bad_argument(tc_pt2_node *n, const char *arg, const char *expected);

/* A Scalar or Tensor argument as a value.  A number becomes a rank-0 constant that is promoted as
 * PyTorch does with `other`: it never widens within its own category. */
tc_val ti_pt2_operand(tc_pt2_node *n, const char *arg, tc_val other);

/* The declared type of result i (dims and dtype). */
const tc_type *ti_pt2_result_type(tc_pt2_node *n, int i);

/* Result i of the node is this value; importers call it once per result they make. */
void ti_pt2_bind(tc_pt2_node *n, int i, tc_val value);

/* The tensor of an argument holds this value from here on. */
void ti_pt2_write_argument(tc_pt2_node *n, const char *arg, tc_val value);

/* Elements [start, end) by step along an axis, as Python counts: negative from the end, clamped. */
tc_val ti_pt2_slice(tc_pt2_node *n, tc_val x, int64_t axis, int64_t start, int64_t end,
                    int64_t step);
/* Its value, as the operator's attributes. */
tc_attr_slice *ti_pt2_slice_attr(tc_pt2_node *n, const tc_type *x, int64_t axis, int64_t start,
                                 int64_t end, int64_t step);

/* Where a known tensor is not zero: a list per axis, written to `out`; false: it is not known. */
bool ti_pt2_places(tc_pt2_node *n, tc_val x, tc_val *out);

/* A Tensor[] without holes. */
tc_val *ti_pt2_list_of(tc_pt2_node *n, const char *arg, int *count);

/* Bind the one result, unless something has failed. */
void ti_pt2_result(tc_pt2_node *n, tc_val value);

/* How ATen's result aliases its first operand's storage: an in-place change of one is seen in the
 * other.  Of a list of operands, result i aliases operand i. */
typedef enum tc_pt2_shows {
    TC_PT2_COPY,      /* nothing */
    TC_PT2_PART,      /* some or all of its elements, always */
    TC_PT2_RESHAPED,  /* all of them, where strides can express the new shape; or it is a copy */
    TC_PT2_PART_SAME, /* the operand where it has the same shape, else as PART */
    TC_PT2_RESHAPED_SAME, /* the operand where it has the same shape, else as RESHAPED */
    TC_PT2_SAME,      /* it is the operand */
    TC_PT2_ITSELF,    /* it is the operand, or a copy of another type or layout */
    TC_PT2_RESOLVED,  /* it is the operand, or a copy of one that is conjugated or negated */
    TC_PT2_MOVED,     /* its elements, where the importer only moves them */
    TC_PT2_STORAGE,   /* elements of the storage, by its own strides and offset */
    TC_PT2_CONJUGATE, /* its elements, conjugated when they are read */
    TC_PT2_NEGATED,   /* its elements, negated when they are read */
    TC_PT2_AS_PAIRS,  /* complex numbers as pairs */
    TC_PT2_AS_COMPLEX, /* pairs as complex numbers */
    TC_PT2_BITS,       /* its bits as another element type */
    TC_PT2_WRITTEN     /* the result is written into it, without a '_' in the name */
} tc_pt2_shows;

/* One row of an importer table: its targets, the function that imports them or what they become
 * (../recipe.h); `op` and `extra` let one function serve a family.
 *
 * Targets: "elu" is aten.elu.default, "add.Tensor" aten.add.Tensor; those of other libraries have
 * two dots, or ':' before them.  A trailing '_' before the overload ("aten.add_.Tensor") is looked
 * up as its functional twin when it has no row of its own, and its result is written into the first
 * operand; "aten.add.out" likewise, and the result is written into `out`. */
typedef struct tc_pt2_row {
    const char *targets;
    void (*import)(tc_pt2_node *n);
    tc_op op; /* COUNT: several, or the recipe's */
    double extra;
    const char *recipe;
    tc_pt2_shows shows;
} tc_pt2_row;
#define ROW(targets, import, op, extra) {targets, import, TC_OP_##op, extra, NULL, TC_PT2_COPY}
#define VIEW_ROW(targets, import, op, shows) {targets, import, TC_OP_##op, 0, NULL, TC_PT2_##shows}

void ti_pt2_import_recipe(tc_pt2_node *n);

/* Ended by a row without target. */
extern const tc_pt2_row tc_pt2_eltwise[], tc_pt2_copy[], tc_pt2_product[], tc_pt2_window[],
    tc_pt2_nn[], tc_pt2_move[], tc_pt2_arrange[], tc_pt2_index[], tc_pt2_rank[], tc_pt2_norm[],
    tc_pt2_difference[], tc_pt2_factory[],
    tc_pt2_signal[], tc_pt2_quant[], tc_pt2_torchao[], tc_pt2_experts[], tc_pt2_pattern[],
    tc_pt2_data[], tc_pt2_storage[], tc_pt2_bits[], tc_pt2_recipes[];

#endif
