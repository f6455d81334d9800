/* SPDX-License-Identifier: Apache-2.0 */
/* core_cost.h -- what a program takes on a Cortex-M: instructions by step, flash, RAM. */
#ifndef TC_CORE_COST_H
#define TC_CORE_COST_H

#include "../cortexm/cortexm.h"
#include "driver.h"

typedef struct tc_core_cost {
    tc_c_source *part; /* by region */
    size_t n_part;
    double instructions, cycles, cycles_low, cycles_high;
    size_t constants, code;     /* flash: exact, and about */
    size_t arena, ports, state; /* RAM: exact; ports: inputs and outputs */
} tc_core_cost;

/* The target's regions are C source (TC_PACKED_C); operators outside of them are not counted. */
TC_MUST_USE tc_status ti_core_cost(tc_ctx *ctx, const tc_compiled *compiled, tc_core_cost *out);

#endif
