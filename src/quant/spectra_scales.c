/* SPDX-License-Identifier: Apache-2.0 */
/* spectra_scales.c -- the settings and scales of spectra that were found; see spectra.h. */
#include "spectra.h"

#include <math.h>

#include "../base/real.h"
#include "../num/load.h"
#include "observations.h"

static const double ROOM = 8;    /* times the observed range */
#define WIDE_TOP 0x1p31          /* codes of i32 parts */
#define POWER_TOP (0x1p31 - 1)   /* of powers */
#define BAND_TOP 0x1p30          /* of sizes, and of what saturates */
#define FACTOR_TOP 32767.0       /* of a constant factor of parts */
enum { FACTOR_BITS = 15 };

tc_setting ti_spectra_setting(const tc_spectra *s, tc_val v, const tc_setting *own)
{
    const tc_spectral_value *value = &s->value[v];
    tc_setting setting = *own;
    setting.symmetric = true;
    setting.floor = TC_LEAST_SCALE;
    bool part = value->kind == TC_SPECTRAL_part, small = part && !s->group[value->group].size;
    setting.headroom = small ? TC_PART_ROOM : ROOM;
    setting.dtype = TC_i16;
    setting.qmin = -32767;
    setting.qmax = 32767;
    setting.observer = TC_OBSERVER_mse;
    if (part && s->group[value->group].wide) {
        setting.dtype = TC_i32;
        setting.qmax = INT32_MAX;
        setting.qmin = -setting.qmax;
    } else if (value->kind == TC_SPECTRAL_power) { /* ti_spectra_scale(); here only to keep
                                                      groups apart */
        setting.dtype = TC_i32;
        setting.qmin = 0;
        setting.qmax = INT32_MAX;
        setting.observer = TC_OBSERVER_fixed;
        setting.scale = 1 + value->group;
        setting.zero = 0;
    }
    return setting;
}

/* The scale of a constant factor of i32 parts, as i16; the product is shifted by 15. */
static double factor_of(const tc_dataflow *f, tc_val part, tc_val *x)
{
    const tc_node *node = ti_def(f->g, part);
    bool first = f->fixed[node->in[0]];
    tc_tensor t = ti_tensor_of(f->g, node->in[!first]);
    double most = 0;
    *x = node->in[first];
    for (int64_t i = 0; t.data && i < tc_type_count(t.type); i++)
        most = fmax(most, fabs((double)((const float *)t.data)[i]));
    return most > 0 ? (double)(float)(most / FACTOR_TOP) : 0;
}

/* ---- domains ---- */

void ti_spectra_describe(tc_ctx *ctx, const tc_dataflow *f, const tc_spectra *s, tc_domains *out)
{
    out->n_group = s->any ? s->n_group : 0;
    out->group = tc_new_n(&ctx->arena, tc_spectral_scale, out->n_group + 1);
    for (tc_val v = 1; s->any && v < f->g->n_val; v++)
        if (out->of[v] >= 0) {
            tc_domain *d = &out->domain[out->of[v]];
            d->above = fmax(d->above, s->value[v].above);
            d->below = fmax(d->below, s->value[v].below);
        }
    for (tc_val v = 1; s->any && v < f->g->n_val; v++)
        if (out->of[v] >= 0 && s->value[v].kind) {
            const tc_spectral_value *value = &s->value[v];
            tc_domain *d = &out->domain[out->of[v]];
            d->spectral = value->kind;
            d->spectral_group = value->group;
            d->most = fmax(d->most, value->most);
            d->more = fmax(d->more, value->more);
            d->spectral_factor = value->factor;
        }
    for (size_t i = 0; i < out->n_group; i++) {
        const tc_spectral_group *group = &s->group[i];
        out->group[i] = (tc_spectral_scale){.from = group->from < 0 ? -1 : ti_spectra_root(s, group->from),
                                            .size = group->size, .gain = group->gain, .most = group->from_most,
                                            .more = group->from_more, .part = -1};
        if (group->from >= 0 || group->same != (int32_t)i || !group->good)
            continue;
        out->group[i].part = out->of[group->part];
        tc_val x;
        if (!group->wide || !group->scaled)
            continue;
        tc_domain *d = &out->domain[out->of[group->scaled]];
        double factor = factor_of(f, group->scaled, &x);
        if (d->base < 0 && factor > 0 && &out->domain[out->of[x]] != d) {
            d->base = out->of[x];
            d->factor = ldexp(factor, FACTOR_BITS);
        }
    }
}

void ti_spectra_weights(tc_dataflow *f, const tc_domains *domains)
{
    tc_config eight;
    if (!ti_config_preset("int8", &eight))
        return;
    for (size_t k = 0; k < f->g->n_node; k++) {
        const tc_node *node = f->g->node[k];
        tc_val v = node->n_out == 1 ? node->out[0] : TC_NONE;
        bool layer = TC_OP_IN(node->op, TC_OP_conv, TC_OP_linear, TC_OP_conv_transpose),
             bands = node->op == TC_OP_log_bands;
        if ((bands || (layer && domains->of[v] >= 0 && domains->domain[domains->of[v]].spectral)) &&
            ti_setting_few_codes(&f->scheme[v].weight) &&
            ti_config_weights_free(f->config, node->loc, f->g->val[v]->name))
            f->scheme[v].weight = eight.global.weight;
    }
}

/* The largest result of a layer, or of the sum of two, for any input codes; 0: it is none. */
static double reach_of(const tc_graph *g, const tc_node *node, const tc_domains *domains)
{
    if (node && node->op == TC_OP_add) {
        double a = reach_of(g, ti_def(g, node->in[0]), domains),
               b = reach_of(g, ti_def(g, node->in[1]), domains);
        return a > 0 && b > 0 ? a + b : 0;
    }
    if (!node || (node->op != TC_OP_conv && node->op != TC_OP_linear))
        return 0;
    tc_tensor w = ti_tensor_of(g, node->in[1]),
              b = ti_tensor_of(g, node->n_in > 2 ? node->in[2] : TC_NONE);
    int32_t of = domains->of[node->in[0]];
    if (!w.data || w.type->dtype != TC_f32 || of < 0)
        return 0;
    const tc_domain *x = &domains->domain[of];
    int64_t n = w.type->rank > 1 ? w.type->dim[0] : 1, k = tc_type_count(w.type) / n;
    double most = 0, codes = fmax((double)(x->setting.qmax - x->zero),
                                  (double)(x->zero - x->setting.qmin));
    for (int64_t c = 0; c < n; c++) {
        double sum = 0, bias = b.data ? fabs(ti_load_f64(b, c)) : 0;
        for (int64_t i = 0; i < k; i++)
            sum += fabs((double)((const float *)w.data)[c * k + i]);
        most = fmax(most, sum * codes * x->scale * 1.02 + bias); /* weights are rounded */
    }
    return most;
}

void ti_spectra_parts(const tc_graph *g, tc_domains *domains)
{
    for (size_t d = 0; d < domains->n; d++) {
        tc_domain *domain = &domains->domain[d];
        bool known = domain->spectral == TC_SPECTRAL_part && domain->setting.dtype == TC_i32 &&
                     domain->base < 0 && domain->joined < 0;
        double most = 0;
        for (size_t i = 0; i < domain->n_val && known; i++) {
            const tc_node *node = ti_def(g, domain->val[i]);
            double reach = reach_of(g, node, domains);
            bool made = node && domains->looks[domain->val[i]] && node->op != TC_OP_neg &&
                        node->op != TC_OP_cat && node->op != TC_OP_stack;
            known = !made || reach > 0;
            most = fmax(most, reach);
        }
        if (known && most > 0)
            domain->scale = fmax(domain->scale, (double)(float)(most / (WIDE_TOP - 1)));
    }
}

/* The observed range of a part. */
static double seen_of(const tc_domains *domains, const tc_domain *part)
{
    double factor = 1;
    while (part->base >= 0 || part->joined >= 0) {
        factor *= part->joined >= 0 ? 1 : ldexp(part->factor, -FACTOR_BITS) * FACTOR_TOP;
        part = &domains->domain[part->joined >= 0 ? part->joined : part->base];
    }
    return factor * fmax(-part->lo, part->hi);
}

/* The unit of a group: the largest square, or the largest sum of a layer; and its scale. */
static void scale_group(tc_domains *domains, size_t i)
{
    tc_spectral_scale *g = &domains->group[i];
    if (g->scale > 0)
        return;
    double step = 0, top_code = g->from >= 0 || g->size ? BAND_TOP - 1 : POWER_TOP;
    if (g->from >= 0) {
        scale_group(domains, (size_t)g->from);
        g->unit = g->gain * (g->most * domains->group[g->from].unit + g->more);
    } else if (g->part >= 0) {
        const tc_domain *part = &domains->domain[g->part];
        while (part->joined >= 0)
            part = &domains->domain[part->joined];
        double top = part->setting.dtype == TC_i32 ? WIDE_TOP : 32767;
        step = g->size ? part->scale : part->scale * part->scale;
        double most = top * part->scale, seen = TC_PART_ROOM * seen_of(domains, part);
        if (!g->size && part->setting.dtype == TC_i32 && seen > 0)
            most = fmin(most, seen);
        g->unit = g->size ? most : most * most;
    }
    for (size_t d = 0; d < domains->n; d++) {
        const tc_domain *domain = &domains->domain[d];
        if (domain->spectral == TC_SPECTRAL_power && domain->spectral_group == (int32_t)i)
            g->scale = fmax(g->scale, (domain->most * g->unit + domain->more) /
                                          (domain->spectral_factor * top_code));
    }
    if (step > 0)
        g->scale = ldexp(step, (int)fmax(0, ceil(ti_log2(g->scale / step) - 1e-9)));
}

void ti_spectra_powers(tc_domains *domains)
{
    for (size_t i = 0; i < domains->n_group; i++)
        domains->group[i].scale = 0;
    for (size_t d = 0; d < domains->n; d++) {
        tc_domain *domain = &domains->domain[d];
        if (domain->spectral != TC_SPECTRAL_power)
            continue;
        tc_spectral_scale *g = &domains->group[domain->spectral_group];
        scale_group(domains, (size_t)domain->spectral_group);
        domain->scale = (double)(float)(g->scale * domain->spectral_factor);
        domain->zero = 0;
        domain->setting.qmax = (int64_t)fmin(
            INT32_MAX, ceil((domain->most * g->unit + domain->more) / domain->scale));
    }
}
