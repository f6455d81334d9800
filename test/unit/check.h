/* SPDX-License-Identifier: Apache-2.0 */
/* check.h -- the little that unit tests need: CHECK, CHECK_ROW, and a closing line "N passed, N failed".
 *
 * A case is one CHECK in the text of a test, however many numbers it is held to: it passes when it
 * held each time, and it fails once. */
#ifndef TC_CHECK_H
#define TC_CHECK_H

#include <stdbool.h>
#include <stdio.h>

static int check_passed, check_failed;

typedef enum check_state { CHECK_NEW, CHECK_HELD, CHECK_BROKEN } check_state;

static inline void check_once(check_state *state, bool holds, const char *file, int line,
                              const char *words)
{
    if (!holds)
        fprintf(stderr, "%s:%d: failed: %s\n", file, line, words);
    if (*state == CHECK_BROKEN || (holds && *state == CHECK_HELD))
        return;
    check_passed += holds ? 1 : *state == CHECK_HELD ? -1 : 0;
    check_failed += !holds;
    *state = holds ? CHECK_HELD : CHECK_BROKEN;
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        static check_state check_here;                                                             \
        check_once(&check_here, (condition), __FILE__, __LINE__, #condition);                      \
    } while (0)

/* The same for a row of a table, which is named where it does not hold. */
#define CHECK_ROW(row, condition)                                                                  \
    do {                                                                                           \
        static check_state check_here;                                                             \
        bool check_holds = (condition);                                                            \
        if (!check_holds)                                                                          \
            fprintf(stderr, "%s: ", (row));                                                        \
        check_once(&check_here, check_holds, __FILE__, __LINE__, #condition);                      \
    } while (0)

static inline int check_done(void)
{
    printf("%d passed, %d failed\n", check_passed, check_failed);
    return check_failed != 0;
}

#endif
