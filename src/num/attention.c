/* SPDX-License-Identifier: Apache-2.0 */
/* attention.c -- scaled dot-product attention: softmax(q k^T scale + mask) v.
 *
 * A few query rows at a time: only the scores of one block are stored.  A row whose every score is
 * masked gives zeros. */
#include <math.h>

#include "gemm.h"
#include "softmax.h"
#include "work.h"

enum { BLOCK = 32 }; /* query rows at a time */

/* Steps of the operands along the batch axes of the result and, for the mask, along its last two.
 */
typedef struct plan {
    int rank;
    int64_t batch[TC_MAX_RANK];
    int64_t q[TC_MAX_RANK], k[TC_MAX_RANK], v[TC_MAX_RANK], mask[TC_MAX_RANK];
    int64_t share_k, share_v;       /* query heads per key or value head */
    int64_t rows, keys, width, out; /* l, s, e, f */
    int64_t mask_row, mask_column;
    bool causal;
    double scale;
} plan;

/* Steps of t along the batch axes, right-aligned; 0 where it is broadcast. */
static void steps_of(const tc_type *t, int rank, int64_t *step)
{
    int own = t->rank > 2 ? t->rank - 2 : 0;
    int64_t size = 1;
    for (int i = own; i < t->rank; i++)
        size *= t->dim[i];
    for (int i = rank - 1, j = own - 1; i >= 0; i--, j--) {
        int64_t extent = j >= 0 ? t->dim[j] : 1;
        step[i] = extent == 1 ? 0 : size;
        size *= extent;
    }
}

/* An axis of the mask counted from the end. */
static int64_t mask_step(const tc_type *mask, int from_end)
{
    int64_t size = 1;
    for (int i = 1; i < from_end && i <= mask->rank; i++)
        size *= mask->dim[mask->rank - i];
    return mask->rank < from_end || mask->dim[mask->rank - from_end] == 1 ? 0 : size;
}

static plan plan_of(tc_call *call)
{
    const tc_attr_sdpa *a = call->attr;
    const tc_type *q = call->in[0].type, *k = call->in[1].type, *v = call->in[2].type;
    const tc_type *mask = call->n_in > 3 ? call->in[3].type : NULL, *y = call->out[0].type;
    plan p = {.rank = y->rank - 2, .share_k = 1, .share_v = 1, .rows = q->dim[q->rank - 2],
              .keys = k->dim[k->rank - 2], .width = q->dim[q->rank - 1], .out = v->dim[v->rank - 1],
              .causal = a->causal, .scale = a->scale};
    memcpy(p.batch, y->dim, sizeof p.batch);
    steps_of(q, p.rank, p.q);
    steps_of(k, p.rank, p.k);
    steps_of(v, p.rank, p.v);
    if (a->gqa) {
        p.share_k = q->dim[q->rank - 3] / k->dim[k->rank - 3];
        p.share_v = q->dim[q->rank - 3] / v->dim[v->rank - 3];
    }
    if (mask) {
        steps_of(mask, p.rank, p.mask);
        p.mask_row = mask_step(mask, 2);
        p.mask_column = mask_step(mask, 1);
    }
    return p;
}

/* Where matrix `which` of the batch begins; the last batch axis counts heads. */
static int64_t place(const plan *p, const int64_t *step, int64_t share, int64_t which)
{
    int64_t at = 0;
    for (int i = p->rank - 1; i >= 0; which /= p->batch[i], i--)
        at += which % p->batch[i] / (i == p->rank - 1 ? share : 1) * step[i];
    return at;
}

#define NAME(f) f##_f32
#define T float
#include "attention_body.h"

#define NAME(f) f##_f64
#define T double
#include "attention_body.h"

void ti_num_sdpa(tc_call *call)
{
    plan p = plan_of(call);
    tc_work work = ti_work_of(call->out[0].type->dtype);
    const void *q = ti_work_in(call, 0, work), *k = ti_work_in(call, 1, work);
    const void *v = ti_work_in(call, 2, work), *mask = NULL;
    const uint8_t *allowed = NULL;
    if (call->n_in > 3 && call->in[3].type && call->in[3].type->dtype == TC_bool)
        allowed = call->in[3].data;
    else
        mask = ti_work_in(call, 3, work);
    void *y = ti_work_out(call, 0, work);
    if (work == TC_WORK_f32)
        attention_f32(call->scratch, &p, q, k, v, mask, allowed, y);
    else
        attention_f64(call->scratch, &p, q, k, v, mask, allowed, y);
    ti_work_done(call, 0, work, y);
}
