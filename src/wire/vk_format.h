/* SPDX-License-Identifier: Apache-2.0 */
/* vk_format.h -- Vulkan's formats of image pixels: VkFormat's numbers, and what they mean. */
#ifndef TC_VK_FORMAT_H
#define TC_VK_FORMAT_H

#include "../base/base.h"

/* How a component's bits are a number: codes over their largest, from 0 or -1 to 1; integers; floats. */
typedef enum tc_vk_number {
    TC_VK_UNORM,
    TC_VK_SNORM,
    TC_VK_UINT,
    TC_VK_SINT,
    TC_VK_SFLOAT
} tc_vk_number;

typedef struct tc_vk_format {
    uint32_t format;
    const char *name;
    uint8_t n, bits; /* components, and the width of each */
    tc_vk_number number;
} tc_vk_format;

/* NULL: not one of those of one, two or four equal components. */
const tc_vk_format *ti_vk_format(uint32_t format);

#endif
