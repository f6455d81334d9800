/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_boxes.c -- builders of NON_MAX_SUPPRESSION, versions 4 and 5.
 *
 * As many steps as results: the best of the remaining boxes is taken; those that overlap it are
 * dropped, or (version 5, sigma > 0) their scores are multiplied by e^(-overlap^2 / 2 sigma).
 * Unused entries hold zeros; how many are taken is a separate result. */
#include "tflite_boxes.h"

#include <math.h>

#include "../../num/load.h"

typedef struct boxes {
    tc_val lo[2], hi[2], area, number; /* [count] */
} boxes;

/* Column k of [count, 4]. */
static tc_val column(tc_build *m, tc_val x, int64_t k)
{
    return ti_b_select(m, x, 1, k);
}

static boxes corners(tc_build *m, tc_val x)
{
    boxes b;
    tc_val side[2];
    for (int k = 0; k < 2; k++) {
        tc_val from = column(m, x, k), to = column(m, x, 2 + k);
        b.lo[k] = ti_b_minimum(m, from, to);
        b.hi[k] = ti_b_maximum(m, from, to);
        side[k] = ti_b_sub(m, b.hi[k], b.lo[k]);
    }
    b.area = ti_b_mul(m, side[0], side[1]);
    b.number = m->status == TC_OK ? ti_b_arange(m, ti_b_type(m, x)->dim[0], TC_i64) : TC_NONE;
    return b;
}

/* What a list [count] has for each group: [groups, 1]. */
static tc_val at(tc_build *m, tc_val list, tc_val index)
{
    return ti_b_unsqueeze(m, ti_b_index_select(m, list, index, 0), 1);
}

static tc_val compared(tc_build *m, tc_op op, tc_val x, double v)
{
    tc_val number = ti_b_scalar(m, ti_b_dtype(m, x), v);
    return ti_b_op(m, op, NULL, (tc_val[]){x, number}, 2);
}

/* The part of their union that all boxes share with box `index` [groups]; nothing where one is
 * empty. */
static tc_val overlaps(tc_build *m, const boxes *b, tc_val index)
{
    tc_val side[2];
    for (int k = 0; k < 2; k++) {
        tc_val own_lo = at(m, b->lo[k], index), own_hi = at(m, b->hi[k], index);
        tc_val to = ti_b_minimum(m, b->hi[k], own_hi);
        tc_val from = ti_b_maximum(m, b->lo[k], own_lo);
        side[k] = ti_b_relu(m, ti_b_sub(m, to, from));
    }
    tc_val own = at(m, b->area, index), shared = ti_b_mul(m, side[0], side[1]);
    tc_val all = ti_b_sub(m, ti_b_add(m, b->area, own), shared);
    tc_val part = ti_b_div(m, shared, all), zero = ti_b_scalar(m, TC_f32, 0);
    tc_val empty = compared(m, TC_OP_le, b->area, 0), own_empty = compared(m, TC_OP_le, own, 0);
    empty = ti_b_logical_or(m, empty, own_empty);
    return ti_b_where(m, empty, zero, part);
}

/* All but the boxes that go, which score -inf. */
static tc_val remaining(tc_build *m, const boxes *b, tc_val left, tc_val best,
                        const tc_tfl_rule *rule)
{
    tc_val part = overlaps(m, b, ti_b_flat(m, best));
    tc_val gone = ti_b_eq(m, b->number, best);
    gone = ti_b_logical_or(m, gone, compared(m, rule->too_much, part, rule->overlap));
    if (rule->sigma > 0) {
        tc_val by = ti_b_mul_n(m, part, (double)(float)(-0.5 / (double)(float)rule->sigma));
        left = ti_b_mul(m, left, ti_b_exp(m, ti_b_mul(m, by, part)));
        tc_val enough = compared(m, rule->enough, left, rule->least);
        gone = ti_b_logical_or(m, gone, ti_b_logical_not(m, enough));
    }
    return ti_b_where(m, gone, ti_b_scalar(m, TC_f32, -INFINITY), left);
}

tc_tfl_picks ti_tfl_suppress(tc_build *m, tc_val box, tc_val score, const tc_tfl_rule *rule)
{
    boxes b = corners(m, box);
    tc_val none = ti_b_scalar(m, TC_f32, -INFINITY);
    tc_val *index = tc_new_n(&m->ctx->arena, tc_val, (size_t)rule->steps),
           *value = tc_new_n(&m->ctx->arena, tc_val, (size_t)rule->steps);
    tc_val left = ti_b_where(m, compared(m, rule->enough, score, rule->least), score, none);
    for (int64_t k = 0; k < rule->steps && m->status == TC_OK; k++) {
        index[k] = ti_b_1(m, argmax, ti_b_attr(m, arg, 1, true), left);
        value[k] = ti_b_reduce(m, TC_OP_amax, left, (int64_t[]){1}, 1, true);
        left = remaining(m, &b, left, index[k], rule);
    }
    tc_tfl_picks p;
    p.index = ti_b_cat(m, 1, index, (int)rule->steps);
    p.value = ti_b_cat(m, 1, value, (int)rule->steps);
    p.taken = compared(m, TC_OP_gt, p.value, -INFINITY);
    p.index = ti_b_where(m, p.taken, p.index, ti_b_scalar(m, TC_i64, 0));
    return p;
}

static double settled(tc_tfl_node *n, int i)
{
    tc_tensor t;
    if (!ti_tfl_settled_tensor(n, i, &t))
        return 0;
    if (tc_type_count(t.type) < 1)
        ti_b_bad(&n->m, TC_E_ARGUMENT, "input %d has no number", i);
    return n->m.status == TC_OK ? ti_load_f64(t, 0) : 0;
}

void ti_tfl_build_nms(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    bool soft = n->row->extra == 5;
    tc_val x = ti_tfl_need(n, 0), score = ti_tfl_need(n, 1);
    tc_tfl_rule rule = {.enough = TC_OP_gt, .too_much = TC_OP_ge};
    rule.steps = ti_tfl_settled_int(n, 2);
    rule.overlap = settled(n, 3);
    rule.least = settled(n, 4);
    rule.sigma = soft ? settled(n, 5) : 0;
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x), *s = ti_b_type(m, score);
    if (t->rank != 2 || t->dim[1] != 4 || s->rank != 1 || s->dim[0] != t->dim[0] || t->dim[0] < 1) {
        ti_b_bad(m, TC_E_SHAPE, "boxes %s with scores %s", ti_type_text(&m->ctx->arena, t),
                 ti_type_text(&m->ctx->arena, s));
        return;
    }
    if (rule.steps < 1 || rule.steps > TFL_MOST_BOXES || rule.sigma < 0) {
        ti_b_unsupported(m, "%" PRId64 " boxes to keep; 1 to %d are built", rule.steps,
                         TFL_MOST_BOXES);
        return;
    }
    tc_tfl_picks p = ti_tfl_suppress(m, x, ti_b_unsqueeze(m, score, 0), &rule);
    tc_val many = ti_b_cast(m, ti_b_flat(m, p.taken), TC_i32);
    many = ti_b_reduce(m, TC_OP_sum, many, (int64_t[]){0}, 1, false);
    ti_tfl_bind(n, 0, ti_b_cast(m, ti_b_flat(m, p.index), TC_i32));
    if (soft) {
        tc_val scores = ti_b_where(m, p.taken, p.value, ti_b_scalar(m, TC_f32, 0));
        ti_tfl_bind(n, 1, ti_b_flat(m, scores));
    }
    ti_tfl_bind(n, soft ? 2 : 1, many);
}
