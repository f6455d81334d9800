/* SPDX-License-Identifier: Apache-2.0 */
/* tosac.h -- the whole library: a quantizing ahead-of-time compiler for Arm machine-learning
 * targets.
 *
 *   tc_ctx *ctx = tc_ctx_new();
 *   tc_model *model;
 *   tc_compiled *compiled;
 *   tc_compile_options o = tc_compile_options_default();
 *   o.target = "ethos-u85-256";
 *   ...
 *   if (tc_model_open(ctx, "model.pt2", NULL, &model) == TC_OK &&
 *       tc_compile(ctx, model, &o, &compiled) == TC_OK &&
 *       tc_compiled_write(ctx, compiled, TC_OUTPUT_PTE, "model.pte") == TC_OK)
 *       ...
 *   fputs(tc_diagnostics(ctx), stderr);
 *   tc_ctx_free(ctx);
 *
 * doc/api.md has the picture. */
#ifndef TOSAC_H
#define TOSAC_H

#include "about.h"
#include "base.h"
#include "compile.h"
#include "context.h"
#include "data.h"
#include "evaluate.h"
#include "generate.h"
#include "inspect.h"
#include "model.h"
#include "profile.h"
#include "quantize.h"
#include "report.h"
#include "run.h"

#endif
