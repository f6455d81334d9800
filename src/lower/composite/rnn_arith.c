/* SPDX-License-Identifier: Apache-2.0 */
/* rnn_arith.c -- see rnn_arith.h.
 *
 * Activations and weights of 16 bits are multiplied byte by byte, each pair a product of i8.
 * Sigmoid and tanh have 256 entries of 16 bits, and slopes to interpolate; or one table of 513
 * where the target has it. */
#include "rnn_arith.h"

#include <math.h>

#include "../../base/real.h"
#include "../../num/load.h"
#include "../move/lower_move.h"

static bool integer(tc_build *lw, tc_rnn_num a)
{
    return a.val && !ti_is_float(ti_b_dtype(lw, a.val));
}

static tc_rnn_num none(void)
{
    return (tc_rnn_num){TC_NONE, 1, 0};
}

/* A constant of reals as i16 in the steps that suit it. */
static tc_rnn_num of_constant(tc_build *lw, const tc_type *t, tc_tensor c)
{
    int64_t n = tc_type_count(t);
    double *x = tc_new_n(&lw->ctx->arena, double, (size_t)n), most = 1e-6;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i] = ti_load_f64(c, i)));
    for (int64_t i = 0; i < n; i++)
        x[i] *= 32512 / most;
    return (tc_rnn_num){ti_b_numbers(lw, TC_i16, t->rank, t->dim, x), most / 32512, 0};
}

tc_rnn_num ti_rnn_in(tc_build *lw, const tc_node *node, int i)
{
    const tc_type *t = ti_lower_type(lw, node, i);
    if (!ti_node_quantized(lw->rw->from, node))
        return (tc_rnn_num){ti_b_tosa_cast(lw, ti_lower_in(lw, node, i), TC_f32), 1, 0};
    tc_tensor known = ti_tensor_of(lw->rw->from, node->in[i]);
    if (!t->quant && known.data)
        return of_constant(lw, t, known);
    if (!ti_is_activation(t)) {
        ti_lower_refuse(lw, "operand %d does not have one scale", i);
        return none();
    }
    return (tc_rnn_num){ti_lower_in(lw, node, i), ti_scale_of(t), ti_zero_of(t)};
}

tc_rnn_num ti_rnn_as(tc_build *lw, tc_rnn_num a, double unit)
{
    if (!integer(lw, a) || (a.unit == unit && ti_b_dtype(lw, a.val) == TC_i16))
        return a;
    return (tc_rnn_num){ti_put_rescale(lw, a.val, a.unit / unit, a.zero, 0, TC_i16), unit, 0};
}

tc_val ti_rnn_out(tc_build *lw, tc_rnn_num a, const tc_type *to)
{
    if (!integer(lw, a))
        return ti_b_tosa_cast(lw, a.val, to->dtype);
    tc_val y =
        ti_put_rescale(lw, a.val, a.unit / ti_scale_of(to), a.zero, ti_zero_of(to), to->dtype);
    return ti_put_codes(lw, y, to->quant);
}

tc_rnn_num ti_rnn_part(tc_build *lw, tc_rnn_num a, int64_t first, int64_t n)
{
    return (tc_rnn_num){ti_b_tosa_slice_axis(lw, a.val, 3, first, n), a.unit, a.zero};
}

/* ---- products with weights ---- */

static tc_val conv(tc_build *lw, tc_val x, int64_t zero, tc_val w, tc_val bias, tc_dtype acc)
{
    if (!x || !w || !bias)
        return TC_NONE;
    tc_val in[5] = {x, w, bias, ti_b_zero_point(lw, x, zero)};
    in[4] = ti_b_zero_point(lw, w, 0);
    return ti_b_op(lw, TC_OP_tosa_conv2d, ti_conv_1x1(lw, acc), in, 5);
}

static tc_rnn_num affine_real(tc_build *lw, const tc_node *node, tc_rnn_term a)
{
    const tc_type *t = ti_lower_type(lw, node, a.weight);
    tc_val w = ti_b_tosa_cast(lw, ti_lower_in(lw, node, a.weight), TC_f32);
    w = ti_b_tosa_reshape(lw, w, 4, (int64_t[]){t->dim[0], 1, 1, t->dim[1]});
    tc_val b = a.bias >= 0 ? ti_lower_in(lw, node, a.bias) : TC_NONE;
    b = b ? ti_b_tosa_cast(lw, b, TC_f32) : ti_b_single(lw, TC_f32, 1, 0);
    w = a.rows ? ti_b_tosa_slice_axis(lw, w, 0, a.first, a.rows) : w;
    b = a.rows && a.bias >= 0 ? ti_b_tosa_slice_axis(lw, b, 0, a.first, a.rows) : b;
    return (tc_rnn_num){conv(lw, a.x.val, 0, w, b, TC_f32), 1, 0};
}

/* Weights by output row: scale * (256 * high + low), or scale * high where they are i8 already. */
typedef struct weights {
    tc_val high, low; /* low: none where there is nothing in it */
    int64_t out;
    double *scale;
    const double *bias; /* real, or NULL */
    double most;        /* the largest absolute value that a sum can have */
    double limit;       /* sums past it count as it, or as up to twice as much; or INFINITY */
    double unit;        /* the steps of the sums in i32: a 256th of those of the result, or as fine
                         * as the largest sum allows */
} weights;

/* Of so many rows from `first` on; x_unit: of what the bias is added to, which has to fit i32. */
static weights weights_of(tc_build *lw, const tc_type *t, int64_t first, int64_t rows, const double *w,
                          const double *bias, double x_unit)
{
    int64_t in = t->dim[1], n = rows * in;
    weights r = {.out = rows,
                 .scale = tc_new_n(&lw->ctx->arena, double, (size_t)rows),
                 .bias = bias};
    double *high = tc_new_n(&lw->ctx->scratch, double, (size_t)n),
           *low = tc_new_n(&lw->ctx->scratch, double, (size_t)n);
    bool bytes = t->quant && t->dtype == TC_i8;
    for (int64_t o = 0; o < r.out; o++) {
        double most = fmax(1e-6, bias ? fabs(bias[o]) * 32512 / (x_unit * 0x1p30) : 0);
        for (int64_t i = 0; i < in; i++)
            most = fmax(most, fabs(w[o * in + i]));
        r.scale[o] = bytes ? t->quant->scale[t->quant->axis >= 0 ? first + o : 0] : most / 32512;
        for (int64_t i = o * in; i < (o + 1) * in; i++) {
            double v = rint(w[i] / r.scale[o]);
            high[i] = bytes ? v : floor(v / 256 + 0.5);
            low[i] = v - 256 * high[i];
        }
    }
    int64_t dim[] = {r.out, 1, 1, in};
    r.high = ti_b_numbers(lw, TC_i8, 4, dim, high);
    r.low = bytes ? TC_NONE : ti_b_numbers(lw, TC_i8, 4, dim, low);
    return r;
}

/* x (i8) times weights, cut where they pass the limit.  One step of x may be far beyond it: the
 * bias is added in the steps of the sums. */
static tc_val affine_limited(tc_build *lw, tc_rnn_num x, const weights *w)
{
    tc_val none = ti_b_single(lw, TC_i32, 1, 0);
    tc_val acc = conv(lw, x.val, x.zero, w->high, none, TC_i32);
    if (w->low) {
        tc_val high = ti_put_rescale(lw, acc, 256, 0, 0, TC_i32);
        acc = ti_b_tosa_add(lw, high, conv(lw, x.val, x.zero, w->low, none, TC_i32));
    }
    tc_mark mark = ti_arena_mark(&lw->ctx->scratch);
    double *step = tc_new_n(&lw->ctx->scratch, double, (size_t)w->out),
           *bias = tc_new_n(&lw->ctx->scratch, double, (size_t)w->out);
    for (int64_t o = 0; o < w->out; o++) {
        step[o] = x.unit * w->scale[o];
        bias[o] = w->bias ? w->bias[o] / w->unit : 0;
    }
    acc = ti_put_cut(lw, acc, step, w->out, w->limit, w->unit);
    if (w->bias)
        acc = ti_b_tosa_add(lw, acc,
                            ti_b_numbers(lw, TC_i32, 4, (int64_t[]){1, 1, 1, w->out}, bias));
    ti_arena_rewind(&lw->ctx->scratch, mark);
    return acc;
}

/* x (i8) times one byte of the weights, which counts `times`; i32 in the steps of their sums. */
static tc_val affine_byte(tc_build *lw, tc_rnn_num x, const weights *w, tc_val byte, double times,
                          bool bias)
{
    tc_mark mark = ti_arena_mark(&lw->ctx->scratch);
    double *b = tc_new_n(&lw->ctx->scratch, double, (size_t)w->out),
           *factor = tc_new_n(&lw->ctx->scratch, double, (size_t)w->out);
    for (int64_t o = 0; o < w->out; o++) {
        double step = x.unit * w->scale[o] * times;
        b[o] = bias && w->bias ? w->bias[o] / step : 0;
        factor[o] = step / w->unit;
    }
    tc_val acc = conv(lw, x.val, x.zero, byte, ti_b_numbers(lw, TC_i32, 1, &w->out, b), TC_i32);
    acc = ti_put_rescale_channels(lw, acc, factor, 0, 0, TC_i32);
    ti_arena_rewind(&lw->ctx->scratch, mark);
    return acc;
}

/* x (i8) times the weights; the bias goes where its steps are not too fine for i32. */
static tc_val affine_bytes(tc_build *lw, tc_rnn_num x, const weights *w, bool bias)
{
    if (isfinite(w->limit))
        return affine_limited(lw, x, w);
    if (!w->low)
        return affine_byte(lw, x, w, w->high, 1, bias);
    tc_val low = affine_byte(lw, x, w, w->low, 1, bias);
    tc_val high = affine_byte(lw, x, w, w->high, 256, false);
    return ti_b_tosa_add(lw, high, low);
}

/* The largest absolute value of x w^T + b. */
static double most_of(tc_build *lw, tc_rnn_num x, int64_t rows, int64_t in, const double *w,
                      const double *bias)
{
    bool byte = ti_b_dtype(lw, x.val) == TC_i8;
    double reach = x.unit * (byte ? 128 + fabs((double)x.zero) : 32768), most = 0;
    for (int64_t o = 0; o < rows; o++) {
        double sum = bias ? fabs(bias[o]) : 0;
        for (int64_t i = 0; i < in; i++)
            sum += reach * fabs(w[o * in + i]);
        most = fmax(most, sum);
    }
    return most;
}

/* The lowered weights and bias of a term, and for which constants and steps. */
typedef struct tc_rnn_made {
    struct tc_rnn_made *next;
    tc_rnn_term term; /* of x the steps and the zero point count */
    tc_dtype dtype;   /* of x */
    double unit, limit;
    weights w;
} tc_rnn_made;

static bool is_made_for(const tc_rnn_made *m, tc_rnn_term term, tc_dtype dtype, double unit,
                        double limit)
{
    return m->term.weight == term.weight && m->term.bias == term.bias && m->dtype == dtype &&
           m->term.first == term.first && m->term.rows == term.rows &&
           m->term.x.unit == term.x.unit && m->term.x.zero == term.x.zero && m->unit == unit &&
           m->limit == limit;
}

static weights make_weights(tc_build *lw, const tc_node *node, tc_rnn_term term, double unit,
                            double limit)
{
    weights none = {0};
    const tc_type *t = ti_lower_type(lw, node, term.weight);
    const double *b = term.bias >= 0 ? ti_lower_known(lw, node, term.bias, t->dim[0], 0) : NULL;
    tc_mark mark = ti_arena_mark(&lw->ctx->scratch);
    const double *real = ti_lower_known(lw, node, term.weight, t->dim[0] * t->dim[1], 0);
    if (!real || lw->status != TC_OK)
        return none;
    bool byte = ti_b_dtype(lw, term.x.val) == TC_i8;
    int64_t rows = term.rows ? term.rows : t->dim[0];
    real += term.first * t->dim[1];
    b = b ? b + term.first : NULL;
    weights w = weights_of(lw, t, term.first, rows, real, b, byte ? term.x.unit : 256 * term.x.unit);
    w.most = fmin(most_of(lw, term.x, rows, t->dim[1], real, b), 2 * limit);
    w.limit = limit;
    w.unit = fmax(unit / 256, w.most / 0x1p28);
    ti_arena_rewind(&lw->ctx->scratch, mark);
    return w;
}

/* Made once for all equal time steps; NULL: refused. */
static const weights *weights_for(tc_build *lw, tc_rnn_weights *of, tc_rnn_term term, double unit,
                                  double limit)
{
    tc_dtype dtype = ti_b_dtype(lw, term.x.val);
    for (const tc_rnn_made *m = of->made; m; m = m->next)
        if (is_made_for(m, term, dtype, unit, limit))
            return &m->w;
    tc_rnn_made *m = tc_new(&lw->ctx->arena, tc_rnn_made);
    weights w = make_weights(lw, of->node, term, unit, limit);
    *m = (tc_rnn_made){of->made, term, dtype, unit, limit, w};
    if (!m->w.high)
        return NULL;
    of->made = m;
    return &m->w;
}

/* x w^T + b as i32, of the weights that weights_for() made of it. */
static tc_rnn_num affine_wide(tc_build *lw, const weights *w, tc_rnn_num x)
{
    if (ti_b_dtype(lw, x.val) == TC_i8)
        return (tc_rnn_num){affine_bytes(lw, x, w, true), w->unit, 0};
    tc_rnn_num high = {ti_put_rescale(lw, x.val, 0x1p-8, 0, 0, TC_i8), 256 * x.unit, 0};
    tc_rnn_num low = {ti_b_tosa_cast(lw, x.val, TC_i8), x.unit, 0};
    tc_val of_low = affine_bytes(lw, low, w, false);
    tc_val of_high = affine_bytes(lw, high, w, true);
    return (tc_rnn_num){ti_b_tosa_add(lw, of_high, of_low), w->unit, 0};
}

tc_rnn_num ti_rnn_affine(tc_build *lw, tc_rnn_weights *of, tc_rnn_term a, double unit)
{
    if (!integer(lw, a.x))
        return a.x.val ? affine_real(lw, of->node, a) : none();
    const weights *w = weights_for(lw, of, a, unit, INFINITY);
    return w ? ti_rnn_as(lw, affine_wide(lw, w, a.x), unit) : none();
}

/* In other steps, as i32. */
static tc_val wide_as(tc_build *lw, tc_rnn_num a, double unit)
{
    return a.unit == unit ? a.val : ti_put_rescale(lw, a.val, a.unit / unit, 0, 0, TC_i32);
}

/* A term as i16, in steps that hold up to `most` of it, or of `unit`. */
static tc_rnn_num term_up_to(tc_build *lw, tc_rnn_num wide, double most, double unit)
{
    return ti_rnn_as(lw, wide, fmax(unit, most * TC_SHARE_UNIT));
}

/* How far a term of a sum matters that is cut to i16 in steps of `unit`: past the ends by as much
 * as the other term can be. */
static double matters(const weights *other, double unit) { return 0x1p15 * unit + other->most; }

/* The weights of a term that matters up to a limit: if its range is so large that its steps are
 * coarse, it is clipped there. */
static const weights *weights_up_to(tc_build *lw, tc_rnn_weights *of, tc_rnn_term term,
                                    const weights *w, double limit, double unit)
{
    bool coarse = w->unit > unit / 256 && w->most > 2 * limit;
    double terms = (double)ti_lower_type(lw, of->node, term.weight)->dim[1];
    bool whole = !w->low || terms * 0x1p22 < 0x1p31; /* both bytes of the weights in one i32 */
    return coarse && whole && ti_b_dtype(lw, term.x.val) == TC_i8
               ? weights_for(lw, of, term, unit, limit)
               : w;
}

tc_rnn_num ti_rnn_affine2(tc_build *lw, tc_rnn_weights *of, tc_rnn_term a, tc_rnn_term b,
                          double unit, tc_rnn_num part[2])
{
    if (!integer(lw, a.x) || !integer(lw, b.x)) {
        tc_rnn_num of_a = ti_rnn_affine(lw, of, a, unit), of_b = ti_rnn_affine(lw, of, b, unit);
        if (part) {
            part[0] = of_a;
            part[1] = of_b;
        }
        return ti_rnn_plus(lw, of_a, of_b, unit);
    }
    const weights *by_a = weights_for(lw, of, a, unit, INFINITY),
                  *by_b = weights_for(lw, of, b, unit, INFINITY);
    if (part)
        part[0] = part[1] = none();
    if (!by_a || !by_b)
        return none();
    double limit_a = matters(by_b, unit), limit_b = matters(by_a, unit);
    by_a = weights_up_to(lw, of, a, by_a, limit_a, unit);
    by_b = weights_up_to(lw, of, b, by_b, limit_b, unit);
    tc_rnn_num of_a = affine_wide(lw, by_a, a.x), of_b = affine_wide(lw, by_b, b.x);
    if (part) {
        part[0] = term_up_to(lw, of_a, fmin(by_a->most, limit_a), unit);
        part[1] = term_up_to(lw, of_b, by_b->most, unit);
    }
    double one = fmax(of_a.unit, of_b.unit);
    tc_val first = wide_as(lw, of_a, one), second = wide_as(lw, of_b, one);
    tc_rnn_num sum = {ti_b_tosa_add(lw, first, second), one, 0};
    return ti_rnn_as(lw, sum, unit);
}

/* ---- elementwise ---- */

static tc_rnn_num combined(tc_build *lw, tc_op op, tc_rnn_num a, tc_rnn_num b, double unit)
{
    if (!integer(lw, a) || !integer(lw, b))
        return (tc_rnn_num){ti_b_binary(lw, op, a.val, b.val), 1, 0};
    double one = fmax(a.unit, b.unit) / 0x1p14;
    tc_val y = ti_put_fused(lw, op, (tc_term){a.val, 0, a.unit / one},
                            (tc_term){b.val, 0, b.unit / one}, one / unit, 0, TC_i16);
    return (tc_rnn_num){y, unit, 0};
}

tc_rnn_num ti_rnn_plus(tc_build *lw, tc_rnn_num a, tc_rnn_num b, double unit)
{
    return combined(lw, TC_OP_tosa_add, a, b, unit);
}

tc_rnn_num ti_rnn_minus(tc_build *lw, tc_rnn_num a, tc_rnn_num b, double unit)
{
    return combined(lw, TC_OP_tosa_sub, a, b, unit);
}

tc_rnn_num ti_rnn_times(tc_build *lw, tc_rnn_num a, tc_rnn_num b, double unit)
{
    tc_val y = ti_b_tosa_mul(lw, a.val, b.val);
    if (!integer(lw, a))
        return (tc_rnn_num){y, 1, 0};
    return (tc_rnn_num){ti_put_rescale(lw, y, a.unit * b.unit / unit, 0, 0, TC_i16), unit, 0};
}

tc_rnn_num ti_rnn_wide(tc_build *lw, tc_rnn_num a, double unit)
{
    if (!a.val)
        return a;
    return (tc_rnn_num){ti_put_rescale(lw, a.val, a.unit / unit, a.zero, 0, TC_i32), unit, 0};
}

tc_rnn_num ti_rnn_blend(tc_build *lw, tc_rnn_num a, tc_rnn_num wide, tc_rnn_num b, tc_rnn_num c)
{
    tc_rnn_num high = {TC_NONE, ldexp(wide.unit, 15), 0}, low = {TC_NONE, wide.unit, 0};
    if (!wide.val)
        return none();
    ti_put_halves(lw, wide.val, &high.val, &low.val);
    const tc_rnn_num term[3][2] = {{a, high}, {a, low}, {b, c}};
    tc_val sum = TC_NONE;
    for (int i = 0; i < 3; i++) {
        tc_rnn_num y = {ti_b_tosa_mul(lw, term[i][0].val, term[i][1].val),
                        term[i][0].unit * term[i][1].unit, 0};
        y = ti_rnn_wide(lw, y, wide.unit);
        sum = i ? ti_b_tosa_add(lw, sum, y.val) : y.val;
    }
    return (tc_rnn_num){sum, wide.unit, 0};
}

tc_rnn_num ti_rnn_relu(tc_build *lw, tc_rnn_num a)
{
    if (!a.val)
        return a;
    if (!integer(lw, a))
        return (tc_rnn_num){ti_b_tosa_maximum(lw, a.val, ti_b_single(lw, TC_f32, 4, 0)), 1, 0};
    tc_val zero = ti_b_single(lw, TC_i16, 4, 0);
    tc_val y = ti_put_fused(lw, TC_OP_tosa_maximum, (tc_term){a.val, 0, 1}, (tc_term){zero, 0, 1},
                            1, 0, TC_i16);
    return (tc_rnn_num){y, a.unit, 0};
}

/* ---- sigmoid and tanh ---- */

static double sigmoid(double x)
{
    return 1 / (1 + ti_exp(-x));
}
static double sigmoid_slope(double x)
{
    return sigmoid(x) * (1 - sigmoid(x));
}
static double tanh_slope(double x)
{
    return 1 - ti_tanh(x) * ti_tanh(x);
}

/* A curve from -far to far, in steps of `unit`. */
typedef struct stretch {
    double (*f)(double), (*slope)(double);
    double far, unit;
} stretch;

/* Values past TC_GATE_FAR are clamped to the ends, which have the curve's limits: a closed or open
 * gate stays so for any number of steps. */
static double or_limit(const stretch *s, double x, bool first, bool last)
{
    return s->f(s->far < TC_GATE_FAR ? x : first ? -INFINITY : last ? INFINITY : x);
}

/* In 512 straight lines. */
static tc_val curve_by_lines(tc_build *lw, tc_rnn_num a, const stretch *s)
{
    double entry[513];
    for (int i = 0; i < 513; i++)
        entry[i] = or_limit(s, (i - 256) * s->far / 256, i == 0, i >= 511) / s->unit;
    tc_val x = ti_put_rescale(lw, a.val, a.unit * 0x1p15 / s->far, 0, 0, TC_i16);
    return ti_put_rescale(lw, ti_put_table(lw, x, TC_i16, entry, 513), 0x1p-7, 0, 0, TC_i16);
}

/* In 256 steps by the high byte, along the slope by the low one. */
static tc_val curve_by_bytes(tc_build *lw, tc_rnn_num a, const stretch *s)
{
    double high[256], low[256], rise[256];
    for (int i = 0; i < 256; i++) {
        bool first = i == 0, last = i == 255;
        double x = (i - 128) * s->far / 128, v = rint(or_limit(s, x, first, last) / s->unit);
        high[i] = floor(v / 256);
        low[i] = v - 256 * high[i] - 128;
        rise[i] = s->far >= TC_GATE_FAR && (first || last) ? 0 : rint(s->slope(x) * 127);
    }
    tc_val fine = ti_put_rescale(lw, a.val, a.unit * 0x1p15 / s->far, 0, 0, TC_i16);
    tc_val code = ti_put_rescale(lw, fine, 0x1p-8, 0, 0, TC_i8);
    tc_val rest = ti_b_tosa_logical_left_shift(lw, fine, ti_b_single(lw, TC_i16, 4, 8));
    tc_term low_byte = {ti_put_table(lw, code, TC_i8, low, 256), -128, 1};
    tc_term high_byte = {ti_put_table(lw, code, TC_i8, high, 256), 0, 256};
    tc_val base = ti_put_fused(lw, TC_OP_tosa_add, high_byte, low_byte, 1, 0, TC_i16);
    tc_val more =
        ti_put_fused(lw, TC_OP_tosa_mul, (tc_term){ti_put_table(lw, code, TC_i8, rise, 256), 0, 1},
                     (tc_term){rest, 0, 1}, s->far * 0x1p-23 / (127 * s->unit), 0, TC_i16);
    return ti_put_fused(lw, TC_OP_tosa_add, (tc_term){base, 0, 1}, (tc_term){more, 0, 1}, 1, 0,
                        TC_i16);
}

static tc_rnn_num curve(tc_build *lw, tc_rnn_num a, tc_op op, stretch s)
{
    if (!integer(lw, a))
        return (tc_rnn_num){ti_b_unary(lw, op, a.val), 1, 0};
    s.unit = fmin(1, s.far) * TC_SHARE_UNIT;
    tc_val y = ti_lower_has(lw, TC_FEATURE_INT16) ? curve_by_lines(lw, a, &s)
                                                  : curve_by_bytes(lw, a, &s);
    return (tc_rnn_num){y, s.unit, 0};
}

tc_rnn_num ti_rnn_sigmoid(tc_build *lw, tc_rnn_num a)
{
    return curve(lw, a, TC_OP_tosa_sigmoid, (stretch){sigmoid, sigmoid_slope, TC_GATE_FAR, 0});
}
tc_rnn_num ti_rnn_tanh(tc_build *lw, tc_rnn_num a, double far)
{
    return curve(lw, a, TC_OP_tosa_tanh, (stretch){ti_tanh, tanh_slope, far, 0});
}
