/* SPDX-License-Identifier: Apache-2.0 */
/* type.h -- what a value is: storage, shape and quantization in one interned record. */
#ifndef TC_TYPE_H
#define TC_TYPE_H

#include "../base/diag.h"

/* tc_dtype, tc_quant, tc_type and tc_tensor are public: tosac/base.h. */
typedef enum tc_kind { TC_BOOL = 1, TC_INT, TC_UINT, TC_FLOAT, TC_COMPLEX, TC_SHAPE } tc_kind;

typedef struct tc_dtype_info {
    const char *name;
    uint8_t bytes, bits;
    tc_kind kind;
    int16_t pt2, tosa, et;
    const char *npy;
} tc_dtype_info;

extern const tc_dtype_info tc_dtypes[TC_DTYPE_COUNT];

static inline bool ti_is_float(tc_dtype t) { return tc_dtypes[t].kind == TC_FLOAT; }
/* Signed or unsigned; bool is not one. */
static inline bool ti_is_int(tc_dtype t)
{
    return tc_dtypes[t].kind == TC_INT || tc_dtypes[t].kind == TC_UINT;
}
static inline bool ti_is_whole(tc_dtype t) { return ti_is_int(t) || t == TC_bool; }
tc_dtype ti_dtype_named(tc_str name); /* TC_none when there is none of that name */
tc_dtype ti_dtype_from_pt2(int64_t code);
tc_dtype ti_dtype_from_tosa(int64_t code);
tc_dtype ti_dtype_from_et(int64_t code);

/* The least and greatest stored value of an integer type. */
int64_t ti_dtype_min(tc_dtype t);
int64_t ti_dtype_max(tc_dtype t);

/* The interned record; equal types are the same pointer. */
const tc_type *ti_type_intern(tc_ctx *ctx, const tc_type *type);
const tc_type *ti_type_make(tc_ctx *ctx, tc_dtype dtype, int32_t rank, const int64_t *dim);
const tc_type *ti_type_with(tc_ctx *ctx, const tc_type *type, const tc_quant *quant);
/* What the numbers of a quantized type stand for: f32; others as they are. */
const tc_type *ti_type_real(tc_ctx *ctx, const tc_type *type);
/* The same bytes as an accelerator sees them: TOSA has no u8, and reads it as unsigned i8. */
const tc_type *ti_type_carried(tc_ctx *ctx, const tc_type *type);

/* Elements, or -1 when a dimension is negative, the rank too high or the product past 2^40. */
int64_t ti_dims_count(int32_t rank, const int64_t *dim);

/* A dimension known at run time only: TOSA 1.1 has programs with open sizes. */
enum { TC_OPEN = -1 };
/* Some dimension is open, and the others are valid. */
bool ti_dims_open(int32_t rank, const int64_t *dim);
static inline bool ti_type_open(const tc_type *t) { return ti_dims_open(t->rank, t->dim); }

/* "f32[1,3,8,8]", "f32[?,3]", "i8[4,4] q(0.05:-3)"; in the arena. */
const char *ti_type_text(tc_arena *arena, const tc_type *type);
const char *ti_dims_text(tc_arena *arena, int32_t rank, const int64_t *dim);

/* Same scale, zero and codes, of the whole value, or neither has any. */
bool ti_same_quant(const tc_quant *a, const tc_quant *b);

static inline bool ti_same_dims(const tc_type *a, const tc_type *b)
{
    return a->rank == b->rank && memcmp(a->dim, b->dim, sizeof a->dim) == 0;
}

static inline double ti_real(const tc_type *t, int64_t channel, int64_t stored)
{
    const tc_quant *q = t->quant;
    int64_t c = q && q->axis >= 0 ? channel : 0;
    return q ? q->scale[c] * (double)(stored - q->zero[c]) : (double)stored;
}

tc_tensor ti_tensor_new(tc_arena *arena, const tc_type *type); /* not filled */

#endif
