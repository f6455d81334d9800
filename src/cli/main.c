/* SPDX-License-Identifier: Apache-2.0 */
/* main.c -- finds the verb, reads its options, runs it, and tells the shell how it went. */
#include "cli.h"

#include "../read/read.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const tc_verb *const verb[] = {
    &tc_cli_compile,
    &tc_cli_quantize,
    &tc_cli_run,
    &tc_cli_explain,
    &tc_cli_compare,
    &tc_cli_inspect,
    &tc_cli_verify,
    &tc_cli_opt,
};

static const char *verb_name(size_t i, const void *from)
{
    (void)from;
    return i < TC_COUNT(verb) ? verb[i]->name : NULL;
}

static void overview(FILE *out)
{
    fprintf(out, "%s: a quantizing ahead-of-time compiler for Arm machine-learning targets\n\n",
            tc_version());
    for (size_t i = 0; i < TC_COUNT(verb); i++)
        fprintf(out, "  tosac %-8s %s\n", verb[i]->name, verb[i]->summary);
    fprintf(out, "\n'tosac VERB --help' shows a verb's arguments and options.\n");
}

static tc_status unknown_verb(tc_ctx *ctx, const char *word)
{
    tc_status status = tc_usage(ctx, "'%s' is not something tosac does", word);
    const char *near = tc_cli_nearest(word, verb_name, NULL);
    if (near)
        tc_note(ctx, NULL, "did you mean 'tosac %s'?", near);
    else
        tc_note(ctx, NULL, "'tosac --help' lists what it does");
    return status;
}

static tc_status run_verb(tc_ctx *ctx, const tc_verb *v, int argc, char **argv)
{
    tc_common common = {0};
    tc_texts args = {0};
    void *record = tc_arena_array(&ctx->arena, 1, v->record, _Alignof(max_align_t));
    TC_TRY(tc_cli_parse(ctx, v, argc, argv, 2, &common, record, &args));
    if (common.version)
        puts(tc_version());
    else if (common.help)
        tc_cli_help(v);
    if (common.version || common.help)
        return TC_OK;
    ctx->threads = (int)common.threads;
    ctx->reference_kernels = common.kernels != NULL;
    for (size_t i = 0; i < common.dims.n; i++)
        TC_TRY(tc_read_dim(ctx, common.dims.v[i]));
    return v->run(ctx, &common, record, &args);
}

static tc_status dispatch(tc_ctx *ctx, int argc, char **argv)
{
    if (argc < 2) {
        overview(stderr);
        return TC_USAGE;
    }
    const char *word = argv[1];
    if (tc_text_eq(word, "--version"))
        puts(tc_version());
    else if (tc_text_eq(word, "--help") || tc_text_eq(word, "-h") || tc_text_eq(word, "help"))
        overview(stdout);
    else {
        for (size_t i = 0; i < TC_COUNT(verb); i++)
            if (tc_text_eq(word, verb[i]->name))
                return run_verb(ctx, verb[i], argc, argv);
        return unknown_verb(ctx, word);
    }
    return TC_OK;
}

/* What was printed has been taken by somebody; a reader that left early is no mistake of ours. */
static tc_status finish_output(tc_status status)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    if (errno == EPIPE)
        return status;
    fprintf(stderr, "tosac: error: cannot write to standard output: %s [io]\n", strerror(errno));
    return status ? status : TC_BAD_MODEL;
}

/* Three quarters of the machine's memory: past that, a message beats being killed. */
static size_t memory_limit(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (size_t)pages / 4 * 3 * (size_t)size : 0;
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    tc_ctx *ctx = tc_ctx_new();
    if (!ctx) {
        fputs("tosac: error: memory ran out [memory]\n", stderr);
        return TC_BAD_MODEL;
    }
    volatile tc_status status = TC_OK;
    if (setjmp(ctx->oom) == 0) {
        ctx->arena.oom = ctx->scratch.oom = &ctx->oom;
        ctx->arena.limit = ctx->scratch.limit = memory_limit();
        status = dispatch(ctx, argc, argv);
        fputs(tc_diagnostics(ctx), stderr);
        if (ctx->n_muted)
            fprintf(stderr, "tosac: note: %zu further errors are not shown\n", ctx->n_muted);
    } else {
        fputs("tosac: error: memory ran out; the model and its data need more than there is "
              "[memory]\n",
              stderr);
        status = TC_BAD_MODEL;
    }
    status = finish_output(status);
    tc_ctx_free(ctx);
    return (int)status;
}
