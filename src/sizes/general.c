/* SPDX-License-Identifier: Apache-2.0 */
/* general.c -- the aligned programs as one: dimensions that differ are open, and what depends on
 * them is computed by operators on shapes (general_shapes.c); inputs, constants and windows have
 * separate files. */
#include "general.h"

/* ---- operands that are not constants at some points: shapes of rows that are missing there
 * ---- */

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

static tc_status neutral_operand(tc_general *m, const tc_row *row, int k, tc_val *out)
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
        *out = ti_graph_const(m->g, t.type, t.data, NULL, ti_general_loc(m));
        return TC_OK;
    }
    int64_t n = tc_type_count(t.type);
    for (int64_t i = 0; i < n && i < TC_MAX_RANK * 2; i++)
        for (size_t p = 0; p < a->n_point; p++)
            s[i].at[p] = row->node[p] ? ((const int64_t *)ti_point_tensor(a, place, p).data)[i]
                                      : neutral(a, row, k, (size_t)i, p);
    return ti_put_shape(m, s, (int)n, row->in[0], "a shape", out);
}

/* ---- rows ---- */

static void name_result(const tc_general *m, tc_val v, size_t place)
{
    const tc_aligned *a = m->a;
    const char *name = ti_value_of(ti_point_graph(a, 0), a->place[place].at[0])->name;
    if (m->row->node[0])
        m->g->val[v]->name = name;
}

static tc_status put_row(tc_general *m, const tc_row *row)
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
                   : ti_put_operand(m, row->in[i], i, row->in[0], &in[i]));
    if (node->op == TC_OP_tosa_conv2d || node->op == TC_OP_tosa_depthwise_conv2d ||
        node->op == TC_OP_tosa_conv3d)
        TC_TRY(ti_put_padded_conv(m, in, &attr));
    if (node->op == TC_OP_tosa_max_pool2d || node->op == TC_OP_tosa_avg_pool2d)
        TC_TRY(ti_put_pool(m, in, ti_open_type(m, row->out[0]), &pool));
    if (pool) {
        a->place[row->out[0]].made = pool;
        name_result(m, pool, row->out[0]);
    } else {
        tc_node *made = ti_graph_add(m->g, node->op, attr, in, node->n_in, node->n_out, node->loc);
        for (int i = 0; i < node->n_out; i++) {
            a->place[row->out[i]].made = made->out[i];
            m->g->val[made->out[i]]->type = ti_open_type(m, row->out[i]);
            name_result(m, made->out[i], row->out[i]);
        }
    }
    for (int i = 0; i < node->n_out; i++)
        ti_atoms_add(&m->atoms, row->out[i]);
    return TC_OK;
}

tc_status ti_generalize(tc_aligned *a, const tc_size_bound *bound, size_t n_bound, tc_module **out)
{
    tc_ctx *ctx = a->ctx;
    tc_module *module = ti_module_new(ctx, a->module[0]->file);
    const tc_graph *from = ti_point_graph(a, 0);
    tc_general m = {.a = a, .g = ti_graph_new(module, from->name), .atoms = {.a = a}};
    module->origin.tosa_minor = 1;
    ti_map_init(&m.constant, &ctx->arena);
    ti_map_init(&m.number, &ctx->arena);
    TC_TRY(ti_put_inputs(&m, bound, n_bound));
    for (size_t r = 0; r < a->n_row; r++)
        TC_TRY(put_row(&m, &a->row[r]));
    for (size_t i = 0; i < a->n_out; i++)
        ti_graph_output(m.g, a->place[a->out[i]].made);
    m.g->facts = from->facts;
    *out = module;
    return TC_OK;
}
