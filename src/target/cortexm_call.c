/* SPDX-License-Identifier: Apache-2.0 */
/* cortexm_call.c -- see cortexm_call.h; cortexm_names.c has the names. */
#include "cortexm_site.h"

#include "../num/fixed.h"

int32_t ti_cm_mean(int64_t sum, int64_t n)
{
    return (int32_t)(sum > 0 ? (sum + n / 2) / n : (sum - n / 2) / n);
}

bool ti_cm_same_mean(int64_t n, int64_t zero_in, int64_t zero_out)
{
    tc_scale scale = ti_reciprocal_scale((uint32_t)n);
    for (int64_t sum = INT8_MIN * n; sum <= INT8_MAX * n; sum++) {
        int64_t v = ti_scale32((int32_t)(sum - n * zero_in), scale.multiplier, scale.shift);
        if (ti_clip(v + zero_out, INT8_MIN, INT8_MAX) != ti_cm_mean(sum, n))
            return false;
    }
    return true;
}

const char *ti_cm_describe(tc_ctx *ctx, const tc_graph *g, tc_cm_op op, tc_core core,
                           tc_cm_caller caller, tc_cm_call *out)
{
    static tc_cm_describer *const describe[TC_CM_COUNT] = {
#define CM(word, name, args) [TC_CM_##word] = ti_cm_describe_##word,
#include "cortexm_ops.def"
    };
    tc_cm_site s = {ctx, g, core, caller, out};
    *out = (tc_cm_call){0};
    return describe[op](&s);
}
