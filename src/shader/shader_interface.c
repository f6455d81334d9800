/* SPDX-License-Identifier: Apache-2.0 */
/* shader_interface.c -- the attributes of a tosa_shader against its operands and results, and the
 * variables of its module against both; see shader.h. */
#include "shader.h"

/* Vulkan's descriptor types. */
enum {
    IMAGE_SAMPLER = 1,
    SAMPLED_IMAGE = 2,
    STORAGE_IMAGE = 3,
    UNIFORM_BUFFER = 6,
    STORAGE_BUFFER = 7,
    TENSOR = 1000460000
};
enum { SAMPLER_ROW = 7, PUSH_ROW = 3 };

/* ---- attributes ------------------------------------------------------------------------------ */

static bool all_u32(tc_ints list)
{
    for (int32_t i = 0; i < list.n; i++)
        if (list.v[i] < 0 || list.v[i] > UINT32_MAX)
            return false;
    return true;
}

static bool is_image(uint32_t descriptor)
{
    return descriptor >= IMAGE_SAMPLER && descriptor <= STORAGE_IMAGE;
}

/* An image is [1, height, width, components] or without the 1. */
static const char *image_port(tc_arena *arena, tc_sh_port *p)
{
    const tc_type *t = p->value.type;
    p->pixel = ti_vk_format(p->format);
    if (!p->pixel)
        return ti_text_format(arena, "format %" PRIu32 " of an image is not known", p->format);
    bool fits = (t->rank == 3 || (t->rank == 4 && t->dim[0] == 1)) &&
                t->dim[t->rank - 1] == ti_vk_elements(p->pixel) && t->dim[t->rank - 2] > 0 &&
                t->dim[t->rank - 3] > 0 && tc_dtypes[t->dtype].bytes * 8u == ti_vk_element_bits(p->pixel);
    return fits ? NULL
                : ti_text_format(arena, "%s cannot be an image of format %s",
                                 ti_type_text(arena, t), p->pixel->name);
}

static const char *make_port(tc_arena *arena, const tc_attr_tosa_shader *a, int i, tc_tensor value,
                             tc_sh_port *p)
{
    if (!value.type || ti_dims_count(value.type->rank, value.type->dim) < 0)
        return "an operand or result is left out, or not of a fixed shape";
    *p = (tc_sh_port){.set = (uint32_t)a->set.v[i],
                      .binding = (uint32_t)a->binding.v[i],
                      .descriptor = (uint32_t)a->descriptor.v[i],
                      .format = (uint32_t)a->format.v[i],
                      .value = value,
                      .bytes = tc_type_bytes(value.type),
                      .rank = value.type->rank ? (uint32_t)value.type->rank : 1};
    p->dim[0] = 1;
    for (int32_t k = 0; k < value.type->rank; k++)
        p->dim[k] = value.type->dim[k];
    if (is_image(p->descriptor))
        return image_port(arena, p);
    bool known = p->descriptor == TENSOR || p->descriptor == UNIFORM_BUFFER ||
                 p->descriptor == STORAGE_BUFFER;
    return known ? NULL : ti_text_format(arena, "descriptor type %" PRIu32 " is not known",
                                         p->descriptor);
}

const char *ti_shader_interface(tc_arena *arena, const tc_attr_tosa_shader *a, const tc_tensor *in,
                                int n_in, const tc_tensor *out, int n_out, tc_sh_interface *to)
{
    int n = n_in + n_out;
    *to = (tc_sh_interface){.n_port = (size_t)n,
                            .n_in = (size_t)n_in,
                            .n_sampler = (size_t)a->sampler.n / SAMPLER_ROW,
                            .push = a->push};
    if (a->set.n != n || a->binding.n != n || a->descriptor.n != n || a->format.n != n)
        return "set, binding, descriptor and format do not have one number for each operand and "
               "result";
    if (a->dispatch.n != 3 || a->sampler.n % SAMPLER_ROW || a->push_ranges.n % PUSH_ROW)
        return "dispatch does not have 3 numbers, samplers 7 each, or push_ranges 3 each";
    if (!all_u32(a->set) || !all_u32(a->binding) || !all_u32(a->descriptor) || !all_u32(a->format) ||
        !all_u32(a->dispatch) || !all_u32(a->sampler) || !all_u32(a->push_ranges))
        return "an attribute has a number that is not one of 32 bits";
    to->port = tc_new_n(arena, tc_sh_port, to->n_port + 1);
    for (int i = 0; i < n; i++) {
        const char *wrong = make_port(arena, a, i, i < n_in ? in[i] : out[i - n_in], &to->port[i]);
        if (wrong)
            return wrong;
    }
    to->sampler = tc_new_n(arena, tc_sh_sampler, to->n_sampler + 1);
    for (size_t i = 0; i < to->n_sampler; i++) {
        const int64_t *v = a->sampler.v + i * SAMPLER_ROW;
        to->sampler[i] = (tc_sh_sampler){(uint32_t)v[0], (uint32_t)v[1], (uint32_t)v[2],
                                         (uint32_t)v[3], (uint32_t)v[4], (uint32_t)v[5],
                                         (uint32_t)v[6]};
    }
    for (size_t i = 0; i < 3; i++)
        to->groups[i] = (uint32_t)a->dispatch.v[i];
    return NULL;
}

/* ---- the module against it ------------------------------------------------------------------- */

static bool fits_tensor(tc_sh_reader *r, const tc_sh_type *t, const tc_sh_port *p)
{
    uint32_t bits = ti_sh_type(r, t->element)->bits;
    return p->descriptor == TENSOR && t->count == p->rank &&
           bits == 8u * tc_dtypes[p->value.type->dtype].bytes;
}

/* Whether a variable of this type may be bound to the port. */
static bool fits(tc_sh_reader *r, const tc_sh_id *id, const tc_sh_port *p)
{
    const tc_sh_type *t = ti_sh_type(r, id->of);
    switch (t->kind) {
    case TC_SH_TENSOR:
        return fits_tensor(r, t, p);
    case TC_SH_SAMPLED_IMAGE:
        return p->descriptor == IMAGE_SAMPLER;
    case TC_SH_IMAGE:
        return p->descriptor == (t->sampled == 2 ? STORAGE_IMAGE : SAMPLED_IMAGE);
    case TC_SH_STRUCT:
        return p->descriptor == UNIFORM_BUFFER || p->descriptor == STORAGE_BUFFER;
    default:
        return false;
    }
}

void ti_shader_check(tc_sh_reader *r)
{
    for (uint32_t i = 1; i < r->bound && !r->error; i++) {
        const tc_sh_id *id = &r->id[i];
        bool bound = id->instr.op == TC_SPV_Variable && id->has_binding &&
                     (id->is == TC_SH_RESOURCE || id->space == TC_SH_PORT);
        if (!bound || id->base == TC_SH_NO_PORT)
            continue; /* a variable that nothing reads needs no port */
        r->at = id->instr;
        for (size_t k = 0; k < r->interface->n_port; k++) {
            const tc_sh_port *p = &r->interface->port[k];
            if (p->set == id->set && p->binding == id->binding && !fits(r, id, p))
                ti_sh_fail(r, "the variable at set %" PRIu32 ", binding %" PRIu32
                              " cannot be %s",
                           id->set, id->binding, ti_type_text(r->arena, p->value.type));
        }
    }
}
