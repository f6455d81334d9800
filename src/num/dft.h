/* SPDX-License-Identifier: Apache-2.0 */
/* dft.h -- constant matrices that are windowed Fourier transforms, found by their numbers.
 *
 *   row r, column n:  w[n] (p[r] cos(2 pi k[r] n / N) - q[r] sin(2 pi k[r] n / N)),  n < length
 *
 * so that a row times x is p Re X[k] + q Im X[k] of X[k] = sum over n of w[n] x[n] e^(-2 pi i k n / N).  Real and
 * imaginary parts follow each other by halves or in turns, or there are only those; of all bins or some; of any
 * phase and size.  Rows of zeros have p = q = 0. */
#ifndef TC_DFT_H
#define TC_DFT_H

#include "../base/arena.h"

/* No weight is farther from this form than TC_DFT_BOUND of its row's largest possible one: sixteen times the
 * rounding of an f32, a five hundredth of a step of 8-bit weights, half a step of 19-bit ones. */
#define TC_DFT_BOUND 0x1p-20

typedef struct tc_dft {
    int64_t points; /* N: 2, 3 and 5 are its only prime factors */
    int64_t rows, length;
    const float *window;    /* length */
    const bool *open;       /* by element of the window: all rows are 0 there, whatever it is; it is given as 0 */
    const int32_t *bin;     /* by row: k, 0 .. N / 2 */
    const float *real, *imag; /* by row: p, q */
    bool plain;             /* every p and q is 0, 1 or -1, and one of each row's is 0 */
    double residual;        /* the largest distance, in the unit of TC_DFT_BOUND */
} tc_dft;

/* w: [rows, length], in rows.  What is found is in `arena`; false: it is no such matrix, or of more than TC_DFT_MOST
 * points. */
enum { TC_DFT_LEAST = 16, TC_DFT_MOST = 8192 };
bool ti_dft_find(tc_arena *arena, const float *w, int64_t rows, int64_t length, tc_dft *out);

/* Multiplications and additions of the transform of one window: by a Fourier transform of its points, and by the
 * matrix. */
double ti_dft_quick_operations(const tc_dft *d);
double ti_dft_matrix_operations(const tc_dft *d);

#endif
