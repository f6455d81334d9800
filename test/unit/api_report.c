/* SPDX-License-Identifier: Apache-2.0 */
/* api_report.c -- reports that were written before, by the public header: read back, compared, as CSV and
 * as a page; and files that are none. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tosac/tosac.h"

#define SUMMARY(cycles, sqnr)                                                                      \
    "{\"target\": \"t\", \"cycles\": " cycles ", \"seconds\": 0.5, \"sqnr_integer_db\": " sqnr ", \"operators\": 2}"
/* A report, behind its first brace. */
#define REPORT(summary, nodes)                                                                     \
    "\"schema\": \"tosac-report\", \"schema_version\": 1, \"model\": {\"file\": \"m<1>.pt2\"}, "       \
    "\"summary\": " summary ", \"nodes\": [" nodes "]}\n"
#define NODE(name, module, cycles)                                                                 \
    "{\"name\": \"" name "\", \"op\": \"conv\", \"module\": \"" module "\", \"region\": 0, \"cycles\": " cycles  \
    ", \"typed\": \"i8[1,2] q(0.5:0)\", \"error_integer\": {\"sqnr_db\": \"exact\"}, \"why\": \"a, \\\"b\\\"\", \"in\": []}"

/* A file of that content, read as a report. */
static tc_status read_text(tc_ctx *ctx, const char *text, tc_saved_report **out)
{
    char path[] = "/tmp/tosac-report-XXXXXX";
    int fd = mkstemp(path);
    size_t n = strlen(text);
    CHECK(fd >= 0 && write(fd, text, n) == (ssize_t)n && close(fd) == 0);
    tc_status status = tc_report_read(ctx, path, out);
    unlink(path);
    return status;
}

static bool says(const char *text, const char *words)
{
    bool found = text && strstr(text, words);
    if (!found)
        printf("'%s' is not in: %s\n", words, text ? text : "(nothing)");
    return found;
}

static bool holds(tc_bytes b, const char *words)
{
    char *text = malloc(b.size + 1);
    memcpy(text, b.data, b.size);
    text[b.size] = 0;
    bool found = says(text, words);
    free(text);
    return found;
}

/* Layers whose names have moved go together by their module; one is gone, one is new. */
static void check_two(tc_ctx *ctx)
{
    tc_saved_report *a, *b;
    const char *text, *name;
    tc_bytes bytes;
    static const char first[] = "{" REPORT(SUMMARY("1000", "30.0"), NODE("conv_1", "m.a", "400") ","
                                                                NODE("conv_2", "m.b", "600")),
                      second[] = "{" REPORT(SUMMARY("750", "\"exact\""), NODE("conv_1", "m.c", "100") ","
                                                                     NODE("conv_2", "m.a", "650"));
    CHECK(read_text(ctx, first, &a) == TC_OK && read_text(ctx, second, &b) == TC_OK);
    CHECK(tc_report_tell(ctx, b, a, TC_FORM_TEXT, &text) == TC_OK);
    CHECK(says(text, "25.0 % fewer cycles") && says(text, "-25.0 %"));
    CHECK(says(text, "0 layers are the same, 1 changed, 1 added, 1 removed"));
    CHECK(tc_report_tell(ctx, b, a, TC_FORM_JSON, &text) == TC_OK);
    CHECK(says(text, "\"second\": \"exact\""));
    CHECK(tc_report_tell(ctx, a, a, TC_FORM_TEXT, &text) == TC_OK);
    CHECK(says(text, "2 layers are the same, 0 changed") && says(text, "as many cycles"));
    CHECK(tc_report_tell(ctx, a, NULL, TC_FORM_TEXT, &text) == TC_OK);
    CHECK(says(text, "m<1>.pt2") && says(text, "cycles                   1000"));
    CHECK(tc_report_tell(ctx, a, NULL, (tc_form)7, &text) == TC_USAGE);
    CHECK(tc_report_csv(ctx, a, NULL, 0, &name, &bytes) == TC_OK && strcmp(name, "nodes") == 0);
    CHECK(holds(bytes, "name,op,module,region,cycles,typed,error_integer.sqnr_db,why\r\n"));
    CHECK(holds(bytes, "conv_1,conv,m.a,0,400,\"i8[1,2] q(0.5:0)\",exact,\"a, \"\"b\"\"\"\r\n"));
    CHECK(tc_report_csv(ctx, a, NULL, 1, &name, &bytes) == TC_OK && !name);
    CHECK(tc_report_csv(ctx, b, a, 1, &name, &bytes) == TC_OK && strcmp(name, "layers") == 0);
    CHECK(holds(bytes, "conv_2,changed,,400,650,"));
    CHECK(tc_report_csv(ctx, b, a, 2, &name, &bytes) == TC_OK && !name);
    size_t over;
    CHECK(tc_report_hold(ctx, a, b, (const char *[]){"cycles+2%"}, 1, &text, &over) == TC_OK && over == 1);
    CHECK(says(text, "| cycles | 750 | 1000 | +33.3 % | cycles+2% | **exceeded** |"));
    CHECK(tc_report_hold(ctx, a, b, (const char *[]){"cycles+34%"}, 1, &text, &over) == TC_OK && over == 0);
    CHECK(tc_report_hold(ctx, a, b, (const char *[]){"cycles+1K"}, 1, &text, &over) == TC_OK && over == 0);
    CHECK(tc_report_hold(ctx, a, b, (const char *[]){"cycles+"}, 1, &text, &over) == TC_USAGE);
    CHECK(tc_report_page(ctx, b, a, &bytes) == TC_OK);
    CHECK(holds(bytes, ",\"changes\":{\"first\":") && holds(bytes, "m\\u003c1>.pt2") && holds(bytes, "</html>"));
    tc_saved_report *again; /* a page is read as its JSON is */
    char *page = calloc(bytes.size + 1, 1);
    memcpy(page, bytes.data, bytes.size);
    CHECK(read_text(ctx, page, &again) == TC_OK);
    CHECK(tc_report_tell(ctx, again, b, TC_FORM_TEXT, &text) == TC_OK && says(text, "2 layers are the same"));
    free(page);
}

/* The board's verdict and right answers are figures too. */
static void check_figures(tc_ctx *ctx)
{
#define ANSWERS(right) "{\"answers\": [{\"right\": 9, \"samples\": 10}, {\"right\": " right ", \"samples\": 10}]}"
    tc_saved_report *a, *b;
    const char *text;
    CHECK(read_text(ctx, "{\"verdict\": {\"fits\": false}, " REPORT(ANSWERS("7"), ""), &a) == TC_OK);
    CHECK(read_text(ctx, "{\"verdict\": {\"fits\": true}, " REPORT(ANSWERS("8"), ""), &b) == TC_OK);
    CHECK(tc_report_tell(ctx, b, a, TC_FORM_TEXT, &text) == TC_OK);
    CHECK(says(text, "fits the board      no     yes  other"));
    CHECK(says(text, "right answers   70.0 %  80.0 %  +10.0 points"));
}

static void check_none(void)
{
    static const struct {
        const char *text, *words;
    } row[] = {
        {"", "this is not a report"},
        {"{", "this is not a report"},
        {"[]", "this is not a report"},
        {"{\"schema\": \"tosac-report\"}", "this is not a report"},
        {"<html></html>", "this is not a report"},
        {"{\"schema\": \"tosac-report\", \"schema_version\": 9, \"nodes\": []}", "schema version 9"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        tc_ctx *ctx = tc_ctx_new();
        tc_saved_report *r;
        CHECK(read_text(ctx, row[i].text, &r) != TC_OK);
        CHECK(says(tc_diagnostic_at(ctx, 0)->text, row[i].words));
        tc_ctx_free(ctx);
    }
}

/* Members of other kinds than they should be are as if they were not there. */
static void check_strange(tc_ctx *ctx)
{
    tc_saved_report *r;
    const char *text, *name;
    tc_bytes bytes;
    static const char strange[] =
        "{\"schema\": \"tosac-report\", \"schema_version\": 1, \"summary\": 7, \"model\": [], "
        "\"memory\": [3, {\"blocks\": 1}], \"nodes\": [1, \"x\", {}, "
        "{\"name\": 3, \"error_integer\": [], \"cycles\": {}, \"typed\": null}]}";
    CHECK(read_text(ctx, strange, &r) == TC_OK);
    CHECK(tc_report_tell(ctx, r, r, TC_FORM_TEXT, &text) == TC_OK && says(text, "4 layers are the same"));
    for (size_t i = 0; tc_report_csv(ctx, r, NULL, i, &name, &bytes) == TC_OK && name;)
        i++;
    CHECK(tc_report_page(ctx, r, r, &bytes) == TC_OK);
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    check_two(ctx);
    check_figures(ctx);
    check_strange(ctx);
    check_none();
    tc_ctx_free(ctx);
    return check_done();
}
