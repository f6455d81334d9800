/* SPDX-License-Identifier: Apache-2.0 */
/* convert_masks.c -- an additive mask of scores becomes a select.
 *
 *   x + where(c, 0, -huge)   =>  where(c, x, -huge)
 *   x + where(c, b, -huge)   =>  where(c, x + b, -huge)
 *   x + y * -huge            =>  where(y <= 0, x, -huge)                           y is 0 or 1
 *                            =>  where(y != 1, x + where(y == 1, 0, y) * -huge, -huge)  any y
 *
 * also where the mask is moved in between, or made of several.  -huge is -1e30 or less: x is lost
 * in the sum, so the result is the same, unless it may be NaN or infinite.  Where only a softmax
 * reads the sum, -1e9 is enough: scores up to 32 are lost in it.  A selected value needs no quantized
 * range that contains -huge. */
#include <float.h>
#include <math.h>

#include "tidy.h"

#include "../num/load.h"

static const double HUGE_LEAST = 1e30, SCORE_LEAST = 1e9;

/* What a mask is made of: true where a number takes part, what is added there (none: nothing), and
 * what it has elsewhere. */
typedef struct masking {
    tc_val kept, bias;
    double low;
    bool rough; /* the bias may be as large as low */
} masking;

typedef struct finder {
    tc_build b;
    double least; /* what counts as huge */
} finder;

/* The one number that a constant holds everywhere. */
static bool all_one(const tc_rewrite *rw, tc_val v, double *value)
{
    const tc_node *def = ti_def(rw->to, v);
    if (def && def->op == TC_OP_full) {
        *value = ((const tc_attr_full *)def->attr)->value;
        return true;
    }
    if (!ti_rewrite_is_fixed(rw, v) || !ti_is_float(ti_type_of(rw->to, v)->dtype) ||
        ti_type_of(rw->to, v)->quant)
        return false;
    tc_tensor t = ti_tensor_of(rw->to, v);
    int64_t n = tc_type_count(t.type);
    if (!t.data || !n)
        return false;
    *value = ti_load_f64(t, 0);
    for (int64_t i = 1; i < n; i++)
        if (ti_load_f64(t, i) != *value)
            return false;
    return true;
}

/* y instead of the node's result, where it is of the same type. */
static tc_status replace(finder *f, tc_val y, bool *done)
{
    bool other = y && ti_b_type(&f->b, y) != ti_b_out_type(&f->b, 0);
    return other ? TC_OK : ti_b_replace(&f->b, y, done);
}

static bool mask_of(finder *f, tc_val v, int depth, masking *out);

/* v in the shape of another value. */
static tc_val shaped(finder *f, tc_val v, tc_val like)
{
    return v ? ti_b_expand_as(&f->b, v, ti_b_type(&f->b, like)) : v;
}

/* where(c, b, -huge), where(c, -huge, b) */
static bool chosen(finder *f, const tc_node *def, masking *out)
{
    for (int i = 1; i <= 2; i++) {
        tc_val b = def->in[3 - i];
        double kept = NAN;
        if (!all_one(f->b.rw, def->in[i], &out->low) || !(out->low <= -f->least))
            continue;
        bool alike = all_one(f->b.rw, b, &kept);
        if (alike && !(fabs(kept) < f->least))
            return false;
        tc_val c = shaped(f, def->in[0], def->out[0]);
        out->kept = i == 1 ? ti_b_logical_not(&f->b, c) : c;
        out->bias = alike && kept == 0 ? TC_NONE : shaped(f, b, def->out[0]);
        out->rough = false;
        return true;
    }
    return false;
}

/* Operators of one operand that only move its elements. */
static bool moves_one(tc_op op)
{
    return op == TC_OP_reshape || op == TC_OP_permute || op == TC_OP_expand || op == TC_OP_slice ||
           op == TC_OP_select || op == TC_OP_identity || op == TC_OP_repeat;
}

/* Whether every element of v is 0 or 1, by what it is made of. */
static bool is_bit(const finder *f, tc_val v, int depth)
{
    enum { DEEPEST = 16 };
    const tc_node *def = ti_def(f->b.g, v);
    double value;
    if (ti_type_of(f->b.g, v)->dtype == TC_bool)
        return true;
    if (all_one(f->b.rw, v, &value))
        return value == 0 || value == 1;
    if (!def || depth > DEEPEST)
        return false;
    switch (def->op) {
    case TC_OP_cast:
        return is_bit(f, def->in[0], depth + 1);
    case TC_OP_sub: /* 1 - y */
        return ((const tc_attr_alpha *)def->attr)->alpha == 1 &&
               all_one(f->b.rw, def->in[0], &value) && value == 1 &&
               is_bit(f, def->in[1], depth + 1);
    case TC_OP_mul:
    case TC_OP_maximum:
    case TC_OP_minimum:
        return is_bit(f, def->in[0], depth + 1) && is_bit(f, def->in[1], depth + 1);
    case TC_OP_where:
        return is_bit(f, def->in[1], depth + 1) && is_bit(f, def->in[2], depth + 1);
    default:
        return moves_one(def->op) && is_bit(f, def->in[0], depth + 1);
    }
}

/* y * -huge; 0 * -inf would be NaN */
static bool scaled(finder *f, const tc_node *def, masking *out)
{
    for (int i = 0; i < 2; i++) {
        tc_val y = def->in[1 - i];
        if (!all_one(f->b.rw, def->in[i], &out->low) || !(out->low <= -f->least) ||
            isinf(out->low))
            continue;
        out->rough = !is_bit(f, y, 0);
        tc_val edge = ti_b_scalar(&f->b, ti_type_of(f->b.g, y)->dtype, out->rough);
        if (!out->rough) {
            out->kept = shaped(f, ti_b_le(&f->b, y, edge), def->out[0]);
            out->bias = TC_NONE;
            return true;
        }
        tc_val none = ti_b_scalar(&f->b, ti_type_of(f->b.g, y)->dtype, 0);
        tc_val rest = ti_b_where(&f->b, ti_b_eq(&f->b, y, edge), none, y);
        out->kept = shaped(f, ti_b_ne(&f->b, y, edge), def->out[0]);
        out->bias = shaped(f, ti_b_mul(&f->b, rest, def->in[i]), def->out[0]);
        return true;
    }
    return false;
}

/* Movement of one operand: the select is moved instead. */
static bool moved(finder *f, const tc_node *def, int depth, masking *out)
{
    if (!moves_one(def->op) || !mask_of(f, def->in[0], depth + 1, out))
        return false;
    out->kept = ti_b_op(&f->b, def->op, def->attr, &out->kept, 1);
    if (out->bias)
        out->bias = ti_b_op(&f->b, def->op, def->attr, &out->bias, 1);
    return true;
}

/* x + alpha y with alpha 1; either may be none. */
static tc_val added(finder *f, tc_val x, tc_val y)
{
    tc_attr_alpha *one = tc_new(&f->b.ctx->arena, tc_attr_alpha);
    one->alpha = 1;
    return !x ? y : !y ? x : ti_b_2(&f->b, add, one, x, y);
}

/* Whether v of `to` is a mask. */
static bool mask_of(finder *f, tc_val v, int depth, masking *out)
{
    enum { DEEPEST = 16 };
    const tc_node *def = v ? ti_def(f->b.g, v) : NULL;
    masking other;
    if (!def || depth > DEEPEST || !ti_is_float(ti_type_of(f->b.g, v)->dtype))
        return false;
    switch (def->op) {
    case TC_OP_where:
        return chosen(f, def, out);
    case TC_OP_mul:
        return scaled(f, def, out);
    case TC_OP_add:
        if (((const tc_attr_alpha *)def->attr)->alpha != 1 ||
            !mask_of(f, def->in[0], depth + 1, out) ||
            !mask_of(f, def->in[1], depth + 1, &other) || out->rough || other.rough)
            return false;
        out->kept = ti_b_logical_and(&f->b, out->kept, other.kept);
        out->bias = added(f, out->bias, other.bias);
        out->low = fmax(out->low, other.low);
        return true;
    default:
        return moved(f, def, depth, out);
    }
}

/* Whether v is made with an infinite constant, by operators that may leave infinities or make NaN
 * of them: a masked score that no softmax has read yet. */
static bool has_infinite(const finder *f, tc_val v, int depth)
{
    enum { DEEPEST = 8 };
    const tc_node *def = v ? ti_def(f->b.g, v) : NULL;
    double value;
    if (v && all_one(f->b.rw, v, &value))
        return !isfinite(value);
    if (!def || depth > DEEPEST || def->op == TC_OP_softmax || def->op == TC_OP_sdpa)
        return false;
    for (int i = 0; i < def->n_in; i++)
        if (has_infinite(f, def->in[i], depth + 1))
            return true;
    return false;
}

/* Whether some of v may be NaN or infinite though all its sources are finite, back through
 * elementwise operators: then the sum with a mask would be, too. */
static bool may_be_none(const finder *f, tc_val v, int depth)
{
    enum { DEEPEST = 16 };
    static const bool makes[TC_OP_COUNT] = {
        [TC_OP_log] = true,   [TC_OP_log2] = true,  [TC_OP_log10] = true,  [TC_OP_log1p] = true,
        [TC_OP_sqrt] = true,  [TC_OP_rsqrt] = true, [TC_OP_asin] = true,   [TC_OP_acos] = true,
        [TC_OP_acosh] = true, [TC_OP_atanh] = true, [TC_OP_erfinv] = true, [TC_OP_xlogy] = true,
        [TC_OP_reciprocal] = true};
    const tc_node *def = v ? ti_def(f->b.g, v) : NULL;
    double by;
    if (!def || !ti_is_float(ti_type_of(f->b.g, v)->dtype))
        return false;
    bool divides = def->op == TC_OP_div || def->op == TC_OP_remainder || def->op == TC_OP_fmod;
    if (depth > DEEPEST || makes[def->op] ||
        (divides && !(all_one(f->b.rw, def->in[1], &by) && by != 0)) ||
        (def->op == TC_OP_pow && !(all_one(f->b.rw, def->in[1], &by) && by == rint(by))) ||
        (def->op == TC_OP_logit && !(((const tc_attr_logit *)def->attr)->eps > 0)))
        return true;
    bool through = (tc_ops[def->op].traits & (T_ELTWISE | T_MOVES)) != 0;
    for (int i = 0; through && i < def->n_in; i++)
        if (may_be_none(f, def->in[i], depth + 1))
            return true;
    return false;
}

static tc_status choose(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_add || ((const tc_attr_alpha *)node->attr)->alpha != 1 ||
        ti_type_of(rw->from, node->out[0])->dtype != TC_f32 ||
        ti_type_of(rw->from, node->out[0])->quant)
        return TC_OK;
    const bool *score = rw->user;
    finder f = {ti_build_instead(rw, node), score[node->out[0]] ? SCORE_LEAST : HUGE_LEAST};
    masking m[2];
    bool is[2];
    for (int i = 0; i < 2; i++)
        is[i] = mask_of(&f, ti_rewrite_in(rw, node, i), 0, &m[i]);
    bool two = is[0] && is[1];
    if (f.b.status != TC_OK || (!is[0] && !is[1]) ||
        (two && (m[0].rough || m[1].rough || (!m[0].bias && !m[1].bias))))
        return f.b.status; /* nothing to choose: no mask, or one made of two */
    int k = is[1];
    tc_val x = added(&f, two ? m[0].bias : ti_rewrite_in(rw, node, 1 - k), m[k].bias);
    if (may_be_none(&f, x, 0) || has_infinite(&f, x, 0))
        return f.b.status;
    tc_val kept = two ? ti_b_logical_and(&f.b, m[0].kept, m[1].kept) : m[k].kept;
    double least = two ? fmax(m[0].low, m[1].low) : m[k].low;
    tc_val low = ti_b_scalar(&f.b, TC_f32, least);
    tc_val y = ti_b_where(&f.b, kept, x, low);
    return replace(&f, y, done);
}

/* What a softmax alone reads, by value. */
static const bool *scores_of(tc_ctx *ctx, const tc_graph *g)
{
    bool *score = tc_new_n(&ctx->scratch, bool, g->n_val);
    const uint32_t *readers = ti_graph_readers(ctx, g);
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->op == TC_OP_softmax)
            score[g->node[k]->in[0]] = readers[g->node[k]->in[0]] == 1;
    return score;
}

tc_status ti_tidy_convert_added_masks(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {choose};
    tc_status status = TC_OK;
    for (size_t i = 0; i < module->n_graph && status == TC_OK; i++) {
        tc_mark mark = ti_arena_mark(&ctx->scratch);
        const bool *score = scores_of(ctx, module->graph[i]);
        status = ti_rewrite_graph(module->graph[i], rewriters, TC_COUNT(rewriters),
                                  (void *)(uintptr_t)score);
        ti_arena_rewind(&ctx->scratch, mark);
    }
    return status;
}

/* ---- attention ---- */

/* k [.., n, d] -> [.., d, n] */
static tc_val transposed(finder *f, tc_val k)
{
    TC_STOP_WITH(&f->b, TC_NONE);
    int32_t rank = ti_type_of(f->b.g, k)->rank;
    int64_t perm[TC_MAX_RANK];
    for (int32_t i = 0; i < rank; i++)
        perm[i] = i;
    perm[rank - 2] = rank - 1;
    perm[rank - 1] = rank - 2;
    tc_attr_perm *a = tc_new(&f->b.ctx->arena, tc_attr_perm);
    a->perm = ti_ints_copy(&f->b.ctx->arena, perm, rank);
    return ti_b_1(&f->b, permute, a, k);
}

/* Whether some of v may be minus infinity: it holds one, is a logarithm, or comes from either
 * through what keeps it.  What is given to a program that is quantized is finite. */
static bool may_be_low(const finder *f, tc_val v, int depth)
{
    enum { DEEPEST = 16 };
    const tc_node *def = v ? ti_def(f->b.g, v) : NULL;
    if (!def || !ti_is_float(ti_type_of(f->b.g, v)->dtype))
        return false;
    if (depth > DEEPEST || def->op == TC_OP_log)
        return true;
    if (def->op == TC_OP_full)
        return ((const tc_attr_full *)def->attr)->value == -(double)INFINITY;
    tc_tensor t = ti_tensor_of(f->b.g, v);
    for (int64_t i = 0; t.data && i < tc_type_count(t.type); i++)
        if (ti_load_f64(t, i) == -(double)INFINITY)
            return true;
    bool keeps = def->op == TC_OP_add || def->op == TC_OP_sub || def->op == TC_OP_mul ||
                 def->op == TC_OP_where || (tc_ops[def->op].traits & T_MOVES) != 0;
    for (int i = 0; keeps && i < def->n_in; i++)
        if (may_be_low(f, def->in[i], depth + 1))
            return true;
    return false;
}

/* The rows [.., rows, 1] of which something counts: of the others attention gives 0. */
static tc_val rows_seen(finder *f, tc_val mask)
{
    const tc_type *t = ti_type_of(f->b.g, mask);
    if (t->dtype != TC_bool) {
        tc_val low = ti_b_scalar(&f->b, t->dtype, -FLT_MAX);
        mask = ti_b_ge(&f->b, mask, low);
    }
    if (!t->rank)
        return mask;
    int64_t last = t->rank - 1;
    tc_attr_axes *a = tc_new(&f->b.ctx->arena, tc_attr_axes);
    a->axes = ti_ints_copy(&f->b.ctx->arena, &last, 1);
    a->keepdim = true;
    return ti_b_1(&f->b, any, a, mask);
}

/* softmax(q k^T scale + mask) v, for computed masks: float, or bool.  Rows that are masked
 * everywhere are 0. */
static tc_val spelled_out(finder *f, const tc_node *node, tc_val mask)
{
    const tc_attr_sdpa *a = node->attr;
    tc_rewrite *rw = f->b.rw;
    bool by_bool = ti_type_of(rw->to, mask)->dtype == TC_bool;
    tc_val scores =
        ti_b_matmul(&f->b, ti_rewrite_in(rw, node, 0), transposed(f, ti_rewrite_in(rw, node, 1)));
    tc_val scale = ti_b_scalar(&f->b, TC_f32, a->scale);
    scores = ti_b_mul(&f->b, scores, scale);
    if (by_bool) {
        tc_val low = ti_b_scalar(&f->b, TC_f32, -FLT_MAX);
        scores = ti_b_where(&f->b, mask, scores, low);
    } else
        scores = added(f, scores, mask);
    TC_STOP_WITH(&f->b, TC_NONE);
    tc_attr_axis *last = tc_new(&rw->ctx->arena, tc_attr_axis);
    last->axis = ti_type_of(rw->to, scores)->rank - 1;
    scores = ti_b_1(&f->b, softmax, last, scores);
    tc_val y = ti_b_matmul(&f->b, scores, ti_rewrite_in(rw, node, 2));
    if (!by_bool && !may_be_low(f, mask, 0))
        return y;
    tc_val seen = rows_seen(f, mask), zero = ti_b_scalar(&f->b, TC_f32, 0);
    return ti_b_where(&f->b, seen, y, zero);
}

/* The mask of scaled_dot_product_attention as a select, or the whole expanded.  A row that is
 * masked everywhere is 0 with infinities, as with a select, and the mean of v with finite
 * values. */
static tc_status choose_attended(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_sdpa || node->n_in < 4 || !node->in[3])
        return TC_OK;
    const tc_attr_sdpa *a = node->attr;
    const tc_type *t = ti_type_of(rw->from, node->out[0]);
    tc_val mask = ti_rewrite_in(rw, node, 3), y;
    if (ti_type_of(rw->to, mask)->dtype != TC_f32 || t->dtype != TC_f32 || t->quant ||
        ti_rewrite_is_fixed(rw, mask))
        return TC_OK;
    finder f = {ti_build_instead(rw, node), HUGE_LEAST};
    masking m;
    bool whole = a->causal || a->gqa || ti_type_of(rw->from, node->in[0])->rank < 3;
    if (mask_of(&f, mask, 0, &m) && !m.bias && (whole || isinf(m.low))) {
        tc_val in[] = {ti_rewrite_in(rw, node, 0), ti_rewrite_in(rw, node, 1),
                       ti_rewrite_in(rw, node, 2), m.kept};
        y = ti_b_op(&f.b, TC_OP_sdpa, a, in, 4);
    } else if (!whole)
        y = spelled_out(&f, node, mask);
    else
        return f.b.status;
    return replace(&f, y, done);
}

/* Every computed mask: the whole spelled out, where the target takes attention only without. */
static tc_status spell_attended(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_attr_sdpa *a = node->attr;
    if (node->op != TC_OP_sdpa || node->n_in < 4 || !node->in[3] || a->causal || a->gqa ||
        ti_rewrite_is_fixed(rw, ti_rewrite_in(rw, node, 3)))
        return TC_OK;
    const tc_type *t = ti_type_of(rw->from, node->out[0]);
    if (t->dtype != TC_f32 || t->quant || ti_type_of(rw->from, node->in[0])->rank < 3)
        return TC_OK;
    finder f = {ti_build_instead(rw, node), HUGE_LEAST};
    tc_val y = spelled_out(&f, node, ti_rewrite_in(rw, node, 3));
    return replace(&f, y, done);
}

TC_REWRITES(ti_tidy_decompose_attention, spell_attended)

TC_REWRITES(ti_tidy_convert_attention_masks, choose_attended)
