/* SPDX-License-Identifier: Apache-2.0 */
/* page.c -- one HTML file: the page's own parts, which the build embeds, and the content as JSON. */
#include "report.h"

typedef struct content {
    const char *title;
    tc_bytes json;
} content;

/* Without the spaces between its parts.  Inside <script> a "<" could end it: the same character by
 * its number cannot. */
void ti_page_put_json(tc_bytes json, tc_buf *out)
{
    size_t from = 0;
    bool quoted = false;
    for (size_t i = 0; i < json.size; i++) {
        uint8_t at = json.data[i];
        bool space = !quoted && strchr(" \t\r\n", at) && at;
        if (space || at == '<') {
            ti_buf_put(out, json.data + from, i - from);
            ti_buf_text(out, space ? "" : "\\u003c");
            from = i + 1;
        }
        quoted = at == '"' ? !quoted : quoted;
        i += quoted && at == '\\'; /* what is escaped ends nothing */
    }
    ti_buf_put(out, json.data + from, json.size - from);
}

static void put_data(const content *c, tc_buf *out) { ti_page_put_json(c->json, out); }

static void put_title(const content *c, tc_buf *out)
{
    for (const char *at = c->title; *at; at++) {
        if (*at == '<' || *at == '&')
            ti_buf_printf(out, "&#%d;", *at);
        else
            ti_buf_u8(out, (uint8_t)*at);
    }
}

static void put_style(const content *c, tc_buf *out)
{
    (void)c;
    ti_buf_put(out, tc_page_css, tc_page_css_size);
}

static void put_script(const content *c, tc_buf *out)
{
#define PART(name) {tc_page_##name##_js, tc_page_##name##_js_size}
    const tc_bytes part[] = {PART(base),   PART(data),     PART(table), PART(graph),  PART(charts),
                             PART(overview), PART(views), PART(changes), PART(main)};
#undef PART
    (void)c;
    for (size_t i = 0; i < TC_COUNT(part); i++)
        ti_buf_put(out, part[i].data, part[i].size);
}

/* Places of the page that are filled in. */
static const struct {
    const char *mark;
    void (*put)(const content *c, tc_buf *out);
} places[] = {
    {"@title@", put_title}, {"@style@", put_style}, {"@data@", put_data}, {"@script@", put_script}};

void ti_page_make(const char *title, tc_bytes json, tc_buf *out)
{
    const content c = {title, json};
    size_t from = 0;
    for (size_t i = 0; i < tc_page_html_size; i++)
        for (size_t k = 0; tc_page_html[i] == '@' && k < TC_COUNT(places); k++) {
            size_t n = strlen(places[k].mark);
            if (tc_page_html_size - i < n || memcmp(tc_page_html + i, places[k].mark, n) != 0)
                continue;
            ti_buf_put(out, tc_page_html + from, i - from);
            places[k].put(&c, out);
            from = i + n;
        }
    ti_buf_put(out, tc_page_html + from, tc_page_html_size - from);
}

void ti_content_page(const tc_content *c, tc_buf *out)
{
    const char *file = tc_model_file(c->options.model);
    tc_buf json;
    ti_buf_init(&json, &c->ctx->scratch);
    ti_content_json(c, true, &json);
    ti_page_make(file ? file : "model", (tc_bytes){json.data, json.size}, out);
}
