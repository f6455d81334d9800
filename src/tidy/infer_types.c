/* SPDX-License-Identifier: Apache-2.0 */
/* infer_types.c -- give every value its type. */
#include "tidy.h"

tc_status tc_tidy_infer_types(tc_ctx *ctx, tc_module *module)
{
    return tc_infer_missing(ctx, module);
}
