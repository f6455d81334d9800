/* SPDX-License-Identifier: Apache-2.0 */
/* read_fixed.c -- inputs that the caller fixes with --set INPUT=VALUE: they are constants of the
 * program, and what they decide is decided while it is read. */
#include "read_fixed.h"

#include <math.h>

#include "../num/load.h"
#include "data.h"
#include "read.h"

bool ti_fixed_has(tc_ctx *ctx, const char *input)
{
    return ti_set_given_for(ctx, input) != NULL;
}

/* ---- values ---- */

static tc_status no_value(tc_ctx *ctx, const tc_set_given *s, const tc_type *type)
{
    return ti_usage(ctx,
                    "--set %s=%s: the input is %s; expected a number, true, false or a .npy",
                    s->input, s->value, ti_type_text(&ctx->arena, type));
}

static tc_status from_file(tc_ctx *ctx, const tc_set_given *s, tc_tensor *out)
{
    tc_npy *array;
    size_t n;
    TC_TRY(ti_npy_open(ctx, s->value, &array, &n));
    const tc_type *t = out->type;
    bool fits = n == 1 && array->rank == t->rank;
    for (int i = 0; fits && i < t->rank; i++)
        fits = array->dim[i] == t->dim[i];
    if (!fits && !(n == 1 && array->count == 1 && tc_type_count(t) == 1))
        return ti_usage(ctx, "--set %s=%s: the array is %s, the input %s", s->input, s->value,
                        ti_dims_text(&ctx->arena, array->rank, array->dim),
                        ti_type_text(&ctx->arena, t));
    return ti_data_convert(ctx, array, 0, out);
}

tc_status ti_fixed_i64(tc_ctx *ctx, const char *input, int64_t *out)
{
    tc_set_given *s = ti_set_given_for(ctx, input);
    if (!s || !ti_text_to_i64(ti_str_of(s->value), out))
        return ti_usage(ctx, "--set %s=%s: the input is an integer", input,
                        s ? s->value : "");
    s->used = true;
    return TC_OK;
}

/* Every element is the number; an infinity that the word does not say is none that was meant. */
static tc_status fill(tc_ctx *ctx, const tc_set_given *s, tc_tensor out, const int64_t *whole,
                      double real)
{
    for (int64_t i = 0; i < tc_type_count(out.type); i++) {
        if (whole)
            ti_store_i64(out, i, *whole);
        else
            ti_store_f64(out, i, real);
        if (ti_is_float(out.type->dtype) && isinf(ti_load_f64(out, i)) &&
            !strpbrk(s->value, "iI"))
            return ti_usage(ctx, "--set %s=%s: the number is past the largest %s", s->input,
                            s->value, tc_dtypes[out.type->dtype].name);
    }
    return TC_OK;
}

tc_status ti_fixed_value(tc_ctx *ctx, const char *input, const tc_type *type, tc_tensor *out)
{
    enum { MOST = 1 << 20 };
    tc_set_given *s = ti_set_given_for(ctx, input);
    *out = (tc_tensor){type, NULL};
    if (!s)
        return TC_OK;
    s->used = true;
    if (type->quant || type->dtype == TC_c64 || tc_type_count(type) > MOST)
        return no_value(ctx, s, type);
    *out = ti_tensor_new(&ctx->arena, type);
    if (ti_text_ends(s->value, ".npy"))
        return from_file(ctx, s, out);
    bool yes = ti_text_eq(s->value, "true"), no = ti_text_eq(s->value, "false");
    int64_t whole = yes;
    double real = yes;
    bool is_whole = yes || no || ti_text_to_i64(ti_str_of(s->value), &whole);
    bool good = is_whole;
    if (!good && ti_is_float(type->dtype))
        good = ti_text_to_f64(ti_str_of(s->value), &real);
    if (type->dtype == TC_bool)
        good = is_whole && (whole == 0 || whole == 1);
    else if (ti_is_int(type->dtype))
        good = is_whole && !yes && !no && whole >= ti_dtype_min(type->dtype) &&
               whole <= ti_dtype_max(type->dtype);
    else
        good = good && !yes && !no && !isnan(real);
    if (!good)
        return no_value(ctx, s, type);
    return fill(ctx, s, *out, is_whole ? &whole : NULL, real);
}

/* ---- programs that have been read ---- */

static const char *name_of(const tc_module *m, const tc_graph *g, size_t i)
{
    for (size_t k = 0; k < m->signature.n_in; k++)
        if (m->signature.in[k].val == g->in[i] && m->signature.in[k].name)
            return m->signature.in[k].name;
    return g->val[g->in[i]]->name;
}

static void put_instead(tc_graph *g, tc_val old, tc_val now)
{
    ti_graph_read_instead(g, old, now);
    for (size_t k = 0; k < g->n_mutation; k++)
        if (g->mutation[k].after == old)
            g->mutation[k].after = now;
    tc_module *m = g->module;
    for (size_t k = 0; k < m->signature.n_out; k++)
        if (m->signature.out[k].val == old)
            m->signature.out[k].val = now;
}

static void drop_input(tc_module *m, tc_graph *g, size_t i)
{
    size_t k = 0;
    while (k < m->signature.n_in && m->signature.in[k].val != g->in[i])
        k++;
    if (k < m->signature.n_in) {
        memmove(&m->signature.in[k], &m->signature.in[k + 1], (m->signature.n_in - k - 1) * sizeof *m->signature.in);
        m->signature.n_in--;
    }
    if (m->origin.fixed) {
        tc_tensor *left = ti_arena_copy(&m->ctx->arena, m->origin.fixed, g->n_in * sizeof *left);
        memmove(&left[i], &left[i + 1], (g->n_in - i - 1) * sizeof *left);
        m->origin.fixed = left;
    }
    memmove(&g->in[i], &g->in[i + 1], (g->n_in - i - 1) * sizeof *g->in);
    g->n_in--;
    for (size_t j = 0; j < g->n_in; j++)
        g->val[g->in[j]]->index = (int)j;
    m->signature.in_tree = NULL;
}

/* Input i is a constant from now on. */
static tc_status fix_input(tc_module *m, tc_graph *g, size_t i, const char *name)
{
    static const tc_loc nowhere;
    tc_tensor t;
    tc_val old = g->in[i];
    TC_TRY(ti_fixed_value(m->ctx, name, ti_type_of(g, old), &t));
    tc_val now = ti_graph_const(g, t.type, t.data, name, &nowhere);
    tc_node *made = g->node[g->n_node - 1];
    memmove(g->node + 1, g->node, (g->n_node - 1) * sizeof *g->node);
    g->node[0] = made;
    put_instead(g, old, now);
    drop_input(m, g, i);
    return TC_OK;
}

tc_status ti_fixed_rest(tc_module *m)
{
    tc_ctx *ctx = m->ctx;
    const tc_read_options *o = ti_reading(ctx);
    tc_graph *g = ti_main(m);
    for (size_t i = 0; o->n_set && i < g->n_in;) {
        const char *name = name_of(m, g, i);
        if (name && ti_fixed_has(ctx, name))
            TC_TRY(fix_input(m, g, i, name));
        else
            i++;
    }
    for (size_t k = 0; k < o->n_set; k++) {
        if (o->set[k].used || ti_set_given_for(ctx, o->set[k].input)->used)
            continue;
        tc_buf names;
        ti_buf_init(&names, &ctx->arena);
        for (size_t i = 0; i < g->n_in; i++) {
            const char *name = name_of(m, g, i);
            ti_buf_printf(&names, "%s%s", i ? ", " : "", name ? name : "one without a name");
        }
        return ti_usage(ctx, "--set %s: the model has no input of that name; %s%s",
                        o->set[k].input, g->n_in ? "its inputs are " : "it has none",
                        ti_buf_cstr(&names));
    }
    return TC_OK;
}
