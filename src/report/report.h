/* SPDX-License-Identifier: Apache-2.0 */
/* report.h -- the contents of a report, as records; content.c finds it, report_json.c writes it,
 * page.c makes it a page. */
#ifndef TC_REPORT_H
#define TC_REPORT_H

#include "../drive/driver.h"
#include "report_layout.h"
#include "tosac/report.h"

enum { TC_WHERE_UNKNOWN = -3, TC_WHERE_MERGED = -2, TC_WHERE_CPU = -1 }; /* else a region */

/* How a value of one program differs from the same value of the model. */
typedef struct tc_report_error {
    bool known;
    double sqnr_db, cosine, max_error, max_steps, saturated;
} tc_report_error;

/* What operators take; of fields that are not known 0. */
typedef struct tc_report_cost {
    double cycles, macs;
    double bytes;   /* of operands and results, by their shapes */
    double traffic; /* bytes that go through the accelerator's ports */
} tc_report_cost;

/* Distribution of elements in the range of their type, and the range of each channel.  A report
 * holds at most TC_SPREAD_BINS and three times TC_SPREAD_CHANNELS values of each tensor; of long
 * programs fewer channels (spread.c). */
enum { TC_SPREAD_BINS = 40, TC_SPREAD_CHANNELS = 64 };
typedef struct tc_spread_of {
    double lo, hi;      /* of the elements themselves */
    double least, most; /* of the bins: the range of the type, or of the elements */
    double step;        /* between neighbouring codes; 0: each channel has its own */
    int64_t bin[TC_SPREAD_BINS], below, above; /* outside of the bins */
    int axis;           /* of the channels */
    int64_t channels, each; /* how many there are, and how many have a row */
    size_t n_row;
    double *low, *high, *steps; /* steps: the largest in the row; NULL: one for all */
    const tc_type *type;
} tc_spread_of;

/* A node of the model, an input or an output. */
typedef struct tc_report_node {
    const char *name, *op;
    const tc_node *node; /* NULL: an input or an output */
    const tc_loc *loc; /* of inputs and outputs: empty */
    const tc_type *type;
    const tc_type *typed;  /* as the typed program has it; or NULL */
    bool other;            /* which has no value of its name: its elements may differ */
    const char *joined;    /* the value that it computes there with its neighbours; or NULL */
    tc_spread_of *values, *weights; /* or NULL */
    const tc_type *second; /* of `compare`: as the second program has it; or NULL */
    int where;
    const char *why;
    const char **tosa; /* operators it became */
    size_t n_tosa, cap_tosa;
    tc_report_cost cost;
    const char *hint;         /* the reason of its cost, or NULL */
    tc_report_error error[2]; /* typed, integer */
    const char *no_integer;   /* why error[1] is not known; NULL: it is, or nothing was measured */
    uint32_t *in;
    size_t n_in;
} tc_report_node;

/* One operation of the accelerator, as its compiler schedules it. */
typedef struct tc_report_step {
    const char *kind; /* "Conv2D" */
    const char *tosa; /* the operator it comes from; or NULL */
    int32_t node;     /* of the report; -1: not known */
    size_t region;
    size_t word;      /* of its command, in the region's stream */
    tc_report_cost cost;
    const char *hint; /* or NULL */
} tc_report_step;

typedef struct tc_report_block {
    const char *name;
    const char *op; /* that makes it; NULL: it comes in, or is not known */
    int64_t first, last, offset, bytes;
} tc_report_block;

/* One memory, over the steps of a program. */
typedef struct tc_report_memory {
    const char *name, *unit; /* unit: what a step is */
    int64_t bytes, steps;
    double *clock; /* by step: when it begins, in cycles; NULL: not known */
    tc_report_block *block;
    size_t n_block, cap_block;
} tc_report_memory;

typedef struct tc_content {
    tc_ctx *ctx;
    tc_report_options options;
    const tc_graph *model;
    tc_report_node *node;
    size_t n_node;
    tc_map by_name; /* node + 1 */
    tc_report_step *step;
    size_t n_step, cap_step;
    tc_report_memory *memory;
    size_t n_memory, cap_memory;
    size_t samples; /* that errors were measured on */
    tc_evaluation *answers; /* right and wrong ones, by labels; or NULL */
    tc_layout layout;
    double cycles, macs, seconds;
    double cycles_low, cycles_high; /* the band; 0: there is none */
    int32_t macs_per_cycle; /* 0: not known */
} tc_content;

/* report_cost.c, report_memory.c, error.c, spread.c, answers.c: parts of it. */
TC_MUST_USE tc_status ti_content_costs(tc_content *c);
void ti_content_memory(tc_content *c);
TC_MUST_USE tc_status ti_content_errors(tc_content *c);
TC_MUST_USE tc_status ti_content_spreads(tc_content *c);
TC_MUST_USE tc_status ti_content_answers(tc_content *c);

/* The node of that name, or -1. */
int32_t ti_content_node(const tc_content *c, const char *name);

void ti_content_json(const tc_content *c, bool compact, tc_buf *out);
void ti_content_page(const tc_content *c, tc_buf *out);
/* page.c: the page of a report's JSON. */
void ti_page_put_json(tc_bytes json, tc_buf *out); /* as a script of a page holds it */
void ti_page_make(const char *title, tc_bytes json, tc_buf *out);
void ti_content_explorer(const tc_content *c, tc_buf *out);

/* Files of the page, as the build embeds them. */
#define TC_PAGE(name)                                                                              \
    extern const unsigned char tc_page_##name[];                                                   \
    extern const size_t tc_page_##name##_size;
TC_PAGE(html)
TC_PAGE(css)
TC_PAGE(base_js)
TC_PAGE(data_js)
TC_PAGE(table_js)
TC_PAGE(graph_js)
TC_PAGE(charts_js)
TC_PAGE(overview_js)
TC_PAGE(views_js)
TC_PAGE(changes_js)
TC_PAGE(main_js)
#undef TC_PAGE

#endif
