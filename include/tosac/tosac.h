/* SPDX-License-Identifier: Apache-2.0 */
/* tosac.h -- the compiler as a library.
 *
 * A context owns everything that is made in it, diagnostics included, until tc_ctx_free().
 * Distinct contexts may be used from distinct threads. */
#ifndef TOSAC_H
#define TOSAC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) || defined(__clang__)
#define TC_API __attribute__((visibility("default")))
#define TC_MUST_USE __attribute__((warn_unused_result))
#else
#define TC_API
#define TC_MUST_USE
#endif

/* What a call came to; the values are the command line's exit codes. */
typedef enum tc_status {
    TC_OK = 0,
    TC_BAD_MODEL = 1,   /* the model or file is turned down */
    TC_USAGE = 2,       /* an option or argument is mistaken */
    TC_UNSUPPORTED = 3, /* fine, and beyond us today */
    TC_TOOL = 4,        /* an outside tool failed */
    TC_NO_MEMORY = 5,   /* memory ran out; the context can only be freed */
    TC_BUG = 70         /* our own mistake */
} tc_status;

/* A span of bytes; whoever hands it out says who owns it. */
typedef struct tc_bytes {
    const uint8_t *data;
    size_t size;
} tc_bytes;

typedef struct tc_ctx tc_ctx;

/* A fresh context, or NULL when not even that fits into memory. */
TC_API TC_MUST_USE tc_ctx *tc_ctx_new(void);
TC_API void tc_ctx_free(tc_ctx *ctx);

/* Everything reported so far, one message a line, oldest first; lives as long as the context. */
TC_API const char *tc_diagnostics(tc_ctx *ctx);

/* "tosac 0.1.0" */
TC_API const char *tc_version(void);

#ifdef __cplusplus
}
#endif
#endif
