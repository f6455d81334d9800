/* SPDX-License-Identifier: Apache-2.0 */
/* process.h -- another program: started, looked at, and ended with all that it has started. */
#ifndef TC_PROCESS_H
#define TC_PROCESS_H

#include "base.h"

/* Starts argv[0], looked for on the PATH, in the folder; it reads nothing, and what it says goes to
 * the file `log` there.  The number of the process; < 0: it cannot be started. */
intptr_t ti_process_start(const char *const *argv, const char *folder, const char *log);

/* Whether it has ended: then *exit is its exit status, 128 + signal, or -1 where nobody knows; what
 * it left behind is ended too, and the number means nothing any more. */
bool ti_process_ended(intptr_t process, int *exit);

/* Ends it now, and waits for that. */
void ti_process_end(intptr_t process, int *exit);

/* Whether the file can be run as a program, and what lies between the folders of PATH. */
bool ti_process_can_run(const char *path);
extern const char ti_path_between[2];

#endif
