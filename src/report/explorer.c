/* SPDX-License-Identifier: Apache-2.0 */
/* explorer.c -- the same content as Model Explorer takes it: a graph whose nodes have a namespace
 * (their module), incoming edges, and attributes by name; and a graph for each region, with the TOSA operators
 * that it was lowered to. */
#include "report.h"

#include "../base/json_out.h"

static void attr(tc_json_out *out, const char *key, const char *value)
{
    if (!value || !*value)
        return;
    tc_json_object(out, NULL, TC_J("key", key), TC_J("value", value));
}

static void number_attr(const tc_content *c, tc_json_out *out, const char *key, double value)
{
    char text[32];
    tc_text_f64(value, text);
    if (value != 0)
        attr(out, key, ti_text_format(&c->ctx->arena, "%s", text));
}

static const char *space_of(const tc_content *c, const tc_report_node *n)
{
    char *text = ti_text_format(&c->ctx->arena, "%s", n->loc->module ? n->loc->module : "");
    for (char *p = text; *p; p++)
        *p = *p == '.' ? '/' : *p;
    return text;
}

static const char *place_of(const tc_content *c, const tc_report_node *n)
{
    if (n->where >= 0)
        return c->options.compiled->region[n->where].name;
    return n->where == TC_WHERE_CPU ? "CPU" : n->where == TC_WHERE_MERGED ? "merged" : NULL;
}

static const char *operators_of(const tc_content *c, const tc_report_node *n)
{
    tc_buf text;
    ti_buf_init(&text, &c->ctx->arena);
    for (size_t i = 0; i < n->n_tosa; i++)
        ti_buf_printf(&text, i ? ", %s" : "%s", n->tosa[i]);
    return ti_buf_cstr(&text);
}

static void put_attrs(const tc_content *c, tc_json_out *out, const tc_report_node *n)
{
    ti_json_open(out, "attrs", '[');
    attr(out, "node", n->name);
    attr(out, "target", n->loc->target);
    attr(out, "module type", n->loc->module_type);
    attr(out, "Python", n->loc->place);
    attr(out, "runs on", place_of(c, n));
    attr(out, "because", n->why);
    attr(out, "quantized", n->typed ? ti_type_text(&c->ctx->arena, n->typed) : NULL);
    attr(out, "TOSA", operators_of(c, n));
    number_attr(c, out, "cycles", n->cost.cycles);
    number_attr(c, out, "MACs", n->cost.macs);
    number_attr(c, out, "bytes", n->cost.bytes);
    ti_json_close(out, ']');
    ti_json_open(out, "outputsMetadata", '[');
    ti_json_open(out, NULL, '{');
    ti_json_put_text(out, "id", "0");
    ti_json_open(out, "attrs", '[');
    attr(out, "tensor_name", n->name);
    attr(out, "tensor_shape", n->type ? ti_type_text(&c->ctx->arena, n->type) : NULL);
    ti_json_close(out, ']');
    ti_json_close(out, '}');
    ti_json_close(out, ']');
}

static const char *id_of(const tc_content *c, size_t k)
{
    return ti_text_format(&c->ctx->arena, "%zu", k);
}

/* ---- inside of a region ---- */

/* By value of the region's graph: the node that makes it, counted from 1; 0: an input or a constant. */
static size_t *makers_of(const tc_content *c, const tc_graph *g)
{
    size_t *maker = tc_new_n(&c->ctx->arena, size_t, g->n_val + 1);
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; g->node[k]->op != TC_OP_const && i < g->node[k]->n_out; i++)
            maker[g->node[k]->out[i]] = k + 1;
    return maker;
}

/* An operator as the accelerator's compiler has it: TOSA's name, what it came from, its types. */
static void put_operator(const tc_content *c, const tc_graph *g, size_t k, const size_t *maker,
                         tc_json_out *out)
{
    const tc_node *node = g->node[k];
    const char *name = tc_ops[node->op].name;
    ti_json_open(out, NULL, '{');
    tc_json_put(out, TC_J("id", id_of(c, k)),
                TC_J("label", strncmp(name, "tosa_", 5) == 0 ? name + 5 : name),
                TC_J("namespace", node->loc->node ? node->loc->node : ""));
    ti_json_open(out, "incomingEdges", '[');
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] && maker[node->in[i]])
            tc_json_object(out, NULL, TC_J("sourceNodeId", id_of(c, maker[node->in[i]] - 1)),
                           TC_J("sourceNodeOutputId", "0"),
                           TC_J("targetNodeInputId", id_of(c, (size_t)i)));
    ti_json_close(out, ']');
    ti_json_open(out, "attrs", '[');
    attr(out, "node", node->loc->node);
    attr(out, "Python", node->loc->place);
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i])
            attr(out, ti_text_format(&c->ctx->arena, "operand %d", i),
                 ti_type_text(&c->ctx->arena, ti_type_of(g, node->in[i])));
    for (int i = 0; i < node->n_out; i++)
        attr(out, ti_text_format(&c->ctx->arena, "result %d", i),
             ti_type_text(&c->ctx->arena, ti_type_of(g, node->out[i])));
    ti_json_close(out, ']');
    ti_json_close(out, '}');
}

static void put_region(const tc_content *c, const tc_region *region, tc_json_out *out)
{
    const tc_graph *g = ti_main(region->module);
    const size_t *maker = makers_of(c, g);
    ti_json_open(out, NULL, '{');
    ti_json_put_text(out, "id", region->name);
    ti_json_open(out, "nodes", '[');
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->op != TC_OP_const)
            put_operator(c, g, k, maker, out);
    ti_json_close(out, ']');
    ti_json_close(out, '}');
}

void ti_content_explorer(const tc_content *c, tc_buf *to)
{
    tc_json_out out = {.to = to};
    ti_json_open(&out, NULL, '{');
    ti_json_put_text(&out, "label", tc_model_file(c->options.model));
    ti_json_open(&out, "graphs", '[');
    ti_json_open(&out, NULL, '{');
    ti_json_put_text(&out, "id", c->options.compiled ? c->options.compiled->target.text : "model");
    ti_json_open(&out, "nodes", '[');
    for (size_t k = 0; k < c->n_node; k++) {
        const tc_report_node *n = &c->node[k];
        ti_json_open(&out, NULL, '{');
        tc_json_put(&out, TC_J("id", id_of(c, k)), TC_J("label", n->op),
                    TC_J("namespace", space_of(c, n)));
        if (n->where >= 0) {
            ti_json_open(&out, "subgraphIds", '[');
            ti_json_put_text(&out, NULL, place_of(c, n));
            ti_json_close(&out, ']');
        }
        ti_json_open(&out, "incomingEdges", '[');
        for (size_t i = 0; i < n->n_in; i++)
            tc_json_object(&out, NULL, TC_J("sourceNodeId", id_of(c, n->in[i])),
                           TC_J("sourceNodeOutputId", "0"), TC_J("targetNodeInputId", id_of(c, i)));
        ti_json_close(&out, ']');
        put_attrs(c, &out, n);
        ti_json_close(&out, '}');
    }
    ti_json_close(&out, ']');
    ti_json_close(&out, '}');
    for (size_t i = 0; c->options.compiled && i < c->options.compiled->n_region; i++)
        put_region(c, &c->options.compiled->region[i], &out);
    ti_json_close(&out, ']');
    ti_json_close(&out, '}');
}
