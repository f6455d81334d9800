/* SPDX-License-Identifier: Apache-2.0 */
/* fuse_functions.c -- a function of one value is one operator.
 *
 *   connected elementwise operators with single numbers that read one value x, and whose inner
 *   values nothing else reads  =>  function(x), with their formula
 *
 * So only its result is observed and rounded, and in integers it is one table.  Taken is the
 * largest such piece that ends in a node: operands are added to it from the last computed one on,
 * and wherever x is the only value left to read, it is a piece.  Two values of which one is a function
 * of the other are one value: where no such piece ends in an operator of two, those may be part of it
 * that others read too, and are computed for them as before.
 *
 * What a rescaling does for nothing stays: factors, offsets and clamps by themselves.  So do products
 * and sums that a sum reads, since accumulators keep them exactly; questions that codes cannot
 * answer (precision_needs.c); power spectra; nodes with settings of their own; most pieces of 16 bits. */
#include "quantizer.h"

#include <math.h>

#include "../ir/build.h"
#include "../ir/formula_write.h"
#include "spectra.h"

enum { MOST_NODES = 30 };

typedef struct piece {
    const tc_node *node[MOST_NODES]; /* the last one first */
    bool shared[MOST_NODES];         /* others read it too */
    int n;
    tc_val left[2 * MOST_NODES]; /* what it reads, each once */
    int n_left;
} piece;

typedef struct search {
    const tc_graph *g;
    const tc_config *config;
    tc_apart *apart;
    void *who;
    const int64_t *place;  /* by value: of its node */
    const uint32_t *reads; /* by value: by operands */
    const bool *pinned;    /* by value: outputs, mutations, the signature */
    bool *inner;           /* by value: in a piece */
    bool *summed;          /* by value: a sum reads it */
    const tc_spectral_value *spectral; /* by value id */
    const bool *real;                  /* by value: left in float (dataflow.h) */
} search;

/* ---- nodes ---- */

/* A single number of a usual size; of several sizes of a model, one that is stored once. */
static bool is_number(const tc_graph *g, tc_val v)
{
    double number;
    return ti_formula_number(g, v, &number) && fabs(number) < 0x1p24 &&
           (tc_type_count(ti_type_of(g, v)) == 1 || !g->module->open.any);
}

static bool operands_fit(const tc_graph *g, const tc_node *node)
{
    for (int i = 0; i < node->n_in; i++)
        if (!node->in[i] || (ti_is_const(g, node->in[i]) && !is_number(g, node->in[i])))
            return false;
    return true;
}

static bool same_setting(const tc_setting *a, const tc_setting *b)
{
    return a->dtype == b->dtype && a->qmin == b->qmin && a->qmax == b->qmax &&
           a->symmetric == b->symmetric && a->observer == b->observer &&
           a->percentile == b->percentile && a->floor == b->floor && a->scale == b->scale &&
           a->zero == b->zero;
}

static tc_setting setting_of(const search *s, const tc_node *node, tc_level *level)
{
    return ti_config_scheme(s->config, node->loc, s->g->val[node->out[0]]->name, level).act;
}

/* What is said of the node is said of the piece's last one too, or of no node in particular. */
static bool settings_fit(const search *s, const tc_node *node, const tc_node *root)
{
    tc_level level, other;
    tc_setting own = setting_of(s, node, &level), wanted = setting_of(s, root, &other);
    return own.dtype != TC_none && own.dtype == wanted.dtype &&
           (level < TC_LEVEL_target || same_setting(&own, &wanted));
}

/* In a power spectrum, or a logarithm or root of one: these have 32 bits (spectra.h). */
static bool is_spectral(const search *s, const tc_node *node)
{
    bool any = s->spectral[node->out[0]].kind != TC_SPECTRAL_none || s->real[node->out[0]];
    for (int i = 0; i < node->n_in; i++)
        any = any || s->spectral[node->in[i]].kind == TC_SPECTRAL_power;
    return any;
}

static bool fits(const search *s, const tc_node *node, const tc_node *root)
{
    const tc_graph *g = s->g;
    if (!ti_formula_takes(g, node) || !operands_fit(g, node) ||
        TC_OP_IN(node->op, TC_OP_isnan, TC_OP_isinf, TC_OP_isfinite, TC_OP_nan_to_num, TC_OP_fmax,
                 TC_OP_fmin, TC_OP_eq, TC_OP_ne) ||
        is_spectral(s, node) || s->apart(s->who, g, node))
        return false;
    const tc_type *t = ti_type_of(g, node->out[0]), *last = ti_type_of(g, root->out[0]);
    return ti_has_dims(t, last->rank, last->dim) && settings_fit(s, node, root);
}

/* ---- pieces ---- */

static uint32_t reads_of(const piece *p, tc_val v)
{
    uint32_t n = 0;
    for (int k = 0; k < p->n; k++)
        for (int i = 0; i < p->node[k]->n_in; i++)
            n += p->node[k]->in[i] == v;
    return n;
}

static void add(const search *s, piece *p, const tc_node *node, bool shared)
{
    p->shared[p->n] = shared;
    p->node[p->n++] = node;
    for (int i = 0; i < node->n_in; i++) {
        bool there = ti_is_const(s->g, node->in[i]);
        for (int k = 0; k < p->n_left; k++)
            there = there || p->left[k] == node->in[i];
        if (!there)
            p->left[p->n_left++] = node->in[i];
    }
}

/* Something outside of the piece reads v, or a node that is computed there, too. */
static bool is_shared(const search *s, const piece *p, tc_val v)
{
    bool shared = s->pinned[v] || reads_of(p, v) != s->reads[v];
    for (int k = 0; k < p->n; k++)
        for (int i = 0; i < p->node[k]->n_in; i++)
            shared = shared || (p->shared[k] && p->node[k]->in[i] == v);
    return shared;
}

/* Takes the value that was computed last out of those that are left; its node. */
static const tc_node *take_last(const search *s, piece *p, bool share, bool *shared)
{
    int last = 0;
    for (int k = 1; k < p->n_left; k++)
        if (s->place[p->left[k]] > s->place[p->left[last]])
            last = k;
    tc_val v = p->left[last];
    const tc_node *def = ti_def(s->g, v);
    *shared = is_shared(s, p, v);
    if (!def || s->g->val[v]->state || (*shared && !share))
        return NULL;
    p->left[last] = p->left[--p->n_left];
    return def;
}

/* The largest piece that ends in the node; share: with what others read, too. */
static piece grown(const search *s, const tc_node *root, bool share)
{
    bool shared = false;
    piece p = {.n = 0}, best = {.n = 0};
    const tc_type *t = ti_type_of(s->g, root->out[0]);
    for (const tc_node *node = root; node && p.n < MOST_NODES && fits(s, node, root);) {
        add(s, &p, node, shared);
        const tc_type *x = p.n_left == 1 ? ti_type_of(s->g, p.left[0]) : NULL;
        if (x && x->dtype == TC_f32 && ti_has_dims(x, t->rank, t->dim))
            best = p;
        node = p.n_left ? take_last(s, &p, share, &shared) : NULL;
    }
    return best;
}

/* ---- which are worth it ---- */

static int count_varying(const tc_graph *g, const tc_node *node)
{
    int n = 0;
    for (int i = 0; i < node->n_in; i++)
        n += !ti_is_const(g, node->in[i]);
    return n;
}

/* A factor, an offset, a clamp. */
static bool is_rescaling(const tc_graph *g, const tc_node *node)
{
    return count_varying(g, node) == 1 && !(node->op == TC_OP_div && ti_is_const(g, node->in[0])) &&
           TC_OP_IN(node->op, TC_OP_add, TC_OP_sub, TC_OP_neg, TC_OP_mul, TC_OP_div, TC_OP_relu,
                    TC_OP_clamp, TC_OP_maximum, TC_OP_minimum);
}

static bool is_polynomial(const tc_graph *g, const tc_node *node)
{
    return TC_OP_IN(node->op, TC_OP_add, TC_OP_sub, TC_OP_neg, TC_OP_mul) ||
           (node->op == TC_OP_div && ti_is_const(g, node->in[1]));
}

/* From 16 bits several tables are added: they take the place of three steps or more, and of a curve
 * without corners. */
static bool is_worth(const search *s, const piece *p)
{
    int steps = 0;
    tc_level level;
    bool polynomial = true, curved = false;
    for (int k = 0; k < p->n; k++) {
        steps += !is_rescaling(s->g, p->node[k]);
        polynomial = polynomial && is_polynomial(s->g, p->node[k]);
        curved = curved || tc_roles[tc_ops[p->node[k]->op].role].is == TC_IS_curve ||
                 TC_OP_IN(p->node[k]->op, TC_OP_exp, TC_OP_log, TC_OP_log1p, TC_OP_sin, TC_OP_cos);
    }
    if (p->n > 1 && setting_of(s, p->node[0], &level).dtype == TC_i16 &&
        (steps < 3 || !(curved || polynomial)))
        return false;
    return p->n > 1 && steps && !(polynomial && s->summed[p->node[0]->out[0]]);
}

/* ---- the walk ---- */

typedef struct found {
    tc_val x;
    const char *formula;
} found;

static tc_status replace(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const found *all = rw->user;
    if (node->n_out != 1 || !all[node->out[0]].formula)
        return TC_OK;
    const found *f = &all[node->out[0]];
    tc_build b = ti_build_instead(rw, node);
    return ti_b_replace(
        &b, ti_b_1(&b, function, ti_b_attr(&b, function, f->formula), rw->now[f->x]), done);
}

static void find_piece(tc_ctx *ctx, const search *s, const tc_node *root, found *all)
{
    const tc_node *ordered[MOST_NODES];
    piece p = grown(s, root, false);
    if (!p.n && count_varying(s->g, root) == 2)
        p = grown(s, root, true);
    if (ti_type_of(s->g, root->out[0])->dtype != TC_f32 || !is_worth(s, &p))
        return;
    for (int k = 0; k < p.n; k++)
        ordered[k] = p.node[p.n - 1 - k];
    const char *formula = ti_formula_write(&ctx->arena, s->g, p.left[0], ordered, p.n);
    if (!formula)
        return;
    all[root->out[0]] = (found){p.left[0], formula};
    for (int k = 1; k < p.n; k++)
        s->inner[p.node[k]->out[0]] |= !p.shared[k];
}

static bool sums(tc_op op)
{
    return (tc_ops[op].traits & T_REDUCES) || op == TC_OP_cumsum || op == TC_OP_add ||
           op == TC_OP_sub;
}

tc_status ti_fuse_functions(tc_ctx *ctx, tc_module *module, const tc_config *config,
                            tc_apart *apart, void *who)
{
    tc_graph *g = ti_main(module);
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    int64_t *place = tc_new_n(&ctx->scratch, int64_t, g->n_val);
    uint32_t *reads = tc_new_n(&ctx->scratch, uint32_t, g->n_val);
    tc_dataflow flow = ti_dataflow_of(ctx, g, config, NULL);
    search s = {.g = g,
                .config = config,
                .apart = apart,
                .who = who,
                .place = place,
                .reads = reads,
                .pinned = ti_graph_pinned(ctx, g),
                .inner = tc_new_n(&ctx->scratch, bool, g->n_val),
                .summed = tc_new_n(&ctx->scratch, bool, g->n_val),
                .spectral = ti_spectra_find(ctx, &flow).value,
                .real = flow.real};
    found *all = tc_new_n(&ctx->scratch, found, g->n_val);
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        for (int i = 0; i < node->n_in; i++) {
            reads[node->in[i]]++;
            s.summed[node->in[i]] |= sums(node->op);
        }
        for (int i = 0; i < node->n_out; i++)
            place[node->out[i]] = (int64_t)k + 1;
    }
    for (size_t k = g->n_node; k-- > 0;)
        if (g->node[k]->n_out == 1 && !s.inner[g->node[k]->out[0]])
            find_piece(ctx, &s, g->node[k], all);
    tc_status status = ti_rewrite_graph(g, (tc_rewriter *const[]){replace}, 1, all);
    ti_arena_rewind(&ctx->scratch, mark);
    return status;
}
