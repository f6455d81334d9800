/* SPDX-License-Identifier: Apache-2.0 */
/* stages.c -- the stages as passes: what passes.def names with STAGE().
 *
 * Each calls the one function of its folder that does the work, with its parameters from the
 * job. */
#include "../lower/shaders.h"
#include "passes.h"

#include "../cortexm/kernel_calls.h"
#include "../executorch/cpu_select.h"
#include "../read/softmax_codes.h"
#include "../tflm/tflm_select.h"

#define STAGE(name, ...)                                                                           \
    tc_status ti_stage_##name(tc_ctx *ctx, tc_module *module, const tc_job *job);
#define PASS(folder, name, ...)
#include "passes.def"

static bool is_kept(void *who, const tc_graph *g, const tc_node *node)
{
    const tc_job *job = who;
    for (size_t i = 0; i < job->n_cpu; i++)
        if (ti_split_names(g, node, job->cpu[i]))
            return true;
    return false;
}

tc_status ti_stage_fuse_functions(tc_ctx *ctx, tc_module *module, const tc_job *job)
{
    return ti_fuse_functions(ctx, module, job->config, is_kept, (void *)(uintptr_t)job);
}

tc_status ti_stage_quantize_model(tc_ctx *ctx, tc_module *module, const tc_job *job)
{
    tc_quant_request request = job->quant ? *job->quant : (tc_quant_request){0};
    request.config = job->config;
    request.samples = *job->samples;
    return ti_quantize(ctx, module, &request);
}

tc_status ti_stage_round_to_blocks(tc_ctx *ctx, tc_module *module, const tc_job *job)
{
    return ti_quant_round_to_blocks(ctx, module, job->config, job->blocks);
}

tc_status ti_stage_narrow_integers(tc_ctx *ctx, tc_module *module, const tc_job *job)
{
    return ti_lower_narrow(ctx, module, job->target);
}

tc_status ti_stage_narrow_inputs(tc_ctx *ctx, tc_module *module, const tc_job *job)
{
    (void)job;
    return ti_tflm_narrow_inputs(ctx, module) ? ti_lower_narrow(ctx, module, NULL) : TC_OK;
}

typedef struct asked {
    void *lower;
    bool resamples; /* by shaders */
} asked;

static bool takes(void *who, const tc_graph *g, const tc_node *node, const char **why)
{
    const asked *a = who;
    (void)g;
    if (a->resamples && ti_shader_resamples(node->op)) {
        *why = "it is to be a shader";
        return false;
    }
    return ti_lower_can(a->lower, node, why);
}

static bool takes_nothing(void *who, const tc_graph *g, const tc_node *node, const char **why)
{
    (void)who, (void)g, (void)node;
    *why = "the target has no accelerator";
    return false;
}

tc_status ti_stage_split_regions(tc_ctx *ctx, tc_module *module, const tc_job *job)
{
    bool alone = job->target->machine->packing == TC_PACKED_NOT;
    tc_split_report report;
    asked who = {alone ? NULL : ti_lower_ask(ctx, ti_main(module), job->target), job->resamples};
    tc_split_request split = {
        .target = job->target->name,
        .ask = alone ? takes_nothing : takes,
        .who = &who,
        .cpu = job->cpu,
        .n_cpu = job->n_cpu,
        .source = job->source,
        .left = job->left,
        .keep_sums = job->target->core != NULL,
    };
    return ti_split(ctx, module, &split, job->split ? job->split : &report);
}

tc_status ti_stage_lower_to_tosa(tc_ctx *ctx, tc_module *module, const tc_job *job)
{
    return ti_lower_graph(ctx, ti_main(module), job->target, job->check);
}

tc_status ti_stage_expand_blocks(tc_ctx *ctx, tc_module *module, const tc_job *job)
{
    return ti_lower_expand_blocks(ctx, module, job->target);
}

tc_status ti_stage_expand_newer(tc_ctx *ctx, tc_module *module, const tc_job *job)
{
    return ti_lower_expand_newer(ctx, module, job->target);
}

tc_status ti_stage_verify_target(tc_ctx *ctx, tc_module *module, const tc_job *job)
{
    return ti_verify_tosa_for(ctx, module, job->target);
}

tc_status ti_stage_select_cortex_m_kernels(tc_ctx *ctx, tc_module *module, const tc_job *job)
{
    return ti_cm_select(ctx, module, job->target, ti_tfl_softmax8);
}

tc_status ti_stage_plan_memory(tc_ctx *ctx, tc_module *module, const tc_job *job)
{
    tc_memory memory = ti_plan_memory(ctx, module, job ? job->state : NULL);
    if (job && job->memory)
        *job->memory = memory;
    return TC_OK;
}
