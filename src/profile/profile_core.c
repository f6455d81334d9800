/* SPDX-License-Identifier: Apache-2.0 */
/* profile_core.c -- what a program takes on a Cortex-M, by step of its C; see cost/profile.h. */
#include "profile_core.h"

#include "../drive/core_cost.h"

static void add_step(tc_ctx *ctx, tc_profile *p, const tc_machine *machine, const tc_c_cost *c,
                     size_t part, size_t step)
{
    tc_profile_count *count = tc_new_n(&ctx->arena, tc_profile_count, c->n_work);
    for (size_t i = 0; i < c->n_work; i++)
        count[i] = (tc_profile_count){ti_text_format(&ctx->arena, "%s %s",
                                                     ti_c_work_kernel(c->work[i]),
                                                     ti_c_work_what(c->work[i])),
                                      c->times[i]};
    tc_npu_cost cost = {.cycles = c->instructions * machine->cycles.about,
                        .compute = c->instructions * machine->cycles.about,
                        .macs = c->macs};
    tc_grow(&ctx->arena, p->entry, p->n_entry, p->cap_entry);
    p->entry[p->n_entry++] =
        (tc_profile_entry){.stream = part,
                           .word = step,
                           .name = c->n_work ? ti_c_work_kernel(c->work[0]) : "nothing",
                           .op = tc_ops[c->node->op].name + strlen("tosa."),
                           .loc = c->node->loc,
                           .cost = cost,
                           .count = count,
                           .n_count = c->n_work};
    p->lines = p->lines || c->node->loc->place;
    ti_npu_cost_add(&p->total, &cost);
}

tc_status ti_profile_core(tc_ctx *ctx, tc_profile *p, const tc_compiled *c)
{
    tc_core_cost all;
    const tc_machine *machine = c->target.machine;
    TC_TRY(ti_core_cost(ctx, c, &all));
    p->core = (tc_profile_core){.title = machine->title,
                                .factor = machine->cycles,
                                .instructions = all.instructions,
                                .constants = all.constants,
                                .code = all.code,
                                .arena = all.arena,
                                .ports = all.ports,
                                .state = all.state};
    for (size_t i = 0; i < all.n_part; i++)
        for (size_t k = 0; k < all.part[i].n_cost; k++)
            add_step(ctx, p, machine, &all.part[i].cost[k], i, k);
    p->n_stream = all.n_part;
    p->estimated = true;
    return TC_OK;
}
