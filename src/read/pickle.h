/* SPDX-License-Identifier: Apache-2.0 */
/* pickle.h -- files of torch.save that hold a dictionary of tensors, read as data.
 *
 * Only functions that rebuild plain tensors are supported; any other is an error with its name.
 * Nothing is ever executed. */
#ifndef TC_PICKLE_H
#define TC_PICKLE_H

#include "../num/type.h"

/* A tensor as stored: a view of a storage, offset and strides in elements. */
typedef struct tc_stored {
    tc_dtype dtype;
    int32_t rank;
    int64_t dim[TC_MAX_RANK], stride[TC_MAX_RANK];
    int64_t offset;
    tc_bytes storage;
    bool swapped; /* the bytes of an element are in the other order */
} tc_stored;

/* The tensors of one torch.save file by name (tc_stored, in the arena); an empty file has none.
 * `inside` is the archive's member that the file is, for messages. */
TC_MUST_USE tc_status ti_pickle_read(tc_ctx *ctx, tc_arena *arena, const char *file,
                                     const char *inside, tc_bytes bytes, tc_map *out);

#endif
