/* SPDX-License-Identifier: Apache-2.0 */
/* door_types.c -- element types and tensors for callers. */
#include "../num/load.h"
#include "../base/enter.h"

const char *tc_dtype_name(tc_dtype dtype)
{
    return tc_dtypes[dtype > TC_none && dtype < TC_DTYPE_COUNT ? dtype : TC_none].name;
}

size_t tc_dtype_bytes(tc_dtype dtype)
{
    return tc_dtypes[dtype > TC_none && dtype < TC_DTYPE_COUNT ? dtype : TC_none].bytes;
}

static tc_status spell(tc_ctx *ctx, const tc_type *type, const char **out)
{
    *out = ti_type_text(&ctx->arena, type);
    return TC_OK;
}

tc_status tc_type_spell(tc_ctx *ctx, const tc_type *type, const char **out)
{
    TC_ENTER(ctx, spell(ctx, type, out));
}

void tc_tensor_get_f64(const tc_tensor *tensor, int64_t first, size_t n, double *out)
{
    ti_read_f64(*tensor, first, n, out);
}

void tc_tensor_get_f32(const tc_tensor *tensor, int64_t first, size_t n, float *out)
{
    ti_read_f32(*tensor, first, n, out);
}

void tc_tensor_put_f64(const tc_tensor *tensor, int64_t first, size_t n, const double *in)
{
    for (size_t i = 0; i < n; i++)
        ti_store_f64(*tensor, first + (int64_t)i, in[i]);
}
