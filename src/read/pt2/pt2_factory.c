/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_factory.c -- importers of factories, of complex numbers and of Fourier transforms.  Shapes
 * and element types of factories are the declared ones. */
#include <math.h>

#include "pt2_program.h"

/* full, full_like, new_full, scalar_tensor: the number has this or that name.  Integers that a
 * double does not hold exactly are spread from a constant. */
static void import_full(tc_pt2_node *n)
{
    const char *name = ti_pt2_has(n, "s") ? "s" : "fill_value";
    const tc_type *y = ti_pt2_result_type(n, 0);
    bool later = ti_pt2_later(n, name) != TC_NONE;
    double value = later ? 0 : ti_pt2_float(n, name, 0);
    if (!y)
        return;
    if (later || (ti_is_int(y->dtype) && fabs(value) > 0x1p53)) {
        tc_val one = ti_b_cast(&n->m, ti_pt2_operand(n, name, TC_NONE), y->dtype);
        ti_pt2_result(n, ti_b_expand_as(&n->m, one, y));
    } else {
        ti_pt2_result(n, ti_b_full(&n->m, y->rank, y->dim, value, y->dtype));
    }
}

/* Rows and columns of a triangle, as two lists: `extra` 1 for the upper one. */
static void import_tri_indices(tc_pt2_node *n)
{
    const tc_type *y = ti_pt2_result_type(n, 0);
    int64_t rows = ti_pt2_need_int(n, "row"), columns = ti_pt2_need_int(n, "col");
    int64_t offset = ti_pt2_int(n, "offset", 0);
    if (!y || n->m.status != TC_OK)
        return;
    int64_t count = y->rank == 2 ? y->dim[1] : 0, k = 0;
    enum { MOST = 1 << 14 };
    if (rows < 0 || rows > MOST || columns < 0 || columns > MOST || count > rows * columns) {
        ti_b_unsupported(&n->m, "a matrix of this size");
        return;
    }
    int64_t *list = tc_new_n(&n->m.ctx->arena, int64_t, (size_t)(2 * count));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns && k < count; j++)
            if (n->row->extra != 0 ? j - i >= offset : j - i <= offset) {
                list[k] = i;
                list[count + k++] = j;
            }
    tc_val v = ti_b_reshape(&n->m, ti_b_list(&n->m, list, 2 * count), y->rank, y->dim);
    ti_pt2_result(n, ti_b_cast(&n->m, v, y->dtype));
}

/* Complex numbers. */

/* Fourier transforms.  row->extra: the kind, and how many axes "n"/"dim" name. */

enum { ONE_AXIS = 10, TWO_AXES = 20, ANY_AXES = 30 };

static tc_field_fft_kind kind_of(const tc_pt2_node *n)
{
    return (tc_field_fft_kind)((int)n->row->extra % 10);
}

static bool inverse(tc_field_fft_kind kind)
{
    return kind == TC_fft_kind_inverse || kind == TC_fft_kind_complex_to_real;
}

static tc_field_fft_norm norm_of(tc_pt2_node *n, tc_field_fft_kind kind)
{
    const char *name = ti_pt2_text(n, "norm", "backward");
    if (ti_text_eq(name, "ortho"))
        return TC_fft_norm_by_sqrt_n;
    if (!ti_text_eq(name, "backward") && !ti_text_eq(name, "forward"))
        ti_b_bad(&n->m, TC_E_ARGUMENT, "a norm that is not known");
    return inverse(kind) == ti_text_eq(name, "backward") ? TC_fft_norm_by_n : TC_fft_norm_none;
}

/* The axes that are transformed, from the front. */
static tc_ints axes_of(tc_pt2_node *n, tc_ints sizes, int rank)
{
    tc_ints dims = ti_pt2_ints(n, "dim");
    int form = (int)n->row->extra / 10 * 10, count = form == ONE_AXIS   ? 1
                                                  : form == TWO_AXES ? 2
                                                                     : sizes.n;
    if (!dims.n && count) {
        int64_t last[TC_MAX_RANK];
        for (int i = 0; i < count && i < TC_MAX_RANK; i++)
            last[i] = i - count;
        dims = ti_ints_copy(&n->m.ctx->arena, last, count);
    }
    return ti_b_axes(&n->m, dims, rank);
}

/* x with `extent` elements along the axis: cut off, or zeros added. */
static tc_val resized(tc_pt2_node *n, tc_val x, int64_t axis, int64_t extent)
{
    TC_STOP_WITH(&n->m, TC_NONE);
    const tc_type *t = ti_b_type(&n->m, x);
    if (extent == t->dim[axis])
        return x;
    if (extent < 1 || extent > INT32_MAX) {
        ti_b_bad(&n->m, TC_E_ARGUMENT, "a transform of this length");
        return TC_NONE;
    }
    int64_t border[2 * TC_MAX_RANK] = {0};
    border[2 * axis + 1] = extent - t->dim[axis];
    tc_ints borders = ti_ints_copy(&n->m.ctx->arena, border, 2 * t->rank);
    return ti_b_1(&n->m, pad, ti_b_attr(&n->m, pad, borders, TC_pad_mode_constant, 0), x);
}

/* x in the domain of the transform. */
static tc_val prepared(tc_pt2_node *n, tc_val x, tc_field_fft_kind kind)
{
    TC_STOP_WITH(&n->m, TC_NONE);
    tc_dtype t = ti_b_type(&n->m, x)->dtype;
    if (!ti_is_float(t) && t != TC_c64)
        x = ti_b_cast(&n->m, x, TC_f32);
    if (kind == TC_fft_kind_real_to_complex || t == TC_c64)
        return x;
    return ti_b_complex(&n->m, x, ti_b_scalar(&n->m, TC_f32, 0));
}

static void import_fft(tc_pt2_node *n)
{
    tc_field_fft_kind kind = kind_of(n);
    tc_val x = ti_pt2_tensor(n, "self");
    tc_ints sizes = ti_pt2_ints(n, (int)n->row->extra / 10 * 10 == ONE_AXIS ? "n" : "s");
    tc_field_fft_norm norm = norm_of(n, kind);
    TC_STOP(&n->m);
    tc_ints axes = axes_of(n, sizes, ti_b_type(&n->m, x)->rank);
    if (n->m.status == TC_OK && (!axes.n || (sizes.n && sizes.n != axes.n)))
        ti_b_bad(&n->m, TC_E_ARGUMENT, "the axes and their lengths are not equally many");
    TC_STOP(&n->m);
    int64_t last = 2 * (ti_b_type(&n->m, x)->dim[axes.v[axes.n - 1]] - 1);
    bool to_real = kind == TC_fft_kind_complex_to_real;
    for (int i = 0; i < sizes.n; i++) {
        bool half = to_real && i == sizes.n - 1;
        if (sizes.v[i] < 0)
            continue;
        last = half ? sizes.v[i] : last;
        x = resized(n, x, axes.v[i], half ? sizes.v[i] / 2 + 1 : sizes.v[i]);
    }
    x = prepared(n, x, kind);
    const void *attr = ti_b_attr(&n->m, fft, axes, kind, norm, to_real ? last : 0);
    ti_pt2_result(n, ti_b_1(&n->m, fft, attr, x));
}

/* fftshift and its inverse: axes turned by half their extent; `extra` 1 for the inverse. */
static void import_fftshift(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    tc_ints dims = ti_pt2_ints(n, "dim");
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x);
    tc_ints axes = ti_b_axes(&n->m, dims, t->rank);
    int64_t *shifts = tc_new_n(&n->m.ctx->arena, int64_t, (size_t)axes.n);
    for (int i = 0; i < axes.n; i++)
        shifts[i] = (t->dim[axes.v[i]] + (n->row->extra != 0)) / 2;
    const void *attr = ti_b_attr(&n->m, roll, {axes.n, shifts}, axes);
    ti_pt2_result(n, ti_b_1(&n->m, roll, attr, x));
}

/* The three forms that decomposed programs have; "normalization" is 0 none, 1 by the root, 2 by n.
 */
static void import_plain_fft(tc_pt2_node *n)
{
    static const tc_field_fft_norm norms[] = {TC_fft_norm_none, TC_fft_norm_by_sqrt_n,
                                              TC_fft_norm_by_n};
    tc_field_fft_kind kind = kind_of(n);
    tc_val x = ti_pt2_tensor(n, "self");
    int64_t norm = ti_pt2_int(n, "normalization", 0), last = ti_pt2_int(n, "last_dim_size", 0);
    tc_ints dims = ti_pt2_ints(n, "dim");
    TC_STOP(&n->m);
    tc_ints axes = ti_b_axes(&n->m, dims, ti_b_type(&n->m, x)->rank);
    if (kind == TC_fft_kind_real_to_complex && !ti_pt2_bool(n, "onesided", true))
        kind = TC_fft_kind_forward;
    if (kind == TC_fft_kind_forward && !ti_pt2_bool(n, "forward", true))
        kind = TC_fft_kind_inverse;
    if (norm < 0 || norm > 2) {
        ti_b_bad(&n->m, TC_E_ARGUMENT, "a normalization that is not known");
        return;
    }
    if (kind == TC_fft_kind_complex_to_real && axes.n)
        x = resized(n, x, axes.v[axes.n - 1], last / 2 + 1);
    x = prepared(n, x, kind);
    const void *attr = ti_b_attr(&n->m, fft, axes, kind, norms[norm], last);
    ti_pt2_result(n, ti_b_1(&n->m, fft, attr, x));
}

const tc_pt2_row tc_pt2_factory[] = {
    ROW("full full_like new_full scalar_tensor prims.scalar_tensor.default", import_full, full, 0),
    ROW("tril_indices", import_tri_indices, const, 0),
    ROW("triu_indices", import_tri_indices, const, 1),
    ROW("fft_fft", import_fft, fft, ONE_AXIS + TC_fft_kind_forward),
    ROW("fft_ifft", import_fft, fft, ONE_AXIS + TC_fft_kind_inverse),
    ROW("fft_rfft", import_fft, fft, ONE_AXIS + TC_fft_kind_real_to_complex),
    ROW("fft_irfft", import_fft, fft, ONE_AXIS + TC_fft_kind_complex_to_real),
    ROW("fft_fft2", import_fft, fft, TWO_AXES + TC_fft_kind_forward),
    ROW("fft_ifft2", import_fft, fft, TWO_AXES + TC_fft_kind_inverse),
    ROW("fft_rfft2", import_fft, fft, TWO_AXES + TC_fft_kind_real_to_complex),
    ROW("fft_irfft2", import_fft, fft, TWO_AXES + TC_fft_kind_complex_to_real),
    ROW("fft_fftn", import_fft, fft, ANY_AXES + TC_fft_kind_forward),
    ROW("fft_ifftn", import_fft, fft, ANY_AXES + TC_fft_kind_inverse),
    ROW("fft_rfftn", import_fft, fft, ANY_AXES + TC_fft_kind_real_to_complex),
    ROW("fft_irfftn", import_fft, fft, ANY_AXES + TC_fft_kind_complex_to_real),
    ROW("fft_fftshift", import_fftshift, roll, 0),
    ROW("fft_ifftshift", import_fftshift, roll, 1),
    ROW("_fft_c2c", import_plain_fft, fft, TC_fft_kind_forward),
    ROW("_fft_r2c", import_plain_fft, fft, TC_fft_kind_real_to_complex),
    ROW("_fft_c2r", import_plain_fft, fft, TC_fft_kind_complex_to_real),
    {0},
};
