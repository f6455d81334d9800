/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c -- see machine.h. */
#include "machine.h"

#define MACHINE(name) extern const tc_machine tc_machine_##name;
#include "machine.def"

static const tc_machine *const machines[] = {
#define MACHINE(name) &tc_machine_##name,
#include "machine.def"
};

const tc_machine *ti_machine_at(size_t i)
{
    return i < TC_COUNT(machines) ? machines[i] : NULL;
}

const tc_machine *ti_machine_with(const tc_npu_machine *npu)
{
    for (size_t i = 0; i < TC_COUNT(machines); i++)
        for (size_t k = 0; k < machines[i]->n_npu; k++)
            if (&machines[i]->npu[k] == npu)
                return machines[i];
    return NULL;
}

/* CONFIG: log2 of the MACs in bits 0..3, the product in bits 28..31. */
static bool has_config(const tc_npu_machine *m, uint32_t config)
{
    return ((m->config ^ config) & 0xf000000f) == 0;
}

const tc_npu_machine *ti_npu_machine_of(uint32_t config)
{
    for (size_t i = 0; i < TC_COUNT(machines); i++)
        for (size_t k = 0; k < machines[i]->n_npu; k++)
            if (has_config(&machines[i]->npu[k], config))
                return &machines[i]->npu[k];
    return NULL;
}

const tc_npu_machine *ti_npu_machine_find(const char *name)
{
    for (size_t i = 0; i < TC_COUNT(machines); i++)
        for (size_t k = 0; k < machines[i]->n_npu; k++)
            if (strcmp(machines[i]->npu[k].name, name) == 0)
                return &machines[i]->npu[k];
    return NULL;
}
