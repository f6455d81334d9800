/* SPDX-License-Identifier: Apache-2.0 */
/* proof_verdict.c -- what a proof comes to.
 *
 *   an error    the program computes other values than the typed one: far more noise than that has
 *               (GAP) and more than a few of its steps, or an integer that depends on integers
 *               alone differs; and a step is found that breaks its promise on that very sample
 *   a warning   the typed program itself is far from the model (LOW), answers differ, or a finite
 *               value is lost; with the values that make the noise and with settings that were
 *               tried
 *
 * Where rounding only adds up, or a choice between nearly equal values falls the other way, no step
 * breaks its promise: that is a warning, never an error. */
#include <math.h>
#include <stdio.h>

#include "../base/attempt.h"
#include "../num/half.h"
#include "../drive/driver.h"
#include "proof.h"
#include "../base/json_out.h"
#include "../base/real.h"

static const double LOW = 15;          /* dB: hardly the same output any more */
static const double LOW_AGREEMENT = 0.75;
static const double GAP = 30;          /* times the noise of the typed program: 15 dB */
static const double STEPS = 3;         /* of the output: so much is rounding, however little noise */
static const double LUCK = 1e-3;       /* of the signal: the assumed noise of one element */
static const double FLOAT_DB = 60;     /* float arithmetic in another order */
enum { CHOICES = 8, MAKERS = 3, SAID = 4 };

/* ---- what is wrong ---- */

/* Rounding of the coarsest float that the model computes with, and 26 dB for what it adds up to. */
static double float_db(const tc_graph *g)
{
    double unit = 0;
    for (size_t v = 1; v < g->n_val; v++)
        if (g->val[v]->type && ti_is_float(g->val[v]->type->dtype) &&
            g->val[v]->type->dtype != TC_f32 && g->val[v]->type->dtype != TC_f64)
            unit = fmax(unit, ti_float_unit(g->val[v]->type->dtype));
    return unit > 0 ? fmin(FLOAT_DB, -20 * ti_log10(unit) - 26) : FLOAT_DB;
}

/* The typed program's noise, unless it is small by luck: few elements say little about it, and no
 * output is nearer than its steps. */
static double promised(const tc_proof_output *o, const tc_proof_sums *s)
{
    double n = (double)s->n;
    return fmax(fmax(s->typed.noise, n * o->step * o->step), s->signal * LUCK * 16 / (n * (n + 15)));
}

/* floats: the dB that arithmetic in the model's floats reaches. */
static bool suspicious(const tc_proof *p, const tc_proof_output *o, const tc_proof_sums *s,
                       double floats)
{
    if (!o->compared || !s->n)
        return false;
    if (!o->real && o->exact)
        return s->written.same < s->n;
    if (!p->quantized)
        return o->real ? s->written.lost || ti_proof_db(s, &s->written) < floats
                       : s->unlike >= CHOICES && ti_proof_agreement(s, &s->written) < LOW_AGREEMENT;
    if (!o->real)
        return s->unlike >= CHOICES && ti_proof_agreement(s, &s->typed) >
                                           ti_proof_agreement(s, &s->written) + 1 - LOW_AGREEMENT;
    return s->written.lost > s->typed.lost ||
           (s->apart > STEPS * STEPS * o->step * o->step * (double)s->n &&
            s->written.noise > GAP * promised(o, s));
}

static bool low(const tc_proof *p, const tc_proof_output *o, const tc_proof_sums *s)
{
    if (!o->compared || !s->n)
        return false;
    if (!o->real)
        return s->n - s->written.same >= 2 && ti_proof_agreement(s, &s->written) < LOW_AGREEMENT;
    if (s->written.lost)
        return true;
    if (!(s->signal > 0))
        return s->written.most > 2 * o->step && s->written.noise > 0 && p->quantized;
    return ti_proof_db(s, &s->written) < (p->quantized ? LOW : 2 * LOW);
}

/* ---- words ---- */

static const char *figure(tc_ctx *ctx, const tc_proof_output *o, const tc_proof_sums *s,
                          const tc_proof_side *side)
{
    if (!o->real)
        return ti_text_format(&ctx->arena, "%.0f %% of its elements equal",
                              100 * ti_proof_agreement(s, side));
    if (side->lost)
        return ti_text_format(&ctx->arena, "%" PRId64 " of its %" PRId64 " elements NaN or "
                                                                         "infinite", side->lost,
                              s->n);
    return side->noise > 0 ? ti_text_format(&ctx->arena, "%.1f dB", ti_proof_db(s, side))
                           : "the same numbers";
}

void ti_put_measured_on(const tc_measured_on *on, tc_buf *out)
{
    size_t n = !on->held_out && on->samples < on->calibrated ? on->calibrated : on->samples;
    bool both = on->held_out && on->calibrated;
    if (both)
        ti_buf_printf(out, "%zu held-out and ", n);
    n = both ? on->calibrated : n;
    ti_buf_printf(out, "%zu %ssample%s", n,
                  on->invented          ? "random "
                  : on->seen || both    ? "calibration "
                  : on->held_out        ? "held-out "
                                        : "",
                  n == 1 ? "" : "s");
    if (on->seen)
        ti_buf_printf(out, " (optimistic: none held out)");
}

static void put_samples(const tc_proof *p, tc_buf *out)
{
    ti_put_measured_on(&(tc_measured_on){.samples = p->ran - p->odd,
                                         .held_out = p->held_out,
                                         .seen = p->seen,
                                         .invented = p->invented,
                                         .calibrated = p->calibrated},
                       out);
}

static const char *samples_of(tc_ctx *ctx, const tc_proof *p, int odd)
{
    tc_buf text;
    ti_buf_init(&text, &ctx->arena);
    if (odd)
        ti_buf_printf(&text, "%zu sample%s far from the others", p->odd, p->odd == 1 ? "" : "s");
    else
        put_samples(p, &text);
    ti_buf_u8(&text, 0);
    return (const char *)text.data;
}

/* ---- wrong ---- */

/* The step that breaks its promise on the worst sample; NULL: none does by itself.  For values at
 * the ends of floats only a rule compared with its own node counts: after whole passes roundings
 * may change them arbitrarily. */
static const char *find_step(tc_ctx *ctx, const tc_compiled *c, const tc_proof_output *o,
                             const tc_proof_sums *s)
{
    char why[600] = "";
    tc_attempt attempt;
    ti_attempt_begin(ctx, &attempt);
    bool rule, sure;
    tc_status status = ti_compile_checked(ctx, c, c->given.sample[s->worst], &rule);
    sure = rule || !c->proof.invented || c->proof.quantized || !o->real;
    if (status == TC_BUG && attempt.trial.why && sure)
        snprintf(why, sizeof why, "%s", attempt.trial.why);
    ti_attempt_end(ctx, &attempt);
    return *why ? ti_text_format(&ctx->arena, "%s", why) : NULL;
}

static tc_status say_wrong(tc_ctx *ctx, const tc_compiled *c, const tc_proof_output *o,
                           const tc_proof_sums *s, int odd, const char *why)
{
    ti_error(ctx, o->loc, TC_E_WRITTEN,
             "output '%s' of the compiled program is wrong: against the model it has %s on %s%s%s",
             o->name, figure(ctx, o, s, &s->written), samples_of(ctx, &c->proof, odd),
             c->proof.quantized ? ", and the typed program " : "",
             c->proof.quantized ? figure(ctx, o, s, &s->typed) : "");
    if (why)
        ti_note(ctx, NULL, "%s", why);
    ti_note(ctx, NULL,
            "this is a bug in tosac, and nothing is written: --cpu NODE moves a node to the CPU, "
            "--no-execute writes anyway");
    return TC_BUG;
}

/* It adds up, or a choice changes: no step by itself breaks its promise, but one may cost the
 * most. */
static void say_unlike(tc_ctx *ctx, const tc_compiled *c, const tc_proof_output *o,
                       const tc_proof_sums *s, int odd)
{
    tc_noise maker;
    ti_warning(ctx, o->loc, TC_E_WRITTEN,
               "output '%s' of the compiled program has %s against the model on %s%s%s", o->name,
               figure(ctx, o, s, &s->written), samples_of(ctx, &c->proof, odd),
               c->proof.quantized ? ", and the typed program " : "",
               c->proof.quantized ? figure(ctx, o, s, &s->typed) : "");
    if (c->proof.quantized && o->real &&
        ti_noise_of_lowering(ctx, c, (size_t)(o - c->proof.out), odd, &maker))
        ti_note(ctx, maker.loc,
                "'%s' loses the most where the target computes it: with --cpu %s, tried here, output "
                "'%s' has %.1f dB",
                maker.name, maker.name, o->name, maker.by);
    else
        ti_note(ctx, NULL,
                "no single step is wrong: rounding errors add up, or a choice between nearly equal "
                "numbers differs");
}

static tc_status judge_wrong(tc_ctx *ctx, const tc_compiled *c, bool *said)
{
    const tc_proof *p = &c->proof;
    double floats = p->n_out && c->work.real ? float_db(ti_main(c->work.real)) : FLOAT_DB;
    for (size_t i = 0; i < p->n_out; i++)
        for (int odd = 0; odd < 2; odd++) {
            const tc_proof_output *o = &p->out[i];
            const tc_proof_sums *s = &o->by[odd];
            if (!suspicious(p, o, s, floats))
                continue;
            const char *why = find_step(ctx, c, o, s);
            TC_TRY(ti_go_on(ctx));
            if (why || (o->exact && !p->invented))
                return say_wrong(ctx, c, o, s, odd, why);
            if (p->quantized || low(p, o, s)) {
                say_unlike(ctx, c, o, s, odd);
                *said = true;
                return TC_OK;
            }
        }
    return TC_OK;
}

/* ---- low ---- */

typedef struct lowest {
    size_t output;
    int odd;
    double by; /* dB, or agreement */
} lowest;

/* The settings with this for spectra; NULL: no logarithm or root reads codes, or it cannot be said. */
static const char *with_front(tc_ctx *ctx, const tc_compiled *c, const char *more)
{
    const char *now = c->request.config ? c->request.config : "int8";
    bool other = c->request.settings || c->quant.config.real_spectra;
    return other || !ti_noise_front(ti_main(c->work.typed))
               ? NULL
               : ti_text_format(&ctx->arena, "%s,%s", now, more);
}

/* Which programs settings may help. */
typedef enum when {
    ODD_SET_ASIDE, /* of samples that calibration left out */
    FRONT_END,     /* whose logarithm or root reads codes, and none does then */
    SPECTRA,       /* the same, and then it reads finer ones */
    OF_INT8,
    OF_BYTES /* of int8 or uint8 */
} when;

static bool may_help(const tc_compiled *c, when w, const char *config)
{
    tc_dtype codes = c->quant.config.global.act.dtype;
    switch (w) {
    case ODD_SET_ASIDE:
        return c->quant.gains.n_aside && !c->request.data.keep_odd;
    case FRONT_END:
    case SPECTRA:
        return config;
    case OF_INT8:
        return codes == TC_i8;
    default:
        return codes == TC_i8 || codes == TC_u8;
    }
}

/* A core computes a Fourier transform in float by fewer operations than its product in integers. */
static const char *finer_transform(const tc_compiled *c)
{
    return ti_is_for_core(c) && c->quant.fouriers.n ? "transform=float" : "transform=int16";
}

/* Settings that often help, tried on the same samples through the typed program. */
static void say_tried(tc_ctx *ctx, const tc_compiled *c, lowest at)
{
    const char *front = with_front(ctx, c, "float=" TC_FRONT_END),
               *fine = c->quant.config.transform ? NULL : with_front(ctx, c, finer_transform(c));
    const struct {
        const char *config, *words;
        when when;
    } other[] = {{NULL, "--keep-odd-samples", ODD_SET_ASIDE},
                 {fine, fine ? ti_text_format(&ctx->arena, "-q %s", fine) : "", SPECTRA},
                 {front, "--float " TC_FRONT_END, FRONT_END},
                 {"int8+16:8", "-q int8+16:8", OF_INT8},
                 {"int8+16:32", "-q int8+16:32", OF_INT8},
                 {"a16w8", "-q a16w8", OF_BYTES}};
    const tc_proof_output *was = &c->proof.out[at.output];
    bool helped = false;
    double had = ti_proof_measure(was, &was->by[at.odd], &was->by[at.odd].typed);
    for (size_t i = 0; i < TC_COUNT(other); i++) {
        if (!may_help(c, other[i].when, other[i].config))
            continue;
        tc_attempt attempt;
        tc_compiled with = {.asked.ethosu = c->asked.ethosu};
        tc_proof p;
        char words[200] = "";
        bool enough = false;
        ti_attempt_begin(ctx, &attempt);
        if (ti_compile_otherwise(ctx, c, other[i].config, other[i].when == ODD_SET_ASIDE, &with) == TC_OK &&
            !(other[i].when == FRONT_END && ti_noise_front(ti_main(with.module))) &&
            ti_prove_typed(ctx, c, with.module, &with.quant.gains, 0, &p) == TC_OK && p.out[at.output].compared) {
            const tc_proof_output *o = &p.out[at.output];
            const tc_proof_sums *s = &o->by[at.odd];
            double has = ti_proof_measure(o, s, &s->typed);
            helped = helped || has > had + 3;
            enough = has >= (o->real ? 2 * LOW : -2);
            snprintf(words, sizeof words, "%s, tried here: %s", other[i].words,
                     figure(ctx, o, s, &s->typed));
        }
        ti_attempt_end(ctx, &attempt);
        if (*words)
            ti_note(ctx, NULL, "%s", words);
        if (enough)
            return;
    }
    if (!helped)
        ti_note(ctx, NULL, "none of the settings tried helps");
}

static void say_makers(tc_ctx *ctx, const tc_compiled *c, lowest at)
{
    tc_noise maker[MAKERS];
    const tc_proof_output *o = &c->proof.out[at.output];
    size_t n = ti_noise_makers(ctx, c, at.output, at.odd, maker, MAKERS);
    for (size_t i = 0; i < n; i++) {
        const char *has = o->real ? ti_text_format(&ctx->arena, "%.1f dB", maker[i].by)
                                  : ti_text_format(&ctx->arena, "%.0f %% of its elements equal",
                                                   100 + 2.5 * maker[i].by);
        ti_note(ctx, maker[i].loc,
                "'%s' is noisy: with it in float, and all values that share its scale, output "
                "'%s' would have %s", maker[i].name, o->name, has);
        const char *why = ti_noise_cause(ctx, c, maker[i].name);
        if (why)
            ti_note(ctx, maker[i].loc, "'%s': %s", maker[i].name, why);
    }
    if (!n)
        ti_note(ctx, NULL, "no single value causes the noise");
}

static void say_low(tc_ctx *ctx, const tc_compiled *c, size_t i, int odd)
{
    const tc_proof_output *o = &c->proof.out[i];
    const tc_proof_sums *s = &o->by[odd];
    ti_warning(ctx, o->loc, TC_E_ACCURACY,
               "output '%s' has %s against the %smodel on %s: the compiled program is probably "
               "unusable", o->name,
               figure(ctx, o, s, &s->written), c->proof.codes ? "" : "float ",
               samples_of(ctx, &c->proof, odd));
}

static void judge_low(tc_ctx *ctx, const tc_compiled *c)
{
    const tc_proof *p = &c->proof;
    lowest at = {.by = INFINITY};
    size_t n = 0;
    for (size_t i = 0; i < p->n_out; i++)
        for (int odd = 0; odd < 2; odd++) {
            const tc_proof_output *o = &p->out[i];
            const tc_proof_sums *s = &o->by[odd];
            double by = ti_proof_measure(o, s, &s->written);
            if (!low(p, o, s) || (odd && (c->quant.gains.weighed || p->held_out))) /* reported
                                                                                      already */
                continue;
            if (n++ < SAID)
                say_low(ctx, c, i, odd);
            if (by < at.by || n == 1)
                at = (lowest){i, odd, by};
        }
    if (n > SAID)
        ti_note(ctx, NULL, "and %zu more", n - SAID);
    bool ours = p->quantized && c->quant.config.checked && !ti_quant_is_pt2e(c->work.real) &&
                !ti_quant_is_typed(c->work.real);
    if (n && p->invented)
        ti_note(ctx, NULL, "this is on random data: it may differ on real samples (--calib)");
    if (!n || !ours || p->invented)
        return;
    say_makers(ctx, c, at);
    if (c->request.data.calib)
        say_tried(ctx, c, at);
}

/* Samples that calibration has not seen, and would have excluded. */
static void say_odd(tc_ctx *ctx, const tc_compiled *c)
{
    for (size_t k = 0; k < c->proof.samples && c->proof.held_out; k++) {
        bool known = !c->given.odd[k];
        for (size_t i = 0; i < c->quant.gains.n_aside; i++)
            known = known || c->quant.gains.aside[i] == c->given.number[k];
        if (!known)
            ti_note(ctx, NULL,
                    "sample %zu, held out from calibration, reaches far beyond the others in an "
                    "input and is measured by itself: is it broken?", c->given.number[k]);
    }
}

tc_status ti_proof_judge(tc_ctx *ctx, tc_compiled *c)
{
    bool said = false;
    say_odd(ctx, c);
    TC_TRY(judge_wrong(ctx, c, &said));
    if (!said)
        judge_low(ctx, c);
    return TC_OK;
}

/* ---- the record ---- */

static void say_range(tc_buf *out, double least, double most, const char *unit)
{
    if (least == INFINITY)
        ti_buf_printf(out, "the same numbers");
    else if (most - least < 0.05)
        ti_buf_printf(out, "%.1f%s", least, unit);
    else if (most == INFINITY)
        ti_buf_printf(out, "%.1f%s and more", least, unit);
    else
        ti_buf_printf(out, "%.1f to %.1f%s", least, most, unit);
}

/* Over the outputs on ordinary samples, or on those excluded: dB from .. to, and shares that are
 * equal.  false: there are none. */
static bool say_outputs(const tc_proof *p, int odd, tc_buf *out)
{
    double least[2] = {INFINITY, INFINITY}, most[2] = {-1, -INFINITY}, steps = 0;
    for (size_t i = 0; i < p->n_out; i++) {
        const tc_proof_output *o = &p->out[i];
        const tc_proof_sums *s = &o->by[odd];
        if (!o->compared || !s->n)
            continue;
        double x = o->real ? ti_proof_db(s, &s->written) : 100 * ti_proof_agreement(s, &s->written);
        least[o->real] = fmin(least[o->real], x);
        most[o->real] = fmax(most[o->real], x);
        if (p->codes && o->real && o->step > 0)
            steps = fmax(steps, rint(s->written.most / o->step));
    }
    bool reals = most[1] > -INFINITY, whole = most[0] >= 0;
    if (reals)
        say_range(out, least[1], most[1], " dB");
    if (steps > 0)
        ti_buf_printf(out, ", at most %.0f step%s off", steps, steps == 1 ? "" : "s");
    if (reals && whole)
        ti_buf_printf(out, ", ");
    if (whole)
        say_range(out, least[0], most[0], " % equal");
    return reals || whole;
}

void ti_proof_line(const tc_proof *p, tc_buf *out)
{
    if (!p->of || !p->ran)
        return;
    ti_buf_printf(out, "; against %s: ", p->codes ? "the model" : "float");
    if (!say_outputs(p, 0, out))
        ti_buf_printf(out, "nothing to compare");
    ti_buf_printf(out, " on ");
    put_samples(p, out);
    if (!p->odd)
        return;
    ti_buf_printf(out, ", ");
    say_outputs(p, 1, out);
    ti_buf_printf(out, " on %zu set aside", p->odd);
}

static void put_sums(const tc_proof *p, const tc_proof_output *o, int odd, tc_json_out *out)
{
    const tc_proof_sums *s = &o->by[odd];
    if (odd)
        ti_json_open(out, "set_aside", '{');
    tc_json_put(out, TC_J("sqnr_db", o->real ? ti_proof_db(s, &s->written) : NAN),
                TC_J("agreement", ti_proof_agreement(s, &s->written)),
                TC_J("lost", s->written.lost));
    if (p->quantized)
        tc_json_put(out, TC_J("typed_sqnr_db", o->real ? ti_proof_db(s, &s->typed) : NAN),
                    TC_J("typed_agreement", ti_proof_agreement(s, &s->typed)));
    if (odd)
        ti_json_close(out, '}');
}

void ti_proof_json(const tc_proof *p, tc_json_out *out)
{
    if (!p->of)
        return;
    ti_json_open(out, "accuracy", '{');
    tc_json_put(out, TC_J("samples", p->ran - p->odd), TC_J("set_aside", p->odd),
                TC_J("invented", p->invented), TC_J("kept_back", p->held_out),
                TC_J("calibration_samples", p->calibrated));
    ti_json_open(out, "outputs", '[');
    for (size_t i = 0; i < p->n_out; i++) {
        const tc_proof_output *o = &p->out[i];
        if (!o->compared)
            continue;
        ti_json_open(out, NULL, '{');
        tc_json_put(out, TC_J("name", o->name), TC_J("real", o->real));
        put_sums(p, o, 0, out);
        if (o->by[1].n)
            put_sums(p, o, 1, out);
        ti_json_close(out, '}');
    }
    ti_json_close(out, ']');
    ti_json_close(out, '}');
}
