/* SPDX-License-Identifier: Apache-2.0 */
/* fast_float.c -- f32 products give the bits of the reference kernels and of plain loops that sum by
 * the rule, at every level this machine has: every result is one sum, its terms in order, in blocks
 * of 256 whose totals are added to the bias. */
#include "levels.h"
#include "run_op.h"

#include "fast/float.h"

static tc_ctx *ctx;

/* A number, now and then one that is easily got wrong. */
static float number(bool odd)
{
    static const float special[] = {0.0f, -0.0f, 0x1p-149f, -0x1.8p-140f, 0x1p-126f, 0x1.fffffep60f,
                                    INFINITY, -INFINITY, NAN};
    if (odd && any(0, 9) == 0)
        return special[any(0, any(0, 9) ? 5 : 8)];
    return (float)any(-(1 << 24), 1 << 24) * 0x1p-23f;
}

static tc_tensor numbers(int rank, const int64_t *dim, bool odd)
{
    tc_tensor t = ti_tensor_new(&ctx->arena, ti_type_make(ctx, TC_f32, rank, dim));
    for (int64_t i = 0; i < tc_type_count(t.type); i++)
        ((float *)t.data)[i] = number(odd);
    return t;
}

static bool same_bits(const float *a, const float *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (memcmp(&a[i], &b[i], sizeof *a) != 0 && !(isnan(a[i]) && isnan(b[i])))
            return false;
    return true;
}

/* [n, c, plane] to [n, plane, c], or back. */
static float *turned(const float *x, int64_t n, int64_t c, int64_t plane, bool back)
{
    float *y = ti_arena_raw(&ctx->arena, (size_t)(n * c * plane + 1) * sizeof *y);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < c; j++)
            for (int64_t k = 0; k < plane; k++) {
                int64_t first = (i * c + j) * plane + k, last = (i * plane + k) * c + j;
                y[back ? first : last] = x[back ? last : first];
            }
    return y;
}

/* The rule: terms that come one by one. */
typedef struct total {
    float y, block;
    int64_t k;
} total;

static void term(total *t, float a, float b)
{
    t->block += a * b;
    if (++t->k % 256 == 0) {
        t->y += t->block;
        t->block = 0;
    }
}

static float result(total *t)
{
    return t->k % 256 ? t->y + t->block : t->y;
}

typedef struct shape {
    int axes;
    int64_t n, groups, in, out; /* channels: of a group */
    int64_t size[3], made[3], kernel[3], stride[3], dilation[3], before[3], after[3];
    bool transposed;
} shape;

/* Where a tap of output o reads along an axis; -1: nowhere. */
static int64_t place_of(const shape *s, int axis, int64_t o, int64_t tap)
{
    int64_t at = s->transposed ? o + s->before[axis] - tap * s->dilation[axis]
                               : o * s->stride[axis] - s->before[axis] + tap * s->dilation[axis];
    if (s->transposed && at % s->stride[axis])
        return -1;
    at = s->transposed ? at / s->stride[axis] : at;
    return at < 0 || at >= s->size[axis] ? -1 : at;
}

static float one_result(const shape *s, const float *x, const float *w, float bias, int64_t n,
                        int64_t g, int64_t c, const int64_t *o)
{
    total t = {.y = bias};
    int64_t taps = s->kernel[0] * s->kernel[1] * s->kernel[2];
    int64_t plane = s->size[0] * s->size[1] * s->size[2];
    for (int64_t k = 0; k < taps; k++) {
        int64_t d = place_of(s, 0, o[0], k / s->kernel[2] / s->kernel[1]),
                h = place_of(s, 1, o[1], k / s->kernel[2] % s->kernel[1]),
                v = place_of(s, 2, o[2], k % s->kernel[2]);
        for (int64_t i = 0; i < s->in; i++) {
            int64_t from = ((n * s->groups + g) * s->in + i) * plane;
            int64_t by = s->transposed ? ((g * s->in + i) * s->out + c) * taps + k
                                       : ((g * s->out + c) * s->in + i) * taps + k;
            bool inside = d >= 0 && h >= 0 && v >= 0;
            term(&t, inside ? x[from + (d * s->size[1] + h) * s->size[2] + v] : 0, w[by]);
        }
    }
    return result(&t);
}

static float *by_rule(const shape *s, const float *x, const float *w, const float *bias)
{
    int64_t plane = s->made[0] * s->made[1] * s->made[2], c = s->groups * s->out;
    float *y = ti_arena_raw(&ctx->arena, (size_t)(s->n * c * plane) * sizeof *y);
    for (int64_t i = 0; i < s->n * c * plane; i++) {
        const int64_t o[3] = {i % plane / s->made[2] / s->made[1], i % plane / s->made[2] % s->made[1],
                              i % s->made[2]};
        int64_t channel = i / plane % c;
        y[i] = one_result(s, x, w, bias ? bias[channel] : 0, i / plane / c, channel / s->out,
                          channel % s->out, o);
    }
    return y;
}

/* Lists of the axes that there are. */
static tc_ints list(const shape *s, const int64_t *v)
{
    return ti_ints_copy(&ctx->arena, v + 3 - s->axes, s->axes);
}

static shape invent(void)
{
    static const int64_t few[] = {1, 1, 2, 3, 3, 4, 7, 8, 16, 24, 31, 33, 65};
    shape s = {.axes = (int)any(1, 3), .n = any(1, 2), .groups = any(0, 3) ? 1 : any(2, 3),
               .in = few[any(0, 12)], .out = few[any(0, 12)], .transposed = any(0, 3) == 0};
    if (any(0, 3) == 0) /* depthwise */
        s.groups = any(2, 70), s.in = s.out = 1;
    if (any(0, 9) == 0)
        s.in = any(200, 600), s.groups = 1;
    for (int i = 0; i < 3; i++) {
        bool here = i >= 3 - s.axes;
        s.size[i] = here ? any(1, s.axes == 3 ? 5 : 12) : 1;
        s.kernel[i] = here ? any(1, s.axes == 1 ? 9 : s.axes == 2 ? 7 : 3) : 1;
        s.stride[i] = here ? any(1, 3) : 1;
        s.dilation[i] = here && any(0, 2) == 0 ? any(2, 3) : 1;
        s.before[i] = here ? any(0, 3) : 0;
        s.after[i] = here && !s.transposed ? any(0, 3) : 0;
        int64_t reach = (s.kernel[i] - 1) * s.dilation[i];
        s.made[i] = s.transposed ? (s.size[i] - 1) * s.stride[i] - 2 * s.before[i] + reach + 1
                                 : s.size[i] + s.before[i] + s.after[i] <= reach
                                       ? 0
                                       : (s.size[i] + s.before[i] + s.after[i] - reach - 1) /
                                                 s.stride[i] + 1;
    }
    return s;
}

static tc_type *image(const shape *s, int64_t channels, const int64_t *size)
{
    int64_t dim[5] = {s->n, channels};
    memcpy(dim + 2, size + 3 - s->axes, (size_t)s->axes * sizeof *dim);
    return (tc_type *)(uintptr_t)ti_type_make(ctx, TC_f32, s->axes + 2, dim);
}

static void try_image(shape s)
{
    if (s.made[0] < 1 || s.made[1] < 1 || s.made[2] < 1)
        return;
    const tc_type *xt = image(&s, s.groups * s.in, s.size), *yt = image(&s, s.groups * s.out, s.made);
    int64_t by[5] = {s.groups * (s.transposed ? s.in : s.out), s.transposed ? s.out : s.in};
    memcpy(by + 2, s.kernel + 3 - s.axes, (size_t)s.axes * sizeof *by);
    tc_tensor x = numbers(xt->rank, xt->dim, true), w = numbers(xt->rank, by, false);
    tc_tensor bias = any(0, 2) ? numbers(1, (int64_t[]){yt->dim[1]}, false) : (tc_tensor){NULL, NULL};
    int64_t pads[6];
    for (int i = 0; i < s.axes; i++) {
        pads[2 * i] = s.before[3 - s.axes + i];
        pads[2 * i + 1] = s.after[3 - s.axes + i];
    }
    tc_attr_conv conv = {list(&s, s.stride), ti_ints_copy(&ctx->arena, pads, 2 * s.axes),
                         list(&s, s.dilation), s.groups};
    int64_t none[3] = {0};
    tc_attr_conv_transpose back = {list(&s, s.stride), list(&s, s.before), list(&s, none),
                                   list(&s, s.dilation), s.groups};
    tc_tensor plain = run_ok(ctx, s.transposed ? TC_OP_conv_transpose : TC_OP_conv,
                             s.transposed ? (void *)&back : (void *)&conv,
                             (tc_tensor[]){x, w, bias}, 3);
    CHECK(plain.type == yt);
    const tc_product *p = s.transposed
                              ? ti_product_deconv(ctx, &back, xt, yt, w, bias, NULL, 0)
                              : ti_product_conv(ctx, &conv, xt, yt, w, bias, NULL, 0);
    int64_t in_plane = s.size[0] * s.size[1] * s.size[2], plane = s.made[0] * s.made[1] * s.made[2];
    float *made = ti_arena_raw(&ctx->arena, tc_type_bytes(yt));
    memset(made, 0xff, tc_type_bytes(yt));
    CHECK(p != NULL);
    ti_product_run(p, turned(x.data, s.n, xt->dim[1], in_plane, false), NULL, NULL, made,
                   ti_arena_raw(&ctx->arena, ti_product_scratch(p) + 1));
    made = turned(made, s.n, yt->dim[1], plane, true);
    int64_t count = tc_type_count(yt);
    CHECK(same_bits(made, plain.data, count));
    CHECK(same_bits(made, by_rule(&s, x.data, w.data, bias.data), count));
}

/* y = a b + bias, batches repeated, operands turned, then what follows. */
static void try_matrix(void)
{
    static const int64_t few[] = {1, 2, 3, 5, 6, 7, 16, 17, 48, 49, 64, 65, 100, 130};
    int64_t batch = any(1, 3), m = few[any(0, 13)], n = few[any(0, 13)], k = any(1, 70);
    if (any(0, 3) == 0)
        k = any(250, 800);
    if (any(0, 19) == 0)
        n = any(300, 3000), k = any(300, 600), m = any(1, 3); /* b in parts */
    bool known = any(0, 1), single = any(0, 1), turn_a = any(0, 3) == 0, turn_b = any(0, 1),
         has_bias = any(0, 1), adds = any(0, 1);
    tc_tensor a = numbers(3, (int64_t[]){batch, turn_a ? k : m, turn_a ? m : k}, true);
    tc_tensor b = numbers(3, (int64_t[]){single ? 1 : batch, turn_b ? n : k, turn_b ? k : n}, false);
    tc_tensor bias = has_bias ? numbers(1, (int64_t[]){n}, false) : (tc_tensor){NULL, NULL};
    tc_tensor extra = numbers(3, (int64_t[]){batch, m, n}, false), y = numbers(3, extra.type->dim, false);
    tc_strided as = {3, {batch, m, k}, {m * k, turn_a ? 1 : k, turn_a ? m : 1}},
               bs = {3, {single ? 1 : batch, k, n}, {k * n, turn_b ? 1 : n, turn_b ? k : 1}},
               ys = {3, {batch, m, n}, {m * n, n, 1}};
    tc_then then[2] = {{.kind = TC_THEN_add}, {.kind = TC_THEN_relu}};
    const tc_product *p = ti_product_matmul(ctx, &as, &bs, &ys, known ? b.data : NULL, bias, then,
                                            adds ? 2 : 0);
    CHECK(p != NULL);
    ti_product_run(p, a.data, known ? NULL : b.data, adds ? extra.data : NULL, y.data,
                   ti_arena_raw(&ctx->arena, ti_product_scratch(p) + 1));
    float *right = ti_arena_raw(&ctx->arena, tc_type_bytes(y.type));
    for (int64_t i = 0; i < batch * m * n; i++) {
        int64_t e = i / n / m, r = i / n % m, c = i % n;
        total t = {.y = has_bias ? ((float *)bias.data)[c] : 0};
        for (int64_t q = 0; q < k; q++)
            term(&t, ((float *)a.data)[e * m * k + r * as.stride[1] + q * as.stride[2]],
                 ((float *)b.data)[(single ? 0 : e) * k * n + q * bs.stride[1] + c * bs.stride[2]]);
        float v = result(&t);
        if (adds) {
            v += ((float *)extra.data)[i];
            v = v < 0 ? 0 : v;
        }
        right[i] = v;
    }
    CHECK(same_bits(y.data, right, batch * m * n));
    if (turn_a || turn_b || has_bias || adds)
        return;
    tc_tensor plain = run_ok(ctx, TC_OP_matmul, NULL, (tc_tensor[]){a, b}, 2);
    CHECK(same_bits(y.data, plain.data, batch * m * n));
}

/* Each operation that can follow is the reference's. */
static void try_following(void)
{
    static const struct {
        tc_op op;
        tc_then then;
    } table[] = {
        {TC_OP_relu, {.kind = TC_THEN_relu}},
        {TC_OP_clamp, {TC_THEN_clip, -0.5f, 0.75f}},
        {TC_OP_hardswish, {.kind = TC_THEN_hardswish}},
        {TC_OP_sigmoid, {.kind = TC_THEN_sigmoid}},
        {TC_OP_silu, {.kind = TC_THEN_silu}},
        {TC_OP_tanh, {.kind = TC_THEN_tanh}},
        {TC_OP_gelu, {.kind = TC_THEN_gelu_erf}},
        {TC_OP_gelu, {.kind = TC_THEN_gelu_tanh}},
    };
    for (size_t i = 0; i < TC_COUNT(table); i++) {
        enum { M = 37, K = 9, N = 53 };
        tc_tensor a = numbers(2, (int64_t[]){M, K}, true), b = numbers(2, (int64_t[]){K, N}, false);
        tc_strided as = {2, {M, K}, {K, 1}}, bs = {2, {K, N}, {N, 1}}, ys = {2, {M, N}, {N, 1}};
        const tc_product *p = ti_product_matmul(ctx, &as, &bs, &ys, b.data, (tc_tensor){NULL, NULL},
                                                &table[i].then, 1);
        tc_tensor y = numbers(2, ys.dim, false);
        ti_product_run(p, a.data, NULL, NULL, y.data,
                       ti_arena_raw(&ctx->arena, ti_product_scratch(p) + 1));
        tc_attr_clamp clamp = {-0.5, 0.75};
        tc_attr_gelu gelu = {table[i].then.kind == TC_THEN_gelu_erf ? TC_gelu_form_erf
                                                                   : TC_gelu_form_tanh};
        tc_tensor plain = run_ok(ctx, TC_OP_matmul, NULL, (tc_tensor[]){a, b}, 2);
        plain = run_ok(ctx, table[i].op, table[i].op == TC_OP_clamp ? (void *)&clamp : (void *)&gelu,
                       &plain, 1);
        CHECK(same_bits(y.data, plain.data, M * N));
    }
}

/* Depthwise over two axes but for a border behind the first of three. */
static const shape behind = {3, 1, 32, 1, 1, {1, 2, 4}, {4, 4, 5}, {1, 2, 2}, {1, 1, 1}, {1, 3, 1},
                             {0, 2, 1}, {3, 3, 1}, false};

static void checks(void)
{
    any_seed = 1;
    for (int i = 0; i < 400; i++) {
        ctx = tc_ctx_new();
        try_image(invent());
        try_matrix();
        if (i == 0) {
            try_following();
            try_image(behind);
        }
        tc_ctx_free(ctx);
    }
}

int main(void)
{
    try_levels(checks);
    return check_done();
}
