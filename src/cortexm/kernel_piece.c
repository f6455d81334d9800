/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_piece.c -- see kernel_piece.h. */
#include "kernel_piece.h"

#include "../ir/tail.h"

const tc_node *ti_cm_def(const tc_cm_region *r, tc_val v, tc_op op)
{
    const tc_node *node = ti_def(r->from, v);
    return node && node->op == op ? node : NULL;
}

enum { MOST_CALLS = 900 }; /* graphs of one module (ir/verify.c), with some to spare */

tc_cm_piece ti_cm_piece_new(tc_cm_region *r, const tc_node *end)
{
    tc_module *m = r->b.g->module;
    if (m->n_graph > MOST_CALLS && r->b.status == TC_OK)
        r->b.status = ti_unsupported(r->ctx, end->loc, TC_E_UNSUPPORTED,
                                     "the program takes more than %d calls of kernels", MOST_CALLS);
    const char *name =
        ti_intern_text(r->ctx, ti_text_format(&r->ctx->arena, "kernel_%zu", m->n_graph));
    tc_cm_piece p = {.r = r, .g = ti_graph_new(m, name)};
    p.g->facts = r->from->facts;
    p.b = (tc_build){.ctx = r->ctx, .g = p.g, .loc = end->loc};
    return p;
}

/* What a value of the program is inside. */
tc_val ti_cm_piece_in(tc_cm_piece *p, tc_val outer)
{
    for (size_t i = 0; i < p->g->n_in; i++)
        if (p->outer[i] == outer)
            return p->g->in[i];
    p->outer[p->g->n_in] = outer;
    return ti_graph_input(p->g, ti_type_of(p->r->b.g, outer), NULL);
}

tc_val ti_cm_piece_const(tc_cm_piece *p, tc_val v)
{
    const tc_value *c = ti_value_of(p->r->from, v);
    return ti_graph_const(p->g, ti_cm_bare(p->r->ctx, c->type), c->data, NULL, p->b.loc);
}

/* The node inside, on first and then its constants. */
tc_val ti_cm_piece_node(tc_cm_piece *p, const tc_node *node, const void *attr, const tc_val *first,
                        int n_first)
{
    tc_val *in = tc_new_n(&p->r->ctx->arena, tc_val, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++)
        in[i] = i < n_first ? first[i] : ti_cm_piece_const(p, node->in[i]);
    return ti_b_op(&p->b, node->op, attr, in, node->n_in);
}

/* RESCALE, and CLAMP where there is one. */
tc_val ti_cm_piece_finish(tc_cm_piece *p, tc_val x, const tc_node *rescale, const tc_node *clamp)
{
    const tc_type *y = ti_cm_type(p->r, rescale->out[0]), *t = ti_b_type(&p->b, x);
    if (p->b.status != TC_OK)
        return TC_NONE;
    tc_val in[5] = {x};
    for (int i = 1; i < 5; i++)
        in[i] = ti_cm_piece_const(p, rescale->in[i]);
    x = ti_b_typed(&p->b, rescale->op, rescale->attr, in, 5,
                   ti_type_make(p->r->ctx, y->dtype, t->rank, t->dim));
    return clamp ? ti_cm_piece_node(p, clamp, clamp->attr, &x, 1) : x;
}

/* The piece as a call of the operator; TC_NONE: it is not one, and nothing is left of it. */
tc_val ti_cm_piece_call(tc_cm_piece *p, tc_cm_op op, tc_val out)
{
    tc_cm_region *r = p->r;
    tc_cm_call call;
    if (p->b.status != TC_OK) {
        r->b.status = p->b.status;
        return TC_NONE;
    }
    ti_graph_output(p->g, out);
    r->why = ti_cm_describe(r->ctx, p->g, op, r->core, r->caller, &call);
    if (r->why) {
        r->b.g->module->n_graph--;
        return TC_NONE;
    }
    tc_attr_call *attr = ti_b_attr(&r->b, call, p->g->name, ti_cm_target(r->ctx, op, r->core));
    return ti_b_typed(&r->b, TC_OP_call, attr, p->outer, (int)p->g->n_in, ti_type_of(p->g, out));
}

tc_val ti_cm_call_one(tc_cm_region *r, const tc_node *node, tc_cm_op op, tc_val x,
                      tc_cm_inside *make, const void *what)
{
    tc_cm_piece p = ti_cm_piece_new(r, node);
    tc_val in = ti_cm_piece_in(&p, x);
    return ti_cm_piece_call(&p, op, make(&p, in, what));
}

tc_val ti_cm_put_pad(tc_cm_piece *p, tc_val x, const void *what)
{
    const tc_cm_padding *pad = what;
    return ti_b_tosa_pad(&p->b, x, pad->pad, (double)pad->value);
}

tc_val ti_cm_put_node(tc_cm_piece *p, tc_val x, const void *what)
{
    const tc_node *node = what;
    return ti_cm_piece_node(p, node, node->attr, &x, 1);
}

bool ti_cm_ending_of(const tc_cm_region *r, const tc_node *node, tc_cm_ending *e)
{
    *e = (tc_cm_ending){node, NULL};
    if (node->op == TC_OP_tosa_clamp)
        *e = (tc_cm_ending){ti_tail_before(r->from, r->readers, node, false), node};
    return e->rescale && e->rescale->op == TC_OP_tosa_rescale;
}

const tc_node *ti_cm_root_of(const tc_cm_region *r, const tc_cm_ending *e, tc_op op)
{
    const tc_node *root = ti_tail_before(r->from, r->readers, e->rescale, false);
    return root && root->op == op ? root : NULL;
}

/* The same bytes in another shape. */
tc_val ti_cm_reshaped(tc_cm_region *r, tc_val x, int rank, const int64_t *dim)
{
    return r->caller == TC_CM_C ? ti_b_tosa_reshape(&r->b, x, rank, dim)
                                : ti_b_reshape(&r->b, x, rank, dim);
}
