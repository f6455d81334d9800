/* SPDX-License-Identifier: Apache-2.0 */
/* cortexm_scratch.c -- bytes that CMSIS-NN's kernels need while they run, by core; and which of them a
 * convolution goes to. */
#include "cortexm_call.h"

/* What the CMSIS-NN of ExecuTorch 1.4 goes by. */
enum {
    BLOCK_MVE = 124,      /* channels of a depthwise convolution at a time */
    ONE_CHANNEL_MOST = 1, /* more channels of a single one, and it is a convolution */
    COLUMNS_MVE = 4,
    COLUMNS = 2
};

static bool is_1x1(const tc_cm_window *w)
{
    return w->kh == 1 && w->kw == 1 && !w->pad[0] && !w->pad[1] && w->dilation[0] == 1 &&
           w->dilation[1] == 1;
}

static bool is_row(const tc_cm_window *w)
{
    return w->h == 1 && w->kh == 1 && w->dilation[1] == 1 && w->stride[1] * w->c % 4 == 0;
}

static int64_t columns(const tc_cm_window *w, tc_core core)
{
    int64_t length = w->kh * w->kw * w->c;
    return core == TC_CORE_MVE ? COLUMNS_MVE * ti_round_up(length, 16)
                               : COLUMNS * ti_round_up(length, 4) * (int64_t)sizeof(int16_t);
}

/* Columns of padding that a row needs beyond its own. */
static int64_t row_padding(const tc_cm_window *w)
{
    return (w->ow - 1) * w->stride[1] + w->kw - w->w;
}

/* Windows that touch a padding of so many columns. */
static int64_t touched(int64_t pad, int64_t stride)
{
    return pad ? ti_max_i64(1, (pad + stride - 1) / stride) : 0;
}

static int64_t row_scratch(const tc_cm_window *w)
{
    int64_t odd = row_padding(w) % 2, pad = w->pad[1];
    int64_t right = touched(pad + odd, w->stride[1]), left = touched(pad, w->stride[1]);
    int64_t whole = ti_max_i64(w->ow - right - left, 0);
    if (right + whole + left != w->ow)
        return columns(w, TC_CORE_MVE);
    int64_t before = pad * w->c, after = odd ? right * w->c : before;
    return ti_max_i64(w->kw * w->c + before, (w->kw - 1) * w->c + after);
}

size_t ti_cm_scratch_conv(const tc_cm_window *w, tc_core core)
{
    if (is_1x1(w))
        return 0;
    return (size_t)(core == TC_CORE_MVE && is_row(w) ? row_scratch(w) : columns(w, core));
}

size_t ti_cm_scratch_depthwise(const tc_cm_window *w, tc_core core)
{
    bool plain = w->c == w->oc && w->n == 1 && w->dilation[0] == 1 && w->dilation[1] == 1;
    bool small = w->kh == 3 && w->kw == 3 && w->pad[0] <= 1 && w->pad[1] <= 1;
    int64_t size = 0;
    if (plain && core == TC_CORE_MVE)
        size = 4 * BLOCK_MVE * w->kh * w->kw;
    else if (plain && core == TC_CORE_DSP && !small)
        size = w->c * w->kh * w->kw * (int64_t)sizeof(int16_t);
    if (core == TC_CORE_MVE && w->c == 1 && w->oc > ONE_CHANNEL_MOST)
        size = ti_max_i64(size, (int64_t)ti_cm_scratch_conv(w, core) + w->oc * w->kh * w->kw);
    return (size_t)size;
}

size_t ti_cm_scratch_avg_pool(int64_t channels, tc_core core)
{
    return core == TC_CORE_DSP ? (size_t)channels * sizeof(int32_t) : 0;
}

size_t ti_cm_scratch_matmul(int64_t n, tc_core core)
{
    return core == TC_CORE_MVE ? (size_t)n * sizeof(int32_t) : 0;
}

bool ti_cm_needs_bias(int64_t channels, tc_core core)
{
    return core == TC_CORE_MVE && channels > BLOCK_MVE;
}

bool ti_cm_conv_safe(const tc_cm_window *w, tc_core core)
{
    if (core != TC_CORE_MVE || is_1x1(w) || !is_row(w))
        return true;
    int64_t total = row_padding(w), pad = w->pad[1];
    return (total == 2 * pad || total == 2 * pad + 1) &&
           (w->stride[1] == 1 || total - pad <= 1);
}
