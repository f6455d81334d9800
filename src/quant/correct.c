/* SPDX-License-Identifier: Apache-2.0 */
/* correct.c -- weights and biases of the typed program, corrected product by product.
 *
 * The real and the typed program run over a few samples, all samples layer by layer
 * (samples_abreast.c): before each convolution or linear layer, in the order of the graph, its
 * weights may be rounded again (feedback.c), and channel c of the typed one is moved by
 *
 *   d_c = mean(real - typed)       over samples and positions, before the activation
 *
 * rounded to the grid of the bias, and the run continues with the new constants.  The means follow
 * from those of the layer's windows: mean(w x + b) = w mean(x) + b.  New codes of a row are kept
 * only if they lower its error on other samples than those they were found with; few codes are
 * found with all samples: to test them would cost more than it tells.  Samples are those
 * with the least content hash, whatever their order; sums are taken in that order. */
#include "correct.h"

#include <math.h>

#include "../base/attempt.h"
#include "../base/mapped.h"
#include "../ir/rewrite.h"
#include "../num/load.h"
#include "sample_runner.h"

typedef struct correction {
    tc_ctx *ctx;
    const tc_graph *typed;
    const tc_samples *samples;
    const tc_correction *how;
    tc_replacement *out;
    tc_layer *layer;
    size_t n;
    const tc_domains *domains;
    bool complete; /* the real program's means follow in every layer */
    tc_abreast abreast;
} correction;

/* ---- layers ---- */

/* Rows that gain, and that have no other reader: what a table of embeddings holds as well is stored
 * once. */
static void may_round(const correction *c, tc_layer *l, const uint32_t *readers)
{
    tc_level level;
    const tc_node *real = l->pair.real;
    const tc_graph *g = c->abreast.graph[TC_REAL];
    tc_val codes = l->pair.typed->in[1];
    const tc_quant *q = ti_type_of(c->typed, codes)->quant;
    tc_tensor w = ti_tensor_of(g, real->in[1]);
    l->setting =
        ti_config_scheme(c->how->config, real->loc, g->val[real->out[0]]->name, &level).weight;
    l->rounds = c->how->longest && readers[codes] == 1 && w.data && w.type->dtype == TC_f32 &&
                q->axis <= 0 &&
                !ti_reader_of_data(c->typed, ti_tensor_of(c->typed, codes).data, TC_OP_embedding,
                                   false) &&
                !ti_weights_are_known(c->how->config, ti_tensor_of(c->typed, codes).data);
}

/* Layers of power spectra keep their codes and biases: a mean of powers is the wrong aim before a
 * logarithm, and what is moved below 0 has none. */
static size_t drop_spectral(const correction *c, tc_pair *pair, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        int32_t d = c->domains->of[pair[i].real->out[0]];
        if (d < 0 || !c->domains->domain[d].spectral)
            pair[kept++] = pair[i];
    }
    return kept;
}

static void find_layers(correction *c)
{
    const tc_graph *typed = c->typed, *sim = c->abreast.graph[TC_TYPED];
    tc_pair *pair = tc_new_n(&c->ctx->arena, tc_pair, typed->n_node);
    tc_mark mark = ti_arena_mark(&c->ctx->scratch);
    const uint32_t *readers = ti_graph_readers(c->ctx, typed);
    c->n = ti_pairs_find(c->abreast.graph[TC_REAL], typed, sim, pair);
    c->n = drop_spectral(c, pair, c->n);
    c->layer = tc_new_n(&c->ctx->arena, tc_layer, c->n);
    c->out->of = tc_new_n(&c->out->room, tc_replaced, c->n);
    c->out->n = c->n;
    for (size_t i = 0; i < c->n; i++) {
        const tc_node *node = pair[i].sim;
        const tc_type *y = ti_type_of(sim, node->out[0]), *w = ti_type_of(sim, node->in[1]);
        tc_layer *l = &c->layer[i];
        *l = (tc_layer){.pair = pair[i]};
        l->axis = node->op == TC_OP_linear ? y->rank - 1 : y->rank - 1 - (w->rank - 2);
        l->n = y->dim[l->axis];
        l->positions = (double)(tc_type_count(y) / l->n);
        l->out = &c->out->of[i];
        *l->out = (tc_replaced){.typed = pair[i].typed,
                                .n = l->n,
                                .move = tc_new_n(&c->out->room, int64_t, (size_t)l->n)};
        may_round(c, l, readers);
    }
    ti_arena_rewind(&c->ctx->scratch, mark);
}

static tc_tensor codes_of(const correction *c, const tc_layer *l)
{
    return l->out->codes.data ? l->out->codes : ti_tensor_of(c->typed, l->pair.typed->in[1]);
}

/* ---- weights ---- */

/* Rows of new codes that do not pay are restored. */
static tc_status keep_good_rows(correction *c, const tc_layer *l, tc_tensor old)
{
    int64_t k = l->shape.k;
    double *before = tc_new_n(&c->ctx->scratch, double, (size_t)l->n),
           *after = tc_new_n(&c->ctx->scratch, double, (size_t)l->n);
    bool comparable;
    TC_TRY(ti_abreast_try(&c->abreast, old, before, after, &comparable));
    if (!comparable)
        l->out->codes.data = NULL;
    for (int64_t i = 0; i < l->n && comparable; i++) {
        if (after[i] < before[i])
            continue;
        for (int64_t j = i * k; j < (i + 1) * k; j++)
            ti_store_i64(l->out->codes, j, ti_load_i64(old, j));
    }
    return TC_OK;
}

static tc_status round_weights(correction *c, const tc_layer *l)
{
    tc_arena *scratch = &c->ctx->scratch;
    tc_mark mark = ti_arena_mark(scratch);
    tc_tensor old = ti_tensor_of(c->typed, l->pair.typed->in[1]);
    size_t n = 0, *sample = tc_new_n(scratch, size_t, c->abreast.picked.n);
    bool few = ti_feedback_few(&l->setting);
    for (size_t i = 0; i < c->abreast.picked.n; i++)
        if (few || i % TC_TRY_EVERY)
            sample[n++] = i;
    tc_feedback f = {.ctx = c->ctx,
                     .n_thread = c->abreast.n_part,
                     .shape = &l->shape,
                     .real = ti_tensor_of(c->abreast.graph[TC_REAL], l->pair.real->in[1]),
                     .codes = old,
                     .setting = &l->setting,
                     .sample = sample,
                     .n_sample = n,
                     .input = ti_abreast_input,
                     .who = &c->abreast,
                     .to = &c->out->room};
    l->out->codes = ti_feedback_codes(&f);
    if (!few)
        TC_TRY(keep_good_rows(c, l, old));
    ti_arena_rewind(scratch, mark);
    return TC_OK;
}

static bool can_round(const correction *c, const tc_layer *l)
{
    return l->rounds && c->abreast.picked.n >= 2 && ti_abreast_has_input(&c->abreast);
}

/* ---- biases ---- */

/* What a layer makes of the means of its windows, in channel k. */
static double mean_of(tc_tensor w, const double *scale, const int64_t *zero, tc_tensor bias,
                      const tc_layer *l, int64_t row, const double *mean)
{
    int64_t k = l->shape.k, first = row * k;
    double sum = 0;
    mean += row / (l->n / l->shape.groups) * k;
    if (scale)
        for (int64_t j = 0; j < k; j++)
            sum += (double)(ti_load_i64(w, first + j) - *zero) * mean[j];
    else
        for (int64_t j = 0; j < k; j++)
            sum += (double)((const float *)w.data)[first + j] * mean[j];
    return (scale ? sum * *scale : sum) + (bias.data ? (double)((const float *)bias.data)[row] : 0);
}

static tc_tensor bias_of(const tc_graph *g, const tc_node *node)
{
    return ti_tensor_of(g, node->n_in > 2 ? node->in[2] : TC_NONE);
}

/* Everything needed for the means of the results is known. */
static bool means_follow(const correction *c, const tc_layer *l)
{
    const tc_graph *g = c->abreast.graph[TC_REAL];
    tc_tensor w = ti_tensor_of(g, l->pair.real->in[1]), b = bias_of(g, l->pair.real),
              own = bias_of(c->abreast.graph[TC_TYPED], l->pair.sim);
    return l->windows && w.data && w.type->dtype == TC_f32 &&
           ti_type_of(c->typed, l->pair.typed->in[1])->quant->axis <= 0 &&
           (!b.type || (b.data && b.type->dtype == TC_f32)) &&
           (!own.type || (own.data && own.type->dtype == TC_f32)) &&
           ti_abreast_has_input(&c->abreast);
}

static void follow_means(correction *c, const tc_layer *l, double *difference)
{
    double *of_real = c->how->means->of[l - c->layer];
    tc_arena *scratch = &c->ctx->scratch;
    size_t row = (size_t)(l->shape.groups * l->shape.k);
    double *mean[2] = {tc_new_n(scratch, double, row), tc_new_n(scratch, double, row)};
    tc_tensor codes = codes_of(c, l);
    const tc_graph *real = c->abreast.graph[TC_REAL];
    const tc_quant *q = codes.type->quant;
    ti_abreast_means(&c->abreast, mean);
    for (int64_t k = 0; k < l->n; k++) {
        int64_t at = q->axis >= 0 ? k : 0;
        if (c->abreast.first == TC_REAL)
            of_real[k] = mean_of(ti_tensor_of(real, l->pair.real->in[1]), NULL, NULL,
                                 bias_of(real, l->pair.real), l, k, mean[TC_REAL]);
        difference[k] = of_real[k] -
                        mean_of(codes, &q->scale[at], &q->zero[at],
                                bias_of(c->abreast.graph[TC_TYPED], l->pair.sim), l, k,
                                mean[TC_TYPED]);
    }
}

/* How far each channel moves, in steps. */
static tc_status move(correction *c, const tc_layer *l)
{
    tc_mark mark = ti_arena_mark(&c->ctx->scratch);
    double *difference = tc_new_n(&c->ctx->scratch, double, (size_t)l->n);
    if (means_follow(c, l))
        follow_means(c, l, difference);
    else {
        c->complete = false;
        ti_abreast_load(&c->abreast, codes_of(c, l));
        TC_TRY(ti_abreast_differences(&c->abreast, difference));
    }
    for (int64_t k = 0; k < l->n; k++) {
        double steps = rint(difference[k] / ti_replace_bias_step(c->typed, l->out, k));
        l->out->move[k] =
            fabs(steps) < 0x1p30 ? (int64_t)steps : 0; /* NaN does not move anything */
    }
    ti_arena_rewind(&c->ctx->scratch, mark);
    return TC_OK;
}

/* ---- from layer to layer ---- */

static tc_status run_both(correction *c)
{
    tc_abreast *a = &c->abreast;
    for (size_t i = 0; i < c->n; i++) {
        tc_layer *l = &c->layer[i];
        a->now = l;
        TC_TRY(ti_abreast_go(a));
        if (a->passing)
            ti_abreast_unload(a);
        a->passing = NULL;
        bool late = ti_clock_past(c->how->until);
        if (can_round(c, l) && !late)
            TC_TRY(round_weights(c, l));
        c->how->result->rounded -= l->rounds && late;
        TC_TRY(move(c, l));
        ti_abreast_load(a, codes_of(c, l));
        a->passing = l;
        tc_tensor w = ti_tensor_of(a->graph[TC_REAL], l->pair.real->in[1]);
        if (w.data)
            ti_mapped_forget(c->ctx, w.data, tc_type_bytes(w.type));
        if (c->samples->progress)
            c->samples->progress(c->samples->who, "weights and biases", i + 1, c->n);
    }
    return TC_OK;
}

/* ---- the whole ---- */

/* Multiplications for rounding a layer's rows jointly: sums over windows of all samples but those
 * that test the codes, and the descent. */
static double rounding_work(const correction *c, const tc_layer *l)
{
    size_t n = c->abreast.picked.n,
           learned = ti_feedback_few(&l->setting) ? n : n - (n + TC_TRY_EVERY - 1) / TC_TRY_EVERY;
    double k = (double)l->shape.k, windows = (double)l->shape.each * (double)learned;
    return 2 * ((double)l->shape.groups * windows + (double)l->shape.rows) * k * k;
}

static double work_per_weight(const correction *c, const tc_layer *l)
{
    return rounding_work(c, l) / (double)(l->shape.rows * l->shape.k);
}

/* Layers with the least work per weight, as many as the budget allows; ties by order. */
static void keep_within_work(correction *c)
{
    tc_mark mark = ti_arena_mark(&c->ctx->scratch);
    bool *taken = tc_new_n(&c->ctx->scratch, bool, c->n);
    double left = c->how->work;
    for (;;) {
        const tc_layer *best = NULL;
        for (size_t i = 0; i < c->n; i++) {
            const tc_layer *l = &c->layer[i];
            if (l->rounds && !taken[i] &&
                (!best || work_per_weight(c, l) < work_per_weight(c, best)))
                best = l;
        }
        if (!best || rounding_work(c, best) > left)
            break;
        left -= rounding_work(c, best);
        taken[best - c->layer] = true;
        c->how->result->rounded++;
    }
    for (size_t i = 0; i < c->n; i++)
        c->layer[i].rounds = taken[i];
    ti_arena_rewind(&c->ctx->scratch, mark);
}

/* Windows of all samples, for rows long enough to pay. */
static void settle_shapes(correction *c)
{
    for (size_t i = 0; i < c->n; i++) {
        tc_layer *l = &c->layer[i];
        c->how->result->products += l->rounds;
        l->windows = ti_columns_of(c->abreast.graph[TC_TYPED], l->pair.sim, c->abreast.picked.n,
                                   &l->shape) &&
                     l->shape.rows == l->n;
        l->rounds = l->rounds && l->windows && l->shape.k <= c->how->longest;
    }
    keep_within_work(c);
}

/* The request, and where the result goes. */
typedef struct task {
    tc_ctx *ctx;
    tc_module *real, *typed;
    const tc_correction *how;
    const tc_samples *samples;
    const tc_domains *domains;
    tc_replacement out;
} task;

static void make_room(correction *c)
{
    tc_real_means *m = c->how->means;
    if (c->abreast.first == TC_TYPED)
        return;
    ti_arena_free(&m->room);
    m->known = false;
    m->of = tc_new_n(&m->room, double *, c->n);
    for (size_t i = 0; i < c->n; i++)
        m->of[i] = tc_new_n(&m->room, double, (size_t)c->layer[i].n);
}

static tc_status work(void *what)
{
    task *t = what;
    tc_ctx *ctx = t->ctx;
    tc_module *sim = ti_module_copy(t->typed);
    ti_replacement_clear(&t->out);
    *t->how->result = (tc_corrected){0};
    TC_TRY(ti_quant_simulate_quantization(ctx, sim));
    correction *c = tc_new(&ctx->arena, correction);
    *c = (correction){.ctx = ctx,
                      .typed = ti_main(t->typed),
                      .samples = t->samples,
                      .how = t->how,
                      .out = &t->out,
                      .domains = t->domains,
                      .complete = true,
                      .abreast = {.ctx = ctx,
                                  .first = t->how->means->known && !t->how->longest ? TC_TYPED : TC_REAL,
                                  .graph = {ti_main(t->real), ti_main(sim)},
                                  .typed = ti_main(t->typed)}};
    find_layers(c);
    if (!c->n || !t->samples->n)
        return TC_OK;
    size_t most = ti_learned_of(t->samples->n, ti_config_needs_rounding(t->how->config));
    make_room(c);
    TC_TRY(ti_abreast_prepare(&c->abreast, c->layer, c->n, t->samples, most, t->domains,
                              t->how->means));
    if (!c->abreast.picked.n)
        return TC_OK;
    settle_shapes(c);
    TC_TRY(run_both(c));
    t->how->means->known = c->complete;
    t->out.done = true;
    return TC_OK;
}

tc_status ti_quant_correct(tc_ctx *ctx, tc_module *real, tc_module *typed,
                           const tc_correction *how, const tc_samples *samples,
                           const tc_domains *domains)
{
    task *t = tc_new(&ctx->arena, task);
    *t = (task){.ctx = ctx,
                .real = real,
                .typed = typed,
                .how = how,
                .samples = samples,
                .domains = domains};
    ti_replacement_init(ctx, &t->out);
    TC_TRY(ti_attempt_work(ctx, work, t));
    return t->out.done ? ti_replace_constants(ti_main(typed), &t->out) : TC_OK;
}
