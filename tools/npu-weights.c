/* SPDX-License-Identifier: Apache-2.0 */
/* npu-weights.c -- the weights of every convolution of a stream, decoded.     npu-weights
 * X_vela.npz DIR
 *
 * Runs the stream (on whatever stands in memory, so that weights that a DMA brings are there) and
 * writes DIR/N.npy, int16[o, kh, kw, i], for the N-th CONV or DEPTHWISE with a weight stream;
 * prints a line for each. */
#include <stdio.h>

#include "npu/npu_exec.h"
#include "npu/npu_weights.h"
#include "wire/file.h"
#include "wire/npy.h"

static tc_status write_array(tc_ctx *ctx, const char *path, const tc_npu_weight_shape *s,
                             const int16_t *v)
{
    int64_t dim[] = {s->o, s->kh, s->kw, s->i};
    tc_buf out;
    ti_buf_init(&out, &ctx->arena);
    ti_npy_header(&out, "<i2", 4, dim);
    ti_buf_put(&out, v, (size_t)(dim[0] * dim[1] * dim[2] * dim[3]) * sizeof *v);
    return ti_file_write(ctx, path, (tc_bytes){out.data, out.size});
}

static tc_status one(tc_ctx *ctx, tc_npu_exec *x, const tc_npu_program *p, const tc_npu_op *op,
                     const char *path)
{
    tc_npu_weight_shape s = ti_npu_weight_shape_of(op);
    tc_npu_memory m = ti_npu_exec_memory(x, op->weights.region);
    tc_bytes stream[TC_NPU_CORES] = {{0}};
    size_t bytes = 0;
    for (int c = 0; c < op->cores; c++) {
        stream[c] = (tc_bytes){m.data + op->weights.base[c], (size_t)op->weights.bytes[c]};
        bytes += stream[c].size;
    }
    int16_t *v = ti_arena_raw(&ctx->arena,
                              (size_t)s.o * (size_t)s.kh * (size_t)s.kw * (size_t)s.i * sizeof *v);
    const char *wrong = ti_npu_weights_decode(&ctx->arena, p->machine, op, stream, v);
    if (wrong)
        return ti_error(ctx, NULL, TC_E_FORMAT, "word %zu: %s", op->at, wrong);
    printf("%s %d %d %d %d %s %s%s %zu bytes\n", path, s.o, s.kh, s.kw, s.i,
           s.depthwise              ? "depthwise"
           : op->window.part_kernel ? "part-kernel"
                                    : "depth-first",
           op->weights.fast ? "fixed" : "standard", op->weights.sparse ? " sparse" : "", bytes);
    return write_array(ctx, path, &s, v);
}

static tc_status all(tc_ctx *ctx, const char *file, const char *folder)
{
    tc_bytes bytes;
    tc_npu_program p;
    tc_npu_op op;
    const char *error;
    int n = 0;
    TC_TRY(ti_file_read(ctx, file, &bytes));
    TC_TRY(ti_npu_read_npz(ctx, file, bytes, &p));
    tc_npu_exec *x = ti_npu_exec_new(&ctx->arena, &p, &error);
    if (!x)
        return ti_error(ctx, NULL, TC_E_TOO_LARGE, "%s", error);
    ti_npu_exec_begin(x);
    while (ti_npu_exec_step(x, &op)) {
        bool weighs =
            op.kind == TC_NPU_KIND_DEPTHWISE || (op.kind == TC_NPU_KIND_CONV && !op.weights_ifm2);
        if (weighs)
            TC_TRY(one(ctx, x, &p, &op, ti_text_format(&ctx->arena, "%s/%d.npy", folder, n++)));
    }
    error = ti_npu_exec_error(x);
    return error ? ti_error(ctx, NULL, TC_E_FORMAT, "%s", error) : TC_OK;
}

int main(int n, char **arg)
{
    if (n != 3) {
        fprintf(stderr, "npu-weights X_vela.npz DIR\n");
        return TC_USAGE;
    }
    tc_ctx *ctx = tc_ctx_new();
    tc_status status = all(ctx, arg[1], arg[2]);
    fputs(tc_diagnostics(ctx), stderr);
    tc_ctx_free(ctx);
    return (int)status;
}
