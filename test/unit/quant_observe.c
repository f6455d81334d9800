/* SPDX-License-Identifier: Apache-2.0 */
/* quant_observe.c -- observers with known numbers: ends, bins, searches, odd samples; torchao's as
 * recorded. */
#include "check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "ir/graph.h"
#include "num/snap.h"
#include "quant/observations.h"
#include "quant/torchao.h"

static const tc_setting int8 = {.dtype = TC_i8, .qmin = -128, .qmax = 127, .floor = 0x1p-24},
                        free8 = {.dtype = TC_i8, .qmin = -128, .qmax = 127};
static const tc_setting even8 = {.dtype = TC_i8, .qmin = -127, .qmax = 127, .symmetric = true};
static const tc_setting int16 = {
    .dtype = TC_i16, .qmin = -32767, .qmax = 32767, .symmetric = true, .floor = 0x1p-32};

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fabs(b);
}

/* ---- ends ---- */

static void test_ends(void)
{
    float x[131];
    for (int i = 0; i < 131; i++)
        x[i] = (float)((i * 37) % 131) - 60;
    tc_ends e = ti_ends_none();
    ti_ends_see(&e, x, 131);
    CHECK(e.lo == -60 && e.hi == 70);
    x[5] = NAN;
    x[70] = INFINITY;
    x[130] = -INFINITY;
    e = ti_ends_none();
    ti_ends_see(&e, x, 131);
    CHECK(e.lo >= -60 && e.lo <= -58 && e.hi <= 70 && e.hi >= 68);
    e = ti_ends_none();
    ti_ends_see(&e, x + 70, 1);
    CHECK(e.lo > e.hi); /* nothing finite was seen */
}

/* ---- bins ---- */

static void test_bins(void)
{
    static tc_tally tally;
    static uint64_t count[TC_BINS];
    float x[] = {0, 0.5f, 1, 2047.5f, 4095.9f, 4096, -5, 5000, NAN};
    tc_arena arena;
    ti_arena_init(&arena);
    ti_count(&tally, &arena, x, (int64_t)TC_COUNT(x), (tc_ends){0, 4096});
    ti_tally_add(&tally, (tc_ends){0, 4096}, count);
    CHECK(count[0] == 4 && count[1] == 1 && count[2047] == 1 &&
          count[4095] == 3); /* NaN counts as the least */
    static uint64_t many[TC_BINS];
    enum { N = 1 << 16 };
    float *y = calloc(N, sizeof *y);
    for (int i = 0; i < N; i++)
        y[i] = (float)(i % 4096);
    tally = (tc_tally){0};
    ti_count(&tally, &arena, y, N, (tc_ends){0, 4096});
    ti_tally_add(&tally, (tc_ends){0, 4096}, many);
    uint64_t all = 0;
    for (int i = 0; i < TC_BINS; i++)
        all += many[i];
    CHECK(all > N / 5 && all < N / 3);                 /* about a quarter */
    CHECK(many[0] == many[1] && many[62] == many[63]); /* in blocks of 64 neighbours */
    /* A few at a time, past what is kept one by one and what 16 bits hold: nothing is lost. */
    static uint64_t little[TC_BINS];
    tally = (tc_tally){0};
    for (int i = 0; i < 9000; i++)
        ti_count(&tally, &arena, y + i % 100, 10, (tc_ends){0, 4096});
    ti_tally_add(&tally, (tc_ends){0, 4096}, little);
    CHECK(tally.count && tally.whole && !tally.n_few);
    CHECK(little[0] == 90 && little[9] == 900 && little[99] == 900 && little[108] == 90);
    ti_arena_free(&arena);
    free(y);
}

/* ---- grids ---- */

static void test_grids(void)
{
    tc_grid g = ti_grid_of(&int8, -1, 1.55);
    CHECK(near(g.scale, 0.01) && g.zero == -28);
    g = ti_grid_of(&int8, 2, 5.1); /* 0 belongs to every range */
    CHECK(near(g.scale, 0.02) && g.zero == -128);
    g = ti_grid_of(&even8, -2.54, 1);
    CHECK(near(g.scale, 0.02) && g.zero == 0);
    g = ti_grid_of(&int8, 0, 0);
    CHECK(g.scale == 0x1p-24 && g.zero == -128);
    g = ti_grid_of(&free8, 0, 0); /* nothing but 0 was seen */
    CHECK(g.scale == 0x1p-24 && g.zero == -128);
    g = ti_grid_of(&free8, -1e-20, 1e-20);
    CHECK(near(g.scale, 2e-20 / 255));
    g = ti_grid_of(&free8, -1e-30, 1e-30);
    CHECK(g.scale == TC_LEAST_SCALE);
    g = ti_grid_of(&int8, -1e-30, 1e-30);
    CHECK(g.scale == 0x1p-24 && g.zero >= -128 && g.zero <= 127);
    g = ti_grid_of(&int8, -1e30, 1e30);
    CHECK(near(g.scale, 2e30 / 255) && isfinite(g.scale) && g.zero >= -1 && g.zero <= 0);
    g = ti_grid_of(&int8, -(double)FLT_MAX, (double)FLT_MAX);
    CHECK(isfinite(g.scale) && g.scale > 0);
    g = ti_grid_of(&int16, -0.001, 0.002); /* finer than 2^-12 */
    CHECK(near(g.scale, 0.002 / 32767) && g.zero == 0);
}

/* ---- the search, beside one that looks at every bin ---- */

static double silu(double x)
{
    return x / (1 + exp(-x));
}

static double plain_error(double lo, double hi, tc_ends e, const uint64_t *count, bool after)
{
    double s = (hi - lo) / 255, z = rint(-lo / s), width = ((double)e.hi - (double)e.lo) / TC_BINS,
           sum = 0;
    for (int i = 0; i < TC_BINS; i++) {
        double x = (double)e.lo + (i + 0.5) * width, q = rint(x / s) + z;
        double y = s * ((q < 0 ? 0 : q > 255 ? 255 : q) - z), d = after ? silu(x) - silu(y) : x - y;
        sum += (double)count[i] * d * d;
    }
    return sum;
}

static tc_grid plain_search(tc_ends e, const uint64_t *count, bool after)
{
    double best = INFINITY, lo = 0, hi = 0, factor[35];
    for (int i = 0; i < 35; i++)
        factor[i] = i < 9 ? 0.05 * (i + 1) : 0.5 + 0.02 * (i - 9);
    for (int i = 0; i < 35; i++)
        for (int j = 0; j < 35; j++) {
            double a = factor[i] * (double)e.lo, b = factor[j] * (double)e.hi;
            double error = plain_error(a, b, e, count, after);
            if (error < best) {
                best = error;
                lo = a;
                hi = b;
            }
        }
    return ti_grid_of(&int8, lo, hi);
}

static void test_search(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_node node = {.op = TC_OP_silu};
    static uint64_t count[TC_BINS];
    tc_ends e = {-6, 9};
    for (int i = 0; i < TC_BINS; i++) { /* a bell with two thin tails */
        double x = -6 + 15 * (i + 0.5) / TC_BINS;
        count[i] = (uint64_t)(1e6 * exp(-x * x)) + (i % 512 == 0);
    }
    for (int after = 0; after < 2; after++) {
        tc_grid g = ti_search(&ctx->scratch, &int8, e, count, after ? &node : NULL),
                p = plain_search(e, count, after);
        CHECK(near(g.scale, p.scale) && g.zero == p.zero);
        CHECK(g.scale < 15.0 / 255); /* tails are cut */
    }
    tc_grid g = ti_search(&ctx->scratch, &even8, e, count, NULL);
    CHECK(g.zero == 0 && g.scale < 9.0 / 127 && g.scale > 0.3 / 127);
    node.op = TC_OP_softmax; /* keeps what its shares are of, and cuts below */
    g = ti_search(&ctx->scratch, &int8, e, count, &node);
    CHECK(g.scale * (double)(127 - g.zero) > TC_TOP_MARGIN * 9 - g.scale);
    CHECK(g.scale * (double)(-128 - g.zero) > -5);
    g = ti_search(&ctx->scratch, &even8, e, count, &node);
    CHECK(near(g.scale, TC_TOP_MARGIN * 9 / 127));
    memset(count, 0, sizeof count);
    count[0] = 7; /* everything is 0 */
    g = ti_search(&ctx->scratch, &int8, (tc_ends){0, 0}, count, NULL);
    CHECK(g.scale == 0x1p-24);
    CHECK(isfinite(ti_search(&ctx->scratch, &int8, (tc_ends){-1e30f, 1e30f}, count, NULL).scale));
    tc_ctx_free(ctx);
}

static void test_percentile(void)
{
    static uint64_t count[TC_BINS];
    for (int i = 0; i < TC_BINS; i++)
        count[i] = 1000;
    tc_grid g =
        ti_percentile(&int8, (tc_ends){-1, 3}, count, 99); /* even: 1 % of the range at each end */
    CHECK(near(g.scale, (4 - 0.08) / 255));
    CHECK(g.zero == -128 - (int64_t)rint(-0.96 / g.scale));
    count[TC_BINS - 1] = 0; /* an end without numbers is left out whatever the share */
    g = ti_percentile(&int8, (tc_ends){-1, 3}, count, 100);
    CHECK(near(g.scale, (4 - 4.0 / TC_BINS) / 255));
}

/* ---- odd samples, moving average ---- */

enum { SAMPLES = 40, DOMAINS = 8 };

/* Ends of -1 .. 1, but for one sample that is five times as large in `far` domains. */
static tc_ranges some_ranges(tc_ctx *ctx, int far, bool drop, int first)
{
    bool watched[DOMAINS];
    tc_first rows = {.n_sample = SAMPLES,
                     .n_domain = DOMAINS,
                     .sample = tc_new_n(&ctx->arena, tc_sample_id, SAMPLES),
                     .ends = tc_new_n(&ctx->arena, tc_ends, SAMPLES * DOMAINS)};
    for (int i = 0; i < SAMPLES; i++) {
        int k = (i + first) % SAMPLES;
        rows.sample[i] = (tc_sample_id){(uint64_t)k * 1000003 % 997, NULL, (size_t)k};
        for (int d = 0; d < DOMAINS; d++) {
            float a = (k == 17 && d < far ? 5.0f : 1.0f) + 0.01f * (float)k;
            rows.ends[i * DOMAINS + d] = (tc_ends){-a, a / 2};
        }
    }
    for (int d = 0; d < DOMAINS; d++)
        watched[d] = true;
    return ti_ranges_of(ctx, &rows, watched, drop);
}

static void test_odd(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_ranges r = some_ranges(ctx, 3, true, 0);
    CHECK(r.n_odd == 1 && r.odd[0].index == 17 && r.odd_in[0] == 3 && r.n_kept == SAMPLES - 1);
    CHECK(near((double)r.ends[0].lo, -1.39) && ti_ranges_odd(&r, r.odd[0].hash) &&
          !ti_ranges_odd(&r, 12345));
    r = some_ranges(ctx, 2, true, 0); /* a quarter is not more than a quarter */
    CHECK(r.n_odd == 0 && near((double)r.ends[0].lo, -5.17));
    r = some_ranges(ctx, 8, false, 0); /* forbidden */
    CHECK(r.n_odd == 0 && near((double)r.ends[0].lo, -5.17));
    tc_ranges other = some_ranges(ctx, 3, true, 23); /* the order of samples does not matter */
    r = some_ranges(ctx, 3, true, 0);
    CHECK(other.rows == r.rows &&
          memcmp(other.average, r.average, DOMAINS * sizeof *r.average) == 0);
    tc_ctx_free(ctx);
}

/* n samples of one domain that sleeps at 0 but for the last two. */
static tc_ranges sleeping(tc_ctx *ctx, size_t n, float awake, float asleep)
{
    bool watched[1] = {true};
    tc_first rows = {.n_sample = n,
                     .n_domain = 1,
                     .sample = tc_new_n(&ctx->arena, tc_sample_id, n),
                     .ends = tc_new_n(&ctx->arena, tc_ends, n)};
    for (size_t k = 0; k < n; k++) {
        rows.sample[k] = (tc_sample_id){k, NULL, k};
        rows.ends[k] = (tc_ends){0, k + 2 < n ? asleep : awake};
    }
    return ti_ranges_of(ctx, &rows, watched, true);
}

static void test_sleeping(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_ranges r = sleeping(ctx, 40, 3, 0); /* a median of 0 says nothing about the others */
    CHECK(r.n_odd == 0 && near((double)r.ends[0].hi, 3));
    r = sleeping(ctx, 40, 3, 1);
    CHECK(r.n_odd == 2 && near((double)r.ends[0].hi, 1));
    r = sleeping(ctx, 39, 3, 1); /* more than one in twenty: they belong to the data */
    CHECK(r.n_odd == 0 && near((double)r.ends[0].hi, 3));
    tc_ctx_free(ctx);
}

static void test_average(void)
{
    tc_ctx *ctx = tc_ctx_new();
    bool watched[1] = {true};
    tc_sample_id id[3] = {{3, NULL, 0}, {1, NULL, 1}, {2, NULL, 2}};
    tc_ends ends[3] = {{-4, 8}, {-1, 2}, {-3, 6}}; /* by content: -1, -3, -4 */
    tc_first rows = {.n_sample = 3, .n_domain = 1, .sample = id, .ends = ends};
    tc_ranges r = ti_ranges_of(ctx, &rows, watched, false);
    CHECK(near((double)r.average[0].lo, -(1 + 0.01 * 2 + 0.01 * (4 - 1.02))));
    CHECK(near((double)r.average[0].hi, 2 + 0.01 * 4 + 0.01 * (8 - 2.04)));
    CHECK(r.ends[0].lo == -4 && r.ends[0].hi == 8);
    tc_ctx_free(ctx);
}

/* ---- torchao 0.18 on the same numbers ---- */

static void torchao_numbers(int k, bool cube, bool relu, float *x, int n)
{
    uint32_t s = (uint32_t)k + 1;
    for (int i = 0; i < n; i++) {
        s = s * 1664525u + 1013904223u;
        float u = (float)(s >> 8) / 16777216.0f;
        x[i] = (u - 0.4f) * (float)(k + 1);
        x[i] = cube ? x[i] * x[i] * x[i] : x[i];
        x[i] = relu && x[i] < 0 ? 0 : x[i];
    }
}

static tc_grid torchao(const tc_setting *setting, bool cube, bool relu)
{
    float x[1000];
    tc_torchao t;
    tc_setting s = *setting;
    s.floor = 0x1p-16;
    ti_torchao_init(&t);
    for (int k = 0; k < 6; k++) {
        torchao_numbers(k, cube, relu, x, 1000);
        ti_torchao_see(&t, x, 1000);
    }
    return ti_torchao_grid(&t, &s);
}

/* Errors so near to each other that the order of their sums decides where the search stops. */
static tc_grid torchao_near_ties(const tc_setting *setting)
{
    tc_torchao t = {.min = -1.3f, .max = 2.9f};
    uint32_t s = 3;
    for (int i = 0; i < TC_TORCHAO_BINS; i++) {
        s = s * 1664525u + 1013904223u;
        float u = (float)(s >> 8) / 16777216.0f, far = fabsf((float)i - 600) / 300;
        t.count[i] = floorf(1e5f * u / (1 + far * far * far * far * far * far));
    }
    return ti_torchao_grid(&t, setting);
}

static void test_torchao(void)
{
    tc_setting narrow = int8;
    narrow.qmin = -127;
    tc_grid g = torchao(&int8, false, false);
    CHECK(g.scale == 0x1.811a56p-6 && g.zero == -26);
    g = torchao(&int8, true, false);
    CHECK(g.scale == 0x1.e4d13p-3 && g.zero == -70);
    g = torchao(&narrow, false, true);
    CHECK(g.scale == 0x1.cf95bap-7 && g.zero == -127);
    g = torchao(&int16, true, false);
    CHECK(g.scale == 0x1.74a13p-10 && g.zero == 0);
    g = torchao_near_ties(&int8);
    CHECK(g.scale == 0x1.045df6p-6 && g.zero == -46);
    tc_torchao t;
    ti_torchao_init(&t);
    g = ti_torchao_grid(&t, &int8);
    CHECK(g.scale == 1 && g.zero == 0); /* never fired */
    float zeros[4] = {0};
    ti_torchao_see(&t, zeros, 4);
    g = ti_torchao_grid(&t, &int8);
    CHECK(g.scale == 0x1p-24 && g.zero == -128);
}

/* ---- margins of 16 bits ---- */

/* Four times the odds of a share: 1 to 4 are 1 to 1, and all stays all. */
static void test_wide_end(void)
{
    tc_domain share = {.shares = true}, other = {.shares = false};
    CHECK(fabs(ti_wide_end(&share, 0.2) - 0.5) < 1e-12);
    CHECK(fabs(ti_wide_end(&share, 0.001) - 0.004) < 2e-5);
    CHECK(ti_wide_end(&share, 1) == 1 && ti_wide_end(&share, 1.01) == 1);
    CHECK(ti_wide_end(&other, 0.2) == 1.25 * 0.2);
}

/* ---- grids in one step ---- */

static void test_snap(void)
{
    tc_snap g = ti_snap_make(0.1, -3, -128, 127);
    float x[] = {0.05f, -0.05f, 0.26f, 1e9f, -1e9f, NAN, INFINITY, 0.249999f}, y[8];
    ti_snap_f32(&g, x, y, 8);
    CHECK(y[0] == 0 && y[1] == 0); /* halves to even */
    CHECK(y[2] == 3 * 0.1f && y[3] == 130 * 0.1f && y[4] == -125 * 0.1f && y[5] == 3 * 0.1f &&
          y[6] == 130 * 0.1f);
    CHECK(y[7] == 2 * 0.1f);
}

int main(void)
{
    test_ends();
    test_bins();
    test_grids();
    test_search();
    test_percentile();
    test_odd();
    test_sleeping();
    test_average();
    test_torchao();
    test_wide_end();
    test_snap();
    return check_done();
}
