/* SPDX-License-Identifier: Apache-2.0 */
/* cli_progress.c -- one line that says what is being done and how far it is, on terminals only.
 *
 * The library reports steps; a thread of our own draws the line five times a second, so that it
 * keeps moving during a long step. */
#include "cli.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#ifdef __EMSCRIPTEN__ /* web/progress.js: who runs us draws it */
void tosac_progress(const char *what, double done, double total);
#else
static void tosac_progress(const char *what, double done, double total)
{
    (void)what, (void)done, (void)total;
}
#endif

double cli_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Remaining time of a stage: the average time per item so far, for each item left; nothing is shown
 * where that is less than a second.  Once all are done, how long what follows takes is not known:
 * the time since then is shown. */
static void draw(cli_progress *p, double now)
{
    double spent = now - p->begin;
    bool some = p->total > 1 && p->done;
    double left = some ? (p->latest - p->begin) / (double)p->done * (double)(p->total - p->done) : 0;
    left -= now - p->latest; /* which has passed since */
    if (some && p->done >= p->total)
        fprintf(stderr, "\rafter %zu %s: %.0f s \x1b[K", p->total, p->what, now - p->latest);
    else if (some && left >= 1)
        fprintf(stderr, "\r%zu of %zu %s, %.0f s left \x1b[K", p->done, p->total, p->what, left);
    else if (some)
        fprintf(stderr, "\r%zu of %zu %s, %.0f s \x1b[K", p->done, p->total, p->what, spent);
    else if (p->total > 1)
        fprintf(stderr, "\r%zu %s, %.0f s \x1b[K", p->total, p->what, spent);
    else
        fprintf(stderr, "\r%s, %.0f s \x1b[K", p->what, spent);
    fflush(stderr);
    p->drawn = true;
}

static void *drawing(void *of)
{
    cli_progress *p = of;
    pthread_mutex_lock(&p->lock);
    while (!p->over) {
        struct timespec until;
        double now = cli_seconds();
        if (*p->what && now - p->started >= 1)
            draw(p, now);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 200000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&p->wake, &p->lock, &until);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

void cli_progress_begin(cli *c)
{
    cli_progress *p = &c->progress;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    p->started = cli_seconds();
    if (isatty(STDERR_FILENO) == 1)
        p->visible = pthread_create(&p->thread, NULL, drawing, p) == 0;
}

static void clear(cli_progress *p)
{
    if (p->drawn)
        fprintf(stderr, "\r\x1b[K");
    p->drawn = false;
    p->what[0] = 0;
    p->done = p->total = 0;
}

void cli_progress_end(cli *c)
{
    cli_progress *p = &c->progress;
    pthread_mutex_lock(&p->lock);
    clear(p);
    pthread_mutex_unlock(&p->lock);
}

void cli_progress_close(cli *c)
{
    cli_progress *p = &c->progress;
    pthread_mutex_lock(&p->lock);
    clear(p);
    p->over = true;
    pthread_cond_signal(&p->wake);
    pthread_mutex_unlock(&p->lock);
    if (p->visible)
        pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
}

/* A new step begins its own count. */
int cli_on_progress(void *user, const char *what, size_t done, size_t total)
{
    cli_progress *p = &((cli *)user)->progress;
    if (((cli *)user)->common.quiet)
        return 0;
    pthread_mutex_lock(&p->lock);
    if (!cli_is(p->what, what) || p->total != total) {
        snprintf(p->what, sizeof p->what, "%s", what);
        p->total = total;
        p->begin = p->latest = cli_seconds();
        p->done = done;
    }
    if (p->done != done)
        p->latest = cli_seconds();
    p->done = done;
    pthread_mutex_unlock(&p->lock);
    tosac_progress(what, (double)done, (double)total);
    return 0;
}
