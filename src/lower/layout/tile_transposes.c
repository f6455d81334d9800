/* SPDX-License-Identifier: Apache-2.0 */
/* tile_transposes.c -- typed form: transposes of many axes by parts.
 *
 * Chains of reshape and permute that move three or more groups of axes are cut along the axes that
 * move; the tiles (tile_values.h) keep their order inside, and are concatenated.  Window
 * partitions, patches and their inverses, space to depth.  What merges the heads of an attention is
 * `tile-attention`'s.  The old nodes are left to pass `remove-dead-code`.  Only for quantized
 * values: on machines that compute in float, movement is cheap. */
#include <math.h>

#include "../../base/real.h"
#include "../lower_pass.h"
#include "reshape_chain.h"
#include "tile_values.h"

enum { PIECES_MAX = 64 }; /* of one value */

/* Operators that take, or give, their channels last in memory though they are axis 1. */
static bool is_planar(tc_op op)
{
    return op == TC_OP_conv || op == TC_OP_conv_transpose || op == TC_OP_max_pool ||
           op == TC_OP_avg_pool || op == TC_OP_adaptive_avg_pool || op == TC_OP_batch_norm;
}

static bool made_planar(const tc_graph *g, tc_val v)
{
    const tc_node *def = ti_def(g, v);
    while (def && (tc_ops[def->op].traits & T_ELTWISE) && ti_type_of(g, v)->rank == 4) {
        v = def->in[0];
        def = ti_def(g, v);
    }
    return def && is_planar(def->op) && ti_type_of(g, v)->rank == 4;
}

static tc_chain begin(const tc_graph *g, tc_val source)
{
    static const uint8_t last[] = {0, 3, 1, 2}, plain[] = {0, 1, 2, 3, 4, 5, 6, 7};
    return ti_chain_begin(ti_type_of(g, source), made_planar(g, source) ? last : plain);
}

static bool is_link(const tc_graph *g, const tc_node *node)
{
    return node && (node->op == TC_OP_reshape || node->op == TC_OP_permute) &&
           ti_same_quant(ti_type_of(g, node->in[0])->quant, ti_type_of(g, node->out[0])->quant);
}

/* The chain that ends in the node's result. */
static bool follow(const tc_graph *g, const tc_node *end, tc_chain *c)
{
    const tc_node *link[16];
    int n = 0;
    for (const tc_node *node = end; is_link(g, node); node = ti_def(g, node->in[0])) {
        if (n == 16)
            return false;
        link[n++] = node;
    }
    if (!n || !tc_type_count(ti_type_of(g, end->out[0])))
        return false;
    *c = begin(g, link[n - 1]->in[0]);
    while (n-- > 0) {
        const tc_type *to = ti_type_of(g, link[n]->out[0]);
        if (link[n]->op == TC_OP_permute)
            ti_chain_permute(c, ((const tc_attr_perm *)link[n]->attr)->perm.v, to);
        else if (!ti_chain_reshape(c, to))
            return false;
    }
    return true;
}

/* The final order of the factors in memory. */
static void wanted_order(const tc_chain *c, bool planar, int *to)
{
    static const int last[] = {0, 2, 3, 1};
    int n = 0;
    for (int i = 0; i < c->type->rank; i++)
        for (int k = 0; k < c->n; k++)
            if (c->axis[k] == (planar ? last[i] : i))
                to[n++] = c->at[k];
}

/* Groups of factors that stay neighbours. */
static int groups(const tc_chain *c, const int *to)
{
    int n = c->n ? 1 : 0;
    for (int i = 1; i < c->n; i++) {
        int k = 0;
        while (c->from[k] != to[i - 1])
            k++;
        n += k + 1 >= c->n || c->from[k + 1] != to[i];
    }
    return n;
}

/* Of an axis, whole factors before and after a cut one are not a range: those before are cut
 * too. */
static void cut_before(tc_chain *c)
{
    for (int k = c->n - 1; k > 0; k--) {
        bool behind = false;
        for (int j = k; j < c->n && c->axis[j] == c->axis[k]; j++)
            behind = behind || !c->cut[c->at[j]];
        if (behind && c->cut[c->at[k]] && c->axis[k - 1] == c->axis[k])
            c->cut[c->at[k - 1]] = true;
    }
}

/* Cut along all factors that are not in the heaviest common subsequence of both orders; the number
 * of pieces. */
static int64_t choose_cuts(tc_chain *c, const int *to)
{
    double best[TC_FACTORS_MAX + 1][TC_FACTORS_MAX + 1] = {{0}};
    int64_t pieces = 1;
    for (int i = c->n - 1; i >= 0; i--)
        for (int k = c->n - 1; k >= 0; k--) {
            double with =
                c->from[i] == to[k] ? ti_log2((double)c->size[to[k]]) + best[i + 1][k + 1] : 0;
            best[i][k] = fmax(with, fmax(best[i + 1][k], best[i][k + 1]));
        }
    for (int f = 0; f < c->n; f++)
        c->cut[f] = true;
    for (int i = 0, k = 0; i < c->n && k < c->n;) {
        if (c->from[i] == to[k] && best[i][k] > best[i + 1][k] && best[i][k] > best[i][k + 1]) {
            c->cut[to[k]] = false;
            i++;
            k++;
        } else if (best[i + 1][k] >= best[i][k + 1]) {
            i++;
        } else {
            k++;
        }
    }
    cut_before(c);
    for (int f = 0; f < c->n; f++)
        if (c->cut[f])
            pieces *= c->size[f];
    return pieces;
}

enum { STRIPS_MAX = 8, STRIP_LEAST = 16 };

/* Few pieces of contiguous runs: cheaper than moving every element, for machines that copy faster
 * than they transpose. */
static bool are_strips(const tc_chain *c, const int *to, int64_t pieces)
{
    int64_t run = 1;
    for (int i = c->n - 1; i >= 0 && c->from[i] == to[i] && !c->cut[to[i]]; i--)
        run *= c->size[to[i]];
    return pieces <= STRIPS_MAX && run >= STRIP_LEAST;
}

/* ---- cut and concatenate ---- */

/* Elements of an axis for one position along each cut factor. */
static bool range_of(const tc_chain *c, int axis, const int64_t *position, tc_range *r)
{
    int64_t stride = 1;
    bool open = true;
    *r = (tc_range){0, 1, 1};
    for (int k = c->n - 1; k >= 0; k--) {
        int f = c->at[k];
        if (c->axis[k] != axis)
            continue;
        if (c->cut[f]) {
            r->start += position[f] * stride;
            if (r->count == 1)
                r->step *= c->size[f];
            open = r->count == 1;
        } else {
            if (!open)
                return false;
            r->count *= c->size[f];
        }
        stride *= c->size[f];
    }
    if (r->count == 1)
        r->step = 1;
    return true;
}

/* Positions of the cut factors in `at`, the minor ones first. */
static int cut_places(const tc_chain *c, int *place)
{
    int n = 0;
    for (int k = c->n - 1; k >= 0; k--)
        if (c->cut[c->at[k]])
            place[n++] = k;
    return n;
}

/* n tensors concatenated along one factor of an axis: [.., M m, ..] each, [.., M n m, ..] in all.
 * */
static tc_val join(tc_build *b, const tc_val *x, int64_t n, int axis, int64_t minor)
{
    const tc_type *t = ti_type_of(b->g, x[0]);
    int64_t major = t->dim[axis] / minor, before = major, after = minor, last = 1, dim[TC_MAX_RANK];
    if (major == 1)
        return ti_b_cat(b, axis, x, (int)n);
    memcpy(dim, t->dim, sizeof dim);
    dim[axis] *= n;
    for (int i = 0; i < axis; i++)
        before *= t->dim[i];
    for (int i = axis + 1; i < t->rank; i++)
        after *= i + 1 < t->rank ? t->dim[i] : 1;
    if (axis + 1 < t->rank)
        last = t->dim[t->rank - 1];
    tc_val flat[PIECES_MAX];
    for (int64_t i = 0; i < n; i++)
        flat[i] = ti_typed_reshape(b, x[i], 4, (int64_t[]){1, before, after, last});
    tc_val y = ti_b_cat(b, 2, flat, (int)n);
    return b->status == TC_OK ? ti_typed_reshape(b, y, t->rank, dim) : TC_NONE;
}

/* The old value `of`, whose axes are those of the chain's end (axis 1 may be another extent,
 * uncut), from its pieces. */
static tc_val in_pieces(tc_tiler *t, const tc_chain *c, tc_val of, bool planar, int64_t pieces)
{
    static const int64_t last[] = {0, 2, 3, 1}, first[] = {0, 3, 1, 2};
    static const int stored[] = {0, 3, 1, 2};
    tc_val part[PIECES_MAX];
    int place[TC_FACTORS_MAX], n_cut = cut_places(c, place);
    for (int64_t p = 0; p < pieces; p++) {
        int64_t position[TC_FACTORS_MAX] = {0}, rest = p;
        for (int i = 0; i < n_cut; i++) { /* the minor factor varies fastest */
            position[c->at[place[i]]] = rest % c->size[c->at[place[i]]];
            rest /= c->size[c->at[place[i]]];
        }
        tc_select s = ti_select_all(ti_type_of(t->rw->from, of));
        for (int i = 0; i < c->type->rank; i++)
            if (s.axis[i].count == c->type->dim[i] && !range_of(c, i, position, &s.axis[i]))
                return TC_NONE;
        part[p] = ti_tile_computed(t, of, &s);
        if (!part[p])
            return TC_NONE;
        if (planar)
            part[p] = ti_b_permute(&t->b, part[p], last);
    }
    for (int i = 0; i < n_cut; i++) {
        int k = place[i];
        int64_t n = c->size[c->at[k]], minor = 1;
        for (int j = k + 1; j < c->n && c->axis[j] == c->axis[k]; j++)
            minor *= c->size[c->at[j]];
        pieces /= n;
        for (int64_t p = 0; p < pieces && t->b.status == TC_OK; p++)
            part[p] = join(&t->b, &part[p * n], n, planar ? stored[c->axis[k]] : c->axis[k], minor);
    }
    if (t->b.status == TC_OK && planar)
        part[0] = ti_b_permute(&t->b, part[0], first);
    return t->b.status == TC_OK ? part[0] : TC_NONE;
}

/* ---- the pass ---- */

typedef struct pieces_pass {
    tc_tiler tiler;
    const tc_node **reader; /* by old value: one of its readers */
    const tc_node **end;    /* by old value: see chain_ends */
} pieces_pass;

/* An operator that may work piece by piece: it sees one position, or one element, at a time. */
static bool goes_along(const tc_rewrite *rw, const tc_node *node)
{
    if (!node || node->n_out != 1 || node->n_in == 0 || rw->readers[node->in[0]] != 1)
        return false;
    if ((tc_ops[node->op].traits & T_ELTWISE) && node->n_in == 1)
        return true;
    if (node->op != TC_OP_conv || ti_type_of(rw->from, node->in[0])->rank != 4)
        return false;
    const tc_attr_conv *a = node->attr;
    const tc_type *x = ti_type_of(rw->from, node->in[0]), *y = ti_type_of(rw->from, node->out[0]);
    const tc_type *w = ti_type_of(rw->from, node->in[1]);
    return a->groups == 1 && w->dim[2] == 1 && w->dim[3] == 1 && x->dim[2] == y->dim[2] &&
           x->dim[3] == y->dim[3];
}

/* By value: the end of the chain that it goes along with, or is; NULL: none.  Producers come first,
 * so each is found from its operand's. */
static const tc_node **chain_ends(const tc_rewrite *rw)
{
    const tc_graph *g = rw->from;
    const tc_node **end = tc_new_n(&rw->ctx->scratch, const tc_node *, g->n_val);
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (goes_along(rw, node))
            end[node->out[0]] = end[node->in[0]];
        else if (is_link(g, node))
            end[node->out[0]] = node;
    }
    return end;
}

static const tc_node **some_readers(const tc_rewrite *rw)
{
    const tc_node **reader = tc_new_n(&rw->ctx->scratch, const tc_node *, rw->from->n_val);
    for (size_t k = 0; k < rw->from->n_node; k++)
        for (int i = 0; i < rw->from->node[k]->n_in; i++)
            reader[rw->from->node[k]->in[i]] = rw->from->node[k];
    return reader;
}

static bool channels_whole(const tc_chain *c)
{
    for (int k = 0; k < c->n; k++)
        if (c->axis[k] == 1 && c->cut[c->at[k]])
            return false;
    return true;
}

static tc_status costly_movement(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_graph *g = rw->from;
    pieces_pass *p = rw->user;
    if (!p->end) {
        p->end = chain_ends(rw);
        p->reader = some_readers(rw);
    }
    const tc_node *end = node->n_out == 1 && node->n_in ? p->end[node->out[0]] : NULL;
    if (!end || !ti_type_of(g, node->out[0])->quant)
        return TC_OK;
    tc_tiler *t = ti_tiler_at(&p->tiler, rw, node);
    const tc_node *reader = p->reader[node->out[0]];
    if (reader && (is_link(g, reader) || ti_merged_heads(g, reader)))
        return TC_OK; /* further on */
    tc_chain c;
    int to[TC_FACTORS_MAX];
    if (!follow(g, end, &c))
        return TC_OK;
    const tc_node *user = p->reader[end->out[0]];
    bool planar = c.type->rank == 4 && user && is_planar(user->op);
    wanted_order(&c, planar, to);
    int n = groups(&c, to);
    int64_t pieces = n >= 3 ? choose_cuts(&c, to) : 1;
    if (n == 3 && !are_strips(&c, to, pieces))
        pieces = 1;
    if (pieces == 1 || pieces > PIECES_MAX || (node != end && !channels_whole(&c)))
        return TC_OK;
    if (goes_along(rw, reader) && channels_whole(&c))
        return TC_OK; /* further on */
    tc_val y = in_pieces(t, &c, node->out[0], planar, pieces);
    TC_TRY(t->b.status);
    if (y) {
        ti_rewrite_bind(rw, node->out[0], y);
        *done = true;
    }
    return TC_OK;
}

tc_status ti_lower_tile_transposes(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {costly_movement};
    tc_status status = TC_OK;
    for (size_t i = 0; i < module->n_graph && status == TC_OK; i++) {
        tc_mark mark = ti_arena_mark(&ctx->scratch);
        pieces_pass p = {0};
        status = ti_rewrite_graph(module->graph[i], rewriters, TC_COUNT(rewriters), &p);
        ti_arena_rewind(&ctx->scratch, mark);
    }
    return status;
}
