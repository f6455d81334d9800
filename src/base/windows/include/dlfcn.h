/* SPDX-License-Identifier: Apache-2.0 */
/* dlfcn.h -- a library next to the caller is preferred to those of the system. */
#ifndef TC_WINDOWS_DLFCN_H
#define TC_WINDOWS_DLFCN_H


enum { RTLD_NOW, RTLD_LOCAL = 0 };
void *ti_win_dlopen(const char *name, int how);
void *ti_win_dlsym(void *library, const char *name);
int ti_win_dlclose(void *library);
#define dlopen ti_win_dlopen
#define dlsym ti_win_dlsym
#define dlclose ti_win_dlclose

#endif
