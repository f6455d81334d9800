/* SPDX-License-Identifier: Apache-2.0 */
/* feedback.c -- weights rounded together.
 *
 * Rounding each weight to the nearest code makes errors that add up in a row.  Of what enters a
 * product, windows are taken at some positions, and the codes of every row descend to
 *
 *   min over q of  sum (w x - s q y)^2        x: real windows, y: typed ones, means taken off
 *
 * staying within a step of w / s.  So a row makes up for the rounding of its other weights and, as
 * far as that repeats itself, for the errors of its input; what the means move is left to the bias.
 * Sums are taken window by window in one order: the same samples give the same codes on however
 * many threads. */
#include "feedback.h"

#include <math.h>

#include "../fast/outer.h"
#include "../num/load.h"
#include "gram_matrix.h"
#include "sample_runner.h"

enum {
    COLUMNS = 256,
    SWEEPS = 6,
    BLOCK = 8, /* rows of a sum, */
    WIDE = 32, /* and columns, at a time */
    ROWS = 32  /* of weights at a time */
};
static const double RIDGE =
    0.01; /* of the mean of H's diagonal: weights without gradient stay */

static const float SHRINK = 0.4F; /* of what lies off H's diagonal, for steps by group */

typedef struct solving {
    const tc_feedback *f;
    float *h, *c; /* by group: k x k */
    float *panel[2]; /* of the real and the typed windows, by group */
    int64_t n_column; /* windows of all samples */
    const tc_lattice *lattice;
    tc_tensor out;
} solving;

/* ---- sums ---- */

typedef struct averaging {
    const tc_feedback *f;
    float *mean[2]; /* of all windows, real and typed */
} averaging;

/* Columns COLUMNS * block and after. */
static void average(void *what, size_t block, tc_arena *room)
{
    const averaging *a = what;
    const tc_feedback *f = a->f;
    const tc_columns *s = f->shape;
    int64_t row = s->groups * s->k, first = (int64_t)block * COLUMNS,
            n = ti_min_i64(COLUMNS, row - first);
    (void)room;
    for (int k = 0; k < 2; k++) {
        double sum[COLUMNS] = {0};
        for (size_t i = 0; i < f->n_window; i++) {
            const float *x = (k ? f->window[i].typed : f->window[i].real) + first;
            for (int64_t c = 0; c < s->each; c++)
                ti_gram_sum(sum, x + c * row, n);
        }
        for (int64_t j = 0; j < n; j++)
            a->mean[k][first + j] = (float)(sum[j] / (double)(s->each * (int64_t)f->n_window));
    }
}

/* The windows are the caller's to lend. */
static void centre(void *what, size_t i, tc_arena *room)
{
    const averaging *c = what;
    const tc_columns *s = c->f->shape;
    int64_t row = s->groups * s->k;
    (void)room;
    for (int k = 0; k < 2; k++) {
        float *x = (float *)(uintptr_t)(k ? c->f->window[i].typed : c->f->window[i].real);
        for (int64_t p = 0; p < s->each; p++)
            ti_gram_centre(x + p * row, c->mean[k], row);
    }
}

/* ---- sums over packed windows ----
 *
 * Columns WIDE at a time, window after window, filled up with zeros: what a sum of outer products
 * reads lies side by side. */

static int64_t panels_of(const tc_columns *s) { return (s->k + WIDE - 1) / WIDE; }

/* Panel `at` of all groups' of the real windows, or of the typed ones after them. */
static void pack_panel(void *what, size_t at, tc_arena *room)
{
    const solving *v = what;
    const tc_columns *s = v->f->shape;
    int64_t all = s->groups * panels_of(s), which = (int64_t)at / all, panel = (int64_t)at % all,
            column = panel % panels_of(s) * WIDE, n = ti_min_i64(WIDE, s->k - column),
            first = panel / panels_of(s) * s->k + column, row = s->groups * s->k;
    float *to = v->panel[which] + panel * v->n_column * WIDE;
    (void)room;
    for (size_t i = 0; i < v->f->n_window; i++) {
        const float *x = (which ? v->f->window[i].typed : v->f->window[i].real) + first;
        for (int64_t c = 0; c < s->each; c++, to += WIDE, x += row) {
            memcpy(to, x, (size_t)n * sizeof *to);
            memset(to + n, 0, (size_t)(WIDE - n) * sizeof *to);
        }
    }
}

/* BLOCK rows of a sum, WIDE columns of them. */
static void add_tile(const solving *v, float *sum, int64_t row, int64_t column, const float *a,
                     const float *b)
{
    int64_t k = v->f->shape->k, rows = ti_min_i64(BLOCK, k - row),
            n = ti_min_i64(WIDE, k - column);
    float tile[BLOCK * WIDE] = {0};
    ti_outer_add(tile, WIDE, BLOCK, WIDE, v->n_column, &(tc_outer){a, WIDE, b, WIDE}, 1);
    for (int64_t i = 0; i < rows; i++)
        memcpy(sum + (row + i) * k + column, tile + i * WIDE, (size_t)n * sizeof *tile);
}

/* Columns of both sums: panel number `at` of all groups'.  H is the same on both sides of its
 * diagonal: what lies below the panel is copied there later. */
static void add_columns(void *what, size_t at, tc_arena *room)
{
    const solving *v = what;
    const tc_columns *s = v->f->shape;
    int64_t panels = panels_of(s), g = (int64_t)at / panels, column = (int64_t)at % panels * WIDE,
            apart = v->n_column * WIDE;
    const float *x = v->panel[0] + g * panels * apart, *y = v->panel[1] + g * panels * apart,
                *b = y + column / WIDE * apart;
    (void)room;
    for (int64_t row = 0; row < s->k; row += BLOCK) {
        int64_t from = row / WIDE * apart + row % WIDE;
        if (row < column + WIDE)
            add_tile(v, v->h + g * s->k * s->k, row, column, y + from, b);
        add_tile(v, v->c + g * s->k * s->k, row, column, x + from, b);
    }
}

static void mirror(const solving *v)
{
    int64_t k = v->f->shape->k;
    for (int64_t g = 0; g < v->f->shape->groups; g++) {
        float *h = v->h + g * k * k;
        for (int64_t i = 0; i < k; i++)
            for (int64_t j = 0; j < i; j++)
                h[i * k + j] = h[j * k + i];
    }
}

/* The same for windows with their channels last: TC_OUTER_LANES groups side by side. */
static void add_lanes(void *what, size_t block, tc_arena *room)
{
    const solving *v = what;
    const tc_columns *s = v->f->shape;
    int64_t first = (int64_t)block * TC_OUTER_LANES, k = s->k, row = s->groups * k,
            lanes = ti_min_i64(TC_OUTER_LANES, s->groups - first);
    float *h = tc_new_n(room, float, (size_t)(k * k * lanes)),
          *c = tc_new_n(room, float, (size_t)(k * k * lanes));
    for (size_t i = 0; i < v->f->n_window; i++) {
        const float *x = v->f->window[i].real + first, *y = v->f->window[i].typed + first;
        ti_outer_add_lanes(h, lanes, k, s->each, y, y, row, s->groups, true);
        ti_outer_add_lanes(c, lanes, k, s->each, x, y, row, s->groups, false);
    }
    for (int64_t l = 0; l < lanes; l++)
        for (int64_t i = 0; i < k * k; i++) {
            int64_t r = ti_min_i64(i / k, i % k), q = ti_max_i64(i / k, i % k);
            v->h[(first + l) * k * k + i] = h[(r * k + q) * lanes + l];
            v->c[(first + l) * k * k + i] = c[i * lanes + l];
        }
}

static void add_all(solving *v)
{
    const tc_feedback *f = v->f;
    const tc_columns *s = f->shape;
    size_t lanes = (size_t)((s->groups + TC_OUTER_LANES - 1) / TC_OUTER_LANES),
           panels = (size_t)(s->groups * panels_of(s));
    if (s->taps_first) {
        ti_each(f->ctx, lanes, f->n_thread, add_lanes, v);
        return;
    }
    tc_mark mark = ti_arena_mark(&f->ctx->scratch);
    v->n_column = s->each * (int64_t)f->n_window;
    for (int i = 0; i < 2; i++)
        v->panel[i] = ti_arena_raw(&f->ctx->scratch,
                                   panels * (size_t)v->n_column * WIDE * sizeof(float));
    ti_each(f->ctx, 2 * panels, f->n_thread, pack_panel, v);
    ti_each(f->ctx, panels, f->n_thread, add_columns, v);
    ti_arena_rewind(&f->ctx->scratch, mark);
    mirror(v);
}

static void add_ridge(const solving *v)
{
    const tc_columns *s = v->f->shape;
    for (int64_t g = 0; g < s->groups; g++) {
        float *h = v->h + g * s->k * s->k, *c = v->c + g * s->k * s->k;
        double mean = 0;
        for (int64_t i = 0; i < s->k; i++)
            mean += (double)h[i * s->k + i] / (double)s->k;
        for (int64_t i = 0; i < s->k; i++) {
            h[i * s->k + i] += (float)(RIDGE * mean);
            c[i * s->k + i] += (float)(RIDGE * mean);
        }
    }
}

/* Of few windows, products of different numbers are known less well than squares. */
static void shrink(const solving *v, float by)
{
    const tc_columns *s = v->f->shape;
    for (int64_t i = 0; i < s->groups * s->k; i++) {
        float *h = v->h + i * s->k, *c = v->c + i * s->k, own = h[i % s->k];
        for (int64_t j = 0; j < s->k; j++) {
            h[j] *= 1 - by;
            c[j] *= 1 - by;
        }
        h[i % s->k] = own;
        c[i % s->k] += by * own;
    }
}

static void gather(solving *v)
{
    const tc_feedback *f = v->f;
    const tc_columns *s = f->shape;
    tc_arena *scratch = &f->ctx->scratch;
    size_t row = (size_t)(s->groups * s->k), square = row * (size_t)s->k;
    averaging a = {f, {tc_new_n(scratch, float, row), tc_new_n(scratch, float, row)}};
    if (!f->centred) {
        ti_each(f->ctx, (row + COLUMNS - 1) / COLUMNS, f->n_thread, average, &a);
        ti_each(f->ctx, f->n_window, f->n_thread, centre, &a);
    }
    v->h = tc_new_n(scratch, float, square);
    v->c = tc_new_n(scratch, float, square);
    add_all(v);
    if (f->setting->group)
        shrink(v, SHRINK);
    add_ridge(v);
}

/* ---- codes ---- */

/* A weight is weighted by the squares of its inputs. */
static tc_importance importance_of(const solving *v)
{
    const tc_columns *s = v->f->shape;
    float *by = tc_new_n(&v->f->ctx->scratch, float, (size_t)(s->groups * s->k));
    for (int64_t g = 0; g < s->groups; g++)
        for (int64_t j = 0; j < s->k; j++)
            by[g * s->k + j] = v->h[(g * s->k + j) * s->k + j];
    return (tc_importance){by, s->groups};
}

/* Rows first .. first+n-1, of one group. */
static void solve_some(const solving *v, int64_t first, int64_t n, tc_arena *room)
{
    const tc_feedback *f = v->f;
    const tc_columns *s = f->shape;
    const tc_quant *q = f->codes.type->quant;
    int64_t k = s->k, g = first / (s->rows / s->groups);
    size_t all = (size_t)(n * k);
    float *want = tc_new_n(room, float, all), *slope = tc_new_n(room, float, all),
          *code = tc_new_n(room, float, all), *own = tc_new_n(room, float, 2 * all + (size_t)k);
    int64_t *step = tc_new_n(room, int64_t, all);
    for (int64_t i = 0; i < n * k; i++) {
        int64_t c = q->axis >= 0 ? first + i / k : 0, at = first * k + i;
        want[i] = (float)((double)((const float *)f->real.data)[at] / q->scale[c]);
        step[i] = ti_lattice_step(v->lattice, c, i % k);
        code[i] = (float)ti_load_i64(v->out, at);
    }
    tc_gram_rows r = {.n = n,
                      .k = k,
                      .want = want,
                      .code = code,
                      .step = v->lattice->step ? step : NULL,
                      .lo = v->lattice->lo,
                      .hi = v->lattice->hi,
                      .h = v->h + g * k * k,
                      .c = v->c + g * k * k,
                      .reach = 1,
                      .slope = slope,
                      .room = own};
    ti_gram_descend(&r, SWEEPS);
    for (int64_t i = 0; i < n * k; i++)
        ti_store_i64(v->out, first * k + i, (int64_t)code[i]);
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
        solve_some(v, first, n, room);
    }
}

tc_tensor ti_feedback_codes(const tc_feedback *f)
{
    tc_mark mark = ti_arena_mark(&f->ctx->scratch);
    solving v = {.f = f, .out = ti_tensor_new(f->to, f->codes.type)};
    gather(&v);
    tc_lattice lattice = ti_lattice_of(f->ctx, &f->ctx->scratch, f->real, f->codes.type->quant,
                                       f->setting, importance_of(&v));
    v.lattice = &lattice;
    if (lattice.step)
        ti_lattice_round(&lattice, f->real, v.out);
    else
        memcpy(v.out.data, f->codes.data, tc_type_bytes(f->codes.type));
    size_t blocks = (size_t)((f->shape->rows + ROWS - 1) / ROWS);
    ti_each(f->ctx, blocks, f->n_thread, solve_rows, &v);
    ti_arena_rewind(&f->ctx->scratch, mark);
    return v.out;
}
