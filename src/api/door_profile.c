/* SPDX-License-Identifier: Apache-2.0 */
/* door_profile.c -- what a program costs. */
#include "../base/enter.h"
#include "../cost/profile.h"

tc_status tc_profile_open(tc_ctx *ctx, const char *path, const tc_profile_options *options,
                          tc_profile **out)
{
    tc_profile_options o = TC_TAKE(tc_profile_options, options);
    TC_ENTER(ctx, ti_profile_of_file(ctx, path, &o, out));
}

tc_status tc_profile_new(tc_ctx *ctx, tc_compiled *compiled, tc_profile **out)
{
    TC_ENTER(ctx, ti_profile_of_compiled(ctx, compiled, out));
}

tc_status tc_profile_estimate(tc_ctx *ctx, tc_compiled *compiled, tc_profile **out)
{
    TC_ENTER(ctx, ti_profile_of_estimate(ctx, compiled, out));
}

void tc_profile_get_info(const tc_profile *p, tc_profile_info *out)
{
    tc_profile_info info = {.machine = p->machine ? p->machine->name : p->core.title,
                            .system_config = p->system.config,
                            .memory_mode = p->system.mode,
                            .clock = p->system.clock,
                            .total = ti_profile_figures(p, &p->total),
                            .streams = p->n_stream,
                            .operations = p->n_entry,
                            .knows_lines = p->lines,
                            .instructions = p->core.instructions,
                            .flash = p->core.constants + p->core.code,
                            .ram = p->core.arena + p->core.ports + p->core.state};
    for (int i = 0; i < TC_PROFILE_MEMORIES; i++)
        info.memory[i] = p->system.memory[i].name;
    ti_fill_record(out, &info, sizeof info);
}

bool tc_profile_operation(const tc_profile *p, size_t i, tc_profile_op *out)
{
    if (i >= p->n_entry)
        return 0;
    const tc_profile_entry *e = &p->entry[i];
    ti_fill_record(out,
                   &(tc_profile_op){.stream = e->stream,
                                    .word = e->word,
                                    .name = e->name,
                                    .op = e->op,
                                    .loc = e->loc,
                                    .cost = ti_profile_figures(p, &e->cost),
                                    .hint = ti_profile_hint(e->cause)},
                   sizeof *out);
    return 1;
}

bool tc_profile_get_row(const tc_profile *p, tc_profile_by by, size_t i, tc_profile_row *out)
{
    if ((int)by < 0 || (int)by >= TC_PROFILE_BYS || i >= p->n_row[by])
        return 0;
    ti_fill_record(out, &p->row[by][i], sizeof *out);
    return 1;
}

tc_status tc_profile_overlay(tc_ctx *ctx, const tc_profile *profile, const char **out)
{
    TC_ENTER(ctx, ti_show_overlay(ctx, profile, out));
}
