/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_special.c -- arguments of a kernel that are computed, from attributes or from types. */
#include "cpu_value.h"

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
    const tc_attr_gelu *a = s->attr;
    return ti_arg_text(a->form == TC_gelu_form_tanh ? "tanh" : "none");
}
SET(gelu_form)
{
    tc_attr_gelu *a = s->attr;
    if (v->kind != TC_CPU_TEXT)
        return "is not a text";
    a->form = ti_text_eq(v->text, "tanh") ? TC_gelu_form_tanh : TC_gelu_form_erf;
    return a->form || ti_text_eq(v->text, "none") ? NULL : "is neither none nor tanh";
}

GET(div_mode)
{
    static const char *const name[] = {NULL, "trunc", "floor"};
    const tc_attr_div *a = s->attr;
    return a->mode ? ti_arg_text(name[a->mode]) : TC_ARG_NONE;
}
SET(div_mode)
{
    tc_attr_div *a = s->attr;
    if (v->kind == TC_CPU_NULL)
        a->mode = TC_div_mode_exact;
    else if (v->kind == TC_CPU_TEXT && ti_text_eq(v->text, "trunc"))
        a->mode = TC_div_mode_trunc;
    else if (v->kind == TC_CPU_TEXT && ti_text_eq(v->text, "floor"))
        a->mode = TC_div_mode_floor;
    else
        return "is neither trunc nor floor";
    return NULL;
}

GET(logit_eps)
{
    const tc_attr_logit *a = s->attr;
    return a->eps < 0 ? TC_ARG_NONE : ti_arg_real(a->eps);
}
SET(logit_eps)
{
    tc_attr_logit *a = s->attr;
    a->eps = -1;
    return v->kind == TC_CPU_NULL || ti_arg_is_number(v, &a->eps) ? NULL : TC_NOT_A_NUMBER;
}

/* The axes from the first to the last: the only order in memory that we have. */
GET(order) { return ti_arg_ints(ti_cpu_every_axis(s)); }
SET(order)
{
    (void)s;
    if (v->kind == TC_CPU_NULL)
        return NULL;
    for (int32_t i = 0; v->kind == TC_CPU_INTS && i < v->ints.n; i++)
        if (v->ints.v[i] != i)
            return "puts the axes in another order in memory, which is not supported";
    return v->kind == TC_CPU_INTS ? NULL : TC_NOT_A_LIST;
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
    return ti_arg_ints((tc_ints){a->stride.n, pad});
}
SET(conv_pad)
{
    tc_attr_conv *a = s->attr;
    if (v->kind != TC_CPU_INTS)
        return TC_NOT_A_LIST;
    int64_t *pad = tc_new_n(&s->ctx->arena, int64_t, 2 * (size_t)v->ints.n);
    for (int i = 0; i < 2 * v->ints.n; i++)
        pad[i] = v->ints.v[i / 2];
    a->pad = (tc_ints){2 * v->ints.n, pad};
    return NULL;
}

GET(zeros)
{
    return ti_arg_ints(ti_ints_fill(&s->ctx->arena, 0, ((const tc_attr_conv *)s->attr)->stride.n));
}
IGNORE(zeros)

/* max_pool and avg_pool: kernel and stride come first in both records. */
GET(stride) { return ti_arg_ints(((const tc_attr_max_pool *)s->attr)->stride); }
SET(stride)
{
    tc_attr_max_pool *a = s->attr;
    a->stride = v->ints.n ? v->ints : a->kernel;
    return v->kind == TC_CPU_INTS ? NULL : TC_NOT_A_LIST;
}

GET(divisor)
{
    const tc_attr_avg_pool *a = s->attr;
    return a->divisor ? ti_arg_int(a->divisor) : TC_ARG_NONE;
}
SET(divisor)
{
    ((tc_attr_avg_pool *)s->attr)->divisor = v->kind == TC_CPU_INT ? v->i : 0;
    return v->kind == TC_CPU_INT || v->kind == TC_CPU_NULL ? NULL : TC_NOT_A_NUMBER;
}

/* Resampling is given the factors where the author gave them, else the size. */
GET(size)
{
    const tc_attr_upsample *a = s->attr;
    return a->scale.n ? TC_ARG_NONE : ti_arg_ints(a->size);
}
SET(size)
{
    tc_attr_upsample *a = s->attr;
    int64_t *size = tc_new_n(&s->ctx->arena, int64_t, 2);
    for (int i = 0; i < 2 && s->out[0]->rank == 4; i++)
        size[i] = s->out[0]->dim[2 + i];
    a->size = (tc_ints){2, size};
    return v->kind == TC_CPU_INTS || v->kind == TC_CPU_NULL ? NULL : TC_NOT_A_LIST;
}
GET(scale)
{
    const tc_attr_upsample *a = s->attr;
    return a->scale.n ? (tc_cpu_value){.kind = TC_CPU_REALS, .reals = a->scale} : TC_ARG_NONE;
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
    const int64_t *last = x->dim + (x->rank - a->n_axes);
    return ti_arg_ints(ti_ints_copy(&s->ctx->arena, last, (int32_t)a->n_axes));
}
SET(normalized)
{
    ((tc_attr_layer_norm *)s->attr)->n_axes = v->ints.n;
    return v->kind == TC_CPU_INTS ? NULL : TC_NOT_A_LIST;
}

static int64_t extent(const tc_type *t, int from, int to)
{
    int64_t n = 1;
    for (int i = from; i < to && i < t->rank; i++)
        n *= t->dim[i];
    return n;
}
GET(batch) { return ti_arg_int(extent(s->in[0], 0, 1)); }
GET(channels) { return ti_arg_int(extent(s->in[0], 1, 2)); }
GET(inner) { return ti_arg_int(extent(s->in[0], 2, TC_MAX_RANK)); }
IGNORE(batch)
IGNORE(channels)
IGNORE(inner)

/* transpose_copy swaps two axes: the first sets the order up, the second does it. */
SET(swap_a)
{
    int64_t *order = tc_new_n(&s->ctx->arena, int64_t, TC_MAX_RANK + 1);
    const char *wrong = ti_arg_axis(v, ti_cpu_rank(s), &order[TC_MAX_RANK]); /* kept for swap_b */
    for (int i = 0; i < ti_cpu_rank(s); i++)
        order[i] = i;
    ((tc_attr_perm *)s->attr)->perm = (tc_ints){ti_cpu_rank(s), order};
    return wrong;
}
SET(swap_b)
{
    int64_t b, *order = (int64_t *)(uintptr_t)((tc_attr_perm *)s->attr)->perm.v;
    const char *wrong = ti_arg_axis(v, ti_cpu_rank(s), &b);
    if (!wrong && ti_cpu_rank(s)) {
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
    int64_t n = axis < ti_cpu_rank(s) ? s->in[0]->dim[axis] : 0;
    if (v->kind != TC_CPU_INT && v->kind != TC_CPU_NULL)
        return TC_NOT_A_NUMBER;
    *out = v->kind == TC_CPU_NULL ? missing : v->i < 0 ? v->i + n : v->i;
    *out = ti_max_i64(0, ti_min_i64(n, *out));
    return NULL;
}
GET(start) { return ti_arg_int(((const tc_attr_slice *)s->attr)->start); }
GET(end) { return ti_arg_int(((const tc_attr_slice *)s->attr)->end); }
SET(start)
{
    tc_attr_slice *a = s->attr;
    return within(s, v, a->axis, 0, &a->start);
}
SET(end)
{
    tc_attr_slice *a = s->attr;
    const char *wrong = within(s, v, a->axis, INT64_MAX, &a->end);
    a->end = ti_max_i64(a->start, a->end);
    return wrong;
}
GET(index) { return ti_arg_int(((const tc_attr_select *)s->attr)->index); }
SET(index)
{
    tc_attr_select *a = s->attr;
    return ti_arg_axis(v, a->axis < ti_cpu_rank(s) ? s->in[0]->dim[a->axis] : 0, &a->index);
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
    return ti_arg_ints((tc_ints){2 * n, pad});
}
SET(pad)
{
    tc_attr_pad *a = s->attr;
    int32_t rank = ti_cpu_rank(s);
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
    return ti_arg_ints((tc_ints){2 * axes, pad});
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

SET(fill)
{
    tc_attr_full *a = s->attr;
    return ti_arg_is_number(v, &a->value) ? NULL : TC_NOT_A_NUMBER;
}

/* ScalarType of the codes: a quantize makes them, a dequantize reads them. */
GET(code_dtype)
{
    return ti_arg_int(tc_dtypes[(s->op == TC_OP_quantize ? s->out[0] : s->in[0])->dtype].et);
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
    *(tc_dtype *)ti_cpu_field_at(s, ti_str_of("dtype"), &kind) = s->out[0]->dtype;
    return NULL;
}
SET(shape)
{
    tc_field_kind kind;
    (void)v;
    *(tc_ints *)ti_cpu_field_at(s, ti_str_of("shape"), &kind) =
        ti_ints_copy(&s->ctx->arena, s->out[0]->dim, s->out[0]->rank);
    return NULL;
}
SET(axes_all)
{
    (void)v;
    ((tc_attr_axes *)s->attr)->axes = ti_cpu_every_axis(s);
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
    tc_attr_perm *a = s->attr;
    a->perm = ti_cpu_rank(s) == 2 ? (tc_ints){2, both} : ti_cpu_every_axis(s);
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

bool ti_cpu_get_special(const tc_cpu_site *s, const tc_cpu_arg *arg, tc_cpu_value *out)
{
    for (size_t i = 0; i < TC_COUNT(specials); i++)
        if (ti_str_is(arg->word, specials[i].word)) {
            *out = specials[i].get(s);
            return true;
        }
    return false;
}

bool ti_cpu_set_special(const tc_cpu_site *s, const tc_cpu_arg *arg, const tc_cpu_value *v,
                        const char **wrong)
{
    for (size_t i = 0; i < TC_COUNT(specials); i++)
        if (ti_str_is(arg->word, specials[i].word)) {
            *wrong = specials[i].set(s, v);
            return true;
        }
    return false;
}
