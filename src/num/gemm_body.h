/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_body.h -- the matrix product of elements T in vectors of BYTES; gemm.c includes it once per
 * working type and level. */

typedef T NAME(vec) __attribute__((vector_size(BYTES)));
enum { NAME(LANES) = BYTES / sizeof(T), NAME(WIDTH) = 2 * NAME(LANES) };

/* Panels of ROWS rows: out[p * ROWS + r] = a[r, p]; rows past m are zero. */
TARGET static void NAME(pack_a)(int64_t m, int64_t k, const T *a, int64_t row, int64_t col, T *out)
{
    for (int64_t p = 0; p < k; p++)
        for (int64_t r = 0; r < ROWS; r++)
            out[p * ROWS + r] = r < m ? a[r * row + p * col] : 0;
}

/* One panel of WIDTH columns: out[p * WIDTH + j] = b[p, j]; columns past n are zero. */
TARGET static void NAME(pack_b)(int64_t n, int64_t k, const T *b, int64_t row, int64_t col, T *out)
{
    enum { W = NAME(WIDTH) };
    if (n >= W && col == 1) {
        for (int64_t p = 0; p < k; p++)
            memcpy(out + p * W, b + p * row, W * sizeof *out);
        return;
    }
    for (int64_t j = 0; j < W; j++)
        for (int64_t p = 0; p < k; p++)
            out[p * W + j] = j < n ? b[p * row + j * col] : 0;
}

/* sum[ROWS][WIDTH] of one pair of panels. */
TARGET static void NAME(multiply)(int64_t k, const T *a, const T *b, T *sum)
{
    enum { L = NAME(LANES) };
    typedef NAME(vec) vec;
    vec s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, t0 = {0}, t1 = {0}, t2 = {0}, t3 = {0};
    for (int64_t p = 0; p < k; p++, a += ROWS, b += 2 * L) {
        vec left, right;
        memcpy(&left, b, sizeof left);
        memcpy(&right, b + L, sizeof right);
        s0 += a[0] * left;
        t0 += a[0] * right;
        s1 += a[1] * left;
        t1 += a[1] * right;
        s2 += a[2] * left;
        t2 += a[2] * right;
        s3 += a[3] * left;
        t3 += a[3] * right;
    }
    const vec all[] = {s0, t0, s1, t1, s2, t2, s3, t3};
    memcpy(sum, all, sizeof all);
}

/* c += a b for packed b of n columns, k rows. */
TARGET static void NAME(row_panels)(int64_t m, int64_t n, int64_t k, const T *a, int64_t a_row,
                                    int64_t a_col, const T *packed_b, T *packed_a, T *c,
                                    int64_t c_row)
{
    enum { W = NAME(WIDTH) };
    T sum[ROWS * NAME(WIDTH)];
    for (int64_t i = 0; i < m; i += ROWS) {
        NAME(pack_a)(m - i, k, a + i * a_row, a_row, a_col, packed_a);
        for (int64_t j = 0; j < n; j += W) {
            NAME(multiply)(k, packed_a, packed_b + j * k, sum);
            int64_t rows = ti_min_i64(ROWS, m - i), columns = ti_min_i64(W, n - j);
            for (int64_t r = 0; r < rows; r++)
                for (int64_t q = 0; q < columns; q++)
                    c[(i + r) * c_row + j + q] += sum[r * W + q];
        }
    }
}

TARGET static void NAME(product)(tc_arena *scratch, int64_t m, int64_t n, int64_t k, const T *a,
                                 int64_t a_row, int64_t a_col, const T *b, int64_t b_row,
                                 int64_t b_col, T *c, int64_t c_row)
{
    enum { W = NAME(WIDTH) };
    tc_mark mark = ti_arena_mark(scratch);
    int64_t depth = ti_min_i64(k, TC_GEMM_DEPTH), wide = ti_min_i64((n + W - 1) / W * W, COLUMNS);
    T *packed_a = ti_arena_raw(scratch, (size_t)(depth * ROWS) * sizeof(T));
    T *packed_b = ti_arena_raw(scratch, (size_t)(depth * wide) * sizeof(T));
    for (int64_t j = 0; m && j < n; j += COLUMNS)
        for (int64_t p = 0; p < k; p += TC_GEMM_DEPTH) {
            int64_t columns = ti_min_i64(COLUMNS, n - j), rows = ti_min_i64(TC_GEMM_DEPTH, k - p);
            const T *corner = b + p * b_row + j * b_col;
            for (int64_t q = 0; q < columns; q += W)
                NAME(pack_b)
                (columns - q, rows, corner + q * b_col, b_row, b_col, packed_b + q * rows);
            NAME(row_panels)(m, columns, rows, a + p * a_col, a_row, a_col, packed_b, packed_a,
                             c + j, c_row);
        }
    ti_arena_rewind(scratch, mark);
}

#undef NAME
#undef T
#undef BYTES
#undef TARGET
