/* SPDX-License-Identifier: Apache-2.0 */
/* board.c -- see board.h. */
#include "board.h"

#include <string.h>

static uint32_t semihosting(uint32_t what, const void *argument)
{
    register uint32_t r0 __asm__("r0") = what;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void board_print(const char *text) { semihosting(4, text); }

void board_print_number(const char *name, uint32_t value)
{
    char digits[12], *p = digits + sizeof digits;
    *--p = 0;
    *--p = '\n';
    do {
        *--p = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    board_print(name);
    board_print(" ");
    board_print(p);
}

_Noreturn void board_exit(int status)
{
    const uint32_t block[2] = {0x20026, (uint32_t)status}; /* ADP_Stopped_ApplicationExit */
    semihosting(0x20, block);
    for (;;) {
    }
}

void board_start_ticks(void)
{
    volatile uint32_t *systick = (volatile uint32_t *)0xE000E010;
    systick[1] = 0xFFFFFF;
    systick[2] = 0;
    systick[0] = 5; /* on, by the core's clock */
}

uint32_t board_ticks(void) { return 0xFFFFFF - *(volatile uint32_t *)0xE000E018; }

int board_open(const char *name, int write)
{
    const uint32_t block[3] = {(uint32_t)(uintptr_t)name, write ? 5 : 1, (uint32_t)strlen(name)};
    return (int)semihosting(1, block);
}

uint32_t board_read(int file, void *to, uint32_t bytes)
{
    const uint32_t block[3] = {(uint32_t)file, (uint32_t)(uintptr_t)to, bytes};
    return semihosting(6, block);
}

uint32_t board_write(int file, const void *from, uint32_t bytes)
{
    const uint32_t block[3] = {(uint32_t)file, (uint32_t)(uintptr_t)from, bytes};
    return semihosting(5, block);
}
