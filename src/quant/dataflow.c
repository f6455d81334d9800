/* SPDX-License-Identifier: Apache-2.0 */
/* dataflow.c -- see dataflow.h.  Everything here follows from the def-use graph; the order of nodes
 * does not matter. */
#include "dataflow.h"

#include <math.h>

#include "../base/mapped.h"
#include "../num/load.h"
#include "spectra.h"

/* ---- readers ---- */

static void list_uses(tc_ctx *ctx, tc_dataflow *f)
{
    const tc_graph *g = f->g;
    uint32_t *first = tc_new_n(&ctx->scratch, uint32_t, g->n_val + 2);
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++)
            first[g->node[k]->in[i] + 1]++;
    for (size_t v = 0; v < g->n_val; v++)
        first[v + 1] += first[v];
    uint32_t *at = ti_arena_copy(&ctx->scratch, first, (g->n_val + 2) * sizeof *first);
    tc_use *use = tc_new_n(&ctx->scratch, tc_use, first[g->n_val] + 1u);
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++)
            use[at[g->node[k]->in[i]]++] = (tc_use){g->node[k], i};
    f->use = use;
    f->first = first;
    for (size_t i = 0; i < g->n_out; i++)
        f->leaves[g->out[i]] = true;
    for (size_t i = 0; i < g->n_mutation; i++) {
        f->leaves[g->mutation[i].after] = true;
        f->state[g->mutation[i].before] = true;
    }
}

const tc_node *ti_dataflow_reader(const tc_dataflow *f, tc_val v)
{
    uint32_t first = f->first[v], n = f->first[v + 1] - first;
    return n == 1 && !f->leaves[v] ? f->use[first].node : NULL;
}

/* The same after permutes, each the only reader of its operand. */
static const tc_node *reader_behind(const tc_dataflow *f, tc_val v)
{
    const tc_node *reader = ti_dataflow_reader(f, v);
    while (reader && reader->op == TC_OP_permute)
        reader = ti_dataflow_reader(f, reader->out[0]);
    return reader;
}

/* ---- what is known beforehand ---- */

static bool holds_huge(const tc_ctx *ctx, tc_tensor t)
{
    if (!t.data || t.type->dtype != TC_f32)
        return false;
    const float *x = t.data;
    int64_t n = tc_type_count(t.type), i = 0;
    while (i < n && fabsf(x[i]) < TC_HUGE)
        i++;
    ti_mapped_forget(ctx, t.data, tc_type_bytes(t.type));
    return i < n;
}

/* Unbounded values pass through these. */
static bool passes_huge(const tc_node *node, int i)
{
    switch (node->op) {
    case TC_OP_add:
    case TC_OP_sub:
    case TC_OP_mul:
    case TC_OP_div:
    case TC_OP_neg:
        return true;
    default:
        return ti_role_carries(node, i);
    }
}

static void find_constants(tc_dataflow *f)
{
    const tc_graph *g = f->g;
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        const tc_op_info *info = &tc_ops[node->op];
        bool fixed = !(info->traits & (T_CONTROL | T_STATE)) && info->kernel, huge = false;
        for (int i = 0; i < node->n_in; i++) {
            fixed = fixed && (!node->in[i] || f->fixed[node->in[i]]);
            huge = huge || (f->huge[node->in[i]] && passes_huge(node, i));
        }
        if (node->op == TC_OP_full)
            huge = !(fabs(((const tc_attr_full *)node->attr)->value) < (double)TC_HUGE);
        for (int i = 0; i < node->n_out; i++) {
            tc_val v = node->out[i];
            f->fixed[v] = node->op == TC_OP_const ? !f->state[v] : fixed;
            f->huge[v] =
                ti_dataflow_is_f32(f, v) &&
                (node->op == TC_OP_const ? holds_huge(g->module->ctx, ti_tensor_of(g, v)) : huge);
        }
    }
}

static void mark_never(tc_dataflow *f, const float *never)
{
    for (size_t v = 1; v < f->g->n_val && never; v++)
        f->huge[v] = f->huge[v] || never[v] > 0;
}

double ti_dataflow_factor(const tc_dataflow *f, const tc_node *node, tc_val *x)
{
    bool divides =
        node->op == TC_OP_div && ((const tc_attr_div *)node->attr)->mode == TC_div_mode_exact;
    if (node->op != TC_OP_mul && !divides)
        return 0;
    for (int i = 1; i >= (divides ? 1 : 0); i--) {
        tc_tensor c = ti_tensor_of(f->g, node->in[i]);
        *x = node->in[1 - i];
        if (!c.data || !f->fixed[node->in[i]] || tc_type_count(c.type) != 1 ||
            !ti_same_dims(ti_type_of(f->g, *x), ti_type_of(f->g, node->out[0])))
            continue;
        double factor = ti_load_f64(c, 0);
        return divides ? 1 / factor : factor;
    }
    return 0;
}

/* ---- state ---- */

enum { CLOCK_MOST = 1024 }; /* elements */

/* Counters, positions and what derives from them: a program with inputs computes them in integers.
 * Their range depends on the number of calls, which calibration does not know. */
static void find_clocks(tc_dataflow *f)
{
    const tc_graph *g = f->g;
    for (size_t i = 0; i < g->n_mutation && g->n_in; i++) /* others change it: not a counter */
        f->clock[g->mutation[i].before] = g->mutation[i].before != g->mutation[i].after;
    for (bool changed = true; changed;) {
        for (size_t k = 0; k < g->n_node; k++) {
            const tc_node *node = g->node[k];
            bool all = true, any = false;
            for (int i = 0; i < node->n_in; i++) {
                all = all && (!node->in[i] || f->fixed[node->in[i]] || f->clock[node->in[i]]);
                any = any || f->clock[node->in[i]];
            }
            for (int i = 0; i < node->n_out && node->op != TC_OP_const; i++)
                f->clock[node->out[i]] =
                    all && any && tc_type_count(ti_type_of(g, node->out[i])) <= CLOCK_MOST;
        }
        changed = false;
        for (size_t i = 0; i < g->n_mutation; i++) {
            tc_val before = g->mutation[i].before, after = g->mutation[i].after;
            bool stays = f->clock[before] && (f->clock[after] || f->fixed[after]) &&
                         tc_type_count(ti_type_of(g, before)) <= CLOCK_MOST;
            changed = changed || stays != f->clock[before];
            f->clock[before] = stays;
        }
    }
}

/* Whether v is a sum, multiple or movement of `from`, through no other kind of operator. */
static bool sums_over(const tc_dataflow *f, tc_val v, tc_val from, int depth)
{
    if (v == from)
        return true;
    const tc_node *def = ti_def(f->g, v);
    if (!def || depth > 16 || f->fixed[v])
        return false;
    bool linear = def->op == TC_OP_add || def->op == TC_OP_sub || def->op == TC_OP_mul ||
                  def->op == TC_OP_div || def->op == TC_OP_lerp;
    for (int i = 0; i < def->n_in; i++)
        if ((linear || ti_role_carries(def, i)) && sums_over(f, def->in[i], from, depth + 1))
            return true;
    return false;
}

bool ti_dataflow_accumulates(const tc_dataflow *f, size_t mutation)
{
    const tc_mutation *m = &f->g->mutation[mutation];
    for (tc_val v = m->after; v != m->before;) { /* movement alone keeps every element */
        const tc_node *def = ti_def(f->g, v);
        bool moves = def && def->n_in && ti_role_carries(def, 0);
        if (!moves)
            return sums_over(f, v, m->before, 0);
        v = def->in[0];
    }
    return false;
}

/* ---- attention ---- */

/* Whether v comes from a product through scaling, masks and movement only, each read once, or is
 * masked itself; if so, everything on the way is scores. */
static bool find_scores(tc_dataflow *f, tc_val v, int depth)
{
    const tc_node *def = ti_def(f->g, v);
    if (!def || depth > 16 || !ti_dataflow_reader(f, v) || !ti_dataflow_is_f32(f, v))
        return false;
    bool found = false;
    tc_val x;
    if (def->op == TC_OP_matmul || def->op == TC_OP_addmm || def->op == TC_OP_einsum)
        found = true;
    else if (def->op == TC_OP_add || def->op == TC_OP_sub)
        found =
            (int)find_scores(f, def->in[0], depth + 1) | (int)find_scores(f, def->in[1], depth + 1);
    else if (ti_dataflow_factor(f, def, &x) != 0)
        found = find_scores(f, x, depth + 1);
    else if (ti_role_moves(def))
        for (int i = 0; i < def->n_in; i++)
            if (ti_role_carries(def, i) && find_scores(f, def->in[i], depth + 1))
                found = true;
    found = found || (def->op == TC_OP_where && f->huge[def->in[1]] != f->huge[def->in[2]]);
    found = found || ((def->op == TC_OP_add || def->op == TC_OP_sub) &&
                      f->huge[def->in[0]] != f->huge[def->in[1]]);
    f->score[v] = f->score[v] || found;
    return found;
}

/* A mask that was not recognized, and that is added to scores only: its range is the part that a
 * softmax distinguishes from 0 (ti_quant_fit_masks). */
static bool lies_over_scores(const tc_dataflow *f, tc_val v)
{
    bool any = false;
    for (uint32_t u = f->first[v]; u < f->first[v + 1]; u++) {
        const tc_node *node = f->use[u].node;
        bool sum = node->op == TC_OP_add && f->score[node->out[0]];
        bool moves = ti_role_carries(node, f->use[u].operand) && f->mask[node->out[0]];
        if (!sum && !moves)
            return false;
        any = true;
    }
    return any && !f->leaves[v];
}

static void clear_masks(tc_dataflow *f)
{
    const tc_graph *g = f->g;
    for (size_t k = g->n_node; k-- > 0;)
        for (int i = 0; i < g->node[k]->n_out; i++) {
            tc_val v = g->node[k]->out[i];
            f->mask[v] =
                f->huge[v] && !f->fixed[v] && !f->score[v] && lies_over_scores(f, v);
            f->huge[v] = f->huge[v] && !f->mask[v];
        }
    for (size_t i = 0; i < g->n_in; i++) {
        f->mask[g->in[i]] = f->huge[g->in[i]] && lies_over_scores(f, g->in[i]);
        f->huge[g->in[i]] = f->huge[g->in[i]] && !f->mask[g->in[i]];
    }
}

/* The reader uses only extremes, or feeds such a reader: values beyond all others may be clamped
 * just outside of them. */
static bool asks_order(const tc_dataflow *f, const tc_use *use)
{
    const tc_node *node = use->node;
    switch (node->op) {
    case TC_OP_argmax:
    case TC_OP_argmin:
        return true;
    case TC_OP_amax:
    case TC_OP_amin:
    case TC_OP_max_dim:
    case TC_OP_min_dim:
    case TC_OP_max_pool:
    case TC_OP_adaptive_max_pool:
        return !f->huge[node->out[0]];
    default:
        return ti_role_carries(node, use->operand) && f->cut[node->out[0]];
    }
}

/* Selections that only such operators read keep codes. */
static void cut_ordered(tc_dataflow *f, const float *never)
{
    const tc_graph *g = f->g;
    for (size_t k = g->n_node; k-- > 0;) {
        const tc_node *node = g->node[k];
        tc_val v = node->n_out == 1 ? node->out[0] : TC_NONE;
        bool makes = node->op == TC_OP_where || node->op == TC_OP_cat ||
                     node->op == TC_OP_reshape || node->op == TC_OP_permute ||
                     node->op == TC_OP_expand;
        bool all = v && makes && never[v] > 0 && f->huge[v] && !f->score[v] && !f->fixed[v] &&
                   !f->leaves[v] && f->first[v] < f->first[v + 1];
        for (uint32_t u = f->first[v]; all && u < f->first[v + 1]; u++)
            all = asks_order(f, &f->use[u]);
        f->cut[v] = all;
        f->huge[v] = f->huge[v] && !all;
    }
}

/* ---- which operators are quantized ---- */

static bool never_quantized(tc_op op)
{
    return ti_op_sees_storage(op) || op == TC_OP_fake_quantize || op == TC_OP_choose_qparams ||
           op == TC_OP_fft || (tc_ops[op].traits & T_STATE);
}

bool ti_dataflow_quantizes(const tc_dataflow *f, const tc_node *node)
{
    return node->op != TC_OP_const && !never_quantized(node->op) && node->n_out &&
           f->scheme[node->out[0]].act.dtype != TC_none && !f->fixed[node->out[0]] &&
           !f->clock[node->out[0]] && !f->asked[node->out[0]] && !f->real[node->out[0]];
}

/* Its result gets an accumulator's domain unless a narrower one is requested
 * (widen_accumulators.c).
 */
static bool accumulates(const tc_dataflow *f, const tc_node *node)
{
    switch (node->op) {
    case TC_OP_conv:
    case TC_OP_linear:
    case TC_OP_add:
    case TC_OP_sub:
    case TC_OP_batch_norm:
        return true;
    case TC_OP_conv_transpose:
        return ((const tc_attr_conv_transpose *)node->attr)->groups == 1;
    case TC_OP_matmul: /* a constant factor has a scale for each channel */
        return !f->fixed[node->in[0]] && !f->fixed[node->in[1]];
    default:
        return false;
    }
}

/* A product or sum that its only reader clamps, in whatever order of axes.  The anchor does it for
 * convolutions and linear layers. */
static bool waits(const tc_dataflow *f, const tc_node *node)
{
    tc_val v = node->out[0];
    const tc_node *reader = reader_behind(f, v);
    if (!reader || !ti_role_clamps(reader->op) || !ti_dataflow_quantizes(f, node) ||
        !ti_dataflow_quantizes(f, reader) || f->level[v] >= TC_LEVEL_target)
        return false;
    if (!f->config->anchor)
        return accumulates(f, node);
    bool from_zero = reader->op == TC_OP_relu || (((const tc_attr_clamp *)reader->attr)->lo == 0 &&
                                                  ti_anchor_spelled(reader, TC_SPELLED_HARDTANH));
    return (node->op == TC_OP_conv || node->op == TC_OP_linear ||
            node->op == TC_OP_conv_transpose) &&
           from_zero && !f->scheme[reader->out[0]].act.symmetric;
}

/* `moved`: values that are only moved count too, for programs that only move data.  Whether any
 * value is produced. */
static bool mark_born(tc_dataflow *f, bool moved)
{
    const tc_graph *g = f->g;
    bool any = false;
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        bool quantizes = ti_dataflow_quantizes(f, node), moves = ti_role_moves(node),
             born = quantizes && (!moves || (moved && node->n_in > 0));
        for (int i = 0; moves && quantizes && i < node->n_in; i++)
            born = born || (ti_role_carries(node, i) && f->born[node->in[i]]);
        for (int i = 0; i < node->n_out; i++) {
            tc_val v = node->out[i];
            f->waits[v] = node->n_out == 1 &&
                          (node->op == TC_OP_permute ? f->waits[node->in[0]] : waits(f, node));
            bool huge = f->huge[v] && !f->score[v];
            f->born[v] = born && ti_dataflow_is_f32(f, v) && !f->waits[v] && !huge;
            any = any || f->born[v];
        }
        for (size_t i = 0; node->op == TC_OP_const && i < g->n_mutation; i++)
            if (g->mutation[i].before == node->out[0])
                f->born[node->out[0]] = f->typed_state[i];
    }
    return any;
}

static void find_born(tc_dataflow *f)
{
    if (!mark_born(f, false))
        mark_born(f, true);
}

/* From readers back to producers. */
static void find_needs(tc_dataflow *f)
{
    const tc_graph *g = f->g;
    memset(f->need_real, 0, g->n_val * sizeof *f->need_real);
    memset(f->need_typed, 0, g->n_val * sizeof *f->need_typed);
    for (size_t i = 0; i < g->n_out; i++) {
        f->need_real[g->out[i]] = true;
        f->need_typed[g->out[i]] = f->config->out.has;
    }
    for (size_t i = 0; i < g->n_mutation; i++)
        (f->typed_state[i] ? f->need_typed : f->need_real)[g->mutation[i].after] = true;
    for (size_t k = g->n_node; k-- > 0;) {
        const tc_node *node = g->node[k];
        bool quantizes = ti_dataflow_quantizes(f, node), typed = false, real = false;
        for (int i = 0; i < node->n_out; i++) {
            typed = typed || f->need_typed[node->out[i]] || f->born[node->out[i]];
            real = real || f->need_real[node->out[i]];
        }
        for (int i = 0; i < node->n_in; i++) {
            tc_val v = node->in[i];
            bool moved = ti_role_carries(node, i), huge = f->huge[v] && !f->score[v];
            bool takes = quantizes && !ti_role_real(node, i) && !huge && (!moved || typed);
            f->need_typed[v] = f->need_typed[v] || takes;
            f->need_real[v] = f->need_real[v] || !takes || (moved && real);
        }
    }
}

/* Buffers that quantized operators read or write hold codes, which may make more buffers do so. */
static void find_forms(tc_dataflow *f)
{
    const tc_graph *g = f->g;
    for (bool changed = true; changed;) {
        find_born(f);
        find_needs(f);
        changed = false;
        for (size_t i = 0; i < g->n_mutation; i++) {
            tc_val before = g->mutation[i].before, after = g->mutation[i].after;
            bool can = ti_dataflow_is_f32(f, before) && !f->clock[before] && !f->huge[before] &&
                       (!f->huge[after] || f->score[after]);
            if (f->typed_state[i] || !can || !(f->need_typed[before] || f->born[after]))
                continue;
            f->typed_state[i] = changed = true;
        }
    }
}

bool ti_dataflow_wants_domain(const tc_dataflow *f, tc_val v)
{
    return v && ti_dataflow_is_f32(f, v) && !f->fixed[v] && !f->waits[v] &&
           !(f->huge[v] && !f->score[v]) && (f->born[v] || f->need_typed[v]);
}

tc_dataflow ti_dataflow_of(tc_ctx *ctx, const tc_graph *g, const tc_config *config,
                           const float *never)
{
    tc_dataflow f = {.g = g, .config = config};
    bool **flags[] = {&f.leaves, &f.state, &f.clock, &f.fixed,      &f.huge,     &f.asked, &f.real,
                      &f.score, &f.mask, &f.cut,  &f.waits, &f.born,  &f.need_typed, &f.need_real};
    for (size_t i = 0; i < TC_COUNT(flags); i++)
        *flags[i] = tc_new_n(&ctx->scratch, bool, g->n_val + 1);
    f.typed_state = tc_new_n(&ctx->scratch, bool, g->n_mutation + 1);
    f.scheme = tc_new_n(&ctx->scratch, tc_scheme, g->n_val + 1);
    f.level = tc_new_n(&ctx->scratch, tc_level, g->n_val + 1);
    for (size_t v = 1; v < g->n_val; v++) {
        const tc_node *def = g->val[v]->def;
        f.scheme[v] = ti_config_scheme(config, def ? def->loc : NULL, g->val[v]->name, &f.level[v]);
    }
    list_uses(ctx, &f);
    find_constants(&f);
    mark_never(&f, never);
    find_clocks(&f);
    if (!config->anchor)
        ti_dataflow_find_asked(ctx, &f);
    for (size_t k = 0; k < g->n_node && !config->anchor; k++)
        if (g->node[k]->op == TC_OP_softmax)
            find_scores(&f, g->node[k]->in[0], 0);
    if (never) {
        clear_masks(&f);
        cut_ordered(&f, never);
    }
    ti_spectra_leave(ctx, &f);
    find_forms(&f);
    return f;
}
