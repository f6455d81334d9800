/* SPDX-License-Identifier: Apache-2.0 */
/* merge_slices.c -- TOSA form: slices of slices, through reshapes, as one slice.
 *
 *   SLICE(RESHAPE(SLICE(RESHAPE(x))))  =>  RESHAPE(SLICE(RESHAPE(x)))
 *   RESHAPE(SLICE(x)) of many images   =>  RESHAPE(SLICE(RESHAPE(x))) of one
 *
 * The selected elements are a set of strides over x, in falling order; where each stride is a
 * multiple of the next, x has a shape in which they are one box.  What is reshaped is
 * copied: every second row, then every second column, takes two copies, as a box one or none. */
#include "../../ir/rewrite.h"
#include "../lower_pass.h"
#include "../put.h"

enum { PIECES = 16, WAY = 16, RANK = 4 };

typedef struct piece {
    int64_t size, step;
    int axis; /* of the shape that it was last seen in */
} piece;

typedef struct box {
    int n;
    piece at[PIECES]; /* outermost first */
    int64_t offset;
} box;

/* Neighbours that walk through memory together as one, single elements left out. */
static void merge(box *b)
{
    int n = 0;
    for (int i = 0; i < b->n; i++) {
        piece p = b->at[i];
        if (p.size == 1)
            continue;
        if (n && b->at[n - 1].step == p.step * p.size)
            b->at[n - 1] = (piece){b->at[n - 1].size * p.size, p.step, 0};
        else
            b->at[n++] = p;
    }
    b->n = n;
}

/* The same elements as t's axes; false: an axis would begin inside a piece that does not divide. */
static bool reshape(box *b, const tc_type *t)
{
    box to = {.offset = b->offset};
    piece back[PIECES];
    merge(b);
    int left = b->n;
    for (int axis = t->rank - 1; axis >= 0; axis--)
        for (int64_t need = t->dim[axis]; need > 1;) {
            if (!left || to.n == PIECES)
                return false;
            piece *p = &b->at[left - 1];
            int64_t size = need % p->size == 0 ? p->size : p->size % need == 0 ? need : 0;
            if (!size)
                return false;
            back[to.n++] = (piece){size, p->step, axis};
            need /= size;
            if (p->size == size)
                left--;
            else
                *p = (piece){p->size / size, p->step * size, 0};
        }
    for (int i = 0; i < to.n; i++)
        to.at[i] = back[to.n - 1 - i];
    *b = to;
    return left == 0;
}

/* A part of each axis; false: of one that is more than one piece. */
static bool cut(box *b, const tc_type *from, const tc_type *to, const int64_t *start)
{
    for (int axis = 0; axis < from->rank; axis++) {
        piece *only = NULL;
        int pieces = 0;
        if (from->dim[axis] == to->dim[axis])
            continue;
        for (int i = 0; i < b->n; i++)
            if (b->at[i].axis == axis) {
                only = &b->at[i];
                pieces++;
            }
        if (pieces != 1)
            return false;
        b->offset += start[axis] * only->step;
        only->size = to->dim[axis];
    }
    return true;
}

/* A shape of x's `total` elements in which the box is a slice. */
static bool view(box *b, int64_t total, int64_t *dim, int64_t *start, int64_t *size)
{
    merge(b);
    if (!b->n || b->at[b->n - 1].step != 1) {
        if (b->n == PIECES)
            return false;
        b->at[b->n++] = (piece){1, 1, 0};
    }
    if (b->n > RANK)
        return false;
    for (int i = 0; i < RANK; i++)
        dim[i] = size[i] = 1, start[i] = 0;
    for (int i = 0; i < b->n; i++) {
        int64_t around = i ? b->at[i - 1].step : total, step = b->at[i].step;
        int k = RANK - b->n + i;
        if (around % step)
            return false;
        dim[k] = around / step;
        start[k] = b->offset / step % dim[k];
        size[k] = b->at[i].size;
        if (start[k] + size[k] > dim[k])
            return false;
    }
    return true;
}

static bool is_way(const tc_graph *g, const tc_node *node)
{
    return node && (node->op == TC_OP_tosa_reshape ||
                    (node->op == TC_OP_tosa_slice && ti_is_const(g, node->in[1])));
}

/* Reshapes and slices between a value and what they are of, the last one first. */
typedef struct road {
    tc_val x;
    int n;
    const tc_node *node[WAY];
} road;

static road road_to(const tc_graph *g, tc_val v)
{
    road r = {.x = v};
    for (const tc_node *def = ti_def(g, v); r.n < WAY && is_way(g, def); def = ti_def(g, r.x)) {
        r.node[r.n++] = def;
        r.x = def->in[0];
    }
    return r;
}

static bool walk(const tc_graph *g, const road *r, box *b)
{
    *b = (box){.n = 1, .at = {{tc_type_count(ti_type_of(g, r->x)), 1, 0}}};
    bool ok = reshape(b, ti_type_of(g, r->x));
    for (int i = r->n - 1; ok && i >= 0; i--) {
        const tc_node *node = r->node[i];
        const tc_type *to = ti_type_of(g, node->out[0]);
        ok = (node->op == TC_OP_tosa_reshape ||
              cut(b, ti_type_of(g, node->in[0]), to, g->val[node->in[1]]->data)) &&
             reshape(b, to);
    }
    return ok;
}

static tc_status take(tc_rewrite *rw, const tc_node *node, tc_val x, box *b, bool *done)
{
    const tc_type *to = ti_type_of(rw->from, node->out[0]);
    int64_t dim[RANK], start[RANK], size[RANK];
    if (!view(b, tc_type_count(ti_type_of(rw->to, x)), dim, start, size))
        return TC_OK;
    tc_build lw = ti_build_instead(rw, node);
    tc_val in[3] = {ti_b_tosa_reshape(&lw, x, RANK, dim)};
    in[1] = ti_b_shape(&lw, RANK, start);
    in[2] = ti_b_shape(&lw, RANK, size);
    tc_val y = ti_b_op(&lw, TC_OP_tosa_slice, NULL, in, 3);
    return ti_b_replace(&lw, ti_b_tosa_reshape(&lw, y, to->rank, to->dim), done);
}

/* A slice after one that is reshaped; what is read where it is stored is left. */
static tc_status slices(tc_rewrite *rw, const tc_node *node, bool *done)
{
    box b;
    if (node->op != TC_OP_tosa_slice || !ti_is_const(rw->from, node->in[1]) ||
        !tc_type_count(ti_type_of(rw->from, node->out[0])))
        return TC_OK;
    road r = road_to(rw->to, ti_rewrite_in(rw, node, 0));
    bool shaped = false, again = false;
    for (int i = 0; i < r.n; i++) {
        again = again || (shaped && r.node[i]->op == TC_OP_tosa_slice);
        shaped = shaped || r.node[i]->op == TC_OP_tosa_reshape;
    }
    if (!again || !walk(rw->to, &r, &b) ||
        !cut(&b, ti_type_of(rw->from, node->in[0]), ti_type_of(rw->from, node->out[0]),
             rw->from->val[node->in[1]]->data))
        return TC_OK;
    return take(rw, node, r.x, &b, done);
}

/* More than one [h,w,c]. */
static bool many_images(const tc_type *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->rank - 3; i++)
        n *= t->dim[i];
    return n > 1;
}

/* A slice of several images that is reshaped: of one image, if that can be: else each is copied. */
static tc_status images(tc_rewrite *rw, const tc_node *node, bool *done)
{
    box b;
    const tc_node *def = node->op == TC_OP_tosa_reshape ? ti_rewrite_def(rw, node, 0) : NULL;
    if (!def || def->op != TC_OP_tosa_slice || !tc_type_count(ti_type_of(rw->to, def->out[0])) ||
        !many_images(ti_type_of(rw->to, def->out[0])))
        return TC_OK;
    road r = road_to(rw->to, ti_rewrite_in(rw, node, 0));
    if (!r.n || !walk(rw->to, &r, &b))
        return TC_OK;
    merge(&b);
    return b.n < RANK ? take(rw, node, r.x, &b, done) : TC_OK;
}

TC_REWRITES(ti_lower_merge_slices, slices, images)
