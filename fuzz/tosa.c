/* SPDX-License-Identifier: Apache-2.0 */
/* tosa.c -- any bytes as a TOSA file: read, judged, written back and, when it is small, run.
 *
 * A file that keeps every rule can be written; what was written keeps them too and is written to
 * the same bytes again.  Where VGF has a place for it, what is read back from there keeps them as
 * well. */
#include "answer.h"

#include "emit/emit.h"
#include "run/exec.h"
#include "read/read.h"
#include "target/target.h"

/* About how many steps a node takes. */
static double work(const tc_graph *g, const tc_node *node)
{
    double operands = 1, results = 0;
    for (int i = 0; i < node->n_in; i++)
        operands *= 1 + (double)tc_type_count(ti_type_of(g, node->in[i]));
    for (int i = 0; i < node->n_out; i++)
        results += (double)tc_type_count(ti_type_of(g, node->out[i]));
    if (tc_ops[node->op].attr == TC_ATTR_tosa_avg_pool ||
        tc_ops[node->op].attr == TC_ATTR_tosa_max_pool) {
        const tc_attr_tosa_max_pool *a = node->attr; /* both begin with the kernel */
        return results * (double)a->kernel.v[0] * (double)a->kernel.v[1];
    }
    bool products = tc_ops[node->op].traits & T_MAC || tc_ops[node->op].attr == TC_ATTR_tosa_fft ||
                    tc_ops[node->op].attr == TC_ATTR_tosa_rfft;
    return products ? results * operands : results;
}

/* Small enough, and without a loop that may never end. */
static bool worth_running(const tc_module *module)
{
    double steps = 0;
    for (size_t i = 0; i < module->n_graph; i++) {
        const tc_graph *g = module->graph[i];
        for (size_t k = 0; k < g->n_node; k++) {
            steps += work(g, g->node[k]);
            if (g->node[k]->op == TC_OP_tosa_while_loop)
                return false;
        }
        for (size_t k = 0; k < g->n_in; k++)
            steps += (double)tc_type_count(ti_type_of(g, g->in[k]));
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

static void through_vgf(tc_ctx *ctx, const tc_module *module)
{
    tc_bytes vgf;
    tc_module *back;
    if (answered(ctx, ti_emit_vgf(ctx, module, &vgf)))
        must(ti_read_vgf(ctx, "written.vgf", vgf, &back) == TC_OK &&
             ti_verify_tosa(ctx, back, NULL) == TC_OK);
}

static void body(tc_ctx *ctx, tc_bytes bytes)
{
    tc_module *module = NULL, *again = NULL;
    tc_bytes first, second;
    if (!answered(ctx, ti_read_tosa(ctx, "fuzz.tosa", bytes, &module)) ||
        !answered(ctx, ti_verify_tosa(ctx, module, NULL)))
        return;
    must(ti_emit_tosa(ctx, module, &first) == TC_OK);
    must(ti_read_tosa(ctx, "written.tosa", first, &again) == TC_OK &&
         ti_verify_tosa(ctx, again, NULL) == TC_OK);
    must(ti_emit_tosa(ctx, again, &second) == TC_OK);
    must(first.size == second.size && memcmp(first.data, second.data, first.size) == 0);
    through_vgf(ctx, again);
    if (worth_running(again))
        run(ctx, again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_in_context(body, (tc_bytes){data, size}, (size_t)256 << 20);
    return 0;
}
