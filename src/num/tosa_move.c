/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_move.c -- TOSA's data movement: elements keep their bits. */
#include "kernels.h"
#include "tosa.h"

enum { MOST_AXES = 2 * TC_MAX_RANK };

/* Extents to walk, with the steps of source and destination, in elements. */
typedef struct motion {
    int rank;
    int64_t dim[MOST_AXES], from_step[MOST_AXES], to_step[MOST_AXES];
    int64_t from, to; /* where the walk begins */
    size_t size;      /* bytes of an element */
} motion;

/* Strides of a contiguous tensor. */
static void packed_steps(int rank, const int64_t *dim, int64_t *step)
{
    int64_t size = 1;
    for (int i = rank - 1; i >= 0; i--) {
        step[i] = size;
        size *= dim[i];
    }
}

/* n elements of `size` bytes, with steps in bytes; a loop of its own for each usual size. */
static inline void move_each(const uint8_t *from, ptrdiff_t from_step, uint8_t *to,
                             ptrdiff_t to_step, int64_t n, size_t size)
{
    for (int64_t i = 0; i < n; i++)
        memcpy(to + i * to_step, from + i * from_step, size);
}

static void move_row(const motion *m, const uint8_t *from, uint8_t *to)
{
    int last = m->rank - 1;
    size_t size = m->size;
    if (m->from_step[last] == 1 && m->to_step[last] == 1) {
        memcpy(to, from, (size_t)m->dim[last] * size);
        return;
    }
    ptrdiff_t from_step = (ptrdiff_t)(m->from_step[last] * (int64_t)size);
    ptrdiff_t to_step = (ptrdiff_t)(m->to_step[last] * (int64_t)size);
    if (size == 1)
        move_each(from, from_step, to, to_step, m->dim[last], 1);
    else if (size == 2)
        move_each(from, from_step, to, to_step, m->dim[last], 2);
    else if (size == 4)
        move_each(from, from_step, to, to_step, m->dim[last], 4);
    else
        move_each(from, from_step, to, to_step, m->dim[last], size);
}

/* The same walk in fewer axes: none of extent 1, contiguous neighbours merged; rows that are copied
 * element by element along the longest axis. */
static motion simpler(const motion *m)
{
    motion s = *m;
    s.rank = 0;
    for (int i = 0; i < m->rank; i++) {
        if (m->dim[i] == 1)
            continue;
        int k = s.rank;
        bool joins = k && s.from_step[k - 1] == m->dim[i] * m->from_step[i] &&
                     s.to_step[k - 1] == m->dim[i] * m->to_step[i];
        k = joins ? k - 1 : s.rank++;
        s.dim[k] = joins ? s.dim[k] * m->dim[i] : m->dim[i];
        s.from_step[k] = m->from_step[i];
        s.to_step[k] = m->to_step[i];
    }
    int last = s.rank - 1, longest = last;
    if (last < 1 || (s.from_step[last] == 1 && s.to_step[last] == 1))
        return s;
    for (int i = 0; i < s.rank; i++)
        longest = s.dim[i] > s.dim[longest] ? i : longest;
    int64_t *const list[] = {s.dim, s.from_step, s.to_step};
    for (int i = 0; i < 3; i++) {
        int64_t kept = list[i][last];
        list[i][last] = list[i][longest];
        list[i][longest] = kept;
    }
    return s;
}

static void move(const motion *whole, tc_tensor source, tc_tensor destination)
{
    for (int i = 0; i < whole->rank; i++)
        if (whole->dim[i] == 0)
            return;
    const motion simple = simpler(whole), *m = &simple;
    const uint8_t *from = source.data;
    uint8_t *to = destination.data;
    int64_t index[MOST_AXES] = {0}, a = m->from, b = m->to;
    if (m->rank == 0) {
        memcpy(to + b * (int64_t)m->size, from + a * (int64_t)m->size, m->size);
        return;
    }
    for (;;) {
        move_row(m, from + a * (int64_t)m->size, to + b * (int64_t)m->size);
        int i = m->rank - 2;
        for (; i >= 0; i--) {
            a += m->from_step[i];
            b += m->to_step[i];
            if (++index[i] < m->dim[i])
                break;
            a -= m->from_step[i] * index[i];
            b -= m->to_step[i] * index[i];
            index[i] = 0;
        }
        if (i < 0)
            return;
    }
}

/* The walk that copies a whole tensor in order. */
static motion motion_over(const tc_type *t)
{
    motion m = {.rank = t->rank, .size = tc_dtypes[t->dtype].bytes};
    memcpy(m.dim, t->dim, sizeof t->dim);
    packed_steps(m.rank, m.dim, m.from_step);
    packed_steps(m.rank, m.dim, m.to_step);
    return m;
}

static void copy(tc_call *call)
{
    memcpy(call->out[0].data, call->in[0].data, tc_type_bytes(call->out[0].type));
}

void ti_num_tosa_identity(tc_call *call) { copy(call); }
void ti_num_tosa_reshape(tc_call *call) { copy(call); }

void ti_num_tosa_transpose(tc_call *call)
{
    const tc_attr_tosa_perms *a = call->attr;
    int64_t step[TC_MAX_RANK];
    motion m = motion_over(call->out[0].type);
    packed_steps(m.rank, call->in[0].type->dim, step);
    for (int i = 0; i < m.rank; i++)
        m.from_step[i] = step[a->perms.v[i]];
    move(&m, call->in[0], call->out[0]);
}

void ti_num_tosa_reverse(tc_call *call)
{
    int64_t axis = ((const tc_attr_tosa_axis *)call->attr)->axis;
    motion m = motion_over(call->out[0].type);
    m.from = (m.dim[axis] - 1) * m.from_step[axis];
    m.from_step[axis] = -m.from_step[axis];
    move(&m, call->in[0], call->out[0]);
}

void ti_num_tosa_slice(tc_call *call)
{
    const tc_type *in = call->in[0].type;
    const int64_t *start = ti_shape_values(call, 1);
    if (!start)
        return;
    motion m = motion_over(call->out[0].type);
    packed_steps(m.rank, in->dim, m.from_step);
    for (int i = 0; i < m.rank; i++) {
        if (start[i] < 0 || start[i] > in->dim[i] - m.dim[i]) {
            call->error = "the slice reaches past the input";
            return;
        }
        m.from += start[i] * m.from_step[i];
    }
    move(&m, call->in[0], call->out[0]);
}

/* Every axis becomes two: which copy, and the index in it. */
void ti_num_tosa_tile(tc_call *call)
{
    const tc_type *in = call->in[0].type, *out = call->out[0].type;
    int64_t in_step[TC_MAX_RANK], out_step[TC_MAX_RANK];
    packed_steps(in->rank, in->dim, in_step);
    packed_steps(out->rank, out->dim, out_step);
    motion m = {.rank = 2 * in->rank, .size = tc_dtypes[in->dtype].bytes};
    for (int i = 0; i < in->rank; i++) {
        m.dim[2 * i] = out->dim[i] / in->dim[i];
        m.to_step[2 * i] = out_step[i] * in->dim[i];
        m.dim[2 * i + 1] = in->dim[i];
        m.from_step[2 * i + 1] = in_step[i];
        m.to_step[2 * i + 1] = out_step[i];
    }
    move(&m, call->in[0], call->out[0]);
}

/* Padding is before, after for every axis; the frame is filled first. */
void ti_num_tosa_pad(tc_call *call)
{
    const tc_type *in = call->in[0].type, *out = call->out[0].type;
    const int64_t *padding = ti_shape_values(call, 1);
    if (!padding || !ti_same_width(call, 2))
        return;
    motion fill = motion_over(out), m = motion_over(in);
    memset(fill.from_step, 0, sizeof fill.from_step);
    move(&fill, call->in[2], call->out[0]);
    packed_steps(out->rank, out->dim, m.to_step);
    for (int i = 0; i < m.rank; i++) {
        if (padding[2 * i] < 0 || padding[2 * i] > out->dim[i] - in->dim[i]) {
            call->error = "the padding does not fit the result";
            return;
        }
        m.to += padding[2 * i] * m.to_step[i];
    }
    move(&m, call->in[0], call->out[0]);
}

void ti_num_tosa_concat(tc_call *call)
{
    int64_t axis = ((const tc_attr_tosa_axis *)call->attr)->axis, before = 0;
    for (int k = 0; k < call->n_in && ti_same_width(call, k); k++) {
        motion m = motion_over(call->in[k].type);
        packed_steps(m.rank, call->out[0].type->dim, m.to_step);
        m.to = before * m.to_step[axis];
        before += m.dim[axis];
        move(&m, call->in[k], call->out[0]);
    }
}

/* Row idx of image n of a [n, k, c] tensor, or NULL with a message. */
static uint8_t *row_of(tc_call *call, tc_tensor t, int64_t n, int64_t idx)
{
    const tc_type *type = t.type;
    if (idx < 0 || idx >= type->dim[1]) {
        call->error = "an index is outside the values";
        return NULL;
    }
    size_t row = (size_t)type->dim[2] * tc_dtypes[type->dtype].bytes;
    return (uint8_t *)t.data + (size_t)(n * type->dim[1] + idx) * row;
}

/* out[n, w, c] = values[n, indices[n, w], c] */
void ti_num_tosa_gather(tc_call *call)
{
    const tc_type *indices = call->in[1].type;
    size_t row = (size_t)call->out[0].type->dim[2] * tc_dtypes[call->out[0].type->dtype].bytes;
    uint8_t *to = call->out[0].data;
    for (int64_t n = 0; n < indices->dim[0]; n++)
        for (int64_t w = 0; w < indices->dim[1]; w++, to += row) {
            int64_t idx = ti_load_i64(call->in[1], n * indices->dim[1] + w);
            const uint8_t *from = row_of(call, call->in[0], n, idx);
            if (!from)
                return;
            if (row == 2)
                memcpy(to, from, 2);
            else
                memcpy(to, from, row);
        }
}

/* out = values_in, then out[n, indices[n, w], c] = input[n, w, c] */
void ti_num_tosa_scatter(tc_call *call)
{
    const tc_type *indices = call->in[1].type;
    size_t row = (size_t)call->out[0].type->dim[2] * tc_dtypes[call->out[0].type->dtype].bytes;
    if (!ti_same_width(call, 2))
        return;
    copy(call);
    for (int64_t n = 0; n < indices->dim[0]; n++)
        for (int64_t w = 0; w < indices->dim[1]; w++) {
            int64_t idx = ti_load_i64(call->in[1], n * indices->dim[1] + w);
            uint8_t *to = row_of(call, call->out[0], n, idx);
            if (!to)
                return;
            memcpy(to, row_of(call, call->in[2], n, w), row);
        }
}

/* out[n, w * count + r, c] = values[n, indices[n, w] + r, c] for 0 <= r < count */
static void gather_runs(tc_call *call, int which, tc_tensor indices, int64_t count)
{
    tc_tensor values = call->in[which];
    size_t row = (size_t)values.type->dim[2] * tc_dtypes[values.type->dtype].bytes;
    uint8_t *to = call->out[which].data;
    int64_t w = indices.type->dim[1];
    for (int64_t i = 0; i < tc_type_count(indices.type); i++, to += row * (size_t)count) {
        int64_t idx = ti_load_i64(indices, i);
        const uint8_t *from = row_of(call, values, i / w, idx);
        if (!from)
            return;
        if (idx > values.type->dim[1] - count) {
            call->error = "a run of rows reaches past the values";
            return;
        }
        memcpy(to, from, row * (size_t)count);
    }
}

/* The results' shape agrees with row_count. */
static int64_t run_length(tc_call *call, tc_tensor indices, tc_tensor row_count)
{
    int64_t count = ti_load_i64(row_count, 0);
    if (count < 1 || call->out[0].type->dim[1] != indices.type->dim[1] * count)
        call->error = "row_count does not fit the result";
    return count;
}

void ti_num_tosa_row_gather(tc_call *call)
{
    int64_t count = run_length(call, call->in[1], call->in[2]);
    if (!call->error)
        gather_runs(call, 0, call->in[1], count);
}

/* The same for values and, where they have some, their scales. */
void ti_num_tosa_row_gather_block_scaled(tc_call *call)
{
    tc_tensor indices = call->in[call->n_in - 2];
    int64_t count = run_length(call, indices, call->in[call->n_in - 1]);
    for (int i = 0; i < call->n_out && !call->error; i++)
        gather_runs(call, i, indices, count);
}

void ti_num_tosa_reshape_block_scaled(tc_call *call)
{
    for (int i = 0; i < call->n_out; i++)
        memcpy(call->out[i].data, call->in[i].data, tc_type_bytes(call->out[i].type));
}
