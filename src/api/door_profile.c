/* SPDX-License-Identifier: Apache-2.0 */
/* door_profile.c -- what a program costs. */
#include "../base/enter.h"
#include "../cost/profile.h"
#include "../report/report.h"
#include "../wire/file.h"

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

static tc_status into_page(tc_ctx *ctx, const tc_profile *p, const char *path)
{
    const tc_loc loc = {.file = path};
    tc_bytes page;
    tc_buf made;
    if (!p->counted)
        return ti_usage(ctx, "only what was measured goes into a report: the profile has no log of a counter");
    TC_TRY(ti_file_read(ctx, path, &page));
    ti_buf_init(&made, &ctx->arena);
    if (!ti_page_measured(page, p->counted, &made))
        return ti_error(ctx, &loc, TC_E_FORMAT, "this is no report's page with a place for measured cycles: "
                                                "tosac compile --report FILE.html writes one");
    return ti_file_rewrite(ctx, path, (tc_bytes){made.data, made.size});
}

tc_status tc_profile_into_page(tc_ctx *ctx, const tc_profile *profile, const char *path)
{
    TC_ENTER(ctx, into_page(ctx, profile, path));
}

tc_status tc_profile_overlay(tc_ctx *ctx, const tc_profile *profile, const char **out)
{
    TC_ENTER(ctx, ti_show_overlay(ctx, profile, out));
}
