/* SPDX-License-Identifier: Apache-2.0 */
/* cli_report.c -- --report FILE: what was made, on a page of its own; and tosac report: pages of
 * reports that were written before. */
#include "cli_report.h"

#include <stddef.h>

/* A word quoted for a shell. */
static void put_word(cli_text *text, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=:,./@%";
    if (*word && strspn(word, plain) == strlen(word)) {
        cli_put(text, "%s", word);
        return;
    }
    cli_put(text, "'");
    for (; *word; word++) {
        if (*word == '\'')
            cli_put(text, "'\\''");
        else
            cli_put(text, "%c", *word);
    }
    cli_put(text, "'");
}

static const char *command_of(const cli *c)
{
    cli_text text = {0};
    cli_put(&text, "tosac");
    for (int i = 1; i < c->argc; i++) {
        cli_put(&text, " ");
        put_word(&text, c->argv[i]);
    }
    return text.p;
}

tc_status cli_write_report(cli *c, tc_report_options *report, const cli_texts *data,
                           const char *path)
{
    report->command = command_of(c);
    report->data = data->v;
    report->n_data = data->n;
    CLI_TRY(tc_report_write(c->ctx, report, path));
    cli_progress_end(c);
    if (!c->common.json && !c->common.quiet)
        printf("%s: report\n", path);
    return TC_OK;
}

/* ---- tosac report ---- */

typedef struct report_options {
    const char *output, *csv, *markdown;
    cli_texts limits;
} report_options;

/* Each table in a separate file. */
static tc_status write_tables(cli *c, const tc_saved_report *report, const tc_saved_report *before,
                              const char *folder)
{
    CLI_TRY(tc_make_folder(c->ctx, folder));
    for (size_t i = 0;; i++) {
        const char *name;
        tc_bytes bytes;
        CLI_TRY(tc_report_csv(c->ctx, report, before, i, &name, &bytes));
        if (!name)
            return TC_OK;
        const char *path = cli_format("%s/%s.csv", folder, name);
        CLI_TRY(tc_write_file(c->ctx, path, bytes));
        if (!c->common.json && !c->common.quiet)
            printf("%s: table\n", path);
    }
}

static tc_status write_page(cli *c, const tc_saved_report *report, const tc_saved_report *before,
                            const char *path)
{
    tc_bytes page;
    CLI_TRY(cli_try_output(c, path));
    CLI_TRY(tc_report_page(c->ctx, report, before, &page));
    CLI_TRY(tc_write_file(c->ctx, path, page));
    if (!c->common.json && !c->common.quiet)
        printf("%s: report\n", path);
    return TC_OK;
}

/* The table of what changed, and an error where a limit is exceeded. */
static tc_status hold_limits(cli *c, const report_options *o, const tc_saved_report *report,
                             const tc_saved_report *before, const char *file)
{
    const char *table;
    size_t exceeded;
    if (!before)
        return cli_usage(c, "--fail-on and --markdown compare two reports; one was given");
    CLI_TRY(tc_report_hold(c->ctx, report, before, o->limits.v, o->limits.n, &table, &exceeded));
    tc_bytes bytes = {(const uint8_t *)table, strlen(table)};
    if (o->markdown)
        CLI_TRY(cli_is(o->markdown, "-") ? cli_print_all(c, bytes)
                                         : tc_write_file(c->ctx, o->markdown, bytes));
    return exceeded ? cli_exceeded(c, file, "%zu of %zu limits exceeded", exceeded, o->limits.n)
                    : TC_OK;
}

static tc_status run_report(cli *c, const void *record, const cli_texts *args)
{
    const report_options *o = record;
    tc_saved_report *report[2] = {NULL, NULL};
    const char *text;
    for (size_t i = 0; i < args->n; i++)
        CLI_TRY(tc_report_read(c->ctx, args->v[i], &report[i]));
    const tc_saved_report *last = report[args->n - 1], *before = args->n > 1 ? report[0] : NULL;
    if (o->output)
        CLI_TRY(write_page(c, last, before, o->output));
    if (o->csv)
        CLI_TRY(write_tables(c, last, before, o->csv));
    tc_status held = o->markdown || o->limits.n
                         ? hold_limits(c, o, last, before, args->v[args->n - 1])
                         : TC_OK;
    if ((c->common.quiet && !c->common.json) || (o->markdown && cli_is(o->markdown, "-")))
        return held;
    CLI_TRY(tc_report_tell(c->ctx, last, before, c->common.json ? TC_FORM_JSON : TC_FORM_TEXT,
                           &text));
    if (c->common.json || before || (!o->output && !o->csv))
        printf("%s", text);
    return held;
}

static const cli_option options[] = {
    {"--output", "-o", "FILE.html", CLI_TEXT, offsetof(report_options, output),
     "the page; of two reports with what changed in front"},
    {"--csv", NULL, "DIR", CLI_TEXT, offsetof(report_options, csv),
     "every table as a CSV file in this folder"},
    {"--fail-on", NULL, "LIMIT", CLI_TEXTS, offsetof(report_options, limits),
     "of two reports: exit 1 where the second is worse by more: cycles+2%, time+N, sram+0, memory+4K, "
     "weights+N, flash+1M, cpu+0, db-0.5, top1-1; repeat for more"},
    {"--markdown", NULL, "FILE", CLI_TEXT, offsetof(report_options, markdown),
     "of two reports: what changed as a table in Markdown; - is standard output"},
    {0},
};

const cli_verb cli_report = {
    .name = "report",
    .arguments = "REPORT [SECOND] [-o FILE.html] [--csv DIR] [--fail-on LIMIT]...",
    .summary = "show a report again, or what changed between two",
    .help = "REPORT is what --report wrote, .json or .html.  With two: what the second changes in "
            "cycles, memory and dB,\n"
            "as a whole and layer by layer; layers go together by module and operator, then by "
            "source line, then by name.\n",
    .least = 1,
    .most = 2,
    .option = options,
    .record = sizeof(report_options),
    .run = run_report,
};
