/* SPDX-License-Identifier: Apache-2.0 */
/* general.c -- the aligned programs as one: dimensions that differ are open, and what depends on them
 * is computed by operators on shapes.
 *
 *   shapes              CONCAT_SHAPE of formulas
 *   paddings of windows a PAD before the convolution; *_POOL2D_ADAPTIVE for pools
 *   constants           of one number: TILE; else a SLICE of the one that the largest size has, where
 *                       that holds the others; of one element, n or 1/n: a sum of ones
 * Bounds, and sizes that two inputs share, are asserted at the beginning. */
#include "sizes.h"

#include "../ir/build.h"
#include "../num/load.h"

typedef struct general {
    tc_aligned *a;
    tc_graph *g;
    tc_atoms atoms;
    tc_map constant; /* place.at[] => the constant in g */
    tc_map number;   /* formula's numbers at all points => a shape of one value in g */
    const tc_row *row;
} general;

static const tc_loc *loc_of(const general *m)
{
    static const tc_loc nowhere = {0};
    return m->row ? m->row->any->loc : &nowhere;
}

static tc_val add(general *m, tc_op op, const void *attr, const tc_val *in, int n_in,
                  const tc_type *type)
{
    tc_node *node = ti_graph_add(m->g, op, attr, in, n_in, type ? 1 : 0, loc_of(m));
    if (!type)
        return TC_NONE;
    m->g->val[node->out[0]]->type = type;
    return node->out[0];
}

static const tc_type *shape_type(const general *m, int64_t n)
{
    return ti_type_make(m->a->ctx, TC_shape, 1, &n);
}

static tc_val shape_const(general *m, const int64_t *v, int64_t n)
{
    const int64_t *copy = ti_arena_copy(&m->a->ctx->arena, v, (size_t)n * sizeof *v);
    return ti_graph_const(m->g, shape_type(m, n), copy, NULL, loc_of(m));
}

/* ---- formulas ---- */

static tc_val put_formula(general *m, const tc_size_formula *f)
{
    static const tc_op op[] = {[TC_FORMULA_ADD] = TC_OP_tosa_add_shape,
                               [TC_FORMULA_SUB] = TC_OP_tosa_sub_shape,
                               [TC_FORMULA_MUL] = TC_OP_tosa_mul_shape,
                               [TC_FORMULA_DIV] = TC_OP_tosa_div_floor_shape,
                               [TC_FORMULA_MOD] = TC_OP_tosa_mod_shape,
                               [TC_FORMULA_MAX] = TC_OP_tosa_max_shape,
                               [TC_FORMULA_MIN] = TC_OP_tosa_min_shape};
    tc_aligned *a = m->a;
    tc_str key = {(const char *)f->is.at, a->n_point * sizeof *f->is.at};
    void *made = ti_map_get(&m->number, key);
    if (made)
        return (tc_val)(uintptr_t)made;
    tc_val v;
    if (f->kind == TC_FORMULA_CONST)
        v = shape_const(m, &f->number, 1);
    else if (f->kind == TC_FORMULA_DIM) {
        tc_attr_tosa_axis *axis = tc_new(&a->ctx->arena, tc_attr_tosa_axis);
        axis->axis = f->axis;
        v = add(m, TC_OP_tosa_dim, axis, &a->place[f->place].made, 1, shape_type(m, 1));
    } else {
        tc_val in[2];
        in[0] = put_formula(m, f->a);
        in[1] = put_formula(m, f->b);
        v = add(m, op[f->kind], NULL, in, 2, shape_type(m, 1));
    }
    *ti_map_at(&m->number, key) = (void *)(uintptr_t)v;
    return v;
}

static tc_status no_formula(const general *m, const char *what, const tc_series *s,
                            const tc_size_formula *f)
{
    tc_aligned *a = m->a;
    tc_buf list;
    ti_buf_init(&list, &a->ctx->arena);
    for (size_t p = 0; p < a->n_point; p++)
        ti_buf_printf(&list, "%s%" PRId64 " at %s", p ? ", " : "", s->at[p], a->text[p]);
    tc_status status = ti_unsupported(a->ctx, loc_of(m), TC_E_DYNAMIC,
                                      "%s of '%s' depends on the size by no formula that was tried",
                                      what, m->row ? tc_ops[m->row->any->op].name : "the program");
    ti_note(a->ctx, loc_of(m), "it is %s%s%s", ti_buf_cstr(&list), f ? "; not " : "",
            f ? ti_formula_text(a, f) : "");
    return status;
}

/* The formula of a series; one that does not hold at the points that try it is fitted to them too. */
static tc_status solve(general *m, const tc_series *s, size_t near, const char *what,
                       const tc_size_formula **out)
{
    tc_aligned *a = m->a;
    size_t p, kept = a->n_fit;
    const tc_size_formula *first = ti_fit(&m->atoms, s, near), *f = first;
    if (f && !ti_fit_holds(a, f, s, &p)) {
        a->n_fit = a->n_point;
        f = ti_fit(&m->atoms, s, near);
        a->n_fit = kept;
    }
    if (!f)
        return no_formula(m, what, s, first);
    *out = f;
    return TC_OK;
}

/* n series as one shape: runs of numbers stay together. */
static tc_status put_shape(general *m, const tc_series *s, int n, size_t near, const char *what,
                           tc_val *out)
{
    tc_aligned *a = m->a;
    tc_val *part = tc_new_n(&a->ctx->arena, tc_val, (size_t)n + 1);
    int64_t run[TC_MAX_RANK * 2];
    int n_part = 0;
    int64_t n_run = 0;
    for (int i = 0; i < n; i++) {
        const tc_size_formula *f;
        if (ti_series_constant(a, &s[i])) {
            run[n_run++] = s[i].at[0];
            continue;
        }
        TC_TRY(solve(m, &s[i], near, what, &f));
        if (n_run)
            part[n_part++] = shape_const(m, run, n_run);
        n_run = 0;
        part[n_part++] = put_formula(m, f);
    }
    if (n_run)
        part[n_part++] = shape_const(m, run, n_run);
    *out = n_part == 1 ? part[0]
                       : add(m, TC_OP_tosa_concat_shape, NULL, part, n_part, shape_type(m, n));
    return TC_OK;
}

/* ---- types ---- */

static const tc_type *open_type(const general *m, size_t place)
{
    const tc_aligned *a = m->a;
    tc_type t = *ti_type_of(ti_point_graph(a, 0), a->place[place].at[0]);
    for (int i = 0; i < t.rank && t.dtype != TC_shape; i++) {
        tc_series s = ti_place_dim(a, place, i);
        t.dim[i] = ti_series_constant(a, &s) ? t.dim[i] : TC_OPEN;
    }
    return ti_type_intern(a->ctx, &t);
}

static bool same_dims_everywhere(const general *m, size_t place)
{
    return !ti_type_open(open_type(m, place));
}

/* ---- constants ---- */

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

/* All its numbers at all points are one. */
static bool one_number(const tc_aligned *a, size_t place)
{
    tc_tensor first = ti_point_tensor(a, place, 0);
    size_t size = tc_type_count(first.type) ? tc_type_bytes(first.type) /
                                                  (size_t)tc_type_count(first.type)
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

static const tc_type *of_ones(const general *m, const tc_type *t)
{
    tc_type ones = *t;
    for (int i = 0; i < ones.rank; i++)
        ones.dim[i] = 1;
    return ti_type_intern(m->a->ctx, &ones);
}

/* TILE of a number. */
static tc_status put_tiled(general *m, size_t place, size_t near, tc_val *out)
{
    tc_aligned *a = m->a;
    tc_tensor first = ti_point_tensor(a, place, 0);
    tc_series dim[TC_MAX_RANK];
    for (int i = 0; i < first.type->rank; i++)
        dim[i] = ti_place_dim(a, place, i);
    tc_val in[2];
    in[0] = ti_graph_const(m->g, of_ones(m, first.type), first.data, NULL, loc_of(m));
    TC_TRY(put_shape(m, dim, first.type->rank, near, "the extent of a constant", &in[1]));
    *out = add(m, TC_OP_tosa_tile, NULL, in, 2, open_type(m, place));
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

/* Where a constant of every point lies in the largest: from the beginning of each axis, or up to its
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

static tc_status put_sliced(general *m, size_t place, size_t near, const bool *from_end, tc_val *out)
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
    in[0] = ti_graph_const(m->g, whole.type, whole.data, NULL, loc_of(m));
    TC_TRY(put_shape(m, start, whole.type->rank, near, "the beginning in a constant", &in[1]));
    TC_TRY(put_shape(m, size, whole.type->rank, near, "the extent of a constant", &in[2]));
    *out = add(m, TC_OP_tosa_slice, NULL, in, 3, open_type(m, place));
    return TC_OK;
}

/* The number of a formula as a tensor [1] of i32, or of f32 where the program has no integers: a
 * dimension is the sum of as many ones. */
static tc_val number_tensor(general *m, const tc_size_formula *f, tc_dtype dtype)
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
        return ti_graph_const(m->g, type, t.data, NULL, loc_of(m));
    }
    if (f->kind == TC_FORMULA_ADD || f->kind == TC_FORMULA_SUB || f->kind == TC_FORMULA_MUL) {
        tc_val in[3];
        in[0] = number_tensor(m, f->a, dtype);
        in[1] = number_tensor(m, f->b, dtype);
        if (f->kind != TC_FORMULA_MUL)
            return add(m, f->kind == TC_FORMULA_ADD ? TC_OP_tosa_add : TC_OP_tosa_sub, NULL, in, 2,
                       type);
        in[2] = ti_graph_const(m->g, ti_type_make(ctx, TC_i8, 1, &single), &no_shift, NULL,
                               loc_of(m));
        return add(m, TC_OP_tosa_mul, NULL, in, 3, type);
    }
    tc_val in[2];
    in[0] = ti_graph_const(m->g, type,
                           dtype == TC_f32 ? (const void *)&one_f32 : (const void *)&one_i32, NULL,
                           loc_of(m));
    in[1] = put_formula(m, f);
    tc_val x = add(m, TC_OP_tosa_tile, NULL, in, 2, ti_type_make(ctx, dtype, 1, &open));
    tc_attr_tosa_axis *axis = tc_new(&ctx->arena, tc_attr_tosa_axis);
    return add(m, TC_OP_tosa_reduce_sum, axis, &x, 1, type);
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

/* Operands that have to be constants: no tensor that is computed can stand there. */
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

static tc_status put_number(general *m, size_t place, const tc_series *n, size_t near, tc_val *out)
{
    tc_aligned *a = m->a;
    const tc_type *type = ti_point_tensor(a, place, 0).type;
    const tc_size_formula *f;
    const int64_t single = 1;
    TC_TRY(solve(m, n, near, "a number", &f));
    tc_val x = number_tensor(m, f, type->dtype), in[2];
    if (type->dtype == TC_f32)
        x = add(m, TC_OP_tosa_reciprocal, NULL, &x, 1,
                ti_type_make(a->ctx, TC_f32, 1, &single));
    if (type->rank != 1) {
        in[0] = x;
        in[1] = shape_const(m, type->dim, type->rank);
        x = add(m, TC_OP_tosa_reshape, NULL, in, 2, type);
    }
    *out = x;
    return TC_OK;
}

static const char *number_text(const general *m, tc_tensor t)
{
    tc_arena *arena = &m->a->ctx->arena;
    return tc_type_count(t.type) == 1 && ti_is_float(t.type->dtype)
               ? ti_text_format(arena, "%g", ti_load_f64(t, 0))
           : tc_type_count(t.type) == 1 && ti_is_int(t.type->dtype)
               ? ti_text_format(arena, "%" PRId64, ti_load_i64(t, 0))
               : ti_type_text(arena, t.type);
}

static tc_status no_constant(const general *m, size_t place, int operand)
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
        a->ctx, loc_of(m), TC_E_DYNAMIC,
        "the constant that is operand %d of '%s' depends on the size: %s at %s, %s at %s", operand,
        tc_ops[m->row->any->op].name, number_text(m, ti_point_tensor(a, place, 0)), a->text[0],
        number_text(m, ti_point_tensor(a, place, p)), a->text[p]);
    if (grows && a->largest >= a->n_point)
        ti_note(a->ctx, loc_of(m),
                "it grows with the size, which has no upper bound: --dim NAME=LO..HI sets one");
    else
        ti_note(a->ctx, loc_of(m), "it is no part of the largest one, nor one number repeated; "
                                   "--dim NAME=VALUE compiles one size");
    return status;
}

static tc_status put_constant(general *m, size_t place, int operand, size_t near, tc_val *out)
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
        return put_shape(m, s, (int)count, near, "a shape", out);
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
static tc_status operand_of(general *m, size_t place, int operand, size_t near, tc_val *out)
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

/* ---- operands that are no constants at some points: shapes of rows that are missing there ---- */

/* What a row would have there to change nothing. */
static int64_t neutral(const tc_aligned *a, const tc_row *row, int operand, size_t i, size_t p)
{
    const tc_type *t = ti_type_of(ti_point_graph(a, p), a->place[row->in[0]].at[p]);
    switch (row->any->op) {
    case TC_OP_tosa_slice:
        return operand == 1 ? 0 : t->dim[i];
    case TC_OP_tosa_tile:
        return 1;
    case TC_OP_tosa_reshape:
        return t->dim[i];
    default:
        return 0; /* pad */
    }
}

static bool is_missing_somewhere(const tc_aligned *a, const tc_row *row)
{
    for (size_t p = 0; p < a->n_point; p++)
        if (!row->node[p])
            return true;
    return false;
}

static tc_status neutral_operand(general *m, const tc_row *row, int k, tc_val *out)
{
    tc_aligned *a = m->a;
    size_t place = row->in[k], some = 0;
    while (!row->node[some])
        some++;
    tc_tensor t = ti_point_tensor(a, place, some);
    tc_series s[TC_MAX_RANK * 2];
    if (t.type->dtype != TC_shape) { /* the number that PAD puts there */
        for (size_t p = 0; p < a->n_point; p++)
            if (!row->node[p])
                a->place[place].at[p] = TC_NONE;
        *out = ti_graph_const(m->g, t.type, t.data, NULL, loc_of(m));
        return TC_OK;
    }
    int64_t n = tc_type_count(t.type);
    for (int64_t i = 0; i < n && i < TC_MAX_RANK * 2; i++)
        for (size_t p = 0; p < a->n_point; p++)
            s[i].at[p] = row->node[p]
                             ? ((const int64_t *)ti_point_tensor(a, place, p).data)[i]
                             : neutral(a, row, k, (size_t)i, p);
    return put_shape(m, s, (int)n, row->in[0], "a shape", out);
}

/* ---- windows ---- */

static tc_ints ints_of(const tc_node *node, const char *field)
{
    const tc_attr_info *info = &tc_attrs[tc_ops[node->op].attr];
    for (int i = 0; i < info->n_field; i++)
        if (ti_text_eq(info->field[i].name, field))
            return *(const tc_ints *)((const char *)node->attr + info->field[i].at);
    return (tc_ints){0};
}

/* The field at every point; whether it differs. */
static bool list_series(const tc_aligned *a, const tc_row *row, const char *field, tc_series *s,
                        int *n)
{
    bool differs = false;
    *n = ints_of(row->any, field).n;
    for (int i = 0; i < *n; i++) {
        for (size_t p = 0; p < a->n_point; p++)
            s[i].at[p] = ints_of(row->node[p], field).v[i];
        differs = differs || !ti_series_constant(a, &s[i]);
    }
    return differs;
}

/* A convolution whose padding differs: PAD by what the input's zero is, then one without padding. */
static tc_status put_padded_conv(general *m, tc_val *in, const void **attr)
{
    tc_aligned *a = m->a;
    const tc_row *row = m->row;
    tc_series pad[TC_MAX_RANK], all[TC_MAX_RANK * 2] = {0};
    tc_ctx *ctx = a->ctx;
    int n;
    if (!list_series(a, row, "pad", pad, &n))
        return TC_OK;
    for (int i = 0; i < n; i++) /* [top, bottom, left, right] of the axes between batch and channels */
        all[i + 2] = pad[i];
    tc_type t = *open_type(m, row->in[0]);
    for (int i = 0; i < n; i++)
        if (!ti_series_constant(a, &pad[i]) || pad[i].at[0])
            t.dim[1 + i / 2] = TC_OPEN;
    tc_val operand[3] = {in[0], TC_NONE, in[3]};
    TC_TRY(put_shape(m, all, n + 4, row->in[0], "the padding", &operand[1]));
    in[0] = add(m, TC_OP_tosa_pad, NULL, operand, 3, ti_type_intern(ctx, &t));
    tc_attr_tosa_conv *none = ti_arena_copy(&ctx->arena, row->any->attr, sizeof *none);
    none->pad.v = tc_new_n(&ctx->arena, int64_t, (size_t)n);
    *attr = none;
    return TC_OK;
}

/* A pool whose window differs has it as shapes. */
static tc_status put_pool(general *m, const tc_val *in, const tc_type *type, tc_val *out)
{
    static const char *const fields[] = {"kernel", "stride", "pad"};
    tc_aligned *a = m->a;
    const tc_row *row = m->row;
    bool average = row->any->op == TC_OP_tosa_avg_pool2d, differs = false;
    tc_series s[TC_COUNT(fields)][4];
    int n[TC_COUNT(fields)], given = average ? 3 : 1;
    for (size_t i = 0; i < TC_COUNT(fields); i++)
        differs = list_series(a, row, fields[i], s[i], &n[i]) || differs;
    *out = TC_NONE;
    if (!differs)
        return TC_OK;
    tc_val operand[6];
    memcpy(operand, in, (size_t)given * sizeof *in);
    for (size_t i = 0; i < TC_COUNT(fields); i++)
        TC_TRY(put_shape(m, s[i], n[i], row->in[0], "the window", &operand[given + (int)i]));
    const void *attr;
    if (average) {
        tc_attr_tosa_acc *acc = tc_new(&a->ctx->arena, tc_attr_tosa_acc);
        acc->acc_type = ((const tc_attr_tosa_avg_pool *)row->any->attr)->acc_type;
        attr = acc;
    } else {
        tc_attr_tosa_nan *nan = tc_new(&a->ctx->arena, tc_attr_tosa_nan);
        nan->nan_mode = ((const tc_attr_tosa_max_pool *)row->any->attr)->nan_mode;
        attr = nan;
    }
    *out = add(m, average ? TC_OP_tosa_avg_pool2d_adaptive : TC_OP_tosa_max_pool2d_adaptive, attr,
               operand, given + 3, type);
    return TC_OK;
}

/* ---- rows ---- */

static void name_result(const general *m, tc_val v, size_t place)
{
    const tc_aligned *a = m->a;
    const char *name = ti_value_of(ti_point_graph(a, 0), a->place[place].at[0])->name;
    if (m->row->node[0])
        m->g->val[v]->name = name;
}

static tc_status put_row(general *m, const tc_row *row)
{
    tc_aligned *a = m->a;
    const tc_node *node = row->any;
    const void *attr = node->attr;
    tc_val *in = tc_new_n(&a->ctx->arena, tc_val, (size_t)node->n_in + 1), pool = TC_NONE;
    m->row = row;
    bool missing = is_missing_somewhere(a, row);
    for (int i = 0; i < node->n_in; i++)
        TC_TRY(missing && a->place[row->in[i]].constant
                   ? neutral_operand(m, row, i, &in[i])
                   : operand_of(m, row->in[i], i, row->in[0], &in[i]));
    if (node->op == TC_OP_tosa_conv2d || node->op == TC_OP_tosa_depthwise_conv2d ||
        node->op == TC_OP_tosa_conv3d)
        TC_TRY(put_padded_conv(m, in, &attr));
    if (node->op == TC_OP_tosa_max_pool2d || node->op == TC_OP_tosa_avg_pool2d)
        TC_TRY(put_pool(m, in, open_type(m, row->out[0]), &pool));
    if (pool) {
        a->place[row->out[0]].made = pool;
        name_result(m, pool, row->out[0]);
    } else {
        tc_node *made =
            ti_graph_add(m->g, node->op, attr, in, node->n_in, node->n_out, node->loc);
        for (int i = 0; i < node->n_out; i++) {
            a->place[row->out[i]].made = made->out[i];
            m->g->val[made->out[i]]->type = open_type(m, row->out[i]);
            name_result(m, made->out[i], row->out[i]);
        }
    }
    for (int i = 0; i < node->n_out; i++)
        ti_atoms_add(&m->atoms, row->out[i]);
    return TC_OK;
}

/* ---- bounds ---- */

/* Nodes of an assertion are told by what it says. */
static void assert_equal(general *m, tc_val x, tc_val y, const char *what)
{
    tc_aligned *a = m->a;
    tc_loc *loc = tc_new(&a->ctx->arena, tc_loc);
    *loc = (tc_loc){.place = what};
    ti_graph_add(m->g, TC_OP_tosa_assert_equal_shape,
                 tc_new(&a->ctx->arena, tc_attr_tosa_assert_equal), (const tc_val[]){x, y}, 2, 0,
                 loc);
}

/* A dimension that nobody else reads: where an asserted shape has another reader, the reference model
 * (2026.8) stops. */
static tc_val put_dim(general *m, size_t input, int axis)
{
    tc_attr_tosa_axis *attr = tc_new(&m->a->ctx->arena, tc_attr_tosa_axis);
    attr->axis = axis;
    return add(m, TC_OP_tosa_dim, attr, &m->g->in[input], 1, shape_type(m, 1));
}

static void put_bound(general *m, const tc_size_bound *b)
{
    tc_aligned *a = m->a;
    tc_arena *arena = &a->ctx->arena;
    const tc_type *one = shape_type(m, 1);
    const char *input = ti_value_of(m->g, m->g->in[b->input])->name;
    tc_val in[2], dim = put_dim(m, b->input, b->axis);
    const char *at = ti_text_format(arena, "axis %d of '%s'", b->axis, input ? input : "input");
    int64_t lo = b->times * b->lo + b->plus,
            hi = b->hi > (INT32_MAX - b->plus) / b->times ? 0 : b->times * b->hi + b->plus;
    in[0] = put_dim(m, b->input, b->axis);
    in[1] = shape_const(m, &lo, 1);
    tc_val held = add(m, TC_OP_tosa_max_shape, NULL, in, 2, one);
    if (hi) {
        in[0] = held;
        in[1] = shape_const(m, &hi, 1);
        held = add(m, TC_OP_tosa_min_shape, NULL, in, 2, one);
    }
    assert_equal(m, dim, held,
                 hi ? ti_text_format(arena, "%s is %" PRId64 " to %" PRId64 " (%s)", at, lo, hi,
                                     b->word)
                    : ti_text_format(arena, "%s is %" PRId64 " or more (%s)", at, lo, b->word));
    if (b->times == 1)
        return;
    int64_t rest = b->plus % b->times;
    in[0] = put_dim(m, b->input, b->axis);
    in[1] = shape_const(m, &b->times, 1);
    in[0] = add(m, TC_OP_tosa_mod_shape, NULL, in, 2, one);
    in[1] = shape_const(m, &rest, 1);
    assert_equal(m, in[0], in[1],
                 rest ? ti_text_format(arena, "%s is a multiple of %" PRId64 ", and %" PRId64 " (%s)",
                                       at, b->times, rest, b->word)
                      : ti_text_format(arena, "%s is a multiple of %" PRId64 " (%s)", at, b->times,
                                       b->word));
}

static bool is_bound(const tc_size_bound *bound, size_t n, size_t input, int axis)
{
    for (size_t i = 0; i < n; i++)
        if (bound[i].input == input && bound[i].axis == axis)
            return true;
    return false;
}

/* Inputs, what bounds them, and what they have in common. */
static tc_status put_inputs(general *m, const tc_size_bound *bound, size_t n)
{
    tc_aligned *a = m->a;
    for (size_t i = 0; i < a->n_in; i++) {
        const tc_value *v = ti_value_of(ti_point_graph(a, 0), a->place[a->in[i]].at[0]);
        a->place[a->in[i]].made = ti_graph_input(m->g, open_type(m, a->in[i]), v->name);
    }
    for (size_t i = 0; i < n; i++)
        put_bound(m, &bound[i]);
    tc_aligned *all = a;
    for (size_t i = 0; i < n; i++) { /* of the bound axes alone */
        tc_atoms *to = &m->atoms;
        tc_size_formula *f = tc_new(&a->ctx->arena, tc_size_formula);
        *f = (tc_size_formula){.kind = TC_FORMULA_DIM,
                               .place = a->in[bound[i].input],
                               .axis = bound[i].axis,
                               .is = ti_place_dim(all, a->in[bound[i].input], bound[i].axis)};
        tc_grow(&a->ctx->arena, to->atom, to->n, to->cap);
        to->atom[to->n++] = f;
    }
    for (size_t i = 0; i < a->n_in; i++)
        for (int axis = 0; axis < open_type(m, a->in[i])->rank; axis++) {
            tc_series s = ti_place_dim(a, a->in[i], axis);
            const tc_size_formula *f;
            if (ti_series_constant(a, &s) || is_bound(bound, n, i, axis))
                continue;
            TC_TRY(solve(m, &s, SIZE_MAX, "the shape of an input", &f));
            const int64_t none = 0;
            tc_val dim = put_dim(m, i, axis), want[2];
            want[0] = put_formula(m, f);
            want[1] = shape_const(m, &none, 1);
            want[0] = add(m, TC_OP_tosa_add_shape, NULL, want, 2, shape_type(m, 1));
            const char *name = ti_value_of(m->g, m->g->in[i])->name;
            assert_equal(m, dim, want[0],
                         ti_text_format(&a->ctx->arena, "axis %d of '%s' is %s", axis,
                                        name ? name : "input", ti_formula_text(a, f)));
        }
    for (size_t i = 0; i < a->n_in; i++)
        ti_atoms_add(&m->atoms, a->in[i]);
    return TC_OK;
}

tc_status ti_generalize(tc_aligned *a, const tc_size_bound *bound, size_t n_bound, tc_module **out)
{
    tc_ctx *ctx = a->ctx;
    tc_module *module = ti_module_new(ctx, a->module[0]->file);
    const tc_graph *from = ti_point_graph(a, 0);
    general m = {.a = a, .g = ti_graph_new(module, from->name), .atoms = {.a = a}};
    module->tosa_minor = 1;
    ti_map_init(&m.constant, &ctx->arena);
    ti_map_init(&m.number, &ctx->arena);
    TC_TRY(put_inputs(&m, bound, n_bound));
    for (size_t r = 0; r < a->n_row; r++)
        TC_TRY(put_row(&m, &a->row[r]));
    for (size_t i = 0; i < a->n_out; i++)
        ti_graph_output(m.g, a->place[a->out[i]].made);
    m.g->facts = from->facts;
    *out = module;
    return TC_OK;
}
