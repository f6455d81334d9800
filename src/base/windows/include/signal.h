/* SPDX-License-Identifier: Apache-2.0 */
/* signal.h -- signals that Windows does not send can be requested, and never arrive. */
#ifndef TC_WINDOWS_SIGNAL_H
#define TC_WINDOWS_SIGNAL_H

#include_next <signal.h>

enum { SIGHUP = 101, SIGPIPE, SIGXFSZ, SIGBUS };
typedef void ti_win_handler(int);
struct sigaction {
    ti_win_handler *sa_handler;
};
ti_win_handler *ti_win_signal(int number, ti_win_handler *handler);
int ti_win_sigaction(int number, const struct sigaction *set, struct sigaction *before);
#define signal ti_win_signal
#define sigaction(number, set, before) ti_win_sigaction(number, set, before)

#endif
