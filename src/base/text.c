/* SPDX-License-Identifier: Apache-2.0 */
/* text.c -- see text.h. */
#include "text.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef _WIN32
#define BETWEEN_PARTS "/\\:"
#else
#define BETWEEN_PARTS "/"
#endif

bool ti_path_ends_part(char c)
{
    return c && strchr(BETWEEN_PARTS, c);
}

bool ti_path_is_absolute(const char *path)
{
    return ti_path_ends_part(path[0]) || (path[0] && path[1] == ':' && ti_path_ends_part(':'));
}

const char *ti_path_last(const char *path)
{
    const char *last = path;
    for (; *path; path++)
        if (ti_path_ends_part(*path))
            last = path + 1;
    return last;
}

bool ti_text_starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool ti_text_ends(const char *text, const char *suffix)
{
    size_t n = strlen(text), m = strlen(suffix);
    return n >= m && memcmp(text + n - m, suffix, m) == 0;
}

char *ti_text_copy(tc_arena *arena, tc_str text)
{
    char *copy = tc_new_n(arena, char, text.n + 1);
    if (text.n)
        memcpy(copy, text.p, text.n);
    return copy;
}

char *ti_text_format(tc_arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = tc_new_n(arena, char, (size_t)n + 1);
    va_start(args, format);
    vsnprintf(text, (size_t)n + 1, format, args);
    va_end(args);
    return text;
}

/* Formats with n digits, at most 17; whether it reads back as the same number. */
static bool comes_back(double value, int digits, char out[32])
{
    snprintf(out, 32, "%.*g", digits < 17 ? digits : 17, value);
    return strtod(out, NULL) == value;
}

void tc_text_f64(double value, char out[32])
{
    if (isnan(value)) {
        strcpy(out, "nan");
        return;
    }
    if (isinf(value)) {
        strcpy(out, value < 0 ? "-inf" : "inf");
        return;
    }
    if (fabs(value) < 1e15 && value == trunc(value)) {
        snprintf(out, 32, "%.0f", value);
        return;
    }
    /* More digits are never less exact: the least count that works is within (no, yes].  What was computed needs 16 or 17. */
    enum { SURE = 17, FEW = 15 };
    bool few = comes_back(value, FEW, out);
    int no = few ? 0 : FEW, yes = few ? FEW : SURE;
    while (yes - no > 1) {
        int digits = (no + yes) / 2;
        *(comes_back(value, digits, out) ? &yes : &no) = digits;
    }
    comes_back(value, yes, out);
}

/* strtoll and strtod need a terminated string. */
static bool terminated(tc_str text, char *out, size_t room)
{
    if (text.n == 0 || text.n >= room)
        return false;
    memcpy(out, text.p, text.n);
    out[text.n] = 0;
    return true;
}

bool ti_text_to_i64(tc_str text, int64_t *out)
{
    char word[32], *end;
    if (!terminated(text, word, sizeof word) || word[0] == ' ')
        return false;
    errno = 0;
    long long value = strtoll(word, &end, 10);
    *out = value;
    return *end == 0 && errno == 0;
}

bool ti_text_to_f64(tc_str text, double *out)
{
    char word[64], *end;
    if (!terminated(text, word, sizeof word) || word[0] == ' ')
        return false;
    *out = strtod(word, &end);
    return *end == 0 && end != word;
}

size_t ti_text_distance(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    size_t n = strlen(a), m = strlen(b), row[LONGEST + 1];
    if (n > LONGEST || m > LONGEST)
        return n > m ? n : m;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[m];
}

void ti_text_nearer(const char *word, const char *candidate, size_t *least, const char **best)
{
    size_t distance = ti_text_distance(word, candidate);
    if (distance < *least) {
        *least = distance;
        *best = candidate;
    }
}
