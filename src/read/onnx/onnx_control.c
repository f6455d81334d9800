/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_control.c -- builders of If, Loop and Scan.
 *
 * Known conditions are resolved when reading: the branch taken, and loops of fixed length, are
 * inlined.  An If decided at run time keeps both graphs, and such a Loop its body. */
#include "../../num/load.h"
#include "onnx_program.h"

enum { MOST_ROUNDS = 1 << 14 };

static bool truth(tc_tensor t) { return tc_type_count(t.type) > 0 && ti_load_i64(t, 0) != 0; }

/* ---- If ---- */

/* A name that no graph of the module has yet. */
static const char *graph_name(tc_onnx_node *n, const char *which)
{
    for (int k = 0;; k++) {
        const char *name = ti_text_format(&n->m.ctx->arena, "%s_%d", which, k);
        if (!ti_module_find(n->m.g->module, name))
            return ti_intern_text(n->m.ctx, name);
    }
}

static void keep_scope(tc_onnx_node *n, tc_onnx_scope *scope, const char *which)
{
    tc_onnx *reader = n->scope->reader;
    ti_onnx_scope_init(scope, reader, n->scope);
    scope->g = ti_graph_new(n->m.g->module, graph_name(n, which));
    scope->facts = tc_new(&reader->ctx->arena, tc_facts);
    scope->prefix = ti_text_format(&reader->ctx->arena, "%s/", n->m.loc->node);
}

static void walk(tc_onnx_node *n, tc_onnx_scope *scope, const TcOnnxPb__Graph *graph)
{
    if (n->m.status == TC_OK)
        n->m.status = ti_onnx_initializers(scope, graph);
    if (n->m.status == TC_OK)
        n->m.status = ti_onnx_nodes(scope, graph->node, graph->n_node);
    for (size_t i = 0; i < graph->n_output && n->m.status == TC_OK; i++) {
        const char *name = graph->output[i]->name ? graph->output[i]->name : "";
        tc_val v = ti_onnx_value(scope, name, n->m.loc, &n->m.status);
        if (n->m.status == TC_OK)
            ti_graph_output(scope->g, v);
    }
}

/* The values that `from` took from outside, as inputs of `to` in the same order. */
static void same_inputs(tc_onnx_scope *to, const tc_onnx_scope *from)
{
    tc_arena *arena = &to->reader->ctx->arena;
    for (size_t i = to->n_capture; i < from->n_capture; i++) {
        const tc_value *v = ti_value_of(from->outer->g, from->captured[i]);
        tc_grow(arena, to->captured, i, to->cap_captured);
        tc_grow(arena, to->capture, i, to->cap_capture);
        to->captured[i] = from->captured[i];
        to->capture[i] = ti_graph_input(to->g, v->type, v->name);
        to->n_capture = i + 1;
    }
}

static const char *const branch_name[2] = {"then", "else"};

/* Both graphs are kept, with one list of inputs; *broken: the branch that has none, or -1. */
static void keep_if(tc_onnx_node *n, tc_val condition, const TcOnnxPb__Graph *const graph[2],
                    int *broken)
{
    tc_build *m = &n->m;
    tc_onnx_scope branch[2];
    *broken = -1;
    for (int k = 0; k < 2; k++) {
        keep_scope(n, &branch[k], branch_name[k]);
        if (k)
            same_inputs(&branch[1], &branch[0]);
        walk(n, &branch[k], graph[k]);
        if (m->status != TC_OK) {
            *broken = k;
            return;
        }
    }
    same_inputs(&branch[0], &branch[1]);
    const tc_graph *a = branch[0].g, *b = branch[1].g;
    for (int i = 0; i < n->n_out; i++)
        if ((size_t)i >= a->n_out || (size_t)i >= b->n_out ||
            ti_type_of(a, a->out[i]) != ti_type_of(b, b->out[i])) {
            ti_b_unsupported(m, "an If whose condition is not constant, with results of two types");
            return;
        }
    size_t n_in = branch[0].n_capture + 1;
    tc_val *in = tc_new_n(&m->ctx->arena, tc_val, n_in);
    in[0] = condition;
    if (n_in > 1)
        memcpy(in + 1, branch[0].captured, (n_in - 1) * sizeof *in);
    tc_node *node = ti_graph_add(m->g, TC_OP_cond, ti_b_attr(m, cond, a->name, b->name), in,
                                 (int)n_in, n->n_out, m->loc);
    for (int i = 0; i < n->n_out; i++)
        ti_value_of(m->g, node->out[i])->type = ti_type_of(a, a->out[i]);
    m->status = ti_node_infer(m->g, node);
    for (int i = 0; i < n->n_out; i++)
        ti_onnx_bind(n, i, node->out[i]);
}

static void take_branch(tc_onnx_node *n, const TcOnnxPb__Graph *graph)
{
    tc_val *out = tc_new_n(&n->m.ctx->arena, tc_val, (size_t)n->n_out);
    ti_onnx_inline(n, graph, NULL, 0, out, n->n_out);
    for (int i = 0; i < n->n_out; i++)
        ti_onnx_bind(n, i, out[i]);
}

/* The error among the messages since `hold` when it is one of sizes, else NULL. */
static const tc_diagnostic *error_of_sizes(const tc_ctx *ctx, tc_hold hold)
{
    for (size_t i = hold.n_message; i < tc_diagnostic_count(ctx); i++) {
        const tc_diagnostic *d = tc_diagnostic_at(ctx, i);
        if (d->severity == TC_SEVERITY_ERROR)
            return ti_text_eq(d->id, "shape") ? d : NULL;
    }
    return NULL;
}

static void tell_invalid(tc_onnx_node *n, int broken, const tc_diagnostic *why)
{
    tc_ctx *ctx = n->m.ctx;
    ti_warning(ctx, n->m.loc, TC_E_SHAPE,
               "the %s branch is not valid for inputs of these sizes, so the %s branch is taken",
               branch_name[broken], branch_name[!broken]);
    ti_note(ctx, n->m.loc, "in the %s branch, node '%s': %s", branch_name[broken],
            why->loc && why->loc->node ? why->loc->node : "?", why->text);
}

static void tell_how_to_set(tc_onnx_node *n, tc_val condition)
{
    const char *input = ti_steering_input(n->m.g, condition);
    if (input)
        ti_note(n->m.ctx, n->m.loc,
                "the input '%s' decides which branch runs: --set %s=VALUE makes it a "
                "constant, and the other one is not read",
                input, input);
}

/* Both branches are kept where that can be; else it is the branch of the data that the model is
 * read for, or the only one that is valid at these sizes: the other gives no result whenever it
 * runs. */
void ti_onnx_build_if(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val condition = ti_onnx_need(n, 0);
    const TcOnnxPb__Graph *graph[2] = {ti_onnx_graph(n, "then_branch"),
                                       ti_onnx_graph(n, "else_branch")};
    tc_tensor t;
    TC_STOP(m);
    if (ti_b_known(m, condition, &t)) {
        take_branch(n, graph[truth(t) ? 0 : 1]);
        return;
    }
    tc_module *module = m->g->module;
    size_t n_graph = module->n_graph;
    tc_hold hold = ti_hold_begin(m->ctx);
    int broken;
    keep_if(n, condition, graph, &broken);
    if (m->status == TC_OK) {
        ti_hold_keep(m->ctx, hold);
        return;
    }
    tc_status status = m->status;
    m->status = TC_OK;
    bool settled = ti_b_settled(m, condition, &t);
    const tc_diagnostic *invalid = broken >= 0 ? error_of_sizes(m->ctx, hold) : NULL;
    if (!settled && !invalid) {
        m->status = status;
        ti_hold_keep(m->ctx, hold);
        tell_how_to_set(n, condition);
        return;
    }
    ti_hold_drop(m->ctx, hold);
    module->n_graph = n_graph;
    ti_map_init(&n->scope->reader->unknown, &n->scope->reader->work);
    if (!settled)
        tell_invalid(n, broken, invalid);
    take_branch(n, graph[settled ? !truth(t) : !broken]);
}

/* ---- Loop ---- */

/* Results of the iterations concatenated along a new axis. */
static tc_val join(tc_build *m, const tc_val *part, int count, int axis)
{
    TC_STOP_WITH(m, TC_NONE);
    return ti_b_op(m, TC_OP_stack, ti_b_attr(m, axis, axis), part, count);
}

typedef struct rounds {
    const TcOnnxPb__Graph *body;
    int n_state, n_scan; /* carried from round to round; collected */
    tc_val *state;
    tc_val **scan;
    int count, cap;
} rounds;

static void collect(tc_build *m, rounds *r, const tc_val *out)
{
    if (r->count == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 16;
        for (int i = 0; i < r->n_scan; i++) {
            tc_val *more = tc_new_n(&m->ctx->arena, tc_val, (size_t)r->cap);
            if (r->count)
                memcpy(more, r->scan[i], (size_t)r->count * sizeof *more);
            r->scan[i] = more;
        }
    }
    for (int i = 0; i < r->n_scan; i++)
        r->scan[i][r->count] = out[i];
    r->count++;
}

/* Whether a condition is known: by constants or, `given`, by the data that the model is read
 * for. */
static bool decided(tc_onnx_node *n, tc_val v, bool given, bool *out)
{
    tc_tensor t;
    if (!ti_b_known(&n->m, v, &t) && !(given && ti_b_settled(&n->m, v, &t)))
        return false;
    *out = truth(t);
    return true;
}

/* Unrolled while the condition is known to hold; false when it is unknown. */
static bool unroll(tc_onnx_node *n, rounds *r, int64_t most, tc_val condition, bool given)
{
    tc_build *m = &n->m;
    int n_body = r->n_state + 2;
    tc_val *in = tc_new_n(&m->ctx->arena, tc_val, (size_t)n_body),
           *out = tc_new_n(&m->ctx->arena, tc_val, (size_t)(1 + r->n_state + r->n_scan));
    bool go = true;
    if (condition && !decided(n, condition, given, &go))
        return false;
    for (int64_t k = 0; go && k < most && m->status == TC_OK; k++) {
        if (k >= MOST_ROUNDS) {
            ti_b_unsupported(m, "a Loop of more than %d iterations", MOST_ROUNDS);
            return true;
        }
        in[0] = ti_b_scalar_i64(m, TC_i64, k);
        in[1] = condition ? condition : ti_b_scalar(m, TC_bool, 1);
        memcpy(in + 2, r->state, (size_t)r->n_state * sizeof *in);
        ti_onnx_inline(n, r->body, in, n_body, out, 1 + r->n_state + r->n_scan);
        TC_STOP_WITH(m, true);
        memcpy(r->state, out + 1, (size_t)r->n_state * sizeof *out);
        collect(m, r, out + 1 + r->n_state);
        condition = out[0];
        if (!decided(n, condition, given, &go))
            return false;
    }
    return true;
}

/* ---- a Loop that is kept ----
 *
 * The graphs of a while_loop read: round, condition, state..., how often at most (where the file
 * says it), and what the body takes from outside. */

static tc_val named_input(tc_onnx_scope *scope, const TcOnnxPb__Graph *body, int i,
                          const tc_type *type)
{
    const char *name = body->input[i]->name ? body->input[i]->name : "";
    tc_val v = ti_graph_input(scope->g, type, name);
    ti_onnx_name_value(scope, name, v);
    return v;
}

/* The body's next round, condition and state; false: they are not of the types that go in. */
static bool keep_body(tc_onnx_node *n, tc_onnx_scope *scope, const rounds *r, const tc_val *in,
                      int n_in)
{
    tc_build inner = n->m;
    keep_scope(n, scope, "body");
    inner.g = scope->g;
    inner.facts = scope->facts;
    if (r->body->n_input != (size_t)(2 + r->n_state))
        return false;
    tc_val round = TC_NONE;
    for (int i = 0; i < n_in; i++) {
        const tc_type *type = ti_b_type(&n->m, in[i]);
        tc_val v = i < 2 + r->n_state ? named_input(scope, r->body, i, type)
                                      : ti_graph_input(scope->g, type, "most");
        round = i ? round : v;
    }
    if (n->m.status == TC_OK)
        n->m.status = ti_onnx_initializers(scope, r->body);
    if (n->m.status == TC_OK)
        n->m.status = ti_onnx_nodes(scope, r->body->node, r->body->n_node);
    inner.status = n->m.status;
    ti_graph_output(scope->g, ti_b_add_n(&inner, round, 1));
    for (int i = 0; i <= r->n_state && inner.status == TC_OK; i++) {
        const char *name = r->body->output[i]->name ? r->body->output[i]->name : "";
        const tc_type *want = ti_b_type(&n->m, in[1 + i]);
        tc_val v = ti_onnx_value(scope, name, n->m.loc, &inner.status);
        if (inner.status != TC_OK)
            break;
        if (!i)
            v = ti_b_reshape(&inner, v, want->rank, want->dim);
        if (inner.status == TC_OK && ti_b_type(&inner, v) != want)
            return false;
        ti_graph_output(scope->g, v);
    }
    n->m.status = inner.status;
    return n->m.status == TC_OK;
}

/* condition, and round < most */
static void keep_condition(tc_onnx_node *n, tc_onnx_scope *scope, const tc_onnx_scope *body,
                           int at_most)
{
    keep_scope(n, scope, "condition");
    tc_build inner = n->m;
    inner.g = scope->g;
    inner.facts = scope->facts;
    for (size_t i = 0; i < body->g->n_in; i++)
        ti_graph_input(scope->g, ti_type_of(body->g, body->g->in[i]), NULL);
    tc_val go = ti_b_reshape(&inner, scope->g->in[1], 0, NULL);
    if (at_most) {
        tc_val most = ti_b_reshape(&inner, scope->g->in[at_most], 0, NULL);
        tc_val less = ti_b_lt(&inner, scope->g->in[0], most);
        go = ti_b_logical_and(&inner, go, less);
    }
    n->m.status = inner.status;
    if (go)
        ti_graph_output(scope->g, go);
}

/* The loop as an operator: nothing is collected, and its state keeps its type. */
static bool keep_loop(tc_onnx_node *n, const rounds *r, tc_val trips, tc_val condition)
{
    tc_build *m = &n->m;
    int carried = 2 + r->n_state, n_in = carried;
    for (int i = r->n_state; i < n->n_out; i++)
        if (ti_onnx_wants(n, i))
            return false;
    tc_val *in = tc_new_n(&m->ctx->arena, tc_val, (size_t)carried + 1);
    in[0] = ti_b_scalar_i64(m, TC_i64, 0);
    in[1] = condition ? condition : ti_b_scalar(m, TC_bool, 1);
    memcpy(in + 2, r->state, (size_t)r->n_state * sizeof *in);
    if (trips)
        in[n_in++] = trips;
    tc_onnx_scope body, go;
    if (m->status != TC_OK || !keep_body(n, &body, r, in, n_in))
        return false;
    keep_condition(n, &go, &body, trips ? carried : 0);
    TC_STOP_WITH(m, false);
    size_t all = (size_t)n_in + body.n_capture;
    tc_val *operand = tc_new_n(&m->ctx->arena, tc_val, all);
    memcpy(operand, in, (size_t)n_in * sizeof *in);
    if (body.n_capture)
        memcpy(operand + n_in, body.captured, body.n_capture * sizeof *in);
    tc_node *node =
        ti_graph_add(m->g, TC_OP_while_loop, ti_b_attr(m, while_loop, go.g->name, body.g->name),
                     operand, (int)all, carried, m->loc);
    for (int i = 0; i < carried; i++)
        ti_value_of(m->g, node->out[i])->type = ti_b_type(m, in[i]);
    m->status = ti_node_infer(m->g, node);
    for (int i = 0; i < r->n_state; i++)
        ti_onnx_bind(n, i, node->out[2 + i]);
    return m->status == TC_OK;
}

/* Tried first, without a word when it cannot be. */
static bool try_keep(tc_onnx_node *n, const rounds *r, tc_val trips, tc_val condition)
{
    tc_build *m = &n->m;
    tc_module *module = m->g->module;
    size_t n_graph = module->n_graph;
    tc_hold hold = ti_hold_begin(m->ctx);
    if (keep_loop(n, r, trips, condition)) {
        ti_hold_keep(m->ctx, hold);
        return true;
    }
    m->status = TC_OK;
    ti_hold_drop(m->ctx, hold);
    module->n_graph = n_graph;
    ti_map_init(&n->scope->reader->unknown, &n->scope->reader->work);
    return false;
}

static void start(tc_onnx_node *n, rounds *r)
{
    r->count = r->cap = 0;
    for (int i = 0; i < r->n_state; i++)
        r->state[i] = ti_onnx_need(n, 2 + i);
}

void ti_onnx_build_loop(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val trips = ti_onnx_in(n, 0), condition = ti_onnx_in(n, 1);
    rounds r = {.body = ti_onnx_graph(n, "body"), .n_state = n->n_in > 2 ? n->n_in - 2 : 0};
    tc_tensor t;
    TC_STOP(m);
    r.n_scan = (int)r.body->n_output - 1 - r.n_state;
    if (r.n_scan < 0) {
        ti_b_bad(m, TC_E_STRUCTURE, "a body with fewer results than the loop carries");
        return;
    }
    r.state = tc_new_n(&m->ctx->arena, tc_val, (size_t)r.n_state);
    r.scan = tc_new_n(&m->ctx->arena, tc_val *, (size_t)r.n_scan);
    start(n, &r);
    bool known = !trips || ti_b_known(m, trips, &t);
    int64_t most = !trips ? INT64_MAX : known && tc_type_count(t.type) ? ti_load_i64(t, 0) : 0;
    if (!known || !unroll(n, &r, most, condition, false)) {
        start(n, &r);
        if (m->status != TC_OK || try_keep(n, &r, trips, condition))
            return;
        start(n, &r);
        most = trips ? ti_onnx_settled_int(n, 0, 0) : INT64_MAX;
        if (m->status == TC_OK && !unroll(n, &r, most, condition, true))
            ti_b_unsupported(m, "a Loop whose length is not constant, and that collects results "
                                "or carries state of changing shape");
    }
    for (int i = 0; i < r.n_state; i++)
        ti_onnx_bind(n, i, r.state[i]);
    for (int i = 0; i < r.n_scan && m->status == TC_OK; i++) {
        if (!ti_onnx_wants(n, r.n_state + i))
            continue;
        if (!r.count)
            ti_b_unsupported(m, "a Loop of no iterations whose results are collected");
        ti_onnx_bind(n, r.n_state + i, join(m, r.scan[i], r.count, 0));
    }
}

/* ---- Scan ---- */

static int64_t at(tc_ints list, int i) { return i < list.n ? list.v[i] : 0; }

/* What a Scan goes over: inputs, the axis of each, which go backward. */
typedef struct sweep {
    int n_over;
    tc_val *over;
    int *axis;
    tc_ints back;
    int64_t length;
} sweep;

static void take_over(tc_onnx_node *n, sweep *s, int i, tc_val x, int64_t along)
{
    tc_build *m = &n->m;
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    s->over[i] = x;
    s->axis[i] = ti_b_axis(m, along, t->rank);
    int64_t extent = t->rank ? t->dim[s->axis[i]] : 0;
    if (s->length >= 0 && extent != s->length)
        ti_b_bad(m, TC_E_SHAPE, "Scan over %" PRId64 " and %" PRId64 " steps", s->length, extent);
    s->length = extent;
}

/* Unrolled. */
static void go_over(tc_onnx_node *n, const sweep *s, rounds *r)
{
    tc_build *m = &n->m;
    int n_in = r->n_state + s->n_over;
    tc_val *in = tc_new_n(&m->ctx->arena, tc_val, (size_t)n_in + 1),
           *out = tc_new_n(&m->ctx->arena, tc_val, (size_t)(r->n_state + r->n_scan) + 1);
    for (int64_t k = 0; k < s->length && m->status == TC_OK; k++) {
        if (k >= MOST_ROUNDS) {
            ti_b_unsupported(m, "a Scan of more than %d steps", MOST_ROUNDS);
            return;
        }
        memcpy(in, r->state, (size_t)r->n_state * sizeof *in);
        for (int i = 0; i < s->n_over; i++)
            in[r->n_state + i] =
                ti_b_select(m, s->over[i], s->axis[i], at(s->back, i) ? s->length - 1 - k : k);
        ti_onnx_inline(n, r->body, in, n_in, out, r->n_state + r->n_scan);
        TC_STOP(m);
        memcpy(r->state, out, (size_t)r->n_state * sizeof *out);
        collect(m, r, out + r->n_state);
    }
}

/* Whether inputs and results of the body fit; with room for all of them. */
static bool begin_scan(tc_onnx_node *n, int n_in, rounds *r, sweep *s)
{
    tc_build *m = &n->m;
    int64_t n_over = ti_onnx_int(n, "num_scan_inputs", 0);
    r->body = ti_onnx_graph(n, "body");
    TC_STOP_WITH(m, false);
    if (n_over < 1 || n_over > n_in) {
        ti_b_bad(m, TC_E_ARGUMENT, "Scan over %" PRId64 " of %d inputs", n_over, n_in);
        return false;
    }
    r->n_state = n_in - (int)n_over;
    r->n_scan = (int)r->body->n_output - r->n_state;
    if (r->n_scan < 0) {
        ti_b_bad(m, TC_E_STRUCTURE, "a body with fewer results than the scan carries");
        return false;
    }
    size_t most = (size_t)(n_in + r->n_scan + r->n_state + 1);
    r->state = tc_new_n(&m->ctx->arena, tc_val, most);
    r->scan = tc_new_n(&m->ctx->arena, tc_val *, most);
    *s = (sweep){.n_over = (int)n_over, .over = tc_new_n(&m->ctx->arena, tc_val, most),
                 .axis = tc_new_n(&m->ctx->arena, int, most), .length = -1};
    return true;
}

/* Operator set 8: inputs and results have the batch first, then the steps. */
static void scan_by_batch(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    rounds r = {0};
    sweep s;
    if (ti_onnx_has_in(n, 0)) {
        ti_b_unsupported(m, "a Scan whose length differs from row to row");
        return;
    }
    if (!begin_scan(n, n->n_in - 1, &r, &s))
        return;
    tc_val first = ti_onnx_need(n, 1 + r.n_state);
    const tc_type *t = first ? ti_b_type(m, first) : NULL;
    int64_t batch = t && t->rank ? t->dim[0] : 0;
    if (m->status == TC_OK && (batch < 1 || batch > MOST_ROUNDS))
        ti_b_unsupported(m, "a Scan over %" PRId64 " rows", batch);
    TC_STOP(m);
    int results = r.n_state + r.n_scan;
    tc_val *all = tc_new_n(&m->ctx->arena, tc_val, (size_t)(results * batch) + 1);
    s.back = ti_onnx_ints(n, "directions");
    for (int64_t b = 0; b < batch && m->status == TC_OK; b++) {
        r.count = r.cap = 0;
        for (int i = 0; i < r.n_state; i++)
            r.state[i] = ti_b_select(m, ti_onnx_need(n, 1 + i), 0, b);
        for (int i = 0; i < s.n_over; i++)
            take_over(n, &s, i, ti_b_select(m, ti_onnx_need(n, 1 + r.n_state + i), 0, b), 0);
        go_over(n, &s, &r);
        if (m->status == TC_OK && r.n_scan && !r.count)
            ti_b_unsupported(m, "a Scan of no steps whose results are collected");
        for (int i = 0; i < results && m->status == TC_OK; i++)
            all[i * batch + b] =
                i < r.n_state ? r.state[i] : join(m, r.scan[i - r.n_state], r.count, 0);
    }
    for (int i = 0; i < results && m->status == TC_OK; i++)
        if (ti_onnx_wants(n, i))
            ti_onnx_bind(n, i, join(m, all + i * batch, (int)batch, 0));
}

void ti_onnx_build_scan(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    rounds r = {0};
    sweep s;
    if (n->version < 9) {
        scan_by_batch(n);
        return;
    }
    tc_ints in_axes = ti_onnx_ints(n, "scan_input_axes"),
            out_axes = ti_onnx_ints(n, "scan_output_axes"),
            out_back = ti_onnx_ints(n, "scan_output_directions");
    if (!begin_scan(n, n->n_in, &r, &s))
        return;
    s.back = ti_onnx_ints(n, "scan_input_directions");
    for (int i = 0; i < r.n_state; i++)
        r.state[i] = ti_onnx_need(n, i);
    for (int i = 0; i < s.n_over; i++)
        take_over(n, &s, i, ti_onnx_need(n, r.n_state + i), at(in_axes, i));
    go_over(n, &s, &r);
    for (int i = 0; i < r.n_state; i++)
        ti_onnx_bind(n, i, r.state[i]);
    for (int i = 0; i < r.n_scan && m->status == TC_OK; i++) {
        if (!ti_onnx_wants(n, r.n_state + i))
            continue;
        if (!r.count) {
            ti_b_unsupported(m, "a Scan of no steps whose results are collected");
            return;
        }
        for (int k = 0; at(out_back, i) && k < r.count / 2; k++) {
            tc_val other = r.scan[i][r.count - 1 - k];
            r.scan[i][r.count - 1 - k] = r.scan[i][k];
            r.scan[i][k] = other;
        }
        int rank = ti_b_type(m, r.scan[i][0])->rank;
        int where = ti_b_axis(m, at(out_axes, i), rank + 1);
        ti_onnx_bind(n, r.n_state + i, join(m, r.scan[i], r.count, where));
    }
}
