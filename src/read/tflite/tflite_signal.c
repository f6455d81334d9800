/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_signal.c -- TensorFlow Lite Micro's audio operators, bit-exact, of integer operators of ours.
 *
 * uint32 and uint64 numbers are computed in i64 modulo 2^32, of which every step below keeps the
 * low bits: x & MASK.  What a kernel leaves as it was (results that are not valid, energies outside
 * of its range) is 0. */
#include "tflite_signal.h"

#include <math.h>

#include "../../base/real.h"
#include "../../num/load.h"
#include "../../wire/flexbuf.h"

static const int64_t MASK = UINT32_MAX;
enum { MOST_WEIGHTS = 1 << 24 }; /* of bands, as a matrix */

tc_val ti_tfl_typed(tc_tfl_node *n, int i, tc_dtype type)
{
    tc_val x = ti_tfl_need(n, i);
    if (x && ti_b_dtype(&n->m, x) != type)
        ti_b_bad(&n->m, TC_E_TYPE, "input %d is %s, expected %s", i, tc_dtypes[ti_b_dtype(&n->m, x)].name,
                 tc_dtypes[type].name);
    return n->m.status == TC_OK ? x : TC_NONE;
}

int64_t ti_tfl_named(tc_tfl_node *n, const char *key, int64_t least, int64_t most)
{
    tc_flex_map map;
    double x = 0;
    if (!ti_flex_map(ti_tfl_record(n), &map) || !ti_flex_number(&map, key, &x))
        ti_b_bad(&n->m, TC_E_FORMAT, "its options have no number '%s'", key);
    else if (!(x >= (double)least && x <= (double)most))
        ti_b_bad(&n->m, TC_E_ARGUMENT, "'%s' is %g, expected %" PRId64 " to %" PRId64, key, x, least, most);
    else
        return (int64_t)x;
    return least;
}

/* By the tensor that the operator makes. */
static const char *state_name(tc_tfl_node *n, const char *what)
{
    const tc_tfl_tensor *t = ti_tfl_out_tensor(n, 0);
    return ti_text_format(&n->m.ctx->arena, "%s:%s",
                          ti_tfl_variable_name(n->scope, t ? t - n->scope->tensor : -1), what);
}

tc_val ti_tfl_signal_state(tc_tfl_node *n, const char *what, const tc_type *type)
{
    return ti_tfl_state(n, state_name(n, what), type, 0);
}

void ti_tfl_signal_remember(tc_tfl_node *n, const char *what, tc_val x)
{
    ti_tfl_state_set(n, state_name(n, what), x);
}

/* TensorType of the option "T": i16, i32 or f32; TC_none: another. */
static tc_dtype signal_type(tc_tfl_node *n)
{
    int64_t t = ti_tfl_named(n, "T", 0, 127);
    return t == 0 ? TC_f32 : t == 2 ? TC_i32 : t == 7 ? TC_i16 : TC_none; /* TensorType */
}

/* ---- arithmetic ---- */

/* Input i, as i64; what was made of i64 numbers below 2^32 is taken from there. */
static tc_val wide(tc_tfl_node *n, int i, tc_dtype type)
{
    tc_val x = ti_tfl_typed(n, i, type);
    const tc_node *def = x ? ti_def(n->m.g, x) : NULL;
    bool made = def && def->op == TC_OP_cast && ti_b_dtype(&n->m, x) == TC_u32 &&
                ti_b_dtype(&n->m, def->in[0]) == TC_i64;
    return x ? ti_b_cast(&n->m, made ? def->in[0] : x, TC_i64) : x;
}

static tc_val n64(tc_build *m, int64_t v) { return ti_b_scalar_i64(m, TC_i64, v); }

/* x and a number of its type. */
static tc_val with(tc_build *m, tc_op op, tc_val x, int64_t v)
{
    return x ? ti_b_binary(m, op, x, ti_b_scalar_i64(m, ti_b_dtype(m, x), v)) : x;
}

static tc_val plus(tc_build *m, tc_val x, int64_t v) { return with(m, TC_OP_add, x, v); }
static tc_val times(tc_build *m, tc_val x, int64_t v) { return with(m, TC_OP_mul, x, v); }
static tc_val right(tc_build *m, tc_val x, int64_t by) { return with(m, TC_OP_shift_right, x, by); }
static tc_val left(tc_build *m, tc_val x, int64_t by) { return with(m, TC_OP_shift_left, x, by); }
static tc_val at_least(tc_build *m, tc_val x, int64_t v) { return with(m, TC_OP_maximum, x, v); }
static tc_val at_most(tc_build *m, tc_val x, int64_t v) { return with(m, TC_OP_minimum, x, v); }
static tc_val low(tc_build *m, tc_val x) { return with(m, TC_OP_bitwise_and, x, MASK); }
static tc_val less_than(tc_build *m, tc_val x, int64_t v) { return with(m, TC_OP_lt, x, v); }

/* v - x, at least 0. */
static tc_val rest_of(tc_build *m, int64_t v, tc_val x)
{
    return at_least(m, plus(m, times(m, x, -1), v), 0);
}

/* x where a condition holds, else v. */
static tc_val where(tc_build *m, tc_val condition, tc_val x, int64_t v)
{
    return x ? ti_b_where(m, condition, x, ti_b_scalar_i64(m, ti_b_dtype(m, x), v)) : x;
}

/* How many bits x >= 0 has, below 2^32. */
static tc_val bits_of(tc_build *m, tc_val x)
{
    int64_t power[32], last = x ? ti_b_type(m, x)->rank : 0;
    for (int k = 0; k < 32; k++)
        power[k] = INT64_C(1) << k;
    x = x ? ti_b_unsqueeze(m, ti_b_cast(m, x, TC_i64), last) : x;
    tc_val at_least = ti_b_ge(m, x, ti_b_list(m, power, 32));
    return ti_b_reduce(m, TC_OP_sum, ti_b_cast(m, at_least, TC_i64), &last, 1, false);
}

/* Elements of a constant table, as i64. */
static tc_val looked_up(tc_build *m, tc_val table, tc_val index)
{
    return ti_b_index_select(m, table, index, 0);
}

/* ---- one frame ---- */

/* clamp((x * weights) >> shift) */
void ti_tfl_build_signal_window(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_typed(n, 0, TC_i16), w = ti_tfl_typed(n, 1, TC_i16);
    int64_t shift = ti_tfl_named(n, "shift", 0, 31);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    int64_t size = tc_type_count(ti_b_type(m, w)), count = tc_type_count(t);
    if (!size || count % size) {
        ti_b_bad(m, TC_E_SHAPE, "%" PRId64 " samples and a window of %" PRId64, count, size);
        return;
    }
    tc_val rows = ti_b_reshape(m, ti_b_cast(m, x, TC_i32), 2, (int64_t[]){count / size, size}),
           by = ti_b_reshape(m, ti_b_cast(m, w, TC_i32), 2, (int64_t[]){1, size});
    tc_val y = ti_b_clamp(m, right(m, ti_b_mul(m, rows, by), shift), INT16_MIN, INT16_MAX);
    ti_tfl_bind(n, 0, ti_b_reshape_as(m, ti_b_cast(m, y, TC_i16), t));
}

/* Which samples the kernel's largest magnitude is one of.  It is kept in 16 bits: -32768 starts it
 * again, below all, and it then rises by samples that are below 0 and each larger than the last. */
static tc_val counted(tc_build *m, tc_val x)
{
    int64_t n = ti_b_type(m, x)->dim[0], first = 0;
    tc_val before = ti_b_full(m, 1, (int64_t[]){1}, INT16_MIN, TC_i32), rises, breaks, start;
    if (n > 1)
        before = ti_b_cat(m, 0, (tc_val[]){before, ti_b_slice(m, x, 0, 0, n - 1, 1)}, 2);
    rises = ti_b_gt(m, x, before);
    breaks = ti_b_logical_not(m, ti_b_logical_and(m, rises, less_than(m, x, 0)));
    breaks = ti_b_cumsum(m, ti_b_cast(m, breaks, TC_i32), 0);
    start = where(m, with(m, TC_OP_eq, x, INT16_MIN), breaks, -1);
    start = ti_b_reduce(m, TC_OP_amax, start, &first, 1, true);
    return ti_b_gt(m, breaks, start);
}

/* x << s, the largest s that its largest magnitude fits 15 bits; and s */
void ti_tfl_build_signal_fft_auto_scale(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_typed(n, 0, TC_i16);
    const tc_tfl_tensor *bits = ti_tfl_out_tensor(n, 1);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    if (t->rank != 1 || !t->dim[0] || !bits) {
        ti_b_bad(m, TC_E_SHAPE, "its input is not a row of samples, or its results are not two");
        return;
    }
    int64_t first = 0;
    x = ti_b_cast(m, x, TC_i32);
    tc_val size = ti_b_abs(m, x), most, s;
    size = where(m, counted(m, x), size, 0);
    most = ti_b_reduce(m, TC_OP_amax, size, &first, 1, true);
    s = rest_of(m, 15, ti_b_cast(m, bits_of(m, most), TC_i32));
    s = where(m, with(m, TC_OP_gt, most, 0), s, 0);
    ti_tfl_bind(n, 0, ti_b_cast(m, ti_b_shift_left(m, x, s), TC_i16));
    ti_tfl_bind(n, 1, ti_b_reshape(m, s, bits->rank, bits->dim));
}

/* What a Fourier transform reads: its operand, the type and the length that its options name. */
static tc_val transformed(tc_tfl_node *n, tc_dtype *type, int64_t *length)
{
    tc_val x = ti_tfl_need(n, 0);
    *type = signal_type(n);
    *length = ti_tfl_named(n, "fft_length", 1, 1 << 20);
    return x;
}

void ti_tfl_build_signal_rfft(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_dtype type;
    int64_t length;
    tc_val x = transformed(n, &type, &length);
    const tc_tfl_tensor *to = ti_tfl_out_tensor(n, 0);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    int64_t size = t->rank ? t->dim[t->rank - 1] : 0, rows = size ? tc_type_count(t) / size : 0;
    if (!to || !rows || size > length || t->dtype != type) {
        ti_b_bad(m, TC_E_SHAPE, "%" PRId64 " samples of a transform of %" PRId64 ", or another type", size,
                 length);
        return;
    }
    x = ti_b_reshape(m, x, 2, (int64_t[]){rows, size});
    if (size < length)
        x = ti_b_pad(m, x, (int64_t[]){0, 0, 0, length - size}, 0);
    ti_tfl_bind(n, 0, ti_b_reshape(m, ti_tfl_rfft(n, x, length, type), to->rank, to->dim));
}

void ti_tfl_build_signal_irfft(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_dtype type;
    int64_t length;
    tc_val x = transformed(n, &type, &length);
    const tc_tfl_tensor *to = ti_tfl_out_tensor(n, 0);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    if (!to || !t->rank || t->dim[t->rank - 1] != length + 2 || t->dtype != type) {
        ti_b_bad(m, TC_E_SHAPE, "its input does not have the %" PRId64 " numbers of such a spectrum",
                 length + 2);
        return;
    }
    ti_tfl_bind(n, 0, ti_b_reshape(m, ti_tfl_irfft(n, x, length, type), to->rank, to->dim));
}

/* re^2 + im^2 of bins start to end */
void ti_tfl_build_signal_energy(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_typed(n, 0, TC_i16);
    int64_t start = ti_tfl_named(n, "start_index", 0, INT32_MAX), end = ti_tfl_named(n, "end_index", 0, INT32_MAX);
    TC_STOP(m);
    int64_t bins = tc_type_count(ti_b_type(m, x)) / 2;
    if (end > bins || start > end) {
        ti_b_bad(m, TC_E_ARGUMENT, "bins %" PRId64 " to %" PRId64 " of %" PRId64, start, end, bins);
        return;
    }
    x = ti_b_reshape(m, x, 2, (int64_t[]){bins, 2});
    x = ti_b_cast(m, ti_b_slice(m, x, 0, start, end, 1), TC_i32);
    x = ti_b_mul(m, x, x);
    tc_val re = ti_b_select(m, x, 1, 0), im = ti_b_select(m, x, 1, 1);
    tc_val y = low(m, ti_b_cast(m, ti_b_add(m, re, im), TC_i64));
    if (start || end < bins)
        y = ti_b_pad(m, y, (int64_t[]){start, bins - end}, 0);
    ti_tfl_bind(n, 0, ti_b_cast(m, y, TC_u32));
}

/* ---- bands ---- */

/* Adds weights of a band, from its row of a table, to those of a channel. */
static bool add_band(tc_tfl_node *n, const tc_tensor *table, int64_t band, tc_tensor from,
                     tc_tensor to, int64_t channel, int64_t bins)
{
    int64_t at = ti_load_i64(table[0], band), first = ti_load_i64(table[1], band),
            width = ti_load_i64(table[2], band);
    bool fits = at >= 0 && first >= 0 && at + width <= bins &&
                first + width <= tc_type_count(from.type);
    if (!fits)
        ti_b_bad(&n->m, TC_E_ARGUMENT, "band %" PRId64 " reads outside of its bins or weights", band);
    for (int64_t j = 0; j < width && fits; j++)
        ti_store_i64(to, channel * bins + at + j,
                     ti_load_i64(to, channel * bins + at + j) + ti_load_i64(from, first + j));
    return fits;
}

/* Sums of two neighbouring bands: band i's by its weights, band i - 1's by its others. */
void ti_tfl_build_signal_filter_bank(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = wide(n, 0, TC_u32);
    tc_tensor weight[2] = {{0}}, table[3] = {{0}};
    int64_t channels = ti_tfl_named(n, "num_channels", 1, 4096);
    for (int i = 0; i < 5 && m->status == TC_OK; i++)
        if (!ti_tfl_settled_tensor(n, 1 + i, i < 2 ? &weight[i] : &table[i - 2]))
            return;
    TC_STOP(m);
    int64_t bins = tc_type_count(ti_b_type(m, x)), last = 1;
    for (int i = 0; i < 3; i++)
        if (tc_type_count(table[i].type) <= channels) {
            ti_b_bad(m, TC_E_SHAPE, "a table of %" PRId64 " bands for %" PRId64 " channels",
                     tc_type_count(table[i].type), channels);
            return;
        }
    if (bins > MOST_WEIGHTS / channels) {
        ti_b_unsupported(m, "%" PRId64 " bands of %" PRId64 " bins", channels, bins);
        return;
    }
    tc_tensor by = ti_b_tensor(m, TC_i64, 2, (int64_t[]){channels, bins});
    memset(by.data, 0, tc_type_bytes(by.type));
    for (int64_t c = 0; c < channels; c++)
        if (!add_band(n, table, c + 1, weight[0], by, c, bins) ||
            !add_band(n, table, c, weight[1], by, c, bins))
            return;
    x = ti_b_reshape(m, x, 2, (int64_t[]){1, bins});
    tc_val y = ti_b_mul(m, x, ti_b_const(m, by, NULL));
    ti_tfl_bind(n, 0, ti_b_cast(m, ti_b_reduce(m, TC_OP_sum, y, &last, 1, false), TC_u64));
}

/* Whole square root to the nearest, >> a shift.  A root of f64 is off by one at most; below 2^32 the
 * largest result is 65535. */
void ti_tfl_build_signal_filter_bank_square_root(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val u = ti_tfl_typed(n, 0, TC_u64), shift = wide(n, 1, TC_i32);
    TC_STOP(m);
    tc_val x = ti_b_cast(m, u, TC_i64);
    tc_val order = with(m, TC_OP_bitwise_xor, x, INT64_MIN); /* i64 in the order of u64 */
    tc_val r = ti_b_cast(m, ti_b_sqrt(m, ti_b_cast(m, u, TC_f64)), TC_i64);
    r = at_most(m, r, UINT32_MAX);
    tc_val above = ti_b_gt(m, with(m, TC_OP_bitwise_xor, ti_b_mul(m, r, r), INT64_MIN), order);
    r = ti_b_sub(m, r, ti_b_cast(m, above, TC_i64));
    tc_val next = plus(m, r, 1);
    tc_val below = ti_b_le(m, with(m, TC_OP_bitwise_xor, ti_b_mul(m, next, next), INT64_MIN), order);
    tc_val room = less_than(m, r, UINT32_MAX);
    r = ti_b_add(m, r, ti_b_cast(m, ti_b_logical_and(m, below, room), TC_i64));
    tc_val rest = ti_b_sub(m, x, ti_b_mul(m, r, r));
    tc_val top = with(m, TC_OP_eq, right(m, x, 32), 0); /* below 2^32 */
    top = where(m, top, n64(m, UINT16_MAX), UINT32_MAX);
    tc_val up = ti_b_gt(m, rest, r), can = ti_b_ne(m, r, top);
    r = ti_b_add(m, r, ti_b_cast(m, ti_b_logical_and(m, up, can), TC_i64));
    shift = ti_b_reshape(m, shift, 0, NULL);
    ti_tfl_bind(n, 0, ti_b_cast(m, ti_b_shift_right(m, r, shift), TC_u32));
}

/* a for even channels, b for odd ones. */
static tc_val alternating(tc_build *m, int64_t channels, int64_t a, int64_t b)
{
    int64_t *v = tc_new_n(&m->ctx->arena, int64_t, (size_t)channels);
    for (int64_t i = 0; i < channels; i++)
        v[i] = i & 1 ? b : a;
    return ti_b_list(m, v, channels);
}

/* noise = (s x + (1 - s) noise) >> bits; x less that, but no less than a share of x */
void ti_tfl_build_signal_filter_bank_spectral_subtraction(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = wide(n, 0, TC_u32);
    int64_t extra = ti_tfl_named(n, "smoothing_bits", 0, 31), bits = ti_tfl_named(n, "spectral_subtraction_bits", 0, 32);
    int64_t s = ti_tfl_named(n, "smoothing", 0, UINT32_MAX), rest = ti_tfl_named(n, "one_minus_smoothing", 0, UINT32_MAX),
            odd_s = ti_tfl_named(n, "alternate_smoothing", 0, UINT32_MAX),
            odd_rest = ti_tfl_named(n, "alternate_one_minus_smoothing", 0, UINT32_MAX),
            least = ti_tfl_named(n, "min_signal_remaining", 0, UINT32_MAX);
    bool clamps = ti_tfl_named(n, "clamping", 0, 1);
    TC_STOP(m);
    int64_t channels = tc_type_count(ti_b_type(m, x));
    tc_val noise = ti_tfl_signal_state(n, "noise", ti_type_make(m->ctx, TC_i64, 1, &channels));
    TC_STOP(m);
    tc_val scaled = low(m, left(m, x, extra));
    tc_val now = ti_b_mul(m, scaled, alternating(m, channels, s, odd_s)),
           old = ti_b_mul(m, noise, alternating(m, channels, rest, odd_rest));
    noise = low(m, right(m, ti_b_add(m, now, old), bits));
    tc_val estimate = ti_b_minimum(m, noise, scaled);
    if (clamps)
        noise = estimate;
    tc_val floor = low(m, right(m, times(m, x, least), bits));
    tc_val y = ti_b_maximum(m, right(m, ti_b_sub(m, scaled, estimate), extra), floor);
    ti_tfl_signal_remember(n, "noise", noise);
    ti_tfl_bind(n, 0, ti_b_cast(m, y, TC_u32));
    ti_tfl_bind(n, 1, ti_b_cast(m, noise, TC_u32));
}

/* The gain of a noise: parabolas between powers of two, of three numbers each after the first. */
static tc_val gain_of(tc_build *m, tc_val noise, tc_val table)
{
    tc_val bits = bits_of(m, noise), part, at, c[3];
    part = ti_b_shift_left(m, noise, rest_of(m, 11, bits));
    part = ti_b_shift_right(m, part, at_least(m, plus(m, bits, -11), 0));
    part = with(m, TC_OP_bitwise_and, part, 0x3ff);
    at = at_least(m, plus(m, left(m, bits, 2), -6), 0);
    for (int k = 0; k < 3; k++)
        c[k] = looked_up(m, table, plus(m, at, k));
    tc_val y = right(m, ti_b_mul(m, c[2], part), 5);
    y = ti_b_add(m, y, left(m, c[1], 5));
    y = right(m, plus(m, ti_b_mul(m, y, part), 1 << 14), 15);
    y = ti_b_add(m, y, c[0]);
    y = ti_b_cast(m, ti_b_cast(m, y, TC_i16), TC_i64);
    tc_val first = looked_up(m, table, at_most(m, noise, 2));
    return ti_b_where(m, less_than(m, noise, 3), first, y);
}

/* snr = (x gain(noise)) >> shift, 12 fraction bits; snr^2 / 4 below 2, else snr - 1, 6 fraction bits */
void ti_tfl_build_signal_pcan(tc_tfl_node *n)
{
    enum { GAINS = 125 }; /* 4 * 32 - 6 + 3 */
    tc_build *m = &n->m;
    tc_val x = wide(n, 0, TC_u32), noise = wide(n, 1, TC_u32), table = wide(n, 2, TC_i16);
    int64_t shift = ti_tfl_named(n, "snr_shift", 0, 32);
    TC_STOP(m);
    if (tc_type_count(ti_b_type(m, table)) < GAINS) {
        ti_b_bad(m, TC_E_SHAPE, "a table of %" PRId64 " gains, expected %d", tc_type_count(ti_b_type(m, table)),
                 GAINS);
        return;
    }
    tc_val gain = low(m, gain_of(m, noise, table));
    tc_val snr = low(m, right(m, ti_b_mul(m, x, gain), shift));
    tc_val squared = right(m, ti_b_mul(m, snr, snr), 20), less = plus(m, right(m, snr, 6), -64);
    tc_val y = ti_b_where(m, less_than(m, snr, 2 << 12), squared, less);
    ti_tfl_bind(n, 0, ti_b_cast(m, y, TC_u32));
}

/* ln(x << bits) * scale, by 128 pieces an octave; 0 up to 1, at most 32767 */
void ti_tfl_build_signal_filter_bank_log(tc_tfl_node *n)
{
    enum { PIECES = 128, LN2 = 45426 }; /* of 65536 */
    tc_build *m = &n->m;
    tc_val x = wide(n, 0, TC_u32);
    int64_t bits = ti_tfl_named(n, "input_correction_bits", 0, 31), scale = ti_tfl_named(n, "output_scale", 0, INT32_MAX),
            above[PIECES + 1];
    TC_STOP(m);
    for (int k = 0; k <= PIECES; k++) /* log2(1 + f) - f */
        above[k] = (int64_t)rint(65536 * (ti_log2(1 + k / (double)PIECES) - k / (double)PIECES));
    tc_val table = ti_b_list(m, above, PIECES + 1), whole, f, at, c, d, y;
    x = low(m, left(m, x, bits));
    tc_val valid = with(m, TC_OP_gt, x, 1);
    x = at_least(m, x, 1);
    whole = plus(m, bits_of(m, x), -1);
    f = ti_b_sub(m, x, ti_b_shift_left(m, n64(m, 1), whole));
    f = ti_b_shift_left(m, f, rest_of(m, 16, whole));
    f = ti_b_shift_right(m, f, at_least(m, plus(m, whole, -16), 0));
    at = right(m, f, 9);
    c = looked_up(m, table, at);
    d = ti_b_sub(m, looked_up(m, table, plus(m, at, 1)), c);
    d = right(m, ti_b_mul(m, d, ti_b_sub(m, f, left(m, at, 9))), 16);
    y = ti_b_add(m, left(m, whole, 16), f);
    y = ti_b_add(m, ti_b_add(m, y, c), d);
    y = right(m, plus(m, times(m, y, LN2), 1 << 15), 16);
    y = low(m, plus(m, times(m, y, scale), 1 << 15));
    y = where(m, valid, at_most(m, right(m, y, 16), INT16_MAX), 0);
    ti_tfl_bind(n, 0, ti_b_cast(m, y, TC_i16));
}
