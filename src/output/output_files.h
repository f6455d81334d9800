/* SPDX-License-Identifier: Apache-2.0 */
/* output_files.h -- the files that come out: made, and written. */
#ifndef TC_OUTPUT_FILES_H
#define TC_OUTPUT_FILES_H

#include "../drive/driver.h"

typedef struct tc_output_kind {
    const char *name, *extension;
} tc_output_kind;

/* NULL: there is no such kind. */
const tc_output_kind *ti_output_of(tc_output kind);

/* Whether what such a file needs is installed. */

/* Into c->written; path: for messages and names inside, or NULL. */
TC_MUST_USE tc_status ti_make_files(tc_ctx *ctx, tc_compiled *c, tc_output kind, const char *path);
/* The same, onto the disk. */
TC_MUST_USE tc_status ti_write_files(tc_ctx *ctx, tc_compiled *c, tc_output kind,
                                     const char *path);

#endif
