/* SPDX-License-Identifier: Apache-2.0 */
/* qdq_to_types.c -- quantize/dequantize pairs become types.
 *
 *   op -> quantize(d) -> dequantize -> user     =>     op : d -> user
 *
 * A result quantized in one way only takes that domain; one read in several ways, or as real too,
 * stays real and is rescaled into each domain.  Movement keeps its operand's domain: a quantize
 * after it with another domain becomes a rescale, never a reinterpretation.  Codes that an operator
 * computes on as integers (MAXIMUM of a .tflite) stay such, between quantize and dequantize. */
#include "quantizer.h"

#include "../ir/build.h"
#include "../num/load.h"
#include "../num/quant.h"

typedef struct typing {
    const tc_type *
        *domain; /* by old value: the type that all its readers quantize it to, or NULL */
    bool *as_real;          /* by old value: a reader takes no quantized value */
    bool *bare;             /* by old value: a reader computes on the codes, as integers */
    tc_val *typed;          /* by old value: its quantized twin in the new graph, or none */
} typing;

/* ---- what quantize and dequantize say ---- */

static bool constant_list(const tc_graph *g, tc_val v, int64_t n, double *out)
{
    tc_tensor t = ti_tensor_of(g, v);
    if (!t.data || tc_type_count(t.type) != n)
        return false;
    tc_dtype d = t.type->dtype;
    if (d != TC_f32 && d != TC_f64 && d != TC_i32 && d != TC_i64)
        return false;
    for (int64_t i = 0; i < n; i++)
        out[i] = ti_load_f64(t, i);
    return true;
}

/* The domain of a quantize or dequantize node; NULL when it is known only at run time. */
static const tc_type *named_domain(tc_ctx *ctx, const tc_graph *g, const tc_node *node,
                                   const tc_type *codes)
{
    const tc_attr_quantize *a = node->attr;
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    int64_t n = a->axis >= 0 ? codes->dim[a->axis] : 1;
    double *scale = tc_new_n(&ctx->scratch, double, (size_t)n),
           *real_zero = tc_new_n(&ctx->scratch, double, (size_t)n);
    int64_t *zero = tc_new_n(&ctx->scratch, int64_t, (size_t)n);
    bool known = true;
    if (node->n_in == 1) {
        scale[0] = a->scale;
        zero[0] = a->zero;
    } else {
        known = constant_list(g, node->in[1], n, scale);
        if (node->n_in > 2 && node->in[2])
            known = known && constant_list(g, node->in[2], n, real_zero);
        for (int64_t i = 0; i < n; i++)
            zero[i] = (int64_t)real_zero[i];
    }
    tc_quant q = {(int32_t)a->axis, (int32_t)n, a->qmin, a->qmax, scale, zero};
    const tc_type *type = known && n > 0 ? ti_type_with(ctx, codes, &q) : NULL;
    ti_arena_rewind(&ctx->scratch, mark);
    return type;
}

/* What a quantize node makes, as a type. */
static const tc_type *domain_of(tc_ctx *ctx, const tc_graph *g, const tc_node *quantize)
{
    return named_domain(ctx, g, quantize, ti_type_of(g, quantize->out[0]));
}

static bool is_f32(const tc_graph *g, tc_val v)
{
    return v && ti_type_of(g, v) && ti_type_of(g, v)->dtype == TC_f32;
}

/* ---- looking ahead ---- */

/* A movement without new elements: codes pass it as real values do. */
static bool moves_codes(const tc_node *node)
{
    static const tc_op filling[] = {TC_OP_pad, TC_OP_tril, TC_OP_triu, TC_OP_im2col};
    for (size_t i = 0; i < TC_COUNT(filling); i++)
        if (node->op == filling[i])
            return false;
    return !tc_ops[node->op].tosa;
}

/* Codes of quantize, moved or not, by value. */
static bool *codes_made(tc_ctx *ctx, const tc_graph *g)
{
    bool *made = tc_new_n(&ctx->scratch, bool, g->n_val);
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        bool all = tc_ops[node->op].traits & T_MOVES && moves_codes(node) && node->n_out;
        for (int i = 0; i < node->n_in && all; i++)
            all = made[node->in[i]] || !node->in[i] ||
                  ti_type_of(g, node->in[i])->dtype != ti_type_of(g, node->out[0])->dtype;
        for (int i = 0; i < node->n_out; i++)
            made[node->out[i]] = all || node->op == TC_OP_quantize;
    }
    return made;
}

/* Which values are read as integers, directly or after being moved, joined with other integers, or
 * given as such to a caller. */
static void survey_codes(tc_ctx *ctx, const tc_graph *g, typing *t)
{
    const bool *made = codes_made(ctx, g);
    for (size_t i = 0; i < g->n_out && g != ti_main(g->module); i++)
        t->bare[g->out[i]] = true;
    for (size_t k = g->n_node; k-- > 0;) {
        const tc_node *node = g->node[k];
        bool moves = tc_ops[node->op].traits & T_MOVES && moves_codes(node), moved = false;
        for (int i = 0; i < node->n_out; i++)
            moved = moved || t->bare[node->out[i]] || !made[node->out[i]];
        for (int i = 0; i < node->n_in; i++)
            if (!ti_op_sees_storage(node->op) && node->op != TC_OP_tflite_op && (moves ? moved : true))
                t->bare[node->in[i]] = true;
    }
}

static void survey(tc_ctx *ctx, const tc_graph *g, typing *t)
{
    bool *mixed = tc_new_n(&ctx->scratch, bool, g->n_val);
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        for (int i = 0; i < node->n_in; i++) {
            tc_val v = node->in[i];
            bool typed = node->op == TC_OP_quantize && i == 0 && !t->bare[node->out[0]];
            const tc_type *d = typed ? domain_of(ctx, g, node) : NULL;
            mixed[v] = mixed[v] || !d || (t->domain[v] && t->domain[v] != d);
            t->domain[v] = d;
            t->as_real[v] = t->as_real[v] || (tc_ops[node->op].traits & T_CONTROL) ||
                            (node->op == TC_OP_quantize && !typed);
        }
    }
    for (size_t i = 0; i < g->n_out; i++)
        mixed[g->out[i]] = t->as_real[g->out[i]] = true;
    for (size_t i = 0; i < g->n_mutation; i++)
        mixed[g->mutation[i].after] = t->as_real[g->mutation[i].after] = true;
    for (size_t v = 0; v < g->n_val; v++)
        if (mixed[v])
            t->domain[v] = NULL;
}

/* Max pooling selects elements, and rounding is monotonic: a value read only by such a window takes
 * the domain of its result. */
static void survey_windows(tc_ctx *ctx, const tc_graph *g, typing *t)
{
    const uint32_t *readers = ti_graph_readers(ctx, g);
    for (size_t k = g->n_node; k-- > 0;) {
        const tc_node *node = g->node[k];
        const tc_type *d = node->op == TC_OP_max_pool && node->n_out == 1 ? t->domain[node->out[0]]
                                                                          : NULL;
        if (!d || d->quant->axis >= 0 || readers[node->in[0]] != 1 || !is_f32(g, node->in[0]))
            continue;
        tc_type x = *ti_type_of(g, node->in[0]);
        x.dtype = d->dtype;
        x.quant = d->quant;
        t->domain[node->in[0]] = ti_type_intern(ctx, &x);
    }
}

/* ---- making ---- */

static tc_status add_rescale(tc_rewrite *rw, const tc_node *node, tc_val from, const tc_type *type,
                             const char *name, tc_val *out)
{
    tc_build b = ti_build_instead(rw, node);
    *out = ti_b_rescale(&b, from, type);
    if (*out && *out != from)
        rw->to->val[*out]->name = name;
    return b.status;
}

/* The replacement of old value v: its quantized twin if there is one. */
static tc_val best(const tc_rewrite *rw, tc_val v)
{
    const typing *t = rw->user;
    return t->typed[v] ? t->typed[v] : rw->now[v];
}

/* Old value v is this quantized value from here on; also a real one for readers that need it. */
static tc_status set_typed(tc_rewrite *rw, const tc_node *node, tc_val v, tc_val val)
{
    typing *t = rw->user;
    t->typed[v] = val;
    if (!t->as_real[v] || !is_f32(rw->from, v))
        return TC_OK;
    return add_rescale(rw, node, val, ti_type_of(rw->from, v), NULL, &rw->now[v]);
}

/* Constant codes with their domain. */
static tc_val typed_constant(tc_rewrite *rw, const tc_node *node, const tc_type *type, tc_val codes)
{
    const tc_value *old = rw->to->val[codes];
    return ti_graph_const(rw->to, type, old->data, old->name, node->loc);
}

static tc_status take_dequantize(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const typing *t = rw->user;
    if (node->op != TC_OP_dequantize || !is_f32(rw->from, node->out[0]))
        return TC_OK;
    tc_val codes = node->in[0], out = node->out[0];
    const tc_type *type = named_domain(rw->ctx, rw->from, node, ti_type_of(rw->from, codes));
    if (!type)
        return TC_OK;
    tc_val val = t->typed[codes];
    if (val && ti_type_of(rw->to, val) != type)
        return TC_OK; /* codes read with another domain than written */
    if (!val && ti_is_const(rw->to, rw->now[codes]))
        val = typed_constant(rw, node, type, rw->now[codes]);
    if (!val)
        return TC_OK;
    *done = true;
    return set_typed(rw, node, out, val);
}

static tc_status take_quantize(tc_rewrite *rw, const tc_node *node, bool *done)
{
    typing *t = rw->user;
    const tc_type *type = node->op == TC_OP_quantize ? domain_of(rw->ctx, rw->from, node) : NULL;
    if (!type || !is_f32(rw->from, node->in[0]) || t->bare[node->out[0]])
        return TC_OK;
    tc_val x = node->in[0], out = node->out[0];
    *done = true;
    tc_val from = best(rw, x), val;
    if (ti_is_const(rw->to, from) && is_f32(rw->from, x) && !ti_type_of(rw->to, from)->quant) {
        tc_tensor codes = ti_tensor_new(&rw->ctx->arena, type);
        ti_quantize_into(ti_tensor_of(rw->to, from), codes);
        val = ti_graph_const(rw->to, type, codes.data, rw->from->val[x]->name, node->loc);
    } else
        TC_TRY(add_rescale(rw, node, from, type, rw->from->val[x]->name, &val));
    t->typed[out] = val;
    rw->now[out] = val;
    return TC_OK;
}

/* The one domain of a movement's operands, mapped to its result; NULL: none.  Operands and result
 * were real, or are codes of a quantize; indices are neither. */
static const tc_type *moved_domain(tc_rewrite *rw, const tc_node *node, tc_val result)
{
    const tc_type *found = NULL;
    tc_dtype moves = ti_type_of(rw->from, result)->dtype;
    if (moves != TC_f32 && !moves_codes(node))
        return NULL;
    for (int i = 0; i < node->n_in; i++) {
        const tc_type *x = ti_type_of(rw->to, best(rw, node->in[i]));
        if (!x || ti_type_of(rw->from, node->in[i])->dtype != moves)
            continue;
        if (!x->quant || (found && found->quant != x->quant && !ti_same_quant(found->quant, x->quant)))
            return NULL;
        found = x;
    }
    if (!found)
        return NULL;
    tc_quant q = *found->quant;
    if (q.axis >= 0) {
        if (node->op != TC_OP_permute)
            return NULL;
        const tc_ints *perm = &((const tc_attr_perm *)node->attr)->perm;
        for (int j = 0; j < perm->n; j++)
            if (perm->v[j] == found->quant->axis)
                q.axis = j;
    }
    tc_type type = *ti_type_of(rw->from, result);
    type.dtype = found->dtype;
    type.quant = &q;
    return ti_type_intern(rw->ctx, &type);
}

/* Every quantized operand of a movement in the domain of its result. */
static tc_status bring_together(tc_rewrite *rw, const tc_node *node, const tc_type *result,
                                tc_val *in)
{
    for (int i = 0; i < node->n_in; i++) {
        if (!in[i] || !is_f32(rw->from, node->in[i]))
            continue;
        tc_type want = *ti_type_of(rw->to, in[i]);
        want.dtype = result->dtype;
        want.quant = result->quant;
        if (!result->quant || result->quant->axis < 0)
            TC_TRY(add_rescale(rw, node, in[i], ti_type_intern(rw->ctx, &want), NULL, &in[i]));
    }
    return TC_OK;
}

static bool reads_quantized(const tc_rewrite *rw, const tc_val *in, int n)
{
    for (int i = 0; i < n; i++)
        if (in[i] && ti_type_of(rw->to, in[i])->quant)
            return true;
    return false;
}

/* The domain that all results of a movement are quantized to, and that its operands can have; else
 * NULL. */
static const tc_type *common_domain(const typing *t, const tc_node *node)
{
    const tc_type *first = node->n_out ? t->domain[node->out[0]] : NULL;
    for (int i = 0; i < node->n_out; i++)
        if (!first || !t->domain[node->out[i]] || t->domain[node->out[i]]->quant != first->quant ||
            t->domain[node->out[i]]->dtype != first->dtype || first->quant->axis >= 0)
            return NULL;
    return first;
}

/* An operator on typed operands; its results take the domain that their readers agree on. */
static tc_status take_operator(tc_rewrite *rw, const tc_node *node, bool *done)
{
    typing *t = rw->user;
    uint32_t traits = tc_ops[node->op].traits;
    bool codes = node->op == TC_OP_quantize || node->op == TC_OP_dequantize;
    if (node->op == TC_OP_const)
        return TC_OK;
    *done = true;
    tc_val *in = tc_new_n(&rw->ctx->arena, tc_val, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++)
        in[i] = codes || (traits & T_CONTROL) ? rw->now[node->in[i]] : best(rw, node->in[i]);
    const tc_type *moved = NULL, *first = traits & T_MOVES ? common_domain(t, node) : NULL;
    if (traits & T_MOVES && node->n_out && (reads_quantized(rw, in, node->n_in) || first)) {
        moved = moved_domain(rw, node, node->out[0]);
        if (!moved && first) /* operands of several domains, or real: all are rescaled to the
                              * result's */
            TC_TRY(bring_together(rw, node, first, in));
        else if (!moved)
            TC_TRY(bring_together(rw, node, ti_type_make(rw->ctx, TC_f32, 0, NULL), in));
    }
    tc_node *copy =
        ti_graph_add(rw->to, node->op, node->attr, in, node->n_in, node->n_out, node->loc);
    for (int i = 0; i < node->n_out; i++) {
        tc_val v = node->out[i];
        tc_value *value = rw->to->val[copy->out[i]];
        value->name = rw->from->val[v]->name;
        value->type = ti_type_of(rw->from, v);
        if (!is_f32(rw->from, v)) {
            rw->now[v] = copy->out[i];
            if (moved) { /* codes keep their domain */
                t->typed[v] = copy->out[i];
                value->type = moved_domain(rw, node, v);
            }
            continue;
        }
        const tc_type *type = moved               ? moved_domain(rw, node, v)
                              : traits & T_MOVES && !first ? NULL
                                                  : t->domain[v];
        if (type && !(traits & T_CONTROL)) /* results of other graphs are real */
            value->type = type;
        if (value->type->quant)
            TC_TRY(set_typed(rw, node, v, copy->out[i]));
        else
            rw->now[v] = copy->out[i];
    }
    return ti_node_infer(rw->to, copy);
}

bool ti_quant_is_pt2e(const tc_module *module)
{
    for (size_t i = 0; i < module->n_graph; i++)
        for (size_t k = 0; k < module->graph[i]->n_node; k++) {
            tc_op op = module->graph[i]->node[k]->op;
            if (op == TC_OP_quantize || op == TC_OP_dequantize)
                return true;
        }
    return false;
}

tc_status ti_quant_convert_qdq_to_types(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {take_dequantize, take_quantize, take_operator};
    for (size_t i = 0; i < module->n_graph; i++) {
        tc_graph *g = module->graph[i];
        tc_mark mark = ti_arena_mark(&ctx->scratch);
        typing t = {tc_new_n(&ctx->scratch, const tc_type *, g->n_val),
                    tc_new_n(&ctx->scratch, bool, g->n_val),
                    tc_new_n(&ctx->scratch, bool, g->n_val),
                    tc_new_n(&ctx->scratch, tc_val, g->n_val)};
        survey_codes(ctx, g, &t);
        survey(ctx, g, &t);
        survey_windows(ctx, g, &t);
        tc_status status = ti_rewrite_graph(g, rewriters, TC_COUNT(rewriters), &t);
        ti_arena_rewind(&ctx->scratch, mark);
        TC_TRY(status);
    }
    return TC_OK;
}
