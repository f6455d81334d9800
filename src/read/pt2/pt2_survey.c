/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_survey.c -- what an exported program holds, from its JSON alone, so that a file whose
 * operators are not all known can still be looked at. */
#include "../survey.h"

#include "pt2_program.h"

static const char *text_of(tc_pt2 *r, const tc_json *json)
{
    tc_str text = ti_json_text(&r->ctx->arena, json);
    return text.p ? ti_text_copy(&r->ctx->arena, text) : NULL;
}

/* Sub-graphs are in the arguments of the nodes that run them. */
static void count_nodes(tc_pt2 *r, const tc_json *graph, int depth, tc_survey *s)
{
    for (const tc_json *node = ti_json_first(ti_json_get(graph, "nodes")); node;
         node = node->next) {
        const char *target = text_of(r, ti_json_get(node, "target"));
        if (target)
            ti_survey_count(r->ctx, s,
                            ti_text_starts(target, "torch.ops.") ? target + strlen("torch.ops.")
                                                                 : target);
        const tc_json *argument = ti_json_first(ti_json_get(node, "inputs"));
        for (; argument && depth < 16; argument = argument->next) {
            const tc_json *inner = ti_json_get(ti_json_get(argument, "arg"), "as_graph");
            if (inner)
                count_nodes(r, ti_json_get(inner, "graph"), depth + 1, s);
        }
    }
}

/* The name of a size that is one open size and nothing else, or NULL. */
static const char *lone_symbol(tc_pt2 *r, const tc_json *size)
{
    const char *text = text_of(r, ti_json_get(ti_json_get(size, "as_expr"), "expr_str"));
    bool symbol = text && ti_text_starts(text, "Symbol('");
    if (!text || (strchr(text, '(') && !symbol))
        return NULL;
    text += symbol ? strlen("Symbol('") : 0;
    return ti_text_copy(&r->ctx->arena, (tc_str){text, strcspn(text, "'")});
}

/* "f32[1,s77]", and the number of elements, 0 when it is not fixed. */
static const char *meta_text(tc_pt2 *r, const tc_json *meta, int64_t *elements, tc_dtype *dtype)
{
    int64_t code = -1, extent;
    tc_buf out;
    ti_buf_init(&out, &r->ctx->arena);
    ti_json_i64(ti_json_get(meta, "dtype"), &code);
    *dtype = ti_dtype_from_pt2(code);
    ti_buf_printf(&out, "%s[", tc_dtypes[*dtype].name);
    int64_t dim[TC_MAX_RANK], n = 0;
    bool fixed = true;
    for (const tc_json *size = ti_json_first(ti_json_get(meta, "sizes")); size;
         size = size->next, n++) {
        bool known = ti_json_i64(ti_json_get(size, "as_int"), &extent);
        fixed = fixed && known && n < TC_MAX_RANK;
        ti_buf_text(&out, n ? "," : "");
        const char *symbol = known ? NULL : lone_symbol(r, size);
        if (known)
            ti_buf_printf(&out, "%" PRId64, extent);
        else
            ti_buf_text(&out, symbol ? symbol : "?");
        if (fixed)
            dim[n] = extent;
    }
    ti_buf_text(&out, "]");
    int64_t count = fixed ? ti_dims_count((int32_t)n, dim) : 0;
    *elements = count < 0 ? 0 : count;
    return ti_buf_cstr(&out);
}

static const tc_json *meta_of(tc_pt2 *r, const tc_json *values, const tc_json *name)
{
    const char *key = text_of(r, name);
    return key ? ti_json_get(values, key) : NULL;
}

static void hold(tc_pt2 *r, const tc_json *values, const tc_json *arg, tc_survey_held *held)
{
    int64_t n;
    tc_dtype dtype;
    meta_text(r, meta_of(r, values, ti_json_get(arg, "name")), &n, &dtype);
    held->tensors++;
    held->elements += n;
    held->bytes += n * tc_dtypes[dtype].bytes;
}

static void add_port(tc_pt2 *r, const tc_json *values, const tc_json *arg, const tc_json *name,
                     tc_survey_port **list, size_t *n, size_t *cap)
{
    tc_str tag = {NULL, 0};
    const tc_json *what = ti_json_only(arg, &tag);
    tc_survey_port port = {text_of(r, name), "-"};
    int64_t count;
    tc_dtype dtype;
    if (ti_str_is(tag, "as_tensor")) {
        port.name = text_of(r, ti_json_get(what, "name"));
        port.type = meta_text(r, meta_of(r, values, ti_json_get(what, "name")), &count, &dtype);
    } else if (tag.p && tag.n > 3) { /* "int 5", "none" */
        port.type = ti_text_copy(&r->ctx->arena, (tc_str){tag.p + 3, tag.n - 3});
        bool yes;
        if (ti_json_bool(what, &yes) && !ti_str_is(tag, "as_none"))
            port.type = ti_text_format(&r->ctx->arena, "%s %s", port.type, yes ? "True" : "False");
        else if (ti_json_is(what, TC_JSON_INT) || ti_json_is(what, TC_JSON_REAL))
            port.type =
                ti_text_format(&r->ctx->arena, "%s %.*s", port.type, (int)what->n, what->as.text);
    }
    tc_grow(&r->ctx->arena, *list, *n, *cap);
    (*list)[(*n)++] = port;
}

static void walk_signature(tc_pt2 *r, const tc_json *signature, const tc_json *values, tc_survey *s)
{
    const tc_json *spec = ti_json_first(ti_json_get(signature, "input_specs"));
    for (; spec; spec = spec->next) {
        tc_str kind = {NULL, 0};
        const tc_json *of = ti_json_only(spec, &kind), *arg = ti_json_get(of, "arg");
        if (ti_str_is(kind, "parameter"))
            hold(r, values, arg, &s->parameters);
        else if (ti_str_is(kind, "buffer"))
            hold(r, values, arg, &s->buffers);
        else if (ti_str_is(kind, "tensor_constant"))
            hold(r, values, arg, &s->constants);
        else if (ti_str_is(kind, "user_input"))
            add_port(r, values, arg, NULL, &s->in, &s->n_in, &s->cap_in);
        else if (ti_str_is(kind, "constant_input"))
            add_port(r, values, ti_json_get(of, "value"), ti_json_get(of, "name"), &s->in, &s->n_in,
                     &s->cap_in);
    }
    for (spec = ti_json_first(ti_json_get(signature, "output_specs")); spec; spec = spec->next) {
        tc_str kind = {NULL, 0};
        const tc_json *of = ti_json_only(spec, &kind);
        if (ti_str_is(kind, "user_output"))
            add_port(r, values, ti_json_get(of, "arg"), NULL, &s->out, &s->n_out, &s->cap_out);
    }
}

static void survey(tc_pt2 *r, tc_survey *s)
{
    const tc_json *module = ti_json_get(r->program, "graph_module"),
                  *graph = ti_json_get(module, "graph");
    const tc_json *version = ti_json_get(r->program, "schema_version");
    const char *torch = text_of(r, ti_json_get(r->program, "torch_version"));
    int64_t major = 0, minor = 0;
    ti_json_i64(ti_json_get(version, "major"), &major);
    ti_json_i64(ti_json_get(version, "minor"), &minor);
    s->producer = torch ? ti_text_format(&r->ctx->arena, "torch %s", torch) : NULL;
    s->version = ti_text_format(&r->ctx->arena, "%" PRId64 ".%" PRId64, major, minor);
    walk_signature(r, ti_json_get(module, "signature"), ti_json_get(graph, "tensor_values"), s);
    ti_pt2_find_dims(r);
    s->dim = tc_new_n(&r->ctx->arena, tc_survey_dim, r->n_dim);
    s->n_dim = r->n_dim;
    for (size_t i = 0; i < r->n_dim; i++)
        s->dim[i] = (tc_survey_dim){r->dim[i].symbol, r->dim[i].lo, r->dim[i].hi, r->dim[i].input,
                                    r->dim[i].axis};
    count_nodes(r, graph, 0, s);
    ti_survey_sort(s);
}

tc_status ti_survey_pt2(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_survey *out)
{
    tc_pt2 *reader = tc_new(&ctx->arena, tc_pt2);
    reader->ctx = ctx;
    reader->file = ti_intern_text(ctx, file);
    ti_arena_init_like(&reader->work, &ctx->arena);
    tc_status status = ti_pt2_open(reader, bytes);
    if (status == TC_OK)
        survey(reader, out);
    ti_arena_free(&reader->work);
    return status;
}
