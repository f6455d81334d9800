/* SPDX-License-Identifier: Apache-2.0 */
/* check.h -- the little that unit tests need: CHECK, and a closing line "N passed, N failed". */
#ifndef TC_CHECK_H
#define TC_CHECK_H

#include <stdio.h>

static int check_passed, check_failed;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (condition)                                                                             \
            check_passed++;                                                                        \
        else {                                                                                     \
            check_failed++;                                                                        \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                \
        }                                                                                          \
    } while (0)

static inline int check_done(void)
{
    printf("%d passed, %d failed\n", check_passed, check_failed);
    return check_failed != 0;
}

#endif
