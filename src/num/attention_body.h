/* SPDX-License-Identifier: Apache-2.0 */
/* attention_body.h -- attention in working type T; attention.c includes it per type. */

/* Scale, mask and normalize the scores of query row `row`. */
static void NAME(weigh)(const plan *p, int64_t row, const T *mask, const uint8_t *allowed, T *score)
{
    T scale = (T)p->scale;
    bool any = false;
    for (int64_t j = 0; j < p->keys; j++)
        score[j] *= scale;
    for (int64_t j = 0; mask && j < p->keys; j++)
        score[j] += mask[j * p->mask_column];
    for (int64_t j = 0; allowed && j < p->keys; j++)
        score[j] = allowed[j * p->mask_column] ? score[j] : -INFINITY;
    for (int64_t j = row + 1; p->causal && j < p->keys; j++)
        score[j] = -INFINITY;
    for (int64_t j = 0; j < p->keys; j++)
        any |= score[j] != -INFINITY;
    if (any)
        NAME(ti_softmax_row)(score, p->keys);
    else
        memset(score, 0, (size_t)p->keys * sizeof *score);
}

static void NAME(attention)(tc_arena *scratch, const plan *p, const T *q, const T *k, const T *v,
                            const T *mask, const uint8_t *allowed, T *y)
{
    int64_t count = 1;
    for (int i = 0; i < p->rank; i++)
        count *= p->batch[i];
    T *score = ti_arena_raw(scratch, (size_t)(BLOCK * p->keys) * sizeof *score);
    memset(y, 0, (size_t)(count * p->rows * p->out) * sizeof *y);
    for (int64_t n = 0; n < count; n++) {
        const T *query = q + place(p, p->q, 1, n), *key = k + place(p, p->k, p->share_k, n);
        const T *value = v + place(p, p->v, p->share_v, n);
        int64_t at = place(p, p->mask, 1, n);
        for (int64_t first = 0; first < p->rows; first += BLOCK) {
            int64_t rows = ti_min_i64(BLOCK, p->rows - first);
            T *out = y + (n * p->rows + first) * p->out;
            memset(score, 0, (size_t)(rows * p->keys) * sizeof *score);
            NAME(ti_gemm)
            (scratch, rows, p->keys, p->width, query + first * p->width, p->width, 1, key, 1,
             p->width, score, p->keys);
            for (int64_t r = 0; r < rows; r++) {
                int64_t line = at + (first + r) * p->mask_row;
                NAME(weigh)
                (p, first + r, mask ? mask + line : NULL, allowed ? allowed + line : NULL,
                 score + r * p->keys);
            }
            NAME(ti_gemm)(scratch, rows, p->out, p->keys, score, p->keys, 1, value, p->out, 1, out,
                          p->out);
        }
    }
}

#undef NAME
#undef T
