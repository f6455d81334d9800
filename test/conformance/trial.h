/* SPDX-License-Identifier: Apache-2.0 */
/* trial.h -- one model file on its way through the checks; each step says false when the verdict is
 * told. */
#ifndef TC_TRIAL_H
#define TC_TRIAL_H

#include "compare.h"
#include "ir/graph.h"

typedef struct trial {
    tc_ctx *ctx;
    const check *check;
    verdict *v;
    tc_module *module;
    tc_graph *g;
} trial;

const char *trial_path(const trial *t, const char *file);

/* False, with the context's first error as words, when the status is not TC_OK. */
bool trial_says(trial *t, tc_status status, const char *what);

/* Read, verified, printed, parsed back equal, printed again to the same text. */
bool trial_read(trial *t);

/* From here on: as it was read, with the reference kernels; or as a user runs it, tidied and
 * planned. */
bool trial_reference(trial *t);
bool trial_tidied(trial *t);

/* The results for these input files; into out, one per output. */
bool trial_run(trial *t, const char *const *path, size_t n, tc_tensor *out);

/* Output i beside a recorded file: the type that PyTorch names, the shape, the numbers.
 * step > 0: quantized, within one step. */
bool trial_output(trial *t, size_t i, tc_tensor got, const char *file, const char *torch_type,
                  double step, double steps);

#endif
