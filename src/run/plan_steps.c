/* SPDX-License-Identifier: Apache-2.0 */
/* plan_steps.c -- from nodes to steps: layouts, products with what follows them, aliases.
 *
 * What an operator does to the order of axes is a column of op.def.  A value is made in its
 * producer's layout; a consumer that needs another gets a transposed copy, once. */
#include "plan_steps.h"

#include "../ir/tail.h"

/* The attribute with its axes renamed to where they are stored. */
static const void *renamed(tc_maker *m, const tc_node *node, tc_axes h, const tc_layout *l)
{
    tc_arena *arena = &m->ctx->arena;
    char *copy = ti_arena_copy(arena, node->attr, tc_attrs[tc_ops[node->op].attr].size);
    if (h == TC_AXES_axis) {
        int64_t *axis = (int64_t *)(void *)copy;
        *axis = ti_layout_at(l, *axis);
        return copy;
    }
    tc_ints *list = (tc_ints *)(void *)copy;
    int64_t *v = tc_new_n(arena, int64_t, (size_t)list->n);
    int each = h == TC_AXES_each ? list->n / l->rank : 1;
    for (int i = 0; i < list->n; i++)
        v[i] = h == TC_AXES_axes ? ti_layout_at(l, list->v[i])
                                 : list->v[l->axis[i / each] * each + i % each];
    list->v = v;
    return copy;
}

/* Whether the operand is one element, the same in any layout. */
static bool single(const tc_type *t)
{
    return tc_type_count(t) == 1 && t->rank <= 1;
}

/* The layout of the first operand with the result's rank.
 */
static tc_layout common_layout(tc_maker *m, const tc_node *node, int32_t rank)
{
    for (int i = 0; i < node->n_in; i++) {
        tc_val v = node->in[i];
        const tc_type *t = v ? m->g->val[v]->type : NULL;
        if (t && t->rank == rank && m->plan->store[m->at[v]->store].kind != STORE_KNOWN &&
            tc_type_count(t) == tc_type_count(m->g->val[node->out[0]]->type))
            return m->at[v]->layout;
    }
    return ti_layout_plain(rank);
}

/* An operand of lower rank is extended by leading axes of extent 1. */
static const place *want_broadcast(tc_maker *m, tc_val v, tc_layout layout, const tc_node *node)
{
    const tc_type *t = m->g->val[v]->type;
    if (t->rank == layout.rank)
        return ti_place_want(m, v, layout, node);
    if (single(t))
        return ti_place_plain(m, v, node);
    tc_type wide = *t;
    int lead = layout.rank - t->rank;
    wide.rank = layout.rank;
    for (int i = 0; i < layout.rank; i++)
        wide.dim[i] = i < lead ? 1 : t->dim[i - lead];
    const tc_type *type = ti_type_intern(m->ctx, &wide);
    tc_layout plain = ti_layout_plain(layout.rank);
    const place *from = ti_place_plain(m, v, node);
    place *p = ti_place_new(m, type, plain, from->store);
    if (ti_layout_same(&plain, &layout, type))
        return ti_place_new(m, type, layout, from->store);
    if (m->plan->store[from->store].kind == STORE_KNOWN)
        return ti_place_reordered(m, p, layout, type);
    return NULL;
}

static tc_layout result_layout(tc_maker *m, const tc_node *node, tc_axes h, const tc_layout *l)
{
    (void)m;
    const tc_attr_axes *a = node->attr;
    return h == TC_AXES_axes && !a->keepdim ? ti_layout_drop(l, a->axes) : *l;
}

/* A kernel of num/ on operands in memory order. */
static bool plan_kernel(tc_maker *m, const tc_node *node, tc_axes h, tc_layout layout)
{
    const place **in = tc_new_n(&m->ctx->arena, const place *, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++) {
        tc_val v = node->in[i];
        in[i] = h == TC_AXES_fixed ? ti_place_plain(m, v, node)
                : v                ? want_broadcast(m, v, layout, node)
                                   : NULL;
        if (v && !in[i])
            return false;
    }
    step *s = ti_step_new(m, STEP_KERNEL, node, node->n_in, node->n_out);
    memcpy(s->in, in, (size_t)node->n_in * sizeof *in);
    s->kernel = tc_ops[node->op].kernel;
    s->attr = h == TC_AXES_fixed || h == TC_AXES_free ? node->attr : renamed(m, node, h, &layout);
    for (int i = 0; i < node->n_out; i++) {
        tc_layout out = h == TC_AXES_fixed ? ti_layout_plain(m->g->val[node->out[i]]->type->rank)
                                           : result_layout(m, node, h, &layout);
        s->out[i] = ti_place_made(m, node->out[i], out);
    }
    ti_step_end(m, s);
    return true;
}

static void plan_any(tc_maker *m, const tc_node *node)
{
    tc_axes h = tc_ops[node->op].axes;
    int32_t rank = node->n_out ? m->g->val[node->out[0]]->type->rank : 0; /* an assertion has none */
    if (h == TC_AXES_free && plan_kernel(m, node, h, common_layout(m, node, rank)))
        return;
    if (h == TC_AXES_each && m->g->val[node->in[0]]->type->rank != rank)
        h = TC_AXES_fixed;
    if (h == TC_AXES_axis || h == TC_AXES_axes || h == TC_AXES_each)
        if (plan_kernel(m, node, h, m->at[node->in[0]]->layout))
            return;
    plan_kernel(m, node, TC_AXES_fixed, ti_layout_plain(rank));
}

/* ---- nodes that move nothing ---- */

static bool plan_view(tc_maker *m, const tc_node *node)
{
    const place *from = m->at[node->in[0]];
    const tc_type *x = m->g->val[node->in[0]]->type, *y = m->g->val[node->out[0]]->type;
    tc_layout layout = from->layout;
    switch (node->op) {
    case TC_OP_identity:
    case TC_OP_tosa_identity:
        break;
    case TC_OP_permute:
        layout = ti_layout_permute(&layout, ((const tc_attr_perm *)node->attr)->perm);
        break;
    case TC_OP_reshape:
    case TC_OP_tosa_reshape:
        if (!ti_layout_reshape(&from->layout, x, y, &layout)) {
            from = ti_place_plain(m, node->in[0], node);
            layout = ti_layout_plain(y->rank);
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
    ti_place_alias(m, node->out[0], from, layout);
    return true;
}

/* The mean of a whole plane, kept as a plane of one: any layout will do. */
static bool plan_global_pool(tc_maker *m, const tc_node *node)
{
    const tc_type *x = m->g->val[node->in[0]]->type, *y = m->g->val[node->out[0]]->type;
    int spatial = ((const tc_attr_size *)node->attr)->size.n;
    for (int i = x->rank - spatial; i < x->rank; i++)
        if (y->dim[i] != 1)
            return false;
    tc_layout layout = m->at[node->in[0]]->layout;
    int64_t axes[TC_MAX_RANK];
    for (int i = 0; i < spatial; i++)
        axes[i] = ti_layout_at(&layout, x->rank - spatial + i);
    tc_attr_axes *attr = tc_new(&m->ctx->arena, tc_attr_axes);
    *attr = (tc_attr_axes){ti_ints_copy(&m->ctx->arena, axes, spatial), true};
    step *s = ti_step_new(m, STEP_KERNEL, node, 1, 1);
    s->in[0] = m->at[node->in[0]];
    s->kernel = tc_ops[TC_OP_mean].kernel;
    s->attr = attr;
    s->out[0] = ti_place_made(m, node->out[0], layout);
    ti_step_end(m, s);
    return true;
}

/* ---- the walk ---- */

/* A call runs by its own plan where possible. */
static void plan_as_node(tc_maker *m, const tc_node *node)
{
    tc_graph *callee = ti_node_is_call(node) ? ti_node_callee(m->g->module, node, 0) : NULL;
    bool fits =
        callee && callee->n_in == (size_t)node->n_in && callee->n_out == (size_t)node->n_out;
    tc_plan *inner = fits ? ti_plan_inner(m->plan, callee) : NULL;
    const place **in = tc_new_n(&m->ctx->arena, const place *, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++)
        in[i] = ti_place_plain(m, node->in[i], node);
    step *s = ti_step_new(m, inner ? STEP_CALL : STEP_NODE, node, node->n_in, node->n_out);
    s->callee = inner;
    memcpy(s->in, in, (size_t)node->n_in * sizeof *in);
    for (int i = 0; i < node->n_out; i++)
        s->out[i] =
            ti_place_made(m, node->out[i], ti_layout_plain(m->g->val[node->out[i]]->type->rank));
    ti_step_end(m, s);
}

static void plan_node(tc_maker *m, const tc_node *node)
{
    static tc_plan_fn *const special[TC_OP_COUNT] = {
        [TC_OP_conv] = ti_plan_conv,
        [TC_OP_conv_transpose] = ti_plan_conv,
        [TC_OP_linear] = ti_plan_linear,
        [TC_OP_matmul] = ti_plan_matmul,
        [TC_OP_identity] = plan_view,
        [TC_OP_permute] = plan_view,
        [TC_OP_reshape] = plan_view,
        [TC_OP_expand] = plan_view,
        [TC_OP_sdpa] = ti_plan_sdpa,
        [TC_OP_max_pool] = ti_plan_max_pool,
        [TC_OP_prelu] = ti_plan_prelu,
        [TC_OP_tosa_max_pool2d] = ti_plan_tosa_max_pool,
        [TC_OP_quantize] = ti_plan_snap,
        [TC_OP_dequantize] = ti_plan_codes,
        [TC_OP_tosa_conv2d] = ti_plan_conv8,
        [TC_OP_tosa_transpose_conv2d] = ti_plan_spread,
        [TC_OP_tosa_conv3d] = ti_plan_spread,
        [TC_OP_tosa_depthwise_conv2d] = ti_plan_depth8,
        [TC_OP_tosa_matmul] = ti_plan_matmul8,
        [TC_OP_tosa_rescale] = ti_plan_rescale,
        [TC_OP_tosa_add] = ti_plan_int_binary,
        [TC_OP_tosa_sub] = ti_plan_int_binary,
        [TC_OP_tosa_mul] = ti_plan_int_binary,
        [TC_OP_tosa_maximum] = ti_plan_int_binary,
        [TC_OP_tosa_minimum] = ti_plan_int_binary,
        [TC_OP_tosa_logical_left_shift] = ti_plan_int_shift,
        [TC_OP_tosa_arithmetic_right_shift] = ti_plan_int_shift,
        [TC_OP_tosa_abs] = ti_plan_int_unary,
        [TC_OP_tosa_clz] = ti_plan_int_unary,
        [TC_OP_tosa_cast] = ti_plan_int_unary,
        [TC_OP_tosa_reduce_sum] = ti_plan_int_reduce,
        [TC_OP_tosa_reduce_max] = ti_plan_int_reduce,
        [TC_OP_tosa_reduce_min] = ti_plan_int_reduce,
        [TC_OP_tosa_table] = ti_plan_table,
        [TC_OP_tosa_gather] = ti_plan_gather,
        [TC_OP_tosa_clamp] = ti_plan_clamp,
        [TC_OP_tosa_reshape] = plan_view,
        [TC_OP_tosa_identity] = plan_view,
        [TC_OP_slice] = plan_view,
        [TC_OP_adaptive_avg_pool] = plan_global_pool,
    };
    bool as_node = (tc_ops[node->op].traits & T_CONTROL) || ti_node_late(m->g, node) ||
                   (!ti_op_sees_storage(node->op) && ti_node_quantized(m->g, node));
    bool product = tc_ops[node->op].traits & T_PRODUCT;
    tc_plan_fn *plan = m->ctx->reference_kernels && product ? NULL : special[node->op];
    if (as_node)
        plan_as_node(m, node);
    else if (!plan || !plan(m, node))
        plan_any(m, node);
}

/* The watched results of this node; a view is shown by an empty step. */
static void plan_shown(tc_maker *m, const tc_node *node)
{
    for (int i = 0; i < node->n_out; i++) {
        tc_val v = node->out[i];
        if (!m->plan->watch || !m->plan->watch->wanted[v] || !m->at[v])
            continue;
        step *s = ti_step_new(m, STEP_NOTHING, node, 1, 0);
        s->in[0] = m->at[v];
        s->show = tc_new(&m->ctx->arena, shown);
        *s->show = (shown){v, m->at[v], NULL};
        ti_step_end(m, s);
    }
}

/* Constants, inputs and buffers are there before the first step. */
static void plan_given(tc_maker *m)
{
    tc_graph *g = m->g;
    for (size_t i = 0; i < g->n_in; i++) {
        const tc_type *t = g->val[g->in[i]]->type;
        size_t s =
            ti_store_new(m, (store){.kind = STORE_INPUT, .index = i, .size = tc_type_bytes(t)});
        ti_place_add(m, g->in[i], ti_place_new(m, t, ti_layout_plain(t->rank), s));
    }
    for (size_t i = 0; i < g->n_mutation; i++) {
        const tc_type *t = g->val[g->mutation[i].before]->type;
        size_t s =
            ti_store_new(m, (store){.kind = STORE_STATE, .index = i, .size = tc_type_bytes(t)});
        ti_place_add(m, g->mutation[i].before, ti_place_new(m, t, ti_layout_plain(t->rank), s));
    }
    for (size_t k = 0; k < g->n_node; k++) {
        tc_val v = g->node[k]->op == TC_OP_const ? g->node[k]->out[0] : TC_NONE;
        if (!v || m->at[v])
            continue;
        tc_tensor t = ti_tensor_of(g, v);
        size_t s = ti_store_new(
            m, (store){.kind = STORE_KNOWN, .size = tc_type_bytes(t.type), .data = t.data});
        ti_place_add(m, v, ti_place_new(m, t.type, ti_layout_plain(t.type->rank), s));
    }
}

/* Outputs live to the end, in the layout of their types. */
static void plan_results(tc_maker *m)
{
    tc_graph *g = m->g;
    size_t n = g->n_out + g->n_mutation;
    m->plan->result = tc_new_n(&m->ctx->arena, const place *, n);
    for (size_t i = 0; i < n; i++) {
        tc_val v = i < g->n_out ? g->out[i] : g->mutation[i - g->n_out].after;
        m->plan->result[i] = ti_place_plain(m, v, g->n_node ? g->node[g->n_node - 1] : NULL);
    }
    for (size_t i = 0; i < n; i++)
        ti_life_use(&m->plan->store[m->plan->result[i]->store].life, (int32_t)m->plan->n_step);
}

bool ti_plan_steps(tc_plan *plan)
{
    tc_graph *g = plan->g;
    tc_arena *scratch = &plan->ctx->scratch;
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_op_info *info = &tc_ops[g->node[k]->op];
        if (info->traits & T_STATE ||
            (!info->kernel && !(info->traits & T_CONTROL) && g->node[k]->op != TC_OP_const))
            return false;
    }
    /* The scratch arena is not rewound before the end: kernels that fold layouts use marks of their
     * own. */
    tc_mark mark = ti_arena_mark(scratch);
    tc_maker m = {.plan = plan, .ctx = plan->ctx, .g = g};
    m.at = tc_new_n(scratch, place *, g->n_val);
    m.only_user = ti_only_readers(scratch, g);
    m.joined = tc_new_n(scratch, bool, g->n_val);
    m.waiting = tc_new_n(scratch, bool, g->n_val);
    m.scales = tc_new_n(scratch, struct tc_scales *, g->n_val);
    m.product = tc_new_n(scratch, struct tc_product *, g->n_val);
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
    ti_arena_rewind(scratch, mark);
    return true;
}
