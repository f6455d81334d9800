/* SPDX-License-Identifier: Apache-2.0 */
/* driver.c -- a driver of an Ethos-U on bare metal, of the tests' own, with the names of Arm's that
 * examples/firmware calls.
 *
 *   -DFAULT=N   plants a fault into every job: 1 a word that is no command, 2 a region where no memory is,
 *               3 a stream in memory of the core's alone, 4 a non-secure NPU, 5 no STOP,
 *               6 cache lines that are not cleaned before it, 7 not invalidated after it */
#include "ethosu_driver.h"

#include <stdbool.h>

#include "board.h"

#ifndef FAULT
#define FAULT 0
#endif
enum { BAD_WORD = 1, NO_MEMORY, CORE_MEMORY, NON_SECURE, NO_STOP, NO_CLEAN, NO_INVALIDATE };
enum { ID, STATUS, CMD, RESET, QBASE, QREAD = 6, QSIZE = 8, PROT, CONFIG, BASEP = 32 };
enum { PMCR, PMCNTENSET, PMOVSSET = 3, PMOVSCLR, PMINTSET, PMCCNTR = 8, PMEVCNTR = 96, PMEVTYPER = 128 };
enum { RUNNING = 1, PARSE = 16, BUS = 4, IN_RESET = 8, END = 32, PMU_IRQ = 64 };
enum { OPTIMIZER = 1, STREAM = 2, CYCLE_EVENT = 17, BEFORE_OVERFLOW = 1000 };

static struct ethosu_driver *npu;

static volatile uint32_t *counters(void)
{
    return npu->reg + (npu->reg[CONFIG] >> 28 == 2 ? 0x1180 : 0x180) / 4;
}

static int reset(uint32_t prot)
{
    npu->reg[RESET] = prot;
    while (npu->reg[STATUS] & IN_RESET) {
    }
    return npu->reg[PROT] == prot ? 0 : -1;
}

int ethosu_init(struct ethosu_driver *d, void *const base, const void *fast, const size_t fast_bytes,
                uint32_t secure, uint32_t privileged)
{
    npu = d;
    d->reg = base;
    d->fast = (uintptr_t)fast;
    d->fast_bytes = fast_bytes;
    return reset((FAULT == NON_SECURE || !secure ? 2 : 0) | (privileged ? 1 : 0));
}

/* The counters' interrupt comes in the middle of a job, the queue's at its end. */
void ethosu_irq_handler(struct ethosu_driver *d)
{
    uint32_t status = d->reg[STATUS];
    if (status & PMU_IRQ) {
        d->overflows++;
        counters()[PMOVSCLR] = ~0u;
    }
    d->reg[CMD] = 2 | 0xc;
    d->done = !(status & RUNNING);
}

struct ethosu_driver *ethosu_reserve_driver(void) { return npu; }
void ethosu_release_driver(struct ethosu_driver *d) { (void)d; }

static void start_counters(void)
{
    volatile uint32_t *p = counters();
    p[PMCR] = 1 | 2 | 4;
    p[PMEVTYPER] = CYCLE_EVENT;
    p[PMEVCNTR] = 0u - BEFORE_OVERFLOW;
    p[PMOVSCLR] = ~0u;
    p[PMINTSET] = 1;
    p[PMCNTENSET] = 1u << 31 | 1;
}

__attribute__((weak)) void ethosu_inference_begin(struct ethosu_driver *d, void *user)
{
    (void)d;
    (void)user;
}

/* The stream and its words behind the driver's header; 0: the NPU is another than it is for. */
static uint32_t words_of(const uint32_t *p, int bytes, const uint32_t **out)
{
    const uint32_t *end = p + bytes / 4;
    if (*p++ != 0x31504f43) /* COP1 */
        return 0;
    while (p < end) {
        uint32_t action = *p++;
        if ((action & 0xff) == OPTIMIZER) {
            if (((p[0] ^ npu->reg[CONFIG]) & 0xf000000f) != 0)
                return 0;
            p += 2;
        } else if ((action & 0xff) == STREAM) {
            *out = p;
            return (action >> 16) | (action >> 8 & 0xff) << 16;
        }
    }
    return 0;
}

static void plant(uint32_t **words, uint32_t *n, uint64_t *base)
{
    if (FAULT == BAD_WORD)
        **words = 0xff;
    else if (FAULT == NO_MEMORY)
        base[1] = 0x35000000;
    else if (FAULT == CORE_MEMORY)
        *words = (uint32_t *)0x20000000;
    else if (FAULT == NO_STOP)
        --*n;
}

/* A register of the System Control Block, with every line of the regions that the core writes. */
static void maintain(uint32_t reg, const uint64_t *base, const size_t *size, int n)
{
    for (int i = 1; i < n; i++)
        for (uint32_t at = (uint32_t)base[i] & ~31u; size[i] && at < base[i] + size[i]; at += 32)
            *(volatile uint32_t *)(uintptr_t)reg = at;
}
enum { CLEAN = 0xE000EF68u, INVALIDATE = 0xE000EF5Cu };

/* Waits; how often QREAD was seen in the middle. */
static uint32_t wait(uint32_t bytes)
{
    uint32_t middle = 0, before = 0;
    while (!npu->done) {
        uint32_t at = npu->reg[QREAD];
        middle += at > before && at < bytes;
        before = at;
    }
    return middle;
}

static void tell(uint32_t middle)
{
    board_print_number("status", npu->reg[STATUS] & 0xf076);
    board_print_number("cycles", counters()[PMCCNTR]);
    board_print_number("event", counters()[PMEVCNTR] + BEFORE_OVERFLOW);
    board_print_number("in the middle", middle);
    board_print_number("overflows", npu->overflows);
}

int ethosu_invoke_v3(struct ethosu_driver *d, const void *stream, int bytes, uint64_t *base, const size_t *size, int n,
                     void *user)
{
    const uint32_t *words;
    uint32_t count = words_of(stream, bytes, &words);
    if (!count)
        return -1;
    if (d->fast)
        base[2] = d->fast;
    plant((uint32_t **)(uintptr_t)&words, &count, base);
    for (int i = 0; i < n; i++) {
        d->reg[BASEP + 2 * i] = (uint32_t)base[i];
        d->reg[BASEP + 2 * i + 1] = 0;
    }
    if (FAULT != NO_CLEAN)
        maintain(CLEAN, base, size, n);
    start_counters();
    d->reg[QBASE] = (uint32_t)(uintptr_t)words;
    d->reg[QBASE + 1] = 0;
    d->reg[QSIZE] = 4 * count;
    d->done = d->overflows = 0;
    ethosu_inference_begin(d, user);
    d->reg[CMD] = 1 | 0xc;
    uint32_t middle = wait(4 * count), status = d->reg[STATUS];
    if (FAULT != NO_INVALIDATE)
        maintain(INVALIDATE, base, size, n);
    tell(middle);
    return status & (BUS | PARSE) || !(status & END) ? -1 : 0;
}
