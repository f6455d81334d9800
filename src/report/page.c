/* SPDX-License-Identifier: Apache-2.0 */
/* page.c -- one HTML file: the page's own parts, which the build embeds, and the content as JSON.
 */
#include "report.h"

/* Inside <script> a "<" could end it: the same character by its number cannot. */
static void put_data(const tc_content *c, tc_buf *out)
{
    tc_buf json;
    ti_buf_init(&json, &c->ctx->scratch);
    ti_content_json(c, true, &json);
    size_t from = 0;
    for (size_t i = 0; i < json.size; i++)
        if (json.data[i] == '<') {
            ti_buf_put(out, json.data + from, i - from);
            ti_buf_text(out, "\\u003c");
            from = i + 1;
        }
    ti_buf_put(out, json.data + from, json.size - from);
}

static void put_title(const tc_content *c, tc_buf *out)
{
    const char *file = tc_model_file(c->options.model);
    for (const char *at = file ? file : "model"; *at; at++) {
        if (*at == '<' || *at == '&')
            ti_buf_printf(out, "&#%d;", *at);
        else
            ti_buf_u8(out, (uint8_t)*at);
    }
}

static void put_style(const tc_content *c, tc_buf *out)
{
    (void)c;
    ti_buf_put(out, tc_page_css, tc_page_css_size);
}

static void put_script(const tc_content *c, tc_buf *out)
{
    (void)c;
    ti_buf_put(out, tc_page_data_js, tc_page_data_js_size);
    ti_buf_put(out, tc_page_graph_js, tc_page_graph_js_size);
    ti_buf_put(out, tc_page_charts_js, tc_page_charts_js_size);
    ti_buf_put(out, tc_page_main_js, tc_page_main_js_size);
}

/* Places of the page that are filled in. */
static const struct {
    const char *mark;
    void (*put)(const tc_content *c, tc_buf *out);
} places[] = {
    {"@title@", put_title}, {"@style@", put_style}, {"@data@", put_data}, {"@script@", put_script}};

void ti_content_page(const tc_content *c, tc_buf *out)
{
    size_t from = 0;
    for (size_t i = 0; i < tc_page_html_size; i++)
        for (size_t k = 0; tc_page_html[i] == '@' && k < TC_COUNT(places); k++) {
            size_t n = strlen(places[k].mark);
            if (tc_page_html_size - i < n || memcmp(tc_page_html + i, places[k].mark, n) != 0)
                continue;
            ti_buf_put(out, tc_page_html + from, i - from);
            places[k].put(c, out);
            from = i + n;
        }
    ti_buf_put(out, tc_page_html + from, tc_page_html_size - from);
}
