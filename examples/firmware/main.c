/* SPDX-License-Identifier: Apache-2.0 */
/* main.c -- a model on its test vectors (vectors.py); exit 0 when every byte of every output is the
 * same.
 *
 *   -DWITH_NPU   it has regions of an Ethos-U, and network_run_in() says whether they went well
 *   -DWITH_PMU   its cycle counter is logged (pmu_driver.c) */
#include <stdbool.h>
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

#ifdef WITH_PMU
bool npu_is_mark(void); /* pmu_driver.c */
#else
static bool npu_is_mark(void) { return false; }
#endif

void npu_interrupt(void); /* in the vector table of startup.c, at NPU_IRQ */
void npu_interrupt(void)
{
    if (!npu_is_mark())
        ethosu_irq_handler(&npu);
}

#if NETWORK_NPU_FAST_BYTES
static __attribute__((section(".bss.sram"), aligned(32))) uint8_t fast[NETWORK_NPU_FAST_BYTES];
#else
#define fast NULL
#endif

/* The registers as secure, privileged code; then the interrupt, in the NVIC's ISER. */
static int start_npu(void)
{
    int status = ethosu_init(&npu, (void *)NPU_BASE, fast, NETWORK_NPU_FAST_BYTES, 1, 1);
    ((volatile uint32_t *)0xE000E100)[NPU_IRQ / 32] = 1u << NPU_IRQ % 32;
    return status;
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
