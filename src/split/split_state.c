/* SPDX-License-Identifier: Apache-2.0 */
/* split_state.c -- state inside a region, as TOSA's variables.
 *
 * A buffer that one region alone reads and writes back,
 *
 *     after = call(.., before, ..);  mutate before -> after
 *
 * becomes a variable of that region: declared with the buffer's initial value, read at the start,
 * written at the end; the call loses an operand, and a result without other readers, and the
 * program a buffer. */
#include "split.h"

typedef struct holder {
    tc_ctx *ctx;
    tc_graph *program, *region;
    tc_node *call;
} holder;

/* Whether the value has a reader besides the call, or, if not NULL, that mutation. */
static bool read_elsewhere(const holder *h, tc_val v, const tc_mutation *own)
{
    const tc_graph *g = h->program;
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; g->node[k] != h->call && i < g->node[k]->n_in; i++)
            if (g->node[k]->in[i] == v)
                return true;
    for (size_t i = 0; i < g->n_out; i++)
        if (g->out[i] == v)
            return true;
    for (size_t i = 0; i < g->n_mutation; i++)
        if (&g->mutation[i] != own && g->mutation[i].after == v)
            return true;
    return false;
}

static bool reads(const holder *h, tc_val v)
{
    for (int i = 0; i < h->call->n_in; i++)
        if (h->call->in[i] == v)
            return true;
    return false;
}

static bool is_held(const holder *h, const tc_mutation *m, tc_state_takes *takes, const void *who)
{
    const tc_type *before = ti_type_of(h->program, m->before);
    return takes(who, before->dtype) && ti_def(h->program, m->after) == h->call &&
           before == ti_type_of(h->program, m->after) && reads(h, m->before) &&
           !read_elsewhere(h, m->before, NULL);
}

/* ---- the region ---- */

static tc_node *variable_node(holder *h, tc_op op, const tc_attr_tosa_variable *attr, tc_val in,
                              const tc_type *type)
{
    tc_node *node = ti_graph_add(h->region, op, attr, &in, in != TC_NONE,
                                 op != TC_OP_tosa_variable_write, h->call->loc);
    if (node->n_out)
        h->region->val[node->out[0]]->type = type;
    return node;
}

/* Operands of the call that are v go, and the region's inputs with them; what reads those reads
 * `read`. */
static void drop_operand(holder *h, tc_val v, tc_val read)
{
    tc_graph *g = h->region;
    size_t kept = 0;
    for (size_t i = 0; i < g->n_in; i++)
        if (h->call->in[i] == v)
            ti_graph_read_instead(g, g->in[i], read);
        else {
            h->call->in[kept] = h->call->in[i];
            g->in[kept] = g->in[i];
            g->val[g->in[kept]]->index = (int)kept;
            kept++;
        }
    g->n_in = kept;
    h->call->n_in = (int)kept;
}

static void drop_result(holder *h, int which)
{
    tc_graph *g = h->region;
    for (int i = which; i + 1 < h->call->n_out; i++) {
        h->call->out[i] = h->call->out[i + 1];
        h->program->val[h->call->out[i]]->index = i;
        g->out[i] = g->out[i + 1];
    }
    h->call->n_out--;
    g->n_out--;
}

static void drop_buffer(tc_graph *g, size_t i)
{
    tc_val before = g->mutation[i].before;
    size_t kept = 0;
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k] != ti_def(g, before))
            g->node[kept++] = g->node[k];
    g->n_node = kept;
    memmove(g->mutation + i, g->mutation + i + 1, (g->n_mutation - i - 1) * sizeof *g->mutation);
    g->n_mutation--;
}

static void hold(holder *h, size_t i)
{
    const tc_mutation m = h->program->mutation[i];
    const tc_value *buffer = h->program->val[m.before];
    tc_attr_tosa_variable *attr = tc_new(&h->ctx->arena, tc_attr_tosa_variable);
    const char *name =
        buffer->name ? buffer->name
                     : ti_text_format(&h->ctx->arena, "%s_state_%d", h->region->name, m.before);
    attr->name = ti_intern_text(h->ctx, name);
    tc_val initial = ti_graph_const(h->region, buffer->type, buffer->data, NULL, h->call->loc);
    variable_node(h, TC_OP_tosa_variable, attr, initial, buffer->type);
    tc_val read =
        variable_node(h, TC_OP_tosa_variable_read, attr, TC_NONE, buffer->type)->out[0];
    ti_graph_to_front(h->region, 3);
    drop_operand(h, m.before, read);
    int which = h->program->val[m.after]->index;
    variable_node(h, TC_OP_tosa_variable_write, attr, h->region->out[which], buffer->type);
    if (!read_elsewhere(h, m.after, &h->program->mutation[i]))
        drop_result(h, which);
    drop_buffer(h->program, i);
}

void ti_split_hold_state(tc_ctx *ctx, tc_module *module, tc_graph *region, tc_node *call,
                         tc_state_takes *takes, const void *who)
{
    holder h = {ctx, ti_main(module), region, call};
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    for (size_t i = 0; i < h.program->n_mutation;)
        if (is_held(&h, &h.program->mutation[i], takes, who))
            hold(&h, i);
        else
            i++;
    ti_arena_rewind(&ctx->scratch, mark);
}
