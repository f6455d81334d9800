/* SPDX-License-Identifier: Apache-2.0 */
/* sys/stat.h -- a file has a unique number, as in POSIX. */
#ifndef TC_WINDOWS_SYS_STAT_H
#define TC_WINDOWS_SYS_STAT_H

#include_next <sys/stat.h>
#include <direct.h>
#include <io.h>
#include <stdint.h>

#undef stat
#undef fstat
struct ti_win_stat {
    uint64_t st_dev, st_ino;
    int64_t st_size;
    unsigned st_mode;
};
int ti_win_fstat(int fd, struct ti_win_stat *out);
int ti_win_stat(const char *path, struct ti_win_stat *out);
int ti_win_mkdir(const char *path, int mode);
#define dev_t uint64_t
#define ino_t uint64_t
#define stat ti_win_stat
#define lstat ti_win_stat
#define fstat ti_win_fstat
#define mkdir ti_win_mkdir

#endif
