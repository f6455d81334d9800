/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_quant.c -- builders of explicit quantization, and of operators on quantized values.
 *
 * The latter dequantize, compute, quantize. */
#include <math.h>

#include "../../num/load.h"
#include "onnx_program.h"

/* The codes of an element type: uint4 is kept in a byte. */
static void codes(tc_dtype t, bool nibble, int64_t *lo, int64_t *hi)
{
    *lo = nibble ? 0 : ti_dtype_min(t);
    *hi = nibble ? 15 : ti_dtype_max(t);
}

/* Whether input i is declared as four-bit unsigned. */
static bool is_uint4(tc_onnx_node *n, int i)
{
    enum { UINT4 = 21 };
    if (i >= n->n_in || !*n->proto->input[i])
        return false;
    for (const tc_onnx_scope *s = n->scope; s; s = s->outer) {
        const tc_onnx_name *name = ti_map_get(&s->name, ti_str_of(n->proto->input[i]));
        if (name)
            return name->tensor && name->tensor->data_type == UINT4;
    }
    return false;
}

/* ---- unsigned codes ----
 *
 * Targets compute on int8.  A uint8 code u with zero z has the value of the int8 code u - 128 with
 * zero z - 128, and a uint4 code that of the int4 code u - 8: so codes are signed, and the file's
 * uint8 is that plus 128, which is dead unless the integer itself is used. */

static tc_val shifted(tc_build *m, tc_val x, double by, tc_dtype to)
{
    x = ti_b_cast(m, x, TC_i16);
    x = ti_b_add_n(m, x, by);
    return ti_b_cast(m, x, to);
}

/* A constant moved down by half of its codes. */
static tc_val signed_constant(tc_build *m, tc_val x, bool nibble)
{
    tc_tensor from = ti_tensor_of(m->g, x);
    tc_tensor to = ti_b_tensor(m, nibble ? TC_i4 : TC_i8, from.type->rank, from.type->dim);
    const uint8_t *u = from.data;
    int8_t *s = to.data;
    for (int64_t i = 0; i < tc_type_count(from.type); i++)
        s[i] = (int8_t)(u[i] - (nibble ? 8 : 128));
    return ti_b_const(m, to, ti_value_of(m->g, x)->name);
}

/* The int8 codes of x, if x is them plus 128, perhaps moved; else TC_NONE. */
static tc_val signed_behind(tc_build *m, tc_val x, int depth)
{
    enum { DEEPEST = 8 };
    tc_node *def = ti_def(m->g, x);
    if (!def || depth > DEEPEST || ti_b_dtype(m, x) != TC_u8)
        return TC_NONE;
    if (def->op == TC_OP_cast) {
        tc_node *sum = ti_def(m->g, def->in[0]);
        tc_node *wide = sum && sum->op == TC_OP_add ? ti_def(m->g, sum->in[0]) : NULL;
        tc_tensor by;
        if (wide && wide->op == TC_OP_cast && ti_b_dtype(m, wide->in[0]) == TC_i8 &&
            ti_b_known(m, sum->in[1], &by) && tc_type_count(by.type) == 1 &&
            ti_load_i64(by, 0) == 128)
            return wide->in[0];
        return TC_NONE;
    }
    switch (def->op) {
    case TC_OP_reshape:
    case TC_OP_permute:
    case TC_OP_slice:
    case TC_OP_select:
    case TC_OP_expand:
    case TC_OP_identity:
    case TC_OP_max_pool:
        break;
    default:
        return TC_NONE;
    }
    tc_val inner = def->n_out == 1 ? signed_behind(m, def->in[0], depth + 1) : TC_NONE;
    return inner ? ti_b_op(m, def->op, def->attr, &inner, 1) : TC_NONE;
}

/* Any uint8 tensor as int8 codes. */
static tc_val as_signed(tc_build *m, tc_val x, bool nibble)
{
    if (ti_is_const(m->g, x))
        return signed_constant(m, x, nibble);
    tc_val behind = signed_behind(m, x, 0);
    return behind || m->status != TC_OK ? behind : shifted(m, x, -128, TC_i8);
}

/* Scale and zero point by themselves, or per channel of an axis: as our operator has them. */
static tc_val signed_step(tc_onnx_node *n, tc_op op, tc_val x, tc_val scale, tc_val zero,
                          int64_t axis, tc_dtype dtype, int64_t down)
{
    tc_build *m = &n->m;
    tc_tensor s, z;
    TC_STOP_WITH(m, TC_NONE);
    tc_attr_quantize a = {
        .axis = -1, .dtype = dtype, .divides = op == TC_OP_quantize, .biased = down == 128};
    codes(op == TC_OP_dequantize ? ti_b_dtype(m, x) : dtype, false, &a.qmin, &a.qmax);
    if (tc_type_count(ti_b_type(m, scale)) == 1) {
        if (ti_b_known(m, scale, &s) && (!zero || ti_b_known(m, zero, &z))) {
            a.scale = ti_load_f64(s, 0);
            a.zero = (zero ? ti_load_i64(z, 0) : 0) - down;
            if (!(a.scale > 0) || !isfinite(a.scale)) {
                ti_b_bad(m, TC_E_ARGUMENT, "a scale of %g", a.scale);
                return TC_NONE;
            }
            return ti_b_op(m, op, ti_arena_copy(&m->ctx->arena, &a, sizeof a), &x, 1);
        }
    } else
        a.axis = ti_b_axis(m, axis, ti_b_type(m, x)->rank);
    scale = ti_b_flat(m, scale);
    if (!zero && m->status == TC_OK) {
        int64_t count = tc_type_count(ti_b_type(m, scale));
        zero = ti_b_full(m, 1, &count, 0, TC_i32);
    }
    zero = ti_b_flat(m, ti_b_cast(m, zero, TC_i32));
    if (down)
        zero = ti_b_add_n(m, zero, (double)-down);
    return ti_b_op(m, op, ti_arena_copy(&m->ctx->arena, &a, sizeof a), (tc_val[]){x, scale, zero},
                   3);
}

static tc_val step(tc_onnx_node *n, tc_op op, tc_val x, tc_val scale, tc_val zero, int64_t axis,
                   tc_dtype dtype, bool nibble)
{
    tc_build *m = &n->m;
    TC_STOP_WITH(m, TC_NONE);
    bool back = op == TC_OP_dequantize;
    if ((back ? ti_b_dtype(m, x) : dtype) != TC_u8)
        return signed_step(n, op, x, scale, zero, axis, dtype, 0);
    if (back) {
        bool four = nibble && ti_is_const(m->g, x);
        x = as_signed(m, x, four);
        return signed_step(n, op, x, scale, zero, axis, dtype, four ? 8 : 128);
    }
    tc_val y = signed_step(n, op, x, scale, zero, axis, TC_i8, 128);
    if (nibble && m->status == TC_OK) /* codes 0 to 15 of the 256 */
        y = ti_b_clamp(m, y, -128, -113);
    return shifted(m, y, 128, TC_u8);
}

/* A scale for each block of an axis becomes one for each number. */
static tc_val spread(tc_onnx_node *n, tc_val p, const tc_type *x, int axis)
{
    tc_build *m = &n->m;
    if (m->status != TC_OK || !p)
        return TC_NONE;
    int64_t blocks = ti_b_type(m, p)->dim[axis], size = ti_onnx_int(n, "block_size", 0);
    if (blocks < 1 || size < 1 || blocks * size < x->dim[axis] ||
        (blocks - 1) * size >= x->dim[axis]) {
        ti_b_bad(m, TC_E_ARGUMENT, "%" PRId64 " blocks of %" PRId64 " for %" PRId64 " numbers",
                 blocks, size, x->dim[axis]);
        return TC_NONE;
    }
    p = ti_b_1(m, repeat_interleave, ti_b_attr(m, interleave, axis, size), p);
    return ti_b_slice(m, p, axis, 0, x->dim[axis], 1);
}

/* By blocks, in plain arithmetic. */
static tc_val by_blocks(tc_onnx_node *n, bool back, tc_val x, tc_val scale, tc_val zero, int axis,
                        tc_dtype dtype, bool nibble)
{
    tc_build *m = &n->m;
    const tc_type *t = ti_b_type(m, x);
    scale = spread(n, scale, t, axis);
    zero = spread(n, zero, t, axis);
    TC_STOP_WITH(m, TC_NONE);
    tc_dtype real = ti_b_dtype(m, scale);
    if (zero)
        zero = ti_b_cast(m, zero, real);
    if (back) {
        x = ti_b_cast(m, x, real);
        x = zero ? ti_b_sub(m, x, zero) : x;
        return ti_b_cast(m, ti_b_mul(m, x, scale), dtype);
    }
    int64_t lo, hi;
    codes(dtype, nibble, &lo, &hi);
    x = ti_b_div(m, x, scale);
    x = ti_b_1(m, round, ti_b_attr(m, round, 0), x);
    x = zero ? ti_b_add(m, x, zero) : x;
    return ti_b_cast(m, ti_b_clamp(m, x, (double)lo, (double)hi), dtype);
}

static bool is_blocked(tc_onnx_node *n, tc_val x, tc_val scale)
{
    return n->m.status == TC_OK && ti_onnx_int(n, "block_size", 0) > 0 &&
           ti_b_type(&n->m, scale)->rank == ti_b_type(&n->m, x)->rank &&
           ti_b_type(&n->m, x)->rank > 0;
}

/* To 8-bit floats there are no codes: x / scale, rounded to the type. */
static tc_val to_small_float(tc_onnx_node *n, tc_val x, tc_val scale, int64_t axis, tc_dtype dtype)
{
    tc_build *m = &n->m;
    int rank = ti_b_type(m, x)->rank;
    int64_t count = tc_type_count(ti_b_type(m, scale)), dim[TC_MAX_RANK];
    for (int i = 0; i < rank; i++)
        dim[i] = count > 1 && i == ti_b_axis(m, axis, rank) ? count : 1;
    scale = ti_b_reshape(m, scale, rank, dim);
    return ti_b_cast(m, ti_b_div(m, x, scale), dtype);
}

void ti_onnx_build_quantize(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0), scale = ti_onnx_need(n, 1), zero = ti_onnx_in(n, 2), y;
    int64_t code = ti_onnx_int(n, "output_dtype", 0), axis = ti_onnx_int(n, "axis", 1);
    enum { UINT4 = 21 };
    TC_STOP(m);
    tc_dtype dtype = zero ? ti_b_dtype(m, zero) : code ? ti_onnx_need_dtype(n, code) : TC_u8;
    bool nibble = code == UINT4 || is_uint4(n, 2);
    if (ti_is_float(dtype))
        y = to_small_float(n, x, scale, axis, dtype);
    else if (is_blocked(n, x, scale))
        y = by_blocks(n, false, x, scale, zero, ti_b_axis(m, axis, ti_b_type(m, x)->rank), dtype,
                      nibble);
    else
        y = step(n, TC_OP_quantize, x, scale, zero, axis, dtype, nibble);
    ti_onnx_bind(n, 0, y);
}

void ti_onnx_build_dequantize(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0), scale = ti_onnx_need(n, 1), zero = ti_onnx_in(n, 2), y;
    int64_t axis = ti_onnx_int(n, "axis", 1);
    TC_STOP(m);
    tc_dtype dtype = ti_onnx_int(n, "output_dtype", 0)
                         ? ti_onnx_need_dtype(n, ti_onnx_int(n, "output_dtype", 0))
                         : ti_b_dtype(m, scale);
    if (ti_is_float(ti_b_dtype(m, x))) { /* eight-bit floats: x * scale */
        int rank = ti_b_type(m, x)->rank;
        int64_t count = tc_type_count(ti_b_type(m, scale)), dim[TC_MAX_RANK];
        for (int i = 0; i < rank; i++)
            dim[i] = count > 1 && i == ti_b_axis(m, axis, rank) ? count : 1;
        scale = ti_b_reshape(m, scale, rank, dim);
        x = ti_b_cast(m, x, ti_b_dtype(m, scale));
        y = ti_b_cast(m, ti_b_mul(m, x, scale), dtype);
    } else if (is_blocked(n, x, scale))
        y = by_blocks(n, true, x, scale, zero, ti_b_axis(m, axis, ti_b_type(m, x)->rank), dtype,
                      false);
    else
        y = step(n, TC_OP_dequantize, x, scale, zero, axis, dtype, is_uint4(n, 0));
    ti_onnx_bind(n, 0, y);
}

/* Whether the node's result goes to QuantizeLinear alone, over Relu and Clip. */
static bool leads_to_codes(tc_onnx_node *n)
{
    enum { FARTHEST = 8 };
    const TcOnnxPb__Node *node = n->proto;
    for (int i = 0; i < FARTHEST && node && node->n_output == 1; i++) {
        node = ti_onnx_only_user(n->scope, node->output[0]);
        const char *op = node && node->op_type ? node->op_type : "";
        if (ti_text_eq(op, "QuantizeLinear"))
            return true;
        if (!ti_text_eq(op, "Relu") && !ti_text_eq(op, "Clip"))
            return false;
    }
    return false;
}

/* The scales of what x is dequantized by; n = 0: it is not, or they are not known. */
static tc_floats scales_behind(tc_build *m, tc_val x)
{
    const tc_node *def = ti_def(m->g, x);
    while (def && (def->op == TC_OP_permute || def->op == TC_OP_reshape))
        def = ti_def(m->g, def->in[0]);
    if (!def || def->op != TC_OP_dequantize)
        return (tc_floats){0, NULL};
    const tc_attr_quantize *a = def->attr;
    tc_tensor t;
    if (a->scale != 0)
        return (tc_floats){1, ti_arena_copy(&m->ctx->arena, &a->scale, sizeof a->scale)};
    if (!ti_b_known(m, def->in[1], &t) || tc_type_count(t.type) > INT32_MAX)
        return (tc_floats){0, NULL};
    double *v = tc_new_n(&m->ctx->arena, double, (size_t)tc_type_count(t.type));
    for (int64_t i = 0; i < tc_type_count(t.type); i++)
        v[i] = ti_load_f64(t, i);
    return (tc_floats){(int32_t)tc_type_count(t.type), v};
}

tc_val ti_onnx_whole_bias(tc_onnx_node *n, tc_val x, tc_val weight, tc_val bias)
{
    tc_build *m = &n->m;
    tc_tensor b;
    if (m->status != TC_OK || !bias || !ti_is_const(m->g, bias) || ti_b_dtype(m, bias) != TC_f32 ||
        ti_b_type(m, bias)->rank != 1 || !leads_to_codes(n))
        return bias;
    b = ti_tensor_of(m->g, bias);
    int64_t count = tc_type_count(b.type);
    tc_floats xs = scales_behind(m, x), ws = scales_behind(m, weight);
    if (xs.n != 1 || (ws.n != 1 && ws.n != count) || m->status != TC_OK)
        return bias;
    int64_t steps = ws.n;
    tc_tensor codes = ti_b_tensor(m, TC_i32, 1, &count), scale = ti_b_tensor(m, TC_f32, 1, &steps);
    for (int64_t i = 0; i < count; i++) {
        int64_t k = steps == 1 ? 0 : i;
        float step = (float)xs.v[0] * (float)ws.v[k], q = rintf(((const float *)b.data)[i] / step);
        if (!(step > 0) || !(fabsf(q) < 0x1p31f))
            return bias;
        ((float *)scale.data)[k] = step;
        ((int32_t *)codes.data)[i] = (int32_t)q;
    }
    tc_val whole = ti_b_const(m, codes, ti_value_of(m->g, bias)->name);
    tc_val by = ti_b_const(m, scale, NULL);
    return step(n, TC_OP_dequantize, whole, by, TC_NONE, 0, TC_f32, false);
}

/* scale = (max(x, 0) - min(x, 0)) / 255, zero = clamp(round(-min / scale)), all in f32 */
tc_onnx_codes ti_onnx_dynamic(tc_build *m, tc_val x, double least_scale)
{
    static const int64_t axes[] = {0, 1, 2, 3, 4, 5, 6, 7};
    TC_STOP_WITH(m, (tc_onnx_codes){0});
    int rank = ti_b_type(m, x)->rank;
    tc_val lo = ti_b_reduce(m, TC_OP_amin, x, axes, rank, false);
    lo = ti_b_clamp(m, lo, -INFINITY, 0);
    tc_val hi = ti_b_reduce(m, TC_OP_amax, x, axes, rank, false);
    hi = ti_b_clamp(m, hi, 0, INFINITY);
    tc_val codes255 = ti_b_scalar(m, TC_f32, 255);
    tc_val scale = ti_b_div(m, ti_b_sub(m, hi, lo), codes255);
    if (least_scale > 0)
        scale = ti_b_clamp(m, scale, least_scale, INFINITY);
    tc_val zero = ti_b_div(m, ti_b_neg(m, lo), scale);
    zero = ti_b_1(m, round, ti_b_attr(m, round, 0), zero);
    zero = ti_b_clamp(m, zero, 0, 255);
    tc_val y = ti_b_div(m, x, scale);
    y = ti_b_1(m, round, ti_b_attr(m, round, 0), y);
    y = ti_b_add(m, y, zero);
    y = ti_b_clamp(m, y, 0, 255);
    return (tc_onnx_codes){y, scale, zero};
}

void ti_onnx_build_dynamic_quantize(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_onnx_codes q = ti_onnx_dynamic(m, ti_onnx_need(n, 0), 0);
    ti_onnx_bind(n, 0, ti_b_cast(m, q.code, TC_u8));
    ti_onnx_bind(n, 1, q.scale);
    ti_onnx_bind(n, 2, ti_b_cast(m, q.zero, TC_u8));
}

/* ---- operators on codes ---- */

/* Operands i, i + 1 (scale), i + 2 (zero) dequantized. */
static tc_val real_of(tc_onnx_node *n, int i, int64_t axis)
{
    tc_val x = ti_onnx_need(n, i), scale = ti_onnx_need(n, i + 1), zero = ti_onnx_in(n, i + 2);
    TC_STOP_WITH(&n->m, TC_NONE);
    return step(n, TC_OP_dequantize, x, scale, zero, axis, TC_f32, false);
}

/* A result as codes, by operands i (scale) and i + 1 (zero). */
static tc_val codes_of(tc_onnx_node *n, tc_val y, int i)
{
    tc_val scale = ti_onnx_need(n, i), zero = ti_onnx_in(n, i + 1);
    TC_STOP_WITH(&n->m, TC_NONE);
    return step(n, TC_OP_quantize, y, scale, zero, 1, zero ? ti_b_dtype(&n->m, zero) : TC_u8,
                false);
}

/* Build the standard operator of that name on these inputs. */
static tc_val as_standard(tc_onnx_node *n, const char *op, void (*build)(tc_onnx_node *),
                          const tc_val *in, int n_in)
{
    tc_onnx_node inner = *n;
    TcOnnxPb__Node proto = *n->proto;
    tc_onnx_scope scope;
    ti_onnx_scope_init(&scope, n->scope->reader, n->scope);
    char *names[8], *result[1] = {(char *)"result"};
    for (int i = 0; i < n_in; i++) {
        names[i] = in[i] ? ti_text_format(&n->m.ctx->arena, "operand %d", i) : (char *)"";
        if (in[i])
            ti_onnx_name_value(&scope, names[i], in[i]);
    }
    proto.op_type = (char *)(uintptr_t)op;
    proto.input = names;
    proto.n_input = (size_t)n_in;
    proto.output = result;
    proto.n_output = 1;
    inner.scope = &scope;
    inner.proto = &proto;
    inner.n_in = n_in;
    inner.n_out = 1;
    build(&inner);
    n->m.status = inner.m.status;
    tc_val y = TC_NONE;
    if (n->m.status == TC_OK)
        y = ti_onnx_value(&scope, "result", n->m.loc, &n->m.status);
    if (y)
        ti_value_of(n->m.g, y)->name = NULL;
    return y;
}

/* The bias is int32 with scale x_scale * w_scale. */
void ti_onnx_build_qlinear_conv(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = real_of(n, 0, 1), w = real_of(n, 3, 0), bias = ti_onnx_in(n, 8);
    if (bias && m->status == TC_OK) {
        tc_val xs = ti_b_flat(m, ti_onnx_need(n, 1)), ws = ti_b_flat(m, ti_onnx_need(n, 4));
        tc_val both = ti_b_mul(m, xs, ws);
        bias = step(n, TC_OP_dequantize, bias, both, TC_NONE, 0, TC_f32, false);
    }
    tc_val y = as_standard(n, "Conv", ti_onnx_build_conv, (tc_val[]){x, w, bias}, 3);
    ti_onnx_bind(n, 0, codes_of(n, y, 6));
}

/* Scales per row of a and per column of b are taken as they broadcast. */
static tc_val real_matrix(tc_onnx_node *n, int i, bool rows)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, i), scale = ti_onnx_need(n, i + 1);
    TC_STOP_WITH(m, TC_NONE);
    const tc_type *t = ti_b_type(m, x);
    if (tc_type_count(ti_b_type(m, scale)) == 1 || ti_b_type(m, scale)->rank <= 1)
        return real_of(n, i, rows ? t->rank - 2 : t->rank - 1);
    tc_val zero = ti_b_cast(m, ti_onnx_need(n, i + 2), TC_f32);
    x = ti_b_cast(m, x, TC_f32);
    x = ti_b_sub(m, x, zero);
    return ti_b_mul(m, x, scale);
}

void ti_onnx_build_qlinear_matmul(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val a = real_matrix(n, 0, true), b = real_matrix(n, 3, false);
    TC_STOP(m);
    tc_val y = ti_b_matmul(m, a, b);
    ti_onnx_bind(n, 0, codes_of(n, y, 6));
}

/* onnxruntime's own: the row's operator on two quantized operands. */
void ti_onnx_build_qlinear_binary(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val a = real_of(n, 0, 1), b = real_of(n, 3, 1);
    tc_val y = n->row->op == TC_OP_add ? ti_b_add(m, a, b)
                                       : ti_b_op(m, n->row->op, NULL, (tc_val[]){a, b}, 2);
    ti_onnx_bind(n, 0, codes_of(n, y, 6));
}

/* And on one: Sigmoid, LeakyRelu; the pools keep their domain's axis. */
void ti_onnx_build_qlinear_unary(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = real_of(n, 0, 1), y;
    TC_STOP(m);
    if (n->row->op == TC_OP_leaky_relu) {
        tc_attr_slope *a = ti_b_attr(m, slope, ti_onnx_float(n, "alpha", (double)0.01f));
        y = ti_b_1(m, leaky_relu, a, x);
    } else if (n->row->op == TC_OP_mean) {
        static const int64_t axes[] = {2, 3, 4};
        y = ti_b_reduce(m, TC_OP_mean, x, axes, ti_b_type(m, x)->rank - 2, true);
    } else if (n->row->op == TC_OP_softmax) {
        int axis = ti_b_axis(m, ti_onnx_int(n, "axis", -1), ti_b_type(m, x)->rank);
        y = ti_b_softmax(m, x, axis);
    } else
        y = ti_b_op(m, n->row->op, NULL, &x, 1);
    ti_onnx_bind(n, 0, codes_of(n, y, 3));
}

/* y_scale, y_zero, then tensor, scale, zero of each part. */
void ti_onnx_build_qlinear_concat(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    int parts = (n->n_in - 2) / 3;
    tc_val *in = tc_new_n(&m->ctx->arena, tc_val, (size_t)(parts > 0 ? parts : 0));
    for (int i = 0; i < parts; i++)
        in[i] = real_of(n, 2 + 3 * i, 1);
    if (m->status != TC_OK || parts < 1)
        return;
    int axis = ti_b_axis(m, ti_onnx_int(n, "axis", 0), ti_b_type(m, in[0])->rank);
    tc_val y = ti_b_cat(m, axis, in, parts);
    ti_onnx_bind(n, 0, codes_of(n, y, 0));
}

/* x - zero as i32; the zero point of a matrix's rows is along them. */
static tc_val centred(tc_onnx_node *n, tc_val x, tc_val zero, int axis)
{
    tc_build *m = &n->m;
    x = ti_b_cast(m, x, TC_i32);
    if (!zero || m->status != TC_OK)
        return x;
    const tc_type *t = ti_b_type(m, x);
    int64_t count = tc_type_count(ti_b_type(m, zero)), dim[TC_MAX_RANK];
    for (int i = 0; i < t->rank; i++)
        dim[i] = count > 1 && i == axis ? count : 1;
    zero = ti_b_cast(m, zero, TC_i32);
    if (ti_b_type(m, zero)->rank < 2 || count == 1)
        zero = ti_b_reshape(m, zero, t->rank, dim);
    return ti_b_sub(m, x, zero);
}

void ti_onnx_build_matmul_integer(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val a = ti_onnx_need(n, 0), b = ti_onnx_need(n, 1), za = ti_onnx_in(n, 2),
           zb = ti_onnx_in(n, 3);
    TC_STOP(m);
    int ra = ti_b_type(m, a)->rank, rb = ti_b_type(m, b)->rank;
    a = centred(n, a, za, ra - 2);
    b = centred(n, b, zb, rb - 1);
    tc_val y = ti_b_matmul(m, a, b);
    ti_onnx_bind(n, 0, ti_b_cast(m, y, TC_i32));
}

void ti_onnx_build_conv_integer(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0), w = ti_onnx_need(n, 1), zx = ti_onnx_in(n, 2),
           zw = ti_onnx_in(n, 3);
    x = centred(n, x, zx, 1);
    w = centred(n, w, zw, 0);
    tc_val y = as_standard(n, "Conv", ti_onnx_build_conv, (tc_val[]){x, w}, 2);
    ti_onnx_bind(n, 0, ti_b_cast(m, y, TC_i32));
}
