/* SPDX-License-Identifier: Apache-2.0 */
/* align.c -- aligns the programs of several sizes.
 *
 * All were compiled from one model by the same passes, so their nodes are in the same order.  An
 * operator that is the identity at one size was removed there: a SLICE of everything, a PAD by 0.
 * Such a node is inserted again. */
#include "sizes.h"

tc_series ti_place_dim(const tc_aligned *a, size_t place, int axis)
{
    tc_series s = {{0}};
    for (size_t p = 0; p < a->n_point; p++)
        s.at[p] = ti_type_of(ti_point_graph(a, p), a->place[place].at[p])->dim[axis];
    return s;
}

bool ti_series_constant(const tc_aligned *a, const tc_series *s)
{
    for (size_t p = 1; p < a->n_point; p++)
        if (s->at[p] != s->at[0])
            return false;
    return true;
}

/* ---- matching ---- */

/* One program on its way into the rows. */
typedef struct merge {
    tc_aligned *a;
    const tc_graph *g;
    size_t p;       /* its point */
    size_t node;    /* the next of its nodes */
    size_t row;     /* the next row */
    const char *why;
} merge;

static bool may_be_missing(tc_op op)
{
    return op == TC_OP_tosa_slice || op == TC_OP_tosa_pad || op == TC_OP_tosa_tile ||
           op == TC_OP_tosa_reshape;
}

/* Fields that may differ: general.c expresses them by shapes. */
static bool may_differ(tc_op op, const char *field)
{
    switch (op) {
    case TC_OP_tosa_conv2d:
    case TC_OP_tosa_depthwise_conv2d:
    case TC_OP_tosa_conv3d:
        return ti_text_eq(field, "pad");
    case TC_OP_tosa_max_pool2d:
    case TC_OP_tosa_avg_pool2d:
        return ti_text_eq(field, "pad") || ti_text_eq(field, "kernel") ||
               ti_text_eq(field, "stride");
    default:
        return false;
    }
}

static bool same_ints(tc_ints a, tc_ints b)
{
    return a.n == b.n && (!a.n || !memcmp(a.v, b.v, (size_t)a.n * sizeof *a.v));
}

/* Whether the attributes are the same but for what may differ; *field: the first that is not. */
static bool same_attr(const tc_node *x, const tc_node *y, const char **field)
{
    tc_attr_kind kind = tc_ops[x->op].attr;
    if (kind == TC_ATTR_none || ti_attr_equal(kind, x->attr, y->attr))
        return true;
    const tc_attr_info *info = &tc_attrs[kind];
    bool only_those = false;
    for (int i = 0; i < info->n_field; i++) {
        const tc_field *f = &info->field[i];
        if (f->kind != TC_FIELD_ints)
            continue;
        tc_ints u = *(const tc_ints *)((const char *)x->attr + f->at),
                v = *(const tc_ints *)((const char *)y->attr + f->at);
        if (same_ints(u, v))
            continue;
        *field = f->name;
        if (!may_differ(x->op, f->name) || u.n != v.n)
            return false;
        only_those = true;
    }
    return only_those;
}

static bool same_rank(const tc_aligned *a, size_t place, const tc_type *t)
{
    size_t p = 0;
    while (!a->place[place].at[p]) /* an operand of a row that is missing there */
        p++;
    const tc_type *u = ti_type_of(ti_point_graph(a, p), a->place[place].at[p]);
    return u->dtype == t->dtype && u->rank == t->rank;
}

/* A row whose result is v here, and the operand's everywhere before. */
static size_t redirected(const merge *m, size_t place, tc_val v)
{
    const tc_aligned *a = m->a;
    for (size_t r = 0; r < m->row; r++) {
        size_t other = a->row[r].out ? a->row[r].out[0] : SIZE_MAX;
        if (other == SIZE_MAX || a->place[other].at[m->p] != v ||
            !may_be_missing(a->row[r].any->op))
            continue;
        bool same = true;
        for (size_t q = 0; q < m->p && same; q++)
            same = a->place[other].at[q] == a->place[place].at[q];
        if (same)
            return other;
    }
    return SIZE_MAX;
}

/* Whether the node belongs to the row; take: and it is added. */
static bool stands_in(merge *m, tc_row *row, const tc_node *node, bool take)
{
    tc_aligned *a = m->a;
    const char *field = "";
    m->why = "other operators";
    if (row->any->op != node->op || row->any->n_in != node->n_in ||
        row->any->n_out != node->n_out)
        return false;
    if (!same_attr(row->any, node, &field)) {
        m->why = ti_text_format(&a->ctx->arena, "other attributes (%s)", field);
        return false;
    }
    for (int i = 0; i < node->n_in; i++) {
        tc_place *place = &a->place[row->in[i]];
        m->why = "other operands";
        if (place->constant) {
            if (!ti_is_const(m->g, node->in[i]) ||
                !same_rank(a, row->in[i], ti_type_of(m->g, node->in[i])))
                return false;
        } else if (place->at[m->p] != node->in[i]) {
            size_t other = redirected(m, row->in[i], node->in[i]);
            if (other == SIZE_MAX)
                return false;
            if (take)
                row->in[i] = other;
        }
    }
    for (int i = 0; i < node->n_out; i++)
        if (!same_rank(a, row->out[i], ti_type_of(m->g, node->out[i]))) {
            m->why = "results of another rank or type";
            return false;
        }
    if (!take)
        return true;
    row->node[m->p] = node;
    for (int i = 0; i < node->n_in; i++)
        if (a->place[row->in[i]].constant)
            a->place[row->in[i]].at[m->p] = node->in[i];
    for (int i = 0; i < node->n_out; i++)
        a->place[row->out[i]].at[m->p] = node->out[i];
    return true;
}

/* ---- rows ---- */

static size_t new_place(tc_aligned *a, bool constant)
{
    tc_grow(&a->ctx->arena, a->place, a->n_place, a->cap_place);
    a->place[a->n_place] = (tc_place){.constant = constant};
    return a->n_place++;
}

static tc_row *insert_row(tc_aligned *a, size_t at, const tc_node *node)
{
    tc_grow(&a->ctx->arena, a->row, a->n_row, a->cap_row);
    memmove(&a->row[at + 1], &a->row[at], (a->n_row - at) * sizeof *a->row);
    a->n_row++;
    a->row[at] = (tc_row){.any = node,
                          .in = tc_new_n(&a->ctx->arena, size_t, (size_t)node->n_in),
                          .out = tc_new_n(&a->ctx->arena, size_t, (size_t)node->n_out)};
    return &a->row[at];
}

/* The row result with v at this point that is not a constant; inputs and results of rows. */
static size_t place_of(const merge *m, tc_val v)
{
    const tc_aligned *a = m->a;
    for (size_t i = a->n_place; i-- > 0;)
        if (!a->place[i].constant && a->place[i].at[m->p] == v)
            return i;
    return SIZE_MAX;
}

/* A row of this program's own; where others have none, it changes nothing. */
static bool add_row(merge *m, const tc_node *node)
{
    tc_aligned *a = m->a;
    size_t *in = tc_new_n(&a->ctx->arena, size_t, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++) {
        bool constant = ti_is_const(m->g, node->in[i]);
        in[i] = constant ? new_place(a, true) : place_of(m, node->in[i]);
        if (in[i] == SIZE_MAX)
            return false;
        a->place[in[i]].at[m->p] = node->in[i];
    }
    tc_row *row = insert_row(a, m->row, node);
    memcpy(row->in, in, (size_t)node->n_in * sizeof *in);
    for (int i = 0; i < node->n_out; i++) {
        size_t out = new_place(a, false);
        row->out[i] = out;
        for (size_t q = 0; q < m->p; q++)
            a->place[out].at[q] = a->place[row->in[0]].at[q];
        a->place[out].at[m->p] = node->out[i];
    }
    row->node[m->p] = node;
    return true;
}

/* The row is missing here: its result is its operand. */
static void leave_out(merge *m, const tc_row *row)
{
    tc_aligned *a = m->a;
    a->place[row->out[0]].at[m->p] = a->place[row->in[0]].at[m->p];
}

static bool same_type_at(const merge *m, size_t place, const tc_row *row)
{
    const tc_type *t = ti_type_of(m->g, m->a->place[place].at[m->p]);
    return t && same_rank(m->a, row->out[0], t);
}

/* ---- one program ---- */

/* Its next node that is not a constant; NULL: none. */
static const tc_node *next_node(merge *m)
{
    while (m->node < m->g->n_node && m->g->node[m->node]->op == TC_OP_const)
        m->node++;
    return m->node < m->g->n_node ? m->g->node[m->node] : NULL;
}

static bool merge_step(merge *m, bool may_add)
{
    tc_aligned *a = m->a;
    const tc_node *node = next_node(m);
    tc_row *row = m->row < a->n_row ? &a->row[m->row] : NULL;
    if (row && node && stands_in(m, row, node, true)) {
        m->row++;
        m->node++;
        return true;
    }
    if (row && may_be_missing(row->any->op) && same_type_at(m, row->in[0], row) &&
        (!node || m->row + 1 >= a->n_row || node->op != row->any->op ||
         stands_in(m, &a->row[m->row + 1], node, false))) {
        leave_out(m, row);
        m->row++;
        return true;
    }
    const char *why = m->why;
    if (node && may_add && may_be_missing(node->op) && add_row(m, node)) {
        m->row++;
        m->node++;
        return true;
    }
    m->why = why;
    return false;
}

static bool begin(merge *m)
{
    tc_aligned *a = m->a;
    const tc_graph *g = m->g;
    m->why = "other inputs or outputs";
    if (g->n_in != a->n_in || g->n_out != a->n_out)
        return false;
    for (size_t i = 0; i < g->n_in; i++) {
        if (m->p && !same_rank(a, a->in[i], ti_type_of(g, g->in[i])))
            return false;
        a->place[a->in[i]].at[m->p] = g->in[i];
    }
    return true;
}

static bool end(merge *m)
{
    tc_aligned *a = m->a;
    m->why = "other outputs";
    for (size_t i = 0; i < a->n_out; i++)
        if (a->place[a->out[i]].at[m->p] != m->g->out[i]) {
            size_t other = redirected(m, a->out[i], m->g->out[i]);
            if (other == SIZE_MAX)
                return false;
            a->out[i] = other;
        }
    return true;
}

static bool merge_program(merge *m, bool may_add)
{
    bool fits = begin(m);
    while (fits && (m->row < m->a->n_row || next_node(m)))
        fits = merge_step(m, may_add);
    return fits && end(m);
}

/* The first program: every node is a row. */
static bool take_first(tc_aligned *a)
{
    const tc_graph *g = ti_point_graph(a, 0);
    merge m = {.a = a, .g = g};
    a->n_in = g->n_in;
    a->n_out = g->n_out;
    a->in = tc_new_n(&a->ctx->arena, size_t, a->n_in + 1);
    a->out = tc_new_n(&a->ctx->arena, size_t, a->n_out + 1);
    size_t *of = tc_new_n(&a->ctx->arena, size_t, g->n_val); /* the index of a value, + 1 */
    for (size_t i = 0; i < a->n_in; i++) {
        a->in[i] = new_place(a, false);
        a->place[a->in[i]].at[0] = g->in[i];
        of[g->in[i]] = a->in[i] + 1;
    }
    for (const tc_node *node; (node = next_node(&m)); m.node++) {
        tc_row *row = insert_row(a, a->n_row, node);
        row->node[0] = node;
        for (int i = 0; i < node->n_in; i++) {
            bool constant = ti_is_const(g, node->in[i]);
            row->in[i] = constant ? new_place(a, true) : of[node->in[i]] - 1;
            a->place[row->in[i]].at[0] = node->in[i];
        }
        for (int i = 0; i < node->n_out; i++) {
            row->out[i] = new_place(a, false);
            a->place[row->out[i]].at[0] = node->out[i];
            of[node->out[i]] = row->out[i] + 1;
        }
    }
    for (size_t i = 0; i < a->n_out; i++) {
        if (!of[g->out[i]])
            return false;
        a->out[i] = of[g->out[i]] - 1;
    }
    return true;
}

/* ---- all of them ---- */

static const tc_node *controls(const tc_graph *g)
{
    for (size_t k = 0; k < g->n_node; k++)
        if (tc_ops[g->node[k]->op].traits & (T_CONTROL | T_STATE))
            return g->node[k];
    return NULL;
}

static size_t count_nodes(const tc_graph *g)
{
    size_t n = 0;
    for (size_t k = 0; k < g->n_node; k++)
        n += g->node[k]->op != TC_OP_const;
    return n;
}

static tc_status refuse(const merge *m)
{
    const tc_aligned *a = m->a;
    const tc_node *here = m->node < m->g->n_node ? m->g->node[m->node] : NULL,
                  *there = m->row < a->n_row ? a->row[m->row].any : NULL;
    const tc_loc *loc = here ? here->loc : there ? there->loc : NULL;
    tc_status status = ti_unsupported(
        a->ctx, loc, TC_E_DYNAMIC,
        "the program is not the same at all sizes: %s at %s (%s) and at %s (%s)", m->why,
        a->text[0], there ? tc_ops[there->op].name : "the end", a->text[m->p],
        here ? tc_ops[here->op].name : "the end");
    ti_note(a->ctx, loc, "the sizes have %zu and %zu operators; --dim NAME=VALUE compiles one size",
            count_nodes(ti_point_graph(a, 0)), count_nodes(m->g));
    return status;
}

tc_status ti_align(tc_aligned *a)
{
    for (size_t p = 0; p < a->n_point; p++) {
        const tc_node *node = controls(ti_point_graph(a, p));
        if (node)
            return ti_unsupported(a->ctx, node->loc, TC_E_DYNAMIC,
                                  "'%s' in a program for many sizes is not supported",
                                  tc_ops[node->op].name);
    }
    if (!take_first(a))
        return ti_unsupported(a->ctx, NULL, TC_E_DYNAMIC,
                              "an output of a program for many sizes is a constant");
    for (size_t p = 1; p < a->n_point; p++) {
        merge m = {.a = a, .g = ti_point_graph(a, p), .p = p};
        if (!merge_program(&m, true))
            return refuse(&m);
    }
    return TC_OK;
}

bool ti_align_more(tc_aligned *a, const tc_module *module, const char *text)
{
    if (a->n_point == TC_POINTS || controls(ti_main(module)))
        return false;
    merge m = {.a = a, .g = ti_main(module), .p = a->n_point};
    a->module[m.p] = module;
    a->text[m.p] = text;
    if (!merge_program(&m, false))
        return false;
    a->n_point++;
    return true;
}
