/* SPDX-License-Identifier: Apache-2.0 */
/* npu_weights.c -- see npu_weights.h: decodes a stream's bytes to values, and puts these in their
   order.
 */
#include "npu_weights.h"

#include "../base/bytes.h"
#include "weight_walk.h"

tc_npu_weight_shape ti_npu_weight_shape_of(const tc_npu_op *op)
{
    bool depthwise = op->kind == TC_NPU_KIND_DEPTHWISE;
    return (tc_npu_weight_shape){op->ofm.c, op->window.kh, op->window.kw, depthwise ? 1 : op->ifm.c,
                                 depthwise};
}

/* Of one core's stream. */
typedef struct values {
    int16_t *v;
    size_t n;
} values;

/* A header of 32 bytes: bit 0 plain bytes, bit 1 a small table; from bit 104 on a value to subtract
 * (8 bits), 16 entries of 9 bits, sign lowest.  Then bytes, or indices of 2 or 4 bits. The cores
 * alternate. */
static const char *decode_fast(tc_arena *scratch, tc_bytes b, int32_t cores, size_t each,
                               size_t turn, values *out)
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
        out[c] = (values){ti_arena_raw(scratch, each * sizeof(int16_t)), each};
    while (filled[cores - 1] < each)
        for (int32_t c = 0; c < cores; c++) {
            size_t n = each - filled[c] < turn ? each - filled[c] : turn;
            int16_t *to = out[c].v + filled[c];
            const uint8_t *from = b.data + HEAD;
            for (size_t k = 0; plain && k < n; k++)
                to[k] = (int16_t)((int8_t)from[at + k] - adjust);
            for (size_t k = 0; !plain && k < n; k++) {
                size_t bit = (at + k) * (size_t)bits;
                to[k] = table[from[bit / 8] >> bit % 8 & ((1 << bits) - 1)];
            }
            filled[c] += n;
            at += n;
        }
    return NULL;
}

/* A stream may hold more than the walk takes, as zeros; many more are invalid. */
static size_t most_values(const tc_npu_weight_shape *s, const tc_npu_op *op)
{
    size_t taps = (size_t)(s->kh + 16) * (size_t)(s->kw + 16), inputs = (size_t)s->i + 128;
    return ((size_t)s->o + 2 * (size_t)op->block.depth + 64) * taps * inputs;
}

const char *ti_npu_weights_decode(tc_arena *scratch, const tc_npu_machine *machine,
                                  const tc_npu_op *op, const tc_bytes *stream, int16_t *out)
{
    tc_npu_weight_shape s = ti_npu_weight_shape_of(op);
    tc_npu_weight_order order;
    values from[TC_NPU_CORES] = {{0}};
    const char *wrong = NULL;
    memset(out, 0, (size_t)s.o * (size_t)s.kh * (size_t)s.kw * (size_t)s.i * sizeof *out);
    if (!ti_npu_weight_order_of(machine, op, &order))
        return "the machine has no such microblock";
    bool fixed = order.u85 && op->weights.fast;
    if (fixed) {
        size_t turn = ti_npu_weight_turn(&order);
        if (!turn)
            return "depthwise weights have no fixed-size format";
        wrong = decode_fast(scratch, stream[0], op->cores, ti_npu_weight_count(&order, 0), turn,
                            from);
    }
    for (int32_t c = 0; c < op->cores && !wrong; c++) {
        if (!fixed) {
            if (!stream[c].size)
                continue;
            from[c].v = ti_npu_mlw_decode(scratch, stream[c], most_values(&s, op), &from[c].n);
            if (!from[c].v)
                return "the weight stream does not decode";
        }
        wrong = ti_npu_weights_spread(&order, c, from[c].v, from[c].n, out);
    }
    return wrong;
}
