/* SPDX-License-Identifier: Apache-2.0 */
/* npu_loops.c -- the executor's loops over many numbers give what one number at a time gives. */
#include "check.h"

#include "npu/number_loops.h"
#include "npu/pair_sum.h"

enum { N = 77, LANES = TC_PAIR_LANES, PIXELS = TC_PAIR_PIXELS };

static int64_t any(int64_t lo, int64_t hi)
{
    static uint64_t seed = 1;
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return lo + (int64_t)((seed >> 20) % (uint64_t)(hi - lo + 1));
}

static void some(int64_t *v, int bits)
{
    for (int i = 0; i < N; i++)
        v[i] = any(-(INT64_C(1) << (bits - 1)), (INT64_C(1) << (bits - 1)) - 1);
    v[N / 2] = -(INT64_C(1) << (bits - 1));
}

/* Numbers of 32 bits, for which there is a quick way, and wider ones. */
static void scales(int bits)
{
    int64_t v[N], to[N];
    for (int round = TC_ROUND_DOUBLE; round <= TC_ROUND_DOWN; round++)
        for (int shift = 0; shift < 64; shift++) {
            tc_npu_scale by = {.multiplier = (uint32_t)any(1, INT32_MAX), .shift = (uint8_t)shift,
                               .round = (tc_npu_round)round,
                               .double_bits = shift % 3 ? 0 : (uint8_t)any(15, 20)};
            bool same = true;
            some(v, bits);
            ti_npu_scale_all(v, N, &by, to);
            for (int i = 0; i < N; i++)
                same = same && to[i] == ti_npu_scale_by(v[i], &by);
            CHECK(same);
        }
}

static void plain(void)
{
    int64_t v[N], w[N];
    bool same = true;
    for (int bits = 8; bits <= 64; bits += 8) {
        some(v, 62);
        memcpy(w, v, sizeof w);
        ti_npu_wrap_all(v, N, bits);
        for (int i = 0; i < N; i++)
            same = same && v[i] == ti_npu_wrapped(w[i], bits, true);
    }
    some(v, 12);
    memcpy(w, v, sizeof w);
    ti_npu_add_all(v, N, -7);
    ti_npu_clamp_all(v, N, -128, 127);
    for (int i = 0; i < N; i++)
        same = same && v[i] == (w[i] - 7 < -128 ? -128 : w[i] - 7 > 127 ? 127 : w[i] - 7);
    CHECK(same);
}

/* Runs that lie apart, the second number of whose last pair has no weight. */
static void pairs(void)
{
    enum { RUNS = 3, K = 5, ROOM = 400 };
    int16_t x[ROOM], w[RUNS * ((K + 1) / 2) * 2 * LANES] = {0};
    int64_t run[RUNS] = {0, 40, 100};
    int32_t got[PIXELS][LANES], want[PIXELS][LANES] = {{0}};
    tc_pair_task t = {x, w, run, 9, (K + 1) / 2, RUNS};
    for (int i = 0; i < ROOM; i++)
        x[i] = (int16_t)any(-255, 255);
    for (int r = 0; r < RUNS; r++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < LANES; j++) {
                int16_t weight = (int16_t)any(-255, 255);
                w[((r * ((K + 1) / 2) + k / 2) * LANES + j) * 2 + k % 2] = weight;
                for (int p = 0; p < PIXELS; p++)
                    want[p][j] += weight * x[run[r] + 9 * p + k];
            }
    ti_pair_sum(&t, got);
    CHECK(memcmp(got, want, sizeof got) == 0);
}

int main(void)
{
    scales(32);
    scales(40);
    plain();
    pairs();
    return check_done();
}
