/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c -- structure, and one check per fact of fact.def.
 *
 * Everything is reported, not just the first; a malformed node is skipped by checks that need it to
 * be well-formed. */
#include "verify.h"

#include "settle.h"

const char *const tc_fact_names[TC_FACT_COUNT] = {
#define FACT(name, how, doc) #name,
#include "fact.def"
};
const char *const tc_fact_docs[TC_FACT_COUNT] = {
#define FACT(name, how, doc) doc,
#include "fact.def"
};
#define SEEN 0u
#define TOLD 1u
const uint32_t tc_facts_told =
#define FACT(name, how, doc) how << TC_FACT_BIT_##name |
#include "fact.def"
    0u;

/* The graph being verified. */
typedef struct check {
    tc_ctx *ctx;
    tc_module *module;
    tc_graph *g;
    const tc_loc *loc; /* of the graph as a whole */
    bool *made;        /* by id: defined before the current node */
    bool *broken;      /* by node: skip it */
    tc_status worst;
} check;

static void found(check *c, tc_status status)
{
    if (c->worst == TC_OK)
        c->worst = status;
}

#define FOUND(c, loc, id, ...) found((c), ti_error((c)->ctx, (loc), TC_E_##id, __VA_ARGS__))

/* Whether an id names a value defined by now. */
static bool is_made(const check *c, tc_val val)
{
    return val != TC_NONE && val < c->g->n_val && c->made[val];
}

/* ---- structure ---- */

static void check_inputs(check *c)
{
    for (size_t i = 0; i < c->g->n_in; i++) {
        tc_val val = c->g->in[i];
        if (val == TC_NONE || val >= c->g->n_val || c->g->val[val]->def)
            FOUND(c, c->loc, STRUCTURE, "input %zu of '%s' is not an input value", i, c->g->name);
        else if (c->made[val])
            FOUND(c, c->loc, ORDER, "%%%" PRIu32 " is an input of '%s' twice", val - 1, c->g->name);
        else
            c->made[val] = true;
    }
}

static bool check_count(check *c, const tc_node *node)
{
    const tc_op_info *info = &tc_ops[node->op];
    bool in = node->n_in >= info->min_in && (info->max_in == TC_ANY || node->n_in <= info->max_in);
    bool out = info->n_out == TC_ANY || node->n_out == info->n_out;
    if (!in)
        FOUND(c, node->loc, STRUCTURE, "'%s' has %d operands, expected %d to %d", info->name,
              node->n_in, info->min_in, info->max_in);
    if (!out)
        FOUND(c, node->loc, STRUCTURE, "'%s' has %d results, expected %d", info->name, node->n_out,
              info->n_out);
    if (info->attr != TC_ATTR_none && !node->attr)
        FOUND(c, node->loc, STRUCTURE, "'%s' has no attributes", info->name);
    return in && out && (info->attr == TC_ATTR_none || node->attr);
}

static bool check_operands(check *c, const tc_node *node)
{
    bool good = true;
    for (int i = 0; i < node->n_in; i++) {
        if (node->in[i] == TC_NONE || is_made(c, node->in[i]))
            continue;
        good = false;
        if (node->in[i] < c->g->n_val)
            FOUND(c, node->loc, ORDER, "operand %d of '%s' is used before it is defined", i,
                  tc_ops[node->op].name);
        else
            FOUND(c, node->loc, STRUCTURE, "operand %d of '%s' is not a value of this graph", i,
                  tc_ops[node->op].name);
    }
    return good;
}

static bool check_results(check *c, const tc_node *node)
{
    bool good = true;
    for (int i = 0; i < node->n_out; i++) {
        tc_val val = node->out[i];
        const tc_value *value = val && val < c->g->n_val ? c->g->val[val] : NULL;
        good = good && value && value->def == node && value->index == i && !c->made[val];
        if (good)
            c->made[val] = true;
    }
    if (!good)
        FOUND(c, node->loc, STRUCTURE, "a result of '%s' belongs to another node, or is defined "
                                       "twice",
              tc_ops[node->op].name);
    return good;
}

static bool check_const(check *c, const tc_node *node)
{
    const tc_value *value = c->g->val[node->out[0]];
    bool good = (node->op == TC_OP_const) == (value->data != NULL) &&
                (node->op != TC_OP_const || value->type);
    if (!good)
        FOUND(c, node->loc, STRUCTURE, "'%s' with%s numbers", tc_ops[node->op].name,
              node->op == TC_OP_const ? "out type or" : "");
    return good;
}

static void check_nodes(check *c)
{
    for (size_t k = 0; k < c->g->n_node; k++) {
        const tc_node *node = c->g->node[k];
        if ((unsigned)node->op >= TC_OP_COUNT || !node->loc) {
            FOUND(c, c->loc, STRUCTURE, "node %zu of '%s' has no operator or no location", k,
                  c->g->name);
            c->broken[k] = true;
            continue;
        }
        bool counted = check_count(c, node), read = check_operands(c, node);
        bool made = check_results(c, node);
        bool filled = !made || node->n_out == 0 || check_const(c, node);
        c->broken[k] = !(counted && read && made && filled);
    }
}

static void check_outputs(check *c)
{
    for (size_t i = 0; i < c->g->n_out; i++)
        if (!is_made(c, c->g->out[i]))
            FOUND(c, c->loc, STRUCTURE, "output %zu of '%s' is never made", i, c->g->name);
}

static void check_mutations(check *c)
{
    const tc_graph *g = c->g;
    if (g->n_mutation && g != ti_main(c->module))
        FOUND(c, c->loc, STRUCTURE, "'%s' changes buffers, which only the first graph may",
              g->name);
    for (size_t i = 0; i < g->n_mutation; i++) {
        tc_val before = g->mutation[i].before, after = g->mutation[i].after;
        if (!is_made(c, before) || !is_made(c, after) || !g->val[before]->data ||
            !g->val[before]->state)
            FOUND(c, c->loc, STRUCTURE, "mutation %zu of '%s' is not from a constant to a value", i,
                  g->name);
        else if (g->val[before]->type != g->val[after]->type)
            FOUND(c, c->loc, MISMATCH, "mutation %zu of '%s' changes the type of the buffer", i,
                  g->name);
    }
}

static bool is_input(const tc_graph *g, tc_val val)
{
    return val < g->n_val && g->val[val] && !g->val[val]->def;
}

static void check_ports(check *c)
{
    const tc_module *m = c->module;
    for (size_t i = 0; i < m->signature.n_in; i++)
        if (m->signature.in[i].val && !is_input(c->g, m->signature.in[i].val))
            FOUND(c, c->loc, STRUCTURE, "port %zu of the signature is not an input", i);
    for (size_t i = 0; i < m->signature.n_out; i++)
        if (m->signature.out[i].val && !is_made(c, m->signature.out[i].val))
            FOUND(c, c->loc, STRUCTURE, "port %zu of the signature is never defined", i);
}

/* ---- control flow: the graphs that a node runs ---- */

/* One type; TOSA's operators see stored integers, whatever their domains.  A region (inner)
 * receives the bytes of the program's value (outer). */
static bool alike(const check *c, const tc_node *node, const tc_type *inner, const tc_type *outer)
{
    return inner == outer ||
           (node->op == TC_OP_call && inner == ti_type_carried(c->ctx, outer)) ||
           (tc_ops[node->op].tosa && inner && outer && inner->dtype == outer->dtype &&
            ti_same_dims(inner, outer));
}

/* Operands from `skip` on are the inputs of the graph. */
static bool takes(const check *c, const tc_node *node, int skip, const tc_graph *sub)
{
    if (sub->n_in != (size_t)(node->n_in - skip))
        return false;
    for (size_t i = 0; i < sub->n_in; i++)
        if (!alike(c, node, ti_type_of(sub, sub->in[i]), ti_type_of(c->g, node->in[skip + (int)i])))
            return false;
    return true;
}

/* The results of the node are the outputs of the graph. */
static bool gives(const check *c, const tc_node *node, const tc_graph *sub)
{
    if (sub->n_out != (size_t)node->n_out)
        return false;
    for (size_t i = 0; i < sub->n_out; i++)
        if (sub->out[i] >= sub->n_val ||
            !alike(c, node, ti_type_of(sub, sub->out[i]), ti_type_of(c->g, node->out[i])))
            return false;
    return true;
}

/* A loop's condition: one element that is true or false. */
static bool decides(const tc_graph *cond)
{
    const tc_type *type =
        cond->n_out == 1 && cond->out[0] < cond->n_val ? ti_type_of(cond, cond->out[0]) : NULL;
    return type && type->dtype == TC_bool && tc_type_count(type) == 1;
}

/* The state of a loop keeps its type. */
static bool carries(const check *c, const tc_node *node)
{
    if (node->n_out > node->n_in)
        return false;
    for (int i = 0; i < node->n_out; i++)
        if (!alike(c, node, ti_type_of(c->g, node->in[i]), ti_type_of(c->g, node->out[i])))
            return false;
    return true;
}

/* A port of the repeated graph has as many elements as the value outside, or as one part of it. */
static bool is_part(const check *c, tc_val outer, const tc_type *inner, int64_t move, int64_t times)
{
    const tc_type *t = ti_type_carried(c->ctx, ti_type_of(c->g, outer));
    return inner && t->dtype == inner->dtype && move >= -1 && move <= 1 &&
           tc_type_count(t) == tc_type_count(inner) * (move ? times : 1);
}

static bool repeats(const check *c, const tc_node *node, const tc_graph *sub)
{
    const tc_attr_call_times *a = node->attr;
    bool fit = sub && a->times > 0 && sub->n_in == (size_t)node->n_in &&
               sub->n_out == (size_t)node->n_out && a->moves.n == node->n_in &&
               a->carried.n == node->n_in && a->gives.n == node->n_out;
    for (int i = 0; fit && i < node->n_in; i++) {
        int64_t from = a->carried.v[i];
        fit = is_part(c, node->in[i], ti_type_of(sub, sub->in[i]), a->moves.v[i], a->times) &&
              from < node->n_out &&
              (from < 0 || (!a->moves.v[i] && ti_type_of(sub, sub->in[i]) ==
                                                  ti_type_of(sub, sub->out[from])));
    }
    for (int i = 0; fit && i < node->n_out; i++)
        fit = is_part(c, node->out[i], ti_type_of(sub, sub->out[i]), a->gives.v[i], a->times);
    return fit;
}

static void check_call(check *c, const tc_node *node)
{
    if (node->op == TC_OP_call_times) {
        if (!repeats(c, node, ti_node_callee(c->module, node, 0)))
            FOUND(c, node->loc, STRUCTURE, "the graph that 'call_times' runs is missing or does not match");
        return;
    }
    if (!ti_node_calls(node)) /* an operator with unknown behaviour */
        return;
    const tc_graph *first = ti_node_callee(c->module, node, 0);
    const tc_graph *second = ti_node_is_call(node) ? first : ti_node_callee(c->module, node, 1);
    bool loop = node->op == TC_OP_while_loop || node->op == TC_OP_tosa_while_loop;
    int skip = loop || ti_node_is_call(node)
                   ? 0
                   : 1; /* the condition is not an input of the branches */
    bool fit = first && second && takes(c, node, skip, first) && takes(c, node, skip, second) &&
               gives(c, node, second) &&
               (loop ? decides(first) && carries(c, node) : gives(c, node, first));
    if (!fit)
        FOUND(c, node->loc, STRUCTURE, "the graphs that '%s' runs are missing or do not match",
              tc_ops[node->op].name);
}

/* Calls nest on the stack, here and at run time. */
enum { MOST_GRAPHS = 1 << 14, DEEPEST = 1000 };

/* How many graphs deep the calls of graph i go, itself among them, which is called `above` graphs
 * deep; 0 and an error in *wrong.  deep: what is known; -1 of those in progress. */
static int nesting(const check *c, size_t i, int above, int *deep, const char **wrong)
{
    const tc_graph *g = c->module->graph[i];
    *wrong = deep[i] < 0                              ? "a graph runs itself"
             : above + (deep[i] ? deep[i] : 1) > DEEPEST ? "calls nest more than 1000 deep"
                                                      : NULL;
    if (*wrong || deep[i])
        return *wrong ? 0 : deep[i];
    deep[i] = -1;
    int most = 0;
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        for (int which = 0; which < ti_node_calls(node); which++) {
            const tc_graph *sub = ti_node_callee(c->module, node, which);
            for (size_t j = 0; sub && j < c->module->n_graph; j++) {
                int below = c->module->graph[j] == sub ? nesting(c, j, above + 1, deep, wrong) : 0;
                if (*wrong)
                    return 0;
                most = below > most ? below : most;
            }
        }
    }
    return deep[i] = most + 1;
}

/* ---- facts ---- */

static bool has_types(const tc_graph *g, const tc_node *node)
{
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] && !g->val[node->in[i]]->type)
            return false;
    for (int i = 0; i < node->n_out; i++)
        if (!g->val[node->out[i]]->type)
            return false;
    return true;
}

/* The same domain: equal scales and zero points.  Channels may have moved. */
static bool same_domain(const tc_type *a, const tc_type *b)
{
    const tc_quant *p = a->quant, *q = b->quant;
    if (!p || !q)
        return p == q;
    if ((p->axis >= 0) != (q->axis >= 0) || p->lo != q->lo || p->hi != q->hi ||
        a->dtype != b->dtype)
        return false;
    return p->axis >= 0 || (p->scale[0] == q->scale[0] && p->zero[0] == q->zero[0]);
}

/* T_MOVES: elements are moved, never changed.  Indices, plain integers, are exempt; TOSA operators
 * see storage, where a domain is a note. */
static void check_moves(check *c, const tc_node *node)
{
    const tc_type *result = node->n_out ? ti_type_of(c->g, node->out[0]) : NULL;
    for (int i = 0; result && i < node->n_in; i++) {
        const tc_type *type = ti_type_of(c->g, node->in[i]);
        if (!type || (i > 0 && !type->quant && !ti_is_float(type->dtype)) ||
            same_domain(type, result))
            continue;
        tc_mark mark = ti_arena_mark(&c->ctx->scratch);
        FOUND(c, node->loc, TYPE, "'%s' moves numbers from %s into %s", tc_ops[node->op].name,
              ti_type_text(&c->ctx->scratch, type), ti_type_text(&c->ctx->scratch, result));
        ti_note(c->ctx, node->loc, "use a 'rescale' to change the scale");
        ti_arena_rewind(&c->ctx->scratch, mark);
        return;
    }
}

/* TOSA 1.1 allows open sizes. */
static bool has_open(const tc_graph *g, const tc_node *node)
{
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] && ti_type_open(ti_type_of(g, node->in[i])))
            return true;
    for (int i = 0; i < node->n_out; i++)
        if (ti_type_open(ti_type_of(g, node->out[i])))
            return true;
    return false;
}

/* TYPED: every value has a type, and it is the one its node computes. */
static void check_TYPED(check *c)
{
    for (size_t i = 0; i < c->g->n_in; i++)
        if (is_made(c, c->g->in[i]) && !ti_type_of(c->g, c->g->in[i]))
            FOUND(c, c->loc, TYPE, "input %zu of '%s' has no type", i, c->g->name);
    for (size_t k = 0; k < c->g->n_node; k++) {
        tc_node *node = c->g->node[k];
        if (c->broken[k])
            continue;
        if (!has_types(c->g, node)) {
            FOUND(c, node->loc, TYPE, "an operand or result of '%s' has no type",
                  tc_ops[node->op].name);
            continue;
        }
        if (has_open(c->g, node))
            continue; /* known at run time only */
        tc_status status = ti_node_infer(c->g, node);
        if (status != TC_OK)
            found(c, status);
        else if ((tc_ops[node->op].traits & T_MOVES) && !tc_ops[node->op].tosa)
            check_moves(c, node);
        else if (tc_ops[node->op].traits & T_CONTROL)
            check_call(c, node);
    }
    if (c->worst == TC_OK)
        found(c, ti_check_shapes(c->g));
}

/* TOSA_ONLY: every node is one the TOSA schema can name. */
static void check_TOSA_ONLY(check *c)
{
    for (size_t k = 0; k < c->g->n_node; k++) {
        const tc_node *node = c->g->node[k];
        if (c->broken[k] || tc_ops[node->op].tosa)
            continue;
        FOUND(c, node->loc, PROMISE, "'%s' has no TOSA form", tc_ops[node->op].name);
    }
}

/* FLOAT: no value has a quantized type. */
static void check_FLOAT(check *c)
{
    for (size_t v = 1; v < c->g->n_val; v++)
        if (c->g->val[v]->type && c->g->val[v]->type->quant) {
            FOUND(c, c->loc, PROMISE, "a value of '%s' has a quantized type", c->g->name);
            return;
        }
}

/* WHOLE: no graph calls a region. */
static void check_WHOLE(check *c)
{
    for (size_t k = 0; k < c->g->n_node; k++)
        if (ti_region_run_by(c->g->node[k]))
            FOUND(c, c->g->node[k]->loc, PROMISE, "'%s' calls a region", c->g->name);
}

/* By fact, SEEN ones first. */
static void (*const check_of[])(check *) = {check_TYPED, check_TOSA_ONLY, check_FLOAT,
                                            check_WHOLE};

static void check_graph(check *c)
{
    check_inputs(c);
    check_nodes(c);
    check_outputs(c);
    check_mutations(c);
    if (c->g == ti_main(c->module))
        check_ports(c);
    if (c->worst != TC_OK)
        return; /* facts are checked on well-formed graphs */
    uint32_t facts = c->g->facts | (ti_facts_seen(c->g) & TC_FACT_TYPED);
    for (size_t i = 0; i < TC_COUNT(check_of); i++)
        if (facts & 1u << i)
            check_of[i](c);
}

uint32_t ti_facts_seen(const tc_graph *g)
{
    uint32_t not = 0;
    for (size_t i = 1; i < g->n_val; i++)
        not |= !g->val[i]->type ? TC_FACT_TYPED : g->val[i]->type->quant ? TC_FACT_FLOAT : 0;
    for (size_t k = 0; k < g->n_node; k++) {
        not |= tc_ops[g->node[k]->op].tosa ? 0 : TC_FACT_TOSA_ONLY;
        not |= ti_region_run_by(g->node[k]) ? TC_FACT_WHOLE : 0;
    }
    return ~(not | tc_facts_told) & ((1u << TC_FACT_COUNT) - 1);
}

/* NULL, or what is wrong. */
static const char *check_calls(tc_ctx *ctx, tc_module *module)
{
    check c = {.ctx = ctx, .module = module};
    const char *wrong;
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    (void)nesting(&c, 0, 0, tc_new_n(&ctx->scratch, int, module->n_graph), &wrong);
    ti_arena_rewind(&ctx->scratch, mark);
    return wrong;
}

tc_status ti_verify(tc_ctx *ctx, tc_module *module)
{
    tc_loc loc = {.file = module->file};
    if (!module->n_graph)
        return ti_error(ctx, &loc, TC_E_STRUCTURE, "there is no graph");
    if (module->n_graph > MOST_GRAPHS)
        return ti_error(ctx, &loc, TC_E_TOO_LARGE, "%zu graphs, at most %d are taken",
                        module->n_graph, MOST_GRAPHS);
    tc_status worst = TC_OK;
    for (size_t i = 0; i < module->n_graph; i++) {
        tc_mark mark = ti_arena_mark(&ctx->scratch);
        tc_graph *g = module->graph[i];
        check c = {.ctx = ctx,
                   .module = module,
                   .g = g,
                   .loc = &loc,
                   .made = tc_new_n(&ctx->scratch, bool, g->n_val),
                   .broken = tc_new_n(&ctx->scratch, bool, g->n_node)};
        check_graph(&c);
        ti_arena_rewind(&ctx->scratch, mark);
        worst = worst == TC_OK ? c.worst : worst;
    }
    const char *wrong = worst == TC_OK ? check_calls(ctx, module) : NULL;
    return wrong ? ti_error(ctx, &loc, TC_E_STRUCTURE, "%s", wrong) : worst;
}
