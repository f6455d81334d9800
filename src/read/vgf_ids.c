/* SPDX-License-Identifier: Apache-2.0 */
/* vgf_ids.c -- types and constants of a SPIR-V module; see vgf_ids.h. */
#include "vgf_ids.h"

#include "../num/load.h"

tc_status ti_vgf_bad(tc_vgf_reader *r, tc_diag_id id, const char *what)
{
    tc_loc *loc = tc_new(&r->ctx->arena, tc_loc);
    loc->file = r->module->file;
    loc->place = ti_text_format(&r->ctx->arena, "SPIR-V word %zu", r->at.at / 4);
    return ti_error(r->ctx, loc, id, "%s", what);
}

/* ---- types ----------------------------------------------------------------------------------- */

/* The instruction that makes an id; one with op 0 when there is none. */
const tc_spv_instr *ti_vgf_made_by(const tc_vgf_reader *r, uint32_t id)
{
    static const tc_spv_instr none;
    return id < r->bound ? &r->id[id].instr : &none;
}

bool ti_vgf_u32(const tc_vgf_reader *r, uint32_t id, uint32_t *out)
{
    const tc_spv_instr *c = ti_vgf_made_by(r, id), *type = ti_vgf_made_by(r, ti_spv_word(c, 0));
    bool null = c->op == TC_SPV_ConstantNull;
    *out = null ? 0 : ti_spv_word(c, 2);
    return (null || c->op == TC_SPV_Constant) && type->op == TC_SPV_TypeInt &&
           ti_spv_word(type, 1) == 32;
}

static tc_dtype element_of(const tc_vgf_reader *r, uint32_t id)
{
    const tc_spv_instr *t = ti_vgf_made_by(r, id);
    uint32_t bits = ti_spv_word(t, 1), encoding = ti_spv_word(t, 2);
    switch (t->op) {
    case TC_SPV_TypeBool:
        return TC_bool;
    case TC_SPV_TypeInt:
        return bits == 8    ? TC_i8
               : bits == 16 ? TC_i16
               : bits == 32 ? TC_i32
               : bits == 64 ? TC_i48
                            : TC_none;
    case TC_SPV_TypeFloat:
        if (t->n < 3)
            return bits == 32 ? TC_f32 : bits == 16 ? TC_f16 : TC_none;
        if (bits == 16 && encoding == TC_SPV_BFLOAT16)
            return TC_bf16;
        return bits != 8                 ? TC_none
               : encoding == TC_SPV_E4M3 ? TC_e4m3
               : encoding == TC_SPV_E5M2 ? TC_e5m2
                                         : TC_none;
    default:
        return TC_none;
    }
}

/* The extents of a shape: a composite of constants, or one constant for all. */
static tc_status dims_of(tc_vgf_reader *r, uint32_t shape, tc_type *type)
{
    const tc_spv_instr *c = ti_vgf_made_by(r, shape);
    bool each = c->op == TC_SPV_ConstantComposite && c->n == 2 + (size_t)type->rank;
    if (!each && c->op != TC_SPV_ConstantCompositeReplicateEXT)
        return ti_vgf_bad(r, TC_E_FORMAT, "a tensor's shape is not a constant of its rank");
    for (int32_t i = 0; i < type->rank; i++) {
        uint32_t extent;
        if (!ti_vgf_u32(r, ti_spv_word(c, each ? 2 + (size_t)i : 2), &extent))
            return ti_vgf_bad(r, TC_E_FORMAT, "a tensor's extent is not a constant of 32 bits");
        type->dim[i] = extent;
    }
    if (ti_dims_count(type->rank, type->dim) < 1)
        return ti_vgf_bad(r, TC_E_TOO_LARGE, "a tensor has no elements, or too many");
    return TC_OK;
}

tc_status ti_vgf_tensor_type(tc_vgf_reader *r, uint32_t id, const tc_type **out)
{
    const tc_spv_instr *t = ti_vgf_made_by(r, id);
    if (t->op != TC_SPV_TypeTensorARM)
        return ti_vgf_bad(r, TC_E_FORMAT, "a type is not that of a tensor");
    *out = r->id[id].type;
    if (*out)
        return TC_OK;
    uint32_t rank;
    tc_type type = {.dtype = element_of(r, ti_spv_word(t, 1))};
    if (t->n < 4)
        return ti_vgf_bad(r, TC_E_DYNAMIC, "a tensor has no shape");
    if (type.dtype == TC_none)
        return ti_vgf_bad(r, TC_E_TYPE, "a tensor's element type is none of TOSA's");
    if (!ti_vgf_u32(r, ti_spv_word(t, 2), &rank) || rank < 1 || rank > TC_MAX_RANK)
        return ti_vgf_bad(r, TC_E_TOSA_LEVEL, "a tensor's rank is not 1 to 6");
    type.rank = (int32_t)rank;
    TC_TRY(dims_of(r, ti_spv_word(t, 3), &type));
    *out = r->id[id].type = ti_type_intern(r->ctx, &type);
    return TC_OK;
}

/* ---- constants ------------------------------------------------------------------------------- */

/* A scalar constant into one element of our memory. */
tc_status ti_vgf_scalar(tc_vgf_reader *r, uint32_t id, tc_dtype dtype, uint8_t *at)
{
    const tc_spv_instr *c = ti_vgf_made_by(r, id);
    size_t bytes = tc_dtypes[dtype].bytes;
    if (!c->op || element_of(r, ti_spv_word(c, 0)) != dtype)
        return ti_vgf_bad(r, TC_E_TYPE, "a constant is not of the type that is needed");
    if (dtype == TC_bool ? c->op == TC_SPV_ConstantTrue || c->op == TC_SPV_ConstantFalse
                         : c->op == TC_SPV_Constant && c->n == (bytes == 8 ? 4u : 3u)) {
        uint64_t bits = dtype == TC_bool ? c->op == TC_SPV_ConstantTrue
                                         : ti_spv_word(c, 2) | (uint64_t)ti_spv_word(c, 3) << 32;
        if (dtype == TC_i48)
            bits = (uint64_t)ti_wrap(TC_i48, (int64_t)bits);
        memcpy(at, &bits, bytes);
        return TC_OK;
    }
    if (c->op != TC_SPV_ConstantNull)
        return ti_vgf_bad(r, TC_E_FORMAT, "a value is not a constant");
    memset(at, 0, bytes);
    return TC_OK;
}

/* The elements of an inline constant; rank and extents are those of its type. */
static tc_status fill(tc_vgf_reader *r, uint32_t id, tc_dtype dtype, int32_t rank,
                      const int64_t *dim, uint8_t *at)
{
    const tc_spv_instr *c = ti_vgf_made_by(r, id);
    size_t bytes = (size_t)ti_dims_count(rank, dim) * tc_dtypes[dtype].bytes;
    if (!rank)
        return ti_vgf_scalar(r, id, dtype, at);
    if (c->op == TC_SPV_ConstantNull) {
        memset(at, 0, bytes);
        return TC_OK;
    }
    size_t n = (size_t)dim[0], part = bytes / n;
    bool repeat = c->op == TC_SPV_ConstantCompositeReplicateEXT;
    if (!repeat && (c->op != TC_SPV_ConstantComposite || c->n != 2 + n))
        return ti_vgf_bad(r, TC_E_FORMAT, "a value is not a constant, or one of another size");
    for (size_t i = 0; i < (repeat ? 1 : n); i++)
        TC_TRY(fill(r, ti_spv_word(c, 2 + i), dtype, rank - 1, dim + 1, at + i * part));
    for (size_t i = 1; repeat && i < n; i++)
        memcpy(at + i * part, at, part);
    return TC_OK;
}

/* The data of OpGraphConstantARM: the file's own bytes where they can serve. */
static tc_status stored(tc_vgf_reader *r, const tc_spv_instr *c, const tc_type *type,
                        const void **out)
{
    const uint32_t number = ti_spv_word(c, 2);
    const tc_vgf_constant *found =
        ti_map_get(&r->constants, (tc_str){(const char *)&number, sizeof number});
    size_t size = tc_type_bytes(type);
    if (!found)
        return ti_vgf_bad(r, TC_E_FORMAT, "a graph constant is not among those of its segment");
    if (found->sparsity >= 0)
        return ti_unsupported(r->ctx, &(tc_loc){.file = r->module->file}, TC_E_UNSUPPORTED,
                              "a constant is sparse, which is not read");
    if (found->data.size < size)
        return ti_vgf_bad(r, TC_E_TRUNCATED, "a constant has fewer bytes than its type needs");
    *out = found->data.data;
    if (type->dtype != TC_bool && type->dtype != TC_i48 &&
        (uintptr_t)found->data.data % tc_dtypes[type->dtype].bytes == 0)
        return TC_OK;
    uint8_t *copy = ti_arena_copy(&r->ctx->arena, found->data.data, size);
    for (size_t i = 0; i < size && type->dtype == TC_bool; i++)
        copy[i] = copy[i] != 0;
    for (size_t i = 0; i < size / 8 && type->dtype == TC_i48; i++)
        ((int64_t *)(void *)copy)[i] = ti_wrap(TC_i48, ((int64_t *)(void *)copy)[i]);
    *out = copy;
    return TC_OK;
}

const tc_loc *ti_vgf_loc(tc_vgf_reader *r, uint32_t id, const char *target)
{
    tc_loc *loc = tc_new(&r->ctx->arena, tc_loc);
    loc->file = r->module->file;
    loc->place = ti_text_format(&r->ctx->arena, "SPIR-V word %zu", r->at.at / 4);
    loc->node = id < r->bound ? r->id[id].name : NULL;
    loc->target = target;
    return loc;
}

tc_status ti_vgf_tensor(tc_vgf_reader *r, uint32_t id, const tc_type **type, const void **data)
{
    const tc_spv_instr *c = ti_vgf_made_by(r, id);
    if (!c->op)
        return ti_vgf_bad(r, TC_E_ORDER, "an id is used before it is defined");
    TC_TRY(ti_vgf_tensor_type(r, ti_spv_word(c, 0), type));
    if (c->op == TC_SPV_GraphConstantARM)
        return stored(r, c, *type, data);
    size_t size = tc_type_bytes(*type);
    if (size > r->budget)
        return ti_vgf_bad(r, TC_E_TOO_LARGE,
                          "constants in the code are larger than the file warrants");
    r->budget -= size;
    uint8_t *room = ti_arena_raw(&r->ctx->arena, size);
    *data = room;
    return fill(r, id, (*type)->dtype, (*type)->rank, (*type)->dim, room);
}
