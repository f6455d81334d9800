/* SPDX-License-Identifier: Apache-2.0 */
/* vulkan_shader.h -- a CUSTOM operator of TOSA whose domain is com.arm.VulkanCustomShader: its
 * attributes are JSON with the code of a shader and how it is bound, shared by reader and emitter.
 *
 *   {"entry_point": "main", "shader_language": "SPIR-V", "shader_code": (base 64),
 *    "workgroup_sizes": [x, y, z], how many groups there are,
 *    "input_0_vkformat": "VK_FORMAT_R32_SFLOAT", "input_0_binding": 0, "input_0_descriptorset": 0,
 *    "input_0_vkdescriptortype": "VK_DESCRIPTOR_TYPE_TENSOR_ARM", .., "output_0_vkformat": ..}
 *
 * An image with a sampler has "input_0_sampler": {"min_filter": "VK_FILTER_LINEAR", ..}. */
#ifndef TC_VULKAN_SHADER_H
#define TC_VULKAN_SHADER_H

#include "../num/type.h"

#define TC_VULKAN_SHADER "com.arm.VulkanCustomShader"

typedef enum tc_vk_kind {
    TC_VK_DESCRIPTOR,
    TC_VK_FILTER,
    TC_VK_ADDRESS,
    TC_VK_BORDER,
    TC_VK_KINDS
} tc_vk_kind;

extern const char *const tc_vk_prefix[TC_VK_KINDS]; /* "VK_FILTER_" */

/* The word of a number without its prefix, or NULL; the number of a word with it, or -1. */
const char *ti_vk_word(tc_vk_kind kind, int64_t number);
int64_t ti_vk_number(tc_vk_kind kind, tc_str word);

/* The settings of a sampler, in the order in which its row has them after set and binding. */
enum { TC_VK_SAMPLER_FIELDS = 5 };
extern const struct tc_vk_sampler_field {
    const char *name;
    tc_vk_kind kind;
} tc_vk_sampler[TC_VK_SAMPLER_FIELDS];

#endif
