/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_schema.h -- the flatbuffer schema of TOSA 1.0 and 1.1 (draft) as numbers, shared by reader
 * and emitter.
 *
 * Operators and element types carry their numbers in op.def and dtype.def.  An operator's attribute
 * table is its record in attr.def: field i of the record is field i of the table (i64 as i32, ints
 * as [i32], bool as u8, choices and dtype as u32, text as string, bytes as [ubyte], and f64 as
 * [ubyte], one element of the operand's type).  A union's tag is the operator's number. */
#ifndef TC_TOSA_SCHEMA_H
#define TC_TOSA_SCHEMA_H

#include "../num/block_scaled.h"

#define TC_TOSA_IDENTIFIER "TOSA"

enum { TC_TOSA_CONST_SHAPE = 75, TC_TOSA_LAST_1_0 = 75 }; /* operators */
enum { TC_TOSA_LAST_DTYPE_1_0 = 12 };
enum { TC_TOSA_BLOCK_SHAPE_32 = 32 };
enum { TC_TOSA_FEATURE_MXFP = 1 }; /* the bit for block-scaled tensors */

enum {
    TOSA_GRAPH_VERSION,
    TOSA_GRAPH_REGIONS,
    TOSA_GRAPH_SOFTWARE_VERSION,
    TOSA_GRAPH_COMPATIBILITY
};
enum { TOSA_COMPATIBILITY_MIN_READER, TOSA_COMPATIBILITY_FEATURES };
enum { TOSA_VERSION_MAJOR, TOSA_VERSION_MINOR, TOSA_VERSION_PATCH, TOSA_VERSION_DRAFT };
enum { TOSA_REGION_NAME, TOSA_REGION_BLOCKS };
enum {
    TOSA_BLOCK_NAME,
    TOSA_BLOCK_OPERATORS,
    TOSA_BLOCK_TENSORS,
    TOSA_BLOCK_INPUTS,
    TOSA_BLOCK_OUTPUTS,
    TOSA_BLOCK_SHAPES
};
enum {
    TOSA_OPERATOR_OP,
    TOSA_OPERATOR_ATTRIBUTE_TYPE,
    TOSA_OPERATOR_ATTRIBUTE,
    TOSA_OPERATOR_INPUTS,
    TOSA_OPERATOR_OUTPUTS,
    TOSA_OPERATOR_LOCATION
};
enum {
    TOSA_TENSOR_NAME,
    TOSA_TENSOR_SHAPE,
    TOSA_TENSOR_TYPE,
    TOSA_TENSOR_DATA,
    TOSA_TENSOR_VARIABLE,
    TOSA_TENSOR_IS_UNRANKED,
    TOSA_TENSOR_VARIABLE_NAME,
    TOSA_TENSOR_OFFSET,
    TOSA_TENSOR_SIZE,
    TOSA_TENSOR_SCALE_TYPE,
    TOSA_TENSOR_SCALE_DATA,
    TOSA_TENSOR_BLOCK_SHAPE,
    TOSA_TENSOR_SCALE_OFFSET,
    TOSA_TENSOR_SCALE_SIZE
};
enum { TOSA_SHAPE_NAME, TOSA_SHAPE_RANK, TOSA_SHAPE_DATA };
enum { TOSA_LOCATION_TEXT };
/* CAST's attributes: the schema of 2026.8 has none yet, the draft names this one. */
enum { TOSA_CAST_INPUT_UNSIGNED };

/* Bytes of n elements in a file: codes of less than eight bits without gaps, i48 six bytes each, of
 * block-scaled elements the values alone, the others as in memory. */
size_t ti_tosa_packed_bytes(tc_dtype dtype, size_t n);

/* Whether elements are stored in a file as they are in memory. */
bool ti_tosa_stored_plain(tc_dtype dtype);

/* n elements from a file's form to ours, and back. */
void ti_tosa_unpack(tc_dtype dtype, size_t n, const uint8_t *packed, void *out);
void ti_tosa_pack(tc_dtype dtype, size_t n, const void *in, uint8_t *packed);

/* The scales of n block-scaled elements, one for each block, into the elements' high bytes, which
 * are 0; and back. */
void ti_tosa_unpack_scales(size_t n, const uint8_t *scale, uint16_t *out);
void ti_tosa_pack_scales(size_t n, const uint16_t *in, uint8_t *scale);

/* Whether TOSA 1.0 has the element type, and whether 1.1 has. */
static inline bool ti_tosa_has_1_0(tc_dtype t)
{
    int number = tc_dtypes[t].tosa;
    return number >= 1 && number <= TC_TOSA_LAST_DTYPE_1_0 && !ti_is_block(t);
}
static inline bool ti_tosa_has_1_1(tc_dtype t) { return tc_dtypes[t].tosa >= 1; }

/* One element in a file's form as a number, and back; `packed` has 8 bytes. */
double ti_tosa_number(tc_dtype dtype, const uint8_t *packed);
void ti_tosa_put_number(tc_dtype dtype, double value, uint8_t *packed);

/* "CONV2D": how the specification writes the operator that the table calls tosa_conv2d. */
const char *ti_tosa_spelled(tc_arena *arena, const char *op_name);

#endif
