/* SPDX-License-Identifier: Apache-2.0 */
/* narrow_i64.c -- i64 becomes i32 where every value fits, for any inputs.
 *
 * Ranges follow from constants, from the types of cast operands, and from the operators.  A value
 * that may be larger is an error with its name: nothing is truncated. */
#include "../../base/real.h"
#include "../lower_pass.h"

#include <math.h>

#include "../../num/load.h"
#include "older.h"

typedef struct {
    double lo, hi; /* both included */
} range;

/* Of a node, from those of its operands. */
typedef range range_of(const tc_graph *g, const tc_node *node, const range *of);

static bool is_i64(tc_dtype t) { return t == TC_i64; }

static range type_range(tc_dtype t)
{
    if (t == TC_bool)
        return (range){0, 1};
    if (!ti_is_int(t))
        return (range){-INFINITY, INFINITY};
    return (range){(double)ti_dtype_min(t), (double)ti_dtype_max(t)};
}

static range both(range a, range b)
{
    return (range){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

static range of_products(range a, range b)
{
    range low = {a.lo * b.lo, a.lo * b.lo}, high = {a.hi * b.hi, a.hi * b.hi};
    range mixed = {a.lo * b.hi, a.lo * b.hi}, other = {a.hi * b.lo, a.hi * b.lo};
    return both(both(low, high), both(mixed, other));
}

/* ---- operators ---- */

static range in(const tc_node *node, const range *of, int i) { return of[node->in[i]]; }

#define RANGE(name, ...)                                                                           \
    static range range_##name(const tc_graph *g, const tc_node *node, const range *of)             \
    {                                                                                              \
        (void)g;                                                                                   \
        range a = in(node, of, 0);                                                                 \
        __VA_ARGS__                                                                                \
    }
#define SECOND range b = in(node, of, 1);

RANGE(same, return a;)
RANGE(add, SECOND return (range){a.lo + b.lo, a.hi + b.hi};)
RANGE(sub, SECOND return (range){a.lo - b.hi, a.hi - b.lo};)
RANGE(mul, SECOND return of_products(a, b);)
RANGE(either, SECOND return both(a, b);)
RANGE(not, return (range){-1 - a.hi, -1 - a.lo};)
RANGE(clz, (void)a; return (range){0, 64};)

RANGE(select, (void)a; return both(in(node, of, 1), in(node, of, 2));)
RANGE(pad, return both(a, in(node, of, 2));)
RANGE(scatter, return both(a, in(node, of, 2));)

RANGE(abs, double most = fmax(fabs(a.lo), fabs(a.hi));
      return (range){a.lo > 0 ? a.lo : a.hi < 0 ? -a.hi : 0, most};)

RANGE(negate, range zero = in(node, of, 1), sum = in(node, of, 2);
      return (range){zero.lo - a.hi + sum.lo, zero.hi - a.lo + sum.hi};)

/* Of signed or unsigned integers: the whole range of their bits. */
RANGE(bits, SECOND double most = fmax(fmax(-a.lo, a.hi + 1), fmax(-b.lo, b.hi + 1));
      double power = ti_exp2(ceil(ti_log2(fmax(most, 1))));
      return (range){a.lo < 0 || b.lo < 0 ? -power : 0, power - 1};)

/* No more bits than either operand has that is not negative. */
static range range_and(const tc_graph *g, const tc_node *node, const range *of)
{
    range a = in(node, of, 0), b = in(node, of, 1);
    if (a.lo < 0 && b.lo < 0)
        return range_bits(g, node, of);
    return (range){0, fmin(a.lo < 0 ? INFINITY : a.hi, b.lo < 0 ? INFINITY : b.hi)};
}

RANGE(quotient, SECOND double most = fmax(fabs(a.lo), fabs(a.hi)); (void)b;
      return (range){-most, most};)

RANGE(left, SECOND return of_products(a, (range){ti_exp2(fmax(b.lo, 0)), ti_exp2(fmin(b.hi, 63))});)
RANGE(right, SECOND (void)b; return both(a, (range){0, 0});)

RANGE(concat, range all = a; for (int i = 1; i < node->n_in; i++) all = both(all, in(node, of, i));
      return all;)

RANGE(sum, const tc_attr_tosa_axis *axis = node->attr;
      double n = (double)ti_type_of(g, node->in[0])->dim[axis->axis];
      return (range){fmin(a.lo * n, a.lo), fmax(a.hi * n, a.hi)};)

RANGE(bare, double most = ti_exp2(tc_dtypes[ti_type_of(g, node->in[0])->dtype].bits);
      return a.lo >= 0 ? a : (range){0, most - 1};)

RANGE(argmax, const tc_attr_tosa_argmax *axis = node->attr; (void)a;
      return (range){0, (double)ti_type_of(g, node->in[0])->dim[axis->axis] - 1};)

static const struct {
    tc_op op;
    range_of *range;
} ranges[] = {
#define ROW(op, name) {TC_OP_tosa_##op, range_##name},
    ROW(cast, same) ROW(cast_unsigned, bare) ROW(identity, same) ROW(reshape, same)
    ROW(reverse, same) ROW(slice, same) ROW(tile, same) ROW(transpose, same) ROW(gather, same)
    ROW(row_gather, same) ROW(reduce_max, same) ROW(reduce_min, same) ROW(reduce_sum, sum)
    ROW(concat, concat) ROW(pad, pad) ROW(scatter, scatter) ROW(select, select)
    ROW(maximum, either) ROW(minimum, either) ROW(add, add) ROW(sub, sub) ROW(mul, mul)
    ROW(intdiv, quotient) ROW(abs, abs) ROW(negate, negate) ROW(bitwise_and, and)
    ROW(bitwise_or, bits) ROW(bitwise_xor, bits) ROW(bitwise_not, not)
    ROW(logical_left_shift, left) ROW(logical_right_shift, right)
    ROW(arithmetic_right_shift, right) ROW(clz, clz) ROW(argmax, argmax)
#undef ROW
};

static range of_constant(const tc_graph *g, tc_val v)
{
    tc_tensor t = ti_tensor_of(g, v);
    int64_t n = tc_type_count(t.type);
    range r = {INFINITY, -INFINITY};
    for (int64_t i = 0; i < n; i++)
        r = both(r, (range){(double)ti_load_i64(t, i), (double)ti_load_i64(t, i)});
    return n ? r : (range){0, 0};
}

static range of_node(const tc_graph *g, const tc_node *node, const range *of)
{
    range all = type_range(ti_type_of(g, node->out[0])->dtype);
    for (size_t i = 0; i < TC_COUNT(ranges); i++)
        if (ranges[i].op == node->op) {
            range r = ranges[i].range(g, node, of);
            bool whole = r.lo >= all.lo && r.hi <= all.hi; /* not NaN either */
            return whole ? r : all;
        }
    return all;
}

static range *find_ranges(tc_ctx *ctx, const tc_graph *g)
{
    range *of = tc_new_n(&ctx->scratch, range, g->n_val);
    for (size_t v = 1; v < g->n_val; v++)
        of[v] = type_range(ti_type_of(g, (tc_val)v)->dtype);
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        tc_dtype t = node->n_out == 1 ? ti_type_of(g, node->out[0])->dtype : TC_none;
        if (!ti_is_int(t))
            continue;
        of[node->out[0]] = node->op == TC_OP_const ? of_constant(g, node->out[0])
                                                   : of_node(g, node, of);
    }
    return of;
}

/* ---- the same operators on i32 ---- */

static const tc_type *as_32(tc_ctx *ctx, const tc_type *t)
{
    return is_i64(t->dtype) ? ti_type_make(ctx, TC_i32, t->rank, t->dim) : t;
}

static const char *name_of(tc_ctx *ctx, const tc_graph *g, tc_val v)
{
    const char *name = g->val[v]->name;
    return name && *name ? name : ti_text_format(&ctx->arena, "%%%u", (unsigned)v);
}

static tc_status refuse(tc_rewrite *rw, const tc_node *node, tc_val v, const char *why)
{
    const range *of = rw->user;
    tc_status status =
        ti_error(rw->ctx, node->loc, TC_E_TOSA_PROFILE,
                 "'%s' is %s with numbers from %.0f to %.0f, %s", name_of(rw->ctx, rw->from, v),
                 ti_type_text(&rw->ctx->arena, ti_type_of(rw->from, v)), of[v].lo, of[v].hi, why);
    ti_note(rw->ctx, NULL, "TOSA 1.0 has no i64: compute it in i32, or keep it within 32 bits");
    return status;
}

/* Values past 32 bits, and operators that look at the upper ones. */
static tc_status check(tc_rewrite *rw, const tc_node *node)
{
    const range *of = rw->user;
    tc_op op = node->op;
    for (int i = 0; i < node->n_out; i++) {
        range r = of[node->out[i]];
        if (is_i64(ti_type_of(rw->from, node->out[i])->dtype) &&
            !(r.lo >= INT32_MIN && r.hi <= INT32_MAX))
            return refuse(rw, node, node->out[i], "which is more than 32 bits hold");
    }
    bool shift = op == TC_OP_tosa_logical_left_shift || op == TC_OP_tosa_logical_right_shift ||
                 op == TC_OP_tosa_arithmetic_right_shift;
    bool high = op == TC_OP_tosa_logical_right_shift || op == TC_OP_tosa_clz;
    if (shift && (of[node->in[1]].lo < 0 || of[node->in[1]].hi > 31))
        return refuse(rw, node, node->in[1], "and a shift of 32 bits is from 0 to 31");
    if (high && of[node->in[0]].lo < 0)
        return refuse(rw, node, node->in[0], "and its operator looks at all 64 bits");
    return TC_OK;
}

static tc_val constant(tc_rewrite *rw, const tc_node *node)
{
    tc_tensor from = ti_tensor_of(rw->from, node->out[0]);
    tc_tensor to = ti_tensor_new(&rw->ctx->arena, as_32(rw->ctx, from.type));
    for (int64_t i = 0; i < tc_type_count(to.type); i++)
        ti_store_i64(to, i, ti_load_i64(from, i));
    return ti_graph_const(rw->to, to.type, to.data, rw->from->val[node->out[0]]->name, node->loc);
}

static tc_status put(tc_rewrite *rw, const tc_node *node)
{
    tc_build b = ti_build_instead(rw, node);
    tc_val *in = tc_new_n(&rw->ctx->scratch, tc_val, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++)
        in[i] = ti_b_in(&b, i);
    const tc_type *type = as_32(rw->ctx, ti_b_out_type(&b, 0));
    bool casts = node->op == TC_OP_tosa_cast || node->op == TC_OP_tosa_cast_unsigned;
    bool still = casts && ti_b_type(&b, in[0]) == type;
    tc_val y = still ? in[0] : ti_b_typed(&b, node->op, node->attr, in, node->n_in, type);
    if (node->op == TC_OP_tosa_clz && y)
        y = ti_b_tosa_add(&b, y, ti_b_like(&b, y, TC_i32, 32));
    TC_TRY(b.status);
    rw->now[node->out[0]] = y;
    if (!rw->to->val[y]->name && rw->to->val[y]->def)
        rw->to->val[y]->name = rw->from->val[node->out[0]]->name;
    return TC_OK;
}

static tc_status narrow(tc_rewrite *rw, const tc_node *node, bool *done)
{
    bool touches = false;
    for (int i = 0; i < node->n_in; i++)
        touches |= node->in[i] && is_i64(ti_type_of(rw->from, node->in[i])->dtype);
    for (int i = 0; i < node->n_out; i++)
        touches |= is_i64(ti_type_of(rw->from, node->out[i])->dtype);
    if (!touches)
        return TC_OK;
    TC_TRY(check(rw, node));
    *done = true;
    if (node->op == TC_OP_const) {
        rw->now[node->out[0]] = constant(rw, node);
        return TC_OK;
    }
    if (node->n_out != 1 || tc_ops[node->op].traits & (T_CONTROL | T_STATE))
        return ti_error(rw->ctx, node->loc, TC_E_TOSA_PROFILE, "'%s' of i64 has no form in TOSA 1.0",
                        tc_ops[node->op].name);
    return put(rw, node);
}

tc_status ti_lower_narrow_i64(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {narrow};
    for (size_t i = 0; i < module->n_graph; i++) {
        tc_graph *g = module->graph[i];
        TC_TRY(ti_older_ports(ctx, g, is_i64, "give and take it as i32, with CAST inside the program"));
        tc_mark mark = ti_arena_mark(&ctx->scratch);
        tc_status status = ti_rewrite_graph(g, rewriters, 1, find_ranges(ctx, g));
        ti_arena_rewind(&ctx->scratch, mark);
        TC_TRY(status);
    }
    return TC_OK;
}
