/* SPDX-License-Identifier: Apache-2.0 */
/* outlier_samples.c -- whether outlier samples should be kept.
 *
 * Without them the others have finer steps, and they themselves are clipped.  The program is
 * quantized in both ways and measured on all samples, these among them:
 *
 *   each = mean over samples of min(1, error / square)          every sample counts the same
 *   all  = sum of errors / sum of squares                       large ones count for more
 *
 * They are excluded where that lowers `each` by GAIN without raising `all`: a broken image is lost
 * in one way and costs all others in the other; large samples of heavy-tailed data are valid input,
 * where there are several of them (TAIL).  Judged on the plain int8 program for every setting.
 *
 * Samples that are far beyond all others in an input, a pixel of 5000 among others of 4, have large
 * outputs, too.  They are excluded where the others are lost with them (LOST) and not without. */
#include "outlier_samples.h"

#include <math.h>

#include "../base/real.h"
#include "measure.h"

enum { MEASURED = 64, NAMED = 8 };
static const double GAIN = 0.8; /* times the noise, 1 dB */
static const double TAIL = 0.03; /* of the samples: fewer, or one, do not show a long tail */
static const double LOST = 20, BACK = 3; /* dB of the others, and their gain */

/* Both noises over the kept samples, of which some were measured, and those set aside. */
typedef struct noise {
    double each, all;
} noise;

static noise noise_of(const tc_measured *kept, const tc_measured *odd, size_t n_out, double share)
{
    double times = odd->n ? (1 - share) / share * (double)odd->n / (double)kept->n : 1;
    noise n = {(1 - share) * kept->each + share * odd->each, 0};
    double outputs = 0;
    for (size_t i = 0; i < n_out; i++) {
        if (!kept->measured[i])
            continue;
        n.all += ti_noise_ratio(times * kept->error[i] + odd->error[i],
                          times * kept->square[i] + odd->square[i]);
        outputs++;
    }
    n.all /= fmax(1, outputs);
    return n;
}

/* Each of them is far beyond all others in an input. */
static bool all_given(const tc_domains *domains)
{
    bool all = domains->n_odd > 0;
    for (size_t i = 0; i < domains->n_odd; i++)
        all = all && domains->odd[i].input >= 0;
    return all;
}

tc_status ti_outlier_judge(tc_ctx *ctx, tc_module *real, const tc_module *without,
                           const tc_module *with, const tc_samples *samples,
                           const tc_domains *domains, tc_outlier_verdict *out)
{
    tc_domains only = *domains;
    tc_yardstick kept, odd;
    tc_measured kept_in[2], odd_in[2];
    const tc_module *program[2] = {without, with};
    only.only_odd = true;
    *out = (tc_outlier_verdict){0};
    TC_TRY(ti_yardstick_make(ctx, real, samples, domains, MEASURED, &kept));
    TC_TRY(ti_yardstick_make(ctx, real, samples, &only, MEASURED, &odd));
    if (!kept.samples.n || !odd.samples.n)
        return TC_OK;
    for (int i = 0; i < 2; i++) {
        TC_TRY(ti_yardstick_measure(ctx, &kept, program[i], &kept_in[i]));
        TC_TRY(ti_yardstick_measure(ctx, &odd, program[i], &odd_in[i]));
    }
    double share = (double)domains->n_odd / (double)domains->n_sample;
    noise a = noise_of(&kept_in[0], &odd_in[0], kept.n_out, share),
          b = noise_of(&kept_in[1], &odd_in[1], kept.n_out, share);
    bool gains = a.each < GAIN * b.each, lost = !(kept_in[1].sqnr_db > LOST) &&
                                               kept_in[0].sqnr_db > kept_in[1].sqnr_db + BACK;
    bool broken = lost && all_given(domains);
    out->heavy = gains && a.all > b.all && !broken && domains->n_odd > 1 && share >= TAIL;
    out->keep = !broken && (out->heavy || !gains);
    out->others_db[0] = kept_in[0].sqnr_db;
    out->others_db[1] = kept_in[1].sqnr_db;
    out->all_db = -10 * ti_log10(a.all);
    out->without_db = -10 * ti_log10(a.each);
    out->with_db = -10 * ti_log10(b.each);
    out->lost_db = odd_in[0].sqnr_db;
    ti_yardstick_end(&kept);
    ti_yardstick_end(&odd);
    return TC_OK;
}

/* "calibration sample 53", "calibration samples 3, 17 and 2 more", or "calibration sample
 * pictures/cat.png". */
static const char *names_of(tc_ctx *ctx, const tc_domains *domains, const tc_samples *samples)
{
    tc_buf text;
    ti_buf_init(&text, &ctx->arena);
    ti_buf_printf(&text, "calibration sample%s", domains->n_odd > 1 ? "s" : "");
    for (size_t i = 0; i < domains->n_odd && i < NAMED; i++) {
        const tc_outlier *odd = &domains->odd[i];
        const char *name = samples->name && !odd->where ? samples->name(samples->from, odd->index) : NULL;
        ti_buf_text(&text, i ? ", " : " ");
        if (name) {
            ti_buf_text(&text, name);
            continue;
        }
        ti_buf_printf(&text, "%zu%s%s", odd->index, odd->where ? " of " : "",
                      odd->where ? odd->where : "");
    }
    if (domains->n_odd > NAMED)
        ti_buf_printf(&text, " and %zu more", domains->n_odd - NAMED);
    ti_buf_u8(&text, 0);
    return (const char *)text.data;
}

/* Of samples far beyond all others in one value. */
static void tell_alone(tc_ctx *ctx, const tc_domains *domains, const char *names,
                       const tc_outlier_verdict *verdict)
{
    bool one = domains->n_odd == 1;
    const tc_outlier *odd = domains->odd;
    for (size_t i = 1; i < domains->n_odd; i++)
        if (odd->input < 0 && domains->odd[i].input >= 0)
            odd = &domains->odd[i];
    const char *is = one ? "is" : "are", *it = one ? "it" : "them";
    const char *far = ti_text_format(&ctx->arena, "%s'%s' reaches %.4g there and %.4g in all others",
                                     odd->input >= 0 ? "input " : "", odd->alone, odd->reach,
                                     odd->others);
    if (!verdict)
        ti_note(ctx, NULL, "%s %s set aside: %s (--keep-odd-samples keeps %s)", names, is, far, it);
    else if (!verdict->keep)
        ti_note(ctx, NULL,
                "%s %s set aside: %s; without %s the others have %.1f dB, with %s %.1f "
                "(--keep-odd-samples keeps %s)",
                names, is, far, it, verdict->others_db[0], it, verdict->others_db[1], it);
    else
        ti_note(ctx, NULL,
                "%s %s kept, though %s: the others have %.1f dB with %s and %.1f without, and %s "
                "would be at %.1f; remove %s from the data if %s broken",
                names, is, far, verdict->others_db[1], it, verdict->others_db[0],
                one ? "it" : "they", verdict->lost_db, it, one ? "it is" : "they are");
}

void ti_outlier_tell(tc_ctx *ctx, const tc_domains *domains, const tc_samples *samples,
                     const tc_outlier_verdict *verdict)
{
    const char *names = names_of(ctx, domains, samples);
    bool alone = domains->n_odd > 0;
    for (size_t i = 0; i < domains->n_odd; i++)
        alone = alone && domains->odd[i].alone;
    if (alone) {
        tell_alone(ctx, domains, names, verdict);
        return;
    }
    size_t far_in = domains->n_watched;
    bool one = domains->n_odd == 1;
    for (size_t i = 0; i < domains->n_odd; i++)
        far_in = domains->odd[i].far_in < far_in ? domains->odd[i].far_in : far_in;
    const char *is = one ? "is" : "are", *it = one ? "it" : "them";
    const char *far = ti_text_format(&ctx->arena, "more than twice the median in %zu of %zu domains",
                                     far_in, domains->n_watched);
    if (!verdict)
        ti_note(ctx, NULL, "%s %s set aside as outliers: the values reach %s (--keep-odd-samples "
                           "keeps %s)",
                names, is, far, it);
    else if (!verdict->keep)
        ti_note(ctx, NULL,
                "%s %s set aside as outliers: the values reach %s; without, all samples have %.1f "
                "dB, %s at %.1f, and %.1f with %s (--keep-odd-samples keeps %s)",
                names, is, far, verdict->without_db, one ? "this one" : "these", verdict->lost_db,
                verdict->with_db, it, it);
    else if (verdict->heavy)
        ti_note(ctx, NULL,
                "%s %s kept, though the values reach %s: their outputs dominate, and without %s "
                "the total is %.1f dB; with equal weights it is %.1f dB, and %.1f without %s: "
                "remove %s from the data if %s broken",
                names, is, far, it, verdict->all_db, verdict->with_db, verdict->without_db, it, it,
                one ? "it is" : "they are");
    else
        ti_note(ctx, NULL,
                "%s %s kept, though the values reach %s: without %s there are %.1f dB instead of "
                "%.1f", names, is, far, it, verdict->without_db, verdict->with_db);
}
