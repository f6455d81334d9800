/* SPDX-License-Identifier: Apache-2.0 */
/* cli_args.c -- one option parser and one help printer for all verbs, driven by their tables. */
#include "cli.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "cli_json.h"

#define COMMON(field) offsetof(cli_common, field)
static const cli_option common_option[] = {
    {"--json", NULL, NULL, CLI_FLAG, COMMON(json), "print JSON"},
    {"--quiet", NULL, NULL, CLI_FLAG, COMMON(quiet),
     "no summary of what was written, no progress; warnings and errors stay"},
    {"--round", NULL, NULL, CLI_FLAG, COMMON(round),
     "data may be rounded to the input's type (float64 arrays for a float32 input)"},
    {"--threads", NULL, "N", CLI_NUMBER, COMMON(threads),
     "use at most N threads (default: all cores)"},
    {"--reference", NULL, NULL, CLI_FLAG, COMMON(reference),
     "the plain kernels alone, slower, for checks"},
    {"--dim", NULL, "NAME=VALUE", CLI_TEXTS, COMMON(dims),
     "a dynamic size of the model; repeat for more"},
    {"--shape", NULL, "INPUT=SIZES", CLI_TEXTS, COMMON(shapes),
     "the shape of a dynamic ONNX or TFLite input, x=1,3,48,320; repeat for more"},
    {"--set", NULL, "INPUT=VALUE", CLI_TEXTS, COMMON(sets),
     "make an input a constant: a number, true, false or a .npy; branches that depend on it fold"},
    {"--signature", NULL, "NAME", CLI_TEXT, COMMON(signature),
     "the signature or graph of a TFLite file (default: the first graph)"},
    {"--dynamic-range", NULL, "HOW", CLI_TEXT, COMMON(dynamic_range),
     "TFLite with int8 weights and float activations: keep the runtime's codes, or read as a float "
     "model: keep, real (default: real where it is quantized)"},
    {"--help", "-h", NULL, CLI_FLAG, COMMON(help), "show this help"},
    {"--version", NULL, NULL, CLI_FLAG, COMMON(version), "show the version"},
    {0},
};

/* Edits between two words. */
static size_t distance_of(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    size_t n = strlen(a), m = strlen(b), row[LONGEST + 1];
    if (n > LONGEST || m > LONGEST)
        return n > m ? n : m;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[m];
}

/* One is the other's beginning, and more than a few letters: --calibration and --calib. */
static bool begins_alike(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), both = n < m ? n : m;
    return both > 4 && strncmp(a, b, both) == 0;
}

const char *cli_nearest(const char *word, const char *(*name)(size_t i, const void *from),
                        const void *from)
{
    const char *best = NULL, *alike = NULL, *candidate;
    size_t least = strlen(word) / 3 + 2; /* further away than this is not near */
    for (size_t i = 0; (candidate = name(i, from)); i++) {
        if (begins_alike(word, candidate) && (!alike || strlen(candidate) > strlen(alike)))
            alike = candidate;
        size_t distance = distance_of(word, candidate);
        if (distance < least) {
            least = distance;
            best = candidate;
        }
    }
    return alike ? alike : best;
}

static size_t count_options(const cli_option *option)
{
    size_t n = 0;
    while (option[n].name)
        n++;
    return n;
}

static const cli_option *option_at(size_t i, const cli_verb *verb)
{
    size_t own = count_options(verb->option);
    if (i < own)
        return &verb->option[i];
    return i - own < count_options(common_option) ? &common_option[i - own] : NULL;
}

static const char *option_name(size_t i, const void *verb)
{
    const cli_option *option = option_at(i, verb);
    return option ? option->name : NULL;
}

/* The option that the word begins with, and where its value starts inside the word (NULL:
 * elsewhere). */
static const cli_option *find(const cli_verb *verb, const char *word, bool *is_common,
                              const char **inside)
{
    const cli_option *option;
    *inside = NULL;
    for (size_t i = 0; (option = option_at(i, verb)); i++) {
        size_t n = strlen(option->name), m = option->brief ? strlen(option->brief) : 0;
        *is_common = i >= count_options(verb->option);
        if (strncmp(word, option->name, n) == 0 && (word[n] == 0 || word[n] == '=')) {
            *inside = word[n] ? word + n + 1 : NULL;
            return option;
        }
        if (m && word[1] != '-' && strncmp(word, option->brief, m) == 0) {
            *inside = word[m] ? word + m : NULL;
            return option;
        }
    }
    return NULL;
}

/* A whole number from 1 that an int holds. */
static bool number_of(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return *text && *text != ' ' && strlen(text) < 32 && *end == 0 && errno == 0 && *out >= 1 &&
           *out <= INT32_MAX;
}

/* A size of at least a byte: "4096", "512K", "1.5M", "2MiB". */
static bool bytes_of(const char *text, int64_t *out)
{
    double bytes = cli_amount(text);
    const char *unit = text + strspn(text, "0123456789.");
    *out = bytes >= 1 && bytes < 0x1p53 ? (int64_t)bytes : 0;
    return *out >= 1 && *text >= '0' && *text <= '9' &&
           (!*unit || cli_is(unit, "K") || cli_is(unit, "M") || cli_is(unit, "KiB") || cli_is(unit, "MiB"));
}

static tc_status store(cli *c, const cli_option *option, const char *value, char *record)
{
    void *field = record + option->at;
    if (option->kind == CLI_FLAG)
        *(bool *)field = true;
    else if (option->kind == CLI_TEXT)
        *(const char **)field = value;
    else if (option->kind == CLI_TEXTS)
        cli_add(field, value);
    else if (option->kind == CLI_BYTES ? !bytes_of(value, field) : !number_of(value, field))
        return cli_usage(c, option->kind == CLI_BYTES ? "%s needs a size such as 4096, 512K or 1.5M, not '%s'"
                                                      : "%s needs a number of at least 1, not '%s'",
                         option->name, value);
    return TC_OK;
}

/* Options of 0.1, and what replaces them; NULL: nothing does. */
static const struct {
    const char *was, *is;
} renamed[] = {
    {"--ethosu-backend", NULL},
    {"--vela-timeout", NULL},
    {"--refusal-seconds", NULL},
    {"--vela-ini", "--system FILE"},
    {"--system-config", "--system CONFIG"},
    {"--memory-mode", "--system MODE"},
    {"--u55-products", "--optimise products"},
    {"--target-sqnr", "--goal sqnr=DB"},
    {"--target-drop", "--goal drop=POINTS"},
    {"--max-cycles", "--goal cycles=N"},
    {"--max-flash", "--goal flash=BYTES"},
    {"--budget", "--goal time=TIME"},
    {"--dump-after", "--dump-dir DIR"},
    {"--kernels", "--reference"},
};

/* Reports what an option of 0.1 has become; false: it is not one. */
static bool tell_renamed(cli *c, const cli_verb *verb, const char *bare)
{
    bool is_common;
    const char *inside;
    for (size_t i = 0; i < CLI_COUNT(renamed); i++) {
        const char *is = renamed[i].is;
        if (!cli_is(bare, renamed[i].was))
            continue;
        char *name = cli_format("%s", is ? is : "");
        name[strcspn(name, " ")] = 0;
        if (is && !find(verb, name, &is_common, &inside))
            return false;
        if (is)
            cli_note(c, "it is '%s' now", is);
        else
            cli_note(c, "it is gone: every command stream is tosac's own");
        return true;
    }
    return false;
}

static tc_status unknown_option(cli *c, const cli_verb *verb, const char *word)
{
    char *bare = cli_format("%s", word);
    bare[strcspn(bare, "=")] = 0;
    tc_status status = cli_usage(c, "'tosac %s' has no option '%s'", verb->name, bare);
    if (tell_renamed(c, verb, bare))
        return status;
    const char *near = cli_nearest(bare, option_name, verb);
    if (near)
        cli_note(c, "did you mean '%s'?", near);
    else
        cli_note(c, "'tosac %s --help' lists them", verb->name);
    return status;
}

tc_status cli_parse(cli *c, const cli_verb *verb, int argc, char **argv, int first, void *record,
                    cli_texts *args)
{
    cli_common *common = &c->common;
    bool options_end = false, is_common;
    for (int i = first; i < argc; i++) {
        const char *word = argv[i], *value;
        if (options_end || word[0] != '-' || word[1] == 0) {
            cli_add(args, word);
            continue;
        }
        if (cli_is(word, "--")) {
            options_end = true;
            continue;
        }
        const cli_option *option = find(verb, word, &is_common, &value);
        if (!option)
            return unknown_option(c, verb, word);
        if (option->kind == CLI_FLAG && value)
            return cli_usage(c, "%s takes no value", option->name);
        if (option->kind != CLI_FLAG && !value && i + 1 < argc)
            value = argv[++i];
        if (option->kind != CLI_FLAG && !value)
            return cli_usage(c, "%s needs a value (%s)", option->name, option->value);
        CLI_TRY(store(c, option, value, is_common ? (char *)common : record));
        if (common->help || common->version)
            return TC_OK;
    }
    if ((int)args->n < verb->least || (int)args->n > verb->most) {
        if (!verb->most)
            return cli_usage(c, "'tosac %s' takes no argument, not '%s'", verb->name, args->v[0]);
        tc_status status = cli_usage(c, "%zu argument%s, expected: tosac %s %s", args->n,
                                     args->n == 1 ? "" : "s", verb->name, verb->arguments);
        return status;
    }
    return TC_OK;
}

static void help_row(const cli_option *o)
{
    char left[64];
    snprintf(left, sizeof left, "%s%s%s%s%s", o->brief ? o->brief : "", o->brief ? ", " : "",
             o->name, o->value ? " " : "", o->value ? o->value : "");
    printf("  %-24s %s\n", left, o->help);
}

void cli_help(const cli_verb *verb)
{
    printf("tosac %s %s\n\n%s\n", verb->name, verb->arguments, verb->summary);
    if (verb->help)
        printf("\n%s", verb->help);
    printf("\n");
    const cli_option *option;
    for (size_t i = 0; (option = option_at(i, verb)); i++) {
        for (const cli_group *g = verb->group; g && g->first; g++)
            if (cli_is(g->first, option->name))
                printf("%s%s:\n", i ? "\n" : "", g->title);
        if (option->help)
            help_row(option);
    }
}

/* ---- the tables for other programs ---- */

static const struct {
    int code;
    const char *means;
} exit_row[] = {
    {TC_OK, "All went well."},
    {TC_BAD_MODEL,
     "The model or a file is not valid; out of memory; a file cannot be read or written."},
    {TC_USAGE, "An option or argument is wrong."},
    {TC_UNSUPPORTED, "The model is valid but not supported yet."},
    {TC_TOOL, "A library or device that is needed is missing; doctor: a target does not work."},
    {TC_BUG, "A bug in tosac; please report it."},
};

static void dump_option(cli_json_out *out, const cli_option *o)
{
    static const char *const kind[] = {
        [CLI_FLAG] = "flag", [CLI_TEXT] = "text", [CLI_TEXTS] = "texts", [CLI_NUMBER] = "number", [CLI_BYTES] = "bytes"};
    cli_json_open(out, NULL, '{');
    cli_json_put_text(out, "name", o->name);
    cli_json_put_text(out, "brief", o->brief);
    cli_json_put_text(out, "value", o->value);
    cli_json_put_text(out, "kind", kind[o->kind]);
    cli_json_put_text(out, "help", o->help);
    cli_json_close(out, '}');
}

static void dump_list(cli_json_out *out, const char *name, const cli_option *option)
{
    cli_json_open(out, name, '[');
    for (; option->name; option++)
        if (option->help)
            dump_option(out, option);
    cli_json_close(out, ']');
}

void cli_dump_options(const cli_verb *const *verb, size_t n)
{
    cli_json_out out = {0};
    cli_json_open(&out, NULL, '{');
    cli_json_put_text(&out, "version", tc_version());
    dump_list(&out, "common", common_option);
    cli_json_open(&out, "exit", '[');
    for (size_t i = 0; i < CLI_COUNT(exit_row); i++) {
        cli_json_open(&out, NULL, '{');
        cli_json_put_int(&out, "code", exit_row[i].code);
        cli_json_put_text(&out, "means", exit_row[i].means);
        cli_json_close(&out, '}');
    }
    cli_json_close(&out, ']');
    cli_json_open(&out, "verbs", '[');
    for (size_t i = 0; i < n; i++) {
        cli_json_open(&out, NULL, '{');
        cli_json_put_text(&out, "name", verb[i]->name);
        cli_json_put_text(&out, "arguments", verb[i]->arguments);
        cli_json_put_text(&out, "summary", verb[i]->summary);
        cli_json_put_text(&out, "help", verb[i]->help);
        dump_list(&out, "options", verb[i]->option);
        cli_json_close(&out, '}');
    }
    cli_json_close(&out, ']');
    cli_json_close(&out, '}');
}

tc_status cli_use_device(cli *c, const char *path)
{
    if (!path)
        return TC_OK;
    return tc_ctx_use_device(c->ctx, cli_is(path, "first") ? NULL : path);
}
