/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_view.c -- in-place operators and views, made functional.
 *
 * A cell is a tensor as Python sees it.  Views hang below their base by the operators that lead
 * from one to the other.  Writing to a cell writes through that chain up to the root:
 *
 *     base' = put(base, where the view looks, view')
 *
 * and every other view below the root is made again from its base when it is next read. */
#include "pt2_program.h"
#include "../../run/eval.h"

static tc_pt2_cell *root_of(tc_pt2_cell *cell)
{
    while (cell->base)
        cell = cell->base;
    return cell;
}

/* One step down: from a base's value to the view's. */
static tc_status step_down(tc_graph *g, const tc_pt2_step *s, tc_val x, const tc_loc *loc,
                           tc_val *out)
{
    tc_node *node;
    TC_TRY(ti_graph_emit(g, s->op, s->attr, &x, 1, s->n_out, loc, &node));
    *out = node->out[s->index];
    return TC_OK;
}

tc_status ti_pt2_current(tc_graph *g, tc_pt2_cell *cell, const tc_loc *loc, tc_val *out)
{
    unsigned version = root_of(cell)->version;
    if (cell->base && cell->seen != version) {
        if (cell->n_step < 0)
            return ti_unsupported(
                g->module->ctx, loc, TC_E_UNSUPPORTED,
                "a view whose base was changed in place, in a way that cannot be tracked");
        tc_val val = TC_NONE;
        TC_TRY(ti_pt2_current(g, cell->base, loc, &val));
        for (int i = 0; i < cell->n_step; i++)
            TC_TRY(step_down(g, &cell->step[i], val, loc, &val));
        cell->val = val;
        cell->seen = version;
    }
    *out = cell->val;
    return TC_OK;
}

/* One operator up. */
static tc_status put1(tc_graph *g, tc_op op, const void *attr, const tc_val *in, int n_in,
                      const tc_loc *loc, tc_val *out)
{
    tc_node *node;
    TC_TRY(ti_graph_emit(g, op, attr, in, n_in, 1, loc, &node));
    *out = node->out[0];
    return TC_OK;
}

#define ATTR(record, ...)                                                                          \
    ti_arena_copy(arena, &(tc_attr_##record){__VA_ARGS__}, sizeof(tc_attr_##record))

static tc_status put_reshape(tc_graph *g, const tc_type *base, tc_val view, const tc_loc *loc,
                             tc_val *out)
{
    tc_arena *arena = &g->module->ctx->arena;
    return put1(g, TC_OP_reshape, ATTR(shape, ti_ints_copy(arena, base->dim, base->rank)), &view, 1,
                loc, out);
}

static tc_status put_permute(tc_graph *g, const tc_attr_perm *a, tc_val view, const tc_loc *loc,
                             tc_val *out)
{
    tc_arena *arena = &g->module->ctx->arena;
    int64_t back[TC_MAX_RANK];
    for (int i = 0; i < a->perm.n; i++)
        back[a->perm.v[i]] = i;
    return put1(g, TC_OP_permute, ATTR(perm, ti_ints_copy(arena, back, a->perm.n)), &view, 1, loc,
                out);
}

/* Any operator that only moves numbers: ask it where each of them comes from, by sending the
 * positions themselves through it, and put the new ones there. */
static tc_status put_anywhere(tc_graph *g, const tc_pt2_step *s, tc_val base, tc_val view,
                              const tc_loc *loc, tc_val *out)
{
    tc_ctx *ctx = g->module->ctx;
    tc_arena *arena = &ctx->arena;
    const tc_type *type = ti_type_of(g, base), *part = ti_type_of(g, view);
    int64_t count = tc_type_count(type), n_part = tc_type_count(part);
    if (count > INT32_MAX)
        return ti_unsupported(ctx, loc, TC_E_TOO_LARGE,
                              "an in-place change through '%s' of a tensor that is too large",
                              tc_ops[s->op].name);
    tc_tensor place = ti_tensor_new(arena, ti_type_make(ctx, TC_i64, type->rank, type->dim));
    for (int64_t i = 0; i < count; i++)
        ((int64_t *)place.data)[i] = i;
    tc_val at = ti_graph_const(g, place.type, place.data, NULL, loc), moved;
    TC_TRY(step_down(g, s, at, loc, &moved));
    tc_node *node = ti_def(g, moved);
    tc_tensor *from = tc_new_n(arena, tc_tensor, (size_t)s->n_out);
    TC_TRY(ti_eval_node(g, node, &place, from, arena));
    tc_val index =
        ti_graph_const(g, ti_type_make(ctx, TC_i64, 1, &n_part), from[s->index].data, NULL, loc);
    tc_val flat, values;
    TC_TRY(
        put1(g, TC_OP_reshape, ATTR(shape, ti_ints_copy(arena, &count, 1)), &base, 1, loc, &flat));
    TC_TRY(put1(g, TC_OP_reshape, ATTR(shape, ti_ints_copy(arena, &n_part, 1)), &view, 1, loc,
                &values));
    TC_TRY(put1(g, TC_OP_index_put, ATTR(index_put, false), (tc_val[]){flat, values, index}, 3, loc,
                &flat));
    return put_reshape(g, type, flat, loc, out);
}

/* The base after `view` was written where step s looks. */
static tc_status step_up(tc_graph *g, const tc_pt2_step *s, tc_val base, tc_val view,
                         const tc_loc *loc, tc_val *out)
{
    tc_arena *arena = &g->module->ctx->arena;
    const tc_type *type = ti_type_of(g, base);
    tc_val both[] = {base, view};
    switch (s->op) {
    case TC_OP_identity:
        *out = view;
        return TC_OK;
    case TC_OP_reshape:
        return put_reshape(g, type, view, loc, out);
    case TC_OP_permute:
        return put_permute(g, s->attr, view, loc, out);
    case TC_OP_slice:
        return put1(g, TC_OP_slice_scatter, s->attr, both, 2, loc, out);
    case TC_OP_select:
        return put1(g, TC_OP_select_scatter, s->attr, both, 2, loc, out);
    case TC_OP_unbind: {
        const tc_attr_axis *a = s->attr;
        return put1(g, TC_OP_select_scatter, ATTR(select, a->axis, s->index), both, 2, loc, out);
    }
    case TC_OP_split: {
        const tc_attr_split *a = s->attr;
        int64_t start = 0;
        for (int i = 0; i < s->index; i++)
            start += a->sizes.v[i];
        int64_t end = start + a->sizes.v[s->index];
        return put1(g, TC_OP_slice_scatter, ATTR(slice, a->axis, start, end, 1), both, 2, loc, out);
    }
    case TC_OP_diagonal:
    case TC_OP_as_strided:
        return put_anywhere(g, s, base, view, loc, out);
    case TC_OP_expand:
        if (ti_same_dims(type, ti_type_of(g, view))) {
            *out = view;
            return TC_OK;
        }
        break;
    default:
        break;
    }
    return ti_unsupported(g->module->ctx, loc, TC_E_UNSUPPORTED,
                          "an in-place change through a view made by '%s'", tc_ops[s->op].name);
}

/* The base's value after the view was given a new one. */
static tc_status write_back(tc_graph *g, tc_arena *arena, const tc_pt2_cell *cell, tc_val base,
                            tc_val view, const tc_loc *loc, tc_val *out)
{
    if (cell->n_step < 0)
        return ti_unsupported(
            g->module->ctx, loc, TC_E_UNSUPPORTED,
            "an in-place change of a view, in a way that cannot be tracked");
    tc_val *between = tc_new_n(arena, tc_val, (size_t)cell->n_step + 1);
    between[0] = base;
    for (int i = 0; i + 1 < cell->n_step; i++)
        TC_TRY(step_down(g, &cell->step[i], between[i], loc, &between[i + 1]));
    for (int i = cell->n_step; i-- > 0;)
        TC_TRY(step_up(g, &cell->step[i], between[i], view, loc, &view));
    *out = view;
    return TC_OK;
}

static tc_status write_up(tc_graph *g, tc_arena *arena, tc_pt2_cell *cell, tc_val val,
                          const tc_loc *loc, unsigned version)
{
    if (cell->base) {
        tc_val base = TC_NONE, changed = TC_NONE;
        TC_TRY(ti_pt2_current(g, cell->base, loc, &base));
        TC_TRY(write_back(g, arena, cell, base, val, loc, &changed));
        TC_TRY(write_up(g, arena, cell->base, changed, loc, version));
    }
    cell->val = val;
    cell->seen = version;
    return TC_OK;
}

tc_status ti_pt2_write(tc_graph *g, tc_arena *arena, tc_pt2_cell *cell, tc_val val,
                       const tc_loc *loc)
{
    tc_pt2_cell *root = root_of(cell);
    if (root->input && !root->version)
        ti_warning(g->module->ctx, loc, TC_E_UNSUPPORTED,
                   "the model changes its input '%s' in place; the caller's copy is not changed",
                   root->input);
    TC_TRY(write_up(g, arena, cell, val, loc, root->version + 1));
    root->version++;
    return TC_OK;
}

/* The operators from base to view, last first; -1 when the way does not lead there. */
static int trace(const tc_graph *g, tc_val base, tc_val view, tc_pt2_step *step, int most)
{
    int n = 0;
    while (view != base) {
        const tc_node *node = ti_def(g, view);
        if (!node || node->n_in != 1 || n == most)
            return -1;
        if (step)
            step[most - 1 - n] =
                (tc_pt2_step){node->op, node->attr, ti_value_of(g, view)->index, node->n_out};
        n++;
        view = node->in[0];
    }
    return n;
}

void ti_pt2_view(tc_pt2_node *n, tc_val base, tc_val view)
{
    tc_pt2_work *work = n->work;
    tc_pt2_cell *of = NULL;
    if (n->m.status != TC_OK || work->in_place)
        return;
    for (size_t i = 0; i < work->n_read && !of; i++)
        if (work->read[i]->val == base)
            of = work->read[i];
    for (int i = 0; i < n->n_result && of; i++) {
        tc_pt2_cell *cell = work->result[i].cell;
        if (!cell || cell->val != view || cell->base || cell == of)
            continue;
        enum { LONGEST = 16 };
        cell->n_step = trace(n->m.g, base, view, NULL, LONGEST);
        if (cell->n_step > 0) {
            tc_pt2_step *step =
                tc_new_n(&work->scope->reader->work, tc_pt2_step, (size_t)cell->n_step);
            trace(n->m.g, base, view, step, cell->n_step);
            cell->step = step;
        }
        cell->base = of;
        cell->seen = root_of(of)->version;
        return;
    }
}

void ti_pt2_as_strided_scatter(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self"), part = ti_pt2_tensor(n, "src"), out = TC_NONE;
    tc_ints size = ti_pt2_ints(n, "size"), stride = ti_pt2_ints(n, "stride");
    int64_t offset = ti_pt2_int(n, "storage_offset", 0);
    tc_pt2_step step = {n->row->op, ti_b_attr(&n->m, as_strided, size, stride, offset), 0, 1};
    if (n->m.status == TC_OK)
        n->m.status = step_up(n->m.g, &step, x, part, n->m.loc, &out);
    ti_pt2_bind(n, 0, out);
}
