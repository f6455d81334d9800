/* SPDX-License-Identifier: Apache-2.0 */
/* report_cost.c -- what operators take: arithmetic and bytes from their shapes, cycles and what
 * goes through memories from the model of the machine (`tosac profile`), each brought back to the
 * node of the model that it comes from. */
#include "report.h"

#include <math.h>

#include "../cost/profile.h"
#include "../machine/npu_machine.h"

/* Products and sums of one TOSA operator; 0 for what does neither. */
static double macs_of(const tc_graph *g, const tc_node *node)
{
    const tc_type *out = node->n_out ? ti_type_of(g, node->out[0]) : NULL;
    const tc_type *w = node->n_in > 1 ? ti_type_of(g, node->in[1]) : NULL,
                  *x = node->n_in ? ti_type_of(g, node->in[0]) : NULL;
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
        bytes += node->in[i] ? (double)tc_type_bytes(ti_type_of(g, node->in[i])) : 0;
    for (int i = 0; i < node->n_out; i++)
        bytes += (double)tc_type_bytes(ti_type_of(g, node->out[i]));
    return bytes;
}

static void add(tc_report_cost *to, tc_report_cost more)
{
    to->cycles += more.cycles;
    to->macs += more.macs;
    to->bytes += more.bytes;
    to->traffic += more.traffic;
}

/* times: that it is run */
static void add_shapes(tc_content *c, const tc_graph *g, int64_t times)
{
    const double n = times > 1 ? (double)times : 1;
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        int32_t at = node->op == TC_OP_const || ti_region_run_by(node)
                         ? -1
                         : ti_content_node(c, node->loc->node);
        tc_report_cost cost = {.macs = n * macs_of(g, node), .bytes = n * bytes_of(g, node)};
        if (at >= 0)
            add(&c->node[at].cost, cost);
        c->macs += cost.macs;
    }
}

/* The same figures as `tosac profile`, operation by operation. */
static tc_status add_profile(tc_content *c)
{
    tc_profile *profile;
    tc_profile_op op = {.size = sizeof op};
    tc_profile_info info = {.size = sizeof info};
    TC_TRY(ti_profile_made(c->ctx, c->options.compiled, &profile));
    tc_profile_get_info(profile, &info);
    c->cycles = rint(info.total.cycles);
    c->cycles_low = rint(info.total.cycles_low);
    c->cycles_high = rint(info.total.cycles_high);
    c->macs = info.total.macs; /* what the machine does, not what the shapes need */
    for (size_t k = 0; k < c->n_node; k++)
        c->node[k].cost.macs = 0;
    c->seconds = info.clock > 0 ? info.total.cycles / info.clock : 0;
    for (size_t i = 0; tc_profile_operation(profile, i, &op); i++) {
        double traffic = 0;
        for (int k = 0; k < TC_PROFILE_MEMORIES; k++)
            traffic += op.cost.read[k] + op.cost.written[k];
        tc_grow(&c->ctx->arena, c->step, c->n_step, c->cap_step);
        tc_report_step *s = &c->step[c->n_step++];
        *s = (tc_report_step){
            .kind = op.name,
            .tosa = op.op,
            .node = op.loc ? ti_content_node(c, op.loc->node) : -1,
            .region = op.stream,
            .word = profile->entry[i].word,
            .cost = {.cycles = op.cost.cycles, .macs = op.cost.macs, .traffic = traffic},
            .hint = op.hint};
        if (s->node < 0)
            continue;
        add(&c->node[s->node].cost, s->cost);
        if (op.hint)
            c->node[s->node].hint = op.hint;
    }
    return TC_OK;
}

tc_status ti_content_costs(tc_content *c)
{
    const tc_compiled *compiled = c->options.compiled;
    const tc_npu_machine *machine = compiled->target.npu;
    c->macs_per_cycle = machine ? machine->macs : 0;
    add_shapes(c, ti_main(compiled->module), 1);
    for (size_t r = 0; r < compiled->n_region; r++) {
        const tc_graph *g = ti_main(compiled->region[r].module);
        if (g != ti_main(compiled->module))
            add_shapes(c, g, compiled->region[r].times);
    }
    return compiled->jobs || compiled->target.machine->packing == TC_PACKED_C ? add_profile(c) : TC_OK;
}
