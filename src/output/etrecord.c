/* SPDX-License-Identifier: Apache-2.0 */
/* etrecord.c -- see etrecord.h.
 *
 * A debug handle is the number of a node in the export, from 1 on; nodes that are in no export
 * follow.  The graph is the export's own, in the older form of the schema that ExecuTorch reads:
 * fields that it does not have are left out, each node gets its name and its handle. */
#include "etrecord.h"

#include "../base/json_out.h"
#include "../read/read_pte.h"
#include "../wire/archive.h"
#include "../wire/json.h"

#include <unistd.h>

typedef struct recorder {
    tc_ctx *ctx;
    tc_map handle; /* of a node, by its name */
    int64_t n_handle;
} recorder;

static int64_t handle_of(recorder *r, tc_str node)
{
    void **slot = ti_map_at(&r->handle, node);
    if (!*slot)
        *slot = (void *)(uintptr_t)++r->n_handle;
    return (int64_t)(uintptr_t)*slot;
}

/* ---- the export's graph ---- */

static bool key_is(const tc_json *key, const char *name)
{
    return key->n == strlen(name) && memcmp(key->as.text, name, key->n) == 0;
}

static bool is_node(const tc_json *o)
{
    return ti_json_get(o, "target") && ti_json_get(o, "inputs") && ti_json_get(o, "outputs");
}

/* Fields of newer schemas, by what else the object has. */
static bool is_newer(const tc_json *object, const tc_json *key)
{
    static const struct {
        const char *key, *beside;
    } newer[] = {{"torch_version", "graph_module"}, {"guards_code", "graph_module"},
                 {"schema_version", "graph_module"}, {"dialect", "graph_module"},
                 {"metadata", "module_call_graph"}, {"treespec_namedtuple_fields", "module_call_graph"},
                 {"sym_float_values", "tensor_values"}, {"forward_arg_names", "in_spec"},
                 {"is_hop_single_tensor_return", "target"}, {"name", "target"}, {"kind", "arg"}};
    for (size_t i = 0; i < TC_COUNT(newer); i++)
        if (key_is(key, newer[i].key) && ti_json_get(object, newer[i].beside))
            return true;
    return false;
}

/* The name of a node is that of its first result. */
static tc_str node_name(recorder *r, const tc_json *node)
{
    tc_str kind;
    const tc_json *first = ti_json_only(ti_json_first(ti_json_get(node, "outputs")), &kind);
    first = ti_json_is(first, TC_JSON_LIST) ? ti_json_first(first) : first;
    const tc_json *name = ti_json_get(first, "name");
    tc_str text = ti_json_text(&r->ctx->arena, name ? name : ti_json_get(first, "as_name"));
    return text.p ? text : (tc_str){"none", 4};
}

static void copy_json(recorder *r, const tc_json *j, const tc_json *node, tc_buf *out);

/* node: the object is the metadata of it. */
static void copy_object(recorder *r, const tc_json *j, const tc_json *node, tc_buf *out)
{
    const char *before = "";
    ti_buf_text(out, "{");
    if (is_node(j)) {
        tc_str name = node_name(r, j);
        ti_buf_printf(out, "\"name\": \"%.*s\"", (int)name.n, name.p);
        before = ", ";
    }
    if (ti_json_get(j, "graph_module")) {
        ti_buf_text(out, "\"schema_version\": {\"major\": 5, \"minor\": 4}, \"dialect\": \"ATEN\"");
        before = ", ";
    }
    if (node) {
        ti_buf_printf(out, "\"debug_handle\": \"%" PRId64 "\"", handle_of(r, node_name(r, node)));
        before = ", ";
    }
    for (const tc_json *key = j->as.child; key; key = key->next->next) {
        if (is_newer(j, key))
            continue;
        ti_buf_printf(out, "%s\"%.*s\": ", before, (int)key->n, key->as.text);
        copy_json(r, key->next, is_node(j) && key_is(key, "metadata") ? j : NULL, out);
        before = ", ";
    }
    ti_buf_text(out, "}");
}

static void copy_json(recorder *r, const tc_json *j, const tc_json *node, tc_buf *out)
{
    static const char *const word[] = {
        [TC_JSON_NULL] = "null", [TC_JSON_FALSE] = "false", [TC_JSON_TRUE] = "true"};
    const char *quote = j->kind == TC_JSON_TEXT ? "\"" : "";
    switch (j->kind) {
    case TC_JSON_OBJECT:
        copy_object(r, j, node, out);
        return;
    case TC_JSON_LIST:
        ti_buf_text(out, "[");
        for (const tc_json *e = j->as.child; e; e = e->next) {
            copy_json(r, e, NULL, out);
            ti_buf_text(out, e->next ? ", " : "");
        }
        ti_buf_text(out, "]");
        return;
    case TC_JSON_NULL:
    case TC_JSON_FALSE:
    case TC_JSON_TRUE:
        ti_buf_text(out, word[j->kind]);
        return;
    default:
        ti_buf_text(out, quote);
        ti_buf_put(out, j->as.text, j->n);
        ti_buf_text(out, quote);
    }
}

/* The text of the export inside of an archive: models/NAME.json, or as older ones call it. */
static bool is_program(const char *name)
{
    const char *models = strstr(name, "models/");
    return ti_text_ends(name, "serialized_exported_program.json") ||
           (models && ti_text_ends(name, ".json"));
}

/* No bytes: the model is not an export that is available. */
static tc_bytes export_of(recorder *r, const tc_compiled *c)
{
    tc_archive a;
    tc_bytes bytes, text;
    const char *why;
    size_t at;
    const char *file = c->module->file;
    tc_bytes none = {NULL, 0};
    if (!file || !ti_text_ends(file, ".pt2") || access(file, R_OK) != 0 ||
        ti_file_read(r->ctx, file, &bytes) != TC_OK || !ti_archive_looks_like(bytes) ||
        ti_archive_open(r->ctx, &r->ctx->arena, file, NULL, bytes, &a) != TC_OK)
        return none;
    for (size_t i = 0; i < a.n_member; i++) {
        if (!is_program(a.member[i].name) || ti_archive_read(&a, &a.member[i], &text) != TC_OK)
            continue;
        const tc_json *json = ti_json_parse(&r->ctx->arena, text, &why, &at);
        tc_buf out;
        ti_buf_init(&out, &r->ctx->arena);
        if (!ti_json_get(json, "graph_module"))
            continue;
        copy_json(r, json, NULL, &out);
        return (tc_bytes){out.data, out.size};
    }
    return none;
}

/* ---- maps ---- */

static const char *number(recorder *r, size_t n)
{
    return ti_text_format(&r->ctx->arena, "%zu", n);
}

static void put_handles(recorder *r, const tc_pte_method *m, tc_json_out *out)
{
    ti_json_open(out, m->name, '{');
    for (size_t k = 0; k < m->n_step; k++) {
        const tc_pte_step *s = &m->step[k];
        if (!s->n_frame)
            continue;
        ti_json_open(out, number(r, k), '[');
        for (size_t i = 0; i < s->n_frame; i++)
            if (s->frame[i].node)
                ti_json_put_int(out, NULL, handle_of(r, ti_str_of(s->frame[i].node)));
        ti_json_close(out, ']');
    }
    ti_json_close(out, '}');
}

static void put_delegates(recorder *r, const tc_pte_method *m, tc_json_out *out)
{
    ti_json_open(out, m->name, '{');
    for (size_t k = 0; k < m->n_step; k++) {
        if (m->step[k].tag != PTE_DELEGATE_CALL)
            continue;
        ti_json_open(out, number(r, k), '{');
        ti_json_put_text(out, "name", m->delegate[m->step[k].what].id);
        ti_json_open(out, "delegate_map", '{'); /* no event of our delegates names a part of it */
        ti_json_close(out, '}');
        ti_json_close(out, '}');
    }
    ti_json_close(out, '}');
}

static void put_results(recorder *r, tc_pte_file *f, const tc_pte_method *m, tc_json_out *out)
{
    ti_json_open(out, m->name, '{');
    for (size_t k = 0; k < m->n_step; k++) {
        const tc_pte_step *s = &m->step[k];
        int64_t n = 1;
        if (s->tag != PTE_KERNEL_CALL && s->tag != PTE_DELEGATE_CALL)
            continue;
        const tc_pte_border *b = s->tag == PTE_DELEGATE_CALL ? ti_pte_borders(f, m, k) : NULL;
        for (int32_t i = 0; b && i < s->arg.n; i++)
            n += (i ? 0 : -1) + !b[i].is_input;
        ti_json_put_int(out, number(r, k), n);
    }
    ti_json_close(out, '}');
}

typedef enum which { HANDLES, DELEGATES, RESULTS } which;

static tc_bytes map_of(recorder *r, tc_pte_file *f, which w)
{
    tc_buf to;
    ti_buf_init(&to, &r->ctx->arena);
    tc_json_out out = {.to = &to, .compact = true};
    ti_json_open(&out, NULL, '{');
    for (size_t i = 0; i < f->n_method; i++)
        switch (w) {
        case HANDLES:
            put_handles(r, &f->method[i], &out);
            break;
        case DELEGATES:
            put_delegates(r, &f->method[i], &out);
            break;
        default:
            put_results(r, f, &f->method[i], &out);
        }
    ti_json_close(&out, '}');
    return (tc_bytes){to.data, to.size};
}

/* Its parameters and examples are not in the record: the graph is there for its nodes. */
static void add_graph(recorder *r, tc_zip *zip, const char *method, tc_bytes graph)
{
    static const char *const part[] = {"state_dict", "constants", "example_inputs"};
    ti_zip_add(zip, ti_text_format(&r->ctx->arena, "tosac/%s", method), graph);
    for (size_t i = 0; i < TC_COUNT(part); i++)
        ti_zip_add(zip, ti_text_format(&r->ctx->arena, "tosac/%s_%s", method, part[i]),
                   (tc_bytes){NULL, 0});
}

tc_status ti_etrecord_make(tc_ctx *ctx, const tc_compiled *c, tc_bytes *out)
{
    recorder r = {.ctx = ctx};
    tc_pte_file f;
    tc_zip zip;
    if (!c->written.needs || !c->written.n_file || !c->asked.places)
        return ti_usage(ctx, "an ETRecord goes with a .pte or .bpte that keeps locations");
    ti_map_init(&r.handle, &ctx->arena);
    TC_TRY(ti_pte_open(ctx, c->module->file, c->written.file[0], &f));
    ti_zip_begin(&zip, &ctx->arena);
    ti_zip_add(&zip, "ETRECORD_V0", (tc_bytes){NULL, 0});
    for (const tc_compiled *m = c; m; m = m->asked.beside) {
        tc_bytes graph = export_of(&r, m);
        if (graph.size)
            add_graph(&r, &zip, m->asked.method, graph);
    }
    ti_zip_add(&zip, "debug_handle_map", map_of(&r, &f, HANDLES));
    ti_zip_add(&zip, "delegate_map", map_of(&r, &f, DELEGATES));
    ti_zip_add(&zip, "instruction_id_to_num_outs_map", map_of(&r, &f, RESULTS));
    *out = ti_zip_end(&zip);
    return TC_OK;
}
