/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_eltwise.c -- importers of elementwise operators.
 *
 * Most overloads differ in which of their operands are numbers; one importer serves them all,
 * because a number is an operand of rank 0. */
#include <float.h>
#include <math.h>

#include "pt2.h"

/* One operand */

void tc_pt2_import_function(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_pt2_bind(n, 0, tc_b_op(&n->m, row->op, NULL, (tc_val[]){tc_pt2_tensor(n, "self")}, 1));
}

static void finish(tc_pt2_node *n, tc_op op, const void *attr)
{
    tc_pt2_bind(n, 0, tc_b_op(&n->m, op, attr, (tc_val[]){tc_pt2_tensor(n, "self")}, 1));
}

/* x in the element type that the file declares for the result: where numbers of a higher category
 * take part. */
static tc_val promoted(tc_pt2_node *n, tc_val x)
{
    const tc_type *result = tc_pt2_result_type(n, 0);
    return result ? tc_b_cast(&n->m, x, result->dtype) : x;
}

/* bool counts as i64. */
static void import_square(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_pt2_bind(n, 0, tc_b_op(&n->m, row->op, NULL, (tc_val[]){promoted(n, tc_pt2_tensor(n, "self"))}, 1));
}

static void import_round(tc_pt2_node *n, const tc_pt2_row *row)
{
    finish(n, row->op, tc_b_attr(&n->m, round, tc_pt2_int(n, "decimals", 0)));
}

static void import_gelu(tc_pt2_node *n, const tc_pt2_row *row)
{
    const char *form = tc_pt2_text(n, "approximate", "none");
    bool by_tanh = tc_text_eq(form, "tanh");
    if (!by_tanh && !tc_text_eq(form, "none"))
        tc_b_bad(&n->m, TC_E_ARGUMENT, "'approximate' is neither none nor tanh");
    finish(n, row->op, tc_b_attr(&n->m, gelu, by_tanh ? TC_gelu_form_tanh : TC_gelu_form_erf));
}

static void import_softplus(tc_pt2_node *n, const tc_pt2_row *row)
{
    double beta = tc_pt2_float(n, "beta", 1), threshold = tc_pt2_float(n, "threshold", 20);
    finish(n, row->op, tc_b_attr(&n->m, softplus, beta, threshold));
}

static void import_elu(tc_pt2_node *n, const tc_pt2_row *row)
{
    double alpha = tc_pt2_float(n, "alpha", 1), scale = tc_pt2_float(n, "scale", 1);
    finish(n, row->op, tc_b_attr(&n->m, elu, alpha, scale, tc_pt2_float(n, "input_scale", 1)));
}

static void import_celu(tc_pt2_node *n, const tc_pt2_row *row)
{
    double alpha = tc_pt2_float(n, "alpha", 1);
    finish(n, row->op, tc_b_attr(&n->m, elu, alpha, 1, 1 / alpha));
}

static void import_selu(tc_pt2_node *n, const tc_pt2_row *row)
{
    finish(n, row->op, tc_b_attr(&n->m, elu, 1.6732632423543772848, 1.0507009873554804934, 1));
}

static void import_leaky_relu(tc_pt2_node *n, const tc_pt2_row *row)
{
    finish(n, row->op, tc_b_attr(&n->m, slope, tc_pt2_float(n, "negative_slope", 0.01)));
}

/* At inference the slope is the middle of its range. */
static void import_rrelu(tc_pt2_node *n, const tc_pt2_row *row)
{
    double lower = tc_pt2_float(n, "lower", 1.0 / 8), upper = tc_pt2_float(n, "upper", 1.0 / 3);
    if (tc_pt2_bool(n, "training", false))
        tc_b_unsupported(&n->m, "its slopes are random in training; export the model in eval mode");
    finish(n, row->op, tc_b_attr(&n->m, slope, (lower + upper) / 2));
}

static void import_shrink(tc_pt2_node *n, const tc_pt2_row *row)
{
    finish(n, row->op, tc_b_attr(&n->m, lambda, tc_pt2_float(n, "lambd", 0.5)));
}

static void import_logit(tc_pt2_node *n, const tc_pt2_row *row)
{
    finish(n, row->op, tc_b_attr(&n->m, logit, tc_pt2_float(n, "eps", -1)));
}

static void import_threshold(tc_pt2_node *n, const tc_pt2_row *row)
{
    double threshold = tc_pt2_float(n, "threshold", 0), value = tc_pt2_float(n, "value", 0);
    finish(n, row->op, tc_b_attr(&n->m, threshold, threshold, value));
}

static void import_nan_to_num(tc_pt2_node *n, const tc_pt2_row *row)
{
    static const double largest[TC_DTYPE_COUNT] = {
        [TC_f16] = 65504, [TC_bf16] = 0x1.fep127, [TC_f32] = FLT_MAX,
        [TC_f64] = DBL_MAX, [TC_e4m3] = 448, [TC_e5m2] = 57344};
    tc_val x = tc_pt2_tensor(n, "self");
    double most = n->m.status == TC_OK ? largest[tc_type_of(n->m.g, x)->dtype] : 0;
    double nan = tc_pt2_float(n, "nan", 0);
    double above = tc_pt2_float(n, "posinf", most), below = tc_pt2_float(n, "neginf", -most);
    tc_pt2_bind(n, 0, tc_b_op(&n->m, row->op, tc_b_attr(&n->m, nan_to_num, nan, above, below), (tc_val[]){x}, 1));
}

/* clamp, hardtanh, relu6 */
static void clamp(tc_pt2_node *n, double lo, double hi)
{
    tc_val x = promoted(n, tc_pt2_tensor(n, "self"));
    tc_pt2_bind(n, 0, tc_b_1(&n->m, clamp, tc_b_attr(&n->m, clamp, lo, hi), x));
}

static void import_clamp(tc_pt2_node *n, const tc_pt2_row *row)
{
    (void)row;
    const double inf = (double)INFINITY;
    clamp(n, tc_pt2_float(n, "min", -inf), tc_pt2_float(n, "max", inf));
}

static void import_hardtanh(tc_pt2_node *n, const tc_pt2_row *row)
{
    (void)row;
    clamp(n, tc_pt2_float(n, "min_val", -1), tc_pt2_float(n, "max_val", 1));
}

static void import_relu6(tc_pt2_node *n, const tc_pt2_row *row)
{
    (void)row;
    clamp(n, 0, 6);
}

static void import_clamp_tensor(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = tc_pt2_tensor(n, "self");
    tc_val lo = tc_pt2_tensor_opt(n, "min"), hi = tc_pt2_tensor_opt(n, "max");
    tc_pt2_bind(n, 0, tc_b_op(&n->m, row->op, NULL, (tc_val[]){x, lo, hi}, 3));
}

static void import_glu(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = tc_pt2_tensor(n, "self");
    int64_t axis = n->m.status == TC_OK
                       ? tc_b_axis(&n->m, tc_pt2_int(n, "dim", -1), tc_type_of(n->m.g, x)->rank)
                       : 0;
    tc_pt2_bind(n, 0, tc_b_op(&n->m, row->op, tc_b_attr(&n->m, axis, axis), (tc_val[]){x}, 1));
}

/* Two and three operands */

/* The operators whose results of integers are real: numbers beside integers are real from the
 * start. */
static bool gives_real(tc_op op, const void *attr)
{
    const tc_attr_div *a = attr;
    return op == TC_OP_div ? a->mode == TC_div_mode_exact
                           : op == TC_OP_copysign || op == TC_OP_xlogy;
}

/* The operators in which a number beside narrow floats keeps its precision. */
static bool keeps_numbers(tc_op op)
{
    return op == TC_OP_mul || op == TC_OP_div || op == TC_OP_lerp;
}

/* An operand that may be a number, beside a tensor.  A wider one must not decide the type of the
 * result, as it would beside a tensor without axes. */
static tc_val beside(tc_pt2_node *n, const char *arg, tc_val other, tc_op op, const void *attr)
{
    const tc_type *t = n->m.status == TC_OK ? tc_type_of(n->m.g, other) : NULL;
    if (!t || !tc_pt2_has(n, arg) || tc_pt2_is_tensor(n, arg))
        return tc_pt2_operand(n, arg, other);
    bool narrow = t->rank && (t->dtype == TC_f16 || t->dtype == TC_bf16);
    bool whole = tc_is_int(t->dtype) || t->dtype == TC_bool;
    if ((narrow && keeps_numbers(op)) || (whole && gives_real(op, attr)))
        return tc_b_scalar(&n->m, TC_f32, tc_pt2_float(n, arg, 0));
    return tc_pt2_operand(n, arg, other);
}

/* op(first, second), either of which may be a number. */
static tc_val emit_pair(tc_pt2_node *n, tc_op op, const void *attr, const char *first,
                        const char *second)
{
    tc_val in[2];
    bool tensor = tc_pt2_is_tensor(n, first);
    in[!tensor] = tc_pt2_tensor(n, tensor ? first : second);
    in[tensor] = beside(n, tensor ? second : first, in[!tensor], op, attr);
    return tc_b_op(&n->m, op, attr, in, 2);
}

/* extra 1: the result takes the place of self, though the name does not end in '_'. */
static void import_binary(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val result = emit_pair(n, row->op, NULL, "self", "other");
    if (row->extra == 1)
        tc_pt2_bind_inplace(n, "self", result);
    else
        tc_pt2_bind(n, 0, result);
}

static void import_pow(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_pt2_bind(n, 0, emit_pair(n, row->op, NULL, "self", "exponent"));
}

/* pow in f64 */
static void import_float_power(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val in[2];
    for (int i = 0; i < 2; i++)
        in[i] = tc_b_cast(&n->m, tc_pt2_operand(n, i ? "exponent" : "self", TC_NONE), TC_f64);
    tc_pt2_bind(n, 0, tc_b_op(&n->m, row->op, NULL, in, 2));
}

/* x + alpha y, x - alpha y; extra 1: y - alpha x */
static void import_sum(tc_pt2_node *n, const tc_pt2_row *row)
{
    const void *attr = tc_b_attr(&n->m, alpha, tc_pt2_float(n, "alpha", 1));
    bool reverse = row->extra == 1;
    tc_pt2_bind(
        n, 0, emit_pair(n, row->op, attr, reverse ? "other" : "self", reverse ? "self" : "other"));
}

/* extra 1: floor_divide */
static void import_div(tc_pt2_node *n, const tc_pt2_row *row)
{
    static const char *const word[] = {"", "trunc", "floor"};
    const char *mode = tc_pt2_text(n, "rounding_mode", word[row->extra == 1 ? 2 : 0]);
    tc_field_div_mode k = TC_div_mode_exact;
    while (k < TC_div_mode_COUNT && !tc_text_eq(mode, word[k]))
        k++;
    if (k == TC_div_mode_COUNT)
        tc_b_bad(&n->m, TC_E_ARGUMENT, "'rounding_mode' is neither trunc nor floor");
    tc_pt2_bind(n, 0, emit_pair(n, row->op, tc_b_attr(&n->m, div, k), "self", "other"));
}

/* extra: the factor, an f32 beside narrow floats too */
static void import_times(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = promoted(n, tc_pt2_tensor(n, "self"));
    const tc_type *t = n->m.status == TC_OK ? tc_type_of(n->m.g, x) : NULL;
    tc_dtype dtype = t && (!t->rank || t->dtype == TC_f64) ? t->dtype : TC_f32;
    tc_pt2_bind(n, 0, tc_b_2(&n->m, mul, NULL, x, tc_b_scalar(&n->m, dtype, row->extra)));
}

/* extra: the number that x is compared with */
static void import_is(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = tc_pt2_tensor(n, "self");
    tc_dtype dtype = n->m.status == TC_OK ? tc_type_of(n->m.g, x)->dtype : TC_f32;
    if (!tc_is_float(dtype))
        x = tc_b_cast(&n->m, x, dtype = TC_f32);
    tc_pt2_bind(n, 0, tc_b_2(&n->m, eq, NULL, x, tc_b_scalar(&n->m, dtype, row->extra)));
}

/* The sign of zeros counts: copysign(1, x) < 0. */
static void import_signbit(tc_pt2_node *n, const tc_pt2_row *row)
{
    (void)row;
    tc_val x = tc_pt2_tensor(n, "self");
    tc_dtype dtype = n->m.status == TC_OK ? tc_type_of(n->m.g, x)->dtype : TC_f32;
    if (tc_is_float(dtype))
        x = tc_b_2(&n->m, copysign, NULL, tc_b_scalar(&n->m, dtype, 1), x);
    tc_pt2_bind(n, 0, tc_b_2(&n->m, lt, NULL, x, tc_b_scalar(&n->m, dtype, 0)));
}

static void import_where(tc_pt2_node *n, const tc_pt2_row *row)
{
    bool x_tensor = tc_pt2_is_tensor(n, "self"), y_tensor = tc_pt2_is_tensor(n, "other");
    tc_val condition = tc_pt2_tensor(n, "condition");
    tc_val y = y_tensor ? tc_pt2_tensor(n, "other") : TC_NONE;
    tc_val x = tc_pt2_operand(n, "self", y);
    if (!y_tensor)
        y = tc_pt2_operand(n, "other", x_tensor ? x : TC_NONE);
    tc_pt2_bind(n, 0, tc_b_op(&n->m, row->op, NULL, (tc_val[]){condition, x, y}, 3));
}

/* where(mask, value, self); the value takes the type of self. */
static void import_masked_fill(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = tc_pt2_tensor(n, "self"), mask = tc_pt2_tensor(n, "mask");
    tc_val value = tc_pt2_operand(n, "value", x);
    if (n->m.status == TC_OK)
        value = tc_b_cast(&n->m, value, tc_type_of(n->m.g, x)->dtype);
    tc_pt2_bind(n, 0, tc_b_op(&n->m, row->op, NULL, (tc_val[]){mask, value, x}, 3));
}

static void import_lerp(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = tc_pt2_tensor(n, "self"), end = tc_pt2_tensor(n, "end");
    tc_pt2_bind(n, 0,
                tc_b_op(&n->m, row->op, NULL, (tc_val[]){x, end, beside(n, "weight", x, row->op, NULL)}, 3));
}

static void import_addc(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = tc_pt2_tensor(n, "self"), y = tc_pt2_tensor(n, "tensor1"),
           z = tc_pt2_tensor(n, "tensor2");
    tc_pt2_bind(
        n, 0,
        tc_b_op(&n->m, row->op, tc_b_attr(&n->m, scale, tc_pt2_float(n, "value", 1)), (tc_val[]){x, y, z}, 3));
}

/* The weight of _prelu_kernel has the rank of x; where it varies along more than axis 1 the
 * operator is x > 0 ? x : weight * x. */
static void import_prelu(tc_pt2_node *n, const tc_pt2_row *row)
{
    tc_val x = tc_pt2_tensor(n, "self"), weight = tc_pt2_tensor(n, "weight");
    if (n->m.status != TC_OK)
        return;
    const tc_type *t = tc_type_of(n->m.g, x), *w = tc_type_of(n->m.g, weight);
    int64_t count = tc_type_count(w);
    bool by_channel =
        count == 1 || w->rank == 1 || (w->rank > 1 && w->rank == t->rank && w->dim[1] == count);
    if (by_channel) {
        if (w->rank > 1)
            weight = tc_b_1(&n->m, reshape, tc_b_attr(&n->m, shape, tc_ints_copy(&n->m.ctx->arena, &count, 1)), weight);
        tc_pt2_bind(n, 0, tc_b_op(&n->m, row->op, NULL, (tc_val[]){x, weight}, 2));
        return;
    }
    tc_val up = tc_b_2(&n->m, gt, NULL, x, tc_b_scalar(&n->m, t->dtype, 0));
    tc_val scaled = tc_b_2(&n->m, mul, NULL, weight, x);
    tc_pt2_bind(n, 0, tc_b_3(&n->m, where, NULL, up, x, scaled));
}

/* name.default */
#define ONE(name, import, op) {"aten." name ".default", import, TC_OP_##op, 0}
/* name.Tensor and name.Scalar */
#define TWO(name, import, op, extra)                                                               \
    {"aten." name ".Tensor", import, TC_OP_##op, extra},                                           \
    {                                                                                              \
        "aten." name ".Scalar", import, TC_OP_##op, extra                                          \
    }
/* Those and name.Scalar_Tensor */
#define THREE(name, import, op)                                                                    \
    TWO(name, import, op, 0), {"aten." name ".Scalar_Tensor", import, TC_OP_##op, 0}

const tc_pt2_row tc_pt2_eltwise[] = {
    ONE("absolute", tc_pt2_import_function, abs),
    ONE("negative", tc_pt2_import_function, neg),
    ONE("sgn", tc_pt2_import_function, sign),
    ONE("fix", tc_pt2_import_function, trunc),
    ONE("square", import_square, square),
    ONE("round", import_round, round),
    {"aten.round.decimals", import_round, TC_OP_round, 0},
    ONE("special_round", import_round, round),
    ONE("special_exp2", tc_pt2_import_function, exp2),
    ONE("special_expm1", tc_pt2_import_function, expm1),
    ONE("special_log1p", tc_pt2_import_function, log1p),
    ONE("arcsin", tc_pt2_import_function, asin),
    ONE("arccos", tc_pt2_import_function, acos),
    ONE("arctan", tc_pt2_import_function, atan),
    ONE("arcsinh", tc_pt2_import_function, asinh),
    ONE("arccosh", tc_pt2_import_function, acosh),
    ONE("arctanh", tc_pt2_import_function, atanh),
    ONE("special_erf", tc_pt2_import_function, erf),
    ONE("special_erfc", tc_pt2_import_function, erfc),
    ONE("special_erfinv", tc_pt2_import_function, erfinv),
    ONE("special_expit", tc_pt2_import_function, sigmoid),
    ONE("log_sigmoid_forward", tc_pt2_import_function, log_sigmoid),
    ONE("gelu", import_gelu, gelu),
    ONE("softplus", import_softplus, softplus),
    ONE("elu", import_elu, elu),
    ONE("celu", import_celu, elu),
    ONE("selu", import_selu, elu),
    ONE("leaky_relu", import_leaky_relu, leaky_relu),
    ONE("rrelu", import_rrelu, leaky_relu),
    ONE("rrelu_with_noise", import_rrelu, leaky_relu),
    ONE("rrelu_with_noise_functional", import_rrelu, leaky_relu),
    ONE("hardshrink", import_shrink, hardshrink),
    ONE("softshrink", import_shrink, softshrink),
    ONE("logit", import_logit, logit),
    ONE("special_logit", import_logit, logit),
    ONE("threshold", import_threshold, threshold),
    ONE("nan_to_num", import_nan_to_num, nan_to_num),
    ONE("clamp", import_clamp, clamp),
    ONE("clip", import_clamp, clamp),
    ONE("clamp_min", import_clamp, clamp),
    ONE("clamp_max", import_clamp, clamp),
    ONE("hardtanh", import_hardtanh, clamp),
    ONE("relu6", import_relu6, clamp),
    {"aten.clamp.Tensor", import_clamp_tensor, TC_OP_clamp_tensor, 0},
    {"aten.clip.Tensor", import_clamp_tensor, TC_OP_clamp_tensor, 0},
    {"aten.clamp_min.Tensor", import_clamp_tensor, TC_OP_clamp_tensor, 0},
    {"aten.clamp_max.Tensor", import_clamp_tensor, TC_OP_clamp_tensor, 0},
    ONE("glu", import_glu, glu),
    {"aten.isposinf.default", import_is, TC_OP_eq, (double)INFINITY},
    {"aten.isneginf.default", import_is, TC_OP_eq, -(double)INFINITY},
    ONE("signbit", import_signbit, lt),
    {"aten.deg2rad.default", import_times, TC_OP_mul, 0.017453292519943295769},
    {"aten.rad2deg.default", import_times, TC_OP_mul, 57.295779513082320877},

    TWO("add", import_sum, add, 0),
    TWO("sub", import_sum, sub, 0),
    TWO("subtract", import_sum, sub, 0),
    TWO("rsub", import_sum, sub, 1),
    TWO("mul", import_binary, mul, 0),
    TWO("multiply", import_binary, mul, 0),
    TWO("div", import_div, div, 0),
    {"aten.div.Tensor_mode", import_div, TC_OP_div, 0},
    {"aten.div.Scalar_mode", import_div, TC_OP_div, 0},
    TWO("divide", import_div, div, 0),
    {"aten.divide.Tensor_mode", import_div, TC_OP_div, 0},
    {"aten.divide.Scalar_mode", import_div, TC_OP_div, 0},
    TWO("true_divide", import_div, div, 0),
    {"aten.floor_divide.default", import_div, TC_OP_div, 1},
    {"aten.floor_divide.Scalar", import_div, TC_OP_div, 1},
    {"aten.pow.Tensor_Tensor", import_pow, TC_OP_pow, 0},
    {"aten.pow.Tensor_Scalar", import_pow, TC_OP_pow, 0},
    {"aten.pow.Tensor", import_pow, TC_OP_pow, 0}, /* pow_, in place */
    {"aten.pow.Scalar", import_pow, TC_OP_pow, 0},
    {"aten.float_power.Tensor_Tensor", import_float_power, TC_OP_pow, 0},
    {"aten.float_power.Tensor_Scalar", import_float_power, TC_OP_pow, 0},
    {"aten.float_power.Scalar", import_float_power, TC_OP_pow, 0},
    THREE("remainder", import_binary, remainder),
    TWO("fmod", import_binary, fmod, 0),
    ONE("maximum", import_binary, maximum),
    {"aten.max.other", import_binary, TC_OP_maximum, 0},
    ONE("minimum", import_binary, minimum),
    {"aten.min.other", import_binary, TC_OP_minimum, 0},
    ONE("fmax", import_binary, fmax),
    ONE("fmin", import_binary, fmin),
    ONE("atan2", import_binary, atan2),
    ONE("arctan2", import_binary, atan2),
    ONE("hypot", import_binary, hypot),
    TWO("copysign", import_binary, copysign, 0),
    ONE("logaddexp", import_binary, logaddexp),
    {"aten.xlogy.Tensor", import_binary, TC_OP_xlogy, 0},
    {"aten.xlogy.Scalar_Other", import_binary, TC_OP_xlogy, 0},
    {"aten.xlogy.Scalar_Self", import_binary, TC_OP_xlogy, 0},
    ONE("special_xlogy", import_binary, xlogy),
    {"aten.special_xlogy.other_scalar", import_binary, TC_OP_xlogy, 0},
    {"aten.special_xlogy.self_scalar", import_binary, TC_OP_xlogy, 0},
    THREE("bitwise_and", import_binary, bitwise_and),
    THREE("bitwise_or", import_binary, bitwise_or),
    THREE("bitwise_xor", import_binary, bitwise_xor),
    {"aten.bitwise_left_shift.Tensor", import_binary, TC_OP_shift_left, 0},
    {"aten.bitwise_left_shift.Tensor_Scalar", import_binary, TC_OP_shift_left, 0},
    {"aten.bitwise_left_shift.Scalar_Tensor", import_binary, TC_OP_shift_left, 0},
    {"aten.bitwise_right_shift.Tensor", import_binary, TC_OP_shift_right, 0},
    {"aten.bitwise_right_shift.Tensor_Scalar", import_binary, TC_OP_shift_right, 0},
    {"aten.bitwise_right_shift.Scalar_Tensor", import_binary, TC_OP_shift_right, 0},
    TWO("__lshift__", import_binary, shift_left, 0),
    TWO("__rshift__", import_binary, shift_right, 0),
    TWO("__and__", import_binary, bitwise_and, 0),
    TWO("__or__", import_binary, bitwise_or, 0),
    TWO("__xor__", import_binary, bitwise_xor, 0),
    TWO("__ilshift__", import_binary, shift_left, 1),
    TWO("__irshift__", import_binary, shift_right, 1),
    TWO("__iand__", import_binary, bitwise_and, 1),
    TWO("__ior__", import_binary, bitwise_or, 1),
    TWO("__ixor__", import_binary, bitwise_xor, 1),
    ONE("logical_and", import_binary, logical_and),
    ONE("logical_or", import_binary, logical_or),
    ONE("logical_xor", import_binary, logical_xor),
    TWO("eq", import_binary, eq, 0),
    TWO("ne", import_binary, ne, 0),
    TWO("not_equal", import_binary, ne, 0),
    TWO("lt", import_binary, lt, 0),
    TWO("less", import_binary, lt, 0),
    TWO("le", import_binary, le, 0),
    TWO("less_equal", import_binary, le, 0),
    TWO("gt", import_binary, gt, 0),
    TWO("greater", import_binary, gt, 0),
    TWO("ge", import_binary, ge, 0),
    TWO("greater_equal", import_binary, ge, 0),
    {"aten.where.self", import_where, TC_OP_where, 0},
    {"aten.where.ScalarOther", import_where, TC_OP_where, 0},
    {"aten.where.ScalarSelf", import_where, TC_OP_where, 0},
    {"aten.where.Scalar", import_where, TC_OP_where, 0},
    TWO("masked_fill", import_masked_fill, where, 0),
    TWO("lerp", import_lerp, lerp, 0),
    ONE("addcmul", import_addc, addcmul),
    ONE("addcdiv", import_addc, addcdiv),
    ONE("prelu", import_prelu, prelu),
    ONE("_prelu_kernel", import_prelu, prelu),
    {0},
};
