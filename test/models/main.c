/* SPDX-License-Identifier: Apache-2.0 */
/* main.c -- the random-model tester.
 *
 *   models [--count N] [--seed S] [--targets A,B] [--found DIR] [--kept DIR] [--known FILE]
 *          [--written DIR] [--every N] [-j N] [--only N,N,...] [--left N]
 *   models --table GOLDEN [--targets A,B]   every operator of the table in every type, for every
 *                               target; GOLDEN has models of those that are not elementwise;
 *                               --seed S --count N behind it: N of them from the S-th
 *   models --show SEED          prints a model
 *   models --try FILE TARGET    tries one that was kept
 *
 * Models of the numbers S .. S+N-1, each for every target, after those in --kept, which failed
 * once. A failure is made small and kept in --found with its reason; refusals are counted by
 * reason.
 * --known: lines, each a part of the words of a failure that is known; '#' begins a comment.
 * --left: more attempts than that of which something is left to the CPU are a failure.
 * --written: every N-th model's regions as .tosa, for the judges.  Ends with "N passed, N failed, N
 * skipped"; skipped are refusals and what is known. */
#include "models.h"

#include "ir/ir_text.h"
#include "wire/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_TARGETS = 16, MOST_REASONS = 4000, MOST_KNOWN = 64, REASON = 160 };

typedef struct options {
    uint64_t seed, count, every, left;
    const char *only; /* numbers, by commas; NULL: of count from seed */
    const char *found, *kept, *known, *written, *table, *target[MOST_TARGETS];
    size_t n_target;
    long jobs;
    const char *known_words[MOST_KNOWN];
    size_t n_known;
} options;

/* ---- reasons: words with the numbers taken out ---- */

typedef struct reason {
    char words[REASON];
    size_t n;
} reason;

typedef struct tally {
    size_t n[MOST_TARGETS][OUTCOMES];
    size_t models, empty, known, n_refused, n_left, parts; /* parts: attempts of which the CPU gets some */
    reason refused[MOST_REASONS], left[MOST_REASONS];
} tally;

static void general(const char *words, char *out)
{
    size_t n = 0;
    for (bool digits = false; *words && n + 2 < REASON; words++) {
        bool digit = *words >= '0' && *words <= '9';
        if (digit && digits)
            continue;
        out[n++] = digit ? 'N' : *words;
        digits = digit;
    }
    out[n] = 0;
}

static void count_reason(reason *list, size_t *n, const char *target, const char *words)
{
    char key[2 * REASON], plain[REASON];
    general(words, plain);
    snprintf(key, sizeof key, "%s: %s", target, plain);
    key[REASON - 1] = 0;
    for (size_t i = 0; i < *n; i++)
        if (ti_text_eq(list[i].words, key)) {
            list[i].n++;
            return;
        }
    if (*n < MOST_REASONS) {
        memcpy(list[*n].words, key, REASON);
        list[(*n)++].n = 1;
    }
}

static int by_count(const void *a, const void *b)
{
    const reason *x = a, *y = b;
    return x->n < y->n ? 1 : x->n > y->n ? -1 : strcmp(x->words, y->words);
}

static void print_reasons(const char *title, reason *list, size_t n)
{
    qsort(list, n, sizeof *list, by_count);
    if (n)
        printf("%s\n", title);
    for (size_t i = 0; i < n && i < 60; i++)
        printf("  %6zu  %s\n", list[i].n, list[i].words);
}

/* ---- one model ---- */

static tc_buf text_of(tc_ctx *ctx, uint64_t seed)
{
    tc_buf text;
    ti_buf_init(&text, &ctx->arena);
    tc_module *m = grow_model(ctx, seed);
    if (m)
        ti_print(m, &(tc_print_options){.locs = false}, &text);
    return text;
}

static void keep_failure(tc_ctx *ctx, const options *o, const tc_buf *text, uint64_t seed,
                         const char *target, const finding *f)
{
    tc_buf small = shrink_model(ctx, (tc_bytes){text->data, text->size}, target, f), out;
    ti_buf_init(&out, &ctx->arena);
    finding now = try_model((const char *)small.data, small.size, target, "", NULL);
    ti_buf_printf(&out, "# %s for %s: %s\n# model %llu, before it was shrunk: %s\n",
                  outcome_name[now.what], target, now.words, (unsigned long long)seed, f->words);
    ti_buf_put(&out, small.data, small.size);
    const char *path = ti_text_format(&ctx->arena, "%s/%s-%llu-%s.ir", o->found,
                                      outcome_name[f->what], (unsigned long long)seed, target);
    if (ti_file_write(ctx, path, (tc_bytes){out.data, out.size}) != TC_OK)
        fputs(tc_diagnostics(ctx), stderr);
    printf("%s %s\n%.*s\n", outcome_name[f->what], path, (int)out.size, (const char *)out.data);
    fflush(stdout);
}

static bool is_known(const options *o, const finding *f)
{
    for (size_t i = 0; i < o->n_known; i++)
        if (strstr(f->words, o->known_words[i]))
            return true;
    return false;
}

static void try_everywhere(tc_ctx *ctx, const options *o, const tc_buf *text, uint64_t seed,
                           tally *t)
{
    const char *name = ti_text_format(&ctx->arena, "model%llu", (unsigned long long)seed);
    bool judged = o->written && seed % o->every == 0;
    for (size_t i = 0; i < o->n_target; i++) {
        finding f = try_model((const char *)text->data, text->size, o->target[i], name,
                              judged ? o->written : NULL);
        if (o->table && f.what == FINE && strstr(f.left, "has no formula")) {
            printf("%s\n", f.left); /* a row lacks something */
            f.what = BROKEN;
        }
        if (f.what > REFUSED && is_known(o, &f)) {
            t->known++;
            continue;
        }
        t->n[i][f.what]++;
        if (f.what == REFUSED)
            count_reason(t->refused, &t->n_refused, o->target[i], f.words);
        else if (f.what == FINE && f.left[0] && !ti_text_eq(o->target[i], "cpu"))
            count_reason(t->left, &t->n_left, o->target[i], f.left), t->parts++;
        else if (f.what != FINE)
            keep_failure(ctx, o, text, seed, o->target[i], &f);
    }
}

static void one_model(const options *o, uint64_t seed, tally *t)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_buf text = text_of(ctx, seed);
    t->models++;
    t->empty += !text.size;
    if (text.size)
        try_everywhere(ctx, o, &text, seed, t);
    tc_ctx_free(ctx);
}

/* Those that failed once. */
static tc_status try_kept(tc_ctx *ctx, const options *o, tally *t)
{
    const char **name;
    size_t n;
    TC_TRY(ti_folder_list(ctx, o->kept, &name, &n));
    for (size_t i = 0; i < n; i++) {
        const char *path = ti_text_format(&ctx->arena, "%s/%s", o->kept, name[i]);
        tc_bytes bytes;
        tc_buf text;
        if (!ti_text_ends(path, ".ir"))
            continue;
        TC_TRY(ti_file_read(ctx, path, &bytes));
        ti_buf_init(&text, &ctx->arena);
        ti_buf_put(&text, bytes.data, bytes.size);
        t->models++;
        try_everywhere(ctx, o, &text, 0, t);
    }
    return TC_OK;
}

static tc_status read_known(tc_ctx *ctx, options *o)
{
    tc_bytes bytes;
    TC_TRY(ti_file_read(ctx, o->known, &bytes));
    char *rest = NULL,
         *text = ti_text_copy(&ctx->arena, (tc_str){(const char *)bytes.data, bytes.size});
    for (char *line = strtok_r(text, "\n", &rest); line && o->n_known < MOST_KNOWN;
         line = strtok_r(NULL, "\n", &rest))
        if (line[0] != '#')
            o->known_words[o->n_known++] = line;
    return TC_OK;
}

/* ---- every operator ---- */

/* Each by specimens of its own; one that has none has been forgotten. */
static void one_operator(const options *o, tc_op op, tally *t)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_buf text[4];
    size_t n = has_no_specimen(op) ? 0 : specimens(ctx, op, o->table, text);
    for (size_t i = 0; i < n; i++) {
        t->models++;
        try_everywhere(ctx, o, &text[i], (uint64_t)op, t);
    }
    if (!n && !has_no_specimen(op)) {
        printf("'%s' has no specimen: %s/%s-fp.ir, or attributes in test/models/table.c\n",
               tc_ops[op].name, o->table, tc_ops[op].name);
        t->n[0][BROKEN]++;
    }
    tc_ctx_free(ctx);
}

/* ---- all of them, some at a time ---- */

static void add_up(tally *all, const tally *part)
{
    all->models += part->models;
    all->empty += part->empty;
    all->known += part->known;
    all->parts += part->parts;
    for (int i = 0; i < MOST_TARGETS; i++)
        for (int k = 0; k < OUTCOMES; k++)
            all->n[i][k] += part->n[i][k];
    for (int which = 0; which < 2; which++) {
        const reason *from = which ? part->left : part->refused;
        reason *to = which ? all->left : all->refused;
        size_t n = which ? part->n_left : part->n_refused,
               *m = which ? &all->n_left : &all->n_refused;
        for (size_t i = 0; i < n; i++) {
            size_t k = 0;
            while (k < *m && !ti_text_eq(to[k].words, from[i].words))
                k++;
            if (k < *m)
                to[k].n += from[i].n;
            else if (*m < MOST_REASONS)
                to[(*m)++] = from[i];
        }
    }
}

static void those_only(const options *o, tally *t)
{
    for (const char *at = o->only; *at;) {
        char *end;
        one_model(o, strtoull(at, &end, 10), t);
        at = end + (*end == ',');
        if (end == at)
            return;
    }
}

/* Worker w of the jobs takes every jobs-th number and leaves its tally in a file. */
static void run_all(const options *o, tally *all)
{
    FILE *file[64] = {NULL};
    for (long w = 0; w < o->jobs; w++) {
        file[w] = tmpfile();
        fflush(NULL);
        if (file[w] && fork() == 0) {
            tally *t = calloc(1, sizeof *t);
            if (o->only && w == 0)
                those_only(o, t);
            for (uint64_t i = (uint64_t)w; i < o->count && !o->only; i += (uint64_t)o->jobs)
                if (!o->table)
                    one_model(o, o->seed + i, t);
                else if (o->seed - 1 + i < TC_OP_tosa_argmax)
                    one_operator(o, (tc_op)(o->seed - 1 + i), t);
            fwrite(t, sizeof *t, 1, file[w]);
            fflush(NULL);
            _exit(0);
        }
    }
    while (wait(NULL) > 0)
        continue;
    tally *part = calloc(1, sizeof *part);
    for (long w = 0; w < o->jobs; w++) {
        rewind(file[w]);
        if (fread(part, sizeof *part, 1, file[w]) == 1)
            add_up(all, part);
        else
            printf("a worker came to no end\n"), all->n[0][CRASHED]++;
        fclose(file[w]);
    }
    free(part);
}

static int report(const options *o, tally *t)
{
    size_t passed = 0, failed = 0, skipped = t->known;
    print_reasons("refused:", t->refused, t->n_refused);
    print_reasons("on the CPU:", t->left, t->n_left);
    printf("%zu models, %zu of them empty\n%-20s", t->models, t->empty, "");
    for (int k = 0; k < OUTCOMES; k++)
        printf("%9s", outcome_name[k]);
    printf("\n");
    for (size_t i = 0; i < o->n_target; i++) {
        printf("%-20s", o->target[i]);
        for (int k = 0; k < OUTCOMES; k++) {
            printf("%9zu", t->n[i][k]);
            *(k == FINE ? &passed : k == REFUSED && !o->table ? &skipped : &failed) += t->n[i][k];
        }
        printf("\n");
    }
    if (t->known)
        printf("%zu known failures are listed in %s\n", t->known, o->known);
    printf("%zu left something to the CPU\n", t->parts);
    if (t->parts > o->left)
        failed++, printf("%llu are expected to\n", (unsigned long long)o->left);
    printf("models: %zu passed, %zu failed, %zu skipped\n", passed, failed, skipped);
    return failed > 0 || passed == 0;
}

/* ---- the front ---- */

static int show(uint64_t seed)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_buf text = text_of(ctx, seed);
    fwrite(text.data, 1, text.size, stdout);
    fputs(tc_diagnostics(ctx), stderr);
    tc_ctx_free(ctx);
    return 0;
}

static int try_file(const char *path, const char *target)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_bytes bytes;
    if (ti_file_read(ctx, path, &bytes) != TC_OK) {
        fputs(tc_diagnostics(ctx), stderr);
        return 1;
    }
    finding f = try_model((const char *)bytes.data, bytes.size, target, "", NULL);
    printf("%s %s\n", outcome_name[f.what], f.what == FINE ? f.left : f.words);
    tc_ctx_free(ctx);
    return f.what > REFUSED;
}

static void name_targets(options *o, char *names)
{
    o->n_target = 0;
    for (char *rest = NULL, *name = strtok_r(names, ",", &rest); name && o->n_target < MOST_TARGETS;
         name = strtok_r(NULL, ",", &rest))
        o->target[o->n_target++] = name;
}

static bool parse(int argc, char **argv, options *o)
{
    for (int i = 1; i < argc; i += 2) {
        const char *word = argv[i];
        char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!value)
            return false;
        if (ti_text_eq(word, "--count"))
            o->count = strtoull(value, NULL, 10);
        else if (ti_text_eq(word, "--seed"))
            o->seed = strtoull(value, NULL, 10);
        else if (ti_text_eq(word, "--every"))
            o->every = strtoull(value, NULL, 10);
        else if (ti_text_eq(word, "-j"))
            o->jobs = strtol(value, NULL, 10);
        else if (ti_text_eq(word, "--left"))
            o->left = strtoull(value, NULL, 10);
        else if (ti_text_eq(word, "--only"))
            o->only = value;
        else if (ti_text_eq(word, "--found"))
            o->found = value;
        else if (ti_text_eq(word, "--kept"))
            o->kept = value;
        else if (ti_text_eq(word, "--known"))
            o->known = value;
        else if (ti_text_eq(word, "--table"))
            o->table = value, o->count = TC_OP_tosa_argmax, o->n_target = 8;
        else if (ti_text_eq(word, "--written"))
            o->written = value;
        else if (ti_text_eq(word, "--targets"))
            name_targets(o, value);
        else
            return false;
    }
    return o->every && o->jobs > 0 && o->jobs < 64;
}

int main(int argc, char **argv)
{
    if (argc == 3 && ti_text_eq(argv[1], "--show"))
        return show(strtoull(argv[2], NULL, 10));
    if (argc == 4 && ti_text_eq(argv[1], "--try"))
        return try_file(argv[2], argv[3]);
    options o = {.count = 100, .seed = 1, .every = 1, .left = UINT64_MAX, .found = "build/models", .jobs = 1,
                 .target = {"float", "cpu", "TOSA-1.0+FP", "TOSA-1.0+INT", "vgf", "ethos-u55-128",
                            "ethos-u85-256", "TOSA-1.0+INT+int16"},
                 .n_target = 7};
    tc_ctx *ctx = tc_ctx_new();
    if (!parse(argc, argv, &o)) {
        fputs("models [--count N] [--seed S] [--targets A,B] [--found DIR] [--kept DIR] "
              "[--known FILE] [--written DIR] [--every N] [-j N]\n       models --show SEED | "
              "--try FILE TARGET\n",
              stderr);
        return 2;
    }
    tally *t = calloc(1, sizeof *t);
    int code = ti_folder_make(ctx, o.found) != TC_OK ||
               (o.written && ti_folder_make(ctx, o.written) != TC_OK) ||
               (o.known && read_known(ctx, &o) != TC_OK) ||
               (o.kept && try_kept(ctx, &o, t) != TC_OK);
    if (code)
        fputs(tc_diagnostics(ctx), stderr);
    else {
        run_all(&o, t);
        code = report(&o, t);
    }
    free(t);
    tc_ctx_free(ctx);
    return code;
}
