/* SPDX-License-Identifier: Apache-2.0 */
/* pt2.c -- archives of torch.export.save: finds the program, binds its signature, walks its nodes.
 *
 * Nothing but what a node uses is read.  Each node keeps the Python line and the module that it came
 * from.  What the file says of every result is compared with what our own rules compute. */
#include "pt2_program.h"

enum { SCHEMA_MAJOR = 8 };

/* Types that the file declares */

static void dynamic_dimension(tc_pt2_scope *scope, tc_str name, int axis, const tc_json *size, const tc_loc *loc)
{
    tc_ctx *ctx = scope->reader->ctx;
    tc_str expr = tc_json_text(&scope->reader->work, tc_json_get(tc_json_get(size, "as_expr"), "expr_str"));
    tc_error(ctx, loc, TC_E_DYNAMIC, "dimension %d of '%.*s' is not fixed: %.*s", axis, (int)name.n, name.p,
             expr.n > 80 ? 80 : (int)expr.n, expr.p ? expr.p : "not a number");
}

const tc_type *tc_pt2_declared(tc_pt2_scope *scope, tc_str name, const tc_loc *loc, tc_status *status)
{
    tc_ctx *ctx = scope->reader->ctx;
    const tc_json *meta = tc_map_get(&scope->declared, name), *sizes = tc_json_get(meta, "sizes");
    tc_type type = {.dtype = TC_none};
    int64_t code = 0;
    if (!tc_json_is(sizes, TC_JSON_LIST) || !tc_json_i64(tc_json_get(meta, "dtype"), &code)) {
        *status = tc_error(ctx, loc, TC_E_FORMAT, "the file does not say what '%.*s' is", (int)name.n, name.p);
        return NULL;
    }
    type.dtype = tc_dtype_from_pt2(code);
    if (type.dtype == TC_none || sizes->n > TC_MAX_RANK) {
        *status = type.dtype == TC_none
                      ? tc_unsupported(ctx, loc, TC_E_UNSUPPORTED, "'%.*s' has element type %" PRId64 " of torch.export",
                                       (int)name.n, name.p, code)
                      : tc_unsupported(ctx, loc, TC_E_UNSUPPORTED, "'%.*s' has %" PRIu32 " axes, %d is the most",
                                       (int)name.n, name.p, sizes->n, (int)TC_MAX_RANK);
        return NULL;
    }
    bool fixed = true;
    for (const tc_json *size = tc_json_first(sizes); size; size = size->next, type.rank++)
        if (!tc_pt2_fixed(scope->reader, size, &type.dim[type.rank])) {
            dynamic_dimension(scope, name, type.rank, size, loc);
            fixed = false;
        }
    if (fixed && tc_dims_count(type.rank, type.dim) >= 0)
        return tc_type_intern(ctx, &type);
    *status = fixed ? tc_error(ctx, loc, TC_E_TOO_LARGE, "'%.*s' has a dimension that is negative or too large",
                               (int)name.n, name.p)
                    : TC_BAD_MODEL;
    return NULL;
}

void tc_pt2_scope_init(tc_pt2_scope *scope, tc_pt2 *reader, tc_graph *g, tc_pt2_scope *outer, const tc_json *graph)
{
    *scope = (tc_pt2_scope){.reader = reader, .g = g, .outer = outer};
    tc_map_init(&scope->name, &reader->work);
    tc_map_init(&scope->declared, &reader->work);
    const tc_json *values = tc_json_get(graph, "tensor_values");
    if (tc_json_is(values, TC_JSON_OBJECT))
        for (const tc_json *key = values->as.child; key; key = key->next->next)
            *tc_map_at(&scope->declared, tc_json_text(&reader->work, key)) = (void *)(uintptr_t)key->next;
}

/* Locations */

/* Text as it stands in the file, its escapes with it. */
static tc_str raw(const tc_json *json)
{
    return tc_json_is(json, TC_JSON_TEXT) ? (tc_str){json->as.text, json->n} : (tc_str){"", 0};
}

static const char *find_last(tc_str text, const char *end, const char *what)
{
    size_t n = strlen(what);
    for (const char *at = end - n; at >= text.p; at--)
        if (*at == *what && memcmp(at, what, n) == 0)
            return at;
    return NULL;
}

static bool contains(tc_str text, const char *what)
{
    return text.n >= strlen(what) && find_last(text, text.p + text.n, what);
}

/* Frames inside torch itself, or in code that tracing made, are nobody's source. */
static bool user_frame(tc_str path)
{
    return !contains(path, "/torch/") && !contains(path, "<eval_with_key>") && !contains(path, "/torch_") &&
           !contains(path, "/torchao/") && !contains(path, "\\\\torch\\\\");
}

/* "file.py:41" from a traceback, innermost frame last; NULL when it has none. */
static const char *python_place(tc_ctx *ctx, tc_str trace)
{
    static const char mark[] = "File \\\"", line_mark[] = "\\\", line ";
    tc_str best = {NULL, 0};
    long best_line = 0;
    const char *end = trace.p + trace.n;
    for (const char *at; (size_t)(end - trace.p) >= sizeof mark - 1 && (at = find_last(trace, end, mark)); end = at) {
        tc_str path = {at + sizeof mark - 1, (size_t)(end - at) - (sizeof mark - 1)};
        const char *line = NULL;
        for (const char *p = path.p; p + sizeof line_mark - 1 < path.p + path.n && !line; p++)
            if (*p == '\\' && memcmp(p, line_mark, sizeof line_mark - 1) == 0)
                line = p;
        if (!line)
            continue;
        path.n = (size_t)(line - path.p);
        long number = 0;
        for (const char *p = line + sizeof line_mark - 1; p < end && *p >= '0' && *p <= '9' && number < 100000000; p++)
            number = number * 10 + (*p - '0');
        bool user = user_frame(path);
        if (user || !best.p) {
            best = path;
            best_line = number;
        }
        if (user)
            break;
    }
    if (!best.p)
        return NULL;
    for (const char *p = best.p + best.n; p-- > best.p;)
        if (*p == '/' || *p == '\\') {
            best = (tc_str){p + 1, (size_t)(best.p + best.n - p - 1)};
            break;
        }
    tc_mark m = tc_arena_mark(&ctx->scratch);
    const char *place = tc_intern_text(ctx, tc_text_format(&ctx->scratch, "%.*s:%ld", (int)best.n, best.p, best_line));
    tc_arena_rewind(&ctx->scratch, m);
    return place;
}

/* "key,path,type;key,path,type": the last is the innermost. */
static void module_place(tc_ctx *ctx, tc_str stack, tc_loc *loc)
{
    const char *end = stack.p + stack.n, *begin = stack.n ? find_last(stack, end, ";") : NULL;
    begin = begin ? begin + 1 : stack.p;
    const char *first = memchr(begin, ',', (size_t)(end - begin));
    const char *second = first ? memchr(first + 1, ',', (size_t)(end - first - 1)) : NULL;
    if (!second)
        return;
    loc->module = tc_intern(ctx, (tc_str){first + 1, (size_t)(second - first - 1)});
    loc->module_type = tc_intern(ctx, (tc_str){second + 1, (size_t)(end - second - 1)});
}

static const char *short_target(tc_pt2 *reader, const tc_json *node)
{
    static const char prefix[] = "torch.ops.";
    tc_str target = tc_json_text(&reader->work, tc_json_get(node, "target"));
    if (target.n >= sizeof prefix - 1 && memcmp(target.p, prefix, sizeof prefix - 1) == 0)
        target = (tc_str){target.p + sizeof prefix - 1, target.n - (sizeof prefix - 1)};
    return tc_intern(reader->ctx, target.p ? target : tc_str_of("?"));
}

/* The name of a node: its own, or in older files that of its first result. */
static const char *node_name(tc_pt2 *reader, const tc_json *node)
{
    tc_str name = tc_json_text(&reader->work, tc_json_get(node, "name"));
    if (!name.n) {
        tc_str tag;
        const tc_json *first = tc_json_only(tc_json_first(tc_json_get(node, "outputs")), &tag);
        first = tc_json_is(first, TC_JSON_LIST) ? tc_json_first(first) : first;
        name = tc_json_text(&reader->work, tc_json_get(first, "name"));
    }
    return tc_intern(reader->ctx, name.n ? name : tc_str_of("?"));
}

static const tc_loc *node_loc(tc_pt2 *reader, const tc_json *node)
{
    tc_loc *loc = tc_new(&reader->ctx->arena, tc_loc);
    const tc_json *meta = tc_json_get(node, "metadata");
    loc->file = reader->file;
    loc->node = node_name(reader, node);
    loc->target = short_target(reader, node);
    loc->place = python_place(reader->ctx, raw(tc_json_get(meta, "stack_trace")));
    module_place(reader->ctx, raw(tc_json_get(meta, "nn_module_stack")), loc);
    return loc;
}

/* Operators */

static void add_rules(tc_pt2 *reader, const tc_pt2_rule *table)
{
    for (; table && table->target; table++) {
        void **slot = tc_map_at(&reader->rule, tc_str_of(table->target));
        if (!*slot)
            *slot = (void *)(uintptr_t)table;
    }
}

/* "aten.add_.Tensor" -> "aten.add.Tensor"; NULL when it is not an in-place name. */
static const char *functional_twin(tc_pt2 *reader, const char *target)
{
    const char *op = strchr(target, '.'), *overload = op ? strchr(op + 1, '.') : NULL;
    if (!overload || overload - op < 3 || overload[-1] != '_' || overload[-2] == '_')
        return NULL;
    return tc_text_format(&reader->work, "%.*s%s", (int)(overload - 1 - target), target, overload);
}

static const tc_pt2_rule *find_rule(tc_pt2 *reader, const char *target, bool *in_place)
{
    const tc_pt2_rule *rule = tc_map_get(&reader->rule, tc_str_of(target));
    *in_place = false;
    if (rule)
        return rule;
    const char *twin = functional_twin(reader, target);
    *in_place = twin != NULL;
    return twin ? tc_map_get(&reader->rule, tc_str_of(twin)) : NULL;
}

static const char *nearest_target(const tc_pt2 *reader, const char *target)
{
    const char *best = NULL;
    size_t least = strlen(target) / 3 + 1;
    for (size_t i = 0; i < reader->rule.n; i++) {
        size_t distance = tc_text_distance(target, reader->rule.entry[i].key.p);
        if (distance < least) {
            least = distance;
            best = reader->rule.entry[i].key.p;
        }
    }
    return best;
}

typedef struct unknown_op {
    const tc_loc *loc;
    size_t count;
} unknown_op;

/* Collect every operator that has no importer, sub-graphs included. */
static void find_unknown(tc_pt2 *reader, const tc_json *graph, tc_map *unknown)
{
    for (const tc_json *node = tc_json_first(tc_json_get(graph, "nodes")); node; node = node->next) {
        bool in_place;
        const char *target = short_target(reader, node);
        if (!find_rule(reader, target, &in_place) && !tc_pt2_is_sym(target)) {
            void **slot = tc_map_at(unknown, tc_str_of(target));
            if (!*slot) {
                *slot = tc_new(&reader->work, unknown_op);
                ((unknown_op *)*slot)->loc = node_loc(reader, node);
            }
            ((unknown_op *)*slot)->count++;
        }
        for (const tc_json *arg = tc_json_first(tc_json_get(node, "inputs")); arg; arg = arg->next) {
            const tc_json *inner = tc_json_get(tc_json_get(arg, "arg"), "as_graph");
            if (inner)
                find_unknown(reader, tc_json_get(inner, "graph"), unknown);
        }
    }
}

/* "aten.add.Tensor" in words: operator and overload. */
static tc_status report_unknown(tc_pt2 *reader, const char *target, const unknown_op *u)
{
    const char *dot = strrchr(target, '.');
    bool overload = dot && strchr(target, '.') != dot;
    tc_status status =
        tc_unsupported(reader->ctx, u->loc, TC_E_UNKNOWN_OP, "operator '%.*s'%s%s is not known (node '%s'%s)",
                       overload ? (int)(dot - target) : (int)strlen(target), target, overload ? ", overload " : "",
                       overload ? dot + 1 : "", u->loc->node,
                       u->count > 1 ? tc_text_format(&reader->work, " and %zu more", u->count - 1) : "");
    const char *near = nearest_target(reader, target);
    if (near)
        tc_note(reader->ctx, u->loc, "the nearest that is known is '%s'", near);
    return status;
}

static tc_status check_operators(tc_pt2 *reader, const tc_json *graph)
{
    tc_map unknown;
    tc_map_init(&unknown, &reader->work);
    find_unknown(reader, graph, &unknown);
    tc_status status = TC_OK;
    for (size_t i = 0; i < unknown.n; i++)
        status = report_unknown(reader, unknown.entry[i].key.p, unknown.entry[i].value);
    return status;
}

/* Nodes */

static tc_pt2_result *add_result(tc_pt2_work *work, size_t *cap, int *count, const tc_json *named, bool tensor)
{
    tc_pt2 *reader = work->scope->reader;
    tc_grow(&reader->work, work->result, (size_t)*count, *cap);
    tc_pt2_result *r = &work->result[(*count)++];
    const tc_json *name = tensor ? tc_json_get(named, "name") : tc_json_get(named, "as_name");
    *r = (tc_pt2_result){.name = tc_json_text(&reader->work, name), .tensor = tensor};
    r->tensor = tensor && r->name.p;
    return r;
}

/* The results one by one: tensors, the tensors of a list, numbers, nothing. */
static int list_results(tc_pt2_work *work, const tc_json *node)
{
    int count = 0;
    size_t cap = 0;
    for (const tc_json *output = tc_json_first(tc_json_get(node, "outputs")); output; output = output->next) {
        tc_str tag;
        const tc_json *value = tc_json_only(output, &tag);
        if (tc_str_is(tag, "as_tensors"))
            for (const tc_json *item = tc_json_first(value); item; item = item->next)
                add_result(work, &cap, &count, item, true);
        else if (tc_str_is(tag, "as_optional_tensors"))
            for (const tc_json *item = tc_json_first(value); item; item = item->next)
                add_result(work, &cap, &count, tc_json_get(item, "as_tensor"), true);
        else
            add_result(work, &cap, &count, value, tc_str_is(tag, "as_tensor"));
    }
    return count;
}

/* After a failure: stand-ins for the results, so that what follows can be checked too. */
static void bind_stand_ins(tc_pt2_node *n)
{
    tc_pt2_scope *scope = n->work->scope;
    for (int i = 0; i < n->n_result; i++) {
        tc_pt2_result *r = &n->work->result[i];
        if (!r->tensor || r->cell)
            continue;
        tc_status status = TC_OK;
        const tc_type *type = tc_map_get(&scope->declared, r->name)
                                  ? tc_pt2_declared(scope, r->name, n->loc, &status)
                                  : NULL;
        if (!type)
            continue;
        n->status = TC_OK;
        n->work->in_place = false;
        tc_pt2_bind(n, i, tc_graph_input(n->g, type, NULL));
    }
}

static tc_status import_node(tc_pt2_scope *scope, const tc_json *json)
{
    tc_pt2 *reader = scope->reader;
    tc_pt2_work work = {.scope = scope};
    tc_pt2_node n = {.reader = reader, .ctx = reader->ctx, .g = scope->g, .json = json, .work = &work};
    n.loc = node_loc(reader, json);
    n.target = n.loc->target;
    n.n_result = list_results(&work, json);
    if (!tc_pt2_sym(&n)) {
        const tc_pt2_rule *rule = find_rule(reader, n.target, &work.in_place);
        if (!rule)
            return tc_bug(reader->ctx, n.loc, "'%s' was thought to be known", n.target);
        rule->import(&n, rule);
    }
    tc_status status = n.status;
    if (status != TC_OK)
        bind_stand_ins(&n);
    return status;
}

tc_status tc_pt2_graph(tc_pt2_scope *scope, const tc_json *graph)
{
    tc_status worst = TC_OK;
    int depth = 0;
    for (const tc_pt2_scope *s = scope; s; s = s->outer)
        depth++;
    enum { DEEPEST = 16 };
    if (depth > DEEPEST)
        return tc_error(scope->reader->ctx, &(tc_loc){.file = scope->reader->file}, TC_E_TOO_LARGE,
                        "graphs inside graphs, %d deep", depth);
    for (const tc_json *node = tc_json_first(tc_json_get(graph, "nodes")); node; node = node->next)
        worst = tc_pt2_worse(worst, import_node(scope, node));
    return worst;
}

/* The signature */

static tc_pt2_name *add_name(tc_pt2_scope *scope, tc_str text, tc_pt2_kind kind)
{
    tc_pt2_name *name = tc_new(&scope->reader->work, tc_pt2_name);
    name->kind = kind;
    name->name = text;
    *tc_map_at(&scope->name, text) = name;
    return name;
}

/* A parameter, buffer or constant: remembered by its full name, read when it is used. */
static void bind_payload(tc_pt2_scope *scope, const tc_json *spec, const char *key, bool constant)
{
    tc_pt2 *reader = scope->reader;
    tc_str text = tc_json_text(&reader->work, tc_json_get(tc_json_get(spec, "arg"), "name"));
    tc_str full = tc_json_text(&reader->work, tc_json_get(spec, key));
    tc_pt2_name *name = add_name(scope, text, full.p ? TC_PT2_PAYLOAD : TC_PT2_OBJECT);
    bool persistent = true;
    if (tc_json_get(spec, "persistent"))
        tc_json_bool(tc_json_get(spec, "persistent"), &persistent);
    name->constant = constant || !persistent;
    name->full_name = tc_intern(reader->ctx, full.p ? full : text);
    *tc_map_at(&reader->full_name, tc_str_of(name->full_name)) = name;
}

/* A value that is no tensor, as Python would print it. */
static const char *value_text(tc_ctx *ctx, const tc_json *json, tc_str tag)
{
    bool b;
    if (tc_str_is(tag, "as_none"))
        return "None";
    if (tc_str_is(tag, "as_bool") && tc_json_bool(json, &b))
        return b ? "True" : "False";
    if (tc_json_is(json, TC_JSON_TEXT))
        return tc_intern(ctx, tc_json_text(&ctx->arena, json));
    if (tc_json_is(json, TC_JSON_INT) || tc_json_is(json, TC_JSON_REAL))
        return tc_intern(ctx, raw(json));
    return NULL;
}

static tc_status bind_user_input(tc_pt2_scope *scope, const tc_json *arg, tc_port *port)
{
    tc_pt2 *reader = scope->reader;
    tc_ctx *ctx = reader->ctx;
    tc_str tag;
    const tc_json *value = tc_json_only(arg, &tag);
    tc_loc *loc = tc_new(&ctx->arena, tc_loc);
    loc->file = reader->file;
    if (!tc_str_is(tag, "as_tensor")) {
        port->text = value ? value_text(ctx, value, tag) : "None";
        if (port->text)
            return TC_OK;
        tc_str name = tc_json_text(&ctx->arena, tc_json_get(value, "as_name"));
        return tc_error(ctx, loc, TC_E_DYNAMIC, "the input '%.*s' is a number that is not fixed", (int)name.n,
                        name.p ? name.p : "");
    }
    tc_str name = tc_json_text(&reader->work, tc_json_get(value, "name"));
    if (!name.p)
        return tc_error(ctx, loc, TC_E_FORMAT, "an input without a name");
    loc->place = tc_text_format(&ctx->arena, "input '%.*s'", (int)name.n, name.p);
    tc_status status = TC_OK;
    size_t before = ctx->n_error;
    const tc_type *type = tc_pt2_declared(scope, name, loc, &status);
    if (!type) {
        if (ctx->n_error > before && status == TC_BAD_MODEL)
            tc_note(ctx, loc, "export the model without dynamic_shapes for '%.*s' (or with Dim.STATIC)", (int)name.n,
                    name.p);
        return status;
    }
    tc_pt2_cell *cell = tc_new(&reader->work, tc_pt2_cell);
    port->name = cell->input = tc_intern(ctx, name);
    port->val = cell->val = tc_graph_input(scope->g, type, port->name);
    add_name(scope, name, TC_PT2_CELL)->cell = cell;
    return TC_OK;
}

static tc_status bind_input(tc_pt2_scope *scope, const tc_json *spec, const tc_json *input)
{
    tc_pt2 *reader = scope->reader;
    tc_module *module = reader->module;
    tc_str kind;
    const tc_json *body = tc_json_only(spec, &kind);
    if (tc_str_is(kind, "parameter"))
        bind_payload(scope, body, "parameter_name", false);
    else if (tc_str_is(kind, "buffer"))
        bind_payload(scope, body, "buffer_name", false);
    else if (tc_str_is(kind, "tensor_constant"))
        bind_payload(scope, body, "tensor_constant_name", true);
    else if (tc_str_is(kind, "user_input"))
        return bind_user_input(scope, tc_json_get(body, "arg"), &module->in_port[module->n_in_port++]);
    else if (tc_str_is(kind, "constant_input")) {
        tc_port *port = &module->in_port[module->n_in_port++];
        tc_str name = tc_json_text(&reader->work, tc_json_get(body, "name"));
        port->name = name.p ? tc_intern(reader->ctx, name) : NULL;
        tc_str tag;
        const tc_json *value = tc_json_only(tc_json_get(body, "value"), &tag);
        port->text = value ? value_text(reader->ctx, value, tag) : "None";
        port->text = port->text ? port->text : "None";
    } else if (tc_str_is(kind, "custom_obj") || tc_str_is(kind, "token"))
        bind_payload(scope, body, "", false);
    else
        return tc_error(reader->ctx, &(tc_loc){.file = reader->file}, TC_E_FORMAT, "an input of unknown kind '%.*s'",
                        (int)kind.n, kind.p);
    (void)input;
    return TC_OK;
}

static tc_status bind_inputs(tc_pt2_scope *scope, const tc_json *graph, const tc_json *signature)
{
    tc_pt2 *reader = scope->reader;
    const tc_json *specs = tc_json_get(signature, "input_specs"), *inputs = tc_json_get(graph, "inputs");
    if (!tc_json_is(specs, TC_JSON_LIST) || !tc_json_is(inputs, TC_JSON_LIST) || specs->n != inputs->n)
        return tc_error(reader->ctx, &(tc_loc){.file = reader->file}, TC_E_FORMAT,
                        "the signature does not list the inputs that the graph has");
    reader->module->in_port = tc_new_n(&reader->ctx->arena, tc_port, specs->n);
    tc_status worst = TC_OK;
    for (const tc_json *s = tc_json_first(specs), *i = tc_json_first(inputs); s; s = s->next, i = i->next)
        worst = tc_pt2_worse(worst, bind_input(scope, s, i));
    return worst;
}

/* A value at the end of the program. */
static tc_status final_value(tc_pt2_scope *scope, tc_str text, tc_pt2_name **name, tc_val *out)
{
    tc_pt2 *reader = scope->reader;
    tc_loc loc = {.file = reader->file, .place = "outputs"};
    *name = text.p ? tc_pt2_name_of(scope, text) : NULL;
    if (!*name)
        return tc_error(reader->ctx, &loc, TC_E_ORDER, "the program returns '%.*s', which nothing makes", (int)text.n,
                        text.p ? text.p : "");
    if ((*name)->kind == TC_PT2_PAYLOAD)
        TC_TRY(tc_pt2_load(scope, *name, &loc));
    if ((*name)->kind == TC_PT2_CELL)
        return tc_pt2_current(scope->g, (*name)->cell, &loc, out);
    *out = TC_NONE;
    return TC_OK;
}

static void set_number_text(tc_ctx *ctx, tc_pt2_number v, tc_port *port)
{
    char text[32];
    tc_text_f64(v.f, text);
    port->text = v.kind == TC_PT2_BOOL    ? (v.i ? "True" : "False")
                 : v.kind == TC_PT2_FLOAT ? tc_intern_text(ctx, text)
                                          : tc_text_format(&ctx->arena, "%" PRId64, v.i);
}

static tc_status add_output(tc_pt2_scope *scope, const tc_json *arg)
{
    tc_pt2 *reader = scope->reader;
    tc_module *module = reader->module;
    tc_port *port = &module->out_port[module->n_out_port++];
    tc_str tag;
    const tc_json *value = tc_json_only(arg, &tag);
    bool sym = tc_str_is(tag, "as_sym_int") || tc_str_is(tag, "as_sym_float") || tc_str_is(tag, "as_sym_bool");
    if (sym) {
        tc_pt2_number v = tc_pt2_number_of(scope, value, tag);
        if (v.kind == TC_PT2_NOTHING)
            return tc_error(reader->ctx, &(tc_loc){.file = reader->file, .place = "outputs"}, TC_E_DYNAMIC,
                            "output %zu is a number that is not known", module->n_out_port - 1);
        set_number_text(reader->ctx, v, port);
        return TC_OK;
    }
    if (!tc_str_is(tag, "as_tensor")) {
        port->text = value ? value_text(reader->ctx, value, tag) : "None";
        port->text = port->text ? port->text : "None";
        return TC_OK;
    }
    tc_str text = tc_json_text(&reader->work, tc_json_get(value, "name"));
    tc_pt2_name *name;
    TC_TRY(final_value(scope, text, &name, &port->val));
    port->name = tc_intern(reader->ctx, text);
    if (port->val)
        tc_graph_output(scope->g, port->val);
    else if (name->kind >= TC_PT2_INT && name->kind <= TC_PT2_BOOL)
        set_number_text(reader->ctx, name->number, port);
    else
        port->text = "None";
    return TC_OK;
}

static tc_status add_mutation(tc_pt2_scope *scope, tc_str full_name, tc_val after)
{
    tc_pt2 *reader = scope->reader;
    tc_graph *g = scope->g;
    tc_loc loc = {.file = reader->file, .place = "outputs"};
    tc_pt2_name *name = tc_map_get(&reader->full_name, full_name);
    if (!name || name->kind == TC_PT2_OBJECT)
        return tc_error(reader->ctx, &loc, TC_E_FORMAT, "the program changes '%.*s', which it does not have",
                        (int)full_name.n, full_name.p ? full_name.p : "");
    if (name->kind == TC_PT2_PAYLOAD)
        TC_TRY(tc_pt2_load(scope, name, &loc));
    tc_val before = name->cell->stored;
    if (tc_type_of(g, before) != tc_type_of(g, after))
        return tc_error(reader->ctx, &loc, TC_E_MISMATCH, "'%s' changes its type", name->full_name);
    tc_grow(&reader->ctx->arena, g->mutation, g->n_mutation, g->cap_mutation);
    g->mutation[g->n_mutation++] = (tc_mutation){before, after};
    name->cell->stored = TC_NONE; /* told once */
    return TC_OK;
}

static tc_status bind_output(tc_pt2_scope *scope, const tc_json *spec)
{
    static const char *const mutation[][2] = {{"buffer_mutation", "buffer_name"},
                                              {"parameter_mutation", "parameter_name"}};
    tc_pt2 *reader = scope->reader;
    tc_loc loc = {.file = reader->file, .place = "outputs"};
    tc_str kind;
    const tc_json *body = tc_json_only(spec, &kind);
    for (size_t i = 0; i < TC_COUNT(mutation); i++)
        if (tc_str_is(kind, mutation[i][0])) {
            tc_pt2_name *name;
            tc_val after = TC_NONE;
            tc_str text = tc_json_text(&reader->work, tc_json_get(tc_json_get(body, "arg"), "name"));
            TC_TRY(final_value(scope, text, &name, &after));
            if (!after)
                return tc_error(reader->ctx, &loc, TC_E_FORMAT, "a buffer that is given something other than a tensor");
            return add_mutation(scope, tc_json_text(&reader->work, tc_json_get(body, mutation[i][1])), after);
        }
    if (tc_str_is(kind, "user_output") || tc_str_is(kind, "loss_output"))
        return add_output(scope, tc_str_is(kind, "loss_output") && !tc_json_get(tc_json_get(body, "arg"), "as_tensor")
                                     ? NULL
                                     : tc_json_get(body, "arg"));
    if (tc_str_is(kind, "user_input_mutation")) {
        tc_str name = tc_json_text(&reader->work, tc_json_get(body, "user_input_name"));
        tc_warning(reader->ctx, &loc, TC_E_UNSUPPORTED,
                   "the model changes its input '%.*s' in place; the caller's copy keeps its numbers", (int)name.n,
                   name.p ? name.p : "");
        return TC_OK;
    }
    if (tc_str_is(kind, "token"))
        return TC_OK;
    return tc_unsupported(reader->ctx, &loc, TC_E_UNSUPPORTED, "an output of kind '%.*s'", (int)kind.n, kind.p);
}

/* Whether another tensor that is used lies in the same storage. */
static bool storage_shared(const tc_pt2 *reader, const tc_pt2_cell *cell)
{
    for (size_t i = 0; i < reader->cell.n; i++) {
        const tc_pt2_cell *other = reader->cell.entry[i].value;
        if (other && other != cell && other->payload->storage.data == cell->payload->storage.data)
            return true;
    }
    return false;
}

/* Parameters and buffers that in-place operators have changed. */
static tc_status add_in_place_mutations(tc_pt2_scope *scope)
{
    tc_pt2 *reader = scope->reader;
    for (size_t i = 0; i < reader->full_name.n; i++) {
        tc_pt2_name *name = reader->full_name.entry[i].value;
        if (!name || name->kind != TC_PT2_CELL || !name->cell->version || !name->cell->stored)
            continue;
        if (storage_shared(reader, name->cell))
            return tc_unsupported(reader->ctx, &(tc_loc){.file = reader->file}, TC_E_UNSUPPORTED,
                                  "'%s' is changed in place and shares its storage with another tensor", name->full_name);
        TC_TRY(add_mutation(scope, reader->full_name.entry[i].key, name->cell->val));
    }
    return TC_OK;
}

static tc_status bind_outputs(tc_pt2_scope *scope, const tc_json *graph, const tc_json *signature)
{
    tc_pt2 *reader = scope->reader;
    const tc_json *specs = tc_json_get(signature, "output_specs"), *outputs = tc_json_get(graph, "outputs");
    if (!tc_json_is(specs, TC_JSON_LIST) || !tc_json_is(outputs, TC_JSON_LIST) || specs->n != outputs->n)
        return tc_error(reader->ctx, &(tc_loc){.file = reader->file}, TC_E_FORMAT,
                        "the signature does not list the outputs that the graph has");
    reader->module->out_port = tc_new_n(&reader->ctx->arena, tc_port, specs->n);
    tc_status worst = TC_OK;
    for (const tc_json *s = tc_json_first(specs); s; s = s->next)
        worst = tc_pt2_worse(worst, bind_output(scope, s));
    return tc_pt2_worse(worst, add_in_place_mutations(scope));
}

/* The archive */

/* Which of the layouts this is; sets root and model, and the member that is the program. */
static tc_status find_program(tc_pt2 *reader, tc_member **program)
{
    tc_archive *a = &reader->archive;
    tc_ctx *ctx = reader->ctx;
    tc_loc *loc = tc_new(&ctx->arena, tc_loc);
    loc->file = reader->file;
    reader->root = reader->model = "";
    *program = tc_archive_find(a, "serialized_exported_program.json"); /* torch 2.6 and 2.7 */
    if (*program)
        return TC_OK;
    const char *slash = a->n_member ? strchr(a->member[0].name, '/') : NULL;
    tc_str root = {a->n_member ? a->member[0].name : "", slash ? (size_t)(slash + 1 - a->member[0].name) : 0};
    reader->root = tc_text_copy(&reader->work, root);
    tc_member *format = tc_archive_find(a, tc_text_format(&reader->work, "%sarchive_format", reader->root));
    tc_bytes word = {NULL, 0};
    if (format)
        TC_TRY(tc_archive_read(a, format, &word));
    if (word.size != 3 || memcmp(word.data, "pt2", 3) != 0) {
        tc_status status = tc_error(ctx, loc, TC_E_FORMAT, "a ZIP file, and not one of torch.export.save");
        if (tc_archive_find(a, tc_text_format(&reader->work, "%sdata.pkl", reader->root)))
            tc_note(ctx, loc, "it looks like torch.save's or torch.jit.save's; write the model with "
                              "torch.export.save(torch.export.export(model, args), path)");
        return status;
    }
    const char *prefix = tc_text_format(&reader->work, "%smodels/", reader->root);
    size_t found = 0;
    for (size_t i = 0; i < a->n_member; i++) {
        const char *name = a->member[i].name, *stem = name + strlen(prefix);
        if (!tc_text_starts(name, prefix) || !tc_text_ends(name, ".json") || strchr(stem, '/'))
            continue;
        found++;
        if (!*program || tc_text_eq(stem, "model.json")) {
            *program = &a->member[i];
            reader->model = tc_text_copy(&reader->work, (tc_str){stem, strlen(stem) - strlen(".json")});
        }
    }
    if (!found)
        return tc_error(ctx, loc, TC_E_FORMAT, "the archive holds no program (%s*.json)", prefix);
    if (found > 1 && !tc_text_eq(reader->model, "model"))
        return tc_unsupported(ctx, loc, TC_E_UNSUPPORTED, "the archive holds %zu programs, none of them named 'model'",
                              found);
    return TC_OK;
}

/* A small member whose text must be one of those that we know; missing is fine. */
static tc_status check_word(tc_pt2 *reader, const char *name, const char *expected)
{
    tc_member *m = tc_archive_find(&reader->archive, tc_text_format(&reader->work, "%s%s", reader->root, name));
    tc_bytes word;
    if (!m)
        return TC_OK;
    TC_TRY(tc_archive_read(&reader->archive, m, &word));
    size_t n = word.size;
    while (n && (word.data[n - 1] == '\n' || word.data[n - 1] == ' '))
        n--;
    if (n == strlen(expected) && memcmp(word.data, expected, n) == 0)
        return TC_OK;
    return tc_unsupported(reader->ctx, tc_archive_loc(&reader->archive, m->name), TC_E_VERSION,
                          "'%.*s', expected '%s'", n > 40 ? 40 : (int)n, (const char *)word.data, expected);
}

static tc_status parse_program(tc_pt2 *reader, tc_member *m)
{
    tc_bytes text;
    TC_TRY(tc_archive_read(&reader->archive, m, &text));
    const char *reason;
    size_t at;
    reader->program = tc_json_parse(&reader->work, text, &reason, &at);
    tc_loc *loc = tc_archive_loc(&reader->archive, m->name);
    if (!reader->program)
        return tc_error(reader->ctx, loc, TC_E_FORMAT, "byte %zu: %s", at, reason);
    const tc_json *version = tc_json_get(reader->program, "schema_version");
    int64_t major = -1, minor = 0;
    if (!tc_json_i64(tc_json_get(version, "major"), &major))
        return tc_error(reader->ctx, loc, TC_E_FORMAT, "there is no schema version: this is no exported program");
    tc_json_i64(tc_json_get(version, "minor"), &minor);
    if (major != SCHEMA_MAJOR) {
        tc_status status = tc_unsupported(reader->ctx, loc, TC_E_VERSION,
                                          "schema version %" PRId64 ".%" PRId64 ", expected %d.x", major, minor,
                                          (int)SCHEMA_MAJOR);
        tc_note(reader->ctx, loc, "torch 2.6 to 2.13 write schema %d", (int)SCHEMA_MAJOR);
        return status;
    }
    return TC_OK;
}

static void note_signature(tc_pt2 *reader, const tc_json *graph_module)
{
    tc_ctx *ctx = reader->ctx;
    tc_module *module = reader->module;
    const tc_json *first = tc_json_first(tc_json_get(graph_module, "module_call_graph"));
    const tc_json *signature = tc_json_get(first, "signature");
    tc_str in = tc_json_text(&ctx->arena, tc_json_get(signature, "in_spec"));
    tc_str out = tc_json_text(&ctx->arena, tc_json_get(signature, "out_spec"));
    module->in_tree = in.p ? tc_text_copy(&ctx->arena, in) : NULL;
    module->out_tree = out.p ? tc_text_copy(&ctx->arena, out) : NULL;
    tc_str version = tc_json_text(&ctx->arena, tc_json_get(reader->program, "torch_version"));
    module->producer = tc_text_format(&ctx->arena, "torch %.*s", version.n > 64 ? 64 : (int)version.n,
                                      version.p ? version.p : "");
}

/* The tables of importers; one that is not linked in is empty. */
extern const tc_pt2_rule tc_pt2_eltwise[] __attribute__((weak));
extern const tc_pt2_rule tc_pt2_nn[] __attribute__((weak));
extern const tc_pt2_rule tc_pt2_move[] __attribute__((weak));

static tc_status read_program(tc_pt2 *reader, tc_bytes bytes)
{
    tc_ctx *ctx = reader->ctx;
    tc_member *program;
    TC_TRY(tc_archive_open(ctx, &reader->work, reader->file, NULL, bytes, &reader->archive));
    TC_TRY(find_program(reader, &program));
    TC_TRY(check_word(reader, "archive_version", "0"));
    TC_TRY(check_word(reader, "byteorder", "little"));
    TC_TRY(parse_program(reader, program));
    const tc_json *graph_module = tc_json_get(reader->program, "graph_module");
    const tc_json *graph = tc_json_get(graph_module, "graph"), *signature = tc_json_get(graph_module, "signature");
    tc_map_init(&reader->rule, &reader->work);
    tc_map_init(&reader->full_name, &reader->work);
    add_rules(reader, tc_pt2_control);
    add_rules(reader, tc_pt2_eltwise);
    add_rules(reader, tc_pt2_nn);
    add_rules(reader, tc_pt2_move);
    TC_TRY(tc_pt2_open_weights(reader));
    note_signature(reader, graph_module);
    tc_pt2_scope scope;
    tc_pt2_scope_init(&scope, reader, tc_graph_new(reader->module, "main"), NULL, graph);
    tc_status status = bind_inputs(&scope, graph, signature);
    status = tc_pt2_worse(status, check_operators(reader, graph));
    if (status != TC_OK)
        return status;
    TC_TRY(tc_pt2_graph(&scope, graph));
    return bind_outputs(&scope, graph, signature);
}

static void free_work(void *what)
{
    tc_arena_free(what);
}

tc_status tc_read_pt2(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_module **out)
{
    tc_pt2 *reader = tc_new(&ctx->arena, tc_pt2);
    reader->ctx = ctx;
    reader->module = tc_module_new(ctx, file);
    reader->file = reader->module->file;
    tc_arena_init(&reader->work);
    reader->work.oom = ctx->arena.oom;
    tc_ctx_defer(ctx, free_work, &reader->work);
    tc_status status = read_program(reader, bytes);
    tc_arena_free(&reader->work);
    if (status == TC_OK)
        *out = reader->module;
    return status;
}
