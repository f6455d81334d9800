/* SPDX-License-Identifier: Apache-2.0 */
/* core_cost.c -- see core_cost.h. */
#include "core_cost.h"

static void add(const tc_machine *machine, const tc_graph *g, const tc_c_source *s,
                tc_core_cost *out)
{
    for (size_t k = 0; k < s->n_cost; k++)
        out->instructions += s->cost[k].instructions;
    out->cycles = out->instructions * machine->cycles.about;
    out->cycles_low = out->instructions * machine->cycles.low;
    out->cycles_high = out->instructions * machine->cycles.high;
    out->constants += s->constants;
    out->code += s->code;
    out->state += s->state;
    out->arena = out->arena > s->arena ? out->arena : s->arena;
    out->ports += ti_graph_bytes(g, g->in, g->n_in) + ti_graph_bytes(g, g->out, g->n_out);
}

tc_status ti_core_cost(tc_ctx *ctx, const tc_compiled *c, tc_core_cost *out)
{
    *out = (tc_core_cost){.part = tc_new_n(&ctx->arena, tc_c_source, c->n_region),
                          .n_part = c->n_region};
    for (size_t i = 0; i < c->n_region; i++) {
        tc_module *module = c->region[i].module;
        const tc_graph *g = ti_main(module);
        tc_c_request request = {.name = "model",
                                .stem = "model",
                                .target = c->target.text,
                                .core = c->target.machine->core,
                                .machine = c->target.machine,
                                .in = tc_new_n(&ctx->arena, tc_c_port, g->n_in),
                                .out = tc_new_n(&ctx->arena, tc_c_port, g->n_out)};
        TC_TRY(ti_cortexm_write(ctx, module, &request, &out->part[i]));
        add(c->target.machine, g, &out->part[i], out);
    }
    return TC_OK;
}
