/* SPDX-License-Identifier: Apache-2.0 */
/* npu_mutations.c -- single words of valid streams, changed: each is answered without a crash, and
 * most are turned down or give other numbers.  The shares are printed.
 *
 * A change is one bit, the parameter, the whole word, or a little more or less, anywhere in the
 * stream of a recorded program.  TOSAC_MUTATIONS=N makes N of them; with TOSAC_UNCHANGED set, what
 * made no difference is named by command. */
#include "npu/npu_exec.h"
#include "npu/npu_verify.h"
#include "wire/archive.h"
#include "wire/file.h"

#include "check.h"

#include <stdlib.h>

enum { MUTATIONS = 10000, WORK = 1 << 22, STEPS = 20000 };

static uint32_t seed = 1;

static uint32_t pick(uint32_t n)
{
    seed = seed * 1664525 + 1013904223;
    uint32_t high = seed >> 16;
    seed = seed * 1664525 + 1013904223;
    return (high << 16 | seed >> 16) % n;
}

/* ---- recorded programs ---- */

typedef struct recorded {
    tc_npu_program program;
    const void **in;
    tc_bytes *out;
} recorded;

static tc_bytes part(tc_archive *z, const char *folder, const char *name)
{
    tc_bytes out = {0};
    tc_member *m = ti_archive_find(z, ti_text_format(&z->ctx->arena, "%s/%s", folder, name));
    CHECK(m && ti_archive_read(z, m, &out) == TC_OK);
    return out;
}

static void read_one(tc_archive *z, const char *folder, recorded *out)
{
    tc_arena *arena = &z->ctx->arena;
    CHECK(ti_npu_read_backend(z->ctx, NULL, part(z, folder, "program"), &out->program) == TC_OK);
    out->in = tc_new_n(arena, const void *, out->program.n_in + 1);
    out->out = tc_new_n(arena, tc_bytes, out->program.n_out + 1);
    for (size_t i = 0; i < out->program.n_in; i++)
        out->in[i] = part(z, folder, ti_text_format(arena, "in%zu", i)).data;
    for (size_t i = 0; i < out->program.n_out; i++)
        out->out[i] = part(z, folder, ti_text_format(arena, "out%zu", i));
}

static size_t read_all(tc_ctx *ctx, recorded **out)
{
    tc_bytes bytes;
    tc_archive z;
    size_t n = 0;
    if (ti_file_read(ctx, TOSAC_FIXTURES "/npu/streams.zip", &bytes) != TC_OK ||
        ti_archive_open(ctx, &ctx->arena, "streams.zip", NULL, bytes, &z) != TC_OK)
        return 0;
    *out = tc_new_n(&ctx->arena, recorded, z.n_member);
    for (size_t i = 0; i < z.n_member; i++)
        if (ti_text_ends(z.member[i].name, "/program")) {
            int length = (int)strlen(z.member[i].name) - 8;
            read_one(&z, ti_text_format(&ctx->arena, "%.*s", length, z.member[i].name),
                     &(*out)[n++]);
        }
    return n;
}

/* ---- one change ---- */

typedef enum verdict { VERIFIER, EXECUTOR, OTHER, SAME, VERDICTS } verdict;
static const char *const words_of[VERDICTS] = {"turned down by the verifier",
                                               "turned down by the executor", "other numbers",
                                               "nothing changed"};

static uint32_t changed(uint32_t word)
{
    static const uint32_t little[] = {0xffff0000u, 0x10000u, 16u << 16, 0xffffffffu, 1, 16};
    switch (pick(4)) {
    case 0:
        return word ^ 1u << pick(32);
    case 1:
        return (word & 0xffff) | pick(0x10000) << 16;
    case 2:
        return pick(0x10000) << 16 | pick(0x10000);
    default:
        return word + little[pick(TC_COUNT(little))];
    }
}

static bool turned_down(const tc_npu_program *p)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_npu_findings found;
    ti_npu_verify(ctx, p, &found);
    bool bad = found.n_error > 0;
    tc_ctx_free(ctx);
    return bad;
}

/* Executed as far as a budget goes. */
static verdict executed(const recorded *r, const tc_npu_program *p)
{
    tc_ctx *ctx = tc_ctx_new();
    const char *error;
    verdict v = SAME;
    tc_npu_exec *x = ti_npu_exec_new(&ctx->arena, p, &error);
    tc_npu_op op;
    if (x) {
        ti_npu_exec_limit(x, WORK);
        ti_npu_exec_begin(x);
        for (size_t i = 0; i < p->n_in; i++)
            ti_npu_exec_put(x, &p->in[i], r->in[i]);
        for (int i = 0; i < STEPS && ti_npu_exec_step(x, &op); i++)
            ;
        error = ti_npu_exec_error(x);
    }
    for (size_t i = 0; !error && i < p->n_out; i++) {
        uint8_t *got = ti_arena_raw(&ctx->arena, (size_t)p->out[i].bytes);
        if (!ti_npu_exec_get(x, &p->out[i], got) || memcmp(got, r->out[i].data, r->out[i].size))
            v = OTHER;
    }
    tc_ctx_free(ctx);
    return error ? EXECUTOR : v;
}

/* The name of the command that word `at` belongs to. */
static const char *command_at(const tc_npu_program *p, size_t at)
{
    tc_npu_command c;
    for (size_t i = 0; i < p->words.n && !ti_npu_command_read(p->words, p->machine, i, &c);
         i += c.info->words)
        if (at < i + c.info->words)
            return c.info->name;
    return "?";
}

static verdict mutate(const recorded *r)
{
    tc_npu_program p = r->program;
    size_t n = p.words.n, at = pick((uint32_t)n);
    uint8_t *copy = malloc(4 * n);
    CHECK(copy != NULL);
    memcpy(copy, p.words.data, 4 * n);
    uint32_t word = changed(ti_le32(copy + 4 * at));
    for (int i = 0; i < 4; i++)
        copy[4 * at + (size_t)i] = (uint8_t)(word >> 8 * i);
    p.words.data = copy;
    verdict v = turned_down(&p) ? VERIFIER : SAME, e = executed(r, &p);
    if (v == SAME)
        v = e;
    if (v == SAME && getenv("TOSAC_UNCHANGED"))
        printf("same %s %s %08x\n", p.machine->name, command_at(&r->program, at),
               word ^ ti_le32(r->program.words.data + 4 * at));
    free(copy);
    return v;
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    recorded *list = NULL;
    const char *asked = getenv("TOSAC_MUTATIONS");
    int count = asked ? atoi(asked) : MUTATIONS, total[VERDICTS] = {0};
    size_t n = read_all(ctx, &list);
    CHECK(n > 50);
    for (size_t i = 0; i < n; i++)
        CHECK(!turned_down(&list[i].program) && executed(&list[i], &list[i].program) == SAME);
    for (int k = 0; k < count && n; k++)
        total[mutate(&list[pick((uint32_t)n)])]++;
    for (int i = 0; i < VERDICTS; i++)
        printf("%6d  %5.1f %%  %s\n", total[i], 100.0 * total[i] / count, words_of[i]);
    CHECK(100 * (total[VERIFIER] + total[EXECUTOR]) > 70 * count);
    tc_ctx_free(ctx);
    return check_done();
}
