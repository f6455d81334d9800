/* SPDX-License-Identifier: Apache-2.0 */
/* npu-census.c -- settings of registers in Ethos-U streams, X_vela.npz.
 *
 *   npu-census FILE...            what of them is not known from Vela's streams (src/npu/census.inc)
 *   npu-census --gather FILE...   Vela's streams: src/npu/census.inc, on standard output
 *
 * What is there now: Vela 5.2.0 on the integer cases of TOSA's suite, on trained networks, on TensorFlow Lite
 * files of one operator and on 3000 graphs of tools/peer/own_diff.py --seed 7 --write, for U55-128,
 * U65-512, U85-256 and U85-1024; of some of them for U55-32 and U85-2048, and with --optimise Size. */
#include <stdio.h>
#include <stdlib.h>

#include "npu/census.h"
#include "wire/file.h"

static int by_size(const void *a, const void *b)
{
    tc_npu_setting x = *(const tc_npu_setting *)a, y = *(const tc_npu_setting *)b;
    return (x > y) - (x < y);
}

typedef struct settings {
    tc_npu_setting *v;
    size_t n, cap;
} settings;

static void add(settings *s, tc_npu_setting x)
{
    if (s->n == s->cap) {
        qsort(s->v, s->n, sizeof *s->v, by_size);
        size_t kept = 0;
        for (size_t i = 0; i < s->n; i++)
            if (!kept || s->v[kept - 1] != s->v[i])
                s->v[kept++] = s->v[i];
        s->n = kept;
    }
    if (s->n == s->cap) {
        s->cap = 2 * s->cap + 1024;
        s->v = realloc(s->v, s->cap * sizeof *s->v);
        if (!s->v)
            abort();
    }
    s->v[s->n++] = x;
}

static void gather(const tc_npu_program *p, settings *all)
{
    tc_npu_walk walk;
    tc_npu_op op;
    ti_npu_walk_begin(&walk, p->machine, p->words);
    while (ti_npu_walk_next(&walk, &op)) {
        tc_npu_setting s[TC_CENSUS_PARTS];
        if (!ti_npu_is_kernel(op.kind))
            continue;
        ti_npu_setting(p->machine, &op, s);
        for (int i = 0; i < TC_CENSUS_PARTS; i++)
            if (s[i])
                add(all, s[i]);
    }
}

static void print(settings *all)
{
    size_t n = 0;
    qsort(all->v, all->n, sizeof *all->v, by_size);
    printf("/* census.inc -- made by tools/npu-census --gather from Vela's streams. */\n");
    for (size_t i = 0; i < all->n; i++)
        if (!i || all->v[i] != all->v[i - 1])
            printf("0x%016" PRIx64 ",%s", all->v[i], ++n % 6 ? " " : "\n");
    printf("\n");
    fprintf(stderr, "%zu settings\n", n);
}

static void report(tc_arena *arena, const char *file, const tc_npu_program *p, tc_npu_census *sum)
{
    tc_npu_census c;
    ti_npu_census(arena, p, &c);
    for (size_t i = 0; i < c.n; i++)
        printf("%s: word %zu: %s: %zu times: %s%s%s%s\n", file, c.list[i].at, c.list[i].operation,
               c.list[i].times, c.list[i].value ? "VALUE " : "", c.list[i].text,
               c.list[i].reason ? "; " : "", c.list[i].reason ? c.list[i].reason : "");
    sum->n_operation += c.n_operation;
    sum->n_combination += c.n_combination;
    sum->n_listed += c.n_listed;
    sum->n_value += c.n_value;
}

int main(int argc, char **argv)
{
    bool gathers = argc > 1 && !strcmp(argv[1], "--gather");
    settings all = {0};
    tc_npu_census sum = {0};
    size_t unread = 0;
    for (int i = 1 + gathers; i < argc; i++) {
        tc_ctx *ctx = tc_ctx_new();
        tc_bytes bytes;
        tc_npu_program p;
        if (ti_file_read(ctx, argv[i], &bytes) != TC_OK ||
            ti_npu_read_npz(ctx, argv[i], bytes, &p) != TC_OK)
            unread++;
        else if (gathers)
            gather(&p, &all);
        else
            report(&ctx->arena, argv[i], &p, &sum);
        tc_ctx_free(ctx);
    }
    if (gathers)
        print(&all);
    else
        printf("%zu operations: %zu with a new combination, %zu with a listed value, %zu with a new value\n",
               sum.n_operation, sum.n_combination, sum.n_listed, sum.n_value);
    if (unread)
        fprintf(stderr, "%zu files are not read\n", unread);
    free(all.v);
    return sum.n_value > 0;
}
