/* SPDX-License-Identifier: Apache-2.0 */
/* table_lookup.c -- a function given at every code, as TABLE nodes.
 *
 * From i8: one TABLE; to wider types the i16 TABLE, fed 128 * code, where the index is exact.
 * From i16: 512 segments of 128 codes, straight in between.  Where that is too coarse, more tables
 * are added: each magnifies the codes around one point (saturated outside), and corrects the error
 * of those before it:
 *
 *     y = t0(x) + t1(saturate((x - c1) * z1)) + ...
 *
 * Where a few tables are not enough, GATHER reads a list of all values; a target without GATHER has
 * more tables.  Without EXT-INT16 there are no tables of i16: i8 to i16 is a table for each byte,
 * 256 * high + low, and everything else is a list. */
#include <math.h>

#include "../put.h"
#include "table_function.h"

#include "../../num/load.h"

enum { SEGMENTS = 512, STEP = 128, CODES = 65536, MOST_TABLES = 6, CHEAP_TABLES = 3 };

/* One table of a sum. */
typedef struct piece {
    int64_t centre, zoom; /* it is fed saturate((x - centre) * zoom) */
    double entry[SEGMENTS + 1];
} piece;

/* How far the sum is off: in steps at most, at this code, and in all.  What is within the wanted
 * accuracy hardly counts, the rest by its square. */
typedef struct error {
    double worst, total;
    int64_t where;
} error;

typedef struct curve {
    const double *code;  /* wanted, unrounded, by x + 32768 */
    double lo, hi;       /* of the result */
    double within;       /* steps that are accuracy enough */
    double *sum;         /* of the pieces so far, by x + 32768 */
    piece part[MOST_TABLES];
    int n;
    error error;
} curve;

static double clip(double v, double lo, double hi) { return v < lo ? lo : v > hi ? hi : v; }

/* To a code; halves to even before the zero point is added, as quantizing does. */
static double rounded(double code, const tc_quant *q)
{
    double zero = (double)q->zero[0];
    return clip(rint(code - zero) + zero, (double)q->lo, (double)q->hi);
}

static int64_t seen(const piece *p, int64_t x)
{
    int64_t v = (x - p->centre) * p->zoom;
    return v < -32768 ? -32768 : v > 32767 ? 32767 : v;
}

/* What TABLE makes of v, as a number with fraction. */
static double interpolate(const piece *p, int64_t v)
{
    int64_t i = (v + 32768) / STEP, f = (v + 32768) % STEP;
    return p->entry[i] + (p->entry[i + 1] - p->entry[i]) * (double)f / STEP;
}

/* With the piece added; the sum stops where it is above the limit anyway. */
static error error_with(const curve *c, const piece *p, double limit)
{
    error e = {0, 0, 0};
    for (int64_t i = 0; i < CODES && e.total <= limit; i++) {
        double have = floor(c->sum[i] + interpolate(p, seen(p, i - 32768)) + 0.5);
        double d = fabs(clip(have, c->lo, c->hi) - clip(rint(c->code[i]), c->lo, c->hi));
        e.total += d > c->within ? d * d : d * 1e-3;
        if (d > e.worst) {
            e.worst = d;
            e.where = i - 32768;
        }
    }
    return e;
}

/* Entries are what is missing at the knots, moved by a part of how far the curve bends away from
 * its chords (a half: as far off at the knots as between them).  false: neighbours are too far
 * apart for TABLE. */
static bool fill(const curve *c, piece *p, double part)
{
    double bend[SEGMENTS + 2] = {0};
    for (int k = 0; k <= SEGMENTS; k++) {
        int64_t x = p->centre + (int64_t)floor((STEP * k - 32768.0) / (double)p->zoom),
                i = x + 32768;
        bool outside = i < 0 || i > CODES || (p->zoom > 1 && (k == 0 || k >= SEGMENTS - 1));
        p->entry[k] =
            outside ? 0
                    : clip(c->code[i], c->lo, c->hi) - (i < CODES ? c->sum[i] : c->sum[CODES - 1]);
    }
    for (int k = 0; k < SEGMENTS && p->zoom < STEP; k++) {
        int64_t half = STEP / 2 / p->zoom,
                i = p->centre + (STEP * k - 32768) / p->zoom + half + 32768;
        if (half && i >= 0 && i < CODES && p->entry[k] != 0 && p->entry[k + 1] != 0)
            bend[k + 1] =
                clip(c->code[i], c->lo, c->hi) - c->sum[i] - (p->entry[k] + p->entry[k + 1]) / 2;
    }
    for (int k = 0; k <= SEGMENTS; k++) {
        double v =
            p->entry[k] == 0 ? 0 : p->entry[k] + clip((bend[k] + bend[k + 1]) / 2 * part, -8, 8);
        p->entry[k] = clip(rint(v), p->zoom == 1 ? c->lo : -32768, p->zoom == 1 ? c->hi : 32767);
        if (k && fabs(p->entry[k] - p->entry[k - 1]) > 32767)
            return false;
    }
    return true;
}

/* The better of two ways to fill the piece. */
static error fill_best(const curve *c, piece *p, double limit)
{
    piece bent = *p;
    error straight = {HUGE_VAL, HUGE_VAL, 0}, e = straight;
    if (fill(c, p, 0))
        straight = error_with(c, p, limit);
    if (fill(c, &bent, 0.5))
        e = error_with(c, &bent, fmin(limit, straight.total));
    if (e.total >= straight.total)
        return straight;
    *p = bent;
    return e;
}

static void take(curve *c, const piece *p, error e)
{
    for (int64_t i = 0; i < CODES; i++)
        c->sum[i] += interpolate(p, seen(p, i - 32768));
    c->part[c->n++] = *p;
    c->error = e;
}

/* One more table where the error is largest (or, if tried, around zero), if any helps. */
static bool refine(curve *c, bool try_zero)
{
    piece best, p;
    error least = c->error;
    for (int around = 0; around < 1 + try_zero; around++)
        for (p.zoom = 2; p.zoom <= STEP; p.zoom *= 2) {
            p.centre = around ? 0 : c->error.where;
            error e = fill_best(c, &p, least.total);
            if (e.total < least.total) {
                least = e;
                best = p;
            }
        }
    if (least.total >= c->error.total)
        return false;
    take(c, &best, least);
    return true;
}

static void fit_one(curve *c, int most, bool try_zero)
{
    memset(c->sum, 0, CODES * sizeof *c->sum);
    c->n = 0;
    piece first = {.zoom = 1};
    c->error = fill_best(c, &first, HUGE_VAL);
    if (c->error.worst == HUGE_VAL)
        return;
    take(c, &first, c->error);
    while (c->error.worst > c->within && c->n < most && refine(c, try_zero))
        ;
}

/* Tables whose sum is near enough, or as near as they get: kinks need one each, bends one around
 * zero. */
static void fit(tc_build *lw, curve *c, int most)
{
    c->sum = tc_new_n(&lw->ctx->scratch, double, CODES);
    fit_one(c, most, false);
    if (c->n < 2)
        return;
    curve *other = tc_new(&lw->ctx->scratch, curve);
    *other = *c;
    fit_one(other, most, true);
    bool near = c->error.worst <= c->within, near_too = other->error.worst <= c->within;
    if (near_too > near || (near_too && near && other->n < c->n) ||
        (!near && !near_too && other->error.worst < c->error.worst))
        *c = *other;
}

/* ---- nodes ---- */

static tc_val put_piece(tc_build *lw, tc_val x, const piece *p)
{
    if (p->zoom > 1 && p->centre) {
        x = ti_put_rescale(lw, x, (double)p->zoom, 0, 0, TC_i32);
        tc_val offset =
            x ? ti_b_single(lw, TC_i32, ti_b_type(lw, x)->rank, (double)(-p->centre * p->zoom)) : x;
        x = ti_put_rescale(lw, ti_b_tosa_add(lw, x, offset), 1, 0, 0, TC_i16);
    } else if (p->zoom > 1)
        x = ti_put_rescale(lw, x, (double)p->zoom, 0, 0, TC_i16);
    return ti_put_table(lw, x, TC_i16, p->entry, SEGMENTS + 1);
}

/* The sum of the tables, 7 bits of fraction, as `to`. */
static tc_val put_pieces(tc_build *lw, tc_val x, const curve *c, tc_dtype to)
{
    bool narrow = !lw->lower->target->machine->can.wide_tables; /* its result must be i16 at once */
    tc_val sum = TC_NONE;
    for (int i = 0; i < c->n; i++) {
        tc_val part = put_piece(lw, x, &c->part[i]);
        if (c->n > 1 && narrow)
            part = ti_put_rescale(lw, ti_put_rescale(lw, part, 1.0 / STEP, 0, 0, TC_i16), 1, 0, 0,
                                  TC_i32);
        sum = i ? ti_b_tosa_add(lw, sum, part) : part;
    }
    return ti_put_rescale(lw, sum, c->n > 1 && narrow ? 1 : 1.0 / STEP, 0, 0, to);
}

/* code[at] of n, rounded and clamped. */
static tc_val listed(tc_build *lw, tc_val at, int64_t n_code, tc_dtype to, const tc_quant *q,
                     const double *code)
{
    if (!at)
        return at;
    const tc_type *t = ti_b_type(lw, at);
    int64_t dim[TC_MAX_RANK], n = tc_type_count(t);
    int rank = t->rank;
    memcpy(dim, t->dim, sizeof dim);
    double *value = tc_new_n(&lw->ctx->arena, double, (size_t)n_code);
    for (int64_t i = 0; i < n_code; i++)
        value[i] = rounded(code[i], q);
    tc_val list = ti_b_numbers(lw, to, 3, (int64_t[]){1, n_code, 1}, value);
    at = ti_b_tosa_reshape(lw, at, 2, (int64_t[]){1, n});
    return ti_b_tosa_reshape(lw, ti_b_tosa_gather(lw, list, at), rank, dim);
}

tc_val ti_put_listed(tc_build *lw, tc_val at, tc_dtype to, const tc_quant *q, const double *code)
{
    return listed(lw, at, CODES, to, q, code);
}

/* values[x - least] from a list of all, x: i8 or i16. */
static tc_val put_gather(tc_build *lw, tc_val x, tc_dtype to, const tc_quant *q, const double *code)
{
    if (!x)
        return x;
    int64_t least = ti_dtype_min(ti_b_dtype(lw, x));
    tc_val at = ti_put_rescale(lw, x, 1, 0, 0, TC_i32);
    if (at)
        at =
            ti_b_tosa_add(lw, at, ti_b_single(lw, TC_i32, ti_b_type(lw, at)->rank, (double)-least));
    return listed(lw, at, -2 * least, to, q, code);
}

/* i16 to i16 or i8, the latter from something 7 bits finer.  A target with GATHER has few tables:
 * its list is exact. */
static tc_val from_i16(tc_build *lw, tc_val x, tc_dtype to, const tc_quant *q, const double *code)
{
    bool gathers = lw->lower->target->machine->can.gathers, narrow = to == TC_i8;
    if (gathers && !ti_lower_has(lw, TC_FEATURE_INT16))
        return put_gather(lw, x, to, q, code);
    double unit = narrow ? 128 : 1, zero = narrow ? (double)q->zero[0] : 0;
    tc_mark mark = ti_arena_mark(&lw->ctx->scratch);
    double *fine = tc_new_n(&lw->ctx->scratch, double, CODES + 1);
    for (int64_t i = 0; i <= CODES; i++)
        fine[i] = (clip(code[i], (double)q->lo, (double)q->hi) - zero) * unit;
    curve *c = tc_new(&lw->ctx->scratch, curve);
    *c = (curve){.code = fine,
                 .within = narrow ? 32 : 1,
                 .lo = ((double)q->lo - zero) * unit,
                 .hi = ((double)q->hi - zero) * unit};
    if (lw->lower->dry && gathers)
        c->part[c->n++] = (piece){.zoom = 1}; /* one way or the other it can be done */
    else
        fit(lw, c, gathers ? CHEAP_TABLES : MOST_TABLES);
    tc_val y = TC_NONE;
    if (c->error.worst <= (narrow ? 100 : 2)) {
        y = put_pieces(lw, x, c, TC_i16);
        if (narrow)
            y = ti_put_rescale(lw, y, 1 / unit, 0, q->zero[0], TC_i8);
        y = ti_put_codes(lw, y, q);
    } else if (gathers)
        y = put_gather(lw, x, to, q, code);
    else
        ti_lower_refuse(lw, "its values change too fast for tables of 513 entries");
    ti_arena_rewind(&lw->ctx->scratch, mark);
    return y;
}

/* i8 to i16 or i32: at 128 * code the i16 table is exact.  Two tables, high * unit + low, where the
 * codes or their differences do not fit an entry. */
static tc_val widened(tc_build *lw, tc_val x, tc_dtype to, const tc_quant *q, const double *code)
{
    double v[256], high[SEGMENTS + 1] = {0}, low[SEGMENTS + 1] = {0},
                                   unit = to == TC_i16 ? 2 : 16384;
    bool steep = to != TC_i16;
    for (int i = 0; i < 256; i++) {
        v[i] = rounded(code[i], q);
        steep = steep || (i && fabs(v[i] - v[i - 1]) > 32767);
        high[i + 128] = floor(v[i] / unit);
        low[i + 128] = v[i] - high[i + 128] * unit;
    }
    for (int i = 0; i < 256 && !steep; i++)
        high[i + 128] = v[i];
    tc_val at = ti_put_rescale(lw, x, STEP, 0, 0, TC_i16);
    tc_val y = ti_put_table(lw, at, TC_i16, high, SEGMENTS + 1);
    if (!steep)
        return ti_put_rescale(lw, y, 1.0 / STEP, 0, 0, TC_i16);
    y = ti_put_rescale(lw, y, unit / STEP, 0, 0, TC_i32);
    tc_val rest = ti_put_rescale(lw, ti_put_table(lw, at, TC_i16, low, SEGMENTS + 1), 1.0 / STEP, 0,
                                 0, TC_i32);
    y = ti_b_tosa_add(lw, y, rest);
    return to == TC_i16 ? ti_put_rescale(lw, y, 1, 0, 0, TC_i16) : y;
}

/* i8 to i16 as 256 * high + low, a table of bytes for each. */
static tc_val by_bytes(tc_build *lw, tc_val x, const tc_quant *q, const double *code)
{
    double high[256], low[256];
    for (int i = 0; i < 256; i++) {
        double v = rounded(code[i], q);
        high[i] = floor(v / 256);
        low[i] = v - 256 * high[i] - 128;
    }
    tc_val upper = ti_put_rescale(lw, ti_put_table(lw, x, TC_i8, high, 256), 256, 0, 0, TC_i32);
    tc_val lower = ti_put_rescale(lw, ti_put_table(lw, x, TC_i8, low, 256), 1, -128, 0, TC_i32);
    return ti_put_rescale(lw, ti_b_tosa_add(lw, upper, lower), 1, 0, 0, TC_i16);
}

tc_val ti_put_lookup(tc_build *lw, tc_val x, const tc_type *from, tc_dtype to, const tc_quant *q,
                     const double *code)
{
    if (!x || (to != TC_i8 && to != TC_i16 && to != TC_i32)) {
        ti_lower_refuse(lw, "a table has no results of type %s", tc_dtypes[to].name);
        return TC_NONE;
    }
    if (from->dtype == TC_i16)
        return to == TC_i32 ? put_gather(lw, x, to, q, code) : from_i16(lw, x, to, q, code);
    bool has_tables = ti_lower_has(lw, TC_FEATURE_INT16);
    if (to == TC_i16 && !has_tables)
        return by_bytes(lw, x, q, code);
    if (to == TC_i32 && !has_tables && lw->lower->target->machine->can.gathers)
        return put_gather(lw, x, to, q, code);
    if (to != TC_i8)
        return widened(lw, x, to, q, code);
    double entry[256];
    for (int i = 0; i < 256; i++)
        entry[i] = rounded(code[i], q);
    return ti_put_table(lw, x, TC_i8, entry, 256);
}

tc_val ti_put_function(tc_build *lw, tc_val x, const tc_type *from, const tc_type *to,
                       tc_real_function *f, const void *user)
{
    if (from->dtype != TC_i8 && from->dtype != TC_i16) {
        ti_lower_refuse(lw, "a table has no operands of type %s", tc_dtypes[from->dtype].name);
        return TC_NONE;
    }
    int64_t n = ti_lookup_count(from->dtype), first = ti_dtype_min(from->dtype) - ti_zero_of(from);
    tc_mark mark = ti_arena_mark(&lw->ctx->scratch);
    double *code = tc_new_n(&lw->ctx->scratch, double, (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        double v = f(ti_scale_of(from) * (double)(i + first), user) / ti_scale_of(to);
        code[i] = isnan(v) ? 0 : v + (double)ti_zero_of(to);
    }
    tc_val y = ti_put_lookup(lw, x, from, to->dtype, to->quant, code);
    ti_arena_rewind(&lw->ctx->scratch, mark);
    return y;
}
