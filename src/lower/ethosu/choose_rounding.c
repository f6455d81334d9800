/* SPDX-License-Identifier: Apache-2.0 */
/* choose_rounding.c -- TOSA form: RESCALEs with implementation-defined rounding (INEXACT_ROUND)
 * round once, half up, which TOSA permits and the machines do.  From here on the result is unique. */
#include "../lower_pass.h"

#include "../../ir/build.h"

static tc_status choose_rounding(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_attr_tosa_rescale *a = node->op == TC_OP_tosa_rescale ? node->attr : NULL;
    if (!a || a->rounding_mode != TC_rounding_inexact)
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    tc_attr_tosa_rescale *once = ti_arena_copy(&rw->ctx->arena, a, sizeof *a);
    once->rounding_mode = TC_rounding_single;
    tc_val in[5];
    for (int i = 0; i < node->n_in && i < 5; i++)
        in[i] = ti_b_in(&b, i);
    return ti_b_replace(
        &b, ti_b_typed(&b, TC_OP_tosa_rescale, once, in, node->n_in, ti_b_out_type(&b, 0)), done);
}

TC_REWRITES(ti_lower_choose_rounding, choose_rounding)
