/* SPDX-License-Identifier: Apache-2.0 */
/* stdio.h -- paths in UTF-8; files are bytes. */
#ifndef TC_WINDOWS_STDIO_H
#define TC_WINDOWS_STDIO_H

#include_next <stdio.h>

FILE *ti_win_fopen(const char *path, const char *mode);
int ti_win_remove(const char *path);
int ti_win_rename(const char *from, const char *to); /* replaces an existing file */
#define fopen ti_win_fopen
#define remove ti_win_remove
#define rename ti_win_rename

#endif
