/* SPDX-License-Identifier: Apache-2.0 */
/* pixel.h -- pixels of Vulkan's formats, as components and as bytes. */
#ifndef TC_PIXEL_H
#define TC_PIXEL_H

#include "type.h"
#include "vk_format.h"

/* Red, green, blue, alpha: of formats of integers `whole`, of others `real`. */
typedef struct tc_pixel {
    float real[4];
    int64_t whole[4];
} tc_pixel;

static inline size_t ti_pixel_bytes(const tc_vk_format *f)
{
    return (size_t)ti_vk_elements(f) * ti_vk_element_bits(f) / 8;
}

/* Components that a format lacks are 0, 0, 1. */
tc_pixel ti_pixel_get(const tc_vk_format *f, const uint8_t *at);
/* To the nearest code or float, ties to even, clamped to the format; NaN is 0 in a normalized one.
 * Integers keep their low bits. */
void ti_pixel_put(const tc_vk_format *f, const tc_pixel *p, uint8_t *at);

/* The type of an image of the format: [1, height, width, components] of its codes, with their
 * scale. */
const tc_type *ti_pixel_type(tc_ctx *ctx, const tc_vk_format *f, int64_t height, int64_t width);

#endif
