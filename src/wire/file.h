/* SPDX-License-Identifier: Apache-2.0 */
/* file.h -- files in, whole or in parts; files out, all of it or nothing. */
#ifndef TC_FILE_H
#define TC_FILE_H

#include "../base/diag.h"

/* The whole file, until the context is freed: a regular file, a pipe, or "-" for standard input,
 * from its current position to its end.  It is copied, unless the context's owner allows mapping
 * (base/mapped.h): if the file is truncated meanwhile this is reported, not fatal.  On failure a
 * message has been given. */
TC_MUST_USE tc_status ti_file_read(tc_ctx *ctx, const char *path, tc_bytes *out);

/* A file read in parts on demand, for what may be larger than the memory; closed with the context.
 * What is not a regular file is read to its end at once. */
typedef struct tc_input tc_input;

TC_MUST_USE tc_status ti_input_open(tc_ctx *ctx, const char *path, tc_input **out);
size_t ti_input_size(const tc_input *in);
int ti_input_fd(const tc_input *in); /* -1: all of it is in memory */
TC_MUST_USE tc_status ti_input_read(tc_input *in, uint64_t at, size_t size, void *out);
/* The same in place in a mapped file; else a copy that lives as long as the context. */
TC_MUST_USE tc_status ti_input_part(tc_input *in, uint64_t at, size_t size, tc_bytes *out);
TC_MUST_USE tc_status ti_input_all(tc_input *in, tc_bytes *out); /* as ti_file_read() */

/* Whether the path leads to a file that was read in this context. */
bool ti_file_is_taken(tc_ctx *ctx, const char *path);

/* A file being written.  Until it is committed the name holds what it held before; a file that is
 * never committed is removed with the context.  A file that was read is not written over. */
typedef struct tc_file tc_file;

TC_MUST_USE tc_status ti_file_create(tc_ctx *ctx, const char *path, tc_file **out);
TC_MUST_USE tc_status ti_file_append(tc_file *file, const void *data, size_t size);
TC_MUST_USE tc_status ti_file_commit(tc_file *file);

/* The three in one. */
TC_MUST_USE tc_status ti_file_write(tc_ctx *ctx, const char *path, tc_bytes bytes);

/* The same over a file that was read for this. */
TC_MUST_USE tc_status ti_file_rewrite(tc_ctx *ctx, const char *path, tc_bytes bytes);

/* Two that belong together: both, or neither. */
TC_MUST_USE tc_status ti_file_write_two(tc_ctx *ctx, const char *path, tc_bytes bytes,
                                        const char *beside, tc_bytes more);

/* The folder, made with its parents where they are missing. */
TC_MUST_USE tc_status ti_folder_make(tc_ctx *ctx, const char *path);

/* The names in a folder, sorted by their bytes, without those that begin with a dot. */
TC_MUST_USE tc_status ti_folder_list(tc_ctx *ctx, const char *path, const char ***name,
                                     size_t *count);
bool ti_is_folder(const char *path);

/* "cannot WHAT: " and errno's words. */
tc_status ti_io_error(tc_ctx *ctx, const char *path, const char *what);

#endif
