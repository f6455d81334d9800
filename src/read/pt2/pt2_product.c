/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_product.c -- importers of products: matmul and its relatives, einsum, attention. */
#include <math.h>

#include "pt2.h"

static tc_val einsum(tc_pt2_node *n, const char *equation, const tc_val *in, int count)
{
    return ti_b_op(&n->m, TC_OP_einsum,
                   ti_b_attr(&n->m, einsum, ti_intern_text(n->m.ctx, equation)), in, count);
}

/* beta * c + alpha * (a @ b), with the operands already matrices. */
static void bind_addmm(tc_pt2_node *n, tc_val c, tc_val a, tc_val b)
{
    double beta = ti_pt2_float(n, "beta", 1), alpha = ti_pt2_float(n, "alpha", 1);
    if (n->m.status == TC_OK && ti_pt2_has(n, "out_dtype")) {
        tc_dtype dtype = ti_pt2_dtype(n, "out_dtype", TC_none);
        a = ti_b_cast(&n->m, a, dtype);
        b = ti_b_cast(&n->m, b, dtype);
        c = ti_b_cast(&n->m, c, dtype);
    }
    ti_pt2_bind(n, 0, ti_b_3(&n->m, addmm, ti_b_attr(&n->m, addmm, beta, alpha), c, a, b));
}

/* The sum over the batch is one more inner axis: [b, n, m] -> [n, b m],  [b, m, p] -> [b m, p]. */
static void import_addbmm(tc_pt2_node *n)
{
    tc_val c = ti_pt2_tensor(n, "self"), a = ti_pt2_tensor(n, "batch1"),
           b = ti_pt2_tensor(n, "batch2");
    TC_STOP(&n->m);
    const tc_type *at = ti_b_type(&n->m, a), *bt = ti_b_type(&n->m, b);
    if (at->rank != 3 || bt->rank != 3) {
        ti_b_bad(&n->m, TC_E_SHAPE, "the batches must have rank 3");
        return;
    }
    int64_t inner = at->dim[0] * at->dim[2];
    a = ti_b_permute(&n->m, a, (int64_t[]){1, 0, 2});
    a = ti_b_reshape(&n->m, a, 2, (int64_t[]){at->dim[1], inner});
    b = ti_b_reshape(&n->m, b, 2, (int64_t[]){bt->dim[0] * bt->dim[1], bt->dim[2]});
    bind_addmm(n, c, a, b);
}

/* A vector as a matrix of one column or one row. */
static tc_val as_matrix(tc_pt2_node *n, tc_val v, bool column)
{
    TC_STOP_WITH(&n->m, v);
    if (ti_b_type(&n->m, v)->rank != 1) {
        ti_b_bad(&n->m, TC_E_SHAPE, "a vector is expected");
        return v;
    }
    int64_t size = ti_b_type(&n->m, v)->dim[0];
    return ti_b_reshape(&n->m, v, 2, (int64_t[]){column ? size : 1, column ? 1 : size});
}

static void import_outer(tc_pt2_node *n)
{
    tc_val a = as_matrix(n, ti_pt2_tensor(n, "self"), true);
    tc_val b = as_matrix(n, ti_pt2_tensor(n, "vec2"), false);
    ti_pt2_bind(n, 0, ti_b_mul(&n->m, a, b));
}

static void import_addr(tc_pt2_node *n)
{
    tc_val c = ti_pt2_tensor(n, "self");
    tc_val a = as_matrix(n, ti_pt2_tensor(n, "vec1"), true);
    bind_addmm(n, c, a, as_matrix(n, ti_pt2_tensor(n, "vec2"), false));
}

/* Sums over the last axes: a W^T with the rows of b as W. */
static void import_inner(tc_pt2_node *n)
{
    tc_val a = ti_pt2_tensor(n, "self"), b = ti_pt2_tensor(n, "other");
    TC_STOP(&n->m);
    const tc_type *at = ti_b_type(&n->m, a), *bt = ti_b_type(&n->m, b);
    if (at->rank == 0 || bt->rank == 0) {
        ti_pt2_bind(n, 0, ti_b_mul(&n->m, a, b));
        return;
    }
    int64_t last = bt->dim[bt->rank - 1], dim[TC_MAX_RANK];
    int rank = at->rank + bt->rank - 2;
    if (rank > TC_MAX_RANK) {
        ti_b_bad(&n->m, TC_E_TOO_LARGE, "the result has too many axes");
        return;
    }
    memcpy(dim, at->dim, (size_t)(at->rank - 1) * sizeof *dim);
    memcpy(dim + at->rank - 1, bt->dim, (size_t)(bt->rank - 1) * sizeof *dim);
    if (bt->rank > 2)
        b = ti_b_reshape(&n->m, b, 2, (int64_t[]){last ? tc_type_count(bt) / last : 0, last});
    tc_val y = ti_b_2(&n->m, linear, NULL, a, b);
    ti_pt2_bind(n, 0, bt->rank > 2 ? ti_b_reshape(&n->m, y, rank, dim) : y);
}

static void import_chain(tc_pt2_node *n)
{
    int count;
    tc_val *list = ti_pt2_tensors(n, n->row->extra != 0 ? "tensors" : "matrices", &count);
    if (n->m.status == TC_OK && count < 1)
        ti_b_bad(&n->m, TC_E_ARGUMENT, "the list of matrices is empty");
    TC_STOP(&n->m);
    tc_val y = list[0];
    for (int i = 1; i < count; i++)
        y = ti_b_matmul(&n->m, y, list[i]);
    ti_pt2_bind(n, 0, y);
}

/* Sums of narrow integers may be wider: by the declared result type. */
/* The labels of an equation's operand, those of "..." as numbers below ' '. */
static int labels_of(const char *text, const char *end, int dots, char label[2 * TC_MAX_RANK])
{
    int n = 0;
    for (; text < end && n < TC_MAX_RANK; text++) {
        if (*text == '.')
            for (int i = 0; i < dots && n < TC_MAX_RANK && text[1] == '.' && text[2] == '.'; i++)
                label[n++] = (char)(i + 1);
        else if (*text != ' ')
            label[n++] = *text;
    }
    return n;
}

/* Without "->": labels that occur once, in alphabetical order, "..." first. */
static int lone_labels(const char *label, int n, char out[2 * TC_MAX_RANK])
{
    int count = 0;
    for (int c = 1; c < 128; c++) {
        int times = 0;
        for (int i = 0; i < n; i++)
            times += label[i] == c;
        if (times == 1 || (times && c < ' '))
            out[count++] = (char)c;
    }
    return count;
}

static int place_of(char c, const char *label, int n)
{
    for (int i = 0; i < n; i++)
        if (label[i] == c)
            return i;
    return -1;
}

/* An equation of one tensor that sums nothing: diagonals and another order of axes, which is a
 * view.  NONE: it is another equation. */
static tc_val moved(tc_pt2_node *n, const char *equation, tc_val x)
{
    const char *arrow = strstr(equation, "->"), *end = equation + strlen(equation);
    char label[2 * TC_MAX_RANK], out[2 * TC_MAX_RANK];
    int rank = ti_b_type(&n->m, x)->rank;
    int named = labels_of(equation, arrow ? arrow : end, 0, label);
    int count = labels_of(equation, arrow ? arrow : end, rank - named, label);
    int n_out = arrow ? labels_of(arrow + 2, end, rank - named, out)
                      : lone_labels(label, count, out);
    if (count != rank)
        return TC_NONE;
    for (int i = 0; i < count; i++)
        for (int k = count; k-- > i + 1;)
            if (label[i] == label[k]) { /* both axes go, their diagonal is the last one */
                char both = label[i];
                x = ti_b_1(&n->m, diagonal, ti_b_attr(&n->m, diagonal, 0, i, k), x);
                memmove(label + k, label + k + 1, (size_t)(count - k - 1));
                memmove(label + i, label + i + 1, (size_t)(count - i - 2));
                label[count - 2] = both;
                count--;
                k = count;
            }
    int64_t perm[2 * TC_MAX_RANK];
    for (int i = 0; i < n_out; i++)
        if ((perm[i] = place_of(out[i], label, count)) < 0)
            return TC_NONE;
    return n->m.status == TC_OK && n_out == count ? ti_b_permute(&n->m, x, perm) : TC_NONE;
}

static void import_einsum(tc_pt2_node *n)
{
    int count;
    const char *equation = ti_pt2_text(n, "equation", "");
    tc_val *list = ti_pt2_tensors(n, "tensors", &count);
    const tc_type *result = ti_pt2_result_type(n, 0);
    for (int i = 0; result && n->m.status == TC_OK && i < count; i++)
        list[i] = ti_b_cast(&n->m, list[i], result->dtype);
    TC_STOP(&n->m);
    tc_val view = count == 1 && list[0] ? moved(n, equation, list[0]) : TC_NONE;
    ti_pt2_result(n, view ? view : einsum(n, equation, list, count));
}

/* Contraction of given axes, as an equation: labels of b's contracted axes are those of a's. */
static void import_tensordot(tc_pt2_node *n)
{
    tc_val a = ti_pt2_tensor(n, "self"), b = ti_pt2_tensor(n, "other");
    tc_ints left = ti_pt2_ints(n, "dims_self"), right = ti_pt2_ints(n, "dims_other");
    TC_STOP(&n->m);
    int ra = ti_b_type(&n->m, a)->rank, rb = ti_b_type(&n->m, b)->rank;
    char label[2][TC_MAX_RANK];
    bool summed[2][TC_MAX_RANK] = {{false}};
    for (int i = 0; i < TC_MAX_RANK; i++) {
        label[0][i] = (char)('a' + i);
        label[1][i] = (char)('A' + i);
    }
    if (left.n != right.n) {
        ti_b_bad(&n->m, TC_E_ARGUMENT, "the two lists of axes have different lengths");
        return;
    }
    for (int i = 0; i < left.n; i++) {
        int64_t p = ti_b_axis(&n->m, left.v[i], ra), q = ti_b_axis(&n->m, right.v[i], rb);
        summed[0][p] = summed[1][q] = true;
        label[1][q] = label[0][p];
    }
    tc_buf text;
    ti_buf_init(&text, &n->m.ctx->arena);
    ti_buf_printf(&text, "%.*s,%.*s->", ra, label[0], rb, label[1]);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < (k ? rb : ra); i++)
            if (!summed[k][i])
                ti_buf_u8(&text, (uint8_t)label[k][i]);
    ti_pt2_bind(n, 0, einsum(n, ti_buf_cstr(&text), (tc_val[]){a, b}, 2));
}

/* The norm of every difference between the rows of two lists. */
static void import_cdist(tc_pt2_node *n)
{
    tc_val a = ti_pt2_tensor(n, "x1"), b = ti_pt2_tensor(n, "x2");
    double p = ti_pt2_float(n, "p", 2);
    TC_STOP(&n->m);
    const tc_type *at = ti_b_type(&n->m, a), *bt = ti_b_type(&n->m, b);
    if (at->rank < 2 || bt->rank < 2 || at->rank >= TC_MAX_RANK || bt->rank >= TC_MAX_RANK) {
        ti_b_bad(&n->m, TC_E_SHAPE, "operands of rank 2 or more are expected");
        return;
    }
    int64_t left[TC_MAX_RANK], right[TC_MAX_RANK];
    memcpy(left, at->dim, sizeof left);
    memcpy(right, bt->dim, sizeof right);
    left[at->rank] = left[at->rank - 1];
    left[at->rank - 1] = 1;
    right[bt->rank] = right[bt->rank - 1];
    right[bt->rank - 1] = right[bt->rank - 2];
    right[bt->rank - 2] = 1;
    a = ti_b_reshape(&n->m, a, at->rank + 1, left);
    b = ti_b_reshape(&n->m, b, bt->rank + 1, right);
    tc_val d = ti_b_sub(&n->m, a, b);
    TC_STOP(&n->m);
    tc_ints axes = ti_ints_fill(&n->m.ctx->arena, ti_b_type(&n->m, d)->rank - 1, 1);
    ti_pt2_bind(n, 0, ti_b_1(&n->m, norm, ti_b_attr(&n->m, norm, axes, false, p), d));
}

/* Every form of attention; only the first result is made. */
static void import_sdpa(tc_pt2_node *n)
{
    tc_val q = ti_pt2_tensor(n, "query"), k = ti_pt2_tensor(n, "key"),
           v = ti_pt2_tensor(n, "value");
    tc_val mask = ti_pt2_tensor_opt(n, ti_pt2_has(n, "attn_bias") ? "attn_bias" : "attn_mask");
    if (ti_pt2_float(n, "dropout_p", 0) != 0)
        ti_b_unsupported(&n->m, "dropout is for training; export the model in eval mode");
    TC_STOP(&n->m);
    int rank = ti_b_type(&n->m, q)->rank;
    double width = rank ? (double)ti_b_type(&n->m, q)->dim[rank - 1] : 1;
    tc_attr_sdpa *a = ti_b_attr(&n->m, sdpa, .causal = ti_pt2_bool(n, "is_causal", false),
                                .gqa = ti_pt2_bool(n, "enable_gqa", false));
    a->scale = ti_pt2_float(n, "scale", width > 0 ? 1 / sqrt(width) : 1);
    ti_pt2_bind(n, 0, ti_b_op(&n->m, TC_OP_sdpa, a, (tc_val[]){q, k, v, mask}, mask ? 4 : 3));
}

const tc_pt2_row tc_pt2_product[] = {
    ROW("addbmm", import_addbmm, const, 0),
    ROW("addr", import_addr, const, 0),
    ROW("outer ger", import_outer, const, 0),
    ROW("inner", import_inner, const, 0),
    ROW("chain_matmul", import_chain, const, 0),
    ROW("linalg_multi_dot", import_chain, const, 1),
    VIEW_ROW("einsum", import_einsum, const, MOVED),
    ROW("tensordot", import_tensordot, const, 0),
    ROW("cdist _cdist_forward _euclidean_dist", import_cdist, const, 0),
    ROW("scaled_dot_product_attention _scaled_dot_product_attention_math "
        "_scaled_dot_product_flash_attention _scaled_dot_product_flash_attention_for_cpu "
        "_scaled_dot_product_efficient_attention _scaled_dot_product_cudnn_attention "
        "_scaled_dot_product_fused_attention_overrideable", import_sdpa, const, 0),
    {0},
};
