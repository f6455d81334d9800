/* SPDX-License-Identifier: Apache-2.0 */
/* npy.h -- arrays in NumPy's files: .npy (versions 1 to 3), .npz (stored or deflated).
 *
 * Headers are checked when a file is opened; elements are read on demand, so that a file larger
 * than the memory can be processed. */
#ifndef TC_NPY_H
#define TC_NPY_H

#include "../base/diag.h"

enum { TC_NPY_RANK = 32 }; /* NumPy's own limit */

typedef struct tc_npy {
    const char *name; /* the member's, without ".npy"; of a .npy file its own, without folder */
    const tc_loc *loc;
    char kind;     /* NumPy's letter: b bool, i u integers, f floats, c complex, V raw bytes */
    uint8_t size;  /* of one element, in bytes */
    bool swapped;  /* big-endian in the file */
    bool fortran;  /* first axis fastest in the file */
    int32_t rank;
    int64_t dim[TC_NPY_RANK];
    int64_t count; /* elements */
    struct tc_npy_source *source;
} tc_npy;

/* The arrays of a file, one of a .npy, all members of a .npz in the order of the archive.
 * Everything goes with the context.  On failure a message has been given. */
TC_MUST_USE tc_status ti_npy_open(tc_ctx *ctx, const char *path, tc_npy **array, size_t *count);

/* The same from bytes that live as long as the context. */
TC_MUST_USE tc_status ti_npy_parse(tc_ctx *ctx, const char *path, tc_bytes bytes, tc_npy **array,
                                   size_t *count);

/* Elements first .. first + n - 1, counted last axis fastest in any file order, in this machine's
 * byte order.  0 <= first, first + n <= count. */
TC_MUST_USE tc_status ti_npy_read(tc_ctx *ctx, tc_npy *array, int64_t first, int64_t n, void *out);

/* "float32", "int8", "bool", "raw 2-byte", ...; in the arena. */
const char *ti_npy_type_text(tc_arena *arena, const tc_npy *array);

/* The header of a file whose elements follow, last axis fastest: descr is NumPy's name of the type,
 * "<f4" say.  The bytes are those that NumPy would write, except for padding. */
void ti_npy_header(tc_buf *out, const char *descr, int32_t rank, const int64_t *dim);

#endif
