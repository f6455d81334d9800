/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_codes_rnn.c -- builders of LSTM and SVDF on codes.
 *
 * LSTM: int8 inputs, weights and outputs; gates of 16 bits with 12 of fraction, whose sums are held
 * to 16 bits after each product; sigmoid and tanh listed for all 65536 codes; a cell of 16 bits in
 * steps of a power of two.  Two runtimes have two arithmetics.  TensorFlow Lite Micro, which boards
 * run, has sequences without peepholes and projection, and with four gates: these are read as it has them:
 *
 *              Micro                                    TensorFlow Lite
 *   curves     straight lines between 256 points        fixed point
 *   products   by a factor of 31 bits, rounded twice    shifted, rounded once
 *   state      held to 16 bits before it is added       held with the sum
 *
 * SVDF: int8 by int8 to a state of 16 or 8 bits, that by weights of as many. */
#include <math.h>

#include "tflite_rnn.h"
#include "tflite_scalar.h"
#include "tflite_window.h"

enum { INPUT, FORGET, CELL, OUTPUT, GATES };
enum { X, WEIGHTS = 1, RECURRENT = 5, PEEPHOLES = 9, BIASES = 12, PROJECTION = 16,
       PROJECTION_BIAS, H, C, NORMS };

typedef struct lstm {
    tc_val w[GATES], r[GATES], bias[GATES], peephole[GATES];
    tc_tfl_factor by_x[GATES], by_h[GATES], by_c[GATES], hidden, projected;
    tc_val projection, projection_bias, none; /* none: nothing to add */
    int64_t x_zero, h_zero, hidden_zero;
    int cell;                                 /* the cell's step is 2^cell */
    bool micro; /* in TensorFlow Lite Micro's arithmetic */
    int64_t cell_clip, projection_clip;
    tc_val sigmoid, tanh, cell_tanh;          /* lists */
    tc_val h, c;
} lstm;

static const tc_tfl_factor same = {1 << 30, 1};

static float scale_of(tc_tfl_node *n, int i)
{
    return (float)ti_tfl_scale(n, ti_tfl_in_tensor(n, i));
}

/* Input i of that type and rank; TC_NONE where it is left out. */
static tc_val codes(tc_tfl_node *n, int i, tc_dtype dtype, int rank)
{
    const tc_tfl_tensor *t = ti_tfl_in_tensor(n, i);
    if (!t)
        return TC_NONE;
    tc_val x = ti_tfl_in(n, i);
    if (n->m.status == TC_OK &&
        (ti_b_dtype(&n->m, x) != dtype || ti_b_type(&n->m, x)->rank != rank))
        ti_b_unsupported(&n->m, "operator '%s' (version %d) on codes with input %d ('%s') %s",
                         n->row->name, n->version, i, t->name,
                         ti_type_text(&n->m.ctx->arena, ti_b_type(&n->m, x)));
    return n->m.status == TC_OK ? x : TC_NONE;
}

static tc_val need_codes(tc_tfl_node *n, int i, tc_dtype dtype, int rank)
{
    tc_val x = codes(n, i, dtype, rank);
    if (!x)
        ti_b_bad(&n->m, TC_E_ARGUMENT, "input %d is left out", i);
    return x;
}

/* [rows, columns] as they must be; a message else. */
static void fits(tc_tfl_node *n, int i, tc_val x, int64_t rows, int64_t columns)
{
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x);
    if (t->dim[0] != rows || (t->rank > 1 && t->dim[1] != columns))
        ti_b_bad(&n->m, TC_E_SHAPE,
                 "input %d has the shape %s, expected [%" PRId64 ", %" PRId64 "]", i,
                 ti_type_text(&n->m.ctx->arena, t), rows, columns);
}

/* The tensor that holds the scale of what is inside of the operator. */
static const tc_tfl_tensor *inside(const tc_tfl_node *n, size_t i)
{
    tc_fb_vector list = ti_fb_list(n->op, OP_INTERMEDIATES, 4);
    int64_t at = i < list.n ? ti_fb_list_i32(list, i) : -1;
    return list.n == 5 && at >= 0 && (size_t)at < n->scope->n_tensor ? &n->scope->tensor[at] : NULL;
}

/* Codes in steps of 2^(whole - 15). */
static tc_val list_of(tc_build *m, bool micro, bool tanh, int whole)
{
    int64_t *v = tc_new_n(&m->ctx->arena, int64_t, 65536);
    int left = whole - 3;
    tc_tfl_factor f = {left < 0 ? 3 : 3 << left, left < 0 ? -left : 0};
    for (int code = -32768; code < 32768; code++)
        v[code + 32768] = micro  ? ti_tfl_curve16(code, f, tanh)
                          : tanh ? ti_tfl_tanh16((int16_t)code, whole)
                                 : ti_tfl_logistic16((int16_t)code);
    return ti_tfl_list(m, TC_i16, v, 65536);
}

static bool micro_can(const tc_tfl_node *n, const lstm *s)
{
    bool can = n->row->codes == ti_tfl_codes_sequence_lstm && !s->projection && s->w[INPUT];
    for (int k = 0; k < GATES; k++)
        can = can && !s->peephole[k];
    return can;
}

static bool read_scales(tc_tfl_node *n, lstm *s)
{
    tc_build *m = &n->m;
    const tc_tfl_tensor *hidden = inside(n, 4), *h = ti_tfl_in_tensor(n, H),
                        *c = ti_tfl_in_tensor(n, C), *y = ti_tfl_out_tensor(n, 0);
    float x = scale_of(n, X), out = scale_of(n, H), step = scale_of(n, C),
          middle = (float)ti_tfl_scale(n, hidden), result = (float)ti_tfl_scale(n, y);
    TC_STOP_WITH(m, false);
    int e;
    bool power = frexp((double)step, &e) == 0.5;
    s->cell = e - 1;
    if (!power || s->cell < -15 || s->cell > -9 || c->zero[0] || !h->variable || !c->variable) {
        ti_b_unsupported(m, "a cell in steps of %g; powers of two from 2^-15 to 2^-9 are built",
                         (double)step);
        return false;
    }
    for (int k = 0; k < GATES; k++) {
        if (!s->w[k])
            continue;
        int peephole = PEEPHOLES + (k == OUTPUT ? 2 : k);
        s->by_x[k] = ti_tfl_factor_of((double)(scale_of(n, WEIGHTS + k) * x / 0x1p-12f));
        s->by_h[k] = ti_tfl_factor_of((double)(scale_of(n, RECURRENT + k) * out / 0x1p-12f));
        if (s->peephole[k])
            s->by_c[k] = ti_tfl_factor_of(
                (double)(float)((double)step * (double)scale_of(n, peephole) / 0x1p-12));
    }
    s->hidden = ti_tfl_factor_of((double)(float)(0x1p-15 / (double)middle * 0x1p-15));
    s->hidden_zero = ti_tfl_zero(hidden);
    if (s->micro) {
        s->hidden = ti_tfl_factor_of(0x1p-30 / (double)out);
        s->hidden_zero = ti_tfl_zero(h);
    }
    s->x_zero = ti_tfl_zero(ti_tfl_in_tensor(n, X));
    s->h_zero = ti_tfl_zero(h);
    if (s->projection)
        s->projected = ti_tfl_factor_of((double)(scale_of(n, PROJECTION) * middle / out));
    float clip = (float)ti_tfl_float(n, 1, 0), last = (float)ti_tfl_float(n, 2, 0);
    s->cell_clip = clip > 0 ? (int64_t)fminf(clip / step, 32767.0f) : 0;
    s->projection_clip = last > 0 ? (int64_t)fminf(last / result, 127.0f) : 0;
    return m->status == TC_OK;
}

static bool read_lstm(tc_tfl_node *n, lstm *s, int64_t width)
{
    tc_build *m = &n->m;
    static const int peephole[] = {INPUT, FORGET, OUTPUT};
    for (int k = 0; k < 4; k++)
        if (ti_tfl_has(n, NORMS + k))
            ti_b_unsupported(m, "norms inside an LSTM on codes");
    s->h = need_codes(n, H, TC_i8, 2);
    s->c = need_codes(n, C, TC_i16, 2);
    TC_STOP_WITH(m, false);
    int64_t hidden = ti_b_type(m, s->h)->dim[1], cells = ti_b_type(m, s->c)->dim[1];
    for (int k = 0; k < GATES; k++) {
        if (k == INPUT && !ti_tfl_has(n, WEIGHTS) && !ti_tfl_has(n, RECURRENT))
            continue;
        s->w[k] = need_codes(n, WEIGHTS + k, TC_i8, 2);
        s->r[k] = need_codes(n, RECURRENT + k, TC_i8, 2);
        s->bias[k] = need_codes(n, BIASES + k, TC_i32, 1);
        fits(n, WEIGHTS + k, s->w[k], cells, width);
        fits(n, RECURRENT + k, s->r[k], cells, hidden);
        fits(n, BIASES + k, s->bias[k], cells, 0);
    }
    for (int k = 0; k < 3; k++) {
        s->peephole[peephole[k]] = codes(n, PEEPHOLES + k, TC_i16, 1);
        if (s->peephole[peephole[k]])
            fits(n, PEEPHOLES + k, s->peephole[peephole[k]], cells, 0);
    }
    s->projection = codes(n, PROJECTION, TC_i8, 2);
    s->projection_bias = codes(n, PROJECTION_BIAS, TC_i32, 1);
    if (s->projection)
        fits(n, PROJECTION, s->projection, hidden, cells);
    else if (m->status == TC_OK && hidden != cells)
        ti_b_bad(m, TC_E_SHAPE, "a state of %" PRId64 " for a cell of %" PRId64, hidden, cells);
    if (s->peephole[FORGET] && hidden != cells)
        ti_b_unsupported(m, "peepholes beside a projection, on codes");
    s->micro = micro_can(n, s);
    if (m->status != TC_OK || !read_scales(n, s))
        return false;
    int64_t one = 1, zero = 0;
    s->none = ti_tfl_const_of(m, TC_i32, 1, &one, &zero);
    s->sigmoid = list_of(m, s->micro, false, 3);
    s->tanh = list_of(m, s->micro, true, 3);
    s->cell_tanh = s->cell == -12 ? s->tanh : list_of(m, s->micro, true, 15 + s->cell);
    return m->status == TC_OK;
}

/* a + b, held to the range of 16 bits; a: i16, b: i32 */
static tc_val sum16(tc_build *m, tc_val a, tc_val b)
{
    a = ti_tfl_widen(m, a, 0, 0);
    a = ti_tfl_two(m, TC_OP_tosa_add, a, b);
    return ti_tfl_rescale(m, a, &same, 1, 0, 0, TC_i16);
}

static tc_val product32(tc_build *m, tc_val a, tc_val b)
{
    a = ti_tfl_widen(m, a, 0, 0);
    b = ti_tfl_widen(m, b, 0, 0);
    return ti_tfl_mul(m, a, b, 0);
}

/* Everything inside of a step is [1, 1, batch, width]. */
static tc_val as_places(tc_build *m, tc_val x)
{
    TC_STOP_WITH(m, TC_NONE);
    const tc_type *t = ti_b_type(m, x);
    return ti_b_reshape(m, x, 4, (int64_t[]){1, 1, t->dim[0], t->dim[1]});
}

static tc_val as_rows(tc_build *m, tc_val x)
{
    TC_STOP_WITH(m, TC_NONE);
    const tc_type *t = ti_b_type(m, x);
    return ti_b_reshape(m, x, 2, (int64_t[]){t->dim[2], t->dim[3]});
}

static tc_val gate(tc_tfl_node *n, const lstm *s, int k, tc_val x, tc_val h, tc_val c)
{
    tc_build *m = &n->m;
    tc_val sum = ti_tfl_rows_by(n, x, s->x_zero, s->w[k], 0, s->bias[k]);
    sum = ti_tfl_rescale(m, sum, &s->by_x[k], 1, 0, 0, TC_i16);
    tc_val more = ti_tfl_rows_by(n, h, s->h_zero, s->r[k], 0, s->none);
    more = ti_tfl_rescale(m, more, &s->by_h[k], 1, 0, 0, s->micro ? TC_i16 : TC_i32);
    sum = sum16(m, sum, s->micro ? ti_tfl_widen(m, more, 0, 0) : more);
    if (s->peephole[k]) {
        more = product32(m, c, s->peephole[k]);
        more = ti_tfl_rescale(m, more, &s->by_c[k], 1, 0, 0, TC_i32);
        sum = sum16(m, sum, more);
    }
    return ti_tfl_by_code(m, sum, k == CELL ? s->tanh : s->sigmoid);
}

/* a b 2^-shift to 16 bits. */
static tc_val product16(tc_build *m, const lstm *s, tc_val a, tc_val b, int shift)
{
    tc_val y = product32(m, a, b);
    if (!s->micro)
        return ti_tfl_halves_away(m, y, shift, 0, TC_i16);
    tc_tfl_factor f = {1 << 30, 1 - shift};
    return ti_tfl_rescale(m, y, &f, 1, 0, 0, TC_i16);
}

/* One step: s->h [batch, hidden] and s->c become the next ones. */
static void step(tc_tfl_node *n, lstm *s, tc_val x)
{
    tc_build *m = &n->m;
    tc_val c = as_places(m, s->c), i = TC_NONE;
    if (s->w[INPUT])
        i = gate(n, s, INPUT, x, s->h, c);
    tc_val f = gate(n, s, FORGET, x, s->h, c), g = gate(n, s, CELL, x, s->h, c);
    if (!i) { /* what is not forgotten leaves no room */
        i = ti_tfl_widen(m, f, 0, 0);
        i = ti_tfl_two(m, TC_OP_tosa_sub, ti_tfl_number(m, TC_i32, 4, 32767), i);
        i = ti_tfl_rescale(m, i, &same, 1, 0, 0, TC_i16);
    }
    tc_val kept = product16(m, s, f, c, 15), added;
    if (s->micro)
        added = ti_tfl_widen(m, product16(m, s, i, g, 30 + s->cell), 0, 0);
    else
        added = ti_tfl_halves_away(m, product32(m, i, g), 30 + s->cell, 0, TC_i32);
    c = sum16(m, kept, added);
    if (s->cell_clip > 0)
        c = ti_tfl_clamp(m, c, (tc_tfl_range){-s->cell_clip, s->cell_clip});
    tc_val o = gate(n, s, OUTPUT, x, s->h, c);
    tc_val y = product32(m, o, ti_tfl_by_code(m, c, s->cell_tanh));
    int64_t zero = s->projection ? -s->hidden_zero : s->hidden_zero;
    y = ti_tfl_rescale(m, y, &s->hidden, 1, 0, zero, TC_i8);
    y = as_rows(m, y);
    if (s->projection) {
        y = ti_tfl_rows_by(n, y, zero, s->projection, 0,
                           s->projection_bias ? s->projection_bias : s->none);
        y = ti_tfl_rescale(m, y, &s->projected, 1, 0, s->h_zero, TC_i8);
        if (s->projection_clip > 0)
            y = ti_tfl_clamp(m, y, (tc_tfl_range){-s->projection_clip, s->projection_clip});
        y = as_rows(m, y);
    }
    s->h = y;
    s->c = as_rows(m, c);
}

/* x [steps, batch, width]: all results, [steps, batch, hidden]. */
static tc_val run(tc_tfl_node *n, tc_val x)
{
    tc_build *m = &n->m;
    lstm s = {0};
    if (m->status != TC_OK || !read_lstm(n, &s, ti_b_type(m, x)->dim[2]))
        return TC_NONE;
    int64_t steps;
    tc_val *part = ti_tfl_steps(m, x, &steps);
    for (int64_t k = 0; part && k < steps && m->status == TC_OK; k++) {
        step(n, &s, ti_b_select(m, x, 0, k));
        part[k] = s.h;
    }
    ti_tfl_variable_set(n, H, s.h);
    ti_tfl_variable_set(n, C, s.c);
    return part ? ti_tfl_stacked(m, part, steps) : TC_NONE;
}

void ti_tfl_codes_sequence_lstm(tc_tfl_node *n)
{
    bool time_major = ti_tfl_bool(n, 3, false);
    tc_val x = need_codes(n, X, TC_i8, 3);
    if (ti_tfl_bool(n, 5, false))
        ti_b_unsupported(&n->m, "weights of the state that are diagonals");
    x = time_major ? x : ti_b_swap(&n->m, x, 0, 1);
    ti_tfl_bind_sequence(n, 0, run(n, x), time_major);
}

void ti_tfl_codes_lstm(tc_tfl_node *n)
{
    if (ti_tfl_enum(n, 3) == 1) {
        ti_b_unsupported(&n->m, "the LSTM of five inputs on codes");
        return;
    }
    tc_val x = need_codes(n, X, TC_i8, 2);
    x = ti_b_unsqueeze(&n->m, x, 0);
    tc_val y = run(n, x);
    ti_tfl_bind(n, 0, y ? ti_b_select(&n->m, y, 0, 0) : y);
}

/* ---- SVDF ---- */

/* x + zero, x: i8, past either end as on boards: from the other one. */
static tc_val moved(tc_build *m, tc_val x, int64_t zero)
{
    int8_t table[256];
    for (int k = 0; k < 256; k++)
        table[k] = (int8_t)(((k + zero) & 255) - 128);
    return ti_tfl_table(m, x, table);
}

/* As on real values; the runtime's activation attribute is not applied. */
void ti_tfl_codes_svdf(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    int64_t rank = ti_tfl_int(n, 0, 0);
    const tc_tfl_tensor *y = ti_tfl_out_tensor(n, 0), *kept = ti_tfl_in_tensor(n, 4);
    tc_dtype held = kept && kept->dtype == TC_i8 ? TC_i8 : TC_i16;
    tc_val x = need_codes(n, 0, TC_i8, 2), feature = need_codes(n, 1, TC_i8, 2),
           time = need_codes(n, 2, held, 2), bias = codes(n, 3, TC_i32, 1),
           old = need_codes(n, 4, held, 2);
    float xs = scale_of(n, 0), fs = scale_of(n, 1), ts = scale_of(n, 2), ss = scale_of(n, 4),
          ys = (float)ti_tfl_scale(n, y);
    TC_STOP(m);
    int64_t batch = ti_b_type(m, x)->dim[0], filters = ti_b_type(m, time)->dim[0],
            memory = ti_b_type(m, time)->dim[1];
    if (rank < 1 || filters % rank || memory < 1 || y->dtype != TC_i8) {
        ti_b_bad(m, TC_E_SHAPE, "%" PRId64 " filters of rank %" PRId64, filters, rank);
        return;
    }
    fits(n, 1, feature, filters, ti_b_type(m, x)->dim[1]);
    fits(n, 4, old, batch, filters * memory);
    tc_tfl_factor first = ti_tfl_factor_of((double)(xs * fs / ss)),
                  second = ti_tfl_factor_of((double)(ss * ts / ys));
    int64_t one = 1, zero = 0, last = 2;
    tc_val none = ti_tfl_const_of(m, TC_i32, 1, &one, &zero);
    tc_val answer = ti_tfl_rows_by(n, x, ti_tfl_zero(ti_tfl_in_tensor(n, 0)), feature, 0, none);
    bool wraps = held == TC_i8 && ti_tfl_zero(kept);
    answer = ti_tfl_rescale(m, answer, &first, 1, 0, wraps ? 0 : ti_tfl_zero(kept), held);
    answer = wraps ? moved(m, answer, ti_tfl_zero(kept)) : answer;
    answer = ti_tfl_remember(n, old, answer, batch, filters, memory);
    answer = ti_tfl_widen(m, answer, ti_tfl_zero(kept), 0);
    tc_val sum = ti_tfl_mul(m, answer, ti_tfl_widen(m, time, 0, 0), 0);
    sum = ti_b_reshape(m, sum, 3, (int64_t[]){batch, filters / rank, rank * memory});
    sum = ti_b_tosa_reduce_sum(m, sum, last);
    sum = ti_b_reshape(m, sum, 2, (int64_t[]){batch, filters / rank});
    if (bias) {
        fits(n, 3, bias, filters / rank, 0);
        sum = ti_tfl_two(m, TC_OP_tosa_add, sum, bias);
    }
    ti_tfl_bind(n, 0, ti_tfl_rescale(m, sum, &second, 1, 0, ti_tfl_zero(y), TC_i8));
}
