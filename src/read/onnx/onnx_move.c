/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_move.c -- builders of movement, and of constants and factories. */
#include <math.h>

#include "../../num/load.h"
#include "onnx_program.h"

/* ---- shapes ---- */

void ti_onnx_build_reshape(tc_onnx_node *n)
{
    tc_val x = ti_onnx_need(n, 0);
    tc_ints shape = ti_onnx_settled(n, 1);
    bool allow_zero = ti_onnx_int(n, "allowzero", 0);
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x);
    int64_t dim[TC_MAX_RANK], known = 1, count = tc_type_count(t);
    int open = -1;
    if (shape.n > TC_MAX_RANK) {
        ti_b_unsupported(&n->m, "a shape of %d axes; at most %d are supported", shape.n,
                         TC_MAX_RANK);
        return;
    }
    for (int i = 0; i < shape.n; i++) {
        dim[i] = shape.v[i] == 0 && !allow_zero && i < t->rank ? t->dim[i] : shape.v[i];
        if (dim[i] == -1 && open < 0)
            open = i;
        else if (dim[i] < 0 || dim[i] > INT32_MAX) {
            ti_b_bad(&n->m, TC_E_ARGUMENT, "a shape with %" PRId64 " in it", dim[i]);
            return;
        } else
            known *= dim[i] < INT32_MAX && known < INT32_MAX ? dim[i] : 1;
    }
    if (open >= 0)
        dim[open] = known ? count / known : 0;
    tc_val y = ti_b_reshape(&n->m, x, shape.n, dim);
    ti_onnx_bind(n, 0, y == x ? ti_b_identity(&n->m, x) : y);
}

void ti_onnx_build_flatten(tc_onnx_node *n)
{
    tc_val x = ti_onnx_need(n, 0);
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x);
    int64_t axis = ti_onnx_int(n, "axis", 1), dim[2] = {1, 1};
    axis += axis < 0 ? t->rank : 0;
    if (axis < 0 || axis > t->rank)
        ti_b_bad(&n->m, TC_E_ARGUMENT, "axis %" PRId64 " of rank %d", axis, t->rank);
    for (int i = 0; i < t->rank; i++)
        dim[i >= axis] *= t->dim[i];
    ti_onnx_bind(n, 0, ti_b_reshape(&n->m, x, 2, dim));
}

void ti_onnx_build_squeeze(tc_onnx_node *n)
{
    tc_val x = ti_onnx_need(n, 0);
    tc_ints axes = ti_onnx_list(n, "axes", 1);
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x);
    int64_t dim[TC_MAX_RANK];
    bool gone[TC_MAX_RANK] = {false};
    int rank = 0;
    for (int i = 0; i < t->rank; i++)
        gone[i] = !axes.n && t->dim[i] == 1;
    for (int i = 0; i < axes.n; i++)
        gone[ti_b_axis(&n->m, axes.v[i], t->rank)] = true;
    for (int i = 0; i < t->rank; i++) {
        if (gone[i] && t->dim[i] != 1)
            ti_b_bad(&n->m, TC_E_SHAPE, "axis %d has extent %" PRId64 ", not 1", i, t->dim[i]);
        if (!gone[i])
            dim[rank++] = t->dim[i];
    }
    ti_onnx_bind(n, 0, ti_b_reshape(&n->m, x, rank, dim));
}

void ti_onnx_build_unsqueeze(tc_onnx_node *n)
{
    tc_val x = ti_onnx_need(n, 0);
    tc_ints axes = ti_onnx_list(n, "axes", 1);
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x);
    int rank = t->rank + axes.n, from = 0;
    int64_t dim[TC_MAX_RANK];
    bool added[TC_MAX_RANK] = {false};
    if (rank > TC_MAX_RANK) {
        ti_b_unsupported(&n->m, "a tensor of %d axes; at most %d are supported", rank, TC_MAX_RANK);
        return;
    }
    for (int i = 0; i < axes.n; i++)
        added[ti_b_axis(&n->m, axes.v[i], rank)] = true;
    for (int i = 0; i < rank; i++) {
        if (!added[i] && from >= t->rank)
            ti_b_bad(&n->m, TC_E_ARGUMENT, "an axis is named twice");
        dim[i] = added[i] ? 1 : t->dim[from < t->rank ? from : 0];
        from += !added[i];
    }
    ti_onnx_bind(n, 0, ti_b_reshape(&n->m, x, rank, dim));
}

void ti_onnx_build_shape(tc_onnx_node *n)
{
    tc_val x = ti_onnx_need(n, 0);
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x);
    int64_t start = ti_onnx_int(n, "start", 0), end = ti_onnx_int(n, "end", t->rank);
    start = ti_max_i64(0, ti_min_i64(start < 0 ? start + t->rank : start, t->rank));
    end = ti_max_i64(start, ti_min_i64(end < 0 ? end + t->rank : end, t->rank));
    ti_onnx_bind(n, 0, ti_b_list(&n->m, t->dim + start, end - start));
}

void ti_onnx_build_size(tc_onnx_node *n)
{
    tc_val x = ti_onnx_need(n, 0);
    if (n->m.status == TC_OK)
        ti_onnx_bind(n, 0, ti_b_scalar_i64(&n->m, TC_i64, tc_type_count(ti_b_type(&n->m, x))));
}

/* ---- order ---- */

void ti_onnx_build_transpose(tc_onnx_node *n)
{
    tc_val x = ti_onnx_need(n, 0);
    tc_ints perm = ti_onnx_ints(n, "perm");
    TC_STOP(&n->m);
    int rank = ti_b_type(&n->m, x)->rank;
    int64_t list[TC_MAX_RANK];
    if (perm.n && perm.n != rank)
        ti_b_bad(&n->m, TC_E_ARGUMENT, "%d axes in perm for a tensor of rank %d", perm.n, rank);
    for (int i = 0; i < rank && n->m.status == TC_OK; i++)
        list[i] = perm.n ? perm.v[i] : rank - 1 - i;
    tc_val y = ti_b_permute(&n->m, x, list);
    ti_onnx_bind(n, 0, y == x ? ti_b_identity(&n->m, x) : y);
}

void ti_onnx_build_concat(tc_onnx_node *n)
{
    tc_val *in = tc_new_n(&n->m.ctx->arena, tc_val, (size_t)n->n_in);
    int count = 0;
    for (int i = 0; i < n->n_in; i++)
        in[count++] = ti_onnx_need(n, i);
    if (n->m.status != TC_OK || !count)
        return;
    int axis = ti_b_axis(&n->m, ti_onnx_int(n, "axis", 1), ti_b_type(&n->m, in[0])->rank);
    ti_onnx_bind(n, 0, ti_b_op(&n->m, TC_OP_cat, ti_b_attr(&n->m, axis, axis), in, count));
}

/* Sizes by attribute or input, or as even as can be, the last one smaller. */
void ti_onnx_build_split(tc_onnx_node *n)
{
    tc_val x = ti_onnx_need(n, 0);
    tc_ints sizes = ti_onnx_list(n, "split", 1);
    TC_STOP(&n->m);
    int axis = ti_b_axis(&n->m, ti_onnx_int(n, "axis", 0), ti_b_type(&n->m, x)->rank);
    int64_t extent = ti_b_type(&n->m, x)->dim[axis];
    if (!sizes.n) {
        int64_t parts = ti_onnx_int(n, "num_outputs", n->n_out);
        if (parts != n->n_out || parts < 1) {
            ti_b_bad(&n->m, TC_E_ARGUMENT, "%" PRId64 " parts for %d results", parts, n->n_out);
            return;
        }
        int64_t each = (extent + parts - 1) / parts, left = extent;
        int64_t *v = tc_new_n(&n->m.ctx->arena, int64_t, (size_t)parts);
        for (int64_t i = 0; i < parts; i++) {
            v[i] = ti_min_i64(each, left);
            left -= v[i];
        }
        sizes = (tc_ints){(int32_t)parts, v};
    }
    if (sizes.n != n->n_out)
        ti_b_bad(&n->m, TC_E_ARGUMENT, "%d sizes for %d results", sizes.n, n->n_out);
    tc_node *node =
        ti_b_ops(&n->m, TC_OP_split, ti_b_attr(&n->m, split, axis, sizes), &x, 1, n->n_out);
    for (int i = 0; node && i < n->n_out; i++)
        ti_onnx_bind(n, i, node->out[i]);
}

/* x[start : end : step] as NumPy has it; a negative step goes backwards. */
static tc_val slice(tc_onnx_node *n, tc_val x, int axis, int64_t start, int64_t end, int64_t step)
{
    TC_STOP_WITH(&n->m, TC_NONE);
    int64_t extent = ti_b_type(&n->m, x)->dim[axis];
    if (step == 0 || step < -INT32_MAX) {
        ti_b_bad(&n->m, TC_E_ARGUMENT, "a slice with step %" PRId64, step);
        return TC_NONE;
    }
    start = start < 0 ? ti_max_i64(start, -extent - 1) + extent : start;
    end = end < 0 ? ti_max_i64(end, -extent - 1) + extent : end;
    if (step > 0) {
        start = ti_max_i64(0, ti_min_i64(start, extent));
        end = ti_max_i64(start, ti_min_i64(end, extent));
        return ti_b_slice(&n->m, x, axis, start, end, step);
    }
    start = ti_max_i64(-1, ti_min_i64(start, extent - 1));
    end = ti_min_i64(start, ti_max_i64(-1, end));
    /* counted from the last: start becomes extent - 1 - start, and so on */
    x = ti_b_flip(&n->m, x, axis);
    return ti_b_slice(&n->m, x, axis, extent - 1 - start, extent - 1 - end, -step);
}

void ti_onnx_build_slice(tc_onnx_node *n)
{
    tc_val x = ti_onnx_need(n, 0);
    tc_ints starts = ti_onnx_list(n, "starts", 1), ends = ti_onnx_list(n, "ends", 2);
    tc_ints axes = ti_onnx_list(n, "axes", 3),
            steps = n->n_in > 4 ? ti_onnx_list(n, "steps", 4) : (tc_ints){0, NULL};
    TC_STOP(&n->m);
    int rank = ti_b_type(&n->m, x)->rank;
    if (ends.n != starts.n || (axes.n && axes.n != starts.n) || (steps.n && steps.n != starts.n) ||
        starts.n > rank) {
        ti_b_bad(&n->m, TC_E_ARGUMENT, "starts, ends, axes and steps have different lengths");
        return;
    }
    tc_val y = x;
    for (int i = 0; i < starts.n; i++) {
        int axis = ti_b_axis(&n->m, axes.n ? axes.v[i] : i, rank);
        y = slice(n, y, axis, starts.v[i], ends.v[i], steps.n ? steps.v[i] : 1);
    }
    ti_onnx_bind(n, 0, y == x ? ti_b_identity(&n->m, x) : y);
}

void ti_onnx_build_expand(tc_onnx_node *n)
{
    tc_val x = ti_onnx_need(n, 0);
    tc_ints shape = ti_onnx_settled(n, 1);
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x);
    int rank = shape.n > t->rank ? shape.n : t->rank;
    int64_t dim[TC_MAX_RANK];
    if (rank > TC_MAX_RANK) {
        ti_b_unsupported(&n->m, "a shape of %d axes; at most %d are supported", rank, TC_MAX_RANK);
        return;
    }
    for (int i = 1; i <= rank; i++) {
        int64_t a = i <= t->rank ? t->dim[t->rank - i] : 1,
                b = i <= shape.n ? shape.v[shape.n - i] : 1;
        dim[rank - i] = b == 1 ? a : b;
    }
    tc_val y = ti_b_expand(&n->m, x, rank, dim);
    ti_onnx_bind(n, 0, y == x ? ti_b_identity(&n->m, x) : y);
}

static tc_field_pad_mode pad_mode(tc_onnx_node *n)
{
    const char *word = ti_onnx_text(n, "mode", "constant");
    if (ti_text_eq(word, "constant"))
        return TC_pad_mode_constant;
    if (ti_text_eq(word, "reflect"))
        return TC_pad_mode_reflect;
    if (ti_text_eq(word, "edge"))
        return TC_pad_mode_replicate;
    if (ti_text_eq(word, "wrap"))
        return TC_pad_mode_circular;
    ti_b_bad(&n->m, TC_E_ARGUMENT, "padding mode '%.40s'", word);
    return TC_pad_mode_constant;
}

/* pads: befores of all axes, then afters. */
void ti_onnx_build_pad(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0), filler = n->version >= 11 ? ti_onnx_in(n, 2) : TC_NONE;
    tc_ints pads = ti_onnx_list(n, "pads", 1),
            axes = n->n_in > 3 ? ti_onnx_list(n, "axes", 3) : (tc_ints){0, NULL};
    double value = ti_onnx_float(n, "value", 0);
    tc_field_pad_mode mode = pad_mode(n);
    tc_tensor t;
    TC_STOP(m);
    if (filler && mode == TC_pad_mode_constant) {
        if (!ti_b_settled(m, filler, &t)) {
            ti_b_unsupported(m, "padding with a number that is not constant");
            return;
        }
        value = ti_load_f64(t, 0);
    }
    int rank = ti_b_type(m, x)->rank, n_axes = axes.n ? axes.n : rank;
    int64_t *pad = tc_new_n(&m->ctx->arena, int64_t, 2 * (size_t)rank);
    if (pads.n != 2 * n_axes) {
        ti_b_bad(m, TC_E_ARGUMENT, "%d pads for %d axes", pads.n, n_axes);
        return;
    }
    for (int i = 0; i < n_axes; i++) {
        int axis = ti_b_axis(m, axes.n ? axes.v[i] : i, rank);
        pad[2 * axis] = pads.v[i];
        pad[2 * axis + 1] = pads.v[n_axes + i];
    }
    tc_attr_pad *a = ti_b_attr(m, pad, .pad = {2 * rank, pad}, .mode = mode, .value = value);
    ti_onnx_bind(n, 0, ti_b_1(m, pad, a, x));
}

/* blocks of channels to space: DCR [b, b, c] or CRD [c, b, b]; extra 1: back, [b, b, c] */
void ti_onnx_build_depth_space(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0);
    int64_t b = ti_onnx_int(n, "blocksize", 0);
    bool crd = ti_text_eq(ti_onnx_text(n, "mode", "DCR"), "CRD");
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    if (t->rank != 4 || b < 1 || b > INT16_MAX) {
        ti_b_bad(m, TC_E_SHAPE, "blocks of %" PRId64 " in a tensor of rank %d", b, t->rank);
        return;
    }
    int64_t N = t->dim[0], C = t->dim[1], H = t->dim[2], W = t->dim[3];
    if (n->row->extra != 0) {
        x = ti_b_reshape(m, x, 6, (int64_t[]){N, C, H / b, b, W / b, b});
        x = crd ? ti_b_permute(m, x, (int64_t[]){0, 1, 3, 5, 2, 4})
                : ti_b_permute(m, x, (int64_t[]){0, 3, 5, 1, 2, 4});
        x = ti_b_reshape(m, x, 4, (int64_t[]){N, C * b * b, H / b, W / b});
    } else if (crd) {
        x = ti_b_1(m, pixel_shuffle, ti_b_attr(m, factor, b), x);
    } else {
        x = ti_b_reshape(m, x, 6, (int64_t[]){N, b, b, C / (b * b), H, W});
        x = ti_b_permute(m, x, (int64_t[]){0, 3, 4, 1, 5, 2});
        x = ti_b_reshape(m, x, 4, (int64_t[]){N, C / (b * b), H * b, W * b});
    }
    ti_onnx_bind(n, 0, x);
}

/* Cut or padded with zeros around the middle. */
void ti_onnx_build_center_crop_pad(tc_onnx_node *n)
{
    tc_val x = ti_onnx_need(n, 0);
    tc_ints shape = ti_onnx_settled(n, 1), axes = ti_onnx_ints(n, "axes");
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x);
    int64_t pad[2 * TC_MAX_RANK] = {0};
    if (shape.n != (axes.n ? axes.n : t->rank)) {
        ti_b_bad(&n->m, TC_E_ARGUMENT, "%d sizes for %d axes", shape.n, axes.n);
        return;
    }
    for (int i = 0; i < shape.n; i++) {
        int axis = ti_b_axis(&n->m, axes.n ? axes.v[i] : i, t->rank);
        int64_t more = shape.v[i] - t->dim[axis];
        pad[2 * axis] = more >= 0 ? more / 2 : -(-more / 2);
        pad[2 * axis + 1] = more - pad[2 * axis];
    }
    ti_onnx_bind(n, 0, ti_b_pad(&n->m, x, pad, 0));
}

/* Rows of each sequence up to its length are turned around. */
void ti_onnx_build_reverse_sequence(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0), lengths = ti_onnx_need(n, 1);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    int batch = ti_b_axis(m, ti_onnx_int(n, "batch_axis", 1), t->rank),
        time = ti_b_axis(m, ti_onnx_int(n, "time_axis", 0), t->rank);
    TC_STOP(m);
    int64_t steps = t->dim[time], along[TC_MAX_RANK], across[TC_MAX_RANK];
    for (int i = 0; i < t->rank; i++) {
        along[i] = i == time ? steps : 1;
        across[i] = i == batch ? t->dim[batch] : 1;
    }
    tc_val at = ti_b_reshape(m, ti_b_arange(m, steps, TC_i64), t->rank, along);
    tc_val end = ti_b_reshape(m, lengths, t->rank, across);
    tc_val inside = ti_b_lt(m, at, end);
    tc_val back = ti_b_sub(m, ti_b_add_n(m, end, -1), at);
    tc_val index = ti_b_where(m, inside, back, at);
    index = ti_b_expand(m, index, t->rank, t->dim);
    ti_onnx_bind(n, 0, ti_b_gather(m, x, index, time));
}

/* ---- constants and factories ---- */

static tc_tensor one_dimension(tc_build *m, tc_dtype dtype, int64_t count)
{
    return ti_b_tensor(m, dtype, 1, &count);
}

void ti_onnx_build_constant(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    if (ti_onnx_has(n, "value")) {
        ti_onnx_bind(n, 0, ti_onnx_tensor(n, "value"));
    } else if (ti_onnx_has(n, "value_int")) {
        ti_onnx_bind(n, 0, ti_b_scalar_i64(m, TC_i64, ti_onnx_int(n, "value_int", 0)));
    } else if (ti_onnx_has(n, "value_float")) {
        ti_onnx_bind(n, 0, ti_b_scalar(m, TC_f32, ti_onnx_float(n, "value_float", 0)));
    } else if (ti_onnx_has(n, "value_ints")) {
        tc_ints list = ti_onnx_ints(n, "value_ints");
        ti_onnx_bind(n, 0, ti_b_list(m, list.v, list.n));
    } else if (ti_onnx_has(n, "value_floats")) {
        tc_floats list = ti_onnx_floats(n, "value_floats");
        tc_tensor t = one_dimension(m, TC_f32, list.n);
        for (int i = 0; i < list.n; i++)
            ti_store_f64(t, i, list.v[i]);
        ti_onnx_bind(n, 0, ti_b_const(m, t, NULL));
    } else
        ti_b_unsupported(m, "a constant that is not a tensor of numbers");
}

void ti_onnx_build_constant_of_shape(tc_onnx_node *n)
{
    tc_ints shape = ti_onnx_settled(n, 0);
    tc_val value = ti_onnx_tensor(n, "value");
    tc_tensor t;
    double number = 0;
    tc_dtype dtype = TC_f32;
    if (value && ti_b_known(&n->m, value, &t) && tc_type_count(t.type) > 0) {
        number = ti_load_f64(t, 0);
        dtype = t.type->dtype;
    }
    ti_onnx_bind(n, 0, ti_b_full(&n->m, shape.n, shape.v, number, dtype));
}

/* start, start + delta, ... before limit */
void ti_onnx_build_range(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_tensor start, limit, delta;
    if (!ti_onnx_settled_tensor(n, 0, &start) || !ti_onnx_settled_tensor(n, 1, &limit) ||
        !ti_onnx_settled_tensor(n, 2, &delta))
        return;
    double from = ti_load_f64(start, 0), by = ti_load_f64(delta, 0);
    double count = ceil((ti_load_f64(limit, 0) - from) / by);
    if (by == 0 || !(count < 0x1p31)) {
        ti_b_bad(m, TC_E_ARGUMENT, "a range from %g by %g", from, by);
        return;
    }
    int64_t extent = count > 0 ? (int64_t)count : 0;
    ti_onnx_bind(n, 0,
                 ti_b_0(m, arange, ti_b_attr(m, arange, from, by, extent, start.type->dtype)));
}

void ti_onnx_build_eye_like(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    tc_dtype dtype = ti_onnx_has(n, "dtype") ? ti_onnx_need_dtype(n, ti_onnx_int(n, "dtype", 1))
                                             : t->dtype;
    int64_t k = ti_onnx_int(n, "k", 0);
    if (t->rank != 2 || tc_type_count(t) > 1 << 24) {
        ti_b_bad(m, TC_E_SHAPE, "an identity matrix of rank %d", t->rank);
        return;
    }
    tc_tensor out = ti_b_tensor(m, dtype, 2, t->dim);
    for (int64_t r = 0; r < t->dim[0]; r++)
        for (int64_t c = 0; c < t->dim[1]; c++)
            ti_store_i64(out, r * t->dim[1] + c, c == r + k);
    ti_onnx_bind(n, 0, ti_b_const(m, out, NULL));
}

/* A tensor is there. */
void ti_onnx_build_has_element(tc_onnx_node *n)
{
    ti_onnx_bind(n, 0, ti_b_scalar(&n->m, TC_bool, n->n_in > 0 && *n->proto->input[0]));
}
