/* SPDX-License-Identifier: Apache-2.0 */
/* resize_body.h -- weighted resampling of elements T; resize.c includes it per working type. */

/* One output line: the last axis, of one input line. */
static T NAME(along)(const axis *a, const T *line, int64_t o)
{
    T sum = 0;
    for (int i = 0; i < a->taps; i++)
        sum += (T)a->weight[o * a->taps + i] * line[a->place[o * a->taps + i]];
    return sum;
}

static void NAME(resample)(int64_t planes, const axis a[3], const T *x, T *y)
{
    for (int64_t p = 0; p < planes; p++, x += a[0].in * a[1].in * a[2].in)
        for (int64_t d = 0; d < a[0].out; d++)
            for (int64_t h = 0; h < a[1].out; h++, y += a[2].out)
                for (int64_t w = 0; w < a[2].out; w++) {
                    T sum = 0;
                    for (int i = 0; i < a[0].taps; i++) {
                        T part = 0;
                        for (int j = 0; j < a[1].taps; j++) {
                            int64_t line = a[0].place[d * a[0].taps + i] * a[1].in +
                                           a[1].place[h * a[1].taps + j];
                            part += (T)a[1].weight[h * a[1].taps + j] *
                                    NAME(along)(&a[2], x + line * a[2].in, w);
                        }
                        sum += (T)a[0].weight[d * a[0].taps + i] * part;
                    }
                    y[w] = sum;
                }
}

#undef NAME
#undef T
