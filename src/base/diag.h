/* SPDX-License-Identifier: Apache-2.0 */
/* diag.h -- the context, and messages with a place.
 *
 *   file: place: error: what was found, what was expected [id]
 *   file: place: note: what to do                                                        */
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

/* A size that a model leaves open, as the caller says it. */
typedef struct tc_dim_given {
    const char *name;
    int64_t value;
    bool used; /* a reader has looked at it */
} tc_dim_given;

/* The shape of an input that a model leaves open, as the caller says it. */
typedef struct tc_shape_given {
    const char *input;
    int32_t rank;
    int64_t dim[8];
    bool used;
} tc_shape_given;

/* An input that is a constant, as the caller says it. */
typedef struct tc_set_given {
    const char *input, *value; /* "16000", "true", "mask.npy" */
    bool used;
} tc_set_given;

/* One compilation: its memory, its messages, its interned things. */
struct tc_ctx {
    tc_arena arena;   /* lives until tc_ctx_free() */
    tc_arena scratch; /* between a mark and a rewind */
    tc_map types;     /* num/type.c */
    tc_map names;     /* interned text */
    tc_map packed;    /* fast/float.c: weights in the form of a product, by their content */
    const tc_map *packed_before; /* base/attempt.c: the same as it was before an attempt, or NULL */
    tc_buf messages;  /* rendered diagnostics */
    size_t n_error, n_warning;
    bool repeated;  /* the last warning had been given before, and gets no notes */
    size_t n_muted; /* errors past the first hundred are counted, not kept */
    int threads;            /* 0: as many as there are cores */
    bool prefer_tosa;       /* run the TOSA that is kept beside an Ethos-U's stream */
    const char *method;     /* of an ExecuTorch program that is read; NULL: forward, or the first */
    const char *signature;  /* of a TFLite file that is read; NULL: its first graph */
    bool reference_kernels; /* --kernels=reference */
    tc_dim_given *dim;      /* --dim NAME=VALUE */
    size_t n_dim, cap_dim;
    tc_shape_given *shape;  /* --shape INPUT=D,D,... */
    size_t n_shape, cap_shape;
    tc_set_given *set;      /* --set INPUT=VALUE */
    size_t n_set, cap_set;
    const char *const *sample; /* data that settles what a model leaves open: one file per input */
    size_t n_sample;
    bool example_dims; /* open sizes that nobody names are those of the export's example */
    struct tc_cleanup *cleanup; /* what else must be undone, newest first */
    struct tc_taken *taken;     /* wire/file.c: files that were read */
    struct tc_mapped *mapped;   /* base/mapped.c */
    bool may_map;               /* large files stay where they are */
    bool keep_plain;            /* run/plan.c: weights are too many for a second copy */
    unsigned n_part;            /* wire/create.c: names of files being written */
    jmp_buf oom;                /* where public calls come back when memory runs out */
    int depth;                  /* public calls that are under way, one inside the other */
    bool spent;                 /* memory ran out: nothing but freeing is left */
    atomic_int cancelled;
    tc_allocator allocator;
    tc_on_diagnostic *on_diagnostic; /* these two and `user` as in tc_ctx_options */
    tc_on_progress *on_progress;
    void *user;
    struct tc_message *first_message, *last_message; /* the diagnostics as records */
    struct tc_message *untold;                       /* the first that nobody was told of */
    size_t n_message;
    struct tc_trial *trial; /* what is said now is only tried; NULL: it counts */
};

/* TC_CANCELLED when somebody wants no more; asked between steps of anything that takes time. */
static inline tc_status tc_go_on(tc_ctx *ctx)
{
    return atomic_load_explicit(&ctx->cancelled, memory_order_relaxed) ? TC_CANCELLED : TC_OK;
}

/* Tells the caller how far something is, unless it is only tried; the caller may want no more. */
TC_MUST_USE tc_status tc_tell_progress(tc_ctx *ctx, const char *what, size_t done, size_t total);

/* Tells the caller of the messages that are complete; `all`: nothing more is coming. */
void tc_tell_messages(tc_ctx *ctx, bool all);

/* Messages whose fate is decided later: from `begin` on they are held back; `keep` tells them after
 * all, `drop` takes them back and gives the first error's text ("": there was none). */
typedef struct tc_hold {
    size_t size, errors, warnings, muted, n_message;
    struct tc_message *last;
    tc_on_diagnostic *told;
} tc_hold;
tc_hold tc_hold_begin(tc_ctx *ctx);
void tc_hold_keep(tc_ctx *ctx, tc_hold hold);
const char *tc_hold_drop(tc_ctx *ctx, tc_hold hold);

/* Run `undo(what)` when the context is freed (open maps, library handles). */
void tc_ctx_defer(tc_ctx *ctx, void (*undo)(void *), void *what);
/* Undoes what was deferred since `oldest` was the newest. */
void tc_ctx_clean_to(tc_ctx *ctx, const struct tc_cleanup *oldest);

/* The one copy of a piece of text. */
const char *tc_intern(tc_ctx *ctx, tc_str text);
static inline const char *tc_intern_text(tc_ctx *ctx, const char *text)
{
    return text ? tc_intern(ctx, tc_str_of(text)) : NULL;
}

/* Something that may fail without anybody being told: between begin and end nothing is reported,
 * and the first error is kept as "what was found [id]". */
typedef struct tc_trial {
    const char *why; /* NULL: no error so far; in the arena */
    struct tc_trial *outer;
} tc_trial;
void tc_trial_begin(tc_ctx *ctx, tc_trial *trial);
void tc_trial_end(tc_ctx *ctx, tc_trial *trial);

/* Report; the return value is the status to pass upward.
 * tc_error: the model or file is turned down.  tc_unsupported: it is fine, and beyond us today. */
tc_status tc_error(tc_ctx *ctx, const tc_loc *loc, tc_diag_id id, const char *format, ...)
    TC_PRINTF(4, 5);
tc_status tc_unsupported(tc_ctx *ctx, const tc_loc *loc, tc_diag_id id, const char *format, ...)
    TC_PRINTF(4, 5);
tc_status tc_usage(tc_ctx *ctx, const char *format, ...) TC_PRINTF(2, 3);
tc_status tc_bug(tc_ctx *ctx, const tc_loc *loc, const char *format, ...) TC_PRINTF(3, 4);
void tc_warning(tc_ctx *ctx, const tc_loc *loc, tc_diag_id id, const char *format, ...)
    TC_PRINTF(4, 5);
void tc_note(tc_ctx *ctx, const tc_loc *loc, const char *format, ...) TC_PRINTF(3, 4);

#endif
