/* SPDX-License-Identifier: Apache-2.0 */
/* explorer.c -- the same content as Model Explorer takes it: a graph whose nodes have a namespace
 * (their module), incoming edges, and attributes by name. */
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
    attr(out, "tensor_shape", n->type ? ti_type_text(&c->ctx->arena, n->type) : NULL);
    ti_json_close(out, ']');
    ti_json_close(out, '}');
    ti_json_close(out, ']');
}

static const char *id_of(const tc_content *c, size_t k)
{
    return ti_text_format(&c->ctx->arena, "%zu", k);
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
    ti_json_close(&out, ']');
    ti_json_close(&out, '}');
}
