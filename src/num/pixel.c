/* SPDX-License-Identifier: Apache-2.0 */
/* pixel.c -- see pixel.h.
 *
 *   UNORM: code / (2^bits - 1);  SNORM: max(code / (2^(bits-1) - 1), -1): the two least codes are both
 *   -1;  floats of 11 and 10 bits: a half float's without its sign and its last 4 or 5 bits. */
#include "pixel.h"

#include <math.h>
#include <string.h>

#include "half.h"

static uint32_t raw(const uint8_t *at, unsigned bits)
{
    uint16_t half = 0;
    uint32_t word = 0;
    memcpy(&half, at, bits == 16 ? 2 : 0);
    memcpy(&word, at, bits == 32 ? 4 : 0);
    return bits == 8 ? *at : bits == 16 ? half : word;
}

static void put_raw(uint8_t *at, unsigned bits, uint32_t v)
{
    uint16_t half = (uint16_t)v;
    if (bits == 8)
        *at = (uint8_t)v;
    memcpy(at, &half, bits == 16 ? 2 : 0);
    memcpy(at, &v, bits == 32 ? 4 : 0);
}

static int64_t with_sign(uint32_t code, unsigned bits)
{
    int64_t half = INT64_C(1) << (bits - 1);
    return ((int64_t)code ^ half) - half;
}

/* ---- one component --------------------------------------------------------------------------- */

static float real_of(tc_vk_number number, uint32_t code, unsigned bits)
{
    if (number == TC_VK_SFLOAT)
        return bits == 32 ? ti_f32_of(code)
                          : ti_f16_to_f32((uint16_t)(code << (bits < 16 ? 15 - bits : 0)));
    if (number == TC_VK_UNORM)
        return (float)code / (float)(UINT32_MAX >> (32 - bits));
    float v = (float)with_sign(code, bits) / (float)(UINT32_MAX >> (33 - bits));
    return v < -1.0f ? -1.0f : v;
}

/* A float without a sign: as many bits of a half float as there are, to the nearest; below 0: 0; past
 * the largest: the largest. */
static uint32_t small_float(float v, unsigned bits)
{
    unsigned gone = 15 - bits, most = (0x7bffu >> gone);
    if (isnan(v))
        return (0x7e00u >> gone);
    if (v <= 0)
        return 0;
    if (isinf(v))
        return 0x7c00u >> gone;
    int e;
    frexpf(v, &e); /* v < 2^e */
    int step = (e < -13 ? -13 : e) - (int)(bits - 4);
    double code = nearbyint(ldexp((double)v, -step));
    uint16_t half = ti_f32_to_f16((float)ldexp(code, step));
    return half >= 0x7c00u ? most : (uint32_t)half >> gone;
}

static uint32_t code_of(tc_vk_number number, float v, unsigned bits)
{
    if (number == TC_VK_SFLOAT)
        return bits == 32 ? ti_f32_bits(v) : bits == 16 ? ti_f32_to_f16(v) : small_float(v, bits);
    float least = number == TC_VK_UNORM ? 0.0f : -1.0f;
    v = isnan(v) ? 0.0f : v < least ? least : v > 1.0f ? 1.0f : v;
    unsigned used = number == TC_VK_UNORM ? bits : bits - 1u;
    float most = (float)(UINT32_MAX >> (32 - used));
    return (uint32_t)(int64_t)rintf(v * most) & UINT32_MAX >> (32 - bits);
}

/* ---- pixels ---------------------------------------------------------------------------------- */

/* Formats of one word: where each component begins, and its bits. */
static const struct {
    uint8_t at[4], bits[4];
} words[] = {[TC_VK_A2B10G10R10] = {{0, 10, 20, 30}, {10, 10, 10, 2}},
             [TC_VK_B10G11R11] = {{0, 11, 22, 0}, {11, 11, 10, 0}}};

static unsigned place_of(const tc_vk_format *f, unsigned k)
{
    return f->order == TC_VK_BGRA && k < 3 ? 2 - k : k;
}

tc_pixel ti_pixel_get(const tc_vk_format *f, const uint8_t *at)
{
    tc_pixel p = {{0, 0, 0, 1}, {0, 0, 0, 1}};
    for (unsigned k = 0; k < f->n; k++) {
        bool packed = f->order >= TC_VK_A2B10G10R10;
        unsigned bits = packed ? words[f->order].bits[k] : f->bits;
        uint32_t code = packed ? raw(at, 32) >> words[f->order].at[k] & UINT32_MAX >> (32 - bits)
                               : raw(at + (size_t)place_of(f, k) * bits / 8, bits);
        if (!ti_vk_is_whole(f))
            p.real[k] = real_of(f->number, code, bits);
        else
            p.whole[k] = f->number == TC_VK_SINT ? with_sign(code, bits) : (int64_t)code;
    }
    return p;
}

void ti_pixel_put(const tc_vk_format *f, const tc_pixel *p, uint8_t *at)
{
    uint32_t word = 0;
    bool packed = f->order >= TC_VK_A2B10G10R10;
    for (unsigned k = 0; k < f->n; k++) {
        unsigned bits = packed ? words[f->order].bits[k] : f->bits;
        uint32_t code =
            ti_vk_is_whole(f) ? (uint32_t)p->whole[k] : code_of(f->number, p->real[k], bits);
        if (packed)
            word |= code << words[f->order].at[k];
        else
            put_raw(at + (size_t)place_of(f, k) * bits / 8, bits, code);
    }
    if (packed)
        put_raw(at, 32, word);
}

const tc_type *ti_pixel_type(tc_ctx *ctx, const tc_vk_format *f, int64_t height, int64_t width)
{
    static const tc_dtype plain[] = {TC_u8, TC_u16, TC_u32}, with_sign[] = {TC_i8, TC_i16, TC_i32};
    const int64_t dim[] = {1, height, width, ti_vk_elements(f)};
    unsigned bits = ti_vk_element_bits(f), k = bits == 8 ? 0 : bits == 16 ? 1 : 2;
    bool is_signed = f->number == TC_VK_SNORM || f->number == TC_VK_SINT;
    if (f->number == TC_VK_SFLOAT && f->order == TC_VK_APART)
        return ti_type_make(ctx, bits == 16 ? TC_f16 : TC_f32, 4, dim);
    const tc_type *t = ti_type_make(ctx, is_signed ? with_sign[k] : plain[k], 4, dim);
    if (ti_vk_is_whole(f) || f->order > TC_VK_BGRA)
        return t;
    double scale = 1.0 / ti_vk_most(f);
    int64_t zero = 0, most = ti_vk_most(f);
    tc_quant q = {.axis = -1,
                  .count = 1,
                  .lo = is_signed ? -most - 1 : 0,
                  .hi = most,
                  .scale = &scale,
                  .zero = &zero};
    return ti_type_with(ctx, t, &q);
}
