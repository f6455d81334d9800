/* SPDX-License-Identifier: Apache-2.0 */
/* record.h -- the JSON files beside recorded cases.  What is not there reads as NULL, 0 or nothing.
 */
#ifndef TC_RECORD_H
#define TC_RECORD_H

#include <unistd.h>

#include "wire/file.h"
#include "wire/json.h"

/* The file's value, in the context; NULL: it cannot be read. */
static inline const tc_json *record_load(tc_ctx *ctx, const char *path)
{
    tc_bytes bytes;
    const char *reason;
    size_t at;
    if (access(path, R_OK) != 0 || ti_file_read(ctx, path, &bytes) != TC_OK)
        return NULL;
    return ti_json_parse(&ctx->arena, bytes, &reason, &at);
}

static inline const char *record_string(tc_ctx *ctx, const tc_json *json)
{
    tc_str text = ti_json_text(&ctx->arena, json);
    return text.p ? ti_text_copy(&ctx->arena, text) : NULL;
}

static inline const char *record_text(tc_ctx *ctx, const tc_json *object, const char *key)
{
    return record_string(ctx, ti_json_get(object, key));
}

static inline bool record_is(tc_ctx *ctx, const tc_json *object, const char *key, const char *text)
{
    const char *found = record_text(ctx, object, key);
    return found && ti_text_eq(found, text);
}

static inline bool record_true(const tc_json *object, const char *key)
{
    return ti_json_is(ti_json_get(object, key), TC_JSON_TRUE);
}

static inline double record_number(const tc_json *object, const char *key)
{
    double v = 0;
    return ti_json_f64(ti_json_get(object, key), &v) ? v : 0;
}

static inline size_t record_size(const tc_json *list)
{
    return ti_json_is(list, TC_JSON_LIST) ? list->n : 0;
}

static inline const tc_json *record_at(const tc_json *list, size_t i)
{
    const tc_json *it = ti_json_first(list);
    while (it && i--)
        it = it->next;
    return it;
}

#define RECORD_EACH(it, list) (const tc_json *it = ti_json_first(list); it; it = it->next)

#endif
