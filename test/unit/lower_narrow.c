/* SPDX-License-Identifier: Apache-2.0 */
/* lower_narrow.c -- i64 becomes i32 where that changes no number, and only there. */
#include "lower_check.h"

#include "lower/layout/int_range.h"

/* The program after the pass computes the same; how many nodes of `op` read or make i32. */
static int small_nodes(const char *target, tc_op op, const char *text)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *before = lower_parse(ctx, lower_expand(ctx, text)),
              *after = lower_parse(ctx, lower_expand(ctx, text));
    tc_target parsed;
    int n = -1;
    if (!before || !after || ti_target_parse(ctx, target, &parsed) != TC_OK ||
        ti_lower_narrow(ctx, after, &parsed) != TC_OK || ti_verify(ctx, after) != TC_OK)
        goto done;
    tc_graph *g = ti_main(after);
    tc_tensor in[4], x[4], y[4];
    uint32_t seed = 3;
    for (size_t i = 0; i < g->n_in; i++) {
        in[i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
        lower_fill(in[i], false, &seed);
    }
    if (ti_eval(ti_main(before), in, x, &ctx->arena) != TC_OK ||
        ti_eval(g, in, y, &ctx->arena) != TC_OK)
        goto done;
    for (size_t i = 0; i < g->n_out; i++)
        if (lower_distance(x[i], y[i]) != 0)
            goto done;
    n = 0;
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; g->node[k]->op == op && i < g->node[k]->n_in; i++)
            n += ti_type_of(g, g->node[k]->in[i])->dtype == TC_i32;
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; g->node[k]->op == op && i < g->node[k]->n_out; i++)
            n += ti_type_of(g, g->node[k]->out[i])->dtype == TC_i32;
done:
    if (n < 0)
        fprintf(stderr, "%s", tc_diagnostics(ctx));
    tc_ctx_free(ctx);
    return n;
}

/* Ranges of results, from operands that have each of their ends with each: every element lies within, and where `tight` both ends are there. */
static void ranges_hold(void)
{
    static const struct {
        const char *op;
        bool tight;
    } row[] = {{"mul %1, %2", true},        {"add %1, %2 alpha=1", true}, {"add %1, %2 alpha=-3", true},
               {"sub %1, %2 alpha=1", true}, {"sub %1, %2 alpha=2", true}, {"maximum %1, %2", true},
               {"minimum %1, %2", true},     {"neg %1", true},             {"abs %1", false},
               {"clamp %1 lo=-7 hi=9", true}, {"bitwise_and %1, %2", false}};
    uint32_t seed = 5;
    for (int k = 0; k < 300; k++)
        for (size_t r = 0; r < TC_COUNT(row); r++) {
            int end[4];
            for (int i = 0; i < 4; i++) {
                seed = seed * 1664525 + 1013904223;
                end[i] = (int)(seed >> 24) % 41 - (k % 3 == 0 ? 40 : k % 3 == 1 ? 20 : 0);
            }
            char text[512];
            snprintf(text, sizeof text, "graph @t(%%0: i32[1]) {\n  %%1 = const [%d, %d, %d, %d] : i64[4]\n  %%2 = const [%d, %d, %d, %d] : "
                     "i64[4]\n  %%3 = %s : i64[4]\n  return %%3\n}\n", end[0], end[0], end[1], end[1], end[2], end[3], end[2], end[3], row[r].op);
            tc_ctx *ctx = tc_ctx_new();
            tc_module *m = lower_parse(ctx, lower_expand(ctx, text));
            tc_tensor y, x = {0};
            bool made = m != NULL;
            if (made) {
                x = ti_tensor_new(&ctx->arena, ti_type_of(ti_main(m), ti_main(m)->in[0]));
                made = ti_eval(ti_main(m), &x, &y, &ctx->arena) == TC_OK;
            }
            CHECK_ROW(row[r].op, made);
            if (made) {
                tc_int_range range = ti_int_ranges(ctx, ti_main(m))[ti_main(m)->out[0]];
                double lo = (double)ti_load_i64(y, 0), hi = lo;
                for (int i = 1; i < 4; i++) {
                    lo = fmin(lo, (double)ti_load_i64(y, i));
                    hi = fmax(hi, (double)ti_load_i64(y, i));
                }
                CHECK_ROW(row[r].op, range.lo <= lo && range.hi >= hi);
                CHECK_ROW(row[r].op, !row[r].tight || (range.lo == lo && range.hi == hi));
            }
            tc_ctx_free(ctx);
        }
}

/* What was i32 has no more than 32 bits after operations on bits. */
static void bits_stay(void)
{
    static const char *const op[] = {"bitwise_and", "minimum", "maximum"};
    for (size_t k = 0; k < TC_COUNT(op); k++) {
        char text[512];
        snprintf(text, sizeof text, "graph @t(%%0: i32[4], %%1: i32[4]) {\n  %%2 = cast %%0 dtype=i64 : i64[4]\n  %%3 = cast %%1 dtype=i64 : "
                 "i64[4]\n  %%4 = %s %%2, %%3 : i64[4]\n  return %%4\n}\n", op[k]);
        tc_ctx *ctx = tc_ctx_new();
        tc_module *m = lower_parse(ctx, lower_expand(ctx, text));
        CHECK_ROW(op[k], m && ti_int_range_fits(ti_int_ranges(ctx, ti_main(m))[ti_main(m)->out[0]]));
        tc_ctx_free(ctx);
    }
}

int main(void)
{
    ranges_hold();
    bits_stay();
    lower_plain.int_lo = 0;
    lower_plain.int_hi = 3;
    const char *INT = "TOSA-1.0+INT", *FP = "TOSA-1.0+FP";
    CHECK(small_nodes(FP, TC_OP_embedding,
                      "graph @t(%0: i64[2,5]) {\n  %1 = const ? : f32[4,3]\n  %2 = embedding %1, "
                      "%0 : f32[2,5,3]\n  return %2\n}\n") == 1);
    /* a place that was computed: the sum may be narrow because it is one */
    CHECK(small_nodes(INT, TC_OP_add,
                      "graph @t(%0: i32[4,3], %1: i64[5]) {\n  %2 = const [0] : i64[1]\n  %3 = add "
                      "%1, %2 alpha=1 : i64[5]\n"
                      "  %4 = index_select %0, %3 axis=0 : i32[5,3]\n  return %4\n}\n") == 3);
    /* a running sum of which only the low 32 bits are kept; places in order; what is left of
     * them */
    CHECK(small_nodes(INT, TC_OP_cumsum,
                      "graph @t(%0: i32[5]) {\n  %1 = cumsum %0 axis=0 : i64[5]\n  %2 = cast %1 "
                      "dtype=i32 : i32[5]\n  return %2\n}\n") == 2);
    CHECK(small_nodes(
              INT, TC_OP_cumsum,
              "graph @t(%0: i32[5]) {\n  %1 = cumsum %0 axis=0 : i64[5]\n  return %1\n}\n") == 1);
    CHECK(small_nodes(INT, TC_OP_remainder,
                      "graph @t(%0: i8[1,9] q(0.05:3)) {\n  %1, %2 = topk %0 k=4 axis=1 "
                      "largest=true : i8[1,4] q(0.05:3), i64[1,4]\n  %3 = const [3] : i64[1]\n"
                      "  %4 = remainder %2, %3 : i64[1,4]\n  return %4\n}\n") == 3);
    /* numbers of which nothing is known stay wide */
    CHECK(small_nodes(INT, TC_OP_add,
                      "graph @t(%0: i64[5]) {\n  %1 = const [1] : i64[1]\n  %2 = add %0, %1 "
                      "alpha=1 : i64[5]\n  return %2\n}\n") == 0);
    /* small ones do not */
    CHECK(
        small_nodes(
            INT, TC_OP_add,
            "graph @t(%0: i16[5]) {\n  %1 = cast %0 dtype=i64 : i64[5]\n  %2 = const [1] : i64[1]\n"
            "  %3 = add %1, %2 alpha=1 : i64[5]\n  return %3\n}\n") == 3);
    /* nor do constants that are too large */
    CHECK(small_nodes(INT, TC_OP_add,
                      "graph @t(%0: i16[5]) {\n  %1 = cast %0 dtype=i64 : i64[5]\n  %2 = const "
                      "[5000000000] : i64[1]\n"
                      "  %3 = add %1, %2 alpha=1 : i64[5]\n  return %3\n}\n") == 0);
    /* a number that becomes a float, a code or a truth needs all its bits */
    CHECK(small_nodes(INT, TC_OP_cast,
                      "graph @t(%0: i64[5]) {\n  %1 = cast %0 dtype=f32 : i8[5] q(1e9:0)\n"
                      "  return %1\n}\n") == 0);
    CHECK(small_nodes(FP, TC_OP_cast,
                      "graph @t(%0: i64[5]) {\n  %1 = cast %0 dtype=f32 : f32[5]\n"
                      "  %2 = const [1e-09] : f32[1]\n  %3 = mul %1, %2 : f32[5]\n"
                      "  %4 = cast %3 dtype=i32 : i32[5]\n  return %4\n}\n") == 1);
    CHECK(small_nodes(INT, TC_OP_cast,
                      "graph @t(%0: i64[5], %1: i8[5]) {\n  %2 = cast %0 dtype=bool : bool[5]\n"
                      "  %3 = reshape %2 shape=[5,1] : bool[5,1]\n  return %3, %1\n}\n") == 0);
    /* a code stands for what may be large, too */
    CHECK(small_nodes(INT, TC_OP_add,
                      "graph @t(%0: i8[5] q(1e9:0)) {\n  %1 = cast %0 dtype=i64 : i64[5]\n"
                      "  %2 = const [1] : i64[1]\n  %3 = add %1, %2 alpha=1 : i64[5]\n"
                      "  return %3\n}\n") == 0);
    /* limits, remainders and bits say how far a number reaches */
    static const char *const bounded[] = {
        "clamp %0 lo=0 hi=100", "remainder %0, %1", "bitwise_and %0, %1", "minimum %2, %1",
        "div %3, %1 mode=floor",
    };
    for (size_t i = 0; i < TC_COUNT(bounded); i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "graph @t(%%0: i64[5]) {\n  %%1 = const [1000] : i64[1]\n"
                 "  %%2 = clamp %%0 lo=-7 hi=inf : i64[5]\n"
                 "  %%3 = clamp %%0 lo=0 hi=2000000000000 : i64[5]\n  %%4 = %s : i64[5]\n"
                 "  %%5 = neg %%4 : i64[5]\n  %%6 = abs %%5 : i64[5]\n  return %%6\n}\n",
                 bounded[i]);
        CHECK(small_nodes(INT, TC_OP_neg, text) == 2 && small_nodes(INT, TC_OP_abs, text) == 2);
    }
    /* a running sum of truths; of unknown numbers */
    CHECK(small_nodes(INT, TC_OP_cumsum,
                      "graph @t(%0: bool[5]) {\n  %1 = cumsum %0 axis=0 : i64[5]\n"
                      "  return %1\n}\n") == 1);
    CHECK(small_nodes(INT, TC_OP_cumsum,
                      "graph @t(%0: i64[5]) {\n  %1 = cumsum %0 axis=0 : i64[5]\n"
                      "  return %1\n}\n") == 0);
    /* a counter is followed from call to call, a time stamp that is kept is not */
    CHECK(small_nodes(INT, TC_OP_add,
                      "graph @t(%0: i32[1]) {\n  %1 = const [3] : i64[1]\n"
                      "  %2 = const [1] : i64[1]\n"
                      "  %3 = add %1, %2 alpha=1 : i64[1]\n  %4 = cast %3 dtype=i32 : i32[1]\n"
                      "  %5 = add %4, %0 alpha=1 : i32[1]\n  mutate %1 -> %3\n"
                      "  return %5\n}\n") == 6);
    CHECK(small_nodes(INT, TC_OP_add,
                      "graph @t(%0: i64[1]) {\n  %1 = const [3] : i64[1]\n"
                      "  %2 = const [1] : i64[1]\n"
                      "  %3 = add %1, %2 alpha=1 : i64[1]\n  %4 = add %0, %2 alpha=1 : i64[1]\n"
                      "  mutate %1 -> %4\n  return %3\n}\n") == 0);
    return check_done();
}
