/* SPDX-License-Identifier: Apache-2.0 */
/* npy.c -- NumPy files: versions, orders, byte orders, and headers that lie. */
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

#include "wire/npy.h"

static tc_ctx *ctx;

/* A .npy of the given version, dictionary and numbers. */
static tc_bytes npy(int version, const char *dictionary, const void *data, size_t size)
{
    tc_buf out;
    ti_buf_init(&out, &ctx->arena);
    ti_buf_put(&out, "\x93NUMPY", 6);
    ti_buf_u8(&out, (uint8_t)version);
    ti_buf_u8(&out, 0);
    if (version == 1)
        ti_buf_u16(&out, (uint16_t)strlen(dictionary));
    else
        ti_buf_u32(&out, (uint32_t)strlen(dictionary));
    ti_buf_text(&out, dictionary);
    ti_buf_put(&out, data, size);
    return (tc_bytes){out.data, out.size};
}

static tc_npy *parse(tc_bytes bytes)
{
    tc_npy *a = NULL;
    size_t n;
    return ti_npy_parse(ctx, "t.npy", bytes, &a, &n) == TC_OK ? a : NULL;
}

static void test_plain(void)
{
    float v[6] = {0, 1, 2, 3, 4, 5}, got[6] = {0};
    for (int version = 1; version <= 3; version++) {
        tc_npy *a = parse(npy(
            version, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", v, sizeof v));
        CHECK(a && a->kind == 'f' && a->size == 4 && a->rank == 2 && a->dim[0] == 2 &&
              a->dim[1] == 3);
        CHECK(a && a->count == 6 && ti_npy_read(ctx, a, 2, 3, got) == TC_OK && got[0] == 2 &&
              got[2] == 4);
        CHECK(a && ti_text_eq(a->name, "t"));
    }
}

static void test_orders(void)
{
    const int16_t columns[6] = {0, 3, 1, 4, 2, 5}; /* [[0, 1, 2], [3, 4, 5]], first axis fastest */
    int16_t got[6];
    tc_npy *a = parse(npy(1, "{\"shape\":(2,3),\"fortran_order\":True,\"descr\":\"<i2\"}", columns,
                          sizeof columns));
    CHECK(a && ti_npy_read(ctx, a, 0, 6, got) == TC_OK);
    for (int i = 0; i < 6; i++)
        CHECK(got[i] == i);
    CHECK(a && ti_npy_read(ctx, a, 4, 2, got) == TC_OK && got[0] == 4 && got[1] == 5);

    const uint8_t big[8] = {0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe};
    int32_t wide[2];
    a = parse(npy(1, "{'descr': '>i4', 'fortran_order': False, 'shape': (2,)}", big, 8));
    CHECK(a && ti_npy_read(ctx, a, 0, 2, wide) == TC_OK && wide[0] == 1 && wide[1] == -2);

    a = parse(npy(1, "{'descr': '>i4', 'fortran_order': False, 'shape': ()}", big, 4));
    CHECK(a && a->rank == 0 && a->count == 1);
    a = parse(npy(1, "{'descr': '|V2', 'fortran_order': False, 'shape': (0, 5)}", big, 0));
    CHECK(a && a->kind == 'V' && a->count == 0);
}

static void test_refused(void)
{
    static const char *const bad[] = {
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", /* 8 bytes only */
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, "
         "9223372036854775807)}"),
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, ,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2}",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,)}",
        "{'descr': '|O', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<U4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f3', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4",
        "",
    };
    for (size_t i = 0; i < TC_COUNT(bad); i++)
        CHECK(!parse(npy(1, bad[i], "12345678", 8)));
    CHECK(!parse(npy(4, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "12345678", 8)));
    CHECK(!parse((tc_bytes){(const uint8_t *)"\x93NUMPY\x02\x00\xff\xff\xff\xff{", 13}));
    CHECK(!parse((tc_bytes){(const uint8_t *)"\x93NUMPY\x01", 7}));
    CHECK(!parse((tc_bytes){(const uint8_t *)"PK\x03\x04", 4}));
    CHECK(!parse((tc_bytes){(const uint8_t *)"", 0}));
}

/* A header of the stored member number k, "x.npy" or "xK.npy"; at: where its local one stands. */
static void member_header(tc_buf *out, bool central, int k, tc_bytes member, uint32_t crc,
                          uint32_t at)
{
    const char *name = k ? ti_text_format(&ctx->arena, "x%d.npy", k) : "x.npy";
    ti_buf_u32(out, central ? 0x02014b50 : 0x04034b50);
    ti_buf_zeros(out, central ? 2 : 0);
    ti_buf_u16(out, 20);
    ti_buf_zeros(out, 8); /* flags, stored, time, date */
    ti_buf_u32(out, crc);
    ti_buf_u32(out, (uint32_t)member.size);
    ti_buf_u32(out, (uint32_t)member.size);
    ti_buf_u16(out, (uint16_t)strlen(name));
    ti_buf_zeros(out, central ? 12 : 2);
    if (central)
        ti_buf_u32(out, at);
    ti_buf_text(out, name);
}

/* An archive of n stored members, all alike, without a library's help. */
static tc_bytes npz_of(int n, tc_bytes member, uint32_t crc)
{
    tc_buf out, directory;
    ti_buf_init(&out, &ctx->arena);
    ti_buf_init(&directory, &ctx->arena);
    for (int k = 0; k < n; k++) {
        member_header(&directory, true, k, member, crc, (uint32_t)out.size);
        member_header(&out, false, k, member, crc, 0);
        ti_buf_put(&out, member.data, member.size);
    }
    uint32_t at = (uint32_t)out.size;
    ti_buf_put(&out, directory.data, directory.size);
    ti_buf_u32(&out, 0x06054b50);
    ti_buf_zeros(&out, 4);
    ti_buf_u16(&out, (uint16_t)n);
    ti_buf_u16(&out, (uint16_t)n);
    ti_buf_u32(&out, (uint32_t)directory.size);
    ti_buf_u32(&out, at);
    ti_buf_u16(&out, 0);
    return (tc_bytes){out.data, out.size};
}

static tc_bytes npz(tc_bytes member, uint32_t crc) { return npz_of(1, member, crc); }

static uint32_t crc32_of(tc_bytes bytes)
{
    uint32_t crc = ~0u;
    for (size_t i = 0; i < bytes.size; i++) {
        crc ^= bytes.data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static void test_archive(void)
{
    const int16_t v[4] = {1, 2, 3, 4};
    int16_t got[4];
    tc_bytes c = npy(1, "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 2)}", v, sizeof v);
    tc_npy *a = parse(npz(c, crc32_of(c)));
    CHECK(a && ti_text_eq(a->name, "x"));
    CHECK(a && ti_npy_read(ctx, a, 2, 2, got) == TC_OK && got[0] == 3 && got[1] == 4);
    CHECK(a && ti_npy_read(ctx, a, 0, 1, got) == TC_OK && got[0] == 1); /* back again */
    tc_bytes f = npy(2, "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 2)}", v, sizeof v);
    a = parse(npz(f, crc32_of(f)));
    CHECK(a && ti_npy_read(ctx, a, 1, 3, got) == TC_OK && got[0] == 3 && got[1] == 2 &&
          got[2] == 4);
    a = parse(npz(c, crc32_of(c) ^ 1));
    CHECK(!a || ti_npy_read(ctx, a, 0, 4, got) != TC_OK); /* the checksum is another */
}

/* The same from a file, of which only the directory is kept in memory. */
static tc_npy *opened(tc_bytes bytes, size_t *count)
{
    char path[] = "/tmp/tosac-npy-XXXXXX";
    int fd = mkstemp(path);
    tc_npy *a = NULL;
    bool written = fd >= 0 && write(fd, bytes.data, bytes.size) == (ssize_t)bytes.size;
    CHECK(written);
    if (ti_npy_open(ctx, path, &a, count) != TC_OK)
        a = NULL;
    remove(path);
    close(fd);
    return a;
}

static void test_file(void)
{
    enum { LONG = 100000 };
    static int16_t v[LONG], got[LONG];
    for (int i = 0; i < LONG; i++)
        v[i] = (int16_t)(i * 7);
    size_t n = 0;
    const char *head = "{'descr': '<i2', 'fortran_order': False, 'shape': (100000,)}";
    tc_bytes c = npy(1, head, v, sizeof v);
    tc_npy *a = opened(npz(c, crc32_of(c)), &n);
    CHECK(a && n == 1 && ti_npy_read(ctx, a, 0, LONG, got) == TC_OK && !memcmp(v, got, sizeof v));
    CHECK(a && ti_npy_read(ctx, a, 90000, 2, got) == TC_OK && got[1] == v[90001]);
    CHECK(a && ti_npy_read(ctx, a, 5, 1, got) == TC_OK && got[0] == v[5]);
    a = opened(npz(c, crc32_of(c) ^ 1), &n);
    bool fine = true;
    for (int i = 0; i < LONG && a && fine; i += 1000) /* in steps, as samples are read */
        fine = ti_npy_read(ctx, a, i, 1000, got) == TC_OK;
    CHECK(a && !fine);
    /* A directory that is longer than what is looked at first. */
    c = npy(1, "{'descr': '<i2', 'fortran_order': False, 'shape': (4,)}", v, 8);
    a = opened(npz_of(1500, c, crc32_of(c)), &n);
    CHECK(a && n == 1500 && ti_text_eq(a[1499].name, "x1499"));
    CHECK(a && ti_npy_read(ctx, &a[1499], 1, 3, got) == TC_OK && got[2] == v[3]);
    /* Cut off: the end record, the directory, the member. */
    tc_bytes whole = npz(c, crc32_of(c));
    for (size_t cut = 1; cut < whole.size; cut += 13)
        CHECK(!opened((tc_bytes){whole.data, whole.size - cut}, &n));
}

static void test_header(void)
{
    tc_buf out;
    ti_buf_init(&out, &ctx->arena);
    ti_npy_header(&out, "<f8", 1, (int64_t[]){1});
    CHECK(out.size % 64 == 0);
    double one = 1, got = 0;
    ti_buf_put(&out, &one, sizeof one);
    tc_npy *a = parse((tc_bytes){out.data, out.size});
    CHECK(a && a->rank == 1 && a->dim[0] == 1 && ti_npy_read(ctx, a, 0, 1, &got) == TC_OK &&
          got == 1);
    CHECK(a && ti_text_eq(ti_npy_type_text(&ctx->arena, a), "float64"));
}

int main(void)
{
    ctx = tc_ctx_new();
    test_plain();
    test_orders();
    test_refused();
    test_archive();
    test_file();
    test_header();
    tc_ctx_free(ctx);
    return check_done();
}
