/* SPDX-License-Identifier: Apache-2.0 */
/* program_file.c -- what the CPU runs becomes kernels, memory is planned, and the file is
 * written. */
#include "program_file.h"

#include "made_by.h"
#include "road.h"

#include "../executorch/cpu_select.h"
#include "../target/cortexm_call.h"

/* Ports of a graph that are values of another one, by their positions in its lists. */
static tc_port *ports_for(tc_ctx *ctx, const tc_port *port, size_t n, const tc_val *from,
                          const tc_val *to, size_t n_val)
{
    tc_port *copy = ti_arena_copy(&ctx->arena, port, n * sizeof *port);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n_val; k++)
            if (port[i].val == from[k])
                copy[i].val = to[k];
    return copy;
}

tc_module *ti_program_calling(tc_ctx *ctx, const tc_module *from, const char *target)
{
    tc_module *m = ti_arena_copy(&ctx->arena, from, sizeof *from);
    tc_graph *region = ti_main(from);
    m->graph = NULL;
    m->n_graph = m->cap_graph = 0;
    const char *name = ti_text_eq(region->name, "main") ? "program" : "main";
    tc_graph *g = ti_graph_new(m, ti_intern_text(ctx, name));
    for (size_t i = 0; i < from->n_graph; i++) {
        tc_grow(&ctx->arena, m->graph, m->n_graph, m->cap_graph);
        m->graph[m->n_graph++] = from->graph[i];
    }
    for (size_t i = 0; i < region->n_in; i++) {
        const tc_value *v = ti_value_of(region, region->in[i]);
        ti_graph_input(g, v->type, v->name);
    }
    tc_attr_call *attr = tc_new(&ctx->arena, tc_attr_call);
    *attr = (tc_attr_call){region->name, target};
    tc_node *call =
        ti_graph_add(g, TC_OP_call, attr, g->in, (int)g->n_in, (int)region->n_out, NULL);
    for (size_t i = 0; i < region->n_out; i++) {
        g->val[call->out[i]]->type = ti_type_of(region, region->out[i]);
        ti_graph_output(g, call->out[i]);
    }
    m->signature.in = ports_for(ctx, from->signature.in, from->signature.n_in, region->in, g->in, g->n_in);
    m->signature.out = ports_for(ctx, from->signature.out, from->signature.n_out, region->out, g->out, g->n_out);
    return m;
}

tc_payload ti_program_tosa_payload(tc_ctx *ctx, const tc_compiled *compiled,
                                   const tc_region *region)
{
    const char *spec = ti_target_spec(ctx, &compiled->target);
    tc_compile_spec *s = tc_new(&ctx->arena, tc_compile_spec);
    *s = (tc_compile_spec){"tosa_spec", {(const uint8_t *)spec, strlen(spec)}};
    return (tc_payload){.graph = region->name,
                        .backend = tc_machine_tosa.backend,
                        .bytes = region->tosa,
                        .spec = s,
                        .n_spec = 1};
}

tc_module *ti_program_of(tc_ctx *ctx, const tc_compiled *compiled)
{
    tc_module *m = ti_module_clone(compiled->module);
    bool whole = compiled->n_region == 1 && compiled->region[0].module == compiled->module;
    return whole ? ti_program_calling(ctx, m, ti_intern_text(ctx, compiled->target.name)) : m;
}

static const char *cortexm_of(tc_ctx *ctx, const tc_machine *machine)
{
    return machine->packing == TC_PACKED_C ? ti_cm_whose(ctx, machine->core) : NULL;
}

tc_status ti_program_join(tc_ctx *ctx, const tc_program_part *part, size_t n,
                          const tc_trace *trace, tc_pte *out)
{
    tc_state_block state = {0};
    tc_emit_method *method = tc_new_n(&ctx->arena, tc_emit_method, n);
    tc_module **m = tc_new_n(&ctx->arena, tc_module *, n);
    for (size_t i = 0; i < n; i++) {
        m[i] = ti_program_of(ctx, part[i].compiled);
        if (n > 1)
            TC_TRY(ti_plan_state(ctx, m[i], &state));
    }
    for (size_t i = 0; i < n; i++) {
        tc_job job = {.target = &part[i].compiled->target,
                      .memory = &out[i].plan,
                      .state = n > 1 ? &state : NULL};
        TC_TRY(ti_road_run(ctx, m[i], TC_AT_SPLIT, TC_AT_PLANNED, &job, trace));
        out[i].memory = out[i].plan.bytes;
        out[i].state = out[i].plan.state_bytes;
        out[i].planned = ti_main(m[i]);
        method[i] = (tc_emit_method){part[i].name,      m[i],
                                     &out[i].plan,      part[i].payload,
                                     part[i].n_payload, part[i].compiled->asked.places,
                                     cortexm_of(ctx, part[i].compiled->target.machine),
                                     i + 1 == n ? ti_made_by(ctx, part[i].compiled) : NULL};
    }
    return ti_emit_methods(ctx, method, n, &out[n - 1].pte);
}
