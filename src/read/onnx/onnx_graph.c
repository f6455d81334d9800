/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_graph.c -- names and their values, the walk over the nodes, functions, and inlined
 * graphs. */
#include "onnx_program.h"

enum { DEEPEST = 32, MOST_NODES = 1 << 20 };

void ti_onnx_scope_init(tc_onnx_scope *scope, tc_onnx *reader, tc_onnx_scope *outer)
{
    *scope = (tc_onnx_scope){.reader = reader, .outer = outer, .prefix = ""};
    if (outer) {
        scope->g = outer->g;
        scope->facts = outer->facts;
        scope->opset = outer->opset;
        scope->n_opset = outer->n_opset;
        scope->prefix = outer->prefix;
    }
    ti_map_init(&scope->name, &reader->work);
}

int64_t ti_onnx_opset(const tc_onnx_scope *scope, const char *domain)
{
    for (size_t i = 0; i < scope->n_opset; i++) {
        const char *d = scope->opset[i]->domain ? scope->opset[i]->domain : "";
        if (ti_text_eq(ti_text_eq(d, "ai.onnx") ? "" : d, domain))
            return scope->opset[i]->version;
    }
    return 0;
}

/* ---- names ---- */

static tc_onnx_name *add_name(tc_onnx_scope *scope, const char *name)
{
    tc_onnx_name *entry = tc_new(&scope->reader->work, tc_onnx_name);
    *ti_map_at(&scope->name, ti_str_of(name)) = entry;
    return entry;
}

void ti_onnx_name_value(tc_onnx_scope *scope, const char *name, tc_val val)
{
    add_name(scope, name)->val = val;
}

/* An initializer's elements; those of a sparse one are scattered. */
static tc_status load_sparse(tc_onnx_scope *scope, const TcOnnxPb__Sparse *s, const tc_loc *loc,
                             tc_tensor *out)
{
    tc_onnx *reader = scope->reader;
    tc_tensor values, index;
    if (!s->values || !s->indices || s->n_dims > TC_MAX_RANK ||
        ti_dims_count((int32_t)s->n_dims, s->dims) < 0)
        return ti_error(reader->ctx, loc, TC_E_FORMAT, "a sparse tensor without values or shape");
    TC_TRY(ti_onnx_load(reader, s->values, loc, &values));
    TC_TRY(ti_onnx_load(reader, s->indices, loc, &index));
    const tc_type *type =
        ti_type_make(reader->ctx, values.type->dtype, (int32_t)s->n_dims, s->dims);
    int64_t n = tc_type_count(values.type), count = tc_type_count(type);
    bool flat = index.type->rank == 1;
    if (index.type->dtype != TC_i64 ||
        tc_type_count(index.type) != (flat ? n : n * (int64_t)s->n_dims))
        return ti_error(reader->ctx, loc, TC_E_FORMAT, "a sparse tensor's indices do not fit");
    *out = ti_tensor_new(&reader->ctx->arena, type);
    memset(out->data, 0, tc_type_bytes(type));
    size_t bytes = tc_dtypes[type->dtype].bytes;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = 0;
        bool inside = true;
        for (size_t k = 0; !flat && k < s->n_dims && inside; k++) {
            int64_t place = ((const int64_t *)index.data)[i * (int64_t)s->n_dims + (int64_t)k];
            inside = place >= 0 && place < s->dims[k];
            at = inside ? at * s->dims[k] + place : 0;
        }
        if (flat)
            at = ((const int64_t *)index.data)[i];
        if (!inside || at < 0 || at >= count)
            return ti_error(reader->ctx, loc, TC_E_FORMAT, "a sparse tensor's index is outside");
        memcpy((char *)out->data + (size_t)at * bytes,
               (const char *)values.data + (size_t)i * bytes, bytes);
    }
    return TC_OK;
}

tc_status ti_onnx_initializers(tc_onnx_scope *scope, const TcOnnxPb__Graph *graph)
{
    tc_onnx *reader = scope->reader;
    for (size_t i = 0; i < graph->n_initializer; i++) {
        const char *name = graph->initializer[i]->name;
        if (name && ti_map_get(&scope->name, ti_str_of(name)))
            return ti_error(reader->ctx, &(tc_loc){.file = reader->file}, TC_E_STRUCTURE,
                            "two initializers are named '%.200s'", name);
        if (name)
            add_name(scope, name)->tensor = graph->initializer[i];
    }
    for (size_t i = 0; i < graph->n_sparse_initializer; i++) {
        const TcOnnxPb__Sparse *s = graph->sparse_initializer[i];
        const char *name = s->values ? s->values->name : NULL;
        tc_loc *loc = tc_new(&reader->ctx->arena, tc_loc);
        loc->file = reader->file;
        tc_tensor t = {NULL, NULL};
        if (!name)
            continue;
        TC_TRY(load_sparse(scope, s, loc, &t));
        add_name(scope, name)->val = ti_graph_const(scope->g, t.type, t.data, name, loc);
    }
    return TC_OK;
}

/* A value of the outer graph as an input of the kept graph inside it. */
static tc_val capture(tc_onnx_scope *scope, tc_val outer, const tc_loc *loc)
{
    tc_arena *arena = &scope->reader->ctx->arena;
    const tc_graph *from = scope->outer->g;
    const tc_value *value = ti_value_of(from, outer);
    if (ti_is_const(from, outer))
        return ti_graph_const(scope->g, value->type, value->data, value->name, loc);
    for (size_t i = 0; i < scope->n_capture; i++)
        if (scope->captured[i] == outer)
            return scope->capture[i];
    size_t n = scope->n_capture++;
    tc_grow(arena, scope->captured, n, scope->cap_captured);
    tc_grow(arena, scope->capture, n, scope->cap_capture);
    scope->captured[n] = outer;
    return scope->capture[n] = ti_graph_input(scope->g, value->type, value->name);
}

/* TC_NONE and *broken when the name's value could not be built. */
static tc_val find(tc_onnx_scope *scope, const char *name, const tc_loc *loc, tc_status *status,
                   bool *broken)
{
    tc_onnx_name *entry = ti_map_get(&scope->name, ti_str_of(name));
    if (entry && entry->broken) {
        *broken = true;
        return TC_NONE;
    }
    if (entry && !entry->val && entry->tensor) {
        tc_tensor t;
        *status = ti_onnx_load(scope->reader, entry->tensor, loc, &t);
        if (*status == TC_OK)
            entry->val = ti_graph_const(scope->g, t.type, t.data, name, loc);
    }
    if (entry)
        return entry->val;
    tc_val outer = scope->outer ? find(scope->outer, name, loc, status, broken) : TC_NONE;
    if (!outer || scope->outer->g == scope->g)
        return outer;
    tc_val own = capture(scope, outer, loc);
    tc_onnx_name *entry_here = add_name(scope, name);
    *entry_here = (tc_onnx_name){.val = own, .outer = true};
    return own;
}

tc_val ti_onnx_value(tc_onnx_scope *scope, const char *name, const tc_loc *loc, tc_status *status)
{
    bool broken = false;
    tc_val v = find(scope, name, loc, status, &broken);
    if (!v && *status == TC_OK)
        *status = broken ? TC_BAD_MODEL
                         : ti_error(scope->reader->ctx, loc, TC_E_ORDER,
                                    "'%.200s' is used but not defined", name);
    return v;
}

static const TcOnnxPb__Node several; /* who reads a name: more than one, or not a node here */

static void note_user(tc_onnx_scope *scope, const char *name, const TcOnnxPb__Node *node)
{
    if (!name || !*name)
        return;
    void **user = ti_map_at(&scope->user, ti_str_of(name));
    *user = (void *)(uintptr_t)(*user ? &several : node);
}

static void note_inner(tc_onnx_scope *scope, const TcOnnxPb__Graph *graph, int depth)
{
    for (size_t i = 0; graph && depth < DEEPEST && i < graph->n_node; i++) {
        const TcOnnxPb__Node *node = graph->node[i];
        for (size_t k = 0; k < node->n_input; k++)
            note_user(scope, node->input[k], &several);
        for (size_t k = 0; k < node->n_attribute; k++)
            note_inner(scope, node->attribute[k]->g, depth + 1);
    }
}

const TcOnnxPb__Node *ti_onnx_only_user(tc_onnx_scope *scope, const char *name)
{
    if (!scope->knows_users) {
        scope->knows_users = true;
        ti_map_init(&scope->user, &scope->reader->work);
        for (size_t i = 0; i < scope->n_node; i++) {
            const TcOnnxPb__Node *node = scope->node[i];
            for (size_t k = 0; k < node->n_input; k++)
                note_user(scope, node->input[k], node);
            for (size_t k = 0; k < node->n_attribute; k++)
                note_inner(scope, node->attribute[k]->g, 0);
        }
        const TcOnnxPb__Graph *graph = scope->reader->model->graph;
        for (size_t i = 0; scope->node == graph->node && i < graph->n_output; i++)
            note_user(scope, graph->output[i]->name, &several);
    }
    const TcOnnxPb__Node *user = ti_map_get(&scope->user, ti_str_of(name));
    return user == &several ? NULL : user;
}

/* ---- nodes ---- */

/* "/encoder/layer.0/Conv" is torch's way to name a node of module encoder.layer.0. */
static const char *module_of(tc_onnx *reader, const char *name)
{
    const char *last = strrchr(name, '/');
    if (name[0] != '/' || last == name)
        return NULL;
    char *text = ti_text_copy(&reader->ctx->arena, (tc_str){name + 1, (size_t)(last - name - 1)});
    for (char *c = text; *c; c++)
        *c = *c == '/' ? '.' : *c;
    return text;
}

static const tc_loc *loc_of(tc_onnx_scope *scope, const TcOnnxPb__Node *node)
{
    tc_onnx *reader = scope->reader;
    tc_arena *arena = &reader->ctx->arena;
    tc_loc *loc = tc_new(arena, tc_loc);
    const char *name = node->name && *node->name ? node->name
                       : node->n_output          ? node->output[0]
                                                 : "";
    const char *op = node->op_type ? node->op_type : "";
    loc->file = reader->file;
    loc->node = ti_text_format(arena, "%s%.200s", scope->prefix, name);
    loc->target = ti_text_format(arena, "onnx.%.100s", op);
    loc->place = ti_text_format(arena, "node '%s' (%.100s)", loc->node, op);
    loc->module = module_of(reader, name);
    return loc;
}

static void break_results(tc_onnx_scope *scope, const TcOnnxPb__Node *node)
{
    for (size_t i = 0; i < node->n_output; i++)
        if (*node->output[i])
            add_name(scope, node->output[i])->broken = true;
}

static const char *domain_of(const TcOnnxPb__Node *node)
{
    return !node->domain || ti_text_eq(node->domain, "ai.onnx") ? "" : node->domain;
}

static const TcOnnxPb__Function *function_of(tc_onnx *reader, const TcOnnxPb__Node *node)
{
    const char *key = ti_text_format(&reader->work, "%s:%s:%s", domain_of(node),
                                     node->op_type ? node->op_type : "",
                                     node->overload ? node->overload : "");
    return ti_map_get(&reader->function, ti_str_of(key));
}

/* A call of one of the model's functions: its nodes, with renamed values. */
static tc_status walk_function(tc_onnx_node *n, const TcOnnxPb__Function *f)
{
    tc_onnx *reader = n->scope->reader;
    tc_onnx_scope scope;
    ti_onnx_scope_init(&scope, reader, NULL);
    scope.g = n->scope->g;
    scope.facts = n->scope->facts;
    scope.opset = f->opset_import;
    scope.n_opset = f->n_opset_import;
    scope.call = n->proto;
    scope.caller = n->scope;
    scope.function = f;
    scope.prefix = ti_text_format(&reader->ctx->arena, "%s/", n->m.loc->node);
    for (size_t i = 0; i < f->n_input; i++) {
        tc_val v = ti_onnx_in(n, (int)i);
        if (v)
            ti_onnx_name_value(&scope, f->input[i], v);
    }
    TC_TRY(n->m.status);
    TC_TRY(ti_onnx_nodes(&scope, f->node, f->n_node));
    for (size_t i = 0; i < f->n_output; i++)
        if (ti_onnx_wants(n, (int)i)) {
            tc_val v = ti_onnx_value(&scope, f->output[i], n->m.loc, &n->m.status);
            ti_onnx_bind(n, (int)i, v);
        }
    return n->m.status;
}

static tc_status call_function(tc_onnx_node *n, const TcOnnxPb__Function *f)
{
    tc_onnx *reader = n->scope->reader;
    if (reader->depth >= DEEPEST)
        return ti_error(reader->ctx, n->m.loc, TC_E_STRUCTURE,
                        "functions that call each other recursively");
    reader->depth++;
    tc_status status = walk_function(n, f);
    reader->depth--;
    return status;
}

/* Every name is made once: by an input, an initializer or one node. */
static tc_status check_made_once(tc_onnx_scope *scope, const TcOnnxPb__Node *node,
                                 const tc_loc *loc)
{
    for (size_t i = 0; i < node->n_output; i++) {
        const char *name = node->output[i];
        const tc_onnx_name *entry = *name ? ti_map_get(&scope->name, ti_str_of(name)) : NULL;
        bool twice = entry && !entry->outer;
        for (size_t k = 0; k < i && !twice && *name; k++)
            twice = ti_text_eq(node->output[k], name);
        if (twice)
            return ti_error(scope->reader->ctx, loc, TC_E_STRUCTURE,
                            "'%.200s' is defined twice; every name in a graph must be unique",
                            name);
    }
    return TC_OK;
}

/* One message for each operator that is not there. */
static tc_status unknown(tc_onnx_node *n, const char *key, const char *domain)
{
    tc_onnx *reader = n->scope->reader;
    void **told = ti_map_at(&reader->unknown, ti_str_of(key));
    const tc_onnx_row *row = n->row;
    const char *op = n->proto->op_type ? n->proto->op_type : "";
    if (*told)
        return TC_UNSUPPORTED;
    *told = reader;
    if (row)
        return ti_unsupported(reader->ctx, n->m.loc, TC_E_VERSION,
                              "operator '%s' of operator set %" PRId64
                              "; it is read from set %d to %d", op, n->version, row->first,
                              row->last);
    return ti_unsupported(reader->ctx, n->m.loc, TC_E_UNKNOWN_OP,
                          "operator '%s%s%s' (operator set %" PRId64 ") is not in the table",
                          domain, *domain ? "." : "", op, n->version);
}

static tc_status one_node(tc_onnx_scope *scope, const TcOnnxPb__Node *proto)
{
    tc_onnx *reader = scope->reader;
    const char *domain = domain_of(proto);
    tc_onnx_node n = {
        .m = ti_build_folding(reader->ctx, scope->g, loc_of(scope, proto), scope->facts),
        .scope = scope,
        .proto = proto,
        .n_in = (int)proto->n_input,
        .n_out = (int)proto->n_output};
    TC_TRY(ti_go_on(reader->ctx));
    if (++reader->n_made > MOST_NODES)
        return ti_error(reader->ctx, n.m.loc, TC_E_TOO_LARGE, "more than %d nodes", MOST_NODES);
    TC_TRY(check_made_once(scope, proto, n.m.loc));
    n.version = ti_onnx_opset(scope, domain);
    const TcOnnxPb__Function *f = function_of(reader, proto);
    if (f)
        return call_function(&n, f);
    const char *key =
        ti_text_format(&reader->work, "%s:%s", domain, proto->op_type ? proto->op_type : "");
    n.row = ti_map_get(&reader->row, ti_str_of(key));
    if (!n.row || n.version < n.row->first || n.version > n.row->last)
        return unknown(&n, key, domain);
    n.row->build(&n);
    for (size_t i = 0; i < proto->n_output && n.m.status == TC_OK; i++)
        if (*proto->output[i] && !ti_map_get(&scope->name, ti_str_of(proto->output[i])))
            n.m.status = ti_unsupported(reader->ctx, n.m.loc, TC_E_UNSUPPORTED,
                                        "result %zu ('%s') is not supported", i, proto->output[i]);
    return n.m.status;
}

/* All nodes are tried, so that every message is given; the worst failure is returned. */
tc_status ti_onnx_nodes(tc_onnx_scope *scope, TcOnnxPb__Node **node, size_t n)
{
    tc_status worst = TC_OK;
    scope->node = node;
    scope->n_node = n;
    for (size_t i = 0; i < n; i++) {
        tc_status status = one_node(scope, node[i]);
        if (status == TC_CANCELLED)
            return status;
        if (status == TC_OK)
            continue;
        worst = worst == TC_OK || worst == TC_UNSUPPORTED ? status : worst;
        break_results(scope, node[i]);
    }
    return worst;
}

/* ---- inlined graphs ---- */

void ti_onnx_inline(tc_onnx_node *n, const TcOnnxPb__Graph *graph, const tc_val *in, int n_in,
                    tc_val *out, int n_out)
{
    TC_STOP(&n->m);
    tc_onnx *reader = n->scope->reader;
    tc_onnx_scope scope;
    if (reader->depth >= DEEPEST) {
        ti_b_bad(&n->m, TC_E_STRUCTURE, "graphs nested too deep");
        return;
    }
    reader->depth++;
    ti_onnx_scope_init(&scope, reader, n->scope);
    scope.prefix = ti_text_format(&reader->ctx->arena, "%s/", n->m.loc->node);
    if (graph->n_input != (size_t)n_in || graph->n_output < (size_t)n_out)
        ti_b_bad(&n->m, TC_E_STRUCTURE, "a graph of %zu inputs and %zu results, expected %d and %d",
                 graph->n_input, graph->n_output, n_in, n_out);
    if (n->m.status == TC_OK)
        n->m.status = ti_onnx_initializers(&scope, graph);
    for (int i = 0; i < n_in && n->m.status == TC_OK; i++)
        ti_onnx_name_value(&scope, graph->input[i]->name ? graph->input[i]->name : "", in[i]);
    if (n->m.status == TC_OK)
        n->m.status = ti_onnx_nodes(&scope, graph->node, graph->n_node);
    for (int i = 0; i < n_out && n->m.status == TC_OK; i++)
        out[i] = ti_onnx_value(&scope, graph->output[i]->name ? graph->output[i]->name : "",
                               n->m.loc, &n->m.status);
    reader->depth--;
}
