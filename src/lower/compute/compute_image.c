/* SPDX-License-Identifier: Apache-2.0 */
/* compute_image.c -- the builder's part for images: pixels that are read and written one by one.
 *
 * Images that are read have no format in the code (they are sampled images, which Vulkan reads in any
 * format); images that are written have theirs where SPIR-V has a name for it. */
#include "compute_build.h"

#include "../../target/vgf_schema.h"

/* What a format's components are in SPIR-V: f32, or integers with a sign or without. */
static uint32_t component_type(tc_cs *s, const tc_vk_format *f)
{
    if (!ti_vk_is_whole(f))
        return ti_cs_kind_type(s, TC_CS_F32);
    return UNIQUE(s, TC_SPV_TypeInt, 0, 32, f->number == TC_VK_SINT);
}

/* Whether it was not declared so far. */
static bool declare(tc_cs *s, tc_cs_port *p, uint32_t type)
{
    if (p->variable)
        return false;
    uint32_t pointer = UNIQUE(s, TC_SPV_TypePointer, 0, TC_SPV_UNIFORM_CONSTANT, type);
    p->variable = ti_spv_id(&s->w);
    TC_SPV_PUT(&s->w, TC_SPV_GLOBALS, TC_SPV_Variable, pointer, p->variable,
               TC_SPV_UNIFORM_CONSTANT);
    return true;
}

static uint32_t place_of_pixel(tc_cs *s, tc_cs_val x, tc_cs_val y)
{
    uint32_t i32 = UNIQUE(s, TC_SPV_TypeInt, 0, 32, 1),
             two = UNIQUE(s, TC_SPV_TypeVector, 0, i32, 2), u = ti_spv_id(&s->w),
             v = ti_spv_id(&s->w), at = ti_spv_id(&s->w);
    PUT(s, TC_SPV_Bitcast, i32, u, x.id);
    PUT(s, TC_SPV_Bitcast, i32, v, y.id);
    PUT(s, TC_SPV_CompositeConstruct, two, at, u, v);
    return at;
}

void ti_cs_fetch(tc_cs *s, int port, tc_cs_val x, tc_cs_val y, tc_cs_val out[4])
{
    enum { DIM_2D = 1, SAMPLED = 1, ANY_FORMAT = 0, LOD = 2 };
    tc_cs_port *p = &s->port[port];
    bool whole = ti_vk_is_whole(p->pixel);
    uint32_t of = component_type(s, p->pixel), four = UNIQUE(s, TC_SPV_TypeVector, 0, of, 4),
             image = UNIQUE(s, TC_SPV_TypeImage, 0, of, DIM_2D, 0, 0, 0, SAMPLED, ANY_FORMAT),
             type = UNIQUE(s, TC_SPV_TypeSampledImage, 0, image);
    declare(s, p, type);
    uint32_t from = ti_spv_id(&s->w), plain = ti_spv_id(&s->w), pixel = ti_spv_id(&s->w),
             at = place_of_pixel(s, x, y), level = ti_cs_word(s, 0);
    PUT(s, TC_SPV_Load, type, from, p->variable);
    PUT(s, TC_SPV_Image, image, plain, from);
    PUT(s, TC_SPV_ImageFetch, four, pixel, plain, at, LOD, level);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t id = ti_spv_id(&s->w);
        PUT(s, TC_SPV_CompositeExtract, of, id, pixel, i);
        out[i] = (tc_cs_val){id, whole ? TC_CS_I32 : TC_CS_F32};
        if (p->pixel->number == TC_VK_SINT)
            out[i] = ti_cs_one(s, TC_SPV_Bitcast, TC_CS_I32, out[i]);
    }
}

/* Formats that every machine writes: of four components of 8, 16 or 32 bits, and one of 32. */
static bool is_extended(const tc_vk_format *f)
{
    bool four = f->n == 4 && (f->number != TC_VK_UNORM ? f->number != TC_VK_SNORM || f->bits == 8
                                                       : f->bits == 8);
    return !(four || (f->n == 1 && f->bits == 32));
}

void ti_cs_put_pixel(tc_cs *s, int port, tc_cs_val x, tc_cs_val y, const tc_cs_val v[4])
{
    enum { DIM_2D = 1, STORAGE = 2, NON_READABLE = 25 };
    tc_cs_port *p = &s->port[port];
    uint32_t of = component_type(s, p->pixel), four = UNIQUE(s, TC_SPV_TypeVector, 0, of, 4),
             type = UNIQUE(s, TC_SPV_TypeImage, 0, of, DIM_2D, 0, 0, 0, STORAGE, p->pixel->spirv);
    if (!p->pixel->spirv || is_extended(p->pixel))
        ti_spv_need(&s->w, p->pixel->spirv ? TC_SPV_CAP_STORAGE_IMAGE_EXTENDED_FORMATS
                                           : TC_SPV_CAP_STORAGE_IMAGE_WRITE_WITHOUT_FORMAT);
    if (declare(s, p, type))
        TC_SPV_PUT(&s->w, TC_SPV_DECORATIONS, TC_SPV_Decorate, p->variable, NON_READABLE);
    uint32_t part[4], to = ti_spv_id(&s->w), pixel = ti_spv_id(&s->w), at = place_of_pixel(s, x, y);
    for (int i = 0; i < 4; i++) {
        part[i] = v[i].id;
        if (p->pixel->number == TC_VK_SINT) {
            part[i] = ti_spv_id(&s->w);
            PUT(s, TC_SPV_Bitcast, of, part[i], v[i].id);
        }
    }
    PUT(s, TC_SPV_Load, type, to, p->variable);
    PUT(s, TC_SPV_CompositeConstruct, four, pixel, part[0], part[1], part[2], part[3]);
    PUT(s, TC_SPV_ImageWrite, to, at, pixel);
}

tc_cs_val ti_cs_bits(tc_cs *s, tc_cs_kind kind, tc_cs_val v)
{
    return ti_cs_one(s, TC_SPV_Bitcast, kind, v);
}

/* ---- nodes ------------------------------------------------------------------------------------- */

int64_t ti_cs_format(const tc_type *t)
{
    static const tc_dtype same_bytes[TC_DTYPE_COUNT] = {
        [TC_u8] = TC_i8, [TC_u16] = TC_i16, [TC_u32] = TC_i32, [TC_i64] = TC_i48};
    tc_dtype d = t->dtype;
    return ti_vgf_format(same_bytes[d] ? same_bytes[d] : d, tc_dtypes[d].kind == TC_UINT);
}

tc_attr_tosa_shader *ti_cs_shader(tc_ctx *ctx, const char *name, const tc_cs_code *code,
                                  const int64_t *descriptor, const int64_t *format,
                                  const int64_t *sampler, int n_sampler)
{
    tc_arena *arena = &ctx->arena;
    int64_t set[TC_CS_PORTS] = {0}, binding[TC_CS_PORTS];
    tc_attr_tosa_shader *a = tc_new(arena, tc_attr_tosa_shader);
    for (int i = 0; i < code->n_port; i++)
        binding[i] = i;
    a->name = ti_intern_text(ctx, name);
    a->entry_point = ti_intern_text(ctx, "main");
    a->language = TC_shader_code_spirv;
    a->code = (tc_field_bytes){code->words.data, code->words.size};
    a->dispatch = ti_ints_copy(arena, code->groups, 3);
    a->set = ti_ints_copy(arena, set, code->n_port);
    a->binding = ti_ints_copy(arena, binding, code->n_port);
    a->descriptor = ti_ints_copy(arena, descriptor, code->n_port);
    a->format = ti_ints_copy(arena, format, code->n_port);
    a->sampler = ti_ints_copy(arena, sampler, n_sampler);
    return a;
}
