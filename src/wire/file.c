/* SPDX-License-Identifier: Apache-2.0 */
/* file.c -- see file.h: reading, and folders. */
#include "file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/mapped.h"

enum { PIPE_STEP = 64 * 1024, WAIT_FOR_WRITER = 5 }; /* seconds */

/* A regular file that was read: nothing is written over it while the context lives. */
typedef struct tc_file_taken {
    struct tc_file_taken *next;
    dev_t device;
    ino_t number;
} tc_file_taken;

struct tc_input {
    tc_ctx *ctx;
    const char *path;
    int fd;         /* -1: all of it is in memory */
    tc_bytes bytes; /* .data == NULL: on the disk */
};

tc_status ti_io_error(tc_ctx *ctx, const char *path, const char *what)
{
    return ti_error(ctx, &(tc_loc){.file = path}, TC_E_IO, "cannot %s: %s", what, strerror(errno));
}

/* With what was probably meant. */
static tc_status cannot_open(tc_ctx *ctx, const char *path)
{
    const tc_loc loc = {.file = path};
    const char *equals = strchr(path, '=');
    int why = errno;
    tc_status status = ti_io_error(ctx, path, "open it");
    if (why == ENOENT && ti_text_eq(path, "random"))
        ti_note(ctx, &loc, "random numbers are 'random:SEED', such as random:1");
    else if (why == ENOENT && equals && access(equals + 1, F_OK) == 0)
        ti_note(ctx, &loc, "'%s' is there: give it without '%.*s='; the arrays of a .npz go to the inputs "
                           "of their names",
                equals + 1, (int)(equals - path), path);
    return status;
}

static tc_status cut_short(tc_ctx *ctx, const char *path)
{
    return ti_error(ctx, &(tc_loc){.file = path}, TC_E_TRUNCATED,
                    "it was truncated while it was read");
}

bool ti_file_is_taken(tc_ctx *ctx, const char *path)
{
    struct stat info;
    const tc_file_taken *first = *TC_OWN(ctx, FILE, tc_file_taken *);
    if (!first || stat(path, &info) != 0)
        return false;
    for (const tc_file_taken *t = first; t; t = t->next)
        if (t->device == info.st_dev && t->number == info.st_ino)
            return true;
    return false;
}

static void take_note(tc_ctx *ctx, const struct stat *info)
{
    tc_file_taken **first = TC_OWN(ctx, FILE, tc_file_taken *), *t = tc_new(&ctx->arena, tc_file_taken);
    *t = (tc_file_taken){*first, info->st_dev, info->st_ino};
    *first = t;
}

/* Waits until a non-blocking descriptor is readable; false when there is no writer. */
static bool wait_for_bytes(int fd, bool writer_seen, double deadline)
{
    struct pollfd event = {.fd = fd, .events = POLLIN};
    double left = deadline - ti_seconds();
    if (!writer_seen && left <= 0)
        return false;
    int ready = poll(&event, 1, writer_seen ? -1 : (int)(left * 1000) + 1);
    return ready != 0;
}

/* A pipe ends when its last writer closes it; a named one that is not yet opened for writing (no
 * data, no hangup) is given some time. */
static tc_status read_to_end(tc_ctx *ctx, const char *path, int fd, bool writer_seen, tc_bytes *out)
{
    tc_buf all;
    double deadline = ti_seconds() + WAIT_FOR_WRITER;
    ti_buf_init(&all, &ctx->arena);
    for (;;) {
        uint8_t *room = ti_buf_room(&all, PIPE_STEP);
        ssize_t got = read(fd, room, PIPE_STEP);
        all.size -= PIPE_STEP - (size_t)(got > 0 ? got : 0);
        bool wait = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
        if (got < 0 && !wait && errno != EINTR)
            return ti_io_error(ctx, path, "read it");
        writer_seen = writer_seen || got > 0 || wait;
        if (got == 0 && !writer_seen) {
            struct pollfd event = {.fd = fd, .events = POLLIN};
            poll(&event, 1, 0);
            writer_seen = event.revents != 0; /* it came, and went */
        }
        if (got == 0 && writer_seen)
            break;
        if ((wait || got == 0) && !wait_for_bytes(fd, writer_seen, deadline))
            return ti_error(ctx, &(tc_loc){.file = path}, TC_E_IO,
                            "a pipe that was not opened for writing within %d seconds",
                            WAIT_FOR_WRITER);
    }
    *out = (tc_bytes){all.data, all.size};
    return TC_OK;
}

/* size bytes from an offset on, or an error: a file may be cut while we read. */
static tc_status read_part(tc_ctx *ctx, const char *path, int fd, uint64_t at, size_t size,
                           uint8_t *out)
{
    while (size) {
        ssize_t got = pread(fd, out, size, (off_t)at);
        if (got < 0 && errno != EINTR)
            return ti_io_error(ctx, path, "read it");
        if (got == 0)
            return cut_short(ctx, path);
        size_t n = got > 0 ? (size_t)got : 0;
        out += n;
        at += n;
        size -= n;
    }
    return TC_OK;
}

static void close_input(void *what)
{
    tc_input *in = what;
    if (in->fd >= 0)
        close(in->fd);
    in->fd = -1;
}

/* Regular files stay open; anything else is read here. */
static tc_status look_inside(tc_input *in, bool standard)
{
    tc_ctx *ctx = in->ctx;
    struct stat info;
    if (fstat(in->fd, &info) != 0)
        return ti_io_error(ctx, in->path, "look at it");
    if (S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        return ti_io_error(ctx, in->path, "read it");
    }
    bool whole = S_ISREG(info.st_mode) && info.st_size > 0 && lseek(in->fd, 0, SEEK_CUR) == 0;
    if (S_ISREG(info.st_mode))
        take_note(ctx, &info);
    if (whole) {
        in->bytes.size = (size_t)info.st_size;
        return TC_OK;
    }
    tc_status status =
        read_to_end(ctx, in->path, in->fd, standard || !S_ISFIFO(info.st_mode), &in->bytes);
    close_input(in);
    return status;
}

tc_status ti_input_open(tc_ctx *ctx, const char *path, tc_input **out)
{
    bool standard = ti_text_eq(path, "-");
    tc_input *in = tc_new(&ctx->arena, tc_input);
    *in = (tc_input){.ctx = ctx, .fd = -1, .path = standard ? "standard input" : path};
    ti_ctx_defer(ctx, close_input, in);
    /* A named pipe without a writer must not stop us here. */
    in->fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                      : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (in->fd < 0)
        return cannot_open(ctx, in->path);
    *out = in;
    return look_inside(in, standard);
}

int ti_input_fd(const tc_input *in)
{
    return in->bytes.data ? -1 : in->fd;
}

size_t ti_input_size(const tc_input *in)
{
    return in->bytes.size;
}

tc_status ti_input_read(tc_input *in, uint64_t at, size_t size, void *out)
{
    if (at > in->bytes.size || size > in->bytes.size - at)
        return cut_short(in->ctx, in->path);
    if (!in->bytes.data)
        return read_part(in->ctx, in->path, in->fd, at, size, out);
    if (size)
        memcpy(out, in->bytes.data + at, size);
    return TC_OK;
}

tc_status ti_input_part(tc_input *in, uint64_t at, size_t size, tc_bytes *out)
{
    if (at > in->bytes.size || size > in->bytes.size - at)
        return cut_short(in->ctx, in->path);
    if (!in->bytes.data) {
        in->bytes.data = ti_mapped_open(in->ctx, in->fd, in->bytes.size);
        if (in->bytes.data)
            close_input(in);
    }
    if (in->bytes.data) {
        *out = (tc_bytes){in->bytes.data + at, size};
        return TC_OK;
    }
    void *data = ti_arena_raw(&in->ctx->arena, size);
    *out = (tc_bytes){data, size};
    return read_part(in->ctx, in->path, in->fd, at, size, data);
}

tc_status ti_input_all(tc_input *in, tc_bytes *out)
{
    if (!in->bytes.data) {
        in->bytes.data = ti_mapped_open(in->ctx, in->fd, in->bytes.size);
        if (!in->bytes.data) {
            uint8_t *data = ti_arena_raw(&in->ctx->arena, in->bytes.size);
            TC_TRY(read_part(in->ctx, in->path, in->fd, 0, in->bytes.size, data));
            in->bytes.data = data;
        }
        close_input(in);
    }
    *out = in->bytes;
    return TC_OK;
}

tc_status ti_file_read(tc_ctx *ctx, const char *path, tc_bytes *out)
{
    tc_input *in;
    TC_TRY(ti_input_open(ctx, path, &in));
    return ti_input_all(in, out);
}

bool ti_is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

tc_status ti_folder_make(tc_ctx *ctx, const char *path)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    char *part = ti_text_copy(&ctx->scratch, ti_str_of(path));
    for (char *at = part + 1; part[0] && *at; at++)
        if (ti_path_ends_part(*at)) {
            char slash = *at;
            *at = 0;
            mkdir(part, 0777); /* the last one says whether it worked */
            *at = slash;
        }
    mkdir(part, 0777);
    ti_arena_rewind(&ctx->scratch, mark);
    if (ti_is_folder(path))
        return TC_OK;
    struct stat info;
    int why = errno;
    if (stat(path, &info) == 0)
        return ti_error(ctx, &(tc_loc){.file = path}, TC_E_IO,
                        "a folder is expected here, and this is a file");
    errno = why;
    return ti_io_error(ctx, path, "make the folder");
}

static void close_folder(void *what)
{
    DIR **folder = what;
    if (*folder)
        closedir(*folder);
    *folder = NULL;
}

tc_status ti_folder_list(tc_ctx *ctx, const char *path, const char ***name, size_t *count)
{
    DIR **open = tc_new(&ctx->arena, DIR *);
    ti_ctx_defer(ctx, close_folder, open);
    DIR *folder = *open = opendir(path);
    if (!folder)
        return ti_io_error(ctx, path, "open the folder");
    const char **list = NULL;
    size_t n = 0, cap = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        tc_grow(&ctx->arena, list, n, cap);
        list[n++] = ti_text_copy(&ctx->arena, ti_str_of(entry->d_name));
    }
    close_folder(open);
    if (n)
        qsort(list, n, sizeof *list, ti_by_text);
    *name = list;
    *count = n;
    return TC_OK;
}
