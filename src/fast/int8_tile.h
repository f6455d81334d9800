/* SPDX-License-Identifier: Apache-2.0 */
/* int8_tile.h -- rows of bytes against a packed matrix, finished in registers. */
#ifndef TC_INT8_TILE_H
#define TC_INT8_TILE_H

#include "finish.h"
#include "windows.h"

/* How a level wants its operands: elements of rows, sums in a register, registers in a group. */
typedef struct tc_tile_form {
    tc_kept kept;
    size_t width, most_panels;
} tc_tile_form;
tc_tile_form tc_tile_form_here(void);
tc_tile_form tc_word_form_here(void); /* rows of 16-bit elements; weights of 8 become 16 */

/* Columns packed by groups: [segment][dword of it][panel][width][4 bytes]. */
typedef struct tc_dense8 {
    tc_tile_form form;
    tc_finish finish;
    size_t n_segment, length, units; /* of a segment: elements, dwords */
    const size_t *segment;           /* where each begins, from a row's first byte */
    const int8_t *packed;
} tc_dense8;

size_t tc_dense8_units(const tc_tile_form *form, size_t length);

/* Bytes that the packed columns take. */
size_t tc_dense8_bytes(const tc_dense8 *d);

/* Element k of column j is b[j * column + k * step]. */
void tc_dense8_pack(const tc_dense8 *d, const int8_t *b, size_t column, size_t step, int8_t *out);

/* Of one group. */
size_t tc_group_bytes(const tc_dense8 *d, const tc_group *g);

/* Rows to y, whose rows follow each other.  start: what sums begin with, by slot, group after group
 * (NULL: as tc_finish_init() was told); more: and by row, or NULL. */
void tc_dense8_run(const tc_dense8 *d, const uint8_t *const *row, size_t rows, const int32_t *start,
                   const int32_t *more, uint8_t *y);

#endif
