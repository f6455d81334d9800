/*
 * See cache.h.  No line is ever evicted by itself: what is told may happen on a core, and need not.  Which
 * memory is cached is that of the default map of a Cortex-M, whatever the MPU says.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "cache.h"

#include <stdlib.h>

enum { LINES = 1 << 27, DC_IMVAC = 0x0c, DC_ISW = 0x10, DC_CMVAU = 0x14, DC_CMVAC = 0x18, DC_CSW = 0x1c, DC_CIMVAC = 0x20, DC_CISW = 0x24 };

/* By line of 4 GiB: the core holds it; it was written and not cleaned; the NPU has written its memory since. */
static uint64_t *held, *dirty, *stale;
void (*cache_tell)(const char *what, uint64_t address);

static bool get(const uint64_t *set, uint32_t line) { return set[line / 64] >> line % 64 & 1; }
static void put(uint64_t *set, uint32_t line, bool on)
{
    uint64_t bit = UINT64_C(1) << line % 64;
    set[line / 64] = on ? set[line / 64] | bit : set[line / 64] & ~bit;
}

/* Below 0x40000000 bit 28 is the view of secure code, of the same memory. */
static uint32_t line_of(uint64_t address)
{
    return (uint32_t)(address < 0x40000000 ? address & ~UINT64_C(0x10000000) : address) / CACHE_LINE;
}

/* Not tightly coupled memories, devices, the system's own. */
static bool is_cached(uint32_t line)
{
    uint64_t a = (uint64_t)line * CACHE_LINE;
    return (a >= 0x01000000 && a < 0x10000000) || (a >= 0x21000000 && a < 0x40000000) || (a >= 0x60000000 && a < 0xa0000000);
}

static bool is_written_back(uint32_t line)
{
    uint64_t a = (uint64_t)line * CACHE_LINE;
    return is_cached(line) && ((a >= 0x21000000 && a < 0x40000000) || (a >= 0x60000000 && a < 0x80000000));
}

bool cache_is_on(void) { return held; }

bool cache_begin(void)
{
    uint64_t *all = calloc(3 * (LINES / 64), sizeof *all);
    held = all;
    dirty = all ? all + LINES / 64 : NULL;
    stale = all ? all + 2 * (LINES / 64) : NULL;
    return all;
}

void cache_read(uint64_t address, unsigned bytes)
{
    for (uint32_t line = line_of(address); line <= line_of(address + bytes - 1); line++) {
        if (!is_cached(line)) {
            continue;
        }
        if (get(stale, line)) {
            put(stale, line, false); /* once */
            cache_tell("the core reads a line that it holds from before the NPU wrote it: it is not invalidated", address);
        }
        put(held, line, true);
    }
}

void cache_written(uint64_t address, unsigned bytes)
{
    for (uint32_t line = line_of(address); line <= line_of(address + bytes - 1); line++) {
        if (is_written_back(line)) {
            put(held, line, true);
            put(dirty, line, true);
        }
    }
}

static void by_line(uint32_t line, bool cleans, bool invalidates, uint32_t address)
{
    if (!cleans && get(dirty, line)) {
        cache_tell("a line is invalidated that the core has written and not cleaned: what it wrote is lost", address);
    }
    put(dirty, line, false);
    if (invalidates) {
        put(held, line, false);
        put(stale, line, false);
    }
}

/* By set and way: whoever does one does all. */
static void all_lines(bool invalidates)
{
    for (uint32_t i = 0; i < LINES / 64; i++) {
        if (dirty[i] | held[i] | stale[i]) {
            dirty[i] = 0;
            held[i] = invalidates ? 0 : held[i];
            stale[i] = invalidates ? 0 : stale[i];
        }
    }
}

void cache_maintain(uint32_t offset, uint32_t value)
{
    uint32_t line = line_of(value);
    switch (offset) {
    case DC_IMVAC: by_line(line, false, true, value); break;
    case DC_CMVAU: case DC_CMVAC: by_line(line, true, false, value); break;
    case DC_CIMVAC: by_line(line, true, true, value); break;
    case DC_ISW: case DC_CISW:
        if (!value) { /* set 0 of way 0: the others are empty by then */
            all_lines(true);
        }
        break;
    case DC_CSW:
        if (!value) {
            all_lines(false);
        }
        break;
    }
}

size_t cache_dirty(uint64_t address, uint64_t bytes, uint64_t *first)
{
    size_t n = 0;
    for (uint64_t at = address; at < address + bytes; at = (at / CACHE_LINE + 1) * CACHE_LINE) {
        if (get(dirty, line_of(at)) && !n++) {
            *first = at;
        }
    }
    return n;
}

void cache_changed(uint64_t address, uint64_t bytes)
{
    for (uint64_t at = address; at < address + bytes; at = (at / CACHE_LINE + 1) * CACHE_LINE) {
        put(stale, line_of(at), get(held, line_of(at)));
    }
}
