/* SPDX-License-Identifier: Apache-2.0 */
/* cost_cause.c -- the reason of a job's cycles: what it waits for, or what is unexpected. */
#include "cost.h"

/* More than this is waiting: hardly any operation is without some. */
static const double much = 1.25;

static bool is_constant(const tc_npu_system *s, const tc_npu_job_map *m)
{
    return m->h && m->counted && m->memory == s->of_region[0];
}

/* What it waits for, of memories. */
static tc_npu_cause of_memory(const tc_npu_system *s, const tc_npu_job *j, tc_npu_wait wait)
{
    bool apart = s->of_region[0] != s->of_region[1];
    if (wait == TC_WAIT_SRAM)
        return j->weight_bytes > (double)j->ifm.h * j->ifm.w * j->ifm.c ? TC_CAUSE_WEIGHTS
                                                                         : TC_CAUSE_MEMORY;
    if (j->weight_memory >= 0)
        return wait == TC_WAIT_DMA || j->weight_memory != j->ifm.memory || !apart
                   ? TC_CAUSE_WEIGHTS
                   : TC_CAUSE_MEMORY;
    return apart && (is_constant(s, &j->ifm) || is_constant(s, &j->ifm2)) ? TC_CAUSE_CONSTANT
                                                                          : TC_CAUSE_MEMORY;
}

tc_npu_cause ti_npu_cost_cause(const tc_npu_machine *m, const tc_npu_system *s, const tc_npu_job *j,
                               tc_npu_wait wait, const tc_npu_cost *c)
{
    if (j->moves && j->turns)
        return TC_CAUSE_TRANSPOSE;
    if (j->moves && !j->looks_up)
        return TC_CAUSE_COPY;
    if (c->cycles > much * c->compute)
        return of_memory(s, j, wait);
    if (wait == TC_WAIT_DECODE ||
        (j->work == TC_WORK_CONV && (double)j->ofm.h * j->ofm.w <= 4 &&
         ti_npu_utilisation(m, c) < 0.2))
        return TC_CAUSE_ONCE;
    if (j->work == TC_WORK_CONV && j->ifm.c < 16 && ti_npu_utilisation(m, c) < 0.4)
        return TC_CAUSE_SHALLOW;
    if (j->work == TC_WORK_DEPTHWISE)
        return TC_CAUSE_DEPTHWISE;
    if (j->work == TC_WORK_POOL && j->kh == 1 && j->kw == 1)
        return j->looks_up ? TC_CAUSE_TABLE : TC_CAUSE_RESCALE;
    return j->work == TC_WORK_ELEMENTWISE && j->ifm.bits == 32 ? TC_CAUSE_WIDE : TC_CAUSE_NONE;
}
