/* SPDX-License-Identifier: Apache-2.0 */
/* concat_domains.c -- decisions about domains once their ranges are known: which parts of a cat
 * share its scale, and how far masked scores reach. */
#include "quantizer.h"
#include "role.h"

#include <math.h>
#include <stdlib.h>

static double greatest(const tc_domain *d)
{
    return d->scale * (double)d->setting.qmax;
}

static const double nothing = 64, room = 32; /* e^-32 is negligible */

/* The scores' domain that operand i of a node masks; -1: none. */
static int32_t masked_by(const tc_node *node, int i, const tc_domains *domains)
{
    bool sum = node->op == TC_OP_add && node->n_in == 2 && node->n_out == 1;
    int32_t out = sum ? domains->of[node->out[0]] : -1;
    int32_t below = out >= 0 ? domains->domain[out].unmasked : -1;
    bool laid = below >= 0 && domains->of[node->in[1 - i]] == below &&
                domains->of[node->in[i]] != below && domains->of[node->in[i]] != out;
    return laid ? below : -1;
}

/* By domain: the largest scores that it masks, if it is only a mask; else negative.
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
            bool stays = d >= 0 && ti_role_carries(node, i) && domains->of[node->out[0]] == d;
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

/* Sets the domain's scale, and those of domains derived from it. */
static void set_steps(tc_domains *domains, int32_t d, double scale)
{
    domains->domain[d].scale = (double)(float)scale;
    for (size_t i = 0; i < domains->n; i++)
        if (domains->domain[i].base == d)
            set_steps(domains, (int32_t)i, scale * domains->domain[i].factor);
}

/* A mask over scores of at most `most` reaches down to where even the largest score is negligible;
 * below that all values are equivalent. */
static void fit_mask(tc_domain *d, double most)
{
    const tc_setting *s = &d->setting;
    double low = 2 * most + nothing, codes = (double)(s->qmax - s->qmin);
    if (most < 0 || d->joined >= 0 || ti_domain_known(d) || d->named || -d->lo <= low)
        return;
    if (s->symmetric)
        d->scale = (double)(float)(fmax(low, d->hi) / (double)s->qmax);
    else {
        d->scale = (double)(float)((fmax(d->hi, 0) + low) / codes);
        d->zero = s->qmin + (int64_t)nearbyint(low / d->scale);
    }
}

/* The least of 1 and the factors of derived domains: what is negligible here has to be so there,
 * too. */
static double least_factor(const tc_domains *domains, int32_t d)
{
    double least = 1;
    for (size_t i = 0; i < domains->n; i++)
        if (domains->domain[i].base == d)
            least = fmin(least, domains->domain[i].factor * least_factor(domains, (int32_t)i));
    return least;
}

void ti_quant_fit_masks(tc_ctx *ctx, const tc_graph *g, tc_domains *domains)
{
    for (size_t i = 0; i < domains->n; i++) {
        tc_domain *d = &domains->domain[i];
        if (d->unmasked < 0 || d->joined >= 0 || ti_domain_known(d) || !d->setting.symmetric)
            continue;
        double below = greatest(&domains->domain[d->unmasked]);
        double times = 1 / least_factor(domains, (int32_t)i), limit = below + nothing * times;
        const tc_node *maker = ti_def(g, d->val[0]);
        if (maker && maker->op == TC_OP_add) /* fit_mask(): a row may be masked everywhere */
            limit += 2 * below;
        double most = -d->lo > limit ? fmax(limit, d->hi)
                                     : greatest(d) + (d->huge ? room * times : 0);
        set_steps(domains, (int32_t)i, most / (double)d->setting.qmax);
    }
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    const double *most = mask_reach(ctx, g, domains);
    for (size_t i = 0; i < domains->n; i++)
        fit_mask(&domains->domain[i], most[i]);
    ti_arena_rewind(&ctx->scratch, mark);
}

/* Smallest useful scale of the node's result; 0: no limit. */
static double finest(const tc_node *node, const tc_domains *domains, const tc_domain *d)
{
    double coarsest = 0;
    if (node->op == TC_OP_logsumexp) /* exponentials are summed in steps of 2^-15 */
        return d->setting.dtype == TC_i8 ? 0x1p-14 : 0;
    for (int i = 0; i < node->n_in && (node->op == TC_OP_add || node->op == TC_OP_sub); i++) {
        int32_t part = domains->of[node->in[i]];
        if (d->unmasked >= 0 && part != d->unmasked) /* a mask's steps are wide, and carry no
                                                      * information */
            continue;
        coarsest = fmax(coarsest, part >= 0 ? domains->domain[part].scale : 0);
    }
    return coarsest / 1024;
}

void ti_quant_fit_sums(const tc_graph *g, tc_domains *domains)
{
    for (size_t k = 0; k < g->n_node; k++) {
        int32_t of = g->node[k]->n_out == 1 ? domains->of[g->node[k]->out[0]] : -1;
        const tc_domain *d = of >= 0 ? &domains->domain[of] : NULL;
        double least = d ? finest(g->node[k], domains, d) : 0;
        if (d && !ti_domain_known(d) && !d->named && d->scale < least)
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

/* A nested cat: treated as the outer cat's result. */
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
    d->made_expensive = brought.made_expensive && was.made_expensive;
    d->named = brought.named || was.named;
    d->fixed_range = false;
}

/* A part of a cat with a range smaller by this factor keeps its own codes, and the cat gets 16
 * bits; by this one, 16 bits are coarser than the part's own 8, and a cat that is only an output
 * gets 32. */
enum { TIMES_APART = 8, TIMES_FAR = 64 };
enum { LAST_OF_32 = 1 << 26 }; /* f32 holds most such codes, and rescales have enough range */

/* Properties of cats that may be parts of other cats, propagated from their readers. */
typedef struct meeting {
    tc_domains *all;
    const double *lo, *hi; /* by domain */
    bool *wide; /* by domain: all readers, also through cats, take 16 bits */
    bool *ends; /* by domain: no operator computes with it, also not through cats */
    bool *grown; /* by domain: a cat that got more bits */
} meeting;

/* The observed range of a domain; of a derived one, that of its base. */
static double extent_of(const meeting *m, int32_t d, const tc_setting *as)
{
    double factor = 1;
    while (m->all->domain[d].base >= 0) {
        factor *= m->all->domain[d].factor;
        d = m->all->domain[d].base;
    }
    return factor * extent(as, m->lo[d], m->hi[d]);
}

/* Ratio of the cat's range to the part's; 0: the cat's codes may not change, or the part is all
 * 0. */
static double times_wider(const meeting *m, tc_join j)
{
    const tc_domain *w = &m->all->domain[j.whole];
    double own = extent_of(m, j.part, &w->setting), all = extent_of(m, j.whole, &w->setting);
    bool free = j.cat && w->setting.observer != TC_OBSERVER_fixed && !w->named &&
                w->setting.dtype != TC_none;
    return free && own > 0 ? all / own : 0;
}

/* From readers back to producers, once per cat. */
static void ask_readers(meeting *m)
{
    tc_domains *all = m->all;
    for (size_t d = 0; d < all->n; d++) {
        m->wide[d] = all->domain[d].all_wide;
        m->ends[d] = !all->domain[d].computed_with;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < all->n_join; i++) {
            tc_join j = all->join[i];
            bool wide = m->wide[j.part] && m->wide[j.whole];
            bool ends = m->ends[j.part] && m->ends[j.whole];
            changed = changed || wide != m->wide[j.part] || ends != m->ends[j.part];
            m->wide[j.part] = wide;
            m->ends[j.part] = ends;
        }
    }
}

/* Symmetric codes of so many bits. */
static tc_setting wide_setting(tc_setting s, tc_dtype dtype)
{
    s.dtype = dtype;
    s.qmax = dtype == TC_i16 ? 32767 : LAST_OF_32;
    s.qmin = -s.qmax;
    s.symmetric = true;
    s.floor = TC_LEAST_SCALE;
    return s;
}

/* The bits that the whole needs for this part; i8: no more than it had. */
static tc_dtype bits_for(const meeting *m, tc_join j)
{
    double times = times_wider(m, j);
    tc_dtype part = m->all->domain[j.part].setting.dtype,
             whole = m->all->domain[j.whole].setting.dtype;
    if (!j.cat || !m->wide[j.whole])
        return whole;
    if (m->grown[j.part])
        return part;
    if (m->ends[j.whole] && times > TIMES_FAR)
        return TC_i32;
    return times > TIMES_APART ? TC_i16 : whole;
}

/* Cats of parts with very different ranges get more bits, and so do cats of such cats; the parts
 * get domains of their own.  A part without another reader is treated as an output. */
static void widen_cats(const meeting *m, bool *apart)
{
    tc_domains *all = m->all;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < all->n_join; i++) {
            tc_setting *s = &all->domain[all->join[i].whole].setting;
            tc_dtype bits = bits_for(m, all->join[i]);
            if (tc_dtypes[bits].bits <= tc_dtypes[s->dtype].bits)
                continue;
            *s = wide_setting(*s, bits);
            m->grown[all->join[i].whole] = changed = true;
        }
    }
    for (size_t i = 0; i < all->n_join; i++) {
        tc_join j = all->join[i];
        tc_domain *p = &all->domain[j.part];
        bool far = all->domain[j.whole].setting.dtype == TC_i32 && p->setting.dtype != TC_i32;
        apart[i] = far || (p->setting.dtype == TC_i8 && m->wide[j.whole] &&
                           times_wider(m, j) > TIMES_APART);
        if (far && m->ends[j.part] && j.alone && !j.settled)
            p->output = p->some_wide = true;
    }
}

void ti_quant_merge_domains(tc_ctx *ctx, tc_domains *domains, const double *lo, const double *hi)
{
    bool *apart = tc_new_n(&ctx->arena, bool, domains->n_join + 1);
    meeting m = {domains, lo, hi, tc_new_n(&ctx->arena, bool, domains->n + 1),
                 tc_new_n(&ctx->arena, bool, domains->n + 1),
                 tc_new_n(&ctx->arena, bool, domains->n + 1)};
    ask_readers(&m);
    widen_cats(&m, apart);
    for (size_t i = 0; i < domains->n_join; i++) {
        tc_join j = domains->join[i];
        const tc_setting *s = &domains->domain[j.part].setting;
        double own = extent(s, lo[j.part], hi[j.part]),
               all = extent(s, fmin(lo[j.part], lo[j.whole]), fmax(hi[j.part], hi[j.whole]));
        int32_t part = joined_root(domains, j.part), whole = joined_root(domains, j.whole);
        bool wide = s->dtype == TC_i8 && domains->domain[whole].setting.dtype == TC_i16;
        if (part == whole || j.settled || apart[i] || (wide && !domains->domain[part].made_wide))
            continue;
        if (j.alone)
            join_alone(ctx, domains, part, whole);
        else if (all * 10 <= own * TENTHS_APART && s->dtype == domains->domain[whole].setting.dtype)
            absorb(ctx, domains, part > whole ? part : whole, part > whole ? whole : part);
    }
}
