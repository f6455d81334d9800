/* SPDX-License-Identifier: Apache-2.0 */
/* c_control.c -- COND_IF, WHILE_LOOP and variables: graphs are functions, variables members of the
 * model's state. */
#include "c_model.h"

/* "name_g2(state, its arena", for operands to follow; that begins at a byte of the scratch. */
static void begin_call(tc_c_model *m, const tc_c_graph *callee, int64_t at)
{
    ti_buf_printf(&m->code, "%s_g%zu(%s%s", m->request->name, callee->number,
                  m->n_variable ? "state, " : "", ti_c_scratch(m, TC_bool, at));
}

static tc_status callee_of(tc_c_model *m, const tc_node *node, int which, tc_c_graph **out)
{
    const tc_graph *g = ti_node_callee(m->module, node, which);
    return g ? ti_c_function(m, g, out) : ti_c_refuse(m, node, "a graph that it runs is missing");
}

tc_status ti_c_cond_if(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    for (int which = 0; which < 2; which++) {
        tc_c_graph *callee;
        TC_TRY(callee_of(m, s->node, which, &callee));
        if (which)
            ti_buf_text(&m->code, "        else\n            ");
        else
            ti_buf_printf(&m->code, "        if (*(%s))\n            ",
                          ti_c_pointer(m, cg, s->node->in[0]));
        begin_call(m, callee, 0);
        for (int i = 1; i < s->node->n_in; i++)
            ti_buf_printf(&m->code, ", %s", ti_c_pointer(m, cg, s->node->in[i]));
        for (int i = 0; i < s->node->n_out; i++)
            ti_buf_printf(&m->code, ", %s", ti_c_pointer(m, cg, s->node->out[i]));
        ti_buf_text(&m->code, ");\n");
    }
    return TC_OK;
}

/* The loop's state is in its results; the body's next values, and the condition, are before the
 * graphs' own arena. */
tc_status ti_c_while_loop(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    const tc_node *node = s->node;
    tc_c_graph *condition, *body;
    TC_TRY(callee_of(m, node, 0, &condition));
    TC_TRY(callee_of(m, node, 1, &body));
    int64_t at = TC_C_ALIGN;
    int64_t *next = tc_new_n(&m->ctx->arena, int64_t, (size_t)node->n_out);
    for (int i = 0; i < node->n_out; i++) {
        size_t bytes = tc_type_bytes(ti_type_of(cg->g, node->out[i]));
        const char *from = ti_c_pointer(m, cg, node->in[i]);
        ti_buf_printf(&m->code, "        memcpy(%s, %s, %zu);\n",
                      ti_c_pointer(m, cg, node->out[i]), from, bytes);
        next[i] = at;
        at += ((int64_t)bytes + TC_C_ALIGN - 1) / TC_C_ALIGN * TC_C_ALIGN;
    }
    ti_buf_text(&m->code, "        for (;;) {\n            ");
    begin_call(m, condition, at);
    for (int i = 0; i < node->n_out; i++)
        ti_buf_printf(&m->code, ", %s", ti_c_pointer(m, cg, node->out[i]));
    const char *holds = ti_c_scratch(m, TC_bool, 0);
    ti_buf_printf(&m->code, ", %s);\n            if (!*%s)\n                break;\n            ",
                  holds, holds);
    begin_call(m, body, at);
    for (int i = 0; i < node->n_out; i++)
        ti_buf_printf(&m->code, ", %s", ti_c_pointer(m, cg, node->out[i]));
    for (int i = 0; i < node->n_out; i++)
        ti_buf_printf(&m->code, ", %s",
                      ti_c_scratch(m, ti_type_of(cg->g, node->out[i])->dtype, next[i]));
    ti_buf_text(&m->code, ");\n");
    for (int i = 0; i < node->n_out; i++)
        ti_buf_printf(&m->code, "            memcpy(%s, %s, %zu);\n",
                      ti_c_pointer(m, cg, node->out[i]),
                      ti_c_scratch(m, ti_type_of(cg->g, node->out[i])->dtype, next[i]),
                      tc_type_bytes(ti_type_of(cg->g, node->out[i])));
    ti_buf_text(&m->code, "        }\n");
    return TC_OK;
}

tc_status ti_c_variable_read(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    const tc_attr_tosa_variable *a = s->node->attr;
    size_t v = ti_c_variable_of(m, a->name);
    ti_buf_printf(&m->code, "        memcpy(%s, state->v%zu, sizeof state->v%zu);\n",
                  ti_c_pointer(m, cg, s->out), v, v);
    return TC_OK;
}

tc_status ti_c_variable_write(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    const tc_attr_tosa_variable *a = s->node->attr;
    size_t v = ti_c_variable_of(m, a->name);
    ti_buf_printf(&m->code, "        memcpy(state->v%zu, %s, sizeof state->v%zu);\n", v,
                  ti_c_pointer(m, cg, s->node->in[0]), v);
    return TC_OK;
}
