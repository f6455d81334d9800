/* SPDX-License-Identifier: Apache-2.0 */
/* tool.c -- see tool.h. */
#include "tool.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../base/process.h"

/* ---- folders ---- */

static void remove_tree(const char *path)
{
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
        char inside[4096];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        int n = snprintf(inside, sizeof inside, "%s/%s", path, e->d_name);
        struct stat st;
        if (n < 0 || n >= (int)sizeof inside || lstat(inside, &st) != 0)
            continue;
        if (S_ISDIR(st.st_mode))
            remove_tree(inside);
        else
            unlink(inside);
    }
    if (dir)
        closedir(dir);
    rmdir(path);
}

static void undo(void *what)
{
    char **path = what;
    if (*path)
        remove_tree(*path);
    *path = NULL;
}

tc_status ti_workshop_open(tc_ctx *ctx, tc_workshop *out)
{
    const char *base = getenv("TMPDIR");
    char *path = ti_text_format(&ctx->arena, "%s/tosac-XXXXXX", base && *base ? base : "/tmp");
    *out = (tc_workshop){tc_new(&ctx->arena, char *)};
    ti_ctx_defer(ctx, undo, out->kept);
    if (!mkdtemp(path))
        return ti_error(ctx, NULL, TC_E_IO, "%s: no temporary folder can be made: %s", path,
                        strerror(errno));
    *out->kept = path;
    return TC_OK;
}

void ti_workshop_close(tc_workshop *w)
{
    undo(w->kept);
}

/* ---- programs ---- */

const char *ti_tool_find(tc_ctx *ctx, const char *name)
{
    const char *at = getenv("PATH");
    if (ti_path_last(name) != name)
        return ti_process_can_run(name) ? name : NULL;
    while (at && *at) {
        size_t n = strcspn(at, ti_path_between);
        const char *path = ti_text_format(&ctx->arena, "%.*s/%s", (int)n, at, name);
        if (n && ti_process_can_run(path))
            return path;
        at += n + (at[n] != 0);
    }
    return NULL;
}

/* ---- processes ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void start(tc_tool *tool)
{
    tool->process = ti_process_start(tool->argv, tool->folder, "tool.log");
    tool->running = tool->process >= 0;
    tool->exit = -1;
    tool->deadline = now() + tool->timeout;
}

/* Whether it has ended; one that takes too long is ended. */
static bool ended(tc_tool *tool)
{
    if (ti_process_ended(tool->process, &tool->exit))
        return true;
    if (now() <= tool->deadline)
        return false;
    tool->timed_out = true;
    ti_process_end(tool->process, &tool->exit);
    return true;
}

tc_status ti_tools_run(tc_ctx *ctx, const char *what, tc_tool *tool, size_t n, size_t at_once)
{
    size_t begun = 0, done = 0, told = SIZE_MAX;
    tc_status status = TC_OK;
    while (done < n && !(status && done == begun)) {
        if (!status)
            status = told != done ? ti_tell_progress(ctx, what, done, n) : ti_go_on(ctx);
        told = done;
        while (begun < n && begun - done < at_once && !status) {
            start(&tool[begun++]);
            if (!tool[begun - 1].running)
                done++;
        }
        for (size_t i = 0; i < begun; i++) {
            if (status && tool[i].running)
                tool[i].deadline = 0;
            if (tool[i].running && ended(&tool[i])) {
                tool[i].running = false;
                done++;
            }
        }
        if (done < begun)
            nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
    return status;
}

/* The last line that speaks of an error, else the last line of all. */
static char *telling_line(char *text)
{
    char *found = NULL, *last = text;
    for (char *line = text; *line;) {
        size_t n = strcspn(line, "\n");
        char end = line[n];
        line[n] = 0;
        if (strstr(line, "rror"))
            found = line;
        if (n)
            last = line;
        line += n + (end != 0);
    }
    return found ? found : last;
}

const char *ti_tool_log(tc_ctx *ctx, const tc_tool *tool)
{
    enum { MOST = 4000 };
    char *text = ti_arena_raw(&ctx->arena, MOST + 1);
    FILE *f = fopen(ti_text_format(&ctx->arena, "%s/tool.log", tool->folder), "rb");
    size_t size = 0;
    if (f && fseek(f, 0, SEEK_END) == 0) {
        long end = ftell(f);
        if (fseek(f, end > MOST ? end - MOST : 0, SEEK_SET) == 0)
            size = fread(text, 1, MOST, f);
    }
    if (f)
        fclose(f);
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)text[i] < ' ' && text[i] != '\n')
            text[i] = ' ';
    text[size] = 0;
    return telling_line(text);
}
