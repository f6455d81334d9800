/* SPDX-License-Identifier: Apache-2.0 */
/* npu_linux.c -- what Linux's driver refuses of streams that are made here word by word, how many bytes of
 * each region it counts, and which jobs it takes; then streams of whole networks. */
#include "check.h"

#include <errno.h>

#include "npu/linux_rules.h"
#include "npu/npu_write.h"
#include "npu/program.h"
#include "wire/file.h"

enum { MOST = 256 };

typedef struct stream {
    uint8_t bytes[4 * MOST];
    size_t n;
    int skip; /* the register that is left out, with 1 << 14 where it has two words */
} stream;

static void word(stream *s, uint32_t w)
{
    for (int i = 0; i < 4; i++)
        s->bytes[4 * s->n + (size_t)i] = (uint8_t)(w >> 8 * i);
    s->n++;
}
static void set(stream *s, int code, int value)
{
    if (code != s->skip)
        word(s, (uint32_t)code | (uint32_t)(value & 0xffff) << 16);
}
static void set2(stream *s, int code, uint32_t value)
{
    if ((code | 1 << 14) == s->skip)
        return;
    word(s, (uint32_t)code | 1u << 14);
    word(s, value);
}

/* A map of h x w x c bytes in one tile. */
static void map(stream *s, int width0, int region_code, int base, int region, uint32_t at, int h, int w,
                int c)
{
    set(s, region_code, region);
    set(s, width0, w - 1);
    set(s, width0 + 1, h - 1);
    set(s, width0 + 2, h - 1);
    set2(s, base, at);
    set2(s, base + 4, (uint32_t)c);
    set2(s, base + 5, (uint32_t)(w * c));
    set2(s, base + 6, 1);
}

/* Registers of a 3 x 3 convolution of 8 x 8 x 4, SAME, to 8 x 8 x 16 in region 1 at 4096; weights and scales
 * in region 0. */
static stream convolution(int skip)
{
    stream s = {.skip = skip};
    set(&s, TC_NPU_IFM_PAD_TOP, 1);
    set(&s, TC_NPU_IFM_PAD_LEFT, 1);
    set(&s, TC_NPU_IFM_PAD_RIGHT, 1);
    set(&s, TC_NPU_IFM_PAD_BOTTOM, 1);
    set(&s, TC_NPU_IFM_DEPTH_M1, 3);
    set(&s, TC_NPU_IFM_PRECISION, 1);
    set(&s, TC_NPU_OFM_PRECISION, 1);
    set(&s, TC_NPU_OFM_WIDTH_M1, 7);
    set(&s, TC_NPU_OFM_HEIGHT_M1, 7);
    set(&s, TC_NPU_OFM_DEPTH_M1, 15);
    set(&s, TC_NPU_KERNEL_WIDTH_M1, 2);
    set(&s, TC_NPU_KERNEL_HEIGHT_M1, 2);
    set(&s, TC_NPU_KERNEL_STRIDE, 0);
    map(&s, TC_NPU_IFM_WIDTH0_M1, TC_NPU_IFM_REGION, TC_NPU_IFM_BASE0, 1, 0, 8, 8, 4);
    map(&s, TC_NPU_OFM_WIDTH0_M1, TC_NPU_OFM_REGION, TC_NPU_OFM_BASE0, 1, 4096, 8, 8, 16);
    set(&s, TC_NPU_WEIGHT_REGION, 0);
    set2(&s, TC_NPU_WEIGHT_BASE, 160);
    set2(&s, TC_NPU_WEIGHT_LENGTH, 640);
    set(&s, TC_NPU_SCALE_REGION, 0);
    set2(&s, TC_NPU_SCALE_BASE, 0);
    set2(&s, TC_NPU_SCALE_LENGTH, 160);
    word(&s, TC_NPU_CONV);
    return s;
}

static tc_linux_extent seen(const stream *s)
{
    tc_linux_extent e;
    ti_linux_validate(s->bytes, s->n, &e);
    return e;
}

static void counted(void)
{
    stream s = convolution(0);
    tc_linux_extent e = seen(&s);
    CHECK(!e.refused && !e.warned);
    CHECK(e.bytes[0] == 800 && e.bytes[1] == 4096 + 8 * 8 * 16 && e.bytes[2] == 0);
    CHECK(e.written[1] && !e.written[0]);
}

/* Every register of the convolution that the driver misses. */
static void unset(void)
{
    static const struct {
        int skip;
        const char *says;
    } row[] = {
        {TC_NPU_IFM_REGION, "IFM_REGION"},
        {TC_NPU_OFM_REGION, "OFM_REGION"},
        {TC_NPU_IFM_BASE0 | 1 << 14, "IFM_BASE"},
        {TC_NPU_OFM_BASE0 | 1 << 14, "OFM_BASE"},
        {TC_NPU_WEIGHT_REGION, "WEIGHT_REGION"},
        {TC_NPU_WEIGHT_BASE | 1 << 14, "WEIGHT_BASE"},
        {TC_NPU_WEIGHT_LENGTH | 1 << 14, "WEIGHT_LENGTH"},
        {TC_NPU_SCALE_REGION, "SCALE_REGION"},
        {TC_NPU_SCALE_LENGTH | 1 << 14, "SCALE_LENGTH"},
        {TC_NPU_KERNEL_STRIDE, "KERNEL_STRIDE"},
    };
    for (size_t i = 0; i < TC_COUNT(row); i++) {
        stream s = convolution(row[i].skip);
        tc_linux_extent e = seen(&s);
        CHECK_ROW(row[i].says, e.refused && strstr(e.refused, row[i].says) && e.at == s.n - 1);
    }
}

/* An elementwise operation whose second operand has no place: a scalar by U85's code is none, by
 * U65's a map. */
static void scalars(void)
{
    for (int code = 8; code <= 0x80; code += 0x78) {
        stream s = convolution(0);
        s.n--;
        set(&s, TC_NPU_IFM2_BROADCAST, code);
        set(&s, TC_NPU_IFM2_PRECISION, 1);
        word(&s, TC_NPU_ELEMENTWISE | 1u << 16); /* ADD */
        tc_linux_extent e = seen(&s);
        CHECK(code == 8 ? !e.refused : e.refused && strstr(e.refused, "IFM2_REGION"));
        s.n--;
        word(&s, TC_NPU_ELEMENTWISE | 6u << 16); /* ABS */
        CHECK(!seen(&s).refused);
    }
}

/* Rows of 16 bytes, 64 apart: the driver counts (16 + 64) * 4 of what is 3 * 64 + 16. */
static void copies(void)
{
    stream s = {0};
    set(&s, TC_NPU_DMA0_SRC_REGION, 1 | 1 << 9);
    set(&s, TC_NPU_DMA0_DST_REGION, 1 << 8); /* tables: no region */
    set(&s, TC_NPU_DMA0_SIZE0, 4);
    set2(&s, TC_NPU_DMA0_SRC, 32);
    set2(&s, TC_NPU_DMA0_LEN, 16);
    set2(&s, TC_NPU_DMA0_SRC_STRIDE0, 64);
    word(&s, TC_NPU_DMA_START);
    CHECK(seen(&s).bytes[1] == 32 + (16 + 64) * 4 && !seen(&s).bytes[0]);
    set2(&s, TC_NPU_DMA0_SRC_STRIDE0, (uint32_t)-64); /* the bits above 32 are lost */
    word(&s, TC_NPU_DMA_START);
    CHECK(seen(&s).bytes[1] > UINT32_MAX);
}

static void others(void)
{
    stream s = {0};
    word(&s, TC_NPU_RESIZE);
    CHECK(seen(&s).warned && !seen(&s).refused && seen(&s).at == 0);
    word(&s, TC_NPU_IFM_BASE0 | 1u << 14); /* and no second word */
    CHECK(seen(&s).refused);
    s = convolution(0);
    for (size_t n = 0; n <= s.n; n++) { /* any bytes are taken or refused */
        stream t = s;
        t.n = n;
        for (size_t i = 0; i < 4 * n; i++)
            t.bytes[i] ^= (uint8_t)(n * 31 + i);
        (void)seen(&t);
    }
}

static void jobs(void)
{
    stream s = convolution(0);
    tc_linux_extent e = seen(&s);
    uint64_t fit[8] = {4096, 8192};
    int region, code;
    CHECK(!ti_linux_submit(&e, fit, 0, &region, &code));
    uint64_t small[8] = {4096, 4096};
    CHECK(ti_linux_submit(&e, small, 0, &region, &code) && region == 1 && code == EOVERFLOW);
    uint64_t none[8] = {0, 8192};
    CHECK(ti_linux_submit(&e, none, 0, &region, &code) && region == 0 && code == ENOENT);
    uint64_t more[8] = {4096, 8192, 0, 4096};
    CHECK(ti_linux_submit(&e, more, 0, &region, &code) && region == 3 && code == EINVAL);
    e.bytes[2] = 1000;
    CHECK(!ti_linux_submit(&e, fit, 1024, &region, &code));
    CHECK(ti_linux_submit(&e, fit, 512, &region, &code) && region == 2 && code == EINVAL);
}

/* Vela's streams, as they are and written again by our writer. */
static void networks(void)
{
    static const struct {
        const char *name;
        bool refused;
    } row[] = {{"attention-u85-256", false}, {"cascade-u85-256", true}, {"digits-u65-256", false},
               {"digits-u65-512", false},   {"digits-u85-256", true},  {"shared-u85-256", false}};
    for (size_t i = 0; i < TC_COUNT(row); i++) {
        tc_ctx *ctx = tc_ctx_new();
        tc_bytes driver;
        tc_npu_program p = {.fast = -1};
        tc_linux_extent e;
        tc_npu_op *op;
        tc_npu_words words;
        size_t n;
        const char *path = ti_text_format(&ctx->arena, TOSAC_FIXTURES "/cost/%s.cop", row[i].name);
        CHECK_ROW(path, ti_file_read(ctx, path, &driver) == TC_OK &&
                            ti_npu_read_driver(ctx, NULL, driver, &p) == TC_OK);
        ti_linux_validate(p.words.data, p.words.n, &e);
        CHECK_ROW(row[i].name, !e.refused == !row[i].refused);
        CHECK(!ti_npu_list(&ctx->arena, p.machine, p.words, false, &op, &n));
        CHECK(!ti_npu_write(&ctx->arena, p.machine, op, n, &words, NULL));
        ti_linux_validate(words.data, words.n, &e);
        CHECK_ROW(row[i].name, !e.refused);
        tc_ctx_free(ctx);
    }
}

int main(void)
{
    counted();
    unset();
    scalars();
    copies();
    others();
    jobs();
    networks();
    return check_done();
}
