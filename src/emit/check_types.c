/* SPDX-License-Identifier: Apache-2.0 */
/* check_types.c -- whether a file format has the types of a graph's values. */
#include "emit.h"

#include "../base/diag.h"
#include "../ir/graph.h"

tc_status ti_emit_check_types(tc_ctx *ctx, const tc_graph *g, int (*number_of)(tc_dtype),
                              const char *whose)
{
    for (tc_val v = 1; v < g->n_val; v++) {
        const tc_value *value = g->val[v];
        const tc_loc *loc = value->def ? value->def->loc : NULL;
        if (!value->type)
            return ti_bug(ctx, loc, "value %" PRIu32 " has no type", v);
        if (number_of(value->type->dtype) < 0)
            return ti_unsupported(ctx, loc, TC_E_UNSUPPORTED,
                                  "a value on the CPU has type %s, which %s does not have",
                                  tc_dtypes[value->type->dtype].name, whose);
        for (int i = 0; i < value->type->rank; i++)
            if (value->type->dim[i] > INT32_MAX)
                return ti_error(ctx, loc, TC_E_TOO_LARGE,
                                "an extent of %" PRId64 ", beyond the limits of the format",
                                value->type->dim[i]);
    }
    return TC_OK;
}
