/* SPDX-License-Identifier: Apache-2.0 */
/* softmax.c -- softmax and its logarithm along one axis. */
#include "lanes.h"
#include "../base/real.h"
#include "math.h"
#include "softmax.h"
#include "sum.h"
#include "work.h"

enum { BLOCK = 64 };

#define NAME(f) f##_f32
#define T float
#define EXP ti_expf
#define LOG(x) ti_logf((float)(x))
#define SUM(x, n) ti_sum_f32((x), (n), 0)
#define AT_ONCE 16
#include "softmax_body.h"

#define NAME(f) f##_f64
#define T double
#define EXP ti_exp
#define LOG(x) ti_log(x)
#define SUM(x, n) ti_sum_f64((x), (n), 0)
#define AT_ONCE 1
#include "softmax_body.h"

TC_LANES(static, softmax_f32, along_f32,
         (const float *x, int64_t outer, int64_t n, int64_t inner, bool logarithm, float *y),
         (x, outer, n, inner, logarithm, y))
TC_LANES(static, one_row, row_f32, (float *y, int64_t n, bool logarithm), (y, n, logarithm))

void ti_softmax_row_f32(float *y, int64_t n) { one_row(y, n, false); }
void ti_softmax_row_f64(double *y, int64_t n) { row_f64(y, n, false); }

static void along_axis(tc_call *call, bool logarithm)
{
    const tc_attr_axis *a = call->attr;
    const tc_type *t = call->in[0].type;
    int64_t outer = 1, inner = 1, n = t->rank ? t->dim[a->axis] : 1;
    for (int i = 0; i < t->rank; i++)
        *(i < a->axis ? &outer : &inner) *= i == a->axis ? 1 : t->dim[i];
    tc_work work = ti_work_of(t->dtype);
    const void *x = ti_work_in(call, 0, work);
    void *y = ti_work_out(call, 0, work);
    if (work == TC_WORK_f32)
        softmax_f32(x, outer, n, inner, logarithm, y);
    else
        along_f64(x, outer, n, inner, logarithm, y);
    ti_work_done(call, 0, work, y);
}

void ti_num_softmax(tc_call *call) { along_axis(call, false); }
void ti_num_log_softmax(tc_call *call) { along_axis(call, true); }
