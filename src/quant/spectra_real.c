/* SPDX-License-Identifier: Apache-2.0 */
/* spectra_real.c -- what of spectra stays in float: powers and what ends them where that is asked for, and transforms
 * that are windowed Fourier transforms (dft.h), which a core computes by few operations (cortexm/c_transform.c).
 * What is read by a quantized operator gets the type that it would have anyway. */
#include "spectra.h"

#include "../num/dft.h"

/* Powers are real, and what ends them; parts stay, in i16. */
static void leave_powers(tc_ctx *ctx, tc_dataflow *f)
{
    tc_spectra *s = tc_new(&ctx->scratch, tc_spectra);
    *s = ti_spectra_find(ctx, f);
    for (size_t k = 0; k < f->g->n_node && s->any; k++) {
        const tc_node *node = f->g->node[k];
        tc_spectral kind = node->n_in ? s->value[node->in[0]].kind : TC_SPECTRAL_none;
        if (node->n_out == 1 && kind == TC_SPECTRAL_power && ti_spectra_ends(f, node))
            f->real[node->out[0]] = true;
    }
    for (tc_val v = 1; v < f->g->n_val; v++) {
        tc_spectral_value *value = &s->value[v];
        f->real[v] = f->real[v] || value->kind == TC_SPECTRAL_power;
        value->above = value->below = 0;
        if (value->kind == TC_SPECTRAL_power)
            *value = (tc_spectral_value){.kind = TC_SPECTRAL_none};
    }
    for (size_t i = 0; i < s->n_group; i++)
        s->group[i].wide = false;
    f->spectra = s;
}

/* The rows of a layer's weights, in the order in which windows of channels last have their elements; NULL: it is no
 * plain layer. */
static const float *rows_of(tc_ctx *ctx, const tc_dataflow *f, const tc_node *node, int64_t *rows, int64_t *length)
{
    tc_tensor t = ti_tensor_of(f->g, node->in[1]);
    bool conv = node->op == TC_OP_conv;
    if ((!conv && node->op != TC_OP_linear) || !f->fixed[node->in[1]] || !t.data || t.type->dtype != TC_f32 ||
        t.type->rank < 2 || (conv && ((const tc_attr_conv *)node->attr)->groups != 1))
        return NULL;
    int64_t channels = t.type->dim[1], taps = 1;
    for (int i = 2; i < t.type->rank; i++)
        taps *= t.type->dim[i];
    *rows = t.type->dim[0];
    *length = channels * taps;
    if (channels == 1 || taps == 1)
        return t.data;
    float *w = tc_new_n(&ctx->scratch, float, (size_t)(*rows * *length));
    for (int64_t r = 0; r < *rows; r++)
        for (int64_t c = 0; c < channels; c++)
            for (int64_t k = 0; k < taps; k++)
                w[r * *length + k * channels + c] = ((const float *)t.data)[r * *length + c * taps + k];
    return w;
}

static bool is_fourier(tc_ctx *ctx, const tc_dataflow *f, const tc_node *node, tc_dft *out)
{
    int64_t rows, length;
    const float *w = node->n_out == 1 && node->n_in > 1 ? rows_of(ctx, f, node, &rows, &length) : NULL;
    return w && ti_dft_find(&ctx->scratch, w, rows, length, out) &&
           ti_dft_quick_operations(out) < ti_dft_matrix_operations(out);
}

/* Layers that make parts and are such transforms are real; where powers are real too, so are parts that come from
 * them alone. */
static void leave_transforms(tc_ctx *ctx, tc_dataflow *f)
{
    tc_spectra *s = tc_new(&ctx->scratch, tc_spectra);
    bool any = false;
    *s = ti_spectra_find(ctx, f);
    for (size_t k = 0; k < f->g->n_node; k++) {
        const tc_node *node = f->g->node[k];
        tc_dft d;
        if (node->n_out != 1 || s->value[node->out[0]].kind != TC_SPECTRAL_part || !ti_dataflow_quantizes(f, node))
            continue;
        bool real = is_fourier(ctx, f, node, &d), moved = f->config->real_spectra && ti_spectra_moves(node);
        f->real[node->out[0]] = real || (moved && f->real[node->in[0]]);
        any = any || real;
    }
    if (any)
        f->spectra = s;
}

/* Logarithms and roots of what a setting leaves in float. */
static void leave_ends(tc_dataflow *f)
{
    for (size_t k = 0; k < f->g->n_node; k++) {
        const tc_node *node = f->g->node[k], *def = node->n_in ? ti_def(f->g, node->in[0]) : NULL;
        while (def && ti_spectra_moves(def))
            def = ti_def(f->g, def->in[0]);
        if (def && def->n_out && ti_spectra_ends(f, node) && !f->fixed[def->out[0]] &&
            f->level[def->out[0]] > TC_LEVEL_io && f->scheme[def->out[0]].act.dtype == TC_none &&
            f->level[node->out[0]] < TC_LEVEL_node)
            f->real[node->out[0]] = true;
    }
}

void ti_spectra_leave(tc_ctx *ctx, tc_dataflow *f)
{
    if (f->config->anchor)
        return;
    if (f->config->real_spectra)
        leave_powers(ctx, f);
    if (f->config->transform == TC_f32)
        leave_transforms(ctx, f);
    leave_ends(f);
}

/* Two layers of one operand are one transform in C. */
static void pair_up(const tc_graph *g, tc_fouriers *all, const tc_val *layer)
{
    for (size_t i = 0; i < all->n; i++)
        for (size_t k = i + 1; k < all->n; k++)
            if (ti_def(g, layer[i])->in[0] == ti_def(g, layer[k])->in[0] && all->item[i].points == all->item[k].points &&
                !all->item[i].paired && !all->item[k].paired) {
                double both = all->item[i].fewer + all->item[k].fewer;
                all->item[i].fewer = all->item[k].fewer = both;
                all->item[i].paired = all->item[k].paired = true;
            }
}

void ti_spectra_fouriers(tc_ctx *ctx, tc_module *module, const tc_config *config, tc_fouriers *out)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    const tc_graph *g = ti_main(module);
    tc_dataflow f = ti_dataflow_of(ctx, g, config, NULL);
    tc_spectra s = ti_spectra_find(ctx, &f);
    tc_val *layer = tc_new_n(&ctx->scratch, tc_val, g->n_node + 1);
    for (size_t k = 0; k < g->n_node && s.any; k++) {
        const tc_node *node = g->node[k];
        tc_dft d;
        if (node->n_out != 1 || s.value[node->out[0]].kind != TC_SPECTRAL_part || !is_fourier(ctx, &f, node, &d))
            continue;
        tc_grow(&ctx->arena, out->item, out->n, out->cap);
        layer[out->n] = node->out[0];
        out->item[out->n++] =
            (tc_fourier){.node = node->loc && node->loc->node ? node->loc->node : "",
                         .points = d.points,
                         .fewer = ti_dft_matrix_operations(&d) / ti_dft_quick_operations(&d),
                         .real = f.real[node->out[0]]};
    }
    pair_up(g, out, layer);
    ti_arena_rewind(&ctx->scratch, mark);
}
