/* SPDX-License-Identifier: Apache-2.0 */
/* door_show.c -- files and profiles, as pages for people or as JSON. */
#include "../base/enter.h"
#include "../cost/profile.h"
#include "../show/inspect.h"

tc_status tc_inspect_file(tc_ctx *ctx, const char *path, tc_form form, const char **out)
{
    TC_ENTER(ctx, ti_show_file(ctx, path, form, out));
}

tc_status tc_disassemble_file(tc_ctx *ctx, const char *path, tc_form form, const char **out)
{
    TC_ENTER(ctx, ti_show_streams(ctx, path, form, out));
}

tc_status tc_inspect_bytes(tc_ctx *ctx, const char *name, tc_bytes bytes, tc_form form,
                           const char **out)
{
    TC_ENTER(ctx, ti_show_bytes(ctx, name, bytes, form, out));
}

tc_status tc_profile_report(tc_ctx *ctx, const tc_profile *profile, tc_profile_by by, size_t most,
                            tc_form form, const char **out)
{
    TC_ENTER(ctx, ti_show_profile(ctx, profile, by, most, form, out));
}
