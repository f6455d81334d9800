/* SPDX-License-Identifier: Apache-2.0 */
/* compute_build.c -- the builder of compute shaders: types, numbers, tensors, control flow. */
#include "compute.h"
#include "compute_family.h"

#include "../../num/load.h"

enum { LOCAL = 64, MOST_GROUPS = 65535 };
enum { STORAGE_INPUT = 1, STORAGE_FUNCTION = 7 };
enum { DECORATION_BUILTIN = 11, DECORATION_NO_CONTRACTION = 42, GLOBAL_INVOCATION_ID = 28 };

#define PUT(s, op, ...) TC_SPV_PUT(&(s)->w, TC_SPV_BODY, op, __VA_ARGS__)
#define UNIQUE(s, op, type, ...)                                                                   \
    ti_spv_unique(&(s)->w, op, type, (const uint32_t[]){__VA_ARGS__},                              \
                  sizeof(uint32_t[]){__VA_ARGS__} / sizeof(uint32_t))

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

static uint32_t int_type(tc_cs *s, uint32_t bits)
{
    s->int8 |= bits == 8;
    s->int16 |= bits == 16;
    s->int64 |= bits == 64;
    return UNIQUE(s, TC_SPV_TypeInt, 0, bits, 0);
}

static uint32_t kind_type(tc_cs *s, tc_cs_kind kind)
{
    switch (kind) {
    case TC_CS_BOOL:
        return ti_spv_unique(&s->w, TC_SPV_TypeBool, 0, NULL, 0);
    case TC_CS_F32:
        return UNIQUE(s, TC_SPV_TypeFloat, 0, 32);
    default:
        return int_type(s, kind == TC_CS_I64 ? 64 : 32);
    }
}

/* What a tensor holds. */
static uint32_t stored_type(tc_cs *s, tc_dtype dtype)
{
    if (dtype == TC_bool)
        return kind_type(s, TC_CS_BOOL);
    if (!ti_is_float(dtype))
        return int_type(s, 8u * tc_dtypes[dtype].bytes);
    s->float16 |= dtype == TC_f16;
    return UNIQUE(s, TC_SPV_TypeFloat, 0, dtype == TC_f16 ? 16 : 32);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static uint32_t word(tc_cs *s, uint32_t v)
{
    return UNIQUE(s, TC_SPV_Constant, int_type(s, 32), v);
}

tc_cs_val ti_cs_i32(tc_cs *s, int64_t v)
{
    return (tc_cs_val){word(s, (uint32_t)v), TC_CS_I32};
}

tc_cs_val ti_cs_i64(tc_cs *s, int64_t v)
{
    uint32_t type = int_type(s, 64);
    return (tc_cs_val){UNIQUE(s, TC_SPV_Constant, type, (uint32_t)v, (uint32_t)((uint64_t)v >> 32)),
                       TC_CS_I64};
}

tc_cs_val ti_cs_number(tc_cs *s, tc_cs_kind kind, double v)
{
    if (kind == TC_CS_BOOL)
        return (tc_cs_val){ti_spv_unique(&s->w, v != 0 ? TC_SPV_ConstantTrue : TC_SPV_ConstantFalse,
                                         kind_type(s, kind), NULL, 0),
                           kind};
    if (kind != TC_CS_F32)
        return (kind == TC_CS_I64 ? ti_cs_i64 : ti_cs_i32)(s, ti_trunc_i64(v));
    float real = (float)v;
    uint32_t bits, type = kind_type(s, kind);
    memcpy(&bits, &real, sizeof bits);
    return (tc_cs_val){UNIQUE(s, TC_SPV_Constant, type, bits), kind};
}

static tc_cs_val made(tc_cs *s, tc_cs_kind kind, tc_spv_op op, const uint32_t *operand, size_t n)
{
    uint32_t words[8] = {kind_type(s, kind)};
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
    return made(s, kind, op, (const uint32_t[]){a.id, b.id}, 2);
}

tc_cs_val ti_cs_one(tc_cs *s, tc_spv_op op, tc_cs_kind kind, tc_cs_val a)
{
    return made(s, kind, op, &a.id, 1);
}

tc_cs_val ti_cs_ext(tc_cs *s, uint32_t function, tc_cs_val a, tc_cs_val b)
{
    s->glsl = s->glsl ? s->glsl : ti_spv_id(&s->w);
    return made(s, a.kind, TC_SPV_ExtInst, (const uint32_t[]){s->glsl, function, a.id, b.id},
                b.id ? 4 : 3);
}

tc_cs_val ti_cs_select(tc_cs *s, tc_cs_val c, tc_cs_val yes, tc_cs_val no)
{
    return made(s, yes.kind, TC_SPV_Select, (const uint32_t[]){c.id, yes.id, no.id}, 3);
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

/* A number as it lies in a tensor, to what it is computed as. */
static tc_cs_val widened(tc_cs *s, tc_dtype dtype, uint32_t id)
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

static uint32_t narrowed(tc_cs *s, tc_dtype dtype, tc_cs_val v)
{
    v = ti_cs_to(s, dtype == TC_bool ? TC_CS_BOOL : ti_cs_kind_of(dtype), v);
    bool whole = dtype == TC_bool || tc_dtypes[dtype].bytes == (v.kind == TC_CS_I64 ? 8 : 4);
    if (whole)
        return v.id;
    uint32_t id = ti_spv_id(&s->w), type = stored_type(s, dtype);
    PUT(s, dtype == TC_f16 ? TC_SPV_FConvert : TC_SPV_SConvert, type, id, v.id);
    return id;
}

tc_cs_val ti_cs_wrap(tc_cs *s, tc_dtype dtype, tc_cs_val v)
{
    tc_cs_kind kind = v.kind;
    if (dtype == TC_bool || kind == TC_CS_BOOL || (kind == TC_CS_F32) != ti_is_float(dtype))
        return v;
    uint32_t id = narrowed(s, dtype, v);
    return id == v.id ? v : ti_cs_to(s, kind, widened(s, dtype, id));
}

/* ---- tensors --------------------------------------------------------------------------------- */

void ti_cs_split(tc_cs *s, const tc_type *t, tc_cs_val place, tc_cs_val *at)
{
    for (int i = t->rank - 1; i >= 0; i--) {
        bool first = true; /* of the axes that have more than one element */
        for (int k = 0; k < i; k++)
            first = first && t->dim[k] == 1;
        at[i] = first && t->dim[i] != 1 ? place : ti_cs_rest(s, place, t->dim[i]);
        place = first ? place : ti_cs_part(s, place, t->dim[i]);
    }
}

tc_cs_val ti_cs_join(tc_cs *s, const tc_type *t, const tc_cs_val *at)
{
    tc_cs_val place = ti_cs_i32(s, 0);
    bool any = false;
    for (int i = 0; i < t->rank; i++) {
        if (t->dim[i] == 1)
            continue;
        place = any ? ti_cs_add(s, ti_cs_mul(s, place, ti_cs_i32(s, t->dim[i])), at[i]) : at[i];
        any = true;
    }
    return place;
}

tc_cs_val ti_cs_spread(tc_cs *s, const tc_type *to, const tc_type *from, tc_cs_val place)
{
    tc_cs_val at[TC_MAX_RANK];
    if (ti_same_dims(to, from))
        return place;
    if (tc_type_count(from) == 1)
        return ti_cs_i32(s, 0);
    ti_cs_split(s, to, place, at);
    int skip = to->rank - from->rank;
    for (int i = 0; i < from->rank; i++)
        at[i] = from->dim[i] == 1 ? ti_cs_i32(s, 0) : at[i + skip];
    return ti_cs_join(s, from, at);
}

static uint32_t rank_of(const tc_type *t)
{
    return t->rank ? (uint32_t)t->rank : 1;
}

/* The tensor itself, loaded from its variable. */
static uint32_t tensor(tc_cs *s, int port)
{
    tc_cs_port *p = &s->port[port];
    uint32_t element = stored_type(s, p->value.type->dtype);
    uint32_t rank = word(s, rank_of(p->value.type));
    uint32_t type = UNIQUE(s, TC_SPV_TypeTensorARM, 0, element, rank);
    if (!p->variable) {
        uint32_t pointer = UNIQUE(s, TC_SPV_TypePointer, 0, TC_SPV_UNIFORM_CONSTANT, type);
        p->variable = ti_spv_id(&s->w);
        TC_SPV_PUT(&s->w, TC_SPV_GLOBALS, TC_SPV_Variable, pointer, p->variable,
                   TC_SPV_UNIFORM_CONSTANT);
    }
    uint32_t id = ti_spv_id(&s->w);
    PUT(s, TC_SPV_Load, type, id, p->variable);
    return id;
}

void ti_cs_sample(tc_cs *s, int port, tc_cs_val u, tc_cs_val v, tc_cs_val out[4])
{
    enum { DIM_2D = 1, SAMPLED = 1, ANY_FORMAT = 0, LOD = 2 };
    tc_cs_port *p = &s->port[port];
    uint32_t f32 = kind_type(s, TC_CS_F32), two = UNIQUE(s, TC_SPV_TypeVector, 0, f32, 2),
             four = UNIQUE(s, TC_SPV_TypeVector, 0, f32, 4),
             image = UNIQUE(s, TC_SPV_TypeImage, 0, f32, DIM_2D, 0, 0, 0, SAMPLED, ANY_FORMAT),
             type = UNIQUE(s, TC_SPV_TypeSampledImage, 0, image);
    if (!p->variable) {
        uint32_t pointer = UNIQUE(s, TC_SPV_TypePointer, 0, TC_SPV_UNIFORM_CONSTANT, type);
        p->variable = ti_spv_id(&s->w);
        TC_SPV_PUT(&s->w, TC_SPV_GLOBALS, TC_SPV_Variable, pointer, p->variable,
                   TC_SPV_UNIFORM_CONSTANT);
    }
    uint32_t from = ti_spv_id(&s->w), at = ti_spv_id(&s->w), pixel = ti_spv_id(&s->w);
    tc_cs_val zero = ti_cs_number(s, TC_CS_F32, 0);
    PUT(s, TC_SPV_Load, type, from, p->variable);
    PUT(s, TC_SPV_CompositeConstruct, two, at, u.id, v.id);
    PUT(s, TC_SPV_ImageSampleExplicitLod, four, pixel, from, at, LOD, zero.id);
    for (uint32_t i = 0; i < 4; i++)
        out[i] = made(s, TC_CS_F32, TC_SPV_CompositeExtract, (const uint32_t[]){pixel, i}, 2);
}

static uint32_t coordinates(tc_cs *s, const tc_type *t, tc_cs_val place)
{
    tc_cs_val at[TC_MAX_RANK] = {place};
    uint32_t words[TC_MAX_RANK + 2], n = rank_of(t);
    if (t->rank)
        ti_cs_split(s, t, place, at);
    uint32_t length = word(s, n), u32 = int_type(s, 32);
    words[0] = UNIQUE(s, TC_SPV_TypeArray, 0, u32, length);
    words[1] = ti_spv_id(&s->w);
    for (uint32_t i = 0; i < n; i++)
        words[2 + i] = at[i].id;
    ti_spv_put(&s->w, TC_SPV_BODY, TC_SPV_CompositeConstruct, words, n + 2);
    return words[1];
}

/* An element of a constant, as the code has it. */
static uint32_t constant_element(tc_cs *s, tc_tensor t, int64_t i)
{
    tc_dtype dtype = t.type->dtype;
    uint32_t type = stored_type(s, dtype), low = 0, high = 0;
    size_t bytes = tc_dtypes[dtype].bytes;
    const char *at = (const char *)t.data + (size_t)i * bytes;
    if (dtype == TC_bool)
        return ti_spv_unique(&s->w, *at ? TC_SPV_ConstantTrue : TC_SPV_ConstantFalse, type, NULL, 0);
    memcpy(&low, at, bytes < 4 ? bytes : 4);
    if (bytes < 4 && tc_dtypes[dtype].kind == TC_INT) /* narrow ones lie sign-extended */
        low = (uint32_t)ti_load_i64(t, i);
    if (bytes < 8)
        return UNIQUE(s, TC_SPV_Constant, type, low);
    memcpy(&high, at + 4, 4);
    return UNIQUE(s, TC_SPV_Constant, type, low, high);
}

enum { MOST_CONSTANTS = 1 << 14 }; /* elements of one that stands in the code */

/* A list that stands in the code: a variable with its numbers. */
static uint32_t constant_list(tc_cs *s, tc_tensor t)
{
    int64_t n = tc_type_count(t.type);
    uint32_t *element = tc_new_n(&s->ctx->scratch, uint32_t, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        element[i] = constant_element(s, t, i);
    uint32_t length = word(s, (uint32_t)n), of = stored_type(s, t.type->dtype);
    uint32_t type = UNIQUE(s, TC_SPV_TypeArray, 0, of, length);
    uint32_t pointer = UNIQUE(s, TC_SPV_TypePointer, 0, STORAGE_FUNCTION, type);
    uint32_t list = ti_spv_unique(&s->w, TC_SPV_ConstantComposite, type, element, (size_t)n);
    uint32_t id = ti_spv_id(&s->w);
    TC_SPV_PUT(&s->w, TC_SPV_ENTRIES, TC_SPV_Variable, pointer, id, STORAGE_FUNCTION, list);
    return id;
}

static bool all_alike(tc_tensor t)
{
    size_t bytes = tc_dtypes[t.type->dtype].bytes;
    int64_t n = tc_type_count(t.type);
    for (int64_t i = 1; i < n; i++)
        if (memcmp(t.data, (const char *)t.data + (size_t)i * bytes, bytes) != 0)
            return false;
    return true;
}

static uint32_t constant_at(tc_cs *s, tc_cs_port *p, tc_cs_val place)
{
    int64_t n = tc_type_count(p->value.type);
    if (n == 1 || all_alike(p->value))
        return constant_element(s, p->value, 0);
    if (n > MOST_CONSTANTS) {
        s->why = "a constant of more than 16384 numbers would stand in its code";
        return constant_element(s, p->value, 0);
    }
    uint32_t of = stored_type(s, p->value.type->dtype);
    p->variable = p->variable ? p->variable : constant_list(s, p->value);
    uint32_t pointer = UNIQUE(s, TC_SPV_TypePointer, 0, STORAGE_FUNCTION, of);
    uint32_t at = ti_spv_id(&s->w), id = ti_spv_id(&s->w);
    PUT(s, TC_SPV_AccessChain, pointer, at, p->variable, place.id);
    PUT(s, TC_SPV_Load, of, id, at);
    return id;
}

tc_cs_val ti_cs_item(tc_cs *s, tc_cs_list *list, tc_cs_val place)
{
    tc_cs_port port = {.value = list->numbers, .variable = list->variable};
    uint32_t id = constant_at(s, &port, place);
    list->variable = port.variable;
    return widened(s, list->numbers.type->dtype, id);
}

/* Scale, or its inverse, and zero of the channel that a place lies in. */
static void grid_at(tc_cs *s, const tc_type *t, tc_cs_val place, bool inverse, tc_cs_val *scale,
                    tc_cs_val *zero)
{
    const tc_quant *q = t->quant;
    int64_t n = q->count, inner = 1;
    tc_tensor scales = ti_tensor_new(&s->ctx->scratch, ti_type_make(s->ctx, TC_f32, 1, &n)),
              zeros = ti_tensor_new(&s->ctx->scratch, ti_type_make(s->ctx, TC_i32, 1, &n));
    for (int64_t c = 0; c < n; c++) {
        ti_store_f64(scales, c, (double)(float)(inverse ? 1.0 / q->scale[c] : q->scale[c]));
        ti_store_i64(zeros, c, q->zero[c]);
    }
    for (int i = q->axis + 1; i < t->rank; i++)
        inner *= t->dim[i];
    tc_cs_val channel =
        q->axis < 0 ? ti_cs_i32(s, 0) : ti_cs_rest(s, ti_cs_part(s, place, inner), n);
    *scale = ti_cs_item(s, &(tc_cs_list){scales, 0}, channel);
    *zero = ti_cs_item(s, &(tc_cs_list){zeros, 0}, channel);
}

tc_cs_val ti_cs_load(tc_cs *s, int port, tc_cs_val place)
{
    tc_cs_port *p = &s->port[port];
    const tc_type *t = p->value.type;
    uint32_t id;
    if (p->value.data)
        id = constant_at(s, p, place);
    else {
        uint32_t from = tensor(s, port), at = coordinates(s, t, place), type = stored_type(s, t->dtype);
        id = ti_spv_id(&s->w);
        PUT(s, TC_SPV_TensorReadARM, type, id, from, at);
    }
    tc_cs_val v = widened(s, t->dtype, id), scale, zero;
    if (!t->quant || p->stored)
        return v;
    grid_at(s, t, place, false, &scale, &zero);
    v = ti_cs_sub(s, ti_cs_to(s, TC_CS_I32, v), zero);
    return ti_cs_mul(s, ti_cs_to(s, TC_CS_F32, v), scale);
}

/* clamp(round(v / scale) + zero), as an integer; NaN becomes 0. */
static tc_cs_val code_of(tc_cs *s, const tc_type *t, tc_cs_val place, tc_cs_val v)
{
    const tc_quant *q = t->quant;
    tc_cs_val scale, zero, none = {0};
    grid_at(s, t, place, true, &scale, &zero);
    v = ti_cs_mul(s, ti_cs_to(s, TC_CS_F32, v), scale);
    v = ti_cs_ext(s, TC_GLSL_RoundEven, v, none);
    tc_cs_val code = ti_cs_add(s, v, ti_cs_to(s, TC_CS_F32, zero)),
              lo = ti_cs_number(s, TC_CS_F32, (double)q->lo),
              hi = ti_cs_number(s, TC_CS_F32, (double)q->hi);
    code = ti_cs_select(s, ti_cs_less(s, code, lo), lo, code);
    code = ti_cs_select(s, ti_cs_less(s, hi, code), hi, code);
    tc_cs_val zero_code = ti_cs_number(s, TC_CS_F32, 0);
    code = ti_cs_select(s, ti_cs_nan(s, v), zero_code, code);
    return ti_cs_to(s, TC_CS_I32, code);
}

void ti_cs_store(tc_cs *s, int port, tc_cs_val place, tc_cs_val v)
{
    const tc_cs_port *p = &s->port[port];
    const tc_type *t = p->value.type;
    if (t->quant && !p->stored)
        v = code_of(s, t, place, v);
    uint32_t id = narrowed(s, t->dtype, v), to = tensor(s, port), at = coordinates(s, t, place);
    PUT(s, TC_SPV_TensorWriteARM, to, at, id);
}

/* ---- control flow ---------------------------------------------------------------------------- */

/* Variables and the function's beginning stand in a part of their own, before the code. */
tc_cs_var ti_cs_var(tc_cs *s, tc_cs_val first)
{
    uint32_t type = kind_type(s, first.kind),
             pointer = UNIQUE(s, TC_SPV_TypePointer, 0, STORAGE_FUNCTION, type);
    tc_cs_var v = {ti_spv_id(&s->w), first.kind};
    TC_SPV_PUT(&s->w, TC_SPV_ENTRIES, TC_SPV_Variable, pointer, v.id, STORAGE_FUNCTION);
    PUT(s, TC_SPV_Store, v.id, first.id);
    return v;
}

tc_cs_val ti_cs_get(tc_cs *s, tc_cs_var v)
{
    return ti_cs_one(s, TC_SPV_Load, v.kind, (tc_cs_val){v.id, v.kind});
}

void ti_cs_set(tc_cs *s, tc_cs_var v, tc_cs_val now)
{
    PUT(s, TC_SPV_Store, v.id, ti_cs_to(s, v.kind, now).id);
}

static void label(tc_cs *s, uint32_t id)
{
    PUT(s, TC_SPV_Label, id);
}

tc_cs_if ti_cs_if(tc_cs *s, tc_cs_val condition)
{
    uint32_t inside = ti_spv_id(&s->w), end = ti_spv_id(&s->w);
    PUT(s, TC_SPV_SelectionMerge, end, 0);
    PUT(s, TC_SPV_BranchConditional, condition.id, inside, end);
    label(s, inside);
    return (tc_cs_if){0, end};
}

void ti_cs_end(tc_cs *s, tc_cs_if block)
{
    PUT(s, TC_SPV_Branch, block.end);
    label(s, block.end);
}

tc_cs_loop ti_cs_loop(tc_cs *s, tc_cs_val times)
{
    tc_cs_loop l = {.head = ti_spv_id(&s->w)};
    l.next = ti_spv_id(&s->w);
    l.end = ti_spv_id(&s->w);
    l.i = ti_cs_var(s, ti_cs_number(s, times.kind, 0));
    uint32_t test = ti_spv_id(&s->w), body = ti_spv_id(&s->w);
    PUT(s, TC_SPV_Branch, l.head);
    label(s, l.head);
    PUT(s, TC_SPV_LoopMerge, l.end, l.next, 0);
    PUT(s, TC_SPV_Branch, test);
    label(s, test);
    l.at = ti_cs_get(s, l.i);
    PUT(s, TC_SPV_BranchConditional, ti_cs_less(s, l.at, times).id, body, l.end);
    label(s, body);
    return l;
}

void ti_cs_again(tc_cs *s, tc_cs_loop *l)
{
    PUT(s, TC_SPV_Branch, l->next);
    label(s, l->next);
    tc_cs_val i = ti_cs_get(s, l->i), one = ti_cs_number(s, l->i.kind, 1);
    ti_cs_set(s, l->i, ti_cs_add(s, i, one));
    PUT(s, TC_SPV_Branch, l->head);
    label(s, l->end);
}

/* ---- the module ------------------------------------------------------------------------------ */

/* Work groups of 64, in rows where there are too many for one. */
static void put_groups(const tc_cs *s, int64_t *groups)
{
    int64_t n = (s->count + LOCAL - 1) / LOCAL;
    groups[0] = n > MOST_GROUPS ? 4096 : n;
    groups[1] = groups[0] ? (n + groups[0] - 1) / groups[0] : 1;
    groups[2] = 1;
}

/* The place that this invocation is for. */
static tc_cs_val invocation(tc_cs *s, const int64_t *groups)
{
    uint32_t u32 = int_type(s, 32), vector = UNIQUE(s, TC_SPV_TypeVector, 0, u32, 3),
             pointer = UNIQUE(s, TC_SPV_TypePointer, 0, STORAGE_INPUT, vector);
    s->global = ti_spv_id(&s->w);
    TC_SPV_PUT(&s->w, TC_SPV_GLOBALS, TC_SPV_Variable, pointer, s->global, STORAGE_INPUT);
    TC_SPV_PUT(&s->w, TC_SPV_DECORATIONS, TC_SPV_Decorate, s->global, DECORATION_BUILTIN,
               GLOBAL_INVOCATION_ID);
    uint32_t all = ti_spv_id(&s->w), x = ti_spv_id(&s->w), y = ti_spv_id(&s->w);
    PUT(s, TC_SPV_Load, vector, all, s->global);
    PUT(s, TC_SPV_CompositeExtract, u32, x, all, 0);
    tc_cs_val place = {x, TC_CS_I32};
    if (groups[1] == 1)
        return place;
    PUT(s, TC_SPV_CompositeExtract, u32, y, all, 1);
    return ti_cs_add(s, place,
                     ti_cs_mul(s, (tc_cs_val){y, TC_CS_I32}, ti_cs_i32(s, groups[0] * LOCAL)));
}

/* Capabilities, the entry point and its interface, now that it is known what is used. */
static void put_head(tc_cs *s, uint32_t function, const tc_cs_code *code)
{
    const struct {
        bool used;
        uint32_t capability;
    } need[] = {{true, TC_SPV_CAP_SHADER},     {true, TC_SPV_CAP_TENSORS},
                {s->int8, TC_SPV_CAP_INT8},    {s->int16, TC_SPV_CAP_INT16},
                {s->int64, TC_SPV_CAP_INT64},  {s->float16, TC_SPV_CAP_FLOAT16}};
    uint32_t interface[TC_CS_PORTS + 2] = {0}, n = 0, before[2] = {5, function};
    for (size_t i = 0; i < TC_COUNT(need); i++)
        if (need[i].used)
            TC_SPV_PUT(&s->w, TC_SPV_HEAD, TC_SPV_Capability, need[i].capability);
    ti_spv_put_text(&s->w, TC_SPV_HEAD, TC_SPV_Extension, NULL, 0, "SPV_ARM_tensors", NULL, 0);
    if (s->glsl)
        ti_spv_put_text(&s->w, TC_SPV_HEAD, TC_SPV_ExtInstImport, &s->glsl, 1, "GLSL.std.450", NULL,
                        0);
    TC_SPV_PUT(&s->w, TC_SPV_HEAD, TC_SPV_MemoryModel, TC_SPV_LOGICAL, 1);
    interface[n++] = s->global;
    for (int i = 0; i < code->n_port; i++) {
        uint32_t variable = interface[n++] = s->port[code->port[i]].variable;
        TC_SPV_PUT(&s->w, TC_SPV_DECORATIONS, TC_SPV_Decorate, variable, TC_SPV_DESCRIPTOR_SET, 0);
        TC_SPV_PUT(&s->w, TC_SPV_DECORATIONS, TC_SPV_Decorate, variable, TC_SPV_BINDING, (uint32_t)i);
    }
    ti_spv_put_text(&s->w, TC_SPV_HEAD, TC_SPV_EntryPoint, before, 2, "main", interface, n);
    TC_SPV_PUT(&s->w, TC_SPV_HEAD, TC_SPV_ExecutionMode, function, 17, LOCAL, 1, 1);
}

const tc_cs_family *ti_cs_family(tc_op op)
{
#define FAMILY(name, each, moves) static const tc_cs_family name = {#name, ti_cs_##name, each, moves};
#define SHADER(op, family)
#include "compute.def"
    static const tc_cs_family *const of[TC_OP_COUNT] = {
#define FAMILY(name, each, moves)
#define SHADER(op, family) [TC_OP_##op] = &family,
#include "compute.def"
    };
    if (!of[op] && tc_ops[op].traits & T_ELTWISE && op < TC_OP_tosa_argmax)
        return &elementwise;
    return of[op];
}

/* All quantized ports have one grid: codes may be moved as they are. */
static bool one_grid(const tc_cs *s)
{
    const tc_quant *first = NULL;
    for (int i = 0; i < s->n_port; i++) {
        const tc_quant *q = ti_cs_type(s, i) ? ti_cs_type(s, i)->quant : NULL;
        if (!q)
            continue;
        if (q->axis >= 0 || (first && (q->scale[0] != first->scale[0] || q->zero[0] != first->zero[0])))
            return false;
        first = q;
    }
    return true;
}

static void set_ports(tc_cs *s, const tc_graph *g, const tc_node *node, const tc_cs_family *family)
{
    s->n_in = node->n_in;
    s->n_port = node->n_in + node->n_out;
    for (int i = 0; i < s->n_port; i++) {
        tc_val v = i < node->n_in ? node->in[i] : node->out[i - node->n_in];
        if (v)
            s->port[i].value = (tc_tensor){ti_type_of(g, v), NULL};
        if (v && i < node->n_in && ti_is_const(g, v))
            s->port[i].value = ti_tensor_of(g, v);
    }
    bool stored = family->moves && (ti_op_sees_storage(node->op) || one_grid(s));
    for (int i = 0; i < s->n_port; i++)
        s->port[i].stored = stored;
}

/* Why no shader can have the node's values, or NULL. */
static const char *refused(tc_ctx *ctx, const tc_cs *s)
{
    for (int i = 0; i < s->n_port; i++) {
        const tc_type *t = s->port[i].value.type;
        if (!t)
            continue;
        if (!ti_cs_holds(t->dtype))
            return ti_text_format(&ctx->arena, "a shader has no %s", tc_dtypes[t->dtype].name);
        if (ti_type_open(t) || tc_type_count(t) < 1 || tc_type_count(t) > INT32_MAX)
            return ti_text_format(&ctx->arena, "a tensor has the shape %s",
                                  ti_dims_text(&ctx->arena, t->rank, t->dim));
    }
    return NULL;
}

static void put_function(tc_cs *s, const tc_node *node, const tc_cs_family *family, tc_cs_code *out)
{
    uint32_t none = ti_spv_unique(&s->w, TC_SPV_TypeVoid, 0, NULL, 0);
    uint32_t type = UNIQUE(s, TC_SPV_TypeFunction, 0, none), function = ti_spv_id(&s->w),
             start = ti_spv_id(&s->w);
    TC_SPV_PUT(&s->w, TC_SPV_ENTRIES, TC_SPV_Function, none, function, 0, type);
    TC_SPV_PUT(&s->w, TC_SPV_ENTRIES, TC_SPV_Label, start);
    put_groups(s, out->groups);
    tc_cs_val at = invocation(s, out->groups);
    tc_cs_if inside = ti_cs_if(s, ti_cs_less(s, at, ti_cs_i32(s, s->count)));
    family->make(s, node, at);
    ti_cs_end(s, inside);
    ti_spv_put(&s->w, TC_SPV_BODY, TC_SPV_Return, NULL, 0);
    ti_spv_put(&s->w, TC_SPV_BODY, TC_SPV_FunctionEnd, NULL, 0);
    for (int i = 0; i < s->n_port; i++)
        if (s->port[i].variable && !s->port[i].value.data)
            out->port[out->n_port++] = i;
    put_head(s, function, out);
}

const char *ti_cs_code_of(tc_ctx *ctx, tc_cs *s, const tc_cs_family *family, const tc_node *node,
                          tc_cs_code *out)
{
    *out = (tc_cs_code){.n_port = 0};
    s->ctx = ctx;
    const char *why = refused(ctx, s);
    if (why)
        return why;
    int port = family->per == TC_CS_OPERAND ? 0 : s->n_in + s->result;
    ti_spv_write(&s->w, &ctx->arena);
    s->count = s->count ? s->count : tc_type_count(ti_cs_type(s, port));
    put_function(s, node, family, out);
    out->words = ti_spv_finish(&s->w);
    return s->why ? s->why : out->words.data ? NULL : "its code is too long";
}

const char *ti_cs_node(tc_ctx *ctx, const tc_graph *g, const tc_node *node, int result,
                       tc_cs_code *out)
{
    const tc_cs_family *family = ti_cs_family(node->op);
    *out = (tc_cs_code){.n_port = 0};
    if (!family)
        return ti_text_format(&ctx->arena, "'%s' has no shader", tc_ops[node->op].name);
    if (node->n_in + node->n_out > TC_CS_PORTS)
        return "it has too many operands for one shader";
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_cs *s = tc_new(&ctx->scratch, tc_cs);
    s->result = result;
    set_ports(s, g, node, family);
    const char *why = ti_cs_code_of(ctx, s, family, node, out);
    ti_arena_rewind(&ctx->scratch, mark);
    return why;
}
