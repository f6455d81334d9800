/* SPDX-License-Identifier: Apache-2.0 */
/* compare.c -- see compare.h. */
#include "compare.h"

#include "num/load.h"

#include <math.h>

/* The recorded numbers in the type that the file has. */
static bool load(tc_ctx *ctx, tc_npy *want, int64_t first, const tc_type *like, tc_tensor *out)
{
    tc_dtype dtype = ti_data_dtype(want);
    if (!dtype || first + tc_type_count(like) > want->count)
        return false;
    *out = ti_tensor_new(&ctx->arena, ti_type_make(ctx, dtype, like->rank, like->dim));
    return ti_npy_read(ctx, want, first, tc_type_count(like), out->data) == TC_OK;
}

static bool same_integers(tc_tensor got, tc_tensor want, verdict *v)
{
    int64_t n = tc_type_count(want.type), wrong = 0;
    for (int64_t i = 0; i < n; i++)
        wrong += ti_load_i64(got, i) != ti_load_i64(want, i);
    if (wrong)
        failed(v, "%" PRId64 " of %" PRId64 " integers differ", wrong, n);
    return wrong == 0;
}

static bool near_floats(tc_tensor got, tc_tensor want, const allowance *a, verdict *v)
{
    int64_t n = tc_type_count(want.type), worst_at = 0, n_equal = 0, n_off[3] = {0};
    double top = 1e-3, worst = 0;
    for (int64_t i = 0; i < n; i++) {
        double w = ti_load_f64(want, i), g = ti_load_f64(got, i);
        bool same = w == g || (w != w && g != g);
        if (!isfinite(w) && !same) {
            failed(v, "element %" PRId64 " is %.9g, expected %.9g", i, g, w);
            return false;
        }
        if (!isfinite(w)) {
            n_equal++;
            continue;
        }
        double error = isfinite(g) ? fabs(g - w) : INFINITY;
        top = fmax(top, fabs(w));
        int off = a->step > 0 ? (int)fmin(rint(error / a->step), 3) : 0;
        n_equal += off == 0;
        if (off)
            n_off[off - 1]++;
        if (error > worst) {
            worst = error;
            worst_at = i;
        }
    }
    double allowed =
        a->step > 0 ? 1.01 * a->step * (a->steps > 0 ? a->steps : 1) : top * a->relative;
    for (int k = 0; k < 3; k++)
        v->n_off[k] += n_off[k];
    if (a->step > 0) {
        v->n_equal += n_equal;
        v->n_compared += n;
    }
    if (worst > allowed)
        failed(v, "error %.3g at element %" PRId64 " (%.9g, expected %.9g), allowed %.3g", worst,
               worst_at, ti_load_f64(got, worst_at), ti_load_f64(want, worst_at), allowed);
    return worst <= allowed;
}

bool close_enough(tc_ctx *ctx, tc_tensor got, tc_npy *want, int64_t first, const allowance *a,
                  verdict *v)
{
    tc_tensor recorded;
    if (!load(ctx, want, first, got.type, &recorded)) {
        failed_with(v, ctx, "recorded result");
        return false;
    }
    return ti_is_float(recorded.type->dtype) ? near_floats(got, recorded, a, v)
                                             : same_integers(got, recorded, v);
}
