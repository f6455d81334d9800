/* SPDX-License-Identifier: Apache-2.0 */
/* vk_format.h -- Vulkan's formats of image pixels: VkFormat's values, and their meaning. */
#ifndef TC_VK_FORMAT_H
#define TC_VK_FORMAT_H

#include "../base/base.h"

/* How a component's bits encode a value: codes over their largest, from 0 or -1 to 1; integers;
 * floats. */
typedef enum tc_vk_number {
    TC_VK_UNORM,
    TC_VK_SNORM,
    TC_VK_UINT,
    TC_VK_SINT,
    TC_VK_SFLOAT
} tc_vk_number;

/* Layout of the components: separate, red first; separate, blue first; in one word of 32 bits, red
 * in the lowest: 10, 10, 10 and 2 bits, or floats without a sign of 11, 11 and 10. */
typedef enum tc_vk_order { TC_VK_APART, TC_VK_BGRA, TC_VK_A2B10G10R10, TC_VK_B10G11R11 } tc_vk_order;

typedef struct tc_vk_format {
    uint32_t format;
    const char *name;
    uint8_t n, bits; /* components, and the width of each; in one word: of red */
    tc_vk_number number;
    uint8_t spirv; /* what SPIR-V calls it; 0: nothing */
    tc_vk_order order;
} tc_vk_format;

/* NULL: not one of those. */
const tc_vk_format *ti_vk_format(uint32_t format);
/* By Vulkan's name, in small or capital letters. */
const tc_vk_format *ti_vk_format_named(const char *name);
/* All of them, by index; NULL past the last. */
const tc_vk_format *ti_vk_format_at(size_t i);

/* Layout of a pixel in memory: elements and their bits. */
static inline unsigned ti_vk_elements(const tc_vk_format *f)
{
    return f->order >= TC_VK_A2B10G10R10 ? 1 : f->n;
}
static inline unsigned ti_vk_element_bits(const tc_vk_format *f)
{
    return f->order >= TC_VK_A2B10G10R10 ? 32 : f->bits;
}

static inline bool ti_vk_is_whole(const tc_vk_format *f)
{
    return f->number == TC_VK_UINT || f->number == TC_VK_SINT;
}

/* The largest code of a normalized component: 1.0. */
static inline uint32_t ti_vk_most(const tc_vk_format *f)
{
    return UINT32_MAX >> (32 - (f->number == TC_VK_SNORM ? f->bits - 1u : f->bits));
}

#endif
