/* SPDX-License-Identifier: Apache-2.0 */
/* token_charsmap.c -- SentencePiece's table of replacements: a double array that finds the texts it
 * knows at the front of another, and what each becomes.
 *
 * A character with its marks, of less than six bytes, is looked up as a whole, by the shortest text
 * that begins it; else each character by itself: as Hugging Face's tokenizers do it. */
#include "token.h"

#include "../base/base64.h"

struct tc_charsmap {
    const uint8_t *unit; /* of 4 bytes */
    size_t n;
    tc_str text; /* replacement texts, each NUL-terminated */
};

tc_charsmap *ti_charsmap_new(tc_arena *arena, tc_str base64)
{
    tc_bytes all = ti_base64_read(arena, base64);
    size_t size = all.size >= 4 ? ti_le32(all.data) : 0;
    if (size < 4 || size % 4 || size > all.size - 4)
        return NULL;
    tc_charsmap *m = tc_new(arena, tc_charsmap);
    *m = (tc_charsmap){all.data + 4, size / 4,
                       {(const char *)all.data + 4 + size, all.size - 4 - size}};
    return m;
}

static uint32_t unit_at(const tc_charsmap *m, size_t i)
{
    return i < m->n ? ti_le32(m->unit + 4 * i) : 0;
}

static size_t step_of(uint32_t unit)
{
    return (size_t)(unit >> 10) << ((unit & 1u << 9) >> 6);
}

/* What the shortest text that it knows at the front of this one becomes; false: it knows none. */
static bool becomes(const tc_charsmap *m, tc_str text, tc_str *out)
{
    size_t at = step_of(unit_at(m, 0));
    for (size_t i = 0; i < text.n && text.p[i]; i++) {
        uint8_t c = (uint8_t)text.p[i];
        at ^= c;
        uint32_t unit = unit_at(m, at);
        if ((unit & (1u << 31 | 0xff)) != c || at >= m->n)
            return false;
        at ^= step_of(unit);
        if (unit >> 8 & 1) {
            size_t from = unit_at(m, at) & ~(1u << 31);
            if (from > m->text.n)
                return false;
            const char *end = from < m->text.n
                                  ? memchr(m->text.p + from, 0, m->text.n - from)
                                  : NULL;
            *out = (tc_str){m->text.p + from,
                            end ? (size_t)(end - m->text.p) - from : m->text.n - from};
            return true;
        }
    }
    return false;
}

static bool joins(uint32_t c)
{
    return ti_char_is(TC_MARK, c) || c == 0x200c || c == 0x200d || c == 0xe33 || c == 0xeb3 ||
           (c >= 0x1f3fb && c <= 0x1f3ff) || (c >= 0xff9e && c <= 0xff9f);
}

static bool is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x2028 || c == 0x2029 ||
           (ti_char_is(TC_CONTROL, c) && c != 0x200c && c != 0x200d && c != 0xfffd) ||
           c == UINT32_MAX;
}

/* Bytes of the character at `at` with all that joins it. */
static size_t cluster(tc_str text, size_t at)
{
    size_t size, more;
    uint32_t c = ti_utf8_next(text, at, &size);
    if (c == '\r' && at + 1 < text.n && text.p[at + 1] == '\n')
        return 2;
    if (is_control(c))
        return size;
    while (at + size < text.n && joins(ti_utf8_next(text, at + size, &more)))
        size += more;
    return size;
}

tc_str ti_charsmap_run(const tc_charsmap *m, tc_arena *arena, tc_str text)
{
    enum { WHOLE = 6 };
    tc_buf out;
    tc_str to;
    size_t size;
    ti_buf_init(&out, arena);
    for (size_t at = 0; at < text.n; at += size) {
        size = cluster(text, at);
        if (size < WHOLE && becomes(m, (tc_str){text.p + at, size}, &to)) {
            ti_buf_put(&out, to.p, to.n);
            continue;
        }
        for (size_t i = at, one; i < at + size; i += one) {
            ti_utf8_next(text, i, &one);
            tc_str part = {text.p + i, one};
            if (becomes(m, part, &to))
                part = to;
            ti_buf_put(&out, part.p, part.n);
        }
    }
    return (tc_str){(const char *)out.data, out.size};
}
