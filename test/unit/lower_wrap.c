/* SPDX-License-Identifier: Apache-2.0 */
/* lower_wrap.c -- narrow integers wrap, as PyTorch's do: the kernels give what it gave, and what is
 * lowered gives what the kernels do, in every profile. */
#include "lower_check.h"

enum { N = 12 };

static const struct {
    const char *name;
    int64_t x[2][N];
} operands[] = {
    {"i8",
     {{-128, -127, -100, -1, 0, 1, 7, 50, 100, 126, 127, -128},
      {-128, 127, -100, -128, 5, 127, -7, 3, 100, 3, 127, 127}}},
    {"i16",
     {{-32768, -32767, -20000, -1, 0, 1, 7, 300, 20000, 32766, 32767, -32768},
      {-32768, 32767, -20000, -32768, 5, 32767, -7, 300, 20000, 3, 32767, 32767}}},
    {"u8",
     {{0, 1, 2, 100, 127, 128, 129, 200, 254, 255, 3, 0},
      {255, 255, 3, 200, 127, 128, 2, 200, 3, 255, 250, 1}}},
};

/* By PyTorch 2.13. */
static const struct {
    const char *type, *op, *result;
    int64_t y[N];
} recorded[] = {
    {"i8", "add %0, %1 alpha=1", "i8",
     {0, 0, 56, 127, 5, -128, 0, 53, -56, -127, -2, -1}},
    {"i8", "add %0, %1 alpha=3", "i8",
     {0, -2, 112, 127, 15, 126, -14, 59, -112, -121, -4, -3}},
    {"i8", "sub %0, %1 alpha=1", "i8",
     {0, 2, 0, 127, -5, -126, 14, 47, 0, 123, 0, 1}},
    {"i8", "mul %0, %1", "i8",
     {0, -1, 16, -128, 0, 127, -49, -106, 16, 122, 1, -128}},
    {"i8", "neg %0", "i8",
     {-128, 127, 100, 1, 0, -1, -7, -50, -100, -126, -127, -128}},
    {"i8", "abs %0", "i8",
     {-128, 127, 100, 1, 0, 1, 7, 50, 100, 126, 127, -128}},
    {"i8", "square %0", "i8",
     {0, 1, 16, 1, 0, 1, 49, -60, 16, 4, 1, 0}},
    {"i8", "addcmul %0, %0, %1 value=1", "i8",
     {-128, -128, -84, 127, 0, -128, -42, -56, 116, -8, -128, 0}},
    {"i8", "cast %0 dtype=u8", "u8",
     {128, 129, 156, 255, 0, 1, 7, 50, 100, 126, 127, 128}},
    {"i8", "cast %0 dtype=i16", "i16",
     {-128, -127, -100, -1, 0, 1, 7, 50, 100, 126, 127, -128}},
    {"i16", "add %0, %1 alpha=1", "i16",
     {0, 0, 25536, 32767, 5, -32768, 0, 600, -25536, -32767, -2, -1}},
    {"i16", "add %0, %1 alpha=3", "i16",
     {0, -2, -14464, 32767, 15, 32766, -14, 1200, 14464, -32761, -4, -3}},
    {"i16", "sub %0, %1 alpha=1", "i16",
     {0, 2, 0, 32767, -5, -32766, 14, 0, 0, 32763, 0, 1}},
    {"i16", "mul %0, %1", "i16",
     {0, -1, -31744, -32768, 0, 32767, -49, 24464, -31744, 32762, 1, -32768}},
    {"i16", "neg %0", "i16",
     {-32768, 32767, 20000, 1, 0, -1, -7, -300, -20000, -32766, -32767, -32768}},
    {"i16", "abs %0", "i16",
     {-32768, 32767, 20000, 1, 0, 1, 7, 300, 20000, 32766, 32767, -32768}},
    {"i16", "square %0", "i16",
     {0, 1, -31744, 1, 0, 1, 49, 24464, -31744, 4, 1, 0}},
    {"i16", "addcmul %0, %0, %1 value=1", "i16",
     {-32768, -32768, 13792, 32767, 0, -32768, -42, 24764, -11744, -8, -32768, 0}},
    {"i16", "cast %0 dtype=i8", "i8",
     {0, 1, -32, -1, 0, 1, 7, 44, 32, -2, -1, 0}},
    {"i16", "cast %0 dtype=u8", "u8",
     {0, 1, 224, 255, 0, 1, 7, 44, 32, 254, 255, 0}},
    {"u8", "add %0, %1 alpha=1", "u8",
     {255, 0, 5, 44, 254, 0, 131, 144, 1, 254, 253, 1}},
    {"u8", "add %0, %1 alpha=3", "u8",
     {253, 254, 11, 188, 252, 0, 135, 32, 7, 252, 241, 3}},
    {"u8", "sub %0, %1 alpha=1", "u8",
     {1, 2, 255, 156, 0, 0, 127, 0, 251, 0, 9, 255}},
    {"u8", "mul %0, %1", "u8",
     {0, 255, 6, 32, 1, 0, 2, 64, 250, 1, 238, 0}},
    {"u8", "neg %0", "u8",
     {0, 255, 254, 156, 129, 128, 127, 56, 2, 1, 253, 0}},
    {"u8", "square %0", "u8",
     {0, 1, 4, 16, 1, 0, 1, 64, 4, 1, 9, 0}},
    {"u8", "addcmul %0, %0, %1 value=1", "u8",
     {0, 0, 8, 132, 128, 128, 131, 8, 248, 0, 241, 0}},
    {"u8", "cast %0 dtype=i8", "i8",
     {0, 1, 2, 100, 127, -128, -127, -56, -2, -1, 3, 0}},
    {"u8", "cast %0 dtype=i16", "i16",
     {0, 1, 2, 100, 127, 128, 129, 200, 254, 255, 3, 0}},
};

static bool gives(const char *type, const char *op, const char *result, const int64_t *want)
{
    tc_ctx *ctx = tc_ctx_new();
    const char *text =
        tc_text_format(&ctx->arena,
                       "graph @t(%%0: %s[12], %%1: %s[12]) {\n  %%2 = %s : %s[12]\n"
                       "  return %%2\n}\n",
                       type, type, op, result);
    tc_module *m = lower_parse(ctx, (tc_bytes){(const uint8_t *)text, strlen(text)});
    tc_tensor in[2], y;
    bool good = m;
    for (int i = 0; i < 2 && good; i++) {
        in[i] = tc_tensor_new(&ctx->arena, tc_type_of(tc_main(m), tc_main(m)->in[i]));
        for (size_t k = 0; k < TC_COUNT(operands); k++)
            for (int j = 0; j < N && !strcmp(operands[k].name, type); j++)
                tc_store_i64(in[i], j, operands[k].x[i][j]);
    }
    good = good && tc_eval(tc_main(m), in, &y, &ctx->arena) == TC_OK;
    for (int j = 0; j < N && good; j++)
        good = tc_load_i64(y, j) == want[j];
    if (!good)
        fprintf(stderr, "%s of %s: %s\n", op, type, tc_diagnostics(ctx));
    tc_ctx_free(ctx);
    return good;
}

static void lowered(const char *target, const char *type, const char *op, const char *result)
{
    char text[512];
    snprintf(text, sizeof text,
             "graph @t(%%0: %s[12,40], %%1: %s[12,40]) {\n  %%2 = %s : %s\n  return %%2\n}\n", type,
             type, op, result);
    LOWERS(target, 0, text);
}

int main(void)
{
    static const char *const targets[] = {"TOSA-1.0+FP", "TOSA-1.0+INT", "TOSA-1.0+INT+FP"};
    static const struct {
        const char *type;
        int64_t lo, hi;
    } ints[] = {{"i8", -128, 127}, {"i16", -32768, 32767}, {"i32", INT32_MIN, INT32_MAX}};
    static const char *const same[] = {
        "add %0, %1 alpha=1", "add %0, %1 alpha=3", "sub %0, %1 alpha=1", "mul %0, %1",
        "neg %0",             "square %0",          "addcmul %0, %0, %1 value=1",
        "shift_left %0, %1",  "shift_right %0, %1", /* by too much, and by less than nothing */
    };
    for (size_t k = 0; k < TC_COUNT(recorded); k++)
        CHECK(gives(recorded[k].type, recorded[k].op, recorded[k].result, recorded[k].y));
    for (size_t t = 0; t < TC_COUNT(targets); t++)
        for (size_t i = 0; i < TC_COUNT(ints); i++) {
            char result[32];
            lower_plain.int_lo = ints[i].lo;
            lower_plain.int_hi = ints[i].hi;
            snprintf(result, sizeof result, "%s[12,40]", ints[i].type);
            for (size_t k = 0; k < TC_COUNT(same); k++)
                lowered(targets[t], ints[i].type, same[k], result);
            lowered(targets[t], ints[i].type, "cast %0 dtype=i8", "i8[12,40]");
            lowered(targets[t], ints[i].type, "cast %0 dtype=i16", "i16[12,40]");
            lowered(targets[t], ints[i].type, "cast %0 dtype=i32", "i32[12,40]");
        }
    /* floats beyond the type: their low bits, as far as 32 go */
    lower_plain.float_lo = -1e6;
    lower_plain.float_hi = 1e6;
    lowered("TOSA-1.0+FP", "f32", "cast %0 dtype=i8", "i8[12,40]");
    lowered("TOSA-1.0+FP", "f32", "cast %0 dtype=i16", "i16[12,40]");
    lowered("TOSA-1.0+INT+FP", "f32", "cast %0 dtype=i8", "i8[12,40]");
    /* of codes, by a table */
    LOWERS("TOSA-1.0+INT", 0,
           "graph @t(%0: i8[300] q(3.25:-4)) {\n  %1 = cast %0 dtype=i8 : i8[300]\n"
           "  return %1\n}\n");
    return check_done();
}
