/* SPDX-License-Identifier: Apache-2.0 */
/* npu_weights.c -- the order in which the encoder walked an operation's weights, undone.
 *
 * The machines compute an output block of B channels at a time, in microblocks of U channels, from
 * blocks of IB input channels; kernels larger than 8 x 8 (in dilated taps) are cut into
 * sub-kernels.  Positions outside the tensor, and those that round a sub-kernel's taps up to a
 * multiple of R, hold zeros. */
#include "npu_weights.h"

#include "../base/bytes.h"

tc_npu_weight_shape ti_npu_weight_shape_of(const tc_npu_op *op)
{
    bool depthwise = op->kind == TC_NPU_KIND_DEPTHWISE;
    return (tc_npu_weight_shape){op->ofm.c, op->window.kh, op->window.kw, depthwise ? 1 : op->ifm.c,
                                 depthwise};
}

/* Values of a stream, taken one by one in the order of the walk. */
typedef struct source {
    const int16_t *v;
    size_t n, at;
    const char *wrong;
} source;

/* Where the walk of one core puts what it meets. */
typedef struct walk {
    tc_npu_weight_shape shape;
    int32_t core, cores; /* U55, U65: channel o of the core is channel o cores + core */
    source *from;
    int16_t *out;
} walk;

static int16_t take(source *s)
{
    if (s->at >= s->n) {
        s->wrong = "the weight stream ends too early";
        return 0;
    }
    return s->v[s->at++];
}

static void take_zeros(source *s, int64_t n)
{
    for (int64_t i = 0; i < n && !s->wrong; i++)
        if (take(s) != 0)
            s->wrong = "the weight stream has numbers where padding is";
}

/* The next value is w[o][ky][kx][i], or padding when that is outside. */
static inline void meet(const walk *w, int32_t o, int32_t ky, int32_t kx, int32_t i)
{
    const tc_npu_weight_shape *s = &w->shape;
    int16_t v = take(w->from);
    if (o < s->o && ky < s->kh && kx < s->kw && i < s->i)
        w->out[(((int64_t)o * s->kh + ky) * s->kw + kx) * s->i + i] = v;
    else if (v)
        w->from->wrong = "the weight stream has numbers where padding is";
}

/* The next n of them, along i. */
static inline void meet_run(const walk *w, int32_t o, int32_t ky, int32_t kx, int32_t i, int32_t n)
{
    const tc_npu_weight_shape *s = &w->shape;
    source *from = w->from;
    if (o >= s->o || ky >= s->kh || kx >= s->kw || i + n > s->i || from->n - from->at < (size_t)n) {
        for (int32_t k = 0; k < n; k++)
            meet(w, o, ky, kx, i + k);
        return;
    }
    memcpy(w->out + (((int64_t)o * s->kh + ky) * s->kw + kx) * s->i + i, from->v + from->at,
           (size_t)n * sizeof *from->v);
    from->at += (size_t)n;
}

static int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}
static int32_t round_up(int32_t v, int32_t to)
{
    return (v + to - 1) / to * to;
}

/* ---- U55 and U65 ---- */

typedef struct order55 {
    bool part;
    int32_t block, micro, ifm_block, round, sub_h, sub_w;
} order55;

/* One sub-kernel of one pair of blocks: ob + [0, n_o) output channels of the core, ib + [0, n_i)
 * input channels. */
static void sub_kernel55(const walk *w, const order55 *r, int32_t ob, int32_t n_o, int32_t ib,
                         int32_t n_i, int32_t sy, int32_t sx)
{
    const tc_npu_weight_shape *s = &w->shape;
    int32_t sh = least(r->sub_h, s->kh - sy), sw = least(r->sub_w, s->kw - sx),
            taps = round_up(sh * sw, r->round);
    for (int32_t uo = 0; uo < (r->part ? n_i : 1); uo += 8)
        for (int32_t ou = 0; ou < n_o; ou += r->micro)
            for (int32_t e = 0; e < taps && !w->from->wrong; e++) {
                int32_t ky = e / sw < sh ? sy + e / sw : s->kh, kx = sx + e % sw;
                for (int32_t ui = 0; ui < (r->part ? 1 : n_i); ui += 8)
                    for (int32_t oz = 0; oz < r->micro; oz++)
                        meet_run(w, (ob + ou + oz) * w->cores + w->core, ky, kx, ib + uo + ui,
                                 s->depthwise ? 1 : 8);
            }
}

static void walk55(const walk *w, const tc_npu_machine *machine, const tc_npu_op *op)
{
    const tc_npu_weight_shape *s = &w->shape;
    bool wide = op->ifm.bytes == 2, part = op->window.part_kernel && !s->depthwise;
    order55 r = {.part = part,
                 .block = (op->block.depth + w->cores - 1 - w->core) / w->cores,
                 .micro = machine->microblock[0].depth,
                 .ifm_block = part || wide ? 16 : 32,
                 .round = s->depthwise ? 4
                          : !part      ? 1
                          : wide       ? 2
                                       : 4,
                 .sub_h = 8 / op->window.dilation_y,
                 .sub_w = 8 / op->window.dilation_x};
    int32_t channels = (s->o + w->cores - 1 - w->core) / w->cores; /* of this core */
    for (int32_t ob = 0; ob < channels && r.block; ob += r.block)
        for (int32_t ib = 0; ib < s->i; ib += r.ifm_block) {
            int32_t n_i = s->depthwise ? 8 : part ? least(r.ifm_block, s->i - ib) : r.ifm_block;
            for (int32_t sy = 0; sy < s->kh; sy += r.sub_h)
                for (int32_t sx = 0; sx < s->kw && !w->from->wrong; sx += r.sub_w)
                    sub_kernel55(w, &r, ob, least(r.block, channels - ob), ib, n_i, sy, sx);
        }
}

/* ---- U85 ---- */

typedef struct order85 {
    int32_t micro, ifm_block, ifm_step, round, step, sub_h, sub_w, stride_y, stride_x;
    int32_t padding; /* of depthwise: zeros after each group of taps, for every channel */
} order85;

static bool order_of(const tc_npu_machine *machine, const tc_npu_op *op, order85 *r)
{
    bool wide = op->ifm.bytes == 2, sparse = op->weights.sparse,
         depthwise = op->kind == TC_NPU_KIND_DEPTHWISE;
    bool part = op->window.part_kernel && !depthwise;
    int32_t micro =
        op->microblock < TC_NPU_MICROBLOCKS ? machine->microblock[op->microblock].depth : 0;
    *r = (order85){.micro = micro,
                   .step = depthwise ? 1
                           : sparse  ? 16
                                     : 8,
                   .sub_h = 8 / op->window.dilation_y,
                   .sub_w = 8 / op->window.dilation_x,
                   .stride_y = op->window.stride_y,
                   .stride_x = op->window.stride_x};
    r->ifm_block = part                                             ? 16
                   : machine->macs <= 256 && micro == 16 && !sparse ? 32
                   : sparse && !wide                                ? 128
                                                                    : 64;
    if (depthwise) {
        r->round = 10;
        r->ifm_step = 1;
        r->padding = !wide && machine->macs <= 256 ? 0 : machine->macs <= 512 ? 2 : 6;
    } else if (part) {
        r->round = wide || sparse ? 10 : 5;
        r->ifm_step = wide && !sparse ? 8 : r->ifm_block;
    } else {
        r->round = 1;
        r->ifm_step = r->ifm_block;
        r->stride_y = r->stride_x = 1;
    }
    return micro > 0;
}

/* One tap of a microblock: this core's groups of four channels, every fourth of them. */
static void tap85(const walk *w, const order85 *r, int32_t o, int32_t ky, int32_t kx, int32_t i)
{
    for (int32_t ui = 0; ui < r->ifm_step; ui += r->step)
        for (int32_t oz = 4 * w->core; oz < r->micro; oz += 4 * w->cores)
            for (int32_t oi = 0; oi < 4; oi++)
                meet_run(w, o + oz + oi, ky, kx, i + ui, r->step);
}

/* The taps of a sub-kernel for one microblock: those of equal phase in the stride together, rows in
 * serpentines. */
static void micro85(const walk *w, const order85 *r, int32_t o, int32_t i, int32_t sy, int32_t sx,
                    int32_t sh, int32_t sw)
{
    bool depthwise = w->shape.depthwise;
    int32_t left = round_up(sh * sw, r->round);
    for (int32_t ty = 0; ty < r->stride_y; ty++)
        for (int32_t tx = 0; tx < r->stride_x; tx++) {
            int32_t h = (sh + r->stride_y - 1 - ty) / r->stride_y,
                    n = (sw + r->stride_x - 1 - tx) / r->stride_x;
            for (int32_t ky = 0; ky < h; ky++)
                for (int32_t kx = 0; kx < n && !w->from->wrong; kx++) {
                    int32_t x = ky % 2 ? n - 1 - kx : kx;
                    tap85(w, r, o, sy + ty + ky * r->stride_y, sx + tx + x * r->stride_x, i);
                    if (--left % r->round == 0 && depthwise)
                        take_zeros(w->from, (int64_t)r->padding * r->micro / w->cores);
                }
        }
    if (left > 0)
        take_zeros(w->from, ((int64_t)left + r->padding) * r->ifm_step * r->micro / w->cores);
}

static void walk85(const walk *w, const order85 *r, int32_t block)
{
    const tc_npu_weight_shape *s = &w->shape;
    int32_t blocks = s->depthwise ? 1 : (s->i + r->ifm_block - 1) / r->ifm_block;
    bool back = false;
    for (int32_t ob = 0; ob < s->o; ob += block, back = !back)
        for (int32_t k = 0; k < blocks; k++) {
            int32_t ib = (back ? blocks - 1 - k : k) * r->ifm_block,
                    n_i = s->depthwise ? 1 : least(r->ifm_block, s->i - ib);
            for (int32_t sx = 0; sx < s->kw; sx += r->sub_w)
                for (int32_t sy = 0; sy < s->kh; sy += r->sub_h)
                    for (int32_t uo = 0; uo < n_i; uo += r->ifm_step)
                        for (int32_t ou = 0; ou < least(block, s->o - ob) && !w->from->wrong;
                             ou += r->micro)
                            micro85(w, r, ob + ou, ib + uo, sy, sx, least(r->sub_h, s->kh - sy),
                                    least(r->sub_w, s->kw - sx));
        }
}

/* ---- the fixed-size format of U85 ---- */

/* How many values a core's walk takes. */
static size_t count85(const tc_npu_weight_shape *s, const order85 *r, int32_t block, int32_t cores)
{
    int64_t micros = 0, inputs = 0, taps = 0;
    for (int32_t ob = 0; ob < s->o; ob += block)
        micros += (least(block, s->o - ob) + r->micro - 1) / r->micro;
    for (int32_t ib = 0; ib < s->i; ib += r->ifm_block)
        inputs += (least(r->ifm_block, s->i - ib) + r->ifm_step - 1) / r->ifm_step;
    for (int32_t sx = 0; sx < s->kw; sx += r->sub_w)
        for (int32_t sy = 0; sy < s->kh; sy += r->sub_h)
            taps += round_up(least(r->sub_h, s->kh - sy) * least(r->sub_w, s->kw - sx), r->round);
    return (size_t)(micros * inputs * taps * r->ifm_step * r->micro / cores);
}

/* A header of 32 bytes: bit 0 plain bytes, bit 1 a small table; from bit 104 on a number to
 * subtract (8 bits), 16 entries of 9 bits, sign lowest.  Then bytes, or indices of 2 or 4 bits. The
 * cores take turns by pieces. */
static const char *decode_fast(tc_arena *scratch, tc_bytes b, int32_t cores, size_t each,
                               size_t piece, source *from)
{
    enum { HEAD = 32 };
    if (b.size < HEAD)
        return "the weight stream ends too early";
    bool plain = b.data[0] & 1;
    int bits = plain ? 8 : b.data[0] >> 1 & 1 ? 2 : 4;
    int16_t table[16], adjust = (int8_t)b.data[13];
    for (int i = 0; i < 16; i++) {
        int at = 112 + 9 * i, v = (ti_le16(b.data + at / 8) >> at % 8) & 0x1ff;
        table[i] = (int16_t)(v & 1 ? -(v >> 1) : v >> 1);
    }
    if (each > (b.size - HEAD) * (size_t)(8 / bits) / (size_t)cores)
        return "the weight stream ends too early";
    size_t at = 0, filled[TC_NPU_CORES] = {0};
    for (int32_t c = 0; c < cores; c++)
        from[c] = (source){.v = ti_arena_raw(scratch, each * sizeof(int16_t)), .n = each};
    while (filled[cores - 1] < each)
        for (int32_t c = 0; c < cores; c++)
            for (size_t k = 0; k < piece && filled[c] < each; k++, at++) {
                int v = b.data[HEAD + at * (size_t)bits / 8] >> at * (size_t)bits % 8 &
                        ((1 << bits) - 1);
                ((int16_t *)(uintptr_t)from[c].v)[filled[c]++] =
                    plain ? (int16_t)((int8_t)v - adjust) : table[v];
            }
    return NULL;
}

/* ---- all of it ---- */

static const char *finish(const source *from)
{
    if (from->wrong)
        return from->wrong;
    for (size_t i = from->at; i < from->n; i++)
        if (from->v[i])
            return "the weight stream has more numbers than the operation";
    return NULL;
}

/* A stream may hold more than the walk takes, as zeros; far more is none of an encoder's. */
static size_t most_values(const tc_npu_weight_shape *s, const tc_npu_op *op)
{
    size_t taps = (size_t)(s->kh + 16) * (size_t)(s->kw + 16), inputs = (size_t)s->i + 128;
    return ((size_t)s->o + 2 * (size_t)op->block.depth + 64) * taps * inputs;
}

const char *ti_npu_weights_decode(tc_arena *scratch, const tc_npu_machine *machine,
                                  const tc_npu_op *op, const tc_bytes *stream, int16_t *out)
{
    tc_npu_weight_shape s = ti_npu_weight_shape_of(op);
    bool u85 = machine->product == TC_U85;
    order85 r = {0};
    source from[TC_NPU_CORES] = {{0}};
    const char *wrong = NULL;
    memset(out, 0, (size_t)s.o * (size_t)s.kh * (size_t)s.kw * (size_t)s.i * sizeof *out);
    if (u85 && !order_of(machine, op, &r))
        return "the machine has no such microblock";
    if (u85 && op->weights.fast) {
        size_t piece = (size_t)(r.micro * r.ifm_step * r.round / op->cores);
        if (s.depthwise || !piece)
            return "depthwise weights have no fixed-size format";
        wrong = decode_fast(scratch, stream[0], op->cores,
                            count85(&s, &r, op->block.depth, op->cores), piece, from);
    }
    for (int32_t c = 0; c < op->cores && !wrong; c++) {
        if (!(u85 && op->weights.fast)) {
            from[c] = (source){0};
            if (!stream[c].size)
                continue;
            from[c].v = ti_npu_mlw_decode(scratch, stream[c], most_values(&s, op), &from[c].n);
            if (!from[c].v)
                return "the weight stream does not decode";
        }
        walk w = {s, c, op->cores, &from[c], out};
        if (u85)
            walk85(&w, &r, op->block.depth);
        else
            walk55(&w, machine, op);
        wrong = finish(&from[c]);
    }
    return wrong;
}
