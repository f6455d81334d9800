/* SPDX-License-Identifier: Apache-2.0 */
/* attempt.c -- see attempt.h. */
#include "attempt.h"

#include "mapped.h"

void ti_footing_take(tc_ctx *ctx, tc_footing *f)
{
    *f = (tc_footing){.arena = ti_arena_mark(&ctx->arena),
                      .scratch = ti_arena_mark(&ctx->scratch),
                      .types = ctx->types,
                      .names = ctx->names,
                      .cleanup = ctx->cleanup,
                      .mapped = ctx->mapped};
    for (int i = 0; i < TC_OWN_COUNT; i++)
        if (ctx->own[i].at)
            f->own[i] = ti_arena_copy(&ctx->arena, ctx->own[i].at, ctx->own[i].size);
}

void ti_footing_back(tc_ctx *ctx, const tc_footing *f)
{
    ti_ctx_clean_to(ctx, f->cleanup);
    ctx->mapped = f->mapped;
    ti_map_back(&ctx->types, &f->types);
    ti_map_back(&ctx->names, &f->names);
    for (int i = 0; i < TC_OWN_COUNT; i++)
        if (f->own[i])
            memcpy(ctx->own[i].at, f->own[i], ctx->own[i].size);
        else
            ctx->own[i].at = NULL;
    ti_arena_rewind(&ctx->scratch, f->scratch);
    ti_arena_rewind(&ctx->arena, f->arena);
}

void ti_attempt_begin(tc_ctx *ctx, tc_attempt *a)
{
    *a = (tc_attempt){.on_progress = ctx->on_progress};
    ti_footing_take(ctx, &a->footing);
    ctx->on_progress = NULL;
    ctx->n_attempt++;
    ti_trial_begin(ctx, &a->trial);
}

void ti_attempt_end(tc_ctx *ctx, const tc_attempt *a)
{
    tc_trial trial = a->trial;
    ti_trial_end(ctx, &trial);
    ctx->on_progress = a->on_progress;
    ctx->n_attempt--;
    ti_footing_back(ctx, &a->footing);
}

tc_status ti_attempt_work(tc_ctx *ctx, tc_status (*work)(void *what), void *what)
{
    tc_attempt attempt;
    ti_attempt_begin(ctx, &attempt);
    ctx->on_progress = attempt.on_progress;
    tc_status status = work(what);
    ti_attempt_end(ctx, &attempt);
    ti_memory_trim(ctx);
    return status == TC_OK || status == TC_CANCELLED ? status : work(what);
}
