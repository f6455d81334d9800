/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_results.c -- a node's results: new tensors, or operands that it writes to. */
#include "pt2_program.h"

static tc_pt2_slot *result_at(tc_pt2_node *n, int i)
{
    TC_STOP_WITH(&n->m, NULL);
    if (i < 0 || i >= n->n_result) {
        n->m.status = ti_error(n->m.ctx, n->m.loc, TC_E_STRUCTURE,
                             "'%s' has %d results here, and makes more", n->target, n->n_result);
        return NULL;
    }
    return &n->work->result[i];
}

const tc_type *ti_pt2_result_type(tc_pt2_node *n, int i)
{
    tc_pt2_slot *r = result_at(n, i);
    return r ? ti_pt2_declared(n->work->scope, r->name, n->m.loc, &n->m.status) : NULL;
}

/* Sizes that the export could not know are those of what was computed. */
static void learn_sizes(tc_pt2_scope *scope, const tc_json *meta, const tc_type *type)
{
    const tc_json *sizes = ti_json_get(meta, "sizes"), *size = ti_json_first(sizes);
    if (!ti_json_is(sizes, TC_JSON_LIST) || sizes->n != (uint32_t)type->rank)
        return;
    for (int axis = 0; size; size = size->next)
        ti_pt2_learn(scope->reader, size, type->dim[axis++]);
}

static void check_type(tc_pt2_node *n, const tc_pt2_slot *r, tc_val value)
{
    tc_pt2_scope *scope = n->work->scope;
    const tc_json *meta = ti_map_get(&scope->declared, r->name);
    if (!meta)
        return;
    const tc_type *computed = ti_type_of(n->m.g, value);
    learn_sizes(scope, meta, computed);
    const tc_type *declared = ti_pt2_declared(scope, r->name, n->m.loc, &n->m.status);
    if (!declared || declared == computed)
        return;
    tc_mark mark = ti_arena_mark(&n->m.ctx->scratch);
    n->m.status =
        ti_error(n->m.ctx, n->m.loc, TC_E_MISMATCH,
                 "node '%s' ('%s'): the file declares '%.*s' as %s, inferred is %s",
                     n->m.loc->node,
                 n->target, (int)r->name.n, r->name.p, ti_type_text(&n->m.ctx->scratch, declared),
                 ti_type_text(&n->m.ctx->scratch, computed));
    ti_arena_rewind(&n->m.ctx->scratch, mark);
}

static void name_result(tc_pt2_node *n, tc_pt2_slot *r, tc_pt2_cell *cell)
{
    tc_pt2_scope *scope = n->work->scope;
    tc_pt2_name *name = tc_new(&scope->reader->work, tc_pt2_name);
    *name = (tc_pt2_name){.kind = TC_PT2_CELL, .cell = cell};
    *ti_map_at(&scope->name, r->name) = name;
    r->cell = cell;
}

/* x broadcast to the type of the tensor that it is written into. */
static tc_val fit(tc_pt2_node *n, tc_val x, const tc_type *into)
{
    x = ti_b_cast(&n->m, x, into->dtype);
    if (n->m.status != TC_OK || ti_type_of(n->m.g, x) == into)
        return x;
    tc_ints shape = ti_ints_copy(&n->m.ctx->arena, into->dim, into->rank);
    return ti_b_1(&n->m, expand, ti_b_attr(&n->m, shape, shape), x);
}

/* The cell's tensor, and all that shows its storage, is this value from here on. */
static void write_cell(tc_pt2_node *n, tc_pt2_cell *cell, tc_val value)
{
    value = fit(n, value, ti_type_of(n->m.g, cell->val));
    if (n->m.status == TC_OK && value != cell->val)
        n->m.status = ti_pt2_write(n->m.g, cell, value, n->m.loc);
}

void ti_pt2_write_argument(tc_pt2_node *n, const char *arg, tc_val value)
{
    tc_str tag;
    const tc_json *named = ti_pt2_arg(n, arg, &tag);
    if (!named || !ti_str_is(tag, "as_tensor"))
        ti_pt2_bad_argument(n, arg, "a tensor");
    tc_pt2_cell *cell = n->m.status == TC_OK ? ti_pt2_cell_of(n, named) : NULL;
    if (cell)
        write_cell(n, cell, value);
}

/* The operand that result i is written into; NULL: it is a new tensor. */
static const tc_json *written_operand(tc_pt2_node *n, int i)
{
    tc_str tag;
    const tc_json *inputs = ti_json_get(n->json, "inputs"), *operand = NULL;
    if (n->work->writes == TC_PT2_FIRST && i == 0)
        operand = ti_pt2_arg_at(n, 0, &tag);
    if (n->work->writes == TC_PT2_LAST && ti_json_is(inputs, TC_JSON_LIST))
        operand = ti_pt2_arg_at(n, (int)inputs->n - n->n_result + i, &tag);
    if (operand && !ti_str_is(tag, "as_tensor"))
        ti_b_bad(&n->m, TC_E_ARGUMENT, "it writes to something other than a tensor");
    return operand;
}

/* Other operands that share some of the elements that are written. */
static void warn_of_overlaps(tc_pt2_node *n, const tc_json *operand)
{
    tc_str tag;
    const tc_json *inputs = ti_json_get(n->json, "inputs");
    for (int k = 0; ti_json_is(inputs, TC_JSON_LIST) && k < (int)inputs->n; k++) {
        const tc_json *from = ti_pt2_arg_at(n, k, &tag);
        if (from && from != operand && ti_str_is(tag, "as_tensor"))
            ti_pt2_warn_of_overlap(n, operand, from);
    }
}

/* The result and the operand are both this value from here on, and so is the base that the operand
 * views.  An empty `out` takes the result's shape. */
static void bind_written(tc_pt2_node *n, int i, const tc_json *operand, tc_val value)
{
    tc_pt2_cell *cell = ti_pt2_cell_of(n, operand);
    TC_STOP(&n->m);
    const tc_type *into = ti_type_of(n->m.g, cell->val);
    if (i == 0)
        warn_of_overlaps(n, operand);
    if (n->work->writes == TC_PT2_LAST && !tc_type_count(into))
        cell->val = ti_b_cast(&n->m, value, into->dtype);
    else
        write_cell(n, cell, value);
    if (i < n->n_result)
        ti_pt2_bind_cell(n, i, cell);
}

void ti_pt2_bind(tc_pt2_node *n, int i, tc_val value)
{
    TC_STOP(&n->m);
    const tc_json *operand = written_operand(n, i);
    if (operand) {
        bind_written(n, i, operand, value);
        return;
    }
    tc_pt2_slot *r = result_at(n, i);
    if (!r || !r->tensor)
        return;
    if (ti_pt2_name_of(n->work->scope, r->name))
        n->m.status =
            ti_error(n->m.ctx, n->m.loc, TC_E_ORDER, "'%.*s' is defined twice", (int)r->name.n,
                     r->name.p);
    else
        check_type(n, r, value);
    TC_STOP(&n->m);
    tc_pt2_cell *cell = tc_new(&n->work->scope->reader->work, tc_pt2_cell);
    cell->val = value;
    cell->meta = ti_map_get(&n->work->scope->declared, r->name);
    name_result(n, r, cell);
    tc_value *made = ti_value_of(n->m.g, value);
    if (!made->name && !made->data)
        made->name = ti_intern(n->m.ctx, r->name);
}

void ti_pt2_bind_cell(tc_pt2_node *n, int i, tc_pt2_cell *cell)
{
    tc_pt2_slot *r = result_at(n, i);
    if (!r || !r->tensor)
        return;
    check_type(n, r, cell->val);
    name_result(n, r, cell);
}

void ti_pt2_bind_number(tc_pt2_node *n, int i, tc_pt2_number v)
{
    tc_pt2_slot *r = result_at(n, i);
    if (!r || r->tensor)
        return;
    tc_pt2_scope *scope = n->work->scope;
    tc_pt2_name *name = tc_new(&scope->reader->work, tc_pt2_name);
    *name = (tc_pt2_name){.kind = v.kind, .number = v};
    *ti_map_at(&scope->name, r->name) = name;
    if (v.kind == TC_PT2_INT && scope->numbers)
        ti_pt2_learn(scope->reader,
                     ti_json_get(scope->numbers, ti_text_copy(&scope->reader->work, r->name)), v.i);
}

void ti_pt2_result(tc_pt2_node *n, tc_val value)
{
    if (n->m.status == TC_OK)
        ti_pt2_bind(n, 0, value);
}
