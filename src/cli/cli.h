/* SPDX-License-Identifier: Apache-2.0 */
/* cli.h -- what the files of the command line share. */
#ifndef TC_CLI_H
#define TC_CLI_H

#include "../base/diag.h"

/* What an option's value is, and so what its field in the verb's record is. */
typedef enum tc_option_kind {
    TC_OPTION_FLAG,  /* bool */
    TC_OPTION_TEXT,  /* const char * */
    TC_OPTION_TEXTS, /* tc_texts: may be given again and again */
    TC_OPTION_COUNT  /* int64_t, at least 1 */
} tc_option_kind;

typedef struct tc_texts {
    const char **v;
    size_t n, cap;
} tc_texts;

typedef struct tc_option {
    const char *name;  /* "--bench" */
    const char *brief; /* "-i", or NULL */
    const char *value; /* what stands for its value in the help: "N"; NULL for a flag */
    tc_option_kind kind;
    size_t at; /* offset of its field */
    const char *help;
} tc_option;

/* Options that every verb understands. */
typedef struct tc_common {
    bool help, version, json;
    int64_t threads;
    const char *kernels;
    tc_texts dims;
} tc_common;

/* One row per verb.  A verb's record is zeroed, filled from its options, and handed to `run`. */
typedef struct tc_verb {
    const char *name;
    const char *arguments; /* "PROGRAM [-i DATA]..." */
    const char *summary;   /* one line */
    const char *help;      /* further lines, or NULL */
    int least, most;       /* arguments that are not options */
    const tc_option *option; /* ended by a row without name */
    size_t record;           /* size of the verb's record */
    tc_status (*run)(tc_ctx *ctx, const tc_common *common, const void *record,
                     const tc_texts *args);
} tc_verb;

extern const tc_verb tc_cli_compile, tc_cli_quantize, tc_cli_run, tc_cli_explain, tc_cli_compare,
    tc_cli_inspect, tc_cli_verify, tc_cli_opt;

/* Reads argv[first..] by the verb's table and the common one. */
TC_MUST_USE tc_status tc_cli_parse(tc_ctx *ctx, const tc_verb *verb, int argc, char **argv,
                                   int first, tc_common *common, void *record, tc_texts *args);

/* "a,b" as a list, added to `out`. */
void tc_cli_names(tc_ctx *ctx, const char *text, tc_texts *out);

void tc_cli_help(const tc_verb *verb); /* to standard output */

/* The word nearest to a mistaken one, or NULL when none is near. */
const char *tc_cli_nearest(const char *word, const char *(*name)(size_t i, const void *from),
                           const void *from);

/* A line on a terminal while something takes its time: nothing in the first second, and nothing at
 * all when standard error is not a terminal. */
typedef struct tc_progress {
    const char *what; /* "samples" */
    size_t total;
    double begin, shown;
    bool visible;
} tc_progress;

void tc_progress_begin(tc_progress *p, const char *what, size_t total);
void tc_progress_step(tc_progress *p, size_t done);
void tc_progress_end(tc_progress *p);

/* Seconds on a clock that never goes back. */
double tc_seconds(void);

#endif
