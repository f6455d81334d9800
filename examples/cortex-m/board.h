/* SPDX-License-Identifier: Apache-2.0 */
/* board.h -- what a program needs of its board: here a debugger's or QEMU's semihosting, and SysTick.
 * For a board of your own replace board.c. */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

void board_print(const char *text);
void board_print_number(const char *name, uint32_t value);
_Noreturn void board_exit(int status);

/* A counter that goes up; wraps at 2^24. */
void board_start_ticks(void);
uint32_t board_ticks(void);

/* Files of the machine that the debugger runs on; -1: it cannot be opened. */
int board_open(const char *name, int write);
/* Bytes that were not read, or not written. */
uint32_t board_read(int file, void *to, uint32_t bytes);
uint32_t board_write(int file, const void *from, uint32_t bytes);

#endif
