/* SPDX-License-Identifier: Apache-2.0 */
/* linked_libraries.c -- lazy_library.h for a command that is linked statically: the functions are
 * inside, and nothing is loaded. */
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>
#include <zip.h>

#include "../../base/lazy_library.h"
#include "../late_calls.h"

typedef void (*function)(void);

static const struct row {
    const char *name;
    function linked;
} rows[] = {
#define ROW(prefix, name) {#prefix #name, (function)prefix##name},
    TC_LIBZIP_CALLS(ROW) TC_LIBPNG_CALLS(ROW) TC_LIBJPEG_CALLS(ROW)
#undef ROW
};

static const struct row *find(const char *name)
{
    for (size_t i = 0; i < TC_COUNT(rows); i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

bool ti_late_load(const char *library, const char *const *name, void *functions)
{
    (void)library;
    for (size_t i = 0; name[i]; i++)
        if (!find(name[i]))
            return false;
    for (size_t i = 0; name[i]; i++)
        memcpy((char *)functions + i * sizeof(function), &find(name[i])->linked, sizeof(function));
    return true;
}
