/* SPDX-License-Identifier: Apache-2.0 */
/* color.c -- colours each node and computes its level.
 *
 * Levels keep the order: whatever the accelerator computes on level k needs from the CPU only what
 * the CPU computes on levels up to k, which needs from the accelerator only levels below.
 *
 *   accelerator node:  the highest level among its operands
 *   CPU node:          the highest of its CPU operands' levels and its accelerator operands'
 *                      levels + 1
 *
 * So all accelerator nodes of one level can be one region. */
#include "color.h"

#include <strings.h>

/* u8 codes are read or written: a region's border, whatever operator it is next to. */
static bool is_border(const tc_graph *g, const tc_node *node)
{
    return node->op == TC_OP_tosa_rescale && (ti_type_of(g, node->in[0])->dtype == TC_u8 ||
                                              ti_type_of(g, node->out[0])->dtype == TC_u8);
}

/* "aten.pow.Tensor_Scalar", "onnx.Pow" and "tflite.POW" without the format: as inspect prints them. */
static const char *source_operator(const tc_loc *loc)
{
    const char *dot = loc->target ? strchr(loc->target, '.') : NULL;
    return dot ? dot + 1 : loc->target;
}

/* All of it, or up to the overload: "pow" of "pow.Tensor_Scalar". */
static bool begins(const char *operator, const char *name)
{
    size_t n = strlen(name);
    return operator && strncasecmp(operator, name, n) == 0 && (!operator[n] || operator[n] == '.') && n;
}

/* An operator: ours, or the source's with or without its format and overload.  Case-insensitive. */
static bool is_operator(const tc_node *node, const char *name)
{
    return strcasecmp(tc_ops[node->op].name, name) == 0 || begins(source_operator(node->loc), name) ||
           (strchr(name, '.') && begins(node->loc->target, name));
}

bool ti_split_names(const tc_graph *g, const tc_node *node, const char *name)
{
    const tc_loc *loc = node->loc;
    if (is_operator(node, name) || (loc->node && ti_text_eq(loc->node, name)))
        return true;
    for (int i = 0; i < node->n_out; i++)
        if (g->val[node->out[i]]->name && ti_text_eq(g->val[node->out[i]]->name, name))
            return true;
    return false;
}

static tc_status unknown_name(tc_ctx *ctx, const tc_graph *g, const char *name)
{
    tc_status status =
        ti_usage(ctx, "--cpu: the model has no node or operator '%s'", name);
    size_t least = ti_text_far(name);
    const char *best = NULL;
    for (size_t k = 0; k < g->n_node; k++) {
        if (g->node[k]->loc->node)
            ti_text_nearer(name, g->node[k]->loc->node, &least, &best);
        ti_text_nearer(name, tc_ops[g->node[k]->op].name, &least, &best);
        if (source_operator(g->node[k]->loc))
            ti_text_nearer(name, source_operator(g->node[k]->loc), &least, &best);
    }
    if (best)
        ti_note(ctx, NULL, "did you mean '%s'?", best);
    ti_note(ctx, NULL, "it takes nodes as 'tosac explain' names them, and operators as 'tosac inspect' or "
                       "'tosac explain' do");
    return status;
}

static void keep(const tc_graph *g, size_t k, tc_color *c)
{
    c->why[k] = is_border(g, g->node[k]) ? NULL : "by --cpu";
}

/* The nodes lowered from a source node of that name: those with its location, if none has the
 * name. */
static bool keep_successors(const tc_graph *g, const tc_node *source, const char *name, tc_color *c)
{
    bool any = false;
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->loc == source->loc && ti_split_names(g, g->node[k], name))
            return true;
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->loc == source->loc && g->node[k]->op != TC_OP_const) {
            any = true;
            keep(g, k, c);
        }
    return any;
}

/* By the names of the original program.  *known: it has the name. */
static bool keep_by_source(const tc_graph *g, const tc_graph *source, const char *name, tc_color *c,
                           bool *known)
{
    bool any = false;
    for (size_t k = 0; source && k < source->n_node; k++)
        if (source->node[k]->op != TC_OP_const && source->node[k]->loc->file &&
            ti_split_names(source, source->node[k], name)) {
            *known = true;
            any |= keep_successors(g, source->node[k], name, c);
        }
    return any;
}

static tc_status kept_on_cpu(tc_ctx *ctx, const tc_graph *g, const tc_split_request *r, tc_color *c)
{
    for (size_t i = 0; i < r->n_cpu; i++) {
        bool any = false, known = false;
        for (size_t k = 0; k < g->n_node; k++)
            if (ti_split_names(g, g->node[k], r->cpu[i])) {
                any = true;
                keep(g, k, c);
            }
        any |= keep_by_source(g, r->source, r->cpu[i], c, &known);
        if (!any && !known)
            return unknown_name(ctx, g, r->cpu[i]);
        if (!any)
            ti_warning(ctx, &(tc_loc){.file = g->module->file}, TC_E_NO_EFFECT,
                       "--cpu %s has no effect: it was removed or became part of other operators",
                       r->cpu[i]);
    }
    return TC_OK;
}

static bool all_counts(const tc_graph *g, const tc_node *node)
{
    for (int i = 0; i < node->n_in + node->n_out; i++) {
        tc_val v = i < node->n_in ? node->in[i] : node->out[i - node->n_in];
        const tc_type *t = v ? ti_type_of(g, v) : NULL;
        if (t && (t->quant || ti_is_float(t->dtype) || t->dtype == TC_i8 || t->dtype == TC_i16))
            return false; /* codes, of a domain or of a model that came quantized */
    }
    return node->n_in > 0 && !tc_ops[node->op].tosa;
}

/* Index arithmetic for the accelerator (indices, lengths, masks) stays on the CPU once a node there
 * needs it: another region, and its border, would cost more than it saves. */
static void keep_counts(tc_ctx *ctx, const tc_graph *g, tc_color *c)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    bool *onward = tc_new_n(&ctx->scratch, bool, g->n_val); /* joins the accelerator later */
    bool *wanted = tc_new_n(&ctx->scratch, bool, g->n_val); /* on the CPU, on such a way */
    for (size_t k = g->n_node; k-- > 0;) {
        const tc_node *node = g->node[k];
        bool later = false, here = false;
        for (int i = 0; i < node->n_out; i++) {
            later = later || onward[node->out[i]];
            here = here || wanted[node->out[i]];
        }
        if (c->place[k] == TC_PLACE_ACCELERATOR && here && all_counts(g, node)) {
            c->place[k] = TC_PLACE_CPU;
            c->why[k] = "it counts, and the CPU needs its result";
        }
        bool there = c->place[k] == TC_PLACE_ACCELERATOR;
        for (int i = 0; i < node->n_in; i++) {
            onward[node->in[i]] = onward[node->in[i]] || there || later;
            wanted[node->in[i]] = wanted[node->in[i]] || (!there && later);
        }
    }
    ti_arena_rewind(&ctx->scratch, mark);
}

static bool is_wide(const tc_graph *g, tc_val v)
{
    tc_dtype d = v ? ti_type_of(g, v)->dtype : TC_none;
    return d == TC_i32 || d == TC_i48;
}

/* A sum crosses no border where what is made of it is smaller. */
static void keep_sums(tc_ctx *ctx, const tc_graph *g, tc_color *c)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    bool *sum = tc_new_n(&ctx->scratch, bool, g->n_val); /* of the CPU's */
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        bool reads = false;
        for (int i = 0; i < node->n_in; i++)
            reads = reads || sum[node->in[i]];
        if (reads && c->place[k] == TC_PLACE_ACCELERATOR && !is_wide(g, node->out[0])) {
            c->place[k] = TC_PLACE_CPU;
            c->why[k] = "it narrows a sum of products that is made there";
        }
        bool product = tc_ops[node->op].traits & T_MAC;
        if (c->place[k] == TC_PLACE_CPU && product && node->n_out)
            sum[node->out[0]] = is_wide(g, node->out[0]);
    }
    ti_arena_rewind(&ctx->scratch, mark);
}

tc_status ti_split_color(tc_ctx *ctx, const tc_graph *g, const tc_split_request *r, tc_color *c)
{
    *c = (tc_color){tc_new_n(&ctx->arena, tc_place, g->n_node),
                    tc_new_n(&ctx->arena, const char *, g->n_node),
                    tc_new_n(&ctx->arena, uint32_t, g->n_node)};
    TC_TRY(kept_on_cpu(ctx, g, r, c));
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (r->left && !c->why[k] && node->loc->node && !is_border(g, node))
            c->why[k] = ti_map_get(r->left, ti_str_of(node->loc->node));
        if (node->op == TC_OP_const)
            c->place[k] = TC_PLACE_ANYWHERE;
        else if (!c->why[k] && r->ask(r->who, g, node, &c->why[k]))
            c->place[k] = TC_PLACE_ACCELERATOR;
    }
    keep_counts(ctx, g, c);
    if (r->keep_sums)
        keep_sums(ctx, g, c);
    return TC_OK;
}

uint32_t ti_split_levels(tc_ctx *ctx, const tc_graph *g, tc_color *c)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    uint32_t *of = tc_new_n(&ctx->scratch, uint32_t, g->n_val), most = 0;
    bool *made_there = tc_new_n(&ctx->scratch, bool, g->n_val);
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        bool there = c->place[k] == TC_PLACE_ACCELERATOR;
        uint32_t level = 0;
        for (int i = 0; i < node->n_in; i++) {
            uint32_t at = of[node->in[i]] + (!there && made_there[node->in[i]]);
            level = at > level ? at : level;
        }
        for (int i = 0; i < node->n_out; i++) {
            of[node->out[i]] = level;
            made_there[node->out[i]] = there;
        }
        c->level[k] = level;
        most = level > most ? level : most;
    }
    ti_arena_rewind(&ctx->scratch, mark);
    return most + 1;
}
