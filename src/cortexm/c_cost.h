/* SPDX-License-Identifier: Apache-2.0 */
/* c_cost.h -- the cost of a step: counts of its kernel's operations, and the instructions by
 * prices.def. */
#ifndef TC_CORTEXM_COST_H
#define TC_CORTEXM_COST_H

#include "../ir/graph.h"
#include "../machine/machine.h"

typedef enum tc_c_work {
#define PRICE(kernel, what, v6, v7, dsp, mve) TC_C_WORK_##kernel##_##what,
#include "prices.def"
    TC_C_WORK_COUNT
} tc_c_work;

enum { TC_C_WORKS = 12 }; /* that one step does, at most */

typedef struct tc_c_cost {
    const tc_node *node;
    tc_c_work work[TC_C_WORKS];
    double times[TC_C_WORKS];
    size_t n_work;
    double instructions, macs;
    double weights; /* bytes of flash that its weights take */
} tc_c_cost;

/* "conv2d", "step". */
const char *ti_c_work_kernel(tc_c_work work);
const char *ti_c_work_what(tc_c_work work);

/* So often more. */
void ti_c_work(tc_c_cost *cost, const tc_machine *machine, tc_c_work work, double times);

#endif
