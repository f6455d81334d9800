/* SPDX-License-Identifier: Apache-2.0 */
/* road.c -- see road.h. */
#include "road.h"

const tc_road_row tc_road[] = {
#define LIST(name, passes, doc)
#define WHEN(name, doc)
#define POINT(name, doc) {#name, doc, NULL, NULL},
#define STEP(when, passes) {NULL, NULL, #when, passes},
#include "road.def"
    {0},
};

const tc_road_row tc_road_conditions[TC_WHEN_COUNT] = {
#define LIST(name, passes, doc)
#define WHEN(name, doc) {#name, doc, NULL, NULL},
#define POINT(name, doc)
#define STEP(when, passes)
#include "road.def"
};

bool ti_road_takes(size_t row, const bool holds[TC_WHEN_COUNT])
{
    const bool ALWAYS = true;
#define LIST(name, passes, doc)
#define WHEN(name, doc) const bool name = holds[TC_WHEN_##name];
#define POINT(name, doc)
#define STEP(when, passes)
#include "road.def"
    size_t at = 0;
#define LIST(name, passes, doc)
#define WHEN(name, doc)
#define POINT(name, doc) at++;
#define STEP(when, passes)                                                                         \
    if (row == at++)                                                                               \
        return (when);
#include "road.def"
    return false;
}

/* ---- conditions: what the job says, then what the program is ---- */

typedef bool condition(const tc_job *job, const tc_module *module);

static bool has_floats(const tc_module *module)
{
    const tc_graph *g = ti_main(module);
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_out && g->node[k]->op != TC_OP_const; i++)
            if (ti_is_float(ti_type_of(g, g->node[k]->out[i])->dtype))
                return true;
    return false;
}

static bool has(const tc_job *job, tc_feature feature)
{
    return job->target ? job->target->tosa >> feature & 1u : feature == TC_FEATURE_INT;
}

static tc_packing packing(const tc_job *job)
{
    return job->target ? job->target->machine->packing : TC_PACKED_TOSA;
}

static bool when_CODED(const tc_job *job, const tc_module *m)
{
    (void)job;
    return ti_quant_is_typed(m) && !ti_quant_is_lowered(m);
}

static bool when_LOWERED(const tc_job *job, const tc_module *m)
{
    (void)job;
    return ti_quant_is_lowered(m);
}

static bool when_QDQ(const tc_job *job, const tc_module *m)
{
    (void)job;
    return ti_quant_is_pt2e(m) && !ti_quant_is_lowered(m);
}

static bool is_wanted(const tc_job *job, const tc_module *m)
{
    return job->integers == TC_INTEGERS_ALWAYS ||
           (job->integers == TC_INTEGERS_FOR_FLOATS && has_floats(m));
}

static bool when_INTEGERS(const tc_job *job, const tc_module *m)
{
    return is_wanted(job, m) && !ti_quant_is_pt2e(m) && !ti_quant_is_typed(m) &&
           !ti_quant_is_lowered(m);
}

static bool when_DYNAMIC(const tc_job *job, const tc_module *m)
{
    return is_wanted(job, m) && ti_quant_is_dynamic(m->ctx, m);
}

static bool when_BLOCKS(const tc_job *job, const tc_module *m)
{
    return job->blocks && !ti_quant_is_pt2e(m) && !ti_quant_is_typed(m) && !ti_quant_is_lowered(m);
}

static bool when_OLDER(const tc_job *job, const tc_module *m)
{
    return packing(job) == TC_PACKED_VGF && ti_tosa_minor(m) > 0;
}

static bool when_BRANCHES(const tc_job *job, const tc_module *m)
{
    bool has_if = false;
    for (size_t i = 0; i < m->n_graph; i++)
        for (size_t k = 0; k < m->graph[i]->n_node; k++)
            has_if = has_if || m->graph[i]->node[k]->op == TC_OP_tosa_cond_if;
    return has_if && packing(job) == TC_PACKED_STREAM && !has(job, TC_FEATURE_CF);
}

#define OF_JOB(name, value)                                                                        \
    static bool when_##name(const tc_job *job, const tc_module *m)                                 \
    {                                                                                              \
        (void)m, (void)job;                                                                        \
        return (value);                                                                            \
    }
OF_JOB(ANCHOR, job->config &&job->config->anchor)
OF_JOB(BITS_8, job->config &&job->config->global.act.dtype == TC_i8)
OF_JOB(FRESH, job->fresh)
OF_JOB(CPU, packing(job) == TC_PACKED_NOT)
OF_JOB(TABLES, !job->target || packing(job) != TC_PACKED_NOT)
OF_JOB(FFT, has(job, TC_FEATURE_FFT))
OF_JOB(SELECTS, !job->target || job->target->machine->can.selects)
OF_JOB(DOUBLE, has(job, TC_FEATURE_DOUBLE))
OF_JOB(LOOPS, has(job, TC_FEATURE_CF) && !has(job, TC_FEATURE_FP))
OF_JOB(FREE_MOVES, job->target &&job->target->machine->cost.free_moves)
OF_JOB(HEAD_TILES, !(job->untiled & TC_TILE_HEADS))
OF_JOB(MOVE_TILES, !(job->untiled & TC_TILE_MOVES))
OF_JOB(SHAPES, job->target &&job->target->machine->shapes && has(job, TC_FEATURE_INT))
OF_JOB(CORTEX_M, packing(job) == TC_PACKED_C)
OF_JOB(SAMPLERS, job->samplers)
OF_JOB(STREAM, packing(job) == TC_PACKED_STREAM)

static condition *const conditions[TC_WHEN_COUNT] = {
#define LIST(name, passes, doc)
#define WHEN(name, doc) when_##name,
#define POINT(name, doc)
#define STEP(when, passes)
#include "road.def"
};

bool ti_road_when(int which, const tc_job *job, const tc_module *module)
{
    return conditions[which](job, module);
}

/* ---- running it ---- */

/* What holds for every model that is read. */
static void begin(tc_module *module)
{
    for (size_t i = 0; i < module->n_graph; i++)
        module->graph[i]->facts |= TC_FACT_RICH | TC_FACT_MODEL_INTS;
}

static size_t row_of(tc_point point)
{
    size_t row = 0, points = 0;
    while (!tc_road[row].name || points++ != (size_t)point)
        row++;
    return row;
}

tc_status ti_road_run(tc_ctx *ctx, tc_module *module, tc_point from, tc_point to,
                      const tc_job *job, const tc_trace *trace)
{
    static const tc_job nothing = {0};
    job = job ? job : &nothing;
    if (from == TC_AT_READ)
        begin(module);
    const bool coded = when_CODED(job, module); /* before simulating */
    for (size_t row = row_of(from); row < row_of(to); row++) {
        bool holds[TC_WHEN_COUNT];
        if (tc_road[row].name)
            continue;
        for (size_t i = 0; i < TC_WHEN_COUNT; i++)
            holds[i] = i == TC_WHEN_CODED ? coded : conditions[i](job, module);
        if (ti_road_takes(row, holds))
            TC_TRY(ti_run_list(ctx, module, tc_road[row].passes, job, trace));
    }
    return TC_OK;
}
