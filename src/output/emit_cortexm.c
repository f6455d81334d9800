/* SPDX-License-Identifier: Apache-2.0 */
/* emit_cortexm.c -- see emit_cortexm.h. */
#include "emit_cortexm.h"

#include "../drive/made_by.h"
#include "../cortexm/library_calls.h"
#include "../npu/program.h"
#include "../read/softmax_codes.h"
#include "core_program.h"
#include "emit_c.h"

enum { SCRATCH = 1 }; /* the region of a command stream that holds tensors */

static tc_status places_of(tc_ctx *ctx, const tc_loc *loc, const tc_npu_tensor *t, size_t n,
                           const int64_t **out)
{
    int64_t *at = tc_new_n(&ctx->arena, int64_t, n);
    for (size_t i = 0; i < n; i++) {
        if (t[i].region != SCRATCH)
            return ti_bug(ctx, loc, "a tensor of the command stream is not in its scratch");
        at[i] = t[i].offset;
    }
    *out = at;
    return TC_OK;
}

/* Every region's stream, as its payload has it. */
static tc_status take_streams(tc_ctx *ctx, const tc_compiled *c, tc_c_npu *out)
{
    for (size_t i = 0; i < c->n_region; i++) {
        tc_npu_program p;
        const tc_loc *loc = &(tc_loc){.file = c->region[i].name};
        TC_TRY(ti_npu_read_backend(ctx, loc, c->payload[i].bytes, &p));
        out[i] = (tc_c_npu){.graph = c->region[i].name,
                            .stream = p.driver,
                            .weights = p.weights,
                            .scratch = p.scratch,
                            .fast = c->jobs[i].fast_scratch};
        TC_TRY(places_of(ctx, loc, p.in, p.n_in, &out[i].in));
        TC_TRY(places_of(ctx, loc, p.out, p.n_out, &out[i].out));
    }
    return TC_OK;
}

/* Our own kernels, or a library's where it computes the same. */
static tc_status write_source(tc_ctx *ctx, const tc_compiled *c, tc_module *module,
                              tc_c_request *request, tc_c_source *out)
{
    if (!c->asked.cmsis_nn)
        return ti_cortexm_write(ctx, module, request, out);
    tc_cm_library library;
    request->library = TC_CMSIS_NN;
    TC_TRY(ti_cm_library(ctx, module, request->core, ti_tfl_softmax8, &library));
    TC_TRY(ti_run_passes(ctx, module, "remove-dead-code", NULL));
    TC_TRY(ti_cortexm_write(ctx, module, request, out));
    ti_cm_layers(ctx, ti_main(module), &library, out);
    return TC_OK;
}

tc_status ti_emit_cortexm(tc_ctx *ctx, tc_compiled *c, const char *path, tc_c_source *out)
{
    tc_core_program program;
    const tc_target *core = c->target.core ? c->target.core : &c->target;
    tc_c_request request = {.name = ti_c_symbol(ctx, path),
                            .stem = ti_c_stem(ctx, path),
                            .target = c->target.text,
                            .made_by = ti_made_by(ctx, c),
                            .core = core->machine->core,
                            .machine = core->machine};
    if (c->target.core) {
        TC_TRY(ti_core_part(ctx, c));
        tc_c_npu *npu = tc_new_n(&ctx->arena, tc_c_npu, c->n_region);
        TC_TRY(take_streams(ctx, c, npu));
        request.npu = npu;
        request.n_npu = c->n_region;
    }
    TC_TRY(ti_core_program(ctx, c, &program));
    request.in = program.in;
    request.out = program.out;
    TC_TRY(write_source(ctx, c, program.module, &request, out));
    const tc_graph *g = ti_main(program.module);
    out->outside = program.outside;
    out->floats = program.floats;
    out->ports = ti_graph_bytes(g, g->in, g->n_in) + ti_graph_bytes(g, g->out, g->n_out);
    return TC_OK;
}
