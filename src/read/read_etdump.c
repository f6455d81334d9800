/* SPDX-License-Identifier: Apache-2.0 */
/* read_etdump.c -- see read_etdump.h; every number is checked before it is used. */
#include "read_etdump.h"

#include "../wire/flatbuf.h"

enum {
    ED_RUNS = 1,

    ED_RUN_NAME = 0,
    ED_RUN_VECTOR = 1,
    ED_RUN_EVENTS = 3,

    ED_EVENT_PROFILE = 0, /* the others are allocations and values */

    ED_PROFILE_NAME = 0,
    ED_PROFILE_CHAIN = 1,
    ED_PROFILE_STEP = 2,
    ED_PROFILE_ID = 3,
    ED_PROFILE_ID_NAME = 4,
    ED_PROFILE_BEGIN = 6,
    ED_PROFILE_END = 7
};

static const char identifier[] = "ED00";

static bool is_at(tc_bytes b, size_t at)
{
    return b.size >= at + 4 && memcmp(b.data + at, identifier, 4) == 0;
}

static const char *text_of(tc_ctx *ctx, tc_str text)
{
    return text.n ? ti_intern(ctx, text) : NULL;
}

static tc_etdump_event event_of(tc_ctx *ctx, tc_fb_table t)
{
    return (tc_etdump_event){.name = ti_intern(ctx, ti_fb_string(t, ED_PROFILE_NAME)),
                             .chain = ti_fb_i32(t, ED_PROFILE_CHAIN, 0),
                             .step = ti_fb_i32(t, ED_PROFILE_STEP, -1),
                             .id = ti_fb_i32(t, ED_PROFILE_ID, -1),
                             .id_name = text_of(ctx, ti_fb_string(t, ED_PROFILE_ID_NAME)),
                             .begin = ti_fb_u64(t, ED_PROFILE_BEGIN, 0),
                             .end = ti_fb_u64(t, ED_PROFILE_END, 0)};
}

static void read_run(tc_ctx *ctx, tc_fb_table t, tc_etdump_run *out)
{
    tc_fb_vector list = ti_fb_list(t, ED_RUN_EVENTS, 4);
    out->name = ti_intern(ctx, ti_fb_string(t, ED_RUN_NAME));
    out->vector = ti_fb_i32(t, ED_RUN_VECTOR, -1);
    out->event = tc_new_n(&ctx->arena, tc_etdump_event, list.n + 1);
    for (size_t i = 0; i < list.n; i++) {
        tc_fb_table one = ti_fb_child(ti_fb_list_table(list, i), ED_EVENT_PROFILE);
        if (one.at)
            out->event[out->n_event++] = event_of(ctx, one);
    }
}

tc_status ti_etdump_read(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_etdump *out)
{
    tc_fb fb;
    const tc_loc loc = {.file = file};
    bool sized = !is_at(bytes, 4) && is_at(bytes, 8);
    *out = (tc_etdump){0};
    if (!sized && !is_at(bytes, 4))
        return ti_error(ctx, &loc, TC_E_FORMAT, "this is no ETDump: \"%s\" is missing", identifier);
    tc_bytes body = sized ? (tc_bytes){bytes.data + 4, bytes.size - 4} : bytes;
    ti_fb_init(&fb, body, identifier);
    tc_fb_vector list = ti_fb_list(ti_fb_root(&fb), ED_RUNS, 4);
    out->run = tc_new_n(&ctx->arena, tc_etdump_run, list.n + 1);
    out->n_run = list.n;
    for (size_t i = 0; i < list.n && !fb.error; i++)
        read_run(ctx, ti_fb_list_table(list, i), &out->run[i]);
    if (fb.error)
        return ti_error(ctx, &(tc_loc){.file = file, .place = ti_text_format(&ctx->arena, "byte %zu", fb.error_at + 4 * sized)},
                        TC_E_FORMAT, "%s", fb.error);
    return TC_OK;
}
