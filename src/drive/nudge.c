/* SPDX-License-Identifier: Apache-2.0 */
/* nudge.c -- see nudge.h.
 *
 * A result near a discontinuity (a remainder, an angle of 0 / 0), near a pole, or left over where
 * larger terms cancel, is not determined more precisely than this. */
#include "nudge.h"

#include <math.h>

#include "../num/load.h"
#include "../run/eval.h"
#include "checker.h"

enum { TRIES = 8 };
static const double BY = 1e-6, MANY = 30; /* a pass rounds more than once */

/* Each float a millionth up or down, and zeros of either sign. */
static void nudge(tc_tensor t, uint64_t *seed)
{
    for (int64_t e = 0; ti_is_float(t.type->dtype) && t.data && e < tc_type_count(t.type); e++) {
        *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        double x = ti_load_f64(t, e), by = *seed >> 62 & 1 ? BY : -BY;
        ti_store_f64(t, e, x == 0 ? copysign(0, by) : x * (1 + by));
    }
}

static tc_tensor copied(tc_arena *arena, tc_tensor t)
{
    return t.data ? (tc_tensor){t.type, ti_arena_copy(arena, t.data, tc_type_bytes(t.type))} : t;
}

static tc_status run(tc_graph *g, const tc_tensor *in, uint64_t seed, tc_tensor *at,
                     tc_arena *arena)
{
    for (size_t v = 1; v < g->n_val; v++)
        at[v] = (tc_tensor){g->val[v]->type, (void *)(uintptr_t)g->val[v]->data}; /* state begins so */
    for (size_t i = 0; i < g->n_in; i++)
        at[g->in[i]] = in[i];
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        tc_tensor *operand = tc_new_n(arena, tc_tensor, (size_t)node->n_in);
        tc_tensor *result = tc_new_n(arena, tc_tensor, (size_t)node->n_out);
        if (node->op == TC_OP_const)
            continue;
        for (int i = 0; i < node->n_in; i++)
            operand[i] = at[node->in[i]];
        TC_TRY(ti_eval_node(g, node, operand, result, arena));
        for (int i = 0; i < node->n_out; i++) {
            at[node->out[i]] = copied(arena, result[i]); /* a view shares the data of another
                                                            value */
            nudge(at[node->out[i]], &seed);
        }
    }
    return TC_OK;
}

/* How far an element has moved so far; INFINITY where it is finite in one run only. */
static double further(double by, double before, double now)
{
    if (isfinite(before) != isfinite(now) || isnan(before) != isnan(now))
        return INFINITY;
    return isfinite(now) ? fmax(by, fabs(now - before)) : before == now || isnan(now) ? by : INFINITY;
}

static bool is_off(double before, double after, double known, double roamed)
{
    bool same = before == after || (isnan(before) && isnan(after));
    return !same && isfinite(roamed) && !(fabs(after - before) <= known + MANY * roamed);
}

bool ti_nudge_explains(tc_ctx *ctx, const tc_graph *g, const tc_tensor *in, tc_val v,
                       tc_tensor before, tc_tensor after, double known)
{
    tc_arena arena;
    ti_arena_init_like(&arena, &ctx->arena);
    int64_t n = ti_check_count(before);
    double *roamed = tc_new_n(&arena, double, (size_t)n);
    tc_graph as_it_was = *g;
    const tc_tensor *taken = ti_check_taken(g, in, &arena);
    tc_status status = TC_OK;
    for (uint64_t s = 0; s < TRIES && status == TC_OK; s++) {
        tc_mark mark = ti_arena_mark(&arena);
        tc_tensor *at = tc_new_n(&arena, tc_tensor, g->n_val);
        status = run(&as_it_was, taken, s * 31337, at, &arena);
        for (int64_t e = 0; status == TC_OK && e < n; e++)
            roamed[e] = further(roamed[e], ti_check_real(before, e), ti_check_real(at[v], e));
        ti_arena_rewind(&arena, mark);
    }
    bool fine = status == TC_OK;
    for (int64_t e = 0; e < n && fine; e++)
        fine = !is_off(ti_check_real(before, e), ti_check_real(after, e), known, roamed[e]);
    ti_arena_free(&arena);
    return fine;
}
