/* SPDX-License-Identifier: Apache-2.0 */
/* elsewhere.h -- what a test asks of the system and Windows does otherwise: a folder that goes with
 * all that is in it. */
#ifndef TC_TEST_ELSEWHERE_H
#define TC_TEST_ELSEWHERE_H

#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifdef _WIN32
static inline void lean_back(char *text)
{
    for (; (text = strchr(text, '/')); text++)
        *text = '\\';
}
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

#endif
