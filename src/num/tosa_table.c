/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_table.c -- TABLE: 256 entries for i8, 513 with interpolation for i16. */
#include "fixed.h"
#include "kernels.h"

void tc_num_tosa_table(tc_call *call)
{
    size_t count = (size_t)tc_type_count(call->out[0].type);
    if (call->in[0].type->dtype == TC_i8) {
        const int8_t *x = call->in[0].data, *table = call->in[1].data;
        int8_t *out = call->out[0].data;
        for (size_t i = 0; i < count; i++)
            out[i] = table[x[i] + 128];
        return;
    }
    const int16_t *x = call->in[0].data, *table = call->in[1].data;
    int32_t *out = call->out[0].data;
    for (size_t i = 0; i < count; i++)
        out[i] = tc_table16(table, x[i]);
}
