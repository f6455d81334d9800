/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_graph.c -- one graph of the file: its declared types, its nodes in order, the importer of
 * each.
 *
 * Every operator is looked up before the first is imported, so that all unknown ones are reported
 * at once.  A node that fails leaves stand-ins of its declared types, and the walk continues. */
#include "../recipe.h"
#include "pt2_program.h"

/* Types that the file declares */

static void dynamic_dimension(tc_pt2_scope *scope, tc_str name, int axis, const tc_json *size,
                              const tc_loc *loc)
{
    tc_ctx *ctx = scope->reader->ctx;
    tc_str expr =
        ti_json_text(&scope->reader->work, ti_json_get(ti_json_get(size, "as_expr"), "expr_str"));
    const char *quote = expr.n > 8 && memcmp(expr.p, "Symbol('", 8) == 0
                            ? memchr(expr.p + 8, '\'', expr.n - 8)
                            : NULL;
    if (quote) /* a lone symbol by its name */
        expr = (tc_str){expr.p + 8, (size_t)(quote - expr.p - 8)};
    ti_error(ctx, loc, TC_E_DYNAMIC, "dimension %d of '%.*s' is not fixed: %.*s", axis, (int)name.n,
             name.p, expr.n > 80 ? 80 : (int)expr.n, expr.p ? expr.p : "not a number");
}

/* What is wrong with an invalid type declaration; *status is set. */
static void bad_declaration(tc_pt2_scope *scope, tc_str name, const tc_json *meta,
                            const tc_loc *loc, tc_status *status)
{
    tc_pt2 *reader = scope->reader;
    tc_ctx *ctx = reader->ctx;
    const tc_json *sizes = ti_json_get(meta, "sizes");
    int64_t code = -1, extent;
    *status = TC_BAD_MODEL;
    if (!ti_json_is(sizes, TC_JSON_LIST) || !ti_json_i64(ti_json_get(meta, "dtype"), &code))
        ti_error(ctx, loc, TC_E_FORMAT, "the file does not say what '%.*s' is", (int)name.n,
                 name.p);
    else if (ti_dtype_from_pt2(code) == TC_none)
        *status = ti_unsupported(ctx, loc, TC_E_UNSUPPORTED,
                                 "'%.*s' has element type %" PRId64 " of torch.export", (int)name.n,
                                 name.p, code);
    else if (sizes->n > TC_MAX_RANK)
        *status = ti_unsupported(ctx, loc, TC_E_UNSUPPORTED,
                                 "'%.*s' has %" PRIu32 " axes, %d is the most", (int)name.n, name.p,
                                 sizes->n, (int)TC_MAX_RANK);
    else {
        int axis = 0, dynamic = 0;
        for (const tc_json *size = ti_json_first(sizes); size; size = size->next, axis++)
            if (!ti_pt2_fixed(reader, size, &extent)) {
                dynamic_dimension(scope, name, axis, size, loc);
                dynamic++;
            }
        if (!dynamic)
            ti_error(ctx, loc, TC_E_TOO_LARGE,
                     "'%.*s' has a dimension that is negative or too large", (int)name.n, name.p);
    }
}

const tc_type *ti_pt2_declared(tc_pt2_scope *scope, tc_str name, const tc_loc *loc,
                               tc_status *status)
{
    const tc_json *meta = ti_map_get(&scope->declared, name), *sizes = ti_json_get(meta, "sizes");
    tc_type type = {.dtype = TC_none};
    int64_t code = -1;
    bool good = ti_json_is(sizes, TC_JSON_LIST) && sizes->n <= TC_MAX_RANK &&
                ti_json_i64(ti_json_get(meta, "dtype"), &code);
    type.dtype = ti_dtype_from_pt2(code);
    good = good && type.dtype != TC_none;
    for (const tc_json *size = ti_json_first(sizes); size && good; size = size->next)
        good = ti_pt2_fixed(scope->reader, size, &type.dim[type.rank++]);
    if (good && ti_dims_count(type.rank, type.dim) >= 0)
        return ti_type_intern(scope->reader->ctx, &type);
    if (status)
        bad_declaration(scope, name, meta, loc, status);
    return NULL;
}

void ti_pt2_scope_init(tc_pt2_scope *scope, tc_pt2 *reader, tc_graph *g, tc_pt2_scope *outer,
                       const tc_json *graph)
{
    *scope = (tc_pt2_scope){.reader = reader, .g = g, .outer = outer};
    scope->numbers = ti_json_get(graph, "sym_int_values");
    ti_map_init(&scope->name, &reader->work);
    ti_map_init(&scope->declared, &reader->work);
    const tc_json *values = ti_json_get(graph, "tensor_values");
    if (ti_json_is(values, TC_JSON_OBJECT))
        for (const tc_json *key = values->as.child; key; key = key->next->next)
            *ti_map_at(&scope->declared, ti_json_text(&reader->work, key)) =
                (void *)(uintptr_t)key->next;
}

/* Operators */

static const char *full_target(tc_pt2 *reader, tc_str name)
{
    const char *dot = memchr(name.p, '.', name.n);
    bool two = dot && memchr(dot + 1, '.', name.n - (size_t)(dot + 1 - name.p));
    if (*name.p == ':')
        return ti_text_copy(&reader->work, (tc_str){name.p + 1, name.n - 1});
    return ti_text_format(&reader->work, "%s%.*s%s", two ? "" : "aten.", (int)name.n, name.p,
                          dot ? "" : ".default");
}

/* A row for each of its targets; the first that names one counts. */
static void add_row(tc_pt2 *reader, const tc_pt2_row *row)
{
    for (const char *p = row->targets; *p; p += strspn(p, " ")) {
        tc_str name = {p, strcspn(p, " ")};
        p += name.n;
        void **slot = ti_map_at(&reader->row, ti_str_of(full_target(reader, name)));
        *slot = *slot ? *slot : (void *)(uintptr_t)row;
    }
}

/* Functions of one tensor without arguments need no row: they are named as in ATen. */
static void add_functions(tc_pt2 *reader)
{
    for (int op = 0; op < TC_OP_tosa_argmax; op++) {
        const tc_op_info *info = &tc_ops[op];
        if (!(info->traits & T_ELTWISE) || info->max_in != 1 || info->attr != TC_ATTR_none)
            continue;
        tc_pt2_row *row = tc_new(&reader->work, tc_pt2_row);
        *row = (tc_pt2_row){.targets = info->name,
                            .import = ti_pt2_import_recipe,
                            .op = (tc_op)op,
                            .recipe = ti_text_format(&reader->work, "%s(self)", info->name)};
        add_row(reader, row);
    }
}

void ti_pt2_add_rows(tc_pt2 *reader)
{
    const tc_pt2_row *table[] = {
        tc_pt2_control, tc_pt2_eltwise, tc_pt2_copy,   tc_pt2_product, tc_pt2_window,
        tc_pt2_nn,      tc_pt2_move,    tc_pt2_arrange, tc_pt2_index,  tc_pt2_rank,
        tc_pt2_norm,    tc_pt2_difference, tc_pt2_factory, tc_pt2_signal, tc_pt2_quant,
        tc_pt2_torchao, tc_pt2_experts, tc_pt2_pattern, tc_pt2_data,   tc_pt2_storage,
        tc_pt2_bits,    tc_pt2_recipes};
    ti_map_init(&reader->row, &reader->work);
    for (size_t i = 0; i < TC_COUNT(table); i++)
        for (const tc_pt2_row *row = table[i]; row->targets; row++)
            add_row(reader, row);
    add_functions(reader);
}

/* The operator that a row's targets become; COUNT: several, or none. */
static tc_op op_of(const tc_pt2_row *row)
{
    return row->op == TC_OP_COUNT && row->recipe ? ti_recipe_op(row->recipe) : row->op;
}

static const tc_pt2_row *row_named(tc_pt2 *reader, const char *format, int n, const char *target,
                                   const char *overload)
{
    return ti_map_get(&reader->row,
                      ti_str_of(ti_text_format(&reader->work, format, n, target, overload)));
}

/* "aten.add_.Tensor" -> "aten.add.Tensor", or where the functional one has no overloads
 * "aten.add.default". */
static const tc_pt2_row *functional_twin(tc_pt2 *reader, const char *target)
{
    const char *op = strchr(target, '.'), *overload = op ? strchr(op + 1, '.') : NULL;
    if (!overload || overload - op < 3 || overload[-1] != '_' || overload[-2] == '_')
        return NULL;
    int n = (int)(overload - 1 - target);
    const tc_pt2_row *row = row_named(reader, "%.*s%s", n, target, overload);
    return row ? row : row_named(reader, "%.*s%s", n, target, ".default");
}

/* The operator by any of its overloads: importers read arguments by name. */
static const tc_pt2_row *any_overload(const tc_pt2 *reader, const char *target, size_t n)
{
    for (size_t i = 0; i < reader->row.n; i++)
        if (strncmp(reader->row.entry[i].key.p, target, n) == 0)
            return reader->row.entry[i].value;
    return NULL;
}

/* "aten.add.out", "aten.max.dim_max" -> "aten.add.Tensor", "aten.max.dim": the results are written
 * into the last operands. */
static const tc_pt2_row *returning_twin(tc_pt2 *reader, const char *target)
{
    static const struct {
        const char *ending, *twin; /* its replacement, to be tried first */
    } form[] = {{".out", ""},    {"_out", ""},         {".values", ""},
                {"_values", ""}, {".dim_max", ".dim"}, {".dim_min", ".dim"}};
    static const char *const overload[] = {".default", ".Tensor", ".self", ".dim"};
    const char *dot = strrchr(target, '.');
    size_t size = strlen(target);
    for (size_t i = 0; dot && i < TC_COUNT(form); i++) {
        size_t n = strlen(form[i].ending);
        if (size < n || strcmp(target + size - n, form[i].ending) != 0)
            continue;
        const tc_pt2_row *row =
            row_named(reader, "%.*s%s", (int)(size - n), target, form[i].twin);
        for (size_t k = 0; !row && k < TC_COUNT(overload); k++)
            row = row_named(reader, "%.*s%s", (int)(dot - target), target, overload[k]);
        return row ? row : any_overload(reader, target, (size_t)(dot + 1 - target));
    }
    return NULL;
}

const tc_pt2_row *ti_pt2_find_row(tc_pt2 *reader, const char *target, tc_pt2_writes *writes)
{
    const tc_pt2_row *row = ti_map_get(&reader->row, ti_str_of(target));
    *writes = row && row->shows == TC_PT2_WRITTEN ? TC_PT2_FIRST : TC_PT2_NOWHERE;
    if (row)
        return row;
    if ((row = functional_twin(reader, target)))
        *writes = TC_PT2_FIRST;
    else if ((row = returning_twin(reader, target)))
        *writes = TC_PT2_LAST;
    return row;
}

static const char *nearest_target(const tc_pt2 *reader, const char *target)
{
    const char *best = NULL;
    size_t least = strlen(target) / 3 + 1;
    for (size_t i = 0; i < reader->row.n; i++) {
        size_t distance = ti_text_distance(target, reader->row.entry[i].key.p);
        if (distance < least) {
            least = distance;
            best = reader->row.entry[i].key.p;
        }
    }
    return best;
}

/* Names that are read, from the outputs back. */
typedef struct reading {
    tc_pt2 *reader;
    tc_map memory; /* ti_pt2_memory() */
    tc_map read;
} reading;

/* The first value inside a list or an object, and the one after another. */
static const tc_json *first_inside(const tc_json *json)
{
    const tc_json *child = ti_json_is(json, TC_JSON_LIST) || ti_json_is(json, TC_JSON_OBJECT)
                               ? json->as.child
                               : NULL;
    return child && ti_json_is(json, TC_JSON_OBJECT) ? child->next : child;
}

static const tc_json *next_inside(const tc_json *json, const tc_json *child)
{
    child = child->next;
    return child && ti_json_is(json, TC_JSON_OBJECT) ? child->next : child;
}

static void read_names(reading *r, const tc_json *json)
{
    if (ti_json_is(json, TC_JSON_TEXT)) {
        tc_str name = ti_json_text(&r->reader->work, json);
        *ti_map_at(&r->read, name) = r;
        *ti_map_at(&r->read, ti_pt2_memory_of(&r->memory, name)) = r;
    }
    for (const tc_json *c = first_inside(json); c; c = next_inside(json, c))
        read_names(r, c);
}

static bool any_read(const reading *r, const tc_json *json)
{
    if (ti_json_is(json, TC_JSON_TEXT))
        return ti_map_get(&r->read, ti_json_text(&r->reader->work, json)) != NULL;
    for (const tc_json *c = first_inside(json); c; c = next_inside(json, c))
        if (any_read(r, c))
            return true;
    return false;
}

static bool is_assertion(const char *target)
{
    return strncmp(target, "aten._assert", 12) == 0 ||
           strncmp(target, "aten._functional_assert", 23) == 0 ||
           strncmp(target, "aten.sym_constrain_range", 24) == 0;
}

static bool is_memory_read(const reading *r, const tc_json *tensor)
{
    tc_str name = ti_json_text(&r->reader->work, ti_json_get(tensor, "name"));
    return ti_map_get(&r->read, ti_pt2_memory_of(&r->memory, name)) != NULL;
}

/* A node is read when one of its results is, when it writes into an operand whose memory is read
 * later or was there before, or changes its shape (t_), or when it has no results at all and is not an
 * assertion. */
static bool is_unread(const reading *r, const tc_json *node)
{
    const tc_json *outputs = ti_json_get(node, "outputs");
    const char *target = ti_pt2_target(r->reader, node);
    bool list;
    int k = 0;
    for (const tc_json *to; (to = ti_pt2_written(r->reader, node, k)); k++)
        if (is_memory_read(r, to))
            return false;
    const tc_json *first = ti_pt2_is_in_place(target) ? ti_pt2_first_tensor(node, &list) : NULL;
    if (first && is_memory_read(r, first))
        return false;
    return ti_json_first(outputs) ? !any_read(r, outputs) : k > 0 || is_assertion(target);
}

/* What the node reads: of tensors used only for their type, nothing. */
static void read_operands(reading *r, const tc_json *node)
{
    const char *target = ti_pt2_target(r->reader, node);
    const tc_json *inputs = ti_json_get(node, "inputs");
    bool alike = strstr(target, "_like.") || ti_text_starts(target, "aten.new_");
    tc_pt2_writes writes;
    const tc_pt2_row *row = alike ? ti_pt2_find_row(r->reader, target, &writes) : NULL;
    if (!row || op_of(row) != TC_OP_full) {
        read_names(r, inputs);
        return;
    }
    const tc_json *first = ti_json_first(inputs);
    for (const tc_json *arg = first ? first->next : NULL; arg; arg = arg->next)
        read_names(r, arg);
}

/* Of the graph's nodes in order, those with unused results; NULL when all operators can be
 * imported, since then pass `remove-dead-code` does it. */
static const bool *unread_nodes(tc_pt2 *reader, const tc_json *graph)
{
    size_t n = 0;
    bool strange = false;
    tc_pt2_writes writes;
    const tc_json *nodes = ti_json_get(graph, "nodes");
    for (const tc_json *node = ti_json_first(nodes); node; node = node->next, n++) {
        const char *target = ti_pt2_target(reader, node);
        const tc_pt2_row *row = ti_pt2_find_row(reader, target, &writes);
        strange |= row ? op_of(row) == TC_OP_COUNT : !ti_pt2_is_sym(target);
        strange |= strstr(target, "dropout") != NULL; /* random when it trains */
    }
    if (!strange)
        return NULL;
    const tc_json **order = tc_new_n(&reader->work, const tc_json *, n);
    bool *unread = tc_new_n(&reader->work, bool, n);
    reading r = {.reader = reader};
    ti_pt2_memory(reader, graph, &r.memory);
    ti_map_init(&r.read, &reader->work);
    read_names(&r, ti_json_get(graph, "inputs")); /* what was there before stays to be seen */
    read_names(&r, ti_json_get(graph, "outputs"));
    size_t i = 0;
    for (const tc_json *node = ti_json_first(nodes); node; node = node->next)
        order[i++] = node;
    while (i-- > 0) {
        unread[i] = is_unread(&r, order[i]);
        if (!unread[i])
            read_operands(&r, order[i]);
    }
    return unread;
}

typedef struct unknown_op {
    const tc_loc *loc;
    size_t count;
} unknown_op;

/* Collect every operator that has no importer, sub-graphs included; those that may never run are
 * checked when they are read. */
static void find_unknown(tc_pt2 *reader, const tc_json *graph, tc_map *unknown)
{
    const bool *unread = unread_nodes(reader, graph);
    size_t i = 0;
    for (const tc_json *node = ti_json_first(ti_json_get(graph, "nodes")); node;
         node = node->next, i++) {
        tc_pt2_writes writes;
        if (unread && unread[i])
            continue;
        const char *target = ti_pt2_target(reader, node);
        if (!ti_pt2_find_row(reader, target, &writes) && !ti_pt2_is_sym(target)) {
            void **slot = ti_map_at(unknown, ti_str_of(target));
            if (!*slot) {
                *slot = tc_new(&reader->work, unknown_op);
                ((unknown_op *)*slot)->loc = ti_pt2_loc(reader, node);
            }
            ((unknown_op *)*slot)->count++;
        }
        const tc_json *arg = ti_json_first(ti_json_get(node, "inputs"));
        for (; arg && !ti_text_eq(target, "higher_order.cond"); arg = arg->next) {
            const tc_json *inner = ti_json_get(ti_json_get(arg, "arg"), "as_graph");
            if (inner)
                find_unknown(reader, ti_json_get(inner, "graph"), unknown);
        }
    }
}

/* "aten.add.Tensor" in words: operator and overload. */
static tc_status report_unknown(tc_pt2 *reader, const char *target, const unknown_op *u)
{
    const char *dot = strrchr(target, '.');
    bool overload = dot && strchr(target, '.') != dot;
    tc_status status = ti_unsupported(
        reader->ctx, u->loc, TC_E_UNKNOWN_OP, "operator '%.*s'%s%s is not known (node '%s'%s)",
        overload ? (int)(dot - target) : (int)strlen(target), target, overload ? ", overload " : "",
        overload ? dot + 1 : "", u->loc->node,
        u->count > 1 ? ti_text_format(&reader->work, " and %zu more", u->count - 1) : "");
    const char *near = nearest_target(reader, target);
    if (near)
        ti_note(reader->ctx, u->loc, "the nearest that is known is '%s'", near);
    return status;
}

tc_status ti_pt2_check_operators(tc_pt2 *reader, const tc_json *graph)
{
    tc_map unknown;
    ti_map_init(&unknown, &reader->work);
    find_unknown(reader, graph, &unknown);
    tc_status status = TC_OK;
    for (size_t i = 0; i < unknown.n; i++)
        status = report_unknown(reader, unknown.entry[i].key.p, unknown.entry[i].value);
    return status;
}

/* Nodes */

static tc_pt2_slot *add_result(tc_pt2_work *work, size_t *cap, int *count, const tc_json *named,
                                 bool tensor)
{
    tc_pt2 *reader = work->scope->reader;
    tc_grow(&reader->work, work->result, (size_t)*count, *cap);
    tc_pt2_slot *r = &work->result[(*count)++];
    const tc_json *name = tensor ? ti_json_get(named, "name") : ti_json_get(named, "as_name");
    *r = (tc_pt2_slot){.name = ti_json_text(&reader->work, name), .tensor = tensor};
    r->tensor = tensor && r->name.p;
    return r;
}

/* The results one by one: tensors, the tensors of a list, numbers, none. */
static int list_results(tc_pt2_work *work, const tc_json *node)
{
    int count = 0;
    size_t cap = 0;
    for (const tc_json *output = ti_json_first(ti_json_get(node, "outputs")); output;
         output = output->next) {
        tc_str tag;
        const tc_json *value = ti_json_only(output, &tag);
        if (ti_str_is(tag, "as_tensors"))
            for (const tc_json *item = ti_json_first(value); item; item = item->next)
                add_result(work, &cap, &count, item, true);
        else if (ti_str_is(tag, "as_optional_tensors"))
            for (const tc_json *item = ti_json_first(value); item; item = item->next)
                add_result(work, &cap, &count, ti_json_get(item, "as_tensor"), true);
        else
            add_result(work, &cap, &count, value, ti_str_is(tag, "as_tensor"));
    }
    return count;
}

/* After a failure: stand-ins for the results, so that what follows can be checked too; without a
 * type that they could have, they are broken, and so is what uses them. */
static void bind_stand_ins(tc_pt2_node *n)
{
    tc_pt2_scope *scope = n->work->scope;
    for (int i = 0; i < n->n_result; i++) {
        tc_pt2_slot *r = &n->work->result[i];
        const tc_type *type = r->tensor ? ti_pt2_declared(scope, r->name, n->m.loc, NULL) : NULL;
        if (!r->name.p || r->cell)
            continue;
        n->m.status = TC_OK;
        n->work->writes = TC_PT2_NOWHERE;
        if (type)
            ti_pt2_bind(n, i, ti_graph_input(n->m.g, type, NULL));
        else {
            tc_pt2_name *name = tc_new(&scope->reader->work, tc_pt2_name);
            name->kind = TC_PT2_BROKEN;
            *ti_map_at(&scope->name, r->name) = name;
        }
    }
}

/* Results that the importer did not bind are known by name, so that a use of them can say why not.
 */
static void name_unmade(tc_pt2_node *n)
{
    tc_pt2_scope *scope = n->work->scope;
    for (int i = 0; i < n->n_result; i++) {
        const tc_pt2_slot *r = &n->work->result[i];
        if (!r->tensor || r->cell || !r->name.p || ti_pt2_name_of(scope, r->name))
            continue;
        tc_pt2_name *name = tc_new(&scope->reader->work, tc_pt2_name);
        *name = (tc_pt2_name){.kind = TC_PT2_UNMADE, .full_name = n->target};
        *ti_map_at(&scope->name, r->name) = name;
    }
}

static tc_status import_node(tc_pt2_scope *scope, const tc_json *json)
{
    tc_pt2 *reader = scope->reader;
    tc_pt2_work work = {.scope = scope};
    tc_pt2_node n = {.reader = reader, .json = json, .work = &work};
    n.m = (tc_build){.ctx = reader->ctx,
                     .g = scope->g,
                     .loc = ti_pt2_loc(reader, json),
                     .facts = &scope->facts,
                     .every = true};
    n.target = n.m.subject = n.m.loc->target;
    n.n_result = list_results(&work, json);
    if (!ti_pt2_sym(&n)) {
        n.row = ti_pt2_find_row(reader, n.target, &work.writes);
        if (!n.row)
            return ti_bug(reader->ctx, n.m.loc, "'%s' was expected to be constant", n.target);
        n.row->import(&n);
        ti_pt2_share(&n);
    }
    tc_status status = n.m.status;
    if (status != TC_OK)
        bind_stand_ins(&n);
    else
        name_unmade(&n);
    return status;
}

tc_status ti_pt2_graph(tc_pt2_scope *scope, const tc_json *graph)
{
    tc_status worst = TC_OK;
    int depth = 0;
    for (const tc_pt2_scope *s = scope; s; s = s->outer)
        depth++;
    enum { DEEPEST = 16 };
    if (depth > DEEPEST)
        return ti_error(scope->reader->ctx, &(tc_loc){.file = scope->reader->file}, TC_E_TOO_LARGE,
                        "graphs nested %d deep", depth);
    if (scope->outer)
        TC_TRY(ti_pt2_check_operators(scope->reader, graph));
    const bool *unread = unread_nodes(scope->reader, graph);
    size_t i = 0;
    for (const tc_json *node = ti_json_first(ti_json_get(graph, "nodes")); node; node = node->next)
        if (!unread || !unread[i++])
            worst = ti_pt2_worse(worst, import_node(scope, node));
    return worst;
}
