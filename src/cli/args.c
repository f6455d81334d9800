/* SPDX-License-Identifier: Apache-2.0 */
/* args.c -- one option parser and one help printer for all verbs, driven by their tables. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>

#define COMMON(field) offsetof(tc_common, field)
static const tc_option common_option[] = {
    {"--json", NULL, NULL, TC_OPTION_FLAG, COMMON(json), "print for programs, not for people"},
    {"--threads", NULL, "N", TC_OPTION_COUNT, COMMON(threads),
     "use at most N threads (default: all cores)"},
    {"--kernels", NULL, "WHICH", TC_OPTION_TEXT, COMMON(kernels),
     "reference: our own kernels only, the same bits on every machine"},
    {"--dim", NULL, "NAME=VALUE", TC_OPTION_TEXTS, COMMON(dims),
     "a size that the model leaves open; again for each"},
    {"--help", "-h", NULL, TC_OPTION_FLAG, COMMON(help), "show this and stop"},
    {"--version", NULL, NULL, TC_OPTION_FLAG, COMMON(version), "show the version and stop"},
    {0},
};

const char *tc_cli_nearest(const char *word, const char *(*name)(size_t i, const void *from),
                           const void *from)
{
    const char *best = NULL, *candidate;
    size_t least = strlen(word) / 3 + 2; /* further away than this is not near */
    for (size_t i = 0; (candidate = name(i, from)); i++) {
        size_t distance = tc_text_distance(word, candidate);
        if (distance < least) {
            least = distance;
            best = candidate;
        }
    }
    return best;
}

static size_t count_options(const tc_option *option)
{
    size_t n = 0;
    while (option[n].name)
        n++;
    return n;
}

static const tc_option *option_at(size_t i, const tc_verb *verb)
{
    size_t own = count_options(verb->option);
    if (i < own)
        return &verb->option[i];
    return i - own < count_options(common_option) ? &common_option[i - own] : NULL;
}

static const char *option_name(size_t i, const void *verb)
{
    const tc_option *option = option_at(i, verb);
    return option ? option->name : NULL;
}

/* The option that the word begins with, and where its value starts inside the word (NULL:
 * elsewhere). */
static const tc_option *find(const tc_verb *verb, const char *word, bool *is_common,
                             const char **inside)
{
    const tc_option *option;
    *inside = NULL;
    for (size_t i = 0; (option = option_at(i, verb)); i++) {
        size_t n = strlen(option->name), m = option->brief ? strlen(option->brief) : 0;
        *is_common = i >= count_options(verb->option);
        if (tc_text_starts(word, option->name) && (word[n] == 0 || word[n] == '=')) {
            *inside = word[n] ? word + n + 1 : NULL;
            return option;
        }
        if (m && word[1] != '-' && tc_text_starts(word, option->brief)) {
            *inside = word[m] ? word + m : NULL;
            return option;
        }
    }
    return NULL;
}

static tc_status store(tc_ctx *ctx, const tc_option *option, const char *value, char *record)
{
    void *field = record + option->at;
    if (option->kind == TC_OPTION_FLAG)
        *(bool *)field = true;
    else if (option->kind == TC_OPTION_TEXT)
        *(const char **)field = value;
    else if (option->kind == TC_OPTION_TEXTS) {
        tc_texts *texts = field;
        tc_grow(&ctx->arena, texts->v, texts->n, texts->cap);
        texts->v[texts->n++] = value;
    } else if (!tc_text_to_i64(tc_str_of(value), field) || *(int64_t *)field < 1 ||
               *(int64_t *)field > INT32_MAX)
        return tc_usage(ctx, "%s takes a number from 1, not '%s'", option->name, value);
    return TC_OK;
}

static tc_status unknown_option(tc_ctx *ctx, const tc_verb *verb, const char *word)
{
    char *bare = tc_text_copy(&ctx->arena, tc_str_of(word));
    bare[strcspn(bare, "=")] = 0;
    tc_status status = tc_usage(ctx, "'tosac %s' has no option '%s'", verb->name, bare);
    const char *near = tc_cli_nearest(bare, option_name, verb);
    if (near)
        tc_note(ctx, NULL, "did you mean '%s'?", near);
    else
        tc_note(ctx, NULL, "'tosac %s --help' lists them", verb->name);
    return status;
}

tc_status tc_cli_parse(tc_ctx *ctx, const tc_verb *verb, int argc, char **argv, int first,
                       tc_common *common, void *record, tc_texts *args)
{
    bool options_end = false, is_common;
    for (int i = first; i < argc; i++) {
        const char *word = argv[i], *value;
        if (options_end || word[0] != '-' || word[1] == 0) {
            tc_grow(&ctx->arena, args->v, args->n, args->cap);
            args->v[args->n++] = word;
            continue;
        }
        if (tc_text_eq(word, "--")) {
            options_end = true;
            continue;
        }
        const tc_option *option = find(verb, word, &is_common, &value);
        if (!option)
            return unknown_option(ctx, verb, word);
        if (option->kind == TC_OPTION_FLAG && value)
            return tc_usage(ctx, "%s takes no value", option->name);
        if (option->kind != TC_OPTION_FLAG && !value && i + 1 < argc)
            value = argv[++i];
        if (option->kind != TC_OPTION_FLAG && !value)
            return tc_usage(ctx, "%s needs a value (%s)", option->name, option->value);
        TC_TRY(store(ctx, option, value, is_common ? (char *)common : record));
        if (common->help || common->version)
            return TC_OK;
    }
    if (common->kernels && !tc_text_eq(common->kernels, "reference"))
        return tc_usage(ctx, "--kernels takes 'reference', not '%s'", common->kernels);
    if ((int)args->n < verb->least || (int)args->n > verb->most) {
        tc_status status = tc_usage(ctx, "%zu argument%s, expected: tosac %s %s", args->n,
                                    args->n == 1 ? "" : "s", verb->name, verb->arguments);
        return status;
    }
    return TC_OK;
}

static void help_row(const tc_option *o)
{
    char left[64];
    snprintf(left, sizeof left, "%s%s%s%s%s", o->brief ? o->brief : "", o->brief ? ", " : "",
             o->name, o->value ? " " : "", o->value ? o->value : "");
    printf("  %-24s %s\n", left, o->help);
}

void tc_cli_help(const tc_verb *verb)
{
    printf("tosac %s %s\n\n%s\n", verb->name, verb->arguments, verb->summary);
    if (verb->help)
        printf("\n%s", verb->help);
    printf("\n");
    const tc_option *option;
    for (size_t i = 0; (option = option_at(i, verb)); i++)
        help_row(option);
}

void tc_cli_names(tc_ctx *ctx, const char *text, tc_texts *out)
{
    while (text && *text) {
        size_t n = strcspn(text, ",");
        if (n) {
            tc_grow(&ctx->arena, out->v, out->n, out->cap);
            out->v[out->n++] = tc_text_copy(&ctx->arena, (tc_str){text, n});
        }
        text += n + (text[n] == ',');
    }
}
