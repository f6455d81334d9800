/* SPDX-License-Identifier: Apache-2.0 */
/* tokenizer.c -- tokenizer.json: byte pairs, merged in the order of their ranks.
 *
 * A text goes through: added tokens cut out of it; the signs that stand for spaces; words; the
 * smallest symbols of each word (bytes, or characters); pairs of symbols become one while there is
 * a pair that has a rank, the lowest first. */
#include "token.h"

#include "../wire/file.h"
#include "../wire/json.h"
#include "enter.h"

typedef struct added {
    tc_str text;
    int64_t id;
} added;

struct tc_tokenizer {
    tc_ctx *ctx;
    tc_loc loc;
    tc_map id;      /* text of a token: its number + 1 */
    tc_str *text;   /* by number; p NULL: there is none */
    size_t n;
    tc_map rank;    /* two numbers: the rank of their pair + 1 */
    tc_map merged;  /* two numbers: the number of their pair + 1 */
    added *added;   /* the longest first */
    size_t n_added;
    bool bytes;          /* symbols are bytes, each as a sign of its own; else characters */
    bool byte_fallback;  /* characters that there is no symbol for are <0x..> */
    bool whole_words;    /* a word that is a token is that token, whatever its pairs */
    bool space_in_front; /* of every text between added tokens, */
    bool space_once;     /* unless it has one there already, */
    bool space_first;    /* and of the first only */
    tc_str space;        /* what stands for a space; n 0: a space */
    bool single_digits;  /* digits are words of their own */
    bool strip_first;    /* of a whole text, the first space is none of its own */
    const tc_word_rules *words; /* NULL: a text is one word */
    int64_t unknown;            /* -1: none */
    int64_t *before, *after;    /* tokens around every text */
    size_t n_before, n_after;
    uint32_t sign[256];  /* the character that stands for each byte */
    int64_t symbol[256]; /* the token of each, or -1 */
};

static tc_status broken(const tc_tokenizer *t, const char *what)
{
    return tc_error(t->ctx, &t->loc, TC_E_FORMAT, "%s", what);
}

static tc_status beyond(const tc_tokenizer *t, const char *what, tc_str name)
{
    return tc_unsupported(t->ctx, &t->loc, TC_E_UNSUPPORTED, "%s '%.*s'", what, (int)name.n,
                          name.p ? name.p : "");
}

static tc_str text_of(const tc_tokenizer *t, const tc_json *json)
{
    return tc_json_text(&t->ctx->arena, json);
}

static tc_str type_of(const tc_tokenizer *t, const tc_json *part)
{
    return text_of(t, tc_json_get(part, "type"));
}

static bool flag(const tc_json *part, const char *name, bool otherwise)
{
    bool value;
    return tc_json_bool(tc_json_get(part, name), &value) ? value : otherwise;
}

static int64_t find(const tc_tokenizer *t, tc_str text)
{
    return (int64_t)(intptr_t)tc_map_get(&t->id, text) - 1;
}

/* ---- bytes as signs ---- */

/* The characters that stand for bytes: themselves where they can be seen, else those from 256
 * on. */
static void make_signs(uint32_t sign[256])
{
    uint32_t next = 256;
    for (uint32_t b = 0; b < 256; b++) {
        bool seen = (b >= 33 && b <= 126) || (b >= 161 && b != 173);
        sign[b] = seen ? b : next;
        next += !seen;
    }
}

static int byte_of(const tc_tokenizer *t, uint32_t sign)
{
    for (int b = 0; b < 256; b++)
        if (t->sign[b] == sign)
            return b;
    return -1;
}

static tc_str utf8(uint32_t c, char room[4])
{
    if (c < 0x80) {
        room[0] = (char)c;
        return (tc_str){room, 1};
    }
    room[0] = (char)(0xc0 | c >> 6);
    room[1] = (char)(0x80 | (c & 0x3f));
    return (tc_str){room, 2};
}

/* ---- reading: the tables ---- */

static tc_status take_token(tc_tokenizer *t, tc_str text, int64_t id)
{
    enum { MOST = 1 << 24 };
    if (id < 0 || id >= MOST)
        return broken(t, "a token's number is out of range");
    *tc_map_at(&t->id, text) = (void *)(intptr_t)(id + 1);
    t->n = (size_t)id >= t->n ? (size_t)id + 1 : t->n;
    return TC_OK;
}

static tc_status read_vocabulary(tc_tokenizer *t, const tc_json *model, const tc_json *extra)
{
    const tc_json *vocab = tc_json_get(model, "vocab");
    int64_t id;
    if (!tc_json_is(vocab, TC_JSON_OBJECT))
        return broken(t, "'model' has no 'vocab'");
    for (const tc_json *key = vocab->as.child; key; key = key->next->next) {
        if (!tc_json_i64(key->next, &id))
            return broken(t, "a token of 'vocab' has no number");
        TC_TRY(take_token(t, text_of(t, key), id));
    }
    for (const tc_json *a = tc_json_first(extra); a; a = a->next)
        if (tc_json_i64(tc_json_get(a, "id"), &id))
            TC_TRY(take_token(t, text_of(t, tc_json_get(a, "content")), id));
    t->text = tc_new_n(&t->ctx->arena, tc_str, t->n);
    for (size_t i = 0; i < t->id.n; i++)
        t->text[(intptr_t)t->id.entry[i].value - 1] = t->id.entry[i].key;
    return TC_OK;
}

static tc_str pair_key(const int64_t pair[2])
{
    return (tc_str){(const char *)pair, 2 * sizeof *pair};
}

/* "a b", or ["a", "b"]. */
static tc_status read_merge(tc_tokenizer *t, const tc_json *merge, size_t rank)
{
    tc_str left, right;
    if (tc_json_is(merge, TC_JSON_LIST) && merge->n == 2) {
        left = text_of(t, merge->as.child);
        right = text_of(t, merge->as.child->next);
    } else {
        tc_str both = text_of(t, merge);
        const char *gap = both.n ? memchr(both.p + 1, ' ', both.n - 1) : NULL;
        if (!gap)
            return broken(t, "a pair of 'merges' is not two texts");
        left = (tc_str){both.p, (size_t)(gap - both.p)};
        right = (tc_str){gap + 1, both.n - left.n - 1};
    }
    tc_mark mark = tc_arena_mark(&t->ctx->scratch);
    char *joined = tc_new_n(&t->ctx->scratch, char, left.n + right.n + 1);
    if (left.n)
        memcpy(joined, left.p, left.n);
    if (right.n)
        memcpy(joined + left.n, right.p, right.n);
    int64_t pair[2] = {find(t, left), find(t, right)},
            whole = find(t, (tc_str){joined, left.n + right.n});
    tc_arena_rewind(&t->ctx->scratch, mark);
    if (pair[0] < 0 || pair[1] < 0 || whole < 0)
        return broken(t, "a pair of 'merges' is not in 'vocab'");
    void **slot = tc_map_at(&t->rank, pair_key(pair));
    if (!*slot) {
        *slot = (void *)(uintptr_t)(rank + 1);
        *tc_map_at(&t->merged, pair_key(pair)) = (void *)(intptr_t)(whole + 1);
    }
    return TC_OK;
}

static tc_status read_pairs(tc_tokenizer *t, const tc_json *model)
{
    size_t rank = 0;
    tc_str type = type_of(t, model);
    if (!tc_str_is(type, "BPE") && type.p)
        return beyond(t, "a model of the type", type);
    for (const tc_json *m = tc_json_first(tc_json_get(model, "merges")); m; m = m->next)
        TC_TRY(read_merge(t, m, rank++));
    tc_str unknown = text_of(t, tc_json_get(model, "unk_token"));
    t->unknown = unknown.n ? find(t, unknown) : -1;
    t->byte_fallback = flag(model, "byte_fallback", false);
    t->whole_words = flag(model, "ignore_merges", false);
    static const char *const affix[] = {"continuing_subword_prefix", "end_of_word_suffix"};
    for (size_t i = 0; i < TC_COUNT(affix); i++)
        if (text_of(t, tc_json_get(model, affix[i])).n)
            return beyond(t, "a model with", tc_str_of(affix[i]));
    return TC_OK;
}

static void read_added(tc_tokenizer *t, const tc_json *list)
{
    t->added = tc_new_n(&t->ctx->arena, added, list ? list->n : 0);
    for (const tc_json *a = tc_json_first(list); a; a = a->next) {
        added one = {.text = text_of(t, tc_json_get(a, "content"))};
        if (!one.text.n || !tc_json_i64(tc_json_get(a, "id"), &one.id))
            continue;
        size_t at = t->n_added++;
        for (; at && t->added[at - 1].text.n < one.text.n; at--)
            t->added[at] = t->added[at - 1];
        t->added[at] = one;
    }
}

/* ---- reading: the steps ---- */

typedef tc_status take_part(tc_tokenizer *t, const tc_json *part, tc_str type);

/* A part, or each of a sequence of them. */
static tc_status each_part(tc_tokenizer *t, const tc_json *part, const char *list, take_part *take)
{
    if (!part || tc_json_is(part, TC_JSON_NULL))
        return TC_OK;
    tc_str type = type_of(t, part);
    if (!tc_str_is(type, "Sequence"))
        return take(t, part, type);
    for (const tc_json *p = tc_json_first(tc_json_get(part, list)); p; p = p->next)
        TC_TRY(take(t, p, type_of(t, p)));
    return TC_OK;
}

static tc_status take_normalizer(tc_tokenizer *t, const tc_json *part, tc_str type)
{
    if (tc_str_is(type, "NFC")) /* texts are taken to be composed already */
        return TC_OK;
    if (tc_str_is(type, "Prepend")) {
        t->space_in_front = true;
        t->space = text_of(t, tc_json_get(part, "prepend"));
        return TC_OK;
    }
    tc_str from = text_of(t, tc_json_get(tc_json_get(part, "pattern"), "String"));
    if (tc_str_is(type, "Replace") && tc_str_is(from, " ")) {
        t->space = text_of(t, tc_json_get(part, "content"));
        return TC_OK;
    }
    return beyond(t, "a normalizer of the type", type);
}

static tc_status take_splitter(tc_tokenizer *t, const tc_json *part, tc_str type)
{
    if (tc_str_is(type, "ByteLevel")) {
        t->bytes = true;
        t->space_in_front = t->space_in_front || flag(part, "add_prefix_space", false);
        t->space_once = true;
        if (flag(part, "use_regex", true) && !t->words)
            t->words = tc_word_rules_bytes();
        return TC_OK;
    }
    if (tc_str_is(type, "Split")) {
        tc_str pattern = text_of(t, tc_json_get(tc_json_get(part, "pattern"), "Regex"));
        t->words = pattern.p ? tc_word_rules_of(tc_text_copy(&t->ctx->arena, pattern)) : NULL;
        if (!t->words || flag(part, "invert", false) ||
            !tc_str_is(text_of(t, tc_json_get(part, "behavior")), "Isolated"))
            return beyond(t, "a split by", pattern);
        return TC_OK;
    }
    if (tc_str_is(type, "Metaspace")) {
        tc_str scheme = text_of(t, tc_json_get(part, "prepend_scheme"));
        t->space = text_of(t, tc_json_get(part, "replacement"));
        t->space_in_front = scheme.p ? !tc_str_is(scheme, "never")
                                     : flag(part, "add_prefix_space", true);
        t->space_once = true;
        t->space_first = tc_str_is(scheme, "first");
        return flag(part, "split", false) ? beyond(t, "a split by", type) : TC_OK;
    }
    if (tc_str_is(type, "Digits") && flag(part, "individual_digits", false)) {
        t->single_digits = true;
        return TC_OK;
    }
    return beyond(t, "a pre-tokenizer of the type", type);
}

/* What stands around every text: tokens before and behind "A". */
static tc_status take_template(tc_tokenizer *t, const tc_json *part, tc_str type)
{
    if (tc_str_is(type, "ByteLevel"))
        return TC_OK;
    if (!tc_str_is(type, "TemplateProcessing"))
        return beyond(t, "a post-processor of the type", type);
    const tc_json *list = tc_json_get(part, "single");
    size_t room = list ? list->n : 0;
    t->before = tc_new_n(&t->ctx->arena, int64_t, room);
    t->after = tc_new_n(&t->ctx->arena, int64_t, room);
    bool behind = false;
    for (const tc_json *p = tc_json_first(list); p; p = p->next) {
        const tc_json *special = tc_json_get(p, "SpecialToken");
        int64_t id = find(t, text_of(t, tc_json_get(special, "id")));
        if (special && id < 0)
            return broken(t, "a special token of 'post_processor' is not in 'vocab'");
        if (special && behind)
            t->after[t->n_after++] = id;
        else if (special)
            t->before[t->n_before++] = id;
        behind = behind || tc_json_get(p, "Sequence");
    }
    return TC_OK;
}

/* Of the decoder only what cannot be seen from the rest. */
static tc_status take_decoder(tc_tokenizer *t, const tc_json *part, tc_str type)
{
    static const char *const fine[] = {"ByteLevel", "Replace", "ByteFallback", "Fuse", "Metaspace"};
    (void)part;
    if (tc_str_is(type, "Strip") || (tc_str_is(type, "Metaspace") && t->space_in_front)) {
        t->strip_first = true;
        return TC_OK;
    }
    for (size_t i = 0; i < TC_COUNT(fine); i++)
        if (tc_str_is(type, fine[i]))
            return TC_OK;
    return beyond(t, "a decoder of the type", type);
}

static tc_status open_tokenizer(tc_ctx *ctx, const char *path, tc_tokenizer **out)
{
    tc_tokenizer *t = tc_new(&ctx->arena, tc_tokenizer);
    const char *reason;
    size_t at;
    tc_bytes text;
    t->ctx = ctx;
    t->loc = (tc_loc){.file = tc_intern_text(ctx, path)};
    TC_TRY(tc_file_read(ctx, path, &text));
    const tc_json *root = tc_json_parse(&ctx->arena, text, &reason, &at);
    if (!root)
        return tc_error(ctx, &t->loc, TC_E_FORMAT, "byte %zu: %s", at, reason);
    const tc_json *model = tc_json_get(root, "model"), *extra = tc_json_get(root, "added_tokens");
    tc_map_init(&t->id, &ctx->arena);
    tc_map_init(&t->rank, &ctx->arena);
    tc_map_init(&t->merged, &ctx->arena);
    TC_TRY(read_vocabulary(t, model, extra));
    TC_TRY(read_pairs(t, model));
    read_added(t, extra);
    TC_TRY(each_part(t, tc_json_get(root, "normalizer"), "normalizers", take_normalizer));
    TC_TRY(each_part(t, tc_json_get(root, "pre_tokenizer"), "pretokenizers", take_splitter));
    TC_TRY(each_part(t, tc_json_get(root, "post_processor"), "processors", take_template));
    TC_TRY(each_part(t, tc_json_get(root, "decoder"), "decoders", take_decoder));
    make_signs(t->sign);
    for (int b = 0; b < 256; b++) {
        char room[4];
        tc_str name = t->bytes ? utf8(t->sign[b], room)
                               : tc_str_of(tc_text_format(&ctx->arena, "<0x%02X>", b));
        t->symbol[b] = find(t, name);
    }
    *out = t;
    return TC_OK;
}

tc_status tc_tokenizer_open(tc_ctx *ctx, const char *path, tc_tokenizer **out)
{
    TC_ENTER(ctx, open_tokenizer(ctx, path, out));
}

size_t tc_tokenizer_size(const tc_tokenizer *tokenizer)
{
    return tokenizer->n;
}

int64_t tc_tokenizer_find(const tc_tokenizer *tokenizer, const char *text)
{
    return find(tokenizer, tc_str_of(text));
}

/* ---- text to tokens ---- */

typedef struct ids {
    int64_t *v;
    size_t n, cap;
} ids;

static void put(tc_ctx *ctx, ids *list, int64_t id)
{
    tc_grow(&ctx->arena, list->v, list->n, list->cap);
    list->v[list->n++] = id;
}

/* The smallest symbols of a word. */
static tc_status put_symbols(const tc_tokenizer *t, tc_str word, ids *out)
{
    size_t size;
    for (size_t i = 0; i < word.n; i += size) {
        size = 1;
        if (!t->bytes)
            tc_utf8_next(word, i, &size);
        tc_str one = {word.p + i, size};
        int64_t id = t->bytes ? t->symbol[(uint8_t)word.p[i]] : find(t, one);
        bool fall = id < 0 && !t->bytes && t->byte_fallback;
        for (size_t k = 0; fall && k < size; k++) {
            id = t->symbol[(uint8_t)word.p[i + k]];
            if (id >= 0 && k + 1 < size)
                put(t->ctx, out, id);
        }
        if (id < 0)
            id = t->unknown;
        if (id < 0)
            return tc_error(t->ctx, &t->loc, TC_E_DATA, "no token stands for '%.*s'", (int)one.n,
                            one.p);
        put(t->ctx, out, id);
    }
    return TC_OK;
}

static size_t rank_of(const tc_tokenizer *t, const int64_t *pair)
{
    size_t rank = (size_t)(uintptr_t)tc_map_get(&t->rank, pair_key(pair));
    return rank ? rank - 1 : SIZE_MAX;
}

/* Symbols from `first` on: the pair of the lowest rank becomes one, the first of equal ones, until
 * no pair has a rank. */
static void merge(const tc_tokenizer *t, ids *list, size_t first)
{
    tc_mark mark = tc_arena_mark(&t->ctx->scratch);
    size_t n = list->n - first;
    int64_t *v = list->v + first;
    size_t *rank = tc_new_n(&t->ctx->scratch, size_t, n + 1);
    for (size_t i = 0; i + 1 < n; i++)
        rank[i] = rank_of(t, v + i);
    while (n > 1) {
        size_t best = 0;
        for (size_t i = 1; i + 1 < n; i++)
            if (rank[i] < rank[best])
                best = i;
        if (rank[best] == SIZE_MAX)
            break;
        v[best] = (int64_t)(intptr_t)tc_map_get(&t->merged, pair_key(v + best)) - 1;
        memmove(v + best + 1, v + best + 2, (n - best - 2) * sizeof *v);
        memmove(rank + best + 1, rank + best + 2, (n - best - 2) * sizeof *rank);
        n--;
        if (best)
            rank[best - 1] = rank_of(t, v + best - 1);
        if (best + 1 < n)
            rank[best] = rank_of(t, v + best);
    }
    list->n = first + n;
    tc_arena_rewind(&t->ctx->scratch, mark);
}

/* The word as its token is written: bytes as signs. */
static int64_t whole_word(const tc_tokenizer *t, tc_str word)
{
    tc_buf buf;
    tc_buf_init(&buf, &t->ctx->scratch);
    for (size_t i = 0; i < word.n; i++) {
        char room[4];
        tc_str sign = t->bytes ? utf8(t->sign[(uint8_t)word.p[i]], room)
                               : (tc_str){word.p + i, 1};
        tc_buf_put(&buf, sign.p, sign.n);
    }
    return find(t, (tc_str){(const char *)buf.data, buf.size});
}

static tc_status put_word(const tc_tokenizer *t, tc_str word, ids *out)
{
    int64_t id = t->whole_words ? whole_word(t, word) : -1;
    if (id >= 0) {
        put(t->ctx, out, id);
        return TC_OK;
    }
    size_t first = out->n;
    TC_TRY(put_symbols(t, word, out));
    merge(t, out, first);
    return TC_OK;
}

/* Spaces as the tokens have them. */
static tc_str spaced(const tc_tokenizer *t, tc_str text, bool first)
{
    tc_buf buf;
    tc_str space = t->space.n ? t->space : (tc_str){" ", 1};
    bool has = text.p[0] == ' ' || (text.n >= space.n && memcmp(text.p, space.p, space.n) == 0);
    bool front = t->space_in_front && (first || !t->space_first) && !(has && t->space_once);
    if (!t->space.n && !front)
        return text;
    tc_buf_init(&buf, &t->ctx->scratch);
    if (front)
        tc_buf_put(&buf, space.p, space.n);
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == ' ')
            tc_buf_put(&buf, space.p, space.n);
        else
            tc_buf_u8(&buf, (uint8_t)text.p[i]);
    return (tc_str){(const char *)buf.data, buf.size};
}

static size_t next_word(const tc_tokenizer *t, tc_str text, size_t at)
{
    size_t n = t->words ? tc_word_size(t->words, text, at) : text.n - at, size;
    for (size_t i = at; t->single_digits && i < at + n; i += size)
        if (tc_is_number(tc_utf8_next(text, i, &size)))
            return i > at ? i - at : size;
    return n;
}

/* Text without added tokens. */
static tc_status put_text(const tc_tokenizer *t, tc_str text, bool first, ids *out)
{
    tc_mark mark = tc_arena_mark(&t->ctx->scratch);
    tc_str all = text.n ? spaced(t, text, first) : text;
    tc_status status = TC_OK;
    for (size_t at = 0, n; at < all.n && status == TC_OK; at += n) {
        n = next_word(t, all, at);
        status = put_word(t, (tc_str){all.p + at, n}, out);
    }
    tc_arena_rewind(&t->ctx->scratch, mark);
    return status;
}

static const added *added_at(const tc_tokenizer *t, tc_str text, size_t at)
{
    for (size_t i = 0; i < t->n_added; i++)
        if (t->added[i].text.n <= text.n - at &&
            memcmp(text.p + at, t->added[i].text.p, t->added[i].text.n) == 0)
            return &t->added[i];
    return NULL;
}

static tc_status encode(tc_ctx *ctx, const tc_tokenizer *t, tc_bytes bytes, bool special,
                        const int64_t **out, size_t *n)
{
    tc_str text = {(const char *)bytes.data, bytes.size};
    ids list = {0};
    size_t from = 0;
    for (size_t i = 0; special && i < t->n_before; i++)
        put(ctx, &list, t->before[i]);
    for (size_t at = 0; at < text.n;) {
        const added *a = added_at(t, text, at);
        if (!a) {
            at++;
            continue;
        }
        TC_TRY(put_text(t, (tc_str){text.p + from, at - from}, from == 0, &list));
        put(ctx, &list, a->id);
        at += a->text.n;
        from = at;
    }
    TC_TRY(put_text(t, (tc_str){text.p + from, text.n - from}, from == 0, &list));
    for (size_t i = 0; special && i < t->n_after; i++)
        put(ctx, &list, t->after[i]);
    *out = list.v;
    *n = list.n;
    return TC_OK;
}

tc_status tc_tokenizer_encode(tc_ctx *ctx, const tc_tokenizer *tokenizer, tc_bytes text,
                              int special, const int64_t **out, size_t *n)
{
    TC_ENTER(ctx, encode(ctx, tokenizer, text, special != 0, out, n));
}

/* ---- tokens to text ---- */

static bool is_added(const tc_tokenizer *t, int64_t id)
{
    for (size_t i = 0; i < t->n_added; i++)
        if (t->added[i].id == id)
            return true;
    return false;
}

/* Signs become the bytes that they stand for. */
static void put_signs(const tc_tokenizer *t, tc_str text, tc_buf *out)
{
    size_t size;
    for (size_t i = 0; i < text.n; i += size) {
        int byte = byte_of(t, tc_utf8_next(text, i, &size));
        if (byte >= 0)
            tc_buf_u8(out, (uint8_t)byte);
    }
}

static void put_piece(const tc_tokenizer *t, int64_t id, tc_buf *out)
{
    tc_str text = id >= 0 && (size_t)id < t->n ? t->text[id] : (tc_str){NULL, 0};
    if (!text.n || is_added(t, id)) {
        tc_buf_put(out, text.p ? text.p : "", text.n);
        return;
    }
    if (t->bytes) {
        put_signs(t, text, out);
        return;
    }
    for (int b = 0; t->byte_fallback && b < 256; b++)
        if (t->symbol[b] == id) {
            tc_buf_u8(out, (uint8_t)b);
            return;
        }
    for (size_t i = 0; i < text.n;) {
        bool space = t->space.n && text.n - i >= t->space.n &&
                     memcmp(text.p + i, t->space.p, t->space.n) == 0;
        tc_buf_u8(out, space ? ' ' : (uint8_t)text.p[i]);
        i += space ? t->space.n : 1;
    }
}

static tc_status decode(tc_ctx *ctx, const tc_tokenizer *t, const int64_t *token, size_t n,
                        bool continues, tc_bytes *out)
{
    tc_buf buf;
    tc_buf_init(&buf, &ctx->arena);
    for (size_t i = 0; i < n; i++)
        put_piece(t, token[i], &buf);
    tc_buf_u8(&buf, 0);
    size_t skip = t->strip_first && !continues && buf.size > 1 && buf.data[0] == ' ';
    *out = (tc_bytes){buf.data + skip, buf.size - 1 - skip};
    return TC_OK;
}

tc_status tc_tokenizer_decode(tc_ctx *ctx, const tc_tokenizer *tokenizer, const int64_t *token,
                              size_t n, int continues, tc_bytes *out)
{
    TC_ENTER(ctx, decode(ctx, tokenizer, token, n, continues != 0, out));
}
