/* SPDX-License-Identifier: Apache-2.0 */
/* mixed_precision.c -- which domains need 16 bits.
 *
 * The real program runs over a few samples with one domain on its grid and everything else
 * unchanged; the noise of the domain is the error of the program's outputs.  The noisiest get 16
 * bits: as many as the configuration asks for, for all readers.  By default, those that make the
 * program LOUD, for readers that take 16 bits as cheaply as 8: a class token before a norm, whose
 * row has few codes, or a long chain of sums; and those that ruin it, for all that can read or make
 * 16 bits at some cost: powers before a root, scores whose peaks a comparison selects.  One run
 * with all of these on their grids first decides whether there is anything to do.
 *
 * Up to a domain's first value such a run equals the plain one: each sample has a plan that runs
 * through the program once, and a twin that branches off before every domain and runs to the
 * end. */
#include "quantizer.h"

#include <math.h>

#include "../base/attempt.h"
#include "../ir/rewrite.h"
#include "../num/snap.h"
#include "error_share.h"
#include "role.h"
#include "sample_runner.h"
#include "observations.h"

enum { SAMPLES = 4, PAID_SAMPLES = 8, FEW_SAMPLES = 2, EVERY = -2 /* instead of a domain */ };
static const double WORK = 2e10;               /* multiplications that the search may take */

/* When domains are widened by default: all together make more noise over signal than `loud`, and
 * one makes more than `faint`. */
typedef struct tier {
    bool expensive; /* also those whose readers or producers take 16 bits at a cost */
    double loud, faint;
} tier;

static const tier CHEAP = {false, 1e-3, 1e-4}, COSTLY = {true, 1e-2, 1e-2}; /* 30 and 40 dB; 20 */

typedef struct ranking {
    tc_ctx *ctx;
    tc_graph *g;
    const tc_domains *domains;
    tc_samples samples;
    const tier *noisy; /* only loud ones are wanted */
    const bool *only;  /* by domain: only these, as far as work allows; or NULL */
    bool *eligible; /* by domain */
    bool *later;    /* by domain: measured if there is time */
    bool *wanted;   /* by value */
    tc_val *order;  /* values as they are made; inputs are not among them */
    size_t n_order;
    struct sample *sample;
    double *noise; /* by domain */
} ranking;

/* One sample's runs. */
typedef struct sample {
    ranking *r;
    tc_watch watch, twin_watch;
    tc_plan *plan, *twin;
    tc_tensor *in, *twin_in, *out, *real;
    void *const *state;
    int32_t domain; /* whose values the twin rounds to their grid */
    double *noise;  /* by domain */
    bool *done;     /* by domain: its noise is measured */
    double all;     /* of all eligible ones at once */
    tc_status status;
    tc_plan *failed;
} sample;

/* ---- rounding values to a grid ---- */

static void put_on_grid(const tc_domain *d, tc_tensor t)
{
    tc_snap grid = ti_snap_make(d->scale, d->zero, d->setting.qmin, d->setting.qmax);
    ti_snap_f32(&grid, t.data, t.data, (size_t)tc_type_count(t.type));
}

static void see_nothing(void *who, tc_val v, tc_tensor seen, const int8_t *order)
{
    (void)who, (void)v, (void)seen, (void)order;
}

static void see_twin(void *who, tc_val v, tc_tensor seen, const int8_t *order)
{
    (void)order;
    const sample *s = who;
    const tc_domains *domains = s->r->domains;
    int32_t d = domains->of[v];
    if (d == s->domain || (s->domain == EVERY && d >= 0 && s->r->eligible[d]))
        put_on_grid(&domains->domain[d], seen);
}

/* ---- noise ---- */

/* Squared error relative to the squares, over all real outputs. */
static double noise_of(const sample *s)
{
    double noise = 0;
    for (size_t i = 0; i < s->r->g->n_out; i++) {
        const float *x = s->real[i].data, *y = s->out[i].data;
        double error = 0, square = 0;
        for (int64_t k = 0; s->real[i].type->dtype == TC_f32 && k < tc_type_count(s->real[i].type);
             k++) {
            double e = (double)y[k] - (double)x[k];
            error += e * e;
            square += (double)x[k] * (double)x[k];
        }
        noise += square > 0 ? error / square : error;
    }
    return noise;
}

static tc_status run_plain(sample *s)
{
    ti_plan_start(s->plan, s->in, s->state);
    s->failed = s->plan;
    TC_TRY(ti_plan_go(s->plan, TC_NONE));
    ti_plan_outputs(s->plan, s->out);
    for (size_t i = 0; i < s->r->g->n_out; i++)
        memcpy(s->real[i].data, s->out[i].data, tc_type_bytes(s->out[i].type));
    ti_plan_start(s->plan, s->in, s->state);
    return TC_OK;
}

/* The twin continues from the plain run's current step, with a domain on its grid. */
static tc_status run_twin(sample *s, int32_t d, const tc_tensor *in)
{
    s->domain = d;
    s->failed = s->twin;
    ti_plan_start(s->twin, in, s->state);
    ti_plan_follow(s->twin, s->plan);
    TC_TRY(ti_plan_go(s->twin, TC_NONE));
    ti_plan_outputs(s->twin, s->out);
    *(d == EVERY ? &s->all : &s->noise[d]) = noise_of(s);
    return TC_OK;
}

/* All eligible domains at once. */
static tc_status run_every(sample *s)
{
    const ranking *r = s->r;
    for (size_t i = 0; i < r->g->n_in; i++) {
        int32_t d = r->domains->of[r->g->in[i]];
        memcpy(s->twin_in[i].data, s->in[i].data, tc_type_bytes(s->in[i].type));
        if (d >= 0 && r->eligible[d])
            put_on_grid(&r->domains->domain[d], s->twin_in[i]);
    }
    return run_twin(s, EVERY, s->twin_in);
}

/* Domains of inputs are on their grid from the start. */
static tc_status run_inputs(sample *s, bool *done)
{
    const ranking *r = s->r;
    for (size_t k = 0; k < r->g->n_in; k++) {
        int32_t d = r->domains->of[r->g->in[k]];
        if (d < 0 || !r->eligible[d] || done[d])
            continue;
        done[d] = true;
        for (size_t i = 0; i < r->g->n_in; i++) {
            memcpy(s->twin_in[i].data, s->in[i].data, tc_type_bytes(s->in[i].type));
            if (r->domains->of[r->g->in[i]] == d)
                put_on_grid(&r->domains->domain[d], s->twin_in[i]);
        }
        TC_TRY(run_twin(s, d, s->twin_in));
    }
    return TC_OK;
}

static tc_status run_all(sample *s, bool *done)
{
    const ranking *r = s->r;
    TC_TRY(run_plain(s));
    if (r->noisy)
        TC_TRY(run_every(s));
    if (r->noisy && !(s->all > r->noisy->loud))
        return TC_OK;
    TC_TRY(run_inputs(s, done));
    for (size_t k = 0; k < r->n_order; k++) {
        int32_t d = r->domains->of[r->order[k]];
        if (!done[d])
            TC_TRY(run_twin(s, d, s->in));
        done[d] = true;
        s->failed = s->plan;
        TC_TRY(ti_plan_go(s->plan, r->order[k]));
    }
    return TC_OK;
}

static void rank_sample(void *what, size_t i, tc_arena *room)
{
    const ranking *r = what;
    sample *s = &r->sample[i];
    ti_plan_on_oom(s->plan, room->oom);
    ti_plan_on_oom(s->twin, room->oom);
    memset(s->done, 0, r->domains->n * sizeof *s->done);
    s->status = run_all(s, s->done);
}

/* ---- getting ready ---- */

/* 8 bits chosen by observation; noisy: of a value that some reader takes in 16, that can be made
 * so, and that no rule names. */
static bool is_eligible(const tc_domain *d, const tier *noisy)
{
    bool reads = noisy && noisy->expensive ? d->some_bears : d->some_wide,
         makes = noisy && noisy->expensive ? d->made_expensive : d->made_wide;
    if (noisy && (!reads || !makes || d->named))
        return false;
    return d->setting.dtype == TC_i8 && d->setting.observer != TC_OBSERVER_fixed && d->base < 0 &&
           d->joined < 0 && d->n_val > 0 && d->scale > 0;
}

/* Values with a reader that amplifies noise: a norm of small rows, a difference of similar
 * values. */
static bool *find_louder(tc_ctx *ctx, const tc_graph *g)
{
    bool *louder = tc_new_n(&ctx->arena, bool, g->n_val);
    for (size_t k = 0; k < g->n_node; k++) {
        tc_op op = g->node[k]->op;
        if (op == TC_OP_sub || op == TC_OP_layer_norm || op == TC_OP_group_norm ||
            op == TC_OP_rms_norm)
            for (int i = 0; i < g->node[k]->n_in; i++)
                louder[g->node[k]->in[i]] = true;
    }
    return louder;
}

static bool is_suspect(const bool *louder, const tc_domain *d)
{
    for (size_t j = 0; j < d->n_val; j++)
        if (louder[d->val[j]])
            return true;
    return false;
}

/* If there are more domains than time, suspects first. */
static void keep_within_work(ranking *r)
{
    double each = ti_quant_work(r->g) / 2 * (double)r->samples.n;
    size_t room = (size_t)fmax(8, fmin(1e6, WORK / fmax(each, 1))), n = 0;
    for (size_t d = 0; d < r->domains->n; d++)
        n += r->eligible[d];
    if (n <= room)
        return;
    const bool *louder = find_louder(r->ctx, r->g);
    for (size_t d = 0; d < r->domains->n; d++)
        if (r->eligible[d] && is_suspect(louder, &r->domains->domain[d]))
            room -= room > 0 ? 1 : 0;
        else if (r->eligible[d])
            r->later[d] = true;
    for (size_t d = 0; d < r->domains->n; d++)
        if (r->later[d]) {
            r->eligible[d] = room > 0;
            room -= room > 0 ? 1 : 0;
        }
}

static void look_around(ranking *r)
{
    const tc_graph *g = r->g;
    tc_arena *arena = &r->ctx->arena;
    r->eligible = tc_new_n(arena, bool, r->domains->n);
    r->later = tc_new_n(arena, bool, r->domains->n);
    r->wanted = tc_new_n(arena, bool, g->n_val);
    r->order = tc_new_n(arena, tc_val, g->n_val);
    for (size_t d = 0; d < r->domains->n; d++)
        r->eligible[d] =
            (!r->only || r->only[d]) && is_eligible(&r->domains->domain[d], r->noisy);
    if (r->noisy || r->only)
        keep_within_work(r);
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_out; i++) {
            tc_val v = g->node[k]->out[i];
            int32_t d = r->domains->of[v];
            if (d < 0 || !r->eligible[d] || g->val[v]->data || ti_type_of(g, v)->dtype != TC_f32 ||
                !r->domains->looks[v])
                continue;
            r->wanted[v] = true;
            r->order[r->n_order++] = v;
        }
}

static tc_status prepare_sample(ranking *r, size_t i)
{
    tc_ctx *ctx = r->ctx;
    sample *s = &r->sample[i];
    s->r = r;
    s->watch = (tc_watch){r->wanted, see_nothing, s};
    s->twin_watch = (tc_watch){r->wanted, see_twin, s};
    s->plan = i ? ti_plan_twin(r->sample[0].plan, &s->watch) : ti_plan_new(ctx, r->g, &s->watch);
    s->twin = s->plan ? ti_plan_twin(s->plan, &s->twin_watch) : NULL;
    if (!s->twin)
        return TC_OK;
    s->in = ti_input_buffers(ctx, r->g);
    s->twin_in = ti_input_buffers(ctx, r->g);
    s->state = r->samples.state(r->samples.from, i);
    s->out = tc_new_n(&ctx->arena, tc_tensor, r->g->n_out);
    s->real = tc_new_n(&ctx->arena, tc_tensor, r->g->n_out);
    for (size_t k = 0; k < r->g->n_out; k++)
        s->real[k] = ti_tensor_new(&ctx->arena, ti_type_of(r->g, r->g->out[k]));
    s->noise = tc_new_n(&ctx->arena, double, r->domains->n);
    s->done = tc_new_n(&ctx->arena, bool, r->domains->n);
    return r->samples.read(r->samples.from, i, s->in);
}

static tc_status cannot_rank(const ranking *r)
{
    return ti_unsupported(r->ctx, NULL, TC_E_UNSUPPORTED,
                          "the program has operators that cannot be ranked for 16 bits");
}

static bool any_eligible(const ranking *r)
{
    for (size_t d = 0; d < r->domains->n; d++)
        if (r->eligible[d])
            return true;
    return false;
}

static tc_status measure_noise(void *what)
{
    ranking *r = what;
    r->n_order = 0;
    memset(r->noise, 0, r->domains->n * sizeof *r->noise);
    look_around(r);
    r->sample = tc_new_n(&r->ctx->arena, sample, r->samples.n);
    if ((r->noisy || r->only) && !any_eligible(r))
        return TC_OK;
    for (size_t i = 0; i < r->samples.n; i++) {
        TC_TRY(prepare_sample(r, i));
        if (!r->sample[i].twin)
            return r->noisy || r->only ? TC_OK : cannot_rank(r);
    }
    size_t threads =
        ti_plan_parallel(r->sample[0].plan) ? ti_each_threads(r->ctx, r->samples.n) : 1;
    ti_each(r->ctx, r->samples.n, threads, rank_sample, r);
    for (size_t i = 0; i < r->samples.n; i++) {
        if (r->sample[i].status)
            return ti_plan_explain(r->sample[i].failed);
        for (size_t d = 0; d < r->domains->n; d++)
            r->noise[d] += r->sample[i].noise[d];
    }
    return TC_OK;
}

static tc_status measure(ranking *r)
{
    r->noise = tc_new_n(&r->ctx->arena, double, r->domains->n);
    return ti_attempt_work(r->ctx, measure_noise, r);
}

tc_status ti_quant_noise(tc_ctx *ctx, tc_module *module, const tc_quant_request *request,
                         const tc_domains *domains, const bool *only, double *noise)
{
    ranking *r = tc_new(&ctx->arena, ranking);
    *r = (ranking){.ctx = ctx, .g = ti_main(module), .domains = domains, .only = only};
    size_t n = 0;
    for (size_t d = 0; d < domains->n; d++)
        n += only[d];
    bool long_work = ti_quant_work(r->g) / 2 * FEW_SAMPLES * (double)n > WORK;
    TC_TRY(ti_choose_samples(ctx, r->g, &request->samples, domains, long_work ? 1 : FEW_SAMPLES,
                             &r->samples));
    if (!r->samples.n)
        return TC_OK;
    TC_TRY(measure(r));
    ti_chosen_end(&r->samples);
    for (size_t d = 0; d < domains->n; d++)
        noise[d] = r->noise[d] / (double)r->samples.n;
    return TC_OK;
}

/* ---- 16 bits ---- */

void ti_domain_widen(tc_domains *domains, size_t d)
{
    tc_domain *domain = &domains->domain[d];
    tc_setting s = domain->setting;
    s.dtype = TC_i16;
    s.qmin = -32767;
    s.qmax = 32767;
    s.symmetric = true;
    s.floor = TC_LEAST_SCALE;
    tc_grid grid = ti_grid_of(&s, TC_WIDE_MARGIN * domain->lo, ti_wide_end(domain, domain->hi));
    domain->setting = s;
    domain->scale = grid.scale;
    domain->zero = 0;
    for (size_t k = 0; k < domains->n; k++)
        if (domains->domain[k].base == (int32_t)d) {
            tc_domain *other = &domains->domain[k];
            ti_domain_widen(domains, k);
            other->scale = (double)(float)(grid.scale * other->factor);
        }
}

static size_t noisiest(const ranking *r)
{
    size_t most = 0;
    for (size_t d = 1; d < r->domains->n; d++)
        if (r->noise[d] > r->noise[most])
            most = d;
    return most;
}

/* The current 8 bits of a domain, and of those derived from it, are kept for some readers. */
static void keep_narrow(tc_domains *domains, size_t d, bool expensive)
{
    tc_domain *domain = &domains->domain[d];
    domain->expensive = expensive;
    domain->narrow = domain->setting;
    domain->narrow_scale = domain->scale;
    domain->narrow_zero = domain->zero;
    for (size_t k = 0; k < domains->n; k++)
        if (domains->domain[k].base == (int32_t)d)
            keep_narrow(domains, k, expensive);
}

/* The noisiest, until the others together are not loud. */
static tc_status widen_noisy(tc_ctx *ctx, tc_module *module, const tc_quant_request *request,
                             tc_domains *domains, const tier *when)
{
    ranking *r = tc_new(&ctx->arena, ranking);
    *r = (ranking){.ctx = ctx, .g = ti_main(module), .domains = domains, .noisy = when};
    if (!request->samples.n)
        return TC_OK;
    TC_TRY(ti_choose_samples(ctx, r->g, &request->samples, domains, FEW_SAMPLES, &r->samples));
    if (!r->samples.n)
        return TC_OK;
    TC_TRY(measure(r));
    ti_chosen_end(&r->samples);
    double left = 0, least = when->faint * (double)r->samples.n;
    for (size_t d = 0; d < domains->n; d++)
        left += r->noise[d];
    while (left > when->loud * (double)r->samples.n) {
        size_t most = noisiest(r);
        if (!(r->noise[most] > least))
            break;
        left -= r->noise[most];
        r->noise[most] = 0;
        keep_narrow(domains, most, when->expensive);
        ti_domain_widen(domains, most);
    }
    return TC_OK;
}

static tc_status widen_unasked(tc_ctx *ctx, tc_module *module, const tc_quant_request *request,
                               tc_domains *domains)
{
    TC_TRY(widen_noisy(ctx, module, request, domains, &CHEAP));
    return widen_noisy(ctx, module, request, domains, &COSTLY);
}

/* Whether everything that a node moves is of domain d. */
static bool moves_within(const tc_domains *domains, const tc_node *node, int32_t d)
{
    bool within = ti_role_moves(node);
    for (int i = 0; i < node->n_in; i++)
        within = within && (!ti_role_carries(node, i) || domains->of[node->in[i]] == d);
    return within;
}

/* Made by an accumulator, or moved from there. */
static bool is_made_whole(const tc_graph *g, const tc_domains *domains, size_t d)
{
    const tc_domain *domain = &domains->domain[d];
    for (size_t i = 0; i < domain->n_val; i++) {
        const tc_node *def = ti_def(g, domain->val[i]);
        if (!def || !(ti_role_gives_wide(def->op) || moves_within(domains, def, (int32_t)d)))
            return false;
    }
    return true;
}

/* Outputs of the program leave as real values, so their codes have no readers: 16 bits cost almost
 * nothing where an accumulator makes them. */
static void widen_outputs(const tc_graph *g, tc_domains *domains)
{
    for (size_t d = 0; d < domains->n; d++) {
        const tc_domain *domain = &domains->domain[d];
        if (domain->output && domain->all_wide && is_eligible(domain, &CHEAP) &&
            is_made_whole(g, domains, d))
            ti_domain_widen(domains, d);
    }
}

/* ---- choices ---- */

/* The result with the indices that a node selects; -1: none, or unused. */
static int chosen(const uint32_t *readers, const tc_node *node)
{
    int i = node->op == TC_OP_topk || node->op == TC_OP_sort ? 1 : -1;
    if (node->op == TC_OP_argmax)
        i = 0;
    return i >= 0 && i < node->n_out && readers[node->out[i]] ? i : -1;
}

/* An elementwise monotonic function, or of a row. */
static bool keeps_order(tc_op op)
{
    return op == TC_OP_softmax || op == TC_OP_log_softmax || op == TC_OP_sigmoid;
}

/* Whether products make the domain's values, or what keeps their order: those have 16 bits to give.
 * Others have passed through eight before. */
static bool can_be_wide(const tc_graph *g, const tc_domain *d)
{
    for (size_t i = 0; i < d->n_val; i++) {
        const tc_node *def = ti_def(g, d->val[i]);
        bool product = def && ti_role_gives_wide(def->op) && (tc_ops[def->op].traits & T_MAC);
        if (!product && !(def && (keeps_order(def->op) || ti_role_moves(def))))
            return false;
    }
    return true;
}

static void widen_choice(const tc_graph *g, tc_domains *domains, tc_val v)
{
    int32_t d = domains->of[v];
    if (d < 0 || domains->domain[d].named || !is_eligible(&domains->domain[d], NULL) ||
        !can_be_wide(g, &domains->domain[d]))
        return;
    keep_narrow(domains, (size_t)d, true);
    ti_domain_widen(domains, (size_t)d);
}

/* Values that decide a selection: with eight bits many are equal, and the first of equals is
 * arbitrary. */
static void widen_choices(tc_ctx *ctx, const tc_graph *g, tc_domains *domains)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    const uint32_t *readers = ti_graph_readers(ctx, g);
    for (size_t k = 0; k < g->n_node; k++) {
        if (chosen(readers, g->node[k]) < 0)
            continue;
        tc_val v = g->node[k]->in[0];
        widen_choice(g, domains, v);
        const tc_node *def = ti_def(g, v);
        while (def && def->n_in >= 1 && (keeps_order(def->op) || ti_role_moves(def))) {
            v = def->in[0];
            widen_choice(g, domains, v);
            def = v ? ti_def(g, v) : NULL;
        }
    }
    ti_arena_rewind(&ctx->scratch, mark);
}

tc_status ti_quant_widen(tc_ctx *ctx, tc_module *module, const tc_quant_request *request,
                         tc_domains *domains)
{
    if (request->config->widen_noisy)
        widen_choices(ctx, ti_main(module), domains);
    if (request->config->widen_noisy && !request->config->out.has)
        widen_outputs(ti_main(module), domains);
    const tc_config *config = request->config;
    if (!config->n_wide && !(config->wide_cycles > 0))
        return request->config->widen_noisy ? widen_unasked(ctx, module, request, domains) : TC_OK;
    if (!request->samples.n)
        return ti_usage(
            ctx,
            "finding the values that need 16 bits needs samples: add --calib DATA");
    bool priced = request->cost.layers && !request->cost.packs;
    ranking *r = tc_new(&ctx->arena, ranking);
    *r = (ranking){.ctx = ctx, .g = ti_main(module), .domains = domains};
    TC_TRY(ti_choose_samples(ctx, r->g, &request->samples, domains,
                             priced ? PAID_SAMPLES : SAMPLES, &r->samples));
    if (!r->samples.n)
        return TC_OK;
    TC_TRY(measure(r));
    ti_chosen_end(&r->samples);
    if (priced)
        return ti_quant_spend_16bit(ctx, module, request, domains, r->noise,
                                    config->n_wide ? config->n_wide : INT64_MAX,
                                    config->wide_cycles > 0 ? 1 + config->wide_cycles / 100 : 0);
    if (!config->n_wide)
        return ti_usage(ctx,
                        "16-bit values for %g %% more cycles: the target's cost is not known; -q "
                        "int8+16:K takes the K noisiest values",
                        config->wide_cycles);
    for (int64_t k = 0; k < config->n_wide; k++) {
        size_t most = noisiest(r);
        if (!(r->noise[most] > 0))
            break;
        r->noise[most] = 0;
        ti_domain_widen(domains, most);
    }
    return TC_OK;
}
