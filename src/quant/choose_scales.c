/* SPDX-License-Identifier: Apache-2.0 */
/* choose_scales.c -- calibration: from the observations of each domain to a scale and a zero
 * point. */
#include "observing.h"
#include "spectra.h"

#include <math.h>

tc_ends ti_bins_range(const tc_observing *o, size_t d)
{
    tc_ends e = o->ranges.ends[d];
    if (e.lo > e.hi)
        return (tc_ends){0, 0};
    return (tc_ends){e.lo < 0 ? e.lo : 0, e.hi > 0 ? e.hi : 0};
}

/* What a size has counted, as parts of `whole`. */
static void add_share(const uint64_t *of, uint64_t total, uint64_t whole, uint64_t *counts)
{
    for (int i = 0; i < TC_BINS; i++)
        counts[i] +=
            total == whole
                ? of[i]
                : (uint64_t)nearbyint((double)of[i] * (double)whole / (double)(total ? total : 1));
}

static uint64_t *counts_at(const tc_observing *o, const tc_party *party, size_t d, tc_arena *room,
                           uint64_t *total)
{
    uint64_t *counts = tc_new_n(room, uint64_t, TC_BINS);
    for (size_t i = 0; i < ti_runner_threads(party->runner); i++)
        ti_tally_add(&party->guests[i]->tally[d], ti_bins_range(o, d), counts);
    *total = 0;
    for (int i = 0; i < TC_BINS; i++)
        *total += counts[i];
    return counts;
}

const uint64_t *ti_counts_of(const tc_observing *o, size_t d, tc_arena *room)
{
    if (o->merged && o->merged[d])
        return o->merged[d];
    uint64_t whole = 0;
    if (!o->merged && o->n_party == 1)
        return counts_at(o, o->party, d, room, &whole);
    uint64_t *counts = tc_new_n(room, uint64_t, TC_BINS);
    uint64_t **each = tc_new_n(room, uint64_t *, o->n_party + 1),
             *total = tc_new_n(room, uint64_t, o->n_party + 1);
    for (size_t p = 0; !o->merged && p < o->n_party; p++) {
        each[p] = counts_at(o, &o->party[p], d, room, &total[p]);
        whole = total[p] > whole ? total[p] : whole;
    }
    for (size_t p = 0; !o->merged && p < o->n_party; p++)
        add_share(each[p], total[p], whole, counts);
    return counts;
}

static tc_grid choose(const tc_observing *o, size_t d, tc_arena *room)
{
    const tc_domain *domain = &o->domains->domain[d];
    const tc_setting *s = &domain->setting;
    const tc_config *config = o->request->config;
    tc_ends e = o->ranges.ends[d], bins = ti_bins_range(o, d);
    double margin = s->headroom > 0                                        ? s->headroom
                    : domain->output && config->output_margin > 1          ? config->output_margin
                    : s->observer == TC_OBSERVER_mse && ti_setting_wide(s) ? TC_WIDE_MARGIN
                                                                           : 1;
    if (o->torchao[d])
        return ti_torchao_grid(o->torchao[d], s);
    if (s->observer == TC_OBSERVER_ema)
        e = o->ranges.average[d];
    if (domain->fixed_range) {
        double lo, hi;
        ti_natural_range(ti_main(o->module), domain, e, &lo, &hi);
        return ti_grid_of(s, lo, hi);
    }
    if (!o->binned[d])
        return ti_grid_of(s, margin * (double)e.lo, margin * (double)e.hi);
    const uint64_t *count = ti_counts_of(o, d, room);
    return s->observer == TC_OBSERVER_percentile ? ti_percentile(s, bins, count, s->percentile)
                                                 : ti_search(room, s, bins, count, domain->after);
}

/* Mask values are clamped there. */
static bool is_cut(const tc_observing *o, const tc_domain *d)
{
    for (size_t i = 0; o->domains->cut && i < d->n_val; i++)
        if (o->domains->cut[d->val[i]] > 0)
            return true;
    return false;
}

/* The same range with a code to spare at each end. */
static tc_grid with_room(tc_grid grid, const tc_setting *s)
{
    double lo = grid.scale * (double)(s->qmin - grid.zero),
           hi = grid.scale * (double)(s->qmax - grid.zero);
    double scale = (double)(float)((hi - lo) / (double)(s->qmax - s->qmin - 2));
    return (tc_grid){scale, s->symmetric ? 0 : s->qmin + 1 - (int64_t)nearbyint(lo / scale)};
}

/* The range of a grid, extended. */
static tc_grid extended(tc_grid grid, const tc_setting *s, double below, double above)
{
    double lo = grid.scale * (double)(s->qmin - grid.zero),
           hi = grid.scale * (double)(s->qmax - grid.zero);
    return ti_grid_of(s, lo - below, hi + above);
}

/* Alone: independent of the other domains. */
static void choose_one(void *what, size_t d, tc_arena *room)
{
    const tc_observing *o = what;
    tc_domain *domain = &o->domains->domain[d];
    if (!o->watched[d] || ti_natural_kept(ti_main(o->module), o->domains, d, o->ranges.ends[d]))
        return;
    tc_grid grid = choose(o, d, room);
    if (is_cut(o, domain))
        grid = with_room(grid, &domain->setting);
    if (domain->above > 0 || domain->below > 0)
        grid = extended(grid, &domain->setting, domain->below, domain->above);
    tc_ends range = ti_bins_range(o, d);
    domain->scale = grid.scale;
    domain->zero = grid.zero;
    domain->lo = (double)range.lo;
    domain->hi = (double)range.hi;
}

/* The domain that a domain derives its codes from, and the factor of its scale. */
static size_t base_of(const tc_domains *domains, size_t d, double *factor)
{
    const tc_domain *domain = domains->domain;
    size_t root = ti_domain_home(domains, d);
    *factor = 1;
    while (domain[root].base >= 0) {
        *factor *= domain[root].factor;
        root = ti_domain_home(domains, (size_t)domain[root].base);
    }
    return root;
}

/* A domain whose base got other bits when merged has its own codes: the same range. */
static void part_from_base(const tc_observing *o, size_t d)
{
    tc_domain *domain = &o->domains->domain[d];
    double factor;
    size_t root = base_of(o->domains, d, &factor);
    tc_ends seen = ti_bins_range(o, root);
    if (domain->base < 0 || domain->joined >= 0 ||
        domain->setting.dtype == o->domains->domain[root].setting.dtype)
        return;
    domain->base = -1;
    domain->lo = factor * (double)seen.lo;
    domain->hi = factor * (double)seen.hi;
    tc_grid grid = ti_grid_of(&domain->setting, domain->lo, domain->hi);
    domain->scale = grid.scale;
    domain->zero = grid.zero;
}

void ti_choose_scales(tc_observing *o)
{
    tc_domain *domain = o->domains->domain;
    size_t n = o->domains->n;
    ti_each(o->ctx, n, ti_each_threads(o->ctx, n), choose_one, o);
    for (size_t d = 0; d < n; d++)
        part_from_base(o, d);
    ti_spectra_parts(ti_main(o->module), o->domains);
    for (size_t d = 0; d < n; d++) {
        double factor;
        size_t root = base_of(o->domains, d, &factor);
        if (root == d)
            continue;
        domain[d].scale = (double)(float)(domain[root].scale * factor);
        domain[d].zero = domain[root].zero;
    }
    ti_spectra_powers(o->domains);
}
