/* SPDX-License-Identifier: Apache-2.0 */
/* faults.c -- an LD_PRELOAD library: system calls that fail as full disks and bad cables do.
 *
 *   TOSAC_FAULT=CALL:NUMBER:ERROR   the NUMBERth such call fails with errno ERROR; 0: every one
 *   TOSAC_FAULT=CALL:0:short        every one does less than it was asked for
 *
 * CALL is open, read, write, close, link, rename or mkdir.  A file that the environment's
 * TOSAC_FAULT_FIRED names is made when a call has failed.  Programs started from here are left
 * alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static char call_name[16];
static long wanted, seen;
static int fault_errno;
static bool shortened, active;
static char fired_path[4096];

__attribute__((constructor)) static void setup(void)
{
    const char *fault = getenv("TOSAC_FAULT"), *fired = getenv("TOSAC_FAULT_FIRED");
    char error[16] = "";
    if (fault && sscanf(fault, "%15[a-z]:%ld:%15s", call_name, &wanted, error) == 3) {
        active = true;
        shortened = strcmp(error, "short") == 0;
        fault_errno = strcmp(error, "ENOSPC") == 0  ? ENOSPC
                      : strcmp(error, "EIO") == 0   ? EIO
                      : strcmp(error, "EDQUOT") == 0 ? EDQUOT
                      : strcmp(error, "EINTR") == 0 ? EINTR
                                                    : EACCES;
    }
    if (fired)
        snprintf(fired_path, sizeof fired_path, "%s", fired);
    unsetenv("LD_PRELOAD");
    unsetenv("TOSAC_FAULT");
}

static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/* Whether this call is the one; errno is set. */
static bool fails(const char *name)
{
    if (!active || strcmp(name, call_name) != 0 || shortened)
        return false;
    seen++;
    if (wanted && seen != wanted)
        return false;
    active = wanted == 0 && fault_errno != EINTR;
    if (fired_path[0]) {
        int (*open_)(const char *, int, ...) = (int (*)(const char *, int, ...))real("open");
        int (*close_)(int) = (int (*)(int))real("close");
        int fd = open_(fired_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (fd >= 0)
            close_(fd);
    }
    errno = fault_errno;
    return true;
}

static size_t shorter(const char *name, size_t n)
{
    return active && shortened && strcmp(name, call_name) == 0 && n > 1 ? (n + 2) / 3 : n;
}

/* Files, not what is said on a terminal or a pipe. */
static bool is_file(int fd)
{
    struct stat info;
    return fd > 2 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
}

ssize_t write(int fd, const void *data, size_t n)
{
    ssize_t (*call)(int, const void *, size_t) =
        (ssize_t(*)(int, const void *, size_t))real("write");
    if (is_file(fd) && fails("write"))
        return -1;
    return call(fd, data, is_file(fd) ? shorter("write", n) : n);
}

ssize_t pread64(int fd, void *data, size_t n, off64_t at)
{
    ssize_t (*call)(int, void *, size_t, off64_t) =
        (ssize_t(*)(int, void *, size_t, off64_t))real("pread64");
    return fails("read") ? -1 : call(fd, data, shorter("read", n), at);
}

ssize_t pread(int fd, void *data, size_t n, off_t at)
{
    return pread64(fd, data, n, at);
}

int close(int fd)
{
    int (*call)(int) = (int (*)(int))real("close");
    if (is_file(fd) && fails("close")) {
        int why = errno;
        call(fd); /* as Linux has it, the descriptor is gone all the same */
        errno = why;
        return -1;
    }
    return call(fd);
}

int rename(const char *from, const char *to)
{
    int (*call)(const char *, const char *) = (int (*)(const char *, const char *))real("rename");
    return fails("rename") ? -1 : call(from, to);
}

int linkat(int a, const char *from, int b, const char *to, int flags)
{
    int (*call)(int, const char *, int, const char *, int) =
        (int (*)(int, const char *, int, const char *, int))real("linkat");
    return fails("link") ? -1 : call(a, from, b, to, flags);
}

int mkdir(const char *path, mode_t mode)
{
    int (*call)(const char *, mode_t) = (int (*)(const char *, mode_t))real("mkdir");
    return fails("mkdir") ? -1 : call(path, mode);
}

static int open_any(const char *name, const char *path, int flags, mode_t mode)
{
    int (*call)(const char *, int, ...) = (int (*)(const char *, int, ...))real(name);
    return (flags & O_ACCMODE) != O_RDONLY && fails("open") ? -1 : call(path, flags, mode);
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list more;                                                                              \
        va_start(more, flags);                                                                     \
        mode_t mode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE                        \
                          ? (mode_t)va_arg(more, int)                                              \
                          : 0;                                                                     \
        va_end(more);                                                                              \
        return open_any(#name, path, flags, mode);                                                 \
    }
OPEN(open)
OPEN(open64)
