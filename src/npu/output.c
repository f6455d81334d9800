/* SPDX-License-Identifier: Apache-2.0 */
/* output.c -- the end of every kernel operation, in this order: scale, zero point, clamp, table,
 * store.  The machine's own curves come before the clamp. */
#include "../num/lanes.h"
#include "number_loops.h"
#include "state.h"

/* ---- tables ---- */

/* A table's bytes; NULL when it is not in the table memory. */
static const uint8_t *table_bytes(tc_npu_exec *x, int64_t at, int64_t bytes)
{
    const uint8_t *p = ti_npu_span(x, TC_NPU_INTERNAL, (uint64_t)(ti_npu_table_at(x->machine) + at),
                                   (uint64_t)bytes);
    if (!p)
        ti_npu_fail(x, "a table of %" PRId64 " bytes does not lie in the memory of tables", bytes);
    return p;
}

static int16_t s16(const uint8_t *p)
{
    return (int16_t)ti_le16(p);
}

/* 256 entries of 1, 2 or 4 bytes. */
static void look_up(const uint8_t *table, int bytes, bool is_signed, int bias, tc_npu_array *a,
                    size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint8_t *p = table + bytes * (int)((a->v[i] + bias) & 255);
        int64_t v = bytes == 1 ? p[0] : bytes == 2 ? ti_le16(p) : ti_le32(p);
        a->v[i] = ti_npu_wrapped(v, 8 * bytes, is_signed);
    }
}

/* 512 pairs of a base and a slope: base + slope f / 128 between two entries, f = v & 127. */
static void interpolate(const uint8_t *table, bool wide, tc_npu_array *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint8_t *p = table + 4 * ((a->v[i] + 32768) >> 7 & 511);
        int64_t rest = (a->v[i] & 127) * s16(p + 2);
        a->v[i] = wide ? s16(p) * INT64_C(128) + rest : s16(p) + ti_asr(rest + 64, 7);
    }
}

/* U85's functions: the width of an entry, and of the index; entries of 0 bytes: pairs of base and
 * slope. */
typedef struct function {
    bool known, index_signed;
    uint8_t entry;
    bool wide;
} function;
static const function functions[32] = {
    [TC_NPU_LOOKUP_U8_8] = {true, false, 1, false},    [TC_NPU_LOOKUP_I8_8] = {true, true, 1, false},
    [TC_NPU_LOOKUP_I8_16] = {true, true, 2, false},    [TC_NPU_LOOKUP_I8_32] = {true, true, 4, false},
    [TC_NPU_LOOKUP_PAIRS_16] = {true, true, 0, false}, [TC_NPU_LOOKUP_PAIRS_32] = {true, true, 0, true},
    [TC_NPU_LOOKUP_TANH] = {true, true, 0, false},     [TC_NPU_LOOKUP_SIGMOID] = {true, true, 0, false},
};

static bool apply_u85(tc_npu_exec *x, const tc_npu_op *op, tc_npu_array *a, size_t n)
{
    const function *f = &functions[op->function];
    if (!f->known)
        return ti_npu_fail(x, "activation function %d is not known", op->function);
    int64_t bytes = f->entry ? 256 * f->entry : TC_NPU_LUT;
    const uint8_t *table = table_bytes(x, f->entry ? op->table * bytes : 0, bytes);
    if (!table)
        return false;
    if (f->entry)
        look_up(table, f->entry, f->index_signed, f->index_signed ? 128 : 0, a, n);
    else
        interpolate(table, f->wide, a, n);
    return true;
}

/* U55: the output's width determines the form: 8 bits 256 entries, 16 bits pairs, 32 bits (clamped
 * to int8) 256 of 4. */
static bool apply_u55(tc_npu_exec *x, const tc_npu_op *op, tc_npu_array *a, size_t n)
{
    enum { CLIP_INT8 = 3 };
    if (op->function != TC_NPU_LOOKUP)
        return ti_npu_beyond(x, "the built-in activation function %d is not run here", op->function);
    int entry = op->ofm.bytes == 1 ? 1 : op->ofm.bytes == 4 && op->clip == CLIP_INT8 ? 4 : 0;
    const uint8_t *table = table_bytes(x, op->table * 256, entry ? 256 * entry : TC_NPU_LUT);
    if (!table)
        return false;
    bool index_signed = op->ofm.is_signed || entry == 4;
    if (entry)
        look_up(table, entry, op->ofm.is_signed, index_signed ? 128 : 0, a, n);
    else
        interpolate(table, false, a, n);
    return true;
}

/* ---- zero point and clamp ---- */

/* The bounds, if any.  They are unsigned when the values before the table are. */
static bool bounds(const tc_npu_exec *x, const tc_npu_op *op, int64_t *lo, int64_t *hi)
{
    enum { CLIP_OFM = 0, CLIP_UINT8 = 2 };
    bool is_signed = op->ofm.is_signed, clamped;
    if (x->machine->product == TC_U85) {
        clamped = op->clip == 0;
        if (op->function)
            is_signed = functions[op->function].index_signed;
    } else {
        clamped = op->clip != CLIP_OFM || op->ofm.bytes <= 2;
        if (op->clip != CLIP_OFM)
            is_signed = op->clip != CLIP_UINT8;
    }
    *lo = is_signed ? op->lo : (uint16_t)op->lo;
    *hi = is_signed ? op->hi : (uint16_t)op->hi;
    return clamped;
}

static bool apply_curve(tc_npu_exec *x, tc_npu_curve curve, tc_npu_array *a, size_t n)
{
    const uint8_t *table = x->machine->product == TC_U85 ? table_bytes(x, 0, TC_NPU_LUT) : NULL;
    if (table && !ti_npu_curve_loaded(table))
        return ti_npu_fail(x, "the memory of tables does not hold the points of %s",
                           curve == TC_CURVE_TANH ? "tanh" : "sigmoid");
    ti_npu_apply_curve(curve, a->v, n);
    return true;
}

bool ti_npu_finish(tc_npu_exec *x, const tc_npu_op *op, tc_npu_array *a)
{
    size_t n = (size_t)a->h * (size_t)a->w * (size_t)a->c;
    int64_t lo, hi;
    bool clamped = bounds(x, op, &lo, &hi);
    tc_npu_curve curve = ti_npu_curve_of(x->machine, op);
    /* U55 has no zero point for results of 32 bits that are not clamped: Vela before 5.0 leaves
     * that of another tensor in the register. */
    if (op->ofm.zero && (clamped || x->machine->product == TC_U85))
        ti_npu_add_all(a->v, n, op->ofm.zero);
    if (curve && !apply_curve(x, curve, a, n))
        return false;
    if (clamped)
        ti_npu_clamp_all(a->v, n, lo, hi);
    if (op->function && !curve) {
        bool done = x->machine->product == TC_U85 ? apply_u85(x, op, a, n) : apply_u55(x, op, a, n);
        if (!done)
            return false;
    }
    return ti_npu_store(x, op, a);
}

/* ---- accumulators ---- */

typedef struct channel {
    int64_t bias;
    uint32_t multiplier;
    uint8_t shift;
} channel;

/* The same for loops: by channel, and what is added before the shift for values >= 0 and for those
 * below. */
typedef struct quick {
    int64_t *bias, *multiplier, *shift, *up, *down;
} quick;

static int64_t bytes_at(const uint8_t *p, int n, bool is_signed)
{
    uint64_t v = 0;
    for (int i = 0; i < n; i++)
        v |= (uint64_t)p[i] << 8 * i;
    return ti_npu_wrapped((int64_t)v, 8 * n, is_signed);
}

/* Ten bytes a channel.
 *
 *   U55, U65         bias 5, scale 4, shift 1      core k of n has the channels k, k + n, ...
 *   U85, 32-bit acc  bias 4, scale 4, shift 1, 0
 *   U85, 48-bit acc  bias 6, scale 2, shift 1, 0 */
static channel *read_channels(tc_npu_exec *x, const tc_npu_op *op)
{
    enum { ENTRY = 10 };
    bool u85 = x->machine->product == TC_U85;
    int32_t streams = u85 ? 1 : op->cores;
    int bias = !u85 ? 5 : op->acc_bits == 48 ? 6 : 4, scale = u85 && op->acc_bits == 48 ? 2 : 4;
    channel *out = tc_new_n(&x->scratch, channel, (size_t)op->ofm.c);
    for (int32_t c = 0; c < op->ofm.c; c++) {
        uint64_t at = op->scale_base[c % streams] + ENTRY * (uint64_t)(c / streams);
        const uint8_t *p = ti_npu_span(x, op->scale_region, at, ENTRY);
        if (!p) {
            ti_npu_outside(x, op->scale_region, "the scales of channel %d lie outside region %d", c,
                           op->scale_region);
            return NULL;
        }
        uint32_t m = (uint32_t)bytes_at(p + bias, scale, false);
        out[c] = (channel){bytes_at(p, bias, true),
                           u85 ? m & (scale == 2 ? 0x7fff : 0x7fffffff) : m, p[bias + scale] & 63};
    }
    return out;
}

static bool prepare(tc_npu_exec *x, const tc_npu_op *op, const channel *from, quick *q)
{
    size_t n = (size_t)op->ofm.c;
    int64_t *room = tc_new_n(&x->scratch, int64_t, 5 * n);
    *q = (quick){room, room + n, room + 2 * n, room + 3 * n, room + 4 * n};
    for (size_t c = 0; c < n; c++) {
        if (from[c].multiplier > INT32_MAX || from[c].shift > 62)
            return false;
        q->bias[c] = from[c].bias;
        q->multiplier[c] = from[c].multiplier;
        q->shift[c] = from[c].shift;
        if (from[c].shift) {
            q->up[c] = ti_npu_rounding(0, from[c].shift, op->ofm_scale.round, 0);
            q->down[c] = ti_npu_rounding(-1, from[c].shift, op->ofm_scale.round, 0);
        }
    }
    return true;
}

/* One pixel's n channels, where every sum is a number of 32 bits: |v m| < 2^62, as what is added.
 * *not_32: not 0 where one is not, and then nothing counts. */
TC_LANES_BODY scale_body(const quick *q, const int64_t *restrict acc, int64_t *restrict out,
                         size_t n, int64_t *not_32)
{
    const int64_t *restrict bias = q->bias, *restrict m = q->multiplier, *restrict by = q->shift,
                  *restrict up = q->up, *restrict down = q->down;
    int64_t outside = 0;
    for (size_t c = 0; c < n; c++) {
        int64_t v = ti_wrap_add(acc[c], bias[c]);
        outside |= v ^ (int32_t)v;
        v = (int32_t)v;
        v = v * m[c] + (v < 0 ? down[c] : up[c]);
        int64_t sign = -(int64_t)(v < 0); /* ti_asr(), for vectors */
        out[c] = (int64_t)((uint64_t)(v ^ sign) >> by[c]) ^ sign;
    }
    *not_32 = outside;
}
TC_LANES(static, scale_pixel, scale_body,
         (const quick *q, const int64_t *restrict acc, int64_t *restrict out, size_t n,
          int64_t *not_32),
         (q, acc, out, n, not_32))

/* (acc + bias) m / 2^n by channel. */
static bool scale_by_channel(tc_npu_exec *x, const tc_npu_op *op, size_t n)
{
    const channel *channels = read_channels(x, op);
    if (!channels)
        return false;
    bool wraps = x->machine->product == TC_U85;
    quick q;
    bool is_quick = prepare(x, op, channels, &q);
    for (size_t i = 0; i < n; i += (size_t)op->ofm.c) {
        int64_t not_32 = 1;
        if (is_quick)
            scale_pixel(&q, x->acc.v + i, x->out.v + i, (size_t)op->ofm.c, &not_32);
        if (!not_32)
            continue;
        for (int32_t c = 0; c < op->ofm.c; c++) {
            int64_t v = ti_wrap_add(x->acc.v[i + (size_t)c], channels[c].bias);
            if (wraps)
                v = ti_npu_wrapped(v, op->acc_bits, true);
            x->out.v[i + (size_t)c] =
                ti_npu_scaled(v, channels[c].multiplier, channels[c].shift, op->ofm_scale.round, 0);
        }
    }
    return true;
}

bool ti_npu_start_acc(tc_npu_exec *x, const tc_npu_op *op)
{
    enum { ZERO, KEPT, IFM2 };
    const tc_npu_map *o = &op->ofm;
    size_t n = (size_t)o->h * (size_t)o->w * (size_t)o->c;
    if (op->acc_input == KEPT) {
        if (!x->has_acc || x->acc.h != o->h || x->acc.w != o->w || x->acc.c != o->c)
            return ti_npu_fail(x, "accumulators are kept from an operation of another shape");
        return true;
    }
    if (!ti_npu_array_make(x, &x->acc, o->h, o->w, o->c))
        return false;
    x->has_acc = true;
    if (op->acc_input == ZERO) {
        memset(x->acc.v, 0, n * sizeof *x->acc.v);
        return true;
    }
    tc_npu_array start;
    if (!ti_npu_load(x, "what accumulators start from", &op->ifm2, op->scalar, &start))
        return false;
    if (start.h != o->h || start.w != o->w || start.c != o->c)
        return ti_npu_fail(x, "accumulators start from a map of another shape");
    memcpy(x->acc.v, start.v, n * sizeof *start.v);
    return true;
}

bool ti_npu_put_acc(tc_npu_exec *x, const tc_npu_op *op)
{
    size_t n = (size_t)x->acc.h * (size_t)x->acc.w * (size_t)x->acc.c;
    if (op->acc_bits == 16)
        return ti_npu_beyond(x, "accumulators of half precision are not run here");
    ti_npu_wrap_all(x->acc.v, n, op->acc_bits);
    if (!op->acc_output)
        return true;
    if (!ti_npu_array_make(x, &x->out, x->acc.h, x->acc.w, x->acc.c))
        return false;
    if (op->per_channel) {
        if (!scale_by_channel(x, op, n))
            return false;
    } else
        ti_npu_scale_all(x->acc.v, n, &op->ofm_scale, x->out.v);
    return ti_npu_finish(x, op, &x->out);
}
