/* SPDX-License-Identifier: Apache-2.0 */
/* cost_cause.c -- the reason of a job's cycles: what bounds it, or what is unexpected. */
#include "cost.h"

tc_npu_cause ti_npu_cost_cause(const tc_npu_machine *m, const tc_npu_system *s, const tc_npu_job *j,
                               const tc_npu_cost *c)
{
    int constants = s->of_region[0];
    bool weights = j->weight_memory >= 0, one = j->ofm.h == 1 && j->ofm.w == 1;
    double most = 0; /* what the slowest memory but that of constants takes */
    for (int i = 0; i < TC_NPU_MEMORIES; i++)
        most = i != constants && c->access[i] > most ? c->access[i] : most;
    double own = c->compute - c->waiting > most ? c->compute - c->waiting : most;
    if (j->work == TC_WORK_COLUMNS)
        return TC_CAUSE_COLUMNS;
    if (j->work == TC_WORK_TRANSPOSE || (j->moves && j->turns))
        return TC_CAUSE_TRANSPOSE;
    if (j->work == TC_WORK_MOVE || (j->moves && !j->looks_up))
        return TC_CAUSE_COPY;
    if (weights &&
        (c->cycles > 1.25 * own || (one && c->cycles > 1.25 * (c->compute - c->waiting))))
        return TC_CAUSE_WEIGHTS;
    if (!weights && c->cycles > 1.25 * own)
        return TC_CAUSE_CONSTANT;
    if (c->cycles > 1.25 * (c->compute - c->waiting))
        return TC_CAUSE_MEMORY;
    if (j->work == TC_WORK_CONV && (double)j->ofm.h * j->ofm.w <= 4 &&
        ti_npu_utilisation(m, c) < 0.2)
        return TC_CAUSE_ONCE;
    if (j->work == TC_WORK_CONV && j->ifm.c < 16 && ti_npu_utilisation(m, c) < 0.4)
        return TC_CAUSE_SHALLOW;
    if (j->work == TC_WORK_DEPTHWISE)
        return TC_CAUSE_DEPTHWISE;
    if (j->work == TC_WORK_POOL && j->kh == 1 && j->kw == 1)
        return j->looks_up ? TC_CAUSE_TABLE : TC_CAUSE_RESCALE;
    return j->work == TC_WORK_ELEMENTWISE && j->ifm.bits == 32 ? TC_CAUSE_WIDE : TC_CAUSE_NONE;
}
