/* SPDX-License-Identifier: Apache-2.0 */
/* noise_cause.c -- why a value is noisy, from its real numbers on the samples that were given.
 *
 *   front end       a logarithm or root reads it, by way of sums, factors and bounds: equal steps are
 *                   few where it is near 0
 *   beyond          samples leave the range that calibration chose, and what is cut off weighs more
 *                   than rounding does
 *   one sample      one sample reaches ALONE times as far as every other
 *   outliers        most numbers that are not 0 are smaller than SMALL steps */
#include <math.h>

#include "../base/attempt.h"
#include "../drive/checker.h"
#include "../drive/driver.h"
#include "../drive/road.h"
#include "../num/load.h"
#include "../quant/role.h"
#include "../run/exec.h"
#include "proof.h"

enum { FEW = 8, STEPS = 12 };
static const double ALONE = 2, SMALL = 2;

/* ---- what reads it ---- */

static bool steep(const tc_node *node)
{
    if (node->op == TC_OP_function) {
        const char *formula = ((const tc_attr_function *)node->attr)->formula;
        return strstr(formula, "log") || strstr(formula, "sqrt");
    }
    return node->op == TC_OP_log_bands || ti_role_steep(node->op);
}

/* Linear in a value that is not negative, or a lower bound of it. */
static bool leads_on(tc_op op)
{
    return TC_OP_IN(op, TC_OP_identity, TC_OP_reshape, TC_OP_permute, TC_OP_slice, TC_OP_select,
                    TC_OP_expand, TC_OP_mul, TC_OP_add, TC_OP_sum, TC_OP_mean, TC_OP_clamp,
                    TC_OP_maximum, TC_OP_relu, TC_OP_linear, TC_OP_matmul, TC_OP_rescale);
}

static bool feeds_steep(const tc_graph *g, tc_val v, int depth)
{
    for (size_t k = 0; k < g->n_node && depth < STEPS; k++) {
        const tc_node *node = g->node[k];
        bool reads = false;
        for (int i = 0; i < node->n_in; i++)
            reads = reads || node->in[i] == v;
        if (reads && (steep(node) ||
                      (leads_on(node->op) && feeds_steep(g, node->out[0], depth + 1))))
            return true;
    }
    return false;
}

bool ti_noise_front(const tc_graph *typed)
{
    for (size_t k = 0; k < typed->n_node; k++)
        if (steep(typed->node[k]) && ti_type_of(typed, typed->node[k]->in[0])->quant)
            return true;
    return false;
}

/* ---- its numbers ---- */

typedef struct numbers {
    double most[FEW];         /* the largest magnitude of each sample */
    double n, nonzero, small; /* elements; those that are not 0, and of those the small ones */
    double over, cut;         /* elements beyond the range, and the squares of what is cut */
    size_t samples;
} numbers;

static void look(numbers *s, tc_tensor x, double lo, double hi, double step)
{
    int64_t n = tc_type_count(x.type);
    double most = 0;
    for (int64_t i = 0; i < n; i++) {
        double v = ti_load_f64(x, i), off = fmax(v - hi, lo - v);
        most = fmax(most, fabs(v));
        s->nonzero += v != 0;
        s->small += v != 0 && fabs(v) < SMALL * step;
        s->over += off > step;
        s->cut += off > step ? off * off : 0;
    }
    s->n += (double)n;
    s->most[s->samples++] = most;
}

/* The model with that value as one more output, run on the samples. */
static tc_status gather(tc_ctx *ctx, const tc_compiled *c, const char *name, const tc_type *type,
                        numbers *s)
{
    tc_module *m = ti_module_clone(c->work.real);
    tc_graph *g = ti_main(m);
    tc_val at = TC_NONE;
    for (tc_val v = 1; v < g->n_val && !at; v++)
        at = g->val[v]->name && ti_text_eq(g->val[v]->name, name) &&
                     ti_type_of(g, v)->dtype == TC_f32
                 ? v
                 : TC_NONE;
    if (!at || ti_module_has_state(m))
        return TC_OK;
    ti_graph_output(g, at);
    TC_TRY(ti_road_run(ctx, m, TC_AT_COPY, TC_AT_AS_READ, NULL, NULL));
    g = ti_main(m);
    tc_tensor *out = tc_new_n(&ctx->arena, tc_tensor, g->n_out + 1);
    tc_exec *exec = ti_exec_new(ctx, m);
    double step = type->quant->scale[0], zero = (double)type->quant->zero[0],
           lo = ((double)ti_dtype_min(type->dtype) - zero) * step,
           hi = ((double)ti_dtype_max(type->dtype) - zero) * step;
    for (size_t k = 0; k < c->proof.samples && k < FEW; k++) {
        TC_TRY(ti_exec_run(exec, ti_check_taken(g, c->given.sample[k], &ctx->arena), out));
        look(s, out[g->n_out - 1], lo, hi, step);
    }
    return TC_OK;
}

static const char *said_of(tc_ctx *ctx, const numbers *s, const tc_type *type, bool held_out)
{
    double step = type->quant->scale[0], first = 0, second = 0;
    for (size_t k = 0; k < s->samples; k++) {
        second = fmax(second, fmin(first, s->most[k]));
        first = fmax(first, s->most[k]);
    }
    if (s->cut > s->n * step * step / 12)
        return ti_text_format(&ctx->arena,
                              "%s: %.2g %% of its numbers leave the range that calibration chose",
                              held_out ? "data beyond calibration" : "clipped",
                              100 * s->over / s->n);
    if (s->samples > 3 && second > 0 && first > ALONE * second)
        return ti_text_format(&ctx->arena,
                              "the range of one sample: it reaches %.1f times as far as the others",
                              first / second);
    if (s->small > s->nonzero / 2)
        return ti_text_format(&ctx->arena,
                              "outliers: %.0f %% of its numbers are smaller than two steps of a range "
                              "that reaches %.3g", 100 * s->small / s->nonzero, first);
    return NULL;
}

const char *ti_noise_cause(tc_ctx *ctx, const tc_compiled *c, const char *name)
{
    const tc_graph *g = ti_main(c->work.typed);
    tc_val v = TC_NONE;
    for (tc_val k = 1; k < g->n_val && !v; k++)
        v = g->val[k]->name && ti_text_eq(g->val[k]->name, name) && ti_type_of(g, k)->quant ? k : TC_NONE;
    const tc_type *type = v ? ti_type_of(g, v) : NULL;
    if (!type || type->quant->axis >= 0)
        return NULL;
    if (feeds_steep(g, v, 0))
        return "front end: a logarithm or root reads it, for which its steps near 0 are too few";
    tc_attempt attempt;
    numbers s = {.samples = 0};
    ti_attempt_begin(ctx, &attempt);
    tc_status status = gather(ctx, c, name, type, &s);
    ti_attempt_end(ctx, &attempt);
    return status == TC_OK && s.samples ? said_of(ctx, &s, type, c->proof.held_out) : NULL;
}
