/* SPDX-License-Identifier: Apache-2.0 */
/* plan_fake_quant.c -- quantize, then dequantize as one step in any layout: rounding to a grid. */
#include "plan_steps.h"

#include "../num/snap.h"

typedef struct snap {
    tc_snap grid;
    int64_t n;
} snap;

static void run_snap(const void *what, void *const *in, void *out, void *scratch)
{
    (void)scratch;
    const snap *s = what;
    ti_snap_f32(&s->grid, in[0], out, (size_t)s->n);
}

/* Both have the same grid, by attributes, and codes are narrow. */
static bool undoes(const tc_node *q, const tc_node *d)
{
    const tc_attr_quantize *a = q->attr, *b = d->attr;
    return d->op == TC_OP_dequantize && q->n_in == 1 && d->n_in == 1 && a->axis < 0 &&
           b->axis < 0 && a->scale == b->scale && a->zero == b->zero && a->scale > 0 &&
           !a->divides && b->dtype == TC_f32 && tc_dtypes[a->dtype].bits <= 16 &&
           ti_snap_fits(a->zero, a->qmin, a->qmax);
}

bool ti_plan_snap(tc_maker *m, const tc_node *node)
{
    const tc_type *x = m->g->val[node->in[0]]->type;
    const tc_node *user = ti_plan_only_user(m, node->out[0]);
    if (!user || x->dtype != TC_f32 || !undoes(node, user))
        return false;
    const tc_attr_quantize *a = node->attr;
    snap *s = tc_new(&m->ctx->arena, snap);
    *s = (snap){ti_snap_make(a->scale, a->zero, a->qmin, a->qmax), tc_type_count(x)};
    const place *from = m->at[node->in[0]];
    const step *made =
        ti_step_prepared(m, node, run_snap, s, 0, &from, 1, user->out[0], from->layout);
    m->plan->store[made->out[0]->store].grid = &s->grid;
    m->joined[user->out[0]] = true;
    return true;
}
