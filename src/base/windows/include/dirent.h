/* SPDX-License-Identifier: Apache-2.0 */
/* dirent.h -- folders in UTF-8. */
#ifndef TC_WINDOWS_DIRENT_H
#define TC_WINDOWS_DIRENT_H

#include_next <dirent.h>

typedef struct ti_win_dir ti_win_dir;
struct ti_win_dirent {
    char d_name[1024];
};
ti_win_dir *ti_win_opendir(const char *path);
struct ti_win_dirent *ti_win_readdir(ti_win_dir *dir);
int ti_win_closedir(ti_win_dir *dir);
#define DIR ti_win_dir
#define dirent ti_win_dirent
#define opendir ti_win_opendir
#define readdir ti_win_readdir
#define closedir ti_win_closedir

#endif
