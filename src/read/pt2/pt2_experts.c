/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_experts.c -- importers for mixtures of experts: counts by bin, and products of rows grouped
 * by expert.
 *
 * Which rows an expert has depends on the data, the shapes do not: every expert computes every row,
 * and for each row one of the results is selected. */
#include "pt2.h"

static tc_val arith(tc_pt2_node *n, tc_op op, tc_val x, double by)
{
    tc_val c = ti_b_scalar(&n->m, TC_f32, by);
    return ti_b_op(&n->m, op, op == TC_OP_mul ? NULL : (const void *)ti_b_attr(&n->m, alpha, 1),
                   (tc_val[]){x, c}, 2);
}

/* How many elements are in each of `bins` parts of [min, max]; the last part includes max. */
static void import_histc(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    int64_t bins = ti_pt2_int(n, "bins", 100);
    double min = ti_pt2_float(n, "min", 0), max = ti_pt2_float(n, "max", 0);
    const tc_type *y = ti_pt2_result_type(n, 0);
    if (n->m.status == TC_OK && !(min < max))
        ti_b_unsupported(&n->m,
                           "bins between the minimum and maximum of the data: give min and max");
    if (n->m.status == TC_OK && bins < 1)
        ti_b_bad(&n->m, TC_E_ARGUMENT, "there are no bins");
    TC_STOP(&n->m);
    x = ti_b_unsqueeze(&n->m, ti_b_cast(&n->m, ti_b_flat(&n->m, x), TC_f32), 1);
    tc_val at = arith(n, TC_OP_sub, x, min);
    at = ti_b_floor(&n->m, arith(n, TC_OP_mul, at, (double)bins / (max - min)));
    tc_val last = ti_b_scalar(&n->m, TC_f32, (double)(bins - 1)),
        most = ti_b_scalar(&n->m, TC_f32, max);
    at = ti_b_minimum(&n->m, at, last);
    tc_val number = ti_b_unsqueeze(&n->m, ti_b_arange(&n->m, bins, TC_f32), 0);
    tc_val own = ti_b_eq(&n->m, at, number);
    tc_val inside = ti_b_le(&n->m, x, most);
    tc_val hit = ti_b_cast(&n->m, ti_b_logical_and(&n->m, own, inside), TC_f32);
    tc_ints axes = ti_ints_fill(&n->m.ctx->arena, 0, 1);
    tc_val sum = ti_b_1(&n->m, sum, ti_b_attr(&n->m, axes, axes, false), hit);
    ti_pt2_bind(n, 0, ti_b_cast(&n->m, sum, y->dtype));
}

/* Rows x [s,k], those before ends[0] by w[0] [k,n], those from there to ends[1] by w[1], ...; rows
 * after the last end are 0. */
static tc_val by_group(tc_pt2_node *n, tc_val x, tc_val w, tc_val ends)
{
    const tc_type *xt = ti_b_type(&n->m, x), *wt = ti_b_type(&n->m, w);
    int64_t rows = xt->dim[0], groups = wt->dim[0];
    tc_attr_einsum *each = ti_b_attr(&n->m, einsum, ti_intern_text(n->m.ctx, "sk,ekn->esn"));
    tc_val all = ti_b_2(&n->m, einsum, each, x, w);
    tc_val row = ti_b_arange(&n->m, rows, TC_i64);
    tc_val group = ti_b_2(&n->m, bucketize, ti_b_attr(&n->m, bucketize, true), row,
                          ti_b_cast(&n->m, ends, TC_i64));
    group = ti_b_unsqueeze(&n->m, ti_b_unsqueeze(&n->m, group, 0), 2);
    tc_val number = ti_b_unsqueeze(&n->m,
                                   ti_b_unsqueeze(&n->m, ti_b_arange(&n->m, groups, TC_i64), 1), 2);
    tc_val own = ti_b_eq(&n->m, number, group);
    tc_val none = ti_b_scalar(&n->m, xt->dtype, 0);
    all = ti_b_where(&n->m, own, all, none);
    tc_ints axes = ti_ints_fill(&n->m.ctx->arena, 0, 1);
    return ti_b_1(&n->m, sum, ti_b_attr(&n->m, axes, axes, false), all);
}

/* extra: 0 as transformers names the operands, 1 as ATen does. */
static void import_grouped_mm(tc_pt2_node *n)
{
    bool aten = n->row->extra != 0;
    tc_val x = ti_pt2_tensor(n, aten ? "self" : "input"),
           w = ti_pt2_tensor(n, aten ? "mat2" : "weight");
    tc_val ends = ti_pt2_tensor_opt(n, "offs");
    const tc_type *y = ti_pt2_result_type(n, 0);
    TC_STOP(&n->m);
    bool rows = ends && ti_b_type(&n->m, x)->rank == 2 && ti_b_type(&n->m, w)->rank == 3;
    if (!rows || (aten && ti_pt2_has(n, "bias")))
        ti_b_unsupported(&n->m, "only rows in groups, by one matrix for each, without bias");
    TC_STOP(&n->m);
    ti_pt2_bind(n, 0, ti_b_cast(&n->m, by_group(n, x, w, ends), y->dtype));
}

const tc_pt2_row tc_pt2_experts[] = {
    ROW("histc", import_histc, sum, 0),
    ROW("_grouped_mm", import_grouped_mm, einsum, 1),
    ROW("transformers.grouped_mm_fallback.default", import_grouped_mm, einsum, 0),
    {0},
};
