/* SPDX-License-Identifier: Apache-2.0 */
/* rnn_i16.c -- recurrent layers with results of 16 bits: states and gates in i32.
 *
 * Weights have 30 bits and states 28, in two halves of i16 each; three of their four products are
 * added up in accumulators of 48 bits, which powers of two alone are taken off.  sigmoid(x) is (1 +
 * tanh(x / 2)) / 2, with the half in the weights, so that all gates of a step are one tanh. */
#include <math.h>

#include "lower_rnn.h"

#include "../../base/real.h"
#include "../../num/load.h"

enum {
    STATE_BITS = 28, /* the largest number of its kind is below 2^28 */
    FAR_OUT = 64     /* times what the results show: six bits of a state, ten more than they have */
};

/* x w^T + b in steps of 2^-bits, x in steps of unit.  All steps read the constants that the first
 * one made of w. */
typedef struct product {
    int weight, bias; /* operands; bias: none (-1) */
    bool gates;       /* the rows are those of gates, from `first` on */
    int64_t first, out, in;
    double unit;
    int bits;
    tc_val top, rest; /* i16, [1, in, out]: they count 2^power and 2^(power - 15) */
    int power;
} product;

/* One layer in one direction.  Values of i32 have 2^h, 2^c, 2^g for 1. */
typedef struct cell {
    tc_rnn_kind kind;
    int weight; /* the operand w_ih */
    bool bias, early;             /* early: a gru that resets h before its product */
    int project;                  /* from w_ih to w_hr; 0: h is not projected */
    int64_t batch, hidden, given; /* given: extent of h */
    int h, c, g;
    double h_most;
    product by_h, by_reset, by_projection;
} cell;

typedef struct state {
    tc_val h, c;
} state;

/* a 2^power as i32; a may be an accumulator of 48 bits. */
static tc_val scaled(tc_build *lw, tc_val a, int power)
{
    bool done = power == 0 && (!a || ti_b_dtype(lw, a) == TC_i32);
    return done ? a : ti_put_rescale(lw, a, ldexp(1, power), 0, 0, TC_i32);
}

/* Fraction bits for values up to `most`. */
static int bits_for(double most)
{
    return STATE_BITS - (int)ceil(ti_log2(fmax(most, 0x1p-10)));
}

static int64_t gates_of(tc_rnn_kind k)
{
    return k == TC_RNN_LSTM ? 4 : k == TC_RNN_GRU ? 3 : 1;
}

/* Gate i goes through sigmoid: its sums are halved. */
static bool is_share(tc_rnn_kind k, int64_t i)
{
    return (k == TC_RNN_LSTM && i != 2) || (k == TC_RNN_GRU && i < 2);
}

/* ---- products with weights ---- */

/* Real values by output row, the sigmoid's halved, in scratch memory. */
static const double *rows_of(tc_build *lw, const tc_node *node, const cell *l, int i, int64_t n)
{
    int64_t rows = gates_of(l->kind) * l->hidden;
    const double *x = ti_lower_known(lw, node, i, rows * n, 0);
    double *y = tc_new_n(&lw->ctx->scratch, double, (size_t)(rows * n));
    for (int64_t k = 0; x && k < rows * n; k++)
        y[k] = is_share(l->kind, k / n / l->hidden) ? x[k] / 2 : x[k];
    return x ? y : NULL;
}

/* Half of round(w * times) for all weights, as [1, in, out]. */
static tc_val half_of(tc_build *lw, const double *w, int64_t out, int64_t in, double times,
                      bool high)
{
    double *x = tc_new_n(&lw->ctx->scratch, double, (size_t)(out * in));
    for (int64_t o = 0; o < out; o++)
        for (int64_t i = 0; i < in; i++) {
            double v = rint(w[o * in + i] * times), top = rint(v / 0x1p15);
            x[i * out + o] = high ? top : v - top * 0x1p15;
        }
    return ti_b_numbers(lw, TC_i16, 3, (int64_t[]){1, in, out}, x);
}

/* Both halves of w, [out, in]. */
static void make_halves(tc_build *lw, product *p, const double *w)
{
    double most = fmax(ti_largest(w, p->out * p->in), 1e-20);
    p->power = (int)ceil(ti_log2(p->unit * most * 0x1p-14) + p->bits);
    double times = ldexp(p->unit * 0x1p15, p->bits - p->power);
    p->top = half_of(lw, w, p->out, p->in, times, true);
    p->rest = half_of(lw, w, p->out, p->in, times, false);
}

/* Makes the constants where they are not there yet; false: refused. */
static bool has_weights(tc_build *lw, const tc_node *node, const cell *l, product *p)
{
    if (p->top)
        return true;
    tc_mark mark = ti_arena_mark(&lw->ctx->scratch);
    const double *w = p->gates ? rows_of(lw, node, l, p->weight, p->in)
                               : ti_lower_known(lw, node, p->weight, p->out * p->in, 0);
    if (w)
        make_halves(lw, p, w + p->first * p->in);
    ti_arena_rewind(&lw->ctx->scratch, mark);
    return p->top;
}

static tc_val biased(tc_build *lw, const tc_node *node, const cell *l, tc_val x, const product *p)
{
    int64_t dim[] = {1, 1, p->out};
    tc_mark mark = ti_arena_mark(&lw->ctx->scratch);
    const double *b = p->bias >= 0 ? rows_of(lw, node, l, p->bias, 1) : NULL;
    double *y = tc_new_n(&lw->ctx->scratch, double, (size_t)p->out);
    for (int64_t i = 0; b && i < p->out; i++)
        y[i] = ldexp(b[p->first + i], l->g);
    tc_val sum = b ? ti_b_tosa_add(lw, x, ti_b_numbers(lw, TC_i32, 3, dim, y)) : x;
    ti_arena_rewind(&lw->ctx->scratch, mark);
    return sum;
}

/* Of x = unit * (high + low / 2^15), [1, rows, in]; low: may be none. */
static tc_val times_weights(tc_build *lw, const tc_node *node, const cell *l, product *w,
                            tc_val high, tc_val low)
{
    if (!high || !has_weights(lw, node, l, w))
        return TC_NONE;
    tc_val by_rest = scaled(lw, ti_put_matrices(lw, high, 0, w->rest, 0), w->power - 15);
    tc_val y = scaled(lw, ti_put_matrices(lw, high, 0, w->top, 0), w->power);
    y = ti_b_tosa_add(lw, y, by_rest);
    if (low)
        y = ti_b_tosa_add(lw, y,
                          scaled(lw, ti_put_matrices(lw, low, 0, w->top, 0), w->power - 15));
    return biased(lw, node, l, y, w);
}

/* The same of x in i32. */
static tc_val from_wide(tc_build *lw, const tc_node *node, const cell *l, product *w, tc_val x)
{
    tc_val high = TC_NONE, low = TC_NONE;
    if (x)
        ti_put_halves(lw, x, &high, &low);
    return times_weights(lw, node, l, w, high, low);
}

/* The gates' weights, operand i, of n columns; their bias is two operands on. */
static product gates_product(const cell *l, int i, int64_t n, double unit)
{
    return (product){.weight = i,
                     .bias = l->bias ? i + 2 : -1,
                     .gates = true,
                     .out = gates_of(l->kind) * l->hidden,
                     .in = n,
                     .unit = unit,
                     .bits = l->g};
}

/* Of values between -1 and 1 in steps of 2^-STATE_BITS. */
static product projection(const cell *l)
{
    return (product){.weight = l->weight + l->project,
                     .bias = -1,
                     .out = l->given,
                     .in = l->hidden,
                     .unit = ldexp(1, 15 - STATE_BITS),
                     .bits = l->h};
}

/* ---- one step ---- */

static tc_val gate(tc_build *lw, const cell *l, tc_val all, int64_t i, int64_t n)
{
    return ti_b_tosa_slice_axis(lw, all, 2, i * l->hidden, n * l->hidden);
}

/* tanh of sums, 2^29 for 1; and (1 + that) / 2. */
static tc_val curve(tc_build *lw, const cell *l, tc_val sum)
{
    return ti_put_fine_tanh(lw, sum, ldexp(1, -l->g));
}
static tc_val share(tc_build *lw, tc_val t)
{
    tc_val half = scaled(lw, t, -1);
    return ti_b_tosa_add(lw, half, ti_b_like(lw, half, TC_i32, 0x1p28));
}

static state lstm_step(tc_build *lw, const tc_node *node, cell *l, tc_val sum, state s)
{
    tc_val t = curve(lw, l, sum), g = share(lw, t);
    tc_val kept = ti_b_tosa_mul_shift(lw, gate(lw, l, g, 1, 1), s.c, 29);
    tc_val next = gate(lw, l, t, 2, 1);
    next = ti_b_tosa_mul_shift(lw, gate(lw, l, g, 0, 1), next, 58 - l->c);
    s.c = ti_b_tosa_add(lw, kept, next);
    tc_val shown = ti_put_fine_tanh(lw, s.c, ldexp(1, -l->c));
    s.h =
        ti_b_tosa_mul_shift(lw, gate(lw, l, g, 3, 1), shown, 58 - (l->project ? STATE_BITS : l->h));
    if (l->project)
        s.h = from_wide(lw, node, l, &l->by_projection, s.h);
    return s;
}

static state gru_step(tc_build *lw, const tc_node *node, cell *l, tc_val a, tc_val b, state s)
{
    tc_val from_h = gate(lw, l, b, 0, 2), from_x = gate(lw, l, a, 0, 2);
    tc_val g = share(lw, curve(lw, l, ti_b_tosa_add(lw, from_x, from_h)));
    tc_val past = l->early ? s.h : gate(lw, l, b, 2, 1);
    past = ti_b_tosa_mul_shift(lw, gate(lw, l, g, 0, 1), past, 29);
    past = l->early ? from_wide(lw, node, l, &l->by_reset, past) : past;
    tc_val next =
        scaled(lw, curve(lw, l, ti_b_tosa_add(lw, gate(lw, l, a, 2, 1), past)), l->h - 29);
    tc_val apart = ti_b_tosa_sub(lw, s.h, next);
    s.h = ti_b_tosa_add(lw, next, ti_b_tosa_mul_shift(lw, gate(lw, l, g, 1, 1), apart, 29));
    return s;
}

/* a: what x brings. */
static state step(tc_build *lw, const tc_node *node, cell *l, tc_val a, state s)
{
    tc_val b = from_wide(lw, node, l, &l->by_h, s.h);
    if (l->kind == TC_RNN_GRU)
        return gru_step(lw, node, l, a, b, s);
    tc_val sum = ti_b_tosa_add(lw, a, b);
    if (l->kind == TC_RNN_LSTM)
        return lstm_step(lw, node, l, sum, s);
    if (l->kind == TC_RNN_TANH)
        s.h = scaled(lw, curve(lw, l, sum), l->h - 29);
    else {
        sum = ti_b_tosa_maximum(lw, sum, ti_b_like(lw, sum, TC_i32, 0));
        double limit = ldexp(l->h_most, l->g);
        if (limit < 0x1p31 - 1)
            sum = ti_b_tosa_minimum(lw, sum, ti_b_like(lw, sum, TC_i32, floor(limit)));
        s.h = scaled(lw, sum, l->h - l->g);
    }
    return s;
}

/* ---- ranges ---- */

static double start_reach(const tc_build *lw, const tc_node *node, int i)
{
    const tc_type *t = ti_lower_type(lw, node, i);
    tc_tensor known = ti_tensor_of(lw->rw->from, node->in[i]);
    double most = 0;
    for (int64_t k = 0; !t->quant && known.data && k < tc_type_count(t); k++)
        most = fmax(most, fabs(ti_load_f64(known, k)));
    return t->quant ? ti_rnn_reach(t) : most;
}

/* How far states and sums can go; x: the largest number of the input, of n columns. */
static void fit(tc_build *lw, const tc_node *node, cell *l, double x, int64_t n, int64_t steps)
{
    int64_t rows = gates_of(l->kind) * l->hidden;
    tc_mark mark = ti_arena_mark(&lw->ctx->scratch);
    double in = ti_rnn_gain(rows_of(lw, node, l, l->weight, n), rows, n) * x,
           back = ti_rnn_gain(rows_of(lw, node, l, l->weight + 1, l->given), rows, l->given);
    for (int i = 2; l->bias && i < 4; i++)
        in += ti_rnn_gain(rows_of(lw, node, l, l->weight + i, 1), rows, 1);
    const double *project =
        l->project ? ti_lower_known(lw, node, l->weight + l->project, l->given * l->hidden, 0)
                   : NULL;
    double most = l->project               ? ti_rnn_gain(project, l->given, l->hidden)
                  : l->kind == TC_RNN_RELU ? 0
                                           : 1;
    ti_arena_rewind(&lw->ctx->scratch, mark);
    double shown = l->h_most = fmax(most, start_reach(lw, node, 1));
    for (int i = 0; i < node->n_out; i++)
        shown = fmax(shown, ti_rnn_reach(ti_lower_result(lw, node, i)));
    if (l->kind == TC_RNN_RELU) /* it may grow with every step; what is far out saturates */
        for (int64_t t = 0; t < steps && l->h_most < FAR_OUT * shown; t++)
            l->h_most = fmin(fmax(l->h_most, in + back * l->h_most), FAR_OUT * shown);
    l->h = bits_for(l->h_most);
    l->g = bits_for(in + back * l->h_most);
    if (l->kind == TC_RNN_LSTM)
        l->c = bits_for((double)steps + start_reach(lw, node, 2));
}

/* ---- layers ---- */

/* State operand i, cell `which`, as [1, batch, its extent] of 2^bits for 1. */
static tc_val start_of(tc_build *lw, const tc_node *node, const cell *l, int i, int64_t which,
                       int bits)
{
    const tc_type *t = ti_lower_type(lw, node, i);
    int64_t last = t->dim[t->rank - 1], n = l->batch * last, dim[] = {1, l->batch, last};
    tc_tensor known = ti_tensor_of(lw->rw->from, node->in[i]);
    if (!t->quant && known.data) {
        double *x = tc_new_n(&lw->ctx->arena, double, (size_t)n);
        for (int64_t k = 0; k < n; k++)
            x[k] = ldexp(ti_load_f64(known, which * n + k), bits);
        return ti_b_numbers(lw, TC_i32, 3, dim, x);
    }
    if (!ti_is_activation(t)) {
        ti_lower_refuse(lw, "operand %d does not have one scale", i);
        return TC_NONE;
    }
    int64_t all[] = {tc_type_count(t) / n, l->batch, last};
    tc_val x = ti_b_tosa_reshape(lw, ti_lower_in(lw, node, i), 3, all);
    x = ti_b_tosa_slice_axis(lw, x, 0, which, 1);
    return ti_put_rescale(lw, x, ldexp(ti_scale_of(t), bits), ti_zero_of(t), 0, TC_i32);
}

/* What the program's own input brings to every step, at once: [1, batch, gates] each. */
static void from_input(tc_build *lw, const tc_node *node, const cell *l, int64_t steps,
                       bool batch_first, tc_val *a)
{
    const tc_type *t = ti_lower_type(lw, node, 0);
    int64_t in = t->dim[t->rank - 1], gates = gates_of(l->kind) * l->hidden;
    product by_x = gates_product(l, l->weight, in, ti_scale_of(t));
    tc_val x = ti_lower_in(lw, node, 0);
    TC_STOP(lw);
    if (t->dtype == TC_i8)
        x = ti_put_rescale(lw, x, 1, ti_zero_of(t), 0, TC_i16);
    x = ti_b_tosa_reshape(lw, x, 3, (int64_t[]){1, steps * l->batch, in});
    x = times_weights(lw, node, l, &by_x, x, TC_NONE);
    int axis = batch_first ? 1 : 0;
    int64_t dim[] = {batch_first ? l->batch : steps, batch_first ? steps : l->batch, gates};
    x = ti_b_tosa_reshape(lw, x, 3, dim);
    for (int64_t i = 0; i < steps; i++)
        a[i] = ti_b_tosa_reshape(lw, ti_b_tosa_slice_axis(lw, x, axis, i, 1), 3,
                                 (int64_t[]){1, l->batch, gates});
}

/* Piece k of result i, rounded into its domain. */
static tc_val finished(tc_build *lw, const tc_node *node, int i, tc_val x, int bits)
{
    const tc_type *to = ti_lower_result(lw, node, i);
    tc_val y =
        ti_put_rescale(lw, x, ldexp(1 / ti_scale_of(to), -bits), 0, ti_zero_of(to), to->dtype);
    return y ? ti_put_codes(lw, y, to->quant) : y;
}

/* What layers hand on: h of each step, [1, batch, ways * given], 2^bits for 1. */
typedef struct sequence {
    tc_val *at; /* NULL: the program's input */
    int64_t width;
    double most;
    int bits;
} sequence;

/* All cells' last states, as they go into results. */
typedef struct ends {
    tc_val *h, *c; /* by cell */
} ends;

/* What the layer before brings to every step. */
static void from_layer(tc_build *lw, const tc_node *node, const cell *l, const sequence *x,
                       int64_t steps, tc_val *a)
{
    product by_x = gates_product(l, l->weight, x->width, ldexp(1, 15 - x->bits));
    for (int64_t t = 0; t < steps; t++)
        a[t] = from_wide(lw, node, l, &by_x, x->at[t]);
}

/* One direction of a layer over all steps. */
static sequence one_way(tc_build *lw, const tc_node *node, const tc_rnn *r, cell *l, sequence x,
                        int64_t which, bool backward, ends *e)
{
    sequence y = {tc_new_n(&lw->ctx->arena, tc_val, (size_t)r->steps), r->given, 0, 0};
    tc_val *a = tc_new_n(&lw->ctx->arena, tc_val, (size_t)r->steps);
    fit(lw, node, l, x.most, x.width, r->steps);
    TC_STOP_WITH(lw, y);
    if (!x.at)
        from_input(lw, node, l, r->steps, r->batch_first, a);
    else
        from_layer(lw, node, l, &x, r->steps, a);
    state s = {.h = start_of(lw, node, l, 1, which, l->h)};
    if (l->kind == TC_RNN_LSTM)
        s.c = start_of(lw, node, l, 2, which, l->c);
    l->by_h = gates_product(l, l->weight + 1, l->given, ldexp(1, 15 - l->h));
    if (l->early) {
        l->by_reset = l->by_h;
        l->by_h.out = l->by_reset.first = 2 * l->hidden;
        l->by_reset.out = l->hidden;
    }
    l->by_projection = projection(l);
    for (int64_t t = 0; t < r->steps && lw->status == TC_OK; t++) {
        int64_t at = backward ? r->steps - 1 - t : t;
        s = step(lw, node, l, a[at], s);
        y.at[at] = s.h;
    }
    y.most = l->h_most;
    y.bits = l->h;
    int h = r->one_step ? 0 : 1; /* the result that the last h is */
    if (r->read[h])
        e->h[which] = finished(lw, node, h, s.h, l->h);
    if (l->kind == TC_RNN_LSTM && r->read[h + 1])
        e->c[which] = finished(lw, node, h + 1, s.c, l->c);
    return y;
}

/* Two directions concatenated, in the coarser steps of both. */
static sequence beside(tc_build *lw, const tc_rnn *r, sequence a, sequence b)
{
    int bits = a.bits < b.bits ? a.bits : b.bits;
    for (int64_t t = 0; t < r->steps && lw->status == TC_OK; t++) {
        tc_val both[2] = {scaled(lw, a.at[t], bits - a.bits)};
        both[1] = scaled(lw, b.at[t], bits - b.bits);
        a.at[t] = ti_put_concat(lw, both, 2, 2);
    }
    return (sequence){a.at, a.width + b.width, fmax(a.most, b.most), bits};
}

static tc_val joined(tc_build *lw, const tc_node *node, int i, tc_val *part, int64_t n, int axis,
                     int rank, const int64_t *dim)
{
    const tc_type *to = ti_lower_result(lw, node, i);
    for (int64_t k = 0; k < n; k++)
        part[k] = ti_b_tosa_reshape(lw, part[k], rank, dim);
    return lw->status == TC_OK
               ? ti_b_tosa_reshape(lw, ti_put_join(lw, part, (int)n, axis), to->rank, to->dim)
               : TC_NONE;
}

void ti_put_rnn_i16(tc_build *lw, const tc_node *node, const tc_rnn *r, tc_val *out)
{
    const tc_type *xt = ti_lower_type(lw, node, 0);
    int64_t cells = r->layers * r->ways;
    cell l = {.kind = r->kind,
              .weight = r->weight,
              .bias = r->bias,
              .early = r->early,
              .project = r->project,
              .batch = r->batch,
              .hidden = r->hidden,
              .given = r->given};
    ends e = {tc_new_n(&lw->ctx->arena, tc_val, (size_t)cells),
              tc_new_n(&lw->ctx->arena, tc_val, (size_t)cells)};
    if (!ti_is_activation(xt)) {
        ti_lower_refuse(lw, "operand 0 does not have one scale");
        return;
    }
    sequence x = {NULL, xt->dim[xt->rank - 1], ti_rnn_reach(xt), 0};
    for (int64_t i = 0; i < cells && lw->status == TC_OK; i += r->ways) {
        sequence way[2] = {{0}, {0}};
        for (int64_t d = 0; d < r->ways; d++, l.weight += r->per_cell)
            way[d] = one_way(lw, node, r, &l, x, i + d, d == 1, &e);
        x = r->ways == 2 ? beside(lw, r, way[0], way[1]) : way[0];
    }
    TC_STOP(lw);
    int64_t by_step[] = {1, r->batch, x.width}, by_batch[] = {r->batch, 1, x.width};
    bool lstm = r->kind == TC_RNN_LSTM;
    int h = r->one_step ? 0 : 1;
    if (r->read[h])
        out[h] = joined(lw, node, h, e.h, cells, 0, 3, (int64_t[]){1, r->batch, r->given});
    if (lstm && r->read[h + 1])
        out[h + 1] = joined(lw, node, h + 1, e.c, cells, 0, 3,
                            (int64_t[]){1, r->batch, r->hidden});
    for (int64_t t = 0; h && r->read[0] && t < r->steps; t++)
        x.at[t] = finished(lw, node, 0, x.at[t], x.bits);
    if (h && r->read[0])
        out[0] = joined(lw, node, 0, x.at, r->steps, r->batch_first ? 1 : 0, 3,
                        r->batch_first ? by_batch : by_step);
}
