/* SPDX-License-Identifier: Apache-2.0 */
/* compute_tensor.c -- the builder of compute shaders: indices, tensors, images and inline
 * constants. */
#include "compute_build.h"

#include "../../num/load.h"

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

/* The variable of a value of the graph, which may be read several times; 0: none so far. */
static uint32_t known(const tc_cs *s, tc_val v)
{
    for (int i = 0; v && i < s->n_known; i++)
        if (s->known[i].val == v)
            return s->known[i].variable;
    return 0;
}

static void keep(tc_cs *s, tc_val v, uint32_t variable)
{
    if (!v)
        return;
    if (s->n_known == TC_CS_PORTS) {
        s->why = "it has too many operands for one shader";
        return;
    }
    s->known[s->n_known].val = v;
    s->known[s->n_known++].variable = variable;
}

/* The tensor itself, loaded from its variable. */
static uint32_t tensor(tc_cs *s, int port)
{
    tc_cs_port *p = &s->port[port];
    uint32_t element = ti_cs_stored_type(s, p->value.type->dtype);
    uint32_t rank = ti_cs_word(s, rank_of(p->value.type));
    uint32_t type = UNIQUE(s, TC_SPV_TypeTensorARM, 0, element, rank);
    p->variable = p->variable ? p->variable : known(s, p->val);
    if (!p->variable) {
        uint32_t pointer = UNIQUE(s, TC_SPV_TypePointer, 0, TC_SPV_UNIFORM_CONSTANT, type);
        p->variable = ti_spv_id(&s->w);
        TC_SPV_PUT(&s->w, TC_SPV_GLOBALS, TC_SPV_Variable, pointer, p->variable,
                   TC_SPV_UNIFORM_CONSTANT);
        keep(s, p->val, p->variable);
    }
    uint32_t id = ti_spv_id(&s->w);
    PUT(s, TC_SPV_Load, type, id, p->variable);
    return id;
}

void ti_cs_sample(tc_cs *s, int port, tc_cs_val u, tc_cs_val v, tc_cs_val out[4])
{
    enum { DIM_2D = 1, SAMPLED = 1, ANY_FORMAT = 0, LOD = 2 };
    tc_cs_port *p = &s->port[port];
    uint32_t f32 = ti_cs_kind_type(s, TC_CS_F32), two = UNIQUE(s, TC_SPV_TypeVector, 0, f32, 2),
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
        out[i] = ti_cs_made(s, TC_CS_F32, TC_SPV_CompositeExtract, (const uint32_t[]){pixel, i}, 2);
}

static uint32_t coordinates(tc_cs *s, const tc_type *t, tc_cs_val place)
{
    tc_cs_val at[TC_MAX_RANK] = {place};
    uint32_t words[TC_MAX_RANK + 2], n = rank_of(t);
    if (t->rank)
        ti_cs_split(s, t, place, at);
    uint32_t length = ti_cs_word(s, n), u32 = ti_spv_int(&s->w, 32);
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
    uint32_t type = ti_cs_stored_type(s, dtype), low = 0, high = 0;
    size_t bytes = tc_dtypes[dtype].bytes;
    const char *at = (const char *)t.data + (size_t)i * bytes;
    if (dtype == TC_bool)
        return ti_spv_unique(&s->w, *at ? TC_SPV_ConstantTrue : TC_SPV_ConstantFalse, type, NULL, 0);
    memcpy(&low, at, bytes < 4 ? bytes : 4);
    if (bytes < 4 && tc_dtypes[dtype].kind == TC_INT) /* narrow ones are sign-extended */
        low = (uint32_t)ti_load_i64(t, i);
    if (bytes < 8)
        return UNIQUE(s, TC_SPV_Constant, type, low);
    memcpy(&high, at + 4, 4);
    return UNIQUE(s, TC_SPV_Constant, type, low, high);
}

enum { MOST_CONSTANTS = 1 << 14 }; /* elements of an inline one */

/* An inline list: a variable with its elements. */
static uint32_t constant_list(tc_cs *s, tc_tensor t)
{
    int64_t n = tc_type_count(t.type);
    uint32_t *element = tc_new_n(&s->ctx->scratch, uint32_t, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        element[i] = constant_element(s, t, i);
    uint32_t length = ti_cs_word(s, (uint32_t)n), of = ti_cs_stored_type(s, t.type->dtype);
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
    uint32_t of = ti_cs_stored_type(s, p->value.type->dtype);
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
    return ti_cs_widened(s, list->numbers.type->dtype, id);
}

/* Scale, or its inverse, and zero of the channel of an index. */
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
    if (p->made)
        id = ti_cs_made_at(s, p->made, place);
    else if (p->value.data)
        id = constant_at(s, p, place);
    else {
        uint32_t from = tensor(s, port), at = coordinates(s, t, place), type = ti_cs_stored_type(s, t->dtype);
        id = ti_spv_id(&s->w);
        PUT(s, TC_SPV_TensorReadARM, type, id, from, at);
    }
    tc_cs_val v = ti_cs_widened(s, t->dtype, id), scale, zero;
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
    uint32_t id = ti_cs_narrowed(s, t->dtype, v);
    if (s->inner) {
        s->taken = id;
        return;
    }
    uint32_t to = tensor(s, port), at = coordinates(s, t, place);
    PUT(s, TC_SPV_TensorWriteARM, to, at, id);
}
