/* SPDX-License-Identifier: Apache-2.0 */
/* token_split.c -- words of a text, by the patterns that byte-level tokenizers come with.
 *
 * The patterns differ in few things, which tc_word_rules names; each alternative below is one of
 * the pattern's, in its order. */
#include "token.h"

static const tc_word_rules known[] = {
    {"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", false,
     false, 0, false},
    {"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| "
     "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
     true, true, 3, true},
    {"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| "
     "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
     true, true, 1, true},
};

const tc_word_rules *tc_word_rules_of(const char *pattern)
{
    for (size_t i = 0; i < TC_COUNT(known); i++)
        if (tc_text_eq(known[i].pattern, pattern))
            return &known[i];
    return NULL;
}

const tc_word_rules *tc_word_rules_bytes(void)
{
    return &known[0];
}

uint32_t tc_utf8_next(tc_str text, size_t at, size_t *size)
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

/* ---- kinds of characters ---- */

typedef bool is_kind(uint32_t c);

static bool is_sign(uint32_t c)
{
    return !tc_is_space(c) && !tc_is_letter(c) && !tc_is_number(c);
}

static bool is_line_end(uint32_t c)
{
    return c == '\r' || c == '\n';
}

/* Bytes of the characters of a kind from `at` on, at most so many characters. */
static size_t run_of(tc_str t, size_t at, is_kind *is, size_t most)
{
    size_t from = at, size;
    for (size_t k = 0; at < t.n && k < most; k++) {
        if (!is(tc_utf8_next(t, at, &size)))
            break;
        at += size;
    }
    return at - from;
}

/* ---- alternatives: bytes that they take, 0: they do not begin here ---- */

static size_t ending(const tc_word_rules *r, tc_str t, size_t at)
{
    static const char *const word[] = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};
    for (size_t i = 0; i < TC_COUNT(word); i++) {
        size_t n = strlen(word[i]), k = 0;
        while (k < n && at + k < t.n) {
            char c = t.p[at + k];
            if (r->any_case && c >= 'A' && c <= 'Z')
                c = (char)(c - 'A' + 'a');
            if (c != word[i][k])
                break;
            k++;
        }
        if (k == n)
            return n;
    }
    return 0;
}

/* A run of a kind, with a space in front of it or without. */
static size_t spaced(tc_str t, size_t at, is_kind *is)
{
    size_t lead = t.p[at] == ' ' ? 1 : 0, n = run_of(t, at + lead, is, SIZE_MAX);
    return n ? lead + n : 0;
}

static size_t letters(const tc_word_rules *r, tc_str t, size_t at)
{
    size_t lead = 0, n;
    if (!r->lead_any)
        return spaced(t, at, tc_is_letter);
    uint32_t c = tc_utf8_next(t, at, &lead);
    if (is_line_end(c) || tc_is_letter(c) || tc_is_number(c))
        lead = 0;
    n = run_of(t, at + lead, tc_is_letter, SIZE_MAX);
    return n ? lead + n : 0;
}

static size_t numbers(const tc_word_rules *r, tc_str t, size_t at)
{
    return r->digits ? run_of(t, at, tc_is_number, r->digits) : spaced(t, at, tc_is_number);
}

static size_t signs(const tc_word_rules *r, tc_str t, size_t at)
{
    size_t n = spaced(t, at, is_sign);
    return n && r->line_ends ? n + run_of(t, at + n, is_line_end, SIZE_MAX) : n;
}

/* Spaces up to the last line end among them; else all but the last one, which goes with the word
 * behind it; else all. */
static size_t spaces(const tc_word_rules *r, tc_str t, size_t at)
{
    size_t n = run_of(t, at, tc_is_space, SIZE_MAX), last = 0, ends = 0, size;
    for (size_t i = at; i < at + n; i += size) {
        last = i - at;
        if (is_line_end(tc_utf8_next(t, i, &size)))
            ends = i + size - at;
    }
    if (r->line_ends && ends)
        return ends;
    return at + n < t.n && last ? last : n;
}

size_t tc_word_size(const tc_word_rules *r, tc_str t, size_t at)
{
    size_t n, size;
    if ((n = ending(r, t, at)) || (n = letters(r, t, at)) || (n = numbers(r, t, at)) ||
        (n = signs(r, t, at)) || (n = spaces(r, t, at)))
        return n;
    tc_utf8_next(t, at, &size);
    return size;
}
