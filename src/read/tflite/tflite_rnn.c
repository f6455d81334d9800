/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_rnn.c -- builders of LSTM, RNN, their sequences in one and two directions, and SVDF.
 *
 * An LSTM in its usual form becomes our own operator; all else is unrolled: a cell without input
 * gate, peepholes, norms, a projection with a bias, clips, a second input; the others; weights that
 * are codes.
 * States are variable tensors: the next run begins with their final contents. */
#include "tflite_hybrid.h"
#include "tflite_rnn.h"

/* Real values of input i, TC_NONE if absent; int8 codes are dequantized. */
static tc_val real(tc_tfl_node *n, int i)
{
    const tc_tfl_tensor *t = ti_tfl_in_tensor(n, i);
    if (!t)
        return TC_NONE;
    if (t->code == TFL_INT8 && t->n_scale == 1 && !t->zero[0]) {
        tc_val x = ti_b_cast(&n->m, ti_tfl_in(n, i), TC_f32);
        return ti_b_mul_n(&n->m, x, t->scale[0]);
    }
    if (t->code != TFL_FLOAT32) {
        ti_b_unsupported(&n->m, "operator '%s' (version %d) with input %d ('%s') of %s",
                         n->row->name, n->version, i, t->name, ti_tfl_type_name(t->code));
        return TC_NONE;
    }
    return ti_tfl_in(n, i);
}

static tc_val need_real(tc_tfl_node *n, int i, int rank)
{
    tc_val x = real(n, i);
    if (!x)
        ti_b_bad(&n->m, TC_E_ARGUMENT, "input %d is left out", i);
    if (n->m.status == TC_OK && ti_b_type(&n->m, x)->rank != rank)
        ti_b_bad(&n->m, TC_E_SHAPE, "input %d has the shape %s, expected %d axes", i,
                 ti_type_text(&n->m.ctx->arena, ti_b_type(&n->m, x)), rank);
    return n->m.status == TC_OK ? x : TC_NONE;
}

/* The state that is input i: a variable tensor, [batch, width]. */
static tc_val state(tc_tfl_node *n, int i)
{
    const tc_tfl_tensor *t = ti_tfl_in_tensor(n, i);
    if (t && !t->variable)
        ti_b_unsupported(&n->m,
                         "operator '%s' (version %d) with a state ('%s') that is not a variable",
                         n->row->name, n->version, t->name);
    return need_real(n, i, 2);
}

static tc_val plus(tc_build *m, tc_val a, tc_val b)
{
    return a && b ? ti_b_add(m, a, b) : a ? a : b;
}

/* Weights, as real values or as codes with their scale: then their operand is quantized too, row by
 * row, at run time. */
typedef struct weights {
    tc_val v; /* TC_NONE: there are none */
    double scale; /* 0: they are real */
} weights;

static weights weights_of(tc_tfl_node *n, int i, bool needed)
{
    const tc_tfl_tensor *t = ti_tfl_in_tensor(n, i);
    if (t && t->code == TFL_INT8 && t->n_scale == 1 && !t->zero[0]) {
        tc_val w = ti_tfl_in(n, i);
        if (n->m.status == TC_OK && ti_b_type(&n->m, w)->rank != 2)
            ti_b_bad(&n->m, TC_E_SHAPE, "input %d has the shape %s, expected 2 axes", i,
                     ti_type_text(&n->m.ctx->arena, ti_b_type(&n->m, w)));
        w = ti_b_cast(&n->m, w, TC_f32);
        if (n->scope->reader->real)
            return (weights){ti_b_mul_n(&n->m, w, t->scale[0]), 0};
        n->scope->reader->hybrid = true;
        return (weights){w, t->scale[0]};
    }
    return (weights){needed ? need_real(n, i, 2) : real(n, i), 0};
}

/* What weights multiply: its codes and their scale are made once. */
typedef struct operand {
    tc_val real, codes, scale;
    bool asymmetric;
} operand;

/* x W^T + b; TC_NONE where there are no weights. */
static tc_val product(tc_build *m, operand *x, weights w, tc_val b)
{
    if (!w.v || m->status != TC_OK)
        return TC_NONE;
    if (!(w.scale > 0))
        return ti_b_op(m, TC_OP_linear, NULL, (tc_val[]){x->real, w.v, b}, b ? 3 : 2);
    if (!x->codes)
        x->codes = ti_tfl_hybrid_codes(m, x->real, 1, x->asymmetric, &x->scale);
    tc_val y = ti_b_2(m, linear, NULL, x->codes, w.v);
    y = ti_b_mul(m, y, ti_b_mul_n(m, x->scale, w.scale));
    return b ? ti_b_add(m, y, b) : y;
}

/* [steps, batch, width] of a sequence. */
static tc_val by_time(tc_tfl_node *n, int i, bool time_major)
{
    tc_val x = need_real(n, i, 3);
    return x && !time_major ? ti_b_swap(&n->m, x, 0, 1) : x;
}

tc_val *ti_tfl_steps(tc_build *m, tc_val x, int64_t *steps)
{
    enum { MOST_STEPS = 1 << 14 };
    *steps = ti_b_type(m, x)->dim[0];
    if (*steps < 1 || *steps > MOST_STEPS) {
        ti_b_unsupported(m, "a sequence of %" PRId64 " steps; 1 to %d are built", *steps,
                         MOST_STEPS);
        return NULL;
    }
    return tc_new_n(&m->ctx->arena, tc_val, (size_t)*steps);
}

tc_val ti_tfl_stacked(tc_build *m, tc_val *part, int64_t steps)
{
    return ti_b_op(m, TC_OP_stack, ti_b_attr(m, axis, 0), part, (int)steps);
}

void ti_tfl_bind_sequence(tc_tfl_node *n, int i, tc_val y, bool time_major)
{
    y = y && !time_major ? ti_b_swap(&n->m, y, 0, 1) : y;
    ti_tfl_bind(n, i, y);
}

/* Both directions: one result, concatenated, or two. */
static void bind_both(tc_tfl_node *n, tc_val forth, tc_val back, bool merged, bool time_major)
{
    if (merged) {
        ti_tfl_bind_sequence(n, 0, ti_b_cat(&n->m, 2, (tc_val[]){forth, back}, 2), time_major);
        return;
    }
    ti_tfl_bind_sequence(n, 0, forth, time_major);
    ti_tfl_bind_sequence(n, 1, back, time_major);
}

/* ---- LSTM ---- */

enum { INPUT, FORGET, CELL, OUTPUT, GATES };

/* The index of a direction's weights among the inputs. */
typedef struct places {
    int weight, h, c, norm, second; /* norm, second: 0 where the operator has none */
} places;

typedef struct lstm {
    weights w[GATES], r[GATES], second[GATES], projection;
    tc_val peephole[GATES], bias[GATES], norm[GATES], projection_bias, h, c;
    int activation;
    bool asymmetric; /* codes that are made when it runs */
    double cell_clip, projection_clip;
} lstm;

/* Weights in the order of the schema: 4 of the input, 4 of the state, 3 peepholes, 4 biases,
 * projection and its bias. */
static bool read_lstm(tc_tfl_node *n, places at, lstm *s)
{
    static const int peephole[] = {INPUT, FORGET, OUTPUT};
    for (int k = 0; k < GATES; k++) {
        s->w[k] = weights_of(n, at.weight + k, k != INPUT);
        s->r[k] = weights_of(n, at.weight + 4 + k, k != INPUT);
        s->bias[k] = k == INPUT ? real(n, at.weight + 11) : need_real(n, at.weight + 11 + k, 1);
        s->norm[k] = at.norm ? real(n, at.norm + k) : TC_NONE;
        s->second[k] = at.second ? weights_of(n, at.second + k, false) : (weights){0};
    }
    for (int k = 0; k < 3; k++)
        s->peephole[peephole[k]] = real(n, at.weight + 8 + k);
    s->projection = weights_of(n, at.weight + 15, false);
    s->projection_bias = real(n, at.weight + 16);
    s->h = state(n, at.h);
    s->c = state(n, at.c);
    bool has = s->w[INPUT].v;
    if (n->m.status == TC_OK && (has != !!s->r[INPUT].v || has != !!s->bias[INPUT]))
        ti_b_bad(&n->m, TC_E_ARGUMENT, "an input gate with a part of its weights");
    return n->m.status == TC_OK;
}

static bool is_usual(const lstm *s)
{
    bool usual = s->w[INPUT].v && !(s->projection.scale > 0) && !s->projection_bias &&
                 s->activation == TFL_TANH &&
                 !(s->cell_clip > 0) && !(s->projection_clip > 0);
    for (int k = 0; k < GATES; k++)
        usual = usual && !s->peephole[k] && !s->norm[k] && !s->second[k].v &&
                !(s->w[k].scale > 0) && !(s->r[k].scale > 0);
    return usual;
}

/* (x - mean) / sqrt(variance + 1e-8) of the last axis */
static tc_val normalized(tc_build *m, tc_val x)
{
    int64_t last = 1;
    x = ti_b_sub(m, x, ti_b_reduce(m, TC_OP_mean, x, &last, 1, true));
    tc_val v = ti_b_reduce(m, TC_OP_mean, ti_b_mul(m, x, x), &last, 1, true);
    v = ti_b_rsqrt(m, ti_b_add_n(m, v, 1e-8));
    return ti_b_mul(m, x, v);
}

/* What a gate adds up, before its activation. */
static tc_val gate(tc_build *m, const lstm *s, int k, operand *x, operand *second, operand *h,
                   tc_val c)
{
    tc_val sum = product(m, x, s->w[k], s->norm[k] ? TC_NONE : s->bias[k]);
    sum = plus(m, sum, product(m, second, s->second[k], TC_NONE));
    sum = plus(m, sum, product(m, h, s->r[k], TC_NONE));
    if (s->peephole[k])
        sum = ti_b_add(m, sum, ti_b_mul(m, s->peephole[k], c));
    if (!s->norm[k])
        return sum;
    sum = ti_b_mul(m, normalized(m, sum), s->norm[k]);
    return ti_b_add(m, sum, s->bias[k]);
}

static tc_val clipped(tc_build *m, tc_val x, double clip)
{
    return clip > 0 ? ti_b_clamp(m, x, -clip, clip) : x;
}

/* One step: s->h and s->c become the next ones. */
static void lstm_step(tc_build *m, lstm *s, tc_val now, tc_val beside)
{
    operand each[] = {{.real = now, .asymmetric = s->asymmetric},
                      {.real = beside, .asymmetric = s->asymmetric},
                      {.real = s->h, .asymmetric = s->asymmetric}};
    operand *x = &each[0], *second = &each[1], *h = &each[2];
    tc_val f = ti_b_sigmoid(m, gate(m, s, FORGET, x, second, h, s->c)), i;
    if (s->w[INPUT].v)
        i = ti_b_sigmoid(m, gate(m, s, INPUT, x, second, h, s->c));
    else /* what is not forgotten leaves no room */
        i = ti_b_sub(m, ti_b_scalar(m, TC_f32, 1), f);
    tc_val g = ti_tfl_activate(m, gate(m, s, CELL, x, second, h, s->c), s->activation);
    tc_val kept = ti_b_mul(m, f, s->c), added = ti_b_mul(m, i, g);
    s->c = clipped(m, ti_b_add(m, kept, added), s->cell_clip);
    tc_val o = ti_b_sigmoid(m, gate(m, s, OUTPUT, x, second, h, s->c));
    s->h = ti_b_mul(m, o, ti_tfl_activate(m, s->c, s->activation));
    operand out = {.real = s->h, .asymmetric = s->asymmetric};
    if (s->projection.v)
        s->h = clipped(m, product(m, &out, s->projection, s->projection_bias),
                       s->projection_clip);
}

/* Our own operator; gates are in the same order. */
static tc_val as_operator(tc_build *m, lstm *s, tc_val x, bool back)
{
    tc_val own[GATES], states[GATES];
    for (int k = 0; k < GATES; k++) {
        own[k] = s->w[k].v;
        states[k] = s->r[k].v;
    }
    tc_val w = ti_b_cat(m, 0, own, GATES), r = ti_b_cat(m, 0, states, GATES);
    tc_val bias = ti_b_cat(m, 0, s->bias, GATES);
    tc_val none = TC_NONE; /* the operator has a second bias, of the state's product */
    if (m->status == TC_OK)
        none = ti_b_full(m, 1, ti_b_type(m, bias)->dim, 0, TC_f32);
    x = back ? ti_b_flip(m, x, 0) : x;
    tc_val h = ti_b_unsqueeze(m, s->h, 0), c = ti_b_unsqueeze(m, s->c, 0);
    tc_attr_rnn *a = ti_b_attr(m, rnn, .layers = 1, .has_bias = true);
    tc_node *node =
        ti_b_ops(m, TC_OP_lstm, a, (tc_val[]){x, h, c, w, r, bias, none, s->projection.v},
                 s->projection.v ? 8 : 7, 3);
    if (!node)
        return TC_NONE;
    s->h = ti_b_select(m, node->out[1], 0, 0);
    s->c = ti_b_select(m, node->out[2], 0, 0);
    return back ? ti_b_flip(m, node->out[0], 0) : node->out[0];
}

/* All steps of x [steps, batch, width]: [steps, batch, hidden], and the states set. */
static tc_val lstm_run(tc_tfl_node *n, places at, lstm *s, tc_val x, tc_val second, bool back)
{
    tc_build *m = &n->m;
    if (m->status != TC_OK || !read_lstm(n, at, s))
        return TC_NONE;
    tc_val y;
    if (is_usual(s) && ti_b_type(m, x)->dim[0] > 0)
        y = as_operator(m, s, x, back);
    else {
        int64_t steps;
        tc_val *part = ti_tfl_steps(m, x, &steps);
        if (!part)
            return TC_NONE;
        for (int64_t k = 0; k < steps && m->status == TC_OK; k++) {
            int64_t t = back ? steps - 1 - k : k;
            tc_val now = ti_b_select(m, x, 0, t);
            tc_val beside = second ? ti_b_select(m, second, 0, t) : TC_NONE;
            lstm_step(m, s, now, beside);
            part[t] = s->h;
        }
        y = ti_tfl_stacked(m, part, steps);
    }
    ti_tfl_variable_set(n, at.h, s->h);
    ti_tfl_variable_set(n, at.c, s->c);
    return y;
}

static const places one_way = {.weight = 1, .h = 18, .c = 19, .norm = 20};

static lstm lstm_options(const tc_tfl_node *n, uint32_t asymmetric)
{
    return (lstm){.activation = ti_tfl_enum(n, 0), .cell_clip = ti_tfl_float(n, 1, 0),
                  .projection_clip = ti_tfl_float(n, 2, 0),
                  .asymmetric = ti_tfl_bool(n, asymmetric, false)};
}

void ti_tfl_build_sequence_lstm(tc_tfl_node *n)
{
    bool time_major = ti_tfl_bool(n, 3, false);
    lstm s = lstm_options(n, 4);
    if (ti_tfl_bool(n, 5, false)) {
        ti_b_unsupported(&n->m, "weights of the state that are diagonals");
        return;
    }
    tc_val x = by_time(n, 0, time_major);
    ti_tfl_bind_sequence(n, 0, lstm_run(n, one_way, &s, x, TC_NONE, false), time_major);
}

/* The form with five inputs: x, h, weights of all gates, their biases, c; gates i, g, f, o.
 * Results: h, c, [x h], and what the gates add up. */
static void basic_lstm(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = need_real(n, 0, 2), h = need_real(n, 1, 2), w = need_real(n, 2, 2),
           b = need_real(n, 3, 1), c = need_real(n, 4, 2);
    TC_STOP(m);
    int64_t hidden = ti_b_type(m, c)->dim[1];
    tc_val both = ti_b_cat(m, 1, (tc_val[]){x, h}, 2), part[4];
    tc_val sum = ti_b_op(m, TC_OP_linear, NULL, (tc_val[]){both, w, b}, 3);
    if (m->status == TC_OK && ti_b_type(m, sum)->dim[1] != 4 * hidden)
        ti_b_bad(m, TC_E_SHAPE, "%" PRId64 " rows of weights for a cell of %" PRId64,
                 ti_b_type(m, sum)->dim[1], hidden);
    for (int k = 0; k < 4; k++) {
        part[k] = ti_b_slice(m, sum, 1, k * hidden, (k + 1) * hidden, 1);
        part[k] = k == 1 ? ti_b_tanh(m, part[k]) : ti_b_sigmoid(m, part[k]);
    }
    tc_val added = ti_b_mul(m, part[0], part[1]), kept = ti_b_mul(m, part[2], c);
    c = ti_b_add(m, added, kept);
    h = ti_b_mul(m, part[3], ti_b_tanh(m, c));
    ti_tfl_variable_set(n, 1, h);
    ti_tfl_variable_set(n, 4, c);
    tc_val result[] = {h, c, both, sum};
    for (int i = 0; i < n->n_out && i < 4; i++)
        ti_tfl_bind(n, i, result[i]);
}

void ti_tfl_build_lstm(tc_tfl_node *n)
{
    if (ti_tfl_enum(n, 3) == 1) {
        basic_lstm(n);
        return;
    }
    tc_val x = need_real(n, 0, 2);
    lstm s = lstm_options(n, 4);
    x = x ? ti_b_unsqueeze(&n->m, x, 0) : x;
    tc_val y = lstm_run(n, one_way, &s, x, TC_NONE, false);
    ti_tfl_bind(n, 0, y ? ti_b_select(&n->m, y, 0, 0) : y);
}

/* A second input goes to both directions if it has weights of its own, else the second direction
 * reads it. */
void ti_tfl_build_both_lstm(tc_tfl_node *n)
{
    enum { SECOND = 39, WEIGHTS = 40 };
    places forth = {.weight = 1, .h = 35, .c = 36}, back = {.weight = 18, .h = 37, .c = 38};
    bool time_major = ti_tfl_bool(n, 4, true), merged = ti_tfl_bool(n, 3, false);
    bool own = ti_tfl_has(n, WEIGHTS + FORGET);
    lstm a = lstm_options(n, 5), b = a;
    tc_val x = by_time(n, 0, time_major);
    tc_val second = ti_tfl_has(n, SECOND) ? by_time(n, SECOND, time_major) : TC_NONE;
    if (own && second) {
        forth.second = WEIGHTS;
        back.second = WEIGHTS + GATES;
    }
    tc_val other = second && !own ? second : x;
    second = own ? second : TC_NONE;
    tc_val y = lstm_run(n, forth, &a, x, second, false);
    tc_val z = lstm_run(n, back, &b, other, second, true);
    bind_both(n, y, z, merged, time_major);
}

/* ---- RNN ---- */

/* Inputs from `at`: weights of the input, of the state, bias, state; act(W x + W2 x2 + R h + b). */
static tc_val rnn_run(tc_tfl_node *n, int at, int activation, bool asymmetric, tc_val x,
                      tc_val second, int second_at, bool back)
{
    tc_build *m = &n->m;
    weights w = weights_of(n, at, true), r = weights_of(n, at + 1, true),
            w2 = second ? weights_of(n, second_at, true) : (weights){0};
    tc_val b = need_real(n, at + 2, 1), h = state(n, at + 3);
    TC_STOP_WITH(m, TC_NONE);
    int64_t steps;
    tc_val *part = ti_tfl_steps(m, x, &steps);
    if (!part)
        return TC_NONE;
    for (int64_t k = 0; k < steps && m->status == TC_OK; k++) {
        int64_t t = back ? steps - 1 - k : k;
        operand now = {.real = ti_b_select(m, x, 0, t), .asymmetric = asymmetric},
                old = {.real = h, .asymmetric = asymmetric};
        tc_val sum = product(m, &now, w, b);
        if (second) {
            operand beside = {.real = ti_b_select(m, second, 0, t), .asymmetric = asymmetric};
            sum = plus(m, sum, product(m, &beside, w2, TC_NONE));
        }
        sum = plus(m, sum, product(m, &old, r, TC_NONE));
        part[t] = h = ti_tfl_activate(m, sum, activation);
    }
    ti_tfl_variable_set(n, at + 3, h);
    return ti_tfl_stacked(m, part, steps);
}

void ti_tfl_build_rnn(tc_tfl_node *n)
{
    tc_val x = need_real(n, 0, 2);
    x = x ? ti_b_unsqueeze(&n->m, x, 0) : x;
    tc_val y = rnn_run(n, 1, ti_tfl_enum(n, 0), ti_tfl_bool(n, 1, false), x, TC_NONE, 0, false);
    ti_tfl_bind(n, 0, y ? ti_b_select(&n->m, y, 0, 0) : y);
}

void ti_tfl_build_sequence_rnn(tc_tfl_node *n)
{
    bool time_major = ti_tfl_bool(n, 0, false);
    tc_val x = by_time(n, 0, time_major);
    tc_val y = rnn_run(n, 1, ti_tfl_enum(n, 1), ti_tfl_bool(n, 2, false), x, TC_NONE, 0, false);
    ti_tfl_bind_sequence(n, 0, y, time_major);
}

void ti_tfl_build_both_rnn(tc_tfl_node *n)
{
    enum { SECOND = 9, FORTH_WEIGHTS, BACK_WEIGHTS };
    bool time_major = ti_tfl_bool(n, 0, false), merged = ti_tfl_bool(n, 2, false);
    bool own = ti_tfl_has(n, FORTH_WEIGHTS);
    int activation = ti_tfl_enum(n, 1);
    tc_val x = by_time(n, 0, time_major);
    tc_val second = ti_tfl_has(n, SECOND) ? by_time(n, SECOND, time_major) : TC_NONE;
    if (second && !own && !time_major) { /* their encoding is ambiguous */
        ti_b_unsupported(&n->m, "a second input without weights, batch first: the runtime does "
                                "not read it");
        return;
    }
    tc_val other = second && !own ? second : x;
    second = own ? second : TC_NONE;
    bool asymmetric = ti_tfl_bool(n, 3, false);
    tc_val y = rnn_run(n, 1, activation, asymmetric, x, second, FORTH_WEIGHTS, false);
    tc_val z = rnn_run(n, 5, activation, asymmetric, other, second, BACK_WEIGHTS, true);
    bind_both(n, y, z, merged, time_major);
}

/* ---- SVDF ---- */

tc_val ti_tfl_remember(tc_tfl_node *n, tc_val old, tc_val answer, int64_t batch, int64_t filters,
                       int64_t memory)
{
    tc_build *m = &n->m;
    answer = ti_b_reshape(m, answer, 3, (int64_t[]){batch, filters, 1});
    old = ti_b_reshape(m, old, 3, (int64_t[]){batch, filters, memory});
    if (memory > 1) {
        old = ti_b_slice(m, old, 2, 1, memory, 1);
        answer = ti_b_cat(m, 2, (tc_val[]){old, answer}, 2);
    }
    ti_tfl_variable_set(n, 4, ti_b_reshape(m, answer, 2, (int64_t[]){batch, filters * memory}));
    return answer;
}

/* A filter keeps its last `memory` answers to the input; their weighted sums, `rank` of them for a
 * unit, and the bias are the result. */
void ti_tfl_build_svdf(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    int64_t rank = ti_tfl_int(n, 0, 0);
    tc_val x = need_real(n, 0, 2), time = need_real(n, 2, 2), bias = real(n, 3),
           old = state(n, 4);
    weights feature = weights_of(n, 1, true);
    TC_STOP(m);
    int64_t batch = ti_b_type(m, x)->dim[0], filters = ti_b_type(m, time)->dim[0],
            memory = ti_b_type(m, time)->dim[1];
    if (rank < 1 || filters % rank || ti_b_type(m, feature.v)->dim[0] != filters || memory < 1) {
        ti_b_bad(m, TC_E_SHAPE, "%" PRId64 " filters of rank %" PRId64, filters, rank);
        return;
    }
    operand now = {.real = x, .asymmetric = ti_tfl_bool(n, 2, false)};
    tc_val answer = product(m, &now, feature, TC_NONE);
    answer = ti_tfl_remember(n, old, answer, batch, filters, memory);
    tc_val y = ti_b_mul(m, answer, time);
    y = ti_b_reshape(m, y, 3, (int64_t[]){batch, filters / rank, rank * memory});
    int64_t last = 2;
    y = ti_b_reduce(m, TC_OP_sum, y, &last, 1, false);
    y = plus(m, y, bias);
    ti_tfl_bind(n, 0, ti_tfl_activate(m, y, ti_tfl_enum(n, 1)));
}
