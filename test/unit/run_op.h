/* SPDX-License-Identifier: Apache-2.0 */
/* run_op.h -- one operator on small numbers written in the test: shape rule, then kernel. */
#ifndef TC_RUN_OP_H
#define TC_RUN_OP_H

#include <math.h>

#include "check.h"
#include "run/eval.h"
#include "ir/graph.h"
#include "num/load.h"

#define DIMS(...)                                                                                  \
    (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[])                         \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define INTS(...)                                                                                  \
    ((tc_ints){(int32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),                      \
               (int64_t[]){__VA_ARGS__}})
#define FLOATS(...)                                                                                \
    ((tc_floats){(int32_t)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)),                      \
                 (double[]){__VA_ARGS__}})

/* A tensor of given numbers. */
static inline tc_tensor tensor_of(tc_ctx *ctx, tc_dtype dtype, int rank, const int64_t *dim,
                                  const double *v)
{
    tc_tensor t = ti_tensor_new(&ctx->arena, ti_type_make(ctx, dtype, rank, dim));
    for (int64_t i = 0; i < tc_type_count(t.type); i++)
        ti_store_f64(t, i, v[i]);
    return t;
}

/* A tensor of small numbers that look random and are the same every time. */
static inline tc_tensor noise(tc_ctx *ctx, tc_dtype dtype, int rank, const int64_t *dim,
                              uint32_t seed)
{
    tc_tensor t = ti_tensor_new(&ctx->arena, ti_type_make(ctx, dtype, rank, dim));
    for (int64_t i = 0; i < tc_type_count(t.type); i++) {
        seed = seed * 1664525u + 1013904223u;
        int32_t small = (int32_t)(seed >> 16 & 0xff) - 128;
        ti_store_f64(t, i, ti_is_float(dtype) ? small / 64.0 : small % 16);
    }
    return t;
}

/* Status of the rule or the kernel; results in out. */
static inline tc_status run_op(tc_ctx *ctx, tc_op op, const void *attr, const tc_tensor *in,
                               int n_in, tc_tensor *out, int n_out)
{
    tc_graph *g = ti_graph_new(ti_module_new(ctx, "test"), "main");
    tc_val val[32];
    for (int i = 0; i < n_in; i++)
        val[i] = in[i].type ? ti_graph_input(g, in[i].type, NULL) : TC_NONE;
    tc_node *node;
    TC_TRY(ti_graph_emit(g, op, attr, val, n_in, n_out, NULL, &node));
    return ti_eval_node(g, node, in, out, &ctx->arena);
}

/* The same where it must work. */
static inline tc_tensor run_ok(tc_ctx *ctx, tc_op op, const void *attr, const tc_tensor *in,
                               int n_in)
{
    tc_tensor out[3];
    tc_status status =
        run_op(ctx, op, attr, in, n_in, out, tc_ops[op].n_out == TC_ANY ? 1 : tc_ops[op].n_out);
    CHECK(status == TC_OK);
    if (status == TC_OK)
        return out[0];
    fprintf(stderr, "%s", tc_diagnostics(ctx));
    return tensor_of(ctx, TC_f32, 0, NULL, (double[]){0});
}

static inline bool has_dims(tc_tensor t, int rank, const int64_t *dim)
{
    return t.type->rank == rank && memcmp(t.type->dim, dim, (size_t)rank * sizeof *dim) == 0;
}

/* Every element as expected, within `within` of the largest. */
static inline bool is_near(tc_tensor t, const double *expected, double within)
{
    double top = 1e-30;
    int64_t n = tc_type_count(t.type);
    for (int64_t i = 0; i < n; i++)
        top = fmax(top, fabs(expected[i]));
    for (int64_t i = 0; i < n; i++)
        if (!(fabs(ti_load_f64(t, i) - expected[i]) <= within * top)) {
            fprintf(stderr, "element %d is %.9g, expected %.9g\n", (int)i, ti_load_f64(t, i),
                    expected[i]);
            return false;
        }
    return true;
}

static inline bool same_numbers(tc_tensor a, tc_tensor b, double within)
{
    double v[4096];
    int64_t n = tc_type_count(b.type);
    for (int64_t i = 0; i < n && i < 4096; i++)
        v[i] = ti_load_f64(b, i);
    return n <= 4096 && tc_type_count(a.type) == n && is_near(a, v, within);
}

#endif
