/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_rnn.c -- builders of RNN, GRU and LSTM.
 *
 * The usual forms become our own operators, with gates in PyTorch's order; others (other
 * activations, a clip, peepholes, lengths) are unrolled; so is DynamicQuantizeLSTM, which quantizes its input and state before every product. */
#include <math.h>

#include "onnx.h"

typedef struct rnn {
    tc_op op;             /* lstm, gru, rnn_tanh */
    int gates, dirs;
    bool reverse, batch_first;
    int64_t steps, batch, width, hidden;
    tc_val x, w, r, b, lengths, h, c, peephole; /* x: [steps, batch, width] */
    double clip;
    bool linear_before_reset, dynamic;
} rnn;

/* What 8 bits leave of x, chosen when it runs.  Where x is zero, so is it. */
static tc_val as_codes(tc_build *m, tc_val x)
{
    tc_onnx_codes q = ti_onnx_dynamic(m, x, 0x1p-100);
    return ti_b_mul(m, ti_b_sub(m, q.code, q.zero), q.scale);
}

/* Rows of gate k of direction d: [hidden, ...]; `half`: of the bias, the input's or the state's. */
static tc_val gate_rows(tc_build *m, const rnn *s, tc_val p, int d, int gate, int half)
{
    tc_val one = ti_b_select(m, p, 0, d);
    int64_t from = (half * s->gates + gate) * s->hidden;
    return ti_b_slice(m, one, 0, from, from + s->hidden, 1);
}

/* The gates of a direction in PyTorch's order, under each other. */
static tc_val reordered(tc_build *m, const rnn *s, tc_val p, int d, int half)
{
    static const int lstm[] = {0, 2, 3, 1}, gru[] = {1, 0, 2}, plain[] = {0};
    const int *order = s->gates == 4 ? lstm : s->gates == 3 ? gru : plain;
    tc_val part[4];
    for (int k = 0; k < s->gates; k++)
        part[k] = gate_rows(m, s, p, d, order[k], half);
    return ti_b_cat(m, 0, part, s->gates);
}

/* Our own operator on all directions; results [steps, batch, dirs * hidden], [dirs, batch, ..]. */
static void as_operator(tc_build *m, const rnn *s, tc_val *y, tc_val *h, tc_val *c)
{
    tc_val in[3 + 8];
    int n = 0;
    bool lstm = s->op == TC_OP_lstm;
    in[n++] = s->reverse ? ti_b_flip(m, s->x, 0) : s->x;
    in[n++] = s->h;
    if (lstm)
        in[n++] = s->c;
    for (int d = 0; d < s->dirs; d++) {
        in[n++] = reordered(m, s, s->w, d, 0);
        in[n++] = reordered(m, s, s->r, d, 0);
        if (s->b) {
            in[n++] = reordered(m, s, s->b, d, 0);
            in[n++] = reordered(m, s, s->b, d, 1);
        }
    }
    tc_attr_rnn *a = ti_b_attr(m, rnn, .layers = 1, .bidirectional = s->dirs == 2,
                               .batch_first = false, .has_bias = s->b != TC_NONE,
                               .reset_first = s->op == TC_OP_gru && !s->linear_before_reset);
    tc_node *node = ti_b_ops(m, s->op, a, in, n, lstm ? 3 : 2);
    if (!node)
        return;
    *y = s->reverse ? ti_b_flip(m, node->out[0], 0) : node->out[0];
    *h = node->out[1];
    *c = lstm ? node->out[2] : TC_NONE;
}

/* ---- step by step ---- */

static tc_val activation(tc_onnx_node *n, int which, const char *missing, tc_val x)
{
    tc_build *m = &n->m;
    const char *word = ti_onnx_text_at(n, "activations", which, missing);
    tc_floats alpha = ti_onnx_floats(n, "activation_alpha"),
              beta = ti_onnx_floats(n, "activation_beta");
    double a = which < alpha.n ? alpha.v[which] : NAN, b = which < beta.n ? beta.v[which] : NAN;
    if (ti_text_eq(word, "Sigmoid"))
        return ti_b_sigmoid(m, x);
    if (ti_text_eq(word, "Tanh"))
        return ti_b_tanh(m, x);
    if (ti_text_eq(word, "Relu"))
        return ti_b_relu(m, x);
    if (ti_text_eq(word, "Softsign"))
        return ti_b_softsign(m, x);
    if (ti_text_eq(word, "Softplus"))
        return ti_b_1(m, softplus, ti_b_attr(m, softplus, 1, 20), x);
    if (ti_text_eq(word, "LeakyRelu"))
        return ti_b_1(m, leaky_relu, ti_b_attr(m, slope, isnan(a) ? 0.01 : a), x);
    if (ti_text_eq(word, "HardSigmoid")) {
        x = ti_b_mul_n(m, x, isnan(a) ? 0.2 : a);
        return ti_b_clamp(m, ti_b_add_n(m, x, isnan(b) ? 0.5 : b), 0, 1);
    }
    ti_b_unsupported(m, "activation '%.40s' of a recurrent operator is not supported", word);
    return TC_NONE;
}

static tc_val clipped(tc_build *m, const rnn *s, tc_val x)
{
    return s->clip > 0 ? ti_b_clamp(m, x, -s->clip, s->clip) : x;
}

/* x W^T + b (the input's half), and h R^T + b (the state's). */
static tc_val from_input(tc_build *m, const rnn *s, int d, int gate, tc_val x)
{
    tc_val w = gate_rows(m, s, s->w, d, gate, 0), b = s->b ? gate_rows(m, s, s->b, d, gate, 0) : 0;
    return ti_b_3(m, linear, NULL, x, w, b);
}

static tc_val from_state(tc_build *m, const rnn *s, int d, int gate, tc_val h)
{
    tc_val r = gate_rows(m, s, s->r, d, gate, 0), b = s->b ? gate_rows(m, s, s->b, d, gate, 1) : 0;
    return ti_b_3(m, linear, NULL, h, r, b);
}

static tc_val gate_sum(tc_build *m, const rnn *s, int d, int gate, tc_val x, tc_val h)
{
    tc_val a = from_input(m, s, d, gate, x), b = from_state(m, s, d, gate, h);
    return ti_b_add(m, a, b);
}

static tc_val plus_peephole(tc_build *m, const rnn *s, int d, int which, tc_val sum, tc_val c)
{
    if (!s->peephole)
        return sum;
    tc_val one = ti_b_select(m, s->peephole, 0, d);
    one = ti_b_slice(m, one, 0, which * s->hidden, (which + 1) * s->hidden, 1);
    return ti_b_add(m, sum, ti_b_mul(m, one, c));
}

/* Gates i, o, f, c; peepholes i, o, f. */
static void lstm_step(tc_onnx_node *n, const rnn *s, int d, tc_val x, tc_val *h, tc_val *c)
{
    tc_build *m = &n->m;
    int act = 3 * d;
    tc_val i = plus_peephole(m, s, d, 0, gate_sum(m, s, d, 0, x, *h), *c);
    i = activation(n, act, "Sigmoid", clipped(m, s, i));
    tc_val f = plus_peephole(m, s, d, 2, gate_sum(m, s, d, 2, x, *h), *c);
    f = activation(n, act, "Sigmoid", clipped(m, s, f));
    tc_val g = activation(n, act + 1, "Tanh", clipped(m, s, gate_sum(m, s, d, 3, x, *h)));
    tc_val kept = ti_b_mul(m, f, *c), added = ti_b_mul(m, i, g);
    tc_val next = ti_b_add(m, kept, added);
    tc_val o = plus_peephole(m, s, d, 1, gate_sum(m, s, d, 1, x, *h), next);
    o = activation(n, act, "Sigmoid", clipped(m, s, o));
    *c = next;
    *h = ti_b_mul(m, o, activation(n, act + 2, "Tanh", next));
}

/* Gates z, r, h. */
static void gru_step(tc_onnx_node *n, const rnn *s, int d, tc_val x, tc_val *h)
{
    tc_build *m = &n->m;
    int act = 2 * d;
    tc_val z = activation(n, act, "Sigmoid", clipped(m, s, gate_sum(m, s, d, 0, x, *h)));
    tc_val r = activation(n, act, "Sigmoid", clipped(m, s, gate_sum(m, s, d, 1, x, *h)));
    tc_val in = from_input(m, s, d, 2, x), from;
    if (s->linear_before_reset) {
        from = from_state(m, s, d, 2, *h);
        from = ti_b_mul(m, r, from);
    } else {
        from = ti_b_mul(m, r, *h);
        from = from_state(m, s, d, 2, from);
    }
    tc_val g = activation(n, act + 1, "Tanh", clipped(m, s, ti_b_add(m, in, from)));
    /* (1 - z) g + z h */
    tc_val away = ti_b_sub(m, *h, g);
    *h = ti_b_add(m, g, ti_b_mul(m, z, away));
}

static void rnn_step(tc_onnx_node *n, const rnn *s, int d, tc_val x, tc_val *h)
{
    *h = activation(n, d, "Tanh", clipped(&n->m, s, gate_sum(&n->m, s, d, 0, x, *h)));
}

/* [batch, 1]: whether step t is inside of each sequence. */
static tc_val inside(tc_build *m, const rnn *s, int64_t t)
{
    tc_val at = ti_b_scalar_i64(m, TC_i64, t), lengths = ti_b_cast(m, s->lengths, TC_i64);
    lengths = ti_b_reshape(m, lengths, 2, (int64_t[]){s->batch, 1});
    return ti_b_gt(m, lengths, at);
}

/* One direction; y: [steps, batch, hidden].  With lengths, states do not change past the end and
 * the results there are zero; the reverse direction begins at each sequence's own end. */
static void by_steps(tc_onnx_node *n, const rnn *s, int d, tc_val *y, tc_val *h_out, tc_val *c_out)
{
    tc_build *m = &n->m;
    bool back = s->reverse || d == 1;
    tc_val h = ti_b_select(m, s->h, 0, d), c = s->c ? ti_b_select(m, s->c, 0, d) : TC_NONE;
    tc_val *part = tc_new_n(&m->ctx->arena, tc_val, (size_t)s->steps);
    for (int64_t k = 0; k < s->steps && m->status == TC_OK; k++) {
        int64_t t = back ? s->steps - 1 - k : k;
        tc_val x = ti_b_select(m, s->x, 0, t), before = h, c_before = c;
        h = s->dynamic ? as_codes(m, h) : h;
        if (s->op == TC_OP_lstm)
            lstm_step(n, s, d, x, &h, &c);
        else if (s->op == TC_OP_gru)
            gru_step(n, s, d, x, &h);
        else
            rnn_step(n, s, d, x, &h);
        part[t] = h;
        if (s->lengths) {
            tc_val in = inside(m, s, t), zero = ti_b_scalar(m, ti_b_dtype(m, h), 0);
            part[t] = ti_b_where(m, in, h, zero);
            h = ti_b_where(m, in, h, before);
            c = c ? ti_b_where(m, in, c, c_before) : c;
        }
    }
    *y = ti_b_op(m, TC_OP_stack, ti_b_attr(m, axis, 0), part, (int)s->steps);
    *h_out = h;
    *c_out = c;
}

/* ---- the node ---- */

/* No activation but the usual ones. */
static bool usual_activations(tc_onnx_node *n, const rnn *s)
{
    static const char *const lstm[] = {"Sigmoid", "Tanh", "Tanh"};
    static const char *const gru[] = {"Sigmoid", "Tanh"}, *const plain[] = {"Tanh"};
    int each = s->gates == 4 ? 3 : s->gates == 3 ? 2 : 1;
    const char *const *usual = s->gates == 4 ? lstm : s->gates == 3 ? gru : plain;
    for (int i = 0; i < each * s->dirs; i++)
        if (!ti_text_eq(ti_onnx_text_at(n, "activations", i, usual[i % each]), usual[i % each]))
            return false;
    return true;
}

static tc_val state_of(tc_onnx_node *n, const rnn *s, int i)
{
    tc_val v = ti_onnx_in(n, i);
    TC_STOP_WITH(&n->m, TC_NONE);
    if (!v) {
        int64_t dim[3] = {s->dirs, s->batch, s->hidden};
        return ti_b_full(&n->m, 3, dim, 0, ti_b_dtype(&n->m, s->x));
    }
    return s->batch_first ? ti_b_swap(&n->m, v, 0, 1) : v;
}

/* Weights [dirs, in, 4 hidden] of codes as real ones [dirs, 4 hidden, in]; operands i and i + 1
 * have scales and zeros. */
static tc_val real_weights(tc_onnx_node *n, tc_val w, int i)
{
    tc_build *m = &n->m;
    tc_val scale = ti_onnx_need(n, i), zero = ti_onnx_in(n, i + 1);
    if (m->status != TC_OK || ti_b_type(m, w)->rank != 3)
        return w;
    tc_val each[2] = {scale, zero};
    for (int k = 0; k < 2; k++) {
        const tc_type *t = each[k] ? ti_b_type(m, each[k]) : NULL;
        int64_t dim[3] = {t && t->rank ? t->dim[0] : 1, 1, t && t->rank == 2 ? t->dim[1] : 1};
        if (t)
            each[k] = ti_b_reshape(m, ti_b_cast(m, each[k], TC_f32), 3, dim);
    }
    w = ti_b_cast(m, w, TC_f32);
    w = each[1] ? ti_b_sub(m, w, each[1]) : w;
    return ti_b_swap(m, ti_b_mul(m, w, each[0]), 1, 2);
}

static bool read_node(tc_onnx_node *n, rnn *s)
{
    tc_build *m = &n->m;
    const char *direction = ti_onnx_text(n, "direction", "forward");
    *s = (rnn){.op = n->row->op, .gates = (int)n->row->extra};
    s->dirs = ti_text_eq(direction, "bidirectional") ? 2 : 1;
    s->reverse = ti_text_eq(direction, "reverse");
    s->batch_first = ti_onnx_int(n, "layout", 0);
    s->clip = ti_onnx_float(n, "clip", 0);
    s->linear_before_reset = ti_onnx_int(n, "linear_before_reset", 0);
    s->x = ti_onnx_need(n, 0);
    s->w = ti_onnx_need(n, 1);
    s->r = ti_onnx_need(n, 2);
    s->b = ti_onnx_in(n, 3);
    s->lengths = ti_onnx_in(n, 4);
    s->dynamic = n->row->domain[0] != 0;
    if (s->dynamic) {
        s->x = as_codes(m, s->x);
        s->w = real_weights(n, s->w, 8);
        s->r = real_weights(n, s->r, 10);
    }
    TC_STOP_WITH(m, false);
    if (s->batch_first)
        s->x = ti_b_swap(m, s->x, 0, 1);
    const tc_type *x = ti_b_type(m, s->x), *r = ti_b_type(m, s->r);
    int ranks[] = {x->rank, ti_b_type(m, s->w)->rank, r->rank};
    for (int i = 0; i < 3; i++)
        if (ranks[i] != 3)
            ti_b_bad(m, TC_E_SHAPE, "input %d has rank %d, expected 3", i, ranks[i]);
    TC_STOP_WITH(m, false);
    if (r->dim[0] != s->dirs)
        ti_b_bad(m, TC_E_SHAPE, "weights of %" PRId64 " directions, expected %d", r->dim[0],
                 s->dirs);
    if (ti_onnx_int(n, "input_forget", 0))
        ti_b_unsupported(m, "input_forget");
    TC_STOP_WITH(m, false);
    s->steps = x->dim[0];
    s->batch = x->dim[1];
    s->width = x->dim[2];
    s->hidden = r->dim[2];
    s->h = state_of(n, s, 5);
    if (s->op == TC_OP_lstm) {
        s->c = state_of(n, s, 6);
        s->peephole = ti_onnx_in(n, 7);
    }
    return m->status == TC_OK;
}

/* Lengths that are all of the steps say nothing. */
static void drop_full_lengths(tc_onnx_node *n, rnn *s)
{
    tc_tensor t;
    if (!s->lengths || !ti_b_known(&n->m, s->lengths, &t))
        return;
    tc_ints list = ti_onnx_settled(n, 4);
    bool full = true;
    for (int i = 0; i < list.n; i++)
        full = full && list.v[i] == s->steps;
    if (full)
        s->lengths = TC_NONE;
}

void ti_onnx_build_rnn(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    rnn s;
    tc_val y = TC_NONE, h = TC_NONE, c = TC_NONE;
    if (!read_node(n, &s))
        return;
    drop_full_lengths(n, &s);
    bool usual = usual_activations(n, &s) && !s.lengths && !s.peephole && !(s.clip > 0) &&
                 !s.dynamic && s.steps > 0;
    if (usual) {
        as_operator(m, &s, &y, &h, &c);
        y = ti_b_reshape(m, y, 4, (int64_t[]){s.steps, s.batch, s.dirs, s.hidden});
        y = ti_b_swap(m, y, 1, 2);
    } else {
        tc_val part[2] = {0}, last[2] = {0}, cell[2] = {0};
        for (int d = 0; d < s.dirs; d++)
            by_steps(n, &s, d, &part[d], &last[d], &cell[d]);
        tc_attr_axis *first = ti_b_attr(m, axis, 0);
        y = ti_b_op(m, TC_OP_stack, ti_b_attr(m, axis, 1), part, s.dirs);
        h = ti_b_op(m, TC_OP_stack, first, last, s.dirs);
        c = s.c ? ti_b_op(m, TC_OP_stack, first, cell, s.dirs) : TC_NONE;
    }
    if (s.batch_first && m->status == TC_OK) {
        y = ti_b_permute(m, y, (int64_t[]){2, 0, 1, 3});
        h = ti_b_swap(m, h, 0, 1);
        c = c ? ti_b_swap(m, c, 0, 1) : c;
    }
    ti_onnx_bind(n, 0, y);
    ti_onnx_bind(n, 1, h);
    ti_onnx_bind(n, 2, c);
}
