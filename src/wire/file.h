/* SPDX-License-Identifier: Apache-2.0 */
/* file.h -- files in, mapped; files out, all of it or nothing. */
#ifndef TC_FILE_H
#define TC_FILE_H

#include "../base/diag.h"

/* The whole file, read-only, until the context goes.  A regular file is mapped; anything else, a
 * pipe or "-" for standard input, is read to its end.  On failure a message has been given. */
TC_MUST_USE tc_status tc_file_map(tc_ctx *ctx, const char *path, tc_bytes *out);

/* A file being written beside its final name.  Until it is committed the name holds what it held
 * before; a file that is never committed is removed with the context. */
typedef struct tc_file tc_file;

TC_MUST_USE tc_status tc_file_create(tc_ctx *ctx, const char *path, tc_file **out);
TC_MUST_USE tc_status tc_file_append(tc_file *file, const void *data, size_t size);
TC_MUST_USE tc_status tc_file_commit(tc_file *file);

/* The three in one. */
TC_MUST_USE tc_status tc_file_write(tc_ctx *ctx, const char *path, tc_bytes bytes);

/* The folder, made with its parents where they are missing. */
TC_MUST_USE tc_status tc_folder_make(tc_ctx *ctx, const char *path);

/* The names in a folder, sorted by their bytes, without those that begin with a dot. */
TC_MUST_USE tc_status tc_folder_list(tc_ctx *ctx, const char *path, const char ***name,
                                     size_t *count);
bool tc_is_folder(const char *path);

#endif
