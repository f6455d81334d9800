/* SPDX-License-Identifier: Apache-2.0 */
/* estimate_window.c -- convolutions, pools, products, transpositions and reductions as operations;
 * see estimate_item.h. */
#include "estimate_item.h"

#include <math.h>

/* ---- weights ---- */

/* Bits of a weight. */
static double entropy(const tc_guesser *e, tc_val v)
{
    const tc_type *t = ti_type_of(e->g, v);
    bool small = t->dtype == TC_i8 || t->dtype == TC_i4; /* which lies one to a byte, too */
    const int8_t *w = small && ti_is_const(e->g, v) ? e->g->val[v]->data : NULL;
    int64_t n = tc_type_count(t);
    return w && n > 0 ? ti_memo_entropy(e->memo, w, n) : 8;
}

/* Weights are walked through in whole microblocks; what is missing is zeros, which take a third of
 * a byte. */
static void set_weights(tc_guesser *e, tc_guess *i, tc_val v)
{
    tc_npu_op *op = &i->op;
    bool deep = op->kind == TC_NPU_KIND_CONV, u85 = ti_guess_u85(e);
    double n = (double)tc_type_count(ti_type_of(e->g, v)),
           taps = (double)op->window.kh * op->window.kw;
    double unit = ti_npu_unit(e->m, op).depth,
           step = deep ? (op->window.part_kernel ? (u85 ? 16 : 8) : (u85 ? 64 : 32)) : 1;
    double round = !deep ? (u85 ? 10 : 4) : op->window.part_kernel ? (u85 ? 5 : 4) : 1;
    double padded = ceil(op->ofm.c / unit) * unit * ceil(taps / round) * round *
                    (deep ? ceil(op->ifm.c / step) * step : 1);
    double bytes = n * fmin(entropy(e, v) + 0.2, 8.1) / 8 + fmax(padded - n, 0) * 0.3 + 32;
    op->weights.bytes[0] = (uint64_t)(16 * ceil(bytes / 16));
    op->weights.base[0] = (uint64_t)v << 32;
    op->scale_bytes[0] = (uint64_t)(16 * ceil(10.0 * op->ofm.c / 16));
    op->per_channel = true;
    /* What is read again for every row of blocks is copied to the quick memory first. */
    bool elsewhere = e->s->of_region[0] != e->s->of_region[2],
         again = op->block.h < op->ofm.h || op->block.w < op->ofm.w;
    bool slow = !deep && e->s->memory[e->s->of_region[0]].read_latency >=
                             256; /* for so few, waiting is expensive */
    op->weights.region = elsewhere && (again || slow) ? 2 : 0;
}

/* ---- windows and products ---- */

static void set_window(tc_guess *i, tc_ints kernel, tc_ints stride, tc_ints dilation)
{
    tc_npu_window *w = &i->op.window;
    w->kh = ti_guess_extent(kernel.v[0]);
    w->kw = ti_guess_extent(kernel.v[1]);
    w->stride_y = stride.n > 1 ? ti_guess_extent(stride.v[0]) : 1;
    w->stride_x = stride.n > 1 ? ti_guess_extent(stride.v[1]) : 1;
    w->dilation_y = dilation.n > 1 ? ti_guess_extent(dilation.v[0]) : 1;
    w->dilation_x = dilation.n > 1 ? ti_guess_extent(dilation.v[1]) : 1;
    w->ih = i->op.ifm.h;
    w->iw = i->op.ifm.w;
}

void ti_guess_conv(tc_guesser *e, const tc_node *node)
{
    bool depthwise = node->op == TC_OP_tosa_depthwise_conv2d,
         transposed = node->op == TC_OP_tosa_transpose_conv2d;
    const tc_type *w = ti_type_of(e->g, node->in[1]);
    int64_t size[2] = {w->dim[depthwise ? 0 : w->rank - 3], w->dim[depthwise ? 1 : w->rank - 2]};
    tc_ints kernel = {2, size}, stride = {0}, dilation = {0};
    tc_guess *i = ti_guess_add(e, node, depthwise ? TC_NPU_KIND_DEPTHWISE : TC_NPU_KIND_CONV, 0);
    ti_guess_makes(e, i, node->out[0]);
    i->op.ifm = ti_guess_map(e, node->in[0]);
    i->op.ofm = ti_guess_map(e, node->out[0]);
    if (depthwise)
        i->op.ifm.c = i->op.ofm.c;
    if (node->op == TC_OP_tosa_conv2d || depthwise) {
        stride = ((const tc_attr_tosa_conv *)node->attr)->stride;
        dilation = ((const tc_attr_tosa_conv *)node->attr)->dilation;
    }
    set_window(i, kernel, stride, dilation);
    i->op.window.upscale = transposed ? TC_UPSCALE_ZEROS : TC_UPSCALE_NONE;
    if (i->op.ifm.bytes == 2)
        i->op.acc_bits = ti_guess_u85(e) ? 48 : 40;
    i->sums = true;
    ti_memo_block(e->memo, e->m, &i->op);
    set_weights(e, i, node->in[1]);
}

void ti_guess_pool(tc_guesser *e, const tc_node *node)
{
    bool max = node->op == TC_OP_tosa_max_pool2d;
    const tc_attr_tosa_max_pool *a = node->attr;
    const tc_attr_tosa_avg_pool *b = node->attr;
    tc_guess *i =
        ti_guess_add(e, node, TC_NPU_KIND_POOL, (uint8_t)(max ? TC_POOL_MAX : TC_POOL_AVERAGE));
    ti_guess_makes(e, i, node->out[0]);
    i->op.ifm = ti_guess_map(e, node->in[0]);
    i->op.ofm = ti_guess_map(e, node->out[0]);
    set_window(i, max ? a->kernel : b->kernel, max ? a->stride : b->stride, (tc_ints){0});
    ti_guess_scaled(i);
}

/* Axes in another order: written so by U85, copied by strides by U55 and U65. */
/* The only reader of a value, behind reshapes. */
static const tc_node *reader_behind(const tc_guesser *e, tc_val v, tc_val *as)
{
    const tc_node *r = e->readers[v] == 1 ? e->reader[v] : NULL;
    while (r && r->op == TC_OP_tosa_reshape) {
        v = r->out[0];
        r = e->readers[v] == 1 ? e->reader[v] : NULL;
    }
    *as = v;
    return r;
}

/* U85's matrix products transpose their second operand; where that undoes a transpose of what one
 * operation has written, neither is done.  Several matrices take four axes for that. */
static bool undone(const tc_guesser *e, const tc_node *transpose)
{
    tc_val as;
    tc_ints p = ((const tc_attr_tosa_perms *)transpose->attr)->perms;
    const tc_type *t = ti_type_of(e->g, transpose->in[0]);
    int32_t maker = e->maker[transpose->in[0]];
    const tc_node *reader = reader_behind(e, transpose->out[0], &as);
    bool swaps = p.n >= 3 && p.v[p.n - 1] == p.n - 2 && p.v[p.n - 2] == p.n - 1;
    for (int i = 0; i < p.n - 2; i++)
        swaps = swaps && p.v[i] == i;
    return ti_guess_u85(e) && swaps && reader && reader->op == TC_OP_tosa_matmul &&
           reader->in[1] == as && maker != TC_GUESS_NONE && (p.n > 3 || t->dim[0] == 1) &&
           e->item[maker].out == (p.n > 3 ? transpose->in[0] : e->storage[transpose->in[0]]);
}

/* The transpose that an operand comes from, behind reshapes; or NULL. */
static const tc_node *transpose_of(const tc_guesser *e, tc_val v)
{
    const tc_node *def = ti_def(e->g, v);
    while (def && def->op == TC_OP_tosa_reshape)
        def = ti_def(e->g, def->in[0]);
    return def && def->op == TC_OP_tosa_transpose ? def : NULL;
}

/* The same extents, but for ones in front. */
static bool same_extents(const tc_type *a, const tc_type *b)
{
    for (int i = 1; i <= a->rank || i <= b->rank; i++)
        if ((i <= a->rank ? a->dim[a->rank - i] : 1) != (i <= b->rank ? b->dim[b->rank - i] : 1))
            return false;
    return true;
}

void ti_guess_transpose(tc_guesser *e, const tc_node *node)
{
    static const uint8_t code[3][3] = {{0, 3, 7}, {2, 0, 6}, {0, 1, 0}}; /* by what becomes C, H */
    tc_ints p = ((const tc_attr_tosa_perms *)node->attr)->perms;
    int32_t maker = e->maker[e->storage[node->in[0]]];
    bool keeps = p.n < 2 || p.v[p.n - 1] == p.n - 1;
    tc_guess *before = maker != TC_GUESS_NONE ? &e->item[maker] : NULL;
    if (undone(e, node)) {
        e->storage[node->out[0]] = e->storage[node->in[0]];
        e->maker[node->out[0]] = e->maker[node->in[0]];
        return;
    }
    /* seen behind products of 32 bits */
    bool wide_sums =
        before && before->op.kind == TC_NPU_KIND_ELEMENTWISE && before->op.ofm.bytes == 4;
    if (ti_guess_u85(e) && before && e->readers[node->in[0]] == 1 &&
        (before->op.kind == TC_NPU_KIND_CONV || wide_sums) && !before->op.transpose &&
        same_extents(ti_type_of(e->g, before->out), ti_type_of(e->g, node->in[0]))) {
        before->op.transpose = keeps ? 1 : 2; /* by the way */
        ti_guess_makes(e, before, node->out[0]);
        return;
    }
    tc_guess *i = ti_guess_copy(e, node, node->in[0], node->out[0]);
    tc_npu_map in = ti_guess_map(e, node->in[0]);
    if (ti_guess_u85(e)) {
        int a = p.n >= 3 ? (int)(p.v[p.n - 3] - (p.n - 3)) : 0,
            c = p.n >= 2 ? (int)(p.v[p.n - 1] - (p.n - 3)) : 2;
        i->op.transpose = a >= 0 && a < 3 && c >= 0 && c < 3 ? code[c][a] : 2;
        i->op.transpose = i->op.transpose ? i->op.transpose : 2;
        i->op.ofm.h = in.h;
        i->op.ofm.w = in.w;
        i->op.ofm.c = i->op.ifm.c = in.c;
        return;
    }
    i->op.ifm.format = i->op.ofm.format = TC_NHWC;
    i->op.ofm.h = i->op.ifm.h = keeps ? in.h : ti_guess_extent((int64_t)in.h * in.w);
    i->op.ofm.w = i->op.ifm.w = keeps ? in.w : in.c;
    i->op.ofm.c = i->op.ifm.c = keeps ? in.c : 1;
    i->op.ifm.stride_y = i->op.ofm.stride_x = 2;
    i->op.ifm.stride_x = i->op.ofm.stride_y = 1;
    bool all = p.n >= 3 && in.h > 1 && p.v[p.n - 3] != p.n - 3 && !keeps; /* in two passes */
    tc_guess again = *i;
    if (all) {
        again.op.ifm.region = i->op.ofm.region = e->s->of_region[2] != e->s->of_region[1] ? 2 : 1;
        tc_grow(e->arena, e->item, e->n, e->cap);
        e->item[e->n++] = again;
        ti_guess_makes(e, &e->item[e->n - 1], node->out[0]);
    }
}

/* The second operand of a matrix product, in the order that its machine wants. */
static void transpose_operand(tc_guesser *e, const tc_node *product)
{
    tc_val v = product->in[1];
    int32_t maker = e->maker[v];
    tc_guess *i = ti_guess_copy(e, product, v, v);
    tc_npu_map in = ti_guess_map(e, v);
    e->maker[v] = maker;
    i->op.transpose = 2;
    i->op.ofm.h = in.h;
    i->op.ofm.w = in.w;
    i->op.ofm.c = i->op.ifm.c = in.c;
}

/* [n, h, c] x [n, c, w]: the second operand is transposed first. */
void ti_guess_matmul(tc_guesser *e, const tc_node *node)
{
    const tc_type *a = ti_type_of(e->g, node->in[0]), *b = ti_type_of(e->g, node->in[1]);
    int32_t n = ti_guess_extent(a->dim[0]), h = ti_guess_extent(a->dim[1]),
            c = ti_guess_extent(a->dim[2]), w = ti_guess_extent(b->dim[2]);
    tc_npu_map x = ti_guess_map(e, node->in[0]), y = ti_guess_map(e, node->in[1]),
               z = ti_guess_map(e, node->out[0]);
    if (ti_guess_u85(e)) {
        const tc_node *transpose = transpose_of(e, node->in[1]);
        if (!transpose || !undone(e, transpose))
            transpose_operand(e, node);
        for (int32_t k = 0; k < n; k++) {
            tc_guess *i = ti_guess_add(e, node, TC_NPU_KIND_CONV, 0);
            ti_guess_makes(e, i, node->out[0]);
            i->op.weights_ifm2 = true;
            i->op.ifm = x;
            i->op.ifm2 = y;
            i->op.ofm = z;
            i->op.ifm.h = i->op.ofm.h = i->op.ifm2.h = 1;
            i->op.ifm.w = i->op.ofm.w = h;
            i->op.ifm.c = i->op.ifm2.c = c;
            i->op.ofm.c = i->op.ifm2.w = w;
            i->op.ifm.base[0] += (uint64_t)k;
            i->sums = true;
            ti_guess_scaled(i);
        }
        return;
    }
    tc_guess mul, sum;
    tc_guess *i = ti_guess_add(e, node, TC_NPU_KIND_ELEMENTWISE, TC_EW_MUL);
    i->op.ifm = x;
    i->op.ifm2 = x;
    i->op.ifm.h = i->op.ofm.h = i->op.ifm2.h = n;
    i->op.ifm.w = h;
    i->op.ifm2.w = 1;
    i->op.ifm.c = i->op.ifm2.c = c;
    i->op.ifm.format = i->op.ifm2.format = TC_NHWC;
    i->op.ifm2.broadcast = TC_BROADCAST_W;
    i->op.ofm = i->op.ifm;
    i->op.ofm.region = 1;
    i->op.ofm.bytes = 4;
    ti_memo_block(e->memo, e->m, &i->op);
    mul = *i;
    e->n--;
    i = ti_guess_add(e, node, TC_NPU_KIND_POOL, TC_POOL_REDUCE_SUM);
    i->op.ifm = mul.op.ofm;
    i->op.ofm = z;
    i->op.ofm.format = TC_NHWC;
    i->op.ofm.h = n;
    i->op.ofm.w = h;
    i->op.ofm.c = 1;
    i->op.ifm.bytes = 1; /* the block is chosen for what is multiplied */
    ti_memo_block(e->memo, e->m, &i->op);
    i->op.ifm.bytes = 4;
    ti_guess_scaled(i);
    i->sums = true;
    sum = *i;
    e->n--;
    for (int32_t k = 0; k < w; k++) {
        tc_grow(e->arena, e->item, e->n, e->cap);
        e->item[e->n++] = mul;
        tc_grow(e->arena, e->item, e->n, e->cap);
        e->item[e->n++] = sum;
    }
    ti_guess_makes(e, &e->item[e->n - 1], node->out[0]);
}

/* ---- reductions ---- */

void ti_guess_reduce(tc_guesser *e, const tc_node *node)
{
    const tc_type *t = ti_type_of(e->g, node->in[0]);
    int64_t axis = ((const tc_attr_tosa_axis *)node->attr)->axis, inner = 1, outer = 1;
    for (int i = 0; i < t->rank; i++)
        *(i < axis ? &outer : i > axis ? &inner : &(int64_t){1}) *= t->dim[i];
    bool sum = node->op == TC_OP_tosa_reduce_sum, last = inner == 1;
    if (sum && !last)
        ti_guess_copy(e, node, node->in[0], node->in[0]);
    tc_guess *i =
        ti_guess_add(e, node, TC_NPU_KIND_POOL, (uint8_t)(sum ? TC_POOL_REDUCE_SUM : TC_POOL_MAX));
    ti_guess_makes(e, i, node->out[0]);
    i->op.ifm = ti_guess_map(e, node->in[0]);
    i->op.ofm = ti_guess_map(e, node->out[0]);
    i->op.ifm.h = i->op.ofm.h = sum ? i->op.ofm.h : ti_guess_extent(outer);
    i->op.ifm.w =
        sum ? ti_guess_extent(outer * inner / i->op.ofm.h) : ti_guess_extent(t->dim[axis]);
    i->op.ofm.w = sum ? i->op.ifm.w : 1;
    i->op.ifm.c = sum ? ti_guess_extent(t->dim[axis]) : ti_guess_extent(inner);
    i->op.ofm.c = sum ? 1 : ti_guess_extent(inner);
    if (!sum) {
        int64_t kernel[2] = {1, t->dim[axis]};
        set_window(i, (tc_ints){2, kernel}, (tc_ints){0}, (tc_ints){0});
        i->op.ifm.format = i->op.ofm.format = TC_NHWC;
    }
    i->sums = sum;
    ti_guess_scaled(i);
}
