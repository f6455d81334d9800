/* SPDX-License-Identifier: Apache-2.0 */
/* apply.c -- the float program becomes typed.
 *
 * A value may have two forms: real, and in its domain.  Each is created at its first use; a rescale
 * converts between them.  Movement is done in the form its operand has.  Constants are quantized
 * for each reader: see quant_weights.c.
 */
#include "apply.h"
#include "spectra.h"

#include "../ir/verify.h"
#include "../num/quant.h"

/* ---- types ---- */

const tc_type *ti_apply_type(tc_ctx *ctx, const tc_type *real, tc_dtype dtype, int64_t lo,
                             int64_t hi, double scale, int64_t zero)
{
    tc_quant q = {-1, 1, lo, hi, &scale, &zero};
    tc_type type = *real;
    type.dtype = dtype;
    type.quant = &q;
    return ti_type_intern(ctx, &type);
}

const tc_type *ti_apply_domain(const tc_apply *a, tc_val v)
{
    int32_t of = a->domains->of[v];
    if (of < 0)
        return NULL;
    const tc_domain *d = &a->domains->domain[of];
    return ti_apply_type(a->rw->ctx, ti_type_of(a->rw->from, v), d->setting.dtype, d->setting.qmin,
                         d->setting.qmax, d->scale, d->zero);
}

const tc_type *ti_apply_read(const tc_apply *a, const tc_node *node, tc_val v)
{
    int32_t of = a->domains->of[v];
    const tc_domain *d = of >= 0 ? &a->domains->domain[of] : NULL;
    if (!d || d->narrow.dtype == TC_none || ti_role_reads_wide(node->op) ||
        (d->expensive && ti_role_bears_wide(node->op)))
        return ti_apply_domain(a, v);
    return ti_apply_type(a->rw->ctx, ti_type_of(a->rw->from, v), d->narrow.dtype, d->narrow.qmin,
                         d->narrow.qmax, d->narrow_scale, d->narrow_zero);
}

/* The same domain on another shape. */
static const tc_type *like(tc_ctx *ctx, const tc_type *domain, const tc_type *shape)
{
    tc_type type = *shape;
    type.dtype = domain->dtype;
    type.quant = domain->quant;
    return ti_type_intern(ctx, &type);
}

/* ---- the two forms of a value ---- */

static tc_status rescale(tc_apply *a, tc_val from, const tc_type *type, const tc_loc *loc,
                         const char *name, tc_val *out)
{
    tc_build b = {.ctx = a->rw->ctx, .g = a->rw->to, .loc = loc};
    *out = ti_b_rescale(&b, from, type);
    if (*out && *out != from)
        b.g->val[*out]->name = name;
    return b.status;
}

/* A constant or, of a buffer that the program changes, what it starts with, in a type. */
static tc_val start(tc_apply *a, const tc_type *type, const tc_value *old)
{
    tc_graph *to = a->rw->to;
    tc_tensor numbers = {old->type, (void *)(uintptr_t)old->data};
    if (type->quant) {
        tc_tensor codes = ti_tensor_new(&a->rw->ctx->arena, type);
        ti_quantize_into(numbers, codes);
        numbers = codes;
    }
    tc_val val = ti_graph_const(to, type, numbers.data, old->name, old->def->loc);
    to->val[val]->state = old->state;
    return val;
}

tc_status ti_apply_real(tc_apply *a, tc_val v, const tc_loc *loc, tc_val *out)
{
    tc_rewrite *rw = a->rw;
    const tc_value *old = v ? rw->from->val[v] : NULL;
    if (v && !rw->now[v] && !a->typed[v] && old->def && old->def->op == TC_OP_const)
        rw->now[v] = start(a, old->type, old);
    tc_val now = v ? rw->now[v] : TC_NONE;
    if (v && (!now || ti_type_of(rw->to, now)->quant)) /* the bound value may be the codes */
        TC_TRY(rescale(a, a->typed[v] ? a->typed[v] : now, old->type, loc, NULL, &rw->now[v]));
    *out = v ? rw->now[v] : TC_NONE;
    return TC_OK;
}

static tc_status typed_value(tc_apply *a, tc_val v, const tc_loc *loc, tc_val *out)
{
    if (!a->typed[v]) {
        tc_val real;
        TC_TRY(ti_apply_real(a, v, loc, &real));
        TC_TRY(
            rescale(a, real, ti_apply_domain(a, v), loc, a->rw->from->val[v]->name, &a->typed[v]));
    }
    *out = a->typed[v];
    return TC_OK;
}

/* Clamps unbounded values to the range of a type's codes: runtimes convert to integers first. */
static tc_status clamp_to(tc_apply *a, tc_val real, const tc_type *type, const tc_loc *loc,
                          tc_val *out)
{
    const tc_quant *q = type->quant;
    tc_build b = {.ctx = a->rw->ctx, .g = a->rw->to, .loc = loc};
    *out = ti_b_clamp(&b, real, q->scale[0] * (double)(q->lo - q->zero[0]),
                      q->scale[0] * (double)(q->hi - q->zero[0]));
    return b.status;
}

/* Operand v in the domain of the result it is moved into. */
static tc_status moved_operand(tc_apply *a, tc_val v, const tc_type *domain, const tc_loc *loc,
                               tc_val *out)
{
    const tc_type *type = like(a->rw->ctx, domain, ti_type_of(a->rw->from, v));
    if (a->flow.fixed[v])
        return ti_apply_constant(a, v, type, loc, out);
    if (a->domains->of[v] >= 0)
        TC_TRY(typed_value(a, v, loc, out));
    else
        TC_TRY(ti_apply_real(a, v, loc, out));
    if (a->flow.huge[v] && type->quant && !ti_type_of(a->rw->to, *out)->quant)
        TC_TRY(clamp_to(a, *out, type, loc, out));
    return rescale(a, *out, type, loc, NULL, out);
}

/* ---- operands ---- */

/* Old value v in its domain, as the node reads it. */
static tc_status read_operand(tc_apply *a, const tc_node *node, tc_val v, tc_val *out)
{
    const tc_type *type = ti_apply_read(a, node, v);
    TC_TRY(typed_value(a, v, node->loc, out));
    if (type == ti_type_of(a->rw->to, *out))
        return TC_OK;
    if (!a->narrow[v])
        TC_TRY(rescale(a, *out, type, node->loc, NULL, &a->narrow[v]));
    *out = a->narrow[v];
    return TC_OK;
}

static tc_status operand(tc_apply *a, const tc_node *node, int i, tc_val *out)
{
    tc_val v = node->in[i];
    const tc_dataflow *f = &a->flow;
    if (!v || !ti_dataflow_is_f32(f, v) || ti_role_real(node, i))
        return ti_apply_real(a, v, node->loc, out);
    if (a->domains->of[v] >= 0)
        return read_operand(a, node, v, out);
    if (!f->fixed[v])
        return ti_apply_real(a, v, node->loc, out);
    return ti_apply_fixed_operand(a, node, i, out);
}

/* ---- nodes ---- */

/* Results of the new node replace those of the old one, in the form they have. */
static void bind(tc_apply *a, const tc_node *node, const tc_node *copy)
{
    tc_rewrite *rw = a->rw;
    for (int i = 0; i < node->n_out; i++) {
        const tc_type *type = ti_type_of(rw->to, copy->out[i]);
        rw->to->val[copy->out[i]]->name = rw->from->val[node->out[i]]->name;
        *(type && type->quant ? &a->typed[node->out[i]] : &rw->now[node->out[i]]) = copy->out[i];
    }
}

/* Unmasked attention with 8-bit results uses 8-bit probabilities, as its softmax would as a
 * separate value.  A decoder's, causal or masked, accumulates the error from step to step. */
static const void *attr_of(const tc_apply *a, const tc_node *node, const tc_val *in)
{
    const tc_type *y = ti_apply_domain(a, node->out[0]);
    bool masked = node->op == TC_OP_sdpa &&
                  (((const tc_attr_sdpa *)node->attr)->causal ||
                   (node->n_in > 3 && node->in[3] &&
                    (!a->flow.fixed[node->in[3]] ||
                     ti_type_of(a->rw->from, node->in[3])->dtype == TC_bool)));
    if (node->op != TC_OP_sdpa || masked || !y || y->dtype != TC_i8 || a->flow.config->anchor ||
        ti_type_of(a->rw->to, in[2])->dtype != TC_i8)
        return node->attr;
    tc_attr_sdpa *attr = ti_arena_copy(&a->rw->ctx->arena, node->attr, sizeof *attr);
    attr->coarse = true;
    return attr;
}

static tc_status add_copy(tc_apply *a, const tc_node *node, const tc_val *in, bool typed)
{
    tc_rewrite *rw = a->rw;
    const void *attr = typed ? attr_of(a, node, in) : node->attr;
    tc_node *copy = ti_graph_add(rw->to, node->op, attr, in, node->n_in, node->n_out, node->loc);
    for (int i = 0; i < node->n_out; i++) {
        const tc_type *domain = typed ? ti_apply_domain(a, node->out[i]) : NULL;
        rw->to->val[copy->out[i]]->type = domain ? domain : ti_type_of(rw->from, node->out[i]);
    }
    TC_TRY(ti_node_infer(rw->to, copy));
    bind(a, node, copy);
    return TC_OK;
}

static tc_status copy_real(tc_apply *a, const tc_node *node, tc_val *in)
{
    for (int i = 0; i < node->n_in; i++)
        TC_TRY(ti_apply_real(a, node->in[i], node->loc, &in[i]));
    return add_copy(a, node, in, false);
}

static tc_status copy_moved(tc_apply *a, const tc_node *node, tc_val *in)
{
    const tc_type *domain = ti_apply_domain(a, node->out[0]);
    for (int i = 0; i < node->n_in; i++)
        if (ti_role_carries(node, i))
            TC_TRY(moved_operand(a, node->in[i], domain, node->loc, &in[i]));
        else
            TC_TRY(ti_apply_real(a, node->in[i], node->loc, &in[i]));
    return add_copy(a, node, in, true);
}

static tc_status copy_quantized(tc_apply *a, const tc_node *node, tc_val *in)
{
    for (int i = 0; i < node->n_in; i++)
        TC_TRY(operand(a, node, i, &in[i]));
    return add_copy(a, node, in, true);
}

/* ---- the signature ---- */

/* 8 bits without sign: the same codes, counted from 0. */
static const tc_type *port_type(tc_apply *a, const tc_patch *port, const tc_type *domain)
{
    if (!(port->has & TC_HAS_DTYPE) || port->to.dtype != TC_u8 || domain->dtype != TC_i8)
        return domain;
    const tc_quant *q = domain->quant;
    return ti_apply_type(a->rw->ctx, domain, TC_u8, q->lo + 128, q->hi + 128, q->scale[0],
                         q->zero[0] + 128);
}

/* Inputs take their domain's type where the configuration says so. */
static tc_status enter(tc_apply *a)
{
    tc_rewrite *rw = a->rw;
    for (size_t i = 0; i < rw->from->n_in && a->config->in.has; i++) {
        tc_val v = rw->from->in[i], now = rw->now[v];
        const tc_type *domain = ti_apply_domain(a, v);
        if (!domain)
            continue;
        rw->to->val[now]->type = port_type(a, &a->config->in, domain);
        rw->now[v] = TC_NONE;
        TC_TRY(rescale(a, now, domain, NULL, NULL, &a->typed[v]));
    }
    return TC_OK;
}

/* An output of the program in integers, if requested and possible. */
static tc_status typed_output(tc_apply *a, tc_val v, const tc_loc *loc, tc_val *out)
{
    tc_rewrite *rw = a->rw;
    const tc_type *domain = ti_apply_domain(a, v);
    *out = TC_NONE;
    if (!a->config->out.has || !ti_dataflow_is_f32(&a->flow, v))
        return TC_OK;
    if (a->flow.fixed[v]) {
        TC_TRY(ti_apply_own(a, v, ti_setting_patched(a->flow.scheme[v].act, &a->config->out),
                            &domain));
        domain = port_type(a, &a->config->out, domain);
        return ti_apply_constant(a, v, domain, loc, out);
    }
    if (!domain)
        return TC_OK;
    TC_TRY(typed_value(a, v, loc, out));
    return rescale(a, *out, port_type(a, &a->config->out, domain), loc, rw->from->val[v]->name,
                   out);
}

/* The next content of a buffer of codes. */
static tc_status write_back(tc_apply *a, const tc_mutation *m, const tc_loc *loc, tc_val *out)
{
    const tc_type *domain = ti_apply_domain(a, m->before);
    if (a->flow.fixed[m->after])
        return ti_apply_constant(a, m->after, domain, loc, out);
    TC_TRY(typed_value(a, m->after, loc, out));
    return rescale(a, *out, domain, loc, NULL, out);
}

/* A buffer of codes: its initial value, and what is assigned to it. */
static tc_status keep(tc_apply *a, tc_val v, const tc_loc *loc, tc_val *typed)
{
    const tc_graph *g = a->rw->from;
    for (size_t i = 0; i < g->n_mutation; i++)
        if (a->flow.typed_state[i] && g->mutation[i].before == v)
            *typed = a->typed[v] = start(a, ti_apply_domain(a, v), g->val[v]);
    for (size_t i = 0; i < g->n_mutation; i++)
        if (a->flow.typed_state[i] && g->mutation[i].after == v) {
            TC_TRY(write_back(a, &g->mutation[i], loc, &a->after[i]));
            *typed = *typed ? *typed : a->after[i];
        }
    return TC_OK;
}

/* A value that the signature or the next run reads is created in the form they need. */
static tc_status leave(tc_apply *a, tc_val v, const tc_loc *loc)
{
    const tc_graph *g = a->rw->from;
    tc_val real, typed = TC_NONE;
    if (!a->flow.leaves[v] && !a->flow.state[v])
        return TC_OK;
    if (a->is_out[v])
        TC_TRY(typed_output(a, v, loc, &typed));
    a->out[v] = typed;
    bool as_real = a->is_out[v] && !typed;
    for (size_t i = 0; i < g->n_mutation; i++)
        as_real = as_real || (!a->flow.typed_state[i] &&
                              (g->mutation[i].before == v || g->mutation[i].after == v));
    TC_TRY(keep(a, v, loc, &typed));
    if (as_real || !typed)
        return ti_apply_real(a, v, loc, &real);
    a->rw->now[v] = a->rw->now[v] ? a->rw->now[v] : typed; /* the bound value is never none */
    return TC_OK;
}

/* Outputs that are integers now. */
static void set_outputs(const tc_apply *a, const tc_val *old, tc_graph *g)
{
    tc_module *m = g->module;
    tc_val *codes = tc_new_n(&m->ctx->scratch, tc_val, g->n_val); /* by value, those of an output */
    for (size_t i = 0; i < g->n_out; i++) {
        if (a->out[old[i]] && !codes[g->out[i]])
            codes[g->out[i]] = a->out[old[i]];
        g->out[i] = a->out[old[i]] ? a->out[old[i]] : g->out[i];
    }
    for (size_t k = 0; k < m->signature.n_out; k++)
        if (codes[m->signature.out[k].val])
            m->signature.out[k].val = codes[m->signature.out[k].val];
}

/* Buffers that hold codes now. */
static void set_buffers(const tc_apply *a, const tc_mutation *old, tc_graph *g)
{
    for (size_t i = 0; i < g->n_mutation; i++)
        if (a->flow.typed_state[i])
            g->mutation[i] = (tc_mutation){a->typed[old[i].before], a->after[i]};
}

static tc_status take_node(tc_rewrite *rw, const tc_node *node, bool *done)
{
    tc_apply *a = rw->user;
    const tc_dataflow *f = &a->flow;
    *done = true;
    if (!a->rw) {
        a->rw = rw;
        TC_TRY(enter(a));
        for (size_t i = 0; i < rw->from->n_in; i++)
            TC_TRY(keep(a, rw->from->in[i], node->loc, &(tc_val){TC_NONE}));
    }
    if (node->op == TC_OP_const) /* created on demand */
        return leave(a, node->out[0], node->loc);
    tc_val *in = tc_new_n(&rw->ctx->arena, tc_val, (size_t)node->n_in);
    bool quantizes = ti_dataflow_quantizes(f, node), moves = ti_role_moves(node);
    tc_val first = node->n_out ? node->out[0] : TC_NONE, tied = TC_NONE;
    if (!quantizes)
        TC_TRY(copy_real(a, node, in));
    else if (!moves)
        TC_TRY(copy_quantized(a, node, in));
    else {
        bool typed = a->domains->of[first] >= 0;
        if (typed)
            TC_TRY(ti_apply_tied(a, node, &tied));
        if (tied) {
            rw->to->val[tied]->name = rw->from->val[first]->name;
            a->typed[first] = tied;
        } else if (typed)
            TC_TRY(copy_moved(a, node, in));
        bool real = !typed;
        for (int i = 0; i < node->n_out; i++)
            real = real || (ti_role_carried(node, i) && !f->born[node->out[i]] &&
                            f->need_real[node->out[i]]);
        if (real)
            TC_TRY(copy_real(a, node, in));
    }
    for (int i = 0; i < node->n_out; i++)
        TC_TRY(leave(a, node->out[i], node->loc));
    return TC_OK;
}

tc_status ti_quant_apply(tc_ctx *ctx, tc_module *module, const tc_config *config,
                         const tc_domains *domains)
{
    static tc_rewriter *const rewriters[] = {take_node};
    tc_graph *g = ti_main(module);
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_apply a = {.flow = ti_dataflow_of(ctx, g, config, domains->never),
                  .config = config,
                  .domains = domains,
                  .typed = tc_new_n(&ctx->scratch, tc_val, g->n_val + 1),
                  .narrow = tc_new_n(&ctx->scratch, tc_val, g->n_val + 1)};
    ti_spectra_weights(&a.flow, domains);
    ti_map_init(&a.made, &ctx->arena);
    a.is_out = tc_new_n(&ctx->scratch, bool, g->n_val + 1);
    a.out = tc_new_n(&ctx->scratch, tc_val, g->n_val + 1);
    for (size_t i = 0; i < g->n_out; i++)
        a.is_out[g->out[i]] = true;
    a.after = tc_new_n(&ctx->scratch, tc_val, g->n_mutation + 1);
    const tc_mutation *old = g->mutation;
    const tc_val *old_out = g->out;
    tc_status status = ti_rewrite_graph(g, rewriters, TC_COUNT(rewriters), &a);
    if (status == TC_OK) {
        set_outputs(&a, old_out, g);
        set_buffers(&a, old, g);
    }
    g->facts &= ~(uint32_t)(TC_FACT_TOSA_ONLY | TC_FACT_FLOAT);
    ti_arena_rewind(&ctx->scratch, mark);
    return status;
}
