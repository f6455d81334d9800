/* SPDX-License-Identifier: Apache-2.0 */
/* measured_page.c -- measured cycles into a report's page that compile wrote: the page has a place for them,
 * which is found by its mark; the rest of the page stays as it is. */
#include "report.h"

#include "../base/enter.h"
#include "../base/json_out.h"
#include "../cost/profile.h"
#include "../wire/file.h"

static const char MARK[] = "<script id=\"measured\" type=\"application/json\">";

/* Where a text is from `from` on, or the end. */
static size_t find(tc_bytes page, size_t from, const char *text)
{
    size_t n = strlen(text);
    for (; from + n <= page.size; from++)
        if (memcmp(page.data + from, text, n) == 0)
            return from;
    return page.size;
}

static void put_counted(const tc_counted *c, tc_json_out *out)
{
    ti_json_open(out, NULL, '{');
    tc_json_put(out, TC_J("file", c->file), TC_J("jobs", c->jobs), TC_J("cycles", c->cycles),
                TC_J("expected_cycles", c->expected));
    ti_json_open(out, "nodes", '{');
    for (size_t i = 0; i < c->n_row[TC_PROFILE_BY_NODE]; i++)
        ti_json_put_real(out, c->row[TC_PROFILE_BY_NODE][i].name, c->row[TC_PROFILE_BY_NODE][i].measured);
    ti_json_close(out, '}');
    ti_json_close(out, '}');
}

/* false: it is no such page. */
static bool put_measured(tc_bytes page, const tc_counted *counted, tc_buf *out)
{
    size_t from = find(page, 0, MARK), to = find(page, from, "</script>");
    if (to == page.size)
        return false;
    from += sizeof MARK - 1;
    tc_buf json;
    ti_buf_init(&json, out->arena);
    put_counted(counted, &(tc_json_out){.to = &json});
    ti_buf_put(out, page.data, from);
    ti_page_put_json((tc_bytes){json.data, json.size}, out);
    ti_buf_put(out, page.data + to, page.size - to);
    return true;
}

static tc_status into_page(tc_ctx *ctx, const tc_profile *p, const char *path)
{
    const tc_loc loc = {.file = path};
    tc_bytes page;
    tc_buf made;
    if (!p->counted)
        return ti_usage(ctx, "only what was measured goes into a report: the profile has no log of a counter");
    TC_TRY(ti_file_read(ctx, path, &page));
    ti_buf_init(&made, &ctx->arena);
    if (!put_measured(page, p->counted, &made))
        return ti_error(ctx, &loc, TC_E_FORMAT, "this is no report's page with a place for measured cycles: "
                                                "tosac compile --report FILE.html writes one");
    return ti_file_rewrite(ctx, path, (tc_bytes){made.data, made.size});
}

tc_status tc_profile_into_page(tc_ctx *ctx, const tc_profile *profile, const char *path)
{
    TC_ENTER(ctx, into_page(ctx, profile, path));
}
