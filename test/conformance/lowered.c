/* SPDX-License-Identifier: Apache-2.0 */
/* lowered.c -- one operator, one case, compiled: the whole program but its conversions goes to
 * TOSA, every step of the way is checked on the case's own inputs, and the result is PyTorch's:
 * floats within the suite's tolerance, quantized results within one step, of 16 bits two. */
#include "lowered.h"

#include "drive/driver.h"
#include "emit/emit.h"
#include "read/read.h"
#include "tosac/tosac.h"
#include "wire/file.h"

/* The first operator that was left on the CPU and is no conversion at a border; NULL: none. */
static const tc_split_left *left_over(const tc_compiled *c)
{
    for (size_t i = 0; i < c->split.n_left; i++) {
        tc_op op = c->split.left[i].node->op;
        if (op != TC_OP_rescale && op != TC_OP_cast && op != TC_OP_identity)
            return &c->split.left[i];
    }
    return NULL;
}

/* Every region as a file, for the judges: DIR/op_case.N.tosa */
static bool write_regions(trial *t, const tc_compiled *c)
{
    tc_arena *arena = &t->ctx->arena;
    char *name = ti_text_format(arena, "%s", t->check->name);
    for (char *at = name; *at; at++)
        *at = *at == '/' || *at == ' ' ? '_' : *at;
    for (size_t i = 0; i < c->n_region; i++) {
        const char *path = ti_text_format(arena, "%s/%s.%zu.tosa", t->check->written, name, i);
        if (!trial_says(t, ti_file_write(t->ctx, path, c->region[i].tosa), "write"))
            return false;
    }
    return true;
}

bool trial_compiled(trial *t, const char *target, const char *const *data, size_t n)
{
    tc_dataset *calib = NULL;
    if (n && !trial_says(t, tc_dataset_open(t->ctx, data, n, &calib), "data"))
        return false;
    tc_compile_request r = {.model = trial_path(t, t->check->file),
                            .target = target,
                            .data.calib = calib,
                            .data.only_if_needed = true,
                            .check = true};
    tc_compiled c = {0};
    if (!trial_says(t, ti_compile_stages(t->ctx, &r, &c), "compile"))
        return false;
    const tc_split_left *left = left_over(&c);
    if (left) {
        failed(t->v, "'%s' stays on the CPU: %s", tc_ops[left->node->op].name, left->why);
        return false;
    }
    t->module = c.module;
    t->g = ti_main(c.module);
    return !t->check->written || write_regions(t, &c);
}

bool trial_program(trial *t)
{
    tc_ctx *ctx = t->ctx;
    tc_model *model = NULL;
    tc_compiled *compiled = NULL;
    tc_compile_options o = tc_compile_options_default();
    size_t n = 0;
    o.target = "cpu";
    if (!trial_says(t, tc_model_open(ctx, trial_path(t, t->check->file), NULL, &model), "read") ||
        !trial_says(t, tc_compile(ctx, model, &o, &compiled), "compile") ||
        !trial_says(t, tc_compiled_make(ctx, compiled, TC_OUTPUT_PTE, &n), "write"))
        return false;
    tc_bytes program = tc_compiled_bytes(compiled, 0);
    if (!trial_says(t, ti_read_pte(ctx, "program.pte", program, &t->module), "read back"))
        return false;
    t->g = ti_main(t->module);
    return true;
}
