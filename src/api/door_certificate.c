/* SPDX-License-Identifier: Apache-2.0 */
/* door_certificate.c -- what was proved about the files that were made. */
#include "../base/enter.h"
#include "../certificate/certificate.h"
#include "../wire/file.h"

tc_status tc_compiled_certificate(tc_ctx *ctx, const tc_compiled *compiled, tc_certificate *out)
{
    TC_ENTER(ctx, ti_certificate(ctx, compiled, out));
}

static tc_status write_all(tc_ctx *ctx, const tc_compiled *c, const char *path)
{
    tc_certificate r = tc_certificate_default();
    const char *name = ti_path_last(path), *dot = strrchr(name, '.');
    int stem = (int)(dot && dot > name ? dot - path : (ptrdiff_t)strlen(path));
    TC_TRY(ti_certificate(ctx, c, &r));
    TC_TRY(ti_file_write_two(ctx, ti_text_format(&ctx->arena, "%.*s" TC_CERTIFICATE_PROGRAM, stem, path), r.program,
                             ti_text_format(&ctx->arena, "%.*s" TC_CERTIFICATE_SAMPLES, stem, path), r.samples));
    return ti_file_write(ctx, path, r.json);
}

tc_status tc_compiled_write_certificate(tc_ctx *ctx, const tc_compiled *compiled, const char *path)
{
    TC_ENTER(ctx, write_all(ctx, compiled, path));
}
