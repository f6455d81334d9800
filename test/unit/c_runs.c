/* SPDX-License-Identifier: Apache-2.0 */
/* c_runs.c -- steps of a C model that repeat: which are a loop, and how often. */
#include "check.h"

#include "cortexm/c_model.h"

enum { MOST = 64 };

/* The runs of a text, a letter for each step: "(ab)3c" is a and b three times, then c. */
static bool runs_are(const char *steps, const char *want)
{
    size_t key[MOST] = {0}, n = strlen(steps), at = 0;
    tc_c_run run[MOST];
    char said[4 * MOST] = "";
    for (size_t i = 0; i < n; i++)
        key[i] = (size_t)steps[i];
    for (size_t i = 0, count = ti_c_runs(key, n, run); i < count; i++) {
        if (run[i].first != at)
            return false;
        size_t end = strlen(said);
        if (run[i].times == 1)
            snprintf(said + end, sizeof said - end, "%.*s", (int)run[i].period, steps + at);
        else
            snprintf(said + end, sizeof said - end, "(%.*s)%zu", (int)run[i].period, steps + at,
                     run[i].times);
        at += run[i].period * run[i].times;
    }
    return at == n && strcmp(said, want) == 0;
}

int main(void)
{
    CHECK(runs_are("", ""));
    CHECK(runs_are("abcdef", "abcdef"));
    CHECK(runs_are("ababab", "(ab)3"));
    CHECK(runs_are("xababababy", "x(ab)4y"));
    CHECK(runs_are("abab", "abab"));           /* a loop would save two steps: not worth it */
    CHECK(runs_are("abcdabcd", "(abcd)2"));    /* it saves four */
    CHECK(runs_are("aaaaaaaa", "(a)8"));       /* not (aa)4 */
    CHECK(runs_are("aabaabaab", "(aab)3"));    /* the longer repetition, though a begins with two of its own */
    CHECK(runs_are("pabcabcabcab", "p(abc)3ab"));
    CHECK(runs_are("aaaaaabbbbbb", "(a)6(b)6"));
    return check_done();
}
