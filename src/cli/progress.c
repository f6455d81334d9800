/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c -- one line that says how far we are, on terminals only. */
#include "cli.h"

#include <time.h>
#include <unistd.h>

double cli_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void begin(cli_progress *p, const char *what, size_t total)
{
    *p = (cli_progress){.what = what, .total = total};
    p->begin = p->shown = cli_seconds();
    p->visible = isatty(STDERR_FILENO) == 1;
}

static void step(cli_progress *p, size_t done)
{
    double now = p->visible ? cli_seconds() : 0;
    double spent = now - p->begin;
    if (!p->visible || spent < 1 || now - p->shown < 0.2)
        return;
    p->shown = now;
    double left = done ? spent / (double)done * (double)(p->total - done) : 0;
    fprintf(stderr, "\r%zu of %zu %s, %.0f s left \x1b[K", done, p->total, p->what, left);
    fflush(stderr);
}

void cli_progress_end(cli *c)
{
    cli_progress *p = &c->progress;
    if (p->visible && p->shown > p->begin)
        fprintf(stderr, "\r\x1b[K");
    *p = (cli_progress){0};
}

/* A new line for whatever is new. */
int cli_on_progress(void *user, const char *what, size_t done, size_t total)
{
    cli *c = user;
    cli_progress *p = &c->progress;
    if (!p->what || !cli_is(p->what, what) || p->total != total) {
        cli_progress_end(c);
        begin(p, what, total);
    }
    step(p, done);
    return 0;
}
