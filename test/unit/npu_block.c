/* SPDX-License-Identifier: Apache-2.0 */
/* npu_block.c -- blocks of operations: what is chosen fits every machine, as the verifier sees it,
 * and what is searched costs no more than what Vela takes. */
#include "check.h"

#include "base/text.h"
#include "npu/block.h"
#include "npu/block_search.h"
#include "npu/cost.h"
#include "npu/verifier.h"
#include "wire/file.h"

static const char *const machines[] = {
    "ethos-u55-32",  "ethos-u55-64",  "ethos-u55-128", "ethos-u55-256",  "ethos-u65-256",
    "ethos-u65-512", "ethos-u85-128", "ethos-u85-256", "ethos-u85-512",  "ethos-u85-1024",
    "ethos-u85-2048"};

static tc_npu_system system_of(tc_ctx *ctx, const tc_npu_machine *m)
{
    static const char *const config[] = {"Ethos_U55_High_End_Embedded", "Ethos_U65_High_End",
                                         "Ethos_U85_SYS_DRAM_Mid"},
                             *const mode[] = {"Shared_Sram", "Dedicated_Sram_384KB", "Sram_Only"};
    tc_npu_system s;
    CHECK(ti_npu_system_find(ctx, m, NULL, config[m->product], mode[m->product], &s) == TC_OK);
    return s;
}

/* Elementwise ones of U85 have none; Vela sets them all the same, but for sums and comparisons. */
static bool sets_wide(const tc_npu_op *op)
{
    switch (op->mode) {
    case TC_EW_MUL:
    case TC_EW_SHR:
    case TC_EW_SHL:
    case TC_EW_LSR:
    case TC_EW_AND:
    case TC_EW_OR:
    case TC_EW_XOR:
    case TC_EW_NOT:
    case TC_EW_AND_NOT:
        return true;
    default:
        return false;
    }
}

/* Bits of accumulators, order of weights and microblock, as Vela sets them. */
static void set_acc(const tc_npu_machine *m, tc_npu_op *op)
{
    bool u85 = m->product == TC_U85, ew = op->kind == TC_NPU_KIND_ELEMENTWISE,
         sums = op->kind == TC_NPU_KIND_CONV || op->kind == TC_NPU_KIND_DEPTHWISE,
         reduces = op->kind == TC_NPU_KIND_POOL && op->mode == TC_POOL_REDUCE_SUM;
    bool scaled = op->per_channel || op->ofm_scale.multiplier != 1 || op->ofm_scale.shift;
    bool wide = op->ifm.bytes == 2 &&
                ((sums && scaled) || (u85 ? ew && sets_wide(op) : reduces));
    bool widest = u85 && (op->ofm.bytes == 8 || (op->ifm2.used && op->ifm2.bytes == 8));
    op->acc_bits = wide || widest ? (u85 ? 48 : 40) : 32;
    ti_npu_set_order(m, op);
}

/* What the verifier says of an operation's block; NULL: nothing. */
static const char *finding(tc_ctx *ctx, const tc_npu_machine *m, const tc_npu_op *op)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_npu_finding list[TC_NPU_FINDINGS] = {0};
    tc_npu_findings found = {.list = list};
    tc_npu_program program = {.machine = m};
    tc_npu_verifier *v = tc_new(&ctx->scratch, tc_npu_verifier);
    v->ctx = ctx;
    v->program = &program;
    v->machine = m;
    v->out = &found;
    v->op = op;
    ti_npu_verify_block(v, op);
    ti_arena_rewind(&ctx->scratch, mark);
    return found.n ? found.list[0].text : NULL;
}

/* Cycles of operations with their blocks, and bytes that they move. */
static double price(const tc_npu_machine *m, const tc_npu_system *s, const tc_npu_op *op, size_t n,
                    double *traffic)
{
    double cycles = 0;
    *traffic = 0;
    for (size_t i = 0; i < n;) {
        tc_npu_job job;
        tc_npu_cost cost;
        double slack = 0;
        i += ti_npu_job_of(m, s, op + i, n - i, &job);
        ti_npu_cost_job(m, s, &job, &slack, &cost);
        cycles += cost.cycles;
        for (int k = 0; k < TC_NPU_MEMORIES; k++)
            *traffic += cost.read[k] + cost.written[k];
    }
    return cycles;
}

/* ---- operations that are made up ---- */

typedef struct form {
    tc_npu_kind kind;
    uint8_t mode;
    int32_t kh, kw, stride, dilation;
    uint8_t bytes, out_bytes;
    tc_npu_format format;
    bool u85; /* no other has it */
    uint8_t transpose, reverse, broadcast;
    bool second, product, table;
    tc_npu_upscale upscale;
} form;

#define CONV TC_NPU_KIND_CONV, 0
#define DEPTHWISE TC_NPU_KIND_DEPTHWISE, 0
#define POOL(mode) TC_NPU_KIND_POOL, TC_POOL_##mode
#define EW(mode) TC_NPU_KIND_ELEMENTWISE, TC_EW_##mode

/* clang-format off */
static const form forms[] = {
    {CONV, 1, 1, 1, 1, 1, 1, .format = TC_NHCWB16},
    {CONV, 3, 3, 1, 1, 1, 1, .format = TC_NHCWB16},
    {CONV, 3, 3, 2, 1, 1, 1, .format = TC_NHWC},
    {CONV, 7, 7, 2, 1, 2, 2, .format = TC_NHCWB16},
    {CONV, 3, 3, 1, 2, 1, 4, .format = TC_NHWC},
    {CONV, 4, 4, 1, 1, 1, 1, .format = TC_NHCWB16, .upscale = TC_UPSCALE_ZEROS},
    {CONV, 1, 64, 1, 1, 1, 1, .format = TC_NHWC},
    {CONV, 1, 1, 1, 1, 1, 1, .format = TC_NHWC, .u85 = true, .second = true, .product = true},
    {CONV, 1, 1, 1, 1, 2, 8, .format = TC_NHWC, .u85 = true, .second = true, .product = true},
    {CONV, 1, 1, 1, 1, 1, 1, .format = TC_NHCWB16, .u85 = true, .transpose = 6},
    {CONV, 3, 3, 1, 1, 1, 1, .format = TC_NHCWB16, .table = true},
    {DEPTHWISE, 3, 3, 1, 1, 1, 1, .format = TC_NHCWB16},
    {DEPTHWISE, 3, 3, 2, 1, 1, 1, .format = TC_NHCWB16},
    {DEPTHWISE, 7, 7, 1, 1, 2, 2, .format = TC_NHWC},
    {DEPTHWISE, 5, 5, 1, 2, 1, 1, .format = TC_NHCWB16, .table = true},
    {DEPTHWISE, 3, 3, 1, 1, 1, 1, .format = TC_NHWC, .u85 = true, .transpose = 6},
    {POOL(MAX), 2, 2, 2, 1, 1, 1, .format = TC_NHCWB16},
    {POOL(AVERAGE), 8, 8, 1, 1, 1, 1, .format = TC_NHWC},
    {POOL(AVERAGE), 1, 1, 1, 1, 1, 1, .format = TC_NHWC, .table = true},
    {POOL(REDUCE_SUM), 1, 1, 1, 1, 4, 4, .format = TC_NHWC},
    {POOL(REDUCE_SUM), 1, 1, 1, 1, 1, 4, .format = TC_NHWC},
    {POOL(SUM), 1, 1, 1, 1, 1, 1, .format = TC_NHWC, .u85 = true, .transpose = 2},
    {POOL(SUM), 1, 1, 1, 1, 2, 2, .format = TC_NHCWB16, .u85 = true, .transpose = 3},
    {POOL(SUM), 1, 1, 1, 1, 1, 1, .format = TC_NHCWB16, .u85 = true, .transpose = 7},
    {POOL(SUM), 1, 1, 1, 1, 1, 1, .format = TC_NHWC, .u85 = true, .transpose = 1},
    {POOL(SUM), 1, 1, 1, 1, 1, 1, .format = TC_NHWC, .u85 = true, .reverse = 3},
    {POOL(MIN), 3, 3, 1, 1, 2, 2, .format = TC_NHWC, .u85 = true},
    {POOL(ARGMAX_X), 1, 8, 1, 1, 1, 4, .format = TC_NHWC, .u85 = true},
    {POOL(NONE), 1, 1, 1, 1, 4, 1, .format = TC_NHCWB16, .u85 = true, .second = true},
    {POOL(NONE), 1, 1, 1, 1, 8, 4, .format = TC_NHWC, .u85 = true, .second = true},
    {EW(ADD), 1, 1, 1, 1, 1, 1, .format = TC_NHCWB16, .second = true},
    {EW(ADD), 1, 1, 1, 1, 1, 1, .format = TC_NHCWB16, .second = true, .table = true},
    {EW(MUL), 1, 1, 1, 1, 4, 4, .format = TC_NHWC, .second = true},
    {EW(MUL), 1, 1, 1, 1, 2, 2, .format = TC_NHWC, .second = true, .broadcast = TC_BROADCAST_SCALAR},
    {EW(MUL), 1, 1, 1, 1, 4, 1, .format = TC_NHWC, .second = true, .broadcast = TC_BROADCAST_SCALAR},
    {EW(SUB), 1, 1, 1, 1, 1, 1, .format = TC_NHWC, .second = true, .broadcast = TC_BROADCAST_C},
    {EW(SUB), 1, 1, 1, 1, 1, 4, .format = TC_NHWC, .second = true, .broadcast = TC_BROADCAST_H},
    {EW(MUL), 1, 1, 1, 1, 1, 1, .format = TC_NHCWB16, .second = true, .broadcast = 3},
    {EW(ABS), 1, 1, 1, 1, 4, 4, .format = TC_NHWC},
    {TC_NPU_KIND_RESIZE, 0, 1, 1, 1, 1, 1, 1, .format = TC_NHWC, .u85 = true},
};

static const int32_t extents[][4] = {
    /* of the output, and channels of the input */
    {1, 1, 1, 1},      {1, 1, 1000, 1280}, {1, 50, 50, 16},  {3, 1, 2, 2},     {7, 7, 160, 960},
    {14, 14, 576, 96}, {112, 112, 16, 32}, {48, 48, 40, 3},  {6, 6, 384, 64},  {3, 3, 960, 160},
    {1, 197, 17, 192}, {33, 65, 33, 65},   {200, 1, 1, 7},   {5, 300, 24, 24}, {224, 224, 3, 3},
    {2, 1000, 8, 512}, {64, 64, 64, 64},   {160, 6, 6, 6},   {1, 576, 1, 6},
};
/* clang-format on */

static tc_npu_op make(const tc_npu_machine *m, const form *f, const int32_t *e)
{
    bool reduces = f->kind == TC_NPU_KIND_POOL && f->mode == TC_POOL_REDUCE_SUM,
         sums = f->kind == TC_NPU_KIND_CONV || reduces;
    tc_npu_op op = {.kind = f->kind, .mode = f->mode, .weights_ifm2 = f->product};
    op.ofm = (tc_npu_map){.used = true, .is_signed = true, .bytes = f->out_bytes, .region = 1,
                          .format = f->format, .h = e[0], .w = e[1], .c = e[2]};
    if (reduces)
        op.ofm.c = 1;
    op.window = (tc_npu_window){.kh = f->kh, .kw = f->kw, .stride_y = f->stride,
                                .stride_x = f->stride, .dilation_y = f->dilation,
                                .dilation_x = f->dilation, .upscale = f->upscale};
    op.ifm = op.ofm;
    op.ifm.bytes = f->bytes;
    op.ifm.h = (e[0] - 1) * f->stride + (f->kh - 1) * f->dilation + 1;
    op.ifm.w = (e[1] - 1) * f->stride + (f->kw - 1) * f->dilation + 1;
    op.ifm.c = sums ? e[3] : e[2];
    op.depth = op.ifm.c;
    if (f->second) {
        op.ifm2 = op.ofm;
        op.ifm2.bytes = f->bytes;
        op.ifm2.broadcast = f->broadcast;
        op.ifm2.h = f->broadcast & TC_BROADCAST_H ? 1 : op.ofm.h;
        op.ifm2.w = f->broadcast & TC_BROADCAST_W ? 1 : op.ofm.w;
        op.ifm2.c = f->broadcast & TC_BROADCAST_C ? 1 : op.ofm.c;
    }
    if (f->product) {
        op.ifm2.h = 1;
        op.ifm2.w = op.ofm.c;
        op.ifm2.c = op.ifm.c;
    }
    if (f->kind == TC_NPU_KIND_POOL && f->mode == TC_POOL_NONE) {
        op.ifm = (tc_npu_map){.bytes = 1};
        op.acc_input = 2;
    }
    op.transpose = f->transpose;
    op.reverse = f->reverse;
    op.function = f->table ? (m->product == TC_U85 ? 4 : 16) : 0;
    op.acc_output = true;
    op.cores = (uint8_t)m->cores;
    op.per_channel =
        (op.kind == TC_NPU_KIND_CONV && !f->product) || op.kind == TC_NPU_KIND_DEPTHWISE;
    op.ofm_scale = (tc_npu_scale){1 << 30, 31, 0, TC_ROUND_NATURAL};
    set_acc(m, &op);
    return op;
}

static const char *row_name(tc_ctx *ctx, const tc_npu_machine *m, const tc_npu_op *op)
{
    return ti_text_format(&ctx->arena, "%s, %s %s of %d bytes, %d x %d x %d, kernel %d x %d, block "
                                       "%d x %d x %d, %s",
                          m->name, ti_npu_kind_name(op->kind), ti_npu_mode_name(op->kind, op->mode),
                          op->ifm.bytes, op->ofm.h, op->ofm.w, op->ofm.c, op->window.kh,
                          op->window.kw, op->block.h, op->block.w, op->block.depth,
                          ti_npu_block_fits(m, op) ? "fits" : "does not fit");
}

static void made_up(tc_ctx *ctx)
{
    size_t n = 0, quicker = 0;
    for (size_t i = 0; i < TC_COUNT(machines); i++) {
        const tc_npu_machine *m = ti_npu_machine_find(machines[i]);
        tc_npu_system s = system_of(ctx, m);
        tc_npu_block_memo *memo = ti_npu_block_memo_new(&ctx->arena);
        for (size_t k = 0; k < TC_COUNT(forms) * TC_COUNT(extents); k++) {
            const form *f = &forms[k / TC_COUNT(extents)];
            if (f->u85 && m->product != TC_U85)
                continue;
            tc_npu_op vela = make(m, f, extents[k % TC_COUNT(extents)]), best = vela;
            double bytes = vela.per_channel ? (double)f->kh * f->kw * vela.ifm.c * vela.ofm.c : 0;
            double traffic[2];
            ti_npu_choose_block(m, &vela);
            ti_npu_set_banks(m, &vela);
            ti_npu_best_block(m, &s, &best, bytes);
            CHECK_ROW(row_name(ctx, m, &vela),
                      ti_npu_block_fits(m, &vela) && !finding(ctx, m, &vela));
            CHECK_ROW(row_name(ctx, m, &best),
                      ti_npu_block_fits(m, &best) && !finding(ctx, m, &best));
            vela.weights.bytes[0] = best.weights.bytes[0] = (uint64_t)bytes;
            vela.scale_bytes[0] = best.scale_bytes[0] = 10 * (uint64_t)best.ofm.c;
            double was = price(m, &s, &vela, 1, &traffic[0]),
                   is = price(m, &s, &best, 1, &traffic[1]);
            CHECK_ROW(row_name(ctx, m, &best), is <= was * (1 + 1e-9) && traffic[1] <= 1.1 * traffic[0] + 64);
            CHECK_ROW(row_name(ctx, m, &best),
                      best.window.part_kernel == vela.window.part_kernel &&
                          best.acc_bits == vela.acc_bits);
            tc_npu_op more = make(m, f, extents[k % TC_COUNT(extents)]); /* that may read more again */
            ti_npu_best_blocks(memo, m, &s, &more, 1, &bytes, true);
            more.weights.bytes[0] = (uint64_t)bytes;
            more.scale_bytes[0] = 10 * (uint64_t)more.ofm.c;
            double least = price(m, &s, &more, 1, &traffic[1]);
            CHECK_ROW(row_name(ctx, m, &more), ti_npu_block_fits(m, &more) && least <= is * (1 + 1e-9) &&
                                                   traffic[1] <= 1.4 * traffic[0] + 64);
            quicker += least < is;
            for (int again = 0; again < 2; again++) { /* found out, then known */
                tc_npu_op same = make(m, f, extents[k % TC_COUNT(extents)]);
                ti_npu_best_blocks(memo, m, &s, &same, 1, &bytes, false);
                CHECK(!memcmp(&same.block, &best.block, sizeof same.block) &&
                      same.microblock == best.microblock && same.ab_start == best.ab_start);
            }
            n++;
        }
    }
    CHECK(quicker > 0);
    printf("%zu operations on %zu machines, %zu quicker where more is read again\n", n, TC_COUNT(machines), quicker);
}

/* ---- what is known ---- */

/* Blocks and banks as Vela writes them. */
static void banks(tc_ctx *ctx)
{
    /* clang-format off */
    static const struct {
        const char *machine;
        form form;
        int32_t extent[4];
        tc_npu_block block;
        uint8_t ib_end, ib2_start, ab_start; /* ib2_start 0: does not count */
    } rows[] = {
        {"ethos-u55-128", {EW(ADD), 1, 1, 1, 1, 4, 4, .format = TC_NHWC, .second = true}, {4, 7, 8, 8},
         {4, 8, 8}, 22, 10, 22},
        {"ethos-u55-128", {EW(ABS), 1, 1, 1, 1, 4, 4, .format = TC_NHWC}, {2, 2, 1, 1}, {2, 2, 8}, 22, 0, 22},
        {"ethos-u55-128",
         {EW(ADD), 1, 1, 1, 1, 1, 4, .format = TC_NHCWB16, .second = true, .broadcast = TC_BROADCAST_SCALAR},
         {80, 12, 12, 12}, {32, 12, 16}, 22, 14, 22},
        {"ethos-u55-128", {DEPTHWISE, 3, 3, 2, 1, 1, 1, .format = TC_NHCWB16}, {3, 3, 576, 576}, {3, 4, 80},
         14, 0, 14},
        {"ethos-u55-128", {CONV, 1, 1, 1, 1, 1, 4, .format = TC_NHWC}, {6, 23, 5, 3}, {6, 24, 8}, 6, 0, 6},
        {"ethos-u55-128", {POOL(MAX), 3, 3, 1, 1, 2, 2, .format = TC_NHWC}, {10, 43, 1, 1}, {9, 14, 8}, 10, 0,
         14},
        {"ethos-u55-128", {POOL(REDUCE_SUM), 1, 1, 1, 1, 4, 4, .format = TC_NHWC}, {2000, 1, 1, 1},
         {15, 2, 8}, 10, 0, 14},
        {"ethos-u65-256", {EW(ADD), 1, 1, 1, 1, 4, 4, .format = TC_NHWC, .second = true}, {1, 1, 1, 1},
         {2, 2, 8}, 46, 18, 46},
        {"ethos-u65-256", {POOL(AVERAGE), 1, 1, 1, 1, 2, 2, .format = TC_NHCWB16, .table = true},
         {1, 3, 1, 1}, {2, 4, 8}, 10, 0, 30},
        {"ethos-u55-32", {CONV, 3, 3, 2, 1, 1, 1, .format = TC_NHCWB16}, {48, 48, 32, 3}, {8, 8, 16}, 8, 0,
         8},
        {"ethos-u55-32", {EW(ADD), 1, 1, 1, 1, 1, 1, .format = TC_NHCWB16, .second = true}, {24, 24, 24, 24},
         {8, 24, 16}, 16, 8, 16},
    };
    /* clang-format on */
    for (size_t i = 0; i < TC_COUNT(rows); i++) {
        const tc_npu_machine *m = ti_npu_machine_find(rows[i].machine);
        tc_npu_op op = make(m, &rows[i].form, rows[i].extent);
        op.block = rows[i].block;
        ti_npu_set_banks(m, &op);
        CHECK_ROW(row_name(ctx, m, &op),
                  ti_npu_block_fits(m, &op) && op.ib_end == rows[i].ib_end &&
                      (!rows[i].ib2_start || op.ib2_start == rows[i].ib2_start) &&
                      op.ab_start == rows[i].ab_start);
        op.block.w *= 64;
        CHECK(!ti_npu_block_fits(m, &op));
    }
}

static void accumulators(void)
{
    static const struct {
        const char *machine;
        form form;
        uint8_t bits;
    } rows[] = {
        {"ethos-u55-128", {CONV, 3, 3, 1, 1, 1, 1, .format = TC_NHWC}, 32},
        {"ethos-u55-128", {CONV, 3, 3, 1, 1, 2, 2, .format = TC_NHWC}, 40},
        {"ethos-u55-128", {POOL(MAX), 2, 2, 1, 1, 2, 2, .format = TC_NHWC}, 32},
        {"ethos-u55-128", {POOL(REDUCE_SUM), 1, 1, 1, 1, 2, 4, .format = TC_NHWC}, 40},
        {"ethos-u85-256", {POOL(REDUCE_SUM), 1, 1, 1, 1, 2, 4, .format = TC_NHWC}, 32},
        {"ethos-u85-256", {CONV, 3, 3, 1, 1, 2, 2, .format = TC_NHWC}, 48},
        {"ethos-u85-256", {DEPTHWISE, 3, 3, 1, 1, 2, 8, .format = TC_NHWC}, 48},
        {"ethos-u85-256", {POOL(SUM), 1, 1, 1, 1, 2, 2, .format = TC_NHWC}, 32},
        {"ethos-u85-256", {POOL(NONE), 1, 1, 1, 1, 8, 1, .format = TC_NHWC, .second = true}, 48},
        {"ethos-u85-256", {POOL(NONE), 1, 1, 1, 1, 4, 1, .format = TC_NHWC, .second = true}, 32},
        {"ethos-u85-256", {EW(MUL), 1, 1, 1, 1, 2, 4, .format = TC_NHWC, .second = true}, 48},
        {"ethos-u85-256", {EW(ADD), 1, 1, 1, 1, 2, 4, .format = TC_NHWC, .second = true}, 32},
    };
    static const int32_t extent[4] = {8, 8, 8, 8};
    for (size_t i = 0; i < TC_COUNT(rows); i++) {
        const tc_npu_machine *m = ti_npu_machine_find(rows[i].machine);
        CHECK_ROW(rows[i].machine, make(m, &rows[i].form, extent).acc_bits == rows[i].bits);
    }
}

/* A depthwise 3 x 3 whose input block, in microblocks, was larger than the memory. */
static void rounded(tc_ctx *ctx)
{
    static const form f = {DEPTHWISE, 3, 3, 1, 1, 1, 1, .format = TC_NHCWB16};
    static const int32_t extent[4] = {13, 15, 64, 64};
    const tc_npu_machine *m = ti_npu_machine_find("ethos-u85-256");
    tc_npu_op op = make(m, &f, extent);
    op.block = (tc_npu_block){13, 16, 64};
    CHECK(!ti_npu_block_fits(m, &op)); /* 15 x 18 x 64 of 16384 bytes; 13 * 16 * 64 sums as well */
    ti_npu_choose_block(m, &op);
    CHECK(ti_npu_block_fits(m, &op) && !finding(ctx, m, &op));
    op.block.depth = 8;
    CHECK(!ti_npu_block_fits(m, &op));
    op.block = (tc_npu_block){4, 3, 16};
    CHECK(!ti_npu_block_fits(m, &op)); /* half a microblock */
    op.transpose = 6;
    op.block = (tc_npu_block){1, 16, 144};
    CHECK(!ti_npu_block_fits(m, &op)); /* channels become rows */
    op.block.depth = 128;
    CHECK(ti_npu_block_fits(m, &op));
}

/* A convolution, and what is added in its chain; sums that are kept from one to the next. */
static void groups(tc_ctx *ctx)
{
    static const form conv = {CONV, 3, 3, 1, 1, 1, 1, .format = TC_NHCWB16},
                      add = {EW(ADD), 1, 1, 1, 1, 1, 1, .format = TC_NHCWB16, .second = true},
                      fill = {POOL(NONE), 1, 1, 1, 1, 4, 4, .format = TC_NHWC, .second = true},
                      tap = {CONV, 1, 1, 1, 1, 1, 4, .second = true, .product = true};
    static const int32_t extent[4] = {24, 24, 96, 40};
    for (size_t i = 6; i < TC_COUNT(machines); i++) {
        const tc_npu_machine *m = ti_npu_machine_find(machines[i]);
        tc_npu_system s = system_of(ctx, m);
        tc_npu_op chain[2] = {make(m, &conv, extent), make(m, &add, extent)};
        double bytes[2] = {9 * 40 * 96, 0};
        chain[0].ofm.storage = chain[1].ifm.storage = TC_STORE_CHAIN;
        ti_npu_best_blocks(NULL, m, &s, chain, 2, bytes, false);
        CHECK_ROW(m->name, !finding(ctx, m, &chain[0]) && !finding(ctx, m, &chain[1]) &&
                               !memcmp(&chain[0].block, &chain[1].block, sizeof(tc_npu_block)) &&
                               chain[0].microblock == chain[1].microblock);
        tc_npu_op taps[12] = {make(m, &fill, extent)};
        taps[0].acc_output = false;
        for (size_t k = 1; k < TC_COUNT(taps); k++) {
            taps[k] = make(m, &tap, extent);
            taps[k].acc_input = 1;
            taps[k].acc_output = k + 1 == TC_COUNT(taps);
        }
        ti_npu_best_blocks(NULL, m, &s, taps, TC_COUNT(taps), NULL, false);
        for (size_t k = 0; k < TC_COUNT(taps); k++)
            CHECK_ROW(m->name, !finding(ctx, m, &taps[k]) && ti_npu_block_fits(m, &taps[k]) &&
                                   taps[k].microblock == taps[1].microblock &&
                                   ti_npu_may_use(m, &taps[1], taps[k].microblock));
    }
}

/* ---- Vela's streams ---- */

static void streams(tc_ctx *ctx)
{
    static const char *const names[] = {
        "attention-u55-128", "attention-u85-256", "cascade-u85-256", "digits-u55-128",
        "digits-u55-32",     "digits-u65-256",    "digits-u65-512",  "digits-u85-1024",
        "digits-u85-128",    "digits-u85-2048",   "digits-u85-256",  "shared-u85-256"};
    for (size_t i = 0; i < TC_COUNT(names); i++) {
        const char *path =
            ti_text_format(&ctx->arena, "%s/cost/%s.cop", TOSAC_FIXTURES, names[i]);
        tc_bytes driver = {NULL, 0};
        tc_npu_program p = {0};
        CHECK(ti_file_read(ctx, path, &driver) == TC_OK);
        CHECK(ti_npu_read_driver(ctx, NULL, driver, &p) == TC_OK);
        tc_npu_system s = system_of(ctx, p.machine);
        tc_npu_walk walk;
        tc_npu_op op;
        double was = 0, is = 0, traffic[2], all[2] = {0, 0};
        ti_npu_walk_begin(&walk, p.machine, p.words);
        while (ti_npu_walk_next(&walk, &op)) {
            bool chain = op.ofm.storage == TC_STORE_CHAIN || op.ifm.storage == TC_STORE_CHAIN ||
                         (op.ifm2.used && op.ifm2.storage == TC_STORE_CHAIN);
            if (!ti_npu_is_kernel(op.kind) || chain || op.acc_input == 1 || !op.acc_output)
                continue;
            CHECK_ROW(names[i], ti_npu_block_fits(p.machine, &op));
            tc_npu_op mine = op;
            set_acc(p.machine, &mine);
            CHECK_ROW(names[i], op.kind == TC_NPU_KIND_ELEMENTWISE || mine.acc_bits == op.acc_bits);
            CHECK_ROW(names[i], mine.microblock == op.microblock &&
                                    (op.kind != TC_NPU_KIND_CONV ||
                                     mine.window.part_kernel == op.window.part_kernel));
            ti_npu_best_blocks(NULL, p.machine, &s, &mine, 1, NULL, false);
            CHECK_ROW(names[i], !finding(ctx, p.machine, &mine));
            was += price(p.machine, &s, &op, 1, &traffic[0]);
            is += price(p.machine, &s, &mine, 1, &traffic[1]);
            all[0] += traffic[0];
            all[1] += traffic[1];
        }
        printf("%s: %.0f cycles, Vela's blocks %.0f (%+.2f %%); traffic %+.2f %%\n", names[i], is,
               was, 100 * is / was - 100, 100 * all[1] / all[0] - 100);
        CHECK_ROW(names[i], is <= was * (1 + 1e-9) && all[1] <= 1.1 * all[0]);
    }
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    made_up(ctx);
    banks(ctx);
    accumulators();
    rounded(ctx);
    groups(ctx);
    streams(ctx);
    tc_ctx_free(ctx);
    return check_done();
}
