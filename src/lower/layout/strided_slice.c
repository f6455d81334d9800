/* SPDX-License-Identifier: Apache-2.0 */
/* strided_slice.c -- see strided_slice.h. */
#include "strided_slice.h"

tc_select ti_select_all(const tc_type *t)
{
    tc_select s = {.rank = t->rank};
    for (int i = 0; i < t->rank; i++)
        s.axis[i] = (tc_range){0, t->dim[i], 1};
    return s;
}

bool ti_select_is_all(const tc_select *s, const tc_type *t)
{
    for (int i = 0; i < s->rank; i++)
        if (!ti_range_is_all(&s->axis[i], t->dim[i]))
            return false;
    return true;
}

static bool add_factor(tc_factors *f, int64_t size, int axis)
{
    if (size == 1)
        return true;
    if (f->n == TC_FACTORS_MAX)
        return false;
    f->size[f->n] = size;
    f->axis[f->n++] = axis;
    return true;
}

/* Cut the rest of both axes at the nearer end; the farther one must be a multiple. */
static bool common_factors(const tc_type *a, const tc_type *b, tc_factors *of_a, tc_factors *of_b)
{
    int i = 0, k = 0;
    int64_t left_a = 1, left_b = 1;
    of_a->n = of_b->n = 0;
    if (tc_type_count(a) == 0 || tc_type_count(a) != tc_type_count(b))
        return false;
    /* from the major end: `left` is what of the axis is still to be cut */
    for (;;) {
        while (left_a == 1 && i < a->rank)
            left_a = a->dim[i++];
        while (left_b == 1 && k < b->rank)
            left_b = b->dim[k++];
        if (left_a == 1 && left_b == 1)
            return true;
        int64_t cut = left_a < left_b ? left_a : left_b;
        if (left_a % cut || left_b % cut || !add_factor(of_a, cut, i - 1) ||
            !add_factor(of_b, cut, k - 1))
            return false;
        left_a /= cut;
        left_b /= cut;
    }
}

/* A selection of an axis as one of each of its factors first .. last: counts and starts, steps
 * are 1. */
static bool spread(tc_range r, const tc_factors *f, int first, int last, tc_range *part)
{
    int k = last;
    for (int64_t step = r.count == 1 ? 1 : r.step; step > 1;
         k--) { /* the minor factors are one element each */
        if (k < first || step % f->size[k])
            return false;
        part[k] = (tc_range){r.start % f->size[k], 1, 1};
        r.start /= f->size[k];
        step /= f->size[k];
    }
    for (; k >= first && r.count != 1; k--) {
        int64_t size = f->size[k];
        if (r.start % size == 0 && r.count % size == 0 && (k > first || r.count == size)) {
            part[k] = (tc_range){0, size, 1};
            r.start /= size;
            r.count /= size;
            continue;
        }
        if (r.start % size + r.count > size)
            return false;
        part[k] = (tc_range){r.start % size, r.count, 1};
        r.start /= size;
        r.count = 1;
    }
    for (; k >= first; k--) {
        part[k] = (tc_range){r.start % f->size[k], 1, 1};
        r.start /= f->size[k];
    }
    return r.count == 1;
}

/* The other way: ones, then at most one range, then whole factors, then ones. */
static bool gather(const tc_range *part, const tc_factors *f, int first, int last, tc_range *r)
{
    *r = (tc_range){0, 1, 1};
    int64_t stride = 1;
    bool open = true; /* more of the range may follow */
    for (int k = last; k >= first; k--) {
        bool one = part[k].count == 1;
        if (!one && !open)
            return false;
        r->start += part[k].start * stride;
        if (one && r->count == 1)
            r->step *= f->size[k];
        r->count *= part[k].count;
        open = r->count == 1 || part[k].count == f->size[k];
        stride *= f->size[k];
    }
    if (r->count == 1)
        r->step = 1;
    return true;
}

bool ti_select_reshape(const tc_select *of, const tc_type *out, const tc_type *in,
                       tc_select *result)
{
    tc_factors fo, fi;
    tc_range part[TC_FACTORS_MAX];
    if (!common_factors(out, in, &fo, &fi))
        return false;
    for (int i = 0, k = 0; i < out->rank; i++) {
        int first = k;
        while (k < fo.n && fo.axis[k] == i)
            k++;
        if (!spread(of->axis[i], &fo, first, k - 1, part))
            return false;
    }
    result->rank = in->rank;
    for (int i = 0, k = 0; i < in->rank; i++) {
        int first = k;
        while (k < fi.n && fi.axis[k] == i)
            k++;
        if (!gather(part, &fi, first, k - 1, &result->axis[i]))
            return false;
    }
    return true;
}
