/* SPDX-License-Identifier: Apache-2.0 */
/* goal_search.c -- see goal_search.h.
 *
 * Settings form a ladder: 4-bit weights in the layers that hold the most of them, 8 bits, 16 bits for
 * the values that make the most noise, 16 bits for all; where weights are coded or packed, coarser
 * steps by layer in place of 4 bits, as coarse as the goal allows.  Each rung is quantized and
 * lowered as the program would be; its accuracy is measured on calibration samples, its cycles and
 * flash are those of the streams or of the C that are made; elsewhere flash is what constants take.
 * Of the rungs that meet the goal the cheapest is taken, or the most accurate when only limits were
 * given.  Without limits few rungs have to be tried. */
#include "goal_search.h"

#include <math.h>

#include "../base/attempt.h"
#include "../quant/weight_rates.h"
#include "../num/load.h"
#include "core_cost.h"
#include "../data/labels.h"
#include "model.h"
#include "own_backend.h"

enum { MINUTES = 10, AIMS = 5, LOSSES = 5, MORE = 2 * AIMS + 2 * LOSSES };
static const double BEST_CYCLES = 1.1; /* of int8's, for `best` */
static const double MOST_LOSS = 12,    /* dB, of steps of weights, */
    FINE = 0.1,                        /* found so far */
    CLOSE = 0.98;                      /* of a limit is near enough */

/* A rung: the preset, and the share of all weights (in percent) that has 4 bits instead of 8, the
 * largest layers first.  16 bits are given to the values where they pay, for so many percent more
 * cycles; where cycles are not known, to so many of the noisiest. */
typedef struct rung {
    const char *name, *preset;
    int four;      /* percent */
    double cycles; /* percent; WITHIN: as many as the goal leaves */
    int64_t wide;
    bool steps; /* of weights, coarser layer by layer: what the goal needs */
} rung;

enum { WITHIN = -1 };

static const rung rungs[] = {
    {"int8", "int8", 0, 0, 0, false},
    {"a8w4", "a8w4", 0, 0, 0, false},
    {"a8, w4 in 95 %", "a8w4", 95, 0, 0, false},
    {"a8, w4 in 80 %", "a8w4", 80, 0, 0, false},
    {"a8, w4 in 50 %", "a8w4", 50, 0, 0, false},
    {"int8+16:2%", "int8", 0, 2, 2, false},
    {"int8+16:5%", "int8", 0, 5, 4, false},
    {"int8+16:10%", "int8", 0, 10, 8, false},
    {"int8+16:20%", "int8", 0, 20, 16, false},
    {"int8+16:40%", "int8", 0, 40, 32, false},
    {"int8+16:64", "int8+16:64", 0, 0, 0, false},
    {"a16w8", "a16w8", 0, 0, 0, false},
    {"a16, w4 in 95 %", "a16w4:0", 95, 0, 0, false},
    {"int8+16, what fits", "int8", 0, WITHIN, 0, false},
    {"int8, steps that fit", "int8", 0, 0, 0, true},
    {"int8+16:2% and steps", "int8", 0, 2, 2, true},
};
enum { PLAIN = 0, FEWER = 1, WIDER = 5, WIDEST = 11, FITTING = 13, STEPPED = 14, BOTH = 15 }; /* among them */

bool ti_goal_asks(const tc_goal *g)
{
    return g->best || g->sqnr_db > 0 || g->drop > 0 || g->cycles > 0 || g->flash > 0;
}

/* ---- what a rung costs ---- */

/* What is not compressed. */
static double constants_of(const tc_compiled *c)
{
    double bytes = 0;
    for (size_t i = 0; i < c->n_region; i++) {
        const tc_graph *g = ti_main(c->region[i].module);
        for (size_t k = 0; k < g->n_node; k++) {
            tc_tensor t = g->node[k]->op == TC_OP_const ? ti_tensor_of(g, g->node[k]->out[0])
                                                        : (tc_tensor){NULL, NULL};
            if (t.data)
                bytes += (double)tc_type_count(t.type) * (double)tc_dtypes[t.type->dtype].bits / 8;
        }
    }
    return bytes;
}

/* Of the streams as they are made. */
static tc_status stream_figures(tc_ctx *ctx, const tc_compiled *c, tc_frontier_row *row)
{
    row->cycles = row->flash = 0;
    for (size_t i = 0; i < c->n_region; i++) {
        tc_ethosu_job job = {.graph = ti_main(c->region[i].module)};
        if (!ti_own_takes(&c->region[i]))
            continue;
        TC_TRY(ti_own_pack(ctx, c, c->region[i].own, &job));
        row->cycles += (double)ti_max_i64(c->region[i].times, 1) * job.cycles;
        row->flash += (double)job.weights;
    }
    return TC_OK;
}

/* A Cortex-M: its C source. */
static tc_status core_figures(tc_ctx *ctx, const tc_compiled *c, tc_frontier_row *row)
{
    tc_core_cost cost;
    TC_TRY(ti_core_cost(ctx, c, &cost));
    row->cycles = cost.cycles;
    row->flash = (double)(cost.constants + cost.code);
    return TC_OK;
}

/* ---- the search ---- */

/* How a rung is quantized.  room: percent of int8's cycles that the goal leaves; known: cycles can
 * be computed. */
static tc_status settle(tc_ctx *ctx, const tc_goal *goal, const rung *r, double room, bool known,
                        tc_config *config)
{
    if (!ti_config_preset(r->preset, config))
        return ti_error(ctx, NULL, TC_E_BUG, "there is no preset '%s'", r->preset);
    if (r->four) {
        config->small8 = 100 - r->four;
        config->head8 = false;
    }
    if (r->cycles != 0 && known)
        config->wide_cycles = r->cycles == WITHIN ? room : r->cycles;
    else if (r->wide)
        config->n_wide = r->wide;
    config->thorough = goal->best;
    config->quiet = true;
    return TC_OK;
}

static tc_status try_settings(tc_ctx *ctx, const tc_compile_request *request, const tc_goal *goal,
                              const tc_config *config, const int64_t *labels, tc_frontier_row *row)
{
    tc_compile_request own = *request;
    tc_compiled c = {.asked.ethosu = *goal->ethosu};
    own.module = ti_module_clone(request->module);
    own.config = NULL;
    own.settings = config;
    own.data.labels = labels;
    own.check = false;
    own.unexecuted = true;
    own.trace = NULL;
    TC_TRY(ti_compile_stages(ctx, &own, &c));
    row->sqnr_db = c.quant.gains.db;
    row->agreement = c.quant.gains.agree;
    row->drop = c.quant.gains.drop;
    if (c.target.machine->packing == TC_PACKED_C)
        return core_figures(ctx, &c, row);
    if (c.target.machine->packing == TC_PACKED_STREAM)
        return stream_figures(ctx, &c, row);
    row->flash = constants_of(&c);
    return TC_OK;
}

/* Its memory is freed; what goes wrong is reported. */
static tc_status try_rung(tc_ctx *ctx, const tc_compile_request *request, const tc_goal *goal,
                          const tc_config *config, const int64_t *labels, tc_frontier_row *row)
{
    tc_attempt attempt;
    ti_attempt_begin(ctx, &attempt);
    tc_status status = try_settings(ctx, request, goal, config, labels, row);
    ti_attempt_end(ctx, &attempt);
    return status == TC_OK || status == TC_CANCELLED
               ? status
               : try_settings(ctx, request, goal, config, labels, row);
}

static bool asks_accuracy(const tc_goal *g) { return g->sqnr_db > 0 || g->drop > 0; }

static bool is_accurate(const tc_goal *g, const tc_frontier_row *r)
{
    double drop = g->labels ? r->drop : 100 * (1 - r->agreement);
    return (!(g->sqnr_db > 0) || r->sqnr_db >= g->sqnr_db) && (!(g->drop > 0) || drop <= g->drop);
}

static bool meets(const tc_goal *g, const tc_frontier_row *r)
{
    return is_accurate(g, r) && (!(g->cycles > 0) || r->cycles <= g->cycles) &&
           (!(g->flash > 0) || r->flash <= g->flash);
}

/* Whether a is to be preferred to b, which meets the goal too. */
static bool better(const tc_goal *g, const tc_frontier_row *a, const tc_frontier_row *b)
{
    if (!asks_accuracy(g))
        return a->sqnr_db > b->sqnr_db;
    if (a->cycles != b->cycles)
        return a->cycles < b->cycles;
    return a->flash < b->flash;
}

static tc_status nothing_meets(tc_ctx *ctx, const tc_frontier_row *row, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        best = row[i].sqnr_db > row[best].sqnr_db ? i : best;
    tc_status status = ti_error(ctx, NULL, TC_E_CONFIG, "none of %zu settings meets the goal", n);
    for (size_t i = 0; i < n; i++)
        ti_note(ctx, NULL, "%s: %.1f dB, %.0f cycles, %.0f bytes of flash%s", row[i].name,
                row[i].sqnr_db, row[i].cycles, row[i].flash,
                i == best ? ", the most accurate" : "");
    return status;
}

/* ---- the order of trying ---- */

typedef struct search {
    tc_ctx *ctx;
    const tc_compile_request *request;
    const tc_goal *goal;
    tc_goal wanted;
    const int64_t *labels;
    tc_frontier_row *row;
    tc_config *config;
    size_t n, best; /* rows so far; the one to take, or SIZE_MAX */
    bool prices;    /* 16 bits are given by what they cost: Ethos-U */
    bool steps;     /* weights take steps by layer, instead of 4 bits: they are coded, or packed; */
    bool slower;    /* the latter takes cycles: for flash alone */
    tc_rates *rates; /* of such weights */
    double aim;      /* at so much of a limit: rounding changes bytes a little */
    double loss;     /* dB foreseen that such weights may lose; 0: what the limit of bytes needs */
    double end;     /* of the time */
} search;

/* Coarser steps of weights for what they may lose, or for what the goal leaves. */
static void set_rate(const search *s, tc_rate *rate)
{
    *rate = (tc_rate){.known = s->rates};
    if (s->loss > 0)
        rate->db = s->loss;
    else
        rate->bytes = s->aim * s->wanted.flash;
}

/* One more rung, unless time is over; *met: it meets the goal. */
static tc_status step(search *s, size_t which, bool *met)
{
    size_t n = s->n;
    *met = false;
    bool steps = rungs[which].steps, four = which >= FEWER && which < WIDER;
    if ((n && ti_seconds() >= s->end) || (steps && !s->steps) || (four && s->steps))
        return TC_OK;
    TC_TRY(ti_tell_progress(s->ctx, "settings", n, TC_COUNT(rungs)));
    bool known = n && s->prices && s->row[0].cycles > 0;
    double room = known ? 100 * (s->wanted.cycles / s->row[0].cycles - 1) : 0;
    if (rungs[which].cycles == WITHIN && !(room > 0))
        return TC_OK;
    s->row[n] = (tc_frontier_row){
        .name = steps && s->loss > 0 ? ti_text_format(&s->ctx->arena, "int8-%.1fdB", s->loss)
                                     : rungs[which].name};
    TC_TRY(settle(s->ctx, s->goal, &rungs[which], room, known, &s->config[n]));
    if (steps)
        set_rate(s, &s->config[n].rate);
    TC_TRY(try_rung(s->ctx, s->request, s->goal, &s->config[n], s->labels, &s->row[n]));
    if (steps) /* steps learn from all samples: what is measured on them is optimistic */
        s->row[n].sqnr_db = fmin(s->row[n].sqnr_db, ti_rates_foreseen(s->rates));
    if (!n && s->wanted.best)
        s->wanted.cycles = BEST_CYCLES * s->row[0].cycles;
    *met = meets(&s->wanted, &s->row[n]);
    if (*met && (s->best == SIZE_MAX || better(&s->wanted, &s->row[n], &s->row[s->best])))
        s->best = n;
    s->n++;
    return TC_OK;
}

/* No fewer bits, and no more cycles: of values with 16 bits those that were chosen together may do
 * better than those that fill the limit. */
static bool may_be_best(const rung *r)
{
    return !r->four && r->cycles > 0 && 1 + r->cycles / 100 < BEST_CYCLES;
}

/* Steps by their loss, between 0 and MOST_LOSS.  For accuracy the coarsest that keep to it: where dB
 * are asked for, the next loss is this one and what it leaves.  Quicker: the finest that take no more
 * cycles.  Otherwise twice as much, then by halves. */
static tc_status try_losses(search *s, bool quicker)
{
    bool db = !quicker && s->wanted.sqnr_db > 0;
    double least = 0, most = MOST_LOSS, next = db ? s->row[0].sqnr_db - s->wanted.sqnr_db : 1;
    for (int i = 0; i < LOSSES && most - least > FINE && next >= FINE; i++) {
        size_t n = s->n;
        bool met;
        s->loss = floor(fmin(next, MOST_LOSS) / FINE) * FINE;
        TC_TRY(step(s, STEPPED, &met));
        if (s->n == n) /* no time */
            break;
        const tc_frontier_row *last = &s->row[n];
        double left = last->sqnr_db - s->wanted.sqnr_db;
        bool more = quicker ? last->cycles > s->wanted.cycles : is_accurate(&s->wanted, last);
        *(more ? &least : &most) = s->loss;
        if ((more && (s->loss >= MOST_LOSS || (db && left < FINE))) ||
            (quicker && !more && last->cycles > CLOSE * s->wanted.cycles))
            break;
        next = db ? s->loss + left : 2 * s->loss;
        if (!(next > least + FINE / 2 && next < most - FINE / 2))
            next = (least + most) / 2;
    }
    s->loss = 0;
    return TC_OK;
}

/* For a limit of bytes that int8 exceeds: layers are priced by themselves, and what is made of them
 * takes a little more or less.  Aims are between one that keeps to the limit and one that does not. */
static tc_status try_bytes(search *s, size_t which)
{
    double low = 0, high = 0;
    s->aim = 1;
    for (int i = 0; i < AIMS; i++) {
        size_t n = s->n;
        bool met;
        TC_TRY(step(s, which, &met));
        if (s->n == n) /* no time */
            break;
        double of = s->row[n].flash / s->wanted.flash;
        *(of > 1 ? &high : &low) = s->aim;
        if (!(of > 1) && (!(high > 0) || of > CLOSE))
            break;
        s->aim /= of * 1.002;
        if (high > 0 && (s->aim <= low || s->aim >= high))
            s->aim = (low + high) / 2;
    }
    return TC_OK;
}

/* Some values with 16 bits, too: they save no bytes, but noise, which coarser weights may make up. */
static tc_status try_both(search *s)
{
    tc_rates *narrow = s->rates;
    s->rates = ti_rates_new(s->ctx);
    TC_TRY(try_bytes(s, BOTH));
    s->rates = narrow;
    return TC_OK;
}

static bool over(double limit, double figure) { return limit > 0 && figure > limit; }

static tc_status try_all(search *s)
{
    bool met;
    TC_TRY(step(s, PLAIN, &met));
    bool pays = s->steps && !(s->slower && !(s->wanted.flash > 0));
    bool large = pays && over(s->wanted.flash, s->row[0].flash);
    if (large)
        TC_TRY(try_bytes(s, STEPPED));
    if (large && s->prices && !asks_accuracy(&s->wanted))
        TC_TRY(try_both(s));
    if (pays && !s->slower && over(s->wanted.cycles, s->row[0].cycles))
        TC_TRY(try_losses(s, true));
    if (pays && asks_accuracy(&s->wanted) && is_accurate(&s->wanted, &s->row[0]))
        return try_losses(s, false); /* nothing wider is cheaper */
    if (s->steps && over(s->wanted.flash, s->row[0].flash))
        return TC_OK; /* wider values save no constants by themselves, */
    if (pays && over(s->wanted.cycles, s->row[0].cycles))
        return TC_OK; /* nor cycles */
    TC_TRY(step(s, FITTING, &met));
    for (size_t i = FEWER; i < FITTING; i++)
        if (!s->wanted.best || may_be_best(&rungs[i]))
            TC_TRY(step(s, i, &met));
    return TC_OK;
}

/* For accuracy alone: where int8 is enough, fewer bits or coarser steps are tried; where not, the
 * least of the wider rungs that is enough is found by bisection, since each is more accurate than
 * those before. */
static tc_status try_halves(search *s)
{
    bool met;
    TC_TRY(step(s, PLAIN, &met));
    if (met && s->steps && !s->slower)
        return try_losses(s, false);
    bool also;
    for (size_t i = FEWER; met && i < WIDER; i++)
        TC_TRY(step(s, i, &also));
    for (size_t lo = WIDER, hi = WIDEST + 1; !met && lo < hi;) {
        size_t middle = lo + (hi - lo) / 2;
        bool enough;
        TC_TRY(step(s, middle, &enough));
        lo = enough ? lo : middle + 1;
        hi = enough ? middle : hi;
    }
    return TC_OK;
}

tc_status ti_budget_search(tc_ctx *ctx, const tc_compile_request *request, const tc_goal *goal,
                           tc_config *out, tc_frontier_row **rows, size_t *n_row)
{
    tc_labels labels = {NULL, NULL, 0};
    if (!request->data.calib)
        return ti_usage(ctx,
                        "a goal for accuracy, cycles or flash needs calibration data: --calib");
    if (goal->labels) {
        tc_samples samples;
        TC_TRY(ti_open_dataset(ctx, request->data.calib, ti_main(request->module), &samples));
        const tc_graph *g = ti_main(request->module);
        TC_TRY(ti_read_labels(ctx, goal->labels, request->data.calib, samples.n,
                              g->n_out ? (size_t)tc_type_count(ti_type_of(g, g->out[0])) : 0,
                              &labels));
    }
    tc_target target;
    tc_samples calib;
    TC_TRY(ti_target_parse(ctx, request->target, &target));
    TC_TRY(ti_open_dataset(ctx, request->data.calib, ti_main(request->module), &calib));
    tc_packing packing = target.machine->packing;
    search s = {.ctx = ctx,
                .request = request,
                .goal = goal,
                .wanted = *goal,
                .labels = labels.of,
                .row = tc_new_n(&ctx->arena, tc_frontier_row, TC_COUNT(rungs) + MORE),
                .config = tc_new_n(&ctx->arena, tc_config, TC_COUNT(rungs) + MORE),
                .best = SIZE_MAX,
                .rates = ti_rates_new(ctx),
                .prices = packing == TC_PACKED_STREAM,
                .steps = packing == TC_PACKED_STREAM ||
                         (packing == TC_PACKED_C && calib.n >= TC_RATE_SAMPLES),
                .slower = packing == TC_PACKED_C,
                .end = ti_seconds() + (goal->seconds > 0 ? goal->seconds : 60.0 * MINUTES)};
    bool accuracy = !goal->best && !(goal->cycles > 0) && !(goal->flash > 0);
    TC_TRY(accuracy ? try_halves(&s) : try_all(&s));
    *rows = s.row;
    *n_row = s.n;
    if (s.best == SIZE_MAX)
        return nothing_meets(ctx, s.row, s.n);
    s.row[s.best].chosen = 1;
    *out = s.config[s.best];
    return TC_OK;
}
