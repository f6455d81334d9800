/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_rnn.c -- recurrent layers, step by step: the product with x for all steps at once, the one
 * with h at each. */
#include "cpu_forms.h"

#include "../num/rnn.h"

enum { MOST_STEPS = 1024 };

/* One layer in one direction: operands w_ih, w_hh, b_ih, b_hh, w_hr; TC_NONE: no bias, no
 * projection. */
typedef struct weights {
    tc_val w_ih, w_hh, b_ih, b_hh, w_hr;
} weights;

/* Part i of the last axis, which has several of `width`. */
static tc_val part(tc_build *m, tc_val x, int i, int64_t width)
{
    return ti_b_slice(m, x, 1, i * width, (i + 1) * width, 1);
}

/* r, z = sigmoid(a + b);  n: the rest of a, and r b;  h = (1 - z) n + z h */
static void gru_step(tc_build *m, tc_val from_x, tc_val from_h, int64_t hidden, const weights *early,
                     tc_val *h)
{
    tc_val rh = part(m, from_h, 0, hidden), rx = part(m, from_x, 0, hidden);
    tc_val r = ti_b_sigmoid(m, ti_b_add(m, rx, rh));
    tc_val zh = part(m, from_h, 1, hidden), zx = part(m, from_x, 1, hidden);
    tc_val z = ti_b_sigmoid(m, ti_b_add(m, zx, zh)), n;
    if (early) { /* W_hh (r h) in place of r (W_hh h) */
        tc_val w = ti_b_slice(m, early->w_hh, 0, 2 * hidden, 3 * hidden, 1),
               b = early->b_hh ? ti_b_slice(m, early->b_hh, 0, 2 * hidden, 3 * hidden, 1) : TC_NONE;
        n = ti_b_linear(m, ti_b_mul(m, r, *h), w, b);
    } else
        n = ti_b_mul(m, r, part(m, from_h, 2, hidden));
    n = ti_b_tanh(m, ti_b_add(m, part(m, from_x, 2, hidden), n));
    *h = ti_b_add(m, n, ti_b_mul(m, z, ti_b_sub(m, *h, n)));
}

/* from_x, from_h: [batch, gates * hidden]; h and c are moved on.  early: the weights of a gru that resets
 * h before its product; or NULL. */
static void step(tc_build *m, tc_op op, tc_val from_x, tc_val from_h, int64_t hidden, const weights *early,
                 tc_val *h, tc_val *c)
{
    if (op == TC_OP_rnn_tanh || op == TC_OP_rnn_relu) {
        tc_val sum = ti_b_add(m, from_x, from_h);
        *h = op == TC_OP_rnn_tanh ? ti_b_tanh(m, sum) : ti_b_relu(m, sum);
    } else if (op == TC_OP_lstm) {
        tc_val sum = ti_b_add(m, from_x, from_h);
        tc_val i = ti_b_sigmoid(m, part(m, sum, 0, hidden)),
               f = ti_b_sigmoid(m, part(m, sum, 1, hidden));
        tc_val g = ti_b_tanh(m, part(m, sum, 2, hidden)),
               o = ti_b_sigmoid(m, part(m, sum, 3, hidden));
        tc_val next = ti_b_mul(m, i, g), kept = ti_b_mul(m, f, *c);
        *c = ti_b_add(m, kept, next);
        *h = ti_b_mul(m, o, ti_b_tanh(m, *c));
    } else
        gru_step(m, from_x, from_h, hidden, early, h);
}

/* x: [steps, batch, in] to [steps, batch, h]. */
static tc_val direction(tc_build *m, tc_op op, tc_val x, const weights *w, bool backward, bool early,
                        tc_val *h, tc_val *c)
{
    TC_STOP_WITH(m, TC_NONE);
    const tc_type *t = ti_b_type(m, x);
    int64_t steps = t->dim[0], given = ti_b_type(m, w->w_hh)->dim[1], batch = t->dim[1];
    int64_t hidden = w->w_hr ? ti_b_type(m, w->w_hr)->dim[1] : given;
    tc_val all = ti_b_linear(m, x, w->w_ih, w->b_ih),
           *row = tc_new_n(&m->ctx->arena, tc_val, (size_t)steps);
    for (int64_t i = 0; i < steps && m->status == TC_OK; i++) {
        int64_t at = backward ? steps - 1 - i : i;
        tc_val now = ti_b_select(m, all, 0, at);
        step(m, op, now, ti_b_linear(m, *h, w->w_hh, w->b_hh), hidden, early ? w : NULL, h, c);
        *h = w->w_hr ? ti_b_linear(m, *h, w->w_hr, TC_NONE) : *h;
        row[at] = ti_b_reshape(m, *h, 3, (int64_t[]){1, batch, given});
    }
    return ti_b_cat(m, 0, row, (int)steps);
}

static weights weights_at(tc_build *m, int first, bool bias, int project)
{
    return (weights){ti_b_in(m, first), ti_b_in(m, first + 1),
                     bias ? ti_b_in(m, first + 2) : TC_NONE, bias ? ti_b_in(m, first + 3) : TC_NONE,
                     project ? ti_b_in(m, first + project) : TC_NONE};
}

static bool layers(tc_build *m, tc_op op)
{
    const tc_attr_rnn *a = m->node->attr;
    const tc_type *t = ti_b_in_type(m, 0);
    int64_t steps = t->dim[a->batch_first ? 1 : 0], directions = a->bidirectional ? 2 : 1;
    int64_t cells = a->layers * directions;
    int states = op == TC_OP_lstm ? 2 : 1;
    tc_rnn_operands o = ti_rnn_operands_of(a, m->node->n_in, states);
    if (steps < 1 || steps > MOST_STEPS)
        return false;
    tc_val x = ti_b_in(m, 0), *h = tc_new_n(&m->ctx->arena, tc_val, (size_t)cells);
    tc_val *c = tc_new_n(&m->ctx->arena, tc_val, (size_t)cells), way[2];
    x = a->batch_first ? ti_b_permute(m, x, (int64_t[]){1, 0, 2}) : x;
    for (int64_t cell = 0; cell < cells; cell++) {
        weights w = weights_at(m, o.first + (int)cell * o.per_cell, a->has_bias, o.project);
        h[cell] = ti_b_select(m, ti_b_in(m, 1), 0, cell);
        c[cell] = states == 2 ? ti_b_select(m, ti_b_in(m, 2), 0, cell) : TC_NONE;
        way[cell % directions] =
            direction(m, op, x, &w, cell % directions == 1, a->reset_first, &h[cell], &c[cell]);
        if (cell % directions == directions - 1)
            x = ti_b_cat(m, 2, way, (int)directions);
    }
    ti_cpu_give(m, 0, a->batch_first ? ti_b_permute(m, x, (int64_t[]){1, 0, 2}) : x);
    ti_cpu_give(
        m, 1,
        ti_b_cat(m, 0, h, (int)cells)); /* [cells * batch, hidden]: the same elements in order */
    if (states == 2)
        ti_cpu_give(m, 2, ti_b_cat(m, 0, c, (int)cells));
    return true;
}

/* A cell's operand with a batch axis. */
static tc_val rows(tc_build *m, int i)
{
    const tc_type *t = ti_b_in_type(m, i);
    int64_t last = t->dim[t->rank - 1];
    return ti_b_reshape(m, ti_b_in(m, i), 2, (int64_t[]){t->rank > 1 ? t->dim[0] : 1, last});
}

static bool cell(tc_build *m, tc_op op)
{
    int states = op == TC_OP_lstm ? 2 : 1;
    weights w = weights_at(m, 1 + states, true, 0);
    tc_val h = rows(m, 1), c = states == 2 ? rows(m, 2) : TC_NONE;
    int64_t hidden = ti_b_type(m, w.w_hh)->dim[1];
    tc_val from_h = ti_b_linear(m, h, w.w_hh, w.b_hh);
    tc_val from_x = ti_b_linear(m, rows(m, 0), w.w_ih, w.b_ih);
    step(m, op, from_x, from_h, hidden, NULL, &h, &c);
    ti_cpu_give(m, 0, h);
    if (states == 2)
        ti_cpu_give(m, 1, c);
    return true;
}

#define FORMS(name)                                                                                \
    bool ti_cpu_form_##name(tc_build *m) { return layers(m, TC_OP_##name); }                       \
    bool ti_cpu_form_##name##_cell(tc_build *m) { return cell(m, TC_OP_##name); }
FORMS(lstm)
FORMS(gru)
FORMS(rnn_tanh)
FORMS(rnn_relu)
