/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_recipe.c -- what the recipes of aten.def name, in a node of an exported program. */
#include "../recipe.h"
#include "pt2_program.h"

static tc_pt2_node *node_of(tc_build *b) { return (tc_pt2_node *)b; }

static bool has(tc_build *b, const char *name) { return ti_pt2_has(node_of(b), name); }

static bool is_tensor(tc_build *b, const char *name) { return ti_pt2_is_tensor(node_of(b), name); }

static tc_val tensor(tc_build *b, const char *name) { return ti_pt2_tensor(node_of(b), name); }

static tc_val tensor_at(tc_build *b, const char *name, int64_t i)
{
    int count;
    const tc_val *list = ti_pt2_tensors(node_of(b), name, &count);
    if (b->status == TC_OK && i >= count)
        ti_b_bad(b, TC_E_ARGUMENT, "'%s' has %d tensor%s", name, count, count == 1 ? "" : "s");
    return b->status == TC_OK ? list[i] : TC_NONE;
}

static int64_t i64(tc_build *b, const char *name) { return ti_pt2_int(node_of(b), name, 0); }

static double f64(tc_build *b, const char *name) { return ti_pt2_float(node_of(b), name, 0); }

static bool truth(tc_build *b, const char *name) { return ti_pt2_bool(node_of(b), name, false); }

static tc_ints ints(tc_build *b, const char *name) { return ti_pt2_ints(node_of(b), name); }

static const char *text(tc_build *b, const char *name)
{
    return ti_pt2_text(node_of(b), name, "");
}

static tc_dtype dtype(tc_build *b, const char *name)
{
    return ti_pt2_dtype(node_of(b), name, TC_none);
}

static const tc_type *result(tc_build *b, int i) { return ti_pt2_result_type(node_of(b), i); }

static int results(tc_build *b) { return node_of(b)->n_result; }

static void bind(tc_build *b, int i, tc_val value) { ti_pt2_bind(node_of(b), i, value); }

static void missing(tc_build *b, const char *name, const char *expected)
{
    ti_pt2_bad_argument(node_of(b), name, expected);
}

/* The operators with real results of integers: scalars are real from the start. */
static bool gives_real(tc_op op, const void *attr)
{
    const tc_attr_div *a = attr;
    return op == TC_OP_div ? a->mode == TC_div_mode_exact
                           : op == TC_OP_copysign || op == TC_OP_xlogy;
}

/* The operators in which a scalar with narrow floats keeps its precision. */
static bool keeps_numbers(tc_op op)
{
    return op == TC_OP_mul || op == TC_OP_div || op == TC_OP_lerp;
}

/* A scalar operand of a tensor.  A wider one must not decide the type of the result, as a rank-0
 * tensor would. */
static tc_val number(tc_build *b, const char *name, tc_val beside, tc_op op, const void *attr)
{
    const tc_type *t = beside && b->status == TC_OK ? ti_b_type(b, beside) : NULL;
    if (!t || ti_pt2_later(node_of(b), name))
        return ti_pt2_operand(node_of(b), name, beside);
    bool narrow = t->rank && (t->dtype == TC_f16 || t->dtype == TC_bf16);
    bool integers = ti_is_int(t->dtype) || t->dtype == TC_bool;
    if ((narrow && keeps_numbers(op)) || (integers && gives_real(op, attr)))
        return ti_b_scalar(b, TC_f32, f64(b, name));
    return ti_pt2_operand(node_of(b), name, beside);
}

static const tc_recipe_source source = {has,   is_tensor, tensor, tensor_at, number,
                                        i64,   f64,       truth,  ints,      text,
                                        dtype, result,    results, bind,     missing};

void ti_pt2_import_recipe(tc_pt2_node *n)
{
    ti_recipe(&n->m, &source, n->row->recipe);
}

#define ATEN(names, text) {names, ti_pt2_import_recipe, TC_OP_COUNT, 0, text, TC_PT2_COPY},
#define VIEW(names, shows, text)                                                                   \
    {names, ti_pt2_import_recipe, TC_OP_COUNT, 0, text, TC_PT2_##shows},
#define WRITTEN(names, text) VIEW(names, WRITTEN, text)
const tc_pt2_row tc_pt2_recipes[] = {
#include "aten.def"
    {0},
};
