/* SPDX-License-Identifier: Apache-2.0 */
/* observe.c -- calibration: two passes over the samples, then a scale and a zero point for every
 * domain.
 *
 * Everything that is kept of the samples is their ends and counts of bins, so that neither the
 * order of the samples nor the threads that ran them can change a result. */
#include "quantizer.h"

#include <math.h>

#include "../base/mapped.h"
#include "../num/load.h"
#include "observation_file.h"
#include "sample_runner.h"
#include "torchao.h"
#include "sample_quality.h"

/* Of a few samples of a program that remembers, each is also seen as the first call: which one it
 * will be is not known, and attention over an empty cache looks otherwise. */
static bool seen_fresh(const tc_quant_request *request)
{
    return request->samples.n < TC_FEW_SAMPLES;
}

typedef struct guest guest;

typedef struct observation {
    tc_ctx *ctx;
    tc_module *module;
    const tc_quant_request *request;
    tc_domains *domains;
    bool *watched; /* by domain: it is looked at */
    tc_runner *runner;
    guest **guests;
    tc_first first;
    tc_ranges ranges;
    bool *judged;     /* by domain: its rows say what is odd */
    bool *binned;     /* second pass, by domain: its numbers are counted */
    uint64_t **merged; /* by domain: TC_BINS counts that parts have brought; NULL: own tallies */
    uint64_t counted; /* samples of the second pass */
    uint64_t sum;     /* of their hashes, where the counts are written */
    tc_torchao *
        *torchao; /* second pass, by domain: for those that are observed in the anchor's way */
} observation;

/* Somebody on one thread. */
struct guest {
    observation *o;
    size_t sample;
    bool far; /* an input held numbers that may stand for "never" */
    uint64_t counted, sum;
    tc_arena scratch; /* numbers that are not f32 */
    tc_arena counted_in;
    tc_tally *tally; /* by domain */
    tc_sample_quality *worth; /* of the inputs, first pass */
};

/* ---- who is looked at ---- */

/* A range that is known beforehand is looked at too: what was seen may fill little of it. */
static bool is_watched(const tc_domain *d)
{
    bool settled = d->setting.observer == TC_OBSERVER_fixed || d->base >= 0 || d->joined >= 0;
    return !settled && d->n_val > 0;
}

static bool *wanted_values(observation *o)
{
    tc_graph *g = ti_main(o->module);
    bool *wanted = tc_new_n(&o->ctx->arena, bool, g->n_val);
    for (size_t d = 0; d < o->domains->n; d++) {
        const tc_domain *domain = &o->domains->domain[d];
        o->watched[d] = is_watched(domain);
        for (size_t i = 0; o->watched[d] && i < domain->n_val; i++)
            wanted[domain->val[i]] =
                !ti_is_const(g, domain->val[i]) && o->domains->looks[domain->val[i]];
    }
    return wanted;
}

/* The numbers as f32, where they are or as a copy. */
static const float *as_f32(guest *who, tc_tensor t)
{
    ti_arena_rewind(&who->scratch, (tc_mark){NULL, 0, 0});
    if (t.type->dtype == TC_f32)
        return t.data;
    return ti_as_f32(&who->scratch, t);
}

/* The numbers that count: all, or those below what is clamped. */
static const float *counting(guest *who, tc_val v, tc_tensor t, int64_t *n)
{
    const tc_domains *domains = who->o->domains;
    const float *x = as_f32(who, t), limit = domains->cut ? domains->cut[v] : 0;
    *n = tc_type_count(t.type);
    if (!(limit > 0))
        return x;
    float *kept = ti_arena_raw(&who->scratch, (size_t)*n * sizeof *kept);
    int64_t m = 0;
    for (int64_t i = 0; i < *n; i++)
        if (fabsf(x[i]) < limit)
            kept[m++] = x[i];
    *n = m;
    return kept;
}

/* ---- first pass ---- */

static bool holds_far(tc_tensor t)
{
    const float *x = t.data;
    int64_t far = 0, n = t.type->dtype == TC_f32 ? tc_type_count(t.type) : 0;
    for (int64_t i = 0; i < n; i++)
        far += fabsf(x[i]) >= TC_FAR_GIVEN;
    return far > 0;
}

static bool first_enter(void *who, size_t k, const tc_tensor *in)
{
    guest *g = who;
    tc_first *first = &g->o->first;
    g->sample = k;
    for (size_t i = 0; i < ti_main(g->o->module)->n_in; i++)
        g->far = g->far || holds_far(in[i]);
    first->sample[k] = (tc_sample_id){ti_sample_hash(in, ti_main(g->o->module)->n_in), NULL, k};
    ti_sample_quality_see(g->worth, in);
    return true;
}

static void first_see(void *who, tc_val v, tc_tensor seen, const int8_t *order)
{
    (void)order;
    guest *g = who;
    tc_first *first = &g->o->first;
    tc_ends *ends = &first->ends[g->sample * first->n_domain + (size_t)g->o->domains->of[v]];
    int64_t n;
    const float *x = counting(g, v, seen, &n);
    ti_ends_see(ends, x, n);
}

/* Constants that belong to a domain take part in every sample, and so does what buffers start with.
 */
static void see_constants(observation *o)
{
    const tc_graph *g = ti_main(o->module);
    tc_mark mark = ti_arena_mark(&o->ctx->scratch);
    for (size_t d = 0; d < o->domains->n; d++) {
        const tc_domain *domain = &o->domains->domain[d];
        tc_ends ends = ti_ends_none();
        for (size_t i = 0; o->watched[d] && i < domain->n_val; i++)
            if (g->val[domain->val[i]]->data) {
                const tc_value *value = g->val[domain->val[i]];
                tc_tensor t = {value->type, (void *)(uintptr_t)value->data};
                ti_ends_see(&ends, ti_as_f32(&o->ctx->scratch, t), tc_type_count(t.type));
            }
        for (size_t k = 0; k < o->first.n_sample; k++)
            ti_ends_add(&o->first.ends[k * o->first.n_domain + d], ends);
    }
    ti_arena_rewind(&o->ctx->scratch, mark);
}

static tc_status first_pass(observation *o)
{
    const tc_samples *samples = &o->request->samples;
    tc_first *first = &o->first;
    first->n_sample = samples->n;
    first->n_domain = o->domains->n;
    first->sample = tc_new_n(&o->ctx->arena, tc_sample_id, first->n_sample);
    first->ends = tc_new_n(&o->ctx->arena, tc_ends, first->n_sample * first->n_domain);
    for (size_t i = 0; i < first->n_sample * first->n_domain; i++)
        first->ends[i] = ti_ends_none();
    tc_visit visit = {.samples = samples,
                      .what = "samples, first pass",
                      .reading = o->request->times ? &o->request->times->read : NULL,
                      .fresh = seen_fresh(o->request),
                      .guest = (void *const *)o->guests,
                      .enter = first_enter,
                      .see = first_see};
    TC_TRY(ti_runner_run(o->runner, &visit));
    for (size_t i = 0; i < ti_runner_threads(o->runner); i++)
        o->domains->far_given = o->domains->far_given || o->guests[i]->far;
    see_constants(o);
    return TC_OK;
}

/* ---- between the passes ---- */

/* Where the values of a domain are by now. */
static size_t home(const tc_domains *domains, size_t d)
{
    while (domains->domain[d].joined >= 0)
        d = (size_t)domains->domain[d].joined;
    return d;
}

/* Domains that gain by it are merged, with their observations. */
static void join(observation *o)
{
    size_t n = o->domains->n;
    double *lo = tc_new_n(&o->ctx->arena, double, n), *hi = tc_new_n(&o->ctx->arena, double, n);
    for (size_t d = 0; d < n; d++) {
        tc_ends e = o->ranges.ends[d];
        if (e.lo > e.hi)
            continue;
        lo[d] = e.lo < 0 ? (double)e.lo : 0;
        hi[d] = e.hi > 0 ? (double)e.hi : 0;
    }
    ti_quant_merge_domains(o->ctx, o->domains, lo, hi);
    for (size_t d = 0; d < n; d++) {
        size_t to = home(o->domains, d);
        if (to == d)
            continue;
        ti_ends_add(&o->ranges.ends[to], o->ranges.ends[d]);
        ti_ends_add(&o->ranges.average[to], o->ranges.average[d]);
        o->watched[d] = false;
    }
}

/* ---- second pass ---- */

/* More bits than need a search; i32: concat_domains.c. */
static bool is_wide(const tc_setting *s)
{
    return s->dtype == TC_i16 || s->dtype == TC_i32;
}

/* Whether the domain's grid depends on how its numbers are spread. */
static bool needs_bins(const observation *o, size_t d)
{
    const tc_domain *domain = &o->domains->domain[d];
    const tc_setting *s = &domain->setting;
    bool margin = domain->output && o->request->config->output_margin > 1;
    return o->watched[d] && !domain->fixed_range &&
           ((s->observer == TC_OBSERVER_mse && !is_wide(s) && !margin) ||
            s->observer == TC_OBSERVER_percentile);
}

/* Which domains take part in a second pass; false: none. */
static bool look_again(observation *o)
{
    bool any = false;
    for (size_t d = 0; d < o->domains->n; d++) {
        o->binned[d] = needs_bins(o, d);
        if (o->watched[d] &&
            o->domains->domain[d].setting.observer == TC_OBSERVER_histogram_torchao) {
            o->torchao[d] = tc_new(&o->ctx->arena, tc_torchao);
            ti_torchao_init(o->torchao[d]);
        }
        any |= o->binned[d] || o->torchao[d];
    }
    return any;
}

/* The range of a domain's bins: what was seen, and 0. */
static tc_ends bins_range(const observation *o, size_t d)
{
    tc_ends e = o->ranges.ends[d];
    if (e.lo > e.hi)
        return (tc_ends){0, 0};
    return (tc_ends){e.lo < 0 ? e.lo : 0, e.hi > 0 ? e.hi : 0};
}

static bool second_enter(void *who, size_t k, const tc_tensor *in)
{
    guest *g = who;
    (void)k;
    const tc_ranges *ranges = &g->o->ranges;
    bool ask = ranges->n_odd || g->o->request->observe_only;
    uint64_t hash = ask ? ti_sample_hash(in, ti_main(g->o->module)->n_in) : 0;
    bool kept = !ranges->n_odd || !ti_ranges_odd(ranges, hash);
    g->counted += kept;
    g->sum += kept ? hash : 0;
    return kept;
}

static void second_see(void *who, tc_val v, tc_tensor seen, const int8_t *order)
{
    (void)order;
    guest *g = who;
    size_t d = (size_t)g->o->domains->of[v];
    for (int i = 0; g->o->torchao[d] && i < g->o->domains->looks[v]; i++)
        ti_torchao_see(g->o->torchao[d], as_f32(g, seen), tc_type_count(seen.type));
    if (!g->o->binned[d])
        return;
    int64_t n;
    const float *x = counting(g, v, seen, &n);
    ti_count(&g->tally[d], &g->counted_in, x, n, bins_range(g->o, d));
}

static tc_status second_pass(observation *o)
{
    size_t n = o->domains->n, n_guest = ti_runner_threads(o->runner);
    bool in_order = false;
    for (size_t d = 0; d < n; d++)
        in_order |= o->torchao[d] != NULL;
    for (size_t i = 0; i < n_guest; i++)
        o->guests[i]->tally = tc_new_n(&o->ctx->arena, tc_tally, n);
    tc_visit visit = {.samples = &o->request->samples,
                      .what = "samples, second pass",
                      .reading = o->request->times ? &o->request->times->read : NULL,
                      .in_order = in_order,
                      .fresh = seen_fresh(o->request),
                      .guest = (void *const *)o->guests,
                      .enter = second_enter,
                      .see = second_see};
    TC_TRY(ti_runner_run(o->runner, &visit));
    for (size_t i = 0; i < n_guest; i++) {
        o->counted += o->guests[i]->counted;
        o->sum += o->guests[i]->sum;
    }
    return TC_OK;
}

/* What all threads or all parts have counted of a domain. */
static const uint64_t *counts_of(const observation *o, size_t d, tc_arena *room)
{
    if (o->merged && o->merged[d])
        return o->merged[d];
    uint64_t *counts = tc_new_n(room, uint64_t, TC_BINS);
    for (size_t i = 0; !o->merged && i < ti_runner_threads(o->runner); i++)
        ti_tally_add(&o->guests[i]->tally[d], bins_range(o, d), counts);
    return counts;
}

/* ---- scales ---- */

static tc_grid choose(const observation *o, size_t d, tc_arena *room)
{
    const tc_domain *domain = &o->domains->domain[d];
    const tc_setting *s = &domain->setting;
    const tc_config *config = o->request->config;
    tc_ends e = o->ranges.ends[d], bins = bins_range(o, d);
    double margin = domain->output && config->output_margin > 1  ? config->output_margin
                    : s->observer == TC_OBSERVER_mse && is_wide(s) ? TC_WIDE_MARGIN
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
    const uint64_t *count = counts_of(o, d, room);
    return s->observer == TC_OBSERVER_percentile ? ti_percentile(s, bins, count, s->percentile)
                                                 : ti_search(room, s, bins, count, domain->after);
}

/* Numbers are clamped there that stand for "never". */
static bool is_cut(const observation *o, const tc_domain *d)
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

/* By itself: what others are given does not matter. */
static void choose_one(void *what, size_t d, tc_arena *room)
{
    const observation *o = what;
    tc_domain *domain = &o->domains->domain[d];
    if (!o->watched[d] ||
        ti_natural_kept(ti_main(o->module), o->domains, d, o->ranges.ends[d]))
        return;
    tc_grid grid = choose(o, d, room);
    if (is_cut(o, domain))
        grid = with_room(grid, &domain->setting);
    tc_ends range = bins_range(o, d);
    domain->scale = grid.scale;
    domain->zero = grid.zero;
    domain->lo = (double)range.lo;
    domain->hi = (double)range.hi;
}

/* The domain whose codes a domain has, and how many times its steps. */
static size_t base_of(const tc_domains *domains, size_t d, double *factor)
{
    const tc_domain *domain = domains->domain;
    size_t root = home(domains, d);
    *factor = 1;
    while (domain[root].base >= 0) {
        *factor *= domain[root].factor;
        root = home(domains, (size_t)domain[root].base);
    }
    return root;
}

/* A domain whose base was given other bits, by what it was merged with, has codes of its own: the
 * same range. */
static void part_from_base(const observation *o, size_t d)
{
    tc_domain *domain = &o->domains->domain[d];
    double factor;
    size_t root = base_of(o->domains, d, &factor);
    tc_ends seen = bins_range(o, root);
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

static void choose_all(observation *o)
{
    tc_domain *domain = o->domains->domain;
    size_t n = o->domains->n;
    ti_each(o->ctx, n, ti_each_threads(o->ctx, n), choose_one, o);
    for (size_t d = 0; d < n; d++)
        part_from_base(o, d);
    for (size_t d = 0; d < n; d++) {
        double factor;
        size_t root = base_of(o->domains, d, &factor);
        if (root == d)
            continue;
        domain[d].scale = (double)(float)(domain[root].scale * factor);
        domain[d].zero = domain[root].zero;
    }
}

/* ---- getting ready ---- */

static void free_guest(void *what)
{
    ti_arena_free(&((guest *)what)->scratch);
    ti_arena_free(&((guest *)what)->counted_in);
}

/* The program ready to run over the samples, and somebody on each thread. */
static tc_status get_ready(observation *o, const bool *wanted)
{
    tc_arena *arena = &o->ctx->arena;
    if (!o->request->samples.n)
        return ti_error(o->ctx, NULL, TC_E_DATA, "there are no calibration samples");
    TC_TRY(ti_runner_new(o->ctx, ti_main(o->module), wanted, o->request->samples.n, &o->runner));
    size_t n = ti_runner_threads(o->runner);
    o->guests = tc_new_n(arena, guest *, n);
    for (size_t i = 0; i < n; i++) {
        o->guests[i] = tc_new(arena, guest);
        o->guests[i]->o = o;
        o->guests[i]->worth = ti_sample_quality_new(o->ctx, ti_main(o->module));
        ti_arena_init(&o->guests[i]->scratch);
        ti_arena_init(&o->guests[i]->counted_in);
        o->guests[i]->scratch.from = o->guests[i]->counted_in.from = o->ctx->arena.from;
        o->guests[i]->scratch.oom = o->guests[i]->counted_in.oom = ti_runner_oom(o->runner, i);
        ti_ctx_defer(o->ctx, free_guest, o->guests[i]);
    }
    return TC_OK;
}

/* What the rows of all samples say. */
static void settle_ranges(observation *o)
{
    bool drop = o->request->config->drop_odd && !o->request->keep_odd &&
                !ti_main(o->module)->n_mutation; /* a call that others follow is never left out */
    bool *judged = o->judged = tc_new_n(&o->ctx->arena, bool, o->domains->n);
    for (size_t d = 0; d < o->domains->n; d++)
        judged[d] = o->watched[d] && !o->domains->domain[d].fixed_range;
    for (size_t i = 0; i < o->domains->n_join; i++) /* its numbers count in the cat */
        if (o->domains->join[i].alone && !o->domains->join[i].settled)
            judged[o->domains->join[i].part] = false;
    o->ranges = ti_ranges_of(o->ctx, &o->first, judged, drop);
}

/* What there is to say of the samples; of those that others have seen, only their rows are here. */
static void tell_samples(observation *o)
{
    size_t n = o->guests ? ti_runner_threads(o->runner) : 0;
    tc_sample_quality **by = tc_new_n(&o->ctx->arena, tc_sample_quality *, n);
    for (size_t i = 0; i < n; i++)
        by[i] = o->guests[i]->worth;
    if (!o->request->config->quiet && o->first.n_sample)
        ti_sample_quality_tell(o->ctx, ti_main(o->module), n ? by : NULL, n, &o->first, &o->ranges,
                               o->judged);
}

/* Ranges are known: the rest of what follows from them. */
static void hand_over(observation *o)
{
    tc_domains *domains = o->domains;
    domains->n_odd = o->ranges.n_odd;
    domains->odd = tc_new_n(&o->ctx->arena, tc_outlier, domains->n_odd);
    domains->n_sample = o->ranges.n_sample;
    domains->n_watched = o->ranges.n_watched;
    for (size_t i = 0; i < domains->n_odd; i++) {
        const tc_sample_id *id = &o->ranges.odd[i];
        domains->odd[i] = (tc_outlier){id->hash, id->index, id->where, o->ranges.odd_in[i]};
    }
    join(o);
}

/* ---- a part of the data ---- */

/* An observer that depends on the order of the samples sees all of them in one go. */
static tc_status check_parts(const observation *o)
{
    for (size_t d = 0; d < o->domains->n; d++)
        if (o->watched[d] &&
            o->domains->domain[d].setting.observer == TC_OBSERVER_histogram_torchao)
            return ti_usage(o->ctx, "the observer histogram-torchao depends on the order of the "
                                    "samples: it cannot be split into parts");
    return TC_OK;
}

static tc_status write_first(observation *o, uint64_t fingerprint)
{
    tc_obs obs = {.kind = TC_OBS_FIRST, .first = o->first};
    *o->request->observe_only = ti_obs_bytes(o->ctx, fingerprint, &obs);
    return TC_OK;
}

/* The second pass over a part, in the ranges that all parts have settled. */
static tc_status write_second(observation *o, const bool *wanted, uint64_t fingerprint)
{
    tc_obs obs = {.kind = TC_OBS_SECOND, .ranges = o->ranges};
    size_t size = o->domains->n * sizeof *o->ranges.ends;
    obs.ranges.ends = ti_arena_copy(&o->ctx->arena, o->ranges.ends,
                                    size); /* before domains are merged */
    obs.ranges.average = ti_arena_copy(&o->ctx->arena, o->ranges.average, size);
    hand_over(o);
    look_again(o);
    TC_TRY(get_ready(o, wanted));
    TC_TRY(second_pass(o));
    obs.binned = o->binned;
    obs.count = tc_new_n(&o->ctx->arena, uint64_t *, o->domains->n);
    for (size_t d = 0; d < o->domains->n; d++)
        if (o->binned[d])
            obs.count[d] =
                (uint64_t *)(uintptr_t)counts_of(o, d, &o->ctx->arena);
    obs.counted = o->counted;
    obs.sum = o->sum;
    *o->request->observe_only = ti_obs_bytes(o->ctx, fingerprint, &obs);
    return TC_OK;
}

static tc_status check_complete(const observation *o, const tc_obs *obs)
{
    if (obs->counted == obs->ranges.n_kept && obs->sum == obs->ranges.kept)
        return TC_OK;
    tc_status status =
        obs->counted == obs->ranges.n_kept
            ? ti_error(o->ctx, NULL, TC_E_OBSERVATIONS,
                       "the second passes saw other samples than the first passes")
            : ti_error(o->ctx, NULL, TC_E_OBSERVATIONS,
                       "the second passes saw %" PRIu64
                       " samples, but the first passes saw %zu",
                       obs->counted, obs->ranges.n_kept);
    ti_note(o->ctx, NULL, "give the second pass of every part, each once");
    return status;
}

/* What parts have seen, in place of passes over samples. */
static tc_status merge_parts(observation *o, const bool *wanted, uint64_t fingerprint)
{
    const tc_quant_request *request = o->request;
    tc_obs obs;
    TC_TRY(ti_obs_read(o->ctx, request->merge, request->n_merge, fingerprint, o->domains->n, &obs));
    bool second = obs.kind == TC_OBS_SECOND;
    if (second && request->observe_only)
        return ti_usage(o->ctx,
                        "these are second passes already: merge them without --observe-only");
    if (second)
        o->ranges = obs.ranges;
    else {
        o->first = obs.first;
        settle_ranges(o);
    }
    if (!second && request->observe_only)
        return write_second(o, wanted, fingerprint);
    tell_samples(o);
    hand_over(o);
    if (second) {
        TC_TRY(check_complete(o, &obs));
        o->merged = obs.count;
    }
    if (look_again(o) && !second) {
        tc_status status =
            ti_error(o->ctx, NULL, TC_E_OBSERVATIONS,
                     "these are first passes only, and the settings need a second one");
        ti_note(o->ctx, NULL,
                "for each part: --calib PART --observe-only --merge FIRST-PASS.obs... -o "
                "SECOND.obs; then merge those");
        return status;
    }
    choose_all(o);
    return TC_OK;
}

/* ---- the whole ---- */

static tc_status see_all(observation *o, const bool *wanted, uint64_t fingerprint)
{
    tc_quant_times none = {0}, *times = o->request->times ? o->request->times : &none;
    double clock = 0;
    TC_TRY(get_ready(o, wanted));
    ti_lap(&clock, NULL);
    TC_TRY(first_pass(o));
    ti_lap(&clock, &times->first);
    if (o->request->observe_only)
        return write_first(o, fingerprint);
    settle_ranges(o);
    tell_samples(o);
    hand_over(o);
    ti_lap(&clock, NULL);
    if (look_again(o))
        TC_TRY(second_pass(o));
    ti_lap(&clock, &times->second);
    choose_all(o);
    ti_lap(&clock, &times->search);
    return TC_OK;
}

tc_status ti_quant_observe(tc_ctx *ctx, tc_module *module, const tc_quant_request *request,
                           tc_domains *domains)
{
    observation *o = tc_new(&ctx->arena, observation);
    *o = (observation){.ctx = ctx, .module = module, .request = request, .domains = domains};
    o->watched = tc_new_n(&ctx->arena, bool, domains->n);
    o->binned = tc_new_n(&ctx->arena, bool, domains->n);
    o->torchao = tc_new_n(&ctx->arena, tc_torchao *, domains->n);
    const bool *wanted = wanted_values(o);
    uint64_t fingerprint = 0;
    if (request->n_merge || request->observe_only) {
        TC_TRY(check_parts(o));
        fingerprint = ti_obs_fingerprint(ctx, ti_main(module), domains);
    }
    tc_status status = request->n_merge ? merge_parts(o, wanted, fingerprint)
                                        : see_all(o, wanted, fingerprint);
    for (size_t i = 0; o->guests && i < ti_runner_threads(o->runner); i++)
        free_guest(o->guests[i]);
    if (o->runner)
        ti_runner_end(o->runner);
    ti_memory_trim(ctx);
    return status;
}
