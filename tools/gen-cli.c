/* SPDX-License-Identifier: Apache-2.0 */
/* gen-cli.c -- manual pages and completions, from the command line's one table of options.
 *
 *   tosac --dump-options | gen-cli FOLDER
 *
 * writes FOLDER/tosac.1, FOLDER/tosac-VERB.1, FOLDER/tosac.bash, FOLDER/_tosac and
 * FOLDER/tosac.fish. */
#include <stdio.h>

#include "lower/shaders.h"
#include "quant/quantizer.h"
#include "tosac/tosac.h"
#include "wire/file.h"
#include "wire/json.h"

typedef struct table {
    tc_ctx *ctx;
    const char *folder, *version; /* "tosac 0.1.0" */
    const tc_json *common, *exit, *verbs;
} table;

#define EACH(it, list) (const tc_json *it = ti_json_first(list); it; it = it->next)

/* A member as text; "" when there is none. */
static const char *text(const table *t, const tc_json *object, const char *key)
{
    tc_str s = ti_json_text(&t->ctx->arena, ti_json_get(object, key));
    return s.p ? ti_text_copy(&t->ctx->arena, s) : "";
}

static int64_t number(const tc_json *object, const char *key)
{
    int64_t value = 0;
    return ti_json_i64(ti_json_get(object, key), &value) ? value : -1;
}

static bool is_flag(const table *t, const tc_json *option)
{
    return ti_text_eq(text(t, option, "kind"), "flag");
}

static tc_status keep(const table *t, const char *name, tc_buf *out)
{
    const char *path = ti_text_format(&t->ctx->arena, "%s/%s", t->folder, name);
    return ti_file_write(t->ctx, path, (tc_bytes){out->data, out->size});
}

/* ---- manual pages ---- */

/* Text for troff: backslashes and hyphens are characters, and no line begins with a request. */
static void roff(tc_buf *out, const char *from)
{
    bool first = true;
    for (; *from; from++) {
        if (first && (*from == '.' || *from == '\''))
            ti_buf_text(out, "\\&");
        if (*from == '\\')
            ti_buf_text(out, "\\e");
        else if (*from == '-')
            ti_buf_text(out, "\\-");
        else
            ti_buf_u8(out, (uint8_t)*from);
        first = *from == '\n';
    }
}

static void head(const table *t, tc_buf *out, const char *name, const char *summary)
{
    ti_buf_printf(out, ".TH %s 1 \"\" \"%s\" \"User Commands\"\n.SH NAME\n", name, t->version);
    roff(out, name);
    ti_buf_text(out, " \\- ");
    roff(out, summary);
    ti_buf_text(out, "\n");
}

static void option_rows(const table *t, tc_buf *out, const tc_json *list)
{
    for EACH (o, list) {
        const char *brief = text(t, o, "brief"), *value = text(t, o, "value");
        ti_buf_text(out, ".TP\n");
        if (*brief) {
            ti_buf_text(out, "\\fB");
            roff(out, brief);
            ti_buf_text(out, "\\fR, ");
        }
        ti_buf_text(out, "\\fB");
        roff(out, text(t, o, "name"));
        ti_buf_text(out, "\\fR");
        if (*value) {
            ti_buf_text(out, " \\fI");
            roff(out, value);
            ti_buf_text(out, "\\fR");
        }
        ti_buf_text(out, "\n");
        roff(out, text(t, o, "help"));
        ti_buf_text(out, "\n");
    }
}

static tc_status verb_page(const table *t, const tc_json *verb)
{
    const char *name = text(t, verb, "name"), *help = text(t, verb, "help");
    tc_buf out;
    ti_buf_init(&out, &t->ctx->arena);
    head(t, &out, ti_text_format(&t->ctx->arena, "tosac-%s", name), text(t, verb, "summary"));
    ti_buf_printf(&out, ".SH SYNOPSIS\n\\fBtosac %s\\fR ", name);
    roff(&out, text(t, verb, "arguments"));
    ti_buf_text(&out, "\n");
    if (*help) {
        ti_buf_text(&out, ".SH DESCRIPTION\n.nf\n");
        roff(&out, help);
        ti_buf_text(&out, ".fi\n");
    }
    ti_buf_text(&out, ".SH OPTIONS\n");
    option_rows(t, &out, ti_json_get(verb, "options"));
    ti_buf_text(&out, ".SS Common options\n");
    option_rows(t, &out, t->common);
    ti_buf_text(&out, ".SH SEE ALSO\n.BR tosac (1)\n");
    return keep(t, ti_text_format(&t->ctx->arena, "tosac-%s.1", name), &out);
}

/* What variables of the environment mean. */
static const char *const variable_row[][2] = {
    {"TOSAC_ISA", "The vector instructions to use at most: plain, neon, avx2, avx512 or amx.  "
                  "Integer results are the same bits with all of them."},
    {"NO_COLOR", "When it is set, messages on a terminal are not in colour."},
};

static void rows(tc_buf *out, const char *title, const char *const (*row)[2], size_t n)
{
    ti_buf_printf(out, ".SH %s\n", title);
    for (size_t i = 0; i < n; i++) {
        ti_buf_printf(out, ".TP\n.B %s\n", row[i][0]);
        roff(out, row[i][1]);
        ti_buf_text(out, "\n");
    }
}

static tc_status main_page(const table *t)
{
    tc_buf out;
    ti_buf_init(&out, &t->ctx->arena);
    head(t, &out, "tosac",
         "a quantizing ahead-of-time compiler for Arm machine-learning targets");
    ti_buf_text(&out, ".SH SYNOPSIS\n.B tosac\n.I VERB\n[\\fIARGUMENT\\fR]...\n.SH DESCRIPTION\n");
    roff(&out,
         "tosac turns PyTorch exports (.pt2) into TOSA flatbuffers, VGF files, Ethos-U command "
         "streams and ExecuTorch programs, and quantizes them on the way.\n");
    ti_buf_text(&out, ".SH VERBS\n");
    for EACH (verb, t->verbs) {
        ti_buf_printf(&out, ".TP\n\\fBtosac %s\\fR ", text(t, verb, "name"));
        roff(&out, text(t, verb, "arguments"));
        ti_buf_text(&out, "\n");
        roff(&out, text(t, verb, "summary"));
        ti_buf_text(&out, "\n");
    }
    ti_buf_text(&out, ".SH OPTIONS\nEvery verb understands these.\n");
    option_rows(t, &out, t->common);
    ti_buf_text(&out, ".SH EXIT STATUS\n");
    for EACH (row, t->exit) {
        ti_buf_printf(&out, ".TP\n.B %" PRId64 "\n", number(row, "code"));
        roff(&out, text(t, row, "means"));
        ti_buf_text(&out, "\n");
    }
    rows(&out, "ENVIRONMENT", variable_row, TC_COUNT(variable_row));
    ti_buf_text(&out, ".SH SEE ALSO\n");
    for EACH (verb, t->verbs)
        ti_buf_printf(&out, ".BR tosac\\-%s (1)%s\n", text(t, verb, "name"), verb->next ? "," : "");
    return keep(t, "tosac.1", &out);
}

/* ---- completions ---- */

typedef void put_words(const table *t, tc_buf *out);

static void targets(const table *t, tc_buf *out)
{
    (void)t;
    tc_target_info info = {.size = sizeof info};
    for (size_t i = 0; tc_target_at(i, &info); i++)
        ti_buf_printf(out, " %s", info.name);
}

static void boards(const table *t, tc_buf *out)
{
    tc_board_info info = {.size = sizeof info};
    bool more = true;
    for (size_t i = 0; tc_board_at(t->ctx, i, &more, &info) == TC_OK && more; i++)
        ti_buf_printf(out, " %s", info.name);
}

static void modes(const table *t, tc_buf *out)
{
    size_t n;
    const char *const *name = ti_config_presets(&n);
    (void)t;
    for (size_t i = 0; i < n; i++)
        ti_buf_printf(out, " %s", name[i]);
}

static void kinds(const table *t, tc_buf *out)
{
    (void)t;
    for (int i = 0; tc_output_name((tc_output)i); i++)
        ti_buf_printf(out, " %s", tc_output_name((tc_output)i));
    ti_buf_text(out, " model-explorer");
}

static void shaders(const table *t, tc_buf *out)
{
    (void)t;
    for (int i = 0; i <= TC_SHADERS_NONE; i++)
        ti_buf_printf(out, " %s", ti_shaders_word((tc_shaders)i));
}

/* Values that have names; of all others files are offered. */
static const struct {
    const char *option, *word;
    put_words *put;
} valued_row[] = {
    {"--target", NULL, targets},  {"--board", NULL, boards},   {"--quant", NULL, modes},
    {"--emit", NULL, kinds},      {"--shaders", NULL, shaders}, {"--optimise", " Performance Size", NULL},
    {"--kernels", " plain cmsis-nn", NULL}, {"--dynamic-range", " keep real", NULL}};

/* Each with a blank before it; "": there are none. */
static const char *words_of(const table *t, const tc_json *option)
{
    tc_buf out;
    ti_buf_init(&out, &t->ctx->arena);
    for (size_t i = 0; i < TC_COUNT(valued_row); i++)
        if (ti_text_eq(text(t, option, "name"), valued_row[i].option)) {
            if (valued_row[i].put)
                valued_row[i].put(t, &out);
            else
                ti_buf_text(&out, valued_row[i].word);
        }
    return ti_buf_cstr(&out);
}

/* Names and short names, apart by blanks; `valued`: only those that take a value, apart by bars. */
static void names(const table *t, tc_buf *out, const tc_json *list, bool valued)
{
    for EACH (o, list) {
        const char *brief = text(t, o, "brief");
        if (valued && is_flag(t, o))
            continue;
        ti_buf_printf(out, "%s%s", text(t, o, "name"), valued ? "|" : " ");
        if (*brief)
            ti_buf_printf(out, "%s%s", brief, valued ? "|" : " ");
    }
}

/* The first option of that name that a verb has. */
static const tc_json *option_of(const table *t, const char *name)
{
    for EACH (verb, t->verbs)
        for EACH (o, ti_json_get(verb, "options"))
            if (ti_text_eq(text(t, o, "name"), name))
                return o;
    for EACH (o, t->common)
        if (ti_text_eq(text(t, o, "name"), name))
            return o;
    return NULL;
}

static void bash_words(const table *t, tc_buf *out, const char *name)
{
    const tc_json *o = option_of(t, name);
    const char *brief = o ? text(t, o, "brief") : "";
    if (o)
        ti_buf_printf(out, "    %s%s%s) words='%s' ;;\n", name, *brief ? " | " : "", brief, words_of(t, o) + 1);
}

static tc_status bash_file(const table *t)
{
    tc_buf out;
    ti_buf_init(&out, &t->ctx->arena);
    ti_buf_text(&out,
                "# bash completion for tosac; made by gen-cli\n_tosac()\n{\n"
                "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                "    local options valued words\n"
                "    COMPREPLY=()\n"
                "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
                "        COMPREPLY=($(compgen -W \"--help --version");
    for EACH (verb, t->verbs)
        ti_buf_printf(&out, " %s", text(t, verb, "name"));
    ti_buf_text(&out, "\" -- \"$current\"))\n        return\n    fi\n"
                      "    case ${COMP_WORDS[1]} in\n");
    for EACH (verb, t->verbs) {
        ti_buf_printf(&out, "    %s)\n        options='", text(t, verb, "name"));
        names(t, &out, ti_json_get(verb, "options"), false);
        names(t, &out, t->common, false);
        ti_buf_text(&out, "'\n        valued='|");
        names(t, &out, ti_json_get(verb, "options"), true);
        names(t, &out, t->common, true);
        ti_buf_text(&out, "'\n        ;;\n");
    }
    ti_buf_text(&out, "    esac\n"
                      "    [ \"$before\" != = ] || before=${COMP_WORDS[COMP_CWORD-2]}\n"
                      "    [ \"$current\" != = ] || { before=${COMP_WORDS[COMP_CWORD-1]} current=; }\n"
                      "    words=\n    case $before in\n");
    for (size_t i = 0; i < TC_COUNT(valued_row); i++)
        bash_words(t, &out, valued_row[i].option);
    ti_buf_text(&out, "    esac\n"
                      "    [[ $valued == *\"|$before|\"* ]] || words=\n"
                      "    if [ -n \"$words\" ]; then\n"
                      "        COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
                      "        compopt +o filenames 2>/dev/null\n"
                      "    elif [[ $current == -* && $valued != *\"|$before|\"* ]]; then\n"
                      "        COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
                      "    else\n"
                      "        COMPREPLY=($(compgen -f -- \"$current\"))\n"
                      "    fi\n}\n"
                      "complete -o filenames -F _tosac tosac\n");
    return keep(t, "tosac.bash", &out);
}

/* Inside single quotes; brackets and colons escaped where zsh wants it. */
static void quoted(tc_buf *out, const char *from, bool zsh)
{
    for (; *from; from++) {
        if (*from == '\'')
            ti_buf_text(out, zsh ? "'\\''" : "\\'");
        else if (zsh && strchr("[]:\\", *from))
            ti_buf_printf(out, "\\%c", *from);
        else
            ti_buf_u8(out, (uint8_t)*from);
    }
}

static void zsh_row(tc_buf *out, const table *t, const tc_json *o, const char *name)
{
    bool again = ti_text_eq(text(t, o, "kind"), "texts");
    ti_buf_printf(out, "            '%s%s%s[", again ? "*" : "", name,
                  is_flag(t, o) || name[1] != '-' ? "" : "=");
    quoted(out, text(t, o, "help"), true);
    ti_buf_text(out, "]");
    if (!is_flag(t, o)) {
        ti_buf_text(out, ":");
        quoted(out, text(t, o, "value"), true);
        const char *words = words_of(t, o);
        if (*words) {
            ti_buf_text(out, ":(");
            quoted(out, words + 1, true);
            ti_buf_text(out, ")");
        } else
            ti_buf_text(out, ":_files");
    }
    ti_buf_text(out, "' \\\n");
}

static void zsh_options(tc_buf *out, const table *t, const tc_json *list)
{
    for EACH (o, list) {
        zsh_row(out, t, o, text(t, o, "name"));
        if (*text(t, o, "brief"))
            zsh_row(out, t, o, text(t, o, "brief"));
    }
}

static tc_status zsh_file(const table *t)
{
    tc_buf out;
    ti_buf_init(&out, &t->ctx->arena);
    ti_buf_text(&out, "#compdef tosac\n# made by gen-cli\n_tosac()\n{\n"
                      "    local -a verbs\n    verbs=(\n");
    for EACH (verb, t->verbs) {
        ti_buf_printf(&out, "        '%s:", text(t, verb, "name"));
        quoted(&out, text(t, verb, "summary"), true);
        ti_buf_text(&out, "'\n");
    }
    ti_buf_text(&out, "    )\n    if (( CURRENT == 2 )); then\n"
                      "        _describe verb verbs\n        return\n    fi\n"
                      "    local verb=$words[2]\n"
                      "    shift words\n    (( CURRENT-- ))\n    case $verb in\n");
    for EACH (verb, t->verbs) {
        ti_buf_printf(&out, "    %s)\n        _arguments \\\n", text(t, verb, "name"));
        zsh_options(&out, t, ti_json_get(verb, "options"));
        zsh_options(&out, t, t->common);
        ti_buf_text(&out, "            '*:file:_files'\n        ;;\n");
    }
    ti_buf_text(&out, "    esac\n}\n_tosac \"$@\"\n");
    return keep(t, "_tosac", &out);
}

static void fish_options(tc_buf *out, const table *t, const tc_json *list, const char *when)
{
    for EACH (o, list) {
        const char *brief = text(t, o, "brief");
        ti_buf_printf(out, "complete -c tosac -n '%s' -l %s", when, text(t, o, "name") + 2);
        if (*brief)
            ti_buf_printf(out, " -s %s", brief + 1);
        const char *words = is_flag(t, o) ? "" : words_of(t, o);
        if (!is_flag(t, o))
            ti_buf_text(out, *words ? " -x" : " -r");
        if (*words)
            ti_buf_printf(out, " -a '%s'", words + 1);
        ti_buf_text(out, " -d '");
        quoted(out, text(t, o, "help"), false);
        ti_buf_text(out, "'\n");
    }
}

static tc_status fish_file(const table *t)
{
    tc_buf out;
    tc_arena *arena = &t->ctx->arena;
    ti_buf_init(&out, arena);
    ti_buf_text(&out, "# fish completion for tosac; made by gen-cli\n");
    for EACH (verb, t->verbs) {
        ti_buf_printf(&out, "complete -c tosac -n __fish_use_subcommand -f -a %s -d '",
                      text(t, verb, "name"));
        quoted(&out, text(t, verb, "summary"), false);
        ti_buf_text(&out, "'\n");
    }
    for EACH (verb, t->verbs)
        fish_options(&out, t, ti_json_get(verb, "options"),
                     ti_text_format(arena, "__fish_seen_subcommand_from %s",
                                    text(t, verb, "name")));
    fish_options(&out, t, t->common, "not __fish_use_subcommand");
    return keep(t, "tosac.fish", &out);
}

static tc_status write_all(table *t)
{
    tc_bytes bytes;
    const char *reason;
    size_t at;
    TC_TRY(ti_file_read(t->ctx, "-", &bytes));
    const tc_json *all = ti_json_parse(&t->ctx->arena, bytes, &reason, &at);
    if (!all)
        return ti_error(t->ctx, NULL, TC_E_SYNTAX, "byte %zu: %s", at, reason);
    t->version = text(t, all, "version");
    t->common = ti_json_get(all, "common");
    t->exit = ti_json_get(all, "exit");
    t->verbs = ti_json_get(all, "verbs");
    if (!ti_json_first(t->common) || !ti_json_first(t->verbs))
        return ti_error(t->ctx, NULL, TC_E_STRUCTURE, "this is no table of verbs and options");
    TC_TRY(ti_folder_make(t->ctx, t->folder));
    TC_TRY(main_page(t));
    for EACH (verb, t->verbs)
        TC_TRY(verb_page(t, verb));
    TC_TRY(bash_file(t));
    TC_TRY(zsh_file(t));
    return fish_file(t);
}

int main(int argc, char **argv)
{
    table t = {.ctx = tc_ctx_new(), .folder = argc > 1 ? argv[1] : NULL};
    if (!t.ctx || !t.folder) {
        fputs("tosac --dump-options | gen-cli FOLDER\n", stderr);
        return 2;
    }
    tc_status status = write_all(&t);
    fputs(tc_diagnostics(t.ctx), stderr);
    tc_ctx_free(t.ctx);
    return (int)status;
}
