/* SPDX-License-Identifier: Apache-2.0 */
/* context.h -- the context owns all memory and collects messages.
 *
 * A context owns everything that is made in it (models, programs, results, messages) until
 * tc_ctx_free(); nothing else is freed by the caller.  A context is cheap: make one for each job.
 * Different threads may use different contexts; one context is used by one thread at a time, except
 * for tc_ctx_cancel().
 *
 * When memory runs out, the call returns TC_NO_MEMORY.  The context is then incomplete: every later
 * call with it returns TC_NO_MEMORY too, and it can only be freed. */
#ifndef TOSAC_CONTEXT_H
#define TOSAC_CONTEXT_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tc_ctx tc_ctx;

/* ---- messages ---- */

/* A source location in the model.  Any field may be NULL. */
typedef struct tc_loc {
    const char *file;        /* the file as the user named it */
    const char *place;       /* "attention.py:41", "7:14", "byte 1042" */
    const char *node;        /* PyTorch's node name */
    const char *target;      /* "aten.conv2d.default" */
    const char *module;      /* "layers.0.attn": the innermost module's path */
    const char *module_type; /* "torch.nn.modules.conv.Conv2d" */
} tc_loc;

typedef enum tc_severity {
    TC_SEVERITY_NOTE = 0, /* useful information without an error */
    TC_SEVERITY_WARNING = 1,
    TC_SEVERITY_ERROR = 2
} tc_severity;

/* One message with its notes.  It lives as long as the context. */
typedef struct tc_diagnostic {
    tc_severity severity;
    const char *id;          /* a stable identifier: "shape", "io"; doc/errors.md */
    tc_status status;        /* errors: what the call returns if nothing worse follows */
    const tc_loc *loc;       /* NULL: about the call itself, not about a file */
    const char *text;        /* one line, without location and id */
    const char *const *note; /* what to do about it, one line each */
    size_t n_note;
} tc_diagnostic;

/* ---- options ---- */

/* Where memory comes from.  allocate: size bytes at a multiple of align (a power of two), or NULL
 * when there are none; release: a block of that size back.  Both may be called from several threads
 * at once.  zlib and the C library allocate their own memory elsewhere. */
typedef struct tc_allocator {
    void *(*allocate)(void *user, size_t size, size_t align);
    void (*release)(void *user, void *block, size_t size);
    void *user;
} tc_allocator;

/* Called for each complete message: before the next one, or when the call ends.  It must not call
 * the library with the same context, except tc_ctx_cancel(). */
typedef void tc_on_diagnostic(void *user, const tc_diagnostic *diagnostic);

/* Progress: `done` of `total` items of the kind `what` ("samples").  A result other than 0 cancels
 * the call.  The same restriction. */
typedef int tc_on_progress(void *user, const char *what, size_t done, size_t total);

typedef struct tc_ctx_options {
    size_t size;                     /* of this record */
    tc_allocator allocator;          /* both functions NULL: malloc and free */
    tc_on_diagnostic *on_diagnostic; /* or NULL */
    tc_on_progress *on_progress;     /* or NULL */
    void *user;                      /* for both */
    int threads;                     /* the most threads; 0: as many as cores */
    bool reference_kernels;          /* the plain kernels alone: slower, for checks */
    size_t memory_limit;             /* bytes for results, and as many again for working space;
                                        0: no limit */
} tc_ctx_options;
TC_SIZED_RECORD(tc_ctx_options)

/* A new context; NULL: out of memory. */
TC_API TC_MUST_USE tc_ctx *tc_ctx_new(void);

/* The same with options (NULL: the defaults).  NULL also when only one of the allocator's two
 * functions is set. */
TC_API TC_MUST_USE tc_ctx *tc_ctx_new_with(const tc_ctx_options *options);

/* Frees the context and everything made in it; removes unfinished files.  NULL is allowed. */
TC_API void tc_ctx_free(tc_ctx *ctx);

/* Options that may change later; see tc_ctx_options. */
TC_API void tc_ctx_set_threads(tc_ctx *ctx, int threads);
TC_API void tc_ctx_set_reference_kernels(tc_ctx *ctx, bool yes);

/* true: model and data files are mapped, not copied.  Truncating such a file meanwhile ends the
 * process with SIGBUS, unless the program handles it; replacing the file by renaming a new one (as
 * most tools do) is harmless. */
TC_API void tc_ctx_set_mapping(tc_ctx *ctx, bool map);

/* The most bytes for results (working space is not counted); 0: no limit. */
TC_API void tc_ctx_set_memory_limit(tc_ctx *ctx, size_t bytes);

/* "NAME=VALUE": a dynamic size of the models to be read, such as a sequence length; the last one of
 * a name wins.  TC_USAGE and a message when the text has another form. */
TC_API TC_MUST_USE tc_status tc_ctx_set_dim(tc_ctx *ctx, const char *text);

/* "INPUT=SIZE,SIZE,...": the shape of a dynamic input of the models to be read; the last one of a
 * name wins.  TC_USAGE and a message when the text has another form. */
TC_API TC_MUST_USE tc_status tc_ctx_set_shape(tc_ctx *ctx, const char *text);

/* "INPUT=VALUE": makes an input of the models to be read a constant: a number (for every element),
 * true or false, or the name of a .npy.  The program no longer has this input, and branches that
 * depend on it are resolved while the model is read.  TC_USAGE and a message when the text has
 * another form; an unknown input is an error when a model is read. */
TC_API TC_MUST_USE tc_status tc_ctx_set_input(tc_ctx *ctx, const char *text);

/* The signature or graph of the TFLite files to be read; NULL: the first graph.  `method` of
 * tc_model_options does the same for one file. */
TC_API TC_MUST_USE tc_status tc_ctx_set_signature(tc_ctx *ctx, const char *name);

/* How TFLite files with int8 weights and float activations are read.  "keep": as the runtime
 * computes them, which makes codes of the activations when it runs; "real": as a float model, the
 * weights being the numbers that they stand for; NULL: kept, but real where the model is quantized.
 * TC_USAGE and a message for another word. */
TC_API TC_MUST_USE tc_status tc_ctx_set_dynamic_range(tc_ctx *ctx, const char *how);

/* true: numbers of data that an input's float type does not have become the nearest that it has
 * (float64 arrays for a float32 input); false, as at first: they are an error. */
TC_API TC_MUST_USE tc_status tc_ctx_set_round(tc_ctx *ctx, bool yes);

/* ---- cancelling, messages ---- */

/* Cancels the running call: from any thread, and from signal handlers.  The call returns
 * TC_CANCELLED soon, and so does every later one until tc_ctx_resume(). */
TC_API void tc_ctx_cancel(tc_ctx *ctx);
TC_API void tc_ctx_resume(tc_ctx *ctx);

/* The messages so far, oldest first, without muted ones; tc_diagnostic_at() returns NULL past the
 * last. */
TC_API size_t tc_diagnostic_count(const tc_ctx *ctx);
TC_API const tc_diagnostic *tc_diagnostic_at(const tc_ctx *ctx, size_t i);

/* All messages as the command line prints them, one a line:
 *
 *   file: location: error: what was found, what was expected [id]
 *   file: location: note: what to do
 *
 * Valid until the next call with this context. */
TC_API const char *tc_diagnostics(tc_ctx *ctx);

/* A type as text: "f32[1,3,8,8]", "i8[4,4] q(0.05:-3)".  It lives as long as the context. */
TC_API TC_MUST_USE tc_status tc_type_spell(tc_ctx *ctx, const tc_type *type, const char **out);

/* Statistics of a context. */
typedef struct tc_ctx_stats {
    size_t size; /* of this record: set by the caller */
    size_t errors, warnings;
    size_t muted;       /* errors after the first hundred: counted, not stored */
    size_t memory;      /* bytes in use now */
    size_t memory_peak; /* the most bytes ever in use */
} tc_ctx_stats;
TC_SIZED_RECORD(tc_ctx_stats)

TC_API void tc_ctx_get_stats(const tc_ctx *ctx, tc_ctx_stats *out);

#ifdef __cplusplus
}
#endif
#endif
