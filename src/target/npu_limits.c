/* SPDX-License-Identifier: Apache-2.0 */
/* npu_limits.c -- what the Ethos-U machines do not take of TOSA, as Vela 5.2.0 does.
 *
 * The TOSA judge has looked already: profile, extensions and level hold.  One row is one limit:
 * operator, the set it belongs to, the question, and what is said when the answer is yes.  A
 * machine's record says which sets hold for it. */
#include "target.h"

enum { ALL = TC_LIMITS_NPU, SMALL = TC_LIMITS_SMALL };

typedef struct question {
    const tc_graph *g;
    const tc_node *node;
    const tc_type *x, *y; /* first operand (or the result), first result */
    const bool *rescaled; /* by value: a rescale reads it */
} question;

static bool always(const question *q)
{
    return q->y != NULL;
}

static bool any_type(const question *q, bool (*is)(const tc_type *))
{
    bool found = false;
    for (int i = 0; i < q->node->n_in; i++)
        found = found || (q->node->in[i] && is(ti_type_of(q->g, q->node->in[i])));
    for (int i = 0; i < q->node->n_out; i++)
        found = found || is(ti_type_of(q->g, q->node->out[i]));
    return found;
}

static bool type_is_float(const tc_type *t)
{
    return ti_is_float(t->dtype);
}
static bool type_is_bool(const tc_type *t)
{
    return t->dtype == TC_bool;
}
static bool type_is_deep(const tc_type *t)
{
    return t->rank > 6;
}

static bool has_float(const question *q)
{
    return any_type(q, type_is_float);
}
static bool has_bool(const question *q)
{
    return any_type(q, type_is_bool);
}
static bool too_deep(const question *q)
{
    return any_type(q, type_is_deep);
}
static bool not_i8(const question *q)
{
    return q->x->dtype != TC_i8;
}
static bool not_i32(const question *q)
{
    return q->x->dtype != TC_i32;
}
static bool is_i32(const question *q)
{
    return q->x->dtype == TC_i32;
}
static bool is_i48(const question *q)
{
    return q->x->dtype == TC_i48;
}
static bool result_i48(const question *q)
{
    return q->y->dtype == TC_i48 && !q->rescaled[q->node->out[0]];
}

static bool past(tc_ints list, int64_t most)
{
    for (int i = 0; i < list.n; i++)
        if (list.v[i] > most)
            return true;
    return false;
}

static bool conv_stride(const question *q)
{
    return past(((const tc_attr_tosa_conv *)q->node->attr)->stride, TC_NPU_STRIDE);
}
static bool max_pool_stride(const question *q)
{
    return past(((const tc_attr_tosa_max_pool *)q->node->attr)->stride, TC_NPU_STRIDE);
}
static bool avg_pool_stride(const question *q)
{
    return past(((const tc_attr_tosa_avg_pool *)q->node->attr)->stride, TC_NPU_STRIDE);
}

static bool window(tc_ints kernel)
{
    return kernel.v[0] > 256 || kernel.v[0] * kernel.v[1] > 65536;
}
static bool max_pool_window(const question *q)
{
    return window(((const tc_attr_tosa_max_pool *)q->node->attr)->kernel);
}
static bool avg_pool_window(const question *q)
{
    const tc_attr_tosa_avg_pool *a = q->node->attr;
    return window(a->kernel) || (past(a->pad, 0) && past(a->kernel, 8));
}

static bool moving_weights(const question *q)
{
    return !ti_is_const(q->g, q->node->in[1]) || !ti_is_const(q->g, q->node->in[2]);
}
static bool deep_kernel(const question *q)
{
    return ti_type_of(q->g, q->node->in[1])->dim[1] > 1;
}

static bool up_stride(const question *q)
{
    const int64_t *s = ((const tc_attr_tosa_transpose_conv *)q->node->attr)->stride.v;
    const tc_type *w = ti_type_of(q->g, q->node->in[1]);
    bool row = q->x->dim[1] == 1 && w->dim[1] == 1, column = q->x->dim[2] == 1 && w->dim[2] == 1;
    return !((s[0] == s[1] && s[0] <= 2) || (s[0] == 1 && s[1] == 2 && row) ||
             (s[0] == 2 && s[1] == 1 && column));
}

static bool argmax_axis(const question *q)
{
    int64_t axis = ((const tc_attr_tosa_argmax *)q->node->attr)->axis;
    return axis != q->x->rank - 1 || q->x->dim[axis] > 127 || q->x->rank > 4;
}

/* Nearest by 2, 4 or 8, corners aligned or by pixel centres. */
static bool resize_form(const question *q)
{
    const tc_attr_tosa_resize *a = q->node->attr;
    int64_t v[8]; /* scale: yn, yd, xn, xd; offset: y, x; border: y, x */
    for (int i = 0; i < 3; i++) {
        tc_tensor t = ti_tensor_of(q->g, q->node->in[i + 1]);
        if (!t.data)
            return true;
        memcpy(v + (i ? 2 + 2 * i : 0), t.data, (i ? 2u : 4u) * sizeof *v);
    }
    if (a->mode != TC_resize_mode_nearest)
        return true;
    for (int i = 0; i < 2; i++) {
        int64_t n = v[2 * i] / v[2 * i + 1], offset = v[4 + i], border = v[6 + i];
        bool factor = v[2 * i] % v[2 * i + 1] == 0 && (n == 1 || n == 2 || n == 4 || n == 8);
        bool corners = v[2 * i + 1] == 1 && offset == 0 && border == 0;
        bool centres = v[2 * i + 1] == 2 && offset == 1 - n && border == n - 1;
        if (!factor || (!corners && !centres))
            return true;
    }
    return v[0] * v[3] != v[2] * v[1]; /* Vela walks two factors as if they were one */
}

static bool last_axis(const question *q)
{
    return ((const tc_attr_tosa_axis *)q->node->attr)->axis == q->x->rank - 1;
}

static bool zero_point_moves(const question *q)
{
    for (int i = 1; i < q->node->n_in; i++)
        if (!ti_is_const(q->g, q->node->in[i]))
            return true;
    return false;
}

/* A 16-bit product's sum is rescaled inside the machine: only a rescale of such a sum is taken. */
static bool loose_i48(const question *q)
{
    const tc_node *def = is_i48(q) ? ti_def(q->g, q->node->in[0]) : NULL;
    return is_i48(q) && (!def || !(tc_ops[def->op].traits & T_MAC));
}

typedef struct limit {
    tc_op op; /* TC_OP_COUNT: all of them */
    unsigned set;
    bool (*breaks)(const question *);
    const char *said;
} limit;

#define NO_SUCH(op)                                                                                \
    {                                                                                              \
        TC_OP_tosa_##op, SMALL, always, "the machine has no " #op                                  \
    }

static const limit limits[] = {
    {TC_OP_COUNT, ALL, has_float, "the NPU computes with integers only"},
    {TC_OP_COUNT, ALL, too_deep, "the NPU takes at most six axes"},
    {TC_OP_COUNT, SMALL, has_bool, "the machine has no bool values"},
    {TC_OP_tosa_custom, ALL, always, "it is a custom operator"},
    {TC_OP_tosa_shader, ALL, always, "it is a shader"},
    {TC_OP_tosa_variable, ALL, always, "the NPU keeps no state"},
    {TC_OP_tosa_variable_read, ALL, always, "the NPU keeps no state"},
    {TC_OP_tosa_variable_write, ALL, always, "the NPU keeps no state"},
    {TC_OP_tosa_cond_if, SMALL, always, "the machine has no control flow"},
    {TC_OP_tosa_while_loop, SMALL, always, "the machine has no control flow"},
    {TC_OP_tosa_rescale, ALL, zero_point_moves,
     "multipliers, shifts and zero points must be constant"},
    {TC_OP_tosa_table, ALL, zero_point_moves, "the table must be constant"},
    {TC_OP_tosa_transpose_conv2d, ALL, moving_weights, "its weights must be constant"},
    {TC_OP_tosa_conv3d, ALL, moving_weights, "its weights must be constant"},
    {TC_OP_tosa_conv2d, SMALL, moving_weights, "its weights must be constant"},
    {TC_OP_tosa_depthwise_conv2d, SMALL, moving_weights, "its weights must be constant"},
    {TC_OP_tosa_conv2d, SMALL, conv_stride, "its stride is above 3"},
    {TC_OP_tosa_depthwise_conv2d, SMALL, conv_stride, "its stride is above 3"},
    {TC_OP_tosa_conv2d, SMALL, result_i48, "16-bit sums must be rescaled at once"},
    {TC_OP_tosa_depthwise_conv2d, SMALL, result_i48, "16-bit sums must be rescaled at once"},
    {TC_OP_tosa_conv3d, SMALL, deep_kernel, "its kernel is deeper than 1"},
    {TC_OP_tosa_transpose_conv2d, SMALL, up_stride, "its stride is neither 1 nor 2"},
    {TC_OP_tosa_max_pool2d, SMALL, max_pool_stride, "its stride is above 3"},
    {TC_OP_tosa_avg_pool2d, SMALL, avg_pool_stride, "its stride is above 3"},
    {TC_OP_tosa_max_pool2d, ALL, max_pool_window,
     "its window is higher than 256 or larger than 65536"},
    {TC_OP_tosa_avg_pool2d, ALL, avg_pool_window,
     "its window is too large: 8 with padding, else 256 high and 65536 in all"},
    {TC_OP_tosa_argmax, SMALL, not_i8, "it takes 8-bit numbers only"},
    {TC_OP_tosa_argmax, SMALL, argmax_axis, "it goes over the last axis only, of at most 127"},
    {TC_OP_tosa_matmul, SMALL, not_i8, "it takes 8-bit numbers only"},
    {TC_OP_tosa_rescale, SMALL, loose_i48, "a 48-bit sum can only be rescaled directly after its "
                                           "product"},
    {TC_OP_tosa_reduce_max, SMALL, is_i32, "it takes 8-bit and 16-bit numbers only"},
    {TC_OP_tosa_reduce_min, SMALL, is_i32, "it takes 8-bit and 16-bit numbers only"},
    {TC_OP_tosa_arithmetic_right_shift, SMALL, not_i32, "it takes 32-bit numbers only"},
    {TC_OP_tosa_logical_left_shift, SMALL, not_i32, "it takes 32-bit numbers only"},
    {TC_OP_tosa_resize, SMALL, resize_form,
     "it must enlarge both axes by the same 2, 4 or 8, nearest only"},
    {TC_OP_tosa_reverse, SMALL, last_axis, "the last axis is not reversed"},
    NO_SUCH(bitwise_and),
    NO_SUCH(bitwise_or),
    NO_SUCH(bitwise_xor),
    NO_SUCH(bitwise_not),
    NO_SUCH(logical_and),
    NO_SUCH(logical_or),
    NO_SUCH(logical_xor),
    NO_SUCH(logical_not),
    NO_SUCH(logical_right_shift),
    NO_SUCH(intdiv),
    NO_SUCH(select),
    NO_SUCH(equal),
    NO_SUCH(greater),
    NO_SUCH(greater_equal),
    NO_SUCH(reduce_all),
    NO_SUCH(reduce_any),
    NO_SUCH(gather),
    NO_SUCH(scatter),
};

static const char *refuses_node(const tc_machine *machine, const question *q)
{
    for (size_t i = 0; i < TC_COUNT(limits); i++) {
        const limit *l = &limits[i];
        if ((l->op == TC_OP_COUNT || l->op == q->node->op) && (l->set & machine->limits) &&
            l->breaks(q))
            return l->said;
    }
    return NULL;
}

const char *ti_machine_refuses(tc_ctx *ctx, const tc_machine *machine, const tc_graph *g)
{
    const char *why = NULL;
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    bool *rescaled = tc_new_n(&ctx->scratch, bool, g->n_val);
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->op == TC_OP_tosa_rescale)
            rescaled[g->node[k]->in[0]] = true;
    for (size_t k = 0; k < g->n_node && !why; k++) {
        const tc_node *node = g->node[k];
        if (node->op == TC_OP_const)
            continue;
        question q = {g, node, NULL, node->n_out ? ti_type_of(g, node->out[0]) : NULL, rescaled};
        q.x = node->n_in && node->in[0] ? ti_type_of(g, node->in[0]) : q.y;
        why = refuses_node(machine, &q);
    }
    ti_arena_rewind(&ctx->scratch, mark);
    return why;
}
