/* SPDX-License-Identifier: Apache-2.0 */
/* exec.c -- runs a program by its plan, or with the reference interpreter, keeping its state.
 *
 * The interpreter runs a shadow of the graph: the same nodes, but mutable buffers are read from the
 * executor's memory, and their new contents are additional outputs.  Buffers are double: an output
 * that aliases the old contents stays valid after the run. */
#include "exec.h"

#include "../ir/settle.h"

#include "eval.h"
#include "plan.h"

struct tc_exec {
    tc_ctx *ctx;
    tc_graph *program;
    tc_graph shadow;
    tc_plan *plan;       /* NULL: the interpreter */
    void **now;          /* where each buffer is, for the plan */
    tc_tensor *out;      /* the program's outputs, then the new contents of its buffers */
    void **other;        /* the second copy of each buffer */
    tc_arena arena;      /* one run's memory */
};

static void release(void *what)
{
    tc_exec *exec = what;
    ti_arena_free(&exec->arena);
}

/* A copy of the value list in which every mutable buffer is a value of the executor. */
static void shadow_buffers(tc_exec *exec)
{
    tc_arena *arena = &exec->ctx->arena;
    tc_graph *g = &exec->shadow;
    g->val = ti_arena_copy(arena, g->val, g->n_val * sizeof *g->val);
    exec->other = tc_new_n(arena, void *, g->n_mutation);
    for (size_t i = 0; i < g->n_mutation; i++) {
        tc_val before = g->mutation[i].before;
        tc_value *value = ti_arena_copy(arena, g->val[before], sizeof *value);
        size_t size = tc_type_bytes(value->type);
        value->data = ti_arena_copy(arena, value->data, size);
        exec->other[i] = ti_arena_raw(arena, size);
        g->val[before] = value;
    }
}

static void shadow_outputs(tc_exec *exec)
{
    tc_arena *arena = &exec->ctx->arena;
    tc_graph *g = &exec->shadow;
    size_t n = g->n_out + g->n_mutation;
    tc_val *out = tc_new_n(arena, tc_val, n);
    for (size_t i = 0; i < n; i++)
        out[i] = i < g->n_out ? g->out[i] : g->mutation[i - g->n_out].after;
    g->out = out;
    g->n_out = n;
    exec->out = tc_new_n(arena, tc_tensor, n);
}

tc_exec *ti_exec_new(tc_ctx *ctx, tc_module *module)
{
    return ti_exec_own(ctx, module, NULL);
}

tc_exec *ti_exec_own(tc_ctx *ctx, tc_module *module, const bool *own)
{
    tc_exec *exec = tc_new(&ctx->arena, tc_exec);
    exec->ctx = ctx;
    exec->program = ti_main(module);
    exec->shadow = *exec->program;
    ti_arena_init_like(&exec->arena, &ctx->arena);
    exec->arena.limit = ctx->arena.limit;
    ti_ctx_defer(ctx, release, exec);
    shadow_buffers(exec);
    shadow_outputs(exec);
    exec->now = tc_new_n(&ctx->arena, void *, exec->program->n_mutation);
    if (!ctx->reference_kernels)
        exec->plan = ti_module_open(module) ? NULL : ti_plan_own(ctx, exec->program, own);
    return exec;
}

/* The new contents go to the unused copies, for all buffers, before any is read again.
 */
static void keep_state(tc_exec *exec)
{
    tc_graph *g = &exec->shadow;
    const tc_tensor *after = exec->out + exec->program->n_out;
    for (size_t i = 0; i < g->n_mutation; i++)
        memcpy(exec->other[i], after[i].data, tc_type_bytes(after[i].type));
    for (size_t i = 0; i < g->n_mutation; i++) {
        tc_value *value = g->val[g->mutation[i].before];
        void *old = (void *)(uintptr_t)value->data;
        value->data = exec->other[i];
        exec->other[i] = old;
    }
}

void ti_exec_reset(tc_exec *exec)
{
    tc_graph *g = &exec->shadow;
    for (size_t i = 0; i < g->n_mutation; i++) {
        tc_val before = g->mutation[i].before;
        memcpy((void *)(uintptr_t)g->val[before]->data, exec->program->val[before]->data,
               tc_type_bytes(g->val[before]->type));
    }
    ti_state_reset(g->module);
}

bool ti_exec_state(const tc_exec *exec, size_t i, tc_tensor *out, const char **name)
{
    const tc_graph *g = &exec->shadow;
    if (i >= g->n_mutation)
        return false;
    const tc_value *value = g->val[g->mutation[i].before];
    *out = (tc_tensor){value->type, (void *)(uintptr_t)value->data};
    *name = value->name;
    return true;
}

tc_plan *ti_exec_plan(const tc_exec *exec)
{
    return exec->plan;
}

bool ti_exec_time(tc_exec *exec, double *seconds)
{
    if (exec->plan)
        ti_plan_time(exec->plan, seconds);
    return exec->plan != NULL;
}

size_t ti_exec_spent(const tc_exec *exec, tc_spent *out)
{
    return exec->plan ? ti_plan_spent(exec->plan, out) : 0;
}

static tc_status run_plan(tc_exec *exec, const tc_tensor *in)
{
    const tc_graph *g = &exec->shadow;
    for (size_t i = 0; i < g->n_mutation; i++)
        exec->now[i] = (void *)(uintptr_t)g->val[g->mutation[i].before]->data;
    return ti_plan_run(exec->plan, in, exec->out, exec->now, exec->out + exec->program->n_out);
}

tc_status ti_exec_run(tc_exec *exec, const tc_tensor *in, tc_tensor *out)
{
    if (ti_module_open(exec->program->module))
        return ti_error(exec->program->module->ctx,
                        &(tc_loc){.file = exec->program->module->file}, TC_E_DYNAMIC,
                        "the program leaves sizes open");
    ti_arena_rewind(&exec->arena, (tc_mark){NULL, 0, 0});
    ti_state_drop(exec->shadow.module);
    TC_TRY(exec->plan ? run_plan(exec, in) : ti_eval(&exec->shadow, in, exec->out, &exec->arena));
    ti_state_keep(exec->shadow.module);
    memcpy(out, exec->out, exec->program->n_out * sizeof *out);
    keep_state(exec);
    return TC_OK;
}
