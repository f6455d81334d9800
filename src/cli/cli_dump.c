/* SPDX-License-Identifier: Apache-2.0 */
/* cli_dump.c -- see cli_dump.h.  trace.json opens in Perfetto: one bar per pass, and the memory in
 * use. */
#include "cli_dump.h"

static const char *pass_name(size_t i, const void *from)
{
    tc_pass_info *info = cli_memory(1, sizeof *info);
    (void)from;
    info->size = sizeof *info;
    return tc_pass_at(i, info) ? info->name : NULL;
}

tc_status cli_dump_known(cli *c, const char *pass)
{
    const char *name;
    if (!pass || cli_is(pass, "all"))
        return TC_OK;
    for (size_t i = 0; (name = pass_name(i, NULL)); i++)
        if (cli_is(name, pass))
            return TC_OK;
    tc_status status = cli_usage(c, "--dump-after %s: there is no such pass", pass);
    if ((name = cli_nearest(pass, pass_name, NULL)))
        cli_note(c, "did you mean '%s'?", name);
    else
        cli_note(c, "doc/passes.md lists them; 'all' is all of them");
    return status;
}

tc_status cli_dump_begin(cli_dumper *d)
{
    d->begin = d->last = cli_seconds();
    cli_put(&d->trace, "{\"traceEvents\":[\n");
    return tc_make_folder(d->c->ctx, d->folder);
}

static void add_event(cli_dumper *d, const char *name)
{
    double now = cli_seconds();
    tc_ctx_stats stats = {.size = sizeof stats};
    tc_ctx_get_stats(d->c->ctx, &stats);
    cli_put(&d->trace,
            "{\"name\":\"%s\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":%.0f,\"dur\":%.0f},\n", name,
            (d->last - d->begin) * 1e6, (now - d->last) * 1e6);
    cli_put(&d->trace,
            "{\"name\":\"arena\",\"ph\":\"C\",\"pid\":1,\"ts\":%.0f,\"args\":{\"bytes\":%zu}},\n",
            (now - d->begin) * 1e6, stats.memory);
}

static bool same_text(const char *a, const char *b)
{
    FILE *one = fopen(a, "rb"), *two = fopen(b, "rb");
    bool same = one && two;
    for (int c = 0; same && c != EOF;) {
        c = getc(one);
        same = c == getc(two);
    }
    if (one)
        fclose(one);
    if (two)
        fclose(two);
    return same;
}

/* The graph as it is now; nothing where the pass has not changed it.  A text names the bytes of its
 * large constants by a hash. */
static tc_status write_graph(cli_dumper *d, const tc_model *model, const char *pass)
{
    const char *graph = cli_format("%s", tc_model_graph_name(model, 0));
    const char *path = cli_format("%s/%03zu-%s-%s.ir", d->folder, d->n++, graph, pass);
    CLI_TRY(tc_model_write(d->c->ctx, model, path));
    if (d->graph && cli_is(d->graph, graph) && same_text(d->kept, path)) {
        remove(path);
        remove(cli_format("%s.bin", path));
        return TC_OK;
    }
    d->graph = graph;
    d->kept = path;
    return TC_OK;
}

tc_status cli_dump_pass(void *dumper, const tc_model *model, const char *pass)
{
    cli_dumper *d = dumper;
    tc_bytes text;
    if (d->folder) {
        add_event(d, pass);
        CLI_TRY(write_graph(d, model, pass));
        d->last = cli_seconds();
    }
    if (!d->after || (!cli_is(d->after, "all") && !cli_is(d->after, pass)))
        return TC_OK;
    CLI_TRY(tc_model_text(d->c->ctx, model, 0, &text));
    fprintf(stderr, "# after %s\n%s\n", pass, (const char *)text.data);
    return TC_OK;
}

tc_status cli_dump_regions(cli_dumper *d, const tc_compiled *compiled)
{
    tc_ctx *ctx = d->c->ctx;
    tc_compiled_info info = {.size = sizeof info};
    tc_compiled_get_info(compiled, &info);
    for (size_t i = 0; i < info.n_region; i++) {
        tc_bytes bytes;
        CLI_TRY(tc_compiled_region_tosa(ctx, compiled, i, &bytes));
        CLI_TRY(tc_write_file(ctx, cli_format("%s/region_%zu.tosa", d->folder, i), bytes));
    }
    for (size_t i = info.n_region; i < d->n_region; i++)
        remove(cli_format("%s/region_%zu.tosa", d->folder, i));
    d->n_region = info.n_region;
    return TC_OK;
}

tc_status cli_dump_end(cli_dumper *d, const tc_compiled *compiled)
{
    tc_ctx *ctx = d->c->ctx;
    add_event(d, "split and lower");
    CLI_TRY(cli_dump_regions(d, compiled));
    cli_put(&d->trace, "{\"name\":\"tosac\",\"ph\":\"M\",\"pid\":1}]}\n");
    return tc_write_file(ctx, cli_format("%s/trace.json", d->folder),
                         (tc_bytes){(const uint8_t *)d->trace.p, d->trace.n});
}
