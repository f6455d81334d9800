/* SPDX-License-Identifier: Apache-2.0 */
/* rnn_body.h -- recurrent layers in working type T; rnn.c includes it per type. */

/* The weights of one layer in one direction; biases and projection are NULL where there are
 * none. */
typedef struct NAME(weights) {
    const T *w_ih, *w_hh, *b_ih, *b_hh, *w_hr;
} NAME(weights);

/* From the two products of one sample, a = W_ih x + b_ih and b = W_hh h + b_hh, the next state.
 * lstm:  i, f, g, o = a + b;  c = sigmoid(f) c + sigmoid(i) tanh(g);  h = sigmoid(o) tanh(c)
 * gru:   r, z = sigmoid(a + b);  m = tanh(a + r b), or b = W_hh (r h) + b_hh and m = tanh(a + b);
 *        h = (1 - z) m + z h */
static void NAME(step)(kind k, int64_t n, const T *a, const T *b, T *h, T *c)
{
    for (int64_t i = 0; k == LSTM && i < n; i++) {
        T in = SIGMOID(a[i] + b[i]), forget = SIGMOID(a[n + i] + b[n + i]);
        T next = HYPERBOLIC(a[2 * n + i] + b[2 * n + i]),
          out = SIGMOID(a[3 * n + i] + b[3 * n + i]);
        c[i] = forget * c[i] + in * next;
        h[i] = out * HYPERBOLIC(c[i]);
    }
    for (int64_t i = 0; (k == GRU || k == EARLY) && i < n; i++) {
        T reset = k == GRU ? SIGMOID(a[i] + b[i]) : 1, keep = SIGMOID(a[n + i] + b[n + i]);
        T next = HYPERBOLIC(a[2 * n + i] + reset * b[2 * n + i]);
        h[i] = next + keep * (h[i] - next);
    }
    for (int64_t i = 0; k == TANH && i < n; i++)
        h[i] = HYPERBOLIC(a[i] + b[i]);
    for (int64_t i = 0; k == RELU && i < n; i++)
        h[i] = a[i] + b[i] < 0 ? 0 : a[i] + b[i];
}

/* y = x w^T + b for rows of x. */
static void NAME(affine)(tc_arena *scratch, int64_t rows, int64_t in, int64_t out, const T *x,
                         const T *w, const T *b, T *y)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0; i < out; i++)
            y[r * out + i] = b ? b[i] : 0;
    NAME(ti_gemm)(scratch, rows, out, in, x, in, 1, w, 1, in, y, out);
}

/* A gru that resets first: the third part of W_hh (r h) + b_hh, in the place of that of h. */
static void NAME(again)(tc_arena *scratch, const layer *l, const NAME(weights) * w, const T *h,
                        const T *from_x, T *from_h)
{
    tc_mark mark = ti_arena_mark(scratch);
    int64_t n = l->hidden, all = l->batch * n;
    T *left = ti_arena_raw(scratch, (size_t)all * sizeof(T)), *y = ti_arena_raw(scratch, (size_t)all * sizeof(T));
    for (int64_t k = 0; k < all; k++) {
        int64_t at = k / n * 3 * n + k % n;
        left[k] = SIGMOID(from_x[at] + from_h[at]) * h[k];
    }
    NAME(affine)(scratch, l->batch, n, n, left, w->w_hh + 2 * n * n, w->b_hh ? w->b_hh + 2 * n : NULL, y);
    for (int64_t k = 0; k < all; k++)
        from_h[k / n * 3 * n + 2 * n + k % n] = y[k];
    ti_arena_rewind(scratch, mark);
}

/* x: [steps, batch, in]   h: [batch, given], c: [batch, hidden], from the first state to the last
 * y: a row per step and sample.  With a projection h = w_hr (sigmoid(o) tanh(c)). */
static void NAME(direction)(tc_arena *scratch, const layer *l, const T *x, const NAME(weights) * w,
                            T *h, T *c, T *y)
{
    tc_mark mark = ti_arena_mark(scratch);
    int64_t wide = gates_of[l->kind] * l->hidden;
    T *from_x = ti_arena_raw(scratch, (size_t)(l->steps * l->batch * wide) * sizeof(T));
    T *from_h = ti_arena_raw(scratch, (size_t)(l->batch * wide) * sizeof(T)), *shown = h;
    if (w->w_hr)
        shown = ti_arena_raw(scratch, (size_t)(l->batch * l->hidden) * sizeof(T));
    NAME(affine)(scratch, l->steps * l->batch, l->in, wide, x, w->w_ih, w->b_ih, from_x);
    for (int64_t i = 0; i < l->steps; i++) {
        int64_t t = l->backward ? l->steps - 1 - i : i;
        NAME(affine)(scratch, l->batch, l->given, wide, h, w->w_hh, w->b_hh, from_h);
        if (l->kind == EARLY)
            NAME(again)(scratch, l, w, h, from_x + t * l->batch * wide, from_h);
        for (int64_t n = 0; n < l->batch; n++) {
            T *hn = shown + n * l->hidden, *cn = c ? c + n * l->hidden : NULL;
            NAME(step)
            (l->kind, l->hidden, from_x + (t * l->batch + n) * wide, from_h + n * wide, hn, cn);
        }
        if (w->w_hr)
            NAME(affine)(scratch, l->batch, l->hidden, l->given, shown, w->w_hr, NULL, h);
        for (int64_t n = 0; y && n < l->batch; n++)
            memcpy(y + (t * l->batch + n) * l->y_row, h + n * l->given,
                   (size_t)l->given * sizeof(T));
    }
    ti_arena_rewind(scratch, mark);
}

/* [a, b, n] -> [b, a, n] */
static void NAME(swap)(int64_t a, int64_t b, int64_t n, const T *x, T *y)
{
    for (int64_t i = 0; i < a; i++)
        for (int64_t j = 0; j < b; j++)
            memcpy(y + (j * a + i) * n, x + (i * b + j) * n, (size_t)n * sizeof(T));
}

/* Operand i copied into result `out`, which the steps then change. */
static T *NAME(state)(tc_call *call, int i, int out)
{
    tc_work work = ti_work_of(call->in[0].type->dtype);
    T *y = ti_work_out(call, out, work);
    memcpy(y, ti_work_in(call, i, work), (size_t)tc_type_count(call->in[i].type) * sizeof(T));
    return y;
}

static NAME(weights) NAME(weights_at)(tc_call *call, int first, bool bias, int project)
{
    tc_work work = ti_work_of(call->in[0].type->dtype);
    return (NAME(weights)){ti_work_in(call, first, work), ti_work_in(call, first + 1, work),
                           bias ? ti_work_in(call, first + 2, work) : NULL,
                           bias ? ti_work_in(call, first + 3, work) : NULL,
                           project ? ti_work_in(call, first + project, work) : NULL};
}

static void NAME(run)(tc_call *call, kind k)
{
    const tc_attr_rnn *a = call->attr;
    tc_work work = ti_work_of(call->in[0].type->dtype);
    const tc_type *x = call->in[0].type;
    int64_t steps = x->dim[a->batch_first ? 1 : 0], batch = x->dim[a->batch_first ? 0 : 1];
    int states = k == LSTM ? 2 : 1;
    int64_t given = call->in[1].type->dim[2], hidden = call->in[states].type->dim[2];
    tc_rnn_operands o = ti_rnn_operands_of(a, call->n_in, states);
    int64_t directions = a->bidirectional ? 2 : 1, rows = steps * batch, width = directions * given;
    const T *from = ti_work_in(call, 0, work);
    if (a->batch_first) {
        T *turned = ti_arena_raw(call->scratch, (size_t)tc_type_count(x) * sizeof(T));
        NAME(swap)(batch, steps, x->dim[2], from, turned);
        from = turned;
    }
    T *h = NAME(state)(call, 1, 1), *c = k == LSTM ? NAME(state)(call, 2, 2) : NULL;
    T *to = NULL;
    for (int64_t i = 0; i < a->layers; i++, from = to) {
        to = ti_arena_raw(call->scratch, (size_t)(rows * width) * sizeof(T));
        for (int64_t d = 0; d < directions; d++) {
            int64_t cell = i * directions + d;
            layer l = {k, steps, batch, i ? width : x->dim[2], hidden, given, d == 1, width};
            NAME(weights)
            w = NAME(weights_at)(call, o.first + (int)cell * o.per_cell, a->has_bias, o.project);
            NAME(direction)(call->scratch, &l, from, &w, h + cell * batch * given,
                            c ? c + cell * batch * hidden : NULL, to + d * given);
        }
    }
    T *y = ti_work_out(call, 0, work);
    if (a->batch_first)
        NAME(swap)(steps, batch, width, to, y);
    else if (rows > 0)
        memcpy(y, to, (size_t)(rows * width) * sizeof(T));
    ti_work_done(call, 0, work, y);
    ti_work_done(call, 1, work, h);
    if (c)
        ti_work_done(call, 2, work, c);
}

static void NAME(cell)(tc_call *call, kind k)
{
    tc_work work = ti_work_of(call->in[0].type->dtype);
    const tc_type *x = call->in[0].type;
    int last = x->rank - 1, states = k == LSTM ? 2 : 1;
    int64_t hidden = call->in[1].type->dim[last];
    layer l = {k, 1, last ? x->dim[0] : 1, x->dim[last], hidden, hidden, false, 0};
    T *h = NAME(state)(call, 1, 0), *c = k == LSTM ? NAME(state)(call, 2, 1) : NULL;
    NAME(weights) w = NAME(weights_at)(call, 1 + states, true, 0);
    NAME(direction)(call->scratch, &l, ti_work_in(call, 0, work), &w, h, c, NULL);
    ti_work_done(call, 0, work, h);
    if (c)
        ti_work_done(call, 1, work, c);
}

#undef NAME
#undef T
#undef SIGMOID
#undef HYPERBOLIC
