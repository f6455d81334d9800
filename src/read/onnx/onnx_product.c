/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_product.c -- builders of matrix products. */
#include "onnx.h"

/* alpha A' B' + beta C; with weights the other way round and no factors it is a linear layer. */
void ti_onnx_build_gemm(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val a = ti_onnx_need(n, 0), b = ti_onnx_need(n, 1), c = ti_onnx_in(n, 2);
    double alpha = ti_onnx_float(n, "alpha", 1), beta = ti_onnx_float(n, "beta", 1);
    bool trans_b = ti_onnx_int(n, "transB", 0);
    TC_STOP(m);
    if (ti_b_type(m, a)->rank != 2 || ti_b_type(m, b)->rank != 2) {
        ti_b_bad(m, TC_E_SHAPE, "Gemm of ranks %d and %d, expected 2", ti_b_type(m, a)->rank,
                 ti_b_type(m, b)->rank);
        return;
    }
    if (ti_onnx_int(n, "transA", 0))
        a = ti_b_swap(m, a, 0, 1);
    const tc_type *bias = c ? ti_b_type(m, c) : NULL;
    int64_t columns = ti_b_type(m, b)->dim[trans_b ? 0 : 1];
    bool plain = alpha == 1 && beta == 1 && ti_is_float(ti_b_dtype(m, a)) &&
                 (!c || (tc_type_count(bias) == columns && bias->rank >= 1 &&
                         bias->dim[bias->rank - 1] == columns));
    if (plain) {
        c = ti_onnx_whole_bias(n, a, b, c);
        if (!trans_b)
            b = ti_b_swap(m, b, 0, 1);
        if (c)
            c = ti_b_flat(m, c);
        ti_onnx_bind(n, 0, ti_b_op(m, TC_OP_linear, NULL, (tc_val[]){a, b, c}, 3));
        return;
    }
    if (trans_b)
        b = ti_b_swap(m, b, 0, 1);
    tc_val y = ti_b_matmul(m, a, b);
    y = ti_b_mul_n(m, y, alpha);
    if (c && beta != 0) {
        c = ti_b_mul_n(m, c, beta);
        y = ti_b_add(m, y, c);
    }
    ti_onnx_bind(n, 0, y);
}

void ti_onnx_build_einsum(tc_onnx_node *n)
{
    tc_val *in = tc_new_n(&n->m.ctx->arena, tc_val, (size_t)n->n_in);
    for (int i = 0; i < n->n_in; i++)
        in[i] = ti_onnx_need(n, i);
    const char *equation = ti_intern_text(n->m.ctx, ti_onnx_text(n, "equation", ""));
    ti_onnx_bind(n, 0,
                 ti_b_op(&n->m, TC_OP_einsum, ti_b_attr(&n->m, einsum, equation), in, n->n_in));
}

/* By rows of the rest: det(A) = sum over j of (-1)^j a[0][j] det(without row 0, column j). */
static tc_val minor(tc_build *m, tc_val x, int row, const int *column, int count)
{
    int rank = m->status == TC_OK ? ti_b_type(m, x)->rank : 2;
    tc_val sum = TC_NONE, line = ti_b_select(m, x, rank - 2, row);
    for (int j = 0; j < count; j++) {
        tc_val a = ti_b_select(m, line, rank - 2, column[j]);
        int rest[8], k = 0;
        for (int i = 0; i < count; i++)
            if (i != j)
                rest[k++] = column[i];
        if (count > 1) {
            tc_val inner = minor(m, x, row + 1, rest, count - 1);
            a = ti_b_mul(m, a, inner);
        }
        sum = !sum ? a : j % 2 ? ti_b_sub(m, sum, a) : ti_b_add(m, sum, a);
    }
    return sum;
}

void ti_onnx_build_det(tc_onnx_node *n)
{
    static const int all[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    tc_val x = ti_onnx_need(n, 0);
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x);
    int64_t size = t->rank >= 2 ? t->dim[t->rank - 1] : 0;
    if (size < 1 || t->dim[t->rank - 2] != size)
        ti_b_bad(&n->m, TC_E_SHAPE, "the determinant of a matrix that is not square");
    else if (size > 5)
        ti_b_unsupported(&n->m, "the determinant of a matrix of %" PRId64 " rows; 5 at most", size);
    else
        ti_onnx_bind(n, 0, minor(&n->m, x, 0, all, (int)size));
}
