/* SPDX-License-Identifier: Apache-2.0 */
/* changes_text.c -- what changed between two reports, and one report in short: as text and as JSON. */
#include "saved.h"

#include <math.h>

#include "../base/json_out.h"

enum { SHOWN = 20 }; /* layers, at most */

/* ---- figures as people read them ---- */

static const char *figure_text(tc_ctx *ctx, const char *unit, double v)
{
    if (isnan(v))
        return "-";
    if (isinf(v))
        return "exact";
    if (ti_text_eq(unit, "db"))
        return ti_text_format(&ctx->arena, "%.1f dB", v);
    if (ti_text_eq(unit, "percent"))
        return ti_text_format(&ctx->arena, "%.1f %%", v);
    if (ti_text_eq(unit, "one digit"))
        return ti_text_format(&ctx->arena, "%.1f", v);
    if (ti_text_eq(unit, "milliseconds"))
        return ti_text_format(&ctx->arena, "%.3f ms", v);
    return ti_text_format(&ctx->arena, "%.0f", v);
}

static const char *change_text(tc_ctx *ctx, const tc_change *f)
{
    double a = f->value[0], b = f->value[1];
    if (f->text[0] || f->text[1])
        return f->text[0] && f->text[1] && ti_text_eq(f->text[0], f->text[1]) ? "" : "other";
    if (isnan(a) || isnan(b) || a == b)
        return "";
    if (ti_text_eq(f->unit, "db"))
        return isinf(a) || isinf(b) ? "" : ti_text_format(&ctx->arena, "%+.1f dB", b - a);
    if (ti_text_eq(f->unit, "percent"))
        return ti_text_format(&ctx->arena, "%+.1f points", b - a);
    if (a > 0 && fabs(b / a - 1) < 0.0005)
        return "";
    return a > 0 ? ti_text_format(&ctx->arena, "%+.1f %%", 100 * (b / a - 1))
                 : ti_text_format(&ctx->arena, "%+.0f", b - a);
}

static int wider(int width, const char *text)
{
    return (int)strlen(text) > width ? (int)strlen(text) : width;
}

static void put_figures(tc_ctx *ctx, const tc_changes *c, tc_buf *out)
{
    int name = 0, w[2] = {6, 5};
    const char *shown[2];
    for (size_t i = 0; i < c->n_figure; i++) {
        const tc_change *f = &c->figure[i];
        name = wider(name, f->what);
        for (int k = 0; k < 2; k++)
            w[k] = wider(w[k], f->text[k] ? f->text[k] : figure_text(ctx, f->unit, f->value[k]));
    }
    ti_buf_printf(out, "%-*s  %*s  %*s  change\n", name, "", w[0], "before", w[1], "after");
    for (size_t i = 0; i < c->n_figure; i++) {
        const tc_change *f = &c->figure[i];
        for (int k = 0; k < 2; k++)
            shown[k] = f->text[k] ? f->text[k] : figure_text(ctx, f->unit, f->value[k]);
        ti_buf_printf(out, "%-*s  %*s  %*s  %s\n", name, f->what, w[0], shown[0], w[1], shown[1],
                      change_text(ctx, f));
    }
}

void ti_changes_row(tc_ctx *ctx, const tc_change *f, tc_buf *out)
{
    ti_buf_printf(out, "| %s |", f->what);
    for (int k = 0; k < 2; k++)
        ti_buf_printf(out, " %s |",
                      f->text[k] ? f->text[k] : figure_text(ctx, f->unit, f->value[k]));
    ti_buf_printf(out, " %s |", change_text(ctx, f));
}

static void put_pair(tc_ctx *ctx, const double v[2], const char *unit, int width, tc_buf *out)
{
    for (int k = 0; k < 2; k++) {
        const char *t = figure_text(ctx, unit, v[k]);
        ti_buf_printf(out, "  %*s", width, t);
    }
}

/* "i8 -> i16", or nothing. */
static void put_words(const tc_layer_change *l, tc_buf *out)
{
    size_t n[2];
    for (int k = 0; k < 2; k++)
        n[k] = l->type[k] ? strcspn(l->type[k], "[ ") : 0;
    if (n[0] && n[1] && (n[0] != n[1] || memcmp(l->type[0], l->type[1], n[0]) != 0))
        ti_buf_printf(out, "  %.*s -> %.*s", (int)n[0], l->type[0], (int)n[1], l->type[1]);
    if (l->where[0] && l->where[1] && !ti_text_eq(l->where[0], l->where[1]))
        ti_buf_printf(out, "  %s -> %s", l->where[0], l->where[1]);
    if (!ti_text_eq(l->how, "changed"))
        ti_buf_printf(out, "  %s", l->how);
}

static void put_layers(tc_ctx *ctx, const tc_changes *c, tc_buf *out)
{
    int name = 5, place = 4;
    size_t n = c->n_layer < SHOWN ? c->n_layer : SHOWN;
    ti_buf_printf(out, "\n%zu layers are the same, %zu changed, %zu added, %zu removed\n", c->same,
                  c->changed, c->added, c->removed);
    if (!n)
        return;
    for (size_t i = 0; i < n; i++) {
        name = wider(name, c->layer[i].name);
        place = wider(place, c->layer[i].place ? c->layer[i].place : "");
    }
    ti_buf_printf(out, "%-*s  %-*s  %10s  %10s  %8s  %8s  %10s  %10s\n", name, "layer", place,
                  "line", "cycles", "after", "dB", "after", "bytes", "after");
    for (size_t i = 0; i < n; i++) {
        const tc_layer_change *l = &c->layer[i];
        ti_buf_printf(out, "%-*s  %-*s", name, l->name, place, l->place ? l->place : "");
        put_pair(ctx, l->cycles, "cycles", 10, out);
        put_pair(ctx, l->sqnr_db, "one digit", 8, out);
        put_pair(ctx, l->bytes, "bytes", 10, out);
        put_words(l, out);
        ti_buf_text(out, "\n");
    }
    if (n < c->n_layer)
        ti_buf_printf(out, "and %zu more: -o page.html, --csv DIR or --json has all of them\n",
                      c->n_layer - n);
}

void ti_changes_text(tc_ctx *ctx, const tc_changes *c, tc_buf *out)
{
    ti_buf_printf(out, "%s -> %s: %s\n\n", c->of[0]->path, c->of[1]->path, c->sentence);
    put_figures(ctx, c, out);
    put_layers(ctx, c, out);
}

/* ---- JSON ---- */

static void put_real(tc_json_out *out, const char *name, double v)
{
    if (isinf(v))
        ti_json_put_text(out, name, "exact");
    else
        ti_json_put_real(out, name, v);
}

static void put_both(tc_json_out *out, const char *name, const double v[2])
{
    if (isnan(v[0]) && isnan(v[1]))
        return;
    ti_json_open(out, name, '[');
    put_real(out, NULL, v[0]);
    put_real(out, NULL, v[1]);
    ti_json_close(out, ']');
}

static void put_texts(tc_json_out *out, const char *name, const char *const v[2])
{
    if (!v[0] && !v[1])
        return;
    ti_json_open(out, name, '[');
    ti_json_put_text(out, NULL, v[0]);
    ti_json_put_text(out, NULL, v[1]);
    ti_json_close(out, ']');
}

static void put_figure(tc_json_out *out, const tc_change *f)
{
    static const char *const name[] = {"first", "second"};
    ti_json_open(out, NULL, '{');
    tc_json_put(out, TC_J("what", f->what), TC_J("unit", f->unit));
    for (int k = 0; k < 2; k++) {
        if (f->text[k])
            ti_json_put_text(out, name[k], f->text[k]);
        else if (!isnan(f->value[k]))
            put_real(out, name[k], f->value[k]);
    }
    ti_json_close(out, '}');
}

static void put_layer(tc_json_out *out, const tc_layer_change *l)
{
    ti_json_open(out, NULL, '{');
    tc_json_put(out, TC_J("name", l->name), TC_J_IF("place", l->place), TC_J("how", l->how),
                TC_J("node", l->node));
    put_both(out, "cycles", l->cycles);
    put_both(out, "sqnr_db", l->sqnr_db);
    put_both(out, "bytes", l->bytes);
    put_texts(out, "type", l->type);
    put_texts(out, "where", l->where);
    ti_json_close(out, '}');
}

void ti_changes_json(const tc_changes *c, bool compact, tc_buf *to)
{
    tc_json_out out = {.to = to, .compact = compact};
    ti_json_open(&out, NULL, '{');
    tc_json_put(&out, TC_J("first", c->of[0]->path), TC_J("second", c->of[1]->path),
                TC_J("sentence", c->sentence));
    tc_json_object(&out, "layers_by", TC_J("same", c->same), TC_J("changed", c->changed),
                   TC_J("added", c->added), TC_J("removed", c->removed));
    ti_json_open(&out, "summary", '[');
    for (size_t i = 0; i < c->n_figure; i++)
        put_figure(&out, &c->figure[i]);
    ti_json_close(&out, ']');
    ti_json_open(&out, "layers", '[');
    for (size_t i = 0; i < c->n_layer; i++)
        put_layer(&out, &c->layer[i]);
    ti_json_close(&out, ']');
    ti_json_close(&out, '}');
}

/* ---- one alone ---- */

void ti_saved_text(tc_ctx *ctx, const tc_saved_report *r, tc_buf *out)
{
    tc_changes c;
    tc_str file = ti_json_text(&ctx->arena, ti_json_get(ti_json_get(r->json, "model"), "file"));
    ti_changes_find(ctx, r, r, &c);
    ti_buf_printf(out, "%.*s\n", (int)file.n, file.p ? file.p : "");
    for (size_t i = 0; i < c.n_figure; i++) {
        const tc_change *f = &c.figure[i];
        ti_buf_printf(out, "%-24s %s\n", f->what,
                      f->text[0] ? f->text[0] : figure_text(ctx, f->unit, f->value[0]));
    }
}
