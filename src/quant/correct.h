/* SPDX-License-Identifier: Apache-2.0 */
/* correct.h -- what the files of the correction share: correct.c goes from product to product,
 * samples_abreast.c takes the samples through both programs. */
#ifndef TC_CORRECT_H
#define TC_CORRECT_H

#include "../run/parked.h"
#include "feedback.h"
#include "layer_pairs.h"
#include "replace_weights.h"

/* A convolution or linear layer. */
typedef struct tc_layer {
    tc_pair pair;
    tc_replaced *out;
    int axis;          /* of the channels in the result */
    int64_t n;         /* channels */
    double positions;  /* elements in a channel */
    bool rounds;       /* its weights are rounded again */
    bool windows;      /* shape is known */
    bool loads;        /* the typed program's weights can be replaced */
    size_t step[2];    /* of both programs: the first of its own */
    tc_columns shape;
    tc_setting setting;
} tc_layer;

/* One sample on its way through both programs. */
typedef struct tc_traveller {
    tc_parked parked[2];
    const tc_tensor *in; /* of the real program */
    void *const *state;
    bool started;
    tc_status status;
    int failed;
} tc_traveller;

/* One of the two programs on a thread. */
typedef struct tc_side {
    struct tc_guide *guide;
    int which;
    tc_watch watch;
    tc_plan *plan;
    tc_tensor *in, seen;
    const int8_t *order;
} tc_side;

/* State of a thread. */
typedef struct tc_guide {
    struct tc_abreast *all;
    size_t sample;  /* in hand */
    tc_arena *room; /* of the current piece of work */
    tc_side side[2];
} tc_guide;

/* All samples, before the same layer of both programs. */
typedef struct tc_abreast {
    tc_ctx *ctx;
    tc_graph *graph[2]; /* the real program; the typed one as float arithmetic */
    const tc_graph *typed;
    tc_samples picked;
    tc_traveller *traveller;
    tc_guide *guide; /* by thread */
    size_t n_thread, n_part; /* for samples; for parts of other work */
    int first;               /* of the two programs; TC_TYPED: it runs alone */
    bool brief;              /* 16 bits are enough for parked values */
    const tc_layer *now;     /* the layer that they are before, or on the way to */
    const tc_layer *passing; /* the layer just passed, or NULL */
    tc_arena packed[2];      /* its weights in both programs */
    /* For work on each sample. */
    double *sums;
    bool *differs;
    float *changes; /* of the weights of a->now by its new codes; NULL: found where they are needed */
} tc_abreast;

enum { TC_ABREAST_LEAST = 4, TC_TRY_EVERY = 4 /* samples: codes are tested */ };

static inline const tc_node *ti_layer_node(const tc_layer *l, int which)
{
    return which == TC_REAL ? l->pair.real : l->pair.sim;
}

/* Plans and at most n samples; layers get their steps.  means: where the typed program runs alone, it
 * does as both did when they were found. */
TC_MUST_USE tc_status ti_abreast_prepare(tc_abreast *a, tc_layer *layer, size_t n,
                                         const tc_samples *samples, size_t most,
                                         const tc_domains *domains, tc_real_means *means);

/* All samples go on to a->now, past a->passing, whose results take its new codes and moves. */
TC_MUST_USE tc_status ti_abreast_go(tc_abreast *a);

/* Loads the weights of a->now in both programs, the typed ones as these codes; and unloads them. */
void ti_abreast_load(tc_abreast *a, tc_tensor codes);
void ti_abreast_unload(tc_abreast *a);

/* Whether the input of a->now is available in the programs that run. */
bool ti_abreast_has_input(const tc_abreast *a);
/* It, in a sample: see tc_feedback.  who: a tc_abreast. */
tc_tensor ti_abreast_input(void *who, size_t sample, int program, tc_some_channels some,
                           tc_arena *room, const int8_t **order);

/* By program and window element of a->now: its mean over all positions and samples. */
void ti_abreast_means(tc_abreast *a, double *mean[2]);
/* The difference of both programs' results in a->now, real less typed, by channel: its mean over
 * all positions and samples.  Weights are loaded. */
TC_MUST_USE tc_status ti_abreast_differences(tc_abreast *a, double *mean);

/* Errors of a->now by channel, without their means, on the samples that test codes: with the loaded
 * codes, and with those of a->now->out.  false: they cannot be compared. */
TC_MUST_USE tc_status ti_abreast_try(tc_abreast *a, tc_tensor old, double *before, double *after,
                                     bool *comparable);

#endif
