/* SPDX-License-Identifier: Apache-2.0 */
/* odd_op.h -- shapes and attributes that nobody would write, the same every time. */
#ifndef TC_ODD_OP_H
#define TC_ODD_OP_H

#include <stdlib.h>

#include "run_op.h"

static uint64_t state = 88172645463325252u;

static inline uint64_t draw(uint64_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % n;
}

/* Small numbers mostly, and now and then one at an edge. */
static inline int64_t odd_int(void)
{
    static const int64_t edge[] = {-1,        -7,        INT16_MAX, INT32_MAX, INT32_MAX / 4,
                                   INT64_MAX, INT64_MIN, 1 << 20};
    return draw(12) ? (int64_t)draw(4) : edge[draw(TC_COUNT(edge))];
}

static inline double odd_float(void)
{
    static const double edge[] = {0, -1, 1e300, -1e-300, INFINITY, -INFINITY, NAN, 0.5, 2, 1e-5};
    return edge[draw(TC_COUNT(edge))];
}

static inline const char *odd_text(tc_ctx *ctx)
{
    static const char piece[] = "ijkB.,->  ";
    char text[24];
    size_t n = draw(sizeof text - 1);
    for (size_t i = 0; i < n; i++)
        text[i] = piece[draw(sizeof piece - 1)];
    return ti_intern(ctx, (tc_str){text, n});
}

static inline void fill(tc_ctx *ctx, const tc_field *field, int axes, char *record)
{
    void *at = record + field->at;
    int32_t n = (int32_t)(draw(8) ? axes * (ti_text_eq(field->name, "pad") && draw(2) ? 2 : 1)
                                  : (int)draw(5));
    if (field->kind == TC_FIELD_i64)
        *(int64_t *)at = odd_int();
    else if (field->kind == TC_FIELD_f64)
        *(double *)at = odd_float();
    else if (field->kind == TC_FIELD_bool || field->kind == TC_FIELD_flag)
        *(bool *)at = draw(2);
    else if (field->kind == TC_FIELD_text)
        *(const char **)at = odd_text(ctx);
    else if (field->kind == TC_FIELD_dtype)
        *(tc_dtype *)at = (tc_dtype)(1 + draw(TC_DTYPE_COUNT - 1));
    else if (field->kind == TC_FIELD_ints) {
        int64_t *v = tc_new_n(&ctx->arena, int64_t, (size_t)n);
        for (int i = 0; i < n; i++)
            v[i] = odd_int();
        *(tc_ints *)at = (tc_ints){n, v};
    } else if (field->kind == TC_FIELD_floats) {
        double *v = tc_new_n(&ctx->arena, double, (size_t)n);
        for (int i = 0; i < n; i++)
            v[i] = odd_float();
        *(tc_floats *)at = (tc_floats){draw(2) ? n : 0, v};
    } else if (field->kind >= TC_FIELD_CHOICES)
        *(int *)at = (int)draw((uint64_t)tc_choices[field->kind - TC_FIELD_CHOICES].count);
}

/* Extents that often agree, so that rules are passed and kernels run. */
static inline tc_tensor odd_tensor(tc_ctx *ctx, tc_dtype dtype, int rank, const int64_t *pool)
{
    int64_t dim[TC_MAX_RANK];
    for (int i = 0; i < rank; i++)
        dim[i] = draw(8) ? pool[draw(2)] : (int64_t)draw(5);
    tc_tensor t = noise(ctx, dtype, rank, dim, (uint32_t)draw(1000));
    for (int64_t i = 0; draw(4) == 0 && i < tc_type_count(t.type); i++)
        ti_store_f64(t, i, odd_float());
    return t;
}

#endif
