/* SPDX-License-Identifier: Apache-2.0 */
/* cortexm_scratch.c -- bytes for ExecuTorch's kernels on a Cortex-M beside what its own tool says
 * (executorch 1.4.1, backends/cortex_m/library, CMSIS-NN dbf45dbf), and which convolutions of one row are
 * safe on MVE. */
#include "target/cortexm_call.h"

#include "check.h"

typedef struct row {
    int64_t n, h, w, c, oc, kh, kw, stride[2], pad[2], dilation[2];
    size_t bytes[3]; /* C, DSP, MVE */
} row;

static const row convs[] = {
    {1, 49, 10, 1, 64, 10, 4, {2, 2}, {4, 1}, {1, 1}, {160, 160, 192}},
    {1, 32, 32, 3, 16, 3, 3, {1, 1}, {1, 1}, {1, 1}, {112, 112, 128}},
    {1, 1, 18, 4, 8, 1, 7, {1, 2}, {0, 0}, {1, 1}, {112, 112, 28}},
    {1, 1, 64, 16, 8, 1, 3, {1, 1}, {0, 1}, {1, 1}, {192, 192, 64}},
    {1, 1, 20, 4, 8, 1, 5, {1, 1}, {0, 2}, {1, 1}, {80, 80, 28}},
    {1, 8, 8, 16, 32, 1, 1, {1, 1}, {0, 0}, {1, 1}, {0, 0, 0}},
    {1, 8, 8, 16, 32, 1, 1, {2, 2}, {0, 0}, {1, 1}, {0, 0, 0}},
    {2, 9, 9, 5, 7, 3, 3, {1, 1}, {2, 2}, {2, 2}, {192, 192, 192}},
};

static const row depthwise[] = {
    {1, 25, 5, 64, 64, 3, 3, {1, 1}, {1, 1}, {1, 1}, {0, 0, 4464}},
    {1, 12, 12, 88, 88, 5, 5, {2, 2}, {2, 2}, {1, 1}, {0, 4400, 12400}},
    {1, 12, 12, 1, 16, 3, 3, {1, 1}, {1, 1}, {1, 1}, {0, 0, 208}},
    {1, 12, 12, 1, 8, 3, 3, {1, 1}, {1, 1}, {1, 1}, {0, 0, 136}},
    {1, 12, 12, 4, 8, 3, 3, {1, 1}, {1, 1}, {1, 1}, {0, 0, 0}},
    {1, 12, 12, 16, 16, 3, 3, {1, 1}, {2, 2}, {1, 1}, {0, 288, 4464}},
    {1, 12, 12, 16, 16, 3, 3, {1, 1}, {2, 2}, {2, 2}, {0, 0, 0}},
};

static int64_t windows(int64_t in, int64_t kernel, int64_t stride, int64_t pad, int64_t dilation)
{
    return (in + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
}

static tc_cm_window window_of(const row *r)
{
    return (tc_cm_window){.n = r->n,
                          .h = r->h,
                          .w = r->w,
                          .c = r->c,
                          .oh = windows(r->h, r->kh, r->stride[0], r->pad[0], r->dilation[0]),
                          .ow = windows(r->w, r->kw, r->stride[1], r->pad[1], r->dilation[1]),
                          .oc = r->oc,
                          .kh = r->kh,
                          .kw = r->kw,
                          .stride = {r->stride[0], r->stride[1]},
                          .pad = {r->pad[0], r->pad[1]},
                          .dilation = {r->dilation[0], r->dilation[1]}};
}

static void sizes(void)
{
    for (int core = TC_CORE_C; core <= TC_CORE_MVE; core++) {
        for (size_t i = 0; i < TC_COUNT(convs); i++) {
            tc_cm_window w = window_of(&convs[i]);
            CHECK(ti_cm_scratch_conv(&w, (tc_core)core) == convs[i].bytes[core]);
        }
        for (size_t i = 0; i < TC_COUNT(depthwise); i++) {
            tc_cm_window w = window_of(&depthwise[i]);
            CHECK(ti_cm_scratch_depthwise(&w, (tc_core)core) == depthwise[i].bytes[core]);
        }
    }
    CHECK(ti_cm_scratch_avg_pool(24, TC_CORE_C) == 0);
    CHECK(ti_cm_scratch_avg_pool(24, TC_CORE_DSP) == 96);
    CHECK(ti_cm_scratch_avg_pool(24, TC_CORE_MVE) == 0);
    CHECK(ti_cm_scratch_matmul(10, TC_CORE_DSP) == 0);
    CHECK(ti_cm_scratch_matmul(10, TC_CORE_MVE) == 40);
}

/* Row 2 gives wrong numbers there, rows 3 and 4 right ones. */
static void rows(void)
{
    for (size_t i = 0; i < TC_COUNT(convs); i++) {
        tc_cm_window w = window_of(&convs[i]);
        CHECK(ti_cm_conv_safe(&w, TC_CORE_DSP));
        CHECK(ti_cm_conv_safe(&w, TC_CORE_MVE) == (i != 2));
    }
}

/* Channels of one block need none. */
static void biases(void)
{
    CHECK(!ti_cm_needs_bias(124, TC_CORE_MVE) && ti_cm_needs_bias(125, TC_CORE_MVE));
    CHECK(!ti_cm_needs_bias(125, TC_CORE_DSP) && !ti_cm_needs_bias(125, TC_CORE_C));
}

/* Halves away from zero; so are TOSA's round zero, and round another zero point those of one side. */
static void means(void)
{
    CHECK(ti_cm_mean(3, 2) == 2 && ti_cm_mean(-3, 2) == -2 && ti_cm_mean(4, 9) == 0);
    CHECK(ti_cm_same_mean(49, 0, 0) && ti_cm_same_mean(64, 0, 0) && ti_cm_same_mean(6, 0, 0));
    CHECK(ti_cm_same_mean(49, -128, -128) && !ti_cm_same_mean(6, -128, -128));
}

int main(void)
{
    sizes();
    rows();
    biases();
    means();
    return check_done();
}
