/* SPDX-License-Identifier: Apache-2.0 */
/* live_memory.c -- see live_memory.h. */
#include "live_memory.h"

int64_t ti_live_bytes(const tc_graph *g, tc_val v, uint32_t readers)
{
    const tc_type *t = ti_type_of(g, v);
    const tc_node *def = ti_def(g, v);
    if (!t || t->dtype == TC_none || ti_is_const(g, v) || !readers)
        return 0;
    int bits = tc_dtypes[t->dtype].bits;
    if (bits > 16 && (!def || def->op != TC_OP_tosa_resize))
        return 0;
    int64_t last = t->rank ? t->dim[t->rank - 1] : 1,
            each = def && last > 16 ? (last + 15) / 16 * 16 : last;
    return last ? tc_type_count(t) / last * each * ti_max_i64(bits, 8) / 8 : 0;
}

static bool pointwise(tc_op op)
{
    return TC_OP_IN(op, TC_OP_tosa_rescale, TC_OP_tosa_clamp, TC_OP_tosa_table, TC_OP_tosa_add,
                    TC_OP_tosa_sub, TC_OP_tosa_mul, TC_OP_tosa_maximum, TC_OP_tosa_minimum);
}

/* An operand in memory, of as many bytes, that is dead after node k: an elementwise result
 * overwrites it. */
static tc_val replaced(const tc_graph *g, const int64_t *bytes, const size_t *last,
                       const tc_node *node, size_t k, int64_t want)
{
    for (int i = 0; pointwise(node->op) && i < node->n_in; i++) {
        tc_val v = node->in[i];
        const tc_node *def = ti_def(g, v);
        if (bytes[v] == want && last[v] == k)
            return v;
        tc_val deeper = def && !bytes[v] ? replaced(g, bytes, last, def, k, want) : TC_NONE;
        if (deeper)
            return deeper;
    }
    return TC_NONE;
}

/* By node: the bytes of all values that are there while it runs. */
static void live_sums(tc_ctx *ctx, const tc_graph *g, const int64_t *bytes, int64_t *at)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    size_t *last = tc_new_n(&ctx->scratch, size_t, g->n_val);
    int64_t *change = tc_new_n(&ctx->scratch, int64_t, g->n_node + 1);
    for (size_t i = 0; i < g->n_out; i++)
        last[g->out[i]] = g->n_node;
    for (size_t k = g->n_node; k-- > 0;) { /* what is on the way is read when it arrives */
        const tc_node *node = g->node[k];
        size_t end = k;
        for (int i = 0; i < node->n_out; i++)
            if (!bytes[node->out[i]] && last[node->out[i]] > end && last[node->out[i]] < g->n_node)
                end = last[node->out[i]];
        for (int i = 0; i < node->n_in; i++)
            if (last[node->in[i]] < end)
                last[node->in[i]] = end;
    }
    for (size_t k = 1; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        int64_t want = node->n_out == 1 ? bytes[node->out[0]] : 0;
        tc_val v = want ? replaced(g, bytes, last, node, k, want) : TC_NONE;
        if (v)
            last[v] = k - 1;
    }
    for (size_t i = 0; i < g->n_in; i++) {
        change[0] += bytes[g->in[i]];
        if (last[g->in[i]] < g->n_node)
            change[last[g->in[i]] + 1] -= bytes[g->in[i]];
    }
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_out; i++) {
            tc_val v = g->node[k]->out[i];
            change[k] += bytes[v];
            if (last[v] < g->n_node)
                change[(last[v] < k ? k : last[v]) + 1] -= bytes[v];
        }
    int64_t now = 0;
    for (size_t k = 0; k < g->n_node; k++)
        at[k] = now += change[k];
    ti_arena_rewind(&ctx->scratch, mark);
}

int64_t ti_live_peak(tc_ctx *ctx, const tc_graph *g, const int64_t *bytes)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    int64_t *at = tc_new_n(&ctx->scratch, int64_t, g->n_node + 1), most = 0;
    live_sums(ctx, g, bytes, at);
    for (size_t k = 0; k < g->n_node; k++)
        most = ti_max_i64(most, at[k]);
    ti_arena_rewind(&ctx->scratch, mark);
    return most;
}
