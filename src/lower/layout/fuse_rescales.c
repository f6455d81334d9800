/* SPDX-License-Identifier: Apache-2.0 */
/* fuse_rescales.c -- RESCALEs move to where a target can fuse them, bit-exact.
 *
 *   f(g(x)) of i8                   =>  one TABLE (two CLAMPs: one CLAMP), where nothing else
 *                                       reads g(x)
 *   RESCALE i8 -> i8 of an ADD,     =>  a TABLE, which is free there
 *     MUL or convolution that was just narrowed
 *   identities                      =>  nothing
 *   SLICE of a SLICE                =>  one; CONCAT of a CONCAT along the same axis too
 *   SLICE of [.., n, c] reshaped    =>  RESHAPE of a SLICE of [.., n c], which the machine reads
 *     from [.., n c], along n           in place
 *   a widening RESCALE              =>  one for each reader, which fuses it
 *   a layer's accumulator           =>  a layer for each RESCALE that reads it
 *   RESCALE of a CONCAT of layers   =>  CONCAT of their RESCALEs, which each layer fuses */
#include "../lower_pass.h"

#include <math.h>

#include "../../ir/build.h"
#include "../../num/fixed.h"
#include "../../num/load.h"
#include "../../target/judge.h"

/* An i8 for each i8, by code + 128. */
typedef struct map8 {
    int8_t to[256];
} map8;

typedef struct merge {
    bool *read; /* by value of the new graph: it has a reader already */
    size_t n;
} merge;

static bool is_i8(const tc_type *t) { return t->dtype == TC_i8 && !t->quant; }

static int64_t number(const tc_graph *g, tc_val v, int64_t i)
{
    return ti_load_i64(ti_tensor_of(g, v), i);
}

static bool map_rescale(const tc_graph *g, const tc_node *node, map8 *m)
{
    const tc_attr_tosa_rescale *a = node->attr;
    for (int i = 1; i < 5; i++)
        if (!ti_is_const(g, node->in[i]))
            return false;
    if (a->per_channel || !a->scale32 || a->rounding_mode != TC_rounding_single ||
        a->input_unsigned || a->output_unsigned)
        return false;
    int64_t mult = number(g, node->in[1], 0), shift = number(g, node->in[2], 0);
    int64_t in_zero = number(g, node->in[3], 0), out_zero = number(g, node->in[4], 0);
    for (int i = 0; i < 256; i++) {
        int64_t v = i - 128 - in_zero;
        if (!ti_scale32_defined(v, mult, shift))
            return false;
        m->to[i] = (int8_t)ti_clip(ti_scale32((int32_t)v, (int32_t)mult, (int)shift) + out_zero,
                                   -128, 127);
    }
    return true;
}

static bool map_clamp(const tc_node *node, map8 *m)
{
    const tc_attr_tosa_clamp *a = node->attr;
    for (int i = 0; i < 256; i++)
        m->to[i] = (int8_t)fmax(fmin(i - 128, a->max_val), a->min_val);
    return true;
}

static bool map_table(const tc_graph *g, const tc_node *node, map8 *m)
{
    if (!ti_is_const(g, node->in[1]))
        return false;
    memcpy(m->to, g->val[node->in[1]]->data, sizeof m->to);
    return true;
}

/* The node as a map, when it is one from i8 to i8. */
static bool as_map(const tc_graph *g, const tc_node *node, map8 *m)
{
    bool known = node && (node->op == TC_OP_tosa_rescale || node->op == TC_OP_tosa_clamp ||
                          node->op == TC_OP_tosa_table);
    if (!known || !is_i8(ti_type_of(g, node->out[0])) || ti_type_of(g, node->in[0])->dtype != TC_i8)
        return false;
    return node->op == TC_OP_tosa_rescale ? map_rescale(g, node, m)
           : node->op == TC_OP_tosa_clamp ? map_clamp(node, m)
                                          : map_table(g, node, m);
}

static bool changes_nothing(const map8 *m)
{
    for (int i = 0; i < 256; i++)
        if (m->to[i] != i - 128)
            return false;
    return true;
}

/* f => x, where f(x) = x for every i8 */
static tc_status drop(tc_rewrite *rw, const tc_node *node, bool *done)
{
    map8 m;
    tc_val x = node->n_in ? ti_rewrite_in(rw, node, 0) : TC_NONE;
    if (!x || node->n_out != 1 || ti_type_of(rw->to, x) != ti_type_of(rw->from, node->out[0]))
        return TC_OK;
    if (!as_map(rw->from, node, &m) || !changes_nothing(&m))
        return TC_OK;
    return ti_rewrite_with(rw, node, x, done);
}

static tc_status put_table(tc_rewrite *rw, const tc_node *node, tc_val x, const map8 *m, bool *done)
{
    tc_build b = ti_build_instead(rw, node);
    const tc_type *type = ti_type_make(rw->ctx, TC_i8, 1, (int64_t[]){256});
    return ti_b_replace(&b, ti_b_tosa_table(&b, x, ti_b_data(&b, type, ti_b_keep(&b, m))), done);
}

static tc_status put_clamp(tc_rewrite *rw, const tc_node *node, const tc_node *inner, bool *done)
{
    const tc_attr_tosa_clamp *p = inner->attr, *q = node->attr;
    tc_attr_tosa_clamp a = {.min_val = fmax(fmin(p->min_val, q->max_val), q->min_val),
                            .max_val = fmax(fmin(p->max_val, q->max_val), q->min_val),
                            .nan_mode = q->nan_mode};
    return ti_rewrite_as(rw, node, TC_OP_tosa_clamp, ti_arena_copy(&rw->ctx->arena, &a, sizeof a),
                         inner->in[0], done);
}

/* A value just narrowed from an accumulator to i8: an activation after it costs nothing.
 */
static bool was_narrowed(const tc_graph *g, const tc_node *node)
{
    return node && node->op == TC_OP_tosa_rescale &&
           tc_dtypes[ti_type_of(g, node->in[0])->dtype].bytes > 1;
}

static tc_status join(tc_rewrite *rw, const tc_node *node, bool *done)
{
    map8 outer, inner;
    if (node->n_out != 1 || !as_map(rw->from, node, &outer) || rw->readers[node->in[0]] != 1)
        return TC_OK;
    const tc_node *def = ti_rewrite_def(rw, node, 0);
    if (!as_map(rw->to, def, &inner))
        return node->op == TC_OP_tosa_rescale && was_narrowed(rw->to, def)
                   ? put_table(rw, node, ti_rewrite_in(rw, node, 0), &outer, done)
                   : TC_OK;
    if (def->op == TC_OP_tosa_clamp && node->op == TC_OP_tosa_clamp)
        return put_clamp(rw, node, def, done);
    for (int i = 0; i < 256; i++)
        inner.to[i] = outer.to[inner.to[i] + 128];
    return put_table(rw, node, def->in[0], &inner, done);
}

/* ---- movement ---- */

static const int64_t *shape_of(const tc_graph *g, tc_val v)
{
    return ti_is_const(g, v) ? (const int64_t *)g->val[v]->data : NULL;
}

static tc_status join_slices(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_tosa_slice)
        return TC_OK;
    const tc_node *def = ti_rewrite_def(rw, node, 0);
    if (!def || def->op != TC_OP_tosa_slice)
        return TC_OK;
    const int64_t *p = shape_of(rw->to, def->in[1]), *q = shape_of(rw->from, node->in[1]);
    if (!p || !q)
        return TC_OK;
    const tc_type *type = ti_type_of(rw->from, node->out[0]);
    int64_t *start = tc_new_n(&rw->ctx->arena, int64_t, TC_MAX_RANK);
    for (int i = 0; i < type->rank; i++)
        start[i] = p[i] + q[i];
    tc_build b = ti_build_instead(rw, node);
    tc_val at = ti_b_data(&b, ti_type_of(rw->from, node->in[1]), start);
    return ti_b_again(&b, (tc_val[]){def->in[0], at, ti_b_in(&b, 2)}, 3, done);
}

/* The axis of x that y has as two, n and c; -1: y is something else. */
static int split_axis(const tc_type *x, const tc_type *y)
{
    int axis = 0;
    if (y->rank != x->rank + 1)
        return -1;
    while (axis < x->rank - 1 && x->dim[axis] == y->dim[axis])
        axis++;
    for (int i = axis + 1; i < x->rank; i++)
        if (x->dim[i] != y->dim[i + 1])
            return -1;
    return x->dim[axis] == y->dim[axis] * y->dim[axis + 1] ? axis : -1;
}

/* slice(reshape(x)) => reshape(slice(x)), where an axis of x was split and the slice is along the
 * first of the two; not where that is the outermost, which is contiguous anyway. */
static tc_status slice_whole(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_node *def = node->op == TC_OP_tosa_slice ? ti_rewrite_def(rw, node, 0) : NULL;
    const int64_t *from = def ? shape_of(rw->from, node->in[1]) : NULL;
    if (!from || def->op != TC_OP_tosa_reshape)
        return TC_OK;
    const tc_type *x = ti_type_of(rw->to, def->in[0]), *y = ti_type_of(rw->to, def->out[0]);
    const tc_type *type = ti_type_of(rw->from, node->out[0]);
    int axis = split_axis(x, y);
    bool inside = false;
    for (int i = 0; i < axis; i++)
        inside |= x->dim[i] > 1;
    for (int i = 0; inside && i < y->rank; i++)
        inside = i == axis || y->dim[i] == type->dim[i];
    if (!inside)
        return TC_OK;
    int64_t c = y->dim[axis + 1], start[TC_MAX_RANK] = {0}, dim[TC_MAX_RANK];
    memcpy(dim, x->dim, sizeof dim);
    start[axis] = from[axis] * c;
    dim[axis] = type->dim[axis] * c;
    tc_build b = ti_build_instead(rw, node);
    tc_val at = ti_b_shape(&b, x->rank, start), size = ti_b_shape(&b, x->rank, dim);
    tc_val part = ti_b_3(&b, tosa_slice, NULL, def->in[0], at, size);
    return ti_b_replace(&b, ti_b_tosa_reshape(&b, part, type->rank, type->dim), done);
}

/* The CONCAT along the same axis that makes an operand, if it has no other reader. */
static const tc_node *inner_concat(tc_rewrite *rw, const tc_node *node, int i)
{
    const tc_node *def = ti_rewrite_def(rw, node, i);
    bool joins = def && def->op == TC_OP_tosa_concat && rw->readers[node->in[i]] == 1 &&
                 ((const tc_attr_tosa_axis *)def->attr)->axis ==
                     ((const tc_attr_tosa_axis *)node->attr)->axis;
    return joins ? def : NULL;
}

static tc_status join_concats(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_tosa_concat)
        return TC_OK;
    size_t n = 0;
    for (int i = 0; i < node->n_in; i++) {
        const tc_node *def = inner_concat(rw, node, i);
        n += def ? (size_t)def->n_in : 1;
    }
    if (n == (size_t)node->n_in || n > TC_LEVEL_LIST)
        return TC_OK;
    tc_val *in = tc_new_n(&rw->ctx->scratch, tc_val, n);
    n = 0;
    for (int i = 0; i < node->n_in; i++) {
        const tc_node *def = inner_concat(rw, node, i);
        for (int k = 0; def && k < def->n_in; k++)
            in[n++] = def->in[k];
        if (!def)
            in[n++] = ti_rewrite_in(rw, node, i);
    }
    tc_build b = ti_build_instead(rw, node);
    return ti_b_again(&b, in, (int)n, done);
}

/* ---- one for each reader ---- */

static bool read_before(merge *m, tc_arena *scratch, tc_val v)
{
    if (v >= m->n) {
        size_t n = m->n;
        m->n = 2 * (size_t)v + 64;
        bool *more = tc_new_n(scratch, bool, m->n);
        if (n)
            memcpy(more, m->read, n);
        m->read = more;
    }
    bool before = m->read[v];
    m->read[v] = true;
    return before;
}

static size_t bytes_of(const tc_graph *g, tc_val v)
{
    return tc_dtypes[ti_type_of(g, v)->dtype].bytes;
}

static bool accumulates(const tc_graph *g, const tc_node *node)
{
    return node && node->op >= TC_OP_tosa_argmax && (tc_ops[node->op].traits & T_MAC) &&
           ti_is_int(ti_type_of(g, node->out[0])->dtype);
}

/* Whether the node is cheaper made again than read twice, by this reader. */
static bool made_again(const tc_graph *g, const tc_node *def, const tc_node *reader)
{
    if (!def || def->n_out != 1)
        return false;
    if (def->op == TC_OP_tosa_rescale)
        return bytes_of(g, def->in[0]) < bytes_of(g, def->out[0]);
    return accumulates(g, def) && reader->op == TC_OP_tosa_rescale;
}

static tc_val again(tc_rewrite *rw, tc_val v)
{
    const tc_node *def = ti_def(rw->to, v);
    tc_node *copy = ti_graph_add(rw->to, def->op, def->attr, def->in, def->n_in, 1, def->loc);
    rw->to->val[copy->out[0]]->type = ti_type_of(rw->to, v);
    return copy->out[0];
}

/* Elements start .. start + n of a constant of the old graph. */
static tc_val part_of(tc_build *b, tc_val old, int64_t start, int64_t n)
{
    const tc_type *t = ti_type_of(b->rw->from, old);
    size_t width = tc_dtypes[t->dtype].bytes;
    const char *data = b->rw->from->val[old]->data;
    return ti_b_data(
        b, ti_type_make(b->ctx, t->dtype, 1, &n),
        ti_arena_copy(&b->ctx->arena, data + (size_t)start * width, (size_t)n * width));
}

/* rescale(concat(product, product)) => concat(rescale(product), rescale(product)) */
static tc_status narrow_parts(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_tosa_rescale || rw->readers[node->in[0]] != 1 ||
        !ti_is_const(rw->from, node->in[1]) || !ti_is_const(rw->from, node->in[2]))
        return TC_OK;
    const tc_node *joined = ti_rewrite_def(rw, node, 0);
    if (!joined || joined->op != TC_OP_tosa_concat)
        return TC_OK;
    for (int i = 0; i < joined->n_in; i++)
        if (!accumulates(rw->to, ti_def(rw->to, joined->in[i])))
            return TC_OK;
    const tc_type *type = ti_type_of(rw->from, node->out[0]);
    bool cut = ((const tc_attr_tosa_rescale *)node->attr)->per_channel &&
               ((const tc_attr_tosa_axis *)joined->attr)->axis == type->rank - 1;
    tc_build b = ti_build_instead(rw, node);
    tc_val *part = tc_new_n(&rw->ctx->scratch, tc_val, (size_t)joined->n_in);
    int64_t start = 0;
    for (int i = 0; i < joined->n_in; i++) {
        const tc_type *t = ti_type_of(rw->to, joined->in[i]);
        int64_t n = t->dim[t->rank - 1];
        tc_val in[5] = {joined->in[i]};
        if (read_before(rw->user, &rw->ctx->scratch, in[0]))
            in[0] = again(rw, in[0]);
        for (int k = 1; k < 5; k++)
            in[k] = cut && k < 3 ? part_of(&b, node->in[k], start, n) : ti_b_in(&b, k);
        part[i] = ti_b_typed(&b, node->op, node->attr, in, 5,
                             ti_type_make(rw->ctx, type->dtype, t->rank, t->dim));
        start += n;
    }
    b.loc = joined->loc;
    return ti_b_replace(&b, ti_b_op(&b, joined->op, joined->attr, part, joined->n_in), done);
}

static tc_status private_operands(tc_rewrite *rw, const tc_node *node, bool *done)
{
    tc_val *in = tc_new_n(&rw->ctx->scratch, tc_val, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++) {
        in[i] = rw->now[node->in[i]];
        if (made_again(rw->to, ti_def(rw->to, in[i]), node) &&
            read_before(rw->user, &rw->ctx->scratch, in[i]))
            in[i] = again(rw, in[i]);
    }
    ti_rewrite_copy(rw, node);
    tc_node *copy = rw->to->node[rw->to->n_node - 1];
    memcpy(copy->in, in, (size_t)node->n_in * sizeof *in);
    *done = true;
    return TC_OK;
}

tc_status ti_lower_fuse_rescales(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {
        drop, join, join_slices, slice_whole, join_concats, narrow_parts, private_operands};
    tc_status status = TC_OK;
    for (size_t i = 0; i < module->n_graph && status == TC_OK; i++) {
        tc_mark mark = ti_arena_mark(&ctx->scratch);
        merge m = {0};
        status = ti_rewrite_graph(module->graph[i], rewriters, TC_COUNT(rewriters), &m);
        ti_arena_rewind(&ctx->scratch, mark);
    }
    return status;
}
