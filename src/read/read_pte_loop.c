/* SPDX-License-Identifier: Apache-2.0 */
/* read_pte_loop.c -- loops among the instructions of a program.
 *
 *   again: instructions that decide
 *          jump to `end` unless they say so
 *          others
 *          copy_ to what goes around, some
 *          jump to `again`
 *   end:
 *
 * What goes around are the targets of the last copies; everything else that is read before it is
 * written comes from around the loop, and stays what it is there. */
#include "pte_reader.h"

#include "read.h"

enum { MOST_JUMPS = 1000, MOST_DEPTH = 16 };

tc_pte_inside *ti_pte_inside_new(tc_pte_reader *r, tc_graph *g, tc_pte_inside *outer)
{
    tc_pte_inside *in = tc_new(&r->ctx->arena, tc_pte_inside);
    *in = (tc_pte_inside){.g = g, .outer = outer};
    in->val = tc_new_n(&r->ctx->arena, tc_val, r->m->n_value);
    ti_map_init(&in->written, &r->ctx->arena);
    return in;
}

static int64_t target_of(const tc_pte_step *jump)
{
    return jump->arg.v[0];
}

/* The condition is the number false. */
static bool always(const tc_pte_reader *r, const tc_pte_step *jump)
{
    const tc_pte_value *v = &r->m->value[jump->what];
    return v->tag == PTE_BOOL && !v->plain.i;
}

size_t ti_pte_loop_end(const tc_pte_reader *r, size_t begin, size_t to)
{
    size_t end = 0;
    for (size_t i = 0; i < r->n_jump && r->n_jump <= MOST_JUMPS; i++) {
        const tc_pte_step *s = &r->m->step[r->jump[i]];
        if (r->jump[i] > begin && r->jump[i] < to && target_of(s) == (int64_t)begin &&
            always(r, s))
            end = r->jump[i];
    }
    return end;
}

/* The jump out of the loop. */
static size_t way_out(const tc_pte_reader *r, size_t begin, size_t end)
{
    for (size_t i = 0; i < r->n_jump; i++)
        if (r->jump[i] >= begin && r->jump[i] < end &&
            target_of(&r->m->step[r->jump[i]]) == (int64_t)end + 1)
            return r->jump[i];
    return end;
}

static bool is_copy(const tc_pte_reader *r, size_t k)
{
    const tc_pte_step *s = &r->m->step[k];
    return s->tag == PTE_KERNEL_CALL && ti_str_is(r->m->op[s->what].name, "aten::copy_") &&
           s->arg.n > 1;
}

static tc_status odd(tc_pte_reader *r, const char *what)
{
    return ti_unsupported(r->ctx, r->loc, TC_E_UNSUPPORTED, "a loop %s", what);
}

tc_status ti_pte_take_in(tc_pte_reader *r, int64_t at, const tc_type *type, tc_val *out)
{
    tc_pte_inside *in = r->in;
    tc_val outside;
    r->in = in->outer;
    tc_status status = r->m->value[at].type == type ? ti_pte_use(r, at, &outside)
                                                    : ti_pte_use_stored(r, at, &outside);
    r->in = in;
    TC_TRY(status);
    *out = ti_graph_input(in->g, type, NULL);
    tc_grow(&r->ctx->arena, in->capture, in->n_capture, in->cap_capture);
    in->capture[in->n_capture++] = (tc_pte_capture){at, outside};
    ti_pte_write(r, at, *out);
    return TC_OK;
}

/* A graph of the loop, which is given what goes around and, of the other graph, what that took
 * from around the loop. */
static tc_pte_inside *graph_of(tc_pte_reader *r, size_t begin, const char *what, const int64_t *at,
                               size_t n, const tc_pte_inside *first)
{
    const char *name = ti_intern_text(
        r->ctx, ti_text_format(&r->ctx->arena, "%s.loop_%zu.%s", r->in->g->name, begin, what));
    tc_pte_inside *in = ti_pte_inside_new(r, ti_graph_new(r->module, name), r->in);
    r->in = in;
    for (size_t i = 0; i < n; i++)
        ti_pte_write(r, at[i], ti_graph_input(in->g, r->m->value[at[i]].type, NULL));
    for (size_t i = 0; first && i < first->n_capture; i++) {
        const tc_pte_capture *c = &first->capture[i];
        tc_grow(&r->ctx->arena, in->capture, in->n_capture, in->cap_capture);
        in->capture[in->n_capture++] = *c;
        ti_pte_write(r, c->at, ti_graph_input(in->g, r->m->value[c->at].type, NULL));
    }
    return in;
}

/* Values from outside of the loop are unchanged after an iteration; whatever else was written is
 * unused after it. */
static tc_status leave(tc_pte_reader *r, tc_pte_inside *in, size_t carried)
{
    r->in = in;
    for (size_t i = 0; i < in->n_capture; i++) {
        tc_val now;
        TC_TRY(ti_pte_use(r, in->capture[i].at, &now));
        if (now != in->g->in[carried + i])
            return odd(r, "that reads what the previous iteration wrote, without a copy");
    }
    r->in = in->outer;
    for (size_t i = 0; i < r->m->n_value; i++) {
        bool made = in->val[i] && r->m->value[i].placed && ti_def(in->g, in->val[i]);
        if (made)
            ti_pte_write(r, (int64_t)i, TC_NONE);
    }
    return TC_OK;
}

static tc_status read_graphs(tc_pte_reader *r, size_t begin, size_t out, size_t end,
                             const int64_t *at, size_t n, tc_pte_inside *both[2])
{
    tc_val v;
    both[0] = graph_of(r, begin, "test", at, n, NULL);
    TC_TRY(ti_pte_run(r, begin, out));
    TC_TRY(ti_pte_use(r, r->m->step[out].what, &v));
    ti_graph_output(both[0]->g, v);
    r->in = both[0]->outer;
    both[1] = graph_of(r, begin, "body", at, n, both[0]);
    TC_TRY(ti_pte_run(r, out + 1, end));
    for (size_t i = 0; i < n; i++) {
        TC_TRY(ti_pte_use(r, at[i], &v));
        ti_graph_output(both[1]->g, v);
    }
    for (size_t i = both[0]->n_capture; i < both[1]->n_capture; i++)
        ti_graph_input(both[0]->g, r->m->value[both[1]->capture[i].at].type, NULL);
    TC_TRY(leave(r, both[0], n));
    return leave(r, both[1], n);
}

tc_status ti_pte_read_loop(tc_pte_reader *r, size_t begin, size_t end)
{
    size_t out = way_out(r, begin, end), n = 0;
    tc_pte_inside *both[2];
    while (end - n > out + 1 && is_copy(r, end - n - 1))
        n++;
    if (out == end || !n || r->m->value[r->m->step[out].what].tag != PTE_TENSOR)
        return odd(r, "without an exit, or without loop state");
    if (++r->depth > MOST_DEPTH)
        return odd(r, "in too many others");
    int64_t *at = tc_new_n(&r->ctx->arena, int64_t, n);
    tc_val *first = tc_new_n(&r->ctx->arena, tc_val, n);
    for (size_t i = 0; i < n; i++) {
        at[i] = r->m->step[end - n + i].arg.v[0];
        TC_TRY(ti_pte_use(r, at[i], &first[i]));
    }
    TC_TRY(read_graphs(r, begin, out, end, at, n, both));
    size_t n_in = n + both[1]->n_capture;
    tc_val *in = tc_new_n(&r->ctx->arena, tc_val, n_in);
    for (size_t i = 0; i < n_in; i++)
        in[i] = i < n ? first[i] : both[1]->capture[i - n].outside;
    tc_attr_while_loop *attr = tc_new(&r->ctx->arena, tc_attr_while_loop);
    *attr = (tc_attr_while_loop){both[0]->g->name, both[1]->g->name};
    tc_node *node =
        ti_graph_add(r->in->g, TC_OP_while_loop, attr, in, (int)n_in, (int)n, r->loc);
    for (size_t i = 0; i < n; i++)
        ti_value_of(r->in->g, node->out[i])->type = r->m->value[at[i]].type;
    TC_TRY(ti_node_infer(r->in->g, node));
    for (size_t i = 0; i < n; i++)
        ti_pte_write(r, at[i], node->out[i]);
    r->depth--;
    return TC_OK;
}
