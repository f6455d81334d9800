/* SPDX-License-Identifier: Apache-2.0 */
/* change_lost.c -- operators that the target leaves to the CPU or finds hard: other types, other
 * operators, an end before them. */
#include "advise.h"

/* ---- 64-bit inputs ---- */

void ti_find_int32(tc_advisor *a, const tc_advice_kind *kind)
{
    size_t n = 0;
    for (size_t i = 0; i < a->g->n_in; i++)
        n += ti_type_of(a->g, a->g->in[i])->dtype == TC_i64;
    if (n)
        ti_propose(a, kind, NULL, 0, "int32 instead of int64 at %zu input%s", n,
                   n == 1 ? "" : "s");
}

tc_status ti_change_int32(tc_advisor *a, const tc_proposal *p, tc_altered *to)
{
    tc_graph *g = ti_main(to->module);
    (void)p;
    for (size_t i = 0; i < g->n_in; i++) {
        tc_value *v = g->val[g->in[i]];
        if (v->type->dtype == TC_i64)
            v->type = ti_type_make(a->ctx, TC_i32, v->type->rank, v->type->dim);
    }
    return TC_OK;
}

/* ---- the end of the program ---- */

/* The share of the target's work that may be after a cut. */
static const double BEHIND = 0.05;

/* By node: it is `first`, or reads what one of these makes; in the arena. */
static bool *nodes_behind(tc_ctx *ctx, const tc_graph *g, size_t first)
{
    bool *made = tc_new_n(&ctx->arena, bool, g->n_val), *in = tc_new_n(&ctx->arena, bool, g->n_node);
    for (size_t k = first; k < g->n_node; k++) {
        in[k] = k == first;
        for (int i = 0; i < g->node[k]->n_in; i++)
            in[k] = in[k] || made[g->node[k]->in[i]];
        for (int i = 0; i < g->node[k]->n_out; i++)
            made[g->node[k]->out[i]] = in[k];
    }
    return in;
}

/* Of these nodes, or of all (NULL): cycles, or operators where those are not known. */
static double work_in(const tc_advisor *a, const bool *in, bool cycles)
{
    double sum = 0;
    for (size_t k = 0; k < a->g->n_node; k++)
        if (!in || in[k])
            sum += cycles ? a->cycles[k] : a->g->node[k]->op != TC_OP_const && !a->lost[k];
    return sum;
}

void ti_find_tails(tc_advisor *a, const tc_advice_kind *kind)
{
    bool cycles = work_in(a, NULL, true) > 0;
    size_t first = 0;
    while (first < a->g->n_node && !a->lost[first])
        first++;
    if (first == a->g->n_node || a->g->n_mutation)
        return;
    const bool *behind = nodes_behind(a->ctx, a->g, first);
    if (work_in(a, behind, cycles) > BEHIND * work_in(a, NULL, cycles))
        return;
    size_t *at = tc_new_n(&a->ctx->scratch, size_t, a->g->n_node), n = 0, why = first;
    for (size_t k = first; k < a->g->n_node; k++)
        if (behind[k] && a->lost[k]) {
            at[n++] = k;
            why = ti_text_starts(a->lost[why], "it counts") ? k : why;
        }
    ti_propose(a, kind, at, n, "end the model before %s, and compute the rest in your own code (%s)",
               n == 1 ? "it" : "them", a->lost[why]);
}

/* Values made before the cut and read after it, or outputs before it, become outputs. */
tc_status ti_change_tails(tc_advisor *a, const tc_proposal *p, tc_altered *to)
{
    tc_graph *g = ti_main(to->module);
    bool *behind = nodes_behind(a->ctx, g, p->at[0]);
    bool *given = tc_new_n(&a->ctx->arena, bool, g->n_val);
    bool *gone = tc_new_n(&a->ctx->arena, bool, g->n_val);
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_out; i++)
            gone[g->node[k]->out[i]] = behind[k];
    for (size_t i = 0; i < g->n_out; i++)
        given[g->out[i]] = !gone[g->out[i]];
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in && behind[k]; i++) {
            tc_val v = g->node[k]->in[i];
            given[v] = given[v] || (v && !gone[v] && ti_def(g, v) && ti_def(g, v)->op != TC_OP_const);
        }
    g->n_out = 0;
    for (tc_val v = 1; v < g->n_val; v++)
        if (given[v])
            ti_graph_output(g, v);
    to->module->signature.out = NULL;
    to->module->signature.n_out = 0;
    to->module->signature.out_tree = NULL;
    return g->n_out ? TC_OK : ti_error(a->ctx, p->node->loc, TC_E_STRUCTURE, "nothing is left before it");
}

/* ---- products of two activations ---- */

static bool multiplies_activations(const tc_graph *g, const tc_node *node)
{
    return node->op == TC_OP_sdpa ||
           ((node->op == TC_OP_matmul || node->op == TC_OP_einsum || node->op == TC_OP_linear) &&
            node->n_in >= 2 && !ti_is_const(g, node->in[0]) && !ti_is_const(g, node->in[1]));
}

void ti_find_products(tc_advisor *a, const tc_advice_kind *kind)
{
    if (!a->target.machine->can.products_by_conv || a->options.ethosu.u55_products)
        return;
    size_t *at = tc_new_n(&a->ctx->scratch, size_t, a->g->n_node), n = 0;
    for (size_t k = 0; k < a->g->n_node; k++)
        if (multiplies_activations(a->g, a->g->node[k]))
            at[n++] = k;
    if (n)
        ti_propose(a, kind, at, n, "%zu product%s of activations as convolutions", n,
                   n == 1 ? "" : "s")
            ->option = "--optimise products";
}

tc_status ti_change_products(tc_advisor *a, const tc_proposal *p, tc_altered *to)
{
    (void)a, (void)p;
    to->options.ethosu.u55_products = true;
    return TC_OK;
}

/* ---- interpolation ---- */

void ti_find_resizes(tc_advisor *a, const tc_advice_kind *kind)
{
    static const tc_op smooth[] = {TC_OP_upsample_linear, TC_OP_upsample_cubic};
    size_t *at = tc_new_n(&a->ctx->scratch, size_t, a->g->n_node);
    for (size_t i = 0; i < TC_COUNT(smooth); i++) {
        size_t n = 0;
        for (size_t k = 0; k < a->g->n_node; k++)
            if (a->g->node[k]->op == smooth[i])
                at[n++] = k;
        if (n)
            ti_propose(a, kind, at, n, "nearest instead of %s upsampling (%zu time%s)",
                       i ? "bicubic" : "bilinear", n, n == 1 ? "" : "s");
    }
}

tc_status ti_change_resizes(tc_advisor *a, const tc_proposal *p, tc_altered *to)
{
    tc_graph *g = ti_main(to->module);
    (void)a;
    for (size_t i = 0; i < p->n_at; i++)
        g->node[p->at[i]]->op = TC_OP_upsample_nearest;
    return TC_OK;
}
