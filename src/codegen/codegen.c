/* SPDX-License-Identifier: Apache-2.0 */
/* codegen.c -- see codegen.h. */
#include "codegen.h"

tc_status ti_codegen(tc_ctx *ctx, const tc_codegen_options *options, const tc_graph *g,
                     tc_codegen_result *out)
{
    (void)ctx;
    (void)options;
    *out = (tc_codegen_result){0};
    out->refused_node = g->n_node ? g->node[0] : NULL;
    out->refused = "no operator is taken yet";
    return TC_OK;
}
