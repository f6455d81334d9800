/* SPDX-License-Identifier: Apache-2.0 */
/* token_normal.c -- the normalizers of tokenizer.json, each a function from text to text. */
#include "token.h"

typedef tc_str normalize_fn(const tc_token_step *s, tc_arena *arena, tc_str text);

static tc_str text_of(const tc_buf *b) { return (tc_str){(const char *)b->data, b->size}; }

static tc_str nfc(const tc_token_step *s, tc_arena *arena, tc_str text)
{
    return ti_text_form(arena, text, s->yes[0], s->yes[1]);
}

static tc_str lowercase(const tc_token_step *s, tc_arena *arena, tc_str text)
{
    (void)s;
    return ti_text_lower(arena, text);
}

static tc_str without(tc_arena *arena, tc_str text, tc_chars set)
{
    tc_buf out;
    size_t size;
    ti_buf_init(&out, arena);
    for (size_t i = 0; i < text.n; i += size)
        if (!ti_char_is(set, ti_utf8_next(text, i, &size)))
            ti_buf_put(&out, text.p + i, size);
    return text_of(&out);
}

static tc_str strip_accents(const tc_token_step *s, tc_arena *arena, tc_str text)
{
    (void)s;
    return without(arena, text, TC_COMBINING);
}

static tc_str strip(const tc_token_step *s, tc_arena *arena, tc_str text)
{
    size_t from = 0, to = text.n, size, last = 0;
    (void)arena;
    while (s->yes[0] && from < to && ti_is_space(ti_utf8_next(text, from, &size)))
        from += size;
    for (size_t i = from; i < text.n; i += size)
        if (!ti_is_space(ti_utf8_next(text, i, &size)))
            last = i + size;
    to = s->yes[1] ? (last > from ? last : from) : to;
    return (tc_str){text.p + from, to - from};
}

static tc_str prepend(const tc_token_step *s, tc_arena *arena, tc_str text)
{
    tc_buf out;
    if (!text.n)
        return text;
    ti_buf_init(&out, arena);
    ti_buf_put(&out, s->text.p, s->text.n);
    ti_buf_put(&out, text.p, text.n);
    return text_of(&out);
}

static tc_str nmt(const tc_token_step *s, tc_arena *arena, tc_str text)
{
    tc_buf out;
    size_t size;
    (void)s;
    ti_buf_init(&out, arena);
    for (size_t i = 0; i < text.n; i += size) {
        uint32_t c = ti_utf8_next(text, i, &size);
        bool gone = (c >= 1 && c <= 8) || c == 0xb || (c >= 0xe && c <= 0x1f) || c == 0x7f ||
                    c == 0x8f || c == 0x9f;
        bool space = c == 9 || c == 10 || c == 12 || c == 13 || c == 0x1680 ||
                     (c >= 0x200b && c <= 0x200f) || c == 0x2028 || c == 0x2029 || c == 0x2581 ||
                     c == 0xfeff || c == 0xfffd;
        if (space)
            ti_buf_u8(&out, ' ');
        else if (!gone)
            ti_buf_put(&out, text.p + i, size);
    }
    return text_of(&out);
}

static tc_str byte_level(const tc_token_step *s, tc_arena *arena, tc_str text)
{
    tc_buf out;
    (void)s;
    ti_buf_init(&out, arena);
    ti_token_signs(text, &out);
    return text_of(&out);
}

static tc_str charsmap(const tc_token_step *s, tc_arena *arena, tc_str text)
{
    return s->map ? ti_charsmap_run(s->map, arena, text) : text;
}

static bool is_chinese(uint32_t c)
{
    static const uint32_t range[][2] = {{0x4e00, 0x9fff},   {0x3400, 0x4dbf},   {0x20000, 0x2a6df},
                                        {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f}, {0x2b920, 0x2ceaf},
                                        {0xf900, 0xfaff},   {0x2f800, 0x2fa1f}};
    for (size_t i = 0; i < TC_COUNT(range); i++)
        if (c >= range[i][0] && c <= range[i][1])
            return true;
    return false;
}

/* clean text, spaces around Chinese characters, accents, lower case */
static tc_str bert(const tc_token_step *s, tc_arena *arena, tc_str text)
{
    tc_buf out;
    size_t size;
    ti_buf_init(&out, arena);
    for (size_t i = 0; i < text.n; i += size) {
        uint32_t c = ti_utf8_next(text, i, &size);
        bool chinese = s->yes[1] && is_chinese(c);
        if (s->yes[0] && ti_char_is(TC_CONTROL, c))
            continue;
        if (chinese)
            ti_buf_u8(&out, ' ');
        if (s->yes[0] && ti_is_space(c))
            ti_buf_u8(&out, ' ');
        else
            ti_buf_put(&out, text.p + i, size);
        if (chinese)
            ti_buf_u8(&out, ' ');
    }
    text = text_of(&out);
    if (s->yes[2])
        text = without(arena, ti_text_form(arena, text, false, false), TC_ACCENT);
    return s->yes[3] ? ti_text_lower(arena, text) : text;
}

static const struct {
    const char *name;
    normalize_fn *run;
    bool yes[2];
} kinds[] = {
    {"NFC", nfc, {true, false}},      {"NFD", nfc, {false, false}},
    {"NFKC", nfc, {true, true}},      {"NFKD", nfc, {false, true}},
    {"Lowercase", lowercase, {0}},    {"StripAccents", strip_accents, {0}},
    {"Strip", strip, {0}},            {"Prepend", prepend, {0}},
    {"Replace", ti_token_replace, {0}}, {"Nmt", nmt, {0}},
    {"ByteLevel", byte_level, {0}},   {"BertNormalizer", bert, {0}},
    {"Precompiled", charsmap, {0}},
};

static tc_status read_step(struct tc_tokenizer *t, const tc_json *part, tc_token_step *s)
{
    s->yes[0] = kinds[s->kind].yes[0];
    s->yes[1] = kinds[s->kind].yes[1];
    if (kinds[s->kind].run == prepend)
        s->text = ti_token_text(t, part, "prepend");
    if (kinds[s->kind].run == ti_token_replace) {
        s->other = ti_token_text(t, part, "content");
        return ti_token_pattern(t, part, s);
    }
    if (kinds[s->kind].run == charsmap) {
        tc_str map = ti_token_text(t, part, "precompiled_charsmap");
        s->map = ti_charsmap_new(ti_token_arena(t), map);
        if (!s->map && map.n)
            return ti_token_broken(t, "a wrong 'precompiled_charsmap'");
    }
    if (kinds[s->kind].run == strip) {
        s->yes[0] = ti_token_flag(part, "strip_left", true);
        s->yes[1] = ti_token_flag(part, "strip_right", true);
    }
    if (kinds[s->kind].run == bert) {
        s->yes[0] = ti_token_flag(part, "clean_text", true);
        s->yes[1] = ti_token_flag(part, "handle_chinese_chars", true);
        s->yes[3] = ti_token_flag(part, "lowercase", true);
        s->yes[2] = ti_token_flag(part, "strip_accents", s->yes[3]);
    }
    return TC_OK;
}

static const char *name_of(size_t i)
{
    return i < TC_COUNT(kinds) ? kinds[i].name : NULL;
}

tc_status ti_token_normalizer(struct tc_tokenizer *t, const tc_json *part, tc_token_steps *out)
{
    static const tc_token_part kind = {"a normalizer of the type", "normalizers", name_of, read_step};
    return ti_token_read(t, part, &kind, out);
}

tc_str ti_token_normalize(const tc_token_steps *steps, tc_arena *arena, tc_str text)
{
    for (size_t i = 0; i < steps->n; i++)
        text = kinds[steps->v[i].kind].run(&steps->v[i], arena, text);
    return text;
}
