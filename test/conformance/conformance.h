/* SPDX-License-Identifier: Apache-2.0 */
/* conformance.h -- what the parts of the conformance runner share.
 *
 * A check is one model file held against recorded results.  Each runs in a process of its own, so
 * that a crash or a hang is one failed check; it writes its verdict into memory that the runner
 * shares. */
#ifndef TC_CONFORMANCE_H
#define TC_CONFORMANCE_H

#include "base/diag.h"

typedef struct verdict {
    bool done, passed;
    int64_t n_equal, n_compared; /* quantized results: elements, and those that are equal */
    int64_t n_off[3];            /* those that are 1, 2 or more steps off */
    char words[400];             /* what went wrong */
} verdict;

typedef struct check {
    const char *suite; /* "aten", "lowered", "programs", "fixtures", "world", "zoo" */
    const char *group; /* the operator, or the model */
    const char *name;  /* "add/add_tensor__4d quantized.pt2" */
    const char *folder, *file;
    void (*run)(tc_ctx *ctx, const struct check *c, verdict *v);
    size_t samples; /* zoo: at most so many */
    const char *target;  /* lowered, world: compiled for it */
    const char *written; /* lowered: every region's .tosa goes to this folder; or NULL */
} check;

typedef struct checks {
    tc_ctx *ctx; /* owns the list */
    check *v;
    size_t n, cap;
} checks;

void add_check(checks *all, const check *c);

/* The cases under a folder. */
tc_status find_aten(checks *all, const char *folder);
tc_status find_fixtures(checks *all, const char *folder,
                        const char *name); /* name: "" at the top */
tc_status find_world(checks *all, const char *folder);
tc_status find_zoo(checks *all, const char *folder, size_t samples);

void passed(verdict *v);
void failed(verdict *v, const char *format, ...) TC_PRINTF(2, 3);
/* With the first error of the context for words. */
void failed_with(verdict *v, tc_ctx *ctx, const char *what);

#endif
