/* SPDX-License-Identifier: Apache-2.0 */
/* table_line.h -- a table of int8 codes that a factor, two zero points and bounds are. */
#ifndef TC_TABLE_LINE_H
#define TC_TABLE_LINE_H

#include "../base/base.h"

/* clip(round((x - in_zero) multiplier / 2^shift) + out_zero, lo, hi), halves up. */
typedef struct tc_table_line {
    int32_t multiplier;
    uint8_t shift;
    int32_t in_zero, out_zero, lo, hi;
} tc_table_line;

/* Of 256 entries, from code -128 on; false: there is none that is right for every code. */
bool ti_table_line(const int64_t *table, tc_table_line *out);

#endif
