/* SPDX-License-Identifier: Apache-2.0 */
/* join.c -- what is decided about domains once their ranges are known: which parts of a cat share
 * its scale, and how far masked scores reach. */
#include "quant.h"

#include <math.h>
#include <stdlib.h>

static double greatest(const tc_domain *d)
{
    return d->scale * (double)d->setting.qmax;
}

void tc_quant_fit_masks(tc_domains *domains)
{
    static const double below = 64, room = 32; /* e^-32 is nothing */
    for (size_t i = 0; i < domains->n; i++) {
        tc_domain *d = &domains->domain[i];
        if (d->unmasked < 0 || d->joined >= 0 || tc_domain_known(d) || !d->setting.symmetric)
            continue;
        double limit = greatest(&domains->domain[d->unmasked]) + below;
        double most = -d->lo > limit ? fmax(limit, d->hi) : greatest(d);
        d->scale = (double)(float)((most + (d->huge ? room : 0)) / (double)d->setting.qmax);
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

void tc_quant_join(tc_ctx *ctx, tc_domains *domains, const double *lo, const double *hi)
{
    for (size_t i = 0; i < domains->n_join; i++) {
        tc_join j = domains->join[i];
        const tc_setting *s = &domains->domain[j.part].setting;
        double own = extent(s, lo[j.part], hi[j.part]),
               all = extent(s, fmin(lo[j.part], lo[j.whole]), fmax(hi[j.part], hi[j.whole]));
        int32_t part = joined_root(domains, j.part), whole = joined_root(domains, j.whole);
        if (part != whole && all * 10 <= own * TENTHS_APART)
            absorb(ctx, domains, part > whole ? part : whole, part > whole ? whole : part);
    }
}
