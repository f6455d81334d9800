/* SPDX-License-Identifier: Apache-2.0 */
/* poll.h -- waiting for a pipe happens in read(); one that could not be written has lost its
 * reader. */
#ifndef TC_WINDOWS_POLL_H
#define TC_WINDOWS_POLL_H

#include <stddef.h>

struct pollfd {
    int fd;
    short events, revents;
};
enum { POLLIN = 1, POLLOUT = 2, POLLERR = 4 };
int ti_win_poll(struct pollfd *list, size_t n, int timeout);
#define poll ti_win_poll

#endif
