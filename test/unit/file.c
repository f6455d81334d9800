/* SPDX-License-Identifier: Apache-2.0 */
/* file.c -- files that change while they are read, pipes, and files that are written whole. */
#include "check.h"
#include "elsewhere.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mapped.h"
#include "wire/file.h"
#include "wire/npy.h"

static char folder[] = "/tmp/tosac-file-XXXXXX";

static const char *in_folder(tc_ctx *ctx, const char *name)
{
    return ti_text_format(&ctx->arena, "%s/%s", folder, name);
}

static bool written(const char *path, tc_bytes bytes)
{
    tc_ctx *ctx = tc_ctx_new();
    bool good = ti_file_write(ctx, path, bytes) == TC_OK;
    fputs(tc_diagnostics(ctx), stderr);
    tc_ctx_free(ctx);
    return good;
}

static void put(const char *path, tc_bytes bytes) { CHECK(written(path, bytes)); }

static size_t entries(tc_ctx *ctx)
{
    const char **name;
    size_t n = 0;
    CHECK(ti_folder_list(ctx, folder, &name, &n) == TC_OK);
    return n;
}

/* Where mapping is allowed a large file is not copied; what is forgotten comes back as it was, what
 * the file's name leads to later does not matter, and a small file is copied all the same. */
static void test_mapped(void)
{
    enum { LARGE = 1 << 20, SMALL = 1 << 12 };
    tc_ctx *ctx = tc_ctx_new();
    const char *path = in_folder(ctx, "mapped"), *other = in_folder(ctx, "small");
    uint8_t *data = ti_arena_raw(&ctx->arena, LARGE);
    for (size_t i = 0; i < LARGE; i++)
        data[i] = (uint8_t)(i * 7 + (i >> 12));
    put(path, (tc_bytes){data, LARGE});
    put(other, (tc_bytes){data, SMALL});
    tc_ctx_set_mapping(ctx, 1);
    tc_ctx_stats before = {.size = sizeof before}, after = {.size = sizeof after};
    tc_ctx_get_stats(ctx, &before);
    tc_bytes all, few;
    CHECK(ti_file_read(ctx, path, &all) == TC_OK && all.size == LARGE);
    tc_ctx_get_stats(ctx, &after);
    CHECK(after.memory - before.memory < LARGE / 2);
    CHECK(memcmp(all.data, data, LARGE) == 0);
    tc_input *in;
    tc_bytes part;
    tc_ctx_get_stats(ctx, &before);
    CHECK(ti_input_open(ctx, path, &in) == TC_OK);
    CHECK(ti_input_part(in, 5, LARGE - 9, &part) == TC_OK && part.size == LARGE - 9);
    CHECK(memcmp(part.data, data + 5, LARGE - 9) == 0);
    CHECK(ti_input_part(in, 6, LARGE - 5, &part) == TC_BAD_MODEL);
    tc_ctx_get_stats(ctx, &after);
    CHECK(after.memory - before.memory < LARGE / 2);
    ti_mapped_forget(ctx, all.data + 100, LARGE - 200);
    ti_mapped_forget(ctx, data, LARGE); /* not mapped: stays */
    CHECK(memcmp(all.data, data, LARGE) == 0 &&
          data[LARGE - 1] == (uint8_t)((LARGE - 1) * 7 + 255));
    CHECK(ti_file_read(ctx, other, &few) == TC_OK && few.size == SMALL);
    CHECK(truncate(other, 0) == 0 && memcmp(few.data, data, SMALL) == 0);
#ifndef _WIN32 /* where a file that is mapped is not replaced */
    put(path, (tc_bytes){data, SMALL});
    CHECK(memcmp(all.data, data, LARGE) == 0);
#endif
    unlink(path);
    unlink(other);
    tc_ctx_free(ctx);
}

/* What was read stays as it was, whatever becomes of the file. */
static void test_cut(void)
{
    enum { SIZE = 1 << 20 };
    tc_ctx *ctx = tc_ctx_new();
    const char *path = in_folder(ctx, "cut");
    uint8_t *data = ti_arena_raw(&ctx->arena, SIZE), part[16];
    memset(data, 7, SIZE);
    put(path, (tc_bytes){data, SIZE});
    tc_bytes all;
    tc_input *in;
    CHECK(ti_file_read(ctx, path, &all) == TC_OK && all.size == SIZE);
    CHECK(ti_input_open(ctx, path, &in) == TC_OK && ti_input_size(in) == SIZE);
    CHECK(ti_input_read(in, SIZE - sizeof part, sizeof part, part) == TC_OK && part[15] == 7);
    CHECK(truncate(path, 4096) == 0);
    CHECK(all.data[SIZE - 1] == 7);
    CHECK(ti_input_read(in, 0, sizeof part, part) == TC_OK);
    CHECK(ti_input_read(in, SIZE - sizeof part, sizeof part, part) != TC_OK);
    CHECK(strstr(tc_diagnostics(ctx), "truncated while it was read"));
    CHECK(ti_input_all(in, &all) != TC_OK);
    tc_ctx_free(ctx);
}

/* Samples are read as they are asked for, so a file may be cut between two of them. */
static void test_cut_samples(const char *name, bool fortran)
{
    tc_ctx *ctx = tc_ctx_new();
    const char *path = in_folder(ctx, name);
    const int64_t dim[] = {1000, 1000};
    float *numbers = ti_arena_array(&ctx->arena, 1000 * 1000, sizeof *numbers, 64), x[2];
    numbers[1] = 5;
    tc_buf out;
    ti_buf_init(&out, &ctx->arena);
    ti_npy_header(&out, "<f4", 2, dim);
    ti_buf_cstr(&out);
    if (fortran)
        memcpy(strstr((char *)out.data + 10, "False"), "True ", 5);
    ti_buf_put(&out, numbers, 1000 * 1000 * sizeof *numbers);
    put(path, (tc_bytes){out.data, out.size});
    tc_npy *array;
    size_t n;
    CHECK(ti_npy_open(ctx, path, &array, &n) == TC_OK && n == 1);
    if (!fortran)
        CHECK(ti_npy_read(ctx, array, 0, 2, x) == TC_OK && x[1] == 5);
    CHECK(truncate(path, 64 * 1024) == 0);
    CHECK(ti_npy_read(ctx, array, 999 * 1000, 2, x) != TC_OK);
    CHECK(strstr(tc_diagnostics(ctx), "truncated while it was read"));
    tc_ctx_free(ctx);
}

#ifndef _WIN32 /* which has no named pipes among its files, and links by other means */
static void rest(long milliseconds)
{
    nanosleep(&(struct timespec){0, milliseconds * 1000000}, NULL);
}

/* NULL when all went well. */
static void *feed(void *path)
{
    bool good = true;
    rest(100);
    int fd = open(path, O_WRONLY);
    for (int i = 0; i < 3; i++) {
        good = write(fd, "abcd", 4) == 4 && good;
        rest(20);
    }
    close(fd);
    return good ? NULL : path;
}

/* A pipe is read to its end; its writer may come late, and must come. */
static void test_pipe(void)
{
    tc_ctx *ctx = tc_ctx_new();
    const char *path = in_folder(ctx, "pipe");
    char *name = ti_text_copy(&ctx->arena, ti_str_of(path));
    pthread_t thread;
    tc_bytes all;
    CHECK(mkfifo(path, 0600) == 0);
    CHECK(pthread_create(&thread, NULL, feed, name) == 0);
    CHECK(ti_file_read(ctx, path, &all) == TC_OK && all.size == 12);
    void *bad = NULL;
    CHECK(pthread_join(thread, &bad) == 0 && !bad);
    CHECK(ti_file_read(ctx, path, &all) != TC_OK);
    CHECK(strstr(tc_diagnostics(ctx), "not opened for writing"));
    CHECK(ti_file_write(ctx, path, (tc_bytes){(const uint8_t *)"x", 1}) != TC_OK);
    tc_ctx_free(ctx);
}

static void make_links(const char *path, const char *link, const char *twin)
{
    CHECK(symlink(path, link) == 0 && linkat(AT_FDCWD, path, AT_FDCWD, twin, 0) == 0);
}
#else
static void test_pipe(void) {}

static void make_links(const char *path, const char *link, const char *twin)
{
    (void)path, (void)link, (void)twin;
}
#endif

/* A file that was read is not written over, by whatever name. */
static void test_taken(void)
{
    tc_ctx *ctx = tc_ctx_new();
    const char *path = in_folder(ctx, "model"), *link = in_folder(ctx, "link");
    const char *twin = in_folder(ctx, "twin");
    tc_bytes one = {(const uint8_t *)"one", 3}, two = {(const uint8_t *)"two", 3}, back;
    put(path, one);
    make_links(path, link, twin);
    CHECK(ti_file_read(ctx, path, &back) == TC_OK);
    CHECK(ti_file_write(ctx, path, two) == TC_USAGE);
#ifndef _WIN32
    CHECK(ti_file_write(ctx, link, two) == TC_USAGE);
    CHECK(ti_file_write(ctx, twin, two) == TC_USAGE);
#endif
    CHECK(ti_file_write(ctx, in_folder(ctx, "other"), two) == TC_OK);
    tc_ctx_free(ctx);
    ctx = tc_ctx_new();
    path = in_folder(ctx, "model");
    CHECK(ti_file_read(ctx, path, &back) == TC_OK && memcmp(back.data, "one", 3) == 0);
    tc_ctx_free(ctx);
}

/* Until it is committed a file has no name beside others', and the final one holds what it held. */
static void test_whole(void)
{
    tc_ctx *ctx = tc_ctx_new(), *writer = tc_ctx_new();
    const char *path = in_folder(ctx, "whole");
    tc_bytes old = {(const uint8_t *)"old", 3}, back;
    put(path, old);
    size_t before = entries(ctx);
    tc_file *file;
    CHECK(ti_file_create(writer, path, &file) == TC_OK);
    CHECK(ti_file_append(file, "new", 3) == TC_OK);
    tc_ctx_free(writer); /* never committed */
    CHECK(entries(ctx) == before);
    CHECK(ti_file_read(ctx, path, &back) == TC_OK && memcmp(back.data, "old", 3) == 0);
    writer = tc_ctx_new();
    CHECK(ti_file_create(writer, path, &file) == TC_OK);
    CHECK(ti_file_append(file, "new", 3) == TC_OK && ti_file_commit(file) == TC_OK);
    CHECK(entries(ctx) == before);
    CHECK(ti_file_read(ctx, path, &back) == TC_OK && memcmp(back.data, "new", 3) == 0);
    tc_ctx_free(writer);
    tc_ctx_free(ctx);
}

/* NULL when all went well. */
static void *write_often(void *path)
{
    bool good = true;
    for (int i = 0; i < 50; i++)
        good = written(path, (tc_bytes){(const uint8_t *)"same", 4}) && good;
    return good ? NULL : path;
}

/* Distinct contexts write the same file at once; each time it is whole. */
static void test_together(void)
{
    enum { THREADS = 4 };
    tc_ctx *ctx = tc_ctx_new();
    char *path = ti_text_copy(&ctx->arena, ti_str_of(in_folder(ctx, "together")));
    size_t before = entries(ctx);
    pthread_t thread[THREADS];
    tc_bytes back;
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&thread[i], NULL, write_often, path) == 0);
    for (int i = 0; i < THREADS; i++) {
        void *bad = NULL;
        CHECK(pthread_join(thread[i], &bad) == 0 && !bad);
    }
    CHECK(entries(ctx) == before + 1);
    CHECK(ti_file_read(ctx, path, &back) == TC_OK && back.size == 4);
    tc_ctx_free(ctx);
}

/* More than a process may have open; those that are not committed go. */
static void test_very_many(void)
{
    enum { N = 3000, LONG = 20000 };
    static uint8_t bytes[LONG];
    tc_ctx *ctx = tc_ctx_new(), *writer = tc_ctx_new();
    tc_file **file = calloc(N, sizeof *file);
    size_t before = entries(ctx);
    bool good = true;
    for (int i = 0; i < N && good; i++)
        good = ti_file_create(writer, in_folder(writer, ti_text_format(&writer->arena, "many.%d", i)),
                              &file[i]) == TC_OK &&
               ti_file_append(file[i], "ab", 2) == TC_OK;
    for (int i = 0; i < N && good; i++) {
        good = ti_file_append(file[i], bytes, i == N - 1 ? LONG : 1) == TC_OK &&
               ti_file_append(file[i], "cd", 2) == TC_OK;
        if (good && (i < 2 || i >= N - 2))
            good = ti_file_commit(file[i]) == TC_OK;
    }
    CHECK(good);
    tc_ctx_free(writer);
    CHECK(entries(ctx) == before + 4);
    tc_bytes back;
    for (int i = 0; i < N; i += i == 1 ? N - 3 : 1) {
        size_t more = i == N - 1 ? LONG : 1;
        CHECK(ti_file_read(ctx, in_folder(ctx, ti_text_format(&ctx->arena, "many.%d", i)), &back) ==
                  TC_OK &&
              back.size == 4 + more && memcmp(back.data, "ab", 2) == 0 &&
              memcmp(back.data + 2 + more, "cd", 2) == 0);
    }
    free(file);
    tc_ctx_free(ctx);
}

int main(void)
{
    CHECK(mkdtemp(folder) != NULL);
    test_cut();
    test_mapped();
    test_cut_samples("plain.npy", false);
    test_cut_samples("fortran.npy", true);
    test_pipe();
    test_taken();
    test_whole();
    test_together();
    test_very_many();
    CHECK(remove_folder(folder));
    return check_done();
}
