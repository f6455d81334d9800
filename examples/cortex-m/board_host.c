/* SPDX-License-Identifier: Apache-2.0 */
/* board_host.c -- board.h on a PC: the same program, the same bytes. */
#include "board.h"

#include <stdio.h>
#include <stdlib.h>

static FILE *files[8];

void board_print(const char *text) { fputs(text, stderr); }

void board_print_number(const char *name, uint32_t value)
{
    fprintf(stderr, "%s %lu\n", name, (unsigned long)value);
}

_Noreturn void board_exit(int status) { exit(status); }
void board_start_ticks(void) {}
uint32_t board_ticks(void) { return 0; }

int board_open(const char *name, int write)
{
    for (int i = 0; i < 8; i++)
        if (!files[i]) {
            files[i] = fopen(name, write ? "wb" : "rb");
            return files[i] ? i : -1;
        }
    return -1;
}

uint32_t board_read(int file, void *to, uint32_t bytes)
{
    return bytes - (uint32_t)fread(to, 1, bytes, files[file]);
}

uint32_t board_write(int file, const void *from, uint32_t bytes)
{
    return bytes - (uint32_t)fwrite(from, 1, bytes, files[file]);
}
