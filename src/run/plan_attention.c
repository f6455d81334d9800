/* SPDX-License-Identifier: Apache-2.0 */
/* plan_attention.c -- scaled_dot_product_attention in f32 as two products through fast/ and,
 * between them, one pass over the scores: scale, mask, softmax. */
#include "plan_steps.h"

#include <math.h>

#include "../num/lanes.h"
#include "../num/softmax.h"

/* The pass over the scores [batch..., rows, keys]. */
typedef struct weighing {
    int32_t rank;
    int64_t dim[TC_MAX_RANK];  /* of the scores */
    int64_t step[TC_MAX_RANK]; /* of the mask, along the axes of the scores; 0: repeated */
    float scale;
    bool causal, has_mask, by_bool;
} weighing;

/* One row of scores before their softmax, as in num/'s attention; whether any key is allowed. */
TC_LANES_BODY score_row(const weighing *w, float *score, int64_t row, const void *mask, bool *some)
{
    int64_t keys = w->dim[w->rank - 1], apart = w->step[w->rank - 1];
    bool any = false;
    for (int64_t j = 0; j < keys; j++)
        score[j] *= w->scale;
    if (w->has_mask && w->by_bool)
        for (int64_t j = 0; j < keys; j++)
            score[j] = ((const uint8_t *)mask)[j * apart] ? score[j] : -INFINITY;
    else if (w->has_mask && apart == 1)
        for (int64_t j = 0; j < keys; j++)
            score[j] += ((const float *)mask)[j];
    else if (w->has_mask)
        for (int64_t j = 0; j < keys; j++)
            score[j] += ((const float *)mask)[j * apart];
    for (int64_t j = row + 1; w->causal && j < keys; j++)
        score[j] = -INFINITY;
    for (int64_t j = 0; j < keys; j++)
        any |= score[j] != -INFINITY;
    *some = any;
}
TC_LANES(static, scores, score_row,
         (const weighing *w, float *score, int64_t row, const void *mask, bool *some),
         (w, score, row, mask, some))

/* One row; without any key allowed it becomes zeros. */
static void weigh_row(const weighing *w, float *score, int64_t row, const uint8_t *mask, int64_t at)
{
    int64_t keys = w->dim[w->rank - 1];
    bool any;
    scores(w, score, row, mask ? mask + at * (w->by_bool ? 1 : 4) : NULL, &any);
    if (any)
        ti_softmax_row_f32(score, keys);
    else
        memset(score, 0, (size_t)keys * sizeof *score);
}

static void weigh(const void *what, void *const *in, void *out, void *scratch)
{
    const weighing *w = what;
    float *score = out;
    int64_t at[TC_MAX_RANK] = {0}, keys = w->dim[w->rank - 1], rows = 1;
    (void)scratch;
    for (int i = 0; i < w->rank - 1; i++)
        rows *= w->dim[i];
    for (int64_t r = 0; r < rows; r++, score += keys) {
        int64_t offset = 0;
        for (int i = 0; i < w->rank - 1; i++)
            offset += at[i] * w->step[i];
        weigh_row(w, score, at[w->rank - 2], w->has_mask ? in[1] : NULL, offset);
        for (int i = w->rank - 2; i >= 0 && ++at[i] == w->dim[i]; i--)
            at[i] = 0;
    }
}

/* The last two axes swapped. */
static tc_strided transposed(tc_strided s)
{
    int last = s.rank - 1;
    int64_t dim = s.dim[last], stride = s.stride[last];
    s.dim[last] = s.dim[last - 1];
    s.stride[last] = s.stride[last - 1];
    s.dim[last - 1] = dim;
    s.stride[last - 1] = stride;
    return s;
}

/* a times b, or b^T, in their layouts. */
static const tc_product *product_of(tc_maker *m, const place *a, const tc_type *at, const place *b,
                                    const tc_type *bt, bool turned, const tc_type *y)
{
    tc_layout plain = ti_layout_plain(y->rank);
    tc_strided yd = ti_plan_strided(y, &plain, y->rank);
    tc_strided ad = ti_plan_strided(at, &a->layout, y->rank),
               bd = ti_plan_strided(bt, &b->layout, y->rank);
    if (turned)
        bd = transposed(bd);
    return ti_product_matmul(m->ctx, &ad, &bd, &yd, NULL, (tc_tensor){NULL, NULL}, NULL, 0);
}

/* Whether the operands are supported; w: the pass over the scores. */
static bool takes(const tc_maker *m, const tc_node *node, const tc_type **type, weighing *w)
{
    const tc_attr_sdpa *a = node->attr;
    tc_val mask = node->n_in > 3 ? node->in[3] : TC_NONE;
    for (int i = 0; i < 3; i++) {
        type[i] = m->g->val[node->in[i]]->type;
        if (type[i]->dtype != TC_f32 || type[i]->rank != type[0]->rank || type[i]->rank < 3 ||
            !tc_type_count(type[i]))
            return false;
    }
    int rank = type[0]->rank;
    for (int i = 0; i < rank - 2; i++)
        if (type[1]->dim[i] != type[0]->dim[i] || type[2]->dim[i] != type[0]->dim[i])
            return false;
    *w = (weighing){
        .rank = rank, .scale = (float)a->scale, .causal = a->causal, .has_mask = mask != TC_NONE};
    memcpy(w->dim, type[0]->dim, sizeof w->dim);
    w->dim[rank - 1] = type[1]->dim[rank - 2];
    if (!mask)
        return true;
    const tc_type *t = m->g->val[mask]->type;
    w->by_bool = t->dtype == TC_bool;
    if ((t->dtype != TC_f32 && !w->by_bool) || t->rank > rank)
        return false;
    int64_t apart = 1;
    for (int i = t->rank - 1; i >= 0; i--) {
        w->step[rank - t->rank + i] = t->dim[i] == 1 ? 0 : apart;
        apart *= t->dim[i];
    }
    return true;
}

bool ti_plan_sdpa(tc_maker *m, const tc_node *node)
{
    const tc_type *type[3], *y = m->g->val[node->out[0]]->type;
    weighing *w = tc_new(&m->ctx->arena, weighing);
    if (!takes(m, node, type, w))
        return false;
    const tc_type *scores = ti_type_make(m->ctx, TC_f32, w->rank, w->dim);
    tc_layout plain = ti_layout_plain(w->rank);
    const place *q = m->at[node->in[0]], *k = m->at[node->in[1]], *v = m->at[node->in[2]];
    place *s = ti_place_new(m, scores, plain, 0);
    const tc_product *first = product_of(m, q, type[0], k, type[1], true, scores);
    const tc_product *second = product_of(m, s, scores, v, type[2], false, y);
    if (!first || !second)
        return false;
    const place *mask = w->has_mask ? ti_place_plain(m, node->in[3], node) : NULL;
    s->store = ti_store_new(m, (store){.kind = STORE_MADE, .size = tc_type_bytes(scores)});
    ti_step_into(m, node, ti_run_product, first, ti_product_scratch(first),
                 (const place *[]){q, k, NULL}, 3, s);
    ti_step_into(m, node, weigh, w, 0, (const place *[]){s, mask}, 2, s);
    ti_step_prepared(m, node, ti_run_product, second, ti_product_scratch(second),
                     (const place *[]){s, v, NULL}, 3, node->out[0], plain);
    return true;
}
