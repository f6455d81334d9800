/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h -- operators tested as text: a graph that computes something and states what it should
 * be. */
#ifndef TC_TEST_GRAPH_H
#define TC_TEST_GRAPH_H

#include <math.h>

#include "check.h"

#include "run/eval.h"
#include "ir/ir_text.h"
#include "ir/verify.h"
#include "num/load.h"

/* Parse, infer, verify and run "graph @t() { body }"; the outputs, or NULL after a message. */
static inline tc_tensor *graph_run(tc_ctx *ctx, const char *body, size_t *n)
{
    const char *text = ti_text_format(&ctx->arena, "graph @t() {\n%s}\n", body);
    tc_bytes bytes = {(const uint8_t *)text, strlen(text)};
    tc_module *module;
    if (ti_parse(ctx, "t.ir", bytes, (tc_bytes){NULL, 0}, &module) != TC_OK ||
        ti_infer_missing(ctx, module) != TC_OK || ti_verify(ctx, module) != TC_OK)
        return NULL;
    tc_graph *g = ti_main(module);
    tc_tensor *out = tc_new_n(&ctx->arena, tc_tensor, g->n_out);
    *n = g->n_out;
    return ti_eval(g, NULL, out, &ctx->arena) == TC_OK ? out : NULL;
}

/* Equal numbers; real ones may be `within` of each other, and NaN is NaN. */
static inline bool tensors_agree(tc_tensor a, tc_tensor b, double within)
{
    if (a.type != b.type)
        return false;
    int64_t n = tc_type_count(a.type);
    if (!ti_is_float(a.type->dtype))
        return !n || memcmp(a.data, b.data, tc_type_bytes(a.type)) == 0;
    for (int64_t i = 0; i < n; i++) {
        double x = ti_load_f64(a, i), y = ti_load_f64(b, i);
        if (!(x == y || fabs(x - y) <= within || (x != x && y != y)))
            return false;
    }
    return true;
}

/* The outputs come in pairs that agree: computed, expected, computed, expected ... */
static inline bool graph_agrees(const char *body, double within)
{
    tc_ctx *ctx = tc_ctx_new();
    size_t n = 0;
    tc_tensor *out = graph_run(ctx, body, &n);
    bool good = out && n && n % 2 == 0;
    for (size_t i = 0; good && i < n; i += 2)
        good = tensors_agree(out[i], out[i + 1], within);
    if (!out)
        fprintf(stderr, "%s", tc_diagnostics(ctx));
    else if (!good)
        for (size_t i = 0; i < n; i++) {
            fprintf(stderr, "%s:", ti_type_text(&ctx->arena, out[i].type));
            for (int64_t k = 0; k < tc_type_count(out[i].type) && k < 32; k++)
                fprintf(stderr, " %.9g", ti_load_f64(out[i], k));
            fprintf(stderr, "\n");
        }
    tc_ctx_free(ctx);
    return good;
}

/* The graph is turned down, with this in the message. */
static inline bool graph_fails(const char *body, const char *message)
{
    tc_ctx *ctx = tc_ctx_new();
    size_t n = 0;
    tc_tensor *out = graph_run(ctx, body, &n);
    bool good = !out && strstr(tc_diagnostics(ctx), message);
    if (!good)
        fprintf(stderr, "expected \"%s\", got: %s\n", message, tc_diagnostics(ctx));
    tc_ctx_free(ctx);
    return good;
}

#define SAME(body) CHECK(graph_agrees(body, 0))
#define CLOSE(body) CHECK(graph_agrees(body, 1e-6))
#define FAILS(body, message) CHECK(graph_fails(body, message))

#endif
