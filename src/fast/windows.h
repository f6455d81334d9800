/* SPDX-License-Identifier: Apache-2.0 */
/* windows.h -- the windows of a convolution as rows of memory, without writing each of them out.
 *
 * A strip of the image is copied with its padding; in that copy the window of every output position
 * has the same shape: contiguous segments, at offsets equal for all.  A row begins where its window
 * does. */
#ifndef TC_WINDOWS_H
#define TC_WINDOWS_H

#include "../num/attr.h"

/* How elements are stored in the copy. */
typedef enum tc_kept {
    TC_KEPT_u8,  /* x + 128: bytes without sign */
    TC_KEPT_s8,  /* x */
    TC_KEPT_s16, /* x as 16 bits, from 8 */
    TC_KEPT_i16, /* x of 16 bits */
} tc_kept;

enum { TC_BLOCK_ROWS = 96, TC_OVERREAD = 64 };

typedef struct tc_windows {
    int64_t n, ih, iw, ic, oh, ow, kh, kw;
    int64_t pad_top, pad_left, stride_y, stride_x, dilation_y, dilation_x;
    tc_kept kept;
    size_t each;           /* bytes of an element of the copy */
    int32_t outside;       /* padding value */
    bool flat;             /* every position reads only itself */
    size_t n_segment, length; /* elements of a segment */
    const size_t *segment; /* bytes from the beginning of a row */
    int64_t strip;         /* output rows, or positions when flat, that are copied at a time */
    int64_t width;         /* pixels of a copied line */
} tc_windows;

/* Windows of kernel kh x kw over x [n, h, w, c], for y [n, oh, ow, ...].  by_tap: a segment is one
 * pixel; otherwise adjacent pixels are one. */
void ti_windows_init(tc_ctx *ctx, tc_windows *w, const tc_attr_tosa_conv *a, const tc_type *x,
                     const tc_type *y, int64_t kh, int64_t kw, tc_kept kept, int32_t outside,
                     bool by_tap);

/* Bytes of the copy.  TC_OVERREAD bytes after the data may be read. */
size_t ti_windows_bytes(const tc_windows *w);

/* Up to TC_BLOCK_ROWS rows at a time, in the order of the output's positions: the first is `at`. */
typedef void tc_windows_block(void *who, const uint8_t *const *row, size_t rows, size_t at);
void ti_windows_walk(const tc_windows *w, const void *x, void *copy, tc_windows_block *block,
                     void *who);

/* n elements from x to their stored form. */
void ti_keep(tc_kept kept, const void *x, void *out, size_t n);

#endif
