/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_shader_custom.c -- a shader as a CUSTOM operator of TOSA (target/vulkan_shader.h). */
#include "emit.h"

#include "../base/base64.h"
#include "../base/json_out.h"
#include "../target/vgf_schema.h"
#include "../target/vulkan_shader.h"
#include "../num/vk_format.h"

enum { SAMPLER_ROW = 2 + TC_VK_SAMPLER_FIELDS };

static const char *format_name(int64_t format)
{
    const char *tensor = ti_vgf_format_name((uint32_t)format);
    const tc_vk_format *pixel = ti_vk_format((uint32_t)format);
    return tensor ? tensor : pixel ? pixel->name : NULL;
}

/* NULL, or why not. */
static const char *put_sampler(tc_arena *arena, tc_json_out *out, const char *key,
                               const tc_attr_tosa_shader *a, int port)
{
    for (int k = 0; k + SAMPLER_ROW <= a->sampler.n; k += SAMPLER_ROW) {
        const int64_t *v = a->sampler.v + k;
        if (v[0] != a->set.v[port] || v[1] != a->binding.v[port])
            continue;
        ti_json_open(out, key, '{');
        for (int i = 0; i < TC_VK_SAMPLER_FIELDS; i++) {
            tc_vk_kind kind = tc_vk_sampler[i].kind;
            const char *word = ti_vk_word(kind, v[2 + i]);
            if (!word)
                return "a setting of a sampler has no name";
            ti_json_put_text(out, tc_vk_sampler[i].name,
                             ti_text_format(arena, "%s%s", tc_vk_prefix[kind], word));
        }
        ti_json_close(out, '}');
        return NULL;
    }
    return NULL;
}

static const char *put_port(tc_arena *arena, tc_json_out *out, const tc_attr_tosa_shader *a,
                            int port, const char *name)
{
    const char *format = format_name(a->format.v[port]),
               *descriptor = ti_vk_word(TC_VK_DESCRIPTOR, a->descriptor.v[port]);
    if (!format || !descriptor)
        return "the format or the kind of a binding has no name";
    tc_json_put(out,
                TC_J(ti_text_format(arena, "%s_vkformat", name),
                     ti_text_format(arena, "VK_FORMAT_%s", format)),
                TC_J(ti_text_format(arena, "%s_vkdescriptortype", name),
                     ti_text_format(arena, "%s%s", tc_vk_prefix[TC_VK_DESCRIPTOR], descriptor)),
                TC_J(ti_text_format(arena, "%s_binding", name), a->binding.v[port]),
                TC_J(ti_text_format(arena, "%s_descriptorset", name), a->set.v[port]));
    return put_sampler(arena, out, ti_text_format(arena, "%s_sampler", name), a, port);
}

const char *ti_emit_custom_shader(tc_ctx *ctx, const tc_node *node, tc_attr_tosa_custom *custom)
{
    tc_arena *arena = &ctx->arena;
    const tc_attr_tosa_shader *a = node->attr;
    if (a->language != TC_shader_code_spirv)
        return "its code is not SPIR-V, or not in the file";
    if (a->push_ranges.n || a->push.size)
        return "it has push constants, which no model converter takes from a CUSTOM operator";
    tc_buf text, code;
    ti_buf_init(&text, arena);
    ti_buf_init(&code, arena);
    ti_base64_write(a->code, &code);
    tc_json_out out = {.to = &text, .compact = true};
    ti_json_open(&out, NULL, '{');
    tc_json_put(&out, TC_J("entry_point", a->entry_point), TC_J("shader_language", "SPIR-V"),
                TC_J("shader_code", ti_buf_cstr(&code)));
    ti_json_open(&out, "workgroup_sizes", '[');
    for (int i = 0; i < a->dispatch.n; i++)
        ti_json_put_int(&out, NULL, a->dispatch.v[i]);
    ti_json_close(&out, ']');
    for (int i = 0; i < node->n_in + node->n_out; i++) {
        bool in = i < node->n_in;
        const char *why = put_port(arena, &out, a, i,
                                   ti_text_format(arena, "%s_%d", in ? "input" : "output",
                                                  in ? i : i - node->n_in));
        if (why)
            return why;
    }
    ti_json_close(&out, '}');
    *custom = (tc_attr_tosa_custom){.operator_name = a->name ? a->name : "shader",
                                    .domain_name = TC_VULKAN_SHADER,
                                    .implementation_attrs = {text.data, text.size}};
    return NULL;
}
