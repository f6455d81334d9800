/* SPDX-License-Identifier: Apache-2.0 */
/* attempt.c -- see attempt.h. */
#include "attempt.h"

void ti_attempt_begin(tc_ctx *ctx, tc_attempt *a)
{
    *a = (tc_attempt){.arena = ti_arena_mark(&ctx->arena),
                      .scratch = ti_arena_mark(&ctx->scratch),
                      .types = ctx->types,
                      .names = ctx->names,
                      .cleanup = ctx->cleanup,
                      .mapped = ctx->mapped,
                      .on_progress = ctx->on_progress};
    ctx->on_progress = NULL;
    ctx->n_attempt++;
    for (int i = 0; i < TC_OWN_COUNT; i++)
        if (ctx->own[i].at)
            a->own[i] = ti_arena_copy(&ctx->arena, ctx->own[i].at, ctx->own[i].size);
    ti_trial_begin(ctx, &a->trial);
}

/* Entries come at the end, and none ever moves: without the later ones the slots of the earlier
 * ones are where they were. */
static void take_back(tc_map *map, const tc_map *was)
{
    *map = *was;
    for (size_t i = 0; i < map->n_slot; i++)
        if (map->slot[i] > map->n)
            map->slot[i] = 0;
}

void ti_attempt_end(tc_ctx *ctx, const tc_attempt *a)
{
    tc_trial trial = a->trial;
    ti_trial_end(ctx, &trial);
    ctx->on_progress = a->on_progress;
    ti_ctx_clean_to(ctx, a->cleanup);
    ctx->mapped = a->mapped;
    take_back(&ctx->types, &a->types);
    take_back(&ctx->names, &a->names);
    ctx->n_attempt--;
    for (int i = 0; i < TC_OWN_COUNT; i++)
        if (a->own[i])
            memcpy(ctx->own[i].at, a->own[i], ctx->own[i].size);
        else
            ctx->own[i].at = NULL;
    ti_arena_rewind(&ctx->scratch, a->scratch);
    ti_arena_rewind(&ctx->arena, a->arena);
}

tc_status ti_attempt_work(tc_ctx *ctx, tc_status (*work)(void *what), void *what)
{
    tc_attempt attempt;
    ti_attempt_begin(ctx, &attempt);
    ctx->on_progress = attempt.on_progress;
    tc_status status = work(what);
    ti_attempt_end(ctx, &attempt);
    return status == TC_OK || status == TC_CANCELLED ? status : work(what);
}
