/* SPDX-License-Identifier: Apache-2.0 */
/* odd.c -- operators with shapes and attributes that nobody would write: a result or a message. */
#include "odd_op.h"

static bool once(tc_op op)
{
    static const tc_dtype type[] = {TC_f32, TC_f32, TC_f32,  TC_f64, TC_bf16,
                                    TC_i64, TC_i8,  TC_bool, TC_c64};
    const tc_op_info *info = &tc_ops[op];
    tc_ctx *ctx = tc_ctx_new();
    int64_t pool[2] = {1 + (int64_t)draw(4), 1 + (int64_t)draw(4)};
    int rank = (int)draw(6), most = info->max_in == TC_ANY ? 12 : info->max_in;
    int n_in = info->min_in + (int)draw((uint64_t)(most - info->min_in) + 1);
    int n_out = info->n_out == TC_ANY ? 1 + (int)draw(3) : info->n_out;
    tc_dtype dtype = type[draw(TC_COUNT(type))];
    tc_tensor in[16], out[4];
    char *record = ti_arena_array(&ctx->arena, 1, tc_attrs[info->attr].size + 1, 16);
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
    if (setjmp(ctx->oom)) {
        tc_ctx_free(ctx);
        return false;
    }
    bool made = run_op(ctx, op, tc_attrs[info->attr].n_field ? record : NULL, in, n_in, out, n_out) == TC_OK;
    CHECK(made == (ctx->n_error == 0)); /* one of both, never neither */
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
    return check_done();
}
