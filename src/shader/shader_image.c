/* SPDX-License-Identifier: Apache-2.0 */
/* shader_image.c -- images of two dimensions: read, write, sample, query the size; see shader.h.
 *
 * An image is a tensor [1, height, width, components]; its format gives the encoding.  A read
 * outside gives zeros and a write outside is ignored.  Sampling is Vulkan's: the pixel that
 * contains u = s * width, or the mean of the four around u - 1/2, weighted in f32. */
#include "../num/pixel.h"
#include "shader_steps.h"
#include "shader_words.h"

/* Vulkan's values. */
enum { LINEAR = 1 };
enum { REPEAT, MIRRORED_REPEAT, CLAMP_TO_EDGE, CLAMP_TO_BORDER, MIRROR_CLAMP_TO_EDGE };

/* ---- pixels ---------------------------------------------------------------------------------- */

static int64_t height(const tc_sh_port *p)
{
    return p->dim[p->rank - 3];
}

static int64_t width(const tc_sh_port *p)
{
    return p->dim[p->rank - 2];
}

static uint8_t *pixel_at(const tc_sh_port *p, int64_t x, int64_t y)
{
    if (x < 0 || y < 0 || x >= width(p) || y >= height(p))
        return NULL;
    return (uint8_t *)p->value.data + (size_t)(y * width(p) + x) * ti_pixel_bytes(p->pixel);
}

static tc_pixel texel_at(const tc_sh_port *p, int64_t x, int64_t y)
{
    const uint8_t *at = pixel_at(p, x, y);
    return at ? ti_pixel_get(p->pixel, at) : (tc_pixel){{0, 0, 0, 0}, {0, 0, 0, 0}};
}

static void put_texel(tc_sh_machine *m, const tc_sh_ins *i, const tc_sh_port *p, const tc_pixel *t)
{
    for (unsigned k = 0; k < i->n; k++)
        m->r[i->out + k] = ti_vk_is_whole(p->pixel) ? (uint64_t)t->whole[k] & UINT64_MAX >> (64 - i->bits)
                           : i->bits == 16    ? ti_f32_to_f16(t->real[k])
                                              : ti_f32_bits(t->real[k]);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* out: n components of `bits`; a: x and y, of d bits; c: the port. */
static const tc_sh_ins *step_fetch(tc_sh_machine *m, const tc_sh_ins *i)
{
    const tc_sh_port *p = &m->interface->port[i->c];
    tc_pixel t = texel_at(p, ti_sh_signed(m->r[i->a], i->d), ti_sh_signed(m->r[i->a + 1], i->d));
    put_texel(m, i, p, &t);
    return i + 1;
}

/* b: n components of `bits`. */
static const tc_sh_ins *step_store(tc_sh_machine *m, const tc_sh_ins *i)
{
    const tc_sh_port *p = &m->interface->port[i->c];
    bool whole = ti_vk_is_whole(p->pixel);
    uint8_t *at =
        pixel_at(p, ti_sh_signed(m->r[i->a], i->d), ti_sh_signed(m->r[i->a + 1], i->d));
    tc_pixel t = {{0}, {0}};
    for (unsigned k = 0; k < i->n && k < 4; k++) {
        uint64_t v = m->r[i->b + k];
        t.whole[k] = whole ? (int64_t)v : 0;
        t.real[k] = whole          ? 0.0f
                    : i->bits == 16 ? ti_f16_to_f32((uint16_t)v)
                                    : ti_f32_of((uint32_t)v);
    }
    if (at)
        ti_pixel_put(p->pixel, &t, at);
    return i + 1;
}

/* Index of a coordinate in the image; -1: on the border. */
static int64_t wrapped(int64_t i, int64_t size, uint32_t mode)
{
    int64_t round = 2 * size;
    switch (mode) {
    case REPEAT:
        return (i % size + size) % size;
    case MIRRORED_REPEAT:
        i = (i % round + round) % round;
        return i < size ? i : round - 1 - i;
    case MIRROR_CLAMP_TO_EDGE:
        i = i < 0 ? -1 - i : i;
        return i < size ? i : size - 1;
    case CLAMP_TO_BORDER:
        return i >= 0 && i < size ? i : -1;
    default:
        return i < 0 ? 0 : i < size ? i : size - 1;
    }
}

static tc_pixel border_of(uint32_t colour)
{
    float white = colour >= 4, opaque = colour >= 2;
    int64_t one = colour >= 4, last = colour >= 2;
    return (tc_pixel){{white, white, white, opaque}, {one, one, one, last}};
}

static tc_pixel sample_at(const tc_sh_port *p, const tc_sh_sampler *s, int64_t x, int64_t y)
{
    int64_t u = wrapped(x, width(p), s->address_u), v = wrapped(y, height(p), s->address_v);
    return u < 0 || v < 0 ? border_of(s->border) : texel_at(p, u, v);
}

/* Far outside is far outside; NaN is 0. */
static float tame(float v)
{
    const float far = 0x1p30f;
    return v != v ? 0.0f : v < -far ? -far : v > far ? far : v;
}

/* a: s and t; b: the row of samplers; d: the level of detail's register, 0: none. */
static const tc_sh_ins *step_sample(tc_sh_machine *m, const tc_sh_ins *i)
{
    const tc_sh_port *p = &m->interface->port[i->c];
    const tc_sh_sampler *s = &m->interface->sampler[i->b];
    float u = tame(ti_f32_of((uint32_t)m->r[i->a]) * (float)width(p));
    float v = tame(ti_f32_of((uint32_t)m->r[i->a + 1]) * (float)height(p));
    bool small = i->d && ti_f32_of((uint32_t)m->r[i->d]) > 0;
    tc_pixel t;
    if ((small ? s->min_filter : s->mag_filter) != LINEAR || ti_vk_is_whole(p->pixel)) {
        t = sample_at(p, s, (int64_t)floorf(u), (int64_t)floorf(v));
    } else {
        float left = floorf(u - 0.5f), top = floorf(v - 0.5f);
        float a = (u - 0.5f) - left, b = (v - 0.5f) - top;
        int64_t x = (int64_t)left, y = (int64_t)top;
        tc_pixel near = sample_at(p, s, x, y), right = sample_at(p, s, x + 1, y);
        tc_pixel below = sample_at(p, s, x, y + 1), last = sample_at(p, s, x + 1, y + 1);
        t = near;
        for (int k = 0; k < 4; k++)
            t.real[k] = (1 - b) * ((1 - a) * near.real[k] + a * right.real[k]) +
                        b * ((1 - a) * below.real[k] + a * last.real[k]);
    }
    put_texel(m, i, p, &t);
    return i + 1;
}

/* One component, d, of the four pixels that a linear filter would weigh: those below first, from the
 * left one around. */
static const tc_sh_ins *step_gather(tc_sh_machine *m, const tc_sh_ins *i)
{
    static const struct {
        int64_t x, y;
    } around[] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    const tc_sh_port *p = &m->interface->port[i->c];
    const tc_sh_sampler *s = &m->interface->sampler[i->b];
    float u = tame(ti_f32_of((uint32_t)m->r[i->a]) * (float)width(p));
    float v = tame(ti_f32_of((uint32_t)m->r[i->a + 1]) * (float)height(p));
    int64_t x = (int64_t)floorf(u - 0.5f), y = (int64_t)floorf(v - 0.5f);
    tc_pixel t;
    for (size_t k = 0; k < TC_COUNT(around); k++) {
        tc_pixel one = sample_at(p, s, x + around[k].x, y + around[k].y);
        t.real[k] = one.real[i->d];
        t.whole[k] = one.whole[i->d];
    }
    put_texel(m, i, p, &t);
    return i + 1;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* An image of two dimensions that is a port; NULL after a message. */
static const tc_sh_port *image_of(tc_sh_reader *r, size_t i, uint32_t *port, uint32_t *sampler)
{
    const tc_sh_id *v = ti_sh_id(r, ti_sh_word(r, i));
    const tc_sh_type *t = v->is == TC_SH_RESOURCE ? ti_sh_type(r, v->of) : NULL;
    if (t && t->kind == TC_SH_SAMPLED_IMAGE)
        t = ti_sh_type(r, t->element);
    *port = v->base;
    *sampler = v->sampler;
    if (!t || t->kind != TC_SH_IMAGE || v->base == TC_SH_NO_PORT ||
        !r->interface->port[v->base].pixel) {
        ti_sh_fail(r, "an image is asked for that is neither an operand nor a result");
        return NULL;
    }
    if (t->dim != WORD_DIM_2D || t->arrayed || t->multisampled) {
        ti_sh_fail(r, "an image is not one of two dimensions, which alone are supported");
        return NULL;
    }
    return &r->interface->port[v->base];
}

/* Four components, or as many as a store has, of a type that fits the format. */
static const tc_sh_type *colour(tc_sh_reader *r, const tc_sh_port *p, const tc_sh_type *t)
{
    const tc_sh_type *e = ti_sh_scalar(r, t);
    bool whole = e && e->kind == TC_SH_INT, real = e && e->kind == TC_SH_FLOAT && e->bits <= 32;
    if (!e || t->slots > 4 || e->is_bfloat || !(ti_vk_is_whole(p->pixel) ? whole : real)) {
        ti_sh_fail(r, "a pixel of format %s is read or written as another type", p->pixel->name);
        return NULL;
    }
    return e;
}

/* Operand i: x and y, as integers. */
static uint32_t place_of(tc_sh_reader *r, size_t i, uint32_t *bits)
{
    const tc_sh_type *t;
    uint32_t slot = ti_sh_value(r, ti_sh_word(r, i), &t);
    const tc_sh_type *e = ti_sh_scalar(r, t);
    *bits = e ? e->bits : 32;
    if (!e || e->kind != TC_SH_INT || t->slots < 2)
        ti_sh_fail(r, "the coordinates of a pixel are not two integers");
    return slot;
}

/* Of the image operands only the level of detail is known, which is 0 where pixels are counted. */
static uint32_t operands(tc_sh_reader *r, size_t i)
{
    const tc_sh_type *t;
    uint32_t mask = ti_sh_word(r, i);
    if (mask & ~(uint32_t)(WORD_OPERAND_LOD | WORD_OPERAND_MEMORY)) {
        ti_sh_fail(r, "Op%s has operands (0x%" PRIx32 ") that are not supported",
                   ti_spv_name(r->at.op), mask);
        return 0;
    }
    return mask & WORD_OPERAND_LOD ? ti_sh_value(r, ti_sh_word(r, i + 1), &t) : 0;
}

static void read_pixel(tc_sh_reader *r)
{
    uint32_t port, sampler, bits, at = place_of(r, 3, &bits);
    const tc_sh_port *p = image_of(r, 2, &port, &sampler);
    const tc_sh_type *t, *e;
    uint32_t out = ti_sh_result(r, &t);
    operands(r, 4);
    if (p && (e = colour(r, p, t)) != NULL)
        ti_sh_put(r, (tc_sh_ins){.step = step_fetch, .out = out, .a = at, .c = port, .d = bits,
                                 .n = (uint16_t)t->slots, .bits = (uint16_t)e->bits});
}

static void write_pixel(tc_sh_reader *r)
{
    uint32_t port, sampler, bits, at = place_of(r, 1, &bits);
    const tc_sh_port *p = image_of(r, 0, &port, &sampler);
    const tc_sh_type *t, *e;
    uint32_t from = ti_sh_value(r, ti_sh_word(r, 2), &t);
    operands(r, 3);
    if (!p || (e = colour(r, p, t)) == NULL)
        return;
    ti_sh_check_written(r, port);
    ti_sh_put(r, (tc_sh_ins){.step = step_store, .a = at, .b = from, .c = port, .d = bits,
                             .n = (uint16_t)t->slots, .bits = (uint16_t)e->bits});
}

static void sample(tc_sh_reader *r)
{
    bool gathers = r->at.op == TC_SPV_ImageGather;
    uint32_t port, sampler, lod = operands(r, gathers ? 5 : 4);
    uint64_t component = 0;
    const tc_sh_port *p = image_of(r, 2, &port, &sampler);
    const tc_sh_type *t, *c, *e;
    uint32_t out = ti_sh_result(r, &t), at = ti_sh_value(r, ti_sh_word(r, 3), &c);
    const tc_sh_type *real = ti_sh_scalar(r, c);
    if (!real || real->kind != TC_SH_FLOAT || real->bits != 32 || c->slots < 2)
        ti_sh_fail(r, "the coordinates of a sample are not two floats");
    if (p && !sampler)
        ti_sh_fail(r, "an image is sampled without a sampler");
    if (gathers && (!ti_sh_constant(r, ti_sh_word(r, 4), &component) || component > 3 || lod ||
                    t->slots != 4))
        ti_sh_fail(r, "four pixels are not gathered into four numbers of one component");
    if (!p || r->error || (e = colour(r, p, t)) == NULL)
        return;
    const tc_sh_sampler *s = &r->interface->sampler[sampler - 1];
    if (s->min_filter > LINEAR || s->mag_filter > LINEAR || s->address_u > MIRROR_CLAMP_TO_EDGE ||
        s->address_v > MIRROR_CLAMP_TO_EDGE || s->border > 5)
        ti_sh_fail(r, "a sampler has a filter, an address mode or a border that is not supported");
    ti_sh_put(r, (tc_sh_ins){.step = gathers ? step_gather : step_sample, .out = out, .a = at,
                             .b = sampler - 1, .c = port, .d = gathers ? (uint32_t)component : lod,
                             .n = (uint16_t)t->slots, .bits = (uint16_t)e->bits});
}

static void size(tc_sh_reader *r)
{
    uint32_t port, sampler;
    const tc_sh_port *p = image_of(r, 2, &port, &sampler);
    const tc_sh_type *t;
    uint32_t out = ti_sh_result(r, &t);
    bool levels = r->at.op == TC_SPV_ImageQueryLevels;
    const tc_sh_type *e = ti_sh_scalar(r, t);
    if (!p || !e || e->kind != TC_SH_INT || t->slots != (levels ? 1 : 2)) {
        ti_sh_fail(r, "the size of an image is not two integers");
        return;
    }
    r->program->start[out] = levels ? 1 : (uint64_t)width(p);
    if (!levels)
        r->program->start[out + 1] = (uint64_t)height(p);
}

/* An image and a sampler become one, and apart again. */
static void join(tc_sh_reader *r)
{
    const tc_sh_id image = *ti_sh_id(r, ti_sh_word(r, 2));
    bool with = r->at.op == TC_SPV_SampledImage;
    const tc_sh_id *sampler = with ? ti_sh_id(r, ti_sh_word(r, 3)) : &image;
    tc_sh_id *to = ti_sh_id(r, ti_sh_word(r, 1));
    if (image.is != TC_SH_RESOURCE || sampler->is != TC_SH_RESOURCE) {
        ti_sh_fail(r, "an image or a sampler is not a variable");
        return;
    }
    to->is = TC_SH_RESOURCE;
    to->base = image.base;
    to->sampler = with ? sampler->sampler : 0;
    to->of = ti_sh_word(r, 0);
}

bool ti_sh_image(tc_sh_reader *r)
{
    static const struct {
        uint32_t op;
        void (*read)(tc_sh_reader *);
    } rows[] = {{TC_SPV_SampledImage, join},
                {TC_SPV_Image, join},
                {TC_SPV_ImageSampleExplicitLod, sample},
                {TC_SPV_ImageGather, sample},
                {TC_SPV_ImageFetch, read_pixel},
                {TC_SPV_ImageRead, read_pixel},
                {TC_SPV_ImageWrite, write_pixel},
                {TC_SPV_ImageQuerySize, size},
                {TC_SPV_ImageQuerySizeLod, size},
                {TC_SPV_ImageQueryLevels, size}};
    for (size_t i = 0; i < TC_COUNT(rows); i++)
        if (rows[i].op == r->at.op) {
            rows[i].read(r);
            return true;
        }
    return false;
}
