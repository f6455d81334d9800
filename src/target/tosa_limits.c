/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_limits.c -- limits of single operators: level 8K, CLAMP, RESCALE, control flow,
 * variables. */
#include "judge.h"

#include <math.h>

#include "../num/load.h"

void ti_limits_none(tc_judge *j)
{
    (void)j;
}

/* ---- level 8K -------------------------------------------------------------------------------- */

static void at_most(tc_judge *j, const char *what, int64_t value, int64_t most)
{
    if (value > most)
        TC_BREAKS(j, TOSA_LEVEL, "%s is %" PRId64 ", level 8K allows %" PRId64, what, value, most);
}

static void all_at_most(tc_judge *j, const char *what, tc_ints list, int64_t most)
{
    for (int i = 0; i < list.n; i++)
        at_most(j, what, list.v[i], most);
}

void ti_limits_pool(tc_judge *j)
{
    const tc_attr_tosa_max_pool *a =
        j->node->attr; /* AVG_POOL2D's record begins with the same fields */
    all_at_most(j, "kernel", a->kernel, TC_LEVEL_KERNEL);
    all_at_most(j, "stride", a->stride, TC_LEVEL_STRIDE);
    all_at_most(j, "pad", a->pad, TC_LEVEL_KERNEL);
}

/* n values of a shape operand, as far as they are known. */
static tc_ints shape_at(const tc_judge *j, int i, int32_t n)
{
    const int64_t *known = j->known[j->node->in[i]];
    return (tc_ints){known ? n : 0, known};
}

/* Kernel, stride and pad are the last three operands. */
void ti_limits_adaptive(tc_judge *j)
{
    int first = j->node->n_in - 3;
    all_at_most(j, "kernel", shape_at(j, first, 2), TC_LEVEL_KERNEL);
    all_at_most(j, "stride", shape_at(j, first + 1, 2), TC_LEVEL_STRIDE);
    all_at_most(j, "pad", shape_at(j, first + 2, 4), TC_LEVEL_KERNEL);
}

void ti_limits_block_conv(tc_judge *j)
{
    tc_ints dilation = shape_at(j, 7, 2);
    for (int i = 0; i < dilation.n; i++)
        at_most(j, "dilation * kernel", dilation.v[i] * ti_operand(j, 2)->dim[1 + i],
                TC_LEVEL_KERNEL);
    all_at_most(j, "pad", shape_at(j, 5, 4), TC_LEVEL_KERNEL);
    all_at_most(j, "stride", shape_at(j, 6, 2), TC_LEVEL_STRIDE);
}

void ti_limits_conv(tc_judge *j)
{
    const tc_attr_tosa_conv *a = j->node->attr;
    const int64_t *kernel =
        ti_operand(j, 1)->dim + (j->node->op == TC_OP_tosa_depthwise_conv2d ? 0 : 1);
    for (int i = 0; i < a->dilation.n; i++)
        at_most(j, "dilation * kernel", a->dilation.v[i] * kernel[i], TC_LEVEL_KERNEL);
    all_at_most(j, "pad", a->pad, TC_LEVEL_KERNEL);
    all_at_most(j, "stride", a->stride, TC_LEVEL_STRIDE);
}

void ti_limits_transpose_conv(tc_judge *j)
{
    const tc_attr_tosa_transpose_conv *a = j->node->attr;
    at_most(j, "kernel", ti_operand(j, 1)->dim[1], TC_LEVEL_KERNEL);
    at_most(j, "kernel", ti_operand(j, 1)->dim[2], TC_LEVEL_KERNEL);
    all_at_most(j, "out_pad", a->out_pad, TC_LEVEL_KERNEL);
    all_at_most(j, "stride", a->stride, TC_LEVEL_STRIDE);
}

void ti_limits_fft(tc_judge *j)
{
    at_most(j, "height", ti_operand(j, 0)->dim[1], TC_LEVEL_KERNEL);
    at_most(j, "width", ti_operand(j, 0)->dim[2], TC_LEVEL_KERNEL);
}

void ti_limits_list(tc_judge *j)
{
    at_most(j, "the number of operands", j->node->n_in, TC_LEVEL_LIST);
    at_most(j, "the number of results", j->node->n_out, TC_LEVEL_LIST);
}

/* numerator / denominator <= 256:  n > 256 d  is  (n - 1) / d >= 256. */
void ti_limits_resize(tc_judge *j)
{
    const int64_t *scale = ti_value_of(j->g, j->node->in[1])->data;
    for (int i = 0; scale && i < 4; i += 2)
        if (scale[i] > 0 && scale[i + 1] > 0 && (scale[i] - 1) / scale[i + 1] >= TC_LEVEL_SCALE)
            TC_BREAKS(j, TOSA_LEVEL, "scale is %" PRId64 "/%" PRId64 ", level 8K allows %d",
                      scale[i], scale[i + 1], TC_LEVEL_SCALE);
}

/* ---- values of attributes and operands ------------------------------------------------------- */

void ti_limits_clamp(tc_judge *j)
{
    const tc_attr_tosa_clamp *a = j->node->attr;
    if (isnan(a->min_val) || isnan(a->max_val))
        TC_BREAKS(j, TOSA_RULE, "the bounds are %g and %g, NaN is not allowed", a->min_val,
                  a->max_val);
    else if (a->max_val < a->min_val)
        TC_BREAKS(j, TOSA_RULE, "max_val %g is less than min_val %g", a->max_val, a->min_val);
}

/* The zero point of one side of a rescale: any for i8; 0 or 32768 for unsigned i16; else 0. */
static void rescale_zero(tc_judge *j, int operand, const char *name, bool is_unsigned)
{
    tc_tensor zero = ti_tensor_of(j->g, j->node->in[operand]);
    if (!zero.data || zero.type->dtype == TC_i8)
        return;
    bool u16 = zero.type->dtype == TC_i16 && is_unsigned;
    int64_t value = ti_load_i64(zero, 0);
    if (u16)
        value &= 0xffff;
    if (value != 0 && !(u16 && value == 32768))
        TC_BREAKS(j, TOSA_RULE, "%s is %" PRId64 ", %s%s allows %s", name, value,
                  is_unsigned ? "unsigned " : "", tc_dtypes[zero.type->dtype].name,
                  u16 ? "0 and 32768" : "only 0");
}

void ti_limits_rescale(tc_judge *j)
{
    const tc_attr_tosa_rescale *a = j->node->attr;
    tc_dtype in = ti_operand(j, 0)->dtype, out = ti_result(j, 0)->dtype;
    bool wide_in = in == TC_i32 || in == TC_i48;
    const struct {
        bool broken;
        const char *what;
    } found[] = {
        {a->scale32 && in == TC_i48, "scale32 is not for i48"},
        {!a->scale32 && a->rounding_mode == TC_rounding_double,
         "double rounding is for scale32 only"},
        {a->input_unsigned && a->output_unsigned, "input and output may not both be unsigned"},
        {a->input_unsigned && wide_in, "i32 and i48 cannot be read as unsigned"},
        {a->input_unsigned && out == TC_i32, "an unsigned input cannot become i32"},
        {a->output_unsigned && wide_in, "i32 and i48 cannot become unsigned"},
        {a->output_unsigned && out == TC_i32, "i32 cannot be written as unsigned"},
    };
    for (size_t i = 0; i < TC_COUNT(found); i++)
        if (found[i].broken)
            TC_BREAKS(j, TOSA_RULE, "from %s to %s: %s", tc_dtypes[in].name, tc_dtypes[out].name,
                      found[i].what);
    rescale_zero(j, 3, "input_zp", a->input_unsigned);
    rescale_zero(j, 4, "output_zp", a->output_unsigned);
    if (a->rounding_mode == TC_rounding_double)
        ti_judge_need(j, TC_FEATURE_DOUBLE, "double rounding");
    if (a->rounding_mode == TC_rounding_inexact)
        ti_judge_need(j, TC_FEATURE_INEXACT, "inexact rounding");
}

/* ---- control flow ---------------------------------------------------------------------------- */

static bool one_bool(const tc_type *t)
{
    return t->dtype == TC_bool && tc_type_count(t) == 1;
}

/* Values of one graph against those of another, one by one. */
static void same_types(tc_judge *j, const char *what, const tc_graph *a, const tc_val *x, size_t n,
                       const tc_graph *b, const tc_val *y, size_t m)
{
    if (n != m) {
        TC_BREAKS(j, TOSA_RULE, "%s: %zu tensors on one side, %zu on the other", what, n, m);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const tc_type *s = ti_type_of(a, x[i]), *t = ti_type_of(b, y[i]);
        if (s->dtype != t->dtype || !ti_same_dims(s, t))
            TC_BREAKS(j, TOSA_RULE, "%s: tensor %zu is %s on one side, %s on the other", what, i,
                      ti_type_text(&j->ctx->scratch, s), ti_type_text(&j->ctx->scratch, t));
    }
}

static const tc_graph *graph_named(tc_judge *j, const char *what, const char *name)
{
    const tc_graph *g = ti_map_get(&j->graphs, ti_str_of(name));
    if (!g)
        TC_BREAKS(j, TOSA_RULE, "%s '%s' is not in the file", what, name);
    return g;
}

static void branch(tc_judge *j, const char *what, const char *name)
{
    const tc_node *node = j->node;
    const tc_graph *g = graph_named(j, what, name);
    if (!g)
        return;
    same_types(j, "operands and the branch's inputs", j->g, node->in + 1, (size_t)node->n_in - 1, g,
               g->in, g->n_in);
    same_types(j, "results and the branch's outputs", j->g, node->out, (size_t)node->n_out, g,
               g->out, g->n_out);
}

void ti_limits_cond_if(tc_judge *j)
{
    const tc_attr_tosa_cond_if *a = j->node->attr;
    ti_limits_list(j);
    if (!one_bool(ti_operand(j, 0)))
        TC_BREAKS(j, TOSA_RULE, "the condition is %s, expected one bool",
                  ti_type_text(&j->ctx->scratch, ti_operand(j, 0)));
    branch(j, "then_graph", a->then_graph);
    branch(j, "else_graph", a->else_graph);
}

void ti_limits_while_loop(tc_judge *j)
{
    const tc_attr_tosa_while *a = j->node->attr;
    const tc_node *node = j->node;
    size_t n = (size_t)node->n_in;
    ti_limits_list(j);
    same_types(j, "operands and results", j->g, node->in, n, j->g, node->out, (size_t)node->n_out);
    const tc_graph *cond = graph_named(j, "cond_graph", a->cond_graph);
    const tc_graph *body = graph_named(j, "body_graph", a->body_graph);
    if (cond) {
        same_types(j, "operands and the condition's inputs", j->g, node->in, n, cond, cond->in,
                   cond->n_in);
        if (cond->n_out != 1 || !one_bool(ti_type_of(cond, cond->out[0])))
            TC_BREAKS(j, TOSA_RULE, "cond_graph '%s' does not give one bool", a->cond_graph);
    }
    if (body) {
        same_types(j, "operands and the body's inputs", j->g, node->in, n, body, body->in,
                   body->n_in);
        same_types(j, "operands and the body's outputs", j->g, node->in, n, body, body->out,
                   body->n_out);
    }
}

/* The graphs that a node runs. */
static int graphs_of(const tc_node *node, const char *name[2])
{
    if (!node->attr || (node->op != TC_OP_tosa_cond_if && node->op != TC_OP_tosa_while_loop))
        return 0;
    const tc_attr_tosa_cond_if *a = node->attr;
    const tc_attr_tosa_while *w = node->attr;
    bool cond_if = node->op == TC_OP_tosa_cond_if;
    name[0] = cond_if ? a->then_graph : w->cond_graph;
    name[1] = cond_if ? a->else_graph : w->body_graph;
    return 2;
}

/* Level by level from the program down; a graph that runs itself goes on past any depth. */
void ti_judge_nesting(tc_judge *j)
{
    size_t n = j->module->n_graph;
    tc_map depth; /* graph name to the depth it was last seen at, plus one */
    ti_map_init(&depth, &j->ctx->scratch);
    *ti_map_at(&depth, ti_str_of(ti_main(j->module)->name)) = (void *)1;
    for (uintptr_t level = 1; level <= TC_LEVEL_NESTING + 1; level++)
        for (size_t i = 0; i < n; i++) {
            const tc_graph *g = j->g = j->module->graph[i];
            if ((uintptr_t)ti_map_get(&depth, ti_str_of(g->name)) != level)
                continue;
            for (size_t k = 0; k < g->n_node; k++) {
                const char *name[2];
                j->node = g->node[k];
                int runs = graphs_of(g->node[k], name);
                if (runs && level > TC_LEVEL_NESTING) {
                    TC_BREAKS(j, TOSA_LEVEL, "is nested deeper than %d", TC_LEVEL_NESTING);
                    return;
                }
                for (int r = 0; r < runs; r++)
                    *ti_map_at(&depth, ti_str_of(name[r])) = (void *)(level + 1);
            }
        }
}

/* ---- variables ------------------------------------------------------------------------------- */

void ti_limits_variable(tc_judge *j)
{
    const tc_attr_tosa_variable *a = j->node->attr;
    const tc_type *declared = ti_map_get(&j->variables, ti_str_of(a->name));
    const tc_type *type = j->node->n_out ? ti_result(j, 0) : ti_operand(j, 0);
    if (!declared)
        TC_BREAKS(j, TOSA_RULE, "there is no variable '%s'", a->name);
    else if (declared->dtype != type->dtype || !ti_same_dims(declared, type))
        TC_BREAKS(j, TOSA_RULE, "variable '%s' is declared %s, and is %s here", a->name,
                  ti_type_text(&j->ctx->scratch, declared), ti_type_text(&j->ctx->scratch, type));
    if (j->node->op == TC_OP_tosa_variable && j->node->n_in && ti_operand(j, 0) != type)
        TC_BREAKS(j, TOSA_RULE, "the initial value of '%s' is %s", a->name,
                  ti_type_text(&j->ctx->scratch, ti_operand(j, 0)));
}
