/* SPDX-License-Identifier: Apache-2.0 */
/* command.h -- command words, one at a time, and the registers that they set.
 *
 * A command is one word (bits 0..9 opcode, 14..15 zero, 16..31 parameter) or two (bits 14..15 one,
 * then 32 bits of payload).  One word with an opcode below 256, and two with one from 256 on, is an
 * operation; the rest set a register, which keeps its value until it is set again. */
#ifndef TC_COMMAND_H
#define TC_COMMAND_H

#include "../machine/npu_machine.h"

/* Operations by opcode, and registers by opcode: of 16 bits, and of a second word. */
enum {
#define NPU_OP(words, code, products, name, bits) TC_NPU_##name = code,
#define NPU_SET(code, products, name, bits5, bits8) TC_NPU_##name = code,
#define NPU_SET2(code, products, name, bits5, bits8) TC_NPU_##name = code,
#include "command.def"
    TC_NPU_SETS = 400 - 256, /* registers of 16 bits begin at 256 */
    TC_NPU_SETS2 = 152
};

/* A row of the table. */
typedef struct tc_npu_command_info {
    const char *name; /* "IFM_PAD_TOP", "CONV" */
    bool is_operation;
    uint8_t words;    /* 1 or 2 */
    uint8_t products; /* 1 << tc_npu_product, or'ed */
    uint16_t code;
    uint16_t bits[3]; /* by product: those of the parameter that mean something */
} tc_npu_command_info;

extern const tc_npu_command_info tc_npu_commands[];
extern const size_t tc_npu_n_command;

/* The row of a product's command by opcode and number of words; NULL: it has no such command. */
const tc_npu_command_info *ti_npu_command_find(uint32_t code, uint8_t words,
                                               tc_npu_product product);

typedef struct tc_npu_command {
    size_t at; /* its first word */
    const tc_npu_command_info *info;
    uint16_t param;
    uint32_t payload; /* of two words */
} tc_npu_command;

/* Words of a stream. */
typedef struct tc_npu_words {
    const uint8_t *data; /* little-endian, maybe not aligned */
    size_t n;
} tc_npu_words;

/* The command at word `at` < words.n, or what is wrong with it (NULL: nothing). */
const char *ti_npu_command_read(tc_npu_words words, const tc_npu_machine *machine, size_t at,
                                tc_npu_command *out);

typedef struct tc_npu_registers {
    uint16_t set[TC_NPU_SETS]; /* by opcode - 256 */
    struct {
        uint16_t param;
        uint32_t payload;
    } set2[TC_NPU_SETS2];
    /* Which were ever written, and which since the last kernel operation or DMA. */
    bool known[TC_NPU_SETS], known2[TC_NPU_SETS2], fresh[TC_NPU_SETS], fresh2[TC_NPU_SETS2];
} tc_npu_registers;

/* Sets the register of a command that sets one. */
void ti_npu_register_set(tc_npu_registers *r, const tc_npu_command *c);

#endif
