/* SPDX-License-Identifier: Apache-2.0 */
/* pool_body.h -- pooling of elements T; pool.c includes it once per working type.
 * Acc is what sums are kept in, MEAN(sum, n) their quotient, IS_NAN(v) whether v is NaN. */

/* The largest of part p of a plane and where it is, the first of equals; NaN is the largest.
 * A part without elements gives `lowest`. */
static void NAME(max_of)(const T *x, const tc_window *w, const part *p, T lowest, T *top,
                         int64_t *index)
{
    T best = lowest;
    int64_t at = (p->lo[0] * w->in[1] + p->lo[1]) * w->in[2] + p->lo[2];
    for (int64_t d = p->lo[0]; d < p->hi[0]; d += w->dilation[0])
        for (int64_t h = p->lo[1]; h < p->hi[1]; h += w->dilation[1])
            for (int64_t i = p->lo[2]; i < p->hi[2]; i += w->dilation[2]) {
                int64_t place = (d * w->in[1] + h) * w->in[2] + i;
                T v = x[place];
                if (v > best || IS_NAN(v)) {
                    best = v;
                    at = place;
                }
            }
    *top = best;
    *index = at;
}

static void NAME(max_pool)(const tc_window *w, part_rule *rule, int64_t planes, T lowest,
                           const T *x, T *y, int64_t *index)
{
    for (int64_t n = 0; n < planes; n++, x += ti_window_plane(w))
        for (int64_t d = 0; d < w->out[0]; d++)
            for (int64_t h = 0; h < w->out[1]; h++)
                for (int64_t i = 0; i < w->out[2]; i++) {
                    part p = rule(w, (int64_t[]){d, h, i});
                    int64_t place;
                    NAME(max_of)(x, w, &p, lowest, y++, &place);
                    if (index)
                        *index++ = place;
                }
}

static Acc NAME(sum_of)(const T *x, const tc_window *w, const part *p)
{
    Acc sum = 0;
    for (int64_t d = p->lo[0]; d < p->hi[0]; d++)
        for (int64_t h = p->lo[1]; h < p->hi[1]; h++)
            for (int64_t i = p->lo[2]; i < p->hi[2]; i++)
                sum += (Acc)x[(d * w->in[1] + h) * w->in[2] + i];
    return sum;
}

/* divisor 0: the part's size. */
static void NAME(avg_pool)(const tc_window *w, part_rule *rule, int64_t divisor, int64_t planes,
                           const T *x, T *y)
{
    for (int64_t n = 0; n < planes; n++, x += ti_window_plane(w))
        for (int64_t d = 0; d < w->out[0]; d++)
            for (int64_t h = 0; h < w->out[1]; h++)
                for (int64_t i = 0; i < w->out[2]; i++) {
                    part p = rule(w, (int64_t[]){d, h, i});
                    int64_t by = divisor ? divisor : p.divisor;
                    Acc sum = NAME(sum_of)(x, w, &p);
                    *y++ = by ? (T)MEAN(sum, by) : 0;
                }
}

#undef NAME
#undef T
