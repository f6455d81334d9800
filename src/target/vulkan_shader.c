/* SPDX-License-Identifier: Apache-2.0 */
/* vulkan_shader.c -- the words of vulkan_shader.h. */
#include "vulkan_shader.h"

const char *const tc_vk_prefix[TC_VK_KINDS] = {[TC_VK_DESCRIPTOR] = "VK_DESCRIPTOR_TYPE_",
                                               [TC_VK_FILTER] = "VK_FILTER_",
                                               [TC_VK_ADDRESS] = "VK_SAMPLER_ADDRESS_MODE_",
                                               [TC_VK_BORDER] = "VK_BORDER_COLOR_"};

const struct tc_vk_sampler_field tc_vk_sampler[TC_VK_SAMPLER_FIELDS] = {
    {"min_filter", TC_VK_FILTER},      {"mag_filter", TC_VK_FILTER},
    {"address_mode_u", TC_VK_ADDRESS}, {"address_mode_v", TC_VK_ADDRESS},
    {"border_color", TC_VK_BORDER},
};

static const struct {
    tc_vk_kind kind;
    int64_t number;
    const char *word;
} words[] = {
#define VK_WORD(of, number, word) {TC_VK_##of, number, word},
#include "vulkan_shader.def"
};

const char *ti_vk_word(tc_vk_kind kind, int64_t number)
{
    for (size_t i = 0; i < TC_COUNT(words); i++)
        if (words[i].kind == kind && words[i].number == number)
            return words[i].word;
    return NULL;
}

int64_t ti_vk_number(tc_vk_kind kind, tc_str word)
{
    size_t n = strlen(tc_vk_prefix[kind]);
    if (word.n < n || memcmp(word.p, tc_vk_prefix[kind], n) != 0)
        return -1;
    for (size_t i = 0; i < TC_COUNT(words); i++)
        if (words[i].kind == kind && ti_str_is((tc_str){word.p + n, word.n - n}, words[i].word))
            return words[i].number;
    return -1;
}
