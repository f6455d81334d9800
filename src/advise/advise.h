/* SPDX-License-Identifier: Apache-2.0 */
/* advise.h -- changes to a model or to its settings, tried.
 *
 * A kind of advice (advice.def) finds proposals in the model as it was read; a proposal is tried by
 * changing a copy, or the settings, and compiling the whole program (trial.c).  The result is the
 * difference to the same program without the change, compiled the same way. */
#ifndef TC_ADVISE_H
#define TC_ADVISE_H

#include "../cost/profile.h"
#include "../drive/driver.h"
#include "tosac/advise.h"

typedef struct tc_advisor tc_advisor;
typedef struct tc_proposal tc_proposal;
typedef struct tc_advice_kind tc_advice_kind;

/* What a proposal changes. */
typedef struct tc_altered {
    tc_module *module; /* a copy of the model: nodes, attributes and constants may be changed */
    tc_compile_options options;
    tc_config config;
} tc_altered;

typedef void tc_advice_find(tc_advisor *a, const tc_advice_kind *kind);
typedef tc_status tc_advice_change(tc_advisor *a, const tc_proposal *p, tc_altered *to);

/* What a kind needs. */
enum {
    TC_ADVICE_GRAPH = 1 << 0,   /* a model that is not quantized yet: its graph is changed */
    TC_ADVICE_RETRAIN = 1 << 1, /* and the network computes something else then */
    TC_ADVICE_QUANT = 1 << 2,   /* a program that is quantized here */
    TC_ADVICE_DATA = 1 << 3,    /* samples: accuracy counts */
    TC_ADVICE_STREAM = 1 << 4,  /* an Ethos-U */
    TC_ADVICE_COST = 1 << 5,    /* a target whose cycles are known */
    TC_ADVICE_LESS = 1 << 6,    /* what is tried is less of something: there is more of it now */
};

struct tc_advice_kind {
    const char *name;
    unsigned needs; /* TC_ADVICE_* */
    tc_advice_find *find;
    tc_advice_change *change;
    const char *why;
};

struct tc_proposal {
    const tc_advice_kind *kind;
    const tc_node *node; /* of the model: the first that it is about; NULL: a setting */
    const char *change;  /* in words */
    const char *option;  /* a setting: on the command line; or NULL */
    double at_stake;     /* cycles of the nodes that it is about: the most are tried first */
    size_t *at;          /* the nodes, by index in the graph */
    size_t n_at;
    int64_t from, to;
    const char *word;
    bool full;           /* a setting of the back end that weights are chosen by, too: tried in full */
};

struct tc_advisor {
    tc_ctx *ctx;
    const tc_model *model; /* constants folded */
    const tc_graph *g;     /* of it */
    tc_compile_options options;
    tc_target target;
    tc_compiled *compiled; /* the unchanged program */
    tc_config config;      /* its settings */
    bool quantized;        /* it is quantized here */
    bool data;             /* on samples that are not invented */
    size_t samples;
    const double *cycles;     /* by node of g */
    const char *const *lost;  /* by node of g: why it stays on the CPU; NULL: it does not */
    const uint32_t *readers;  /* by value of g */
    tc_tensor *kept[2];       /* samples for the ranges of fast trials, by input */
    size_t n_kept;
    tc_proposal *proposal;
    size_t n_proposal, cap_proposal;
};

/* A proposal of this kind about the nodes at[0 .. n-1]; n 0: about a setting. */
tc_proposal *ti_propose(tc_advisor *a, const tc_advice_kind *kind, const size_t *at, size_t n,
                        const char *format, ...) TC_PRINTF(5, 6);

/* trial.c: the program with the change; NULL: without one.  quick: ranges are those of one or two
 * samples, and weights are rounded to the nearest; else with the user's settings.  *made: it could
 * be compiled. */
TC_MUST_USE tc_status ti_advice_try(tc_advisor *a, const tc_proposal *p, bool quick,
                                    tc_advice_figures *out, bool *made);
bool ti_advice_converts(const tc_node *node); /* between floats and integers */
TC_MUST_USE tc_status ti_advice_figures(tc_ctx *ctx, tc_compiled *c, tc_advice_figures *out);

/* refit.c: infers all types again after a change, with the shapes in attributes adapted; old: the
 * graph before it, whose values have the same ids.  An error: it does not fit. */
TC_MUST_USE tc_status ti_refit(tc_ctx *ctx, tc_module *module, const tc_graph *old);
/* The same as a question, about a copy; keeps: the node whose result type must not change, by
 * index; SIZE_MAX: none. */
bool ti_refits(tc_advisor *a, const tc_proposal *p, size_t keeps);

/* tied_channels.c: the constants and convolutions that have to change together when the channels
 * that node `at` gives become more or fewer. */
typedef struct tc_tied_constant {
    tc_val v;
    int axis;
} tc_tied_constant;
typedef struct tc_tied {
    tc_tied_constant *constant;
    size_t n, cap;
    size_t *grouped; /* depthwise convolutions, by index */
    size_t n_grouped, cap_grouped;
    size_t *maker; /* products that make the channels, by index in order */
    size_t n_maker, cap_maker;
} tc_tied;
/* false: something fixes their number. */
bool ti_tied_channels(tc_advisor *a, size_t at, tc_tied *out);
/* Channels that a product gives; 0: it is none. */
int64_t ti_channels_of(const tc_graph *g, const tc_node *node);

/* advice_text.c */
void ti_advice_text(tc_ctx *ctx, const tc_advice *advice, tc_buf *out);
void ti_advice_json(const tc_advice *advice, const char *name, struct tc_json_out *out);

struct tc_advice {
    tc_advice_info info;
    tc_compiled *compiled;
    tc_advice_item *item;
    size_t n_all; /* items, those with too little gain last */
};

#define ADVICE(name, needs, find, change, why)                                                     \
    tc_advice_find find;                                                                           \
    tc_advice_change change;
#include "advice.def"

#endif
