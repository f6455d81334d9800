/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_loc.c -- where a node came from: the author's own Python line and module. */
#include "pt2_program.h"

/* Text as it is in the file, escapes included. */
static tc_str raw(const tc_json *json)
{
    return ti_json_is(json, TC_JSON_TEXT) ? (tc_str){json->as.text, json->n} : (tc_str){"", 0};
}

static const char *find_last(tc_str text, const char *end, const char *what)
{
    size_t n = strlen(what);
    for (const char *at = end - n; at >= text.p; at--)
        if (*at == *what && memcmp(at, what, n) == 0)
            return at;
    return NULL;
}

static bool contains(tc_str text, const char *what)
{
    return text.n >= strlen(what) && find_last(text, text.p + text.n, what);
}

/* Frames inside torch itself, or in code made by tracing, are skipped. */
static bool user_frame(tc_str path)
{
    return !contains(path, "/torch/") && !contains(path, "<eval_with_key>") &&
           !contains(path, "/torch_") && !contains(path, "/torchao/") &&
           !contains(path, "\\\\torch\\\\");
}

/* "file.py:41" from a traceback, innermost frame last; NULL when it has none. */
static const char *python_place(tc_ctx *ctx, tc_str trace)
{
    static const char mark[] = "File \\\"", line_mark[] = "\\\", line ";
    tc_str best = {NULL, 0};
    long best_line = 0;
    const char *end = trace.p + trace.n;
    for (const char *at;
         (size_t)(end - trace.p) >= sizeof mark - 1 && (at = find_last(trace, end, mark));
         end = at) {
        tc_str path = {at + sizeof mark - 1, (size_t)(end - at) - (sizeof mark - 1)};
        const char *line = NULL;
        for (const char *p = path.p; p + sizeof line_mark - 1 < path.p + path.n && !line; p++)
            if (*p == '\\' && memcmp(p, line_mark, sizeof line_mark - 1) == 0)
                line = p;
        if (!line)
            continue;
        path.n = (size_t)(line - path.p);
        long number = 0;
        for (const char *p = line + sizeof line_mark - 1;
             p < end && *p >= '0' && *p <= '9' && number < 100000000; p++)
            number = number * 10 + (*p - '0');
        bool user = user_frame(path);
        if (user || !best.p) {
            best = path;
            best_line = number;
        }
        if (user)
            break;
    }
    if (!best.p)
        return NULL;
    for (const char *p = best.p + best.n; p-- > best.p;)
        if (*p == '/' || *p == '\\') {
            best = (tc_str){p + 1, (size_t)(best.p + best.n - p - 1)};
            break;
        }
    tc_mark m = ti_arena_mark(&ctx->scratch);
    const char *place = ti_intern_text(
        ctx, ti_text_format(&ctx->scratch, "%.*s:%ld", (int)best.n, best.p, best_line));
    ti_arena_rewind(&ctx->scratch, m);
    return place;
}

/* "key,path,type;key,path,type": the last is the innermost. */
static void module_place(tc_ctx *ctx, tc_str stack, tc_loc *loc)
{
    const char *end = stack.p + stack.n, *begin = stack.n ? find_last(stack, end, ";") : NULL;
    begin = begin ? begin + 1 : stack.p;
    const char *first = memchr(begin, ',', (size_t)(end - begin));
    const char *second = first ? memchr(first + 1, ',', (size_t)(end - first - 1)) : NULL;
    if (!second)
        return;
    loc->module = ti_intern(ctx, (tc_str){first + 1, (size_t)(second - first - 1)});
    loc->module_type = ti_intern(ctx, (tc_str){second + 1, (size_t)(end - second - 1)});
}

const char *ti_pt2_target(tc_pt2 *reader, const tc_json *node)
{
    static const char prefix[] = "torch.ops.";
    tc_str target = ti_json_text(&reader->work, ti_json_get(node, "target"));
    if (target.n >= sizeof prefix - 1 && memcmp(target.p, prefix, sizeof prefix - 1) == 0)
        target = (tc_str){target.p + sizeof prefix - 1, target.n - (sizeof prefix - 1)};
    return ti_intern(reader->ctx, target.p ? target : ti_str_of("?"));
}

/* The name of a node: its own, or in older files that of its first result. */
static const char *node_name(tc_pt2 *reader, const tc_json *node)
{
    tc_str name = ti_json_text(&reader->work, ti_json_get(node, "name"));
    if (!name.n) {
        tc_str tag;
        const tc_json *first = ti_json_only(ti_json_first(ti_json_get(node, "outputs")), &tag);
        first = ti_json_is(first, TC_JSON_LIST) ? ti_json_first(first) : first;
        name = ti_json_text(&reader->work, ti_json_get(first, "name"));
    }
    return ti_intern(reader->ctx, name.n ? name : ti_str_of("?"));
}

const tc_loc *ti_pt2_loc(tc_pt2 *reader, const tc_json *node)
{
    tc_loc *loc = tc_new(&reader->ctx->arena, tc_loc);
    const tc_json *meta = ti_json_get(node, "metadata");
    loc->file = reader->file;
    loc->node = node_name(reader, node);
    loc->target = ti_pt2_target(reader, node);
    loc->place = python_place(reader->ctx, raw(ti_json_get(meta, "stack_trace")));
    module_place(reader->ctx, raw(ti_json_get(meta, "nn_module_stack")), loc);
    return loc;
}
