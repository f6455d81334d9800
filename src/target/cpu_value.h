/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_value.h -- values of a kernel's arguments, made and looked at. */
#ifndef TC_CPU_VALUE_H
#define TC_CPU_VALUE_H

#include <math.h>

#include "cpu.h"

static inline tc_cpu_value ti_arg_int(int64_t i)
{
    return (tc_cpu_value){.kind = TC_CPU_INT, .i = i};
}
static inline tc_cpu_value ti_arg_bool(bool b)
{
    return (tc_cpu_value){.kind = TC_CPU_BOOL, .i = b};
}
static inline tc_cpu_value ti_arg_real(double r)
{
    return (tc_cpu_value){.kind = TC_CPU_REAL, .r = r};
}
static inline tc_cpu_value ti_arg_text(const char *t)
{
    return (tc_cpu_value){.kind = TC_CPU_TEXT, .text = t};
}
static inline tc_cpu_value ti_arg_ints(tc_ints v)
{
    return (tc_cpu_value){.kind = TC_CPU_INTS, .ints = v};
}
#define TC_ARG_NONE ((tc_cpu_value){.kind = TC_CPU_NULL})

/* A Scalar: whole numbers as Int, as the author of a model writes them. */
static inline tc_cpu_value ti_arg_number(double r)
{
    return r == floor(r) && fabs(r) < 0x1p53 && !(r == 0 && signbit(r)) ? ti_arg_int((int64_t)r)
                                                                        : ti_arg_real(r);
}

static inline bool ti_arg_is_number(const tc_cpu_value *v, double *out)
{
    *out = v->kind == TC_CPU_REAL ? v->r : (double)v->i;
    return v->kind == TC_CPU_REAL || v->kind == TC_CPU_INT || v->kind == TC_CPU_BOOL;
}

#define TC_NOT_A_NUMBER "is not a number"
#define TC_NOT_A_LIST "is not a list of integers"

/* An axis counted from the front. */
static inline const char *ti_arg_axis(const tc_cpu_value *v, int64_t rank, int64_t *out)
{
    if (v->kind != TC_CPU_INT)
        return "is not an axis";
    *out = v->i < 0 ? v->i + rank : v->i;
    bool scalar = rank == 0 && (v->i == 0 || v->i == -1);
    if (scalar)
        *out = 0;
    return scalar || (*out >= 0 && *out < rank) ? NULL : "is not an axis of its operand";
}

static inline int32_t ti_cpu_rank(const tc_cpu_site *s)
{
    return s->n_in && s->in[0] ? s->in[0]->rank : 0;
}

static inline tc_ints ti_cpu_every_axis(const tc_cpu_site *s)
{
    int32_t n = ti_cpu_rank(s);
    int64_t *v = tc_new_n(&s->ctx->arena, int64_t, (size_t)n);
    for (int32_t i = 0; i < n; i++)
        v[i] = i;
    return (tc_ints){n, v};
}

/* The attribute that a row of cpu.def names (cpu_field.c). */
void *ti_cpu_field_at(const tc_cpu_site *s, tc_str name, tc_field_kind *kind);

/* Arguments that are a field of the attributes (cpu_field.c) or have a function of their own
 * (cpu_special.c): false when this one is not.  *wrong: what a value that is set has wrong, or
 * NULL. */
bool ti_cpu_get_field(const tc_cpu_site *s, const tc_cpu_arg *arg, tc_cpu_value *out);
bool ti_cpu_set_field(const tc_cpu_site *s, const tc_cpu_arg *arg, const tc_cpu_value *v,
                      const char **wrong);
bool ti_cpu_get_special(const tc_cpu_site *s, const tc_cpu_arg *arg, tc_cpu_value *out);
bool ti_cpu_set_special(const tc_cpu_site *s, const tc_cpu_arg *arg, const tc_cpu_value *v,
                        const char **wrong);

#endif
