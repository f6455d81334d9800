/* SPDX-License-Identifier: Apache-2.0 */
/* split_einsums.c -- an einsum becomes einsums of two operands, each label once per operand.
 *
 * A label that an operand has twice is its diagonal; one that neither the others nor the result
 * have is summed first; the rest of a single operand is a permutation:
 *
 *   bii,bcj->bi   =>  diagonal(x), sum(y):  bi,b->bi
 *
 * Three and more operands are taken two at a time from the left:
 *
 *   ab,bc,cd->ad  =>  (ab,bc->ac), cd -> ad
 *
 * A label stays as long as a later operand or the result has it.  Each intermediate result is a
 * value that can be observed and quantized; the sums are those of einsum's kernel. */
#include "tidy.h"

#include "../num/einsum.h"

typedef struct labels {
    int n;
    uint8_t v[2 * TC_MAX_RANK];
} labels;

static bool is_needed(const tc_einsum *e, int from, uint8_t label)
{
    if (ti_einsum_has(e->out, e->out_rank, label))
        return true;
    for (int k = from; k < e->n_in; k++)
        if (ti_einsum_has(e->in[k], e->rank[k], label))
            return true;
    return false;
}

/* The labels after operands up to k. */
static labels left_over(const tc_einsum *e, const labels *left, int k)
{
    labels out = {0};
    for (int side = 0; side < 2; side++) {
        const uint8_t *list = side ? e->in[k] : left->v;
        for (int i = 0; i < (side ? e->rank[k] : left->n); i++)
            if (!ti_einsum_has(out.v, out.n, list[i]) && is_needed(e, k + 1, list[i]))
                out.v[out.n++] = list[i];
    }
    return out;
}

/* A letter for each label: its own, or for an axis of "..." an unused one. */
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
        ti_buf_u8(text, (uint8_t)name[list[i]]);
}

static bool is_plain(const tc_rewrite *rw, const tc_node *node)
{
    bool plain = !ti_type_of(rw->from, node->out[0])->quant;
    for (int i = 0; i < node->n_in; i++)
        plain = plain && !ti_type_of(rw->from, node->in[i])->quant;
    return plain;
}

/* The einsum of a node, read; false: it is none, or has codes. */
static bool read_einsum(const tc_rewrite *rw, const tc_node *node, tc_einsum *e, char *name)
{
    tc_tensor in[TC_EINSUM_OPERANDS];
    if (node->op != TC_OP_einsum || node->n_in > TC_EINSUM_OPERANDS || !is_plain(rw, node))
        return false;
    for (int i = 0; i < node->n_in; i++)
        in[i] = (tc_tensor){ti_type_of(rw->from, node->in[i]), NULL};
    const char *equation = ((const tc_attr_einsum *)node->attr)->equation;
    return !ti_einsum_parse(equation, in, node->n_in, e) && name_labels(e, name);
}

/* ---- operands by themselves ---- */

/* The first axis whose label comes again at *again, with as many elements; -1: none. */
static int repeated(const tc_type *t, const uint8_t *label, int n, int *again)
{
    for (int i = 0; i < n; i++)
        for (*again = i + 1; *again < n; (*again)++)
            if (label[i] == label[*again] && t->dim[i] == t->dim[*again])
                return i;
    return -1;
}

/* No operand but k has the label. */
static bool is_own(const tc_einsum *e, int k, uint8_t label)
{
    bool own = !ti_einsum_has(e->out, e->out_rank, label);
    for (int i = 0; i < e->n_in; i++)
        own = own && (i == k || !ti_einsum_has(e->in[i], e->rank[i], label));
    return own;
}

/* Operand k without labels that it has twice, or that only it has. */
static tc_val alone(tc_build *b, tc_einsum *e, int k)
{
    uint8_t *label = e->in[k];
    tc_val x = ti_b_in(b, k);
    for (int i, j; x && (i = repeated(ti_b_type(b, x), label, e->rank[k], &j)) >= 0;) {
        x = ti_b_1(b, diagonal, ti_b_attr(b, diagonal, .axis1 = i, .axis2 = j), x);
        uint8_t own = label[i]; /* it comes last */
        int n = 0;
        for (int axis = 0; axis < e->rank[k]; axis++)
            if (axis != i && axis != j)
                label[n++] = label[axis];
        label[n++] = own;
        e->rank[k] = n;
    }
    int64_t summed[TC_MAX_RANK];
    int n_summed = 0, n = 0;
    for (int axis = 0; axis < e->rank[k]; axis++)
        if (is_own(e, k, label[axis]))
            summed[n_summed++] = axis;
    if (!n_summed)
        return x;
    x = ti_b_sum(b, x, ti_ints_copy(&b->ctx->arena, summed, n_summed), false);
    for (int axis = 0; axis < e->rank[k]; axis++)
        if (!is_own(e, k, label[axis]))
            label[n++] = label[axis];
    e->rank[k] = n;
    return x;
}

/* A single operand's axes in the result's order. */
static tc_val ordered(tc_build *b, const tc_einsum *e, tc_val x)
{
    int64_t perm[TC_MAX_RANK];
    for (int i = 0; i < e->out_rank; i++)
        for (int axis = 0; axis < e->rank[0]; axis++)
            if (e->in[0][axis] == e->out[i])
                perm[i] = axis;
    return ti_b_permute(b, x, perm);
}

static bool is_simple(const tc_rewrite *rw, const tc_node *node, const tc_einsum *e)
{
    bool simple = e->n_in > 1;
    for (int k = 0; k < e->n_in; k++) {
        int again;
        simple = simple && repeated(ti_type_of(rw->from, node->in[k]), e->in[k], e->rank[k],
                                    &again) < 0;
        for (int i = 0; i < e->rank[k]; i++)
            simple = simple && !is_own(e, k, e->in[k][i]);
    }
    return simple;
}

static bool differs(const tc_einsum *e, int k)
{
    for (int i = 0; i < e->rank[k]; i++)
        for (int j = i + 1; j < e->rank[k]; j++)
            if (e->in[k][i] == e->in[k][j])
                return true;
    return false;
}

static tc_val put_einsum(tc_build *b, tc_buf *equation, const tc_val *in, int n)
{
    const char *text = ti_intern_text(b->ctx, ti_buf_cstr(equation));
    return ti_b_op(b, TC_OP_einsum, ti_b_attr(b, einsum, text), in, n);
}

static tc_status simplify(tc_rewrite *rw, const tc_node *node, bool *done)
{
    char name[TC_EINSUM_LABELS];
    tc_einsum e;
    if (!read_einsum(rw, node, &e, name) || is_simple(rw, node, &e) ||
        !ti_is_float(ti_type_of(rw->from, node->out[0])->dtype))
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    tc_val in[TC_EINSUM_OPERANDS];
    tc_buf text;
    ti_buf_init(&text, &rw->ctx->arena);
    for (int k = 0; k < e.n_in; k++) {
        in[k] = alone(&b, &e, k);
        ti_buf_text(&text, k ? "," : "");
        spell(&text, name, e.in[k], e.rank[k]);
    }
    if (e.n_in == 1 && !differs(&e, 0))
        return ti_b_replace(&b, ordered(&b, &e, in[0]), done);
    ti_buf_text(&text, "->");
    spell(&text, name, e.out, e.out_rank);
    return ti_b_replace(&b, put_einsum(&b, &text, in, e.n_in), done);
}

/* ---- two at a time ---- */

static tc_status split_einsums(tc_rewrite *rw, const tc_node *node, bool *done)
{
    char name[TC_EINSUM_LABELS];
    tc_einsum e;
    if (node->n_in < 3 || !read_einsum(rw, node, &e, name))
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
    tc_build b = ti_build_instead(rw, node);
    tc_val v = ti_b_in(&b, 0);
    for (int k = 1; k < e.n_in; k++) {
        bool last = k + 1 == e.n_in;
        labels result = left_over(&e, &left, k);
        tc_buf text;
        ti_buf_init(&text, &rw->ctx->arena);
        spell(&text, name, left.v, left.n);
        ti_buf_text(&text, ",");
        spell(&text, name, e.in[k], e.rank[k]);
        ti_buf_text(&text, "->");
        spell(&text, name, last ? e.out : result.v, last ? e.out_rank : result.n);
        v = put_einsum(&b, &text, (tc_val[]){v, ti_b_in(&b, k)}, 2);
        left = result;
    }
    return ti_b_replace(&b, v, done);
}

tc_status ti_tidy_split_einsums(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const first[] = {simplify}, *const second[] = {split_einsums};
    (void)ctx;
    TC_TRY(ti_rewrite_module(module, first, TC_COUNT(first), NULL));
    return ti_rewrite_module(module, second, TC_COUNT(second), NULL);
}
