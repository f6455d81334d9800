/* SPDX-License-Identifier: Apache-2.0 */
/* odd.c -- operators with shapes and attributes that nobody would write: a result or a message. */
#include <stdlib.h>

#include "run_op.h"

static uint64_t state = 88172645463325252u;

static uint64_t draw(uint64_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % n;
}

/* Small numbers mostly, and now and then one at an edge. */
static int64_t odd_int(void)
{
    static const int64_t edge[] = {-1, -7, INT16_MAX, INT32_MAX, INT32_MAX / 4, INT64_MAX, INT64_MIN, 1 << 20};
    return draw(12) ? (int64_t)draw(4) : edge[draw(TC_COUNT(edge))];
}

static double odd_float(void)
{
    static const double edge[] = {0, -1, 1e300, -1e-300, INFINITY, -INFINITY, NAN, 0.5, 2, 1e-5};
    return edge[draw(TC_COUNT(edge))];
}

static const char *odd_text(tc_ctx *ctx)
{
    static const char piece[] = "ijkB.,->  ";
    char text[24];
    size_t n = draw(sizeof text - 1);
    for (size_t i = 0; i < n; i++)
        text[i] = piece[draw(sizeof piece - 1)];
    return tc_intern(ctx, (tc_str){text, n});
}

static void fill(tc_ctx *ctx, const tc_field *field, int axes, char *record)
{
    void *at = record + field->at;
    int32_t n = (int32_t)(draw(8) ? axes * (tc_text_eq(field->name, "pad") && draw(2) ? 2 : 1) : (int)draw(5));
    if (field->kind == TC_FIELD_i64)
        *(int64_t *)at = odd_int();
    else if (field->kind == TC_FIELD_f64)
        *(double *)at = odd_float();
    else if (field->kind == TC_FIELD_bool)
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
static tc_tensor odd_tensor(tc_ctx *ctx, tc_dtype dtype, int rank, const int64_t *pool)
{
    int64_t dim[TC_MAX_RANK];
    for (int i = 0; i < rank; i++)
        dim[i] = draw(8) ? pool[draw(2)] : (int64_t)draw(5);
    tc_tensor t = noise(ctx, dtype, rank, dim, (uint32_t)draw(1000));
    for (int64_t i = 0; draw(4) == 0 && i < tc_type_count(t.type); i++)
        tc_store_f64(t, i, odd_float());
    return t;
}

static bool once(tc_op op)
{
    static const tc_dtype type[] = {TC_f32, TC_f32, TC_f32, TC_f64, TC_bf16, TC_i64, TC_i8, TC_bool, TC_c64};
    const tc_op_info *info = &tc_ops[op];
    tc_ctx *ctx = tc_ctx_new();
    int64_t pool[2] = {1 + (int64_t)draw(4), 1 + (int64_t)draw(4)};
    int rank = (int)draw(6), most = info->max_in == TC_ANY ? 12 : info->max_in;
    int n_in = info->min_in + (int)draw((uint64_t)(most - info->min_in) + 1);
    int n_out = info->n_out == TC_ANY ? 1 + (int)draw(3) : info->n_out;
    tc_dtype dtype = type[draw(TC_COUNT(type))];
    tc_tensor in[16], out[4];
    char *record = tc_arena_array(&ctx->arena, 1, tc_attrs[info->attr].size + 1, 16);
    for (int i = 0; i < tc_attrs[info->attr].n_field; i++)
        fill(ctx, &tc_attrs[info->attr].field[i], rank > 2 ? rank - 2 : 1, record);
    for (int i = 0; i < n_in; i++) {
        tc_dtype own = draw(10) ? dtype : type[draw(TC_COUNT(type))];
        in[i] = odd_tensor(ctx, own, draw(6) ? rank : (int)draw(6), pool);
        if (draw(20) == 0)
            in[i] = (tc_tensor){NULL, NULL};
    }
    /* Working memory is bounded, as it is for any program; past it the call is given up. */
    ctx->arena.limit = ctx->scratch.limit = 64u << 20;
    ctx->arena.oom = ctx->scratch.oom = &ctx->oom;
    bool made = setjmp(ctx->oom) == 0 && run_op(ctx, op, record, in, n_in, out, n_out) == TC_OK;
    tc_ctx_free(ctx);
    return made;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 200;
    for (int op = 1; op < TC_OP_COUNT; op++) {
        if (tc_ops[op].traits & (T_CONTROL | T_STATE))
            continue; /* they need graphs or variables of their own */
        int made = 0;
        for (int i = 0; i < rounds; i++)
            made += once((tc_op)op);
        if (argc > 2)
            printf("%-24s %d of %d\n", tc_ops[op].name, made, rounds);
    }
    CHECK(true); /* it came to its end */
    return check_done();
}
