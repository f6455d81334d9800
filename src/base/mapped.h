/* SPDX-License-Identifier: Apache-2.0 */
/* mapped.h -- files that stay where they are: their bytes are memory's only while they are looked
 * at.  For callers who allow it (tc_ctx_set_mapping): see doc/decisions/010-mapped-files.md. */
#ifndef TC_MAPPED_H
#define TC_MAPPED_H

#include "diag.h"

/* The first `size` bytes of a regular file until the context goes, or NULL: read it then. */
const uint8_t *ti_mapped_open(tc_ctx *ctx, int fd, size_t size);

/* These bytes are not needed for a while: if they are of a mapped file, their pages are released; a
 * later access reads the same.  Thread-safe. */
void ti_mapped_forget(const tc_ctx *ctx, const void *data, size_t size);

/* The same of all mapped files: what was read of them is elsewhere by now, mostly. */
void ti_mapped_rest(const tc_ctx *ctx);

/* These bytes of the context's own memory are unused from now on: whole pages of them go back,
 * where the memory is the system's.  They are zeros from then on. */
void ti_pages_drop(const tc_ctx *ctx, const void *data, size_t size);

/* A large piece of work is over: memory cached by the system's allocator is returned, too. */
void ti_memory_trim(const tc_ctx *ctx);

#endif
