/* SPDX-License-Identifier: Apache-2.0 */
/* spend_16bit.c -- 16 bits where they remove the most noise per cost on the target.
 *
 * An offer is a domain, or all domains at one operator: 16 bits between two values of 8 cost
 * rescales at both ends, which neighbours share.  The cost of an offer is the program's cost with
 * it less the current one, each fully lowered; repeatedly the offer with the most noise removed per
 * cycle is taken. Costs change as others are taken: one priced before the last was taken is priced
 * again when it is first. */
#include "quantizer.h"

#include <math.h>

#include "../base/attempt.h"
#include "role.h"

enum { SINGLES = 32, OFFERS = 48, TOGETHER = 4 /* domains of an offer */ };
static const double FAINT = 2e-3; /* of all noise: less is negligible */
static const double FREE = 2e-4;  /* of the program's cost: less is negligible */
static const double COUNTED = 1e-2; /* the same where so many domains may be taken */

typedef struct offer {
    size_t d[TOGETHER], n;
    double cost;  /* cycles that it adds */
    size_t asked; /* how many had been taken when it was priced; SIZE_MAX: never */
    bool gone;
} offer;

typedef struct spending {
    tc_ctx *ctx;
    const tc_module *module;
    const tc_quant_request *request;
    tc_domains *domains;
    const double *noise;
    bool *wide;
    offer *offer;
    size_t n, n_taken;
    double base, now; /* cycles: at the beginning, and with what was taken */
} spending;

/* ---- what it costs ---- */

/* The program with the current domains and those of the offer widened. */
static tc_status cost_with(const spending *s, const offer *o, double *out)
{
    tc_ctx *ctx = s->ctx;
    tc_domain *was = ti_arena_copy(&ctx->arena, s->domains->domain,
                                   s->domains->n * sizeof *was);
    tc_attempt attempt;
    ti_attempt_begin(ctx, &attempt);
    for (size_t i = 0; o && i < o->n; i++)
        if (!s->wide[o->d[i]])
            ti_domain_widen(s->domains, o->d[i]);
    tc_module *typed = ti_module_copy(s->module);
    tc_status status = ti_quant_apply(ctx, typed, s->request->config, s->domains);
    tc_bytes_cycles none, all = {0};
    if (status == TC_OK)
        status = s->request->cost.layers(s->request->cost.who, typed, &(const char *){NULL}, 0, &none, &all);
    *out = all.cycles;
    ti_attempt_end(ctx, &attempt);
    memcpy(s->domains->domain, was, s->domains->n * sizeof *was);
    return status;
}

/* ---- offers ---- */

static void add_offer(spending *s, const size_t *d, size_t n)
{
    if (s->n == OFFERS)
        return;
    offer *o = &s->offer[s->n++];
    *o = (offer){.n = n, .asked = SIZE_MAX};
    memcpy(o->d, d, n * sizeof *d);
}

/* The loudest domains, in order. */
static size_t loudest(const spending *s, double least, size_t *out)
{
    size_t n = 0;
    for (size_t d = 0; d < s->domains->n; d++) {
        if (!(s->noise[d] > least))
            continue;
        size_t at = n < SINGLES ? n++ : SINGLES;
        for (; at > 0 && s->noise[out[at - 1]] < s->noise[d]; at--)
            if (at < SINGLES)
                out[at] = out[at - 1];
        if (at < SINGLES)
            out[at] = d;
    }
    return n;
}

static bool among(const size_t *d, size_t n, size_t one)
{
    for (size_t i = 0; i < n; i++)
        if (d[i] == one)
            return true;
    return false;
}

/* Those of the loud ones that share a node. */
static void offer_meeting(spending *s, const tc_node *node, const size_t *loud, size_t n_loud)
{
    size_t d[TOGETHER], n = 0;
    for (int i = 0; i < node->n_in + node->n_out; i++) {
        tc_val v = i < node->n_in ? node->in[i] : node->out[i - node->n_in];
        int32_t of = v ? s->domains->of[v] : -1;
        if (of < 0 || n == TOGETHER || !among(loud, n_loud, (size_t)of) ||
            among(d, n, (size_t)of))
            continue;
        d[n++] = (size_t)of;
    }
    if (n > 1)
        add_offer(s, d, n);
}

static void make_offers(spending *s)
{
    const tc_graph *g = ti_main(s->module);
    double all = 0;
    size_t loud[SINGLES], n;
    for (size_t d = 0; d < s->domains->n; d++)
        all += s->noise[d];
    n = loudest(s, FAINT * all, loud);
    s->offer = tc_new_n(&s->ctx->arena, offer, OFFERS);
    for (size_t i = 0; i < n; i++)
        add_offer(s, &loud[i], 1);
    for (size_t k = 0; k < g->n_node; k++)
        if (!ti_role_moves(g->node[k]))
            offer_meeting(s, g->node[k], loud, n);
}

/* ---- the choice ---- */

/* Noise that the offer still removes. */
static double gain_of(const spending *s, const offer *o, int64_t *count)
{
    double gain = 0;
    *count = 0;
    for (size_t i = 0; i < o->n; i++)
        if (!s->wide[o->d[i]]) {
            gain += s->noise[o->d[i]];
            *count += 1;
        }
    return gain;
}

static double worth(const spending *s, const offer *o, double least)
{
    int64_t count;
    return gain_of(s, o, &count) / fmax(o->cost, least * s->base);
}

static offer *best_offer(const spending *s, int64_t room, double least)
{
    offer *best = NULL;
    int64_t count;
    for (size_t i = 0; i < s->n; i++) {
        offer *o = &s->offer[i];
        if (!(gain_of(s, o, &count) > 0) || count > room)
            o->gone = true;
        if (!o->gone && (!best || worth(s, o, least) > worth(s, best, least)))
            best = o;
    }
    return best;
}

static tc_status ask(const spending *s, offer *o)
{
    double cycles;
    TC_TRY(cost_with(s, o, &cycles));
    o->cost = cycles - s->now;
    o->gone = !(cycles < INFINITY);
    o->asked = s->n_taken;
    return TC_OK;
}

/* ---- what to begin with ---- */

typedef struct knapsack {
    const spending *s;
    bool *wide, *gone;
    double gain, cost, most;
} knapsack;

static double left_of(const knapsack *k, const offer *o)
{
    double gain = 0;
    for (size_t i = 0; i < o->n; i++)
        gain += k->wide[o->d[i]] ? 0 : k->s->noise[o->d[i]];
    return gain;
}

static void put_in(knapsack *k, const offer *o)
{
    k->gone[o - k->s->offer] = true;
    if (k->cost + o->cost > k->most)
        return;
    k->gain += left_of(k, o);
    k->cost += o->cost;
    for (size_t i = 0; i < o->n; i++)
        k->wide[o->d[i]] = true;
}

static const offer *next_in(const knapsack *k)
{
    const offer *best = NULL;
    double most = 0;
    for (size_t i = 0; i < k->s->n; i++) {
        const offer *o = &k->s->offer[i];
        double worth = k->gone[i] || o->gone ? 0 : left_of(k, o) / fmax(o->cost, FREE * k->s->base);
        if (worth > most) {
            most = worth;
            best = o;
        }
    }
    return best;
}

/* Noise removed if both were taken first and then the others by value, as far as they fit, at their
 * separate costs. */
static double plan(const spending *s, const offer *a, const offer *b, double limit)
{
    tc_mark mark = ti_arena_mark(&s->ctx->scratch);
    knapsack k = {.s = s,
                  .wide = tc_new_n(&s->ctx->scratch, bool, s->domains->n),
                  .gone = tc_new_n(&s->ctx->scratch, bool, s->n),
                  .cost = s->now,
                  .most = limit * s->base};
    put_in(&k, a);
    if (b != a)
        put_in(&k, b);
    for (const offer *o; (o = next_in(&k));)
        put_in(&k, o);
    ti_arena_rewind(&s->ctx->scratch, mark);
    return k.gain;
}

/* Two expensive offers may be worth more than all the cheap ones that would exclude them. */
static void plan_first(const spending *s, double limit, offer **first)
{
    double most = 0;
    first[0] = first[1] = NULL;
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = i; j < s->n && !s->offer[i].gone; j++) {
            double gain =
                s->offer[j].gone ? 0 : plan(s, &s->offer[i], &s->offer[j], limit);
            if (gain > most) {
                most = gain;
                first[0] = &s->offer[i];
                first[1] = &s->offer[j];
            }
        }
}

static void take(spending *s, const offer *o, int64_t *room)
{
    for (size_t i = 0; i < o->n; i++)
        if (!s->wide[o->d[i]]) {
            ti_domain_widen(s->domains, o->d[i]);
            s->wide[o->d[i]] = true;
            *room -= 1;
        }
    s->now += o->cost;
    s->n_taken++;
}

tc_status ti_quant_spend_16bit(tc_ctx *ctx, const tc_module *module,
                               const tc_quant_request *request, tc_domains *domains,
                               const double *noise, int64_t most, double limit)
{
    spending s = {.ctx = ctx,
                  .module = module,
                  .request = request,
                  .domains = domains,
                  .noise = noise,
                  .wide = tc_new_n(&ctx->arena, bool, domains->n)};
    double least = limit > 0 ? FREE : COUNTED;
    TC_TRY(cost_with(&s, NULL, &s.base));
    s.now = s.base;
    make_offers(&s);
    for (size_t i = 0; i < s.n; i++) {
        TC_TRY(ti_tell_progress(ctx, "values that may have 16 bits", i, s.n));
        TC_TRY(ask(&s, &s.offer[i]));
    }
    offer *first[2] = {NULL, NULL};
    if (limit > 0)
        plan_first(&s, limit, first);
    for (int i = 0; i < 2 && first[i]; i++) {
        TC_TRY(ask(&s, first[i]));
        if (s.now + first[i]->cost <= limit * s.base)
            take(&s, first[i], &most);
    }
    for (offer *o; (o = best_offer(&s, most, least));) {
        if (limit > 0 && s.now + o->cost / 2 > limit * s.base) {
            o->gone = true; /* at its current cost */
            continue;
        }
        if (o->asked != s.n_taken) {
            TC_TRY(ask(&s, o));
            continue;
        }
        if (limit > 0 && s.now + o->cost > limit * s.base)
            o->gone = true;
        else
            take(&s, o, &most);
    }
    return TC_OK;
}
