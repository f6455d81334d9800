/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_functions.c -- elementwise operators as one call: ADD and MUL between RESCALEs, any
 * function of one code as a table of 256 entries, MAXIMUM and MINIMUM, and the softmax of codes. */
#include "kernel_piece.h"

#include "../base/attempt.h"
#include "../num/load.h"
#include "../run/eval.h"

/* ---- sums and products ---- */

/* Both operands of the shape of the result, or one of them a row of channels. */
static void spread(tc_cm_region *r, const tc_type *y, tc_val x[2])
{
    int64_t row[4] = {1, 1, 1, y->rank == 4 ? y->dim[3] : -1};
    for (int i = 0; i < 2 && r->b.status == TC_OK; i++) {
        const tc_type *t = ti_b_type(&r->b, x[i]);
        if (!ti_same_dims(t, y) && !(y->rank == 4 && ti_has_dims(t, 4, row)))
            x[i] = ti_b_expand(&r->b, x[i], y->rank, y->dim);
    }
    bool rows = r->b.status == TC_OK && y->rank == 4 &&
                ti_has_dims(ti_b_type(&r->b, x[0]), 4, row) &&
                ti_has_dims(ti_b_type(&r->b, x[1]), 4, row);
    if (rows && !ti_has_dims(y, 4, row))
        x[0] = ti_b_expand(&r->b, x[0], 4, y->dim);
}

/* An operand of a sum or a product: the codes before its RESCALE. */
static const tc_node *scaled(const tc_cm_region *r, const tc_node *node, int i)
{
    const tc_node *s = ti_cm_def(r, node->in[i], TC_OP_tosa_rescale);
    return s && ti_cm_type(r, s->in[0])->dtype == TC_i8 ? s : NULL;
}

static tc_val pair(tc_cm_region *r, const tc_node *node, const tc_cm_ending *e, const tc_node *op,
                   tc_cm_op which)
{
    const tc_node *s[2] = {scaled(r, op, 0), scaled(r, op, 1)};
    const tc_type *y = ti_cm_type(r, op->out[0]);
    tc_val x[2], in[3];
    if (!s[0] || !s[1] || y->rank > 4)
        return TC_NONE;
    for (int i = 0; i < 2; i++)
        if (!(x[i] = ti_cm_value(r, s[i]->in[0])))
            return TC_NONE;
    if (r->caller == TC_CM_EXECUTORCH)
        spread(r, y, x);
    else if (!ti_same_dims(ti_b_type(&r->b, x[0]), y) || !ti_same_dims(ti_b_type(&r->b, x[1]), y)) {
        r->why = "its operands are broadcast";
        return TC_NONE;
    }
    if (r->b.status != TC_OK)
        return TC_NONE;
    tc_cm_piece p = ti_cm_piece_new(r, node);
    for (int i = 0; i < 2; i++)
        in[i] = ti_cm_piece_finish(&p, ti_cm_piece_in(&p, x[i]), s[i], NULL);
    if (which == TC_CM_mul)
        in[2] = ti_cm_piece_const(&p, op->in[2]);
    tc_val sum = ti_b_op(&p.b, op->op, op->attr, in, op->n_in);
    return ti_cm_piece_call(&p, which, ti_cm_piece_finish(&p, sum, e->rescale, e->clamp));
}

tc_val ti_cm_sum(tc_cm_region *r, const tc_node *node)
{
    tc_cm_ending e;
    const tc_node *op = ti_cm_ending_of(r, node, &e) ? ti_cm_root_of(r, &e, TC_OP_tosa_add) : NULL;
    return op ? pair(r, node, &e, op, TC_CM_add) : TC_NONE;
}

tc_val ti_cm_times(tc_cm_region *r, const tc_node *node)
{
    tc_cm_ending e;
    const tc_node *op = ti_cm_ending_of(r, node, &e) && !e.clamp
                            ? ti_cm_root_of(r, &e, TC_OP_tosa_mul)
                            : NULL;
    return op ? pair(r, node, &e, op, TC_CM_mul) : TC_NONE;
}

/* ---- functions of one code ---- */

enum { MOST_DEPTH = 24, CODES = 256 };

static bool is_one(const tc_cm_region *r, tc_val v)
{
    return ti_is_const(r->from, v) && tc_type_count(ti_cm_type(r, v)) == 1;
}

static bool is_entries(const tc_node *node, int i)
{
    return node->op == TC_OP_tosa_table && i == 1;
}

/* Whether v is a function of the codes of one tensor, element by element: *root. */
static bool source(const tc_cm_region *r, tc_val v, const tc_type *like, int depth, tc_val *root)
{
    const tc_node *node = ti_def(r->from, v);
    const tc_type *t = ti_cm_type(r, v);
    tc_val before = *root;
    if (is_one(r, v))
        return true;
    if (!ti_same_dims(t, like))
        return false;
    bool inner = node && node->n_out == 1 && (tc_ops[node->op].traits & T_ELTWISE) &&
                 depth < MOST_DEPTH && (!depth || t->dtype != TC_i8 || ti_cm_only_here(r, v));
    for (int i = 0; inner && i < node->n_in; i++)
        inner = is_entries(node, i) ? ti_is_const(r->from, node->in[i])
                                    : source(r, node->in[i], like, depth + 1, root);
    if (inner && *root)
        return true;
    *root = before;
    if (t->dtype != TC_i8 || !depth || (before && before != v) || ti_is_const(r->from, v))
        return false;
    *root = v;
    return true;
}

/* The same function of all 256 codes. */
typedef struct codes {
    const tc_cm_region *r;
    tc_val root;
    tc_build b;
    tc_val *now;
} codes;

static tc_val of_codes(codes *c, tc_val v)
{
    const tc_value *value = ti_value_of(c->r->from, v);
    int64_t one = 1, n = CODES;
    if (c->now[v])
        return c->now[v];
    if (value->data) {
        bool single = tc_type_count(value->type) == 1;
        const tc_type *t = single ? ti_type_make(c->r->ctx, value->type->dtype, 1, &one)
                                  : ti_cm_bare(c->r->ctx, value->type);
        return c->now[v] = ti_b_data(&c->b, t, value->data);
    }
    const tc_node *node = value->def;
    tc_val *in = tc_new_n(&c->r->ctx->arena, tc_val, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++)
        in[i] = of_codes(c, node->in[i]);
    return c->now[v] = ti_b_typed(&c->b, node->op, node->attr, in, node->n_in,
                                  ti_type_make(c->r->ctx, value->type->dtype, 1, &n));
}

/* false: TOSA leaves open what some code gives. */
static bool table_of(tc_cm_region *r, tc_val v, tc_val root, int8_t *table)
{
    int64_t n = CODES;
    tc_attempt attempt;
    ti_attempt_begin(r->ctx, &attempt);
    tc_graph *g = ti_graph_new(ti_module_new(r->ctx, NULL), "codes");
    codes c = {r, root, {.ctx = r->ctx, .g = g, .loc = ti_def(r->from, v)->loc}, NULL};
    c.now = tc_new_n(&r->ctx->arena, tc_val, r->from->n_val);
    c.now[root] = ti_graph_input(g, ti_type_make(r->ctx, TC_i8, 1, &n), NULL);
    ti_graph_output(g, of_codes(&c, v));
    tc_tensor in = ti_tensor_new(&r->ctx->arena, ti_type_of(g, g->in[0])), out = {0};
    for (int64_t i = 0; i < n; i++)
        ti_store_i64(in, i, i + INT8_MIN);
    bool known = c.b.status == TC_OK && ti_eval(g, &in, &out, &r->ctx->arena) == TC_OK;
    if (known)
        memcpy(table, out.data, CODES);
    ti_attempt_end(r->ctx, &attempt);
    return known;
}

static tc_val put_table(tc_cm_piece *p, tc_val x, const void *what)
{
    int64_t n = 256;
    tc_val table = ti_b_data(&p->b, ti_type_make(p->r->ctx, TC_i8, 1, &n), what);
    return ti_b_tosa_table(&p->b, x, table);
}

/* lut: an entry for each code, from the smallest. */
static tc_val look_up(tc_cm_region *r, const tc_node *node, tc_val x, const int8_t *lut)
{
    return ti_cm_call_one(r, node, TC_CM_activation, x, put_table, lut);
}

tc_val ti_cm_any_function(tc_cm_region *r, const tc_node *node)
{
    int8_t table[CODES];
    tc_val root = TC_NONE, v = node->out[0];
    if (!(tc_ops[node->op].traits & T_ELTWISE) || ti_cm_type(r, v)->dtype != TC_i8 ||
        !source(r, v, ti_cm_type(r, v), 0, &root) || !table_of(r, v, root, table))
        return TC_NONE;
    tc_val x = ti_cm_value(r, root);
    bool same = true;
    for (int i = 0; i < CODES; i++)
        same = same && table[i] == i + INT8_MIN;
    if (!x || same)
        return x;
    return look_up(r, node, x, ti_arena_copy(&r->ctx->arena, table, CODES));
}

tc_val ti_cm_choice(tc_cm_region *r, const tc_node *node)
{
    bool most = node->op == TC_OP_tosa_maximum;
    if ((!most && node->op != TC_OP_tosa_minimum) || ti_cm_type(r, node->out[0])->dtype != TC_i8)
        return TC_NONE;
    tc_val x = ti_cm_value(r, node->in[0]), y = ti_cm_value(r, node->in[1]);
    if (!x || !y)
        return TC_NONE;
    tc_cm_piece p = ti_cm_piece_new(r, node);
    tc_val in[2];
    in[0] = ti_cm_piece_in(&p, x);
    in[1] = ti_cm_piece_in(&p, y);
    return ti_cm_piece_call(&p, most ? TC_CM_maximum : TC_CM_minimum,
                            ti_cm_piece_node(&p, node, node->attr, in, 2));
}

/* ---- softmax ---- */

/* Whether value a of the region is what value b of the other graph is, where x is its one input. */
typedef struct likeness {
    const tc_cm_region *r;
    const tc_graph *other;
    tc_val x;
    tc_val *known; /* by value of the region: the equal one of the other graph */
} likeness;

static bool is_like(likeness *l, tc_val a, tc_val b)
{
    const tc_value *p = ti_value_of(l->r->from, a), *q = ti_value_of(l->other, b);
    if (l->known[a] == b || (a == l->x && b == l->other->in[0]))
        return true;
    if (p->type->dtype != q->type->dtype || !p->data != !q->data || a == l->x || !p->def || !q->def)
        return false;
    bool like = p->def->op == q->def->op && p->def->n_in == q->def->n_in;
    if (p->data)
        like = tc_type_count(p->type) == tc_type_count(q->type) &&
               memcmp(p->data, q->data, tc_type_bytes(q->type)) == 0;
    else
        like = like && ti_same_dims(p->type, q->type) &&
               ti_attr_equal(tc_ops[p->def->op].attr, p->def->attr, q->def->attr);
    for (int i = 0; like && !p->data && i < p->def->n_in; i++)
        like = is_like(l, p->def->in[i], q->def->in[i]);
    l->known[a] = like ? b : l->known[a];
    return like;
}

static bool is_softmax(const tc_cm_region *r, const tc_node *node, tc_val x, const int32_t *power)
{
    tc_attempt attempt;
    ti_attempt_begin(r->ctx, &attempt);
    tc_graph *g = ti_graph_new(ti_module_new(r->ctx, NULL), "softmax");
    tc_build b = {.ctx = r->ctx, .g = g, .loc = node->loc};
    tc_val in = ti_graph_input(g, ti_cm_bare(r->ctx, ti_cm_type(r, x)), NULL);
    tc_val y = r->softmax(&b, in, power, TC_i8);
    likeness l = {r, g, x, tc_new_n(&r->ctx->arena, tc_val, r->from->n_val)};
    bool like = b.status == TC_OK && is_like(&l, node->out[0], y);
    ti_attempt_end(r->ctx, &attempt);
    return like;
}

static tc_val put_softmax(tc_cm_piece *p, tc_val x, const void *power)
{
    return p->r->softmax(&p->b, x, power, TC_i8);
}

tc_val ti_cm_softmax_call(tc_cm_region *r, const tc_node *node)
{
    int32_t power[CODES];
    tc_val x = ti_cm_type(r, node->out[0])->dtype == TC_i8 ? ti_cm_softmax_at(r->from, node, power)
                                                           : TC_NONE;
    if (!x || !is_softmax(r, node, x, power))
        return TC_NONE;
    tc_val v = ti_cm_value(r, x);
    return v ? ti_cm_call_one(r, node, TC_CM_softmax, v, put_softmax, power) : TC_NONE;
}
