/* SPDX-License-Identifier: Apache-2.0 */
/* make.c -- small steps that builders of other formats' operators are made of. */
#include "make.h"

#include <stdarg.h>
#include <stdio.h>

#include "../num/load.h"

void tc_facts_note_fixed(const tc_facts *f, tc_module *module)
{
    tc_tensor *fixed = tc_new_n(&module->ctx->arena, tc_tensor, f->n_given);
    bool any = false;
    for (size_t i = 0; i < f->n_given; i++)
        if (f->used[i]) {
            fixed[i] = f->given[i];
            any = true;
        }
    module->fixed = any ? fixed : NULL;
}

tc_status tc_make_shapes_used(tc_ctx *ctx)
{
    for (size_t i = 0; i < ctx->n_shape; i++)
        if (!ctx->shape[i].used)
            return tc_usage(ctx, "--shape %s: the model has no input of that name",
                            ctx->shape[i].input);
    return TC_OK;
}

/* ---- messages ---- */

static const char *words(tc_make *m, const char *format, va_list args)
{
    char text[400];
    vsnprintf(text, sizeof text, format, args);
    return tc_text_copy(&m->ctx->arena, tc_str_of(text));
}

void tc_make_bad(tc_make *m, tc_diag_id id, const char *format, ...)
{
    if (m->status != TC_OK)
        return;
    va_list args;
    va_start(args, format);
    m->status = tc_error(m->ctx, m->loc, id, "%s", words(m, format, args));
    va_end(args);
}

void tc_make_unsupported(tc_make *m, const char *format, ...)
{
    if (m->status != TC_OK)
        return;
    va_list args;
    va_start(args, format);
    m->status = tc_unsupported(m->ctx, m->loc, TC_E_UNSUPPORTED, "%s", words(m, format, args));
    va_end(args);
}

/* ---- what is known ---- */

static tc_tensor *fact(tc_make *m, tc_val v)
{
    tc_facts *f = m->facts;
    if (v >= f->cap) {
        size_t cap = m->g->n_val * 2 + 64;
        tc_tensor *at = tc_new_n(&m->ctx->arena, tc_tensor, cap);
        if (f->cap)
            memcpy(at, f->at, f->cap * sizeof *at);
        f->at = at;
        f->cap = cap;
    }
    return &f->at[v];
}

static bool have(tc_make *m, tc_val v, bool with_given, tc_tensor *out)
{
    if (tc_is_const(m->g, v)) {
        *out = tc_tensor_of(m->g, v);
        return true;
    }
    if (fact(m, v)->data) {
        *out = *fact(m, v);
        return true;
    }
    const tc_value *value = tc_value_of(m->g, v);
    size_t i = (size_t)value->index;
    if (value->def || !with_given || i >= m->facts->n_given || !m->facts->given[i].data)
        return false;
    *out = m->facts->given[i];
    return true;
}

/* Which nodes x follows from, marked by their first results; false: not from what is there. */
static bool find_needed(tc_make *m, tc_val x, bool with_given, bool *needed)
{
    tc_tensor t;
    needed[x] = true;
    for (size_t k = m->g->n_node; k-- > 0;) {
        const tc_node *node = m->g->node[k];
        bool any = false;
        for (int i = 0; i < node->n_out; i++)
            any = any || (needed[node->out[i]] && !have(m, node->out[i], with_given, &t));
        if (!any)
            continue;
        if (!tc_ops[node->op].kernel || (tc_ops[node->op].traits & T_STATE))
            return false;
        needed[node->out[0]] = true;
        for (int i = 0; i < node->n_in; i++)
            if (node->in[i])
                needed[node->in[i]] = true;
    }
    for (size_t i = 0; i < m->g->n_in; i++)
        if (needed[m->g->in[i]] && !have(m, m->g->in[i], with_given, &t))
            return false;
    return true;
}

static bool compute(tc_make *m, const tc_node *node, bool with_given)
{
    tc_arena *arena = &m->ctx->arena;
    tc_tensor *in = tc_new_n(arena, tc_tensor, (size_t)node->n_in),
              *out = tc_new_n(arena, tc_tensor, (size_t)node->n_out);
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] && !have(m, node->in[i], with_given, &in[i]))
            return false;
    tc_trial trial;
    tc_trial_begin(m->ctx, &trial);
    tc_status status = tc_eval_node(m->g, node, in, out, arena);
    tc_trial_end(m->ctx, &trial);
    for (int i = 0; i < node->n_out && status == TC_OK; i++)
        *fact(m, node->out[i]) = out[i];
    return status == TC_OK;
}

static bool find(tc_make *m, tc_val x, bool with_given, tc_tensor *out)
{
    if (m->status != TC_OK || !x)
        return false;
    if (have(m, x, with_given, out))
        return true;
    tc_mark mark = tc_arena_mark(&m->ctx->scratch);
    bool *needed = tc_new_n(&m->ctx->scratch, bool, m->g->n_val);
    bool found = find_needed(m, x, with_given, needed);
    tc_tensor t;
    for (size_t k = 0; found && k < m->g->n_node; k++) {
        const tc_node *node = m->g->node[k];
        if (node->n_out && needed[node->out[0]] && !have(m, node->out[0], with_given, &t))
            found = compute(m, node, with_given);
    }
    tc_arena_rewind(&m->ctx->scratch, mark);
    return found && have(m, x, with_given, out);
}

bool tc_make_known(tc_make *m, tc_val x, tc_tensor *out)
{
    return find(m, x, false, out);
}

/* Every input that x follows from is fixed from now on. */
static void fix_inputs(tc_make *m, tc_val x)
{
    tc_mark mark = tc_arena_mark(&m->ctx->scratch);
    bool *needed = tc_new_n(&m->ctx->scratch, bool, m->g->n_val);
    needed[x] = true;
    for (size_t k = m->g->n_node; k-- > 0;) {
        const tc_node *node = m->g->node[k];
        bool any = false;
        for (int i = 0; i < node->n_out; i++)
            any = any || needed[node->out[i]];
        for (int i = 0; any && i < node->n_in; i++)
            if (node->in[i])
                needed[node->in[i]] = true;
    }
    for (size_t i = 0; i < m->g->n_in && i < m->facts->n_given; i++)
        m->facts->used[i] = m->facts->used[i] || needed[m->g->in[i]];
    tc_arena_rewind(&m->ctx->scratch, mark);
}

bool tc_make_settled(tc_make *m, tc_val x, tc_tensor *out)
{
    if (find(m, x, false, out))
        return true;
    /* What follows from the given numbers is kept apart from what follows from constants alone. */
    tc_facts own = *m->facts, with = own;
    with.at = NULL;
    with.cap = 0;
    *m->facts = with;
    bool found = find(m, x, true, out);
    own.used = m->facts->used;
    *m->facts = own;
    if (found)
        fix_inputs(m, x);
    return found;
}

/* ---- operators ---- */

/* Computed at once: what is made of constants alone and small, unless it is a step between real
 * numbers and codes, which the quantizer wants to see. */
static bool is_small_arithmetic(tc_make *m, const tc_node *node)
{
    enum { MOST = 4096 };
    if (node->n_out != 1 || !tc_ops[node->op].kernel || node->op == TC_OP_const ||
        node->op == TC_OP_quantize || node->op == TC_OP_dequantize ||
        node->op == TC_OP_fake_quantize || (tc_ops[node->op].traits & (T_STATE | T_CONTROL)))
        return false;
    const tc_type *type = tc_make_type(m, node->out[0]);
    if (tc_type_count(type) > MOST || type->quant)
        return false;
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] && !tc_is_const(m->g, node->in[i]))
            return false;
    return true;
}

/* The node becomes the constant that it computes. */
static void fold(tc_make *m, tc_node *node)
{
    static const char empty[1];
    if (!is_small_arithmetic(m, node) || !compute(m, node, false))
        return;
    tc_value *value = tc_value_of(m->g, node->out[0]);
    const void *data = fact(m, node->out[0])->data;
    value->data = data ? data : empty;
    *node = (tc_node){.op = TC_OP_const, .n_out = 1, .out = node->out, .loc = node->loc};
}

tc_node *tc_make_ops(tc_make *m, tc_op op, const void *attr, const tc_val *in, int n_in, int n_out)
{
    if (m->status != TC_OK)
        return NULL;
    tc_node *node;
    m->status = tc_graph_emit(m->g, op, attr, in, n_in, n_out, m->loc, &node);
    if (m->status != TC_OK)
        return NULL;
    fold(m, node);
    return node;
}

tc_val tc_make_op(tc_make *m, tc_op op, const void *attr, const tc_val *in, int n_in)
{
    tc_node *node = tc_make_ops(m, op, attr, in, n_in, 1);
    return node ? node->out[0] : TC_NONE;
}

tc_val tc_make_binary(tc_make *m, tc_op op, tc_val a, tc_val b)
{
    bool scaled = op == TC_OP_add || op == TC_OP_sub;
    return tc_make_op(m, op, scaled ? tc_make_attr(m, alpha, 1) : NULL, (tc_val[]){a, b}, 2);
}

tc_val tc_make_add(tc_make *m, tc_val a, tc_val b)
{
    return tc_make_binary(m, TC_OP_add, a, b);
}

tc_val tc_make_sub(tc_make *m, tc_val a, tc_val b)
{
    return tc_make_binary(m, TC_OP_sub, a, b);
}

tc_val tc_make_mul(tc_make *m, tc_val a, tc_val b)
{
    return tc_make_2(m, mul, NULL, a, b);
}

tc_val tc_make_div(tc_make *m, tc_val a, tc_val b)
{
    return tc_make_2(m, div, tc_make_attr(m, div, TC_div_mode_exact), a, b);
}

tc_val tc_make_add_n(tc_make *m, tc_val x, double number)
{
    if (m->status != TC_OK)
        return TC_NONE;
    tc_val k = tc_make_scalar(m, tc_make_dtype(m, x), number);
    return tc_make_add(m, x, k);
}

tc_val tc_make_mul_n(tc_make *m, tc_val x, double number)
{
    if (m->status != TC_OK || number == 1)
        return m->status == TC_OK ? x : TC_NONE;
    tc_val k = tc_make_scalar(m, tc_make_dtype(m, x), number);
    return tc_make_mul(m, x, k);
}

tc_val tc_make_clamp(tc_make *m, tc_val x, double lo, double hi)
{
    return tc_make_1(m, clamp, tc_make_attr(m, clamp, lo, hi), x);
}

tc_val tc_make_cast(tc_make *m, tc_val x, tc_dtype dtype)
{
    if (m->status != TC_OK || tc_make_dtype(m, x) == dtype)
        return m->status == TC_OK ? x : TC_NONE;
    return tc_make_1(m, cast, tc_make_attr(m, cast, dtype), x);
}

/* ---- movement ---- */

tc_val tc_make_reshape(tc_make *m, tc_val x, int rank, const int64_t *dim)
{
    if (m->status != TC_OK)
        return TC_NONE;
    const tc_type *t = tc_make_type(m, x);
    if (t->rank == rank && (!rank || memcmp(t->dim, dim, (size_t)rank * sizeof *dim) == 0))
        return x;
    if (rank > TC_MAX_RANK) {
        tc_make_unsupported(m, "a tensor of %d axes; at most %d are handled", rank, TC_MAX_RANK);
        return TC_NONE;
    }
    return tc_make_1(m, reshape, tc_make_attr(m, shape, tc_ints_copy(&m->ctx->arena, dim, rank)),
                     x);
}

tc_val tc_make_flat(tc_make *m, tc_val x)
{
    if (m->status != TC_OK)
        return TC_NONE;
    int64_t count = tc_type_count(tc_make_type(m, x));
    return tc_make_reshape(m, x, 1, &count);
}

tc_val tc_make_unsqueeze(tc_make *m, tc_val x, int axis)
{
    if (m->status != TC_OK)
        return TC_NONE;
    const tc_type *t = tc_make_type(m, x);
    int64_t dim[TC_MAX_RANK + 1];
    for (int i = 0; i <= t->rank; i++)
        dim[i] = i < axis ? t->dim[i] : i == axis ? 1 : t->dim[i - 1];
    return tc_make_reshape(m, x, t->rank + 1, dim);
}

tc_val tc_make_permute(tc_make *m, tc_val x, const int64_t *perm)
{
    if (m->status != TC_OK)
        return TC_NONE;
    int rank = tc_make_type(m, x)->rank;
    bool moves = false;
    for (int i = 0; i < rank; i++)
        moves = moves || perm[i] != i;
    if (!moves)
        return x;
    return tc_make_1(m, permute, tc_make_attr(m, perm, tc_ints_copy(&m->ctx->arena, perm, rank)),
                     x);
}

tc_val tc_make_swap(tc_make *m, tc_val x, int a, int b)
{
    int64_t perm[TC_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    perm[a] = b;
    perm[b] = a;
    return tc_make_permute(m, x, perm);
}

tc_val tc_make_expand(tc_make *m, tc_val x, int rank, const int64_t *dim)
{
    if (m->status != TC_OK)
        return TC_NONE;
    const tc_type *t = tc_make_type(m, x);
    if (t->rank == rank && (!rank || memcmp(t->dim, dim, (size_t)rank * sizeof *dim) == 0))
        return x;
    return tc_make_1(m, expand, tc_make_attr(m, shape, tc_ints_copy(&m->ctx->arena, dim, rank)), x);
}

tc_val tc_make_slice(tc_make *m, tc_val x, int axis, int64_t start, int64_t end, int64_t step)
{
    if (m->status != TC_OK || (start == 0 && step == 1 && end == tc_make_type(m, x)->dim[axis]))
        return m->status == TC_OK ? x : TC_NONE;
    return tc_make_1(m, slice, tc_make_attr(m, slice, axis, start, end, step), x);
}

tc_val tc_make_flip(tc_make *m, tc_val x, int axis)
{
    int64_t one = axis;
    return tc_make_1(m, flip, tc_make_attr(m, flip, tc_ints_copy(&m->ctx->arena, &one, 1)), x);
}

tc_val tc_make_cat(tc_make *m, int axis, const tc_val *in, int n)
{
    if (n == 1)
        return in[0];
    return tc_make_op(m, TC_OP_cat, tc_make_attr(m, axis, axis), in, n);
}

tc_val tc_make_pad(tc_make *m, tc_val x, const int64_t *pad, double value)
{
    if (m->status != TC_OK)
        return TC_NONE;
    int n = 2 * tc_make_type(m, x)->rank;
    bool any = false;
    for (int i = 0; i < n; i++)
        any = any || pad[i] != 0;
    if (!any)
        return x;
    tc_attr_pad *a = tc_make_attr(m, pad, .pad = tc_ints_copy(&m->ctx->arena, pad, n),
                                  .mode = TC_pad_mode_constant, .value = value);
    return tc_make_1(m, pad, a, x);
}

tc_val tc_make_select(tc_make *m, tc_val x, int axis, int64_t index)
{
    return tc_make_1(m, select, tc_make_attr(m, select, axis, index), x);
}

tc_val tc_make_gather_nd(tc_make *m, tc_val x, tc_val flat, const tc_type *index, int first)
{
    if (m->status != TC_OK)
        return TC_NONE;
    const tc_type *t = tc_make_type(m, x);
    int rank = 0;
    int64_t rows = 1, rest = 1, dim[2 * TC_MAX_RANK];
    for (int a = 0; a < t->rank; a++)
        *(a < first ? &rows : &rest) *= t->dim[a];
    for (int a = 0; a < index->rank - 1; a++)
        dim[rank++] = index->dim[a];
    for (int a = first; a < t->rank; a++)
        dim[rank++] = t->dim[a];
    x = tc_make_reshape(m, x, 2, (int64_t[]){rows, rest});
    x = tc_make_2(m, index_select, tc_make_attr(m, axis, 0), x, flat);
    return tc_make_reshape(m, x, rank, dim);
}

tc_val tc_make_softmax(tc_make *m, tc_val x, int axis)
{
    return tc_make_1(m, softmax, tc_make_attr(m, axis, axis), x);
}

tc_val tc_make_where(tc_make *m, tc_val condition, tc_val a, tc_val b)
{
    return tc_make_3(m, where, NULL, condition, a, b);
}

tc_val tc_make_reduce(tc_make *m, tc_op op, tc_val x, const int64_t *axis, int n, bool keep)
{
    if (m->status != TC_OK)
        return TC_NONE;
    tc_dtype dtype = tc_make_dtype(m, x);
    tc_attr_axes *a =
        tc_make_attr(m, axes, .axes = tc_ints_copy(&m->ctx->arena, axis, n), .keepdim = keep);
    return tc_make_cast(m, tc_make_op(m, op, a, &x, 1), dtype);
}

/* ---- constants ---- */

tc_tensor tc_make_tensor(tc_make *m, tc_dtype dtype, int rank, const int64_t *dim)
{
    return tc_tensor_new(&m->ctx->arena, tc_type_make(m->ctx, dtype, rank, dim));
}

tc_val tc_make_const(tc_make *m, tc_tensor t, const char *name)
{
    if (m->status != TC_OK)
        return TC_NONE;
    return tc_graph_const(m->g, t.type, t.data, name, m->loc);
}

tc_val tc_make_scalar(tc_make *m, tc_dtype dtype, double value)
{
    if (m->status != TC_OK)
        return TC_NONE;
    return tc_graph_scalar(m->g, dtype, value, m->loc);
}

tc_val tc_make_scalar_i64(tc_make *m, tc_dtype dtype, int64_t value)
{
    if (m->status != TC_OK)
        return TC_NONE;
    tc_tensor one = tc_make_tensor(m, dtype, 0, NULL);
    tc_store_i64(one, 0, value);
    return tc_make_const(m, one, NULL);
}

tc_val tc_make_list(tc_make *m, const int64_t *v, int64_t count)
{
    if (m->status != TC_OK)
        return TC_NONE;
    tc_tensor t = tc_make_tensor(m, TC_i64, 1, &count);
    if (count)
        memcpy(t.data, v, (size_t)count * sizeof *v);
    return tc_make_const(m, t, NULL);
}

tc_val tc_make_full(tc_make *m, int rank, const int64_t *dim, double value, tc_dtype dtype)
{
    return tc_make_0(
        m, full,
        tc_make_attr(m, full, tc_ints_copy(&m->ctx->arena, dim, rank), value, dtype));
}

tc_val tc_make_arange(tc_make *m, int64_t count, tc_dtype dtype)
{
    return tc_make_0(m, arange, tc_make_attr(m, arange, 0, 1, count, dtype));
}

int tc_make_axis(tc_make *m, int64_t axis, int rank)
{
    int64_t all = rank ? rank : 1;
    if (axis < -all || axis >= all) {
        tc_make_bad(m, TC_E_ARGUMENT, "axis %" PRId64 " of a tensor of rank %d", axis, rank);
        return 0;
    }
    return (int)(axis < 0 ? axis + all : axis);
}
