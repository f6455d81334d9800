/* SPDX-License-Identifier: Apache-2.0 */
/* unistd.h -- what is missing of it, and paths in UTF-8. */
#ifndef TC_WINDOWS_UNISTD_H
#define TC_WINDOWS_UNISTD_H

#include_next <unistd.h>
#include <direct.h>
#include <io.h>
#include <stdint.h>

ssize_t ti_win_write(int fd, const void *from, size_t size);
ssize_t ti_win_pread(int fd, void *to, size_t size, int64_t at);
int ti_win_access(const char *path, int mode);
int ti_win_unlink(const char *path);
int ti_win_rmdir(const char *path);
int ti_win_isatty(int fd);
ssize_t ti_win_readlink(const char *path, char *to, size_t size); /* nothing is a link */
char *ti_win_getcwd(char *to, size_t size);
#define write ti_win_write
#define pread ti_win_pread
#define access ti_win_access
#define unlink ti_win_unlink
#define rmdir ti_win_rmdir
#define isatty ti_win_isatty
#define readlink ti_win_readlink
#define getcwd ti_win_getcwd

enum { _SC_NPROCESSORS_ONLN, _SC_PHYS_PAGES, _SC_PAGESIZE };
long ti_win_sysconf(int what);
#define sysconf ti_win_sysconf

#endif
