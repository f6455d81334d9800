/* SPDX-License-Identifier: Apache-2.0 */
/* token_split.c -- the pre-tokenizers of tokenizer.json: a text falls into words.
 *
 * A pattern selects parts of a text; the step's behavior makes them separate pieces, removes them,
 * or merges them with a neighbour. */
#include "token.h"

typedef struct part {
    size_t begin, end;
    bool match;
} part;
typedef struct parts {
    part *v;
    size_t n, cap;
} parts;

static void add(tc_arena *arena, parts *list, part one)
{
    if (one.begin == one.end)
        return;
    tc_grow(arena, list->v, list->n, list->cap);
    list->v[list->n++] = one;
}

/* ---- where patterns match ---- */

static void by_pattern(const tc_token_step *s, tc_arena *arena, tc_str text, parts *out)
{
    size_t at = 0, begin, end;
    while (at < text.n && ti_token_match(s, arena, text, at, &begin, &end)) {
        add(arena, out, (part){at, begin, false});
        add(arena, out, (part){begin, end, true});
        at = end;
    }
    add(arena, out, (part){at, text.n, false});
}

/* Each character of the set by itself. */
static void by_chars(tc_arena *arena, tc_str text, tc_chars set, parts *out)
{
    size_t from = 0, size;
    for (size_t i = 0; i < text.n; i += size) {
        if (!ti_char_is(set, ti_utf8_next(text, i, &size)))
            continue;
        add(arena, out, (part){from, i, false});
        add(arena, out, (part){i, i + size, true});
        from = i + size;
    }
    add(arena, out, (part){from, text.n, false});
}

/* Runs of word characters, and runs of what is neither that nor space. */
static void by_words(tc_arena *arena, tc_str text, parts *out)
{
    size_t from = 0, size;
    int last = -1;
    for (size_t i = 0; i < text.n; i += size) {
        uint32_t c = ti_utf8_next(text, i, &size);
        int kind = ti_char_is(TC_WORD_SPLIT, c) ? 1 : ti_is_space(c) ? 0 : 2;
        if (kind != last && i)
            add(arena, out, (part){from, i, last == 0});
        from = kind != last ? i : from;
        last = kind;
    }
    add(arena, out, (part){from, text.n, last == 0});
}

/* ---- behaviors ---- */

static void merge_before(parts *p)
{
    size_t n = 0;
    bool matched = false;
    for (size_t i = 0; i < p->n; i++) {
        bool match = p->v[i].match;
        if (match && !matched && n)
            p->v[n - 1].end = p->v[i].end;
        else
            p->v[n++] = (part){p->v[i].begin, p->v[i].end, false};
        matched = match;
    }
    p->n = n;
}

static void merge_behind(parts *p)
{
    size_t n = p->n; /* filled from the end */
    bool matched = false;
    for (size_t i = p->n; i-- > 0;) {
        bool match = p->v[i].match;
        if (match && !matched && n < p->n)
            p->v[n].begin = p->v[i].begin;
        else
            p->v[--n] = (part){p->v[i].begin, p->v[i].end, false};
        matched = match;
    }
    memmove(p->v, p->v + n, (p->n - n) * sizeof *p->v);
    p->n -= n;
}

static void merge_alike(parts *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        if (n && p->v[n - 1].match == p->v[i].match)
            p->v[n - 1].end = p->v[i].end;
        else
            p->v[n++] = p->v[i];
    p->n = n;
}

static void put_parts(tc_arena *arena, tc_piece piece, parts *p, tc_behavior behavior, bool invert,
                      tc_pieces *out)
{
    for (size_t i = 0; i < p->n; i++)
        p->v[i].match ^= invert;
    if (behavior == TC_CONTIGUOUS)
        merge_alike(p);
    else if (behavior == TC_MERGED_BEFORE)
        merge_before(p);
    else if (behavior == TC_MERGED_BEHIND)
        merge_behind(p);
    for (size_t i = 0; i < p->n; i++) {
        const part *one = &p->v[i];
        if (one->match && behavior == TC_REMOVED)
            continue;
        tc_grow(arena, out->v, out->n, out->cap);
        out->v[out->n++] = (tc_piece){{piece.text.p + one->begin, one->end - one->begin},
                                      piece.front && !one->begin};
    }
}

/* ---- the steps ---- */

typedef void split_fn(const tc_token_step *s, tc_arena *arena, tc_piece piece, tc_pieces *out);

static void by_step(const tc_token_step *s, tc_arena *arena, tc_piece piece, tc_pieces *out)
{
    parts p = {0};
    by_pattern(s, arena, piece.text, &p);
    put_parts(arena, piece, &p, s->behavior, s->invert, out);
}

static void white(const tc_token_step *s, tc_arena *arena, tc_piece piece, tc_pieces *out)
{
    parts p = {0};
    (void)s;
    by_chars(arena, piece.text, TC_SPACE, &p);
    put_parts(arena, piece, &p, TC_REMOVED, false, out);
}

static void words(const tc_token_step *s, tc_arena *arena, tc_piece piece, tc_pieces *out)
{
    parts p = {0};
    (void)s;
    by_words(arena, piece.text, &p);
    put_parts(arena, piece, &p, TC_REMOVED, false, out);
}

static void signs(const tc_token_step *s, tc_arena *arena, tc_piece piece, tc_pieces *out)
{
    parts p = {0};
    by_chars(arena, piece.text, TC_BERT_SIGN, &p);
    put_parts(arena, piece, &p, s->behavior, false, out);
}

static void bert(const tc_token_step *s, tc_arena *arena, tc_piece piece, tc_pieces *out)
{
    tc_pieces apart = {0};
    white(s, arena, piece, &apart);
    for (size_t i = 0; i < apart.n; i++)
        signs(s, arena, apart.v[i], out);
}

static void digits(const tc_token_step *s, tc_arena *arena, tc_piece piece, tc_pieces *out)
{
    parts p = {0};
    by_chars(arena, piece.text, TC_NUMERIC, &p);
    put_parts(arena, piece, &p, s->yes[0] ? TC_ISOLATED : TC_CONTIGUOUS, false, out);
}

static bool begins(tc_str text, tc_str with)
{
    return text.n >= with.n && memcmp(text.p, with.p, with.n) == 0;
}

static tc_piece put_in_front(tc_arena *arena, tc_str front, tc_piece piece)
{
    tc_buf buf;
    ti_buf_init(&buf, arena);
    ti_buf_put(&buf, front.p, front.n);
    ti_buf_put(&buf, piece.text.p, piece.text.n);
    return (tc_piece){{(const char *)buf.data, buf.size}, piece.front};
}

/* Spaces become signs; yes: one in front always, of the first only; every sign begins a word. */
static void metaspace(const tc_token_step *s, tc_arena *arena, tc_piece piece, tc_pieces *out)
{
    tc_token_step spaces = {.text = {" ", 1}, .other = s->text};
    piece.text = ti_token_replace(&spaces, arena, piece.text);
    if ((s->yes[0] || (s->yes[1] && piece.front)) && !begins(piece.text, s->text))
        piece = put_in_front(arena, s->text, piece);
    parts p = {0};
    if (s->yes[2])
        by_pattern(s, arena, piece.text, &p);
    else
        add(arena, &p, (part){0, piece.text.n, false});
    put_parts(arena, piece, &p, TC_MERGED_BEHIND, false, out);
}

/* A space in front, words by the pattern, then signs for bytes. */
static void byte_level(const tc_token_step *s, tc_arena *arena, tc_piece piece, tc_pieces *out)
{
    size_t first = out->n;
    if (s->yes[0] && piece.text.n && piece.text.p[0] != ' ')
        piece = put_in_front(arena, (tc_str){" ", 1}, piece);
    parts p = {0};
    if (s->yes[1])
        by_pattern(s, arena, piece.text, &p);
    else
        add(arena, &p, (part){0, piece.text.n, false});
    put_parts(arena, piece, &p, TC_ISOLATED, false, out);
    for (size_t i = first; i < out->n; i++) {
        tc_buf buf;
        ti_buf_init(&buf, arena);
        ti_token_signs(out->v[i].text, &buf);
        out->v[i].text = (tc_str){(const char *)buf.data, buf.size};
    }
}

static const struct {
    const char *name;
    split_fn *run;
} kinds[] = {
    {"Split", by_step},         {"CharDelimiterSplit", by_step}, {"WhitespaceSplit", white},
    {"Whitespace", words},      {"Punctuation", signs},          {"BertPreTokenizer", bert},
    {"Digits", digits},         {"Metaspace", metaspace},        {"ByteLevel", byte_level},
};

static tc_status read_behavior(struct tc_tokenizer *t, const tc_json *json, tc_token_step *s)
{
    static const char *const name[] = {[TC_ISOLATED] = "Isolated",
                                       [TC_REMOVED] = "Removed",
                                       [TC_CONTIGUOUS] = "Contiguous",
                                       [TC_MERGED_BEFORE] = "MergedWithPrevious",
                                       [TC_MERGED_BEHIND] = "MergedWithNext"};
    tc_str text = ti_token_text(t, json, "behavior");
    s->behavior = TC_ISOLATED;
    for (size_t i = 0; i < TC_COUNT(name); i++)
        if (ti_str_is(text, name[i])) {
            s->behavior = (tc_behavior)i;
            return TC_OK;
        }
    return text.p ? ti_token_beyond(t, "a split of the behavior", text) : TC_OK;
}

static tc_status read_metaspace(struct tc_tokenizer *t, const tc_json *json, tc_token_step *s)
{
    tc_str scheme = ti_token_text(t, json, "prepend_scheme");
    s->text = ti_token_text(t, json, "replacement");
    if (!s->text.n)
        return ti_token_broken(t, "a Metaspace without 'replacement'");
    s->yes[0] = scheme.p ? ti_str_is(scheme, "always")
                         : ti_token_flag(json, "add_prefix_space", true);
    s->yes[1] = scheme.p && ti_str_is(scheme, "first");
    s->yes[2] = ti_token_flag(json, "split", true);
    return TC_OK;
}

static tc_status read_bytes(struct tc_tokenizer *t, const tc_json *json, tc_token_step *s)
{
    static const char pattern[] =
        "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
    const char *why;
    s->yes[0] = ti_token_flag(json, "add_prefix_space", true);
    s->yes[1] = ti_token_flag(json, "use_regex", true);
    s->regex = ti_regex_new(ti_token_arena(t), ti_str_of(pattern), &why);
    return TC_OK;
}

static tc_status read_step(struct tc_tokenizer *t, const tc_json *json, tc_token_step *s)
{
    split_fn *run = kinds[s->kind].run;
    if (run == metaspace)
        return read_metaspace(t, json, s);
    if (run == byte_level)
        return read_bytes(t, json, s);
    if (run == digits)
        s->yes[0] = ti_token_flag(json, "individual_digits", false);
    if (run == signs)
        return read_behavior(t, json, s);
    if (run == by_step && s->kind == 1) {
        s->text = ti_token_text(t, json, "delimiter");
        s->behavior = TC_REMOVED;
    } else if (run == by_step) {
        s->invert = ti_token_flag(json, "invert", false);
        TC_TRY(read_behavior(t, json, s));
        return ti_token_pattern(t, json, s);
    }
    return TC_OK;
}

static const char *name_of(size_t i)
{
    return i < TC_COUNT(kinds) ? kinds[i].name : NULL;
}

tc_status ti_token_splitter(struct tc_tokenizer *t, const tc_json *json, tc_token_steps *out)
{
    static const tc_token_part kind = {"a pre-tokenizer of the type", "pretokenizers", name_of, read_step};
    return ti_token_read(t, json, &kind, out);
}

void ti_token_split(const tc_token_steps *steps, tc_arena *arena, tc_piece text, tc_pieces *out)
{
    tc_pieces now = {0};
    if (!text.text.n)
        return;
    tc_grow(arena, now.v, now.n, now.cap);
    now.v[now.n++] = text;
    for (size_t i = 0; i < steps->n; i++) {
        tc_pieces next = {0};
        for (size_t k = 0; k < now.n; k++)
            kinds[steps->v[i].kind].run(&steps->v[i], arena, now.v[k], &next);
        now = next;
    }
    *out = now;
}
