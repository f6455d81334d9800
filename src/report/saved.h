/* SPDX-License-Identifier: Apache-2.0 */
/* saved.h -- reports read back from files: one alone, or the differences of two. */
#ifndef TC_SAVED_H
#define TC_SAVED_H

#include "../wire/json.h"
#include "report.h"

struct tc_saved_report {
    const char *path;
    tc_bytes text; /* the JSON */
    const tc_json *json;
};

/* saved.c: from the bytes of a file, which must live as long as the context. */
TC_MUST_USE tc_status ti_saved_read(tc_ctx *ctx, const char *path, tc_bytes file,
                                    tc_saved_report **out);

/* ---- changes.c ---- */

/* A figure of both; text if `unit` says so, else a number, NaN: none. */
typedef struct tc_change {
    const char *what, *unit; /* unit: text, number, cycles, milliseconds, bytes, db, percent */
    const char *text[2];
    double value[2];
} tc_change;

/* A layer of either, or of both. */
typedef struct tc_layer_change {
    const char *name, *place, *how; /* how: changed, added, removed */
    int32_t node;                   /* in the second; -1: it is not there */
    double cycles[2], sqnr_db[2], bytes[2]; /* NaN: not known */
    const char *type[2], *where[2];         /* or NULL */
} tc_layer_change;

typedef struct tc_changes {
    const tc_saved_report *of[2];
    tc_change *figure;
    size_t n_figure;
    tc_layer_change *layer; /* those that differ, the most cycles first */
    size_t n_layer, same, changed, added, removed;
    bool tie; /* both numbers of cycles are inside the other's band */
    const char *sentence;
} tc_changes;

void ti_changes_find(tc_ctx *ctx, const tc_saved_report *first, const tc_saved_report *second,
                     tc_changes *out);

/* changes_text.c */
/* "| what | before | after | change |": the beginning of a row of Markdown. */
void ti_changes_row(tc_ctx *ctx, const tc_change *figure, tc_buf *out);
void ti_changes_text(tc_ctx *ctx, const tc_changes *c, tc_buf *out);
void ti_changes_json(const tc_changes *c, bool compact, tc_buf *out);
/* One report alone, in a few lines. */
void ti_saved_text(tc_ctx *ctx, const tc_saved_report *r, tc_buf *out);

/* csv.c: table i and its name; false: there are no more. */
bool ti_saved_csv(tc_ctx *ctx, const tc_saved_report *r, size_t i, const char **name, tc_buf *out);
bool ti_changes_csv(tc_ctx *ctx, const tc_changes *c, size_t i, const char **name, tc_buf *out);

#endif
