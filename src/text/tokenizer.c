/* SPDX-License-Identifier: Apache-2.0 */
/* tokenizer.c -- tokenizer.json as Hugging Face's tokenizers read it.
 *
 * A text goes through: added tokens cut out of it as it stands; the normalizers; added tokens cut
 * out of what that gives; the pre-tokenizers, which make words; the model, which makes tokens of
 * each; and the tokens that stand around every text. */
#include "token.h"

#include "../wire/file.h"

typedef struct added {
    tc_str text;
    int64_t id;
    bool single_word, left, right; /* takes no part of a word; the spaces beside it go with it */
} added;
typedef struct added_list {
    added *v; /* the longest first */
    size_t n;
} added_list;

struct tc_tokenizer {
    tc_ctx *ctx;
    tc_loc loc;
    tc_map id;    /* text of a token: its number + 1 */
    tc_str *text; /* by number; p NULL: there is none */
    size_t n;
    tc_token_model *model;
    added_list raw, normal; /* looked for in the text as it stands, and as it is normalized */
    tc_token_steps normalizer, splitter, decoder;
    tc_token_ids before, after; /* tokens around every text */
};

tc_status tc_token_broken(const tc_tokenizer *t, const char *what)
{
    return tc_error(t->ctx, &t->loc, TC_E_FORMAT, "%s", what);
}

tc_status tc_token_beyond(const tc_tokenizer *t, const char *what, tc_str name)
{
    return tc_unsupported(t->ctx, &t->loc, TC_E_UNSUPPORTED, "%s '%.*s'", what, (int)name.n,
                          name.p ? name.p : "");
}

tc_arena *tc_token_arena(const tc_tokenizer *t) { return &t->ctx->arena; }

tc_str tc_token_text(const tc_tokenizer *t, const tc_json *part, const char *field)
{
    return tc_json_text(&t->ctx->arena, tc_json_get(part, field));
}

bool tc_token_flag(const tc_json *part, const char *field, bool otherwise)
{
    bool value;
    return tc_json_bool(tc_json_get(part, field), &value) ? value : otherwise;
}

tc_status tc_token_read(tc_tokenizer *t, const tc_json *part, const tc_token_part *kind,
                        tc_token_steps *out)
{
    if (!part || tc_json_is(part, TC_JSON_NULL))
        return TC_OK;
    tc_str type = tc_token_text(t, part, "type");
    if (tc_str_is(type, "Sequence")) {
        for (const tc_json *p = tc_json_first(tc_json_get(part, kind->list)); p; p = p->next)
            TC_TRY(tc_token_read(t, p, kind, out));
        return TC_OK;
    }
    for (size_t i = 0; kind->name(i); i++)
        if (tc_str_is(type, kind->name(i))) {
            tc_grow(&t->ctx->arena, out->v, out->n, out->cap);
            out->v[out->n] = (tc_token_step){.kind = (int)i};
            return kind->read(t, part, &out->v[out->n++]);
        }
    return tc_token_beyond(t, kind->what, type);
}

tc_status tc_token_pattern(tc_tokenizer *t, const tc_json *part, tc_token_step *step)
{
    const tc_json *pattern = tc_json_get(part, "pattern");
    tc_str regex = tc_token_text(t, pattern, "Regex");
    const char *why = NULL;
    step->text = tc_token_text(t, pattern, "String");
    if (regex.p)
        step->regex = tc_regex_new(&t->ctx->arena, regex, &why);
    if (why)
        return tc_unsupported(t->ctx, &t->loc, TC_E_UNSUPPORTED, "the pattern '%.*s': %s",
                              regex.n > 200 ? 200 : (int)regex.n, regex.p, why);
    return step->regex || step->text.n ? TC_OK : tc_token_broken(t, "a step without a 'pattern'");
}

/* ---- patterns and bytes ---- */

bool tc_token_match(const tc_token_step *s, tc_arena *arena, tc_str text, size_t at, size_t *begin,
                    size_t *end)
{
    if (s->regex)
        return tc_regex_find(s->regex, arena, text, at, begin, end);
    for (; s->text.n && at + s->text.n <= text.n; at++)
        if (memcmp(text.p + at, s->text.p, s->text.n) == 0) {
            *begin = at;
            *end = at + s->text.n;
            return true;
        }
    return false;
}

tc_str tc_token_replace(const tc_token_step *s, tc_arena *arena, tc_str text)
{
    tc_buf out;
    size_t at = 0, begin, end;
    if (!text.n)
        return text;
    tc_buf_init(&out, arena);
    while (at < text.n && tc_token_match(s, arena, text, at, &begin, &end)) {
        tc_buf_put(&out, text.p + at, begin - at);
        tc_buf_put(&out, s->other.p ? s->other.p : "", s->other.n);
        at = end;
    }
    tc_buf_put(&out, text.p + at, text.n - at);
    return (tc_str){(const char *)out.data, out.size};
}

/* The characters that stand for bytes: themselves where they can be seen, else those from 256
 * on. */
static uint32_t sign_of(uint32_t byte)
{
    bool seen = (byte >= 33 && byte <= 126) || (byte >= 161 && byte != 173);
    return seen          ? byte
           : byte <= 32  ? 256 + byte
           : byte <= 160 ? 256 + 33 + (byte - 127)
                         : 256 + 33 + 34;
}

void tc_token_signs(tc_str text, tc_buf *out)
{
    for (size_t i = 0; i < text.n; i++)
        tc_utf8_put(out, sign_of((uint8_t)text.p[i]));
}

bool tc_token_unsigned(tc_str text, tc_buf *out)
{
    size_t size;
    for (size_t i = 0; i < text.n; i += size) {
        uint32_t c = tc_utf8_next(text, i, &size);
        uint32_t byte = c < 256              ? c
                        : c <= 256 + 32      ? c - 256
                        : c < 256 + 33 + 34  ? c - 256 - 33 + 127
                                             : 173;
        if (sign_of(byte) != c)
            return false;
        tc_buf_u8(out, (uint8_t)byte);
    }
    return true;
}

/* ---- reading ---- */

static int64_t find(const tc_tokenizer *t, tc_str text)
{
    return (int64_t)(intptr_t)tc_map_get(&t->id, text) - 1;
}

static void insert(added_list *list, added one)
{
    size_t at = list->n++;
    for (; at && list->v[at - 1].text.n < one.text.n; at--)
        list->v[at] = list->v[at - 1];
    list->v[at] = one;
}

static tc_status read_added(tc_tokenizer *t, const tc_json *list)
{
    enum { MOST = 1 << 24 };
    size_t room = tc_json_is(list, TC_JSON_LIST) ? list->n : 0;
    t->raw.v = tc_new_n(&t->ctx->arena, added, room);
    t->normal.v = tc_new_n(&t->ctx->arena, added, room);
    for (const tc_json *a = tc_json_first(list); a; a = a->next) {
        added one = {.text = tc_token_text(t, a, "content"),
                     .single_word = tc_token_flag(a, "single_word", false),
                     .left = tc_token_flag(a, "lstrip", false),
                     .right = tc_token_flag(a, "rstrip", false)};
        if (!one.text.n || !tc_json_i64(tc_json_get(a, "id"), &one.id))
            return tc_token_broken(t, "an added token without 'content' or 'id'");
        if (one.id < 0 || one.id >= MOST)
            return tc_token_broken(t, "a token id is out of range");
        *tc_map_at(&t->id, one.text) = (void *)(intptr_t)(one.id + 1);
        bool normal = tc_token_flag(a, "normalized", !tc_token_flag(a, "special", false));
        if (normal)
            one.text = tc_token_normalize(&t->normalizer, &t->ctx->arena, one.text);
        if (one.text.n)
            insert(normal ? &t->normal : &t->raw, one);
    }
    return TC_OK;
}

static void number_texts(tc_tokenizer *t)
{
    for (size_t i = 0; i < t->id.n; i++)
        if ((size_t)(intptr_t)t->id.entry[i].value > t->n)
            t->n = (size_t)(intptr_t)t->id.entry[i].value;
    t->text = tc_new_n(&t->ctx->arena, tc_str, t->n);
    for (size_t i = 0; i < t->id.n; i++)
        t->text[(intptr_t)t->id.entry[i].value - 1] = t->id.entry[i].key;
    for (size_t i = 0; i < t->normal.n; i++) /* as they stand in a text that is normalized */
        t->text[t->normal.v[i].id] = t->normal.v[i].text;
}

static void put(tc_ctx *ctx, tc_token_ids *list, int64_t id)
{
    tc_grow(&ctx->arena, list->v, list->n, list->cap);
    list->v[list->n++] = id;
}

/* A special token of the template: the numbers that the part lists for it, or its own. */
static tc_status put_special(tc_tokenizer *t, const tc_json *part, tc_str name, tc_token_ids *out)
{
    const tc_json *known = tc_json_get(part, "special_tokens");
    const tc_json *one = tc_json_get(known, tc_text_copy(&t->ctx->arena, name));
    const tc_json *ids = tc_json_first(tc_json_get(one, "ids"));
    int64_t id = find(t, name);
    if (!ids && id < 0)
        return tc_token_broken(t, "a special token of 'post_processor' is not in 'vocab'");
    if (!ids)
        put(t->ctx, out, id);
    for (; ids; ids = ids->next) {
        if (!tc_json_i64(ids, &id) || id < 0)
            return tc_token_broken(t, "a special token of 'post_processor' has no id");
        put(t->ctx, out, id);
    }
    return TC_OK;
}

/* ["[CLS]", 101] */
static tc_status put_pair(tc_tokenizer *t, const tc_json *pair, tc_token_ids *out)
{
    const tc_json *first = tc_json_first(pair);
    int64_t id;
    if (!first || !tc_json_i64(first->next, &id) || id < 0)
        return tc_token_broken(t, "a special token of 'post_processor' has no id");
    put(t->ctx, out, id);
    return TC_OK;
}

/* What stands around every text: tokens before and behind "A". */
static tc_status read_template(tc_tokenizer *t, const tc_json *part)
{
    if (!part || tc_json_is(part, TC_JSON_NULL))
        return TC_OK;
    tc_str type = tc_token_text(t, part, "type");
    if (tc_str_is(type, "Sequence")) {
        for (const tc_json *p = tc_json_first(tc_json_get(part, "processors")); p; p = p->next)
            TC_TRY(read_template(t, p));
        return TC_OK;
    }
    if (tc_str_is(type, "ByteLevel"))
        return TC_OK;
    if (tc_str_is(type, "BertProcessing") || tc_str_is(type, "RobertaProcessing")) {
        TC_TRY(put_pair(t, tc_json_get(part, "cls"), &t->before));
        return put_pair(t, tc_json_get(part, "sep"), &t->after);
    }
    if (!tc_str_is(type, "TemplateProcessing"))
        return tc_token_beyond(t, "a post-processor of the type", type);
    bool behind = false;
    for (const tc_json *p = tc_json_first(tc_json_get(part, "single")); p; p = p->next) {
        const tc_json *special = tc_json_get(p, "SpecialToken");
        if (special)
            TC_TRY(put_special(t, part, tc_token_text(t, special, "id"),
                               behind ? &t->after : &t->before));
        behind = behind || tc_json_get(p, "Sequence");
    }
    return TC_OK;
}

tc_status tc_tokens_open(tc_ctx *ctx, const char *path, tc_tokenizer **out)
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
    tc_map_init(&t->id, &ctx->arena);
    TC_TRY(tc_token_model_read(t, tc_json_get(root, "model"), &t->id, &t->model));
    TC_TRY(tc_token_normalizer(t, tc_json_get(root, "normalizer"), &t->normalizer));
    TC_TRY(read_added(t, tc_json_get(root, "added_tokens")));
    TC_TRY(tc_token_splitter(t, tc_json_get(root, "pre_tokenizer"), &t->splitter));
    TC_TRY(tc_token_decoder(t, tc_json_get(root, "decoder"), &t->decoder));
    number_texts(t);
    TC_TRY(read_template(t, tc_json_get(root, "post_processor")));
    *out = t;
    return TC_OK;
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

/* A piece of a text, or an added token in its place. */
typedef struct part {
    tc_str text;
    int64_t id; /* -1: text */
} part;
typedef struct parts {
    part *v;
    size_t n, cap;
} parts;

static void add(tc_arena *arena, parts *list, part one)
{
    if (one.id < 0 && !one.text.n)
        return;
    tc_grow(arena, list->v, list->n, list->cap);
    list->v[list->n++] = one;
}

static const added *added_at(const added_list *list, tc_str text, size_t at)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->v[i].text.n <= text.n - at &&
            memcmp(text.p + at, list->v[i].text.p, list->v[i].text.n) == 0)
            return &list->v[i];
    return NULL;
}

/* The character that ends at `at`. */
static uint32_t char_before(tc_str text, size_t at, size_t *size)
{
    size_t from = at - 1;
    while (from > 0 && at - from < 4 && ((uint8_t)text.p[from] & 0xc0) == 0x80)
        from--;
    uint32_t c = tc_utf8_next(text, from, size);
    if (from + *size != at) {
        *size = 1;
        return UINT32_MAX;
    }
    return c;
}

static bool stands_alone(tc_str text, size_t begin, size_t end)
{
    size_t size;
    return !(begin && tc_char_is(TC_WORD_SPLIT, char_before(text, begin, &size))) &&
           !(end < text.n && tc_char_is(TC_WORD_SPLIT, tc_utf8_next(text, end, &size)));
}

/* Added tokens are cut out, the longest at each place, with the spaces that go with them. */
static void cut_added(const added_list *list, tc_arena *arena, tc_str text, parts *out)
{
    size_t from = 0, size;
    for (size_t at = 0; at < text.n;) {
        const added *a = list->n ? added_at(list, text, at) : NULL;
        size_t begin = at, end = at + (a ? a->text.n : 1);
        at = end;
        if (!a || (a->single_word && !stands_alone(text, begin, end)))
            continue;
        while (a->left && begin > from && tc_is_space(char_before(text, begin, &size)))
            begin -= size;
        begin = begin < from ? from : begin;
        while (a->right && end < text.n && tc_is_space(tc_utf8_next(text, end, &size)))
            end += size;
        add(arena, out, (part){{text.p + from, begin - from}, -1});
        add(arena, out, (part){{NULL, 0}, a->id});
        from = at = end > at ? end : at;
    }
    add(arena, out, (part){{text.p + from, text.n - from}, -1});
}

/* Text without added tokens, normalized. */
static tc_status put_words(const tc_tokenizer *t, tc_ctx *ctx, tc_piece text, tc_token_ids *out)
{
    tc_pieces words = {0};
    tc_token_split(&t->splitter, &ctx->scratch, text, &words);
    for (size_t i = 0; i < words.n; i++)
        TC_TRY(tc_token_model_run(t->model, ctx, &t->loc, words.v[i].text, out));
    return TC_OK;
}

static tc_status put_text(const tc_tokenizer *t, tc_ctx *ctx, tc_str text, bool front,
                          tc_token_ids *out)
{
    parts inner = {0};
    text = tc_token_normalize(&t->normalizer, &ctx->scratch, text);
    cut_added(&t->normal, &ctx->scratch, text, &inner);
    for (size_t i = 0; i < inner.n; i++)
        if (inner.v[i].id >= 0)
            put(ctx, out, inner.v[i].id);
        else
            TC_TRY(put_words(t, ctx, (tc_piece){inner.v[i].text, front && !i}, out));
    return TC_OK;
}

tc_status tc_tokens_encode(tc_ctx *ctx, const tc_tokenizer *t, tc_bytes bytes, bool special,
                        const int64_t **out, size_t *n)
{
    tc_str text = {(const char *)bytes.data, bytes.size};
    tc_token_ids list = {0};
    parts outer = {0};
    tc_mark mark = tc_arena_mark(&ctx->scratch);
    tc_status status = TC_OK;
    for (size_t i = 0; special && i < t->before.n; i++)
        put(ctx, &list, t->before.v[i]);
    cut_added(&t->raw, &ctx->scratch, text, &outer);
    for (size_t i = 0; i < outer.n && status == TC_OK; i++)
        if (outer.v[i].id >= 0)
            put(ctx, &list, outer.v[i].id);
        else
            status = put_text(t, ctx, outer.v[i].text, outer.v[i].text.p == text.p, &list);
    for (size_t i = 0; special && i < t->after.n; i++)
        put(ctx, &list, t->after.v[i]);
    tc_arena_rewind(&ctx->scratch, mark);
    *out = list.v;
    *n = list.n;
    return status;
}

/* ---- tokens to text ---- */

tc_status tc_tokens_decode(tc_ctx *ctx, const tc_tokenizer *t, const int64_t *token, size_t n,
                        bool continues, tc_bytes *out)
{
    tc_buf buf;
    tc_buf_init(&buf, &ctx->arena);
    tc_mark mark = tc_arena_mark(&ctx->scratch);
    tc_str *text = tc_new_n(&ctx->scratch, tc_str, n + 1);
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (token[i] >= 0 && (size_t)token[i] < t->n && t->text[token[i]].p)
            text[k++] = t->text[token[i]];
    tc_token_decode(&t->decoder, &ctx->scratch, text, k, continues, &buf);
    tc_arena_rewind(&ctx->scratch, mark);
    tc_buf_u8(&buf, 0);
    *out = (tc_bytes){buf.data, buf.size - 1};
    return TC_OK;
}
