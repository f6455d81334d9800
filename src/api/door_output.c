/* SPDX-License-Identifier: Apache-2.0 */
/* door_output.c -- the files that come out. */
#include "../base/enter.h"
#include "../output/output_files.h"

const char *tc_output_name(tc_output kind)
{
    const tc_output_kind *k = ti_output_of(kind);
    return k ? k->name : NULL;
}

const char *tc_output_extension(tc_output kind)
{
    const tc_output_kind *k = ti_output_of(kind);
    return k ? k->extension : NULL;
}

static tc_status make_in_memory(tc_ctx *ctx, tc_compiled *c, tc_output kind, size_t *count)
{
    TC_TRY(ti_make_files(ctx, c, kind, NULL));
    if (count)
        *count = c->written.n_file;
    return TC_OK;
}

tc_status tc_compiled_make(tc_ctx *ctx, tc_compiled *compiled, tc_output kind, size_t *count)
{
    TC_ENTER(ctx, make_in_memory(ctx, compiled, kind, count));
}

tc_bytes tc_compiled_bytes(const tc_compiled *compiled, size_t i)
{
    return i < compiled->written.n_file ? compiled->written.file[i] : (tc_bytes){NULL, 0};
}

tc_status tc_compiled_write(tc_ctx *ctx, tc_compiled *compiled, tc_output kind, const char *path)
{
    TC_ENTER(ctx, ti_write_files(ctx, compiled, kind, path));
}

static tc_status set_name(tc_ctx *ctx, tc_compiled *c, const char *name)
{
    c->written.path = ti_intern_text(ctx, name);
    return TC_OK;
}

tc_status tc_compiled_set_name(tc_ctx *ctx, tc_compiled *compiled, const char *name)
{
    TC_ENTER(ctx, set_name(ctx, compiled, name));
}
