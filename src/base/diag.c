/* SPDX-License-Identifier: Apache-2.0 */
/* diag.c -- contexts and the rendering of messages. */
#include "diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_ERRORS = 100 };

typedef struct tc_cleanup {
    struct tc_cleanup *next;
    void (*undo)(void *);
    void *what;
} tc_cleanup;

static const char *const tag_of[TC_DIAG_COUNT] = {
#define DIAG(id, tag, doc) [TC_E_##id] = tag,
#include "diag.def"
};

const char *tc_diag_tag(tc_diag_id id)
{
    return tag_of[id];
}

const char *tc_version(void)
{
    return "tosac " TOSAC_VERSION;
}

tc_ctx *tc_ctx_new(void)
{
    tc_ctx *ctx = calloc(1, sizeof *ctx);
    if (!ctx)
        return NULL;
    tc_arena_init(&ctx->arena);
    tc_arena_init(&ctx->scratch);
    tc_map_init(&ctx->types, &ctx->arena);
    tc_map_init(&ctx->names, &ctx->arena);
    tc_buf_init(&ctx->messages, &ctx->arena);
    return ctx;
}

void tc_ctx_free(tc_ctx *ctx)
{
    if (!ctx)
        return;
    for (tc_cleanup *c = ctx->cleanup; c; c = c->next)
        c->undo(c->what);
    tc_arena_free(&ctx->scratch);
    tc_arena_free(&ctx->arena);
    free(ctx);
}

void tc_ctx_defer(tc_ctx *ctx, void (*undo)(void *), void *what)
{
    tc_cleanup *c = tc_new(&ctx->arena, tc_cleanup);
    *c = (tc_cleanup){ctx->cleanup, undo, what};
    ctx->cleanup = c;
}

const char *tc_intern(tc_ctx *ctx, tc_str text)
{
    void **slot = tc_map_at(&ctx->names, text);
    if (!*slot)
        *slot = tc_text_copy(&ctx->arena, text);
    return *slot;
}

const char *tc_diagnostics(tc_ctx *ctx)
{
    return tc_buf_cstr(&ctx->messages);
}

static void render(tc_ctx *ctx, const tc_loc *loc, const char *kind, const char *tag,
                   const char *format, va_list args)
{
    tc_buf *out = &ctx->messages;
    if (!loc || loc->file)
        tc_buf_printf(out, "%s: ", loc ? loc->file : "tosac"); /* no place: the command itself */
    if (loc && loc->place)
        tc_buf_printf(out, "%s: ", loc->place);
    else if (loc && loc->node)
        tc_buf_printf(out, "node '%s': ", loc->node);
    tc_buf_printf(out, "%s: ", kind);
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    char *room = (char *)tc_buf_room(out, (size_t)n + 1);
    vsnprintf(room, (size_t)n + 1, format, again);
    va_end(again);
    out->size--;
    /* A message is one line, whatever the file put into its names. */
    for (int i = 0; i < n; i++)
        if ((unsigned char)room[i] < ' ')
            room[i] = '?';
    if (tag)
        tc_buf_printf(out, " [%s]", tag);
    tc_buf_u8(out, '\n');
}

/* Whether this error is still among those that are shown. */
static bool counted(tc_ctx *ctx)
{
    bool shown = ++ctx->n_error <= MOST_ERRORS;
    ctx->n_muted += !shown;
    return shown;
}

#define RENDER(kind, tag)                                                                          \
    do {                                                                                           \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        render(ctx, loc, kind, tag, format, args);                                                 \
        va_end(args);                                                                              \
    } while (0)

tc_status tc_error(tc_ctx *ctx, const tc_loc *loc, tc_diag_id id, const char *format, ...)
{
    if (counted(ctx))
        RENDER("error", tag_of[id]);
    return TC_BAD_MODEL;
}

tc_status tc_unsupported(tc_ctx *ctx, const tc_loc *loc, tc_diag_id id, const char *format, ...)
{
    if (counted(ctx))
        RENDER("error", tag_of[id]);
    return TC_UNSUPPORTED;
}

tc_status tc_usage(tc_ctx *ctx, const char *format, ...)
{
    const tc_loc *loc = NULL;
    if (counted(ctx))
        RENDER("error", tag_of[TC_E_USAGE]);
    return TC_USAGE;
}

tc_status tc_bug(tc_ctx *ctx, const tc_loc *loc, const char *format, ...)
{
    if (counted(ctx)) {
        RENDER("error", tag_of[TC_E_BUG]);
        tc_note(ctx, loc, "this is a mistake in tosac; please report it with the model");
    }
    return TC_BUG;
}

void tc_warning(tc_ctx *ctx, const tc_loc *loc, tc_diag_id id, const char *format, ...)
{
    ctx->n_warning++;
    RENDER("warning", tag_of[id]);
}

void tc_note(tc_ctx *ctx, const tc_loc *loc, const char *format, ...)
{
    if (!ctx->n_muted)
        RENDER("note", NULL);
}
