/* SPDX-License-Identifier: Apache-2.0 */
/* split_transforms.c -- 16-bit weights of a spectrum's transform, as two layers of 8 bits:
 *
 *   W x + b = (H x + b) + L x        H = s round(W / s),  L = W - H
 *
 * s = max |W| / 127, of each output channel: the codes of H are whole numbers, and L, at most s / 2,
 * has steps of its own, 254 times as fine.  Both results, and their sum, are parts: i32 of one scale
 * that the sum does not exceed, so that it is exact. */
#include "spectra.h"

#include <math.h>

#include "../ir/build.h"

enum { TOP = 127 }; /* codes of 8-bit weights */

typedef struct splitting {
    const tc_dataflow *f;
    const tc_spectra *s;
    bool any;
} splitting;

/* A half already: a sum of parts reads it. */
static bool is_half(const splitting *w, tc_val v)
{
    const tc_dataflow *f = w->f;
    for (uint32_t u = f->first[v]; u < f->first[v + 1]; u++)
        if (f->use[u].node->op == TC_OP_add &&
            w->s->value[f->use[u].node->out[0]].kind == TC_SPECTRAL_part)
            return true;
    return false;
}

static bool can_split(const splitting *w, const tc_node *node)
{
    tc_val v = node->n_out == 1 ? node->out[0] : TC_NONE;
    if ((node->op != TC_OP_conv && node->op != TC_OP_linear) || !v ||
        w->s->value[v].kind != TC_SPECTRAL_part || !w->s->group[w->s->value[v].group].wide)
        return false;
    tc_tensor t = ti_tensor_of(w->f->g, node->in[1]);
    const tc_setting *how = &w->f->scheme[v].weight;
    return t.data && t.type->dtype == TC_f32 && t.type->rank > 1 && w->f->fixed[node->in[1]] &&
           (how->dtype == TC_i8 || ti_setting_few_codes(how)) && ti_setting_step(how) == 1 &&
           !is_half(w, v);
}

static float largest_of(const float *x, int64_t n)
{
    float most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmaxf(most, fabsf(x[i]));
    return most;
}

/* H and L of `rows` output channels, n weights each. */
static void split(const float *w, int64_t rows, int64_t n, bool per_channel, float *high, float *low)
{
    float all = largest_of(w, rows * n);
    for (int64_t c = 0; c < rows; c++) {
        double step = (double)(per_channel ? largest_of(w + c * n, n) : all) / TOP;
        for (int64_t i = c * n; i < (c + 1) * n; i++) {
            high[i] = step > 0 ? (float)(step * rint((double)w[i] / step)) : 0;
            low[i] = w[i] - high[i];
        }
    }
}

static tc_val layer(tc_build *b, const tc_node *node, const tc_type *type, const float *weights,
                    bool bias)
{
    tc_val w = ti_b_data(b, type, weights);
    tc_val in[] = {ti_b_in(b, 0), w, bias ? ti_b_in(b, 2) : TC_NONE};
    return ti_b_op(b, node->op, node->attr, in, node->n_in < 3 ? 2 : 3);
}

static tc_status take(tc_rewrite *rw, const tc_node *node, bool *done)
{
    splitting *w = rw->user;
    if (!can_split(w, node))
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    tc_tensor t = ti_tensor_of(rw->from, node->in[1]);
    int64_t rows = t.type->dim[0], n = tc_type_count(t.type);
    float *high = tc_new_n(&rw->ctx->arena, float, (size_t)n + 1),
          *low = tc_new_n(&rw->ctx->arena, float, (size_t)n + 1);
    split(t.data, rows, rows ? n / rows : 0, w->f->scheme[node->out[0]].weight.per_channel, high, low);
    tc_val x = layer(&b, node, t.type, high, true), y = layer(&b, node, t.type, low, false);
    w->any = true;
    return ti_b_replace(&b, ti_b_add(&b, x, y), done);
}

tc_status ti_spectra_split(tc_ctx *ctx, tc_module *module, const tc_config *config, bool *any)
{
    static tc_rewriter *const rewriters[] = {take};
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_graph was = *ti_main(module); /* rewriting replaces its contents */
    tc_dataflow f = ti_dataflow_of(ctx, ti_main(module), config, NULL);
    tc_spectra s = ti_spectra_find(ctx, &f);
    splitting w = {&f, &s, false};
    f.g = &was;
    tc_status status =
        s.any ? ti_rewrite_graph(ti_main(module), rewriters, TC_COUNT(rewriters), &w) : TC_OK;
    *any = w.any;
    ti_arena_rewind(&ctx->scratch, mark);
    return status;
}
