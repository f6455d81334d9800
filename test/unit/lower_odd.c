/* SPDX-License-Identifier: Apache-2.0 */
/* lower_odd.c -- every operator with odd shapes and attributes, lowered: turned down, or the same
 * numbers. */
#include "odd_op.h"

#include "run/eval.h"
#include "ir/verify.h"
#include "lower/lower.h"
#include "num/quant.h"

typedef struct kind {
    const char *target;
    tc_dtype type;
    bool quantized;
} kind;

static const tc_type *with_domain(tc_ctx *ctx, const tc_type *t, double scale, int64_t zero)
{
    tc_type stored = *t;
    stored.dtype = TC_i8;
    tc_quant q = {-1, 1, -128, 127, &scale, &zero};
    stored.quant = &q;
    return ti_type_intern(ctx, &stored);
}

/* Extents that agree mostly, small plain numbers; places from 0 to 3. */
static tc_tensor operand(tc_ctx *ctx, tc_dtype dtype, int rank, const int64_t *pool)
{
    int64_t dim[TC_MAX_RANK];
    for (int i = 0; i < rank; i++)
        dim[i] = draw(10) ? pool[draw(2)] : 1 + (int64_t)draw(5);
    tc_tensor t = noise(ctx, dtype, rank, dim, (uint32_t)draw(1000));
    for (int64_t i = 0; ti_is_int(dtype) && draw(2) && i < tc_type_count(t.type); i++)
        ti_store_i64(t, i, (int64_t)draw((uint64_t)pool[0]));
    return t;
}

typedef struct program {
    tc_graph *g;
    tc_node *node;
    tc_tensor in[16]; /* of the graph */
} program;

/* One node; its operands are inputs or constants, its results outputs. */
static bool build(tc_ctx *ctx, tc_op op, const kind *k, program *p)
{
    const tc_op_info *info = &tc_ops[op];
    int64_t pool[2] = {1 + (int64_t)draw(5), 1 + (int64_t)draw(5)};
    int rank = 1 + (int)draw(5), most = info->max_in == TC_ANY ? 6 : info->max_in;
    int n_in = info->min_in + (int)draw((uint64_t)(most - info->min_in) + 1);
    int n_out = info->n_out == TC_ANY ? 1 + (int)draw(3) : info->n_out;
    char *record = ti_arena_array(&ctx->arena, 1, tc_attrs[info->attr].size + 1, 16);
    for (int i = 0; i < tc_attrs[info->attr].n_field; i++)
        fill(ctx, &tc_attrs[info->attr].field[i], rank > 2 ? rank - 2 : 1, record);
    p->g = ti_graph_new(ti_module_new(ctx, "test"), "main");
    tc_val val[16];
    size_t n = 0;
    for (int i = 0; i < n_in; i++) {
        tc_dtype own = draw(6) ? k->type : draw(2) ? TC_i32 : TC_bool;
        tc_tensor t = operand(ctx, own, draw(6) ? rank : 1 + (int)draw(5), pool);
        if (k->quantized && own == TC_f32 && draw(12))
            t = operand(ctx, TC_i8, t.type->rank, t.type->dim),
            t.type = with_domain(ctx, t.type, 0.05, (int64_t)draw(9) - 4);
        bool constant = draw(3) == 0;
        val[i] = constant ? ti_graph_const(p->g, t.type, t.data, NULL, NULL)
                          : ti_graph_input(p->g, t.type, NULL);
        if (!constant)
            p->in[n++] = t;
    }
    p->node = ti_graph_add(p->g, op, tc_attrs[info->attr].n_field ? record : NULL, val, n_in, n_out,
                           NULL);
    if (ti_node_infer(p->g, p->node) != TC_OK)
        return false;
    bool moves = info->traits & T_MOVES;
    for (int i = 0; i < n_out; i++) {
        tc_value *v = p->g->val[p->node->out[i]];
        if (k->quantized && v->type->dtype == TC_f32)
            v->type =
                moves ? with_domain(ctx, v->type, 0.05, 0) : with_domain(ctx, v->type, 0.08, 5);
        ti_graph_output(p->g, p->node->out[i]);
    }
    return ti_verify(ctx, p->g->module) == TC_OK;
}

static bool finite(tc_tensor t)
{
    for (int64_t i = 0; ti_is_float(t.type->dtype) && i < tc_type_count(t.type); i++)
        if (!(fabs(ti_load_f64(t, i)) < 1e30))
            return false;
    return true;
}

/* Integers within a step where they are codes, floats near the largest. */
static bool agree(tc_tensor a, tc_tensor b)
{
    double top = 1e-3, most = 0;
    for (int64_t i = 0; i < tc_type_count(a.type); i++) {
        most = fmax(most, fabs(ti_load_f64(a, i) - ti_load_f64(b, i)));
        top = fmax(top, fabs(ti_load_f64(a, i)));
    }
    double within = ti_is_float(a.type->dtype) ? top * 2e-5 : a.type->quant ? 1 : 0;
    return a.type->dtype == b.type->dtype && ti_same_dims(a.type, b.type) && most <= within;
}

/* What the operator makes of real numbers is finite: codes do not show it. */
static bool is_tame(tc_ctx *ctx, const program *p)
{
    tc_tensor in[16], out[4];
    for (int i = 0, n = 0; i < p->node->n_in; i++) {
        tc_tensor t = ti_tensor_of(p->g, p->node->in[i]);
        in[i] = t.data ? t : p->in[n++];
        if (in[i].type->quant)
            in[i] = ti_dequantized(ctx, &ctx->arena, in[i]);
    }
    bool good =
        run_op(ctx, p->node->op, p->node->attr, in, p->node->n_in, out, p->node->n_out) == TC_OK;
    for (int i = 0; good && i < p->node->n_out; i++)
        good = finite(out[i]);
    return good;
}

/* Shifts may be too long; where a function jumps, half a step beside the place is the whole jump.
 */
static bool is_left_out(tc_op op, const kind *k)
{
    static const tc_op jumps[] = {TC_OP_fmod,  TC_OP_remainder, TC_OP_eq,    TC_OP_ne,
                                  TC_OP_lt,    TC_OP_le,        TC_OP_gt,    TC_OP_ge,
                                  TC_OP_where, TC_OP_div,       TC_OP_clamp, TC_OP_norm};
    bool jumpy = op == TC_OP_shift_left || op == TC_OP_shift_right;
    for (size_t i = 0; k->quantized && i < TC_COUNT(jumps); i++)
        jumpy = jumpy || op == jumps[i];
    return jumpy;
}

static bool same_after(tc_ctx *ctx, program *p, const tc_target *target)
{
    tc_tensor before[4], after[4];
    const char *why;
    size_t n = p->g->n_out;
    tc_op op = p->node->op;
    bool good = is_tame(ctx, p) && ti_eval(p->g, p->in, before, &ctx->arena) == TC_OK;
    for (size_t i = 0; good && i < n; i++)
        good = finite(before[i]);
    if (!good || !ti_lower_can(ti_lower_ask(ctx, p->g, target), p->node, &why))
        return true;
    good = ti_lower_graph(ctx, p->g, target, NULL) == TC_OK &&
           ti_eval(p->g, p->in, after, &ctx->arena) == TC_OK;
    for (size_t i = 0; good && i < n; i++)
        good = agree(before[i], after[i]);
    if (!good)
        fprintf(stderr, "'%s' for %s, operand 0 of %s: %s\n", tc_ops[op].name, target->text,
                p->in[0].type ? ti_type_text(&ctx->arena, p->in[0].type) : "none",
                tc_diagnostics(ctx));
    return good;
}

static bool once(tc_op op, const kind *k)
{
    tc_ctx *ctx = tc_ctx_new();
    ctx->arena.limit = ctx->scratch.limit = 64u << 20;
    ctx->arena.oom = ctx->scratch.oom = &ctx->oom;
    program p = {0};
    tc_target target;
    bool good = true;
    if (setjmp(ctx->oom) == 0 && ti_target_parse(ctx, k->target, &target) == TC_OK &&
        build(ctx, op, k, &p))
        good = same_after(ctx, &p, &target);
    tc_ctx_free(ctx);
    return good;
}

int main(int argc, char **argv)
{
    static const kind kinds[] = {{"TOSA-1.0+FP+fft", TC_f32, false},
                                 {"TOSA-1.0+INT", TC_i32, false},
                                 {"TOSA-1.0+INT+int16", TC_f32, true},
                                 {"TOSA-1.0+INT+FP", TC_f32, true},
                                 {"TOSA-1.0+INT+u55", TC_f32, true}};
    int rounds = argc > 1 ? atoi(argv[1]) : 120;
    for (int op = 1; op < TC_OP_COUNT; op++) {
        if (tc_ops[op].tosa || tc_ops[op].traits & (T_CONTROL | T_STATE))
            continue;
        for (int i = 0; i < rounds; i++)
            CHECK(is_left_out((tc_op)op, &kinds[i % (int)TC_COUNT(kinds)]) ||
                  once((tc_op)op, &kinds[i % (int)TC_COUNT(kinds)]));
    }
    return check_done();
}
