/* SPDX-License-Identifier: Apache-2.0 */
/* block_round.c -- rounding to block-scaled types: blocks of 32 along an axis, the last one shorter
 * where the axis ends. */
#include "block_scaled.h"
#include "kernels.h"
#include "load.h"

/* n elements, `step` apart. */
static void round_block(tc_dtype value, const float *x, float *y, int64_t n, int64_t step)
{
    double real[TC_BLOCK] = {0};
    uint8_t code[TC_BLOCK] = {0};
    for (int64_t i = 0; i < n; i++)
        real[i] = (double)x[i * step];
    float scale = ti_ue8m0_to_f32(ti_block_encode(value, (size_t)n, real, code));
    for (int64_t i = 0; i < n; i++)
        y[i * step] = ti_block_decode(value, code[i]) * scale;
}

void ti_num_block_round(tc_call *call)
{
    const tc_attr_block *a = call->attr;
    const tc_type *t = call->in[0].type;
    tc_dtype value = ti_block_value(a->dtype);
    int64_t outer = 1, inner = 1, n = t->dim[a->axis];
    for (int i = 0; i < t->rank; i++)
        *(i < a->axis ? &outer : &inner) *= i == a->axis ? 1 : t->dim[i];
    size_t count = (size_t)tc_type_count(t);
    const float *x = ti_as_f32(call->scratch, call->in[0]);
    float *y = ti_arena_raw(call->scratch, count * sizeof *y);
    for (int64_t o = 0; o < outer; o++)
        for (int64_t at = 0; at < n; at += TC_BLOCK)
            for (int64_t i = 0; i < inner; i++) {
                int64_t first = (o * n + at) * inner + i;
                round_block(value, x + first, y + first, ti_min_i64(TC_BLOCK, n - at), inner);
            }
    ti_write_f32(call->out[0], 0, count, y);
}
