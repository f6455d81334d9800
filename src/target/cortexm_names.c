/* SPDX-License-Identifier: Apache-2.0 */
/* cortexm_names.c -- what calls of cortex_m:: operators are called, and which nodes are such calls. */
#include "cortexm_call.h"

const tc_cm_info tc_cm_ops[TC_CM_COUNT] = {
#define CM(word, name, args) [TC_CM_##word] = {name, args},
#include "cortexm_ops.def"
};

static const char space[] = "cortex_m::";
static const char *const cores[] = {
    [TC_CORE_C] = "c", [TC_CORE_DSP] = "dsp", [TC_CORE_MVE] = "mve"};

tc_cm_op ti_cm_find(tc_str name)
{
    size_t n = strlen(space);
    int op = 0;
    if (name.n < n || memcmp(name.p, space, n) != 0)
        return TC_CM_COUNT;
    while (op < TC_CM_COUNT && !ti_str_is((tc_str){name.p + n, name.n - n}, tc_cm_ops[op].name))
        op++;
    return (tc_cm_op)op;
}

const char *ti_cm_target(tc_ctx *ctx, tc_cm_op op, tc_core core)
{
    return ti_intern_text(
        ctx, ti_text_format(&ctx->arena, "%s%s+%s", space, tc_cm_ops[op].name, cores[core]));
}

const char *ti_cm_whose(tc_ctx *ctx, tc_core core)
{
    static const char *const titles[] = {
        [TC_CORE_C] = "plain C", [TC_CORE_DSP] = "DSP", [TC_CORE_MVE] = "MVE"};
    return ti_text_format(&ctx->arena, "ExecuTorch " TC_CM_RELEASE ", cortex_m:: for %s",
                          titles[core]);
}

void ti_cm_count(const tc_graph *g, size_t *own, size_t *other)
{
    *own = *other = 0;
    for (size_t k = 0; k < g->n_node; k++) {
        tc_cm_op op;
        tc_core core;
        const tc_node *node = g->node[k];
        bool ours = ti_cm_of(node, &op, &core) || ti_cm_codes(g, node) != NULL;
        *own += ours;
        *other += !ours && node->op != TC_OP_const && !ti_cpu_is_view(node);
    }
}

/* Floats and codes of one scale, with a row among the kernels that is only read. */
const tc_cpu_kernel *ti_cm_codes(const tc_graph *g, const tc_node *node)
{
    const tc_attr_quantize *a = node->attr;
    if ((node->op != TC_OP_quantize && node->op != TC_OP_dequantize) || a->axis >= 0 || a->scale == 0 ||
        node->n_in != 1)
        return NULL;
    bool down = node->op == TC_OP_quantize;
    tc_dtype real = ti_type_of(g, down ? node->in[0] : node->out[0])->dtype,
             code = ti_type_of(g, down ? node->out[0] : node->in[0])->dtype;
    if (real != TC_f32 || (code != TC_i8 && code != TC_i16) || a->zero < a->qmin ||
        a->zero > a->qmax)
        return NULL;
    for (size_t i = 0; i < tc_cpu_n_kernel; i++)
        if (tc_cpu_kernels[i].op == node->op && ti_text_starts(tc_cpu_kernels[i].name, space))
            return &tc_cpu_kernels[i];
    return NULL;
}

bool ti_cm_of(const tc_node *node, tc_cm_op *op, tc_core *core)
{
    const char *text = node->op == TC_OP_call ? ((const tc_attr_call *)node->attr)->target : NULL;
    const char *plus = text ? strrchr(text, '+') : NULL;
    if (!plus)
        return false;
    *op = ti_cm_find((tc_str){text, (size_t)(plus - text)});
    for (size_t i = 0; i < TC_COUNT(cores); i++)
        if (ti_text_eq(plus + 1, cores[i])) {
            *core = (tc_core)i;
            return *op != TC_CM_COUNT;
        }
    return false;
}
