/* SPDX-License-Identifier: Apache-2.0 */
/* profile_streams.c -- the cost of command streams, by operation and by location in the model. */
#include "../cost/profile.h"

#include "../wire/file.h"
#include "../board/board.h"
#include "../output/output_files.h"
#include "../drive/own_backend.h"
#include "../drive/price.h"
#include "profile_core.h"

/* ---- a stream ---- */

/* TOSA's name of an operator: "conv2d". */
static const char *tosa_name(const tc_node *node)
{
    const char *name = tc_ops[node->op].name;
    return strncmp(name, "tosa_", 5) == 0 ? name + 5 : name;
}

static void add_entry(tc_ctx *ctx, tc_profile *p, const tc_npu_op_cost *op, int64_t times,
                      const tc_node *node, const tc_loc *loc)
{
    tc_grow(&ctx->arena, p->entry, p->n_entry, p->cap_entry);
    p->entry[p->n_entry++] = (tc_profile_entry){.stream = p->n_stream,
                                                .word = op->at,
                                                .name = op->name,
                                                .op = node ? tosa_name(node) : NULL,
                                                .loc = loc,
                                                .cause = op->cause,
                                                .wait = op->wait,
                                                .cost = ti_npu_cost_repeated(&op->cost, times)};
    p->lines = p->lines || (loc && loc->place);
}

/* own: what made it, where it was made here; or NULL.  times: that it is run */
static tc_status add_stream(tc_ctx *ctx, tc_profile *p, const tc_stream *s, int64_t times,
                            const tc_codegen_result *own, const tc_system_name *system)
{
    tc_npu_stream_cost cost;
    TC_TRY(ti_stream_cost(ctx, s, system->ini, system->config, system->mode, &p->system, &cost));
    if (p->machine && p->machine != s->program.machine)
        return ti_unsupported(ctx, s->loc, TC_E_UNSUPPORTED,
                              "the file has streams of different machines: %s, %s",
                              p->machine->name, s->program.machine->name);
    p->machine = s->program.machine;
    tc_grow(&ctx->arena, p->program, p->n_stream, p->cap_program);
    p->program[p->n_stream] = &s->program;
    for (size_t i = 0; i < cost.n_op; i++) {
        const tc_npu_op_cost *op = &cost.op[i];
        const tc_node *node = own ? ti_own_node(own, op->at) : NULL;
        add_entry(ctx, p, op, times, node, node ? node->loc : ti_stream_loc(s, op->at));
    }
    const tc_npu_cost all = ti_npu_cost_repeated(&cost.total, times);
    ti_npu_cost_add(&p->total, &all);
    p->n_stream++;
    return TC_OK;
}

/* ---- a file ---- */

/* The board's machine may be quicker or slower than that of the system description. */
static void set_clock(tc_profile *p, const tc_board *board)
{
    double clock = !board ? 0 : p->core.title ? board->core_clock : board->npu_clock;
    p->system.clock = clock > 0 ? clock : p->system.clock;
}

/* What is not given of the system is the board's. */
static tc_status take_board(tc_ctx *ctx, const char *name, tc_system_name *system, tc_board *board)
{
    TC_TRY(ti_board_find(ctx, name, board));
    if (!system->ini && !system->config) {
        system->ini = board->ini;
        system->config = board->system_config;
    }
    system->mode = system->mode ? system->mode : board->memory_mode;
    return TC_OK;
}

tc_status ti_profile_of_file(tc_ctx *ctx, const char *path, const tc_profile_options *o,
                              tc_profile **out)
{
    tc_profile *p = tc_new(&ctx->arena, tc_profile);
    tc_system_name system = ti_system_name_read(ctx, o->system);
    tc_board board;
    tc_bytes bytes;
    tc_stream *stream;
    size_t n = 0;
    if (o->board)
        TC_TRY(take_board(ctx, o->board, &system, &board));
    TC_TRY(ti_file_read(ctx, path, &bytes));
    if (ti_streams_in(bytes))
        TC_TRY(ti_streams_read(ctx, path, bytes, &stream, &n));
    if (!n && (!o->etdump || o->pmu))
        return ti_usage(ctx, "%s has no Ethos-U command stream; a model is compiled for a target (-t)", path);
    for (size_t i = 0; i < n; i++)
        if (!o->method || (stream[i].method && ti_text_eq(stream[i].method, o->method)))
            TC_TRY(add_stream(ctx, p, &stream[i], 1, NULL, &system));
    if (!p->n_stream && !o->etdump)
        return ti_usage(ctx, "%s has no command stream in a method '%s'", path, o->method);
    set_clock(p, o->board ? &board : NULL);
    ti_profile_make_rows(ctx, p);
    if (o->etdump)
        TC_TRY(ti_profile_measured(ctx, p, path, bytes, o));
    if (o->pmu)
        TC_TRY(ti_profile_counted(ctx, p, o->pmu));
    *out = p;
    return TC_OK;
}

/* ---- a compiled model ---- */

static tc_status add_region(tc_ctx *ctx, tc_profile *p, const tc_compiled *c, size_t i)
{
    const tc_ethosu_job *job = &c->jobs[i];
    tc_loc *loc = tc_new(&ctx->arena, tc_loc);
    tc_stream *s = tc_new(&ctx->arena, tc_stream);
    *s = (tc_stream){.name = c->region[i].name, .loc = loc};
    loc->file = s->name;
    TC_TRY(ti_npu_read_backend(ctx, loc, job->payload, &s->program));
    s->program.fast = job->fast_scratch;
    tc_system_name system = {c->asked.ethosu.ini, c->asked.ethosu.system_config, c->asked.ethosu.memory_mode};
    return add_stream(ctx, p, s, c->region[i].times, c->region[i].own, &system);
}

static void add_cpu(tc_ctx *ctx, tc_profile *p, const tc_compiled *c)
{
    tc_profile_cpu *cpu = tc_new_n(&ctx->arena, tc_profile_cpu, c->split.n_left + 1);
    for (size_t i = 0; i < c->split.n_left; i++) {
        const tc_node *node = c->split.left[i].node;
        cpu[p->n_cpu++] =
            (tc_profile_cpu){.node = node->loc->node ? node->loc->node : tc_ops[node->op].name,
                             .place = node->loc->place,
                             .why = c->split.left[i].why};
    }
    p->cpu = cpu;
}

tc_status ti_profile_made(tc_ctx *ctx, const tc_compiled *c, tc_profile **out)
{
    tc_profile *p = tc_new(&ctx->arena, tc_profile);
    if (c->target.machine->packing == TC_PACKED_C)
        TC_TRY(ti_profile_core(ctx, p, c));
    else
        for (size_t i = 0; i < c->n_region; i++)
            TC_TRY(add_region(ctx, p, c, i));
    set_clock(p, c->asked.board);
    add_cpu(ctx, p, c);
    ti_profile_make_rows(ctx, p);
    *out = p;
    return TC_OK;
}

static tc_status not_known(tc_ctx *ctx, const tc_compiled *c)
{
    return ti_usage(ctx, "costs are known for Ethos-U and Cortex-M targets only, not for '%s'",
                    c->target.text);
}

tc_status ti_profile_of_compiled(tc_ctx *ctx, tc_compiled *c, tc_profile **out)
{
    if (c->target.machine->packing == TC_PACKED_C)
        return ti_profile_made(ctx, c, out);
    if (c->target.machine->packing != TC_PACKED_STREAM)
        return not_known(ctx, c);
    tc_output kind = c->target.core ? TC_OUTPUT_C : TC_OUTPUT_PTE;
    if (c->n_region)
        TC_TRY(ti_make_files(ctx, c, kind, NULL));
    return ti_profile_made(ctx, c, out);
}

/* ---- without a stream ---- */

static tc_status price_region(tc_ctx *ctx, tc_profile *p, const tc_compiled *c, size_t i)
{
    tc_codegen_price e;
    tc_pricer *pricer;
    TC_TRY(ti_pricer_for(ctx, &c->target, c->asked.ethosu.ini, c->asked.ethosu.system_config,
                         c->asked.ethosu.memory_mode, &pricer));
    p->machine = pricer->options.machine;
    p->system = pricer->system;
    ti_codegen_price(ctx, &pricer->options, ti_main(c->region[i].module), &e);
    for (size_t k = 0; k < e.cost.n_op; k++) {
        const tc_node *node = e.node[k];
        add_entry(ctx, p, &e.cost.op[k], c->region[i].times, node, node ? node->loc : NULL);
    }
    const tc_npu_cost all = ti_npu_cost_repeated(&e.cost.total, c->region[i].times);
    ti_npu_cost_add(&p->total, &all);
    p->n_stream++;
    return TC_OK;
}

tc_status ti_profile_of_estimate(tc_ctx *ctx, tc_compiled *c, tc_profile **out)
{
    tc_profile *p = tc_new(&ctx->arena, tc_profile);
    if (c->target.machine->packing == TC_PACKED_C)
        return ti_profile_made(ctx, c, out);
    if (c->target.machine->packing != TC_PACKED_STREAM)
        return not_known(ctx, c);
    p->estimated = true;
    for (size_t i = 0; i < c->n_region; i++)
        TC_TRY(price_region(ctx, p, c, i));
    set_clock(p, c->asked.board);
    add_cpu(ctx, p, c);
    ti_profile_make_rows(ctx, p);
    *out = p;
    return TC_OK;
}
