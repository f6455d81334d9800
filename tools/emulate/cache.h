/*
 * What a data cache of the core would have in it, where QEMU has none: lines that the core has written and
 * not cleaned, lines that it holds while the NPU writes their memory.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETHOSU_CACHE_H
#define ETHOSU_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CACHE_LINE = 32 };

/* From here on; false: there is no memory for it. */
bool cache_begin(void);
bool cache_is_on(void);

/* The core's own accesses. */
void cache_read(uint64_t address, unsigned bytes);
void cache_written(uint64_t address, unsigned bytes);

/* Maintenance: a register of the System Control Block, and what was written there. */
enum { CACHE_REGISTERS = 0xe000ef50, CACHE_REGISTER_BYTES = 0x2c };
void cache_maintain(uint32_t offset, uint32_t value);

/* A job of the NPU uses these bytes; how many of their lines the core has written and not cleaned, and the
 * first. */
size_t cache_dirty(uint64_t address, uint64_t bytes, uint64_t *first);
/* It has changed these. */
void cache_changed(uint64_t address, uint64_t bytes);

/* Called where the core reads a line that it holds from before the NPU wrote it, and where it throws away
 * what it has written itself. */
extern void (*cache_tell)(const char *what, uint64_t address);

#endif
