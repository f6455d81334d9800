/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c -- every record of machine.def is whole: what its packing needs is there, and its names are
 * found again. */
#include "check.h"

#include "npu/block.h"
#include "npu/system.h"
#include "target/target.h"

/* Whatever is computed, and of any type, there is a microblock for it. */
static void try_units(const tc_npu_machine *npu)
{
    static const struct {
        tc_npu_kind kind;
        uint8_t mode;
    } of[] = {{TC_NPU_KIND_CONV, 0},       {TC_NPU_KIND_DEPTHWISE, 0},
              {TC_NPU_KIND_POOL, 0},       {TC_NPU_KIND_POOL, TC_POOL_NONE},
              {TC_NPU_KIND_ELEMENTWISE, 0}};
    for (size_t i = 0; i < TC_COUNT(of); i++)
        for (int32_t bytes = 1; bytes <= 4; bytes *= 2) {
            tc_npu_op op = {.kind = of[i].kind, .mode = of[i].mode, .window = {.kh = 1, .kw = 1}};
            op.ifm.h = op.ifm.w = op.ofm.h = op.ofm.w = 8;
            op.ifm.c = op.ofm.c = 32;
            op.ifm.bytes = op.ofm.bytes = (uint8_t)bytes;
            ti_npu_set_order(npu, &op);
            CHECK_ROW(npu->name, npu->microblock[op.microblock].depth > 0);
        }
}

/* A size: its name is the record's with its MACs, and its CONFIG is no other machine's. */
static void try_size(tc_ctx *ctx, const tc_machine *m, const tc_npu_machine *npu)
{
    tc_target target;
    tc_npu_system system;
    char name[64];
    snprintf(name, sizeof name, "%s%d", m->name, (int)npu->macs);
    CHECK_ROW(npu->name, ti_text_eq(npu->name, name));
    CHECK_ROW(npu->name, ti_target_parse(ctx, npu->name, &target) == TC_OK);
    CHECK_ROW(npu->name, target.machine == m && target.npu == npu);
    CHECK_ROW(npu->name, ti_npu_machine_of(npu->config) == npu && npu->id);
    CHECK_ROW(npu->name, ti_npu_machine_find(npu->name) == npu && ti_machine_with(npu) == m);
    try_units(npu);
    CHECK_ROW(npu->name, npu->cores > 0 && npu->cores <= TC_NPU_CORES);
    CHECK_ROW(npu->name, npu->most.h && npu->most.w && npu->most.depth);
    CHECK_ROW(npu->name, npu->max_kernels > 0 && npu->max_dmas > 0);
    CHECK_ROW(npu->name, npu->timing);
    if (npu->product == TC_U85)
        CHECK_ROW(npu->name, npu->ifm_ram && npu->acc_ram && npu->chain_ram && npu->out_ram &&
                                 npu->decoded && npu->copy_words && npu->weight_words &&
                                 npu->ifm_words);
    else
        CHECK_ROW(npu->name, npu->banks && npu->granule[TC_GRANULE_ACC40]);
    CHECK_ROW(npu->name, ti_npu_system_find(ctx, npu, NULL, NULL, NULL, &system) == TC_OK);
    for (size_t i = 0; i < m->n_system; i++)
        CHECK_ROW(m->systems[i].name, ti_npu_system_find(ctx, npu, NULL, m->systems[i].name,
                                                         "Sram_Only", &system) == TC_OK);
}

static void try_machine(tc_ctx *ctx, const tc_machine *m)
{
    tc_target target;
    bool stream = m->packing == TC_PACKED_STREAM;
    CHECK_ROW(m->name, m->title && m->name);
    CHECK_ROW(m->name, stream == (m->n_npu > 0)); /* an Ethos-U has sizes */
    CHECK_ROW(m->name, stream == (m->n_system > 0) && stream == (m->system_config != NULL));
    CHECK_ROW(m->name, !stream || (m->memory_mode && m->backend && m->spec));
    const tc_cycles *k = &m->cycles;
    CHECK_ROW(m->name, (m->packing == TC_PACKED_C) == (0 < k->low && k->low < k->about && k->about < k->high));
    CHECK_ROW(m->name, !m->costs_of || ti_npu_machine_find(m->costs_of));
    if (!stream && m->packing != TC_PACKED_TOSA)
        CHECK_ROW(m->name, ti_target_parse(ctx, m->name, &target) == TC_OK && target.machine == m);
    for (size_t i = 0; i < m->n_npu; i++)
        try_size(ctx, m, &m->npu[i]);
}

/* The families' own timing: no other machine's figures are taken for theirs. */
static void test_timing(void)
{
    static const struct {
        const char *name;
        const tc_npu_timing *timing;
    } row[] = {{"ethos-u55-128", &tc_timing_u55}, {"ethos-u65-256", &tc_timing_u65}, {"ethos-u85-256", &tc_timing_u85}};
    for (size_t i = 0; i < TC_COUNT(row); i++)
        CHECK_ROW(row[i].name, ti_npu_machine_find(row[i].name)->timing == row[i].timing);
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    const tc_machine *m;
    size_t n = 0;
    for (; (m = ti_machine_at(n)) != NULL; n++)
        try_machine(ctx, m);
    CHECK(n > 0);
    test_timing();
    tc_ctx_free(ctx);
    return check_done();
}
