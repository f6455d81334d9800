/* SPDX-License-Identifier: Apache-2.0 */
/* work.c -- between stored elements and the working types f32, f64 and i64. */
#include "work.h"

#include "load.h"

static const tc_dtype stored_as[] = {
    [TC_WORK_f32] = TC_f32, [TC_WORK_f64] = TC_f64, [TC_WORK_i64] = TC_i64};

tc_work ti_work_of(tc_dtype dtype)
{
    if (!ti_is_float(dtype))
        return TC_WORK_i64;
    return dtype == TC_f64 ? TC_WORK_f64 : TC_WORK_f32;
}

const void *ti_work_in(tc_call *call, int i, tc_work work)
{
    if (i >= call->n_in || !call->in[i].type)
        return NULL;
    tc_tensor x = call->in[i];
    if (work == TC_WORK_f32)
        return ti_as_f32(call->scratch, x);
    if (work == TC_WORK_f64)
        return ti_as_f64(call->scratch, x);
    if (x.type->dtype == TC_i64)
        return x.data;
    size_t n = (size_t)tc_type_count(x.type);
    int64_t *copy = ti_arena_raw(call->scratch, n * sizeof *copy);
    ti_read_i64(x, 0, n, copy);
    return copy;
}

void *ti_work_out(tc_call *call, int i, tc_work work)
{
    const tc_tensor *y = &call->out[i];
    tc_dtype as = stored_as[work];
    if (y->type->dtype == as)
        return y->data;
    return ti_arena_raw(call->scratch, (size_t)tc_type_count(y->type) * tc_dtypes[as].bytes);
}

void ti_work_done(tc_call *call, int i, tc_work work, const void *filled)
{
    tc_tensor y = call->out[i];
    if (filled == y.data)
        return;
    size_t n = (size_t)tc_type_count(y.type);
    if (work == TC_WORK_f32)
        ti_write_f32(y, 0, n, filled);
    else if (work == TC_WORK_f64)
        ti_write_f64(y, 0, n, filled);
    else
        ti_write_i64(y, 0, n, filled);
}
