/* SPDX-License-Identifier: Apache-2.0 */
/* create.c -- see file.h: writing, all of a file or nothing.
 *
 * Where supported, a file being written has no name, so nothing remains however the program ends;
 * else it has a temporary name next to the final one, removed with the context.  Of very many files
 * at once the later ones have such a name too, and are open only while written to: descriptors are
 * limited. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 256 * 1024, SMALL_BUFFER = 8 * 1024, TRIES = 1000, MOST_OPEN = 128 };

/* What a context has of them. */
typedef struct files {
    unsigned serial; /* of names */
    int open;
} files;

struct tc_file {
    tc_ctx *ctx;
    const char *path;   /* the final name */
    const char *beside; /* its name until then, or NULL: none */
    int fd;             /* -1: committed, never opened, or resting */
    bool rests;         /* it is closed between writes */
    uint8_t *buffer;
    size_t n, room;
};

/* Closes it, for good; the status of that. */
static int let_go(tc_file *file)
{
    int bad = file->fd >= 0 ? close(file->fd) : 0;
    if (file->fd >= 0)
        TC_OWN(file->ctx, CREATE, files)->open--;
    file->fd = -1;
    file->rests = false;
    return bad;
}

static void abandon(void *what)
{
    tc_file *file = what;
    if ((file->fd >= 0 || file->rests) && file->beside)
        unlink(file->beside);
    let_go(file);
}

/* The target of a link, through as many as the system follows; any other path itself. */
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
                   ? ti_text_copy(&ctx->arena, ti_str_of(to))
                   : ti_text_format(&ctx->arena, "%.*s/%s", (int)(slash - path), path, to);
    }
    return path;
}

/* An unused name next to the final one: distinct contexts may write the same file. */
static const char *name_beside(tc_file *file)
{
    return ti_text_format(&file->ctx->arena, "%s.%ld-%u.part", file->path, (long)getpid(),
                          TC_OWN(file->ctx, CREATE, files)->serial++);
}

/* ---- files without a name, where the system has them ---- */

#ifdef O_TMPFILE
static const char *folder_of(tc_ctx *ctx, const char *path)
{
    size_t n = (size_t)(ti_path_last(path) - path);
    return n ? ti_text_copy(&ctx->arena, (tc_str){path, n}) : ".";
}

/* The way by which a file without a name can be given one. */
static void own_link(int fd, char link[32])
{
    snprintf(link, 32, "/proc/self/fd/%d", fd);
}

static int open_nameless(const tc_file *file)
{
    int fd = open(folder_of(file->ctx, file->path), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    char link[32];
    if (fd < 0)
        return -1;
    own_link(fd, link);
    if (access(link, F_OK) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Gives a nameless file its name.  An existing file is replaced atomically, which needs a second
 * name for a moment; signals are blocked meanwhile. */
static int give_name(tc_file *file)
{
    char link[32];
    own_link(file->fd, link);
    if (linkat(AT_FDCWD, link, AT_FDCWD, file->path, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    int bad = -1;
    for (int i = 0; i < TRIES && bad && errno == EEXIST; i++) {
        const char *beside = name_beside(file);
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, &before);
        bad = linkat(AT_FDCWD, link, AT_FDCWD, beside, AT_SYMLINK_FOLLOW);
        if (!bad && rename(beside, file->path) != 0) {
            int why = errno;
            unlink(beside);
            errno = why;
            i = TRIES;
            bad = -1;
        }
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    return bad;
}

#else
static int open_nameless(const tc_file *file)
{
    (void)file;
    return -1;
}

static int give_name(const tc_file *file)
{
    (void)file;
    return -1;
}
#endif

/* ---- writing ---- */

static int open_named(tc_file *file)
{
    int fd = -1;
    for (int i = 0; i < TRIES && fd < 0 && (i == 0 || errno == EEXIST); i++) {
        file->beside = name_beside(file);
        fd = open(file->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    return fd;
}

static tc_status create(tc_ctx *ctx, const char *path, bool again, tc_file **out)
{
    struct stat st;
    path = real_path(ctx, path);
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return ti_error(ctx, &(tc_loc){.file = path}, TC_E_IO,
                        "it is a device or a pipe; a file is written beside its name and renamed");
    if (!again && ti_file_is_taken(ctx, path))
        return ti_usage(ctx, "'%s' is an input of this command and would be overwritten; use "
                             "another file",
                        path);
    tc_file *file = tc_new(&ctx->arena, tc_file);
    *file = (tc_file){.ctx = ctx, .fd = -1, .path = ti_text_copy(&ctx->arena, ti_str_of(path))};
    bool many = TC_OWN(ctx, CREATE, files)->open >= MOST_OPEN;
    file->room = many ? SMALL_BUFFER : BUFFER;
    file->buffer = ti_arena_raw(&ctx->arena, file->room);
    ti_ctx_defer(ctx, abandon, file);
    file->fd = many ? -1 : open_nameless(file);
    if (file->fd < 0)
        file->fd = open_named(file);
    if (file->fd < 0)
        return ti_io_error(ctx, path, "create it");
    TC_OWN(ctx, CREATE, files)->open++;
    if (many) {
        let_go(file);
        file->rests = true;
    }
    *out = file;
    return TC_OK;
}

tc_status ti_file_create(tc_ctx *ctx, const char *path, tc_file **out)
{
    return create(ctx, path, false, out);
}

static tc_status put(tc_file *file, const uint8_t *data, size_t size)
{
    int fd = file->rests ? open(file->beside, O_WRONLY | O_APPEND | O_CLOEXEC) : file->fd;
    bool bad = fd < 0;
    while (size && !bad) {
        ssize_t n = write(fd, data, size);
        bad = n < 0 && errno != EINTR;
        data += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    int why = errno;
    if (file->rests && fd >= 0 && close(fd) != 0 && !bad)
        why = errno, bad = true;
    errno = why;
    return bad ? ti_io_error(file->ctx, file->path, "write it") : TC_OK;
}

static tc_status flush(tc_file *file)
{
    size_t n = file->n;
    file->n = 0;
    return n ? put(file, file->buffer, n) : TC_OK;
}

tc_status ti_file_append(tc_file *file, const void *data, size_t size)
{
    if (size > file->room - file->n)
        TC_TRY(flush(file));
    if (size > file->room)
        return put(file, data, size);
    if (size)
        memcpy(file->buffer + file->n, data, size);
    file->n += size;
    return TC_OK;
}

/* Closing reports errors of delayed writes; here of a second descriptor, so before the file has its
 * name. */
static int settle(int fd)
{
    int twin = dup(fd);
    return twin < 0 ? -1 : close(twin);
}

tc_status ti_file_commit(tc_file *file)
{
    TC_TRY(flush(file));
    int bad = file->rests ? 0 : settle(file->fd);
    if (!bad)
        bad = file->beside ? rename(file->beside, file->path) : give_name(file);
    if (bad)
        return ti_io_error(file->ctx, file->path, "write it"); /* it goes with the context */
    let_go(file);
    return TC_OK;
}

static tc_status write_whole(tc_ctx *ctx, const char *path, bool again, tc_bytes bytes)
{
    tc_file *file;
    TC_TRY(create(ctx, path, again, &file));
    TC_TRY(ti_file_append(file, bytes.data, bytes.size));
    return ti_file_commit(file);
}

tc_status ti_file_write(tc_ctx *ctx, const char *path, tc_bytes bytes)
{
    return write_whole(ctx, path, false, bytes);
}

tc_status ti_file_rewrite(tc_ctx *ctx, const char *path, tc_bytes bytes)
{
    return write_whole(ctx, path, true, bytes);
}

tc_status ti_file_write_two(tc_ctx *ctx, const char *path, tc_bytes bytes, const char *beside,
                            tc_bytes more)
{
    tc_file *file, *other;
    TC_TRY(ti_file_create(ctx, beside, &other));
    TC_TRY(ti_file_append(other, more.data, more.size));
    TC_TRY(ti_file_create(ctx, path, &file));
    TC_TRY(ti_file_append(file, bytes.data, bytes.size));
    TC_TRY(ti_file_commit(other));
    tc_status status = ti_file_commit(file);
    if (status != TC_OK)
        remove(beside);
    return status;
}
