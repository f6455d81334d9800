/* SPDX-License-Identifier: Apache-2.0 */
/* c_products.c -- CONV2D, CONV3D, DEPTHWISE_CONV2D, TRANSPOSE_CONV2D and MATMUL with what follows
 * them
 * in the same call.
 *
 * Constant int8 weights without a zero point have special kernels; the zero point of x is folded
 * into their bias.  Their sums have 32 bits: those of int16 must fit. */
#include "c_model.h"

#include <stdlib.h>

static tc_dtype result_of(const tc_c_graph *cg, const tc_c_step *s)
{
    return ti_type_of(cg->g, s->out)->dtype;
}

/* ---- which kernel ---- */

enum { WIDER = 16 }; /* bits that 32-bit multipliers have more than 16-bit ones */

/* Weight i of output channel c. */
static int64_t weight_at(const tc_c_graph *cg, const tc_node *node, int64_t c, int64_t i)
{
    int64_t oc = ti_type_of(cg->g, node->out[0])->dim[3];
    int64_t taps = tc_type_count(ti_c_operand(cg, node, 1)) / oc;
    return ti_c_const_at(cg, node->in[1],
                         node->op == TC_OP_tosa_depthwise_conv2d ? i * oc + c : c * taps + i);
}

static int64_t bias_at(const tc_c_graph *cg, const tc_node *node, int64_t c)
{
    return ti_c_const_at(cg, node->in[2], tc_type_count(ti_c_operand(cg, node, 2)) == 1 ? 0 : c);
}

enum { LEAST_SAVED = 1024 }; /* bytes of flash: for fewer, int8 weights stay as they are */

int ti_c_weight_bits(const tc_c_graph *cg, const tc_c_step *s)
{
    const tc_node *node = s->node;
    const tc_type *w = ti_c_operand(cg, node, 1);
    int64_t n = tc_type_count(w), lo = 0, hi = 0;
    int bits = 2;
    if (w->dtype == TC_i4)
        return 4;
    if (node->op != TC_OP_tosa_conv2d || w->dtype != TC_i8 || !ti_c_is_const(cg, node->in[1]) ||
        !s->rescale || ti_c_operand(cg, node, 0)->dtype != TC_i8 || result_of(cg, s) != TC_i8)
        return 8;
    for (int64_t i = 0; i < n; i++) {
        lo = ti_min_i64(lo, ti_c_const_at(cg, node->in[1], i));
        hi = ti_max_i64(hi, ti_c_const_at(cg, node->in[1], i));
    }
    while (lo < -(1 << (bits - 1)) || hi >= 1 << (bits - 1))
        bits++;
    return n * (8 - bits) / 8 < LEAST_SAVED ? 8 : bits;
}

enum { ROOM = 4096, FOUR_ROWS = 4 }; /* bytes for rows where windows are copied for each lot of them */

int64_t ti_c_unpacked_rows(const tc_c_graph *cg, const tc_c_step *s)
{
    const tc_type *w = ti_c_operand(cg, s->node, 1);
    int64_t k = tc_type_count(w) / w->dim[0];
    if (!ti_c_has_columns(cg, s->node))
        return FOUR_ROWS;
    return ti_max_i64(FOUR_ROWS, ROOM / k / FOUR_ROWS * FOUR_ROWS);
}

/* Whether 2^15 * the sum of |w|, and |bias| if it is counted, are below 2^31 in every channel. */
static bool fits_32(const tc_c_graph *cg, const tc_node *node, bool biased)
{
    int64_t oc = ti_type_of(cg->g, node->out[0])->dim[3];
    int64_t taps = tc_type_count(ti_c_operand(cg, node, 1)) / oc;
    for (int64_t c = 0; c < oc; c++) {
        int64_t most = biased ? llabs(bias_at(cg, node, c)) : 0;
        for (int64_t i = 0; i < taps && most <= INT32_MAX; i++)
            most += llabs(weight_at(cg, node, c, i)) * 32768;
        if (most > INT32_MAX)
            return false;
    }
    return true;
}

/* A RESCALE of 48-bit sums that 32-bit arithmetic computes as well: factors below a quarter. */
static bool is_small_factor(const tc_c_graph *cg, const tc_node *rescale)
{
    bool small = true;
    for (int64_t i = 0; i < tc_type_count(ti_type_of(cg->g, rescale->in[2])); i++) {
        int64_t shift = ti_c_const_at(cg, rescale->in[2], i);
        small = small && shift > WIDER && shift + WIDER <= 62;
    }
    return small;
}

/* Kernels by the bits of x and of the result. */
static const struct quick_kernel {
    int x, result;
    bool depthwise, packed, raw, wide; /* raw: without RESCALE; wide: with a bias and factors of 48-bit sums */
    const char *name;
    tc_c_kernel file[6]; /* the last ones may be the header again */
} quick_kernels[] = {
#define CONV_S8 TC_C_VECTOR, TC_C_CONV2D_BODY, TC_C_CONV2D_BODY_S8
#define CONV_S16 TC_C_VECTOR, TC_C_CONV2D_BODY, TC_C_CONV2D_BODY_S16
    {8, 8, false, false, false, false, "conv2d_s8", {CONV_S8, TC_C_CONV2D}},
    {8, 8, false, true, false, false, "conv2d_packed", {CONV_S8, TC_C_CONV2D, TC_C_CONV2D_PACKED, TC_C_UNPACK}},
    {8, 16, false, false, false, false, "conv2d_s8_s16", {CONV_S8, TC_C_CONV2D_S8_S16}},
    {8, 32, false, false, true, false, "conv2d_s8_s32", {CONV_S8, TC_C_CONV2D_S8_S32}},
    {16, 16, false, false, false, false, "conv2d_s16", {CONV_S16, TC_C_CONV2D_S16}},
    {16, 16, false, false, false, true, "conv2d_s16_wide", {CONV_S16, TC_C_CONV2D_S16_WIDE}},
    {8, 8, true, false, false, false, "depthwise_s8", {TC_C_DEPTHWISE_BODY, TC_C_DEPTHWISE}},
    {8, 8, true, true, false, false, "depthwise_packed", {TC_C_DEPTHWISE_BODY, TC_C_DEPTHWISE, TC_C_DEPTHWISE_PACKED, TC_C_UNPACK}},
    {16, 16, true, false, false, false, "depthwise_s16", {TC_C_DEPTHWISE_BODY, TC_C_DEPTHWISE_S16}},
};

static bool is_raw(const tc_c_step *s) { return !s->rescale; }

/* Whether sums of int16 and their RESCALE are those of 32 bits. */
static bool is_narrow(const tc_c_graph *cg, const tc_c_step *s)
{
    return is_small_factor(cg, s->rescale) && fits_32(cg, s->node, true);
}

static bool takes(const struct quick_kernel *k, const tc_c_graph *cg, const tc_c_step *s)
{
    const tc_node *node = s->node;
    int x = tc_dtypes[ti_c_operand(cg, node, 0)->dtype].bits;
    return k->x == x && k->packed == (ti_c_weight_bits(cg, s) < 8) && k->result == tc_dtypes[result_of(cg, s)].bits &&
           k->depthwise == (node->op == TC_OP_tosa_depthwise_conv2d) && k->raw == is_raw(s) &&
           (x == 8 || (k->wide ? fits_32(cg, node, false) : is_narrow(cg, s)));
}

/* NULL: none. */
static const struct quick_kernel *quick_kernel_of(const tc_c_graph *cg, const tc_c_step *s)
{
    const tc_node *node = s->node;
    const tc_attr_tosa_rescale *r = s->rescale ? s->rescale->attr : NULL;
    if (node->op != TC_OP_tosa_conv2d && node->op != TC_OP_tosa_depthwise_conv2d)
        return NULL;
    tc_dtype x = ti_c_operand(cg, node, 0)->dtype, w = ti_c_operand(cg, node, 1)->dtype;
    bool fits = (x == TC_i8 || x == TC_i16) && (w == TC_i8 || w == TC_i4);
    for (int i = 1; i < 5; i++)
        fits = fits && ti_c_is_const(cg, node->in[i]);
    if (!fits || ti_c_const_at(cg, node->in[4], 0) != 0 ||
        (r && (r->scale32 != (x == TC_i8) || r->rounding_mode == TC_rounding_inexact)) ||
        (x == TC_i16 && ti_c_const_at(cg, node->in[3], 0) != 0) ||
        (node->op == TC_OP_tosa_depthwise_conv2d && ti_c_operand(cg, node, 1)->dim[3] != 1))
        return NULL;
    for (size_t i = 0; i < TC_COUNT(quick_kernels); i++)
        if (takes(&quick_kernels[i], cg, s))
            return &quick_kernels[i];
    return NULL;
}

/* ---- sums ---- */

static bool all_are(const tc_c_graph *cg, tc_val v, int64_t number)
{
    int64_t n = tc_type_count(ti_type_of(cg->g, v));
    for (int64_t i = 0; i < n; i++)
        if (ti_c_const_at(cg, v, i) != number)
            return false;
    return true;
}

bool ti_c_sums(const tc_c_graph *cg, const tc_c_step *s, tc_c_sums *out)
{
    const tc_node *node = s->node;
    if (node->op != TC_OP_tosa_depthwise_conv2d || !s->rescale || quick_kernel_of(cg, s))
        return false;
    const tc_type *x = ti_c_operand(cg, node, 0), *w = ti_c_operand(cg, node, 1);
    const tc_attr_tosa_conv *a = node->attr;
    const tc_attr_tosa_rescale *r = s->rescale->attr;
    tc_dtype to = result_of(cg, s);
    bool fits = (x->dtype == TC_i8 || x->dtype == TC_i16) && (to == TC_i8 || to == TC_i16) &&
                w->dim[3] == 1 && ti_ints_are(a->pad, 0);
    for (int i = 1; i < 5; i++)
        fits = fits && ti_c_is_const(cg, node->in[i]);
    if (!fits || !all_are(cg, node->in[1], 1) || ti_c_const_at(cg, node->in[4], 0) != 0 ||
        !all_are(cg, node->in[2], bias_at(cg, node, 0)) || r->scale32 != (x->dtype == TC_i8) ||
        r->rounding_mode == TC_rounding_inexact ||
        tc_type_count(ti_type_of(cg->g, s->rescale->in[1])) != 1 ||
        (x->dtype == TC_i16 && (ti_c_const_at(cg, node->in[3], 0) != 0 || !is_narrow(cg, s))))
        return false;
    const int64_t h = x->dim[1], c = x->dim[2], kh = w->dim[0], kw = w->dim[1];
    if (kh == h && kw == c)
        *out = (tc_c_sums){x->dim[0], h * c, x->dim[3]};
    else if (kh == h && kw == 1 && a->stride.v[1] == 1)
        *out = (tc_c_sums){x->dim[0], h, c * x->dim[3]};
    else if (kw == c && kh == 1 && a->stride.v[0] == 1)
        *out = (tc_c_sums){x->dim[0] * h, c, x->dim[3]};
    else
        return false;
    return true;
}

bool ti_c_is_quick(const tc_c_graph *cg, const tc_c_step *s)
{
    return quick_kernel_of(cg, s) != NULL;
}

bool ti_c_is_wide(const tc_c_graph *cg, const tc_c_step *s) { return quick_kernel_of(cg, s)->wide; }

bool ti_c_has_columns(const tc_c_graph *cg, const tc_node *node)
{
    const tc_attr_tosa_conv *a = node->attr;
    const tc_type *w = ti_c_operand(cg, node, 1);
    return w->dim[1] != 1 || w->dim[2] != 1 || !ti_ints_are(a->pad, 0) || a->stride.v[1] != 1;
}

/* A column of pixels is a row of them: a row's windows are computed together. */
tc_c_windows ti_c_windows(const tc_c_graph *cg, const tc_node *node)
{
    const tc_attr_tosa_conv *a = node->attr;
    const int64_t *x = ti_c_operand(cg, node, 0)->dim + 1, *w = ti_c_operand(cg, node, 1)->dim;
    const int64_t *out = ti_type_of(cg->g, node->out[0])->dim + 1;
    bool depthwise = node->op == TC_OP_tosa_depthwise_conv2d;
    tc_c_windows p;
    w += depthwise ? 0 : 1;
    bool turned = x[1] == 1 && w[1] == 1 && a->pad.v[2] == 0 && a->pad.v[3] == 0 &&
                  (depthwise || ti_c_has_columns(cg, node));
    for (int i = 0; i < 2; i++) {
        int from = turned ? 1 - i : i;
        p.in[i] = x[from];
        p.out[i] = out[from];
        p.kernel[i] = w[from];
        p.stride[i] = a->stride.v[from];
        p.before[i] = a->pad.v[2 * from];
        p.dilation[i] = a->dilation.v[from];
    }
    return p;
}

/* Bytes of weights that are unpacked at a time. */
static int64_t unpacked(const tc_c_graph *cg, const tc_c_step *s)
{
    const tc_type *w = ti_c_operand(cg, s->node, 1);
    if (ti_c_weight_bits(cg, s) == 8)
        return 0;
    return s->node->op == TC_OP_tosa_conv2d
               ? ti_min_i64(ti_c_unpacked_rows(cg, s), w->dim[0]) * w->dim[1] * w->dim[2] * w->dim[3]
               : tc_type_count(w);
}

int64_t ti_c_column_count(tc_core core)
{
    static const int64_t columns[] = {[TC_CORE_C] = 1, [TC_CORE_DSP] = 2, [TC_CORE_MVE] = 4};
    return columns[core];
}

int64_t ti_c_columns(const tc_c_graph *cg, const tc_c_step *s, tc_core core)
{
    const tc_node *node = s->node;
    if (!(tc_ops[node->op].traits & T_MAC) || !ti_c_is_quick(cg, s))
        return 0;
    const tc_type *w = ti_c_operand(cg, node, 1);
    bool gathers = node->op == TC_OP_tosa_conv2d && ti_c_has_columns(cg, node);
    int64_t each = (int64_t)tc_dtypes[ti_c_operand(cg, node, 0)->dtype].bytes * ti_c_column_count(core);
    return unpacked(cg, s) + (gathers ? each * w->dim[1] * w->dim[2] * w->dim[3] : 0);
}

/* ---- what follows ---- */

/* Multipliers of a RESCALE times 2^by, and its shifts plus by. */
static const char *factors(tc_c_model *m, const tc_c_graph *cg, const tc_node *r, int by)
{
    int64_t n = tc_type_count(ti_type_of(cg->g, r->in[1]));
    tc_mark mark = ti_arena_mark(&m->ctx->scratch);
    int32_t *multiplier = tc_new_n(&m->ctx->scratch, int32_t, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        multiplier[i] = (int32_t)(ti_c_const_at(cg, r->in[1], i) << by);
    const char *name = ti_c_array(m, TC_i32, multiplier, n);
    ti_arena_rewind(&m->ctx->scratch, mark);
    return name;
}

static const char *shifts_of(tc_c_model *m, const tc_c_graph *cg, const tc_node *r, int by)
{
    int64_t n = tc_type_count(ti_type_of(cg->g, r->in[2]));
    if (!by)
        return ti_c_pointer(m, cg, r->in[2]);
    tc_mark mark = ti_arena_mark(&m->ctx->scratch);
    int8_t *shift = tc_new_n(&m->ctx->scratch, int8_t, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        shift[i] = (int8_t)(ti_c_const_at(cg, r->in[2], i) + by);
    const char *name = ti_c_array(m, TC_i8, shift, n);
    ti_arena_rewind(&m->ctx->scratch, mark);
    return name;
}

/* The members of a tosac_requant; narrow: sums of int16 have 32 bits. */
static const char *requant(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s, bool narrow)
{
    static const char *const words[] = {[TC_rounding_single] = "TOSAC_SINGLE",
                                        [TC_rounding_double] = "TOSAC_DOUBLE",
                                        [TC_rounding_inexact] = "TOSAC_INEXACT"};
    tc_dtype to = result_of(cg, s);
    if (!s->rescale)
        return to == TC_i48 ? "{.rounding = TOSAC_WIDE}" : "{.rounding = TOSAC_SINGLE}";
    const tc_attr_tosa_rescale *a = s->rescale->attr;
    const tc_node *r = s->rescale;
    int64_t n = tc_type_count(ti_type_of(cg->g, r->in[1]));
    int64_t lo = ti_dtype_min(to), hi = ti_dtype_max(to);
    if (s->clamp) {
        const tc_attr_tosa_clamp *c = s->clamp->attr;
        lo = ti_max_i64(lo, ti_trunc_i64(c->min_val));
        hi = ti_min_i64(hi, ti_trunc_i64(c->max_val));
    }
    bool wide = !a->scale32 && a->rounding_mode != TC_rounding_inexact;
    const char *multipliers = factors(m, cg, r, narrow ? WIDER : 0);
    const char *shifts = shifts_of(m, cg, r, narrow ? WIDER : 0);
    const char *rounding = narrow ? "TOSAC_SINGLE"
                           : wide ? "TOSAC_WIDE"
                                  : words[a->rounding_mode];
    return ti_text_format(
        &m->ctx->arena,
        "{.multiplier = %s, .shift = %s, .step = %d, .rounding = %s, .zero = %" PRId64
        ", .lo = %s, .hi = %s}",
        multipliers, shifts, a->per_channel && n > 1,
        rounding, ti_c_const_at(cg, r->in[4], 0),
        ti_c_number(m, lo), ti_c_number(m, hi));
}

/* ---- special kernels ---- */

/* bias - x_zero * the weights of each channel, in 32 bits; wide: the bias, in 48. */
static const char *whole_bias(tc_c_model *m, const tc_c_graph *cg, const tc_node *node, int64_t oc,
                              bool wide)
{
    int64_t taps = tc_type_count(ti_c_operand(cg, node, 1)) / oc;
    int64_t zero = ti_c_const_at(cg, node->in[3], 0);
    tc_mark mark = ti_arena_mark(&m->ctx->scratch);
    tc_tensor bias = ti_tensor_new(&m->ctx->scratch, ti_type_make(m->ctx, wide ? TC_i48 : TC_i32, 1, &oc));
    for (int64_t c = 0; c < oc; c++) {
        int64_t sum = 0;
        for (int64_t k = 0; k < taps && zero; k++)
            sum += weight_at(cg, node, c, k);
        int64_t v = bias_at(cg, node, c) - zero * sum;
        ti_store_i64(bias, c, wide ? v : (int32_t)(uint32_t)(uint64_t)v);
    }
    const char *name = ti_c_array(m, bias.type->dtype, bias.data, oc);
    ti_arena_rewind(&m->ctx->scratch, mark);
    return name;
}

/* Weights of few bits, the lowest first; each row begins on a byte, and there is one more after the last. */
static const char *packed(tc_c_model *m, const tc_c_graph *cg, tc_val v, int64_t rows, int bits)
{
    int64_t n = tc_type_count(ti_type_of(cg->g, v)) / rows, bytes = (n * bits + 7) / 8;
    tc_mark mark = ti_arena_mark(&m->ctx->scratch);
    uint8_t *data = tc_new_n(&m->ctx->scratch, uint8_t, (size_t)(rows * bytes + 1));
    for (int64_t i = 0; i < rows * n; i++) {
        int64_t at = i / n * bytes * 8 + i % n * bits;
        int code = (int)(ti_c_const_at(cg, v, i) & ((1 << bits) - 1)) << at % 8;
        data[at / 8] |= (uint8_t)code;
        data[at / 8 + 1] |= (uint8_t)(code >> 8);
    }
    const char *name = ti_c_array(m, TC_bool, data, rows * bytes + 1);
    ti_arena_rewind(&m->ctx->scratch, mark);
    return name;
}

static void quick(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    const tc_node *node = s->node;
    const int64_t *x = ti_c_operand(cg, node, 0)->dim;
    const int64_t *out = ti_type_of(cg->g, node->out[0])->dim;
    const tc_c_windows at = ti_c_windows(cg, node);
    const struct quick_kernel *kernel = quick_kernel_of(cg, s);
    bool depthwise = kernel->depthwise;
    m->used[TC_C_SIMD] = true;
    for (size_t i = 0; i < TC_COUNT(kernel->file); i++)
        m->used[kernel->file[i]] = true;
    ti_buf_printf(&m->code,
                  "        static const tosac_window p = {\n"
                  "            .batches = %" PRId64 ", .in_h = %" PRId64 ", .in_w = %" PRId64
                  ", .in_c = %" PRId64 ", .out_h = %" PRId64 ", .out_w = %" PRId64
                  ", .out_c = %" PRId64 ", .pixel = %" PRId64 ",\n",
                  x[0], at.in[0], at.in[1], x[3], at.out[0], at.out[1], out[3], out[3]);
    ti_buf_printf(&m->code,
                  "            .kernel_h = %" PRId64 ", .kernel_w = %" PRId64
                  ", .stride_h = %" PRId64 ", .stride_w = %" PRId64 ", .top = %" PRId64
                  ", .left = %" PRId64 ", .dilation_h = %" PRId64 ", .dilation_w = %" PRId64 ",\n",
                  at.kernel[0], at.kernel[1], at.stride[0], at.stride[1], at.before[0], at.before[1],
                  at.dilation[0], at.dilation[1]);
    ti_buf_printf(&m->code, "            .x_zero = %" PRId64 ",\n            .q = %s};\n",
                  ti_c_const_at(cg, node->in[3], 0), requant(m, cg, s, kernel->x == 16 && !kernel->wide));
    const char *from = ti_c_pointer(m, cg, node->in[0]);
    int bits = ti_c_weight_bits(cg, s);
    cg->cost[s - cg->step].weights = (double)tc_type_count(ti_c_operand(cg, node, 1)) * bits / 8;
    const char *weights = kernel->packed ? packed(m, cg, node->in[1], depthwise ? 1 : out[3], bits)
                                         : ti_c_pointer(m, cg, node->in[1]);
    const char *bias = whole_bias(m, cg, node, out[3], kernel->wide);
    if (kernel->packed)
        ti_buf_printf(&m->code, "        static const tosac_packed w = {%s, %d, %" PRId64 "};\n", weights,
                      bits, depthwise ? 0 : ti_c_unpacked_rows(cg, s));
    ti_buf_printf(&m->code, "        tosac_%s(&p, %s, %s, %s, %s", kernel->name, from,
                  kernel->packed ? "&w" : weights, bias, ti_c_pointer(m, cg, s->out));
    if (!depthwise && ti_c_has_columns(cg, node))
        ti_buf_printf(&m->code, ", %s",
                      ti_c_scratch(m, ti_c_operand(cg, node, 0)->dtype, unpacked(cg, s)));
    else if (!depthwise)
        ti_buf_text(&m->code, ", NULL");
    if (kernel->packed)
        ti_buf_printf(&m->code, ", %s", ti_c_scratch(m, TC_i8, 0));
    ti_buf_text(&m->code, ");\n");
}

static void sums(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s, const tc_c_sums *p)
{
    const tc_node *node = s->node;
    const tc_type *x = ti_c_operand(cg, node, 0);
    int64_t bias = bias_at(cg, node, 0) - ti_c_const_at(cg, node->in[3], 0) * p->n;
    const char *q = requant(m, cg, s, x->dtype == TC_i16);
    m->used[TC_C_SIMD] = m->used[TC_C_SUMS] = true;
    ti_buf_printf(&m->code,
                  "        static const tosac_added p = {\n"
                  "            .outer = %" PRId64 ", .n = %" PRId64 ", .inner = %" PRId64 ", .bias = %s,\n"
                  "            .type = %s, .result = %s,\n            .q = %s};\n",
                  p->outer, p->n, p->inner, ti_c_number(m, (int32_t)(uint32_t)(uint64_t)bias),
                  ti_c_type_word(x->dtype), ti_c_type_word(result_of(cg, s)), q);
    const char *from = ti_c_pointer(m, cg, node->in[0]);
    ti_buf_printf(&m->code, "        tosac_sum(&p, %s, %s);\n", from, ti_c_pointer(m, cg, s->out));
}

/* ---- any ---- */

static const char *three(const tc_c_model *m, const int64_t *v, int n, int64_t missing, int step,
                         int64_t sign)
{
    int64_t t[3] = {missing, missing, missing};
    for (int i = 0; i < n; i++)
        t[3 - n + i] = sign * v[i * step];
    return ti_text_format(&m->ctx->arena, "{%" PRId64 ", %" PRId64 ", %" PRId64 "}", t[0], t[1],
                          t[2]);
}

static void put_geometry(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    const tc_node *node = s->node;
    const tc_type *x = ti_c_operand(cg, node, 0), *w = ti_c_operand(cg, node, 1);
    const tc_type *out = ti_type_of(cg->g, node->out[0]);
    bool transposed = node->op == TC_OP_tosa_transpose_conv2d;
    bool depthwise = node->op == TC_OP_tosa_depthwise_conv2d;
    const tc_attr_tosa_conv *a = node->attr;
    const tc_attr_tosa_transpose_conv *t = node->attr;
    tc_ints stride = transposed ? t->stride : a->stride, pad = transposed ? t->out_pad : a->pad;
    int deep = x->rank - 2;
    ti_buf_printf(&m->code, "            .batches = %" PRId64 ", .in = %s, .in_c = %" PRId64
                            ", .out = %s, .out_c = %" PRId64 ",\n",
                  x->dim[0], three(m, x->dim + 1, deep, 1, 1, 1), x->dim[x->rank - 1],
                  three(m, out->dim + 1, deep, 1, 1, 1), out->dim[out->rank - 1]);
    ti_buf_printf(&m->code,
                  "            .kernel = %s, .stride = %s, .before = %s, .dilation = %s,\n",
                  three(m, w->dim + !depthwise, deep, 1, 1, 1), three(m, stride.v, deep, 1, 1, 1),
                  three(m, pad.v, deep, 0, 2, transposed ? -1 : 1),
                  transposed ? "{1, 1, 1}" : three(m, a->dilation.v, deep, 1, 1, 1));
    ti_buf_printf(&m->code, "            .depthwise = %d, .transposed = %d,\n", depthwise,
                  transposed);
}

static bool is_real(const tc_c_graph *cg, const tc_c_step *s)
{
    return ti_c_operand(cg, s->node, 0)->dtype == TC_f32;
}

/* Kernels of floats are in a separate file. */
static void use(tc_c_model *m, tc_c_kernel kernel, bool real)
{
    m->used[real ? TC_C_FLOAT : kernel] = m->used[real ? TC_C_FLOAT_LINES : TC_C_SIMD] = true;
}

static void any(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    const tc_node *node = s->node;
    bool real = is_real(cg, s);
    bool four = ti_c_operand(cg, node, 1)->dtype == TC_i4 && ti_c_is_const(cg, node->in[1]);
    const tc_type *out = ti_type_of(cg->g, node->out[0]);
    int64_t oc = out->dim[out->rank - 1];
    use(m, TC_C_CONV_ANY, real);
    ti_buf_printf(&m->code, "        %sconst tosac_conv p = {\n", ti_c_storage(cg, node, 3));
    put_geometry(m, cg, s);
    const char *x_zero = ti_c_zero(m, cg, node->in[3]), *w_zero = ti_c_zero(m, cg, node->in[4]);
    ti_buf_printf(&m->code, "            .x_zero = %s, .w_zero = %s, .bias_step = %d,\n", x_zero,
                  w_zero, tc_type_count(ti_c_operand(cg, node, 2)) > 1);
    ti_buf_printf(&m->code, "            .x = %s, .w = %s, .bias = %s, .result = %s,\n",
                  ti_c_type_word(ti_c_operand(cg, node, 0)->dtype),
                  four ? "TOSAC_I4" : ti_c_type_word(ti_c_operand(cg, node, 1)->dtype),
                  ti_c_type_word(ti_c_operand(cg, node, 2)->dtype), ti_c_type_word(result_of(cg, s)));
    ti_buf_printf(&m->code, "            .q = %s};\n", requant(m, cg, s, false));
    bool rows = node->op != TC_OP_tosa_depthwise_conv2d;
    const char *from = ti_c_pointer(m, cg, node->in[0]);
    const char *weights = four ? packed(m, cg, node->in[1], rows ? oc : 1, 4)
                               : ti_c_pointer(m, cg, node->in[1]);
    const char *bias = ti_c_pointer(m, cg, node->in[2]);
    ti_buf_printf(&m->code, "        tosac_conv_%s(&p, %s, %s, %s, %s);\n", real ? "f32" : "any", from,
                  weights, bias, ti_c_pointer(m, cg, s->out));
}

tc_status ti_c_conv(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    tc_c_sums p;
    if (ti_c_sums(cg, s, &p))
        sums(m, cg, s, &p);
    else
        (ti_c_is_quick(cg, s) ? quick : any)(m, cg, s);
    return TC_OK;
}

tc_status ti_c_matmul(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    const tc_node *node = s->node;
    const int64_t *a = ti_c_operand(cg, node, 0)->dim, *b = ti_c_operand(cg, node, 1)->dim;
    bool real = is_real(cg, s);
    use(m, TC_C_MATMUL, real);
    const char *a_zero = ti_c_zero(m, cg, node->in[2]), *b_zero = ti_c_zero(m, cg, node->in[3]);
    const char *left = ti_c_pointer(m, cg, node->in[0]);
    const char *right = ti_c_pointer(m, cg, node->in[1]);
    ti_buf_printf(&m->code,
                  "        %sconst tosac_matmul p = {\n"
                  "            .n = %" PRId64 ", .h = %" PRId64 ", .c = %" PRId64 ", .w = %" PRId64
                  ", .a_zero = %s, .b_zero = %s,\n",
                  ti_c_storage(cg, node, 2), a[0], a[1], a[2], b[2], a_zero, b_zero);
    ti_buf_printf(&m->code, "            .type = %s, .result = %s,\n            .q = %s};\n",
                  ti_c_type_word(ti_c_operand(cg, node, 0)->dtype), ti_c_type_word(result_of(cg, s)),
                  requant(m, cg, s, false));
    ti_buf_printf(&m->code, "        tosac_matmul_%s(&p, %s, %s, %s);\n", real ? "f32" : "any", left, right,
                  ti_c_pointer(m, cg, s->out));
    return TC_OK;
}
