/* SPDX-License-Identifier: Apache-2.0 */
/* plan_steps.c -- from nodes to steps: layouts, products with what follows them, aliases.
 *
 * Every operator is one of a few kinds with respect to layout (the table `habits`).  A value is made in
 * the layout its producer likes; a consumer that wants another gets a transposed copy, once. */
#include "plan_steps.h"

typedef struct maker {
    tc_plan *plan;
    tc_ctx *ctx;
    tc_graph *g;
    place **at;       /* by value: its places, the first one made first */
    uint32_t *uses;   /* by value */
    const tc_node **only_user; /* by value: its user, where there is just one */
    bool *joined;     /* by value: its node is computed by the product before it */
} maker;

/* ---- places ---- */

static size_t new_store(maker *m, store s)
{
    tc_plan *p = m->plan;
    tc_grow(&m->ctx->arena, p->store, p->n_store, p->cap_store);
    s.first = s.last = p->n_step;
    p->store[p->n_store] = s;
    return p->n_store++;
}

static place *new_place(maker *m, const tc_type *logical, tc_layout layout, size_t where)
{
    place *p = tc_new(&m->ctx->arena, place);
    *p = (place){tc_layout_type(m->ctx, &layout, logical), layout, where, NULL};
    return p;
}

static void add_place(maker *m, tc_val v, place *p)
{
    place **end = &m->at[v];
    while (*end)
        end = &(*end)->next;
    *end = p;
}

/* Memory of its own for a value that the next step makes. */
static place *made(maker *m, tc_val v, tc_layout layout)
{
    const tc_type *t = m->g->val[v]->type;
    place *p = new_place(m, t, layout, new_store(m, (store){.kind = STORE_MADE, .size = tc_type_bytes(t)}));
    add_place(m, v, p);
    return p;
}

static step *new_step(maker *m, step_kind kind, const tc_node *node, int n_in, int n_out)
{
    tc_plan *p = m->plan;
    tc_arena *arena = &m->ctx->arena;
    tc_grow(arena, p->step, p->n_step, p->cap_step);
    step *s = &p->step[p->n_step];
    *s = (step){.kind = kind, .node = node, .n_in = n_in, .n_out = n_out, .scratch = -1};
    s->in = tc_new_n(arena, const place *, (size_t)n_in);
    s->out = tc_new_n(arena, const place *, (size_t)n_out);
    return s;
}

/* The step is complete: everything it reads lives at least until now. */
static void end_step(maker *m, step *s)
{
    tc_plan *p = m->plan;
    for (int i = 0; i < s->n_in; i++)
        if (s->in[i])
            p->store[s->in[i]->store].last = p->n_step;
    p->n_step++;
}

/* A constant with its axes in another order, now. */
static place *reordered_constant(maker *m, const place *from, tc_layout layout, const tc_type *t)
{
    int64_t perm[TC_MAX_RANK];
    tc_layout_between(&from->layout, &layout, perm);
    tc_attr_perm attr = {{layout.rank, perm}};
    store s = {.kind = STORE_KNOWN, .size = tc_type_bytes(t)};
    s.data = tc_arena_raw(&m->ctx->arena, s.size);
    place *p = new_place(m, t, layout, new_store(m, s));
    tc_tensor in = {from->type, m->plan->store[from->store].data}, out = {p->type, s.data};
    tc_call call = {&attr, 1, 1, &in, &out, &m->ctx->scratch, NULL};
    tc_mark mark = tc_arena_mark(&m->ctx->scratch);
    tc_ops[TC_OP_permute].kernel(&call);
    tc_arena_rewind(&m->ctx->scratch, mark);
    return p;
}

/* The value in this layout; a transposed copy when it is not there yet. */
static const place *want(maker *m, tc_val v, tc_layout layout, const tc_node *node)
{
    const tc_type *t = m->g->val[v]->type;
    for (const place *p = m->at[v]; p; p = p->next)
        if (tc_layout_same(&p->layout, &layout, t)) {
            if (memcmp(p->layout.axis, layout.axis, (size_t)layout.rank) == 0)
                return p;
            place *alias = new_place(m, t, layout, p->store); /* only axes of extent 1 differ */
            add_place(m, v, alias);
            return alias;
        }
    const place *from = m->at[v];
    if (m->plan->store[from->store].kind == STORE_KNOWN) {
        place *p = reordered_constant(m, from, layout, t);
        add_place(m, v, p);
        return p;
    }
    int64_t perm[TC_MAX_RANK];
    tc_layout_between(&from->layout, &layout, perm);
    tc_attr_perm *attr = tc_new(&m->ctx->arena, tc_attr_perm);
    attr->perm = tc_ints_copy(&m->ctx->arena, perm, layout.rank);
    step *s = new_step(m, STEP_KERNEL, node, 1, 1);
    s->in[0] = from;
    s->out[0] = made(m, v, layout);
    s->kernel = tc_ops[TC_OP_permute].kernel;
    s->attr = attr;
    end_step(m, s);
    return s->out[0];
}

static const place *want_plain(maker *m, tc_val v, const tc_node *node)
{
    return v ? want(m, v, tc_layout_plain(m->g->val[v]->type->rank), node) : NULL;
}

/* v shows the numbers of `of`, without a step. */
static void alias(maker *m, tc_val v, const place *of, tc_layout layout)
{
    add_place(m, v, new_place(m, m->g->val[v]->type, layout, of->store));
}

/* ---- how operators take layouts ---- */

typedef enum habit {
    PLAIN,    /* operands and results as their types say */
    ELTWISE,  /* any layout, the same for all */
    AXIS,     /* one operand or a list; the attribute's first field is the axis */
    AXES,     /* the attribute's first field is a list of axes, its second is keepdim */
    PER_AXIS, /* the attribute's first field is a list with one entry (or a pair) per axis */
} habit;

static habit habit_of(tc_op op)
{
    switch (op) {
    case TC_OP_cat:
    case TC_OP_slice:
    case TC_OP_split:
    case TC_OP_softmax:
    case TC_OP_log_softmax:
    case TC_OP_cumsum:
    case TC_OP_glu:
        return AXIS;
    case TC_OP_sum:
    case TC_OP_mean:
    case TC_OP_amax:
    case TC_OP_amin:
    case TC_OP_var:
    case TC_OP_std:
        return AXES;
    case TC_OP_expand:
    case TC_OP_pad:
        return PER_AXIS;
    case TC_OP_prelu: /* its weight belongs to axis 1 */
    case TC_OP_clamp_tensor:
        return PLAIN;
    default:
        return tc_ops[op].traits & T_ELTWISE && !tc_ops[op].tosa ? ELTWISE : PLAIN;
    }
}

/* The attribute with its axes renamed to where they lie. */
static const void *renamed(maker *m, const tc_node *node, habit h, const tc_layout *l)
{
    tc_arena *arena = &m->ctx->arena;
    char *copy = tc_arena_copy(arena, node->attr, tc_attrs[tc_ops[node->op].attr].size);
    if (h == AXIS) {
        int64_t *axis = (int64_t *)(void *)copy;
        *axis = tc_layout_at(l, *axis);
        return copy;
    }
    tc_ints *list = (tc_ints *)(void *)copy;
    int64_t *v = tc_new_n(arena, int64_t, (size_t)list->n);
    int each = h == PER_AXIS ? list->n / l->rank : 1;
    for (int i = 0; i < list->n; i++)
        v[i] = h == AXES ? tc_layout_at(l, list->v[i]) : list->v[l->axis[i / each] * each + i % each];
    list->v = v;
    return copy;
}

/* Whether the operand is one number, the same in any layout. */
static bool single(const tc_type *t)
{
    return tc_type_count(t) == 1 && t->rank <= 1;
}

/* The layout that most of the work already has: that of the first operand with the result's rank. */
static tc_layout common_layout(maker *m, const tc_node *node, int32_t rank)
{
    for (int i = 0; i < node->n_in; i++) {
        tc_val v = node->in[i];
        const tc_type *t = v ? m->g->val[v]->type : NULL;
        if (t && t->rank == rank && m->plan->store[m->at[v]->store].kind != STORE_KNOWN &&
            tc_type_count(t) == tc_type_count(m->g->val[node->out[0]]->type))
            return m->at[v]->layout;
    }
    return tc_layout_plain(rank);
}

/* An operand of lower rank takes part as if it had leading axes of extent 1. */
static const place *want_broadcast(maker *m, tc_val v, tc_layout layout, const tc_node *node)
{
    const tc_type *t = m->g->val[v]->type;
    if (t->rank == layout.rank)
        return want(m, v, layout, node);
    if (single(t))
        return want_plain(m, v, node);
    tc_type wide = *t;
    int lead = layout.rank - t->rank;
    wide.rank = layout.rank;
    for (int i = 0; i < layout.rank; i++)
        wide.dim[i] = i < lead ? 1 : t->dim[i - lead];
    const tc_type *type = tc_type_intern(m->ctx, &wide);
    tc_layout plain = tc_layout_plain(layout.rank);
    const place *from = want_plain(m, v, node);
    place *p = new_place(m, type, plain, from->store);
    if (tc_layout_same(&plain, &layout, type))
        return new_place(m, type, layout, from->store);
    if (m->plan->store[from->store].kind == STORE_KNOWN)
        return reordered_constant(m, p, layout, type);
    return NULL;
}

static tc_layout result_layout(maker *m, const tc_node *node, habit h, const tc_layout *l)
{
    (void)m;
    const tc_attr_axes *a = node->attr;
    return h == AXES && !a->keepdim ? tc_layout_drop(l, a->axes) : *l;
}

/* A kernel of num/ on operands as they lie. */
static bool plan_kernel(maker *m, const tc_node *node, habit h, tc_layout layout)
{
    const place **in = tc_new_n(&m->ctx->arena, const place *, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++) {
        tc_val v = node->in[i];
        in[i] = h == PLAIN ? want_plain(m, v, node) : v ? want_broadcast(m, v, layout, node) : NULL;
        if (v && !in[i])
            return false;
    }
    step *s = new_step(m, STEP_KERNEL, node, node->n_in, node->n_out);
    memcpy(s->in, in, (size_t)node->n_in * sizeof *in);
    s->kernel = tc_ops[node->op].kernel;
    s->attr = h == PLAIN || h == ELTWISE ? node->attr : renamed(m, node, h, &layout);
    for (int i = 0; i < node->n_out; i++) {
        tc_layout out = h == PLAIN ? tc_layout_plain(m->g->val[node->out[i]]->type->rank)
                                   : result_layout(m, node, h, &layout);
        s->out[i] = made(m, node->out[i], out);
    }
    end_step(m, s);
    return true;
}

static void plan_any(maker *m, const tc_node *node)
{
    habit h = habit_of(node->op);
    int32_t rank = m->g->val[node->out[0]]->type->rank;
    if (h == ELTWISE && plan_kernel(m, node, h, common_layout(m, node, rank)))
        return;
    if (h == PER_AXIS && m->g->val[node->in[0]]->type->rank != rank)
        h = PLAIN;
    if (h == AXIS || h == AXES || h == PER_AXIS)
        if (plan_kernel(m, node, h, m->at[node->in[0]]->layout))
            return;
    plan_kernel(m, node, PLAIN, tc_layout_plain(rank));
}

/* ---- products and what follows them ---- */

/* What an activation is as a post-operation of a product. */
static bool as_then(const tc_node *node, tc_then *out)
{
    *out = (tc_then){0};
    switch (node->op) {
    case TC_OP_relu:
        out->kind = TC_THEN_relu;
        return true;
    case TC_OP_clamp: {
        const tc_attr_clamp *a = node->attr;
        *out = (tc_then){TC_THEN_clip, (float)a->lo, (float)a->hi};
        return a->lo <= a->hi;
    }
    case TC_OP_hardswish:
        out->kind = TC_THEN_hardswish;
        return true;
    case TC_OP_sigmoid:
        out->kind = TC_THEN_sigmoid;
        return true;
    case TC_OP_silu:
        out->kind = TC_THEN_silu;
        return true;
    case TC_OP_gelu:
        out->kind = ((const tc_attr_gelu *)node->attr)->form == TC_gelu_form_erf ? TC_THEN_gelu_erf
                                                                               : TC_THEN_gelu_tanh;
        return true;
    default:
        return false;
    }
}

/* A product and the nodes that can be joined to it. */
typedef struct chain {
    const tc_node *last; /* its result is the chain's */
    tc_then then[TC_MAX_THEN];
    int n_then;
    tc_val extra; /* operand of the addition, or none */
    const tc_node *part[TC_MAX_THEN];
} chain;

static bool watched(const maker *m, tc_val v)
{
    return m->plan->watch && m->plan->watch->wanted[v];
}

/* Adding a value of the same shape that exists already when the product's turn comes. */
static bool joins_add(const maker *m, const tc_node *product, const tc_node *user, tc_val v, chain *c)
{
    const tc_attr_alpha *a = user->attr;
    tc_val other = user->in[0] == v ? user->in[1] : user->in[0];
    const tc_type *t = m->g->val[v]->type;
    if (user->op != TC_OP_add || a->alpha != 1 || c->n_then || other == v || !m->at[other] ||
        m->g->val[other]->type != t || t->dtype != TC_f32)
        return false;
    (void)product;
    c->extra = other;
    c->then[0] = (tc_then){.kind = TC_THEN_add};
    return true;
}

static chain follow(const maker *m, const tc_node *product)
{
    chain c = {.last = product};
    while (c.n_then < TC_MAX_THEN) {
        tc_val v = c.last->out[0];
        const tc_node *user = m->only_user[v];
        if (m->uses[v] != 1 || !user || watched(m, v))
            break;
        if (!joins_add(m, product, user, v, &c) && !as_then(user, &c.then[c.n_then]))
            break;
        c.part[c.n_then++] = user;
        c.last = user;
    }
    return c;
}

/* Forget the last n joined nodes. */
static void shorten(chain *c, const tc_node *product, int keep)
{
    c->n_then = keep;
    c->last = keep ? c->part[keep - 1] : product;
    if (!keep)
        c->extra = TC_NONE;
}

/* A constant operand; its data is NULL when it is none, or when the program changes it. */
static tc_tensor known(const maker *m, tc_val v)
{
    tc_tensor t = tc_tensor_of(m->g, v);
    if (v && m->plan->store[m->at[v]->store].kind != STORE_KNOWN)
        t.data = NULL;
    return t;
}

static void emit_product(maker *m, const tc_node *node, const tc_product *product, const place *a,
                         const place *b, tc_layout layout, const chain *c)
{
    const place *extra = c->extra ? want(m, c->extra, layout, node) : NULL;
    step *s = new_step(m, STEP_PRODUCT, node, 3, 1);
    s->in[0] = a;
    s->in[1] = b;
    s->in[2] = extra;
    s->product = product;
    size_t scratch = tc_product_scratch(product);
    if (scratch)
        s->scratch = (long)new_store(m, (store){.kind = STORE_MADE, .size = scratch});
    s->out[0] = made(m, c->last->out[0], layout);
    end_step(m, s);
    for (int i = 0; i < c->n_then; i++)
        m->joined[c->part[i]->out[0]] = true;
}

static bool plan_conv(maker *m, const tc_node *node)
{
    const tc_type *x = m->g->val[node->in[0]]->type, *y = m->g->val[node->out[0]]->type;
    tc_tensor w = known(m, node->in[1]), b = known(m, node->n_in > 2 ? node->in[2] : TC_NONE);
    if (!w.data || (b.type && !b.data))
        return false;
    chain c = follow(m, node);
    const tc_product *p = NULL;
    for (int keep = c.n_then; keep >= 0 && !p; keep--) {
        shorten(&c, node, keep);
        p = node->op == TC_OP_conv
                ? tc_product_conv(m->ctx, node->attr, x, y, w, b, c.then, c.n_then)
                : tc_product_deconv(m->ctx, node->attr, x, y, w, b, c.then, c.n_then);
    }
    if (!p)
        return false;
    tc_layout last = tc_layout_channels_last(x->rank);
    emit_product(m, node, p, want(m, node->in[0], last, node), NULL, last, &c);
    return true;
}

/* x w^T + b, where the last axis of x lies last: the other axes are rows, in whatever order. */
static bool plan_linear(maker *m, const tc_node *node)
{
    const tc_type *x = m->g->val[node->in[0]]->type, *y = m->g->val[node->out[0]]->type;
    tc_tensor w = known(m, node->in[1]), b = known(m, node->n_in > 2 ? node->in[2] : TC_NONE);
    if (!w.data || (b.type && !b.data) || x->dtype != TC_f32 || w.type->dtype != TC_f32 ||
        w.type->rank != 2 || x->rank < 1 || !tc_type_count(y) || !tc_type_count(x))
        return false;
    int64_t k = w.type->dim[1], n = w.type->dim[0], rows = tc_type_count(x) / k;
    tc_strided ad = {2, {rows, k}, {k, 1}}, bd = {2, {k, n}, {1, k}}, yd = {2, {rows, n}, {n, 1}};
    chain c = follow(m, node);
    const tc_product *p = NULL;
    for (int keep = c.n_then; keep >= 0 && !p; keep--) {
        shorten(&c, node, keep);
        p = tc_product_matmul(m->ctx, &ad, &bd, &yd, w.data, b, c.then, c.n_then);
    }
    if (!p)
        return false;
    tc_layout layout = m->at[node->in[0]]->layout;
    if (layout.axis[x->rank - 1] != x->rank - 1)
        layout = tc_layout_plain(x->rank);
    emit_product(m, node, p, want(m, node->in[0], layout, node), NULL, layout, &c);
    return true;
}

/* Extents and distances of a matrix operand with leading axes of extent 1 up to the rank. */
static tc_strided strided(const tc_type *t, const tc_layout *l, int32_t rank)
{
    tc_strided s = {.rank = rank};
    int lead = rank - t->rank;
    tc_layout_strides(l, t, s.stride + lead);
    for (int i = 0; i < rank; i++) {
        s.dim[i] = i < lead ? 1 : t->dim[i - lead];
        if (i < lead)
            s.stride[i] = tc_type_count(t);
    }
    return s;
}

static bool plan_matmul(maker *m, const tc_node *node)
{
    const tc_type *a = m->g->val[node->in[0]]->type, *b = m->g->val[node->in[1]]->type;
    const tc_type *y = m->g->val[node->out[0]]->type;
    if (a->dtype != TC_f32 || b->dtype != TC_f32 || a->rank < 2 || b->rank < 2 || !tc_type_count(y) ||
        !tc_type_count(a))
        return false;
    tc_layout plain_y = tc_layout_plain(y->rank);
    const place *pa = m->at[node->in[0]], *pb = m->at[node->in[1]];
    chain c = follow(m, node);
    for (int again = 0; again < 2; again++) {
        tc_strided ad = strided(a, &pa->layout, y->rank), bd = strided(b, &pb->layout, y->rank);
        tc_strided yd = strided(y, &plain_y, y->rank);
        const store *sb = &m->plan->store[pb->store];
        const void *b_data = sb->kind == STORE_KNOWN ? sb->data : NULL;
        const tc_product *p = NULL;
        for (int keep = c.n_then; keep >= 0 && !p; keep--) {
            shorten(&c, node, keep);
            p = tc_product_matmul(m->ctx, &ad, &bd, &yd, b_data, (tc_tensor){NULL, NULL}, c.then,
                                  c.n_then);
        }
        if (p) {
            emit_product(m, node, p, pa, b_data ? NULL : pb, plain_y, &c);
            return true;
        }
        c = follow(m, node);
        pa = want_plain(m, node->in[0], node);
        pb = want_plain(m, node->in[1], node);
    }
    return false;
}

/* ---- nodes that move nothing ---- */

static bool plan_view(maker *m, const tc_node *node)
{
    const place *from = m->at[node->in[0]];
    const tc_type *x = m->g->val[node->in[0]]->type, *y = m->g->val[node->out[0]]->type;
    tc_layout layout = from->layout;
    switch (node->op) {
    case TC_OP_identity:
        break;
    case TC_OP_permute:
        layout = tc_layout_permute(&layout, ((const tc_attr_perm *)node->attr)->perm);
        break;
    case TC_OP_reshape:
        if (!tc_layout_reshape(&from->layout, x, y, &layout)) {
            from = want_plain(m, node->in[0], node);
            layout = tc_layout_plain(y->rank);
        }
        break;
    case TC_OP_expand:
    case TC_OP_slice:
        if (x != y)
            return false;
        break;
    default:
        return false;
    }
    alias(m, node->out[0], from, layout);
    return true;
}

/* The mean of a whole plane, kept as a plane of one: any layout will do. */
static bool plan_global_pool(maker *m, const tc_node *node)
{
    const tc_type *x = m->g->val[node->in[0]]->type, *y = m->g->val[node->out[0]]->type;
    int spatial = ((const tc_attr_size *)node->attr)->size.n;
    for (int i = x->rank - spatial; i < x->rank; i++)
        if (y->dim[i] != 1)
            return false;
    tc_layout layout = m->at[node->in[0]]->layout;
    int64_t axes[TC_MAX_RANK];
    for (int i = 0; i < spatial; i++)
        axes[i] = tc_layout_at(&layout, x->rank - spatial + i);
    tc_attr_axes *attr = tc_new(&m->ctx->arena, tc_attr_axes);
    *attr = (tc_attr_axes){tc_ints_copy(&m->ctx->arena, axes, spatial), true};
    step *s = new_step(m, STEP_KERNEL, node, 1, 1);
    s->in[0] = m->at[node->in[0]];
    s->kernel = tc_ops[TC_OP_mean].kernel;
    s->attr = attr;
    s->out[0] = made(m, node->out[0], layout);
    end_step(m, s);
    return true;
}

/* ---- the walk ---- */

static bool quantized(const tc_graph *g, const tc_node *node)
{
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] && g->val[node->in[i]]->type->quant)
            return true;
    for (int i = 0; i < node->n_out; i++)
        if (g->val[node->out[i]]->type->quant)
            return true;
    return false;
}

static void plan_as_node(maker *m, const tc_node *node)
{
    const place **in = tc_new_n(&m->ctx->arena, const place *, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++)
        in[i] = want_plain(m, node->in[i], node);
    step *s = new_step(m, STEP_NODE, node, node->n_in, node->n_out);
    memcpy(s->in, in, (size_t)node->n_in * sizeof *in);
    for (int i = 0; i < node->n_out; i++)
        s->out[i] = made(m, node->out[i], tc_layout_plain(m->g->val[node->out[i]]->type->rank));
    end_step(m, s);
}

static void plan_node(maker *m, const tc_node *node)
{
    static bool (*const special[TC_OP_COUNT])(maker *, const tc_node *) = {
        [TC_OP_conv] = plan_conv,       [TC_OP_conv_transpose] = plan_conv,
        [TC_OP_linear] = plan_linear,   [TC_OP_matmul] = plan_matmul,
        [TC_OP_identity] = plan_view,   [TC_OP_permute] = plan_view,
        [TC_OP_reshape] = plan_view,    [TC_OP_expand] = plan_view,
        [TC_OP_slice] = plan_view,      [TC_OP_adaptive_avg_pool] = plan_global_pool,
    };
    bool as_node = (tc_ops[node->op].traits & T_CONTROL) ||
                   (quantized(m->g, node) && !tc_ops[node->op].tosa && node->op != TC_OP_quantize &&
                    node->op != TC_OP_dequantize);
    if (as_node)
        plan_as_node(m, node);
    else if (!special[node->op] || !special[node->op](m, node))
        plan_any(m, node);
}

/* What the watcher wants of this node's results; a view is shown by a step that does nothing. */
static void plan_shown(maker *m, const tc_node *node)
{
    for (int i = 0; i < node->n_out; i++) {
        tc_val v = node->out[i];
        if (!watched(m, v) || !m->at[v])
            continue;
        step *s = new_step(m, STEP_NOTHING, node, 1, 0);
        s->in[0] = m->at[v];
        s->show = tc_new(&m->ctx->arena, shown);
        *s->show = (shown){v, m->at[v], NULL};
        end_step(m, s);
    }
}

static void count_uses(maker *m)
{
    tc_graph *g = m->g;
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++) {
            m->uses[g->node[k]->in[i]]++;
            m->only_user[g->node[k]->in[i]] = g->node[k];
        }
    for (size_t i = 0; i < g->n_out; i++)
        m->uses[g->out[i]] += 2;
    for (size_t i = 0; i < g->n_mutation; i++)
        m->uses[g->mutation[i].after] += 2;
}

/* Constants, inputs and buffers are there before the first step. */
static void plan_given(maker *m)
{
    tc_graph *g = m->g;
    for (size_t i = 0; i < g->n_in; i++) {
        const tc_type *t = g->val[g->in[i]]->type;
        size_t s = new_store(m, (store){.kind = STORE_INPUT, .index = i, .size = tc_type_bytes(t)});
        add_place(m, g->in[i], new_place(m, t, tc_layout_plain(t->rank), s));
    }
    for (size_t i = 0; i < g->n_mutation; i++) {
        const tc_type *t = g->val[g->mutation[i].before]->type;
        size_t s = new_store(m, (store){.kind = STORE_STATE, .index = i, .size = tc_type_bytes(t)});
        add_place(m, g->mutation[i].before, new_place(m, t, tc_layout_plain(t->rank), s));
    }
    for (size_t k = 0; k < g->n_node; k++) {
        tc_val v = g->node[k]->op == TC_OP_const ? g->node[k]->out[0] : TC_NONE;
        if (!v || m->at[v])
            continue;
        tc_tensor t = tc_tensor_of(g, v);
        size_t s = new_store(m, (store){.kind = STORE_KNOWN, .size = tc_type_bytes(t.type), .data = t.data});
        add_place(m, v, new_place(m, t.type, tc_layout_plain(t.type->rank), s));
    }
}

/* Results live to the end, in the layout their types say. */
static void plan_results(maker *m)
{
    tc_graph *g = m->g;
    size_t n = g->n_out + g->n_mutation;
    m->plan->result = tc_new_n(&m->ctx->arena, const place *, n);
    for (size_t i = 0; i < n; i++) {
        tc_val v = i < g->n_out ? g->out[i] : g->mutation[i - g->n_out].after;
        m->plan->result[i] = want_plain(m, v, g->n_node ? g->node[g->n_node - 1] : NULL);
    }
    for (size_t i = 0; i < n; i++)
        m->plan->store[m->plan->result[i]->store].last = m->plan->n_step;
}

bool tc_plan_steps(tc_plan *plan)
{
    tc_graph *g = plan->g;
    tc_arena *scratch = &plan->ctx->scratch;
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_op_info *info = &tc_ops[g->node[k]->op];
        if (info->traits & T_STATE || (!info->kernel && !(info->traits & T_CONTROL) && g->node[k]->op != TC_OP_const))
            return false;
    }
    /* The scratch arena is not rewound before the end: kernels that fold layouts use marks of their own. */
    tc_mark mark = tc_arena_mark(scratch);
    maker m = {plan, plan->ctx, g, NULL, NULL, NULL, NULL};
    m.at = tc_new_n(scratch, place *, g->n_val);
    m.uses = tc_new_n(scratch, uint32_t, g->n_val);
    m.only_user = tc_new_n(scratch, const tc_node *, g->n_val);
    m.joined = tc_new_n(scratch, bool, g->n_val);
    count_uses(&m);
    plan_given(&m);
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (node->op == TC_OP_const)
            continue;
        if (!node->n_out || !m.joined[node->out[0]])
            plan_node(&m, node);
        plan_shown(&m, node);
    }
    plan_results(&m);
    tc_arena_rewind(scratch, mark);
    return true;
}
