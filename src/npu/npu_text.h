/* SPDX-License-Identifier: Apache-2.0 */
/* npu_text.h -- operations of a stream as text. */
#ifndef TC_NPU_TEXT_H
#define TC_NPU_TEXT_H

#include "npu_op.h"

#include "../base/bytes.h"
#include "../base/text.h"

/* "POOL MAX": the kind, and the mode where there is one. */
const char *ti_npu_op_name(tc_arena *arena, const tc_npu_op *op);

/* What it reads and writes, in one line (two here):
 *   CONV  4x4x8 i8 r1+0x0 -> 4x4x16 i8 r1+0x80, 3x3 pad 1,1,1,1,
 *   weights 640 of 1152 bytes (56 %), block 4x4x16 */
void ti_npu_op_text(tc_buf *out, const tc_npu_machine *machine, const tc_npu_op *op);

/* The registers that were set since the operation before it, in order of their codes. */
typedef void tc_npu_register_taker(void *user, const char *name, bool wide, uint16_t param,
                                   uint32_t payload);
void ti_npu_changes(const tc_npu_machine *machine, const tc_npu_registers *reg,
                    tc_npu_register_taker *take, void *user);

/* Encoded weights of all cores, and what they are of: one byte each. */
void ti_npu_weight_bytes(const tc_npu_op *op, uint64_t *encoded, uint64_t *plain);

#endif
