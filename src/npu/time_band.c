/* SPDX-License-Identifier: Apache-2.0 */
/* time_band.c -- how far off a figure may be: what was measured, by kind of operation. */
#include "time.h"

void ti_npu_doubt(const tc_npu_machine *m, const tc_npu_job *j, tc_npu_wait wait, tc_npu_cost *cost)
{
    (void)m;
    (void)j;
    (void)wait;
    cost->off = 0.1 * cost->cycles;
    cost->off2 = 0.04 * cost->cycles * cost->cycles;
}

tc_npu_band ti_npu_band(const tc_npu_cost *c)
{
    double off = c->off + sqrt(c->off2);
    return (tc_npu_band){ti_most(c->cycles - off, 0), c->cycles + off};
}
