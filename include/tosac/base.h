/* SPDX-License-Identifier: Apache-2.0 */
/* base.h -- versions, status codes, byte spans and element types: included by all other headers.
 *
 * C11 and C++17.  Records whose first field is `size` grow at their end from version to version:
 * the caller sets it to sizeof the record it was compiled with, and the library reads and fills no
 * more than that.  For each such record T there is T_default(): size set, all else 0 or NULL. */
#ifndef TOSAC_BASE_H
#define TOSAC_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) || defined(__clang__)
#if defined(_WIN32) && defined(TOSAC_MAKES_LIBRARY)
#define TC_API __declspec(dllexport)
#elif defined(_WIN32)
#define TC_API
#else
#define TC_API __attribute__((visibility("default")))
#endif
#define TC_MUST_USE __attribute__((warn_unused_result))
#else
#define TC_API
#define TC_MUST_USE
#endif

/* Experimental functions may change or go in any release; all others change with the first number
 * of the version only.  With TOSAC_STABLE_ONLY defined, calling an experimental one is a warning.
 */
#if defined(TOSAC_STABLE_ONLY) && (defined(__GNUC__) || defined(__clang__))
#define TC_EXPERIMENTAL __attribute__((deprecated("experimental: it may change in any release")))
#else
#define TC_EXPERIMENTAL
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
#define TOSAC_VERSION_MINOR 2
#define TOSAC_VERSION_PATCH 0
#define TOSAC_VERSION_NUMBER                                                                       \
    (TOSAC_VERSION_MAJOR * 10000 + TOSAC_VERSION_MINOR * 100 + TOSAC_VERSION_PATCH)

/* "tosac 0.2.0": the version of the library that is loaded. */
TC_API const char *tc_version(void);

/* The same as a number that compares with TOSAC_VERSION_NUMBER: 200 for 0.2.0. */
TC_API int tc_version_number(void);

/* The result of a call; the first five and the last are also the command line's exit codes. */
typedef enum tc_status {
    TC_OK = 0,
    TC_BAD_MODEL = 1,   /* the model or file is not valid */
    TC_USAGE = 2,       /* an option or argument is wrong */
    TC_UNSUPPORTED = 3, /* the model is valid but not supported yet */
    TC_TOOL = 4,        /* a library or device that is needed is missing */
    TC_NO_MEMORY = 5,   /* out of memory; the context can only be freed */
    TC_CANCELLED = 6,   /* by tc_ctx_cancel() or by a callback */
    TC_BUG = 70         /* a bug in tosac */
} tc_status;

/* A short text: "out of memory".  Never NULL. */
TC_API const char *tc_status_text(tc_status status);

/* A span of bytes; the function that returns it says who owns it. */
typedef struct tc_bytes {
    const uint8_t *data;
    size_t size;
} tc_bytes;

/* The form of a report: text for people, or JSON for programs. */
typedef enum tc_form { TC_FORM_TEXT = 0, TC_FORM_JSON = 1 } tc_form;

/* ---- types and tensors ---- */

enum { TC_MAX_RANK = 8 };

/* Element types.  In memory an i4 takes one byte, an i48 or shape eight; bf16 and narrower floats are
 * stored as their bits, those of less than eight in a byte.  mxint8 is an integer in units of 1/64, ue8m0 a
 * power of two.  A block-scaled element is its value's code in the low byte and the scale's, as ue8m0, in
 * the high one: 32 neighbours along the last axis have the same scale. */
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
    TC_e2m3 = 20,  /* from here on: TOSA 1.1 */
    TC_e3m2 = 21,
    TC_e2m1 = 22,
    TC_ue8m0 = 23,
    TC_mxint8 = 24,
    TC_bs32_e4m3 = 25,
    TC_bs32_e5m2 = 26,
    TC_bs32_e2m3 = 27,
    TC_bs32_e3m2 = 28,
    TC_bs32_e2m1 = 29,
    TC_bs32_mxint8 = 30,
    TC_DTYPE_COUNT
} tc_dtype;

/* "f32"; "none" for TC_none and for invalid numbers. */
TC_API const char *tc_dtype_name(tc_dtype dtype);

/* Bytes of one element in memory; 0 for an invalid number. */
TC_API size_t tc_dtype_bytes(tc_dtype dtype);

/* How stored integers stand for real numbers:
 *
 *   real = scale[c] * (stored - zero[c]),  lo <= stored <= hi,  c the index along `axis`.      */
typedef struct tc_quant {
    int32_t axis;   /* the channel axis, or -1 when one pair serves the whole tensor */
    int32_t count;  /* 1, or the extent of that axis */
    int64_t lo, hi; /* the codes in use; may be narrower than the storage */
    const double *scale;
    const int64_t *zero;
} tc_quant;

/* A value's element type, shape and quantization.  Records that the library returns live as long
 * as their context. */
typedef struct tc_type {
    tc_dtype dtype;
    int32_t rank;
    int64_t dim[TC_MAX_RANK]; /* zeros past the rank */
    const tc_quant *quant;    /* NULL: not quantized */
} tc_type;

/* The number of elements of such a tensor, and its size in bytes. */
TC_API int64_t tc_type_count(const tc_type *type);
TC_API size_t tc_type_bytes(const tc_type *type);

/* A tensor in memory: row-major, last axis fastest, no gaps, native byte order. */
typedef struct tc_tensor {
    const tc_type *type; /* NULL: an optional operand that is absent */
    void *data;          /* NULL: only the type is known */
} tc_tensor;

/* Stored elements first .. first + n - 1 as doubles (complex: the real parts), not dequantized; and
 * the same as floats. */
TC_API void tc_tensor_get_f64(const tc_tensor *tensor, int64_t first, size_t n, double *out);
TC_API void tc_tensor_get_f32(const tc_tensor *tensor, int64_t first, size_t n, float *out);

/* Stores n doubles, converted as PyTorch does: toward zero for integers, to nearest for floats. */
TC_API void tc_tensor_put_f64(const tc_tensor *tensor, int64_t first, size_t n, const double *in);

/* The shortest text that reads back as exactly this double; nan, inf and -inf by name.  `out` has
 * room for 32 characters. */
TC_API void tc_text_f64(double value, char out[32]);

#ifdef __cplusplus
}
#endif
#endif
