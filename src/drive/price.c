/* SPDX-License-Identifier: Apache-2.0 */
/* price.c -- see price.h. */
#include "price.h"

#include "../npu/block_search.h"

/* In an arena of its own: it grows inside attempts, and outlives them. */
static tc_npu_block_memo *new_memo(tc_ctx *ctx)
{
    tc_arena *arena = tc_new(&ctx->arena, tc_arena);
    ti_arena_init_like(arena, &ctx->arena);
    ti_ctx_defer(ctx, ti_arena_end, arena);
    return ti_npu_block_memo_new(arena);
}

tc_status ti_pricer_for(tc_ctx *ctx, const tc_target *target, const char *ini,
                        const char *system_config, const char *memory_mode, tc_pricer **out)
{
    const char *other = target->machine->costs_of;
    const tc_npu_machine *npu = other ? ti_npu_machine_find(other) : target->npu;
    *out = NULL;
    if (!npu)
        return TC_OK;
    tc_pricer *p = tc_new(&ctx->arena, tc_pricer);
    TC_TRY(ti_npu_system_find(ctx, npu, ini, system_config, memory_mode, &p->system));
    p->options = (tc_codegen_options){.machine = npu, .system = &p->system, .memo = new_memo(ctx)};
    *out = p;
    return TC_OK;
}
