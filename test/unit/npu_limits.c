/* SPDX-License-Identifier: Apache-2.0 */
/* npu_limits.c -- what an Ethos-U does not take of TOSA, and why: operators one by one. */
#include "check.h"

#include "ir/ir_text.h"
#include "target/target.h"

typedef struct row {
    const char *in, *body, *said; /* NULL: it is taken */
    bool u85;                     /* the larger machine takes it */
} row;

#define ZERO "  %8 = const [0] : i8[1]\n"
#define BIAS "  %7 = const [0] : i32[1]\n" ZERO
#define ACC " local_bound=false acc_type=i32 : "
#define X "%0: i8[1,8,8,4]"

static const row rows[] = {
    {X, "  %1 = tosa.abs %0 : i8[1,8,8,4]\n", NULL, true},
    {"%0: f32[4]", "  %1 = tosa.exp %0 : f32[4]\n", "computes with integers only", false},
    {"%0: i8[1,1,1,1,1,1,2]", "  %1 = tosa.identity %0 : i8[1,1,1,1,1,1,2]\n", "at most six axes",
     false},
    {"%0: bool[4]", "  %1 = tosa.identity %0 : bool[4]\n", "no bool values", true},
    {"%0: i32[4], %1: i32[4]", "  %2 = tosa.bitwise_and %0, %1 : i32[4]\n", "has no bitwise_and",
     true},
    {"%0: i32[4], %1: i32[4]", "  %2 = tosa.intdiv %0, %1 : i32[4]\n", "has no intdiv", true},
    {X ", %1: i8[256]", "  %2 = tosa.table %0, %1 : i8[1,8,8,4]\n", "the table must be constant",
     false},
    {X, ZERO "  %9 = tosa.avg_pool2d %0, %8, %8 kernel=[2,2] stride=[4,1] pad=[0,0,0,0] "
             "acc_type=i32 : i8[1,2,7,4]\n",
     "its stride is above 3", true},
    {X, ZERO "  %9 = tosa.avg_pool2d %0, %8, %8 kernel=[2,2] stride=[2,1] pad=[0,0,0,0] "
             "acc_type=i32 : i8[1,4,7,4]\n",
     NULL, true},
    {X,
     "  %9 = tosa.max_pool2d %0 kernel=[2,2] stride=[4,4] pad=[0,0,0,0] nan_mode=propagate : "
     "i8[1,2,2,4]\n",
     "its stride is above 3", true},
    {X ", %1: i8[1,2,2,4]",
     BIAS "  %9 = tosa.transpose_conv2d %0, %1, %7, %8, %8 out_pad=[0,0,0,0] stride=[1,1]" ACC
          "i32[1,9,9,1]\n",
     "its weights must be constant", false},
    {X,
     BIAS "  %1 = const [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1] : i8[1,2,2,4]\n"
          "  %9 = tosa.transpose_conv2d %0, %1, %7, %8, %8 out_pad=[0,0,0,0] stride=[3,3]" ACC
          "i32[1,23,23,1]\n",
     "its stride is neither 1 nor 2", true},
    {X,
     BIAS "  %1 = const [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1] : i8[1,2,2,4]\n"
          "  %9 = tosa.transpose_conv2d %0, %1, %7, %8, %8 out_pad=[0,0,0,0] stride=[2,2]" ACC
          "i32[1,16,16,1]\n",
     NULL, true},
    {"%0: i8[1,2,8,8,1]",
     BIAS "  %1 = const [1,1] : i8[1,2,1,1,1]\n"
          "  %9 = tosa.conv3d %0, %1, %7, %8, %8 pad=[0,0,0,0,0,0] stride=[1,1,1] "
          "dilation=[1,1,1]" ACC "i32[1,1,8,8,1]\n",
     "its kernel is deeper than 1", true},
    {"%0: i8[1,8,8,200]", "  %1 = tosa.argmax %0 axis=3 nan_mode=propagate : i32[1,8,8]\n",
     "of at most 127", true},
    {X, "  %1 = tosa.argmax %0 axis=1 nan_mode=propagate : i32[1,8,4]\n", "over the last axis only",
     true},
    {X, "  %1 = tosa.argmax %0 axis=3 nan_mode=propagate : i32[1,8,8]\n", NULL, true},
    {"%0: i16[1,8]", "  %1 = tosa.argmax %0 axis=1 nan_mode=propagate : i32[1]\n",
     "8-bit numbers only", true},
    {"%0: i32[1,8]", "  %1 = tosa.reduce_max %0 axis=1 nan_mode=propagate : i32[1,1]\n",
     "8-bit and 16-bit numbers only", true},
    {"%0: i8[4], %1: i8[4]", "  %2 = tosa.arithmetic_right_shift %0, %1 round=true : i8[4]\n",
     "32-bit numbers only", true},
    {X, "  %1 = tosa.reverse %0 axis=3 : i8[1,8,8,4]\n", "the last axis is not reversed", true},
    {X, "  %1 = tosa.reverse %0 axis=1 : i8[1,8,8,4]\n", NULL, true},
    /* sizes twice as large, the nearest: corners on corners, or centres on centres */
    {X,
     "  %1 = const [2,1,2,1] : shape[4]\n  %2 = const [0,0] : shape[2]\n"
     "  %9 = tosa.resize %0, %1, %2, %2 mode=nearest : i8[1,15,15,4]\n",
     NULL, true},
    {X,
     "  %1 = const [4,2,4,2] : shape[4]\n  %2 = const [-1,-1] : shape[2]\n"
     "  %3 = const [1,1] : shape[2]\n"
     "  %9 = tosa.resize %0, %1, %2, %3 mode=nearest : i8[1,16,16,4]\n",
     NULL, true},
    {X,
     "  %1 = const [2,1,2,1] : shape[4]\n  %2 = const [0,0] : shape[2]\n"
     "  %9 = tosa.resize %0, %1, %2, %2 mode=bilinear : i32[1,15,15,4]\n",
     "nearest only", true},
    {X,
     "  %1 = const [3,1,3,1] : shape[4]\n  %2 = const [0,0] : shape[2]\n"
     "  %9 = tosa.resize %0, %1, %2, %2 mode=nearest : i8[1,22,22,4]\n",
     "enlarge both axes by the same 2, 4 or 8", true},
    {X,
     "  %1 = const [4,1,2,1] : shape[4]\n  %2 = const [0,0] : shape[2]\n"
     "  %9 = tosa.resize %0, %1, %2, %2 mode=nearest : i8[1,29,15,4]\n",
     "both axes by the same", true},
};

static const char *refusal(tc_ctx *ctx, const char *target, const row *r)
{
    tc_target t;
    tc_module *module = NULL;
    const char *last = r->body; /* its last line gives the result */
    for (const char *p = r->body; (p = strstr(p, "\n  %")); p++)
        last = p + 1;
    last += strspn(last, " ");
    const char *text = ti_text_format(&ctx->arena, "graph @main(%s) {\n%s  return %.*s\n}\n", r->in,
                                      r->body, (int)strcspn(last, " "), last);
    tc_bytes bytes = {(const uint8_t *)text, strlen(text)};
    if (ti_target_parse(ctx, target, &t) != TC_OK ||
        ti_parse(ctx, "t.ir", bytes, (tc_bytes){NULL, 0}, &module) != TC_OK)
        return tc_diagnostics(ctx);
    return ti_machine_refuses(ctx, t.machine, ti_main(module));
}

static bool holds(const char *target, const row *r, const char *words)
{
    tc_ctx *ctx = tc_ctx_new();
    const char *said = refusal(ctx, target, r);
    bool good = words ? said && strstr(said, words) : !said;
    if (!good)
        fprintf(stderr, "%s: %sexpected '%s', said '%s'\n", target, r->body, words ? words : "",
                said ? said : "");
    tc_ctx_free(ctx);
    return good;
}

int main(void)
{
    static check_state state[2][TC_COUNT(rows)];
    for (size_t i = 0; i < TC_COUNT(rows); i++) {
        const row *r = &rows[i];
        check_once(&state[0][i], holds("ethos-u55-128", r, r->said), __FILE__, __LINE__, r->body);
        check_once(&state[1][i], holds("ethos-u85-256", r, r->u85 ? NULL : r->said), __FILE__,
                   __LINE__, r->body);
    }
    return check_done();
}
