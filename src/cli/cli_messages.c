/* SPDX-License-Identifier: Apache-2.0 */
/* cli_messages.c -- see cli_messages.h.
 *
 * Colours are for terminals, and not where NO_COLOR is set or the terminal is a dumb one. */
#include "cli_messages.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli_json.h"

/* A message is one line, whatever the user put into its arguments. */
static char *one_line(const char *format, va_list args)
{
    cli_text line = {0};
    cli_put_list(&line, format, args);
    for (char *p = line.p; *p; p++)
        if ((unsigned char)*p < ' ')
            *p = '?';
    return line.p;
}

static void add(cli *c, cli_message message)
{
    cli_message *more = cli_memory(c->n_said + 1, sizeof *more);
    if (c->n_said)
        memcpy(more, c->said, c->n_said * sizeof *more);
    more[c->n_said++] = message;
    c->said = more;
}

tc_status cli_usage(cli *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(c, (cli_message){.kind = "error", .id = "usage", .text = one_line(format, args)});
    va_end(args);
    return TC_USAGE;
}

tc_status cli_bad_file(cli *c, const char *file, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(c, (cli_message){
               .file = file, .kind = "error", .id = "io", .text = one_line(format, args)});
    va_end(args);
    return TC_BAD_MODEL;
}

tc_status cli_exceeded(cli *c, const char *file, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(c, (cli_message){
               .file = file, .kind = "error", .id = "limit", .text = one_line(format, args)});
    va_end(args);
    return TC_BAD_MODEL;
}

void cli_note(cli *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = one_line(format, args);
    if (c->n_said)
        cli_add(&c->said[c->n_said - 1].notes, text);
    else
        add(c, (cli_message){.kind = "note", .id = "note", .text = text});
    va_end(args);
}

/* ---- for people ---- */

bool cli_in_colour(int file)
{
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(file) == 1 && !(none && *none) && !(terminal && cli_is(terminal, "dumb"));
}

/* Lines of "place: error: text [id]", the kind of message in its colour. */
static void print_lines(bool colour, const char *text)
{
    static const char *const kind[][2] = {
        {"error: ", "\x1b[1;31m"}, {"warning: ", "\x1b[1;33m"}, {"note: ", "\x1b[1;36m"}};
    while (*text) {
        size_t n = strcspn(text, "\n"), at = n, which = 0;
        for (size_t i = 0; i < CLI_COUNT(kind); i++) {
            const char *found = strstr(text, kind[i][0]);
            if (found && (size_t)(found - text) < at) {
                at = (size_t)(found - text);
                which = i;
            }
        }
        if (!colour || at == n)
            fprintf(stderr, "%.*s\n", (int)n, text);
        else {
            int word = (int)strlen(kind[which][0]) - 2;
            fprintf(stderr, "%.*s%s%.*s\x1b[0m%.*s\n", (int)at, text, kind[which][1], word,
                    text + at, (int)(n - at) - word, text + at + word);
        }
        text += n + (text[n] == '\n');
    }
}

static void print_all(cli *c, bool no_memory, size_t muted)
{
    bool colour = cli_in_colour(STDERR_FILENO);
    cli_text own = {0};
    print_lines(colour, tc_diagnostics(c->ctx));
    if (no_memory) /* there is one message */
        return;
    if (muted)
        cli_put(&own, "tosac: note: %zu more errors are not shown\n", muted);
    for (size_t i = 0; i < c->n_said; i++) {
        const cli_message *m = &c->said[i];
        const char *file = m->file ? m->file : "tosac";
        bool is_note = cli_is(m->kind, "note");
        cli_put(&own, "%s: %s: %s%s%s%s\n", file, m->kind, m->text, is_note ? "" : " [",
                is_note ? "" : m->id, is_note ? "" : "]");
        for (size_t k = 0; k < m->notes.n; k++)
            cli_put(&own, "%s: note: %s\n", file, m->notes.v[k]);
    }
    if (own.p)
        print_lines(colour, own.p);
}

/* ---- for programs ---- */

static const char *const severity_name[] = {"note", "warning", "error"};

static void json_notes(cli_json_out *out, const char *const *note, size_t n)
{
    cli_json_open(out, "notes", '[');
    for (size_t i = 0; i < n; i++)
        cli_json_put_text(out, NULL, note[i]);
    cli_json_close(out, ']');
}

static void json_message(cli_json_out *out, const char *severity, const char *id,
                         const tc_loc *loc, const char *text)
{
    static const tc_loc nowhere;
    loc = loc ? loc : &nowhere;
    cli_json_put_text(out, "severity", severity);
    cli_json_put_text(out, "id", id);
    cli_json_put_text(out, "file", loc->file);
    cli_json_put_text(out, "place", loc->place);
    cli_json_put_text(out, "node", loc->node);
    cli_json_put_text(out, "module", loc->module);
    cli_json_put_text(out, "text", text);
}

static void json_all(cli *c, int code, size_t muted)
{
    cli_json_out out = {.to = stderr};
    cli_json_open(&out, NULL, '{');
    cli_json_put_text(&out, "version", tc_version());
    cli_json_put_int(&out, "exit", code);
    cli_json_open(&out, "messages", '[');
    for (size_t i = 0; i < tc_diagnostic_count(c->ctx); i++) {
        const tc_diagnostic *d = tc_diagnostic_at(c->ctx, i);
        cli_json_open(&out, NULL, '{');
        json_message(&out, severity_name[d->severity], d->id, d->loc, d->text);
        json_notes(&out, d->note, d->n_note);
        cli_json_close(&out, '}');
    }
    for (size_t i = 0; i < c->n_said; i++) {
        const cli_message *m = &c->said[i];
        cli_json_open(&out, NULL, '{');
        json_message(&out, m->kind, m->id, &(tc_loc){.file = m->file}, m->text);
        json_notes(&out, m->notes.v, m->notes.n);
        cli_json_close(&out, '}');
    }
    cli_json_close(&out, ']');
    cli_json_put_int(&out, "not_shown", (int64_t)muted);
    cli_json_close(&out, '}');
}

static void json_no_memory(void)
{
    fprintf(stderr, "{\"version\": \"%s\", \"exit\": %d, \"messages\": [{\"severity\": \"error\", "
                    "\"id\": \"memory\", \"file\": null, \"place\": null, \"node\": null, "
                    "\"module\": null, \"text\": \"out of memory\", \"notes\": []}], "
                    "\"not_shown\": 0}\n",
            tc_version(), TC_BAD_MODEL);
}

int cli_tell(cli *c, tc_status status)
{
    tc_ctx_stats stats = {.size = sizeof stats};
    bool no_memory = status == TC_NO_MEMORY;
    int code = no_memory ? TC_BAD_MODEL : (int)status;
    tc_ctx_get_stats(c->ctx, &stats);
    if (!c->common.json)
        print_all(c, no_memory, stats.muted);
    else if (no_memory)
        json_no_memory();
    else if (code || c->n_said || tc_diagnostic_count(c->ctx))
        json_all(c, code, stats.muted);
    return code;
}
