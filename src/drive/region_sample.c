/* SPDX-License-Identifier: Apache-2.0 */
/* region_sample.c -- see region_sample.h.
 *
 * The program is run once, with the fast kernels; operands and results of its calls are outputs. */
#include "region_sample.h"

#include <math.h>

#include "../num/quant.h"
#include "../quant/observations.h"
#include "../run/eval.h"
#include "../run/exec.h"
#include "checker.h"
#include "../data/dataset.h"
#include "model.h"

enum { FEW_NUMBERS = 20000, MANY_NUMBERS = 1 << 25, MOST_INVENTED = 256 << 20 };
enum { MOST_ODD = 2 }; /* samples that calibration has excluded */
enum { SEEN = 6 };     /* at most, of samples that it has seen */
enum { UNSEEN = 8 };   /* at least, of those that it has not */

static tc_tensor *input_tensors(tc_ctx *ctx, const tc_graph *g)
{
    tc_tensor *in = tc_new_n(&ctx->arena, tc_tensor, g->n_in + 1);
    for (size_t i = 0; i < g->n_in; i++)
        in[i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
    return in;
}

static int64_t numbers_of(const tc_graph *g)
{
    int64_t numbers = 0;
    for (size_t v = 1; v < g->n_val; v++)
        numbers += g->val[v]->type ? tc_type_count(g->val[v]->type) : 0;
    return numbers;
}

/* On how many of n samples the written program is run, those that were excluded not counted.  A
 * calibration runs the model some 2 n + 3 min(n, 64) + 2 min(n, 32) times, and this three times for
 * each: less than a twentieth of that from 32 samples on.  For a program with few elements runs
 * cost nothing compared with preparing it: all that there is room for are run. */
static size_t enough_of(const tc_graph *g, size_t n)
{
    size_t most = numbers_of(g) < FEW_NUMBERS ? n : 1 + n / 32;
    return most < SEEN ? most : SEEN;
}

/* The same for the n samples that it has not seen, on which the figure is measured: MANY_NUMBERS
 * elements in all. */
static size_t enough_unseen(const tc_graph *g, size_t n)
{
    size_t most = (size_t)(MANY_NUMBERS / (numbers_of(g) + 1));
    most = most < UNSEEN ? UNSEEN : most;
    return n < most ? n : most;
}

static tc_status read_one(tc_ctx *ctx, const tc_graph *g, const tc_samples *samples, size_t k,
                          bool odd, tc_compiled *c)
{
    tc_tensor *in = input_tensors(ctx, g);
    TC_TRY(samples->read(samples->from, k, in));
    c->given.odd[c->given.n] = odd;
    c->given.number[c->given.n] = k;
    c->given.sample[c->given.n++] = in;
    return TC_OK;
}

static bool is_odd(const tc_quant_gains *gains, size_t k)
{
    for (size_t i = 0; i < gains->n_aside; i++)
        if (gains->aside[i] == k)
            return true;
    return false;
}

static float reach_of(tc_tensor t)
{
    tc_ends ends = ti_ends_none();
    if (t.type->dtype == TC_f32)
        ti_ends_see(&ends, t.data, tc_type_count(t.type));
    return ends.lo > ends.hi ? 0 : fmaxf(-ends.lo, ends.hi);
}

/* A sample whose range in an input is far beyond the others counts as an outlier. */
static void find_odd(tc_ctx *ctx, const tc_graph *g, tc_compiled *c)
{
    float reach[TC_GIVEN];
    for (size_t i = 0; i < g->n_in; i++) {
        size_t n = 0;
        for (size_t k = 0; k < c->given.n; k++)
            if (!c->given.odd[k])
                reach[n++] = reach_of(c->given.sample[k][i]);
        double others = ti_reach_without_few(&ctx->scratch, reach, n);
        for (size_t k = 0; others > 0 && k < c->given.n; k++)
            c->given.odd[k] = c->given.odd[k] || (double)reach_of(c->given.sample[k][i]) > others;
    }
}

/* Of those that calibration has not seen, some spread over them, and some of those that it
 * excluded; in the order of the data. */
static tc_status read_unseen(tc_ctx *ctx, const tc_graph *g, const tc_samples *samples,
                             tc_compiled *c)
{
    size_t all = ti_held_out_count(samples->n), n = enough_unseen(g, all);
    size_t odd = 0, taken = 0, at = 0;
    for (size_t k = 0; k < samples->n && c->given.n < TC_GIVEN; k++) {
        bool unseen = ti_is_held_out(samples->n, k), due = unseen && at * n >= taken * all;
        bool set_aside = is_odd(&c->quant.gains, k) && odd < MOST_ODD;
        at += unseen;
        odd += set_aside;
        taken += due;
        if (due || set_aside)
            TC_TRY(read_one(ctx, g, samples, k, set_aside, c));
    }
    if (!c->request.data.keep_odd)
        find_odd(ctx, g, c);
    return TC_OK;
}

/* The first sample, some more spread over the data, and some of those that were excluded; in the
 * order of the data.  A program with state is given the first ones, one after the other. */
static tc_status read_seen(tc_ctx *ctx, const tc_graph *g, const tc_samples *samples,
                           tc_compiled *c)
{
    size_t n = enough_of(g, samples->n), odd = 0, taken = 0;
    bool remembers = ti_module_has_state(g->module) && !samples->reset;
    for (size_t k = 0; k < samples->n && c->given.n < TC_GIVEN; k++) {
        bool set_aside = is_odd(&c->quant.gains, k) && odd < MOST_ODD;
        bool due = remembers ? k < n : taken < n && k * n >= taken * samples->n;
        if (!set_aside && !due)
            continue;
        odd += set_aside;
        taken += due;
        TC_TRY(read_one(ctx, g, samples, k, set_aside, c));
    }
    return TC_OK;
}

/* Elements for another size: as many as there are, from the beginning again where they end. */
static void wrap(tc_tensor from, tc_tensor to)
{
    int64_t n = tc_type_count(to.type), at[TC_MAX_RANK] = {0};
    size_t size = n ? tc_type_bytes(to.type) / (size_t)n : 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t k = 0;
        for (int a = 0; a < to.type->rank; a++)
            k = k * from.type->dim[a] + at[a] % from.type->dim[a];
        memcpy((char *)to.data + (size_t)i * size, (const char *)from.data + (size_t)k * size, size);
        for (int a = to.type->rank; a-- > 0 && ++at[a] == to.type->dim[a];)
            at[a] = 0;
    }
}

/* The sample at the size of its data, cropped or repeated to this one. */
static void wrap_samples(tc_ctx *ctx, const tc_graph *g, const tc_compiled *first, tc_compiled *c)
{
    c->given.n = first->given.n < UNSEEN ? first->given.n : UNSEEN;
    c->given.held_out = first->given.held_out;
    c->given.apart = first->given.apart;
    for (size_t k = 0; k < c->given.n; k++) {
        tc_tensor *in = tc_new_n(&ctx->arena, tc_tensor, g->n_in + 1);
        for (size_t i = 0; i < g->n_in; i++) {
            in[i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
            wrap(first->given.sample[k][i], in[i]);
        }
        c->given.sample[k] = in;
        c->given.odd[k] = first->given.odd[k];
        c->given.number[k] = first->given.number[k];
    }
}

/* Whether random samples of the program's inputs are small enough to be made. */
static bool can_invent(const tc_graph *g)
{
    size_t bytes = 0;
    for (size_t i = 0; i < g->n_in; i++)
        if (!ti_add_size(bytes, tc_type_bytes(ti_type_of(g, g->in[i])), &bytes))
            return false;
    return bytes <= MOST_INVENTED;
}

static tc_status read_samples(tc_ctx *ctx, const tc_compile_request *r, tc_compiled *c)
{
    static const char *const invented[] = {"random:1"};
    const tc_graph *g = ti_main(c->work.real);
    tc_samples samples;
    if (!r->sizes.own_samples && r->sizes.first && r->sizes.first->given.n && !r->sizes.first->given.invented) {
        wrap_samples(ctx, g, r->sizes.first, c);
        return TC_OK;
    }
    bool own_data = r->data.calib && (!r->sizes.as || r->sizes.own_samples); /* data is of the size that was calibrated */
    c->given.invented = !own_data || ti_dataset_invented(r->data.calib);
    if (own_data) {
        TC_TRY(ti_open_dataset(ctx, r->data.calib, g, &samples));
        c->given.apart = samples.reset;
        return c->given.held_out ? read_unseen(ctx, g, &samples, c) : read_seen(ctx, g, &samples, c);
    }
    if (!can_invent(g))
        return TC_OK;
    TC_TRY(ti_open_samples(ctx, g, invented, g->n_in ? 1 : 0, &samples));
    TC_TRY(read_one(ctx, g, &samples, 0, false, c));
    for (int reals = 1; reals >= 0; reals--) {
        TC_TRY(read_one(ctx, g, &samples, c->given.n, false, c));
        if (!ti_invent_ends(g, reals, c->given.sample[c->given.n - 1]))
            c->given.n--;
    }
    return TC_OK;
}

void ti_take_samples(tc_ctx *ctx, const tc_compile_request *request, tc_compiled *c)
{
    tc_trial trial;
    ti_trial_begin(ctx, &trial);
    if (read_samples(ctx, request, c) != TC_OK)
        c->given.n = 0;
    ti_trial_end(ctx, &trial);
}

/* ---- inputs of the regions ---- */

/* Which output of the program that is run has a value; outputs grow by those that have none yet. */
static size_t place_of(tc_graph *g, size_t *place, tc_val v)
{
    if (!place[v]) {
        ti_graph_output(g, v);
        place[v] = g->n_out;
    }
    return place[v] - 1;
}

static void ask_for(tc_graph *g, size_t *place, const tc_node *call)
{
    for (int i = 0; i < call->n_in; i++)
        place_of(g, place, call->in[i]);
    for (int i = 0; i < call->n_out; i++)
        place_of(g, place, call->out[i]);
}

static tc_tensor kept(tc_arena *arena, const tc_type *type, tc_tensor t)
{
    return (tc_tensor){type, ti_arena_copy(arena, t.data, tc_type_bytes(t.type))};
}

/* Regions are tidy, and the program around them is short: passes would take longer than the run. */
static tc_status run_once(tc_ctx *ctx, const tc_compiled *c, tc_module *m, tc_tensor *out)
{
    const tc_tensor *in = ti_check_taken(ti_main(m), c->given.sample[0], &ctx->arena);
    ti_state_drop(m);
    return ti_exec_run(ti_exec_new(ctx, m), in, out);
}

/* Of a region that is run several times: the first and the last. */
static tc_status hand_times(tc_ctx *ctx, tc_module *m, const size_t *place, const tc_tensor *out,
                            tc_region *r)
{
    tc_graph *g = ti_main(m);
    const tc_node *call = ti_call_of(g, r->name);
    const int64_t when[TC_CHECK_SAMPLES] = {0, r->times - 1};
    tc_tensor *in = tc_new_n(&ctx->arena, tc_tensor, (size_t)call->n_in + 1);
    for (int i = 0; i < call->n_in; i++)
        in[i] = (tc_tensor){ti_type_of(g, call->in[i]), out[place[call->in[i]] - 1].data};
    for (size_t k = 0; k < TC_CHECK_SAMPLES; k++) {
        tc_tensor *inner = tc_new_n(&ctx->arena, tc_tensor, (size_t)call->n_in + 1);
        TC_TRY(ti_eval_until(g, call, in, when[k], inner, &ctx->arena));
        for (int i = 0; i < call->n_in; i++)
            inner[i] = kept(&ctx->arena, inner[i].type, inner[i]);
        r->sample[k] = inner;
        r->n_sample = k + 1;
    }
    return TC_OK;
}

static tc_status hand(tc_ctx *ctx, const tc_compiled *c)
{
    tc_module *m = ti_module_clone(c->module);
    tc_graph *g = ti_main(m);
    const tc_graph *old = ti_main(c->module);
    bool whole = c->n_region == 1 && c->region->module == c->module;
    size_t *place = tc_new_n(&ctx->arena, size_t, g->n_val);
    if (!whole) {
        g->n_out = 0;
        for (size_t i = 0; i < c->n_region; i++)
            ask_for(g, place, ti_call_of(g, c->region[i].name));
    }
    tc_tensor *out = tc_new_n(&ctx->arena, tc_tensor, g->n_out + 1);
    TC_TRY(run_once(ctx, c, m, out));
    for (size_t i = 0; i < c->n_region; i++) {
        tc_region *r = &c->region[i];
        if (r->times > 1) {
            TC_TRY(hand_times(ctx, m, place, out, r));
            continue;
        }
        const tc_node *call = whole ? NULL : ti_call_of(old, r->name);
        size_t n_in = whole ? old->n_in : (size_t)call->n_in;
        size_t n_out = whole ? old->n_out : (size_t)call->n_out;
        r->sample[0] = tc_new_n(&ctx->arena, tc_tensor, n_in + 1);
        r->want = tc_new_n(&ctx->arena, tc_tensor, n_out + 1);
        for (size_t k = 0; k < n_in; k++) {
            tc_val v = whole ? old->in[k] : call->in[k];
            r->sample[0][k] = whole ? c->given.sample[0][k]
                                    : kept(&ctx->arena, ti_type_of(old, v), out[place[v] - 1]);
        }
        for (size_t k = 0; k < n_out; k++) {
            tc_val v = whole ? old->out[k] : call->out[k];
            r->want[k] = kept(&ctx->arena, ti_type_of(old, v), out[whole ? k : place[v] - 1]);
        }
        r->n_sample = 1;
    }
    return TC_OK;
}

void ti_hand_samples(tc_ctx *ctx, const tc_compiled *c)
{
    tc_trial trial;
    if (!c->given.n || !c->n_region || c->region->n_sample)
        return;
    ti_trial_begin(ctx, &trial);
    if (hand(ctx, c) != TC_OK)
        for (size_t i = 0; i < c->n_region; i++)
            c->region[i].n_sample = 0;
    ti_trial_end(ctx, &trial);
}

/* ---- the program around them ---- */

/* The call is removed; its results are inputs now. */
static void hand_in(tc_graph *g, const tc_node *call)
{
    size_t n = 0;
    for (int i = 0; i < call->n_out; i++) {
        tc_value *value = ti_value_of(g, call->out[i]);
        tc_grow(&g->module->ctx->arena, g->in, g->n_in, g->cap_in);
        value->def = NULL;
        value->index = (int)g->n_in;
        g->in[g->n_in++] = call->out[i];
    }
    for (int i = 0; i < call->n_in; i++)
        ti_graph_output(g, call->in[i]);
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k] != call)
            g->node[n++] = g->node[k];
    g->n_node = n;
}

static void leave_out(tc_module *m, const char *graph)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_graph; i++)
        if (m->graph[i]->name != graph)
            m->graph[n++] = m->graph[i];
    m->n_graph = n;
}

tc_module *ti_without_regions(tc_ctx *ctx, const tc_compiled *c, const tc_module *written,
                              const tc_tensor **in)
{
    size_t at = ti_main(written)->n_in, n = at;
    for (size_t i = 0; i < c->n_region; i++) {
        const tc_node *call = ti_call_of(ti_main(written), c->region[i].name);
        if (!call || !c->region[i].want || !c->region[i].n_sample)
            return NULL;
        n += (size_t)call->n_out;
    }
    if (!c->n_region || ti_main(written)->n_mutation)
        return NULL;
    tc_module *m = ti_module_clone(written);
    tc_tensor *all = tc_new_n(&ctx->arena, tc_tensor, n);
    memcpy(all, c->given.sample[0], at * sizeof *all);
    for (size_t i = 0; i < c->n_region; i++) {
        const tc_node *call = ti_call_of(ti_main(m), c->region[i].name);
        memcpy(all + at, c->region[i].want, (size_t)call->n_out * sizeof *all);
        at += (size_t)call->n_out;
        hand_in(ti_main(m), call);
        leave_out(m, c->region[i].name);
    }
    *in = all;
    return m;
}

bool ti_handed_the_same(const tc_compiled *c, const tc_tensor *out)
{
    for (size_t i = 0; i < c->n_region; i++) {
        const tc_region *r = &c->region[i];
        for (size_t k = 0; k < ti_main(r->module)->n_in; k++, out++) {
            size_t bytes = tc_type_bytes(r->sample[0][k].type);
            if (bytes != tc_type_bytes(out->type) || memcmp(out->data, r->sample[0][k].data, bytes))
                return false;
        }
    }
    return true;
}
