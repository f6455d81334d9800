/* SPDX-License-Identifier: Apache-2.0 */
#include "pickle.h"
tc_status tc_pickle_read(tc_ctx *ctx, tc_arena *arena, const char *file, const char *inside, tc_bytes bytes, tc_map *out)
{
    (void)arena; (void)out;
    if (!bytes.size)
        return TC_OK;
    return tc_unsupported(ctx, &(tc_loc){.file = file, .place = inside}, TC_E_UNSUPPORTED, "pickled weights");
}
