/* SPDX-License-Identifier: Apache-2.0 */
/* value_bounds.c -- bounds that rules of lowering choose widths by: no result is farther from 0 than its bound, whatever the codes, and the
 * bound is not much farther than the farthest result of codes at their ends. */
#include "lower_check.h"

#include "ir/build.h"
#include "lower/put.h"

enum { DRAWS = 64 };

/* Of i8 values %0 and %1, in 32 bits %2 and %3, and c %4; what it computes is %9 or the last value. */
static const struct {
    const char *what, *body;
    double slack; /* bound over the farthest result; 0: it is not known how far */
} row[] = {
    {"add", "%9 = tosa.add %2, %3 : i32[1,4]", 1},
    {"sub", "%9 = tosa.sub %2, %3 : i32[1,4]", 1.01},
    {"mul", "%8 = const [0] : i8[1]\n  %9 = tosa.mul %2, %3, %8 : i32[1,4]", 1.01},
    {"mul, shifted", "%8 = const [4] : i8[1]\n  %9 = tosa.mul %2, %3, %8 : i32[1,4]", 1.01},
    {"maximum", "%8 = tosa.add %2, %3 : i32[1,4]\n  %9 = tosa.maximum %2, %8 nan_mode=propagate : i32[1,4]", 2.01},
    {"minimum", "%8 = tosa.add %2, %3 : i32[1,4]\n  %9 = tosa.minimum %8, %2 nan_mode=propagate : i32[1,4]", 1},
    {"concat, the first", "%8 = tosa.add %2, %3 : i32[1,4]\n  %9 = tosa.concat %8, %2 axis=1 : i32[1,8]", 1},
    {"concat, the last", "%8 = tosa.add %2, %3 : i32[1,4]\n  %9 = tosa.concat %2, %8 axis=1 : i32[1,8]", 1},
    {"select, what is true", "%8 = tosa.add %2, %3 : i32[1,4]\n  %9 = tosa.select %4, %8, %2 : i32[1,4]", 1},
    {"select, what is false", "%8 = tosa.add %2, %3 : i32[1,4]\n  %9 = tosa.select %4, %2, %8 : i32[1,4]", 1},
    {"reduce_sum", "%9 = tosa.reduce_sum %2 axis=1 : i32[1,1]", 1},
    {"abs", "%9 = tosa.abs %2 : i32[1,4]", 1},
    {"reverse", "%9 = tosa.reverse %2 axis=1 : i32[1,4]", 1},
    {"rescale", "%5 = const [1073741824] : i32[1]\n  %6 = const [29] : i8[1]\n  %7 = const [-5] : i8[1]\n  %8 = const [0] : i32[1]\n"
                "  %9 = tosa.rescale %0, %5, %6, %7, %8 scale32=true rounding_mode=single per_channel=false input_unsigned=false "
                "output_unsigned=false : i32[1,4]", 1.1},
    {"matmul", "%5 = const [3] : i8[1]\n  %6 = const [0] : i8[1]\n  %7 = tosa.reshape %0, %11 : i8[1,1,4]\n  %8 = tosa.reshape %1, %12 : "
               "i8[1,4,1]\n  %9 = tosa.matmul %7, %8, %5, %6 : i32[1,1,1]", 1.1},
};

static tc_module *module_of(tc_ctx *ctx, const char *body)
{
    char text[2048];
    snprintf(text, sizeof text,
             "graph @t(%%0: i8[1,4], %%1: i8[1,4], %%4: bool[1,4]) {\n  %%11 = const [1, 1, 4] : shape[3]\n  %%12 = const [1, 4, 1] : shape[3]\n"
             "  %%2 = tosa.cast %%0 : i32[1,4]\n  %%3 = tosa.cast %%1 : i32[1,4]\n  %s\n  return %%9\n}\n", body);
    return lower_parse(ctx, lower_expand(ctx, text));
}

/* The farthest result of codes at their ends; below 0: it cannot be computed. */
static double farthest(tc_ctx *ctx, tc_graph *g)
{
    double most = -1;
    uint32_t seed = 9;
    for (int d = 0; d < DRAWS; d++) {
        tc_tensor in[3], out;
        for (size_t i = 0; i < 3; i++) {
            in[i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
            for (int64_t k = 0; k < 4; k++) {
                seed = seed * 1664525 + 1013904223;
                bool high = d > 1 ? seed >> 31 : d == 1;
                ti_store_i64(in[i], k, i == 2 ? high : high ? 127 : -128);
            }
        }
        if (ti_eval(g, in, &out, &ctx->arena) != TC_OK)
            return -1;
        for (int64_t k = 0; k < tc_type_count(out.type); k++)
            most = fmax(most, fabs((double)ti_load_i64(out, k)));
    }
    return most;
}

int main(void)
{
    for (size_t r = 0; r < TC_COUNT(row); r++) {
        tc_ctx *ctx = tc_ctx_new();
        tc_module *m = module_of(ctx, row[r].body);
        double most = m ? farthest(ctx, ti_main(m)) : -1;
        CHECK_ROW(row[r].what, most > 0);
        if (most > 0) {
            tc_build b = {.ctx = ctx, .g = ti_main(m)};
            double bound = ti_put_bound(&b, b.g->out[0]);
            CHECK_ROW(row[r].what, bound >= most);
            CHECK_ROW(row[r].what, bound <= row[r].slack * most);
        } else
            fprintf(stderr, "%s", tc_diagnostics(ctx));
        tc_ctx_free(ctx);
    }
    return check_done();
}
