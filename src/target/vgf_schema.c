/* SPDX-License-Identifier: Apache-2.0 */
/* vgf_schema.c -- numbers of TOSA in SPIR-V and of Vulkan's formats; see vgf_schema.h. */
#include "vgf_schema.h"

#include "tosa_schema.h"

int ti_vgf_instruction(tc_op op)
{
    int number = op == TC_OP_tosa_cast_unsigned ? 0 : tc_ops[op].tosa; /* 1.0 has no such CAST */
    return number >= 1 && number <= TC_VGF_INSTRUCTIONS ? number - 1 : -1;
}

tc_op ti_vgf_operator(uint32_t instruction)
{
    return instruction < TC_VGF_INSTRUCTIONS ? ti_op_from_tosa(instruction + 1) : TC_OP_COUNT;
}

int ti_vgf_field(const tc_attr_info *attr, int i)
{
    const tc_field *f = attr->field;
    if (f[i].kind == TC_FIELD_bool && i + 1 < attr->n_field && f[i + 1].kind == TC_FIELD_dtype)
        return i + 1;
    if (f[i].kind == TC_FIELD_dtype && i > 0 && f[i - 1].kind == TC_FIELD_bool)
        return i - 1;
    return i;
}

static const char *const operands[TC_OP_COUNT] = {
#define FEATURE(name, word, spec, base, since)
#define TYPES(family, need, types)
#define JUDGE(op, in, out, acc, constant, zeros, types, limits) [TC_OP_##op] = in,
#include "tosa.def"
};

bool ti_vgf_shape_operand(tc_op op, int i)
{
    const char *letters = operands[op];
    return letters && i < (int)strlen(letters) && letters[i] == 'S';
}

static const tc_dtype acc_types[] = {TC_none, TC_i32, TC_f16, TC_f32, TC_i48};

uint32_t ti_vgf_acc_type(tc_dtype dtype)
{
    for (uint32_t i = 1; i < TC_COUNT(acc_types); i++)
        if (acc_types[i] == dtype)
            return i;
    return 0;
}

tc_dtype ti_vgf_acc_dtype(uint32_t number)
{
    return number < TC_COUNT(acc_types) ? acc_types[number] : TC_none;
}

/* What is stored as i8 may be i4, and what is stored as 64 bits is i48. */
static const struct {
    tc_dtype dtype;
    bool is_unsigned;
    uint32_t format;
    const char *name;
} formats[] = {
    {TC_i8, false, 14, "R8_SINT"},
    {TC_i8, true, 13, "R8_UINT"},
    {TC_i4, false, 14, "R8_SINT"},
    {TC_i16, false, 75, "R16_SINT"},
    {TC_i16, true, 74, "R16_UINT"},
    {TC_i32, false, 99, "R32_SINT"},
    {TC_i32, true, 98, "R32_UINT"},
    {TC_i48, false, 111, "R64_SINT"},
    {TC_f16, false, 76, "R16_SFLOAT"},
    {TC_f32, false, 100, "R32_SFLOAT"},
    {TC_bool, false, 1000460000, "R8_BOOL_ARM"},
    {TC_bf16, false, 1000460001, "R16_SFLOAT_FPENCODING_BFLOAT16_ARM"},
    {TC_e4m3, false, 1000460002, "R8_SFLOAT_FPENCODING_FLOAT8E4M3_ARM"},
    {TC_e5m2, false, 1000460003, "R8_SFLOAT_FPENCODING_FLOAT8E5M2_ARM"},
};

uint32_t ti_vgf_format(tc_dtype dtype, bool is_unsigned)
{
    uint32_t any = 0;
    for (size_t i = 0; i < TC_COUNT(formats); i++)
        if (formats[i].dtype == dtype && (formats[i].is_unsigned == is_unsigned || !any))
            any = formats[i].format;
    return any;
}

tc_dtype ti_vgf_format_dtype(uint32_t format)
{
    for (size_t i = 0; i < TC_COUNT(formats); i++)
        if (formats[i].format == format)
            return formats[i].dtype;
    return TC_none;
}

const char *ti_vgf_format_name(uint32_t format)
{
    for (size_t i = 0; i < TC_COUNT(formats); i++)
        if (formats[i].format == format)
            return formats[i].name;
    return NULL;
}

const char *ti_vgf_spelled(tc_arena *arena, uint32_t instruction)
{
    tc_op op = ti_vgf_operator(instruction);
    return op == TC_OP_COUNT ? NULL : ti_tosa_spelled(arena, tc_ops[op].name);
}
