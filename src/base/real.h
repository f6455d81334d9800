/* SPDX-License-Identifier: Apache-2.0 */
/* real.h -- functions of f64, the same bits on every machine: plain arithmetic and square roots.
 *
 * The C libraries' differ in their last bits, and what is rounded after them would.  Within 0.52
 * units in the last place of the exact result, subnormal ones within 0.75 (test/unit/real.c); NaN,
 * infinities, zeros and their signs as in C's Annex F.  Slower than a C library's by some ten
 * times. */
#ifndef TC_REAL_H
#define TC_REAL_H

#include <math.h>

#include "base.h"

double ti_exp(double x), ti_exp2(double x), ti_expm1(double x);
double ti_log(double x), ti_log2(double x), ti_log10(double x), ti_log1p(double x);
double ti_pow(double x, double y);
double ti_sinh(double x), ti_cosh(double x), ti_tanh(double x);
double ti_asinh(double x), ti_acosh(double x), ti_atanh(double x);
double ti_sin(double x), ti_cos(double x), ti_tan(double x);
double ti_asin(double x), ti_acos(double x), ti_atan(double x), ti_atan2(double y, double x);
double ti_erf(double x), ti_erfc(double x);
double ti_hypot(double x, double y);

/* x y + z, rounded once; products in f64's range. */
double ti_fma(double x, double y, double z);
float ti_fmaf(float x, float y, float z);

#endif
