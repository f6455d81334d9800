/* SPDX-License-Identifier: Apache-2.0 */
/* npu.c -- the machine behind ExecuTorch's EthosUBackend, on a PC: a command stream over memories that
 * the backend has prepared, by our own executor. */
#include "npu.h"

#include <string.h>

#include "base/diag.h"
#include "npu/npu_exec.h"

const char *npu_run(const void *commands, size_t n_commands, const void *weights, size_t n_weights,
                    void *scratch, size_t n_scratch)
{
    static char said[400];
    tc_ctx *ctx = tc_ctx_new();
    tc_npu_program p = {.weights = {weights, n_weights}, .scratch = (int64_t)n_scratch};
    tc_npu_op op;
    const char *error = NULL;
    if (ti_npu_read_driver(ctx, &(tc_loc){.file = "stream"}, (tc_bytes){commands, n_commands}, &p) != TC_OK)
        error = tc_diagnostics(ctx);
    p.driver = (tc_bytes){commands, n_commands};
    p.fast = 0;
    tc_npu_exec *exec = error ? NULL : ti_npu_exec_new(&ctx->arena, &p, &error);
    if (exec) {
        ti_npu_exec_begin(exec);
        tc_npu_memory m = ti_npu_exec_memory(exec, 1);
        memcpy(m.data, scratch, n_scratch);
        while (ti_npu_exec_step(exec, &op))
            continue;
        error = ti_npu_exec_error(exec);
        memcpy(scratch, m.data, n_scratch);
    }
    strncpy(said, error ? error : "", sizeof said - 1);
    tc_ctx_free(ctx);
    return error ? said : NULL;
}
