/* SPDX-License-Identifier: Apache-2.0 */
/* weight_walk.c -- see weight_walk.h.
 *
 * The machines compute an output block of B channels at a time, in microblocks of U channels, from
 * blocks of IB input channels; kernels larger than 8 x 8 (in dilated taps) are cut into
 * sub-kernels.  Positions outside the tensor, and those that round a sub-kernel's taps up to a
 * multiple of R, hold zeros. */
#include "weight_walk.h"

/* One core's way through its stream.  A step of it moves values between stream and tensor: into the
 * tensor, or out of it. */
typedef struct walk {
    const tc_npu_weight_order *order;
    int32_t core;
    const int16_t *from; /* the stream, or the tensor */
    int16_t *to;         /* the other */
    size_t n, at;        /* values of the stream, and how many are consumed */
    const char *wrong;
} walk;

/* The direction, as a constant: each is compiled to a separate walk. */
typedef enum direction { SPREAD, GATHER } direction;

#define EACH_WAY static inline __attribute__((always_inline))

/* Whether the stream has n more values. */
EACH_WAY bool has(walk *w, size_t n)
{
    if (w->n - w->at >= n)
        return true;
    w->wrong = "the weight stream ends too early";
    return false;
}

/* The next n values are zeros. */
EACH_WAY void pass(walk *w, direction way, size_t n)
{
    if (!has(w, n))
        return;
    for (size_t k = w->at; k < w->at + n; k++)
        if (way == GATHER)
            w->to[k] = 0;
        else if (w->from[k])
            w->wrong = "the weight stream has numbers where padding is";
    w->at += n;
}

/* The next n values are w[o][ky][kx][i], ..; zeros where that is outside. */
EACH_WAY void meet(walk *w, direction way, int32_t o, int32_t ky, int32_t kx, int32_t i, int32_t n)
{
    const tc_npu_weight_shape *s = &w->order->shape;
    if (o >= s->o || ky >= s->kh || kx >= s->kw || i >= s->i) {
        pass(w, way, (size_t)n);
        return;
    }
    enum { USUAL = 8 };
    int32_t inside = ti_min_i32(n, s->i - i);
    size_t place = (((size_t)o * (size_t)s->kh + (size_t)ky) * (size_t)s->kw + (size_t)kx) *
                       (size_t)s->i +
                   (size_t)i,
           from = way == GATHER ? place : w->at, to = way == GATHER ? w->at : place;
    if (!has(w, (size_t)n))
        return;
    if (inside == USUAL)
        memcpy(w->to + to, w->from + from, USUAL * sizeof *w->to);
    else
        memcpy(w->to + to, w->from + from, (size_t)inside * sizeof *w->to);
    w->at += (size_t)inside;
    if (inside < n)
        pass(w, way, (size_t)(n - inside));
}

/* ---- U55 and U65 ---- */

/* Channel o of the core is channel o cores + core. */
static int32_t channels55(const tc_npu_weight_order *r, int32_t core)
{
    return (r->shape.o + r->cores - 1 - core) / r->cores;
}
static int32_t block55(const tc_npu_weight_order *r, int32_t core)
{
    return (r->block + r->cores - 1 - core) / r->cores;
}

/* Input channels, padding included, that the block at ib has. */
static int32_t inputs55(const tc_npu_weight_order *r, int32_t ib)
{
    return r->shape.depthwise ? 8 : r->part ? ti_min_i32(r->ifm_block, r->shape.i - ib) : r->ifm_block;
}

/* One sub-kernel of one pair of blocks: ob + [0, n_o) output channels of the core, ib + [0, n_i)
 * input channels. */
EACH_WAY void sub_kernel55(walk *w, direction way, int32_t ob, int32_t n_o, int32_t ib, int32_t sy,
                           int32_t sx)
{
    const tc_npu_weight_order *r = w->order;
    const tc_npu_weight_shape *s = &r->shape;
    int32_t sh = ti_min_i32(r->sub_h, s->kh - sy), sw = ti_min_i32(r->sub_w, s->kw - sx),
            taps = ti_round_up_i32(sh * sw, r->round), n_i = inputs55(r, ib);
    for (int32_t uo = 0; uo < (r->part ? n_i : 1); uo += 8)
        for (int32_t ou = 0; ou < n_o; ou += r->micro)
            for (int32_t e = 0; e < taps && !w->wrong; e++) {
                int32_t ky = e / sw < sh ? sy + e / sw : s->kh, kx = sx + e % sw;
                for (int32_t ui = 0; ui < (r->part ? 1 : n_i); ui += 8)
                    for (int32_t oz = 0; oz < r->micro; oz++)
                        meet(w, way, (ob + ou + oz) * r->cores + w->core, ky, kx, ib + uo + ui,
                             r->step);
            }
}

EACH_WAY void walk55(walk *w, direction way)
{
    const tc_npu_weight_order *r = w->order;
    const tc_npu_weight_shape *s = &r->shape;
    int32_t channels = channels55(r, w->core), block = block55(r, w->core);
    for (int32_t ob = 0; ob < channels && block; ob += block)
        for (int32_t ib = 0; ib < s->i; ib += r->ifm_block)
            for (int32_t sy = 0; sy < s->kh; sy += r->sub_h)
                for (int32_t sx = 0; sx < s->kw && !w->wrong; sx += r->sub_w)
                    sub_kernel55(w, way, ob, ti_min_i32(block, channels - ob), ib, sy, sx);
}

static tc_npu_weight_order order55(const tc_npu_machine *machine, const tc_npu_op *op)
{
    bool wide = op->ifm.bytes == 2, depthwise = op->kind == TC_NPU_KIND_DEPTHWISE;
    bool part = op->window.part_kernel && !depthwise;
    return (tc_npu_weight_order){.part = part,
                                 .micro = machine->microblock[0].depth,
                                 .ifm_block = part || wide ? 16 : 32,
                                 .step = depthwise ? 1 : 8,
                                 .round = depthwise ? 4
                                          : !part   ? 1
                                          : wide    ? 2
                                                    : 4};
}

/* ---- U85 ---- */

static tc_npu_weight_order order85(const tc_npu_machine *machine, const tc_npu_op *op)
{
    bool wide = op->ifm.bytes == 2, sparse = op->weights.sparse,
         depthwise = op->kind == TC_NPU_KIND_DEPTHWISE;
    bool part = op->window.part_kernel && !depthwise;
    tc_npu_weight_order r = {.u85 = true,
                             .part = part,
                             .step = depthwise ? 1
                                     : sparse  ? 16
                                               : 8,
                             .stride_y = op->window.stride_y,
                             .stride_x = op->window.stride_x};
    if (op->microblock < TC_NPU_MICROBLOCKS)
        r.micro = machine->microblock[op->microblock].depth;
    r.ifm_block = part                                               ? 16
                  : machine->macs <= 256 && r.micro == 16 && !sparse ? 32
                  : sparse && !wide                                  ? 128
                                                                     : 64;
    if (depthwise) {
        r.round = 10;
        r.ifm_step = 1;
        r.padding = !wide && machine->macs <= 256 ? 0 : machine->macs <= 512 ? 2 : 6;
    } else if (part) {
        r.round = wide || sparse ? 10 : 5;
        r.ifm_step = wide && !sparse ? 8 : r.ifm_block;
    } else {
        r.round = 1;
        r.ifm_step = r.ifm_block;
        r.stride_y = r.stride_x = 1;
    }
    return r;
}

/* One tap of a microblock: this core's groups of four channels, every fourth of them. */
EACH_WAY void tap85(walk *w, direction way, int32_t o, int32_t ky, int32_t kx, int32_t i)
{
    const tc_npu_weight_order *r = w->order;
    for (int32_t ui = 0; ui < r->ifm_step; ui += r->step)
        for (int32_t oz = 4 * w->core; oz < r->micro; oz += 4 * r->cores)
            for (int32_t oi = 0; oi < 4; oi++)
                meet(w, way, o + oz + oi, ky, kx, i + ui, r->step);
}

/* The taps of a sub-kernel for one microblock: those of equal phase in the stride together, rows in
 * serpentines. */
EACH_WAY void micro85(walk *w, direction way, int32_t o, int32_t i, int32_t sy, int32_t sx)
{
    const tc_npu_weight_order *r = w->order;
    int32_t sh = ti_min_i32(r->sub_h, r->shape.kh - sy), sw = ti_min_i32(r->sub_w, r->shape.kw - sx),
            left = ti_round_up_i32(sh * sw, r->round);
    for (int32_t ty = 0; ty < r->stride_y; ty++)
        for (int32_t tx = 0; tx < r->stride_x; tx++) {
            int32_t h = (sh + r->stride_y - 1 - ty) / r->stride_y,
                    n = (sw + r->stride_x - 1 - tx) / r->stride_x;
            for (int32_t ky = 0; ky < h; ky++)
                for (int32_t kx = 0; kx < n && !w->wrong; kx++) {
                    int32_t x = ky % 2 ? n - 1 - kx : kx;
                    tap85(w, way, o, sy + ty + ky * r->stride_y, sx + tx + x * r->stride_x, i);
                    if (--left % r->round == 0 && r->shape.depthwise)
                        pass(w, way, (size_t)(r->padding * r->micro / r->cores));
                }
        }
    if (left > 0)
        pass(w, way,
             (size_t)((int64_t)(left + r->padding) * r->ifm_step * r->micro / r->cores));
}

EACH_WAY void walk85(walk *w, direction way)
{
    const tc_npu_weight_order *r = w->order;
    const tc_npu_weight_shape *s = &r->shape;
    int32_t blocks = s->depthwise ? 1 : (s->i + r->ifm_block - 1) / r->ifm_block;
    bool back = false;
    for (int32_t ob = 0; ob < s->o; ob += r->block, back = !back)
        for (int32_t k = 0; k < blocks; k++) {
            int32_t ib = (back ? blocks - 1 - k : k) * r->ifm_block,
                    n_i = s->depthwise ? 1 : ti_min_i32(r->ifm_block, s->i - ib);
            for (int32_t sx = 0; sx < s->kw; sx += r->sub_w)
                for (int32_t sy = 0; sy < s->kh; sy += r->sub_h)
                    for (int32_t uo = 0; uo < n_i; uo += r->ifm_step)
                        for (int32_t ou = 0; ou < ti_min_i32(r->block, s->o - ob) && !w->wrong;
                             ou += r->micro)
                            micro85(w, way, ob + ou, ib + uo, sy, sx);
        }
}

/* ---- both ---- */

bool ti_npu_weight_order_of(const tc_npu_machine *machine, const tc_npu_op *op,
                            tc_npu_weight_order *out)
{
    *out = machine->product == TC_U85 ? order85(machine, op) : order55(machine, op);
    out->shape = ti_npu_weight_shape_of(op);
    out->cores = op->cores;
    out->block = op->block.depth;
    out->sub_h = 8 / op->window.dilation_y;
    out->sub_w = 8 / op->window.dilation_x;
    return out->micro > 0 && out->block > 0;
}

/* Taps of one pair of channels, those of all sub-kernels, padding included. */
static int64_t count_taps(const tc_npu_weight_order *r)
{
    int64_t taps = 0;
    for (int32_t sx = 0; sx < r->shape.kw; sx += r->sub_w)
        for (int32_t sy = 0; sy < r->shape.kh; sy += r->sub_h) {
            int32_t n = ti_round_up_i32(
                ti_min_i32(r->sub_h, r->shape.kh - sy) * ti_min_i32(r->sub_w, r->shape.kw - sx), r->round);
            taps += n + n / r->round * r->padding;
        }
    return taps;
}

size_t ti_npu_weight_count(const tc_npu_weight_order *r, int32_t core)
{
    int32_t channels = r->u85 ? r->shape.o : channels55(r, core),
            block = r->u85 ? r->block : block55(r, core);
    int64_t outputs = 0, inputs = 0;
    for (int32_t ob = 0; ob < channels && block; ob += block)
        outputs += ti_round_up_i32(ti_min_i32(block, channels - ob), r->micro);
    for (int32_t ib = 0; ib < r->shape.i; ib += r->ifm_block)
        inputs += r->shape.depthwise ? 1
                  : r->u85           ? ti_round_up_i32(ti_min_i32(r->ifm_block, r->shape.i - ib), r->ifm_step)
                                     : ti_round_up_i32(inputs55(r, ib), 8);
    return (size_t)(outputs * inputs * count_taps(r) / (r->u85 ? r->cores : 1));
}

size_t ti_npu_weight_turn(const tc_npu_weight_order *r)
{
    return r->u85 && !r->shape.depthwise ? (size_t)(r->micro * r->ifm_step * r->round / r->cores)
                                         : 0;
}

const char *ti_npu_weights_spread(const tc_npu_weight_order *order, int32_t core,
                                  const int16_t *stream, size_t n, int16_t *tensor)
{
    walk w = {.order = order, .core = core, .from = stream, .to = tensor, .n = n};
    if (order->u85)
        walk85(&w, SPREAD);
    else
        walk55(&w, SPREAD);
    for (size_t k = w.at; k < n && !w.wrong; k++)
        if (stream[k])
            w.wrong = "the weight stream has more numbers than the operation";
    return w.wrong;
}

void ti_npu_weights_gather(const tc_npu_weight_order *order, int32_t core, const int16_t *tensor,
                           int16_t *stream)
{
    walk w = {.order = order,
              .core = core,
              .from = tensor,
              .to = stream,
              .n = ti_npu_weight_count(order, core)};
    if (order->u85)
        walk85(&w, GATHER);
    else
        walk55(&w, GATHER);
    assert(!w.wrong && w.at == w.n);
}
