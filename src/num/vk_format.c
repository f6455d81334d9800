/* SPDX-License-Identifier: Apache-2.0 */
/* vk_format.c -- the table of vk_format.h. */
#include "vk_format.h"

#include <ctype.h>
#include <string.h>

/* VkFormat, its name, components and their bits, what they mean, SPIR-V's code, their layout. */
static const tc_vk_format formats[] = {
    {9, "R8_UNORM", 1, 8, TC_VK_UNORM, 15, TC_VK_APART},
    {10, "R8_SNORM", 1, 8, TC_VK_SNORM, 20, TC_VK_APART},
    {13, "R8_UINT", 1, 8, TC_VK_UINT, 39, TC_VK_APART},
    {14, "R8_SINT", 1, 8, TC_VK_SINT, 29, TC_VK_APART},
    {16, "R8G8_UNORM", 2, 8, TC_VK_UNORM, 13, TC_VK_APART},
    {17, "R8G8_SNORM", 2, 8, TC_VK_SNORM, 18, TC_VK_APART},
    {20, "R8G8_UINT", 2, 8, TC_VK_UINT, 37, TC_VK_APART},
    {21, "R8G8_SINT", 2, 8, TC_VK_SINT, 27, TC_VK_APART},
    {37, "R8G8B8A8_UNORM", 4, 8, TC_VK_UNORM, 4, TC_VK_APART},
    {38, "R8G8B8A8_SNORM", 4, 8, TC_VK_SNORM, 5, TC_VK_APART},
    {41, "R8G8B8A8_UINT", 4, 8, TC_VK_UINT, 32, TC_VK_APART},
    {42, "R8G8B8A8_SINT", 4, 8, TC_VK_SINT, 23, TC_VK_APART},
    {44, "B8G8R8A8_UNORM", 4, 8, TC_VK_UNORM, 0, TC_VK_BGRA},
    {64, "A2B10G10R10_UNORM_PACK32", 4, 10, TC_VK_UNORM, 11, TC_VK_A2B10G10R10},
    {70, "R16_UNORM", 1, 16, TC_VK_UNORM, 14, TC_VK_APART},
    {71, "R16_SNORM", 1, 16, TC_VK_SNORM, 19, TC_VK_APART},
    {74, "R16_UINT", 1, 16, TC_VK_UINT, 38, TC_VK_APART},
    {75, "R16_SINT", 1, 16, TC_VK_SINT, 28, TC_VK_APART},
    {76, "R16_SFLOAT", 1, 16, TC_VK_SFLOAT, 9, TC_VK_APART},
    {77, "R16G16_UNORM", 2, 16, TC_VK_UNORM, 12, TC_VK_APART},
    {78, "R16G16_SNORM", 2, 16, TC_VK_SNORM, 17, TC_VK_APART},
    {81, "R16G16_UINT", 2, 16, TC_VK_UINT, 36, TC_VK_APART},
    {82, "R16G16_SINT", 2, 16, TC_VK_SINT, 26, TC_VK_APART},
    {83, "R16G16_SFLOAT", 2, 16, TC_VK_SFLOAT, 7, TC_VK_APART},
    {91, "R16G16B16A16_UNORM", 4, 16, TC_VK_UNORM, 10, TC_VK_APART},
    {92, "R16G16B16A16_SNORM", 4, 16, TC_VK_SNORM, 16, TC_VK_APART},
    {95, "R16G16B16A16_UINT", 4, 16, TC_VK_UINT, 31, TC_VK_APART},
    {96, "R16G16B16A16_SINT", 4, 16, TC_VK_SINT, 22, TC_VK_APART},
    {97, "R16G16B16A16_SFLOAT", 4, 16, TC_VK_SFLOAT, 2, TC_VK_APART},
    {98, "R32_UINT", 1, 32, TC_VK_UINT, 33, TC_VK_APART},
    {99, "R32_SINT", 1, 32, TC_VK_SINT, 24, TC_VK_APART},
    {100, "R32_SFLOAT", 1, 32, TC_VK_SFLOAT, 3, TC_VK_APART},
    {101, "R32G32_UINT", 2, 32, TC_VK_UINT, 35, TC_VK_APART},
    {102, "R32G32_SINT", 2, 32, TC_VK_SINT, 25, TC_VK_APART},
    {103, "R32G32_SFLOAT", 2, 32, TC_VK_SFLOAT, 6, TC_VK_APART},
    {107, "R32G32B32A32_UINT", 4, 32, TC_VK_UINT, 30, TC_VK_APART},
    {108, "R32G32B32A32_SINT", 4, 32, TC_VK_SINT, 21, TC_VK_APART},
    {109, "R32G32B32A32_SFLOAT", 4, 32, TC_VK_SFLOAT, 1, TC_VK_APART},
    {122, "B10G11R11_UFLOAT_PACK32", 3, 11, TC_VK_SFLOAT, 8, TC_VK_B10G11R11},
};

const tc_vk_format *ti_vk_format(uint32_t format)
{
    for (size_t i = 0; i < TC_COUNT(formats); i++)
        if (formats[i].format == format)
            return &formats[i];
    return NULL;
}

const tc_vk_format *ti_vk_format_at(size_t i)
{
    return i < TC_COUNT(formats) ? &formats[i] : NULL;
}

const tc_vk_format *ti_vk_format_named(const char *name)
{
    for (size_t i = 0; i < TC_COUNT(formats); i++) {
        const char *a = formats[i].name, *b = name;
        while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b))
            a++, b++;
        if (!*a && !*b)
            return &formats[i];
    }
    return NULL;
}
