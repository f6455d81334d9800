/* SPDX-License-Identifier: Apache-2.0 */
/* plan_int.c -- int8 products of TOSA through fast/, fused with the RESCALE after them and the
 * CLAMP or TABLE after that. */
#include "plan_int.h"

#include "../fast/int16.h"
#include "../fast/int_spread.h"
#include "../ir/tail.h"
#include "../num/load.h"

bool ti_plan_number(const tc_maker *m, const tc_node *node, int i, int64_t *out)
{
    tc_tensor t = ti_place_known(m, node->in[i]);
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

/* Multipliers of i32 or i16 and shifts, one per channel and 16 to spare. */
typedef struct tc_scales {
    struct tc_scales *next; /* with the same multipliers */
    tc_val shifts;
    size_t channels;
    int32_t *multiplier, *shift;
    bool fit; /* fast/ takes them */
} tc_scales;

static bool fill_scales(tc_scales *s, tc_tensor mult, tc_tensor shift)
{
    size_t n = (size_t)tc_type_count(mult.type);
    for (size_t c = 0; c < s->channels + 16; c++) {
        size_t from = n == 1 ? 0 : c < n ? c : n - 1;
        s->multiplier[c] = (int32_t)ti_load_i64(mult, (int64_t)from);
        s->shift[c] = ((const int8_t *)shift.data)[from];
        if (s->shift[c] < 2 || s->shift[c] > 62 || s->multiplier[c] < 0)
            return false;
    }
    return true;
}

static const tc_scales *scales_of(tc_maker *m, const tc_node *rescale, size_t channels)
{
    tc_scales **first = &m->scales[rescale->in[1]];
    for (const tc_scales *s = *first; s; s = s->next)
        if (s->shifts == rescale->in[2] && s->channels == channels)
            return s;
    tc_scales *s = tc_new(&m->ctx->arena, tc_scales);
    *s = (tc_scales){*first, rescale->in[2], channels, NULL, NULL, false};
    s->multiplier = tc_new_n(&m->ctx->arena, int32_t, channels + 16);
    s->shift = tc_new_n(&m->ctx->arena, int32_t, channels + 16);
    s->fit = fill_scales(s, ti_place_known(m, rescale->in[1]), ti_place_known(m, rescale->in[2]));
    return *first = s;
}

static bool take_scales(tc_maker *m, const tc_node *rescale, size_t channels, tc_narrow *out)
{
    if (!ti_place_known(m, rescale->in[1]).data || !ti_place_known(m, rescale->in[2]).data)
        return false;
    const tc_scales *s = scales_of(m, rescale, channels);
    out->multiplier = s->multiplier;
    out->shift = s->shift;
    return s->fit;
}

bool ti_plan_takes_rescale(tc_maker *m, const tc_node *node, size_t channels, int64_t *in_zero,
                           tc_narrow *out)
{
    const tc_attr_tosa_rescale *a = node->attr;
    const tc_type *y = m->g->val[node->out[0]]->type;
    int64_t out_zero;
    if (node->op != TC_OP_tosa_rescale || !a->scale32 || a->rounding_mode != TC_rounding_single ||
        a->input_unsigned || a->output_unsigned ||
        (y->dtype != TC_i8 && y->dtype != TC_i16 && y->dtype != TC_i32) ||
        !ti_plan_number(m, node, 3, in_zero) || !ti_plan_number(m, node, 4, &out_zero))
        return false;
    *out = (tc_narrow){.zero = (int32_t)out_zero, .lo = (int32_t)ti_dtype_min(y->dtype),
                       .hi = (int32_t)ti_dtype_max(y->dtype), .dtype = y->dtype};
    return take_scales(m, node, channels, out);
}

/* CLAMP, or TABLE of int8, after the rescale. */
static bool joins_activation(const tc_maker *m, const tc_node *node, tc_narrow *n)
{
    if (node->op == TC_OP_tosa_clamp && n->dtype != TC_i32) {
        const tc_attr_tosa_clamp *a = node->attr;
        n->lo = (int32_t)a->min_val;
        n->hi = (int32_t)a->max_val;
        return true;
    }
    if (node->op == TC_OP_tosa_table && n->dtype == TC_i8) {
        n->table = ti_place_known(m, node->in[1]).data;
        return n->table != NULL;
    }
    return false;
}

static const tc_node *reader_in_tail(const void *who, tc_val v)
{
    return ti_plan_only_user(who, v);
}

const tc_node *ti_plan_tail(const tc_maker *m, const tc_chain *c)
{
    return ti_tail_next(&(tc_tail){m->g, reader_in_tail, m, false}, c->last->out[0]);
}

void ti_plan_activation(tc_maker *m, tc_chain *c)
{
    const tc_node *user = ti_plan_tail(m, c);
    if (user && joins_activation(m, user, &c->narrow))
        c->part[c->n_part++] = c->last = user;
}

static tc_chain follow(tc_maker *m, const tc_node *product)
{
    tc_chain c = {.last = product};
    const tc_type *acc = m->g->val[product->out[0]]->type;
    const tc_node *user = ti_plan_tail(m, &c);
    int64_t zero;
    if (!user ||
        !ti_plan_takes_rescale(m, user, (size_t)acc->dim[acc->rank - 1], &zero, &c.narrow) || zero)
        return c;
    c.narrows = true;
    c.part[c.n_part++] = c.last = user;
    ti_plan_activation(m, &c);
    return c;
}

void ti_plan_emit(tc_maker *m, const tc_node *node, const tc_chain *c, tc_prepared *run,
                  const void *what, size_t scratch, int n_in)
{
    const place *in[2];
    for (int i = 0; i < n_in; i++)
        in[i] = ti_place_plain(m, node->in[i], node);
    tc_val v = c->last->out[0];
    ti_step_prepared(m, node, run, what, scratch, in, n_in, v,
                     ti_layout_plain(m->g->val[v]->type->rank));
    for (int i = 0; i < c->n_part; i++)
        m->joined[c->part[i]->out[0]] = true;
}

/* ---- products prepared once for all equal nodes ---- */

typedef struct tc_product {
    struct tc_product *next; /* with the same weights */
    const tc_node *node;
    tc_chain chain;
    tc_prepared *run;
    const void *what;
    size_t scratch;
    int n_in;
} tc_product;

/* Everything but the activation operand and the result, whose types are equal. */
static bool nodes_alike(const tc_maker *m, const tc_node *a, const tc_node *b)
{
    return a->op == b->op && a->n_in == b->n_in &&
           memcmp(a->in + 1, b->in + 1, (size_t)(a->n_in - 1) * sizeof *a->in) == 0 &&
           ti_type_of(m->g, a->in[0]) == ti_type_of(m->g, b->in[0]) &&
           ti_type_of(m->g, a->out[0]) == ti_type_of(m->g, b->out[0]) &&
           (!a->attr || ti_attr_equal(tc_ops[a->op].attr, a->attr, b->attr));
}

static bool products_alike(const tc_maker *m, const tc_product *p, const tc_node *node,
                           const tc_chain *c)
{
    bool alike = nodes_alike(m, p->node, node) && p->chain.narrows == c->narrows &&
                 p->chain.n_part == c->n_part;
    for (int i = 0; alike && i < c->n_part; i++)
        alike = nodes_alike(m, p->chain.part[i], c->part[i]);
    return alike;
}

/* The step of a node equal to an earlier one, such as the next of an unrolled loop; false: it is
 * the first. */
static bool emit_again(tc_maker *m, const tc_node *node, const tc_chain *c)
{
    const tc_product *p = m->product[node->in[1]];
    while (p && !products_alike(m, p, node, c))
        p = p->next;
    if (p)
        ti_plan_emit(m, node, c, p->run, p->what, p->scratch, p->n_in);
    return p != NULL;
}

/* The step of a node that reads n_in operands at run time; the others are constant.  what: NULL:
 * not supported by fast/. */
static bool emit_first(tc_maker *m, const tc_node *node, const tc_chain *c, tc_prepared *run,
                       const void *what, size_t scratch, int n_in)
{
    if (!what)
        return false;
    tc_product *p = tc_new(&m->ctx->scratch, tc_product);
    *p = (tc_product){m->product[node->in[1]], node, *c, run, what, scratch, n_in};
    m->product[node->in[1]] = p;
    ti_plan_emit(m, node, c, run, what, scratch, n_in);
    return true;
}

/* int8 by int8 (or int4), everything but x constant, weights without zero point. */
static bool takes_conv(const tc_maker *m, const tc_node *node, int64_t *x_zero)
{
    const tc_type *x = m->g->val[node->in[0]]->type;
    tc_tensor w = ti_place_known(m, node->in[1]), bias = ti_place_known(m, node->in[2]);
    int64_t w_zero;
    return x->dtype == TC_i8 && w.data && (w.type->dtype == TC_i8 || w.type->dtype == TC_i4) &&
           bias.data && ti_plan_number(m, node, 3, x_zero) && ti_plan_number(m, node, 4, &w_zero) &&
           w_zero == 0;
}

static void run_conv(const void *what, void *const *in, void *out, void *scratch)
{
    ti_conv8_run(what, in[0], out, scratch);
}

/* ---- 16 bits ---- */

/* RESCALE of 48-bit sums: multipliers of 16 bits, no zero points. */
static bool takes_rescale48(tc_maker *m, const tc_node *node, size_t channels, tc_narrow *out)
{
    if (node->op != TC_OP_tosa_rescale)
        return false;
    const tc_attr_tosa_rescale *a = node->attr;
    const tc_type *y = ti_type_of(m->g, node->out[0]);
    tc_tensor mult = ti_place_known(m, node->in[1]);
    tc_tensor zero[2] = {ti_place_known(m, node->in[3]), ti_place_known(m, node->in[4])};
    if (a->scale32 || a->rounding_mode != TC_rounding_single || a->input_unsigned ||
        a->output_unsigned || (y->dtype != TC_i16 && y->dtype != TC_i32) || !mult.data ||
        mult.type->dtype != TC_i16 || !zero[0].data || !zero[1].data ||
        ti_load_i64(zero[0], 0) || ti_load_i64(zero[1], 0))
        return false;
    *out = (tc_narrow){.lo = (int32_t)ti_dtype_min(y->dtype), .hi = (int32_t)ti_dtype_max(y->dtype),
                       .dtype = y->dtype};
    return take_scales(m, node, channels, out);
}

static tc_chain follow48(tc_maker *m, const tc_node *product)
{
    tc_chain c = {.last = product};
    const tc_type *acc = ti_type_of(m->g, product->out[0]);
    const tc_node *user = ti_plan_tail(m, &c);
    if (!user || !takes_rescale48(m, user, (size_t)acc->dim[acc->rank - 1], &c.narrow))
        return c;
    c.narrows = true;
    c.part[c.n_part++] = c.last = user;
    ti_plan_activation(m, &c);
    return c;
}

/* int16 by int8, everything but x constant, no zero points, sums of 48 bits. */
static bool takes_conv16(const tc_maker *m, const tc_node *node)
{
    const tc_type *x = ti_type_of(m->g, node->in[0]), *y = ti_type_of(m->g, node->out[0]);
    tc_tensor w = ti_place_known(m, node->in[1]), bias = ti_place_known(m, node->in[2]);
    int64_t x_zero, w_zero;
    return x->dtype == TC_i16 && y->dtype == TC_i48 && w.data && w.type->dtype == TC_i8 &&
           bias.data && bias.type->dtype == TC_i48 && tc_type_count(w.type) &&
           ti_plan_number(m, node, 3, &x_zero) && ti_plan_number(m, node, 4, &w_zero) && !x_zero &&
           !w_zero;
}

static void run_conv16(const void *what, void *const *in, void *out, void *scratch)
{
    ti_conv16_run(what, in[0], out, scratch);
}

static bool plan_conv16(tc_maker *m, const tc_node *node)
{
    if (!takes_conv16(m, node))
        return false;
    tc_chain c = follow48(m, node);
    if (emit_again(m, node, &c))
        return true;
    const tc_conv16 *conv =
        ti_conv16_new(m->ctx, node->attr, ti_type_of(m->g, node->in[0]),
                      ti_type_of(m->g, node->out[0]), ti_place_known(m, node->in[1]),
                      ti_place_known(m, node->in[2]), c.narrows ? &c.narrow : NULL);
    return emit_first(m, node, &c, run_conv16, conv, ti_conv16_scratch(conv), 1);
}

bool ti_plan_conv8(tc_maker *m, const tc_node *node)
{
    int64_t zero;
    if (m->g->val[node->in[0]]->type->dtype == TC_i16)
        return plan_conv16(m, node);
    if (!takes_conv(m, node, &zero))
        return false;
    tc_chain c = follow(m, node);
    if (emit_again(m, node, &c))
        return true;
    const tc_conv8 *conv =
        ti_conv8_new(m->ctx, node->attr, m->g->val[node->in[0]]->type,
                     m->g->val[node->out[0]]->type, ti_place_known(m, node->in[1]),
                     ti_place_known(m, node->in[2]), (int32_t)zero, c.narrows ? &c.narrow : NULL);
    return emit_first(m, node, &c, run_conv, conv, ti_conv8_scratch(conv), 1);
}

static void run_spread(const void *what, void *const *in, void *out, void *scratch)
{
    ti_spread_run(what, in[0], out, scratch);
}

/* TRANSPOSE_CONV2D, CONV3D. */
bool ti_plan_spread(tc_maker *m, const tc_node *node)
{
    const tc_type *x = ti_type_of(m->g, node->in[0]), *y = ti_type_of(m->g, node->out[0]);
    bool wide = x->dtype == TC_i16;
    int64_t zero = 0;
    if (wide ? !takes_conv16(m, node) : !takes_conv(m, node, &zero))
        return false;
    tc_tensor w = ti_place_known(m, node->in[1]), bias = ti_place_known(m, node->in[2]);
    tc_chain c = wide ? follow48(m, node) : follow(m, node);
    const tc_narrow *narrow = c.narrows ? &c.narrow : NULL;
    if (emit_again(m, node, &c))
        return true;
    const tc_spread *s =
        node->op == TC_OP_tosa_conv3d
            ? ti_conv3d_new(m->ctx, node->attr, x, y, w, bias, (int32_t)zero, narrow)
            : ti_transposed_new(m->ctx, node->attr, x, y, w, bias, (int32_t)zero, narrow);
    return emit_first(m, node, &c, run_spread, s, s ? ti_spread_scratch(s) : 0, 1);
}

static void run_depth(const void *what, void *const *in, void *out, void *scratch)
{
    ti_depth8_run(what, in[0], out, scratch);
}

static bool plan_depth16(tc_maker *m, const tc_node *node)
{
    if (!takes_conv16(m, node))
        return false;
    tc_chain c = follow48(m, node);
    if (emit_again(m, node, &c))
        return true;
    const tc_depth8 *conv =
        ti_depth16_new(m->ctx, node->attr, ti_type_of(m->g, node->in[0]),
                       ti_type_of(m->g, node->out[0]), ti_place_known(m, node->in[1]),
                       ti_place_known(m, node->in[2]), c.narrows ? &c.narrow : NULL);
    return emit_first(m, node, &c, run_depth, conv, conv ? ti_depth8_scratch(conv) : 0, 1);
}

bool ti_plan_depth8(tc_maker *m, const tc_node *node)
{
    int64_t zero;
    if (ti_type_of(m->g, node->in[0])->dtype == TC_i16)
        return plan_depth16(m, node);
    if (!takes_conv(m, node, &zero))
        return false;
    tc_chain c = follow(m, node);
    if (emit_again(m, node, &c))
        return true;
    const tc_depth8 *conv =
        ti_depth8_new(m->ctx, node->attr, m->g->val[node->in[0]]->type,
                      m->g->val[node->out[0]]->type, ti_place_known(m, node->in[1]),
                      ti_place_known(m, node->in[2]), (int32_t)zero, c.narrows ? &c.narrow : NULL);
    return emit_first(m, node, &c, run_depth, conv, conv ? ti_depth8_scratch(conv) : 0, 1);
}

static void run_matmul(const void *what, void *const *in, void *out, void *scratch)
{
    ti_matmul8_run(what, in[0], in[1], out, scratch);
}

static void run_matmul16(const void *what, void *const *in, void *out, void *scratch)
{
    ti_matmul16_run(what, in[0], in[1], out, scratch);
}

static bool plan_matmul16(tc_maker *m, const tc_node *node)
{
    const tc_type *a = ti_type_of(m->g, node->in[0]), *b = ti_type_of(m->g, node->in[1]);
    int64_t a_zero, b_zero;
    if (b->dtype != TC_i16 || ti_type_of(m->g, node->out[0])->dtype != TC_i48 ||
        !ti_plan_number(m, node, 2, &a_zero) || !ti_plan_number(m, node, 3, &b_zero) || a_zero ||
        b_zero)
        return false;
    tc_chain c = follow48(m, node);
    if (emit_again(m, node, &c))
        return true;
    const tc_matmul16 *p = ti_matmul16_new(m->ctx, a, ti_place_known(m, node->in[1]),
                                           c.narrows ? &c.narrow : NULL);
    return emit_first(m, node, &c, run_matmul16, p, ti_matmul16_scratch(p), 2);
}

bool ti_plan_matmul8(tc_maker *m, const tc_node *node)
{
    const tc_type *a = m->g->val[node->in[0]]->type, *b = m->g->val[node->in[1]]->type;
    int64_t a_zero, b_zero;
    if (a->dtype == TC_i16)
        return plan_matmul16(m, node);
    if (a->dtype != TC_i8 || b->dtype != TC_i8 || !ti_plan_number(m, node, 2, &a_zero) ||
        !ti_plan_number(m, node, 3, &b_zero))
        return false;
    tc_chain c = follow(m, node);
    if (emit_again(m, node, &c))
        return true;
    const tc_matmul8 *p = ti_matmul8_new(m->ctx, a, b, (int32_t)a_zero, (int32_t)b_zero,
                                         c.narrows ? &c.narrow : NULL);
    return emit_first(m, node, &c, run_matmul, p, ti_matmul8_scratch(p), 2);
}
