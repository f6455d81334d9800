/* SPDX-License-Identifier: Apache-2.0 */
/* quantizer.c -- the quantization stage. */
#include "quantizer.h"

#include <math.h>

#include "../base/attempt.h"
#include "../base/mapped.h"
#include "outlier_samples.h"
#include "channel_groups.h"
#include "equalize.h"
#include "measure.h"
#include "methods.h"
#include "mask_values.h"
#include "rotate.h"
#include "sample_runner.h"
#include "weight_rates.h"
#include "spectra.h"

/* Below this many dB the result is hardly that of the float program any more. */
static const double LOST = 15;

/* What another preset gives on the same samples; its messages are dropped. */
static bool try_preset(tc_ctx *ctx, const tc_module *real, const tc_quant_request *request,
                       const char *name, tc_quant_gains *found)
{
    tc_config c;
    if (!ti_config_preset(name, &c))
        return false;
    c.quiet = true;
    c.round_weights = false;
    tc_quant_request r = {.config = &c,
                          .samples = request->samples,
                          .size = request->size,
                          .n_size = request->n_size,
                          .keep_odd = request->keep_odd,
                          .gains = found,
                          .figure = request->figure,
                          .held_out = request->held_out,
                          .learned = request->learned,
                          .labels = request->labels};
    tc_hold hold = ti_hold_begin(ctx);
    bool works = ti_quantize(ctx, ti_module_copy(real), &r) == TC_OK;
    ti_hold_drop(ctx, hold);
    return works;
}

static double figure_of(const tc_quant_request *request, const tc_quant_gains *gains)
{
    return request->figure ? gains->least_db : gains->db;
}

/* The program is lost: reports it, and which settings keep it, measured on the same samples. */
static void say_lost(tc_ctx *ctx, const tc_module *real, const tc_quant_request *request,
                     const tc_quant_gains *gains)
{
    static const char *const other[] = {"int8+16:8", "int8+16:32", "a16w8"};
    tc_quant_gains found[TC_COUNT(other)] = {0};
    size_t n = 0, place[TC_COUNT(other)];
    bool keeps = false;
    for (size_t i = 0; i < TC_COUNT(other) && !keeps; i++) {
        bool wide = i + 1 == TC_COUNT(other);
        if ((!wide && request->config->global.act.dtype != TC_i8) ||
            !try_preset(ctx, real, request, other[i], &found[n]))
            continue;
        keeps = figure_of(request, &found[n]) >= 2 * LOST;
        place[n++] = i;
    }
    const char *on = gains->n_held_out
                         ? ti_text_format(&ctx->arena, "%zu held-out samples",
                                          gains->n_held_out)
                         : "calibration samples";
    ti_warning(
        ctx, NULL, TC_E_ACCURACY,
        "with these settings the program is %.1f dB from the float one on %s "
        "(%.0f %% of the answers agree): the quantized model is probably unusable",
        figure_of(request, gains), on, 100 * gains->agree);
    for (size_t i = 0; i < n; i++)
        ti_note(ctx, NULL, "-q %s: %.1f dB, %.0f %% of the answers", other[place[i]],
                figure_of(request, &found[i]), 100 * found[i].agree);
}

/* ---- one program, in two ways ---- */

/* Forms that cost time: at least so many dB, for at most so much more of it. */
static const double WORTH = 0.5, MORE = 1.03;

/* Other forms of a program. */
typedef enum kind { FRAMED, FINE, TURNED, GROUPED, FORMS } kind;

/* A program being quantized. */
typedef struct attempt {
    tc_module *real, *typed;
    tc_domains domains;
    tc_quant_gains gains;
    tc_mask_steps masks;
    tc_yardstick *yard;    /* of all forms: the original's results; NULL: not needed yet */
    tc_score score;        /* of `typed`, by it */
    const tc_rates *rates; /* of coarser weights; NULL: not asked for */
    tc_quant_gain form[FORMS]; /* what other forms gave; no name: there was none */
    bool reformed;             /* it is one of them */
} attempt;

/* Ranges that only a mask is likely to have. */
static bool reaches_far(const tc_domains *domains)
{
    static const double far = 1e6;
    bool found = domains->far_given;
    for (size_t d = 0; d < domains->n && !found; d++)
        found = fmax(-domains->domain[d].lo, domains->domain[d].hi) >= far;
    return found;
}

/* Observation files have ranges only: masks cannot be recognized. */
static void warn_merged(tc_ctx *ctx)
{
    ti_warning(ctx, NULL, TC_E_OBSERVATIONS,
               "values reach 1e6 and more: if they come from a mask that is an input, too few "
               "codes are left for the others");
    ti_note(ctx, NULL, "quantize with --calib DATA, which shows what is a mask");
}

/* What a first pass saw of the program as it is: without masks, which change it. */
static const struct tc_first *rows_of(const attempt *a)
{
    const tc_domains *d = &a->domains;
    return a->masks.n || d->never || d->cut || d->far_given ? NULL : d->rows;
}

/* Domains and grids.  Mask values are searched first where constants suggest them, else where the
 * ranges do; then everything is observed again. */
static tc_status observe(tc_ctx *ctx, const tc_quant_request *asked, attempt *a)
{
    tc_quant_request with_masks = *asked;
    const tc_quant_request *request = &with_masks;
    with_masks.masks = &a->masks;
    const tc_config *config = request->config;
    const float *never = NULL;
    bool suspect = !config->anchor && ti_mask_suspected(ti_main(a->typed));
    if (suspect)
        TC_TRY(ti_quant_mask_values(ctx, a->typed, request, &never, &a->masks));
    if (a->masks.n || never)
        with_masks.rows = NULL;
    tc_hold hold = ti_hold_begin(ctx);
    tc_status status = ti_quant_decide(ctx, a->typed, config, never, &a->domains);
    if (status == TC_OK)
        status = ti_quant_observe(ctx, a->typed, request, &a->domains);
    bool far = status == TC_OK && !config->anchor && !request->observe_only &&
               reaches_far(&a->domains);
    if (far && request->n_merge)
        warn_merged(ctx);
    else if (far && !suspect)
        status = ti_quant_mask_values(ctx, a->typed, request, &never, &a->masks);
    if (status != TC_OK || suspect || !never) {
        ti_hold_keep(ctx, hold);
        return status;
    }
    ti_hold_drop(ctx, hold);
    with_masks.rows = NULL;
    TC_TRY(ti_quant_decide(ctx, a->typed, config, never, &a->domains));
    return ti_quant_observe(ctx, a->typed, request, &a->domains);
}

/* Domains, grids, 16 bits where needed; the typed program has the nearest codes. */
static tc_status prepare(tc_ctx *ctx, const tc_quant_request *request, attempt *a)
{
    double clock = 0;
    tc_graph *g = ti_main(a->typed);
    TC_TRY(observe(ctx, request, a));
    if (request->observe_only)
        return TC_OK;
    ti_quant_fit_masks(ctx, g, &a->domains);
    ti_lap(&clock, NULL);
    TC_TRY(ti_quant_widen(ctx, a->typed, request, &a->domains));
    ti_lap(&clock, request->times ? &request->times->rank : NULL);
    if (!request->config->anchor)
        ti_quant_fit_sums(g, &a->domains);
    a->real = ti_module_copy(a->typed);
    return ti_quant_apply(ctx, a->typed, request->config, &a->domains);
}

/* The setting by which samples are judged where values have 8 bits: plain int8.  The same for every
 * such setting of a program, so that more bits are never given for other samples. */
static tc_config plain_int8(const tc_config *config)
{
    tc_config plain = *config, preset;
    if (ti_config_preset("int8", &preset))
        plain.global = preset.global;
    plain.n_entry = 0;
    plain.n_wide = 0;
    plain.wide_cycles = plain.small8 = 0;
    plain.rate = (tc_rate){0};
    plain.head8 = plain.group_free = false;
    plain.widen_noisy = plain.quiet = true;
    return plain;
}

/* Whether samples are judged by the setting itself: it is plain, or its values have 16 bits, whose
 * range has room for odd samples at no cost to the others. */
static bool judges_itself(const tc_config *c)
{
    return c->global.act.dtype != TC_i8 ||
           (!ti_config_few_codes(c) && !c->n_entry && !c->n_wide && !(c->wide_cycles > 0));
}

/* The odd samples' verdict; without: the program made without them, `asked` as it was before. */
static tc_status judge_samples(tc_ctx *ctx, const tc_module *asked, const tc_quant_request *request,
                               const attempt *without, attempt *with, tc_outlier_verdict *verdict)
{
    tc_quant_request all = *request;
    tc_config silent = *request->config;
    silent.quiet = true;
    all.config = &silent;
    all.keep_odd = true;
    all.rows = rows_of(without);
    *with = (attempt){.typed = ti_module_copy(asked)};
    *verdict = (tc_outlier_verdict){.keep = true};
    TC_TRY(prepare(ctx, &all, with));
    return without->domains.n_odd
               ? ti_outlier_judge(ctx, without->real, without->typed, with->typed,
                                  &request->samples, &without->domains, verdict)
               : TC_OK;
}

/* The same of the program in plain int8. */
static tc_status judge_plain(tc_ctx *ctx, const tc_module *asked, const tc_quant_request *request,
                             tc_outlier_verdict *verdict)
{
    tc_config plain = plain_int8(request->config);
    tc_quant_request r = *request;
    attempt without = {.typed = ti_module_copy(asked)}, with;
    r.config = &plain;
    r.times = NULL;
    r.rows = NULL; /* of other settings */
    TC_TRY(prepare(ctx, &r, &without));
    return judge_samples(ctx, asked, &r, &without, &with, verdict);
}

/* The same with all samples, if dropping the odd ones costs more than it gains. */
static tc_status prepare_best(tc_ctx *ctx, tc_quant_request *request, attempt *a)
{
    bool quiet = request->config->quiet, measurable = !request->n_merge && request->samples.n,
         itself = judges_itself(request->config);
    const tc_module *asked = ti_module_copy(a->typed);
    TC_TRY(prepare(ctx, request, a));
    if (!a->domains.n_odd || request->observe_only)
        return TC_OK;
    tc_outlier_verdict verdict;
    attempt all = {0};
    if (measurable)
        TC_TRY(itself ? judge_samples(ctx, asked, request, a, &all, &verdict)
                      : judge_plain(ctx, asked, request, &verdict));
    if (!quiet)
        ti_outlier_tell(ctx, &a->domains, &request->samples, measurable ? &verdict : NULL);
    if (!measurable || !verdict.keep)
        return TC_OK;
    request->keep_odd = true;
    if (!itself) {
        tc_quant_request again = *request;
        tc_config silent = *request->config;
        silent.quiet = true;
        again.config = &silent;
        again.rows = rows_of(a);
        all.typed = ti_module_copy(asked);
        TC_TRY(prepare(ctx, &again, &all));
    }
    ti_quant_take_over(a->typed, all.typed);
    *a = (attempt){.real = all.real, .typed = a->typed, .domains = all.domains, .masks = all.masks};
    return TC_OK;
}

/* With power spectra in i32, or without if that is closer on some of the samples; plain: the program
 * as it was before its spectra were formed. */
static tc_status prepare_either(tc_ctx *ctx, tc_quant_request *request, tc_module *plain,
                                attempt *a)
{
    enum { MOST = 8 };
    TC_TRY(prepare_best(ctx, request, a));
    bool measurable = !request->n_merge && request->samples.n && !request->observe_only &&
                      !request->record && !request->n_size;
    if (!plain || !measurable)
        return TC_OK;
    tc_config *config = tc_new(&ctx->arena, tc_config), silent = *request->config;
    silent.plain_spectra = silent.quiet = true;
    tc_quant_request again = *request;
    again.config = &silent;
    attempt other = {.typed = plain};
    tc_yardstick yard;
    tc_measured with, without;
    TC_TRY(prepare(ctx, &again, &other));
    TC_TRY(ti_yardstick_make(ctx, a->real, &request->samples, &a->domains, MOST, &yard));
    TC_TRY(ti_yardstick_measure(ctx, &yard, a->typed, &with));
    TC_TRY(ti_yardstick_measure(ctx, &yard, other.typed, &without));
    ti_yardstick_end(&yard);
    if (!(without.sqnr_db > with.sqnr_db + TC_GAIN))
        return TC_OK;
    *config = *request->config;
    config->plain_spectra = true;
    request->config = config;
    ti_quant_take_over(a->typed, other.typed);
    other.typed = a->typed;
    *a = other;
    return TC_OK;
}

/* Where values have 8 bits, if all samples are available, and for one method of one size: observation
 * files are of the original program, and methods share their weights. */
static bool may_reform(const tc_module *module, const tc_quant_request *request)
{
    return !module->shared && !request->config->anchor && request->config->global.act.dtype == TC_i8 &&
           !request->n_merge && request->samples.n && !request->observe_only && !request->record &&
           !request->n_size;
}

static tc_status open_yard(tc_ctx *ctx, const tc_quant_request *request, attempt *a)
{
    if (a->yard)
        return TC_OK;
    a->yard = tc_new(&ctx->arena, tc_yardstick);
    return ti_yardstick_open(ctx, a->real, &request->samples, &a->domains,
                             ti_quant_measured_of(request), a->yard);
}

/* On the first samples that the original program is known on. */
static tc_status measure(tc_ctx *ctx, const tc_quant_request *request, attempt *a, size_t most,
                         tc_measured *out)
{
    TC_TRY(open_yard(ctx, request, a));
    return ti_yardstick_first(ctx, a->yard, a->typed, most, &a->score, out);
}

/* A program and a form of it, on some of the samples. */
static tc_status measure_both(tc_ctx *ctx, const tc_quant_request *request, attempt *a, attempt *other,
                              tc_measured *as_is, tc_measured *formed)
{
    enum { MOST = 32 };
    TC_TRY(measure(ctx, request, a, MOST, as_is));
    other->yard = a->yard;
    return measure(ctx, request, other, MOST, formed);
}

static void take_over(attempt *a, attempt *other)
{
    ti_quant_take_over(a->typed, other->typed);
    other->typed = a->typed;
    memcpy(other->form, a->form, sizeof a->form);
    other->reformed = true;
    *a = *other;
}

/* `other`, a form of the same program, if it is closer by `least` dB on some of the samples. */
static tc_status take_closer(tc_ctx *ctx, const tc_quant_request *request, attempt *a,
                             attempt *other, kind form, tc_quant_gain gain, double least)
{
    tc_measured as_is, formed;
    TC_TRY(measure_both(ctx, request, a, other, &as_is, &formed));
    gain.db = formed.sqnr_db;
    gain.taken = formed.sqnr_db > as_is.sqnr_db + least;
    if (gain.taken)
        take_over(a, other);
    a->form[form] = gain;
    return TC_OK;
}

static tc_status prepare_silently(tc_ctx *ctx, const tc_quant_request *request, attempt *a)
{
    tc_config silent = *request->config;
    tc_quant_request again = *request;
    silent.quiet = true;
    again.config = &silent;
    return prepare(ctx, &again, a);
}

static tc_status price_of(const tc_quant_request *request, const tc_module *typed, tc_bytes_cycles *out)
{
    tc_bytes_cycles none;
    return request->cost.layers(request->cost.who, typed, NULL, 0, &none, out);
}

/* Forms of power spectra, taken where they are closer on some of the samples and take no more time for
 * each dB than channels in groups do.  Where the time is not known, those that cost little are taken. */
typedef struct spectral_form {
    kind kind;
    tc_status (*make)(tc_ctx *ctx, tc_module *module, const tc_config *config, bool *any);
    bool cheap;
    tc_quant_gain gain;
} spectral_form;

static tc_status try_spectral(tc_ctx *ctx, const tc_quant_request *request, const spectral_form *form,
                              attempt *a)
{
    attempt formed = {.typed = ti_module_copy(a->real), .masks = a->masks};
    tc_quant_gain gain = form->gain;
    tc_bytes_cycles before = {0}, after = {0};
    tc_measured as_is, other;
    bool any, priced = request->cost.layers;
    TC_TRY(form->make(ctx, formed.typed, request->config, &any));
    if (!any || (!priced && !form->cheap))
        return TC_OK;
    TC_TRY(prepare_silently(ctx, request, &formed));
    TC_TRY(measure_both(ctx, request, a, &formed, &as_is, &other));
    gain.db = other.sqnr_db;
    double more = other.sqnr_db - as_is.sqnr_db;
    if (more >= WORTH && priced) {
        TC_TRY(price_of(request, a->typed, &before));
        TC_TRY(price_of(request, formed.typed, &after));
    }
    gain.taken = more >= WORTH && after.cycles <= before.cycles * (1 + (MORE - 1) * more / WORTH);
    if (gain.taken)
        take_over(a, &formed);
    a->form[form->kind] = gain;
    return TC_OK;
}

/* Power spectra of one size, where samples are there; the rest goes on with what was decided. */
static tc_status prepare_spectra(tc_ctx *ctx, tc_quant_request *request, attempt *a)
{
    static const spectral_form
        framed = {FRAMED, ti_spectra_frame, true,
                  {.name = "frames", .what = "a power of two for each frame of a power spectrum"}},
        fine = {FINE, ti_spectra_split, false,
                {.name = "transform",
                 .what = "weights of a spectrum's transform in 16 bits, as two layers of 8"}};
    bool can = !request->config->anchor && !request->n_merge && request->samples.n &&
               !request->observe_only && !request->record && !request->n_size &&
               !request->config->plain_spectra;
    if (!can)
        return TC_OK;
    TC_TRY(try_spectral(ctx, request, &framed, a));
    if (request->config->transform)
        return TC_OK;
    TC_TRY(try_spectral(ctx, request, &fine, a));
    tc_config *config = ti_arena_copy(&ctx->arena, request->config, sizeof *config);
    config->transform = a->form[FINE].taken ? TC_i16 : TC_i8;
    request->config = config;
    return TC_OK;
}

/* With the values between its layers in other coordinates. */
static tc_status prepare_turned(tc_ctx *ctx, const tc_quant_request *request, attempt *a)
{
    size_t n_set = 0, n_even = 0;
    attempt turned = {.typed = ti_module_copy(a->real), .masks = a->masks};
    TC_TRY(ti_quant_equalize(ctx, turned.typed, request, &a->domains, true, &n_even));
    TC_TRY(ti_quant_rotate(ctx, turned.typed, request->config, &n_set));
    tc_quant_gain gain = {.name = "turning",
                          .what = "values between norms turned, and gated ones scaled half way to "
                                  "equal channels, by neighbouring weights"};
    if (!n_set)
        return TC_OK;
    TC_TRY(prepare_silently(ctx, request, &turned));
    return take_closer(ctx, request, a, &turned, TURNED, gain, TC_GAIN);
}

/* Where the whole program has a price, and weights are not packed. */
static bool may_group(const tc_quant_request *request)
{
    return request->cost.layers && !request->cost.packs;
}

/* Error over squares of the outputs, on a few of the samples. */
static tc_status noise_of(tc_ctx *ctx, const tc_quant_request *request, attempt *a, double *noise)
{
    enum { MOST = 8 };
    tc_measured m;
    TC_TRY(measure(ctx, request, a, MOST, &m));
    *noise = 0;
    for (size_t i = 0; i < a->yard->n_out; i++)
        *noise += m.n && m.measured[i] ? ti_noise_ratio(m.error[i], m.square[i]) : 0;
    return TC_OK;
}

/* The program with channels of some layers in groups, and others scaled where that costs nothing. */
typedef struct regrouping {
    tc_ctx *ctx;
    const tc_quant_request *request;
    const attempt *from;
    tc_groups *groups;
    uint32_t only; /* of the loudest layers */
    tc_bytes_cycles as_is, price; /* without, and of the last that was tried */
} regrouping;

static tc_status make_groups(const regrouping *r, const tc_quant_request *request, attempt *made)
{
    size_t n_even = 0;
    *made = (attempt){.typed = ti_module_copy(r->from->real), .masks = r->from->masks};
    TC_TRY(ti_groups_form(r->groups, made->typed, r->only));
    TC_TRY(ti_quant_equalize(r->ctx, made->typed, request, &r->from->domains, false, &n_even));
    return prepare_silently(r->ctx, request, made);
}

/* A stream's time and memory follow from types and weights: ranges of a few samples do, unless they
 * decide which values have 16 bits. */
static tc_status price_groups(void *what)
{
    enum { FEW = 4 };
    regrouping *r = what;
    tc_quant_request few = *r->request;
    attempt made;
    if (!few.config->n_wide && !(few.config->wide_cycles > 0) && few.samples.n > FEW)
        few.samples.n = FEW;
    few.samples.shelf = NULL;
    few.times = NULL;
    TC_TRY(make_groups(r, &few, &made));
    return price_of(r->request, made.typed, &r->price);
}

/* Whether it takes little more time and memory than without. */
static tc_status try_groups(regrouping *r, uint32_t only, bool *fits)
{
    r->only = only;
    TC_TRY(ti_attempt_work(r->ctx, price_groups, r));
    *fits = r->price.cycles <= r->as_is.cycles * MORE && r->price.memory <= r->as_is.memory * MORE;
    return TC_OK;
}

/* With the loudest layers' channels in groups: all of them, or one after another those that fit. */
static tc_status prepare_grouped(tc_ctx *ctx, const tc_quant_request *request, attempt *a)
{
    static const double LESS = 0.109; /* 1 - 10^(-WORTH / 10) */
    const tc_quant_gain gain = {
        .name = "groups", .what = "channels of the loudest layers are made in groups of like ranges"};
    regrouping r = {ctx, request, a, .groups = ti_groups_find(ctx, a->real, &a->domains)};
    attempt grouped;
    double noise;
    bool fits;
    size_t n;
    uint32_t kept = UINT32_MAX;
    if (!r.groups)
        return TC_OK;
    TC_TRY(noise_of(ctx, request, a, &noise));
    TC_TRY(ti_groups_rank(r.groups, request, LESS * noise, &n));
    if (!n)
        return TC_OK;
    TC_TRY(price_of(request, a->typed, &r.as_is));
    TC_TRY(try_groups(&r, kept, &fits));
    if (!fits)
        kept = 0;
    for (size_t i = 0; i < n && n > 1 && kept != UINT32_MAX; i++) {
        TC_TRY(try_groups(&r, kept | 1u << i, &fits));
        kept |= fits ? 1u << i : 0;
    }
    if (!kept)
        return TC_OK;
    r.only = kept;
    TC_TRY(make_groups(&r, request, &grouped));
    return take_closer(ctx, request, a, &grouped, GROUPED, gain, WORTH);
}

static tc_status improve(tc_ctx *ctx, const tc_quant_request *request, attempt *a)
{
    TC_TRY(open_yard(ctx, request, a));
    TC_TRY(ti_quant_improve_by(ctx, a->real, a->typed, request, &a->domains, a->yard, &a->score, &a->gains));
    for (int i = 0; i < FORMS && a->gains.n < TC_METHODS; i++)
        if (a->form[i].name)
            a->gains.method[a->gains.n++] = a->form[i];
    return TC_OK;
}

/* Only if time allows, and if all samples are available: observation files are of the original
 * program. */
static bool wants_equalizing(const tc_quant_request *request)
{
    const tc_config *c = request->config;
    return c->thorough && !c->anchor && !c->quiet && !request->n_merge &&
           c->global.act.dtype == TC_i8;
}

/* The better in the end: the original program, or with equalized channels. */
static tc_status improve_either(tc_ctx *ctx, const tc_quant_request *request, attempt *a)
{
    attempt even = {.typed = ti_module_copy(a->real), .masks = a->masks};
    size_t n = 0;
    if (wants_equalizing(request))
        TC_TRY(ti_quant_equalize(ctx, even.typed, request, &a->domains, false, &n));
    TC_TRY(improve(ctx, request, a));
    if (!n)
        return TC_OK;
    if (ti_clock_past(request->until)) {
        ti_quant_say_over(ctx, "equalizing");
        return TC_OK;
    }
    tc_config silent = *request->config;
    silent.quiet = true; /* everything has been reported */
    tc_quant_request again = *request;
    again.config = &silent;
    TC_TRY(prepare(ctx, &again, &even));
    even.yard = a->yard;
    TC_TRY(improve(ctx, &again, &even));
    tc_quant_gain gain = {
        "equalizing", "channels equalized by factors that are folded into neighbouring weights",
        even.gains.db, even.gains.db > a->gains.db + TC_GAIN};
    if (gain.taken) {
        even.gains.plain_db = a->gains.plain_db;
        ti_quant_take_over(a->typed, even.typed);
        even.typed = a->typed;
        even.rates = a->rates;
        even.reformed = true;
        *a = even;
    }
    if (a->gains.n < TC_METHODS)
        a->gains.method[a->gains.n++] = gain;
    return TC_OK;
}

/* The same program with the weights of other settings. */
static tc_status settle(tc_ctx *ctx, tc_quant_request *request, const tc_config *own, attempt *a)
{
    tc_module *typed = ti_module_copy(a->real);
    TC_TRY(ti_quant_apply(ctx, typed, own, &a->domains));
    ti_quant_take_over(a->typed, typed);
    a->score = (tc_score){0};
    request->config = own;
    return TC_OK;
}

/* 8 bits beside 4 where samples say that they are needed; config: without those of small layers. */
static tc_status keep_loud(tc_ctx *ctx, tc_quant_request *request, const tc_config *config,
                           attempt *a)
{
    if (!(config->small8 > 0) || config->known || !ti_setting_few_codes(&config->global.weight))
        return TC_OK;
    tc_config *own = tc_new(&ctx->arena, tc_config);
    TC_TRY(ti_quant_loud_layers(ctx, a->real, request, config, &a->domains, own));
    return settle(ctx, request, own, a);
}

/* Coarser steps of weights, where they are asked for. */
static tc_status coarsen(tc_ctx *ctx, tc_quant_request *request, attempt *a)
{
    const tc_rate *rate = &request->config->rate;
    if (!(rate->db > 0 || rate->bytes > 0) ||
        (rate->may && !ti_rates_can_be_known(request)))
        return TC_OK;
    tc_config *own = tc_new(&ctx->arena, tc_config);
    tc_rates *rates = rate->known ? rate->known : ti_rates_new(ctx);
    TC_TRY(ti_quant_weight_rates(ctx, a->real, request, &a->domains, rates, own));
    a->rates = rates;
    return settle(ctx, request, own, a);
}

static void keep_curve(tc_ctx *ctx, const tc_rates *rates, tc_quant_gains *gains)
{
    enum { MOST = 17 };
    tc_rate_point *point = tc_new_n(&ctx->arena, tc_rate_point, MOST);
    gains->n_curve = ti_rates_curve(rates, point, MOST, &gains->curve_noise);
    gains->curve = point;
}

static void name_aside(tc_ctx *ctx, const tc_domains *domains, bool weighed, tc_quant_gains *gains)
{
    size_t *index = tc_new_n(&ctx->arena, size_t, domains->n_odd);
    for (size_t i = 0; i < domains->n_odd; i++)
        index[i] = domains->odd[i].index;
    gains->aside = index;
    gains->outlier = domains->odd;
    gains->n_watched = domains->n_watched;
    gains->n_aside = domains->n_odd;
    gains->weighed = weighed;
}

/* ---- on new samples ---- */

typedef struct forecast {
    tc_ctx *ctx;
    const tc_module *asked;
    const tc_quant_request *request;
    const attempt *result;
    tc_quant_gains *gains;
    double *unseen;
} forecast;

static tc_status make_unseen(const forecast *f, attempt *made)
{
    tc_config silent = *f->request->config;
    tc_quant_request r = *f->request;
    silent.quiet = true;
    silent.thorough = false;
    silent.round_weights = silent.round_weights && ti_config_needs_rounding(&silent);
    r.config = &silent;
    r.samples = *r.learned;
    r.samples.shelf = ti_shelf_new(f->ctx);
    r.rows = rows_of(f->result);
    r.record = NULL;
    r.times = NULL;
    *made = f->result->reformed
                ? (attempt){.typed = ti_module_copy(f->result->real), .masks = f->result->masks}
                : (attempt){.typed = ti_module_copy(f->asked)};
    TC_TRY(prepare_best(f->ctx, &r, made));
    return ti_quant_repeat(f->ctx, made->real, made->typed, &r, &made->domains, f->gains);
}

static tc_status measure_unseen(const forecast *f)
{
    enum { MOST = 32 };
    attempt made;
    tc_yardstick yard;
    tc_measured found;
    TC_TRY(make_unseen(f, &made));
    TC_TRY(ti_yardstick_make(f->ctx, ti_module_copy(f->asked), f->request->held_out,
                             &f->result->domains, MOST, &yard));
    TC_TRY(ti_yardstick_measure(f->ctx, &yard, made.typed, &found));
    for (size_t i = 0; i < yard.n_out; i++)
        if (found.n && found.measured[i] && found.square[i] > 0 && isfinite(found.error[i]))
            f->unseen[i] = found.error[i] / found.square[i];
    ti_yardstick_end(&yard);
    f->gains->n_held_out = found.n;
    return TC_OK;
}

/* The program made from the learned samples alone, in the form and by the methods of the result,
 * measured on those held out: a prediction of the result's error, which is made from all, on new ones.
 * Rounding, which takes the most time, is skipped, except with few codes, where it matters. */
static tc_status foresee(tc_ctx *ctx, const tc_module *asked, const tc_quant_request *request,
                         const attempt *result, tc_quant_gains *gains)
{
    forecast f = {ctx, asked, request, result, gains,
                  tc_new_n(&ctx->arena, double, ti_main(asked)->n_out + 1)};
    tc_attempt silent;
    ti_attempt_begin(ctx, &silent);
    ctx->on_progress = silent.on_progress;
    tc_status status = measure_unseen(&f);
    ti_attempt_end(ctx, &silent);
    ti_memory_trim(ctx);
    if (status == TC_OK)
        gains->unseen = f.unseen;
    return status == TC_CANCELLED || status == TC_NO_MEMORY ? status : TC_OK;
}

static double least_db(const tc_quant_gains *gains, size_t n_out)
{
    double least = INFINITY;
    for (size_t i = 0; i < n_out; i++)
        least = fmin(least, ti_sqnr_db(1, ti_quant_expected_noise(gains, i)));
    return least;
}

/* The decisions; `asked` is the original program. */
static tc_status record(const tc_module *asked, const attempt *a, const tc_config *config,
                        tc_quant_record *out)
{
    tc_module *masked = ti_module_copy(asked);
    TC_TRY(ti_mask_repeat(masked, &a->masks));
    *out = (tc_quant_record){masked,     a->real,  ti_module_copy(a->typed),
                             a->domains, a->masks, a->rates ? config : NULL};
    return TC_OK;
}

static tc_status form_copy(tc_ctx *ctx, const tc_config *config, const tc_module **module)
{
    bool found;
    tc_module *copy = ti_module_copy(*module);
    *module = copy;
    TC_TRY(ti_spectra_form(ctx, copy, config, &found));
    ti_quant_number_values(copy);
    return TC_OK;
}

/* The program in the form that power spectra need, and so at its other sizes. */
static tc_status form(tc_ctx *ctx, tc_module *module, tc_quant_request *request, bool *found)
{
    TC_TRY(ti_spectra_form(ctx, module, request->config, found));
    if (!*found)
        return TC_OK;
    tc_quant_size *size = tc_new_n(&ctx->arena, tc_quant_size, request->n_size + 1);
    for (size_t i = 0; i < request->n_size; i++) {
        size[i] = request->size[i];
        TC_TRY(form_copy(ctx, request->config, &size[i].module));
    }
    request->size = size;
    return request->largest ? form_copy(ctx, request->config, &request->largest) : TC_OK;
}

static void say_front(tc_ctx *ctx, tc_module *module, const tc_config *config)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    const tc_graph *g = ti_main(module);
    tc_dataflow f = ti_dataflow_of(ctx, g, config, NULL);
    bool any = false;
    for (tc_val v = 1; v < g->n_val; v++)
        any = any || f.real[v];
    if (!any)
        ti_warning(ctx, &(tc_loc){.file = module->file}, TC_E_NO_EFFECT,
                   "'" TC_FRONT_END "' is left in float, but no logarithm or root reads a power spectrum of an input");
    ti_arena_rewind(&ctx->scratch, mark);
}

tc_status ti_quantize(tc_ctx *ctx, tc_module *module, const tc_quant_request *asked)
{
    tc_config head = ti_quant_output_layers(ctx, ti_main(module), asked->config),
              own = ti_quant_small_layers(ctx, ti_main(module), &head);
    tc_quant_request request = *asked;
    request.config = &own;
    request.samples.shelf = ti_shelf_new(ctx);
    attempt a = {.typed = module};
    tc_module *plain = ti_module_copy(module);
    bool spectra;
    ti_mapped_rest(ctx);
    if (own.real_spectra && !own.quiet)
        say_front(ctx, module, &own);
    tc_fouriers fouriers = {0};
    ti_spectra_fouriers(ctx, module, &own, &fouriers);
    if (request.fouriers)
        *request.fouriers = fouriers;
    TC_TRY(form(ctx, module, &request, &spectra));
    if (own.transform == TC_f32 && !fouriers.n && !own.quiet)
        ti_warning(ctx, &(tc_loc){.file = module->file}, TC_E_NO_EFFECT,
                   "'transform=float' has no effect: no layer whose squares a logarithm or root reads has a window times "
                   "cosines and sines as its weights");
    else if (own.transform && own.transform != TC_f32 && !spectra && !own.quiet)
        ti_warning(ctx, &(tc_loc){.file = module->file}, TC_E_NO_EFFECT,
                   "'transform' has no effect: no logarithm or root reads a power spectrum of an input, in integers");
    if (request.record || request.as || request.n_size)
        ti_quant_number_values(module);
    own.largest = ti_quant_largest(module, request.largest);
    if (request.as)
        return ti_quantize_as(ctx, module, &own, request.as);
    tc_module *before = request.record || request.n_size ? ti_module_copy(module) : NULL;
    tc_module *unchanged = request.learned ? ti_module_copy(module) : NULL;
    request.asked = before;
    TC_TRY(prepare_either(ctx, &request, spectra && own.transform != TC_f32 ? plain : NULL, &a));
    if (spectra)
        TC_TRY(prepare_spectra(ctx, &request, &a));
    if (may_reform(module, &request))
        TC_TRY(prepare_turned(ctx, &request, &a));
    if (may_reform(module, &request) && may_group(&request))
        TC_TRY(prepare_grouped(ctx, &request, &a));
    if (request.record && !request.observe_only)
        TC_TRY(record(before, &a, request.config, request.record));
    if (request.observe_only || !own.correct_bias)
        return TC_OK;
    if (!request.samples.n) {
        ti_note(ctx, NULL,
                "biases are not corrected: this needs samples, up to 32, with --calib");
        return TC_OK;
    }
    double clock = 0;
    ti_lap(&clock, NULL);
    if (may_reform(module, &request))
        TC_TRY(keep_loud(ctx, &request, &head, &a));
    TC_TRY(coarsen(ctx, &request, &a));
    TC_TRY(improve_either(ctx, &request, &a));
    ti_yardstick_end(a.yard);
    ti_shelf_clear(request.samples.shelf);
    if (request.record)
        TC_TRY(record(before, &a, request.config, request.record));
    if (request.learned)
        TC_TRY(foresee(ctx, unchanged, &request, &a, &a.gains));
    if (request.figure)
        a.gains.least_db = least_db(&a.gains, ti_main(module)->n_out);
    if (a.rates)
        keep_curve(ctx, a.rates, &a.gains);
    if (request.gains)
        *request.gains = a.gains;
    if (request.gains && a.domains.n_odd)
        name_aside(ctx, &a.domains, !request.n_merge, request.gains);
    ti_lap(&clock, request.times ? &request.times->correct : NULL);
    if (figure_of(&request, &a.gains) < LOST && !own.quiet && !own.proved)
        say_lost(ctx, a.real, &request, &a.gains);
    return TC_OK;
}
