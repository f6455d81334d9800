/* SPDX-License-Identifier: Apache-2.0 */
/* json.h -- JSON as a tree of small records over the text itself.
 *
 * Text stays in the input; it is copied on access if it has escapes. Numbers are converted on
 * access, so 64-bit integers stay exact.  Every accessor takes NULL for "absent" and returns NULL
 * or false, so that lookups can be chained. */
#ifndef TC_JSON_H
#define TC_JSON_H

#include "../base/text.h"

typedef enum tc_json_kind {
    TC_JSON_NULL,
    TC_JSON_FALSE,
    TC_JSON_TRUE,
    TC_JSON_INT,
    TC_JSON_REAL,
    TC_JSON_TEXT,
    TC_JSON_LIST,
    TC_JSON_OBJECT
} tc_json_kind;

typedef struct tc_json {
    const struct tc_json *next; /* the next of a list; in an object keys and values alternate */
    union {
        const char *text;            /* numbers and text: in the input, without quotes */
        const struct tc_json *child; /* the first of a list; the first key of an object */
    } as;
    uint32_t n;   /* bytes of text, elements of a list, members of an object */
    uint8_t kind; /* tc_json_kind */
    bool escaped; /* text that holds a backslash */
} tc_json;

enum { TC_JSON_DEPTH = 256 }; /* lists and objects inside each other */

/* Parses `text`, into the arena; the text must live as long. NULL: *reason says why not, *at is the
 * byte. */
const tc_json *ti_json_parse(tc_arena *arena, tc_bytes text, const char **reason, size_t *at);

/* An object's member. */
const tc_json *ti_json_get(const tc_json *object, const char *key);

/* The only member of an object that has one: its value, and its key in *key. */
const tc_json *ti_json_only(const tc_json *object, tc_str *key);

/* The first element of a list; go on with ->next. */
static inline const tc_json *ti_json_first(const tc_json *list)
{
    return list && list->kind == TC_JSON_LIST ? list->as.child : NULL;
}

static inline bool ti_json_is(const tc_json *json, tc_json_kind kind)
{
    return json && json->kind == kind;
}

/* Text with its escapes resolved; {NULL, 0} when it is not text.  Never holds a NUL. */
tc_str ti_json_text(tc_arena *arena, const tc_json *json);

bool ti_json_i64(const tc_json *json, int64_t *out);
bool ti_json_f64(const tc_json *json,
                 double *out); /* also "Infinity", "-Infinity", "NaN" as text */
bool ti_json_bool(const tc_json *json, bool *out);

#endif
