/* SPDX-License-Identifier: Apache-2.0 */
/* cli_report.c -- --report FILE: what was made, on a page of its own. */
#include "cli_report.h"

/* A word as a shell wants it. */
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
