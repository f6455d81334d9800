/* SPDX-License-Identifier: Apache-2.0 */
/* choose.c -- formulations that are offered: taken where they cost less, left where not, for one
 * machine and for another. */
#include "check.h"

#include "drive/choose.h"
#include "lower/layout/offer.h"
#include "machine/npu_machine.h"
#include "read/read.h"

/* Few channels to fewer, pixel by pixel, in two sizes: two pixels at a time are quicker on
 * Ethos-U85, and not on U55. */
#define THIN(in, conv, scaled, places)                                                             \
    "  %" conv " = tosa.conv2d %" in ", %2, %3, %4, %4 pad=[0,0,0,0] stride=[1,1] dilation=[1,1] " \
    "local_bound=false acc_type=i32 : i32[1," places ",16]\n"                                      \
    "  %" scaled " = tosa.rescale %" conv ", %5, %6, %7, %4 scale32=true rounding_mode=single "    \
    "per_channel=false input_unsigned=false output_unsigned=false : i8[1," places ",16]\n"
static const char thin[] = "graph @main(%0: i8[1,112,112,32], %1: i8[1,64,64,32]) {\n"
                           "  %2 = const @bin(0) : i8[16,1,1,32]\n"
                           "  %3 = const [3] : i32[1]\n"
                           "  %4 = const [0] : i8[1]\n"
                           "  %5 = const [1073741824] : i32[1]\n"
                           "  %6 = const [40] : i8[1]\n"
                           "  %7 = const [0] : i32[1]\n" THIN("0", "8", "9", "112,112")
                               THIN("1", "10", "11", "64,64") "  return %9, %11\n}\n";

static tc_module *read_thin(tc_ctx *ctx)
{
    static uint8_t weight[16 * 32];
    tc_module *m = NULL;
    for (size_t i = 0; i < sizeof weight; i++)
        weight[i] = (uint8_t)(i * 37);
    CHECK(ti_read_bytes(ctx, "thin.ir", (tc_bytes){(const uint8_t *)thin, sizeof thin - 1},
                        (tc_bytes){weight, sizeof weight}, &m) == TC_OK);
    return m;
}

static size_t count(const tc_module *module, tc_op op)
{
    size_t n = 0;
    for (size_t k = 0; k < ti_main(module)->n_node; k++)
        n += ti_main(module)->node[k]->op == op;
    return n;
}

static const tc_pass *pass_named(const char *name)
{
    const tc_pass *p = tc_passes;
    while (p->name && strcmp(p->name, name) != 0)
        p++;
    return p;
}

/* How many pairs of shapes there are in the end. */
static size_t shapes_for(tc_ctx *ctx, const char *machine, const char *words)
{
    tc_target target;
    tc_verdicts *v = NULL;
    tc_module *m = read_thin(ctx);
    tc_buf text;
    CHECK(ti_target_parse(ctx, machine, &target) == TC_OK);
    CHECK(ti_verdicts_for(ctx, &target, NULL, NULL, NULL, &v) == TC_OK && v);
    CHECK(ti_choose(ctx, m, pass_named("pair-pixels"), v) == TC_OK);
    CHECK(!*ti_offer_now(ctx));
    CHECK(v->n == 2 && v->choice[0].places == 1 && v->choice[0].with != v->choice[0].without);
    CHECK(v->choice[0].taken == (v->choice[0].with <= v->choice[0].without));
    ti_buf_init(&text, &ctx->arena);
    ti_verdicts_text(v, &text);
    CHECK(strstr(ti_buf_cstr(&text), words) && strstr(ti_buf_cstr(&text), "i8[1,112,112,16]"));
    return count(m, TC_OP_tosa_reshape) / 2;
}

/* Kinds of places: one alone, or all but one. */
static void test_offers(tc_ctx *ctx)
{
    tc_module *m = read_thin(ctx), *one = ti_module_copy(m), *other = ti_module_copy(m);
    tc_offer all = {0};
    *ti_offer_now(ctx) = &all;
    CHECK(pass_named("pair-pixels")->run(ctx, m) == TC_OK);
    CHECK(all.n == 2 && count(m, TC_OP_tosa_reshape) == 4);
    CHECK(all.kind[0].key != all.kind[1].key);
    tc_offer only = {.only = true, .key = all.kind[1].key};
    *ti_offer_now(ctx) = &only;
    CHECK(pass_named("pair-pixels")->run(ctx, one) == TC_OK);
    CHECK(count(one, TC_OP_tosa_reshape) == 2);
    CHECK(only.n == 1 && only.kind[0].key == only.key);
    tc_offer but = {.refused = &all.kind[1].key, .n_refused = 1};
    *ti_offer_now(ctx) = &but;
    CHECK(pass_named("pair-pixels")->run(ctx, other) == TC_OK && but.n == 1);
    CHECK(but.kind[0].key == all.kind[0].key);
    *ti_offer_now(ctx) = NULL;
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    test_offers(ctx);
    CHECK(shapes_for(ctx, "ethos-u85-256", " used ") == 2);
    CHECK(shapes_for(ctx, "ethos-u55-128", " not ") == 0);
    tc_target target;
    tc_verdicts *none = NULL;
    CHECK(ti_target_parse(ctx, "vgf", &target) == TC_OK);
    CHECK(ti_verdicts_for(ctx, &target, NULL, NULL, NULL, &none) == TC_OK && !none);
    tc_ctx_free(ctx);
    return check_done();
}
