/* SPDX-License-Identifier: Apache-2.0 */
/* c_npu.c -- a region of an Ethos-U: its stream and weights in flash, its scratch in the arena.
 *
 * Operands and results that the planner could put where the stream has them are read and written
 * there; others are copied. */
#include "c_model.h"

const tc_c_npu *ti_c_npu_of(const tc_c_model *m, const tc_node *node)
{
    if (node->op != TC_OP_call || ti_c_is_library(node))
        return NULL;
    size_t i = 0;
    while (!ti_text_eq(m->request->npu[i].graph, ((const tc_attr_call *)node->attr)->graph))
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

tc_status ti_c_npu(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    const tc_c_npu *npu = ti_c_npu_of(m, s->node);
    size_t number = (size_t)(npu - m->request->npu);
    m->used[TC_C_NPU] = true;
    const char *stream = put_bytes(m, "stream", number, npu->stream);
    const char *weights = put_bytes(m, "weights", number, npu->weights);
    ti_buf_printf(&m->code,
                  "        static const tosac_npu_job job = {\n"
                  "            .stream = %s, .stream_bytes = %zu, .weights = %s, .weight_bytes = "
                  "%zu,\n            .scratch_bytes = %" PRId64 ", .fast_bytes = %" PRId64 "};\n",
                  stream, npu->stream.size, weights, npu->weights.size, npu->scratch, npu->fast);
    for (int i = 0; i < s->node->n_in; i++)
        put_copy(m, cg, s->node->in[i], s->scratch_at + npu->in[i], false);
    ti_buf_printf(&m->code,
                  "        int status = tosac_npu_run(&job, arena + %" PRId64 ");\n"
                  "        if (status != 0)\n            return status;\n",
                  s->scratch_at);
    for (int i = 0; i < s->node->n_out; i++)
        put_copy(m, cg, s->node->out[i], s->scratch_at + npu->out[i], true);
    return TC_OK;
}
