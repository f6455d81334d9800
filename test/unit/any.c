/* SPDX-License-Identifier: Apache-2.0 */
/* any.c -- operators given any operands and attributes: a result of the stated type, or a message;
 * run it with sanitizers to see that nothing else happens.  Covers what moves, picks, reduces,
 * makes, transforms and quantizes. */
#include "check.h"

#include <stdlib.h>

#include "run/eval.h"
#include "ir/graph.h"
#include "num/load.h"

static uint64_t seed = 11;

static int64_t dice(int64_t sides)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)(seed >> 33) % sides;
}

/* Small numbers mostly, so that many attributes make sense; extremes sometimes. */
static int64_t any_int(void)
{
    static const int64_t edge[] = {INT64_MIN, INT64_MAX, INT32_MAX, -100, 1000000};
    return dice(60) ? dice(6) - (dice(6) == 0) : edge[dice(TC_COUNT(edge))];
}

static double any_float(void)
{
    static const double edge[] = {0, -1, 1e300, -1e300, 0.1, 2.5, 1.0 / 3};
    double zero = 0;
    return dice(20) ? edge[dice(TC_COUNT(edge))] : dice(2) ? zero / zero : 1 / zero;
}

static tc_dtype any_dtype(void)
{
    static const tc_dtype common[] = {TC_f32, TC_f32, TC_f32, TC_i64, TC_i64, TC_bool, TC_i8};
    return dice(4) ? common[dice(TC_COUNT(common))] : (tc_dtype)dice(TC_DTYPE_COUNT);
}

static void fill_field(tc_ctx *ctx, const tc_field *field, char *record)
{
    char *at = record + field->at;
    int n = (int)dice(5);
    int64_t *ints = tc_new_n(&ctx->arena, int64_t, 16);
    for (int i = 0; i < 16; i++)
        ints[i] = any_int();
    if (field->kind == TC_FIELD_i64)
        *(int64_t *)at = any_int();
    else if (field->kind == TC_FIELD_f64)
        *(double *)at = any_float();
    else if (field->kind == TC_FIELD_bool || field->kind == TC_FIELD_flag)
        *(bool *)at = dice(2);
    else if (field->kind == TC_FIELD_ints)
        *(tc_ints *)at = (tc_ints){dice(4) ? n : 2 * n, ints};
    else if (field->kind == TC_FIELD_dtype)
        *(tc_dtype *)at = any_dtype();
    else if (field->kind >= TC_FIELD_CHOICES)
        *(int *)at = (int)dice(tc_choices[field->kind - TC_FIELD_CHOICES].count);
}

/* A constant with small numbers; some of the shapes repeat, so that operands fit. */
static tc_val any_operand(tc_ctx *ctx, tc_graph *g, const tc_type *like)
{
    tc_type type = {.dtype = any_dtype(), .rank = (int32_t)dice(5)};
    for (int i = 0; i < type.rank; i++)
        type.dim[i] = dice(10) ? 1 + dice(4) : 0;
    if (like && dice(3)) {
        tc_dtype dtype = type.dtype;
        type = *like;
        type.dtype = dice(2) ? dtype : like->dtype;
    }
    if (type.dtype == TC_none)
        type.dtype = TC_f32;
    tc_tensor t = ti_tensor_new(&ctx->arena, ti_type_intern(ctx, &type));
    for (int64_t i = 0; i < tc_type_count(&type); i++)
        if (ti_is_float(type.dtype))
            ti_store_f64(t, i, any_float());
        else
            ti_store_i64(t, i, dice(5) - (dice(5) == 0));
    if (type.dtype == TC_c64)
        memset(t.data, 0, tc_type_bytes(&type));
    return ti_graph_const(g, t.type, t.data, NULL, NULL);
}

/* It gave a result; otherwise there is a message, or the result was too large to make here. */
static bool gives_result(tc_op op)
{
    enum { MOST = 100000 };
    tc_ctx *ctx = tc_ctx_new();
    tc_graph *g = ti_graph_new(ti_module_new(ctx, "any"), "any");
    const tc_op_info *info = &tc_ops[op];
    int most = info->max_in == TC_ANY ? info->min_in + 2 : info->max_in;
    int n_in = info->min_in + (int)dice(most - info->min_in + 1);
    int n_out = info->n_out == TC_ANY ? 1 + (int)dice(4) : info->n_out;
    tc_val in[16];
    tc_tensor operand[16], result[16];
    for (int i = 0; i < n_in; i++) {
        in[i] = i && !dice(10) ? TC_NONE
                               : any_operand(ctx, g, i && in[0] ? ti_type_of(g, in[0]) : NULL);
        operand[i] = ti_tensor_of(g, in[i]);
    }
    char *attr = tc_new_n(&ctx->arena, char, tc_attrs[info->attr].size + 1);
    for (int i = 0; i < tc_attrs[info->attr].n_field; i++)
        fill_field(ctx, &tc_attrs[info->attr].field[i], attr);
    tc_node *node;
    int64_t size = 0;
    bool ran = false;
    if (ti_graph_emit(g, op, attr, in, n_in, n_out, NULL, &node) == TC_OK) {
        for (int i = 0; i < n_out; i++)
            size += tc_type_count(ti_type_of(g, node->out[i]));
        ran = size < MOST && ti_eval_node(g, node, operand, result, &ctx->arena) == TC_OK;
    }
    CHECK(ran || size >= MOST || *tc_diagnostics(ctx));
    tc_ctx_free(ctx);
    return ran;
}

/* any [RUNS]: how often each operator is tried. */
int main(int argc, char **argv)
{
    static const struct {
        tc_op first, last;
    } part[] = {{TC_OP_identity, TC_OP_identity},
                {TC_OP_sum, TC_OP_cumprod},
                {TC_OP_reshape, TC_OP_rescale}};
    int runs = argc > 1 ? atoi(argv[1]) : 400, ran = 0, tried = 0;
    for (size_t i = 0; i < TC_COUNT(part); i++)
        for (int op = (int)part[i].first; op <= (int)part[i].last; op++)
            for (int k = 0; k < runs; k++, tried++)
                ran += gives_result((tc_op)op);
    CHECK(ran > tried / 10);
    return check_done();
}
