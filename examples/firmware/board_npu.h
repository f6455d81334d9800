/* SPDX-License-Identifier: Apache-2.0 */
/* board_npu.h -- where the Ethos-U55 of a Corstone-300 is; change both for another part. */
#ifndef BOARD_NPU_H
#define BOARD_NPU_H

#define NPU_BASE 0x58102000u /* its registers, as secure code sees them */
#define NPU_IRQ  56

#endif
