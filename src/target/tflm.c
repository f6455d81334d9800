/* SPDX-License-Identifier: Apache-2.0 */
/* tflm.c -- see tflm.h: the tables of tflm.def, and what a row asks of a node besides its types. */
#include "tflm.h"

const tc_tflm_builtin tc_tflm_builtins[TC_TFLM_COUNT] = {
#define BUILTIN(name, code, options, version) {#name, code, options, version},
#include "tflm.def"
};

static const tc_tflm_row rows[] = {
#define TFLM(op, builtin, types, how)                                                              \
    {TC_OP_##op, TC_TFLM_##builtin, types, TC_TFLM_HOW_##how},
#include "tflm.def"
};

enum { MOST_AXES = 4 }; /* that kernels broadcast over */

const tc_tflm_builtin *ti_tflm_builtin_of(int code)
{
    for (size_t i = 0; i < TC_TFLM_COUNT; i++)
        if (tc_tflm_builtins[i].code == code)
            return &tc_tflm_builtins[i];
    return NULL;
}

static char letter(const tc_type *t)
{
    switch (t ? t->dtype : TC_none) {
    case TC_f32: return 'f';
    case TC_i8: return 'b';
    case TC_u8: return 'u';
    case TC_i16: return 'h';
    case TC_i32: return 'w';
    case TC_i64: return 'l';
    case TC_bool: return 't';
    default: return 0;
    }
}

static bool is_listed(const tc_tflm_row *row, const tc_type *t)
{
    char c = letter(t);
    return row->types[0] == '*' || (c && strchr(row->types, c));
}

static bool types_fit(const tc_tflm_row *row, const tc_graph *g, const tc_node *node)
{
    bool fit = true;
    for (int i = 0; i < node->n_in; i++)
        fit = fit && (!node->in[i] || is_listed(row, ti_type_of(g, node->in[i])));
    for (int i = 0; i < node->n_out; i++)
        fit = fit && is_listed(row, ti_type_of(g, node->out[i]));
    return fit;
}

/* ---- conditions ---- */

static const tc_type *in_type(const tc_graph *g, const tc_node *node, int i)
{
    return i < node->n_in ? ti_type_of(g, node->in[i]) : NULL;
}

/* Elementwise kernels broadcast over few axes; with one shape there may be any. */
static bool broadcasts(const tc_graph *g, const tc_node *node)
{
    const tc_type *out = ti_type_of(g, node->out[0]);
    bool same = true;
    for (int i = 0; i < node->n_in; i++)
        same = same && ti_same_dims(in_type(g, node, i), out);
    return same || out->rank <= MOST_AXES;
}

static bool is_clamp_6(const tc_attr_clamp *a) { return a->lo == 0 && a->hi == 6; }

static bool is_plain_elu(const tc_attr_elu *a)
{
    return a->alpha == 1 && a->scale == 1 && a->input_scale == 1;
}

static bool is_last(const tc_graph *g, const tc_node *node, int64_t axis)
{
    const tc_type *t = in_type(g, node, 0);
    return t->rank >= 1 && axis == t->rank - 1;
}

/* [.., m, k] x [.., k, n] of equal batches */
static bool is_batched(const tc_graph *g, const tc_node *node)
{
    const tc_type *a = in_type(g, node, 0), *b = in_type(g, node, 1);
    bool same = a->rank == b->rank && a->rank >= 2 && a->rank <= MOST_AXES;
    for (int i = 0; same && i < a->rank - 2; i++)
        same = a->dim[i] == b->dim[i];
    return same;
}

/* A file has one scale and zero for a tensor: those of its type. */
static bool has_scale(const tc_type *codes, const tc_attr_quantize *a)
{
    const tc_quant *q = codes->quant;
    return !q || (q->axis < 0 && q->scale[0] == a->scale && q->zero[0] == a->zero);
}

/* One scale, and all codes of the type. */
static bool is_whole_grid(const tc_graph *g, const tc_node *node)
{
    const tc_attr_quantize *a = node->attr;
    tc_dtype dtype = node->op == TC_OP_quantize ? ti_type_of(g, node->out[0])->dtype
                                                : in_type(g, node, 0)->dtype;
    bool all = node->op == TC_OP_dequantize ||
               (a->qmin <= ti_dtype_min(dtype) && a->qmax >= ti_dtype_max(dtype));
    bool from = node->op == TC_OP_dequantize ? ti_type_of(g, node->out[0])->dtype == TC_f32
                                             : in_type(g, node, 0)->dtype == TC_f32;
    const tc_type *codes =
        node->op == TC_OP_quantize ? ti_type_of(g, node->out[0]) : in_type(g, node, 0);
    return has_scale(codes, a) && a->axis < 0 && a->scale > 0 && node->n_in == 1 && all && from &&
           dtype != TC_f32;
}

static bool is_gather(const tc_graph *g, const tc_node *node)
{
    const tc_type *table = in_type(g, node, 0), *index = in_type(g, node, 1);
    return index->dtype == TC_i32 && table->rank >= 1 && table->rank + index->rank - 1 <= MOST_AXES;
}

static bool holds(const tc_graph *g, const tc_node *node)
{
    const tc_type *x = in_type(g, node, 0), *out = ti_type_of(g, node->out[0]);
    switch (node->op) {
    case TC_OP_clamp: return is_clamp_6(node->attr);
    case TC_OP_elu: return is_plain_elu(node->attr);
    case TC_OP_round: return ((const tc_attr_round *)node->attr)->decimals == 0;
    case TC_OP_add:
    case TC_OP_sub: return ((const tc_attr_alpha *)node->attr)->alpha == 1 && broadcasts(g, node);
    case TC_OP_div:
        return ((const tc_attr_div *)node->attr)->mode == TC_div_mode_exact && broadcasts(g, node);
    case TC_OP_mul:
    case TC_OP_maximum:
    case TC_OP_minimum:
    case TC_OP_eq:
    case TC_OP_ne:
    case TC_OP_lt:
    case TC_OP_le:
    case TC_OP_gt:
    case TC_OP_ge:
    case TC_OP_logical_and:
    case TC_OP_logical_or:
    case TC_OP_logical_xor:
    case TC_OP_bitwise_and:
    case TC_OP_bitwise_or:
    case TC_OP_bitwise_xor:
    case TC_OP_where: return broadcasts(g, node);
    case TC_OP_cast: return x->dtype != TC_bool && !x->quant && !out->quant;
    case TC_OP_argmax:
    case TC_OP_argmin:
        return out->dtype == TC_i32 && !((const tc_attr_arg *)node->attr)->keepdim;
    case TC_OP_matmul: return is_batched(g, node);
    case TC_OP_linear: return x->rank >= 1 && x->rank <= MOST_AXES;
    case TC_OP_softmax:
    case TC_OP_log_softmax: return is_last(g, node, ((const tc_attr_axis *)node->attr)->axis);
    case TC_OP_permute:
    case TC_OP_expand:
    case TC_OP_slice: return out->rank <= TC_TFLM_MOST_MOVED;
    case TC_OP_cat: return out->rank <= MOST_AXES && node->n_in <= TC_TFLM_MOST_JOINED;
    case TC_OP_flip: return ((const tc_attr_flip *)node->attr)->axes.n == 1;
    case TC_OP_pad: {
        const tc_attr_pad *a = node->attr;
        bool grows = a->mode == TC_pad_mode_constant && out->rank <= MOST_AXES;
        for (int i = 0; i < a->pad.n; i++)
            grows = grows && a->pad.v[i] >= 0;
        return grows;
    }
    case TC_OP_embedding:
    case TC_OP_index_select: return is_gather(g, node);
    case TC_OP_quantize:
    case TC_OP_dequantize: return is_whole_grid(g, node);
    default: return true;
    }
}

const tc_tflm_row *ti_tflm_row_for(const tc_graph *g, const tc_node *node)
{
    for (size_t i = 0; i < TC_COUNT(rows); i++)
        if (rows[i].op == node->op && types_fit(&rows[i], g, node) && holds(g, node))
            return &rows[i];
    return NULL;
}
