/* SPDX-License-Identifier: Apache-2.0 */
/* eltwise.h -- what elementwise kernels share: promotion, broadcasting, runs of elements.
 *
 * A kernel is up to four short loops, one for each domain.  eltwise.c walks the broadcast operands,
 * converts runs of them to that domain, calls the loop, converts back. Narrow floats are computed
 * in f32 and rounded once; integers in i64, keeping the low bits. */
#ifndef TC_ELTWISE_H
#define TC_ELTWISE_H

#include "call.h"
#include "half.h"

/* PyTorch's common type of the operands present: the highest of bool, integer, float, complex;
 * within it operands of rank 0 do not widen the others.  TC_none: there is none. */
tc_dtype ti_promote(const tc_tensor *in, int n);

/* The domain in which a type is computed. */
typedef enum tc_domain { TC_AS_F32, TC_AS_F64, TC_AS_I64, TC_AS_C64, TC_DOMAIN_COUNT } tc_domain;

/* v rounded to a narrow float type, for operators whose steps PyTorch rounds one by one. */
static inline float ti_narrowed(tc_dtype t, float v)
{
    if (t == TC_f16)
        return ti_f16_to_f32(ti_f32_to_f16(v));
    return t == TC_bf16 ? ti_bf16_to_f32(ti_f32_to_bf16(v)) : v;
}

/* Contiguous elements: float, double, int64_t or pairs of float, by domain. */
typedef struct tc_run {
    const void *attr;
    tc_dtype dtype; /* the common type of the operands */
    size_t n;
    const void *in[3]; /* NULL: the operand is absent */
    bool one[3];       /* one element for the whole run */
    void *out;         /* as the operands; uint8_t when the operator gives bool */
    const char *error; /* set when the operands have no result */
} tc_run;

typedef void tc_run_fn(tc_run *run);

enum {
    TC_GIVES_BOOL = 1 << 0, /* the result is bool, whatever the operands are */
    TC_WIDE_SCALARS =
        1
        << 1, /* operands of rank 0, after the first, are not rounded to the common narrow float */
    TC_TAKES_ONE = 1 << 2, /* the loops look at run->one; without it such operands are repeated */
};

typedef struct tc_eltwise {
    tc_run_fn *fn[TC_DOMAIN_COUNT]; /* NULL: not defined for this domain */
    unsigned flags;
} tc_eltwise;

/* Result 0 of the call from its operands, computed in type `common`. */
void ti_eltwise_run(tc_call *call, const tc_eltwise *op, tc_dtype common);

/* Broadcast operands walked together: runs in which every operand steps by 0 or 1. */
enum { TC_WALK_MAX = 4 };
typedef struct tc_walk {
    int n; /* operands */
    int rank;
    int64_t dim[TC_MAX_RANK], at[TC_MAX_RANK];
    int64_t step[TC_WALK_MAX][TC_MAX_RANK];
    int64_t offset[TC_WALK_MAX]; /* where the run starts in each operand */
    int64_t length;              /* of a stretch */
    int64_t count;               /* stretches */
    bool one[TC_WALK_MAX];       /* steps by 0 */
} tc_walk;

/* `in` are broadcast to `out`; operands without type do not step. */
void ti_walk_init(tc_walk *walk, const tc_type *out, const tc_tensor *in, int n);
void ti_walk_next(tc_walk *walk);

/* The tensor with the shape of `out`, in the arena; the tensor itself when it has it already. */
tc_tensor ti_expanded(tc_arena *arena, tc_tensor t, const tc_type *out);

/* x in another element type, buffer to buffer, by PyTorch's rules. */
void ti_convert(tc_tensor in, tc_tensor out);

#endif
