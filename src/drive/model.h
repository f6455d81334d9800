/* SPDX-License-Identifier: Apache-2.0 */
/* model.h -- a model as callers hold it. */
#ifndef TC_MODEL_H
#define TC_MODEL_H

#include "passes.h"
#include "tosac/tosac.h"

struct tc_model {
    const char *name; /* as the caller named it; messages about usage errors use it */
    tc_module *module;
};

/* A module handed out as a model; in the arena. */
tc_model *ti_model_of(tc_ctx *ctx, const char *name, tc_module *module);

/* The name of a tensor in the signature, or of its value; NULL: it has none. */
const char *ti_input_name(const tc_graph *g, size_t i);
const char *ti_output_name_of(const tc_graph *g, size_t i);

/* The type of input or output i, with what its integers stand for where its port says so. */
const tc_type *ti_port_codes(const tc_graph *g, bool output, size_t i);

/* Fills a caller's record for input or output i of a program; 0: there is none. */
bool ti_port_fill(const tc_graph *g, bool output, size_t i, tc_port_info *out);

/* A caller's hook as a tc_trace for the passes. */
typedef struct tc_pass_hook {
    tc_on_pass *on_pass;
    void *user;
} tc_pass_hook;
tc_trace ti_hook_trace(tc_pass_hook *hook);

#endif
