/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_forms.c -- see tosa_forms.h. */
#include "tosa_forms.h"

#include "../../num/load.h"
#include "offer.h"

tc_val ti_put_copy(tc_build *lw, tc_val x)
{
    if (!x)
        return x;
    tc_val one = ti_b_single(lw, TC_i8, ti_b_type(lw, x)->rank, 1);
    tc_val same = ti_b_tosa_mul(lw, x, one);
    return ti_put_rescale(lw, same, 1, 0, 0, TC_i8);
}

tc_val ti_put_padded(tc_build *lw, tc_val constant, int axis, int64_t more, int64_t fill)
{
    tc_tensor old = ti_tensor_of(lw->g, constant);
    tc_type type = *old.type;
    int64_t outer = 1, inner = 1, n = type.dim[axis];
    for (int i = 0; i < type.rank; i++)
        *(i < axis ? &outer : &inner) *= i == axis ? 1 : type.dim[i];
    type.dim[axis] = n + more;
    tc_tensor t =
        ti_tensor_new(&lw->ctx->arena, ti_type_make(lw->ctx, type.dtype, type.rank, type.dim));
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < (n + more) * inner; i++)
            ti_store_i64(t, o * (n + more) * inner + i,
                         i < n * inner ? ti_load_i64(old, o * n * inner + i) : fill);
    return ti_b_data(lw, t.type, t.data);
}

int64_t ti_only_number(const tc_graph *g, tc_val constant)
{
    return ti_load_i64(ti_tensor_of(g, constant), 0);
}

typedef struct asked {
    tc_rewriter *rewriter;
    tc_offer *offer;
} asked;

/* The rewriter, where it is wanted. */
static tc_status where_wanted(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const asked *a = rw->user;
    uint64_t key = ti_offer_key(rw->from, node);
    if (!ti_offer_wanted(a->offer, key))
        return TC_OK;
    TC_TRY(a->rewriter(rw, node, done));
    if (*done)
        ti_offer_acted(rw->ctx, a->offer, key, node);
    return TC_OK;
}

tc_status ti_rewrite_offered(tc_module *module, tc_rewriter *rewriter)
{
    static tc_rewriter *const wanted[] = {where_wanted};
    asked a = {rewriter, *ti_offer_now(module->ctx)};
    return a.offer ? ti_rewrite_module(module, wanted, 1, &a)
                   : ti_rewrite_module(module, &rewriter, 1, NULL);
}

bool ti_has_integer_weights(const tc_graph *g, const tc_node *node)
{
    return ti_is_const(g, node->in[1]) && ti_type_of(g, node->in[1])->dtype == TC_i8 &&
           tc_type_count(ti_type_of(g, node->out[0])) > 0;
}
