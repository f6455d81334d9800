/* SPDX-License-Identifier: Apache-2.0 */
/* expand_complex.c -- complex values become pairs of real ones, for targets without complex types.
 *
 *   fft(x) along an axis  =>  linear(cat(re, im), [[C, S], [-S, C]]), C and S the cosines and sines
 *   movement, add         =>  the same on both parts
 *   x * y                 =>  (re re' - im im', re im' + im re')
 *   |x|                   =>  hypot(re, im)
 *
 * Other operators read the pair put together again by `complex`. */
#include <math.h>

#include "tidy.h"

#include "../base/real.h"

typedef struct pair {
    tc_val re, im; /* none: not split yet */
} pair;

typedef struct splitter {
    tc_build b;
    pair *part; /* by old id */
} splitter;

enum { LONGEST = 4096 }; /* a transform of n elements is a matrix of 4 n^2 */

static bool is_complex(const tc_graph *g, tc_val v)
{
    return v && ti_type_of(g, v)->dtype == TC_c64;
}

/* ---- nodes ---- */

/* The parts of an operand, split from a complex one at first use; a real one has no imaginary
 * part. */
static pair parts(splitter *s, tc_val old)
{
    pair *p = &s->part[old];
    tc_val now = s->b.rw->now[old];
    if (!is_complex(s->b.rw->from, old))
        return (pair){now, TC_NONE};
    if (!p->re) {
        p->re = ti_b_real(&s->b, now);
        p->im = ti_b_imag(&s->b, now);
    }
    return *p;
}

static void give(splitter *s, int i, pair p)
{
    tc_val old = s->b.node->out[i];
    TC_STOP(&s->b);
    s->part[old] = p;
    ti_rewrite_bind(s->b.rw, old, ti_b_complex(&s->b, p.re, p.im));
}

/* ---- Fourier transforms ---- */

/* The matrix of one transform: rows are outputs, columns inputs, real parts first.
 *
 *   out[k] = sum over j of in[j] e^(sign 2 pi i j k / n), times the norm's factor */
typedef struct transform {
    int64_t n;            /* its length */
    int64_t in, out;      /* input and output elements */
    bool real_in, real_out;
    double sign, factor;
} transform;

/* A number of the upper half of a real signal's spectrum counts for its mirror too. */
static double weight_of(const transform *t, int64_t j)
{
    bool once = j == 0 || 2 * j == t->n;
    return t->real_out && !once ? 2 : 1;
}

/* Imaginary parts that are computed, from `*first` on: a real signal's mean and, of an even number,
 * its alternating sum have none. */
static int64_t imaginary(const transform *t, int64_t *first)
{
    *first = t->real_in ? 1 : 0;
    int64_t end = t->real_in && t->n % 2 == 0 ? t->out - 1 : t->out;
    return t->real_out || end < *first ? 0 : end - *first;
}

static tc_val matrix(splitter *s, const transform *t)
{
    int64_t first, n_im = imaginary(t, &first), columns = t->real_in ? t->in : 2 * t->in,
                   rows = t->out + n_im;
    const tc_type *type = ti_type_make(s->b.ctx, TC_f32, 2, (const int64_t[]){rows, columns});
    float *m = ti_arena_raw(&s->b.ctx->arena, tc_type_bytes(type));
    double turn = 2 * ti_acos(-1) / (double)t->n;
    for (int64_t k = 0; k < t->out; k++)
        for (int64_t j = 0; j < t->in; j++) {
            double angle = turn * (double)(j * k % t->n), scale = t->factor * weight_of(t, j);
            float c = (float)(scale * ti_cos(angle)), d = (float)(scale * t->sign * ti_sin(angle));
            m[k * columns + j] = c;
            if (!t->real_in)
                m[k * columns + t->in + j] = -d;
            if (k < first || k >= first + n_im)
                continue;
            m[(t->out + k - first) * columns + j] = d;
            if (!t->real_in)
                m[(t->out + k - first) * columns + t->in + j] = c;
        }
    return ti_b_data(&s->b, type, m);
}

/* The axis last, or back to where it was. */
static tc_val transposed(splitter *s, tc_val x, int64_t axis, bool back)
{
    TC_STOP_WITH(&s->b, TC_NONE);
    int32_t rank = ti_b_type(&s->b, x)->rank;
    int64_t perm[TC_MAX_RANK], k = 0;
    for (int64_t i = 0; i < rank; i++)
        if (back)
            perm[i] = i < axis ? i : i == axis ? rank - 1 : i - 1;
        else if (i != axis)
            perm[k++] = i;
    if (!back)
        perm[k] = axis;
    return ti_b_permute(&s->b, x, perm);
}

/* The imaginary parts of all outputs, y holding those that are computed. */
static tc_val with_zeros(splitter *s, tc_val y, const transform *t)
{
    int64_t first, n = imaginary(t, &first);
    TC_STOP_WITH(&s->b, TC_NONE);
    tc_type type = *ti_b_type(&s->b, y);
    int64_t last = type.rank - 1;
    type.dim[last] = t->out;
    if (!n) {
        const tc_type *zeros = ti_type_intern(s->b.ctx, &type);
        void *data = ti_arena_array(&s->b.ctx->arena, 1, tc_type_bytes(zeros), 16);
        return ti_b_data(&s->b, zeros, data);
    }
    y = ti_b_slice(&s->b, y, last, t->out, t->out + n, 1);
    if (n == t->out)
        return y;
    int64_t around[2 * TC_MAX_RANK] = {0};
    around[2 * last] = first;
    around[2 * last + 1] = t->out - first - n;
    return ti_b_pad(&s->b, y, around, 0);
}

static pair transformed(splitter *s, pair x, int64_t axis, const transform *t)
{
    x.re = transposed(s, x.re, axis, false);
    TC_STOP_WITH(&s->b, x);
    int64_t last = ti_b_type(&s->b, x.re)->rank - 1;
    if (!t->real_in)
        x.re = ti_b_cat(&s->b, last, (tc_val[]){x.re, transposed(s, x.im, axis, false)}, 2);
    tc_val y = ti_b_linear(&s->b, x.re, matrix(s, t), TC_NONE);
    if (t->real_out)
        return (pair){transposed(s, y, axis, true), TC_NONE};
    tc_val re = transposed(s, ti_b_slice(&s->b, y, last, 0, t->out, 1), axis, true);
    return (pair){re, transposed(s, with_zeros(s, y, t), axis, true)};
}

static double factor_of(const tc_attr_fft *a, int64_t n)
{
    return a->norm == TC_fft_norm_by_n         ? 1 / (double)n
           : a->norm == TC_fft_norm_by_sqrt_n ? 1 / sqrt((double)n)
                                              : 1;
}

/* false: too long for matrices. */
static bool transforms(splitter *s)
{
    const tc_attr_fft *a = s->b.node->attr;
    const tc_type *x = ti_type_of(s->b.rw->from, s->b.node->in[0]);
    bool from_real = a->kind == TC_fft_kind_real_to_complex,
         to_real = a->kind == TC_fft_kind_complex_to_real,
         inverse = to_real || a->kind == TC_fft_kind_inverse;
    if (!a->axes.n || tc_type_count(x) == 0)
        return false;
    for (int i = 0; i < a->axes.n; i++)
        if (x->dim[a->axes.v[i]] > LONGEST || a->last > LONGEST)
            return false;
    pair p = parts(s, s->b.node->in[0]);
    /* A real signal's last axis is transformed first; to real ones it is the last to go. */
    for (int i = 0; i < a->axes.n; i++) {
        int at = from_real ? a->axes.n - 1 - i : i;
        bool half = at == a->axes.n - 1;
        int64_t axis = a->axes.v[at], extent = x->dim[axis];
        transform t = {.n = to_real && half ? a->last : extent,
                       .in = extent,
                       .out = extent,
                       .real_in = from_real && half,
                       .real_out = to_real && half,
                       .sign = inverse ? 1 : -1};
        t.factor = factor_of(a, t.n);
        if (from_real && half)
            t.out = t.n / 2 + 1;
        if (t.real_out)
            t.out = t.n;
        p = transformed(s, p, axis, &t);
    }
    if (to_real && s->b.status == TC_OK)
        ti_rewrite_bind(s->b.rw, s->b.node->out[0], p.re);
    else
        give(s, 0, p);
    return true;
}

/* ---- everything else ---- */

static pair constant(splitter *s)
{
    tc_tensor c = ti_tensor_of(s->b.rw->from, s->b.node->out[0]);
    const tc_type *type = ti_type_make(s->b.ctx, TC_f32, c.type->rank, c.type->dim);
    tc_tensor re = ti_tensor_new(&s->b.ctx->arena, type),
              im = ti_tensor_new(&s->b.ctx->arena, type);
    const float *v = c.data;
    for (int64_t i = 0; i < tc_type_count(type); i++) {
        ((float *)re.data)[i] = v[2 * i];
        ((float *)im.data)[i] = v[2 * i + 1];
    }
    return (pair){ti_b_data(&s->b, type, re.data), ti_b_data(&s->b, type, im.data)};
}

/* Operand i as a pair whose imaginary part is there. */
static pair whole(splitter *s, int i)
{
    pair p = parts(s, s->b.node->in[i]);
    if (!p.im)
        p.im = ti_b_mul(&s->b, p.re, ti_b_scalar(&s->b, TC_f32, 0));
    return p;
}

/* The same node on the real parts, and on the imaginary ones. */
static void both(splitter *s)
{
    const tc_node *node = s->b.node;
    tc_val *in = tc_new_n(&s->b.ctx->arena, tc_val, (size_t)node->n_in);
    tc_node *made[2];
    for (int k = 0; k < 2 && s->b.status == TC_OK; k++) {
        for (int i = 0; i < node->n_in; i++) {
            if (!is_complex(s->b.rw->from, node->in[i])) {
                in[i] = node->in[i] ? s->b.rw->now[node->in[i]] : TC_NONE;
                continue;
            }
            pair p = parts(s, node->in[i]);
            in[i] = k ? p.im : p.re;
        }
        made[k] = ti_b_ops(&s->b, node->op, node->attr, in, node->n_in, node->n_out);
    }
    for (int i = 0; i < node->n_out && s->b.status == TC_OK; i++)
        give(s, i, (pair){made[0]->out[i], made[1]->out[i]});
}

/* Sums and differences; a real operand leaves the imaginary part alone. */
static void added(splitter *s)
{
    pair x = whole(s, 0), y = whole(s, 1);
    tc_val re = ti_b_op(&s->b, s->b.node->op, s->b.node->attr, (tc_val[]){x.re, y.re}, 2);
    tc_val im = ti_b_op(&s->b, s->b.node->op, s->b.node->attr, (tc_val[]){x.im, y.im}, 2);
    give(s, 0, (pair){re, im});
}

static void multiplied(splitter *s)
{
    pair x = parts(s, s->b.node->in[0]), y = parts(s, s->b.node->in[1]);
    tc_op op = s->b.node->op;
    if (!x.im || !y.im) {
        tc_val re = ti_b_binary(&s->b, op, x.re, y.re);
        tc_val im = ti_b_binary(&s->b, op, x.im ? x.im : x.re, x.im ? y.re : y.im);
        give(s, 0, (pair){re, im});
        return;
    }
    tc_val ii = ti_b_binary(&s->b, op, x.im, y.im), rr = ti_b_binary(&s->b, op, x.re, y.re);
    tc_val re = ti_b_sub(&s->b, rr, ii);
    tc_val ir = ti_b_binary(&s->b, op, x.im, y.re), ri = ti_b_binary(&s->b, op, x.re, y.im);
    tc_val im = ti_b_add(&s->b, ri, ir);
    give(s, 0, (pair){re, im});
}

/* By a real number both parts; by a complex one (x conj(y)) / |y|^2. */
static void divided(splitter *s)
{
    const tc_attr_div *a = s->b.node->attr;
    pair x = whole(s, 0), y = parts(s, s->b.node->in[1]);
    tc_val size = y.re;
    if (y.im) {
        size = ti_b_mul(&s->b, y.im, y.im);
        size = ti_b_add(&s->b, ti_b_mul(&s->b, y.re, y.re), size);
        tc_val ii = ti_b_mul(&s->b, x.im, y.im), rr = ti_b_mul(&s->b, x.re, y.re);
        tc_val re = ti_b_add(&s->b, rr, ii);
        tc_val ri = ti_b_mul(&s->b, x.re, y.im), ir = ti_b_mul(&s->b, x.im, y.re);
        x.im = ti_b_sub(&s->b, ir, ri);
        x.re = re;
    }
    x.re = ti_b_2(&s->b, div, a, x.re, size);
    x.im = ti_b_2(&s->b, div, a, x.im, size);
    give(s, 0, x);
}

/* complex(re, im): both as large as the result. */
static void joined(splitter *s)
{
    const tc_type *y = ti_type_of(s->b.rw->from, s->b.node->out[0]);
    tc_val re = ti_b_expand(&s->b, ti_b_in(&s->b, 0), y->rank, y->dim);
    give(s, 0, (pair){re, ti_b_expand(&s->b, ti_b_in(&s->b, 1), y->rank, y->dim)});
}

static void bind_real(splitter *s, tc_val v)
{
    if (s->b.status == TC_OK)
        ti_rewrite_bind(s->b.rw, s->b.node->out[0], v);
}

/* false: this operator is not supported on complex numbers. */
static bool split_node(splitter *s)
{
    const tc_node *node = s->b.node;
    switch (node->op) {
    case TC_OP_const:
        give(s, 0, constant(s));
        return true;
    case TC_OP_complex:
        joined(s);
        return true;
    case TC_OP_real:
        bind_real(s, parts(s, node->in[0]).re);
        return true;
    case TC_OP_imag:
        bind_real(s, parts(s, node->in[0]).im);
        return true;
    case TC_OP_abs: {
        pair p = parts(s, node->in[0]);
        bind_real(s, ti_b_hypot(&s->b, p.re, p.im));
        return true;
    }
    case TC_OP_fft:
        return transforms(s);
    case TC_OP_add:
    case TC_OP_sub:
        added(s);
        return true;
    case TC_OP_mul:
    case TC_OP_matmul:
        multiplied(s);
        return true;
    case TC_OP_div:
        divided(s);
        return true;
    case TC_OP_neg:
    case TC_OP_sum:
    case TC_OP_mean:
        both(s);
        return true;
    default:
        break;
    }
    if (!(tc_ops[node->op].traits & T_MOVES))
        return false;
    for (int i = 0; i < node->n_in; i++) /* data of one kind; indices aside */
        if (node->in[i] && !is_complex(s->b.rw->from, node->in[i]) &&
            ti_is_float(ti_type_of(s->b.rw->from, node->in[i])->dtype))
            return false;
    both(s);
    return true;
}

static tc_status split_complex(tc_rewrite *rw, const tc_node *node, bool *done)
{
    splitter s = {ti_build_instead(rw, node), rw->user};
    bool any = false;
    for (int i = 0; i < node->n_in; i++)
        any = any || is_complex(rw->from, node->in[i]);
    for (int i = 0; i < node->n_out; i++)
        any = any || is_complex(rw->from, node->out[i]);
    if (any)
        *done = split_node(&s);
    return s.b.status;
}

tc_status ti_tidy_expand_complex(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {split_complex};
    for (size_t i = 0; i < module->n_graph; i++) {
        tc_graph *g = module->graph[i];
        bool any = false;
        for (size_t v = 1; v < g->n_val && !any; v++)
            any = is_complex(g, (tc_val)v);
        if (any)
            TC_TRY(ti_rewrite_graph(g, rewriters, TC_COUNT(rewriters),
                                    tc_new_n(&ctx->arena, pair, g->n_val)));
    }
    return TC_OK;
}
