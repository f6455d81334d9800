/* SPDX-License-Identifier: Apache-2.0 */
/* main.c -- a model on its test vectors (vectors.py); exit 0 when every byte of every output is the
 * same.
 *
 *   -DWITH_NPU   it has regions of an Ethos-U, and network_run_in() says whether they went well */
#include <string.h>

#include "board.h"
#include "network.h"
#include "vectors.h"

/* The linker script has them in SRAM, which an Ethos-U reaches. */
static __attribute__((section(".bss.sram"), aligned(32))) uint8_t arena[NETWORK_ARENA_BYTES];
static __attribute__((section(".bss.sram"), aligned(16))) uint8_t input[VECTOR_INPUT_BYTES];
static __attribute__((section(".bss.sram"), aligned(16))) uint8_t output[VECTOR_OUTPUT_BYTES];

#ifdef WITH_NPU
#include "board_npu.h"
#include "ethosu_driver.h"

static struct ethosu_driver npu;

void npu_interrupt(void); /* into the vector table, at NPU_IRQ */
void npu_interrupt(void) { ethosu_irq_handler(&npu); }

/* NETWORK_NPU_FAST_BYTES: where it is not 0, memory of that size goes in place of NULL. */
static int start_npu(void)
{
    _Static_assert(NETWORK_NPU_FAST_BYTES == 0, "give ethosu_init() fast memory");
    return ethosu_init(&npu, (void *)NPU_BASE, NULL, 0, 1, 1);
}

static int infer(void) { return network_run_in(arena, (const void *)input, (void *)output); }
#else
static int start_npu(void) { return 0; }

static int infer(void)
{
    network_run_in(arena, (const void *)input, (void *)output);
    return 0;
}
#endif

int main(void)
{
    uint32_t good = 0, ticks = 0;
    if (start_npu() != 0)
        return 2;
    board_start_ticks();
    for (int i = 0; i < VECTORS; i++) {
        memcpy(input, vector_input[i], sizeof input); /* here: what the sensor says, as codes */
        uint32_t start = board_ticks();
        if (infer() != 0)
            return 3;
        ticks = (board_ticks() - start) & 0xFFFFFF;
        good += memcmp(output, vector_output[i], sizeof output) == 0;
    }
    board_print_number("vectors", VECTORS);
    board_print_number("the same bytes", good);
    board_print_number("ticks of the last", ticks);
    return good == VECTORS ? 0 : 1;
}
