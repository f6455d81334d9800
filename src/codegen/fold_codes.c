/* SPDX-License-Identifier: Apache-2.0 */
/* fold_codes.c -- what depends on one int8 value alone becomes one TABLE of it.
 *
 * TOSA's tables of int8 have entries of 8 bits, the machine's also of 32.  So a program needs
 * several TABLEs, RESCALEs and sums for what one operation looks up: elementwise operators on one
 * value and on constants of one element are computed for its 256 codes. */
#include "../base/diag.h"
#include "../run/eval.h"
#include "fold.h"

enum {
    CODES = 256,
    LEAST = 3, /* operations that a table is worth: it is 1024 bytes, and a DMA */
    MOST = 64  /* nodes, each as often as it is read */
};

typedef struct code {
    tc_val of;     /* the value that it is a function of; or TC_NONE */
    int32_t nodes; /* that compute it */
    int32_t works; /* operations of the machine among them, since the last value that others read */
    bool wanted;   /* by something else than a function of the same value */
} code;

typedef struct folding {
    tc_hw *hw;
    tc_graph *g;
    code *code;   /* by value */
    tc_val *list; /* by node: the entries of the TABLE that replaces it; or TC_NONE */
    tc_val root;  /* while entries are computed */
} folding;

/* Entries of a TABLE. */
static bool is_list(const folding *f, const tc_node *node, int i)
{
    return node->op == TC_OP_tosa_table && i == 1 && ti_is_const(f->g, node->in[i]);
}

/* An operand of as many axes as the result whose elements are all equal. */
static bool is_even(const folding *f, const tc_node *node, int i)
{
    tc_val v = node->in[i];
    if (!ti_is_const(f->g, v) || ti_type_of(f->g, v)->rank != ti_type_of(f->g, node->out[0])->rank)
        return false;
    tc_tensor t = ti_tensor_of(f->g, v);
    size_t all = tc_type_bytes(t.type), each = (size_t)tc_dtypes[t.type->dtype].bits / 8;
    return each && all > each && !memcmp(t.data, (const uint8_t *)t.data + each, all - each);
}

/* A constant that is the same for all elements. */
static bool is_parameter(const folding *f, const tc_node *node, int i)
{
    int64_t number;
    return is_list(f, node, i) || ti_fold_number(f->g, node->in[i], &number) || is_even(f, node, i);
}

static code code_of(const folding *f, tc_val v)
{
    code c = f->code[v];
    if (!c.of && ti_type_of(f->g, v)->dtype == TC_i8 && !ti_is_const(f->g, v))
        c = (code){.of = v};
    return c;
}

/* A RESCALE from 8 bits goes into its reader, one to 8 bits into its writer. */
static bool is_work(const folding *f, const tc_node *node)
{
    return node->op != TC_OP_tosa_rescale ||
           (ti_type_of(f->g, node->in[0])->dtype == TC_i32 &&
            ti_type_of(f->g, node->out[0])->dtype == TC_i32);
}

static code function(const folding *f, const tc_node *node)
{
    code all = {.nodes = 1}, none = {.of = TC_NONE};
    if (!(tc_ops[node->op].traits & T_ELTWISE) || node->n_out != 1)
        return none;
    for (int i = 0; i < node->n_in; i++) {
        if (is_parameter(f, node, i))
            continue;
        code c = code_of(f, node->in[i]);
        if (!c.of || (all.of && all.of != c.of))
            return none;
        all.of = c.of;
        all.nodes += c.nodes;
    }
    const tc_type *t = ti_type_of(f->g, node->out[0]);
    bool same = all.of && t->rank > 0 && ti_same_dims(t, ti_type_of(f->g, all.of));
    return same && all.nodes <= MOST ? all : none;
}

static void look(folding *f)
{
    for (size_t k = 0; k < f->g->n_node; k++) {
        const tc_node *node = f->g->node[k];
        code c = function(f, node);
        if (c.of)
            f->code[node->out[0]] = c;
        for (int i = 0; i < node->n_in && !c.of; i++)
            f->code[node->in[i]].wanted = true;
    }
    for (size_t i = 0; i < f->g->n_out; i++)
        f->code[f->g->out[i]].wanted = true;
    for (size_t k = 0; k < f->g->n_node; k++) {
        const tc_node *node = f->g->node[k];
        code *c = node->n_out == 1 ? &f->code[node->out[0]] : NULL;
        if (!c || !c->of)
            continue;
        c->works = is_work(f, node);
        for (int i = 0; i < node->n_in; i++)
            c->works += f->code[node->in[i]].wanted ? 0 : f->code[node->in[i]].works;
    }
}

/* [1, ..., 1, 256] */
static const tc_type *line(const folding *f, tc_dtype dtype, int32_t rank)
{
    tc_type *t = tc_new(f->hw->arena, tc_type);
    *t = (tc_type){.dtype = dtype, .rank = rank};
    for (int32_t i = 0; i < rank; i++)
        t->dim[i] = i == rank - 1 ? CODES : 1;
    return t;
}

/* The first element of a constant, which the others are equal to. */
static tc_tensor first_of(const folding *f, tc_val v)
{
    tc_tensor t = ti_tensor_of(f->g, v);
    tc_type *one = ti_arena_copy(f->hw->arena, t.type, sizeof *t.type);
    for (int32_t i = 0; i < one->rank; i++)
        one->dim[i] = 1;
    return (tc_tensor){.type = one, .data = t.data};
}

/* The value's elements where the root is -128 to 127; without data: there are none. */
static tc_tensor numbers(const folding *f, tc_val v)
{
    const tc_type *t = ti_type_of(f->g, v);
    if (ti_is_const(f->g, v))
        return first_of(f, v);
    if (v == f->root) {
        int8_t *all = tc_new_n(f->hw->arena, int8_t, CODES);
        for (int k = 0; k < CODES; k++)
            all[k] = (int8_t)(k - CODES / 2);
        return (tc_tensor){.type = line(f, TC_i8, t->rank), .data = all};
    }
    const tc_node *node = ti_def(f->g, v);
    tc_tensor *in = tc_new_n(f->hw->arena, tc_tensor, (size_t)node->n_in + 1), out = {0};
    for (int i = 0; i < node->n_in; i++) {
        in[i] = is_list(f, node, i) ? ti_tensor_of(f->g, node->in[i]) : numbers(f, node->in[i]);
        if (!in[i].data)
            return out;
    }
    f->g->val[v]->type = line(f, t->dtype, t->rank);
    bool done = ti_eval_node(f->g, node, in, &out, &f->hw->ctx->arena) == TC_OK;
    f->g->val[v]->type = t;
    return done ? out : (tc_tensor){0};
}

static tc_val constant(folding *f, tc_tensor t)
{
    tc_type *type = tc_new(f->hw->arena, tc_type);
    *type = (tc_type){.dtype = t.type->dtype, .rank = 1, .dim = {CODES}};
    return ti_fold_value(f->hw, f->g, type, "codes", t.data);
}

/* Later tables are computed from the original nodes: all are replaced at the end. */
static void fold(folding *f, size_t k)
{
    const tc_node *node = f->g->node[k];
    f->root = f->code[node->out[0]].of;
    tc_tensor t = numbers(f, node->out[0]);
    if (t.data)
        f->list[k] = constant(f, t);
}

static void put(folding *f)
{
    for (size_t k = 0; k < f->g->n_node; k++) {
        tc_val v = f->list[k] ? f->g->node[k]->out[0] : TC_NONE;
        if (v)
            f->g->node[k] = ti_fold_node(f->hw, f->g, f->g->node[k], TC_OP_tosa_table, NULL, 2,
                                         (tc_val[]){f->code[v].of, f->list[k]}, v);
    }
}

void ti_fold_codes(tc_hw *hw, tc_graph *g)
{
    size_t n_val = g->n_val;
    folding f = {.hw = hw,
                 .g = g,
                 .code = tc_new_n(hw->arena, code, n_val),
                 .list = tc_new_n(hw->arena, tc_val, g->n_node + 1)};
    tc_trial trial; /* codes that never occur may have no result */
    look(&f);
    ti_trial_begin(hw->ctx, &trial);
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        const code *c = node->n_out == 1 ? &f.code[node->out[0]] : NULL;
        if (!c || !c->of || !c->wanted || c->works < LEAST)
            continue;
        tc_dtype t = ti_type_of(g, node->out[0])->dtype;
        if (t == TC_i8 || t == TC_i32)
            fold(&f, k);
    }
    ti_trial_end(hw->ctx, &trial);
    put(&f);
}
