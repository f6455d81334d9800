/* SPDX-License-Identifier: Apache-2.0 */
/* table_line.c -- tables that are lines are found to be, and are the line that is found; others are not. */
#include "check.h"

#include "codegen/table_line.h"
#include "npu/scale.h"

enum { CODES = 256, LINES = 300 };

static int64_t any(int64_t lo, int64_t hi)
{
    static uint64_t seed = 1;
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return lo + (int64_t)((seed >> 20) % (uint64_t)(hi - lo + 1));
}

static void fill(const tc_table_line *l, int64_t *t)
{
    for (int i = 0; i < CODES; i++) {
        int64_t y = ti_npu_scaled(i - 128 - l->in_zero, (uint32_t)l->multiplier, l->shift,
                                  TC_ROUND_NATURAL, 0) + l->out_zero;
        t[i] = y < l->lo ? l->lo : y > l->hi ? l->hi : y;
    }
}

/* Of random factors, zeros and bounds; one entry more or less is another table. */
static void lines(void)
{
    int found = 0, tried = 0, broken = 0, kinks = 0;
    for (int k = 0; k < LINES; k++) {
        tc_table_line l = {.multiplier = (int32_t)any(1 << 20, (1 << 30) - 1), .shift = (uint8_t)any(27, 32),
                           .in_zero = (int32_t)any(-128, 127), .out_zero = (int32_t)any(-128, 127),
                           .lo = (int32_t)any(-128, -20), .hi = (int32_t)any(20, 127)}, out;
        int64_t t[CODES], again[CODES];
        fill(&l, t);
        if (t[0] == t[CODES - 1])
            continue;
        tried++;
        if (ti_table_line(t, &out)) {
            found++;
            fill(&out, again);
            CHECK(!memcmp(t, again, sizeof t) && out.multiplier > 0 && out.shift <= 30);
        }
        int at = 0; /* in the middle of the slope, a step back */
        for (int i = 1; i + 1 < CODES && !at; i++)
            at = t[i] > t[0] && t[i] < t[CODES - 1] && t[i] > t[i - 1] ? i : 0;
        if (!at)
            continue;
        kinks++;
        t[at] -= 2;
        broken += ti_table_line(t, &out);
    }
    CHECK(found == tried);
    CHECK(broken == 0);
    CHECK(tried > LINES / 2 && kinks > LINES / 2);
}

static void curves(void)
{
    int64_t t[CODES];
    tc_table_line out;
    for (int i = 0; i < CODES; i++)
        t[i] = 127 - i < -128 ? -128 : 127 - i;
    CHECK(!ti_table_line(t, &out)); /* falls */
    for (int i = 0; i < CODES; i++)
        t[i] = i * i / 256 - 128;
    CHECK(!ti_table_line(t, &out)); /* bends */
    for (int i = 0; i < CODES; i++)
        t[i] = 5;
    CHECK(!ti_table_line(t, &out)); /* says nothing */
}

int main(void)
{
    lines();
    curves();
    return check_done();
}
