/* SPDX-License-Identifier: Apache-2.0 */
/* lazy_library.c -- see lazy_library.h. */
#include "lazy_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void *open_library(const char *library)
{
    const char *so = strstr(library, ".so");
    char ours[300];
    if (so && !strchr(library, '/')) {
        snprintf(ours, sizeof ours, "%.*s-tosac%s", (int)(so - library), library, so);
        void *handle = dlopen(ours, RTLD_NOW | RTLD_LOCAL);
        if (handle)
            return handle;
    }
    return dlopen(library, RTLD_NOW | RTLD_LOCAL);
}

bool ti_late_load(const char *library, const char *const *name, void *functions)
{
    void *handle = open_library(library);
    if (!handle)
        return false;
    for (size_t i = 0; name[i]; i++)
        if (!dlsym(handle, name[i])) {
            dlclose(handle);
            return false;
        }
    /* POSIX has pointers to functions and to data of one size and form. */
    for (size_t i = 0; name[i]; i++) {
        void *found = dlsym(handle, name[i]);
        memcpy((char *)functions + i * sizeof found, &found, sizeof found);
    }
    return true;
}
