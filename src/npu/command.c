/* SPDX-License-Identifier: Apache-2.0 */
/* command.c -- see command.h. */
#include "command.h"

#include "../base/bytes.h"

enum { P5 = 1 << TC_U55 | 1 << TC_U65, P6 = 1 << TC_U65, P8 = 1 << TC_U85, PA = P5 | P8 };

const tc_npu_command_info tc_npu_commands[] = {
#define NPU_OP(words_, code_, products_, name_, bits_)                                             \
    {#name_, true, words_, P##products_, code_, {bits_, bits_, bits_}},
#define NPU_SET(code_, products_, name_, bits5_, bits8_)                                           \
    {#name_, false, 1, P##products_, code_, {bits5_, bits5_, bits8_}},
#define NPU_SET2(code_, products_, name_, bits5_, bits8_)                                          \
    {#name_, false, 2, P##products_, code_, {bits5_, bits5_, bits8_}},
#include "command.def"
};
const size_t tc_npu_n_command = TC_COUNT(tc_npu_commands);

const tc_npu_command_info *ti_npu_command_find(uint32_t code, uint8_t words, tc_npu_product product)
{
    /* Rows of a product by words and opcode, once for all: streams have hundreds of thousands of
     * commands. */
    static uint8_t row[3][2][512];
    static bool ready;
    if (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) {
        for (size_t i = 0; i < tc_npu_n_command; i++)
            for (int p = 0; p < 3; p++)
                if (tc_npu_commands[i].products >> p & 1)
                    __atomic_store_n(&row[p][tc_npu_commands[i].words - 1][tc_npu_commands[i].code],
                                     (uint8_t)(i + 1), __ATOMIC_RELAXED);
        __atomic_store_n(&ready, true, __ATOMIC_RELEASE);
    }
    uint8_t at = code < 512 ? __atomic_load_n(&row[product][words - 1][code], __ATOMIC_RELAXED) : 0;
    return at ? &tc_npu_commands[at - 1] : NULL;
}

const char *ti_npu_command_read(tc_npu_words words, const tc_npu_machine *machine, size_t at,
                                tc_npu_command *out)
{
    uint32_t word = ti_le32(words.data + 4 * at), control = word >> 14 & 3;
    *out = (tc_npu_command){.at = at, .param = (uint16_t)(word >> 16)};
    if (control > 1 || word >> 10 & 15)
        return "bits that are always zero are set";
    if (control == 1 && at + 1 >= words.n)
        return "the stream ends inside a command";
    if (control == 1)
        out->payload = ti_le32(words.data + 4 * at + 4);
    out->info = ti_npu_command_find(word & 0x3ff, (uint8_t)(control + 1), machine->product);
    return out->info ? NULL : "the machine has no such command";
}

void ti_npu_register_set(tc_npu_registers *r, const tc_npu_command *c)
{
    if (c->info->words == 1) {
        size_t at = (size_t)c->info->code - 256;
        r->set[at] = c->param;
        r->known[at] = r->fresh[at] = true;
        return;
    }
    r->set2[c->info->code].param = c->param;
    r->set2[c->info->code].payload = c->payload;
    r->known2[c->info->code] = r->fresh2[c->info->code] = true;
}
