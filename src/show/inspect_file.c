/* SPDX-License-Identifier: Apache-2.0 */
/* inspect_file.c -- what a file holds, as a page for people or as JSON. */
#include "inspect.h"

#include "../drive/made_by.h"
#include "../num/load.h"
#include "../npu/program.h"
#include "../read/data.h"
#include "../read/read.h"
#include "../read/read_pte.h"
#include "../read/survey.h"
#include "../wire/file.h"
#include "../base/json_out.h"

#include <math.h>

/* ---- arrays ------------------------------------------------------------------------------------
 */

typedef struct range {
    double least, most, sum;
    int64_t n, n_nan;
} range;

/* Over the whole array, a piece at a time. */
static tc_status measure(tc_ctx *ctx, tc_npy *a, range *r)
{
    enum { PIECE = 4096 };
    double v[PIECE];
    tc_dtype dtype = ti_data_dtype(a);
    *r = (range){INFINITY, -INFINITY, 0, 0, 0};
    for (int64_t at = 0; dtype && at < a->count; at += PIECE) {
        int64_t n = ti_min_i64(PIECE, a->count - at);
        tc_mark mark = ti_arena_mark(&ctx->scratch);
        tc_tensor piece = ti_tensor_new(&ctx->scratch, ti_type_make(ctx, dtype, 1, &n));
        TC_TRY(ti_npy_read(ctx, a, at, n, piece.data));
        ti_read_f64(piece, 0, (size_t)n, v);
        ti_arena_rewind(&ctx->scratch, mark);
        for (int64_t i = 0; i < n; i++) {
            r->n_nan += v[i] != v[i];
            r->least = fmin(r->least, v[i]);
            r->most = fmax(r->most, v[i]);
            r->sum += v[i] == v[i] ? v[i] : 0;
        }
        r->n += n;
    }
    return TC_OK;
}

static void array_row(tc_buf *to, tc_ctx *ctx, const tc_npy *a, const range *r)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    const char *type = ti_text_format(&ctx->scratch, "%s%s", ti_npy_type_text(&ctx->scratch, a),
                                      ti_dims_text(&ctx->scratch, a->rank, a->dim));
    ti_buf_printf(to, "  %-20s %-28s", a->name, type);
    if (r->n > r->n_nan)
        ti_buf_printf(to, " min %.6g, max %.6g, mean %.6g", r->least, r->most,
                      r->sum / (double)(r->n - r->n_nan));
    if (r->n_nan)
        ti_buf_printf(to, ", %" PRId64 " NaN", r->n_nan);
    ti_buf_printf(to, "%s%s\n", a->fortran && a->rank > 1 ? ", first axis fastest" : "",
                  a->swapped ? ", big-endian" : "");
    ti_arena_rewind(&ctx->scratch, mark);
}

static void array_json(tc_ctx *ctx, tc_json_out *out, const tc_npy *a, const range *r)
{
    ti_json_open(out, NULL, '{');
    tc_json_put(out, TC_J("name", a->name), TC_J("dtype", ti_npy_type_text(&ctx->arena, a)));
    tc_json_list(out, "shape", a->rank, a->dim);
    tc_json_put(out, TC_J("fortran_order", a->fortran), TC_J("big_endian", a->swapped));
    if (r->n > r->n_nan)
        tc_json_put(out, TC_J("min", r->least), TC_J("max", r->most),
                    TC_J("mean", r->sum / (double)(r->n - r->n_nan)));
    ti_json_put_int(out, "nan", r->n_nan);
    ti_json_close(out, '}');
}

static tc_status inspect_arrays(tc_ctx *ctx, const char *path, tc_bytes bytes, bool json,
                                tc_buf *to)
{
    tc_npy *array;
    size_t n;
    range r;
    tc_json_out out = {.to = to};
    TC_TRY(ti_npy_parse(ctx, path, bytes, &array, &n));
    if (json) {
        ti_json_open(&out, NULL, '{');
        tc_json_put(&out, TC_J("file", path), TC_J("format", "NumPy arrays"),
                    TC_J("bytes", bytes.size));
        ti_json_open(&out, "arrays", '[');
    } else
        ti_buf_printf(to, "%s: NumPy arrays, %zu bytes\n", path, bytes.size);
    for (size_t i = 0; i < n; i++) {
        TC_TRY(measure(ctx, &array[i], &r));
        if (json)
            array_json(ctx, &out, &array[i], &r);
        else
            array_row(to, ctx, &array[i], &r);
    }
    if (json) {
        ti_json_close(&out, ']');
        ti_json_close(&out, '}');
    }
    return TC_OK;
}

/* ---- models ------------------------------------------------------------------------------------
 */

static void put_ports(tc_json_out *out, const char *name, const tc_survey_port *port, size_t n)
{
    int width = 8;
    for (size_t i = 0; i < n; i++)
        if (port[i].name && (int)strlen(port[i].name) > width)
            width = (int)strlen(port[i].name);
    tc_say(out, "\n%s\n", name);
    ti_json_open(out, name, '[');
    for (size_t i = 0; i < n; i++) {
        tc_say(out, "  %-*s", width, port[i].name ? port[i].name : "-");
        tc_show_object(out, NULL, "  {type}\n", TC_J("name", port[i].name),
                       TC_J("type", port[i].type));
    }
    ti_json_close(out, ']');
}

static void put_dim(tc_json_out *out, const tc_survey_dim *d)
{
    ti_json_open(out, NULL, '{');
    tc_show(out, "  {name:-8}  {min}", TC_J("name", d->name), TC_J("min", d->least));
    if (d->most < INT64_MAX)
        tc_show(out, " to {max}", TC_J("max", d->most));
    else
        tc_say(out, " or more");
    ti_json_put_text(out, "input", d->input);
    if (d->input)
        tc_show(out, ", axis {axis}", TC_J("axis", d->axis));
    if (d->input)
        tc_say(out, " of '%s'", d->input);
    tc_say(out, "\n");
    ti_json_close(out, '}');
}

static void put_held(tc_json_out *out, const char *name, const tc_survey_held *h)
{
    if (h->tensors)
        tc_say(out, "%-12s %" PRId64 " in %zu tensor%s, %" PRId64 " bytes\n", name, h->elements,
               h->tensors, h->tensors == 1 ? "" : "s", h->bytes);
    tc_json_object(out, name, TC_J("tensors", h->tensors), TC_J("elements", h->elements),
                   TC_J("bytes", h->bytes));
}

static void json_lines(tc_ctx *ctx, tc_json_out *out, const char *name, const char *text)
{
    ti_json_open(out, name, '[');
    for (const char *end; text && (end = strchr(text, '\n')); text = end + 1)
        ti_json_put_text(out, NULL,
                         ti_text_copy(&ctx->arena, (tc_str){text, (size_t)(end - text)}));
    ti_json_close(out, ']');
}

static void put_survey(tc_json_out *out, tc_ctx *ctx, const tc_survey *s, const char *path,
                       size_t size, const char *problems)
{
    ti_json_open(out, NULL, '{');
    tc_show(out, "{file}: {format}[ {version}][, by {producer}], {bytes} bytes\n",
            TC_J("file", path), TC_J("format", s->format), TC_J("version", s->version),
            TC_J("producer", s->producer), TC_J("bytes", size));
    tc_show(out, "[made by      {made_by}\n]", TC_J("made_by", s->made_by));
    put_ports(out, "inputs", s->in, s->n_in);
    put_ports(out, "outputs", s->out, s->n_out);
    if (s->n_dim)
        tc_say(out, "\n"
                    "dynamic sizes, for --dim NAME=VALUE\n");
    ti_json_open(out, "dims", '[');
    for (size_t i = 0; i < s->n_dim; i++)
        put_dim(out, &s->dim[i]);
    ti_json_close(out, ']');
    tc_say(out, "\n");
    put_held(out, "parameters", &s->parameters);
    put_held(out, "buffers", &s->buffers);
    put_held(out, "constants", &s->constants);
    ti_inspect_kinds(out, "operators", s);
    ti_json_put_bool(out, "supported", problems == NULL);
    json_lines(ctx, out, "problems", problems);
    ti_json_close(out, '}');
    if (problems)
        tc_say(out, "\n"
                    "not supported\n"
                    "%s",
               problems);
}

void ti_inspect_kinds(tc_json_out *out, const char *name, const tc_survey *s)
{
    tc_say(out, "%-12s %zu of %zu kinds\n", name, s->n_node, s->n_op);
    ti_json_open(out, name, '{');
    for (size_t i = 0; i < s->n_op; i++) {
        tc_say(out, "  %6zu  %s\n", s->op[i].count, s->op[i].name);
        ti_json_put_int(out, s->op[i].name, (int64_t)s->op[i].count);
    }
    ti_json_close(out, '}');
}

static void free_context(void *what)
{
    tc_ctx_free(*(tc_ctx **)what);
}

/* A second context, freed with this one and using the same memory. */
static tc_ctx *context_beside(tc_ctx *ctx)
{
    tc_ctx **other = tc_new(&ctx->arena, tc_ctx *);
    tc_ctx_options o = tc_ctx_options_default();
    o.allocator = ctx->allocator;
    o.memory_limit = ctx->arena.limit;
    ti_ctx_defer(ctx, free_context, other);
    *other = tc_ctx_new_with(&o);
    if (!*other)
        longjmp(*ctx->arena.oom, 1);
    (*other)->arena.oom = (*other)->scratch.oom = ctx->arena.oom;
    (*other)->may_map = ctx->may_map;
    const tc_read_options *said = ti_reading(ctx);
    *ti_reading(*other) = (tc_read_options){.example_dims = true,
                                            .dim = said->dim,
                                            .n_dim = said->n_dim,
                                            .cap_dim = said->n_dim,
                                            .shape = said->shape,
                                            .n_shape = said->n_shape,
                                            .cap_shape = said->n_shape};
    return *other;
}

const char *ti_inspect_problems(tc_ctx *ctx,
                                tc_status (*read)(tc_ctx *, const char *, tc_bytes, tc_module **),
                                const char *path, tc_bytes bytes)
{
    tc_ctx *other = context_beside(ctx);
    tc_module *module;
    return read(other, path, bytes, &module) == TC_OK ? NULL : ti_buf_cstr(&other->messages);
}

static bool has(tc_bytes bytes, size_t at, const char *magic)
{
    return bytes.size >= at + strlen(magic) && memcmp(bytes.data + at, magic, strlen(magic)) == 0;
}

static tc_status inspect_model(tc_ctx *ctx, const char *path, tc_bytes bytes, bool is_file,
                               bool json, tc_buf *to)
{
    tc_survey s = {0};
    const char *problems = NULL;
    if (has(bytes, 0, "PK")) {
        s.format = "PyTorch export";
        TC_TRY(ti_survey_pt2(ctx, path, bytes, &s));
        problems = ti_inspect_problems(ctx, ti_read_pt2, path, bytes);
    } else if (ti_tfl_looks_like(bytes)) {
        s.format = "TensorFlow Lite model";
        TC_TRY(ti_survey_tflite(ctx, path, bytes, &s));
        problems = ti_inspect_problems(ctx, ti_read_tflite, path, bytes);
    } else if (ti_onnx_looks_like(bytes)) {
        s.format = "ONNX model";
        TC_TRY(ti_survey_onnx(ctx, path, bytes, &s));
        problems = ti_inspect_problems(ctx, ti_read_onnx, path, bytes);
    } else {
        tc_module *module;
        s.format = has(bytes, 4, "TOSA") ? "TOSA flatbuffer" : "text graph";
        ti_reading(ctx)->keep_open = true;
        if (is_file)
            TC_TRY(ti_read(ctx, path, &module));
        else
            TC_TRY(ti_read_bytes(ctx, path, bytes, (tc_bytes){NULL, 0}, &module));
        ti_survey_module(module, &s);
    }
    if (!s.made_by)
        s.made_by = ti_made_by_found(ctx, bytes);
    put_survey(&(tc_json_out){.to = to, .text = !json}, ctx, &s, path, bytes.size, problems);
    return TC_OK;
}

/* C that we wrote: its first line says so. */
static const char *c_made_by(tc_ctx *ctx, tc_bytes bytes)
{
    const char *text = (const char *)bytes.data, *end = bytes.size > 3 ? memchr(text, '\n', bytes.size) : NULL;
    const char *line = end && has(bytes, 0, "/* ") ? ti_text_copy(&ctx->arena, (tc_str){text, (size_t)(end - text)}) : "",
               *made = strstr(line, " made by tosac ");
    if (!made)
        return NULL;
    size_t n = 0;
    for (made += strlen(" made by "); made[n] && !(made[n + 1] == ' ' && strchr(";:.", made[n])); n++)
        ;
    return ti_text_copy(&ctx->arena, (tc_str){made, n});
}

static tc_status inspect_c(const char *path, tc_bytes bytes, const char *made_by, bool json, tc_buf *to)
{
    tc_json_out out = {.to = to, .text = !json};
    ti_json_open(&out, NULL, '{');
    tc_show(&out, "{file}: {format}, {bytes} bytes\nmade by      {made_by}\n", TC_J("file", path),
            TC_J("format", "C source"), TC_J("bytes", bytes.size), TC_J("made_by", made_by));
    ti_json_close(&out, '}');
    return TC_OK;
}

static tc_status inspect(tc_ctx *ctx, const char *path, tc_bytes bytes, bool is_file, bool json,
                         tc_buf *to)
{
    if (ti_npu_looks_like_npz(bytes))
        return ti_inspect_payload(ctx, path, bytes, json, to);
    if (has(bytes, 0, "\x93NUMPY") || ti_text_ends(path, ".npz"))
        return inspect_arrays(ctx, path, bytes, json, to);
    if (has(bytes, 0, "VGF1"))
        return ti_inspect_vgf(ctx, path, bytes, json, to);
    if (ti_npu_looks_like_backend(bytes))
        return ti_inspect_payload(ctx, path, bytes, json, to);
    if (has(bytes, 4, "ET12") || ti_bundle_looks_like(bytes))
        return ti_inspect_pte(ctx, path, bytes, json, to);
    const char *made_by = c_made_by(ctx, bytes);
    if (made_by)
        return inspect_c(path, bytes, made_by, json, to);
    return inspect_model(ctx, path, bytes, is_file, json, to);
}

tc_status ti_show_file(tc_ctx *ctx, const char *path, tc_form form, const char **out)
{
    tc_bytes bytes;
    tc_buf to;
    path = ti_intern_text(ctx, path);
    ti_buf_init(&to, &ctx->arena);
    *out = NULL;
    TC_TRY(ti_file_read(ctx, path, &bytes));
    tc_status status = inspect(ctx, path, bytes, true, form == TC_FORM_JSON, &to);
    *out = ti_buf_cstr(&to);
    return status;
}

tc_status ti_show_streams(tc_ctx *ctx, const char *path, tc_form form, const char **out)
{
    tc_bytes bytes;
    tc_buf to;
    path = ti_intern_text(ctx, path);
    ti_buf_init(&to, &ctx->arena);
    *out = NULL;
    TC_TRY(ti_file_read(ctx, path, &bytes));
    tc_status status = has(bytes, 0, "VGF1")
                           ? ti_inspect_vgf_code(ctx, path, bytes, form == TC_FORM_JSON, &to)
                           : ti_inspect_streams(ctx, path, bytes, form == TC_FORM_JSON, &to);
    *out = ti_buf_cstr(&to);
    return status;
}

tc_status ti_show_bytes(tc_ctx *ctx, const char *name, tc_bytes bytes, tc_form form,
                               const char **out)
{
    tc_buf to;
    name = ti_intern_text(ctx, name);
    ti_buf_init(&to, &ctx->arena);
    tc_status status = inspect(ctx, name, bytes, false, form == TC_FORM_JSON, &to);
    *out = ti_buf_cstr(&to);
    return status;
}
