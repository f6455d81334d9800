/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_schema.c -- see tflite_schema.h: types of tensors. */
#include "tflite_schema.h"

static const struct {
    const char *name;
    tc_dtype dtype;
    bool packed; /* in the file several elements to a byte */
} types[TFL_TYPES] = {
    [TFL_FLOAT32] = {"FLOAT32", TC_f32, false},
    [TFL_FLOAT16] = {"FLOAT16", TC_f16, false},
    [TFL_INT32] = {"INT32", TC_i32, false},
    [TFL_UINT8] = {"UINT8", TC_u8, false},
    [TFL_INT64] = {"INT64", TC_i64, false},
    [TFL_STRING] = {"STRING", TC_none, false},
    [TFL_BOOL] = {"BOOL", TC_bool, false},
    [TFL_INT16] = {"INT16", TC_i16, false},
    [TFL_COMPLEX64] = {"COMPLEX64", TC_c64, false},
    [TFL_INT8] = {"INT8", TC_i8, false},
    [TFL_FLOAT64] = {"FLOAT64", TC_f64, false},
    [TFL_COMPLEX128] = {"COMPLEX128", TC_none, false},
    [TFL_UINT64] = {"UINT64", TC_u64, false},
    [TFL_RESOURCE] = {"RESOURCE", TC_none, false},
    [TFL_VARIANT] = {"VARIANT", TC_none, false},
    [TFL_UINT32] = {"UINT32", TC_u32, false},
    [TFL_UINT16] = {"UINT16", TC_u16, false},
    [TFL_INT4] = {"INT4", TC_i8, true},
    [TFL_BFLOAT16] = {"BFLOAT16", TC_bf16, false},
    [TFL_INT2] = {"INT2", TC_i8, true},
    [TFL_UINT4] = {"UINT4", TC_i8, true},
    [TFL_E4M3] = {"FLOAT8_E4M3FN", TC_e4m3, false},
    [TFL_E5M2] = {"FLOAT8_E5M2", TC_e5m2, false},
};

tc_dtype ti_tfl_dtype_of(int code)
{
    return code >= 0 && code < TFL_TYPES ? types[code].dtype : TC_none;
}

const char *ti_tfl_type_name(int code)
{
    return code >= 0 && code < TFL_TYPES ? types[code].name : "of an unknown number";
}

int ti_tfl_type_of(tc_dtype dtype)
{
    for (int i = 0; i < TFL_TYPES; i++)
        if (types[i].dtype == dtype && dtype && !types[i].packed)
            return i;
    return -1;
}
