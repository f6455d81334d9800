/* SPDX-License-Identifier: Apache-2.0 */
/* c_text.c -- the text of all steps: each is written once with holes for addresses, then
 * instantiated.
 *
 * Steps that repeat (c_runs.c) are a loop; what varies between iterations is a formula of the
 * counter, or a column of a table.  A form that is used several times is a function. */
#include "c_model.h"

#include <ctype.h>
#include <stdlib.h>

static const struct {
    tc_op op;
    tc_c_writer *write;
} writers[] = {
    {TC_OP_tosa_conv2d, ti_c_conv},
    {TC_OP_tosa_conv3d, ti_c_conv},
    {TC_OP_tosa_depthwise_conv2d, ti_c_conv},
    {TC_OP_tosa_transpose_conv2d, ti_c_conv},
    {TC_OP_tosa_matmul, ti_c_matmul},
    {TC_OP_tosa_avg_pool2d, ti_c_pool},
    {TC_OP_tosa_max_pool2d, ti_c_pool},
    {TC_OP_tosa_reduce_sum, ti_c_reduce},
    {TC_OP_tosa_reduce_max, ti_c_reduce},
    {TC_OP_tosa_reduce_min, ti_c_reduce},
    {TC_OP_tosa_reduce_all, ti_c_reduce},
    {TC_OP_tosa_reduce_any, ti_c_reduce},
    {TC_OP_tosa_reduce_product, ti_c_reduce},
    {TC_OP_tosa_argmax, ti_c_argmax},
    {TC_OP_tosa_concat, ti_c_concat},
    {TC_OP_tosa_pad, ti_c_pad},
    {TC_OP_tosa_reverse, ti_c_reverse},
    {TC_OP_tosa_slice, ti_c_slice},
    {TC_OP_tosa_tile, ti_c_tile},
    {TC_OP_tosa_transpose, ti_c_transpose},
    {TC_OP_tosa_gather, ti_c_gather},
    {TC_OP_tosa_scatter, ti_c_scatter},
    {TC_OP_tosa_resize, ti_c_resize},
    {TC_OP_tosa_cond_if, ti_c_cond_if},
    {TC_OP_tosa_while_loop, ti_c_while_loop},
    {TC_OP_tosa_variable_read, ti_c_variable_read},
    {TC_OP_tosa_variable_write, ti_c_variable_write},
    {TC_OP_call, ti_c_npu},
    {TC_OP_call_times, ti_c_npu_repeat},
};

/* NULL: there is none. */
static tc_c_writer *writer_of(const tc_c_step *s)
{
    if (s->n_chain)
        return ti_c_chain;
    if (ti_c_is_library(s->node))
        return ti_c_library;
    if (s->transform || s->made)
        return ti_c_transform;
    for (size_t i = 0; i < TC_COUNT(writers); i++)
        if (writers[i].op == s->node->op)
            return writers[i].write;
    return NULL;
}

/* ---- forms ---- */

/* The form of a text with the step's holes: the one that it has, or a new one. */
static tc_c_form *form_of(tc_c_model *m, const tc_c_step *s, const char *text)
{
    tc_buf key;
    ti_buf_init(&key, &m->ctx->arena);
    ti_buf_text(&key, text);
    for (size_t i = 0; i < s->n_hole; i++)
        ti_buf_printf(&key, "%d %d,", s->hole[i].dtype, s->hole[i].written);
    void **slot = ti_map_at(&m->form, (tc_str){(const char *)key.data, key.size});
    if (!*slot) {
        tc_c_form *form = *slot = tc_new(&m->ctx->arena, tc_c_form);
        form->text = text;
    }
    return *slot;
}

static tc_status render(tc_c_model *m, tc_c_graph *cg, tc_c_step *s)
{
    tc_c_writer *write = writer_of(s);
    tc_buf all = m->code;
    if (!write)
        return ti_c_refuse(m, s->node, "there is no kernel for it");
    ti_buf_init(&m->code, &m->ctx->arena);
    m->now = s;
    m->n_hole = m->cap_hole = 0;
    ti_c_count(m, cg, s);
    tc_status status = write(m, cg, s);
    const char *text = ti_buf_cstr(&m->code);
    m->code = all;
    s->hole = m->hole;
    s->n_hole = m->n_hole;
    s->form = form_of(m, s, text);
    return status;
}

static tc_c_place home_of(const tc_c_graph *cg, const tc_c_hole *hole)
{
    return hole->root ? cg->place[hole->root] : (tc_c_place){.home = TC_C_ARENA};
}

/* What steps must share to be one step of a loop: the form, and for each hole the home. */
static size_t key_of(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    tc_buf key;
    ti_buf_init(&key, &m->ctx->arena);
    ti_buf_put(&key, &s->form, sizeof(tc_c_form *));
    for (size_t i = 0; i < s->n_hole; i++) {
        tc_c_place p = home_of(cg, &s->hole[i]);
        ti_buf_printf(&key, "%d %zu,", p.home, p.home == TC_C_ARENA ? 0 : p.at);
    }
    void **slot = ti_map_at(&m->key, (tc_str){(const char *)key.data, key.size});
    if (!*slot)
        *slot = (void *)(uintptr_t)m->key.n;
    return (size_t)(uintptr_t)*slot;
}

/* What an Ethos-U's stream copies depends on addresses: it is written when there are some, and never repeats. */
static bool is_late(const tc_c_model *m, const tc_c_step *s) { return ti_c_npu_of(m, s->node); }

tc_status ti_c_render(tc_c_model *m, tc_c_graph *cg)
{
    size_t *key = tc_new_n(&m->ctx->arena, size_t, cg->n_step);
    for (size_t k = 0; k < cg->n_step; k++) {
        tc_c_step *s = &cg->step[k];
        key[k] = SIZE_MAX - k;
        if (is_late(m, s))
            continue;
        TC_TRY(render(m, cg, s));
        key[k] = key_of(m, cg, s);
    }
    cg->run = tc_new_n(&m->ctx->arena, tc_c_run, cg->n_step);
    cg->n_run = ti_c_runs(key, cg->n_step, cg->run);
    for (size_t i = 0; i < cg->n_run; i++)
        for (size_t k = 0; k < cg->run[i].period; k++) {
            tc_c_form *form = cg->step[cg->run[i].first + k].form;
            if (form)
                form->n_site++;
        }
    return TC_OK;
}

/* ---- addresses ---- */

/* Byte of the arena, or element of an input or output. */
static int64_t address_of(const tc_c_graph *cg, const tc_c_step *s, const tc_c_hole *hole)
{
    tc_c_place p = home_of(cg, hole);
    if (p.home == TC_C_ARENA)
        return hole->offset + (hole->root ? (int64_t)p.at : s->scratch_at);
    return hole->offset / (int64_t)tc_dtypes[hole->dtype].bytes;
}

/* The hole's address, `at` of its home. */
static void put_place(const tc_c_graph *cg, const tc_c_hole *hole, const char *at, tc_buf *out)
{
    tc_c_place p = home_of(cg, hole);
    const char *port = p.home == TC_C_INPUT ? "input" : "output";
    if (p.home == TC_C_ARENA)
        ti_buf_printf(out, "(%s *)(void *)(arena + %s)", ti_c_type(hole->dtype), at);
    else if (ti_text_eq(at, "0"))
        ti_buf_printf(out, "%s_%zu", port, p.at);
    else
        ti_buf_printf(out, "(%s_%zu + %s)", port, p.at, at);
}

/* The same for a step that is there once. */
static const char *place_of(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s,
                            const tc_c_hole *hole)
{
    tc_buf text;
    ti_buf_init(&text, &m->ctx->arena);
    put_place(cg, hole, ti_text_format(&m->ctx->arena, "%" PRId64, address_of(cg, s, hole)), &text);
    return ti_buf_cstr(&text);
}

/* ---- one step ---- */

/* Where the node comes from, as far as a comment takes it. */
static const char *origin_of(const tc_c_model *m, const tc_node *node)
{
    char *text = ti_text_format(&m->ctx->arena, "%.60s", node->loc->node ? node->loc->node : "");
    for (char *p = text; *p; p++)
        *p = isalnum((unsigned char)*p) || strchr("._-/ ", *p) ? *p : '_';
    return text;
}

/* The text with its holes filled. */
static void put_filled(const char *text, const char *const *place, tc_buf *out)
{
    for (const char *p = text; *p; p++) {
        if (*p != *TC_C_HOLE) {
            ti_buf_u8(out, (uint8_t)*p);
            continue;
        }
        char *end;
        ti_buf_text(out, place[strtoull(p + 1, &end, 10)]);
        p = end;
    }
}

/* The step in the text of a function: its form's, or a call of that. */
static void put_step(tc_c_model *m, const tc_c_step *s, const char *const *place, tc_buf *out)
{
    const char *op = tc_ops[s->node->op].name;
    ti_buf_printf(out, "    { // %s %s\n", op + (tc_ops[s->node->op].tosa ? strlen("tosa.") : 0),
                  origin_of(m, s->node));
    if (s->form->function) {
        ti_buf_printf(out, "        %s_f%zu(", m->request->name, s->form->function);
        for (size_t i = 0; i < s->n_hole; i++)
            ti_buf_printf(out, "%s%s", i ? ", " : "", place[i]);
        ti_buf_text(out, ");\n");
    } else {
        put_filled(s->form->text, place, out);
    }
    ti_buf_text(out, "    }\n");
}

static void put_once(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    const char **place = tc_new_n(&m->ctx->arena, const char *, s->n_hole);
    for (size_t i = 0; i < s->n_hole; i++)
        place[i] = place_of(m, cg, s, &s->hole[i]);
    put_step(m, s, place, &m->code);
}

/* ---- steps that repeat ---- */

typedef struct repetition {
    tc_c_model *m;
    const tc_c_graph *cg;
    const tc_c_run *run;
    int64_t **column; /* of the table: an address for each iteration */
    size_t n_column;
} repetition;

/* "48 + 16 * n", "(n & 1 ? 32 : 0)"; NULL: no formula fits. */
static const char *formula_of(const tc_c_model *m, const int64_t *at, size_t times)
{
    int64_t step = at[1] - at[0];
    bool even = true, other = times > 2;
    for (size_t n = 1; n < times; n++) {
        even = even && at[n] - at[n - 1] == step;
        other = other && at[n] == at[n & 1];
    }
    tc_arena *arena = &m->ctx->arena;
    if (even)
        return step == 0 ? ti_text_format(arena, "%" PRId64, at[0])
                         : ti_text_format(arena, "%" PRId64 " %c %" PRId64 " * n", at[0],
                                          step < 0 ? '-' : '+', step < 0 ? -step : step);
    return other ? ti_text_format(arena, "(n & 1 ? %" PRId64 " : %" PRId64 ")", at[1], at[0]) : NULL;
}

/* The table's column with these values. */
static const char *column_of(repetition *r, int64_t *at)
{
    size_t i = 0;
    while (i < r->n_column && memcmp(r->column[i], at, r->run->times * sizeof *at) != 0)
        i++;
    if (i == r->n_column)
        r->column[r->n_column++] = at;
    return ti_text_format(&r->m->ctx->arena, "at[n][%zu]", i);
}

static const char *place_in_loop(repetition *r, size_t k, size_t hole)
{
    const tc_c_step *step = &r->cg->step[r->run->first + k];
    int64_t *at = tc_new_n(&r->m->ctx->arena, int64_t, r->run->times);
    for (size_t n = 0; n < r->run->times; n++) {
        const tc_c_step *s = step + n * r->run->period;
        at[n] = address_of(r->cg, s, &s->hole[hole]);
    }
    const char *text = formula_of(r->m, at, r->run->times);
    tc_buf out;
    ti_buf_init(&out, &r->m->ctx->arena);
    put_place(r->cg, &step->hole[hole], text ? text : column_of(r, at), &out);
    return ti_buf_cstr(&out);
}

static void put_table(const repetition *r)
{
    tc_buf *out = &r->m->code;
    int64_t most = 0;
    for (size_t c = 0; c < r->n_column; c++)
        for (size_t n = 0; n < r->run->times; n++)
            most = ti_max_i64(most, r->column[c][n]);
    int bits = most > UINT16_MAX ? 32 : 16;
    ti_buf_printf(out, "        static const uint%d_t at[%zu][%zu] = {\n", bits, r->run->times,
                  r->n_column);
    for (size_t n = 0; n < r->run->times; n++) {
        ti_buf_text(out, "            {");
        for (size_t c = 0; c < r->n_column; c++)
            ti_buf_printf(out, "%s%" PRId64, c ? ", " : "", r->column[c][n]);
        ti_buf_text(out, "},\n");
    }
    ti_buf_text(out, "        };\n");
    r->m->table_bytes += r->run->times * r->n_column * (size_t)bits / 8;
}

/* The body of a loop: further in, but for what the preprocessor reads. */
static void put_inside(tc_buf *out, const tc_buf *body)
{
    for (size_t i = 0; i < body->size; i++) {
        bool begins = !i || body->data[i - 1] == '\n';
        if (begins && body->data[i] != '#')
            ti_buf_text(out, "        ");
        ti_buf_u8(out, body->data[i]);
    }
}

static void put_run(tc_c_model *m, const tc_c_graph *cg, const tc_c_run *run)
{
    size_t holes = 0;
    tc_buf body;
    for (size_t k = 0; k < run->period; k++)
        holes += cg->step[run->first + k].n_hole;
    repetition r = {m, cg, run, tc_new_n(&m->ctx->arena, int64_t *, holes), 0};
    ti_buf_init(&body, &m->ctx->arena);
    for (size_t k = 0; k < run->period; k++) {
        const tc_c_step *s = &cg->step[run->first + k];
        const char **place = tc_new_n(&m->ctx->arena, const char *, s->n_hole);
        for (size_t i = 0; i < s->n_hole; i++)
            place[i] = place_in_loop(&r, k, i);
        put_step(m, s, place, &body);
    }
    ti_buf_printf(&m->code, "    { // %zu times %zu step%s\n", run->times, run->period,
                  run->period == 1 ? "" : "s");
    if (r.n_column)
        put_table(&r);
    ti_buf_printf(&m->code, "        for (size_t n = 0; n < %zu; n++) {\n", run->times);
    put_inside(&m->code, &body);
    ti_buf_text(&m->code, "        }\n    }\n");
}

/* ---- functions ---- */

/* A call must be shorter than what it calls; what may end the program's function stays in it. */
static bool is_worth_a_call(const tc_c_step *s)
{
    size_t lines = 0;
    for (const char *p = s->form->text; *p; p++)
        lines += *p == '\n';
    bool inside = tc_ops[s->node->op].traits & T_CONTROL ||
                  s->node->op == TC_OP_tosa_variable_read ||
                  s->node->op == TC_OP_tosa_variable_write;
    return !inside && lines > 1 && lines > s->n_hole;
}

static void put_function(tc_c_model *m, const tc_c_step *s)
{
    const char **place = tc_new_n(&m->ctx->arena, const char *, s->n_hole);
    ti_buf_printf(&m->code, "\nstatic void %s_f%zu(", m->request->name, s->form->function);
    for (size_t i = 0; i < s->n_hole; i++) {
        place[i] = ti_text_format(&m->ctx->arena, "a%zu", i);
        ti_buf_printf(&m->code, "%s%s%s *%s", i ? ", " : "", s->hole[i].written ? "" : "const ",
                      ti_c_type(s->hole[i].dtype), place[i]);
    }
    ti_buf_text(&m->code, s->n_hole ? ")\n{\n" : "void)\n{\n");
    put_filled(s->form->text, place, &m->code);
    ti_buf_text(&m->code, "}\n");
}

void ti_c_put_functions(tc_c_model *m, const tc_c_graph *cg)
{
    for (size_t i = 0; i < cg->n_run; i++)
        for (size_t k = 0; k < cg->run[i].period; k++) {
            const tc_c_step *s = &cg->step[cg->run[i].first + k];
            if (!s->form || s->form->function || s->form->n_site < 2 || !is_worth_a_call(s))
                continue;
            s->form->function = ++m->n_form_function;
            put_function(m, s);
        }
}

/* ---- all ---- */

tc_status ti_c_put_steps(tc_c_model *m, tc_c_graph *cg)
{
    for (size_t i = 0; i < cg->n_run; i++) {
        const tc_c_run *run = &cg->run[i];
        if (is_late(m, &cg->step[run->first]))
            TC_TRY(render(m, cg, &cg->step[run->first]));
        if (run->times > 1)
            put_run(m, cg, run);
        else
            put_once(m, cg, &cg->step[run->first]);
    }
    for (size_t i = 0; i < cg->g->n_out; i++) {
        tc_val v = cg->g->out[i];
        const tc_type *t = ti_type_of(cg->g, v);
        if (cg->direct[i])
            continue;
        ti_buf_printf(&m->code, "    memcpy(output_%zu, ", i);
        tc_c_hole hole = {cg->place[v].root, t->dtype, false, cg->place[v].offset};
        ti_buf_text(&m->code, ti_c_is_const(cg, v) ? ti_c_pointer(m, cg, v) : place_of(m, cg, NULL, &hole));
        ti_buf_printf(&m->code, ", %zu);\n", tc_type_bytes(t));
    }
    return TC_OK;
}
