/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_table.c -- TABLE: 256 entries for i8, 513 with interpolation for i16. */
#include "fixed.h"
#include "kernels.h"

void ti_num_tosa_table(tc_call *call)
{
    size_t count = (size_t)tc_type_count(call->out[0].type);
    tc_dtype type = call->in[0].type->dtype, result = call->out[0].type->dtype;
    bool narrow = type == TC_i8 && result == TC_i8, wide = type == TC_i16 && result == TC_i32;
    if (call->in[1].type->dtype != type || (!narrow && !wide)) {
        call->error = "tables are of i8, or of i16 with results of i32";
        return;
    }
    if (narrow) {
        const int8_t *x = call->in[0].data, *table = call->in[1].data;
        int8_t *out = call->out[0].data;
        for (size_t i = 0; i < count; i++)
            out[i] = table[x[i] + 128];
        return;
    }
    const int16_t *x = call->in[0].data, *table = call->in[1].data;
    int32_t *out = call->out[0].data;
    for (size_t i = 0; i < count; i++)
        out[i] = ti_table16(table, x[i]);
}
