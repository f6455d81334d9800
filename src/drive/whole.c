/* SPDX-License-Identifier: Apache-2.0 */
/* whole.c -- a program that is TOSA already: one region, which enters its road at TOSA. */
#include "checker.h"
#include "driver.h"
#include "own_backend.h"
#include "program_file.h"
#include "road.h"

#include "../ir/rewrite.h"

/* By its first operator; for constants alone, which the CPU can hold as well, by the file that it
 * was read from. */
bool ti_is_tosa(const tc_compiled *c)
{
    const tc_graph *g = ti_main(c->module);
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->op != TC_OP_const)
            return tc_ops[g->node[k]->op].tosa != 0;
    return c->target.machine->packing != TC_PACKED_NOT && c->module->origin.producer &&
           ti_text_starts(c->module->origin.producer, "TOSA ");
}

static tc_status no_kernels(tc_ctx *ctx, const tc_compiled *c)
{
    tc_status status = ti_unsupported(ctx, &(tc_loc){.file = c->module->file}, TC_E_UNSUPPORTED,
                                      "the program is TOSA, and '%s' has no kernels for it",
                                      c->target.text);
    ti_note(ctx, NULL,
            "compile the model it was made from; 'tosac run' runs TOSA programs directly");
    return status;
}

static bool reads_all_inputs(tc_ctx *ctx, const tc_graph *g)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    const uint32_t *readers = ti_graph_readers(ctx, g);
    bool all = true;
    for (size_t i = 0; i < g->n_in; i++)
        all = all && readers[g->in[i]];
    ti_arena_rewind(&ctx->scratch, mark);
    return all;
}

/* The program's inputs stay with its region, for the command stream; a checker continues with them.
 * given: by sample and input of the program. */
static void keep_inputs(tc_ctx *ctx, const tc_compiled *c, tc_tensor *const *given,
                        tc_checker *checker)
{
    tc_region *r = c->region;
    const tc_graph *main = ti_main(c->module);
    const tc_node *call = r->module == c->module ? NULL : ti_call_of(main, r->name);
    r->n_sample = checker->n;
    for (size_t k = 0; k < checker->n; k++) {
        r->sample[k] = given[k];
        if (call)
            r->sample[k] = tc_new_n(&ctx->arena, tc_tensor, (size_t)call->n_in);
        for (int i = 0; call && i < call->n_in; i++)
            r->sample[k][i] = given[k][ti_value_of(main, call->in[i])->index];
        checker->in[k] = r->sample[k];
    }
}

/* Command streams: the program keeps its inputs and calls a region that has only those which are
 * read. */
static void set_apart(tc_ctx *ctx, tc_compiled *c)
{
    tc_module *region = c->region->module;
    if (c->target.machine->packing != TC_PACKED_STREAM || reads_all_inputs(ctx, ti_main(region)))
        return;
    if (c->module == region)
        c->module = ti_program_calling(ctx, region, ti_intern_text(ctx, c->target.name));
    ti_drop_inputs(ctx, c->module, ti_main(region));
}

tc_status ti_take_whole(tc_ctx *ctx, const tc_trace *trace, tc_checker *checker, tc_compiled *c)
{
    tc_tensor *given[TC_CHECK_SAMPLES] = {0};
    if (c->target.machine->packing == TC_PACKED_NOT)
        return no_kernels(ctx, c);
    tc_region *r = c->region = tc_new(&ctx->arena, tc_region);
    c->n_region = 1;
    r->module = c->module;
    r->name = ti_main(c->module)->name;
    for (size_t k = 0; checker && k < checker->n; k++)
        given[k] = checker->in[k];
    set_apart(ctx, c);
    if (checker)
        keep_inputs(ctx, c, given, checker);
    tc_job job = {.target = &c->target};
    TC_TRY(ti_road_run(ctx, r->module, TC_AT_FORMED, TC_AT_TOSA, &job, trace));
    TC_TRY(ti_own_ask(ctx, c, r));
    TC_TRY(ti_road_run(ctx, r->module, TC_AT_TOSA, TC_AT_LEGAL, &job, NULL));
    if (checker)
        keep_inputs(ctx, c, given, checker);
    ti_bring_back(r->module, c->module);
    return c->target.machine->packing == TC_PACKED_VGF ? TC_OK
                                                       : ti_emit_tosa(ctx, r->module, &r->tosa);
}
