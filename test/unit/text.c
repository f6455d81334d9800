/* SPDX-License-Identifier: Apache-2.0 */
/* text.c -- random graphs, seeded: print and parse undo each other, for every operator, attribute
 * kind and element type; and damaged text gives a message. */
#include "check.h"

#include "ir/ir_text.h"
#include "ir/verify.h"
#include "num/element.h"

static uint64_t seed = 1;

static uint32_t dice(uint32_t sides)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % sides;
}

static uint64_t any_bits(void)
{
    return (uint64_t)dice(UINT32_MAX) << 40 ^ (uint64_t)dice(UINT32_MAX) << 20 ^ dice(UINT32_MAX);
}

/* Small numbers mostly, extremes sometimes. */
static int64_t any_int(void)
{
    static const int64_t edge[] = {INT64_MIN, INT64_MAX, -1, INT32_MIN, UINT32_MAX};
    return dice(5) ? (int64_t)dice(10) : edge[dice(TC_COUNT(edge))];
}

static double any_float(void)
{
    uint64_t bits = any_bits();
    double value;
    memcpy(&value, &bits, sizeof value);
    switch (dice(5)) {
    case 0:
        return value; /* NaN with whatever is in it, too */
    case 1:
        return -0.0;
    case 2:
        return 1.0 / 0.0;
    default:
        return dice(1000) / 8.0;
    }
}

static const char *any_text(tc_ctx *ctx)
{
    static const char *const some[] = {"main",      "a.b",       "two words",      "\"quoted\"",
                                       "tab\there", "line\nend", "back\\slash",    "\x01\x7f",
                                       "h\xc3\xa9", "",          "attention.py:41"};
    return ti_intern_text(ctx, some[dice(TC_COUNT(some))]);
}

static const tc_type *any_type(tc_ctx *ctx, tc_dtype dtype, int64_t most)
{
    tc_type type = {.dtype = dtype, .rank = (int32_t)dice(4)};
    for (int i = 0; i < type.rank; i++)
        type.dim[i] = dice(8) ? 1 + dice((uint32_t)most) : 0;
    const tc_type *plain = ti_type_intern(ctx, &type);
    if (!ti_is_int(dtype) || dice(2))
        return plain;
    double scale[8];
    int64_t zero[8];
    tc_quant q = {-1, 1, ti_dtype_min(dtype), ti_dtype_max(dtype), scale, zero};
    if (type.rank && dice(2)) {
        q.axis = (int32_t)dice((uint32_t)type.rank);
        q.count = (int32_t)type.dim[q.axis];
    }
    if (dice(2))
        q.lo = q.hi - 3;
    for (int i = 0; i < q.count; i++) {
        scale[i] = (1 + dice(1000000)) / 3e6;
        zero[i] = (int64_t)dice(256) - 128;
    }
    return ti_type_with(ctx, plain, &q);
}

static void fill_field(tc_ctx *ctx, const tc_field *field, char *record)
{
    void *at = record + field->at;
    int64_t *ints = tc_new_n(&ctx->arena, int64_t, 4);
    double *floats = tc_new_n(&ctx->arena, double, 4);
    for (int i = 0; i < 4; i++) {
        ints[i] = any_int();
        floats[i] = any_float();
    }
    int n = (int)dice(5);
    switch (field->kind) {
    case TC_FIELD_i64:
        *(int64_t *)at = any_int();
        break;
    case TC_FIELD_f64:
        *(double *)at = any_float();
        break;
    case TC_FIELD_bool:
    case TC_FIELD_flag:
        *(bool *)at = dice(2);
        break;
    case TC_FIELD_ints:
        *(tc_ints *)at = (tc_ints){n, ints};
        break;
    case TC_FIELD_floats:
        *(tc_floats *)at = (tc_floats){n, floats};
        break;
    case TC_FIELD_text:
        *(const char **)at = dice(4) ? any_text(ctx) : NULL;
        break;
    case TC_FIELD_bytes:
        *(tc_bytes *)at = (tc_bytes){(const uint8_t *)ints, (size_t)n};
        break;
    case TC_FIELD_dtype:
        *(tc_dtype *)at = (tc_dtype)dice(TC_DTYPE_COUNT);
        break;
    default:
        *(tc_dtype *)at =
            (tc_dtype)dice((uint32_t)tc_choices[field->kind - TC_FIELD_CHOICES].count);
    }
}

static const void *any_attr(tc_ctx *ctx, tc_op op)
{
    const tc_attr_info *info = &tc_attrs[tc_ops[op].attr];
    char *record = info->n_field ? ti_arena_array(&ctx->arena, 1, info->size, 16) : NULL;
    for (int i = 0; i < info->n_field; i++)
        fill_field(ctx, &info->field[i], record);
    return record;
}

static const tc_loc *any_loc(tc_ctx *ctx, const char *file)
{
    tc_loc *loc = tc_new(&ctx->arena, tc_loc);
    const char **part[] = {&loc->place, &loc->node, &loc->target, &loc->module, &loc->module_type};
    for (size_t i = 0; i < TC_COUNT(part); i++)
        *part[i] = dice(2) ? any_text(ctx) : NULL;
    loc->file = dice(6) ? file : dice(2) ? "other.pt2" : NULL;
    return dice(2) ? loc : NULL;
}

static void any_const(tc_graph *g, tc_dtype dtype)
{
    tc_ctx *ctx = g->module->ctx;
    const tc_type *type = any_type(ctx, dtype, 6);
    size_t size = tc_dtypes[dtype].bytes, count = (size_t)tc_type_count(type);
    uint8_t *data = ti_arena_raw(&ctx->arena, size * count);
    uint64_t narrow =
        tc_dtypes[dtype].bits < 64 ? (UINT64_C(1) << tc_dtypes[dtype].bits) - 1 : UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = any_bits() & narrow;
        if (tc_dtypes[dtype].kind == TC_INT && bits > narrow / 2)
            bits |= ~narrow;
        memcpy(data + i * size, &bits, size);
    }
    ti_graph_const(g, type, data, dice(2) ? any_text(ctx) : NULL, any_loc(ctx, g->module->file));
}

static tc_val any_val(const tc_graph *g)
{
    return dice(8) && g->n_val > 1 ? (tc_val)(1 + dice((uint32_t)g->n_val - 1)) : TC_NONE;
}

static void any_node(tc_graph *g, tc_op op)
{
    tc_ctx *ctx = g->module->ctx;
    tc_val in[4];
    int n_in = (int)dice(5);
    for (int i = 0; i < n_in; i++)
        in[i] = any_val(g);
    tc_node *node = ti_graph_add(g, op, any_attr(ctx, op), in, n_in, (int)dice(4),
                                 any_loc(ctx, g->module->file));
    for (int i = 0; i < node->n_out; i++) {
        tc_value *value = g->val[node->out[i]];
        value->type = any_type(ctx, (tc_dtype)(1 + dice(TC_DTYPE_COUNT - 1)), 8);
        value->name = dice(3) ? NULL : any_text(ctx);
    }
}

static void any_signature(tc_module *m)
{
    tc_ctx *ctx = m->ctx;
    m->origin.producer = dice(2) ? "torch 2.13.0" : NULL;
    m->signature.in_tree = dice(2) ? any_text(ctx) : NULL;
    m->signature.out_tree = dice(2) ? any_text(ctx) : NULL;
    m->signature.n_in = dice(3);
    m->signature.in = tc_new_n(&ctx->arena, tc_port, m->signature.n_in);
    for (size_t i = 0; i < m->signature.n_in; i++) {
        m->signature.in[i].name = dice(2) ? any_text(ctx) : NULL;
        if (dice(2))
            m->signature.in[i].val = any_val(ti_main(m));
        else
            m->signature.in[i].text = "None";
    }
    m->signature.out = m->signature.in;
    m->signature.n_out = m->signature.n_in;
}

static tc_module *any_module(tc_ctx *ctx, uint64_t start)
{
    seed = start;
    tc_module *m = ti_module_new(ctx, "model.pt2");
    for (uint32_t k = 0, n = 1 + dice(3); k < n; k++) {
        tc_graph *g = ti_graph_new(m, ti_text_format(&ctx->arena, k == 2 ? "sub %u" : "g%u", k));
        if (dice(2))
            any_const(g, TC_f32); /* ids need not be in the order of appearance */
        for (uint32_t i = dice(3); i > 0; i--)
            ti_graph_input(g, any_type(ctx, (tc_dtype)(1 + dice(TC_DTYPE_COUNT - 1)), 8),
                           any_text(ctx));
        for (int t = 1; t < TC_DTYPE_COUNT; t++)
            any_const(g, (tc_dtype)t);
        for (int op = 0; op < TC_OP_COUNT; op++)
            if (op != TC_OP_const && dice(4) == 0)
                any_node(g, (tc_op)op);
        for (uint32_t i = dice(4); i > 0; i--)
            ti_graph_output(g, any_val(g));
    }
    any_signature(m);
    return m;
}

static tc_bytes flat(tc_ctx *ctx, const tc_side *side)
{
    tc_buf all;
    ti_buf_init(&all, &ctx->arena);
    ti_buf_room(&all, 1);
    all.size = 0;
    for (size_t i = 0; i < side->n_part; i++)
        ti_buf_put(&all, side->part[i].data, side->part[i].size);
    return (tc_bytes){all.data, all.size};
}

static void test_round_trip(uint64_t start, bool inlined)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *m = any_module(ctx, start), *back = NULL;
    tc_buf text, again;
    tc_side side;
    ti_buf_init(&text, &ctx->arena);
    ti_buf_init(&again, &ctx->arena);
    ti_side_init(&side, &ctx->arena);
    ti_print(m, &(tc_print_options){.locs = true, .side = inlined ? NULL : &side}, &text);
    tc_status status =
        ti_parse(ctx, "a.ir", (tc_bytes){text.data, text.size}, flat(ctx, &side), &back);
    CHECK(status == TC_OK);
    if (status == TC_OK) {
        ti_print(back, &(tc_print_options){.locs = true, .side = inlined ? NULL : &side}, &again);
        CHECK(text.size == again.size && memcmp(text.data, again.data, text.size) == 0);
        CHECK(ti_module_equal(m, back));
        ti_main(back)->n_out ^= 1; /* and a difference is seen */
        if (ti_main(m)->n_out)
            CHECK(!ti_module_equal(m, back));
    } else
        fprintf(stderr, "seed %d: %s", (int)start, tc_diagnostics(ctx));
    tc_ctx_free(ctx);
}

/* Text with a few bytes changed: parsed or turned down, and its message ends in a tag. */
static void test_damaged(uint64_t start)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *m = any_module(ctx, start);
    tc_buf text;
    ti_buf_init(&text, &ctx->arena);
    ti_print(m, &(tc_print_options){.locs = true}, &text);
    int turned_down = 0;
    for (int k = 0; k < 200; k++) {
        tc_ctx *own = tc_ctx_new();
        uint8_t *copy = ti_arena_copy(&own->arena, text.data, text.size);
        for (uint32_t i = 0; i < 1 + dice(3); i++)
            copy[dice((uint32_t)text.size)] = (uint8_t) " %=[](){}\",:0-#q\n\x00z"[dice(19)];
        size_t size = dice(4) ? text.size : dice((uint32_t)text.size);
        tc_module *back;
        if (ti_parse(own, "a.ir", (tc_bytes){copy, size}, (tc_bytes){0}, &back) != TC_OK) {
            turned_down++;
            CHECK(strstr(tc_diagnostics(own), ": error: ") && strstr(tc_diagnostics(own), "]\n"));
        }
        tc_ctx_free(own);
    }
    CHECK(turned_down > 100);
    tc_ctx_free(ctx);
}

static bool reads(tc_dtype dtype, const char *text, uint64_t bits)
{
    uint64_t got = 0;
    return ti_element_read(dtype, ti_str_of(text), &got) && got == bits;
}

static void test_elements(void)
{
    uint64_t any;
    CHECK(reads(TC_f32, "0.1", 0x3dcccccd) && reads(TC_f32, "nan", 0x7fc00000));
    CHECK(reads(TC_f32, "nan(0xffc00001)", 0xffc00001) && reads(TC_e5m2, "-inf", 0xfc));
    CHECK(reads(TC_i4, "-8", 0xf8) && !ti_element_read(TC_i4, ti_str_of("8"), &any));
    CHECK(reads(TC_u64, "18446744073709551615", UINT64_MAX));
    CHECK(reads(TC_bool, "true", 1) && !ti_element_read(TC_bool, ti_str_of("1"), &any));
    CHECK(reads(TC_c64, "(1,-2)", UINT64_C(0xc00000003f800000)));
    CHECK(!ti_element_read(TC_f32, ti_str_of("1e39"), &any));
    CHECK(!ti_element_read(TC_e4m3, ti_str_of("inf"), &any));
    CHECK(!ti_element_read(TC_f32, ti_str_of("0x1p3"), &any));
    CHECK(!ti_element_read(TC_f32, ti_str_of("nan(0x3f800000)"), &any));
}

/* Every bit pattern of the narrow floats survives. */
static void test_narrow(tc_ctx *ctx)
{
    static const tc_dtype narrow[] = {TC_f16, TC_bf16, TC_e4m3, TC_e5m2};
    for (size_t t = 0; t < TC_COUNT(narrow); t++) {
        uint32_t bad = 0;
        for (uint32_t bits = 0; bits >> tc_dtypes[narrow[t]].bits == 0; bits++) {
            tc_mark mark = ti_arena_mark(&ctx->arena);
            tc_buf text;
            ti_buf_init(&text, &ctx->arena);
            ti_element_put(&text, narrow[t], &bits);
            bad += !reads(narrow[t], ti_buf_cstr(&text), bits);
            ti_arena_rewind(&ctx->arena, mark);
        }
        CHECK(bad == 0);
    }
}

static void expect_message(const char *text, const char *message)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *m;
    tc_status status =
        ti_parse(ctx, "t.ir", (tc_bytes){(const uint8_t *)text, strlen(text)}, (tc_bytes){0}, &m);
    CHECK(status != TC_OK);
    CHECK(ti_text_starts(tc_diagnostics(ctx), message));
    if (!ti_text_starts(tc_diagnostics(ctx), message))
        fprintf(stderr, "%s", tc_diagnostics(ctx));
    tc_ctx_free(ctx);
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    test_elements();
    test_narrow(ctx);
    tc_ctx_free(ctx);
    for (uint64_t s = 1; s <= 60; s++)
        test_round_trip(s, s % 2);
    for (uint64_t s = 1; s <= 5; s++)
        test_damaged(s);
    expect_message("graph @m(%0: f32[2]) {\n  %1 = mul %0, %4 : f32[2]\n  return %1\n}\n",
                   "t.ir:2:16: error: %4 is used before it is made [order]");
    expect_message("graph @m() {\n  %0 = const [1, 300] : i8[2]\n  return %0\n}\n",
                   "t.ir:2:18: error: '300' is no i8 [syntax]");
    expect_message("graph @m() {\n  %0 = const [1, 2, 3] : i8[2]\n  return %0\n}\n",
                   "t.ir:2:24: error: 3 elements, the type has 2 [mismatch]");
    expect_message("graph @m() {\n  %0 = sotfmax\n",
                   "t.ir:2:8: error: there is not an operator 'sotfmax' [unknown-op]\n"
                   "t.ir:2:8: note: did you mean 'softmax'?");
    expect_message("graph @m(%0: f32[99999999999]) {", "t.ir:1:30: error: a negative dimension");
    expect_message("", "t.ir:1:1: error: the text has no graph [structure]");
    return check_done();
}
