/* SPDX-License-Identifier: Apache-2.0 */
/* inspect_vgf.c -- what a .vgf holds: the container, its signature, and the graphs' instructions;
 * asked for its code, those of the shaders too. */
#include "inspect.h"

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
    tc_buf *to;
    const char *path;
    size_t size;
    tc_vgf vgf;
    tc_survey survey;     /* of the graph, where it can be read */
    const char *problems; /* what its reader says, or NULL */
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

/* Each line of a module's text. */
static void each_text(view *v, const tc_vgf_module *m, void (*tell)(tc_json_out *, const char *),
                      tc_json_out *out)
{
    const char *p = (const char *)m->code.data, *end = p + m->code.size;
    while (p && p < end) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        stop = stop ? stop : end;
        tc_mark mark = ti_arena_mark(&v->ctx->scratch);
        tell(out, ti_text_copy(&v->ctx->scratch, (tc_str){p, (size_t)(stop - p)}));
        ti_arena_rewind(&v->ctx->scratch, mark);
        p = stop + 1;
    }
}

/* Each instruction of a module as a line. */
static void each_line(view *v, const tc_vgf_module *m, void (*tell)(tc_json_out *, const char *),
                      tc_json_out *out)
{
    tc_spv_reader words;
    tc_spv_instr instr;
    if (m->code_type != TC_VGF_SPIRV) {
        each_text(v, m, tell, out);
        return;
    }
    const tc_spv_names names = {ti_spv_glsl_set(m->code), ti_vgf_spelled};
    ti_spv_read(&words, m->code);
    while (ti_spv_next(&words, &instr)) {
        tc_mark mark = ti_arena_mark(&v->ctx->scratch);
        tc_buf line;
        ti_buf_init(&line, &v->ctx->scratch);
        ti_spv_print(&instr, &names, &line);
        tell(out, ti_buf_cstr(&line));
        ti_arena_rewind(&v->ctx->scratch, mark);
    }
    if (words.error)
        tell(out, words.error);
}

/* ---- a page ------------------------------------------------------------------------------------
 */

static void show_ports(view *v, bool in)
{
    const tc_vgf_slots *slots = in ? &v->vgf.in : &v->vgf.out;
    ti_buf_printf(v->to, "\n%s\n", in ? "inputs" : "outputs");
    for (size_t i = 0; i < slots->n; i++)
        ti_buf_printf(v->to, "  %-20s %-28s binding %" PRIu32 ", resource %" PRIu32 "\n",
                      port_name(v, in, i), port_type(v, in, i), slots->v[i].binding,
                      slots->v[i].resource);
}

static void show_segments(const view *v)
{
    ti_buf_printf(v->to, "\nsegments\n");
    for (size_t i = 0; i < v->vgf.n_segment; i++) {
        const tc_vgf_segment *s = &v->vgf.segment[i];
        ti_buf_printf(v->to, "  %s: %s of module %" PRIu32, s->name, WORD(kinds, s->type), s->module);
        if (s->type == TC_VGF_GRAPH)
            ti_buf_printf(v->to, ", %zu constants", s->n_constant);
        else
            ti_buf_printf(v->to, ", %" PRIu32 " x %" PRIu32 " x %" PRIu32 " groups", s->dispatch[0],
                          s->dispatch[1], s->dispatch[2]);
        for (size_t k = 0; k < s->n_push; k++)
            ti_buf_printf(v->to, ", push constants %" PRIu32 " to %" PRIu32, s->push[k].offset,
                          s->push[k].offset + s->push[k].size);
        for (size_t k = 0; k < s->n_set; k++) {
            ti_buf_printf(v->to, ", set %" PRIu32 " binds", s->set[k].index);
            for (size_t b = 0; b < s->set[k].slots.n; b++)
                ti_buf_printf(v->to, " %" PRIu32 ":%" PRIu32, s->set[k].slots.v[b].binding,
                              s->set[k].slots.v[b].resource);
        }
        ti_buf_printf(v->to, "\n");
    }
}

static void show_tables(view *v)
{
    ti_buf_printf(v->to, "\nresources\n");
    for (size_t i = 0; i < v->vgf.n_resource; i++) {
        const tc_vgf_resource *r = &v->vgf.resource[i];
        const char *descriptor = descriptor_name(v, r->descriptor);
        ti_buf_printf(v->to, "  %4zu  %-12s %s%s", i, WORD(categories, r->category),
                      format_name(v, r->format), dims(v, r));
        if (descriptor && r->descriptor != TC_VGF_TENSOR)
            ti_buf_printf(v->to, ", %s", descriptor);
        if (r->sampler)
            ti_buf_printf(v->to, ": %s and %s, %s and %s, border %s",
                          WORD(filters, r->sampler->min_filter), WORD(filters, r->sampler->mag_filter),
                          WORD(addresses, r->sampler->address_u),
                          WORD(addresses, r->sampler->address_v), WORD(borders, r->sampler->border));
        if (r->aliases)
            ti_buf_printf(v->to, ", alias group %" PRIu32, r->alias);
        ti_buf_printf(v->to, "\n");
    }
    ti_buf_printf(v->to, "\nconstants\n");
    for (size_t i = 0; i < v->vgf.n_constant; i++)
        ti_buf_printf(v->to, "  %4zu  resource %" PRIu32 ", %zu bytes%s\n", i,
                      v->vgf.constant[i].resource, v->vgf.constant[i].data.size,
                      v->vgf.constant[i].sparsity >= 0 ? ", sparse" : "");
}

static void print_line(tc_json_out *out, const char *line)
{
    ti_buf_printf(out->to, "  %s\n", line);
}

static void show_module(const view *v, size_t i)
{
    const tc_vgf_module *m = &v->vgf.module[i];
    ti_buf_printf(v->to, "\nmodule %zu, %s: %s in %s, entry point %s, %zu bytes\n", i, m->name,
                  WORD(kinds, m->type), WORD(languages, m->code_type), m->entry_point,
                  m->code.size);
}

static void show(view *v)
{
    ti_buf_printf(v->to, "%s: VGF %d.%d.%d, %zu bytes\n", v->path, v->vgf.version[0],
                  v->vgf.version[1], v->vgf.version[2], v->size);
    show_ports(v, true);
    show_ports(v, false);
    show_segments(v);
    show_tables(v);
    for (size_t i = 0; i < v->vgf.n_module; i++) {
        show_module(v, i);
        const tc_vgf_module *m = &v->vgf.module[i];
        if (m->type == TC_VGF_GRAPH)
            each_line(v, m, print_line, &(tc_json_out){.to = v->to});
    }
    ti_buf_printf(v->to, "\n%-12s %zu of %zu kinds\n", "operators", v->survey.n_node,
                  v->survey.n_op);
    for (size_t i = 0; i < v->survey.n_op; i++)
        ti_buf_printf(v->to, "  %6zu  %s\n", v->survey.op[i].count, v->survey.op[i].name);
    if (v->problems)
        ti_buf_printf(v->to, "\n"
                             "not supported\n"
                             "%s", v->problems);
}

/* ---- JSON --------------------------------------------------------------------------------------
 */

static void json_slots(tc_json_out *out, const char *name, const tc_vgf_slots *slots)
{
    ti_json_open(out, name, '[');
    for (size_t i = 0; i < slots->n; i++)
        tc_json_object(out, NULL, TC_J("binding", slots->v[i].binding),
                       TC_J("resource", slots->v[i].resource));
    ti_json_close(out, ']');
}

static void json_ports(view *v, tc_json_out *out, bool in)
{
    const tc_vgf_slots *slots = in ? &v->vgf.in : &v->vgf.out;
    ti_json_open(out, in ? "inputs" : "outputs", '[');
    for (size_t i = 0; i < slots->n; i++)
        tc_json_object(out, NULL, TC_J("name", port_name(v, in, i)),
                       TC_J("type", port_type(v, in, i)), TC_J("binding", slots->v[i].binding),
                       TC_J("resource", slots->v[i].resource));
    ti_json_close(out, ']');
}

static void json_tables(view *v, tc_json_out *out)
{
    ti_json_open(out, "resources", '[');
    for (size_t i = 0; i < v->vgf.n_resource; i++) {
        const tc_vgf_resource *r = &v->vgf.resource[i];
        ti_json_open(out, NULL, '{');
        tc_json_put(out, TC_J("category", WORD(categories, r->category)),
                    TC_J("format", format_name(v, r->format)),
                    TC_J("descriptor", descriptor_name(v, r->descriptor)));
        tc_json_list(out, "shape", r->n_dim, r->dim);
        tc_json_list(out, "strides", r->n_stride, r->stride);
        if (r->aliases)
            tc_json_put(out, TC_J("alias_group", r->alias));
        if (r->sampler)
            tc_json_object(out, "sampler", TC_J("min_filter", WORD(filters, r->sampler->min_filter)),
                           TC_J("mag_filter", WORD(filters, r->sampler->mag_filter)),
                           TC_J("address_u", WORD(addresses, r->sampler->address_u)),
                           TC_J("address_v", WORD(addresses, r->sampler->address_v)),
                           TC_J("border", WORD(borders, r->sampler->border)));
        ti_json_close(out, '}');
    }
    ti_json_close(out, ']');
    ti_json_open(out, "constants", '[');
    for (size_t i = 0; i < v->vgf.n_constant; i++)
        tc_json_object(out, NULL, TC_J("resource", v->vgf.constant[i].resource),
                       TC_J("bytes", v->vgf.constant[i].data.size),
                       TC_J("sparsity_dimension", v->vgf.constant[i].sparsity));
    ti_json_close(out, ']');
}

static void json_segments(const view *v, tc_json_out *out)
{
    ti_json_open(out, "segments", '[');
    for (size_t i = 0; i < v->vgf.n_segment; i++) {
        const tc_vgf_segment *s = &v->vgf.segment[i];
        ti_json_open(out, NULL, '{');
        tc_json_put(out, TC_J("name", s->name), TC_J("type", WORD(kinds, s->type)),
                    TC_J("module", s->module));
        ti_json_open(out, "sets", '[');
        for (size_t k = 0; k < s->n_set; k++)
            json_slots(out, NULL, &s->set[k].slots);
        ti_json_close(out, ']');
        ti_json_open(out, "set_numbers", '[');
        for (size_t k = 0; k < s->n_set; k++)
            ti_json_put_int(out, NULL, s->set[k].index);
        ti_json_close(out, ']');
        tc_json_list(out, "dispatch", TC_COUNT(s->dispatch), s->dispatch);
        ti_json_open(out, "push_constants", '[');
        for (size_t k = 0; k < s->n_push; k++)
            tc_json_object(out, NULL, TC_J("stages", s->push[k].stages),
                           TC_J("offset", s->push[k].offset), TC_J("size", s->push[k].size));
        ti_json_close(out, ']');
        json_slots(out, "inputs", &s->in);
        json_slots(out, "outputs", &s->out);
        tc_json_list(out, "constants", s->n_constant, s->constant);
        ti_json_close(out, '}');
    }
    ti_json_close(out, ']');
}

static void json_line(tc_json_out *out, const char *line)
{
    ti_json_put_text(out, NULL, line);
}

static void json_modules(view *v, tc_json_out *out)
{
    ti_json_open(out, "modules", '[');
    for (size_t i = 0; i < v->vgf.n_module; i++) {
        const tc_vgf_module *m = &v->vgf.module[i];
        ti_json_open(out, NULL, '{');
        tc_json_put(out, TC_J("name", m->name), TC_J("type", WORD(kinds, m->type)),
                    TC_J("entry_point", m->entry_point),
                    TC_J("language", WORD(languages, m->code_type)), TC_J("bytes", m->code.size));
        ti_json_open(out, "code", '[');
        each_line(v, m, json_line, out);
        ti_json_close(out, ']');
        ti_json_close(out, '}');
    }
    ti_json_close(out, ']');
}

static void json(view *v)
{
    tc_json_out out = {.to = v->to};
    ti_json_open(&out, NULL, '{');
    tc_json_put(&out, TC_J("file", v->path), TC_J("format", "VGF"),
                TC_J("version", ti_text_format(&v->ctx->arena, "%d.%d.%d", v->vgf.version[0],
                                               v->vgf.version[1], v->vgf.version[2])),
                TC_J("bytes", v->size));
    json_ports(v, &out, true);
    json_ports(v, &out, false);
    json_segments(v, &out);
    json_tables(v, &out);
    json_modules(v, &out);
    ti_json_open(&out, "operators", '{');
    for (size_t i = 0; i < v->survey.n_op; i++)
        ti_json_put_int(&out, v->survey.op[i].name, (int64_t)v->survey.op[i].count);
    ti_json_close(&out, '}');
    tc_json_put(&out, TC_J("supported", (bool)(v->problems == NULL)),
                TC_J("problems", v->problems));
    ti_json_close(&out, '}');
}

tc_status ti_inspect_vgf(tc_ctx *ctx, const char *path, tc_bytes bytes, bool as_json, tc_buf *to)
{
    view v = {.ctx = ctx, .to = to, .path = path, .size = bytes.size};
    tc_module *module = NULL;
    TC_TRY(ti_vgf_read(ctx, path, bytes, &v.vgf));
    v.problems = ti_inspect_problems(ctx, ti_read_vgf, path, bytes);
    if (!v.problems) {
        TC_TRY(ti_read_vgf(ctx, path, bytes, &module));
        ti_survey_module(module, &v.survey);
    }
    if (as_json)
        json(&v);
    else
        show(&v);
    return TC_OK;
}

tc_status ti_inspect_vgf_code(tc_ctx *ctx, const char *path, tc_bytes bytes, bool as_json,
                              tc_buf *to)
{
    view v = {.ctx = ctx, .to = to, .path = path, .size = bytes.size};
    TC_TRY(ti_vgf_read(ctx, path, bytes, &v.vgf));
    tc_json_out out = {.to = to};
    if (as_json) {
        ti_json_open(&out, NULL, '{');
        tc_json_put(&out, TC_J("file", path), TC_J("format", "VGF"));
        json_modules(&v, &out);
        ti_json_close(&out, '}');
        return TC_OK;
    }
    for (size_t i = 0; i < v.vgf.n_module; i++) {
        show_module(&v, i);
        each_line(&v, &v.vgf.module[i], print_line, &out);
    }
    return TC_OK;
}
