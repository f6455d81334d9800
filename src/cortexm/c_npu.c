/* SPDX-License-Identifier: Apache-2.0 */
/* c_npu.c -- a region of an Ethos-U: its stream and weights in flash, its scratch in the arena.
 *
 * Operands and results that the planner could put where the stream has them are read and written
 * there; others are copied. */
#include "c_model.h"

const tc_c_npu *ti_c_npu_of(const tc_c_model *m, const tc_node *node)
{
    const char *graph = ti_region_run_by(node);
    if (!graph || ti_c_is_library(node))
        return NULL;
    size_t i = 0;
    while (!ti_text_eq(m->request->npu[i].graph, graph))
        i++;
    return &m->request->npu[i];
}

/* A constant for the Ethos-U; its name, or "NULL". */
static const char *put_bytes(tc_c_model *m, const char *what, size_t number, tc_bytes bytes)
{
    if (!bytes.size)
        return "NULL";
    const char *name = ti_text_format(&m->ctx->arena, "%s_%s%zu", m->request->name, what, number);
    ti_buf_printf(&m->constants, "TOSAC_NPU_CONST static const _Alignas(%d) uint8_t %s[%zu] = {",
                  TC_C_ALIGN, name, bytes.size);
    for (size_t i = 0; i < bytes.size; i++)
        ti_buf_printf(&m->constants, "%s%d,", i % 32 ? "" : "\n    ", bytes.data[i]);
    ti_buf_text(&m->constants, "\n};\n");
    m->constant_bytes += bytes.size;
    return name;
}

/* Nothing if the value is in the scratch. */
static void put_copy(tc_c_model *m, const tc_c_graph *cg, tc_val v, int64_t at, bool result)
{
    const tc_c_place *p = &cg->place[cg->place[v].root];
    size_t bytes = tc_type_bytes(ti_type_of(cg->g, v));
    if (p->home == TC_C_ARENA && p->at == (size_t)at)
        return;
    const char *value = ti_c_pointer(m, cg, v);
    if (result)
        ti_buf_printf(&m->code, "        memcpy(%s, arena + %" PRId64 ", %zu);\n", value, at, bytes);
    else
        ti_buf_printf(&m->code, "        memcpy(arena + %" PRId64 ", %s, %zu);\n", at, value, bytes);
}

/* The run itself, after the job. */
static void put_run(tc_c_model *m, const tc_c_step *s, const char *indent)
{
    ti_buf_printf(&m->code,
                  "%sint status = tosac_npu_run(&job, arena + %" PRId64 ");\n"
                  "%sif (status != 0)\n%s    return status;\n",
                  indent, s->scratch_at, indent, indent);
}

static void put_job(tc_c_model *m, const tc_c_npu *npu)
{
    size_t number = (size_t)(npu - m->request->npu);
    m->used[TC_C_NPU] = true;
    const char *stream = put_bytes(m, "stream", number, npu->stream);
    const char *weights = put_bytes(m, "weights", number, npu->weights);
    ti_buf_printf(&m->code,
                  "        static const tosac_npu_job job = {\n"
                  "            .stream = %s, .stream_bytes = %zu, .weights = %s, .weight_bytes = "
                  "%zu,\n            .scratch_bytes = %" PRId64 ", .fast_bytes = %" PRId64 "};\n",
                  stream, npu->stream.size, weights, npu->weights.size, npu->scratch, npu->fast);
}

/* How far into it the part of time t begins; "": it is all of it. */
static const char *part_text(const tc_c_model *m, int64_t move, int64_t times, size_t bytes)
{
    return !move      ? ""
           : move > 0 ? ti_text_format(&m->ctx->arena, " + t * %zu", bytes)
                      : ti_text_format(&m->ctx->arena, " + (%" PRId64 " - t) * %zu", times - 1, bytes);
}

static size_t part_bytes(const tc_c_graph *cg, tc_val v, int64_t move, int64_t times)
{
    return tc_type_bytes(ti_type_of(cg->g, v)) / (size_t)(move ? times : 1);
}

/* What the step is given before it runs: at first, or every time. */
static void put_given(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s, const tc_c_npu *npu, bool first)
{
    const tc_attr_call_times *a = s->node->attr;
    for (int i = 0; i < s->node->n_in; i++) {
        tc_val v = s->node->in[i];
        bool carried = a->carried.v[i] >= 0;
        size_t bytes = part_bytes(cg, v, a->moves.v[i], a->times);
        if (carried != first)
            continue;
        ti_buf_printf(&m->code, "%smemcpy(arena + %" PRId64 ", (const uint8_t *)(%s)%s, %zu);\n",
                      first ? "        " : "            ", s->scratch_at + npu->in[i],
                      ti_c_pointer(m, cg, v), part_text(m, a->moves.v[i], a->times, bytes), bytes);
    }
}

/* Somebody outside reads the result, or the next time does. */
static bool is_kept(const tc_graph *g, const tc_node *node, int result)
{
    const tc_attr_call_times *a = node->attr;
    bool kept = ti_graph_gives(g, node->out[result]);
    for (int i = 0; i < node->n_in; i++)
        kept = kept || a->carried.v[i] == result;
    for (size_t k = 0; k < g->n_node && !kept; k++)
        for (int i = 0; i < g->node[k]->n_in; i++)
            kept = kept || g->node[k]->in[i] == node->out[result];
    return kept;
}

/* What the step has given, and then what it is given of that the next time: where the stream has one
 * state before it, it may have another after it. */
static void put_gained(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s, const tc_c_npu *npu)
{
    const tc_attr_call_times *a = s->node->attr;
    for (int i = 0; i < s->node->n_out; i++) {
        tc_val v = s->node->out[i];
        size_t bytes = part_bytes(cg, v, a->gives.v[i], a->times);
        if (is_kept(cg->g, s->node, i))
            ti_buf_printf(&m->code, "            memcpy((uint8_t *)(%s)%s, arena + %" PRId64 ", %zu);\n",
                          ti_c_pointer(m, cg, v), part_text(m, a->gives.v[i], a->times, bytes),
                          s->scratch_at + npu->out[i], bytes);
    }
    for (int i = 0; i < s->node->n_in; i++) {
        int64_t from = a->carried.v[i];
        if (from < 0)
            continue;
        tc_val v = s->node->out[from];
        size_t bytes = part_bytes(cg, v, a->gives.v[from], a->times);
        ti_buf_printf(&m->code, "            memcpy(arena + %" PRId64 ", (const uint8_t *)(%s)%s, %zu);\n",
                      s->scratch_at + npu->in[i], ti_c_pointer(m, cg, v),
                      part_text(m, a->gives.v[from], a->times, bytes), bytes);
    }
}

/* The stream may write over what it has read: all that does not come from the step before is given
 * again every time. */
tc_status ti_c_npu_repeat(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    const tc_c_npu *npu = ti_c_npu_of(m, s->node);
    put_job(m, npu);
    put_given(m, cg, s, npu, true);
    ti_buf_printf(&m->code, "        for (int t = 0; t < %" PRId64 "; t++) {\n",
                  ((const tc_attr_call_times *)s->node->attr)->times);
    put_given(m, cg, s, npu, false);
    put_run(m, s, "            ");
    put_gained(m, cg, s, npu);
    ti_buf_text(&m->code, "        }\n");
    return TC_OK;
}

tc_status ti_c_npu(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    const tc_c_npu *npu = ti_c_npu_of(m, s->node);
    put_job(m, npu);
    for (int i = 0; i < s->node->n_in; i++)
        put_copy(m, cg, s->node->in[i], s->scratch_at + npu->in[i], false);
    put_run(m, s, "        ");
    for (int i = 0; i < s->node->n_out; i++)
        put_copy(m, cg, s->node->out[i], s->scratch_at + npu->out[i], true);
    return TC_OK;
}
