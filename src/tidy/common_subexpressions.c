/* SPDX-License-Identifier: Apache-2.0 */
/* common_subexpressions.c -- eliminates common subexpressions: equal nodes become one.
 *
 * Equal: operator, attributes, operands and result types; of constants the data.  Mutable buffers
 * and nodes with side effects are never equal.  A RESCALE to a wider type is kept for each reader,
 * since machines fuse it only there. */
#include "tidy.h"

/* Nodes of the new graph with equal hash. */
typedef struct seen {
    struct seen *next;
    const tc_node *node;
} seen;

/* Some of the bytes; the rest is compared when these agree. */
static uint64_t sample(const uint8_t *data, size_t size, uint64_t h)
{
    size_t step = size / 64 + 1;
    for (size_t i = 0; i < size; i += step)
        h = ti_hash(&data[i], 1, h);
    return h;
}

static uint64_t hash_node(const tc_rewrite *rw, const tc_node *node)
{
    uint64_t h = ti_hash(&node->op, sizeof node->op, 0);
    for (int i = 0; i < node->n_in; i++)
        h = ti_hash(&rw->now[node->in[i]], sizeof(tc_val), h);
    if (node->attr)
        h = ti_attr_hash(tc_ops[node->op].attr, node->attr, h);
    if (node->op == TC_OP_const) {
        const tc_value *value = rw->from->val[node->out[0]];
        h = sample(value->data, tc_type_bytes(value->type), h);
    }
    return h;
}

static bool same_results(const tc_rewrite *rw, const tc_node *old, const tc_node *new)
{
    for (int i = 0; i < old->n_out; i++)
        if (ti_type_of(rw->from, old->out[i]) != ti_type_of(rw->to, new->out[i]))
            return false;
    if (old->op != TC_OP_const)
        return true;
    const tc_value *a = rw->from->val[old->out[0]], *b = rw->to->val[new->out[0]];
    return a->data == b->data || memcmp(a->data, b->data, tc_type_bytes(a->type)) == 0;
}

static bool same(const tc_rewrite *rw, const tc_node *old, const tc_node *new)
{
    if (old->op != new->op || old->n_in != new->n_in || old->n_out != new->n_out)
        return false;
    for (int i = 0; i < old->n_in; i++)
        if (rw->now[old->in[i]] != new->in[i])
            return false;
    return (!old->attr || ti_attr_equal(tc_ops[old->op].attr, old->attr, new->attr)) &&
           same_results(rw, old, new);
}

static bool widens(const tc_graph *g, const tc_node *node)
{
    return node->op == TC_OP_tosa_rescale &&
           tc_dtypes[ti_type_of(g, node->in[0])->dtype].bytes <
               tc_dtypes[ti_type_of(g, node->out[0])->dtype].bytes;
}

/* Whether a second run of the node would be no more than the first. */
static bool mergeable(const tc_rewrite *rw, const tc_node *node)
{
    if ((tc_ops[node->op].traits & (T_CONTROL | T_STATE)) || node->op == TC_OP_tosa_custom ||
        !node->n_out || widens(rw->from, node))
        return false;
    return !rw->from->val[node->out[0]]->state; /* buffers stay separate, whatever their initial
                                                 * values */
}

/* f(x) ... f(x) => f(x), read twice */
static tc_status merge_equal(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (!mergeable(rw, node))
        return TC_OK;
    uint64_t hash = hash_node(rw, node);
    void **slot = ti_map_at(rw->user, (tc_str){(const char *)&hash, sizeof hash});
    for (const seen *s = *slot; s && !*done; s = s->next)
        if (same(rw, node, s->node)) {
            for (int i = 0; i < node->n_out; i++)
                ti_rewrite_bind(rw, node->out[i], s->node->out[i]);
            *done = true;
        }
    if (*done)
        return TC_OK;
    ti_rewrite_copy(rw, node);
    seen *first = tc_new(&rw->ctx->scratch, seen);
    *first = (seen){*slot, ti_def(rw->to, rw->now[node->out[0]])};
    *slot = first;
    *done = true;
    return TC_OK;
}

tc_status ti_tidy_eliminate_common_subexpressions(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {merge_equal};
    tc_status status = TC_OK;
    for (size_t i = 0; i < module->n_graph && status == TC_OK; i++) {
        tc_mark mark = ti_arena_mark(&ctx->scratch);
        tc_map nodes;
        ti_map_init(&nodes, &ctx->scratch);
        status = ti_rewrite_graph(module->graph[i], rewriters, TC_COUNT(rewriters), &nodes);
        ti_arena_rewind(&ctx->scratch, mark);
    }
    return status;
}
