/* SPDX-License-Identifier: Apache-2.0 */
/* domains.c -- which values share a scale and zero point.
 *
 * Classes of a union-find.  A value and its moved copies are one class.  Operands of a cat (where,
 * pad, ...) are one class when they have no other reader; otherwise the ranges decide later between
 * one scale and a rescale. Every other operator has independent operands and results. */
#include "spectra.h"

#include <math.h>

typedef struct classes {
    tc_ctx *ctx;
    tc_dataflow flow;
    uint32_t *parent;    /* by value */
    tc_setting *setting; /* of the class, at its root */
    tc_level *level;     /* how specific that setting is */
    bool *has;           /* the value has a domain */
    bool *part;          /* at the root: read by a cat only, and not yet merged with it */
    tc_spectra spectra;
} classes;

/* ---- union-find ---- */

static tc_val find(classes *c, tc_val v)
{
    while (c->parent[v] != v) {
        c->parent[v] = c->parent[c->parent[v]];
        v = c->parent[v];
    }
    return v;
}

/* Whether one domain can serve both. */
static bool compatible(const tc_setting *a, const tc_setting *b)
{
    bool fixed = a->observer == TC_OBSERVER_fixed && b->observer == TC_OBSERVER_fixed;
    return a->dtype == b->dtype && a->qmin == b->qmin && a->qmax == b->qmax &&
           a->symmetric == b->symmetric && (!fixed || (a->scale == b->scale && a->zero == b->zero));
}

/* Whether setting a has priority over b: the more specific, then the more precise. */
static bool stronger(const tc_setting *a, tc_level a_level, const tc_setting *b, tc_level b_level)
{
    if (a_level != b_level)
        return a_level > b_level;
    bool a_fixed = a->observer == TC_OBSERVER_fixed, b_fixed = b->observer == TC_OBSERVER_fixed;
    if (a_fixed != b_fixed)
        return a_fixed;
    if (a->qmax - a->qmin != b->qmax - b->qmin)
        return a->qmax - a->qmin > b->qmax - b->qmin;
    return a->observer != b->observer ? a->observer < b->observer : a->scale > b->scale;
}

/* The smaller id stays the root; the stronger setting stays. */
static void join(classes *c, tc_val a, tc_val b)
{
    a = find(c, a);
    b = find(c, b);
    if (a == b || !compatible(&c->setting[a], &c->setting[b]))
        return;
    if (b < a) {
        tc_val t = a;
        a = b;
        b = t;
    }
    if (stronger(&c->setting[b], c->level[b], &c->setting[a], c->level[a])) {
        c->setting[a] = c->setting[b];
        c->level[a] = c->level[b];
    }
    c->parent[b] = a;
}

/* ---- settings of values ---- */

/* The setting for a value not made by a quantized operator, by its readers. */
static void readers_wish(classes *c, tc_val v)
{
    const tc_dataflow *f = &c->flow;
    bool any = false;
    for (uint32_t u = f->first[v]; u < f->first[v + 1]; u++) {
        const tc_node *node = f->use[u].node;
        tc_val out = node->n_out ? node->out[0] : TC_NONE;
        if (!out || !ti_dataflow_quantizes(f, node))
            continue;
        bool moved = ti_role_carries(node, f->use[u].operand);
        const tc_setting *wish = moved ? &c->setting[out] : &f->scheme[out].act;
        tc_level level = moved ? c->level[out] : f->level[out];
        if (wish->dtype == TC_none || wish->observer == TC_OBSERVER_fixed)
            continue;
        if (!any || stronger(wish, level, &c->setting[v], c->level[v])) {
            c->setting[v] = *wish;
            c->level[v] = level;
        }
        any = true;
    }
}

/* All codes of the storage type: no clamp is needed. */
static tc_setting wide(void)
{
    return (tc_setting){
        .dtype = TC_i16, .qmin = -32768, .qmax = 32767, .symmetric = true, .floor = TC_LEAST_SCALE};
}

/* A moved value: the setting of its source, unless it was named itself. */
static void moved_setting(classes *c, const tc_node *node, tc_val v)
{
    const tc_dataflow *f = &c->flow;
    bool any = false;
    if (f->level[v] >= TC_LEVEL_target || !f->born[v] || c->level[v] == TC_LEVEL_io)
        return;
    for (int i = 0; i < node->n_in; i++) {
        tc_val x = node->in[i];
        if (!ti_role_carries(node, i) || !c->has[x])
            continue;
        if (any && !compatible(&c->setting[v],
                               &c->setting[x])) { /* operands disagree: its own setting holds */
            c->setting[v] = f->scheme[v].act;
            c->level[v] = f->level[v];
            return;
        }
        if (!any || stronger(&c->setting[x], c->level[x], &c->setting[v], c->level[v])) {
            c->setting[v] = c->setting[x];
            c->level[v] = c->level[x];
        }
        any = true;
    }
}

/* A port of the program: by its own entry.  8 bits unsigned are 8 bits signed inside. */
static void port_setting(classes *c, tc_val v, const tc_patch *port)
{
    tc_patch p = *port;
    if (p.has & TC_HAS_DTYPE && p.to.dtype == TC_u8) {
        p.to.dtype = TC_i8;
        p.to.qmin -= 128;
        p.to.qmax -= 128;
    }
    c->setting[v] = ti_setting_patched(c->setting[v], &p);
    c->level[v] = TC_LEVEL_io;
}

static void set_values(classes *c)
{
    const tc_dataflow *f = &c->flow;
    const tc_graph *g = f->g;
    for (size_t v = 1; v < g->n_val; v++) {
        c->setting[v] = f->scheme[v].act;
        c->level[v] = f->level[v];
    }
    for (size_t k = g->n_node; k-- > 0;)
        for (int i = 0; i < g->node[k]->n_out; i++) {
            tc_val v = g->node[k]->out[i];
            bool settled = f->level[v] >= TC_LEVEL_node && c->setting[v].dtype != TC_none;
            if ((!f->born[v] || f->state[v]) && !settled)
                readers_wish(c, v);
        }
    for (size_t v = 1; v < g->n_val; v++)
        if (f->score[v] && c->setting[v].dtype == TC_i8 && c->level[v] < TC_LEVEL_target)
            c->setting[v] = wide();
    for (size_t i = 0; i < g->n_in; i++) {
        tc_val v = g->in[i];
        if (f->level[v] < TC_LEVEL_node && f->config->in.has)
            port_setting(c, v, &f->config->in);
        else if (f->level[v] < TC_LEVEL_node)
            readers_wish(c, v);
    }
    for (size_t i = 0; i < g->n_out && f->config->out.has; i++)
        if (f->level[g->out[i]] == TC_LEVEL_global)
            port_setting(c, g->out[i], &f->config->out);
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_out; i++)
            if (ti_role_carried(g->node[k], i) && !f->score[g->node[k]->out[i]])
                moved_setting(c, g->node[k], g->node[k]->out[i]);
}

/* Values of power spectra, unless an entry or a port has named them. */
static void set_spectra(classes *c)
{
    const tc_dataflow *f = &c->flow;
    for (tc_val v = 1; v < f->g->n_val && c->spectra.any; v++)
        if (c->spectra.value[v].kind && c->has[v] && c->level[v] < TC_LEVEL_target &&
            c->level[v] != TC_LEVEL_io)
            c->setting[v] = ti_spectra_setting(&c->spectra, v, &c->setting[v]);
    for (size_t i = 0; i < f->g->n_in && c->spectra.any; i++)
        c->setting[f->g->in[i]].headroom = 0;
}

/* ---- joining ---- */

/* Movement without new values: the same elements, or some of them. */
static bool only_moves(const tc_node *node)
{
    int carried = 0;
    for (int i = 0; i < node->n_in; i++)
        carried += ti_role_carries(node, i);
    if (node->op == TC_OP_pad) {
        const tc_attr_pad *a = node->attr;
        return a->mode != TC_pad_mode_constant || a->value == 0;
    }
    return carried == 1 && node->op != TC_OP_where;
}

/* An operand whose elements the result holds, in one domain with it. */
static bool shared(const classes *c, const tc_node *node, int operand)
{
    return ti_role_carries(node, operand) &&
           !(c->flow.config->anchor && ti_anchor_parts(node, operand));
}

/* The parts of a spectrum have one scale. */
static void join_parts(classes *c)
{
    const tc_spectra *s = &c->spectra;
    for (size_t i = 0; i < s->n_group; i++) {
        const tc_spectral_group *group = &s->group[i], *root;
        if (group->from >= 0)
            continue;
        root = &s->group[ti_spectra_root(s, (int32_t)i)];
        if (root->good && c->has[group->part] && c->has[root->part])
            join(c, group->part, root->part);
    }
    for (size_t k = 0; k < c->flow.g->n_node && s->any; k++) { /* i32 is not rescaled */
        const tc_node *node = c->flow.g->node[k];
        tc_val v = node->n_out == 1 ? node->out[0] : TC_NONE;
        bool same = v && s->value[v].kind == TC_SPECTRAL_part && c->setting[v].dtype == TC_i32 &&
                    (node->op == TC_OP_neg || node->op == TC_OP_cat || node->op == TC_OP_stack ||
                     ti_spectra_halves(&c->flow, node));
        for (int i = 0; i < node->n_in && same; i++)
            if (c->has[node->in[i]])
                join(c, node->in[i], v);
    }
}

static void join_moved(classes *c)
{
    const tc_graph *g = c->flow.g;
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (!ti_role_moves(node) || !only_moves(node))
            continue;
        for (int i = 0; i < node->n_in; i++)
            for (int o = 0; o < node->n_out && shared(c, node, i); o++)
                if (ti_role_carried(node, o) && c->has[node->in[i]] && c->has[node->out[o]])
                    join(c, node->in[i], node->out[o]);
    }
}

/* A buffer and what is written back to it are one class; one that accumulates over calls has 16
 * bits, to keep its error small. */
static void join_state(classes *c)
{
    const tc_dataflow *f = &c->flow;
    for (size_t i = 0; i < f->g->n_mutation; i++) {
        tc_val a = f->g->mutation[i].before, b = f->g->mutation[i].after;
        if (!f->typed_state[i] || !c->has[a] || !c->has[b])
            continue;
        a = find(c, a);
        b = find(c, b);
        tc_val from = stronger(&c->setting[b], c->level[b], &c->setting[a], c->level[a]) ? b : a;
        tc_setting setting = c->setting[from];
        if (setting.dtype == TC_i8 && c->level[from] < TC_LEVEL_target && !f->config->anchor &&
            ti_dataflow_accumulates(f, i))
            setting = wide();
        c->setting[a] = c->setting[b] = setting;
        c->level[a] = c->level[b] = c->level[from];
        join(c, a, b);
    }
}

/* The anchor's sharing beyond movement: operands and result. */
static void join_anchor(classes *c)
{
    const tc_graph *g = c->flow.g;
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        tc_val first = c->has[node->n_out ? node->out[0] : TC_NONE] ? node->out[0] : TC_NONE;
        for (int i = 0; i < node->n_in && ti_anchor_shares(node->op); i++) {
            tc_val v = node->in[i];
            if (!c->has[v])
                continue;
            if (first)
                join(c, first, v);
            first = v;
        }
    }
}

/* The movement continues inside the class. */
static bool inside(classes *c, tc_val v, const tc_use *use)
{
    const tc_node *node = use->node;
    return ti_role_carries(node, use->operand) && c->has[node->out[0]] &&
           find(c, node->out[0]) == find(c, v);
}

/* By root: the one node outside that reads the class; `several` when there are more, or the
 * signature does. */
static const tc_node several = {.op = TC_OP_const};

static const tc_node **outside_readers(classes *c)
{
    const tc_dataflow *f = &c->flow;
    const tc_node **reader = tc_new_n(&c->ctx->scratch, const tc_node *, f->g->n_val + 1);
    for (tc_val v = 1; v < f->g->n_val; v++) {
        if (!c->has[v])
            continue;
        const tc_node **r = &reader[find(c, v)];
        if (f->leaves[v])
            *r = &several;
        for (uint32_t u = f->first[v]; u < f->first[v + 1]; u++)
            if (!inside(c, v, &f->use[u]))
                *r = *r && *r != f->use[u].node ? &several : f->use[u].node;
    }
    return reader;
}

static bool is_given(const classes *c, tc_val root)
{
    return c->setting[root].observer == TC_OBSERVER_fixed;
}

/* Operands of a node: one class if they have no other reader, else decided later.  So are operands
 * of a cat: boxes and scores of a detector may have very different ranges. */
static void join_met(classes *c, tc_domains *out)
{
    const tc_dataflow *f = &c->flow;
    const tc_node **reader = outside_readers(c);
    size_t cap = 0;
    for (size_t k = 0; k < f->g->n_node; k++) {
        const tc_node *node = f->g->node[k];
        if (!ti_role_moves(node) || only_moves(node) || !c->has[node->out[0]])
            continue;
        for (int i = 0; i < node->n_in; i++) {
            tc_val x = node->in[i];
            if (!shared(c, node, i) || !c->has[x] ||
                f->score[node->out[0]]) /* a mask over scores: its own range */
                continue;
            bool alone = reader[find(c, x)] == node;
            bool cats = ti_role_puts_together(node->op) &&
                        !is_given(c, find(c, x)) && !is_given(c, find(c, node->out[0]));
            if (f->config->anchor || (alone && !cats)) {
                join(c, x, node->out[0]);
                continue;
            }
            c->part[find(c, x)] = c->part[find(c, x)] || alone;
            tc_grow(&c->ctx->arena, out->join, out->n_join,
                    cap); /* values at first, domains once they are numbered */
            out->join[out->n_join++] = (tc_join){
                .part = (int32_t)x, .whole = (int32_t)node->out[0], .alone = alone, .cat = cats};
        }
    }
}

/* ---- domains ---- */

/* scale and zero for a known range. */
static void natural_scale(tc_domain *d)
{
    const tc_setting *s = &d->setting;
    double codes = (double)(s->qmax - s->qmin + 1);
    if (s->symmetric) {
        d->scale = fmax(-d->lo, d->hi) / (double)(s->qmax + 1);
        d->zero = 0;
    } else {
        d->scale = (d->hi - d->lo) / codes;
        d->zero = (int64_t)nearbyint((double)s->qmin - d->lo / d->scale);
    }
}

/* Whether value v adds new elements to its class. */
static bool brings(classes *c, tc_val v)
{
    const tc_node *def = ti_def(c->flow.g, v);
    if (!def || !ti_role_moves(def) || !only_moves(def))
        return true;
    for (int i = 0; i < def->n_in; i++)
        if (ti_role_carries(def, i) && c->has[def->in[i]] && find(c, def->in[i]) == find(c, v))
            return false;
    return true;
}

static void number_domains(classes *c, tc_domains *out)
{
    const tc_graph *g = c->flow.g;
    out->n_val = g->n_val;
    out->of = tc_new_n(&c->ctx->arena, int32_t, g->n_val + 1);
    out->looks = tc_new_n(&c->ctx->arena, uint8_t, g->n_val + 1);
    size_t *count = tc_new_n(&c->ctx->scratch, size_t, g->n_val + 1);
    for (tc_val v = 0; v < g->n_val; v++) {
        out->of[v] = -1;
        if (!v || !c->has[v])
            continue;
        tc_val root = find(c, v);
        out->of[v] =
            root == v ? (int32_t)out->n++ : out->of[root]; /* the root has the smallest id */
        count[out->of[v]]++;
    }
    out->domain = tc_new_n(&c->ctx->arena, tc_domain, out->n + 1);
    for (tc_val v = 1; v < g->n_val; v++) {
        if (out->of[v] < 0)
            continue;
        tc_domain *d = &out->domain[out->of[v]];
        if (!d->val) {
            *d = (tc_domain){.setting = c->setting[v], .base = -1, .joined = -1, .unmasked = -1};
            d->val = tc_new_n(&c->ctx->arena, tc_val, count[out->of[v]]);
        }
        d->val[d->n_val++] = v;
        out->looks[v] = c->flow.config->anchor ? ti_anchor_looks(&c->flow, v) : brings(c, v);
    }
}

/* The class has one producer, which multiplies another class by a scalar: same codes. */
static void derive(classes *c, tc_domains *out, tc_domain *d, const tc_node *maker)
{
    tc_val x;
    double factor = maker ? ti_dataflow_factor(&c->flow, maker, &x) : 0;
    if (!(factor > 0) || !isfinite(factor) || !c->has[x] ||
        c->flow.level[maker->out[0]] >= TC_LEVEL_target)
        return;
    int32_t base = out->of[x];
    if (&out->domain[base] == d || !compatible(&d->setting, &out->domain[base].setting))
        return;
    d->base = base;
    d->factor = factor;
}

/* Scores with a mask or a bias added: the domain of those below it. */
static int32_t scores_below(const classes *c, const tc_domains *out, const tc_node *maker)
{
    const tc_dataflow *f = &c->flow;
    bool lays =
        maker && (maker->op == TC_OP_add || maker->op == TC_OP_sub || maker->op == TC_OP_where);
    for (int i = 0; lays && f->score[maker->out[0]] && i < maker->n_in; i++) {
        tc_val v = maker->in[i];
        bool chosen = maker->op == TC_OP_where && !f->huge[v];
        bool masked = maker->op != TC_OP_where && !f->mask[v] && f->mask[maker->in[1 - i]];
        if (c->has[v] && (f->score[v] || chosen || masked) && out->of[v] != out->of[maker->out[0]])
            return out->of[v];
    }
    return -1;
}

/* Read by a cat with its own domain. */
static bool meets(const classes *c, const tc_use *use)
{
    const tc_node *node = use->node;
    return ti_role_puts_together(node->op) && c->has[node->out[0]] &&
           shared(c, node, use->operand);
}

/* Kept from run to run. */
static bool is_kept(const tc_dataflow *f, tc_val v)
{
    bool kept = f->state[v];
    for (size_t i = 0; i < f->g->n_mutation; i++)
        kept = kept || f->g->mutation[i].after == v;
    return kept;
}

/* The softmax that reads a value through positive factors, each the only reader; or the node.
 */
static const tc_node *past_factors(const tc_dataflow *f, const tc_node *node)
{
    const tc_node *last = node;
    tc_val x;
    while (last && last != &several && ti_dataflow_factor(f, last, &x) > 0)
        last = ti_dataflow_reader(f, last->out[0]);
    return last && ti_role_shares(last->op) ? last : node;
}

static void describe(classes *c, tc_domains *out, tc_domain *d, const tc_node *reader)
{
    const tc_dataflow *f = &c->flow;
    const tc_node *maker = NULL;
    size_t n_maker = 0;
    bool natural = !f->config->anchor, leaf = false, read = false, shares = true;
    d->all_wide = d->made_wide = d->made_expensive = d->shares = true;
    for (size_t i = 0; i < d->n_val; i++) {
        tc_val v = d->val[i];
        leaf = leaf || f->leaves[v];
        d->huge = d->huge || f->huge[v];
        d->computed_with = d->computed_with || is_kept(f, v);
        for (uint32_t u = f->first[v]; u < f->first[v + 1]; u++) {
            if (inside(c, v, &f->use[u]))
                continue;
            bool wide = ti_role_reads_wide(f->use[u].node->op);
            read = true;
            if (meets(c, &f->use[u]))
                continue;
            d->computed_with = true;
            d->some_wide = d->some_wide || wide;
            d->some_bears = d->some_bears || wide || ti_role_bears_wide(f->use[u].node->op);
            d->all_wide = d->all_wide && wide;
        }
        d->some_wide = d->some_wide || f->leaves[v];
        d->some_bears = d->some_bears || f->leaves[v];
        d->named = d->named || c->level[v] >= TC_LEVEL_io;
        if (!out->looks[v])
            continue;
        double lo, hi;
        maker = ti_def(f->g, v);
        bool gives = !maker || ti_role_moves(maker) || ti_role_gives_wide(maker->op);
        d->made_wide = d->made_wide && gives;
        shares = shares && (gives || ti_role_shares(maker->op));
        d->shares = d->shares && maker && maker->op == TC_OP_softmax;
        d->made_expensive = d->made_expensive && (gives || ti_role_shares(maker->op) ||
                                                  ti_role_bears_wide(maker->op));
        natural = natural && maker && ti_role_natural(maker->op, &lo, &hi) &&
                  (n_maker == 0 || (lo == d->lo && hi == d->hi));
        if (natural) {
            d->lo = lo;
            d->hi = hi;
        }
        n_maker++;
    }
    d->output = leaf && !read;
    d->shares = d->shares && n_maker;
    d->made_wide = d->made_wide || (d->output && shares); /* once, at the end of the program */
    if (d->setting.observer == TC_OBSERVER_fixed) {
        d->scale = (double)(float)d->setting.scale;
        d->zero = d->setting.zero;
        return;
    }
    d->fixed_range = natural && n_maker > 0;
    if (d->fixed_range)
        natural_scale(d);
    else if (n_maker == 1 && !f->config->anchor && (!d->huge || f->score[d->val[0]]) &&
             !c->part[find(c, d->val[0])])
        derive(c, out, d, maker);
    d->unmasked = n_maker == 1 ? scores_below(c, out, maker) : -1;
    reader = past_factors(f, reader);
    bool curve = reader && reader != &several && reader->n_in == 1 &&
                 (ti_role_curve(reader->op) || ti_role_shares(reader->op));
    d->after = curve && ti_dataflow_quantizes(f, reader) ? reader : NULL;
}

/* Joins by domain.  Impossible ones are settled; only cats are decided later. */
static void settle_joins(tc_domains *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < out->n_join; i++) {
        tc_join j = out->join[i];
        j.part = out->of[j.part];
        j.whole = out->of[j.whole];
        const tc_domain *a = &out->domain[j.part], *b = &out->domain[j.whole];
        bool known = ti_domain_known(a) && !(j.alone && a->fixed_range);
        j.settled = known || ti_domain_known(b) || !compatible(&a->setting, &b->setting);
        if (j.part != j.whole && (!j.settled || (j.cat && !ti_domain_known(b))))
            out->join[kept++] = j;
    }
    out->n_join = kept;
}

/* Parts split from one value share its domain, unused ones too: a node moves either codes or real
 * values. */
static void settle_parts(classes *c)
{
    const tc_graph *g = c->flow.g;
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        bool any = false;
        for (int i = 0; i < node->n_out; i++)
            any = any || (ti_role_carried(node, i) && c->has[node->out[i]]);
        for (int i = 0; any && i < node->n_out; i++)
            if (ti_role_carried(node, i))
                c->has[node->out[i]] = true;
    }
}

/* Observers in the configuration that have no effect. */
static void tell_idle_observers(const classes *c, const tc_domains *out)
{
    const tc_graph *g = c->flow.g;
    const tc_config *config = c->flow.config;
    for (size_t i = 0; i < config->n_entry; i++) {
        const tc_config_entry *entry = &config->entry[i];
        bool asks = entry->level == TC_LEVEL_node && entry->act.has & TC_HAS_OBSERVER;
        for (tc_val v = 1; v < g->n_val && asks; v++) {
            const tc_node *def = g->val[v]->def;
            const char *name = def && def->loc->node ? def->loc->node : g->val[v]->name;
            if (!name || !ti_text_eq(name, entry->name) || (def && def->out[0] != v))
                continue;
            if (out->of[v] < 0 || ti_domain_known(&out->domain[out->of[v]]))
                ti_warning(c->ctx, def ? def->loc : NULL, TC_E_NO_EFFECT,
                           "the observer for '%s' has no effect: %s", entry->name,
                           out->of[v] < 0 ? "the value has no quantization of its own"
                                          : "its range is fixed, or follows from another value's");
            break;
        }
    }
}

tc_status ti_quant_decide(tc_ctx *ctx, const tc_module *module, const tc_config *config,
                          const float *never, tc_domains *out)
{
    const tc_graph *g = ti_main(module);
    if (!config->checked)
        TC_TRY(ti_config_check(ctx, config, g));
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    *out = (tc_domains){.never = never};
    classes c = {ctx,
                 ti_dataflow_of(ctx, g, config, never),
                 tc_new_n(&ctx->scratch, uint32_t, g->n_val + 1),
                 tc_new_n(&ctx->scratch, tc_setting, g->n_val + 1),
                 tc_new_n(&ctx->scratch, tc_level, g->n_val + 1),
                 tc_new_n(&ctx->scratch, bool, g->n_val + 1),
                 tc_new_n(&ctx->scratch, bool, g->n_val + 1),
                 {0}};
    c.spectra = ti_spectra_find(ctx, &c.flow);
    for (tc_val v = 0; v < g->n_val; v++) {
        c.parent[v] = v;
        c.has[v] = ti_dataflow_wants_domain(&c.flow, v);
    }
    for (size_t i = 0; i < g->n_in && config->in.has; i++)
        c.has[g->in[i]] = ti_dataflow_is_f32(&c.flow, g->in[i]);
    settle_parts(&c);
    set_values(&c);
    set_spectra(&c);
    join_state(&c);
    join_moved(&c);
    join_parts(&c);
    if (config->anchor)
        join_anchor(&c);
    join_met(&c, out);
    number_domains(&c, out);
    const tc_node **reader = outside_readers(&c);
    for (size_t i = 0; i < out->n; i++)
        describe(&c, out, &out->domain[i], reader[find(&c, out->domain[i].val[0])]);
    ti_spectra_describe(ctx, &c.flow, &c.spectra, out);
    settle_joins(out);
    if (never) {
        out->cut = tc_new_n(&ctx->arena, float, g->n_val + 1);
        for (tc_val v = 0; v < g->n_val; v++)
            out->cut[v] = c.flow.cut[v] ? never[v] : 0;
    }
    tell_idle_observers(&c, out);
    ti_arena_rewind(&ctx->scratch, mark);
    return TC_OK;
}
