/* SPDX-License-Identifier: Apache-2.0 */
/* proof_record.h -- what running a program next to its model came to (proof/proof.h). */
#ifndef TC_PROOF_RECORD_H
#define TC_PROOF_RECORD_H

#include "../ir/graph.h"

enum { TC_GIVEN = 34 }; /* samples at most that what is written is run on */

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
    double calibrated; /* noise / signal that calibration expects of new samples; 0: not known */
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
    bool held_out;      /* calibration has not seen the ordinary ones; */
    bool seen;          /* or it has, and they are its own */
    size_t calibrated;  /* of its own, so many were measured, of the typed program */
    bool invented;      /* there was no data */
    bool quantized;     /* a typed program stands between */
    tc_proof_output *out;
    size_t n_out;
    bool codes; /* the model is quantized itself */
} tc_proof;

#endif
