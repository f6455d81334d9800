/* SPDX-License-Identifier: Apache-2.0 */
/* codegen.c -- our own Ethos-U back end on small graphs: right numbers, nothing that the verifier
 * objects to, no register value that is new; and what a graph is there to show: cascades, chains,
 * weights that are copied ahead, memories apart. */
#include "codegen_case.h"

static const char *const machines[] = {
    "ethos-u55-32",  "ethos-u55-64",  "ethos-u55-128", "ethos-u55-256",  "ethos-u65-256", "ethos-u65-512",
    "ethos-u85-128", "ethos-u85-256", "ethos-u85-512", "ethos-u85-1024", "ethos-u85-2048"};

/* ---- the tests ---- */

enum { SIZE = 40, THIN = 8, WIDE = 32, BETWEEN = SIZE * SIZE * WIDE };

/* Two convolutions with a large value between them. */
static text *two_convolutions(void)
{
    text *t = begin("%0: i8[1,40,40,8]", 1);
    int x = conv(t, 0, SIZE, THIN, WIDE);
    conv(t, x, SIZE, WIDE, THIN);
    end(t);
    return t;
}

/* The value between rolls: there is never room for all of it. */
static void cascades(void)
{
    text *t = two_convolutions();
    for (size_t i = 0; i < TC_COUNT(machines); i++) {
        tc_ctx *ctx = tc_ctx_new();
        made m = make(ctx, t, machines[i], "Sram_Only", (tc_codegen_options){.size = true});
        CHECK_ROW(machines[i], m.equal);
        CHECK_ROW(machines[i], m.r.program.scratch < BETWEEN);
        CHECK_ROW(machines[i], m.kernels > 2);
        CHECK_ROW(machines[i], m.r.n_origin >= m.kernels);
        tc_ctx_free(ctx);
    }
    free(t);
}

/* Channels 16 k ... of x. */
static int part_of(text *t, int x, int k)
{
    SAY(t, "  %%%d = const [0, 0, 0, %d] : shape[4]\n  %%%d = const [1, 40, 40, 16] : shape[4]\n",
        t->value + 1, 16 * k, t->value + 2);
    SAY(t, "  %%%d = tosa.slice %%%d, %%%d, %%%d : i8[1,40,40,16]\n", t->value + 3, x, t->value + 1,
        t->value + 2);
    return t->value += 3;
}

static int both(text *t, int x, int y)
{
    SAY(t, "  %%%d = tosa.concat %%%d, %%%d axis=3 : i8[1,40,40,32]\n", t->value + 1, x, y);
    return ++t->value;
}

/* Values that two operations make half of the channels of, each: read whole, and by halves. */
static void cascades_of_parts(void)
{
    text *t = begin("%0: i8[1,40,40,8]", 1);
    int a = conv(t, 0, SIZE, THIN, 16), b = conv(t, 0, SIZE, THIN, 16), x = both(t, a, b);
    a = conv(t, part_of(t, x, 0), SIZE, 16, 16);
    b = conv(t, part_of(t, x, 1), SIZE, 16, 16);
    conv(t, both(t, a, b), SIZE, WIDE, THIN);
    end(t);
    for (size_t i = 0; i < TC_COUNT(machines); i++) {
        tc_ctx *ctx = tc_ctx_new();
        made m = make(ctx, t, machines[i], "Sram_Only", (tc_codegen_options){.size = true});
        CHECK_ROW(machines[i], m.equal);
        CHECK_ROW(machines[i], m.r.program.scratch < BETWEEN);
        tc_ctx_free(ctx);
    }
    free(t);
}

/* No more SRAM than there is, at any price; what cannot be is the smallest. */
static void scarce_memory(void)
{
    text *t = two_convolutions();
    tc_ctx *ctx = tc_ctx_new();
    made any = make(ctx, t, "ethos-u85-256", "Sram_Only", (tc_codegen_options){0}),
         size = make(ctx, t, "ethos-u85-256", "Sram_Only", (tc_codegen_options){.size = true}),
         few = make(ctx, t, "ethos-u85-256", "Sram_Only",
                    (tc_codegen_options){.max_scratch = size.r.program.scratch});
    CHECK(any.equal && size.equal && few.equal);
    CHECK(size.r.program.scratch <= any.r.program.scratch);
    CHECK(few.r.program.scratch <= size.r.program.scratch);
    tc_ctx_free(ctx);
    free(t);
}

/* What there may be counts inputs and outputs too, wherever they lie. */
static void scarce_memory_apart(void)
{
    text *t = two_convolutions();
    tc_ctx *ctx = tc_ctx_new();
    made any = make(ctx, t, "ethos-u85-256", "Dedicated_Sram", (tc_codegen_options){0});
    int64_t all = any.r.program.scratch + any.r.program.fast;
    made few = make(ctx, t, "ethos-u85-256", "Dedicated_Sram",
                    (tc_codegen_options){.max_scratch = all - 1}),
         none = make(ctx, t, "ethos-u85-256", "Dedicated_Sram",
                     (tc_codegen_options){.max_scratch = 1}),
         size = make(ctx, t, "ethos-u85-256", "Dedicated_Sram", (tc_codegen_options){.size = true});
    CHECK(any.equal && few.equal && none.equal && size.equal);
    CHECK(all - 1 >= any.r.program.fast); /* its SRAM alone would do */
    CHECK(few.r.program.scratch + few.r.program.fast < all);
    CHECK(none.r.program.fast == size.r.program.fast);
    tc_ctx_free(ctx);
    free(t);
}

/* Flash is slow: weights come ahead, to where large values were.  With all in SRAM they need
 * not. */
static void staged_weights(void)
{
    text *t = begin("%0: i8[1,40,40,8]", 1);
    int x = conv(t, 0, SIZE, THIN, WIDE);
    SAY(t, "  %%%d = tosa.max_pool2d %%%d kernel=[4,4] stride=[4,4] pad=[0,0,0,0] "
           "nan_mode=propagate : i8[1,10,10,32]\n",
        t->value + 1, x);
    x = ++t->value;
    for (int i = 0; i < 3; i++)
        x = conv(t, x, 10, WIDE, WIDE);
    end(t);
    static const char *const on[] = {"ethos-u55-128", "ethos-u65-256", "ethos-u85-256"};
    for (size_t i = 0; i < TC_COUNT(on); i++) {
        tc_ctx *ctx = tc_ctx_new();
        made here = make(ctx, t, on[i], "Sram_Only", (tc_codegen_options){0}),
             far = make(ctx, t, on[i], "Shared_Sram", (tc_codegen_options){0});
        CHECK_ROW(on[i], here.equal && far.equal);
        CHECK_ROW(on[i], here.copied == 0);
        CHECK_ROW(on[i], far.copied > 0 || i > 0); /* the others' DRAM is as quick as they are */
        tc_ctx_free(ctx);
    }
    free(t);
}

/* Few values and many weights: a memory for nothing else, without a limit, has room for them. */
static void weights_apart(void)
{
    enum { CHANNELS = 64 };
    text *t = begin("%0: i8[1,1,1,64]", 1);
    conv(t, conv(t, conv(t, 0, 1, CHANNELS, CHANNELS), 1, CHANNELS, CHANNELS), 1, CHANNELS, CHANNELS);
    end(t);
    tc_ctx *ctx = tc_ctx_new();
    made any = make(ctx, t, "ethos-u85-1024", "Dedicated_Sram", (tc_codegen_options){0});
    CHECK(any.equal && any.copied > 0);
    tc_ctx_free(ctx);
    free(t);
}

/* The operation before holds all bytes: weights come when it has ended, once, and take no byte
 * more of SRAM than values need without copies. */
static void late_weights(void)
{
    enum { AT = 24, IN = 32, OUT = 16, SETUP = 200 };
    text *t = begin("%0: i8[1,24,24,32]", 1);
    conv(t, conv(t, 0, AT, IN, IN), AT, IN, OUT);
    end(t);
    tc_ctx *ctx = tc_ctx_new();
    made here = make(ctx, t, "ethos-u55-256", "Sram_Only", (tc_codegen_options){0}),
         far = make(ctx, t, "ethos-u55-256", "Shared_Sram", (tc_codegen_options){0});
    tc_npu_walk walk;
    tc_npu_op op;
    size_t late = 0;
    bool ended = false;
    ti_npu_walk_begin(&walk, far.r.program.machine, far.r.program.words);
    while (ti_npu_walk_next(&walk, &op)) { /* copies after the first kernel has ended */
        ended = ended || (op.kind == TC_NPU_KIND_KERNEL_WAIT && op.param == 0);
        late += ended && op.kind == TC_NPU_KIND_DMA;
    }
    CHECK(here.equal && far.equal && late == 1 && far.copied == 1);
    CHECK(far.r.program.scratch <= here.r.program.scratch);
    tc_npu_stream_cost in, out;
    CHECK(!ti_npu_cost_stream(&ctx->arena, &here.r.program, &here.system, &in) &&
          !ti_npu_cost_stream(&ctx->arena, &far.r.program, &far.system, &out));
    double copied = 9.0 * IN * OUT + 10 * OUT; /* at a byte a cycle; streamed, for every block */
    CHECK(in.n_op == 2 && out.n_op == 2 &&
          out.op[1].cost.cycles <= in.op[1].cost.cycles + copied + SETUP);
    tc_ctx_free(ctx);
    free(t);
}

/* How many operations read a constant operand where it is; copies: how many there are. */
static int constants_read(const made *m, size_t *copies)
{
    tc_npu_walk walk;
    tc_npu_op op;
    int n = 0;
    *copies = 0;
    ti_npu_walk_begin(&walk, m->r.program.machine, m->r.program.words);
    while (ti_npu_walk_next(&walk, &op)) {
        n += op.kind == TC_NPU_KIND_ELEMENTWISE && op.ifm2.used && op.ifm2.region == 0 &&
             op.ifm2.storage != TC_STORE_NONE;
        *copies += op.kind == TC_NPU_KIND_DMA;
    }
    return n;
}

/* Numbers of 32 bits come to the values' memory in one copy where theirs is slower. */
static void near_constants(void)
{
    text *t = begin("%0: i32[1,8,8,16]", 1);
    for (int i = 0, x = 0; i < 3; i++) {
        int k = constant(t, "i32", 1, "1,1,1,1", 70000 + i);
        SAY(t, "  %%%d = tosa.sub %%%d, %%%d : i32[1,8,8,16]\n", t->value + 1, k, x);
        x = ++t->value;
    }
    end(t);
    tc_ctx *ctx = tc_ctx_new();
    size_t none, one;
    made here = make(ctx, t, "ethos-u65-512", "Sram_Only", (tc_codegen_options){0}),
         far = make(ctx, t, "ethos-u65-512", "Dedicated_Sram", (tc_codegen_options){0});
    CHECK(here.equal && far.equal);
    CHECK(constants_read(&here, &none) == 3 && none == 0);
    CHECK(constants_read(&far, &one) == 0 && one == 1);
    tc_ctx_free(ctx);
    free(t);
}

/* With --optimise Size weights come ahead only where values leave bytes idle: what is written
 * over its operand needs none. */
static void idle_bytes(void)
{
    text *t = begin("%0: i8[1,20,20,32]", 1);
    int x = rescale(t, 0, "i8", "i32", "1,20,20,32", 20);
    SAY(t, "  %%%d = tosa.maximum %%%d, %%%d nan_mode=propagate : i32[1,20,20,32]\n", t->value + 1,
        x, x);
    t->value++;
    x = conv(t, rescale(t, t->value, "i32", "i8", "1,20,20,32", 40), 20, WIDE, 64);
    conv(t, x, 20, 64, 64);
    end(t);
    static const char *const on[] = {"ethos-u55-128", "ethos-u55-256", "ethos-u65-512"};
    for (size_t i = 0; i < TC_COUNT(on); i++) {
        tc_ctx *ctx = tc_ctx_new();
        made here = make(ctx, t, on[i], "Sram_Only", (tc_codegen_options){.size = true}),
             far = make(ctx, t, on[i], "Shared_Sram", (tc_codegen_options){.size = true});
        CHECK_ROW(on[i], here.equal && far.equal);
        CHECK_ROW(on[i], far.r.program.scratch <= here.r.program.scratch);
        tc_ctx_free(ctx);
    }
    free(t);
}

/* Weights that there is room for come in slices all the same, where the first one is waited for
 * less long and each block of the plane would read them again. */
static void sliced_weights(void)
{
    text *t = begin("%0: i8[1,64,64,64]", 1);
    SAY(t, "  %%1 = tosa.max_pool2d %%0 kernel=[4,4] stride=[4,4] pad=[0,0,0,0] nan_mode=propagate "
           ": i8[1,16,16,64]\n");
    int x = conv(t, ++t->value, 16, 64, 64), y = conv_by(t, x, 16, 64, 64, 41);
    SAY(t, "  %%%d = tosa.maximum %%%d, %%%d nan_mode=propagate : i8[1,16,16,64]\n", t->value + 1, x,
        y);
    t->value++;
    end(t);
    tc_ctx *ctx = tc_ctx_new();
    made here = make(ctx, t, "ethos-u55-128", "Sram_Only", (tc_codegen_options){0}),
         far = make(ctx, t, "ethos-u55-128", "Shared_Sram", (tc_codegen_options){0});
    CHECK(here.equal && far.equal && far.kernels > here.kernels);
    tc_ctx_free(ctx);
    free(t);
}

/* The same weights with other factors are there once. */
static void shared_weights(void)
{
    size_t bytes[2];
    for (int i = 0; i < 2; i++) {
        text *t = begin("%0: i8[1,10,10,32]", 1);
        conv_by(t, i ? conv(t, 0, 10, WIDE, WIDE) : 0, 10, WIDE, WIDE, 41);
        end(t);
        tc_ctx *ctx = tc_ctx_new();
        made m = make(ctx, t, "ethos-u55-128", "Shared_Sram", (tc_codegen_options){0});
        CHECK(m.equal);
        bytes[i] = m.r.program.weights.size;
        tc_ctx_free(ctx);
        free(t);
    }
    CHECK(bytes[1] == bytes[0] + WIDE * 10);
}

/* Weights that do not compress are there as bytes: Size has no more of them. */
static void small_weights(void)
{
    text *t = begin("%0: i8[1,10,10,64]", 1);
    conv_of(t, 0, 10, 64, 64, 42, ANY);
    end(t);
    tc_ctx *ctx = tc_ctx_new();
    made size = make(ctx, t, "ethos-u85-256", "Sram_Only", (tc_codegen_options){.size = true});
    CHECK(size.equal &&
          size.r.program.weights.size < 64 * (10 * 64 + 10) + 128); /* a tenth tap fills up */
    tc_ctx_free(ctx);
    free(t);
}

/* Four large values, then what is small of each: one after the other, whatever the region's
 * order. */
static void orders(void)
{
    enum { LARGE = 16 * 16 * 16, N = 4 };
    text *t = begin("%0: i8[1,16,16,16]", 1);
    int part[N];
    for (int i = 0; i < N; i++) {
        int c = constant(t, "i8", 1, "1,1,1,1", i + 1);
        SAY(t, "  %%%d = tosa.maximum %%0, %%%d nan_mode=propagate : i8[1,16,16,16]\n",
            t->value + 1, c);
        part[i] = ++t->value;
    }
    for (int i = 0; i < N; i++) {
        SAY(t,
            "  %%%d = tosa.max_pool2d %%%d kernel=[4,4] stride=[4,4] pad=[0,0,0,0] "
            "nan_mode=propagate : i8[1,4,4,16]\n",
            t->value + 1, part[i]);
        part[i] = ++t->value;
    }
    for (int i = 1, all = part[0]; i < N; i++, all = t->value) {
        SAY(t, "  %%%d = tosa.minimum %%%d, %%%d nan_mode=propagate : i8[1,4,4,16]\n", t->value + 1,
            all, part[i]);
        t->value++;
    }
    end(t);
    for (size_t i = 0; i < TC_COUNT(machines); i++) {
        tc_ctx *ctx = tc_ctx_new();
        made m = make(ctx, t, machines[i], "Sram_Only", (tc_codegen_options){0});
        CHECK_ROW(machines[i], m.equal);
        CHECK_ROW(machines[i], m.r.program.scratch < 3 * LARGE);
        tc_ctx_free(ctx);
    }
    free(t);
}

/* Inputs and outputs in one memory, all that is between them in another. */
static void memories_apart(void)
{
    text *t = two_convolutions();
    static const char *const on[] = {"ethos-u65-256", "ethos-u65-512", "ethos-u85-256", "ethos-u85-2048"};
    for (size_t i = 0; i < TC_COUNT(on); i++) {
        tc_ctx *ctx = tc_ctx_new();
        made m = make(ctx, t, on[i], "Dedicated_Sram", (tc_codegen_options){0});
        CHECK_ROW(on[i], m.equal);
        CHECK_ROW(on[i], m.r.program.fast > 0);
        CHECK_ROW(on[i], m.r.program.scratch <= (int64_t)2 * SIZE * SIZE * THIN);
        CHECK_ROW(on[i], m.r.program.in[0].region == 1 && m.r.program.out[0].region == 1);
        tc_ctx_free(ctx);
    }
    free(t);
}

/* A value that the fast memory has no room for rolls: nothing but inputs and outputs is in the
 * slow one. */
static void memory_too_small(void)
{
    enum { LARGE = 160 };
    text *t = begin("%0: i8[1,160,160,8]", 1);
    int x = conv(t, 0, LARGE, THIN, 2 * THIN);
    conv(t, x, LARGE, 2 * THIN, THIN);
    end(t);
    tc_ctx *ctx = tc_ctx_new();
    made m = make(ctx, t, "ethos-u65-256", "Dedicated_Sram_384KB", (tc_codegen_options){0});
    CHECK(m.equal && m.r.program.fast <= m.system.cache);
    CHECK(m.r.program.scratch <= (int64_t)2 * LARGE * LARGE * THIN);
    tc_ctx_free(ctx);
    free(t);
}

/* PAD with the zero point that its reader has: nothing is stored, unless another reads it too. */
static void padded_inputs(void)
{
    for (int other = 0; other < 3; other++) { /* 1: a border of another number; 2: an output as well */
        text *t = begin("%0: i8[1,18,18,16]", 1);
        SAY(t, "  %%1 = const [0, 0, 0, 1, 1, 0, 0, 0] : shape[8]\n  %%2 = const [%d] : i8[1]\n", other == 1);
        SAY(t, "  %%3 = tosa.pad %%0, %%1, %%2 : i8[1,19,19,16]\n");
        t->value = 3;
        int x = conv(t, 3, 19, 16, 16);
        SAY(t, other == 2 ? "  return %%%d, %%3\n}\n" : "  return %%%d\n}\n", x);
        for (size_t i = 0; i < TC_COUNT(machines); i++) {
            tc_ctx *ctx = tc_ctx_new();
            made m = make(ctx, t, machines[i], "Sram_Only", (tc_codegen_options){0});
            CHECK_ROW(machines[i], m.equal && (m.kernels == 1) == (other == 0));
            tc_ctx_free(ctx);
        }
        free(t);
    }
}

/* A convolution and sums behind it: on U85 values between them need no memory. */
static void chains(void)
{
    text *t = begin("%0: i8[1,20,20,16], %1: i32[1,20,20,16]", 2);
    int x = conv(t, 0, 20, 16, 16);
    x = rescale(t, x, "i8", "i32", "1,20,20,16", 20);
    SAY(t, "  %%%d = tosa.add %%%d, %%1 : i32[1,20,20,16]\n", t->value + 1, x);
    SAY(t, "  %%%d = tosa.sub %%%d, %%1 : i32[1,20,20,16]\n", t->value + 2, t->value + 1);
    SAY(t, "  %%%d = tosa.maximum %%%d, %%1 nan_mode=propagate : i32[1,20,20,16]\n", t->value + 3, t->value + 2);
    t->value += 3;
    end(t);
    for (size_t i = 0; i < TC_COUNT(machines); i++) {
        tc_ctx *ctx = tc_ctx_new();
        made m = make(ctx, t, machines[i], "Sram_Only", (tc_codegen_options){0});
        CHECK_ROW(machines[i], m.equal);
        CHECK_ROW(machines[i], (m.chained > 0) == !!strstr(machines[i], "u85"));
        tc_ctx_free(ctx);
    }
    free(t);
}

/* 2^12 x + c, and / 2^12: one operation on numbers of 16 bits, the constant's too; also x - c, c
 * - x. */
static void sums_with_constants(void)
{
    enum { FACTOR = 1 << 30, COUNT = 160 };
    for (int i = 0; i < 4; i++)
        for (size_t k = 0; k < TC_COUNT(machines); k++) {
            text *t = begin("%0: i16[1,2,5,16]", 1);
            int x = rescale_by(t, 0, "i16", "i32", "1,2,5,16", FACTOR, 18),
                c = rescale_by(t, constant(t, "i16", COUNT, "1,2,5,16", 0), "i16", "i32",
                               "1,2,5,16", 2070401651, 20);
            SAY(t, "  %%%d = tosa.%s %%%d, %%%d : i32[1,2,5,16]\n", t->value + 1,
                i < 2 ? "add" : "sub", i % 2 ? x : c, i % 2 ? c : x);
            t->value++;
            rescale_by(t, t->value, "i32", "i16", "1,2,5,16", FACTOR, 42);
            end(t);
            tc_ctx *ctx = tc_ctx_new();
            made m = make(ctx, t, machines[k], "Sram_Only", (tc_codegen_options){0});
            CHECK_ROW(machines[k], m.equal && m.kernels == 1 &&
                                       m.r.program.weights.size == COUNT * sizeof(int16_t));
            tc_ctx_free(ctx);
            free(t);
        }
}

/* What is not taken says why, and which operator it is. */
static void refusals(void)
{
    text *t = begin("%0: i32[2,3], %1: i32[2,3]", 2);
    SAY(t, "  %%2 = tosa.bitwise_and %%0, %%1 : i32[2,3]\n");
    t->value = 2;
    end(t);
    tc_ctx *ctx = tc_ctx_new();
    made m = make(ctx, t, "ethos-u55-128", "Shared_Sram", (tc_codegen_options){0});
    CHECK(m.r.refused && m.r.refused_node && m.r.refused_node->op == TC_OP_tosa_bitwise_and);
    CHECK(!m.r.program.words.n);
    m = make(ctx, t, "ethos-u85-128", "Sram_Only", (tc_codegen_options){0});
    CHECK(!m.r.refused && m.equal);
    tc_ctx_free(ctx);
    free(t);
}

/* (x + 3)^2 >> 2 of an int8 value is one look-up, for which U55, too, needs no operations on 32
 * bits. */
static void functions_of_codes(void)
{
    text *t = begin("%0: i8[1,5,7,24]", 1);
    SAY(t, "  %%1 = const [1] : i32[1]\n  %%2 = const [0] : i8[1]\n  %%3 = const [0] : i32[1]\n"
           "  %%4 = const [3] : i32[1,1,1,1]\n  %%5 = const [2] : i32[1,1,1,1]\n"
           "  %%6 = const [1073741824] : i32[1]\n  %%7 = const [30] : i8[1]\n"
           "  %%8 = tosa.rescale %%0, %%6, %%7, %%2, %%3 scale32=true rounding_mode=single "
           "per_channel=false input_unsigned=false output_unsigned=false : i32[1,5,7,24]\n"
           "  %%9 = tosa.add %%8, %%4 : i32[1,5,7,24]\n"
           "  %%10 = tosa.mul %%9, %%9, %%2 : i32[1,5,7,24]\n"
           "  %%11 = tosa.arithmetic_right_shift %%10, %%5 round=true : i32[1,5,7,24]\n");
    t->value = 11;
    end(t);
    for (size_t i = 0; i < TC_COUNT(machines); i++) {
        tc_ctx *ctx = tc_ctx_new();
        made m = make(ctx, t, machines[i], "Sram_Only", (tc_codegen_options){0});
        CHECK_ROW(machines[i], m.equal && m.kernels == 1);
        tc_ctx_free(ctx);
    }
    free(t);
}

/* x - c, one number on all channels, times a number without axes: one look-up, though constants are
 * rescaled and reshaped before.  The product alone reads the number as it is, in 8 bits. */
static void codes_and_computed_constants(void)
{
    for (int alone = 0; alone < 2; alone++) {
        text *t = begin("%0: i8[1,5,7,24]", 1);
        int x = rescale_by(t, 0, "i8", "i32", "1,5,7,24", 1 << 30, 30);
        for (int i = 0; i < 2 && !alone; i++) {
            int c = constant(t, "i8", 24, "1,1,1,24", 3);
            c = rescale_by(t, c, "i8", "i32", "1,1,1,24", 1 << 30, 30);
            SAY(t, "  %%%d = tosa.sub %%%d, %%%d : i32[1,5,7,24]\n", t->value + 1, x, c);
            x = ++t->value;
        }
        SAY(t, "  %%%d = const 101 : i8[]\n", ++t->value);
        int c = rescale_by(t, t->value, "i8", "i32", "", 1 << 30, 30), zero_shift = zero(t, "i8");
        SAY(t, "  %%%d = const [1, 1, 1, 1] : shape[4]\n  %%%d = tosa.reshape %%%d, %%%d : i32[1,1,1,1]\n"
               "  %%%d = tosa.mul %%%d, %%%d, %%%d : i32[1,5,7,24]\n",
            t->value + 1, t->value + 2, c, t->value + 1, t->value + 3, x, t->value + 2, zero_shift);
        t->value += 3;
        rescale_by(t, t->value, "i32", "i8", "1,5,7,24", 1077952640, 38);
        end(t);
        for (size_t i = 0; i < TC_COUNT(machines); i++) {
            tc_ctx *ctx = tc_ctx_new();
            made m = make(ctx, t, machines[i], "Sram_Only", (tc_codegen_options){0});
            CHECK_ROW(machines[i], m.equal && m.kernels == 1);
            tc_ctx_free(ctx);
        }
        free(t);
    }
}

/* All results of a curve of int16 codes, and whether one of them is another. */
static text *listed(tc_npu_curve curve, int64_t factor, int shift, bool other)
{
    text *t = begin("%0: i16[1,4,3,8]", 1);
    SAY(t, "  %%1 = const [1073741824] : i32[1]\n  %%2 = const [30] : i8[1]\n  %%3 = const [0] : "
           "i16[1]\n"
           "  %%4 = const [0] : i32[1]\n"
           "  %%5 = tosa.rescale %%0, %%1, %%2, %%3, %%4 scale32=true rounding_mode=single "
           "per_channel=false input_unsigned=false output_unsigned=false : i32[1,4,3,8]\n"
           "  %%6 = const [1, 96] : shape[2]\n  %%7 = tosa.reshape %%5, %%6 : i32[1,96]\n"
           "  %%8 = const [32768] : i32[1,1]\n  %%9 = tosa.add %%7, %%8 : i32[1,96]\n  %%10 = "
           "const [");
    for (int64_t code = -32768; code < 32768; code++) {
        int64_t v = (code * factor + (INT64_C(1) << shift >> 1)) / (INT64_C(1) << shift);
        v -= v * (INT64_C(1) << shift) > code * factor + (INT64_C(1) << shift >> 1);
        ti_npu_apply_curve(curve, &v, 1);
        SAY(t, "%s%d", code > -32768 ? ", " : "", (int)v + (other && code == 12345));
    }
    SAY(t, "] : i16[1,65536,1]\n  %%11 = tosa.gather %%10, %%9 : i16[1,96,1]\n");
    t->value = 11;
    end(t);
    return t;
}

/* What TOSA says by a list of 65536, the machine has: on U55, too, which has no GATHER. */
static void curves(void)
{
    static const struct {
        tc_npu_curve curve;
        int32_t factor, shift;
    } of[] = {{TC_CURVE_TANH, 24576, 13}, {TC_CURVE_TANH, 17001, 17}, {TC_CURVE_SIGMOID, 19660, 13},
              {TC_CURVE_SIGMOID, 32767, 12}, {TC_CURVE_SIGMOID, 24576, 15}};
    for (size_t k = 0; k < TC_COUNT(of); k++) {
        text *t = listed(of[k].curve, of[k].factor, of[k].shift, false),
             *u = listed(of[k].curve, of[k].factor, of[k].shift, true);
        for (size_t i = 0; i < TC_COUNT(machines); i += 3) {
            tc_ctx *ctx = tc_ctx_new();
            made m = make(ctx, t, machines[i], "Sram_Only", (tc_codegen_options){0}),
                 n = make(ctx, u, machines[i], "Sram_Only", (tc_codegen_options){0});
            CHECK_ROW(machines[i], m.equal && m.kernels == 1);
            CHECK_ROW(machines[i], strstr(machines[i], "u85") ? n.equal : n.r.refused != NULL);
            tc_ctx_free(ctx);
        }
        free(t);
        free(u);
    }
}

static int widened(text *t, const char *words, int x, int factor, int shift, const char *type)
{
    int f = constant(t, "i32", 1, "1", factor), n = constant(t, "i8", 1, "1", shift),
        a = zero(t, type), b = zero(t, "i32");
    SAY(t, "  %%%d = tosa.rescale %%%d, %%%d, %%%d, %%%d, %%%d scale32=true rounding_mode=%s "
           "per_channel=false input_unsigned=false output_unsigned=false : i32[1,6,5,16]\n",
        t->value + 1, x, f, n, a, b, words);
    return ++t->value;
}

/* A sum as TensorFlow Lite has it, operands moved left, one of them scaled and rounded twice:
 * one operation. */
static void sums_of_codes(void)
{
    static const struct {
        const char *type;
        int left;
    } of[] = {{"i8", 20}, {"i16", 15}};
    for (size_t k = 0; k < TC_COUNT(of); k++) {
        char inputs[64];
        snprintf(inputs, sizeof inputs, "%%0: %s[1,6,5,16], %%1: %s[1,6,5,16]", of[k].type,
                 of[k].type);
        text *t = begin(inputs, 2);
        t->value = 1;
        int a = widened(t, "single", 0, 1 << 30, 30, of[k].type),
            by = constant(t, "i32", 1, "1,1,1,1", of[k].left);
        SAY(t, "  %%%d = tosa.logical_left_shift %%%d, %%%d : i32[1,6,5,16]\n", t->value + 1, a,
            by);
        a = widened(t, "double", ++t->value, 1533916908, 32, "i32");
        int b = widened(t, "single", 1, 1 << 30, 31 - of[k].left, of[k].type);
        SAY(t, "  %%%d = tosa.add %%%d, %%%d : i32[1,6,5,16]\n", t->value + 1, a, b);
        t->value++;
        rescale(t, t->value, "i32", of[k].type, "1,6,5,16", 31 + of[k].left);
        end(t);
        for (size_t i = 0; i < TC_COUNT(machines); i++) {
            tc_ctx *ctx = tc_ctx_new();
            made m = make(ctx, t, machines[i], "Sram_Only", (tc_codegen_options){0});
            CHECK_ROW(machines[i], m.equal && m.kernels == 1);
            /* where one of the operands was */
            CHECK_ROW(machines[i], m.r.program.scratch == (k ? 2 : 1) * 2 * 6 * 5 * 16);
            tc_ctx_free(ctx);
        }
        free(t);
    }
}

/* Weights of one channel are sparse as U85 counts: two of four are zeros, which are not there. */
static void sparse_weights(void)
{
    text *one = begin("%0: i8[1,20,20,1]", 1), *many = begin("%0: i8[1,20,20,8]", 1);
    conv(one, 0, 20, 1, 16);
    conv(many, 0, 20, 8, 16);
    end(one);
    end(many);
    for (size_t i = 0; i < TC_COUNT(machines); i++) {
        tc_ctx *ctx = tc_ctx_new();
        made a = make(ctx, one, machines[i], "Sram_Only", (tc_codegen_options){0}),
             b = make(ctx, many, machines[i], "Sram_Only", (tc_codegen_options){0});
        CHECK_ROW(machines[i], a.equal && b.equal && !b.sparse);
        CHECK_ROW(machines[i], (a.sparse > 0) == !!strstr(machines[i], "u85"));
        tc_ctx_free(ctx);
    }
    free(one);
    free(many);
}

/* Twice the same words. */
static void same_again(void)
{
    text *t = two_convolutions();
    tc_ctx *a = tc_ctx_new(), *b = tc_ctx_new();
    made m = make(a, t, "ethos-u85-1024", "Shared_Sram", (tc_codegen_options){0}),
         n = make(b, t, "ethos-u85-1024", "Shared_Sram", (tc_codegen_options){0});
    CHECK(m.r.program.driver.size && m.r.program.driver.size == n.r.program.driver.size &&
          !memcmp(m.r.program.driver.data, n.r.program.driver.data, m.r.program.driver.size));
    tc_ctx_free(a);
    tc_ctx_free(b);
    free(t);
}

/* |x| of codes, scaled: one operation. */
static void sizes(void)
{
    text *t = begin("%0: i16[1,5,7,24]", 1);
    int x = rescale_by(t, 0, "i16", "i32", "1,5,7,24", 1 << 30, 30);
    SAY(t, "  %%%d = tosa.abs %%%d : i32[1,5,7,24]\n", t->value + 1, x);
    rescale(t, ++t->value, "i32", "i16", "1,5,7,24", 31);
    end(t);
    for (size_t i = 0; i < TC_COUNT(machines); i++) {
        tc_ctx *ctx = tc_ctx_new();
        made m = make(ctx, t, machines[i], "Sram_Only", (tc_codegen_options){0});
        CHECK_ROW(machines[i], m.equal && m.kernels == 1);
        tc_ctx_free(ctx);
    }
    free(t);
}

/* Other bits, another zero point: no pool, on few channels as on many. */
static void other_bits(void)
{
    text *t = begin("%0: i16[1,64,64,3]", 1);
    SAY(t, "  %%1 = const [1073741824] : i32[1]\n  %%2 = const [30] : i8[1]\n  %%3 = const [0] : "
           "i16[1]\n  %%4 = const [-128] : i8[1]\n"
           "  %%5 = tosa.rescale %%0, %%1, %%2, %%3, %%4 scale32=true rounding_mode=single "
           "per_channel=false "
           "input_unsigned=false output_unsigned=false : i8[1,64,64,3]\n");
    t->value = 5;
    end(t);
    for (size_t i = 0; i < TC_COUNT(machines); i++) {
        tc_ctx *ctx = tc_ctx_new();
        made m = make(ctx, t, machines[i], "Sram_Only", (tc_codegen_options){0});
        CHECK_ROW(machines[i], m.equal && m.kernels == 1 && m.pools == 0);
        tc_ctx_free(ctx);
    }
    free(t);
}

/* int8 codes u - 128 of uint8 ones, or back. */
static int shifted(text *t, int x, bool up, const char *shape)
{
    int f = constant(t, "i32", 1, "1", 1 << 30), s = constant(t, "i8", 1, "1", 30), z = zero(t, "i8"),
        h = constant(t, "i8", 1, "1", -128);
    SAY(t, "  %%%d = tosa.rescale %%%d, %%%d, %%%d, %%%d, %%%d scale32=true rounding_mode=single "
           "per_channel=false input_unsigned=%s output_unsigned=%s : i8[%s]\n",
        t->value + 1, x, f, s, up ? h : z, up ? z : h, up ? "false" : "true", up ? "true" : "false",
        shape);
    return ++t->value;
}

/* A convolution reads and writes uint8 codes itself. */
static void unsigned_codes(void)
{
    text *t = begin("%0: i8[1,12,12,3]", 1);
    int x = shifted(t, 0, false, "1,12,12,3");
    x = conv(t, x, 12, 3, 5);
    shifted(t, x, true, "1,12,12,5");
    end(t);
    for (size_t i = 0; i < TC_COUNT(machines); i++) {
        tc_ctx *ctx = tc_ctx_new();
        made m = make(ctx, t, machines[i], "Sram_Only", (tc_codegen_options){0});
        CHECK_ROW(machines[i], m.equal && m.kernels == 1);
        tc_ctx_free(ctx);
    }
    free(t);
}

/* U55: of many pixels, numbers and the places of their channels are joined by a convolution. */
static void largest_channels(void)
{
    text *t = begin("%0: i8[1,8,8,21]", 1);
    SAY(t, "  %%1 = tosa.argmax %%0 axis=3 nan_mode=propagate : i32[1,8,8]\n");
    t->value = 1;
    end(t);
    for (size_t i = 0; i < TC_COUNT(machines); i++) {
        tc_ctx *ctx = tc_ctx_new();
        made m = make(ctx, t, machines[i], "Sram_Only", (tc_codegen_options){0});
        CHECK_ROW(machines[i], m.equal && m.layers == !strstr(machines[i], "u85"));
        tc_ctx_free(ctx);
    }
    free(t);
}

/* A factor, bounds, a copy, a product with one: no pool of 8 or 16 bits. */
static void no_pools(void)
{
    enum { SCALED, HELD, COPIED, ONE, FORMS };
    for (int k = 0; k < 2 * FORMS; k++) {
        const char *type = k < FORMS ? "i8" : "i16";
        char input[64];
        snprintf(input, sizeof input, "%%0: %s[1,6,5,16]", type);
        text *t = begin(input, 1);
        if (k % FORMS == SCALED)
            rescale(t, 0, type, type, "1,6,5,16", 31);
        else if (k % FORMS == HELD)
            SAY(t, "  %%1 = tosa.clamp %%0 min_val=-70 max_val=20 nan_mode=propagate : "
                   "%s[1,6,5,16]\n",
                type);
        else if (k % FORMS == COPIED)
            SAY(t, "  %%1 = tosa.concat %%0, %%0 axis=1 : %s[1,12,5,16]\n", type);
        else {
            SAY(t, "  %%1 = const [1] : %s[1,1,1,1]\n  %%2 = const [0] : i8[1]\n"
                   "  %%3 = tosa.mul %%0, %%1, %%2 : i32[1,6,5,16]\n",
                type);
            rescale_by(t, t->value = 3, "i32", type, "1,6,5,16", 1 << 30, 30);
        }
        t->value = t->value ? t->value : 1;
        end(t);
        for (size_t i = 0; i < TC_COUNT(machines); i++) {
            tc_ctx *ctx = tc_ctx_new();
            made m = make(ctx, t, machines[i], "Sram_Only", (tc_codegen_options){0});
            CHECK_ROW(machines[i], m.equal && m.kernels == (k % FORMS == COPIED ? 2 : 1));
            CHECK_ROW(machines[i], m.pools == 0);
            tc_ctx_free(ctx);
        }
        free(t);
    }
}

/* Of small planes, where multipliers are many: dilation that no operation has is zeros in the
 * kernel, a stride that none has is some of the outputs of a smaller one, and a copy of these. */
static void small_planes(void)
{
    static const struct {
        int stride, dilation, out;
        size_t kernels;
    } of[] = {{1, 4, 16, 1}, {1, 3, 16, 1}, {4, 1, 4, 2}, {5, 1, 4, 2}};
    for (size_t k = 0; k < TC_COUNT(of); k++) {
        char shape[32];
        snprintf(shape, sizeof shape, "1,%d,%d,16", of[k].out, of[k].out);
        text *t = begin("%0: i8[1,16,16,8]", 1);
        int w = constant(t, "i8", 16 * 9 * 8, "16,3,3,8", ANY), b = constant(t, "i32", 16, "16", 0),
            p = zero(t, "i8"), q = zero(t, "i8"), d = of[k].dilation,
            after = (of[k].out - 1) * of[k].stride - 15 + d;
        SAY(t, "  %%%d = tosa.conv2d %%0, %%%d, %%%d, %%%d, %%%d pad=[%d,%d,%d,%d] stride=[%d,%d] "
               "dilation=[%d,%d] local_bound=false acc_type=i32 : i32[%s]\n",
            t->value + 1, w, b, p, q, d, after, d, after, of[k].stride, of[k].stride, d, d, shape);
        t->value++;
        rescale(t, t->value, "i32", "i8", shape, 40);
        end(t);
        for (size_t i = 0; i < TC_COUNT(machines); i++) {
            tc_ctx *ctx = tc_ctx_new();
            made m = make(ctx, t, machines[i], "Sram_Only", (tc_codegen_options){0});
            CHECK_ROW(machines[i], m.equal);
            bool many = strstr(machines[i], "u55-256") || strstr(machines[i], "u85-2048");
            CHECK_ROW(machines[i], !many || m.kernels == of[k].kernels);
            tc_ctx_free(ctx);
        }
        free(t);
    }
}

/* 8 bits moved left to 32: one operation, a product on U55. */
static void moved_left(void)
{
    text *t = begin("%0: i8[1,6,5,16]", 1);
    rescale_by(t, 0, "i8", "i32", "1,6,5,16", 1 << 30, 23);
    end(t);
    for (size_t i = 0; i < TC_COUNT(machines); i++) {
        tc_ctx *ctx = tc_ctx_new();
        made m = make(ctx, t, machines[i], "Sram_Only", (tc_codegen_options){0});
        CHECK_ROW(machines[i], m.equal && m.kernels == 1);
        tc_ctx_free(ctx);
    }
    free(t);
}

/* Sums of 5 x 4 places of every channel: U85's pool. */
static void sums_of_windows(void)
{
    text *t = begin("%0: i8[1,5,4,16]", 1);
    int w = constant(t, "i8", 20 * 16, "5,4,16,1", 1), b = zero(t, "i32"), p = zero(t, "i8"),
        q = zero(t, "i8");
    SAY(t, "  %%%d = tosa.depthwise_conv2d %%0, %%%d, %%%d, %%%d, %%%d pad=[0,0,0,0] stride=[1,1] "
           "dilation=[1,1] local_bound=false acc_type=i32 : i32[1,1,1,16]\n",
        t->value + 1, w, b, p, q);
    t->value++;
    rescale(t, t->value, "i32", "i8", "1,1,1,16", 35);
    end(t);
    for (size_t i = 0; i < TC_COUNT(machines); i++) {
        tc_ctx *ctx = tc_ctx_new();
        made m = make(ctx, t, machines[i], "Sram_Only", (tc_codegen_options){0});
        CHECK_ROW(machines[i], m.equal && m.kernels == 1);
        CHECK_ROW(machines[i], m.pools == (strstr(machines[i], "u85") ? 1 : 0));
        tc_ctx_free(ctx);
    }
    free(t);
}

/* The larger of a number of 16 bits by two factors is the machine's LRELU; U55 has one factor. */
static void leaky(void)
{
    for (int k = 0; k < 2; k++) {
        text *t = begin("%0: i16[1,6,5,16]", 1);
        int up = k ? rescale(t, 0, "i16", "i16", "1,6,5,16", 30)
                   : rescale_by(t, 0, "i16", "i16", "1,6,5,16", 1 << 30, 30),
            down = rescale(t, 0, "i16", "i16", "1,6,5,16", 33),
            a = widened(t, "single", up, 1 << 30, 30, "i16"),
            b = widened(t, "single", down, 1 << 30, 30, "i16");
        SAY(t, "  %%%d = tosa.maximum %%%d, %%%d nan_mode=propagate : i32[1,6,5,16]\n",
            t->value + 1, b, a);
        t->value++;
        rescale_by(t, t->value, "i32", "i16", "1,6,5,16", 1 << 30, 30);
        end(t);
        for (size_t i = 0; i < TC_COUNT(machines); i++) {
            tc_ctx *ctx = tc_ctx_new();
            made m = make(ctx, t, machines[i], "Sram_Only", (tc_codegen_options){0});
            CHECK_ROW(machines[i], m.equal && m.kernels == (k && machines[i][7] != '8' ? 3 : 1));
            tc_ctx_free(ctx);
        }
        free(t);
    }
}

/* RESIZE 16 times as large, and a factor of 1 + 2^-30 that sends halves away from zero: U85's own
 * rounding; on U55, whose weights have 8 bits, a phase's common factor is the output's. */
static void halves(void)
{
    static const struct {
        const char *from, *sum;
    } of[] = {{"i8", "i32"}, {"i16", "i48"}};
    for (size_t k = 0; k < TC_COUNT(of); k++) {
        char input[64];
        snprintf(input, sizeof input, "%%0: %s[1,3,4,8]", of[k].from);
        text *t = begin(input, 1);
        SAY(t, "  %%1 = const [16, 1, 16, 1] : shape[4]\n  %%2 = const [0, 0] : shape[2]\n"
               "  %%3 = tosa.resize %%0, %%1, %%2, %%2 mode=bilinear : %s[1,33,49,8]\n",
            of[k].sum);
        t->value = 3;
        if (k) {
            SAY(t, "  %%4 = const [16384] : i16[1]\n  %%5 = const [14] : i8[1]\n  %%6 = const [0] "
                   ": i48[1]\n"
                   "  %%7 = const [0] : i32[1]\n  %%8 = tosa.rescale %%3, %%4, %%5, %%6, %%7 "
                   "scale32=false "
                   "rounding_mode=single per_channel=false input_unsigned=false "
                   "output_unsigned=false : i32[1,33,49,8]\n");
            t->value = 8;
        }
        rescale_by(t, t->value, "i32", of[k].from, "1,33,49,8", (1 << 30) + 1, 38);
        end(t);
        for (size_t i = 0; i < TC_COUNT(machines); i++) {
            tc_ctx *ctx = tc_ctx_new();
            made m = make(ctx, t, machines[i], "Sram_Only", (tc_codegen_options){0});
            CHECK_ROW(machines[i], m.equal && (!strstr(machines[i], "u85") || m.kernels == 1));
            tc_ctx_free(ctx);
        }
        free(t);
    }
}

int main(void)
{
    sizes();
    other_bits();
    unsigned_codes();
    largest_channels();
    no_pools();
    leaky();
    small_planes();
    sums_of_windows();
    moved_left();
    halves();
    cascades();
    cascades_of_parts();
    scarce_memory();
    scarce_memory_apart();
    staged_weights();
    weights_apart();
    late_weights();
    near_constants();
    idle_bytes();
    sliced_weights();
    shared_weights();
    orders();
    small_weights();
    memories_apart();
    memory_too_small();
    padded_inputs();
    chains();
    sums_with_constants();
    refusals();
    functions_of_codes();
    codes_and_computed_constants();
    sums_of_codes();
    curves();
    sparse_weights();
    same_again();
    return check_done();
}
