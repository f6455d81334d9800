/* SPDX-License-Identifier: Apache-2.0 */
/* spectra.c -- where a program has spectra: powers from their ends back to the squares, and the parts
 * that are squared; see spectra.h. */
#include "spectra.h"

#include <math.h>

#include "../base/real.h"
#include "../num/load.h"
#include "observations.h"

enum { DEEPEST = 256 };

typedef struct finder {
    tc_ctx *ctx;
    const tc_dataflow *f;
    tc_spectra *s;
    bool *tried;     /* by value: looked at; those of kind none are no powers */
    bool *linear;    /* by value: made from inputs by linear operators */
    bool *looked;    /* by value: `linear` is known */
} finder;

/* ---- groups ---- */

int32_t ti_spectra_root(const tc_spectra *s, int32_t group)
{
    while (s->group[group].same != group)
        group = s->group[group].same;
    return group;
}

static int32_t new_group(finder *d, tc_spectral_group group)
{
    tc_spectra *s = d->s;
    group.same = (int32_t)s->n_group;
    tc_grow(&d->ctx->scratch, s->group, s->n_group, s->cap_group);
    s->group[s->n_group++] = group;
    return group.same;
}

/* Sums of squares merge; those of layers do not. */
static bool merge(finder *d, int32_t a, int32_t b)
{
    tc_spectra *s = d->s;
    a = ti_spectra_root(s, a);
    b = ti_spectra_root(s, b);
    if (a == b)
        return true;
    tc_spectral_group *x = &s->group[a], *y = &s->group[b];
    if (x->from >= 0 || y->from >= 0 || x->size != y->size)
        return false;
    x->good = x->good && y->good;
    x->wide = x->wide && y->wide;
    y->same = a;
    return true;
}

/* ---- operators ---- */

static bool is_fixed(const finder *d, tc_val v) { return v && d->f->fixed[v]; }

/* The least and the largest element of a constant; false: it is not known yet. */
static bool ends_of(const finder *d, tc_val v, double *lo, double *hi)
{
    tc_tensor t = ti_tensor_of(d->f->g, v);
    if (!t.data || !is_fixed(d, v) || t.type->dtype != TC_f32)
        return false;
    *lo = INFINITY;
    *hi = -INFINITY;
    for (int64_t i = 0; i < tc_type_count(t.type); i++) {
        *lo = fmin(*lo, (double)((const float *)t.data)[i]);
        *hi = fmax(*hi, (double)((const float *)t.data)[i]);
    }
    return true;
}

tc_val ti_spectra_squared(const tc_dataflow *f, const tc_node *node)
{
    if (node->op != TC_OP_mul || node->in[0] != node->in[1])
        return TC_NONE;
    const tc_node *def = ti_def(f->g, node->in[0]);
    return def && def->op == TC_OP_abs ? def->in[0] : node->in[0];
}

bool ti_spectra_moves(const tc_node *node)
{
    return TC_OP_IN(node->op, TC_OP_identity, TC_OP_reshape, TC_OP_permute, TC_OP_slice,
                    TC_OP_select, TC_OP_expand, TC_OP_flip, TC_OP_roll) &&
           node->n_out == 1;
}

tc_val ti_spectra_rooted(const tc_dataflow *f, const tc_node *node)
{
    tc_val x = ti_spectra_squared(f, node);
    const tc_node *def = x ? ti_def(f->g, x) : NULL;
    while (def && ti_spectra_moves(def))
        def = ti_def(f->g, def->in[0]);
    return def && def->op == TC_OP_sqrt ? def->in[0] : TC_NONE;
}

bool ti_spectra_ends(const tc_dataflow *f, const tc_node *node)
{
    if (node->op == TC_OP_pow) {
        tc_tensor by = ti_tensor_of(f->g, node->in[1]);
        double p = by.data && tc_type_count(by.type) == 1 ? ti_load_f64(by, 0) : 0;
        return fabs(p) >= 1.0 / 64 && fabs(p) < 1;
    }
    return ti_role_steep(node->op);
}

static bool free_to_choose(const finder *d, tc_val v)
{
    const tc_dataflow *f = d->f;
    const tc_node *def = ti_def(f->g, v);
    tc_dtype t = f->scheme[v].act.dtype;
    return def && ti_dataflow_is_f32(f, v) && ti_dataflow_quantizes(f, def) && !f->huge[v] &&
           !f->score[v] && f->level[v] < TC_LEVEL_target && (t == TC_i8 || t == TC_i16);
}

/* ---- powers ---- */

static bool power(finder *d, tc_val v, int depth, tc_spectral_value *out);

/* The largest of weights that are not negative; 0: some are. */
static double largest_weight(tc_tensor w)
{
    double most = 0;
    for (int64_t i = 0; i < tc_type_count(w.type); i++) {
        double x = (double)((const float *)w.data)[i];
        if (!(x >= 0))
            return 0;
        most = fmax(most, x);
    }
    return isfinite(most) ? most : 0;
}

/* Sums over bands: a layer of constant weights, and maybe a bias, that are not negative.  W x, as
 * spectra_form.c finds it, is one too. */
static bool bands(finder *d, const tc_node *node, int depth, tc_spectral_value *out)
{
    int left = node->op == TC_OP_matmul;
    tc_tensor w = ti_tensor_of(d->f->g, node->in[!left]);
    bool known = w.data && is_fixed(d, node->in[!left]) && w.type->dtype == TC_f32 &&
                 (!left || (w.type->rank == 2 && ti_type_of(d->f->g, node->in[1])->rank > 1));
    double lo = 0, hi = 0, gain = known ? largest_weight(w) : 0;
    tc_spectral_value x;
    tc_val bias = node->n_in > 2 ? node->in[2] : TC_NONE;
    if (gain <= 0 || (bias && (!ends_of(d, bias, &lo, &hi) || lo < 0)) ||
        d->f->scheme[node->out[0]].weight.dtype == TC_none || !power(d, node->in[left], depth, &x))
        return false;
    *out = (tc_spectral_value){.most = 1, .more = hi, .factor = 1};
    out->group = new_group(d, (tc_spectral_group){.good = true, .from = x.group, .gain = gain,
                                                  .from_most = x.most, .from_more = x.more});
    return true;
}

static bool squares(finder *d, const tc_node *node, tc_spectral_value *out)
{
    tc_val x = ti_spectra_squared(d->f, node);
    *out = (tc_spectral_value){.most = 1, .factor = 1};
    out->group = new_group(d, (tc_spectral_group){.good = true, .part = x, .wide = true,
                                                  .from = -1});
    return true;
}

/* a + b, both powers or one a constant. */
static bool sum_of(finder *d, const tc_node *node, int depth, tc_spectral_value *out)
{
    double lo, hi;
    tc_spectral_value y;
    if (((const tc_attr_alpha *)node->attr)->alpha != 1)
        return false;
    for (int i = 0; i < 2; i++)
        if (is_fixed(d, node->in[i])) {
            if (!ends_of(d, node->in[i], &lo, &hi) || lo < 0 ||
                !power(d, node->in[1 - i], depth, out))
                return false;
            out->more += hi;
            return true;
        }
    if (!power(d, node->in[0], depth, out) || !power(d, node->in[1], depth, &y) ||
        out->factor != y.factor || !merge(d, out->group, y.group))
        return false;
    out->most += y.most;
    out->more += y.more;
    return true;
}

/* hypot of two parts, or of such a size and a constant. */
static bool size_of(finder *d, const tc_node *node, int depth, tc_spectral_value *out)
{
    double lo, hi;
    if (is_fixed(d, node->in[1])) {
        if (!ends_of(d, node->in[1], &lo, &hi) || !power(d, node->in[0], depth, out) ||
            !d->s->group[ti_spectra_root(d->s, out->group)].size)
            return false;
        out->more += fmax(-lo, hi);
        return true;
    }
    int32_t group[2];
    for (int i = 0; i < 2; i++)
        group[i] = new_group(d, (tc_spectral_group){.good = true, .part = node->in[i],
                                                    .wide = true, .size = true, .from = -1});
    *out = (tc_spectral_value){.most = sqrt(2), .factor = 1, .group = group[0]};
    return merge(d, group[0], group[1]);
}

/* A lower bound. */
static bool bounded(finder *d, const tc_node *node, int depth, tc_spectral_value *out)
{
    double lo = 0, hi = 0;
    if (node->op == TC_OP_clamp) {
        const tc_attr_clamp *a = node->attr;
        if (a->hi < (double)TC_HUGE)
            return false;
        hi = fmax(a->lo, 0);
    } else if (node->op == TC_OP_maximum &&
               (!is_fixed(d, node->in[1]) || !ends_of(d, node->in[1], &lo, &hi)))
        return false;
    if (!power(d, node->in[0], depth, out))
        return false;
    out->more += fmax(hi, 0);
    return true;
}

static bool total(finder *d, const tc_node *node, int depth, tc_spectral_value *out)
{
    const tc_type *x = ti_type_of(d->f->g, node->in[0]), *y = ti_type_of(d->f->g, node->out[0]);
    double n = (double)tc_type_count(x) / fmax(1, (double)tc_type_count(y));
    if (!power(d, node->in[0], depth, out))
        return false;
    if (node->op == TC_OP_mean)
        out->factor /= n;
    else {
        out->most *= n;
        out->more *= n;
    }
    return true;
}

static bool made(finder *d, const tc_node *node, int depth, tc_spectral_value *out)
{
    tc_val x;
    double by = ti_dataflow_factor(d->f, node, &x);
    if (ti_spectra_rooted(d->f, node)) /* as spectra_form.c makes it */
        return power(d, ti_spectra_rooted(d->f, node), depth, out);
    if (ti_spectra_squared(d->f, node))
        return squares(d, node, out);
    if (by > 0 && isfinite(by)) {
        if (!power(d, x, depth, out))
            return false;
        out->most *= by;
        out->more *= by;
        out->factor *= by;
        return true;
    }
    if (ti_spectra_moves(node))
        return power(d, node->in[0], depth, out);
    switch (node->op) {
    case TC_OP_add:
        return sum_of(d, node, depth, out);
    case TC_OP_maximum:
    case TC_OP_clamp:
    case TC_OP_relu:
        return bounded(d, node, depth, out);
    case TC_OP_sum:
    case TC_OP_mean:
        return total(d, node, depth, out);
    case TC_OP_linear:
    case TC_OP_matmul:
        return bands(d, node, depth, out);
    case TC_OP_hypot:
        return size_of(d, node, depth, out);
    default:
        return false;
    }
}

static bool power(finder *d, tc_val v, int depth, tc_spectral_value *out)
{
    const tc_dataflow *f = d->f;
    tc_spectral_value *kept = &d->s->value[v];
    if (!d->tried[v] && depth < DEEPEST && free_to_choose(d, v)) {
        tc_spectral_value found = {0};
        if (made(d, ti_def(f->g, v), depth + 1, &found)) {
            *kept = found;
            kept->kind = TC_SPECTRAL_power;
        }
    }
    d->tried[v] = true;
    *out = *kept;
    return kept->kind == TC_SPECTRAL_power;
}

/* ---- parts, and what leads to them ---- */

static bool layer_of(const tc_dataflow *f, const tc_node *node)
{
    return node &&
           TC_OP_IN(node->op, TC_OP_conv, TC_OP_linear, TC_OP_conv_transpose, TC_OP_matmul) &&
           f->fixed[node->in[1]];
}

static bool is_layer(const finder *d, const tc_node *node) { return layer_of(d->f, node); }

bool ti_spectra_halves(const tc_dataflow *f, const tc_node *node)
{
    return node->op == TC_OP_add && ((const tc_attr_alpha *)node->attr)->alpha == 1 &&
           layer_of(f, ti_def(f->g, node->in[0])) && layer_of(f, ti_def(f->g, node->in[1]));
}

/* Made from inputs, state and real values by linear operators. */
static bool is_linear(finder *d, tc_val v, int depth)
{
    const tc_dataflow *f = d->f;
    const tc_node *node = v ? ti_def(f->g, v) : NULL;
    if (!node || f->fixed[v] || f->state[v] || !ti_dataflow_quantizes(f, node))
        return true;
    if (d->looked[v] || depth > DEEPEST)
        return d->linear[v];
    d->looked[v] = true;
    bool sum = node->op == TC_OP_add || node->op == TC_OP_sub, all = sum || ti_role_moves(node),
         one = is_layer(d, node) || node->op == TC_OP_neg || node->op == TC_OP_mean ||
               node->op == TC_OP_sum || node->op == TC_OP_avg_pool || node->op == TC_OP_cumsum;
    if ((node->op == TC_OP_mul || node->op == TC_OP_div) && is_fixed(d, node->in[1]))
        one = true;
    else if (node->op == TC_OP_mul && is_fixed(d, node->in[0]))
        return d->linear[v] = is_linear(d, node->in[1], depth + 1);
    bool good = all || one;
    for (int i = 0; i < (one ? 1 : node->n_in) && good; i++)
        good = is_linear(d, node->in[i], depth + 1);
    return d->linear[v] = good;
}

/* Everything that leads to v, but inputs, has room to spare. */
static void mark_front(finder *d, tc_val v)
{
    const tc_dataflow *f = d->f;
    const tc_node *node = v ? ti_def(f->g, v) : NULL;
    if (!v || f->fixed[v] || !ti_dataflow_is_f32(f, v) || d->s->value[v].kind)
        return;
    d->s->value[v].kind = TC_SPECTRAL_front;
    if (!node || f->state[v] || !ti_dataflow_quantizes(f, node))
        return;
    for (int i = 0; i < node->n_in; i++)
        mark_front(d, node->in[i]);
}

/* The readers of a part besides squares of its group: they cannot read i32. */
static bool read_by_others(const finder *d, tc_val v)
{
    const tc_dataflow *f = d->f;
    if (f->leaves[v])
        return true;
    for (uint32_t u = f->first[v]; u < f->first[v + 1]; u++) {
        const tc_node *node = f->use[u].node;
        tc_spectral kind = node->n_out == 1 ? d->s->value[node->out[0]].kind : TC_SPECTRAL_none;
        if (kind != TC_SPECTRAL_power && kind != TC_SPECTRAL_part && node->op != TC_OP_abs &&
            node->op != TC_OP_log_bands)
            return true;
    }
    return false;
}

/* The parts of a group, back to the layer that makes them; below: the factor has been passed. */
static void mark_parts(finder *d, tc_val v, int32_t root, bool below)
{
    const tc_dataflow *f = d->f;
    const tc_node *node = ti_def(f->g, v);
    tc_spectral_value *value = &d->s->value[v];
    tc_spectral_group *group = &d->s->group[root];
    bool constant = !v || f->fixed[v] || !ti_dataflow_is_f32(f, v);
    if (constant || value->kind == TC_SPECTRAL_part) {
        group->good = group->good && (constant || ti_spectra_root(d->s, value->group) == root);
        return;
    }
    *value = (tc_spectral_value){.kind = TC_SPECTRAL_part, .group = root};
    group->good = group->good && f->level[v] < TC_LEVEL_target;
    if (!node || f->state[v] || !ti_dataflow_quantizes(f, node) || f->huge[v]) {
        group->wide = false;
        return;
    }
    if (ti_spectra_moves(node) || node->op == TC_OP_neg || node->op == TC_OP_cat ||
        node->op == TC_OP_stack || ti_spectra_halves(f, node)) {
        for (int i = 0; i < node->n_in; i++)
            mark_parts(d, node->in[i], root, below);
        return;
    }
    bool factor = node->op == TC_OP_mul && !group->scaled && !below &&
                  (is_fixed(d, node->in[0]) || is_fixed(d, node->in[1]));
    if (factor) {
        group->scaled = v;
        mark_parts(d, node->in[is_fixed(d, node->in[0])], root, true);
        return;
    }
    group->direct = group->direct || !below;
    group->wide = group->wide && is_layer(d, node);
    for (int i = 0; i < node->n_in; i++)
        mark_front(d, node->in[i]);
}

/* Of a power: what reads it is a power of a good group, or an end. */
static bool reads_powers(const finder *d, const tc_node *node)
{
    tc_val v = node->n_out == 1 ? node->out[0] : TC_NONE;
    const tc_spectral_value *value = v ? &d->s->value[v] : NULL;
    bool power = value && value->kind == TC_SPECTRAL_power &&
                 d->s->group[ti_spectra_root(d->s, value->group)].good;
    return power || ti_spectra_ends(d->f, node);
}

/* Groups that are no front ends, or whose values others read, and those that depend on them. */
static void find_good(finder *d)
{
    const tc_dataflow *f = d->f;
    tc_spectra *s = d->s;
    for (bool changed = true; changed;) {
        changed = false;
        for (tc_val v = 1; v < f->g->n_val; v++) {
            if (s->value[v].kind != TC_SPECTRAL_power)
                continue;
            tc_spectral_group *group = &s->group[ti_spectra_root(s, s->value[v].group)];
            bool good = group->good &&
                        (group->from < 0 || s->group[ti_spectra_root(s, group->from)].good);
            for (uint32_t u = f->first[v]; good && u < f->first[v + 1]; u++)
                good = reads_powers(d, f->use[u].node);
            changed = changed || good != group->good;
            group->good = good;
        }
    }
}

/* Values of groups that are not good become of kind none. */
static void clear_bad(finder *d)
{
    tc_spectra *s = d->s;
    for (tc_val v = 1; v < d->f->g->n_val; v++) {
        tc_spectral_value *value = &s->value[v];
        if (value->kind != TC_SPECTRAL_none)
            value->group = ti_spectra_root(s, value->group);
        if (value->kind != TC_SPECTRAL_none && !s->group[value->group].good)
            *value = (tc_spectral_value){.kind = TC_SPECTRAL_none};
        s->any = s->any || value->kind == TC_SPECTRAL_power || value->kind == TC_SPECTRAL_part;
    }
}

/* ---- logarithms ---- */

/* One octave of a part, in the unit of the logarithm. */
static double octave_of(const finder *d, const tc_node *node)
{
    const tc_spectral_value *x = &d->s->value[node->in[0]];
    if (node->op == TC_OP_log_bands && x->kind == TC_SPECTRAL_part)
        return 2 * ((const tc_attr_bands *)node->attr)->octave;
    if (x->kind != TC_SPECTRAL_power)
        return 0;
    int32_t group = x->group;
    while (d->s->group[group].from >= 0)
        group = ti_spectra_root(d->s, d->s->group[group].from);
    double one = node->op == TC_OP_log2                                ? 1
                 : node->op == TC_OP_log || node->op == TC_OP_log1p    ? log(2)
                 : node->op == TC_OP_log10                             ? log10(2)
                                                                       : 0;
    return d->s->group[group].size ? one : 2 * one;
}

/* What is louder than calibration by TC_PART_ROOM moves logarithms up, and sums with them. */
static void leave_room(finder *d)
{
    const tc_graph *g = d->f->g;
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (node->n_out != 1 || !node->n_in || !ti_dataflow_quantizes(d->f, node))
            continue;
        tc_spectral_value *y = &d->s->value[node->out[0]], *x = &d->s->value[node->in[0]];
        tc_val other;
        double by = ti_dataflow_factor(d->f, node, &other), octave = octave_of(d, node);
        bool sum = node->op == TC_OP_add || node->op == TC_OP_sub;
        if (octave > 0)
            y->above = octave * ti_log2(TC_PART_ROOM);
        else if (by != 0 && isfinite(by)) {
            const tc_spectral_value *v = &d->s->value[other];
            y->above = by > 0 ? by * v->above : -by * v->below;
            y->below = by > 0 ? by * v->below : -by * v->above;
        } else if (sum && ((const tc_attr_alpha *)node->attr)->alpha == 1) {
            const tc_spectral_value *z = &d->s->value[node->in[1]];
            y->above = fmax(x->above, z->above);
            y->below = fmax(x->below, z->below);
        } else if (ti_spectra_moves(node) || node->op == TC_OP_amax || node->op == TC_OP_amin ||
                   node->op == TC_OP_maximum || node->op == TC_OP_minimum) {
            y->above = x->above;
            y->below = x->below;
        }
    }
}

/* The two parts of bands that are formed already. */
static void look_at_bands(finder *d, const tc_node *node)
{
    int32_t group[2];
    for (int i = 0; i < 2; i++)
        group[i] = new_group(d, (tc_spectral_group){.good = true, .part = node->in[2 * i],
                                                    .wide = true, .size = true, .from = -1});
    merge(d, group[0], group[1]);
}

static void look_back(finder *d)
{
    const tc_graph *g = d->f->g;
    tc_spectral_value unused;
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->op == TC_OP_log_bands)
            look_at_bands(d, g->node[k]);
        else if (ti_spectra_ends(d->f, g->node[k]) && ti_dataflow_quantizes(d->f, g->node[k]) &&
            d->f->level[g->node[k]->out[0]] < TC_LEVEL_node)
            power(d, g->node[k]->in[0], 0, &unused);
}

tc_spectra ti_spectra_find(tc_ctx *ctx, const tc_dataflow *f)
{
    size_t n = f->g->n_val + 1;
    tc_spectra s = {.value = tc_new_n(&ctx->scratch, tc_spectral_value, n)};
    finder d = {ctx, f, &s, tc_new_n(&ctx->scratch, bool, n), tc_new_n(&ctx->scratch, bool, n),
                tc_new_n(&ctx->scratch, bool, n)};
    if (f->spectra)
        return *f->spectra;
    if (f->config->anchor || (f->config->plain_spectra && !f->config->real_spectra))
        return s;
    look_back(&d);
    for (size_t i = 0; i < s.n_group; i++)
        if (s.group[i].from < 0 && !is_linear(&d, s.group[i].part, 0))
            s.group[ti_spectra_root(&s, (int32_t)i)].good = false;
    find_good(&d);
    clear_bad(&d);
    for (size_t i = 0; i < s.n_group; i++) {
        int32_t root = ti_spectra_root(&s, (int32_t)i);
        if (s.group[i].from < 0 && s.group[root].good)
            mark_parts(&d, s.group[i].part, root, false);
    }
    for (size_t i = 0; i < s.n_group; i++)
        s.group[i].wide = s.group[i].wide && !(s.group[i].scaled && s.group[i].direct);
    for (tc_val v = 1; v < f->g->n_val; v++)
        if (s.value[v].kind == TC_SPECTRAL_part && read_by_others(&d, v))
            s.group[s.value[v].group].wide = false;
    find_good(&d);
    s.any = false;
    clear_bad(&d);
    leave_room(&d);
    return s;
}
