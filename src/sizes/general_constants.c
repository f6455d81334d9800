/* SPDX-License-Identifier: Apache-2.0 */
/* general_constants.c -- constants that differ between sizes.
 *
 *   of one number       TILE
 *   part of the largest a SLICE of the one that the largest size has, where that holds the others
 *   one element         n or 1/n: a sum of ones */
#include "general.h"

#include "../ir/build.h"
#include "../num/load.h"

static bool same_dims_everywhere(const tc_general *m, size_t place)
{
    return !ti_type_open(ti_open_type(m, place));
}

static bool same_everywhere(const tc_aligned *a, size_t place)
{
    tc_tensor first = ti_point_tensor(a, place, 0);
    for (size_t p = 1; p < a->n_point; p++) {
        tc_tensor t = ti_point_tensor(a, place, p);
        if (t.type != first.type ||
            (t.data != first.data && memcmp(t.data, first.data, tc_type_bytes(t.type))))
            return false;
    }
    return true;
}

/* All its elements at all points are equal. */
static bool one_number(const tc_aligned *a, size_t place)
{
    tc_tensor first = ti_point_tensor(a, place, 0);
    size_t size = tc_type_count(first.type)
                      ? tc_type_bytes(first.type) / (size_t)tc_type_count(first.type)
                      : 0;
    if (!size || tc_type_bytes(first.type) % (size_t)tc_type_count(first.type))
        return false;
    for (size_t p = 0; p < a->n_point; p++) {
        tc_tensor t = ti_point_tensor(a, place, p);
        for (int64_t i = 0; i < tc_type_count(t.type); i++)
            if (memcmp((const char *)t.data + (size_t)i * size, first.data, size))
                return false;
    }
    return true;
}

static const tc_type *of_ones(const tc_general *m, const tc_type *t)
{
    tc_type ones = *t;
    for (int i = 0; i < ones.rank; i++)
        ones.dim[i] = 1;
    return ti_type_intern(m->a->ctx, &ones);
}

/* TILE of a number. */
static tc_status put_tiled(tc_general *m, size_t place, size_t near, tc_val *out)
{
    tc_aligned *a = m->a;
    tc_tensor first = ti_point_tensor(a, place, 0);
    tc_series dim[TC_MAX_RANK];
    for (int i = 0; i < first.type->rank; i++)
        dim[i] = ti_place_dim(a, place, i);
    tc_val in[2];
    in[0] = ti_graph_const(m->g, of_ones(m, first.type), first.data, NULL, ti_general_loc(m));
    TC_TRY(ti_put_shape(m, dim, first.type->rank, near, "the extent of a constant", &in[1]));
    *out = ti_general_add(m, TC_OP_tosa_tile, NULL, in, 2, ti_open_type(m, place));
    return TC_OK;
}

/* Whether t is what the largest one has from `start` on. */
static bool is_slice(tc_tensor whole, tc_tensor t, const int64_t *start)
{
    int64_t at[TC_MAX_RANK] = {0}, n = tc_type_count(t.type);
    size_t size = tc_type_bytes(t.type) / (size_t)(n ? n : 1);
    for (int64_t i = 0; i < n; i++) {
        int64_t from = 0;
        for (int k = 0; k < t.type->rank; k++)
            from = from * whole.type->dim[k] + start[k] + at[k];
        if (memcmp((const char *)t.data + (size_t)i * size,
                   (const char *)whole.data + (size_t)from * size, size))
            return false;
        for (int k = t.type->rank; k-- > 0 && ++at[k] == t.type->dim[k];)
            at[k] = 0;
    }
    return true;
}

/* Offset of every point's constant in the largest: from the beginning of each axis, or up to its
 * end. */
static bool find_slice(const tc_aligned *a, size_t place, bool *from_end)
{
    tc_tensor whole = ti_point_tensor(a, place, a->largest);
    int rank = whole.type->rank;
    for (int ends = 0; ends < 1 << rank; ends++) {
        bool fits = true;
        for (size_t p = 0; p < a->n_point && fits; p++) {
            tc_tensor t = ti_point_tensor(a, place, p);
            int64_t start[TC_MAX_RANK];
            for (int i = 0; i < rank && fits; i++) {
                int64_t room = whole.type->dim[i] - t.type->dim[i];
                fits = room >= 0;
                start[i] = ends >> i & 1 ? room : 0;
            }
            fits = fits && is_slice(whole, t, start);
        }
        for (int i = 0; i < rank; i++)
            from_end[i] = ends >> i & 1;
        if (fits)
            return true;
    }
    return false;
}

static tc_status put_sliced(tc_general *m, size_t place, size_t near, const bool *from_end,
                            tc_val *out)
{
    tc_aligned *a = m->a;
    tc_tensor whole = ti_point_tensor(a, place, a->largest);
    tc_series size[TC_MAX_RANK], start[TC_MAX_RANK];
    for (int i = 0; i < whole.type->rank; i++) {
        size[i] = ti_place_dim(a, place, i);
        for (size_t p = 0; p < a->n_point; p++)
            start[i].at[p] = from_end[i] ? whole.type->dim[i] - size[i].at[p] : 0;
    }
    tc_val in[3];
    in[0] = ti_graph_const(m->g, whole.type, whole.data, NULL, ti_general_loc(m));
    TC_TRY(ti_put_shape(m, start, whole.type->rank, near, "the beginning in a constant", &in[1]));
    TC_TRY(ti_put_shape(m, size, whole.type->rank, near, "the extent of a constant", &in[2]));
    *out = ti_general_add(m, TC_OP_tosa_slice, NULL, in, 3, ti_open_type(m, place));
    return TC_OK;
}

/* The number of a formula as a tensor [1] of i32, or of f32 where the program has no integers: a
 * dimension is the sum of as many ones. */
static tc_val number_tensor(tc_general *m, const tc_size_formula *f, tc_dtype dtype)
{
    static const float one_f32 = 1;
    static const int32_t one_i32 = 1;
    static const int8_t no_shift = 0;
    tc_ctx *ctx = m->a->ctx;
    const int64_t single = 1, open = TC_OPEN;
    const tc_type *type = ti_type_make(ctx, dtype, 1, &single);
    if (f->kind == TC_FORMULA_CONST) {
        tc_tensor t = ti_tensor_new(&ctx->arena, type);
        if (dtype == TC_f32)
            *(float *)t.data = (float)f->number;
        else
            ti_store_i64(t, 0, f->number);
        return ti_graph_const(m->g, type, t.data, NULL, ti_general_loc(m));
    }
    if (f->kind == TC_FORMULA_ADD || f->kind == TC_FORMULA_SUB || f->kind == TC_FORMULA_MUL) {
        tc_val in[3];
        in[0] = number_tensor(m, f->a, dtype);
        in[1] = number_tensor(m, f->b, dtype);
        if (f->kind != TC_FORMULA_MUL)
            return ti_general_add(m, f->kind == TC_FORMULA_ADD ? TC_OP_tosa_add : TC_OP_tosa_sub,
                                  NULL, in, 2, type);
        in[2] = ti_graph_const(m->g, ti_type_make(ctx, TC_i8, 1, &single), &no_shift, NULL,
                               ti_general_loc(m));
        return ti_general_add(m, TC_OP_tosa_mul, NULL, in, 3, type);
    }
    tc_val in[2];
    in[0] = ti_graph_const(m->g, type,
                           dtype == TC_f32 ? (const void *)&one_f32 : (const void *)&one_i32, NULL,
                           ti_general_loc(m));
    in[1] = ti_put_formula(m, f);
    tc_val x = ti_general_add(m, TC_OP_tosa_tile, NULL, in, 2, ti_type_make(ctx, dtype, 1, &open));
    tc_attr_tosa_axis *axis = tc_new(&ctx->arena, tc_attr_tosa_axis);
    return ti_general_add(m, TC_OP_tosa_reduce_sum, axis, &x, 1, type);
}

/* One number at every point: a whole one of i32, or 1/n in f32. */
static bool is_number(const tc_aligned *a, size_t place, tc_series *n)
{
    for (size_t p = 0; p < a->n_point; p++) {
        tc_tensor t = ti_point_tensor(a, place, p);
        if ((t.type->dtype != TC_f32 && t.type->dtype != TC_i32) || tc_type_count(t.type) != 1)
            return false;
        if (t.type->dtype == TC_i32) {
            n->at[p] = *(const int32_t *)t.data;
            continue;
        }
        float x = *(const float *)t.data;
        if (!(x > 0 && x <= 1))
            return false;
        n->at[p] = (int64_t)(1 / (double)x + 0.5);
        if (n->at[p] >= 1 << 24 || 1.0f / (float)n->at[p] != x)
            return false;
    }
    return true;
}

/* Operands that have to be constants: a computed tensor is not allowed. */
static bool must_be_constant(tc_op op, int operand)
{
    switch (op) {
    case TC_OP_tosa_rescale:
    case TC_OP_tosa_mul:
    case TC_OP_tosa_negate:
    case TC_OP_tosa_avg_pool2d:
    case TC_OP_tosa_table:
        return op == TC_OP_tosa_mul ? operand == 2 : operand > 0;
    case TC_OP_tosa_conv2d:
    case TC_OP_tosa_conv3d:
    case TC_OP_tosa_depthwise_conv2d:
    case TC_OP_tosa_transpose_conv2d:
        return operand > 2;
    case TC_OP_tosa_matmul:
    case TC_OP_tosa_pad:
        return operand > 1;
    default:
        return false;
    }
}

static tc_status put_number(tc_general *m, size_t place, const tc_series *n, size_t near,
                            tc_val *out)
{
    tc_aligned *a = m->a;
    const tc_type *type = ti_point_tensor(a, place, 0).type;
    const tc_size_formula *f;
    const int64_t single = 1;
    TC_TRY(ti_solve_size(m, n, near, "a number", &f));
    tc_val x = number_tensor(m, f, type->dtype), in[2];
    if (type->dtype == TC_f32)
        x = ti_general_add(m, TC_OP_tosa_reciprocal, NULL, &x, 1,
                           ti_type_make(a->ctx, TC_f32, 1, &single));
    if (type->rank != 1) {
        in[0] = x;
        in[1] = ti_general_shape(m, type->dim, type->rank);
        x = ti_general_add(m, TC_OP_tosa_reshape, NULL, in, 2, type);
    }
    *out = x;
    return TC_OK;
}

static const char *number_text(const tc_general *m, tc_tensor t)
{
    tc_arena *arena = &m->a->ctx->arena;
    return tc_type_count(t.type) == 1 && ti_is_float(t.type->dtype)
               ? ti_text_format(arena, "%g", ti_load_f64(t, 0))
           : tc_type_count(t.type) == 1 && ti_is_int(t.type->dtype)
               ? ti_text_format(arena, "%" PRId64, ti_load_i64(t, 0))
               : ti_type_text(arena, t.type);
}

static tc_status no_constant(const tc_general *m, size_t place, int operand)
{
    const tc_aligned *a = m->a;
    size_t p = 1;
    while (p + 1 < a->n_point && ti_point_tensor(a, place, p).data &&
           tc_type_bytes(ti_point_tensor(a, place, p).type) ==
               tc_type_bytes(ti_point_tensor(a, place, 0).type) &&
           !memcmp(ti_point_tensor(a, place, p).data, ti_point_tensor(a, place, 0).data,
                   tc_type_bytes(ti_point_tensor(a, place, 0).type)))
        p++;
    bool grows = !same_dims_everywhere(m, place);
    tc_status status = ti_unsupported(
        a->ctx, ti_general_loc(m), TC_E_DYNAMIC,
        "the constant that is operand %d of '%s' depends on the size: %s at %s, %s at %s", operand,
        tc_ops[m->row->any->op].name, number_text(m, ti_point_tensor(a, place, 0)), a->text[0],
        number_text(m, ti_point_tensor(a, place, p)), a->text[p]);
    if (grows && a->largest >= a->n_point)
        ti_note(a->ctx, ti_general_loc(m),
                "it grows with the size, which has no upper bound: --dim NAME=LO..HI sets one");
    else
        ti_note(a->ctx, ti_general_loc(m),
                "it is no part of the largest one, nor one number repeated; "
                "--dim NAME=VALUE compiles one size");
    return status;
}

static tc_status put_constant(tc_general *m, size_t place, int operand, size_t near, tc_val *out)
{
    tc_aligned *a = m->a;
    tc_tensor first = ti_point_tensor(a, place, 0);
    bool from_end[TC_MAX_RANK];
    tc_series n = {{0}}, s[TC_MAX_RANK * 2];
    if (same_everywhere(a, place)) {
        const tc_value *v = ti_value_of(ti_point_graph(a, 0), a->place[place].at[0]);
        *out = ti_graph_const(m->g, v->type, v->data, v->name, v->def->loc);
        return TC_OK;
    }
    if (first.type->dtype == TC_shape) {
        int64_t count = tc_type_count(first.type);
        if (count > TC_MAX_RANK * 2 || !same_dims_everywhere(m, place))
            return no_constant(m, place, operand);
        for (int64_t i = 0; i < count; i++)
            for (size_t p = 0; p < a->n_point; p++)
                s[i].at[p] = ((const int64_t *)ti_point_tensor(a, place, p).data)[i];
        return ti_put_shape(m, s, (int)count, near, "a shape", out);
    }
    if (!same_dims_everywhere(m, place) && one_number(a, place))
        return put_tiled(m, place, near, out);
    if (a->largest < a->n_point && !same_dims_everywhere(m, place) &&
        find_slice(a, place, from_end))
        return put_sliced(m, place, near, from_end, out);
    if (!must_be_constant(m->row->any->op, operand) && is_number(a, place, &n))
        return put_number(m, place, &n, near, out);
    return no_constant(m, place, operand);
}

/* A constant is made once, however many read it. */
tc_status ti_put_operand(tc_general *m, size_t place, int operand, size_t near, tc_val *out)
{
    tc_aligned *a = m->a;
    if (!a->place[place].constant) {
        *out = a->place[place].made;
        return TC_OK;
    }
    tc_str key = {(const char *)a->place[place].at, a->n_point * sizeof(tc_val)};
    void *made = ti_map_get(&m->constant, key);
    if (made) {
        *out = (tc_val)(uintptr_t)made;
        return TC_OK;
    }
    TC_TRY(put_constant(m, place, operand, near, out));
    *ti_map_at(&m->constant, key) = (void *)(uintptr_t)*out;
    return TC_OK;
}
