/* SPDX-License-Identifier: Apache-2.0 */
/* levels.h -- the same checks at every level of vector instructions that this machine has. */
#ifndef TC_TEST_LEVELS_H
#define TC_TEST_LEVELS_H

#include "check.h"

#include <stdlib.h>
#ifdef _WIN32
#include <process.h>
#else
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "base/isa.h"

static uint64_t any_seed = 1;

/* A number of lo .. hi. */
static int64_t any(int64_t lo, int64_t hi)
{
    any_seed = any_seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return lo + (int64_t)((any_seed >> 33) % (uint64_t)(hi - lo + 1));
}

#ifdef _WIN32
/* In a process of its own, since a level is chosen once: this program again, which counts for itself. */
static void try_level(tc_isa isa, void (*checks)(void))
{
    if (getenv("TOSAC_ONE_LEVEL")) {
        if (ti_isa() == isa)
            checks();
        return;
    }
    setenv("TOSAC_ONE_LEVEL", "1", 1);
    setenv("TOSAC_ISA", ti_isa_name(isa), 1);
    CHECK(_wspawnl(_P_WAIT, _wpgmptr, L"level", NULL) == 0);
    unsetenv("TOSAC_ONE_LEVEL");
    unsetenv("TOSAC_ISA");
}
#else
/* In a process of its own, since a level is chosen once: what it counted comes back. */
static void try_level(tc_isa isa, void (*checks)(void))
{
    int count[2] = {0, 1}, way[2];
    CHECK(pipe(way) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        check_passed = check_failed = 0;
        setenv("TOSAC_ISA", ti_isa_name(isa), 1);
        CHECK(ti_isa() == isa);
        checks();
        count[0] = check_passed, count[1] = check_failed;
        exit(write(way[1], count, sizeof count) != (ssize_t)sizeof count);
    }
    close(way[1]);
    if (read(way[0], count, sizeof count) != (ssize_t)sizeof count)
        count[0] = 0, count[1] = 1;
    close(way[0]);
    int status = 1;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    check_passed += count[0];
    check_failed += count[1];
    printf("%s: %d so far\n", ti_isa_name(isa), check_passed);
    fflush(stdout);
}
#endif

static void try_levels(void (*checks)(void))
{
    for (int isa = 0; isa < TC_ISA_COUNT; isa++)
        if (ti_isa_here((tc_isa)isa))
            try_level((tc_isa)isa, checks);
}

#endif
