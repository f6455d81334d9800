/* SPDX-License-Identifier: Apache-2.0 */
/* cortexm_call.c -- see cortexm_call.h; cortexm_names.c has the names. */
#include "cortexm_call.h"

#include "../num/fixed.h"
#include "../num/load.h"

/* ---- arithmetic ---- */

/* CMSIS-NN's requantization as it is built for everybody: TOSA's RESCALE in DOUBLE_ROUND with the
 * shift 31 - shift. */
static int32_t requantize(int32_t value, int32_t multiplier, int shift)
{
    return ti_scale32_double(value, multiplier, 31 - shift);
}

int32_t ti_cm_mean(int64_t sum, int64_t n)
{
    return (int32_t)(sum > 0 ? (sum + n / 2) / n : (sum - n / 2) / n);
}

bool ti_cm_same_mean(int64_t n, int64_t zero_in, int64_t zero_out)
{
    tc_scale scale = ti_reciprocal_scale((uint32_t)n);
    for (int64_t sum = INT8_MIN * n; sum <= INT8_MAX * n; sum++) {
        int64_t v = ti_scale32((int32_t)(sum - n * zero_in), scale.multiplier, scale.shift);
        if (ti_clip(v + zero_out, INT8_MIN, INT8_MAX) != ti_cm_mean(sum, n))
            return false;
    }
    return true;
}

/* ---- arguments ---- */

typedef struct site {
    tc_ctx *ctx;
    const tc_graph *g;
    tc_core core;
    tc_cm_caller caller;
    tc_cm_call *call;
} site;

static tc_cm_arg *add(site *s, tc_cm_kind kind)
{
    tc_cm_arg *a = &s->call->arg[s->call->n_arg++];
    *a = (tc_cm_arg){.kind = kind};
    return a;
}

static void add_int(site *s, int64_t i)
{
    add(s, TC_CM_VALUE)->value = (tc_cpu_value){.kind = TC_CPU_INT, .i = i};
}

static void add_ints(site *s, const int64_t *v, int n)
{
    add(s, TC_CM_VALUE)->value =
        (tc_cpu_value){.kind = TC_CPU_INTS, .ints = ti_ints_copy(&s->ctx->arena, v, n)};
}

static void add_none(site *s) { add(s, TC_CM_VALUE)->value = (tc_cpu_value){.kind = TC_CPU_NULL}; }

static void add_scratch(site *s, size_t bytes) { add(s, TC_CM_SCRATCH)->bytes = bytes; }

static tc_tensor new_tensor(site *s, tc_dtype dtype, int rank, const int64_t *dim)
{
    return ti_tensor_new(&s->ctx->arena, ti_type_make(s->ctx, dtype, rank, dim));
}

static void add_data(site *s, tc_tensor t) { add(s, TC_CM_DATA)->data = t; }

/* Axes as they are. */
static tc_cm_view plain(const tc_type *t)
{
    tc_cm_view v = {.rank = t->rank};
    for (int i = 0; i < t->rank; i++) {
        v.dim[i] = t->dim[i];
        v.order[i] = (uint8_t)i;
    }
    return v;
}

/* [n,h,w,c] as [n,c,h,w] with the channels last in memory; ones in front of fewer axes. */
static tc_cm_view channels_last(const tc_type *t)
{
    int64_t d[4] = {1, 1, 1, 1};
    for (int i = 0; i < t->rank; i++)
        d[4 - t->rank + i] = t->dim[i];
    return (tc_cm_view){4, {d[0], d[3], d[1], d[2]}, {0, 2, 3, 1}};
}

/* All but the last axis as one. */
static tc_cm_view rows(const tc_type *t)
{
    int64_t c = t->rank ? t->dim[t->rank - 1] : 1;
    return (tc_cm_view){2, {c ? tc_type_count(t) / c : 0, c}, {0, 1}};
}

static void add_tensor(site *s, int index, tc_cm_view view)
{
    tc_cm_arg *a = add(s, TC_CM_TENSOR);
    a->index = index;
    a->view = view;
}

/* ---- what a piece is made of ---- */

static const tc_node *find(const tc_graph *g, tc_op op)
{
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->op == op)
            return g->node[k];
    return NULL;
}

static const tc_type *type(const site *s, tc_val v) { return ti_type_of(s->g, v); }
static const tc_type *result(const site *s) { return type(s, s->g->out[0]); }

static int64_t at(const site *s, tc_val v, int64_t i)
{
    return ti_load_i64(ti_tensor_of(s->g, v), i);
}

static bool all_const(const site *s, const tc_node *node, int first)
{
    for (int i = first; i < node->n_in; i++)
        if (!ti_is_const(s->g, node->in[i]))
            return false;
    return true;
}

enum { X = 0, MULTIPLIER = 1, SHIFT = 2, ZERO_IN = 3, ZERO_OUT = 4 }; /* RESCALE */

/* The last RESCALE, and the bounds of what comes out. */
typedef struct finish {
    const tc_node *rescale;
    int64_t lo, hi;
} finish;

static finish finish_of(const site *s)
{
    const tc_node *clamp = find(s->g, TC_OP_tosa_clamp);
    finish f = {NULL, INT8_MIN, INT8_MAX};
    for (size_t k = 0; k < s->g->n_node; k++)
        if (s->g->node[k]->op == TC_OP_tosa_rescale)
            f.rescale = s->g->node[k];
    if (clamp) {
        const tc_attr_tosa_clamp *a = clamp->attr;
        f.lo = ti_max_i64(f.lo, (int64_t)a->min_val);
        f.hi = ti_min_i64(f.hi, (int64_t)a->max_val);
    }
    return f;
}

static int64_t of_channel(const site *s, tc_val v, int64_t i)
{
    return at(s, v, tc_type_count(type(s, v)) == 1 ? 0 : i);
}

/* most: the largest sum of each channel there can be; n channels. */
static const char *check_finish(const site *s, const finish *f, const int64_t *most, int64_t n)
{
    const tc_attr_tosa_rescale *a = f->rescale->attr;
    if (!all_const(s, f->rescale, 1) || !a->scale32 || a->input_unsigned || a->output_unsigned)
        return "its RESCALE is of another kind";
    if (type(s, f->rescale->in[X])->dtype != TC_i32 || result(s)->dtype != TC_i8)
        return "its result is not int8";
    if (at(s, f->rescale->in[ZERO_IN], 0))
        return "its sums have a zero point";
    for (int64_t i = 0; i < n; i++) {
        int64_t shift = of_channel(s, f->rescale->in[SHIFT], i);
        if (a->rounding_mode != TC_rounding_double && shift > 31)
            return "its RESCALE does not round twice";
        if (shift < 31 && most[i] > INT32_MAX >> ti_min_i64(31 - shift, 31))
            return "its sums are too large for the kernel's first shift";
    }
    return NULL;
}

static int64_t shift_of(const site *s, const tc_node *rescale, int64_t i)
{
    return 31 - of_channel(s, rescale->in[SHIFT], i);
}

static int64_t multiplier_of(const site *s, const tc_node *rescale, int64_t i)
{
    return of_channel(s, rescale->in[MULTIPLIER], i);
}

/* A multiplier and a shift for each channel. */
static void add_channels(site *s, const finish *f, int64_t n)
{
    tc_tensor m = new_tensor(s, TC_i32, 1, &n), shift = new_tensor(s, TC_i32, 1, &n);
    for (int64_t i = 0; i < n; i++) {
        ti_store_i64(m, i, multiplier_of(s, f->rescale, i));
        ti_store_i64(shift, i, shift_of(s, f->rescale, i));
    }
    add_data(s, m);
    add_data(s, shift);
}

/* ---- products ---- */

enum { WEIGHTS = 1, BIAS = 2, ZERO_X = 3, ZERO_W = 4 }; /* CONV2D, DEPTHWISE_CONV2D */

typedef struct product {
    const tc_node *node;
    finish end;
    int64_t channels, zero; /* of the result; zero point of x */
    bool depthwise;
} product;

static int64_t bias_at(const site *s, const product *p, int64_t c)
{
    return of_channel(s, p->node->in[BIAS], c);
}

/* Weight j of channel c: [o,h,w,i], or [h,w,c,m], where channels are last. */
static int64_t weight_at(const site *s, const product *p, int64_t c, int64_t j, int64_t each)
{
    return at(s, p->node->in[WEIGHTS], p->depthwise ? j * p->channels + c : c * each + j);
}

static const char *product_of(site *s, tc_op op, product *p)
{
    p->node = find(s->g, op);
    p->depthwise = op == TC_OP_tosa_depthwise_conv2d;
    p->end = finish_of(s);
    if (!all_const(s, p->node, 1))
        return "its weights or zero points are not constant";
    const tc_type *w = type(s, p->node->in[WEIGHTS]);
    if (type(s, p->node->in[X])->dtype != TC_i8 || w->dtype != TC_i8)
        return "it is not of int8";
    if (at(s, p->node->in[ZERO_W], 0))
        return "its weights have a zero point";
    p->channels = p->depthwise ? w->dim[2] * w->dim[3] : w->dim[0];
    p->zero = at(s, p->node->in[ZERO_X], 0);
    int64_t each = tc_type_count(w) / p->channels;
    int64_t *most = tc_new_n(&s->ctx->arena, int64_t, (size_t)p->channels);
    for (int64_t c = 0; c < p->channels; c++) {
        int64_t bias = bias_at(s, p, c);
        most[c] = bias < 0 ? -bias : bias;
        for (int64_t j = 0; j < each; j++) {
            int64_t v = weight_at(s, p, c, j, each);
            most[c] += (v < 0 ? -v : v) * UINT8_MAX;
        }
    }
    return check_finish(s, &p->end, most, p->channels);
}

/* None where there is nothing to add, unless the kernel reads it all the same. */
static void add_bias(site *s, const product *p)
{
    tc_tensor b = new_tensor(s, TC_i32, 1, &p->channels);
    bool any = p->depthwise && ti_cm_needs_bias(p->channels, s->core);
    for (int64_t c = 0; c < p->channels; c++) {
        ti_store_i64(b, c, bias_at(s, p, c));
        any = any || bias_at(s, p, c);
    }
    if (any)
        add_data(s, b);
    else
        add_none(s);
}

/* Of all of x, whether a slice in front cuts rows off or not. */
static tc_cm_window window_of(const site *s, const product *p)
{
    const tc_type *x = type(s, s->g->in[0]), *w = type(s, p->node->in[WEIGHTS]),
                  *y = result(s);
    const tc_attr_tosa_conv *a = p->node->attr;
    return (tc_cm_window){.n = x->dim[0],
                          .h = x->dim[1],
                          .w = x->dim[2],
                          .c = x->dim[3],
                          .oh = y->dim[1],
                          .ow = y->dim[2],
                          .oc = p->channels,
                          .kh = w->dim[p->depthwise ? 0 : 1],
                          .kw = w->dim[p->depthwise ? 1 : 2],
                          .stride = {a->stride.v[0], a->stride.v[1]},
                          .pad = {a->pad.v[0], a->pad.v[2]},
                          .dilation = {a->dilation.v[0], a->dilation.v[1]}};
}

/* The same padding on both sides gives as many windows: those past the end nobody asks for. */
static bool pads_evenly(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t pad,
                        int64_t dilation)
{
    int64_t room = in + 2 * pad - dilation * (kernel - 1) - 1;
    return room >= 0 && room / stride + 1 == out;
}

/* C says how many windows there are: then the kernel asks of each place whether it is inside, but where
 * it takes pixels as they lie. */
static const char *check_window(const site *s, const tc_cm_window *w)
{
    if (s->caller == TC_CM_C && (w->kh > 1 || w->kw > 1))
        return NULL;
    return pads_evenly(w->h, w->oh, w->kh, w->stride[0], w->pad[0], w->dilation[0]) &&
                   pads_evenly(w->w, w->ow, w->kw, w->stride[1], w->pad[1], w->dilation[1])
               ? NULL
               : "its padding is not the same on both sides";
}

static const char *describe_conv(site *s, bool depthwise)
{
    product p;
    const char *why =
        product_of(s, depthwise ? TC_OP_tosa_depthwise_conv2d : TC_OP_tosa_conv2d, &p);
    if (why)
        return why;
    tc_cm_window w = window_of(s, &p);
    if ((why = check_window(s, &w)))
        return why;
    if (depthwise && w.n != 1)
        return "it has a batch";
    if (!depthwise && !ti_cm_conv_safe(&w, s->core))
        return "of one row with this stride and padding the kernel gives wrong numbers on MVE";
    add_tensor(s, 0, channels_last(type(s, s->g->in[0])));
    tc_tensor weights = ti_tensor_of(s->g, p.node->in[WEIGHTS]);
    weights.type = ti_type_make(s->ctx, TC_i8, 4,
                                depthwise ? (int64_t[]){1, w.kh, w.kw, w.oc}
                                          : (int64_t[]){w.oc, w.kh, w.kw, w.c});
    add_data(s, weights);
    add_bias(s, &p);
    add_ints(s, w.stride, 2);
    add_ints(s, w.pad, 2);
    add_ints(s, w.dilation, 2);
    if (depthwise)
        add_int(s, w.oc / w.c);
    add_int(s, -p.zero);
    add_int(s, at(s, p.end.rescale->in[ZERO_OUT], 0));
    add_channels(s, &p.end, p.channels);
    add_int(s, p.end.lo);
    add_int(s, p.end.hi);
    add_scratch(s, depthwise ? ti_cm_scratch_depthwise(&w, s->core)
                             : ti_cm_scratch_conv(&w, s->core));
    s->call->out = channels_last(result(s));
    return NULL;
}

static const char *describe_conv2d(site *s) { return describe_conv(s, false); }
static const char *describe_depthwise(site *s) { return describe_conv(s, true); }

static bool one_scale(const site *s, const tc_node *rescale, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if (multiplier_of(s, rescale, i) != multiplier_of(s, rescale, 0) ||
            shift_of(s, rescale, i) != shift_of(s, rescale, 0))
            return false;
    return true;
}

/* bias - zero * sum of the weights: MVE's kernel adds this, and reads no bias. */
static void add_kernel_sum(site *s, const product *p, int64_t each)
{
    tc_tensor t = new_tensor(s, TC_i32, 2, (int64_t[]){1, p->channels});
    for (int64_t c = 0; c < p->channels; c++) {
        int64_t sum = 0;
        for (int64_t j = 0; j < each; j++)
            sum += weight_at(s, p, c, j, each);
        ti_store_i64(t, c, bias_at(s, p, c) - p->zero * sum);
    }
    add_data(s, t);
}

static const char *describe_linear(site *s)
{
    product p;
    const char *why = product_of(s, TC_OP_tosa_conv2d, &p);
    if (why)
        return why;
    tc_cm_window w = window_of(s, &p);
    if (w.kh != 1 || w.kw != 1 || w.stride[0] != 1 || w.stride[1] != 1 || w.h != w.oh ||
        w.w != w.ow)
        return "it is a convolution of more than one pixel";
    if (!one_scale(s, p.end.rescale, p.channels))
        return "it has a scale for each channel";
    add_tensor(s, 0, rows(type(s, p.node->in[X])));
    tc_tensor weights = ti_tensor_of(s->g, p.node->in[WEIGHTS]);
    weights.type = ti_type_make(s->ctx, TC_i8, 2, (int64_t[]){w.oc, w.c});
    add_data(s, weights);
    if (s->core == TC_CORE_MVE) {
        add_none(s);
        add_kernel_sum(s, &p, w.c);
    } else {
        add_bias(s, &p);
        add_none(s);
    }
    add_int(s, -p.zero);
    add_int(s, 0);
    add_int(s, at(s, p.end.rescale->in[ZERO_OUT], 0));
    add_ints(s, (int64_t[]){multiplier_of(s, p.end.rescale, 0)}, 1);
    add_ints(s, (int64_t[]){shift_of(s, p.end.rescale, 0)}, 1);
    add_int(s, p.end.hi);
    add_int(s, p.end.lo);
    s->call->out = rows(result(s));
    return NULL;
}

/* The second factor lies transposed: [n,columns,k]. */
static const char *describe_batch_matmul(site *s)
{
    const tc_node *m = find(s->g, TC_OP_tosa_matmul);
    finish f = finish_of(s);
    const tc_type *a = type(s, s->g->in[0]), *b = type(s, s->g->in[1]);
    if (a->dtype != TC_i8 || b->dtype != TC_i8 || !all_const(s, m, 2))
        return "it is not of int8";
    int64_t most = a->dim[2] * UINT8_MAX * UINT8_MAX;
    const char *why = check_finish(s, &f, &most, 1);
    if (why)
        return why;
    if (f.lo != INT8_MIN || f.hi != INT8_MAX || !one_scale(s, f.rescale, result(s)->dim[2]))
        return "its result has bounds, or a scale for each channel";
    add_tensor(s, 0, plain(a));
    add_int(s, -at(s, m->in[2], 0));
    add_tensor(s, 1, plain(b));
    add_int(s, -at(s, m->in[3], 0));
    add_int(s, at(s, f.rescale->in[ZERO_OUT], 0));
    add_int(s, multiplier_of(s, f.rescale, 0));
    add_int(s, shift_of(s, f.rescale, 0));
    add_scratch(s, ti_cm_scratch_matmul(b->dim[1], s->core));
    s->call->out = plain(result(s));
    return NULL;
}

/* ---- elementwise ---- */

enum { LEFT_SHIFT = 20 }; /* of an operand of a sum, in the kernel */

enum { CODES = 256 };

/* One operand of a sum: (x - zero) << 20, requantized; and for each code what that is in the program
 * and in the kernel. */
typedef struct operand {
    int64_t zero, multiplier, shift, most;
    int32_t program[CODES], kernel[CODES];
} operand;

/* INT64_MIN: TOSA leaves it open. */
static int64_t scaled(const tc_attr_tosa_rescale *a, int64_t v, int64_t m, int64_t shift)
{
    if (!ti_scale32_defined(v, m, shift))
        return INT64_MIN;
    return a->rounding_mode == TC_rounding_double
               ? ti_scale32_double((int32_t)v, (int32_t)m, (int)shift)
               : ti_scale32((int32_t)v, (int32_t)m, (int)shift);
}

/* A RESCALE of int8 by one factor, to i32 without a zero point. */
static bool widens(const site *s, const tc_node *r)
{
    const tc_attr_tosa_rescale *a = r->attr;
    return all_const(s, r, 1) && a->scale32 && !a->input_unsigned && !a->output_unsigned &&
           a->rounding_mode != TC_rounding_inexact && type(s, r->in[X])->dtype == TC_i8 &&
           tc_type_count(type(s, r->in[SHIFT])) == 1 && !at(s, r->in[ZERO_OUT], 0);
}

static bool operand_of(const site *s, const tc_node *r, operand *o)
{
    if (!widens(s, r))
        return false;
    int64_t m = at(s, r->in[MULTIPLIER], 0), shift = at(s, r->in[SHIFT], 0);
    *o = (operand){.zero = at(s, r->in[ZERO_IN], 0),
                   .multiplier = m,
                   .shift = 31 - (shift + LEFT_SHIFT)};
    for (int64_t i = 0; i < CODES; i++) {
        int64_t x = i + INT8_MIN - o->zero, wide = x * (1 << LEFT_SHIFT);
        int64_t v = scaled(r->attr, x, m, shift);
        if (v == INT64_MIN || !ti_scale32_defined(wide, m, shift + LEFT_SHIFT))
            return false;
        o->program[i] = (int32_t)v;
        o->kernel[i] = requantize((int32_t)wide, (int32_t)m, (int)o->shift);
        o->most = ti_max_i64(o->most, v < 0 ? -v + 1 : v + 1);
    }
    return o->shift >= -31 && o->shift <= 0;
}

/* Whether the codes of every pair are the kernel's; it rounds operands twice, the program once. */
static bool same_sums(const site *s, const finish *f, const operand *a, const operand *b)
{
    int32_t m = (int32_t)multiplier_of(s, f->rescale, 0);
    int shift = (int)shift_of(s, f->rescale, 0);
    int64_t zero = at(s, f->rescale->in[ZERO_OUT], 0);
    for (int i = 0; i < CODES; i++)
        for (int k = 0; k < CODES; k++) {
            int32_t program = a->program[i] + b->program[k], kernel = a->kernel[i] + b->kernel[k];
            if (program != kernel &&
                ti_clip(requantize(program, m, shift) + zero, f->lo, f->hi) !=
                    ti_clip(requantize(kernel, m, shift) + zero, f->lo, f->hi))
                return false;
        }
    return true;
}

/* Operands of a shape, or one of them a row of channels. */
static bool add_pair(const site *s, tc_cm_view view[2])
{
    const tc_type *a = type(s, s->g->in[0]), *b = type(s, s->g->in[s->g->n_in - 1]),
                  *y = result(s);
    view[0] = plain(a);
    view[1] = plain(b);
    s->call->out = plain(y);
    if (ti_same_dims(a, b))
        return y->rank <= 4;
    int64_t c = y->rank == 4 ? y->dim[3] : -1;
    view[0] = channels_last(a);
    view[1] = channels_last(b);
    s->call->out = channels_last(y);
    return a->rank == 4 && b->rank == 4 && a->dim[3] == c && b->dim[3] == c &&
           ((ti_same_dims(a, y) && tc_type_count(b) == c) ||
            (ti_same_dims(b, y) && tc_type_count(a) == c));
}

/* The operand i of a node is x of the piece, through a RESCALE. */
static const tc_node *through(const site *s, const tc_node *node, int i)
{
    const tc_node *r = ti_def(s->g, node->in[i]);
    return r && r->op == TC_OP_tosa_rescale ? r : NULL;
}

static int input_of(const site *s, tc_val v) { return ti_value_of(s->g, v)->index; }

static const char *describe_add(site *s)
{
    static const char shapes[] = "its operands are broadcast along more than rows of channels";
    const tc_node *sum = find(s->g, TC_OP_tosa_add);
    finish f = finish_of(s);
    operand o[2];
    tc_cm_view view[2];
    for (int i = 0; i < 2; i++) {
        const tc_node *r = through(s, sum, i);
        if (!r || !operand_of(s, r, &o[i]))
            return "its operands are scaled in another way";
    }
    const char *why = check_finish(s, &f, &(int64_t){o[0].most + o[1].most}, 1);
    if (why)
        return why;
    if (!one_scale(s, f.rescale, tc_type_count(type(s, f.rescale->in[SHIFT]))))
        return "it has a scale for each channel";
    if (!same_sums(s, &f, &o[0], &o[1]))
        return "the kernel rounds its operands twice, to another code";
    if (!add_pair(s, view))
        return shapes;
    for (int i = 0; i < 2; i++) {
        int x = input_of(s, through(s, sum, i)->in[X]);
        add_tensor(s, x, view[x]);
        add_int(s, o[i].zero);
        add_int(s, o[i].multiplier);
        add_int(s, o[i].shift);
    }
    add_int(s, at(s, f.rescale->in[ZERO_OUT], 0));
    add_int(s, multiplier_of(s, f.rescale, 0));
    add_int(s, shift_of(s, f.rescale, 0));
    add_int(s, f.lo);
    add_int(s, f.hi);
    return NULL;
}

/* x - zero, as a RESCALE. */
static bool is_offset(const site *s, const tc_node *r, int64_t *zero)
{
    if (!widens(s, r))
        return false;
    *zero = at(s, r->in[ZERO_IN], 0);
    for (int64_t x = INT8_MIN; x <= INT8_MAX; x++)
        if (scaled(r->attr, x - *zero, at(s, r->in[MULTIPLIER], 0), at(s, r->in[SHIFT], 0)) !=
            x - *zero)
            return false;
    return true;
}

static const char *describe_mul(site *s)
{
    const tc_node *mul = find(s->g, TC_OP_tosa_mul);
    finish f = finish_of(s);
    int64_t zero[2], most = (int64_t)UINT8_MAX * UINT8_MAX;
    tc_cm_view view[2];
    if (!ti_is_const(s->g, mul->in[2]) || at(s, mul->in[2], 0))
        return "its product is shifted";
    for (int i = 0; i < 2; i++) {
        const tc_node *r = through(s, mul, i);
        if (!r || !is_offset(s, r, &zero[i]))
            return "its operands are scaled in another way";
    }
    const char *why = check_finish(s, &f, &most, 1);
    if (why)
        return why;
    if (f.lo != INT8_MIN || f.hi != INT8_MAX ||
        !one_scale(s, f.rescale, tc_type_count(type(s, f.rescale->in[SHIFT]))))
        return "its result has bounds, or a scale for each channel";
    if (!add_pair(s, view))
        return "its operands are broadcast along more than rows of channels";
    for (int i = 0; i < 2; i++) {
        int x = input_of(s, through(s, mul, i)->in[X]);
        add_tensor(s, x, view[x]);
        add_int(s, zero[i]);
    }
    add_int(s, at(s, f.rescale->in[ZERO_OUT], 0));
    add_int(s, multiplier_of(s, f.rescale, 0));
    add_int(s, shift_of(s, f.rescale, 0));
    return NULL;
}

static const char *describe_activation(site *s)
{
    const tc_node *t = find(s->g, TC_OP_tosa_table);
    const tc_type *x = type(s, t->in[X]);
    if (x->dtype != TC_i8 || !ti_is_const(s->g, t->in[1]))
        return "its table is not of int8";
    add_tensor(s, 0, rows(x));
    add_data(s, ti_tensor_of(s->g, t->in[1]));
    s->call->out = rows(result(s));
    return NULL;
}

/* The piece is a softmax, whoever made it says: here by which factor. */
static const char *describe_softmax(site *s)
{
    int32_t power[CODES], multiplier;
    int shift;
    int64_t diff_min;
    const tc_type *x = type(s, s->g->in[0]);
    const tc_node *end = ti_def(s->g, s->g->out[0]);
    if (!end || ti_cm_softmax_at(s->g, end, power) != s->g->in[0] || x->rank < 1 || x->rank > 4)
        return "it is not a softmax";
    if (!ti_cm_softmax_factor(power, &multiplier, &shift, &diff_min))
        return "no factor gives its powers";
    add_tensor(s, 0, plain(x));
    add_int(s, x->rank - 1);
    add_int(s, 0); /* zero point of x: it does not matter */
    add_int(s, INT8_MIN);
    add_int(s, multiplier);
    add_int(s, shift);
    add_int(s, diff_min);
    s->call->out = plain(result(s));
    return NULL;
}

static const char *describe_choice(site *s)
{
    if (result(s)->dtype != TC_i8 || result(s)->rank > 4)
        return "it is not of int8 in at most four axes";
    add_tensor(s, 0, plain(type(s, s->g->in[0])));
    add_tensor(s, (int)s->g->n_in - 1, plain(type(s, s->g->in[s->g->n_in - 1])));
    s->call->out = plain(result(s));
    return NULL;
}

static const char *describe_minimum(site *s) { return describe_choice(s); }
static const char *describe_maximum(site *s) { return describe_choice(s); }

/* ---- pools ---- */

static tc_cm_window pool_window(const site *s, const tc_type *x, const int64_t *kernel,
                                const int64_t *stride, const int64_t *pad)
{
    const tc_type *y = result(s);
    return (tc_cm_window){.n = x->dim[0],
                          .h = x->dim[1],
                          .w = x->dim[2],
                          .c = x->dim[3],
                          .oh = y->dim[1],
                          .ow = y->dim[2],
                          .oc = x->dim[3],
                          .kh = kernel[0],
                          .kw = kernel[1],
                          .stride = {stride[0], stride[1]},
                          .pad = {pad[0], pad[2]},
                          .dilation = {1, 1}};
}

static void add_window(site *s, const tc_cm_window *w)
{
    add_ints(s, (int64_t[]){w->kh, w->kw}, 2);
    add_ints(s, w->stride, 2);
    add_ints(s, w->pad, 2);
}

static const char *describe_max_pool(site *s)
{
    const tc_node *node = find(s->g, TC_OP_tosa_max_pool2d);
    const tc_attr_tosa_max_pool *a = node->attr;
    const tc_type *x = type(s, node->in[X]);
    finish f = finish_of(s);
    tc_cm_window w = pool_window(s, x, a->kernel.v, a->stride.v, a->pad.v);
    if (x->dtype != TC_i8)
        return "it is not of int8";
    if (2 * w.pad[0] > w.kh || 2 * w.pad[1] > w.kw)
        return "its padding is more than half of its window";
    const char *why = check_window(s, &w);
    if (why)
        return why;
    add_tensor(s, 0, channels_last(x));
    add_window(s, &w);
    add_ints(s, w.dilation, 2);
    add(s, TC_CM_VALUE)->value = (tc_cpu_value){.kind = TC_CPU_BOOL};
    add_int(s, 0); /* zero points: it does not look at them */
    add_int(s, 0);
    add_int(s, f.lo);
    add_int(s, f.hi);
    s->call->out = channels_last(result(s));
    return NULL;
}

enum { MOST_PIXELS = 1 << 14 }; /* of a window whose sums are gone through */

static const char *describe_avg_pool(site *s)
{
    const tc_node *node = find(s->g, TC_OP_tosa_avg_pool2d);
    const tc_attr_tosa_avg_pool *a = node->attr;
    const tc_type *x = type(s, node->in[X]);
    tc_cm_window w = pool_window(s, x, a->kernel.v, a->stride.v, a->pad.v);
    if (x->dtype != TC_i8 || !all_const(s, node, 1))
        return "it is not of int8";
    if (!ti_ints_are(a->pad, 0))
        return "it has padding";
    if (w.kh * w.kw > MOST_PIXELS ||
        !ti_cm_same_mean(w.kh * w.kw, at(s, node->in[1], 0), at(s, node->in[2], 0)))
        return "the kernel rounds halves of negative sums to the other side";
    add_tensor(s, 0, channels_last(x));
    add_window(s, &w);
    add_int(s, at(s, node->in[1], 0)); /* zero point, and one step: it does not look at them */
    add_int(s, 1 << 30);
    add_int(s, 1);
    add_scratch(s, ti_cm_scratch_avg_pool(w.c, s->core));
    s->call->out = channels_last(result(s));
    return NULL;
}

/* ---- movement ---- */

static const char *describe_transpose(site *s)
{
    const tc_node *node = find(s->g, TC_OP_tosa_transpose);
    const tc_attr_tosa_perms *a = node->attr;
    const tc_type *x = type(s, node->in[X]);
    bool moves = false;
    for (int i = 0; i < x->rank; i++)
        moves = moves || a->perms.v[i] != i;
    if (x->dtype != TC_i8 || x->rank < 2 || x->rank > 4 || !moves)
        return "it is not of int8 in two to four axes";
    add_tensor(s, 0, plain(x));
    add_ints(s, a->perms.v, x->rank);
    s->call->out = plain(result(s));
    return NULL;
}

static const char *describe_pad(site *s)
{
    const tc_node *node = find(s->g, TC_OP_tosa_pad);
    const tc_type *x = type(s, node->in[X]);
    int64_t before[4] = {0}, after[4] = {0};
    if (x->dtype != TC_i8 || x->rank < 1 || x->rank > 4 || !all_const(s, node, 1))
        return "it is not of int8 in at most four axes";
    for (int i = 0; i < x->rank; i++) {
        before[4 - x->rank + i] = at(s, node->in[1], 2 * i);
        after[4 - x->rank + i] = at(s, node->in[1], 2 * i + 1);
    }
    add_tensor(s, 0, channels_last(x));
    add_ints(s, before, 4);
    add_ints(s, after, 4);
    add_int(s, at(s, node->in[2], 0));
    s->call->out = channels_last(result(s));
    return NULL;
}

const char *ti_cm_describe(tc_ctx *ctx, const tc_graph *g, tc_cm_op op, tc_core core,
                           tc_cm_caller caller, tc_cm_call *out)
{
    static const char *(*const describe[TC_CM_COUNT])(site *) = {
#define CM(word, name, args) [TC_CM_##word] = describe_##word,
#include "cortexm_ops.def"
    };
    site s = {ctx, g, core, caller, out};
    *out = (tc_cm_call){0};
    return describe[op](&s);
}
