/* SPDX-License-Identifier: Apache-2.0 */
/* vk_format.c -- the table of vk_format.h. */
#include "vk_format.h"

static const tc_vk_format formats[] = {
    {9, "R8_UNORM", 1, 8, TC_VK_UNORM},
    {10, "R8_SNORM", 1, 8, TC_VK_SNORM},
    {13, "R8_UINT", 1, 8, TC_VK_UINT},
    {14, "R8_SINT", 1, 8, TC_VK_SINT},
    {16, "R8G8_UNORM", 2, 8, TC_VK_UNORM},
    {17, "R8G8_SNORM", 2, 8, TC_VK_SNORM},
    {20, "R8G8_UINT", 2, 8, TC_VK_UINT},
    {21, "R8G8_SINT", 2, 8, TC_VK_SINT},
    {37, "R8G8B8A8_UNORM", 4, 8, TC_VK_UNORM},
    {38, "R8G8B8A8_SNORM", 4, 8, TC_VK_SNORM},
    {41, "R8G8B8A8_UINT", 4, 8, TC_VK_UINT},
    {42, "R8G8B8A8_SINT", 4, 8, TC_VK_SINT},
    {70, "R16_UNORM", 1, 16, TC_VK_UNORM},
    {71, "R16_SNORM", 1, 16, TC_VK_SNORM},
    {74, "R16_UINT", 1, 16, TC_VK_UINT},
    {75, "R16_SINT", 1, 16, TC_VK_SINT},
    {76, "R16_SFLOAT", 1, 16, TC_VK_SFLOAT},
    {77, "R16G16_UNORM", 2, 16, TC_VK_UNORM},
    {78, "R16G16_SNORM", 2, 16, TC_VK_SNORM},
    {81, "R16G16_UINT", 2, 16, TC_VK_UINT},
    {82, "R16G16_SINT", 2, 16, TC_VK_SINT},
    {83, "R16G16_SFLOAT", 2, 16, TC_VK_SFLOAT},
    {91, "R16G16B16A16_UNORM", 4, 16, TC_VK_UNORM},
    {92, "R16G16B16A16_SNORM", 4, 16, TC_VK_SNORM},
    {95, "R16G16B16A16_UINT", 4, 16, TC_VK_UINT},
    {96, "R16G16B16A16_SINT", 4, 16, TC_VK_SINT},
    {97, "R16G16B16A16_SFLOAT", 4, 16, TC_VK_SFLOAT},
    {98, "R32_UINT", 1, 32, TC_VK_UINT},
    {99, "R32_SINT", 1, 32, TC_VK_SINT},
    {100, "R32_SFLOAT", 1, 32, TC_VK_SFLOAT},
    {101, "R32G32_UINT", 2, 32, TC_VK_UINT},
    {102, "R32G32_SINT", 2, 32, TC_VK_SINT},
    {103, "R32G32_SFLOAT", 2, 32, TC_VK_SFLOAT},
    {107, "R32G32B32A32_UINT", 4, 32, TC_VK_UINT},
    {108, "R32G32B32A32_SINT", 4, 32, TC_VK_SINT},
    {109, "R32G32B32A32_SFLOAT", 4, 32, TC_VK_SFLOAT},
};

const tc_vk_format *ti_vk_format(uint32_t format)
{
    for (size_t i = 0; i < TC_COUNT(formats); i++)
        if (formats[i].format == format)
            return &formats[i];
    return NULL;
}
