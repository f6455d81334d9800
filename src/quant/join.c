/* SPDX-License-Identifier: Apache-2.0 */
/* join.c -- what is decided about domains once their ranges are known: which parts of a cat share
 * its scale, and how far masked scores reach. */
#include "quant.h"
#include "role.h"

#include <math.h>
#include <stdlib.h>

static double greatest(const tc_domain *d)
{
    return d->scale * (double)d->setting.qmax;
}

static const double nothing = 64, room = 32; /* e^-32 is nothing */

/* The scores' domain that operand i of a node is a mask over; -1: it is none. */
static int32_t masked_by(const tc_node *node, int i, const tc_domains *domains)
{
    bool sum = node->op == TC_OP_add && node->n_in == 2 && node->n_out == 1;
    int32_t out = sum ? domains->of[node->out[0]] : -1;
    int32_t below = out >= 0 ? domains->domain[out].unmasked : -1;
    bool laid = below >= 0 && domains->of[node->in[1 - i]] == below &&
                domains->of[node->in[i]] != below && domains->of[node->in[i]] != out;
    return laid ? below : -1;
}

/* By domain: the largest scores that it is a mask over, where it is nothing else; else less than 0.
 */
static double *mask_reach(tc_ctx *ctx, const tc_graph *g, const tc_domains *domains)
{
    double *most = tc_new_n(&ctx->scratch, double, domains->n + 1);
    bool *other = tc_new_n(&ctx->scratch, bool, domains->n + 1);
    for (size_t i = 0; i < domains->n; i++)
        most[i] = -1;
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++) {
            const tc_node *node = g->node[k];
            int32_t d = node->in[i] ? domains->of[node->in[i]] : -1;
            int32_t scores = d >= 0 ? masked_by(node, i, domains) : -1;
            bool stays = d >= 0 && tc_role_carries(node, i) && domains->of[node->out[0]] == d;
            if (scores >= 0)
                most[d] = fmax(most[d], greatest(&domains->domain[scores]));
            else if (d >= 0 && !stays)
                other[d] = true;
        }
    for (size_t i = 0; i < g->n_out; i++)
        if (domains->of[g->out[i]] >= 0)
            other[domains->of[g->out[i]]] = true;
    for (size_t i = 0; i < g->n_mutation; i++)
        if (domains->of[g->mutation[i].after] >= 0)
            other[domains->of[g->mutation[i].after]] = true;
    for (size_t i = 0; i < domains->n; i++)
        most[i] = other[i] ? -1 : most[i];
    return most;
}

/* What is laid over scores of at most `most` goes down to where even the largest of them is nothing
 * beside the smallest; from there on all is one. */
static void fit_mask(tc_domain *d, double most)
{
    const tc_setting *s = &d->setting;
    double low = 2 * most + nothing, codes = (double)(s->qmax - s->qmin);
    if (most < 0 || d->joined >= 0 || tc_domain_known(d) || d->named || -d->lo <= low)
        return;
    if (s->symmetric)
        d->scale = (double)(float)(fmax(low, d->hi) / (double)s->qmax);
    else {
        d->scale = (double)(float)((fmax(d->hi, 0) + low) / codes);
        d->zero = s->qmin + (int64_t)nearbyint(low / d->scale);
    }
}

void tc_quant_fit_masks(tc_ctx *ctx, const tc_graph *g, tc_domains *domains)
{
    for (size_t i = 0; i < domains->n; i++) {
        tc_domain *d = &domains->domain[i];
        if (d->unmasked < 0 || d->joined >= 0 || tc_domain_known(d) || !d->setting.symmetric)
            continue;
        double limit = greatest(&domains->domain[d->unmasked]) + nothing;
        double most = -d->lo > limit ? fmax(limit, d->hi) : greatest(d);
        d->scale = (double)(float)((most + (d->huge ? room : 0)) / (double)d->setting.qmax);
    }
    tc_mark mark = tc_arena_mark(&ctx->scratch);
    const double *most = mask_reach(ctx, g, domains);
    for (size_t i = 0; i < domains->n; i++)
        fit_mask(&domains->domain[i], most[i]);
    tc_arena_rewind(&ctx->scratch, mark);
}

/* The domain has these steps, and those that have its codes, theirs. */
static void set_steps(tc_domains *domains, int32_t d, double scale)
{
    domains->domain[d].scale = (double)(float)scale;
    for (size_t i = 0; i < domains->n; i++)
        if (domains->domain[i].base == d)
            set_steps(domains, (int32_t)i, scale * domains->domain[i].factor);
}

/* The finest steps that tell anything of the node's result; 0: as fine as may be. */
static double finest(const tc_node *node, const tc_domains *domains, const tc_domain *d)
{
    double coarsest = 0;
    if (node->op == TC_OP_logsumexp) /* exponentials are summed in steps of 2^-15 */
        return d->setting.dtype == TC_i8 ? 0x1p-14 : 0;
    for (int i = 0; i < node->n_in && (node->op == TC_OP_add || node->op == TC_OP_sub); i++) {
        int32_t part = domains->of[node->in[i]];
        if (d->unmasked >= 0 && part != d->unmasked) /* a mask's steps are wide, and say nothing */
            continue;
        coarsest = fmax(coarsest, part >= 0 ? domains->domain[part].scale : 0);
    }
    return coarsest / 1024;
}

void tc_quant_fit_sums(const tc_graph *g, tc_domains *domains)
{
    for (size_t k = 0; k < g->n_node; k++) {
        int32_t of = g->node[k]->n_out == 1 ? domains->of[g->node[k]->out[0]] : -1;
        const tc_domain *d = of >= 0 ? &domains->domain[of] : NULL;
        double least = d ? finest(g->node[k], domains, d) : 0;
        if (d && !tc_domain_known(d) && !d->named && d->scale < least)
            set_steps(domains, of, least);
    }
}

enum { TENTHS_APART = 15 }; /* a part whose scale would grow past 1.5 times its own keeps it */

static double extent(const tc_setting *s, double lo, double hi)
{
    lo = fmin(lo, 0);
    hi = fmax(hi, 0);
    return s->symmetric ? 2 * fmax(-lo, hi) : hi - lo;
}

static int32_t joined_root(const tc_domains *d, int32_t i)
{
    while (d->domain[i].joined >= 0)
        i = d->domain[i].joined;
    return i;
}

static int compare_values(const void *a, const void *b)
{
    tc_val x = *(const tc_val *)a, y = *(const tc_val *)b;
    return x < y ? -1 : x > y;
}

/* All values of domain `part` into domain `whole`. */
static void absorb(tc_ctx *ctx, tc_domains *all, int32_t part, int32_t whole)
{
    tc_domain *p = &all->domain[part], *w = &all->domain[whole];
    tc_val *val = tc_new_n(&ctx->arena, tc_val, p->n_val + w->n_val);
    memcpy(val, w->val, w->n_val * sizeof *val);
    memcpy(val + w->n_val, p->val, p->n_val * sizeof *val);
    for (size_t i = 0; i < p->n_val; i++)
        all->of[p->val[i]] = whole;
    w->val = val;
    w->n_val += p->n_val;
    qsort(val, w->n_val, sizeof *val, compare_values);
    w->after = NULL;
    w->output = false;
    p->n_val = 0;
    p->joined = whole;
    for (size_t i = 0; i < all->n; i++)
        if (all->domain[i].base == part)
            all->domain[i].base = whole;
}

/* As a cat of its own: it is what the cat's result is, read as that is. */
static void join_alone(tc_ctx *ctx, tc_domains *all, int32_t part, int32_t whole)
{
    tc_domain was = all->domain[whole], brought = all->domain[part];
    int32_t stays = part > whole ? whole : part;
    absorb(ctx, all, part > whole ? part : whole, stays);
    tc_domain *d = &all->domain[stays];
    d->setting = was.setting;
    d->after = was.after;
    d->output = was.output;
    d->some_wide = was.some_wide;
    d->all_wide = was.all_wide;
    d->made_wide = brought.made_wide && was.made_wide;
    d->some_bears = was.some_bears;
    d->made_dear = brought.made_dear && was.made_dear;
    d->named = brought.named || was.named;
    d->fixed_range = false;
}

enum { TIMES_APART = 8 }; /* a part of a cat with so much less of a range has codes of its own */

static bool far_apart(const tc_domains *domains, tc_join j, const double *lo, const double *hi)
{
    const tc_domain *w = &domains->domain[j.whole];
    double own = extent(&w->setting, lo[j.part], hi[j.part]);
    return j.alone && w->setting.dtype == TC_i8 && w->all_wide && !w->named && own > 0 &&
           own * TIMES_APART < extent(&w->setting, lo[j.whole], hi[j.whole]);
}

/* All codes of 16 bits, round 0. */
static tc_setting wide_setting(tc_setting s)
{
    s.dtype = TC_i16;
    s.qmin = -32767;
    s.qmax = 32767;
    s.symmetric = true;
    s.floor = TC_LEAST_SCALE;
    return s;
}

/* Cats that hold what is far apart have 16 bits, and those parts codes of their own in front. */
static void widen_cats(tc_domains *domains, const double *lo, const double *hi, bool *apart)
{
    for (size_t i = 0; i < domains->n_join; i++)
        apart[i] = far_apart(domains, domains->join[i], lo, hi);
    for (size_t i = 0; i < domains->n_join; i++)
        if (apart[i]) {
            tc_domain *w = &domains->domain[domains->join[i].whole];
            w->setting = wide_setting(w->setting);
        }
}

void tc_quant_join(tc_ctx *ctx, tc_domains *domains, const double *lo, const double *hi)
{
    bool *apart = tc_new_n(&ctx->arena, bool, domains->n_join + 1);
    widen_cats(domains, lo, hi, apart);
    for (size_t i = 0; i < domains->n_join; i++) {
        tc_join j = domains->join[i];
        const tc_setting *s = &domains->domain[j.part].setting;
        double own = extent(s, lo[j.part], hi[j.part]),
               all = extent(s, fmin(lo[j.part], lo[j.whole]), fmax(hi[j.part], hi[j.whole]));
        int32_t part = joined_root(domains, j.part), whole = joined_root(domains, j.whole);
        bool wide = s->dtype == TC_i8 && domains->domain[whole].setting.dtype == TC_i16;
        if (part == whole || apart[i] || (wide && !domains->domain[part].made_wide))
            continue;
        if (j.alone)
            join_alone(ctx, domains, part, whole);
        else if (all * 10 <= own * TENTHS_APART && s->dtype == domains->domain[whole].setting.dtype)
            absorb(ctx, domains, part > whole ? part : whole, part > whole ? whole : part);
    }
}
