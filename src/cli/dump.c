/* SPDX-License-Identifier: Apache-2.0 */
/* dump.c -- see dump.h.  trace.json opens in Perfetto: one bar per pass, and the memory in use. */
#include "dump.h"

#include <stdio.h>

#include "../ir/text.h"
#include "../wire/file.h"
#include "cli.h"

static const char *path_in(tc_dumper *d, const char *name)
{
    return tc_text_format(&d->ctx->arena, "%s/%s", d->folder, name);
}

tc_status tc_dump_begin(tc_dumper *d)
{
    d->begin = d->last = tc_seconds();
    tc_buf_init(&d->trace, &d->ctx->arena);
    tc_buf_printf(&d->trace, "{\"traceEvents\":[\n");
    return tc_folder_make(d->ctx, d->folder);
}

static void add_event(tc_dumper *d, const char *name)
{
    double now = tc_seconds();
    tc_buf_printf(&d->trace,
                  "{\"name\":\"%s\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":%.0f,\"dur\":%.0f},\n",
                  name, (d->last - d->begin) * 1e6, (now - d->last) * 1e6);
    tc_buf_printf(
        &d->trace,
        "{\"name\":\"arena\",\"ph\":\"C\",\"pid\":1,\"ts\":%.0f,\"args\":{\"bytes\":%zu}},\n",
        (now - d->begin) * 1e6, d->ctx->arena.used);
}

tc_status tc_dump_pass(void *dumper, const tc_module *module, const tc_pass *pass)
{
    tc_dumper *d = dumper;
    if (d->folder) {
        add_event(d, pass->name);
        const char *name = tc_text_format(&d->ctx->arena, "%03zu-%s-%s.ir", d->n++,
                                          tc_main(module)->name, pass->name);
        TC_TRY(tc_write_text(d->ctx, module, path_in(d, name)));
        d->last = tc_seconds();
    }
    if (!d->after || (!tc_text_eq(d->after, "all") && !tc_text_eq(d->after, pass->name)))
        return TC_OK;
    tc_mark mark = tc_arena_mark(&d->ctx->arena);
    tc_buf text;
    tc_buf_init(&text, &d->ctx->arena);
    tc_print(module, &(tc_print_options){.locs = false}, &text);
    fprintf(stderr, "# after %s\n%s\n", pass->name, tc_buf_cstr(&text));
    tc_arena_rewind(&d->ctx->arena, mark);
    return TC_OK;
}

tc_status tc_dump_end(tc_dumper *d, const tc_compiled *c)
{
    add_event(d, "split and lower");
    for (size_t i = 0; i < c->n_region; i++) {
        const char *name = tc_text_format(&d->ctx->arena, "region_%zu.tosa", i);
        tc_bytes bytes;
        TC_TRY(tc_region_tosa(d->ctx, &c->region[i], &bytes));
        TC_TRY(tc_file_write(d->ctx, path_in(d, name), bytes));
    }
    tc_buf_printf(&d->trace, "{\"name\":\"tosac\",\"ph\":\"M\",\"pid\":1}]}\n");
    return tc_file_write(d->ctx, path_in(d, "trace.json"),
                         (tc_bytes){d->trace.data, d->trace.size});
}
