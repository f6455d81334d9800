/* SPDX-License-Identifier: Apache-2.0 */
/* pack.c -- see pack.h. */
#include "pack.h"

#include <stdlib.h>

static int larger_first(const void *a, const void *b)
{
    const tc_span *x = *(tc_span *const *)a, *y = *(tc_span *const *)b;
    if (x->size != y->size)
        return x->size < y->size ? 1 : -1;
    return x < y ? -1 : x > y; /* pointers into one array: the order of arrival */
}

static bool meet(const tc_span *a, const tc_span *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* Insert into the list that is sorted by address. */
static void insert(tc_span **placed, size_t n, tc_span *s)
{
    size_t i = n;
    for (; i > 0 && placed[i - 1]->offset > s->offset; i--)
        placed[i] = placed[i - 1];
    placed[i] = s;
}

size_t tc_pack(tc_arena *scratch, tc_span *span, size_t n, size_t align)
{
    tc_mark mark = tc_arena_mark(scratch);
    tc_span **order = tc_new_n(scratch, tc_span *, n), **placed = tc_new_n(scratch, tc_span *, n);
    for (size_t i = 0; i < n; i++)
        order[i] = &span[i];
    qsort(order, n, sizeof *order, larger_first);
    size_t total = 0;
    for (size_t i = 0; i < n; i++) {
        tc_span *s = order[i];
        size_t at = 0;
        for (size_t k = 0; k < i; k++) {
            const tc_span *other = placed[k];
            if (!meet(s, other) || other->offset + other->size <= at)
                continue;
            if (at + s->size <= other->offset)
                break;
            at = (other->offset + other->size + align - 1) / align * align;
        }
        s->offset = at;
        insert(placed, i, s);
        if (at + s->size > total)
            total = at + s->size;
    }
    tc_arena_rewind(scratch, mark);
    return total;
}
