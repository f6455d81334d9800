/* SPDX-License-Identifier: Apache-2.0 */
/* cli_calibrate.c -- tosac calibrate-board: a board's memories from logs of its cycle counter. */
#include <stddef.h>

#include "cli.h"

typedef struct calibrate_options {
    const char *board, *output;
} calibrate_options;

/* "boards/mine.board" is the board mine. */
static const char *name_of(const char *path)
{
    const char *base = cli_path_last(path);
    return cli_format("%.*s", (int)strcspn(base, "."), base);
}

static tc_status run_calibrate(cli *c, const void *record, const cli_texts *args)
{
    const calibrate_options *o = record;
    const char *text, *report;
    if (!o->board)
        return cli_usage(c, "--board NAME|FILE is missing: the board that the logs are of, as far as it is known");
    CLI_TRY(cli_try_output(c, o->output));
    CLI_TRY(tc_board_calibrate(c->ctx, args->v, args->n, o->board, o->output ? name_of(o->output) : "calibrated",
                               c->common.json ? TC_FORM_JSON : TC_FORM_TEXT, &text, &report));
    cli_progress_end(c);
    if (o->output)
        CLI_TRY(tc_write_file(c->ctx, o->output, (tc_bytes){(const uint8_t *)text, strlen(text)}));
    fputs(report, stdout);
    if (!o->output && !c->common.json)
        cli_note(c, "nothing was written: -o NAME.board does it");
    return TC_OK;
}

#define AT(field) offsetof(calibrate_options, field)
static const cli_option options[] = {
    {"--board", NULL, "NAME|FILE", CLI_TEXT, AT(board), "the board that the logs are of, as far as it is known"},
    {"--output", "-o", "NAME.board", CLI_TEXT, AT(output), "the board's file to write, for --board"},
    {0},
};

const cli_verb cli_calibrate = {
    .name = "calibrate-board",
    .arguments = "LOG... --board NAME|FILE [-o NAME.board]",
    .summary = "fit the memories of a board to what its cycle counter took",
    .help = "LOG is what examples/pmu writes while a program compiled with --marks runs; its line 'program' names "
            "the program's file,\n"
            "beside it.  Bandwidth and latencies of the memories and the cycles of a call are fitted; the error "
            "before and after\n"
            "is that of the total, and of the operations by themselves.\n",
    .least = 1,
    .most = 64,
    .option = options,
    .record = sizeof(calibrate_options),
    .run = run_calibrate,
};
