/* SPDX-License-Identifier: Apache-2.0 */
/* plan_codes.c -- x w^T + b where w is kept as 8-bit codes: a few rows at a time are dequantized
 * and multiplied.  A plan stores only the codes. */
#include "plan_steps.h"

/* Rows of w at a time: about this many bytes of real values. */
enum { BLOCK_BYTES = 2 << 20 };

typedef struct coded {
    const tc_product **block; /* for each n_block rows of w, and the remaining ones */
    const int8_t *code;
    const float *scale; /* by row */
    const int64_t *zero;
    bool by_row; /* else scale[0] and zero[0] are for all */
    int64_t rows, k, n, n_block;
    size_t product_scratch;
} coded;

static void make_real(const coded *c, int64_t first, int64_t n, float *out)
{
    for (int64_t r = first; r < first + n; r++) {
        float scale = c->scale[c->by_row ? r : 0], zero = (float)c->zero[c->by_row ? r : 0];
        const int8_t *code = c->code + r * c->k;
        for (int64_t i = 0; i < c->k; i++)
            *out++ = ((float)code[i] - zero) * scale;
    }
}

static void run_coded(const void *what, void *const *in, void *out, void *scratch)
{
    const coded *c = what;
    float *w = (float *)((uint8_t *)scratch + c->product_scratch), *y = out;
    for (int64_t at = 0; at < c->n; at += c->n_block) {
        make_real(c, at, ti_min_i64(c->n_block, c->n - at), w);
        ti_product_run(c->block[at / c->n_block], in[0], w, NULL, y + at, scratch);
    }
}

/* The rows from `at` on; bias: of all, or NULL. */
static const tc_product *product_of(tc_maker *m, const coded *c, int64_t at, tc_tensor bias)
{
    int64_t n = ti_min_i64(c->n_block, c->n - at);
    if (bias.data)
        bias.data = (float *)bias.data + at;
    tc_strided a = {2, {c->rows, c->k}, {c->k, 1}}, b = {2, {c->k, n}, {1, c->k}},
               y = {2, {c->rows, n}, {c->n, 1}};
    return ti_product_matmul(m->ctx, &a, &b, &y, NULL, bias, NULL, 0);
}

static tc_tensor known(const tc_maker *m, tc_val v)
{
    return m->at[v] ? ti_place_known(m, v) : (tc_tensor){NULL, NULL};
}

/* Scale and zero point of the rows: the node's own, or its operands. */
static bool take_scales(const tc_maker *m, const tc_node *node, coded *c)
{
    const tc_attr_quantize *a = node->attr;
    c->by_row = a->axis == 0;
    if (a->axis < 0 && a->scale > 0) {
        float *scale = tc_new(&m->ctx->arena, float);
        int64_t *zero = tc_new(&m->ctx->arena, int64_t);
        *scale = (float)a->scale;
        *zero = a->zero;
        c->scale = scale;
        c->zero = zero;
        return true;
    }
    if (!c->by_row || node->n_in != 3)
        return false;
    tc_tensor scale = known(m, node->in[1]), zero = known(m, node->in[2]);
    c->scale = scale.data;
    c->zero = zero.data;
    return scale.data && zero.data && scale.type->dtype == TC_f32 && zero.type->dtype == TC_i64;
}

/* The linear layer that is the only user of these weights, if all of it can be planned here. */
static const tc_node *reader(const tc_maker *m, const tc_node *node)
{
    const tc_node *user = ti_plan_only_user(m, node->out[0]);
    if (!user || user->op != TC_OP_linear || user->in[1] != node->out[0] || !m->at[user->in[0]])
        return NULL;
    const tc_type *x = ti_type_of(m->g, user->in[0]), *y = ti_type_of(m->g, user->out[0]);
    bool real = x->dtype == TC_f32 && y->dtype == TC_f32 && !x->quant && !y->quant;
    return real && x->rank >= 1 && tc_type_count(x) && tc_type_count(y) ? user : NULL;
}

bool ti_plan_codes(tc_maker *m, const tc_node *node)
{
    const tc_node *user = reader(m, node);
    tc_tensor codes = known(m, node->in[0]);
    coded c = {.code = codes.data};
    if (!user || !codes.data || codes.type->dtype != TC_i8 || codes.type->rank != 2 ||
        m->ctx->reference_kernels || !take_scales(m, node, &c))
        return false;
    tc_tensor bias = {NULL, NULL};
    if (user->n_in > 2 && user->in[2]) {
        bias = known(m, user->in[2]);
        if (!bias.data || bias.type->dtype != TC_f32)
            return false;
    }
    const tc_type *x = ti_type_of(m->g, user->in[0]);
    c.k = codes.type->dim[1];
    c.n = codes.type->dim[0];
    c.rows = tc_type_count(x) / c.k;
    c.n_block = BLOCK_BYTES / (c.k * (int64_t)sizeof(float));
    c.n_block = c.n_block < 1 ? 1 : c.n_block < c.n ? c.n_block : c.n;
    c.block = tc_new_n(&m->ctx->arena, const tc_product *, (size_t)((c.n - 1) / c.n_block) + 1);
    for (int64_t at = 0; at < c.n; at += c.n_block) {
        const tc_product *p = product_of(m, &c, at, bias);
        c.block[at / c.n_block] = p;
        size_t bytes = ti_product_scratch(p);
        c.product_scratch = bytes > c.product_scratch ? bytes : c.product_scratch;
    }
    coded *kept = tc_new(&m->ctx->arena, coded);
    *kept = c;
    tc_layout layout = m->at[user->in[0]]->layout;
    if (layout.axis[x->rank - 1] != x->rank - 1)
        layout = ti_layout_plain(x->rank);
    const place *in[1] = {ti_place_want(m, user->in[0], layout, user)};
    size_t scratch = c.product_scratch + (size_t)(c.n_block * c.k) * sizeof(float);
    ti_step_prepared(m, user, run_coded, kept, scratch, in, 1, user->out[0], layout);
    m->joined[user->out[0]] = true;
    return true;
}
