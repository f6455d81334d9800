/* SPDX-License-Identifier: Apache-2.0 */
/* made_by.h -- what every file says of how it was made: the version and the settings, as a command
 * line has them: "tosac 0.2.0 -t ethos-u55-128 -q a16w8".
 *
 * The same on every machine: neither paths nor the model's or the data's names are in it, and the
 * commit only where a tag was built from an archive of the sources. */
#ifndef TC_MADE_BY_H
#define TC_MADE_BY_H

#include "driver.h"

const char *ti_made_by(tc_ctx *ctx, const tc_compiled *compiled);

/* The same of a program that was quantized and is written as text; with the settings that were noted, or
 * that the text said which it was read from. */
void ti_made_by_note(tc_ctx *ctx, tc_module *module, const char *config, bool keep_odd, bool all_samples);
const char *ti_made_by_typed(tc_ctx *ctx, const tc_module *module);

/* A text at the end of a .tosa, where no table refers to it: the format has no place for one. */
tc_bytes ti_made_by_appended(tc_ctx *ctx, tc_bytes file, const char *made_by);

/* The same, found; NULL: there is none. */
const char *ti_made_by_found(tc_ctx *ctx, tc_bytes file);

#endif
