/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_torchao.c -- importers of torchao's quantization by blocks, and of grouped weights.
 *
 * block_size says how much of each axis shares a scale.  x is viewed as [blocks, elements of a
 * block], and each block is a channel:
 *
 *   scale, zero = the range of each block over the codes
 *   code        = clamp(round(x / scale) + zero)           as in `quantize`
 *   x           = (code - zero) scale                       as in `dequantize` */
#include <math.h>

#include "pt2.h"

/* x cut into blocks: its axes, some of them in two, those within a block last. */
typedef struct blocks {
    tc_ints shape, view, moved; /* of x; its axes cut; those in their new order */
    int64_t order[TC_MAX_RANK], back[TC_MAX_RANK];
    bool moves;
    int64_t count, size;
} blocks;

/* Axes that are one block or cut into blocks of 1 are unchanged. */
static bool cut(tc_pt2_node *n, const tc_type *x, tc_ints size, blocks *b)
{
    int64_t view[2 * TC_MAX_RANK], moved[TC_MAX_RANK];
    bool within[2 * TC_MAX_RANK];
    int rank = 0, at = 0;
    TC_STOP_WITH(&n->m, false);
    if (size.n != x->rank)
        ti_b_bad(&n->m, TC_E_ARGUMENT, "block_size does not have a number for every axis");
    for (int i = 0; i < x->rank && n->m.status == TC_OK; i++) {
        int64_t extent = x->dim[i], one = size.v[i] == -1 ? extent : size.v[i];
        if (one < 1 || extent % one)
            ti_b_bad(&n->m, TC_E_ARGUMENT, "an axis does not fall into blocks of block_size");
        else if (one == 1 || one == extent) {
            view[rank] = extent;
            within[rank++] = one != 1;
        } else {
            view[rank] = extent / one;
            within[rank++] = false;
            view[rank] = one;
            within[rank++] = true;
        }
    }
    if (n->m.status == TC_OK && rank > TC_MAX_RANK)
        ti_b_unsupported(&n->m, "blocks along more axes are not supported");
    TC_STOP_WITH(&n->m, false);
    *b = (blocks){.count = 1, .size = 1};
    for (int inside = 0; inside < 2; inside++)
        for (int i = 0; i < rank; i++)
            if (within[i] == inside) {
                *(inside ? &b->size : &b->count) *= view[i];
                moved[at] = view[i];
                b->order[at] = i;
                b->back[i] = at;
                b->moves = b->moves || at != i;
                at++;
            }
    b->shape = ti_ints_copy(&n->m.ctx->arena, x->dim, x->rank);
    b->view = ti_ints_copy(&n->m.ctx->arena, view, rank);
    b->moved = ti_ints_copy(&n->m.ctx->arena, moved, rank);
    return true;
}

static tc_val as_rows(tc_pt2_node *n, tc_val x, const blocks *b)
{
    int64_t dim[] = {b->count, b->size};
    if (b->moves)
        x = ti_b_permute(&n->m, ti_b_reshape(&n->m, x, b->view.n, b->view.v), b->order);
    return ti_b_reshape(&n->m, x, 2, dim);
}

static tc_val from_rows(tc_pt2_node *n, tc_val x, const blocks *b)
{
    if (b->moves)
        x = ti_b_permute(&n->m, ti_b_reshape(&n->m, x, b->moved.n, b->moved.v), b->back);
    return ti_b_reshape(&n->m, x, b->shape.n, b->shape.v);
}

/* ---- scale and zero ---- */

/* The range of codes: as given, or all that the type has. */
static void code_range(tc_pt2_node *n, tc_dtype codes, double *lo, double *hi)
{
    bool known = codes == TC_i8 || codes == TC_u8 || codes == TC_i16 || codes == TC_i32;
    if (!known && !(ti_pt2_has(n, "quant_min") && ti_pt2_has(n, "quant_max")))
        ti_b_unsupported(&n->m, "codes that are not integers are not supported");
    *lo = ti_pt2_float(n, "quant_min", known ? (double)ti_dtype_min(codes) : 0);
    *hi = ti_pt2_float(n, "quant_max", known ? (double)ti_dtype_max(codes) : 0);
    if (n->m.status == TC_OK && !(*lo < *hi && fabs(*lo) < 0x1p31 && fabs(*hi) < 0x1p31))
        ti_b_bad(&n->m, TC_E_ARGUMENT, "the range of codes is empty or too large");
}

/* The least scale, where none is given: the smallest number of x's type with all its bits. */
static double least_scale(tc_dtype t)
{
    return t == TC_f16 ? 0x1p-14 : t == TC_f64 ? 0x1p-1022 : 0x1p-126;
}

static void import_choose(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "input");
    const char *mapping = ti_pt2_text(n, "mapping_type", "");
    bool symmetric = ti_text_eq(mapping, "SYMMETRIC");
    double lo, hi;
    blocks b;
    code_range(n, ti_pt2_dtype(n, "target_dtype", TC_none), &lo, &hi);
    if (!symmetric && !ti_text_eq(mapping, "ASYMMETRIC"))
        ti_b_unsupported(&n->m, "this mapping_type is not supported; ASYMMETRIC and SYMMETRIC are");
    const tc_type *stated[2] = {ti_pt2_result_type(n, 0), ti_pt2_result_type(n, 1)};
    if (n->m.status != TC_OK || !stated[0] || !stated[1] ||
        !cut(n, ti_b_type(&n->m, x), ti_pt2_ints(n, "block_size"), &b))
        return;
    double eps = ti_pt2_float(n, "eps", least_scale(ti_b_type(&n->m, x)->dtype));
    const void *attr = ti_b_attr(&n->m, choose_qparams, (int64_t)lo, (int64_t)hi, eps, symmetric,
                                 (int64_t)((hi + lo + 1) / 2), true);
    x = as_rows(n, x, &b);
    tc_node *node = ti_b_ops(&n->m, TC_OP_choose_qparams, attr, &x, 1, 2);
    for (int i = 0; i < 2 && node && n->m.status == TC_OK; i++) {
        tc_val one = ti_b_cast(&n->m, node->out[i], stated[i]->dtype);
        ti_pt2_bind(n, i, ti_b_reshape_as(&n->m, one, stated[i]));
    }
}

/* ---- codes ---- */

/* One for each block, in the type that kernels by channel take. */
static tc_val by_block(tc_pt2_node *n, tc_val x, const blocks *b, tc_dtype dtype)
{
    if (n->m.status == TC_OK && tc_type_count(ti_b_type(&n->m, x)) != b->count)
        ti_b_bad(&n->m, TC_E_SHAPE, "there is not one scale and zero for every block");
    return ti_b_flat(&n->m, ti_b_cast(&n->m, x, dtype));
}

/* x by blocks to codes or back. */
static void import_codes(tc_pt2_node *n, tc_op op, tc_val x, tc_val scale, tc_val zero,
                         const blocks *b, tc_attr_quantize a)
{
    tc_val in[3] = {as_rows(n, x, b)};
    in[1] = by_block(n, scale, b, TC_f64);
    if (zero && n->m.status == TC_OK && !tc_type_count(ti_b_type(&n->m, zero)))
        zero = TC_NONE; /* an empty tensor means none */
    in[2] = zero ? by_block(n, zero, b, TC_i64)
                 : ti_b_full(&n->m, 1, &b->count, 0, TC_i64);
    const void *attr = ti_arena_copy(&n->m.ctx->arena, &a, sizeof a);
    ti_pt2_result(n, from_rows(n, ti_b_op(&n->m, op, attr, in, 3), b));
}

/* quantize_affine(input, block_size, scale, zero_point, output_dtype, ..), dequantize_affine(..,
 * input_dtype, .., output_dtype). */
static void import_affine(tc_pt2_node *n)
{
    bool back = n->row->op == TC_OP_dequantize;
    tc_val x = ti_pt2_tensor(n, "input"), scale = ti_pt2_tensor(n, "scale"),
           zero = ti_pt2_tensor_opt(n, "zero_point");
    tc_dtype codes = ti_pt2_dtype(n, back ? "input_dtype" : "output_dtype", TC_none);
    const char *domain = ti_pt2_text(n, "zero_point_domain", "INT");
    double lo, hi;
    blocks b;
    code_range(n, codes, &lo, &hi);
    if (!ti_text_eq(domain, "INT"))
        ti_b_unsupported(&n->m, "a zero point that is not an integer is not supported");
    if (n->m.status != TC_OK || !cut(n, ti_b_type(&n->m, x), ti_pt2_ints(n, "block_size"), &b))
        return;
    if (back && ti_is_float(ti_b_type(&n->m, x)->dtype)) {
        ti_b_bad(&n->m, TC_E_TYPE, "the codes are not integers");
        return;
    }
    tc_attr_quantize a = {.qmin = (int64_t)lo, .qmax = (int64_t)hi,
                          .dtype = back ? ti_pt2_dtype(n, "output_dtype", TC_f32) : codes};
    import_codes(n, n->row->op, back ? x : ti_b_cast(&n->m, x, TC_f32), scale, zero, &b, a);
}

/* dequantize_per_channel_group(w_int8, scales, zero_points, ..): groups along the last axis. */
static void import_grouped(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "w_int8"), scale = ti_pt2_tensor(n, "scales"),
           zero = ti_pt2_tensor_opt(n, "zero_points");
    int64_t group = ti_pt2_int(n, "group_size", 128);
    tc_attr_quantize a = {.qmin = ti_pt2_need_int(n, "quant_min"),
                          .qmax = ti_pt2_need_int(n, "quant_max"),
                          .dtype = ti_pt2_dtype(n, "output_dtype", TC_f32)};
    blocks b;
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x);
    int64_t size[TC_MAX_RANK];
    for (int i = 0; i < t->rank; i++)
        size[i] = i + 1 < t->rank ? 1 : group;
    if (cut(n, t, (tc_ints){t->rank, size}, &b))
        import_codes(n, n->row->op, x, scale, zero, &b, a);
}

const tc_pt2_row tc_pt2_torchao[] = {
    ROW("torchao.choose_qparams_affine.default", import_choose, choose_qparams, 0),
    ROW("torchao.quantize_affine.default", import_affine, quantize, 0),
    ROW("torchao.dequantize_affine.default", import_affine, dequantize, 0),
    ROW("quantized_decomposed.dequantize_per_channel_group.default", import_grouped, dequantize, 0),
    {0},
};
