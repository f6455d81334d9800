/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_cast.c -- CAST: integers keep their low bits, floats become the nearest integer (halves to
 * even) held inside its type, and everything becomes the nearest float. */
#include "kernels.h"
#include "tosa.h"

enum { RUN = 256 };

/* The specification leaves NaN open; it becomes the low bits of the smallest i32, as in load.h. */
static int64_t nearest(double v, tc_dtype type)
{
    int64_t lo = ti_dtype_min(type), hi = ti_dtype_max(type);
    double r = nearbyint(v);
    return isnan(r) ? INT32_MIN : r <= (double)lo ? lo : r >= (double)hi ? hi : (int64_t)r;
}

void ti_num_tosa_cast(tc_call *call)
{
    tc_tensor in = call->in[0], out = call->out[0];
    bool from_real = ti_is_float(in.type->dtype), to_real = ti_is_float(out.type->dtype);
    int64_t count = tc_type_count(out.type), ints[RUN];
    double reals[RUN];
    for (int64_t at = 0; at < count; at += RUN) {
        size_t n = (size_t)ti_min_i64(RUN, count - at);
        if (from_real)
            ti_read_f64(in, at, n, reals);
        else
            ti_read_i64(in, at, n, ints);
        for (size_t i = 0; from_real && !to_real && i < n; i++)
            ints[i] =
                out.type->dtype == TC_bool ? reals[i] != 0 : nearest(reals[i], out.type->dtype);
        for (size_t i = 0; !from_real && to_real && i < n; i++)
            reals[i] = (double)ints[i]; /* exact: 32 bits at most */
        if (to_real)
            ti_write_reals(out, at, n, reals);
        else
            ti_write_i64(out, at, n, ints);
    }
}
