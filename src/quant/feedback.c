/* SPDX-License-Identifier: Apache-2.0 */
/* feedback.c -- weights of a row rounded jointly.
 *
 * Rounding each weight to the nearest code makes errors that add up in a row.  Input windows of a
 * product are sampled at some positions, and the codes of every row descend to
 *
 *   min over q of  sum (w x - s q y)^2        x: real windows, y: typed ones, means taken off
 *
 * staying within a step of w / s.  So a row compensates the rounding of its other weights and the
 * systematic errors of its input; the bias corrects the means.  Where codes are few, s is one of a
 * few near the old one, the one with the least error.
 *
 * The descent needs H = sum y y' and, of the real side, either C = sum x y' or, where rows are few
 * compared with their length, P = sum (w x) y' = w C: whichever takes less work.  Samples come in
 * batches, and sums are taken window by window in one order: the same codes on any number of
 * threads.  The shift is the mean of the first sample; the rest is subtracted at the end: sum (y -
 * m)(y - m)' = sum (y - s)(y - s)' - n (m - s)(m - s)'. */
#include "feedback.h"

#include <math.h>

#include "../base/real.h"
#include "../fast/outer.h"
#include "../num/gemm.h"
#include "../num/load.h"
#include "row_scales.h"
#include "sample_runner.h"

enum {
    SWEEPS = 6,
    BLOCK = 8, /* rows of a sum, */
    WIDE = 32, /* and columns, at a time */
    ROWS = 32, /* of weights at a time */
    CHUNK_BYTES = 6 << 20 /* of windows at a time, unless threads need more */
};
/* Of the mean of H's diagonal: weights without gradient stay.  Few codes are moved far by what the
 * samples have in common by chance, and so are coarser steps; those have to keep the layer's function
 * alone, since layers whose steps are fine make up for the rest.  Steps by group are damped by SHRINK
 * instead. */
static const double RIDGE = 0.01, RIDGE_FEW = 1, RIDGE_COARSE = 8;

static const float SHRINK = 0.4F; /* damping of H off its diagonal, for steps by group */

typedef struct solving {
    const tc_feedback *f;
    bool by_rows;   /* cross is P, else C */
    float *h;       /* by group: k x k; NULL: each group has its own while it is solved */
    float *cross;   /* by group: left x k */
    int64_t left;   /* k, or rows of a group */
    float *shift[2]; /* subtracted from the windows of both programs */
    double *sum[2];  /* of the remainder, over all windows */
    size_t first, n; /* samples in hand */
    float *panel[2]; /* of the cross sum's left side, and of the typed windows: by group */
    double *part;    /* by current sample and program: sums of windows */
    const tc_lattice *lattice;
    double *scale; /* by row; NULL: all are kept */
    tc_tensor out;
} solving;

/* One group's sums. */
typedef struct sums {
    float *h, *cross;
} sums;

static int64_t panels_of(int64_t n) { return (n + WIDE - 1) / WIDE; }

/* Windows of a sample's input in one of the programs, less the shift; sum: of them. */
static float *windows_of(const solving *v, size_t i, int program, tc_arena *room, double *sum)
{
    const tc_feedback *f = v->f;
    const tc_columns *s = f->shape;
    int64_t row = s->groups * s->k;
    const int8_t *order;
    float *x = ti_arena_raw(room, (size_t)(s->each * row) * sizeof *x);
    tc_tensor in = f->input(f->who, f->sample[i], program, (tc_some_channels){0}, room, &order);
    ti_columns_take(s, in, order, f->sample[i], x);
    for (int64_t c = 0; c < s->each; c++) {
        ti_gram_centre(x + c * row, v->shift[program], row);
        ti_gram_sum(sum, x + c * row, row);
    }
    return x;
}

/* ---- sums over packed windows ----
 *
 * Columns WIDE at a time, window after window, zero-padded: a sum of outer products reads
 * contiguously. */

/* n elements of each of m windows, `row` apart, into panels of `all` windows, from window `at`
 * on. */
static void pack(const float *x, int64_t row, int64_t n, int64_t m, int64_t all, int64_t at,
                 float *panel)
{
    for (int64_t j = 0; j < n; j += WIDE, panel += all * WIDE) {
        int64_t some = ti_min_i64(WIDE, n - j);
        float *to = panel + at * WIDE;
        for (int64_t c = 0; c < m; c++, to += WIDE) {
            memcpy(to, x + c * row + j, (size_t)some * sizeof *to);
            memset(to + some, 0, (size_t)(WIDE - some) * sizeof *to);
        }
    }
}

/* The real weights times the windows: by window and row. */
static float *products_of(const solving *v, const float *x, tc_arena *room)
{
    const tc_columns *s = v->f->shape;
    int64_t each = s->rows / s->groups;
    float *z = tc_new_n(room, float, (size_t)(s->each * s->rows));
    for (int64_t g = 0; g < s->groups; g++)
        ti_gemm_f32(room, s->each, each, s->k, x + g * s->k, s->groups * s->k, 1,
                    (const float *)v->f->real.data + g * each * s->k, 1, s->k, z + g * each,
                    s->rows);
    return z;
}

/* Sample i of the current ones: its windows, packed. */
static void pack_sample(void *what, size_t i, tc_arena *room)
{
    const solving *v = what;
    const tc_columns *s = v->f->shape;
    int64_t row = s->groups * s->k, all = (int64_t)v->n * s->each, at = (int64_t)i * s->each;
    double *sum = v->part + 2 * (int64_t)i * row;
    const float *y = windows_of(v, v->first + i, TC_TYPED, room, sum + row),
                *x = windows_of(v, v->first + i, TC_REAL, room, sum);
    int64_t from = row;
    if (v->by_rows) {
        x = products_of(v, x, room);
        from = s->rows;
    }
    for (int64_t g = 0; g < s->groups; g++) {
        pack(x + g * v->left, from, v->left, s->each, all, at,
             v->panel[0] + g * panels_of(v->left) * all * WIDE);
        pack(y + g * s->k, row, s->k, s->each, all, at,
             v->panel[1] + g * panels_of(s->k) * all * WIDE);
    }
}

/* BLOCK rows of a sum with n of them, WIDE columns of k. */
static void add_tile(float *sum, int64_t n, int64_t k, int64_t row, int64_t column, int64_t m,
                     const float *a, const float *b)
{
    int64_t rows = ti_min_i64(BLOCK, n - row), some = ti_min_i64(WIDE, k - column);
    float tile[BLOCK * WIDE] = {0};
    for (int64_t i = 0; i < rows; i++)
        memcpy(tile + i * WIDE, sum + (row + i) * k + column, (size_t)some * sizeof *tile);
    ti_outer_add(tile, WIDE, BLOCK, WIDE, m, &(tc_outer){a, WIDE, b, WIDE}, 1);
    for (int64_t i = 0; i < rows; i++)
        memcpy(sum + (row + i) * k + column, tile + i * WIDE, (size_t)some * sizeof *tile);
}

/* Columns of both sums: panel `at` of all groups.  H is symmetric: the part below the panel is
 * copied there later. */
static void add_columns(void *what, size_t at, tc_arena *room)
{
    const solving *v = what;
    const tc_columns *s = v->f->shape;
    int64_t panels = panels_of(s->k), g = (int64_t)at / panels,
            column = (int64_t)at % panels * WIDE, m = (int64_t)v->n * s->each, apart = m * WIDE;
    const float *x = v->panel[0] + g * panels_of(v->left) * apart,
                *y = v->panel[1] + g * panels * apart, *b = y + column / WIDE * apart;
    (void)room;
    for (int64_t row = 0; row < ti_min_i64(s->k, column + WIDE); row += BLOCK)
        add_tile(v->h + g * s->k * s->k, s->k, s->k, row, column, m,
                 y + row / WIDE * apart + row % WIDE, b);
    for (int64_t row = 0; row < v->left; row += BLOCK)
        add_tile(v->cross + g * v->left * s->k, v->left, s->k, row, column, m,
                 x + row / WIDE * apart + row % WIDE, b);
}

static void add_parts(const solving *v)
{
    int64_t row = v->f->shape->groups * v->f->shape->k;
    for (size_t i = 0; i < v->n; i++)
        for (int p = 0; p < 2; p++) {
            const double *part = v->part + (2 * (int64_t)i + p) * row;
            for (int64_t j = 0; j < row; j++)
                v->sum[p][j] += part[j];
        }
}

/* As many samples at a time as memory allows, and at least one per thread. */
static size_t chunk_of(const solving *v)
{
    const tc_columns *s = v->f->shape;
    size_t bytes = (size_t)(s->each * (s->groups * (s->k + v->left))) * sizeof(float),
           fit = CHUNK_BYTES / (bytes + 1);
    fit = fit > v->f->n_thread ? fit : v->f->n_thread;
    return fit < v->f->n_sample ? fit : v->f->n_sample;
}

static void add_all(solving *v)
{
    const tc_feedback *f = v->f;
    const tc_columns *s = f->shape;
    tc_arena *scratch = &f->ctx->scratch;
    size_t most = chunk_of(v), row = (size_t)(s->groups * s->k),
           panels = (size_t)(s->groups * panels_of(s->k)),
           left = (size_t)(s->groups * panels_of(v->left)),
           bytes = most * (size_t)s->each * WIDE * sizeof(float);
    tc_mark mark = ti_arena_mark(scratch);
    v->panel[0] = ti_arena_raw(scratch, left * bytes);
    v->panel[1] = ti_arena_raw(scratch, panels * bytes);
    v->part = ti_arena_raw(scratch, 2 * most * row * sizeof *v->part);
    for (v->first = 0; v->first < f->n_sample; v->first += v->n) {
        v->n = f->n_sample - v->first < most ? f->n_sample - v->first : most;
        memset(v->part, 0, 2 * v->n * row * sizeof *v->part);
        ti_each(f->ctx, v->n, f->n_thread, pack_sample, v);
        ti_each(f->ctx, panels, f->n_thread, add_columns, v);
        add_parts(v);
    }
    ti_arena_rewind(scratch, mark);
}

/* ---- results from the sums of a group ---- */

/* The means of the first sample's windows are subtracted from all. */
static void find_shift(solving *v)
{
    const tc_columns *s = v->f->shape;
    int64_t row = s->groups * s->k;
    tc_arena *scratch = &v->f->ctx->scratch;
    for (int p = 0; p < 2; p++) {
        v->shift[p] = tc_new_n(scratch, float, (size_t)row);
        v->sum[p] = tc_new_n(scratch, double, (size_t)row);
        tc_mark mark = ti_arena_mark(scratch);
        double *sum = tc_new_n(scratch, double, (size_t)row);
        windows_of(v, 0, p, scratch, sum);
        for (int64_t j = 0; j < row; j++)
            v->shift[p][j] = (float)(sum[j] / (double)s->each);
        ti_arena_rewind(scratch, mark);
    }
}

/* Removes the means: x and y are the sums of the group's windows, n windows. */
static void take_means_off(const solving *v, sums of, int64_t group, const double *x,
                           const double *y, double n)
{
    const tc_columns *s = v->f->shape;
    int64_t k = s->k, each = s->rows / s->groups;
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = i; j < k; j++)
            of.h[j * k + i] = of.h[i * k + j] -= (float)(y[i] * y[j] / n);
    for (int64_t i = 0; i < v->left; i++) {
        const float *w = (const float *)v->f->real.data + (group * each + i) * k;
        double left = v->by_rows ? 0 : x[i];
        for (int64_t j = 0; j < k && v->by_rows; j++)
            left += (double)w[j] * x[j];
        for (int64_t j = 0; j < k; j++)
            of.cross[i * k + j] -= (float)(left * y[j] / n);
    }
}

/* P uses real weights; the descent needs weights in steps of their scales. */
static void to_steps(const solving *v, sums of, int64_t group)
{
    const tc_columns *s = v->f->shape;
    const tc_quant *q = v->f->codes.type->quant;
    for (int64_t i = 0; i < v->left && v->by_rows; i++) {
        float by = (float)(1 / q->scale[q->axis >= 0 ? group * v->left + i : 0]);
        for (int64_t j = 0; j < s->k; j++)
            of.cross[i * s->k + j] *= by;
    }
}

/* Adds to the diagonal of C, or its effect on the weights. */
static void add_diagonal(const solving *v, sums of, int64_t group, int64_t j, float by)
{
    int64_t k = v->f->shape->k;
    const tc_quant *q = v->f->codes.type->quant;
    if (!v->by_rows)
        of.cross[j * k + j] += by;
    for (int64_t i = 0; i < v->left && v->by_rows; i++) {
        int64_t row = group * v->left + i;
        of.cross[i * k + j] += by * (float)((double)((const float *)v->f->real.data)[row * k + j] /
                                            q->scale[q->axis >= 0 ? row : 0]);
    }
}

/* With few windows, products of different elements are less certain than squares. */
static void shrink(const solving *v, sums of, int64_t group, float by)
{
    int64_t k = v->f->shape->k;
    for (int64_t i = 0; i < v->left * k; i++)
        of.cross[i] *= 1 - by;
    for (int64_t i = 0; i < k; i++) {
        float own = of.h[i * k + i];
        for (int64_t j = 0; j < k; j++)
            of.h[i * k + j] *= 1 - by;
        of.h[i * k + i] = own;
        add_diagonal(v, of, group, i, by * own);
    }
}

static void add_ridge(const solving *v, sums of, int64_t group)
{
    int64_t k = v->f->shape->k;
    const tc_setting *setting = v->f->setting;
    double mean = 0, ridge = ti_setting_few_codes(setting) && !setting->group ? RIDGE_FEW
                             : ti_setting_step(setting) > 1 ? RIDGE_COARSE
                                                            : RIDGE;
    for (int64_t i = 0; i < k; i++)
        mean += (double)of.h[i * k + i] / (double)k;
    for (int64_t i = 0; i < k; i++) {
        of.h[i * k + i] += (float)(ridge * mean);
        add_diagonal(v, of, group, i, (float)(ridge * mean));
    }
}

static void finish(const solving *v, sums of, int64_t group, const double *x, const double *y)
{
    const tc_feedback *f = v->f;
    take_means_off(v, of, group, x, y, (double)(f->shape->each * (int64_t)f->n_sample));
    to_steps(v, of, group);
    if (f->setting->group)
        shrink(v, of, group, SHRINK);
    add_ridge(v, of, group);
}

static sums sums_of(const solving *v, int64_t group)
{
    int64_t k = v->f->shape->k;
    return (sums){v->h + group * k * k, v->cross + group * v->left * k};
}

static void finish_group(void *what, size_t g, tc_arena *room)
{
    const solving *v = what;
    int64_t at = (int64_t)g * v->f->shape->k;
    (void)room;
    finish(v, sums_of(v, (int64_t)g), (int64_t)g, v->sum[0] + at, v->sum[1] + at);
}

static void make_room(solving *v)
{
    const tc_columns *s = v->f->shape;
    size_t column = (size_t)(s->groups * s->k);
    v->h = tc_new_n(&v->f->ctx->scratch, float, column * (size_t)s->k);
    v->cross = tc_new_n(&v->f->ctx->scratch, float, column * (size_t)v->left);
}

static void gather(solving *v)
{
    make_room(v);
    find_shift(v);
    add_all(v);
    ti_each(v->f->ctx, (size_t)v->f->shape->groups, v->f->n_thread, finish_group, v);
}

/* ---- codes ---- */

/* A weight is weighted by the squares of its inputs. */
static tc_importance importance_of(const solving *v)
{
    const tc_columns *s = v->f->shape;
    if (!v->h)
        return (tc_importance){0};
    float *by = tc_new_n(&v->f->ctx->scratch, float, (size_t)(s->groups * s->k));
    for (int64_t g = 0; g < s->groups; g++)
        for (int64_t j = 0; j < s->k; j++)
            by[g * s->k + j] = v->h[(g * s->k + j) * s->k + j];
    return (tc_importance){by, s->groups};
}

/* Rows first .. first+n-1, of one group. */
static void solve_some(const solving *v, sums of, int64_t first, int64_t n, tc_arena *room)
{
    const tc_feedback *f = v->f;
    const tc_columns *s = f->shape;
    const tc_quant *q = f->codes.type->quant;
    int64_t k = s->k;
    size_t all = (size_t)(n * k);
    tc_mark mark = ti_arena_mark(room);
    float *want = ti_arena_raw(room, all * sizeof *want),
          *slope = ti_arena_raw(room, all * sizeof *slope),
          *code = ti_arena_raw(room, all * sizeof *code),
          *own = ti_arena_raw(room, (2 * all + (size_t)k) * sizeof *own);
    int64_t *step = v->lattice->step ? tc_new_n(room, int64_t, all) : NULL;
    for (int64_t i = 0; i < n * k; i++) {
        int64_t c = q->axis >= 0 ? first + i / k : 0, at = first * k + i;
        want[i] = (float)((double)((const float *)f->real.data)[at] / q->scale[c]);
        if (step)
            step[i] = ti_lattice_step(v->lattice, c, i % k);
        code[i] = (float)ti_load_i64(v->out, at);
    }
    tc_gram_rows r = {.n = n,
                      .k = k,
                      .want = want,
                      .code = code,
                      .step = step,
                      .lo = v->lattice->lo,
                      .hi = v->lattice->hi,
                      .h = of.h,
                      .c = v->by_rows ? NULL : of.cross,
                      .pull = v->by_rows ? of.cross + first % v->left * k : NULL,
                      .reach = 1,
                      .slope = slope,
                      .room = own};
    if (v->scale)
        ti_row_scales_descend(&r, SWEEPS, f->setting->floor, room, v->scale + first);
    else
        ti_gram_descend(&r, SWEEPS);
    for (int64_t i = 0; i < n * k; i++)
        ti_store_i64(v->out, first * k + i, (int64_t)code[i]);
    ti_arena_rewind(room, mark);
}

/* Rows ROWS * i and after. */
static void solve_rows(void *what, size_t block, tc_arena *room)
{
    const solving *v = what;
    const tc_columns *s = v->f->shape;
    int64_t first = (int64_t)block * ROWS, last = ti_min_i64(first + ROWS, s->rows),
            of_group = s->rows / s->groups;
    for (int64_t n; first < last; first += n) {
        n = ti_min_i64(last - first, of_group - first % of_group);
        solve_some(v, sums_of(v, first / of_group), first, n, room);
    }
}

/* ---- channels each by itself ----
 *
 * TC_OUTER_LANES of them in parallel, sample after sample: their windows are computed on demand
 * and, where no steps are searched, so are their sums. */

/* Sums of some channels over all samples. */
typedef struct lanes {
    tc_columns shape; /* of these channels alone */
    int64_t first, n;
    float *h, *c, *shift[2];
    double *sum[2];
} lanes;

static float *lane_windows(const solving *v, const lanes *l, size_t i, int program, tc_arena *room)
{
    const tc_feedback *f = v->f;
    int64_t row = l->n * l->shape.k;
    const int8_t *order;
    float *x = ti_arena_raw(room, (size_t)(l->shape.each * row) * sizeof *x);
    tc_tensor in = f->input(f->who, f->sample[i], program, (tc_some_channels){l->first, l->n}, room,
                            &order);
    ti_columns_take(&l->shape, in, order, f->sample[i], x);
    if (!i) {
        for (int64_t c = 0; c < l->shape.each; c++)
            ti_gram_sum(l->sum[program], x + c * row, row);
        for (int64_t j = 0; j < row; j++)
            l->shift[program][j] = (float)(l->sum[program][j] / (double)l->shape.each);
        memset(l->sum[program], 0, (size_t)row * sizeof *l->sum[program]);
    }
    for (int64_t c = 0; c < l->shape.each; c++) {
        ti_gram_centre(x + c * row, l->shift[program], row);
        ti_gram_sum(l->sum[program], x + c * row, row);
    }
    return x;
}

static lanes lanes_of(const solving *v, size_t block, tc_arena *room)
{
    const tc_columns *s = v->f->shape;
    lanes l = {.shape = *s, .first = (int64_t)block * TC_OUTER_LANES};
    l.n = ti_min_i64(TC_OUTER_LANES, s->groups - l.first);
    l.shape.groups = l.shape.rows = l.n;
    size_t row = (size_t)(l.n * s->k);
    l.h = tc_new_n(room, float, row * (size_t)s->k);
    l.c = tc_new_n(room, float, row * (size_t)s->k);
    for (int p = 0; p < 2; p++) {
        l.shift[p] = tc_new_n(room, float, row);
        l.sum[p] = tc_new_n(room, double, row);
    }
    return l;
}

/* Channel i of them as a group: its sums, in order. */
static void finish_lane(const solving *v, const lanes *l, int64_t i, sums to, tc_arena *room)
{
    int64_t k = l->shape.k;
    tc_mark mark = ti_arena_mark(room);
    double *x = tc_new_n(room, double, (size_t)k), *y = tc_new_n(room, double, (size_t)k);
    for (int64_t j = 0; j < k; j++) {
        x[j] = l->sum[TC_REAL][j * l->n + i];
        y[j] = l->sum[TC_TYPED][j * l->n + i];
    }
    for (int64_t j = 0; j < k * k; j++) {
        to.h[j] = l->h[j * l->n + i]; /* above the diagonal */
        to.cross[j] = l->c[j * l->n + i];
    }
    finish(v, to, l->first + i, x, y);
    ti_arena_rewind(room, mark);
}

static void solve_lanes(void *what, size_t block, tc_arena *room)
{
    const solving *v = what;
    lanes l = lanes_of(v, block, room);
    int64_t k = l.shape.k;
    for (size_t i = 0; i < v->f->n_sample; i++) {
        tc_mark mark = ti_arena_mark(room);
        const float *y = lane_windows(v, &l, i, TC_TYPED, room),
                    *x = lane_windows(v, &l, i, TC_REAL, room);
        ti_outer_add_lanes(l.h, l.n, k, l.shape.each, y, y, l.n * k, l.n, true);
        ti_outer_add_lanes(l.c, l.n, k, l.shape.each, x, y, l.n * k, l.n, false);
        ti_arena_rewind(room, mark);
    }
    float *own = v->h ? NULL : ti_arena_raw(room, 2 * (size_t)(k * k) * sizeof *own);
    for (int64_t i = 0; i < l.n; i++) {
        sums to = v->h ? sums_of(v, l.first + i) : (sums){own, own + k * k};
        finish_lane(v, &l, i, to, room);
        if (!v->h)
            solve_some(v, to, l.first + i, 1, room);
    }
}

/* ---- the whole ---- */

bool ti_feedback_few(const tc_setting *weight)
{
    enum { FOUR_BITS = 7 };
    bool few = weight->dtype == TC_i4 || (weight->dtype == TC_i8 && weight->qmax <= FOUR_BITS);
    return few && !weight->group;
}

/* Channels with scales of their own, found by search, get new ones: the type of the codes, in memory
 * of `to`. */
static void begin_scales(solving *v)
{
    const tc_feedback *f = v->f;
    const tc_quant *old = f->codes.type->quant;
    if (!ti_feedback_few(f->setting) || f->setting->observer != TC_OBSERVER_mse || old->axis != 0)
        return;
    v->scale = tc_new_n(f->to, double, (size_t)old->count);
    memcpy(v->scale, old->scale, (size_t)old->count * sizeof *v->scale);
    tc_quant *q = ti_arena_copy(f->to, old, sizeof *q);
    tc_type *type = ti_arena_copy(f->to, f->codes.type, sizeof *type);
    q->scale = v->scale;
    type->quant = q;
    v->out.type = type;
}

tc_tensor ti_feedback_codes(const tc_feedback *f)
{
    tc_mark mark = ti_arena_mark(&f->ctx->scratch);
    const tc_columns *s = f->shape;
    solving v = {.f = f, .out = ti_tensor_new(f->to, f->codes.type), .left = s->k};
    size_t blocks = (size_t)((s->rows + ROWS - 1) / ROWS),
           some = (size_t)((s->groups + TC_OUTER_LANES - 1) / TC_OUTER_LANES);
    bool apart = s->taps_first && ti_lattice_plain(f->setting);
    if (s->taps_first && !apart) {
        make_room(&v);
        ti_each(f->ctx, some, f->n_thread, solve_lanes, &v);
    } else if (!apart) {
        v.by_rows = 2 * (s->rows / s->groups) < s->k;
        v.left = v.by_rows ? s->rows / s->groups : s->k;
        gather(&v);
    }
    tc_lattice lattice = ti_lattice_of(f->ctx, &f->ctx->scratch, f->real, f->codes.type->quant,
                                       f->setting, importance_of(&v));
    v.lattice = &lattice;
    if (lattice.step)
        ti_lattice_round(&lattice, f->real, v.out);
    else
        memcpy(v.out.data, f->codes.data, tc_type_bytes(f->codes.type));
    begin_scales(&v);
    ti_each(f->ctx, apart ? some : blocks, f->n_thread, apart ? solve_lanes : solve_rows, &v);
    ti_arena_rewind(&f->ctx->scratch, mark);
    return v.out;
}
