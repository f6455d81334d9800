/* SPDX-License-Identifier: Apache-2.0 */
/* linux_rules.c -- see linux_rules.h.
 *
 * Registers begin as all ones, and a map or a stream of weights that still has that in its region or
 * its address is what "not set" means to the driver.  Its sums are of 32 and 64 bits and wrap. */
#include "linux_rules.h"

#include <errno.h>
#include <string.h>

enum { /* opcodes */
#define NPU_OP(words, code, products, name, bits) name = code,
#define NPU_SET(code, products, name, bits5, bits8) name = code,
#define NPU_SET2(code, products, name, bits5, bits8) name = code,
#include "command.def"
    SET_FIRST = 256, /* registers of 16 bits */
    SETS = 400 - SET_FIRST,
    SETS2 = 152
};
enum { NOT_SET = -1 };

typedef struct state {
    uint16_t set[SETS];
    uint64_t set2[SETS2];     /* the second word; the 8 bits above it are lost */
    bool known[SETS], known2[SETS2];
    tc_linux_extent *out;
} state;

static uint32_t reg(const state *s, int code)
{
    return s->set[code - SET_FIRST];
}
static uint64_t address(const state *s, int code)
{
    return s->set2[code];
}
static int region_of(const state *s, int code, int bits)
{
    return s->known[code - SET_FIRST] ? (int)(reg(s, code) & (uint32_t)bits) : NOT_SET;
}

static void reach(state *s, int region, uint64_t end)
{
    if (s->out->bytes[region] < end)
        s->out->bytes[region] = end;
}

/* ---- feature maps ---- */

/* Where a map's registers begin. */
typedef struct map {
    const char *name;
    int precision, width0, region, base, region_bits;
} map;
static const map ifm = {"IFM", IFM_PRECISION, IFM_WIDTH0_M1, IFM_REGION, IFM_BASE0, 0x7f},
                 ifm2 = {"IFM2", IFM2_PRECISION, IFM2_WIDTH0_M1, IFM2_REGION, IFM2_BASE0, 7},
                 ofm = {"OFM", OFM_PRECISION, OFM_WIDTH0_M1, OFM_REGION, OFM_BASE0, 7};

/* The tile with the element, whose row and column become those within the tile.  The two bits are
 * U85's storage; of U65, where they are the rounding mode, they are read all the same. */
static int tile_of(const state *s, const map *m, uint32_t *x, uint32_t *y)
{
    uint32_t w0 = reg(s, m->width0) + 1, h0 = reg(s, m->width0 + 1) + 1,
             h1 = reg(s, m->width0 + 2) + 1;
    uint32_t storage = reg(s, m->precision) >> 14;
    int tile = 0;
    if (storage == 0) {
        if (*x >= w0) {
            *x -= w0;
            tile = 1;
        }
        uint32_t h = tile ? h1 : h0;
        if (*y >= h) {
            *y -= h;
            tile += 2;
        }
    } else if (storage == 1 && *y >= h1) {
        *y -= h1;
        tile = 2;
    } else if (storage == 1 && *y >= h0) {
        *y -= h0;
        tile = 1;
    }
    return tile;
}

/* The region is used up to the element's first byte. */
static bool map_reaches(state *s, const map *m, uint32_t x, uint32_t y, uint32_t c)
{
    int region = region_of(s, m->region, m->region_bits);
    if (region < 0 || region >= TC_LINUX_REGIONS) {
        s->out->refused = m == &ifm    ? "IFM_REGION is not set"
                          : m == &ifm2 ? "IFM2_REGION is not set"
                                       : "OFM_REGION is not set";
        return false;
    }
    int tile = tile_of(s, m, &x, &y);
    if (!s->known2[m->base + tile]) {
        s->out->refused = m == &ifm    ? "IFM_BASE of a tile that it takes to be read is not set"
                          : m == &ifm2 ? "IFM2_BASE of a tile that it takes to be read is not set"
                                       : "OFM_BASE of a tile that it takes to be written is not set";
        return false;
    }
    uint64_t at = address(s, m->base + tile) + y * address(s, m->base + 5);
    uint32_t precision = reg(s, m->precision), bytes = 1u << (precision >> 1 & 3);
    if ((precision >> 6 & 3) == 0)
        at += x * address(s, m->base + 4) + c;
    else if ((precision >> 6 & 3) == 1)
        at += c / 16 * address(s, m->base + 6) + (16 * x + (c & 15)) * bytes;
    reach(s, region, at + 1);
    return true;
}

static bool ofm_reaches(state *s)
{
    if (!map_reaches(s, &ofm, reg(s, OFM_WIDTH_M1), reg(s, OFM_HEIGHT_M1), reg(s, OFM_DEPTH_M1)))
        return false;
    s->out->written[region_of(s, OFM_REGION, 7)] = true;
    return true;
}

/* ---- operations ---- */

static bool constants_reach(state *s, int region_code, int base, const char *why)
{
    int region = region_of(s, region_code, 7);
    if (region < 0 || !s->known2[base] || !s->known2[base + 1]) {
        s->out->refused = why;
        return false;
    }
    reach(s, region, address(s, base) + address(s, base + 1));
    return true;
}

/* The last row and column of what the window slides over; upscaling is not heard of. */
static bool window_reaches(state *s)
{
    uint32_t stride = reg(s, KERNEL_STRIDE);
    if (stride == UINT16_MAX) {
        s->out->refused = "KERNEL_STRIDE is not set";
        return false;
    }
    uint32_t sy = (stride >> 8 & 2) + (stride >> 1 & 1) + 1, sx = (stride >> 5 & 2) + (stride & 1) + 1;
    uint32_t y = reg(s, OFM_HEIGHT_M1) * sy + reg(s, KERNEL_HEIGHT_M1) -
                 ((reg(s, IFM_PAD_TOP) & 0x7f) + (reg(s, IFM_PAD_BOTTOM) & 0xff));
    uint32_t x = reg(s, OFM_WIDTH_M1) * sx + reg(s, KERNEL_WIDTH_M1) -
                 ((reg(s, IFM_PAD_LEFT) & 0x7f) + (reg(s, IFM_PAD_RIGHT) & 0xff));
    return map_reaches(s, &ifm, x, y, reg(s, IFM_DEPTH_M1));
}

static bool product_or_pool(state *s, uint32_t op, uint32_t param)
{
    bool pool = op == POOL, from_ifm2 = !pool && (param & 1);
    if (!(pool && param == 4) && !window_reaches(s))
        return false;
    if (from_ifm2 && !map_reaches(s, &ifm2, reg(s, IFM_DEPTH_M1), 0, reg(s, OFM_DEPTH_M1)))
        return false;
    if (!pool && !from_ifm2 &&
        !constants_reach(s, WEIGHT_REGION, WEIGHT_BASE,
                         "WEIGHT_REGION, WEIGHT_BASE or WEIGHT_LENGTH is not set"))
        return false;
    if (!(reg(s, OFM_PRECISION) & 0x100) &&
        !constants_reach(s, SCALE_REGION, SCALE_BASE,
                         "SCALE_REGION, SCALE_BASE or SCALE_LENGTH is not set"))
        return false;
    return ofm_reaches(s);
}

static bool operand_reaches(state *s, const map *m, uint32_t broadcast)
{
    return map_reaches(s, m, broadcast & 2 ? 0 : reg(s, OFM_WIDTH_M1),
                       broadcast & 1 ? 0 : reg(s, OFM_HEIGHT_M1),
                       broadcast & 4 ? 0 : reg(s, OFM_DEPTH_M1));
}

/* U85's code of a scalar is the one that it knows; U65's is not. */
static bool elementwise(state *s, uint32_t mode)
{
    enum { LRELU = 5, ABS, CLZ, NOT = 0x24, SCALAR = 8 };
    uint32_t first = reg(s, IFM_BROADCAST) & 0xff, second = reg(s, IFM2_BROADCAST) & 0xff;
    bool unary = mode == LRELU || mode == ABS || mode == CLZ || mode == NOT;
    if (first != SCALAR && !operand_reaches(s, &ifm, first))
        return false;
    if (!unary && second != SCALAR && !operand_reaches(s, &ifm2, second))
        return false;
    return ofm_reaches(s);
}

/* One side of a copy; `stride` counts as bytes skipped after each row, whichever machine. */
static void copy_reaches(state *s, int region_code, int offset, int stride)
{
    uint32_t mode = reg(s, DMA0_SRC_REGION) >> 9 & 3;
    uint64_t bytes = address(s, DMA0_LEN);
    int region = region_of(s, region_code, 7);
    if (!s->known[DMA0_SRC_REGION - SET_FIRST])
        mode = 0;
    if (mode >= 1)
        bytes = (bytes + address(s, stride)) * reg(s, DMA0_SIZE0);
    if (mode == 2)
        bytes = (bytes + address(s, stride + 1)) * reg(s, DMA0_SIZE1);
    if (region < 0 || reg(s, region_code) & 0x100)
        return;
    reach(s, region, bytes + address(s, offset));
    s->out->written[region] |= region_code == DMA0_DST_REGION;
}

/* ---- the words ---- */

static bool operation(state *s, uint32_t op, uint32_t param)
{
    switch (op) {
    case DMA_START:
        copy_reaches(s, DMA0_SRC_REGION, DMA0_SRC, DMA0_SRC_STRIDE0);
        copy_reaches(s, DMA0_DST_REGION, DMA0_DST, DMA0_DST_STRIDE0);
        return true;
    case CONV:
    case DEPTHWISE:
    case POOL:
        return product_or_pool(s, op, param);
    case ELEMENTWISE:
        return elementwise(s, param);
    case RESIZE:
        s->out->warned = "RESIZE: the driver does not know it, and neither its regions";
        return true;
    default:
        return true;
    }
}

static uint32_t word_at(const uint8_t *words, size_t i)
{
    const uint8_t *b = words + 4 * i;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static void set_register(state *s, uint32_t code, uint32_t param)
{
    if (code < SET_FIRST || code >= SET_FIRST + SETS)
        return;
    s->set[code - SET_FIRST] = (uint16_t)param;
    s->known[code - SET_FIRST] = true;
}

/* The driver shifts the 8 high bits out of 32, so that an address from 4 GiB on and a negative stride
 * lose theirs; strides of copies are signed. */
static void set_register2(state *s, uint32_t code, uint32_t payload)
{
    bool copy = code >= DMA0_SRC_STRIDE0 && code <= DMA0_DST_STRIDE1;
    if (code >= SETS2)
        return;
    s->set2[code] = copy ? (uint64_t)((int64_t)((uint64_t)payload << 24) >> 24) : payload;
    s->known2[code] = true;
}

void ti_linux_validate(const uint8_t *words, size_t n, tc_linux_extent *out)
{
    state s = {.out = out};
    *out = (tc_linux_extent){0};
    memset(s.set, 0xff, sizeof s.set);
    memset(s.set2, 0xff, sizeof s.set2);
    for (size_t i = 0; i < n && !out->refused; i++) {
        uint32_t word = word_at(words, i), code = word & 0xffff;
        bool warned = out->warned, two = code & 0x4000;
        if (two && ++i == n)
            out->refused = "it ends within a command";
        else if (two)
            set_register2(&s, code - 0x4000, word_at(words, i));
        else if (code < SET_FIRST)
            (void)operation(&s, code, word >> 16);
        else
            set_register(&s, code, word >> 16);
        if (out->refused || (out->warned && !warned))
            out->at = i - two;
    }
}

const char *ti_linux_submit(const tc_linux_extent *extent, const uint64_t *bytes, uint64_t sram,
                            int *region, int *code)
{
    for (int i = 0; i < TC_LINUX_REGIONS; i++) {
        bool in_sram = i == TC_LINUX_SRAM && !bytes[i];
        *region = i;
        *code = EINVAL;
        if (bytes[i] && !extent->bytes[i])
            return "a buffer for a region that the stream does not use";
        if (in_sram && extent->bytes[i] > sram)
            return "more than the machine has of SRAM, and no buffer for it";
        *code = bytes[i] ? EOVERFLOW : ENOENT;
        if (!in_sram && extent->bytes[i] > bytes[i])
            return bytes[i] ? "a buffer that is too small" : "no buffer for a region that it uses";
    }
    return NULL;
}
