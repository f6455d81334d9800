/* SPDX-License-Identifier: Apache-2.0 */
/* cortexm_products.c -- convolutions, linear layers and products of matrices, as cortexm_call.h
 * describes them to their kernels. */
#include "cortexm_site.h"

#include "../num/load.h"

enum { WEIGHTS = 1, BIAS = 2, ZERO_X = 3, ZERO_W = 4 }; /* CONV2D, DEPTHWISE_CONV2D */

typedef struct product {
    const tc_node *node;
    tc_cm_finish end;
    int64_t channels, zero; /* of the result; zero point of x */
    bool depthwise;
} product;

static int64_t bias_at(const tc_cm_site *s, const product *p, int64_t c)
{
    return ti_cm_of_channel(s, p->node->in[BIAS], c);
}

/* Weight j of channel c: [o,h,w,i], or [h,w,c,m], where channels are last. */
static int64_t weight_at(const tc_cm_site *s, const product *p, int64_t c, int64_t j, int64_t each)
{
    return ti_cm_site_at(s, p->node->in[WEIGHTS],
                         p->depthwise ? j * p->channels + c : c * each + j);
}

static const char *product_of(tc_cm_site *s, tc_op op, product *p)
{
    p->node = ti_cm_find_node(s->g, op);
    p->depthwise = op == TC_OP_tosa_depthwise_conv2d;
    p->end = ti_cm_finish_of(s);
    if (!ti_cm_all_const(s, p->node, 1))
        return "its weights or zero points are not constant";
    const tc_type *w = ti_cm_site_type(s, p->node->in[WEIGHTS]);
    if (ti_cm_site_type(s, p->node->in[X])->dtype != TC_i8 || w->dtype != TC_i8)
        return "it is not of int8";
    if (ti_cm_site_at(s, p->node->in[ZERO_W], 0))
        return "its weights have a zero point";
    p->channels = p->depthwise ? w->dim[2] * w->dim[3] : w->dim[0];
    p->zero = ti_cm_site_at(s, p->node->in[ZERO_X], 0);
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
    return ti_cm_check_finish(s, &p->end, most, p->channels);
}

/* None where there is nothing to add, unless the kernel reads it all the same. */
static void add_bias(tc_cm_site *s, const product *p)
{
    tc_tensor b = ti_cm_new_tensor(s, TC_i32, 1, &p->channels);
    bool any = p->depthwise && ti_cm_needs_bias(p->channels, s->core);
    for (int64_t c = 0; c < p->channels; c++) {
        ti_store_i64(b, c, bias_at(s, p, c));
        any = any || bias_at(s, p, c);
    }
    if (any)
        ti_cm_add_data(s, b);
    else
        ti_cm_add_none(s);
}

/* Of all of x, whether a slice before it cuts rows off or not. */
static tc_cm_window window_of(const tc_cm_site *s, const product *p)
{
    const tc_type *x = ti_cm_site_type(s, s->g->in[0]),
                  *w = ti_cm_site_type(s, p->node->in[WEIGHTS]), *y = ti_cm_site_result(s);
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

static const char *describe_conv(tc_cm_site *s, bool depthwise)
{
    product p;
    const char *why =
        product_of(s, depthwise ? TC_OP_tosa_depthwise_conv2d : TC_OP_tosa_conv2d, &p);
    if (why)
        return why;
    tc_cm_window w = window_of(s, &p);
    if ((why = ti_cm_check_window(s, &w)))
        return why;
    if (depthwise && w.n != 1)
        return "it has a batch";
    if (!depthwise && !ti_cm_conv_safe(&w, s->core))
        return "of one row with this stride and padding the kernel gives wrong numbers on MVE";
    ti_cm_add_tensor(s, 0, ti_cm_view_channels_last(ti_cm_site_type(s, s->g->in[0])));
    tc_tensor weights = ti_tensor_of(s->g, p.node->in[WEIGHTS]);
    weights.type = ti_type_make(s->ctx, TC_i8, 4,
                                depthwise ? (int64_t[]){1, w.kh, w.kw, w.oc}
                                          : (int64_t[]){w.oc, w.kh, w.kw, w.c});
    ti_cm_add_data(s, weights);
    add_bias(s, &p);
    ti_cm_add_ints(s, w.stride, 2);
    ti_cm_add_ints(s, w.pad, 2);
    ti_cm_add_ints(s, w.dilation, 2);
    if (depthwise)
        ti_cm_add_int(s, w.oc / w.c);
    ti_cm_add_int(s, -p.zero);
    ti_cm_add_int(s, ti_cm_site_at(s, p.end.rescale->in[ZERO_OUT], 0));
    ti_cm_add_channels(s, &p.end, p.channels);
    ti_cm_add_int(s, p.end.lo);
    ti_cm_add_int(s, p.end.hi);
    ti_cm_add_scratch(s, depthwise ? ti_cm_scratch_depthwise(&w, s->core)
                                   : ti_cm_scratch_conv(&w, s->core));
    s->call->out = ti_cm_view_channels_last(ti_cm_site_result(s));
    return NULL;
}

const char *ti_cm_describe_conv2d(tc_cm_site *s)
{
    return describe_conv(s, false);
}
const char *ti_cm_describe_depthwise(tc_cm_site *s)
{
    return describe_conv(s, true);
}

/* bias - zero * sum of the weights: MVE's kernel adds this, and reads no bias. */
static void add_kernel_sum(tc_cm_site *s, const product *p, int64_t each)
{
    tc_tensor t = ti_cm_new_tensor(s, TC_i32, 2, (int64_t[]){1, p->channels});
    for (int64_t c = 0; c < p->channels; c++) {
        int64_t sum = 0;
        for (int64_t j = 0; j < each; j++)
            sum += weight_at(s, p, c, j, each);
        ti_store_i64(t, c, bias_at(s, p, c) - p->zero * sum);
    }
    ti_cm_add_data(s, t);
}

const char *ti_cm_describe_linear(tc_cm_site *s)
{
    product p;
    const char *why = product_of(s, TC_OP_tosa_conv2d, &p);
    if (why)
        return why;
    tc_cm_window w = window_of(s, &p);
    if (w.kh != 1 || w.kw != 1 || w.stride[0] != 1 || w.stride[1] != 1 || w.h != w.oh ||
        w.w != w.ow)
        return "it is a convolution of more than one pixel";
    if (!ti_cm_one_scale(s, p.end.rescale, p.channels))
        return "it has a scale for each channel";
    ti_cm_add_tensor(s, 0, ti_cm_view_rows(ti_cm_site_type(s, p.node->in[X])));
    tc_tensor weights = ti_tensor_of(s->g, p.node->in[WEIGHTS]);
    weights.type = ti_type_make(s->ctx, TC_i8, 2, (int64_t[]){w.oc, w.c});
    ti_cm_add_data(s, weights);
    if (s->core == TC_CORE_MVE) {
        ti_cm_add_none(s);
        add_kernel_sum(s, &p, w.c);
    } else {
        add_bias(s, &p);
        ti_cm_add_none(s);
    }
    ti_cm_add_int(s, -p.zero);
    ti_cm_add_int(s, 0);
    ti_cm_add_int(s, ti_cm_site_at(s, p.end.rescale->in[ZERO_OUT], 0));
    ti_cm_add_ints(s, (int64_t[]){ti_cm_multiplier_of(s, p.end.rescale, 0)}, 1);
    ti_cm_add_ints(s, (int64_t[]){ti_cm_shift_of(s, p.end.rescale, 0)}, 1);
    ti_cm_add_int(s, p.end.hi);
    ti_cm_add_int(s, p.end.lo);
    s->call->out = ti_cm_view_rows(ti_cm_site_result(s));
    return NULL;
}

/* The second factor is stored transposed: [n,columns,k]. */
const char *ti_cm_describe_batch_matmul(tc_cm_site *s)
{
    const tc_node *m = ti_cm_find_node(s->g, TC_OP_tosa_matmul);
    tc_cm_finish f = ti_cm_finish_of(s);
    const tc_type *a = ti_cm_site_type(s, s->g->in[0]), *b = ti_cm_site_type(s, s->g->in[1]);
    if (a->dtype != TC_i8 || b->dtype != TC_i8 || !ti_cm_all_const(s, m, 2))
        return "it is not of int8";
    int64_t most = a->dim[2] * UINT8_MAX * UINT8_MAX;
    const char *why = ti_cm_check_finish(s, &f, &most, 1);
    if (why)
        return why;
    if (f.lo != INT8_MIN || f.hi != INT8_MAX ||
        !ti_cm_one_scale(s, f.rescale, ti_cm_site_result(s)->dim[2]))
        return "its result has bounds, or a scale for each channel";
    ti_cm_add_tensor(s, 0, ti_cm_view_plain(a));
    ti_cm_add_int(s, -ti_cm_site_at(s, m->in[2], 0));
    ti_cm_add_tensor(s, 1, ti_cm_view_plain(b));
    ti_cm_add_int(s, -ti_cm_site_at(s, m->in[3], 0));
    ti_cm_add_int(s, ti_cm_site_at(s, f.rescale->in[ZERO_OUT], 0));
    ti_cm_add_int(s, ti_cm_multiplier_of(s, f.rescale, 0));
    ti_cm_add_int(s, ti_cm_shift_of(s, f.rescale, 0));
    ti_cm_add_scratch(s, ti_cm_scratch_matmul(b->dim[1], s->core));
    s->call->out = ti_cm_view_plain(ti_cm_site_result(s));
    return NULL;
}
