/* SPDX-License-Identifier: Apache-2.0 */
/* scale_encode.c -- the scale and bias of every output channel, ten bytes each:
 *
 *   U55, U65         bias 5, scale 4, shift 1      core k of n has the channels k, k + n, ...
 *   U85, 32-bit acc  bias 4, scale 4, shift 1, 0   one stream, up to a whole microblock
 *   U85, 48-bit acc  bias 6, scale 2, shift 1, 0   (16 at least) with zeros */
#include "weight_encode.h"

enum { ENTRY = 10, ALIGN = 16 };

typedef struct fields {
    int bias, scale; /* bytes */
    uint32_t most;   /* the largest scale */
} fields;

static fields fields_of(const tc_npu_machine *machine, const tc_npu_op *op)
{
    if (machine->product != TC_U85)
        return (fields){5, 4, UINT32_MAX};
    return op->acc_bits == 48 ? (fields){6, 2, 0x7fff} : (fields){4, 4, 0x7fffffff};
}

static const char *check(const fields *f, const tc_npu_channel_scale *c)
{
    int64_t half = INT64_C(1) << (8 * f->bias - 1);
    return c->bias < -half || c->bias >= half ? "a bias is too large for the scale stream"
           : c->multiplier > f->most          ? "a multiplier is too large for the scale stream"
           : c->shift > 63                    ? "a shift is too large for the scale stream"
                                              : NULL;
}

static uint8_t *put(uint8_t *p, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *p++ = (uint8_t)(v >> 8 * i);
    return p;
}

const char *ti_npu_scales_encode(tc_arena *arena, const tc_npu_machine *machine,
                                 const tc_npu_op *op, const tc_npu_channel_scale *channel,
                                 tc_bytes out[2])
{
    bool u85 = machine->product == TC_U85;
    fields f = fields_of(machine, op);
    int32_t streams = u85 ? 1 : op->cores,
            micro = u85 ? machine->microblock[op->microblock].depth : 1,
            whole = u85 && micro < 16 ? 16 : micro;
    for (int32_t c = 0; c < op->ofm.c; c++) {
        const char *wrong = check(&f, &channel[c]);
        if (wrong)
            return wrong;
    }
    out[0] = out[1] = (tc_bytes){0};
    for (int32_t s = 0; s < streams; s++) {
        int32_t count = (op->ofm.c - s + streams - 1) / streams;
        size_t bytes = (size_t)((count + whole - 1) / whole * whole) * ENTRY;
        bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
        uint8_t *data = tc_new_n(arena, uint8_t, bytes);
        for (int32_t c = s, k = 0; c < op->ofm.c; c += streams, k++) {
            uint8_t *p = put(data + k * ENTRY, (uint64_t)channel[c].bias, f.bias);
            p = put(p, channel[c].multiplier, f.scale);
            *p = channel[c].shift;
        }
        out[s] = (tc_bytes){data, bytes};
    }
    return NULL;
}
