/* SPDX-License-Identifier: Apache-2.0 */
/* diag.h -- the context, and messages with a location.
 *
 *   file: where: error: what was found, what was expected [id]
 *   file: where: note: what to do */
#ifndef TC_DIAG_H
#define TC_DIAG_H

#include <stdatomic.h>

#include "bytes.h"
#include "map.h"

typedef enum tc_diag_id {
#define DIAG(id, tag, doc) TC_E_##id,
#include "diag.def"
    TC_DIAG_COUNT
} tc_diag_id;

/* What a room keeps with the context, in a record that it declares itself. */
typedef enum tc_own {
    TC_OWN_READ,    /* read/read_options.h */
    TC_OWN_PRODUCT, /* fast/float.c */
    TC_OWN_PACKED,  /* fast/float_pack.c */
    TC_OWN_FILE,    /* wire/file.c */
    TC_OWN_CREATE,  /* wire/create.c */
    TC_OWN_COUNT
} tc_own;

/* One compilation: its memory, its messages, its interned things. */
struct tc_ctx {
    tc_arena arena;   /* lives until tc_ctx_free() */
    tc_arena scratch; /* between a mark and a rewind */
    tc_map types;     /* num/type.c */
    tc_map names;     /* interned text */
    struct {
        void *at; /* in the arena; NULL: not used yet */
        size_t size;
    } own[TC_OWN_COUNT];
    unsigned n_attempt; /* attempts that are under way, one inside the other */
    tc_buf messages;  /* rendered diagnostics */
    size_t n_error, n_warning;
    bool repeated;  /* the last warning had been given before, and gets no notes */
    size_t n_muted; /* errors past the first hundred are counted, not kept */
    int threads;            /* 0: as many as there are cores */
    bool reference_kernels; /* --reference */
    struct tc_device_link *device; /* what runs an Ethos-U's programs; NULL: the executor */
    struct tc_cleanup *cleanup; /* what else must be undone, newest first */
    struct tc_mapped *mapped;   /* base/mapped.c */
    bool may_map;               /* large files stay where they are */
    jmp_buf oom;                /* the jump target of public calls when memory runs out */
    int depth;                  /* public calls that are under way, one inside the other */
    bool spent;                 /* out of memory: nothing but freeing is left */
    atomic_int cancelled;
    tc_allocator allocator;
    tc_on_diagnostic *on_diagnostic; /* these two and `user` as in tc_ctx_options */
    tc_on_progress *on_progress;
    void *user;
    struct tc_message *first_message, *last_message; /* the diagnostics as records */
    struct tc_message *untold;                       /* the first error that was not reported */
    size_t n_message;
    struct tc_trial *trial; /* what is said now is only tried; NULL: it counts */
};

/* TC_CANCELLED when the caller has cancelled; checked between steps of anything that takes time. */
static inline tc_status ti_go_on(tc_ctx *ctx)
{
    return atomic_load_explicit(&ctx->cancelled, memory_order_relaxed) ? TC_CANCELLED : TC_OK;
}

/* Reports progress, unless in an attempt; the caller may cancel. */
TC_MUST_USE tc_status ti_tell_progress(tc_ctx *ctx, const char *what, size_t done, size_t total);

/* Tells the caller of the messages that are complete; `all`: nothing more is coming. */
void ti_tell_messages(tc_ctx *ctx, bool all);

/* Deferred messages: from `begin` on they are held back; `keep` gives them, `drop` discards them
 * and returns the first error's text ("": there was none).  ti_hold_node: the node that it is
 * about; NULL: none. */
typedef struct tc_hold {
    size_t size, errors, warnings, muted, n_message;
    struct tc_message *last;
    tc_on_diagnostic *told;
    struct tc_message *untold;
} tc_hold;
tc_hold ti_hold_begin(tc_ctx *ctx);
void ti_hold_keep(tc_ctx *ctx, tc_hold hold);
const char *ti_hold_drop(tc_ctx *ctx, tc_hold hold);
const char *ti_hold_node(const tc_ctx *ctx, tc_hold hold);

/* A room's record, zeroed at first use; an attempt restores it. */
void *ti_ctx_own(tc_ctx *ctx, tc_own which, size_t size);
#define TC_OWN(ctx, which, type) ((type *)ti_ctx_own(ctx, TC_OWN_##which, sizeof(type)))

/* Run `undo(what)` when the context is freed (open maps, library handles). */
void ti_ctx_defer(tc_ctx *ctx, void (*undo)(void *), void *what);
/* Undoes what was deferred since `oldest` was the newest. */
void ti_ctx_clean_to(tc_ctx *ctx, const struct tc_cleanup *oldest);

/* The one copy of a piece of text. */
const char *ti_intern(tc_ctx *ctx, tc_str text);
static inline const char *ti_intern_text(tc_ctx *ctx, const char *text)
{
    return text ? ti_intern(ctx, ti_str_of(text)) : NULL;
}

/* Something that may fail silently: between begin and end nothing is reported, and the first error
 * is kept as "what was found [id]". */
typedef struct tc_trial {
    const char *why; /* NULL: no error so far; in the arena */
    const char *node; /* that the error is about; or NULL */
    struct tc_trial *outer;
} tc_trial;
void ti_trial_begin(tc_ctx *ctx, tc_trial *trial);
void ti_trial_end(tc_ctx *ctx, tc_trial *trial);

/* Report; the return value is the status to pass upward.
 * ti_error: the model or file is not valid.  ti_unsupported: it is valid but not supported yet. */
tc_status ti_error(tc_ctx *ctx, const tc_loc *loc, tc_diag_id id, const char *format, ...)
    TC_PRINTF(4, 5);
tc_status ti_unsupported(tc_ctx *ctx, const tc_loc *loc, tc_diag_id id, const char *format, ...)
    TC_PRINTF(4, 5);
tc_status ti_usage(tc_ctx *ctx, const char *format, ...) TC_PRINTF(2, 3);
tc_status ti_bug(tc_ctx *ctx, const tc_loc *loc, const char *format, ...) TC_PRINTF(3, 4);
void ti_warning(tc_ctx *ctx, const tc_loc *loc, tc_diag_id id, const char *format, ...)
    TC_PRINTF(4, 5);
void ti_note(tc_ctx *ctx, const tc_loc *loc, const char *format, ...) TC_PRINTF(3, 4);

#endif
