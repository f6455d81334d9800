/* SPDX-License-Identifier: Apache-2.0 */
/* windows_system.c -- see README.md: the process, its memory and its libraries. */
#include "wide.h"

#include <dlfcn.h>
#include <io.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <psapi.h>

/* ---- environment ---- */

/* What was given out stays: getenv() has no end for it. */
typedef struct kept {
    struct kept *next;
    char text[];
} kept;

static char *keep(const char *text)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static kept *first;
    pthread_mutex_lock(&lock);
    kept *k = first;
    while (k && strcmp(k->text, text) != 0)
        k = k->next;
    if (!k && (k = malloc(sizeof *k + strlen(text) + 1))) {
        strcpy(k->text, text);
        k->next = first;
        first = k;
    }
    pthread_mutex_unlock(&lock);
    return k ? k->text : NULL;
}

static char *look_up(const wchar_t *name)
{
    wchar_t *value = malloc(WIDE * sizeof *value);
    DWORD n = value ? GetEnvironmentVariableW(name, value, WIDE) : 0;
    bool there = value && n < WIDE && (n || GetLastError() != ERROR_ENVVAR_NOT_FOUND);
    if (there && !n)
        value[0] = 0;
    char *text = there ? ti_win_utf8(value) : NULL;
    char *found = text ? keep(text) : NULL;
    free(text);
    free(value);
    return found;
}

char *ti_win_getenv(const char *name)
{
    wchar_t *wide = ti_win_wide(name);
    char *found = wide ? look_up(wide) : NULL;
    free(wide);
    return found;
}

int ti_win_setenv(const char *name, const char *value, int over)
{
    if (!over && ti_win_getenv(name))
        return 0;
    wchar_t *wide = ti_win_wide(name), *to = value ? ti_win_wide(value) : NULL;
    int said = wide && SetEnvironmentVariableW(wide, to) ? 0 : ti_win_failed();
    free(wide);
    free(to);
    return said;
}

int ti_win_unsetenv(const char *name)
{
    return ti_win_setenv(name, NULL, 1);
}

/* ---- the machine ---- */

long ti_win_sysconf(int what)
{
    SYSTEM_INFO info;
    MEMORYSTATUSEX memory = {.dwLength = sizeof memory};
    GetSystemInfo(&info);
    if (what == _SC_NPROCESSORS_ONLN)
        return (long)info.dwNumberOfProcessors;
    if (what == _SC_PAGESIZE)
        return (long)info.dwPageSize;
    return GlobalMemoryStatusEx(&memory) ? (long)(memory.ullTotalPhys / info.dwPageSize) : -1;
}

int ti_win_getrusage(int whose, struct rusage *out)
{
    PROCESS_MEMORY_COUNTERS memory;
    (void)whose;
    if (!K32GetProcessMemoryInfo(GetCurrentProcess(), &memory, sizeof memory))
        return ti_win_failed();
    out->ru_maxrss = (long)(memory.PeakWorkingSetSize / 1024);
    return 0;
}

/* ---- signals and pipes ---- */

#undef signal

ti_win_handler *ti_win_signal(int number, ti_win_handler *handler)
{
    return number >= SIGHUP ? SIG_DFL : signal(number, handler);
}

int ti_win_sigaction(int number, const struct sigaction *set, struct sigaction *before)
{
    if (before)
        before->sa_handler = SIG_DFL;
    return set && ti_win_signal(number, set->sa_handler) == SIG_ERR ? -1 : 0;
}

int ti_win_poll(struct pollfd *list, size_t n, int timeout)
{
    (void)timeout;
    for (size_t i = 0; i < n; i++) {
        bool pipe = GetFileType((HANDLE)_get_osfhandle(list[i].fd)) == FILE_TYPE_PIPE;
        list[i].revents = list[i].events & POLLIN || !pipe ? list[i].events : POLLERR;
    }
    return (int)n;
}

/* ---- memory ---- */

void *ti_win_mmap(void *at, size_t size, int protection, int flags, int fd, int64_t from)
{
    (void)at, (void)protection, (void)flags;
    HANDLE file = (HANDLE)_get_osfhandle(fd);
    HANDLE section = CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL);
    void *view = section ? MapViewOfFile(section, FILE_MAP_READ, (DWORD)((uint64_t)from >> 32),
                                         (DWORD)(uint64_t)from, size)
                         : NULL;
    if (section)
        CloseHandle(section); /* the view keeps it */
    return view ? view : MAP_FAILED;
}

int ti_win_munmap(void *at, size_t size)
{
    (void)size;
    return UnmapViewOfFile(at) ? 0 : ti_win_failed();
}

/* Pages of a mapped file leave the working set; those of the heap stay, since they would keep their
 * content instead of becoming zeros. */
int ti_win_madvise(void *at, size_t size, int advice)
{
    MEMORY_BASIC_INFORMATION info;
    (void)advice;
    if (VirtualQuery(at, &info, sizeof info) && info.Type == MEM_MAPPED)
        VirtualUnlock(at, size); /* of what is not locked: out of the working set */
    return 0;
}

/* ---- libraries ---- */

/* NAME in the folder of the library that this function is part of. */
static HMODULE open_beside(const wchar_t *name)
{
    HMODULE self = NULL, found = NULL;
    wchar_t *path = malloc(WIDE * sizeof *path);
    DWORD n = 0;
    if (path && GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                                       GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                                   (const wchar_t *)(uintptr_t)open_beside, &self))
        n = GetModuleFileNameW(self, path, WIDE);
    while (n && path[n - 1] != '\\' && path[n - 1] != '/')
        n--;
    if (n && n + wcslen(name) < WIDE) {
        wcscpy(path + n, name);
        found = LoadLibraryExW(path, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
    }
    free(path);
    return found;
}

void *ti_win_dlopen(const char *name, int how)
{
    wchar_t *wide = ti_win_wide(name);
    HMODULE found = wide ? open_beside(wide) : NULL;
    (void)how;
    if (!found && wide)
        found = LoadLibraryW(wide);
    free(wide);
    return found;
}

void *ti_win_dlsym(void *library, const char *name)
{
    FARPROC found = GetProcAddress(library, name);
    void *out;
    memcpy(&out, &found, sizeof out);
    return out;
}

int ti_win_dlclose(void *library)
{
    return FreeLibrary(library) ? 0 : -1;
}
