/* SPDX-License-Identifier: Apache-2.0 */
/* c_library.c -- a call of CMSIS-NN: its records in flash, its scratch in the arena.
 *
 * A function has the arguments of ExecuTorch's operator of the same name (target/cortexm_ops.def
 * has the order); only axes are CMSIS-NN's here: n, h, w, c. */
#include "c_model.h"
#include "library_calls.h"

enum { LEFT_SHIFT = 20 }; /* of a sum's operands, as DSP's function has it */

bool ti_c_is_library(const tc_node *node)
{
    tc_cm_op op;
    tc_core core;
    return ti_cm_of(node, &op, &core);
}

/* The call that is being written. */
typedef struct writer {
    tc_c_model *m;
    const tc_c_graph *cg;
    const tc_c_step *s;
    tc_cm_op op;
    tc_cm_call call;
} writer;

static const char *describe(const tc_c_model *m, const tc_node *node, tc_cm_op *op, tc_cm_call *out)
{
    tc_core core;
    (void)ti_cm_of(node, op, &core);
    return ti_cm_describe(m->ctx, ti_node_callee(m->module, node, 0), *op, core, TC_CM_C, out);
}

int64_t ti_c_library_scratch(const tc_c_model *m, const tc_node *node)
{
    tc_cm_op op;
    tc_cm_call call;
    int64_t bytes = 0;
    if (describe(m, node, &op, &call))
        return 0; /* the writer gives the reason */
    for (int i = 0; i < call.n_arg; i++)
        bytes += call.arg[i].kind == TC_CM_SCRATCH ? (int64_t)call.arg[i].bytes : 0;
    return bytes;
}

/* ---- pieces ---- */

#define PUT(k, ...) ti_buf_printf(&(k)->m->code, __VA_ARGS__)

static int64_t number(const writer *k, int i) { return k->call.arg[i].value.i; }
static const int64_t *numbers(const writer *k, int i) { return k->call.arg[i].value.ints.v; }

static const char *operand(const writer *k, int i)
{
    return ti_c_pointer(k->m, k->cg, k->s->node->in[k->call.arg[i].index]);
}

static const char *result(const writer *k) { return ti_c_pointer(k->m, k->cg, k->s->out); }

/* A constant; "NULL" if absent. */
static const char *data(const writer *k, int i)
{
    const tc_tensor t = k->call.arg[i].data;
    return k->call.arg[i].kind == TC_CM_DATA
               ? ti_c_array(k->m, t.type->dtype, t.data, tc_type_count(t.type))
               : "NULL";
}

static void put_dims(const writer *k, const char *name, int64_t n, int64_t h, int64_t w, int64_t c)
{
    PUT(k,
        "        static const cmsis_nn_dims %s = {.n = %" PRId64 ", .h = %" PRId64 ", .w = %" PRId64
        ", .c = %" PRId64 "};\n",
        name, n, h, w, c);
}

/* A picture: its axes are shown as n, c, h, w. */
static void put_picture(const writer *k, const char *name, const tc_cm_view *v)
{
    put_dims(k, name, v->dim[0], v->dim[2], v->dim[3], v->dim[1]);
}

static void put_tile(const writer *k, const char *name, const int64_t *h_w)
{
    PUT(k, ".%s = {.w = %" PRId64 ", .h = %" PRId64 "}, ", name, h_w[1], h_w[0]);
}

static void put_bounds(const writer *k, int64_t lo, int64_t hi)
{
    PUT(k, ".activation = {.min = %" PRId64 ", .max = %" PRId64 "}", lo, hi);
}

/* Its scratch: argument i. */
static void put_context(const writer *k, int i)
{
    size_t bytes = k->call.arg[i].bytes;
    if (bytes)
        PUT(k, "        const cmsis_nn_context context = {.buf = %s, .size = %zu};\n",
            ti_c_scratch(k->m, TC_i8, 0), bytes);
    else
        PUT(k, "        static const cmsis_nn_context context = {0};\n");
}

/* "status = f(" ... put_end() */
static void put_begin(const writer *k)
{
    PUT(k, "        arm_cmsis_nn_status status = %s(", ti_cm_function(k->op));
}

static void put_end(const writer *k)
{
    PUT(k, ");\n        if (status != ARM_CMSIS_NN_SUCCESS)\n            return (int)status;\n");
}

/* ---- products ---- */

/* x by weights with a bias. */
static void put_product(const writer *k)
{
    const char *x = operand(k, 0), *w = data(k, 1);
    const char *bias = data(k, 2), *y = result(k);
    put_begin(k);
    PUT(k, "&context, &p, &q, &x, %s, &w, %s, &bias, %s, &y, %s", x, w, bias, y);
    put_end(k);
}

/* at: where the offsets are; the rest is in the same order for both. */
static void put_conv(const writer *k, const char *kind, int at, int64_t multiplier)
{
    const char *multipliers = data(k, at + 2), *shifts = data(k, at + 3);
    const int64_t *w = k->call.arg[1].data.type->dim;
    PUT(k,
        "        static const cmsis_nn_%s_params p = {\n            .input_offset = %" PRId64
        ", .output_offset = %" PRId64 ", ",
        kind, number(k, at), number(k, at + 1));
    if (multiplier)
        PUT(k, ".ch_mult = %" PRId64 ", ", multiplier);
    put_tile(k, "stride", numbers(k, 3));
    put_tile(k, "padding", numbers(k, 4));
    put_tile(k, "dilation", numbers(k, 5));
    put_bounds(k, number(k, at + 4), number(k, at + 5));
    PUT(k,
        "};\n        static const cmsis_nn_per_channel_quant_params q = {.multiplier = (int32_t *)%s, "
        ".shift = (int32_t *)%s};\n",
        multipliers, shifts);
    put_picture(k, "x", &k->call.arg[0].view);
    put_dims(k, "w", w[0], w[1], w[2], w[3]);
    put_dims(k, "bias", 1, 1, 1, k->call.out.dim[1]);
    put_picture(k, "y", &k->call.out);
    put_context(k, at + 6);
    put_product(k);
}

static void put_conv2d(const writer *k) { put_conv(k, "conv", 6, 0); }
static void put_depthwise(const writer *k) { put_conv(k, "dw_conv", 7, number(k, 6)); }

/* MVE adds kernel sums instead of a bias. */
static void put_linear(const writer *k)
{
    const tc_cm_view *x = &k->call.arg[0].view;
    int64_t out = k->call.out.dim[1];
    const char *sums = data(k, 3);
    PUT(k,
        "        static const cmsis_nn_fc_params p = {\n            .input_offset = %" PRId64
        ", .filter_offset = %" PRId64 ", .output_offset = %" PRId64 ", ",
        number(k, 4), number(k, 5), number(k, 6));
    put_bounds(k, number(k, 10), number(k, 9));
    PUT(k,
        "};\n        static const cmsis_nn_per_tensor_quant_params q = {.multiplier = %" PRId64
        ", .shift = %" PRId64 "};\n",
        numbers(k, 7)[0], numbers(k, 8)[0]);
    put_dims(k, "x", x->dim[0], 1, 1, x->dim[1]);
    put_dims(k, "w", x->dim[1], 1, 1, out);
    put_dims(k, "bias", 1, 1, 1, out);
    put_dims(k, "y", x->dim[0], 1, 1, out);
    if (k->call.arg[3].kind == TC_CM_DATA)
        PUT(k,
            "        static const cmsis_nn_context context = {.buf = (void *)%s, .size = (int32_t)sizeof "
            "%s};\n",
            sums, sums);
    else
        PUT(k, "        static const cmsis_nn_context context = {0};\n");
    put_product(k);
}

static void put_batch_matmul(const writer *k)
{
    const int64_t *a = k->call.arg[0].view.dim, *b = k->call.arg[2].view.dim;
    PUT(k,
        "        static const cmsis_nn_bmm_params p = {.fc_params = {\n            .input_offset = "
        "%" PRId64 ", .filter_offset = %" PRId64 ", .output_offset = %" PRId64 ", ",
        number(k, 1), number(k, 3), number(k, 4));
    put_bounds(k, INT8_MIN, INT8_MAX);
    PUT(k,
        "}};\n        static const cmsis_nn_per_tensor_quant_params q = {.multiplier = %" PRId64
        ", .shift = %" PRId64 "};\n",
        number(k, 5), number(k, 6));
    put_dims(k, "a", a[0], 1, a[1], a[2]);
    put_dims(k, "b", b[0], 1, b[1], b[2]);
    put_dims(k, "y", a[0], 1, a[1], b[1]);
    put_context(k, 7);
    const char *left = operand(k, 0), *right = operand(k, 2), *y = result(k);
    put_begin(k);
    PUT(k, "&context, &p, &q, &a, %s, &b, %s, &y, %s", left, right, y);
    put_end(k);
}

/* ---- elementwise ---- */

static int64_t elements(const writer *k) { return tc_type_count(ti_type_of(k->cg->g, k->s->out)); }

static void put_add(const writer *k)
{
    const char *a = operand(k, 0), *b = operand(k, 4), *y = result(k);
    put_begin(k);
    PUT(k,
        "%s, %s, %" PRId64 ", %" PRId64 ", %" PRId64 ",\n            %" PRId64 ", %" PRId64
        ", %" PRId64 ", %d, ",
        a, b, -number(k, 1), number(k, 2), number(k, 3), -number(k, 5),
        number(k, 6), number(k, 7), LEFT_SHIFT);
    PUT(k, "%s, %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64, y,
        number(k, 8), number(k, 9), number(k, 10), number(k, 11), number(k, 12), elements(k));
    put_end(k);
}

static void put_mul(const writer *k)
{
    const char *a = operand(k, 0), *b = operand(k, 2), *y = result(k);
    put_begin(k);
    PUT(k, "%s, %s, %" PRId64 ", %" PRId64 ", ", a, b, -number(k, 1), -number(k, 3));
    PUT(k, "%s,\n            %" PRId64 ", %" PRId64 ", %" PRId64 ", %d, %d, %" PRId64, y,
        number(k, 4), number(k, 5), number(k, 6), INT8_MIN, INT8_MAX, elements(k));
    put_end(k);
}

static void put_softmax(const writer *k)
{
    const tc_cm_view *x = &k->call.arg[0].view;
    int64_t row = x->dim[x->rank - 1];
    const char *from = operand(k, 0), *to = result(k);
    PUT(k,
        "        %s(%s, %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %s);\n",
        ti_cm_function(k->op), from, elements(k) / row, row, number(k, 4), number(k, 5),
        number(k, 6), to);
}

/* ---- pools ---- */

static void put_pool(const writer *k, int64_t lo, int64_t hi)
{
    const int64_t *window = numbers(k, 1);
    PUT(k, "        static const cmsis_nn_pool_params p = {");
    put_tile(k, "stride", numbers(k, 2));
    put_tile(k, "padding", numbers(k, 3));
    put_bounds(k, lo, hi);
    PUT(k, "};\n");
    put_picture(k, "x", &k->call.arg[0].view);
    put_dims(k, "w", 1, window[0], window[1], 1);
    put_picture(k, "y", &k->call.out);
    put_context(k, k->call.n_arg - 1); /* of a maximum no scratch: no bytes */
    const char *from = operand(k, 0), *to = result(k);
    put_begin(k);
    PUT(k, "&context, &p, &x, %s, &w, &y, %s", from, to);
    put_end(k);
}

static void put_avg_pool(const writer *k) { put_pool(k, INT8_MIN, INT8_MAX); }
static void put_max_pool(const writer *k) { put_pool(k, number(k, 8), number(k, 9)); }

tc_status ti_c_library(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    static void (*const put[TC_CM_COUNT])(const writer *) = {
        [TC_CM_conv2d] = put_conv2d,     [TC_CM_depthwise] = put_depthwise,
        [TC_CM_linear] = put_linear,     [TC_CM_batch_matmul] = put_batch_matmul,
        [TC_CM_add] = put_add,           [TC_CM_mul] = put_mul,
        [TC_CM_softmax] = put_softmax,   [TC_CM_avg_pool] = put_avg_pool,
        [TC_CM_max_pool] = put_max_pool,
    };
    writer k = {.m = m, .cg = cg, .s = s};
    const char *why = describe(m, s->node, &k.op, &k.call);
    if (why || !put[k.op])
        return ti_c_refuse(m, s->node, why ? why : "CMSIS-NN has no function for it");
    put[k.op](&k);
    return TC_OK;
}
