/* SPDX-License-Identifier: Apache-2.0 */
/* fit.c -- a quantity that depends on sizes, as a formula of dimensions.
 *
 * Tried in this order, x and y being dimensions, other letters constants:
 *     c    x    a x + b    max(x, c), min(x, c)    x * F, c * F    x + G, x - G
 *     (a x + b) / c rounded down    c +- (x + b) mod m    x + c +- (x + b) mod m
 * where F is any of them and G one of the first three.  The first that fits all points is taken;
 * other points verify it. */
#include "sizes.h"

enum { DEEPEST = 3, MOST_DIVISOR = 32, MOST_FACTOR = 8, NEAR_ATOMS = 48 };

static tc_size_formula *new_formula(tc_atoms *atoms, tc_formula_kind kind,
                                    const tc_size_formula *x, const tc_size_formula *y)
{
    tc_size_formula *f = tc_new(&atoms->a->ctx->arena, tc_size_formula);
    *f = (tc_size_formula){.kind = kind, .a = x, .b = y};
    return f;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t compute(tc_formula_kind kind, int64_t x, int64_t y)
{
    switch (kind) {
    case TC_FORMULA_ADD:
        return x + y;
    case TC_FORMULA_SUB:
        return x - y;
    case TC_FORMULA_MUL:
        return x * y;
    case TC_FORMULA_DIV:
        return floor_div(x, y);
    case TC_FORMULA_MOD:
        return x - y * floor_div(x, y);
    case TC_FORMULA_MAX:
        return x > y ? x : y;
    default:
        return x < y ? x : y;
    }
}

static tc_size_formula *number(tc_atoms *atoms, int64_t n)
{
    tc_size_formula *f = new_formula(atoms, TC_FORMULA_CONST, NULL, NULL);
    f->number = n;
    for (size_t p = 0; p < TC_POINTS; p++)
        f->is.at[p] = n;
    return f;
}

static tc_size_formula *both(tc_atoms *atoms, tc_formula_kind kind, const tc_size_formula *x,
                             const tc_size_formula *y)
{
    tc_size_formula *f = new_formula(atoms, kind, x, y);
    for (size_t p = 0; p < atoms->a->n_point; p++)
        f->is.at[p] = compute(kind, x->is.at[p], y->is.at[p]);
    return f;
}

static tc_size_formula *with(tc_atoms *atoms, tc_formula_kind kind, const tc_size_formula *x,
                             int64_t n)
{
    return both(atoms, kind, x, number(atoms, n));
}

/* x + n, without what changes nothing. */
static const tc_size_formula *plus(tc_atoms *atoms, const tc_size_formula *x, int64_t n)
{
    return n > 0 ? with(atoms, TC_FORMULA_ADD, x, n)
           : n   ? with(atoms, TC_FORMULA_SUB, x, -n)
                 : x;
}

static const tc_size_formula *times(tc_atoms *atoms, const tc_size_formula *x, int64_t n)
{
    return n == 1 ? x : with(atoms, TC_FORMULA_MUL, x, n);
}

/* ---- series ---- */

static bool fitted_same(const tc_aligned *a, const tc_series *x, const tc_series *y)
{
    return !memcmp(x->at, y->at, a->n_fit * sizeof *x->at);
}

static bool fitted_constant(const tc_aligned *a, const tc_series *s)
{
    for (size_t p = 1; p < a->n_fit; p++)
        if (s->at[p] != s->at[0])
            return false;
    return true;
}

/* Two points where x differs. */
static bool two_points(const tc_aligned *a, const tc_series *x, size_t *p, size_t *q)
{
    for (*p = 0, *q = 1; *q < a->n_fit; ++*q)
        if (x->at[*q] != x->at[*p])
            return true;
    return false;
}

/* ---- one dimension ---- */

static const tc_size_formula *affine(tc_atoms *atoms, const tc_series *s, const tc_size_formula *x)
{
    const tc_aligned *a = atoms->a;
    size_t p, q;
    if (!two_points(a, &x->is, &p, &q))
        return NULL;
    int64_t run = x->is.at[q] - x->is.at[p], rise = s->at[q] - s->at[p];
    if (rise % run || !rise)
        return NULL;
    int64_t slope = rise / run, shift = s->at[p] - slope * x->is.at[p];
    for (size_t i = 0; i < a->n_fit; i++)
        if (s->at[i] != slope * x->is.at[i] + shift)
            return NULL;
    if (slope > 0)
        return plus(atoms, times(atoms, x, slope), shift);
    return both(atoms, TC_FORMULA_SUB, number(atoms, shift), times(atoms, x, -slope));
}

static const tc_size_formula *limited(tc_atoms *atoms, const tc_series *s, const tc_size_formula *x)
{
    const tc_aligned *a = atoms->a;
    for (int low = 0; low < 2; low++) {
        int64_t c = s->at[0];
        for (size_t p = 1; p < a->n_fit; p++)
            c = low == (s->at[p] < c) ? s->at[p] : c;
        tc_size_formula *f = with(atoms, low ? TC_FORMULA_MAX : TC_FORMULA_MIN, x, c);
        if (fitted_same(a, &f->is, s))
            return f;
    }
    return NULL;
}

/* floor((up x + b) / c): b is between the largest of c s - up x and the least of c s + c - 1 - up
 * x. */
static const tc_size_formula *quotient(tc_atoms *atoms, const tc_series *s,
                                       const tc_size_formula *x)
{
    const tc_aligned *a = atoms->a;
    for (int64_t c = 2; c <= MOST_DIVISOR; c++)
        for (int64_t up = 1; up <= MOST_FACTOR && up < c; up++) {
            int64_t lo = INT64_MIN, hi = INT64_MAX;
            for (size_t p = 0; p < a->n_fit; p++) {
                int64_t least = c * s->at[p] - up * x->is.at[p];
                lo = least > lo ? least : lo;
                hi = least + c - 1 < hi ? least + c - 1 : hi;
            }
            if (lo > hi)
                continue;
            int64_t b = lo <= 0 && hi >= 0 ? 0 : lo > 0 ? lo : hi;
            return with(atoms, TC_FORMULA_DIV, plus(atoms, times(atoms, x, up), b), c);
        }
    return NULL;
}

/* c +- (x + b) mod m, and the same with x added. */
static const tc_size_formula *remainder_of(tc_atoms *atoms, const tc_series *s,
                                           const tc_size_formula *x)
{
    const tc_aligned *a = atoms->a;
    for (int added = 0; added < 2; added++)
        for (int64_t m = 2; m <= MOST_DIVISOR / 2; m++)
            for (int64_t b = 0; b < m; b++)
                for (int minus = 0; minus < 2; minus++) {
                    int64_t c = 0;
                    bool fits = true;
                    for (size_t p = 0; p < a->n_fit && fits; p++) {
                        int64_t r = compute(TC_FORMULA_MOD, x->is.at[p] + b, m);
                        int64_t rest = s->at[p] - (added ? x->is.at[p] : 0) - (minus ? -r : r);
                        c = p ? c : rest;
                        fits = rest == c;
                    }
                    if (!fits)
                        continue;
                    const tc_size_formula *r = with(atoms, TC_FORMULA_MOD, plus(atoms, x, b), m);
                    const tc_size_formula *base =
                        added ? plus(atoms, x, c) : (const tc_size_formula *)number(atoms, c);
                    return !added && !c && !minus
                               ? r
                               : both(atoms, minus ? TC_FORMULA_SUB : TC_FORMULA_ADD, base, r);
                }
    return NULL;
}

/* ---- several ---- */

typedef const tc_size_formula *one_dimension(tc_atoms *atoms, const tc_series *s,
                                             const tc_size_formula *x);

/* Atoms in the order in which they are tried: inputs' first, then those of `near`, then others. */
static const tc_size_formula *try_each(tc_atoms *atoms, const tc_series *s, size_t near,
                                       one_dimension *fn)
{
    for (int turn = 0; turn < 3; turn++)
        for (size_t i = 0; i < atoms->n; i++) {
            const tc_size_formula *x = atoms->atom[i], *f;
            bool input = x->place < atoms->a->n_in, close = x->place == near;
            if (turn == (input ? 0 : close ? 1 : 2) && (f = fn(atoms, s, x)))
                return f;
        }
    return NULL;
}

static const tc_size_formula *same(tc_atoms *atoms, const tc_series *s, const tc_size_formula *x)
{
    return fitted_same(atoms->a, s, &x->is) ? x : NULL;
}

static const tc_size_formula *simple(tc_atoms *atoms, const tc_series *s, size_t near)
{
    const tc_size_formula *f;
    if (fitted_constant(atoms->a, s))
        return number(atoms, s->at[0]);
    if ((f = try_each(atoms, s, near, same)))
        return f;
    return try_each(atoms, s, near, affine);
}

static const tc_size_formula *find(tc_atoms *atoms, const tc_series *s, size_t near, int depth);

/* x * F where x divides the series, c * F where a number does. */
static const tc_size_formula *product(tc_atoms *atoms, const tc_series *s, size_t near, int depth)
{
    const tc_aligned *a = atoms->a;
    for (size_t i = 0; i < atoms->n && i < NEAR_ATOMS; i++) {
        const tc_size_formula *x = atoms->atom[i], *f;
        tc_series rest = {{0}};
        bool divides = true;
        for (size_t p = 0; p < a->n_point && divides; p++) {
            divides = x->is.at[p] && (s->at[p] % x->is.at[p] == 0 || p >= a->n_fit);
            rest.at[p] = divides ? s->at[p] / x->is.at[p] : 0;
        }
        if (divides && (f = depth > 1 ? find(atoms, &rest, near, depth - 1)
                                      : simple(atoms, &rest, near)))
            return f->kind == TC_FORMULA_CONST && f->number == 1 ? x
                                                                  : both(atoms, TC_FORMULA_MUL, x, f);
    }
    return NULL;
}

/* x + G or x - G. */
static const tc_size_formula *sum(tc_atoms *atoms, const tc_series *s, size_t near)
{
    const tc_aligned *a = atoms->a;
    for (size_t i = 0; i < atoms->n && i < NEAR_ATOMS; i++)
        for (int minus = 0; minus < 2; minus++) {
            const tc_size_formula *x = atoms->atom[i], *f;
            tc_series rest = {{0}};
            for (size_t p = 0; p < a->n_point; p++)
                rest.at[p] = minus ? x->is.at[p] - s->at[p] : s->at[p] - x->is.at[p];
            if ((f = simple(atoms, &rest, near)))
                return both(atoms, minus ? TC_FORMULA_SUB : TC_FORMULA_ADD, x, f);
        }
    return NULL;
}

static const tc_size_formula *find(tc_atoms *atoms, const tc_series *s, size_t near, int depth)
{
    const tc_size_formula *f;
    if ((f = simple(atoms, s, near)) || (f = try_each(atoms, s, near, limited)) ||
        (f = depth ? product(atoms, s, near, depth) : NULL) || (f = sum(atoms, s, near)) ||
        (f = try_each(atoms, s, near, quotient)))
        return f;
    return try_each(atoms, s, near, remainder_of);
}

tc_size_formula *ti_fit(tc_atoms *atoms, const tc_series *s, size_t near)
{
    return (tc_size_formula *)(uintptr_t)find(atoms, s, near, DEEPEST);
}

bool ti_fit_holds(const tc_aligned *a, const tc_size_formula *f, const tc_series *s, size_t *p)
{
    for (*p = 0; *p < a->n_point; ++*p)
        if (f->is.at[*p] != s->at[*p])
            return false;
    return true;
}

void ti_atoms_add(tc_atoms *atoms, size_t place)
{
    tc_aligned *a = atoms->a;
    const tc_type *t = ti_type_of(ti_point_graph(a, 0), a->place[place].at[0]);
    for (int axis = 0; axis < t->rank && t->dtype != TC_shape; axis++) {
        tc_series s = ti_place_dim(a, place, axis);
        bool known = ti_series_constant(a, &s);
        for (size_t i = 0; i < atoms->n && !known; i++)
            known = !memcmp(s.at, atoms->atom[i]->is.at, a->n_point * sizeof *s.at);
        if (known)
            continue;
        tc_size_formula *f = new_formula(atoms, TC_FORMULA_DIM, NULL, NULL);
        f->place = place;
        f->axis = axis;
        f->is = s;
        tc_grow(&a->ctx->arena, atoms->atom, atoms->n, atoms->cap);
        atoms->atom[atoms->n++] = f;
    }
}

const char *ti_formula_text(const tc_aligned *a, const tc_size_formula *f)
{
    static const char *const sign[] = {[TC_FORMULA_ADD] = "+", [TC_FORMULA_SUB] = "-",
                                       [TC_FORMULA_MUL] = "*", [TC_FORMULA_DIV] = "/",
                                       [TC_FORMULA_MOD] = "mod", [TC_FORMULA_MAX] = "max",
                                       [TC_FORMULA_MIN] = "min"};
    tc_arena *arena = &a->ctx->arena;
    if (f->kind == TC_FORMULA_CONST)
        return ti_text_format(arena, "%" PRId64, f->number);
    if (f->kind == TC_FORMULA_DIM) {
        const char *name = ti_value_of(ti_point_graph(a, 0), a->place[f->place].at[0])->name;
        return ti_text_format(arena, "%s.%d", name ? name : "value", f->axis);
    }
    const char *x = ti_formula_text(a, f->a), *y = ti_formula_text(a, f->b);
    return ti_text_format(arena, "(%s %s %s)", x, sign[f->kind], y);
}
