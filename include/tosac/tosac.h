/* SPDX-License-Identifier: Apache-2.0 */
/* tosac.h -- the whole library: a quantizing ahead-of-time compiler for Arm machine-learning
 * targets.
 *
 * NAME
 *   libtosac: reads .pt2, .onnx and .tflite models; quantizes, compiles, runs and verifies them;
 *   writes .tosa, .vgf, .pte and Ethos-U command streams.
 *
 * EXAMPLE
 *   #include <stdio.h>
 *   #include <tosac/tosac.h>
 *
 *   int main(void)
 *   {
 *       const char *files[] = {"calib.npz"};
 *       tc_model *model;
 *       tc_compiled *compiled;
 *       tc_compile_options o = tc_compile_options_default();
 *       tc_ctx *ctx = tc_ctx_new();
 *       tc_status status = TC_NO_MEMORY;
 *       o.target = "ethos-u85-256";
 *       if (ctx && (status = tc_model_open(ctx, "model.pt2", NULL, &model)) == TC_OK &&
 *           (status = tc_dataset_open(ctx, files, 1, &o.quant.samples)) == TC_OK &&
 *           (status = tc_compile(ctx, model, &o, &compiled)) == TC_OK)
 *           status = tc_compiled_write(ctx, compiled, TC_OUTPUT_PTE, "model.pte");
 *       if (ctx)
 *           fputs(tc_diagnostics(ctx), stderr);
 *       tc_ctx_free(ctx);
 *       return (int)status;
 *   }
 *
 *   cc example.c $(pkg-config --cflags --libs tosac)
 *
 * LIFE CYCLE
 *   tc_ctx_new()        a context, which owns everything that follows        context.h
 *   tc_model_open()     a model from a file; tc_model_read() from memory     model.h
 *   tc_dataset_open()   samples from files; tc_dataset_new() from a callback data.h
 *   tc_quantize_model() a typed model; tc_compile() does it where needed     quantize.h
 *   tc_compile()        a compiled program                                   compile.h
 *   tc_compiled_write() its files; tc_compiled_make() the same in memory     compile.h
 *   tc_program_new(), tc_program_run()   a model or compiled program, run here   run.h
 *   tc_ctx_free()       frees the context and all of the above
 *
 * OWNERSHIP
 *   Everything belongs to the context that made it and lives until tc_ctx_free().  There are no
 *   other functions that free.  For many models use one context for each: a context is cheap.
 *   Arguments are read during the call only, unless a comment says otherwise.
 *
 * ERRORS
 *   Functions that can fail return a tc_status and set their results on TC_OK only.  Messages with
 *   source locations are collected in the context: tc_diagnostics() for people,
 *   tc_diagnostic_at() for programs.  After TC_NO_MEMORY a context can only be freed.
 *
 * THREADS
 *   Different threads may use different contexts at the same time.  One context is used by one
 *   thread at a time; only tc_ctx_cancel() may be called from any thread or signal handler.  The
 *   library uses threads of its own (tc_ctx_options.threads); results do not depend on how many.
 *
 * NAMES
 *   T_new() makes a T, T_open() reads it from a path, T_read() and T_parse() from memory;
 *   T_default() is an options record with default values.  Elements of a list are counted by
 *   T_x_count() and returned by T_x(t, i, &out): false past the last.
 *
 * STABILITY
 *   Records that start with `size` grow at their end; records inside them use their `reserved`
 *   fields.  Functions marked TC_EXPERIMENTAL (all of generate.h, passes, goals, timing) may change
 *   in any release; with TOSAC_STABLE_ONLY defined, calling one is a compiler warning.
 *
 * SEE ALSO
 *   doc/api.md, doc/reference-c.md, examples/ */
#ifndef TOSAC_H
#define TOSAC_H

#include "about.h"
#include "advise.h"
#include "base.h"
#include "board.h"
#include "compile.h"
#include "context.h"
#include "data.h"
#include "device.h"
#include "evaluate.h"
#include "generate.h"
#include "inspect.h"
#include "model.h"
#include "npu.h"
#include "profile.h"
#include "quantize.h"
#include "report.h"
#include "run.h"

#endif
