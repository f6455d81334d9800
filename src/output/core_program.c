/* SPDX-License-Identifier: Apache-2.0 */
/* core_program.c -- see core_program.h. */
#include "core_program.h"

#include "../ir/build.h"
#include "../lower/lower.h"
#include "../drive/model.h"

/* What C has of TOSA in addition to the core's own integers. */
#define FLOATS "TOSA-1.0+INT+FP+int16+int4+doubleround+inexactround+cf+dynamic"

typedef struct joiner {
    tc_ctx *ctx;
    const tc_compiled *c;
    tc_module *module; /* a copy of what was compiled, */
    tc_graph from;     /* its program, */
    tc_graph *to;      /* and what that becomes */
    tc_val *now;       /* by value of the program: its replacement */
    tc_core_program *out;
    size_t *place; /* by input: which of the program's it is */
} joiner;

/* Codes to floats or other codes, integers and bools to others. */
static bool converts(const tc_graph *g, const tc_node *node)
{
    return node->op == TC_OP_rescale ||
           (node->op == TC_OP_cast && !ti_is_float(ti_type_of(g, node->in[0])->dtype) &&
            !ti_is_float(ti_type_of(g, node->out[0])->dtype));
}

static bool is_input(const tc_graph *g, tc_val v)
{
    return !ti_def(g, v);
}

static bool is_read(const tc_graph *g, tc_val v)
{
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++)
            if (g->node[k]->in[i] == v)
                return true;
    return false;
}

/* The type in which a node reads an input: the one it converts it to, where it does. */
static const tc_type *taken_as(const tc_graph *g, const tc_node *node, tc_val input)
{
    return ti_type_of(g, converts(g, node) ? node->out[0] : input);
}

/* The type in which everything that reads an input takes it; NULL: there are several, or nothing
 * reads it. */
static const tc_type *one_type(const tc_graph *g, tc_val input)
{
    const tc_type *type = NULL;
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++) {
            if (g->node[k]->in[i] != input)
                continue;
            const tc_type *now = taken_as(g, g->node[k], input);
            if (type && type != now)
                return NULL;
            type = now;
        }
    return type;
}

/* Whether the caller converts: floats that are read in several types come as floats. */
static bool comes_converted(const tc_graph *g, tc_val input)
{
    return !ti_is_float(ti_type_of(g, input)->dtype) || one_type(g, input);
}

/* At an end of the program: of an input, or of a value that only outputs read. */
static bool is_end(const tc_graph *g, const tc_node *node)
{
    return converts(g, node) && ((is_input(g, node->in[0]) && comes_converted(g, node->in[0])) ||
                                 !is_read(g, node->out[0]));
}

/* What the codes of a port stand for, where the file says it for plain integers. */
static const tc_quant *codes_of(const tc_module *m, tc_val v, bool output)
{
    const tc_port *port = output ? m->signature.out : m->signature.in;
    for (size_t i = 0; i < (output ? m->signature.n_out : m->signature.n_in); i++)
        if (port[i].val == v && port[i].codes)
            return port[i].codes->quant;
    return NULL;
}

/* ---- inputs ---- */

/* Input i of the program in a type: an existing one, or a new one. */
static tc_val input_as(joiner *j, size_t i, const tc_type *type)
{
    tc_graph *g = j->to;
    for (size_t k = 0; k < g->n_in; k++)
        if (j->place[k] == i && ti_type_of(g, g->in[k]) == type)
            return g->in[k];
    const char *name = ti_input_name(&j->from, i);
    j->place[g->n_in] = i;
    j->out->in[g->n_in] = (tc_c_port){
        name, type->quant ? type->quant : codes_of(j->c->module, j->from.in[i], false)};
    return ti_graph_input(g, type, name);
}

/* An input in the type that all its readers take: codes, where they convert it first. */
static void take_converted(joiner *j, size_t i)
{
    const tc_graph *g = &j->from;
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        for (int o = 0; o < node->n_in; o++)
            if (node->in[o] == g->in[i])
                j->now[converts(g, node) ? node->out[0] : g->in[i]] =
                    input_as(j, i, taken_as(g, node, g->in[i]));
    }
}

/* Every input of the model, in its order; an unused one keeps the model's type. */
static void take_inputs(joiner *j)
{
    const tc_graph *g = &j->from;
    size_t most = 2 * g->n_in + g->n_node;
    j->place = tc_new_n(&j->ctx->arena, size_t, most);
    j->out->in = tc_new_n(&j->ctx->arena, tc_c_port, most);
    for (size_t i = 0; i < g->n_in; i++)
        if (is_read(g, g->in[i]) && comes_converted(g, g->in[i]))
            take_converted(j, i);
        else
            j->now[g->in[i]] = input_as(j, i, ti_type_of(g, g->in[i]));
}

/* ---- nodes ---- */

static tc_val value_of(joiner *j, tc_val v)
{
    const tc_value *old = v ? j->from.val[v] : NULL;
    if (old && !j->now[v] && ti_is_const(&j->from, v))
        j->now[v] = ti_graph_const(j->to, old->type, old->data, old->name, old->def->loc);
    return old ? j->now[v] : TC_NONE;
}

/* A copy of a node of a graph, its operands by `now`. */
static void copy_node(joiner *j, const tc_graph *g, const tc_node *node, tc_val *now)
{
    tc_node *copy = ti_graph_add(j->to, node->op, node->attr, node->in, node->n_in, node->n_out,
                                 node->loc);
    for (int i = 0; i < node->n_in; i++)
        copy->in[i] = now[node->in[i]];
    for (int i = 0; i < node->n_out; i++) {
        const tc_value *old = g->val[node->out[i]];
        tc_value *value = j->to->val[copy->out[i]];
        value->type = old->type;
        value->name = old->name;
        value->data = old->data;
        now[node->out[i]] = copy->out[i];
    }
}

static bool is_for_npu(const tc_compiled *c, const char *name)
{
    for (size_t i = 0; c->target.core && i < c->n_region; i++)
        if (ti_text_eq(c->region[i].name, name))
            return true;
    return false;
}

static void join_region(joiner *j, const tc_node *call, const tc_graph *region)
{
    tc_val *now = tc_new_n(&j->ctx->arena, tc_val, region->n_val);
    for (size_t i = 0; i < region->n_in; i++)
        now[region->in[i]] = value_of(j, call->in[i]);
    for (size_t k = 0; k < region->n_node; k++)
        copy_node(j, region, region->node[k], now);
    for (size_t i = 0; i < region->n_out; i++)
        j->now[call->out[i]] = now[region->out[i]];
}

static tc_status refuse(const joiner *j, const tc_node *node)
{
    tc_status status = ti_unsupported(
        j->ctx, node->loc, TC_E_UNSUPPORTED, "'%s' has no form in C for '%s': neither integers nor f32",
        tc_ops[node->op].name, j->c->target.text);
    ti_note(j->ctx, NULL, "'tosac explain' says why it is not lowered");
    return status;
}

static tc_status join_node(joiner *j, const tc_node *node)
{
    const tc_graph *g = &j->from;
    if (node->op == TC_OP_const)
        return TC_OK;
    if (is_end(g, node)) {
        if (!j->now[node->out[0]])
            j->now[node->out[0]] = value_of(j, node->in[0]);
        return TC_OK;
    }
    bool tosa = tc_ops[node->op].tosa != 0; /* the model's own: control flow */
    const char *name = ti_region_run_by(node);
    if (!name && !tosa)
        return refuse(j, node);
    for (int i = 0; i < node->n_in; i++)
        value_of(j, node->in[i]);
    if (tosa || is_for_npu(j->c, name))
        copy_node(j, g, node, j->now);
    else
        join_region(j, node, ti_module_find(j->module, name));
    return TC_OK;
}

/* ---- buffers ---- */

static tc_node *add_variable(joiner *j, tc_op op, const tc_attr_tosa_variable *attr, tc_val in,
                             const tc_type *type)
{
    tc_node *node = ti_graph_add(j->to, op, attr, &in, in != TC_NONE,
                                 op != TC_OP_tosa_variable_write, NULL);
    if (node->n_out)
        j->to->val[node->out[0]]->type = type;
    return node;
}

static const tc_attr_tosa_variable *variable_of(joiner *j, size_t i)
{
    const tc_value *buffer = j->from.val[j->from.mutation[i].before];
    tc_attr_tosa_variable *attr = tc_new(&j->ctx->arena, tc_attr_tosa_variable);
    attr->name = buffer->name ? buffer->name : ti_text_format(&j->ctx->arena, "buffer_%zu", i);
    return attr;
}

/* Declared and read first; written last. */
static void read_buffers(joiner *j, const tc_attr_tosa_variable **attr)
{
    for (size_t i = 0; i < j->from.n_mutation; i++) {
        tc_val before = j->from.mutation[i].before;
        const tc_value *buffer = j->from.val[before];
        attr[i] = variable_of(j, i);
        tc_val start = ti_graph_const(j->to, buffer->type, buffer->data, NULL, NULL);
        add_variable(j, TC_OP_tosa_variable, attr[i], start, buffer->type);
        j->now[before] = add_variable(j, TC_OP_tosa_variable_read, attr[i], TC_NONE,
                                      buffer->type)->out[0];
    }
}

static void write_buffers(joiner *j, const tc_attr_tosa_variable *const *attr)
{
    for (size_t i = 0; i < j->from.n_mutation; i++)
        add_variable(j, TC_OP_tosa_variable_write, attr[i], value_of(j, j->from.mutation[i].after),
                     NULL);
}

/* ---- outputs ---- */

/* What output i is replaced by. */
static tc_val output_of(joiner *j, size_t i)
{
    tc_val v = j->from.out[i];
    if (j->now[v])
        return j->now[v];
    return is_input(&j->from, v)
               ? input_as(j, (size_t)j->from.val[v]->index, ti_type_of(&j->from, v))
               : value_of(j, v);
}

static void take_outputs(joiner *j)
{
    const tc_graph *g = &j->from;
    j->out->out = tc_new_n(&j->ctx->arena, tc_c_port, g->n_out);
    for (size_t i = 0; i < g->n_out; i++) {
        tc_val v = output_of(j, i);
        const tc_quant *q = ti_type_of(j->to, v)->quant;
        ti_graph_output(j->to, v);
        j->out->out[i] = (tc_c_port){ti_output_name_of(g, i),
                                     q ? q : codes_of(j->c->module, g->out[i], true)};
    }
}

static tc_status join(joiner *j)
{
    const tc_attr_tosa_variable **attr =
        tc_new_n(&j->ctx->arena, const tc_attr_tosa_variable *, j->from.n_mutation);
    take_inputs(j);
    read_buffers(j, attr);
    for (size_t k = 0; k < j->from.n_node; k++)
        TC_TRY(join_node(j, j->from.node[k]));
    write_buffers(j, attr);
    take_outputs(j);
    return TC_OK;
}

/* ---- floats ---- */

static bool takes(void *who, const tc_graph *g, const tc_node *node, const char **why)
{
    *why = "the caller converts it";
    return !is_end(g, node) && ti_lower_can(who, node, why);
}

static bool has_floats(const tc_graph *g)
{
    for (tc_val v = 1; v < g->n_val; v++)
        if (g->val[v] && g->val[v]->type && ti_is_float(g->val[v]->type->dtype))
            return true;
    return false;
}

/* What is in no region, between regions, as regions of floats; conversions at the program's ends
 * excepted. */
static tc_status lower_floats(tc_ctx *ctx, const tc_compiled *c, tc_core_program *out)
{
    size_t failed;
    tc_module *module = out->module;
    tc_compiled floats = *c;
    floats.module = module;
    floats.work.checker = NULL;
    floats.work.choices = NULL;
    TC_TRY(ti_target_parse(ctx, FLOATS, &floats.target));
    tc_split_request request = {.target = c->target.text,
                                .prefix = "float",
                                .ask = takes,
                                .who = ti_lower_ask(ctx, ti_main(module), &floats.target)};
    TC_TRY(ti_split(ctx, module, &request, &floats.split));
    for (size_t i = 0; i < floats.split.n_region; i++) {
        out->outside += floats.split.nodes[i];
        if (has_floats(ti_module_find(module, floats.split.region[i])))
            out->floats += floats.split.nodes[i];
    }
    return ti_finish_regions(ctx, &floats, NULL, &failed);
}

/* ---- a program that is TOSA, and the core's, as it is ---- */

static tc_c_port *ports_of(tc_ctx *ctx, const tc_module *m, bool output)
{
    const tc_graph *g = ti_main(m);
    size_t n = output ? g->n_out : g->n_in;
    tc_c_port *port = tc_new_n(&ctx->arena, tc_c_port, n);
    for (size_t i = 0; i < n; i++) {
        tc_val v = output ? g->out[i] : g->in[i];
        const tc_quant *q = ti_type_of(g, v)->quant;
        port[i] = (tc_c_port){output ? ti_output_name_of(g, i) : ti_input_name(g, i),
                              q ? q : codes_of(m, v, output)};
    }
    return port;
}

/* cast(transpose(x)) = transpose(cast(x)), to integers: in C those move as floats do. */
static tc_status cast_first(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_node *moved = node->op == TC_OP_tosa_cast ? ti_def(rw->from, node->in[0]) : NULL;
    if (!moved || moved->op != TC_OP_tosa_transpose || rw->readers[node->in[0]] != 1 ||
        !ti_is_int(ti_type_of(rw->from, node->out[0])->dtype))
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    tc_val x = ti_b_tosa_cast(&b, rw->now[moved->in[0]], ti_type_of(rw->from, node->out[0])->dtype);
    return ti_b_replace(&b, ti_b_tosa_transpose(&b, x, ((const tc_attr_tosa_perms *)moved->attr)->perms.v), done);
}

/* Regions meet in orders of axes that neither has inside; an NPU's keep them. */
static tc_status turn_borders(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {cast_first};
    TC_TRY(ti_rewrite_graph(ti_main(module), rewriters, TC_COUNT(rewriters), NULL));
    return ti_run_passes(ctx, module, "sink-transposes,eliminate-common-subexpressions,remove-dead-code", NULL);
}

tc_status ti_core_program(tc_ctx *ctx, const tc_compiled *c, tc_core_program *out)
{
    tc_module *m = ti_module_clone(c->module);
    *out = (tc_core_program){.module = m};
    if (c->n_region == 1 && c->region->module == c->module) {
        out->in = ports_of(ctx, m, false);
        out->out = ports_of(ctx, m, true);
        return TC_OK;
    }
    TC_TRY(lower_floats(ctx, c, out));
    joiner j = {.ctx = ctx,
                .c = c,
                .module = m,
                .from = *ti_main(m),
                .to = ti_main(m),
                .now = tc_new_n(&ctx->arena, tc_val, ti_main(m)->n_val),
                .out = out};
    *j.to = ti_graph_empty(m, j.from.name);
    TC_TRY(join(&j));
    return out->floats && !c->target.core ? turn_borders(ctx, m) : TC_OK;
}
