/* SPDX-License-Identifier: Apache-2.0 */
/* contract.c -- an einsum of three and more operands, two at a time from the left.
 *
 *   ab,bc,cd->ad  =>  (ab,bc->ac), cd -> ad
 *
 * A label stays as long as a later operand or the result has it.  What lies between is a value of
 * its own, which can be observed and quantized; the sums are those of einsum's kernel. */
#include "tidy.h"

#include "../num/einsum.h"

typedef struct labels {
    int n;
    uint8_t v[2 * TC_MAX_RANK];
} labels;

static bool has(const uint8_t *list, int n, uint8_t label)
{
    for (int i = 0; i < n; i++)
        if (list[i] == label)
            return true;
    return false;
}

static bool is_needed(const tc_einsum *e, int from, uint8_t label)
{
    if (has(e->out, e->out_rank, label))
        return true;
    for (int k = from; k < e->n_in; k++)
        if (has(e->in[k], e->rank[k], label))
            return true;
    return false;
}

/* What operands up to k leave behind. */
static labels left_over(const tc_einsum *e, const labels *left, int k)
{
    labels out = {0};
    for (int side = 0; side < 2; side++) {
        const uint8_t *list = side ? e->in[k] : left->v;
        for (int i = 0; i < (side ? e->rank[k] : left->n); i++)
            if (!has(out.v, out.n, list[i]) && is_needed(e, k + 1, list[i]))
                out.v[out.n++] = list[i];
    }
    return out;
}

/* A letter for each label: its own, or for an axis of "..." one that nobody has. */
static bool name_labels(const tc_einsum *e, char *name)
{
    bool used[52] = {0};
    for (int k = 0; k < e->n_in; k++)
        for (int i = 0; i < e->rank[k]; i++)
            if (e->in[k][i] < 52)
                used[e->in[k][i]] = true;
    int next = 0;
    for (int i = 0; i < TC_EINSUM_LABELS; i++) {
        int letter = i;
        if (i >= 52) {
            while (next < 52 && used[next])
                next++;
            if (next == 52)
                return false;
            letter = next++;
        }
        name[i] = (char)(letter < 26 ? 'A' + letter : 'a' + letter - 26);
    }
    return true;
}

static void spell(tc_buf *text, const char *name, const uint8_t *list, int n)
{
    for (int i = 0; i < n; i++)
        tc_buf_u8(text, (uint8_t)name[list[i]]);
}

static bool is_plain(const tc_rewrite *rw, const tc_node *node)
{
    bool plain = !tc_type_of(rw->from, node->out[0])->quant;
    for (int i = 0; i < node->n_in; i++)
        plain = plain && !tc_type_of(rw->from, node->in[i])->quant;
    return plain;
}

static tc_status contract(tc_rewrite *rw, const tc_node *node, bool *done)
{
    tc_tensor in[TC_EINSUM_OPERANDS];
    char name[TC_EINSUM_LABELS];
    tc_einsum e;
    if (node->op != TC_OP_einsum || node->n_in < 3 || node->n_in > TC_EINSUM_OPERANDS ||
        !is_plain(rw, node))
        return TC_OK;
    for (int i = 0; i < node->n_in; i++)
        in[i] = (tc_tensor){tc_type_of(rw->from, node->in[i]), NULL};
    const char *equation = ((const tc_attr_einsum *)node->attr)->equation;
    if (tc_einsum_parse(equation, in, node->n_in, &e) || !name_labels(&e, name))
        return TC_OK;
    labels left = {.n = e.rank[0]};
    memcpy(left.v, e.in[0], (size_t)left.n);
    for (int k = 1; k < e.n_in; k++)
        if (left_over(&e, &left, k).n > TC_MAX_RANK)
            return TC_OK;
        else if (k + 1 < e.n_in)
            left = left_over(&e, &left, k);
    left = (labels){.n = e.rank[0]};
    memcpy(left.v, e.in[0], (size_t)left.n);
    tc_val v = tc_rewrite_in(rw, node, 0);
    for (int k = 1; k < e.n_in; k++) {
        bool last = k + 1 == e.n_in;
        labels result = left_over(&e, &left, k);
        tc_buf text;
        tc_buf_init(&text, &rw->ctx->arena);
        spell(&text, name, left.v, left.n);
        tc_buf_text(&text, ",");
        spell(&text, name, e.in[k], e.rank[k]);
        tc_buf_text(&text, "->");
        spell(&text, name, last ? e.out : result.v, last ? e.out_rank : result.n);
        tc_attr_einsum *a = tc_new(&rw->ctx->arena, tc_attr_einsum);
        a->equation = tc_intern_text(rw->ctx, tc_buf_cstr(&text));
        tc_node *made;
        tc_val pair[] = {v, tc_rewrite_in(rw, node, k)};
        TC_TRY(tc_graph_emit(rw->to, TC_OP_einsum, a, pair, 2, 1, node->loc, &made));
        v = made->out[0];
        left = result;
    }
    tc_rewrite_bind(rw, node->out[0], v);
    *done = true;
    return TC_OK;
}

tc_status tc_tidy_contract(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {contract};
    (void)ctx;
    return tc_rewrite_module(module, rewriters, TC_COUNT(rewriters), NULL);
}
