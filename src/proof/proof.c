/* SPDX-License-Identifier: Apache-2.0 */
/* proof.c -- see proof.h.
 *
 * Samples are run one after the other from the declared state, which is carried from run to run.
 * Each program is prepared, run and freed before the next one, so that no more memory is needed
 * than calibration took. */
#include "proof.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "../base/attempt.h"
#include "../base/real.h"
#include "../num/load.h"
#include "../run/eval.h"
#include "../quant/measure.h"
#include "../run/exec.h"
#include "../drive/checker.h"
#include "../drive/driver.h"
#include "../drive/model.h"
#include "../drive/region_sample.h"
#include "../drive/road.h"

/* Values of invented samples past this are beyond any real use. */
static const double SANE = 1e30;

/* Bytes of outputs that are kept: fewer samples rather than more. */
static const size_t MOST_BYTES = (size_t)1 << 26;

typedef enum which { MODEL, TYPED, WRITTEN, PROGRAMS } which;

typedef struct course {
    tc_ctx *ctx;
    const tc_compiled *c;
    tc_proof *p;
    char why[300];  /* why the written program does not run where the model does; "": it runs */
    void **kept[2]; /* MODEL, TYPED: by sample and output, doubles or int64_t */
} course;

/* ---- what a program gives ---- */

static void **place(const course *s, which w, size_t k, size_t i)
{
    return &s->kept[w][k * s->p->n_out + i];
}

static bool counts(const tc_proof *p, double x)
{
    return isfinite(x) && (!p->invented || fabs(x) <= SANE);
}

static void keep(const course *s, which w, size_t k, size_t i, tc_tensor t)
{
    tc_proof_output *o = &s->p->out[i];
    tc_proof_sums *sums = &o->by[s->c->given.odd[k]];
    void *to = *place(s, w, k, i);
    int64_t n = ti_check_count(t);
    for (int64_t j = 0; j < n; j++) {
        double x = o->real ? ti_check_real(t, j) : 0;
        if (o->real)
            ((double *)to)[j] = x;
        else
            ((int64_t *)to)[j] = ti_load_i64(t, j);
        sums->n += w == MODEL && counts(s->p, x);
        sums->signal += w == MODEL && counts(s->p, x) ? x * x : 0;
    }
}

static void compare_reals(const tc_proof *p, tc_proof_sums *o, tc_proof_side *side, size_t k,
                          const double *model, const double *typed, tc_tensor t)
{
    bool last = side == &o->written;
    double noise = 0, signal = 0;
    int64_t n = ti_check_count(t);
    for (int64_t j = 0; j < n; j++) {
        double x = model[j], y = ti_check_real(t, j), z = typed ? typed[j] : x;
        if (!counts(p, x))
            continue;
        double e = isfinite(y) ? fabs(x - y) : fabs(x), d = y - z;
        signal += x * x;
        noise += e * e;
        side->same += x == y;
        side->lost += !isfinite(y);
        side->most = fmax(side->most, e);
        o->apart += last && isfinite(d) ? d * d : 0;
        o->unlike += last && y != z && (isfinite(y) || isfinite(z));
    }
    side->noise += noise;
    if (!last)
        return;
    if (noise > 0 && noise >= o->worst_by * signal) {
        o->worst_by = signal > 0 ? noise / signal : INFINITY;
        o->worst = k;
    }
}

static void compare_whole(tc_proof_sums *o, tc_proof_side *side, size_t k, const int64_t *model,
                          const int64_t *typed, tc_tensor t)
{
    bool last = side == &o->written;
    int64_t n = ti_check_count(t), others = 0;
    for (int64_t j = 0; j < n; j++) {
        int64_t y = ti_load_i64(t, j);
        side->same += model[j] == y;
        others += last && model[j] != y;
        o->unlike += last && y != (typed ? typed[j] : model[j]);
    }
    if (others && (double)others >= o->worst_by * (double)n) {
        o->worst_by = (double)others / (double)n;
        o->worst = k;
    }
}

/* Output i of sample k of program w. */
static void take(const course *s, which w, size_t k, size_t i, tc_tensor t)
{
    tc_proof_output *o = &s->p->out[i];
    if (!o->compared)
        return;
    if (w != WRITTEN)
        keep(s, w, k, i, t);
    if (w == MODEL)
        return;
    tc_proof_sums *sums = &o->by[s->c->given.odd[k]];
    tc_proof_side *side = w == TYPED ? &sums->typed : &sums->written;
    const void *model = *place(s, MODEL, k, i);
    const void *typed = s->p->quantized ? *place(s, TYPED, k, i) : NULL;
    if (o->real)
        compare_reals(s->p, sums, side, k, model, typed, t);
    else
        compare_whole(sums, side, k, model, typed, t);
}

/* An output with the quantization of its integers. */
static tc_tensor meant(const tc_graph *g, size_t i, tc_tensor t)
{
    return (tc_tensor){t.type->quant ? t.type : ti_port_codes(g, true, i), t.data};
}

/* ---- samples that say nothing ---- */

static const double NUDGE = 1e-6; /* of a value: what the roundings of f32 add up to */
static const double STEADY = 70;  /* dB */

/* Floats a millionth away. */
static const tc_tensor *nudged(const tc_graph *g, const tc_tensor *in, tc_arena *arena)
{
    tc_tensor *away = tc_new_n(arena, tc_tensor, g->n_in + 1);
    for (size_t i = 0; i < g->n_in; i++) {
        int64_t n = ti_is_float(in[i].type->dtype) ? tc_type_count(in[i].type) : 0;
        away[i] = in[i];
        away[i].data = ti_arena_copy(arena, in[i].data, tc_type_bytes(in[i].type));
        for (int64_t e = 0; e < n; e++)
            ti_store_f64(away[i], e, ti_load_f64(in[i], e) * (e % 2 ? 1 + NUDGE : 1 - NUDGE));
    }
    return away;
}

/* Whether the model gives nearly the same on nearly the same values.  On floats at the ends of
 * their type many do not: there the results of another order of summation are as right as these.
 * out: what it gives, where *ran. */
static bool is_steady(const course *s, tc_exec *exec, const tc_graph *g, const tc_tensor *in,
                      tc_tensor *out, bool *ran)
{
    tc_arena *arena = &s->ctx->arena;
    double **near = tc_new_n(arena, double *, g->n_out + 1);
    bool steady = true;
    for (int turn = 0; turn < 2; turn++) {
        if (ti_exec_run(exec, turn ? in : nudged(g, in, arena), out) != TC_OK)
            return true; /* reported elsewhere */
        for (size_t i = 0; i < g->n_out; i++) {
            int64_t n = s->p->out[i].compared && s->p->out[i].real ? ti_check_count(out[i]) : 0;
            double signal = 0, noise = 0;
            near[i] = turn ? near[i] : tc_new_n(arena, double, (size_t)n + 1);
            for (int64_t e = 0; e < n; e++) {
                double x = ti_check_real(out[i], e), off = turn ? x - near[i][e] : 0;
                near[i][e] = x;
                signal += counts(s->p, x) && isfinite(off) ? x * x : 0;
                noise += counts(s->p, x) && isfinite(off) ? off * off : 0;
            }
            steady = steady && !(noise > 0 && 10 * ti_log10(signal / noise) < STEADY);
        }
    }
    *ran = true;
    return steady;
}

/* The largest values of a type are not trip counts. */
static bool has_loops(const tc_module *m)
{
    for (size_t i = 0; i < m->n_graph; i++)
        for (size_t k = 0; k < m->graph[i]->n_node; k++)
            if (m->graph[i]->node[k]->op == TC_OP_while_loop ||
                m->graph[i]->node[k]->op == TC_OP_tosa_while_loop)
                return true;
    return false;
}

/* Of invented values the first sample is an ordinary one; the model must run on the others, and be
 * insensitive to rounding there. */
static bool says_nothing(const course *s, tc_exec *exec, const tc_graph *g, size_t k,
                         const tc_tensor *in, tc_tensor *out, bool *ran)
{
    return s->p->invented && k &&
           (has_loops(g->module) || (!s->p->quantized && !ti_module_has_state(g->module) &&
                                     !is_steady(s, exec, g, in, out, ran)));
}

static tc_status run_samples(const course *s, which w, tc_module *m)
{
    tc_ctx *ctx = s->ctx;
    tc_graph *g = ti_main(m);
    tc_tensor *out = tc_new_n(&ctx->arena, tc_tensor, g->n_out + 1);
    ti_state_drop(m);
    tc_exec *exec = ti_exec_new(ctx, m);
    for (size_t k = 0; k < s->p->samples; k++) {
        TC_TRY(ti_go_on(ctx));
        const tc_tensor *in = ti_check_taken(g, s->c->given.sample[k], &ctx->arena);
        bool ran = false;
        if (s->c->given.apart)
            ti_exec_reset(exec);
        if (!s->p->refused[k] && w == MODEL)
            s->p->refused[k] = says_nothing(s, exec, g, k, in, out, &ran);
        if (s->p->refused[k])
            continue;
        tc_status status = ran ? TC_OK : ti_exec_run(exec, in, out);
        if (status == TC_BAD_MODEL && w == MODEL && s->p->invented && k) {
            s->p->refused[k] = true; /* an index past its table, perhaps */
            continue;
        }
        TC_TRY(status);
        for (size_t i = 0; i < g->n_out; i++)
            take(s, w, k, i, w == MODEL ? out[i] : meant(g, i, out[i]));
    }
    return TC_OK;
}

/* What keeps the typed program from running does not concern the model: that is run as it was read,
 * so that a mistake in tidying is seen. */
static tc_status make_runnable(const course *s, which w, tc_module *m)
{
    bool kernels = w == WRITTEN && s->p->kernels; /* which quantize by themselves */
    if (s->ctx->reference_kernels)
        return TC_OK;
    if (!kernels)
        TC_TRY(ti_road_run(s->ctx, m, TC_AT_COPY, TC_AT_AS_READ, NULL, NULL));
    return w == MODEL ? TC_OK : ti_road_run(s->ctx, m, TC_AT_AS_RUN, TC_AT_RUNNABLE, NULL, NULL);
}

/* Regions have run on the first sample already, against their command streams: where that is the
 * only sample, and their inputs are the same again, only the rest of the program is run. */
static bool run_around_regions(const course *s, const tc_module *written)
{
    tc_ctx *ctx = s->ctx;
    const tc_tensor *in;
    tc_module *m =
        s->p->samples == 1 ? ti_without_regions(ctx, s->c, written, &in) : NULL;
    if (!m || s->p->refused[0] || make_runnable(s, WRITTEN, m) != TC_OK)
        return false;
    const tc_graph *g = ti_main(m);
    tc_tensor *out = tc_new_n(&ctx->arena, tc_tensor, g->n_out + 1);
    if (ti_exec_run(ti_exec_new(ctx, m), ti_check_taken(g, in, &ctx->arena), out) != TC_OK ||
        !ti_handed_the_same(s->c, out + s->p->n_out))
        return false;
    for (size_t i = 0; i < s->p->n_out; i++)
        take(s, WRITTEN, 0, i, meant(g, i, out[i]));
    return true;
}

static tc_status run_program(course *s, which w, const tc_module *from)
{
    tc_attempt attempt;
    tc_status status = TC_OK;
    ti_attempt_begin(s->ctx, &attempt);
    if (w != WRITTEN || !run_around_regions(s, from)) {
        tc_module *m = ti_module_clone(from);
        status = make_runnable(s, w, m);
        if (status == TC_OK)
            status = run_samples(s, w, m);
    }
    if (status != TC_OK && w == WRITTEN && attempt.trial.why)
        snprintf(s->why, sizeof s->why, "%s", attempt.trial.why);
    ti_attempt_end(s->ctx, &attempt);
    return status;
}

/* ---- what there is to compare ---- */

/* By value: whether it depends on a real value. */
static const bool *by_reals(tc_ctx *ctx, const tc_graph *g)
{
    bool *real = tc_new_n(&ctx->scratch, bool, g->n_val);
    for (size_t v = 1; v < g->n_val; v++) {
        const tc_type *t = g->val[v]->type;
        real[v] = !t || t->quant || !(ti_is_int(t->dtype) || t->dtype == TC_bool);
    }
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        bool any = (tc_ops[node->op].traits & T_CONTROL) != 0 || node->op == TC_OP_call;
        for (int i = 0; i < node->n_in; i++)
            any = any || (node->in[i] && real[node->in[i]]);
        for (int i = 0; i < node->n_out; i++)
            real[node->out[i]] = real[node->out[i]] || any;
    }
    return real;
}

/* The step of an output: its own, or that of the codes which it is dequantized from. */
static double step_of(const tc_graph *g, tc_val v)
{
    const tc_node *def = ti_def(g, v);
    const tc_quant *q = ti_type_of(g, v)->quant;
    while (!q && def && def->n_in && def->in[0] &&
           (def->op == TC_OP_rescale || def->op == TC_OP_dequantize ||
            tc_ops[def->op].traits & T_MOVES)) {
        q = ti_type_of(g, def->in[0])->quant;
        def = ti_def(g, def->in[0]);
    }
    double step = 0;
    for (int k = 0; q && k < q->count; k++)
        step = fmax(step, q->scale[k]);
    return step;
}

static bool has_shape(const tc_module *m, size_t i, const tc_type *type)
{
    const tc_graph *g = m ? ti_main(m) : NULL;
    return !g || (i < g->n_out && ti_same_dims(ti_type_of(g, g->out[i]), type));
}

/* One line for each output of the model; the number of samples whose outputs may be kept. */
static void describe(tc_ctx *ctx, const tc_compiled *c, const tc_module *typed,
                     const tc_module *written, const tc_quant_gains *gains, tc_proof *p)
{
    const tc_graph *g = ti_main(c->work.real);
    const bool *real = by_reals(ctx, g);
    size_t bytes = 1;
    p->n_out = g->n_out;
    p->out = tc_new_n(&ctx->arena, tc_proof_output, g->n_out + 1);
    for (size_t i = 0; i < g->n_out; i++) {
        tc_val v = g->out[i];
        const tc_type *t = ti_type_of(g, v);
        const char *name = ti_output_name_of(g, i);
        bool number = t && (t->quant || ti_is_float(t->dtype) ||
                            tc_dtypes[t->dtype].kind == TC_COMPLEX);
        p->out[i] = (tc_proof_output){
            .name = name ? name : ti_text_format(&ctx->arena, "%zu", i),
            .loc = ti_def(g, v) ? ti_def(g, v)->loc : NULL,
            .type = t,
            .compared = t && has_shape(typed, i, t) && has_shape(written, i, t),
            .real = number,
            .exact = !number && !real[v],
            .step = typed && i < ti_main(typed)->n_out
                        ? step_of(ti_main(typed), ti_main(typed)->out[i])
                        : 0};
        bytes += t ? 16 * (size_t)tc_type_count(t) : 0;
        if (p->quantized && number)
            p->out[i].by[0].calibrated = gains ? ti_quant_expected_noise(gains, i) : 0;
    }
    size_t fit = MOST_BYTES / bytes ? MOST_BYTES / bytes : 1;
    size_t most = p->samples && p->samples < c->given.n ? p->samples : c->given.n;
    p->samples = most < fit ? most : fit;
    for (size_t k = 0; k < p->samples; k++)
        p->odd += c->given.odd[k];
}

static void make_room(course *s)
{
    for (which w = MODEL; w <= TYPED; w++) {
        s->kept[w] = tc_new_n(&s->ctx->arena, void *, s->p->samples * s->p->n_out + 1);
        for (size_t k = 0; k < s->p->samples; k++)
            for (size_t i = 0; i < s->p->n_out; i++)
                if (s->p->out[i].compared)
                    *place(s, w, k, i) = ti_arena_raw(
                        &s->ctx->arena, 2 * sizeof(double) *
                                            (size_t)tc_type_count(s->p->out[i].type));
    }
}

/* All of them, one after the other; written may be NULL. */
static tc_status run_all(course *s, const tc_module *typed, const tc_module *written)
{
    tc_attempt attempt;
    ti_attempt_begin(s->ctx, &attempt);
    make_room(s);
    tc_status status = run_program(s, MODEL, s->c->work.real);
    if (status == TC_OK && s->p->quantized)
        status = run_program(s, TYPED, typed);
    if (status == TC_OK && written)
        status = run_program(s, WRITTEN, written);
    ti_attempt_end(s->ctx, &attempt);
    return status;
}

double ti_proof_db(const tc_proof_sums *s, const tc_proof_side *side)
{
    return ti_unseen_db(s->signal, side->noise, s->calibrated);
}

double ti_proof_agreement(const tc_proof_sums *s, const tc_proof_side *side)
{
    return s->n ? (double)side->same / (double)s->n : 1;
}

double ti_proof_measure(const tc_proof_output *o, const tc_proof_sums *s, const tc_proof_side *side)
{
    return !o->real     ? 40 * ti_proof_agreement(s, side) - 40
           : side->lost ? -INFINITY
                        : ti_proof_db(s, side);
}

static tc_status prove(tc_ctx *ctx, const tc_compiled *c, const tc_module *typed,
                       const tc_module *written, const tc_quant_gains *gains, tc_proof *p)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    course s = {.ctx = ctx, .c = c, .p = p};
    p->invented = c->given.invented;
    p->quantized = typed && (ti_quant_is_typed(typed) || c->blocks.n_block);
    p->codes = ti_quant_is_pt2e(c->work.real) || ti_quant_is_typed(c->work.real) ||
               ti_quant_is_lowered(c->work.real);
    p->held_out = p->quantized && c->given.held_out;
    p->seen = p->quantized && !p->codes && !p->invented && !p->held_out && !c->blocks.n_block;
    p->calibrated = p->quantized && gains ? gains->n_measured : 0;
    describe(ctx, c, typed, written, gains, p);
    tc_status status = run_all(&s, typed, written);
    ti_arena_rewind(&ctx->scratch, mark);
    for (size_t k = 0; k < p->samples; k++)
        p->ran += !p->refused[k];
    if (*s.why && (status == TC_BAD_MODEL || status == TC_BUG)) {
        ti_warning(ctx, &(tc_loc){.file = c->module->file}, TC_E_WRITTEN,
                   "the compiled program does not run here: %s", s.why);
        ti_note(ctx, NULL, "the model runs on the same sample; 'tosac run' shows more");
    }
    return status;
}

tc_status ti_prove_typed(tc_ctx *ctx, const tc_compiled *c, const tc_module *typed,
                         const tc_quant_gains *gains, size_t most, tc_proof *out)
{
    *out = (tc_proof){.of = typed, .samples = most};
    return prove(ctx, c, typed, NULL, gains, out);
}

tc_status ti_prove_written(tc_ctx *ctx, const tc_compiled *c, const tc_module *written, size_t most,
                           tc_proof *out)
{
    *out = (tc_proof){.of = written, .samples = most};
    return prove(ctx, c, c->work.typed, written, NULL, out);
}

tc_status ti_prove(tc_ctx *ctx, tc_compiled *c, const tc_module *written)
{
    bool kernels = written != c->module;
    if (!c->work.real || !c->given.n || (c->proof.of == c->module && c->proof.kernels >= kernels) ||
        ti_main(written)->n_out != ti_main(c->work.real)->n_out)
        return TC_OK;
    tc_proof p = {.of = c->module, .kernels = kernels};
    TC_TRY(ti_tell_progress(ctx, "running the compiled program", 0, 1));
    tc_status status = prove(ctx, c, c->work.typed, written, &c->quant.gains, &p);
    if (status == TC_CANCELLED || status == TC_NO_MEMORY)
        return status;
    if (status != TC_OK || !p.ran)
        return TC_OK; /* a program that does not run here leaves no record */
    c->proof = p;
    return ti_proof_judge(ctx, c);
}
