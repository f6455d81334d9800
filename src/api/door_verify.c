/* SPDX-License-Identifier: Apache-2.0 */
/* door_verify.c -- a model checked against a target's rules, and targets by themselves. */
#include "../target/target.h"

#include "../wire/file.h"
#include "../base/enter.h"
#include "../output/bundle.h"
#include "../drive/model.h"
#include "../cost/stream.h"

tc_status tc_verify_model(tc_ctx *ctx, const tc_model *model, const char *target)
{
    TC_ENTER(ctx, ti_verify_tosa(ctx, model->module, target));
}

static tc_status check(tc_ctx *ctx, const char *target)
{
    tc_target parsed;
    if (!target)
        return ti_usage(ctx, "the target is missing: TOSA-1.0+INT, vgf, ethos-u85-256, cpu ...");
    return ti_target_parse(ctx, target, &parsed);
}

tc_status tc_target_check(tc_ctx *ctx, const char *target)
{
    TC_ENTER(ctx, check(ctx, target));
}

static tc_status verify_streams(tc_ctx *ctx, const char *path, tc_streams_report *out)
{
    tc_streams_report r = {0};
    tc_bytes bytes;
    tc_stream *stream;
    tc_status status = TC_OK;
    path = ti_intern_text(ctx, path);
    TC_TRY(ti_file_read(ctx, path, &bytes));
    if (ti_streams_in(bytes)) {
        r.holds_streams = 1;
        TC_TRY(ti_streams_read(ctx, path, bytes, &stream, &r.streams));
        status = ti_streams_verify(ctx, stream, r.streams, &r.operations);
        r.machine = r.streams ? stream->program.machine->name : NULL;
    }
    ti_fill_record(out, &r, sizeof r);
    return status;
}

tc_status tc_verify_streams(tc_ctx *ctx, const char *path, tc_streams_report *out)
{
    TC_ENTER(ctx, verify_streams(ctx, path, out));
}

tc_status tc_verify_vectors(tc_ctx *ctx, const char *path, tc_vectors_report *out)
{
    TC_ENTER(ctx, ti_bundle_verify(ctx, path, out));
}
