/* SPDX-License-Identifier: Apache-2.0 */
/* fourier.c -- Fourier transforms of real values: RFFT2D.
 *
 * TOSA has no complex numbers: the transform becomes two tensors at the uses of its real and
 * imaginary part. */
#include <math.h>

#include "plain.h"

static bool power_of_two(int64_t n) { return n > 0 && !(n & (n - 1)); }

/* The last axis, or the last two, of f32. */
static const char *why_not(const tc_build *lw, const tc_node *fft)
{
    const tc_attr_fft *a = fft->attr;
    const tc_type *x = ti_type_of(lw->rw->from, fft->in[0]);
    if (!ti_lower_has(lw, TC_FEATURE_FFT))
        return "the target has no Fourier transform";
    if (a->kind != TC_fft_kind_real_to_complex || x->dtype != TC_f32 || a->axes.n < 1 ||
        a->axes.n > 2 || x->rank < a->axes.n)
        return "only transforms of one or two axes of f32 numbers are taken";
    for (int i = 0; i < a->axes.n; i++) {
        bool last = false;
        for (int k = 0; k < a->axes.n; k++)
            last = last || a->axes.v[k] == x->rank - a->axes.n + i;
        if (!last || !power_of_two(x->dim[x->rank - a->axes.n + i]))
            return "its axes are not the last ones, or their extents no powers of two";
    }
    return a->axes.v[a->axes.n - 1] == x->rank - 1 ? NULL : "its last axis is not the last one";
}

/* Whether only parts of it are read. */
static bool in_parts(const tc_graph *g, tc_val v)
{
    bool good = true;
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++)
            good = good && (g->node[k]->in[i] != v || g->node[k]->op == TC_OP_real ||
                            g->node[k]->op == TC_OP_imag);
    for (size_t i = 0; i < g->n_out; i++)
        good = good && g->out[i] != v;
    return good;
}

void ti_lower_fft(tc_build *lw, const tc_node *node, tc_val *out)
{
    (void)out;
    const char *why = why_not(lw, node);
    if (!why && !in_parts(lw->rw->from, node->out[0]))
        why = "its complex result is used";
    if (why)
        ti_lower_refuse(lw, "%s", why);
}

void ti_lower_part(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_node *fft = ti_def(lw->rw->from, node->in[0]);
    const char *why =
        fft && fft->op == TC_OP_fft ? why_not(lw, fft) : "TOSA has no complex numbers";
    if (why) {
        ti_lower_refuse(lw, "%s", why);
        return;
    }
    const tc_attr_fft *a = fft->attr;
    const tc_type *t = ti_type_of(lw->rw->from, fft->in[0]), *y = ti_lower_result(lw, node, 0);
    int64_t w = t->dim[t->rank - 1], h = a->axes.n > 1 ? t->dim[t->rank - 2] : 1,
            n = tc_type_count(t) / (h * w);
    tc_val x = ti_b_tosa_reshape(lw, lw->rw->now[fft->in[0]], 3, (int64_t[]){n, h, w});
    if (!x || lw->status != TC_OK)
        return;
    tc_attr_tosa_rfft *attr = tc_new(&lw->ctx->arena, tc_attr_tosa_rfft);
    tc_node *made;
    lw->status = ti_graph_emit(lw->g, TC_OP_tosa_rfft2d, attr, &x, 1, 2, node->loc, &made);
    TC_STOP(lw);
    tc_val part = ti_b_tosa_reshape(lw, made->out[node->op == TC_OP_imag], y->rank, y->dim);
    double by = ti_fft_factor(a, (double)(h * w));
    out[0] = by == 1 ? part : ti_plain_scale(lw, part, by);
}
