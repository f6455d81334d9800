/* SPDX-License-Identifier: Apache-2.0 */
/* select_matmul.c -- MATMUL [n,h,c] x [n,c,w].
 *
 *   U85   a convolution of one tap whose weights are the second operand, as [w][c]
 *   U55   column by column: the products of a row's elements, and their sum over c; or, where the
 *         user says so and it is cheaper, as a convolution too (select_product.c)
 *
 * The second operand is transposed first where its c is not contiguous. */
#include "select_form.h"
#include "select_product.h"
#include "select_window.h"

enum { KEPT_COLUMNS = 8, MANY = 4, PAGE = 4096, BRICK = 16 }; /* MANY: columns for each row, where another form is tried */

static tc_view copied(tc_sel *s, const tc_node *node, const tc_view *b)
{
    tc_view copy = ti_sel_working(s, "by columns", s->hw->root[b->root].bytes, 3, b->dim);
    s->hw->root[copy.root].bricks = true;
    ti_sel_copy(s, node, b, &copy);
    return copy;
}

/* Linux's driver (npu/linux_rules.h) takes U85's linear second operand to have as many columns as channels: a page and
 * more behind its end where it has few.  A copy stands in bricks. */
static bool counts_for_more(const tc_sel *s, const tc_view *b)
{
    return ti_hw_is_u85(s->hw) && (b->dim[2] - b->dim[1]) * b->stride[1] > PAGE;
}

/* b as [n][w][c], c contiguous. */
static tc_view by_columns(tc_sel *s, const tc_node *node, tc_val v)
{
    tc_view b = ti_sel_any_view(s, v);
    if (s->hw->refused)
        return b;
    b = ti_view_transpose(&b, (int64_t[]){0, 2, 1});
    bool contiguous = b.dim[2] == 1 || b.stride[2] == 1;
    return contiguous && !counts_for_more(s, &b) ? b : copied(s, node, &b);
}

/* bias: where accumulators start, [..][columns][w of all matrices]; or NULL. */
static void matmul_u85(tc_sel *s, tc_hw_op *op, const tc_view *a, const tc_view *b,
                       const tc_view *to, const tc_view *bias)
{
    int64_t most = bias ? KEPT_COLUMNS : TC_HW_EXTENT;
    for (int64_t n = 0; n < to->dim[0]; n++) {
        tc_view x = ti_view_at(a, n), y = ti_view_at(b, n), z = ti_view_at(to, n);
        for (int64_t at = 0; at < z.dim[0]; at += most) {
            int64_t rows = ti_min_i64(most, z.dim[0] - at);
            tc_view in = ti_view_slice(&x, 0, at, rows), out = ti_view_slice(&z, 0, at, rows);
            op->ifm = (tc_view){in.root, 3, in.at, {1, rows, in.dim[1]},
                                {rows * in.stride[0], in.stride[0], 1}};
            op->ofm = (tc_view){out.root, 3, out.at, {1, rows, out.dim[1]},
                                {rows * out.stride[0], out.stride[0], 1}};
            op->ifm2 = (tc_view){y.root, 3, y.at, {1, y.dim[0], y.dim[1]},
                                 {y.dim[0] * y.stride[0], y.stride[0], 1}};
            op->op.ifm.h = op->op.ofm.h = op->op.ifm2.h = op->op.window.ih = 1;
            op->op.ifm.w = op->op.ofm.w = op->op.window.iw = (int32_t)rows;
            op->op.ifm.c = op->op.depth = op->op.ifm2.c = (int32_t)in.dim[1];
            op->op.ofm.c = op->op.ifm2.w = (int32_t)out.dim[1];
            if (bias) {
                tc_view part = ti_view_slice(bias, 2, n * z.dim[1], z.dim[1]);
                ti_sel_emit_kept(s, op, &part);
            } else
                ti_sel_emit(s, op);
        }
    }
}

static void matmul_u55(tc_sel *s, const tc_node *node, const tc_hw_op *tail, const tc_view *a,
                       const tc_view *b, const tc_view *to, const int32_t zero[2])
{
    uint8_t bytes = s->hw->root[a->root].bytes;
    tc_view product = ti_sel_working(s, "products", 4, 3, a->dim);
    s->hw->root[product.root].h = 0; /* linear: bricks would only be larger */
    tc_hw_op mul = ti_sel_op(s, node, TC_NPU_KIND_ELEMENTWISE, TC_EW_MUL);
    ti_sel_map(&mul.op.ifm, bytes, true, zero[0]);
    ti_sel_map(&mul.op.ifm2, bytes, true, zero[1]);
    ti_sel_map(&mul.op.ofm, 4, true, 0);
    mul.op.lo = INT16_MIN;
    mul.op.hi = -1;
    for (int64_t w = 0; w < to->dim[2] && !s->hw->refused; w++) { /* of all matrices */
        tc_view row = ti_view_slice(b, 1, w, 1);
        row = ti_view_broadcast(&row, 3, a->dim);
        ti_sel_emit_parts(s, &mul, a, &row, &product);
        tc_hw_op sum = *tail;
        sum.ifm = product;
        sum.ofm = ti_view_slice(to, 2, w, 1);
        sum.ofm.stride[2] = 1;
        sum.op.ifm.h = sum.op.ofm.h = sum.op.window.ih = (int32_t)a->dim[0];
        sum.op.ifm.w = sum.op.ofm.w = sum.op.window.iw = (int32_t)a->dim[1];
        sum.op.ifm.c = sum.op.depth = (int32_t)a->dim[2];
        sum.op.ofm.c = 1;
        ti_sel_emit(s, &sum);
    }
}

/* As many matrices at a time as the machine counts. */
static void emit_columns(tc_sel *s, const tc_node *node, const tc_hw_op *op, const tc_view *a,
                         const tc_view *b, const tc_view *to, const int32_t zero[2])
{
    for (int64_t n = 0; n < to->dim[0]; n += TC_HW_EXTENT) {
        int64_t some = ti_min_i64(TC_HW_EXTENT, to->dim[0] - n);
        tc_view x = ti_view_slice(a, 0, n, some), y = ti_view_slice(b, 0, n, some),
                z = ti_view_slice(to, 0, n, some);
        matmul_u55(s, node, op, &x, &y, &z, zero);
    }
}

/* The operation, but for its result. */
static tc_hw_op product_op(tc_sel *s, const tc_node *node, uint8_t bytes, const int32_t zero[2])
{
    bool u85 = ti_hw_is_u85(s->hw);
    tc_hw_op op = u85 ? ti_sel_op(s, node, TC_NPU_KIND_CONV, 0)
                      : ti_sel_op(s, node, TC_NPU_KIND_POOL, TC_POOL_REDUCE_SUM);
    if (!u85) {
        ti_sel_map(&op.op.ifm, 4, true, 0);
        return op;
    }
    op.op.weights_ifm2 = true;
    op.op.param = 1;
    ti_sel_map(&op.op.ifm, bytes, true, zero[0]);
    ti_sel_map(&op.op.ifm2, bytes, true, zero[1]);
    op.op.acc_bits = bytes == 2 ? 48 : 32;
    return op;
}

/* Rows, columns and sums that the machine has. */
static bool has_size(tc_sel *s, const tc_node *node, uint8_t bytes, int64_t rows, int64_t depth,
                     int64_t columns)
{
    bool u85 = ti_hw_is_u85(s->hw);
    if (bytes <= 2 && (bytes == 1 || u85) && depth <= TC_HW_EXTENT && columns <= TC_HW_EXTENT &&
        (u85 || rows <= TC_HW_EXTENT))
        return true;
    ti_hw_refuse(s->hw, node, "the machine multiplies no matrices of this type or size");
    return false;
}

static void emit_product(tc_sel *s, const tc_node *node, tc_hw_op *op, const tc_sel_product *p,
                         const tc_view *a, const tc_view *b, const tc_view *to)
{
    if (ti_hw_is_u85(s->hw))
        matmul_u85(s, op, a, b, to, p->bias.root >= 0 ? &p->bias : NULL);
    else
        emit_columns(s, node, op, a, b, to, p->zero);
}

void ti_sel_product_of(tc_sel *s, const tc_node *node, const tc_sel_product *p, const tc_view *a,
                       const tc_view *b, tc_val bias)
{
    const tc_type *out = ti_type_of(s->g, node->out[0]);
    uint8_t bytes = ti_sel_bytes(s, node->in[0]);
    int64_t n = a->dim[0], rows = a->dim[1], columns = b->dim[1];
    if (s->hw->refused || !has_size(s, node, bytes, rows, a->dim[2], columns))
        return;
    tc_hw_op op = product_op(s, node, bytes, p->zero);
    ti_sel_plain_output(s, &op.op, node->out[0]);
    tc_view to, place;
    if (p->direct)
        to = ti_sel_result(s, ti_sel_take_tail(s, &op, node->out[0],
                                               (tc_sel_tail){.scaled = true, .bounds = true}));
    else
        to = ti_sel_working(s, "sums", 4, out->rank, out->dim);
    if (!ti_view_reshape(&to, 3, (int64_t[]){rows, n, columns}, &place)) {
        ti_hw_refuse(s->hw, node, "its result has no place in one piece");
        return;
    }
    place = ti_view_transpose(&place, (int64_t[]){1, 0, 2});
    tc_view second = counts_for_more(s, b) ? copied(s, node, b) : *b;
    emit_product(s, node, &op, p, a, &second, &place);
    if (!p->direct)
        ti_sel_add_bias(s, node, &to, bias);
}

static void by_column(tc_sel *s, const tc_node *node, const int32_t zero[2])
{
    tc_hw_op op = ti_sel_op(s, node, TC_NPU_KIND_POOL, TC_POOL_REDUCE_SUM);
    ti_sel_map(&op.op.ifm, 4, true, 0);
    tc_view a = ti_sel_channels(s, node, node->in[0]), b = by_columns(s, node, node->in[1]);
    ti_sel_plain_output(s, &op.op, node->out[0]);
    tc_val v = ti_sel_take_tail(s, &op, node->out[0],
                                (tc_sel_tail){.scaled = true, .bounds = true});
    tc_view place = ti_sel_result_of(s, node, v);
    if (!s->hw->refused)
        emit_columns(s, node, &op, &a, &b, &place, zero);
}

/* false: it cannot be done so. */
static bool as_convolution(tc_sel *s, const tc_node *node, const int32_t zero[2])
{
    tc_sel_made p = {.op = ti_sel_op(s, node, TC_NPU_KIND_CONV, 0), .zero = zero[1]};
    tc_hw_op *op = &p.op;
    int64_t channels = ti_type_of(s->g, node->out[0])->dim[2];
    ti_sel_map(&op->op.ifm, 1, true, zero[0]);
    op->op.ofm.c = (int32_t)channels;
    op->op.per_channel = true;
    p.a = ti_sel_channels(s, node, node->in[0]);
    p.b = by_columns(s, node, node->in[1]);
    if (s->hw->refused || !ti_sel_product_fits(s->hw, &p))
        return false;
    tc_val v =
        ti_sel_take_tail(s, op, node->out[0], (tc_sel_tail){.scaled = true, .channel = true});
    if (op->factor)
        v = ti_sel_take_tail(s, op, v, (tc_sel_tail){.bounds = op->op.ofm.bytes <= 2});
    else {
        ti_sel_plain_output(s, &op->op, node->out[0]);
        ti_sel_unit_scales(s, op, channels);
    }
    op->bias = tc_new_n(s->hw->arena, int64_t, (size_t)channels);
    p.to = ti_sel_result_of(s, node, v);
    return !s->hw->refused && ti_sel_emit_product(s, &p) && !s->hw->refused;
}

/* What selecting an operator changes. */
typedef struct state {
    tc_sel_value *value;
    int32_t *out;
    size_t n_op, n_root, n_table;
} state;

static state save(tc_sel *s)
{
    const tc_hw *hw = s->hw;
    return (state){ti_arena_copy(hw->arena, s->value, s->g->n_val * sizeof *s->value),
                   ti_arena_copy(hw->arena, hw->out, (s->g->n_out + 1) * sizeof *hw->out),
                   hw->n_op, hw->n_root, hw->n_table};
}

static void restore(tc_sel *s, const state *was)
{
    tc_hw *hw = s->hw;
    memcpy(s->value, was->value, s->g->n_val * sizeof *s->value);
    memcpy(hw->out, was->out, (s->g->n_out + 1) * sizeof *hw->out);
    hw->n_op = was->n_op;
    hw->n_root = was->n_root;
    hw->n_table = was->n_table;
    hw->refused = NULL;
    hw->refused_node = NULL;
}

static void select_u55(tc_sel *s, const tc_node *node, const int32_t zero[2])
{
    if (!s->hw->options->products) {
        by_column(s, node, zero);
        return;
    }
    state was = save(s);
    by_column(s, node, zero);
    double columns = s->hw->refused ? -1 : ti_hw_cycles(s->hw, was.n_op, s->hw->n_op);
    restore(s, &was);
    bool can = as_convolution(s, node, zero);
    if (can && (columns < 0 || ti_hw_cycles(s->hw, was.n_op, s->hw->n_op) < columns))
        return;
    restore(s, &was);
    by_column(s, node, zero);
}

/* U85: the transposed product, b's rows by a's: few channels of many rows. */
static bool emit_swapped(tc_sel *s, const tc_node *node, const tc_hw_op *plain, const tc_view *a,
                         const tc_view *b, const tc_view *to)
{
    tc_hw_op op = *plain;
    tc_view place = ti_view_transpose(to, (int64_t[]){0, 2, 1}), work = place;
    op.op.ifm = plain->op.ifm2;
    op.op.ifm2 = plain->op.ifm;
    if (place.dim[2] > 1)
        work = ti_sel_working(s, "transposed", s->hw->root[to->root].bytes, 3, place.dim);
    matmul_u85(s, &op, b, a, &work, NULL);
    if (work.root != place.root)
        ti_sel_copy(s, node, &work, &place);
    return true;
}

/* Of pixels by each other: so many of a row at a time, and so many times, at most. */
enum { WIDEST = 32, MOST_TIMES = 64 };

/* Columns [from, from + times * n) of all rows, n at a time: n x n products again and again, of which those of
 * a pixel by itself, n + 1 apart, are copied. */
static void pixel_products(tc_sel *s, tc_hw_op *op, const tc_node *node, const tc_view *x,
                           const tc_view *to, int64_t from, int64_t times, int64_t n)
{
    int64_t rows = x->dim[0];
    tc_view all = ti_sel_working(s, "products", op->op.ofm.bytes, 4, (int64_t[]){rows, times, n, n}),
            own = {all.root, 4, 0, {rows, times, n, 1}, {times * n * n, n * n, n + 1, 1}},
            place = {to->root, 4, to->at + from * to->stride[1], {rows, times, n, 1},
                     {to->stride[0], n * to->stride[1], to->stride[1], 1}};
    for (int64_t r = 0; r < rows && !s->hw->refused; r++) {
        tc_view in = {x->root, 3, x->at + r * x->stride[0] + from * x->stride[1],
                      {times, n, x->dim[2]}, {n * x->stride[1], x->stride[1], 1}},
                out = ti_view_at(n > 1 ? &all : &place, r);
        matmul_u85(s, op, &in, &in, &out, NULL);
    }
    if (n > 1)
        ti_sel_copy(s, node, &own, &place);
}

/* In turns, so that they take no more memory than squares of 16 bits. */
bool ti_sel_pixel_products(tc_sel *s, const tc_hw_op *sum, const tc_view *x, const tc_view *to)
{
    int32_t last = x->rank - 1;
    int64_t c = x->dim[last], w = last > 0 ? x->dim[last - 1] : 1, h = ti_view_count(x) / (c * w),
            parts = ti_parts(w, WIDEST), n = ti_parts(w, parts), rest = w % n, whole = w / n,
            turns = ti_parts(2 * parts * n * n, w * c), some = ti_parts(h, turns);
    const tc_root *r = &s->hw->root[x->root];
    bool bricks = c % BRICK == 0 && r->kind == TC_ROOT_VALUE && r->c == c && r->w == w;
    tc_view pixels, place;
    if (h * parts > MOST_TIMES || turns > h ||
        !ti_view_reshape(x, 3, (int64_t[]){h, w, c}, &pixels) || pixels.stride[2] != 1 ||
        !ti_view_reshape(to, 3, (int64_t[]){h, w, 1}, &place))
        return false;
    tc_view few = ti_view_slice(&pixels, 1, 0, rest ? rest : n);
    if (counts_for_more(s, &few) && !bricks)
        return false;
    tc_hw_op op = product_op(s, sum->node, 1, (int32_t[]){0, 0});
    ti_sel_store_like(&op, sum);
    op.op.ofm_scale = sum->op.ofm_scale;
    for (int64_t at = 0; at < h && !s->hw->refused; at += some) {
        some = ti_min_i64(some, h - at);
        tc_view in = ti_view_slice(&pixels, 0, at, some), out = ti_view_slice(&place, 0, at, some);
        pixel_products(s, &op, sum->node, &in, &out, 0, whole, n);
        if (rest)
            pixel_products(s, &op, sum->node, &in, &out, whole * n, 1, rest);
    }
    return !s->hw->refused;
}

void ti_npu_select_matmul(tc_sel *s, const tc_node *node)
{
    const tc_type *out = ti_type_of(s->g, node->out[0]), *in = ti_type_of(s->g, node->in[0]);
    uint8_t bytes = ti_sel_bytes(s, node->in[0]);
    tc_sel_product p = {.zero = {(int32_t)ti_sel_number(s, node->in[2]),
                                 (int32_t)ti_sel_number(s, node->in[3])},
                        .bias = {.root = TC_NO_ROOT}};
    if (s->hw->refused || !has_size(s, node, bytes, in->dim[1], in->dim[2], out->dim[2]))
        return; /* a zero point that is no constant, say: of two ways none is tried */
    if (!ti_hw_is_u85(s->hw)) {
        select_u55(s, node, p.zero);
        return;
    }
    tc_hw_op op = product_op(s, node, bytes, p.zero);
    tc_view a = ti_sel_channels(s, node, node->in[0]), b = by_columns(s, node, node->in[1]);
    ti_sel_plain_output(s, &op.op, node->out[0]);
    tc_val v = ti_sel_take_tail(s, &op, node->out[0],
                                (tc_sel_tail){.scaled = true, .bounds = true});
    tc_view place = ti_sel_result_of(s, node, v);
    if (s->hw->refused)
        return;
    tc_sel_ways ways = ti_sel_ways(s, node);
    emit_product(s, node, &op, &p, &a, &b, &place);
    if (s->hw->judges || MANY * place.dim[1] > place.dim[2])
        return;
    ti_sel_plain(&ways);
    ti_sel_form(&ways, TC_SEL_SWAPPED, emit_swapped(s, node, &op, &a, &b, &place));
}
