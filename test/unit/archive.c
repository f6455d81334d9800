/* SPDX-License-Identifier: Apache-2.0 */
/* archive.c -- archives with 64-bit records, as large exports have them, made here byte by byte;
 * and the ways in which their directory can be wrong. */
#include "check.h"

#include "wire/archive.h"
#include "zipped.h"

typedef struct wide {
    bool no_sizes;   /* the entry lacks its 64-bit sizes */
    bool short_size; /* they are cut short */
    bool no_record;  /* the locator leads elsewhere */
    bool encrypted;
    uint16_t method;
    uint32_t volume;
    const char *local_name; /* in front of the bytes */
} wide;

static void put_u64(tc_buf *b, uint64_t v)
{
    ti_buf_u32(b, (uint32_t)v);
    ti_buf_u32(b, (uint32_t)(v >> 32));
}

/* Everything behind the version: all ones where the 64-bit field has it. */
static void put_header(tc_buf *b, const wide *w, uint16_t extra)
{
    ti_buf_u16(b, w->encrypted);
    ti_buf_u16(b, w->method);
    ti_buf_u32(b, 0);
    ti_buf_u32(b, 0);
    ti_buf_u32(b, UINT32_MAX);
    ti_buf_u32(b, UINT32_MAX);
    ti_buf_u16(b, 1);
    ti_buf_u16(b, extra);
}

/* One member "a" of the bytes "hello". */
static tc_bytes archive_of(tc_arena *arena, const wide *w)
{
    tc_buf b;
    ti_buf_init(&b, arena);
    ti_buf_u32(&b, UINT32_C(0x04034b50));
    ti_buf_u16(&b, 45);
    put_header(&b, w, 0);
    ti_buf_text(&b, w->local_name);
    ti_buf_text(&b, "hello");
    size_t directory = b.size, extra = w->no_sizes ? 0 : w->short_size ? 12 : 32;
    ti_buf_u32(&b, UINT32_C(0x02014b50));
    ti_buf_u32(&b, 45 | 45 << 16);
    put_header(&b, w, (uint16_t)extra);
    ti_buf_zeros(&b, 2 + 2 + 2 + 4);
    ti_buf_u32(&b, UINT32_MAX); /* where the member is */
    ti_buf_text(&b, "a");
    if (extra) {
        ti_buf_u32(&b, 0x7777); /* a field of somebody else's, of 0 bytes */
        ti_buf_u16(&b, 1);
        ti_buf_u16(&b, (uint16_t)(extra - 8));
    }
    if (w->short_size)
        ti_buf_u32(&b, 5);
    else if (extra) {
        put_u64(&b, 5); /* content, packed, and where the member is */
        put_u64(&b, 5);
        put_u64(&b, 0);
    }
    size_t record = b.size;
    ti_buf_u32(&b, UINT32_C(0x06064b50));
    put_u64(&b, 44);
    ti_buf_zeros(&b, 12);
    put_u64(&b, 1);
    put_u64(&b, 1);
    put_u64(&b, record - directory);
    put_u64(&b, directory);
    ti_buf_u32(&b, UINT32_C(0x07064b50));
    ti_buf_u32(&b, 0);
    put_u64(&b, w->no_record ? record + 1 : record);
    ti_buf_u32(&b, 1);
    ti_buf_u32(&b, UINT32_C(0x06054b50));
    ti_buf_u32(&b, w->volume);
    ti_buf_u32(&b, UINT32_MAX);
    ti_buf_u32(&b, UINT32_MAX);
    ti_buf_u32(&b, UINT32_MAX);
    ti_buf_u16(&b, 0);
    return (tc_bytes){b.data, b.size};
}

static tc_status read_it(tc_ctx *ctx, tc_bytes file, tc_bytes *out)
{
    tc_archive a;
    TC_TRY(ti_archive_open(ctx, &ctx->arena, "t.zip", NULL, file, &a));
    tc_member *m = ti_archive_find(&a, "a");
    CHECK(m && !ti_archive_find(&a, "b"));
    return ti_archive_read(&a, m, out);
}

static void test_wide(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_bytes out = {0};
    CHECK(read_it(ctx, archive_of(&ctx->arena, &(wide){.local_name = "a"}), &out) == TC_OK);
    CHECK(out.size == 5 && memcmp(out.data, "hello", 5) == 0);
    tc_ctx_free(ctx);
}

static bool refused(const wide *w, size_t cut, tc_status wanted, const char *words)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_bytes file = archive_of(&ctx->arena, w), out;
    file.size -= cut;
    tc_status status = read_it(ctx, file, &out);
    bool good = status == wanted && strstr(tc_diagnostics(ctx), words);
    if (!good)
        fprintf(stderr, "expected %d with '%s', got %d: %s", (int)wanted, words, (int)status,
                tc_diagnostics(ctx));
    tc_ctx_free(ctx);
    return good;
}

static void test_broken(void)
{
    CHECK(refused(&(wide){.no_sizes = true, .local_name = "a"}, 0, TC_BAD_MODEL,
                  "without its 64-bit sizes"));
    CHECK(refused(&(wide){.short_size = true, .local_name = "a"}, 0, TC_BAD_MODEL,
                  "without its 64-bit sizes"));
    CHECK(refused(&(wide){.no_record = true, .local_name = "a"}, 0, TC_BAD_MODEL,
                  "a 64-bit record that does not exist"));
    CHECK(refused(&(wide){.encrypted = true, .local_name = "a"}, 0, TC_UNSUPPORTED,
                  "it is encrypted"));
    CHECK(refused(&(wide){.method = 9, .local_name = "a"}, 0, TC_UNSUPPORTED,
                  "compression method 9"));
    CHECK(refused(&(wide){.volume = 2, .local_name = "a"}, 0, TC_UNSUPPORTED, "several volumes"));
    CHECK(refused(&(wide){.local_name = "b"}, 0, TC_BAD_MODEL, "has another name"));
    CHECK(refused(&(wide){.local_name = "a"}, 4, TC_BAD_MODEL, "no end record"));
    CHECK(refused(&(wide){.method = 8, .local_name = "a"}, 0, TC_BAD_MODEL, "inflate"));
}

/* What is written is read back, its checksums compared. */
static void written(void)
{
    static const uint8_t zeros[5000] = {0};
    static const struct {
        const char *name;
        tc_bytes content;
    } want[] = {{"a.npy", {(const uint8_t *)"hello", 5}}, {"none", {0}}, {"long", {zeros, 5000}}};
    tc_ctx *ctx = tc_ctx_new();
    tc_zip zip;
    tc_archive a;
    ti_zip_begin(&zip, &ctx->arena);
    for (size_t i = 0; i < TC_COUNT(want); i++)
        ti_zip_add(&zip, want[i].name, want[i].content);
    tc_bytes all = ti_zip_end(&zip);
    CHECK(ti_archive_looks_like(all));
    CHECK(ti_archive_open(ctx, &ctx->arena, "written", NULL, all, &a) == TC_OK && a.n_member == 3);
    for (size_t i = 0; i < TC_COUNT(want); i++) {
        tc_bytes got = {0};
        tc_member *m = ti_archive_find(&a, want[i].name);
        CHECK_ROW(want[i].name, m && ti_archive_read(&a, m, &got) == TC_OK &&
                                    got.size == want[i].content.size &&
                                    (!got.size || !memcmp(got.data, want[i].content.data, got.size)));
    }
    CHECK(ti_archive_find(&a, "a.npy")->crc == UINT32_C(0x3610a686)); /* as zlib has it */
    tc_ctx_free(ctx);
}

int main(void)
{
    written();
    test_wide();
    test_broken();
    return check_done();
}
