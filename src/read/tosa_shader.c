/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_shader.c -- see tosa_shader.h. */
#include "tosa_shader.h"

#include "../base/base64.h"
#include "../target/vgf_schema.h"
#include "../target/vulkan_shader.h"
#include "../wire/json.h"
#include "../num/vk_format.h"

enum { SAMPLER_ROW = 2 + TC_VK_SAMPLER_FIELDS, MOST_PORTS = 64, LAST_PIXEL_FORMAT = 130 };
static const char format_prefix[] = "VK_FORMAT_";

typedef struct parser {
    tc_arena *arena;
    const tc_json *top;
    int n_in;
    tc_attr_tosa_shader *a;
    const char *why;
} parser;

static void fail(parser *p, const char *key)
{
    if (!p->why)
        p->why = ti_text_format(p->arena, "'%s' is missing or not known", key);
}

static const char *key_of(const parser *p, int port, const char *word)
{
    bool in = port < p->n_in;
    return ti_text_format(p->arena, "%s_%d_%s", in ? "input" : "output", in ? port : port - p->n_in,
                          word);
}

static tc_str text_at(parser *p, const char *key)
{
    return ti_json_text(p->arena, ti_json_get(p->top, key));
}

/* Where nothing is said: 0. */
static int64_t number_at(parser *p, const char *key)
{
    int64_t v = 0;
    const tc_json *json = ti_json_get(p->top, key);
    if (json && (!ti_json_i64(json, &v) || v < 0 || v > UINT32_MAX))
        fail(p, key);
    return v;
}

/* Formats of tensors, then of pixels; i64 is not one of the former. */
static int64_t format_of(tc_str word)
{
    size_t n = strlen(format_prefix);
    if (word.n < n || memcmp(word.p, format_prefix, n) != 0)
        return -1;
    tc_str name = {word.p + n, word.n - n};
    for (tc_dtype t = 0; t < TC_DTYPE_COUNT; t++)
        for (int is_unsigned = 0; is_unsigned < 2; is_unsigned++) {
            uint32_t format = ti_vgf_format(t, is_unsigned);
            const char *known = format ? ti_vgf_format_name(format) : NULL;
            if (known && ti_str_is(name, known))
                return format;
        }
    for (uint32_t format = 0; format < LAST_PIXEL_FORMAT; format++)
        if (ti_vk_format(format) && ti_str_is(name, ti_vk_format(format)->name))
            return format;
    return -1;
}

static void read_sampler(parser *p, int port, int64_t *row, int32_t *n)
{
    const char *key = key_of(p, port, "sampler");
    const tc_json *sampler = ti_json_get(p->top, key);
    if (!sampler)
        return;
    row[(*n)++] = p->a->set.v[port];
    row[(*n)++] = p->a->binding.v[port];
    for (int i = 0; i < TC_VK_SAMPLER_FIELDS; i++) {
        const tc_json *field = ti_json_get(sampler, tc_vk_sampler[i].name);
        int64_t v = field ? ti_vk_number(tc_vk_sampler[i].kind, ti_json_text(p->arena, field)) : 0;
        if (v < 0)
            fail(p, key);
        row[(*n)++] = v;
    }
}

static void read_ports(parser *p, int n)
{
    int64_t *v[4], *row = tc_new_n(p->arena, int64_t, (size_t)(SAMPLER_ROW * n + 1));
    tc_attr_tosa_shader *a = p->a;
    for (int k = 0; k < 4; k++)
        v[k] = tc_new_n(p->arena, int64_t, (size_t)n + 1);
    a->set = (tc_ints){n, v[0]};
    a->binding = (tc_ints){n, v[1]};
    a->descriptor = (tc_ints){n, v[2]};
    a->format = (tc_ints){n, v[3]};
    a->sampler = (tc_ints){0, row};
    for (int i = 0; i < n; i++) {
        const char *descriptor = key_of(p, i, "vkdescriptortype");
        const char *format = key_of(p, i, "vkformat");
        tc_str kind = text_at(p, descriptor);
        if (!kind.p)
            kind = ti_str_of("VK_DESCRIPTOR_TYPE_TENSOR_ARM");
        v[0][i] = number_at(p, key_of(p, i, "descriptorset"));
        v[1][i] = number_at(p, key_of(p, i, "binding"));
        v[2][i] = ti_vk_number(TC_VK_DESCRIPTOR, kind);
        v[3][i] = format_of(text_at(p, format));
        if (v[2][i] < 0)
            fail(p, descriptor);
        if (v[3][i] < 0)
            fail(p, format);
        read_sampler(p, i, row, &a->sampler.n);
    }
}

static void read_dispatch(parser *p)
{
    int64_t *groups = tc_new_n(p->arena, int64_t, 3);
    const tc_json *list = ti_json_get(p->top, "workgroup_sizes"), *item = ti_json_first(list);
    p->a->dispatch = (tc_ints){3, groups};
    for (int i = 0; i < 3; i++, item = item ? item->next : NULL)
        if (!ti_json_i64(item, &groups[i]) || groups[i] < 0 || groups[i] > UINT32_MAX)
            fail(p, "workgroup_sizes");
}

static void read_code(tc_ctx *ctx, parser *p)
{
    tc_str entry = text_at(p, "entry_point"), language = text_at(p, "shader_language"),
           code = text_at(p, "shader_code");
    p->a->entry_point = ti_intern(ctx, entry.p ? entry : ti_str_of("main"));
    p->a->language = ti_str_is(language, "SPIR-V") ? TC_shader_code_spirv : TC_shader_code_none;
    p->a->code = ti_base64_read(p->arena, code);
    if (p->a->language != TC_shader_code_spirv)
        fail(p, "shader_language");
    if (!code.n || !p->a->code.data)
        fail(p, "shader_code");
}

const char *ti_read_custom_shader(tc_ctx *ctx, const tc_attr_tosa_custom *custom, int n_in,
                                  int n_out, tc_attr_tosa_shader **out)
{
    parser p = {.arena = &ctx->arena, .n_in = n_in};
    size_t at;
    *out = NULL;
    if (!custom->domain_name || !ti_text_eq(custom->domain_name, TC_VULKAN_SHADER))
        return NULL;
    if (n_in + n_out > MOST_PORTS)
        return "it has too many operands";
    p.top = ti_json_parse(p.arena, custom->implementation_attrs, &p.why, &at);
    if (!ti_json_is(p.top, TC_JSON_OBJECT))
        return p.why ? p.why : "its attributes are no JSON object";
    p.a = tc_new(p.arena, tc_attr_tosa_shader);
    p.a->name = custom->operator_name;
    read_dispatch(&p);
    read_code(ctx, &p);
    read_ports(&p, n_in + n_out);
    *out = p.why ? NULL : p.a;
    return p.why;
}
