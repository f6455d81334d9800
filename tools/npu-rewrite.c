/* SPDX-License-Identifier: Apache-2.0 */
/* npu-rewrite.c -- streams, read and written again.
 *
 *   npu-rewrite [-v] [-f] [-o OUT] FILE...     Vela's X_vela.npz
 *
 * Each is taken apart into operations without waits, written with waits and BLOCKDEPs of our own,
 * and read again: the operations must be the same, the verifier must find no more than before, and
 * both streams must compute the same numbers.  -v: a line for every BLOCKDEP that is another.  -f: each
 * wait of ours is left out once, and each address of an operation moved by 16 bytes; counted is what
 * the verifier finds, and of the rest what gives other numbers.  A wait does not change numbers here.  -o: the last one is written.  At the end: words, waits and BLOCKDEPs, the file's and ours. */
#include <stdio.h>

#include "../test/unit/npu_same.h"
#include "npu/npu_exec.h"
#include "npu/npu_verify.h"
#include "npu/npu_write.h"
#include "wire/file.h"

enum { DEPS = 8 };

typedef struct sum {
    size_t words, kernel_waits, dma_waits, deps[DEPS], dep_total;
} sum;

typedef struct totals {
    size_t files, failed, less, more, equal;
    sum theirs, ours;
    size_t waits, waits_found, moves, moves_found, moves_other;
    bool loud, faults;
    const char *out;
} totals;

static void count(sum *s, const tc_npu_program *p)
{
    tc_npu_walk walk;
    tc_npu_op op;
    s->words += p->words.n;
    ti_npu_walk_begin(&walk, p->machine, p->words);
    while (ti_npu_walk_next(&walk, &op)) {
        s->kernel_waits += op.kind == TC_NPU_KIND_KERNEL_WAIT;
        s->dma_waits += op.kind == TC_NPU_KIND_DMA_WAIT;
        if (ti_npu_is_kernel(op.kind)) {
            s->deps[op.blockdep & 7]++;
            s->dep_total += op.blockdep;
        }
    }
}

static uint64_t hash(const uint8_t *data, int64_t n, uint64_t h)
{
    for (int64_t i = 0; i < n; i++)
        h = (h ^ data[i]) * UINT64_C(1099511628211);
    return h;
}

/* A number for the outputs of a run on made-up inputs; 0: it cannot be run. */
static uint64_t result(tc_ctx *ctx, const tc_npu_program *p)
{
    const char *error = NULL;
    tc_npu_exec *x = ti_npu_exec_new(&ctx->scratch, p, &error);
    const void **in = tc_new_n(&ctx->scratch, const void *, p->n_in + 1);
    void **out = tc_new_n(&ctx->scratch, void *, p->n_out + 1);
    uint32_t state = 1;
    for (size_t i = 0; i < p->n_in; i++) {
        uint8_t *data = ti_arena_raw(&ctx->scratch, (size_t)p->in[i].bytes + 1);
        for (int64_t k = 0; k < p->in[i].bytes; k++) {
            state = state * 1664525 + 1013904223;
            data[k] = p->in[i].element_bytes == 4 && k % 4 ? 0 : (uint8_t)(state >> 24);
        }
        in[i] = data;
    }
    for (size_t i = 0; i < p->n_out; i++)
        out[i] = ti_arena_raw(&ctx->scratch, (size_t)p->out[i].bytes + 1);
    error = x ? ti_npu_exec_run(x, in, out) : error;
    if (error)
        return hash((const uint8_t *)error, 4, 1);
    uint64_t h = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < p->n_out; i++)
        h = hash(out[i], p->out[i].bytes, h);
    return h;
}

static const char *compare(totals *t, const char *file, const tc_npu_machine *machine,
                           const tc_npu_op *a, size_t n, const tc_npu_op *b, size_t n2)
{
    static char words[200];
    if (n != n2)
        return "another number of operations";
    for (size_t i = 0; i < n; i++) {
        const char *differs = same_op(machine, &a[i], &b[i]);
        if (differs) {
            snprintf(words, sizeof words, "operation %zu (%s), word %zu: another %s", i,
                     ti_npu_kind_name(a[i].kind), a[i].at, differs);
            return words;
        }
        if (!ti_npu_is_kernel(a[i].kind))
            continue;
        t->less += b[i].blockdep < a[i].blockdep;
        t->more += b[i].blockdep > a[i].blockdep;
        t->equal += b[i].blockdep == a[i].blockdep;
        if (t->loud && b[i].blockdep != a[i].blockdep)
            printf("%s: operation %zu (%s), word %zu: BLOCKDEP %d, was %d\n", file, i,
                   ti_npu_kind_name(a[i].kind), a[i].at, b[i].blockdep, a[i].blockdep);
    }
    return NULL;
}

/* What the verifier says to the operations, or what numbers come out, beside `right` (0: not asked). */
typedef enum verdict { UNSEEN, FOUND, OTHER_NUMBERS } verdict;

static verdict judge(tc_ctx *ctx, const tc_npu_program *p, const tc_npu_op *op, size_t n,
                     size_t before, uint64_t right)
{
    tc_mark mark = ti_arena_mark(&ctx->arena), marked = ti_arena_mark(&ctx->scratch);
    tc_npu_program bad = *p;
    tc_npu_findings found = {0};
    tc_npu_how how = {.apart = p->fast > 0, .keep_waits = true, .keep_blockdep = true};
    verdict v = FOUND; /* what is not even written */
    if (!ti_npu_write_as(&ctx->scratch, p->machine, how, op, n, &bad.words, NULL)) {
        ti_npu_verify(ctx, &bad, &found);
        v = found.n_error > before ? FOUND : UNSEEN;
    }
    if (v == UNSEEN && right)
        v = result(ctx, &bad) == right ? UNSEEN : OTHER_NUMBERS;
    ti_arena_rewind(&ctx->scratch, marked);
    ti_arena_rewind(&ctx->arena, mark);
    return v;
}

static void move(tc_ctx *ctx, totals *t, const tc_npu_program *p, tc_npu_op *op, size_t n,
                 size_t before, uint64_t right, uint64_t *address, const char *what, size_t at)
{
    *address += 16;
    verdict v = judge(ctx, p, op, n, before, right);
    *address -= 16;
    t->moves++;
    t->moves_found += v == FOUND;
    t->moves_other += v == OTHER_NUMBERS;
    if (v == UNSEEN && t->loud)
        printf("the %s at word %zu may lie elsewhere\n", what, at);
}

/* Every address of operation i. */
static void move_all(tc_ctx *ctx, totals *t, const tc_npu_program *p, tc_npu_op *op, size_t n,
                     size_t before, uint64_t right, size_t i)
{
    tc_npu_op *o = &op[i];
    static const char *const name[] = {"ifm", "ifm2", "ofm"};
    tc_npu_map *const map[] = {&o->ifm, &o->ifm2, &o->ofm};
    bool weights = o->kind == TC_NPU_KIND_CONV || o->kind == TC_NPU_KIND_DEPTHWISE;
    if (o->kind == TC_NPU_KIND_DMA) {
        move(ctx, t, p, op, n, before, right, &o->dma.src, "DMA's source", o->at);
        move(ctx, t, p, op, n, before, right, &o->dma.dst, "DMA's destination", o->at);
    }
    if (!ti_npu_is_kernel(o->kind))
        return;
    for (int k = 0; k < 3; k++)
        if (map[k]->used && !(map[k]->broadcast & TC_BROADCAST_SCALAR) &&
            map[k]->storage == TC_STORE_TILES)
            move(ctx, t, p, op, n, before, right, &map[k]->base[0], name[k], o->at);
    for (int k = 0; k < TC_NPU_CORES && weights; k++)
        if (o->weights.bytes[k])
            move(ctx, t, p, op, n, before, right, &o->weights.base[k], "weights", o->at);
    for (int k = 0; k < 2 && o->per_channel; k++)
        if (o->scale_bytes[k] && o->kind != TC_NPU_KIND_ELEMENTWISE)
            move(ctx, t, p, op, n, before, right, &o->scale_base[k], "scales", o->at);
}

static void inject(tc_ctx *ctx, totals *t, const tc_npu_program *p, size_t before)
{
    uint64_t right = result(ctx, p);
    tc_npu_op *op, *less;
    size_t n;
    if (ti_npu_list(&ctx->scratch, p->machine, p->words, true, &op, &n))
        return;
    less = tc_new_n(&ctx->scratch, tc_npu_op, n);
    for (size_t i = 0; i < n; i++) {
        if (op[i].kind == TC_NPU_KIND_KERNEL_WAIT || op[i].kind == TC_NPU_KIND_DMA_WAIT) {
            memcpy(less, op, i * sizeof *op);
            memcpy(less + i, op + i + 1, (n - i - 1) * sizeof *op);
            for (size_t k = 0; k + 1 < n; k++)
                less[k].target -= less[k].kind == TC_NPU_KIND_BRANCH && less[k].target > i;
            bool found = judge(ctx, p, less, n - 1, before, 0) == FOUND;
            t->waits++;
            t->waits_found += found;
            if (!found && t->loud)
                printf("the wait at word %zu is not missed\n", op[i].at);
        }
        move_all(ctx, t, p, op, n, before, right, i);
    }
}

static const char *rewrite(tc_ctx *ctx, totals *t, const char *file, const tc_npu_program *p)
{
    tc_arena *arena = &ctx->scratch;
    tc_npu_program made = *p;
    tc_npu_op *ops, *again;
    size_t n, n2;
    const char *error = ti_npu_list(arena, p->machine, p->words, false, &ops, &n);
    tc_npu_how how = {.apart = p->fast > 0};
    error = error ? error : ti_npu_write_as(arena, p->machine, how, ops, n, &made.words, NULL);
    error = error ? error : ti_npu_list(arena, p->machine, made.words, false, &again, &n2);
    error = error ? error : compare(t, file, p->machine, ops, n, again, n2);
    if (error)
        return error;
    tc_npu_findings before, after;
    ti_npu_verify(ctx, p, &before);
    ti_npu_verify(ctx, &made, &after);
    if (after.n_error > before.n_error)
        return ti_text_format(&ctx->arena, "%zu findings, were %zu: %s", after.n_error,
                              before.n_error, after.list[0].text);
    error = ti_npu_make_driver(arena, &made);
    if (!error && t->out && ti_file_write(ctx, t->out, ti_npu_write_npz(arena, &made)) != TC_OK)
        error = "cannot be written";
    if (error)
        return error;
    if (t->faults)
        inject(ctx, t, &made, after.n_error);
    count(&t->theirs, p);
    count(&t->ours, &made);
    return result(ctx, p) == result(ctx, &made) ? NULL : "other numbers";
}

static void show(const char *name, const sum *s)
{
    printf("%-6s %9zu words %7zu KERNEL_WAIT %7zu DMA_WAIT  BLOCKDEP", name, s->words,
           s->kernel_waits, s->dma_waits);
    for (int i = 0; i < DEPS; i++)
        printf(" %d:%zu", i, s->deps[i]);
    printf(" sum %zu\n", s->dep_total);
}

int main(int argc, char **argv)
{
    totals t = {0};
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-v")) {
            t.loud = true;
            continue;
        }
        if (!strcmp(argv[i], "-f")) {
            t.faults = true;
            continue;
        }
        if (!strcmp(argv[i], "-o") && i + 1 < argc) {
            t.out = argv[++i];
            continue;
        }
        tc_ctx *ctx = tc_ctx_new();
        tc_bytes bytes;
        tc_npu_program p;
        const char *error = "cannot be read";
        if (ti_file_read(ctx, argv[i], &bytes) == TC_OK &&
            ti_npu_read_npz(ctx, argv[i], bytes, &p) == TC_OK)
            error = rewrite(ctx, &t, argv[i], &p);
        t.files++;
        t.failed += error != NULL;
        if (error)
            printf("%s: %s\n", argv[i], error);
        tc_ctx_free(ctx);
    }
    show("theirs", &t.theirs);
    show("ours", &t.ours);
    printf("%zu files, %zu failed; BLOCKDEP: %zu equal, %zu less, %zu more\n", t.files, t.failed,
           t.equal, t.less, t.more);
    if (t.faults)
        printf("found %zu of %zu waits left out, %zu of %zu addresses moved, %zu more by their numbers\n",
               t.waits_found, t.waits, t.moves_found, t.moves, t.moves_other);
    return t.failed != 0;
}
