/* SPDX-License-Identifier: Apache-2.0 */
/* base.h -- what every public header stands on: versions, statuses, spans of bytes, element types.
 *
 * C11 and C++17.  Records whose first field is `size` grow at their end from version to version:
 * the caller sets it to sizeof the record it was compiled with, and the library reads and fills no
 * more than that.  For each such record T there is T_default(): size set, all else 0 or NULL. */
#ifndef TOSAC_BASE_H
#define TOSAC_BASE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) || defined(__clang__)
#define TC_API __attribute__((visibility("default")))
#define TC_MUST_USE __attribute__((warn_unused_result))
#else
#define TC_API
#define TC_MUST_USE
#endif

#define TC_SIZED_RECORD(T)                                                                         \
    static inline T T##_default(void)                                                              \
    {                                                                                              \
        T record;                                                                                  \
        memset(&record, 0, sizeof record);                                                         \
        record.size = sizeof record;                                                               \
        return record;                                                                             \
    }

/* The version of these headers; CMakeLists.txt reads it from here. */
#define TOSAC_VERSION_MAJOR 0
#define TOSAC_VERSION_MINOR 1
#define TOSAC_VERSION_PATCH 0
#define TOSAC_VERSION_NUMBER                                                                       \
    (TOSAC_VERSION_MAJOR * 10000 + TOSAC_VERSION_MINOR * 100 + TOSAC_VERSION_PATCH)

/* "tosac 0.1.0": the version of the library that is loaded. */
TC_API const char *tc_version(void);

/* The same as a number that compares with TOSAC_VERSION_NUMBER: 100 for 0.1.0. */
TC_API int tc_version_number(void);

/* What a call came to; the first five and the last are the command line's exit codes. */
typedef enum tc_status {
    TC_OK = 0,
    TC_BAD_MODEL = 1,   /* the model or file is turned down */
    TC_USAGE = 2,       /* an option or argument is mistaken */
    TC_UNSUPPORTED = 3, /* fine, and beyond us today */
    TC_TOOL = 4,        /* an outside tool failed */
    TC_NO_MEMORY = 5,   /* memory ran out; the context can only be freed */
    TC_CANCELLED = 6,   /* tc_ctx_cancel(), or a callback that wanted no more */
    TC_BUG = 70         /* our own mistake */
} tc_status;

/* A few words for people: "memory ran out".  Never NULL. */
TC_API const char *tc_status_text(tc_status status);

/* A span of bytes; whoever hands it out says who owns it. */
typedef struct tc_bytes {
    const uint8_t *data;
    size_t size;
} tc_bytes;

/* How something is told: a page for people, or JSON for programs. */
typedef enum tc_form { TC_FORM_TEXT = 0, TC_FORM_JSON = 1 } tc_form;

/* ---- what a value is ---- */

enum { TC_MAX_RANK = 8 };

/* Element types.  In memory i4 is kept in a byte, i48 and shape in eight; bf16, e4m3 and e5m2 are
 * their bits. */
typedef enum tc_dtype {
    TC_none = 0, /* no element type */
    TC_bool = 1,
    TC_i4 = 2,
    TC_i8 = 3,
    TC_u8 = 4,
    TC_i16 = 5,
    TC_u16 = 6,
    TC_i32 = 7,
    TC_u32 = 8,
    TC_i48 = 9,
    TC_i64 = 10,
    TC_u64 = 11,
    TC_f16 = 12,
    TC_bf16 = 13,
    TC_f32 = 14,
    TC_f64 = 15,
    TC_e4m3 = 16,
    TC_e5m2 = 17,
    TC_c64 = 18,
    TC_shape = 19, /* TOSA's shape values */
    TC_DTYPE_COUNT
} tc_dtype;

/* "f32"; "none" for TC_none and for numbers that are no element type. */
TC_API const char *tc_dtype_name(tc_dtype dtype);

/* Bytes of one element in memory; 0 when it is no element type. */
TC_API size_t tc_dtype_bytes(tc_dtype dtype);

/* How stored integers stand for real numbers:
 *
 *   real = scale[c] * (stored - zero[c]),  lo <= stored <= hi,  c the place along `axis`.      */
typedef struct tc_quant {
    int32_t axis;   /* the channel axis, or -1 when one pair serves the whole tensor */
    int32_t count;  /* 1, or the extent of that axis */
    int64_t lo, hi; /* the codes in use; may be narrower than the storage */
    const double *scale;
    const int64_t *zero;
} tc_quant;

/* What a value is: its storage, its shape, and -- in the same breath -- its meaning.  The records
 * that the library hands out live as long as their context. */
typedef struct tc_type {
    tc_dtype dtype;
    int32_t rank;
    int64_t dim[TC_MAX_RANK]; /* zeros past the rank */
    const tc_quant *quant;    /* NULL when the stored numbers are the real numbers */
} tc_type;

/* Elements of a tensor of this type, and its bytes in memory. */
TC_API int64_t tc_type_count(const tc_type *type);
TC_API size_t tc_type_bytes(const tc_type *type);

/* Numbers in memory: row-major, last axis fastest, no gaps, in this machine's byte order. */
typedef struct tc_tensor {
    const tc_type *type; /* NULL: an operand that was left out */
    void *data;          /* NULL: known by type only */
} tc_tensor;

/* Stored numbers first .. first + n - 1 as doubles (of a complex type the real parts), without
 * their scale; and the same into float. */
TC_API void tc_tensor_get_f64(const tc_tensor *tensor, int64_t first, size_t n, double *out);
TC_API void tc_tensor_get_f32(const tc_tensor *tensor, int64_t first, size_t n, float *out);

/* n doubles become stored numbers, by PyTorch's rules of conversion: toward zero for integers, to
 * the nearest for floats. */
TC_API void tc_tensor_put_f64(const tc_tensor *tensor, int64_t first, size_t n, const double *in);

/* The fewest digits that read back as exactly this double, whole numbers in full; nan, inf and -inf
 * by name.  `out` has room for 32 characters. */
TC_API void tc_text_f64(double value, char out[32]);

#ifdef __cplusplus
}
#endif
#endif
