/* SPDX-License-Identifier: Apache-2.0 */
/* text.h -- string views, formatting into an arena, exact text for numbers. */
#ifndef TC_TEXT_H
#define TC_TEXT_H

#include "arena.h"

/* Text that need not end in a NUL. */
typedef struct tc_str {
    const char *p;
    size_t n;
} tc_str;

static inline tc_str ti_str_of(const char *text) { return (tc_str){text, text ? strlen(text) : 0}; }
static inline bool ti_str_eq(tc_str a, tc_str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}
static inline bool ti_str_is(tc_str a, const char *b) { return ti_str_eq(a, ti_str_of(b)); }
static inline bool ti_text_eq(const char *a, const char *b) { return strcmp(a, b) == 0; }
/* Either may be NULL. */
static inline bool ti_text_same(const char *a, const char *b)
{
    return a == b || (a && b && ti_text_eq(a, b));
}
bool ti_text_starts(const char *text, const char *prefix);
bool ti_text_ends(const char *text, const char *suffix);

/* The file name of a path, without its folders.  Windows takes '\\' and a drive's ':' too. */
const char *ti_path_last(const char *path);
bool ti_path_ends_part(char c);            /* a slash, whichever way it leans */
bool ti_path_is_absolute(const char *path); /* from the root, or from a drive of Windows */

/* NUL-terminated copies in the arena. */
char *ti_text_copy(tc_arena *arena, tc_str text);
char *ti_text_format(tc_arena *arena, const char *format, ...) TC_PRINTF(2, 3);

/* tc_text_f64(), the shortest exact text of a double, is public: tosac/base.h. */

/* The whole of `text` as a number; false when it is not one. */
bool ti_text_to_i64(tc_str text, int64_t *out);
bool ti_text_to_f64(tc_str text, double *out);

/* Edits between two words, for "did you mean". */
size_t ti_text_distance(const char *a, const char *b);
/* Takes the candidate when it is nearer than `least`; both are brought up to date. */
void ti_text_nearer(const char *word, const char *candidate, size_t *least, const char **best);
/* What is as far away as this is not near. */
static inline size_t ti_text_far(const char *word) { return strlen(word) / 3 + 2; }

#endif
