/* SPDX-License-Identifier: Apache-2.0 */
/* scan.c -- running sums and products along one axis; real ones are carried in f64. */
#include "kernels.h"
#include "load.h"
#include "rows.h"

typedef enum scan { SUM, PRODUCT } scan;

static void scan_real(double *x, int64_t n, scan kind)
{
    for (int64_t i = 1; i < n; i++)
        x[i] = kind == SUM ? x[i - 1] + x[i] : x[i - 1] * x[i];
}

static void scan_int(int64_t *x, int64_t n, scan kind)
{
    for (int64_t i = 1; i < n; i++) {
        uint64_t before = (uint64_t)x[i - 1], v = (uint64_t)x[i];
        x[i] = (int64_t)(kind == SUM ? before + v : before * v);
    }
}

static void run(tc_call *c, scan kind)
{
    const tc_attr_axis *a = c->attr;
    tc_rows rows = ti_rows_along(c->scratch, c->in[0], a->axis);
    tc_tensor out = ti_tensor_new(c->scratch, c->out[0].type);
    void *row = ti_arena_raw(c->scratch, (size_t)rows.n * sizeof(double));
    for (int64_t i = 0; i < rows.n_row; i++) {
        if (ti_is_float(rows.x.type->dtype)) {
            ti_read_f64(rows.x, i * rows.n, (size_t)rows.n, row);
            scan_real(row, rows.n, kind);
            ti_write_f64(out, i * rows.n, (size_t)rows.n, row);
        } else {
            ti_read_i64(rows.x, i * rows.n, (size_t)rows.n, row);
            scan_int(row, rows.n, kind);
            ti_write_i64(out, i * rows.n, (size_t)rows.n, row);
        }
    }
    ti_rows_back(c->out[0], a->axis, out.data, rows.n);
}

void ti_num_cumsum(tc_call *c) { run(c, SUM); }
void ti_num_cumprod(tc_call *c) { run(c, PRODUCT); }
