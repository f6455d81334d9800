/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_recipe.c -- names in the recipes of onnx.def: in0, in1, ... are a node's inputs, as operands
 * or as constants; other names are its attributes. */
#include "../recipe.h"
#include "onnx.h"

static tc_onnx_node *node_of(tc_build *b) { return (tc_onnx_node *)b; }

/* 3 of "in3"; -1: an attribute. */
static int input_of(const char *name)
{
    bool input = name[0] == 'i' && name[1] == 'n' && name[2] >= '0' && name[2] <= '9' && !name[3];
    return input ? name[2] - '0' : -1;
}

static bool has(tc_build *b, const char *name)
{
    int i = input_of(name);
    return i >= 0 ? ti_onnx_has_in(node_of(b), i) : ti_onnx_has(node_of(b), name);
}

static tc_val tensor(tc_build *b, const char *name)
{
    return ti_onnx_need(node_of(b), input_of(name));
}

static int64_t i64(tc_build *b, const char *name)
{
    int i = input_of(name);
    return i >= 0 ? ti_onnx_settled_int(node_of(b), i, 0) : ti_onnx_int(node_of(b), name, 0);
}

static double f64(tc_build *b, const char *name) { return ti_onnx_float(node_of(b), name, 0); }

static bool truth(tc_build *b, const char *name) { return ti_onnx_int(node_of(b), name, 0) != 0; }

static tc_ints ints(tc_build *b, const char *name)
{
    int i = input_of(name);
    return i >= 0 ? ti_onnx_settled(node_of(b), i) : ti_onnx_ints(node_of(b), name);
}

static const char *text(tc_build *b, const char *name)
{
    return ti_onnx_text(node_of(b), name, "");
}

static tc_dtype dtype(tc_build *b, const char *name)
{
    return ti_onnx_need_dtype(node_of(b), ti_onnx_int(node_of(b), name, 0));
}

static int results(tc_build *b) { return node_of(b)->n_out; }

static void bind(tc_build *b, int i, tc_val value) { ti_onnx_bind(node_of(b), i, value); }

static void missing(tc_build *b, const char *name, const char *expected)
{
    ti_b_bad(b, TC_E_ARGUMENT, "attribute '%s' is missing, expected %s", name, expected);
}

void ti_onnx_build_recipe(tc_onnx_node *n)
{
    static const tc_recipe_source source = {.has = has,
                                            .tensor = tensor,
                                            .i64 = i64,
                                            .f64 = f64,
                                            .truth = truth,
                                            .ints = ints,
                                            .text = text,
                                            .dtype = dtype,
                                            .results = results,
                                            .bind = bind,
                                            .missing = missing};
    ti_recipe(&n->m, &source, n->row->recipe);
}
