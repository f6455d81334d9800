/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c -- see plan.h.  plan_steps.c decides the steps; here they get memory and run. */
#include "plan_steps.h"

#include <stdio.h>
#include <stdlib.h>

#include "../base/mapped.h"
#include "../base/place.h"
#include "../fast/float.h"
#include "eval.h"

enum { ALIGN = 64 };

static void release(void *what)
{
    tc_plan *plan = what;
    ti_arena_free(&plan->arena);
}

/* Addresses for everything that a run allocates. */
static void place_all(tc_plan *plan)
{
    tc_arena *scratch = &plan->ctx->scratch;
    tc_mark mark = ti_arena_mark(scratch);
    tc_place_item *item = tc_new_n(scratch, tc_place_item, plan->n_store);
    size_t n = 0;
    for (size_t i = 0; i < plan->n_store; i++) {
        const store *s = &plan->store[i];
        if (s->kind == STORE_MADE)
            item[n++] = (tc_place_item){.bytes = (int64_t)s->size, .life = s->life};
    }
    plan->bytes = (size_t)ti_place_once(scratch, item, n, ALIGN).bytes;
    plan->memory = ti_arena_raw(&plan->arena, plan->bytes);
    n = 0;
    for (size_t i = 0; i < plan->n_store; i++)
        if (plan->store[i].kind == STORE_MADE)
            plan->store[i].data = plan->memory + item[n++].address;
    ti_arena_rewind(scratch, mark);
}

/* Past this many bytes of weights a second, packed copy costs more than it saves. */
static const int64_t most_packed = INT64_C(512) << 20;

static bool weighs_much(const tc_graph *g)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < g->n_node; i++)
        if (g->node[i]->op == TC_OP_const)
            bytes += (int64_t)tc_type_bytes(ti_type_of(g, g->node[i]->out[0]));
    return bytes > most_packed;
}

static tc_plan *plan_graph(tc_ctx *ctx, tc_graph *g, const tc_watch *watch, bool inner,
                           const bool *own, const bool *late)
{
    tc_plan *plan = tc_new(&ctx->arena, tc_plan);
    plan->inner = inner;
    plan->ctx = ctx;
    plan->g = g;
    plan->watch = watch;
    plan->own = own;
    plan->late = late;
    ti_arena_init_like(&plan->arena, &ctx->arena);
    ti_ctx_defer(ctx, release, plan);
    ti_product_keep_plain(ctx, weighs_much(g));
    if (!ti_plan_steps(plan))
        return NULL;
    place_all(plan);
    return plan;
}

tc_plan *ti_plan_new(tc_ctx *ctx, tc_graph *g, const tc_watch *watch)
{
    return plan_graph(ctx, g, watch, false, NULL, NULL);
}

tc_plan *ti_plan_late(tc_ctx *ctx, tc_graph *g, const tc_watch *watch, const bool *late)
{
    return plan_graph(ctx, g, watch, false, NULL, late);
}

tc_plan *ti_plan_own(tc_ctx *ctx, tc_graph *g, const bool *own)
{
    return plan_graph(ctx, g, NULL, false, own, NULL);
}

tc_plan *ti_plan_inner(const tc_plan *outer, tc_graph *g)
{
    return outer->inner || g->n_mutation ? NULL : plan_graph(outer->ctx, g, NULL, true, NULL, NULL);
}

static tc_tensor tensor_at(const tc_plan *plan, const place *p)
{
    return p ? (tc_tensor){p->type, plan->store[p->store].data} : (tc_tensor){NULL, NULL};
}

static tc_status run_kernel(tc_plan *plan, const step *s)
{
    tc_mark mark = ti_arena_mark(&plan->arena);
    tc_tensor *t = tc_new_n(&plan->arena, tc_tensor, (size_t)(s->n_in + s->n_out));
    for (int i = 0; i < s->n_in; i++)
        t[i] = tensor_at(plan, s->in[i]);
    for (int i = 0; i < s->n_out; i++)
        t[s->n_in + i] = tensor_at(plan, s->out[i]);
    tc_call call = {s->attr, s->n_in, s->n_out, t, t + s->n_in, &plan->arena, NULL};
    ti_call_kernel(plan->ctx, s->op, s->kernel, &call);
    if (call.error) { /* it may point into the kernel's scratch */
        plan->failed = s;
        snprintf(plan->why, sizeof plan->why, "%s", call.error);
    }
    ti_arena_rewind(&plan->arena, mark);
    return call.error ? TC_BAD_MODEL : TC_OK;
}

static tc_status run_prepared(tc_plan *plan, const step *s)
{
    void *in[4] = {NULL};
    for (int i = 0; i < s->n_in; i++)
        in[i] = s->in[i] ? plan->store[s->in[i]->store].data : NULL;
    s->prepared(s->what, in, plan->store[s->out[0]->store].data,
                s->scratch >= 0 ? plan->store[s->scratch].data : NULL);
    return TC_OK;
}

/* A node as the interpreter runs it: control flow, and operators on quantized values. */
static tc_status run_node(tc_plan *plan, const step *s)
{
    tc_mark mark = ti_arena_mark(&plan->arena);
    tc_tensor *t = tc_new_n(&plan->arena, tc_tensor, (size_t)(s->n_in + s->n_out));
    for (int i = 0; i < s->n_in; i++)
        t[i] = tensor_at(plan, s->in[i]);
    TC_TRY(ti_eval_node(plan->g, s->node, t, t + s->n_in, &plan->arena));
    for (int i = 0; i < s->n_out; i++)
        if (s->out[i])
            memcpy(plan->store[s->out[i]->store].data, t[s->n_in + i].data,
                   tc_type_bytes(s->out[i]->type));
    ti_arena_rewind(&plan->arena, mark);
    return TC_OK;
}

static tc_status run_call(tc_plan *plan, const step *s)
{
    tc_mark mark = ti_arena_mark(&plan->arena);
    tc_tensor *t = tc_new_n(&plan->arena, tc_tensor, (size_t)(s->n_in + s->n_out));
    for (int i = 0; i < s->n_in; i++)
        t[i] = tensor_at(plan, s->in[i]);
    s->callee->seconds = plan->seconds;
    tc_status status = ti_plan_try(s->callee, t, t + s->n_in, NULL, NULL);
    if (status) { /* reported as this plan's own */
        plan->failed = s->callee->failed;
        memcpy(plan->why, s->callee->why, sizeof plan->why);
        return status;
    }
    for (int i = 0; i < s->n_out; i++)
        memcpy(plan->store[s->out[i]->store].data, t[s->n_in + i].data,
               tc_type_bytes(s->out[i]->type));
    ti_arena_rewind(&plan->arena, mark);
    return TC_OK;
}

static tc_status run_step(tc_plan *plan, const step *s)
{
    static tc_status (*const run[])(tc_plan *, const step *) = {
        [STEP_KERNEL] = run_kernel, [STEP_PREPARED] = run_prepared, [STEP_NODE] = run_node,
        [STEP_CALL] = run_call};
    if (s->kind == STEP_NOTHING)
        return TC_OK;
    if (!plan->seconds || s->kind == STEP_CALL) /* a called plan times itself */
        return run[s->kind](plan, s);
    double begin = ti_seconds();
    tc_status status = run[s->kind](plan, s);
    double taken = ti_seconds() - begin;
    plan->seconds[s->op] += taken;
    plan->spent[s - plan->step] += taken;
    return status;
}

static void show(const tc_plan *plan, const step *s)
{
    for (const shown *w = s->show; w; w = w->next)
        plan->watch->see(plan->watch->who, w->val, tensor_at(plan, w->place),
                         w->place->layout.axis);
}

void ti_plan_start(tc_plan *plan, const tc_tensor *in, void *const *state)
{
    plan->failed = NULL;
    plan->next = 0;
    for (size_t i = 0; i < plan->n_store; i++) {
        store *s = &plan->store[i];
        if (s->kind == STORE_INPUT)
            s->data = in[s->index].data;
        else if (s->kind == STORE_STATE)
            s->data = state[s->index];
    }
}

tc_status ti_plan_go(tc_plan *plan, tc_val until)
{
    while (plan->next < plan->n_step) {
        const step *s = &plan->step[plan->next++];
        TC_TRY(run_step(plan, s));
        if (s->show)
            show(plan, s);
        if (until && s->show && s->show->val == until)
            break;
    }
    return TC_OK;
}

size_t ti_plan_step_of(const tc_plan *plan, const tc_node *node)
{
    size_t i = 0;
    while (i < plan->n_step && plan->step[i].node != node)
        i++;
    return i;
}

tc_status ti_plan_go_to(tc_plan *plan, size_t until)
{
    while (plan->next < until && plan->next < plan->n_step) {
        const step *s = &plan->step[plan->next++];
        TC_TRY(run_step(plan, s));
        if (s->show)
            show(plan, s);
    }
    return TC_OK;
}

void ti_plan_lend(tc_plan *plan, void *memory)
{
    for (size_t i = 0; i < plan->n_store; i++)
        if (plan->store[i].kind == STORE_MADE)
            plan->store[i].data =
                (uint8_t *)memory + ((uint8_t *)plan->store[i].data - plan->memory);
    plan->memory = memory;
}

void ti_plan_clear(const tc_plan *plan)
{
    ti_pages_drop(plan->ctx, plan->memory, plan->bytes);
}

/* The product of a step, where it is one. */
static tc_product *product_of(const step *s, const tc_node *node)
{
    return s->node == node && s->kind == STEP_PREPARED && s->prepared == ti_run_product
               ? (tc_product *)(uintptr_t)s->what
               : NULL;
}

void ti_plan_load(const tc_plan *plan, const tc_node *node, tc_arena *room)
{
    for (size_t i = 0; i < plan->n_step; i++) {
        tc_product *p = product_of(&plan->step[i], node);
        if (p)
            ti_product_load(p, room);
    }
}

void ti_plan_unload(const tc_plan *plan, const tc_node *node)
{
    for (size_t i = 0; i < plan->n_step; i++) {
        tc_product *p = product_of(&plan->step[i], node);
        if (p)
            ti_product_unload(p);
    }
}

void ti_plan_outputs(const tc_plan *plan, tc_tensor *out)
{
    for (size_t i = 0; i < plan->g->n_out; i++)
        out[i] = tensor_at(plan, plan->result[i]);
}

void ti_plan_follow(tc_plan *twin, const tc_plan *other)
{
    memcpy(twin->memory, other->memory, other->bytes);
    twin->next = other->next;
    twin->failed = NULL;
}

tc_status ti_plan_try(tc_plan *plan, const tc_tensor *in, tc_tensor *out, void *const *state,
                      tc_tensor *after)
{
    const tc_graph *g = plan->g;
    ti_plan_start(plan, in, state);
    TC_TRY(ti_plan_go(plan, TC_NONE));
    ti_plan_outputs(plan, out);
    for (size_t i = 0; i < g->n_mutation; i++)
        after[i] = tensor_at(plan, plan->result[g->n_out + i]);
    return TC_OK;
}

tc_status ti_plan_explain(tc_plan *plan)
{
    const step *s = plan->failed;
    return s ? ti_error(plan->ctx, s->node->loc, TC_E_NUMBERS, "'%s': %s", tc_ops[s->node->op].name,
                        plan->why)
             : TC_BAD_MODEL; /* the interpreter has reported it */
}

tc_status ti_plan_run(tc_plan *plan, const tc_tensor *in, tc_tensor *out, void *const *state,
                      tc_tensor *after)
{
    tc_status status = ti_plan_try(plan, in, out, state, after);
    return status && plan->failed ? ti_plan_explain(plan) : status;
}

/* A called plan has its own scratch in every twin. */
static void twin_calls(tc_plan *twin)
{
    bool calls = false;
    for (size_t i = 0; i < twin->n_step; i++)
        calls = calls || twin->step[i].kind == STEP_CALL;
    if (!calls)
        return;
    twin->step = ti_arena_copy(&twin->ctx->arena, twin->step, twin->n_step * sizeof *twin->step);
    for (size_t i = 0; i < twin->n_step; i++)
        if (twin->step[i].kind == STEP_CALL)
            twin->step[i].callee = ti_plan_twin(twin->step[i].callee, NULL);
}

tc_plan *ti_plan_twin(const tc_plan *plan, const tc_watch *watch)
{
    tc_ctx *ctx = plan->ctx;
    tc_plan *twin = ti_arena_copy(&ctx->arena, plan, sizeof *plan);
    twin->watch = watch;
    twin->seconds = twin->spent = NULL;
    twin->store = ti_arena_copy(&ctx->arena, plan->store, plan->n_store * sizeof *plan->store);
    ti_arena_init_like(&twin->arena, &ctx->arena);
    twin->memory = NULL;
    ti_ctx_defer(ctx, release, twin);
    twin->memory = ti_arena_raw(&twin->arena, plan->bytes);
    for (size_t i = 0; i < plan->n_store; i++)
        if (plan->store[i].kind == STORE_MADE)
            twin->store[i].data = twin->memory + ((uint8_t *)plan->store[i].data - plan->memory);
    twin_calls(twin);
    return twin;
}

void ti_plan_end(tc_plan *plan)
{
    release(plan);
    for (size_t i = 0; i < plan->n_step; i++)
        if (plan->step[i].kind == STEP_CALL)
            ti_plan_end(plan->step[i].callee);
}

bool ti_plan_parallel(const tc_plan *plan)
{
    for (size_t i = 0; i < plan->n_step; i++) {
        const step *s = &plan->step[i];
        if (s->kind == STEP_NODE || (s->op == TC_OP_ethosu && plan->ctx->device) ||
            (s->kind == STEP_CALL && !ti_plan_parallel(s->callee)))
            return false;
    }
    return true;
}

void ti_plan_on_oom(tc_plan *plan, jmp_buf *oom)
{
    plan->arena.oom = oom;
    for (size_t i = 0; i < plan->n_step; i++)
        if (plan->step[i].kind == STEP_CALL)
            ti_plan_on_oom(plan->step[i].callee, oom);
}

void ti_plan_time(tc_plan *plan, double *seconds)
{
    plan->seconds = seconds;
    if (!plan->spent)
        plan->spent = tc_new_n(&plan->ctx->arena, double, plan->n_step + 1);
    memset(plan->spent, 0, plan->n_step * sizeof *plan->spent);
    for (size_t i = 0; i < plan->n_step; i++)
        if (plan->step[i].kind == STEP_CALL)
            ti_plan_time(plan->step[i].callee, seconds);
}

size_t ti_plan_spent(const tc_plan *plan, tc_spent *out)
{
    size_t n = 0;
    for (size_t i = 0; i < plan->n_step; i++) {
        const step *s = &plan->step[i];
        if (s->kind == STEP_CALL)
            n += ti_plan_spent(s->callee, out ? out + n : NULL);
        else if (s->kind != STEP_NOTHING && out)
            out[n++] = (tc_spent){s->node, s->op, &plan->spent[i]};
        else
            n += s->kind != STEP_NOTHING;
    }
    return n;
}

size_t ti_plan_bytes(const tc_plan *plan)
{
    return plan->bytes;
}
