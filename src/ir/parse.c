/* SPDX-License-Identifier: Apache-2.0 */
/* parse.c -- text to graph; doc/ir.md has the grammar.
 *
 * The first mistake ends the reading, with a message that names line and column.  Allocations are
 * bounded by the length of the text. */
#include "ir_text.h"

#include "../num/element.h"
#include "parse.h"

typedef struct parser {
    tc_lex lex;
    tc_ctx *ctx;
    tc_module *module;
    tc_graph *g;
    tc_map graphs; /* names taken */
    tc_map vals;   /* the number after '%' in this graph, to its tc_val */
    tc_bytes side;
    const char *origin; /* what `file` says, for loc(...) */
    const char *bin; /* which constants are in the side file, or NULL */
} parser;

/* ---- values ---- */

/* The number after '%', as the key of p->vals. */
static uint64_t parse_label(parser *p)
{
    ti_lex_expect(&p->lex, "%");
    if (ti_lex_peek(&p->lex) < '0' || ti_lex_peek(&p->lex) > '9')
        ti_lex_fail(&p->lex, TC_E_SYNTAX, "a '%%' without a number");
    return (uint64_t)ti_lex_int(&p->lex);
}

static tc_str label_key(const uint64_t *label)
{
    return (tc_str){(const char *)label, sizeof *label};
}

/* %7 or none. */
static tc_val parse_operand(parser *p)
{
    if (ti_str_is(ti_lex_peek_word(&p->lex), "none")) {
        ti_lex_word(&p->lex);
        return TC_NONE;
    }
    tc_lex start = p->lex;
    uint64_t label = parse_label(p);
    void *val = FAILED(&p->lex) ? NULL : ti_map_get(&p->vals, label_key(&label));
    if (!FAILED(&p->lex) && !val) {
        p->lex = start;
        ti_lex_fail(&p->lex, TC_E_ORDER, "%%%" PRIu64 " is used before it is made", label);
    }
    return (tc_val)(uintptr_t)val;
}

/* %1, none, %2: the first on the operator's line, since a '%' below begins a statement.
 */
static tc_val *parse_operands(parser *p, size_t *count)
{
    tc_val *val = NULL;
    size_t n = 0, cap = 0;
    int line = p->lex.line;
    bool some = ti_lex_peek(&p->lex) == '%' || ti_str_is(ti_lex_peek_word(&p->lex), "none");
    some = some && p->lex.line == line;
    while (some && !FAILED(&p->lex)) {
        tc_grow(&p->ctx->scratch, val, n, cap);
        val[n++] = parse_operand(p);
        some = ti_lex_accept(&p->lex, ",");
    }
    *count = FAILED(&p->lex) ? 0 : n;
    return val;
}

/* A value as it is made: %3 "name". */
typedef struct result {
    uint64_t label;
    const char *name;
    tc_lex at;
} result;

static result parse_result(parser *p)
{
    ti_lex_peek(&p->lex);
    result r = {.at = p->lex};
    r.label = parse_label(p);
    if (ti_lex_peek(&p->lex) == '"')
        r.name = ti_lex_string(&p->lex);
    return r;
}

static void define(parser *p, const result *r, tc_val val)
{
    void **slot = ti_map_at(&p->vals, label_key(&r->label));
    if (*slot) {
        p->lex = r->at;
        ti_lex_fail(&p->lex, TC_E_ORDER, "%%%" PRIu64 " is defined twice", r->label);
    }
    *slot = (void *)(uintptr_t)val;
    p->g->val[val]->name = r->name;
}

/* ---- constants ---- */

/* The elements from `lex` on, once the type is known. */
static const void *parse_elements(parser *p, tc_lex *lex, const tc_type *type)
{
    size_t size = tc_dtypes[type->dtype].bytes;
    int64_t n = 0, count = tc_type_count(type);
    bool list = ti_lex_accept(lex, "[");
    if (!list && type->rank)
        ti_lex_fail(lex, TC_E_SYNTAX, "expected a list of elements in brackets");
    char *data =
        count <= lex->end - lex->at ? ti_arena_raw(&p->ctx->arena, (size_t)count * size) : NULL;
    while (lex->status == TC_OK && (list ? !ti_lex_accept(lex, "]") : n < 1)) {
        if (n)
            ti_lex_expect(lex, ",");
        tc_lex here = *lex;
        tc_str text = ti_lex_number(lex);
        if (n < count && data && !ti_element_read(type->dtype, text, data + (size_t)n * size)) {
            *lex = here;
            ti_lex_fail(lex, TC_E_SYNTAX, "'%.*s' is no %s", (int)ti_min_i64((int64_t)text.n, 40),
                        text.p, tc_dtypes[type->dtype].name);
        }
        n++;
    }
    if (lex->status == TC_OK && n != count)
        ti_lex_fail(lex, TC_E_MISMATCH, "%" PRId64 " elements, the type has %" PRId64, n, count);
    return data;
}

/* @bin(offset) */
static const void *parse_stored(parser *p, tc_lex *lex, const tc_type *type)
{
    ti_lex_expect(lex, "@bin(");
    int64_t offset = ti_lex_int(lex);
    ti_lex_expect(lex, ")");
    TC_STOP_WITH(lex, NULL);
    size_t size = tc_type_bytes(type);
    if (!p->side.data)
        ti_lex_fail(lex, TC_E_IO,
                    "the constant is in a file beside the text, which is missing");
    else if (offset < 0 || (size_t)offset > p->side.size || size > p->side.size - (size_t)offset)
        ti_lex_fail(lex, TC_E_TRUNCATED, "%zu bytes at offset %" PRId64 ", the file beside has %zu",
                    size, offset, p->side.size);
    else if (offset % 64)
        ti_lex_fail(lex, TC_E_FORMAT, "offset %" PRId64 " is not a multiple of 64", offset);
    else if (!ti_elements_valid(type, p->side.data + offset))
        ti_lex_fail(lex, TC_E_DATA, "some of the bytes are no '%s'", tc_dtypes[type->dtype].name);
    else
        return p->side.data + offset;
    return NULL;
}

/* Step over the elements of a constant; they are read when the type after them is known. */
static void skip_const(parser *p)
{
    if (ti_lex_accept(&p->lex, "@bin(")) {
        ti_lex_int(&p->lex);
        ti_lex_expect(&p->lex, ")");
    } else if (ti_lex_accept(&p->lex, "[")) {
        for (size_t n = 0; !FAILED(&p->lex) && !ti_lex_accept(&p->lex, "]"); n++) {
            if (n)
                ti_lex_expect(&p->lex, ",");
            if (!ti_lex_number(&p->lex).n)
                ti_lex_fail(&p->lex, TC_E_SYNTAX, "expected an element");
        }
    } else
        ti_lex_number(&p->lex);
}

static const void *parse_const(parser *p, tc_lex *start, const tc_type *type)
{
    if (FAILED(&p->lex))
        return NULL;
    if (!type) {
        ti_lex_fail(&p->lex, TC_E_SYNTAX, "a constant without a type");
        return NULL;
    }
    if (ti_type_open(type)) {
        ti_lex_fail(&p->lex, TC_E_TYPE, "a constant has no open sizes");
        return NULL;
    }
    const void *data =
        ti_lex_peek(start) == '@' ? parse_stored(p, start, type) : parse_elements(p, start, type);
    p->lex.status = start->status;
    return data;
}

/* ---- statements ---- */

static const char *loc_text(parser *p)
{
    const char *text;
    ti_parse_text(&p->lex, &text);
    return text;
}

/* loc("file", node="...", ...), or the line of the text itself. */
static const tc_loc *parse_loc(parser *p, const char *place)
{
    tc_loc *loc = tc_new(&p->ctx->arena, tc_loc);
    if (!ti_str_is(ti_lex_peek_word(&p->lex), "loc")) {
        loc->file = place;
        return loc;
    }
    loc->file = p->origin;
    ti_lex_word(&p->lex);
    ti_lex_expect(&p->lex, "(");
    const struct {
        const char *mark, **to;
    } part[] = {{"file=", &loc->file},
                {"node=", &loc->node},
                {"target=", &loc->target},
                {"module=", &loc->module},
                {"module_type=", &loc->module_type}};
    while (!FAILED(&p->lex) && !ti_lex_accept(&p->lex, ")")) {
        size_t i = 0;
        while (i < TC_COUNT(part) && !ti_lex_accept(&p->lex, part[i].mark))
            i++;
        *(i < TC_COUNT(part) ? part[i].to : &loc->place) = loc_text(p);
        if (ti_lex_peek(&p->lex) != ')')
            ti_lex_expect(&p->lex, ",");
    }
    return loc;
}

static tc_op parse_op(parser *p)
{
    tc_str word = ti_lex_peek_word(&p->lex);
    tc_op op = ti_op_named(word);
    if (op != TC_OP_COUNT) {
        ti_lex_word(&p->lex);
        return op;
    }
    tc_loc here = {.file = ti_lex_place(&p->lex)};
    ti_lex_fail(&p->lex, TC_E_UNKNOWN_OP, "there is not an operator '%.*s'",
                (int)ti_min_i64((int64_t)word.n, 40), word.p);
    const char *near = NULL, *spelled = ti_text_copy(&p->ctx->arena, word);
    size_t best = 3;
    for (int i = 0; i < TC_OP_COUNT; i++) {
        size_t distance = ti_text_distance(spelled, tc_ops[i].name);
        if (distance < best) {
            best = distance;
            near = tc_ops[i].name;
        }
    }
    if (near)
        ti_note(p->ctx, &here, "did you mean '%s%s'?", ti_text_starts(near, "tosa_") ? "tosa." : "",
                ti_text_starts(near, "tosa_") ? near + 5 : near);
    return TC_OP_const;
}

/* Infer omitted types, where possible. */
static void complete(parser *p, tc_node *node)
{
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] && !p->g->val[node->in[i]]->type)
            return;
    tc_status status = ti_node_infer(p->g, node);
    if (status != TC_OK) {
        p->lex.status = status;
        p->lex.at = p->lex.end;
    }
}

/* : type, type -- for each result, or nothing at all. */
static bool parse_types(parser *p, const tc_type **type, size_t n)
{
    if (!n || !ti_lex_accept(&p->lex, ":"))
        return false;
    for (size_t i = 0; i < n && !FAILED(&p->lex); i++) {
        if (i)
            ti_lex_expect(&p->lex, ",");
        type[i] = ti_parse_type(&p->lex);
    }
    return true;
}

/* op operands attributes : types loc(...), after the results. */
static void parse_node(parser *p, const result *r, size_t n_result)
{
    tc_arena *scratch = &p->ctx->scratch;
    const char *place = ti_lex_place(&p->lex);
    tc_op op = parse_op(p);
    tc_lex numbers = p->lex;
    if (op == TC_OP_const)
        skip_const(p);
    size_t n_in;
    tc_val *in = parse_operands(p, &n_in);
    const void *attr = ti_parse_attrs(&p->lex, op);
    const tc_type **type = tc_new_n(scratch, const tc_type *, n_result);
    bool declared = parse_types(p, type, n_result);
    const tc_loc *loc = parse_loc(p, place);
    if (n_in > INT32_MAX || n_result > INT32_MAX)
        ti_lex_fail(&p->lex, TC_E_TOO_LARGE, "too many operands or results");
    if (op == TC_OP_const && n_result != 1)
        ti_lex_fail(&p->lex, TC_E_STRUCTURE, "'const' has %zu results, expected 1", n_result);
    if (FAILED(&p->lex))
        return;
    const void *data = op == TC_OP_const ? parse_const(p, &numbers, type[0]) : NULL;
    if (FAILED(&p->lex))
        return;
    tc_node *node = ti_graph_add(p->g, op, attr, in, (int)n_in, (int)n_result, loc);
    for (size_t i = 0; i < n_result; i++) {
        define(p, &r[i], node->out[i]);
        p->g->val[node->out[i]]->type = type[i];
    }
    if (data)
        p->g->val[node->out[0]]->data = data;
    if (!declared && n_result && !FAILED(&p->lex))
        complete(p, node);
}

/* %3 "a", %4 = split ... */
static void parse_results(parser *p)
{
    tc_mark mark = ti_arena_mark(&p->ctx->scratch);
    result *r = NULL;
    size_t n = 0, cap = 0;
    do {
        tc_grow(&p->ctx->scratch, r, n, cap);
        r[n++] = parse_result(p);
    } while (!FAILED(&p->lex) && ti_lex_accept(&p->lex, ","));
    ti_lex_expect(&p->lex, "=");
    if (!FAILED(&p->lex))
        parse_node(p, r, n);
    ti_arena_rewind(&p->ctx->scratch, mark);
}

/* takes %0 "x" */
static void parse_port(parser *p, tc_port **port, size_t *n, size_t *cap)
{
    if (p->g != ti_main(p->module))
        ti_lex_fail(&p->lex, TC_E_STRUCTURE, "only the first graph has a signature");
    tc_port new = {0};
    if (ti_lex_peek(&p->lex) == '"')
        new.text = ti_lex_string(&p->lex);
    else
        new.val = parse_operand(p);
    if (ti_lex_peek(&p->lex) == '"')
        new.name = ti_lex_string(&p->lex);
    tc_grow(&p->ctx->arena, *port, *n, *cap);
    (*port)[(*n)++] = new;
}

static void parse_mutation(parser *p)
{
    tc_val before = parse_operand(p);
    ti_lex_expect(&p->lex, "->");
    ti_graph_mutate(p->g, before, parse_operand(p));
}

/* image %0 37: a VkFormat. */
static void parse_image(parser *p)
{
    tc_val v = parse_operand(p);
    int64_t format = 0;
    tc_str text = ti_lex_number(&p->lex);
    if (FAILED(&p->lex))
        return;
    if (!v || !ti_text_to_i64(text, &format) || format < 1 || format > UINT32_MAX)
        ti_lex_fail(&p->lex, TC_E_STRUCTURE, "an image is a value and the number of a format");
    else
        ti_value_of(p->g, v)->image = (uint32_t)format;
}

static void parse_return(parser *p)
{
    tc_mark mark = ti_arena_mark(&p->ctx->scratch);
    size_t n;
    const tc_val *val = parse_operands(p, &n);
    for (size_t i = 0; i < n; i++)
        ti_graph_output(p->g, val[i]);
    ti_arena_rewind(&p->ctx->scratch, mark);
}

static void parse_body(parser *p)
{
    size_t cap_in = 0, cap_out = 0;
    tc_module *m = p->module;
    for (;;) {
        if (ti_lex_peek(&p->lex) == '%') {
            parse_results(p);
            continue;
        }
        tc_str word = ti_lex_peek_word(&p->lex);
        if (FAILED(&p->lex) || !word.n)
            break;
        if (ti_op_named(word) == TC_OP_COUNT)
            ti_lex_word(&p->lex);
        if (ti_str_is(word, "return")) {
            parse_return(p);
            break;
        }
        if (ti_str_is(word, "takes"))
            parse_port(p, &m->signature.in, &m->signature.n_in, &cap_in);
        else if (ti_str_is(word, "gives"))
            parse_port(p, &m->signature.out, &m->signature.n_out, &cap_out);
        else if (ti_str_is(word, "mutate"))
            parse_mutation(p);
        else if (ti_str_is(word, "image"))
            parse_image(p);
        else
            parse_node(p, NULL, 0);
    }
    ti_lex_expect(&p->lex, "}");
}

static void parse_inputs(parser *p)
{
    ti_lex_expect(&p->lex, "(");
    while (!FAILED(&p->lex) && !ti_lex_accept(&p->lex, ")")) {
        if (p->g->n_in)
            ti_lex_expect(&p->lex, ",");
        result r = parse_result(p);
        ti_lex_expect(&p->lex, ":");
        const tc_type *type = ti_parse_type(&p->lex);
        if (!FAILED(&p->lex))
            define(p, &r, ti_graph_input(p->g, type, NULL));
    }
}

/* graph @name(inputs) { body }; the part after "graph". */
static void parse_graph(parser *p)
{
    ti_lex_expect(&p->lex, "@");
    const char *name = ti_lex_peek(&p->lex) == '"' ? ti_lex_string(&p->lex)
                                                   : ti_intern(p->ctx, ti_lex_word(&p->lex));
    if (FAILED(&p->lex))
        return;
    void **taken = ti_map_at(&p->graphs, ti_str_of(name));
    if (*taken)
        ti_lex_fail(&p->lex, TC_E_STRUCTURE, "a second graph named '%s'", name);
    *taken = p->g = ti_graph_new(p->module, name);
    ti_map_init(&p->vals, &p->ctx->arena);
    parse_inputs(p);
    ti_lex_expect(&p->lex, "{");
    parse_body(p);
}

/* The side file of constants belongs to this text. */
static void check_side(parser *p)
{
    const char *found = ti_side_word(&p->ctx->arena, p->side.size,
                                     ti_side_hash(TC_SIDE_HASH, p->side));
    if (!p->bin || FAILED(&p->lex) || ti_text_eq(found, p->bin))
        return;
    ti_lex_fail(&p->lex, TC_E_MISMATCH,
                "the constants in '%s.bin' are not those that were written with this text: %s, "
                "expected %s",
                p->module->file, p->side.size ? found : "there are none", p->bin);
}

/* made_by "x", file "x", producer "x", in_tree "x", out_tree "x", bin "x", graph ... */
static void parse_module(parser *p)
{
    tc_module *m = p->module;
    const struct {
        const char *word, **to;
    } header[] = {{"made_by", &m->origin.made_by},
                  {"file", &p->origin},
                  {"producer", &m->origin.producer},
                  {"in_tree", &m->signature.in_tree},
                  {"out_tree", &m->signature.out_tree},
                  {"bin", &p->bin}};
    while (ti_lex_peek(&p->lex) && !FAILED(&p->lex)) {
        tc_str word = ti_lex_peek_word(&p->lex);
        size_t i = 0;
        while (i < TC_COUNT(header) && !ti_str_is(word, header[i].word))
            i++;
        if (i < TC_COUNT(header)) {
            ti_lex_word(&p->lex);
            *header[i].to = ti_lex_string(&p->lex);
        } else {
            ti_lex_expect(&p->lex, "graph ");
            if (!ti_str_is(word, "graph"))
                ti_note(p->ctx, &(tc_loc){.file = m->file},
                        "graphs as text are 'graph @main(%%0: f32[1,3]) { ... }': doc/ir.md");
            parse_graph(p);
        }
    }
    if (!m->n_graph)
        ti_lex_fail(&p->lex, TC_E_STRUCTURE, "the text has no graph");
    check_side(p);
    if (p->origin)
        m->file = p->origin;
}

tc_status ti_parse(tc_ctx *ctx, const char *file, tc_bytes text, tc_bytes side, tc_module **out)
{
    parser p = {.ctx = ctx, .side = side, .module = ti_module_new(ctx, file)};
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    ti_lex_init(&p.lex, ctx, p.module->file, text);
    ti_map_init(&p.graphs, &ctx->scratch);
    p.module->origin.bytes = text.size;
    parse_module(&p);
    ti_arena_rewind(&ctx->scratch, mark);
    if (FAILED(&p.lex))
        return p.lex.status;
    *out = p.module;
    return TC_OK;
}
