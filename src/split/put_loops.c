/* SPDX-License-Identifier: Apache-2.0 */
/* put_loops.c -- see loops.h.
 *
 * What is wanted of each loop is found from the outputs backwards; then the graph is written anew, in
 * the order in which values are needed.  Parts of operands and results are in the order of memory,
 * whatever the shapes: a series of values is [times, elements]. */
#include "loops.h"

#include "../ir/build.h"
#include "../ir/verify.h"

/* An input of a step's graph. */
typedef struct port {
    tc_loop_source how;
    tc_val first;  /* of the old graph: the operand's in the first step */
    uint32_t row;  /* where it is an operand: its node, and */
    int operand;   /* which */
    uint32_t from; /* CARRIED: the row, and the result, that it becomes */
    int index;
} port;

/* What outside wants of a value of every step. */
typedef struct result {
    uint32_t row;
    int index;
    const tc_type *type;
    bool every, ahead, back; /* every step's, not only the last; in order, from the end */
    size_t readers;
    int64_t gives; /* as in tc_attr_call_times */
    tc_val made;   /* in the new graph */
} result;

typedef struct steps {
    const tc_loop *of;
    int64_t together;
    port *port;
    size_t n_port, cap_port;
    result *result;
    size_t n_result, cap_result;
    bool wanted, made;
} steps;

typedef struct writer {
    tc_ctx *ctx;
    const tc_loops *l;
    const tc_graph *g; /* the old graph */
    steps *loop;
    const char *target;
    tc_build b;   /* writes the new one */
    tc_val *now;  /* by old value */
    bool *wanted; /* by old value */
} writer;

static const tc_type *type_of(const writer *w, tc_val v) { return ti_type_of(w->g, v); }

static const tc_type *rows_type(const writer *w, const tc_type *each, int64_t n)
{
    return ti_type_make(w->ctx, each->dtype, 2, (int64_t[]){n, tc_type_count(each)});
}

/* Elements before the axis. */
static int64_t leading(const tc_type *t, int64_t axis)
{
    int64_t n = 1;
    for (int64_t a = 0; a < axis; a++)
        n *= t->dim[a];
    return n;
}

/* ---- what is wanted ---- */

static result *result_of(writer *w, const tc_loop_place *p, int index)
{
    steps *s = &w->loop[p->loop - 1];
    for (size_t i = 0; i < s->n_result; i++)
        if (s->result[i].row == p->row && s->result[i].index == index)
            return &s->result[i];
    tc_grow(&w->ctx->arena, s->result, s->n_result, s->cap_result);
    result *r = &s->result[s->n_result++];
    *r = (result){.row = p->row, .index = index,
                  .type = type_of(w, ti_loop_node(s->of, p->row, 0)->out[index])};
    return r;
}

/* The node joins what a loop gives in the order in which it does so: known once all that is wanted is. */
static bool is_joined(writer *w, const tc_node *node, tc_loop_series *s)
{
    return ti_loop_join(w->ctx, w->l, node, s) && !(s->order < 0 && result_of(w, &s->of, s->index)->ahead);
}

static void want_loop(writer *w, size_t loop);

static void want_series(writer *w, const tc_loop_series *s, bool in_order)
{
    result *r = result_of(w, &s->of, s->index);
    r->readers++;
    r->every = true;
    r->ahead = r->ahead || (in_order && s->order > 0);
    r->back = r->back || (in_order && s->order < 0);
    want_loop(w, s->of.loop - 1);
}

static void want(writer *w, tc_val v)
{
    const tc_node *node = v ? ti_def(w->g, v) : NULL;
    tc_loop_series s;
    if (!node || w->wanted[v] || node->op == TC_OP_const)
        return;
    w->wanted[v] = true;
    if (w->l->at[v].loop) {
        const tc_loop_place *p = &w->l->at[v];
        result *r = result_of(w, p, w->g->val[v]->index);
        r->readers++;
        r->every = r->every || p->time != w->loop[p->loop - 1].of->times - 1;
        want_loop(w, p->loop - 1);
    } else if (ti_loop_join(w->ctx, w->l, node, &s)) {
        want_series(w, &s, true);
    } else {
        for (int i = 0; i < node->n_in; i++)
            want(w, node->in[i]);
    }
}

/* The operands are the same in every step. */
static bool same_port(const writer *w, size_t loop, const port *p, const port *q)
{
    if (p->how != q->how || p->first != q->first || p->from != q->from || p->index != q->index)
        return false;
    const tc_loop *of = &w->l->loop[loop];
    for (int64_t t = 0; p->how == TC_LOOP_SERIES && t < of->times; t++)
        if (ti_loop_node(of, p->row, t)->in[p->operand] != ti_loop_node(of, q->row, t)->in[q->operand])
            return false;
    return true;
}

/* The port that an operand is read from, which is made where it is new. */
static size_t port_of(writer *w, size_t loop, size_t row, int operand, tc_loop_source how)
{
    steps *s = &w->loop[loop];
    port p = {.how = how, .row = (uint32_t)row, .operand = operand,
              .first = ti_loop_node(s->of, row, 0)->in[operand]};
    if (how == TC_LOOP_CARRIED) {
        tc_val next = ti_loop_node(s->of, row, 1)->in[operand];
        p.from = w->l->at[next].row;
        p.index = w->g->val[next]->index;
    }
    for (size_t i = 0; i < s->n_port; i++)
        if (same_port(w, loop, &s->port[i], &p))
            return i;
    tc_grow(&w->ctx->arena, s->port, s->n_port, s->cap_port);
    s->port[s->n_port] = p;
    return s->n_port++;
}

static void want_port(writer *w, size_t loop, const port *p)
{
    const tc_loop *of = &w->l->loop[loop];
    if (p->how != TC_LOOP_SERIES) {
        want(w, p->first);
        return;
    }
    const tc_val *v = ti_loop_values(w->ctx, w->l, loop, p->row, p->operand);
    tc_loop_series s = ti_loop_series(w->l, v, of->times);
    if (s.how == TC_SERIES_STACKED)
        want_series(w, &s, false);
    else if (s.how == TC_SERIES_SLICED)
        want(w, s.base);
    for (int64_t t = 0; s.how == TC_SERIES_PACKED && t < of->times; t++)
        want(w, v[t]);
}

static bool is_port(tc_loop_source how)
{
    return how == TC_LOOP_CARRIED || how == TC_LOOP_HELD || how == TC_LOOP_SERIES;
}

static void want_loop(writer *w, size_t loop)
{
    steps *s = &w->loop[loop];
    if (s->wanted)
        return;
    s->wanted = true;
    for (size_t row = 0; row < s->of->n_row; row++)
        for (int i = 0; i < ti_loop_node(s->of, row, 0)->n_in; i++) {
            tc_loop_source how = ti_loop_source(w->l, loop, row, i);
            if (is_port(how))
                (void)port_of(w, loop, row, i, how);
        }
    for (size_t i = 0; i < s->n_port; i++)
        want_port(w, loop, &s->port[i]);
}

/* ---- the graph of a step, or of several ---- */

typedef struct body {
    writer *w;
    steps *s;
    size_t loop;
    tc_build b;
    tc_val *input;  /* by port */
    int64_t *move;  /* by port */
    tc_val *made;   /* by row, result and step: of the new graph */
    size_t most;    /* results of a node */
    tc_map *consts;
} body;

static tc_val *made_at(const body *y, size_t row, int index, int64_t k)
{
    return &y->made[((size_t)k * y->s->of->n_row + row) * y->most + (size_t)index];
}

static tc_val reshaped(tc_build *b, tc_val v, const tc_type *like)
{
    return ti_b_tosa_reshape(b, v, like->rank, like->dim);
}

static tc_val port_at(body *y, size_t i, int64_t k)
{
    const port *p = &y->s->port[i];
    if (p->how == TC_LOOP_CARRIED && k)
        return *made_at(y, p->from, p->index, k - 1);
    if (p->how != TC_LOOP_SERIES || y->s->together == 1)
        return y->input[i];
    int64_t part = ti_repeat_part(y->move[i], k, y->s->together);
    return reshaped(&y->b, ti_b_tosa_slice_axis(&y->b, y->input[i], 0, part, 1), type_of(y->w, p->first));
}

static tc_val constant(body *y, tc_val v)
{
    const tc_value *old = v ? y->w->g->val[v] : NULL;
    if (!old)
        return TC_NONE;
    void **slot = ti_map_at(y->consts, (tc_str){(const char *)&v, sizeof v});
    if (!*slot)
        *slot = (void *)(uintptr_t)ti_graph_const(y->b.g, old->type, old->data, old->name, old->def->loc);
    return (tc_val)(uintptr_t)*slot;
}

static tc_val operand_at(body *y, size_t row, int operand, int64_t k)
{
    tc_loop_source how = ti_loop_source(y->w->l, y->loop, row, operand);
    tc_val first = ti_loop_node(y->s->of, row, 0)->in[operand];
    if (how == TC_LOOP_CONSTANT)
        return constant(y, first);
    if (how == TC_LOOP_INSIDE)
        return *made_at(y, y->w->l->at[first].row, y->w->g->val[first]->index, k);
    return port_at(y, port_of(y->w, y->loop, row, operand, how), k);
}

static void copy_step(body *y, int64_t k)
{
    for (size_t row = 0; row < y->s->of->n_row; row++) {
        const tc_node *node = ti_loop_node(y->s->of, row, 0);
        tc_val *in = tc_new_n(&y->w->ctx->arena, tc_val, (size_t)node->n_in);
        for (int i = 0; i < node->n_in; i++)
            in[i] = operand_at(y, row, i, k);
        tc_node *copy = ti_graph_add(y->b.g, node->op, node->attr, in, node->n_in, node->n_out, node->loc);
        for (int i = 0; i < node->n_out; i++) {
            y->b.g->val[copy->out[i]]->type = type_of(y->w, node->out[i]);
            *made_at(y, row, i, k) = copy->out[i];
        }
    }
}

static void add_inputs(body *y)
{
    for (size_t i = 0; i < y->s->n_port; i++) {
        const tc_type *each = type_of(y->w, y->s->port[i].first);
        bool rows = y->s->port[i].how == TC_LOOP_SERIES && y->s->together > 1;
        y->input[i] = ti_graph_input(y->b.g, rows ? rows_type(y->w, each, y->s->together) : each, NULL);
    }
}

/* What the graph gives of one result. */
static void add_output(body *y, const result *r)
{
    int64_t n = y->s->together;
    if (!r->gives || n == 1) {
        ti_graph_output(y->b.g, *made_at(y, r->row, r->index, n - 1));
        return;
    }
    tc_val *part = tc_new_n(&y->w->ctx->arena, tc_val, (size_t)n);
    const tc_type *row = rows_type(y->w, r->type, 1);
    for (int64_t k = 0; k < n; k++)
        part[ti_repeat_part(r->gives, k, n)] = reshaped(&y->b, *made_at(y, r->row, r->index, k), row);
    ti_graph_output(y->b.g, ti_b_op(&y->b, TC_OP_tosa_concat,
                                    ti_b_attr(&y->b, tosa_axis, .axis = 0), part, (int)n));
}

static tc_status make_body(writer *w, size_t loop, int64_t *move, tc_graph **out)
{
    steps *s = &w->loop[loop];
    tc_map consts;
    ti_map_init(&consts, &w->ctx->arena);
    const char *name = ti_text_format(&w->ctx->arena, "%s_loop_%zu", w->g->name, loop);
    tc_graph *g = ti_graph_new(w->b.g->module, ti_intern_text(w->ctx, name));
    g->facts = w->g->facts;
    body y = {.w = w, .s = s, .loop = loop, .move = move, .consts = &consts,
              .b = {.ctx = w->ctx, .g = g, .loc = ti_loop_node(s->of, 0, 0)->loc},
              .input = tc_new_n(&w->ctx->arena, tc_val, s->n_port + 1)};
    for (size_t row = 0; row < s->of->n_row; row++)
        y.most = (size_t)ti_max_i64((int64_t)y.most, ti_loop_node(s->of, row, 0)->n_out);
    y.made = tc_new_n(&w->ctx->arena, tc_val, (size_t)s->together * s->of->n_row * y.most);
    add_inputs(&y);
    for (int64_t k = 0; k < s->together; k++)
        copy_step(&y, k);
    for (size_t i = 0; i < s->n_result; i++)
        add_output(&y, &s->result[i]);
    *out = g;
    return y.b.status;
}

/* ---- the graph around the loops ---- */

static tc_val write_value(writer *w, tc_val v);
static void write_loop(writer *w, size_t loop);

/* The parts of an operand, in memory, and in which order. */
static tc_val write_series(writer *w, size_t loop, const port *p, int64_t *move)
{
    int64_t times = w->l->loop[loop].times;
    const tc_val *v = ti_loop_values(w->ctx, w->l, loop, p->row, p->operand);
    tc_loop_series s = ti_loop_series(w->l, v, times);
    *move = s.order;
    if (s.how == TC_SERIES_STACKED) {
        write_loop(w, s.of.loop - 1);
        const result *r = result_of(w, &s.of, s.index);
        *move *= r->gives;
        return r->made;
    }
    if (s.how == TC_SERIES_SLICED) {
        tc_val base = write_value(w, s.base);
        const tc_type *t = type_of(w, s.base);
        int64_t perm[TC_MAX_RANK] = {s.axis};
        for (int a = 0, n = 1; a < t->rank; a++)
            if (a != s.axis)
                perm[n++] = a;
        return leading(t, s.axis) == 1 ? base : ti_b_tosa_transpose(&w->b, base, perm);
    }
    tc_val *part = tc_new_n(&w->ctx->arena, tc_val, (size_t)times);
    const tc_type *row = rows_type(w, type_of(w, v[0]), 1);
    for (int64_t t = 0; t < times; t++) {
        tc_val now = write_value(w, v[t]);
        part[t] = reshaped(&w->b, now, row);
    }
    return ti_b_op(&w->b, TC_OP_tosa_concat, ti_b_attr(&w->b, tosa_axis, .axis = 0), part, (int)times);
}

/* The elements alone count for an operand of `call_times`. */
static tc_val without_reshapes(const writer *w, tc_val v)
{
    const tc_node *node = ti_def(w->b.g, v);
    while (node && node->op == TC_OP_tosa_reshape) {
        v = node->in[0];
        node = ti_def(w->b.g, v);
    }
    return v;
}

/* Results that are carried have to be given, too, step by step. */
static void settle_results(writer *w, size_t loop)
{
    steps *s = &w->loop[loop];
    for (size_t i = 0; i < s->n_result; i++) {
        result *r = &s->result[i];
        r->gives = r->back && !r->ahead ? -1 : r->every ? 1 : 0;
    }
}

/* The result that a port becomes. */
static int64_t carried_by(writer *w, size_t loop, const port *p)
{
    steps *s = &w->loop[loop];
    for (size_t i = 0; i < s->n_result; i++)
        if (s->result[i].row == p->from && s->result[i].index == p->index &&
            (!s->result[i].gives || s->together == 1))
            return (int64_t)i;
    tc_grow(&w->ctx->arena, s->result, s->n_result, s->cap_result);
    s->result[s->n_result] = (result){.row = p->from, .index = p->index, .type = type_of(w, p->first)};
    return (int64_t)s->n_result++;
}

static void write_repeat(writer *w, size_t loop, const tc_val *in, int64_t *const list[3], const char *graph)
{
    steps *s = &w->loop[loop];
    tc_attr_call_times *a = tc_new(&w->ctx->arena, tc_attr_call_times);
    *a = (tc_attr_call_times){.graph = graph, .target = ti_intern_text(w->ctx, w->target),
                          .times = s->of->times / s->together,
                          .moves = {(int32_t)s->n_port, list[0]},
                          .carried = {(int32_t)s->n_port, list[1]},
                          .gives = {(int32_t)s->n_result, list[2]}};
    tc_node *node = ti_graph_add(w->b.g, TC_OP_call_times, a, in, (int)s->n_port, (int)s->n_result,
                                 ti_loop_node(s->of, 0, 0)->loc);
    for (size_t i = 0; i < s->n_result; i++) {
        result *r = &s->result[i];
        r->made = node->out[i];
        w->b.g->val[r->made]->type = r->gives ? rows_type(w, r->type, s->of->times) : r->type;
    }
}

static void write_loop(writer *w, size_t loop)
{
    steps *s = &w->loop[loop];
    tc_arena *arena = &w->ctx->arena;
    if (s->made || w->b.status != TC_OK)
        return;
    s->made = true;
    settle_results(w, loop);
    tc_val *in = tc_new_n(arena, tc_val, s->n_port + 1);
    int64_t *move = tc_new_n(arena, int64_t, s->n_port + 1), *carried = tc_new_n(arena, int64_t, s->n_port + 1);
    for (size_t i = 0; i < s->n_port; i++) {
        const port *p = &s->port[i];
        carried[i] = p->how == TC_LOOP_CARRIED ? carried_by(w, loop, p) : -1;
        in[i] = p->how == TC_LOOP_SERIES ? write_series(w, loop, p, &move[i]) : write_value(w, p->first);
        in[i] = without_reshapes(w, in[i]);
    }
    int64_t *gives = tc_new_n(arena, int64_t, s->n_result + 1);
    for (size_t i = 0; i < s->n_result; i++)
        gives[i] = s->result[i].gives;
    tc_graph *g;
    tc_status status = w->b.status == TC_OK ? make_body(w, loop, move, &g) : w->b.status;
    if (status != TC_OK) {
        w->b.status = status;
        return;
    }
    write_repeat(w, loop, in, (int64_t *const[]){move, carried, gives}, g->name);
}

/* One step's value. */
static tc_val write_made(writer *w, tc_val v)
{
    const tc_loop_place *p = &w->l->at[v];
    write_loop(w, p->loop - 1);
    const result *r = result_of(w, p, w->g->val[v]->index);
    if (!r->gives || w->b.status != TC_OK)
        return r->made;
    int64_t part = ti_repeat_part(r->gives, p->time, w->loop[p->loop - 1].of->times);
    return reshaped(&w->b, ti_b_tosa_slice_axis(&w->b, r->made, 0, part, 1), r->type);
}

/* Every step's value, along an axis.  as_is: the elements in order are enough. */
static tc_val write_join(writer *w, const tc_node *node, const tc_loop_series *s, bool as_is)
{
    int64_t axis = ((const tc_attr_tosa_axis *)node->attr)->axis;
    const tc_type *to = type_of(w, node->out[0]);
    write_loop(w, s->of.loop - 1);
    const result *r = result_of(w, &s->of, s->index);
    int64_t lead = leading(to, axis), times = w->loop[s->of.loop - 1].of->times;
    if (w->b.status != TC_OK || (as_is && lead == 1))
        return r->made;
    tc_val v = r->made;
    if (lead > 1) {
        v = ti_b_tosa_reshape(&w->b, v, 3, (int64_t[]){times, lead, tc_type_count(r->type) / lead});
        v = ti_b_tosa_transpose(&w->b, v, (int64_t[]){1, 0, 2});
    }
    return reshaped(&w->b, v, to);
}

static tc_val write_node(writer *w, tc_val v, const tc_node *node)
{
    tc_loop_series s;
    w->b.loc = node->loc;
    if (w->l->at[v].loop)
        return write_made(w, v);
    if (is_joined(w, node, &s))
        return write_join(w, node, &s, false);
    tc_val *in = tc_new_n(&w->ctx->arena, tc_val, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++)
        in[i] = write_value(w, node->in[i]);
    tc_node *copy = ti_graph_add(w->b.g, node->op, node->attr, in, node->n_in, node->n_out, node->loc);
    for (int i = 0; i < node->n_out; i++) {
        tc_value *value = w->b.g->val[copy->out[i]];
        value->type = type_of(w, node->out[i]);
        value->name = w->g->val[node->out[i]]->name;
        value->data = w->g->val[node->out[i]]->data;
        w->now[node->out[i]] = copy->out[i];
    }
    return w->now[v];
}

static tc_val write_value(writer *w, tc_val v)
{
    if (v && !w->now[v] && w->b.status == TC_OK)
        w->now[v] = write_node(w, v, ti_def(w->g, v));
    return w->now[v];
}

/* An output that is every step's value is given as it is, if nothing else reads that. */
static tc_val write_output(writer *w, tc_val v, const uint32_t *readers)
{
    const tc_node *node = ti_def(w->g, v);
    bool alone = node && readers[v] == 1;
    tc_loop_series s;
    while (alone && node->op == TC_OP_tosa_reshape && !w->l->at[node->out[0]].loop) {
        alone = readers[node->in[0]] == 1 && ti_def(w->g, node->in[0]);
        node = alone ? ti_def(w->g, node->in[0]) : node;
    }
    alone = alone && !w->l->at[node->out[0]].loop && is_joined(w, node, &s) &&
            result_of(w, &s.of, s.index)->readers == 1;
    return alone ? write_join(w, node, &s, true) : write_value(w, v);
}

/* A region's output keeps its domain; what a loop gives has none until it is called. */
static void give(writer *w, tc_val old, tc_val v)
{
    tc_value *value = w->b.g->val[v];
    if (v && value->def && value->def->op != TC_OP_call_times &&
        ti_same_dims(value->type, type_of(w, old)))
        value->type = type_of(w, old);
    ti_graph_output(w->b.g, v);
}

tc_status ti_put_loops(tc_ctx *ctx, tc_module *module, const tc_loops *loops, const int64_t *together,
                       const char *target)
{
    tc_graph *g = ti_main(module), old = *g, fresh = ti_graph_empty(module, g->name);
    tc_loops l = *loops;
    l.g = &old;
    writer w = {.ctx = ctx, .l = &l, .g = &old, .target = target,
                .loop = tc_new_n(&ctx->arena, steps, l.n + 1),
                .now = tc_new_n(&ctx->arena, tc_val, old.n_val),
                .wanted = tc_new_n(&ctx->arena, bool, old.n_val)};
    for (size_t i = 0; i < l.n; i++)
        w.loop[i] = (steps){.of = &l.loop[i], .together = together[i]};
    fresh.facts = old.facts & ~(uint32_t)(TC_FACT_TOSA_ONLY | TC_FACT_WHOLE); /* it calls, now */
    *g = fresh;
    w.b = (tc_build){.ctx = ctx, .g = g};
    for (size_t i = 0; i < old.n_in; i++)
        w.now[old.in[i]] = ti_graph_input(g, ti_type_of(&old, old.in[i]), old.val[old.in[i]]->name);
    for (size_t i = 0; i < old.n_out; i++)
        want(&w, old.out[i]);
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    const uint32_t *readers = ti_graph_readers(ctx, &old);
    for (size_t i = 0; i < old.n_out; i++)
        give(&w, old.out[i], write_output(&w, old.out[i], readers));
    ti_arena_rewind(&ctx->scratch, mark);
    return w.b.status;
}
