/* SPDX-License-Identifier: Apache-2.0 */
/* lower_long.c -- sums of products that 32 bits do not hold: in parts, and only then. */
#include "lower_check.h"

static const char INT[] = "TOSA-1.0+INT", U55[] = "ethos-u55-128";

/* One operator on i8 with constant weights of n codes, all `code`. */
static const char *text_of(tc_ctx *ctx, const char *inputs, int64_t n, int code, const char *type,
                           const char *body)
{
    tc_buf out;
    ti_buf_init(&out, &ctx->arena);
    ti_buf_printf(&out, "graph @t(%s) {\n  %%1 = const [", inputs);
    for (int64_t i = 0; i < n; i++)
        ti_buf_printf(&out, i + 1 < n ? "%d, " : "%d", code);
    ti_buf_printf(&out, "] : %s\n%s}\n", type, body);
    ti_buf_put(&out, "", 1);
    return (const char *)out.data;
}

typedef struct row {
    const char *inputs;
    int64_t n; /* weights */
    const char *type, *body;
    int parts; /* products, with weights of 127 */
} row;

static const row rows[] = {
    {"%0: i8[2,140000] q(0.05:-128)", 140000, "i8[1,140000] q(axis=0; 0.01:0)",
     "  %2 = linear %0, %1, none : i8[2,1] q(60000:-128)\n  return %2\n", 4},
    {"%0: i8[2,140000] q(0.05:0)", 140000, "i8[1,140000] q(axis=0; 0.01:0)",
     "  %2 = linear %0, %1, none : i8[2,1] q(10000:0)\n  return %2\n", 2},
    {"%0: i8[1,1,380,370] q(0.05:-128)", 140600, "i8[1,1,380,370] q(axis=0; 0.01:0)",
     "  %2 = conv %0, %1, none stride=[1,1] pad=[0,0,0,0] dilation=[1,1] groups=1 : i8[1,1,1,1] "
     "q(60000:-128)\n  return %2\n", 4},
    /* a border: parts of the kernel see less of it, or nothing else */
    {"%0: i8[1,1,300,3] q(0.05:-128)", 240000, "i8[1,1,600,400] q(axis=0; 0.01:0)",
     "  %2 = conv %0, %1, none stride=[300,1] pad=[300,300,200,200] dilation=[1,1] groups=1 : "
     "i8[1,1,2,4] q(400:-128)\n  return %2\n", -1},
    {"%0: i8[1,2,300,300] q(0.05:-128)", 180000, "i8[2,1,300,300] q(axis=0; 0.01:0, 0.02:0)",
     "  %2 = conv %0, %1, none stride=[1,1] pad=[0,0,0,0] dilation=[1,1] groups=2 : i8[1,2,1,1] "
     "q(60000:-128)\n  return %2\n", -1},
    {"%0: i8[1,140000,2,1] q(0.05:-128)", 280000, "i8[140000,1,2,1] q(0.01:0)",
     "  %2 = conv_transpose %0, %1, none stride=[1,1] pad=[0,0] out_pad=[0,0] dilation=[1,1] "
     "groups=1 : i8[1,1,3,1] q(60000:-128)\n  return %2\n", -1},
};

static const char matrices[] =
    "graph @t(%0: i8[1,1,140000] q(0.05:-128), %1: i8[1,140000,1] q(0.01:-128)) {\n"
    "  %2 = matmul %0, %1 : i8[1,1,1] q(60000:-128)\n  return %2\n}\n";

int main(void)
{
    for (size_t i = 0; i < TC_COUNT(rows); i++) {
        tc_ctx *ctx = tc_ctx_new();
        const row *r = &rows[i];
        const char *top = text_of(ctx, r->inputs, r->n, 127, r->type, r->body),
                   *low = text_of(ctx, r->inputs, r->n, 3, r->type, r->body);
        LOWERS(INT, 1, top);
        if (r->parts > 0)
            CHECK(lower_count(INT, TC_OP_tosa_conv2d, top) == r->parts);
        if (r->parts > 0) /* the weights that there are decide, not the largest there could be */
            CHECK(lower_count(INT, TC_OP_tosa_conv2d, low) == 1);
        CHECK(lower_count(INT, TC_OP_tosa_add, low) == 0);
        tc_ctx_free(ctx);
    }
    LOWERS(INT, 1, matrices);
    LOWERS(U55, 1, matrices);
    CHECK(lower_count(INT, TC_OP_tosa_matmul, matrices) == 5);
    return check_done();
}
