/* SPDX-License-Identifier: Apache-2.0 */
/* enter.c -- see enter.h. */
#include "enter.h"

tc_status ti_door_in(tc_door *door, tc_ctx *ctx)
{
    if (ctx->spent)
        return TC_NO_MEMORY;
    TC_TRY(ti_go_on(ctx));
    ctx->repeated = false;
    door->ctx = ctx;
    door->mark = ti_arena_mark(&ctx->scratch);
    memcpy(&door->outer, &ctx->oom, sizeof door->outer);
    door->arena_oom = ctx->arena.oom;
    door->scratch_oom = ctx->scratch.oom;
    ctx->arena.oom = ctx->scratch.oom = &ctx->oom;
    ctx->depth++;
    return TC_OK;
}

static void tell_no_memory(tc_ctx *ctx)
{
    static const tc_diagnostic ran_out = {
        .severity = TC_SEVERITY_ERROR,
        .id = "memory",
        .status = TC_NO_MEMORY,
        .text = "out of memory: the model and its data need more than there is"};
    if (ctx->on_diagnostic)
        ctx->on_diagnostic(ctx->user, &ran_out);
}

tc_status ti_door_out(tc_door *door, tc_status status)
{
    tc_ctx *ctx = door->ctx;
    bool ran_out = status == TC_NO_MEMORY && !ctx->spent;
    memcpy(&ctx->oom, &door->outer, sizeof ctx->oom);
    ctx->arena.oom = door->arena_oom;
    ctx->scratch.oom = door->scratch_oom;
    ctx->depth--;
    ctx->spent |= ran_out;
    if (ran_out)
        ctx->trial = NULL; /* what was being tried is over */
    if (status != TC_OK && !ctx->spent)
        ti_arena_rewind(&ctx->scratch, door->mark);
    if (!ctx->depth || ran_out)
        ti_tell_messages(ctx, true);
    if (ran_out)
        tell_no_memory(ctx);
    return status;
}

void ti_take_record(void *ours, size_t size, const void *theirs)
{
    size_t given = 0;
    if (theirs)
        memcpy(&given, theirs, sizeof given);
    if (theirs)
        memcpy(ours, theirs, given < size ? given : size);
}

void ti_fill_record(void *theirs, const void *ours, size_t size)
{
    size_t room;
    memcpy(&room, theirs, sizeof room);
    if (room > sizeof room)
        memcpy((char *)theirs + sizeof room, (const char *)ours + sizeof room,
               (room < size ? room : size) - sizeof room);
}
