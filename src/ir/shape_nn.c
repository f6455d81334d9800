/* SPDX-License-Identifier: Apache-2.0 */
/* shape_nn.c -- the shape functions of norms, softmax and the recurrent operators. */
#include "shape_check.h"

#include "../num/rnn.h"

tc_status ti_shape_softmax(tc_infer *c)
{
    const tc_attr_axis *a = c->attr;
    const tc_type *x = ti_in(c, 0);
    TC_TRY(ti_need_float(c, x));
    if (a->axis < 0 || a->axis >= (x->rank ? x->rank : 1))
        return ti_error(c->ctx, c->loc, TC_E_ARGUMENT, "axis %" PRId64 " of '%s' with rank %d",
                        a->axis, c->op, x->rank);
    c->out[0] = *x;
    return TC_OK;
}

/* A vector of n elements, or absent. */
static tc_status vector(tc_infer *c, int i, const char *what, int64_t n)
{
    const tc_type *t = ti_in(c, i);
    if (!t)
        return TC_OK;
    TC_TRY(ti_need_float(c, t));
    TC_TRY(ti_need_rank(c, t, what, 1, 1));
    return ti_need_extent(c, what, t->dim[0], n);
}

/* x: [n, channels, ...]; weight, bias, mean and variance: [channels] */
tc_status ti_shape_batch_norm(tc_infer *c)
{
    static const char *const name[] = {"the input", "the weight", "the bias", "the mean",
                                       "the variance"};
    TC_TRY(ti_need(c, 3, "mean"));
    TC_TRY(ti_need(c, 4, "variance"));
    const tc_type *x = ti_in(c, 0);
    TC_TRY(ti_need_float(c, x));
    TC_TRY(ti_need_rank(c, x, "the input", 2, TC_MAX_RANK));
    for (int i = 1; i < 5; i++)
        TC_TRY(vector(c, i, name[i], x->dim[1]));
    c->out[0] = *x;
    return TC_OK;
}

/* Weight and bias have the shape of the axes that are normalized. */
static tc_status over_last_axes(tc_infer *c, const tc_attr_layer_norm *a)
{
    const tc_type *x = ti_in(c, 0);
    if (a->n_axes < 1 || a->n_axes > x->rank)
        return ti_error(c->ctx, c->loc, TC_E_ARGUMENT, "'%s' over %" PRId64 " axes of rank %d",
                        c->op, a->n_axes, x->rank);
    int n = (int)a->n_axes;
    for (int i = 1; i < c->n_in; i++) {
        const tc_type *t = ti_in(c, i);
        if (!t)
            continue;
        TC_TRY(ti_need_float(c, t));
        TC_TRY(ti_need_rank(c, t, "an operand", n, n));
        for (int k = 0; k < n; k++)
            TC_TRY(ti_need_extent(c, "an extent of weight or bias", t->dim[k],
                                  x->dim[x->rank - n + k]));
    }
    return TC_OK;
}

static tc_status over_groups(tc_infer *c, const tc_attr_group_norm *a)
{
    const tc_type *x = ti_in(c, 0);
    TC_TRY(ti_need_rank(c, x, "the input", 2, TC_MAX_RANK));
    if (a->groups < 1 || x->dim[1] % a->groups)
        return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                        "%" PRId64 " channels do not fall into %" PRId64 " groups", x->dim[1],
                        a->groups);
    TC_TRY(vector(c, 1, "the weight", x->dim[1]));
    return vector(c, 2, "the bias", x->dim[1]);
}

tc_status ti_shape_layer_norm(tc_infer *c)
{
    TC_TRY(ti_need_float(c, ti_in(c, 0)));
    c->out[0] = *ti_in(c, 0);
    return ti_text_eq(c->op, "group_norm") ? over_groups(c, c->attr) : over_last_axes(c, c->attr);
}

/* One layer in one direction: w_ih [gates hidden, in], w_hh [gates hidden, h], b_ih and b_hh
 * [gates hidden]. */
static tc_status layer_weights(tc_infer *c, int first, int64_t rows, int64_t in, int64_t h,
                               bool bias)
{
    for (int i = 0; i < (bias ? 4 : 2); i++) {
        TC_TRY(ti_need(c, first + i, "weights"));
        const tc_type *t = ti_in(c, first + i);
        TC_TRY(ti_need_dtype(c, first + i, "a weight"));
        TC_TRY(ti_need_rank(c, t, "a weight", i < 2 ? 2 : 1, i < 2 ? 2 : 1));
        TC_TRY(ti_need_extent(c, "the rows of a weight", t->dim[0], rows));
        if (i < 2)
            TC_TRY(ti_need_extent(c, "the columns of a weight", t->dim[1], i ? h : in));
    }
    return TC_OK;
}

/* w_hr: [h, hidden] */
static tc_status projection(tc_infer *c, int i, int64_t h, int64_t hidden)
{
    const tc_type *t = ti_in(c, i);
    TC_TRY(ti_need(c, i, "projection"));
    TC_TRY(ti_need_dtype(c, i, "a projection"));
    TC_TRY(ti_need_rank(c, t, "a projection", 2, 2));
    TC_TRY(ti_need_extent(c, "the rows of a projection", t->dim[0], h));
    return ti_need_extent(c, "the columns of a projection", t->dim[1], hidden);
}

/* x: [steps, batch, in] or [batch, steps, in]; states: [layers * directions, batch, hidden], of an
 * lstm whose h is projected [.., h] and [.., hidden];
 * results: [steps, batch, directions * h] or batch first, and the states. */
static tc_status recurrent(tc_infer *c, int states, int64_t gates)
{
    const tc_attr_rnn *a = c->attr;
    const tc_type *x = ti_in(c, 0);
    TC_TRY(ti_need_float(c, x));
    TC_TRY(ti_need_rank(c, x, "the input", 3, 3));
    int64_t directions = a->bidirectional ? 2 : 1, batch = x->dim[a->batch_first ? 0 : 1];
    if (a->layers < 1 || a->layers > 1024)
        return ti_error(c->ctx, c->loc, TC_E_ARGUMENT, "'%s' of %" PRId64 " layers", c->op,
                        a->layers);
    if (a->reset_first && !ti_text_eq(c->op, "gru"))
        return ti_error(c->ctx, c->loc, TC_E_ARGUMENT, "'%s' has no reset gate", c->op);
    tc_rnn_operands o = ti_rnn_operands_of(a, c->n_in, states);
    int expected = o.first + o.per_cell * (int)o.cells;
    if (c->n_in != expected)
        return ti_error(c->ctx, c->loc, TC_E_STRUCTURE,
                        "'%s' of %" PRId64 " layers has %d operands, expected %d", c->op, a->layers,
                        c->n_in, expected);
    for (int i = 1; i <= states; i++) {
        TC_TRY(ti_need(c, i, "state"));
        TC_TRY(ti_need_dtype(c, i, "a state"));
        TC_TRY(ti_need_rank(c, ti_in(c, i), "a state", 3, 3));
        TC_TRY(ti_need_extent(c, "the first extent of a state", ti_in(c, i)->dim[0],
                              a->layers * directions));
        TC_TRY(ti_need_extent(c, "the batch of a state", ti_in(c, i)->dim[1], batch));
        if (!o.project)
            TC_TRY(ti_need_extent(c, "the hidden extent of a state", ti_in(c, i)->dim[2],
                                  ti_in(c, 1)->dim[2]));
        c->out[i] = *ti_in(c, i);
    }
    int64_t h = ti_in(c, 1)->dim[2], hidden = ti_in(c, states)->dim[2];
    for (int64_t cell = 0; cell < o.cells; cell++) {
        int at = o.first + (int)cell * o.per_cell;
        int64_t in = cell < directions ? x->dim[2] : directions * h;
        TC_TRY(layer_weights(c, at, gates * hidden, in, h, a->has_bias));
        if (o.project)
            TC_TRY(projection(c, at + o.project, h, hidden));
    }
    c->out[0] = *x;
    c->out[0].dim[2] = directions * h;
    return TC_OK;
}

tc_status ti_shape_lstm(tc_infer *c) { return recurrent(c, 2, 4); }

tc_status ti_shape_rnn(tc_infer *c) { return recurrent(c, 1, ti_text_eq(c->op, "gru") ? 3 : 1); }

/* x: [batch, in] or [in]; states and results: [batch, hidden] or [hidden]; then the weights. */
static tc_status cell(tc_infer *c, int states, int64_t gates)
{
    const tc_type *x = ti_in(c, 0);
    TC_TRY(ti_need_float(c, x));
    TC_TRY(ti_need_rank(c, x, "the input", 1, 2));
    for (int i = 1; i <= states; i++) {
        TC_TRY(ti_need(c, i, "state"));
        const tc_type *t = ti_in(c, i);
        TC_TRY(ti_need_dtype(c, i, "a state"));
        TC_TRY(ti_need_rank(c, t, "a state", x->rank, x->rank));
        if (x->rank == 2)
            TC_TRY(ti_need_extent(c, "the batch of a state", t->dim[0], x->dim[0]));
        TC_TRY(ti_need_extent(c, "the hidden extent of a state", t->dim[t->rank - 1],
                              ti_in(c, 1)->dim[x->rank - 1]));
        c->out[i - 1] = *t;
    }
    int64_t hidden = ti_in(c, 1)->dim[x->rank - 1];
    bool b_ih = ti_in(c, states + 3), b_hh = ti_in(c, states + 4);
    if (b_ih != b_hh)
        return ti_error(c->ctx, c->loc, TC_E_STRUCTURE, "'%s' has one bias, expected both or none",
                        c->op);
    return layer_weights(c, states + 1, gates * hidden, x->dim[x->rank - 1], hidden, b_ih);
}

tc_status ti_shape_lstm_cell(tc_infer *c) { return cell(c, 2, 4); }

tc_status ti_shape_rnn_cell(tc_infer *c)
{
    return cell(c, 1, ti_text_eq(c->op, "gru_cell") ? 3 : 1);
}
