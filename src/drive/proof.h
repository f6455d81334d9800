/* SPDX-License-Identifier: Apache-2.0 */
/* proof.h -- the last net: what is about to be written, run beside the model as it was read.
 *
 * Three programs on the same samples: the model itself, the typed program (what it promised), and
 * the one that is written: regions as TOSA, and the CPU's part as kernels where it has some. */
#ifndef TC_PROOF_H
#define TC_PROOF_H

#include "../ir/graph.h"

struct tc_compiled;
struct tc_json_out;

enum { TC_GIVEN = 8 }; /* samples at most that what is written is run on */

/* One program's output beside the model's. */
typedef struct tc_proof_side {
    double noise;  /* sum of squares of the differences, over numbers that are finite in the model */
    double most;   /* the largest of them */
    int64_t same;  /* numbers that are equal */
    int64_t lost;  /* NaN or infinite, and finite in the model */
} tc_proof_side;

/* Over some samples. */
typedef struct tc_proof_sums {
    double signal; /* sum of squares, in the model */
    int64_t n;     /* numbers that count */
    tc_proof_side written, typed;
    double apart;   /* sum of squares of written - typed */
    int64_t unlike; /* numbers in which these two differ */
    size_t worst;   /* the sample that is worst for what it has to say, */
    double worst_by; /* and its noise beside its signal, or its share of other numbers */
} tc_proof_sums;

typedef struct tc_proof_output {
    const char *name;
    const tc_loc *loc;    /* of the node that makes it; or NULL */
    const tc_type *type;  /* in the model */
    bool compared;        /* all three have it, in one shape */
    bool real;            /* numbers are near each other, or not; else they are equal, or not */
    bool exact;           /* it follows from integers alone: every number must be equal */
    double step;          /* between neighbouring codes of the typed output; 0: it is real */
    tc_proof_sums by[2];  /* on ordinary samples; on those that calibration has set aside */
} tc_proof_output;

typedef struct tc_proof {
    const tc_module *of; /* what was compiled as it was then; NULL: nothing was run */
    bool kernels;       /* the CPU's part was run as kernels */
    size_t samples, odd; /* that it was given; of these, set aside by calibration */
    bool refused[TC_GIVEN]; /* the model does not take these numbers, which were invented, or any
                               rounding carries far there */
    size_t ran;         /* samples without those */
    bool invented;      /* there was no data */
    bool quantized;     /* a typed program stands between */
    tc_proof_output *out;
    size_t n_out;
    bool codes; /* the model is quantized itself */
} tc_proof;

/* SQNR in dB: INFINITY where there is no difference. */
double ti_proof_db(const tc_proof_sums *s, const tc_proof_side *side);
/* The share of numbers that are equal. */
double ti_proof_agreement(const tc_proof_sums *s, const tc_proof_side *side);

/* Both as one measure: dB; of integers 40 dB for each share that is not equal, 0 where all are. */
double ti_proof_measure(const tc_proof_output *o, const tc_proof_sums *s,
                        const tc_proof_side *side);

/* Runs `written`, a form of c->module, and keeps the record in c->proof; once for each program.
 * Nothing is run where there are no samples, or where a program cannot be run here.  What comes of
 * it is judged. */
TC_MUST_USE tc_status ti_prove(tc_ctx *ctx, struct tc_compiled *c, const tc_module *written);
/* A typed program of the same model on the same samples; `written` of the record stays empty. */
TC_MUST_USE tc_status ti_prove_typed(tc_ctx *ctx, const struct tc_compiled *c,
                                     const tc_module *typed, tc_proof *out);

/* proof_verdict.c: what is far below the typed program is an error that names the step; what is
 * below a sane level a warning. */
TC_MUST_USE tc_status ti_proof_judge(tc_ctx *ctx, struct tc_compiled *c);

/* "; beside float: 41.3 dB on 4 samples", into a summary (beside the model, where that is
 * quantized); nothing where nothing was run. */
void ti_proof_line(const tc_proof *proof, tc_buf *out);
void ti_proof_json(const tc_proof *proof, struct tc_json_out *out);

/* noise_sources.c: values of the typed program that make an output's noise, and what the output
 * would have were each by itself left real.  At most `most`, the best first. */
typedef struct tc_noise {
    const char *name;
    const tc_loc *loc;
    double by; /* ti_proof_measure */
} tc_noise;
size_t ti_noise_makers(tc_ctx *ctx, const struct tc_compiled *c, size_t output, int odd,
                       tc_noise *out, size_t most);

#endif
