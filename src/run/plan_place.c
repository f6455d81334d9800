/* SPDX-License-Identifier: Apache-2.0 */
/* plan_place.c -- memory of values while a plan is built: stores, places, steps. */
#include "plan_steps.h"

size_t ti_store_new(tc_maker *m, store s)
{
    tc_plan *p = m->plan;
    tc_grow(&m->ctx->arena, p->store, p->n_store, p->cap_store);
    s.life = (tc_life){(int32_t)p->n_step, (int32_t)p->n_step};
    p->store[p->n_store] = s;
    return p->n_store++;
}

place *ti_place_new(tc_maker *m, const tc_type *logical, tc_layout layout, size_t where)
{
    place *p = tc_new(&m->ctx->arena, place);
    *p = (place){ti_layout_type(m->ctx, &layout, logical), layout, where, NULL};
    return p;
}

void ti_place_add(tc_maker *m, tc_val v, place *p)
{
    place **end = &m->at[v];
    while (*end)
        end = &(*end)->next;
    *end = p;
}

/* A new store for a value that the next step makes. */
place *ti_place_made(tc_maker *m, tc_val v, tc_layout layout)
{
    const tc_type *t = m->g->val[v]->type;
    place *p = ti_place_new(m, t, layout,
                            ti_store_new(m, (store){.kind = STORE_MADE,
                                                    .size = tc_type_bytes(t),
                                                    .real = t->dtype == TC_f32}));
    ti_place_add(m, v, p);
    return p;
}

step *ti_step_new(tc_maker *m, step_kind kind, const tc_node *node, int n_in, int n_out)
{
    tc_plan *p = m->plan;
    tc_arena *arena = &m->ctx->arena;
    tc_grow(arena, p->step, p->n_step, p->cap_step);
    step *s = &p->step[p->n_step];
    *s = (step){.kind = kind, .node = node, .n_in = n_in, .n_out = n_out, .scratch = -1};
    s->op = node ? node->op : TC_OP_identity;
    s->in = tc_new_n(arena, const place *, (size_t)n_in);
    s->out = tc_new_n(arena, const place *, (size_t)n_out);
    return s;
}

/* A step that only moves elements keeps their grid. */
static void keep_grid(tc_plan *p, const step *s)
{
    if (s->kind != STEP_KERNEL || s->n_in != 1 || s->n_out != 1 || !s->in[0] || !s->out[0] ||
        !(tc_ops[s->op].traits & T_MOVES) || s->op == TC_OP_pad)
        return;
    if (p->store[s->out[0]->store].real)
        p->store[s->out[0]->store].grid = p->store[s->in[0]->store].grid;
}

/* The step is complete: everything it reads lives at least until now. */
void ti_step_end(tc_maker *m, step *s)
{
    tc_plan *p = m->plan;
    keep_grid(p, s);
    for (int i = 0; i < s->n_in; i++)
        if (s->in[i])
            ti_life_use(&p->store[s->in[i]->store].life, (int32_t)p->n_step);
    p->n_step++;
}

/* A constant with its axes in another order, now. */
place *ti_place_reordered(tc_maker *m, const place *from, tc_layout layout, const tc_type *t)
{
    int64_t perm[TC_MAX_RANK];
    ti_layout_between(&from->layout, &layout, perm);
    tc_attr_perm attr = {{layout.rank, perm}};
    store s = {.kind = STORE_KNOWN, .size = tc_type_bytes(t)};
    s.data = ti_arena_raw(&m->ctx->arena, s.size);
    place *p = ti_place_new(m, t, layout, ti_store_new(m, s));
    tc_tensor in = {from->type, m->plan->store[from->store].data}, out = {p->type, s.data};
    tc_call call = {&attr, 1, 1, &in, &out, &m->ctx->scratch, NULL};
    tc_mark mark = ti_arena_mark(&m->ctx->scratch);
    tc_ops[TC_OP_permute].kernel(&call);
    ti_arena_rewind(&m->ctx->scratch, mark);
    return p;
}

/* The value in this layout; a transposed copy when it is not there yet. */
const place *ti_place_want(tc_maker *m, tc_val v, tc_layout layout, const tc_node *node)
{
    const tc_type *t = m->g->val[v]->type;
    for (const place *p = m->at[v]; p; p = p->next)
        if (ti_layout_same(&p->layout, &layout, t)) {
            if (memcmp(p->layout.axis, layout.axis, (size_t)layout.rank) == 0)
                return p;
            place *alias = ti_place_new(m, t, layout, p->store); /* only axes of extent 1 differ */
            ti_place_add(m, v, alias);
            return alias;
        }
    const place *from = m->at[v];
    if (m->plan->store[from->store].kind == STORE_KNOWN) {
        place *p = ti_place_reordered(m, from, layout, t);
        ti_place_add(m, v, p);
        return p;
    }
    int64_t perm[TC_MAX_RANK];
    ti_layout_between(&from->layout, &layout, perm);
    tc_attr_perm *attr = tc_new(&m->ctx->arena, tc_attr_perm);
    attr->perm = ti_ints_copy(&m->ctx->arena, perm, layout.rank);
    step *s = ti_step_new(m, STEP_KERNEL, node, 1, 1);
    s->in[0] = from;
    s->out[0] = ti_place_made(m, v, layout);
    s->op = TC_OP_permute;
    s->kernel = tc_ops[TC_OP_permute].kernel;
    s->attr = attr;
    ti_step_end(m, s);
    return s->out[0];
}

const place *ti_place_plain(tc_maker *m, tc_val v, const tc_node *node)
{
    return v ? ti_place_want(m, v, ti_layout_plain(m->g->val[v]->type->rank), node) : NULL;
}

/* v is an alias of `of`, without a step. */
void ti_place_alias(tc_maker *m, tc_val v, const place *of, tc_layout layout)
{
    ti_place_add(m, v, ti_place_new(m, m->g->val[v]->type, layout, of->store));
}


/* A constant operand; data is NULL when it is not constant, or mutable. */
tc_tensor ti_place_known(const tc_maker *m, tc_val v)
{
    tc_tensor t = ti_tensor_of(m->g, v);
    if (v && m->plan->store[m->at[v]->store].kind != STORE_KNOWN)
        t.data = NULL;
    return t;
}

const tc_node *ti_plan_only_user(const tc_maker *m, tc_val v)
{
    bool watched = m->plan->watch && m->plan->watch->wanted[v];
    return watched ? NULL : m->only_user[v];
}

step *ti_step_into(tc_maker *m, const tc_node *node, tc_prepared *run, const void *what,
                   size_t scratch, const place *const *in, int n_in, const place *out)
{
    step *s = ti_step_new(m, STEP_PREPARED, node, n_in, 1);
    memcpy(s->in, in, (size_t)n_in * sizeof *in);
    s->prepared = run;
    s->what = what;
    if (scratch)
        s->scratch = (long)ti_store_new(m, (store){.kind = STORE_MADE, .size = scratch});
    s->out[0] = out;
    ti_step_end(m, s);
    return s;
}

step *ti_step_prepared(tc_maker *m, const tc_node *node, tc_prepared *run, const void *what,
                       size_t scratch, const place *const *in, int n_in, tc_val v, tc_layout layout)
{
    return ti_step_into(m, node, run, what, scratch, in, n_in, ti_place_made(m, v, layout));
}
