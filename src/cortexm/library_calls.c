/* SPDX-License-Identifier: Apache-2.0 */
/* library_calls.c -- see library_calls.h. */
#include "library_calls.h"

#include "../ir/rewrite.h"

typedef struct selection {
    tc_core core;
    tc_cm_softmax *softmax;
    tc_cm_library *out;
} selection;

/* Operators that CMSIS-NN may have a function for. */
typedef enum interest {
    NEVER,
    BEHIND, /* where it has been tried: most of them are part of something else */
    ALWAYS
} interest;

static interest interest_in(tc_op op)
{
    static const struct {
        tc_op op;
        interest in;
    } rows[] = {
        {TC_OP_tosa_conv2d, ALWAYS},           {TC_OP_tosa_depthwise_conv2d, ALWAYS},
        {TC_OP_tosa_conv3d, ALWAYS},           {TC_OP_tosa_transpose_conv2d, ALWAYS},
        {TC_OP_tosa_matmul, ALWAYS},           {TC_OP_tosa_max_pool2d, ALWAYS},
        {TC_OP_tosa_avg_pool2d, ALWAYS},       {TC_OP_tosa_add, BEHIND},
        {TC_OP_tosa_mul, BEHIND},              {TC_OP_tosa_cond_if, ALWAYS},
        {TC_OP_tosa_while_loop, ALWAYS},
    };
    for (size_t i = 0; i < TC_COUNT(rows); i++)
        if (rows[i].op == op)
            return rows[i].in;
    return NEVER;
}

/* What the RESCALE and CLAMP that end with the node are of. */
static const tc_node *heart_of(const tc_graph *g, const tc_node *node)
{
    while (node && (node->op == TC_OP_tosa_clamp || node->op == TC_OP_tosa_rescale ||
                    node->op == TC_OP_tosa_reshape))
        node = ti_def(g, node->in[0]);
    return node && interest_in(node->op) != NEVER ? node : NULL;
}

/* Of a RESCALE and the CLAMP after it the last refusal wins. */
static void refuse(selection *s, const tc_node *heart, const char *why)
{
    tc_cm_library *out = s->out;
    if (out->n_refused && out->refused[out->n_refused - 1].node == heart)
        out->n_refused--;
    out->refused[out->n_refused++] = (tc_cm_refused){heart, why};
}

static tc_status take(tc_rewrite *rw, const tc_node *node, bool *done)
{
    selection *s = rw->user;
    const tc_node *heart = heart_of(rw->from, node);
    tc_cm_region r = {.ctx = rw->ctx,
                      .from = rw->from,
                      .b = {.ctx = rw->ctx, .g = rw->to, .loc = heart ? heart->loc : node->loc},
                      .now = rw->now,
                      .readers = rw->readers,
                      .core = s->core,
                      .caller = TC_CM_C,
                      .softmax = s->softmax};
    tc_val y = ti_cm_call(&r, node);
    if (r.b.status != TC_OK)
        return r.b.status;
    if (!y && r.why && heart)
        refuse(s, heart, r.why);
    return y ? ti_rewrite_with(rw, node, y, done) : TC_OK;
}

tc_status ti_cm_library(tc_ctx *ctx, tc_module *module, tc_core core, tc_cm_softmax *softmax,
                        tc_cm_library *out)
{
    static tc_rewriter *const rewriters[] = {take};
    tc_graph *g = ti_main(module);
    selection s = {core, softmax, out};
    *out = (tc_cm_library){.refused = tc_new_n(&ctx->arena, tc_cm_refused, g->n_node)};
    for (tc_val v = 1; v < g->n_val; v++)
        if (g->val[v]->type)
            g->val[v]->type = ti_type_with(ctx, g->val[v]->type, NULL);
    TC_TRY(ti_rewrite_graph(g, rewriters, TC_COUNT(rewriters), &s));
    g->facts = 0; /* it calls a kernel: it is no longer a region of TOSA */
    return TC_OK;
}

const char *ti_cm_function(tc_cm_op op)
{
    static const char *const functions[TC_CM_COUNT] = {
        [TC_CM_conv2d] = "arm_convolve_wrapper_s8",
        [TC_CM_depthwise] = "arm_depthwise_conv_wrapper_s8",
        [TC_CM_linear] = "arm_fully_connected_s8",
        [TC_CM_batch_matmul] = "arm_batch_matmul_s8",
        [TC_CM_add] = "arm_elementwise_add_s8",
        [TC_CM_mul] = "arm_elementwise_mul_s8",
        [TC_CM_softmax] = "arm_softmax_s8",
        [TC_CM_avg_pool] = "arm_avgpool_s8",
        [TC_CM_max_pool] = "arm_max_pool_s8",
    };
    return functions[op];
}

/* Why our kernel computes the node; NULL: it was never tried.  *next: the refusal to begin with. */
static const char *why_not(const tc_cm_library *library, const tc_node *node, size_t *next)
{
    for (size_t i = *next; i < library->n_refused; i++) {
        const tc_cm_refused *r = &library->refused[i];
        if (r->node->loc == node->loc && r->node->op == node->op) {
            *next = i + 1;
            return r->why;
        }
    }
    switch (interest_in(node->op)) {
    case ALWAYS:
        return tc_ops[node->op].traits & T_CONTROL ? "branches and loops keep our kernels"
                                                   : "it is no form of int8 that is called";
    default:
        return NULL;
    }
}

void ti_cm_layers(tc_ctx *ctx, const tc_graph *g, const tc_cm_library *library, tc_c_source *out)
{
    size_t next = 0;
    out->layer = tc_new_n(&ctx->arena, tc_c_layer, g->n_node);
    out->n_layer = 0;
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        tc_cm_op op;
        tc_core core;
        bool taken = ti_cm_of(node, &op, &core);
        const char *why = taken ? NULL : why_not(library, node, &next);
        if (taken || why)
            out->layer[out->n_layer++] =
                (tc_c_layer){node->loc->node ? node->loc->node : "", taken ? ti_cm_function(op) : NULL,
                             taken ? NULL : tc_ops[node->op].name + strlen("tosa."), why};
    }
}
