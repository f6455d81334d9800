/* SPDX-License-Identifier: Apache-2.0 */
/* torchao.c -- the range search of torchao's HistogramObserver, bit-exact: to choose the parameters
 * that an export through PT2E has.
 *
 * Its arithmetic is f32 tensors and f64 Python numbers; a Python number combined with a tensor
 * becomes f32.  Sums of tensors are taken in the order of PyTorch's kernel, 8 lanes.  The observer
 * depends on the order of samples, so it sees them in sequence. */
#include "torchao.h"

#include <float.h>
#include <math.h>

enum { BINS = TC_TORCHAO_BINS, FINE = 16 };

void ti_torchao_init(tc_torchao *t)
{
    *t = (tc_torchao){.min = INFINITY, .max = -INFINITY};
}

/* ---- histograms ---- */

/* Counts of BINS equal bins over [lo, hi]; a range of one number is widened by 1 at both ends. */
static void histc(const float *x, int64_t n, float lo, float hi, float *out)
{
    memset(out, 0, BINS * sizeof *out);
    if (lo == hi) {
        lo -= 1;
        hi += 1;
    }
    for (int64_t i = 0; i < n; i++) {
        if (!(x[i] >= lo && x[i] <= hi))
            continue;
        int64_t at = (int64_t)((x[i] - lo) * (float)BINS / (hi - lo));
        out[at < BINS ? at : BINS - 1] += 1;
    }
}

/* Value i of n from lo to hi, counted from the nearer end. */
static float spaced(float lo, float hi, int n, int i)
{
    float step = (hi - lo) / (float)(n - 1);
    return i < n / 2 ? lo + step * (float)i : hi - step * (float)(n - i - 1);
}

/* The old histogram in the bins of a wider range: each bin as FINE parts, each part by its middle:
 * the last bin whose lower edge is not above it. */
static void rebin(const tc_torchao *t, float lo, float hi, float *out)
{
    float size = (t->max - t->min) / (float)(BINS * FINE);
    int at = 0;
    memset(out, 0, BINS * sizeof *out);
    for (int i = 0; i < BINS * FINE; i++) {
        float middle = spaced(t->min, t->max, BINS * FINE + 1, i) + 0.5f * size;
        while (at < BINS - 1 && spaced(lo, hi, BINS + 1, at + 1) <= middle)
            at++;
        out[at] += t->count[i / FINE] / (float)FINE;
    }
}

static float sum_f32(const float *x, int n);

static void combine(tc_torchao *t, const float *update, float lo, float hi)
{
    float old[BINS];
    if (lo == t->min && hi == t->max)
        memcpy(old, t->count, sizeof old);
    else if (t->min == t->max) {
        float one = t->min, total = sum_f32(t->count, BINS);
        histc(&one, 1, lo, hi, old);
        for (int i = 0; i < BINS; i++)
            old[i] *= total;
    } else
        rebin(t, lo, hi, old);
    for (int i = 0; i < BINS; i++)
        t->count[i] = update[i] + old[i];
    t->min = lo;
    t->max = hi;
}

void ti_torchao_see(tc_torchao *t, const float *x, int64_t n)
{
    tc_ends ends = ti_ends_none();
    ti_ends_see(&ends, x, n);
    if (ends.lo > ends.hi)
        return;
    bool first = t->min > t->max;
    float update[BINS], lo = first ? ends.lo : fminf(t->min, ends.lo),
                        hi = first ? ends.hi : fmaxf(t->max, ends.hi);
    histc(x, n, lo, hi, update);
    if (!first) {
        combine(t, update, lo, hi);
        return;
    }
    memcpy(t->count, update, sizeof update);
    t->min = lo;
    t->max = hi;
}

/* ---- sums as PyTorch's kernel takes them: four rows of 8 lanes, in blocks that are summed in
 * turn ---- */

enum { LANES = 8, ROWS = 4, LEVELS = 4, LEVEL_POWER = 4, LEVEL_STEP = 1 << LEVEL_POWER };

typedef struct block_sums {
    float acc[LEVELS][ROWS][LANES];
} block_sums;

static void carry(block_sums *s, int i)
{
    for (int level = 1; level < LEVELS; level++) {
        for (int row = 0; row < ROWS; row++)
            for (int lane = 0; lane < LANES; lane++) {
                s->acc[level][row][lane] += s->acc[level - 1][row][lane];
                s->acc[level - 1][row][lane] = 0;
            }
        if (i & (LEVEL_STEP - 1) << (level * LEVEL_POWER))
            break;
    }
}

/* n is a multiple of ROWS * LANES. */
static float sum_f32(const float *x, int n)
{
    block_sums s = {0};
    for (int i = 0; i < n / (ROWS * LANES); i++) {
        for (int row = 0; row < ROWS; row++)
            for (int lane = 0; lane < LANES; lane++)
                s.acc[0][row][lane] += x[(i * ROWS + row) * LANES + lane];
        if ((i + 1) % LEVEL_STEP == 0)
            carry(&s, i + 1);
    }
    float sum = 0;
    for (int row = 0; row < ROWS; row++)
        for (int level = 1; level < LEVELS; level++)
            for (int lane = 0; lane < LANES; lane++)
                s.acc[0][row][lane] += s.acc[level][row][lane];
    for (int row = 1; row < ROWS; row++)
        for (int lane = 0; lane < LANES; lane++)
            s.acc[0][0][lane] += s.acc[0][row][lane];
    for (int lane = 0; lane < LANES; lane++)
        sum += s.acc[0][0][lane];
    return sum;
}

/* ---- the search ---- */

/* floor(a / b) as torch.div(rounding_mode="floor") computes it; b > 0. */
static float floor_div(float a, float b)
{
    float mod = fmodf(a, b), div = (a - mod) / b;
    if (mod < 0)
        div -= 1;
    float floored = floorf(div);
    return div - floored > 0.5f ? floored + 1 : floored;
}

static float clamped(float v, float most) { return v < 0 ? 0 : v > most ? most : v; }

/* density (integral of x^2 from begin to end). */
static float norm_of(float begin, float end, float density)
{
    return density * ((end * end * end - begin * begin * begin) / 3.0f);
}

/* The error when bins first .. last become the range of `codes` steps. */
static double error_of(const tc_torchao *t, int first, int last, double codes)
{
    double width = ((double)t->max - (double)t->min) / BINS,
           step = width * (last - first + 1) / codes;
    if (step == 0)
        return 0;
    float w = (float)width, s = (float)step, half = (float)(step / 2), norm[BINS];
    for (int i = 0; i < BINS; i++) {
        float begin = (float)(i - first) * w, end = begin + w, density = t->count[i] / w;
        float of_begin = clamped(floor_div(begin, s), (float)(codes - 1));
        float of_end = clamped(floor_div(end, s), (float)(codes - 1));
        norm[i] = 0.0f + norm_of(begin - (of_begin + 0.5f) * s, half, density);
        norm[i] += (of_end - of_begin - 1) * norm_of(-half, half, density);
        norm[i] += norm_of(-half, end - (of_end * s + half), density);
    }
    return (double)sum_f32(norm, BINS);
}

/* Moves the end that gives up more bins for a hundred-thousandth of the elements, until the error
 * grows. */
static void search(const tc_torchao *t, double codes, int *first, int *last)
{
    float below[BINS];
    double running = 0, total = (double)sum_f32(t->count, BINS), least = INFINITY, alpha = 0,
           beta = 1;
    for (int i = 0; i < BINS; i++)
        below[i] = (float)(running += (double)t->count[i]);
    *first = 0;
    *last = BINS - 1;
    while (alpha < beta) {
        double next_alpha = alpha + 1e-5, next_beta = beta - 1e-5;
        int l = *first, r = *last, a = *first, b = *last;
        while (l < *last && below[l] < (float)(next_alpha * total))
            l++;
        while (r > *first && below[r] > (float)(next_beta * total))
            r--;
        if (l - *first > *last - r) {
            a = l;
            alpha = next_alpha;
        } else {
            b = r;
            beta = next_beta;
        }
        if (a == *first && b == *last)
            continue;
        double error = error_of(t, a, b, codes);
        if (error > least)
            break;
        least = error;
        *first = a;
        *last = b;
    }
}

tc_grid ti_torchao_grid(const tc_torchao *t, const tc_setting *setting)
{
    if (t->min > t->max)
        return (tc_grid){1, 0}; /* an observer that never fired */
    int first = 0, last = BINS - 1;
    float width = (t->max - t->min) / (float)BINS, steps = (float)(setting->qmax - setting->qmin);
    if (width > 0)
        search(t, ldexp(1, tc_dtypes[setting->dtype].bits), &first, &last);
    float lo = t->min + width * (float)first, hi = t->min + width * (float)(last + 1),
          least = (float)setting->floor;
    lo = lo < 0 ? lo : 0;
    hi = hi > 0 ? hi : 0;
    float scale = setting->symmetric ? fmaxf(-lo, hi) / (steps / 2) : (hi - lo) / steps;
    scale = scale > least ? scale : least;
    if (setting->symmetric)
        return (tc_grid){(double)scale, 0};
    int64_t zero = setting->qmin - (int64_t)rintf(lo / scale);
    return (tc_grid){(double)scale, ti_max_i64(setting->qmin, ti_min_i64(setting->qmax, zero))};
}
