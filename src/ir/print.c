/* SPDX-License-Identifier: Apache-2.0 */
/* print.c -- graph to text.
 *
 * Values are numbered in the order they appear, inputs first, so equal graphs print equally
 * whatever their ids are.  A broken graph prints too: an unknown value is %?. */
#include "ir_text.h"

#include "../num/element.h"

typedef struct printer {
    const tc_module *module;
    const tc_graph *g;
    const tc_print_options *options;
    tc_buf *out;
    uint32_t *number; /* by id; 0: not seen */
    const char *file; /* the module's, when a node's location names it */
} printer;

/* "quoted", as the text form writes it. */
static void print_string(tc_buf *out, const char *text)
{
    ti_buf_u8(out, '"');
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\')
            ti_buf_printf(out, "\\%c", *p);
        else if (*p == '\n')
            ti_buf_text(out, "\\n");
        else if (*p == '\t')
            ti_buf_text(out, "\\t");
        else if (*p < ' ')
            ti_buf_printf(out, "\\x%02x", *p);
        else
            ti_buf_u8(out, *p);
    }
    ti_buf_u8(out, '"');
}

static void put_val(printer *p, tc_val val)
{
    if (val == TC_NONE)
        ti_buf_text(p->out, "none");
    else if (val < p->g->n_val && p->number[val])
        ti_buf_printf(p->out, "%%%" PRIu32, p->number[val] - 1);
    else
        ti_buf_text(p->out, "%?");
}

static void put_vals(printer *p, const tc_val *val, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ti_buf_text(p->out, i ? ", " : " ");
        put_val(p, val[i]);
    }
}

/* %3 "name" */
static void put_named(printer *p, tc_val val)
{
    put_val(p, val);
    if (val < p->g->n_val && p->g->val[val]->name) {
        ti_buf_u8(p->out, ' ');
        print_string(p->out, p->g->val[val]->name);
    }
}

static void put_type(printer *p, tc_val val)
{
    tc_arena *scratch = &p->module->ctx->scratch;
    tc_mark mark = ti_arena_mark(scratch);
    const tc_type *type = val < p->g->n_val ? p->g->val[val]->type : NULL;
    ti_buf_text(p->out, type ? ti_type_text(scratch, type) : "?");
    ti_arena_rewind(scratch, mark);
}

static void put_ints(tc_buf *out, const tc_ints *list)
{
    ti_buf_u8(out, '[');
    for (int32_t i = 0; i < list->n; i++)
        ti_buf_printf(out, "%s%" PRId64, i ? "," : "", list->v[i]);
    ti_buf_u8(out, ']');
}

static void put_floats(tc_buf *out, const tc_floats *list)
{
    ti_buf_u8(out, '[');
    for (int32_t i = 0; i < list->n; i++) {
        ti_buf_text(out, i ? "," : "");
        ti_element_put(out, TC_f64, &list->v[i]);
    }
    ti_buf_u8(out, ']');
}

static void put_hex(tc_buf *out, const tc_bytes *bytes)
{
    ti_buf_text(out, "0x");
    for (size_t i = 0; i < bytes->size; i++)
        ti_buf_printf(out, "%02x", bytes->data[i]);
}

static void put_field(tc_buf *out, const tc_field *field, const void *record)
{
    const void *at = (const char *)record + field->at;
    if (field->kind == TC_FIELD_flag && !*(const bool *)at)
        return;
    ti_buf_printf(out, " %s=", field->name);
    switch (field->kind) {
    case TC_FIELD_i64:
        ti_element_put(out, TC_i64, at);
        break;
    case TC_FIELD_f64:
        ti_element_put(out, TC_f64, at);
        break;
    case TC_FIELD_bool:
    case TC_FIELD_flag:
        ti_buf_text(out, *(const bool *)at ? "true" : "false");
        break;
    case TC_FIELD_ints:
        put_ints(out, at);
        break;
    case TC_FIELD_floats:
        put_floats(out, at);
        break;
    case TC_FIELD_text: {
        const char *text = *(const char *const *)at;
        if (text)
            print_string(out, text);
        else
            ti_buf_text(out, "none");
        break;
    }
    case TC_FIELD_bytes:
        put_hex(out, at);
        break;
    case TC_FIELD_dtype:
        ti_buf_text(out, tc_dtypes[*(const tc_dtype *)at].name);
        break;
    default: { /* a choice; enumerations are all alike in memory */
        const tc_choice *choice = &tc_choices[field->kind - TC_FIELD_CHOICES];
        ti_buf_text(out, choice->word[*(const tc_dtype *)at]);
    }
    }
}

static void put_attr(printer *p, const tc_node *node)
{
    const tc_attr_info *info = &tc_attrs[tc_ops[node->op].attr];
    for (int i = 0; node->attr && i < info->n_field; i++)
        put_field(p->out, &info->field[i], node->attr);
}

/* [1, 2, 3], or 5 for rank 0. */
static void put_elements(tc_buf *out, const tc_type *type, const char *data)
{
    int64_t n = tc_type_count(type);
    ti_buf_text(out, type->rank ? "[" : "");
    for (int64_t i = 0; i < n; i++, data += tc_dtypes[type->dtype].bytes) {
        ti_buf_text(out, i ? ", " : "");
        ti_element_put(out, type->dtype, data);
    }
    ti_buf_text(out, type->rank ? "]" : "");
}

/* A constant already in the side file. */
typedef struct stored {
    struct stored *next;
    const void *data;
    size_t size, offset;
} stored;

/* Constants are looked up by a few of their bytes, then compared in full. */
static uint64_t sample(const uint8_t *data, size_t size)
{
    uint64_t h = ti_hash(&size, sizeof size, 0);
    size_t step = size / 64 + 1;
    for (size_t i = 0; i < size; i += step)
        h = ti_hash(&data[i], 1, h);
    return h;
}

static void add_part(tc_side *side, const void *data, size_t size)
{
    tc_grow(side->arena, side->part, side->n_part, side->cap_part);
    side->part[side->n_part++] = (tc_bytes){data, size};
    side->size += size;
}

static size_t store(tc_side *side, const void *data, size_t size)
{
    static const uint8_t zeros[64];
    uint64_t key = sample(data, size);
    void **slot = ti_map_at(&side->seen, (tc_str){(const char *)&key, sizeof key});
    for (stored *s = *slot; s; s = s->next)
        if (s->size == size && (s->data == data || memcmp(s->data, data, size) == 0))
            return s->offset;
    add_part(side, zeros, (64 - side->size % 64) % 64);
    stored *s = tc_new(side->arena, stored);
    *s = (stored){*slot, data, size, side->size};
    *slot = s;
    add_part(side, data, size);
    return s->offset;
}

void ti_side_init(tc_side *side, tc_arena *arena)
{
    *side = (tc_side){.arena = arena};
    ti_map_init(&side->seen, arena);
}

uint64_t ti_side_hash(uint64_t hash, tc_bytes more)
{
    for (size_t i = 0; i < more.size; i++)
        hash = (hash ^ more.data[i]) * UINT64_C(0x100000001b3);
    return hash;
}

const char *ti_side_word(tc_arena *arena, size_t size, uint64_t hash)
{
    return ti_text_format(arena, "%zu:%016" PRIx64, size, hash);
}

static void put_const(printer *p, const tc_node *node)
{
    const tc_value *value = p->g->val[node->out[0]];
    ti_buf_u8(p->out, ' ');
    if (!value->type || !value->data)
        ti_buf_u8(p->out, '?');
    else if (!p->options->side || tc_type_count(value->type) <= TC_INLINE_MOST)
        put_elements(p->out, value->type, value->data);
    else
        ti_buf_printf(p->out, "@bin(%zu)",
                      store(p->options->side, value->data, tc_type_bytes(value->type)));
}

/* "file", node="...", ...: what is known, in this order. */
static void put_loc(printer *p, const tc_loc *loc)
{
    const struct {
        const char *name, *text;
    } part[] = {
        {"", loc->place},         {"file=", ti_text_same(loc->file, p->file) ? NULL : loc->file},
        {"node=", loc->node},     {"target=", loc->target},
        {"module=", loc->module}, {"module_type=", loc->module_type}};
    bool first = true;
    ti_buf_text(p->out, " loc(");
    for (size_t i = 0; i < TC_COUNT(part); i++) {
        if (!part[i].text)
            continue;
        ti_buf_printf(p->out, "%s%s", first ? "" : ", ", part[i].name);
        print_string(p->out, part[i].text);
        first = false;
    }
    if (p->file && !loc->file)
        ti_buf_text(p->out, first ? "file=none" : ", file=none");
    ti_buf_u8(p->out, ')');
}

/* Nodes parsed from text have only their line there, which changes. */
static bool has_loc(const tc_loc *loc)
{
    return loc->place || loc->node || loc->target || loc->module || loc->module_type;
}

static void put_node(printer *p, const tc_node *node)
{
    tc_buf *out = p->out;
    ti_buf_text(out, "  ");
    for (int i = 0; i < node->n_out; i++) {
        ti_buf_text(out, i ? ", " : "");
        put_named(p, node->out[i]);
    }
    ti_buf_text(out, node->n_out ? " = " : "");
    const char *name = tc_ops[node->op].name;
    if (ti_text_starts(name, "tosa_"))
        ti_buf_printf(out, "tosa.%s", name + 5);
    else
        ti_buf_text(out, name);
    if (node->op == TC_OP_const)
        put_const(p, node);
    put_vals(p, node->in, (size_t)node->n_in);
    put_attr(p, node);
    for (int i = 0; i < node->n_out; i++) {
        ti_buf_text(out, i ? ", " : " : ");
        put_type(p, node->out[i]);
    }
    if (p->options->locs && has_loc(node->loc))
        put_loc(p, node->loc);
    ti_buf_u8(out, '\n');
}

/* takes %0 "x", gives "None" "mask": an entry of the signature. */
static void put_ports(printer *p, const char *verb, const tc_port *port, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ti_buf_printf(p->out, "  %s ", verb);
        if (port[i].text && !port[i].val)
            print_string(p->out, port[i].text);
        else
            put_val(p, port[i].val);
        if (port[i].name) {
            ti_buf_u8(p->out, ' ');
            print_string(p->out, port[i].name);
        }
        ti_buf_u8(p->out, '\n');
    }
}

/* A plain word, or quoted when it is not one. */
static void put_name(tc_buf *out, const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char more[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.";
    if (strspn(name, letters) > 0 && strspn(name, more) == strlen(name))
        ti_buf_text(out, name);
    else
        print_string(out, name);
}

static void number_values(printer *p)
{
    uint32_t next = 0;
    for (size_t i = 0; i < p->g->n_in; i++)
        p->number[p->g->in[i]] = ++next;
    for (size_t k = 0; k < p->g->n_node; k++)
        for (int i = 0; i < p->g->node[k]->n_out; i++)
            p->number[p->g->node[k]->out[i]] = ++next;
}

static void put_graph(printer *p)
{
    const tc_graph *g = p->g;
    tc_buf *out = p->out;
    number_values(p);
    ti_buf_text(out, "graph @");
    put_name(out, g->name);
    ti_buf_u8(out, '(');
    for (size_t i = 0; i < g->n_in; i++) {
        ti_buf_text(out, i ? ", " : "");
        put_named(p, g->in[i]);
        ti_buf_text(out, ": ");
        put_type(p, g->in[i]);
    }
    ti_buf_text(out, ") {\n");
    for (size_t k = 0; k < g->n_node; k++)
        put_node(p, g->node[k]);
    if (g == ti_main(p->module)) {
        put_ports(p, "takes", p->module->signature.in, p->module->signature.n_in);
        put_ports(p, "gives", p->module->signature.out, p->module->signature.n_out);
    }
    for (size_t i = 1; i < g->n_val; i++)
        if (g->val[i]->image && p->number[i]) {
            ti_buf_text(out, "  image ");
            put_val(p, (tc_val)i);
            ti_buf_printf(out, " %" PRIu32 "\n", g->val[i]->image);
        }
    for (size_t i = 0; i < g->n_mutation; i++) {
        ti_buf_text(out, "  mutate ");
        put_val(p, g->mutation[i].before);
        ti_buf_text(out, " -> ");
        put_val(p, g->mutation[i].after);
        ti_buf_u8(out, '\n');
    }
    ti_buf_text(out, "  return");
    put_vals(p, g->out, g->n_out);
    ti_buf_text(out, "\n}\n");
}

/* Whether a printed location names the module's own file. */
static bool file_is_named(const tc_module *m)
{
    for (size_t i = 0; m->file && i < m->n_graph; i++)
        for (size_t k = 0; k < m->graph[i]->n_node; k++) {
            const tc_loc *loc = m->graph[i]->node[k]->loc;
            if (has_loc(loc) && ti_text_same(loc->file, m->file))
                return true;
        }
    return false;
}

static void print_graph(printer *p, const tc_graph *g)
{
    tc_arena *scratch = &p->module->ctx->scratch;
    tc_mark mark = ti_arena_mark(scratch);
    p->g = g;
    p->number = tc_new_n(scratch, uint32_t, g->n_val);
    put_graph(p);
    ti_arena_rewind(scratch, mark);
}

static void put_header(tc_buf *out, const char *word, const char *text)
{
    if (!text)
        return;
    ti_buf_printf(out, "%s ", word);
    print_string(out, text);
    ti_buf_u8(out, '\n');
}

void ti_print(const tc_module *m, const tc_print_options *options, tc_buf *out)
{
    assert(out->arena != &m->ctx->scratch);
    const char *file = options->locs && file_is_named(m) ? m->file : NULL;
    put_header(out, "file", file && options->file_as ? options->file_as : file);
    put_header(out, "producer", m->origin.producer);
    put_header(out, "in_tree", m->signature.in_tree);
    put_header(out, "out_tree", m->signature.out_tree);
    printer p = {.module = m, .options = options, .out = out, .file = file};
    for (size_t i = 0; i < m->n_graph; i++) {
        ti_buf_text(out, i ? "\n" : "");
        print_graph(&p, m->graph[i]);
    }
}
