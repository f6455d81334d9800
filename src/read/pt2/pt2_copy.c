/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_copy.c -- importers of conversions, copies, other names for a tensor, and dropout at
 * inference. */
#include "pt2_program.h"

/* Whether self and result are laid out alike, by the strides that the file gives for both. */
static bool same_layout(tc_pt2_node *n)
{
    tc_pt2_scope *scope = n->work->scope;
    tc_arena *work = &scope->reader->work;
    tc_str tag;
    const tc_json *named = ti_pt2_arg_at(n, 0, &tag);
    if (!named || !n->n_result)
        return true;
    const tc_json *from =
        ti_map_get(&scope->declared, ti_json_text(work, ti_json_get(named, "name")));
    const tc_json *to = ti_map_get(&scope->declared, n->work->result[0].name);
    const tc_json *a = ti_json_first(ti_json_get(from, "strides")),
                  *b = ti_json_first(ti_json_get(to, "strides"));
    for (; a && b; a = a->next, b = b->next) {
        int64_t x = 0, y = 0;
        ti_json_i64(ti_json_get(a, "as_int"), &x);
        ti_json_i64(ti_json_get(b, "as_int"), &y);
        if (x != y)
            return false;
    }
    return true;
}

/* Other names for the same tensor. */
static void import_alias(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self"), y = ti_b_op(&n->m, n->row->op, NULL, (tc_val[]){x}, 1);
    ti_pt2_bind(n, 0, y);
    if (same_layout(n))
        ti_pt2_view(n, x, y);
}

/* The element type is the one that the file declares for the result, whichever argument named it.
 */
static void import_to(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    const tc_type *result = ti_pt2_result_type(n, 0);
    tc_val y = result ? ti_b_cast(&n->m, x, result->dtype) : x;
    bool same = x == y;
    if (same)
        y = ti_b_identity(&n->m, x);
    ti_pt2_bind(n, 0, y);
    if (same && n->row->extra == 1 && !ti_pt2_bool(n, "copy", false) && same_layout(n))
        ti_pt2_view(n, x, y);
}

/* extra 1: the second result says which numbers were kept */
static void import_dropout(tc_pt2_node *n)
{
    if (ti_pt2_bool(n, "train", false) && ti_pt2_float(n, "p", 0.5) != 0)
        ti_b_unsupported(&n->m, "its result is random in training; export the model in eval mode");
    tc_val x = ti_pt2_tensor(n, ti_pt2_has(n, "self") ? "self" : "input"); /* in place: self */
    tc_val y = ti_b_op(&n->m, n->row->op, NULL, (tc_val[]){x}, 1);
    ti_pt2_bind(n, 0, y);
    if (n->row->extra != 1)
        ti_pt2_view(n, x, y);
    else if (n->m.status == TC_OK && n->n_result > 1) {
        const tc_type *t = ti_type_of(n->m.g, x);
        tc_ints shape = ti_ints_copy(&n->m.ctx->arena, t->dim, t->rank);
        ti_pt2_bind(n, 1,
                    ti_b_op(&n->m, TC_OP_full, ti_b_attr(&n->m, full, shape, 1, TC_bool), NULL, 0));
    }
}

/* (re, im) -> (re, -im); real numbers stay. */
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
    ROW("to.dtype to.dtype_layout to.device to.other to.prim_Device to.prim_dtype to.prim_other "
        "type_as", import_to, cast, 1),
    ROW("_to_copy clone lift_fresh_copy alias_copy detach_copy lift "
        "dim_order_ops._to_dim_order_copy.default dim_order_ops._clone_dim_order.default",
        import_to, identity, 0),
    ROW("alias contiguous detach lift_fresh positive resolve_conj resolve_neg",
        import_alias, identity, 0),
    ROW("conj _conj conj_physical", import_conj, identity, 0),
    ROW("dropout alpha_dropout feature_dropout feature_alpha_dropout", import_dropout, identity, 0),
    ROW("native_dropout", import_dropout, identity, 1),
    {0},
};
