/* SPDX-License-Identifier: Apache-2.0 */
/* weight_encode.c -- see weight_encode.h. */
#include "weight_encode.h"

#include "mlw_encode.h"
#include "weight_fixed.h"
#include "weight_walk.h"

enum { MOST = 255 };

/* The values of every core's stream. */
typedef struct streams {
    int32_t cores;
    int16_t *v[TC_NPU_CORES];
    size_t n[TC_NPU_CORES], all;
} streams;

static streams gather(tc_arena *scratch, const tc_npu_weight_order *order, const int16_t *w)
{
    streams s = {.cores = order->cores};
    for (int32_t c = 0; c < s.cores; c++) {
        s.n[c] = ti_npu_weight_count(order, c);
        s.v[c] = ti_arena_raw(scratch, s.n[c] * sizeof *s.v[c]);
        ti_npu_weights_gather(order, c, w, s.v[c]);
        s.all += s.n[c];
    }
    return s;
}

static void encode_standard(tc_arena *arena, tc_arena *scratch, const streams *s,
                            tc_npu_encoded *out)
{
    *out = (tc_npu_encoded){.values = s->all};
    for (int32_t c = 0; c < s->cores; c++) {
        out->stream[c] = ti_mlw_encode(arena, scratch, s->v[c], s->n[c]);
        out->bytes += out->stream[c].size;
    }
}

/* The cores' values interleaved; all have equally many. */
static const int16_t *in_turns(tc_arena *scratch, const streams *s, size_t turn)
{
    if (s->cores == 1)
        return s->v[0];
    int16_t *all = ti_arena_raw(scratch, s->all * sizeof *all), *to = all;
    for (size_t at = 0; at < s->n[0]; at += turn)
        for (int32_t c = 0; c < s->cores; c++) {
            size_t n = s->n[c] - at < turn ? s->n[c] - at : turn;
            memcpy(to, s->v[c] + at, n * sizeof *to);
            to += n;
        }
    return all;
}

static const char *encode_fixed(tc_arena *arena, tc_arena *scratch, const streams *s, size_t turn,
                                bool sparse, tc_npu_encoded *out)
{
    if (!turn)
        return "only convolutions of Ethos-U85 have a fixed-size format";
    tc_bytes b = ti_npu_fixed_encode(arena, in_turns(scratch, s, turn), s->all, sparse);
    if (!b.size)
        return "the weights have a range of 256 or more, which the fixed-size format cannot hold";
    *out = (tc_npu_encoded){.stream = {b}, .bytes = b.size, .values = s->all, .fixed = true};
    return NULL;
}

static bool in_range(const tc_npu_weight_shape *s, const int16_t *w)
{
    size_t n = (size_t)s->o * (size_t)s->kh * (size_t)s->kw * (size_t)s->i;
    int outside = 0;
    for (size_t k = 0; k < n; k++)
        outside |= w[k] < -MOST || w[k] > MOST;
    return !outside;
}

const char *ti_npu_weights_encode(tc_arena *arena, tc_arena *scratch,
                                  const tc_npu_machine *machine, const tc_npu_op *op,
                                  const int16_t *w, tc_npu_weight_form form, tc_npu_encoded *out)
{
    tc_npu_weight_order order;
    if (!ti_npu_weight_order_of(machine, op, &order))
        return "the machine has no such microblock";
    if (!in_range(&order.shape, w))
        return "a weight is not in -255..255";
    tc_mark mark = ti_arena_mark(scratch);
    streams s = gather(scratch, &order, w);
    size_t turn = ti_npu_weight_turn(&order);
    const char *wrong = NULL;
    *out = (tc_npu_encoded){0};
    if (form != TC_WEIGHTS_FIXED)
        encode_standard(arena, scratch, &s, out);
    if (form == TC_WEIGHTS_FIXED)
        wrong = encode_fixed(arena, scratch, &s, turn, op->weights.sparse, out);
    if (form == TC_WEIGHTS_SMALLEST) {
        tc_npu_encoded fixed;
        tc_mark before = ti_arena_mark(arena);
        if (!encode_fixed(arena, scratch, &s, turn, op->weights.sparse, &fixed) &&
            fixed.bytes < out->bytes)
            *out = fixed;
        else
            ti_arena_rewind(arena, before);
    }
    ti_arena_rewind(scratch, mark);
    return wrong;
}

tc_npu_weight_form ti_npu_weights_form(int64_t values, int64_t blocks_in_plane, int32_t cores,
                                       int64_t mac_cycles)
{
    enum { A_CYCLE = 8 };
    return (double)values * (double)blocks_in_plane <= (double)mac_cycles * A_CYCLE * cores
               ? TC_WEIGHTS_STANDARD
               : TC_WEIGHTS_FIXED;
}

bool ti_npu_weights_are_sparse(const int16_t *w, int32_t o, int32_t kh, int32_t kw, int32_t i)
{
    enum { GROUP = 4, ZEROS = 2, LARGEST = 127 };
    int64_t rows = (int64_t)o * kh * kw;
    for (int64_t r = 0; r < rows; r++, w += i)
        for (int32_t g = 0; g < i; g += GROUP) {
            int32_t others = 0;
            for (int32_t k = g; k < g + GROUP && k < i; k++) {
                others += w[k] != 0;
                if (w[k] < -LARGEST || w[k] > LARGEST)
                    return false;
            }
            if (others > GROUP - ZEROS)
                return false;
        }
    return true;
}

/* ---- what it would be ---- */

/* Bits of the standard form, with so many zeros of padding; their runs are unknown. */
static uint64_t standard_bits(const tc_npu_weight_census *census, size_t padding)
{
    tc_mlw_census c = {0};
    for (int w = -MOST; w <= MOST; w++)
        c.times[ti_mlw_fold((int16_t)w)] = census->times[w + MOST];
    c.times[0] += (uint32_t)padding;
    return ti_mlw_bits_without_runs(&c);
}

void ti_npu_weights_count(const int16_t *w, size_t n, tc_npu_weight_census *out)
{
    *out = (tc_npu_weight_census){.n = n};
    for (size_t k = 0; k < n; k++)
        out->times[w[k] + MOST]++;
    out->bits = standard_bits(out, 0);
}

static size_t standard_size(const tc_npu_weight_census *census, size_t values, int32_t cores)
{
    /* Padding as runs of zeros, so many bits each (mobilenet_v2, U85-256: within 6 %), or as zeros
     * like any other. */
    static const double a_zero = 0.4;
    size_t padding = values > census->n ? values - census->n : 0;
    uint64_t all = padding ? standard_bits(census, padding) : census->bits,
             runs = census->bits + (uint64_t)(a_zero * (double)padding);
    return ((size_t)((runs < all ? runs : all) / 8) / 16 + (size_t)cores) * 16;
}

double ti_npu_weights_density(const tc_npu_weight_census *census)
{
    return census->n ? (double)census->bits / 8 / (double)census->n : 1;
}

static size_t fixed_size(const tc_npu_weight_census *census, size_t values, bool sparse)
{
    int32_t different = 0, lo = MOST, hi = -MOST;
    for (int32_t w = -MOST; w <= MOST; w++)
        if (census->times[w + MOST] || (w == 0 && census->n < values)) {
            different++;
            lo = w < lo ? w : lo;
            hi = w > hi ? w : hi;
        }
    int bits = ti_npu_fixed_bits(different, lo, hi, sparse);
    return bits ? ti_npu_fixed_bytes(values, bits) : 0;
}

tc_npu_weight_size ti_npu_weights_size(const tc_npu_machine *machine, const tc_npu_op *op,
                                       const tc_npu_weight_census *census)
{
    tc_npu_weight_order order;
    tc_npu_weight_size out = {0};
    if (!ti_npu_weight_order_of(machine, op, &order))
        return out;
    for (int32_t c = 0; c < order.cores; c++)
        out.values += ti_npu_weight_count(&order, c);
    out.standard = standard_size(census, out.values, order.cores);
    if (ti_npu_weight_turn(&order))
        out.fixed = fixed_size(census, out.values, op->weights.sparse);
    return out;
}
