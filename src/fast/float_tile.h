/* SPDX-License-Identifier: Apache-2.0 */
/* float_tile.h -- the inner loops of f32 products, for each level of vector instructions.
 *
 * Every result is one accumulator: its terms in order, in blocks of TC_GEMM_DEPTH whose totals
 * are added to the bias, first to last; multiply, then add.  Vectors go across results, so the
 * level, the tiles and the threads do not change a bit: num/gemm.h has the same rule. */
#ifndef TC_FLOAT_TILE_H
#define TC_FLOAT_TILE_H

#include "../base/isa.h"
#include "../num/gemm.h"

/* Terms [k, k + length) of a block; a row has them at its address + offset. */
typedef struct tc_piece {
    int64_t offset, length, k;
} tc_piece;

/* One block of terms of one panel of columns, for some rows:
 *   to[r][at .. at + columns) = start + sum of row[r][offset + i] * b[k + i][0 .. columns)
 * where the start is, with `more`, what is there, else the bias, or 0 without one. */
typedef struct tc_panel {
    const tc_piece *piece;
    int n_piece;
    bool more;
    int64_t rows, columns, at; /* at: its first column */
    const float *const *row;
    float *const *to;
    const float *b, *bias; /* b: packed, [k][vectors * lanes] */
} tc_panel;

/* Depthwise: channels last, all taps in one block. */
typedef struct tc_depth {
    int64_t channels, in[2], out[2], kernel[2], stride[2], before[2], dilation[2];
} tc_depth;

typedef struct tc_float_level {
    int lanes;
    int tall[5]; /* rows of a tile, by its vectors */
    void (*panel)(int vectors, const tc_panel *p);
    /* Output line `line` of one image; w: [taps][channels], bias: [channels]. */
    void (*depth)(const tc_depth *d, int64_t line, const float *x, const float *w,
                  const float *bias, float *y);
} tc_float_level;

const tc_float_level *ti_float_level(void);

/* The vectors of the next panel, where `left` columns are left of a product with m rows. */
int ti_float_vectors(const tc_float_level *level, int64_t left, int64_t m);

#endif
