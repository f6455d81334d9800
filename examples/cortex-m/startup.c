/* SPDX-License-Identifier: Apache-2.0 */
/* startup.c -- from reset to main() on any Cortex-M: vectors, vector unit, .data and .bss.
 *
 *   -DWITH_NPU   board_npu.h has the interrupt of an Ethos-U: npu_interrupt() is called for it */
#include <stdint.h>

#include "board.h"
#ifdef WITH_NPU
#include "board_npu.h"
void npu_interrupt(void);
#define VECTORS (16 + NPU_IRQ + 1)
#else
#define VECTORS 16
#endif

extern uint32_t stack_top, data_start, data_end, data_load, bss_start, bss_end;
int main(void);
void reset(void);
static void fault(void);

__attribute__((section(".vectors"), used)) static const void *const vectors[VECTORS] = {
    &stack_top, (const void *)reset, (const void *)fault, (const void *)fault,
    (const void *)fault, (const void *)fault, (const void *)fault,
#ifdef WITH_NPU
    [16 + NPU_IRQ] = (const void *)npu_interrupt,
#endif
};

static void fault(void) { board_exit(125); }

/* CPACR: coprocessors 10 and 11 are floats and vectors; CCR.LOB: low-overhead loops. */
static void start_units(void)
{
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
    *(volatile uint32_t *)0xE000ED88 |= 0xFu << 20;
    __asm__ volatile("dsb\n isb" ::: "memory");
#endif
#if defined(__ARM_FEATURE_MVE)
    *(volatile uint32_t *)0xE000ED14 |= 1u << 19;
    __asm__ volatile("dsb\n isb" ::: "memory");
#endif
}

void reset(void)
{
    start_units();
    for (uint32_t *to = &data_start, *from = &data_load; to < &data_end;)
        *to++ = *from++;
    for (uint32_t *to = &bss_start; to < &bss_end;)
        *to++ = 0;
    board_exit(main());
}
