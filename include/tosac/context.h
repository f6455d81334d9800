/* SPDX-License-Identifier: Apache-2.0 */
/* context.h -- where everything lives, and how the library speaks while it works.
 *
 * A context owns everything that is made in it -- models, programs, results, messages -- until
 * tc_ctx_free(); there is nothing else to give back.  A context is cheap: make one for each piece
 * of work.  Distinct contexts may be used from distinct threads; one context by one thread at a
 * time, tc_ctx_cancel() apart.
 *
 * Running out of memory is TC_NO_MEMORY from the call that ran out.  What the context holds is then
 * half made, so that every later call with it gives TC_NO_MEMORY too, and it can only be freed. */
#ifndef TOSAC_CONTEXT_H
#define TOSAC_CONTEXT_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tc_ctx tc_ctx;

/* ---- messages ---- */

/* Where something came from, in its author's own words.  Any field may be NULL. */
typedef struct tc_loc {
    const char *file;        /* the file as the user named it */
    const char *place;       /* "attention.py:41", "7:14", "byte 1042" */
    const char *node;        /* PyTorch's node name */
    const char *target;      /* "aten.conv2d.default" */
    const char *module;      /* "layers.0.attn": the innermost module's path */
    const char *module_type; /* "torch.nn.modules.conv.Conv2d" */
} tc_loc;

typedef enum tc_severity {
    TC_SEVERITY_NOTE = 0, /* something worth knowing that belongs to no error */
    TC_SEVERITY_WARNING = 1,
    TC_SEVERITY_ERROR = 2
} tc_severity;

/* One message, with the notes that go with it.  Everything in it lives as long as the context. */
typedef struct tc_diagnostic {
    tc_severity severity;
    const char *id;          /* a stable word for what it is about: "shape", "io"; doc/errors.md */
    tc_status status;        /* errors: what the call comes to when nothing worse follows */
    const tc_loc *loc;       /* NULL: the call itself, not a place in a file */
    const char *text;        /* one line, without place and id */
    const char *const *note; /* what to do about it, one line each */
    size_t n_note;
} tc_diagnostic;

/* ---- options ---- */

/* Where memory comes from.  allocate: size bytes at a multiple of align (a power of two), or NULL
 * when there are none; release: a block of that size back.  Both may be called from several threads
 * at once.  What zlib, oneDNN and the C library need for themselves does not come from here. */
typedef struct tc_allocator {
    void *(*allocate)(void *user, size_t size, size_t align);
    void (*release)(void *user, void *block, size_t size);
    void *user;
} tc_allocator;

/* Told of each message once it is complete, that is before the next one or when the call ends.  It
 * must not call the library with the same context, save to cancel it. */
typedef void tc_on_diagnostic(void *user, const tc_diagnostic *diagnostic);

/* How far something is: `done` of `total` things that `what` names ("samples").  Anything but 0
 * cancels the call.  The same restriction. */
typedef int tc_on_progress(void *user, const char *what, size_t done, size_t total);

typedef struct tc_ctx_options {
    size_t size;                     /* of this record */
    tc_allocator allocator;          /* both functions NULL: malloc and free */
    tc_on_diagnostic *on_diagnostic; /* or NULL */
    tc_on_progress *on_progress;     /* or NULL */
    void *user;                      /* for both */
    int threads;                     /* at most so many; 0: as many as there are cores */
    int reference_kernels; /* not 0: our own kernels only, the same bits on every machine */
    size_t memory_limit;   /* bytes of what is kept, and again of working space; 0: no limit */
} tc_ctx_options;
TC_SIZED_RECORD(tc_ctx_options)

/* A fresh context, or NULL when not even that fits into memory. */
TC_API TC_MUST_USE tc_ctx *tc_ctx_new(void);

/* The same; options may be NULL.  NULL also comes back when only one of the allocator's functions
 * is there. */
TC_API TC_MUST_USE tc_ctx *tc_ctx_new_with(const tc_ctx_options *options);

/* Everything that was made in it goes, files that were not finished included.  NULL is fine. */
TC_API void tc_ctx_free(tc_ctx *ctx);

/* What may change while it lives; see tc_ctx_options. */
TC_API void tc_ctx_set_threads(tc_ctx *ctx, int threads);
TC_API void tc_ctx_set_reference_kernels(tc_ctx *ctx, int yes);

/* Not 0: files of models and data are mapped, not copied, and stay on the disk until they are
 * looked at.  Somebody who makes such a file shorter meanwhile ends the process with SIGBUS, unless
 * the program has a handler for it; what is written over a file through another one's name (as most
 * tools do) does no harm. */
TC_API void tc_ctx_set_mapping(tc_ctx *ctx, int map);

/* At most so many bytes of what is kept (working space is not counted); 0: no limit. */
TC_API void tc_ctx_set_memory_limit(tc_ctx *ctx, size_t bytes);

/* "NAME=VALUE": a size that the models to be read leave open, such as the length of a sequence; the
 * later one of a name counts.  TC_USAGE and a message when the text is not of that form. */
TC_API TC_MUST_USE tc_status tc_ctx_set_dim(tc_ctx *ctx, const char *text);

/* "INPUT=SIZE,SIZE,...": the shape of an input that the models to be read leave open; the later one
 * of a name counts.  TC_USAGE and a message when the text is not of that form. */
TC_API TC_MUST_USE tc_status tc_ctx_set_shape(tc_ctx *ctx, const char *text);

/* "INPUT=VALUE": an input of the models to be read that is a constant: a number (of every element),
 * true or false, or the name of a .npy.  The program does not have it any more, and branches that it
 * decides are taken while the model is read.  TC_USAGE and a message when the text is not of that
 * form; a name that is no input's is told when a model is read. */
TC_API TC_MUST_USE tc_status tc_ctx_set_input(tc_ctx *ctx, const char *text);

/* Which signature of the TFLite files to be read, or which of their graphs; NULL: the first graph.
 * `method` of tc_model_options says the same for one file. */
TC_API TC_MUST_USE tc_status tc_ctx_set_signature(tc_ctx *ctx, const char *name);

/* ---- while it works ---- */

/* Call off what the context is doing: from any thread, and from signal handlers.  The call comes
 * back with TC_CANCELLED at its next step, and so does every later one until tc_ctx_resume(). */
TC_API void tc_ctx_cancel(tc_ctx *ctx);
TC_API void tc_ctx_resume(tc_ctx *ctx);

/* What has been reported so far, oldest first, the muted ones left out; tc_diagnostic_at() gives
 * NULL past the last. */
TC_API size_t tc_diagnostic_count(const tc_ctx *ctx);
TC_API const tc_diagnostic *tc_diagnostic_at(const tc_ctx *ctx, size_t i);

/* All of it as the command line prints it, one message a line:
 *
 *   file: place: error: what was found, what was expected [id]
 *   file: place: note: what to do
 *
 * Good until the next call with this context. */
TC_API const char *tc_diagnostics(tc_ctx *ctx);

/* A type as text: "f32[1,3,8,8]", "i8[4,4] q(0.05:-3)".  It lives as long as the context. */
TC_API TC_MUST_USE tc_status tc_type_spell(tc_ctx *ctx, const tc_type *type, const char **out);

/* Numbers about a context. */
typedef struct tc_ctx_stats {
    size_t size; /* of this record: set by the caller */
    size_t errors, warnings;
    size_t muted;       /* errors past the first hundred: counted, not kept */
    size_t memory;      /* bytes that are kept now */
    size_t memory_peak; /* the most that were ever kept at once */
} tc_ctx_stats;
TC_SIZED_RECORD(tc_ctx_stats)

TC_API void tc_ctx_get_stats(const tc_ctx *ctx, tc_ctx_stats *out);

#ifdef __cplusplus
}
#endif
#endif
