/* SPDX-License-Identifier: Apache-2.0 */
/* sizes.c -- programs of several sizes as one: formulas, and what cannot be said. */
#include "check.h"

#include <stdlib.h>

#include "drive/many_sizes.h"
#include "ir/ir_text.h"
#include "num/load.h"
#include "run/eval.h"

/* The text of a program at a size. */
typedef const char *at_size(tc_arena *arena, int64_t n);

static tc_module *parsed(tc_ctx *ctx, const char *text)
{
    tc_module *module = NULL;
    tc_bytes bytes = {(const uint8_t *)text, strlen(text)};
    if (ti_parse(ctx, "t.ir", bytes, (tc_bytes){NULL, 0}, &module) != TC_OK ||
        ti_verify(ctx, module) != TC_OK) {
        fprintf(stderr, "%s\n%s", text, tc_diagnostics(ctx));
        exit(1);
    }
    return module;
}

enum { LEAST = 3, MOST = 20 };

/* Made of some sizes: MOST first, then others. */
static tc_status general(tc_ctx *ctx, at_size *text, tc_module **out)
{
    static const int64_t sizes[] = {MOST, 7, 10, 13, 6, 9, 4, 15};
    tc_aligned a = {.ctx = ctx, .n_point = TC_COUNT(sizes), .n_fit = TC_COUNT(sizes) - 2};
    for (size_t p = 0; p < a.n_point; p++) {
        a.module[p] = parsed(ctx, text(&ctx->arena, sizes[p]));
        a.text[p] = ti_text_format(&ctx->arena, "n=%d", (int)sizes[p]);
    }
    TC_TRY(ti_align(&a));
    const tc_size_bound bound = {"n", 0, 1, 1, 0, LEAST, MOST};
    TC_TRY(ti_generalize(&a, &bound, 1, out));
    return ti_verify(ctx, *out);
}

/* The general program at a size, or NULL. */
static tc_module *filled(tc_ctx *ctx, const tc_module *m, int64_t n)
{
    tc_module *out = NULL;
    const tc_graph *g = ti_main(m);
    tc_type type = *ti_type_of(g, g->in[0]);
    type.dim[1] = n;
    const tc_type *in = ti_type_intern(ctx, &type);
    return ti_at_sizes(m, &in, &out) == TC_OK ? out : NULL;
}

static bool same_results(tc_ctx *ctx, tc_module *x, tc_module *y)
{
    const tc_graph *g = ti_main(y);
    tc_tensor in = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[0])), a[2], b[2];
    for (int64_t i = 0; i < tc_type_count(in.type); i++)
        ti_store_f64(in, i, (double)(i * 7 % 23) - 11);
    return ti_eval(ti_main(x), &in, a, &ctx->arena) == TC_OK &&
           ti_eval(ti_main(y), &in, b, &ctx->arena) == TC_OK && a[0].type == b[0].type &&
           !memcmp(a[0].data, b[0].data, tc_type_bytes(a[0].type));
}

static bool holds_at_all(const char *name, at_size *text)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *m = NULL;
    bool good = general(ctx, text, &m) == TC_OK;
    for (int64_t n = LEAST; good && n <= MOST; n++) {
        tc_module *f = filled(ctx, m, n);
        good = f && same_results(ctx, f, parsed(ctx, text(&ctx->arena, n)));
        if (!good)
            fprintf(stderr, "%s at %d\n", name, (int)n);
    }
    good = good && !filled(ctx, m, MOST + 1) && !filled(ctx, m, LEAST - 1);
    if (!m)
        fprintf(stderr, "%s: %s", name, tc_diagnostics(ctx));
    tc_ctx_free(ctx);
    return good;
}

/* ---- programs ---- */

#define N "%" PRId64

static const char *flat(tc_arena *a, int64_t n)
{
    return ti_text_format(a, "graph @main(%%0 \"x\": f32[2," N ",3]) {\n"
                             "  %%1 = const [" N ", 3] : shape[2]\n"
                             "  %%2 = tosa.reshape %%0, %%1 : f32[" N ",3]\n  return %%2\n}\n",
                          n, 2 * n, 2 * n);
}

static const char *halves(tc_arena *a, int64_t n)
{
    int64_t half = n / 2;
    return ti_text_format(a, "graph @main(%%0 \"x\": f32[1," N "]) {\n"
                             "  %%1 = const [0, " N "] : shape[2]\n"
                             "  %%2 = const [1, " N "] : shape[2]\n"
                             "  %%3 = tosa.slice %%0, %%1, %%2 : f32[1," N "]\n  return %%3\n}\n",
                          n, half, n - half, n - half);
}

static const char *squares(tc_arena *a, int64_t n)
{
    return ti_text_format(a, "graph @main(%%0 \"x\": f32[1," N ",1]) {\n"
                             "  %%1 = const [1, 1, " N "] : shape[3]\n"
                             "  %%2 = tosa.tile %%0, %%1 : f32[1," N "," N "]\n"
                             "  %%3 = const [" N "] : shape[1]\n"
                             "  %%4 = tosa.reshape %%2, %%3 : f32[" N "]\n  return %%4\n}\n",
                          n, n, n, n, n * n, n * n);
}

/* A slice that changes nothing is left out, as the road leaves it out: multiples of three. */
static const char *cropped(tc_arena *a, int64_t n)
{
    int64_t whole = n - n % 3;
    if (whole == n)
        return ti_text_format(a, "graph @main(%%0 \"x\": f32[1," N "]) {\n"
                                 "  %%1 = tosa.abs %%0 : f32[1," N "]\n  return %%1\n}\n", n, n);
    return ti_text_format(a, "graph @main(%%0 \"x\": f32[1," N "]) {\n"
                             "  %%1 = const [0, 0] : shape[2]\n"
                             "  %%2 = const [1, " N "] : shape[2]\n"
                             "  %%3 = tosa.slice %%0, %%1, %%2 : f32[1," N "]\n"
                             "  %%4 = tosa.abs %%3 : f32[1," N "]\n  return %%4\n}\n",
                          n, whole, whole, whole);
}

/* Padding that depends on whether a size is even, and a pool over everything. */
static const char *windows(tc_arena *a, int64_t n)
{
    int64_t pad = n % 2, out = (n + 1 + pad - 3) / 2 + 1;
    return ti_text_format(
        a, "graph @main(%%0 \"x\": f32[1," N ",1,1]) {\n"
           "  %%1 = const [1, 2, 3] : f32[1,3,1,1]\n  %%2 = const [0] : f32[1]\n"
           "  %%3 = tosa.conv2d %%0, %%1, %%2, %%2, %%2 pad=[1," N ",0,0] stride=[2,1] "
           "dilation=[1,1] local_bound=false acc_type=f32 : f32[1," N ",1,1]\n"
           "  %%4 = tosa.max_pool2d %%3 kernel=[" N ",1] stride=[1,1] pad=[0,0,0,0] "
           "nan_mode=propagate : f32[1,1,1,1]\n"
           "  %%5 = tosa.avg_pool2d %%3, %%2, %%2 kernel=[" N ",1] stride=[1,1] pad=[0,0,0,0] "
           "acc_type=f32 : f32[1,1,1,1]\n"
           "  %%6 = tosa.add %%4, %%5 : f32[1,1,1,1]\n  return %%6\n}\n",
        n, pad, out, out, out);
}

static const char *list_of(tc_arena *a, int64_t n, double (*number)(int64_t i, int64_t n))
{
    const char *text = "";
    for (int64_t i = 0; i < n; i++)
        text = ti_text_format(a, "%s%s%g", text, i ? ", " : "", number(i, n));
    return text;
}

static double from_front(int64_t i, int64_t n) { (void)n; return (double)(i * i % 11); }
static double from_back(int64_t i, int64_t n) { return (double)((n - i) * (n - i) % 11); }
static double always_half(int64_t i, int64_t n) { (void)i, (void)n; return 0.5; }
static double ramp(int64_t i, int64_t n) { return (double)i / (double)n; }

static const char *with_constant(tc_arena *a, int64_t n, double (*number)(int64_t i, int64_t n))
{
    return ti_text_format(a, "graph @main(%%0 \"x\": f32[1," N "]) {\n"
                             "  %%1 = const [%s] : f32[1," N "]\n"
                             "  %%2 = tosa.add %%0, %%1 : f32[1," N "]\n  return %%2\n}\n",
                          n, list_of(a, n, number), n, n);
}

static const char *table(tc_arena *a, int64_t n) { return with_constant(a, n, from_front); }
static const char *table_end(tc_arena *a, int64_t n) { return with_constant(a, n, from_back); }
static const char *repeated(tc_arena *a, int64_t n) { return with_constant(a, n, always_half); }
static const char *ramps(tc_arena *a, int64_t n) { return with_constant(a, n, ramp); }

static const char *mean(tc_arena *a, int64_t n)
{
    char part[32];
    snprintf(part, sizeof part, "%.9g", (double)(1.0f / (float)n));
    return ti_text_format(a, "graph @main(%%0 \"x\": f32[1," N "]) {\n"
                             "  %%1 = tosa.reduce_sum %%0 axis=1 : f32[1,1]\n"
                             "  %%2 = const [%s] : f32[1,1]\n  %%3 = const [0] : i8[1]\n"
                             "  %%4 = tosa.mul %%1, %%2, %%3 : f32[1,1]\n  return %%4\n}\n",
                          n, part);
}

static const char *divided(tc_arena *a, int64_t n)
{
    return ti_text_format(a, "graph @main(%%0 \"x\": i32[1," N "]) {\n"
                             "  %%1 = tosa.reduce_sum %%0 axis=1 : i32[1,1]\n"
                             "  %%2 = const [" N "] : i32[1,1]\n"
                             "  %%3 = tosa.intdiv %%1, %%2 : i32[1,1]\n  return %%3\n}\n",
                          n, 3 * n + 1);
}

/* RESCALE's factor is a constant of the program. */
static const char *rescaled(tc_arena *a, int64_t n)
{
    return ti_text_format(
        a, "graph @main(%%0 \"x\": i32[1," N "]) {\n"
           "  %%1 = const [" N "] : i32[1]\n  %%2 = const [40] : i8[1]\n"
           "  %%3 = const [0] : i32[1]\n"
           "  %%4 = tosa.rescale %%0, %%1, %%2, %%3, %%3 scale32=true rounding_mode=double "
           "per_channel=false input_unsigned=false output_unsigned=false : i32[1," N "]\n"
           "  return %%4\n}\n",
        n, (1 << 30) + n, n);
}

/* As many nodes as the size says. */
static const char *unrolled(tc_arena *a, int64_t n)
{
    const char *text = ti_text_format(a, "graph @main(%%0 \"x\": f32[1," N "]) {\n", n);
    for (int64_t i = 0; i < n; i++)
        text = ti_text_format(a, "%s  %%" N " = tosa.abs %%" N " : f32[1," N "]\n", text, i + 1, i, n);
    return ti_text_format(a, "%s  return %%" N "\n}\n", text, n);
}

static const char *primes(tc_arena *a, int64_t n)
{
    static const int64_t prime[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31,
                                    37, 41, 43, 47, 53, 59, 61, 67, 71, 73};
    return ti_text_format(a, "graph @main(%%0 \"x\": f32[1," N "]) {\n"
                             "  %%1 = const [" N ", 1] : shape[2]\n"
                             "  %%2 = tosa.tile %%0, %%1 : f32[" N "," N "]\n  return %%2\n}\n",
                          n, prime[n], prime[n], n);
}

static bool refused(at_size *text, const char *words)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *m;
    bool good = general(ctx, text, &m) == TC_UNSUPPORTED && strstr(tc_diagnostics(ctx), words);
    if (!good)
        fprintf(stderr, "%s", tc_diagnostics(ctx));
    tc_ctx_free(ctx);
    return good;
}

int main(void)
{
    CHECK(holds_at_all("flat", flat));
    CHECK(holds_at_all("halves", halves));
    CHECK(holds_at_all("squares", squares));
    CHECK(holds_at_all("cropped", cropped));
    CHECK(holds_at_all("windows", windows));
    CHECK(holds_at_all("table", table));
    CHECK(holds_at_all("table_end", table_end));
    CHECK(holds_at_all("repeated", repeated));
    CHECK(holds_at_all("mean", mean));
    CHECK(holds_at_all("divided", divided));
    CHECK(refused(ramps, "it is no part of the largest one, nor one number repeated"));
    CHECK(refused(rescaled, "operand 1 of 'tosa_rescale' depends on the size: 1073741844 at n=20"));
    CHECK(refused(unrolled, "the program is not the same at all sizes"));
    CHECK(refused(primes, "depends on the size by no formula that was tried"));
    return check_done();
}
