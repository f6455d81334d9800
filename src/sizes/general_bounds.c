/* SPDX-License-Identifier: Apache-2.0 */
/* general_bounds.c -- inputs of a program for many sizes; their bounds, and sizes that two of them share,
 * are asserted at its beginning. */
#include "general.h"

/* Nodes of an assertion are identified by its content. */
static void assert_equal(tc_general *m, tc_val x, tc_val y, const char *what)
{
    tc_aligned *a = m->a;
    tc_loc *loc = tc_new(&a->ctx->arena, tc_loc);
    *loc = (tc_loc){.place = what};
    ti_graph_add(m->g, TC_OP_tosa_assert_equal_shape,
                 tc_new(&a->ctx->arena, tc_attr_tosa_assert_equal), (const tc_val[]){x, y}, 2, 0,
                 loc);
}

/* A dimension without other readers: where an asserted shape has another reader, the reference
 * model (2026.8) stops. */
static tc_val put_dim(tc_general *m, size_t input, int axis)
{
    tc_attr_tosa_axis *attr = tc_new(&m->a->ctx->arena, tc_attr_tosa_axis);
    attr->axis = axis;
    return ti_general_add(m, TC_OP_tosa_dim, attr, &m->g->in[input], 1,
                          ti_general_shape_type(m, 1));
}

static void put_bound(tc_general *m, const tc_size_bound *b)
{
    tc_aligned *a = m->a;
    tc_arena *arena = &a->ctx->arena;
    const tc_type *one = ti_general_shape_type(m, 1);
    const char *input = ti_value_of(m->g, m->g->in[b->input])->name;
    tc_val in[2], dim = put_dim(m, b->input, b->axis);
    const char *at = ti_text_format(arena, "axis %d of '%s'", b->axis, input ? input : "input");
    int64_t lo = b->times * b->lo + b->plus,
            hi = b->hi > (INT32_MAX - b->plus) / b->times ? 0 : b->times * b->hi + b->plus;
    in[0] = put_dim(m, b->input, b->axis);
    in[1] = ti_general_shape(m, &lo, 1);
    tc_val held = ti_general_add(m, TC_OP_tosa_max_shape, NULL, in, 2, one);
    if (hi) {
        in[0] = held;
        in[1] = ti_general_shape(m, &hi, 1);
        held = ti_general_add(m, TC_OP_tosa_min_shape, NULL, in, 2, one);
    }
    assert_equal(
        m, dim, held,
        hi ? ti_text_format(arena, "%s is %" PRId64 " to %" PRId64 " (%s)", at, lo, hi, b->word)
           : ti_text_format(arena, "%s is %" PRId64 " or more (%s)", at, lo, b->word));
    if (b->times == 1)
        return;
    int64_t rest = b->plus % b->times;
    in[0] = put_dim(m, b->input, b->axis);
    in[1] = ti_general_shape(m, &b->times, 1);
    in[0] = ti_general_add(m, TC_OP_tosa_mod_shape, NULL, in, 2, one);
    in[1] = ti_general_shape(m, &rest, 1);
    assert_equal(
        m, in[0], in[1],
        rest
            ? ti_text_format(arena, "%s is a multiple of %" PRId64 ", and %" PRId64 " (%s)", at,
                             b->times, rest, b->word)
            : ti_text_format(arena, "%s is a multiple of %" PRId64 " (%s)", at, b->times, b->word));
}

static bool is_bound(const tc_size_bound *bound, size_t n, size_t input, int axis)
{
    for (size_t i = 0; i < n; i++)
        if (bound[i].input == input && bound[i].axis == axis)
            return true;
    return false;
}

/* Inputs, what bounds them, and what they have in common. */
tc_status ti_put_inputs(tc_general *m, const tc_size_bound *bound, size_t n)
{
    tc_aligned *a = m->a;
    for (size_t i = 0; i < a->n_in; i++) {
        const tc_value *v = ti_value_of(ti_point_graph(a, 0), a->place[a->in[i]].at[0]);
        a->place[a->in[i]].made = ti_graph_input(m->g, ti_open_type(m, a->in[i]), v->name);
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
        for (int axis = 0; axis < ti_open_type(m, a->in[i])->rank; axis++) {
            tc_series s = ti_place_dim(a, a->in[i], axis);
            const tc_size_formula *f;
            if (ti_series_constant(a, &s) || is_bound(bound, n, i, axis))
                continue;
            TC_TRY(ti_solve_size(m, &s, SIZE_MAX, "the shape of an input", &f));
            const int64_t none = 0;
            tc_val dim = put_dim(m, i, axis), want[2];
            want[0] = ti_put_formula(m, f);
            want[1] = ti_general_shape(m, &none, 1);
            want[0] =
                ti_general_add(m, TC_OP_tosa_add_shape, NULL, want, 2, ti_general_shape_type(m, 1));
            const char *name = ti_value_of(m->g, m->g->in[i])->name;
            assert_equal(m, dim, want[0],
                         ti_text_format(&a->ctx->arena, "axis %d of '%s' is %s", axis,
                                        name ? name : "input", ti_formula_text(a, f)));
        }
    for (size_t i = 0; i < a->n_in; i++)
        ti_atoms_add(&m->atoms, a->in[i]);
    return TC_OK;
}
