/* SPDX-License-Identifier: Apache-2.0 */
/* shader_types.c -- what a shader's module declares in front of its functions: decorations, types,
 * constants and variables; see shader.h. */
#include "shader.h"

#include <stdarg.h>
#include <stdio.h>

#include "shader_words.h"

enum { MOST_SLOTS = 1 << 15, MOST_REGISTERS = 1 << 20 };

/* ---- small things ---------------------------------------------------------------------------- */

bool ti_sh_fail(tc_sh_reader *r, const char *format, ...)
{
    char text[200];
    va_list args;
    if (r->error)
        return false;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    r->error = ti_text_format(r->arena, "SPIR-V word %zu: %s", r->at.at / 4, text);
    return false;
}

bool ti_sh_refuse(tc_sh_reader *r)
{
    const char *name = ti_spv_name(r->at.op);
    if (name)
        return ti_sh_fail(r, "Op%s is not supported", name);
    return ti_sh_fail(r, "instruction %" PRIu32 " is not known", r->at.op);
}

tc_sh_id *ti_sh_id(tc_sh_reader *r, uint32_t id)
{
    if (id && id < r->bound)
        return &r->id[id];
    ti_sh_fail(r, "the id %%%" PRIu32 " is past the bound", id);
    r->id[0] = (tc_sh_id){.of = 0}; /* the id 0 is unused */
    return &r->id[0];
}

const tc_sh_type *ti_sh_type(tc_sh_reader *r, uint32_t id)
{
    static const tc_sh_type none;
    const tc_sh_type *t = ti_sh_id(r, id)->type;
    if (!t)
        ti_sh_fail(r, "%%%" PRIu32 " is not a type", id);
    return t ? t : &none;
}

uint32_t ti_sh_registers(tc_sh_reader *r, uint32_t n)
{
    tc_sh_program *p = r->program;
    uint32_t first = (uint32_t)p->n_register;
    if (n > MOST_SLOTS || first + n > MOST_REGISTERS) {
        ti_sh_fail(r, "the shader needs more than %d registers", MOST_REGISTERS);
        return 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        tc_grow(r->arena, p->start, p->n_register, p->cap_register);
        p->start[p->n_register++] = 0;
    }
    return first;
}

uint32_t ti_sh_value(tc_sh_reader *r, uint32_t id, const tc_sh_type **type)
{
    const tc_sh_id *v = ti_sh_id(r, id);
    static const tc_sh_type none;
    *type = &none;
    if (v->is != TC_SH_VALUE) {
        ti_sh_fail(r, "%%%" PRIu32 " is not a value that is known here", id);
        return 0;
    }
    *type = ti_sh_type(r, v->of);
    return v->slot;
}

bool ti_sh_constant(tc_sh_reader *r, uint32_t id, uint64_t *out)
{
    const tc_sh_id *v = ti_sh_id(r, id);
    const tc_sh_type *t = v->is == TC_SH_VALUE ? ti_sh_type(r, v->of) : NULL;
    *out = 0;
    if (!t || !v->fixed || t->kind != TC_SH_INT)
        return false;
    *out = r->program->start[v->slot];
    return true;
}

uint32_t ti_sh_result(tc_sh_reader *r, const tc_sh_type **type)
{
    tc_sh_id *v = ti_sh_id(r, ti_sh_word(r, 1));
    *type = ti_sh_type(r, ti_sh_word(r, 0));
    if (!(*type)->slots && (*type)->kind != TC_SH_STRUCT)
        ti_sh_fail(r, "a result is of a type that has no values");
    v->is = TC_SH_VALUE;
    v->of = ti_sh_word(r, 0);
    v->fixed = false;
    v->slot = ti_sh_registers(r, (*type)->slots);
    return v->slot;
}

void ti_sh_result_is(tc_sh_reader *r, uint32_t slot)
{
    tc_sh_id *v = ti_sh_id(r, ti_sh_word(r, 1));
    v->is = TC_SH_VALUE;
    v->of = ti_sh_word(r, 0);
    v->fixed = false;
    v->slot = slot;
}

const tc_sh_type *ti_sh_scalar(tc_sh_reader *r, const tc_sh_type *t)
{
    while (t->kind == TC_SH_VECTOR || t->kind == TC_SH_MATRIX)
        t = ti_sh_type(r, t->element);
    bool scalar = t->kind == TC_SH_BOOL || t->kind == TC_SH_INT || t->kind == TC_SH_FLOAT;
    return scalar ? t : NULL;
}

/* ---- types ----------------------------------------------------------------------------------- */

static bool numeric(const tc_sh_type *t)
{
    return t->kind == TC_SH_BOOL || t->kind == TC_SH_INT || t->kind == TC_SH_FLOAT;
}

static void scalar_type(tc_sh_reader *r, tc_sh_type *t)
{
    uint32_t encoding = ti_sh_word(r, 2);
    t->bits = t->kind == TC_SH_BOOL ? 8 : ti_sh_word(r, 1);
    t->slots = 1;
    t->is_signed = t->kind == TC_SH_INT && encoding;
    t->is_bfloat = t->kind == TC_SH_FLOAT && r->at.n > 2 && encoding == TC_SPV_BFLOAT16;
    bool whole = t->bits == 8 || t->bits == 16 || t->bits == 32 || t->bits == 64;
    bool other = t->kind == TC_SH_FLOAT && r->at.n > 2 && !t->is_bfloat;
    if (!whole || other || (t->kind == TC_SH_FLOAT && t->bits == 8))
        ti_sh_fail(r, "numbers of %" PRIu32 " bits, or of this encoding, are not supported", t->bits);
}

/* Vectors, matrices, arrays: `count` of one type. */
static void repeated_type(tc_sh_reader *r, tc_sh_type *t)
{
    const tc_sh_type *e = ti_sh_type(r, t->element = ti_sh_word(r, 1));
    uint64_t count = ti_sh_word(r, 2);
    if (t->kind == TC_SH_ARRAY && !ti_sh_constant(r, ti_sh_word(r, 2), &count))
        ti_sh_fail(r, "an array's length is not a constant");
    bool fits = t->kind == TC_SH_VECTOR   ? numeric(e) && count >= 2 && count <= 16
                : t->kind == TC_SH_MATRIX ? e->kind == TC_SH_VECTOR && count >= 2 && count <= 4
                                          : count >= 1;
    if (!fits || count > MOST_SLOTS || count * e->slots > MOST_SLOTS)
        ti_sh_fail(r, "an array, vector or matrix is too large, or of the wrong elements");
    else
        t->slots = (uint32_t)count * e->slots;
    t->count = (uint32_t)count;
}

static void struct_type(tc_sh_reader *r, tc_sh_type *t)
{
    t->count = (uint32_t)(r->at.n - 1);
    uint32_t *member = tc_new_n(r->arena, uint32_t, t->count + 1);
    t->offset = tc_new_n(r->arena, uint32_t, t->count + 1);
    t->columns = tc_new_n(r->arena, uint32_t, t->count + 1);
    t->by_rows = tc_new_n(r->arena, bool, t->count + 1);
    uint64_t slots = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        member[i] = ti_sh_word(r, 1 + i);
        slots += ti_sh_type(r, member[i])->slots;
    }
    t->member = member;
    if (slots > MOST_SLOTS)
        ti_sh_fail(r, "a struct is too large");
    t->slots = slots > MOST_SLOTS ? 0 : (uint32_t)slots;
}

static void image_type(tc_sh_reader *r, tc_sh_type *t)
{
    t->element = ti_sh_word(r, 1);
    t->dim = ti_sh_word(r, 2);
    t->arrayed = ti_sh_word(r, 4);
    t->multisampled = ti_sh_word(r, 5);
    t->sampled = ti_sh_word(r, 6);
}

static void tensor_type(tc_sh_reader *r, tc_sh_type *t)
{
    uint64_t rank = 0;
    t->element = ti_sh_word(r, 1);
    if (r->at.n < 3 || !ti_sh_constant(r, ti_sh_word(r, 2), &rank) || !rank || rank > TC_MAX_RANK)
        ti_sh_fail(r, "a tensor's rank is not a constant from 1 to %d", TC_MAX_RANK);
    t->count = (uint32_t)rank;
}

static bool read_type(tc_sh_reader *r)
{
    static const struct {
        uint32_t op;
        tc_sh_kind kind;
        void (*rest)(tc_sh_reader *, tc_sh_type *);
    } rows[] = {
        {TC_SPV_TypeVoid, TC_SH_VOID, NULL},
        {TC_SPV_TypeBool, TC_SH_BOOL, scalar_type},
        {TC_SPV_TypeInt, TC_SH_INT, scalar_type},
        {TC_SPV_TypeFloat, TC_SH_FLOAT, scalar_type},
        {TC_SPV_TypeVector, TC_SH_VECTOR, repeated_type},
        {TC_SPV_TypeMatrix, TC_SH_MATRIX, repeated_type},
        {TC_SPV_TypeArray, TC_SH_ARRAY, repeated_type},
        {TC_SPV_TypeRuntimeArray, TC_SH_RUNTIME_ARRAY, NULL},
        {TC_SPV_TypeStruct, TC_SH_STRUCT, struct_type},
        {TC_SPV_TypePointer, TC_SH_POINTER, NULL},
        {TC_SPV_TypeImage, TC_SH_IMAGE, image_type},
        {TC_SPV_TypeSampler, TC_SH_SAMPLER, NULL},
        {TC_SPV_TypeSampledImage, TC_SH_SAMPLED_IMAGE, NULL},
        {TC_SPV_TypeTensorARM, TC_SH_TENSOR, tensor_type},
        {TC_SPV_TypeFunction, TC_SH_FUNCTION, NULL},
    };
    for (size_t i = 0; i < TC_COUNT(rows); i++) {
        if (rows[i].op != r->at.op)
            continue;
        tc_sh_id *id = ti_sh_id(r, ti_sh_word(r, 0));
        tc_sh_type *t = tc_new(r->arena, tc_sh_type);
        t->kind = rows[i].kind;
        if (t->kind == TC_SH_RUNTIME_ARRAY || t->kind == TC_SH_SAMPLED_IMAGE)
            t->element = ti_sh_word(r, 1);
        if (t->kind == TC_SH_POINTER) {
            t->storage = ti_sh_word(r, 1);
            t->element = ti_sh_word(r, 2);
        }
        if (rows[i].rest)
            rows[i].rest(r, t);
        id->type = t;
        return true;
    }
    return false;
}

/* ---- constants ------------------------------------------------------------------------------- */

static void fixed(tc_sh_reader *r)
{
    ti_sh_id(r, ti_sh_word(r, 1))->fixed = true;
}

static void read_number(tc_sh_reader *r)
{
    const tc_sh_type *t;
    uint32_t slot = ti_sh_result(r, &t);
    uint64_t bits = ti_sh_word(r, 2) | (uint64_t)ti_sh_word(r, 3) << 32;
    if (!numeric(t) || t->kind == TC_SH_BOOL || r->at.n != (t->bits == 64 ? 4u : 3u)) {
        ti_sh_fail(r, "a constant is not a number of its type");
        return;
    }
    r->program->start[slot] = bits & UINT64_MAX >> (64 - t->bits);
    fixed(r);
}

static void read_truth(tc_sh_reader *r)
{
    const tc_sh_type *t;
    uint32_t slot = ti_sh_result(r, &t);
    if (t->kind != TC_SH_BOOL)
        ti_sh_fail(r, "a truth value is not a bool");
    else
        r->program->start[slot] =
            r->at.op == TC_SPV_ConstantTrue || r->at.op == TC_SPV_SpecConstantTrue;
    fixed(r);
}

static void read_zeros(tc_sh_reader *r)
{
    const tc_sh_type *t;
    ti_sh_result(r, &t);
    fixed(r);
}

static void read_parts(tc_sh_reader *r)
{
    const tc_sh_type *t, *part;
    bool repeat = r->at.op == TC_SPV_ConstantCompositeReplicateEXT;
    uint32_t slot = ti_sh_result(r, &t), at = 0;
    for (size_t i = 2; i < r->at.n && !r->error; i++) {
        uint32_t from = ti_sh_value(r, ti_sh_word(r, i), &part);
        do {
            for (uint32_t k = 0; k < part->slots && at < t->slots; k++)
                r->program->start[slot + at++] = r->program->start[from + k];
        } while (repeat && !r->error && part->slots && at < t->slots);
        if (!ti_sh_id(r, ti_sh_word(r, i))->fixed)
            ti_sh_fail(r, "a part of a constant is not a constant");
    }
    if (at != t->slots)
        ti_sh_fail(r, "a constant has too few parts");
    fixed(r);
}

/* OpSpecConstantOp: the instruction inside is written, run once on what registers begin with, and
 * taken away again. */
static void read_computed(tc_sh_reader *r)
{
    tc_spv_instr whole = r->at, inner = {.op = ti_sh_word(r, 2), .n = r->at.n - 1, .at = r->at.at};
    size_t n_ins = r->program->n_ins;
    if (whole.n < 4) {
        ti_sh_fail(r, "a computed constant has no operands");
        return;
    }
    uint8_t *word = ti_arena_copy(r->arena, whole.word, 4 * whole.n);
    memmove(word + 8, word + 12, 4 * (whole.n - 3));
    inner.word = word;
    r->at = inner;
    if (!ti_sh_arith(r) && !ti_sh_composite(r))
        ti_sh_refuse(r);
    r->at = whole;
    if (r->error)
        return;
    tc_sh_machine m = {.r = r->program->start, .ins = r->program->ins, .budget = 1 << 20};
    for (size_t i = n_ins; i < r->program->n_ins; i++)
        r->program->ins[i].step(&m, &r->program->ins[i]);
    r->program->n_ins = n_ins;
    fixed(r);
}

static bool read_constant(tc_sh_reader *r)
{
    static const struct {
        uint32_t op;
        void (*read)(tc_sh_reader *);
    } rows[] = {
        {TC_SPV_Undef, read_zeros},
        {TC_SPV_ConstantTrue, read_truth},
        {TC_SPV_ConstantFalse, read_truth},
        {TC_SPV_SpecConstantTrue, read_truth},
        {TC_SPV_SpecConstantFalse, read_truth},
        {TC_SPV_Constant, read_number},
        {TC_SPV_SpecConstant, read_number},
        {TC_SPV_ConstantNull, read_zeros},
        {TC_SPV_ConstantComposite, read_parts},
        {TC_SPV_SpecConstantComposite, read_parts},
        {TC_SPV_ConstantCompositeReplicateEXT, read_parts},
        {TC_SPV_SpecConstantOp, read_computed},
    };
    for (size_t i = 0; i < TC_COUNT(rows); i++)
        if (rows[i].op == r->at.op) {
            rows[i].read(r);
            return true;
        }
    return false;
}

/* ---- decorations ----------------------------------------------------------------------------- */

static void decorate(tc_sh_reader *r)
{
    tc_sh_id *id = ti_sh_id(r, ti_sh_word(r, 0));
    uint32_t number = ti_sh_word(r, 2);
    switch (ti_sh_word(r, 1)) {
    case WORD_BINDING:
        id->binding = number;
        id->has_binding = true;
        break;
    case WORD_SET:
        id->set = number;
        break;
    case WORD_BUILTIN:
        id->builtin = number;
        id->has_builtin = true;
        break;
    case WORD_ARRAY_STRIDE:
        id->stride = number;
        break;
    default:
        break;
    }
}

/* Types are there by now. */
static void decorate_member(tc_sh_reader *r)
{
    tc_sh_type *t = ti_sh_id(r, ti_sh_word(r, 0))->type;
    uint32_t i = ti_sh_word(r, 1);
    if (!t || t->kind != TC_SH_STRUCT || i >= t->count)
        return;
    switch (ti_sh_word(r, 2)) {
    case WORD_OFFSET:
        t->offset[i] = ti_sh_word(r, 3);
        break;
    case WORD_MATRIX_STRIDE:
        t->columns[i] = ti_sh_word(r, 3);
        break;
    case WORD_ROW_MAJOR:
        t->by_rows[i] = true;
        break;
    default:
        break;
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void read_entry(tc_sh_reader *r, const char *entry_point)
{
    size_t next;
    tc_str name = ti_spv_text(&r->at, 2, &next);
    if (ti_sh_word(r, 0) == WORD_COMPUTE && ti_str_is(name, entry_point))
        r->entry = r->at;
}

static void read_mode(tc_sh_reader *r)
{
    bool by_id = r->at.op == TC_SPV_ExecutionModeId;
    uint32_t mode = ti_sh_word(r, 1);
    if (!r->entry.op || ti_sh_word(r, 0) != ti_spv_word(&r->entry, 1))
        return;
    for (size_t i = 0; i < 3 && !by_id && mode == WORD_LOCAL_SIZE; i++)
        r->program->group_size[i] = ti_sh_word(r, 2 + i);
}

/* A size that constants give comes when they are there. */
static void late_size(tc_sh_reader *r)
{
    for (size_t i = 0; i < 3 && ti_sh_word(r, 1) == WORD_LOCAL_SIZE_ID; i++) {
        uint64_t size;
        if (r->at.n < 5 || !ti_sh_constant(r, ti_sh_word(r, 2 + i), &size) || size > UINT32_MAX)
            ti_sh_fail(r, "the size of a work group is not a constant");
        else
            r->program->group_size[i] = (uint32_t)size;
    }
}

static void first_pass(tc_sh_reader *r, const char *entry_point)
{
    tc_spv_reader words;
    ti_spv_read(&words, r->code);
    r->functions = r->code.size;
    while (!r->error && ti_spv_next(&words, &r->at)) {
        int result = ti_spv_result(r->at.op);
        tc_sh_id *id = result < 0 ? NULL : ti_sh_id(r, ti_sh_word(r, (size_t)result));
        if (r->at.op == TC_SPV_Function) {
            r->functions = r->at.at;
            break;
        }
        if (id && id->instr.op)
            ti_sh_fail(r, "an id is defined twice");
        if (id)
            id->instr = r->at;
        if (r->at.op == TC_SPV_EntryPoint)
            read_entry(r, entry_point);
        else if (r->at.op == TC_SPV_ExecutionMode)
            read_mode(r);
        else if (r->at.op == TC_SPV_Decorate)
            decorate(r);
        else if (r->at.op == TC_SPV_Variable)
            ti_sh_variable(r);
        else if (!read_type(r) && !read_constant(r) && id && r->at.op != TC_SPV_String &&
                 r->at.op != TC_SPV_ExtInstImport && r->at.op != TC_SPV_DecorationGroup &&
                 r->at.op != TC_SPV_ExtInst)
            ti_sh_refuse(r);
        if (id && id->type)
            id->type->stride = id->stride;
    }
    if (words.error)
        ti_sh_fail(r, "%s", words.error);
}

/* What needs types and constants: members, and sizes by id. */
static void second_pass(tc_sh_reader *r)
{
    tc_spv_reader words;
    ti_spv_read(&words, r->code);
    while (!r->error && ti_spv_next(&words, &r->at) && r->at.at < r->functions) {
        if (r->at.op == TC_SPV_MemberDecorate)
            decorate_member(r);
        else if (r->at.op == TC_SPV_ExecutionModeId && r->entry.op &&
                 ti_sh_word(r, 0) == ti_spv_word(&r->entry, 1))
            late_size(r);
    }
    for (uint32_t id = 1; id < r->bound && !r->error; id++) {
        const tc_sh_id *v = &r->id[id];
        if (v->is == TC_SH_VALUE && v->has_builtin && v->builtin == WORD_WORKGROUP_SIZE &&
            ti_sh_type(r, v->of)->slots == 3)
            for (size_t i = 0; i < 3; i++)
                r->program->group_size[i] = (uint32_t)r->program->start[v->slot + i];
    }
}

void ti_shader_declarations(tc_sh_reader *r, tc_arena *arena, tc_bytes code, const char *entry_point,
                            tc_sh_interface *interface, tc_sh_program *program)
{
    tc_spv_reader words;
    ti_spv_read(&words, code);
    *program = (tc_sh_program){.group_size = {1, 1, 1}};
    *r = (tc_sh_reader){.arena = arena,
                        .code = code,
                        .interface = interface,
                        .program = program,
                        .error = words.error,
                        .bound = words.bound};
    if (r->error)
        return;
    r->id = tc_new_n(arena, tc_sh_id, (size_t)r->bound + 1);
    r->glsl = ti_spv_glsl_set(code);
    ti_sh_registers(r, TC_SH_FIRST_FREE);
    first_pass(r, entry_point ? entry_point : "");
    second_pass(r);
    uint64_t size = 1;
    for (size_t i = 0; i < 3; i++)
        size *= program->group_size[i] > 1 << 16 ? 1 << 16 : program->group_size[i];
    if (!r->entry.op)
        ti_sh_fail(r, "the module has no compute shader '%s'", entry_point ? entry_point : "");
    else if (!size || size > 1 << 16)
        ti_sh_fail(r, "a work group has %" PRIu32 " x %" PRIu32 " x %" PRIu32 " invocations",
                   program->group_size[0], program->group_size[1], program->group_size[2]);
}
