/* SPDX-License-Identifier: Apache-2.0 */
/* cli.h -- what the files of the command line share.  It stands on the public headers alone. */
#ifndef TOSAC_CLI_H
#define TOSAC_CLI_H

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tosac/tosac.h"

#define CLI_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#ifdef _WIN32 /* MinGW's own printf() */
#define CLI_PRINTF(fmt, args) __attribute__((format(gnu_printf, fmt, args)))
#else
#define CLI_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#endif

/* Pass a failure upward. */
#define CLI_TRY(call)                                                                              \
    do {                                                                                           \
        tc_status status_ = (call);                                                                \
        if (status_ != TC_OK)                                                                      \
            return status_;                                                                        \
    } while (0)

/* Text that grows; freed with the process. */
typedef struct cli_text {
    char *p;
    size_t n, cap;
} cli_text;

void cli_put(cli_text *text, const char *format, ...) CLI_PRINTF(2, 3);
void cli_put_list(cli_text *text, const char *format, va_list args) CLI_PRINTF(2, 0);

/* A list of texts. */
typedef struct cli_texts {
    const char **v;
    size_t n, cap;
} cli_texts;

void cli_add(cli_texts *list, const char *text);
void cli_add_names(cli_texts *list, const char *text); /* "a,b" is two */

/* Zeroed memory, or a message and the end. */
void *cli_memory(size_t count, size_t size);
void cli_give_back(void); /* all of it, at the end */
/* A formatted text of its own. */
char *cli_format(const char *format, ...) CLI_PRINTF(1, 2);

bool cli_is(const char *a, const char *b);
bool cli_ends(const char *text, const char *suffix);
/* A number above 0, as an option's text: "31.5", "512K", "2M", "10min"; -1: it is none. */
double cli_amount(const char *text);
/* The last part of a path, after its folders. */
const char *cli_path_last(const char *path);

/* ---- options ---- */

/* What an option's value is, and so what its field in the verb's record is. */
typedef enum cli_option_kind {
    CLI_FLAG,  /* bool */
    CLI_TEXT,  /* const char * */
    CLI_TEXTS, /* cli_texts: may be given again and again */
    CLI_NUMBER, /* int64_t, at least 1 */
    CLI_BYTES   /* the same; 512K and 1.5M are 1024 and 1024 * 1024 times as much */
} cli_option_kind;

typedef struct cli_option {
    const char *name;  /* "--bench" */
    const char *brief; /* "-i", or NULL */
    const char *value; /* the placeholder of its value in the help: "N"; NULL for a flag */
    cli_option_kind kind;
    size_t at; /* offset of its field */
    const char *help; /* NULL: it is not listed */
} cli_option;

/* Options that every verb understands. */
typedef struct cli_common {
    bool help, version, json, quiet, round, reference;
    int64_t threads;
    const char *signature, *dynamic_range;
    cli_texts dims, shapes, sets;
} cli_common;

/* A line on a terminal while something takes its time: nothing in the first second, and nothing at
 * all when standard error is not a terminal. */
typedef struct cli_progress {
    char what[64]; /* "samples"; "": nothing is going on */
    size_t done, total;
    double started, begin, latest; /* the command, what is going on, and when `done` grew: seconds */
    bool visible, drawn, over;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
} cli_progress;

/* One invocation of the command. */
typedef struct cli {
    tc_ctx *ctx;
    cli_common common;
    struct cli_message *said; /* our own messages; the library's are in the context */
    size_t n_said;
    cli_progress progress;
    int argc; /* the command line as given */
    char **argv;
} cli;

/* A title in the help, above the option that it begins with. */
typedef struct cli_group {
    const char *first, *title;
} cli_group;

/* One row per verb.  A verb's record is zeroed, filled from its options, and handed to `run`. */
typedef struct cli_verb {
    const char *name;
    const char *arguments;    /* "PROGRAM [-i DATA]..." */
    const char *summary;      /* one line */
    const char *help;         /* further lines, or NULL */
    int least, most;          /* arguments that are not options */
    const cli_option *option; /* ended by a row without name */
    const cli_group *group;   /* likewise; or NULL */
    size_t record;            /* size of the verb's record */
    tc_status (*run)(cli *c, const void *record, const cli_texts *args);
} cli_verb;

extern const cli_verb cli_compile, cli_quantize, cli_run, cli_explain, cli_compare, cli_inspect,
    cli_verify, cli_profile, cli_advise, cli_opt, cli_doctor, cli_targets, cli_boards, cli_ops,
    cli_evaluate, cli_generate, cli_report, cli_emulate, cli_calibrate;

/* Reads argv[first..] by the verb's table and the common one. */
TC_MUST_USE tc_status cli_parse(cli *c, const cli_verb *verb, int argc, char **argv, int first,
                                void *record, cli_texts *args);

void cli_help(const cli_verb *verb); /* to standard output */

/* Every verb with its arguments and options as JSON, for manual pages and completions. */
void cli_dump_options(const cli_verb *const *verb, size_t n);

/* The word nearest to a mistaken one, or NULL when none is near: one that is its beginning, or that
 * it is the beginning of, before one with few letters changed. */
const char *cli_nearest(const char *word, const char *(*name)(size_t i, const void *from),
                        const void *from);

/* ---- messages ---- */

/* "tosac: error: ... [usage]", and what to do about it. */
/* "x f32[1,3], mask bool[3]": the inputs of a model. */
const char *cli_input_types(const tc_model *model);

tc_status cli_usage(cli *c, const char *format, ...) CLI_PRINTF(2, 3);
void cli_note(cli *c, const char *format, ...) CLI_PRINTF(2, 3);

/* "FILE: error: ... [io]". */
tc_status cli_bad_file(cli *c, const char *file, const char *format, ...) CLI_PRINTF(3, 4);

/* The same of a limit that is exceeded: [limit]. */
tc_status cli_exceeded(cli *c, const char *file, const char *format, ...) CLI_PRINTF(3, 4);

/* Whether a file, such as standard error, is a terminal that shows colours. */
bool cli_in_colour(int file);

/* Whether a file can be written there, as far as can be seen before the work; NULL and "-"
 * always. */
TC_MUST_USE tc_status cli_try_output(cli *c, const char *path);

/* A text to standard output, all of it now; its failure is an error about "<stdout>". */
TC_MUST_USE tc_status cli_print_all(cli *c, tc_bytes text);

/* A model as text into a file; "-" is standard output, with all constants inline. */
TC_MUST_USE tc_status cli_write_model(cli *c, const tc_model *model, const char *path);

/* What -q takes. */
#define CLI_QUANT_HELP                                                                             \
    "int8, int8xS, int8-XdB, best, int8+16:K, int8+16:P%, a16w8, a8w4, a16w4, mxfp8, mxfp6, mxfp4, mxint8, none, " \
    "anchor, or a JSON file"

/* Data as -i and --calib name it; NULL for no files at all unless `always`. */
TC_MUST_USE tc_status cli_data(cli *c, const cli_texts *files, bool always, tc_dataset **out);

/* The same with --preprocess, where it was given. */
/* The same of every verb that runs samples one after the other. */
#define CLI_ROW_RESET(at) \
    {"--reset", NULL, NULL, CLI_FLAG, at, "start every sample from the initial state"}
#define CLI_ROW_DEVICE(at)                                                                         \
    {"--device", NULL, "PATH", CLI_TEXT, at,                                                       \
     "run Ethos-U regions on this Linux device: /dev/accel/accel0, or 'first' (doc/devices.md)"}
TC_MUST_USE tc_status cli_use_device(cli *c, const char *path); /* NULL: none is wanted */
#define CLI_PREPROCESS_HELP                                                                        \
    "PNG, JPEG or WAV files as data: \"resize=256 crop=224 mean=.. std=..\" (doc/data.md)"
TC_MUST_USE tc_status cli_data_by(cli *c, const cli_texts *files, const char *rules, bool always,
                                  tc_dataset **out);

/* ---- progress ---- */

void cli_progress_begin(cli *c);
int cli_on_progress(void *user, const char *what, size_t done, size_t total);
void cli_progress_end(cli *c);   /* the current step is over: the line is removed */
void cli_progress_close(cli *c); /* at the end */

/* Seconds on a monotonic clock. */
double cli_seconds(void);

#endif
