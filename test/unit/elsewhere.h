/* SPDX-License-Identifier: Apache-2.0 */
/* elsewhere.h -- what a test asks of the system and Windows does otherwise: a folder that goes with
 * all that is in it, and a small program. */
#ifndef TC_TEST_ELSEWHERE_H
#define TC_TEST_ELSEWHERE_H

#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifdef _WIN32
#define TOSAC_SCRIPT ".bat"
static inline void lean_back(char *text)
{
    for (; (text = strchr(text, '/')); text++)
        *text = '\\';
}
#else
#define TOSAC_SCRIPT ""
#endif

static inline bool remove_folder(const char *path)
{
    char command[300];
#ifdef _WIN32
    char leaning[256];
    snprintf(leaning, sizeof leaning, "%s", path);
    lean_back(leaning);
    snprintf(command, sizeof command, "rmdir /s /q %s", leaning);
#else
    snprintf(command, sizeof command, "rm -r %s", path);
#endif
    return system(command) == 0;
}

/* A program at `path`, which ends in TOSAC_SCRIPT, that makes the folder "out" where it runs and copies a
 * file there. */
static inline bool write_copier(const char *path, const char *from, const char *to)
{
    FILE *f = fopen(path, "wb");
#ifdef _WIN32
    char leaning[600]; /* with its drive: the program runs on another, maybe */
    return f && _fullpath(leaning, from, sizeof leaning) && fprintf(f, "@mkdir out\r\n@copy /y %s out\\%s >nul\r\n", leaning, to) > 0 &&
           fclose(f) == 0;
#else
    return f && fprintf(f, "#!/bin/sh\nmkdir out; cp %s out/%s\n", from, to) > 0 &&
           fclose(f) == 0 && chmod(path, 0700) == 0;
#endif
}

#endif
