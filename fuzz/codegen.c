/* SPDX-License-Identifier: Apache-2.0 */
/* codegen.c -- any bytes as a TOSA file for our own Ethos-U back end: what keeps TOSA's rules is
 * refused with a reason, or becomes a stream that keeps the machine's and runs to its end. */
#include "answer.h"

#include "codegen/codegen.h"
#include "npu/npu_exec.h"
#include "npu/npu_verify.h"
#include "read/read.h"
#include "target/target.h"

enum { WORK = 1 << 21, STEPS = 4000 };

static const struct {
    const char *name, *system, *mode;
} machines[] = {{"ethos-u55-128", "Ethos_U55_High_End_Embedded", "Shared_Sram"},
                {"ethos-u85-256", "Ethos_U85_SYS_DRAM_Mid", "Sram_Only"},
                {"ethos-u65-512", "Ethos_U65_High_End", "Dedicated_Sram"},
                {"ethos-u85-1024", "Ethos_U85_SYS_DRAM_Mid", "Dedicated_Sram"}};

static bool is_integer(const tc_module *module)
{
    for (size_t i = 0; i < module->n_graph; i++) {
        const tc_graph *g = module->graph[i];
        for (size_t v = 1; v < g->n_val; v++)
            if (g->val[v]->type && ti_is_float(g->val[v]->type->dtype))
                return false;
    }
    return true;
}

static void execute(tc_ctx *ctx, const tc_npu_program *p)
{
    const char *error;
    tc_npu_op op;
    tc_npu_exec *x = ti_npu_exec_new(&ctx->arena, p, &error);
    must(x && !error);
    ti_npu_exec_limit(x, WORK);
    ti_npu_exec_begin(x);
    for (int i = 0; i < STEPS && ti_npu_exec_step(x, &op); i++)
        ;
}

/* Which machine: by the bytes, so that what was found is found again. */
static size_t machine_of(tc_bytes bytes)
{
    size_t sum = 0;
    for (size_t i = 0; i < bytes.size; i++)
        sum += bytes.data[i];
    return sum % TC_COUNT(machines);
}

static void body(tc_ctx *ctx, tc_bytes bytes)
{
    tc_module *module = NULL;
    if (!answered(ctx, ti_read_tosa(ctx, "fuzz.tosa", bytes, &module)) ||
        !answered(ctx, ti_verify_tosa(ctx, module, NULL)) || !is_integer(module))
        return;
    size_t at = machine_of(bytes);
    tc_npu_system system;
    tc_codegen_result made;
    tc_codegen_options o = {.machine = ti_npu_machine_find(machines[at].name), .system = &system};
    must(ti_npu_system_find(ctx, o.machine, NULL, machines[at].system, machines[at].mode,
                            &system) == TC_OK);
    if (!answered(ctx, ti_codegen(ctx, &o, ti_main(module), &made)) || made.refused)
        return;
    tc_npu_findings found;
    ti_npu_verify(ctx, &made.program, &found);
    must(found.n_error == 0);
    execute(ctx, &made.program);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_in_context(body, (tc_bytes){data, size}, (size_t)512 << 20);
    return 0;
}
