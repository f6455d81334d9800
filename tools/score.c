/* SPDX-License-Identifier: Apache-2.0 */
/* score.c -- a classifier's results beside the labels and beside recorded results.
 *
 *   score RESULT.npy LABEL.npy RECORDED.npy [DECIBEL]
 *
 * Exit 1 when the signal to noise ratio is below DECIBEL (30). */
#include "num/load.h"
#include "read/data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct table {
    int64_t rows, columns;
    tc_tensor numbers;
} table;

static tc_status load(tc_ctx *ctx, const char *path, tc_dtype dtype, table *out)
{
    tc_npy *a;
    size_t n;
    TC_TRY(ti_npy_open(ctx, path, &a, &n));
    if (a->rank < 1 || a->rank > 2 || a->dim[0] < 1)
        return ti_error(ctx, a->loc, TC_E_DATA, "expected a list or a table");
    *out = (table){a->dim[0], a->rank > 1 ? a->dim[1] : 1, {0}};
    out->numbers = ti_tensor_new(&ctx->arena,
                                 ti_type_make(ctx, dtype, 2, (int64_t[]){out->rows, out->columns}));
    return ti_data_convert(ctx, a, 0, &out->numbers);
}

static int64_t best(const table *t, int64_t row)
{
    int64_t at = 0;
    for (int64_t i = 1; i < t->columns; i++)
        if (ti_load_f64(t->numbers, row * t->columns + i) >
            ti_load_f64(t->numbers, row * t->columns + at))
            at = i;
    return at;
}

static tc_status score(tc_ctx *ctx, char **path, double least, bool *good)
{
    table got, label, want;
    TC_TRY(load(ctx, path[1], TC_f32, &got));
    TC_TRY(load(ctx, path[2], TC_i64, &label));
    TC_TRY(load(ctx, path[3], TC_f32, &want));
    if (got.rows != want.rows || got.columns != want.columns || got.rows != label.rows)
        return ti_error(ctx, NULL, TC_E_DATA,
                        "%" PRId64 " results, %" PRId64 " labels, %" PRId64 " recorded results",
                        got.rows, label.rows, want.rows);
    int64_t right = 0, same = 0;
    double signal = 0, noise = 0;
    for (int64_t r = 0; r < got.rows; r++) {
        right += best(&got, r) == ti_load_i64(label.numbers, r);
        same += best(&got, r) == best(&want, r);
    }
    for (int64_t i = 0; i < got.rows * got.columns; i++) {
        double x = ti_load_f64(want.numbers, i), off = ti_load_f64(got.numbers, i) - x;
        signal += x * x;
        noise += off * off;
    }
    double db = 10 * log10(signal / fmax(noise, 1e-300));
    printf("%" PRId64 " of %" PRId64 " right (%.1f %%); the same class as PyTorch for %" PRId64
           ", signal to noise %.1f dB\n",
           right, got.rows, 100.0 * (double)right / (double)got.rows, same, db);
    *good = db >= least;
    return TC_OK;
}

int main(int argc, char **argv)
{
    if (argc != 4 && argc != 5) {
        fputs("score RESULT.npy LABEL.npy RECORDED.npy [DECIBEL]\n", stderr);
        return 2;
    }
    tc_ctx *ctx = tc_ctx_new();
    bool good = false;
    tc_status status = score(ctx, argv, argc == 5 ? strtod(argv[4], NULL) : 30, &good);
    fputs(tc_diagnostics(ctx), stderr);
    tc_ctx_free(ctx);
    return status != TC_OK || !good;
}
