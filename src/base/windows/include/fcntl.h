/* SPDX-License-Identifier: Apache-2.0 */
/* fcntl.h -- files are bytes, and can be renamed and removed while they are open. */
#ifndef TC_WINDOWS_FCNTL_H
#define TC_WINDOWS_FCNTL_H

#include_next <fcntl.h>
#include <io.h>

#define O_CLOEXEC _O_NOINHERIT
#define O_NONBLOCK 0 /* a pipe without a writer is not there */
#define O_NOCTTY 0
#define F_DUPFD_CLOEXEC 1

int ti_win_open(const char *path, int flags, ...);
int ti_win_fcntl(int fd, int what, int least); /* F_DUPFD_CLOEXEC alone */
#define open ti_win_open
#define fcntl ti_win_fcntl

#endif
