/* SPDX-License-Identifier: Apache-2.0 */
/* content.c -- the nodes of the model as read, and what each became. */
#include "report.h"

#include "../base/enter.h"
#include "../drive/model.h"
#include "../wire/file.h"

int32_t ti_content_node(const tc_content *c, const char *name)
{
    return name ? (int32_t)(uintptr_t)ti_map_get(&c->by_name, ti_str_of(name)) - 1 : -1;
}

/* ---- nodes ---- */

static const tc_loc nowhere = {.module = ""};

static bool is_shown(const tc_node *node)
{
    return node->op != TC_OP_const;
}

static const char *node_name(tc_ctx *ctx, const tc_graph *g, const tc_node *node)
{
    if (node->loc->node)
        return node->loc->node;
    if (node->n_out && g->val[node->out[0]]->name)
        return g->val[node->out[0]]->name;
    return ti_text_format(&ctx->arena, "%s.%u", tc_ops[node->op].name,
                          node->n_out ? node->out[0] : 0);
}

static tc_report_node *add_node(tc_content *c, const char *name, const char *op, const tc_loc *loc,
                                const tc_type *type)
{
    tc_report_node *n = &c->node[c->n_node++];
    *n = (tc_report_node){
        .name = name, .op = op, .loc = loc, .type = type, .where = TC_WHERE_UNKNOWN};
    void **slot = ti_map_at(&c->by_name, ti_str_of(name));
    if (!*slot)
        *slot = (void *)(uintptr_t)c->n_node;
    return n;
}

/* Nodes that a list of values comes from, each once. */
static void read_values(tc_content *c, const uint32_t *maker, const tc_val *v, size_t n,
                        tc_report_node *to)
{
    to->in = tc_new_n(&c->ctx->arena, uint32_t, n + 1);
    for (size_t i = 0; i < n; i++) {
        uint32_t from = v[i] ? maker[v[i]] : 0;
        bool new = from != 0;
        for (size_t k = 0; k < to->n_in && new; k++)
            new = to->in[k] != from - 1;
        if (new)
            to->in[to->n_in++] = from - 1;
    }
}

static void find_nodes(tc_content *c)
{
    tc_ctx *ctx = c->ctx;
    const tc_graph *g = c->model;
    uint32_t *maker = tc_new_n(&ctx->scratch, uint32_t, g->n_val); /* of a value: node + 1 */
    c->node = tc_new_n(&ctx->arena, tc_report_node, g->n_in + g->n_node + g->n_out + 1);
    ti_map_init(&c->by_name, &ctx->arena);
    for (size_t i = 0; i < g->n_in; i++) {
        const char *name = ti_input_name(g, i);
        add_node(c, name ? name : ti_text_format(&ctx->arena, "input %zu", i), "input", &nowhere,
                 ti_type_of(g, g->in[i]));
        maker[g->in[i]] = (uint32_t)c->n_node;
    }
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (!is_shown(node))
            continue;
        tc_report_node *n = add_node(c, node_name(ctx, g, node), tc_ops[node->op].name, node->loc,
                                     node->n_out ? ti_type_of(g, node->out[0]) : NULL);
        n->node = node;
        read_values(c, maker, node->in, (size_t)node->n_in, n);
        for (int i = 0; i < node->n_out; i++) {
            maker[node->out[i]] = (uint32_t)c->n_node;
            const char *value = g->val[node->out[i]]->name;
            void **slot = value ? ti_map_at(&c->by_name, ti_str_of(value)) : NULL;
            if (slot && !*slot)
                *slot = (void *)(uintptr_t)c->n_node;
        }
    }
    for (size_t i = 0; i < g->n_out; i++) {
        const char *name = ti_output_name_of(g, i);
        tc_report_node *n = &c->node[c->n_node++];
        *n = (tc_report_node){.name = ti_text_format(&ctx->arena, "output %zu%s%s", i,
                                                     name ? ": " : "", name ? name : ""),
                              .op = "output",
                              .loc = &nowhere,
                              .type = ti_type_of(g, g->out[i]),
                              .where = TC_WHERE_UNKNOWN};
        read_values(c, maker, &g->out[i], 1, n);
    }
}

/* ---- what became of them ---- */

static void take_types(tc_content *c, const tc_graph *from, bool second)
{
    for (size_t v = 1; v < from->n_val; v++) {
        int32_t at = from->val[v]->def ? ti_content_node(c, from->val[v]->name) : -1;
        const tc_type *type = from->val[v]->type;
        if (at < 0 || !type || from->val[v]->def->op == TC_OP_const)
            continue;
        if (second)
            c->node[at].second = type;
        else if (!c->node[at].typed || type->quant)
            c->node[at].typed = type;
    }
}

/* Nodes whose value has another name there, or none: several nodes make it together, or its values
 * differ from the model's. */
static void take_joined(tc_content *c, const tc_graph *from)
{
    for (size_t k = from->n_node; k-- > 0;) {
        const tc_node *node = from->node[k];
        int32_t at = node->op == TC_OP_const || !node->n_out
                         ? -1
                         : ti_content_node(c, node->loc->node);
        const tc_value *value = at < 0 ? NULL : from->val[node->out[0]];
        if (at < 0 || c->node[at].typed || !value->type)
            continue;
        c->node[at].typed = value->type;
        c->node[at].other = true;
        if (value->name && !ti_text_eq(value->name, c->node[at].name))
            c->node[at].joined = value->name;
    }
}

/* Removed movement keeps the codes of its operand. */
static void take_moved(tc_content *c)
{
    for (size_t k = 0; k < c->n_node; k++) {
        tc_report_node *n = &c->node[k];
        const tc_type *from = n->n_in ? c->node[n->in[0]].typed : NULL;
        if (n->typed || !n->node || !n->type || !from || !from->quant || from->quant->count != 1 ||
            !(tc_ops[n->node->op].traits & T_MOVES))
            continue;
        tc_type type = *n->type;
        type.dtype = from->dtype;
        type.quant = from->quant;
        n->typed = ti_type_intern(c->ctx, &type);
        n->other = true;
    }
}

static void take_typed(tc_content *c, const tc_graph *from)
{
    take_types(c, from, false);
    take_joined(c, from);
    take_moved(c);
}

static void find_places(tc_content *c, const tc_compiled *compiled)
{
    for (size_t k = 0; k < c->n_node; k++)
        if (c->node[k].loc != &nowhere)
            c->node[k].where = TC_WHERE_MERGED;
    for (size_t i = 0; i < compiled->split.n_left; i++) {
        const tc_split_left *l = &compiled->split.left[i];
        int32_t at = ti_content_node(c, l->node->loc->node);
        if (at >= 0) {
            c->node[at].where = TC_WHERE_CPU;
            c->node[at].why = l->why;
        }
    }
    for (size_t r = 0; r < compiled->n_region; r++) {
        const tc_graph *g = ti_main(compiled->region[r].module);
        for (size_t i = 0; i < compiled->region[r].n_node; i++) {
            int32_t at = ti_content_node(c, compiled->region[r].node[i]);
            if (at >= 0) {
                c->node[at].where = (int)r;
                c->node[at].why = NULL;
            }
        }
        for (size_t k = 0; k < g->n_node; k++) {
            int32_t at =
                g->node[k]->op == TC_OP_const ? -1 : ti_content_node(c, g->node[k]->loc->node);
            if (at < 0)
                continue;
            tc_report_node *n = &c->node[at];
            if (n->where < 0) {
                n->where = (int)r;
                n->why = NULL;
            }
            tc_grow(&c->ctx->arena, n->tosa, n->n_tosa, n->cap_tosa);
            n->tosa[n->n_tosa++] = tc_ops[g->node[k]->op].name;
        }
    }
}

static void lay_out(tc_content *c)
{
    tc_layout_node *node = tc_new_n(&c->ctx->scratch, tc_layout_node, c->n_node + 1);
    for (size_t k = 0; k < c->n_node; k++)
        node[k] = (tc_layout_node){.module = c->node[k].loc->module,
                                   .module_type = c->node[k].loc->module_type,
                                   .in = c->node[k].in,
                                   .n_in = c->node[k].n_in};
    c->layout = ti_layout_make(&c->ctx->arena, &c->ctx->scratch, node, c->n_node);
}

static tc_status content_find(tc_ctx *ctx, const tc_report_options *o, tc_content *out)
{
    *out = (tc_content){.ctx = ctx, .options = *o};
    if (!o->model)
        return ti_usage(ctx, "a report needs a model");
    out->model = ti_main(o->model->module);
    find_nodes(out);
    const tc_model *typed = o->typed;
    if (o->compiled) {
        find_places(out, o->compiled);
        if (o->compiled->work.typed)
            take_typed(out, ti_main(o->compiled->work.typed));
        TC_TRY(ti_content_costs(out));
        ti_content_memory(out);
    } else if (typed)
        take_typed(out, ti_main(typed->module));
    if (o->second)
        take_types(out, ti_main(o->second->module), true);
    TC_TRY(ti_content_errors(out));
    TC_TRY(ti_content_spreads(out));
    TC_TRY(ti_content_answers(out));
    lay_out(out);
    return TC_OK;
}

/* ---- for callers ---- */

static tc_status make(tc_ctx *ctx, const tc_report_options *options, tc_report_form form,
                      tc_bytes *out)
{
    tc_report_options o = TC_TAKE(tc_report_options, options);
    tc_content content;
    tc_buf buf;
    TC_TRY(content_find(ctx, &o, &content));
    ti_buf_init(&buf, &ctx->arena);
    if (form == TC_REPORT_FORM_JSON)
        ti_content_json(&content, false, &buf);
    else if (form == TC_REPORT_FORM_MODEL_EXPLORER)
        ti_content_explorer(&content, &buf);
    else
        ti_content_page(&content, &buf);
    *out = (tc_bytes){buf.data, buf.size};
    return TC_OK;
}

tc_status tc_report_make(tc_ctx *ctx, const tc_report_options *options, tc_report_form form,
                         tc_bytes *out)
{
    TC_ENTER(ctx, make(ctx, options, form, out));
}

static tc_status write_report(tc_ctx *ctx, const tc_report_options *options, const char *path)
{
    tc_bytes bytes;
    TC_TRY(make(ctx, options,
                ti_text_ends(path, ".json") ? TC_REPORT_FORM_JSON : TC_REPORT_FORM_HTML, &bytes));
    return ti_file_write(ctx, path, bytes);
}

tc_status tc_report_write(tc_ctx *ctx, const tc_report_options *options, const char *path)
{
    TC_ENTER(ctx, write_report(ctx, options, path));
}
