/* SPDX-License-Identifier: Apache-2.0 */
/* flatbuf.c -- what is written reads back; bytes that break the rules fail once and read as
 * nothing. */
#include "check.h"

#include "base/diag.h"
#include "wire/flatbuf.h"

/* A root with every kind of field, and two children that share a layout. */
static tc_bytes sample(tc_arena *arena)
{
    tc_fb_writer w;
    ti_fb_write(&w, arena, 0);
    tc_fb_ref data = ti_fb_put_bytes(&w, "\1\2\3", 3, 8);
    tc_fb_ref ints = ti_fb_put_i32s(&w, (int64_t[]){7, -1}, 2);
    tc_fb_ref wide = ti_fb_put_u64s(&w, (uint64_t[]){UINT64_C(1) << 40}, 1);
    tc_fb_ref child[2], name = ti_fb_put_string(&w, ti_str_of("name"));
    CHECK(name == ti_fb_put_string(&w, ti_str_of("name")));
    for (uint32_t i = 0; i < 2; i++) {
        ti_fb_begin(&w);
        ti_fb_set_ref(&w, 0, name);
        ti_fb_set_u32(&w, 3, i + 10, 0);
        child[i] = ti_fb_end(&w);
    }
    CHECK(w.n_vtable == 1);
    tc_fb_ref list = ti_fb_put_refs(&w, child, 2);
    ti_fb_begin(&w);
    ti_fb_set_u8(&w, 0, 5, 0);
    ti_fb_set_u32(&w, 2, 70000, 0);
    ti_fb_set_u64(&w, 3, UINT64_C(1) << 50, 0);
    ti_fb_set_ref(&w, 4, data);
    ti_fb_set_ref(&w, 5, ints);
    ti_fb_set_ref(&w, 6, wide);
    ti_fb_set_ref(&w, 7, list);
    ti_fb_set_u8(&w, 8, 1, 1);
    return ti_fb_finish(&w, ti_fb_end(&w), "TEST");
}

static void test_round_trip(tc_ctx *ctx)
{
    tc_bytes bytes = sample(&ctx->arena);
    CHECK(bytes.size % 8 == 0);
    tc_bytes again = sample(&ctx->arena);
    CHECK(bytes.size == again.size && memcmp(bytes.data, again.data, bytes.size) == 0);

    tc_fb fb;
    ti_fb_init(&fb, bytes, "TEST");
    tc_fb_table root = ti_fb_root(&fb);
    CHECK(ti_fb_u8(root, 0, 0) == 5 && !ti_fb_has(root, 1) && ti_fb_u32(root, 2, 0) == 70000);
    CHECK(ti_fb_u64(root, 3, 0) == UINT64_C(1) << 50);
    CHECK(ti_fb_u8(root, 8, 1) == 1 && !ti_fb_has(root, 8) && !ti_fb_has(root, 99));
    tc_bytes data = ti_fb_bytes(root, 4);
    CHECK(ti_fb_count(root, 4) == data.size && ti_fb_count(root, 7) == 2);
    CHECK(data.size == 3 && data.data[2] == 3 && (size_t)(data.data - bytes.data) % 8 == 0);
    tc_fb_vector ints = ti_fb_list(root, 5, 4);
    CHECK(ints.n == 2 && ti_fb_list_i32(ints, 0) == 7 && ti_fb_list_i32(ints, 1) == -1);
    CHECK(ti_fb_list_i32(ints, 2) == 0);
    CHECK(ti_fb_list_u64(ti_fb_list(root, 6, 8), 0) == UINT64_C(1) << 40);
    tc_fb_vector list = ti_fb_list(root, 7, 4);
    CHECK(list.n == 2 && ti_fb_u32(ti_fb_list_table(list, 1), 3, 0) == 11);
    CHECK(ti_str_is(ti_fb_string(ti_fb_list_table(list, 0), 0), "name"));
    CHECK(ti_fb_child(root, 9).at == 0 && ti_fb_string(root, 9).p == NULL && !fb.error);
}

/* Looks at everything there is, whatever the bytes say. */
static void walk(tc_bytes bytes)
{
    tc_fb fb;
    ti_fb_init(&fb, bytes, NULL);
    tc_fb_table root = ti_fb_root(&fb);
    ti_fb_u64(root, 3, 0);
    ti_fb_bytes(root, 4);
    tc_fb_vector list = ti_fb_list(root, 7, 4);
    for (size_t i = 0; i < list.n && !fb.error; i++) {
        tc_fb_table child = ti_fb_list_table(list, i);
        ti_fb_u32(child, 3, 0);
        ti_fb_string(child, 0);
    }
    CHECK(!fb.error || (ti_fb_root(&fb).at == 0 && ti_fb_list(root, 7, 4).n == 0));
}

static void test_hostile(tc_ctx *ctx)
{
    tc_bytes good = sample(&ctx->arena);
    for (size_t n = 0; n < good.size; n++) /* exactly n bytes, so that a step past them is seen */
        walk((tc_bytes){ti_arena_copy(&ctx->arena, good.data, n), n});
    uint8_t *bad = ti_arena_copy(&ctx->arena, good.data, good.size);
    for (size_t i = 0; i < good.size; i++) {
        static const uint8_t evil[] = {0, 1, 0x7f, 0x80, 0xff};
        for (size_t k = 0; k < TC_COUNT(evil); k++) {
            bad[i] = evil[k];
            walk((tc_bytes){bad, good.size});
        }
        bad[i] = good.data[i];
    }
    tc_fb fb;
    ti_fb_init(&fb, good, "ELSE");
    CHECK(fb.error && fb.error_at == 4 && ti_fb_root(&fb).at == 0);
    ti_fb_init(&fb, (tc_bytes){(const uint8_t *)"TOSA", 4}, NULL);
    CHECK(fb.error != NULL);
}

/* A list of many references to one child: the budget ends it. */
static void test_sharing(tc_ctx *ctx)
{
    tc_fb_writer w;
    ti_fb_write(&w, &ctx->arena, 0);
    char name[2000];
    memset(name, 'x', sizeof name);
    tc_fb_ref text = ti_fb_put_string(&w, (tc_str){name, sizeof name});
    tc_fb_ref many[5000];
    for (size_t i = 0; i < TC_COUNT(many); i++)
        many[i] = text;
    tc_fb_ref list = ti_fb_put_refs(&w, many, TC_COUNT(many));
    ti_fb_begin(&w);
    ti_fb_set_ref(&w, 0, list);
    tc_fb fb;
    ti_fb_init(&fb, ti_fb_finish(&w, ti_fb_end(&w), NULL), NULL);
    tc_fb_vector v = ti_fb_list(ti_fb_root(&fb), 0, 4);
    size_t seen = 0;
    while (seen < v.n && ti_fb_list_string(v, seen).p)
        seen++;
    CHECK(v.n == 5000 && seen > 100 && seen < 5000 && fb.error != NULL);
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    test_round_trip(ctx);
    test_hostile(ctx);
    test_sharing(ctx);
    tc_ctx_free(ctx);
    return check_done();
}
