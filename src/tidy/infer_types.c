/* SPDX-License-Identifier: Apache-2.0 */
/* infer_types.c -- give every value its type. */
#include "tidy.h"

tc_status ti_tidy_infer_types(tc_ctx *ctx, tc_module *module)
{
    return ti_infer_missing(ctx, module);
}
