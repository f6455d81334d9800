/* SPDX-License-Identifier: Apache-2.0 */
/* json_out.c -- see json_out.h. */
#include "json_out.h"

#include <math.h>
#include <stdio.h>

static void quoted(tc_buf *to, const char *text)
{
    ti_buf_u8(to, '"');
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            ti_buf_printf(to, "\\%c", *c);
        else if (*c < ' ' || *c == 127)
            ti_buf_printf(to, "\\u%04x", *c);
        else
            ti_buf_u8(to, *c);
    }
    ti_buf_u8(to, '"');
}

static void lead(tc_json_out *out, const char *name)
{
    if (out->depth && !out->first)
        ti_buf_u8(out->to, ',');
    if (out->depth && !out->compact)
        ti_buf_printf(out->to, "\n%*s", out->depth * 2, "");
    out->first = false;
    if (name) {
        quoted(out->to, name);
        ti_buf_printf(out->to, out->compact ? ":" : ": ");
    }
}

void ti_json_open(tc_json_out *out, const char *name, char bracket)
{
    if (out->text)
        return;
    lead(out, name);
    ti_buf_u8(out->to, (uint8_t)bracket);
    out->depth++;
    out->first = true;
}

void ti_json_close(tc_json_out *out, char bracket)
{
    if (out->text)
        return;
    out->depth--;
    if (!out->first && !out->compact)
        ti_buf_printf(out->to, "\n%*s", out->depth * 2, "");
    ti_buf_u8(out->to, (uint8_t)bracket);
    out->first = false;
    if (!out->depth)
        ti_buf_u8(out->to, '\n');
}

static void put(tc_json_out *out, const char *name, const char *value)
{
    if (out->text)
        return;
    lead(out, name);
    ti_buf_text(out->to, value);
}

void ti_json_put_text(tc_json_out *out, const char *name, const char *text)
{
    put(out, name, text ? "" : "null");
    if (text && !out->text)
        quoted(out->to, text);
}

void ti_json_put_int(tc_json_out *out, const char *name, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    put(out, name, text);
}

void ti_json_put_real(tc_json_out *out, const char *name, double value)
{
    char text[32];
    tc_text_f64(value, text);
    put(out, name, isfinite(value) ? text : "null");
}

void ti_json_put_bool(tc_json_out *out, const char *name, bool value)
{
    put(out, name, value ? "true" : "false");
}

void ti_json_members(tc_json_out *out, const tc_json_member *member, size_t n)
{
    for (const tc_json_member *m = member; m < member + n; m++) {
        const char *name = m->name && *m->name ? m->name : NULL;
        if (!m->name)
            continue;
        if (m->kind == 't')
            ti_json_put_text(out, name, m->text);
        else if (m->kind == 'r')
            ti_json_put_real(out, name, m->real);
        else if (m->kind == 'b')
            ti_json_put_bool(out, name, m->whole != 0);
        else
            ti_json_put_int(out, name, m->whole);
    }
}

/* ---- text ---- */

typedef struct record {
    const tc_json_member *member;
    size_t n;
} record;

/* "name" or "name:spec", up to the brace. */
typedef struct field {
    tc_str name;
    char spec[16]; /* as printf() has it: "%", and what is between the colon and the brace */
    const char *end;
} field;

static field field_at(const char *p)
{
    size_t n = strcspn(p, "}"), name = strcspn(p, ":}");
    field f = {{p, name}, "%", p + n};
    if (name < n)
        snprintf(f.spec + 1, sizeof f.spec - 1, "%.*s", (int)(n - name - 1), p + name + 1);
    return f;
}

static const tc_json_member *find_member(const record *r, tc_str name)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->member[i].name && ti_str_eq(ti_str_of(r->member[i].name), name))
            return &r->member[i];
    return NULL;
}

static bool is_there(const tc_json_member *m)
{
    return m && (m->kind == 't' ? m->text != NULL : m->kind == 'b' ? m->whole != 0 : true);
}

/* Whether all members of a part in brackets are there. */
static bool shows_part(const record *r, const char *p)
{
    for (; *p && *p != ']'; p++)
        if (*p == '{' && !is_there(find_member(r, field_at(p + 1).name)))
            return false;
    return true;
}

static void put_member(tc_buf *to, const tc_json_member *m, const field *f)
{
    char format[32];
    snprintf(format, sizeof format, "%s%s", f->spec,
             m && m->kind == 'r' ? (f->spec[1] ? "" : "g") : m && m->kind == 'i' ? PRId64 : "s");
    if (m && m->kind == 'r')
        ti_buf_printf(to, format, m->real);
    else if (m && m->kind == 'i')
        ti_buf_printf(to, format, m->whole);
    else if (!m || m->kind == 't')
        ti_buf_printf(to, format, m && m->text ? m->text : "-");
}

void ti_show(tc_json_out *out, const char *line, const tc_json_member *member, size_t n)
{
    const record r = {member, n};
    if (!out->text) {
        ti_json_members(out, member, n);
        return;
    }
    for (const char *p = line; *p; p++)
        if (*p == '[') {
            if (!shows_part(&r, p))
                p = strchr(p, ']');
        } else if (*p == '{') {
            field f = field_at(p + 1);
            put_member(out->to, find_member(&r, f.name), &f);
            p = f.end;
        } else if (*p != ']')
            ti_buf_u8(out->to, (uint8_t)*p);
}
