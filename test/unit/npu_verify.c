/* SPDX-License-Identifier: Apache-2.0 */
/* npu_verify.c -- the verifier on streams that are made here word by word: a good one, and one for
 * each thing that can be wrong with it. */
#include "check.h"

#include "npu/block.h"
#include "npu/verifier.h"
#include "npu/npu_verify.h"

enum { MOST = 256 };

typedef struct stream {
    uint8_t bytes[4 * MOST];
    size_t n;
    uint8_t weights[64];
    tc_npu_tensor in, out;
    tc_npu_program program;
} stream;

static void word(stream *s, uint32_t w)
{
    for (int i = 0; i < 4; i++)
        s->bytes[4 * s->n + (size_t)i] = (uint8_t)(w >> 8 * i);
    s->n++;
}
static void set(stream *s, int code, int value)
{
    word(s, (uint32_t)code | (uint32_t)(value & 0xffff) << 16);
}
static void set2(stream *s, int code, int param, uint32_t value)
{
    word(s, (uint32_t)code | 1u << 14 | (uint32_t)param << 16);
    word(s, value);
}

static void map(stream *s, int height0, int base, int region, uint32_t at, int h, int w, int c)
{
    set(s, region, 1);
    set(s, height0 - 1, w - 1);
    set(s, height0, h - 1);
    set(s, height0 + 1, h - 1);
    set2(s, base, 0, at);
    set2(s, base + 4, 0, (uint32_t)c);
    set2(s, base + 5, 0, (uint32_t)(w * c));
    set2(s, base + 6, 0, 1);
}

/* What every pool of a map of 4 x 4 x 8 of i8 has in common: 1x1, output from byte 128 on. */
static void prepare(stream *s)
{
    static const int zeros[] = {
        TC_NPU_IFM_PAD_TOP,    TC_NPU_IFM_PAD_LEFT,    TC_NPU_IFM_PAD_RIGHT,
        TC_NPU_IFM_PAD_BOTTOM, TC_NPU_IFM_UPSCALE,     TC_NPU_IFM_ZERO_POINT,
        TC_NPU_OFM_ZERO_POINT, TC_NPU_KERNEL_WIDTH_M1, TC_NPU_KERNEL_HEIGHT_M1,
        TC_NPU_KERNEL_STRIDE,  TC_NPU_ACC_FORMAT,      TC_NPU_ACTIVATION,
        TC_NPU_BLOCKDEP};
    *s = (stream){0};
    for (size_t i = 0; i < TC_COUNT(zeros); i++)
        set(s, zeros[i], 0);
    set(s, TC_NPU_IFM_DEPTH_M1, 7);
    set(s, TC_NPU_IFM_PRECISION, 1);
    set(s, TC_NPU_OFM_PRECISION, 1 | 1 << 8);
    set(s, TC_NPU_OFM_HEIGHT_M1, 3);
    set(s, TC_NPU_OFM_WIDTH_M1, 3);
    set(s, TC_NPU_OFM_DEPTH_M1, 7);
    set(s, TC_NPU_OFM_BLK_HEIGHT_M1, 3);
    set(s, TC_NPU_OFM_BLK_WIDTH_M1, 3);
    set(s, TC_NPU_OFM_BLK_DEPTH_M1, 7);
    set(s, TC_NPU_ACTIVATION_MIN, -128);
    set(s, TC_NPU_ACTIVATION_MAX, 127);
    set(s, TC_NPU_IFM_IB_END, 6);
    set(s, TC_NPU_IFM2_IB_START, 6);
    set(s, TC_NPU_AB_START, 14);
    set2(s, TC_NPU_OFM_SCALE, 0, 1);
    map(s, TC_NPU_IFM_HEIGHT0_M1, TC_NPU_IFM_BASE0, TC_NPU_IFM_REGION, 0, 4, 4, 8);
    map(s, TC_NPU_OFM_HEIGHT0_M1, TC_NPU_OFM_BASE0, TC_NPU_OFM_REGION, 128, 4, 4, 8);
}

static void pool(stream *s, tc_npu_pool mode) { set(s, TC_NPU_POOL, (int)mode); }
static void stop(stream *s) { set(s, TC_NPU_STOP, 0xffff); }

/* Bytes 0..127 are the input, 128..255 the output, of a scratch of 512 bytes. */
static tc_npu_findings judged(tc_ctx *ctx, stream *s)
{
    s->in = (tc_npu_tensor){
        .dim = {1, 1, 1, 4, 4, 8}, .element_bytes = 1, .offset = 0, .bytes = 128, .region = 1};
    s->out = s->in;
    s->out.offset = 128;
    s->program = (tc_npu_program){.machine = ti_npu_machine_find("ethos-u55-128"),
                                  .words = {s->bytes, s->n},
                                  .weights = {s->weights, sizeof s->weights},
                                  .scratch = 512,
                                  .in = &s->in,
                                  .out = &s->out,
                                  .n_in = 1,
                                  .n_out = 1};
    tc_npu_findings found;
    ti_npu_verify(ctx, &s->program, &found);
    return found;
}

static bool has(const tc_npu_findings *f, tc_npu_check check)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->list[i].check == check)
            return true;
    return false;
}

/* The stream is turned down for this and nothing else. */
static void only(tc_ctx *ctx, stream *s, tc_npu_check check)
{
    tc_npu_findings f = judged(ctx, s);
    CHECK(has(&f, check));
    for (size_t i = 0; i < f.n; i++)
        CHECK(f.list[i].check == check);
}

static void good_streams(tc_ctx *ctx)
{
    stream s;
    prepare(&s);
    pool(&s, TC_POOL_MAX);
    stop(&s);
    tc_npu_findings f = judged(ctx, &s);
    CHECK(f.n == 0);
    CHECK(f.n_operation == 1);
    CHECK(ti_npu_tell(ctx, NULL, &f, NULL, NULL) == TC_OK);
}

static void bounds(tc_ctx *ctx)
{
    stream s;
    prepare(&s);
    pool(&s, TC_POOL_MAX);
    set2(&s, TC_NPU_IFM_BASE0, 0, 385);
    pool(&s, TC_POOL_MAX);
    stop(&s);
    only(ctx, &s, TC_CHECK_BOUNDS);
    tc_npu_findings f = judged(ctx, &s);
    CHECK(f.list[0].number == 1);
    CHECK(strcmp(f.list[0].operation, "POOL MAX") == 0);
    CHECK(ti_npu_tell(ctx, NULL, &f, NULL, NULL) != TC_OK);
}

static void written_rows(stream *s, int n)
{
    set(s, TC_NPU_OFM_HEIGHT_M1, n - 1);
    set(s, TC_NPU_OFM_HEIGHT0_M1, n - 1);
    set(s, TC_NPU_OFM_HEIGHT1_M1, n - 1);
}

static void contents(tc_ctx *ctx)
{
    stream s;
    prepare(&s);
    set2(&s, TC_NPU_IFM_BASE0, 0, 8); /* its last eight bytes are the output's */
    pool(&s, TC_POOL_MAX);
    stop(&s);
    tc_npu_findings f = judged(ctx, &s);
    CHECK(has(&f, TC_CHECK_UNWRITTEN));
    CHECK(has(&f, TC_CHECK_OVERWRITE)); /* and the output is written while they are read */

    prepare(&s);
    written_rows(&s, 3);
    pool(&s, TC_POOL_MAX);
    stop(&s);
    only(ctx, &s, TC_CHECK_RESULT);

    prepare(&s);
    pool(&s, TC_POOL_MAX);
    set(&s, TC_NPU_OFM_REGION, 0);
    set2(&s, TC_NPU_OFM_BASE0, 0, 0);
    set2(&s, TC_NPU_OFM_STRIDE_X, 0, 8);
    written_rows(&s, 2);
    pool(&s, TC_POOL_MAX);
    stop(&s);
    only(ctx, &s, TC_CHECK_READ_ONLY);
}

/* A table of 256 bytes by DMA from region 0, at slot 0. */
static void load_table(stream *s, int from)
{
    set(s, TC_NPU_DMA0_SRC_REGION, from);
    set(s, TC_NPU_DMA0_DST_REGION, 3 | 1 << 8);
    set2(s, TC_NPU_DMA0_SRC, 0, 0);
    set2(s, TC_NPU_DMA0_DST, 0, 22 * 1024);
    set2(s, TC_NPU_DMA0_LEN, 0, 64);
    for (uint32_t i = 0; i < 4; i++) {
        set2(s, TC_NPU_DMA0_DST, 0, 22 * 1024 + 64 * i);
        set(s, TC_NPU_DMA_START, 0);
    }
}

/* In place, element by element; or a result on what is still to be read. */
static void overwriting(tc_ctx *ctx)
{
    stream s;
    prepare(&s);
    pool(&s, TC_POOL_MAX);
    set2(&s, TC_NPU_IFM_BASE0, 0, 128);
    pool(&s, TC_POOL_MAX);
    stop(&s);
    tc_npu_findings f = judged(ctx, &s);
    CHECK(f.n_error == 0);

    prepare(&s);
    pool(&s, TC_POOL_MAX);
    set2(&s, TC_NPU_IFM_BASE0, 0, 16);
    set2(&s, TC_NPU_OFM_BASE0, 0, 0);
    pool(&s, TC_POOL_MAX);
    stop(&s);
    only(ctx, &s, TC_CHECK_OVERWRITE);
}

static void tables(tc_ctx *ctx)
{
    stream s;
    prepare(&s);
    set(&s, TC_NPU_ACTIVATION, 16);
    pool(&s, TC_POOL_MAX);
    stop(&s);
    only(ctx, &s, TC_CHECK_TABLE);

    prepare(&s);
    load_table(&s, 0);
    set(&s, TC_NPU_ACTIVATION, 16);
    pool(&s, TC_POOL_MAX); /* without a wait */
    stop(&s);
    only(ctx, &s, TC_CHECK_WAIT);

    prepare(&s);
    load_table(&s, 0);
    set(&s, TC_NPU_ACTIVATION, 16);
    set(&s, TC_NPU_DMA_WAIT, 0);
    pool(&s, TC_POOL_MAX);
    stop(&s);
    tc_npu_findings f = judged(ctx, &s);
    CHECK(f.n == 0);
}

static void waits(tc_ctx *ctx)
{
    for (int waiting = 0; waiting < 2; waiting++) {
        stream s;
        prepare(&s);
        pool(&s, TC_POOL_MAX);
        if (waiting)
            set(&s, TC_NPU_KERNEL_WAIT, 0);
        set(&s, TC_NPU_DMA0_SRC_REGION, 1);
        set(&s, TC_NPU_DMA0_DST_REGION, 1);
        set2(&s, TC_NPU_DMA0_SRC, 0, 128);
        set2(&s, TC_NPU_DMA0_DST, 0, 256);
        set2(&s, TC_NPU_DMA0_LEN, 0, 128);
        set(&s, TC_NPU_DMA_START, 0);
        stop(&s);
        if (!waiting)
            only(ctx, &s, TC_CHECK_WAIT);
        else
            CHECK(judged(ctx, &s).n == 0);
    }
}

/* A pool of what the pool before it wrote, in blocks of so many rows. */
static void two_pools(stream *s, int rows, int blockdep)
{
    prepare(s);
    set(s, TC_NPU_OFM_BLK_HEIGHT_M1, rows - 1);
    pool(s, TC_POOL_MAX);
    set2(s, TC_NPU_IFM_BASE0, 0, 128);
    set2(s, TC_NPU_OFM_BASE0, 0, 256);
    set(s, TC_NPU_BLOCKDEP, blockdep);
    pool(s, TC_POOL_MAX);
    stop(s);
}

static void blocks_in_order(tc_ctx *ctx)
{
    stream s;
    two_pools(&s, 4, 0);
    CHECK(judged(ctx, &s).n == 0);
    two_pools(&s, 4, 1); /* one block, and it is read */
    only(ctx, &s, TC_CHECK_WAIT);
    two_pools(&s, 2, 1); /* the second block may be unfinished while the first is read */
    CHECK(judged(ctx, &s).n == 0);
    two_pools(&s, 2, 2);
    only(ctx, &s, TC_CHECK_WAIT);
}

static void shapes(tc_ctx *ctx)
{
    stream s;
    prepare(&s);
    set(&s, TC_NPU_OFM_BLK_WIDTH_M1, 2); /* three columns, in microblocks of two */
    pool(&s, TC_POOL_MAX);
    stop(&s);
    only(ctx, &s, TC_CHECK_BLOCK);

    prepare(&s);
    set(&s, TC_NPU_AB_START, 20); /* two banks short of what the accumulators need */
    pool(&s, TC_POOL_MAX);
    stop(&s);
    only(ctx, &s, TC_CHECK_BLOCK);

    prepare(&s);
    set(&s, TC_NPU_IFM_PRECISION, 1 | 1 << 6); /* bricks, whose addresses are multiples of 16 */
    set2(&s, TC_NPU_IFM_STRIDE_C, 0, 64);
    set2(&s, TC_NPU_IFM_STRIDE_Y, 0, 64);
    set2(&s, TC_NPU_IFM_BASE0, 0, 8);
    pool(&s, TC_POOL_MAX);
    stop(&s);
    tc_npu_findings f = judged(ctx, &s);
    CHECK(has(&f, TC_CHECK_ALIGN));
}

/* One register of a stream that is good, and what it is turned down for. */
static void single_registers(tc_ctx *ctx)
{
    static const struct {
        int code;
        bool second; /* has a second word */
        uint32_t value;
        tc_npu_check check;
    } row[] = {{TC_NPU_IFM_STRIDE_C, true, 3, TC_CHECK_STRIDE},
               {TC_NPU_OFM_STRIDE_X, true, 7, TC_CHECK_OVERLAP},
               {TC_NPU_OFM_STRIDE_Y, true, 16, TC_CHECK_OVERLAP},
               {TC_NPU_IFM_BASE2, true, 513, TC_CHECK_BOUNDS},
               {TC_NPU_ACTIVATION_MIN, false, 128, TC_CHECK_RANGE},
               {TC_NPU_IFM_DEPTH_M1, false, 6, TC_CHECK_RANGE},
               {TC_NPU_OFM_HEIGHT0_M1, false, 4, TC_CHECK_RANGE},
               {TC_NPU_OFM_WIDTH0_M1, false, 9, TC_CHECK_RANGE}};
    for (size_t i = 0; i < TC_COUNT(row); i++) {
        stream s;
        prepare(&s);
        if (row[i].second)
            set2(&s, row[i].code, 0, row[i].value);
        else
            set(&s, row[i].code, (int)row[i].value);
        pool(&s, TC_POOL_MAX);
        stop(&s);
        tc_npu_findings f = judged(ctx, &s);
        CHECK(has(&f, row[i].check));
    }
}

static void broken_words(tc_ctx *ctx)
{
    stream s;
    prepare(&s);
    pool(&s, TC_POOL_MAX);
    only(ctx, &s, TC_CHECK_STOP);

    s = (stream){0};
    pool(&s, TC_POOL_MAX);
    stop(&s);
    tc_npu_findings f = judged(ctx, &s);
    CHECK(has(&f, TC_CHECK_UNSET));

    prepare(&s);
    word(&s, 9); /* no such operation */
    stop(&s);
    only(ctx, &s, TC_CHECK_COMMAND);
}

static void faults_of_vela(tc_ctx *ctx)
{
    stream s;
    prepare(&s);
    set(&s, TC_NPU_IFM2_BROADCAST, 1 << 7);
    set(&s, TC_NPU_IFM2_SCALAR, 0);
    set(&s, TC_NPU_IFM2_PRECISION, 1);
    set(&s, TC_NPU_IFM_PRECISION, 1 | 1 << 8); /* the left operand by OPA, the other by 2^19 */
    set2(&s, TC_NPU_OPA_SCALE, 0, 1);
    set2(&s, TC_NPU_OPB_SCALE, 0, 128);
    set(&s, TC_NPU_ELEMENTWISE, TC_EW_ADD);
    stop(&s);
    only(ctx, &s, TC_CHECK_FACTORS);

    prepare(&s);
    pool(&s, TC_POOL_MAX);
    set(&s, TC_NPU_IFM_PAD_BOTTOM, 1);
    pool(&s, TC_POOL_MAX);
    stop(&s);
    tc_npu_findings f = judged(ctx, &s);
    CHECK(has(&f, TC_CHECK_PADDING));
    CHECK(f.n_error == 0);

    prepare(&s);
    set(&s, TC_NPU_OFM_DEPTH_M1, 0);
    set2(&s, TC_NPU_OFM_STRIDE_X, 0, 1);
    set2(&s, TC_NPU_OFM_STRIDE_Y, 0, 4);
    pool(&s, TC_POOL_REDUCE_SUM);
    pool(&s, TC_POOL_REDUCE_SUM); /* over the first one's result, behind what both read */
    stop(&s);
    f = judged(ctx, &s);
    CHECK(has(&f, TC_CHECK_JOINED));
}

/* On U55-256 a single row takes half of what two would, of accumulators. */
static void single_rows(tc_ctx *ctx)
{
    for (int rows = 1; rows <= 2; rows++) {
        stream s;
        prepare(&s);
        set(&s, TC_NPU_OFM_HEIGHT_M1, rows - 1);
        set(&s, TC_NPU_OFM_BLK_HEIGHT_M1, 1);
        set(&s, TC_NPU_OFM_BLK_WIDTH_M1, 31);
        set(&s, TC_NPU_OFM_BLK_DEPTH_M1, 63);
        set(&s, TC_NPU_IFM_IB_END, 10);
        set(&s, TC_NPU_AB_START, 30); /* 16 banks: 1 x 32 x 64 of 32 bits, twice */
        pool(&s, TC_POOL_MAX);
        stop(&s);
        judged(ctx, &s);
        s.program.machine = ti_npu_machine_find("ethos-u55-256");
        tc_npu_findings f;
        ti_npu_verify(ctx, &s.program, &f);
        CHECK(has(&f, TC_CHECK_BLOCK) == (rows == 2));
    }
}

/* On U85 a sum over 32-bit channels takes them in by 32, whatever the microblock. */
static void sums_of_u85(tc_ctx *ctx)
{
    (void)ctx;
    tc_npu_op op = {
        .kind = TC_NPU_KIND_POOL,
        .mode = TC_POOL_REDUCE_SUM,
        .microblock = 3,
        .block = {8, 16, 8},
        .window =
            {.kh = 1, .kw = 1, .stride_x = 1, .stride_y = 1, .dilation_x = 1, .dilation_y = 1},
        .ifm = {.used = true, .bytes = 4, .h = 64, .w = 64, .c = 64}};
    const tc_npu_machine *m = ti_npu_machine_find("ethos-u85-256");
    CHECK(ti_npu_ifm_block(m, &op).depth == 32);
    op.ifm.bytes = 2;
    CHECK(ti_npu_ifm_block(m, &op).depth == 64);
    op.microblock = 1; /* 1 x 2 x 16 */
    CHECK(ti_npu_ifm_block(m, &op).depth == 32);
}

/* More doubts than are kept, then an error: it is told of. */
static void doubts_give_way(tc_ctx *ctx)
{
    stream s;
    prepare(&s);
    pool(&s, TC_POOL_MAX);
    set(&s, TC_NPU_IFM_PAD_BOTTOM, 1);
    for (int i = 0; i < TC_NPU_FINDINGS + 2; i++)
        pool(&s, TC_POOL_MAX);
    set(&s, TC_NPU_OFM_BLK_WIDTH_M1, 2);
    pool(&s, TC_POOL_MAX);
    stop(&s);
    tc_npu_findings f = judged(ctx, &s);
    CHECK(f.n == TC_NPU_FINDINGS && f.n_doubt > TC_NPU_FINDINGS && f.n_error == 1);
    CHECK(has(&f, TC_CHECK_BLOCK));
    CHECK(ti_npu_tell(ctx, NULL, &f, NULL, NULL) != TC_OK);
}

/* Any words: an answer, and never a crash. */
static void any_words(tc_ctx *ctx)
{
    uint32_t seed = 1;
    for (int k = 0; k < 2000; k++) {
        stream s;
        prepare(&s);
        load_table(&s, 0);
        set(&s, TC_NPU_DMA_WAIT, 0);
        pool(&s, TC_POOL_MAX);
        stop(&s);
        for (int i = 0; i < 1 + k % 4; i++) {
            seed = seed * 1664525 + 1013904223;
            s.bytes[(seed >> 8) % (4 * s.n)] ^= (uint8_t)(1u << (seed >> 5 & 7));
        }
        tc_npu_findings f = judged(ctx, &s);
        CHECK(f.n <= TC_NPU_FINDINGS);
    }
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    good_streams(ctx);
    bounds(ctx);
    contents(ctx);
    overwriting(ctx);
    tables(ctx);
    waits(ctx);
    blocks_in_order(ctx);
    shapes(ctx);
    single_registers(ctx);
    broken_words(ctx);
    faults_of_vela(ctx);
    single_rows(ctx);
    sums_of_u85(ctx);
    doubts_give_way(ctx);
    any_words(ctx);
    tc_ctx_free(ctx);
    return check_done();
}
