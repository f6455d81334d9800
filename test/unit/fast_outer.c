/* SPDX-License-Identifier: Apache-2.0 */
/* fast_outer.c -- sums of outer products and the matrix product give the bits of the plain loops,
 * at every level this machine has and for every length of a rest. */
#include "levels.h"

#include <string.h>

#include "base/diag.h"
#include "fast/outer.h"
#include "num/gemm.h"

enum { MOST = 40000 };
static float number[4][MOST], sum[3][MOST];

static void roll(void)
{
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < MOST; j++)
            number[i][j] = (float)any(-999, 999) / 64;
    for (int j = 0; j < MOST; j++)
        sum[0][j] = sum[1][j] = (float)any(-99, 99) / 8;
}

static void plain_add(float *to, int64_t row, int64_t n, int64_t k, int64_t m, const tc_outer *p,
                      int n_pair)
{
    for (int64_t c = 0; c < m; c++)
        for (int s = 0; s < n_pair; s++)
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j < k; j++) {
                    float product =
                        p[s].a[c * p[s].a_step + i] * p[s].b[c * p[s].b_step + j];
                    to[i * row + j] += product;
                }
}

static void try_add(int64_t n, int64_t k, int64_t m)
{
    int64_t step = k + any(0, 3), row = k + any(0, 5);
    tc_outer pair[2] = {{number[0], n + any(0, 2), number[1], step},
                        {number[2], n, number[3], step}};
    roll();
    for (int n_pair = 1; n_pair <= 2; n_pair++) {
        plain_add(sum[0], row, n, k, m, pair, n_pair);
        ti_outer_add(sum[1], row, n, k, m, pair, n_pair);
        CHECK(memcmp(sum[0], sum[1], sizeof sum[0]) == 0);
    }
}

static void try_lanes(int64_t lanes, int64_t k, int64_t m)
{
    int64_t apart = lanes + any(0, 4), step = k * apart;
    roll();
    for (int64_t c = 0; c < m; c++)
        for (int64_t i = 0; i < k; i++)
            for (int64_t j = 0; j < k; j++)
                for (int64_t l = 0; l < lanes; l++) {
                    float product =
                        number[0][c * step + i * apart + l] * number[1][c * step + j * apart + l];
                    sum[0][(i * k + j) * lanes + l] += product;
                }
    for (int half = 1; half >= 0; half--) {
        bool same = true;
        memcpy(sum[2], sum[1], sizeof sum[2]);
        ti_outer_add_lanes(sum[2], lanes, k, m, number[0], number[1], step, apart, half);
        for (int64_t i = 0; i < k; i++)
            for (int64_t j = half ? i : 0; j < k; j++)
                same = same && memcmp(&sum[0][(i * k + j) * lanes], &sum[2][(i * k + j) * lanes],
                                      (size_t)lanes * sizeof(float)) == 0;
        CHECK(same);
        CHECK(memcmp(&sum[2][k * k * lanes], &sum[1][k * k * lanes],
                     (size_t)(MOST - k * k * lanes) * sizeof(float)) == 0);
    }
}

/* One block of sums deep: the total is added to c at the end. */
static void try_gemm(tc_ctx *ctx, int64_t m, int64_t n, int64_t k)
{
    roll();
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float total = 0;
            for (int64_t p = 0; p < k; p++) {
                float product = number[0][i * k + p] * number[1][j * k + p];
                total += product;
            }
            sum[0][i * n + j] += total;
        }
    ti_gemm_f32(&ctx->scratch, m, n, k, number[0], k, 1, number[1], 1, k, sum[1], n);
    CHECK(memcmp(sum[0], sum[1], sizeof sum[0]) == 0);
}

static void checks(void)
{
    tc_ctx *ctx = tc_ctx_new();
    for (int64_t k = 1; k <= 70; k++)
        try_add(any(1, 19), k, any(1, 70));
    for (int64_t n = 1; n <= 18; n++)
        try_add(n, any(30, 100), any(0, 40));
    for (int64_t lanes = 1; lanes <= 33; lanes++)
        try_lanes(lanes, any(1, 12), any(1, 40));
    for (int64_t n = 1; n <= 66; n++)
        try_gemm(ctx, any(1, 9), n, any(1, 80));
    tc_ctx_free(ctx);
}

int main(void)
{
    try_levels(checks);
    return check_done();
}
