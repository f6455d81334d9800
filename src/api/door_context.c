/* SPDX-License-Identifier: Apache-2.0 */
/* door_context.c -- what callers do with a context. */
#include "../base/enter.h"
#include "../base/version.h"
#include "../read/read.h"

const char *tc_version(void)
{
    return TC_MADE_BY;
}

int tc_version_number(void)
{
    return TOSAC_VERSION_NUMBER;
}

const char *tc_status_text(tc_status status)
{
    static const struct {
        tc_status status;
        const char *text;
    } known[] = {
        {TC_OK, "all is well"},
        {TC_BAD_MODEL, "the model or file is not valid"},
        {TC_USAGE, "an option or argument is wrong"},
        {TC_UNSUPPORTED, "the model is valid but not supported yet"},
        {TC_TOOL, "a library or device that is needed is missing"},
        {TC_NO_MEMORY, "out of memory"},
        {TC_CANCELLED, "the work was cancelled"},
        {TC_BUG, "a bug in tosac"},
    };
    for (size_t i = 0; i < TC_COUNT(known); i++)
        if (known[i].status == status)
            return known[i].text;
    return "an unknown status";
}

/* ---- settings and counters ---- */

void tc_ctx_set_mapping(tc_ctx *ctx, bool map)
{
    ctx->may_map = map != 0;
}

void tc_ctx_set_threads(tc_ctx *ctx, int threads)
{
    ctx->threads = threads;
}

void tc_ctx_set_reference_kernels(tc_ctx *ctx, bool yes)
{
    ctx->reference_kernels = yes != 0;
}

void tc_ctx_set_memory_limit(tc_ctx *ctx, size_t bytes)
{
    ctx->arena.limit = bytes;
}

tc_status tc_ctx_set_dim(tc_ctx *ctx, const char *text)
{
    TC_ENTER(ctx, ti_read_dim(ctx, ti_intern_text(ctx, text)));
}

tc_status tc_ctx_set_shape(tc_ctx *ctx, const char *text)
{
    TC_ENTER(ctx, ti_read_shape(ctx, ti_intern_text(ctx, text)));
}

tc_status tc_ctx_set_input(tc_ctx *ctx, const char *text)
{
    TC_ENTER(ctx, ti_read_set(ctx, ti_intern_text(ctx, text)));
}

static tc_status set_signature(tc_ctx *ctx, const char *name)
{
    ti_reading(ctx)->signature = ti_intern_text(ctx, name);
    return TC_OK;
}

tc_status tc_ctx_set_signature(tc_ctx *ctx, const char *name)
{
    TC_ENTER(ctx, set_signature(ctx, name));
}

static tc_status set_dynamic_range(tc_ctx *ctx, const char *how)
{
    bool keep = how && ti_text_eq(how, "keep"), real = how && ti_text_eq(how, "real");
    if (how && !keep && !real)
        return ti_usage(ctx, "dynamic range '%s': expected keep or real", how);
    ti_reading(ctx)->dynamic_range = keep ? TC_RANGE_KEEP : real ? TC_RANGE_REAL : TC_RANGE_EITHER;
    return TC_OK;
}

tc_status tc_ctx_set_dynamic_range(tc_ctx *ctx, const char *how)
{
    TC_ENTER(ctx, set_dynamic_range(ctx, how));
}

static tc_status set_round(tc_ctx *ctx, bool yes)
{
    ti_reading(ctx)->round = yes;
    return TC_OK;
}

tc_status tc_ctx_set_round(tc_ctx *ctx, bool yes)
{
    TC_ENTER(ctx, set_round(ctx, yes));
}

void tc_ctx_resume(tc_ctx *ctx)
{
    atomic_store(&ctx->cancelled, 0);
}

void tc_ctx_get_stats(const tc_ctx *ctx, tc_ctx_stats *out)
{
    ti_fill_record(out,
                   &(tc_ctx_stats){.errors = ctx->n_error,
                                   .warnings = ctx->n_warning,
                                   .muted = ctx->n_muted,
                                   .memory = ctx->arena.used,
                                   .memory_peak = ctx->arena.peak},
                   sizeof *out);
}

/* ---- messages ---- */

static tc_status end_messages(tc_ctx *ctx, const char **out)
{
    *out = ti_buf_cstr(&ctx->messages);
    return TC_OK;
}

static tc_status read_messages(tc_ctx *ctx, const char **out)
{
    TC_ENTER(ctx, end_messages(ctx, out));
}

const char *tc_diagnostics(tc_ctx *ctx)
{
    const char *text;
    int cancelled = atomic_exchange(&ctx->cancelled, 0); /* they can be read anyway */
    tc_status status = read_messages(ctx, &text);
    if (cancelled)
        tc_ctx_cancel(ctx);
    return status == TC_OK
               ? text
               : "tosac: error: out of memory: the model and its data need more than there is "
                 "[memory]\n";
}
