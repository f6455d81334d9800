/* SPDX-License-Identifier: Apache-2.0 */
/* select_move.c -- what only moves elements: other views of them where strides can express it,
 * else copies. */
#include "select_form.h"

/* Elements of 4 and 8 bytes are copied as 2 or 4 times as many of 2 bytes: 64 bits on U85, whose
 * pools have no such elements; all of them on U55, whose pools have 8 and 16 bits. */
static tc_view halves(const tc_view *v, int32_t bytes)
{
    int32_t n = bytes / 2, last = v->rank;
    tc_view out = *v;
    out.at *= n;
    for (int32_t i = 0; i < v->rank; i++)
        out.stride[i] *= n;
    out.dim[last] = n;
    out.stride[last] = 1;
    out.rank++;
    /* Channels that are contiguous stay one run. */
    if (v->rank && (v->stride[last - 1] == 1 || v->dim[last - 1] == 1)) {
        out.rank--;
        out.dim[last - 1] *= n;
        out.stride[last - 1] = 1;
    }
    return out;
}

static tc_hw_op copying(const tc_sel *s, const tc_node *node, uint8_t bytes)
{
    tc_hw_op op = ti_sel_pointwise(s, node);
    ti_sel_map(&op.op.ifm, bytes, true, 0);
    ti_sel_map(&op.op.ofm, bytes, true, 0);
    op.op.lo = bytes == 1 ? INT8_MIN : INT16_MIN;
    op.op.hi = bytes == 1 ? INT8_MAX : INT16_MAX;
    return op;
}

static void copy(tc_sel *s, tc_hw_op op, uint8_t bytes, const tc_view *from, const tc_view *to)
{
    if (bytes == 1 || bytes == 2) {
        ti_sel_emit_parts(s, &op, from, NULL, to);
        return;
    }
    tc_view a = halves(from, bytes), b = halves(to, bytes);
    if (a.rank != b.rank) { /* one of them has its channels elsewhere */
        tc_view x = ti_view_deepen(from), y = ti_view_deepen(to);
        a = halves(&x, bytes);
        b = halves(&y, bytes);
    }
    s->hw->root[from->root].h = s->hw->root[to->root].h = 0; /* linear, both */
    ti_sel_emit_parts(s, &op, &a, NULL, &b);
}

/* ---- U85: channels of the one are columns of the other ---- */

/* The axis whose elements are contiguous; -1: there is none. */
static int32_t side_by_side(const tc_view *v)
{
    for (int32_t i = v->rank; i-- > 0;)
        if (v->dim[i] > 1 && v->stride[i] == 1)
            return i;
    return -1;
}

typedef struct turning {
    tc_sel *s;
    const tc_hw_op *op;
    int64_t c, w;       /* extents of the two axes that are exchanged, in the input */
    int64_t w_from, c_to; /* strides: of w in the input, of c in the output */
} turning;

/* Rows: the exchange of columns and channels is the output's (HCW). */
static bool turn_part(void *user, const tc_view *part)
{
    enum { HCW = 2 };
    const turning *t = user;
    tc_hw_op op = *t->op;
    int64_t rows = part[0].dim[0] * part[0].dim[1]; /* one of them is 1 */
    int64_t row_to = part[0].dim[0] > 1 ? part[0].stride[0] : part[0].stride[1],
            row_from = part[1].dim[0] > 1 ? part[1].stride[0] : part[1].stride[1];
    tc_view in = {part[1].root, 3, part[1].at, {rows, t->w, t->c}, {row_from, t->w_from, 1}};
    op.ofm = (tc_view){part[0].root, 3, part[0].at, {rows, t->c, t->w}, {row_to, t->c_to, 1}};
    tc_npu_map *m = op.op.acc_input == 2 ? &op.op.ifm2 : &op.op.ifm;
    *(op.op.acc_input == 2 ? &op.ifm2 : &op.ifm) = in;
    m->h = op.op.ofm.h = op.op.window.ih = (int32_t)rows;
    m->w = op.op.ofm.w = op.op.window.iw = (int32_t)t->w;
    m->c = op.op.ofm.c = op.op.depth = (int32_t)t->c;
    op.op.transpose = HCW;
    ti_sel_emit(t->s, &op);
    return true;
}

/* One operation for each of the rows that no single stride covers. */
static bool copy_turned(tc_sel *s, const tc_node *node, const tc_view *from, const tc_view *to)
{
    int32_t c = side_by_side(from), w = side_by_side(to);
    uint8_t bytes = s->hw->root[from->root].bytes;
    if (!ti_hw_is_u85(s->hw) || bytes > 4 || c < 0 || w < 0 || c == w ||
        from->dim[c] > TC_HW_EXTENT || from->dim[w] > TC_HW_EXTENT)
        return false;
    tc_hw_op op = ti_sel_pointwise(s, node);
    if (bytes == 4) { /* pools have no such elements: what accumulators start from */
        op = ti_sel_op(s, node, TC_NPU_KIND_POOL, TC_POOL_NONE);
        ti_sel_map(&op.op.ifm, 1, true, 0);
        op.op.ifm.used = false;
        ti_sel_map(&op.op.ifm2, 4, true, 0);
        op.op.acc_input = 2;
        op.op.clip = 1;
        op.op.lo = INT16_MIN;
        op.op.hi = -1;
    } else {
        ti_sel_map(&op.op.ifm, bytes, true, 0);
        op.op.lo = bytes == 1 ? INT8_MIN : INT16_MIN;
        op.op.hi = bytes == 1 ? INT8_MAX : INT16_MAX;
    }
    ti_sel_map(&op.op.ofm, bytes, true, 0);
    turning t = {s, &op, from->dim[c], from->dim[w], from->stride[w], to->stride[c]};
    tc_view rows[2] = {*to, *from};
    for (int i = 0; i < 2; i++) {
        rows[i] = ti_view_slice(&rows[i], c, 0, 1);
        rows[i] = ti_view_slice(&rows[i], w, 0, 1);
    }
    tc_view part[2] = {rows[0], rows[1]};
    /* One axis of rows at a time: the longest. */
    int32_t axis = 0;
    for (int32_t i = 1; i < part[0].rank; i++)
        axis = part[0].dim[i] > part[0].dim[axis] ? i : axis;
    int64_t n = ti_view_count(&part[0]) / part[0].dim[axis], at[TC_VIEW_DIMS] = {0};
    if (part[0].dim[axis] > TC_HW_EXTENT)
        return false;
    for (int64_t k = 0; k < n; k++) {
        tc_view row[2];
        for (int i = 0; i < 2; i++) {
            row[i] = (tc_view){rows[i].root, 3, rows[i].at,
                               {rows[i].dim[axis], 1, 1}, {rows[i].stride[axis], 1, 1}};
            for (int32_t d = 0; d < rows[i].rank; d++)
                row[i].at += d == axis ? 0 : at[d] * rows[i].stride[d];
        }
        turn_part(&t, row);
        for (int32_t d = rows[0].rank; d-- > 0;) {
            if (d == axis)
                continue;
            if (++at[d] < rows[0].dim[d])
                break;
            at[d] = 0;
        }
    }
    return true;
}

void ti_sel_copy(tc_sel *s, const tc_node *node, const tc_view *from, const tc_view *to)
{
    if (s->hw->refused || from->root < 0 || copy_turned(s, node, from, to))
        return;
    uint8_t bytes = s->hw->root[from->root].bytes;
    copy(s, copying(s, node, bytes == 1 ? 1 : 2), bytes, from, to);
}

/* ---- other forms of copies ---- */

/* The same by elementwise operations, however few channels there are. */
static void copy_elements(tc_sel *s, const tc_node *node, const tc_view *from, const tc_view *to)
{
    uint8_t bytes = s->hw->root[from->root].bytes;
    bool u85 = ti_hw_is_u85(s->hw);
    tc_sel_operand x = ti_sel_operand_of(from, bytes),
                   same = u85 ? ti_sel_operand_number(1, bytes) : ti_sel_operand_same(s, &x);
    tc_hw_op op = ti_sel_eltwise(s, node, u85 ? TC_EW_MUL : TC_EW_MAX, bytes);
    ti_sel_combine(s, &op, true, &x, &same, to);
}

bool ti_sel_is_image(const tc_hw *hw, const tc_view *v)
{
    enum { MOST = 8, LARGE = 256 }; /* channels, pixels */
    return v->rank == 4 && v->dim[0] == 1 && v->dim[3] > 1 && v->dim[3] <= MOST &&
           v->stride[2] == 1 && v->stride[3] != 1 && v->dim[1] * v->dim[2] >= LARGE &&
           hw->root[v->root].kind == TC_ROOT_INPUT && hw->root[v->root].bytes == 1;
}

void ti_sel_copy_planes(tc_sel *s, const tc_node *node, const tc_view *image, const tc_view *to)
{
    int64_t h = image->dim[1], w = to->dim[2], q = image->dim[2] / w;
    for (int64_t i = 0; i < image->dim[3]; i++) {
        tc_view from = {image->root, 3, image->at + i * image->stride[3],
                        {h, w, q}, {image->stride[1], q, 1}},
                place = {to->root, 3, to->at + i * q, {h, w, q}, {to->stride[1], to->stride[2], 1}};
        copy_elements(s, node, &from, &place);
    }
}

void ti_sel_copy_moved(tc_sel *s, const tc_node *node, const tc_view *from, const tc_view *to)
{
    tc_sel_ways ways = ti_sel_ways(s, node);
    ti_sel_copy(s, node, from, to);
    if (s->hw->refused || s->hw->judges || !ti_sel_is_image(s->hw, from) || to->stride[3] != 1)
        return;
    ti_sel_plain(&ways);
    ti_sel_copy_planes(s, node, from, to);
    ti_sel_form(&ways, TC_SEL_PLANES, true);
}

/* Into a part of CONCAT: pools are slow where they are many and small. */
static void copy_part(tc_sel *s, const tc_node *node, const tc_view *from, const tc_view *to)
{
    tc_sel_ways ways = ti_sel_ways(s, node);
    ti_sel_copy(s, node, from, to);
    const tc_hw *hw = s->hw;
    if (hw->refused || hw->judges || hw->root[from->root].bytes != 1 || hw->n_op == ways.first ||
        hw->op[ways.first].op.kind != TC_NPU_KIND_POOL)
        return;
    ti_sel_plain(&ways);
    copy_elements(s, node, from, to);
    ti_sel_form(&ways, TC_SEL_ELEMENTS, true);
}

/* ---- repeated elements ---- */

/* An axis along which `from` is broadcast: its first element, then twice as many each time. */
static void double_up(tc_sel *s, const tc_node *node, const tc_view *from, const tc_view *to)
{
    int32_t axis = 0;
    while (axis < from->rank && !(from->dim[axis] > 1 && from->stride[axis] == 0))
        axis++;
    if (axis == from->rank) {
        ti_sel_copy(s, node, from, to);
        return;
    }
    tc_view first = ti_view_slice(from, axis, 0, 1), place = ti_view_slice(to, axis, 0, 1);
    double_up(s, node, &first, &place);
    for (int64_t done = 1, n; done < to->dim[axis] && !s->hw->refused; done += n) {
        n = ti_min_i64(done, to->dim[axis] - done);
        tc_view have = ti_view_slice(to, axis, 0, n), next = ti_view_slice(to, axis, done, n);
        ti_sel_copy(s, node, &have, &next);
    }
}

void ti_sel_spread(tc_sel *s, const tc_node *node, const tc_view *from, const tc_view *to)
{
    if (s->hw->refused || from->root < 0)
        return;
    uint8_t bytes = s->hw->root[from->root].bytes;
    if (!ti_hw_is_u85(s->hw) || bytes > 4) {
        double_up(s, node, from, to);
        return;
    }
    tc_hw_op op = ti_sel_op(s, node, TC_NPU_KIND_ELEMENTWISE, TC_EW_ADD); /* with 0 */
    ti_sel_map(&op.op.ifm, bytes, true, 0);
    ti_sel_map(&op.op.ifm2, bytes, true, 0);
    ti_sel_map(&op.op.ofm, bytes, true, 0);
    op.op.ifm2.broadcast = TC_BROADCAST_SCALAR;
    op.op.ifm2.storage = TC_STORE_NONE;
    op.op.ifm2.h = op.op.ifm2.w = op.op.ifm2.c = 1;
    op.op.clip = 1;
    op.op.lo = INT16_MIN;
    op.op.hi = -1;
    ti_sel_emit_parts(s, &op, from, NULL, to);
}

/* The value is a view; where its address was chosen before (a CONCAT wants it), it is copied
 * there. */
static void moved(tc_sel *s, const tc_node *node, const tc_view *view)
{
    tc_val v = node->out[0];
    if (s->value[v].placed && s->value[v].made)
        return; /* its operand was written there */
    if (!s->value[v].placed) {
        ti_sel_is(s, v, *view);
        return;
    }
    tc_view to = ti_sel_result(s, v);
    ti_sel_copy(s, node, view, &to);
}

void ti_npu_select_identity(tc_sel *s, const tc_node *node)
{
    tc_view from = ti_sel_view(s, node->in[0]);
    moved(s, node, &from);
}

bool ti_sel_same_place(const tc_view *a, const tc_view *b)
{
    if (a->root != b->root || a->at != b->at)
        return false;
    for (int32_t i = 0; i < a->rank; i++)
        if (a->dim[i] > 1 && a->stride[i] != b->stride[i])
            return false;
    return true;
}

void ti_npu_select_reshape(tc_sel *s, const tc_node *node)
{
    const tc_type *t = ti_type_of(s->g, node->out[0]);
    tc_sel_value *out = &s->value[node->out[0]];
    tc_view from, view;
    if (s->value[node->in[0]].put_off && !s->value[node->in[0]].made && !out->placed) {
        out->put_off = s->value[node->in[0]].put_off; /* its readers may fuse the RESCALE */
        return;
    }
    if (s->value[node->in[0]].lazy && !out->placed) {
        from = s->value[node->in[0]].view;
        if (ti_view_reshape(&from, t->rank, t->dim, &view)) {
            out->lazy = true;
            out->view = view;
            return;
        }
    }
    from = ti_sel_view(s, node->in[0]);
    if (s->hw->refused)
        return;
    if (ti_view_reshape(&from, t->rank, t->dim, &view)) {
        if (out->placed && ti_sel_same_place(&view, &out->view)) {
            out->made = true;
            return;
        }
        moved(s, node, &view);
        return;
    }
    /* Through a dense copy, in the operand's shape. */
    tc_view to = ti_sel_result(s, node->out[0]), place;
    if (!ti_view_reshape(&to, from.rank, from.dim, &place)) {
        tc_view dense = ti_sel_working(s, "dense", s->hw->root[from.root].bytes, from.rank, from.dim);
        ti_sel_copy(s, node, &from, &dense);
        if (ti_view_reshape(&dense, t->rank, t->dim, &view))
            ti_sel_copy(s, node, &view, &to);
        return;
    }
    ti_sel_copy(s, node, &from, &place);
}

void ti_npu_select_slice(tc_sel *s, const tc_node *node)
{
    const tc_type *t = ti_type_of(s->g, node->out[0]);
    const int64_t *start = ti_sel_numbers(s, node->in[1], NULL);
    tc_view view = ti_sel_view(s, node->in[0]);
    for (int32_t i = 0; i < t->rank && start && !s->hw->refused; i++)
        view = ti_view_slice(&view, i, start[i], t->dim[i]);
    if (!start)
        ti_hw_refuse(s->hw, node, "its start is not constant");
    moved(s, node, &view);
}

/* Where channels are no longer contiguous, a reader decides whether it is made. */
void ti_npu_select_transpose(tc_sel *s, const tc_node *node)
{
    const tc_attr_tosa_perms *a = node->attr;
    tc_view from = ti_sel_any_view(s, node->in[0]);
    if (s->hw->refused)
        return;
    tc_view view = ti_view_transpose(&from, a->perms.v);
    int32_t last = view.rank - 1;
    tc_sel_value *out = &s->value[node->out[0]];
    if (last < 0 || view.dim[last] == 1 || view.stride[last] == 1)
        moved(s, node, &view);
    else if (out->placed) {
        tc_view to = ti_sel_result(s, node->out[0]);
        ti_sel_copy_moved(s, node, &view, &to);
    } else {
        out->lazy = true;
        out->view = view;
    }
}

/* Operands that are not in their part yet are copied there. */
static void copy_parts(tc_sel *s, const tc_node *node, const tc_view *to)
{
    const tc_attr_tosa_axis *a = node->attr;
    int64_t at = 0;
    for (int i = 0; i < node->n_in && !s->hw->refused; i++) {
        int64_t size = ti_type_of(s->g, node->in[i])->dim[a->axis];
        tc_view part = ti_view_slice(to, (int32_t)a->axis, at, size),
                from = ti_sel_view(s, node->in[i]);
        bool there = !s->hw->refused && ti_sel_same_place(&part, &from);
        at += size;
        if (!s->hw->refused && !there)
            copy_part(s, node, &from, &part);
    }
}

void ti_npu_select_concat(tc_sel *s, const tc_node *node)
{
    tc_view to = ti_sel_result(s, node->out[0]);
    for (int i = 0; i < node->n_in && !s->hw->refused; i++)
        (void)ti_sel_view(s, node->in[i]);
    copy_parts(s, node, &to);
}

/* One more axis of both; runs that go on in both stay one. */
static bool add_axis(tc_view *from, tc_view *to, int64_t dim, int64_t from_stride, int64_t to_stride)
{
    int32_t last = from->rank - 1;
    if (dim == 1)
        return true;
    if (last >= 0 && from->stride[last] == from_stride * dim && to->stride[last] == to_stride * dim) {
        from->dim[last] = to->dim[last] *= dim;
        from->stride[last] = from_stride;
        to->stride[last] = to_stride;
        return true;
    }
    if (from->rank >= TC_VIEW_DIMS - 1)
        return false;
    from->dim[from->rank] = to->dim[to->rank] = dim;
    from->stride[from->rank++] = from_stride;
    to->stride[to->rank++] = to_stride;
    return true;
}

/* x, repeated: axes in pairs of count and extent; false: they are too many. */
static bool tile_views(const tc_view *x, const tc_view *to, const int64_t *times, tc_view *from,
                       tc_view *place)
{
    *from = (tc_view){.root = x->root, .at = x->at};
    *place = (tc_view){.root = to->root, .at = to->at};
    for (int32_t i = 0; i < x->rank; i++)
        if (!add_axis(from, place, times[i], 0, to->stride[i] * x->dim[i]) ||
            !add_axis(from, place, x->dim[i], x->stride[i], to->stride[i]))
            return false;
    return true;
}

/* As many axes at a time as views have room for, the last ones first. */
void ti_npu_select_tile(tc_sel *s, const tc_node *node)
{
    const int64_t *times = ti_sel_numbers(s, node->in[1], NULL);
    if (!times) {
        ti_hw_refuse(s->hw, node, "how often is not constant");
        return;
    }
    tc_view x = ti_sel_view(s, node->in[0]), to = ti_sel_result(s, node->out[0]), from, place;
    int64_t left[TC_VIEW_DIMS], now[TC_VIEW_DIMS], dim[TC_VIEW_DIMS];
    for (int32_t i = 0; i < x.rank; i++)
        left[i] = times[i];
    while (!s->hw->refused && !tile_views(&x, &to, left, &from, &place)) {
        tc_view next;
        bool fits = false;
        memcpy(now, left, sizeof now);
        for (int32_t i = 0; i < x.rank && !fits; i++) {
            now[i] = 1;
            for (int32_t k = 0; k < x.rank; k++)
                dim[k] = x.dim[k] * now[k];
            next = ti_view_dense(0, x.rank, dim);
            fits = i < x.rank - 1 && tile_views(&x, &next, now, &from, &place);
        }
        if (!fits) {
            ti_hw_refuse(s->hw, node, "it has more axes than a view");
            return;
        }
        next = ti_sel_working(s, "tiled", s->hw->root[x.root].bytes, x.rank, dim);
        place.root = next.root;
        ti_sel_spread(s, node, &from, &place);
        for (int32_t i = 0; i < x.rank; i++)
            left[i] /= now[i];
        x = next;
    }
    if (!s->hw->refused)
        ti_sel_spread(s, node, &from, &place);
}

/* Constants of one value, at most this many of them in memory. */
enum { FILLING = 4096 };

void ti_sel_fill(tc_sel *s, const tc_node *node, const tc_view *to, int64_t value)
{
    uint8_t bytes = s->hw->root[to->root].bytes;
    int64_t n = ti_view_count(to);
    if (!n || s->hw->refused)
        return;
    if (n > FILLING) { /* the longest axis in two */
        int32_t axis = 0;
        for (int32_t i = 1; i < to->rank; i++)
            axis = to->dim[i] > to->dim[axis] ? i : axis;
        int64_t half = to->dim[axis] / 2;
        tc_view a = ti_view_slice(to, axis, 0, half),
                b = ti_view_slice(to, axis, half, to->dim[axis] - half);
        ti_sel_fill(s, node, &a, value);
        ti_sel_fill(s, node, &b, value);
        return;
    }
    uint8_t *data = tc_new_n(s->hw->arena, uint8_t, (size_t)(n * bytes));
    for (int64_t i = 0; i < n; i++)
        for (int b = 0; b < bytes; b++)
            data[i * bytes + b] = (uint8_t)((uint64_t)value >> 8 * b);
    tc_view from = ti_sel_constant(s, "filling", bytes, to->rank, to->dim, data);
    ti_sel_copy(s, node, &from, to);
}

/* PAD's value, which need not be constant. */
static void pad_with(tc_sel *s, const tc_node *node, const tc_view *to)
{
    if (!ti_view_count(to) || s->hw->refused)
        return;
    if (ti_is_const(s->g, node->in[2])) {
        ti_sel_fill(s, node, to, ti_sel_number(s, node->in[2]));
        return;
    }
    tc_view value = ti_sel_view(s, node->in[2]), one;
    if (!ti_view_reshape(&value, 0, NULL, &one))
        return;
    one = ti_view_broadcast(&one, to->rank, to->dim);
    ti_sel_spread(s, node, &one, to);
}

/* What is before and after on each axis, axis by axis, then x in the middle. */
void ti_npu_select_pad_made(tc_sel *s, const tc_node *node)
{
    const tc_type *t = ti_type_of(s->g, node->in[0]);
    const int64_t *pad = ti_sel_numbers(s, node->in[1], NULL);
    if (!pad) {
        ti_hw_refuse(s->hw, node, "its padding is not constant");
        return;
    }
    tc_view to = ti_sel_result(s, node->out[0]);
    for (int32_t i = 0; i < t->rank; i++) {
        tc_view before = ti_view_slice(&to, i, 0, pad[2 * i]),
                behind = ti_view_slice(&to, i, pad[2 * i] + t->dim[i], pad[2 * i + 1]);
        pad_with(s, node, &before);
        pad_with(s, node, &behind);
        to = ti_view_slice(&to, i, pad[2 * i], t->dim[i]);
    }
    tc_view from = ti_sel_view(s, node->in[0]);
    ti_sel_copy(s, node, &from, &to);
}

/* One of a single axis by a number is deferred: elementwise readers do without it. */
void ti_npu_select_pad(tc_sel *s, const tc_node *node)
{
    const int64_t *pad = ti_sel_numbers(s, node->in[1], NULL);
    int32_t axes = 0, rank = ti_type_of(s->g, node->in[0])->rank;
    for (int32_t i = 0; pad && i < rank; i++)
        axes += pad[2 * i] || pad[2 * i + 1];
    if (axes == 1 && ti_is_const(s->g, node->in[2]) && ti_sel_bytes(s, node->in[0]) <= 2)
        s->value[node->out[0]].pad = node;
    else
        ti_npu_select_pad_made(s, node);
}

/* Of nothing but rows, columns and channels, and the axis is that of rows. */
static bool is_rows(const tc_view *v, int32_t axis)
{
    int64_t before = 1;
    for (int32_t i = 0; i < v->rank - 3; i++)
        before *= v->dim[i];
    return axis == v->rank - 3 && before == 1 && v->dim[v->rank - 2] <= TC_HW_EXTENT &&
           v->dim[v->rank - 1] <= TC_HW_EXTENT;
}

/* U55 writes an axis backwards; U85 has a register that turns rows, or, half as quick, columns. */
void ti_npu_select_reverse(tc_sel *s, const tc_node *node)
{
    const tc_attr_tosa_axis *a = node->attr;
    tc_view from = ti_sel_view(s, node->in[0]), to = ti_sel_result(s, node->out[0]);
    int32_t axis = (int32_t)a->axis;
    if (s->hw->refused)
        return;
    int32_t last = from.rank - 1;
    if (axis == last ||
        (from.dim[last] > 1 && (from.stride[last] != 1 || to.stride[last] != 1))) {
        from = ti_view_deepen(&from);
        to = ti_view_deepen(&to);
    }
    bool rows = ti_hw_is_u85(s->hw) && is_rows(&from, axis);
    int32_t at = from.rank - (rows ? 3 : 2);
    from = ti_view_move_axis(&from, axis, at);
    to = ti_view_move_axis(&to, axis, at);
    if (from.dim[at] > TC_HW_EXTENT) {
        ti_hw_refuse(s->hw, node, "the axis is longer than %d", TC_HW_EXTENT);
        return;
    }
    uint8_t bytes = s->hw->root[from.root].bytes;
    tc_hw_op op = copying(s, node, bytes == 1 ? 1 : 2);
    if (ti_hw_is_u85(s->hw))
        op.op.reverse = rows ? 1 : 2;
    else
        to = ti_view_reverse(&to, at);
    copy(s, op, bytes, &from, &to);
}
