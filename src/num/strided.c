/* SPDX-License-Identifier: Apache-2.0 */
/* strided.c -- copies between strided arrays: whole rows where both sides have them, square
 * blocks where source and destination run along different axes, single elements otherwise. */
#include "strided.h"

#include "turn.h"

enum { TILE = 16 }; /* elements on a side: both sides of a block stay in the first cache */

void ti_steps(const tc_type *type, int64_t step[TC_MAX_RANK])
{
    int64_t at = 1;
    for (int i = type->rank - 1; i >= 0; i--) {
        step[i] = at;
        at *= type->dim[i];
    }
}

int64_t ti_extent(const tc_type *type, int from, int to)
{
    int64_t n = 1;
    for (int i = from; i < to; i++)
        n *= type->dim[i];
    return n;
}

/* Loops over elements of a fixed size; steps are in bytes here. */
#define LOOPS(size)                                                                                \
    static void line##size(char *to, const char *from, int64_t n, int64_t to_step,                 \
                           int64_t from_step)                                                      \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++)                                                            \
            memcpy(to + i * to_step, from + i * from_step, size);                                  \
    }                                                                                              \
    /* rows run along `to`, columns along `from` */                                                \
    static void block##size(char *to, const char *from, const tc_axis *row, const tc_axis *column) \
    {                                                                                              \
        for (int64_t r = 0; r < row->n; r += TILE)                                                 \
            for (int64_t c = 0; c < column->n; c += TILE)                                          \
                for (int64_t k = c; k < c + TILE && k < column->n; k++)                            \
                    line##size(to + k * column->to + r * row->to,                                  \
                               from + k * column->from + r * row->from,                            \
                               ti_min_i64(TILE, row->n - r), size, row->from);                     \
    }
LOOPS(1)
LOOPS(2)
LOOPS(4)
LOOPS(8)
LOOPS(16)

/* Strips of a block of four-byte elements, k rows or k columns, as far as squares go. */
#define STRIPS(k)                                                                                  \
    static void rows##k(char *to, const char *from, const tc_axis *row, const tc_axis *column)     \
    {                                                                                              \
        for (int64_t c = 0; c + 4 <= column->n; c += 4)                                            \
            ti_turn4(to + c * column->to, column->to, from + c * 4, row->from, k, 4);              \
    }                                                                                              \
    static void columns##k(char *to, const char *from, const tc_axis *row, const tc_axis *column)  \
    {                                                                                              \
        for (int64_t r = 0; r + 4 <= row->n; r += 4)                                               \
            ti_turn4(to + r * 4, column->to, from + r * row->from, row->from, 4, k);               \
    }
STRIPS(1)
STRIPS(2)
STRIPS(3)

/* A block of four-byte elements, square by square in registers. */
static void turned4(char *to, const char *from, const tc_axis *row, const tc_axis *column)
{
    typedef void strip(char *, const char *, const tc_axis *, const tc_axis *);
    static strip *const last_rows[] = {NULL, rows1, rows2, rows3},
                 *const last_columns[] = {NULL, columns1, columns2, columns3};
    if (row->to != 4 || column->from != 4) {
        block4(to, from, row, column);
        return;
    }
    int64_t r = row->n % 4, c = column->n % 4, rows = row->n - r, columns = column->n - c;
    for (int64_t i = 0; i < rows; i += TILE)
        for (int64_t j = 0; j < columns; j += 4)
            for (int64_t k = i; k < i + TILE && k < rows; k += 4)
                ti_turn4(to + j * column->to + k * 4, column->to, from + j * 4 + k * row->from,
                         row->from, 4, 4);
    if (r)
        last_rows[r](to + rows * 4, from + rows * row->from, row, column);
    if (c)
        last_columns[c](to + columns * column->to, from + columns * 4, row, column);
    for (int64_t j = columns; j < column->n; j++)
        line4(to + j * column->to + rows * 4, from + j * 4 + rows * row->from, r, 4, row->from);
}

static const struct {
    size_t bytes;
    void (*line)(char *, const char *, int64_t, int64_t, int64_t);
    void (*block)(char *, const char *, const tc_axis *, const tc_axis *);
} loops[] = {{1, line1, block1},
             {2, line2, block2},
             {4, line4, turned4},
             {8, line8, block8},
             {16, line16, block16}};

static int loop_of(int64_t bytes)
{
    for (int i = 0; i < (int)TC_COUNT(loops); i++)
        if ((int64_t)loops[i].bytes == bytes)
            return i;
    return -1;
}

/* Steps in bytes, axes of extent 1 removed, contiguous neighbours merged.  -1: nothing to move. */
static int simplify(const tc_axis *axis, int n_axis, int64_t bytes, tc_axis *out)
{
    int n = 0;
    for (int i = 0; i < n_axis; i++) {
        if (axis[i].n == 0)
            return -1;
        if (axis[i].n == 1)
            continue;
        tc_axis a = {axis[i].n, axis[i].to * bytes, axis[i].from * bytes};
        if (n && out[n - 1].to == a.n * a.to && out[n - 1].from == a.n * a.from)
            out[n - 1] = (tc_axis){out[n - 1].n * a.n, a.to, a.from};
        else
            out[n++] = a;
    }
    return n;
}

/* The inner loop for each index of the outer axes. */
typedef struct tc_inner {
    int loop;
    int64_t row_bytes; /* whole rows, or 0 */
    tc_axis row, column; /* column.n == 0: a line */
} tc_inner;

static void run_inner(const tc_inner *in, char *to, const char *from)
{
    if (in->row_bytes)
        memcpy(to, from, (size_t)in->row_bytes);
    else if (in->column.n)
        loops[in->loop].block(to, from, &in->row, &in->column);
    else
        loops[in->loop].line(to, from, in->row.n, in->row.to, in->row.from);
}

static void walk(const tc_axis *axis, int n, const tc_inner *inner, char *to, const char *from)
{
    int64_t at[TC_MAX_AXES] = {0};
    for (;;) {
        run_inner(inner, to, from);
        int k = n - 1;
        for (; k >= 0; k--) {
            to += axis[k].to;
            from += axis[k].from;
            if (++at[k] < axis[k].n)
                break;
            to -= axis[k].n * axis[k].to;
            from -= axis[k].n * axis[k].from;
            at[k] = 0;
        }
        if (k < 0)
            return;
    }
}

void ti_move(void *to, const void *from, size_t bytes, const tc_axis *axis, int n_axis)
{
    tc_axis a[TC_MAX_AXES];
    int64_t size = (int64_t)bytes;
    int n = simplify(axis, n_axis, size, a);
    if (n < 0)
        return;
    /* A short run that both sides have is one larger element. */
    if (n && a[n - 1].to == size && a[n - 1].from == size && loop_of(size * a[n - 1].n) >= 0)
        size *= a[--n].n;
    tc_inner inner = {.loop = loop_of(size), .row = {1, size, size}};
    if (n == 0) {
        inner.row_bytes = size;
    } else if (a[n - 1].to == size && a[n - 1].from == size) {
        inner.row_bytes = size * a[--n].n;
    } else {
        inner.row = a[--n];
        for (int k = n - 1; k >= 0 && inner.row.to == size; k--)
            if (a[k].from == size) {
                inner.column = a[k];
                memmove(a + k, a + k + 1, (size_t)(n - 1 - k) * sizeof *a);
                n--;
                break;
            }
    }
    walk(a, n, &inner, to, from);
}

void ti_fill(void *to, const void *element, size_t bytes, int64_t count)
{
    if (bytes == 1)
        memset(to, *(const uint8_t *)element, (size_t)count);
    else
        loops[loop_of((int64_t)bytes)].line(to, element, count, (int64_t)bytes, 0);
}
