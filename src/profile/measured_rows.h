/* SPDX-License-Identifier: Apache-2.0 */
/* measured_rows.h -- what was measured, summed by line, module, node or kind. */
#ifndef TC_MEASURED_ROWS_H
#define TC_MEASURED_ROWS_H

#include "../cost/profile.h"

typedef struct tc_measured_rows {
    tc_ctx *ctx;
    tc_map map;
    tc_measured_row **row;
    size_t n, cap;
} tc_measured_rows;

void ti_measured_begin(tc_ctx *ctx, tc_measured_rows *rows);
void ti_measured_add(tc_measured_rows *rows, const char *name, double measured, double expected,
                     bool shared);
/* The longest first. */
void ti_measured_end(tc_measured_rows *rows, tc_measured_row **out, size_t *n);

/* The row that a place of the model belongs to; otherwise: it has none. */
const char *ti_measured_key(const tc_loc *loc, tc_profile_by by, const char *otherwise);

#endif
