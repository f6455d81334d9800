/* SPDX-License-Identifier: Apache-2.0 */
/* vgf_schema.h -- TOSA as SPIR-V has it (the extended instruction set TOSA.001000.1), shared by
 * emitter and reader.
 *
 * An operator's instruction is its number in the TOSA schema less one, up to RESCALE.  Its operands
 * are its attributes and then its tensors.  An attribute record gives the attributes in its own
 * order, except that acc_type stands before local_bound: whole numbers and choices as u32
 * constants, bool as bool constants, lists as i32 tensors of rank 1, bounds as constants of the
 * element type. */
#ifndef TC_VGF_SCHEMA_H
#define TC_VGF_SCHEMA_H

#include "../ir/graph.h"

#define TC_VGF_TOSA_SET "TOSA.001000.1"
#define TC_VGF_ENTRY "graph_partition_0"
/* OpModuleProcessed "tosac.quant input 0 q(0.05:-3)": how a signature's integers stand for real
 * values. */
#define TC_VGF_QUANT "tosac.quant"

enum { TC_VGF_INSTRUCTIONS = 66 };
enum {
    TC_VGF_INLINE = 16,
    TC_VGF_INLINE_SHAPE = 32
}; /* constants of up to so many elements stand in the code */

/* The instruction of an operator, or -1 when there is none; and back, TC_OP_COUNT. */
int ti_vgf_instruction(tc_op op);
tc_op ti_vgf_operator(uint32_t instruction);

/* Which field of the record is the i-th attribute. */
int ti_vgf_field(const tc_attr_info *attr, int i);

/* Whether operand i of the operator is a shape. */
bool ti_vgf_shape_operand(tc_op op, int i);

/* acc_type's number, 0 for none; and back. */
uint32_t ti_vgf_acc_type(tc_dtype dtype);
tc_dtype ti_vgf_acc_dtype(uint32_t number);

/* The VkFormat of a tensor; is_unsigned: RESCALE takes or gives it as unsigned.  And back, TC_none.
 */
uint32_t ti_vgf_format(tc_dtype dtype, bool is_unsigned);
tc_dtype ti_vgf_format_dtype(uint32_t format);
const char *ti_vgf_format_name(uint32_t format); /* "R8_SINT"; NULL when it is not one of them */

/* "CONV2D"; NULL past the last instruction. */
const char *ti_vgf_spelled(tc_arena *arena, uint32_t instruction);

#endif
