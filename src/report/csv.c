/* SPDX-License-Identifier: Apache-2.0 */
/* csv.c -- the tables of a report as CSV (RFC 4180): each list of objects is one, with the members
 * as columns; those of objects inside have "error_typed.sqnr_db".  Numeric lists are omitted. */
#include "saved.h"

#include <math.h>
#include <stdio.h>

static void put_field(tc_buf *out, tc_str s)
{
    bool quoted = false;
    for (size_t i = 0; i < s.n; i++)
        quoted = quoted || strchr(",\"\r\n", s.p[i]);
    if (!quoted) {
        ti_buf_put(out, s.p, s.n);
        return;
    }
    ti_buf_text(out, "\"");
    for (size_t i = 0; i < s.n; i++) {
        ti_buf_text(out, s.p[i] == '"' ? "\"" : "");
        ti_buf_u8(out, (uint8_t)s.p[i]);
    }
    ti_buf_text(out, "\"");
}

/* ---- any list of objects ---- */

typedef struct csv {
    tc_ctx *ctx;
    tc_map column; /* name: its index + 1 */
    const tc_json **cell;
} csv;

typedef void on_member(csv *c, tc_str name, const tc_json *value);

static void each_member(csv *c, const char *prefix, const tc_json *object, on_member *take)
{
    const tc_json *key = ti_json_is(object, TC_JSON_OBJECT) ? object->as.child : NULL;
    for (; key; key = key->next->next) {
        tc_str s = ti_json_text(&c->ctx->arena, key);
        const char *name = ti_text_format(&c->ctx->arena, "%s%.*s", prefix, (int)s.n, s.p);
        const tc_json *value = key->next;
        if (value->kind == TC_JSON_OBJECT)
            each_member(c, ti_text_format(&c->ctx->arena, "%s.", name), value, take);
        else if (value->kind != TC_JSON_LIST)
            take(c, ti_str_of(name), value);
    }
}

static void note_column(csv *c, tc_str name, const tc_json *value)
{
    (void)value;
    void **slot = ti_map_at(&c->column, name);
    if (!*slot)
        *slot = (void *)(uintptr_t)c->column.n;
}

static void note_cell(csv *c, tc_str name, const tc_json *value)
{
    c->cell[(uintptr_t)ti_map_get(&c->column, name) - 1] = value;
}

static tc_str cell_text(csv *c, const tc_json *v)
{
    if (ti_json_is(v, TC_JSON_TEXT))
        return ti_json_text(&c->ctx->arena, v);
    if (ti_json_is(v, TC_JSON_INT) || ti_json_is(v, TC_JSON_REAL))
        return (tc_str){v->as.text, v->n};
    return ti_json_is(v, TC_JSON_TRUE)    ? ti_str_of("true")
           : ti_json_is(v, TC_JSON_FALSE) ? ti_str_of("false")
                                          : (tc_str){"", 0};
}

static void put_list(tc_ctx *ctx, const tc_json *list, tc_buf *out)
{
    csv c = {.ctx = ctx};
    ti_map_init(&c.column, &ctx->arena);
    for (const tc_json *row = ti_json_first(list); row; row = row->next)
        each_member(&c, "", row, note_column);
    c.cell = tc_new_n(&ctx->arena, const tc_json *, c.column.n + 1);
    for (size_t i = 0; i < c.column.n; i++) {
        ti_buf_text(out, i ? "," : "");
        put_field(out, c.column.entry[i].key);
    }
    ti_buf_text(out, "\r\n");
    for (const tc_json *row = ti_json_first(list); row; row = row->next) {
        memset(c.cell, 0, (c.column.n + 1) * sizeof *c.cell);
        each_member(&c, "", row, note_cell);
        for (size_t i = 0; i < c.column.n; i++) {
            ti_buf_text(out, i ? "," : "");
            put_field(out, cell_text(&c, c.cell[i]));
        }
        ti_buf_text(out, "\r\n");
    }
}

/* ---- memory ---- */

/* Blocks are lists: name, first and last step, offset, bytes. */
static void put_blocks(tc_ctx *ctx, const tc_json *memories, tc_buf *out)
{
    csv c = {.ctx = ctx};
    ti_buf_text(out, "memory,value,first,last,offset,bytes\r\n");
    for (const tc_json *m = ti_json_first(memories); m; m = m->next)
        for (const tc_json *b = ti_json_first(ti_json_get(m, "blocks")); b; b = b->next) {
            put_field(out, cell_text(&c, ti_json_get(m, "name")));
            for (const tc_json *v = ti_json_first(b); v; v = v->next) {
                ti_buf_text(out, ",");
                put_field(out, cell_text(&c, v));
            }
            ti_buf_text(out, "\r\n");
        }
}

bool ti_saved_csv(tc_ctx *ctx, const tc_saved_report *r, size_t i, const char **name, tc_buf *out)
{
    static const char *const list[] = {"nodes", "steps",    "cpu",       "regions",
                                       "memory", "frontier", "set_aside", "answers"};
    for (size_t k = 0; k < TC_COUNT(list); k++) {
        const tc_json *at = ti_json_get(r->json, list[k]);
        at = at ? at : ti_json_get(ti_json_get(r->json, "summary"), list[k]);
        if (!ti_json_first(at) || i--)
            continue;
        *name = list[k];
        if (ti_text_eq(list[k], "memory"))
            put_blocks(ctx, at, out);
        else
            put_list(ctx, at, out);
        return true;
    }
    return false;
}

/* ---- what changed ---- */

static void put_number(tc_buf *out, double v)
{
    if (isinf(v))
        ti_buf_text(out, ",exact");
    else if (isnan(v))
        ti_buf_text(out, ",");
    else
        ti_buf_printf(out, ",%.10g", v);
}

static void put_text(tc_buf *out, const char *text)
{
    ti_buf_text(out, ",");
    put_field(out, ti_str_of(text ? text : ""));
}

bool ti_changes_csv(tc_ctx *ctx, const tc_changes *c, size_t i, const char **name, tc_buf *out)
{
    (void)ctx;
    if (i > 1)
        return false;
    *name = i ? "layers" : "changes";
    ti_buf_text(out, i ? "layer,how,place,cycles_first,cycles_second,sqnr_db_first,sqnr_db_second,"
                         "bytes_first,bytes_second,type_first,type_second,where_first,where_second\r\n"
                       : "what,unit,first,second\r\n");
    for (size_t k = 0; k < (i ? 0 : c->n_figure); k++) {
        const tc_change *f = &c->figure[k];
        put_field(out, ti_str_of(f->what));
        put_text(out, f->unit);
        for (int side = 0; side < 2; side++) {
            if (f->text[side])
                put_text(out, f->text[side]);
            else
                put_number(out, f->value[side]);
        }
        ti_buf_text(out, "\r\n");
    }
    for (size_t k = 0; k < (i ? c->n_layer : 0); k++) {
        const tc_layer_change *l = &c->layer[k];
        const double *pair[] = {l->cycles, l->sqnr_db, l->bytes};
        put_field(out, ti_str_of(l->name));
        put_text(out, l->how);
        put_text(out, l->place);
        for (size_t p = 0; p < 2 * TC_COUNT(pair); p++)
            put_number(out, pair[p / 2][p % 2]);
        for (int p = 0; p < 4; p++)
            put_text(out, (p < 2 ? l->type : l->where)[p % 2]);
        ti_buf_text(out, "\r\n");
    }
    return true;
}
