/* SPDX-License-Identifier: Apache-2.0 */
/* cost.c -- what operators take: arithmetic and bytes from their shapes, cycles as Vela schedules
 * them, each brought back to the node of the model that it comes from. */
#include "report.h"

#include "../npu/machine.h"
#include "../npu/vela_map.h"

/* Products and sums of one TOSA operator; 0 for what does neither. */
static double macs_of(const tc_graph *g, const tc_node *node)
{
    const tc_type *out = node->n_out ? tc_type_of(g, node->out[0]) : NULL;
    const tc_type *w = node->n_in > 1 ? tc_type_of(g, node->in[1]) : NULL,
                  *x = node->n_in ? tc_type_of(g, node->in[0]) : NULL;
    if (!out || !w || !x)
        return 0;
    double results = (double)tc_type_count(out), weights = (double)tc_type_count(w);
    switch (node->op) {
    case TC_OP_tosa_conv2d: /* w: [oc, kh, kw, ic] */
    case TC_OP_tosa_conv3d:
        return w->dim[0] ? results * weights / (double)w->dim[0] : 0;
    case TC_OP_tosa_depthwise_conv2d: /* w: [kh, kw, c, m] */
        return results * (double)(w->dim[0] * w->dim[1]);
    case TC_OP_tosa_transpose_conv2d: /* w: [oc, kh, kw, ic] */
        return w->dim[3] ? (double)tc_type_count(x) * weights / (double)w->dim[3] : 0;
    case TC_OP_tosa_matmul: /* x: [n, h, c] */
        return results * (double)x->dim[2];
    default:
        return 0;
    }
}

/* Everything that it reads and writes, constants included. */
static double bytes_of(const tc_graph *g, const tc_node *node)
{
    double bytes = 0;
    for (int i = 0; i < node->n_in; i++)
        bytes += node->in[i] ? (double)tc_type_bytes(tc_type_of(g, node->in[i])) : 0;
    for (int i = 0; i < node->n_out; i++)
        bytes += (double)tc_type_bytes(tc_type_of(g, node->out[i]));
    return bytes;
}

static void add(tc_report_cost *to, tc_report_cost more)
{
    to->cycles += more.cycles;
    to->npu_cycles += more.npu_cycles;
    to->macs += more.macs;
    to->bytes += more.bytes;
    to->sram_cycles += more.sram_cycles;
    to->other_cycles += more.other_cycles;
}

static void add_shapes(tc_content *c, const tc_graph *g)
{
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        int32_t at = node->op == TC_OP_const || node->op == TC_OP_call
                         ? -1
                         : tc_content_node(c, node->loc->node);
        tc_report_cost cost = {.macs = macs_of(g, node), .bytes = bytes_of(g, node)};
        if (at >= 0)
            add(&c->node[at].cost, cost);
        c->macs += cost.macs;
    }
}

/* The operator of the region that stands at a place of the TOSA file. */
static const tc_node *operator_at(const tc_graph *g, int64_t place)
{
    return place >= 0 && (size_t)place < g->n_node && g->node[place]->op != TC_OP_const
               ? g->node[place]
               : NULL;
}

static void add_vela(tc_content *c, size_t region)
{
    const tc_vela_map *map = c->notes[region];
    size_t n = 0;
    const tc_vela_cost *cost = map ? tc_vela_map_costs(map, &n) : NULL;
    const tc_graph *g = tc_main(c->options.compiled->region[region].module);
    for (size_t i = 0; i < n; i++) {
        const tc_node *node = operator_at(g, cost[i].place);
        tc_grow(&c->ctx->arena, c->step, c->n_step, c->cap_step);
        tc_report_step *s = &c->step[c->n_step++];
        *s = (tc_report_step){.kind = cost[i].kind,
                              .tosa = node ? tc_ops[node->op].name : NULL,
                              .node = node ? tc_content_node(c, node->loc->node) : -1,
                              .region = region,
                              .cost = {.cycles = (double)cost[i].cycles,
                                       .npu_cycles = (double)cost[i].npu_cycles,
                                       .macs = (double)cost[i].macs,
                                       .sram_cycles = (double)cost[i].sram_cycles,
                                       .other_cycles = (double)cost[i].other_cycles}};
        tc_report_cost scheduled = s->cost;
        scheduled.macs = 0; /* those of the shapes are counted */
        if (s->node >= 0)
            add(&c->node[s->node].cost, scheduled);
    }
}

void tc_content_costs(tc_content *c)
{
    const tc_compiled *compiled = c->options.compiled;
    const tc_vela_job *jobs = compiled->written.jobs;
    const tc_npu_machine *machine = tc_npu_machine_find(compiled->target.text);
    c->notes = tc_new_n(&c->ctx->arena, tc_vela_map *, compiled->n_region + 1);
    c->macs_per_cycle = machine ? machine->macs : 0;
    add_shapes(c, tc_main(compiled->module));
    for (size_t r = 0; r < compiled->n_region; r++) {
        const tc_graph *g = tc_main(compiled->region[r].module);
        if (g != tc_main(compiled->module))
            add_shapes(c, g);
        if (!jobs)
            continue;
        if (jobs[r].notes.data)
            c->notes[r] = tc_vela_map_read(&c->ctx->arena, jobs[r].notes);
        add_vela(c, r);
        c->cycles += jobs[r].cycles;
        if (jobs[r].inferences_per_second > 0)
            c->seconds += 1 / jobs[r].inferences_per_second;
    }
}
