/* SPDX-License-Identifier: Apache-2.0 */
/* npu_conv.c -- CONV and DEPTHWISE: acc += sum of (ifm - zero point) * weight over the window.
 *
 * The input is expanded once, with its padding and upscaling, to 32-bit elements of height fh and
 * width fw; taps outside are zeros there.  Products are summed in 32 bits as long as they are sure
 * to fit, then in 64.  Where 16 bits hold all elements and 32 every sum, as with 8-bit inputs, they
 * are summed in pairs (pair_sum.h). */
#include "../num/lanes.h"
#include "npu_weights.h"
#include "pair_sum.h"
#include "state.h"

enum { LANES = TC_PAIR_LANES, PIXELS = TC_PAIR_PIXELS };

/* ---- the input ---- */

typedef struct field {
    int32_t *v;
    int32_t h, w, c;
    int32_t largest; /* magnitude that an element may have */
} field;

/* Rows and columns that the window reads: from -top to the last tap of the last output. */
static bool lay_out(tc_npu_exec *x, const tc_npu_op *op, field *f)
{
    const tc_npu_window *v = &op->window;
    if (op->ifm.bytes > 2)
        return ti_npu_fail(x, "a convolution of %d-bit numbers", 8 * op->ifm.bytes);
    f->h = v->ih + v->top + v->bottom;
    f->w = v->iw + v->left + v->right;
    f->c = op->ifm.c;
    f->largest =
        (op->ifm.bytes == 1 ? 256 : 65536) + (op->ifm.zero < 0 ? -op->ifm.zero : op->ifm.zero);
    double n = (double)f->h * f->w * f->c;
    if (n > 1 << 28)
        return ti_npu_beyond(x, "an input of %d x %d x %d is too large to be run here", f->h, f->w,
                           f->c);
    if (!ti_npu_spend(x, n))
        return false;
    f->v = ti_arena_array(&x->scratch, (size_t)n, sizeof *f->v, 64);
    tc_npu_frame frame = {f->v, f->h, f->w, v->top, v->left, 1};
    if (v->upscale == TC_UPSCALE_ZEROS)
        frame.step = 2;
    if (v->upscale != TC_UPSCALE_NEAREST)
        return ti_npu_load_frame(x, &op->ifm, &frame);
    tc_npu_array a;
    if (!ti_npu_load(x, "the input", &op->ifm, 0, &a))
        return false;
    for (int32_t y = 0; y < v->ih; y++)
        for (int32_t i = 0; i < v->iw; i++)
            for (int32_t c = 0; c < f->c; c++)
                f->v[((int64_t)(y + v->top) * f->w + i + v->left) * f->c + c] =
                    (int32_t)a.v[((int64_t)(y / 2) * a.w + i / 2) * a.c + c];
    return true;
}

/* ---- weights ---- */

/* Taps adjacent in memory are one run. */
typedef struct runs {
    int32_t n;
    int64_t k; /* products of each */
} runs;

static runs runs_of(const tc_npu_window *v, int32_t channels)
{
    return v->dilation_x == 1 ? (runs){v->kh, (int64_t)v->kw * channels}
                              : (runs){v->kh * v->kw, channels};
}

/* Weights in the order of the loops: CONV in pairs [o / 16][run][k / 2][16][2], or [o /
 * 16][ky][kx][i][16]; DEPTHWISE [ky][kx][c]. */
typedef struct weights {
    const int16_t *pair; /* or NULL: */
    const int32_t *v;
    int64_t largest;
} weights;

/* Whether a sum of all products fits 32 bits, and each number 16. */
static bool fits_pairs(const field *f, runs r, int64_t largest)
{
    return f->largest <= INT16_MAX && largest <= INT16_MAX &&
           (double)f->largest * (double)largest * (double)r.n * (double)r.k <= INT32_MAX;
}

static int64_t pairs_of(runs r)
{
    return (r.k + 1) / 2;
}

/* dense: [o][run][k]. */
static int16_t *arrange_pairs(tc_arena *arena, runs r, int32_t o, const int16_t *dense)
{
    int64_t block = r.n * pairs_of(r) * 2 * LANES;
    int16_t *to = ti_arena_array(arena, (size_t)((o + LANES - 1) / LANES * block), sizeof *to, 64);
    for (int64_t c = 0; c < o; c++)
        for (int64_t n = 0; n < r.n; n++) {
            int16_t *at = to + c / LANES * block + n * pairs_of(r) * 2 * LANES + c % LANES * 2;
            for (int64_t k = 0; k < r.k; k++)
                at[k / 2 * 2 * LANES + k % 2] = *dense++;
        }
    return to;
}

static size_t padded(int32_t o)
{
    return ((size_t)o + LANES - 1) / LANES * LANES;
}

static void arrange(const tc_npu_weight_shape *s, const int16_t *from, int32_t *to)
{
    int64_t k = (int64_t)s->kh * s->kw * s->i;
    int64_t step = s->depthwise ? s->o : LANES;
    for (int64_t o = 0; o < s->o; o++) {
        int32_t *at = to + (s->depthwise ? o : o / LANES * k * LANES + o % LANES);
        for (int64_t j = 0; j < k; j++)
            at[j * step] = from[o * k + j];
    }
}

static int32_t largest_of(const int16_t *v, size_t n)
{
    int32_t low = 0, high = 0;
    for (size_t i = 0; i < n; i++) {
        low = v[i] < low ? v[i] : low;
        high = v[i] > high ? v[i] : high;
    }
    return -low > high ? -low : high;
}

/* The streams' bytes, concatenated; NULL with a message when they are out of bounds. */
static uint8_t *gather(tc_npu_exec *x, const tc_npu_op *op, tc_bytes *stream, size_t *n)
{
    const tc_npu_weights *w = &op->weights;
    *n = 0;
    for (int c = 0; c < op->cores; c++)
        *n += w->bytes[c];
    uint8_t *all = NULL;
    size_t at = 0;
    for (int c = 0; c < op->cores; c++) {
        const uint8_t *p = ti_npu_span(x, w->region, w->base[c], w->bytes[c]);
        if (!p && w->bytes[c]) {
            ti_npu_outside(x, w->region, "the weights of core %d lie outside region %d", c, w->region);
            return NULL;
        }
        if (!all)
            all = ti_arena_raw(&x->scratch, *n + 16);
        if (w->bytes[c])
            memcpy(all + at, p, (size_t)w->bytes[c]);
        stream[c] = (tc_bytes){all + at, (size_t)w->bytes[c]};
        at += w->bytes[c];
    }
    return all;
}

static bool same_order(const tc_npu_weight_order *a, const tc_npu_weight_order *b)
{
    return a->shape.o == b->shape.o && a->shape.kh == b->shape.kh && a->shape.kw == b->shape.kw &&
           a->shape.i == b->shape.i && a->shape.depthwise == b->shape.depthwise &&
           a->u85 == b->u85 && a->part == b->part && a->cores == b->cores && a->block == b->block &&
           a->micro == b->micro && a->ifm_block == b->ifm_block && a->ifm_step == b->ifm_step &&
           a->step == b->step && a->round == b->round && a->sub_h == b->sub_h &&
           a->sub_w == b->sub_w && a->stride_y == b->stride_y && a->stride_x == b->stride_x &&
           a->padding == b->padding;
}

static bool serves(const tc_npu_kept *k, const tc_npu_op *op, const field *f,
                   const tc_npu_weight_order *order, tc_bytes stream)
{
    bool pairs = !order->shape.depthwise &&
                 fits_pairs(f, runs_of(&op->window, order->shape.i), k->largest);
    return k->bytes == stream.size && k->fast == op->weights.fast && (k->pairs != NULL) == pairs &&
           same_order(&k->order, order) && !memcmp(k->stream, stream.data, stream.size);
}

/* What has been decoded of these bytes; NULL: nothing.  What the operation had last is most likely.
 */
static tc_npu_kept *find_kept(const tc_npu_exec *x, const tc_npu_op *op, const field *f,
                              const tc_npu_weight_order *order, tc_bytes stream)
{
    tc_npu_kept *k = x->kept[op->at];
    if (k && serves(k, op, f, order, stream))
        return k;
    for (k = x->all_kept; k && !serves(k, op, f, order, stream);)
        k = k->next;
    return k;
}

static bool constant_weights(tc_npu_exec *x, const tc_npu_op *op, const field *f, weights *out)
{
    tc_bytes stream[TC_NPU_CORES];
    tc_npu_weight_order order;
    tc_npu_weight_shape s = ti_npu_weight_shape_of(op);
    size_t bytes, k = (size_t)s.kh * (size_t)s.kw * (size_t)s.i, count = padded(s.o) * k;
    if ((double)padded(s.o) * s.kh * s.kw * s.i > 1 << 28)
        return ti_npu_beyond(x, "a kernel of %d x %d x %d x %d is too large to be run here", s.o,
                           s.kh, s.kw, s.i);
    if (!ti_npu_weight_order_of(x->machine, op, &order))
        return ti_npu_fail(x, "the machine has no such microblock");
    if (!ti_npu_spend(x, (double)count))
        return false;
    const uint8_t *all = gather(x, op, stream, &bytes);
    if (!all)
        return false;
    tc_npu_kept *kept = find_kept(x, op, f, &order, (tc_bytes){all, bytes});
    if (!kept) {
        int16_t *dense = ti_arena_raw(&x->scratch, (size_t)s.o * k * sizeof *dense);
        const char *wrong = ti_npu_weights_decode(&x->scratch, x->machine, op, stream, dense);
        if (wrong)
            return ti_npu_fail(x, "%s", wrong);
        kept = tc_new(x->arena, tc_npu_kept);
        *kept = (tc_npu_kept){.next = x->all_kept,
                              .order = order,
                              .fast = op->weights.fast,
                              .stream = ti_arena_copy(x->arena, all, bytes),
                              .bytes = bytes,
                              .largest = largest_of(dense, (size_t)s.o * k)};
        runs r = runs_of(&op->window, s.i);
        if (!s.depthwise && fits_pairs(f, r, kept->largest))
            kept->pairs = arrange_pairs(x->arena, r, s.o, dense);
        else
            arrange(&s, dense, kept->weights = tc_new_n(x->arena, int32_t, count));
        x->all_kept = kept;
    }
    x->kept[op->at] = kept;
    *out = (weights){kept->pairs, kept->weights, kept->largest};
    return true;
}

/* U85: ifm2 is a map of one row; column o holds the weights of channel o. */
static bool dynamic_weights(tc_npu_exec *x, const tc_npu_op *op, const field *f, weights *out)
{
    tc_npu_array a;
    if (op->ifm2.bytes > 2)
        return ti_npu_fail(x, "weights of %d bits", 8 * op->ifm2.bytes);
    if (!ti_npu_load(x, "ifm2", &op->ifm2, op->scalar, &a))
        return false;
    if (a.w < op->ofm.c || a.c < op->ifm.c)
        return ti_npu_fail(x, "ifm2 is too small for weights");
    int64_t k = op->ifm.c;
    *out = (weights){0};
    for (int64_t o = 0; o < op->ofm.c; o++)
        for (int64_t i = 0; i < k; i++)
            out->largest = ti_max_i64(out->largest, ti_max_i64(a.v[o * a.c + i], -a.v[o * a.c + i]));
    runs r = runs_of(&op->window, op->ifm.c);
    if (r.n * r.k == k && fits_pairs(f, r, out->largest)) {
        int16_t *dense = ti_arena_raw(&x->scratch, (size_t)(op->ofm.c * k) * sizeof *dense);
        for (int64_t o = 0; o < op->ofm.c; o++)
            for (int64_t i = 0; i < k; i++)
                dense[o * k + i] = (int16_t)a.v[o * a.c + i];
        out->pair = arrange_pairs(&x->scratch, r, op->ofm.c, dense);
        return true;
    }
    int32_t *v = tc_new_n(&x->scratch, int32_t, padded(op->ofm.c) * (size_t)op->ifm.c);
    for (int64_t o = 0; o < op->ofm.c; o++)
        for (int64_t i = 0; i < k; i++)
            v[(o / LANES * k + i) * LANES + o % LANES] = (int32_t)a.v[o * a.c + i];
    out->v = v;
    return true;
}

/* ---- sums of products ---- */

/* PIXELS outputs of one row, LANES channels: n runs of k products each.  Run r of pixel p begins at
 * from + p pixel + run[r]; its weights follow those of the run before. */
typedef struct task {
    const int32_t *from, *weight;
    const int64_t *run;
    int64_t pixel, k;
    int32_t n;
    int64_t chunk; /* products that 32 bits hold */
} task;

TC_LANES_BODY sum_body(const task *t, int64_t *out)
{
    int32_t acc[PIXELS][LANES];
    int64_t left = t->chunk;
    const int32_t *w = t->weight;
    memset(acc, 0, sizeof acc);
    for (int32_t r = 0; r < t->n; r++) {
        const int32_t *x = t->from + t->run[r];
        for (int64_t k = 0; k < t->k;) {
            int64_t end = t->k - k < left ? t->k : k + left;
            left -= end - k;
            for (; k < end; k++, w += LANES)
                for (int p = 0; p < PIXELS; p++)
                    for (int j = 0; j < LANES; j++)
                        acc[p][j] += x[p * t->pixel + k] * w[j];
            if (left > 0)
                continue;
            for (int p = 0; p < PIXELS; p++)
                for (int j = 0; j < LANES; j++)
                    out[p * LANES + j] += acc[p][j];
            memset(acc, 0, sizeof acc);
            left = t->chunk;
        }
    }
    for (int p = 0; p < PIXELS; p++)
        for (int j = 0; j < LANES; j++)
            out[p * LANES + j] += acc[p][j];
}
TC_LANES(static, sum, sum_body, (const task *t, int64_t *out), (t, out))

/* The same where not even one product fits. */
static void sum_wide(const task *t, int64_t *out)
{
    const int32_t *w = t->weight;
    for (int32_t r = 0; r < t->n; r++)
        for (int64_t k = 0; k < t->k; k++, w += LANES)
            for (int p = 0; p < PIXELS; p++)
                for (int j = 0; j < LANES; j++)
                    out[p * LANES + j] += (int64_t)t->from[t->run[r] + p * t->pixel + k] * w[j];
}

static int64_t chunk_of(const field *f, int64_t largest)
{
    return largest ? INT32_MAX / ((int64_t)f->largest * largest) : INT32_MAX;
}

/* A whole row of outputs; the last pixels may be computed more than once, none outside the input.
 */
static void conv_row(const tc_npu_op *op, const field *f, const weights *w, task *t, int32_t y,
                     int64_t *acc)
{
    const tc_npu_window *v = &op->window;
    int64_t k = (int64_t)v->kh * v->kw * f->c;
    for (int32_t o = 0; o < op->ofm.c; o += LANES) {
        t->weight = w->v + o * k;
        for (int32_t x = 0; x < op->ofm.w; x += PIXELS) {
            int32_t n = op->ofm.w - x < PIXELS ? op->ofm.w - x : PIXELS,
                    lanes = op->ofm.c - o < LANES ? op->ofm.c - o : LANES;
            int64_t out[PIXELS * LANES] = {0};
            t->from = f->v + ((int64_t)y * v->stride_y * f->w + (int64_t)x * v->stride_x) * f->c;
            t->pixel = n < PIXELS ? 0 : (int64_t)v->stride_x * f->c;
            for (int32_t p = 0; p < n;
                 p += n < PIXELS ? 1 : PIXELS) { /* a few at the end: one by one */
                if (p)
                    t->from += (int64_t)v->stride_x * f->c;
                memset(out, 0, sizeof out);
                if (t->chunk > 0)
                    sum(t, out);
                else
                    sum_wide(t, out);
                for (int32_t q = 0; q < (n < PIXELS ? 1 : PIXELS); q++)
                    for (int32_t j = 0; j < lanes; j++) {
                        int64_t *a = &acc[((int64_t)x + p + q) * op->ofm.c + o + j];
                        *a = ti_wrap_add(*a, out[q * LANES + j]);
                    }
            }
        }
    }
}

/* ---- in pairs ---- */

TC_LANES_BODY narrow_body(const int32_t *restrict from, int64_t n, int16_t *restrict to)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = (int16_t)from[i];
}
TC_LANES(static, narrow, narrow_body, (const int32_t *restrict from, int64_t n, int16_t *restrict to), (from, n, to))

/* Sums of `pixels` pixels, `lanes` channels of each, to accumulators that have `step` channels. */
TC_LANES_BODY add_body(const int32_t *restrict sum, int pixels, int lanes, int64_t step,
                       int64_t *restrict acc)
{
    for (int p = 0; p < pixels; p++)
        for (int j = 0; j < lanes; j++)
            acc[p * step + j] = (int64_t)((uint64_t)acc[p * step + j] + (uint64_t)(int64_t)sum[p * LANES + j]);
}
TC_LANES(static, add_sums, add_body,
         (const int32_t *restrict sum, int pixels, int lanes, int64_t step, int64_t *restrict acc),
         (sum, pixels, lanes, step, acc))

/* Pixels past the end of a row are read, and dropped from the result. */
static void conv_pairs(tc_npu_exec *x, const tc_npu_op *op, const field *f, const weights *w,
                       const int64_t *run)
{
    const tc_npu_window *v = &op->window;
    runs r = runs_of(v, f->c);
    int64_t n = (int64_t)f->h * f->w * f->c, step = op->ofm.c, pixel = (int64_t)v->stride_x * f->c;
    int16_t *from = ti_arena_array(&x->scratch, (size_t)(n + PIXELS * pixel + 1), sizeof *from, 64);
    tc_pair_task t = {.run = run, .n = r.n, .k = pairs_of(r), .pixel = pixel};
    int32_t sum[PIXELS][LANES];
    narrow(f->v, n, from);
    for (int32_t y = 0; y < op->ofm.h; y++)
        for (int32_t o = 0; o < op->ofm.c; o += LANES) {
            t.weight = w->pair + (int64_t)o * r.n * t.k * 2;
            for (int32_t i = 0; i < op->ofm.w; i += PIXELS) {
                t.from = from + (int64_t)y * v->stride_y * f->w * f->c + i * pixel;
                ti_pair_sum(&t, sum);
                add_sums(sum[0], op->ofm.w - i < PIXELS ? op->ofm.w - i : PIXELS,
                         op->ofm.c - o < LANES ? op->ofm.c - o : LANES, step,
                         x->acc.v + ((int64_t)y * op->ofm.w + i) * step + o);
            }
        }
}

bool ti_npu_conv(tc_npu_exec *x, const tc_npu_op *op)
{
    const tc_npu_window *v = &op->window;
    field f;
    weights w;
    double products = (double)op->ofm.h * op->ofm.w * op->ofm.c * v->kh * v->kw * op->ifm.c;
    if (!ti_npu_spend(x, products) || !lay_out(x, op, &f) ||
        !(op->weights_ifm2 ? dynamic_weights(x, op, &f, &w) : constant_weights(x, op, &f, &w)) ||
        !ti_npu_start_acc(x, op))
        return false;
    runs r = runs_of(v, f.c);
    int64_t *run = tc_new_n(&x->scratch, int64_t, (size_t)r.n);
    for (int32_t i = 0; i < r.n; i++) {
        int32_t ky = r.n == v->kh ? i : i / v->kw, kx = r.n == v->kh ? 0 : i % v->kw;
        run[i] = ((int64_t)ky * v->dilation_y * f.w + (int64_t)kx * v->dilation_x) * f.c;
    }
    task t = {.run = run, .n = r.n, .k = r.k, .chunk = chunk_of(&f, w.largest)};
    if (w.pair)
        conv_pairs(x, op, &f, &w, run);
    for (int32_t y = 0; y < op->ofm.h && !w.pair; y++)
        conv_row(op, &f, &w, &t, y, x->acc.v + (int64_t)y * op->ofm.w * op->ofm.c);
    return ti_npu_put_acc(x, op);
}

/* ---- one kernel a channel ---- */

typedef struct depth_task {
    const int32_t *from, *weight;
    int64_t row, column; /* between taps */
    int32_t kh, kw, c;
} depth_task;

TC_LANES_BODY depth_body(const depth_task *t, int32_t *restrict out)
{
    for (int32_t c = 0; c < t->c; c++)
        out[c] = 0;
    for (int32_t ky = 0; ky < t->kh; ky++)
        for (int32_t kx = 0; kx < t->kw; kx++) {
            const int32_t *x = t->from + ky * t->row + kx * t->column,
                          *w = t->weight + (int64_t)(ky * t->kw + kx) * t->c;
            for (int32_t c = 0; c < t->c; c++)
                out[c] += x[c] * w[c];
        }
}
TC_LANES(static, depth_sum, depth_body, (const depth_task *t, int32_t *restrict out), (t, out))

static void depth_wide(const depth_task *t, int64_t *out)
{
    for (int32_t ky = 0; ky < t->kh; ky++)
        for (int32_t kx = 0; kx < t->kw; kx++)
            for (int32_t c = 0; c < t->c; c++)
                out[c] += (int64_t)t->from[ky * t->row + kx * t->column + c] *
                          t->weight[(int64_t)(ky * t->kw + kx) * t->c + c];
}

bool ti_npu_depthwise(tc_npu_exec *x, const tc_npu_op *op)
{
    const tc_npu_window *v = &op->window;
    field f;
    weights w;
    double products = (double)op->ofm.h * op->ofm.w * op->ofm.c * v->kh * v->kw;
    if (!ti_npu_spend(x, products) || !lay_out(x, op, &f) || !constant_weights(x, op, &f, &w) ||
        !ti_npu_start_acc(x, op))
        return false;
    bool narrow = chunk_of(&f, w.largest) >= (int64_t)v->kh * v->kw;
    int32_t *row = ti_arena_raw(&x->scratch, (size_t)f.c * sizeof *row);
    depth_task t = {.weight = w.v,
                    .row = (int64_t)v->dilation_y * f.w * f.c,
                    .column = (int64_t)v->dilation_x * f.c,
                    .kh = v->kh,
                    .kw = v->kw,
                    .c = f.c};
    int64_t *acc = x->acc.v;
    for (int32_t y = 0; y < op->ofm.h; y++)
        for (int32_t i = 0; i < op->ofm.w; i++, acc += f.c) {
            t.from = f.v + ((int64_t)y * v->stride_y * f.w + (int64_t)i * v->stride_x) * f.c;
            if (!narrow) {
                depth_wide(&t, acc);
                continue;
            }
            depth_sum(&t, row);
            for (int32_t c = 0; c < f.c; c++)
                acc[c] += row[c];
        }
    return ti_npu_put_acc(x, op);
}
