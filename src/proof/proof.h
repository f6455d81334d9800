/* SPDX-License-Identifier: Apache-2.0 */
/* proof.h -- the last check: what is about to be written, run next to the model as it was read.
 *
 * Three programs on the same samples: the model itself, the typed program (what it promised), and
 * the one that is written: regions as TOSA, and the CPU's part as kernels where it has some. */
#ifndef TC_PROOF_H
#define TC_PROOF_H

#include "../drive/proof_record.h"

struct tc_compiled;
struct tc_json_out;
struct tc_quant_gains;

/* SQNR in dB (ti_unseen_db); INFINITY where there is no difference. */
double ti_proof_db(const tc_proof_sums *s, const tc_proof_side *side);
/* The share of elements that are equal. */
double ti_proof_agreement(const tc_proof_sums *s, const tc_proof_side *side);

/* Both as one measure: dB; of integers 40 dB for each share that is not equal, 0 where all are. */
double ti_proof_measure(const tc_proof_output *o, const tc_proof_sums *s,
                        const tc_proof_side *side);

/* Runs `written`, a form of c->module, and keeps the record in c->proof; once for each program.
 * Nothing is run where there are no samples, or where a program cannot be run here.  The result is
 * judged (proof_verdict.c). */
TC_MUST_USE tc_status ti_prove(tc_ctx *ctx, struct tc_compiled *c, const tc_module *written);
/* A typed program of the same model on the same samples, or only the first `most` of them (0: all);
 * `written` of the record stays empty.  gains: what calibration has measured of it; or NULL. */
TC_MUST_USE tc_status ti_prove_typed(tc_ctx *ctx, const struct tc_compiled *c,
                                     const tc_module *typed, const struct tc_quant_gains *gains,
                                     size_t most, tc_proof *out);

/* The same for a program that was compiled with other settings, `written` filled in; c->work.typed
 * is its typed one. */
TC_MUST_USE tc_status ti_prove_written(tc_ctx *ctx, const struct tc_compiled *c,
                                       const tc_module *written, size_t most, tc_proof *out);

/* proof_verdict.c: an output far below the typed program's is an error that names the step; one
 * below a sane level a warning. */
TC_MUST_USE tc_status ti_proof_judge(tc_ctx *ctx, struct tc_compiled *c);

/* The samples of a figure: "8 held-out and 32 calibration samples". */
typedef struct tc_measured_on {
    size_t samples;
    bool held_out, seen, invented; /* as in tc_proof */
    size_t calibrated;
} tc_measured_on;
void ti_put_measured_on(const tc_measured_on *on, tc_buf *out);

/* "; against float: 41.3 dB on 8 held-out and 32 calibration samples", into a summary
 * (against the model, where that is quantized); nothing where nothing was run. */
void ti_proof_line(const tc_proof *proof, tc_buf *out);
void ti_proof_json(const tc_proof *proof, struct tc_json_out *out);

/* noise_sources.c: values of the typed program that cause an output's noise, and the output's
 * accuracy if each by itself were left real.  At most `most`, the best first. */
typedef struct tc_noise {
    const char *name;
    const tc_loc *loc;
    double by; /* ti_proof_measure */
} tc_noise;
size_t ti_noise_makers(tc_ctx *ctx, const struct tc_compiled *c, size_t output, int odd,
                       tc_noise *out, size_t most);
/* noise_cause.c: why that value of the typed program is noisy, as a clause; NULL: nothing stands
 * out. */
const char *ti_noise_cause(tc_ctx *ctx, const struct tc_compiled *c, const char *name);
/* Whether a logarithm or root there reads codes. */
bool ti_noise_front(const tc_graph *typed);
/* The node that loses the most where the target computes it, and the output's accuracy if it were
 * left to the CPU; false: none makes a difference by itself. */
bool ti_noise_of_lowering(tc_ctx *ctx, const struct tc_compiled *c, size_t output, int odd,
                          tc_noise *out);

#endif
