/* SPDX-License-Identifier: Apache-2.0 */
/* profile.h -- what the files of profiles share. */
#ifndef TC_PROFILE_H
#define TC_PROFILE_H

#include "../machine/machine.h"
#include "../base/json_out.h"
#include "stream.h"
#include "tosac/tosac.h"

enum { TC_PROFILE_BYS = TC_PROFILE_BY_KIND + 1 };

/* A node that the CPU runs between streams. */
typedef struct tc_profile_cpu {
    const char *node, *place, *why;
} tc_profile_cpu;

/* How often a kernel on a Cortex-M does what. */
typedef struct tc_profile_count {
    const char *what;
    double times;
} tc_profile_count;

typedef struct tc_profile_entry {
    size_t stream, word;
    const char *name, *op;
    const tc_loc *loc;
    tc_npu_cause cause;
    tc_npu_wait wait; /* Ethos-U */
    tc_npu_cost cost;
    const tc_profile_count *count; /* Cortex-M; or NULL */
    size_t n_count;
} tc_profile_entry;

/* A Cortex-M: cycles are instructions times a factor. */
typedef struct tc_profile_core {
    const char *title; /* NULL: it is not one */
    tc_cycles factor;
    double instructions;
    size_t constants, code, arena, ports, state;
} tc_profile_core;

/* ---- what a device took (ETDump) ---- */

/* Something that a delegate noted of itself; seconds of a run, on average. */
typedef struct tc_measured_event {
    const char *name, *id;
    double seconds;
} tc_measured_event;

/* An instruction. */
typedef struct tc_measured_step {
    size_t step;
    const char *name; /* "aten::add.out", "EthosUBackend" */
    bool delegate;
    const tc_loc *frame; /* where it comes from: several for a delegate */
    size_t n_frame;
    size_t stream;       /* of an Ethos-U: its number + 1 in the profile; 0: there is none */
    double seconds;      /* of a run, on average */
    double expected;     /* seconds; 0: not known */
    tc_measured_event *event;
    size_t n_event, cap_event;
} tc_measured_step;

/* Seconds of an ETDump, cycles of a counter. */
typedef struct tc_measured_row {
    const char *name;
    double measured, expected;
    bool shared; /* a part of it was measured as a whole, and divided by expected cycles */
} tc_measured_row;

typedef struct tc_measured_run {
    const char *file, *method;
    size_t runs;
    double ticks;                /* in a second */
    double seconds, least, load; /* a run on average, the shortest; loading the method */
    tc_measured_step *step;      /* that were run, in the program's order */
    size_t n_step;
    tc_measured_row *row[TC_PROFILE_BYS]; /* the longest first */
    size_t n_row[TC_PROFILE_BYS];
    bool knows_lines;
} tc_measured_run;

/* ---- what its counter took (a log of examples/pmu) ---- */

/* Operations that were counted together: those of commands after one word up to another. */
typedef struct tc_counted_part {
    size_t stream, after, upto;
    double cycles;   /* of a job, on average */
    double expected;
    size_t n_op;     /* that take cycles */
} tc_counted_part;

typedef struct tc_counted {
    const char *file;
    size_t jobs;
    double cycles, expected; /* of all streams, a job of each on average */
    double call;             /* beside the job, of the caller's call; below 0: not known */
    double apart;            /* of the cycles: the parts' distances from what is expected, added up */
    tc_counted_part *part;
    size_t n_part;
    tc_measured_row *row[TC_PROFILE_BYS];
    size_t n_row[TC_PROFILE_BYS];
} tc_counted;

struct tc_profile {
    const tc_npu_machine *machine; /* NULL: there is no stream */
    tc_profile_core core;
    tc_npu_system system;
    tc_npu_cost total;
    tc_profile_entry *entry;
    size_t n_entry, cap_entry, n_stream;
    bool lines;
    bool estimated; /* without a stream */
    tc_profile_row *row[TC_PROFILE_BYS];
    size_t n_row[TC_PROFILE_BYS];
    const tc_profile_cpu *cpu;
    size_t n_cpu;
    tc_measured_run *measured; /* NULL: nothing was */
    tc_counted *counted;   /* likewise */
    const tc_npu_program **program; /* by stream; NULL: none was made */
    size_t cap_program;
};

/* profile_rows.c: entries grouped, by every key that they can be grouped by. */
void ti_profile_make_rows(tc_ctx *ctx, tc_profile *profile);

/* Advice about a cause, or NULL. */
const char *ti_profile_hint(tc_npu_cause cause);

/* profile/profile_streams.c: the command streams in a file; those of a compiled model; or an
 * estimate of it without a stream. */
TC_MUST_USE tc_status ti_profile_of_file(tc_ctx *ctx, const char *path,
                                         const tc_profile_options *o, tc_profile **out);
/* profile/profile_etdump.c: what a device took, next to the streams of `program`. */
TC_MUST_USE tc_status ti_profile_measured(tc_ctx *ctx, tc_profile *p, const char *path, tc_bytes program,
                                          const tc_profile_options *o);
TC_MUST_USE tc_status ti_profile_of_compiled(tc_ctx *ctx, tc_compiled *c, tc_profile **out);
TC_MUST_USE tc_status ti_profile_of_estimate(tc_ctx *ctx, tc_compiled *c, tc_profile **out);

/* A compiled model whose files were made for an Ethos-U or a Cortex-M. */
TC_MUST_USE tc_status ti_profile_made(tc_ctx *ctx, const tc_compiled *compiled, tc_profile **out);

/* profile/profile_pmu.c: what a counter took, beside it. */
TC_MUST_USE tc_status ti_profile_counted(tc_ctx *ctx, tc_profile *p, const char *log);

tc_cost_figures ti_profile_figures(const tc_profile *profile, const tc_npu_cost *cost);

/* show/profile_text.c: as a table, or as JSON. */
TC_MUST_USE tc_status ti_show_profile(tc_ctx *ctx, const tc_profile *p, tc_profile_by by, size_t most,
                        tc_form form, const char **out);

TC_MUST_USE tc_status ti_show_overlay(tc_ctx *ctx, const tc_profile *p, const char **out);

/* show/measured_text.c: the same of what was measured. */
void ti_show_measured(const tc_profile *p, tc_profile_by by, size_t most, tc_buf *out);
void ti_measured_json(const tc_measured_run *m, tc_json_out *out);

/* show/counted_text.c: of what a counter took; and as Model Explorer's data of nodes. */
void ti_show_counted(const tc_profile *p, tc_profile_by by, size_t most, tc_buf *out);
void ti_counted_json(const tc_counted *c, tc_json_out *out);
void ti_counted_overlay(const tc_profile *p, tc_json_out *out);

#endif
