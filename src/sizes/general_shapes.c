/* SPDX-License-Identifier: Apache-2.0 */
/* general_shapes.c -- formulas of sizes as operators on shapes. */
#include "general.h"

const tc_loc *ti_general_loc(const tc_general *m)
{
    static const tc_loc nowhere = {0};
    return m->row ? m->row->any->loc : &nowhere;
}

tc_val ti_general_add(tc_general *m, tc_op op, const void *attr, const tc_val *in, int n_in,
                      const tc_type *type)
{
    tc_node *node = ti_graph_add(m->g, op, attr, in, n_in, type ? 1 : 0, ti_general_loc(m));
    if (!type)
        return TC_NONE;
    m->g->val[node->out[0]]->type = type;
    return node->out[0];
}

const tc_type *ti_general_shape_type(const tc_general *m, int64_t n)
{
    return ti_type_make(m->a->ctx, TC_shape, 1, &n);
}

tc_val ti_general_shape(tc_general *m, const int64_t *v, int64_t n)
{
    const int64_t *copy = ti_arena_copy(&m->a->ctx->arena, v, (size_t)n * sizeof *v);
    return ti_graph_const(m->g, ti_general_shape_type(m, n), copy, NULL, ti_general_loc(m));
}

/* ---- formulas ---- */

tc_val ti_put_formula(tc_general *m, const tc_size_formula *f)
{
    static const tc_op op[] = {
        [TC_FORMULA_ADD] = TC_OP_tosa_add_shape, [TC_FORMULA_SUB] = TC_OP_tosa_sub_shape,
        [TC_FORMULA_MUL] = TC_OP_tosa_mul_shape, [TC_FORMULA_DIV] = TC_OP_tosa_div_floor_shape,
        [TC_FORMULA_MOD] = TC_OP_tosa_mod_shape, [TC_FORMULA_MAX] = TC_OP_tosa_max_shape,
        [TC_FORMULA_MIN] = TC_OP_tosa_min_shape};
    tc_aligned *a = m->a;
    tc_str key = {(const char *)f->is.at, a->n_point * sizeof *f->is.at};
    void *made = ti_map_get(&m->number, key);
    if (made)
        return (tc_val)(uintptr_t)made;
    tc_val v;
    if (f->kind == TC_FORMULA_CONST)
        v = ti_general_shape(m, &f->number, 1);
    else if (f->kind == TC_FORMULA_DIM) {
        tc_attr_tosa_axis *axis = tc_new(&a->ctx->arena, tc_attr_tosa_axis);
        axis->axis = f->axis;
        v = ti_general_add(m, TC_OP_tosa_dim, axis, &a->place[f->place].made, 1,
                           ti_general_shape_type(m, 1));
    } else {
        tc_val in[2];
        in[0] = ti_put_formula(m, f->a);
        in[1] = ti_put_formula(m, f->b);
        v = ti_general_add(m, op[f->kind], NULL, in, 2, ti_general_shape_type(m, 1));
    }
    *ti_map_at(&m->number, key) = (void *)(uintptr_t)v;
    return v;
}

static tc_status no_formula(const tc_general *m, const char *what, const tc_series *s,
                            const tc_size_formula *f)
{
    tc_aligned *a = m->a;
    tc_buf list;
    ti_buf_init(&list, &a->ctx->arena);
    for (size_t p = 0; p < a->n_point; p++)
        ti_buf_printf(&list, "%s%" PRId64 " at %s", p ? ", " : "", s->at[p], a->text[p]);
    tc_status status = ti_unsupported(a->ctx, ti_general_loc(m), TC_E_DYNAMIC,
                                      "%s of '%s' depends on the size by no formula that was tried",
                                      what, m->row ? tc_ops[m->row->any->op].name : "the program");
    ti_note(a->ctx, ti_general_loc(m), "it is %s%s%s", ti_buf_cstr(&list), f ? "; not " : "",
            f ? ti_formula_text(a, f) : "");
    return status;
}

/* The formula of a series; one that does not hold at the points that try it is fitted to them too. */
tc_status ti_solve_size(tc_general *m, const tc_series *s, size_t near, const char *what,
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

/* n series as one shape: runs of values stay together. */
tc_status ti_put_shape(tc_general *m, const tc_series *s, int n, size_t near, const char *what,
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
        TC_TRY(ti_solve_size(m, &s[i], near, what, &f));
        if (n_run)
            part[n_part++] = ti_general_shape(m, run, n_run);
        n_run = 0;
        part[n_part++] = ti_put_formula(m, f);
    }
    if (n_run)
        part[n_part++] = ti_general_shape(m, run, n_run);
    *out = n_part == 1 ? part[0]
                       : ti_general_add(m, TC_OP_tosa_concat_shape, NULL, part, n_part,
                                        ti_general_shape_type(m, n));
    return TC_OK;
}

const tc_type *ti_open_type(const tc_general *m, size_t place)
{
    const tc_aligned *a = m->a;
    tc_type t = *ti_type_of(ti_point_graph(a, 0), a->place[place].at[0]);
    for (int i = 0; i < t.rank && t.dtype != TC_shape; i++) {
        tc_series s = ti_place_dim(a, place, i);
        t.dim[i] = ti_series_constant(a, &s) ? t.dim[i] : TC_OPEN;
    }
    return ti_type_intern(a->ctx, &t);
}
