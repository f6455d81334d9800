/* SPDX-License-Identifier: Apache-2.0 */
/* grow_layers.c -- products, windows, norms, attention, recurrence, reductions. */
#include "models.h"

static int64_t one_of(int64_t a, int64_t b, int64_t c) { return draw(3) ? a : draw(2) ? b : c; }

/* ---- products ---- */

static void linear(garden *d)
{
    tc_val x = some(d, TC_f32, 1, 5);
    if (!x)
        return;
    const tc_type *t = type_at(d, x);
    int64_t n = 1 + (int64_t)draw(12), dim[2] = {n, t->dim[t->rank - 1]};
    keep(d, PUT0(d, linear, x, constant(d, TC_f32, 2, dim, -0.7, 0.7),
                 draw(4) ? constant(d, TC_f32, 1, dim, -0.5, 0.5) : TC_NONE));
}

static void conv(garden *d)
{
    tc_val x = some(d, TC_f32, 3, 5);
    if (!x)
        return;
    const tc_type *t = type_at(d, x);
    int axes = t->rank - 2;
    int64_t c = t->dim[1], groups = draw(3) ? 1 : c, out = groups > 1 ? c * (1 + (draw(4) == 0))
                                                                     : 1 + (int64_t)draw(10);
    int64_t w[5] = {out, c / groups}, stride[3], pad[6], dilation[3];
    for (int i = 0; i < axes; i++) {
        int64_t most = t->dim[2 + i];
        w[2 + i] = 1 + (int64_t)draw((uint64_t)(most < 4 ? most : 4));
        stride[i] = one_of(1, 2, 3);
        dilation[i] = w[2 + i] > 1 && (w[2 + i] - 1) * 2 < most && draw(5) == 0 ? 2 : 1;
        pad[2 * i] = (int64_t)draw((uint64_t)w[2 + i]);
        pad[2 * i + 1] = draw(5) ? pad[2 * i] : 0;
    }
    tc_attr_conv a = {list(d, axes, stride), list(d, 2 * axes, pad), list(d, axes, dilation),
                      groups};
    tc_val y = PUT(d, conv, a, x, constant(d, TC_f32, t->rank, w, -0.5, 0.5),
                   draw(3) ? constant(d, TC_f32, 1, w, -0.5, 0.5) : TC_NONE);
    if (draw(3) == 0 && y) {
        int64_t n[1] = {out};
        y = PUT(d, batch_norm, ((tc_attr_eps){1e-5}), y, constant(d, TC_f32, 1, n, 0.5, 1.5),
                constant(d, TC_f32, 1, n, -0.5, 0.5), constant(d, TC_f32, 1, n, -0.5, 0.5),
                constant(d, TC_f32, 1, n, 0.5, 2));
    }
    if (draw(2) && y)
        y = draw(2) ? PUT0(d, relu, y) : PUT(d, clamp, ((tc_attr_clamp){0, 6}), y);
    keep(d, y);
}

static void conv_transpose(garden *d)
{
    tc_val x = some(d, TC_f32, 3, 4);
    if (!x)
        return;
    const tc_type *t = type_at(d, x);
    int axes = t->rank - 2;
    int64_t out = 1 + (int64_t)draw(6), w[5] = {t->dim[1], out}, stride[3], pad[3], more[3];
    for (int i = 0; i < axes; i++) {
        w[2 + i] = 2 + (int64_t)draw(2);
        stride[i] = one_of(2, 1, 3);
        pad[i] = (int64_t)draw(2);
        more[i] = stride[i] > 1 && draw(3) == 0;
        if ((t->dim[2 + i] - 1) * stride[i] - 2 * pad[i] + w[2 + i] + more[i] < 1)
            pad[i] = 0;
    }
    tc_attr_conv_transpose a = {list(d, axes, stride), list(d, axes, pad), list(d, axes, more),
                                same(d, axes, 1), 1};
    keep(d, PUT(d, conv_transpose, a, x, constant(d, TC_f32, t->rank, w, -0.5, 0.5),
                constant(d, TC_f32, 1, &out, -0.5, 0.5)));
}

static tc_val turned(garden *d, tc_val x)
{
    const tc_type *t = type_at(d, x);
    int64_t perm[8];
    for (int i = 0; i < t->rank; i++)
        perm[i] = i < t->rank - 2 ? i : t->rank - 1 - (i - (t->rank - 2));
    return PUT(d, permute, ((tc_attr_perm){list(d, t->rank, perm)}), x);
}

static void matmul(garden *d)
{
    tc_val x = some(d, TC_f32, 2, 5);
    if (!x)
        return;
    const tc_type *t = type_at(d, x);
    int64_t dim[2] = {t->dim[t->rank - 1], 1 + (int64_t)draw(8)};
    if (draw(3))
        keep(d, PUT0(d, matmul, x, turned(d, x)));
    else if (draw(3))
        keep(d, PUT0(d, matmul, x, constant(d, TC_f32, 2, dim, -0.7, 0.7)));
    else if (t->rank == 2)
        keep(d, PUT(d, addmm, ((tc_attr_addmm){draw(2) ? 1 : 0.5, draw(2) ? 1 : 2}),
                    constant(d, TC_f32, 1, &dim[1], -1, 1), x,
                    constant(d, TC_f32, 2, dim, -0.7, 0.7)));
    else if (t->rank == 3)
        keep(d, PUT(d, einsum, ((tc_attr_einsum){ti_intern_text(d->ctx, "bik,bjk->bij")}), x, x));
}

static void attention(garden *d)
{
    tc_val x = some(d, TC_f32, 3, 4);
    if (!x)
        return;
    const tc_type *t = type_at(d, x);
    tc_attr_sdpa a = {.scale = draw(2) ? 0.5 : 1};
    a.causal = draw(4) == 0;
    tc_val k = draw(2) ? x : PUT0(d, tanh, x), v = draw(2) ? x : PUT0(d, neg, x);
    int64_t mask[2] = {t->dim[t->rank - 2], t->dim[t->rank - 2]};
    int64_t heads = t->rank == 4 ? t->dim[1] : 1;
    a.gqa = heads > 1 && draw(2);
    if (a.gqa) { /* several heads share keys and values */
        int64_t own = heads % 2 || draw(2) ? 1 : heads / 2;
        k = PUT(d, slice, ((tc_attr_slice){1, 0, own, 1}), k);
        v = PUT(d, slice, ((tc_attr_slice){1, heads - own, heads, 1}), v);
    }
    if (draw(3) || a.causal)
        keep(d, PUT(d, sdpa, a, x, k, v));
    else
        keep(d, PUT(d, sdpa, a, x, k, v, constant(d, TC_f32, 2, mask, -2, 2)));
}

/* ---- windows ---- */

static void pool(garden *d)
{
    tc_val x = some(d, TC_f32, 3, 5);
    if (!x)
        return;
    const tc_type *t = type_at(d, x);
    int axes = t->rank - 2;
    int64_t kernel[3], stride[3], pad[3], size[3];
    for (int i = 0; i < axes; i++) {
        int64_t most = t->dim[2 + i];
        kernel[i] = 1 + (int64_t)draw((uint64_t)(most < 3 ? most : 3));
        stride[i] = one_of(2, 1, 3);
        pad[i] = kernel[i] / 2 && draw(2) ? kernel[i] / 2 : 0;
        size[i] = 1 + (int64_t)draw((uint64_t)most);
    }
    tc_attr_max_pool m = {list(d, axes, kernel), list(d, axes, stride), list(d, axes, pad),
                          same(d, axes, 1), draw(4) == 0};
    tc_attr_avg_pool v = {list(d, axes, kernel), list(d, axes, stride), list(d, axes, pad),
                          draw(4) == 0,          draw(2),               draw(6) ? 0 : 3};
    tc_attr_size s = {draw(2) ? same(d, axes, 1) : list(d, axes, size)};
    tc_val both[2];
    switch (draw(5)) {
    case 0:
    case 1:
        keep(d, PUT(d, max_pool, m, x));
        return;
    case 2:
        keep(d, PUT(d, avg_pool, v, x));
        return;
    case 3:
        keep(d, PUT(d, adaptive_avg_pool, s, x));
        return;
    default:
        put_many(d, TC_OP_adaptive_max_pool, &s, sizeof s, 1, &x, 2, both);
        keep(d, both[0]);
    }
}

static void resampled(garden *d)
{
    static const tc_op op[] = {TC_OP_upsample_nearest, TC_OP_upsample_nearest_exact,
                               TC_OP_upsample_linear, TC_OP_upsample_cubic};
    tc_val x = some(d, TC_f32, 3, 5);
    if (!x)
        return;
    const tc_type *t = type_at(d, x);
    tc_op what = op[draw(t->rank == 4 ? 4 : 3)];
    int64_t size[3];
    for (int i = 0; i < t->rank - 2; i++)
        size[i] = draw(2) ? t->dim[2 + i] * 2 : 1 + (int64_t)draw(12);
    bool smooth = what == TC_OP_upsample_linear || what == TC_OP_upsample_cubic;
    tc_attr_upsample a = {list(d, t->rank - 2, size), {0, NULL}, smooth && draw(2)};
    keep(d, put(d, what, &a, sizeof a, 1, &x));
}

static void shuffled(garden *d)
{
    tc_val x = some(d, TC_f32, 4, 4);
    if (!x)
        return;
    const tc_type *t = type_at(d, x);
    tc_attr_factor two = {2};
    if (t->dim[1] % 4 == 0 && draw(2))
        keep(d, PUT(d, pixel_shuffle, two, x));
    else if (t->dim[2] % 2 == 0 && t->dim[3] % 2 == 0 && draw(2))
        keep(d, PUT(d, pixel_unshuffle, two, x));
    else if (t->dim[1] % 2 == 0)
        keep(d, PUT(d, channel_shuffle, two, x));
    else if (t->dim[2] > 1 && t->dim[3] > 1) {
        tc_attr_im2col a = {same(d, 2, 2), same(d, 2, 1), same(d, 2, 0), same(d, 2, 1)};
        keep(d, PUT(d, im2col, a, x));
    }
}

static void sampled(garden *d)
{
    tc_val x = some(d, TC_f32, 4, 4);
    if (!x)
        return;
    int64_t grid[4] = {type_at(d, x)->dim[0], 3, 4, 2};
    tc_attr_grid a = {(tc_field_sample_mode)draw(3), (tc_field_sample_pad)draw(3), draw(2)};
    keep(d, PUT(d, grid_sample, a, x, constant(d, TC_f32, 4, grid, -1.1, 1.1)));
}

/* ---- norms ---- */

static void norm(garden *d)
{
    tc_val x = some(d, TC_f32, 2, 5);
    if (!x)
        return;
    const tc_type *t = type_at(d, x);
    int64_t last = t->dim[t->rank - 1], c = t->dim[1];
    tc_attr_layer_norm a = {1, 1e-5};
    tc_attr_group_norm gn = {c % 2 || draw(2) ? 1 : 2, 1e-5};
    switch (draw(4)) {
    case 0:
        keep(d, PUT(d, layer_norm, a, x, constant(d, TC_f32, 1, &last, 0.5, 1.5),
                    draw(3) ? constant(d, TC_f32, 1, &last, -0.5, 0.5) : TC_NONE));
        return;
    case 1:
        keep(d,
             PUT(d, rms_norm, a, x, draw(3) ? constant(d, TC_f32, 1, &last, 0.5, 1.5) : TC_NONE));
        return;
    case 2:
        if (t->rank >= 3)
            keep(d, PUT(d, group_norm, gn, x, constant(d, TC_f32, 1, &c, 0.5, 1.5),
                        constant(d, TC_f32, 1, &c, -0.5, 0.5)));
        return;
    default:
        keep(d, PUT(d, batch_norm, ((tc_attr_eps){1e-3}), x, constant(d, TC_f32, 1, &c, 0.5, 1.5),
                    constant(d, TC_f32, 1, &c, -0.5, 0.5), constant(d, TC_f32, 1, &c, -0.5, 0.5),
                    constant(d, TC_f32, 1, &c, 0.5, 2)));
    }
}

static void softmax(garden *d)
{
    tc_val x = some(d, TC_f32, 1, 5);
    if (!x)
        return;
    tc_attr_axis a = {(int64_t)(draw(3) ? type_at(d, x)->rank - 1
                                        : (int)draw((uint64_t)type_at(d, x)->rank))};
    keep(d, draw(3) ? PUT(d, softmax, a, x) : PUT(d, log_softmax, a, x));
}

/* ---- reductions ---- */

static tc_ints some_axes(garden *d, int rank)
{
    int64_t axis[8];
    int n = 0;
    for (int i = 0; i < rank; i++)
        if (draw(2))
            axis[n++] = i;
    if (!n)
        axis[n++] = rank - 1;
    return list(d, n, axis);
}

/* Any reduction of the table. */
static void reduced(garden *d)
{
    tc_op op = drawn_op(T_REDUCES, 1);
    tc_val x = some(d, TC_f32, 1, 5), out[2];
    if (!x)
        return;
    int rank = type_at(d, x)->rank;
    tc_ints axes = op == TC_OP_prod ? same(d, 1, rank - 1) : some_axes(d, rank);
    union {
        tc_attr_axes axes;
        tc_attr_var var;
        tc_attr_norm norm;
        tc_attr_arg arg;
    } a;
    switch (tc_ops[op].attr) {
    case TC_ATTR_axes:
        a.axes = (tc_attr_axes){axes, draw(2)};
        break;
    case TC_ATTR_var:
        a.var = (tc_attr_var){axes, draw(2), (double)draw(2)};
        break;
    case TC_ATTR_norm:
        a.norm = (tc_attr_norm){axes, draw(2), draw(3) ? 2 : 1};
        break;
    case TC_ATTR_arg:
        a.arg = (tc_attr_arg){(int64_t)draw((uint64_t)rank), draw(2)};
        break;
    default:
        return;
    }
    put_many(d, op, &a, tc_attrs[tc_ops[op].attr].size, 1, &x, tc_ops[op].n_out, out);
    for (int i = 0; i < tc_ops[op].n_out; i++)
        keep(d, out[i]);
}

static void places(garden *d)
{
    tc_val x = some(d, TC_f32, 1, 5), both[2];
    if (!x)
        return;
    const tc_type *t = type_at(d, x);
    int64_t axis = (int64_t)draw((uint64_t)t->rank);
    tc_attr_topk k = {1 + (int64_t)draw((uint64_t)t->dim[axis]), axis, draw(2)};
    tc_attr_sort s = {axis, draw(2)};
    switch (draw(3)) {
    case 0:
        put_many(d, TC_OP_topk, &k, sizeof k, 1, &x, 2, both);
        break;
    case 1:
        put_many(d, TC_OP_sort, &s, sizeof s, 1, &x, 2, both);
        break;
    default:
        keep(d, draw(3) ? PUT(d, cumsum, ((tc_attr_axis){axis}), x)
                        : PUT(d, cumprod, ((tc_attr_axis){axis}), x));
        return;
    }
    keep(d, both[0]);
    if (draw(2))
        keep(d, both[1]);
}

/* ---- recurrence ---- */

static void recurrent(garden *d)
{
    static const struct {
        tc_op op, cell;
        int64_t gates;
    } kind[] = {{TC_OP_lstm, TC_OP_lstm_cell, 4},
                {TC_OP_gru, TC_OP_gru_cell, 3},
                {TC_OP_rnn_tanh, TC_OP_rnn_tanh_cell, 1},
                {TC_OP_rnn_relu, TC_OP_rnn_relu_cell, 1}};
    size_t k = draw(TC_COUNT(kind));
    bool cell = draw(3) == 0, first = draw(2), both = !cell && draw(3) == 0;
    tc_val x = some(d, TC_f32, cell ? 2 : 3, cell ? 2 : 3), in[16], out[3];
    if (!x || (!cell && type_at(d, x)->dim[first ? 1 : 0] > 9))
        return;
    const tc_type *t = type_at(d, x);
    int64_t n = 1 + (int64_t)draw(5), batch = cell ? t->dim[0] : t->dim[first ? 0 : 1];
    int64_t state[3] = {both ? 2 : 1, batch, n}, w[2] = {kind[k].gates * n, t->dim[t->rank - 1]},
            u[2] = {w[0], n};
    int at = 0, states = kind[k].op == TC_OP_lstm ? 2 : 1;
    in[at++] = x;
    for (int i = 0; i < states; i++)
        in[at++] = constant(d, TC_f32, cell ? 2 : 3, cell ? state + 1 : state,
                            draw(2) ? 0 : -0.5, draw(2) ? 0 : 0.5);
    for (int i = 0; i < 1 + both; i++) {
        in[at++] = constant(d, TC_f32, 2, w, -0.5, 0.5);
        in[at++] = constant(d, TC_f32, 2, u, -0.5, 0.5);
        in[at++] = constant(d, TC_f32, 1, w, -0.5, 0.5);
        in[at++] = constant(d, TC_f32, 1, w, -0.5, 0.5);
    }
    tc_attr_rnn a = {1, both, first, true, kind[k].op == TC_OP_gru && n % 2};
    put_many(d, cell ? kind[k].cell : kind[k].op, cell ? NULL : &a, sizeof a, at, in,
             cell ? states : states + 1, out);
    keep(d, out[0]);
    if (draw(3) == 0)
        keep(d, out[cell ? states - 1 : states]);
}

const grow_entry grow_layers[] = {
    {linear, 8},  {conv, 14},   {conv_transpose, 2}, {matmul, 5},   {attention, 3}, {pool, 6},
    {resampled, 3}, {shuffled, 2}, {sampled, 1},      {norm, 6},     {softmax, 4},   {reduced, 6},
    {places, 4},  {recurrent, 3}, {NULL, 0}};
