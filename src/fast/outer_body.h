/* SPDX-License-Identifier: Apache-2.0 */
/* outer_body.h -- sums of outer products with vectors of WIDTH bytes, tiles of TALL rows or
 * WIDE by WIDE; outer.c includes it once per level, with NAME and TARGET. */

typedef float NAME(vec) __attribute__((vector_size(WIDTH)));
enum { NAME(LANES) = WIDTH / 4, NAME(BROAD) = 2 * WIDTH / 4 };

/* TALL or one rows by two vectors; with a second pair where there are two. */
TARGET TC_INLINE void NAME(tile)(float *sum, int64_t row, int tall, int64_t m, tc_outer p,
                                 tc_outer q, bool two)
{
    typedef NAME(vec) vec;
    enum { L = NAME(LANES) };
    vec left[TALL], right[TALL], x, y;
    for (int i = 0; i < tall; i++) {
        memcpy(&left[i], sum + i * row, sizeof x);
        memcpy(&right[i], sum + i * row + L, sizeof x);
    }
    for (int64_t c = 0; c < m; c++) {
        memcpy(&x, p.b, sizeof x);
        memcpy(&y, p.b + L, sizeof y);
        for (int i = 0; i < tall; i++) {
            left[i] += p.a[i] * x;
            right[i] += p.a[i] * y;
        }
        p.a += p.a_step;
        p.b += p.b_step;
        if (!two)
            continue;
        memcpy(&x, q.b, sizeof x);
        memcpy(&y, q.b + L, sizeof y);
        for (int i = 0; i < tall; i++) {
            left[i] += q.a[i] * x;
            right[i] += q.a[i] * y;
        }
        q.a += q.a_step;
        q.b += q.b_step;
    }
    for (int i = 0; i < tall; i++) {
        memcpy(sum + i * row, &left[i], sizeof x);
        memcpy(sum + i * row + L, &right[i], sizeof x);
    }
}

/* All rows of a panel two vectors broad. */
TARGET static void NAME(panel_of_one)(float *sum, int64_t row, int64_t n, int64_t m, tc_outer p)
{
    int64_t i = 0;
    for (; i + TALL <= n; i += TALL, p.a += TALL)
        NAME(tile)(sum + i * row, row, TALL, m, p, p, false);
    for (; i < n; i++, p.a++)
        NAME(tile)(sum + i * row, row, 1, m, p, p, false);
}

TARGET static void NAME(panel_of_two)(float *sum, int64_t row, int64_t n, int64_t m, tc_outer p,
                                      tc_outer q)
{
    int64_t i = 0;
    for (; i + TALL <= n; i += TALL, p.a += TALL, q.a += TALL)
        NAME(tile)(sum + i * row, row, TALL, m, p, q, true);
    for (; i < n; i++, p.a++, q.a++)
        NAME(tile)(sum + i * row, row, 1, m, p, q, true);
}

TARGET static void NAME(panel)(float *sum, int64_t row, int64_t n, int64_t m, tc_outer p,
                               tc_outer q)
{
    if (q.a)
        NAME(panel_of_two)(sum, row, n, m, p, q);
    else
        NAME(panel_of_one)(sum, row, n, m, p);
}

/* The last panel, narrower than two vectors: through zero-padded copies. */
TARGET static void NAME(rest)(float *sum, int64_t row, int64_t n, int64_t k, int64_t m, tc_outer p,
                              tc_outer q)
{
    enum { B = NAME(BROAD), DEEP = 32 };
    float near[TALL * B], copy[2][DEEP * B];
    for (int64_t i = 0; i < n; i += TALL) {
        int64_t tall = ti_min_i64(TALL, n - i);
        memset(near, 0, sizeof near);
        for (int64_t r = 0; r < tall; r++)
            memcpy(near + r * B, sum + (i + r) * row, (size_t)k * sizeof *near);
        for (int64_t c = 0; c < m; c += DEEP) {
            int64_t deep = ti_min_i64(DEEP, m - c);
            tc_outer side[2] = {p, q};
            for (int s = 0; s < (q.a ? 2 : 1); s++) {
                memset(copy[s], 0, sizeof copy[s]);
                for (int64_t d = 0; d < deep; d++)
                    memcpy(copy[s] + d * B, side[s].b + (c + d) * side[s].b_step,
                           (size_t)k * sizeof *near);
                side[s].a += c * side[s].a_step + i;
                side[s].b = copy[s];
                side[s].b_step = B;
            }
            NAME(panel)(near, B, tall, deep, side[0], side[1]);
        }
        for (int64_t r = 0; r < tall; r++)
            memcpy(sum + (i + r) * row, near + r * B, (size_t)k * sizeof *near);
    }
}

TARGET static void NAME(add)(float *sum, int64_t row, int64_t n, int64_t k, int64_t m, tc_outer p,
                             tc_outer q)
{
    enum { B = NAME(BROAD) };
    for (; k >= B; k -= B, sum += B) {
        NAME(panel)(sum, row, n, m, p, q);
        p.b += B;
        if (q.b)
            q.b += B;
    }
    if (k)
        NAME(rest)(sum, row, n, k, m, p, q);
}

/* WIDE by WIDE sums of one vector of lanes, over m columns. */
TARGET TC_INLINE void NAME(lanes_tile)(float *sum, int64_t lanes, int64_t k, int high, int broad,
                                       int64_t m, const float *a, const float *b, int64_t step,
                                       int64_t apart)
{
    typedef NAME(vec) vec;
    vec s[WIDE][WIDE], x, y[WIDE];
    for (int i = 0; i < high; i++)
        for (int j = 0; j < broad; j++)
            memcpy(&s[i][j], sum + (i * k + j) * lanes, sizeof x);
    for (int64_t c = 0; c < m; c++, a += step, b += step) {
        for (int j = 0; j < broad; j++)
            memcpy(&y[j], b + j * apart, sizeof x);
        for (int i = 0; i < high; i++) {
            memcpy(&x, a + i * apart, sizeof x);
            for (int j = 0; j < broad; j++)
                s[i][j] += x * y[j];
        }
    }
    for (int i = 0; i < high; i++)
        for (int j = 0; j < broad; j++)
            memcpy(sum + (i * k + j) * lanes, &s[i][j], sizeof x);
}

/* All sums of one vector of lanes, or those from the diagonal on; some columns at a time, to stay
 * in cache. */
TARGET static void NAME(lanes_all)(float *sum, int64_t lanes, int64_t k, int64_t m, const float *a,
                                   const float *b, int64_t step, int64_t apart, bool half)
{
    enum { DEEP = 16 };
    for (int64_t c = 0; c < m; c += DEEP, a += DEEP * step, b += DEEP * step) {
        int64_t deep = ti_min_i64(DEEP, m - c);
        for (int64_t i = 0; i < k; i += WIDE)
            for (int64_t j = half ? i : 0; j < k; j += WIDE) {
                float *to = sum + (i * k + j) * lanes;
                const float *x = a + i * apart, *y = b + j * apart;
                int high = (int)ti_min_i64(WIDE, k - i), broad = (int)ti_min_i64(WIDE, k - j);
                if (high == WIDE && broad == WIDE)
                    NAME(lanes_tile)(to, lanes, k, WIDE, WIDE, deep, x, y, step, apart);
                else if (high == WIDE)
                    for (int e = 0; e < broad; e++)
                        NAME(lanes_tile)(to + e * lanes, lanes, k, WIDE, 1, deep, x, y + e * apart,
                                         step, apart);
                else
                    for (int e = 0; e < high * broad; e++)
                        NAME(lanes_tile)(to + (e / broad * k + e % broad) * lanes, lanes, k, 1, 1,
                                         deep, x + e / broad * apart, y + e % broad * apart, step,
                                         apart);
            }
    }
}

TARGET static void NAME(add_lanes)(float *sum, int64_t lanes, int64_t k, int64_t m, const float *a,
                                   const float *b, int64_t step, int64_t apart, bool half)
{
    enum { L = NAME(LANES) };
    int64_t l = 0;
    for (; l + L <= lanes; l += L)
        NAME(lanes_all)(sum + l, lanes, k, m, a + l, b + l, step, apart, half);
    for (; l < lanes; l++)
        add_lane(sum + l, lanes, k, m, a + l, b + l, step, apart, half);
}
#undef NAME
#undef TARGET
#undef WIDTH
#undef TALL
#undef WIDE
