/* SPDX-License-Identifier: Apache-2.0 */
/* pt2.c -- archives of torch.export.save: finds the program in any of its layouts and reads it.
 *
 * Nothing but what a node uses is read.  Each node keeps the Python line and the module that it
 * came from.  The declared type of every result is compared with the inferred one. */
#include "pt2_program.h"

enum { SCHEMA_MAJOR = 8 };

/* Which of the layouts this is; sets root and model, and the member that is the program. */
static tc_status find_program(tc_pt2 *reader, tc_member **program)
{
    tc_archive *a = &reader->archive;
    tc_ctx *ctx = reader->ctx;
    tc_loc *loc = tc_new(&ctx->arena, tc_loc);
    loc->file = reader->file;
    reader->root = reader->model = "";
    *program = ti_archive_find(a, "serialized_exported_program.json"); /* torch 2.6 and 2.7 */
    if (*program)
        return TC_OK;
    const char *slash = a->n_member ? strchr(a->member[0].name, '/') : NULL;
    tc_str root = {a->n_member ? a->member[0].name : "",
                   slash ? (size_t)(slash + 1 - a->member[0].name) : 0};
    reader->root = ti_text_copy(&reader->work, root);
    tc_member *format =
        ti_archive_find(a, ti_text_format(&reader->work, "%sarchive_format", reader->root));
    tc_bytes word = {NULL, 0};
    if (format)
        TC_TRY(ti_archive_read(a, format, &word));
    if (word.size != 3 || memcmp(word.data, "pt2", 3) != 0) {
        tc_status status =
            ti_error(ctx, loc, TC_E_FORMAT, "a ZIP file, but not one of torch.export.save");
        if (ti_archive_find(a, ti_text_format(&reader->work, "%sdata.pkl", reader->root)))
            ti_note(ctx, loc,
                    "it looks like torch.save's or torch.jit.save's; write the model with "
                    "torch.export.save(torch.export.export(model, args), path)");
        else if (a->n_member && ti_text_ends(a->member[0].name, ".npy"))
            ti_note(ctx, loc, "it holds NumPy arrays: data goes to --calib, --data or -i");
        else if (ti_archive_find(a, "model.weights.h5"))
            ti_note(ctx, loc, "it is a Keras model: write a .tflite of it with "
                              "tf.lite.TFLiteConverter.from_keras_model(model).convert()");
        else
            ti_note(ctx, loc, "unpack it first if it has a model in it%s%s",
                    a->n_member ? "; it begins with " : "", a->n_member ? a->member[0].name : "");
        return status;
    }
    const char *prefix = ti_text_format(&reader->work, "%smodels/", reader->root);
    size_t found = 0;
    for (size_t i = 0; i < a->n_member; i++) {
        const char *name = a->member[i].name, *stem = name + strlen(prefix);
        if (!ti_text_starts(name, prefix) || !ti_text_ends(name, ".json") || strchr(stem, '/'))
            continue;
        found++;
        if (!*program || ti_text_eq(stem, "model.json")) {
            *program = &a->member[i];
            reader->model =
                ti_text_copy(&reader->work, (tc_str){stem, strlen(stem) - strlen(".json")});
        }
    }
    if (!found)
        return ti_error(ctx, loc, TC_E_FORMAT, "the archive holds no program (%s*.json)", prefix);
    if (found > 1 && !ti_text_eq(reader->model, "model"))
        return ti_unsupported(ctx, loc, TC_E_UNSUPPORTED,
                              "the archive holds %zu programs, none of them named 'model'", found);
    return TC_OK;
}

/* A small member whose text must be one of those that we know; missing is fine. */
static tc_status check_word(tc_pt2 *reader, const char *name, const char *expected)
{
    tc_member *m = ti_archive_find(&reader->archive,
                                   ti_text_format(&reader->work, "%s%s", reader->root, name));
    tc_bytes word;
    if (!m)
        return TC_OK;
    TC_TRY(ti_archive_read(&reader->archive, m, &word));
    size_t n = word.size;
    while (n && (word.data[n - 1] == '\n' || word.data[n - 1] == ' '))
        n--;
    if (n == strlen(expected) && memcmp(word.data, expected, n) == 0)
        return TC_OK;
    return ti_unsupported(reader->ctx, ti_archive_loc(&reader->archive, m->name), TC_E_VERSION,
                          "'%.*s', expected '%s'", n > 40 ? 40 : (int)n, (const char *)word.data,
                          expected);
}

static tc_status parse_program(tc_pt2 *reader, tc_member *m)
{
    tc_bytes text;
    TC_TRY(ti_archive_read(&reader->archive, m, &text));
    const char *reason;
    size_t at;
    reader->program = ti_json_parse(&reader->work, text, &reason, &at);
    tc_loc *loc = ti_archive_loc(&reader->archive, m->name);
    if (!reader->program)
        return ti_error(reader->ctx, loc, TC_E_FORMAT, "byte %zu: %s", at, reason);
    const tc_json *version = ti_json_get(reader->program, "schema_version");
    int64_t major = -1, minor = 0;
    if (!ti_json_i64(ti_json_get(version, "major"), &major))
        return ti_error(reader->ctx, loc, TC_E_FORMAT,
                        "there is no schema version: this is not an exported program");
    ti_json_i64(ti_json_get(version, "minor"), &minor);
    if (major != SCHEMA_MAJOR) {
        tc_status status = ti_unsupported(reader->ctx, loc, TC_E_VERSION,
                                          "schema version %" PRId64 ".%" PRId64 ", expected %d.x",
                                          major, minor, (int)SCHEMA_MAJOR);
        ti_note(reader->ctx, loc, "torch 2.6 to 2.15 write schema %d", (int)SCHEMA_MAJOR);
        return status;
    }
    return TC_OK;
}

static void note_signature(tc_pt2 *reader, const tc_json *graph_module)
{
    tc_ctx *ctx = reader->ctx;
    tc_module *module = reader->module;
    const tc_json *first = ti_json_first(ti_json_get(graph_module, "module_call_graph"));
    const tc_json *signature = ti_json_get(first, "signature");
    tc_str in = ti_json_text(&ctx->arena, ti_json_get(signature, "in_spec"));
    tc_str out = ti_json_text(&ctx->arena, ti_json_get(signature, "out_spec"));
    module->signature.in_tree = in.p ? ti_text_copy(&ctx->arena, in) : NULL;
    module->signature.out_tree = out.p ? ti_text_copy(&ctx->arena, out) : NULL;
    tc_str version = ti_json_text(&ctx->arena, ti_json_get(reader->program, "torch_version"));
    module->origin.producer =
        ti_text_format(&ctx->arena, "torch %.*s", version.n > 64 ? 64 : (int)version.n,
                       version.p ? version.p : "");
}

tc_status ti_pt2_open(tc_pt2 *reader, tc_bytes bytes)
{
    tc_member *program;
    TC_TRY(
        ti_archive_open(reader->ctx, &reader->work, reader->file, NULL, bytes, &reader->archive));
    TC_TRY(find_program(reader, &program));
    TC_TRY(check_word(reader, "archive_version", "0"));
    TC_TRY(check_word(reader, "byteorder", "little"));
    return parse_program(reader, program);
}

static tc_status read_program(tc_pt2 *reader, tc_bytes bytes)
{
    TC_TRY(ti_pt2_open(reader, bytes));
    const tc_json *graph_module = ti_json_get(reader->program, "graph_module");
    const tc_json *graph = ti_json_get(graph_module, "graph"),
                  *signature = ti_json_get(graph_module, "signature");
    ti_map_init(&reader->full_name, &reader->work);
    ti_pt2_add_rows(reader);
    TC_TRY(ti_pt2_open_weights(reader));
    note_signature(reader, graph_module);
    ti_pt2_find_dims(reader);
    TC_TRY(ti_pt2_settle_dims(reader));
    tc_pt2_scope scope;
    ti_pt2_scope_init(&scope, reader, ti_graph_new(reader->module, "main"), NULL, graph);
    tc_status status = ti_pt2_bind_inputs(&scope, graph, signature);
    status = ti_pt2_worse(status, ti_pt2_check_operators(reader, graph));
    if (status != TC_OK)
        return status;
    TC_TRY(ti_pt2_graph(&scope, graph));
    return ti_pt2_bind_outputs(&scope, graph, signature);
}

tc_status ti_read_pt2(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_module **out)
{
    tc_pt2 *reader = tc_new(&ctx->arena, tc_pt2);
    reader->ctx = ctx;
    reader->module = ti_module_new(ctx, file);
    reader->file = reader->module->file;
    reader->module->origin.bytes = bytes.size;
    ti_arena_init_like(&reader->work, &ctx->arena);
    reader->work.limit = ctx->arena.limit;
    ti_ctx_defer(ctx, ti_arena_end, &reader->work);
    tc_status status = read_program(reader, bytes);
    ti_arena_free(&reader->work);
    if (status == TC_OK)
        *out = reader->module;
    return status;
}
