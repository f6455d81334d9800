/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_quant.c -- importers of explicit quantization. */
#include <math.h>

#include "../../num/load.h"
#include "pt2.h"

/* The code range: a number, or a constant tensor (the .tensor2 overloads). */
static int64_t bound(tc_pt2_node *n, const char *arg)
{
    tc_tensor t;
    if (!ti_pt2_is_tensor(n, arg))
        return ti_pt2_need_int(n, arg);
    if (ti_b_known(&n->m, ti_pt2_tensor(n, arg), &t) && tc_type_count(t.type) == 1)
        return ti_load_i64(t, 0);
    ti_b_unsupported(&n->m, "a range of codes that is not constant");
    return 0;
}

/* Per tensor: scale and zero are scalars, or one-element tensors. */
static void import_per_tensor(tc_pt2_node *n)
{
    bool by_tensor = ti_pt2_is_tensor(n, "scale"), back = n->row->op == TC_OP_dequantize;
    tc_val in[3] = {ti_pt2_tensor(n, "input")};
    tc_attr_quantize a = {.axis = -1, .qmin = bound(n, "quant_min")};
    a.qmax = bound(n, "quant_max");
    tc_dtype stored = ti_pt2_dtype(n, "dtype", TC_none);
    a.dtype = back ? ti_pt2_dtype(n, "out_dtype", TC_f32) : stored;
    if (by_tensor) {
        in[1] = ti_pt2_tensor(n, "scale");
        in[2] = ti_pt2_tensor(n, "zero_point");
    } else {
        a.scale = ti_pt2_float(n, "scale", 0);
        a.zero = ti_pt2_need_int(n, "zero_point");
        if (a.scale == 0)
            ti_b_bad(&n->m, TC_E_ARGUMENT, "a scale of 0");
    }
    const void *attr = ti_arena_copy(&n->m.ctx->arena, &a, sizeof a);
    ti_pt2_result(n, ti_b_op(&n->m, n->row->op, attr, in, by_tensor ? 3 : 1));
}

/* fake_quantize_per_tensor_affine(self, scale, zero_point, ...), per channel with an axis; the
 * forms that also say which elements were in range have a second result. */
static void import_fake(tc_pt2_node *n)
{
    tc_val in[3] = {ti_pt2_tensor(n, "self")};
    bool by_tensor = ti_pt2_is_tensor(n, "scale");
    tc_attr_quantize a = {.axis = -1,
                          .qmin = ti_pt2_need_int(n, "quant_min"),
                          .qmax = ti_pt2_need_int(n, "quant_max")};
    if (by_tensor) {
        in[1] = ti_pt2_tensor(n, "scale");
        in[2] = ti_pt2_tensor(n, "zero_point");
    } else {
        a.scale = ti_pt2_float(n, "scale", 0);
        a.zero = ti_pt2_need_int(n, "zero_point");
    }
    int64_t axis = ti_pt2_int(n, "axis", 0);
    TC_STOP(&n->m);
    if (n->row->extra != 0)
        a.axis = ti_b_axis(&n->m, axis, ti_b_type(&n->m, in[0])->rank);
    const void *attr = ti_arena_copy(&n->m.ctx->arena, &a, sizeof a);
    ti_pt2_result(n, ti_b_op(&n->m, TC_OP_fake_quantize, attr, in, by_tensor ? 3 : 1));
}

static void import_choose(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "input");
    int64_t qmin = ti_pt2_need_int(n, "quant_min"), qmax = ti_pt2_need_int(n, "quant_max");
    double eps = ti_pt2_float(n, "eps", 0);
    int64_t zero = ti_pt2_dtype(n, "dtype", TC_i8) == TC_u8 ? 128 : 0;
    const void *attr = ti_b_attr(&n->m, choose_qparams, qmin, qmax, eps, n->row->extra != 0, zero,
                                 false);
    tc_node *node = ti_b_ops(&n->m, TC_OP_choose_qparams, attr, &x, 1, 2);
    for (int i = 0; node && i < 2; i++)
        ti_pt2_bind(n, i, node->out[i]);
}

static tc_val over_last(tc_pt2_node *n, tc_op op, tc_val x)
{
    TC_STOP_WITH(&n->m, TC_NONE);
    tc_ints last = ti_ints_fill(&n->m.ctx->arena, ti_b_type(&n->m, x)->rank - 1, 1);
    return ti_b_op(&n->m, op, ti_b_attr(&n->m, axes, last, true), (tc_val[]){x}, 1);
}

/* scale = max(|x|, 1e-5) / 127 for each row, zero = 0. */
static void import_choose_per_token(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "input");
    tc_val most = over_last(n, TC_OP_amax, ti_b_abs(&n->m, x));
    TC_STOP(&n->m);
    if (ti_b_type(&n->m, most)->dtype == TC_f16)
        most = ti_b_cast(&n->m, most, TC_f32);
    tc_dtype t = ti_b_type(&n->m, most)->dtype;
    tc_val codes = ti_b_scalar(&n->m, t, 127);
    tc_val scale = ti_b_div(&n->m, ti_b_clamp(&n->m, most, 1e-5, INFINITY), codes);
    tc_val zero = ti_b_full(&n->m, ti_b_type(&n->m, most)->rank, ti_b_type(&n->m, most)->dim, 0, t);
    tc_val pair[2] = {scale, zero};
    for (int i = 0; i < 2; i++) {
        const tc_type *stated = ti_pt2_result_type(n, i);
        if (stated) /* PyTorch's own statement is wider than what it computes */
            pair[i] = ti_b_cast(&n->m, pair[i], stated->dtype);
        if (n->m.status == TC_OK)
            ti_pt2_bind(n, i, pair[i]);
    }
}

/* The range of each row, widened to contain 0, on codes -128 .. 127; zero is computed from the end
 * with the smaller error. */
static void import_choose_per_token_asymmetric(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "input"), low = over_last(n, TC_OP_amin, x),
           high = over_last(n, TC_OP_amax, x);
    TC_STOP(&n->m);
    tc_dtype t = ti_b_type(&n->m, x)->dtype;
    const void *one = ti_b_attr(&n->m, alpha, 1);
    low = ti_b_clamp(&n->m, low, -INFINITY, 0);
    high = ti_b_clamp(&n->m, high, 0, INFINITY);
    tc_val codes = ti_b_scalar(&n->m, t, 255);
    tc_val scale = ti_b_div(&n->m, ti_b_2(&n->m, sub, one, high, low), codes);
    scale = ti_b_clamp(&n->m, scale, 1.1920928955078125e-07, INFINITY);
    low = ti_b_div(&n->m, low, scale);
    high = ti_b_div(&n->m, high, scale);
    tc_val least = ti_b_scalar(&n->m, t, -128), most = ti_b_scalar(&n->m, t, 127);
    tc_val below = ti_b_2(&n->m, add, one, least, low);
    tc_val above = ti_b_2(&n->m, add, one, most, high);
    tc_val errors = ti_b_2(&n->m, add, one, below, above);
    tc_val from_low = ti_b_gt(&n->m, errors, ti_b_scalar(&n->m, t, 0));
    below = ti_b_2(&n->m, sub, one, least, low);
    above = ti_b_2(&n->m, sub, one, most, high);
    tc_val zero = ti_b_where(&n->m, from_low, below, above);
    zero = ti_b_1(&n->m, round, ti_b_attr(&n->m, round, 0), ti_b_clamp(&n->m, zero, -128, 127));
    scale = ti_b_cast(&n->m, scale, TC_f64);
    zero = ti_b_cast(&n->m, zero, TC_i64);
    TC_STOP(&n->m);
    ti_pt2_bind(n, 0, scale);
    ti_pt2_bind(n, 1, zero);
}

const tc_pt2_row tc_pt2_quant[] = {
    ROW("quantized_decomposed.quantize_per_tensor.default "
        "quantized_decomposed.quantize_per_tensor.tensor "
        "quantized_decomposed.quantize_per_tensor.tensor2", import_per_tensor, quantize, 0),
    ROW("quantized_decomposed.dequantize_per_tensor.default "
        "quantized_decomposed.dequantize_per_tensor.tensor "
        "quantized_decomposed.dequantize_per_tensor.tensor2", import_per_tensor, dequantize, 0),
    ROW("quantized_decomposed.choose_qparams_per_token.default", import_choose_per_token, amax, 0),
    ROW("quantized_decomposed.choose_qparams_per_token_asymmetric.default "
        "quantized_decomposed._choose_qparams_per_token_asymmetric_impl.default",
        import_choose_per_token_asymmetric, amax, 0),
    ROW("quantized_decomposed.choose_qparams.tensor", import_choose, choose_qparams, 0),
    ROW("quantized_decomposed.choose_qparams_symmetric.tensor", import_choose, choose_qparams, 1),
    ROW("fake_quantize_per_tensor_affine fake_quantize_per_tensor_affine.tensor_qparams "
        "fake_quantize_per_tensor_affine_cachemask", import_fake, fake_quantize, 0),
    ROW("fake_quantize_per_channel_affine fake_quantize_per_channel_affine_cachemask",
        import_fake, fake_quantize, 1),
    {0},
};
