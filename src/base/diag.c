/* SPDX-License-Identifier: Apache-2.0 */
/* diag.c -- contexts and the rendering of messages. */
#include "diag.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_ERRORS = 100 };

typedef struct tc_cleanup {
    struct tc_cleanup *next;
    void (*undo)(void *);
    void *what;
} tc_cleanup;

/* A diagnostic as a record, its notes with it. */
typedef struct tc_message {
    tc_diagnostic is;
    struct tc_message *next;
    const char **note;
    size_t cap_note;
} tc_message;

static const char *const tag_of[TC_DIAG_COUNT] = {
#define DIAG(id, tag, doc) [TC_E_##id] = tag,
#include "diag.def"
};

tc_ctx *tc_ctx_new(void)
{
    return tc_ctx_new_with(NULL);
}

/* As many bytes of the caller's record as it has and we know; the rest is 0. */
static tc_ctx_options known_part(const tc_ctx_options *options)
{
    tc_ctx_options o = {0};
    if (options)
        memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    return o;
}

tc_ctx *tc_ctx_new_with(const tc_ctx_options *options)
{
    tc_ctx_options o = known_part(options);
    if (!o.allocator.allocate != !o.allocator.release)
        return NULL;
    tc_ctx *ctx = ti_take_block(&o.allocator, sizeof *ctx, _Alignof(max_align_t));
    if (!ctx)
        return NULL;
    *ctx = (tc_ctx){.allocator = o.allocator,
                    .on_diagnostic = o.on_diagnostic,
                    .on_progress = o.on_progress,
                    .user = o.user,
                    .threads = o.threads,
                    .reference_kernels = o.reference_kernels != 0};
    ti_arena_init(&ctx->arena);
    ti_arena_init(&ctx->scratch);
    ctx->arena.from = ctx->scratch.from = &ctx->allocator;
    ctx->arena.limit = ctx->scratch.limit = o.memory_limit;
    ti_map_init(&ctx->types, &ctx->arena);
    ti_map_init(&ctx->names, &ctx->arena);
    ti_buf_init(&ctx->messages, &ctx->arena);
    return ctx;
}

void ti_ctx_clean_to(tc_ctx *ctx, const tc_cleanup *oldest)
{
    for (; ctx->cleanup != oldest; ctx->cleanup = ctx->cleanup->next)
        ctx->cleanup->undo(ctx->cleanup->what);
}

void tc_ctx_free(tc_ctx *ctx)
{
    if (!ctx)
        return;
    ti_ctx_clean_to(ctx, NULL);
    ti_arena_free(&ctx->scratch);
    ti_arena_free(&ctx->arena);
    tc_allocator from = ctx->allocator;
    ti_give_block(&from, ctx, sizeof *ctx);
}

void *ti_ctx_own(tc_ctx *ctx, tc_own which, size_t size)
{
    if (!ctx->own[which].at) {
        ctx->own[which].at = memset(ti_arena_raw(&ctx->arena, size), 0, size);
        ctx->own[which].size = size;
    }
    assert(ctx->own[which].size == size);
    return ctx->own[which].at;
}

void ti_ctx_defer(tc_ctx *ctx, void (*undo)(void *), void *what)
{
    tc_cleanup *c = tc_new(&ctx->arena, tc_cleanup);
    *c = (tc_cleanup){ctx->cleanup, undo, what};
    ctx->cleanup = c;
}

const char *ti_intern(tc_ctx *ctx, tc_str text)
{
    return ti_map_key(ti_map_at(&ctx->names, text));
}

/* ---- messages as records ---- */

static const tc_loc *keep_loc(tc_ctx *ctx, const tc_loc *loc)
{
    if (!loc)
        return NULL;
    tc_loc *kept = tc_new(&ctx->arena, tc_loc);
    *kept = (tc_loc){ti_intern_text(ctx, loc->file),   ti_intern_text(ctx, loc->place),
                     ti_intern_text(ctx, loc->node),   ti_intern_text(ctx, loc->target),
                     ti_intern_text(ctx, loc->module), ti_intern_text(ctx, loc->module_type)};
    return kept;
}

static void keep_note(tc_ctx *ctx, tc_message *m, const char *text)
{
    size_t n = m->is.n_note;
    tc_grow(&ctx->arena, m->note, n, m->cap_note);
    m->note[n] = text;
    m->is.note = m->note;
    m->is.n_note = n + 1;
}

static void keep_message(tc_ctx *ctx, tc_diagnostic is)
{
    tc_message *m = tc_new(&ctx->arena, tc_message);
    m->is = is;
    m->is.loc = keep_loc(ctx, is.loc);
    ti_tell_messages(ctx, true); /* those before it get no more notes */
    if (ctx->last_message)
        ctx->last_message->next = m;
    else
        ctx->first_message = m;
    ctx->last_message = m;
    ctx->untold = ctx->untold ? ctx->untold : m;
    ctx->n_message++;
}

void ti_tell_messages(tc_ctx *ctx, bool all)
{
    for (tc_message *m = ctx->untold; m && (all || m->next); m = ctx->untold) {
        ctx->untold = m->next;
        if (ctx->on_diagnostic)
            ctx->on_diagnostic(ctx->user, &m->is);
    }
}

tc_hold ti_hold_begin(tc_ctx *ctx)
{
    if (ctx->on_diagnostic)
        ti_tell_messages(ctx, true);
    tc_hold t = {ctx->messages.size, ctx->n_error,      ctx->n_warning,     ctx->n_muted,
                 ctx->n_message,     ctx->last_message, ctx->on_diagnostic, ctx->untold};
    ctx->on_diagnostic = NULL;
    ctx->untold = NULL;
    return t;
}

void ti_hold_keep(tc_ctx *ctx, tc_hold t)
{
    tc_message *m = t.last ? t.last->next : ctx->first_message;
    ctx->on_diagnostic = t.told;
    ctx->untold = m ? m : t.untold;
    ti_tell_messages(ctx, false);
}

static const tc_message *first_error(const tc_ctx *ctx, tc_hold t)
{
    const tc_message *m = t.last ? t.last->next : ctx->first_message;
    while (m && m->is.severity != TC_SEVERITY_ERROR)
        m = m->next;
    return m;
}

const char *ti_hold_node(const tc_ctx *ctx, tc_hold t)
{
    const tc_message *m = first_error(ctx, t);
    return m && m->is.loc ? m->is.loc->node : NULL;
}

const char *ti_hold_drop(tc_ctx *ctx, tc_hold t)
{
    const tc_message *m = first_error(ctx, t);
    const char *why = m ? ti_text_format(&ctx->arena, "%s [%s]", m->is.text, m->is.id) : "";
    ctx->messages.size = t.size;
    ctx->n_error = t.errors;
    ctx->n_warning = t.warnings;
    ctx->n_muted = t.muted;
    ctx->n_message = t.n_message;
    ctx->last_message = t.last;
    if (t.last)
        t.last->next = NULL;
    else
        ctx->first_message = NULL;
    ctx->untold = t.untold;
    ctx->on_diagnostic = t.told;
    return why;
}

size_t tc_diagnostic_count(const tc_ctx *ctx)
{
    return ctx->n_message;
}

const tc_diagnostic *tc_diagnostic_at(const tc_ctx *ctx, size_t i)
{
    const tc_message *m = ctx->first_message;
    for (; m && i; i--)
        m = m->next;
    return m ? &m->is : NULL;
}

tc_status ti_tell_progress(tc_ctx *ctx, const char *what, size_t done, size_t total)
{
    if (ctx->on_progress && !ctx->trial && ctx->on_progress(ctx->user, what, done, total))
        tc_ctx_cancel(ctx);
    return ti_go_on(ctx);
}

void tc_ctx_cancel(tc_ctx *ctx)
{
    atomic_store(&ctx->cancelled, 1);
}

/* ---- messages as text ---- */

/* One line more; returns its text alone. */
static const char *render(tc_ctx *ctx, const tc_loc *loc, const char *kind, const char *tag,
                          const char *format, va_list args)
{
    tc_buf *out = &ctx->messages;
    if (!loc || loc->file)
        ti_buf_printf(out, "%s: ", loc ? loc->file : "tosac"); /* no location: the command itself */
    if (loc && loc->place)
        ti_buf_printf(out, "%s: ", loc->place);
    else if (loc && loc->node)
        ti_buf_printf(out, "node '%s': ", loc->node);
    ti_buf_printf(out, "%s: ", kind);
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    char *room = (char *)ti_buf_room(out, (size_t)n + 1);
    vsnprintf(room, (size_t)n + 1, format, again);
    va_end(again);
    out->size--;
    /* A message is one line, whatever characters names of the file have. */
    for (int i = 0; i < n; i++)
        if ((unsigned char)room[i] < ' ')
            room[i] = '?';
    const char *text = ti_text_copy(&ctx->arena, (tc_str){room, (size_t)n});
    if (tag)
        ti_buf_printf(out, " [%s]", tag);
    ti_buf_u8(out, '\n');
    return text;
}

/* ---- what is only tried ---- */

void ti_trial_begin(tc_ctx *ctx, tc_trial *trial)
{
    *trial = (tc_trial){.outer = ctx->trial};
    ctx->trial = trial;
}

void ti_trial_end(tc_ctx *ctx, tc_trial *trial)
{
    ctx->trial = trial->outer;
}

static void keep_reason(tc_ctx *ctx, const tc_loc *loc, tc_diag_id id, const char *format,
                        va_list args)
{
    if (ctx->trial->why)
        return;
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    char *text = tc_new_n(&ctx->arena, char, (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    for (int i = 0; i < n; i++)
        if ((unsigned char)text[i] < ' ')
            text[i] = '?';
    ctx->trial->why = ti_text_format(&ctx->arena, "%s [%s]", text, tag_of[id]);
    ctx->trial->node = loc ? loc->node : NULL;
}

#define TRIED(number, came_to)                                                                     \
    if (ctx->trial) {                                                                              \
        va_list tried;                                                                             \
        va_start(tried, format);                                                                   \
        keep_reason(ctx, loc, number, format, tried);                                               \
        va_end(tried);                                                                             \
        return came_to;                                                                            \
    }

/* Whether this error is still among those that are shown. */
static bool counted(tc_ctx *ctx)
{
    bool shown = ++ctx->n_error <= MOST_ERRORS;
    ctx->repeated = false;
    ctx->n_muted += !shown;
    return shown;
}

#define RENDER(text, kind, tag)                                                                    \
    const char *text;                                                                              \
    do {                                                                                           \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        text = render(ctx, loc, kind, tag, format, args);                                          \
        va_end(args);                                                                              \
    } while (0)

#define ERROR(number, came_to)                                                                     \
    do {                                                                                           \
        RENDER(text, "error", tag_of[number]);                                                     \
        keep_message(ctx, (tc_diagnostic){.severity = TC_SEVERITY_ERROR,                           \
                                          .id = tag_of[number],                                    \
                                          .status = came_to,                                       \
                                          .loc = loc,                                              \
                                          .text = text});                                          \
    } while (0)

/* The status of an error, by its id alone: the same error always has one exit code. Those that are
 * not listed are TC_BAD_MODEL. */
static const tc_status status_of[TC_DIAG_COUNT] = {
    [TC_E_DYNAMIC] = TC_UNSUPPORTED,     [TC_E_UNKNOWN_OP] = TC_UNSUPPORTED,
    [TC_E_UNSUPPORTED] = TC_UNSUPPORTED, [TC_E_VERSION] = TC_UNSUPPORTED,
    [TC_E_TOOL] = TC_TOOL,
};

tc_status ti_error(tc_ctx *ctx, const tc_loc *loc, tc_diag_id id, const char *format, ...)
{
    tc_status status = status_of[id] ? status_of[id] : TC_BAD_MODEL;
    TRIED(id, status)
    if (counted(ctx))
        ERROR(id, status);
    return status;
}

tc_status ti_unsupported(tc_ctx *ctx, const tc_loc *loc, tc_diag_id id, const char *format, ...)
{
    TRIED(id, TC_UNSUPPORTED)
    if (counted(ctx))
        ERROR(id, TC_UNSUPPORTED);
    return TC_UNSUPPORTED;
}

tc_status ti_usage(tc_ctx *ctx, const char *format, ...)
{
    const tc_loc *loc = NULL;
    TRIED(TC_E_USAGE, TC_USAGE)
    if (counted(ctx))
        ERROR(TC_E_USAGE, TC_USAGE);
    return TC_USAGE;
}

tc_status ti_bug(tc_ctx *ctx, const tc_loc *loc, const char *format, ...)
{
    TRIED(TC_E_BUG, TC_BUG)
    if (counted(ctx)) {
        ERROR(TC_E_BUG, TC_BUG);
        ti_note(ctx, loc, "this is a bug in tosac; please report it with the model");
    }
    return TC_BUG;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Whether this warning has been given already, for the same location. */
static bool is_repeated(const tc_ctx *ctx, const tc_loc *loc, tc_diag_id id, const char *text)
{
    static const tc_loc nowhere;
    for (const tc_message *m = ctx->first_message; m; m = m->next) {
        const tc_loc *a = m->is.loc ? m->is.loc : &nowhere, *b = loc ? loc : &nowhere;
        if (m->is.severity == TC_SEVERITY_WARNING && same_text(m->is.id, tag_of[id]) &&
            same_text(m->is.text, text) && same_text(a->file, b->file) &&
            same_text(a->place, b->place) && same_text(a->node, b->node))
            return true;
    }
    return false;
}

/* Said once, however often it is found: the same of every sample, say. */
void ti_warning(tc_ctx *ctx, const tc_loc *loc, tc_diag_id id, const char *format, ...)
{
    if (ctx->trial)
        return;
    size_t before = ctx->messages.size;
    RENDER(text, "warning", tag_of[id]);
    ctx->repeated = is_repeated(ctx, loc, id, text);
    if (ctx->repeated) {
        ctx->messages.size = before;
        return;
    }
    ctx->n_warning++;
    keep_message(ctx, (tc_diagnostic){.severity = TC_SEVERITY_WARNING,
                                      .id = tag_of[id],
                                      .loc = loc,
                                      .text = text});
}

/* A note follows the message before it, unless that was a repetition. */
void ti_note(tc_ctx *ctx, const tc_loc *loc, const char *format, ...)
{
    if (ctx->n_muted || ctx->trial || ctx->repeated)
        return;
    RENDER(text, "note", NULL);
    if (ctx->untold)
        keep_note(ctx, ctx->last_message, text);
    else
        keep_message(
            ctx,
            (tc_diagnostic){.severity = TC_SEVERITY_NOTE, .id = "note", .loc = loc, .text = text});
}
