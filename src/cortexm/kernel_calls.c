/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_calls.c -- see kernel_calls.h.
 *
 * The region is walked from what it gives to what it takes: each value is made by one call where
 * its node is the end of a pattern, CONV2D with RESCALE and CLAMP behind it and so on. */
#include "kernel_calls.h"

#include "../base/attempt.h"
#include "../ir/rewrite.h"
#include "../num/load.h"
#include "../run/eval.h"

static const tc_node *def_of(const tc_cm_region *r, tc_val v, tc_op op)
{
    const tc_node *node = ti_def(r->from, v);
    return node && node->op == op ? node : NULL;
}

int64_t ti_cm_at(const tc_cm_region *r, tc_val v, int64_t i)
{
    return ti_load_i64(ti_tensor_of(r->from, v), i);
}

/* Nobody else reads it. */
static bool only_here(const tc_cm_region *r, tc_val v) { return r->readers[v] == 1; }

static const tc_type *bare(tc_ctx *ctx, const tc_type *t) { return ti_type_with(ctx, t, NULL); }

/* ---- pieces ---- */

/* A graph that becomes one call. */
typedef struct piece {
    tc_cm_region *r;
    tc_graph *g;
    tc_build b;
    tc_val outer[2]; /* by input: what it is in the program */
} piece;

enum { MOST_CALLS = 900 }; /* graphs of one module (ir/verify.c), with some to spare */

static piece piece_new(tc_cm_region *r, const tc_node *end)
{
    tc_module *m = r->b.g->module;
    if (m->n_graph > MOST_CALLS && r->b.status == TC_OK)
        r->b.status = ti_unsupported(r->ctx, end->loc, TC_E_UNSUPPORTED,
                                     "the program takes more than %d calls of kernels", MOST_CALLS);
    const char *name =
        ti_intern_text(r->ctx, ti_text_format(&r->ctx->arena, "kernel_%zu", m->n_graph));
    piece p = {.r = r, .g = ti_graph_new(m, name)};
    p.g->facts = r->from->facts;
    p.b = (tc_build){.ctx = r->ctx, .g = p.g, .loc = end->loc};
    return p;
}

/* What a value of the program is inside. */
static tc_val piece_in(piece *p, tc_val outer)
{
    for (size_t i = 0; i < p->g->n_in; i++)
        if (p->outer[i] == outer)
            return p->g->in[i];
    p->outer[p->g->n_in] = outer;
    return ti_graph_input(p->g, ti_type_of(p->r->b.g, outer), NULL);
}

static tc_val piece_const(piece *p, tc_val v)
{
    const tc_value *c = ti_value_of(p->r->from, v);
    return ti_graph_const(p->g, bare(p->r->ctx, c->type), c->data, NULL, p->b.loc);
}

/* The node inside, on first and then its constants. */
static tc_val piece_node(piece *p, const tc_node *node, const void *attr, const tc_val *first,
                         int n_first)
{
    tc_val *in = tc_new_n(&p->r->ctx->arena, tc_val, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++)
        in[i] = i < n_first ? first[i] : piece_const(p, node->in[i]);
    return ti_b_op(&p->b, node->op, attr, in, node->n_in);
}

/* RESCALE, and CLAMP where there is one. */
static tc_val piece_finish(piece *p, tc_val x, const tc_node *rescale, const tc_node *clamp)
{
    const tc_type *y = ti_cm_type(p->r, rescale->out[0]), *t = ti_b_type(&p->b, x);
    if (p->b.status != TC_OK)
        return TC_NONE;
    tc_val in[5] = {x};
    for (int i = 1; i < 5; i++)
        in[i] = piece_const(p, rescale->in[i]);
    x = ti_b_typed(&p->b, rescale->op, rescale->attr, in, 5,
                   ti_type_make(p->r->ctx, y->dtype, t->rank, t->dim));
    return clamp ? piece_node(p, clamp, clamp->attr, &x, 1) : x;
}

/* The piece as a call of the operator; TC_NONE: it is not one, and nothing is left of it. */
static tc_val piece_call(piece *p, tc_cm_op op, tc_val out)
{
    tc_cm_region *r = p->r;
    tc_cm_call call;
    if (p->b.status != TC_OK) {
        r->b.status = p->b.status;
        return TC_NONE;
    }
    ti_graph_output(p->g, out);
    r->why = ti_cm_describe(r->ctx, p->g, op, r->core, r->caller, &call);
    if (r->why) {
        r->b.g->module->n_graph--;
        return TC_NONE;
    }
    tc_attr_call *attr =
        ti_b_attr(&r->b, call, p->g->name, ti_cm_target(r->ctx, op, r->core));
    return ti_b_typed(&r->b, TC_OP_call, attr, p->outer, (int)p->g->n_in,
                      ti_type_of(p->g, out));
}

/* x by the operator of one tensor that `make` puts inside. */
typedef tc_val inside(piece *p, tc_val x, const void *what);

static tc_val call_of_one(tc_cm_region *r, const tc_node *node, tc_cm_op op, tc_val x, inside *make,
                          const void *what)
{
    piece p = piece_new(r, node);
    tc_val in = piece_in(&p, x);
    return piece_call(&p, op, make(&p, in, what));
}

static tc_val put_table(piece *p, tc_val x, const void *what)
{
    int64_t n = 256;
    tc_val table = ti_b_data(&p->b, ti_type_make(p->r->ctx, TC_i8, 1, &n), what);
    return ti_b_tosa_table(&p->b, x, table);
}

/* lut: an entry for each code, from the smallest. */
static tc_val look_up(tc_cm_region *r, const tc_node *node, tc_val x, const int8_t *lut)
{
    return call_of_one(r, node, TC_CM_activation, x, put_table, lut);
}

typedef struct padding {
    int64_t pad[8];
    int64_t value;
} padding;

static tc_val put_pad(piece *p, tc_val x, const void *what)
{
    const padding *pad = what;
    return ti_b_tosa_pad(&p->b, x, pad->pad, (double)pad->value);
}

/* ---- products ---- */

/* The end of a pattern: RESCALE, with CLAMP or without. */
typedef struct ending {
    const tc_node *rescale, *clamp; /* clamp may be NULL */
} ending;

static bool ending_of(const tc_cm_region *r, const tc_node *node, ending *e)
{
    *e = (ending){node, NULL};
    if (node->op == TC_OP_tosa_clamp)
        *e = (ending){def_of(r, node->in[0], TC_OP_tosa_rescale), node};
    return e->rescale && e->rescale->op == TC_OP_tosa_rescale &&
           (!e->clamp || only_here(r, e->rescale->out[0]));
}

/* The convolution by the operator, on an x that may be padded or turned already. */
static tc_val call_conv(tc_cm_region *r, const tc_node *conv, const ending *e, tc_cm_op op, tc_val x,
                        tc_tensor weights, const tc_attr_tosa_conv *attr)
{
    piece p = piece_new(r, conv);
    tc_val in[5] = {piece_in(&p, x)};
    in[1] = ti_b_data(&p.b, weights.type, weights.data);
    for (int i = 2; i < 5; i++)
        in[i] = piece_const(&p, conv->in[i]);
    tc_val y = ti_b_op(&p.b, conv->op, attr, in, 5);
    return piece_call(&p, op, piece_finish(&p, y, e->rescale, e->clamp));
}

static tc_tensor stored(const tc_cm_region *r, tc_val v)
{
    tc_tensor t = ti_tensor_of(r->from, v);
    t.type = bare(r->ctx, t.type);
    return t;
}

/* With its padding in front of it. */
static tc_val call_padded(tc_cm_region *r, const tc_node *conv, const ending *e, tc_cm_op op,
                          tc_val x)
{
    tc_attr_tosa_conv attr = *(const tc_attr_tosa_conv *)conv->attr;
    const int64_t *v = attr.pad.v;
    if (r->caller == TC_CM_C || !ti_is_const(r->from, conv->in[3]) || ti_ints_are(attr.pad, 0))
        return TC_NONE;
    padding pad = {{0, 0, v[0], v[1], v[2], v[3], 0, 0}, ti_cm_at(r, conv->in[3], 0)};
    tc_val wide = call_of_one(r, conv, TC_CM_pad, x, put_pad, &pad);
    attr.pad = ti_ints_copy(&r->ctx->arena, (int64_t[]){0, 0, 0, 0}, 4);
    return wide ? call_conv(r, conv, e, op, wide, stored(r, conv->in[1]), ti_b_keep(&r->b, &attr))
                : TC_NONE;
}

static tc_ints swapped(tc_cm_region *r, tc_ints v)
{
    int64_t to[4] = {v.v[1], v.v[0]};
    if (v.n == 4)
        memcpy(to, (int64_t[]){v.v[2], v.v[3], v.v[0], v.v[1]}, sizeof to);
    return ti_ints_copy(&r->ctx->arena, to, v.n);
}

/* The same bytes in another shape. */
static tc_val reshaped(tc_cm_region *r, tc_val x, int rank, const int64_t *dim)
{
    return r->caller == TC_CM_C ? ti_b_tosa_reshape(&r->b, x, rank, dim)
                                : ti_b_reshape(&r->b, x, rank, dim);
}

/* A row as a column: the same bytes, and another kernel of CMSIS-NN. */
static tc_val call_transposed(tc_cm_region *r, const tc_node *conv, const ending *e, tc_val x)
{
    tc_attr_tosa_conv attr = *(const tc_attr_tosa_conv *)conv->attr;
    const tc_type *t = ti_b_type(&r->b, x), *y = ti_cm_type(r, conv->out[0]);
    tc_tensor w = stored(r, conv->in[1]);
    const int64_t *d = w.type->dim;
    if (t->dim[1] != 1 || d[1] != 1)
        return TC_NONE;
    attr.pad = swapped(r, attr.pad);
    attr.stride = swapped(r, attr.stride);
    attr.dilation = swapped(r, attr.dilation);
    w.type = ti_type_make(r->ctx, w.type->dtype, 4, (int64_t[]){d[0], d[2], d[1], d[3]});
    tc_val turned =
        reshaped(r, x, 4, (int64_t[]){t->dim[0], t->dim[2], t->dim[1], t->dim[3]});
    tc_val out =
        call_conv(r, conv, e, TC_CM_conv2d, turned, w, ti_b_keep(&r->b, &attr));
    return out ? reshaped(r, out, 4, y->dim) : TC_NONE;
}

/* Rows past the last window, which a slice in front cuts off, the kernel leaves out by itself: the
 * slice, or NULL. */
static const tc_node *cut_before(const tc_cm_region *r, const tc_node *conv)
{
    const tc_node *slice = def_of(r, conv->in[0], TC_OP_tosa_slice);
    const tc_attr_tosa_conv *a = conv->attr;
    if (!slice || !ti_ints_are(a->pad, 0) || !ti_is_const(r->from, slice->in[1]))
        return NULL;
    const tc_type *x = ti_cm_type(r, slice->in[0]), *part = ti_cm_type(r, slice->out[0]);
    bool cuts = x->dim[0] == part->dim[0] && x->dim[3] == part->dim[3];
    for (int i = 0; i < 4; i++)
        cuts = cuts && !ti_cm_at(r, slice->in[1], i);
    return cuts ? slice : NULL;
}

/* The slice and the convolution as one call. */
static tc_val call_uncut(tc_cm_region *r, const tc_node *conv, const ending *e, tc_cm_op op)
{
    const tc_node *slice = cut_before(r, conv);
    tc_val x = slice ? ti_cm_value(r, slice->in[0]) : TC_NONE;
    if (!x)
        return TC_NONE;
    piece p = piece_new(r, conv);
    tc_val in = piece_in(&p, x);
    in = piece_node(&p, slice, slice->attr, &in, 1);
    tc_val y = piece_node(&p, conv, conv->attr, &in, 1);
    return piece_call(&p, op, piece_finish(&p, y, e->rescale, e->clamp));
}

static int64_t channels_of(const tc_cm_region *r, tc_val v)
{
    const tc_type *t = ti_cm_type(r, v);
    return t->rank ? t->dim[t->rank - 1] : 1;
}

/* What makes v; in C behind a view with the same channels. */
static const tc_node *maker_of(const tc_cm_region *r, tc_val v)
{
    const tc_node *node = ti_def(r->from, v);
    bool view = r->caller == TC_CM_C && node && node->op == TC_OP_tosa_reshape && only_here(r, v) &&
                channels_of(r, v) == channels_of(r, node->in[0]);
    return view ? ti_def(r->from, node->in[0]) : node;
}

static tc_val call_product(tc_cm_region *r, const tc_node *node)
{
    ending e;
    if (!ending_of(r, node, &e))
        return TC_NONE;
    const tc_node *conv = maker_of(r, e.rescale->in[0]);
    bool depthwise = conv && conv->op == TC_OP_tosa_depthwise_conv2d;
    if (!conv || (conv->op != TC_OP_tosa_conv2d && !depthwise) || !only_here(r, conv->out[0]) ||
        !ti_is_const(r->from, conv->in[1]))
        return TC_NONE;
    tc_cm_op op = depthwise ? TC_CM_depthwise : TC_CM_conv2d;
    tc_val y = call_uncut(r, conv, &e, op), x = y ? y : ti_cm_value(r, conv->in[0]);
    if (y || !x)
        return y;
    const tc_type *t = ti_b_type(&r->b, x);
    if (!depthwise && t->dim[1] == 1 && t->dim[2] == 1)
        y = call_conv(r, conv, &e, TC_CM_linear, x, stored(r, conv->in[1]), conv->attr);
    if (!y)
        y = call_conv(r, conv, &e, op, x, stored(r, conv->in[1]), conv->attr);
    const char *why = r->why;
    if (!y && !depthwise)
        y = call_transposed(r, conv, &e, x);
    if (!y)
        y = call_padded(r, conv, &e, op, x);
    r->why = y ? NULL : why;
    return y;
}

static tc_val product(tc_cm_region *r, const tc_node *node)
{
    const tc_type *t = ti_cm_type(r, node->out[0]);
    tc_val y = call_product(r, node);
    return y && !ti_same_dims(ti_b_type(&r->b, y), t) ? reshaped(r, y, t->rank, t->dim) : y;
}

static tc_val put_swap(piece *p, tc_val x, const void *perm)
{
    return ti_b_tosa_transpose(&p->b, x, perm);
}

static tc_val batch_matmul(tc_cm_region *r, const tc_node *node)
{
    ending e;
    if (!ending_of(r, node, &e))
        return TC_NONE;
    const tc_node *m = def_of(r, e.rescale->in[0], TC_OP_tosa_matmul);
    if (!m || !only_here(r, m->out[0]) || ti_cm_type(r, m->in[0])->dtype != TC_i8 ||
        ti_cm_type(r, m->in[1])->dtype != TC_i8 || !ti_is_const(r->from, m->in[2]) ||
        !ti_is_const(r->from, m->in[3]))
        return TC_NONE;
    const int64_t swap[] = {0, 2, 1};
    tc_val a = ti_cm_value(r, m->in[0]), b = ti_cm_value(r, m->in[1]);
    const tc_type *t = b ? ti_b_type(&r->b, b) : NULL;
    if (!a || !t)
        return TC_NONE;
    if (t->dim[1] == 1 || t->dim[2] == 1)
        b = reshaped(r, b, 3, (int64_t[]){t->dim[0], t->dim[2], t->dim[1]});
    else
        b = r->caller == TC_CM_C ? ti_b_tosa_transpose(&r->b, b, swap)
                                 : call_of_one(r, m, TC_CM_transpose, b, put_swap, swap);
    if (!b)
        return TC_NONE;
    piece p = piece_new(r, node);
    tc_val in[4] = {piece_in(&p, a)};
    in[1] = piece_in(&p, b);
    if (p.g->n_in < 2) { /* a product with itself */
        r->b.g->module->n_graph--;
        return TC_NONE;
    }
    in[1] = ti_b_tosa_transpose(&p.b, in[1], swap);
    in[2] = piece_const(&p, m->in[2]);
    in[3] = piece_const(&p, m->in[3]);
    tc_val y = ti_b_op(&p.b, m->op, m->attr, in, 4);
    return piece_call(&p, TC_CM_batch_matmul, piece_finish(&p, y, e.rescale, e.clamp));
}

/* ---- elementwise ---- */

/* Both operands of the shape of the result, or one of them a row of channels. */
static void spread(tc_cm_region *r, const tc_type *y, tc_val x[2])
{
    int64_t row[4] = {1, 1, 1, y->rank == 4 ? y->dim[3] : -1};
    for (int i = 0; i < 2 && r->b.status == TC_OK; i++) {
        const tc_type *t = ti_b_type(&r->b, x[i]);
        if (!ti_same_dims(t, y) && !(y->rank == 4 && ti_has_dims(t, 4, row)))
            x[i] = ti_b_expand(&r->b, x[i], y->rank, y->dim);
    }
    bool rows = r->b.status == TC_OK && y->rank == 4 && ti_has_dims(ti_b_type(&r->b, x[0]), 4, row) &&
                ti_has_dims(ti_b_type(&r->b, x[1]), 4, row);
    if (rows && !ti_has_dims(y, 4, row))
        x[0] = ti_b_expand(&r->b, x[0], 4, y->dim);
}

/* An operand of a sum or a product: the codes behind its RESCALE. */
static const tc_node *scaled(const tc_cm_region *r, const tc_node *node, int i)
{
    const tc_node *s = def_of(r, node->in[i], TC_OP_tosa_rescale);
    return s && ti_cm_type(r, s->in[0])->dtype == TC_i8 ? s : NULL;
}

static tc_val pair(tc_cm_region *r, const tc_node *node, const ending *e, const tc_node *op,
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
    piece p = piece_new(r, node);
    for (int i = 0; i < 2; i++)
        in[i] = piece_finish(&p, piece_in(&p, x[i]), s[i], NULL);
    if (which == TC_CM_mul)
        in[2] = piece_const(&p, op->in[2]);
    tc_val sum = ti_b_op(&p.b, op->op, op->attr, in, op->n_in);
    return piece_call(&p, which, piece_finish(&p, sum, e->rescale, e->clamp));
}

static tc_val sum(tc_cm_region *r, const tc_node *node)
{
    ending e;
    const tc_node *op =
        ending_of(r, node, &e) ? def_of(r, e.rescale->in[0], TC_OP_tosa_add) : NULL;
    return op && only_here(r, op->out[0]) ? pair(r, node, &e, op, TC_CM_add) : TC_NONE;
}

static tc_val times(tc_cm_region *r, const tc_node *node)
{
    ending e;
    const tc_node *op = ending_of(r, node, &e) && !e.clamp
                            ? def_of(r, e.rescale->in[0], TC_OP_tosa_mul)
                            : NULL;
    return op && only_here(r, op->out[0]) ? pair(r, node, &e, op, TC_CM_mul) : TC_NONE;
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
                 depth < MOST_DEPTH && (!depth || t->dtype != TC_i8 || only_here(r, v));
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
                                  : bare(c->r->ctx, value->type);
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

static tc_val function(tc_cm_region *r, const tc_node *node)
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

static tc_val choice(tc_cm_region *r, const tc_node *node)
{
    bool most = node->op == TC_OP_tosa_maximum;
    if ((!most && node->op != TC_OP_tosa_minimum) || ti_cm_type(r, node->out[0])->dtype != TC_i8)
        return TC_NONE;
    tc_val x = ti_cm_value(r, node->in[0]), y = ti_cm_value(r, node->in[1]);
    if (!x || !y)
        return TC_NONE;
    piece p = piece_new(r, node);
    tc_val in[2];
    in[0] = piece_in(&p, x);
    in[1] = piece_in(&p, y);
    return piece_call(&p, most ? TC_CM_maximum : TC_CM_minimum,
                      piece_node(&p, node, node->attr, in, 2));
}

/* ---- softmax ---- */

/* Whether value a of the region is what value b of the other graph is, where x is its one input. */
typedef struct likeness {
    const tc_cm_region *r;
    const tc_graph *other;
    tc_val x;
    tc_val *known; /* by value of the region: that of the other graph which it is like */
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
    tc_val in = ti_graph_input(g, bare(r->ctx, ti_cm_type(r, x)), NULL);
    tc_val y = r->softmax(&b, in, power, TC_i8);
    likeness l = {r, g, x, tc_new_n(&r->ctx->arena, tc_val, r->from->n_val)};
    bool like = b.status == TC_OK && is_like(&l, node->out[0], y);
    ti_attempt_end(r->ctx, &attempt);
    return like;
}

static tc_val put_softmax(piece *p, tc_val x, const void *power)
{
    return p->r->softmax(&p->b, x, power, TC_i8);
}

static tc_val softmax(tc_cm_region *r, const tc_node *node)
{
    int32_t power[CODES];
    tc_val x = ti_cm_type(r, node->out[0])->dtype == TC_i8
                   ? ti_cm_softmax_at(r->from, node, power)
                   : TC_NONE;
    if (!x || !is_softmax(r, node, x, power))
        return TC_NONE;
    tc_val v = ti_cm_value(r, x);
    return v ? call_of_one(r, node, TC_CM_softmax, v, put_softmax, power) : TC_NONE;
}

/* ---- pools and movement ---- */

static tc_val put_node(piece *p, tc_val x, const void *what)
{
    const tc_node *node = what;
    return piece_node(p, node, node->attr, &x, 1);
}

static tc_val max_pool(tc_cm_region *r, const tc_node *node)
{
    const tc_attr_tosa_max_pool *a = node->attr;
    tc_val x = ti_cm_value(r, node->in[0]);
    tc_val y = x ? call_of_one(r, node, TC_CM_max_pool, x, put_node, node) : TC_NONE;
    if (y || !x || r->caller == TC_CM_C || ti_ints_are(a->pad, 0) || ti_b_dtype(&r->b, x) != TC_i8)
        return y;
    const int64_t *v = a->pad.v;
    padding pad = {{0, 0, v[0], v[1], v[2], v[3], 0, 0}, INT8_MIN};
    x = call_of_one(r, node, TC_CM_pad, x, put_pad, &pad);
    if (!x)
        return TC_NONE;
    tc_attr_tosa_max_pool bare_pool = *a;
    bare_pool.pad = ti_ints_copy(&r->ctx->arena, (int64_t[]){0, 0, 0, 0}, 4);
    tc_node bare_node = *node;
    bare_node.attr = ti_b_keep(&r->b, &bare_pool);
    return call_of_one(r, node, TC_CM_max_pool, x, put_node, &bare_node);
}

static tc_val moved(tc_cm_region *r, const tc_node *node, tc_cm_op op)
{
    tc_val x = ti_cm_value(r, node->in[0]);
    return x ? call_of_one(r, node, op, x, put_node, node) : TC_NONE;
}

static tc_val avg_pool(tc_cm_region *r, const tc_node *node)
{
    return moved(r, node, TC_CM_avg_pool);
}

static tc_val pad(tc_cm_region *r, const tc_node *node) { return moved(r, node, TC_CM_pad); }

/* Axes of extent 1 change their place for nothing: the bytes stay in order. */
static bool keeps_order(const tc_type *t, tc_ints perms)
{
    int64_t last = -1;
    for (int i = 0; i < perms.n; i++) {
        if (t->dim[perms.v[i]] == 1)
            continue;
        if (perms.v[i] < last)
            return false;
        last = perms.v[i];
    }
    return true;
}

static tc_val transpose(tc_cm_region *r, const tc_node *node)
{
    const tc_attr_tosa_perms *a = node->attr;
    const tc_type *t = ti_cm_type(r, node->in[0]), *y = ti_cm_type(r, node->out[0]);
    if (!keeps_order(t, a->perms))
        return moved(r, node, TC_CM_transpose);
    tc_val x = ti_cm_value(r, node->in[0]);
    return x ? ti_b_reshape(&r->b, x, y->rank, y->dim) : TC_NONE;
}

/* ---- the walk ---- */

struct pattern {
    tc_op op; /* of the last node */
    tc_val (*call)(tc_cm_region *r, const tc_node *node);
};

static const struct pattern patterns[] = {
    {TC_OP_tosa_rescale, product},      {TC_OP_tosa_clamp, product},
    {TC_OP_tosa_rescale, batch_matmul}, {TC_OP_tosa_clamp, batch_matmul},
    {TC_OP_tosa_rescale, sum},          {TC_OP_tosa_clamp, sum},
    {TC_OP_tosa_rescale, times},        {TC_OP_tosa_rescale, softmax},
    {TC_OP_tosa_max_pool2d, max_pool},  {TC_OP_tosa_avg_pool2d, avg_pool},
};

/* What ExecuTorch has kernels for, and C loops of its own. */
static const struct pattern others[] = {
    {TC_OP_tosa_transpose, transpose},
    {TC_OP_tosa_pad, pad},
};

static tc_val one_of(const struct pattern *p, size_t n, tc_cm_region *r, const tc_node *node)
{
    tc_val y = TC_NONE;
    for (size_t i = 0; i < n && !y && r->b.status == TC_OK; i++)
        if (p[i].op == node->op)
            y = p[i].call(r, node);
    return y;
}

tc_val ti_cm_call(tc_cm_region *r, const tc_node *node)
{
    r->why = NULL;
    tc_val y = one_of(patterns, TC_COUNT(patterns), r, node);
    if (r->caller == TC_CM_C)
        return y;
    if (!y && r->b.status == TC_OK)
        y = one_of(others, TC_COUNT(others), r, node);
    if (!y && r->b.status == TC_OK)
        y = function(r, node);
    if (!y && r->b.status == TC_OK)
        y = choice(r, node);
    return y;
}

static void refuse(tc_cm_region *r, const tc_node *node)
{
    r->b.status = ti_unsupported(
        r->ctx, node->loc, TC_E_UNSUPPORTED,
        "'%s' has no kernel of ExecuTorch's for a Cortex-M, nor integer kernels for any CPU%s%s",
        tc_ops[node->op].name, r->why ? ": " : "", r->why ? r->why : "");
    ti_note(r->ctx, NULL, "--emit c has kernels for every integer operator");
}

tc_val ti_cm_value(tc_cm_region *r, tc_val v)
{
    const tc_value *value = ti_value_of(r->from, v);
    if (r->b.status != TC_OK || r->now[v])
        return r->b.status == TC_OK ? r->now[v] : TC_NONE;
    if (value->data) /* 48 bits lie in 64 */
        return r->now[v] =
                   ti_b_data(&r->b,
                             ti_type_make(r->ctx, ti_cm_held(value->type->dtype), value->type->rank,
                                          value->type->dim),
                             value->data);
    const tc_node *node = value->def;
    r->b.loc = node->loc;
    tc_val y = ti_cm_call(r, node);
    if (r->b.status != TC_OK)
        return TC_NONE;
    r->b.loc = node->loc;
    if (!y && !ti_cm_plain(r, node, &y) && r->b.status == TC_OK)
        refuse(r, node);
    return r->now[v] = r->b.status == TC_OK ? y : TC_NONE;
}

/* Numbers of 48 bits are not what a program takes or gives. */
static tc_status check_ports(tc_ctx *ctx, const tc_graph *g, const tc_val *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (ti_type_of(g, v[i])->dtype == TC_i48)
            return ti_unsupported(ctx, &(tc_loc){.file = g->module->file}, TC_E_UNSUPPORTED,
                                  "a program for ExecuTorch takes and gives no i48");
    return TC_OK;
}

/* State and control flow have no form here. */
static tc_status check_nodes(tc_ctx *ctx, const tc_graph *g)
{
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (!(tc_ops[node->op].traits & (T_STATE | T_CONTROL)))
            continue;
        tc_cm_region r = {.ctx = ctx};
        refuse(&r, node);
        return r.b.status;
    }
    return TC_OK;
}

typedef struct selection {
    const tc_target *target;
    tc_cm_softmax *softmax;
} selection;

static tc_status take(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const selection *s = rw->user;
    const tc_target *target = s->target;
    const tc_attr_call *call = node->attr;
    if (node->op != TC_OP_call || !ti_text_eq(call->target, target->text))
        return TC_OK;
    tc_graph *g = ti_node_callee(rw->from->module, node, 0);
    TC_TRY(check_nodes(rw->ctx, g));
    TC_TRY(check_ports(rw->ctx, g, g->in, g->n_in));
    TC_TRY(check_ports(rw->ctx, g, g->out, g->n_out));
    tc_cm_region r = {.ctx = rw->ctx,
                      .from = g,
                      .b = {.ctx = rw->ctx, .g = rw->to, .loc = node->loc},
                      .now = tc_new_n(&rw->ctx->arena, tc_val, g->n_val),
                      .readers = ti_graph_readers(rw->ctx, g),
                      .core = target->machine->core,
                      .softmax = s->softmax};
    /* a region has the bytes of u8 as i8 (ti_type_carried), and casts keep them */
    for (size_t i = 0; i < g->n_in; i++)
        r.now[g->in[i]] =
            ti_b_cast(&r.b, rw->now[node->in[i]], ti_type_of(g, g->in[i])->dtype);
    for (size_t i = 0; i < g->n_out && r.b.status == TC_OK; i++) {
        tc_val y = ti_cm_value(&r, g->out[i]);
        if (y)
            ti_rewrite_bind(rw, node->out[i],
                            ti_b_cast(&r.b, y, ti_type_of(rw->from, node->out[i])->dtype));
    }
    *done = true;
    return r.b.status;
}

/* What codes stand for is said by the quantize and dequantize nodes now. */
static void forget_quantization(tc_ctx *ctx, tc_module *m)
{
    tc_graph *g = ti_main(m);
    for (size_t i = 0; i < m->n_in_port + m->n_out_port; i++) {
        tc_port *port = i < m->n_in_port ? &m->in_port[i] : &m->out_port[i - m->n_in_port];
        const tc_type *t = ti_type_of(g, port->val);
        if (t && t->quant && !port->codes)
            port->codes = t;
    }
    for (tc_val v = 1; v < g->n_val; v++)
        if (g->val[v]->type)
            g->val[v]->type = bare(ctx, g->val[v]->type);
}

/* Regions that nobody calls any more. */
static void drop_regions(tc_module *m, const tc_target *target, const tc_graph *before)
{
    size_t kept = 1;
    for (size_t i = 1; i < m->n_graph; i++) {
        bool called = false;
        for (size_t k = 0; k < before->n_node; k++) {
            const tc_attr_call *call = before->node[k]->op == TC_OP_call ? before->node[k]->attr : NULL;
            called = called || (call && ti_text_eq(call->target, target->text) &&
                                ti_text_eq(call->graph, m->graph[i]->name));
        }
        if (!called)
            m->graph[kept++] = m->graph[i];
    }
    m->n_graph = kept;
}

tc_status ti_cm_select(tc_ctx *ctx, tc_module *module, const tc_target *target,
                       tc_cm_softmax *softmax_of)
{
    selection s = {target, softmax_of};
    static tc_rewriter *const rewriters[] = {take};
    const tc_graph before = *ti_main(module);
    forget_quantization(ctx, module);
    TC_TRY(ti_rewrite_graph(ti_main(module), rewriters, TC_COUNT(rewriters), &s));
    drop_regions(module, target, &before);
    return TC_OK;
}
