/* SPDX-License-Identifier: Apache-2.0 */
/* data_numbers.c -- values of arrays as elements of inputs: none changes silently. */
#include "data.h"

#include <float.h>
#include <math.h>

#include "../num/load.h"
#include "read_options.h"

tc_dtype ti_data_dtype(const tc_npy *a)
{
    static const struct {
        char kind;
        uint8_t size;
        tc_dtype dtype;
    } row[] = {{'b', 1, TC_bool}, {'i', 1, TC_i8},  {'i', 2, TC_i16}, {'i', 4, TC_i32},
               {'i', 8, TC_i64},  {'u', 1, TC_u8},  {'u', 2, TC_u16}, {'u', 4, TC_u32},
               {'u', 8, TC_u64},  {'f', 2, TC_f16}, {'f', 4, TC_f32}, {'f', 8, TC_f64},
               {'c', 8, TC_c64}};
    for (size_t i = 0; i < TC_COUNT(row); i++)
        if (row[i].kind == a->kind && row[i].size == a->size)
            return row[i].dtype;
    return TC_none;
}

static bool is_whole(tc_dtype t)
{
    return ti_is_int(t) || t == TC_shape;
}

/* Stored bits of the type itself, which NumPy has no name for. */
static bool is_raw(const tc_npy *a, tc_dtype t)
{
    bool one = ti_is_float(t) && tc_dtypes[t].bytes == 1;
    return (t == TC_bf16 && a->kind == 'V' && a->size == 2) ||
           (ti_is_block(t) && a->kind == 'u' && a->size == 2) ||
           (one && a->size == 1 && (a->kind == 'V' || a->kind == 'u'));
}

bool ti_data_type_fits(const tc_npy *a, tc_dtype to)
{
    tc_dtype from = ti_data_dtype(a);
    return from == to || is_raw(a, to) || (is_whole(from) && is_whole(to)) ||
           (ti_is_float(from) && ti_is_float(to));
}

/* Not the same number once stored, nor (where that is allowed) the nearest; NaN is NaN. */
static bool changes(tc_tensor from, tc_tensor to, int64_t i, bool round)
{
    tc_dtype t = to.type->dtype;
    if (ti_is_float(t)) {
        double v = ti_load_f64(from, i);
        ti_store_f64(to, i, v);
        double back = ti_load_f64(to, i);
        bool nearest = round && isfinite(v) && isfinite(back);
        return v != back && (v == v || back == back) && !nearest;
    }
    int64_t v = ti_load_i64(from, i);
    bool sign_lost = v < 0 && (from.type->dtype == TC_u64) != (t == TC_u64);
    ti_store_i64(to, i, v);
    return sign_lost || ti_load_i64(to, i) != v;
}

static tc_status convert(tc_ctx *ctx, tc_npy *a, int64_t first, tc_tensor into)
{
    const tc_type *t = into.type;
    tc_tensor from =
        ti_tensor_new(&ctx->scratch, ti_type_make(ctx, ti_data_dtype(a), t->rank, t->dim));
    int64_t n = tc_type_count(t);
    bool round = ti_reading(ctx)->round;
    TC_TRY(ti_npy_read(ctx, a, first, n, from.data));
    for (int64_t i = 0; i < n; i++)
        if (changes(from, into, i, round)) {
            char number[32];
            tc_text_f64(ti_load_f64(from, i), number);
            tc_status status =
                ti_error(ctx, a->loc, TC_E_DATA,
                         "element %" PRId64 " (%s) cannot be represented exactly as %s", first + i,
                         number, tc_dtypes[t->dtype].name);
            ti_note(ctx, a->loc,
                    ti_is_float(t->dtype) && fabs(ti_load_f64(from, i)) <= FLT_MAX
                        ? "--round takes the nearest; nothing is rounded silently"
                        : "round or convert the data first; nothing is rounded silently");
            return status;
        }
    return TC_OK;
}

tc_status ti_data_convert(tc_ctx *ctx, tc_npy *a, int64_t first, const tc_tensor *into)
{
    const tc_type *t = into->type;
    tc_dtype from = ti_data_dtype(a);
    int64_t n = tc_type_count(t);
    if (is_raw(a, t->dtype) || from == t->dtype) {
        TC_TRY(ti_npy_read(ctx, a, first, n, into->data));
        for (int64_t i = 0; from == TC_bool && i < n; i++)
            ((uint8_t *)into->data)[i] = ((uint8_t *)into->data)[i] != 0;
        return TC_OK;
    }
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_status status = convert(ctx, a, first, *into);
    ti_arena_rewind(&ctx->scratch, mark);
    return status;
}
