/* SPDX-License-Identifier: Apache-2.0 */
/* spectra_form.c -- power spectra in the form that spectra.c gives types to.
 *
 *   square(move(sqrt(x)))  =  move(x)
 *   clamp(x, lo, inf)      =  maximum(x, lo)      whose lo is a code of its own, never 0
 *   relu(x)                =  x
 *   |x| * |x|              =  x * x
 *   W x                    =  linear(x', W)'
 *   log(x * x + y * y + c) =  2 log(hypot(hypot(x, y), sqrt(c)))
 *   sqrt(x * x + y * y)    =  hypot(x, y)         before bands and a logarithm
 *
 * The last has no sum that squares must fit: i32 then spans 186 dB instead of 93.  Where transforms are
 * to have 16-bit weights, split_transforms.c comes last.  Another form of its own, where levels differ:
 *
 *   log(W (x * x + y * y) + c) = log_bands(x, W, y)     with a power of two for each frame */
#include "spectra.h"

#include <math.h>

#include "../base/real.h"
#include "../ir/build.h"
#include "../num/load.h"

typedef struct forming {
    const tc_dataflow *f;
    const tc_spectra *s;
} forming;

/* The moves from the root to v, over `x` instead of the root. */
static tc_val moved(tc_build *b, const tc_graph *from, tc_val v, tc_val x)
{
    const tc_node *node = ti_def(from, v);
    if (node->op == TC_OP_sqrt)
        return x;
    x = moved(b, from, node->in[0], x);
    return x ? ti_b_op(b, node->op, node->attr, &x, 1) : x;
}

/* W x, x [.., k, n], as a layer of its columns. */
static tc_val layered(tc_build *b, tc_val w, tc_val x)
{
    int rank = ti_b_type(b, x)->rank;
    int64_t perm[TC_MAX_RANK];
    for (int i = 0; i < rank; i++)
        perm[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    x = ti_b_permute(b, x, perm);
    x = x ? ti_b_op(b, TC_OP_linear, NULL, (tc_val[]){x, w}, 2) : x;
    return x ? ti_b_permute(b, x, perm) : x;
}

/* W sqrt(x), x a power: likewise. */
static tc_status left_of_root(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const forming *w = rw->user;
    const tc_node *def = node->op == TC_OP_matmul ? ti_def(w->f->g, node->in[1]) : NULL;
    while (def && ti_spectra_moves(def))
        def = ti_def(w->f->g, def->in[0]);
    if (!def || def->op != TC_OP_sqrt || w->s->value[def->in[0]].kind != TC_SPECTRAL_power ||
        !w->f->fixed[node->in[0]] || ti_type_of(w->f->g, node->in[0])->rank != 2 ||
        ti_type_of(w->f->g, node->in[1])->rank < 2)
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    tc_val x = layered(&b, rw->now[node->in[0]], rw->now[node->in[1]]);
    return b.status == TC_OK && x ? ti_rewrite_with(rw, node, x, done) : b.status;
}

static tc_status take(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const forming *w = rw->user;
    tc_val v = node->n_out == 1 ? node->out[0] : TC_NONE;
    if (!v || w->s->value[v].kind != TC_SPECTRAL_power)
        return left_of_root(rw, node, done);
    tc_val part = ti_spectra_squared(w->f, node), x = ti_spectra_rooted(w->f, node);
    tc_build b = ti_build_instead(rw, node);
    if (x)
        x = moved(&b, rw->from, part, rw->now[x]);
    else if (part && part != node->in[0])
        x = ti_b_mul(&b, rw->now[part], rw->now[part]);
    else if (node->op == TC_OP_matmul)
        x = layered(&b, rw->now[node->in[0]], rw->now[node->in[1]]);
    else if (node->op == TC_OP_relu)
        x = ti_b_in(&b, 0);
    else if (node->op == TC_OP_clamp) {
        double lo = ((const tc_attr_clamp *)node->attr)->lo;
        x = lo > 0 ? ti_b_maximum(&b, ti_b_in(&b, 0), ti_b_scalar(&b, TC_f32, lo)) : ti_b_in(&b, 0);
    }
    if (b.status != TC_OK || !x)
        return b.status;
    return ti_rewrite_with(rw, node, x, done);
}

/* ---- logarithms of sizes ---- */

/* The two parts whose squares v adds. */
static bool parts_of(const forming *w, const tc_node *node, tc_val part[2])
{
    const tc_graph *g = w->f->g;
    const tc_attr_axes *axes = node->op == TC_OP_sum ? node->attr : NULL;
    if (axes) {
        const tc_type *t = ti_type_of(g, node->in[0]);
        part[0] = part[1] = ti_spectra_squared(w->f, ti_def(g, node->in[0]));
        return part[0] && axes->axes.n == 1 && t->dim[axes->axes.v[0]] == 2;
    }
    for (int i = 0; i < 2 && node->op == TC_OP_add; i++) {
        const tc_node *def = ti_def(g, node->in[i]);
        part[i] = def ? ti_spectra_squared(w->f, def) : TC_NONE;
    }
    return node->op == TC_OP_add && part[0] && part[1];
}

/* The number that is added to v's power or bounds it; 0: none. */
static double floor_of(const forming *w, const tc_node *node)
{
    tc_tensor t = node->op == TC_OP_add || node->op == TC_OP_maximum
                      ? ti_tensor_of(w->f->g, node->in[1])
                      : (tc_tensor){NULL, NULL};
    return t.data && tc_type_count(t.type) == 1 ? ti_load_f64(t, 0) : 0;
}

/* The i-th of the two parts whose squares the node adds. */
static tc_val one_part(const forming *w, const tc_node *node, tc_val part, int i, tc_build *to,
                       const tc_rewrite *rw)
{
    const tc_attr_axes *a = node->op == TC_OP_sum ? node->attr : NULL;
    const tc_type *t = ti_type_of(w->f->g, node->out[0]);
    tc_val x = rw->now[part];
    if (a)
        x = ti_b_slice(to, x, a->axes.v[0], i, i + 1, 1);
    return a && !a->keepdim ? ti_b_reshape(to, x, t->rank, t->dim) : x;
}

/* v is a power, of parts in i32, in the unit of their squares. */
static bool has_parts(const forming *w, tc_val v)
{
    const tc_spectral_value *value = &w->s->value[v];
    const tc_spectral_group *group = &w->s->group[value->group];
    return value->kind == TC_SPECTRAL_power && group->from < 0 && !group->size && group->wide &&
           value->factor == 1;
}

/* v, a power, as a size: its square root.  to NULL: only whether it can be. */
static bool as_size(const forming *w, tc_val v, tc_build *to, const tc_rewrite *rw, tc_val *out)
{
    const tc_node *node = ti_def(w->f->g, v);
    tc_val part[2];
    if (!has_parts(w, v))
        return false;
    if (parts_of(w, node, part)) {
        tc_val x[2] = {TC_NONE, TC_NONE};
        for (int i = 0; to && i < 2; i++)
            x[i] = one_part(w, node, part[i], i, to, rw);
        if (to)
            *out = ti_b_op(to, TC_OP_hypot, NULL, x, 2);
        return true;
    }
    double least = floor_of(w, node);
    bool moves = ti_spectra_moves(node);
    if ((!moves && !(least > 0)) || !as_size(w, node->in[0], to, rw, out))
        return false;
    if (!to || !*out)
        return true;
    if (moves)
        *out = ti_b_op(to, node->op, node->attr, out, 1);
    else
        *out = ti_b_op(to, node->op == TC_OP_add ? TC_OP_hypot : TC_OP_maximum, NULL,
                       (tc_val[]){*out, ti_b_scalar(to, TC_f32, sqrt(least))}, 2);
    return true;
}

/* v, a power, as the two parts whose squares it adds.  to NULL: only whether it can be. */
static bool as_parts(const forming *w, tc_val v, tc_build *to, const tc_rewrite *rw, tc_val out[2])
{
    const tc_node *node = ti_def(w->f->g, v);
    tc_val part[2];
    if (!has_parts(w, v))
        return false;
    if (parts_of(w, node, part)) {
        for (int i = 0; to && i < 2; i++)
            out[i] = one_part(w, node, part[i], i, to, rw);
        return true;
    }
    if (!ti_spectra_moves(node) || !as_parts(w, node->in[0], to, rw, out))
        return false;
    for (int i = 0; to && i < 2 && out[i]; i++)
        out[i] = ti_b_op(to, node->op, node->attr, &out[i], 1);
    return true;
}

static bool is_log(const tc_node *node)
{
    return node->op == TC_OP_log || node->op == TC_OP_log2 || node->op == TC_OP_log10;
}

/* Every reader, by way of bands, sums with constants and moves, is a logarithm; bands: some are. */
static bool leads_to_log(const forming *w, tc_val v, bool *bands)
{
    const tc_dataflow *f = w->f;
    bool all = !f->leaves[v] && f->first[v] < f->first[v + 1];
    for (uint32_t u = f->first[v]; all && u < f->first[v + 1]; u++) {
        const tc_node *node = f->use[u].node;
        tc_tensor by = ti_tensor_of(f->g, node->n_in > 1 ? node->in[1] : TC_NONE);
        bool layer = node->op == TC_OP_linear && f->use[u].operand == 0 && by.data &&
                     (node->n_in == 2 || !node->in[2]);
        for (int64_t i = 0; layer && i < tc_type_count(by.type); i++)
            layer = ti_load_f64(by, i) >= 0;
        bool passes = layer || ti_spectra_moves(node) || floor_of(w, node) > 0;
        *bands = *bands || layer;
        all = ti_dataflow_quantizes(f, node) &&
              (is_log(node) || (passes && leads_to_log(w, node->out[0], bands)));
    }
    return all;
}

static tc_status take_log(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const forming *w = rw->user;
    bool bands = false, root = node->op == TC_OP_sqrt && leads_to_log(w, node->out[0], &bands);
    tc_val x = TC_NONE;
    if ((!is_log(node) && !(root && bands)) || !ti_dataflow_quantizes(w->f, node) ||
        !as_size(w, node->in[0], NULL, rw, &x))
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    as_size(w, node->in[0], &b, rw, &x);
    if (root)
        return b.status == TC_OK && x ? ti_rewrite_with(rw, node, x, done) : b.status;
    x = x ? ti_b_mul_n(&b, ti_b_op(&b, node->op, node->attr, &x, 1), 2) : x;
    return b.status == TC_OK && x ? ti_rewrite_with(rw, node, x, done) : b.status;
}

/* The bands that a logarithm reads, by way of moves and a floor; NULL: none, or others read them. */
static const tc_node *bands_of(const forming *w, tc_val v, double *floor, bool *adds)
{
    const tc_dataflow *f = w->f;
    const tc_node *node = ti_def(f->g, v);
    for (; node; node = ti_def(f->g, node->in[0])) {
        bool one = f->first[node->out[0]] + 1 == f->first[node->out[0] + 1];
        double least = floor_of(w, node);
        if (!one || f->leaves[node->out[0]] || w->s->value[node->out[0]].kind != TC_SPECTRAL_power)
            return NULL;
        if (node->op == TC_OP_linear)
            return (node->n_in == 2 || !node->in[2]) && *floor > 0 && as_parts(w, node->in[0], NULL, NULL, NULL) ? node : NULL;
        if (*floor > 0 ? !ti_spectra_moves(node) : !(least > 0) && !ti_spectra_moves(node))
            return NULL;
        *adds = least > 0 ? node->op == TC_OP_add : *adds;
        *floor = least > 0 ? least : *floor;
    }
    return NULL;
}

/* The moves between the logarithm's operand v and its bands, over `x`. */
static tc_val moved_bands(tc_build *b, const forming *w, tc_val v, tc_val x)
{
    const tc_node *node = ti_def(w->f->g, v);
    if (node->op == TC_OP_linear)
        return x;
    x = moved_bands(b, w, node->in[0], x);
    return x && ti_spectra_moves(node) ? ti_b_op(b, node->op, node->attr, &x, 1) : x;
}

static tc_status take_bands(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const forming *w = rw->user;
    double floor = 0;
    bool adds = false;
    if (!is_log(node) || !ti_dataflow_quantizes(w->f, node))
        return TC_OK;
    const tc_node *bands = bands_of(w, node->in[0], &floor, &adds);
    tc_val part[2] = {TC_NONE, TC_NONE};
    if (!bands)
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    double octave = node->op == TC_OP_log2 ? 1 : node->op == TC_OP_log ? ti_log(2) : ti_log10(2);
    as_parts(w, bands->in[0], &b, rw, part);
    tc_val in[] = {part[0], rw->now[bands->in[1]], part[1]};
    tc_val x = ti_b_op(&b, TC_OP_log_bands, ti_b_attr(&b, bands, .floor = floor, .adds = adds, .octave = octave), in, 3);
    x = x ? moved_bands(&b, w, node->in[0], x) : x;
    return b.status == TC_OK && x ? ti_rewrite_with(rw, node, x, done) : b.status;
}

/* Roots, and their moves, that nothing reads any more. */
static tc_status drop_unread(tc_rewrite *rw, const tc_node *node, bool *done)
{
    bool *any = rw->user;
    *done = node->n_out == 1 && node->n_in > 0 && !rw->readers[node->out[0]];
    *any = *any || *done;
    return TC_OK;
}

/* One rewriter over the spectra that there are. */
static tc_status form(tc_ctx *ctx, tc_module *module, const tc_config *config,
                      tc_rewriter *rewriter, bool *found)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_graph was = *ti_main(module); /* rewriting replaces its contents */
    tc_dataflow f = ti_dataflow_of(ctx, ti_main(module), config, NULL);
    tc_spectra s = ti_spectra_find(ctx, &f);
    forming w = {&f, &s};
    f.g = &was;
    *found = s.any;
    tc_status status = s.any ? ti_rewrite_graph(ti_main(module), &rewriter, 1, &w) : TC_OK;
    ti_arena_rewind(&ctx->scratch, mark);
    return status;
}

static tc_status sweep(tc_module *module)
{
    static tc_rewriter *const sweepers[] = {drop_unread};
    tc_status status = TC_OK;
    for (bool any = true; any && status == TC_OK;) {
        any = false;
        status = ti_rewrite_graph(ti_main(module), sweepers, TC_COUNT(sweepers), &any);
    }
    return status;
}

tc_status ti_spectra_form(tc_ctx *ctx, tc_module *module, const tc_config *config, bool *found)
{
    bool any;
    TC_TRY(form(ctx, module, config, take, found));
    if (*found) {
        TC_TRY(sweep(module));
        TC_TRY(form(ctx, module, config, take_log, &any));
        TC_TRY(sweep(module));
    }
    return config->transform == TC_i16 ? ti_spectra_split(ctx, module, config, &any) : TC_OK;
}

tc_status ti_spectra_frame(tc_ctx *ctx, tc_module *module, const tc_config *config, bool *any)
{
    size_t before = ti_main(module)->n_node;
    bool found;
    TC_TRY(form(ctx, module, config, take_bands, &found));
    TC_TRY(sweep(module));
    *any = ti_main(module)->n_node != before;
    return TC_OK;
}
