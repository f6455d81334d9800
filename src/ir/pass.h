/* SPDX-License-Identifier: Apache-2.0 */
/* pass.h -- runs passes in order; each receives and leaves a verified module. */
#ifndef TC_PASS_H
#define TC_PASS_H

#include "verify.h"

/* How faithful a pass is to the numbers. */
typedef enum tc_numbers {
    TC_EXACT, /* every bit */
    TC_CLOSE, /* within rounding */
    TC_APPROX /* measured on data */
} tc_numbers;

typedef struct tc_pass {
    const char *name;
    tc_status (*run)(tc_ctx *ctx, tc_module *module);
    uint32_t needs, gives, breaks; /* facts */
    tc_numbers numbers;
    const char *doc;
} tc_pass;

typedef struct tc_pass_list {
    const char *name, *passes, *doc;
} tc_pass_list;

/* Ended by a row without name. */
extern const tc_pass tc_passes[];
extern const tc_pass_list tc_pass_lists[];

/* Called after every pass, with the module it has left; anything but TC_OK stops there. */
typedef struct tc_trace {
    tc_status (*after)(void *user, const tc_module *module, const tc_pass *pass);
    void *user;
} tc_trace;

/* names: "fold,dead", passes and lists of passes.  trace: NULL when nobody looks on. */
TC_MUST_USE tc_status tc_run_passes(tc_ctx *ctx, tc_module *module, const char *names,
                                    const tc_trace *trace);

#endif
