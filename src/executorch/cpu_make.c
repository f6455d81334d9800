/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_make.c -- what forms of the pass `select-cpu-kernels` begin and end with. */
#include "cpu_forms.h"

tc_val tc_cpu_real(tc_build *m, int i)
{
    tc_val x = tc_b_in(m, i);
    return x && tc_b_dtype(m, x) != TC_f64 ? tc_b_cast(m, x, TC_f32) : x;
}

void tc_cpu_give(tc_build *m, int i, tc_val v)
{
    const tc_type *want = tc_b_out_type(m, i);
    if (m->status == TC_OK && !want->quant) {
        v = tc_b_cast(m, v, want->dtype);
        if (m->status == TC_OK && tc_type_count(tc_type_of(m->g, v)) == tc_type_count(want))
            v = tc_b_reshape(m, v, want->rank, want->dim);
    }
    TC_STOP(m);
    if (tc_type_of(m->g, v) != want)
        m->status = tc_bug(
            m->ctx, m->loc, "the kernels for '%s' give %s, expected %s", tc_ops[m->node->op].name,
            tc_type_text(&m->ctx->arena, tc_type_of(m->g, v)), tc_type_text(&m->ctx->arena, want));
    else
        tc_rewrite_bind(m->rw, m->node->out[i], v);
}
