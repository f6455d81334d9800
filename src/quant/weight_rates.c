/* SPDX-License-Identifier: Apache-2.0 */
/* weight_rates.c -- see weight_rates.h.
 *
 * Errors of different layers' weights are independent, so their noise adds up in the outputs:
 *
 *   noise(steps) = noise(all 1) + sum over layers of D_l(s) - D_l(1)
 *   D_l(s)       = D_l(probe) e_l(s) / e_l(probe)          e_l: squared error of the nearest codes
 *
 * D_l(probe) is measured: the real program runs with that layer's weights from the typed program with
 * the probe's step everywhere, rounded jointly as they would be in the end, a bias that keeps the
 * layer's means, and all else as it was.  Bytes and cycles of a layer at each step are the back end's
 * own, of the program lowered with that step everywhere; for a loss both count, each as a part of the
 * whole.  With one price of noise, every layer takes by itself the step with the least price in all;
 * the prices from 0 up are the curve.  A layer that many outputs hear keeps fine steps, one with many
 * weights takes coarse ones.
 *
 * Where weights are packed instead of coded, a step is one bit less.
 *
 * Layers may add up to more or less than each by itself: the real program with all weights on the
 * chosen steps says how much, on samples that they were not rounded with.  Whole typed programs
 * would not: the roundings of activations differ wherever weights do, and a few samples see more of
 * that than of steps. */
#include "weight_rates.h"

#include <math.h>

#include "../base/attempt.h"
#include "../base/real.h"
#include "../num/load.h"
#include "error_share.h"
#include "sample_runner.h"
#include "swap_weights.h"

enum { STEPS = 16, HALVINGS = 50, TRIALS = 4 };

/* The steps that a layer may take, from none; probe: the one at which noise is measured. */
typedef struct ladder {
    double step[STEPS];
    int64_t top[STEPS]; /* instead: the largest code */
    size_t n, probe;
} ladder;

static const ladder coded = {
    .step = {1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32}, .n = 16, .probe = 6};
static const ladder packed = {.top = {127, 63, 31, 15, 7, 3, 1}, .n = 7, .probe = 3};
static const double WORK = 2e11;    /* multiplications that measuring layers may take */
static const double SMALL = 0.002;  /* of all weights: layers with less keep their step */

typedef struct layer {
    const char *name; /* of its node */
    tc_bytes_cycles price[STEPS];
    double error[STEPS]; /* of the nearest codes */
    double noise;        /* of the outputs, with the weights of the probe */
    size_t step;         /* the choice */
} layer;

struct tc_rates {
    tc_arena room;
    layer *layer;
    size_t n;
    const ladder *ladder;
    tc_bytes_cycles all; /* without steps */
    double noise;        /* of the typed program, without steps */
    double more;         /* noise foreseen with the last choice, beyond that */
    double together;     /* what all layers make, as a part of their sum */
    bool found;
};

static void release(void *what) { ti_arena_free(&((tc_rates *)what)->room); }

tc_rates *ti_rates_new(tc_ctx *ctx)
{
    tc_rates *r = tc_new(&ctx->arena, tc_rates);
    ti_arena_init_like(&r->room, &ctx->arena);
    ti_ctx_defer(ctx, release, r);
    return r;
}

/* So many dB as a factor. */
static double times(double db) { return ti_exp2(db / 10 * 3.321928094887362); }

/* ---- the choice ---- */

static double noise_at(const tc_rates *r, const layer *l, size_t k)
{
    double probe = l->error[r->ladder->probe];
    return probe > 0 ? l->noise * l->error[k] / probe : 0;
}

static double more_at(const tc_rates *r, const layer *l, size_t k)
{
    return r->together * (noise_at(r, l, k) - noise_at(r, l, 0));
}

/* What is saved; BOTH: where bytes are not limited, each as a part of the whole. */
typedef enum saving { BYTES, BOTH } saving;

static double price_at(const tc_rates *r, const layer *l, size_t k, saving of)
{
    const tc_bytes_cycles *p = &l->price[k];
    return of == BYTES ? p->bytes : (p->bytes + p->cycles * r->all.bytes / r->all.cycles) / 2;
}

/* What one price, of noise in what is saved, makes of all layers. */
static tc_rate_point settle(const tc_rates *r, double of_noise, saving of)
{
    tc_rate_point at = {r->all.bytes, r->all.cycles, 0};
    for (size_t i = 0; i < r->n; i++) {
        layer *l = &r->layer[i];
        double least = INFINITY;
        l->step = 0;
        for (size_t k = 0; k < r->ladder->n; k++) {
            double price = price_at(r, l, k, of) + of_noise * more_at(r, l, k);
            if (price < least) {
                least = price;
                l->step = k;
            }
        }
        at.bytes += l->price[l->step].bytes - l->price[0].bytes;
        at.cycles += l->price[l->step].cycles - l->price[0].cycles;
        at.noise += more_at(r, l, l->step);
    }
    return at;
}

/* Prices between which all choices lie, and so many of them, evenly by their logarithm. */
static double price_of_noise(const tc_rates *r, double at)
{
    double most = r->all.bytes + r->all.cycles, least = r->noise > 0 ? r->noise : 1;
    return most / least * ti_exp2(20 - 40 * at);
}

/* The coarsest steps whose noise is at most this much more. */
static tc_rate_point settle_noise(const tc_rates *r, double more)
{
    saving of = r->ladder == &coded ? BOTH : BYTES; /* what is packed takes cycles */
    double lo = 0, hi = 1;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (lo + hi) / 2;
        if (settle(r, price_of_noise(r, middle), of).noise <= more)
            lo = middle;
        else
            hi = middle;
    }
    return settle(r, price_of_noise(r, lo), of);
}

/* The finest steps that come down to a limit, or the coarsest there are. */
static tc_rate_point settle_limit(const tc_rates *r, double limit)
{
    double lo = 0, hi = 1;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (lo + hi) / 2;
        if (settle(r, price_of_noise(r, middle), BYTES).bytes > limit)
            lo = middle;
        else
            hi = middle;
    }
    return settle(r, price_of_noise(r, hi), BYTES);
}

size_t ti_rates_curve(const tc_rates *r, tc_rate_point *point, size_t n, double *noise)
{
    size_t got = 0;
    *noise = r->noise;
    for (size_t i = 0; r->n && i < n; i++) {
        double more = i ? r->noise * (times(0.5 * (double)i) - 1) : 0;
        tc_rate_point p = settle_noise(r, more);
        if (!got || p.bytes < point[got - 1].bytes)
            point[got++] = p;
    }
    return got;
}

void ti_rates_text(const tc_quant_gains *gains, tc_buf *out)
{
    if (!gains->n_curve)
        return;
    ti_buf_printf(out, "weights by layer, as foreseen:\n  dB lost      dB       bytes      cycles\n");
    for (size_t i = 0; i < gains->n_curve; i++) {
        const tc_rate_point *p = &gains->curve[i];
        double noise = gains->curve_noise + p->noise;
        ti_buf_printf(out, "  %7.2f  %6.2f  %10.0f  %10.0f\n", ti_sqnr_db(noise, gains->curve_noise),
                      ti_sqnr_db(1, noise), p->bytes, p->cycles);
    }
}

double ti_rates_foreseen(const tc_rates *r) { return ti_sqnr_db(1, r->noise + r->more); }

/* ---- settings ---- */

static void add_step(tc_ctx *ctx, tc_config *config, const char *name, const ladder *by, size_t k)
{
    tc_config_entry entry = {TC_LEVEL_node, name, .weight = {TC_HAS_STEP, {.step = by->step[k]}}};
    if (by->top[k])
        entry.weight =
            (tc_patch){TC_HAS_RANGE | TC_HAS_OBSERVER,
                       {.qmin = -by->top[k], .qmax = by->top[k], .observer = TC_OBSERVER_mse}};
    ti_config_add(ctx, config, entry);
}

/* These settings, with the same step everywhere, or as chosen (k STEPS). */
static tc_config stepped(tc_ctx *ctx, const tc_rates *r, const tc_config *config, size_t k)
{
    tc_config own = *config;
    own.rate = (tc_rate){0};
    own.quiet = true;
    ti_config_own_entries(ctx, &own);
    for (size_t i = 0; i < r->n; i++) {
        size_t step = k < STEPS ? k : r->layer[i].step;
        if (step)
            add_step(ctx, &own, r->layer[i].name, r->ladder, step);
    }
    return own;
}

/* ---- layers ---- */

/* A typed program, and its products. */
typedef struct made {
    tc_module *typed;
    tc_pair *pair;
    size_t n;
} made;

typedef struct survey {
    tc_ctx *ctx;
    tc_module *real;
    const tc_quant_request *request;
    const tc_domains *domains;
    tc_rates *out;
    tc_swap swap; /* of its products, */
    size_t *of;   /* each with its layer; SIZE_MAX: none */
    made fine;    /* without steps, of the samples that are not kept back */
} survey;

static tc_status apply(const survey *s, const tc_config *config, tc_module **typed)
{
    *typed = ti_module_copy(s->real);
    return ti_quant_apply(s->ctx, *typed, config, s->domains);
}

static tc_status pairs_of(const survey *s, tc_module *typed, tc_pair **pair, size_t *n)
{
    tc_module *sim = ti_module_copy(typed);
    TC_TRY(ti_quant_simulate_quantization(s->ctx, sim));
    *pair = tc_new_n(&s->ctx->arena, tc_pair, ti_main(typed)->n_node);
    *n = ti_pairs_find(ti_main(s->real), ti_main(typed), ti_main(sim), *pair);
    return TC_OK;
}

static int64_t weights_of(const tc_graph *g, const tc_node *node)
{
    return tc_type_count(ti_type_of(g, node->in[1]));
}

/* Eight bits that no entry names, read as they are. */
static bool may_step(const survey *s, const tc_graph *typed, const tc_pair *p, tc_columns *shape)
{
    const tc_graph *g = ti_main(s->real);
    const tc_type *w = ti_type_of(typed, p->typed->in[1]);
    return ti_columns_of(g, p->real, s->request->samples.n, shape) && p->real->loc &&
           p->real->loc->node && w->dtype == TC_i8 && w->quant->axis <= 0 &&
           ti_tensor_of(g, p->real->in[1]).data &&
           ti_type_of(g, p->real->in[1])->dtype == TC_f32 &&
           ti_config_weights_free(s->request->config, p->real->loc, g->val[p->real->out[0]]->name);
}

static size_t layer_called(const tc_rates *r, const char *name)
{
    size_t i = 0;
    while (i < r->n && !ti_text_eq(r->layer[i].name, name))
        i++;
    return i;
}

/* Products of one node are one layer. */
static tc_status find_layers(survey *s)
{
    tc_rates *r = s->out;
    tc_module *typed;
    TC_TRY(apply(s, s->request->config, &typed));
    tc_pair *pair;
    size_t n;
    TC_TRY(pairs_of(s, typed, &pair, &n));
    tc_columns *shape = tc_new_n(&s->ctx->arena, tc_columns, n + 1);
    s->swap = (tc_swap){.real = s->real, .pair = pair, .n = n, .shape = shape};
    const tc_graph *g = ti_main(s->real);
    int64_t all = 0;
    for (size_t i = 0; i < s->swap.n; i++)
        all += weights_of(g, s->swap.pair[i].real);
    r->layer = tc_new_n(&r->room, layer, s->swap.n + 1);
    s->of = tc_new_n(&s->ctx->arena, size_t, s->swap.n + 1);
    for (size_t i = 0; i < s->swap.n; i++) {
        const tc_node *node = s->swap.pair[i].real;
        s->of[i] = SIZE_MAX;
        if (!may_step(s, ti_main(typed), &s->swap.pair[i], &shape[i]) ||
            (double)weights_of(g, node) < SMALL * (double)all)
            continue;
        s->of[i] = layer_called(r, node->loc->node);
        if (s->of[i] == r->n)
            r->layer[r->n++] =
                (layer){.name = ti_text_copy(&r->room, ti_str_of(node->loc->node))};
    }
    return TC_OK;
}

/* The nearest codes' squared error at a step. */
static void add_errors(survey *s, tc_module *typed, const tc_pair *pair, size_t k)
{
    const tc_graph *g = ti_main(s->real);
    for (size_t i = 0; i < s->swap.n; i++) {
        if (s->of[i] == SIZE_MAX)
            continue;
        tc_mark mark = ti_arena_mark(&s->ctx->scratch);
        const float *w = ti_tensor_of(g, pair[i].real->in[1]).data,
                    *q = ti_swap_weights(&s->ctx->scratch, ti_main(typed), pair[i].typed->in[1]).data;
        double sum = 0;
        for (int64_t j = 0; j < weights_of(g, pair[i].real); j++)
            sum += ((double)w[j] - (double)q[j]) * ((double)w[j] - (double)q[j]);
        s->out->layer[s->of[i]].error[k] += sum;
        ti_arena_rewind(&s->ctx->scratch, mark);
    }
}

/* ---- prices ---- */

static tc_status price_step(survey *s, size_t k, const char *const *name, tc_bytes_cycles *each)
{
    tc_rates *r = s->out;
    tc_config config = stepped(s->ctx, r, s->request->config, k);
    tc_module *typed;
    tc_pair *pair;
    size_t n;
    tc_bytes_cycles all;
    TC_TRY(apply(s, &config, &typed));
    TC_TRY(pairs_of(s, typed, &pair, &n));
    if (n == s->swap.n)
        add_errors(s, typed, pair, k);
    TC_TRY(s->request->cost.layers(s->request->cost.who, typed, name, r->n, each, &all));
    if (!k)
        r->all = all;
    for (size_t i = 0; i < r->n; i++) /* a step that is refused is never taken */
        r->layer[i].price[k] =
            all.bytes < INFINITY ? each[i] : (tc_bytes_cycles){INFINITY, INFINITY, 0};
    return TC_OK;
}

static tc_status find_prices(survey *s)
{
    tc_rates *r = s->out;
    const char **name = tc_new_n(&s->ctx->arena, const char *, r->n + 1);
    tc_bytes_cycles *each = tc_new_n(&s->ctx->arena, tc_bytes_cycles, r->n + 1);
    for (size_t i = 0; i < r->n; i++)
        name[i] = r->layer[i].name;
    for (size_t k = 0; k < r->ladder->n; k++) {
        TC_TRY(ti_tell_progress(s->ctx, "steps of weights, bytes", k, r->ladder->n));
        TC_TRY(price_step(s, k, name, each));
    }
    return TC_OK;
}

/* ---- noise ---- */

/* Noise with the weights of a layer, or of ALL, or of those with chosen steps (STEPPED), as `coarse` has
 * them. */
static const size_t ALL = SIZE_MAX - 1, STEPPED = SIZE_MAX - 2;

static tc_status measure_weights(const survey *s, tc_yardstick *yard, const made *coarse,
                                 size_t which, double *noise)
{
    bool *taken = tc_new_n(&s->ctx->arena, bool, s->swap.n + 1);
    for (size_t i = 0; i < s->swap.n; i++) {
        size_t of = s->of[i];
        taken[i] = of != SIZE_MAX && (of == which || which == ALL ||
                                      (which == STEPPED && s->out->layer[of].step));
    }
    return ti_swap_noise(s->ctx, &s->swap, yard, coarse->typed, coarse->pair, taken, noise);
}

/* The means of the layers' windows. */
static tc_status find_means(survey *s, const tc_samples *learned)
{
    bool *wanted = tc_new_n(&s->ctx->arena, bool, s->swap.n + 1);
    for (size_t i = 0; i < s->swap.n; i++)
        wanted[i] = s->of[i] != SIZE_MAX;
    return ti_swap_means(s->ctx, &s->swap, wanted, learned);
}

/* The typed program with these settings, made from some of the samples. */
static tc_status make(const survey *s, const tc_config *config, const tc_samples *learned,
                      tc_module **typed)
{
    tc_quant_request r = *s->request;
    tc_quant_gains gains;
    r.config = config;
    r.samples = *learned;
    r.labels = NULL;
    TC_TRY(apply(s, config, typed));
    return ti_quant_improve(s->ctx, s->real, *typed, &r, s->domains, &gains);
}

static tc_status make_pairs(const survey *s, size_t k, const tc_samples *learned, made *out)
{
    tc_config config = stepped(s->ctx, s->out, s->request->config, k);
    TC_TRY(make(s, &config, learned, &out->typed));
    return pairs_of(s, out->typed, &out->pair, &out->n);
}

/* What all layers make, or (k STEPS) those with chosen steps, beside the sum of what each makes. */
static tc_status weigh_together(survey *s, tc_yardstick *yard, const made *coarse, size_t k)
{
    tc_rates *r = s->out;
    double sum = 0, all;
    if (coarse->n != s->swap.n)
        return TC_OK;
    for (size_t i = 0; i < r->n; i++) {
        size_t step = k < STEPS ? k : r->layer[i].step;
        sum += step ? noise_at(r, &r->layer[i], step) : 0;
    }
    TC_TRY(measure_weights(s, yard, coarse, k < STEPS ? ALL : STEPPED, &all));
    if (sum > 0 && all > 0)
        r->together = all / sum;
    return TC_OK;
}

static tc_status all_of(const survey *s, const tc_samples *samples, tc_yardstick *yard)
{
    return ti_yardstick_make(s->ctx, s->real, samples, s->domains, samples->n, yard);
}

/* Without steps, on all samples: those that it has learned from are a little better than new ones,
 * but a third of them says too little of what one in twenty makes. */
static tc_status find_base(survey *s)
{
    tc_yardstick yard;
    tc_measured m;
    TC_TRY(all_of(s, &s->request->samples, &yard));
    tc_status status = ti_yardstick_measure(s->ctx, &yard, s->fine.typed, &m);
    ti_yardstick_end(&yard);
    s->out->noise = ti_swap_noise_of(&m);
    return status;
}

/* Of every layer at the probe's step, and of the program without steps. */
static tc_status find_noise(survey *s, const tc_samples *learned, const tc_samples *held)
{
    tc_rates *r = s->out;
    made coarse;
    tc_yardstick yard, some;
    TC_TRY(make_pairs(s, 0, learned, &s->fine));
    TC_TRY(find_base(s));
    TC_TRY(find_means(s, learned));
    TC_TRY(all_of(s, held, &yard));
    TC_TRY(make_pairs(s, r->ladder->probe, learned, &coarse));
    if (s->fine.n != s->swap.n || coarse.n != s->swap.n)
        r->n = 0; /* programs that differ in more than codes */
    double each = ti_quant_work(ti_main(s->real)) * (double)(r->n + 1),
           fit = fmax(2, fmin((double)held->n, WORK / fmax(1, each)));
    TC_TRY(ti_yardstick_make(s->ctx, s->real, held, s->domains, (size_t)fit, &some));
    for (size_t i = 0; i < r->n; i++) {
        TC_TRY(ti_tell_progress(s->ctx, "steps of weights, noise", i, r->n));
        TC_TRY(measure_weights(s, &some, &coarse, i, &r->layer[i].noise));
    }
    ti_yardstick_end(&some);
    TC_TRY(weigh_together(s, &yard, &coarse, r->ladder->probe));
    ti_yardstick_end(&yard);
    return TC_OK;
}

/* ---- a limit ---- */

/* The finest steps with which the program keeps to it: layers priced by themselves may come out
 * a little smaller than together. */
static tc_status fit_limit(survey *s, double limit)
{
    tc_rates *r = s->out;
    double aim = limit;
    for (int i = 0; i < TRIALS; i++) {
        tc_attempt attempt;
        tc_module *typed;
        tc_bytes_cycles all, none;
        r->more = settle_limit(r, aim).noise;
        ti_attempt_begin(s->ctx, &attempt);
        tc_config config = stepped(s->ctx, r, s->request->config, STEPS);
        tc_status status = apply(s, &config, &typed);
        if (status == TC_OK)
            status = s->request->cost.layers(s->request->cost.who, typed, NULL, 0, &none, &all);
        ti_attempt_end(s->ctx, &attempt);
        TC_TRY(status);
        double over = all.bytes - limit;
        if (!(over > 0) || !isfinite(over))
            break;
        aim -= over + limit / 1000;
    }
    return TC_OK;
}

/* ---- a loss ---- */

/* The coarsest steps that are foreseen to lose at most so many dB; what is foreseen is corrected
 * once by the weights that they make. */
static tc_status fit_loss(survey *s, double db, const tc_samples *learned, const tc_samples *held)
{
    tc_rates *r = s->out;
    tc_attempt attempt;
    tc_yardstick yard;
    made coarse;
    double allowed = r->noise * (times(db) - 1);
    r->more = settle_noise(r, allowed).noise;
    if (!(r->more > 0))
        return TC_OK;
    TC_TRY(all_of(s, held, &yard));
    ti_attempt_begin(s->ctx, &attempt);
    tc_status status = make_pairs(s, STEPS, learned, &coarse);
    if (status == TC_OK)
        status = weigh_together(s, &yard, &coarse, STEPS);
    ti_attempt_end(s->ctx, &attempt);
    ti_yardstick_end(&yard);
    r->more = settle_noise(r, allowed).noise;
    return status;
}

/* ---- the whole ---- */

static tc_status work(void *what)
{
    survey *s = what;
    const tc_samples *all = &s->request->samples;
    tc_samples learned = ti_samples_split(s->ctx, all, all->n / 3, false),
               held = ti_samples_split(s->ctx, all, all->n / 3, true);
    const tc_rate *rate = &s->request->config->rate;
    tc_rates *r = s->out;
    if (!r->found) {
        r->n = 0;
        r->together = 1;
        TC_TRY(find_layers(s));
        TC_TRY(find_prices(s));
        TC_TRY(find_noise(s, &learned, &held));
        r->found = true;
    }
    if (rate->bytes > 0)
        TC_TRY(fit_limit(s, rate->bytes));
    else if (rate->known)
        r->more = settle_noise(r, r->noise * (times(rate->db) - 1)).noise;
    else
        TC_TRY(fit_loss(s, rate->db, &learned, &held));
    return TC_OK;
}

bool ti_rates_can_be_known(const tc_quant_request *request)
{
    return request->cost.layers && request->samples.n >= TC_RATE_SAMPLES && !request->n_merge;
}

tc_status ti_quant_weight_rates(tc_ctx *ctx, tc_module *real, const tc_quant_request *request,
                                const tc_domains *domains, tc_rates *rates, tc_config *out)
{
    if (!request->cost.layers)
        return ti_usage(ctx, "steps of weights by layer need a target that codes its weights, an Ethos-U, or "
                             "packs them, a Cortex-M: elsewhere coarser ones take as many bytes");
    rates->ladder = request->cost.packs ? &packed : &coded;
    if (!ti_rates_can_be_known(request))
        return ti_usage(ctx, "steps of weights by layer need %d samples or more: --calib DATA",
                        TC_RATE_SAMPLES);
    survey *s = tc_new(&ctx->arena, survey);
    *s = (survey){.ctx = ctx, .real = real, .request = request, .domains = domains, .out = rates};
    TC_TRY(ti_attempt_work(ctx, work, s));
    *out = *request->config;
    out->rate = (tc_rate){0};
    ti_config_own_entries(ctx, out);
    for (size_t i = 0; i < rates->n; i++)
        if (rates->layer[i].step)
            add_step(ctx, out, ti_intern_text(ctx, rates->layer[i].name), rates->ladder,
                     rates->layer[i].step);
    return TC_OK;
}
