/* SPDX-License-Identifier: Apache-2.0 */
/* file_ports.c -- see file_ports.h. */
#include "file_ports.h"

#include "../ir/rewrite.h"

typedef struct ports {
    tc_ctx *ctx;
    const tc_compiled *c;
    const tc_graph *main;
    const tc_node *call;
    tc_graph *region;     /* a clone, whose lists are rebuilt */
    const tc_val *was_in, *was_out; /* the lists that it had */
    tc_val *operand, *result; /* of the call, by port of the region */
    size_t n_operand, n_result;
    tc_val *inside; /* by input of the program: the one of its type in the region, or none */
} ports;

static bool is_conversion(tc_op op)
{
    return op == TC_OP_quantize || op == TC_OP_dequantize || op == TC_OP_rescale;
}

size_t ti_work_outside(const tc_graph *g)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n_node; i++) {
        tc_op op = g->node[i]->op;
        n += op != TC_OP_const && !ti_region_run_by(g->node[i]) && !is_conversion(op);
    }
    return n;
}

/* What a value is converted from. */
static tc_val origin(const tc_graph *g, tc_val v)
{
    const tc_node *def = ti_def(g, v);
    for (; def && is_conversion(def->op); def = ti_def(g, v))
        v = def->in[0];
    return v;
}

/* Whether IDENTITY takes the type, by the TOSA rules. */
static bool has_type(const ports *p, const tc_type *type)
{
    tc_trial trial;
    tc_module *m = ti_module_new(p->ctx, p->main->module->file);
    tc_graph *g = ti_graph_new(m, "main");
    tc_val in = ti_graph_input(g, type, NULL);
    tc_node *node = ti_graph_add(g, TC_OP_tosa_identity, NULL, &in, 1, 1, NULL);
    g->val[node->out[0]]->type = type;
    ti_graph_output(g, node->out[0]);
    ti_trial_begin(p->ctx, &trial);
    tc_status status = ti_verify_tosa_for(p->ctx, m, &p->c->target);
    ti_trial_end(p->ctx, &trial);
    return status == TC_OK;
}

/* A command stream has only what it reads and writes, each once. */
static bool is_stream(const ports *p)
{
    return p->c->target.machine->packing == TC_PACKED_STREAM;
}

static bool may_add(const ports *p, const tc_type *type)
{
    return !is_stream(p) && has_type(p, type);
}

static void warn(const ports *p, bool output, size_t i, const char *why)
{
    const tc_val v = output ? p->main->out[i] : p->main->in[i];
    const char *name = ti_value_of(p->main, v)->name;
    const tc_loc loc = {.file = p->main->module->file, .place = output ? "outputs" : "inputs"};
    ti_warning(p->ctx, &loc, TC_E_STRUCTURE,
               "%s %zu%s%s%s is not in the file, and those after it move up: %s",
               output ? "output" : "input", i, name ? " '" : "", name ? name : "", name ? "'" : "", why);
}

static void put_input(ports *p, tc_val outer, tc_val inner)
{
    p->region->val[inner]->index = (int)p->region->n_in;
    p->region->in[p->region->n_in++] = inner;
    p->operand[p->n_operand++] = outer;
}

/* The region's inputs that are made from input i of the program; i == n_in: from none. */
static size_t put_readers(ports *p, size_t i)
{
    size_t n = 0;
    for (int k = 0; k < p->call->n_in; k++) {
        tc_val from = origin(p->main, p->call->in[k]);
        size_t port = 0;
        while (port < p->main->n_in && p->main->in[port] != from)
            port++;
        if (port != i)
            continue;
        put_input(p, p->call->in[k], p->was_in[k]);
        if (p->call->in[k] == from && i < p->main->n_in)
            p->inside[i] = p->was_in[k];
        n++;
    }
    return n;
}

static void put_inputs(ports *p)
{
    const tc_graph *main = p->main;
    for (size_t i = 0; i < main->n_in; i++) {
        const tc_value *value = ti_value_of(main, main->in[i]);
        const tc_type *type = ti_type_carried(p->ctx, value->type);
        if (put_readers(p, i))
            continue;
        if (!may_add(p, type)) {
            warn(p, false, i, "nothing in it reads it");
            continue;
        }
        p->inside[i] = ti_graph_input(p->region, type, value->name);
        p->region->n_in--;
        put_input(p, main->in[i], p->inside[i]);
    }
    put_readers(p, main->n_in);
}

/* The value in the region that is output i of the program, or none. */
static tc_val output_inside(ports *p, size_t i)
{
    tc_val v = p->main->out[i], from = origin(p->main, v);
    for (int k = 0; k < p->call->n_out; k++)
        if (p->call->out[k] == from)
            return p->was_out[k];
    for (size_t k = 0; k < p->main->n_in; k++)
        if (p->main->in[k] == v)
            return p->inside[k];
    const tc_value *value = ti_value_of(p->main, v);
    if (!ti_is_const(p->main, v) || !may_add(p, value->type))
        return TC_NONE;
    return ti_graph_const(p->region, value->type, value->data, value->name, ti_def(p->main, v)->loc);
}

static void put_output(ports *p, tc_val outer, tc_val inner)
{
    ti_graph_output(p->region, inner);
    p->result[p->n_result++] = outer;
}

/* What a call gives besides outputs of the program, a buffer's new contents, comes after them. */
static void put_outputs(ports *p)
{
    const tc_graph *main = p->main;
    bool *put = tc_new_n(&p->ctx->arena, bool, main->n_val);
    for (size_t i = 0; i < main->n_out; i++) {
        tc_val inner = output_inside(p, i), from = origin(main, main->out[i]);
        bool called = ti_def(main, from) == p->call, again = put[from] && is_stream(p);
        put[from] = true;
        if (inner && !again)
            put_output(p, called ? from : main->out[i], inner);
        else
            warn(p, true, i, inner ? "it is there once already" : "the region does not make it");
    }
    for (int k = 0; k < p->call->n_out; k++)
        if (!put[p->call->out[k]])
            put_output(p, p->call->out[k], p->was_out[k]);
}

static void clear_ports(ports *p, tc_graph *g)
{
    size_t n = g->n_in + p->main->n_in + 1;
    p->region = g;
    p->was_in = g->in;
    p->was_out = g->out;
    g->in = tc_new_n(&p->ctx->arena, tc_val, n);
    g->out = NULL;
    g->cap_in = n;
    g->n_in = g->n_out = g->cap_out = 0;
    p->operand = tc_new_n(&p->ctx->arena, tc_val, n);
    p->result = tc_new_n(&p->ctx->arena, tc_val, (size_t)p->call->n_out + p->main->n_out + 1);
    p->inside = tc_new_n(&p->ctx->arena, tc_val, p->main->n_in + 1);
}

/* The program's call for the region as it is now: in the copy, which is inspected and not run. */
static void widen_call(const ports *p, tc_node *call)
{
    call->in = p->operand;
    call->n_in = (int)p->n_operand;
    call->out = p->result;
    call->n_out = (int)p->n_result;
}

static bool same_ports(const ports *p)
{
    return p->n_operand == (size_t)p->call->n_in && p->n_result == (size_t)p->call->n_out &&
           memcmp(p->operand, p->call->in, p->n_operand * sizeof *p->operand) == 0 &&
           memcmp(p->result, p->call->out, p->n_result * sizeof *p->result) == 0;
}

tc_status ti_with_all_ports(tc_ctx *ctx, const tc_compiled *c, const tc_compiled **out)
{
    ports p = {.ctx = ctx, .c = c, .main = ti_main(c->module)};
    *out = c;
    if (c->n_region != 1 || c->work.many || c->region[0].module == c->module || ti_work_outside(p.main))
        return TC_OK;
    p.call = ti_call_of(p.main, c->region[0].name);
    if (!p.call)
        return TC_OK;
    tc_module *module = ti_module_clone(c->region[0].module);
    clear_ports(&p, ti_main(module));
    put_inputs(&p);
    put_outputs(&p);
    if (same_ports(&p))
        return TC_OK;
    tc_compiled *wide = ti_arena_copy(&ctx->arena, c, sizeof *c);
    wide->region = ti_arena_copy(&ctx->arena, c->region, sizeof *c->region);
    wide->region->module = module;
    wide->module = ti_module_clone(c->module);
    widen_call(&p, ti_call_of(ti_main(wide->module), c->region[0].name));
    *out = wide;
    return ti_emit_tosa(ctx, module, &wide->region->tosa);
}
