/* SPDX-License-Identifier: Apache-2.0 */
/* pte.c -- any bytes as an ExecuTorch program: its tables, its graph, its borders; run when it is
 * small. */
#include "answer.h"

#include "run/exec.h"
#include "ir/verify.h"
#include "read/read_pte.h"
#include "read/read.h"

/* Steps of all nodes together, as if each result took all operands: far too many is not run. */
static bool worth_running(const tc_module *module)
{
    double steps = 0;
    for (size_t i = 0; i < module->n_graph; i++) {
        const tc_graph *g = module->graph[i];
        for (size_t k = 0; k < g->n_node; k++) {
            const tc_node *node = g->node[k];
            double operands = 1, results = 0;
            for (int j = 0; j < node->n_in; j++)
                operands *= node->in[j] ? 1 + (double)tc_type_count(ti_type_of(g, node->in[j])) : 1;
            for (int j = 0; j < node->n_out; j++)
                results += (double)tc_type_count(ti_type_of(g, node->out[j]));
            steps += operands * (1 + results);
            if (node->op == TC_OP_tosa_while_loop || tc_ops[node->op].attr == TC_ATTR_avg_pool ||
                tc_ops[node->op].attr == TC_ATTR_max_pool)
                return false;
        }
    }
    return steps < 1e6;
}

static void run(tc_ctx *ctx, tc_module *module)
{
    const tc_graph *g = ti_main(module);
    tc_tensor *in = tc_new_n(&ctx->arena, tc_tensor, g->n_in),
              *out = tc_new_n(&ctx->arena, tc_tensor, g->n_out);
    for (size_t i = 0; i < g->n_in; i++) {
        in[i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
        memset(in[i].data, in[i].type->dtype == TC_bool ? 1 : 0x35, tc_type_bytes(in[i].type));
    }
    answered(ctx, ti_exec_run(ti_exec_new(ctx, module), in, out));
}

static void look(tc_ctx *ctx, tc_bytes bytes)
{
    tc_pte_file *f = tc_new(&ctx->arena, tc_pte_file);
    if (!answered(ctx, ti_pte_open(ctx, "fuzz.pte", bytes, f)))
        return;
    for (size_t i = 0; i < f->n_method; i++)
        for (size_t k = 0; k < f->method[i].n_step && k < 100; k++)
            if (f->method[i].step[k].tag == PTE_DELEGATE_CALL)
                ti_pte_borders(f, &f->method[i], k);
}

static void body(tc_ctx *ctx, tc_bytes bytes)
{
    tc_module *module = NULL;
    look(ctx, bytes);
    if (!answered(ctx, ti_read_pte(ctx, "fuzz.pte", bytes, &module)) ||
        !answered(ctx, ti_verify(ctx, module)))
        return;
    if (worth_running(module))
        run(ctx, module);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_in_context(body, (tc_bytes){data, size}, (size_t)256 << 20);
    return 0;
}
