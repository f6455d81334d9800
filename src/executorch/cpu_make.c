/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_make.c -- what forms of the pass `select-cpu-kernels` begin and end with. */
#include "cpu_forms.h"

tc_val ti_cpu_real(tc_build *m, int i)
{
    tc_val x = ti_b_in(m, i);
    return x && ti_b_dtype(m, x) != TC_f64 ? ti_b_cast(m, x, TC_f32) : x;
}

void ti_cpu_give(tc_build *m, int i, tc_val v)
{
    const tc_type *want = ti_b_out_type(m, i);
    if (m->status == TC_OK && !want->quant) {
        v = ti_b_cast(m, v, want->dtype);
        if (m->status == TC_OK && tc_type_count(ti_type_of(m->g, v)) == tc_type_count(want))
            v = ti_b_reshape(m, v, want->rank, want->dim);
    }
    TC_STOP(m);
    if (ti_type_of(m->g, v) != want)
        m->status = ti_bug(
            m->ctx, m->loc, "the kernels for '%s' give %s, expected %s", tc_ops[m->node->op].name,
            ti_type_text(&m->ctx->arena, ti_type_of(m->g, v)), ti_type_text(&m->ctx->arena, want));
    else
        ti_rewrite_bind(m->rw, m->node->out[i], v);
}
