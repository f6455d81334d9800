/* SPDX-License-Identifier: Apache-2.0 */
/* main.c -- the conformance runner.
 *
 *   conformance [SUITE] [-k TEXT] [-v] [-j N] [--samples N] [--every N] [--bless] [--cases DIR]
 *               [--shared DIR] [--status FILE] [--report FILE] [--written DIR]
 *
 * Runs every check whose name contains TEXT, compares with the scoreboard (checks that are known to
 * fail, each with its reason), and ends with a line "SUITE: N passed, N failed, N skipped" per
 * suite; skipped are those on the scoreboard, and a suite whose folder is not there.  A check that
 * is listed and passes is a failure too: the scoreboard is to be kept current (--bless).
 *
 * The recorded cases are in --cases (build/cases, which tools/cases.sh unpacks), trained models in
 * the folder zoo of --shared (TOSAC_SHARED). */
#include "conformance.h"

#include "wire/file.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 300 }; /* for one check */

typedef struct options {
    const char *cases, *shared, *status, *report, *suite, *only, *written;
    bool bless, verbose;
    long samples, jobs, every;
} options;

/* ---- verdicts ----------------------------------------------------------------------------------
 */

void passed(verdict *v)
{
    v->done = v->passed = true;
}

void failed(verdict *v, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(v->words, sizeof v->words, format, args);
    va_end(args);
    v->done = true;
    v->passed = false;
}

void failed_with(verdict *v, tc_ctx *ctx, const char *what)
{
    tc_str all = ti_str_of(tc_diagnostics(ctx));
    const char *line = strchr(all.p, '\n');
    size_t n = line ? (size_t)(line - all.p) : all.n;
    failed(v, "%s: %.*s", what, (int)(n < 300 ? n : 300), all.p);
}

void add_check(checks *all, const check *c)
{
    tc_grow(&all->ctx->arena, all->v, all->n, all->cap);
    all->v[all->n++] = *c;
}

/* ---- running -----------------------------------------------------------------------------------
 */

static void run_one(const check *c, verdict *v)
{
    alarm(SECONDS);
    tc_ctx *ctx = tc_ctx_new();
    if (setjmp(ctx->oom) == 0) {
        ctx->arena.oom = ctx->scratch.oom = &ctx->oom;
        c->run(ctx, c, v);
    } else
        failed(v, "out of memory");
    tc_ctx_free(ctx);
}

static void child_ended(verdict *v, int status)
{
    if (WIFSIGNALED(status))
        failed(v, WTERMSIG(status) == SIGALRM ? "no answer in %d s" : "signal %d",
               WTERMSIG(status) == SIGALRM ? SECONDS : WTERMSIG(status));
    else if (WEXITSTATUS(status) || !v->done)
        failed(v, "the check ended with exit %d", WEXITSTATUS(status));
}

/* Waits for one child and closes its check. */
static void reap(pid_t *pid, size_t n, verdict *v)
{
    int status;
    pid_t ended = wait(&status);
    for (size_t i = 0; i < n; i++)
        if (pid[i] == ended)
            child_ended(&v[i], status);
}

static void run_all(const checks *all, verdict *v, long jobs)
{
    pid_t *pid = tc_new_n(&all->ctx->arena, pid_t, all->n);
    long alive = 0;
    for (size_t i = 0; i < all->n; i++) {
        if (alive == jobs) {
            reap(pid, i, v);
            alive--;
        }
        fflush(NULL);
        pid[i] = fork();
        if (pid[i] == 0) {
            run_one(&all->v[i], &v[i]);
            exit(0);
        }
        alive++;
    }
    while (alive--)
        reap(pid, all->n, v);
}

/* Memory that children write and the runner reads. */
static verdict *shared_verdicts(size_t n)
{
    FILE *file = tmpfile();
    size_t size = (n ? n : 1) * sizeof(verdict);
    if (!file || ftruncate(fileno(file), (off_t)size) != 0)
        return NULL;
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    return at == MAP_FAILED ? NULL : at;
}

/* ---- the scoreboard ----------------------------------------------------------------------------
 */

/* "NAME: REASON" a line, '#' begins a comment. */
static void read_status(tc_ctx *ctx, const char *path, tc_map *reason)
{
    tc_bytes bytes;
    ti_map_init(reason, &ctx->arena);
    if (access(path, R_OK) != 0 || ti_file_read(ctx, path, &bytes) != TC_OK)
        return;
    char *text = ti_text_copy(&ctx->arena, (tc_str){(const char *)bytes.data, bytes.size});
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char *colon = strstr(line, ": ");
        if (line[0] != '#' && colon)
            *ti_map_at(reason, (tc_str){line, (size_t)(colon - line)}) = colon + 2;
    }
}

static tc_status bless(const checks *all, const verdict *v, const tc_map *reason, const char *path)
{
    tc_buf out;
    ti_buf_init(&out, &all->ctx->arena);
    ti_buf_text(&out, "# status.txt -- the scoreboard: checks that are known to fail, and why.\n"
                      "# Kept current by 'make bless', which keeps the reasons that are there.\n");
    for (size_t i = 0; i < all->n; i++) {
        const char *old = ti_map_get(reason, ti_str_of(all->v[i].name));
        if (!v[i].passed)
            ti_buf_printf(&out, "%s: %s\n", all->v[i].name, old ? old : v[i].words);
    }
    return ti_file_write(all->ctx, path, (tc_bytes){out.data, out.size});
}

/* ---- telling -----------------------------------------------------------------------------------
 */

typedef struct tally {
    size_t passed, failed, listed;
    int64_t n_equal, n_compared;
} tally;

static const char *label(const check *c, const verdict *v, const tc_map *reason)
{
    bool listed = ti_map_get(reason, ti_str_of(c->name)) != NULL;
    if (v->passed)
        return listed ? "PASSES" : "pass";
    return listed ? "listed" : "FAIL";
}

static void count(const check *c, const verdict *v, const tc_map *reason, tally *t)
{
    const char *word = label(c, v, reason);
    t->passed += ti_text_eq(word, "pass");
    t->listed += ti_text_eq(word, "listed");
    t->failed += ti_text_eq(word, "FAIL") || ti_text_eq(word, "PASSES");
    t->n_equal += v->n_equal;
    t->n_compared += v->n_compared;
}

/* Groups with something to say: "add  12 of 14", and of compiled programs how many quantized
 * elements are equal and how many are 1, 2 and more steps off. */
static void print_groups(const checks *all, const verdict *v, bool every)
{
    for (size_t i = 0; i < all->n;) {
        size_t begin = i, good = 0;
        int64_t equal = 0, off[3] = {0};
        for (; i < all->n && ti_text_eq(all->v[i].group, all->v[begin].group); i++) {
            good += v[i].passed;
            for (int k = 0; k < 3 && ti_text_eq(all->v[i].suite, "lowered"); k++) {
                equal += k ? 0 : v[i].n_equal;
                off[k] += v[i].n_off[k];
            }
        }
        bool steps = off[0] || off[1] || off[2];
        if (!every && !steps && good == i - begin)
            continue;
        printf("  %-28s %3zu of %3zu", all->v[begin].group, good, i - begin);
        if (steps)
            printf(";  %" PRId64 " equal, %" PRId64 " a step off, %" PRId64 " two, %" PRId64
                   " more",
                   equal, off[0], off[1], off[2]);
        printf("\n");
    }
}

static tc_status write_report(const checks *all, const verdict *v, const tc_map *reason,
                              const char *path)
{
    tc_buf out;
    ti_buf_init(&out, &all->ctx->arena);
    for (size_t i = 0; i < all->n; i++)
        ti_buf_printf(&out, "%-6s %s%s%s\n", label(&all->v[i], &v[i], reason), all->v[i].name,
                      v[i].passed ? "" : ": ", v[i].passed ? "" : v[i].words);
    return ti_file_write(all->ctx, path, (tc_bytes){out.data, out.size});
}

static size_t tell(const checks *all, const verdict *v, const tc_map *reason, const options *o)
{
    static const char *const suite[] = {"aten",     "lowered", "programs",
                                        "fixtures", "world",   "zoo"};
    size_t failures = 0;
    for (size_t i = 0; i < all->n; i++) {
        const char *word = label(&all->v[i], &v[i], reason);
        bool unexpected = word[0] >= 'A' && word[0] <= 'Z';
        if (unexpected || o->verbose)
            printf("%s %s%s%s\n", word, all->v[i].name, v[i].words[0] ? ": " : "", v[i].words);
    }
    print_groups(all, v, o->verbose);
    for (size_t s = 0; s < TC_COUNT(suite); s++) {
        tally t = {0};
        for (size_t i = 0; i < all->n; i++)
            if (ti_text_eq(all->v[i].suite, suite[s]))
                count(&all->v[i], &v[i], reason, &t);
        if (t.n_compared)
            printf("%s: %.3f %% of %" PRId64
                   " quantized elements are equal, the rest within a step\n",
                   suite[s], 100.0 * (double)t.n_equal / (double)t.n_compared, t.n_compared);
        if (t.listed)
            printf("%s: %zu known failures are listed in %s\n", suite[s], t.listed, o->status);
        if (t.passed + t.failed + t.listed)
            printf("%s: %zu passed, %zu failed, %zu skipped\n", suite[s], t.passed, t.failed,
                   t.listed);
        failures += t.failed;
    }
    return failures;
}

/* ---- the front ---------------------------------------------------------------------------------
 */

static bool parse(int argc, char **argv, options *o)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *next = i + 1 < argc ? argv[i + 1] : NULL;
        if (ti_text_eq(word, "--bless"))
            o->bless = true;
        else if (ti_text_eq(word, "-v"))
            o->verbose = true;
        else if (word[0] != '-' && !o->suite)
            o->suite = word;
        else if (!next)
            return false;
        else if (ti_text_eq(word, "--cases"))
            o->cases = argv[++i];
        else if (ti_text_eq(word, "--shared"))
            o->shared = argv[++i];
        else if (ti_text_eq(word, "--status"))
            o->status = argv[++i];
        else if (ti_text_eq(word, "--report"))
            o->report = argv[++i];
        else if (ti_text_eq(word, "--written"))
            o->written = argv[++i];
        else if (ti_text_eq(word, "-k"))
            o->only = argv[++i];
        else if (ti_text_eq(word, "--samples"))
            o->samples = strtol(argv[++i], NULL, 10);
        else if (ti_text_eq(word, "--every"))
            o->every = strtol(argv[++i], NULL, 10);
        else if (ti_text_eq(word, "-j"))
            o->jobs = strtol(argv[++i], NULL, 10);
        else
            return false;
    }
    return o->jobs > 0 && o->samples > 0 && o->every > 0;
}

static void keep_only(checks *all, const options *o)
{
    size_t n = 0, asked = 0;
    for (size_t i = 0; i < all->n; i++) {
        all->v[i].written = o->written;
        if ((!o->only || strstr(all->v[i].name, o->only)) &&
            (!o->suite || ti_text_eq(all->v[i].suite, o->suite)) &&
            asked++ % (size_t)o->every == 0)
            all->v[n++] = all->v[i];
    }
    all->n = n;
}

/* The suite's folder when it is asked for; NULL, and the reason said, when there is none. */
static const char *folder_of(const checks *all, const options *o, const char *suite,
                             const char *root, const char *inside)
{
    const char *path = ti_text_format(&all->ctx->arena, "%s/%s", root, inside);
    if (o->suite && !ti_text_eq(o->suite, suite))
        return NULL;
    if (ti_is_folder(path))
        return path;
    printf("there is no folder '%s'\n%s: 0 passed, 0 failed, 1 skipped\n", path, suite);
    return NULL;
}

static tc_status find_all(checks *all, const options *o)
{
    bool lowered = o->suite && ti_text_eq(o->suite, "lowered");
    bool same_cases = lowered || (o->suite && ti_text_eq(o->suite, "programs"));
    const char *suite = same_cases ? o->suite : "aten";
    const char *aten = folder_of(all, o, suite, o->cases, "suites/aten"),
               *rare = lowered ? NULL : folder_of(all, o, suite, o->cases, "suites/rare"),
               *fixtures = folder_of(all, o, "fixtures", o->cases, "fixtures"),
               *world = folder_of(all, o, "world", o->cases, "world"),
               *zoo = folder_of(all, o, "zoo", o->shared, "zoo");
    if (aten)
        TC_TRY(find_aten(all, aten));
    if (rare)
        TC_TRY(find_aten(all, rare));
    if (fixtures)
        TC_TRY(find_fixtures(all, fixtures, ""));
    if (world)
        TC_TRY(find_world(all, world));
    if (zoo)
        TC_TRY(find_zoo(all, zoo, (size_t)o->samples));
    keep_only(all, o);
    return o->written ? ti_folder_make(all->ctx, o->written) : TC_OK;
}

static int conformance(tc_ctx *ctx, const options *o)
{
    checks all = {.ctx = ctx};
    tc_map reason;
    if (find_all(&all, o) != TC_OK)
        return 1;
    verdict *v = shared_verdicts(all.n);
    if (!v)
        return 1;
    run_all(&all, v, o->jobs);
    read_status(ctx, o->status, &reason);
    if (o->bless && bless(&all, v, &reason, o->status) != TC_OK)
        return 1;
    if (o->bless)
        read_status(ctx, o->status, &reason);
    if (o->report && write_report(&all, v, &reason, o->report) != TC_OK)
        return 1;
    return tell(&all, v, &reason, o) > 0;
}

int main(int argc, char **argv)
{
    const char *shared = getenv("TOSAC_SHARED");
    options o = {.cases = "build/cases",
                 .shared = shared ? shared : "../shared",
                 .status = "test/conformance/status.txt",
                 .samples = 4,
                 .every = 1,
                 .jobs = sysconf(_SC_NPROCESSORS_ONLN)};
    if (!parse(argc, argv, &o)) {
        fputs("conformance [aten|lowered|fixtures|world|zoo] [-k TEXT] [-v] [-j N] [--samples N] "
              "[--every N] [--bless] [--cases DIR] [--shared DIR] "
              "[--status FILE] [--report FILE] [--written DIR]\n",
              stderr);
        return 2;
    }
    tc_ctx *ctx = tc_ctx_new();
    int code = conformance(ctx, &o);
    fputs(tc_diagnostics(ctx), stderr);
    tc_ctx_free(ctx);
    return code;
}
