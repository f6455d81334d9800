/* SPDX-License-Identifier: Apache-2.0 */
/* api_npu.c -- jobs of an Ethos-U by the public header: extents, memory, results, faults by kind. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "tosac/tosac.h"

enum { STOP = 0, IRQ = 1, DMA_START = 16, DMA_WAIT = 17, DMA_SRC_REGION = 0x130, DMA_DST_REGION = 0x131,
       DMA_SRC = 0x30, DMA_DST = 0x31, DMA_LEN = 0x32, LONG = 0x4000 };

typedef struct stream {
    uint32_t word[64];
    size_t n;
} stream;

static void put(stream *s, uint32_t code, uint32_t param)
{
    s->word[s->n++] = code | param << 16;
}

static void put_long(stream *s, uint32_t code, uint32_t value)
{
    put(s, code | LONG, 0);
    s->word[s->n++] = value;
}

/* Copies n bytes from one region to another, with an interrupt behind it. */
static stream copy(uint32_t from, uint32_t to, uint32_t at, uint32_t n)
{
    stream s = {.n = 0};
    put(&s, DMA_SRC_REGION, from);
    put_long(&s, DMA_SRC, at);
    put(&s, DMA_DST_REGION, to);
    put_long(&s, DMA_DST, 32);
    put_long(&s, DMA_LEN, n);
    put(&s, DMA_START, 0);
    put(&s, DMA_WAIT, 0);
    put(&s, IRQ, 4);
    put(&s, STOP, 0xffff);
    return s;
}

static tc_status load(tc_npu *npu, const stream *s, tc_npu_load_info *out)
{
    return tc_npu_load(npu, s->word, s->n * 4, out);
}

static tc_npu_fault_info fault_of(const tc_npu *npu)
{
    tc_npu_fault_info f = tc_npu_fault_info_default();
    tc_npu_get_fault(npu, &f);
    return f;
}

static void check_copy(tc_npu *npu)
{
    uint8_t from[96], to[112];
    tc_npu_load_info info = tc_npu_load_info_default();
    tc_npu_run_info ran = tc_npu_run_info_default();
    tc_npu_progress p = tc_npu_progress_default();
    stream s = copy(3, 5, 16, 64);
    size_t count = 9;
    const char *text;
    for (int i = 0; i < 96; i++)
        from[i] = (uint8_t)(i * 7);
    memset(to, 0, sizeof to);
    CHECK(load(npu, &s, &info) == TC_OK && info.operations == 1 && info.cycles > 0);
    CHECK(info.reach[3] == 80 && info.read[3] && !info.written[3]);
    CHECK(info.reach[5] == 96 && info.written[5] && !info.read[5] && !info.reach[0]);
    CHECK(info.cycles_low <= info.cycles && info.cycles <= info.cycles_high);
    CHECK(tc_npu_verify(npu, &count, &text) == TC_OK);
    CHECK(tc_npu_bind(npu, 3, from, sizeof from) == TC_OK);
    CHECK(tc_npu_bind(npu, 5, to, sizeof to) == TC_OK && tc_npu_bind(npu, 8, to, 1) == TC_USAGE);
    CHECK(tc_npu_run(npu, &ran) == TC_OK && ran.mask == 0xffff && ran.at == s.n * 4);
    CHECK(!memcmp(to + 32, from + 16, 64) && !to[31] && !to[96]);
    CHECK(fault_of(npu).fault == TC_NPU_FAULT_NONE && !fault_of(npu).text);
    tc_npu_get_progress(npu, 0, &p);
    CHECK(p.at < s.n * 4 && !p.mask && p.next_irq > 0 && p.next_irq <= info.cycles);
    tc_npu_get_progress(npu, info.cycles, &p);
    CHECK(p.at == s.n * 4 && p.mask == 4);
}

static void check_faults(tc_npu *npu)
{
    uint8_t memory[128] = {0};
    tc_npu_load_info info = tc_npu_load_info_default();
    tc_npu_run_info ran = tc_npu_run_info_default();
    stream s = copy(1, 2, 0, 64), bad = {.word = {0x3fff}, .n = 1};
    CHECK(load(npu, &bad, &info) == TC_BAD_MODEL && fault_of(npu).fault == TC_NPU_FAULT_STREAM);
    CHECK(strstr(fault_of(npu).text, "word 0") != NULL && tc_npu_run(npu, &ran) == TC_USAGE);
    CHECK(tc_npu_load(npu, s.word, 6, &info) == TC_BAD_MODEL);
    CHECK(load(npu, &s, &info) == TC_OK && tc_npu_bind(npu, 1, memory, 64) == TC_OK);
    CHECK(tc_npu_run(npu, &ran) == TC_BAD_MODEL); /* region 2 has no memory */
    CHECK(fault_of(npu).fault == TC_NPU_FAULT_MEMORY && fault_of(npu).region == 2);
    s.n--; /* without STOP */
    CHECK(load(npu, &s, &info) == TC_OK && tc_npu_bind(npu, 1, memory, 128) == TC_OK &&
          tc_npu_bind(npu, 2, memory, 128) == TC_OK);
    CHECK(tc_npu_run(npu, &ran) == TC_BAD_MODEL && fault_of(npu).fault == TC_NPU_FAULT_STREAM);
}

/* More streams than are kept, each twice. */
static void check_many(tc_npu *npu)
{
    uint8_t memory[256];
    tc_npu_load_info info = tc_npu_load_info_default();
    tc_npu_run_info ran = tc_npu_run_info_default();
    for (uint32_t i = 0; i < 24; i++) {
        stream s = copy(0, 0, 128, 16 * (i % 12 / 3 + 1));
        memset(memory, (int)i, sizeof memory);
        memory[128] = 99;
        CHECK(load(npu, &s, &info) == TC_OK && tc_npu_bind(npu, 0, memory, 256) == TC_OK);
        CHECK(tc_npu_run(npu, &ran) == TC_OK && memory[32] == 99);
    }
}

int main(void)
{
    static const struct {
        const char *name;
        int product, macs;
    } machine[] = {{"ethos-u55-128", 55, 128}, {"ethos-u65-256", 65, 256}, {"ethos-u85-256", 85, 256}};
    tc_ctx *ctx = tc_ctx_new();
    tc_npu *npu = NULL;
    tc_npu_options o = tc_npu_options_default();
    CHECK(tc_npu_new(ctx, &o, &npu) == TC_USAGE);
    o.machine = "ethos-u99";
    CHECK(tc_npu_new(ctx, &o, &npu) == TC_USAGE);
    for (int i = 0; i < 3; i++) {
        tc_npu_info info = tc_npu_info_default();
        o.machine = machine[i].name;
        CHECK(tc_npu_new(ctx, &o, &npu) == TC_OK);
        tc_npu_get_info(npu, &info);
        CHECK(info.product == machine[i].product && info.macs == machine[i].macs);
        CHECK(1 << (info.config & 15) == info.macs && info.clock > 0);
        check_copy(npu);
        check_faults(npu);
        check_many(npu);
    }
    tc_ctx_free(ctx);
    return check_done();
}
