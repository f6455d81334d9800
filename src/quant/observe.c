/* SPDX-License-Identifier: Apache-2.0 */
/* observe.c -- calibration: two passes over the samples, then a scale and a zero point for every
 * domain.
 *
 * Only ends and counts of bins are kept, so neither the order of the samples nor the threads can
 * change a result.  Samples of several sizes are run by the program of each size; their
 * observations are merged. */
#include "observing.h"

#include <math.h>

#include "../base/mapped.h"
#include "../num/load.h"
#include "observation_file.h"

/* In a stateful program a few samples are also observed as the first call: attention over an empty
 * cache has other ranges. */
static bool seen_fresh(const tc_quant_request *request)
{
    return request->samples.n < TC_FEW_SAMPLES;
}

/* ---- what is observed ---- */

/* Natural ranges are observed too: the values may fill little of them. */
static bool is_watched(const tc_domain *d)
{
    bool settled = d->setting.observer == TC_OBSERVER_fixed || d->base >= 0 || d->joined >= 0;
    return !settled && d->n_val > 0;
}

static bool *wanted_values(tc_observing *o)
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

/* The elements as f32, in place or as a copy. */
static const float *as_f32(tc_observer_guest *who, tc_tensor t)
{
    ti_arena_rewind(&who->scratch, (tc_mark){NULL, 0, 0});
    if (t.type->dtype == TC_f32)
        return t.data;
    return ti_as_f32(&who->scratch, t);
}

/* The elements that count: all, or those below a clamp. */
static const float *counting(tc_observer_guest *who, tc_val v, tc_tensor t, int64_t *n)
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
    tc_observer_guest *g = who;
    tc_first *first = &g->party->first;
    g->sample = k;
    for (size_t i = 0; i < g->party->g->n_in; i++)
        g->far = g->far || holds_far(in[i]);
    first->sample[k] = (tc_sample_id){ti_sample_hash(in, g->party->g->n_in), NULL,
                                      ti_sample_number(g->party->samples, k)};
    if (g->worth)
        ti_sample_quality_see(g->worth, in);
    return true;
}

static void first_see(void *who, tc_val v, tc_tensor seen, const int8_t *order)
{
    (void)order;
    tc_observer_guest *g = who;
    tc_first *first = &g->party->first;
    tc_ends *ends = &first->ends[g->sample * first->n_domain + (size_t)g->o->domains->of[v]];
    int64_t n;
    const float *x = counting(g, v, seen, &n);
    ti_ends_see(ends, x, n);
}

/* Constants of a domain, and initial buffers, are part of every sample.
 */
static void see_constants(tc_observing *o)
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
        tc_first *first = &o->party[0].first;
        for (size_t k = 0; k < first->n_sample; k++)
            ti_ends_add(&first->ends[k * first->n_domain + d], ends);
    }
    ti_arena_rewind(&o->ctx->scratch, mark);
}

static const tc_ends *row_of(const tc_first *rows, size_t index, uint64_t *hash)
{
    for (size_t k = 0; k < rows->n_sample; k++)
        if (rows->sample[k].index == index) {
            *hash = rows->sample[k].hash;
            return rows->ends + k * rows->n_domain;
        }
    return NULL;
}

/* The rows of these samples, where the request has them all. */
static bool take_rows(const tc_observing *o, const tc_party *party)
{
    const tc_first *rows = o->request->rows, *first = &party->first;
    bool same = rows && party == o->party && o->request->config->quiet && !party->g->n_mutation &&
                !o->domains->cut && rows->n_domain == first->n_domain;
    for (size_t k = 0; same && k < first->n_sample; k++) {
        tc_sample_id *id = &first->sample[k];
        *id = (tc_sample_id){.index = ti_sample_number(party->samples, k)};
        const tc_ends *row = row_of(rows, id->index, &id->hash);
        same = row != NULL;
        if (same)
            memcpy(first->ends + k * first->n_domain, row, first->n_domain * sizeof *row);
    }
    return same;
}

static tc_status first_pass(tc_observing *o, tc_party *party)
{
    const tc_samples *samples = party->samples;
    tc_first *first = &party->first;
    first->n_sample = samples->n;
    first->n_domain = o->domains->n;
    first->sample = tc_new_n(&o->ctx->arena, tc_sample_id, first->n_sample);
    first->ends = tc_new_n(&o->ctx->arena, tc_ends, first->n_sample * first->n_domain);
    if (take_rows(o, party))
        return TC_OK;
    for (size_t i = 0; i < first->n_sample * first->n_domain; i++)
        first->ends[i] = ti_ends_none();
    tc_visit visit = {.samples = samples,
                      .what = "samples, first pass",
                      .reading = o->request->times ? &o->request->times->read : NULL,
                      .fresh = seen_fresh(o->request),
                      .guest = (void *const *)party->guests,
                      .enter = first_enter,
                      .see = first_see};
    TC_TRY(ti_runner_run(party->runner, &visit));
    for (size_t i = 0; i < ti_runner_threads(party->runner); i++)
        o->domains->far_given = o->domains->far_given || party->guests[i]->far;
    return TC_OK;
}

/* ---- between the passes ---- */

/* Domains that gain by it are merged, with their observations. */
static void join(tc_observing *o)
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
        size_t to = ti_domain_home(o->domains, d);
        if (to == d)
            continue;
        ti_ends_add(&o->ranges.ends[to], o->ranges.ends[d]);
        ti_ends_add(&o->ranges.average[to], o->ranges.average[d]);
        o->watched[d] = false;
    }
}

/* ---- second pass ---- */

/* Whether the domain's grid depends on the distribution of its elements. */
static bool needs_bins(const tc_observing *o, size_t d)
{
    const tc_domain *domain = &o->domains->domain[d];
    const tc_setting *s = &domain->setting;
    bool margin = domain->output && o->request->config->output_margin > 1;
    return o->watched[d] && !domain->fixed_range &&
           ((s->observer == TC_OBSERVER_mse && !ti_setting_wide(s) && !margin) ||
            s->observer == TC_OBSERVER_percentile);
}

/* Which domains are part of a second pass; false: none. */
static bool look_again(tc_observing *o)
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

static bool second_enter(void *who, size_t k, const tc_tensor *in)
{
    tc_observer_guest *g = who;
    (void)k;
    const tc_ranges *ranges = &g->o->ranges;
    bool ask = ranges->n_odd || g->o->request->observe_only;
    uint64_t hash = ask ? ti_sample_hash(in, g->party->g->n_in) : 0;
    bool kept = !ranges->n_odd || !ti_ranges_odd(ranges, hash);
    g->counted += kept;
    g->sum += kept ? hash : 0;
    return kept;
}

static void second_see(void *who, tc_val v, tc_tensor seen, const int8_t *order)
{
    (void)order;
    tc_observer_guest *g = who;
    size_t d = (size_t)g->o->domains->of[v];
    for (int i = 0; g->o->torchao[d] && i < g->o->domains->looks[v]; i++)
        ti_torchao_see(g->o->torchao[d], as_f32(g, seen), tc_type_count(seen.type));
    if (!g->o->binned[d])
        return;
    int64_t n;
    const float *x = counting(g, v, seen, &n);
    ti_count(&g->tally[d], &g->counted_in, x, n, ti_bins_range(g->o, d));
}

static tc_status second_pass(tc_observing *o, const tc_party *party)
{
    size_t n = o->domains->n, n_guest = ti_runner_threads(party->runner);
    bool in_order = false;
    for (size_t d = 0; d < n; d++)
        in_order |= o->torchao[d] != NULL;
    for (size_t i = 0; i < n_guest; i++)
        party->guests[i]->tally = tc_new_n(&o->ctx->arena, tc_tally, n);
    tc_visit visit = {.samples = party->samples,
                      .what = "samples, second pass",
                      .reading = o->request->times ? &o->request->times->read : NULL,
                      .in_order = in_order,
                      .fresh = seen_fresh(o->request),
                      .guest = (void *const *)party->guests,
                      .enter = second_enter,
                      .see = second_see};
    TC_TRY(ti_runner_run(party->runner, &visit));
    for (size_t i = 0; i < n_guest; i++) {
        o->counted += party->guests[i]->counted;
        o->sum += party->guests[i]->sum;
    }
    return TC_OK;
}

/* ---- getting ready ---- */

static void free_guest(void *what)
{
    ti_arena_free(&((tc_observer_guest *)what)->scratch);
    ti_arena_free(&((tc_observer_guest *)what)->counted_in);
}

/* A program prepared to run over its samples, with an observer on each thread. */
static tc_status get_party(tc_observing *o, const bool *wanted, tc_party *party)
{
    tc_arena *arena = &o->ctx->arena;
    bool first = party == o->party;
    TC_TRY(ti_runner_new(o->ctx, party->g, wanted, party->samples->n, &party->runner));
    o->n_party++;
    size_t n = ti_runner_threads(party->runner);
    party->guests = tc_new_n(arena, tc_observer_guest *, n);
    for (size_t i = 0; i < n; i++) {
        tc_observer_guest *who = party->guests[i] = tc_new(arena, tc_observer_guest);
        who->o = o;
        who->party = party;
        who->worth = first ? ti_sample_quality_new(o->ctx, party->g) : NULL;
        ti_arena_init(&who->scratch);
        ti_arena_init(&who->counted_in);
        who->scratch.from = who->counted_in.from = o->ctx->arena.from;
        who->scratch.oom = who->counted_in.oom = ti_runner_oom(party->runner, i);
        ti_ctx_defer(o->ctx, free_guest, who);
    }
    return TC_OK;
}

/* The program, and its other sizes, with the constants that it has here. */
static tc_status get_ready(tc_observing *o, const bool *wanted)
{
    const tc_quant_request *r = o->request;
    if (!r->samples.n)
        return ti_error(o->ctx, NULL, TC_E_DATA, "there are no calibration samples");
    o->party[0].samples = &r->samples;
    o->party[0].g = ti_main(o->module);
    TC_TRY(get_party(o, wanted, &o->party[0]));
    for (size_t i = 0; i < r->n_size; i++) {
        tc_party *party = &o->party[o->n_party];
        party->samples = &r->size[i].samples;
        TC_TRY(ti_quant_at_size(o->module, r, r->size[i].module, &party->g));
        if (party->g)
            TC_TRY(get_party(o, wanted, party));
        else if (!r->config->quiet)
            ti_warning(o->ctx, NULL, TC_E_DATA,
                       "%zu calibration samples of another size (%s) are left out: the program has "
                       "other operators there", party->samples->n, r->size[i].text);
    }
    return TC_OK;
}

static void end_parties(tc_observing *o)
{
    for (size_t p = 0; p < o->n_party; p++) {
        tc_party *party = &o->party[p];
        for (size_t i = 0; party->guests && i < ti_runner_threads(party->runner); i++)
            free_guest(party->guests[i]);
        ti_runner_end(party->runner);
    }
}

/* Evaluates the rows of all samples. */
static void settle_ranges(tc_observing *o)
{
    bool drop = o->request->config->drop_odd && !o->request->keep_odd &&
                !ti_main(o->module)->n_mutation; /* a call followed by others is never dropped */
    bool *judged = o->judged = tc_new_n(&o->ctx->arena, bool, o->domains->n);
    for (size_t d = 0; d < o->domains->n; d++)
        judged[d] = o->watched[d] && !o->domains->domain[d].fixed_range;
    for (size_t i = 0; i < o->domains->n_join; i++) /* its elements count in the cat */
        if (o->domains->join[i].alone && !o->domains->join[i].settled)
            judged[o->domains->join[i].part] = false;
    bool *given = tc_new_n(&o->ctx->arena, bool, o->domains->n);
    const tc_graph *g = ti_main(o->module);
    for (size_t i = 0; i < g->n_in; i++)
        if (o->domains->of[g->in[i]] >= 0)
            given[o->domains->of[g->in[i]]] = true;
    o->party[0].first.given = given;
    o->ranges = ti_ranges_of(o->ctx, &o->party[0].first, judged, drop);
    for (size_t p = 1; p < o->n_party; p++) { /* none of these is odd: they are taken as given */
        tc_ranges more = ti_ranges_of(o->ctx, &o->party[p].first, judged, false);
        ti_ranges_add(&o->ranges, &more);
    }
}

/* The rows of all sizes, in the order of their content. */
static tc_first all_rows(const tc_observing *o)
{
    tc_first all = o->party[0].first;
    if (o->n_party < 2)
        return all;
    size_t n = 0, n_domain = all.n_domain;
    for (size_t p = 0; p < o->n_party; p++)
        n += o->party[p].first.n_sample;
    all.sample = tc_new_n(&o->ctx->arena, tc_sample_id, n);
    all.ends = tc_new_n(&o->ctx->arena, tc_ends, n * n_domain);
    all.n_sample = 0;
    for (size_t p = 0; p < o->n_party; p++) {
        const tc_first *from = &o->party[p].first;
        memcpy(all.sample + all.n_sample, from->sample, from->n_sample * sizeof *from->sample);
        memcpy(all.ends + all.n_sample * n_domain, from->ends,
               from->n_sample * n_domain * sizeof *from->ends);
        all.n_sample += from->n_sample;
    }
    ti_ranges_of(o->ctx, &all, o->judged, false);
    return all;
}

/* Reports on the samples; of those observed elsewhere, only rows are available. */
static void tell_samples(tc_observing *o)
{
    const tc_party *party = &o->party[0];
    size_t n = o->n_party ? ti_runner_threads(party->runner) : 0;
    tc_sample_quality **by = tc_new_n(&o->ctx->arena, tc_sample_quality *, n);
    for (size_t i = 0; i < n; i++)
        by[i] = party->guests[i]->worth;
    if (o->request->config->quiet || !party->first.n_sample)
        return;
    tc_first rows = all_rows(o);
    ti_sample_quality_tell(o->ctx, ti_main(o->module), n ? by : NULL, n, &rows, &o->ranges,
                           o->judged);
}

/* The value in which a sample is far out: its domain's input, or the first one. */
static void name_far(const tc_observing *o, const tc_far_out *far, tc_outlier *out)
{
    const tc_graph *g = ti_main(o->module);
    out->input = -1;
    if (far->domain < 0)
        return;
    tc_val v = o->domains->domain[far->domain].val[0];
    for (size_t i = 0; far->given && i < g->n_in; i++)
        if (o->domains->of[g->in[i]] == far->domain) {
            v = g->in[i];
            out->input = (int32_t)i;
        }
    out->alone = g->val[v]->name ? g->val[v]->name : "a value";
    out->reach = far->reach;
    out->others = far->others;
}

/* Ranges are known: the rest follows. */
static void hand_over(tc_observing *o)
{
    tc_domains *domains = o->domains;
    domains->n_odd = o->ranges.n_odd;
    domains->odd = tc_new_n(&o->ctx->arena, tc_outlier, domains->n_odd);
    domains->n_sample = o->ranges.n_sample;
    domains->n_watched = o->ranges.n_watched;
    for (size_t i = 0; i < domains->n_odd; i++) {
        const tc_sample_id *id = &o->ranges.odd[i];
        domains->odd[i] = (tc_outlier){.hash = id->hash,
                                       .index = id->index,
                                       .where = id->where,
                                       .far_in = o->ranges.odd_in[i]};
        name_far(o, &o->ranges.odd_far[i], &domains->odd[i]);
    }
    join(o);
}

/* ---- a part of the data ---- */

/* An observer that depends on the order of the samples sees all of them in one go. */
static tc_status check_parts(const tc_observing *o)
{
    for (size_t d = 0; d < o->domains->n; d++)
        if (o->watched[d] &&
            o->domains->domain[d].setting.observer == TC_OBSERVER_histogram_torchao)
            return ti_usage(o->ctx, "the observer histogram-torchao depends on the order of the "
                                    "samples: it cannot be split into parts");
    return TC_OK;
}

static tc_status write_first(tc_observing *o, uint64_t fingerprint)
{
    tc_obs obs = {.kind = TC_OBS_FIRST, .first = o->party[0].first};
    *o->request->observe_only = ti_obs_bytes(o->ctx, fingerprint, &obs);
    return TC_OK;
}

/* The second pass over a part, in the ranges of all parts. */
static tc_status write_second(tc_observing *o, const bool *wanted, uint64_t fingerprint)
{
    tc_obs obs = {.kind = TC_OBS_SECOND, .ranges = o->ranges};
    size_t size = o->domains->n * sizeof *o->ranges.ends;
    obs.ranges.ends = ti_arena_copy(&o->ctx->arena, o->ranges.ends,
                                    size); /* before domains are merged */
    obs.ranges.average = ti_arena_copy(&o->ctx->arena, o->ranges.average, size);
    hand_over(o);
    look_again(o);
    TC_TRY(get_ready(o, wanted));
    TC_TRY(second_pass(o, &o->party[0]));
    obs.binned = o->binned;
    obs.count = tc_new_n(&o->ctx->arena, uint64_t *, o->domains->n);
    for (size_t d = 0; d < o->domains->n; d++)
        if (o->binned[d])
            obs.count[d] =
                (uint64_t *)(uintptr_t)ti_counts_of(o, d, &o->ctx->arena);
    obs.counted = o->counted;
    obs.sum = o->sum;
    *o->request->observe_only = ti_obs_bytes(o->ctx, fingerprint, &obs);
    return TC_OK;
}

static tc_status check_complete(const tc_observing *o, const tc_obs *obs)
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

/* Observations of parts, instead of passes over samples. */
static tc_status merge_parts(tc_observing *o, const bool *wanted, uint64_t fingerprint)
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
        o->party[0].first = obs.first;
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
    ti_choose_scales(o);
    return TC_OK;
}

/* ---- the whole ---- */

static tc_status see_all(tc_observing *o, const bool *wanted, uint64_t fingerprint)
{
    tc_quant_times none = {0}, *times = o->request->times ? o->request->times : &none;
    double clock = 0;
    TC_TRY(get_ready(o, wanted));
    ti_lap(&clock, NULL);
    for (size_t p = 0; p < o->n_party; p++)
        TC_TRY(first_pass(o, &o->party[p]));
    see_constants(o);
    o->domains->rows = &o->party[0].first;
    ti_lap(&clock, &times->first);
    if (o->request->observe_only)
        return write_first(o, fingerprint);
    settle_ranges(o);
    tell_samples(o);
    hand_over(o);
    ti_lap(&clock, NULL);
    bool again = look_again(o);
    for (size_t p = 0; again && p < o->n_party; p++)
        TC_TRY(second_pass(o, &o->party[p]));
    ti_lap(&clock, &times->second);
    ti_choose_scales(o);
    ti_lap(&clock, &times->search);
    return TC_OK;
}

tc_status ti_quant_observe(tc_ctx *ctx, tc_module *module, const tc_quant_request *request,
                           tc_domains *domains)
{
    tc_observing *o = tc_new(&ctx->arena, tc_observing);
    *o = (tc_observing){.ctx = ctx, .module = module, .request = request, .domains = domains};
    o->party = tc_new_n(&ctx->arena, tc_party, request->n_size + 1);
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
    end_parties(o);
    ti_memory_trim(ctx);
    return status;
}
