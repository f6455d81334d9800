/* SPDX-License-Identifier: Apache-2.0 */
/* move.c -- operators that move elements: each is a walk over two arrays (strided.h), for elements
 * of any type. */
#include "kernels.h"
#include "strided.h"

static size_t element(const tc_tensor *t) { return tc_dtypes[t->type->dtype].bytes; }

static const char *at(const tc_tensor *t, int64_t i)
{
    return (const char *)t->data + i * (int64_t)element(t);
}

static void copy_all(tc_call *c)
{
    size_t n = tc_type_bytes(c->out[0].type);
    if (n)
        memcpy(c->out[0].data, c->in[0].data, n);
}

void ti_num_identity(tc_call *c) { copy_all(c); }
void ti_num_reshape(tc_call *c) { copy_all(c); }

/* The whole of `out` in order, read from `x` at `first` with these steps. */
static void read_with(const tc_tensor *out, const tc_tensor *x, int64_t first, const int64_t *step)
{
    tc_axis axis[TC_MAX_RANK];
    int64_t to[TC_MAX_RANK];
    ti_steps(out->type, to);
    for (int i = 0; i < out->type->rank; i++)
        axis[i] = (tc_axis){out->type->dim[i], to[i], step[i]};
    if (tc_type_count(out->type))
        ti_move(out->data, at(x, first), element(x), axis, out->type->rank);
}

void ti_num_permute(tc_call *c)
{
    const tc_attr_perm *a = c->attr;
    int64_t from[TC_MAX_RANK], step[TC_MAX_RANK];
    ti_steps(c->in[0].type, from);
    for (int i = 0; i < a->perm.n; i++)
        step[i] = from[a->perm.v[i]];
    read_with(&c->out[0], &c->in[0], 0, step);
}

void ti_num_expand(tc_call *c)
{
    const tc_type *x = c->in[0].type, *y = c->out[0].type;
    int64_t from[TC_MAX_RANK], step[TC_MAX_RANK] = {0};
    ti_steps(x, from);
    for (int i = 0; i < x->rank; i++)
        if (x->dim[i] != 1)
            step[i + y->rank - x->rank] = from[i];
    read_with(&c->out[0], &c->in[0], 0, step);
}

/* The steps of x, longer along the sliced axis (a step past the end is never taken); where it
 * begins. */
static int64_t slice_steps(const tc_attr_slice *a, const tc_type *x, int64_t step[TC_MAX_RANK])
{
    ti_steps(x, step);
    int64_t first = a->start * step[a->axis];
    step[a->axis] *= ti_min_i64(a->step, x->dim[a->axis]);
    return first;
}

void ti_num_slice(tc_call *c)
{
    int64_t step[TC_MAX_RANK];
    int64_t first = slice_steps(c->attr, c->in[0].type, step);
    read_with(&c->out[0], &c->in[0], first, step);
}

/* `out` is x[.., index, ..] without that axis. */
static void read_row(const tc_tensor *out, const tc_tensor *x, int64_t axis, int64_t index)
{
    int64_t step[TC_MAX_RANK];
    ti_steps(x->type, step);
    int64_t first = index * step[axis];
    for (int64_t i = axis; i + 1 < x->type->rank; i++)
        step[i] = step[i + 1];
    read_with(out, x, first, step);
}

void ti_num_select(tc_call *c)
{
    const tc_attr_select *a = c->attr;
    read_row(&c->out[0], &c->in[0], a->axis, a->index);
}

void ti_num_unbind(tc_call *c)
{
    const tc_attr_axis *a = c->attr;
    for (int i = 0; i < c->n_out; i++)
        read_row(&c->out[i], &c->in[0], a->axis, i);
}

void ti_num_split(tc_call *c)
{
    const tc_attr_split *a = c->attr;
    int64_t step[TC_MAX_RANK], first = 0;
    ti_steps(c->in[0].type, step);
    for (int i = 0; i < c->n_out; i++) {
        read_with(&c->out[i], &c->in[0], first * step[a->axis], step);
        first += a->sizes.v[i];
    }
}

/* Rows of `bytes` each from x into out, `pitch` bytes apart there. */
static void put_rows(char *out, size_t pitch, const char *x, size_t bytes, int64_t rows)
{
    for (int64_t i = 0; i < rows && bytes; i++)
        memcpy(out + (size_t)i * pitch, x + (size_t)i * bytes, bytes);
}

/* Elements between one step of `axis` and the next, for both kinds of joining. */
static void join(tc_call *c, int64_t axis)
{
    const tc_type *y = c->out[0].type;
    int64_t rows = ti_extent(y, 0, (int)axis);
    if (!tc_type_count(y))
        return;
    size_t pitch = tc_type_bytes(y) / (size_t)rows;
    char *out = c->out[0].data;
    for (int i = 0; i < c->n_in; i++) {
        size_t bytes = tc_type_bytes(c->in[i].type) / (size_t)rows;
        put_rows(out, pitch, c->in[i].data, bytes, rows);
        out += bytes;
    }
}

void ti_num_cat(tc_call *c) { join(c, ((const tc_attr_axis *)c->attr)->axis); }
void ti_num_stack(tc_call *c) { join(c, ((const tc_attr_axis *)c->attr)->axis); }

void ti_num_repeat(tc_call *c)
{
    const tc_type *x = c->in[0].type, *y = c->out[0].type;
    int lead = y->rank - x->rank;
    int64_t to[TC_MAX_RANK], from[TC_MAX_RANK];
    tc_axis axis[TC_MAX_AXES];
    ti_steps(y, to);
    ti_steps(x, from);
    for (int i = 0; i < y->rank; i++) {
        int64_t n = i < lead ? 1 : x->dim[i - lead];
        axis[2 * i] = (tc_axis){n ? y->dim[i] / n : 0, n * to[i], 0};
        axis[2 * i + 1] = (tc_axis){n, to[i], i < lead ? 0 : from[i - lead]};
    }
    ti_move(c->out[0].data, c->in[0].data, element(&c->in[0]), axis, 2 * y->rank);
}

void ti_num_repeat_interleave(tc_call *c)
{
    const tc_attr_interleave *a = c->attr;
    const tc_type *x = c->in[0].type;
    if (!tc_type_count(c->out[0].type))
        return;
    int64_t inner = ti_extent(x, (int)a->axis + 1, x->rank);
    int64_t rows = ti_extent(x, 0, (int)a->axis + 1);
    tc_axis axis[] = {{rows, a->repeats * inner, inner}, {a->repeats, inner, 0}, {inner, 1, 1}};
    ti_move(c->out[0].data, c->in[0].data, element(&c->in[0]), axis, 3);
}

void ti_num_flip(tc_call *c)
{
    const tc_attr_flip *a = c->attr;
    const tc_type *x = c->in[0].type;
    int64_t step[TC_MAX_RANK], first = 0;
    ti_steps(x, step);
    for (int i = 0; i < a->axes.n; i++) {
        int64_t k = a->axes.v[i];
        first += (x->dim[k] - 1) * step[k];
        step[k] = -step[k];
    }
    read_with(&c->out[0], &c->in[0], first, step);
}

/* out[(i + shift) mod n] = x[i] along each axis: two pieces per rolled axis. */
typedef struct tc_turn {
    int64_t shift[TC_MAX_RANK];
    tc_axis axis[TC_MAX_RANK];
    int rank;
    size_t bytes;
} tc_turn;

static void turn(tc_turn *t, int k, char *to, const char *from)
{
    if (k == t->rank) {
        ti_move(to, from, t->bytes, t->axis, t->rank);
        return;
    }
    tc_axis whole = t->axis[k];
    int64_t step = whole.to * (int64_t)t->bytes, shift = t->shift[k];
    t->axis[k].n = whole.n - shift;
    turn(t, k + 1, to + shift * step, from);
    t->axis[k].n = shift;
    if (shift)
        turn(t, k + 1, to, from + (whole.n - shift) * step);
    t->axis[k] = whole;
}

void ti_num_roll(tc_call *c)
{
    const tc_attr_roll *a = c->attr;
    const tc_type *x = c->in[0].type;
    if (!tc_type_count(x))
        return;
    tc_turn t = {.rank = x->rank, .bytes = element(&c->in[0])};
    int64_t step[TC_MAX_RANK];
    ti_steps(x, step);
    for (int i = 0; i < x->rank; i++)
        t.axis[i] = (tc_axis){x->dim[i], step[i], step[i]};
    for (int i = 0; i < a->axes.n; i++) {
        int64_t k = a->axes.v[i], n = x->dim[k];
        t.shift[k] = ((t.shift[k] + a->shifts.v[i] % n) % n + n) % n;
    }
    turn(&t, 0, c->out[0].data, c->in[0].data);
}

void ti_num_diagonal(tc_call *c)
{
    const tc_attr_diagonal *a = c->attr;
    const tc_type *x = c->in[0].type;
    int64_t from[TC_MAX_RANK], step[TC_MAX_RANK];
    ti_steps(x, from);
    int k = 0;
    for (int i = 0; i < x->rank; i++)
        if (i != a->axis1 && i != a->axis2)
            step[k++] = from[i];
    step[k] = from[a->axis1] + from[a->axis2];
    int64_t first = a->offset >= 0 ? a->offset * from[a->axis2] : -a->offset * from[a->axis1];
    read_with(&c->out[0], &c->in[0], first, step);
}

/* Row r of a matrix keeps the columns [0, r + diagonal] (lower) or [r + diagonal, n) (upper). */
static void triangle(tc_call *c, bool lower)
{
    int64_t diagonal = ((const tc_attr_tri *)c->attr)->diagonal;
    const tc_type *x = c->in[0].type;
    if (!tc_type_count(x))
        return;
    int64_t columns = x->dim[x->rank - 1], height = x->dim[x->rank - 2];
    int64_t rows = tc_type_count(x) / columns;
    size_t bytes = element(&c->in[0]);
    memset(c->out[0].data, 0, tc_type_bytes(x));
    for (int64_t i = 0; i < rows; i++) {
        int64_t edge = i % height + ti_max_i64(-height, ti_min_i64(diagonal, columns)) + lower;
        edge = ti_max_i64(0, ti_min_i64(edge, columns));
        int64_t begin = lower ? 0 : edge, end = lower ? edge : columns;
        memcpy((char *)c->out[0].data + (size_t)(i * columns + begin) * bytes,
               at(&c->in[0], i * columns + begin), (size_t)(end - begin) * bytes);
    }
}

void ti_num_tril(tc_call *c) { triangle(c, true); }
void ti_num_triu(tc_call *c) { triangle(c, false); }

/* The last element that strided reading touches; -1 when it reads none, INT64_MAX when it
   overflows.
 */
static int64_t last_touched(const tc_attr_as_strided *a)
{
    int64_t last = a->offset, far;
    for (int i = 0; i < a->size.n; i++) {
        if (a->size.v[i] == 0)
            return -1;
        if (__builtin_mul_overflow(a->size.v[i] - 1, a->stride.v[i], &far) ||
            __builtin_add_overflow(last, far, &last))
            return INT64_MAX;
    }
    return last;
}

void ti_num_as_strided(tc_call *c)
{
    const tc_attr_as_strided *a = c->attr;
    int64_t last = last_touched(a), n = tc_type_count(c->in[0].type);
    if (last >= n) {
        c->error =
            ti_text_format(c->scratch, "element %" PRId64 " of a tensor of %" PRId64, last, n);
        return;
    }
    read_with(&c->out[0], &c->in[0], a->offset, a->stride.v);
}

void ti_num_unfold(tc_call *c)
{
    const tc_attr_unfold *a = c->attr;
    const tc_type *x = c->in[0].type;
    int64_t step[TC_MAX_RANK + 1];
    ti_steps(x, step);
    step[x->rank] = x->rank ? step[a->axis] : 1;
    if (x->rank)
        step[a->axis] *= ti_min_i64(a->step, ti_max_i64(x->dim[a->axis], 1));
    read_with(&c->out[0], &c->in[0], 0, step);
}

/* x with `part` written at `first`, its axes `step` apart. */
static void write_part(tc_call *c, const tc_type *part, int64_t first, const int64_t *step)
{
    tc_axis axis[TC_MAX_RANK];
    int64_t from[TC_MAX_RANK];
    copy_all(c);
    ti_steps(part, from);
    for (int i = 0; i < part->rank; i++)
        axis[i] = (tc_axis){part->dim[i], step[i], from[i]};
    size_t bytes = element(&c->in[0]);
    if (tc_type_count(part))
        ti_move((char *)c->out[0].data + (size_t)first * bytes, c->in[1].data, bytes, axis,
                part->rank);
}

void ti_num_slice_scatter(tc_call *c)
{
    int64_t step[TC_MAX_RANK];
    int64_t first = slice_steps(c->attr, c->in[0].type, step);
    write_part(c, c->in[1].type, first, step);
}

void ti_num_select_scatter(tc_call *c)
{
    const tc_attr_select *a = c->attr;
    int64_t step[TC_MAX_RANK];
    ti_steps(c->in[0].type, step);
    int64_t first = a->index * step[a->axis];
    for (int64_t i = a->axis; i + 1 < c->in[0].type->rank; i++)
        step[i] = step[i + 1];
    write_part(c, c->in[1].type, first, step);
}
