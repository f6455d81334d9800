/* SPDX-License-Identifier: Apache-2.0 */
/* pmu.c -- see pmu.h. */
#include "pmu.h"

#include <stddef.h>

enum { STATUS = 1, CMD = 2, QREAD = 6, QSIZE = 8, CONFIG = 10 }; /* words of the registers */
enum { RUNNING = 1, BUS = 4, PARSE = 16, END = 32 };
enum { CLEAR_IRQ = 2, KEEP = 0xc };
enum { PMCR, PMCNTENSET, PMCCNTR = 8 };
enum { ENABLE = 1, RESET_CYCLES = 4 };
#define CYCLES (1u << 31)

/* A U85 has them elsewhere. */
static volatile uint32_t *counters(const pmu *p)
{
    return p->npu + (p->npu[CONFIG] >> 28 == 2 ? 0x1180 : 0x180) / 4;
}

static uint64_t cycles_now(const pmu *p)
{
    volatile uint32_t *c = counters(p) + PMCCNTR;
    uint32_t high, low;
    do {
        high = c[1];
        low = c[0];
    } while (high != c[1]);
    return (uint64_t)(high & 0xffff) << 32 | low;
}

uint32_t pmu_qread(const pmu *p) { return p->npu[QREAD]; }
bool pmu_running(const pmu *p) { return p->npu[STATUS] & RUNNING; }

void pmu_begin(pmu *p)
{
    volatile uint32_t *c = counters(p);
    if (!pmu_running(p)) /* STOP of the job before has set every bit of the history */
        p->npu[CMD] = 0xffff0000 | KEEP;
    c[PMCR] = ENABLE | RESET_CYCLES;
    c[PMCNTENSET] = CYCLES;
    p->n = p->lost = 0;
    p->ended = 0;
    p->begun = cycles_now(p);
}

void pmu_note(pmu *p, uint16_t mask, uint32_t qread)
{
    if (p->n == PMU_MARKS) {
        p->lost++;
        return;
    }
    p->mark[p->n].cycles = cycles_now(p) - p->begun;
    p->mark[p->n].mask = mask;
    p->mark[p->n++].qread = qread;
}

bool pmu_mark(pmu *p)
{
    uint32_t status = p->npu[STATUS];
    if (status & END)
        p->ended = cycles_now(p) - p->begun;
    if (!(status & RUNNING) || status & (BUS | PARSE | END) || !(status >> 16))
        return false;
    pmu_note(p, (uint16_t)(status >> 16), p->npu[QREAD]);
    p->npu[CMD] = (status & 0xffff0000) | CLEAR_IRQ | KEEP;
    return true;
}

/* ---- the log ---- */

static void put(const pmu *p, const char *word, const uint64_t *number, int n)
{
    char text[80], digits[20], *to = text;
    while (*word)
        *to++ = *word++;
    for (int i = 0; i < n; i++) {
        int d = 0;
        uint64_t v = number[i];
        do
            digits[d++] = (char)('0' + v % 10);
        while (v /= 10);
        *to++ = ' ';
        while (d)
            *to++ = digits[--d];
    }
    *to++ = '\n';
    *to = 0;
    p->print(text);
}
#define PUT(word, ...)                                                                             \
    put(p, word, (const uint64_t[]){__VA_ARGS__}, (int)(sizeof((const uint64_t[]){__VA_ARGS__}) / 8))

static uint32_t hash_of(const uint8_t *stream, uint32_t bytes)
{
    uint32_t hash = 2166136261u;
    for (uint32_t i = 0; stream && i < bytes; i++)
        hash = (hash ^ stream[i]) * 16777619u;
    return stream ? hash : 0;
}

void pmu_end(pmu *p, const uint8_t *stream, uint32_t call)
{
    uint64_t cycles = p->ended ? p->ended : cycles_now(p) - p->begun;
    uint32_t bytes = p->npu[QSIZE];
    PUT("tosac-pmu", 1);
    if (p->program) {
        p->print("program ");
        p->print(p->program);
        p->print("\n");
    }
    if (p->clock)
        PUT("clock", p->clock);
    PUT("stream", bytes, hash_of(stream, bytes));
    for (uint32_t i = 0; i < p->n; i++)
        PUT("mark", p->mark[i].mask, p->mark[i].qread, p->mark[i].cycles);
    PUT("end", p->npu[QREAD], cycles);
    if (call)
        PUT("call", call);
    if (p->lost)
        PUT("lost", p->lost);
}
