/* SPDX-License-Identifier: Apache-2.0 */
/* profile_streams.c -- the cost of command streams, by operation and by location in the model. */
#include "../cost/profile.h"

#include "../npu/vela_map.h"
#include "../read/read.h"
#include "../wire/file.h"
#include "board.h"
#include "output_files.h"
#include "own_backend.h"
#include "price.h"
#include "profile_core.h"

#include <unistd.h>

/* ---- where operations come from ---- */

typedef struct origin {
    const tc_codegen_result *own; /* of a stream of ours; else: */
    const tc_vela_map *map;       /* NULL: not known */
    const tc_graph *file;   /* the TOSA file's operators, in its order; or NULL */
    const tc_graph *region; /* the same with the model's nodes, where there is a model; or NULL */
} origin;

/* The region's nodes are the file's operators, one by one, or they are not used. */
static const tc_graph *same_nodes(const tc_graph *region, const tc_graph *file)
{
    if (!region || !file || region->n_node != file->n_node)
        return NULL;
    for (size_t i = 0; i < file->n_node; i++)
        if (region->node[i]->op != file->node[i]->op)
            return NULL;
    return region;
}

static const tc_node *node_of(const origin *o, size_t word)
{
    if (o->own)
        return ti_own_node(o->own, word);
    int64_t i = o->map ? ti_vela_map_operator(o->map, word) : -1;
    const tc_graph *g = o->region ? o->region : o->file;
    return i >= 0 && g && (size_t)i < g->n_node ? g->node[i] : NULL;
}

static origin origin_of(tc_ctx *ctx, tc_bytes notes, const char *name, tc_bytes tosa,
                        const tc_graph *region)
{
    origin o = {.map = notes.size ? ti_vela_map_read(&ctx->arena, notes) : NULL};
    tc_module *module;
    if (o.map && tosa.size && ti_read_tosa(ctx, name, tosa, &module) == TC_OK)
        o.file = ti_main(module);
    o.region = same_nodes(region, o.file);
    return o;
}

/* ---- a stream ---- */

/* TOSA's name of an operator: "conv2d". */
static const char *tosa_name(const tc_node *node)
{
    const char *name = tc_ops[node->op].name;
    return strncmp(name, "tosa_", 5) == 0 ? name + 5 : name;
}

static void add_entry(tc_ctx *ctx, tc_profile *p, const tc_npu_op_cost *op, const tc_node *node,
                      const tc_loc *loc)
{
    tc_grow(&ctx->arena, p->entry, p->n_entry, p->cap_entry);
    p->entry[p->n_entry++] = (tc_profile_entry){.stream = p->n_stream,
                                                .word = op->at,
                                                .name = op->name,
                                                .op = node ? tosa_name(node) : NULL,
                                                .loc = loc,
                                                .cause = op->cause,
                                                .wait = op->wait,
                                                .cost = op->cost};
    p->lines = p->lines || (loc && loc->place);
}

static tc_status add_stream(tc_ctx *ctx, tc_profile *p, const tc_stream *s, const origin *o,
                            const tc_profile_options *options)
{
    tc_npu_stream_cost cost;
    TC_TRY(ti_stream_cost(ctx, s, options->vela_ini, options->system_config, options->memory_mode,
                          &p->system, &cost));
    if (p->machine && p->machine != s->program.machine)
        return ti_unsupported(ctx, s->loc, TC_E_UNSUPPORTED,
                              "the file has streams of different machines: %s, %s",
                              p->machine->name, s->program.machine->name);
    p->machine = s->program.machine;
    for (size_t i = 0; i < cost.n_op; i++) {
        const tc_npu_op_cost *op = &cost.op[i];
        const tc_node *node = node_of(o, op->at);
        add_entry(ctx, p, op, node, node ? node->loc : ti_stream_loc(s, op->at));
    }
    ti_npu_cost_add(&p->total, &cost.total);
    p->n_stream++;
    return TC_OK;
}

/* ---- a file ---- */

static tc_bytes beside(tc_ctx *ctx, const char *path)
{
    tc_bytes bytes = {0};
    if (access(path, R_OK) != 0 || ti_file_read(ctx, path, &bytes) != TC_OK)
        return (tc_bytes){0};
    return bytes;
}

/* X_vela.npz has X_debug.xml beside it, and X.tosa there or in the folder above. */
static origin find_origin(tc_ctx *ctx, const char *path)
{
    static const char tail[] = "_vela.npz";
    if (!ti_text_ends(path, tail))
        return (origin){0};
    int n = (int)(strlen(path) - (sizeof tail - 1));
    const char *name = ti_path_last(path);
    int folder = (int)(name - path);
    tc_bytes notes = beside(ctx, ti_text_format(&ctx->arena, "%.*s_debug.xml", n, path));
    const char *file = ti_text_format(&ctx->arena, "%.*s.tosa", n, path);
    tc_bytes tosa = beside(ctx, file);
    if (!tosa.size) {
        file = ti_text_format(&ctx->arena, "%.*s../%.*s.tosa", folder, path, n - folder, name);
        tosa = beside(ctx, file);
    }
    return origin_of(ctx, notes, file, tosa, NULL);
}

/* The board's machine may be quicker or slower than that of the system description. */
static void set_clock(tc_profile *p, const tc_board *board)
{
    double clock = !board ? 0 : p->core.title ? board->core_clock : board->npu_clock;
    p->system.clock = clock > 0 ? clock : p->system.clock;
}

/* What is not said of the system is the board's. */
static tc_status take_board(tc_ctx *ctx, tc_profile_options *o, tc_board *board)
{
    TC_TRY(ti_board_find(ctx, o->board, board));
    if (!o->vela_ini && !o->system_config) {
        o->vela_ini = board->ini;
        o->system_config = board->system_config;
    }
    o->memory_mode = o->memory_mode ? o->memory_mode : board->memory_mode;
    return TC_OK;
}

tc_status ti_profile_of_file(tc_ctx *ctx, const char *path, const tc_profile_options *options,
                              tc_profile **out)
{
    tc_profile *p = tc_new(&ctx->arena, tc_profile);
    tc_profile_options own = *options, *o = &own;
    tc_board board;
    tc_bytes bytes;
    tc_stream *stream;
    size_t n = 0;
    if (o->board)
        TC_TRY(take_board(ctx, o, &board));
    TC_TRY(ti_file_read(ctx, path, &bytes));
    if (ti_streams_in(bytes))
        TC_TRY(ti_streams_read(ctx, path, bytes, &stream, &n));
    if (!n && !o->etdump)
        return ti_usage(ctx, "%s has no Ethos-U command stream; a model is compiled for a target (-t)", path);
    origin from = find_origin(ctx, path);
    for (size_t i = 0; i < n; i++)
        if (!o->method || (stream[i].method && ti_text_eq(stream[i].method, o->method)))
            TC_TRY(add_stream(ctx, p, &stream[i], &from, o));
    if (!p->n_stream && !o->etdump)
        return ti_usage(ctx, "%s has no command stream in a method '%s'", path, o->method);
    set_clock(p, o->board ? &board : NULL);
    ti_profile_make_rows(ctx, p);
    if (o->etdump)
        TC_TRY(ti_profile_measured(ctx, p, path, bytes, o));
    *out = p;
    return TC_OK;
}

/* ---- a compiled model ---- */

static tc_status add_region(tc_ctx *ctx, tc_profile *p, const tc_compiled *c, size_t i)
{
    const tc_ethosu_job *job = &c->jobs[i];
    tc_loc *loc = tc_new(&ctx->arena, tc_loc);
    tc_stream s = {.name = c->region[i].name, .loc = loc};
    loc->file = s.name;
    TC_TRY(ti_npu_read_backend(ctx, loc, job->payload, &s.program));
    s.program.fast = job->fast_scratch;
    origin from =
        job->own ? (origin){.own = c->region[i].own}
                 : origin_of(ctx, job->notes, s.name, job->tosa, ti_main(c->region[i].module));
    tc_profile_options o = {.vela_ini = c->ethosu.ini,
                            .system_config = c->ethosu.system_config,
                            .memory_mode = c->ethosu.memory_mode};
    return add_stream(ctx, p, &s, &from, &o);
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
    set_clock(p, c->board);
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
    bool before = c->ethosu.notes, vela = false;
    for (size_t i = 0; c->jobs && i < c->n_region; i++)
        vela = vela || !c->jobs[i].own;
    if (!before && vela)
        c->payload = NULL; /* Vela is asked again, now for its notes */
    c->ethosu.notes = true;
    tc_output kind = c->target.core ? TC_OUTPUT_C : TC_OUTPUT_PTE;
    tc_status status = c->n_region ? ti_make_files(ctx, c, kind, NULL) : TC_OK;
    c->ethosu.notes = before;
    TC_TRY(status);
    return ti_profile_made(ctx, c, out);
}

/* ---- without a stream ---- */

static tc_status price_region(tc_ctx *ctx, tc_profile *p, const tc_compiled *c, size_t i)
{
    tc_codegen_price e;
    tc_pricer *pricer;
    TC_TRY(ti_pricer_for(ctx, &c->target, c->ethosu.ini, c->ethosu.system_config,
                         c->ethosu.memory_mode, &pricer));
    p->machine = pricer->options.machine;
    p->system = pricer->system;
    ti_codegen_price(ctx, &pricer->options, ti_main(c->region[i].module), &e);
    for (size_t k = 0; k < e.cost.n_op; k++) {
        const tc_node *node = e.node[k];
        add_entry(ctx, p, &e.cost.op[k], node, node ? node->loc : NULL);
    }
    ti_npu_cost_add(&p->total, &e.cost.total);
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
    set_clock(p, c->board);
    add_cpu(ctx, p, c);
    ti_profile_make_rows(ctx, p);
    *out = p;
    return TC_OK;
}
