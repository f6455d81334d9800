/* SPDX-License-Identifier: Apache-2.0 */
/* inspect_vgf.c -- what a .vgf holds: the container, its signature, and the graphs' instructions;
 * on request those of the shaders too. */
#include "inspect.h"

#include "../drive/made_by.h"

#include "../read/read.h"
#include "../read/survey.h"
#include "../target/vgf_schema.h"
#include "../wire/spirv.h"
#include "../wire/vgf.h"
#include "../num/vk_format.h"
#include "../base/json_out.h"

static const char *const categories[] = {"input", "output", "intermediate", "constant"};
static const char *const kinds[] = {"compute", "graph"};
static const char *const languages[] = {"none", "SPIR-V", "GLSL", "HLSL"};

static const char *const filters[] = {"nearest", "linear"};
static const char *const addresses[] = {"repeat", "mirrored repeat", "clamp to edge",
                                        "clamp to border", "mirror, clamp to edge"};
static const char *const borders[] = {"transparent black", "transparent black", "opaque black",
                                      "opaque black",      "opaque white",      "opaque white"};
static const struct {
    uint32_t number;
    const char *name;
} descriptors[] = {{TC_VGF_SAMPLER, "sampler"},
                   {TC_VGF_IMAGE_SAMPLER, "image with sampler"},
                   {TC_VGF_SAMPLED_IMAGE, "sampled image"},
                   {TC_VGF_STORAGE_IMAGE, "storage image"},
                   {TC_VGF_UNIFORM_BUFFER, "uniform buffer"},
                   {TC_VGF_STORAGE_BUFFER, "storage buffer"},
                   {TC_VGF_TENSOR, "tensor"}};

#define WORD(list, i) ((i) < TC_COUNT(list) ? (list)[i] : "unknown")

typedef struct {
    tc_ctx *ctx;
    const char *path;
    size_t size;
    const char *made_by;  /* or NULL */
    tc_vgf vgf;
    tc_survey survey;     /* of the graph, where it can be read */
    const char *problems; /* what its reader reports, or NULL */
} view;

static const char *format_name(view *v, uint32_t format)
{
    const char *name = ti_vgf_format_name(format);
    const tc_vk_format *pixel = ti_vk_format(format);
    name = name || !pixel ? name : pixel->name;
    return name ? name : ti_text_format(&v->ctx->arena, "format %" PRIu32, format);
}

/* NULL: none, as constants have it. */
static const char *descriptor_name(view *v, uint32_t number)
{
    for (size_t i = 0; i < TC_COUNT(descriptors); i++)
        if (descriptors[i].number == number)
            return descriptors[i].name;
    return number == TC_VGF_NO_DESCRIPTOR
               ? NULL
               : ti_text_format(&v->ctx->arena, "descriptor %" PRIu32, number);
}

static const char *dims(view *v, const tc_vgf_resource *r)
{
    tc_buf text;
    ti_buf_init(&text, &v->ctx->arena);
    for (size_t i = 0; i < r->n_dim; i++)
        ti_buf_printf(&text, "%s%" PRId64, i ? "," : "", r->dim[i]);
    return ti_text_format(&v->ctx->arena, "[%s]", ti_buf_cstr(&text));
}

/* The type of input or output i: with its quantization where the graph was read. */
static const char *port_type(view *v, bool in, size_t i)
{
    const tc_vgf_slots *slots = in ? &v->vgf.in : &v->vgf.out;
    const tc_survey_port *port = in ? v->survey.in : v->survey.out;
    if (!v->problems && (in ? v->survey.n_in : v->survey.n_out) == slots->n)
        return port[i].type;
    const tc_vgf_resource *r = &v->vgf.resource[slots->v[i].resource];
    return ti_text_format(&v->ctx->arena, "%s%s", format_name(v, r->format), dims(v, r));
}

static const char *port_name(const view *v, bool in, size_t i)
{
    size_t n = in ? v->vgf.n_in_name : v->vgf.n_out_name;
    return i < n ? (in ? v->vgf.in_name : v->vgf.out_name)[i] : "-";
}

/* ---- records ---- */

static void put_line(tc_json_out *out, const char *line)
{
    tc_show(out, "  {}\n", TC_J("", line));
}

/* Each line of a module's text. */
static void put_text(tc_json_out *out, view *v, const tc_vgf_module *m)
{
    const char *p = (const char *)m->code.data, *end = p + m->code.size;
    while (p && p < end) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        stop = stop ? stop : end;
        tc_mark mark = ti_arena_mark(&v->ctx->scratch);
        put_line(out, ti_text_copy(&v->ctx->scratch, (tc_str){p, (size_t)(stop - p)}));
        ti_arena_rewind(&v->ctx->scratch, mark);
        p = stop + 1;
    }
}

/* Each instruction of a module as a line. */
static void put_code(tc_json_out *out, view *v, const tc_vgf_module *m)
{
    tc_spv_reader words;
    tc_spv_instr instr;
    if (m->code_type != TC_VGF_SPIRV) {
        put_text(out, v, m);
        return;
    }
    const tc_spv_names names = {ti_spv_glsl_set(m->code), ti_vgf_spelled};
    ti_spv_read(&words, m->code);
    while (ti_spv_next(&words, &instr)) {
        tc_mark mark = ti_arena_mark(&v->ctx->scratch);
        tc_buf line;
        ti_buf_init(&line, &v->ctx->scratch);
        ti_spv_print(&instr, &names, &line);
        put_line(out, ti_buf_cstr(&line));
        ti_arena_rewind(&v->ctx->scratch, mark);
    }
    if (words.error)
        put_line(out, words.error);
}

static void put_ports(tc_json_out *out, view *v, bool in)
{
    const tc_vgf_slots *slots = in ? &v->vgf.in : &v->vgf.out;
    tc_say(out, "\n%s\n", in ? "inputs" : "outputs");
    ti_json_open(out, in ? "inputs" : "outputs", '[');
    for (size_t i = 0; i < slots->n; i++)
        tc_show_object(out, NULL,
                       "  {name:-20} {type:-28} binding {binding}, resource {resource}\n",
                       TC_J("name", port_name(v, in, i)), TC_J("type", port_type(v, in, i)),
                       TC_J("binding", slots->v[i].binding),
                       TC_J("resource", slots->v[i].resource));
    ti_json_close(out, ']');
}

static void put_sampler(tc_json_out *out, const tc_vgf_sampler *s)
{
    tc_show_object(out, "sampler",
                   ": {min_filter} and {mag_filter}, {address_u} and {address_v}, border {border}",
                   TC_J("min_filter", WORD(filters, s->min_filter)),
                   TC_J("mag_filter", WORD(filters, s->mag_filter)),
                   TC_J("address_u", WORD(addresses, s->address_u)),
                   TC_J("address_v", WORD(addresses, s->address_v)),
                   TC_J("border", WORD(borders, s->border)));
}

static void put_resource(tc_json_out *out, view *v, size_t i)
{
    const tc_vgf_resource *r = &v->vgf.resource[i];
    bool tensor = r->descriptor == TC_VGF_TENSOR;
    tc_say(out, "  %4zu", i);
    ti_json_open(out, NULL, '{');
    tc_show(out, "  {category:-12} {format}", TC_J("category", WORD(categories, r->category)),
            TC_J("format", format_name(v, r->format)));
    tc_say(out, "%s", dims(v, r));
    tc_show(out, tensor ? "" : "[, {descriptor}]",
            TC_J("descriptor", descriptor_name(v, r->descriptor)));
    tc_json_list(out, "shape", r->n_dim, r->dim);
    tc_json_list(out, "strides", r->n_stride, r->stride);
    if (r->sampler)
        put_sampler(out, r->sampler);
    if (r->aliases)
        tc_show(out, ", alias group {alias_group}", TC_J("alias_group", r->alias));
    ti_json_close(out, '}');
    tc_say(out, "\n");
}

static void put_tables(tc_json_out *out, view *v)
{
    tc_say(out, "\nresources\n");
    ti_json_open(out, "resources", '[');
    for (size_t i = 0; i < v->vgf.n_resource; i++)
        put_resource(out, v, i);
    ti_json_close(out, ']');
    tc_say(out, "\nconstants\n");
    ti_json_open(out, "constants", '[');
    for (size_t i = 0; i < v->vgf.n_constant; i++) {
        tc_say(out, "  %4zu", i);
        tc_show_object(out, NULL, "  resource {resource}, {bytes} bytes",
                       TC_J("resource", v->vgf.constant[i].resource),
                       TC_J("bytes", v->vgf.constant[i].data.size),
                       TC_J("sparsity_dimension", v->vgf.constant[i].sparsity));
        tc_say(out, "%s\n", v->vgf.constant[i].sparsity >= 0 ? ", sparse" : "");
    }
    ti_json_close(out, ']');
}

static void put_slots(tc_json_out *out, const char *name, const char *line,
                      const tc_vgf_slots *slots)
{
    ti_json_open(out, name, '[');
    for (size_t i = 0; i < slots->n; i++)
        tc_show_object(out, NULL, line, TC_J("binding", slots->v[i].binding),
                       TC_J("resource", slots->v[i].resource));
    ti_json_close(out, ']');
}

static void put_sets(tc_json_out *out, const tc_vgf_segment *s)
{
    ti_json_open(out, "sets", '[');
    for (size_t k = 0; k < s->n_set; k++) {
        tc_say(out, ", set %" PRIu32 " binds", s->set[k].index);
        put_slots(out, NULL, " {binding}:{resource}", &s->set[k].slots);
    }
    ti_json_close(out, ']');
    ti_json_open(out, "set_numbers", '[');
    for (size_t k = 0; k < s->n_set; k++)
        ti_json_put_int(out, NULL, s->set[k].index);
    ti_json_close(out, ']');
}

static void put_pushed(tc_json_out *out, const tc_vgf_segment *s)
{
    ti_json_open(out, "push_constants", '[');
    for (size_t k = 0; k < s->n_push; k++) {
        tc_say(out, ", push constants %" PRIu32 " to %" PRIu32, s->push[k].offset,
               s->push[k].offset + s->push[k].size);
        tc_json_object(out, NULL, TC_J("stages", s->push[k].stages),
                       TC_J("offset", s->push[k].offset), TC_J("size", s->push[k].size));
    }
    ti_json_close(out, ']');
}

static void put_segment(tc_json_out *out, const tc_vgf_segment *s)
{
    ti_json_open(out, NULL, '{');
    tc_show(out, "  {name}: {type} of module {module}", TC_J("name", s->name),
            TC_J("type", WORD(kinds, s->type)), TC_J("module", s->module));
    if (s->type == TC_VGF_GRAPH)
        tc_say(out, ", %zu constants", s->n_constant);
    else
        tc_say(out, ", %" PRIu32 " x %" PRIu32 " x %" PRIu32 " groups", s->dispatch[0],
               s->dispatch[1], s->dispatch[2]);
    tc_json_list(out, "dispatch", TC_COUNT(s->dispatch), s->dispatch);
    put_pushed(out, s);
    put_sets(out, s);
    put_slots(out, "inputs", "", &s->in);
    put_slots(out, "outputs", "", &s->out);
    tc_json_list(out, "constants", s->n_constant, s->constant);
    tc_say(out, "\n");
    ti_json_close(out, '}');
}

/* all: with the code of shaders, as JSON always has it. */
static void put_modules(tc_json_out *out, view *v, bool all)
{
    ti_json_open(out, "modules", '[');
    for (size_t i = 0; i < v->vgf.n_module; i++) {
        const tc_vgf_module *m = &v->vgf.module[i];
        tc_say(out, "\nmodule %zu, ", i);
        ti_json_open(out, NULL, '{');
        tc_show(out, "{name}: {type} in {language}, entry point {entry_point}, {bytes} bytes\n",
                TC_J("name", m->name), TC_J("type", WORD(kinds, m->type)),
                TC_J("entry_point", m->entry_point),
                TC_J("language", WORD(languages, m->code_type)),
                TC_J("bytes", m->code.size));
        ti_json_open(out, "code", '[');
        if (all || m->type == TC_VGF_GRAPH || !out->text)
            put_code(out, v, m);
        ti_json_close(out, ']');
        ti_json_close(out, '}');
    }
    ti_json_close(out, ']');
}

static void put_file(tc_json_out *out, view *v)
{
    const char *version = ti_text_format(&v->ctx->arena, "%d.%d.%d", v->vgf.version[0],
                                         v->vgf.version[1], v->vgf.version[2]);
    ti_json_open(out, NULL, '{');
    tc_show(out, "{file}: {format} {version}, {bytes} bytes\n", TC_J("file", v->path),
            TC_J("format", "VGF"), TC_J("version", version), TC_J("bytes", v->size));
    tc_show(out, "[made by      {made_by}\n]", TC_J("made_by", v->made_by));
    put_ports(out, v, true);
    put_ports(out, v, false);
    tc_say(out, "\nsegments\n");
    ti_json_open(out, "segments", '[');
    for (size_t i = 0; i < v->vgf.n_segment; i++)
        put_segment(out, &v->vgf.segment[i]);
    ti_json_close(out, ']');
    put_tables(out, v);
    put_modules(out, v, false);
    tc_say(out, "\n");
    ti_inspect_kinds(out, "operators", &v->survey);
    tc_show(out, "[\nnot supported\n{problems}]", TC_J("supported", (bool)(v->problems == NULL)),
            TC_J("problems", v->problems));
    ti_json_close(out, '}');
}

tc_status ti_inspect_vgf(tc_ctx *ctx, const char *path, tc_bytes bytes, bool as_json, tc_buf *to)
{
    view v = {.ctx = ctx, .path = path, .size = bytes.size, .made_by = ti_made_by_found(ctx, bytes)};
    tc_module *module = NULL;
    TC_TRY(ti_vgf_read(ctx, path, bytes, &v.vgf));
    v.problems = ti_inspect_problems(ctx, ti_read_vgf, path, bytes);
    if (!v.problems) {
        TC_TRY(ti_read_vgf(ctx, path, bytes, &module));
        ti_survey_module(module, &v.survey);
    }
    put_file(&(tc_json_out){.to = to, .text = !as_json}, &v);
    return TC_OK;
}

tc_status ti_inspect_vgf_code(tc_ctx *ctx, const char *path, tc_bytes bytes, bool as_json,
                              tc_buf *to)
{
    view v = {.ctx = ctx, .path = path, .size = bytes.size};
    TC_TRY(ti_vgf_read(ctx, path, bytes, &v.vgf));
    tc_json_out out = {.to = to, .text = !as_json};
    ti_json_open(&out, NULL, '{');
    tc_json_put(&out, TC_J("file", path), TC_J("format", "VGF"));
    put_modules(&out, &v, true);
    ti_json_close(&out, '}');
    return TC_OK;
}
