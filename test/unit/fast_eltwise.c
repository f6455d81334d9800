/* SPDX-License-Identifier: Apache-2.0 */
/* fast_eltwise.c -- integer arithmetic, sums, RESCALE, TABLE and CLAMP, by themselves and joined,
 * give the bits of the interpreter, at every level this machine has. */
#include "levels.h"

#include "run/eval.h"
#include "fast/int_eltwise.h"
#include "ir/ir_text.h"
#include "ir/verify.h"
#include "run/exec.h"

/* A graph that grows as text. */
typedef struct sketch {
    tc_arena *arena;
    const char *text;
    int next; /* the next value */
} sketch;

static const char *const type_name[] = {"i8", "i16", "i32"};

static int line(sketch *s, const char *what, const char *type)
{
    s->text = ti_text_format(s->arena, "%s  %%%d = %s : %s\n", s->text, s->next, what, type);
    return s->next++;
}

static int constant(sketch *s, const char *type, int64_t n, int64_t lo, int64_t hi)
{
    const char *list = "";
    for (int64_t i = 0; i < n; i++)
        list = ti_text_format(s->arena, "%s%s%lld", list, i ? ", " : "", (long long)any(lo, hi));
    return line(s, ti_text_format(s->arena, "const [%s]", list),
                ti_text_format(s->arena, "%s[%lld]", type, (long long)n));
}

static const char *typed(sketch *s, int type, const char *dims)
{
    return ti_text_format(s->arena, "%s[%s]", type_name[type], dims);
}

/* RESCALE of value v, whose numbers are below 2^bits. */
static int rescale(sketch *s, int v, int from, int to, const char *dims, int64_t channels, int bits)
{
    bool by_channel = any(0, 3) == 0;
    int64_t n = by_channel ? channels : 1;
    int m = constant(s, "i32", n, 1 << 30, INT32_MAX);
    int shift = constant(s, "i8", n, bits + 1 < 2 ? 2 : bits + 1, bits + 26);
    int zero_in = constant(s, type_name[from], 1, from == 0 ? -128 : 0, from == 0 ? 127 : 0);
    int zero_out = constant(s, type_name[to], 1, to == 0 ? -128 : 0, to == 0 ? 127 : 0);
    return line(s, ti_text_format(s->arena,
                                  "tosa.rescale %%%d, %%%d, %%%d, %%%d, %%%d scale32=true "
                                  "rounding_mode=single per_channel=%s input_unsigned=false "
                                  "output_unsigned=false",
                                  v, m, shift, zero_in, zero_out, by_channel ? "true" : "false"),
                typed(s, to, dims));
}

/* CLAMP or TABLE behind bytes or words, or nothing. */
static int activation(sketch *s, int v, int *type, const char *dims)
{
    int64_t which = any(0, 2);
    if (which == 1 && *type < 2)
        return line(s, ti_text_format(s->arena,
                                      "tosa.clamp %%%d min_val=%d max_val=%d nan_mode=propagate", v,
                                      (int)any(-128, 0), (int)any(0, 127)),
                    typed(s, *type, dims));
    if (which == 2 && *type == 0) {
        int table = constant(s, "i8", 256, -128, 127);
        return line(s, ti_text_format(s->arena, "tosa.table %%%d, %%%d", v, table),
                    typed(s, 0, dims));
    }
    if (which == 2 && *type == 1) {
        int table = constant(s, "i16", 513, -32768, 32767);
        v = line(s, ti_text_format(s->arena, "tosa.table %%%d, %%%d", v, table),
                 typed(s, 2, dims));
        *type = (int)any(0, 2);
        return rescale(s, v, 2, *type, dims, atoi(strrchr(dims, ',') + 1), 23);
    }
    return v;
}

/* Two inputs, perhaps rescaled, an operation, a RESCALE, an activation, a sum. */
static const char *invent(tc_arena *arena)
{
    static const char *const op[] = {"add",     "sub",
                                     "mul",     "maximum",
                                     "minimum", "logical_left_shift",
                                     "arithmetic_right_shift"};
    int64_t d[3] = {any(1, 3), any(1, 40), any(0, 9) ? any(1, 70) : any(500, 1100)};
    const char *full = ti_text_format(arena, "%d,%d,%d", (int)d[0], (int)d[1], (int)d[2]);
    const char *dims[2] = {full, full};
    const char *less[] = {"1,1,1", ti_text_format(arena, "1,1,%d", (int)d[2]),
                          ti_text_format(arena, "%d,%d,1", (int)d[0], (int)d[1]), full,
                          ti_text_format(arena, "%d,1,%d", (int)d[0], (int)d[2]),
                          ti_text_format(arena, "%d,1,1", (int)d[0])};
    dims[any(0, 1)] = less[any(0, 5)];
    int type = (int)any(0, 2), which = (int)any(0, 6);
    const char *in = type_name[type];
    sketch s = {arena, ti_text_format(arena, "graph @t(%%0: %s[%s], %%1: %s[%s]) {\n", in, dims[0],
                                      in, dims[1]), 2};
    int v[2] = {0, 1}, bits = type == 0 ? 8 : 12;
    if (type == 1 && any(0, 2) == 0) { /* tables, of one or both */
        for (int i = 0; i < 2; i++) {
            int table = constant(&s, "i16", 513, -64, 64);
            v[i] = line(&s, ti_text_format(arena, "tosa.table %%%d, %%%d", v[i], table),
                        typed(&s, 2, dims[i]));
        }
        type = 2;
        bits = 14;
    } else if (any(0, 1) || (type < 2 && which < 2)) {
        int64_t channels[2];
        for (int i = 0; i < 2; i++) {
            const char *last = strrchr(dims[i], ',');
            channels[i] = atoi(last + 1);
            v[i] = rescale(&s, v[i], type, 2, dims[i], channels[i], 20);
        }
        type = 2;
        bits = 24;
    }
    const char *shift = "";
    if (which == 2)
        shift = ti_text_format(arena, ", %%%d", constant(&s, "i8", 1, bits == 24 ? 20 : 0,
                                                         type == 2 ? 25 : 0));
    const char *mode = which == 3 || which == 4 ? " nan_mode=propagate"
                       : which == 6 ? any(0, 1) ? " round=true" : " round=false"
                                    : "";
    if (which > 4) { /* by what a mask leaves */
        int mask = line(&s, "const [7]", typed(&s, type, "1,1,1"));
        v[1] = line(&s, ti_text_format(arena, "tosa.bitwise_and %%%d, %%%d", v[1], mask),
                    typed(&s, type, dims[1]));
    }
    int y = line(&s, ti_text_format(arena, "tosa.%s %%%d, %%%d%s%s", op[which], v[0], v[1], shift,
                                    mode),
                 typed(&s, which == 2 ? 2 : type, full));
    type = which == 2 ? 2 : type;
    static const char *const alone[] = {"abs", "clz", "cast"};
    int64_t unary = any(0, 5);
    if (unary == 2 || (unary < 2 && type == 2)) {
        type = unary == 2 ? (int)any(0, 2) : type;
        y = line(&s, ti_text_format(arena, "tosa.%s %%%d", alone[unary], y), typed(&s, type, full));
    }
    if (any(0, 2)) {
        int to = (int)any(0, 2);
        y = rescale(&s, y, type, to, full, d[2], type == 2 ? 28 : 12);
        type = to;
        y = activation(&s, y, &type, full);
    }
    int64_t axis = any(0, 2), reduce = any(0, 3);
    int64_t left[3] = {d[0], d[1], d[2]};
    left[axis] = 1;
    const char *after = ti_text_format(arena, "%d,%d,%d", (int)left[0], (int)left[1], (int)left[2]);
    static const char *const over[] = {"sum", "max", "min"};
    if (reduce < 3 && (reduce || type == 2)) {
        if (type == 2 && reduce == 0)
            y = rescale(&s, y, 2, 2, full, d[2], 20);
        y = line(&s, ti_text_format(arena, "tosa.reduce_%s %%%d axis=%d%s", over[reduce], y,
                                    (int)axis, reduce ? " nan_mode=propagate" : ""),
                 typed(&s, type, after));
    }
    return ti_text_format(arena, "%s  return %%%d\n}\n", s.text, y);
}

static tc_tensor random_input(tc_ctx *ctx, const tc_type *t)
{
    tc_tensor x = ti_tensor_new(&ctx->arena, t);
    for (int64_t i = 0; i < tc_type_count(t); i++)
        if (t->dtype == TC_i8)
            ((int8_t *)x.data)[i] = (int8_t)any(-128, 127);
        else if (t->dtype == TC_i16)
            ((int16_t *)x.data)[i] = (int16_t)any(-2048, 2047);
        else
            ((int32_t *)x.data)[i] = (int32_t)any(-2048, 2047);
    return x;
}

/* Whether the interpreter had a result; then the plan has the same. */
static bool agrees(tc_ctx *ctx)
{
    const char *text = invent(&ctx->arena);
    tc_module *module;
    tc_bytes bytes = {(const uint8_t *)text, strlen(text)};
    bool read = ti_parse(ctx, "t.ir", bytes, (tc_bytes){NULL, 0}, &module) == TC_OK &&
                ti_verify(ctx, module) == TC_OK;
    CHECK(read);
    if (!read) {
        fprintf(stderr, "%s%s", text, tc_diagnostics(ctx));
        return false;
    }
    tc_graph *g = ti_main(module);
    tc_tensor in[2] = {random_input(ctx, ti_type_of(g, g->in[0])),
                       random_input(ctx, ti_type_of(g, g->in[1]))};
    tc_tensor plain, quick;
    if (ti_eval(g, in, &plain, &ctx->arena) != TC_OK)
        return false; /* past 32 bits: nobody says what it is */
    bool same = ti_exec_run(ti_exec_new(ctx, module), in, &quick) == TC_OK &&
                memcmp(plain.data, quick.data, tc_type_bytes(plain.type)) == 0;
    CHECK(same);
    if (!same)
        fprintf(stderr, "%s", text);
    return true;
}

/* Every length of a rest, the first and the last number among the indices; one past it is seen. */
static void try_gather(void)
{
    enum { MOST = 300 };
    int16_t values[MOST], y[100];
    int32_t index[100];
    for (size_t most = 1; most <= MOST; most += most < 4 ? 1 : 37)
        for (size_t n = 1; n <= 100; n++) {
            bool same = true;
            for (size_t i = 0; i < most; i++)
                values[i] = (int16_t)any(-32768, 32767);
            for (size_t i = 0; i < n; i++)
                index[i] = (int32_t)any(0, 3) ? (int32_t)any(0, (int64_t)most - 1)
                                              : any(0, 1) ? 0 : (int32_t)most - 1;
            CHECK(ti_gather16_run(values, most, index, y, n));
            for (size_t i = 0; i < n; i++)
                same = same && y[i] == values[index[i]];
            CHECK(same);
            index[any(0, (int64_t)n - 1)] = any(0, 1) ? -1 : (int32_t)most;
            CHECK(!ti_gather16_run(values, most, index, y, n));
        }
}

static void checks(void)
{
    int defined = 0;
    try_gather();
    for (int i = 0; i < 400; i++) {
        tc_ctx *ctx = tc_ctx_new();
        defined += agrees(ctx);
        tc_ctx_free(ctx);
    }
    printf("%d of 400 have a result\n", defined);
    CHECK(defined > 300);
}

int main(void)
{
    try_levels(checks);
    return check_done();
}
