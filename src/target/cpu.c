/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.c -- the table of kernels: which row holds for a node, and how a row reads. */
#include "cpu.h"

#include <math.h>
#include <stdlib.h>

#include "../num/load.h"

int ti_cpu_whole_power(const tc_graph *g, const tc_node *node)
{
    enum { MOST = 63 };
    tc_tensor by = ti_tensor_of(g, node->in[1]);
    double e = by.data && ti_is_const(g, node->in[1]) && tc_type_count(by.type) == 1
                   ? ti_load_f64(by, 0)
                   : -1;
    return e >= 0 && e <= MOST && e == (int)e ? (int)e : -1;
}

/* ---- when a row holds ------------------------------------------------------------------------ */

#define WHEN(name) static bool ti_cpu_when_##name(const tc_graph *g, const tc_node *node)
#define ti_cpu_when_never NULL

static const tc_type *operand(const tc_graph *g, const tc_node *node, int i)
{
    return ti_type_of(g, node->in[i]);
}

WHEN(always)
{
    (void)g;
    (void)node;
    return true;
}

/* Of whole numbers the kernel's remainder has the sign of x. */
WHEN(real) { return ti_is_float(ti_type_of(g, node->out[0])->dtype); }

/* Powers of whole numbers go through floats in the kernel, and do not wrap. */
WHEN(no_whole_power)
{
    return ti_is_float(ti_type_of(g, node->out[0])->dtype) || ti_cpu_whole_power(g, node) < 0;
}

/* Bounds that the type does not hold stop the kernel. */
WHEN(bounds_fit)
{
    const tc_attr_clamp *a = node->attr;
    tc_dtype t = ti_type_of(g, node->out[0])->dtype;
    return !ti_is_int(t) || tc_dtypes[t].bits > 32 ||
           ((isinf(a->lo) || a->lo >= (double)ti_dtype_min(t)) &&
            (isinf(a->hi) || a->hi <= (double)ti_dtype_max(t)));
}

WHEN(whole_round)
{
    (void)g;
    return ((const tc_attr_round *)node->attr)->decimals == 0;
}

WHEN(exact_div)
{
    (void)g;
    return ((const tc_attr_div *)node->attr)->mode == TC_div_mode_exact;
}

WHEN(one_axis)
{
    (void)g;
    return ((const tc_attr_axes *)node->attr)->axes.n == 1;
}

/* Along one axis, into the same type, the kernel adds in f32 whatever the type is. */
WHEN(not_by_floats)
{
    const tc_type *x = operand(g, node, 0), *y = ti_type_of(g, node->out[0]);
    return ((const tc_attr_axes *)node->attr)->axes.n != 1 || x->dtype != y->dtype ||
           (ti_is_float(x->dtype) && x->dtype != TC_f64) || !tc_type_count(x);
}

WHEN(all_axes)
{
    const tc_attr_axes *a = node->attr;
    return !a->keepdim && a->axes.n == operand(g, node, 0)->rank;
}

static bool ranks(const tc_graph *g, const tc_node *node, int first, int count, int32_t rank)
{
    for (int i = first; i < first + count; i++)
        if (operand(g, node, i)->rank != rank)
            return false;
    return true;
}

WHEN(both_2d) { return ranks(g, node, 0, 2, 2); }

WHEN(both_3d)
{
    return ranks(g, node, 0, 2, 3) && operand(g, node, 0)->dim[0] == operand(g, node, 1)->dim[0];
}

WHEN(flat_addmm) { return ranks(g, node, 1, 2, 2) && operand(g, node, 0)->rank <= 2; }

/* One or two spatial axes and a batch. */
static bool batched(const tc_graph *g, const tc_node *node, int32_t spatial)
{
    return (spatial == 1 || spatial == 2) && operand(g, node, 0)->rank == spatial + 2;
}

WHEN(plain_conv)
{
    const tc_attr_conv *a = node->attr;
    for (int i = 0; i < a->stride.n; i++)
        if (a->pad.v[2 * i] != a->pad.v[2 * i + 1])
            return false;
    return batched(g, node, a->stride.n);
}

WHEN(plain_conv_transpose)
{
    return batched(g, node, ((const tc_attr_conv_transpose *)node->attr)->stride.n);
}

/* Two spatial axes: the first list of the attributes has one number for each. */
WHEN(plane)
{
    return ((const tc_attr_size *)node->attr)->size.n == 2 && operand(g, node, 0)->rank >= 3;
}

/* The same and a batch. */
WHEN(planes) { return ti_cpu_when_plane(g, node) && operand(g, node, 0)->rank == 4; }

WHEN(planes_not_cubic)
{
    const tc_attr_grid *a = node->attr;
    return operand(g, node, 0)->rank == 4 && a->mode != TC_sample_mode_bicubic;
}

WHEN(pad_constant)
{
    const tc_attr_pad *a = node->attr;
    for (int i = 0; i < a->pad.n; i++)
        if (a->pad.v[i] < 0)
            return false;
    (void)g;
    return a->mode == TC_pad_mode_constant;
}

/* Borders along some of the last `axes` axes, before which there are one or two more. */
static bool pads_last(const tc_graph *g, const tc_node *node, tc_field_pad_mode mode, int axes)
{
    const tc_attr_pad *a = node->attr;
    int32_t rank = operand(g, node, 0)->rank;
    if (a->mode != mode || (rank != axes + 1 && rank != axes + 2))
        return false;
    for (int i = 0; i < a->pad.n; i++)
        if (a->pad.v[i] < 0 || (i / 2 < rank - axes && a->pad.v[i]))
            return false;
    return true;
}

WHEN(pad_reflect_1) { return pads_last(g, node, TC_pad_mode_reflect, 1); }
WHEN(pad_reflect_2) { return pads_last(g, node, TC_pad_mode_reflect, 2); }
WHEN(pad_reflect_3) { return pads_last(g, node, TC_pad_mode_reflect, 3); }
WHEN(pad_replicate_1) { return pads_last(g, node, TC_pad_mode_replicate, 1); }
WHEN(pad_replicate_2) { return pads_last(g, node, TC_pad_mode_replicate, 2); }
WHEN(pad_replicate_3) { return pads_last(g, node, TC_pad_mode_replicate, 3); }

static bool combines(const tc_node *node, tc_field_combine how)
{
    const tc_attr_scatter *a = node->attr;
    return a->combine == how && (how == TC_combine_set || a->include_self);
}

/* The kernel's check of an offset counts it twice. */
WHEN(from_first)
{
    (void)g;
    return ((const tc_attr_as_strided *)node->attr)->offset == 0;
}

WHEN(long_index) { return operand(g, node, 1)->dtype == TC_i64; }

WHEN(scatter_set) { return ti_cpu_when_long_index(g, node) && combines(node, TC_combine_set); }

WHEN(scatter_add) { return ti_cpu_when_long_index(g, node) && combines(node, TC_combine_add); }

/* Their kernels end the program where the real values are bf16. */
static bool rounds(const tc_graph *g, const tc_node *node)
{
    return operand(g, node, 0)->dtype != TC_bf16 && ti_type_of(g, node->out[0])->dtype != TC_bf16;
}

WHEN(by_number)
{
    const tc_attr_quantize *a = node->attr;
    return rounds(g, node) && a->scale != 0 && a->axis < 0;
}

WHEN(by_tensor)
{
    const tc_attr_quantize *a = node->attr;
    return rounds(g, node) && a->scale == 0 && a->axis < 0 && node->n_in > 2 &&
           operand(g, node, 2);
}

WHEN(by_channel)
{
    const tc_attr_quantize *a = node->attr;
    return rounds(g, node) && a->scale == 0 && a->axis >= 0 &&
           (node->n_in > 2 || node->op == TC_OP_dequantize);
}

/* ---- the table ------------------------------------------------------------------------------- */

const tc_cpu_kernel tc_cpu_kernels[] = {
#define KERNEL(op, name, overload, when, args)                                                     \
    {TC_OP_##op, name, overload, ti_cpu_when_##when, args},
#include "cpu.def"
};
const size_t tc_cpu_n_kernel = TC_COUNT(tc_cpu_kernels);

/* No kernel computes with these. */
static bool is_foreign(const tc_graph *g, tc_val v)
{
    tc_dtype dtype = v ? ti_type_of(g, v)->dtype : TC_none;
    return dtype == TC_e4m3 || dtype == TC_e5m2 || tc_dtypes[dtype].kind == TC_COMPLEX ||
           (v && tc_dtypes[dtype].et < 0);
}

static bool has_foreign(const tc_graph *g, const tc_node *node)
{
    for (int i = 0; i < node->n_in; i++)
        if (is_foreign(g, node->in[i]))
            return true;
    for (int i = 0; i < node->n_out; i++)
        if (is_foreign(g, node->out[i]))
            return true;
    return false;
}

const tc_cpu_kernel *ti_cpu_kernel_for(const tc_graph *g, const tc_node *node)
{
    if (has_foreign(g, node))
        return NULL;
    for (size_t i = 0; i < tc_cpu_n_kernel; i++) {
        const tc_cpu_kernel *k = &tc_cpu_kernels[i];
        if (k->op == node->op && k->when && k->when(g, node))
            return k;
    }
    return NULL;
}

tc_val ti_cpu_root(const tc_graph *g, tc_val v)
{
    while (ti_cpu_is_view(ti_def(g, v)))
        v = ti_def(g, v)->in[0];
    return v;
}

long ti_cpu_buffer(const tc_graph *g, tc_val v)
{
    for (size_t i = 0; i < g->n_mutation; i++)
        if (g->mutation[i].before == v)
            return (long)i;
    return -1;
}

/* ---- how a row reads ------------------------------------------------------------------------- */

static const struct {
    const char *word;
    tc_cpu_arg_kind kind;
} words[] = {
    {"in", TC_CPU_IN},       {"maybe", TC_CPU_MAYBE},   {"list", TC_CPU_LIST},
    {"some", TC_CPU_SOME},   {"scalar", TC_CPU_SCALAR}, {"more", TC_CPU_MORE},
    {"lists", TC_CPU_LISTS},
};

bool ti_cpu_next(const char **args, tc_cpu_arg *arg)
{
    const char *p = *args + strspn(*args, " ");
    if (!*p)
        return false;
    size_t all = strcspn(p, " "), word = strcspn(p, " :");
    *args = p + all;
    *arg = (tc_cpu_arg){.kind = *p == '+' ? TC_CPU_FOLLOWS : TC_CPU_VALUE, .word = {p, word}};
    if (word < all)
        arg->field = (tc_str){p + word + 1, all - word - 1};
    size_t letters = strcspn(p, "0123456789: ");
    for (size_t i = 0; i < TC_COUNT(words); i++)
        if (ti_str_is((tc_str){p, letters}, words[i].word)) {
            arg->kind = words[i].kind;
            arg->index = atoi(p + letters);
        }
    return true;
}
