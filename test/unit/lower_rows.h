/* SPDX-License-Identifier: Apache-2.0 */
/* lower_rows.h -- lower_check.h for operators that look at whole rows: data that is hard for them.
 *
 *     ROWS("TOSA-1.0+INT", 1, "graph @t(%0: i8[34,49] q(0.05:3)) { ... }")  */
#ifndef TC_LOWER_ROWS_H
#define TC_LOWER_ROWS_H

#include "lower_check.h"

enum { KINDS = 9 };
static unsigned rows_skip; /* 1 << kind */

static inline double rows_noise(uint32_t *seed) /* about normal */
{
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += (double)lower_dice(seed, 65536) / 65535;
    return sum - 6;
}

/* Where element i of a row lies between the least (0) and the largest (1) number; `step` is one
 * code. */
static inline double rows_place(int kind, int64_t row, int64_t i, double step, uint32_t *seed)
{
    double u = (double)lower_dice(seed, 65536) / 65535, level = (double)(row % 17) / 17;
    switch (kind) {
    case 0:
        return u; /* anything */
    case 1:
        return u > 0.5; /* both ends */
    case 2:
        return i == row % 7 ? 1 : 0.3 * u; /* peaked */
    case 3:
        return level; /* constant */
    case 4:
        return level + step * floor(3 * u); /* nearly constant */
    case 5:
        return 0.8 * level + 0.1 * rows_noise(seed); /* large means */
    case 6:
        return i ? 0.5 + 0.02 * rows_noise(seed) : (double)(row & 1); /* outliers */
    case 7:
        return level + step * (i == 3); /* one that is off by one */
    default:
        return 0.5 + 0.15 * rows_noise(seed);
    }
}

static inline void rows_fill(tc_tensor t, int kind, uint32_t *seed)
{
    const tc_quant *q = t.type->quant;
    int64_t n = t.type->rank ? t.type->dim[t.type->rank - 1] : 1;
    double lo = !q                        ? -4
                : t.type->dtype == TC_i32 ? -3e6
                                          : (double)q->lo,
           hi = !q                        ? 4
                : t.type->dtype == TC_i32 ? 3e6
                                          : (double)q->hi;
    for (int64_t k = 0; k < tc_type_count(t.type); k++) {
        double place = rows_place(kind, k / n, k % n, 1 / (hi - lo), seed);
        double v = lo + fmin(fmax(place, 0), 1) * (hi - lo);
        if (ti_is_float(t.type->dtype))
            ti_store_f64(t, k, v);
        else
            ti_store_i64(t, k, (int64_t)floor(v + 0.5));
    }
}

static inline bool rows_agree(const char *target, double within, const char *text)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_bytes full = lower_expand(ctx, text);
    tc_module *typed = lower_parse(ctx, full),
              *tosa = typed ? lower_module(ctx, target, full) : NULL;
    bool good = tosa != NULL;
    tc_tensor in[4], before[4], after[4];
    uint32_t seed = 1;
    for (int kind = 0; good && kind < KINDS; kind++) {
        if (rows_skip >> kind & 1)
            continue;
        const tc_graph *g = ti_main(typed);
        for (size_t i = 0; i < g->n_in; i++) {
            in[i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
            rows_fill(in[i], kind, &seed);
        }
        good = ti_eval(ti_main(typed), in, before, &ctx->arena) == TC_OK &&
               ti_eval(ti_main(tosa), in, after, &ctx->arena) == TC_OK;
        for (size_t i = 0; good && i < g->n_out; i++) {
            double d = lower_distance(before[i], after[i]);
            if (d > within)
                fprintf(stderr, "data %d, result %d: off by %g, allowed %g\n", kind, (int)i, d,
                        within);
            good = d <= within;
        }
    }
    if (!good)
        fprintf(stderr, "%s%s", tc_diagnostics(ctx), text);
    tc_ctx_free(ctx);
    return good;
}

#define ROWS(target, within, text) CHECK(rows_agree(target, within, text))

#endif
