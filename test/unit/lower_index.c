/* SPDX-License-Identifier: Apache-2.0 */
/* lower_index.c -- writing at places, and reductions of plain numbers, as TOSA. */
#include "lower_check.h"

static const char FP[] = "TOSA-1.0+FP", INT[] = "TOSA-1.0+INT", BOTH[] = "TOSA-1.0+INT+FP";

static void writes(void)
{
    lower_plain.int_lo = 0;
    lower_plain.int_hi = 0;
    LOWERS(FP, 0, "graph @t(%0: f32[4,3], %1: f32[1,3], %2: i32[1]) {\n"
                  "  %3 = index_copy %0, %2, %1 axis=0 : f32[4,3]\n  return %3\n}\n");
    LOWERS(
        INT, 0,
        "graph @t(%0: i8[2,5,3] q(0.1:3), %1: i8[2,2,3] q(0.1:3)) {\n  %2 = const [4, 1] : i32[2]\n"
        "  %3 = index_copy %0, %2, %1 axis=1 : i8[2,5,3] q(0.1:3)\n  return %3\n}\n");
    LOWERS(INT, 0,
           "graph @t(%0: i8[4,9] q(0.1:3), %1: i8[4,3] q(0.1:3)) {\n"
           "  %2 = slice_scatter %0, %1 axis=1 start=1 end=8 step=3 : i8[4,9] q(0.1:3)\n  return "
           "%2\n}\n");
    LOWERS(FP, 0,
           "graph @t(%0: f32[4,9], %1: f32[2,9]) {\n"
           "  %2 = slice_scatter %0, %1 axis=0 start=1 end=3 step=1 : f32[4,9]\n  return %2\n}\n");
    LOWERS(BOTH, 0, "graph @t(%0: bool[4,9], %1: bool[4]) {\n"
                    "  %2 = select_scatter %0, %1 axis=1 index=8 : bool[4,9]\n  return %2\n}\n");
    LOWERS(FP, 0,
           "graph @t(%0: f32[4,5,3], %1: f32[3]) {\n  %2 = const [0, -1] : i32[2]\n  %3 = const "
           "[4, 2] : i32[2]\n"
           "  %4 = index_put %0, %1, %2, %3 accumulate=false : f32[4,5,3]\n  return %4\n}\n");
    LOWERS(FP, 0, "graph @t(%0: f32[4,5], %1: f32[1], %2: bool[4,5]) {\n"
                  "  %3 = index_put %0, %1, %2 accumulate=false : f32[4,5]\n  return %3\n}\n");
    LOWERS(FP, 0,
           "graph @t(%0: f32[4,3], %1: f32[1,3], %2: i32[1,3]) {\n"
           "  %3 = scatter %0, %2, %1 axis=0 combine=set include_self=true : f32[4,3]\n  return "
           "%3\n}\n");
}

/* Places that meet. */
static void sums(void)
{
    lower_plain.int_lo = 0;
    lower_plain.int_hi = 3;
    LOWERS(FP, 1e-6, "graph @t(%0: f32[4,5,3], %1: f32[7,5,3], %2: i32[7]) {\n"
                     "  %3 = index_put %0, %1, %2 accumulate=true : f32[4,5,3]\n  return %3\n}\n");
    LOWERS(FP, 1e-6, "graph @t(%0: f32[2,4,3], %1: f32[2,6,3], %2: i32[6]) {\n"
                     "  %3 = index_add %0, %2, %1 axis=1 alpha=0.5 : f32[2,4,3]\n  return %3\n}\n");
    LOWERS(FP, 1e-6,
           "graph @t(%0: f32[2,4,3], %1: f32[2,6,3], %2: i32[2,6,3]) {\n"
           "  %3 = scatter %0, %2, %1 axis=1 combine=add include_self=true : f32[2,4,3]\n  return "
           "%3\n}\n");
    LOWERS(INT, 0,
           "graph @t(%0: i32[2,4,3], %1: i32[2,6,3], %2: i32[2,6,3]) {\n"
           "  %3 = scatter %0, %2, %1 axis=1 combine=add include_self=true : i32[2,4,3]\n  return "
           "%3\n}\n");
}

static void reductions(void)
{
    static const char *const op[] = {"sum", "mean", "prod", "amax", "amin"};
    lower_plain.int_lo = -3;
    for (size_t i = 0; i < sizeof op / sizeof *op; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "graph @t(%%0: f32[2,5,3]) {\n  %%1 = %s %%0 axes=[0,2] keepdim=false : f32[5]\n"
                 "  %%2 = %s %%0 axes=[1] keepdim=true : f32[2,1,3]\n  return %%1, %%2\n}\n",
                 op[i], op[i]);
        LOWERS(FP, 1e-6, text);
        bool counts = i == 0 || i == 2;
        snprintf(text, sizeof text,
                 "graph @t(%%0: i8[2,5,3]) {\n  %%1 = %s %%0 axes=[0,2] keepdim=false : %s[5]\n"
                 "  return %%1\n}\n",
                 op[i], counts ? "i32" : "i8");
        if (i != 1)
            LOWERS(INT, 0, text);
    }
    LOWERS(INT, 0,
           "graph @t(%0: bool[2,5,3]) {\n  %1 = any %0 axes=[0,2] keepdim=false : bool[5]\n"
           "  %2 = all %0 axes=[1] keepdim=true : bool[2,1,3]\n  %3 = sum %0 axes=[1] keepdim=true "
           ": i32[2,1,3]\n"
           "  return %1, %2, %3\n}\n");
}

static void places(void)
{
    static const char *const type[] = {"f32[2,5,3]", "i8[2,5,3]", "i32[2,5,3]",
                                       "i8[2,5,3] q(0.1:3)"};
    for (size_t i = 0; i < sizeof type / sizeof *type; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "graph @t(%%0: %s) {\n  %%1 = argmax %%0 axis=1 keepdim=false : i32[2,3]\n"
                 "  %%2 = argmin %%0 axis=2 keepdim=true : i32[2,5,1]\n  return %%1, %%2\n}\n",
                 type[i]);
        LOWERS(BOTH, 0, text);
    }
    LOWERS(FP, 0,
           "graph @t(%0: f32[2,5]) {\n  %1, %2 = max_dim %0 axis=1 keepdim=false : f32[2], i32[2]\n"
           "  %3, %4 = min_dim %0 axis=0 keepdim=true : f32[1,5], i32[1,5]\n  return %1, %2, %3, "
           "%4\n}\n");
    LOWERS(FP, 0,
           "graph @t(%0: f32[2,50]) {\n  %1 = const [-3, -1, 0, 2, 3.5] : f32[5]\n"
           "  %2 = bucketize %0, %1 right=true : i32[2,50]\n  %3 = bucketize %0, %1 right=false : "
           "i32[2,50]\n"
           "  return %2, %3\n}\n");
    LOWERS(FP, 0,
           "graph @t(%0: f32[2,5]) {\n  %1, %2 = topk %0 k=2 axis=1 largest=true : f32[2,2], "
           "i64[2,2]\n  return %1\n}\n");
}

/* A row at a computed place, for machines that write to none: the pass changes no number. */
static void place_by_choice(void)
{
    static const char text[] =
        "graph @t(%0: i8[2,4,3] q(0.1:3), %1: i64[1], %2: i8[2,1,3] q(0.1:3)) {\n"
        "  %3 = index_copy %0, %1, %2 axis=1 : i8[2,4,3] q(0.1:3)\n  return "
        "%3\n}\n";
    tc_ctx *ctx = tc_ctx_new();
    tc_bytes bytes = {(const uint8_t *)text, sizeof text - 1};
    tc_module *before = lower_parse(ctx, bytes), *after = lower_parse(ctx, bytes);
    bool good = before && after &&
                ti_run_passes(ctx, after, "replace-selects,remove-dead-code", NULL) == TC_OK;
    CHECK(good);
    lower_plain.int_lo = 0;
    lower_plain.int_hi = 3;
    uint32_t seed = 5;
    for (int run = 0; good && run < 8; run++) {
        tc_tensor in[3], x[1], y[1];
        for (size_t i = 0; i < 3; i++) {
            in[i] = ti_tensor_new(&ctx->arena, ti_type_of(ti_main(before), ti_main(before)->in[i]));
            lower_fill(in[i], false, &seed);
        }
        CHECK(ti_eval(ti_main(before), in, x, &ctx->arena) == TC_OK &&
              ti_eval(ti_main(after), in, y, &ctx->arena) == TC_OK &&
              lower_distance(x[0], y[0]) == 0);
    }
    tc_ctx_free(ctx);
}

int main(void)
{
    writes();
    place_by_choice();
    sums();
    reductions();
    places();
    return check_done();
}
