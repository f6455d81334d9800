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
tc_tile_form ti_tile_form_here(void);
tc_tile_form ti_word_form_here(void); /* rows of 16-bit elements; weights of 8 become 16 */

/* Columns packed by groups: [segment][dword of it][panel][width][4 bytes]. */
typedef struct tc_dense8 {
    tc_tile_form form;
    tc_finish finish;
    size_t n_segment, length, units; /* of a segment: elements, dwords */
    const size_t *segment;           /* where each begins, from a row's first byte */
    const int8_t *packed;
    bool by_tiles; /* of bytes: units are a multiple of 16; rows may be read past the end */
} tc_dense8;

/* Elements of a segment; padded to tiles if they exist and would not be mostly empty. */
void ti_dense8_length(tc_dense8 *d, size_t length);

/* Bytes that may be read after the rows, at stride `apart`. */
size_t ti_dense8_overread(const tc_dense8 *d, size_t apart);

/* Bytes of the packed columns. */
size_t ti_dense8_bytes(const tc_dense8 *d);

/* Element k of column j is b[j * column + k * step]. */
void ti_dense8_pack(const tc_dense8 *d, const int8_t *b, size_t column, size_t step, int8_t *out);

/* Of one group. */
size_t ti_group_bytes(const tc_dense8 *d, const tc_group *g);

/* Around runs of a product: configure and release tiles. */
void ti_dense8_begin(const tc_dense8 *d);
void ti_dense8_end(const tc_dense8 *d);

/* Memory for packed columns, aligned to a cache line. */
int8_t *ti_dense8_memory(tc_ctx *ctx, const tc_dense8 *d);

/* Rows to y, contiguous.  start: initial sums by slot, group after group (NULL: as given to
 * ti_finish_init()); more: and by row, or NULL. */
void ti_dense8_run(const tc_dense8 *d, const uint8_t *const *row, size_t rows, const int32_t *start,
                   const int32_t *more, uint8_t *y);

/* ---- int8_amx.c: where there are tiles of bytes ---- */

void ti_amx_begin(void);
void ti_amx_end(void);
void ti_amx_group(const tc_dense8 *d, const tc_group *g, const int8_t *b, const int32_t *start,
                  const int32_t *more, const uint8_t *const *row, size_t rows, uint8_t *y);

#endif
