/* SPDX-License-Identifier: Apache-2.0 */
/* lowered.h -- a case compiled for a TOSA target. */
#ifndef TC_LOWERED_H
#define TC_LOWERED_H

#include "trial.h"

/* The trial's module is from here on the compiled program; data: the case's inputs, for the checks
 * on the way. */
bool trial_compiled(trial *t, const char *target, const char *const *data, size_t n);

/* The trial's module is from here on what was read back from the .pte of a program for the CPU. */
bool trial_program(trial *t);

#endif
