/* SPDX-License-Identifier: Apache-2.0 */
/* c_loops.c -- elementwise nodes as one loop: each node is a line of scalar arithmetic; for cores
 * with MVE also a vector version on four elements, if every node has such a line. */
#include "c_loop.h"

/* ---- the loop ---- */

/* Axes of extent 1 go; neighbours along which all streams go on evenly become one. */
static void join_axes(tc_c_loop *l)
{
    const tc_type *out = ti_type_of(l->cg->g, l->step->out);
    l->rank = 0;
    for (int i = 0; i < out->rank; i++) {
        if (out->dim[i] == 1)
            continue;
        int k = l->rank;
        bool joins = k > 0;
        for (size_t s = 0; s < l->n_stream && joins; s++)
            joins = l->stream[s].step[k - 1] == l->stream[s].step[i] * out->dim[i];
        k = joins ? k - 1 : l->rank++;
        l->dim[k] = joins ? l->dim[k] * out->dim[i] : out->dim[i];
        for (size_t s = 0; s < l->n_stream; s++)
            l->stream[s].step[k] = l->stream[s].step[i];
    }
}

/* The index of a stream: "i0 * 12 + i1". */
static void put_index(const tc_c_loop *l, const tc_c_stream *s, tc_buf *out)
{
    size_t begin = out->size;
    for (int k = 0; k < l->rank; k++) {
        if (!s->step[k])
            continue;
        ti_buf_printf(out, "%si%d", out->size == begin ? "" : " + ", k);
        if (s->step[k] > 1)
            ti_buf_printf(out, " * %" PRId64, s->step[k]);
    }
    if (out->size == begin)
        ti_buf_text(out, "0");
}

/* A stream's element at the loop's index. */
static void put_element(const tc_c_loop *l, size_t i, tc_buf *out)
{
    const tc_c_stream *s = &l->stream[i];
    bool runs = s->step[l->rank - (l->rank > 0)] != 0;
    if (l->four)
        ti_buf_printf(out, runs ? "tosac_vload_%s(&" : "tosac_vnumber(", s->type);
    ti_buf_printf(out, "p%zu[", i);
    put_index(l, s, out);
    ti_buf_text(out, !l->four ? "]" : runs ? "], lanes)" : "])");
}

/* The body with every "@3@" as that. */
static void put_body(const tc_c_loop *l, const char *body, tc_buf *out)
{
    for (const char *p = body; *p; p++) {
        if (*p != '@') {
            ti_buf_u8(out, (uint8_t)*p);
            continue;
        }
        size_t s = 0;
        for (p++; *p != '@'; p++)
            s = s * 10 + (size_t)(*p - '0');
        put_element(l, s, out);
    }
}

static void put_loop(const tc_c_loop *l, const char *body)
{
    tc_buf *out = &l->m->code;
    int last = l->rank - 1;
    for (int k = 0; k < l->rank; k++)
        ti_buf_printf(out,
                      l->four && k == last
                          ? "        for (size_t i%d = 0; i%d < %" PRId64 "; i%d += 4)%s\n"
                          : "        for (size_t i%d = 0; i%d < %" PRId64 "; i%d++)%s\n",
                      k, k, l->dim[k], k, k == last ? " {" : "");
    if (l->four)
        ti_buf_printf(out, "            mve_pred16_t lanes = vctp32q(%" PRId64 " - i%d);\n",
                      l->dim[last], last);
    put_body(l, body, out);
    if (l->four)
        ti_buf_printf(out, "            tosac_vstore_%s(&p0[", l->stream[0].type);
    else
        ti_buf_text(out, "            p0[");
    put_index(l, &l->stream[0], out);
    if (l->four)
        ti_buf_printf(out, "], t%zu, lanes);\n", l->cg->line[l->step->out]);
    else
        ti_buf_printf(out, "] = (%s)t%zu;\n", l->stream[0].type, l->cg->line[l->step->out]);
    ti_buf_text(out, l->rank ? "        }\n" : "");
}

static bool is_narrow(tc_dtype d) { return d == TC_i8 || d == TC_i16; }

/* A line for each node; returns the one that has none. */
static const tc_node *put_lines(tc_c_loop *l, tc_buf *body)
{
    for (size_t i = 0; i < l->step->n_chain; i++) {
        const tc_node *node = l->step->chain[i];
        tc_dtype d = ti_c_dtype(l, node->out[0]);
        const char *line = ti_c_line_of(l, node);
        if (!line)
            return node;
        bool wraps = is_narrow(d) && !l->four;
        ti_buf_printf(body, "            %s t%zu = ",
                      l->four          ? "tosac_v"
                      : d == TC_i48 ? "int64_t"
                      : d == TC_f32 ? "float"
                                    : "int32_t",
                      i);
        ti_buf_printf(body, wraps ? "(%s)(%s);\n" : "%s%s;\n", wraps ? ti_c_type(d) : "", line);
    }
    return NULL;
}

static bool is_lane(tc_dtype d) { return d != TC_i48 && d != TC_f32; }

/* Whether four neighbours can be loaded at once: of 32 bits at most, contiguous or all equal. */
static bool goes_by_fours(const tc_c_loop *l)
{
    bool fits = l->m->request->core == TC_CORE_MVE && l->rank > 0 && l->dim[l->rank - 1] >= 8;
    for (size_t s = 0; s < l->n_stream && fits; s++)
        fits = l->stream[s].step[l->rank - 1] <= 1 && is_lane(ti_c_dtype(l, l->stream[s].v));
    for (size_t i = 0; i < l->step->n_chain && fits; i++)
        fits = is_lane(ti_c_dtype(l, l->step->chain[i]->out[0]));
    return fits && l->stream[0].step[l->rank - 1] == 1;
}

/* ---- what it takes ---- */

static void count_node(const tc_c_loop *l, const tc_node *node, tc_c_cost *cost, double times)
{
    const tc_machine *machine = l->m->request->machine;
    const tc_attr_tosa_rescale *a = node->attr;
    tc_c_work simple = l->four ? TC_C_WORK_fours_simple : TC_C_WORK_loop_simple, work = simple;
    int64_t shift;
    if (ti_c_is_real(l, node->out[0]) || ti_c_is_real(l, node->in[0])) {
        work = ti_c_calls_libm(node->op) ? TC_C_WORK_real_function : TC_C_WORK_real_line;
    } else if (node->op == TC_OP_tosa_rescale) {
        if (ti_c_dtype(l, node->out[0]) != TC_i32)
            ti_c_work(cost, machine, simple, times);
        if (!ti_c_is_power(l, node, &shift))
            work = l->four && !ti_c_is_number(l, node->in[1]) ? TC_C_WORK_fours_each
                   : l->four                                  ? TC_C_WORK_fours_rescale
                   : a->scale32                               ? TC_C_WORK_loop_rescale
                                                              : TC_C_WORK_loop_wide;
    } else if (node->op == TC_OP_tosa_table && ti_c_dtype(l, node->in[0]) == TC_i8) {
        work = l->four ? TC_C_WORK_fours_table : TC_C_WORK_loop_table;
    } else if (node->op == TC_OP_tosa_table || node->op == TC_OP_tosa_intdiv ||
               (node->op == TC_OP_tosa_mul &&
                !(ti_c_is_number(l, node->in[2]) && !ti_c_const_at(l->cg, node->in[2], 0)))) {
        work = l->four ? TC_C_WORK_fours_wide : TC_C_WORK_loop_wide;
    }
    ti_c_work(cost, machine, work, times);
}

static void count_loop(const tc_c_loop *l)
{
    const tc_machine *machine = l->m->request->machine;
    tc_c_cost *cost = &l->cg->cost[l->step - l->cg->step];
    double rows = 1, each = 1;
    int last = l->rank - 1;
    if (!machine)
        return;
    for (int i = 0; i < last; i++)
        rows *= (double)l->dim[i];
    if (last >= 0)
        each = l->four ? (double)((l->dim[last] + 3) / 4) : (double)l->dim[last];
    ti_c_work(cost, machine, l->four ? TC_C_WORK_fours_call : TC_C_WORK_loop_call, 1);
    ti_c_work(cost, machine, l->four ? TC_C_WORK_fours_row : TC_C_WORK_loop_row, rows);
    ti_c_work(cost, machine, l->four ? TC_C_WORK_fours_element : TC_C_WORK_loop_element,
              rows * each);
    ti_c_work(cost, machine, l->four ? TC_C_WORK_fours_operand : TC_C_WORK_loop_operand,
              rows * each * (double)(l->n_stream - 1));
    for (size_t i = 0; i < l->step->n_chain; i++)
        count_node(l, l->step->chain[i], cost, rows * each);
}

tc_status ti_c_chain(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *step)
{
    tc_c_loop l = {.m = m, .cg = cg, .step = step};
    tc_buf one, four;
    size_t most = 1;
    for (size_t i = 0; i < step->n_chain; i++)
        most += (size_t)step->chain[i]->n_in;
    l.stream = tc_new_n(&m->ctx->arena, tc_c_stream, most);
    ti_buf_init(&one, &m->ctx->arena);
    ti_buf_init(&four, &m->ctx->arena);
    ti_c_stream_of(&l, step->out, false);
    const tc_node *refused = put_lines(&l, &one);
    if (refused)
        return ti_c_refuse(m, refused, "there is no kernel for it");
    l.four = true;
    bool has_four = put_lines(&l, &four) == NULL;
    for (size_t s = 0; s < l.n_stream; s++)
        cg->stream[l.stream[s].v] = 0;
    join_axes(&l);
    for (size_t s = 0; s < l.n_stream; s++)
        ti_buf_printf(&m->code, "        %s%s *p%zu = %s;\n", s ? "const " : "", l.stream[s].type,
                      s, l.stream[s].pointer);
    has_four = has_four && goes_by_fours(&l);
    l.four = has_four;
    count_loop(&l);
    if (has_four) {
        m->used[TC_C_VECTOR] = m->used[TC_C_SIMD] = true;
        ti_buf_text(&m->code, "#if TOSAC_ISA == TOSAC_ISA_MVE\n");
        put_loop(&l, ti_buf_cstr(&four));
        ti_buf_text(&m->code, "#else\n");
    }
    l.four = false;
    put_loop(&l, ti_buf_cstr(&one));
    ti_buf_text(&m->code, has_four ? "#endif\n" : "");
    return TC_OK;
}
