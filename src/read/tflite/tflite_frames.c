/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_frames.c -- TensorFlow Lite Micro's audio operators that remember samples or frames.
 *
 * Each is a queue of fixed length: the oldest samples are what the state holds, new ones come
 * behind.  Whether a result is valid follows from how many calls there were; what is not yet valid
 * is made of the zeros that the state begins with. */
#include "tflite_signal.h"

enum { MOST = 1 << 20, MOST_FRAMES = 4096, MOST_KEPT = 1 << 24 }; /* of sizes, and of samples that are kept */

/* [rows, kept] samples and then x [rows, ..]; x alone where none are kept. */
static tc_val behind(tc_tfl_node *n, tc_val x, int64_t kept)
{
    const tc_type *t = ti_b_type(&n->m, x);
    if (!kept)
        return x;
    if (kept > MOST_KEPT / t->dim[0]) {
        ti_b_unsupported(&n->m, "%" PRId64 " samples of %" PRId64 " rows are kept", kept, t->dim[0]);
        return TC_NONE;
    }
    const tc_type *state = ti_type_make(n->m.ctx, t->dtype, 2, (int64_t[]){t->dim[0], kept});
    tc_val old = ti_tfl_signal_state(n, "samples", state);
    return old ? ti_b_cat(&n->m, 1, (tc_val[]){old, x}, 2) : old;
}

/* The last `kept` samples of all. */
static void keep(tc_tfl_node *n, tc_val all, int64_t kept)
{
    int64_t end = all ? ti_b_type(&n->m, all)->dim[1] : 0;
    if (all && kept)
        ti_tfl_signal_remember(n, "samples", ti_b_slice(&n->m, all, 1, end - kept, end, 1));
}

/* How many calls there were before, counted up to `most`, then on from `again`. */
static tc_val calls(tc_tfl_node *n, int64_t most, int64_t again)
{
    tc_build *m = &n->m;
    tc_val old = ti_tfl_signal_state(n, "calls", ti_type_make(m->ctx, TC_i32, 0, NULL));
    if (!old)
        return old;
    tc_val next = ti_b_add(m, old, ti_b_number(m, old, 1));
    tc_val past = ti_b_gt(m, next, ti_b_number(m, old, (double)most));
    next = ti_b_where(m, past, ti_b_number(m, old, (double)again), next);
    ti_tfl_signal_remember(n, "calls", next);
    return old;
}

static void bind_valid(tc_tfl_node *n, tc_val valid)
{
    const tc_tfl_tensor *t = ti_tfl_out_tensor(n, 1);
    if (t && valid)
        ti_tfl_bind(n, 1, ti_b_reshape(&n->m, valid, t->rank, t->dim));
}

/* [.., samples] as [rows, samples]; no rows: a message was given. */
static tc_val rows_of(tc_tfl_node *n, tc_val x, int64_t *rows, int64_t *size)
{
    const tc_type *t = x ? ti_b_type(&n->m, x) : NULL;
    *size = t && t->rank ? t->dim[t->rank - 1] : 0;
    *rows = *size ? tc_type_count(t) / *size : 0;
    if (x && !*rows)
        ti_b_bad(&n->m, TC_E_SHAPE, "no samples");
    return *rows ? ti_b_reshape(&n->m, x, 2, (int64_t[]){*rows, *size}) : TC_NONE;
}

/* The samples of `delay` ago. */
void ti_tfl_build_signal_delay(tc_tfl_node *n)
{
    int64_t rows, size, delay = ti_tfl_named(n, "delay_length", 0, MOST);
    tc_val x = ti_tfl_typed(n, 0, TC_i16), flat = rows_of(n, x, &rows, &size);
    TC_STOP(&n->m);
    tc_val all = behind(n, flat, delay);
    keep(n, all, delay);
    TC_STOP(&n->m);
    ti_tfl_bind(n, 0, ti_b_reshape_as(&n->m, ti_b_slice(&n->m, all, 1, 0, size, 1), ti_b_type(&n->m, x)));
}

/* Frames of `size` samples, `step` apart.  With prefill the first is complete with zeros; without,
 * whole steps are waited for. */
void ti_tfl_build_signal_framer(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    int64_t rows, count, size = ti_tfl_named(n, "frame_size", 1, MOST), step = ti_tfl_named(n, "frame_step", 1, MOST);
    bool prefill = ti_tfl_named(n, "prefill", 0, 1) != 0;
    tc_val flat = rows_of(n, ti_tfl_typed(n, 0, TC_i16), &rows, &count);
    const tc_tfl_tensor *to = ti_tfl_out_tensor(n, 0);
    TC_STOP(m);
    int64_t frames = count / step, steps = (size + step - 1) / step,
            kept = prefill ? size - step : (steps - 1) * step;
    if (count % step || kept < 0 || !to || frames > MOST_FRAMES) {
        ti_b_bad(m, TC_E_SHAPE, "%" PRId64 " samples as frames of %" PRId64 " every %" PRId64, count, size, step);
        return;
    }
    tc_val all = behind(n, flat, kept), *frame = tc_new_n(&m->ctx->arena, tc_val, (size_t)frames);
    keep(n, all, kept);
    TC_STOP(m);
    for (int64_t k = 0; k < frames; k++)
        frame[k] = ti_b_slice(m, all, 1, k * step, k * step + size, 1);
    ti_tfl_bind(n, 0, ti_b_reshape(m, ti_b_cat(m, 1, frame, (int)frames), to->rank, to->dim));
    if (prefill || steps == 1) {
        bind_valid(n, ti_b_scalar(m, TC_bool, 1));
        return;
    }
    tc_val before = calls(n, steps, steps); /* its first frame is complete */
    TC_STOP(m);
    tc_val had = ti_b_mul(m, before, ti_b_number(m, before, (double)frames));
    bind_valid(n, ti_b_ge(m, had, ti_b_number(m, had, (double)(steps - 1))));
}

/* Frames that overlap, added and saturated: each gives its first `step` samples. */
void ti_tfl_build_signal_overlap_add(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    int64_t step = ti_tfl_named(n, "frame_step", 1, MOST);
    tc_val x = ti_tfl_need(n, 0);
    const tc_tfl_tensor *to = ti_tfl_out_tensor(n, 0);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    if (t->dtype != TC_i16 && t->dtype != TC_f32) {
        ti_b_bad(m, TC_E_TYPE, "frames of %s", tc_dtypes[t->dtype].name);
        return;
    }
    int64_t size = t->rank > 1 ? t->dim[t->rank - 1] : 0, frames = t->rank > 1 ? t->dim[t->rank - 2] : 0,
            rows = size > 0 && frames > 0 ? tc_type_count(t) / (size * frames) : 0, kept = size - step;
    bool real = t->dtype == TC_f32;
    if (!rows || kept < 0 || !to || frames > MOST_FRAMES || kept > MOST_KEPT / rows) {
        ti_b_bad(m, TC_E_SHAPE, "frames of %" PRId64 " samples every %" PRId64, size, step);
        return;
    }
    tc_dtype wide = real ? TC_f32 : TC_i32;
    tc_val *y = tc_new_n(&m->ctx->arena, tc_val, (size_t)frames), sum = TC_NONE;
    x = ti_b_cast(m, ti_b_reshape(m, x, 3, (int64_t[]){rows, frames, size}), wide);
    if (kept)
        sum = ti_tfl_signal_state(n, "samples", ti_type_make(m->ctx, t->dtype, 2, (int64_t[]){rows, kept}));
    TC_STOP(m);
    sum = sum ? ti_b_cast(m, sum, wide) : sum;
    for (int64_t k = 0; k < frames; k++) {
        tc_val frame = ti_b_select(m, x, 1, k);
        if (sum)
            frame = ti_b_add(m, ti_b_pad(m, sum, (int64_t[]){0, 0, 0, step}, 0), frame);
        if (!real)
            frame = ti_b_clamp(m, frame, INT16_MIN, INT16_MAX);
        y[k] = ti_b_slice(m, frame, 1, 0, step, 1);
        sum = kept ? ti_b_slice(m, frame, 1, step, size, 1) : sum;
    }
    if (kept)
        ti_tfl_signal_remember(n, "samples", ti_b_cast(m, sum, t->dtype));
    tc_val out = ti_b_cast(m, ti_b_cat(m, 1, y, (int)frames), t->dtype);
    ti_tfl_bind(n, 0, ti_b_reshape(m, out, to->rank, to->dim));
}

/* A frame between its neighbours, every `step` frames; before the first there are copies of it. */
void ti_tfl_build_signal_stacker(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    int64_t channels = ti_tfl_named(n, "num_channels", 1, MOST), before = ti_tfl_named(n, "stacker_left_context", 0, MOST),
            after = ti_tfl_named(n, "stacker_right_context", 0, MOST), step = ti_tfl_named(n, "stacker_step", 1, MOST),
            kept = (before + after) * channels;
    tc_val x = ti_tfl_typed(n, 0, TC_i16);
    const tc_tfl_tensor *to = ti_tfl_out_tensor(n, 0);
    TC_STOP(m);
    if (tc_type_count(ti_b_type(m, x)) != channels || !to || step > before + after + 1) {
        ti_b_bad(m, TC_E_SHAPE, "frames that are not of %" PRId64 " channels, or are left out", channels);
        return;
    }
    x = ti_b_reshape(m, x, 2, (int64_t[]){1, channels});
    tc_val all = behind(n, x, kept), count = calls(n, after + step - 1, after);
    TC_STOP(m);
    if (kept) {
        tc_val copies = ti_b_expand(m, x, 2, (int64_t[]){before + after + 1, channels});
        copies = ti_b_reshape(m, copies, 2, (int64_t[]){1, kept + channels});
        tc_val old = ti_tfl_signal_state(n, "started", ti_type_make(m->ctx, TC_bool, 0, NULL));
        TC_STOP(m);
        all = ti_b_where(m, old, all, copies);
        ti_tfl_signal_remember(n, "started", ti_b_scalar(m, TC_bool, 1));
    }
    keep(n, all, kept);
    ti_tfl_bind(n, 0, ti_b_reshape(m, all, to->rank, to->dim));
    bind_valid(n, ti_b_eq(m, count, ti_b_number(m, count, (double)after)));
}
