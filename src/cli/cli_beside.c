/* SPDX-License-Identifier: Apache-2.0 */
/* cli_beside.c -- what tools/setup.sh brought beside the command: FOLDER/peers/NAME/bin/vela, where
 * FOLDER is the command's own. */
#include "cli.h"

#ifdef __linux__
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const environment[] = {"vela", "judges", "micro"};

/* A program of that name is in a folder of PATH. */
static bool on_path(const char *name)
{
    const char *path = getenv("PATH");
    for (size_t n; path && *path; path += n + (path[n] == ':')) {
        n = strcspn(path, ":");
        if (access(cli_format("%.*s/%s", (int)n, path, name), X_OK) == 0)
            return true;
    }
    return false;
}

void cli_find_vela(void)
{
    char folder[4096];
    ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (getenv("TOSAC_VELA") || on_path("vela") || n <= 0)
        return;
    folder[n] = 0;
    *strrchr(folder, '/') = 0;
    for (size_t i = 0; i < sizeof environment / sizeof *environment; i++) {
        const char *vela = cli_format("%s/peers/%s/bin/vela", folder, environment[i]);
        if (access(vela, X_OK) == 0) {
            setenv("TOSAC_VELA", vela, 0);
            return;
        }
    }
}
#else
void cli_find_vela(void) {}
#endif
