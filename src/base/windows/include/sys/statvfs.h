/* SPDX-License-Identifier: Apache-2.0 */
/* sys/statvfs.h -- room on a disk. */
#ifndef TC_WINDOWS_SYS_STATVFS_H
#define TC_WINDOWS_SYS_STATVFS_H

#include <stdint.h>

struct statvfs {
    uint64_t f_bavail, f_frsize;
};
int ti_win_statvfs(const char *path, struct statvfs *out);
#define statvfs(path, out) ti_win_statvfs(path, out)

#endif
