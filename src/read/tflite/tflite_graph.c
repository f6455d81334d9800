/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_graph.c -- the walk over the operators of a graph; graphs inside of graphs. */
#include "tflite_program.h"

enum { DEEPEST = 32, MOST_NODES = 1 << 20 };

/* ---- values ---- */

tc_val ti_tfl_value(tc_tfl_scope *scope, int64_t i, const tc_loc *loc, tc_status *status)
{
    tc_tfl *reader = scope->reader;
    if (i < 0 || (size_t)i >= scope->n_tensor) {
        *status = ti_error(reader->ctx, loc, TC_E_FORMAT, "tensor %" PRId64 ", and there are %zu",
                           i, scope->n_tensor);
        return TC_NONE;
    }
    tc_tfl_tensor *t = &scope->tensor[i];
    if (t->broken) { /* a message has been given */
        *status = TC_BAD_MODEL;
        return TC_NONE;
    }
    if (!t->made && !t->loaded) {
        tc_tensor numbers;
        t->loaded = true;
        *status = ti_tfl_load(scope, t, loc, &numbers);
        if (*status != TC_OK) {
            t->broken = true;
            return TC_NONE;
        }
        if (numbers.data) {
            t->val = ti_graph_const(scope->g, numbers.type, numbers.data,
                                    ti_intern_text(reader->ctx, t->name), loc);
            t->made = true;
        }
    }
    if (!t->made && t->variable) {
        tc_tfl_node n = {.m = ti_build_folding(reader->ctx, scope->g, loc, scope->facts),
                         .scope = scope};
        int64_t count = ti_dims_count(t->rank, t->dim);
        if (count < 0 || !t->dtype)
            ti_b_bad(&n.m, TC_E_TOO_LARGE, "variable '%s' has the shape %s", t->name,
                     ti_dims_text(&reader->ctx->arena, t->rank, t->dim));
        else
            t->val = ti_tfl_state(&n, ti_tfl_variable_name(scope, i),
                                  ti_type_make(reader->ctx, t->dtype, t->rank, t->dim),
                                  t->shifted                              ? -128
                                  : t->dtype == TC_i8 && t->n_scale ? t->zero[0]
                                                                          : 0);
        *status = n.m.status;
        return t->val;
    }
    if (!t->made)
        *status = ti_error(reader->ctx, loc, TC_E_ORDER, "'%.200s' is used but not defined",
                           t->name);
    return t->val;
}

/* ---- operators ---- */

/* "a/b/Conv2D" is how modules are named: a.b */
static const char *module_of(tc_ctx *ctx, const char *name)
{
    const char *last = strrchr(name, '/');
    if (!last || last == name)
        return NULL;
    char *text = ti_text_copy(&ctx->arena, (tc_str){name, (size_t)(last - name)});
    for (char *c = text; *c; c++)
        *c = *c == '/' ? '.' : *c;
    return text;
}

static const tc_loc *loc_of(tc_tfl_scope *scope, const char *name, const char *op)
{
    tc_arena *arena = &scope->reader->ctx->arena;
    tc_loc *loc = tc_new(arena, tc_loc);
    loc->file = scope->reader->file;
    loc->node = ti_text_format(arena, "%s%.200s", scope->prefix, name);
    loc->target = ti_text_format(arena, "tflite.%.100s", op);
    loc->place = ti_text_format(arena, "node '%s' (%.100s)", loc->node, op);
    loc->module = module_of(scope->reader->ctx, name);
    return loc;
}

const tc_tfl_row *ti_tfl_row_of(tc_tfl *reader, int code)
{
    (void)reader;
    for (const tc_tfl_row *row = tc_tfl_rows; row->name; row++)
        if (row->code == code && code != TC_TFL_CUSTOM)
            return row;
    return NULL;
}

static const char custom_word[] = "CUSTOM ";

const char *ti_tfl_unlisted(tc_tfl *reader, int code, tc_str custom)
{
    static const struct {
        int code;
        const char *name;
    } others[] = {{29, "CONCAT_EMBEDDINGS"},
                  {33, "EMBEDDING_LOOKUP_SPARSE"},
                  {167, "STABLEHLO_RESHAPE"},
                  {168, "STABLEHLO_CLAMP"},
                  {169, "STABLEHLO_CONCATENATE"},
                  {170, "STABLEHLO_BROADCAST_IN_DIM"},
                  {171, "STABLEHLO_CONVOLUTION"},
                  {172, "STABLEHLO_SLICE"},
                  {173, "STABLEHLO_CUSTOM_CALL"},
                  {174, "STABLEHLO_REDUCE"},
                  {190, "STABLEHLO_SCATTER"},
                  {191, "STABLEHLO_COMPARE"},
                  {193, "STABLEHLO_DYNAMIC_SLICE"},
                  {194, "STABLEHLO_DYNAMIC_UPDATE_SLICE"},
                  {196, "STABLEHLO_IOTA"},
                  {197, "STABLEHLO_DOT_GENERAL"},
                  {199, "STABLEHLO_SORT"},
                  {200, "STABLEHLO_WHILE"},
                  {202, "STABLEHLO_TRANSPOSE"},
                  {208, "STABLEHLO_CBRT"},
                  {209, "STABLEHLO_CASE"}};
    if (code == TC_TFL_CUSTOM)
        return ti_text_format(&reader->ctx->arena, "%s%.100s", custom_word,
                              custom.p && custom.n ? ti_intern(reader->ctx, custom)
                                                   : "without a name");
    for (size_t i = 0; i < TC_COUNT(others); i++)
        if (others[i].code == code)
            return others[i].name;
    return ti_text_format(&reader->ctx->arena, "builtin %d", code);
}

/* One message for each operator that is not there. */
static tc_status unknown(tc_tfl_node *n, const char *name)
{
    tc_tfl *reader = n->scope->reader;
    void **told = ti_map_at(&reader->unknown, ti_str_of(name));
    if (*told)
        return TC_UNSUPPORTED;
    *told = reader;
    if (n->row)
        return ti_unsupported(reader->ctx, n->m.loc, TC_E_VERSION,
                              "operator '%s' of version %d; it is read up to version %d", name,
                              n->version, n->row->last);
    if (strncmp(name, custom_word, strlen(custom_word)) == 0)
        return ti_unsupported(reader->ctx, n->m.loc, TC_E_UNKNOWN_OP,
                              "custom operator '%s' has its kernel in the firmware: only a .tflite can hold it, as it "
                              "is ('tosac compile -o OUT.tflite')", name + strlen(custom_word));
    tc_status status =
        ti_unsupported(reader->ctx, n->m.loc, TC_E_UNKNOWN_OP,
                       "operator '%s' (version %d) is not in the table", name, n->version);
    ti_note(reader->ctx, n->m.loc, "a .tflite keeps it as it is: 'tosac compile -o OUT.tflite'");
    return status;
}

/* Whether an input or the result holds codes. */
static bool on_codes(const tc_tfl_node *n)
{
    return ti_tfl_is_codes(ti_tfl_out_tensor(n, 0)) || ti_tfl_is_codes(ti_tfl_in_tensor(n, 0)) ||
           (ti_tfl_is_codes(ti_tfl_in_tensor(n, 1)) && n->n_in == 2 &&
            ti_tfl_is_codes(ti_tfl_out_tensor(n, 0)));
}

void ti_tfl_codes_none(tc_tfl_node *n)
{
    const tc_tfl_tensor *t = ti_tfl_in_tensor(n, 0);
    t = ti_tfl_is_codes(t) ? t : ti_tfl_out_tensor(n, 0);
    ti_b_unsupported(&n->m, "operator '%s' (version %d) on quantized numbers (%s)", n->row->name,
                     n->version, ti_tfl_type_name(t->code));
}

/* Codes as the plain integers that they are: the runtime does not look at their scales. */
void ti_tfl_codes_raw(tc_tfl_node *n)
{
    for (int i = 0; i < n->n_in; i++) {
        const tc_tfl_tensor *t = ti_tfl_in_tensor(n, i);
        if (t && t->shifted) {
            ti_tfl_codes_none(n);
            return;
        }
    }
    n->row->build(n);
}

void ti_tfl_build_refused(tc_tfl_node *n)
{
    ti_b_unsupported(&n->m, "operator '%s' (version %d): %s", n->row->name, n->version,
                     n->row->note);
}

void ti_tfl_codes_refused(tc_tfl_node *n) { ti_tfl_build_refused(n); }

void ti_tfl_build(tc_tfl_node *n)
{
    if (on_codes(n))
        n->row->codes(n);
    else
        n->row->build(n);
}

static bool is_readable(const tc_tfl_node *n)
{
    return n->row && (n->version <= n->row->last || !n->row->last);
}

/* Operators of the program's own graph may stay whole. */
static bool may_keep(const tc_tfl_node *n)
{
    const tc_tfl *reader = n->scope->reader;
    return ti_reading(reader->ctx)->keep_unread && !n->scope->kept && !reader->depth;
}

/* Whether an operator is implemented by the firmware's own kernel: none of ours does the same. */
static bool is_firmwares(const tc_tfl_node *n)
{
    return n->row->code == TC_TFL_CUSTOM && n->row->op == TC_OP_COUNT;
}

/* What cannot be read, or is the firmware's, stays whole, if requested. */
static void build_or_keep(tc_tfl_node *n, const char *name, size_t place)
{
    if (!may_keep(n)) {
        ti_tfl_build(n);
        return;
    }
    tc_tfl_node before = *n;
    n->m.status = TC_UNSUPPORTED;
    if (is_readable(n) && !is_firmwares(n) && !ti_tfl_stays_whole(n)) {
        tc_hold hold = ti_hold_begin(n->m.ctx);
        n->m.status = TC_OK;
        ti_tfl_build(n);
        if (n->m.status != TC_UNSUPPORTED || n->scope->reader->fb.error) {
            ti_hold_keep(n->m.ctx, hold);
            return;
        }
        (void)ti_hold_drop(n->m.ctx, hold);
    }
    *n = before;
    ti_tfl_keep_whole(n, name, place);
}

static tc_status one_node(tc_tfl_scope *scope, tc_fb_table op, size_t place)
{
    tc_tfl *reader = scope->reader;
    tc_str custom;
    tc_tfl_node n = {.scope = scope, .op = op};
    int code = ti_tfl_code(reader, op, &custom, &n.version);
    n.in = ti_fb_list(op, OP_INPUTS, 4);
    n.out = ti_fb_list(op, OP_OUTPUTS, 4);
    n.opt = ti_fb_child(op, ti_fb_u8(op, OP_OPTIONS_2_TYPE, 0) ? OP_OPTIONS_2 : OP_OPTIONS);
    TC_TRY(ti_tfl_broken(reader));
    n.n_in = (int)ti_min_i64((int64_t)n.in.n, INT32_MAX);
    n.n_out = (int)ti_min_i64((int64_t)n.out.n, INT32_MAX);
    n.row = code == TC_TFL_CUSTOM && custom.p ? ti_map_get(&reader->custom, custom)
                                              : ti_tfl_row_of(reader, code);
    const char *name = n.row ? n.row->name : ti_tfl_unlisted(reader, code, custom);
    const tc_tfl_tensor *result = ti_tfl_out_tensor(&n, 0);
    n.m = ti_build_folding(reader->ctx, scope->g, loc_of(scope, result ? result->name : name, name),
                           scope->facts);
    TC_TRY(ti_go_on(reader->ctx));
    if (++reader->n_made > MOST_NODES)
        return ti_error(reader->ctx, n.m.loc, TC_E_TOO_LARGE, "more than %d operators", MOST_NODES);
    if (!is_readable(&n) && !may_keep(&n))
        return unknown(&n, name);
    build_or_keep(&n, name, place);
    if (n.row && n.row->op != TC_OP_ethosu) /* which has variables of its own kind */
        ti_tfl_variables_made(&n);
    if (n.m.status == TC_OK)
        n.m.status = ti_tfl_broken(reader);
    for (int i = 0; i < n.n_out && n.m.status == TC_OK; i++) {
        const tc_tfl_tensor *t = ti_tfl_out_tensor(&n, i);
        if (t && t->dtype && !t->made)
            n.m.status = ti_unsupported(reader->ctx, n.m.loc, TC_E_UNSUPPORTED,
                                        "result %d ('%s') is not supported", i, t->name);
    }
    return n.m.status;
}

static void break_results(tc_tfl_scope *scope, tc_fb_table op)
{
    tc_fb_vector out = ti_fb_list(op, OP_OUTPUTS, 4);
    for (size_t i = 0; i < out.n; i++) {
        int64_t t = ti_fb_list_i32(out, i);
        if (t >= 0 && (size_t)t < scope->n_tensor)
            scope->tensor[t].broken = true;
    }
}

/* All operators are tried, so that every message is given; the worst failure is returned. */
tc_status ti_tfl_nodes(tc_tfl_scope *scope)
{
    tc_status worst = TC_OK;
    tc_fb_vector ops = ti_fb_list(scope->graph, GRAPH_OPERATORS, 4);
    for (size_t i = 0; i < ops.n; i++) {
        tc_fb_table op = ti_fb_list_table(ops, i);
        TC_TRY(ti_tfl_broken(scope->reader));
        tc_status status = one_node(scope, op, i);
        if (status == TC_CANCELLED || scope->reader->fb.error)
            return status;
        if (status == TC_OK)
            continue;
        worst = worst == TC_OK || worst == TC_UNSUPPORTED ? status : worst;
        break_results(scope, op);
    }
    TC_TRY(ti_tfl_broken(scope->reader));
    return worst;
}

/* ---- inlined graphs ---- */

static bool bind_scope(tc_tfl_node *n, tc_tfl_scope *scope, int64_t graph, const tc_val *in,
                       int n_in)
{
    tc_tfl *reader = scope->reader;
    if (graph < 0 || (uint64_t)graph >= reader->graphs.n) {
        ti_b_bad(&n->m, TC_E_FORMAT, "graph %" PRId64 ", and there are %zu", graph,
                 reader->graphs.n);
        return false;
    }
    n->m.status = ti_tfl_tensors(scope, graph);
    tc_fb_vector inputs = ti_fb_list(scope->graph, GRAPH_INPUTS, 4);
    if (n->m.status == TC_OK && inputs.n != (size_t)n_in)
        ti_b_bad(&n->m, TC_E_STRUCTURE, "graph %" PRId64 " has %zu inputs, expected %d", graph,
                 inputs.n, n_in);
    for (int i = 0; i < n_in && n->m.status == TC_OK; i++) {
        int64_t t = ti_fb_list_i32(inputs, (size_t)i);
        if (t < 0 || (size_t)t >= scope->n_tensor || scope->tensor[t].made) {
            ti_b_bad(&n->m, TC_E_FORMAT, "input %d of graph %" PRId64 " is not one of its tensors",
                     i,
                     graph);
            return false;
        }
        if (!in[i])
            continue;
        scope->tensor[t].val = in[i];
        scope->tensor[t].made = true;
    }
    return n->m.status == TC_OK;
}

void ti_tfl_inline(tc_tfl_node *n, int64_t graph, const tc_val *in, int n_in, tc_val *out,
                   int n_out)
{
    TC_STOP(&n->m);
    tc_tfl *reader = n->scope->reader;
    if (reader->depth >= DEEPEST) {
        ti_b_bad(&n->m, TC_E_STRUCTURE, "graphs nested too deep");
        return;
    }
    tc_tfl_scope scope = *n->scope;
    scope.prefix = ti_text_format(&reader->ctx->arena, "%s/", n->m.loc->node);
    reader->depth++;
    if (bind_scope(n, &scope, graph, in, n_in))
        n->m.status = ti_tfl_nodes(&scope);
    tc_fb_vector outputs = ti_fb_list(scope.graph, GRAPH_OUTPUTS, 4);
    if (n->m.status == TC_OK && outputs.n < (size_t)n_out)
        ti_b_bad(&n->m, TC_E_STRUCTURE, "graph %" PRId64 " has %zu results, expected %d", graph,
                 outputs.n, n_out);
    for (int i = 0; i < n_out && n->m.status == TC_OK; i++)
        out[i] = ti_tfl_value(&scope, ti_fb_list_i32(outputs, (size_t)i), n->m.loc, &n->m.status);
    reader->depth--;
}
