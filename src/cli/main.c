/* SPDX-License-Identifier: Apache-2.0 */
/* main.c -- finds the verb, reads its options, runs it, and returns the exit code to the shell. */
#include "cli_messages.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const cli_verb *const verb[] = {
    &cli_compile,  &cli_quantize, &cli_run,     &cli_explain, &cli_compare,
    &cli_evaluate, &cli_generate, &cli_inspect, &cli_verify,  &cli_profile,
    &cli_advise,   &cli_report,   &cli_opt,     &cli_doctor,  &cli_targets,
    &cli_boards,   &cli_ops,      &cli_emulate, &cli_calibrate,
};

static const char *verb_name(size_t i, const void *from)
{
    (void)from;
    return i < CLI_COUNT(verb) ? verb[i]->name : NULL;
}

static void print_version(void)
{
    printf(*TOSAC_COMMIT ? "%s (" TOSAC_COMMIT ")\n" : "%s\n", tc_version());
}

static void overview(FILE *out)
{
    fprintf(out, "%s: a quantizing ahead-of-time compiler for Arm machine-learning targets\n\n",
            tc_version());
    for (size_t i = 0; i < CLI_COUNT(verb); i++)
        fprintf(out, "  tosac %-8s %s\n", verb[i]->name, verb[i]->summary);
    fprintf(out, "\n'tosac VERB --help' or 'tosac help VERB' shows a verb's arguments and options.\n");
}

static tc_status unknown_verb(cli *c, const char *word)
{
    tc_status status = cli_usage(c, "'%s' is not a command", word);
    const char *near = cli_nearest(word, verb_name, NULL);
    if (near)
        cli_note(c, "did you mean 'tosac %s'?", near);
    else
        cli_note(c, "'tosac --help' lists the commands");
    return status;
}

/* NAME=VALUE of one option: a name that is given twice is an error. */
static tc_status check_names(cli *c, const char *option, const cli_texts *given)
{
    for (size_t i = 0; i < given->n; i++)
        for (size_t k = 0; k < i; k++) {
            const char *a = given->v[k], *b = given->v[i];
            size_t n = strcspn(b, "=");
            if (strcspn(a, "=") == n && strncmp(a, b, n) == 0)
                return cli_usage(c, "%s %s: it was given before as %s; expected one value", option,
                                 b, a);
        }
    return TC_OK;
}

static tc_status run_verb(cli *c, const cli_verb *v, int argc, char **argv)
{
    cli_texts args = {0};
    void *record = cli_memory(1, v->record);
    CLI_TRY(cli_parse(c, v, argc, argv, 2, record, &args));
    if (c->common.version)
        print_version();
    else if (c->common.help)
        cli_help(v);
    if (c->common.version || c->common.help)
        return TC_OK;
    tc_ctx_set_threads(c->ctx, (int)c->common.threads);
    tc_ctx_set_reference_kernels(c->ctx, c->common.reference);
    CLI_TRY(check_names(c, "--dim", &c->common.dims));
    CLI_TRY(check_names(c, "--shape", &c->common.shapes));
    CLI_TRY(check_names(c, "--set", &c->common.sets));
    for (size_t i = 0; i < c->common.dims.n; i++)
        CLI_TRY(tc_ctx_set_dim(c->ctx, c->common.dims.v[i]));
    CLI_TRY(tc_ctx_set_signature(c->ctx, c->common.signature));
    CLI_TRY(tc_ctx_set_dynamic_range(c->ctx, c->common.dynamic_range));
    CLI_TRY(tc_ctx_set_round(c->ctx, c->common.round));
    for (size_t i = 0; i < c->common.shapes.n; i++)
        CLI_TRY(tc_ctx_set_shape(c->ctx, c->common.shapes.v[i]));
    for (size_t i = 0; i < c->common.sets.n; i++)
        CLI_TRY(tc_ctx_set_input(c->ctx, c->common.sets.v[i]));
    tc_status status = v->run(c, record, &args);
    cli_progress_end(c);
    return status;
}

static const cli_verb *verb_named(const char *word)
{
    for (size_t i = 0; i < CLI_COUNT(verb); i++)
        if (cli_is(word, verb[i]->name))
            return verb[i];
    return NULL;
}

/* "tosac help", and "tosac help VERB" as "tosac VERB --help". */
static tc_status help(cli *c, const char *word)
{
    if (!word)
        overview(stdout);
    else if (verb_named(word))
        cli_help(verb_named(word));
    else
        return unknown_verb(c, word);
    return TC_OK;
}

static tc_status dispatch(cli *c, int argc, char **argv)
{
    if (argc < 2) {
        overview(stderr);
        return TC_USAGE;
    }
    const char *word = argv[1];
    if (cli_is(word, "--version"))
        print_version();
    else if (cli_is(word, "--help") || cli_is(word, "-h") || cli_is(word, "help"))
        return help(c, argc > 2 ? argv[2] : NULL);
    else if (cli_is(word, "--dump-options")) /* what manual pages and completions are made of */
        cli_dump_options(verb, CLI_COUNT(verb));
    else if (verb_named(word))
        return run_verb(c, verb_named(word), argc, argv);
    else
        return unknown_verb(c, word);
    return TC_OK;
}

/* Has whoever reads our pipe closed it?  A write that failed long ago has left no errno. */
static bool reader_left(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

/* Whether what was printed has been read; a reader that left early is not our error. */
static int finish_output(int code)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    int why = errno;
    if (why == EPIPE || reader_left())
        return code;
    fprintf(stderr, "tosac: error: cannot write to standard output: %s [io]\n",
            why ? strerror(why) : "not all of it was taken");
    return code ? code : TC_BAD_MODEL;
}

/* Three quarters of the machine's memory: beyond that, a message is better than being killed. */
static size_t memory_limit(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (size_t)pages / 4 * 3 * (size_t)size : 0;
}

/* ---- signals ---- */

static tc_ctx *interruptible;
static volatile sig_atomic_t signal_came;
static time_t signal_time; /* of the first one, in seconds; written before signal_came */

static time_t seconds_now(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

/* The first signal cancels the work, so that unfinished files are removed; one that comes a second
 * later, or more, ends it.  Sooner it is the same one: timeout(1) signals the program, and then its
 * group. */
static void on_signal(int number)
{
    if (signal_came && seconds_now() - signal_time > 1) {
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    if (signal_came)
        return;
    signal_time = seconds_now();
    signal_came = number;
    tc_ctx_cancel(interruptible);
}

/* Files are mapped: one that is truncated meanwhile has pages that do not exist. */
static void on_missing_page(int number)
{
    static const char words[] =
        "tosac: error: a file was truncated while it was read, or its disk fails [truncated]\n";
    (void)number;
    ssize_t said = write(STDERR_FILENO, words, sizeof words - 1);
    (void)said;
    _exit(TC_BAD_MODEL);
}

static void map_files(tc_ctx *ctx)
{
    struct sigaction missing = {.sa_handler = on_missing_page};
    if (sigaction(SIGBUS, &missing, NULL) == 0)
        tc_ctx_set_mapping(ctx, 1);
}

static void watch_signals(tc_ctx *ctx)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
    interruptible = ctx;
    for (size_t i = 0; i < CLI_COUNT(ending); i++) {
        struct sigaction watch = {.sa_handler = on_signal}, before;
        if (sigaction(ending[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(ending[i], &watch, NULL);
    }
}

/* Everything is cleaned up: the signal's default action is taken, and the shell sees 128 + its
 * number. */
static void obey_signal(void)
{
    if (!signal_came)
        return;
    signal(signal_came, SIG_DFL);
    raise(signal_came);
}

/* The work was cancelled by a signal, and no unfinished file is left. */
static void tell_signal(cli *c)
{
    const char *name = signal_came == SIGINT ? "interrupted" : "ended by a signal";
    if (!c->common.json)
        fprintf(stderr, "tosac: %s; files that were not finished are removed\n", name);
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is an error like a full disk */
    cli c = {.argc = argc, .argv = argv};
    tc_ctx_options options = tc_ctx_options_default();
    options.memory_limit = memory_limit();
    options.on_progress = cli_on_progress;
    options.user = &c;
    c.ctx = tc_ctx_new_with(&options);
    if (!c.ctx) {
        fputs("tosac: error: out of memory [memory]\n", stderr);
        return TC_BAD_MODEL;
    }
    watch_signals(c.ctx);
    map_files(c.ctx);
    cli_progress_begin(&c);
    for (int i = 2; i < argc && !cli_is(argv[i], "--");
         i++) /* mistakes in options are reported so too */
        c.common.json = c.common.json || cli_is(argv[i], "--json");
    tc_status status = dispatch(&c, argc, argv);
    cli_progress_close(&c);
    int code = finish_output(cli_tell(&c, status));
    if (signal_came && status == TC_CANCELLED)
        tell_signal(&c);
    tc_ctx_free(c.ctx);
    cli_give_back();
    obey_signal();
    return code;
}
