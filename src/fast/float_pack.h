/* SPDX-License-Identifier: Apache-2.0 */
/* float_pack.h -- the right operand of a product in the order in which float_tile.h reads it, and
 * the packed weights of a context. */
#ifndef TC_FLOAT_PACK_H
#define TC_FLOAT_PACK_H

#include "../base/diag.h"
#include "float_tile.h"

/* Matrices of taps * in rows and n columns, one for each group: row (t, c), column j of group g is
 * data[g * group + t * tap + c * step + j * column]. */
typedef struct tc_matrix {
    int64_t groups, taps, in, n;
    int64_t group, tap, step, column;
} tc_matrix;

static inline int64_t ti_matrix_depth(const tc_matrix *b) { return b->taps * b->in; }

/* Columns with those that fill the last vector. */
static inline int64_t ti_packed_columns(const tc_float_level *level, int64_t n)
{
    return (n + level->lanes - 1) / level->lanes * level->lanes;
}

size_t ti_packed_bytes(const tc_float_level *level, const tc_matrix *b);

/* All groups for products of m rows; m = 0: the rows as they are, for depthwise.  Block by block
 * of TC_GEMM_DEPTH rows, panel by panel: the panel that begins at column j of the block that begins
 * at row q is at q * columns + j * rows of the block. */
void ti_pack(const tc_float_level *level, const tc_matrix *b, int64_t m, const float *data,
             float *out);

/* The same, made once for a content: calibration plans a model five times. */
const float *ti_packed_once(tc_ctx *ctx, const tc_float_level *level, const tc_matrix *b, int64_t m,
                            const float *data);

#endif
