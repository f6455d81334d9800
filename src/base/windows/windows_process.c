/* SPDX-License-Identifier: Apache-2.0 */
/* windows_process.c -- see ../process.h: by Windows.  A job holds a program and all that it starts. */
#include "../process.h"
#include "wide.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

const char ti_path_between[2] = ";";

typedef struct child {
    HANDLE job, process;
} child;

/* ---- the command line ---- */

typedef struct line {
    wchar_t text[WIDE];
    size_t n;
} line;

static void put(line *l, wchar_t c, size_t times)
{
    for (; times && l->n + 1 < WIDE; times--)
        l->text[l->n++] = c;
}

/* In quotes; backslashes are doubled where a quote follows, which is how C's start reads them. */
static void put_argument(line *l, const wchar_t *text)
{
    put(l, L'"', 1);
    for (size_t slashes = 0; *text || slashes; text++) {
        for (slashes = 0; *text == L'\\'; text++)
            slashes++;
        bool quote = *text == L'"';
        put(l, L'\\', quote || !*text ? 2 * slashes + quote : slashes);
        if (!*text)
            break;
        put(l, *text, 1);
        slashes = 0;
    }
    put(l, L'"', 1);
    put(l, L' ', 1);
}

static bool put_arguments(line *l, const char *const *argv)
{
    for (l->n = 0; *argv; argv++) {
        wchar_t *wide = ti_win_wide(*argv);
        if (!wide)
            return false;
        put_argument(l, wide);
        free(wide);
    }
    l->text[l->n] = 0;
    return l->n + 1 < WIDE;
}

/* ---- starting ---- */

static HANDLE open_heir(const wchar_t *path, bool write)
{
    SECURITY_ATTRIBUTES heirs = {sizeof heirs, NULL, TRUE};
    return CreateFileW(path, write ? GENERIC_WRITE : GENERIC_READ, 7, &heirs,
                       write ? CREATE_ALWAYS : OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
}

static HANDLE new_job(void)
{
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limit = {0};
    HANDLE job = CreateJobObjectW(NULL, NULL);
    limit.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    if (job)
        SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limit, sizeof limit);
    return job;
}

static bool create(line *l, const wchar_t *folder, const wchar_t *log, child *c)
{
    STARTUPINFOW start = {.cb = sizeof start, .dwFlags = STARTF_USESTDHANDLES};
    PROCESS_INFORMATION made;
    HANDLE out = open_heir(log, true), none = open_heir(L"NUL", false);
    start.hStdInput = none;
    start.hStdOutput = start.hStdError = out;
    bool good = out != INVALID_HANDLE_VALUE && none != INVALID_HANDLE_VALUE &&
                CreateProcessW(NULL, l->text, NULL, NULL, TRUE, CREATE_SUSPENDED | CREATE_NO_WINDOW,
                               NULL, folder, &start, &made);
    if (good) {
        AssignProcessToJobObject(c->job, made.hProcess);
        ResumeThread(made.hThread);
        CloseHandle(made.hThread);
        c->process = made.hProcess;
    }
    CloseHandle(out);
    CloseHandle(none);
    return good;
}

intptr_t ti_process_start(const char *const *argv, const char *folder, const char *log)
{
    size_t n = strlen(folder) + strlen(log) + 2;
    child *c = calloc(1, sizeof *c);
    line *l = malloc(sizeof *l);
    char *path = malloc(n);
    wchar_t *in = ti_win_wide(folder), *to = NULL;
    if (path) {
        snprintf(path, n, "%s/%s", folder, log);
        to = ti_win_wide(path);
    }
    bool good = c && l && in && to && put_arguments(l, argv) && (c->job = new_job()) &&
                create(l, in, to, c);
    free(in);
    free(to);
    free(path);
    free(l);
    if (good)
        return (intptr_t)c;
    if (c && c->job)
        CloseHandle(c->job);
    free(c);
    return -1;
}

/* ---- ending ---- */

static bool ended(child *c, int *exit, DWORD wait)
{
    DWORD code = 0;
    if (WaitForSingleObject(c->process, wait) == WAIT_TIMEOUT)
        return false;
    *exit = GetExitCodeProcess(c->process, &code) ? (int)code : -1;
    CloseHandle(c->process);
    CloseHandle(c->job); /* and its remaining children */
    free(c);
    return true;
}

bool ti_process_ended(intptr_t process, int *exit)
{
    return ended((child *)process, exit, 0);
}

void ti_process_end(intptr_t process, int *exit)
{
    child *c = (child *)process;
    TerminateJobObject(c->job, 137);
    TerminateProcess(c->process, 137);
    ended(c, exit, INFINITE);
}

/* What has an extension that Windows runs; CreateProcess() adds ".exe" itself. */
bool ti_process_can_run(const char *path)
{
    static const char *const end[] = {"", ".exe", NULL};
    char whole[1024];
    for (size_t i = 0; end[i]; i++) {
        struct stat st;
        snprintf(whole, sizeof whole, "%s%s", path, end[i]);
        if (stat(whole, &st) == 0 && S_ISREG(st.st_mode))
            return true;
    }
    return false;
}
