/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_conv2d.h -- CONV2D and fully connected layers of `element` by int8 weights to `result`: all
 * but the loads, and MVE's products, which the file that includes it has.  RAW: sums are not
 * rescaled; WIDE: bias and sums have 48 bits, sums without the bias 32.
 *
 * The pixels of a window are copied to a column, unless they are contiguous; a column times the
 * rows of the weights is a pixel of the result.  Pixels outside the image are x_zero, which the
 * bias compensates. */

#if TOSAC_ISA == TOSAC_ISA_MVE && defined(__GNUC__)

static inline void fill(element *to, int32_t v, int32_t n)
{
    const int32x4_t all =
        sizeof *to == 1 ? (int32x4_t)vdupq_n_s8((int8_t)v) : (int32x4_t)vdupq_n_s16((int16_t)v);
    n *= (int32_t)sizeof *to;
    __asm__ volatile("wlstp.8 lr, %[n], 2f\n"
                     "1: vstrb.8 %q[all], [%[to]], #16\n"
                     "letp lr, 1b\n"
                     "2:\n"
                     : [to] "+r"(to)
                     : [n] "r"(n), [all] "w"(all)
                     : "lr", "memory");
}

static inline void copy(element *to, const element *from, int32_t n)
{
    n *= (int32_t)sizeof *to;
    __asm__ volatile("wlstp.8 lr, %[n], 2f\n"
                     "1: vldrb.8 q0, [%[from]], #16\n"
                     "vstrb.8 q0, [%[to]], #16\n"
                     "letp lr, 1b\n"
                     "2:\n"
                     : [to] "+r"(to), [from] "+r"(from)
                     : [n] "r"(n)
                     : "q0", "lr", "memory");
}

#else

static inline void fill(element *to, int32_t v, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        to[i] = (element)v;
}

static inline void copy(element *to, const element *from, int32_t n)
{
    memcpy(to, from, (size_t)n * sizeof *to);
}

#endif

/* `run` adjacent pixels of a row from x on, of which some or all are outside. */
TOSAC_APART void gather_edge(const tosac_window *p, const element *row, int32_t x, int32_t run,
                             element *to)
{
    const int32_t before = tosac_clip(-x, 0, run);
    const int32_t inside = row ? tosac_clip(p->in_w - x, 0, run) - before : 0;
    fill(to, p->x_zero, run * p->in_c);
    if (inside > 0)
        copy(to + before * p->in_c, row + (x + before) * p->in_c, inside * p->in_c);
}

/* The window at (oy, ox) as a column. */
static void gather(const tosac_window *p, const element *image, int32_t oy, int32_t ox, element *to)
{
    const int32_t c = p->in_c, x0 = ox * p->stride_w - p->left;
    const int32_t run = p->dilation_w == 1 ? p->kernel_w : 1;
    int32_t y = oy * p->stride_h - p->top;
    for (int32_t kh = 0; kh < p->kernel_h; kh++, y += p->dilation_h) {
        const element *row = y >= 0 && y < p->in_h ? image + y * p->in_w * c : NULL;
        int32_t x = x0;
        for (int32_t kw = 0; kw < p->kernel_w; kw += run, x += p->dilation_w, to += run * c)
            if (row && x >= 0 && x + run <= p->in_w)
                copy(to, row + x * c, run * c);
            else
                gather_edge(p, row, x, run, to);
    }
}

#if WIDE
typedef int64_t bias_type;
#else
typedef int32_t bias_type;
#endif

#if TOSAC_ISA != TOSAC_ISA_MVE && !WIDE

TOSAC_INLINE tosac_one factor_of(const tosac_window *p, int32_t oc)
{
    return RAW ? (tosac_one){0} : tosac_one_of(&p->q, oc);
}
TOSAC_INLINE result finish(const tosac_window *p, int32_t sum, const tosac_one *c)
{
    return (result)(RAW ? sum : tosac_requantize1(&p->q, sum, c));
}

#endif

#if TOSAC_ISA == TOSAC_ISA_MVE

/* Four rows of the weights, and what their sums begin with. */
typedef struct four_rows {
    const int8_t *w[4];
    int32_t bias[4];
} four_rows;

/* Sums of k products of a column with each of four rows. */
TOSAC_INLINE int32x4_t products(const element *x, const four_rows *r, int32_t k)
{
#if defined(__GNUC__)
    int32x4_t v;
    const int8_t *w0, *w1, *w2, *w3;
    int32_t a0, a1, a2, a3;
    __asm__("ldrd %[w0], %[w1], [%[r]]\n"
            "ldrd %[w2], %[w3], [%[r], #8]\n"
            "ldrd %[a0], %[a1], [%[r], #16]\n"
            "ldrd %[a2], %[a3], [%[r], #24]\n" LOOP " lr, %[k], 2f\n"
            "1: " LOAD " q0, [%[x]], #16\n" LOAD_W " q1, [%[w0]], " NEXT_W "\n"
            ADD_PRODUCTS " %[a0], q0, q1\n" LOAD_W " q2, [%[w1]], " NEXT_W "\n"
            ADD_PRODUCTS " %[a1], q0, q2\n" LOAD_W " q3, [%[w2]], " NEXT_W "\n"
            ADD_PRODUCTS " %[a2], q0, q3\n" LOAD_W " q1, [%[w3]], " NEXT_W "\n"
            ADD_PRODUCTS " %[a3], q0, q1\n"
            "letp lr, 1b\n"
            "2: vmov %q[v][2], %q[v][0], %[a0], %[a2]\n"
            "vmov %q[v][3], %q[v][1], %[a1], %[a3]\n"
            : [v] "=w"(v), [x] "+r"(x), [w0] "=&l"(w0), [w1] "=&l"(w1), [w2] "=&l"(w2),
              [w3] "=&l"(w3), [a0] "=&Te"(a0), [a1] "=&Te"(a1), [a2] "=&Te"(a2), [a3] "=&Te"(a3)
            : [r] "r"(r), [k] "r"(k)
            : "q0", "q1", "q2", "q3", "lr", "memory");
    return v;
#else
    const int8_t *w0 = r->w[0], *w1 = r->w[1], *w2 = r->w[2], *w3 = r->w[3];
    int32_t a0 = r->bias[0], a1 = r->bias[1], a2 = r->bias[2], a3 = r->bias[3];
    for (; k > 0; k -= TOGETHER, x += TOGETHER) {
        const mve_pred16_t lanes = lanes_of((uint32_t)k);
        a0 = add_products(a0, load_x(x, lanes), load_w(w0, lanes));
        a1 = add_products(a1, load_x(x, lanes), load_w(w1, lanes));
        a2 = add_products(a2, load_x(x, lanes), load_w(w2, lanes));
        a3 = add_products(a3, load_x(x, lanes), load_w(w3, lanes));
        w0 += TOGETHER, w1 += TOGETHER, w2 += TOGETHER, w3 += TOGETHER;
    }
    return (int32x4_t){a0, a1, a2, a3};
#endif
}

/* Rows w and the next, `left` of them; where there are fewer than four, the first again. */
static inline four_rows four_rows_at(const int8_t *w, int32_t k, int32_t left)
{
    return (four_rows){.w = {w, left > 1 ? w + k : w, left > 2 ? w + 2 * k : w,
                             left > 3 ? w + 3 * k : w}};
}

#endif

#if TOSAC_ISA == TOSAC_ISA_MVE && !WIDE

/* n contiguous columns times four rows, or the last ones; usual: USUAL rounding, and no lane shifts
 * left. */
TOSAC_INLINE void rows(const tosac_window *p, const element *x, int32_t n, const four_rows *r,
                       int32_t k, const tosac_four *by, mve_pred16_t lanes, result *to, int usual)
{
    const tosac_four all = *by;
    const int32x4_t lo = vdupq_n_s32(p->q.lo), hi = vdupq_n_s32(p->q.hi);
    const int32_t zero = p->q.zero, pixel = p->pixel;
    for (; n > 0; n--, x += k, to += pixel) {
        int32x4_t v = products(x, r, k);
        if (RAW) {
            put4(to, v, lanes);
            continue;
        }
        v = usual ? tosac_scale4(USUAL, 0, v, &all)
                  : tosac_scale4(p->q.rounding, all.lefts, v, &all);
        put4(to, vminq_s32(vmaxq_s32(vaddq_n_s32(v, zero), lo), hi), lanes);
    }
}

/* n contiguous columns times all rows. */
static void multiply(const tosac_window *p, const element *columns, int32_t n, const int8_t *w,
                     const bias_type *bias, int32_t k, result *out)
{
    for (int32_t oc = 0; oc < p->out_c; oc += 4, w += 4 * k) {
        const int32_t left = p->out_c - oc;
        const mve_pred16_t lanes = vctp32q((uint32_t)left);
        four_rows r = four_rows_at(w, k, left);
        vstrwq_s32(r.bias, vldrwq_z_s32(bias + oc, lanes));
#if RAW
        const tosac_four by = {.lefts = 0};
        rows(p, columns, n, &r, k, &by, lanes, out + oc, 0);
#else
        const int32_t step = p->q.step, *m = p->q.multiplier + oc * step;
        const int8_t *s = p->q.shift + oc * step;
        const tosac_four by =
            tosac_four_of(&p->q, step ? vldrwq_z_s32(m, lanes) : vdupq_n_s32(*m),
                          step ? vldrbq_z_s32(s, lanes) : vdupq_n_s32(*s));
        if (p->q.rounding == USUAL && !by.lefts)
            rows(p, columns, n, &r, k, &by, lanes, out + oc, 1);
        else
            rows(p, columns, n, &r, k, &by, lanes, out + oc, 0);
#endif
    }
}

#elif TOSAC_ISA != TOSAC_ISA_MVE

#if TOSAC_ISA == TOSAC_ISA_DSP

/* Two columns times two rows, four elements of each at a time. */
static inline void products(const element *x, const int8_t *w, int32_t k, int32_t bias0,
                            int32_t bias1, int32_t sum[4])
{
    int32_t a00 = bias0, a01 = bias0, a10 = bias1, a11 = bias1;
    for (const int8_t *end = w + (k & ~3); w < end; w += 4, x += 4) {
        const tosac_pairs v = weights(w), u = weights(w + k);
        tosac_pairs p = elements(x);
        a00 = __smlad(v.high, p.high, __smlad(v.low, p.low, a00));
        a10 = __smlad(u.high, p.high, __smlad(u.low, p.low, a10));
        p = elements(x + k);
        a01 = __smlad(v.high, p.high, __smlad(v.low, p.low, a01));
        a11 = __smlad(u.high, p.high, __smlad(u.low, p.low, a11));
    }
    for (int32_t n = k & 3; n > 0; n--, w++, x++) {
        a00 = tosac_add(a00, w[0] * x[0]), a01 = tosac_add(a01, w[0] * x[k]);
        a10 = tosac_add(a10, w[k] * x[0]), a11 = tosac_add(a11, w[k] * x[k]);
    }
    sum[0] = a00, sum[1] = a01, sum[2] = a10, sum[3] = a11;
}

static inline int32_t product(const element *x, const int8_t *w, int32_t k, int32_t sum)
{
    for (const int8_t *end = w + (k & ~3); w < end; w += 4, x += 4) {
        const tosac_pairs v = weights(w), p = elements(x);
        sum = __smlad(v.high, p.high, __smlad(v.low, p.low, sum));
    }
    for (int32_t n = k & 3; n > 0; n--)
        sum = tosac_add(sum, *x++ * *w++);
    return sum;
}

/* One column times four rows. */
static inline void fan(const element *x, const int8_t *w, int32_t k, int32_t sum[4])
{
    int32_t a0 = sum[0], a1 = sum[1], a2 = sum[2], a3 = sum[3];
    const int8_t *w2 = w + 2 * k;
    for (const element *end = x + (k & ~3); x < end; x += 4, w += 4, w2 += 4) {
        const tosac_pairs p = elements(x);
        tosac_pairs v = weights(w);
        a0 = __smlad(v.high, p.high, __smlad(v.low, p.low, a0));
        v = weights(w + k);
        a1 = __smlad(v.high, p.high, __smlad(v.low, p.low, a1));
        v = weights(w2);
        a2 = __smlad(v.high, p.high, __smlad(v.low, p.low, a2));
        v = weights(w2 + k);
        a3 = __smlad(v.high, p.high, __smlad(v.low, p.low, a3));
    }
    for (int32_t n = k & 3; n > 0; n--, x++, w++, w2++) {
        a0 = tosac_add(a0, w[0] * x[0]), a1 = tosac_add(a1, w[k] * x[0]);
        a2 = tosac_add(a2, w2[0] * x[0]), a3 = tosac_add(a3, w2[k] * x[0]);
    }
    sum[0] = a0, sum[1] = a1, sum[2] = a2, sum[3] = a3;
}

#else

static inline int32_t product(const element *x, const int8_t *w, int32_t k, int32_t bias)
{
    uint32_t sum = (uint32_t)bias;
    for (int32_t i = 0; i < k; i++)
        sum += (uint32_t)(w[i] * x[i]);
    return (int32_t)sum;
}

#endif

#if !WIDE

/* Row oc times n columns. */
static void row(const tosac_window *p, const element *x, int32_t n, const int8_t *w, int32_t bias,
                int32_t k, int32_t oc, result *out)
{
    const tosac_one c = factor_of(p, oc);
    for (int32_t i = 0; i < n; i++, x += k)
        out[i * p->pixel + oc] = finish(p, product(x, w, k, bias), &c);
}

#if TOSAC_ISA == TOSAC_ISA_DSP

/* Rows oc and oc + 1 times n columns, an even number. */
static void rows(const tosac_window *p, const element *x, int32_t n, const int8_t *w,
                 const bias_type *bias, int32_t k, int32_t oc, result *out)
{
    const tosac_one c = factor_of(p, oc), d = factor_of(p, oc + 1);
    const int32_t next = p->pixel;
    out += oc;
    for (int32_t i = 0; i < n; i += 2, x += 2 * k, out += 2 * next) {
        int32_t sum[4];
        products(x, w, k, bias[oc], bias[oc + 1], sum);
        out[0] = finish(p, sum[0], &c);
        out[next] = finish(p, sum[1], &c);
        out[1] = finish(p, sum[2], &d);
        out[next + 1] = finish(p, sum[3], &d);
    }
}

static void store(const tosac_window *p, result *out, int32_t sum, int32_t oc)
{
    const tosac_one c = factor_of(p, oc);
    out[oc] = finish(p, sum, &c);
}

static void single(const tosac_window *p, const element *x, const int8_t *w, const bias_type *bias,
                   int32_t k, int32_t oc, result *out)
{
    int32_t sum[4] = {bias[oc], bias[oc + 1], bias[oc + 2], bias[oc + 3]};
    fan(x, w, k, sum);
    store(p, out, sum[0], oc);
    store(p, out, sum[1], oc + 1);
    store(p, out, sum[2], oc + 2);
    store(p, out, sum[3], oc + 3);
}

static void multiply(const tosac_window *p, const element *columns, int32_t n, const int8_t *w,
                     const bias_type *bias, int32_t k, result *out)
{
    const int32_t even = n & ~1;
    int32_t oc = 0;
    for (; oc + 2 <= p->out_c && even; oc += 2)
        rows(p, columns, even, w + oc * k, bias, k, oc, out);
    for (; oc < p->out_c && even; oc++)
        row(p, columns, even, w + oc * k, bias[oc], k, oc, out);
    if (n == even)
        return;
    columns += even * k;
    out += even * p->pixel;
    for (oc = 0; oc + 4 <= p->out_c; oc += 4)
        single(p, columns, w + oc * k, bias, k, oc, out);
    for (; oc < p->out_c; oc++)
        row(p, columns, 1, w + oc * k, bias[oc], k, oc, out);
}

#else

/* Rows oc and oc + 1 times n columns. */
static void rows(const tosac_window *p, const element *x, int32_t n, const int8_t *w,
                 const bias_type *bias, int32_t k, int32_t oc, result *out)
{
    const tosac_one c = factor_of(p, oc), d = factor_of(p, oc + 1);
    const int8_t *next = w + k;
    for (out += oc; n > 0; n--, x += k, out += p->pixel) {
        uint32_t a = (uint32_t)bias[oc], b = (uint32_t)bias[oc + 1];
        for (int32_t i = 0; i < k; i++) {
            int32_t v = x[i];
            a += (uint32_t)(w[i] * v);
            b += (uint32_t)(next[i] * v);
        }
        out[0] = finish(p, (int32_t)a, &c);
        out[1] = finish(p, (int32_t)b, &d);
    }
}

static void multiply(const tosac_window *p, const element *columns, int32_t n, const int8_t *w,
                     const bias_type *bias, int32_t k, result *out)
{
    int32_t oc = 0;
    for (; oc + 2 <= p->out_c; oc += 2, w += 2 * k)
        rows(p, columns, n, w, bias, k, oc, out);
    if (oc < p->out_c)
        row(p, columns, n, w, bias[oc], k, oc, out);
}

#endif
#endif
#endif

#if WIDE

/* A column times `left` of four rows. */
static void four_sums(const element *x, const int8_t *w, int32_t k, int32_t left, int32_t sum[4])
{
#if TOSAC_ISA == TOSAC_ISA_MVE
    const four_rows r = four_rows_at(w, k, left);
    vstrwq_s32(sum, products(x, &r, k));
#elif TOSAC_ISA == TOSAC_ISA_DSP
    sum[0] = sum[1] = sum[2] = sum[3] = 0;
    if (left == 4)
        fan(x, w, k, sum);
    for (int32_t j = 0; j < left && left < 4; j++)
        sum[j] = product(x, w + j * k, k, 0);
#else
    for (int32_t j = 0; j < left; j++)
        sum[j] = product(x, w + j * k, k, 0);
#endif
}

/* n contiguous columns times all rows. */
static void multiply(const tosac_window *p, const element *columns, int32_t n, const int8_t *w,
                     const bias_type *bias, int32_t k, result *out)
{
    const tosac_requant *q = &p->q;
    for (int32_t oc = 0; oc < p->out_c; oc += 4, w += 4 * k) {
        const int32_t left = tosac_min(p->out_c - oc, 4);
        const element *x = columns;
        result *to = out + oc;
        for (int32_t i = 0; i < n; i++, x += k, to += p->pixel) {
            int32_t sum[4];
            four_sums(x, w, k, left, sum);
            for (int32_t j = 0; j < left; j++)
                to[j] = (result)tosac_requantize(q, bias[oc + j] + sum[j], oc + j);
        }
    }
}

#endif

/* Windows of one pixel are columns already. */
static void pixels(const tosac_window *p, const element *image, const int8_t *w,
                   const bias_type *bias, result *out)
{
    if (p->stride_h == 1 && p->in_w == p->out_w) {
        multiply(p, image, p->out_h * p->out_w, w, bias, p->in_c, out);
        return;
    }
    for (int32_t oy = 0; oy < p->out_h; oy++, out += p->out_w * p->pixel)
        multiply(p, image + oy * p->stride_h * p->in_w * p->in_c, p->out_w, w, bias, p->in_c, out);
}

static void windows(const tosac_window *p, const element *image, const int8_t *w,
                    const bias_type *bias, result *out, element *columns)
{
    const int32_t k = p->kernel_h * p->kernel_w * p->in_c, n = p->out_h * p->out_w;
    int32_t oy = 0, ox = 0, have = 0;
    for (int32_t i = 0; i < n; i++) {
        gather(p, image, oy, ox, columns + have++ * k);
        if (++ox == p->out_w)
            ox = 0, ++oy;
        if (have == TOSAC_COLUMNS(TOSAC_ISA) || i + 1 == n) {
            multiply(p, columns, have, w, bias, k, out);
            out += have * p->pixel;
            have = 0;
        }
    }
}

static void convolve(const tosac_window *p, const element *x, const int8_t *w,
                     const bias_type *bias, result *out, element *columns)
{
    for (int32_t n = 0; n < p->batches; n++) {
        if (columns)
            windows(p, x, w, bias, out, columns);
        else
            pixels(p, x, w, bias, out);
        x += p->in_h * p->in_w * p->in_c;
        out += p->out_h * p->out_w * p->pixel;
    }
}
