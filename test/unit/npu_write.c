/* SPDX-License-Identifier: Apache-2.0 */
/* npu_write.c -- streams that are written: recorded ones come back as they were, with waits and
 * BLOCKDEPs of our own; lists made here have the waits that they need and no others, and one less is
 * found by the verifier. */
#include "check.h"
#include "npu_same.h"

#include "npu/npu_exec.h"
#include "npu/npu_verify.h"
#include "npu/npu_write.h"
#include "wire/archive.h"
#include "wire/file.h"

static const tc_npu_how as_listed = {.keep_waits = true, .keep_blockdep = true};

static size_t errors_of(tc_ctx *ctx, const tc_npu_program *p)
{
    tc_npu_findings found;
    ti_npu_verify(ctx, p, &found);
    return found.n_error;
}

static bool is_wait(const tc_npu_op *op)
{
    return op->kind == TC_NPU_KIND_KERNEL_WAIT || op->kind == TC_NPU_KIND_DMA_WAIT;
}

static size_t waits_in(const tc_npu_op *op, size_t n)
{
    size_t waits = 0;
    for (size_t i = 0; i < n; i++)
        waits += is_wait(&op[i]);
    return waits;
}

/* The list without operation `out`. */
static tc_npu_op *without(tc_arena *arena, const tc_npu_op *op, size_t n, size_t out)
{
    tc_npu_op *rest = tc_new_n(arena, tc_npu_op, n);
    for (size_t i = 0, k = 0; i < n; i++) {
        rest[k] = op[i];
        rest[k].target -= op[i].kind == TC_NPU_KIND_BRANCH && op[i].target > out;
        k += i != out;
    }
    return rest;
}

/* How many waits of a program are missed when they are left out. */
static size_t waits_needed(tc_ctx *ctx, const tc_npu_program *p)
{
    tc_npu_op *op;
    size_t n, needed = 0, before = errors_of(ctx, p);
    CHECK(!ti_npu_list(&ctx->arena, p->machine, p->words, true, &op, &n));
    for (size_t i = 0; i < n; i++) {
        if (!is_wait(&op[i]))
            continue;
        tc_npu_program less = *p;
        CHECK(!ti_npu_write_as(&ctx->arena, p->machine, as_listed,
                               without(&ctx->arena, op, n, i), n - 1, &less.words, NULL));
        needed += errors_of(ctx, &less) > before;
    }
    return needed;
}

/* ---- recorded streams ---- */

/* Operations, taken apart and written again, are the same; word_of tells where. */
static tc_npu_words again(tc_ctx *ctx, const char *name, const tc_npu_program *p)
{
    tc_npu_op *op, *back;
    size_t n = 0, n_back = 0;
    tc_npu_words words = {0};
    tc_npu_how how = {.apart = p->fast > 0};
    const char *error = ti_npu_list(&ctx->arena, p->machine, p->words, false, &op, &n);
    size_t *word_of = tc_new_n(&ctx->arena, size_t, n);
    error = error ? error
                  : ti_npu_write_as(&ctx->arena, p->machine, how, op, n, &words, word_of);
    error = error ? error : ti_npu_list(&ctx->arena, p->machine, words, false, &back, &n_back);
    CHECK_ROW(name, !error && n == n_back && n > 1);
    for (size_t i = 0; !error && i < n && i < n_back; i++) {
        const char *differs = same_op(p->machine, &op[i], &back[i]);
        if (differs)
            fprintf(stderr, "operation %zu: another %s: ", i, differs);
        CHECK_ROW(name, !differs && word_of[i] == back[i].at);
    }
    return words;
}

static tc_bytes member(tc_archive *z, const char *folder, const char *name, size_t i)
{
    tc_bytes out = {0};
    tc_member *m =
        ti_archive_find(z, ti_text_format(&z->ctx->arena, "%s/%s%zu", folder, name, i));
    CHECK(m && ti_archive_read(z, m, &out) == TC_OK);
    return out;
}

static void same_results(tc_archive *z, const char *folder, const tc_npu_program *p)
{
    tc_arena *arena = &z->ctx->arena;
    const char *error;
    tc_npu_exec *x = ti_npu_exec_new(arena, p, &error);
    const void **in = tc_new_n(arena, const void *, p->n_in + 1);
    void **out = tc_new_n(arena, void *, p->n_out + 1);
    for (size_t i = 0; i < p->n_in; i++)
        in[i] = member(z, folder, "in", i).data;
    for (size_t i = 0; i < p->n_out; i++)
        out[i] = ti_arena_raw(arena, (size_t)p->out[i].bytes);
    CHECK_ROW(folder, x && !ti_npu_exec_run(x, in, out));
    for (size_t i = 0; i < p->n_out; i++)
        CHECK_ROW(folder, !memcmp(member(z, folder, "out", i).data, out[i],
                                  (size_t)p->out[i].bytes));
}

static void recorded_program(tc_archive *z, const char *folder, tc_bytes payload)
{
    tc_ctx *ctx = z->ctx;
    tc_npu_program p, made;
    CHECK_ROW(folder, ti_npu_read_backend(ctx, NULL, payload, &p) == TC_OK);
    made = p;
    made.words = again(ctx, folder, &p);
    CHECK_ROW(folder, !ti_npu_make_driver(&ctx->arena, &made));
    CHECK_ROW(folder, made.config == p.config && made.words_at == p.words_at &&
                          (made.id == p.id || strstr(folder, "vela-3."))); /* has an older one */
    CHECK_ROW(folder, errors_of(ctx, &made) <= errors_of(ctx, &p));
    same_results(z, folder, &made);
    tc_npu_op *op, *theirs;
    size_t n, n_theirs;
    CHECK(!ti_npu_list(&ctx->arena, p.machine, made.words, true, &op, &n));
    CHECK(!ti_npu_list(&ctx->arena, p.machine, p.words, true, &theirs, &n_theirs));
    CHECK_ROW(folder, waits_in(op, n) <= waits_in(theirs, n_theirs));
    CHECK_ROW(folder, waits_needed(ctx, &made) == waits_in(op, n));
}

static void recorded(const char *name, size_t least)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_bytes bytes, payload;
    tc_archive z;
    size_t n = 0;
    const char *path = ti_text_format(&ctx->arena, TOSAC_FIXTURES "/npu/%s", name);
    CHECK(ti_file_read(ctx, path, &bytes) == TC_OK &&
          ti_archive_open(ctx, &ctx->arena, name, NULL, bytes, &z) == TC_OK);
    for (size_t i = 0; i < z.n_member; i++) {
        const char *file = z.member[i].name;
        if (!ti_text_ends(file, "/program") ||
            ti_archive_read(&z, &z.member[i], &payload) != TC_OK)
            continue;
        recorded_program(&z, ti_text_format(&ctx->arena, "%.*s", (int)strlen(file) - 8, file),
                         payload);
        n++;
    }
    CHECK_ROW(name, n >= least);
    tc_ctx_free(ctx);
}

/* Maps in chain buffers: each is given a place for Linux's driver (linux_rules.h), seven words. */
static size_t chained_maps(tc_ctx *ctx, const tc_npu_program *p)
{
    tc_npu_op *op;
    size_t n, chained = 0;
    CHECK(!ti_npu_list(&ctx->arena, p->machine, p->words, true, &op, &n));
    for (size_t i = 0; i < n; i++)
        chained += (size_t)(op[i].ifm.storage == TC_STORE_CHAIN) +
                   (op[i].ifm2.storage == TC_STORE_CHAIN) +
                   (op[i].ofm.storage == TC_STORE_CHAIN);
    return chained;
}

/* Streams of whole networks, all kinds of machines. */
static void networks(void)
{
    static const char *const name[] = {
        "attention-u55-128", "attention-u85-256", "cascade-u85-256", "digits-u55-128",
        "digits-u55-32",     "digits-u65-256",    "digits-u65-512",  "digits-u85-1024",
        "digits-u85-128",    "digits-u85-2048",   "digits-u85-256",  "shared-u85-256"};
    for (size_t i = 0; i < TC_COUNT(name); i++) {
        tc_ctx *ctx = tc_ctx_new();
        tc_bytes driver;
        tc_npu_program p = {.fast = -1};
        const char *path = ti_text_format(&ctx->arena, TOSAC_FIXTURES "/cost/%s.cop", name[i]);
        CHECK_ROW(name[i], ti_file_read(ctx, path, &driver) == TC_OK &&
                               ti_npu_read_driver(ctx, NULL, driver, &p) == TC_OK);
        CHECK_ROW(name[i], p.config == p.machine->config && p.id == p.machine->id);
        tc_npu_words words = again(ctx, name[i], &p);
        /* But for BLOCKDEP and the places of chains no more. */
        CHECK_ROW(name[i], words.n < p.words.n + p.words.n / 50 + 7 * chained_maps(ctx, &p));
        tc_ctx_free(ctx);
    }
}

/* ---- lists made here ---- */

enum { SIDE = 8, MAP = SIDE * SIDE * 8, SCRATCH = 8 * MAP };

/* 8 x 8 x 8 bytes of i8 at `at`. */
static tc_npu_map bytes_at(uint8_t region, uint64_t at)
{
    return (tc_npu_map){.used = true,
                        .is_signed = true,
                        .bytes = 1,
                        .region = region,
                        .h = SIDE,
                        .w = SIDE,
                        .c = 8,
                        .base = {at},
                        .width0 = SIDE,
                        .height0 = SIDE,
                        .height1 = SIDE,
                        .stride_x = 8,
                        .stride_y = 8 * SIDE,
                        .stride_c = 1};
}

static tc_npu_op kernel(const tc_npu_machine *m, tc_npu_kind kind, uint8_t mode, uint64_t from,
                        uint64_t to)
{
    bool u85 = m->product == TC_U85, ew = kind == TC_NPU_KIND_ELEMENTWISE;
    tc_npu_op op = {.kind = kind,
                    .mode = mode,
                    .param = mode,
                    .ifm = bytes_at(1, from),
                    .ofm = bytes_at(1, to),
                    .depth = 8,
                    .block = {4, 4, u85 ? 16 : 8},
                    .microblock = u85,
                    .acc_bits = 32,
                    .acc_output = true,
                    .cores = 1,
                    .ofm_scale = {.multiplier = 1, .round = TC_ROUND_NATURAL},
                    .lo = -128,
                    .hi = 127};
    if (!u85) { /* banks: two of outputs, inputs, accumulators, two of tables */
        int32_t top = m->banks - 2, in = 2 + m->granule[TC_GRANULE_IFM8];
        op.ib_end = (uint8_t)(ew ? top : in);
        op.ab_start = (uint8_t)(ew ? top : top - m->granule[TC_GRANULE_ACC32]);
        op.ib2_start = (uint8_t)(ew ? in : 0);
    }
    if (ew) {
        op.ifm_scale = op.ifm2_scale = op.ofm_scale;
        op.microblock = u85 ? 2 : 0;
    } else
        op.window = (tc_npu_window){.kh = 1,
                                    .kw = 1,
                                    .stride_y = 1,
                                    .stride_x = 1,
                                    .dilation_y = 1,
                                    .dilation_x = 1,
                                    .ih = SIDE,
                                    .iw = SIDE};
    return op;
}

static tc_npu_op copy(uint8_t from, uint64_t src, uint8_t to, uint64_t dst, uint64_t bytes)
{
    return (tc_npu_op){.kind = TC_NPU_KIND_DMA,
                       .dma = {.src_region = from,
                               .dst_region = to,
                               .src = src,
                               .dst = dst,
                               .bytes = bytes,
                               .rows = 1,
                               .planes = 1}};
}

/* A table by DMA, a pool that looks up in it, an operand by DMA, a sum, and two copies of it. */
typedef struct made {
    tc_npu_op op[8];
    size_t n;
    tc_npu_tensor in, out;
    uint8_t weights[2 * MAP];
    tc_npu_program program;
} made;

static void make(made *s, const tc_npu_machine *m)
{
    bool u85 = m->product == TC_U85;
    memset(s, 0, sizeof *s);
    uint8_t plain = u85 ? TC_POOL_SUM : TC_POOL_AVERAGE;
    tc_npu_op table = copy(0, 0, 3, (uint64_t)ti_npu_table_at(m), 256),
              pool = kernel(m, TC_NPU_KIND_POOL, plain, 0, MAP),
              sum = kernel(m, TC_NPU_KIND_ELEMENTWISE, TC_EW_ADD, MAP, 3 * MAP);
    table.dma.dst_internal = true;
    pool.function = u85 ? 4 : 16;
    sum.ifm2 = bytes_at(1, 2 * MAP);
    s->op[s->n++] = table;
    s->op[s->n++] = pool;
    s->op[s->n++] = copy(0, MAP, 1, 2 * MAP, MAP);
    s->op[s->n++] = sum;
    s->op[s->n++] = copy(1, 3 * MAP, 1, 0, MAP);
    s->op[s->n++] = copy(1, 0, 1, 4 * MAP, MAP);
    s->in = (tc_npu_tensor){.dim = {1, 1, 1, SIDE, SIDE, 8}, .element_bytes = 1, .region = 1};
    s->out = s->in;
    s->out.offset = 4 * MAP;
    s->program = (tc_npu_program){.machine = m,
                                  .weights = {s->weights, sizeof s->weights},
                                  .scratch = SCRATCH,
                                  .in = &s->in,
                                  .out = &s->out,
                                  .n_in = 1,
                                  .n_out = 1};
}

static const char *const machines[] = {"ethos-u55-32",  "ethos-u55-64",  "ethos-u55-128",
                                       "ethos-u55-256", "ethos-u65-256", "ethos-u65-512",
                                       "ethos-u85-128", "ethos-u85-256", "ethos-u85-512",
                                       "ethos-u85-1024", "ethos-u85-2048"};

static void show(const char *name, const tc_npu_findings *found)
{
    for (size_t i = 0; i < found->n; i++)
        if (tc_npu_checks[found->list[i].check].is_error)
            fprintf(stderr, "%s: word %zu: %s\n", name, found->list[i].at, found->list[i].text);
}

/* The waits are these: before the pool for its table, before the sum for its operand and for
 * nothing else, before the copies for the sum and for each other. */
static void waits(void)
{
    static const char *const on[] = {"ethos-u55-128", "ethos-u65-256", "ethos-u85-256"};
    static const tc_npu_kind want[] = {
        TC_NPU_KIND_DMA,         TC_NPU_KIND_DMA_WAIT,    TC_NPU_KIND_POOL, TC_NPU_KIND_DMA,
        TC_NPU_KIND_DMA_WAIT,    TC_NPU_KIND_ELEMENTWISE, TC_NPU_KIND_KERNEL_WAIT,
        TC_NPU_KIND_DMA,         TC_NPU_KIND_DMA_WAIT,    TC_NPU_KIND_DMA,  TC_NPU_KIND_STOP};
    for (size_t k = 0; k < TC_COUNT(on); k++) {
        tc_ctx *ctx = tc_ctx_new();
        made *s = tc_new(&ctx->arena, made);
        make(s, ti_npu_machine_find(on[k]));
        tc_npu_program *p = &s->program;
        tc_npu_op *op;
        size_t n;
        CHECK_ROW(on[k], !ti_npu_write(&ctx->arena, p->machine, s->op, s->n, &p->words, NULL));
        CHECK_ROW(on[k], !ti_npu_make_driver(&ctx->arena, p));
        tc_npu_findings found;
        ti_npu_verify(ctx, p, &found);
        show(on[k], &found);
        CHECK_ROW(on[k], found.n_error == 0);
        CHECK(!ti_npu_list(&ctx->arena, p->machine, p->words, true, &op, &n));
        /* A second DMA waits for the first by itself where there is but one at a time. */
        for (size_t i = 0, w = 0; i < n; i++, w++) {
            w += p->machine->max_dmas == 1 && w == 8;
            CHECK_ROW(on[k], w < TC_COUNT(want) && op[i].kind == want[w]);
        }
        CHECK_ROW(on[k], waits_needed(ctx, p) == waits_in(op, n));
        tc_ctx_free(ctx);
    }
}

/* Every address, moved by sixteen bytes, is found. */
static void shifted(void)
{
    tc_ctx *ctx = tc_ctx_new();
    made *s = tc_new(&ctx->arena, made);
    make(s, ti_npu_machine_find("ethos-u85-256"));
    size_t tried = 0, found = 0;
    for (size_t i = 0; i < s->n; i++) {
        tc_npu_op *op = &s->op[i];
        uint64_t *const place[] = {&op->ifm.base[0], &op->ifm2.base[0], &op->ofm.base[0],
                                   &op->dma.src, &op->dma.dst};
        for (size_t k = 0; k < TC_COUNT(place); k++) {
            bool used = k > 2 ? op->kind == TC_NPU_KIND_DMA && !(k == 3 && op->dma.src_region == 0)
                              : (&op->ifm)[k].used;
            if (!used || op->kind == TC_NPU_KIND_STOP)
                continue;
            *place[k] += 16;
            CHECK(!ti_npu_write(&ctx->arena, s->program.machine, s->op, s->n, &s->program.words,
                                NULL));
            *place[k] -= 16;
            tried++;
            found += errors_of(ctx, &s->program) > 0;
        }
    }
    CHECK(tried == 11 && found == tried);
    tc_ctx_free(ctx);
}

/* ---- BLOCKDEP ---- */

static uint32_t state = 7;
static int32_t draw(int32_t n)
{
    state = state * 1664525 + 1013904223;
    return (int32_t)((state >> 8) % (uint32_t)n);
}

static void resize(tc_npu_op *op, int32_t h, int32_t w, int32_t c)
{
    tc_npu_map *const map[] = {&op->ifm, &op->ofm};
    for (int i = 0; i < 2; i++) {
        map[i]->h = map[i]->height0 = map[i]->height1 = h;
        map[i]->w = map[i]->width0 = w;
        map[i]->c = c;
        map[i]->stride_x = c;
        map[i]->stride_y = c * w;
    }
    op->depth = c;
    op->window.ih = h;
    op->window.iw = w;
}

static bool finds_wait(tc_ctx *ctx, const tc_npu_program *p)
{
    tc_npu_findings found;
    ti_npu_verify(ctx, p, &found);
    for (size_t i = 0; i < found.n; i++)
        if (found.list[i].check == TC_CHECK_WAIT)
            return true;
    return false;
}

/* Two pools, one behind the other, of any size and block: the verifier takes our BLOCKDEP, and often
 * takes no more. */
static void blockdeps(void)
{
    tc_ctx *ctx = tc_ctx_new();
    const tc_npu_machine *m = ti_npu_machine_find("ethos-u85-256");
    enum { PLACE = 65536 };
    size_t seen[8] = {0}, refused = 0;
    for (int i = 0; i < 600; i++) {
        tc_mark mark = ti_arena_mark(&ctx->arena);
        tc_npu_op op[2];
        int32_t h = 1 + draw(24), w = 1 + draw(24), c = 16 * (1 + draw(6)), k = 1 + draw(3);
        for (int j = 0; j < 2; j++) {
            op[j] = kernel(m, TC_NPU_KIND_POOL, TC_POOL_SUM, (uint64_t)j * PLACE,
                           (uint64_t)(j + 1) * PLACE);
            resize(&op[j], h, w, c);
            op[j].block = (tc_npu_block){1 + draw(8), 2 + 2 * draw(6), 16 * (1 + draw(3))};
        }
        op[1].window.kh = op[1].window.kw = k;
        op[1].window.top = op[1].window.left = (k - 1) / 2;
        op[1].window.bottom = op[1].window.right = k - 1 - (k - 1) / 2;
        tc_npu_program p = {.machine = m, .scratch = 3 * PLACE};
        uint8_t dep = ti_npu_blockdep(m, &op[0], &op[1]);
        seen[dep & 7]++;
        CHECK(!ti_npu_write(&ctx->arena, m, op, 2, &p.words, NULL));
        CHECK(!finds_wait(ctx, &p));
        if (dep < 7) {
            op[1].blockdep = 7;
            CHECK(!ti_npu_write_as(&ctx->arena, m, as_listed, op, 2, &p.words, NULL));
            refused += finds_wait(ctx, &p);
        }
        ti_arena_rewind(&ctx->arena, mark);
    }
    for (int i = 0; i < 8; i++)
        CHECK(seen[i] > 0);
    CHECK(refused > 100);
    tc_npu_op op[2] = {kernel(m, TC_NPU_KIND_POOL, TC_POOL_SUM, 0, MAP),
                       kernel(m, TC_NPU_KIND_POOL, TC_POOL_SUM, 4 * MAP, 5 * MAP)};
    CHECK(ti_npu_blockdep(m, &op[0], &op[1]) == 7); /* nothing in common */
    CHECK(ti_npu_blockdep(m, NULL, &op[1]) == 0);
    op[1].ifm.base[0] = MAP + 8; /* some of it */
    CHECK(ti_npu_blockdep(m, &op[0], &op[1]) == 0);
    op[1].ifm = op[0].ofm;
    op[0].transpose = 1;
    CHECK(ti_npu_blockdep(m, &op[0], &op[1]) == 0);
    tc_ctx_free(ctx);
}

/* ---- branches, chains ---- */

/* if (pool) pool else pool; pool: whoever begins at a target needs no register from before. */
static void branches(void)
{
    tc_ctx *ctx = tc_ctx_new();
    const tc_npu_machine *m = ti_npu_machine_find("ethos-u85-256");
    tc_npu_op op[6], *back;
    size_t word_of[6], n;
    for (size_t i = 0; i < 6; i++)
        op[i] = kernel(m, TC_NPU_KIND_POOL, TC_POOL_SUM, 0, MAP * (i + 1));
    op[1] = (tc_npu_op){
        .kind = TC_NPU_KIND_BRANCH, .param = 1, .conditional = true, .target = 4};
    op[3] = (tc_npu_op){.kind = TC_NPU_KIND_BRANCH, .target = 5};
    tc_npu_words words;
    CHECK(!ti_npu_write(&ctx->arena, m, op, 6, &words, word_of));
    CHECK(!ti_npu_list(&ctx->arena, m, words, false, &back, &n) && n == 7);
    for (size_t i = 0; i < 6 && i < n; i++)
        CHECK(!same_op(m, &op[i], &back[i]) && word_of[i] == back[i].at);
    for (size_t i = 0; i < 6; i++) {
        tc_npu_walk walk;
        tc_npu_op next;
        if (op[i].kind != TC_NPU_KIND_BRANCH)
            continue;
        ti_npu_walk_begin(&walk, m, words);
        walk.at = ti_le32(words.data + 4 * (word_of[i] + 1)) / 4;
        CHECK(ti_npu_walk_next(&walk, &next) && !same_op(m, &op[op[i].target], &next) &&
              next.blockdep == 0);
    }
    CHECK(!ti_npu_list(&ctx->arena, m, words, true, &back, &n) && waits_in(back, n) == 2);
    op[3].target = 7;
    CHECK(ti_npu_write(&ctx->arena, m, op, 6, &words, word_of) != NULL);
    op[3].target = 6; /* the end */
    CHECK(!ti_npu_write(&ctx->arena, m, op, 6, &words, word_of));
    CHECK(ti_le32(words.data + 4 * (word_of[3] + 1)) == 4 * (words.n - 1));
    tc_ctx_free(ctx);
}

/* A DMA that the second of a chain needs is waited for before the chain begins. */
static void chains(void)
{
    tc_ctx *ctx = tc_ctx_new();
    const tc_npu_machine *m = ti_npu_machine_find("ethos-u85-256");
    tc_npu_op op[3] = {copy(0, 0, 1, 2 * MAP, MAP), kernel(m, TC_NPU_KIND_POOL, TC_POOL_SUM, 0, 0),
                       kernel(m, TC_NPU_KIND_ELEMENTWISE, TC_EW_ADD, 0, 3 * MAP)},
              *back;
    size_t n;
    op[1].ofm.storage = op[2].ifm.storage = TC_STORE_CHAIN;
    op[1].ofm.region = op[2].ifm.region = 0;
    op[2].ifm2 = bytes_at(1, 2 * MAP);
    op[2].block = op[1].block;
    tc_npu_words words;
    CHECK(!ti_npu_write(&ctx->arena, m, op, 3, &words, NULL));
    CHECK(!ti_npu_list(&ctx->arena, m, words, true, &back, &n) && n == 5);
    CHECK(back[1].kind == TC_NPU_KIND_DMA_WAIT && back[2].kind == TC_NPU_KIND_POOL);
    CHECK(!same_op(m, &op[2], &back[3]));
    tc_ctx_free(ctx);
}

/* ---- what cannot be written ---- */

static void refused(void)
{
    tc_ctx *ctx = tc_ctx_new();
    const tc_npu_machine *m = ti_npu_machine_find("ethos-u55-128");
    tc_npu_op op;
    tc_npu_words words;
#define REFUSES(change, words_)                                                                    \
    do {                                                                                           \
        op = kernel(m, TC_NPU_KIND_POOL, TC_POOL_AVERAGE, 0, MAP);                                 \
        change;                                                                                    \
        const char *error = ti_npu_write(&ctx->arena, m, &op, 1, &words, NULL);                    \
        CHECK_ROW(error ? error : #change, error && strstr(error, words_) && !words.n);            \
    } while (0)
    REFUSES(op.window.top = 128, "IFM_PAD_TOP of ethos-u55-128 cannot hold 128");
    REFUSES(op.window.right = -1, "IFM_PAD_RIGHT of ethos-u55-128 cannot hold -1");
    REFUSES(op.ofm.c = 65537, "OFM_DEPTH_M1 of ethos-u55-128 cannot hold 65536");
    REFUSES(op.block.h = 33, "OFM_BLK_HEIGHT_M1 of ethos-u55-128 cannot hold 32");
    REFUSES(op.window.stride_x = 5, "KERNEL_STRIDE of ethos-u55-128 cannot hold 4");
    REFUSES(op.ifm.zero = 40000, "IFM_ZERO_POINT of ethos-u55-128 cannot hold 40000");
    REFUSES(op.ifm.base[0] = UINT64_C(1) << 32, "IFM_BASE0 of ethos-u55-128 cannot hold 4294967296");
    REFUSES(op.ofm.stride_y = INT64_C(1) << 39, "OFM_STRIDE_Y of ethos-u55-128 cannot hold");
    REFUSES(op.ifm.bytes = 3, "IFM_PRECISION of ethos-u55-128 cannot hold 3");
    REFUSES(op.ofm_scale.round = TC_ROUND_DOWN, "OFM_PRECISION of ethos-u55-128 cannot hold 5");
    REFUSES(op.ofm_scale.shift = 64, "OFM_SCALE of ethos-u55-128 cannot hold 64");
    REFUSES(op.transpose = 1, "OFM_PRECISION of ethos-u55-128 cannot hold 1");
    REFUSES(op.hi = 70000, "ACTIVATION_MAX of ethos-u55-128 cannot hold 70000");
    REFUSES(op.lo = -40000, "ACTIVATION_MIN of ethos-u55-128 cannot hold -40000");
    REFUSES(op.acc_bits = 48, "ACC_FORMAT of ethos-u55-128 cannot hold 48");
    REFUSES(op.acc_input = 1, "U85 only");
    REFUSES(op.mode = 9, "ethos-u55-128 has no POOL");
    REFUSES(op.kind = TC_NPU_KIND_RESIZE, "ethos-u55-128 has no RESIZE");
    REFUSES(op = copy(0, 0, 1, 0, 16); op.dma.rows = 2, "one run");
#undef REFUSES
    tc_ctx_free(ctx);
}

/* Rows of a DMA: U65 skips, on one side or the other; U85 has strides for both. */
static void rows(void)
{
    static const struct {
        const char *machine;
        int64_t src_row, src_plane, dst_row, dst_plane;
        bool takes;
    } row[] = {{"ethos-u65-256", 48, 300, 16, 80, true},  {"ethos-u65-256", 16, 80, 32, 200, true},
               {"ethos-u65-256", 48, 300, 32, 200, false}, {"ethos-u85-256", 48, -300, 32, 200, true}};
    for (size_t i = 0; i < TC_COUNT(row); i++) {
        tc_ctx *ctx = tc_ctx_new();
        const tc_npu_machine *m = ti_npu_machine_find(row[i].machine);
        tc_npu_op op = copy(0, 1024, 1, 0, 16), *back;
        op.dma.rows = 5;
        op.dma.planes = 3;
        op.dma.src_row = row[i].src_row;
        op.dma.src_plane = row[i].src_plane;
        op.dma.dst_row = row[i].dst_row;
        op.dma.dst_plane = row[i].dst_plane;
        tc_npu_words words;
        size_t n;
        CHECK_ROW(row[i].machine,
                  !ti_npu_write(&ctx->arena, m, &op, 1, &words, NULL) == row[i].takes);
        if (row[i].takes)
            CHECK_ROW(row[i].machine, !ti_npu_list(&ctx->arena, m, words, true, &back, &n) &&
                                          n == 2 && !same_op(m, &op, &back[0]));
        tc_ctx_free(ctx);
    }
}

/* ---- programs ---- */

static bool same_tensor(const tc_npu_tensor *a, const tc_npu_tensor *b)
{
    return !memcmp(a->dim, b->dim, sizeof a->dim) && a->element_bytes == b->element_bytes &&
           a->offset == b->offset && a->bytes == b->bytes && a->region == b->region;
}

static bool same_bytes(tc_bytes a, tc_bytes b)
{
    return a.size == b.size && !memcmp(a.data, b.data, a.size);
}

/* As Vela's archive, and as ExecuTorch's payload, on every machine. */
static void programs(void)
{
    for (size_t i = 0; i < TC_COUNT(machines); i++) {
        tc_ctx *ctx = tc_ctx_new();
        const tc_npu_machine *m = ti_npu_machine_find(machines[i]);
        made *s = tc_new(&ctx->arena, made);
        make(s, m);
        tc_npu_program *p = &s->program, back[2];
        p->fast = i % 2 ? 4096 : 0;
        CHECK_ROW(m->name, ti_npu_machine_of(m->config) == m && m->id);
        CHECK_ROW(m->name, !ti_npu_write(&ctx->arena, m, s->op, s->n, &p->words, NULL));
        CHECK_ROW(m->name, !ti_npu_make_driver(&ctx->arena, p));
        CHECK_ROW(m->name, p->words_at == 32 && p->driver.size == 32 + 4 * p->words.n);
        tc_bytes npz = ti_npu_write_npz(&ctx->arena, p),
                 payload = ti_npu_backend_payload(&ctx->arena, p);
        CHECK_ROW(m->name, ti_npu_looks_like_npz(npz));
        CHECK_ROW(m->name, ti_npu_read_npz(ctx, "x", npz, &back[0]) == TC_OK);
        CHECK_ROW(m->name, ti_npu_read_backend(ctx, NULL, payload, &back[1]) == TC_OK);
        for (int k = 0; k < 2; k++) {
            const tc_npu_program *q = &back[k];
            CHECK_ROW(m->name, q->machine == m && q->config == m->config && q->id == m->id);
            CHECK_ROW(m->name, same_bytes(q->driver, p->driver) &&
                                   same_bytes(q->weights, p->weights) && q->words_at == 32);
            CHECK_ROW(m->name, q->scratch == p->scratch && q->fast == p->fast && q->n_in == 1 &&
                                   q->n_out == 1 && same_tensor(q->in, p->in) &&
                                   same_tensor(q->out, p->out));
        }
        s->out.element_bytes = 3;
        CHECK_ROW(m->name, ti_npu_make_driver(&ctx->arena, p) != NULL);
        tc_ctx_free(ctx);
    }
}

/* Programs with one region 0: each is read from its own place on, and the region is there once. */
static void joined(void)
{
    enum { N = 3 };
    tc_ctx *ctx = tc_ctx_new();
    const tc_npu_machine *m = ti_npu_machine_find("ethos-u55-128");
    uint8_t weights[1000];
    tc_npu_program p[N], back[N];
    for (size_t i = 0; i < sizeof weights; i++)
        weights[i] = (uint8_t)(i * 37);
    for (int i = 0; i < N; i++) {
        made *s = tc_new(&ctx->arena, made);
        make(s, m);
        p[i] = s->program;
        p[i].scratch += 64 * i;
        p[i].fast = i == 1 ? 4096 : -1;
        CHECK(!ti_npu_write(&ctx->arena, m, s->op, s->n, &p[i].words, NULL));
        CHECK(!ti_npu_make_driver(&ctx->arena, &p[i]));
    }
    size_t at[N], alone = 0;
    tc_bytes common = {weights, sizeof weights},
             all = ti_npu_backend_joined(&ctx->arena, p, N, common, at);
    for (int i = 0; i < N; i++) {
        tc_bytes piece = {all.data + at[i], all.size - at[i]};
        CHECK(at[i] % 16 == 0 && ti_npu_read_backend(ctx, NULL, piece, &back[i]) == TC_OK);
        CHECK(same_bytes(back[i].driver, p[i].driver) && same_bytes(back[i].weights, common));
        CHECK(back[i].weights.data == back[0].weights.data);
        CHECK(back[i].scratch == p[i].scratch && same_tensor(back[i].in, p[i].in) &&
              same_tensor(back[i].out, p[i].out));
        alone += ti_npu_backend_payload(&ctx->arena, &back[i]).size;
    }
    CHECK(back[1].fast == 4096 && back[0].fast != 4096 && back[2].fast != 4096);
    CHECK(all.size < alone - (N - 1) * sizeof weights + 64 * N);
    tc_ctx_free(ctx);
}

int main(void)
{
    recorded("streams.zip", 80);
    recorded("tflite.zip", 40);
    networks();
    waits();
    joined();
    shifted();
    blockdeps();
    branches();
    chains();
    refused();
    rows();
    programs();
    return check_done();
}
