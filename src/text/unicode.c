/* SPDX-License-Identifier: Apache-2.0 */
/* unicode.c -- characters for tokenizers: what they count as, their lower case, and the four forms
 * of Unicode.  The tables are those of Hugging Face's tokenizers (tools/peer/unicode_tables.py). */
#include "token.h"

/* clang-format off */
#include "unicode_sets.h"
#include "unicode_forms.h"
/* clang-format on */

/* The run of one value that the character is in: v[i] is its first character << bits | the value. */
static uint32_t value_of(const uint32_t *v, size_t n, int bits, uint32_t c)
{
    size_t low = 0, high = n; /* c is in a run of [low, high) */
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;
        if (c < v[mid] >> bits)
            high = mid;
        else
            low = mid;
    }
    return v[low] & ((UINT32_C(1) << bits) - 1);
}

bool ti_is_space(uint32_t c)
{
    return (c >= 9 && c <= 13) || c == ' ' || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
           c == 0x205f || c == 0x3000;
}

bool ti_char_is(tc_chars set, uint32_t c)
{
    if (set == TC_SPACE)
        return ti_is_space(c);
    if (set == TC_OTHER_LETTER)
        return ti_char_is(TC_LETTER, c) && !ti_char_is(TC_UPPER, c) && !ti_char_is(TC_LOWER, c) &&
               !ti_char_is(TC_TITLE, c) && !ti_char_is(TC_MODIFIER, c);
    return kind_set[value_of(kind_run, TC_COUNT(kind_run), 5, c)] >> set & 1;
}

uint32_t ti_utf8_next(tc_str text, size_t at, size_t *size)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint8_t first = (uint8_t)text.p[at];
    size_t n = first < 0x80             ? 1
               : (first & 0xe0) == 0xc0 ? 2
               : (first & 0xf0) == 0xe0 ? 3
               : (first & 0xf8) == 0xf0 ? 4
                                        : 0;
    uint32_t c = n > 1 ? first & (0x7fu >> n) : first;
    *size = 1;
    if (n == 1)
        return c;
    if (!n || n > text.n - at)
        return UINT32_MAX;
    for (size_t i = 1; i < n; i++) {
        uint8_t next = (uint8_t)text.p[at + i];
        if ((next & 0xc0) != 0x80)
            return UINT32_MAX;
        c = c << 6 | (next & 0x3f);
    }
    if (c < least[n] || c > 0x10ffff)
        return UINT32_MAX;
    *size = n;
    return c;
}

void ti_utf8_put(tc_buf *out, uint32_t c)
{
    if (c < 0x80)
        ti_buf_u8(out, (uint8_t)c);
    else if (c < 0x800) {
        ti_buf_u8(out, (uint8_t)(0xc0 | c >> 6));
        ti_buf_u8(out, (uint8_t)(0x80 | (c & 0x3f)));
    } else if (c < 0x10000) {
        ti_buf_u8(out, (uint8_t)(0xe0 | c >> 12));
        ti_buf_u8(out, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
        ti_buf_u8(out, (uint8_t)(0x80 | (c & 0x3f)));
    } else {
        ti_buf_u8(out, (uint8_t)(0xf0 | c >> 18));
        ti_buf_u8(out, (uint8_t)(0x80 | (c >> 12 & 0x3f)));
        ti_buf_u8(out, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
        ti_buf_u8(out, (uint8_t)(0x80 | (c & 0x3f)));
    }
}

/* The entry of the character in a table; p NULL: it has none. */
static tc_str becomes(const char *const *line, size_t n, uint32_t c)
{
    static const char end[] = "\u241e";
    size_t low = 0, high = n, size = 0; /* lines of [0, low) begin with c or before it */
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (c < ti_utf8_next(ti_str_of(line[mid]), 0, &size))
            high = mid;
        else
            low = mid + 1;
    }
    for (const char *p = low ? line[low - 1] : "", *next; *p; p = next + strlen(end)) {
        next = strstr(p, end);
        uint32_t own = ti_utf8_next(ti_str_of(p), 0, &size);
        if (own >= c)
            return own == c ? (tc_str){p + size, (size_t)(next - p) - size} : (tc_str){NULL, 0};
    }
    return (tc_str){NULL, 0};
}

tc_str ti_text_lower(tc_arena *arena, tc_str text)
{
    tc_buf out;
    size_t size;
    ti_buf_init(&out, arena);
    for (size_t i = 0; i < text.n; i += size) {
        tc_str low = becomes(lowered_text, TC_COUNT(lowered_text), ti_utf8_next(text, i, &size));
        ti_buf_put(&out, low.p ? low.p : text.p + i, low.p ? low.n : size);
    }
    return (tc_str){(const char *)out.data, out.size};
}

/* ---- forms ---- */

enum { L0 = 0x1100, V0 = 0x1161, T0 = 0x11a7, S0 = 0xac00, LS = 19, VS = 21, TS = 28 };

static uint32_t class_of(uint32_t c)
{
    return value_of(class_run, TC_COUNT(class_run), 8, c);
}

typedef struct chars {
    tc_arena *arena;
    uint32_t *v;
    size_t n, cap;
} chars;

/* Marks go in front of those before them that have a higher class. */
static void put_ordered(chars *list, uint32_t c)
{
    tc_grow(list->arena, list->v, list->n, list->cap);
    size_t at = list->n++;
    uint32_t own = c == UINT32_MAX ? 0 : class_of(c);
    for (; own && at && class_of(list->v[at - 1]) > own; at--)
        list->v[at] = list->v[at - 1];
    list->v[at] = c;
}

static void put_apart(chars *list, uint32_t c, bool compatible)
{
    uint32_t s = c - S0;
    if (c >= S0 && s < LS * VS * TS) {
        put_ordered(list, L0 + s / (VS * TS));
        put_ordered(list, V0 + s % (VS * TS) / TS);
        if (s % TS)
            put_ordered(list, T0 + s % TS);
        return;
    }
    tc_str parts = {NULL, 0};
    if (compatible)
        parts = becomes(compatible_text, TC_COUNT(compatible_text), c);
    if (!parts.p)
        parts = becomes(canonical_text, TC_COUNT(canonical_text), c);
    size_t size;
    for (size_t i = 0; i < parts.n; i += size)
        put_ordered(list, ti_utf8_next(parts, i, &size));
    if (!parts.p)
        put_ordered(list, c);
}

/* The character that two make, or 0. */
static uint32_t joined(uint32_t a, uint32_t b)
{
    if (a >= L0 && a < L0 + LS && b >= V0 && b < V0 + VS)
        return S0 + ((a - L0) * VS + (b - V0)) * TS;
    if (a >= S0 && a < S0 + LS * VS * TS && (a - S0) % TS == 0 && b > T0 && b < T0 + TS)
        return a + (b - T0);
    tc_str with = becomes(pair_text, TC_COUNT(pair_text), a);
    size_t size;
    for (size_t i = 0; i < with.n; i += size) {
        uint32_t second = ti_utf8_next(with, i, &size);
        uint32_t whole = ti_utf8_next(with, i += size, &size);
        if (second == b)
            return whole;
    }
    return 0;
}

/* Each character joins the last starter unless blocked by its class or a higher one. */
static void compose(chars *list)
{
    size_t n = 0, starter = SIZE_MAX;
    uint32_t last = 0; /* class of the last character kept after the starter */
    for (size_t i = 0; i < list->n; i++) {
        uint32_t c = list->v[i], own = c == UINT32_MAX ? 0 : class_of(c), whole = 0;
        bool near = starter != SIZE_MAX && (starter + 1 == n || (last < own && last));
        if (near && c != UINT32_MAX)
            whole = joined(list->v[starter], c);
        if (whole) {
            list->v[starter] = whole;
            continue;
        }
        if (!own)
            starter = n;
        last = own;
        list->v[n++] = c;
    }
    list->n = n;
}

tc_str ti_text_form(tc_arena *arena, tc_str text, bool composed, bool compatible)
{
    chars list = {.arena = arena};
    tc_buf out;
    size_t size;
    ti_buf_init(&out, arena);
    /* bytes that are not UTF-8 end a run, and are kept */
    for (size_t i = 0; i <= text.n; i += size) {
        size = 1;
        uint32_t c = i < text.n ? ti_utf8_next(text, i, &size) : UINT32_MAX;
        if (c != UINT32_MAX) {
            put_apart(&list, c, compatible);
            continue;
        }
        if (composed)
            compose(&list);
        for (size_t k = 0; k < list.n; k++)
            ti_utf8_put(&out, list.v[k]);
        list.n = 0;
        if (i < text.n)
            ti_buf_u8(&out, (uint8_t)text.p[i]);
    }
    return (tc_str){(const char *)out.data, out.size};
}
