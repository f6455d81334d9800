/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_view.c -- in-place operators and views, made functional.
 *
 * A cell is a tensor as Python sees it.  A view has the steps that lead to it from the tensor that
 * owns the storage.  Writing to a view writes to the owner,
 *
 *     owner' = put(owner, where the view looks, view')
 *
 * and every other view of the storage is rebuilt from the owner at its next use. */
#include "pt2_program.h"
#include "../../num/load.h"
#include "../../run/eval.h"

tc_pt2_cell *ti_pt2_owner(tc_pt2_cell *cell)
{
    return cell->base ? cell->base : cell;
}

/* One operator with one result. */
static tc_status emit(tc_graph *g, tc_op op, const void *attr, const tc_val *in, int n_in,
                      const tc_loc *loc, tc_val *out)
{
    tc_node *node;
    TC_TRY(ti_graph_emit(g, op, attr, in, n_in, 1, loc, &node));
    *out = node->out[0];
    return TC_OK;
}

#define ATTR(record, ...)                                                                          \
    ti_arena_copy(arena, &(tc_attr_##record){__VA_ARGS__}, sizeof(tc_attr_##record))

/* (re, im) of complex numbers, or of pairs along the last axis. */
static tc_status halves(tc_graph *g, tc_val x, const tc_loc *loc, tc_val half[2])
{
    tc_arena *arena = &g->module->ctx->arena;
    const tc_type *t = ti_type_of(g, x);
    static const tc_op part[] = {TC_OP_real, TC_OP_imag};
    for (int i = 0; i < 2; i++)
        TC_TRY(t->dtype == TC_c64
                   ? emit(g, part[i], NULL, &x, 1, loc, &half[i])
                   : emit(g, TC_OP_select, ATTR(select, t->rank - 1, i), &x, 1, loc, &half[i]));
    return TC_OK;
}

/* Complex numbers as pairs, pairs as complex numbers. */
static tc_status pair_up(tc_graph *g, tc_val x, const tc_loc *loc, tc_val *out)
{
    tc_arena *arena = &g->module->ctx->arena;
    const tc_type *t = ti_type_of(g, x);
    tc_val half[2] = {TC_NONE, TC_NONE};
    TC_TRY(halves(g, x, loc, half));
    return t->dtype == TC_c64 ? emit(g, TC_OP_stack, ATTR(axis, t->rank), half, 2, loc, out)
                              : emit(g, TC_OP_complex, NULL, half, 2, loc, out);
}

static tc_status conjugate(tc_graph *g, tc_val x, const tc_loc *loc, tc_val *out)
{
    tc_val half[2] = {TC_NONE, TC_NONE};
    TC_TRY(halves(g, x, loc, half));
    TC_TRY(emit(g, TC_OP_neg, NULL, &half[1], 1, loc, &half[1]));
    return emit(g, TC_OP_complex, NULL, half, 2, loc, out);
}

static tc_status reread(tc_graph *g, tc_val x, tc_dtype to, const tc_loc *loc, tc_val *out)
{
    tc_build b = {.ctx = g->module->ctx, .g = g, .loc = loc, .subject = "view", .every = true};
    *out = ti_pt2_bits(&b, x, to);
    return b.status;
}

/* One step down: from a tensor to its view. */
static tc_status step_down(tc_graph *g, const tc_pt2_step *s, tc_val x, const tc_loc *loc,
                           tc_val *out)
{
    tc_node *node;
    if (s->shows == TC_PT2_AS_PAIRS || s->shows == TC_PT2_AS_COMPLEX)
        return pair_up(g, x, loc, out);
    if (s->shows == TC_PT2_CONJUGATE)
        return conjugate(g, x, loc, out);
    if (s->shows == TC_PT2_BITS)
        return reread(g, x, s->dtype, loc, out);
    tc_val in[2] = {x, s->rows};
    TC_TRY(ti_graph_emit(g, s->op, s->attr, in, s->rows ? 2 : 1, s->n_out, loc, &node));
    *out = node->out[s->index];
    return TC_OK;
}

tc_status ti_pt2_current(tc_graph *g, tc_pt2_cell *cell, const tc_loc *loc, tc_val *out)
{
    const tc_pt2_cell *owner = ti_pt2_owner(cell);
    if (cell->base && cell->seen != owner->version) {
        if (cell->n_step < 0)
            return ti_unsupported(
                g->module->ctx, loc, TC_E_UNSUPPORTED,
                "a view whose base was changed in place, in a way that cannot be tracked");
        tc_val val = owner->val;
        for (int i = 0; i < cell->n_step; i++)
            TC_TRY(step_down(g, &cell->step[i], val, loc, &val));
        cell->val = val;
        cell->seen = owner->version;
    }
    *out = cell->val;
    return TC_OK;
}

/* ---- writing ---- */

static tc_status put_reshape(tc_graph *g, const tc_type *base, tc_val view, const tc_loc *loc,
                             tc_val *out)
{
    tc_arena *arena = &g->module->ctx->arena;
    return emit(g, TC_OP_reshape, ATTR(shape, ti_ints_copy(arena, base->dim, base->rank)), &view, 1,
                loc, out);
}

static tc_status put_permute(tc_graph *g, const tc_attr_perm *a, tc_val view, const tc_loc *loc,
                             tc_val *out)
{
    tc_arena *arena = &g->module->ctx->arena;
    int64_t back[TC_MAX_RANK];
    for (int i = 0; i < a->perm.n; i++)
        back[a->perm.v[i]] = i;
    return emit(g, TC_OP_permute, ATTR(perm, ti_ints_copy(arena, back, a->perm.n)), &view, 1, loc,
                out);
}

static bool is_move(const tc_pt2_step *s)
{
    return s->shows == TC_PT2_PART && (tc_ops[s->op].traits & T_MOVES) && !s->rows;
}

/* Indices 0, 1, 2 ... in the shape of `base`, taken through the steps: the index in `base` of each
 * element of the view. */
static tc_status find_places(tc_graph *g, const tc_pt2_step *step, int n_step, tc_val base,
                             const tc_loc *loc, tc_tensor *place)
{
    tc_ctx *ctx = g->module->ctx;
    const tc_type *type = ti_type_of(g, base);
    int64_t count = tc_type_count(type);
    enum { MOST = 1 << 26 };
    if (count > MOST)
        return ti_unsupported(ctx, loc, TC_E_TOO_LARGE,
                              "an in-place change through '%s' of a tensor that is too large",
                              tc_ops[step[n_step - 1].op].name);
    *place = ti_tensor_new(&ctx->arena, ti_type_make(ctx, TC_i64, type->rank, type->dim));
    for (int64_t i = 0; i < count; i++)
        ti_store_i64(*place, i, i);
    for (int k = 0; k < n_step; k++) {
        tc_val moved, at = ti_graph_const(g, place->type, place->data, NULL, loc);
        TC_TRY(step_down(g, &step[k], at, loc, &moved));
        tc_tensor *out = tc_new_n(&ctx->arena, tc_tensor, (size_t)step[k].n_out);
        TC_TRY(ti_eval_node(g, ti_def(g, moved), place, out, &ctx->arena));
        *place = out[step[k].index];
    }
    return TC_OK;
}

/* All elements are equal: the order of writes does not matter. */
static bool uniform(const tc_graph *g, tc_val x)
{
    const tc_node *def = ti_def(g, x);
    return tc_type_count(ti_type_of(g, x)) == 1 ||
           (def && (def->op == TC_OP_full ||
                    (def->op == TC_OP_expand && tc_type_count(ti_type_of(g, def->in[0])) == 1)));
}

/* An element of the base occurs twice in the view. */
static bool seen_twice(tc_ctx *ctx, tc_tensor place, int64_t count)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    bool *seen = tc_new_n(&ctx->scratch, bool, (size_t)count), twice = false;
    for (int64_t i = 0; i < tc_type_count(place.type) && !twice; i++) {
        int64_t at = ti_load_i64(place, i);
        twice = seen[at];
        seen[at] = true;
    }
    ti_arena_rewind(&ctx->scratch, mark);
    return twice;
}

/* Moves of any kind: scatter the view's elements to their origin. */
static tc_status put_places(tc_graph *g, const tc_pt2_step *step, int n_step, tc_val base,
                            tc_val view, const tc_loc *loc, tc_val *out)
{
    tc_ctx *ctx = g->module->ctx;
    tc_arena *arena = &ctx->arena;
    const tc_type *type = ti_type_of(g, base);
    int64_t count = tc_type_count(type), n_part = tc_type_count(ti_type_of(g, view));
    tc_tensor place;
    TC_TRY(find_places(g, step, n_step, base, loc, &place));
    if (!uniform(g, view) && seen_twice(ctx, place, count))
        return ti_unsupported(ctx, loc, TC_E_UNSUPPORTED,
                              "an in-place change of a view that shows a number at several places: "
                              "what it becomes depends on the order in which they are computed");
    tc_val index = ti_graph_const(g, ti_type_make(ctx, TC_i64, 1, &n_part), place.data, NULL, loc);
    tc_val flat, values;
    TC_TRY(
        emit(g, TC_OP_reshape, ATTR(shape, ti_ints_copy(arena, &count, 1)), &base, 1, loc, &flat));
    TC_TRY(emit(g, TC_OP_reshape, ATTR(shape, ti_ints_copy(arena, &n_part, 1)), &view, 1, loc,
                &values));
    TC_TRY(emit(g, TC_OP_index_put, ATTR(index_put, false), (tc_val[]){flat, values, index}, 3, loc,
                &flat));
    return put_reshape(g, type, flat, loc, out);
}

/* The operators that step_up() inverts; step s leads from `from` to `to`. */
static bool has_step_up(const tc_pt2_step *s, const tc_type *from, const tc_type *to)
{
    switch (s->op) {
    case TC_OP_identity:
    case TC_OP_reshape:
    case TC_OP_permute:
    case TC_OP_slice:
    case TC_OP_select:
    case TC_OP_unbind:
    case TC_OP_split:
        return true;
    case TC_OP_expand: /* new axes of size 1 alone */
        return tc_type_count(from) == tc_type_count(to);
    default:
        return false;
    }
}

/* `base` after `view` was written where step s looks: a move that has_step_up(). */
static tc_status step_up(tc_graph *g, const tc_pt2_step *s, tc_val base, tc_val view,
                         const tc_loc *loc, tc_val *out)
{
    tc_arena *arena = &g->module->ctx->arena;
    tc_val both[] = {base, view};
    switch (s->op) {
    case TC_OP_identity:
        *out = view;
        return TC_OK;
    case TC_OP_permute:
        return put_permute(g, s->attr, view, loc, out);
    case TC_OP_slice:
        return emit(g, TC_OP_slice_scatter, s->attr, both, 2, loc, out);
    case TC_OP_select:
        return emit(g, TC_OP_select_scatter, s->attr, both, 2, loc, out);
    case TC_OP_unbind: {
        const tc_attr_axis *a = s->attr;
        return emit(g, TC_OP_select_scatter, ATTR(select, a->axis, s->index), both, 2, loc, out);
    }
    case TC_OP_split: {
        const tc_attr_split *a = s->attr;
        int64_t start = 0;
        for (int i = 0; i < s->index; i++)
            start += a->sizes.v[i];
        int64_t end = start + a->sizes.v[s->index];
        return emit(g, TC_OP_slice_scatter, ATTR(slice, a->axis, start, end, 1), both, 2, loc, out);
    }
    default: /* reshape, expand */
        return put_reshape(g, ti_type_of(g, base), view, loc, out);
    }
}

/* A run of moves: inverted one by one, or all at once by indices. */
static tc_status put_moves(tc_graph *g, const tc_pt2_step *step, int n_step, tc_val base,
                           tc_val view, const tc_loc *loc, tc_val *out)
{
    tc_val *between = tc_new_n(&g->module->ctx->arena, tc_val, (size_t)n_step + 1);
    between[0] = base;
    bool each = true;
    for (int i = 0; i < n_step && each; i++) {
        TC_TRY(step_down(g, &step[i], between[i], loc, &between[i + 1]));
        each = has_step_up(&step[i], ti_type_of(g, between[i]), ti_type_of(g, between[i + 1]));
    }
    if (!each)
        return put_places(g, step, n_step, base, view, loc, out);
    for (int i = n_step; i-- > 0;)
        TC_TRY(step_up(g, &step[i], between[i], view, loc, &view));
    *out = view;
    return TC_OK;
}

/* Complex numbers with another real or imaginary part. */
static tc_status put_half(tc_graph *g, int which, tc_val base, tc_val view, const tc_loc *loc,
                          tc_val *out)
{
    tc_val half[2] = {TC_NONE, TC_NONE};
    TC_TRY(halves(g, base, loc, half));
    half[which] = view;
    return emit(g, TC_OP_complex, NULL, half, 2, loc, out);
}

/* One step that is not a move. */
static tc_status put_other(tc_graph *g, const tc_pt2_step *s, tc_val base, tc_val view,
                           const tc_loc *loc, tc_val *out)
{
    if (s->shows == TC_PT2_AS_PAIRS || s->shows == TC_PT2_AS_COMPLEX)
        return pair_up(g, view, loc, out);
    if (s->shows == TC_PT2_CONJUGATE)
        return conjugate(g, view, loc, out);
    if (s->shows == TC_PT2_BITS)
        return reread(g, view, ti_type_of(g, base)->dtype, loc, out);
    if (s->shows == TC_PT2_NEGATED)
        return emit(g, TC_OP_neg, NULL, &view, 1, loc, out);
    if (s->op == TC_OP_real || s->op == TC_OP_imag)
        return put_half(g, s->op == TC_OP_imag, base, view, loc, out);
    if (s->rows)
        return emit(g, TC_OP_index_copy, s->attr, (tc_val[]){base, s->rows, view}, 3, loc, out);
    return ti_unsupported(g->module->ctx, loc, TC_E_UNSUPPORTED,
                          "an in-place change through a view made by '%s'", tc_ops[s->op].name);
}

tc_status ti_pt2_put(tc_graph *g, const tc_pt2_step *step, int n_step, tc_val base, tc_val view,
                     const tc_loc *loc, tc_val *out)
{
    while (n_step > 0) {
        int from = n_step - 1; /* where the last run of moves begins, or the last step */
        while (from > 0 && is_move(&step[from]) && is_move(&step[from - 1]))
            from--;
        tc_val under = base;
        for (int i = 0; i < from; i++)
            TC_TRY(step_down(g, &step[i], under, loc, &under));
        TC_TRY(is_move(&step[from])
                   ? put_moves(g, step + from, n_step - from, under, view, loc, &view)
                   : put_other(g, &step[from], under, view, loc, &view));
        n_step = from;
    }
    *out = view;
    return TC_OK;
}

tc_status ti_pt2_write(tc_graph *g, tc_pt2_cell *cell, tc_val val, const tc_loc *loc)
{
    tc_pt2_cell *owner = ti_pt2_owner(cell);
    if (owner->input && !owner->version)
        ti_warning(g->module->ctx, loc, TC_E_UNSUPPORTED,
                   "the model changes its input '%s' in place; the caller's copy is not changed",
                   owner->input);
    if (cell->n_step < 0)
        return ti_unsupported(g->module->ctx, loc, TC_E_UNSUPPORTED,
                              "an in-place change of a view, in a way that cannot be tracked");
    TC_TRY(ti_pt2_put(g, cell->step, cell->n_step, owner->val, val, loc, &owner->val));
    owner->version++;
    cell->val = val;
    cell->seen = owner->version;
    return TC_OK;
}

/* ---- which results are views ---- */

/* An operator of one tensor, or rows of one. */
static bool is_step(const tc_node *node)
{
    return node && (node->n_in == 1 || node->op == TC_OP_index_select);
}

int ti_pt2_trace(const tc_graph *g, tc_val base, tc_val view, tc_pt2_step *step, int most)
{
    int n = 0;
    for (tc_val v = view; v != base; v = ti_def(g, v)->in[0])
        if (!is_step(ti_def(g, v)) || n++ == most)
            return -1;
    for (int i = n; i-- > 0; view = ti_def(g, view)->in[0]) {
        const tc_node *node = ti_def(g, view);
        step[i] = (tc_pt2_step){.shows = TC_PT2_PART,
                                .op = node->op,
                                .attr = node->attr,
                                .index = ti_value_of(g, view)->index,
                                .n_out = node->n_out,
                                .rows = node->n_in == 2 ? node->in[1] : TC_NONE};
    }
    return n;
}

static bool is_identity(const tc_graph *g, tc_val from, tc_val to)
{
    const tc_node *def = ti_def(g, to);
    return from == to || (def && def->op == TC_OP_identity && def->in[0] == from);
}

/* What is stored differs from what is read. */
static bool is_lazy(const tc_pt2_cell *cell)
{
    bool lazy = cell->n_step < 0;
    for (int i = 0; i < cell->n_step; i++)
        lazy ^= cell->step[i].shows == TC_PT2_CONJUGATE || cell->step[i].shows == TC_PT2_NEGATED;
    return lazy;
}

/* What the file states of an operand, and of a result. */
static tc_pt2_layout layout_of(tc_pt2_node *n, const tc_json *operand, const tc_pt2_cell *of)
{
    tc_pt2_scope *scope = n->work->scope;
    return ti_pt2_layout(scope->reader, ti_pt2_meta(scope, operand), ti_type_of(n->m.g, of->val));
}
static tc_pt2_layout layout_of_result(tc_pt2_node *n, const tc_pt2_slot *r)
{
    return ti_pt2_layout(n->work->scope->reader, r->cell->meta, ti_type_of(n->m.g, r->cell->val));
}

static bool has_same_layout(tc_pt2_node *n, const tc_json *operand, const tc_pt2_cell *of,
                            const tc_pt2_slot *r)
{
    tc_pt2_layout a = layout_of(n, operand, of), b = layout_of_result(n, r);
    return ti_pt2_same_layout(&a, &b) && memcmp(a.dim, b.dim, (size_t)a.rank * sizeof *a.dim) == 0;
}

void ti_pt2_warn_of_overlap(tc_pt2_node *n, const tc_json *to, const tc_json *from)
{
    tc_pt2_cell *a = ti_pt2_cell_of(n, to), *b = a ? ti_pt2_cell_of(n, from) : NULL;
    if (!b || a == b || ti_pt2_owner(a) != ti_pt2_owner(b))
        return;
    tc_pt2_layout x = layout_of(n, to, a), y = layout_of(n, from, b);
    if (ti_pt2_overlaps(n->reader, &x, &y))
        ti_warning(n->m.ctx, n->m.loc, TC_E_UNSUPPORTED,
                   "elements are written that an operand shares: all are read before the first is "
                   "written; what PyTorch gives depends on its order");
}

/* Whether the result shows the operand's storage, by what the file states of both. */
static bool shows(tc_pt2_node *n, const tc_json *operand, tc_pt2_cell *of, const tc_pt2_slot *r)
{
    tc_pt2_layout a = layout_of(n, operand, of), b = layout_of_result(n, r);
    switch (n->row->shows) {
    case TC_PT2_COPY:
        return false;
    case TC_PT2_RESHAPED:
    case TC_PT2_RESHAPED_SAME:
        return ti_pt2_reshapes_in_place(&a, &b);
    case TC_PT2_ITSELF:
        return is_identity(n->m.g, of->val, r->cell->val) && !ti_pt2_bool(n, "copy", false) &&
               ti_pt2_same_layout(&a, &b);
    case TC_PT2_RESOLVED:
        return !is_lazy(of);
    default:
        return true;
    }
}

static bool all_moves(const tc_pt2_step *step, int n_step)
{
    for (int i = 0; i < n_step; i++)
        if (!is_move(&step[i]))
            return false;
    return n_step >= 0;
}

/* The view's steps: those to the operand, and those from it on. */
static void follow(tc_pt2_node *n, tc_pt2_cell *of, tc_pt2_cell *cell)
{
    enum { LONGEST = 64 };
    tc_pt2_step step[LONGEST];
    tc_pt2_shows how = n->row->shows;
    bool storage = how == TC_PT2_STORAGE;
    int n_own, before = storage ? 0 : of->n_step;
    if (how == TC_PT2_AS_PAIRS || how == TC_PT2_AS_COMPLEX || how == TC_PT2_BITS ||
        (how == TC_PT2_CONJUGATE && ti_type_of(n->m.g, of->val)->dtype == TC_c64)) {
        step[0] = (tc_pt2_step){.shows = how,
                                .op = TC_OP_complex,
                                .n_out = 1,
                                .dtype = ti_type_of(n->m.g, cell->val)->dtype};
        n_own = 1;
    } else
        n_own = ti_pt2_trace(n->m.g, (storage ? ti_pt2_owner(of) : of)->val, cell->val, step,
                             LONGEST);
    if (how == TC_PT2_MOVED && !all_moves(step, n_own))
        return;
    if (how == TC_PT2_NEGATED && n_own == 1)
        step[0].shows = how;
    cell->base = ti_pt2_owner(of);
    cell->seen = cell->base->version;
    cell->n_step = n_own < 0 || before < 0 ? -1 : before + n_own;
    if (cell->n_step <= 0)
        return;
    tc_pt2_step *all = tc_new_n(&n->reader->work, tc_pt2_step, (size_t)cell->n_step);
    if (before)
        memcpy(all, of->step, (size_t)before * sizeof *all);
    if (n_own)
        memcpy(all + before, step, (size_t)n_own * sizeof *all);
    cell->step = all;
}

static bool is_operand(tc_pt2_shows shows, bool same_layout)
{
    bool where_same = shows == TC_PT2_PART_SAME || shows == TC_PT2_RESHAPED_SAME;
    return (where_same && same_layout) || shows == TC_PT2_SAME || shows == TC_PT2_ITSELF || shows == TC_PT2_RESOLVED;
}

/* "aten.t_.default": the tensor itself takes the view's shape, under every name that it has.  One that
 * outlives the call would have it in the next call, too, where the program is another. */
static void take_shape(tc_pt2_node *n, const tc_pt2_cell *of, tc_pt2_cell *cell, bool other)
{
    if (!ti_pt2_is_in_place(n->target))
        return;
    for (tc_pt2_scope *s = n->work->scope; s; s = s->outer)
        for (size_t i = 0; i < s->name.n; i++) {
            tc_pt2_name *name = s->name.entry[i].value;
            if (!name || name->kind != TC_PT2_CELL || name->cell != of)
                continue;
            if (name->full_name && other)
                ti_b_unsupported(&n->m,
                                 "it changes the shape of '%s' itself, which the next call would "
                                 "begin with; use the form without an underscore",
                                 name->full_name);
            name->cell = cell;
        }
}

void ti_pt2_share(tc_pt2_node *n)
{
    if (n->m.status != TC_OK || n->row->shows == TC_PT2_COPY || n->work->writes)
        return;
    bool list;
    const tc_json *operand = ti_pt2_first_tensor(n->json, &list);
    for (int i = 0; i < n->n_result && operand; i++) {
        tc_pt2_slot *r = &n->work->result[i];
        tc_pt2_cell *of = r->cell ? ti_pt2_cell_of(n, operand) : NULL;
        if (of && of != r->cell && shows(n, operand, of, r)) {
            bool other = !has_same_layout(n, operand, of, r);
            if (is_operand(n->row->shows, !other))
                ti_pt2_bind_cell(n, i, of);
            else
                follow(n, of, r->cell);
            take_shape(n, of, r->cell, other);
        }
        operand = list ? operand->next : operand;
    }
}
