/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_args.c -- a kernel's arguments from an operator's attributes, and back. */
#include "cpu.h"

#include <math.h>

#include "../num/load.h"

tc_cpu_site tc_cpu_site_of(tc_ctx *ctx, const tc_graph *g, const tc_node *node)
{
    const tc_type **type =
        tc_new_n(&ctx->scratch, const tc_type *, (size_t)(node->n_in + node->n_out));
    for (int i = 0; i < node->n_in; i++)
        type[i] = tc_type_of(g, node->in[i]);
    for (int i = 0; i < node->n_out; i++)
        type[node->n_in + i] = tc_type_of(g, node->out[i]);
    return (tc_cpu_site){ctx,
                         node->op,
                         node->n_in,
                         node->n_out,
                         type,
                         type + node->n_in,
                         (void *)(uintptr_t)node->attr};
}

static void *field_at(const tc_cpu_site *s, tc_str name, tc_field_kind *kind)
{
    const tc_attr_info *info = &tc_attrs[tc_ops[s->op].attr];
    for (int i = 0; i < info->n_field; i++)
        if (tc_str_is(name, info->field[i].name)) {
            *kind = info->field[i].kind;
            return (char *)s->attr + info->field[i].at;
        }
    assert(0 && "a row of cpu.def names a field that the operator does not have");
    return NULL;
}

static tc_cpu_value whole(int64_t i) { return (tc_cpu_value){.kind = TC_CPU_INT, .i = i}; }
static tc_cpu_value yes(bool b) { return (tc_cpu_value){.kind = TC_CPU_BOOL, .i = b}; }
static tc_cpu_value real(double r) { return (tc_cpu_value){.kind = TC_CPU_REAL, .r = r}; }
static tc_cpu_value text(const char *t) { return (tc_cpu_value){.kind = TC_CPU_TEXT, .text = t}; }
static tc_cpu_value list(tc_ints v) { return (tc_cpu_value){.kind = TC_CPU_INTS, .ints = v}; }
static const tc_cpu_value nothing = {.kind = TC_CPU_NULL};

/* A Scalar: whole numbers as Int, as the author of a model writes them. */
static tc_cpu_value number(double r)
{
    return r == floor(r) && fabs(r) < 0x1p53 && !(r == 0 && signbit(r)) ? whole((int64_t)r)
                                                                        : real(r);
}

static bool as_number(const tc_cpu_value *v, double *out)
{
    *out = v->kind == TC_CPU_REAL ? v->r : (double)v->i;
    return v->kind == TC_CPU_REAL || v->kind == TC_CPU_INT || v->kind == TC_CPU_BOOL;
}

static const char *const not_a_number = "is not a number", *const not_a_list =
                                                               "is not a list of integers";

/* An axis counted from the front. */
static const char *axis_from(const tc_cpu_value *v, int64_t rank, int64_t *out)
{
    if (v->kind != TC_CPU_INT)
        return "is not an axis";
    *out = v->i < 0 ? v->i + rank : v->i;
    bool scalar = rank == 0 && (v->i == 0 || v->i == -1);
    if (scalar)
        *out = 0;
    return scalar || (*out >= 0 && *out < rank) ? NULL : "is no axis of its operand";
}

static int32_t rank_of(const tc_cpu_site *s) { return s->n_in && s->in[0] ? s->in[0]->rank : 0; }

static tc_ints every_axis(const tc_cpu_site *s)
{
    int32_t n = rank_of(s);
    int64_t *v = tc_new_n(&s->ctx->arena, int64_t, (size_t)n);
    for (int32_t i = 0; i < n; i++)
        v[i] = i;
    return (tc_ints){n, v};
}

/* ---- fields ---------------------------------------------------------------------------------- */

static tc_cpu_value get_num(const void *at, tc_field_kind kind)
{
    return kind == TC_FIELD_f64 ? number(*(const double *)at) : whole(*(const int64_t *)at);
}
static tc_cpu_value get_int(const void *at, tc_field_kind kind)
{
    return kind >= TC_FIELD_CHOICES ? whole(*(const int *)at) : whole(*(const int64_t *)at);
}
static tc_cpu_value get_bool(const void *at, tc_field_kind kind)
{
    (void)kind;
    return yes(*(const bool *)at);
}
static tc_cpu_value get_real(const void *at, tc_field_kind kind)
{
    (void)kind;
    return real(*(const double *)at);
}
static tc_cpu_value get_bound(const void *at, tc_field_kind kind)
{
    double r = *(const double *)at;
    (void)kind;
    return isinf(r) ? nothing : number(r);
}
static tc_cpu_value get_ints(const void *at, tc_field_kind kind)
{
    (void)kind;
    return list(*(const tc_ints *)at);
}
/* A list of one, by itself. */
static tc_cpu_value get_one(const void *at, tc_field_kind kind)
{
    (void)kind;
    return whole(((const tc_ints *)at)->v[0]);
}

static const char *set_num(const tc_cpu_site *s, const tc_cpu_value *v, void *at,
                           tc_field_kind kind)
{
    double r;
    (void)s;
    if (!as_number(v, &r))
        return not_a_number;
    if (kind == TC_FIELD_f64)
        *(double *)at = r;
    else
        *(int64_t *)at = tc_trunc_i64(r);
    return NULL;
}
static const char *set_int(const tc_cpu_site *s, const tc_cpu_value *v, void *at,
                           tc_field_kind kind)
{
    (void)s;
    if (v->kind != TC_CPU_INT)
        return not_a_number;
    if (kind < TC_FIELD_CHOICES)
        *(int64_t *)at = v->i;
    else if (v->i < 0 || v->i >= tc_choices[kind - TC_FIELD_CHOICES].count)
        return "is not one of the choices";
    else
        memcpy(at, &(int){(int)v->i}, sizeof(int));
    return NULL;
}
static const char *set_bool(const tc_cpu_site *s, const tc_cpu_value *v, void *at,
                            tc_field_kind kind)
{
    (void)s;
    (void)kind;
    *(bool *)at = v->i != 0;
    return v->kind == TC_CPU_BOOL ? NULL : "is neither true nor false";
}
static const char *set_bound(const tc_cpu_site *s, const tc_cpu_value *v, void *at,
                             tc_field_kind kind)
{
    const tc_attr_clamp *a = s->attr;
    if (v->kind != TC_CPU_NULL)
        return set_num(s, v, at, kind);
    *(double *)at = at == &a->lo ? -INFINITY : INFINITY;
    return NULL;
}
static const char *set_ints(const tc_cpu_site *s, const tc_cpu_value *v, void *at,
                            tc_field_kind kind)
{
    (void)s;
    (void)kind;
    *(tc_ints *)at = v->ints;
    return v->kind == TC_CPU_INTS ? NULL : not_a_list;
}
static const char *set_axis(const tc_cpu_site *s, const tc_cpu_value *v, void *at,
                            tc_field_kind kind)
{
    (void)kind;
    return axis_from(v, rank_of(s), at);
}
static const char *set_new_axis(const tc_cpu_site *s, const tc_cpu_value *v, void *at,
                                tc_field_kind kind)
{
    (void)kind;
    return axis_from(v, rank_of(s) + 1, at);
}
static const char *set_axes(const tc_cpu_site *s, const tc_cpu_value *v, void *at,
                            tc_field_kind kind)
{
    (void)kind;
    if (v->kind == TC_CPU_NULL ||
        (v->kind == TC_CPU_INTS && v->ints.n == 0 && s->op != TC_OP_permute)) {
        *(tc_ints *)at = every_axis(s);
        return NULL;
    }
    tc_cpu_value one = *v;
    const int64_t *from = v->kind == TC_CPU_INT ? &one.i : v->ints.v;
    int32_t n = v->kind == TC_CPU_INT ? 1 : v->ints.n;
    if (v->kind != TC_CPU_INT && v->kind != TC_CPU_INTS)
        return not_a_list;
    int64_t *axis = tc_new_n(&s->ctx->arena, int64_t, (size_t)n);
    for (int32_t i = 0; i < n; i++) {
        tc_cpu_value each = whole(from[i]);
        const char *wrong = axis_from(&each, rank_of(s), &axis[i]);
        if (wrong)
            return wrong;
    }
    if (rank_of(s) == 0 && s->op != TC_OP_permute)
        n = 0;
    *(tc_ints *)at = (tc_ints){n, axis};
    return NULL;
}

static const struct {
    const char *word;
    tc_cpu_value (*get)(const void *at, tc_field_kind kind);
    const char *(*set)(const tc_cpu_site *s, const tc_cpu_value *v, void *at, tc_field_kind kind);
} fields[] = {
    {"int", get_int, set_int},       {"num", get_num, set_num},
    {"real", get_real, set_num},     {"bool", get_bool, set_bool},
    {"bound", get_bound, set_bound}, {"ints", get_ints, set_ints},
    {"axis", get_int, set_axis},     {"new_axis", get_int, set_new_axis},
    {"axes", get_ints, set_axes},    {"one_axis", get_one, set_axes},
    {"choice", get_int, set_int},
};

/* ---- arguments with a function of their own -------------------------------------------------- */

#define GET(name) static tc_cpu_value get_##name(const tc_cpu_site *s)
#define SET(name) static const char *set_##name(const tc_cpu_site *s, const tc_cpu_value *v)
#define IGNORE(name)                                                                               \
    SET(name)                                                                                      \
    {                                                                                              \
        (void)s;                                                                                   \
        (void)v;                                                                                   \
        return NULL;                                                                               \
    }

GET(gelu_form)
{
    return text(((const tc_attr_gelu *)s->attr)->form == TC_gelu_form_tanh ? "tanh" : "none");
}
SET(gelu_form)
{
    tc_attr_gelu *a = s->attr;
    if (v->kind != TC_CPU_TEXT)
        return "is not a text";
    a->form = tc_text_eq(v->text, "tanh") ? TC_gelu_form_tanh : TC_gelu_form_erf;
    return a->form || tc_text_eq(v->text, "none") ? NULL : "is neither none nor tanh";
}

GET(div_mode)
{
    static const char *const name[] = {NULL, "trunc", "floor"};
    const tc_attr_div *a = s->attr;
    return a->mode ? text(name[a->mode]) : nothing;
}
SET(div_mode)
{
    tc_attr_div *a = s->attr;
    if (v->kind == TC_CPU_NULL)
        a->mode = TC_div_mode_exact;
    else if (v->kind == TC_CPU_TEXT && tc_text_eq(v->text, "trunc"))
        a->mode = TC_div_mode_trunc;
    else if (v->kind == TC_CPU_TEXT && tc_text_eq(v->text, "floor"))
        a->mode = TC_div_mode_floor;
    else
        return "is neither trunc nor floor";
    return NULL;
}

GET(logit_eps)
{
    const tc_attr_logit *a = s->attr;
    return a->eps < 0 ? nothing : real(a->eps);
}
SET(logit_eps)
{
    tc_attr_logit *a = s->attr;
    a->eps = -1;
    return v->kind == TC_CPU_NULL || as_number(v, &a->eps) ? NULL : not_a_number;
}

/* The axes from the first to the last: the only order in memory that we have. */
GET(order) { return list(every_axis(s)); }
SET(order)
{
    (void)s;
    if (v->kind == TC_CPU_NULL)
        return NULL;
    for (int32_t i = 0; v->kind == TC_CPU_INTS && i < v->ints.n; i++)
        if (v->ints.v[i] != i)
            return "puts the axes in another order in memory, which is not supported";
    return v->kind == TC_CPU_INTS ? NULL : not_a_list;
}

SET(unbiased)
{
    ((tc_attr_var *)s->attr)->correction = v->i != 0;
    return v->kind == TC_CPU_BOOL ? NULL : "is neither true nor false";
}

/* One number per axis, for before and after. */
GET(conv_pad)
{
    const tc_attr_conv *a = s->attr;
    int64_t *pad = tc_new_n(&s->ctx->arena, int64_t, (size_t)a->stride.n);
    for (int i = 0; i < a->stride.n; i++)
        pad[i] = a->pad.v[2 * i];
    return list((tc_ints){a->stride.n, pad});
}
SET(conv_pad)
{
    tc_attr_conv *a = s->attr;
    if (v->kind != TC_CPU_INTS)
        return not_a_list;
    int64_t *pad = tc_new_n(&s->ctx->arena, int64_t, 2 * (size_t)v->ints.n);
    for (int i = 0; i < 2 * v->ints.n; i++)
        pad[i] = v->ints.v[i / 2];
    a->pad = (tc_ints){2 * v->ints.n, pad};
    return NULL;
}

GET(zeros)
{
    return list(tc_ints_fill(&s->ctx->arena, 0, ((const tc_attr_conv *)s->attr)->stride.n));
}
IGNORE(zeros)

/* max_pool and avg_pool: kernel and stride come first in both records. */
GET(stride) { return list(((const tc_attr_max_pool *)s->attr)->stride); }
SET(stride)
{
    tc_attr_max_pool *a = s->attr;
    a->stride = v->ints.n ? v->ints : a->kernel;
    return v->kind == TC_CPU_INTS ? NULL : not_a_list;
}

GET(divisor)
{
    const tc_attr_avg_pool *a = s->attr;
    return a->divisor ? whole(a->divisor) : nothing;
}
SET(divisor)
{
    ((tc_attr_avg_pool *)s->attr)->divisor = v->kind == TC_CPU_INT ? v->i : 0;
    return v->kind == TC_CPU_INT || v->kind == TC_CPU_NULL ? NULL : not_a_number;
}

/* Resampling is told the factors where the author gave them, else the size. */
GET(size)
{
    const tc_attr_upsample *a = s->attr;
    return a->scale.n ? nothing : list(a->size);
}
SET(size)
{
    tc_attr_upsample *a = s->attr;
    int64_t *size = tc_new_n(&s->ctx->arena, int64_t, 2);
    for (int i = 0; i < 2 && s->out[0]->rank == 4; i++)
        size[i] = s->out[0]->dim[2 + i];
    a->size = (tc_ints){2, size};
    return v->kind == TC_CPU_INTS || v->kind == TC_CPU_NULL ? NULL : not_a_list;
}
GET(scale)
{
    const tc_attr_upsample *a = s->attr;
    return a->scale.n ? (tc_cpu_value){.kind = TC_CPU_REALS, .reals = a->scale} : nothing;
}
SET(scale)
{
    ((tc_attr_upsample *)s->attr)->scale = v->reals;
    return v->kind == TC_CPU_REALS || v->kind == TC_CPU_NULL ? NULL : "is not a list of numbers";
}

GET(normalized)
{
    const tc_attr_layer_norm *a = s->attr;
    const tc_type *x = s->in[0];
    return list(tc_ints_copy(&s->ctx->arena, x->dim + (x->rank - a->n_axes), (int32_t)a->n_axes));
}
SET(normalized)
{
    ((tc_attr_layer_norm *)s->attr)->n_axes = v->ints.n;
    return v->kind == TC_CPU_INTS ? NULL : not_a_list;
}

static int64_t extent(const tc_type *t, int from, int to)
{
    int64_t n = 1;
    for (int i = from; i < to && i < t->rank; i++)
        n *= t->dim[i];
    return n;
}
GET(batch) { return whole(extent(s->in[0], 0, 1)); }
GET(channels) { return whole(extent(s->in[0], 1, 2)); }
GET(inner) { return whole(extent(s->in[0], 2, TC_MAX_RANK)); }
IGNORE(batch)
IGNORE(channels)
IGNORE(inner)

/* transpose_copy swaps two axes: the first sets the order up, the second does it. */
SET(swap_a)
{
    int64_t *order = tc_new_n(&s->ctx->arena, int64_t, TC_MAX_RANK + 1);
    const char *wrong = axis_from(v, rank_of(s), &order[TC_MAX_RANK]); /* kept for swap_b */
    for (int i = 0; i < rank_of(s); i++)
        order[i] = i;
    ((tc_attr_perm *)s->attr)->perm = (tc_ints){rank_of(s), order};
    return wrong;
}
SET(swap_b)
{
    int64_t b, *order = (int64_t *)(uintptr_t)((tc_attr_perm *)s->attr)->perm.v;
    const char *wrong = axis_from(v, rank_of(s), &b);
    if (!wrong && rank_of(s)) {
        int64_t a = order[TC_MAX_RANK];
        order[a] = b;
        order[b] = a;
    }
    return wrong;
}

/* Where a slice begins and ends, within its axis. */
static const char *within(const tc_cpu_site *s, const tc_cpu_value *v, int64_t axis,
                          int64_t missing, int64_t *out)
{
    int64_t n = axis < rank_of(s) ? s->in[0]->dim[axis] : 0;
    if (v->kind != TC_CPU_INT && v->kind != TC_CPU_NULL)
        return not_a_number;
    *out = v->kind == TC_CPU_NULL ? missing : v->i < 0 ? v->i + n : v->i;
    *out = tc_max_i64(0, tc_min_i64(n, *out));
    return NULL;
}
GET(start) { return whole(((const tc_attr_slice *)s->attr)->start); }
GET(end) { return whole(((const tc_attr_slice *)s->attr)->end); }
SET(start)
{
    tc_attr_slice *a = s->attr;
    return within(s, v, a->axis, 0, &a->start);
}
SET(end)
{
    tc_attr_slice *a = s->attr;
    const char *wrong = within(s, v, a->axis, INT64_MAX, &a->end);
    a->end = tc_max_i64(a->start, a->end);
    return wrong;
}
GET(index) { return whole(((const tc_attr_select *)s->attr)->index); }
SET(index)
{
    tc_attr_select *a = s->attr;
    return axis_from(v, a->axis < rank_of(s) ? s->in[0]->dim[a->axis] : 0, &a->index);
}

/* Before and after, from the last axis, as far as there is any. */
GET(pad)
{
    const tc_attr_pad *a = s->attr;
    int32_t axes = a->pad.n / 2, n = axes;
    while (n > 0 && !a->pad.v[2 * (axes - n)] && !a->pad.v[2 * (axes - n) + 1])
        n--;
    int64_t *pad = tc_new_n(&s->ctx->arena, int64_t, 2 * (size_t)n);
    for (int32_t i = 0; i < 2 * n; i++)
        pad[i] = a->pad.v[2 * (axes - 1 - i / 2) + i % 2];
    return list((tc_ints){2 * n, pad});
}
SET(pad)
{
    tc_attr_pad *a = s->attr;
    int32_t rank = rank_of(s);
    if (v->kind != TC_CPU_INTS || v->ints.n % 2 || v->ints.n > 2 * rank)
        return "is not a pair of integers for each of the last axes";
    int64_t *pad = tc_new_n(&s->ctx->arena, int64_t, 2 * (size_t)rank);
    for (int32_t i = 0; i < v->ints.n; i++)
        pad[2 * (rank - 1 - i / 2) + i % 2] = v->ints.v[i];
    a->pad = (tc_ints){2 * rank, pad};
    return NULL;
}

/* The kernels for one, two and three axes want all of them named. */
static tc_cpu_value pad_of(const tc_cpu_site *s, int axes)
{
    const tc_attr_pad *a = s->attr;
    int64_t *pad = tc_new_n(&s->ctx->arena, int64_t, 2 * (size_t)axes);
    for (int i = 0; i < 2 * axes; i++)
        pad[i] = a->pad.v[2 * (a->pad.n / 2 - 1 - i / 2) + i % 2];
    return list((tc_ints){2 * axes, pad});
}
GET(pad_1) { return pad_of(s, 1); }
GET(pad_2) { return pad_of(s, 2); }
GET(pad_3) { return pad_of(s, 3); }
static const char *set_pad_mode(const tc_cpu_site *s, const tc_cpu_value *v, tc_field_pad_mode mode)
{
    ((tc_attr_pad *)s->attr)->mode = mode;
    return set_pad(s, v);
}
SET(reflect) { return set_pad_mode(s, v, TC_pad_mode_reflect); }
SET(replicate) { return set_pad_mode(s, v, TC_pad_mode_replicate); }

SET(fill) { return as_number(v, &((tc_attr_full *)s->attr)->value) ? NULL : not_a_number; }

/* ScalarType of the codes: a quantize makes them, a dequantize reads them. */
GET(code_dtype)
{
    return whole(tc_dtypes[(s->op == TC_OP_quantize ? s->out[0] : s->in[0])->dtype].et);
}
SET(code_dtype)
{
    tc_attr_quantize *a = s->attr;
    if (s->op == TC_OP_quantize)
        a->dtype = s->out[0]->dtype;
    tc_dtype codes = (s->op == TC_OP_quantize ? s->out[0] : s->in[0])->dtype;
    return v->kind == TC_CPU_INT && v->i == tc_dtypes[codes].et ? NULL
                                                                : "is not the type of the codes";
}

/* ---- what follows from the types ------------------------------------------------------------- */

SET(dtype)
{
    tc_field_kind kind;
    (void)v;
    *(tc_dtype *)field_at(s, tc_str_of("dtype"), &kind) = s->out[0]->dtype;
    return NULL;
}
SET(shape)
{
    tc_field_kind kind;
    (void)v;
    *(tc_ints *)field_at(s, tc_str_of("shape"), &kind) =
        tc_ints_copy(&s->ctx->arena, s->out[0]->dim, s->out[0]->rank);
    return NULL;
}
SET(axes_all)
{
    (void)v;
    ((tc_attr_axes *)s->attr)->axes = every_axis(s);
    return NULL;
}
SET(whole)
{
    (void)v;
    ((tc_attr_quantize *)s->attr)->axis = -1;
    return NULL;
}
SET(ones)
{
    (void)v;
    ((tc_attr_full *)s->attr)->value = 1;
    return NULL;
}
SET(floor)
{
    (void)v;
    ((tc_attr_div *)s->attr)->mode = TC_div_mode_floor;
    return NULL;
}
/* What is there already counts too. */
SET(adds)
{
    tc_attr_scatter *a = s->attr;
    (void)v;
    a->combine = TC_combine_add;
    a->include_self = true;
    return NULL;
}
SET(unit)
{
    (void)v;
    ((tc_attr_arange *)s->attr)->step = 1;
    return NULL;
}
SET(count)
{
    (void)v;
    ((tc_attr_arange *)s->attr)->count = s->out[0]->rank == 1 ? s->out[0]->dim[0] : 0;
    return NULL;
}
SET(swap)
{
    static const int64_t both[] = {1, 0};
    (void)v;
    ((tc_attr_perm *)s->attr)->perm = rank_of(s) == 2 ? (tc_ints){2, both} : every_axis(s);
    return NULL;
}
SET(sizes)
{
    tc_attr_split *a = s->attr;
    int64_t *size = tc_new_n(&s->ctx->arena, int64_t, (size_t)s->n_out);
    (void)v;
    for (int i = 0; i < s->n_out; i++)
        size[i] = a->axis < s->out[i]->rank ? s->out[i]->dim[a->axis] : 0;
    a->sizes = (tc_ints){s->n_out, size};
    return NULL;
}

static const struct {
    const char *word;
    tc_cpu_value (*get)(const tc_cpu_site *s); /* NULL: only rows that are never written have it */
    const char *(*set)(const tc_cpu_site *s, const tc_cpu_value *v);
} specials[] = {
#define BOTH(name)                                                                                 \
    {                                                                                              \
        "@" #name, get_##name, set_##name                                                          \
    }
    BOTH(gelu_form),
    BOTH(div_mode),
    BOTH(logit_eps),
    BOTH(order),
    BOTH(conv_pad),
    BOTH(zeros),
    BOTH(stride),
    BOTH(divisor),
    BOTH(size),
    BOTH(scale),
    BOTH(normalized),
    BOTH(batch),
    BOTH(channels),
    BOTH(inner),
    BOTH(start),
    BOTH(end),
    BOTH(index),
    BOTH(pad),
    BOTH(code_dtype),
    {"@reflect_1", get_pad_1, set_reflect},
    {"@replicate_1", get_pad_1, set_replicate},
    {"@reflect_2", get_pad_2, set_reflect},
    {"@replicate_2", get_pad_2, set_replicate},
    {"@reflect_3", get_pad_3, set_reflect},
    {"@replicate_3", get_pad_3, set_replicate},
    {"@unbiased", NULL, set_unbiased},
    {"@swap_a", NULL, set_swap_a},
    {"@swap_b", NULL, set_swap_b},
    {"@fill", NULL, set_fill},
    {"+dtype", NULL, set_dtype},
    {"+shape", NULL, set_shape},
    {"+axes", NULL, set_axes_all},
    {"+ones", NULL, set_ones},
    {"+whole", NULL, set_whole},
    {"+swap", NULL, set_swap},
    {"+sizes", NULL, set_sizes},
    {"+floor", NULL, set_floor},
    {"+adds", NULL, set_adds},
    {"+unit", NULL, set_unit},
    {"+count", NULL, set_count},
};

/* ---- any argument ---------------------------------------------------------------------------- */

/* "true", "null", "0.1", "-1". */
static tc_cpu_value literal(tc_str word)
{
    int64_t i;
    double r;
    if (tc_str_is(word, "true") || tc_str_is(word, "false"))
        return yes(word.p[0] == 't');
    if (tc_text_to_i64(word, &i))
        return whole(i);
    return tc_text_to_f64(word, &r) ? real(r) : nothing;
}

tc_cpu_value tc_cpu_get(const tc_cpu_site *site, const tc_cpu_arg *arg)
{
    for (size_t i = 0; i < TC_COUNT(specials); i++)
        if (tc_str_is(arg->word, specials[i].word))
            return specials[i].get(site);
    for (size_t i = 0; i < TC_COUNT(fields); i++)
        if (tc_str_is(arg->word, fields[i].word)) {
            tc_field_kind kind;
            const void *at = field_at(site, arg->field, &kind);
            return fields[i].get(at, kind);
        }
    return literal(arg->word);
}

const char *tc_cpu_set(const tc_cpu_site *site, const tc_cpu_arg *arg, const tc_cpu_value *value)
{
    for (size_t i = 0; i < TC_COUNT(specials); i++)
        if (tc_str_is(arg->word, specials[i].word))
            return specials[i].set(site, value);
    for (size_t i = 0; i < TC_COUNT(fields); i++)
        if (tc_str_is(arg->word, fields[i].word)) {
            tc_field_kind kind;
            void *at = field_at(site, arg->field, &kind);
            return fields[i].set(site, value, at, kind);
        }
    tc_cpu_value must = literal(arg->word);
    if (must.kind == TC_CPU_BOOL && (value->kind != TC_CPU_BOOL || value->i != must.i))
        return "is set otherwise than we know how to run";
    return NULL;
}

const tc_type *tc_cpu_more(const tc_cpu_site *site, const tc_cpu_arg *arg)
{
    const tc_type *x = site->in[0];
    tc_type t = {.dtype = x->dtype, .rank = 1};
    if (tc_str_is(arg->field, "places")) { /* of a maximum in its plane */
        if (site->n_out > 1)
            return NULL;
        t = *site->out[0];
        t.dtype = TC_i64;
        t.quant = NULL;
    } else if (tc_str_is(arg->field, "rows")) { /* a number for each row that is normalized */
        t = *x;
        int32_t n = (int32_t)((const tc_attr_layer_norm *)site->attr)->n_axes;
        for (int32_t i = x->rank - n; i < x->rank; i++)
            t.dim[i] = 1;
    } else if (tc_str_is(arg->field, "groups")) {
        t.rank = 2;
        t.dim[0] = x->dim[0];
        t.dim[1] = ((const tc_attr_group_norm *)site->attr)->groups;
    }
    return tc_type_intern(site->ctx, &t);
}
