/* SPDX-License-Identifier: Apache-2.0 */
/* stdlib.h -- an environment in UTF-8; names of files. */
#ifndef TC_WINDOWS_STDLIB_H
#define TC_WINDOWS_STDLIB_H

#include_next <stdlib.h>

char *ti_win_getenv(const char *name);
int ti_win_setenv(const char *name, const char *value, int over);
int ti_win_unsetenv(const char *name);
char *ti_win_mkdtemp(char *path);
int ti_win_mkstemp(char *path);
char *ti_win_realpath(const char *path, char *none);
#define getenv ti_win_getenv
#define setenv ti_win_setenv
#define unsetenv ti_win_unsetenv
#define mkdtemp ti_win_mkdtemp
#define mkstemp ti_win_mkstemp
#define realpath ti_win_realpath

#endif
