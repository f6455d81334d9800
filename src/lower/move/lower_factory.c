/* SPDX-License-Identifier: Apache-2.0 */
/* lower_factory.c -- operators without operands: their elements, computed here. */
#include "../put.h"
#include "../../run/eval.h"

void ti_lower_factory(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *t = ti_lower_result(lw, node, 0);
    tc_tensor y = {t, NULL};
    if (t->dtype == TC_i64 || t->dtype == TC_f64 || tc_dtypes[t->dtype].tosa < 0)
        ti_lower_refuse(lw, "TOSA does not have %s", tc_dtypes[t->dtype].name);
    else if (!lw->lower->dry &&
             ti_eval_node((tc_graph *)lw->rw->from, node, NULL, &y, &lw->ctx->arena) != TC_OK)
        ti_lower_refuse(lw, "its numbers could not be computed");
    else
        out[0] = ti_b_data(lw, t, lw->lower->dry ? ti_tensor_new(&lw->ctx->arena, t).data : y.data);
}
