/* SPDX-License-Identifier: Apache-2.0 */
/* saved.c -- the public functions for reports that were written before: FILE.json, or the JSON that
 * a page holds. */
#include "saved.h"

#include "../base/enter.h"
#include "../wire/file.h"

/* ---- reading ---- */

static const char begin_mark[] = "<script id=\"data\" type=\"application/json\">",
                  end_mark[] = "</script>";

static size_t find(tc_bytes text, size_t from, const char *what)
{
    size_t n = strlen(what);
    for (; from + n <= text.size; from++)
        if (text.data[from] == (uint8_t)*what && memcmp(text.data + from, what, n) == 0)
            return from;
    return SIZE_MAX;
}

/* The JSON inside a page; else all of it. */
static tc_bytes data_of(tc_bytes file)
{
    size_t from = file.size && file.data[0] == '<' ? find(file, 0, begin_mark) : SIZE_MAX;
    if (from == SIZE_MAX)
        return file;
    from += strlen(begin_mark);
    size_t end = find(file, from, end_mark);
    return (tc_bytes){file.data + from, (end == SIZE_MAX ? file.size : end) - from};
}

static bool is_text(tc_ctx *ctx, const tc_json *json, const char *want)
{
    tc_str found = ti_json_text(&ctx->arena, json);
    return found.p && found.n == strlen(want) && memcmp(found.p, want, found.n) == 0;
}

tc_status ti_saved_read(tc_ctx *ctx, const char *path, tc_bytes file, tc_saved_report **out)
{
    tc_saved_report *r = tc_new(&ctx->arena, tc_saved_report);
    const char *reason = NULL;
    size_t at = 0;
    r->path = ti_intern_text(ctx, path);
    r->text = data_of(file);
    r->json = ti_json_parse(&ctx->arena, r->text, &reason, &at);
    const tc_loc loc = {.file = r->path};
    int64_t version = 0;
    if (!r->json || !is_text(ctx, ti_json_get(r->json, "schema"), "tosac-report") ||
        !ti_json_is(ti_json_get(r->json, "nodes"), TC_JSON_LIST)) {
        tc_status status = ti_error(ctx, &loc, TC_E_DATA, "this is not a report%s%s",
                                    reason ? ": " : "", reason ? reason : "");
        ti_note(ctx, NULL, "--report FILE.json or --report FILE.html writes one");
        return status;
    }
    if (!ti_json_i64(ti_json_get(r->json, "schema_version"), &version) ||
        version != TC_REPORT_SCHEMA)
        return ti_error(ctx, &loc, TC_E_DATA, "a report of schema version %lld; %d is understood",
                        (long long)version, TC_REPORT_SCHEMA);
    *out = r;
    return TC_OK;
}

static tc_status read_report(tc_ctx *ctx, const char *path, tc_saved_report **out)
{
    tc_bytes file;
    TC_TRY(ti_file_read(ctx, path, &file));
    return ti_saved_read(ctx, path, file, out);
}

tc_status tc_report_read(tc_ctx *ctx, const char *path, tc_saved_report **out)
{
    TC_ENTER(ctx, read_report(ctx, path, out));
}

/* ---- telling ---- */

static tc_status tell(tc_ctx *ctx, const tc_saved_report *report, const tc_saved_report *before,
                      tc_form form, const char **out)
{
    tc_buf buf;
    tc_changes changes;
    ti_buf_init(&buf, &ctx->arena);
    if (form != TC_FORM_TEXT && form != TC_FORM_JSON)
        return ti_usage(ctx, "unknown form of report %d", (int)form);
    if (before)
        ti_changes_find(ctx, before, report, &changes);
    if (before && form == TC_FORM_TEXT)
        ti_changes_text(ctx, &changes, &buf);
    else if (before)
        ti_changes_json(&changes, false, &buf);
    else if (form == TC_FORM_TEXT)
        ti_saved_text(ctx, report, &buf);
    else
        ti_buf_put(&buf, report->text.data, report->text.size);
    ti_buf_u8(&buf, 0);
    *out = (const char *)buf.data;
    return TC_OK;
}

tc_status tc_report_tell(tc_ctx *ctx, const tc_saved_report *report, const tc_saved_report *before,
                         tc_form form, const char **out)
{
    TC_ENTER(ctx, tell(ctx, report, before, form, out));
}

/* The second report with what changed as one more member, in front of its last brace. */
static tc_bytes with_changes(tc_ctx *ctx, const tc_saved_report *before,
                             const tc_saved_report *report)
{
    tc_buf json;
    tc_changes changes;
    size_t end = report->text.size;
    while (end && report->text.data[end - 1] != '}')
        end--;
    ti_changes_find(ctx, before, report, &changes);
    ti_buf_init(&json, &ctx->arena);
    ti_buf_put(&json, report->text.data, end ? end - 1 : 0);
    ti_buf_text(&json, ",\"changes\":");
    ti_changes_json(&changes, true, &json);
    ti_buf_text(&json, "}");
    return (tc_bytes){json.data, json.size};
}

static tc_status make_page(tc_ctx *ctx, const tc_saved_report *report,
                           const tc_saved_report *before, tc_bytes *out)
{
    tc_buf buf;
    ti_buf_init(&buf, &ctx->arena);
    tc_str file = ti_json_text(&ctx->arena, ti_json_get(ti_json_get(report->json, "model"), "file"));
    ti_page_make(file.p ? ti_text_copy(&ctx->arena, file) : "model",
                 before ? with_changes(ctx, before, report) : report->text, &buf);
    *out = (tc_bytes){buf.data, buf.size};
    return TC_OK;
}

tc_status tc_report_page(tc_ctx *ctx, const tc_saved_report *report, const tc_saved_report *before,
                         tc_bytes *out)
{
    TC_ENTER(ctx, make_page(ctx, report, before, out));
}

static tc_status make_csv(tc_ctx *ctx, const tc_saved_report *report, const tc_saved_report *before,
                          size_t i, const char **name, tc_bytes *out)
{
    tc_buf buf;
    tc_changes changes;
    ti_buf_init(&buf, &ctx->arena);
    if (before)
        ti_changes_find(ctx, before, report, &changes);
    bool there = before ? ti_changes_csv(ctx, &changes, i, name, &buf)
                        : ti_saved_csv(ctx, report, i, name, &buf);
    if (!there)
        *name = NULL;
    *out = (tc_bytes){buf.data, buf.size};
    return TC_OK;
}

tc_status tc_report_csv(tc_ctx *ctx, const tc_saved_report *report, const tc_saved_report *before,
                        size_t i, const char **name, tc_bytes *out)
{
    TC_ENTER(ctx, make_csv(ctx, report, before, i, name, out));
}
