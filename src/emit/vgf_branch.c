/* SPDX-License-Identifier: Apache-2.0 */
/* vgf_branch.c -- COND_IF, for which SPIR-V has no instruction, as both branches and a SELECT.
 *
 * A condition that is a constant takes its branch.  Otherwise both are computed and a SELECT
 * chooses, so a branch may not contain operators that are undefined for some operands: INTDIV (by
 * zero), GATHER and SCATTER (outside the values).  Loops have no such form. */
#include "vgf_graph.h"

enum { MOST_NESTING = 6, MOST_NODES = 1 << 20 };

typedef struct {
    tc_ctx *ctx;
    const tc_module *module;
    tc_graph *to;
    int depth;
    bool guessed; /* inside a branch that may not be the one that counts */
} flattener;

static tc_status copy_graph(flattener *f, const tc_graph *from, const tc_val *in, tc_val *out);

static tc_status no_place(flattener *f, const tc_node *node, const char *why)
{
    return ti_error(f->ctx, node->loc, TC_E_TOSA_PROFILE,
                    "a VGF file cannot hold this tosa_cond_if: %s", why);
}

static tc_val add(flattener *f, tc_op op, const tc_val *in, int n_in, const tc_type *type,
                  const tc_loc *loc)
{
    tc_node *node = ti_graph_add(f->to, op, NULL, in, n_in, 1, loc);
    ti_value_of(f->to, node->out[0])->type = type;
    return node->out[0];
}

/* The condition with as many axes as what it chooses. */
static tc_val condition_of_rank(flattener *f, tc_val condition, int32_t rank, const tc_loc *loc)
{
    static const int64_t ones[TC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    int64_t n = rank;
    if (ti_type_of(f->to, condition)->rank == rank)
        return condition;
    tc_val shape = ti_graph_const(f->to, ti_type_make(f->ctx, TC_shape, 1, &n), ones, NULL, loc);
    const tc_type *type = ti_type_make(f->ctx, TC_bool, rank, ones);
    return add(f, TC_OP_tosa_reshape, (tc_val[]){condition, shape}, 2, type, loc);
}

static tc_status choose(flattener *f, const tc_node *node, tc_val condition, tc_val yes, tc_val no,
                        const tc_type *type, tc_val *out)
{
    tc_dtype t = type->dtype;
    *out = yes;
    if (yes == no)
        return TC_OK;
    if (t == TC_i48 || t == TC_i4 || t == TC_e4m3 || t == TC_e5m2 || t == TC_shape)
        return no_place(f, node, "SELECT does not support the type of its result");
    condition = condition_of_rank(f, condition, type->rank, node->loc);
    *out = add(f, TC_OP_tosa_select, (tc_val[]){condition, yes, no}, 3, type, node->loc);
    return TC_OK;
}

static tc_status copy_branch(flattener *f, const tc_node *node, const char *name, const tc_val *in,
                             tc_val *out)
{
    const tc_graph *branch = name ? ti_module_find(f->module, name) : NULL;
    if (!branch || branch->n_in != (size_t)node->n_in - 1 || branch->n_out != (size_t)node->n_out)
        return ti_error(f->ctx, node->loc, TC_E_STRUCTURE,
                        "the graphs that '%s' runs are missing or do not match",
                        tc_ops[node->op].name);
    if (f->depth == MOST_NESTING)
        return ti_error(f->ctx, node->loc, TC_E_TOSA_LEVEL, "branches are nested deeper than %d",
                        MOST_NESTING);
    f->depth++;
    tc_status status = copy_graph(f, branch, in, out);
    f->depth--;
    return status;
}

/* now: by value of the node's graph, its replacement. */
static tc_status copy_cond(flattener *f, const tc_graph *from, const tc_node *node, tc_val *now)
{
    const tc_attr_tosa_cond_if *a = node->attr;
    size_t n_out = (size_t)node->n_out;
    tc_val *in = tc_new_n(&f->ctx->arena, tc_val, (size_t)node->n_in),
           *yes = tc_new_n(&f->ctx->arena, tc_val, n_out),
           *no = tc_new_n(&f->ctx->arena, tc_val, n_out);
    for (int i = 0; i < node->n_in; i++)
        in[i] = now[node->in[i]];
    const uint8_t *known = ti_value_of(f->to, in[0])->data;
    bool was = f->guessed;
    f->guessed |= !known;
    if (!known || *known)
        TC_TRY(copy_branch(f, node, a->then_graph, in + 1, yes));
    if (!known || !*known)
        TC_TRY(copy_branch(f, node, a->else_graph, in + 1, no));
    f->guessed = was;
    for (int i = 0; i < node->n_out; i++) {
        tc_val *result = &now[node->out[i]];
        if (known)
            *result = *known ? yes[i] : no[i];
        else
            TC_TRY(choose(f, node, in[0], yes[i], no[i], ti_type_of(from, node->out[i]), result));
    }
    return TC_OK;
}

static tc_status copy_node(flattener *f, const tc_graph *from, const tc_node *node, tc_val *now)
{
    if (f->to->n_node == MOST_NODES)
        return ti_error(f->ctx, node->loc, TC_E_TOO_LARGE,
                        "the branches have more than %d operators in all", MOST_NODES);
    if (f->guessed && (node->op == TC_OP_tosa_intdiv || node->op == TC_OP_tosa_gather ||
                       node->op == TC_OP_tosa_scatter))
        return no_place(f, node, tc_ops[node->op].name);
    tc_node *copy =
        ti_graph_add(f->to, node->op, node->attr, node->in, node->n_in, node->n_out, node->loc);
    for (int i = 0; i < node->n_in; i++)
        copy->in[i] = now[node->in[i]];
    for (int i = 0; i < node->n_out; i++) {
        const tc_value *old = ti_value_of(from, node->out[i]);
        tc_value *value = ti_value_of(f->to, copy->out[i]);
        value->type = old->type;
        value->name = old->name;
        value->data = old->data;
        now[node->out[i]] = copy->out[i];
    }
    return TC_OK;
}

static tc_status copy_graph(flattener *f, const tc_graph *from, const tc_val *in, tc_val *out)
{
    tc_val *now = tc_new_n(&f->ctx->arena, tc_val, from->n_val);
    for (size_t i = 0; i < from->n_in; i++)
        now[from->in[i]] = in[i];
    for (size_t i = 0; i < from->n_node; i++) {
        const tc_node *node = from->node[i];
        bool branches = node->op == TC_OP_tosa_cond_if && node->n_in > 0;
        TC_TRY(branches ? copy_cond(f, from, node, now) : copy_node(f, from, node, now));
    }
    for (size_t i = 0; i < from->n_out; i++)
        out[i] = now[from->out[i]];
    return TC_OK;
}

tc_status ti_vgf_flatten(tc_ctx *ctx, const tc_module *module, const tc_graph *main,
                         const tc_graph **out)
{
    bool branches = false;
    for (size_t i = 0; i < main->n_node; i++)
        branches |= main->node[i]->op == TC_OP_tosa_cond_if;
    *out = main;
    if (!branches)
        return TC_OK;
    tc_graph *to = tc_new(&ctx->arena, tc_graph);
    *to = ti_graph_empty(main->module, main->name);
    flattener f = {.ctx = ctx, .module = module, .to = to};
    tc_val *in = tc_new_n(&ctx->arena, tc_val, main->n_in),
           *result = tc_new_n(&ctx->arena, tc_val, main->n_out);
    for (size_t i = 0; i < main->n_in; i++)
        in[i] =
            ti_graph_input(to, ti_type_of(main, main->in[i]), ti_value_of(main, main->in[i])->name);
    TC_TRY(copy_graph(&f, main, in, result));
    for (size_t i = 0; i < main->n_out; i++)
        ti_graph_output(to, result[i]);
    *out = to;
    return TC_OK;
}
