/* SPDX-License-Identifier: Apache-2.0 */
/* factory.c -- tensors from attributes: arange, linspace, full. */
#include "kernels.h"
#include "load.h"
#include "strided.h"

void ti_num_full(tc_call *c)
{
    const tc_attr_full *a = c->attr;
    const tc_tensor *y = &c->out[0];
    int64_t n = tc_type_count(y->type);
    if (!n)
        return;
    ti_store_f64(*y, 0, a->value);
    size_t bytes = tc_dtypes[y->type->dtype].bytes;
    ti_fill((char *)y->data + bytes, y->data, bytes, n - 1);
}

/* start + i * step: integers exactly, real values in f64 and rounded once. */
void ti_num_arange(tc_call *c)
{
    const tc_attr_arange *a = c->attr;
    for (int64_t i = 0; i < a->count; i++)
        if (ti_is_float(a->dtype))
            ti_store_f64(c->out[0], i, a->start + a->step * (double)i);
        else
            ti_store_i64(c->out[0], i, (int64_t)((uint64_t)ti_trunc_i64(a->start) +
                                                 (uint64_t)i * (uint64_t)ti_trunc_i64(a->step)));
}

/* The first half counts from the start, the second from the end; real ones in their own precision.
 */
static void linspace_f32(const tc_attr_linspace *a, tc_tensor y)
{
    float start = (float)a->start, end = (float)a->end,
          step = (end - start) / (float)(a->steps - 1);
    for (int64_t i = 0; i < a->steps; i++)
        ti_store_f64(y, i, (double)(i < a->steps / 2 ? start + step * (float)i
                                                     : end - step * (float)(a->steps - i - 1)));
}

static void linspace_f64(const tc_attr_linspace *a, tc_tensor y)
{
    bool whole = !ti_is_float(a->dtype);
    double start = whole ? (double)ti_trunc_i64(a->start) : a->start;
    double end = whole ? (double)ti_trunc_i64(a->end) : a->end;
    double step = (end - start) / (double)(a->steps - 1);
    for (int64_t i = 0; i < a->steps; i++)
        ti_store_f64(y, i, i < a->steps / 2 ? start + step * (double)i
                                            : end - step * (double)(a->steps - i - 1));
}

void ti_num_linspace(tc_call *c)
{
    const tc_attr_linspace *a = c->attr;
    if (a->steps == 1)
        ti_store_f64(c->out[0], 0, a->start);
    else if (a->dtype == TC_f32)
        linspace_f32(a, c->out[0]);
    else
        linspace_f64(a, c->out[0]);
}

void ti_num_eye(tc_call *c)
{
    const tc_attr_eye *a = c->attr;
    size_t bytes = tc_type_bytes(c->out[0].type);
    if (bytes)
        memset(c->out[0].data, 0, bytes);
    for (int64_t i = 0; i < ti_min_i64(a->rows, a->columns); i++)
        ti_store_f64(c->out[0], i * a->columns + i, 1);
}
