/* SPDX-License-Identifier: Apache-2.0 */
/* process.h -- another program: started, looked at, and ended with all that it has started. */
#ifndef TC_PROCESS_H
#define TC_PROCESS_H

#include "base.h"

/* Starts argv[0], found on the PATH, in the folder; no input, and its output goes to the file `log`
 * there.  The process id; < 0: it cannot be started. */
intptr_t ti_process_start(const char *const *argv, const char *folder, const char *log);

/* Whether it has ended: then *exit is its exit status, 128 + signal, or -1 if unknown; its
 * remaining children are ended too, and the id is invalid. */
bool ti_process_ended(intptr_t process, int *exit);

/* Ends it now, and waits for that. */
void ti_process_end(intptr_t process, int *exit);

/* Whether the file is executable, and the separator of PATH. */
bool ti_process_can_run(const char *path);
extern const char ti_path_between[2];

#endif
