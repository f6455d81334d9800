/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c -- one line that says how far we are, on terminals only. */
#include "cli.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

double tc_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void tc_progress_begin(tc_progress *p, const char *what, size_t total)
{
    *p = (tc_progress){.what = what, .total = total};
    p->begin = p->shown = tc_seconds();
    p->visible = isatty(STDERR_FILENO) == 1;
}

void tc_progress_step(tc_progress *p, size_t done)
{
    double now = p->visible ? tc_seconds() : 0;
    double spent = now - p->begin;
    if (!p->visible || spent < 1 || now - p->shown < 0.2)
        return;
    p->shown = now;
    double left = done ? spent / (double)done * (double)(p->total - done) : 0;
    fprintf(stderr, "\r%zu of %zu %s, %.0f s left \x1b[K", done, p->total, p->what, left);
    fflush(stderr);
}

void tc_progress_end(tc_progress *p)
{
    if (p->visible && p->shown > p->begin)
        fprintf(stderr, "\r\x1b[K");
}
