/* SPDX-License-Identifier: Apache-2.0 */
/* compute_number.c -- the builder of compute shaders: types and scalars. */
#include "compute_build.h"

#include "../../num/load.h"

enum { DECORATION_NO_CONTRACTION = 42 };

/* ---- types ----------------------------------------------------------------------------------- */

tc_cs_kind ti_cs_kind_of(tc_dtype dtype)
{
    if (ti_is_float(dtype))
        return TC_CS_F32;
    return tc_dtypes[dtype].bits > 32 || dtype == TC_u32 ? TC_CS_I64 : TC_CS_I32;
}

bool ti_cs_holds(tc_dtype dtype)
{
    switch (dtype) {
    case TC_bool:
    case TC_i8:
    case TC_u8:
    case TC_i16:
    case TC_u16:
    case TC_i32:
    case TC_u32:
    case TC_i48:
    case TC_i64:
    case TC_f16:
    case TC_f32:
        return true;
    default:
        return false;
    }
}

uint32_t ti_cs_kind_type(tc_cs *s, tc_cs_kind kind)
{
    switch (kind) {
    case TC_CS_BOOL:
        return ti_spv_bool(&s->w);
    case TC_CS_F32:
        return ti_spv_float(&s->w, 32, TC_SPV_IEEE);
    default:
        return ti_spv_int(&s->w, kind == TC_CS_I64 ? 64 : 32);
    }
}

uint32_t ti_cs_stored_type(tc_cs *s, tc_dtype dtype)
{
    if (dtype == TC_bool)
        return ti_cs_kind_type(s, TC_CS_BOOL);
    if (!ti_is_float(dtype))
        return ti_spv_int(&s->w, 8u * tc_dtypes[dtype].bytes);
    return ti_spv_float(&s->w, dtype == TC_f16 ? 16 : 32, TC_SPV_IEEE);
}

/* ---- scalars --------------------------------------------------------------------------------- */

uint32_t ti_cs_word(tc_cs *s, uint32_t v)
{
    return UNIQUE(s, TC_SPV_Constant, ti_spv_int(&s->w, 32), v);
}

tc_cs_val ti_cs_i32(tc_cs *s, int64_t v)
{
    return (tc_cs_val){ti_cs_word(s, (uint32_t)v), TC_CS_I32};
}

tc_cs_val ti_cs_i64(tc_cs *s, int64_t v)
{
    uint32_t type = ti_spv_int(&s->w, 64);
    return (tc_cs_val){UNIQUE(s, TC_SPV_Constant, type, (uint32_t)v, (uint32_t)((uint64_t)v >> 32)),
                       TC_CS_I64};
}

tc_cs_val ti_cs_number(tc_cs *s, tc_cs_kind kind, double v)
{
    if (kind == TC_CS_BOOL)
        return (tc_cs_val){ti_spv_unique(&s->w, v != 0 ? TC_SPV_ConstantTrue : TC_SPV_ConstantFalse,
                                         ti_cs_kind_type(s, kind), NULL, 0),
                           kind};
    if (kind != TC_CS_F32)
        return (kind == TC_CS_I64 ? ti_cs_i64 : ti_cs_i32)(s, ti_trunc_i64(v));
    float real = (float)v;
    uint32_t bits, type = ti_cs_kind_type(s, kind);
    memcpy(&bits, &real, sizeof bits);
    return (tc_cs_val){UNIQUE(s, TC_SPV_Constant, type, bits), kind};
}

tc_cs_val ti_cs_made(tc_cs *s, tc_cs_kind kind, tc_spv_op op, const uint32_t *operand, size_t n)
{
    uint32_t words[8] = {ti_cs_kind_type(s, kind)};
    words[1] = ti_spv_id(&s->w);
    memcpy(words + 2, operand, n * sizeof *operand);
    ti_spv_put(&s->w, TC_SPV_BODY, op, words, n + 2);
    if (op == TC_SPV_FAdd || op == TC_SPV_FSub || op == TC_SPV_FMul)
        TC_SPV_PUT(&s->w, TC_SPV_DECORATIONS, TC_SPV_Decorate, words[1],
                   DECORATION_NO_CONTRACTION);
    return (tc_cs_val){words[1], kind};
}

tc_cs_val ti_cs_do(tc_cs *s, tc_spv_op op, tc_cs_kind kind, tc_cs_val a, tc_cs_val b)
{
    return ti_cs_made(s, kind, op, (const uint32_t[]){a.id, b.id}, 2);
}

tc_cs_val ti_cs_one(tc_cs *s, tc_spv_op op, tc_cs_kind kind, tc_cs_val a)
{
    return ti_cs_made(s, kind, op, &a.id, 1);
}

tc_cs_val ti_cs_ext(tc_cs *s, uint32_t function, tc_cs_val a, tc_cs_val b)
{
    s->glsl = s->glsl ? s->glsl : ti_spv_id(&s->w);
    return ti_cs_made(s, a.kind, TC_SPV_ExtInst, (const uint32_t[]){s->glsl, function, a.id, b.id},
                b.id ? 4 : 3);
}

tc_cs_val ti_cs_select(tc_cs *s, tc_cs_val c, tc_cs_val yes, tc_cs_val no)
{
    return ti_cs_made(s, yes.kind, TC_SPV_Select, (const uint32_t[]){c.id, yes.id, no.id}, 3);
}

static tc_cs_val truth(tc_cs *s, tc_cs_val v)
{
    return ti_cs_do(s, v.kind == TC_CS_F32 ? TC_SPV_FUnordNotEqual : TC_SPV_INotEqual, TC_CS_BOOL, v,
                    ti_cs_number(s, v.kind, 0));
}

tc_cs_val ti_cs_to(tc_cs *s, tc_cs_kind kind, tc_cs_val v)
{
    if (kind == v.kind)
        return v;
    if (kind == TC_CS_BOOL)
        return truth(s, v);
    if (v.kind == TC_CS_BOOL) {
        tc_cs_val one = ti_cs_number(s, kind, 1), zero = ti_cs_number(s, kind, 0);
        return ti_cs_select(s, v, one, zero);
    }
    if (kind == TC_CS_F32)
        return ti_cs_one(s, TC_SPV_ConvertSToF, kind, v);
    return ti_cs_one(s, v.kind == TC_CS_F32 ? TC_SPV_ConvertFToS : TC_SPV_SConvert, kind, v);
}

#define BY_KIND(name, f, i)                                                                        \
    tc_cs_val ti_cs_##name(tc_cs *s, tc_cs_val a, tc_cs_val b)                                     \
    {                                                                                              \
        return ti_cs_do(s, a.kind == TC_CS_F32 ? TC_SPV_##f : TC_SPV_##i, a.kind, a, b);           \
    }
BY_KIND(add, FAdd, IAdd)
BY_KIND(sub, FSub, ISub)
BY_KIND(mul, FMul, IMul)

tc_cs_val ti_cs_less(tc_cs *s, tc_cs_val a, tc_cs_val b)
{
    return ti_cs_do(s, a.kind == TC_CS_F32 ? TC_SPV_FOrdLessThan : TC_SPV_SLessThan, TC_CS_BOOL, a,
                    b);
}

tc_cs_val ti_cs_equal(tc_cs *s, tc_cs_val a, tc_cs_val b)
{
    tc_spv_op op = a.kind == TC_CS_F32    ? TC_SPV_FOrdEqual
                   : a.kind == TC_CS_BOOL ? TC_SPV_LogicalEqual
                                          : TC_SPV_IEqual;
    return ti_cs_do(s, op, TC_CS_BOOL, a, b);
}

tc_cs_val ti_cs_and(tc_cs *s, tc_cs_val a, tc_cs_val b)
{
    return ti_cs_do(s, TC_SPV_LogicalAnd, TC_CS_BOOL, a, b);
}
tc_cs_val ti_cs_or(tc_cs *s, tc_cs_val a, tc_cs_val b)
{
    return ti_cs_do(s, TC_SPV_LogicalOr, TC_CS_BOOL, a, b);
}
tc_cs_val ti_cs_not(tc_cs *s, tc_cs_val a)
{
    return ti_cs_one(s, TC_SPV_LogicalNot, TC_CS_BOOL, a);
}
tc_cs_val ti_cs_nan(tc_cs *s, tc_cs_val a)
{
    return a.kind == TC_CS_F32 ? ti_cs_do(s, TC_SPV_FUnordNotEqual, TC_CS_BOOL, a, a)
                               : ti_cs_number(s, TC_CS_BOOL, 0);
}

tc_cs_val ti_cs_part(tc_cs *s, tc_cs_val a, int64_t by)
{
    return by == 1 ? a : ti_cs_do(s, TC_SPV_UDiv, a.kind, a, ti_cs_number(s, a.kind, (double)by));
}
tc_cs_val ti_cs_rest(tc_cs *s, tc_cs_val a, int64_t by)
{
    return by == 1 ? ti_cs_number(s, a.kind, 0)
                   : ti_cs_do(s, TC_SPV_UMod, a.kind, a, ti_cs_number(s, a.kind, (double)by));
}

/* ---- what is stored -------------------------------------------------------------------------- */

tc_cs_val ti_cs_widened(tc_cs *s, tc_dtype dtype, uint32_t id)
{
    tc_cs_kind kind = ti_cs_kind_of(dtype);
    const tc_dtype_info *info = &tc_dtypes[dtype];
    if (dtype == TC_bool)
        return ti_cs_to(s, TC_CS_I32, (tc_cs_val){id, TC_CS_BOOL});
    if (dtype == TC_f16)
        return ti_cs_one(s, TC_SPV_FConvert, kind, (tc_cs_val){id, kind});
    bool whole = info->bytes == (kind == TC_CS_I64 ? 8 : 4);
    if (whole)
        return (tc_cs_val){id, kind};
    return ti_cs_one(s, info->kind == TC_UINT ? TC_SPV_UConvert : TC_SPV_SConvert, kind,
                     (tc_cs_val){id, kind});
}

uint32_t ti_cs_narrowed(tc_cs *s, tc_dtype dtype, tc_cs_val v)
{
    v = ti_cs_to(s, dtype == TC_bool ? TC_CS_BOOL : ti_cs_kind_of(dtype), v);
    bool whole = dtype == TC_bool || tc_dtypes[dtype].bytes == (v.kind == TC_CS_I64 ? 8 : 4);
    if (whole)
        return v.id;
    uint32_t id = ti_spv_id(&s->w), type = ti_cs_stored_type(s, dtype);
    PUT(s, dtype == TC_f16 ? TC_SPV_FConvert : TC_SPV_SConvert, type, id, v.id);
    return id;
}

tc_cs_val ti_cs_wrap(tc_cs *s, tc_dtype dtype, tc_cs_val v)
{
    tc_cs_kind kind = v.kind;
    if (dtype == TC_bool || kind == TC_CS_BOOL || (kind == TC_CS_F32) != ti_is_float(dtype))
        return v;
    uint32_t id = ti_cs_narrowed(s, dtype, v);
    return id == v.id ? v : ti_cs_to(s, kind, ti_cs_widened(s, dtype, id));
}
