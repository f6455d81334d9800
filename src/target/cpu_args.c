/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_args.c -- a kernel's arguments from an operator's attributes, and back. */
#include "cpu_value.h"

tc_cpu_site ti_cpu_site_of(tc_ctx *ctx, const tc_graph *g, const tc_node *node)
{
    const tc_type **type =
        tc_new_n(&ctx->scratch, const tc_type *, (size_t)(node->n_in + node->n_out));
    for (int i = 0; i < node->n_in; i++)
        type[i] = ti_type_of(g, node->in[i]);
    for (int i = 0; i < node->n_out; i++)
        type[node->n_in + i] = ti_type_of(g, node->out[i]);
    return (tc_cpu_site){ctx,
                         node->op,
                         node->n_in,
                         node->n_out,
                         type,
                         type + node->n_in,
                         (void *)(uintptr_t)node->attr};
}
/* "true", "null", "0.1", "-1". */
static tc_cpu_value literal(tc_str word)
{
    int64_t i;
    double r;
    if (ti_str_is(word, "true") || ti_str_is(word, "false"))
        return ti_arg_bool(word.p[0] == 't');
    if (ti_text_to_i64(word, &i))
        return ti_arg_int(i);
    return ti_text_to_f64(word, &r) ? ti_arg_real(r) : TC_ARG_NONE;
}

tc_cpu_value ti_cpu_get(const tc_cpu_site *site, const tc_cpu_arg *arg)
{
    tc_cpu_value v;
    bool found = ti_cpu_get_special(site, arg, &v) || ti_cpu_get_field(site, arg, &v);
    return found ? v : literal(arg->word);
}

const char *ti_cpu_set(const tc_cpu_site *site, const tc_cpu_arg *arg, const tc_cpu_value *value)
{
    const char *wrong = NULL;
    if (ti_cpu_set_special(site, arg, value, &wrong) || ti_cpu_set_field(site, arg, value, &wrong))
        return wrong;
    tc_cpu_value must = literal(arg->word);
    if (must.kind == TC_CPU_BOOL && (value->kind != TC_CPU_BOOL || value->i != must.i))
        return "has a setting that is not supported here";
    return NULL;
}

const tc_type *ti_cpu_more(const tc_cpu_site *site, const tc_cpu_arg *arg)
{
    const tc_type *x = site->in[0];
    tc_type t = {.dtype = x->dtype, .rank = 1};
    if (ti_str_is(arg->field, "places")) { /* of a maximum in its plane */
        if (site->n_out > 1)
            return NULL;
        t = *site->out[0];
        t.dtype = TC_i64;
        t.quant = NULL;
    } else if (ti_str_is(arg->field, "rows")) { /* a number for each row that is normalized */
        t = *x;
        int32_t n = (int32_t)((const tc_attr_layer_norm *)site->attr)->n_axes;
        for (int32_t i = x->rank - n; i < x->rank; i++)
            t.dim[i] = 1;
    } else if (ti_str_is(arg->field, "groups")) {
        t.rank = 2;
        t.dim[0] = x->dim[0];
        t.dim[1] = ((const tc_attr_group_norm *)site->attr)->groups;
    }
    return ti_type_intern(site->ctx, &t);
}
