/* SPDX-License-Identifier: Apache-2.0 */
/* lemmas.c -- lemmas of test/proofs/lemmas.py that are decided by trying every code, through the passes, the back end
 * and the kernels of the compiler.      unit-lemmas [fusion|rounding|selects|tables|near|leaky|codes] */
#include "codegen_case.h"

#include <inttypes.h>

#include "drive/passes.h"
#include "ir/verify.h"
#include "npu/scale.h"
#include "num/load.h"
#include "target/target.h"

enum { CODES = 256, PAIRS = 20000 };

static uint64_t seed = 1;
static bool part_only; /* one part alone is tried in full */

static uint32_t dice(uint32_t sides)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % sides;
}

/* ---- before and after a pass ---- */

static tc_module *parsed(tc_ctx *ctx, const text *t)
{
    tc_module *module;
    bool good = ti_parse(ctx, "t.ir", (tc_bytes){(const uint8_t *)t->v, t->n}, (tc_bytes){NULL, 0},
                         &module) == TC_OK;
    return good ? module : NULL;
}

static bool same(tc_tensor a, tc_tensor b)
{
    return a.type->dtype == b.type->dtype && ti_same_dims(a.type, b.type) &&
           !memcmp(a.data, b.data, tc_type_bytes(a.type));
}

/* The first result with the pass and without it. */
static bool agrees(const text *t, const char *pass, const tc_tensor *in)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_tensor before, after;
    tc_module *plain = parsed(ctx, t), *passed = parsed(ctx, t);
    bool good = plain && passed && ti_eval(ti_main(plain), in, &before, &ctx->arena) == TC_OK &&
                ti_run_passes(ctx, passed, pass, NULL) == TC_OK &&
                ti_eval(ti_main(passed), in, &after, &ctx->arena) == TC_OK && same(before, after);
    if (!good)
        fprintf(stderr, "%s%s", t->v, tc_diagnostics(ctx));
    tc_ctx_free(ctx);
    return good;
}

/* ---- RESCALE, CLAMP and TABLE after each other ---- */

static void say_table(text *t)
{
    SAY(t, "  %%%d = const [", ++t->value);
    for (int i = 0; i < CODES; i++)
        SAY(t, "%s%d", i ? ", " : "", (int)dice(CODES) - 128);
    SAY(t, "] : i8[256]\n  %%%d = tosa.table %%%d, %%%d : i8[256]\n", t->value + 1, t->value - 1,
        t->value);
    t->value++;
}

static void say_clamp(text *t)
{
    int a = (int)dice(CODES) - 128, b = (int)dice(CODES) - 128;
    SAY(t, "  %%%d = tosa.clamp %%%d min_val=%d max_val=%d nan_mode=propagate : i8[256]\n",
        t->value + 1, t->value, a < b ? a : b, a < b ? b : a);
    t->value++;
}

/* Shifts from 10 on take every code less its zero point. */
static void say_rescale(text *t)
{
    int x = t->value, one = dice(4) == 0, zero = (int)dice(CODES) - 128;
    int shift = one ? 30 : 10 + (int)dice(53);
    uint32_t factor = one ? 1u << 30 : (1u << 30) + dice(1u << 30);
    SAY(t, "  %%%d = const [%" PRIu32 "] : i32[1]\n  %%%d = const [%d] : i8[1]\n", x + 1, factor,
        x + 2, shift);
    SAY(t, "  %%%d = const [%d] : i8[1]\n  %%%d = const [%d] : i8[1]\n", x + 3, zero, x + 4,
        one ? zero : (int)dice(CODES) - 128);
    SAY(t, "  %%%d = tosa.rescale %%%d, %%%d, %%%d, %%%d, %%%d scale32=true rounding_mode=single "
           "per_channel=false input_unsigned=false output_unsigned=false : i8[256]\n",
        x + 5, x, x + 1, x + 2, x + 3, x + 4);
    t->value = x + 5;
}

/* Each input element is a code of its own. */
static tc_tensor all_codes(tc_ctx *ctx)
{
    tc_tensor t = ti_tensor_new(&ctx->arena, ti_type_make(ctx, TC_i8, 1, (int64_t[]){CODES}));
    for (int i = 0; i < CODES; i++)
        ti_store_i64(t, i, i - 128);
    return t;
}

static void fusion(void)
{
    static void (*const say[])(text *) = {say_rescale, say_clamp, say_table};
    tc_ctx *ctx = tc_ctx_new();
    tc_tensor x = all_codes(ctx);
    static text t;
    for (int i = 0; i < PAIRS; i++) {
        t.n = 0;
        t.value = 0;
        SAY(&t, "graph @main(%%0: i8[256]) {\n");
        say[i % 3](&t);
        say[i / 3 % 3](&t);
        SAY(&t, "  return %%%d\n}\n", t.value);
        CHECK(agrees(&t, "fuse-rescales", &x));
    }
    tc_ctx_free(ctx);
}

/* ---- RESCALE that rounds twice ---- */

typedef struct channel {
    uint32_t factor;
    int shift;
} channel;

static bool split_agrees(channel a, channel b, const tc_tensor *x)
{
    static text t;
    t.n = 0;
    SAY(&t, "graph @main(%%0: i32[64,2]) {\n  %%1 = const [%" PRIu32 ", %" PRIu32 "] : i32[2]\n",
        a.factor, b.factor);
    SAY(&t, "  %%2 = const [%d, %d] : i8[2]\n  %%3 = const [0] : i32[1]\n", a.shift, b.shift);
    SAY(&t, "  %%4 = const [-7] : i8[1]\n  %%5 = tosa.rescale %%0, %%1, %%2, %%3, %%4 scale32=true "
            "rounding_mode=double per_channel=true input_unsigned=false output_unsigned=false : "
            "i8[64,2]\n  return %%5\n}\n");
    return agrees(&t, "split-double-rounding", x);
}

/* Values near the ends of what the shift takes, near zero, and between. */
static int64_t near_ends(int i, int shift)
{
    int64_t most = INT64_C(1) << ((shift < 31 ? shift : 31) - 1), k = (int64_t)dice(16);
    int64_t v = i % 4 == 0   ? most - 1 - k
                : i % 4 == 1 ? k - most
                : i % 4 == 2 ? k - 8
                             : (int64_t)dice((uint32_t)(2 * most)) - most;
    return ti_clip(v, -most, most - 1);
}

static void rounding(void)
{
    static const channel ends[] = {{INT32_MAX, 32}, {INT32_MAX, 31}, {1200000000, 31}, {1u << 30, 30},
                                   {INT32_MAX, 33}, {1u << 30, 62}, {1900000000, 38}, {INT32_MAX, 30}};
    tc_ctx *ctx = tc_ctx_new();
    tc_tensor x =
        ti_tensor_new(&ctx->arena, ti_type_make(ctx, TC_i32, 2, (int64_t[]){64, 2}));
    for (size_t a = 0; a < TC_COUNT(ends); a++)
        for (size_t b = 0; b < TC_COUNT(ends); b++) {
            for (int i = 0; i < 128; i++)
                ti_store_i64(x, i, near_ends(i / 2, ends[i % 2 ? b : a].shift));
            CHECK(split_agrees(ends[a], ends[b], &x));
        }
    tc_ctx_free(ctx);
}

/* ---- select by products ---- */

static void selects(void)
{
    static const int zeros[] = {-128, -127, -64, -1, 0, 1, 3, 64, 127};
    tc_ctx *ctx = tc_ctx_new();
    tc_tensor in[3] = {
        ti_tensor_new(&ctx->arena, ti_type_make(ctx, TC_bool, 3, (int64_t[]){2, 1, 1}))};
    ti_store_i64(in[0], 1, 1);
    static text t;
    for (size_t k = 0; k < TC_COUNT(zeros); k++) {
        t.n = 0;
        SAY(&t, "graph @main(%%0: bool[2,1,1], %%1: i8[1,256,1] q(0.05:%d), %%2: i8[1,1,256] "
                "q(0.05:%d)) {\n  %%3 = where %%0, %%1, %%2 : i8[2,256,256] q(0.05:%d)\n  return "
                "%%3\n}\n", zeros[k], zeros[k], zeros[k]);
        tc_module *module = parsed(ctx, &t);
        CHECK(module);
        for (int i = 1; i < 3 && module; i++) {
            in[i] = ti_tensor_new(&ctx->arena, ti_type_of(ti_main(module), ti_main(module)->in[i]));
            for (int c = 0; c < CODES; c++)
                ti_store_i64(in[i], c, c - 128);
        }
        CHECK(module && agrees(&t, "replace-selects", in));
    }
    tc_ctx_free(ctx);
}

/* ---- tables ---- */

static void tables(void)
{
    static const int16_t ends[] = {INT16_MIN, -1, 0, 1, INT16_MAX};
    int16_t entry[513];
    for (size_t k = 0; k < TC_COUNT(ends); k++) {
        for (int i = 0; i < 513; i++)
            entry[i] = (int16_t)(i % 2 ? ends[k] : (int)dice(65536) - 32768);
        for (int c = -128; c < 128; c++)
            CHECK(ti_table16(entry, (int16_t)(128 * c)) == 128 * entry[c + 256]);
    }
}

/* ---- functions of 16 bits by tables of 513 entries ---- */

enum { WIDE_CODES = 65536, STEPS = 2, FEW = 29 };

/* Each input element is a code of its own, of the graph's first input. */
static tc_tensor codes_of(tc_ctx *ctx, const tc_graph *g)
{
    tc_tensor t = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[0]));
    int64_t n = tc_type_count(t.type);
    for (int64_t i = 0; i < n; i++)
        ti_store_i64(t, i, i - n / 2);
    return t;
}

static bool is_function(tc_op op)
{
    const tc_op_info *o = &tc_ops[op];
    return o->min_in == 1 && o->max_in == 1 && o->n_out == 1 && o->attr == TC_ATTR_none && !o->tosa && (o->traits & T_ELTWISE);
}

/* 1: near enough for all codes; 0: not; -1: there is no such table, or no such operator of numbers. */
static int is_near(const char *name, double from, double to)
{
    static text t;
    tc_ctx *ctx = tc_ctx_new();
    tc_target target;
    tc_tensor before, after;
    t.n = 0;
    SAY(&t, "graph @main(%%0: i16[%d] q(%.17g:0)) {\n  %%1 = %s %%0 : i16[%d] q(%.17g:0)\n  return %%1\n}\n", WIDE_CODES, from, name,
        WIDE_CODES, to);
    tc_module *module = parsed(ctx, &t);
    int near = -1;
    if (module && ti_verify(ctx, module) == TC_OK && ti_target_parse(ctx, "TOSA-1.0+INT+int16", &target) == TC_OK) {
        tc_tensor x = codes_of(ctx, ti_main(module));
        if (ti_eval(ti_main(module), &x, &before, &ctx->arena) == TC_OK &&
            ti_run_stages(ctx, module, "lower-to-tosa", &(tc_job){.target = &target}, NULL) == TC_OK &&
            ti_eval(ti_main(module), &x, &after, &ctx->arena) == TC_OK) {
            int64_t most = 0;
            for (int64_t i = 0; i < WIDE_CODES; i++)
                most = ti_max_i64(most, llabs(ti_load_i64(before, i) - ti_load_i64(after, i)));
            near = most <= STEPS;
            if (!near)
                fprintf(stderr, "%s%" PRId64 " steps\n", t.v, most);
        }
    }
    tc_ctx_free(ctx);
    return near;
}

static void near(void)
{
    static const double from[] = {0x1p-15, 0x1p-13, 0x1p-11, 0.0003}, to[] = {0x1p-15, 0x1p-12, 0.0002};
    int tried = 0, seen = 0;
    for (tc_op op = 0; op < TC_OP_COUNT; op++)
        for (size_t i = 0; i < TC_COUNT(from) && is_function(op); i++)
            for (size_t k = 0; k < TC_COUNT(to); k++) {
                if (!part_only && seen++ % FEW)
                    continue;
                int near = is_near(tc_ops[op].name, from[i], to[k]);
                tried += near >= 0;
                CHECK_ROW(tc_ops[op].name, near != 0);
            }
    CHECK(tried > (part_only ? 500 : 10));
}

/* ---- command streams beside their TOSA, every code ---- */

static const char *const machines[] = {"ethos-u55-128", "ethos-u85-256"};

/* single: counts streams of one operation. */
static bool stream_agrees(const text *t, const char *machine, int *single)
{
    tc_ctx *ctx = tc_ctx_new();
    made m = make(ctx, t, machine, ti_npu_machine_find(machine)->product == TC_U85 ? "Sram_Only" : "Shared_Sram", (tc_codegen_options){0});
    bool good = m.g && !m.r.refused;
    *single += m.kernels == 1;
    if (good) {
        const char *error = NULL;
        tc_tensor x = codes_of(ctx, m.g), want;
        tc_npu_exec *exec = ti_npu_exec_new(&ctx->arena, &m.r.program, &error);
        void *to = tc_new_n(&ctx->arena, uint8_t, (size_t)m.r.program.out[0].bytes + 1);
        good = exec && ti_eval(m.g, &x, &want, &ctx->arena) == TC_OK && !ti_npu_exec_run(exec, &(const void *){x.data}, &to) &&
               !memcmp(to, want.data, tc_type_bytes(want.type));
    }
    if (!good)
        fprintf(stderr, "%s: %s%s%s", machine, t->v, tc_diagnostics(ctx), m.r.refused ? m.r.refused : "");
    tc_ctx_free(ctx);
    return good;
}

/* Factors of a RESCALE of 16 bits: one, or below 4, with either rounding. */
static int say_side(text *t, bool one)
{
    int x = t->value, factor = one ? 1 << 30 : (int)((1u << 30) + dice(1u << 30)), shift = one ? 30 : 29 + (int)dice(12);
    SAY(t, "  %%%d = const [%d] : i32[1]\n  %%%d = const [%d] : i8[1]\n", x + 1, factor, x + 2, shift);
    SAY(t, "  %%%d = const [0] : i16[1]\n  %%%d = const [0] : i32[1]\n", x + 3, x + 4);
    SAY(t, "  %%%d = tosa.rescale %%0, %%%d, %%%d, %%%d, %%%d scale32=true rounding_mode=%s per_channel=false input_unsigned=false "
           "output_unsigned=false : i16[256,256]\n", x + 5, x + 1, x + 2, x + 3, x + 3, dice(2) ? "double" : "single");
    t->value = x + 5;
    return rescale_by(t, t->value, "i16", "i32", "256,256", 1 << 30, 30);
}

static void leaky(void)
{
    static text t;
    int single = 0, n = part_only ? 240 : 24;
    for (int i = 0; i < n; i++) {
        t.n = 0;
        t.value = 0;
        SAY(&t, "graph @main(%%0: i16[256,256]) {\n");
        int a = say_side(&t, i % 3 != 0), b = say_side(&t, false);
        SAY(&t, "  %%%d = tosa.maximum %%%d, %%%d nan_mode=propagate : i32[256,256]\n", t.value + 1, i % 2 ? a : b, i % 2 ? b : a);
        t.value++;
        rescale_by(&t, t.value, "i32", "i16", "256,256", 1 << 30, 30);
        end(&t);
        CHECK(stream_agrees(&t, machines[i % 4 / 2], &single));
    }
    CHECK(single > n / 8);
}

/* One more operator on 32 bits; they stay below 2^28. */
static void say_step(text *t)
{
    static const char *const two[] = {"tosa.add", "tosa.sub", "tosa.maximum", "tosa.minimum"};
    int x = t->value, k = (int)dice(6);
    if (k < 4) {
        SAY(t, "  %%%d = const [%d] : i32[1,1]\n  %%%d = %s %%%d, %%%d%s : i32[16,16]\n", x + 1, (int)dice(1 << 20) - (1 << 19), x + 2, two[k],
            x, x + 1, k < 2 ? "" : " nan_mode=propagate");
        t->value = x + 2;
    } else if (k == 4) {
        SAY(t, "  %%%d = tosa.abs %%%d : i32[16,16]\n", x + 1, x);
        t->value = x + 1;
    } else
        rescale_by(t, x, "i32", "i32", "16,16", (int)((1u << 30) + dice(1u << 30)), 31 + (int)dice(3));
}

static void codes(void)
{
    static text t;
    int single = 0;
    for (int i = 0; i < 400; i++) {
        t.n = 0;
        t.value = 0;
        SAY(&t, "graph @main(%%0: i8[16,16]) {\n");
        rescale_by(&t, 0, "i8", "i32", "16,16", (int)((1u << 30) + dice(1u << 30)), 12 + (int)dice(12));
        for (int k = 3 + (int)dice(5); k; k--)
            say_step(&t);
        if (i % 3)
            rescale_by(&t, t.value, "i32", "i8", "16,16", (int)((1u << 30) + dice(1u << 30)), 38 + (int)dice(8));
        end(&t);
        CHECK(stream_agrees(&t, machines[i % 2], &single));
    }
    CHECK(single > 200);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } part[] = {{"fusion", fusion}, {"rounding", rounding}, {"selects", selects},
                {"tables", tables}, {"near", near},         {"leaky", leaky},     {"codes", codes}};
    const char *only = argc > 1 ? argv[1] : NULL;
    part_only = only != NULL;
    for (size_t i = 0; i < TC_COUNT(part); i++)
        if (!only || !strcmp(only, part[i].name))
            part[i].run();
    CHECK(check_passed > 0);
    return check_done();
}
