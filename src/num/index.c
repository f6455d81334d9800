/* SPDX-License-Identifier: Apache-2.0 */
/* index.c -- reading and writing at indices given by other tensors.  For index and index_put
 * negative indices count from the end; an index out of range is an error that gives index and
 * extent. */
#include "index.h"

#include "kernels.h"
#include "load.h"
#include "strided.h"

/* The shape that a and b broadcast to, in a. */
static bool broadcast(int32_t *rank, int64_t *dim, const tc_type *b)
{
    int32_t r = *rank > b->rank ? *rank : b->rank;
    for (int k = 1; k <= r; k++) {
        int64_t m = k <= *rank ? dim[*rank - k] : 1, n = k <= b->rank ? b->dim[b->rank - k] : 1;
        if (m != n && m != 1 && n != 1)
            return false;
    }
    int64_t wide[TC_MAX_RANK];
    for (int k = 1; k <= r; k++) {
        int64_t m = k <= *rank ? dim[*rank - k] : 1, n = k <= b->rank ? b->dim[b->rank - k] : 1;
        wide[r - k] = m == 1 ? n : m;
    }
    *rank = r;
    memcpy(dim, wide, (size_t)r * sizeof *dim);
    return true;
}

bool ti_index_picks(const tc_type *x, const tc_tensor *index, int n_index, tc_picks *out)
{
    *out = (tc_picks){.first = -1};
    bool neighbours = true;
    int last = -1;
    if (n_index > x->rank)
        return false;
    for (int i = 0; i < x->rank; i++) {
        if (i >= n_index || !index[i].type) {
            out->kept[out->n_kept++] = i;
            continue;
        }
        if (!broadcast(&out->rank, out->dim, index[i].type))
            return false;
        neighbours = neighbours && (last < 0 || last == i - 1);
        out->first = last < 0 ? i : out->first;
        last = i;
    }
    if (!neighbours)
        out->first = 0;
    return last >= 0;
}

bool ti_index_dims(const tc_type *x, const tc_picks *picks, tc_type *out)
{
    *out = (tc_type){.dtype = x->dtype, .rank = picks->n_kept + picks->rank};
    if (out->rank > TC_MAX_RANK)
        return false;
    int at = 0;
    for (int i = 0; i < picks->first; i++)
        out->dim[at++] = x->dim[picks->kept[i]];
    for (int i = 0; i < picks->rank; i++)
        out->dim[at++] = picks->dim[i];
    for (int i = picks->first; i < picks->n_kept; i++)
        out->dim[at++] = x->dim[picks->kept[i]];
    return true;
}

bool ti_index_fits(const tc_type *values, const tc_type *room)
{
    if (values->rank > room->rank)
        return false;
    for (int i = 0; i < values->rank; i++)
        if (values->dim[i] != 1 && values->dim[i] != room->dim[i + room->rank - values->rank])
            return false;
    return true;
}

/* i counted from the front, or -1 with a message. */
static int64_t place(tc_call *c, int64_t i, int64_t extent, bool from_end)
{
    if (i >= (from_end ? -extent : 0) && i < extent)
        return i < 0 ? i + extent : i;
    c->error = ti_text_format(c->scratch, "index %" PRId64 " is outside an axis of extent %" PRId64,
                              i, extent);
    return -1;
}

static size_t element(const tc_tensor *t) { return tc_dtypes[t->type->dtype].bytes; }

/* The offset of each pick in x, n of them. */
typedef struct pick_list {
    int64_t n, *at;
    tc_axis kept[TC_MAX_RANK]; /* to: in the result, from: in x */
    int64_t pitch;             /* from one pick to the next in the result */
} pick_list;

/* at[b] += index[b, broadcast] * step. */
static bool add_index(tc_call *c, pick_list *list, const tc_picks *picks, tc_tensor index,
                      int64_t extent, int64_t step)
{
    int64_t own[TC_MAX_RANK], stride[TC_MAX_RANK] = {0}, digit[TC_MAX_RANK] = {0}, at = 0;
    ti_steps(index.type, own);
    for (int i = 0; i < index.type->rank; i++)
        if (index.type->dim[i] != 1)
            stride[i + picks->rank - index.type->rank] = own[i];
    for (int64_t b = 0; b < list->n; b++) {
        int64_t i = place(c, ti_load_i64(index, at), extent, true);
        if (i < 0)
            return false;
        list->at[b] += i * step;
        for (int k = picks->rank - 1; k >= 0; k--) {
            at += stride[k];
            if (++digit[k] < picks->dim[k])
                break;
            at -= picks->dim[k] * stride[k];
            digit[k] = 0;
        }
    }
    return true;
}

/* Axes of `result` (shaped as ti_index_dims says) and those of x. */
static bool list_picks(tc_call *c, const tc_type *x, const tc_tensor *index, int n_index,
                       tc_picks *picks, pick_list *list)
{
    int64_t step[TC_MAX_RANK], to[TC_MAX_RANK];
    tc_type result;
    ti_index_picks(x, index, n_index, picks);
    ti_index_dims(x, picks, &result);
    ti_steps(x, step);
    ti_steps(&result, to);
    list->n = 1;
    for (int i = 0; i < picks->rank; i++)
        list->n *= picks->dim[i];
    list->at = tc_new_n(c->scratch, int64_t, (size_t)list->n);
    list->pitch = ti_extent(&result, picks->first + picks->rank, result.rank);
    for (int i = 0; i < picks->n_kept; i++) {
        int axis = picks->kept[i], there = i < picks->first ? i : i + picks->rank;
        list->kept[i] = (tc_axis){x->dim[axis], to[there], step[axis]};
    }
    for (int i = 0; i < n_index; i++)
        if (index[i].type && !add_index(c, list, picks, index[i], x->dim[i], step[i]))
            return false;
    return true;
}

void ti_num_index(tc_call *c)
{
    tc_picks picks;
    pick_list list;
    const tc_tensor *x = &c->in[0], *y = &c->out[0];
    if (!list_picks(c, x->type, c->in + 1, c->n_in - 1, &picks, &list) || !tc_type_count(y->type))
        return;
    int64_t bytes = (int64_t)element(x);
    for (int64_t b = 0; b < list.n; b++)
        ti_move((char *)y->data + b * list.pitch * bytes,
                (const char *)x->data + list.at[b] * bytes, (size_t)bytes, list.kept, picks.n_kept);
}

static void put(tc_tensor y, int64_t i, tc_tensor v, int64_t j)
{
    size_t bytes = element(&y);
    memcpy((char *)y.data + (size_t)i * bytes, (const char *)v.data + (size_t)j * bytes, bytes);
}

/* y[i] op= v[j] for one element of each; the types are equal. */
static void combine(tc_field_combine how, tc_tensor y, int64_t i, tc_tensor v, int64_t j)
{
    if (how == TC_combine_set) {
        put(y, i, v, j);
        return;
    }
    if (ti_is_float(y.type->dtype)) {
        double a = ti_load_f64(y, i), b = ti_load_f64(v, j);
        switch (how) {
        case TC_combine_prod:
            a *= b;
            break;
        case TC_combine_amax:
            a = a != a || a >= b ? a : b;
            break;
        case TC_combine_amin:
            a = a != a || a <= b ? a : b;
            break;
        default:
            a += b;
        }
        ti_store_f64(y, i, a);
        return;
    }
    int64_t a = ti_load_i64(y, i), b = ti_load_i64(v, j);
    switch (how) {
    case TC_combine_prod:
        a = (int64_t)((uint64_t)a * (uint64_t)b);
        break;
    case TC_combine_amax:
        a = ti_max_i64(a, b);
        break;
    case TC_combine_amin:
        a = ti_min_i64(a, b);
        break;
    default:
        a = (int64_t)((uint64_t)a + (uint64_t)b);
    }
    ti_store_i64(y, i, a);
}

/* y[sum i to] op= v[sum i from] over the axes, v's at `from` and y's at `to`. */
static void combine_all(tc_field_combine how, tc_tensor y, int64_t to, tc_tensor v, int64_t from,
                        const tc_axis *axis, int n_axis)
{
    if (!n_axis) {
        combine(how, y, to, v, from);
        return;
    }
    for (int64_t i = 0; i < axis->n; i++)
        combine_all(how, y, to + i * axis->to, v, from + i * axis->from, axis + 1, n_axis - 1);
}

static void copy_first(tc_call *c)
{
    size_t n = tc_type_bytes(c->out[0].type);
    if (n)
        memcpy(c->out[0].data, c->in[0].data, n);
}

/* values, broadcast to the shape of what is picked. */
static tc_tensor spread(tc_call *c, const tc_tensor *values, tc_type *shape)
{
    int64_t own[TC_MAX_RANK], to[TC_MAX_RANK];
    tc_axis axis[TC_MAX_RANK];
    ti_steps(values->type, own);
    ti_steps(shape, to);
    int lead = shape->rank - values->type->rank;
    for (int i = 0; i < shape->rank; i++) {
        bool moves = i >= lead && values->type->dim[i - lead] != 1;
        axis[i] = (tc_axis){shape->dim[i], to[i], moves ? own[i - lead] : 0};
    }
    tc_tensor all = ti_tensor_new(c->scratch, shape);
    ti_move(all.data, values->data, element(values), axis, shape->rank);
    return all;
}

/* A mask becomes the indices of its ones: a list of integers per axis, written to `out`. */
static void list_ones(tc_call *c, tc_tensor mask, tc_type *list, tc_tensor *out)
{
    const tc_type *m = mask.type;
    int64_t count = tc_type_count(m), step = 1;
    *list = (tc_type){.dtype = TC_i64, .rank = 1};
    for (int64_t i = 0; i < count; i++)
        list->dim[0] += ti_load_i64(mask, i);
    for (int axis = m->rank - 1; axis >= 0; axis--) {
        int64_t *place_of = tc_new_n(c->scratch, int64_t, (size_t)list->dim[0]), k = 0;
        for (int64_t i = 0; i < count; i++)
            if (ti_load_i64(mask, i))
                place_of[k++] = i / step % m->dim[axis];
        out[axis] = (tc_tensor){list, place_of};
        step *= m->dim[axis];
    }
}

/* Indices with every mask turned into lists; the count of them. */
static int unmasked(tc_call *c, const tc_tensor *index, int n, tc_tensor out[TC_MAX_RANK])
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        bool mask = index[i].type && index[i].type->dtype == TC_bool;
        if (mask)
            list_ones(c, index[i], tc_new(c->scratch, tc_type), out + count);
        else
            out[count] = index[i];
        count += mask ? index[i].type->rank : 1;
    }
    return count;
}

void ti_num_index_put(tc_call *c)
{
    const tc_attr_index_put *a = c->attr;
    const tc_tensor *y = &c->out[0];
    tc_tensor index[TC_MAX_RANK];
    tc_picks picks;
    pick_list list;
    tc_type shape;
    int n_index = unmasked(c, c->in + 2, c->n_in - 2, index);
    if (!ti_index_picks(c->in[0].type, index, n_index, &picks) ||
        !ti_index_dims(c->in[0].type, &picks, &shape) || !ti_index_fits(c->in[1].type, &shape)) {
        c->error = "the masked elements, the other indices and the values do not broadcast";
        return;
    }
    if (!list_picks(c, c->in[0].type, index, n_index, &picks, &list))
        return;
    copy_first(c);
    tc_tensor values = spread(c, &c->in[1], &shape);
    for (int i = 0; i < picks.n_kept; i++) {
        tc_axis k = list.kept[i];
        list.kept[i] = (tc_axis){k.n, k.from, k.to};
    }
    int64_t bytes = (int64_t)element(y);
    for (int64_t b = 0; b < list.n && tc_type_count(&shape); b++)
        if (a->accumulate)
            combine_all(TC_combine_add, *y, list.at[b], values, b * list.pitch, list.kept,
                        picks.n_kept);
        else
            ti_move((char *)y->data + list.at[b] * bytes,
                    (const char *)values.data + b * list.pitch * bytes, (size_t)bytes, list.kept,
                    picks.n_kept);
}

/* A tensor as outer blocks of n rows of `inner` elements; rank 0 is one row of one. */
typedef struct block {
    int64_t outer, n, inner;
} block;

static block block_of(const tc_type *t, int64_t axis)
{
    if (!t->rank)
        return (block){1, 1, 1};
    return (block){ti_extent(t, 0, (int)axis), t->dim[axis], ti_extent(t, (int)axis + 1, t->rank)};
}

/* Rows of x by index, for index_select and embedding. */
static void select_rows(tc_call *c, const tc_tensor *x, const tc_tensor *index, int64_t axis)
{
    block b = block_of(x->type, axis);
    int64_t n = tc_type_count(index->type), bytes = (int64_t)element(x), row = b.inner * bytes;
    for (int64_t k = 0; k < n; k++) {
        int64_t i = place(c, ti_load_i64(*index, k), b.n, false);
        if (i < 0)
            return;
        for (int64_t o = 0; o < b.outer && row; o++)
            memcpy((char *)c->out[0].data + (o * n + k) * row,
                   (const char *)x->data + (o * b.n + i) * row, (size_t)row);
    }
}

void ti_num_index_select(tc_call *c)
{
    select_rows(c, &c->in[0], &c->in[1], ((const tc_attr_axis *)c->attr)->axis);
}

void ti_num_embedding(tc_call *c) { select_rows(c, &c->in[0], &c->in[1], 0); }

/* Walks the elements of `index`, giving for each its offset in a tensor of other extents, where the
 * coordinate along `axis` is the index. */
typedef struct pointing {
    const tc_type *index;
    int64_t step[TC_MAX_RANK]; /* of the other tensor, 0 along the axis */
    int64_t along, extent;     /* step and extent of the axis there */
    int64_t digit[TC_MAX_RANK], base;
} pointing;

static void point_at(pointing *p, const tc_type *index, const tc_type *other, int64_t axis)
{
    *p = (pointing){.index = index, .along = 1, .extent = 1};
    ti_steps(other, p->step);
    if (other->rank) {
        p->along = p->step[axis];
        p->extent = other->dim[axis];
        p->step[axis] = 0;
    }
}

static void point_on(pointing *p)
{
    for (int k = p->index->rank - 1; k >= 0; k--) {
        p->base += p->step[k];
        if (++p->digit[k] < p->index->dim[k])
            return;
        p->base -= p->digit[k] * p->step[k];
        p->digit[k] = 0;
    }
}

void ti_num_gather(tc_call *c)
{
    const tc_tensor *x = &c->in[0], *index = &c->in[1];
    int64_t n = tc_type_count(index->type);
    size_t bytes = element(x);
    pointing p;
    point_at(&p, index->type, x->type, ((const tc_attr_axis *)c->attr)->axis);
    for (int64_t k = 0; k < n; k++, point_on(&p)) {
        int64_t i = place(c, ti_load_i64(*index, k), p.extent, false);
        if (i < 0)
            return;
        memcpy((char *)c->out[0].data + (size_t)k * bytes,
               (const char *)x->data + (size_t)(p.base + i * p.along) * bytes, bytes);
    }
}

/* Written elements are divided by their counts; without include_self the count starts at 0.
 */
static void divide(tc_tensor y, const int64_t *times, bool include_self)
{
    int64_t n = tc_type_count(y.type);
    for (int64_t i = 0; i < n; i++) {
        int64_t d = times[i] + (include_self ? 1 : 0);
        if (!times[i])
            continue;
        if (ti_is_float(y.type->dtype)) {
            ti_store_f64(y, i, ti_load_f64(y, i) / (double)d);
        } else {
            int64_t v = ti_load_i64(y, i);
            ti_store_i64(y, i, v / d - (v % d < 0));
        }
    }
}

void ti_num_scatter(tc_call *c)
{
    const tc_attr_scatter *a = c->attr;
    const tc_tensor *y = &c->out[0], *index = &c->in[1], *source = &c->in[2];
    int64_t n = tc_type_count(index->type), from_step[TC_MAX_RANK];
    int64_t *times = tc_new_n(c->scratch, int64_t, (size_t)tc_type_count(y->type));
    pointing to, from;
    copy_first(c);
    point_at(&to, index->type, y->type, a->axis);
    point_at(&from, index->type, source->type, a->axis);
    ti_steps(source->type, from_step);
    memcpy(from.step, from_step, sizeof from_step);
    for (int64_t k = 0; k < n; k++, point_on(&to), point_on(&from)) {
        int64_t i = place(c, ti_load_i64(*index, k), to.extent, false);
        if (i < 0)
            return;
        int64_t at = to.base + i * to.along;
        bool fresh = !a->include_self && !times[at];
        combine(fresh ? TC_combine_set : a->combine, *y, at, *source, from.base);
        times[at]++;
    }
    if (a->combine == TC_combine_mean)
        divide(*y, times, a->include_self);
}

void ti_num_index_copy(tc_call *c)
{
    int64_t axis = ((const tc_attr_axis *)c->attr)->axis;
    const tc_tensor *x = &c->in[0], *index = &c->in[1], *source = &c->in[2];
    block b = block_of(x->type, axis);
    int64_t n = tc_type_count(index->type), row = b.inner * (int64_t)element(x);
    copy_first(c);
    for (int64_t k = 0; k < n; k++) {
        int64_t i = place(c, ti_load_i64(*index, k), b.n, false);
        if (i < 0)
            return;
        for (int64_t o = 0; o < b.outer && row; o++)
            memcpy((char *)c->out[0].data + (o * b.n + i) * row,
                   (const char *)source->data + (o * n + k) * row, (size_t)row);
    }
}

void ti_num_index_add(tc_call *c)
{
    const tc_attr_index_add *a = c->attr;
    const tc_tensor *y = &c->out[0], *index = &c->in[1], *source = &c->in[2];
    block b = block_of(y->type, a->axis);
    int64_t n = tc_type_count(index->type);
    copy_first(c);
    for (int64_t k = 0; k < n; k++) {
        int64_t i = place(c, ti_load_i64(*index, k), b.n, false);
        if (i < 0)
            return;
        for (int64_t o = 0; o < b.outer; o++)
            for (int64_t j = 0; j < b.inner; j++) {
                int64_t at = (o * b.n + i) * b.inner + j, from = (o * n + k) * b.inner + j;
                if (ti_is_float(y->type->dtype))
                    ti_store_f64(*y, at,
                                 ti_load_f64(*y, at) + a->alpha * ti_load_f64(*source, from));
                else
                    ti_store_i64(*y, at, (int64_t)((uint64_t)ti_load_i64(*y, at) +
                                                   (uint64_t)ti_trunc_i64(a->alpha) *
                                                       (uint64_t)ti_load_i64(*source, from)));
            }
    }
}

/* How many boundaries are below x (right: at or below it). */
static int64_t bucket(const tc_tensor *edges, double x, bool right)
{
    int64_t low = 0, high = tc_type_count(edges->type);
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        double edge = ti_load_f64(*edges, mid);
        if (right ? !(edge > x) : !(edge >= x))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

void ti_num_bucketize(tc_call *c)
{
    bool right = ((const tc_attr_bucketize *)c->attr)->right;
    int64_t n = tc_type_count(c->out[0].type);
    for (int64_t i = 0; i < n; i++)
        ti_store_i64(c->out[0], i, bucket(&c->in[1], ti_load_f64(c->in[0], i), right));
}
