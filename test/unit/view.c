/* SPDX-License-Identifier: Apache-2.0 */
/* view.c -- views of memory beside index arithmetic: a list of the elements that a view shows, in
 * their order, changed by hand. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "codegen/view.h"

enum { MOST = 4096, ROUNDS = 4000, STEPS = 6 };

typedef struct shown {
    int32_t rank;
    int64_t dim[TC_VIEW_DIMS], n;
    int64_t at[MOST];
} shown;

static uint64_t state = 1;

static int64_t draw(int64_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)below);
}

/* The next index; false behind the last. */
static bool next(int64_t *at, int32_t rank, const int64_t *dim)
{
    for (int32_t i = rank; i-- > 0; at[i] = 0)
        if (++at[i] < dim[i])
            return true;
    return false;
}

static int64_t count(int32_t rank, const int64_t *dim)
{
    int64_t n = 1;
    for (int32_t i = 0; i < rank; i++)
        n *= dim[i];
    return n;
}

static int64_t flat(const shown *s, const int64_t *at)
{
    int64_t k = 0;
    for (int32_t i = 0; i < s->rank; i++)
        k = k * s->dim[i] + at[i];
    return k;
}

static int64_t element(const tc_view *v, const int64_t *at)
{
    int64_t k = v->at;
    for (int32_t i = 0; i < v->rank; i++)
        k += at[i] * v->stride[i];
    return k;
}

static bool same(const tc_view *v, const shown *s)
{
    if (v->rank != s->rank || memcmp(v->dim, s->dim, (size_t)v->rank * sizeof *v->dim) ||
        ti_view_count(v) != s->n)
        return false;
    int64_t at[TC_VIEW_DIMS] = {0}, k = 0;
    do
        if (element(v, at) != s->at[k++])
            return false;
    while (next(at, v->rank, v->dim));
    return true;
}

/* What `from` shows at the index that `where` makes of each index of the new shape. */
static void rearrange(shown *s, int32_t rank, const int64_t *dim,
                      void (*where)(const int64_t *at, int64_t *old, const void *how),
                      const void *how)
{
    static shown was;
    was = *s;
    s->rank = rank;
    memcpy(s->dim, dim, (size_t)rank * sizeof *dim);
    s->n = 0;
    int64_t at[TC_VIEW_DIMS] = {0}, old[TC_VIEW_DIMS] = {0};
    do {
        where(at, old, how);
        s->at[s->n++] = was.at[flat(&was, old)];
    } while (next(at, rank, s->dim));
}

typedef struct change {
    int32_t rank, axis;
    int64_t by, perm[TC_VIEW_DIMS], old[TC_VIEW_DIMS];
} change;

static void shifted(const int64_t *at, int64_t *old, const void *how)
{
    const change *c = how;
    memcpy(old, at, (size_t)c->rank * sizeof *at);
    old[c->axis] += c->by;
}

static void backwards(const int64_t *at, int64_t *old, const void *how)
{
    const change *c = how;
    memcpy(old, at, (size_t)c->rank * sizeof *at);
    old[c->axis] = c->by - at[c->axis];
}

static void permuted(const int64_t *at, int64_t *old, const void *how)
{
    const change *c = how;
    for (int32_t i = 0; i < c->rank; i++)
        old[c->perm[i]] = at[i];
}

static void repeated(const int64_t *at, int64_t *old, const void *how)
{
    const change *c = how; /* by: axes that are new, in front */
    for (int32_t i = 0; i < c->rank; i++)
        old[i] = c->old[i] == 1 ? 0 : at[i + c->by];
}

static void inside(const int64_t *at, int64_t *old, const void *how)
{
    const change *c = how;
    old[0] = c->by;
    memcpy(old + 1, at, (size_t)(c->rank - 1) * sizeof *at);
}

/* Another shape of as many elements. */
static int32_t reshaped(int64_t n, int64_t *dim)
{
    int32_t rank = 0;
    while (rank < 5 && n > 1) {
        int64_t d = 1 + draw(n < 12 ? n : 12);
        while (n % d)
            d--;
        dim[rank++] = d;
        n /= d;
    }
    dim[rank++] = n;
    return rank;
}

/* Whether strides can say it. */
static bool can_say(const shown *s, int32_t rank, const int64_t *dim)
{
    int64_t at[TC_VIEW_DIMS] = {0}, stride[TC_VIEW_DIMS], k = 0, step = 1;
    for (int32_t i = rank; i-- > 0; step *= dim[i])
        stride[i] = dim[i] > 1 ? s->at[step] - s->at[0] : 0;
    do {
        int64_t want = s->at[0];
        for (int32_t i = 0; i < rank; i++)
            want += at[i] * stride[i];
        if (s->at[k++] != want)
            return false;
    } while (next(at, rank, dim));
    return true;
}

static void step(tc_view *v, shown *s)
{
    change c = {.rank = s->rank, .axis = s->rank ? (int32_t)draw(s->rank) : 0};
    int64_t dim[TC_VIEW_DIMS];
    memcpy(dim, s->dim, sizeof dim);
    memcpy(c.old, s->dim, sizeof dim);
    tc_view out;
    switch (draw(7)) {
    case 0:
        if (!s->rank)
            return;
        c.by = draw(dim[c.axis]);
        dim[c.axis] = 1 + draw(dim[c.axis] - c.by);
        *v = ti_view_slice(v, c.axis, c.by, dim[c.axis]);
        rearrange(s, s->rank, dim, shifted, &c);
        break;
    case 1:
        for (int32_t i = 0; i < s->rank; i++)
            c.perm[i] = i;
        for (int32_t i = s->rank; i-- > 1;) {
            int64_t k = draw(i + 1), t = c.perm[i];
            c.perm[i] = c.perm[k];
            c.perm[k] = t;
        }
        for (int32_t i = 0; i < s->rank; i++)
            dim[i] = s->dim[c.perm[i]];
        *v = ti_view_transpose(v, c.perm);
        rearrange(s, s->rank, dim, permuted, &c);
        break;
    case 2:
        if (!s->rank)
            return;
        c.by = dim[c.axis] - 1;
        *v = ti_view_reverse(v, c.axis);
        rearrange(s, s->rank, dim, backwards, &c);
        break;
    case 3:
        if (!s->rank)
            return;
        c.by = draw(dim[0]);
        *v = ti_view_at(v, c.by);
        rearrange(s, s->rank - 1, dim + 1, inside, &c);
        break;
    case 4: {
        int32_t more = s->rank < 5 ? (int32_t)draw(2) : 0;
        int64_t wide[TC_VIEW_DIMS];
        c.by = more;
        wide[0] = 1 + draw(3);
        for (int32_t i = 0; i < s->rank; i++)
            wide[i + more] = dim[i] == 1 && s->n < 200 ? 1 + draw(3) : dim[i];
        if (s->n * count(s->rank + more, wide) / count(s->rank, dim) > MOST)
            return;
        *v = ti_view_broadcast(v, s->rank + more, wide);
        rearrange(s, s->rank + more, wide, repeated, &c);
        break;
    }
    case 5:
        if (s->rank > 5)
            return;
        dim[s->rank] = 1;
        *v = ti_view_deepen(v);
        s->rank++;
        memcpy(s->dim, dim, sizeof dim);
        break;
    default: {
        int32_t rank = reshaped(s->n, dim);
        bool said = ti_view_reshape(v, rank, dim, &out);
        CHECK(said == can_say(s, rank, dim));
        if (!said)
            return;
        *v = out;
        s->rank = rank;
        memcpy(s->dim, dim, sizeof dim);
    }
    }
}

static void begin(tc_view *v, shown *s)
{
    s->rank = (int32_t)draw(6);
    for (int32_t i = 0; i < s->rank; i++)
        s->dim[i] = 1 + draw(4);
    s->n = count(s->rank, s->dim);
    for (int64_t i = 0; i < s->n; i++)
        s->at[i] = i;
    *v = ti_view_dense(0, s->rank, s->dim);
}

static void changes(void)
{
    static shown s;
    for (int round = 0; round < ROUNDS; round++) {
        tc_view v;
        begin(&v, &s);
        CHECK(ti_view_is_dense(&v));
        for (int k = 0; k < STEPS; k++) {
            step(&v, &s);
            CHECK(same(&v, &s));
            bool dense = true;
            for (int64_t i = 0; i < s.n; i++)
                dense = dense && s.at[i] == s.at[0] + i;
            CHECK(ti_view_is_dense(&v) == dense);
        }
    }
}

/* ---- parts ---- */

typedef struct pairs {
    int64_t v[MOST], n;
    bool good;
} pairs;

static bool take(void *user, const tc_view *part)
{
    pairs *p = user;
    int64_t at[TC_VIEW_DIMS] = {0};
    for (int i = 0; i < 2; i++)
        p->good = p->good && part[i].rank == 3 &&
                  (part[i].dim[2] == 1 || part[i].stride[2] == 1 || part[i].stride[2] == 0) &&
                  !memcmp(part[i].dim, part[0].dim, 3 * sizeof part->dim[0]) &&
                  part[i].dim[0] <= TC_HW_EXTENT;
    if (!p->good)
        return false;
    do
        p->v[p->n++] = element(&part[0], at) * 100000 + element(&part[1], at);
    while (next(at, 3, part[0].dim) && p->n < MOST);
    return true;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The same pairs of elements, in any order. */
static void parts(void)
{
    static shown s;
    static pairs got, want;
    for (int round = 0; round < ROUNDS; round++) {
        tc_view v[2];
        begin(&v[0], &s);
        for (int k = 0; k < 3; k++)
            step(&v[0], &s);
        v[1] = ti_view_dense(1, s.rank, s.dim); /* another of its shape, some axes broadcast */
        for (int32_t i = 0; i < s.rank; i++)
            v[1].stride[i] *= draw(4) > 0;
        int64_t at[TC_VIEW_DIMS] = {0};
        want.n = got.n = 0;
        got.good = true;
        do
            want.v[want.n++] = element(&v[0], at) * 100000 + element(&v[1], at);
        while (next(at, s.rank, s.dim));
        CHECK(ti_view_parts(v, 2, false, take, &got));
        CHECK(got.good);
        qsort(got.v, (size_t)got.n, sizeof *got.v, by_size);
        qsort(want.v, (size_t)want.n, sizeof *want.v, by_size);
        CHECK(got.n == want.n && !memcmp(got.v, want.v, (size_t)got.n * sizeof *got.v));
    }
}

int main(void)
{
    changes();
    parts();
    return check_done();
}
