/* SPDX-License-Identifier: Apache-2.0 */
/* grow_whole.c -- what is more than a node: state, branches, loops, transforms, constants. */
#include "models.h"

#include "num/load.h"

/* A buffer that the program reads and writes: a running mean, a ring, a counter. */
static void remembered(garden *d)
{
    tc_val x = some(d, TC_f32, 1, 4);
    if (!x || d->broken)
        return;
    const tc_type *t = type_at(d, x);
    tc_val buffer = constant(d, TC_f32, t->rank, t->dim, draw(2) ? 0 : -1, draw(2) ? 0 : 1), after;
    tc_mutation change = {buffer, TC_NONE};
    switch (draw(3)) {
    case 0:
        after = PUT0(d, lerp, buffer, x, scalar(d, 0.25));
        break;
    case 1: {
        tc_attr_slice rest = {0, 1, t->dim[0], 1}, first = {0, 0, 1, 1};
        if (t->dim[0] < 2) {
            after = PUT(d, add, ((tc_attr_alpha){1}), x, scalar(d, 0.5));
            break;
        }
        after = PUT(d, cat, ((tc_attr_axis){0}), PUT(d, slice, rest, buffer),
                    PUT(d, slice, first, x));
        break;
    }
    default:
        after = PUT0(d, maximum, buffer, x);
    }
    if (d->broken)
        return;
    keep(d, draw(2) ? after : PUT(d, add, ((tc_attr_alpha){1}), x, buffer));
    change.after = after;
    tc_grow(&d->ctx->arena, d->g->mutation, d->g->n_mutation, d->g->cap_mutation);
    d->g->mutation[d->g->n_mutation++] = change;
}

/* A graph of its own, of one operator or two. */
static const char *side_graph(garden *d, const char *name, const tc_type *t)
{
    static const tc_op op[] = {TC_OP_relu, TC_OP_neg, TC_OP_tanh, TC_OP_sigmoid, TC_OP_abs};
    static int number;
    garden side = {.ctx = d->ctx};
    const char *text =
        ti_intern_text(d->ctx, ti_text_format(&d->ctx->arena, "%s_%d", name, number++));
    side.g = ti_graph_new(d->g->module, text);
    tc_val x = ti_graph_input(side.g, t, NULL);
    for (uint64_t i = 0, n = 1 + draw(2); i < n; i++)
        x = put(&side, op[draw(TC_COUNT(op))], NULL, 0, 1, &x);
    ti_graph_output(side.g, x);
    return text;
}

static void branched(garden *d)
{
    tc_val x = some(d, TC_f32, 1, 4);
    if (!x)
        return;
    const tc_type *t = type_at(d, x);
    tc_attr_axes all = {{0, NULL}, false};
    int64_t axis[8];
    for (int i = 0; i < t->rank; i++)
        axis[i] = i;
    all.axes = list(d, t->rank, axis);
    tc_val is = PUT0(d, gt, PUT(d, mean, all, x), scalar(d, draw(2) ? 0 : 100));
    tc_attr_cond a = {side_graph(d, "then", t), side_graph(d, "else", t)};
    if (d->broken)
        return;
    /* its result has the type that the branches say */
    tc_node *node = ti_graph_add(d->g, TC_OP_cond, ti_arena_copy(&d->ctx->arena, &a, sizeof a),
                                 (const tc_val[]){is, x}, 2, 1, NULL);
    d->g->val[node->out[0]]->type = t;
    d->broken = ti_node_infer(d->g, node) != TC_OK;
    keep(d, node->out[0]);
}

static void transformed(garden *d)
{
    tc_val x = some(d, TC_f32, 2, 4);
    if (!x)
        return;
    const tc_type *t = type_at(d, x);
    tc_attr_fft a = {same(d, 1, t->rank - 1), TC_fft_kind_real_to_complex, TC_fft_norm_none,
                     t->dim[t->rank - 1]};
    tc_val y = PUT(d, fft, a, x);
    keep(d, PUT0(d, real, y));
    if (draw(2))
        keep(d, PUT0(d, imag, y));
}

static void made_up(garden *d)
{
    tc_val x = some(d, TC_f32, 1, 4), y;
    if (!x || d->broken)
        return;
    const tc_type *t = type_at(d, x);
    int64_t n = t->dim[t->rank - 1];
    tc_attr_full f = {same(d, 1, n), 0.5, TC_f32};
    tc_attr_arange r = {0, 0.25, n, TC_f32};
    tc_attr_linspace l = {-1, 1, n, TC_f32};
    tc_attr_eye e = {n, n, TC_f32};
    switch (draw(4)) {
    case 0:
        y = put(d, TC_OP_full, &f, sizeof f, 0, NULL);
        break;
    case 1:
        y = put(d, TC_OP_arange, &r, sizeof r, 0, NULL);
        break;
    case 2:
        y = put(d, TC_OP_linspace, &l, sizeof l, 0, NULL);
        break;
    default:
        y = put(d, TC_OP_eye, &e, sizeof e, 0, NULL);
        keep(d, PUT0(d, matmul, x, y));
        return;
    }
    keep(d, PUT0(d, mul, x, y));
}

/* An input that is a result as it is, and one that nobody reads. */
static void bystander(garden *d)
{
    const tc_type *t = ti_type_make(d->ctx, TC_f32, 2, (const int64_t[]){2, 3});
    tc_val v = ti_graph_input(d->g, t, NULL);
    if (draw(2))
        ti_graph_output(d->g, v);
}

const grow_entry grow_whole[] = {{remembered, 4}, {branched, 2},  {transformed, 1},
                                 {made_up, 3},    {bystander, 1}, {NULL, 0}};
