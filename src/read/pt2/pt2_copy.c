/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_copy.c -- importers of conversions, copies, other names for a tensor, and dropout at
 * inference. */
#include "pt2.h"

/* Other names for the same tensor. */
static void import_alias(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    ti_pt2_result(n, ti_b_op(&n->m, n->row->op, NULL, (tc_val[]){x}, 1));
}

/* The same elements, with other strides. */
static void import_strided(tc_pt2_node *n)
{
    ti_pt2_result(n, ti_b_identity(&n->m, ti_pt2_tensor(n, "a")));
}

/* The element type is the one that the file declares for the result, whichever argument named it.
 */
static void import_to(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    const tc_type *result = ti_pt2_result_type(n, 0);
    tc_val y = result ? ti_b_cast(&n->m, x, result->dtype) : x;
    ti_pt2_result(n, x == y ? ti_b_identity(&n->m, x) : y);
}

/* extra 1: the second result says which elements were kept */
static void import_dropout(tc_pt2_node *n)
{
    if (ti_pt2_bool(n, "train", false) && ti_pt2_float(n, "p", 0.5) != 0)
        ti_b_unsupported(&n->m, "its result is random in training; export the model in eval mode");
    tc_val x = ti_pt2_tensor(n, ti_pt2_has(n, "self") ? "self" : "input"); /* in place: self */
    tc_val y = ti_b_op(&n->m, n->row->op, NULL, (tc_val[]){x}, 1);
    ti_pt2_bind(n, 0, y);
    if (n->row->extra == 1 && n->m.status == TC_OK && n->n_result > 1) {
        const tc_type *t = ti_type_of(n->m.g, x);
        tc_ints shape = ti_ints_copy(&n->m.ctx->arena, t->dim, t->rank);
        ti_pt2_bind(n, 1,
                    ti_b_op(&n->m, TC_OP_full, ti_b_attr(&n->m, full, shape, 1, TC_bool), NULL, 0));
    }
}

/* (re, im) -> (re, -im); real values are unchanged. */
static void import_conj(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    if (n->m.status == TC_OK && ti_type_of(n->m.g, x)->dtype == TC_c64) {
        tc_val re = ti_b_real(&n->m, x), im = ti_b_imag(&n->m, x);
        ti_pt2_bind(n, 0, ti_b_complex(&n->m, re, ti_b_neg(&n->m, im)));
    } else
        import_alias(n);
}

const tc_pt2_row tc_pt2_copy[] = {
    VIEW_ROW("to.dtype to.dtype_layout to.device to.other to.prim_Device to.prim_dtype "
             "to.prim_other type_as", import_to, cast, ITSELF),
    ROW("_to_copy clone lift_fresh_copy alias_copy detach_copy lift "
        "dim_order_ops._to_dim_order_copy.default dim_order_ops._clone_dim_order.default",
        import_to, identity, 0),
    VIEW_ROW("contiguous", import_alias, identity, ITSELF),
    VIEW_ROW("positive", import_alias, identity, SAME),
    VIEW_ROW("resolve_conj resolve_neg", import_alias, identity, RESOLVED),
    VIEW_ROW("alias detach detach_ lift_fresh", import_alias, identity, PART),
    VIEW_ROW("conj _conj", import_conj, identity, CONJUGATE),
    VIEW_ROW("conj_physical", import_conj, identity, ITSELF),
    VIEW_ROW("dropout alpha_dropout feature_dropout feature_alpha_dropout", import_dropout,
             identity, SAME),
    ROW("prims.copy_strided.default", import_strided, identity, 0),
    ROW("native_dropout", import_dropout, identity, 1),
    {0},
};
