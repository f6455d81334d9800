/* SPDX-License-Identifier: Apache-2.0 */
/* base.c -- arena, map, text, bytes, types. */
#include "check.h"

#include "base/attempt.h"
#include "base/json_out.h"
#include "base/lazy_library.h"
#include "base/sha256.h"
#include "num/type.h"

static void test_arena(void)
{
    tc_arena a;
    ti_arena_init(&a);
    char *p = tc_new_n(&a, char, 100);
    CHECK(p[0] == 0 && p[99] == 0);
    tc_mark mark = ti_arena_mark(&a);
    size_t used = a.used;
    memset(tc_new_n(&a, char, 1000000), 1, 1000000);
    ti_arena_rewind(&a, mark);
    CHECK(a.used == used && a.peak >= 1000000);
    char *q = tc_new_n(&a, char, 1000);
    CHECK(q[0] == 0 && q[999] == 0);
    jmp_buf back;
    a.oom = &back;
    a.limit = a.used + 10;
    if (setjmp(back) == 0) {
        tc_new_n(&a, char, 11);
        CHECK(false); /* the limit was passed */
    } else
        CHECK(a.used == used + 1000);
    ti_arena_free(&a);
}

static void test_map(tc_ctx *ctx)
{
    tc_map m;
    ti_map_init(&m, &ctx->arena);
    for (int i = 0; i < 1000; i++)
        *ti_map_at(&m, ti_str_of(ti_text_format(&ctx->arena, "key%d", i))) =
            (void *)(intptr_t)(i + 1);
    CHECK(m.n == 1000);
    CHECK(ti_map_get(&m, ti_str_of("key77")) == (void *)78);
    CHECK(ti_map_get(&m, ti_str_of("key1000")) == NULL);
    CHECK(ti_str_is(m.entry[5].key, "key5"));
    CHECK(ti_intern_text(ctx, "abc") == ti_intern(ctx, (tc_str){"abcd", 3}));
}

static void test_text(void)
{
    char s[32];
    tc_text_f64(0.1, s);
    CHECK(ti_text_eq(s, "0.1"));
    tc_text_f64(1.0 / 3, s);
    CHECK(ti_text_eq(s, "0.3333333333333333"));
    int64_t i;
    CHECK(ti_text_to_i64(ti_str_of("-9223372036854775808"), &i) && i == INT64_MIN);
    CHECK(!ti_text_to_i64(ti_str_of("9223372036854775808"), &i));
    CHECK(!ti_text_to_i64(ti_str_of("12x"), &i));
    CHECK(ti_text_distance("softmax", "sotfmax") == 2);
}

static void test_types(tc_ctx *ctx)
{
    const tc_type *a = ti_type_make(ctx, TC_i8, 2, (int64_t[]){2, 3});
    CHECK(a == ti_type_make(ctx, TC_i8, 2, (int64_t[]){2, 3}));
    CHECK(a != ti_type_make(ctx, TC_u8, 2, (int64_t[]){2, 3}));
    tc_quant q = {-1, 1, -127, 127, (double[]){0.05}, (int64_t[]){-3}};
    const tc_type *b = ti_type_with(ctx, a, &q);
    CHECK(b != a && b == ti_type_with(ctx, a, &q));
    CHECK(ti_text_eq(ti_type_text(&ctx->arena, b), "i8[2,3] q(0.05:-3 in -127..127)"));
    CHECK(tc_type_bytes(b) == 6 && ti_real(b, 0, 17) == 1.0);
    CHECK(ti_dims_count(2, (int64_t[]){INT32_MAX, INT32_MAX}) == -1);
    CHECK(ti_dims_count(3, (int64_t[]){0, INT32_MAX, INT32_MAX}) == -1);
    CHECK(ti_dims_count(3, (int64_t[]){1 << 20, 1 << 20, INT32_MAX}) == -1);
    CHECK(ti_dims_count(2, (int64_t[]){1 << 20, 1 << 20}) == INT64_C(1) << 40);
    CHECK(ti_dtype_min(TC_i48) == -(INT64_C(1) << 47) && ti_dtype_max(TC_u8) == 255);
}

/* What is only tried is not said; the first error is kept. */
static void test_trial(tc_ctx *ctx)
{
    tc_trial outer, inner;
    tc_loc here = {.file = "m.pt2"};
    ti_trial_begin(ctx, &outer);
    ti_trial_begin(ctx, &inner);
    ti_warning(ctx, &here, TC_E_SHAPE, "odd");
    CHECK(!inner.why && ti_error(ctx, &here, TC_E_SHAPE, "no %d", 6) == TC_BAD_MODEL);
    CHECK(ti_unsupported(ctx, &here, TC_E_TYPE, "no %d", 7) == TC_UNSUPPORTED);
    ti_note(ctx, &here, "try again");
    ti_trial_end(ctx, &inner);
    ti_trial_end(ctx, &outer);
    CHECK(ti_text_eq(inner.why, "no 6 [shape]") && !outer.why);
    CHECK(ti_text_eq(tc_diagnostics(ctx), "") && !ctx->n_error && !ctx->n_warning);
    CHECK(!ctx->first_message);
}

/* All functions of a library, or none. */
static void test_late(void)
{
#ifdef _WIN32
#define LIBC "msvcrt.dll"
#else
#define LIBC "libc.so.6"
#endif
    struct {
        size_t (*length)(const char *);
        int (*number)(const char *);
    } libc = {NULL, NULL};
    CHECK(!ti_late_load("libnowhere.so.1", (const char *const[]){"strlen", NULL}, &libc));
    CHECK(!ti_late_load(LIBC, (const char *const[]){"strlen", "no_such", NULL}, &libc));
    CHECK(!libc.length && !libc.number);
    CHECK(ti_late_load(LIBC, (const char *const[]){"strlen", "atoi", NULL}, &libc));
    CHECK(libc.length && libc.length("four") == 4 && libc.number && libc.number("17") == 17);
}

static void count_one(void *what)
{
    ++*(int *)what;
}

/* An attempt leaves a context as it was: what was interned before is found, what came since is not,
 * and clean-ups of it have run. */
static void test_attempt(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_attempt outer, inner;
    int undone = 0;
    const char *name = ti_intern_text(ctx, "before");
    int64_t dim = 3;
    const tc_type *type = ti_type_make(ctx, TC_f32, 1, &dim);
    ti_ctx_defer(ctx, count_one, &undone);
    size_t used = ctx->arena.used, types = ctx->types.n, names = ctx->names.n;
    ti_attempt_begin(ctx, &outer);
    for (int i = 0; i < 100; i++)
        ti_intern_text(ctx, ti_text_format(&ctx->arena, "name%d", i));
    ti_attempt_begin(ctx, &inner);
    for (dim = 4; dim < 200; dim++)
        ti_type_make(ctx, TC_i8, 1, &dim);
    ti_ctx_defer(ctx, count_one, &undone);
    CHECK(ti_error(ctx, NULL, TC_E_SHAPE, "nobody hears this") == TC_BAD_MODEL);
    ti_attempt_end(ctx, &inner);
    CHECK(undone == 1 && ctx->types.n == types && ctx->names.n == names + 100);
    ti_attempt_end(ctx, &outer);
    CHECK(ctx->arena.used == used && ctx->names.n == names && !*tc_diagnostics(ctx));
    dim = 3;
    CHECK(ti_intern_text(ctx, "before") == name && ti_type_make(ctx, TC_f32, 1, &dim) == type);
    CHECK(!ti_map_get(&ctx->names, ti_str_of("name7")));
    ti_intern_text(ctx, "name7");
    CHECK(ctx->names.n == names + 1);
    tc_ctx_free(ctx);
    CHECK(undone == 2);
}

/* What a room keeps with the context is zero at first, and after an attempt as it was before: also
 * when it was first asked for inside, and when attempts lie in each other. */
static void test_own(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_attempt outer, inner;
    unsigned *count = TC_OWN(ctx, CREATE, unsigned);
    CHECK(*count == 0 && TC_OWN(ctx, CREATE, unsigned) == count);
    *count = 7;
    size_t used = ctx->arena.used;
    ti_attempt_begin(ctx, &outer);
    *count = 8;
    ti_attempt_begin(ctx, &inner);
    *count = 9;
    *TC_OWN(ctx, FILE, void *) = ctx;
    CHECK(ctx->n_attempt == 2);
    ti_attempt_end(ctx, &inner);
    CHECK(*count == 8 && !*TC_OWN(ctx, FILE, void *));
    ti_attempt_end(ctx, &outer);
    CHECK(*count == 7 && ctx->n_attempt == 0 && ctx->arena.used == used);
    CHECK(!ctx->own[TC_OWN_FILE].at && !*TC_OWN(ctx, FILE, void *));
    tc_ctx_free(ctx);
}

/* FIPS 180-4's own examples: one block, two in parts, and a million of 'a'; with every level of instructions that is here. */
static void test_sha256(void)
{
    enum { MANY = 1000000, CUT = 100 };
    char hex[TC_SHA256_HEX + 1];
    static uint8_t many[MANY];
    static const char text[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    memset(many, 'a', MANY);
    for (tc_isa isa = TC_ISA_plain; isa < TC_ISA_COUNT; isa++) {
        if (!ti_isa_here(isa))
            continue;
        ti_sha256_hex_by(isa, &(tc_bytes){(const uint8_t *)"abc", 3}, 1, hex);
        CHECK(ti_text_eq(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
        ti_sha256_hex_by(isa, (const tc_bytes[]){{(const uint8_t *)text, 20}, {(const uint8_t *)text + 20, 36}}, 2, hex);
        CHECK(ti_text_eq(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"));
        ti_sha256_hex_by(isa, (const tc_bytes[]){{many, CUT}, {many, MANY - CUT}}, 2, hex);
        CHECK(ti_text_eq(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"));
    }
}

/* One record, as a line and as JSON. */
static const char *shown(tc_ctx *ctx, bool text, const char *by, bool sparse)
{
    tc_buf to;
    ti_buf_init(&to, &ctx->arena);
    tc_json_out out = {.to = &to, .compact = true, .text = text};
    tc_say(&out, "%d: ", 1);
    tc_show_object(&out, NULL, "{name:-6}|{size:4}|{scale:.2f}[ by {by}][ sparse{sparse}] {none}",
                   TC_J("name", "conv"), TC_J("size", 12), TC_J("scale", 0.5), TC_J("by", by),
                   TC_J("sparse", sparse), TC_J_IF("none", ""));
    return ti_buf_cstr(&to);
}

static void test_show(tc_ctx *ctx)
{
    CHECK(ti_text_eq(shown(ctx, true, "us", true), "1: conv  |  12|0.50 by us sparse -"));
    CHECK(ti_text_eq(shown(ctx, true, NULL, false), "1: conv  |  12|0.50 -"));
    CHECK(ti_text_eq(shown(ctx, false, "us", true),
                     "{\"name\":\"conv\",\"size\":12,\"scale\":0.5,\"by\":\"us\","
                     "\"sparse\":true}\n"));
    CHECK(ti_text_eq(shown(ctx, false, NULL, false),
                     "{\"name\":\"conv\",\"size\":12,\"scale\":0.5,\"by\":null,"
                     "\"sparse\":false}\n"));
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    test_attempt();
    test_own();
    test_trial(ctx);
    test_late();
    test_arena();
    test_map(ctx);
    test_sha256();
    test_show(ctx);
    test_text();
    test_types(ctx);
    CHECK(ti_error(ctx, &(tc_loc){.file = "m.pt2", .place = "a.py:1"}, TC_E_SHAPE, "no %d", 5) ==
          TC_BAD_MODEL);
    CHECK(ti_text_eq(tc_diagnostics(ctx), "m.pt2: a.py:1: error: no 5 [shape]\n"));
    tc_ctx_free(ctx);
    return check_done();
}
