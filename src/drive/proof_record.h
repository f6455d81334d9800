/* SPDX-License-Identifier: Apache-2.0 */
/* proof_record.h -- the result of running a program next to its model (proof/proof.h). */
#ifndef TC_PROOF_RECORD_H
#define TC_PROOF_RECORD_H

#include "../ir/graph.h"

enum { TC_GIVEN = 34 }; /* the written program is run on at most so many samples */

/* One program's output against the model's. */
typedef struct tc_proof_side {
    double noise;  /* sum of squares of the differences, over elements that are finite in the
                      model */
    double most;   /* the largest of them */
    int64_t same;  /* elements that are equal */
    int64_t lost;  /* NaN or infinite, and finite in the model */
} tc_proof_side;

/* Over some samples. */
typedef struct tc_proof_sums {
    double signal; /* sum of squares, in the model */
    int64_t n;     /* elements that count */
    double calibrated; /* noise / signal that calibration expects of new samples; 0: not known */
    tc_proof_side written, typed;
    double apart;   /* sum of squares of written - typed */
    int64_t unlike; /* elements in which these two differ */
    size_t worst;   /* the worst sample, */
    double worst_by; /* and its noise over its signal, or its share of differing elements */
} tc_proof_sums;

typedef struct tc_proof_output {
    const char *name;
    const tc_loc *loc;    /* of the node that makes it; or NULL */
    const tc_type *type;  /* in the model */
    bool compared;        /* all three programs have it, in one shape */
    bool real;            /* elements are near each other, or not; else they are equal, or not */
    bool exact;           /* it depends on integers alone: every element must be equal */
    double step;          /* between neighbouring codes of the typed output; 0: it is real */
    tc_proof_sums by[2];  /* on ordinary samples; on those that calibration has excluded */
} tc_proof_output;

typedef struct tc_proof {
    const tc_module *of; /* the module that was run, unchanged since; NULL: nothing was run */
    bool kernels;       /* the CPU's part was run as kernels */
    size_t samples, odd; /* that it was run on; of these, excluded by calibration */
    bool refused[TC_GIVEN]; /* the model does not take these values, which were invented, or it
                               amplifies any rounding there */
    size_t ran;         /* samples without those */
    bool held_out;      /* calibration has not seen the ordinary samples; */
    bool seen;          /* or it has, and they are calibration samples */
    size_t calibrated;  /* of its own, so many were measured, of the typed program */
    bool invented;      /* there was no data */
    bool quantized;     /* there is a typed program in between */
    tc_proof_output *out;
    size_t n_out;
    bool codes; /* the model is quantized itself */
} tc_proof;

#endif
