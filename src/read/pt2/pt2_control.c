/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_control.c -- higher-order operators: cond and while_loop become graphs of the module,
 * wrappers that only run a graph are inlined, map and scan unrolled by row. */
#include "pt2_program.h"

#include "../../num/load.h"

/* Argument i, which must be a graph: {"name": ..., "graph": ...} */
static const tc_json *graph_at(tc_pt2_node *n, int i)
{
    tc_str tag;
    const tc_json *arg = ti_pt2_arg_at(n, i, &tag);
    if (!arg || !ti_str_is(tag, "as_graph") || !ti_json_get(arg, "graph"))
        ti_b_bad(&n->m, TC_E_ARGUMENT, "an argument that should be a graph is not");
    return n->m.status == TC_OK ? arg : NULL;
}

/* A name that no graph of the module has yet. */
static const char *unique_name(tc_pt2_node *n, const tc_json *arg)
{
    tc_str text = ti_json_text(&n->m.ctx->arena, ti_json_get(arg, "name"));
    const char *wish = ti_text_copy(&n->m.ctx->arena, text.n ? text : ti_str_of("graph")),
               *name = wish;
    for (int k = 1; ti_module_find(n->m.g->module, name); k++)
        name = ti_text_format(&n->m.ctx->arena, "%s_%d", wish, k);
    return name;
}

/* Bind a sub-graph's input to a cell of its own scope. */
static void bind_input(tc_pt2_scope *scope, tc_str name, tc_pt2_cell *cell)
{
    tc_pt2_name *entry = tc_new(&scope->reader->work, tc_pt2_name);
    *entry = (tc_pt2_name){.kind = TC_PT2_CELL, .cell = cell};
    *ti_map_at(&scope->name, name) = entry;
}

static tc_str input_name(tc_pt2_scope *scope, const tc_json *input)
{
    return ti_json_text(&scope->reader->work, ti_json_get(ti_json_get(input, "as_tensor"), "name"));
}

/* A tensor of the sub-graph's scope that is its result; NULL with a message. */
static tc_pt2_cell *output_cell(tc_pt2_node *n, tc_pt2_scope *scope, const tc_json *output)
{
    tc_str name = input_name(scope, output);
    tc_pt2_name *entry = name.p ? ti_pt2_name_of(scope, name) : NULL;
    if (entry && entry->kind == TC_PT2_CELL)
        return entry->cell;
    n->m.status =
        ti_unsupported(n->m.ctx, n->m.loc, TC_E_UNSUPPORTED,
                       "'%s': a graph that returns something other than tensors", n->target);
    return NULL;
}

/* Its value at the end of the graph. */
static tc_val output_value(tc_pt2_node *n, tc_graph *g, tc_pt2_cell *cell)
{
    tc_val val = TC_NONE;
    if (n->m.status == TC_OK)
        n->m.status = ti_pt2_current(g, cell, n->m.loc, &val);
    return val;
}

/* Import argument i as a separate graph whose inputs have the operands' types. */
static tc_graph *import_graph(tc_pt2_node *n, int i, const tc_val *operand, int n_operand)
{
    const tc_json *arg = graph_at(n, i);
    if (!arg)
        return NULL;
    tc_pt2 *reader = n->work->scope->reader;
    const tc_json *graph = ti_json_get(arg, "graph");
    tc_graph *g = ti_graph_new(n->m.g->module, unique_name(n, arg));
    tc_pt2_scope scope;
    ti_pt2_scope_init(&scope, reader, g, n->work->scope, graph);
    int k = 0;
    for (const tc_json *input = ti_json_first(ti_json_get(graph, "inputs")); input;
         input = input->next, k++) {
        tc_str name = input_name(&scope, input);
        if (!name.p || k >= n_operand) {
            ti_b_unsupported(&n->m, "a graph whose inputs are not the tensors it is called with");
            return NULL;
        }
        tc_pt2_cell *cell = tc_new(&reader->work, tc_pt2_cell);
        cell->val = ti_graph_input(g, ti_type_of(n->m.g, operand[k]), ti_intern(n->m.ctx, name));
        cell->meta = ti_map_get(&scope.declared, name);
        bind_input(&scope, name, cell);
    }
    if (k != n_operand)
        ti_b_bad(&n->m, TC_E_STRUCTURE, "a graph with fewer inputs than it is called with");
    if (n->m.status == TC_OK)
        n->m.status = ti_pt2_graph(&scope, graph);
    for (const tc_json *output = ti_json_first(ti_json_get(graph, "outputs"));
         output && n->m.status == TC_OK; output = output->next)
        ti_graph_output(g, output_value(n, g, output_cell(n, &scope, output)));
    return n->m.status == TC_OK ? g : NULL;
}

/* Append the node with the results of graph `like`, and bind them. */
static void emit_control(tc_pt2_node *n, tc_op op, const void *attr, const tc_val *in, int n_in,
                         const tc_graph *like)
{
    int n_out = (int)like->n_out;
    tc_node *node = ti_graph_add(n->m.g, op, attr, in, n_in, n_out, n->m.loc);
    for (int i = 0; i < n_out; i++)
        ti_value_of(n->m.g, node->out[i])->type = ti_type_of(like, like->out[i]);
    if (tc_ops[op].shape)
        n->m.status = ti_node_infer(n->m.g, node);
    for (int i = 0; i < n_out; i++)
        ti_pt2_bind(n, i, node->out[i]);
}

static bool same_outputs(const tc_graph *a, const tc_graph *b)
{
    if (a->n_out != b->n_out)
        return false;
    for (size_t i = 0; i < a->n_out; i++)
        if (ti_type_of(a, a->out[i]) != ti_type_of(b, b->out[i]))
            return false;
    return true;
}

/* Argument i as a list of tensors. */
static tc_val *operands_at(tc_pt2_node *n, int i, int *count)
{
    tc_str tag;
    const tc_json *arg = ti_pt2_arg_at(n, i, &tag);
    tc_val *list = arg ? ti_pt2_values(n, arg, tag, count) : NULL;
    if (!list)
        *count = 0;
    if (!list && arg && !(ti_json_is(arg, TC_JSON_LIST) && arg->n == 0))
        ti_b_unsupported(&n->m, "operands that are not all tensors");
    return list;
}

/* Import argument i into the graph that is being built, its inputs bound to the cells given; what
 * it returns is written to `out`, which has room for `room`.  How many they are, or -1. */
static int inline_graph(tc_pt2_node *n, int i, tc_pt2_cell **cell, int n_cell, bool autocast,
                        tc_pt2_cell **out, int room)
{
    const tc_json *arg = graph_at(n, i);
    if (!arg)
        return -1;
    const tc_json *graph = ti_json_get(arg, "graph");
    tc_pt2_scope scope;
    ti_pt2_scope_init(&scope, n->work->scope->reader, n->m.g, n->work->scope, graph);
    scope.autocast = autocast;
    int k = 0;
    for (const tc_json *input = ti_json_first(ti_json_get(graph, "inputs")); input;
         input = input->next, k++) {
        tc_str name = input_name(&scope, input);
        if (!name.p || k >= n_cell) {
            ti_b_unsupported(&n->m, "a graph whose inputs are not the tensors it is called with");
            return -1;
        }
        bind_input(&scope, name, cell[k]);
    }
    if (k != n_cell)
        ti_b_bad(&n->m, TC_E_STRUCTURE, "a graph with fewer inputs than it is called with");
    if (n->m.status == TC_OK)
        n->m.status = ti_pt2_graph(&scope, graph);
    k = 0;
    for (const tc_json *output = ti_json_first(ti_json_get(graph, "outputs"));
         output && n->m.status == TC_OK; output = output->next, k++) {
        if (k == room)
            ti_b_bad(&n->m, TC_E_STRUCTURE, "a graph that returns more than the operator does");
        else
            out[k] = output_cell(n, &scope, output);
    }
    return n->m.status == TC_OK ? k : -1;
}

/* The same; what it returns are the node's results: the same tensors, which may be views of what it
 * was called with. */
static void unfold(tc_pt2_node *n, int i, tc_pt2_cell **cell, int n_cell, bool autocast)
{
    tc_pt2_cell **out = tc_new_n(&n->m.ctx->arena, tc_pt2_cell *, (size_t)n->n_result);
    int count = inline_graph(n, i, cell, n_cell, autocast, out, n->n_result);
    for (int k = 0; k < count && n->m.status == TC_OK; k++)
        ti_pt2_bind_cell(n, k, out[k]);
}

/* The cells of the tensors in argument i, a list, or in all arguments from i on. */
static tc_pt2_cell **cells_from(tc_pt2_node *n, int i, int *count)
{
    tc_arena *arena = &n->work->scope->reader->work;
    tc_pt2_cell **cell = NULL;
    size_t n_cell = 0, cap = 0;
    tc_str tag;
    for (const tc_json *arg; n->m.status == TC_OK && (arg = ti_pt2_arg_at(n, i, &tag)); i++) {
        bool list = ti_str_is(tag, "as_tensors");
        if (!list && !ti_str_is(tag, "as_tensor")) {
            ti_b_unsupported(&n->m, "operands that are not all tensors");
            break;
        }
        for (const tc_json *item = list ? ti_json_first(arg) : arg; item;
             item = list ? item->next : NULL) {
            tc_grow(arena, cell, n_cell, cap);
            cell[n_cell++] = ti_pt2_cell_of(n, item);
        }
    }
    *count = (int)n_cell;
    return cell;
}

/* Whether the condition of a cond is known while it is read, and holds. */
static bool settled(tc_pt2_node *n, const tc_json *predicate, tc_str tag, bool *holds)
{
    if (ti_str_is(tag, "as_tensor")) {
        tc_val test = ti_pt2_value(n, predicate);
        tc_tensor t;
        bool known = test && tc_type_count(ti_type_of(n->m.g, test)) == 1 &&
                     ti_b_known(&n->m, test, &t);
        *holds = known && ti_load_f64(t, 0) != 0;
        return known;
    }
    tc_pt2_number v = ti_pt2_number_of(n->work->scope, predicate, tag);
    if (v.kind == TC_PT2_BROKEN)
        ti_pt2_fail_again(n);
    if (v.kind == TC_PT2_NOTHING)
        ti_b_bad(&n->m, TC_E_ARGUMENT, "a condition that is not known");
    *holds = v.f != 0;
    return true;
}

/* cond(predicate, then, else, operands); a predicate that is known chooses now, and the graph that
 * never runs is not read. */
static void import_cond(tc_pt2_node *n)
{
    tc_str tag;
    const tc_json *predicate = ti_pt2_arg_at(n, 0, &tag);
    bool holds;
    int count;
    if (predicate && settled(n, predicate, tag, &holds)) {
        tc_pt2_cell **cell = cells_from(n, 3, &count);
        if (n->m.status == TC_OK)
            unfold(n, holds ? 1 : 2, cell, count, n->work->scope->autocast);
        return;
    }
    tc_val test = predicate ? ti_pt2_value(n, predicate) : TC_NONE;
    tc_val *operand = operands_at(n, 3, &count);
    tc_graph *yes = import_graph(n, 1, operand, count), *no = import_graph(n, 2, operand, count);
    if (!test || !yes || !no) {
        const char *input = test ? ti_steering_input(n->m.g, test) : NULL;
        ti_b_bad(&n->m, TC_E_ARGUMENT, "it has no condition");
        if (input)
            ti_note(n->m.ctx, n->m.loc,
                    "the input '%s' decides which graph runs: --set %s=VALUE makes it a constant, "
                    "and the other one is not read",
                    input, input);
        return;
    }
    if (!same_outputs(yes, no)) {
        ti_b_bad(&n->m, TC_E_STRUCTURE, "its two graphs return different types");
        return;
    }
    tc_val *in = tc_new_n(&n->m.ctx->arena, tc_val, (size_t)count + 1);
    in[0] = test;
    if (count)
        memcpy(in + 1, operand, (size_t)count * sizeof *in);
    emit_control(n, n->row->op, ti_b_attr(&n->m, cond, yes->name, no->name), in, count + 1, yes);
}

/* while_loop(condition, body, carried, further operands) */
static void import_while(tc_pt2_node *n)
{
    int n_carried, n_more;
    tc_val *carried = operands_at(n, 2, &n_carried), *more = operands_at(n, 3, &n_more);
    TC_STOP(&n->m);
    int count = n_carried + n_more;
    tc_val *in = tc_new_n(&n->m.ctx->arena, tc_val, (size_t)count);
    if (n_carried)
        memcpy(in, carried, (size_t)n_carried * sizeof *in);
    if (n_more)
        memcpy(in + n_carried, more, (size_t)n_more * sizeof *in);
    tc_graph *test = import_graph(n, 0, in, count), *body = import_graph(n, 1, in, count);
    if (!test || !body)
        return;
    bool fits = test->n_out == 1 && body->n_out == (size_t)n_carried;
    for (int i = 0; fits && i < n_carried; i++)
        fits = ti_type_of(body, body->out[i]) == ti_type_of(n->m.g, in[i]);
    if (!fits) {
        ti_b_bad(&n->m, TC_E_STRUCTURE, "its body does not return its state");
        return;
    }
    emit_control(n, n->row->op, ti_b_attr(&n->m, while_loop, test->name, body->name), in, count,
                 body);
}

/* ---- a graph for every row ---- */

typedef struct rows {
    tc_val *carried, *of, *more; /* carried state; tensors sliced by row; the others */
    int n_carried, n_of, n_more, n_given; /* n_given: results that are stacked */
    int64_t length;
} rows;

/* Unrolled: the number of iterations, and of rows in all. */
static bool fit_rows(tc_pt2_node *n, rows *r)
{
    enum { MOST = 4096 };
    for (int k = 0; k < r->n_of && n->m.status == TC_OK; k++) {
        const tc_type *t = ti_type_of(n->m.g, r->of[k]);
        if (!t->rank || (k && t->dim[0] != r->length))
            ti_b_bad(&n->m, TC_E_SHAPE, "it goes over tensors of different lengths");
        else
            r->length = t->dim[0];
    }
    r->n_given = n->n_result - r->n_carried;
    if (n->m.status == TC_OK && (r->length < 1 || r->length > MOST || r->n_given < 0))
        ti_b_unsupported(&n->m, "none, or more than 4096 rows, one graph for each");
    return n->m.status == TC_OK;
}

static tc_pt2_cell *cell_for(tc_pt2_node *n, tc_val val)
{
    tc_pt2_cell *cell = tc_new(&n->work->scope->reader->work, tc_pt2_cell);
    cell->val = val;
    return cell;
}

/* (carried, ys[i]) = graph(carried, of[i], more) for each i in turn; carried and the ys stacked are
 * the results. */
static void each_row(tc_pt2_node *n, rows *r)
{
    if (n->m.status != TC_OK || !fit_rows(n, r))
        return;
    tc_arena *arena = &n->m.ctx->arena;
    int n_cell = r->n_carried + r->n_of + r->n_more, n_out = n->n_result;
    tc_pt2_cell **cell = tc_new_n(arena, tc_pt2_cell *, (size_t)n_cell);
    tc_pt2_cell **out = tc_new_n(arena, tc_pt2_cell *, (size_t)n_out);
    tc_val *given = tc_new_n(arena, tc_val, (size_t)(r->n_given * r->length));
    for (int64_t i = 0; i < r->length && n->m.status == TC_OK; i++) {
        int k = 0;
        for (int c = 0; c < r->n_carried; c++)
            cell[k++] = cell_for(n, r->carried[c]);
        for (int c = 0; c < r->n_of; c++)
            cell[k++] = cell_for(
                n, ti_b_1(&n->m, select, ti_b_attr(&n->m, select, 0, i), r->of[c]));
        for (int c = 0; c < r->n_more; c++)
            cell[k++] = cell_for(n, r->more[c]);
        TC_STOP(&n->m);
        int got = inline_graph(n, 0, cell, n_cell, n->work->scope->autocast, out, n_out);
        if (got >= 0 && got != n_out)
            ti_b_bad(&n->m, TC_E_STRUCTURE, "its graph returns less than the operator does");
        for (int c = 0; c < n_out && n->m.status == TC_OK; c++) {
            tc_val val = output_value(n, n->m.g, out[c]);
            TC_STOP(&n->m);
            if (c >= r->n_carried)
                given[(c - r->n_carried) * r->length + i] = val;
            else if (ti_type_of(n->m.g, val) != ti_type_of(n->m.g, r->carried[c]))
                ti_b_bad(&n->m, TC_E_STRUCTURE, "its body does not return its state");
            else
                r->carried[c] = val;
        }
    }
    for (int c = 0; c < n_out && n->m.status == TC_OK; c++) {
        const tc_val *list = given + (c - r->n_carried) * r->length;
        ti_pt2_bind(n, c,
                    c < r->n_carried
                        ? r->carried[c]
                        : ti_b_op(&n->m, TC_OP_stack, ti_b_attr(&n->m, axis, 0), list,
                                  (int)r->length));
    }
}

/* map_impl(graph, tensors, further operands) */
static void import_map(tc_pt2_node *n)
{
    rows r = {0};
    r.of = operands_at(n, 1, &r.n_of);
    r.more = operands_at(n, 2, &r.n_more);
    each_row(n, &r);
}

/* scan(graph, carried, tensors, further operands) */
static void import_scan(tc_pt2_node *n)
{
    rows r = {0};
    r.carried = operands_at(n, 1, &r.n_carried);
    r.of = operands_at(n, 2, &r.n_of);
    r.more = operands_at(n, 3, &r.n_more);
    each_row(n, &r);
}

/* row->extra arguments, the graph, its operands. */
static void import_wrapper(tc_pt2_node *n)
{
    int at = (int)n->row->extra, count;
    tc_pt2_cell **cell = cells_from(n, at + 1, &count);
    if (n->m.status == TC_OK)
        unfold(n, at, cell, count, n->work->scope->autocast);
}

/* wrap_with_autocast(device, dtype, enabled, cache, graph, operands...) */
static void import_autocast(tc_pt2_node *n)
{
    int at = (int)n->row->extra, count;
    tc_str tag;
    const tc_json *enabled = ti_pt2_arg_at(n, at - 2, &tag);
    tc_pt2_number on = enabled ? ti_pt2_number_of(n->work->scope, enabled, tag)
                               : (tc_pt2_number){TC_PT2_NOTHING, 0, 0};
    tc_pt2_cell **cell = cells_from(n, at + 1, &count);
    if (n->m.status == TC_OK)
        unfold(n, at, cell, count, on.f != 0);
}

/* Checks and hints: nothing at inference. */
static void import_nothing(tc_pt2_node *n)
{
    (void)n;
}

const tc_pt2_row tc_pt2_control[] = {
    ROW(":higher_order.cond", import_cond, cond, 0),
    ROW(":higher_order.while_loop", import_while, while_loop, 0),
    ROW(":higher_order.map_impl", import_map, stack, 0),
    ROW(":higher_order.scan", import_scan, stack, 0),
    ROW(":higher_order.wrap_with_set_grad_enabled", import_wrapper, COUNT, 1),
    ROW(":higher_order.wrap_with_autocast", import_autocast, COUNT, 4),
    ROW("_assert_tensor_metadata _assert_scalar _assert_async _assert_async.msg "
        "_functional_assert_scalar _functional_assert_async.msg _functional_sym_constrain_range "
        "_functional_sym_constrain_range_for_size _print sym_constrain_range "
        "sym_constrain_range_for_size :torch._check :_guards_fn", import_nothing, COUNT, 0),
    {0},
};
