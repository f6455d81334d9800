/* SPDX-License-Identifier: Apache-2.0 */
/* inner_values.h -- a compiled program whose inner values can be inspected. */
#ifndef TC_INNER_VALUES_H
#define TC_INNER_VALUES_H

#include "../drive/driver.h"

/* The program with its regions in place of their calls, which gives, after its own outputs, the
 * values that the typed program has too: under their names there, with their types and in their
 * order of axes.  NULL: it cannot be made, since the program has state or branches, or was TOSA.
 * why, by the name of a node of the typed program: why its value is not among them, or is only if
 * nothing was moved within it; or NULL. */
tc_model *ti_compiled_watched(tc_ctx *ctx, const tc_compiled *compiled, tc_map *why);

#endif
