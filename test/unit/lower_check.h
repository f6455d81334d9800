/* SPDX-License-Identifier: Apache-2.0 */
/* lower_check.h -- lowering tested as text: a typed graph is run, lowered, judged and run again.
 *
 *     LOWERS("TOSA-1.0+INT", 1, "graph @t(%0: i8[2,9] q(0.05:-3)) {\n"
 *                               "  %1 = const ? : i8[4,9] q(axis=0; 0.02:0, 0.01:0, 0.03:0, 0.02:0)\n"
 *                               "  %2 = linear %0, %1, none : i8[2,4] q(0.1:5)\n"
 *                               "  return %2\n}\n")
 *
 * "const ?" stands for numbers that look random and are the same every time.  Inputs are drawn from
 * all codes of their domains (plain numbers from lower_plain), then from the two ends of each only.
 */
#ifndef TC_LOWER_CHECK_H
#define TC_LOWER_CHECK_H

#include <math.h>
#include <stdlib.h>

#include "check.h"

#include "run/eval.h"
#include "drive/passes.h"
#include "ir/ir_text.h"
#include "ir/verify.h"
#include "lower/lower.h"
#include "num/load.h"

/* What plain inputs are drawn from: floats between, integers from and to, both included. */
static struct {
    double float_lo, float_hi;
    int64_t int_lo, int_hi;
} lower_plain = {-4, 4, -20, 20};
/* Programs for many sizes: the largest extent; 0: for one. */
static int64_t lower_any_size;

static inline uint32_t lower_dice(uint32_t *seed, uint32_t sides)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)(*seed >> 8) * sides) >> 24);
}

/* ---- "const ?" ---- */

static inline void lower_noise(tc_buf *out, const char *type, uint32_t seed)
{
    const char *dims = strchr(type, '[');
    long count = 1;
    for (const char *p = dims + 1; *p && *p != ']'; p += *p == ',')
        count *= strtol(p, (char **)&p, 10);
    tc_dtype dtype = ti_dtype_named((tc_str){type, (size_t)(dims - type)});
    ti_buf_text(out, "[");
    for (long i = 0; i < count; i++) {
        double v = dtype == TC_i4 ? (double)lower_dice(&seed, 15) - 7
                                  : (double)lower_dice(&seed, 255) - 127;
        if (dtype == TC_bool)
            ti_buf_text(out, v > 0 ? "true" : "false");
        else
            ti_buf_printf(out, "%g", ti_is_float(dtype) ? v / 128 : dtype == TC_u8 ? v + 128 : v);
        ti_buf_text(out, i + 1 < count ? ", " : "]");
    }
}

static inline tc_bytes lower_expand(tc_ctx *ctx, const char *text)
{
    tc_buf out;
    ti_buf_init(&out, &ctx->arena);
    uint32_t seed = 7;
    for (const char *mark; (mark = strstr(text, "const ? : ")); text = mark + 7) {
        ti_buf_put(&out, text, (size_t)(mark - text) + 6);
        lower_noise(&out, mark + 10, seed += 1000);
    }
    ti_buf_text(&out, text);
    return (tc_bytes){out.data, out.size};
}

/* ---- runs ---- */

static inline void lower_fill(tc_tensor t, bool ends, uint32_t *seed)
{
    const tc_quant *q = t.type->quant;
    bool wide = t.type->dtype == TC_i32 || t.type->dtype == TC_i48;
    int64_t lo = !q     ? lower_plain.int_lo
                 : wide ? -30000
                        : q->lo,
            hi = !q     ? lower_plain.int_hi
                 : wide ? 30000
                        : q->hi;
    for (int64_t i = 0; i < tc_type_count(t.type); i++) {
        double u = ends ? (double)lower_dice(seed, 2) : (double)lower_dice(seed, 65536) / 65535;
        if (t.type->dtype == TC_bool)
            ti_store_i64(t, i, u > 0.5);
        else if (ti_is_float(t.type->dtype))
            ti_store_f64(t, i,
                         lower_plain.float_lo + u * (lower_plain.float_hi - lower_plain.float_lo));
        else
            ti_store_i64(t, i, lo + (int64_t)floor(u * (double)(hi - lo) + 0.5));
    }
}

static inline tc_module *lower_parse(tc_ctx *ctx, tc_bytes text)
{
    tc_module *module;
    bool good = ti_parse(ctx, "t.ir", text, (tc_bytes){NULL, 0}, &module) == TC_OK &&
                ti_infer_missing(ctx, module) == TC_OK && ti_verify(ctx, module) == TC_OK;
    return good ? module : NULL;
}

/* The graph as TOSA that the judge accepts for the target, or NULL after a message in the context.
 */
static inline tc_module *lower_module(tc_ctx *ctx, const char *target, tc_bytes text)
{
    tc_module *module = lower_parse(ctx, text);
    tc_target parsed;
    bool good = module && ti_target_parse(ctx, target, &parsed) == TC_OK;
    tc_machine machine = good ? *parsed.machine : (tc_machine){0};
    machine.any_size = lower_any_size;
    parsed.machine = &machine;
    good = good && ti_lower_graph(ctx, ti_main(module), &parsed, NULL) == TC_OK &&
                ti_run_passes(ctx, module, "remove-dead-code", NULL) == TC_OK &&
                ti_verify_tosa(ctx, module, target) == TC_OK;
    return good ? module : NULL;
}

/* Largest difference: integers in steps, floats relative to the largest magnitude; huge when types
 * differ or only one is NaN. */
static inline double lower_distance(tc_tensor a, tc_tensor b)
{
    if (a.type != b.type)
        return HUGE_VAL;
    double most = 0, top = 1e-30;
    for (int64_t i = 0; i < tc_type_count(a.type); i++) {
        double x = ti_load_f64(a, i), y = ti_load_f64(b, i);
        if (x == y || (x != x && y != y))
            continue;
        most = fmax(most, x != x || y != y ? HUGE_VAL : fabs(x - y));
        top = fmax(top, fabs(x));
    }
    return ti_is_float(a.type->dtype) ? most / top : most;
}

static inline void lower_show(tc_ctx *ctx, const tc_module *module, tc_tensor before,
                              tc_tensor after)
{
    tc_buf text;
    ti_buf_init(&text, &ctx->arena);
    ti_print(module, &(tc_print_options){0}, &text);
    fprintf(stderr, "%.*s", (int)(text.size < 6000 ? text.size : 6000), text.data);
    for (int64_t i = 0, shown = 0; i < tc_type_count(before.type) && shown < 8; i++)
        if (ti_load_f64(before, i) != ti_load_f64(after, i) && ++shown)
            fprintf(stderr, "element %d is %.9g, expected %.9g\n", (int)i, ti_load_f64(after, i),
                    ti_load_f64(before, i));
}

/* The largest difference over a few runs; -1 when the graph could not be lowered or run. */
static inline double lower_trial(tc_ctx *ctx, const char *target, const char *text, double within)
{
    tc_bytes full = lower_expand(ctx, text);
    tc_module *typed = lower_parse(ctx, full), *tosa = lower_module(ctx, target, full);
    if (!typed || !tosa)
        return -1;
    const tc_graph *g = ti_main(typed);
    tc_tensor *in = tc_new_n(&ctx->arena, tc_tensor, g->n_in),
              *before = tc_new_n(&ctx->arena, tc_tensor, g->n_out),
              *after = tc_new_n(&ctx->arena, tc_tensor, g->n_out);
    uint32_t seed = 1;
    double most = 0;
    for (int run = 0; run < 4; run++) {
        for (size_t i = 0; i < g->n_in; i++) {
            in[i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
            lower_fill(in[i], run == 3, &seed);
        }
        if (ti_eval(ti_main(typed), in, before, &ctx->arena) != TC_OK ||
            ti_eval(ti_main(tosa), in, after, &ctx->arena) != TC_OK)
            return -1;
        for (size_t i = 0; i < g->n_out; i++) {
            double d = lower_distance(before[i], after[i]);
            if (d > within && d > most)
                lower_show(ctx, tosa, before[i], after[i]);
            most = fmax(most, d);
        }
    }
    return most;
}

static inline bool lower_agrees(const char *target, double within, const char *text)
{
    tc_ctx *ctx = tc_ctx_new();
    double most = lower_trial(ctx, target, text, within);
    bool good = most >= 0 && most <= within;
    if (most < 0)
        fprintf(stderr, "%s", tc_diagnostics(ctx));
    else if (!good)
        fprintf(stderr, "off by %g, allowed %g\n", most, within);
    tc_ctx_free(ctx);
    return good;
}

/* The graph is turned down, with this in the message. */
static inline bool lower_refuses(const char *target, const char *text, const char *message)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module = lower_module(ctx, target, lower_expand(ctx, text));
    bool good = !module && strstr(tc_diagnostics(ctx), message);
    if (!good)
        fprintf(stderr, "expected \"%s\", got: %s\n", message, tc_diagnostics(ctx));
    tc_ctx_free(ctx);
    return good;
}

/* How many nodes of this operator the lowered graph has; -1 when it was turned down. */
static inline int lower_count(const char *target, tc_op op, const char *text)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module = lower_module(ctx, target, lower_expand(ctx, text));
    int n = module ? 0 : -1;
    for (size_t k = 0; module && k < ti_main(module)->n_node; k++)
        n += ti_main(module)->node[k]->op == op;
    tc_ctx_free(ctx);
    return n;
}

#define LOWERS(target, within, text) CHECK(lower_agrees(target, within, text))
#define REFUSES(target, text, message) CHECK(lower_refuses(target, text, message))

#endif
