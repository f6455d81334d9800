/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_recipe.c -- what the recipes of tflite.def name, in an operator of a TensorFlow Lite graph:
 * in0, in1, ... are its inputs, option0, option1, ... the fields of its options. */
#include "../recipe.h"
#include "tflite.h"

static tc_tfl_node *node_of(tc_build *b) { return (tc_tfl_node *)b; }

/* The number that a name ends with. */
static int last_digit(const char *name) { return name[strlen(name) - 1] - '0'; }

static bool is_input(const char *name) { return name[0] == 'i'; }

/* Fields that a file leaves out are 0. */
static bool has(tc_build *b, const char *name)
{
    return !is_input(name) || ti_tfl_has(node_of(b), last_digit(name));
}

static tc_val tensor(tc_build *b, const char *name)
{
    return ti_tfl_plain(node_of(b), last_digit(name));
}

static double f64(tc_build *b, const char *name)
{
    return ti_tfl_float(node_of(b), (uint32_t)last_digit(name), 0);
}

static bool truth(tc_build *b, const char *name)
{
    return ti_tfl_bool(node_of(b), (uint32_t)last_digit(name), false);
}

static void bind(tc_build *b, int i, tc_val value) { ti_tfl_bind_plain(node_of(b), i, value); }

void ti_tfl_build_recipe(tc_tfl_node *n)
{
    static const tc_recipe_source source = {
        .has = has, .tensor = tensor, .f64 = f64, .truth = truth, .bind = bind};
    ti_recipe(&n->m, &source, n->row->recipe);
}

static void bind_activated(tc_build *b, int i, tc_val value)
{
    bind(b, i, ti_tfl_activate(b, value, ti_tfl_enum(node_of(b), 0)));
}

/* The same followed by an activation, which option 0 names. */
void ti_tfl_build_activated(tc_tfl_node *n)
{
    static const tc_recipe_source source = {.has = has, .tensor = tensor, .bind = bind_activated};
    ti_recipe(&n->m, &source, n->row->recipe);
}
