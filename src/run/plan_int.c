/* SPDX-License-Identifier: Apache-2.0 */
/* plan_int.c -- int8 products of TOSA through fast/, joined with the RESCALE behind them and with
 * the CLAMP or TABLE behind that; RESCALE and 32-bit arithmetic by themselves. */
#include "plan_steps.h"

#include "../fast/int16.h"
#include "../fast/int_eltwise.h"

/* A product and what is joined to it. */
typedef struct chain {
    const tc_node *last, *part[2];
    int n_part;
    bool narrows;
    tc_narrow narrow;
} chain;

/* Constant operand i as one number. */
static bool known_number(const tc_maker *m, const tc_node *node, int i, int64_t *out)
{
    tc_tensor t = tc_place_known(m, node->in[i]);
    if (!t.data || tc_type_count(t.type) != 1)
        return false;
    switch (t.type->dtype) {
    case TC_i8:
    case TC_i4:
        *out = *(const int8_t *)t.data;
        return true;
    case TC_i16:
        *out = *(const int16_t *)t.data;
        return true;
    case TC_i32:
        *out = *(const int32_t *)t.data;
        return true;
    default:
        return false;
    }
}

/* Multipliers and shifts, one per channel and 16 to spare. */
static bool take_scales(tc_maker *m, const tc_node *rescale, size_t channels, tc_narrow *out)
{
    tc_tensor mult = tc_place_known(m, rescale->in[1]), shift = tc_place_known(m, rescale->in[2]);
    if (!mult.data || !shift.data)
        return false;
    size_t n = (size_t)tc_type_count(mult.type);
    int32_t *wide_m = tc_new_n(&m->ctx->arena, int32_t, channels + 16);
    int32_t *wide_s = tc_new_n(&m->ctx->arena, int32_t, channels + 16);
    for (size_t c = 0; c < channels + 16; c++) {
        size_t from = n == 1 ? 0 : c < n ? c : n - 1;
        wide_m[c] = ((const int32_t *)mult.data)[from];
        wide_s[c] = ((const int8_t *)shift.data)[from];
        if (wide_s[c] < 2 || wide_s[c] > 62 || wide_m[c] < 0)
            return false;
    }
    out->multiplier = wide_m;
    out->shift = wide_s;
    return true;
}

/* What a RESCALE does, where fast/ can do it (single rounding); `channels` scales, all alike unless
 * it is per channel. */
static bool takes_rescale(tc_maker *m, const tc_node *node, size_t channels, int64_t *in_zero,
                          tc_narrow *out)
{
    const tc_attr_tosa_rescale *a = node->attr;
    const tc_type *y = m->g->val[node->out[0]]->type;
    int64_t out_zero;
    if (node->op != TC_OP_tosa_rescale || !a->scale32 || a->rounding_mode != TC_rounding_single ||
        a->input_unsigned || a->output_unsigned ||
        (y->dtype != TC_i8 && y->dtype != TC_i16 && y->dtype != TC_i32) ||
        !known_number(m, node, 3, in_zero) || !known_number(m, node, 4, &out_zero))
        return false;
    *out = (tc_narrow){.zero = (int32_t)out_zero, .lo = (int32_t)tc_dtype_min(y->dtype),
                       .hi = (int32_t)tc_dtype_max(y->dtype), .dtype = y->dtype};
    return take_scales(m, node, channels, out);
}

/* CLAMP, or TABLE of int8, behind the rescale. */
static bool joins_activation(const tc_maker *m, const tc_node *node, tc_narrow *n)
{
    if (node->op == TC_OP_tosa_clamp && n->dtype != TC_i32) {
        const tc_attr_tosa_clamp *a = node->attr;
        n->lo = (int32_t)a->min_val;
        n->hi = (int32_t)a->max_val;
        return true;
    }
    if (node->op == TC_OP_tosa_table && n->dtype == TC_i8) {
        n->table = tc_place_known(m, node->in[1]).data;
        return n->table != NULL;
    }
    return false;
}

/* The activation behind the rescale that ends the chain. */
static void follow_activation(tc_maker *m, chain *c)
{
    const tc_node *user = tc_plan_only_user(m, c->last->out[0]);
    if (user && joins_activation(m, user, &c->narrow))
        c->part[c->n_part++] = c->last = user;
}

static chain follow(tc_maker *m, const tc_node *product)
{
    chain c = {.last = product};
    const tc_type *acc = m->g->val[product->out[0]]->type;
    const tc_node *user = tc_plan_only_user(m, product->out[0]);
    int64_t zero;
    if (!user || !takes_rescale(m, user, (size_t)acc->dim[acc->rank - 1], &zero, &c.narrow) || zero)
        return c;
    c.narrows = true;
    c.part[c.n_part++] = c.last = user;
    follow_activation(m, &c);
    return c;
}

static void emit(tc_maker *m, const tc_node *node, const chain *c, tc_prepared *run,
                 const void *what, size_t scratch, int n_in)
{
    const place *in[2];
    for (int i = 0; i < n_in; i++)
        in[i] = tc_place_plain(m, node->in[i], node);
    tc_val v = c->last->out[0];
    tc_step_prepared(m, node, run, what, scratch, in, n_in, v,
                     tc_layout_plain(m->g->val[v]->type->rank));
    for (int i = 0; i < c->n_part; i++)
        m->joined[c->part[i]->out[0]] = true;
}

/* int8 by int8 (or int4), everything but x constant, weights without zero point. */
static bool takes_conv(const tc_maker *m, const tc_node *node, int64_t *x_zero)
{
    const tc_type *x = m->g->val[node->in[0]]->type;
    tc_tensor w = tc_place_known(m, node->in[1]), bias = tc_place_known(m, node->in[2]);
    int64_t w_zero;
    return x->dtype == TC_i8 && w.data && (w.type->dtype == TC_i8 || w.type->dtype == TC_i4) &&
           bias.data && known_number(m, node, 3, x_zero) && known_number(m, node, 4, &w_zero) &&
           w_zero == 0;
}

static void run_conv(const void *what, void *const *in, void *out, void *scratch)
{
    tc_conv8_run(what, in[0], out, scratch);
}

static void run_linear16(const void *what, void *const *in, void *out, void *scratch)
{
    (void)scratch;
    tc_linear16_run(what, in[0], out);
}

static bool plan_linear16(tc_maker *m, const tc_node *node)
{
    const tc_type *x = m->g->val[node->in[0]]->type, *y = m->g->val[node->out[0]]->type;
    tc_tensor w = tc_place_known(m, node->in[1]), bias = tc_place_known(m, node->in[2]);
    int64_t x_zero, w_zero;
    if (y->dtype != TC_i48 || !w.data || !bias.data || !known_number(m, node, 3, &x_zero) ||
        !known_number(m, node, 4, &w_zero) || x_zero || w_zero)
        return false;
    const tc_linear16 *linear = tc_linear16_new(m->ctx, node->attr, x, w, bias);
    if (linear)
        emit(m, node, &(chain){.last = node}, run_linear16, linear, 0, 1);
    return linear != NULL;
}

bool tc_plan_conv8(tc_maker *m, const tc_node *node)
{
    int64_t zero;
    if (m->g->val[node->in[0]]->type->dtype == TC_i16)
        return plan_linear16(m, node);
    if (!takes_conv(m, node, &zero))
        return false;
    chain c = follow(m, node);
    const tc_conv8 *conv =
        tc_conv8_new(m->ctx, node->attr, m->g->val[node->in[0]]->type,
                     m->g->val[node->out[0]]->type, tc_place_known(m, node->in[1]),
                     tc_place_known(m, node->in[2]), (int32_t)zero, c.narrows ? &c.narrow : NULL);
    emit(m, node, &c, run_conv, conv, tc_conv8_scratch(conv), 1);
    return true;
}

static void run_depth(const void *what, void *const *in, void *out, void *scratch)
{
    tc_depth8_run(what, in[0], out, scratch);
}

bool tc_plan_depth8(tc_maker *m, const tc_node *node)
{
    int64_t zero;
    if (!takes_conv(m, node, &zero))
        return false;
    chain c = follow(m, node);
    const tc_depth8 *conv =
        tc_depth8_new(m->ctx, node->attr, m->g->val[node->in[0]]->type,
                      m->g->val[node->out[0]]->type, tc_place_known(m, node->in[1]),
                      tc_place_known(m, node->in[2]), (int32_t)zero, c.narrows ? &c.narrow : NULL);
    if (!conv)
        return false;
    emit(m, node, &c, run_depth, conv, tc_depth8_scratch(conv), 1);
    return true;
}

static void run_matmul(const void *what, void *const *in, void *out, void *scratch)
{
    tc_matmul8_run(what, in[0], in[1], out, scratch);
}

bool tc_plan_matmul8(tc_maker *m, const tc_node *node)
{
    const tc_type *a = m->g->val[node->in[0]]->type, *b = m->g->val[node->in[1]]->type;
    int64_t a_zero, b_zero;
    if (a->dtype != TC_i8 || b->dtype != TC_i8 || !known_number(m, node, 2, &a_zero) ||
        !known_number(m, node, 3, &b_zero))
        return false;
    chain c = follow(m, node);
    const tc_matmul8 *p = tc_matmul8_new(m->ctx, a, b, (int32_t)a_zero, (int32_t)b_zero,
                                         c.narrows ? &c.narrow : NULL);
    emit(m, node, &c, run_matmul, p, tc_matmul8_scratch(p), 2);
    return true;
}

/* ---- by themselves ---- */

typedef struct rescale_step {
    tc_rescale rescale;
    size_t n;
} rescale_step;

static void run_rescale(const void *what, void *const *in, void *out, void *scratch)
{
    const rescale_step *s = what;
    tc_rescale_run(&s->rescale, in[0], s->n, out, scratch);
}

bool tc_plan_rescale(tc_maker *m, const tc_node *node)
{
    const tc_type *x = m->g->val[node->in[0]]->type;
    bool per_channel = ((const tc_attr_tosa_rescale *)node->attr)->per_channel;
    size_t columns = per_channel ? (size_t)x->dim[x->rank - 1] : TC_RESCALE_BLOCK;
    rescale_step *s = tc_new(&m->ctx->arena, rescale_step);
    chain c = {.last = node};
    int64_t zero;
    if ((x->dtype != TC_i8 && x->dtype != TC_i16 && x->dtype != TC_i32) ||
        !takes_rescale(m, node, columns, &zero, &c.narrow) || (x->dtype == TC_i32 && zero))
        return false;
    follow_activation(m, &c);
    *s = (rescale_step){{x->dtype, (int32_t)zero, columns, c.narrow}, (size_t)tc_type_count(x)};
    emit(m, node, &c, run_rescale, s, columns * sizeof(int32_t), 1);
    return true;
}

/* How operand t meets result y; false when it is repeated along an axis in the middle. */
static bool spread_of(const tc_type *t, const tc_type *y, tc_spread *out)
{
    bool one = true, whole = true, row = true, column = true;
    for (int i = 0; i < y->rank; i++) {
        bool last = i == y->rank - 1;
        one = one && t->dim[i] == 1;
        whole = whole && t->dim[i] == y->dim[i];
        row = row && t->dim[i] == (last ? y->dim[i] : 1);
        column = column && t->dim[i] == (last ? 1 : y->dim[i]);
    }
    *out = whole ? TC_SPREAD_none : one ? TC_SPREAD_one : row ? TC_SPREAD_row : TC_SPREAD_column;
    return whole || one || row || column;
}

static void run_binary(const void *what, void *const *in, void *out, void *scratch)
{
    (void)scratch;
    tc_int_binary_run(what, in[0], in[1], out);
}

bool tc_plan_int_binary(tc_maker *m, const tc_node *node)
{
    const tc_type *a = m->g->val[node->in[0]]->type, *b = m->g->val[node->in[1]]->type;
    const tc_type *y = m->g->val[node->out[0]]->type;
    tc_int_binary *e = tc_new(&m->ctx->arena, tc_int_binary);
    int64_t shift = 0;
    if (a->dtype != TC_i32 || b->dtype != TC_i32 || y->dtype != TC_i32 || a->rank != y->rank ||
        b->rank != y->rank || !spread_of(a, y, &e->a) || !spread_of(b, y, &e->b) ||
        (node->op == TC_OP_tosa_mul && (!known_number(m, node, 2, &shift) || shift)))
        return false;
    e->op = node->op == TC_OP_tosa_add   ? TC_INT_add
            : node->op == TC_OP_tosa_sub ? TC_INT_sub
                                         : TC_INT_mul;
    e->columns = y->rank ? (size_t)y->dim[y->rank - 1] : 1;
    e->rows = e->columns ? (size_t)tc_type_count(y) / e->columns : 0;
    if (e->a == TC_SPREAD_none && (e->b == TC_SPREAD_none || e->b == TC_SPREAD_one)) {
        e->columns *= e->rows; /* one long row */
        e->rows = 1;
    }
    emit(m, node, &(chain){.last = node}, run_binary, e, 0, 2);
    return true;
}
