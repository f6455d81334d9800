/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_depthwise.h -- DEPTHWISE_CONV2D of `element` by int8 weights, one result channel for each
 * channel: all but the sums of some channels, which the file that includes it has by the
 * instructions of its core.
 *
 * Some channels at a time over the whole image.  A window's taps are rows y0 .. y1 and columns
 * x0 .. x1 inside the image, and others outside, which count as x_zero. */

#if TOSAC_ISA == TOSAC_ISA_C

typedef tosac_sums values;

TOSAC_INLINE values fill(int32_t v) { return (values){v, v, v, v}; }
TOSAC_INLINE values load(const element *p) { return (values){p[0], p[1], p[2], p[3]}; }
TOSAC_INLINE values weights(const int8_t *p) { return (values){p[0], p[1], p[2], p[3]}; }
TOSAC_INLINE values load_some(const element *p, const block *b)
{
    const int32_t n = b->channels;
    return (values){p[0], n > 1 ? p[1] : 0, n > 2 ? p[2] : 0, n > 3 ? p[3] : 0};
}
TOSAC_INLINE values weights_some(const int8_t *p, const block *b)
{
    const int32_t n = b->channels;
    return (values){p[0], n > 1 ? p[1] : 0, n > 2 ? p[2] : 0, n > 3 ? p[3] : 0};
}

TOSAC_INLINE sums add(sums s, values x, values w)
{
    return (sums){tosac_add(s.v0, x.v0 * w.v0), tosac_add(s.v1, x.v1 * w.v1),
                  tosac_add(s.v2, x.v2 * w.v2), tosac_add(s.v3, x.v3 * w.v3)};
}

#endif

#if TOSAC_ISA != TOSAC_ISA_MVE

TOSAC_INLINE void store(const tosac_window *p, element *to, sums s, const block *b)
{
    to[0] = (element)tosac_requantize1(&p->q, s.v0, &b->by[0]);
    if (b->channels > 1)
        to[1] = (element)tosac_requantize1(&p->q, s.v1, &b->by[1]);
    if (b->channels > 2)
        to[2] = (element)tosac_requantize1(&p->q, s.v2, &b->by[2]);
    if (b->channels > 3)
        to[3] = (element)tosac_requantize1(&p->q, s.v3, &b->by[3]);
}

#endif

/* ---- windows ---- */

/* Taps first .. last of `kernel`, `dilation` apart from `at` on, that are inside `extent`. */
typedef struct range {
    int32_t first, last;
} range;

static range inside(int32_t at, int32_t kernel, int32_t dilation, int32_t extent)
{
    range r = {0, kernel};
    if (at < 0)
        r.first = tosac_min((-at + dilation - 1) / dilation, kernel);
    if (at + (kernel - 1) * dilation >= extent)
        r.last = at >= extent ? r.first : tosac_max((extent - 1 - at) / dilation + 1, r.first);
    return r;
}

static int32_t is_same(range a, range b) { return a.first == b.first && a.last == b.last; }

/* Sums that windows begin with, the taps outside in them: the same for many windows. */
typedef struct starts {
    range ys, xs[4];
    sums s[4];
    int32_t n, next;
} starts;

static sums start_of(const tosac_window *p, range ys, range xs, const block *b)
{
    sums s = b->bias;
    const int8_t *w = b->w;
    for (int32_t kh = 0; kh < p->kernel_h; kh++)
        for (int32_t kw = 0; kw < p->kernel_w; kw++, w += p->in_c)
            if (kh < ys.first || kh >= ys.last || kw < xs.first || kw >= xs.last)
                s = add(s, fill(p->x_zero), weights_some(w, b));
    return s;
}

static const sums *find_start(const tosac_window *p, starts *all, range ys, range xs,
                              const block *b)
{
    if (!is_same(all->ys, ys))
        all->n = all->next = 0;
    all->ys = ys;
    for (int32_t i = 0; i < all->n; i++)
        if (is_same(all->xs[i], xs))
            return &all->s[i];
    const int32_t at = all->next;
    all->next = (at + 1) & 3;
    all->n = tosac_min(all->n + 1, 4);
    all->xs[at] = xs;
    all->s[at] = start_of(p, ys, xs, b);
    return &all->s[at];
}

/* Rows of taps that are inside, `columns` each; x and w: the first. */
TOSAC_INLINE sums taps(const tosac_window *p, const element *x, const int8_t *w, int32_t rows,
                       int32_t columns, sums s, const block *b, int full)
{
    const int32_t c = p->in_c, step = p->dilation_w * c, next = p->dilation_h * p->in_w * c;
    for (; rows > 0; rows--, x += next, w += (p->kernel_w - columns) * c) {
        const element *from = x;
        for (int32_t n = columns; n > 0; n--, w += c, from += step)
            s = full ? add(s, load(from), weights(w)) : add(s, load_some(from, b), weights_some(w, b));
    }
    return s;
}

/* ---- windows whose columns are all inside ---- */

#if HAS_PAIRS

/* Taps two at a time: their addresses and their weights. */
enum { PAIRS = 13, FEW = 4 };
typedef struct pair {
    int32_t first, second;
    pair_weights w;
} pair;
typedef struct pairs {
    pair of[PAIRS];
    int32_t n; /* 0: too many, fewer channels than LANES, few windows, or sums too large */
} pairs;

static void pair_up(const tosac_window *p, const block *b, pairs *all)
{
    const int32_t taps = p->kernel_h * p->kernel_w, c = p->in_c;
    int32_t fit = 1;
    all->n = 0;
    if (taps > 2 * PAIRS || b->channels < LANES || p->out_h * p->out_w < FEW)
        return;
    for (int32_t kh = 0, k = 0; kh < p->kernel_h; kh++)
        for (int32_t kw = 0; kw < p->kernel_w; kw++, k++) {
            pair *to = &all->of[k / 2];
            const int32_t at = (kh * p->dilation_h * p->in_w + kw * p->dilation_w) * c;
            *(k % 2 ? &to->second : &to->first) = at;
            if (k % 2 == 0)
                to->second = at;
            fit &= put_weights(&to->w, b->w + k * c, k % 2);
        }
    all->n = fit ? (taps + 1) / 2 : 0;
}

TOSAC_INLINE sums add_pairs(const pairs *all, const element *x, sums s)
{
    for (const pair *t = all->of, *end = t + all->n; t < end; t++)
        s = add_pair(s, x + t->first, x + t->second, &t->w);
    return s;
}

#else

typedef struct pairs {
    int32_t n;
} pairs;

static void pair_up(const tosac_window *p, const block *b, pairs *all)
{
    (void)p, (void)b;
    all->n = 0;
}
TOSAC_INLINE sums add_pairs(const pairs *all, const element *x, sums s)
{
    (void)all, (void)x;
    return s;
}

#endif

/* n adjacent windows; rows of taps that are inside, from x and w on; start: the initial sums of
 * all. */
static void line(const tosac_window *p, const element *x, const int8_t *w, int32_t rows, int32_t n,
                 const sums *start, const block *b, const pairs *all, element *out)
{
    const sums first = *start;
    const int32_t step = p->stride_w * p->in_c, next = p->out_c;
    const int32_t paired = all->n && rows == p->kernel_h, full = b->channels == LANES;
    for (; n > 0; n--, x += step, out += next)
        store(p, out,
              paired ? add_pairs(all, x, first)
              : full ? taps(p, x, w, rows, p->kernel_w, first, b, 1)
                     : taps(p, x, w, rows, p->kernel_w, first, b, 0),
              b);
}

/* The window at column `left`, partly outside. */
static void edge(const tosac_window *p, const element *x, range ys, int32_t top, int32_t left,
                 starts *seen, const block *b, element *out)
{
    const range xs = inside(left, p->kernel_w, p->dilation_w, p->in_w);
    const int32_t rows = ys.last - ys.first, columns = xs.last - xs.first;
    const element *from = x + (top + left + xs.first * p->dilation_w) * p->in_c;
    const int8_t *w = b->w + (ys.first * p->kernel_w + xs.first) * p->in_c;
    sums s = *find_start(p, seen, ys, xs, b);
    if (rows > 0 && columns > 0)
        s = b->channels == LANES ? taps(p, from, w, rows, columns, s, b, 1)
                                 : taps(p, from, w, rows, columns, s, b, 0);
    store(p, out, s, b);
}

static void image(const tosac_window *p, const element *x, const block *b, element *out)
{
    /* windows first .. last have all their columns inside */
    const int32_t end = p->in_w - (p->kernel_w - 1) * p->dilation_w + p->left;
    const int32_t first = tosac_min((p->left + p->stride_w - 1) / p->stride_w, p->out_w);
    const int32_t last = tosac_clip(end > 0 ? (end - 1) / p->stride_w + 1 : 0, first, p->out_w);
    const range all_columns = {0, p->kernel_w};
    starts seen = {.n = 0};
    pairs all;
    pair_up(p, b, &all);
    for (int32_t oy = 0; oy < p->out_h; oy++, out += p->out_w * p->out_c) {
        const int32_t y = oy * p->stride_h - p->top;
        const range ys = inside(y, p->kernel_h, p->dilation_h, p->in_h);
        const int32_t top = (y + ys.first * p->dilation_h) * p->in_w;
        for (int32_t ox = 0; ox < first; ox++)
            edge(p, x, ys, top, ox * p->stride_w - p->left, &seen, b, out + ox * p->out_c);
        if (first < last)
            line(p, x + (top + first * p->stride_w - p->left) * p->in_c,
                 b->w + ys.first * p->kernel_w * p->in_c, ys.last - ys.first, last - first,
                 find_start(p, &seen, ys, all_columns, b), b, &all, out + first * p->out_c);
        for (int32_t ox = last; ox < p->out_w; ox++)
            edge(p, x, ys, top, ox * p->stride_w - p->left, &seen, b, out + ox * p->out_c);
    }
}

static void convolve(const tosac_window *p, const element *x, const int8_t *w,
                     const int32_t *bias, element *out)
{
    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t c = 0; c < p->in_c; c += LANES) {
            const block b = block_at(p, w, bias, c);
            image(p, x + c, &b, out + c);
        }
        x += p->in_h * p->in_w * p->in_c;
        out += p->out_h * p->out_w * p->out_c;
    }
}
