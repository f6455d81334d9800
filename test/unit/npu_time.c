/* SPDX-License-Identifier: Apache-2.0 */
/* npu_time.c -- the timing model rule by rule: small jobs and streams whose cycles are worked out
 * here by hand; and bands. */
#include "check.h"

#include <string.h>

#include "npu/time_line.h"

static tc_npu_system system_of(const char *machine, const char *config, const char *mode)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_npu_system s;
    CHECK(ti_npu_system_find(ctx, ti_npu_machine_find(machine), NULL, config, mode, &s) == TC_OK);
    static const char *const sram = "Sram", *const dram = "Dram", *const flash = "OffChipFlash";
    for (int i = 0; i < TC_NPU_MEMORIES; i++) /* names outlive the context */
        s.memory[i].name = strcmp(s.memory[i].name, sram) == 0   ? sram
                           : strcmp(s.memory[i].name, dram) == 0 ? dram
                                                                 : flash;
    s.config = s.mode = "";
    tc_ctx_free(ctx);
    return s;
}

static bool near(double is, double wanted)
{
    bool same = fabs(is - wanted) <= 1e-6 * (1 + fabs(wanted));
    if (!same)
        fprintf(stderr, "  %.3f, expected %.3f\n", is, wanted);
    return same;
}

/* int8, in bricks, all in memory 0. */
static tc_npu_job job(tc_npu_work work, int32_t h, int32_t w, int32_t in, int32_t c, int32_t k)
{
    tc_npu_job j = {.work = work, .kh = k, .kw = k, .in_h = h, .in_w = w, .all_h = h, .all_w = w};
    j.ifm = (tc_npu_job_map){h, w, in, 8, TC_NHCWB16, 0, true};
    j.ofm = (tc_npu_job_map){h, w, c, 8, TC_NHCWB16, 0, true};
    j.block = (tc_npu_block){h, w, c};
    j.weight_memory = j.scale_memory = j.copied_from = -1;
    return j;
}

static tc_npu_time of(const char *machine, const tc_npu_system *s, const tc_npu_job *j)
{
    tc_npu_time t;
    ti_npu_time_job(ti_npu_machine_find(machine), s, j, &t);
    return t;
}

/* ---- time_ops.c ---- */

static void computing_u85(void)
{
    tc_npu_system s = system_of("ethos-u85-256", "FVP_U85_Low", "Sram_Only");
    tc_npu_job dw = job(TC_WORK_DEPTHWISE, 96, 96, 8, 8, 3);
    dw.unit = (tc_npu_block){1, 2, 16};
    CHECK(near(of("ethos-u85-256", &s, &dw).mac, 96 * 48 * 9)); /* 9 taps, not 12 */
    dw.kh = dw.kw = 1;
    CHECK(near(of("ethos-u85-256", &s, &dw).mac, 96 * 48));
    tc_npu_job conv = job(TC_WORK_CONV, 96, 96, 1, 8, 3);
    conv.unit = (tc_npu_block){1, 4, 8};
    conv.part_kernel = true;
    CHECK(near(of("ethos-u85-256", &s, &conv).mac, 96 * 24 * 2 * 9)); /* 8 channels count as 16 */
    conv.kh = conv.kw = 1; /* in parts of the kernel two taps are the least */
    CHECK(near(of("ethos-u85-256", &s, &conv).mac, 96 * 24 * 2 * 2));
    conv.kh = conv.kw = 3;
    conv.sparse = true; /* half of nothing: one step of channels is the least */
    CHECK(near(of("ethos-u85-256", &s, &conv).mac, 96 * 24 * 2 * 9));
    conv.ifm.c = 32;
    CHECK(near(of("ethos-u85-256", &s, &conv).mac, 96 * 24 * 2 * 9 * 2));
    conv.sparse = false;
    CHECK(near(of("ethos-u85-256", &s, &conv).mac, 96 * 24 * 2 * 9 * 4));
    conv.rate = 0.25; /* the output stage counts true channels */
    CHECK(near(of("ethos-u85-256", &s, &conv).out, 0.25 * 96 * 96 * 8));
    CHECK(near(of("ethos-u85-256", &s, &conv).decode, 9.0 * 32 * 8 / 16));
    conv.block.h = 48; /* weights are decoded again for each block of the plane */
    CHECK(near(of("ethos-u85-256", &s, &conv).decode, 2 * 9.0 * 32 * 8 / 16));
    tc_npu_job copy = job(TC_WORK_POOL, 64, 64, 4, 4, 1);
    copy.unit = (tc_npu_block){1, 2, 16};
    CHECK(near(of("ethos-u85-256", &s, &copy).mac, 0)); /* the output stage's alone */
    copy.kw = 2;
    CHECK(near(of("ethos-u85-256", &s, &copy).mac, 64 * 32 * 2));
}

static void computing_u55(void)
{
    tc_npu_system s = system_of("ethos-u55-128", "FVP_U55_High_End", "Sram_Only");
    tc_npu_job dw = job(TC_WORK_DEPTHWISE, 8, 8, 16, 16, 3);
    dw.unit = (tc_npu_block){1, 2, 8};
    CHECK(near(of("ethos-u55-128", &s, &dw).mac, 4.0 * 32 * 3 * 2)); /* taps in fours */
    tc_npu_job conv = job(TC_WORK_CONV, 8, 8, 33, 16, 1);
    conv.unit = dw.unit;
    CHECK(near(of("ethos-u55-128", &s, &conv).mac, 4.0 * 32 * 2 * 2)); /* channels in 32s */
    conv.block = (tc_npu_block){1, 2, 16}; /* a unit at a time: its weights take as long as 8 do */
    CHECK(near(of("ethos-u55-128", &s, &conv).mac, 32.0 * 32 * 2 * 2));
    tc_npu_job pool = job(TC_WORK_POOL, 8, 8, 16, 16, 2);
    pool.unit = dw.unit;
    CHECK(near(of("ethos-u55-128", &s, &pool).mac, 4.0 * 32 * 2 * 4));
}

/* ---- time_memory.c ---- */

static void sram(void)
{
    tc_npu_system s = system_of("ethos-u85-256", "FVP_U85_Low", "Sram_Only");
    tc_npu_job j = job(TC_WORK_ELEMENTWISE, 32, 32, 16, 16, 1);
    /* 1,024 beats each way, apart: 0.4 * 8 requests * 4 beats * 2 ports / 16 = 1.6, at most 1.2. */
    CHECK(near(of("ethos-u85-256", &s, &j).sram, 1024 / 1.2));
    s.memory[0].read_latency = 64; /* 0.4 beats a cycle */
    CHECK(near(of("ethos-u85-256", &s, &j).sram, 1024 / 0.4));
    s = system_of("ethos-u55-128", "FVP_U55_High_End", "Sram_Only");
    CHECK(near(of("ethos-u55-128", &s, &j).sram, 2 * 2048 / 0.95)); /* one word a cycle for both */
    tc_npu_job conv = job(TC_WORK_CONV, 16, 16, 128, 64, 1);
    s = system_of("ethos-u85-256", "FVP_U85_Low", "Sram_Only");
    conv.block.depth = 16; /* 4 times; 16 of 32 KiB stay in its memory for inputs */
    CHECK(near(of("ethos-u85-256", &s, &conv).read[0], 32768 * (1 + 3 * 0.5)));
    s = system_of("ethos-u65-512", "FVP_U65_High_End", "Sram_Only");
    CHECK(near(of("ethos-u65-512", &s, &conv).read[0], 32768 * 4));
    /* Windows in parts of 8: all of them read one window once, and what several share again. */
    tc_npu_job wide = job(TC_WORK_POOL, 1, 1, 16, 16, 25);
    wide.ifm.h = wide.ifm.w = wide.in_h = wide.in_w = 25;
    wide.all_h = wide.all_w = 25;
    CHECK(near(of("ethos-u65-512", &s, &wide).read[0], 25 * 25 * 16));
    wide.ofm.h = wide.block.h = 4;
    wide.ifm.h = wide.in_h = 28;
    wide.all_h = 28;
    CHECK(near(of("ethos-u65-512", &s, &wide).read[0], (25 + 4 * 3) * 25 * 16));
}

static void operands(void)
{
    tc_npu_system s = system_of("ethos-u55-128", "FVP_U55_High_End", "Shared_Sram");
    tc_npu_job j = job(TC_WORK_ELEMENTWISE, 32, 32, 16, 16, 1);
    j.ifm2 = (tc_npu_job_map){1, 1, 16, 8, TC_NHWC, 1, true};
    /* Broadcast from flash: again for every pixel, 128 bytes for 16. */
    CHECK(near(of("ethos-u55-128", &s, &j).read[1], 8 * 16384));
    CHECK(near(of("ethos-u55-128", &s, &j).outside, 8 * 16384));
    s = system_of("ethos-u85-256", "FVP_U85_Low", "Shared_Sram");
    CHECK(near(of("ethos-u85-256", &s, &j).read[1], 16)); /* U85 keeps it */
}

static void outside(void)
{
    tc_npu_system s = system_of("ethos-u85-256", "FVP_U85_Low", "Shared_Sram");
    tc_npu_job j = job(TC_WORK_CONV, 8, 8, 128, 128, 1);
    double latency = (250 + 30);
    j.weight_memory = 1;
    j.weight_bytes = 16384;
    /* 5 latencies in series, then 0.9 * 128 words under way. */
    tc_npu_time t = of("ethos-u85-256", &s, &j);
    CHECK(near(t.outside, latency * (5 + 16384 / (0.9 * 2048))));
    CHECK(near(t.lead, latency * (5 + 0.5 * 16384 / (0.9 * 2048)))); /* half of the one block */
    CHECK(near(t.ahead, latency * 6)); /* what the buffer holds too */
    s.memory[1].max_reads = 4;         /* requests of 128 bytes */
    CHECK(near(of("ethos-u85-256", &s, &j).outside, latency * (5 + 16384 / 512.0)));
    s.memory[1].max_reads = 0;
    s.memory[1].bytes_per_cycle = 1;
    CHECK(near(of("ethos-u85-256", &s, &j).outside, 16384));
    s = system_of("ethos-u85-256", "FVP_U85_Low", "Dedicated_Sram");
    j = job(TC_WORK_POOL, 8, 8, 128, 128, 1);
    j.ifm.memory = 1;
    j.ifm.format = j.ofm.format = TC_NHWC;
    /* 64 requests of a pixel, 0.8 * 16 of them in the buffer. */
    CHECK(near(of("ethos-u85-256", &s, &j).outside, latency * (2 + 64 / 12.8)));
    j.block.depth = 16; /* by 16 channels: 512 requests, 24 at a time */
    CHECK(near(of("ethos-u85-256", &s, &j).outside, latency * (2 + 512 / 24.0)));
    j.ifm.memory = 0;
    j.ofm.memory = 1; /* results by 16 bytes, 12 requests under way */
    CHECK(near(of("ethos-u85-256", &s, &j).outside, 512 * 1.25 * 125 / 12));
    j.ofm.format = TC_NHCWB16; /* or by rows of bricks */
    j.block.depth = 128;
    CHECK(near(of("ethos-u85-256", &s, &j).outside, 8192 / 7.5));
}

/* The same of the older products, whose requests alone are counted. */
static void outside_older(void)
{
    tc_npu_system s = system_of("ethos-u55-128", "FVP_U55_High_End", "Shared_Sram");
    const tc_npu_machine *m = ti_npu_machine_find("ethos-u55-128");
    tc_npu_job j = job(TC_WORK_CONV, 8, 8, 32, 32, 1);
    double latency = 1.25 * 64;
    s.memory[1].bytes_per_cycle = 16;
    j.unit = (tc_npu_block){1, 2, 8};
    j.rate = 0.5;
    j.weight_memory = 1;
    j.weight_bytes = 1024;
    j.block.depth = 16; /* 2 requests of 128 bytes by half, nine tenths; a block more: a fifth */
    CHECK(near(of("ethos-u55-128", &s, &j).outside, latency * (0.2 + 1024 / (256 * 0.5 * 0.9))));
    CHECK(near(ti_npu_copy_rate(m, &s, 1), 256 * 0.5 * 0.9 / latency));
    /* Multipliers 512, output 1,024, SRAM 768 words: the slowest, a fiftieth of the second, and
       one block of the faster of the first two. */
    tc_npu_time t = of("ethos-u55-128", &s, &j);
    CHECK(near(t.body, 1024 + 0.02 * 768 / 0.95) && near(t.edge, 256));
    s = system_of("ethos-u65-256", "FVP_U65_High_End", "Dedicated_Sram");
    m = ti_npu_machine_find("ethos-u65-256");
    s.memory[1].bytes_per_cycle = 64;
    t = of("ethos-u65-256", &s, &j);
    CHECK(near(t.outside, 500 * (4 + 1024 / (24 * 128 * 2 * 0.9))) && near(t.lead, 2000));
    CHECK(near(ti_npu_copy_rate(m, &s, 1), 24 * 128 * 2 * 0.9 / 500));
    CHECK(near(t.sram, 384) && near(t.body, 1024 + 0.15 * 512) && near(t.edge, 256 + 160 + 4 * 32));
    j.ifm.memory = 1; /* 16 rows of bricks, a request each, read twice; 16 under way */
    CHECK(near(of("ethos-u65-256", &s, &j).outside, 500 * (3 + 32 / 16.0)));
    j.weight_memory = -1;
    j.ofm.memory = 1;
    j.ofm.format = TC_NHWC; /* 128 pieces, 12 under way, after the first of two blocks */
    CHECK(near(of("ethos-u65-256", &s, &j).outside, 500 * 5 / 2.0 + 128 * 250 * 1.1 / 12));
}

/* Inputs that do not fit into the memory for them are read again, and nothing hides that. */
static void read_again(void)
{
    tc_npu_system s = system_of("ethos-u85-256", "FVP_U85_Low", "Dedicated_Sram");
    tc_npu_job j = job(TC_WORK_CONV, 16, 16, 128, 64, 1);
    double latency = 280, once = 256 / 12.8; /* requests of 128 bytes, by those under way */
    j.ifm.memory = 1;
    j.block.depth = 16;
    tc_npu_time t = of("ethos-u85-256", &s, &j);
    CHECK(near(t.outside, latency * (2 + 2.5 * once)));
    CHECK(near(t.lead, latency * (2 + 1.5 * once) + 0.5 * latency * once / 4));
}

/* ---- time_line.c ---- */

enum { OPS = 8 };
typedef struct list {
    tc_npu_op op[OPS];
    size_t n, at;
} list;

static bool next(void *user, tc_npu_op *op)
{
    list *l = user;
    if (l->at == l->n)
        return false;
    *op = l->op[l->at++];
    return true;
}

/* A copy by a pool: 64 x 64 x 16 from one place of the arena to another. */
static tc_npu_op kernel(uint64_t from, uint64_t to, uint8_t blockdep)
{
    tc_npu_op op = {.kind = TC_NPU_KIND_POOL, .mode = TC_POOL_SUM, .blockdep = blockdep};
    op.ofm = (tc_npu_map){.used = true, .bytes = 1, .region = 1, .format = TC_NHCWB16, .h = 64,
                          .w = 64, .c = 16, .stride_x = 16, .stride_y = 1024, .stride_c = 16};
    op.ifm = op.ofm;
    op.ifm.base[0] = from;
    op.ofm.base[0] = to;
    op.window = (tc_npu_window){.kh = 1, .kw = 1, .stride_y = 1, .stride_x = 1, .dilation_y = 1,
                                .dilation_x = 1};
    op.block = (tc_npu_block){64, 64, 16};
    op.microblock = 1;
    op.ofm_scale.multiplier = 1;
    op.acc_output = true;
    return op;
}

/* The same by weights from outside. */
static tc_npu_op weighed(uint64_t from, uint64_t to, uint8_t blockdep)
{
    tc_npu_op op = kernel(from, to, blockdep);
    op.kind = TC_NPU_KIND_DEPTHWISE;
    op.cores = 1;
    op.weights.bytes[0] = 160;
    return op;
}

static tc_npu_op copy(uint64_t to, uint64_t bytes)
{
    return (tc_npu_op){.kind = TC_NPU_KIND_DMA,
                       .dma = {.dst_region = 1, .dst = to, .bytes = bytes, .rows = 1, .planes = 1}};
}

static tc_npu_stream_cost line(tc_arena *arena, bool made, list *l)
{
    tc_npu_system s = system_of("ethos-u85-256", "FVP_U85_Low", "Shared_Sram");
    tc_npu_stream_cost out;
    l->at = 0;
    ti_npu_cost_ops(arena, ti_npu_machine_find("ethos-u85-256"), &s, made, next, l, &out);
    return out;
}

static const double begin = 2 * (250 + 30), /* two latencies for the first commands */
    one = 0.25 * 65536 + 2 * 16;           /* the output stage; SRAM's latency twice */

static void streams(tc_arena *arena)
{
    enum { A = 0, B = 1 << 17, C = 1 << 18 };
    list l = {.op = {kernel(A, B, 0), kernel(B, C, 0)}, .n = 2};
    tc_npu_stream_cost c = line(arena, false, &l);
    CHECK(near(c.op[0].cost.cycles, begin + one) && near(c.op[1].cost.cycles, one));
    CHECK(c.op[0].wait == TC_WAIT_OUTPUT && near(c.total.cycles, begin + 2 * one));
    /* A copy: 0.8 * 104 words under way, ready a latency after its last byte was asked for. */
    double rate = 0.8 * 104 * 16 / 280, copied = 70000 / rate + 280;
    const tc_npu_op wait = {.kind = TC_NPU_KIND_DMA_WAIT};
    list with = {.op = {copy(C, 70000), wait, kernel(A, B, 0)}, .n = 3};
    c = line(arena, false, &with);
    CHECK(near(c.total.cycles, begin + copied + one) && c.op[0].wait == TC_WAIT_OUTPUT);
    list during = {.op = {kernel(A, B, 0), copy(C, 7000), wait, kernel(B, A, 0)}, .n = 4};
    c = line(arena, false, &during);
    CHECK(near(c.total.cycles, begin + 2 * one)); /* it hides in the kernel before */
    list longer = {.op = {kernel(A, B, 0), copy(C, 200000), wait, kernel(B, A, 0)}, .n = 4};
    c = line(arena, false, &longer);
    CHECK(near(c.total.cycles, begin + 200000 / rate + 280 + one) && c.op[1].wait == TC_WAIT_DMA);
    const tc_npu_op after = {.kind = TC_NPU_KIND_KERNEL_WAIT};
    list held = {.op = {kernel(A, B, 0), after, copy(C, 7000), wait, kernel(B, A, 0)}, .n = 5};
    c = line(arena, false, &held);
    CHECK(near(c.total.cycles, begin + 2 * one + 7000 / rate + 280));
    /* Without waits: a copy over what a kernel reads waits for it, a kernel for what it reads. */
    list list_only = {.op = {kernel(A, B, 0), copy(A, 7000), kernel(A, C, 0)}, .n = 3};
    c = line(arena, true, &list_only);
    CHECK(near(c.total.cycles, begin + 2 * one + 7000 / rate + 280));
}

/* Weights from outside are asked for ahead where BLOCKDEP allows it. */
static void ahead(tc_arena *arena)
{
    enum { A = 0, B = 1 << 17, C = 1 << 18 };
    double late, early;
    list l = {.op = {kernel(A, B, 0), weighed(B, C, 0)}, .n = 2};
    tc_npu_stream_cost c = line(arena, false, &l);
    late = c.total.cycles;
    CHECK(c.op[1].wait == TC_WAIT_BEFORE);
    l.op[1].blockdep = 3;
    c = line(arena, false, &l);
    early = c.total.cycles;
    CHECK(c.op[1].wait == TC_WAIT_OUTPUT);
    double lead = 280 * (5 + 0.5 * 160 / (0.9 * 2048));
    double edge = 0.75 * 2048 + 32, stall = 0.15 * 280 * 160 / (0.9 * 2048);
    CHECK(near(late, begin + one + lead + 0.25 * 65536 + edge + stall));
    CHECK(near(early, begin + one + 0.25 * 65536 + edge));
}

/* So many kernels, and copies, are unfinished at a time; the parser waits with the next one. */
static void queues(tc_arena *arena)
{
    enum { A = 0, B = 1 << 17, C = 1 << 18, D = 1 << 19 };
    double rate = 0.8 * 104 * 16 / 280;
    const tc_npu_op wait = {.kind = TC_NPU_KIND_DMA_WAIT};
    list l = {.op = {kernel(A, B, 0), kernel(B, A, 0), kernel(A, B, 0), copy(D, 70000), wait,
                     kernel(B, A, 0)},
              .n = 6};
    tc_npu_stream_cost c = line(arena, false, &l); /* the copy begins when the first has ended */
    CHECK(near(c.total.cycles, begin + 4 * one));
    l.op[3].dma.bytes = 200000;
    c = line(arena, false, &l);
    CHECK(near(c.total.cycles, begin + one + 200000 / rate + 280 + one));
    list five = {.op = {copy(D, 1600), copy(D, 1600), copy(D, 1600), copy(D, 1600), copy(D, 1600),
                        kernel(A, B, 0)},
                 .n = 6}; /* the fifth of four waits for the first */
    c = line(arena, false, &five);
    CHECK(near(c.total.cycles, begin + 1600 / rate + 280 + one));
}

/* A copy and what a kernel fetches have one memory: 4.8 and 6 bytes a cycle are more than 7.5. */
static void sharing(tc_arena *arena)
{
    enum { A = 0, B = 1 << 17, D = 1 << 19 };
    double rate = 0.8 * 104 * 16 / 280;
    list l = {.op = {copy(D, 400000), weighed(A, B, 0)}, .n = 2};
    l.op[1].weights.bytes[0] = 200000;
    tc_npu_stream_cost c = line(arena, false, &l);
    double fetch = 280 * (5 + 200000 / (0.9 * 2048)), over = rate + 200000 / fetch - 7.5,
           delay = over * fetch / 7.5;
    CHECK(over > 0 && near(c.total.cycles, begin + 400000 / rate + 280 + delay));
}

/* ---- one job without a stream ---- */

static tc_npu_job with_weights(void)
{
    tc_npu_job j = job(TC_WORK_CONV, 8, 8, 128, 128, 1);
    j.unit = (tc_npu_block){1, 4, 8};
    j.weight_memory = 0;
    j.weight_bytes = j.first_bytes = 16384;
    return j;
}

static void candidates(void)
{
    const tc_npu_machine *m = ti_npu_machine_find("ethos-u85-256");
    tc_npu_system s = system_of("ethos-u85-256", "FVP_U85_Low", "Shared_Sram");
    tc_npu_job j = with_weights();
    tc_npu_cost cost;
    double own = 16 * 16 * 16 + 32, rate = 0.8 * 104 * 16 / 280, slack = 0;
    ti_npu_cost_job(m, &s, &j, &slack, &cost);
    CHECK(near(cost.cycles, own) && near(slack, own));
    j.copied_from = 1; /* all of it before the job; then behind the one before */
    slack = 0;
    ti_npu_cost_job(m, &s, &j, &slack, &cost);
    CHECK(near(cost.cycles, 16384 / rate + 280 + own));
    slack = 1000;
    ti_npu_cost_job(m, &s, &j, &slack, &cost);
    CHECK(near(cost.cycles, 16384 / rate + 280 - 1000 + own));
    slack = 10000;
    ti_npu_cost_job(m, &s, &j, &slack, &cost);
    CHECK(near(cost.cycles, own));
    j.slices = 4; /* the first of four is waited for, the rest comes meanwhile */
    j.slice_depth = 32;
    j.first_bytes = 4096;
    slack = 0;
    ti_npu_cost_job(m, &s, &j, &slack, &cost);
    own = 16 * 16 * 16 + 4 * 32;
    double turn = (4096 / rate + 280 + own / 4) / 2; /* of two places: a copy, then its slice */
    CHECK(turn > own / 4 && near(cost.cycles, 4096 / rate + 280 + own / 2 + 2 * turn));
    j.first_bytes = 1024; /* or they are, where copies are slower than computing */
    j.weight_bytes = 65536;
    slack = 0;
    ti_npu_cost_job(m, &s, &j, &slack, &cost);
    own = (65536 + 4 * 8192) / (1.2 * 16) + 4 * 32; /* each slice reads the input again */
    CHECK(near(cost.cycles, 65536 / rate + 280 + own / 4));
    CHECK(near(slack, own / 4));
}

/* Slices of 16, 32, 48 and 32 channels: the copies of the first three, of which one has a latency, then
 * the last two are computed. */
static void grown_candidates(void)
{
    const tc_npu_machine *m = ti_npu_machine_find("ethos-u85-256");
    tc_npu_system s = system_of("ethos-u85-256", "FVP_U85_Low", "Shared_Sram");
    tc_npu_job j = with_weights();
    tc_npu_cost cost;
    j.copied_from = 1;
    j.slices = 4;
    j.slice_depth = j.slice_more = 16;
    int32_t all = 0;
    for (int32_t k = 0; k < 5; k++)
        all += ti_npu_slice(128, 16, 16, k);
    CHECK(all == 128 && ti_npu_slice(128, 16, 16, 3) == 32 && ti_npu_slice(128, 16, 16, 4) == 0);
    CHECK(ti_npu_slice(140, 16, 140, 1) == 124 && ti_npu_slice(140, 48, 0, 2) == 44);
    double rate = 0.8 * 104 * 16 / 280, slack = 0;
    ti_npu_cost_job(m, &s, &j, &slack, &cost);
    CHECK(near(cost.cycles, 12288 / rate + 280 + 32 * 48 + 32 + 32 * 32 + 32));
    CHECK(near(slack, 32 * 32 + 32));
    slack = 300; /* that the one before hides */
    ti_npu_cost_job(m, &s, &j, &slack, &cost);
    CHECK(near(cost.cycles, 12288 / rate + 280 - 300 + 32 * 48 + 32 + 32 * 32 + 32));
}

/* ---- bands ---- */

static void bands(tc_arena *arena)
{
    const tc_npu_machine *m = ti_npu_machine_find("ethos-u55-128");
    tc_npu_job j = job(TC_WORK_CONV, 8, 8, 16, 16, 1);
    tc_npu_cost one_op = {.cycles = 1000}, many = {0}, wide;
    ti_npu_doubt(m, &j, TC_WAIT_COMPUTE, &one_op);
    tc_npu_band b = ti_npu_band(&one_op);
    CHECK(near(b.low, 1000 - 70 - 150) && near(b.high, 1000 + 70 + 150));
    for (int i = 0; i < 100; i++)
        ti_npu_cost_add(&many, &one_op);
    b = ti_npu_band(&many); /* what is each one's own evens out */
    CHECK(near(b.high, 100000 + 7000 + 1500));
    wide = one_op;
    j.ifm.bits = 16;
    ti_npu_doubt(m, &j, TC_WAIT_COMPUTE, &wide);
    CHECK(ti_npu_band(&wide).high > 1.5 * one_op.cycles && near(wide.unmeasured, 1000) &&
          one_op.unmeasured == 0);
    j.ifm.bits = 8;
    const tc_npu_machine *large = ti_npu_machine_find("ethos-u85-2048"),
                         *small = ti_npu_machine_find("ethos-u85-256");
    ti_npu_doubt(small, &j, TC_WAIT_COMPUTE, &one_op);
    wide = one_op;
    ti_npu_doubt(large, &j, TC_WAIT_COMPUTE, &wide);
    CHECK(ti_npu_band(&wide).high > ti_npu_band(&one_op).high);
    ti_npu_doubt(small, &j, TC_WAIT_OUTSIDE, &wide);
    CHECK(ti_npu_band(&wide).high > ti_npu_band(&one_op).high);
    CHECK(strcmp(ti_npu_band_text(arena, 540e3, 1660e3), "0.54 to 1.66 M") == 0);
    CHECK(strcmp(ti_npu_band_text(arena, 540, 660), "540 to 660") == 0);
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    computing_u85();
    computing_u55();
    sram();
    operands();
    outside();
    outside_older();
    read_again();
    streams(&ctx->arena);
    ahead(&ctx->arena);
    queues(&ctx->arena);
    sharing(&ctx->arena);
    candidates();
    grown_candidates();
    bands(&ctx->arena);
    tc_ctx_free(ctx);
    return check_done();
}
