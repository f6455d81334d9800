/* SPDX-License-Identifier: Apache-2.0 */
/* check_indices.c -- constant indices are inside their axis. Others are checked at run time. */
#include "../num/load.h"
#include "verify.h"

static tc_status check_list(const tc_graph *g, const tc_node *node, int operand, int64_t extent,
                            bool from_end)
{
    tc_val index = operand < node->n_in ? node->in[operand] : TC_NONE;
    tc_tensor t = ti_tensor_of(g, index);
    if (!ti_is_const(g, index) || !ti_is_int(t.type->dtype))
        return TC_OK;
    tc_ctx *ctx = g->module->ctx;
    const char *op = tc_ops[node->op].name;
    for (int64_t k = 0; k < tc_type_count(t.type); k++) {
        int64_t place = ti_load_i64(t, k);
        if (place >= (from_end ? -extent : 0) && place < extent)
            continue;
        tc_status status =
            ti_error(ctx, node->loc, TC_E_ARGUMENT,
                     "'%s': index %" PRId64 " is outside an axis of extent %" PRId64, op, place,
                     extent);
        if (place < 0 && place >= -extent)
            ti_note(ctx, node->loc, "'%s' does not count from the end, as 'index' does", op);
        return status;
    }
    return TC_OK;
}

/* The axis that rows are counted along; -1: the operator has none. */
static int64_t axis_of(const tc_node *node)
{
    switch (node->op) {
    case TC_OP_embedding:
        return 0;
    case TC_OP_index_select:
    case TC_OP_gather:
    case TC_OP_index_copy:
        return ((const tc_attr_axis *)node->attr)->axis;
    case TC_OP_scatter:
        return ((const tc_attr_scatter *)node->attr)->axis;
    case TC_OP_index_add:
        return ((const tc_attr_index_add *)node->attr)->axis;
    default:
        return -1;
    }
}

/* index and index_put: a list for each axis from the first on; a mask covers several. */
static tc_status check_lists(const tc_graph *g, const tc_node *node, int first)
{
    const tc_type *x = ti_type_of(g, node->in[0]);
    int axis = 0;
    for (int i = first; i < node->n_in && axis < x->rank; i++) {
        const tc_type *index = node->in[i] ? ti_type_of(g, node->in[i]) : NULL;
        bool mask = index && index->dtype == TC_bool;
        if (index && !mask)
            TC_TRY(check_list(g, node, i, x->dim[axis], true));
        axis += mask ? index->rank : 1;
    }
    return TC_OK;
}

static tc_status check_node(const tc_graph *g, const tc_node *node)
{
    if (!node->n_in || !ti_type_of(g, node->in[0]))
        return TC_OK; /* the verifier reports it */
    if (node->op == TC_OP_index || node->op == TC_OP_index_put)
        return check_lists(g, node, node->op == TC_OP_index ? 1 : 2);
    int64_t axis = axis_of(node);
    if (axis < 0)
        return TC_OK;
    const tc_type *x = ti_type_of(g, node->in[0]);
    return check_list(g, node, 1, axis < x->rank ? x->dim[axis] : 1, false);
}

tc_status ti_check_places(const tc_module *module)
{
    tc_status worst = TC_OK;
    for (size_t k = 0; k < module->n_graph; k++)
        for (size_t i = 0; i < module->graph[k]->n_node; i++) {
            tc_status status = check_node(module->graph[k], module->graph[k]->node[i]);
            worst = worst == TC_OK ? status : worst;
        }
    return worst;
}
