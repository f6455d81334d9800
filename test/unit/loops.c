/* SPDX-License-Identifier: Apache-2.0 */
/* loops.c -- steps that repeat become a graph that is run several times: the same bits. */
#include "check.h"

#include <stdlib.h>

#include "ir/ir_text.h"
#include "ir/verify.h"
#include "run/eval.h"
#include "split/loops.h"

/* h = tanh(max(h, u) + (x[t] + w)), for every t; all of them, rectified, and the last. */
typedef struct layer {
    int steps, batch;
    bool backward;
    int odd;   /* a step whose w is another; -1: none */
    int back;  /* the step that is read: 1, the one before */
} layer;

static const char *text_of(tc_ctx *ctx, const layer *r)
{
    tc_buf b;
    int id = 12, h[32], n = r->steps, l = r->batch;
    ti_buf_init(&b, &ctx->arena);
    ti_buf_printf(&b,
                  "graph @main(%%0: f32[%d,%d,4], %%1: f32[%d,4]) {\n"
                  "  %%2 = const [0.5, -0.25, 0.125, 1] : f32[1,4]\n"
                  "  %%3 = const [0.25, 0, -1, 0.5] : f32[1,4]\n"
                  "  %%4 = const [%d, 1, 4] : shape[3]\n  %%5 = const [%d, 4] : shape[2]\n"
                  "  %%6 = const [0.75, 0, 0, 0] : f32[1,4]\n",
                  l, n, l, l, l);
    for (int t = 0; t < n; t++) {
        int at = r->backward ? n - 1 - t : t, first = id;
        ti_buf_printf(&b, "  %%%d = const [0, %d, 0] : shape[3]\n", id++, at);
        ti_buf_printf(&b, "  %%%d = tosa.slice %%0, %%%d, %%4 : f32[%d,1,4]\n", id, first, l);
        ti_buf_printf(&b, "  %%%d = tosa.reshape %%%d, %%5 : f32[%d,4]\n", id + 1, id, l);
        ti_buf_printf(&b, "  %%%d = tosa.add %%%d, %%%d : f32[%d,4]\n", id + 2, id + 1, t == r->odd ? 6 : 2, l);
        ti_buf_printf(&b, "  %%%d = tosa.maximum %%%d, %%3 nan_mode=propagate : f32[%d,4]\n", id + 3,
                      t < r->back ? 1 : h[t - r->back], l);
        ti_buf_printf(&b, "  %%%d = tosa.add %%%d, %%%d : f32[%d,4]\n", id + 4, id + 3, id + 2, l);
        ti_buf_printf(&b, "  %%%d = tosa.tanh %%%d : f32[%d,4]\n", id + 5, id + 4, l);
        h[t] = id + 5;
        id += 6;
    }
    int first = id;
    for (int t = 0; t < n; t++, id += 2) {
        int at = r->backward ? n - 1 - t : t;
        ti_buf_printf(&b, "  %%%d = tosa.abs %%%d : f32[%d,4]\n", id, h[at], l);
        ti_buf_printf(&b, "  %%%d = tosa.reshape %%%d, %%4 : f32[%d,1,4]\n", id + 1, id, l);
    }
    ti_buf_printf(&b, "  %%%d = tosa.concat ", id);
    for (int t = 0; t < n; t++)
        ti_buf_printf(&b, "%s%%%d", t ? ", " : "", first + 2 * t + 1);
    ti_buf_printf(&b, " axis=1 : f32[%d,%d,4]\n  return %%%d, %%%d\n}\n", l, n, id, h[n - 1]);
    return ti_buf_cstr(&b);
}

static tc_module *parsed(tc_ctx *ctx, const char *text)
{
    tc_module *module = NULL;
    tc_bytes bytes = {(const uint8_t *)text, strlen(text)};
    if (ti_parse(ctx, "t.ir", bytes, (tc_bytes){NULL, 0}, &module) != TC_OK || ti_verify(ctx, module) != TC_OK) {
        fprintf(stderr, "%s\n%s", text, tc_diagnostics(ctx));
        exit(1);
    }
    return module;
}

static void run(tc_ctx *ctx, tc_module *m, tc_tensor out[2])
{
    tc_graph *g = ti_main(m);
    tc_tensor in[2];
    for (size_t i = 0; i < 2; i++) {
        in[i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
        for (int64_t k = 0; k < tc_type_count(in[i].type); k++)
            ((float *)in[i].data)[k] = 0.37f * (float)((7 * k + 3 * (int)i) % 11) - 1.9f;
    }
    CHECK(ti_eval(g, in, out, &ctx->arena) == TC_OK);
}

static size_t count(const tc_graph *g, tc_op op)
{
    size_t n = 0;
    for (size_t k = 0; k < g->n_node; k++)
        n += g->node[k]->op == op;
    return n;
}

/* The same numbers before and after; how many steps the loops have in all. */
static int64_t try_layer(tc_ctx *ctx, const layer *r, int64_t together)
{
    tc_module *m = parsed(ctx, text_of(ctx, r));
    tc_tensor before[2], after[2];
    tc_loops loops;
    int64_t steps = 0, each[4];
    run(ctx, m, before);
    ti_find_loops(ctx, ti_main(m), &loops);
    CHECK(loops.n <= TC_COUNT(each));
    for (size_t i = 0; i < loops.n; i++) {
        steps += loops.loop[i].times;
        each[i] = loops.loop[i].times % together == 0 ? together : 1;
    }
    if (!loops.n)
        return 0;
    CHECK(ti_put_loops(ctx, m, &loops, each, "t") == TC_OK);
    CHECK(ti_verify(ctx, m) == TC_OK);
    CHECK(count(ti_main(m), TC_OP_call_times) == loops.n);
    CHECK(steps < r->steps || !count(ti_main(m), TC_OP_tosa_concat)); /* all that is joined is given so */
    run(ctx, m, after);
    for (size_t i = 0; i < 2; i++)
        CHECK(tc_type_bytes(before[i].type) == tc_type_bytes(after[i].type) &&
              !memcmp(before[i].data, after[i].data, tc_type_bytes(before[i].type)));
    return steps;
}

static void same_numbers(tc_ctx *ctx)
{
    for (int batch = 1; batch <= 2; batch++)
        for (int backward = 0; backward < 2; backward++)
            for (int together = 1; together <= 6; together++)
                for (int steps = 12; steps <= 15; steps++)
                    if (steps % together == 0)
                        CHECK(try_layer(ctx, &(layer){steps, batch, backward, -1, 1}, together) == steps);
}

/* A step that is another stays outside, and so do those before it, where few are left. */
static void other_steps(tc_ctx *ctx)
{
    CHECK(try_layer(ctx, &(layer){12, 1, false, 0, 1}, 1) == 11);
    CHECK(try_layer(ctx, &(layer){12, 1, true, 11, 1}, 1) == 11);
    CHECK(try_layer(ctx, &(layer){20, 1, false, 10, 1}, 1) == 19);
    CHECK(try_layer(ctx, &(layer){12, 1, false, 6, 1}, 1) < 12);
}

/* Not the step before, but the one before that; steps that do not go on from each other. */
static void no_loop(tc_ctx *ctx)
{
    CHECK(try_layer(ctx, &(layer){12, 1, false, -1, 3}, 1) == 0);
    CHECK(try_layer(ctx, &(layer){3, 1, false, -1, 1}, 1) == 0);
    CHECK(try_layer(ctx, &(layer){12, 1, false, -1, 99}, 1) == 0);
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    same_numbers(ctx);
    other_steps(ctx);
    no_loop(ctx);
    tc_ctx_free(ctx);
    return check_done();
}
