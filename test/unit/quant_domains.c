/* SPDX-License-Identifier: Apache-2.0 */
/* quant_domains.c -- which values have a domain, and which share one. */
#include "check.h"

#include <math.h>

#include "ir/ir_text.h"
#include "ir/verify.h"
#include "quant/quantizer.h"

typedef struct decided {
    tc_ctx *ctx;
    tc_module *module;
    tc_graph *g;
    tc_domains d;
} decided;

static decided decide(const char *inputs, const char *body, const char *preset)
{
    decided t = {.ctx = tc_ctx_new()};
    const char *text = ti_text_format(&t.ctx->arena, "graph @main(%s) {\n%s}\n", inputs, body);
    tc_config c;
    CHECK(ti_config_preset(preset, &c));
    bool good = ti_parse(t.ctx, "t.ir", (tc_bytes){(const uint8_t *)text, strlen(text)},
                         (tc_bytes){NULL, 0}, &t.module) == TC_OK &&
                ti_infer_missing(t.ctx, t.module) == TC_OK && ti_verify(t.ctx, t.module) == TC_OK &&
                ti_quant_decide(t.ctx, t.module, &c, NULL, &t.d) == TC_OK;
    if (!good)
        fprintf(stderr, "%s%s", text, tc_diagnostics(t.ctx));
    CHECK(good);
    t.g = ti_main(t.module);
    return t;
}

/* The domain of the value of that name; -1: it has none; -2: no such value. */
static int32_t of(const decided *t, const char *name)
{
    for (tc_val v = 1; v < t->g->n_val; v++)
        if (t->g->val[v]->name && ti_text_eq(t->g->val[v]->name, name))
            return t->d.of[v];
    return -2;
}

static const tc_domain *domain(const decided *t, const char *name)
{
    int32_t i = of(t, name);
    CHECK(i >= 0);
    return &t->d.domain[i];
}

#define SHARED(t, a, b) CHECK(of(&(t), a) >= 0 && of(&(t), a) == of(&(t), b))
#define APART(t, a, b) CHECK(of(&(t), a) >= 0 && of(&(t), b) >= 0 && of(&(t), a) != of(&(t), b))
#define REAL(t, a) CHECK(of(&(t), a) == -1)

/* y = op(x), x made by a mul and read by nothing else. */
static bool shares(const char *op)
{
    tc_ctx *text = tc_ctx_new();
    decided t =
        decide("%0 \"a\": f32[1,4,4,4]",
               ti_text_format(&text->arena,
                              "  %%1 \"x\" = mul %%0, %%0 : f32[1,4,4,4]\n  %%2 \"y\" = %s\n"
                              "  %%3 = abs %%2\n  return %%3\n",
                              op),
               "int8");
    bool same = of(&t, "x") == of(&t, "y") && of(&t, "x") >= 0 && of(&t, "a") != of(&t, "x");
    tc_ctx_free(t.ctx);
    tc_ctx_free(text);
    return same;
}

static void movement(void)
{
    static const char *const same[] = {
        "reshape %1 shape=[16,4]",
        "permute %1 perm=[0,2,3,1]",
        "slice %1 axis=1 start=0 end=2 step=1",
        "select %1 axis=1 index=0",
        "expand %1 shape=[3,4,4,4]",
        "flip %1 axes=[1]",
        "roll %1 shifts=[1] axes=[1]",
        "repeat %1 repeats=[2,1,1,1]",
        "pad %1 pad=[0,0,0,0,1,1,1,1] mode=constant value=0",
        "tril %1 diagonal=0",
        "max_pool %1 kernel=[2,2] stride=[2,2] pad=[0,0] dilation=[1,1] ceil=false",
        "identity %1",
        "amax %1 axes=[1] keepdim=true",
        "upsample_nearest %1 size=[8,8] scale=[] align_corners=false",
        "pixel_shuffle %1 factor=2",
    };
    static const char *const own[] = {
        "mean %1 axes=[2,3] keepdim=true",
        "relu %1",
        "adaptive_avg_pool %1 size=[1,1]",
        "neg %1",
        "upsample_linear %1 size=[8,8] scale=[] align_corners=false",
        "add %1, %0 alpha=1",
        "gelu %1 form=erf",
        "avg_pool %1 kernel=[2,2] stride=[2,2] pad=[0,0] ceil=false include_pad=true divisor=0",
    };
    for (size_t i = 0; i < TC_COUNT(same); i++) {
        bool one = shares(same[i]);
        if (!one)
            fprintf(stderr, "%s\n", same[i]);
        CHECK(one);
    }
    for (size_t i = 0; i < TC_COUNT(own); i++)
        CHECK(!shares(own[i]));
}

/* What waits for its clamp has no domain of its own. */
static void waiting(void)
{
    static const char weights[] = "  %1 = const [1,2,3,4] : f32[2,2]\n";
    tc_ctx *text = tc_ctx_new();
    static const char *const clamps[] = {"relu %2", "clamp %2 lo=0 hi=6", "clamp %2 lo=-1 hi=1"};
    for (size_t i = 0; i < TC_COUNT(clamps); i++) {
        decided t = decide("%0 \"x\": f32[3,2]",
                           ti_text_format(&text->arena,
                                          "%s  %%2 \"y\" = linear %%0, %%1\n  %%3 \"z\" = %s\n"
                                          "  return %%3\n",
                                          weights, clamps[i]),
                           "int8");
        REAL(t, "y");
        APART(t, "x", "z");
        CHECK(domain(&t, "z")->output);
        tc_ctx_free(t.ctx);
    }
    decided t = decide("%0 \"x\": f32[3,2]",
                       ti_text_format(&text->arena,
                                      "%s  %%2 \"y\" = linear %%0, %%1\n  %%3 \"z\" = relu %%2\n"
                                      "  return %%2, %%3\n",
                                      weights),
                       "int8");
    APART(t, "y", "z"); /* somebody else reads it */
    tc_ctx_free(t.ctx);
    for (int both = 0; both < 2; both++) { /* turned before it is clamped, or turned and read */
        t = decide("%0 \"x\": f32[3,2]",
                   ti_text_format(&text->arena,
                                  "%s  %%2 \"y\" = linear %%0, %%1\n"
                                  "  %%3 \"t\" = permute %%2 perm=[1,0]\n"
                                  "  %%4 \"z\" = clamp %%3 lo=0 hi=6\n  return %s%%4\n",
                                  weights, both ? "%3, " : ""),
                   "int8");
        if (both) {
            SHARED(t, "y", "t");
            APART(t, "t", "z");
        } else {
            REAL(t, "y");
            REAL(t, "t");
        }
        tc_ctx_free(t.ctx);
    }
    t = decide("%0 \"x\": f32[3,2]",
               "  %1 \"y\" = add %0, %0 alpha=1\n  %2 \"z\" = relu %1\n  return %2\n", "int8");
    REAL(t, "y");
    tc_ctx_free(t.ctx);
    t = decide("%0 \"x\": f32[3,2]",
               ti_text_format(&text->arena,
                              "%s  %%2 \"y\" = linear %%0, %%1\n  %%3 \"z\" = gelu %%2 form=erf\n"
                              "  return %%3\n",
                              weights),
               "int8");
    APART(t, "y", "z");
    CHECK(domain(&t, "y")->after && domain(&t, "y")->after->op == TC_OP_gelu &&
          !domain(&t, "z")->after);
    tc_ctx_free(t.ctx);
    tc_ctx_free(text);
}

/* Parts of a cat wait for their ranges: those that nobody else reads join it unless it is to have
 * 16 bits, others when their scale would hardly grow. */
static void joining(void)
{
    decided t =
        decide("%0 \"a\": f32[2,2], %1 \"b\": f32[2,2]",
               "  %2 \"x\" = exp %0\n  %3 \"y\" = exp %1\n  %4 \"xr\" = reshape %2 shape=[2,2]\n"
               "  %5 \"c\" = cat %4, %3 axis=0\n  %6 = abs %3\n  return %5, %6\n",
               "int8");
    SHARED(t, "x", "xr");
    APART(t, "x", "c");
    APART(t, "y", "c");
    CHECK(t.d.n_join == 2);
    int32_t alone = of(&t, "x"), part = of(&t, "y"), whole = of(&t, "c");
    double *lo = tc_new_n(&t.ctx->arena, double, t.d.n),
           *hi = tc_new_n(&t.ctx->arena, double, t.d.n);
    hi[alone] = hi[part] = 3;
    hi[whole] = 20;
    ti_quant_merge_domains(t.ctx, &t.d, lo, hi);
    SHARED(t, "x", "c");
    APART(t, "y", "c"); /* one scale would cost too much */
    CHECK(domain(&t, "c")->setting.dtype == TC_i8 && domain(&t, "c")->output);
    hi[part] = 16;
    ti_quant_merge_domains(t.ctx, &t.d, lo, hi);
    SHARED(t, "y", "c");
    CHECK(t.d.domain[whole].joined == alone && t.d.domain[part].joined == alone);
    CHECK(domain(&t, "c")->n_val == 4);
    tc_ctx_free(t.ctx);
    t = decide("%0 \"a\": f32[2,2], %1 \"b\": f32[2,2]",
               "  %2 \"x\" = exp %0\n  %3 \"y\" = exp %1\n  %5 \"c\" = cat %2, %3 axis=0\n  %6 = "
               "abs %3\n  return %5, %6\n",
               "anchor");
    SHARED(t, "y", "c"); /* the anchor always shares */
    tc_ctx_free(t.ctx);
    t = decide("%0 \"a\": f32[1,2,8]",
               "  %1 \"x\" = exp %0\n"
               "  %2 \"m\" = max_pool %1 kernel=[2] stride=[2] pad=[0] dilation=[1] ceil=false "
               "loc(node=\"m\", target=\"aten.max_pool1d.default\")\n  %3 \"n\" = max_pool %2 "
               "kernel=[2] stride=[2] pad=[0] dilation=[1] ceil=false\n  return %3\n",
               "anchor");
    APART(t, "x", "m"); /* but not over this */
    SHARED(t, "m", "n");
    tc_ctx_free(t.ctx);
}

static const char attention[] =
    "  %2 \"qk\" = matmul %0, %1\n  %3 = const 0.125 : f32[]\n  %4 \"scaled\" = mul %2, %3\n"
    "  %5 \"mask\" = const [0,-inf,0,0] : f32[2,2]\n  %6 \"masked\" = add %4, %5 alpha=1\n"
    "  %7 \"p\" = softmax %6 axis=1\n  %8 \"o\" = matmul %7, %1\n  return %8\n";

static void scores(void)
{
    decided t = decide("%0 \"q\": f32[2,2], %1 \"k\": f32[2,2]", attention, "int8");
    CHECK(domain(&t, "qk")->setting.dtype == TC_i16 &&
          domain(&t, "masked")->setting.dtype == TC_i16);
    CHECK(domain(&t, "scaled")->setting.dtype == TC_i16 && domain(&t, "q")->setting.dtype == TC_i8);
    CHECK(domain(&t, "scaled")->base == of(&t, "qk") && domain(&t, "scaled")->factor == 0.125);
    const tc_domain *p = domain(&t, "p");
    CHECK(p->fixed_range && p->scale == 1.0 / 256 && p->zero == -128 && p->setting.dtype == TC_i8);
    REAL(t, "mask");
    tc_ctx_free(t.ctx);
    t = decide("%0 \"q\": f32[2,2], %1 \"k\": f32[2,2]",
               "  %2 \"qk\" = matmul %0, %1\n  %3 \"p\" = softmax %2 axis=1\n"
               "  return %2, %3\n",
               "int8");
    CHECK(domain(&t, "qk")->setting.dtype ==
          TC_i8); /* somebody else reads it: a classifier's head */
    tc_ctx_free(t.ctx);
}

static void natural(void)
{
    decided t = decide(
        "%0 \"x\": f32[4]",
        "  %1 \"s\" = sigmoid %0\n  %2 \"t\" = tanh %0\n  %3 \"r\" = reshape %1 shape=[2,2]\n"
        "  return %3, %2\n",
        "int8");
    CHECK(domain(&t, "t")->fixed_range && domain(&t, "t")->scale == 2.0 / 256 &&
          domain(&t, "t")->zero == 0);
    CHECK(domain(&t, "r")->fixed_range && domain(&t, "r")->zero == -128);
    SHARED(t, "s", "r");
    tc_ctx_free(t.ctx);
    t = decide("%0 \"x\": f32[4]", "  %1 \"s\" = sigmoid %0\n  return %1\n", "a16w8");
    CHECK(domain(&t, "s")->scale == 1.0 / 32768 && domain(&t, "s")->zero == 0);
    tc_ctx_free(t.ctx);
    t = decide("%0 \"x\": f32[4]", "  %1 \"s\" = sigmoid %0\n  return %1\n", "anchor");
    CHECK(!domain(&t, "s")->fixed_range);
    tc_ctx_free(t.ctx);
    t = decide("%0 \"x\": f32[4], %1 \"y\": f32[4]",
               "  %2 \"s\" = sigmoid %0\n  %3 \"e\" = exp %1\n"
               "  %4 \"c\" = cat %2, %3 axis=0\n  return %4\n",
               "int8");
    CHECK(!domain(&t, "c")->fixed_range && t.d.n_join == 2); /* others meet it */
    double lo[5] = {0}, hi[5] = {1, 1, 1, 1, 1};
    ti_quant_merge_domains(t.ctx, &t.d, lo, hi);
    SHARED(t, "s", "c");
    CHECK(!domain(&t, "c")->fixed_range);
    tc_ctx_free(t.ctx);
    t = decide("%0 \"x\": f32[4], %1 \"y\": f32[4]",
               "  %2 \"s\" = sigmoid %0\n  %3 \"e\" = mul %1, %1\n"
               "  %4 \"c\" = cat %2, %3 axis=0\n  return %4\n",
               "int8");
    double far[5] = {0};
    far[of(&t, "s")] = 1;
    far[of(&t, "e")] = far[of(&t, "c")] = 9; /* boxes beside scores */
    ti_quant_merge_domains(t.ctx, &t.d, lo, far);
    APART(t, "s", "c");
    SHARED(t, "e", "c");
    CHECK(domain(&t, "c")->setting.dtype == TC_i16 && domain(&t, "s")->setting.dtype == TC_i8);
    tc_ctx_free(t.ctx);
    t = decide("%0 \"x\": f32[4,2], %1 \"y\": f32[4,2]",
               "  %2 \"s\" = sigmoid %0\n  %3 \"e\" = exp %1\n  %4 \"c\" = cat %2, %3 axis=0\n"
               "  %5 = const [1,2,3,4] : f32[2,2]\n  %6 = linear %4, %5\n  return %6\n",
               "int8");
    ti_quant_merge_domains(t.ctx, &t.d, lo, far);
    SHARED(t, "s", "c"); /* a product takes 8 bits */
    CHECK(domain(&t, "c")->setting.dtype == TC_i8);
    tc_ctx_free(t.ctx);
}

/* Boxes and scores of two levels, one of which somebody computes with: the cats have the bits that
 * both need, through movement and other cats, and the parts codes of their own. */
static void levels(void)
{
    static const char *const end[] = {"return %13", "%14 = add %13, %13 alpha=1\n  return %14",
                                      "%14 = exp %13\n  return %14"};
    static const tc_dtype bits[] = {TC_i32, TC_i16, TC_i8};
    tc_ctx *text = tc_ctx_new();
    for (size_t i = 0; i < TC_COUNT(end); i++) {
        decided t = decide(
            "%0 \"x\": f32[2,2], %1 \"y\": f32[2,2]",
            ti_text_format(&text->arena,
                           "  %%2 = const 300 : f32[]\n  %%3 \"s\" = sigmoid %%0\n"
                           "  %%4 \"e\" = mul %%0, %%1\n  %%5 \"c\" = cat %%3, %%4 axis=1\n"
                           "  %%6 \"r\" = reshape %%5 shape=[4,2]\n  %%7 \"u\" = tanh %%1\n"
                           "  %%8 \"f\" = mul %%1, %%1\n  %%9 = exp %%7\n"
                           "  %%10 \"d\" = stack %%7, %%8 axis=2\n"
                           "  %%11 = reshape %%10 shape=[4,2]\n"
                           "  %%12 \"p\" = permute %%11 perm=[0,1]\n"
                           "  %%13 \"o\" = cat %%6, %%12 axis=0\n  %s\n",
                           end[i]),
            "int8");
        double *lo = tc_new_n(&text->arena, double, t.d.n),
               *hi = tc_new_n(&text->arena, double, t.d.n);
        hi[of(&t, "s")] = hi[of(&t, "u")] = 1;
        hi[of(&t, "e")] = hi[of(&t, "c")] = hi[of(&t, "o")] = 300;
        hi[of(&t, "f")] = hi[of(&t, "d")] = 200;
        ti_quant_merge_domains(t.ctx, &t.d, lo, hi);
        CHECK(domain(&t, "c")->setting.dtype == bits[i]);
        CHECK(domain(&t, "d")->setting.dtype == bits[i]);
        CHECK(domain(&t, "o")->setting.dtype == bits[i]);
        SHARED(t, "c", "o");
        SHARED(t, "d", "o");
        CHECK((of(&t, "s") == of(&t, "c")) == (bits[i] == TC_i8));
        APART(t, "u", "d"); /* read elsewhere */
        CHECK((of(&t, "e") == of(&t, "c")) == (bits[i] != TC_i32));
        CHECK(domain(&t, "s")->setting.dtype == TC_i8);
        CHECK(bits[i] != TC_i32 || (domain(&t, "f")->output && !domain(&t, "u")->output));
        tc_ctx_free(t.ctx);
    }
    tc_ctx_free(text);
}

/* Integers, booleans and what is known beforehand have no domain; a setting of none leaves
 * everything real. */
static void left_alone(void)
{
    decided t = decide("%0 \"x\": f32[4], %1 \"i\": i64[2]",
                       "  %2 \"f\" = full shape=[4] value=2 dtype=f32\n"
                       "  %3 \"y\" = mul %0, %2\n  %4 \"b\" = gt %3, %0\n"
                       "  %5 \"z\" = index %3, %1\n  return %4, %5, %2\n",
                       "int8");
    REAL(t, "f");
    REAL(t, "b");
    REAL(t, "i");
    SHARED(t, "y", "z");
    tc_ctx_free(t.ctx);
    t = decide("%0 \"x\": f32[4]", "  %1 \"y\" = exp %0\n  return %1\n", "none");
    CHECK(t.d.n == 0);
    tc_ctx_free(t.ctx);
    t = decide("%0 \"x\": f32[4]", "  %1 \"y\" = reshape %0 shape=[2,2]\n  return %1\n", "int8");
    SHARED(t, "x", "y"); /* nothing is computed, and what is moved are codes */
    tc_ctx_free(t.ctx);
}

/* The same network written down in another order has the same classes. */
static void any_order(void)
{
    static const char *const body[] = {"  %2 = const [1,2,3,4] : f32[2,2]\n  %3 \"p\" = linear %0, "
                                       "%2\n  %4 \"pr\" = relu %3\n  %5 \"q\" = linear %1, %2\n"
                                       "  %6 \"qr\" = relu %5\n  %7 \"c\" = cat %4, %6 axis=0\n  "
                                       "%8 \"s\" = add %4, %6 alpha=1\n  return %7, %8\n",
                                       "  %2 = const [1,2,3,4] : f32[2,2]\n  %3 \"q\" = linear %1, "
                                       "%2\n  %4 \"p\" = linear %0, %2\n  %5 \"qr\" = relu %3\n"
                                       "  %6 \"pr\" = relu %4\n  %7 \"s\" = add %6, %5 alpha=1\n  "
                                       "%8 \"c\" = cat %6, %5 axis=0\n  return %8, %7\n"};
    static const char *const name[] = {"x", "y", "p", "q", "pr", "qr", "c", "s"};
    decided t[2];
    for (int i = 0; i < 2; i++)
        t[i] = decide("%0 \"x\": f32[2,2], %1 \"y\": f32[2,2]", body[i], "int8");
    for (size_t a = 0; a < TC_COUNT(name); a++) {
        CHECK((of(&t[0], name[a]) < 0) == (of(&t[1], name[a]) < 0));
        for (size_t b = 0; b < TC_COUNT(name); b++)
            CHECK((of(&t[0], name[a]) == of(&t[0], name[b])) ==
                  (of(&t[1], name[a]) == of(&t[1], name[b])));
    }
    CHECK(t[0].d.n_join == t[1].d.n_join && t[0].d.n_join == 2);
    REAL(t[1], "p");
    for (int i = 0; i < 2; i++)
        tc_ctx_free(t[i].ctx);
}

/* Where it is asked whether a number is one, it stays in float with what made it; what follows from
 * a product is taken as finite. */
static void asked(void)
{
    decided t = decide("%0 \"x\": f32[2,2]",
                       "  %1 = const [1,2,3,4] : f32[2,2]\n  %2 \"l\" = log %0\n"
                       "  %3 \"m\" = abs %2\n  %4 = isnan %3\n  %5 \"p\" = linear %0, %1\n"
                       "  %6 = isfinite %5\n  %7 \"s\" = sqrt %5\n  %8 = ne %7, %7\n"
                       "  %9 \"u\" = abs %5\n  %10 \"v\" = add %7, %9 alpha=1\n"
                       "  return %4, %6, %8, %10\n",
                       "int8");
    REAL(t, "l");
    REAL(t, "m");
    CHECK(of(&t, "p") >= 0 && of(&t, "u") >= 0 && of(&t, "v") >= 0);
    CHECK(of(&t, "s") >= 0); /* read by a sum in codes, too; but computed in float */
    tc_ctx_free(t.ctx);
    /* whole numbers and equality: exact as far as the inputs, not behind a product */
    t = decide("%0 \"x\": f32[2,2]",
               "  %1 = const [1,2,3,4] : f32[2,2]\n  %2 \"m\" = mul %0, %1\n"
               "  %3 = cast %2 dtype=i32\n  %4 \"p\" = linear %0, %1\n  %5 \"q\" = mul %4, %1\n"
               "  %6 = cast %5 dtype=i32\n  %7 = ne %2, %1\n  return %3, %6, %7\n",
               "int8");
    REAL(t, "m");
    CHECK(of(&t, "p") >= 0 && of(&t, "q") >= 0);
    tc_ctx_free(t.ctx);
    /* what is far from zero is brought back before it has codes */
    t = decide("%0 \"t\": i64[4]",
               "  %1 \"f\" = cast %0 dtype=f32\n  %2 = const 1600000000000 : f32[]\n"
               "  %3 \"d\" = sub %1, %2 alpha=1\n  %4 = const 1e-11 : f32[]\n"
               "  %5 \"m\" = mul %3, %4\n  return %5\n",
               "int8");
    REAL(t, "f");
    CHECK(of(&t, "d") >= 0 && of(&t, "m") >= 0);
    tc_ctx_free(t.ctx);
    static const char *const asks[] = {"isinf %1", "isnan %1", "fmax %1, %0", "ne %1, %1",
                                       "nan_to_num %1 nan=0 posinf=9 neginf=-9"};
    for (size_t i = 0; i < TC_COUNT(asks); i++) {
        tc_ctx *text = tc_ctx_new();
        t = decide("%0 \"x\": f32[2,2]",
                   ti_text_format(&text->arena,
                                  "  %%1 \"r\" = reciprocal %%0\n  %%2 = %s\n  return %%2\n",
                                  asks[i]),
                   "int8");
        REAL(t, "r");
        REAL(t, "x");
        tc_ctx_free(t.ctx);
        tc_ctx_free(text);
    }
}

/* Two layers of the input, squared and added, then `rest`, the last value %9. */
static decided spectrum(const char *first, const char *rest)
{
    tc_ctx *text = tc_ctx_new();
    decided t = decide("%0 \"x\": f32[4,8]",
                       ti_text_format(&text->arena,
                                      "  %%1 = const [1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, "
                                      "-1] : f32[2,8]\n  %%20 \"in\" = %s\n"
                                      "  %%2 \"re\" = linear %%20, %%1 : f32[4,2]\n"
                                      "  %%3 \"im\" = linear %%20, %%1 : f32[4,2]\n"
                                      "  %%4 \"re2\" = mul %%2, %%2 : f32[4,2]\n"
                                      "  %%5 \"im2\" = mul %%3, %%3 : f32[4,2]\n"
                                      "  %%6 \"p\" = add %%4, %%5 alpha=1 : f32[4,2]\n"
                                      "%s  return %%9\n",
                                      first, rest),
                       "int8");
    tc_ctx_free(text);
    return t;
}

#define BANDS(weights)                                                                             \
    "  %7 = const " weights " : f32[1,2]\n  %8 \"m\" = linear %6, %7 : f32[4,1]\n"                 \
    "  %9 \"y\" = log %8 : f32[4,1]\n"

/* From the squares to the logarithm 32 bits, what leads to them 16. */
static void spectra(void)
{
    decided t = spectrum("neg %0 : f32[4,8]", BANDS("[0.5, 1]"));
    static const char *const wide[] = {"re", "im", "re2", "im2", "p", "m"};
    for (size_t i = 0; i < TC_COUNT(wide); i++)
        CHECK_ROW(wide[i], domain(&t, wide[i])->setting.dtype == TC_i32);
    CHECK(domain(&t, "x")->setting.dtype == TC_i16 && domain(&t, "in")->setting.dtype == TC_i16);
    CHECK(domain(&t, "y")->setting.dtype == TC_i8);
    SHARED(t, "re", "im");
    tc_ctx_free(t.ctx);

    static const struct {
        const char *name, *first, *rest;
    } others[] = {
        {"weights of both signs", "neg %0 : f32[4,8]", BANDS("[0.5, -1]")},
        {"no front end", "tanh %0 : f32[4,8]", BANDS("[0.5, 1]")},
        {"no logarithm", "neg %0 : f32[4,8]", "  %9 \"y\" = tanh %6 : f32[4,2]\n"},
        {"another reader", "neg %0 : f32[4,8]",
         "  %7 = tanh %6 : f32[4,2]\n  %8 = log %6 : f32[4,2]\n  %9 \"y\" = mul %7, %8 : "
         "f32[4,2]\n"},
    };
    for (size_t i = 0; i < TC_COUNT(others); i++) {
        decided o = spectrum(others[i].first, others[i].rest);
        CHECK_ROW(others[i].name, domain(&o, "p")->setting.dtype == TC_i8 &&
                                      domain(&o, "x")->setting.dtype == TC_i8);
        tc_ctx_free(o.ctx);
    }
}

int main(void)
{
    movement();
    spectra();
    asked();
    waiting();
    joining();
    scores();
    natural();
    levels();
    left_alone();
    any_order();
    return check_done();
}
