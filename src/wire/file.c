/* SPDX-License-Identifier: Apache-2.0 */
/* file.c -- see file.h. */
#include "file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIPE_STEP = 64 * 1024, BUFFER = 256 * 1024 };

static tc_status io_error(tc_ctx *ctx, const char *path, const char *what)
{
    return tc_error(ctx, &(tc_loc){.file = path}, TC_E_IO, "cannot %s: %s", what, strerror(errno));
}

static void unmap(void *what)
{
    tc_bytes *bytes = what;
    munmap((void *)(uintptr_t)bytes->data, bytes->size);
}

static tc_status map_regular(tc_ctx *ctx, const char *path, int fd, size_t size, tc_bytes *out)
{
    if (size == 0) {
        *out = (tc_bytes){(const uint8_t *)"", 0};
        return TC_OK;
    }
    tc_bytes *kept = tc_new(&ctx->arena, tc_bytes);
    void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return io_error(ctx, path, "map it");
    *out = *kept = (tc_bytes){data, size};
    tc_ctx_defer(ctx, unmap, kept);
    return TC_OK;
}

static tc_status read_to_end(tc_ctx *ctx, const char *path, int fd, tc_bytes *out)
{
    tc_buf all;
    tc_buf_init(&all, &ctx->arena);
    for (;;) {
        uint8_t *room = tc_buf_room(&all, PIPE_STEP);
        ssize_t got = read(fd, room, PIPE_STEP);
        all.size -= PIPE_STEP - (size_t)(got > 0 ? got : 0);
        if (got == 0)
            break;
        if (got < 0 && errno != EINTR)
            return io_error(ctx, path, "read it");
    }
    *out = (tc_bytes){all.data, all.size};
    return TC_OK;
}

static tc_status take_open(tc_ctx *ctx, const char *path, int fd, tc_bytes *out)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return io_error(ctx, path, "look at it");
    if (S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        return io_error(ctx, path, "read it");
    }
    if (S_ISREG(info.st_mode))
        return map_regular(ctx, path, fd, (size_t)info.st_size, out);
    return read_to_end(ctx, path, fd, out);
}

tc_status tc_file_map(tc_ctx *ctx, const char *path, tc_bytes *out)
{
    if (tc_text_eq(path, "-"))
        return take_open(ctx, "standard input", STDIN_FILENO, out);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return io_error(ctx, path, "open it");
    tc_status status = take_open(ctx, path, fd, out);
    close(fd);
    return status;
}

struct tc_file {
    tc_ctx *ctx;
    const char *path; /* the final name */
    const char *beside;
    int fd; /* -1: committed, or never opened */
    uint8_t *buffer;
    size_t n;
};

static void abandon(void *what)
{
    tc_file *file = what;
    if (file->fd >= 0) {
        close(file->fd);
        unlink(file->beside);
    }
    file->fd = -1;
}

/* Where a link leads, through as many as the system follows; a path that is no link is itself. */
static const char *real_path(tc_ctx *ctx, const char *path)
{
    enum { LINKS = 40 };
    for (int i = 0; i < LINKS; i++) {
        char to[4096];
        ssize_t n = readlink(path, to, sizeof to - 1);
        if (n <= 0)
            return path;
        to[n] = 0;
        const char *slash = strrchr(path, '/');
        path = to[0] == '/' || !slash
                   ? tc_text_copy(&ctx->arena, tc_str_of(to))
                   : tc_text_format(&ctx->arena, "%.*s/%s", (int)(slash - path), path, to);
    }
    return path;
}

tc_status tc_file_create(tc_ctx *ctx, const char *path, tc_file **out)
{
    static int serial;
    struct stat st;
    path = real_path(ctx, path);
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return tc_error(ctx, &(tc_loc){.file = path}, TC_E_IO,
                        "it is a device or a pipe; a file is written beside its name and renamed");
    tc_file *file = tc_new(&ctx->arena, tc_file);
    *file = (tc_file){.ctx = ctx, .fd = -1, .path = tc_text_copy(&ctx->arena, tc_str_of(path))};
    file->buffer = tc_arena_raw(&ctx->arena, BUFFER);
    file->beside = tc_text_format(&ctx->arena, "%s.%ld-%d.part", path, (long)getpid(), serial++);
    tc_ctx_defer(ctx, abandon, file);
    file->fd = open(file->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file->fd < 0)
        return io_error(ctx, path, "create it");
    *out = file;
    return TC_OK;
}

static tc_status put(tc_file *file, const uint8_t *data, size_t size)
{
    while (size) {
        ssize_t n = write(file->fd, data, size);
        if (n < 0 && errno != EINTR)
            return io_error(file->ctx, file->path, "write it");
        data += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return TC_OK;
}

static tc_status flush(tc_file *file)
{
    size_t n = file->n;
    file->n = 0;
    return put(file, file->buffer, n);
}

tc_status tc_file_append(tc_file *file, const void *data, size_t size)
{
    if (size > BUFFER - file->n)
        TC_TRY(flush(file));
    if (size > BUFFER)
        return put(file, data, size);
    if (size)
        memcpy(file->buffer + file->n, data, size);
    file->n += size;
    return TC_OK;
}

tc_status tc_file_commit(tc_file *file)
{
    TC_TRY(flush(file));
    int fd = file->fd;
    file->fd = -1;
    if (close(fd) != 0 || rename(file->beside, file->path) != 0) {
        tc_status status = io_error(file->ctx, file->path, "write it");
        unlink(file->beside);
        return status;
    }
    return TC_OK;
}

tc_status tc_file_write(tc_ctx *ctx, const char *path, tc_bytes bytes)
{
    tc_file *file;
    TC_TRY(tc_file_create(ctx, path, &file));
    TC_TRY(tc_file_append(file, bytes.data, bytes.size));
    return tc_file_commit(file);
}

bool tc_is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

tc_status tc_folder_make(tc_ctx *ctx, const char *path)
{
    tc_mark mark = tc_arena_mark(&ctx->scratch);
    char *part = tc_text_copy(&ctx->scratch, tc_str_of(path));
    for (char *at = part + 1; part[0] && *at; at++)
        if (*at == '/') {
            *at = 0;
            mkdir(part, 0777); /* the last one tells whether it worked */
            *at = '/';
        }
    mkdir(part, 0777);
    tc_arena_rewind(&ctx->scratch, mark);
    if (tc_is_folder(path))
        return TC_OK;
    struct stat info;
    errno = stat(path, &info) == 0 ? ENOTDIR : errno;
    return io_error(ctx, path, "make the folder");
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

tc_status tc_folder_list(tc_ctx *ctx, const char *path, const char ***name, size_t *count)
{
    DIR *folder = opendir(path);
    if (!folder)
        return io_error(ctx, path, "open the folder");
    const char **list = NULL;
    size_t n = 0, cap = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        tc_grow(&ctx->arena, list, n, cap);
        list[n++] = tc_text_copy(&ctx->arena, tc_str_of(entry->d_name));
    }
    closedir(folder);
    if (n)
        qsort(list, n, sizeof *list, by_bytes);
    *name = list;
    *count = n;
    return TC_OK;
}
