/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_builtin.c -- nodes to builtin operators by their rows in target/tflm.def. */
#include "tflite_ops.h"

static void set(tc_tfw_op *op, int at, char kind, double v)
{
    op->field[op->n_field++] = (tc_tfw_field){(uint8_t)at, kind, v};
}

static int64_t list(tc_tfw *e, const int64_t *v, int64_t n)
{
    return ti_tfw_ints(e, v, n, 1, &n);
}

static int64_t one(tc_tfw *e, int64_t v)
{
    return ti_tfw_ints(e, &v, 1, 0, NULL);
}

static tc_tfw_op *begin(tc_tfw *e, const tc_tflm_builtin *b, size_t n_in, size_t n_out)
{
    tc_tfw_op *op = ti_tfw_add_op(e, n_in, n_out);
    op->code = b->code;
    op->version = b->version;
    op->options = b->options;
    return op;
}

void ti_tfw_copy(tc_tfw *e, int64_t from, int64_t to)
{
    int64_t shape = list(e, e->model.tensor[to].dim, e->model.tensor[to].rank);
    tc_tfw_op *op = begin(e, &tc_tflm_builtins[TC_TFLM_RESHAPE], 2, 1);
    op->options = 0;
    op->in[0] = from;
    op->in[1] = shape;
    op->out[0] = to;
}

void ti_tfw_shift(tc_tfw *e, const tc_node *node)
{
    int64_t from = ti_tfw_tensor(e, node->in[0]), to = ti_tfw_tensor(e, node->out[0]);
    tc_tfw_op *op = begin(e, &tc_tflm_builtins[TC_TFLM_QUANTIZE], 1, 1);
    op->version = 2;
    op->in[0] = from;
    op->out[0] = to;
    e->model.tensor[to].shift = from + 1;
}

static void scale_like(tc_tfw *e, tc_tfw_tensor *t, const tc_tfw_tensor *like)
{
    static const double one = 1;
    int64_t *zero = tc_new(&e->ctx->arena, int64_t);
    *zero = (like->n_scale ? like->zero[0] : like->type == TFL_UINT8 ? 128 : 0) +
            (like->type == t->type ? 0 : t->type == TFL_UINT8 ? 128 : -128);
    t->n_scale = 1;
    t->scale = like->n_scale ? like->scale : &one;
    t->zero = zero;
    t->axis = 0;
}

void ti_tfw_settle_shifts(tc_tfw *e)
{
    for (size_t i = 0; i < e->model.n_tensor; i++) {
        tc_tfw_tensor *to = &e->model.tensor[i];
        tc_tfw_tensor *from = to->shift ? &e->model.tensor[to->shift - 1] : NULL;
        bool copy = from && from->type == to->type;
        if (from && !from->n_scale && !copy)
            scale_like(e, from, to->n_scale ? to : from);
        if (from && from->n_scale)
            scale_like(e, to, from);
    }
}

/* The operands of the node, before `more` others. */
static tc_tfw_op *on_operands(tc_tfw *e, const tc_node *node, const tc_tflm_row *row, int more)
{
    int64_t *in = tc_new_n(&e->ctx->arena, int64_t, (size_t)node->n_in + 1);
    int64_t *out = tc_new_n(&e->ctx->arena, int64_t, (size_t)node->n_out + 1);
    for (int i = 0; i < node->n_in; i++)
        in[i] = ti_tfw_tensor(e, node->in[i]);
    for (int i = 0; i < node->n_out; i++)
        out[i] = ti_tfw_tensor(e, node->out[i]);
    tc_tfw_op *op = begin(e, &tc_tflm_builtins[row->builtin], (size_t)(node->n_in + more),
                          (size_t)node->n_out);
    memcpy(op->in, in, (size_t)node->n_in * sizeof *in);
    memcpy(op->out, out, (size_t)node->n_out * sizeof *out);
    return op;
}

/* ---- arguments other than operands; constants first, they are separate tensors ---- */

static void make_reduce(tc_tfw *e, const tc_node *node, const tc_tflm_row *row)
{
    const tc_attr_axes *a = node->attr;
    int64_t axes = list(e, a->axes.v, a->axes.n);
    tc_tfw_op *op = on_operands(e, node, row, 1);
    op->in[1] = axes;
    set(op, 0, 'b', a->keepdim);
}

static void make_arg(tc_tfw *e, const tc_node *node, const tc_tflm_row *row)
{
    int64_t axis = one(e, ((const tc_attr_arg *)node->attr)->axis);
    tc_tfw_op *op = on_operands(e, node, row, 1);
    op->in[1] = axis;
    set(op, 0, 'b', TFL_INT32);
}

static void make_with_list(tc_tfw *e, const tc_node *node, const tc_tflm_row *row, const int64_t *v,
                           int64_t n)
{
    int64_t numbers = list(e, v, n);
    tc_tfw_op *op = on_operands(e, node, row, 1);
    op->in[1] = numbers;
}

static void make_slice(tc_tfw *e, const tc_node *node, const tc_tflm_row *row)
{
    const tc_attr_slice *a = node->attr;
    const tc_type *t = ti_type_of(e->g, node->in[0]);
    int64_t v[3][TC_MAX_RANK], at[3];
    for (int i = 0; i < t->rank; i++) {
        v[0][i] = i == a->axis ? a->start : 0;
        v[1][i] = i == a->axis ? a->end : t->dim[i];
        v[2][i] = i == a->axis ? a->step : 1;
    }
    for (int k = 0; k < 3; k++)
        at[k] = list(e, v[k], t->rank);
    tc_tfw_op *op = on_operands(e, node, row, 3);
    memcpy(op->in + 1, at, sizeof at);
}

static int64_t number_like(tc_tfw *e, const tc_type *type, double v)
{
    tc_tfw_tensor t = {.name = "value", .type = ti_tfl_type_of(type->dtype), .constant = true,
                       .offset = -1};
    size_t bytes = tc_dtypes[type->dtype].bytes;
    uint8_t *data = ti_arena_raw(&e->ctx->arena, 8);
    float real = (float)v;
    int32_t whole = (int32_t)v;
    memcpy(data, type->dtype == TC_f32 ? (const void *)&real : (const void *)&whole, bytes);
    t.data = (tc_bytes){data, bytes};
    return ti_tfw_add_tensor(e, t);
}

static void make_pad(tc_tfw *e, const tc_node *node, const tc_tflm_row *row)
{
    const tc_attr_pad *a = node->attr;
    const tc_type *t = ti_type_of(e->g, node->in[0]);
    int64_t dim[2] = {t->rank, 2};
    int64_t pads = ti_tfw_ints(e, a->pad.v, a->pad.n, 2, dim), value = number_like(e, t, a->value);
    tc_tfw_op *op = on_operands(e, node, row, 2);
    op->in[1] = pads;
    op->in[2] = value;
}

static void make_cumsum(tc_tfw *e, const tc_node *node, const tc_tflm_row *row)
{
    int64_t axis = one(e, ((const tc_attr_axis *)node->attr)->axis);
    tc_tfw_op *op = on_operands(e, node, row, 1);
    op->in[1] = axis;
}

/* ---- codes ---- */

/* A tensor of plain integers has the scale and zero of the node that makes or reads it as codes. */
static void make_codes(tc_tfw *e, const tc_node *node, const tc_tflm_row *row)
{
    const tc_attr_quantize *a = node->attr;
    int64_t codes = ti_tfw_tensor(e, node->op == TC_OP_dequantize ? node->in[0] : node->out[0]);
    tc_tfw_tensor *t = &e->model.tensor[codes];
    if (!t->n_scale) {
        t->n_scale = 1;
        t->scale = &a->scale;
        t->zero = &a->zero;
    }
    (void)on_operands(e, node, row, 0);
}

/* ---- windows: no padding, no activation ---- */

enum { VALID = 1 };

/* Constant weights [h, w, c, m] are written as [1, h, w, c * m]. */
static void deepen_weights(tc_tfw *e, tc_val v)
{
    const tc_type *t = ti_type_of(e->g, v);
    int64_t dim[] = {1, t->dim[0], t->dim[1], t->dim[2] * t->dim[3]}, at = ti_tfw_tensor(e, v);
    e->model.tensor[at].dim = ti_arena_copy(&e->ctx->arena, dim, sizeof dim);
}

static void make_window(tc_tfw *e, const tc_node *node, const tc_tflm_row *row)
{
    const tc_attr_tosa_conv *a = node->attr;
    bool deep = row->how == TC_TFLM_HOW_deep;
    int at = 0;
    if (deep)
        deepen_weights(e, node->in[1]);
    tc_tfw_op *op = on_operands(e, node, row, 0);
    op->n_in = 3;
    set(op, at++, 'b', VALID);
    set(op, at++, 'i', (double)a->stride.v[1]);
    set(op, at++, 'i', (double)a->stride.v[0]);
    if (deep)
        set(op, at++, 'i', (double)ti_type_of(e->g, node->in[1])->dim[3]);
    at++; /* the activation */
    set(op, at++, 'i', (double)a->dilation.v[1]);
    set(op, at, 'i', (double)a->dilation.v[0]);
}

static void make_spread(tc_tfw *e, const tc_node *node, const tc_tflm_row *row)
{
    const tc_attr_tosa_transpose_conv *a = node->attr;
    const tc_type *t = ti_type_of(e->g, node->out[0]);
    tc_tfw_op *op = on_operands(e, node, row, 0);
    int64_t in[] = {list(e, t->dim, t->rank), op->in[1], op->in[0], op->in[2]};
    op->n_in = TC_COUNT(in);
    memcpy(op->in, in, sizeof in);
    set(op, 0, 'b', VALID);
    set(op, 1, 'i', (double)a->stride.v[1]);
    set(op, 2, 'i', (double)a->stride.v[0]);
}

static void make_pool(tc_tfw *e, const tc_node *node, const tc_tflm_row *row)
{
    const tc_attr_tosa_max_pool *largest = node->attr;
    const tc_attr_tosa_avg_pool *mean = node->attr;
    bool max = node->op == TC_OP_tosa_max_pool2d;
    tc_ints kernel = max ? largest->kernel : mean->kernel,
            stride = max ? largest->stride : mean->stride;
    tc_tfw_op *op = on_operands(e, node, row, 0);
    op->n_in = 1;
    set(op, 0, 'b', VALID);
    set(op, 1, 'i', (double)stride.v[1]);
    set(op, 2, 'i', (double)stride.v[0]);
    set(op, 3, 'i', (double)kernel.v[1]);
    set(op, 4, 'i', (double)kernel.v[0]);
}

/* FULLY_CONNECTED keeps leading axes if an option says so. */
static void finish_plain(const tc_tfw *e, const tc_node *node, tc_tfw_op *op)
{
    enum { KEEP_DIMS = 2 };
    if (node->op == TC_OP_linear && ti_type_of(e->g, node->in[0])->rank != 2) {
        set(op, KEEP_DIMS, 'b', 1);
        op->version = 5;
    }
    if (node->op == TC_OP_cast || node->op == TC_OP_tosa_cast) {
        set(op, 0, 'b', ti_tfl_type_of(ti_type_of(e->g, node->in[0])->dtype));
        set(op, 1, 'b', ti_tfl_type_of(ti_type_of(e->g, node->out[0])->dtype));
    }
}

void ti_tfw_builtin(tc_tfw *e, const tc_node *node, const tc_tflm_row *row)
{
    tc_tfw_op *op;
    switch (row->how) {
    case TC_TFLM_HOW_slope:
        op = on_operands(e, node, row, 0);
        set(op, 0, 'f', ((const tc_attr_slope *)node->attr)->slope);
        break;
    case TC_TFLM_HOW_beta:
        op = on_operands(e, node, row, 0);
        set(op, 0, 'f', 1);
        break;
    case TC_TFLM_HOW_reduce: make_reduce(e, node, row); break;
    case TC_TFLM_HOW_arg: make_arg(e, node, row); break;
    case TC_TFLM_HOW_perm: {
        tc_ints perm = ((const tc_attr_perm *)node->attr)->perm;
        make_with_list(e, node, row, perm.v, perm.n);
        break;
    }
    case TC_TFLM_HOW_shape: {
        const tc_type *t = ti_type_of(e->g, node->out[0]);
        make_with_list(e, node, row, t->dim, t->rank);
        break;
    }
    case TC_TFLM_HOW_flip: {
        tc_ints axes = ((const tc_attr_flip *)node->attr)->axes;
        make_with_list(e, node, row, axes.v, axes.n);
        break;
    }
    case TC_TFLM_HOW_slice: make_slice(e, node, row); break;
    case TC_TFLM_HOW_axis:
        op = on_operands(e, node, row, 0);
        set(op, 0, 'i', (double)((const tc_attr_axis *)node->attr)->axis);
        break;
    case TC_TFLM_HOW_codes: make_codes(e, node, row); break;
    case TC_TFLM_HOW_window:
    case TC_TFLM_HOW_deep: make_window(e, node, row); break;
    case TC_TFLM_HOW_spread: make_spread(e, node, row); break;
    case TC_TFLM_HOW_pool: make_pool(e, node, row); break;
    case TC_TFLM_HOW_pad: make_pad(e, node, row); break;
    case TC_TFLM_HOW_cumsum: make_cumsum(e, node, row); break;
    case TC_TFLM_HOW_copy: {
        int64_t from = ti_tfw_tensor(e, node->in[0]), to = ti_tfw_tensor(e, node->out[0]);
        ti_tfw_copy(e, from, to);
        break;
    }
    default:
        op = on_operands(e, node, row, 0);
        finish_plain(e, node, op);
    }
}
