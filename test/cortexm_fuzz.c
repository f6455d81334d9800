/* SPDX-License-Identifier: Apache-2.0 */
/* cortexm_fuzz.c -- the quick kernels on random shapes beside tosac_conv_any, and that on int16 beside its
 * definition, on whatever core this is compiled for; nothing outside the result and the columns is written.
 *
 *   -DSHAPES=500, with src/cortexm/kernels and a board of examples/cortex-m */
#include "board.h"
#include "tosac_kernels.h"

enum { MOST_IN = 6000, MOST_WEIGHTS = 9000, MOST_OUT = 6000, MOST_CHANNELS = 48, GUARD = 32 };

static int8_t x[MOST_IN], w[MOST_WEIGHTS];
static _Alignas(16) int8_t got[MOST_OUT + 2 * GUARD], want[MOST_OUT];
static int16_t a16[400], b16[1700];
static _Alignas(16) int8_t columns[8 * MOST_WEIGHTS + 2 * GUARD];
static int32_t bias[MOST_CHANNELS], whole[MOST_CHANNELS], multiplier[MOST_CHANNELS];
static int8_t shift[MOST_CHANNELS];
static uint8_t packed[MOST_WEIGHTS + MOST_CHANNELS], four[MOST_WEIGHTS];
static int8_t rows[MOST_WEIGHTS];
static uint32_t seed = 1;

static int32_t draw(int32_t lo, int32_t hi)
{
    seed = seed * 1664525u + 1013904223u;
    return lo + (int32_t)((seed >> 8) % (uint32_t)(hi - lo + 1));
}

static int32_t places(int32_t in, int32_t before, int32_t after, int32_t kernel, int32_t dilation,
                      int32_t stride)
{
    int32_t slack = in + before + after - ((kernel - 1) * dilation + 1);
    return slack < 0 ? 0 : slack / stride + 1;
}

/* Sums become some 8 bits, half of them past the range at most. */
static void draw_numbers(const tosac_window *p, int32_t taps, int32_t depthwise)
{
    int32_t size = 0;
    while (size < 12 && (1 << 2 * size) < taps)
        size++;
    for (int32_t c = 0; c < p->out_c; c++) {
        bias[c] = draw(-20000, 20000);
        multiplier[c] = draw(1 << 30, INT32_MAX - 1);
        shift[c] = (int8_t)(draw(0, 9) ? 37 + size + draw(0, 1) : draw(31, 34));
        int32_t sum = 0;
        for (int32_t k = 0; k < taps; k++)
            sum += w[depthwise ? k * p->out_c + c : c * taps + k];
        whole[c] = bias[c] - p->x_zero * sum;
    }
}

static int32_t is_guarded(const int8_t *room, int32_t bytes)
{
    int32_t good = 1;
    for (int32_t i = 0; i < GUARD; i++)
        good &= room[i] == 0x5a && room[GUARD + bytes + i] == 0x5a;
    return good;
}

/* The same window for tosac_conv_any, but for types. */
static tosac_conv window_of(const tosac_window *p, int32_t depthwise)
{
    return (tosac_conv){.batches = p->batches,
                        .in = {1, p->in_h, p->in_w},
                        .in_c = p->in_c,
                        .out = {1, p->out_h, p->out_w},
                        .out_c = p->out_c,
                        .kernel = {1, p->kernel_h, p->kernel_w},
                        .stride = {1, p->stride_h, p->stride_w},
                        .before = {0, p->top, p->left},
                        .dilation = {1, p->dilation_h, p->dilation_w},
                        .x_zero = p->x_zero,
                        .bias_step = 1,
                        .depthwise = (uint8_t)depthwise,
                        .q = p->q};
}

/* n weights as `bits` bits each, rows of so many from a byte on; in `four`, 4 bits. */
static void pack(int32_t n, int32_t row, int32_t bits)
{
    memset(packed, 0, sizeof packed);
    for (int32_t i = 0; i < n; i++) {
        const int32_t k = i % row, from = i / row * ((row * bits + 7) / 8) * 8;
        for (int32_t b = 0; b < bits; b++) {
            const int32_t at = from + k * bits + b;
            packed[at / 8] = (uint8_t)(packed[at / 8] | ((w[i] >> b & 1) << at % 8));
        }
    }
    if (bits == 4)
        memcpy(four, packed, sizeof four);
}

/* 1: equal, 0: not; -1: too large, or no place for a window. */
static int32_t try_shape(void)
{
    int32_t depthwise = draw(0, 1), one = draw(0, 2) == 0, widths = draw(0, 3);
    const int32_t bits = draw(0, 2) ? 8 : draw(2, 7); /* of a weight */
    const int32_t size = depthwise || bits < 8 || draw(0, 1) ? 1 : draw(0, 1) ? 2 : 4; /* of a result */
    const int32_t most = (1 << (bits - 1)) - 1, least = -most - draw(0, 1);
    tosac_window p = {.batches = draw(1, 2),
                      .in_h = draw(1, 9),
                      .in_w = draw(1, 12),
                      .in_c = widths ? draw(1, 40) : 16 * draw(1, 2),
                      .kernel_h = one ? 1 : draw(1, 5),
                      .kernel_w = one ? 1 : draw(1, 5),
                      .stride_h = draw(1, 3),
                      .stride_w = draw(1, 3),
                      .dilation_h = draw(1, 5) > 1 ? 1 : draw(1, 3),
                      .dilation_w = draw(1, 5) > 1 ? 1 : draw(1, 3),
                      .x_zero = draw(-128, 127)};
    p.top = draw(0, p.kernel_h - 1);
    p.left = draw(0, p.kernel_w - 1);
    p.out_c = p.pixel = depthwise ? p.in_c : draw(1, MOST_CHANNELS);
    p.out_h = places(p.in_h, p.top, draw(0, p.kernel_h - 1), p.kernel_h, p.dilation_h, p.stride_h);
    p.out_w = places(p.in_w, p.left, draw(0, p.kernel_w - 1), p.kernel_w, p.dilation_w, p.stride_w);
    int32_t taps = p.kernel_h * p.kernel_w * (depthwise ? 1 : p.in_c);
    int32_t n_in = p.batches * p.in_h * p.in_w * p.in_c;
    int32_t n_out = p.batches * p.out_h * p.out_w * p.out_c;
    if (n_in > MOST_IN || n_out * size > MOST_OUT || taps * p.out_c > MOST_WEIGHTS || n_out == 0)
        return -1;
    for (int32_t i = 0; i < n_in; i++)
        x[i] = (int8_t)draw(-128, 127);
    for (int32_t i = 0; i < taps * p.out_c; i++)
        w[i] = (int8_t)draw(least, most);
    if (bits < 8)
        pack(taps * p.out_c, depthwise ? taps * p.out_c : taps, bits);
    draw_numbers(&p, taps, depthwise);
    p.q = (tosac_requant){.multiplier = multiplier,
                          .shift = shift,
                          .step = draw(0, 3) > 0,
                          .rounding = draw(0, 2) ? TOSAC_DOUBLE : TOSAC_SINGLE,
                          .zero = draw(-128, 127),
                          .lo = draw(0, 1) ? -128 : draw(-128, 0),
                          .hi = draw(0, 1) ? 127 : draw(1, 127)};
    if (size == 2) {
        p.q.zero = 0;
        p.q.lo *= 256;
        p.q.hi = draw(0, 1) ? 32767 : p.q.hi * 128;
        for (int32_t c = 0; c < p.out_c; c++)
            shift[c] = (int8_t)(shift[c] - draw(0, 7));
    } else if (size == 4) {
        p.q = (tosac_requant){.rounding = TOSAC_SINGLE};
    }
    tosac_conv any = window_of(&p, depthwise);
    any.x = TOSAC_I8;
    any.result = size == 1 ? TOSAC_I8 : size == 2 ? TOSAC_I16 : TOSAC_I32;
    any.w = bits == 4 ? TOSAC_I4 : TOSAC_I8;
    any.bias = TOSAC_I32;
    if (bits == 4)
        tosac_conv_any(&any, x, four, bias, want);
    else
        tosac_conv_any(&any, x, w, bias, want);
    memset(got, 0x5a, sizeof got);
    memset(columns, 0x5a, sizeof columns);
    int32_t room = TOSAC_COLUMNS(TOSAC_ISA) * taps;
    const tosac_packed few = {packed, bits, draw(1, 9)};
    if (depthwise && bits < 8) {
        tosac_depthwise_packed(&p, x, &few, whole, got + GUARD, rows);
    } else if (depthwise) {
        tosac_depthwise_s8(&p, x, w, whole, got + GUARD);
    } else {
        int32_t pixels = p.kernel_h == 1 && p.kernel_w == 1 && p.stride_w == 1 &&
                         p.out_w == p.in_w && p.out_h == (p.in_h - 1) / p.stride_h + 1;
        int8_t *room_of = pixels ? NULL : columns + GUARD;
        if (bits < 8)
            tosac_conv2d_packed(&p, x, &few, whole, got + GUARD, room_of, rows);
        else if (size == 2)
            tosac_conv2d_s8_s16(&p, x, w, whole, (int16_t *)(void *)(got + GUARD), room_of);
        else if (size == 4)
            tosac_conv2d_s8_s32(&p, x, w, whole, (int32_t *)(void *)(got + GUARD), room_of);
        else
            tosac_conv2d_s8(&p, x, w, whole, got + GUARD, room_of);
    }
    return memcmp(got + GUARD, want, (size_t)(n_out * size)) == 0 && is_guarded(got, n_out * size) &&
           is_guarded(columns, room);
}

/* A product of any types, beside its definition. */
static int32_t try_product(void)
{
    tosac_matmul p = {.n = draw(1, 2),
                      .h = draw(1, 9),
                      .c = draw(1, 40),
                      .w = draw(1, 40),
                      .a_zero = draw(-128, 127),
                      .b_zero = draw(-128, 127),
                      .type = TOSAC_I8,
                      .result = draw(0, 3) ? TOSAC_I8 : TOSAC_I32};
    const int32_t n_out = p.n * p.h * p.w, bytes = p.result == TOSAC_I8 ? n_out : 4 * n_out;
    if (bytes > MOST_OUT)
        return -1;
    for (int32_t i = 0; i < p.n * p.h * p.c; i++)
        x[i] = (int8_t)draw(-128, 127);
    for (int32_t i = 0; i < p.n * p.c * p.w; i++)
        w[i] = (int8_t)draw(-128, 127);
    multiplier[0] = draw(1 << 30, INT32_MAX - 1);
    shift[0] = (int8_t)draw(37, 42);
    if (p.result == TOSAC_I8)
        p.q = (tosac_requant){.multiplier = multiplier,
                              .shift = shift,
                              .rounding = draw(0, 1) ? TOSAC_DOUBLE : TOSAC_SINGLE,
                              .zero = draw(-128, 127),
                              .lo = -128,
                              .hi = 127};
    for (int32_t r = 0; r < p.n * p.h; r++)
        for (int32_t i = 0; i < p.w; i++) {
            int32_t sum = 0;
            for (int32_t k = 0; k < p.c; k++)
                sum += (x[r * p.c + k] - p.a_zero) *
                       (w[(r / p.h * p.c + k) * p.w + i] - p.b_zero);
            tosac_store_sum(&p.q, want, p.result, r * p.w + i, i, sum);
        }
    memset(got, 0x5a, sizeof got);
    tosac_matmul_any(&p, x, w, got + GUARD);
    return memcmp(got + GUARD, want, (size_t)bytes) == 0 && is_guarded(got, bytes);
}

/* A product of int16, beside its definition. */
static int32_t try_product16(void)
{
    tosac_matmul p = {.n = 1,
                      .h = draw(1, 9),
                      .c = draw(1, 40),
                      .w = draw(1, 40),
                      .type = TOSAC_I16,
                      .result = TOSAC_I48,
                      .q = {.rounding = TOSAC_WIDE}};
    int32_t good = 1;
    if (8 * p.h * p.w > MOST_OUT)
        return -1;
    for (int32_t i = 0; i < p.h * p.c; i++)
        a16[i] = (int16_t)(draw(0, 3) ? draw(-32768, 32767) : -32768);
    for (int32_t i = 0; i < p.c * p.w; i++)
        b16[i] = (int16_t)(draw(0, 3) ? draw(-32768, 32767) : -32768);
    memset(got, 0x5a, sizeof got);
    tosac_matmul_any(&p, a16, b16, got + GUARD);
    for (int32_t r = 0; r < p.h; r++)
        for (int32_t i = 0; i < p.w; i++) {
            int64_t sum = 0, made;
            for (int32_t k = 0; k < p.c; k++)
                sum += (int64_t)a16[r * p.c + k] * b16[k * p.w + i];
            memcpy(&made, got + GUARD + 8 * (r * p.w + i), sizeof made);
            good &= made == sum;
        }
    return good && is_guarded(got, 8 * p.h * p.w);
}

/* A convolution of int16 beside its definition. */
static int32_t try_wide(void)
{
    static int16_t x16[MOST_IN];
    static int64_t bias64[MOST_CHANNELS];
    const int32_t depthwise = draw(0, 1), each = depthwise ? draw(1, 2) : 1;
    tosac_conv p = {.batches = 1,
                    .in = {1, draw(1, 5), draw(1, 7)},
                    .in_c = draw(1, 20),
                    .kernel = {1, draw(1, 3), draw(1, 3)},
                    .stride = {1, draw(1, 2), draw(1, 2)},
                    .dilation = {1, 1, draw(1, 2)},
                    .bias_step = 1,
                    .depthwise = (uint8_t)depthwise,
                    .x = TOSAC_I16,
                    .w = TOSAC_I8,
                    .bias = TOSAC_I48,
                    .result = TOSAC_I48,
                    .q = {.rounding = TOSAC_WIDE}};
    p.before[1] = draw(0, p.kernel[1] - 1);
    p.before[2] = draw(0, p.kernel[2] - 1);
    p.out_c = depthwise ? p.in_c * each : draw(1, 9);
    p.out[0] = 1;
    for (int32_t i = 1; i < 3; i++)
        p.out[i] = places(p.in[i], p.before[i], 0, p.kernel[i], p.dilation[i], p.stride[i]);
    const int32_t n_out = p.out[1] * p.out[2] * p.out_c, deep = depthwise ? 1 : p.in_c;
    if (n_out == 0 || 8 * n_out > MOST_OUT)
        return -1;
    for (int32_t i = 0; i < p.in[1] * p.in[2] * p.in_c; i++)
        x16[i] = (int16_t)draw(-32768, 32767);
    for (int32_t i = 0; i < p.kernel[1] * p.kernel[2] * deep * p.out_c; i++)
        w[i] = (int8_t)draw(-128, 127);
    for (int32_t c = 0; c < p.out_c; c++)
        bias64[c] = (int64_t)draw(-20000, 20000) * 100000;
    int64_t good = 1;
    memset(got, 0x5a, sizeof got);
    tosac_conv_any(&p, x16, w, bias64, got + GUARD);
    for (int32_t at = 0; at < n_out; at++) {
        const int32_t oc = at % p.out_c, ox = at / p.out_c % p.out[2], oy = at / p.out_c / p.out[2];
        int64_t sum = bias64[oc], made;
        for (int32_t kh = 0; kh < p.kernel[1]; kh++)
            for (int32_t kw = 0; kw < p.kernel[2]; kw++) {
                const int32_t y = oy * p.stride[1] - p.before[1] + kh * p.dilation[1];
                const int32_t c = ox * p.stride[2] - p.before[2] + kw * p.dilation[2];
                const int32_t k = kh * p.kernel[2] + kw;
                for (int32_t i = 0; i < deep && y >= 0 && y < p.in[1] && c >= 0 && c < p.in[2]; i++)
                    sum += x16[(y * p.in[2] + c) * p.in_c + (depthwise ? oc / each : i)] *
                           w[depthwise ? k * p.out_c + oc
                                       : (oc * p.kernel[1] * p.kernel[2] + k) * p.in_c + i];
            }
        memcpy(&made, got + GUARD + 8 * at, sizeof made);
        good &= made == sum;
    }
    return good && is_guarded(got, 8 * n_out);
}

/* The quick kernels of int16 beside tosac_conv_any. */
static int32_t try_quick16(void)
{
    static int16_t x16[MOST_IN], want16[MOST_OUT];
    static int64_t bias64[MOST_CHANNELS];
    static int32_t wide[MOST_CHANNELS];
    static int8_t wide_shift[MOST_CHANNELS];
    const int32_t depthwise = draw(0, 1), one = draw(0, 2) == 0, far = !depthwise && draw(0, 1);
    tosac_window p = {.batches = draw(1, 2),
                      .in_h = draw(1, 8),
                      .in_w = draw(1, 9),
                      .in_c = draw(0, 2) ? draw(1, 40) : 8 * draw(1, 3),
                      .kernel_h = one ? 1 : draw(1, 5),
                      .kernel_w = one ? 1 : draw(1, 5),
                      .stride_h = draw(1, 3),
                      .stride_w = draw(1, 3),
                      .dilation_h = draw(1, 5) > 1 ? 1 : draw(1, 3),
                      .dilation_w = draw(1, 5) > 1 ? 1 : draw(1, 3)};
    p.top = draw(0, p.kernel_h - 1);
    p.left = draw(0, p.kernel_w - 1);
    p.out_c = p.pixel = depthwise ? p.in_c : draw(1, MOST_CHANNELS);
    p.out_h = places(p.in_h, p.top, draw(0, p.kernel_h - 1), p.kernel_h, p.dilation_h, p.stride_h);
    p.out_w = places(p.in_w, p.left, draw(0, p.kernel_w - 1), p.kernel_w, p.dilation_w, p.stride_w);
    const int32_t taps = p.kernel_h * p.kernel_w * (depthwise ? 1 : p.in_c);
    const int32_t n_in = p.batches * p.in_h * p.in_w * p.in_c;
    const int32_t n_out = p.batches * p.out_h * p.out_w * p.out_c;
    if (n_in > MOST_IN || 2 * n_out > MOST_OUT || taps * p.out_c > MOST_WEIGHTS || n_out == 0)
        return -1;
    const int32_t most = tosac_min(127, 60000 / taps); /* sums below 2^31 */
    for (int32_t i = 0; i < n_in; i++)
        x16[i] = (int16_t)(draw(0, 3) ? draw(-32768, 32767) : -32768);
    for (int32_t i = 0; i < taps * p.out_c; i++)
        w[i] = (int8_t)(draw(0, 3) ? draw(-most, most) : most);
    for (int32_t c = 0; c < p.out_c; c++) {
        bias64[c] = bias[c] = draw(-50000000, 50000000);
        wide[c] = draw(1 << 14, 32767);
        wide_shift[c] = (int8_t)draw(17, 34);
        if (far) {
            bias64[c] *= draw(1, 2000);
            wide_shift[c] = (int8_t)draw(28, 45);
        }
        multiplier[c] = (int32_t)((uint32_t)wide[c] << 16);
        shift[c] = (int8_t)(wide_shift[c] + 16);
    }
    p.q = (tosac_requant){.multiplier = multiplier,
                          .shift = shift,
                          .step = draw(0, 3) > 0,
                          .rounding = TOSAC_SINGLE,
                          .lo = draw(0, 1) ? -32768 : draw(-32768, 0),
                          .hi = draw(0, 1) ? 32767 : draw(1, 32767)};
    tosac_conv any = window_of(&p, depthwise);
    any.x = any.result = TOSAC_I16;
    any.w = TOSAC_I8;
    any.bias = TOSAC_I48;
    any.q.multiplier = wide;
    any.q.shift = wide_shift;
    any.q.rounding = TOSAC_WIDE;
    tosac_conv_any(&any, x16, w, bias64, want16);
    if (far) {
        p.q.multiplier = wide;
        p.q.shift = wide_shift;
        p.q.rounding = TOSAC_WIDE;
    }
    memset(got, 0x5a, sizeof got);
    memset(columns, 0x5a, sizeof columns);
    int16_t *to = (int16_t *)(void *)(got + GUARD), *room = (int16_t *)(void *)(columns + GUARD);
    const int32_t pixels = p.kernel_h == 1 && p.kernel_w == 1 && p.stride_w == 1 &&
                           p.out_w == p.in_w && p.out_h == (p.in_h - 1) / p.stride_h + 1;
    if (depthwise)
        tosac_depthwise_s16(&p, x16, w, bias, to);
    else if (far)
        tosac_conv2d_s16_wide(&p, x16, w, bias64, to, pixels ? NULL : room);
    else
        tosac_conv2d_s16(&p, x16, w, bias, to, pixels ? NULL : room);
    return memcmp(to, want16, 2 * (size_t)n_out) == 0 && is_guarded(got, 2 * n_out) &&
           is_guarded(columns, 2 * TOSAC_COLUMNS(TOSAC_ISA) * taps);
}

/* Sums of rows, columns or planes of 8 or 16 bits beside a depthwise convolution with ones. */
static int32_t try_sums(void)
{
    static int16_t x16[MOST_IN];
    static int32_t want32[MOST_OUT / 4];
    const int32_t axes = draw(1, 3), wide = draw(0, 1), to16 = draw(0, 1), zero = wide ? 0 : draw(-128, 127);
    const int32_t h = draw(1, 12), v = draw(1, 12), c = draw(1, MOST_CHANNELS), b = draw(1, 2);
    const int32_t kh = axes & 1 ? h : 1, kw = axes & 2 ? v : 1, n = kh * kw;
    tosac_added p = {.outer = axes == 2 ? b * h : b,
                    .n = n,
                    .inner = axes == 1 ? v * c : c,
                    .type = wide ? TOSAC_I16 : TOSAC_I8,
                    .result = to16 ? TOSAC_I16 : TOSAC_I8};
    if (b * h * v * c > MOST_IN || 2 * p.outer * p.inner > MOST_OUT / 2 || n > MOST_WEIGHTS / c)
        return -1;
    for (int32_t i = 0; i < b * h * v * c; i++) {
        x[i] = (int8_t)draw(-128, 127);
        x16[i] = (int16_t)draw(-32768, 32767);
    }
    for (int32_t i = 0; i < n * c; i++)
        w[i] = 1;
    bias[0] = draw(-3000, 3000);
    static int64_t bias64;
    bias64 = bias[0];
    static int32_t factor;
    static int8_t places;
    factor = wide ? draw(1 << 14, 32767) : draw(1 << 30, INT32_MAX);
    places = (int8_t)(wide ? draw(17, 34) : draw(28, 44));
    const int32_t lo = to16 ? -32768 : -128, hi = to16 ? 32767 : 127;
    const tosac_requant q = {.multiplier = &factor, .shift = &places, .zero = draw(-9, 9), .lo = lo, .hi = hi,
                             .rounding = wide ? TOSAC_WIDE : draw(0, 1) ? TOSAC_DOUBLE : TOSAC_SINGLE};
    const tosac_conv any = {.batches = b, .in = {1, h, v}, .in_c = c, .out = {1, axes & 1 ? 1 : h, axes & 2 ? 1 : v}, .out_c = c,
                            .kernel = {1, kh, kw}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}, .depthwise = 1,
                            .x_zero = zero, .x = p.type, .w = TOSAC_I8, .bias = wide ? TOSAC_I48 : TOSAC_I32,
                            .result = p.result, .q = q};
    tosac_conv_any(&any, wide ? (const void *)x16 : x, w, wide ? (const void *)&bias64 : bias, want32);
    const int32_t wider = (int32_t)((uint32_t)factor << 16);
    const int8_t further = (int8_t)(places + 16);
    p.bias = bias[0] - zero * n;
    p.q = q;
    if (wide) {
        p.q.multiplier = &wider;
        p.q.shift = &further;
        p.q.rounding = TOSAC_SINGLE;
    }
    memset(got, 0x5a, sizeof got);
    tosac_sum(&p, wide ? (const void *)x16 : x, got + GUARD);
    const int32_t bytes = p.outer * p.inner * (to16 ? 2 : 1);
    return memcmp(got + GUARD, want32, (size_t)bytes) == 0 && is_guarded(got, bytes);
}

int main(void)
{
    uint32_t tried = 0, wrong = 0;
    while (tried < SHAPES) {
        uint32_t at = seed;
        int32_t kind = draw(0, 14);
        int32_t good = kind > 12  ? try_sums()
                       : kind > 9 ? try_quick16()
                       : kind > 3 ? try_shape()
                       : kind > 2 ? try_product16()
                       : kind > 1 ? try_product()
                                  : try_wide();
        tried += good >= 0;
        wrong += good == 0;
        if (good == 0 && wrong < 4)
            board_print_number("wrong: seed", at);
    }
    board_print_number("shapes", tried);
    board_print_number("wrong", wrong);
    return wrong != 0;
}
