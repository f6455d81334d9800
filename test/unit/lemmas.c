/* SPDX-License-Identifier: Apache-2.0 */
/* lemmas.c -- lemmas of test/proofs/lemmas.py that are decided by trying every code, through the passes
 * and kernels of the compiler.      unit-lemmas [fusion|rounding|selects|tables|--samples]
 *
 * --samples prints the compiler's arithmetic for prove.py: MODE VALUE FACTOR SHIFT RESULT, and FUNCTION VALUE PARAMETER RESULT. */
#include "check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "drive/passes.h"
#include "ir/ir_text.h"
#include "npu/scale.h"
#include "num/load.h"
#include "run/eval.h"

enum { CODES = 256, PAIRS = 20000, SAMPLES = 20000 };

static uint64_t seed = 1;

static uint32_t dice(uint32_t sides)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % sides;
}

typedef struct text {
    char v[16384];
    size_t n;
    int value; /* the last one */
} text;

#define SAY(t, ...) ((t)->n += (size_t)snprintf((t)->v + (t)->n, sizeof(t)->v - (t)->n, __VA_ARGS__))

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

/* ---- the arithmetic as the compiler has it ---- */

static void samples(void)
{
    static const struct {
        const char *name;
        tc_npu_round round;
    } mode[] = {{"natural", TC_ROUND_NATURAL}, {"double", TC_ROUND_DOUBLE},
                {"symmetric", TC_ROUND_SYMMETRIC}, {"down", TC_ROUND_DOWN}};
    for (int i = 0; i < SAMPLES; i++) {
        int shift = 2 + (int)dice(61);
        int64_t v = near_ends((int)dice(4), shift);
        int32_t m = (int32_t)dice(1u << 31);
        size_t k = (size_t)i % TC_COUNT(mode);
        int64_t y = i % 8 == 0   ? ti_scale32((int32_t)v, m, shift)
                    : i % 8 == 1 ? ti_scale32_double((int32_t)v, m, shift)
                                 : ti_npu_scaled(v, (uint32_t)m, shift, mode[k].round, 0);
        printf("%s %" PRId64 " %" PRId32 " %d %" PRId64 "\n", mode[k].name, v, m, shift, y);
    }
}

/* Other operators of which arithmetic.py has its own words, as TOSA's kernels compute them: FUNCTION VALUE PARAMETER RESULT. */
static void other_samples(void)
{
    static const char *const name[] = {"tosa_shift", "leading_zeros", "wrapped_left", "clip", "saturated"};
    tc_ctx *ctx = tc_ctx_new();
    static text t;
    SAY(&t, "graph @main(%%0: i32[%d], %%1: i32[%d]) {\n", SAMPLES, SAMPLES);
    SAY(&t, "  %%2 = tosa.arithmetic_right_shift %%0, %%1 round=true : i32[%d]\n", SAMPLES);
    SAY(&t, "  %%3 = tosa.clz %%0 : i32[%d]\n  %%4 = tosa.logical_left_shift %%0, %%1 : i32[%d]\n", SAMPLES, SAMPLES);
    SAY(&t, "  %%5 = tosa.clamp %%0 min_val=-70000 max_val=12345 nan_mode=propagate : i32[%d]\n", SAMPLES);
    SAY(&t, "  %%6 = const [1073741824] : i32[1]\n  %%7 = const [30] : i8[1]\n  %%8 = const [0] : i32[1]\n  %%9 = const [0] : i16[1]\n");
    SAY(&t, "  %%10 = tosa.clamp %%0 min_val=-268435456 max_val=268435455 nan_mode=propagate : i32[%d]\n", SAMPLES);
    SAY(&t, "  %%11 = tosa.rescale %%10, %%6, %%7, %%8, %%9 scale32=true rounding_mode=single per_channel=false "
            "input_unsigned=false output_unsigned=false : i16[%d]\n", SAMPLES);
    SAY(&t, "  return %%2, %%3, %%4, %%5, %%11\n}\n");
    tc_module *module = parsed(ctx, &t);
    tc_tensor in[2], out[TC_COUNT(name)];
    for (int i = 0; module && i < 2; i++)
        in[i] = ti_tensor_new(&ctx->arena, ti_type_of(ti_main(module), ti_main(module)->in[i]));
    for (int64_t k = 0; module && k < SAMPLES; k++) {
        ti_store_i64(in[0], k, (int32_t)near_ends((int)dice(4), 31 + (int)dice(31)));
        ti_store_i64(in[1], k, dice(32));
    }
    if (!module || ti_eval(ti_main(module), in, out, &ctx->arena) != TC_OK) {
        fprintf(stderr, "%s", tc_diagnostics(ctx));
        exit(1);
    }
    for (size_t f = 0; f < TC_COUNT(name); f++)
        for (int64_t k = 0; k < SAMPLES; k++)
            printf("%s %" PRId64 " %" PRId64 " %" PRId64 "\n", name[f], ti_load_i64(in[0], k), ti_load_i64(in[1], k),
                   ti_load_i64(out[f], k));
    tc_ctx_free(ctx);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } part[] = {{"fusion", fusion}, {"rounding", rounding}, {"selects", selects}, {"tables", tables}};
    const char *only = argc > 1 ? argv[1] : NULL;
    if (only && !strcmp(only, "--samples")) {
        samples();
        other_samples();
        return 0;
    }
    for (size_t i = 0; i < TC_COUNT(part); i++)
        if (!only || !strcmp(only, part[i].name))
            part[i].run();
    CHECK(check_passed > 0);
    return check_done();
}
