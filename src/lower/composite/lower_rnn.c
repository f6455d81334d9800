/* SPDX-License-Identifier: Apache-2.0 */
/* lower_rnn.c -- lstm, gru and the plain recurrent layers, and one step of each, unrolled.
 *
 * Between the borders everything is 16 bits wide, or f32; the c of an lstm, which may grow to 16 and
 * more, has 31 bits where 16 of them would be coarse next to the result. */
#include "lower_rnn.h"

#include <math.h>

#include "rnn_arith.h"

#include "../../base/real.h"
#include "../../num/load.h"
#include "../../num/rnn.h"

enum { COARSE = 32 }; /* steps of the result in one of c */
static const double gate_unit = 0x1p-11; /* sums that go into gates: between -16 and 16 */

/* One cell: where its weights are, and the steps of its states. */
typedef struct cell {
    tc_rnn_kind kind;
    tc_rnn_weights *of; /* the node's */
    int weight;         /* the operand w_ih */
    bool bias, early;      /* early: a gru that resets h before its product */
    int project;           /* from w_ih to w_hr; 0: h is not projected */
    int64_t hidden, given; /* given: extent of h */
    double h_unit, c_unit, start_unit; /* start: of the h that is given */
    bool wide;  /* c is i32 */
    double far; /* of a plain layer: how far the sum that goes into tanh matters */
    double sum_unit;
} cell;

typedef struct state {
    tc_rnn_num h, c;
} state;

/* i, f, g, o = sum;  c = sigmoid(f) c + sigmoid(i) tanh(g);  h = sigmoid(o) tanh(c), projected
 * w_hr h */
static state lstm_step(tc_build *lw, const cell *l, tc_rnn_num sum, state s)
{
    int64_t n = l->hidden;
    tc_rnn_num in = ti_rnn_sigmoid(lw, ti_rnn_part(lw, sum, 0, n));
    tc_rnn_num forget = ti_rnn_sigmoid(lw, ti_rnn_part(lw, sum, n, n));
    tc_rnn_num next = ti_rnn_tanh(lw, ti_rnn_part(lw, sum, 2 * n, n), TC_GATE_FAR);
    tc_rnn_num out = ti_rnn_sigmoid(lw, ti_rnn_part(lw, sum, 3 * n, n));
    if (l->wide)
        s.c = ti_rnn_blend(lw, forget, s.c, in, next);
    else {
        tc_rnn_num taken = ti_rnn_times(lw, in, next, TC_SHARE_UNIT);
        tc_rnn_num kept = ti_rnn_times(lw, forget, s.c, l->c_unit);
        s.c = ti_rnn_plus(lw, kept, taken, l->c_unit);
    }
    tc_rnn_num shown = ti_rnn_tanh(lw, s.c, TC_GATE_FAR);
    s.h = ti_rnn_times(lw, out, shown, l->project ? TC_SHARE_UNIT : l->h_unit);
    if (l->project)
        s.h = ti_rnn_affine(lw, l->of, (tc_rnn_term){.x = s.h, .weight = l->weight + l->project, .bias = -1},
                            l->h_unit);
    return s;
}

/* r, z = sigmoid(a + b);  m = tanh(a + r b), or tanh of a + b with W_hh (r h) in b;  h = m + z (h - m). */
static state gru_step(tc_build *lw, const cell *l, tc_rnn_term of_x, tc_rnn_term of_h, state s)
{
    int64_t n = l->hidden;
    tc_rnn_num part[2], sum, to_next;
    of_x.rows = of_h.rows = l->early ? 2 * n : 0;
    sum = ti_rnn_affine2(lw, l->of, of_x, of_h, gate_unit, l->early ? NULL : part);
    tc_rnn_num reset = ti_rnn_sigmoid(lw, ti_rnn_part(lw, sum, 0, n));
    tc_rnn_num keep = ti_rnn_sigmoid(lw, ti_rnn_part(lw, sum, n, n));
    if (l->early) {
        of_x.first = of_h.first = 2 * n;
        of_x.rows = of_h.rows = n;
        of_h.x = ti_rnn_times(lw, reset, s.h, l->h_unit);
        to_next = ti_rnn_affine2(lw, l->of, of_x, of_h, gate_unit, NULL);
    } else {
        tc_rnn_num past = ti_rnn_times(lw, reset, ti_rnn_part(lw, part[1], 2 * n, n), part[1].unit);
        to_next = ti_rnn_plus(lw, ti_rnn_part(lw, part[0], 2 * n, n), past, gate_unit);
    }
    tc_rnn_num next = ti_rnn_tanh(lw, to_next, TC_GATE_FAR);
    tc_rnn_num apart = ti_rnn_minus(lw, s.h, next, 2 * l->h_unit);
    s.h = ti_rnn_plus(lw, next, ti_rnn_times(lw, keep, apart, 2 * l->h_unit), l->h_unit);
    return s;
}

static state step(tc_build *lw, const cell *l, tc_rnn_num x, state s)
{
    tc_rnn_term of_x = {x, l->weight, l->bias ? l->weight + 2 : -1, 0, 0},
                of_h = {s.h, l->weight + 1, l->bias ? l->weight + 3 : -1, 0, 0};
    if (l->kind == TC_RNN_GRU)
        return gru_step(lw, l, of_x, of_h, s);
    tc_rnn_num sum = ti_rnn_affine2(lw, l->of, of_x, of_h, l->sum_unit, NULL);
    if (l->kind == TC_RNN_LSTM)
        return lstm_step(lw, l, sum, s);
    s.h = l->kind == TC_RNN_RELU ? ti_rnn_relu(lw, sum) : ti_rnn_tanh(lw, sum, l->far);
    return s;
}

/* ---- states ---- */

/* How far the state that is operand i can be from 0 before the first step. */
static double start_reach(const tc_build *lw, const tc_node *node, int i)
{
    const tc_type *t = ti_lower_type(lw, node, i);
    tc_tensor known = ti_tensor_of(lw->rw->from, node->in[i]);
    double most = 0;
    if (t->quant || !known.data)
        return ti_rnn_reach(t);
    for (int64_t k = 0; k < tc_type_count(t); k++)
        most = fmax(most, fabs(ti_load_f64(known, k)));
    return most;
}

/* Part `which` of a state [cells, batch, hidden], or all of one [batch, hidden], as [1, 1, batch,
 * hidden]. */
static tc_rnn_num state_of(tc_build *lw, tc_rnn_num all, int64_t which, int64_t batch,
                           int64_t hidden, double unit, bool wide)
{
    if (!all.val)
        return all;
    int64_t cells = tc_type_count(ti_b_type(lw, all.val)) / (batch * hidden);
    all.val = ti_b_tosa_reshape(lw, all.val, 4, (int64_t[]){1, cells, batch, hidden});
    all.val = ti_b_tosa_slice_axis(lw, all.val, 1, which, 1);
    return wide ? ti_rnn_wide(lw, all, unit) : ti_rnn_as(lw, all, unit);
}

double ti_rnn_gain(const double *w, int64_t rows, int64_t n)
{
    double most = 0;
    for (int64_t o = 0; w && o < rows; o++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += fabs(w[o * n + i]);
        most = fmax(most, sum);
    }
    return most;
}

/* How far projected h can be from 0: the largest row sum of |w_hr| of all cells. */
static double projected_reach(tc_build *lw, const tc_node *node, const cell *l, tc_rnn_operands o)
{
    double most = 1e-6;
    for (int64_t i = 0; i < o.cells; i++) {
        int at = o.first + (int)i * o.per_cell + o.project;
        const double *w = ti_lower_known(lw, node, at, l->given * l->hidden, 0);
        most = fmax(most, ti_rnn_gain(w, l->given, l->hidden));
    }
    return most;
}

/* The power of two beyond which tanh is past what the result, every h, can show, and by a half: its
 * steps may be much finer than those of a tanh that reaches 1. */
static double tanh_far(const tc_type *result)
{
    double most = result->quant ? 1.5 * ti_rnn_reach(result) : 1, far = TC_GATE_FAR;
    while (far > 0x1p-12 && ti_tanh(far / 2) > most)
        far /= 2;
    return far;
}

static bool is_read(const tc_build *lw, const tc_node *node, int i)
{
    return lw->lower->dry || lw->rw->readers[node->out[i]] > 0;
}

/* Somebody reads a quantized result of 16 bits. */
static bool gives_i16(const tc_build *lw, const tc_node *node)
{
    bool any = false;
    for (int i = 0; i < node->n_out; i++)
        any = any || (is_read(lw, node, i) && ti_lower_result(lw, node, i)->dtype == TC_i16);
    return any && ti_node_quantized(lw->rw->from, node);
}

static const tc_rnn_kind kind_of[TC_OP_COUNT] = {
    [TC_OP_lstm] = TC_RNN_LSTM,         [TC_OP_lstm_cell] = TC_RNN_LSTM,
    [TC_OP_gru] = TC_RNN_GRU,           [TC_OP_gru_cell] = TC_RNN_GRU,
    [TC_OP_rnn_tanh] = TC_RNN_TANH,     [TC_OP_rnn_tanh_cell] = TC_RNN_TANH,
    [TC_OP_rnn_relu] = TC_RNN_RELU,     [TC_OP_rnn_relu_cell] = TC_RNN_RELU,
};

double ti_rnn_sum_unit(tc_op op, const tc_type *result)
{
    return kind_of[op] == TC_RNN_RELU   ? 0
           : kind_of[op] == TC_RNN_TANH ? tanh_far(result) * 0x1p-15
                                        : gate_unit;
}

/* A step leaves h between -1 and 1, except with relu and projections; a larger initial state decays
 * through a mean of both (gru), or is read once, in its own steps.  c may grow by 1 a step: that,
 * or 16, or the range of the domains at the border.  most: the range of an lstm's h. */
static void units(tc_build *lw, const tc_node *node, tc_rnn_kind k, int first, int64_t steps,
                  double most, cell *l)
{
    const tc_type *result = ti_lower_result(lw, node, 0);
    l->far = tanh_far(result);
    double c = 16, h = 0, given = fmax(1, start_reach(lw, node, 1));
    for (int i = 0; i < node->n_out; i++) {
        h = fmax(h, i < first + 1 ? ti_rnn_reach(ti_lower_result(lw, node, i)) : 0);
        c = fmax(c, i > first ? ti_rnn_reach(ti_lower_result(lw, node, i)) : 0);
    }
    l->start_unit = given * TC_SHARE_UNIT;
    l->h_unit = k == TC_RNN_RELU  ? fmax(h, given) * TC_SHARE_UNIT
                : k == TC_RNN_GRU ? l->start_unit
                                  : most * TC_SHARE_UNIT;
    if (k == TC_RNN_RELU)
        l->start_unit = l->h_unit;
    l->sum_unit = k == TC_RNN_RELU ? l->h_unit : ti_rnn_sum_unit(node->op, result);
    double start = k == TC_RNN_LSTM ? start_reach(lw, node, 2) : 0;
    double most_c = fmin(fmax(c, start), start + (double)steps);
    l->wide = k == TC_RNN_LSTM && gives_i16(lw, node) &&
              most_c * TC_SHARE_UNIT > COARSE * ti_scale_of(result);
    l->c_unit = most_c * (l->wide ? 0x1p-30 : TC_SHARE_UNIT);
}

/* Pieces along an axis as one, in the domain and shape of result i. */
static tc_val joined(tc_build *lw, const tc_node *node, int i, const tc_rnn_num *piece, int64_t n,
                     int axis, int rank, const int64_t *dim)
{
    const tc_type *to = ti_lower_result(lw, node, i);
    tc_val *part = tc_new_n(&lw->ctx->arena, tc_val, (size_t)n);
    for (int64_t k = 0; k < n; k++)
        part[k] = ti_b_tosa_reshape(lw, ti_rnn_out(lw, piece[k], to), rank, dim);
    return ti_b_tosa_reshape(lw, ti_put_join(lw, part, (int)n, axis), to->rank, to->dim);
}

static bool typed(tc_build *lw, const tc_node *node)
{
    if (!ti_node_quantized(lw->rw->from, node))
        return true;
    for (int i = 0; i < node->n_out; i++) {
        const tc_type *t = ti_lower_result(lw, node, i);
        if (!ti_is_activation(t) && is_read(lw, node, i))
            ti_lower_refuse(lw, "result %d does not have one scale", i);
        else if (t->dtype == TC_i16 && !ti_lower_has(lw, TC_FEATURE_INT16))
            ti_lower_refuse(lw, "result %d has 16 bits", i);
    }
    return lw->status == TC_OK;
}

/* The target has what exact steps take. */
static bool is_fine(const tc_build *lw, const tc_node *node)
{
    return gives_i16(lw, node) && ti_lower_fine(lw);
}

static void put_i16(tc_build *lw, const tc_node *node, tc_rnn r, tc_val *out)
{
    for (int i = 0; i < node->n_out && i < 3; i++)
        r.read[i] = is_read(lw, node, i);
    ti_put_rnn_i16(lw, node, &r, out);
}

/* ---- layers ---- */

/* The layer's input at every step. */
typedef struct sequence {
    tc_rnn_num *at;
    int64_t steps, batch;
} sequence;

static sequence input_of(tc_build *lw, const tc_node *node, bool batch_first)
{
    const tc_type *t = ti_lower_type(lw, node, 0);
    sequence s = {NULL, t->dim[batch_first ? 1 : 0], t->dim[batch_first ? 0 : 1]};
    s.at = tc_new_n(&lw->ctx->arena, tc_rnn_num, (size_t)s.steps);
    tc_rnn_num x = ti_rnn_in(lw, node, 0);
    if (x.val && ti_b_dtype(lw, x.val) == TC_i16)
        x = ti_rnn_as(lw, x, x.unit * 128 / 127);
    for (int64_t i = 0; i < s.steps; i++) {
        s.at[i] = x;
        s.at[i].val = ti_b_tosa_slice_axis(lw, x.val, batch_first ? 1 : 0, i, 1);
        s.at[i].val = ti_b_tosa_reshape(lw, s.at[i].val, 4, (int64_t[]){1, 1, s.batch, t->dim[2]});
    }
    return s;
}

/* Every step of one direction; what it gives is put into `to`, the last state is returned. */
static state direction(tc_build *lw, const cell *l, const sequence *x,
                       bool backward, state s, tc_rnn_num *to)
{
    for (int64_t i = 0; i < x->steps && lw->status == TC_OK; i++) {
        int64_t t = backward ? x->steps - 1 - i : i;
        s = step(lw, l, x->at[t], s);
        to[t] = s.h;
    }
    return s;
}

/* Two directions concatenated: i16 has no CONCAT without its extension, so the halves are padded
 * and added. */
static tc_rnn_num beside(tc_build *lw, tc_rnn_num a, tc_rnn_num b, int64_t n)
{
    if (!a.val || !b.val)
        return a;
    int64_t before[] = {0, 0, 0, 0, 0, 0, n, 0}, after[] = {0, 0, 0, 0, 0, 0, 0, n};
    if (ti_is_float(ti_b_dtype(lw, a.val)))
        a.val = ti_put_concat(lw, (tc_val[]){a.val, b.val}, 2, 3);
    else {
        tc_rnn_num second = {ti_b_tosa_pad(lw, b.val, before, 0), b.unit, 0};
        tc_rnn_num first = {ti_b_tosa_pad(lw, a.val, after, 0), a.unit, 0};
        a = ti_rnn_plus(lw, first, second, a.unit);
    }
    return a;
}

void ti_lower_rnn(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_rnn_kind k = kind_of[node->op];
    const tc_attr_rnn *a = node->attr;
    int states = k == TC_RNN_LSTM ? 2 : 1, ways = a->bidirectional ? 2 : 1;
    tc_rnn_operands o = ti_rnn_operands_of(a, node->n_in, states);
    int64_t given = ti_lower_type(lw, node, 1)->dim[2],
            hidden = ti_lower_type(lw, node, states)->dim[2];
    if (!typed(lw, node))
        return;
    if (is_fine(lw, node)) {
        const tc_type *xt = ti_lower_type(lw, node, 0);
        put_i16(lw, node,
                (tc_rnn){.kind = k,
                         .weight = o.first,
                         .per_cell = o.per_cell,
                         .project = o.project,
                         .bias = a->has_bias,
                         .early = a->reset_first,
                         .batch_first = a->batch_first,
                         .layers = a->layers,
                         .ways = ways,
                         .steps = xt->dim[a->batch_first ? 1 : 0],
                         .batch = xt->dim[a->batch_first ? 0 : 1],
                         .hidden = hidden,
                         .given = given},
                out);
        return;
    }
    tc_rnn_weights of = {.node = node};
    cell l = {.kind = k,
              .of = &of,
              .weight = o.first,
              .bias = a->has_bias,
              .early = a->reset_first,
              .project = o.project,
              .hidden = hidden,
              .given = given};
    sequence x = input_of(lw, node, a->batch_first);
    bool real = !ti_node_quantized(lw->rw->from, node); /* then nothing has steps */
    double most = real || !o.project ? 1 : projected_reach(lw, node, &l, o);
    units(lw, node, k, 1, x.steps, most, &l);
    tc_rnn_num h = ti_rnn_in(lw, node, 1), c = k == TC_RNN_LSTM ? ti_rnn_in(lw, node, 2) : h;
    int64_t cells = o.cells;
    tc_rnn_num *last_h = tc_new_n(&lw->ctx->arena, tc_rnn_num, (size_t)cells);
    tc_rnn_num *last_c = tc_new_n(&lw->ctx->arena, tc_rnn_num, (size_t)cells);
    for (int64_t i = 0; i < cells && lw->status == TC_OK; i += ways) {
        tc_rnn_num *to[2] = {NULL, NULL};
        for (int d = 0; d < ways; d++, l.weight += o.per_cell) {
            state s = {.h = state_of(lw, h, i + d, x.batch, given, l.start_unit, false)};
            if (k == TC_RNN_LSTM)
                s.c = state_of(lw, c, i + d, x.batch, hidden, l.c_unit, l.wide);
            to[d] = tc_new_n(&lw->ctx->arena, tc_rnn_num, (size_t)x.steps);
            s = direction(lw, &l, &x, d == 1, s, to[d]);
            last_h[i + d] = s.h;
            last_c[i + d] = s.c;
        }
        for (int64_t t = 0; ways == 2 && t < x.steps; t++)
            to[0][t] = beside(lw, to[0][t], to[1][t], given);
        x.at = to[0];
    }
    int64_t width = ways * given, by_step[] = {1, x.batch, width},
            by_batch[] = {x.batch, 1, width};
    out[0] = joined(lw, node, 0, x.at, x.steps, a->batch_first ? 1 : 0, 3,
                    a->batch_first ? by_batch : by_step);
    if (is_read(lw, node, 1))
        out[1] = joined(lw, node, 1, last_h, cells, 0, 3, (int64_t[]){1, x.batch, given});
    if (k == TC_RNN_LSTM && is_read(lw, node, 2))
        out[2] = joined(lw, node, 2, last_c, cells, 0, 3, (int64_t[]){1, x.batch, hidden});
}

void ti_lower_rnn_cell(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_rnn_kind k = kind_of[node->op];
    const tc_type *xt = ti_lower_type(lw, node, 0), *ht = ti_lower_type(lw, node, 1);
    int states = k == TC_RNN_LSTM ? 2 : 1, last = xt->rank - 1;
    if (!typed(lw, node))
        return;
    tc_rnn_weights of = {.node = node};
    cell l = {.kind = k,
              .of = &of,
              .weight = 1 + states,
              .bias = node->n_in > 3 + states,
              .hidden = ht->dim[last]};
    int64_t batch = last ? xt->dim[0] : 1;
    if (is_fine(lw, node)) {
        put_i16(lw, node,
                (tc_rnn){.kind = k,
                         .weight = l.weight,
                         .per_cell = l.bias ? 4 : 2,
                         .bias = l.bias,
                         .one_step = true,
                         .layers = 1,
                         .ways = 1,
                         .steps = 1,
                         .batch = batch,
                         .hidden = l.hidden,
                         .given = l.hidden},
                out);
        return;
    }
    units(lw, node, k, 0, 1, 1, &l);
    tc_rnn_num x = ti_rnn_in(lw, node, 0);
    if (x.val && ti_b_dtype(lw, x.val) == TC_i16)
        x = ti_rnn_as(lw, x, x.unit * 128 / 127);
    x.val = ti_b_tosa_reshape(lw, x.val, 4, (int64_t[]){1, 1, batch, xt->dim[last]});
    state s = {state_of(lw, ti_rnn_in(lw, node, 1), 0, batch, l.hidden, l.start_unit, false), {0}};
    if (k == TC_RNN_LSTM)
        s.c = state_of(lw, ti_rnn_in(lw, node, 2), 0, batch, l.hidden, l.c_unit, l.wide);
    s = step(lw, &l, x, s);
    out[0] = joined(lw, node, 0, &s.h, 1, 0, ht->rank, ht->dim);
    if (k == TC_RNN_LSTM)
        out[1] = joined(lw, node, 1, &s.c, 1, 0, ht->rank, ht->dim);
}
