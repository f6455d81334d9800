/* SPDX-License-Identifier: Apache-2.0 */
/* wide.h -- between UTF-8 and the 16-bit text of Windows; for the files of this folder. */
#ifndef TC_WINDOWS_WIDE_H
#define TC_WINDOWS_WIDE_H

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

enum { WIDE = 32768 }; /* the longest path that Windows has */

/* The text in allocated memory (free()), or NULL with errno. */
wchar_t *ti_win_wide(const char *text);
char *ti_win_utf8(const wchar_t *text);

/* errno for Windows's last error; -1. */
int ti_win_failed(void);

#endif
