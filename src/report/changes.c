/* SPDX-License-Identifier: Apache-2.0 */
/* changes.c -- the differences of two reports: as a whole, and layer by layer.
 *
 * Layers are matched, each at most once, by the first of these keys that is equal, the k-th of one
 * with the k-th of the other: name, module and operator; module and operator; source line and
 * operator; name and operator. */
#include "saved.h"

#include <math.h>
#include <stdlib.h>

/* ---- members ---- */

static double number(const tc_json *json)
{
    double v;
    bool exact = ti_json_is(json, TC_JSON_TEXT); /* "exact": nothing differs */
    return ti_json_f64(json, &v) ? v : exact ? INFINITY : NAN;
}

static const char *text(tc_ctx *ctx, const tc_json *json)
{
    tc_str s = ti_json_text(&ctx->arena, json);
    return s.p ? ti_text_copy(&ctx->arena, s) : NULL;
}

/* ---- as a whole ---- */

/* Figures of the summary, in the order of output. */
static const struct {
    const char *what, *member, *unit;
    double factor;
} figures[] = {
    {"target", "target", "text", 1},
    {"cycles", "cycles", "cycles", 1},
    {"time", "seconds", "milliseconds", 1000},
    {"SRAM of the accelerator", "sram", "bytes", 1},
    {"memory of the program", "memory", "bytes", 1},
    {"weights", "weights", "bytes", 1},
    {"written", "bytes", "bytes", 1},
    {"SQNR of the output", "sqnr_integer_db", "db", 1},
    {"SQNR as typed", "sqnr_typed_db", "db", 1},
    {"multiplications", "macs", "number", 1},
    {"operators on the target", "on_target", "number", 1},
    {"operators on the CPU", "on_cpu", "number", 1},
    {"regions", "regions", "number", 1},
    {"operators", "operators", "number", 1},
};

/* Right answers of the program, in percent. */
static double right_answers(const tc_json *summary)
{
    const tc_json *model = ti_json_first(ti_json_get(summary, "answers")),
                  *program = model ? model->next : NULL;
    return 100 * number(ti_json_get(program, "right")) / number(ti_json_get(program, "samples"));
}

static void add_figure(tc_changes *c, tc_change f)
{
    if (f.text[0] || f.text[1] || !isnan(f.value[0]) || !isnan(f.value[1]))
        c->figure[c->n_figure++] = f;
}

/* What is not a plain member of the summary. */
static void find_others(tc_changes *c)
{
    tc_change fits = {.what = "fits the board", .unit = "text", .value = {NAN, NAN}},
              right = {.what = "right answers", .unit = "percent"};
    for (int k = 0; k < 2; k++) {
        const tc_json *v = ti_json_get(ti_json_get(c->of[k]->json, "verdict"), "fits");
        fits.text[k] = ti_json_is(v, TC_JSON_TRUE)    ? "yes"
                       : ti_json_is(v, TC_JSON_FALSE) ? "no"
                                                      : NULL;
        right.value[k] = right_answers(ti_json_get(c->of[k]->json, "summary"));
    }
    add_figure(c, fits);
    add_figure(c, right);
}

/* A difference that is smaller than what either figure may be off by says nothing. */
static bool inside(const tc_json *of, const tc_json *band)
{
    double cycles = number(ti_json_get(of, "cycles"));
    return cycles >= number(ti_json_get(band, "cycles_low")) &&
           cycles <= number(ti_json_get(band, "cycles_high"));
}

static void find_figures(tc_ctx *ctx, tc_changes *c)
{
    const tc_json *in[2];
    c->figure = tc_new_n(&ctx->arena, tc_change, TC_COUNT(figures) + 2);
    find_others(c);
    for (int k = 0; k < 2; k++)
        in[k] = ti_json_get(c->of[k]->json, "summary");
    c->tie = inside(in[0], in[1]) && inside(in[1], in[0]);
    for (size_t i = 0; i < TC_COUNT(figures); i++) {
        tc_change f = {.what = figures[i].what, .unit = figures[i].unit};
        bool is_text = ti_text_eq(f.unit, "text");
        for (int k = 0; k < 2; k++) {
            const tc_json *v = ti_json_get(in[k], figures[i].member);
            f.text[k] = is_text ? text(ctx, v) : NULL;
            f.value[k] = is_text ? NAN : figures[i].factor * number(v);
        }
        add_figure(c, f);
    }
}

static const tc_change *figure(const tc_changes *c, const char *what)
{
    for (size_t i = 0; i < c->n_figure; i++)
        if (ti_text_eq(c->figure[i].what, what))
            return &c->figure[i];
    return NULL;
}

/* ", 12.5 % fewer cycles"; nothing where either is not known. */
static void say_part(tc_buf *out, const tc_change *f, const char *less, const char *more,
                     const char *of)
{
    if (!f || isnan(f->value[0]) || isnan(f->value[1]) || !(f->value[0] > 0))
        return;
    double part = 100 * (f->value[1] / f->value[0] - 1);
    ti_buf_text(out, out->size ? ", " : "");
    if (fabs(part) < 0.05)
        ti_buf_printf(out, "as many %s", of);
    else
        ti_buf_printf(out, "%.1f %% %s %s", fabs(part), part < 0 ? less : more, of);
}

static const char *sentence_of(tc_ctx *ctx, const tc_changes *c)
{
    tc_buf out;
    const tc_change *db = figure(c, "SQNR of the output");
    db = db ? db : figure(c, "SQNR as typed");
    ti_buf_init(&out, &ctx->arena);
    const tc_change *cycles = figure(c, "cycles");
    bool same = cycles && fabs(cycles->value[1] / cycles->value[0] - 1) < 0.0005;
    say_part(&out, cycles, "fewer", "more",
             c->tie && !same ? "cycles (a tie: less than the figures may be off by)" : "cycles");
    say_part(&out, figure(c, "SRAM of the accelerator"), "less", "more", "SRAM");
    say_part(&out, figure(c, "weights"), "fewer", "more", "bytes of weights");
    if (db && isfinite(db->value[0]) && isfinite(db->value[1]))
        ti_buf_printf(&out, "%s%+.1f dB", out.size ? ", " : "", db->value[1] - db->value[0]);
    const tc_change *cpu = figure(c, "operators on the CPU");
    if (cpu && cpu->value[0] != cpu->value[1] && !isnan(cpu->value[0] + cpu->value[1]))
        ti_buf_printf(&out, "%s%+.0f operators on the CPU", out.size ? ", " : "",
                      cpu->value[1] - cpu->value[0]);
    ti_buf_text(&out, out.size ? "" : "nothing that both reports measure");
    ti_buf_u8(&out, 0);
    return (const char *)out.data;
}

/* ---- layers ---- */

typedef struct layer {
    const tc_json *json;
    const char *name, *op, *module, *place;
    int32_t other; /* -1: none yet */
    bool operator_; /* not an input or an output */
} layer;

typedef struct layers {
    layer *v;
    size_t n;
} layers;

static layers layers_of(tc_ctx *ctx, const tc_saved_report *r)
{
    const tc_json *list = ti_json_get(r->json, "nodes");
    layers out = {tc_new_n(&ctx->arena, layer, list->n + 1), 0};
    for (const tc_json *n = ti_json_first(list); n; n = n->next) {
        layer l = {.json = n,
                   .name = text(ctx, ti_json_get(n, "name")),
                   .op = text(ctx, ti_json_get(n, "op")),
                   .module = text(ctx, ti_json_get(n, "module")),
                   .place = text(ctx, ti_json_get(n, "place")),
                   .other = -1};
        l.name = l.name ? l.name : "";
        l.op = l.op ? l.op : "";
        l.operator_ = !ti_text_eq(l.op, "input") && !ti_text_eq(l.op, "output");
        out.v[out.n++] = l;
    }
    return out;
}

/* By what layers go together, the surest first. */
static const char *by_all(tc_arena *a, const layer *l)
{
    return l->module ? ti_text_format(a, "%s\n%s\n%s", l->name, l->module, l->op) : NULL;
}
static const char *by_module(tc_arena *a, const layer *l)
{
    return l->module && *l->module ? ti_text_format(a, "%s\n%s", l->module, l->op) : NULL;
}
static const char *by_place(tc_arena *a, const layer *l)
{
    return l->place ? ti_text_format(a, "%s\n%s", l->place, l->op) : NULL;
}
static const char *by_name(tc_arena *a, const layer *l)
{
    return ti_text_format(a, "%s\n%s", l->name, l->op);
}
static const char *(*const keys[])(tc_arena *, const layer *) = {by_all, by_module, by_place,
                                                                 by_name};

/* The k-th of a key, as a separate key. */
static const char *numbered(tc_arena *a, tc_map *seen, const char *key)
{
    void **slot = ti_map_at(seen, ti_str_of(key));
    *slot = (void *)((uintptr_t)*slot + 1);
    return ti_text_format(a, "%s\n%zu", key, (size_t)(uintptr_t)*slot);
}

static void match(tc_ctx *ctx, layers *a, layers *b, const char *(*key)(tc_arena *, const layer *))
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_map seen[2], first;
    ti_map_init(&seen[0], &ctx->scratch);
    ti_map_init(&seen[1], &ctx->scratch);
    ti_map_init(&first, &ctx->scratch);
    for (size_t i = 0; i < a->n; i++) {
        const char *k = a->v[i].other < 0 ? key(&ctx->scratch, &a->v[i]) : NULL;
        if (k)
            *ti_map_at(&first, ti_str_of(numbered(&ctx->scratch, &seen[0], k))) =
                (void *)(uintptr_t)(i + 1);
    }
    for (size_t i = 0; i < b->n; i++) {
        const char *k = b->v[i].other < 0 ? key(&ctx->scratch, &b->v[i]) : NULL;
        uintptr_t at = k ? (uintptr_t)ti_map_get(
                               &first, ti_str_of(numbered(&ctx->scratch, &seen[1], k)))
                         : 0;
        if (at) {
            a->v[at - 1].other = (int32_t)i;
            b->v[i].other = (int32_t)(at - 1);
        }
    }
    ti_arena_rewind(&ctx->scratch, mark);
}

static const char *where_of(tc_ctx *ctx, const tc_json *node)
{
    return ti_json_get(node, "region") ? "target" : text(ctx, ti_json_get(node, "where"));
}

/* What it is judged by: as the target computes it, where that is known. */
static double sqnr_of(const tc_json *node)
{
    const tc_json *e = ti_json_get(node, "error_integer");
    return number(ti_json_get(e ? e : ti_json_get(node, "error_typed"), "sqnr_db"));
}

static void take_side(tc_ctx *ctx, tc_layer_change *to, int k, const tc_json *node)
{
    const tc_json *typed = ti_json_get(node, "typed");
    to->cycles[k] = number(ti_json_get(node, "cycles"));
    to->bytes[k] = number(ti_json_get(node, "bytes"));
    to->sqnr_db[k] = sqnr_of(node);
    to->type[k] = text(ctx, typed ? typed : ti_json_get(node, "type"));
    to->where[k] = where_of(ctx, node);
}

static bool same_number(double a, double b, double within)
{
    return (isnan(a) && isnan(b)) || a == b || fabs(a - b) <= within;
}

/* Types are equal whatever their scales: these depend on the data. */
static bool same_type(const char *a, const char *b)
{
    size_t n = a ? strcspn(a, " ") : 0, m = b ? strcspn(b, " ") : 0;
    return n == m && (!n || memcmp(a, b, n) == 0);
}

static bool is_same(const tc_layer_change *c)
{
    return same_number(c->cycles[0], c->cycles[1], 0.5) &&
           same_number(c->sqnr_db[0], c->sqnr_db[1], 0.05) &&
           same_number(c->bytes[0], c->bytes[1], 0) && same_type(c->type[0], c->type[1]) &&
           ti_text_same(c->where[0], c->where[1]);
}

static double gain(const double v[2])
{
    return fabs((isnan(v[1]) ? 0 : v[1]) - (isnan(v[0]) ? 0 : v[0]));
}

/* The most cycles first, then the most dB. */
static int most_first(const void *a, const void *b)
{
    const tc_layer_change *x = a, *y = b;
    double p = gain(x->cycles), q = gain(y->cycles);
    if (p == q) {
        p = isfinite(gain(x->sqnr_db)) ? gain(x->sqnr_db) : 0;
        q = isfinite(gain(y->sqnr_db)) ? gain(y->sqnr_db) : 0;
    }
    if (p != q)
        return p > q ? -1 : 1;
    return x->node != y->node ? (x->node < y->node ? -1 : 1) : strcmp(x->name, y->name);
}

static void add_layer(tc_ctx *ctx, tc_changes *c, const layer *a, const layer *b, int32_t node)
{
    const layer *l = b ? b : a;
    tc_layer_change row = {.name = l->name,
                           .place = l->place,
                           .how = !a ? "added" : !b ? "removed" : "changed",
                           .node = b ? node : -1};
    for (int k = 0; k < 2; k++)
        row.cycles[k] = row.sqnr_db[k] = row.bytes[k] = NAN;
    if (a)
        take_side(ctx, &row, 0, a->json);
    if (b)
        take_side(ctx, &row, 1, b->json);
    if (a && b && is_same(&row)) {
        c->same++;
        return;
    }
    *(!a ? &c->added : !b ? &c->removed : &c->changed) += 1;
    c->layer[c->n_layer++] = row;
}

static void find_layers(tc_ctx *ctx, tc_changes *c)
{
    layers a = layers_of(ctx, c->of[0]), b = layers_of(ctx, c->of[1]);
    for (size_t i = 0; i < TC_COUNT(keys); i++)
        match(ctx, &a, &b, keys[i]);
    c->layer = tc_new_n(&ctx->arena, tc_layer_change, a.n + b.n + 1);
    for (size_t i = 0; i < b.n; i++)
        if (b.v[i].operator_)
            add_layer(ctx, c, b.v[i].other < 0 ? NULL : &a.v[b.v[i].other], &b.v[i], (int32_t)i);
    for (size_t i = 0; i < a.n; i++)
        if (a.v[i].operator_ && a.v[i].other < 0)
            add_layer(ctx, c, &a.v[i], NULL, -1);
    if (c->n_layer)
        qsort(c->layer, c->n_layer, sizeof *c->layer, most_first);
}

void ti_changes_find(tc_ctx *ctx, const tc_saved_report *first, const tc_saved_report *second,
                     tc_changes *out)
{
    *out = (tc_changes){.of = {first, second}};
    find_figures(ctx, out);
    find_layers(ctx, out);
    out->sentence = sentence_of(ctx, out);
}
