/* SPDX-License-Identifier: Apache-2.0 */
/* syscalls.c -- what newlib asks of a system, as far as Arm's driver needs it: memory for its semaphores,
 * and a place for its messages, which it prints by fprintf(). */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "board.h"

enum { HEAP = 8192 /* newlib's buffers of stderr, too */ };

void *_sbrk(int bytes);
void *_sbrk(int bytes)
{
    static __attribute__((aligned(8))) uint8_t heap[HEAP];
    static int used;
    if (bytes < 0 || bytes > HEAP - used)
        return (void *)-1;
    used += bytes;
    return heap + used - bytes;
}

int _write(int file, const char *text, int bytes);
int _write(int file, const char *text, int bytes)
{
    char part[64];
    (void)file;
    for (int at = 0, n; at < bytes; at += n) {
        n = bytes - at < (int)sizeof part - 1 ? bytes - at : (int)sizeof part - 1;
        memcpy(part, text + at, (size_t)n);
        part[n] = 0;
        board_print(part);
    }
    return bytes;
}

/* Nothing else is there. */
#define NOTHING(name, ...)                                                                         \
    int name(__VA_ARGS__);                                                                         \
    int name(__VA_ARGS__)                                                                          \
    {                                                                                              \
        errno = ENOSYS;                                                                            \
        return -1;                                                                                 \
    }
NOTHING(_read, int file __attribute__((unused)), char *to __attribute__((unused)), int n __attribute__((unused)))
NOTHING(_close, int file __attribute__((unused)))
NOTHING(_lseek, int file __attribute__((unused)), int to __attribute__((unused)), int from __attribute__((unused)))
NOTHING(_kill, int process __attribute__((unused)), int signal __attribute__((unused)))

int _fstat(int file, struct stat *out);
int _fstat(int file, struct stat *out)
{
    (void)file;
    out->st_mode = S_IFCHR;
    return 0;
}

int _isatty(int file);
int _isatty(int file)
{
    (void)file;
    return 1;
}

int _getpid(void);
int _getpid(void) { return 1; }

void _exit(int status);
void _exit(int status) { board_exit(status); }
