/* SPDX-License-Identifier: Apache-2.0 */
/* norm_body.h -- normalization in working type T; norm.c includes it per type.
 * Weight and bias are NULL where absent: 1 and 0. */

/* Mean and 1 / sqrt(variance + eps) of n elements; 0 where the sum of their squares overflows T, so
 * that a row is 0, as with f32 arithmetic. */
typedef struct NAME(moments) {
    double mean, scale;
} NAME(moments);

static inline __attribute__((always_inline)) NAME(moments)
    NAME(moments_of)(const T *x, int64_t n, double eps)
{
    double mean = NAME(ti_sum)(x, n, 0) / (double)n;
    double squares = NAME(ti_sum_squares)(x, n, mean);
    return (NAME(moments)){mean, isinf((T)squares) ? 0 : 1 / sqrt(squares / (double)n + eps)};
}

/* y = (x - mean) * scale + bias; the difference first, so that cancellation is exact, with the part
 * of the mean that does not fit T. */
TC_LANES_BODY NAME(line)(const T *x, int64_t n, double mean, double scale, double bias, T *y)
{
    T middle = (T)mean, rest = (T)(mean - (double)middle), factor = (T)scale, shift = (T)bias;
    for (int64_t i = 0; i < n; i++)
        y[i] = (x[i] - middle - rest) * factor + shift;
}

/* The same with a weight and a bias for each element. */
TC_LANES_BODY NAME(line_by)(const T *restrict x, int64_t n, double mean, double scale,
                            const T *restrict weight, const T *restrict bias, T *restrict y)
{
    T middle = (T)mean, rest = (T)(mean - (double)middle), factor = (T)scale;
    for (int64_t i = 0; i < n; i++)
        y[i] = ((x[i] - middle - rest) * factor + 0) * weight[i] + bias[i];
}

TC_LANES_BODY NAME(batch_norm)(int64_t batch, int64_t channels, int64_t inner, const T *x,
                             const T *weight, const T *bias, const T *mean, const T *variance,
                             double eps, T *y)
{
    for (int64_t n = 0; n < batch; n++)
        for (int64_t c = 0; c < channels; c++, x += inner, y += inner) {
            double scale = (weight ? (double)weight[c] : 1) / sqrt((double)variance[c] + eps);
            NAME(line)(x, inner, (double)mean[c], scale, bias ? (double)bias[c] : 0, y);
        }
}

TC_LANES_BODY NAME(layer_norm)(int64_t rows, int64_t n, const T *x, const T *weight, const T *bias,
                             double eps, T *y)
{
    for (int64_t r = 0; r < rows; r++, x += n, y += n) {
        NAME(moments) m = NAME(moments_of)(x, n, eps);
        if (weight && bias) {
            NAME(line_by)(x, n, m.mean, m.scale, weight, bias, y);
            continue;
        }
        NAME(line)(x, n, m.mean, m.scale, 0, y);
        for (int64_t i = 0; weight && i < n; i++)
            y[i] *= weight[i];
        for (int64_t i = 0; bias && i < n; i++)
            y[i] += bias[i];
    }
}

/* If the sum of squares overflows T the row is zeros, as in PyTorch. */
TC_LANES_BODY NAME(rms_norm)(int64_t rows, int64_t n, const T *x, const T *weight, double eps, T *y)
{
    for (int64_t r = 0; r < rows; r++, x += n, y += n) {
        T squares = (T)NAME(ti_sum_squares)(x, n, 0);
        double scale = 1 / sqrt((double)squares / (double)n + eps);
        NAME(line)(x, n, 0, scale, 0, y);
        for (int64_t i = 0; weight && i < n; i++)
            y[i] *= weight[i];
    }
}

TC_LANES_BODY NAME(group_norm)(int64_t batch, int64_t groups, int64_t channels, int64_t inner,
                             const T *x, const T *weight, const T *bias, double eps, T *y)
{
    for (int64_t n = 0; n < batch; n++)
        for (int64_t g = 0; g < groups; g++) {
            NAME(moments) m = NAME(moments_of)(x, channels * inner, eps);
            for (int64_t c = g * channels; c < (g + 1) * channels; c++, x += inner, y += inner) {
                double scale = m.scale * (weight ? (double)weight[c] : 1);
                NAME(line)(x, inner, m.mean, scale, bias ? (double)bias[c] : 0, y);
            }
        }
}

#undef NAME
#undef T
