/* SPDX-License-Identifier: Apache-2.0 */
/* choose.c -- formulations that are offered: taken where they cost less, left where not, for one
 * machine and for another. */
#include "check.h"

#include "drive/choose.h"
#include "lower/layout/offer.h"
#include "npu/npu_machine.h"
#include "read/read.h"

/* A row of 32-bit numbers whose rescale nothing takes in: on Ethos-U85 ADD 0
 * does, Ethos-U55 changes scales as quickly as it adds. */
static const char rows[] =
    "graph @main(%0: i32[1,1,512,1], %1: i32[1,1,512,1], %2: i32[1,1,16,1]) {\n"
    "  %3 = tosa.logical_left_shift %0, %1 : i32[1,1,512,1]\n"
    "  %4 = const [1073741824] : i32[1]\n"
    "  %5 = const [46] : i8[1]\n"
    "  %6 = const [0] : i32[1]\n"
    "  %7 = const [0] : i16[1]\n"
    "  %8 = tosa.rescale %3, %4, %5, %6, %7 scale32=true rounding_mode=single per_channel=false "
    "input_unsigned=false output_unsigned=false : i16[1,1,512,1]\n"
    "  %9 = tosa.clz %2 : i32[1,1,16,1]\n"
    "  %10 = tosa.rescale %9, %4, %5, %6, %7 scale32=true rounding_mode=single per_channel=false "
    "input_unsigned=false output_unsigned=false : i16[1,1,16,1]\n"
    "  return %8, %10\n"
    "}\n";

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

/* How many sums there are in the end. */
static size_t sums_for(tc_ctx *ctx, const char *machine, const char *words)
{
    tc_target target;
    tc_verdicts *v = NULL;
    tc_module *m = NULL;
    tc_buf text;
    CHECK(ti_target_parse(ctx, machine, &target) == TC_OK);
    CHECK(ti_verdicts_for(ctx, &target, NULL, NULL, NULL, &v) == TC_OK && v);
    CHECK(ti_read_bytes(ctx, "rows.ir", (tc_bytes){(const uint8_t *)rows, sizeof rows - 1},
                        (tc_bytes){0}, &m) == TC_OK);
    CHECK(ti_choose(ctx, m, pass_named("add-zero-before-rescale"), v) == TC_OK);
    CHECK(!*ti_offer_now(ctx));
    CHECK(v->n == 2 && v->choice[0].places == 1 && v->choice[0].with != v->choice[0].without);
    CHECK(v->choice[0].taken == (v->choice[0].with <= v->choice[0].without));
    ti_buf_init(&text, &ctx->arena);
    ti_verdicts_text(v, &text);
    CHECK(strstr(ti_buf_cstr(&text), words) && strstr(ti_buf_cstr(&text), "i16[1,1,512,1]"));
    return count(m, TC_OP_tosa_add);
}

/* Kinds of places: one alone, or all but one. */
static void test_offers(tc_ctx *ctx)
{
    tc_module *m = NULL;
    CHECK(ti_read_bytes(ctx, "rows.ir", (tc_bytes){(const uint8_t *)rows, sizeof rows - 1},
                        (tc_bytes){0}, &m) == TC_OK);
    tc_module *one = ti_module_copy(m), *other = ti_module_copy(m);
    tc_offer all = {0};
    *ti_offer_now(ctx) = &all;
    CHECK(pass_named("add-zero-before-rescale")->run(ctx, m) == TC_OK);
    CHECK(all.n == 2 && count(m, TC_OP_tosa_add) == 2);
    CHECK(all.kind[0].key != all.kind[1].key);
    tc_offer only = {.only = true, .key = all.kind[1].key};
    *ti_offer_now(ctx) = &only;
    CHECK(pass_named("add-zero-before-rescale")->run(ctx, one) == TC_OK);
    CHECK(count(one, TC_OP_tosa_add) == 1);
    CHECK(only.n == 1 && only.kind[0].key == only.key);
    tc_offer but = {.refused = &all.kind[1].key, .n_refused = 1};
    *ti_offer_now(ctx) = &but;
    CHECK(pass_named("add-zero-before-rescale")->run(ctx, other) == TC_OK && but.n == 1);
    CHECK(but.kind[0].key == all.kind[0].key);
    *ti_offer_now(ctx) = NULL;
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    test_offers(ctx);
    CHECK(sums_for(ctx, "ethos-u85-256", " used ") == 2);
    CHECK(sums_for(ctx, "ethos-u55-256", " not ") == 0);
    tc_target target;
    tc_verdicts *none = NULL;
    CHECK(ti_target_parse(ctx, "vgf", &target) == TC_OK);
    CHECK(ti_verdicts_for(ctx, &target, NULL, NULL, NULL, &none) == TC_OK && !none);
    tc_ctx_free(ctx);
    return check_done();
}
