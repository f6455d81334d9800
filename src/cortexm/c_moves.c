/* SPDX-License-Identifier: Apache-2.0 */
/* c_moves.c -- CONCAT, PAD, REVERSE, SLICE, TILE, TRANSPOSE as walks over both sides at once. */
#include "c_model.h"

enum { MOST_AXES = 2 * TC_MAX_RANK };

/* Extents with the steps that source and destination take, and where they begin, in elements. */
typedef struct walk {
    int rank;
    int64_t dim[MOST_AXES], from_step[MOST_AXES], to_step[MOST_AXES];
    int64_t from, to;
} walk;

static void packed_steps(const tc_type *t, int64_t *step)
{
    int64_t size = 1;
    for (int i = t->rank - 1; i >= 0; i--) {
        step[i] = size;
        size *= t->dim[i];
    }
}

/* The walk that copies a whole tensor in order. */
static walk walk_over(const tc_type *t)
{
    walk w = {.rank = t->rank};
    memcpy(w.dim, t->dim, sizeof t->dim);
    packed_steps(t, w.from_step);
    packed_steps(t, w.to_step);
    return w;
}

/* No axes of extent 1; neighbours that go on evenly on both sides are one. */
static walk simpler(const walk *w)
{
    walk s = {.from = w->from, .to = w->to};
    for (int i = 0; i < w->rank; i++) {
        if (w->dim[i] == 1)
            continue;
        int k = s.rank;
        bool joins = k && s.from_step[k - 1] == w->dim[i] * w->from_step[i] &&
                     s.to_step[k - 1] == w->dim[i] * w->to_step[i];
        k = joins ? k - 1 : s.rank++;
        s.dim[k] = joins ? s.dim[k] * w->dim[i] : w->dim[i];
        s.from_step[k] = w->from_step[i];
        s.to_step[k] = w->to_step[i];
    }
    return s;
}

/* Copies along the last axis by bytes, else element by element. */
static void count_walk(const tc_c_model *m, tc_c_cost *cost, const walk *w, size_t size)
{
    const tc_machine *machine = m->request->machine;
    int last = w->rank - 1;
    double rows = 1, n = last < 0 ? 1 : (double)w->dim[last];
    if (!machine)
        return;
    for (int i = 0; i < last; i++)
        rows *= (double)w->dim[i];
    ti_c_work(cost, machine, TC_C_WORK_move_call, 1);
    ti_c_work(cost, machine, TC_C_WORK_move_row, rows);
    if (last < 0 || (w->from_step[last] == 1 && w->to_step[last] == 1))
        ti_c_work(cost, machine, TC_C_WORK_move_byte, rows * n * (double)size);
    else
        ti_c_work(cost, machine, size == 1 ? TC_C_WORK_move_element : TC_C_WORK_move_wide,
                  rows * n);
}

static void put_walk(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s, tc_val from, tc_val to,
                     const walk *whole)
{
    walk w = simpler(whole);
    size_t size = tc_dtypes[ti_type_of(cg->g, to)->dtype].bytes;
    count_walk(m, &cg->cost[s - cg->step], &w, size);
    const char *source = ti_c_pointer_at(m, cg, from, w.from);
    const char *place = ti_c_pointer_at(m, cg, to, w.to);
    if (w.rank == 0 || (w.rank == 1 && w.from_step[0] == 1 && w.to_step[0] == 1)) {
        ti_buf_printf(&m->code, "        memcpy(%s, %s, %" PRId64 ");\n", place, source,
                      (w.rank ? w.dim[0] : 1) * (int64_t)size);
        return;
    }
    m->used[TC_C_MOVE] = true;
    ti_buf_text(&m->code, "        {\n            static const int32_t axis[][3] = {");
    for (int i = 0; i < w.rank; i++)
        ti_buf_printf(&m->code, "%s{%" PRId64 ", %" PRId64 ", %" PRId64 "}", i ? ", " : "",
                      w.dim[i], w.from_step[i], w.to_step[i]);
    ti_buf_printf(&m->code, "};\n            tosac_move(axis, %d, %zu, %s, %s);\n        }\n",
                  w.rank, size, source, place);
}

tc_status ti_c_transpose(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    const tc_attr_tosa_perms *a = s->node->attr;
    int64_t step[TC_MAX_RANK];
    walk w = walk_over(ti_type_of(cg->g, s->out));
    packed_steps(ti_c_operand(cg, s->node, 0), step);
    for (int i = 0; i < w.rank; i++)
        w.from_step[i] = step[a->perms.v[i]];
    put_walk(m, cg, s, s->node->in[0], s->out, &w);
    return TC_OK;
}

tc_status ti_c_reverse(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    int64_t axis = ((const tc_attr_tosa_axis *)s->node->attr)->axis;
    walk w = walk_over(ti_type_of(cg->g, s->out));
    w.from = (w.dim[axis] - 1) * w.from_step[axis];
    w.from_step[axis] = -w.from_step[axis];
    put_walk(m, cg, s, s->node->in[0], s->out, &w);
    return TC_OK;
}

tc_status ti_c_slice(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    walk w = walk_over(ti_type_of(cg->g, s->out));
    if (!ti_c_is_const(cg, s->node->in[1]))
        return ti_c_refuse(m, s->node, "where it begins is not constant");
    packed_steps(ti_c_operand(cg, s->node, 0), w.from_step);
    for (int i = 0; i < w.rank; i++)
        w.from += ti_c_const_at(cg, s->node->in[1], i) * w.from_step[i];
    put_walk(m, cg, s, s->node->in[0], s->out, &w);
    return TC_OK;
}

/* Every axis becomes two: which copy, and where in it. */
tc_status ti_c_tile(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    const tc_type *in = ti_c_operand(cg, s->node, 0), *out = ti_type_of(cg->g, s->out);
    int64_t in_step[TC_MAX_RANK], out_step[TC_MAX_RANK];
    packed_steps(in, in_step);
    packed_steps(out, out_step);
    walk w = {.rank = 2 * in->rank};
    for (int i = 0; i < in->rank; i++) {
        w.dim[2 * i] = out->dim[i] / in->dim[i];
        w.to_step[2 * i] = out_step[i] * in->dim[i];
        w.dim[2 * i + 1] = in->dim[i];
        w.from_step[2 * i + 1] = in_step[i];
        w.to_step[2 * i + 1] = out_step[i];
    }
    put_walk(m, cg, s, s->node->in[0], s->out, &w);
    return TC_OK;
}

/* The frame is filled first. */
tc_status ti_c_pad(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    const tc_type *out = ti_type_of(cg->g, s->out);
    if (!ti_c_is_const(cg, s->node->in[1]))
        return ti_c_refuse(m, s->node, "its padding is not constant");
    walk fill = {.rank = 1, .dim = {tc_type_count(out)}, .to_step = {1}};
    walk w = walk_over(ti_c_operand(cg, s->node, 0));
    put_walk(m, cg, s, s->node->in[2], s->out, &fill);
    packed_steps(out, w.to_step);
    for (int i = 0; i < w.rank; i++)
        w.to += ti_c_const_at(cg, s->node->in[1], 2 * i) * w.to_step[i];
    put_walk(m, cg, s, s->node->in[0], s->out, &w);
    return TC_OK;
}

tc_status ti_c_concat(tc_c_model *m, const tc_c_graph *cg, const tc_c_step *s)
{
    int64_t axis = ((const tc_attr_tosa_axis *)s->node->attr)->axis, before = 0;
    for (int k = 0; k < s->node->n_in; k++) {
        walk w = walk_over(ti_c_operand(cg, s->node, k));
        packed_steps(ti_type_of(cg->g, s->out), w.to_step);
        w.to = before * w.to_step[axis];
        before += w.dim[axis];
        if (!s->part || s->part == 1 + k)
            put_walk(m, cg, s, s->node->in[k], s->out, &w);
    }
    return TC_OK;
}
