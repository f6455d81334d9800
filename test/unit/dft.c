/* SPDX-License-Identifier: Apache-2.0 */
/* dft.c -- matrices that are windowed Fourier transforms are found in every layout, and near ones are not; the kernel
 * that stands for them in C, beside exact sums. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "../../src/cortexm/kernels/tosac_transform.c"
#include "num/dft.h"

#define PI 3.14159265358979323846

typedef double shape(int n, int length);

static double hann(int n, int length) { return 0.5 - 0.5 * cos(2 * PI * n / length); }
static double hamming(int n, int length) { return 0.54 - 0.46 * cos(2 * PI * n / length); }
static double flat(int n, int length) { return n < length ? 1 : 0; }
static double centred(int n, int length) { return n < length / 8 || n >= length * 7 / 8 ? 0 : hann(n - length / 8, length * 3 / 4); }
/* Below zero at its ends. */
static double flat_top(int n, int length)
{
    double t = 2 * PI * n / length;
    return 0.21557895 - 0.41663158 * cos(t) + 0.277263158 * cos(2 * t) - 0.083578947 * cos(3 * t) + 0.006947368 * cos(4 * t);
}

typedef enum layout { HALVES, TURNS, COSINES, SINES } layout;

typedef struct matrix {
    const char *name;
    int points, length, first, bins;
    layout layout;
    shape *window;
    double phase, scale;
    bool plain;
} matrix;

static const matrix found[] = {
    {"one matrix", 256, 256, 0, 129, HALVES, hann, 0, 1, true},
    {"in turns", 256, 256, 0, 129, TURNS, hann, 0, 1, true},
    {"cosines", 256, 256, 0, 129, COSINES, hamming, 0, 1, true},
    {"sines", 256, 256, 0, 129, SINES, hamming, 0, 1, true},
    {"padded", 512, 400, 0, 257, HALVES, hann, 0, 1, true},
    {"some bins", 512, 400, 3, 60, HALVES, hann, 0, 1, true},
    {"some bins in turns", 512, 400, 7, 40, TURNS, hamming, 0, 1, true},
    {"some cosines", 512, 400, 5, 50, COSINES, hamming, 0, 1, true},
    {"some sines", 512, 400, 5, 50, SINES, hamming, 0, 1, true},
    {"no window", 240, 240, 0, 121, HALVES, flat, 0, 1, true},
    {"zeros around", 512, 512, 0, 257, HALVES, centred, 0, 1, true},
    {"below zero", 256, 256, 0, 129, HALVES, flat_top, 0, 1, true},
    {"400 points", 400, 400, 0, 201, HALVES, hann, 0, 1, true},
    {"odd", 375, 375, 0, 188, HALVES, hann, 0, 1, true},
    {"scaled", 320, 320, 0, 161, HALVES, hann, 0, 0.0123, true},
    {"phase", 256, 256, 0, 129, HALVES, hann, 0.3, 1, false},
    {"small", 16, 16, 0, 9, HALVES, hann, 0, 1, true},
    {"cosine transform", 80, 40, 0, 30, COSINES, flat, 0, 1, true},
};

static int rows_of(const matrix *m) { return m->layout == HALVES || m->layout == TURNS ? 2 * m->bins : m->bins; }

static float *make(const matrix *m)
{
    int rows = rows_of(m);
    float *w = calloc((size_t)(rows * m->length), sizeof *w);
    for (int r = 0; w && r < rows; r++) {
        bool sine = m->layout == SINES || (m->layout == HALVES && r >= m->bins) || (m->layout == TURNS && r % 2);
        int k = m->first + (m->layout == TURNS ? r / 2 : r % m->bins);
        for (int n = 0; n < m->length; n++) {
            double angle = 2 * PI * (double)((long)k * n % m->points) / m->points + m->phase;
            w[r * m->length + n] = (float)(m->scale * m->window(n, m->length) * (sine ? -sin(angle) : cos(angle)));
        }
    }
    return w;
}

static void test_found(tc_arena *arena, const matrix *m)
{
    float *w = make(m);
    int rows = rows_of(m);
    tc_dft d = {0};
    bool is = ti_dft_find(arena, w, rows, m->length, &d);
    CHECK_ROW(m->name, is && d.points == m->points && d.plain == m->plain && d.residual <= 0x1p-22);
    double off = 0;
    for (int r = 0; is && r < rows; r++)
        for (int n = 0; n < d.length; n++) {
            double angle = 2 * PI * (double)((long)d.bin[r] * n % d.points) / (double)d.points;
            double v = (double)d.window[n] * ((double)d.real[r] * cos(angle) - (double)d.imag[r] * sin(angle));
            off = fmax(off, fabs(v - (double)w[r * m->length + n]));
        }
    CHECK_ROW(m->name, off <= m->scale * TC_DFT_BOUND);
    free(w);
}

static double noise(void) { return rand() / (double)RAND_MAX - 0.5; }

/* Changes after which it is none. */
static void one_element(float *w, int rows, int length) { w[(rows / 3) * length + length / 2] += 1e-3f; }
static void some_noise(float *w, int rows, int length)
{
    for (int i = 0; i < rows * length; i++)
        w[i] += (float)(1e-5 * noise());
}
static void a_tilt(float *w, int rows, int length)
{
    for (int n = 0; n < length; n++)
        w[(rows / 5) * length + n] *= (float)(1 + 0.01 * n / length);
}
static void rows_apart(float *w, int rows, int length) /* a constant-Q transform: bins at powers */
{
    for (int r = 0; r < rows; r++)
        for (int n = 0; n < length; n++)
            w[r * length + n] = (float)(hann(n, length) * cos(2 * PI * exp2(r / 12.0) * n / length));
}
static void detuned(float *w, int rows, int length)
{
    for (int r = 0; r < rows; r++)
        for (int n = 0; n < length; n++)
            w[r * length + n] = (float)(hann(n, length) * cos(2 * PI * (r + (r > 4 ? 0.01 : 0)) * n / length));
}
static void at_random(float *w, int rows, int length)
{
    for (int i = 0; i < rows * length; i++)
        w[i] = (float)noise();
}
static void positive(float *w, int rows, int length)
{
    for (int i = 0; i < rows * length; i++)
        w[i] = (float)(noise() + 0.5);
}
static void not_finite(float *w, int rows, int length) { w[rows * length / 2] = INFINITY; }
static void all_zero(float *w, int rows, int length) { memset(w, 0, (size_t)(rows * length) * sizeof *w); }

static const struct {
    const char *name;
    void (*change)(float *w, int rows, int length);
} near[] = {{"one element", one_element}, {"noise", some_noise}, {"a tilt", a_tilt},       {"constant Q", rows_apart},
            {"detuned", detuned},         {"random", at_random}, {"positive", positive},   {"not finite", not_finite},
            {"zeros", all_zero}};

static void test_near(tc_arena *arena)
{
    for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
        const matrix *m = &found[0];
        float *w = make(m);
        tc_dft d;
        near[i].change(w, rows_of(m), m->length);
        CHECK_ROW(near[i].name, !ti_dft_find(arena, w, rows_of(m), m->length, &d));
        free(w);
    }
    const matrix odd = {"441 points", 441, 441, 0, 221, HALVES, hann, 0, 1, true}; /* 7 * 7 * 9 */
    float *w = make(&odd);
    tc_dft d;
    CHECK(!ti_dft_find(arena, w, rows_of(&odd), odd.length, &d));
    free(w);
}

static void circle(float *x, int n, int count)
{
    for (int j = 0; j < count; j++) {
        x[2 * j] = (float)cos(2 * PI * j / n);
        x[2 * j + 1] = (float)-sin(2 * PI * j / n);
    }
}

/* dB of three windows' transforms, the first and the last half outside of the line. */
static double kernel_db(int points, int length)
{
    int even = points % 2 == 0, m = even ? points / 2 : points, rows = 2 * (points / 2 + 1), extent = 2 * length;
    float *window = calloc((size_t)length, sizeof *window), *root = calloc((size_t)(2 * m), sizeof *root);
    float *turn = calloc((size_t)(m + 2), sizeof *turn), *x = calloc((size_t)extent, sizeof *x);
    float *out = calloc((size_t)(3 * rows), sizeof *out), *room = calloc((size_t)(4 * m + 4), sizeof *room);
    float *other = calloc((size_t)(3 * rows), sizeof *other), *factor = calloc((size_t)(2 * rows), sizeof *factor);
    float *bias = calloc((size_t)rows, sizeof *bias);
    int16_t *take = calloc((size_t)rows, sizeof *take), *bin = calloc((size_t)rows, sizeof *bin);
    double noise_sum = 0, sum = 0;
    for (int n = 0; n < length; n++)
        window[n] = (float)(hamming(n, length) / (even ? 2 : 1));
    circle(root, m, m);
    if (even)
        circle(turn, points, m / 2 + 1);
    for (int r = 0; r < rows; r++) {
        bin[r] = (int16_t)(r / 2);
        take[r] = (int16_t)(r % 2 ? -(2 + r / 2 * 2) : 1 + r / 2 * 2);
        factor[2 * r] = 0.75f;
        factor[2 * r + 1] = r % 2 ? 0.5f : -1;
        bias[r] = (float)r / 64;
    }
    for (int i = 0; i < extent; i++)
        x[i] = (float)noise();
    int stride = length, before = length / 2;
    tosac_transform p = {1, extent, 3, stride, before, points, length, window, root, turn,
                         {{rows, take, NULL, NULL}, {rows, bin, factor, bias}}};
    tosac_transform_f32(&p, x, out, other, room);
    for (int w = 0; w < 3; w++)
        for (int r = 0; r < rows; r++) {
            double re = 0, im = 0;
            for (int n = 0; n < length; n++) {
                int at = w * stride - before + n;
                double angle = 2 * PI * (double)((long)(r / 2) * n % points) / points;
                double v = at < 0 || at >= extent ? 0 : (double)window[n] * (even ? 2 : 1) * (double)x[at];
                re += v * cos(angle);
                im -= v * sin(angle);
            }
            double one = r % 2 ? -im : re, two = 0.75 * re + (double)factor[2 * r + 1] * im + (double)bias[r];
            noise_sum += pow((double)out[w * rows + r] - one, 2) + pow((double)other[w * rows + r] - two, 2);
            sum += one * one + two * two;
        }
    free(window), free(root), free(turn), free(x), free(out), free(room), free(other), free(factor), free(bias), free(take), free(bin);
    return 10 * log10(sum / noise_sum);
}

static void test_kernel(void)
{
    double least = 1000;
    int tried = 0;
    for (int n = 16; n <= 1024; n++) {
        int left = n;
        for (int f = 2; f <= 5; f++)
            while (left % f == 0)
                left /= f;
        if (left != 1)
            continue;
        double db = kernel_db(n, n > 20 ? n - 3 : n);
        least = db < least ? db : least;
        tried++;
    }
    CHECK(tried == 76);
    CHECK(least > 136); /* a sum of products in f32 of 512 terms: 130 */
}

int main(void)
{
    tc_arena arena;
    ti_arena_init(&arena);
    for (size_t i = 0; i < sizeof found / sizeof *found; i++)
        test_found(&arena, &found[i]);
    test_near(&arena);
    test_kernel();
    tc_dft d = {.points = 512, .rows = 514, .length = 512, .plain = true};
    CHECK(ti_dft_matrix_operations(&d) > 40 * ti_dft_quick_operations(&d));
    ti_arena_free(&arena);
    return check_done();
}
