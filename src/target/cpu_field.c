/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_field.c -- arguments of a kernel that are a field of the operator's attributes. */
#include "cpu_value.h"

#include "../num/load.h"

void *ti_cpu_field_at(const tc_cpu_site *s, tc_str name, tc_field_kind *kind)
{
    const tc_attr_info *info = &tc_attrs[tc_ops[s->op].attr];
    for (int i = 0; i < info->n_field; i++)
        if (ti_str_is(name, info->field[i].name)) {
            *kind = info->field[i].kind;
            return (char *)s->attr + info->field[i].at;
        }
    assert(0 && "a row of cpu.def names a field that the operator does not have");
    return NULL;
}
static tc_cpu_value get_num(const void *at, tc_field_kind kind)
{
    return kind == TC_FIELD_f64 ? ti_arg_number(*(const double *)at)
                                : ti_arg_int(*(const int64_t *)at);
}
static tc_cpu_value get_int(const void *at, tc_field_kind kind)
{
    return ti_arg_int(kind >= TC_FIELD_CHOICES ? *(const int *)at : *(const int64_t *)at);
}
static tc_cpu_value get_bool(const void *at, tc_field_kind kind)
{
    (void)kind;
    return ti_arg_bool(*(const bool *)at);
}
static tc_cpu_value get_real(const void *at, tc_field_kind kind)
{
    (void)kind;
    return ti_arg_real(*(const double *)at);
}
static tc_cpu_value get_bound(const void *at, tc_field_kind kind)
{
    double r = *(const double *)at;
    (void)kind;
    return isinf(r) ? TC_ARG_NONE : ti_arg_number(r);
}
static tc_cpu_value get_ints(const void *at, tc_field_kind kind)
{
    (void)kind;
    return ti_arg_ints(*(const tc_ints *)at);
}
/* A list of one, by itself. */
static tc_cpu_value get_one(const void *at, tc_field_kind kind)
{
    (void)kind;
    return ti_arg_int(((const tc_ints *)at)->v[0]);
}

static const char *set_num(const tc_cpu_site *s, const tc_cpu_value *v, void *at,
                           tc_field_kind kind)
{
    double r;
    (void)s;
    if (!ti_arg_is_number(v, &r))
        return TC_NOT_A_NUMBER;
    if (kind == TC_FIELD_f64)
        *(double *)at = r;
    else
        *(int64_t *)at = ti_trunc_i64(r);
    return NULL;
}
static const char *set_int(const tc_cpu_site *s, const tc_cpu_value *v, void *at,
                           tc_field_kind kind)
{
    (void)s;
    if (v->kind != TC_CPU_INT)
        return TC_NOT_A_NUMBER;
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
    return v->kind == TC_CPU_INTS ? NULL : TC_NOT_A_LIST;
}
static const char *set_axis(const tc_cpu_site *s, const tc_cpu_value *v, void *at,
                            tc_field_kind kind)
{
    (void)kind;
    return ti_arg_axis(v, ti_cpu_rank(s), at);
}
static const char *set_new_axis(const tc_cpu_site *s, const tc_cpu_value *v, void *at,
                                tc_field_kind kind)
{
    (void)kind;
    return ti_arg_axis(v, ti_cpu_rank(s) + 1, at);
}
static const char *set_axes(const tc_cpu_site *s, const tc_cpu_value *v, void *at,
                            tc_field_kind kind)
{
    (void)kind;
    if (v->kind == TC_CPU_NULL ||
        (v->kind == TC_CPU_INTS && v->ints.n == 0 && s->op != TC_OP_permute)) {
        *(tc_ints *)at = ti_cpu_every_axis(s);
        return NULL;
    }
    tc_cpu_value one = *v;
    const int64_t *from = v->kind == TC_CPU_INT ? &one.i : v->ints.v;
    int32_t n = v->kind == TC_CPU_INT ? 1 : v->ints.n;
    if (v->kind != TC_CPU_INT && v->kind != TC_CPU_INTS)
        return TC_NOT_A_LIST;
    int64_t *axis = tc_new_n(&s->ctx->arena, int64_t, (size_t)n);
    for (int32_t i = 0; i < n; i++) {
        tc_cpu_value each = ti_arg_int(from[i]);
        const char *wrong = ti_arg_axis(&each, ti_cpu_rank(s), &axis[i]);
        if (wrong)
            return wrong;
    }
    if (ti_cpu_rank(s) == 0 && s->op != TC_OP_permute)
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

bool ti_cpu_get_field(const tc_cpu_site *s, const tc_cpu_arg *arg, tc_cpu_value *out)
{
    for (size_t i = 0; i < TC_COUNT(fields); i++)
        if (ti_str_is(arg->word, fields[i].word)) {
            tc_field_kind kind;
            const void *at = ti_cpu_field_at(s, arg->field, &kind);
            *out = fields[i].get(at, kind);
            return true;
        }
    return false;
}

bool ti_cpu_set_field(const tc_cpu_site *s, const tc_cpu_arg *arg, const tc_cpu_value *v,
                      const char **wrong)
{
    for (size_t i = 0; i < TC_COUNT(fields); i++)
        if (ti_str_is(arg->word, fields[i].word)) {
            tc_field_kind kind;
            void *at = ti_cpu_field_at(s, arg->field, &kind);
            *wrong = fields[i].set(s, v, at, kind);
            return true;
        }
    return false;
}
