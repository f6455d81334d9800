/* SPDX-License-Identifier: Apache-2.0 */
/* windows_main.c -- main() of a program on Windows: arguments in UTF-8, streams of bytes, and a terminal
 * that knows UTF-8 and colours. */
#include "wide.h"

#include <fcntl.h>
#include <stdlib.h>

int wmain(int argc, wchar_t **argv);
int main(int argc, char **argv);

int _dowildcard = 0; /* an argument with a star is itself */

static UINT page_before;

static void restore_page(void)
{
    SetConsoleOutputCP(page_before);
}

static void prepare_terminal(void)
{
    static const DWORD stream[] = {STD_OUTPUT_HANDLE, STD_ERROR_HANDLE};
    for (size_t i = 0; i < 2; i++) {
        HANDLE out = GetStdHandle(stream[i]);
        DWORD mode;
        if (!GetConsoleMode(out, &mode))
            continue;
        SetConsoleMode(out, mode | ENABLE_PROCESSED_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
        if (!page_before) {
            page_before = GetConsoleOutputCP();
            SetConsoleOutputCP(CP_UTF8);
            atexit(restore_page);
        }
    }
}

int wmain(int argc, wchar_t **wide)
{
    char **argv = calloc((size_t)argc + 1, sizeof *argv);
    for (int i = 0; argv && i < argc; i++)
        if (!(argv[i] = ti_win_utf8(wide[i])))
            return 1;
    for (int fd = 0; fd < 3; fd++)
        _setmode(fd, _O_BINARY);
    prepare_terminal();
    return argv ? main(argc, argv) : 1;
}
