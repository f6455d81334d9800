/* SPDX-License-Identifier: Apache-2.0 */
/* npu_encode.c -- weights written for an Ethos-U come back from the decoder as they were: every
 * machine, every order, every kind of weights; sizes, scales. */
#include "base/bytes.h"
#include "npu/mlw_encode.h"
#include "npu/npu_weights.h"
#include "npu/weight_encode.h"

#include "check.h"

static uint64_t seed = 1;
static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % below);
}

static const char *const machines[] = {
    "ethos-u55-32",  "ethos-u55-64",  "ethos-u55-128", "ethos-u55-256",  "ethos-u65-256",
    "ethos-u65-512", "ethos-u85-128", "ethos-u85-256", "ethos-u85-512", "ethos-u85-1024",
    "ethos-u85-2048"};

/* ---- kinds of weights ---- */

static int16_t bell(int spread) /* a sum of four, as trained weights are */
{
    int v = 0;
    for (int k = 0; k < 4; k++)
        v += (int)draw((uint32_t)spread) - spread / 2;
    return (int16_t)(v < -127 ? -127 : v > 127 ? 127 : v);
}
static int16_t zero(size_t k) { return (int16_t)(0 * k); }
static int16_t one_value(size_t k) { return (int16_t)(-255 + (int)(0 * k)); }
static int16_t any(size_t k) { return (int16_t)((int)(0 * k) + (int)draw(511) - 255); }
static int16_t two(size_t k) { return (int16_t)(k * 7 % 5 < 2 ? -1 : 1); }
static int16_t trained(size_t k) { return (int16_t)(bell(60) + (int)(0 * k)); }
static int16_t asymmetric(size_t k) { return (int16_t)(bell(60) + 120 + (int)(0 * k)); }
static int16_t rare(size_t k) { return draw(400) ? (int16_t)(0 * k) : any(k); }
static int16_t pruned(size_t k) { return draw(4) ? (int16_t)(0 * k) : bell(30); }
static int16_t palette(size_t k) { return (int16_t)((int)(0 * k) + (int)(draw(16) * 17) - 128); }
static int16_t few(size_t k) { return (int16_t)((int)(0 * k) + (int)(draw(3) * 200) - 200); }
static int16_t changing(size_t k) { return k / 700 % 3 ? bell(8) : k / 700 % 2 ? bell(100) : 0; }

static int16_t late(size_t k) { return k < 25000 ? 0 : bell(60); }
static int16_t mixed(size_t k) { return k < 25000 ? palette(k) : few(k); }

typedef struct kind {
    const char *name;
    int16_t (*make)(size_t k);
} kind;
static const kind kinds[] = {
    {"zeros", zero},       {"one value", one_value}, {"any", any},         {"two values", two},
    {"trained", trained},  {"asymmetric", asymmetric}, {"rare", rare},     {"pruned", pruned},
    {"palette", palette},  {"three values", few},    {"changing", changing}};

/* ---- there and back ---- */

typedef struct room {
    tc_arena arena, scratch;
} room;

static void describe(const tc_npu_machine *m, const tc_npu_op *op, const char *weights)
{
    fprintf(stderr, "%s %s %s: %d x %d x %d x %d, %d bytes, block %d, stride %d, dilation %d%s\n",
            m->name, weights,
            op->kind == TC_NPU_KIND_DEPTHWISE ? "depthwise"
            : op->window.part_kernel          ? "part kernel"
                                              : "depth first",
            op->ofm.c, op->window.kh, op->window.kw, op->ifm.c, op->ifm.bytes, op->block.depth,
            op->window.stride_x, op->window.dilation_x, op->weights.sparse ? ", sparse" : "");
}

static bool same_back(room *r, const tc_npu_machine *m, tc_npu_op op, const int16_t *w, size_t n,
                      tc_npu_weight_form form)
{
    tc_npu_encoded e;
    const char *wrong = ti_npu_weights_encode(&r->arena, &r->scratch, m, &op, w, form, &e);
    if (wrong && form == TC_WEIGHTS_FIXED)
        return true; /* said, not written; what is refused has its own test */
    size_t bytes = 0;
    for (int c = 0; c < TC_NPU_CORES; c++) {
        bytes += e.stream[c].size;
        wrong = e.stream[c].size % 16 ? "not a multiple of 16" : wrong;
    }
    op.weights.fast = e.fixed;
    int16_t *back = ti_arena_raw(&r->arena, n * sizeof *back);
    if (!wrong)
        wrong = ti_npu_weights_decode(&r->arena, m, &op, e.stream, back);
    if (wrong)
        fprintf(stderr, "%s\n", wrong);
    return !wrong && bytes == e.bytes && !memcmp(back, w, n * sizeof *w);
}

/* The estimate is exact for the fixed-size format, and knows the number of values. */
static bool sizes_agree(room *r, const tc_npu_machine *m, const tc_npu_op *op, const int16_t *w,
                        size_t n)
{
    tc_npu_weight_census census;
    tc_npu_encoded standard, fixed, smallest;
    ti_npu_weights_count(w, n, &census);
    tc_npu_weight_size size = ti_npu_weights_size(m, op, &census);
    const char *wrong =
        ti_npu_weights_encode(&r->arena, &r->scratch, m, op, w, TC_WEIGHTS_STANDARD, &standard);
    if (wrong || size.values != standard.values || size.standard < standard.bytes / 64)
        return false;
    wrong = ti_npu_weights_encode(&r->arena, &r->scratch, m, op, w, TC_WEIGHTS_FIXED, &fixed);
    if (size.fixed != (wrong ? 0 : fixed.bytes))
        return false;
    size_t least = !wrong && fixed.bytes < standard.bytes ? fixed.bytes : standard.bytes;
    wrong = ti_npu_weights_encode(&r->arena, &r->scratch, m, op, w, TC_WEIGHTS_SMALLEST, &smallest);
    return !wrong && smallest.bytes == least;
}

static void one_case(room *r, const tc_npu_machine *m, tc_npu_op op, const kind *k)
{
    size_t n = (size_t)op.ofm.c * (size_t)op.window.kh * (size_t)op.window.kw *
               (op.kind == TC_NPU_KIND_DEPTHWISE ? 1 : (size_t)op.ifm.c);
    int16_t *w = ti_arena_raw(&r->arena, n * sizeof *w);
    for (size_t i = 0; i < n; i++)
        w[i] = k->make(i);
    if (op.weights.sparse)
        for (size_t i = 0; i < n; i++)
            if ((i % (size_t)op.ifm.c) % 4 > 1 || w[i] > 127 || w[i] < -127)
                w[i] = 0;
    bool well = same_back(r, m, op, w, n, TC_WEIGHTS_STANDARD) &&
                same_back(r, m, op, w, n, TC_WEIGHTS_FIXED) &&
                same_back(r, m, op, w, n, TC_WEIGHTS_SMALLEST) && sizes_agree(r, m, &op, w, n);
    if (!well)
        describe(m, &op, k->name);
    CHECK(well);
    if (op.weights.sparse)
        CHECK(ti_npu_weights_are_sparse(w, op.ofm.c, op.window.kh, op.window.kw, op.ifm.c));
    ti_arena_rewind(&r->arena, (tc_mark){0});
}

static tc_npu_op random_op(const tc_npu_machine *m)
{
    static const int32_t kernels[] = {1, 1, 2, 3, 3, 5, 7, 8, 9, 11, 17};
    bool u85 = m->product == TC_U85;
    tc_npu_op op = {.kind = draw(3) ? TC_NPU_KIND_CONV : TC_NPU_KIND_DEPTHWISE,
                    .cores = (uint8_t)m->cores};
    bool depthwise = op.kind == TC_NPU_KIND_DEPTHWISE;
    op.window = (tc_npu_window){.kh = kernels[draw(TC_COUNT(kernels))],
                                .kw = kernels[draw(TC_COUNT(kernels))],
                                .stride_y = 1 + (int32_t)draw(3),
                                .stride_x = 1 + (int32_t)draw(3),
                                .dilation_y = 1 + (int32_t)draw(2),
                                .dilation_x = 1 + (int32_t)draw(2),
                                .part_kernel = !depthwise && draw(2)};
    op.ofm.c = 1 + (int32_t)draw(depthwise ? 200 : 70);
    op.ifm.c = depthwise ? op.ofm.c : 1 + (int32_t)draw(150);
    while (!depthwise && op.ofm.c * op.ifm.c * op.window.kh * op.window.kw > 40000)
        op.ifm.c = 1 + op.ifm.c / 2, op.ofm.c = 1 + op.ofm.c / 2,
        op.window.kh = 1 + op.window.kh / 2;
    op.ifm.bytes = (uint8_t)(1 + draw(2));
    while (u85 && !m->microblock[op.microblock].depth)
        op.microblock = (uint8_t)draw(TC_NPU_MICROBLOCKS);
    int32_t micro = m->microblock[op.microblock].depth;
    op.block.depth = micro * m->cores * (1 + (int32_t)draw(4));
    op.weights.sparse = u85 && !depthwise && !draw(3);
    return op;
}

static void every_machine_and_order(void)
{
    enum { EACH = 22 };
    room r;
    ti_arena_init(&r.arena);
    ti_arena_init(&r.scratch);
    for (size_t i = 0; i < TC_COUNT(machines); i++) {
        const tc_npu_machine *m = ti_npu_machine_find(machines[i]);
        for (int k = 0; k < EACH; k++)
            one_case(&r, m, random_op(m), &kinds[(size_t)k % TC_COUNT(kinds)]);
    }
    ti_arena_free(&r.arena);
    ti_arena_free(&r.scratch);
}

/* ---- streams alone ---- */

static bool stream_back(room *r, const int16_t *v, size_t n, size_t *bytes)
{
    size_t back = 0;
    tc_bytes b = ti_mlw_encode(&r->arena, &r->scratch, v, n);
    const int16_t *out = ti_npu_mlw_decode(&r->arena, b, n, &back);
    *bytes = b.size;
    return out && back == n && !memcmp(out, v, n * sizeof *v);
}

/* Lengths about the ends of blocks, chunks and slices. */
static void every_length(void)
{
    static const size_t lengths[] = {1, 2, 11, 12, 13, 16, 17, 4095, 32766, 32767, 32768, 70000};
    room r;
    ti_arena_init(&r.arena);
    ti_arena_init(&r.scratch);
    for (size_t k = 0; k < TC_COUNT(kinds); k++)
        for (size_t l = 0; l < TC_COUNT(lengths); l++) {
            size_t n = lengths[l], bytes;
            int16_t *v = ti_arena_raw(&r.arena, n * sizeof *v);
            for (size_t i = 0; i < n; i++)
                v[i] = kinds[k].make(i);
            bool same = stream_back(&r, v, n, &bytes);
            CHECK_ROW(kinds[k].name, same);
            CHECK_ROW(kinds[k].name, bytes <= n * 9 / 8 + 32);
            ti_arena_rewind(&r.arena, (tc_mark){0});
        }
    ti_arena_free(&r.arena);
    ti_arena_free(&r.scratch);
}

/* Bits of all weights with a palette of the n commonest values, counted weight by weight; UINT64_MAX:
 * there is no such palette. */
static uint64_t bits_with(const tc_mlw_census *c, const uint16_t *order, int n, int distinct)
{
    enum { RICE = 6, STRANGER = 40 };
    uint64_t bits[2 * RICE + 1] = {0};
    int least = TC_MLW_SYMBOLS, most_entry = 0, top = n - 1;
    bool in[TC_MLW_SYMBOLS] = {false};
    if (n > distinct || (n == 1 && distinct > 1))
        return UINT64_MAX;
    for (int k = 0; k < n; k++) {
        in[order[k]] = true;
        most_entry = order[k] > most_entry ? order[k] : most_entry;
    }
    for (int f = TC_MLW_SYMBOLS - 1; f >= 0; f--)
        least = c->times[f] && !in[f] ? f : least;
    int direct = least < 31 ? least : least < TC_MLW_SYMBOLS ? 31 : 0;
    int entry = most_entry > 3 ? 32 - __builtin_clz((unsigned)most_entry) : 2;
    for (int f = 0; f < TC_MLW_SYMBOLS; f++)
        top = c->times[f] && !in[f] ? f - direct + n : top;
    if (top >= TC_MLW_SYMBOLS)
        return UINT64_MAX;
    int plain = n ? (n > 2 ? 32 - __builtin_clz((unsigned)n - 1) : 1)
                  : (top > 3 ? 32 - __builtin_clz((unsigned)top) : 2);
    for (int f = 0; f < TC_MLW_SYMBOLS; f++) {
        int symbol = f - direct + n;
        for (int k = 0; k < n; k++)
            symbol = order[k] == f ? k : symbol;
        for (int d = 0; d < RICE; d++) {
            bits[d] += c->times[f] * (uint64_t)((symbol >> d) + 1 + d);
            bits[RICE + d] += c->times[f] * (uint64_t)(symbol < 1 << d ? 1 + d : 2 + d);
        }
        bits[2 * RICE] += c->times[f] * (uint64_t)(plain + (n && !in[f] ? STRANGER : 0));
    }
    uint64_t best = bits[2 * RICE];
    for (int d = 0; d < RICE; d++) {
        best = bits[d] < best ? bits[d] : best;
        best = top < 3 << d && bits[RICE + d] < best ? bits[RICE + d] : best;
    }
    return best + (uint64_t)(n * entry);
}

/* The sums that grow with a palette are those of counting. */
static void palette_bits(void)
{
    for (int turn = 0; turn < 60; turn++) {
        tc_mlw_census c = {0};
        uint16_t order[TC_MLW_SYMBOLS];
        int distinct = 0, values = 1 + (int)draw(turn % 3 ? 300 : 40);
        for (int i = 0; i < values; i++)
            c.times[draw(turn % 2 ? 511 : 64)] += (uint32_t)draw(turn % 5 ? 20 : 3);
        for (int f = 0; f < TC_MLW_SYMBOLS; f++) {
            int at = distinct;
            distinct += c.times[f] > 0;
            for (; c.times[f] && at > 0 && c.times[order[at - 1]] < c.times[f]; at--)
                order[at] = order[at - 1];
            if (c.times[f])
                order[at] = (uint16_t)f;
        }
        uint64_t best = UINT64_MAX;
        for (int n = 0; n <= TC_MLW_ENTRIES; n++) {
            uint64_t bits = bits_with(&c, order, n, distinct);
            best = bits < best ? bits : best;
        }
        CHECK(ti_mlw_bits_without_runs(&c) == best);
    }
}

/* What good slices and palettes give: bits a value, where the entropy is known. */
static void small_streams(void)
{
    static const struct {
        int16_t (*make)(size_t k);
        double bits;
        const char *name;
    } rows[] = {{zero, 0.14, "zeros"},
                {two, 1.01, "two values"},
                {palette, 4.01, "palette"},
                {any, 9.01, "any"},
                {rare, 0.16, "rare"},
                {changing, 5, "changing"},
                {late, 3.85, "late"},
                {mixed, 3.02, "mixed"}};
    enum { N = 50000 };
    room r;
    ti_arena_init(&r.arena);
    ti_arena_init(&r.scratch);
    int16_t *v = ti_arena_raw(&r.arena, N * sizeof *v);
    for (size_t k = 0; k < TC_COUNT(rows); k++) {
        size_t bytes;
        for (size_t i = 0; i < N; i++)
            v[i] = rows[k].make(i);
        CHECK_ROW(rows[k].name, stream_back(&r, v, N, &bytes));
        CHECK_ROW(rows[k].name, (double)bytes * 8 < rows[k].bits * N + 256);
    }
    ti_arena_free(&r.arena);
    ti_arena_free(&r.scratch);
}

/* ---- bytes that are known ---- */

/* One output channel, four input channels, on U85-256 in microblocks of 8: 64 x 8 values. */
static void known_fixed(void)
{
    room r;
    ti_arena_init(&r.arena);
    ti_arena_init(&r.scratch);
    const tc_npu_machine *m = ti_npu_machine_find("ethos-u85-256");
    tc_npu_op op = {.kind = TC_NPU_KIND_CONV, .cores = 1, .microblock = 3};
    op.window = (tc_npu_window){.kh = 1, .kw = 1, .stride_y = 1, .stride_x = 1, .dilation_y = 1,
                                .dilation_x = 1};
    op.ifm = (tc_npu_map){.bytes = 1, .c = 4};
    op.ofm.c = 1;
    op.block.depth = 8;
    tc_npu_encoded e;
    static const int16_t table[] = {5, -3, 0, 5}, wide[] = {-200, 0, 1, 2};
    CHECK(!ti_npu_weights_encode(&r.arena, &r.scratch, m, &op, table, TC_WEIGHTS_FIXED, &e));
    /* 5, -3, 0 are the entries 0, 1, 2: 10, 7, 0 folded, from bit 112 on. */
    uint8_t want[32 + 128] = {[0] = 2, [14] = 10, [15] = 7 << 1, [32] = 0x24};
    memset(want + 33, 0xaa, 127);
    CHECK(e.fixed && e.values == 512 && e.stream[0].size == sizeof want &&
          !memcmp(e.stream[0].data, want, sizeof want));
    op.weights.sparse = true; /* bytes only, and the table all the same; 128 input channels */
    CHECK(!ti_npu_weights_encode(&r.arena, &r.scratch, m, &op, table, TC_WEIGHTS_FIXED, &e));
    uint8_t bytes[32 + 1024] = {[0] = 1, [14] = 10, [15] = 7 << 1, [32] = 5, 0xfd, 0, 5};
    CHECK(e.values == 1024 && e.stream[0].size == sizeof bytes &&
          !memcmp(e.stream[0].data, bytes, sizeof bytes));
    CHECK(!ti_npu_weights_encode(&r.arena, &r.scratch, m, &op, wide, TC_WEIGHTS_FIXED, &e));
    CHECK(e.stream[0].data[13] == 72 && e.stream[0].data[32] == 0x80 &&
          e.stream[0].data[33] == 72);
    ti_arena_free(&r.arena);
    ti_arena_free(&r.scratch);
}

static void refused(void)
{
    room r;
    ti_arena_init(&r.arena);
    ti_arena_init(&r.scratch);
    tc_npu_op op = {.kind = TC_NPU_KIND_CONV, .cores = 1, .microblock = 3};
    op.window = (tc_npu_window){.kh = 1, .kw = 1, .stride_y = 1, .stride_x = 1, .dilation_y = 1,
                                .dilation_x = 1};
    op.ifm = (tc_npu_map){.bytes = 1, .c = 32};
    op.ofm.c = 1;
    op.block.depth = 8;
    int16_t w[32];
    for (int k = 0; k < 32; k++)
        w[k] = (int16_t)(k * 16 - 250);
    const tc_npu_machine *u85 = ti_npu_machine_find("ethos-u85-256"),
                         *u55 = ti_npu_machine_find("ethos-u55-128");
    tc_npu_encoded e;
    CHECK(ti_npu_weights_encode(&r.arena, &r.scratch, u85, &op, w, TC_WEIGHTS_FIXED, &e));
    CHECK(!ti_npu_weights_encode(&r.arena, &r.scratch, u85, &op, w, TC_WEIGHTS_SMALLEST, &e));
    CHECK(!e.fixed);
    CHECK(ti_npu_weights_encode(&r.arena, &r.scratch, u55, &op, w, TC_WEIGHTS_FIXED, &e));
    op.microblock = 0;
    CHECK(ti_npu_weights_encode(&r.arena, &r.scratch, u85, &op, w, TC_WEIGHTS_STANDARD, &e));
    op.microblock = 3;
    w[7] = 256;
    CHECK(ti_npu_weights_encode(&r.arena, &r.scratch, u85, &op, w, TC_WEIGHTS_STANDARD, &e));
    ti_arena_free(&r.arena);
    ti_arena_free(&r.scratch);
}

static void sparsity(void)
{
    int16_t w[] = {1, 0, 2, 0, 0, 0, 127, -127, 3, 4};
    CHECK(ti_npu_weights_are_sparse(w, 1, 1, 1, 10));
    CHECK(!ti_npu_weights_are_sparse(w, 1, 1, 2, 5)); /* 0 2 0 0 | 0 1 .. : rows of five */
    w[1] = 1;
    CHECK(!ti_npu_weights_are_sparse(w, 1, 1, 1, 10));
    w[1] = 0;
    w[6] = 128;
    CHECK(!ti_npu_weights_are_sparse(w, 1, 1, 1, 10));
}

static void form(void)
{
    CHECK(ti_npu_weights_form(800, 3, 1, 300) == TC_WEIGHTS_STANDARD);
    CHECK(ti_npu_weights_form(808, 3, 1, 300) == TC_WEIGHTS_FIXED);
    CHECK(ti_npu_weights_form(1600, 3, 2, 300) == TC_WEIGHTS_STANDARD);
}

/* ---- scales ---- */

/* As the executor reads them. */
static bool scales_back(const tc_npu_machine *m, const tc_npu_op *op,
                        const tc_npu_channel_scale *want, const tc_bytes *out)
{
    bool u85 = m->product == TC_U85;
    int32_t streams = u85 ? 1 : op->cores;
    int bias = !u85 ? 5 : op->acc_bits == 48 ? 6 : 4, scale = u85 && op->acc_bits == 48 ? 2 : 4;
    for (int32_t c = 0; c < op->ofm.c; c++) {
        const uint8_t *p = out[c % streams].data + 10 * (c / streams);
        uint64_t b = 0, s = 0;
        for (int i = 0; i < bias; i++)
            b |= (uint64_t)p[i] << 8 * i;
        for (int i = 0; i < scale; i++)
            s |= (uint64_t)p[bias + i] << 8 * i;
        uint64_t mask = (UINT64_C(1) << 8 * bias) - 1;
        if (b != ((uint64_t)want[c].bias & mask) || s != want[c].multiplier ||
            p[bias + scale] != want[c].shift)
            return false;
    }
    return true;
}

static void scales(void)
{
    tc_arena arena;
    ti_arena_init(&arena);
    tc_npu_channel_scale channel[67], wrong;
    for (size_t i = 0; i < TC_COUNT(machines); i++)
        for (int wide = 0; wide < 2; wide++) {
            const tc_npu_machine *m = ti_npu_machine_find(machines[i]);
            bool u85 = m->product == TC_U85, half = u85 && wide;
            tc_npu_op op = {.cores = (uint8_t)m->cores, .acc_bits = wide ? 48 : 32};
            op.ofm.c = 1 + (int32_t)draw(TC_COUNT(channel));
            while (!m->microblock[op.microblock].depth)
                op.microblock++;
            for (size_t c = 0; c < TC_COUNT(channel); c++)
                channel[c] = (tc_npu_channel_scale){(int32_t)draw(1u << 31) - (1 << 30),
                                                    draw(half ? 1 << 15 : 1u << 31),
                                                    (uint8_t)draw(64)};
            tc_bytes out[2];
            CHECK(!ti_npu_scales_encode(&arena, m, &op, channel, out));
            CHECK_ROW(m->name, scales_back(m, &op, channel, out));
            CHECK(out[0].size % 16 == 0 && out[1].size % 16 == 0);
            int32_t micro = m->microblock[op.microblock].depth;
            size_t whole = (size_t)(micro < 16 ? 16 : micro);
            CHECK(!u85 || out[0].size == ((size_t)op.ofm.c + whole - 1) / whole * whole * 10);
            wrong = channel[0];
            op.ofm.c = 1;
            wrong.bias = INT64_C(1) << (!u85 ? 39 : wide ? 47 : 31);
            CHECK(ti_npu_scales_encode(&arena, m, &op, &wrong, out));
            wrong.bias = -wrong.bias;
            CHECK(!ti_npu_scales_encode(&arena, m, &op, &wrong, out));
            CHECK(out[1].size == 0);
            wrong.multiplier = 1u << 31;
            CHECK(!ti_npu_scales_encode(&arena, m, &op, &wrong, out) == !u85);
        }
    ti_arena_free(&arena);
}

int main(void)
{
    every_machine_and_order();
    every_length();
    small_streams();
    known_fixed();
    refused();
    sparsity();
    form();
    palette_bits();
    scales();
    return check_done();
}
