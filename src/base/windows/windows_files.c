/* SPDX-License-Identifier: Apache-2.0 */
/* windows_files.c -- see README.md: files and folders by UTF-8 paths. */
#include "wide.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#undef stat /* the record and the function by their own names */
#undef fstat

enum { MOST = 1 << 30 }; /* bytes at a time */

/* ---- text and errors ---- */

wchar_t *ti_win_wide(const char *text)
{
    int n = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
    wchar_t *wide = n > 0 ? malloc((size_t)n * sizeof *wide) : NULL;
    if (wide)
        MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, n);
    else
        errno = n > 0 ? ENOMEM : ENOENT;
    return wide;
}

char *ti_win_utf8(const wchar_t *text)
{
    int n = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
    char *out = n > 0 ? malloc((size_t)n) : NULL;
    if (out)
        WideCharToMultiByte(CP_UTF8, 0, text, -1, out, n, NULL, NULL);
    else
        errno = ENOMEM;
    return out;
}

int ti_win_failed(void)
{
    static const struct {
        DWORD windows;
        int posix;
    } row[] = {{ERROR_FILE_NOT_FOUND, ENOENT},   {ERROR_PATH_NOT_FOUND, ENOENT},
               {ERROR_INVALID_NAME, ENOENT},     {ERROR_BAD_PATHNAME, ENOENT},
               {ERROR_INVALID_DRIVE, ENOENT},    {ERROR_BAD_NETPATH, ENOENT},
               {ERROR_FILE_EXISTS, EEXIST},      {ERROR_ALREADY_EXISTS, EEXIST},
               {ERROR_DIR_NOT_EMPTY, ENOTEMPTY}, {ERROR_DIRECTORY, ENOTDIR},
               {ERROR_DISK_FULL, ENOSPC},        {ERROR_HANDLE_DISK_FULL, ENOSPC},
               {ERROR_NOT_SAME_DEVICE, EXDEV},   {ERROR_TOO_MANY_OPEN_FILES, EMFILE},
               {ERROR_BROKEN_PIPE, EPIPE},       {ERROR_NO_DATA, EPIPE},
               {ERROR_INVALID_HANDLE, EBADF},    {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
               {ERROR_ACCESS_DENIED, EACCES},    {ERROR_SHARING_VIOLATION, EACCES},
               {ERROR_WRITE_PROTECT, EROFS},     {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG}};
    DWORD why = GetLastError();
    errno = EIO;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (row[i].windows == why)
            errno = row[i].posix;
    return -1;
}

/* The result of a call by a wide path, 0 or -1. */
#define WITH_WIDE(wide, path, good) \
    do { \
        wchar_t *wide = ti_win_wide(path); \
        if (!wide) \
            return -1; \
        int said_ = (good) ? 0 : ti_win_failed(); \
        free(wide); \
        return said_; \
    } while (0)

static HANDLE handle_of(int fd)
{
    return (HANDLE)_get_osfhandle(fd);
}

/* ---- opening ---- */

static DWORD how_to_make(int flags)
{
    if (!(flags & _O_CREAT))
        return flags & _O_TRUNC ? TRUNCATE_EXISTING : OPEN_EXISTING;
    return flags & _O_EXCL ? CREATE_NEW : flags & _O_TRUNC ? CREATE_ALWAYS : OPEN_ALWAYS;
}

/* A folder is opened too, as open() does: look_inside() tells the kind. */
static HANDLE open_handle(const wchar_t *path, int flags)
{
    DWORD access = flags & _O_RDWR     ? GENERIC_READ | GENERIC_WRITE
                   : flags & _O_WRONLY ? GENERIC_WRITE
                                       : GENERIC_READ;
    SECURITY_ATTRIBUTES heirs = {sizeof heirs, NULL, !(flags & _O_NOINHERIT)};
    return CreateFileW(path, access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, &heirs,
                       how_to_make(flags), FILE_ATTRIBUTE_NORMAL | FILE_FLAG_BACKUP_SEMANTICS,
                       NULL);
}

int ti_win_open(const char *path, int flags, ...)
{
    wchar_t *wide = ti_win_wide(path);
    if (!wide)
        return -1;
    HANDLE file = open_handle(wide, flags);
    free(wide);
    if (file == INVALID_HANDLE_VALUE)
        return ti_win_failed();
    int fd = _open_osfhandle((intptr_t)file, flags | _O_BINARY);
    if (fd < 0)
        CloseHandle(file);
    return fd;
}

FILE *ti_win_fopen(const char *path, const char *mode)
{
    bool update = strchr(mode, '+') != NULL;
    int flags = mode[0] == 'r'   ? 0
                : mode[0] == 'w' ? _O_CREAT | _O_TRUNC
                                 : _O_CREAT | _O_APPEND;
    flags |= update ? _O_RDWR : mode[0] == 'r' ? _O_RDONLY : _O_WRONLY;
    int fd = ti_win_open(path, flags | _O_NOINHERIT);
    FILE *file = fd >= 0 ? _fdopen(fd, mode[0] == 'r'   ? update ? "r+b" : "rb"
                                       : mode[0] == 'w' ? update ? "w+b" : "wb"
                                       : update         ? "a+b"
                                                        : "ab")
                         : NULL;
    if (fd >= 0 && !file)
        _close(fd);
    return file;
}

int ti_win_fcntl(int fd, int what, int least)
{
    (void)what, (void)least;
    int twin = _dup(fd);
    if (twin >= 0)
        _setmode(twin, _O_BINARY);
    return twin;
}

/* ---- bytes ---- */

ssize_t ti_win_write(int fd, const void *from, size_t size)
{
    return _write(fd, from, (unsigned)(size < MOST ? size : MOST));
}

ssize_t ti_win_pread(int fd, void *to, size_t size, int64_t at)
{
    OVERLAPPED place = {0};
    DWORD got = 0;
    place.Offset = (DWORD)(uint64_t)at;
    place.OffsetHigh = (DWORD)((uint64_t)at >> 32);
    if (ReadFile(handle_of(fd), to, (DWORD)(size < MOST ? size : MOST), &got, &place) ||
        GetLastError() == ERROR_HANDLE_EOF)
        return (ssize_t)got;
    return ti_win_failed();
}

/* ---- what a file is ---- */

static int stat_handle(HANDLE file, struct ti_win_stat *out)
{
    BY_HANDLE_FILE_INFORMATION info;
    LARGE_INTEGER size;
    DWORD type = GetFileType(file);
    memset(out, 0, sizeof *out);
    if (type != FILE_TYPE_DISK) {
        out->st_mode = type == FILE_TYPE_PIPE ? _S_IFIFO : _S_IFCHR;
        return 0;
    }
    if (!GetFileInformationByHandle(file, &info)) { /* as for a stream that came without a name */
        out->st_mode = _S_IFREG;
        return GetFileSizeEx(file, &size) ? (out->st_size = size.QuadPart, 0) : ti_win_failed();
    }
    bool folder = info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY;
    out->st_mode = folder ? _S_IFDIR : _S_IFREG;
    out->st_size = (int64_t)((uint64_t)info.nFileSizeHigh << 32 | info.nFileSizeLow);
    out->st_dev = info.dwVolumeSerialNumber;
    out->st_ino = (uint64_t)info.nFileIndexHigh << 32 | info.nFileIndexLow;
    return 0;
}

int ti_win_fstat(int fd, struct ti_win_stat *out)
{
    return stat_handle(handle_of(fd), out);
}

int ti_win_stat(const char *path, struct ti_win_stat *out)
{
    wchar_t *wide = ti_win_wide(path);
    if (!wide)
        return -1;
    HANDLE file = CreateFileW(wide, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                              OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    free(wide);
    if (file == INVALID_HANDLE_VALUE)
        return ti_win_failed();
    int said = stat_handle(file, out);
    CloseHandle(file);
    return said;
}

/* Whatever is there can be run, if Windows knows how. */
int ti_win_access(const char *path, int mode)
{
    enum { WRITE = 2, READ_WRITE = 6 };
    wchar_t *wide = ti_win_wide(path);
    int said = wide ? _waccess(wide, mode & READ_WRITE) : -1;
    free(wide);
    return said;
}

int ti_win_isatty(int fd)
{
    DWORD mode;
    return GetConsoleMode(handle_of(fd), &mode) != 0;
}

ssize_t ti_win_readlink(const char *path, char *to, size_t size)
{
    (void)path, (void)to, (void)size;
    errno = EINVAL;
    return -1;
}

/* ---- names ---- */

int ti_win_unlink(const char *path)
{
    WITH_WIDE(wide, path, DeleteFileW(wide));
}

int ti_win_rmdir(const char *path)
{
    WITH_WIDE(wide, path, RemoveDirectoryW(wide));
}

int ti_win_remove(const char *path)
{
    return ti_win_unlink(path) == 0 || ti_win_rmdir(path) == 0 ? 0 : -1;
}

int ti_win_mkdir(const char *path, int mode)
{
    (void)mode;
    WITH_WIDE(wide, path, CreateDirectoryW(wide, NULL));
}

/* Atomic, replacing an existing file.  If that file is briefly in use, by another writer or a
 * scanner, waits half a second at most. */
int ti_win_rename(const char *from, const char *to)
{
    enum { TRIES = 100, PAUSE = 5 };
    wchar_t *old = ti_win_wide(from), *new = old ? ti_win_wide(to) : NULL;
    BOOL done = FALSE;
    for (int i = 0; new && i < TRIES && !done; i++) {
        done = MoveFileExW(old, new, MOVEFILE_REPLACE_EXISTING);
        DWORD why = GetLastError();
        if (!done && why != ERROR_ACCESS_DENIED && why != ERROR_SHARING_VIOLATION)
            break;
        if (!done)
            Sleep(PAUSE);
        SetLastError(why);
    }
    int said = done ? 0 : new ? ti_win_failed() : -1;
    free(old);
    free(new);
    return said;
}

/* ---- folders ---- */

struct ti_win_dir {
    _WDIR *dir;
    struct ti_win_dirent entry;
};

ti_win_dir *ti_win_opendir(const char *path)
{
    wchar_t *wide = ti_win_wide(path);
    ti_win_dir *d = wide ? calloc(1, sizeof *d) : NULL;
    if (d)
        d->dir = _wopendir(wide);
    free(wide);
    if (!d || d->dir)
        return d;
    free(d);
    return NULL;
}

struct ti_win_dirent *ti_win_readdir(ti_win_dir *d)
{
    struct _wdirent *e = _wreaddir(d->dir);
    return e && WideCharToMultiByte(CP_UTF8, 0, e->d_name, -1, d->entry.d_name,
                                    sizeof d->entry.d_name, NULL, NULL)
               ? &d->entry
               : NULL;
}

int ti_win_closedir(ti_win_dir *d)
{
    int said = _wclosedir(d->dir);
    free(d);
    return said;
}

/* The six X at the end become another name each time. */
static void name_anew(char *path)
{
    static const char letter[] = "abcdefghijklmnopqrstuvwxyz012345";
    static LONG count;
    char *end = path + strlen(path) - 6;
    uint64_t mixed = (uint64_t)InterlockedIncrement(&count) + GetTickCount64() * 1000;
    mixed = (mixed ^ (uint64_t)GetCurrentProcessId() << 20) * UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < 6; i++)
        end[i] = letter[mixed >> (34 + 5 * i) & 31];
}

enum { NAMES = 1000 };

char *ti_win_mkdtemp(char *path)
{
    int bad = -1;
    for (int i = 0; i < NAMES && bad && (i == 0 || errno == EEXIST); i++) {
        name_anew(path);
        bad = ti_win_mkdir(path, 0);
    }
    return bad ? NULL : path;
}

int ti_win_mkstemp(char *path)
{
    int fd = -1;
    for (int i = 0; i < NAMES && fd < 0 && (i == 0 || errno == EEXIST); i++) {
        name_anew(path);
        fd = ti_win_open(path, _O_RDWR | _O_CREAT | _O_EXCL | _O_NOINHERIT);
    }
    return fd;
}

static void forward_slashes(char *path)
{
    for (; *path; path++)
        if (*path == '\\')
            *path = '/';
}

char *ti_win_realpath(const char *path, char *none)
{
    wchar_t *wide = ti_win_wide(path), *whole = wide ? malloc(WIDE * sizeof *whole) : NULL;
    HANDLE file = whole ? CreateFileW(wide, 0, 7, NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL)
                        : INVALID_HANDLE_VALUE;
    char *out = NULL;
    (void)none;
    if (file != INVALID_HANDLE_VALUE) {
        DWORD n = GetFinalPathNameByHandleW(file, whole, WIDE, 0);
        out = n && n < WIDE ? ti_win_utf8(whole) : NULL;
        CloseHandle(file);
    } else if (whole)
        ti_win_failed();
    if (out)
        forward_slashes(out);
    free(whole);
    free(wide);
    return out;
}

char *ti_win_getcwd(char *to, size_t size)
{
    wchar_t *whole = malloc(WIDE * sizeof *whole);
    DWORD n = whole ? GetCurrentDirectoryW(WIDE, whole) : 0;
    bool good = n && WideCharToMultiByte(CP_UTF8, 0, whole, -1, to, (int)size, NULL, NULL);
    free(whole);
    if (good)
        forward_slashes(to);
    return good ? to : NULL;
}
