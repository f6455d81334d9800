/* SPDX-License-Identifier: Apache-2.0 */
/* tokenizer.c -- tokenizer.json as Hugging Face's tokenizers read it.
 *
 * Stages of a text: added tokens are cut out of the raw text; the normalizers; added tokens are cut
 * out of the normalized text; the pre-tokenizers, which make words; the model, which makes tokens
 * of each; and the template's tokens around the text. */
#include "token.h"

#include "../wire/file.h"

typedef struct added {
    tc_str text;
    int64_t id;
    bool single_word, left, right; /* does not match inside a word; adjacent spaces are removed with
                                    * it */
} added;
typedef struct added_list {
    added *v; /* the longest first */
    size_t n;
} added_list;

struct tc_tokenizer {
    tc_ctx *ctx;
    tc_loc loc;
    tc_map id;    /* text of a token: its number + 1 */
    tc_str *text; /* by id; p NULL: none */
    size_t n;
    tc_token_model *model;
    added_list raw, normal; /* matched in the raw text, and in the normalized one */
    tc_token_steps normalizer, splitter, decoder;
    tc_token_ids before, after; /* tokens around every text */
};

tc_status ti_token_broken(const tc_tokenizer *t, const char *what)
{
    return ti_error(t->ctx, &t->loc, TC_E_FORMAT, "%s", what);
}

tc_status ti_token_beyond(const tc_tokenizer *t, const char *what, tc_str name)
{
    return ti_unsupported(t->ctx, &t->loc, TC_E_UNSUPPORTED, "%s '%.*s'", what, (int)name.n,
                          name.p ? name.p : "");
}

tc_arena *ti_token_arena(const tc_tokenizer *t) { return &t->ctx->arena; }

tc_str ti_token_text(const tc_tokenizer *t, const tc_json *part, const char *field)
{
    return ti_json_text(&t->ctx->arena, ti_json_get(part, field));
}

bool ti_token_flag(const tc_json *part, const char *field, bool otherwise)
{
    bool value;
    return ti_json_bool(ti_json_get(part, field), &value) ? value : otherwise;
}

tc_status ti_token_read(tc_tokenizer *t, const tc_json *part, const tc_token_part *kind,
                        tc_token_steps *out)
{
    if (!part || ti_json_is(part, TC_JSON_NULL))
        return TC_OK;
    tc_str type = ti_token_text(t, part, "type");
    if (ti_str_is(type, "Sequence")) {
        for (const tc_json *p = ti_json_first(ti_json_get(part, kind->list)); p; p = p->next)
            TC_TRY(ti_token_read(t, p, kind, out));
        return TC_OK;
    }
    for (size_t i = 0; kind->name(i); i++)
        if (ti_str_is(type, kind->name(i))) {
            tc_grow(&t->ctx->arena, out->v, out->n, out->cap);
            out->v[out->n] = (tc_token_step){.kind = (int)i};
            return kind->read(t, part, &out->v[out->n++]);
        }
    return ti_token_beyond(t, kind->what, type);
}

tc_status ti_token_pattern(tc_tokenizer *t, const tc_json *part, tc_token_step *step)
{
    const tc_json *pattern = ti_json_get(part, "pattern");
    tc_str regex = ti_token_text(t, pattern, "Regex");
    const char *why = NULL;
    step->text = ti_token_text(t, pattern, "String");
    if (regex.p)
        step->regex = ti_regex_new(&t->ctx->arena, regex, &why);
    if (why)
        return ti_unsupported(t->ctx, &t->loc, TC_E_UNSUPPORTED, "the pattern '%.*s': %s",
                              regex.n > 200 ? 200 : (int)regex.n, regex.p, why);
    return step->regex || step->text.n ? TC_OK : ti_token_broken(t, "a step without a 'pattern'");
}

/* ---- patterns and bytes ---- */

bool ti_token_match(const tc_token_step *s, tc_arena *arena, tc_str text, size_t at, size_t *begin,
                    size_t *end)
{
    if (s->regex)
        return ti_regex_find(s->regex, arena, text, at, begin, end);
    for (; s->text.n && at + s->text.n <= text.n; at++)
        if (memcmp(text.p + at, s->text.p, s->text.n) == 0) {
            *begin = at;
            *end = at + s->text.n;
            return true;
        }
    return false;
}

tc_str ti_token_replace(const tc_token_step *s, tc_arena *arena, tc_str text)
{
    tc_buf out;
    size_t at = 0, begin, end;
    if (!text.n)
        return text;
    ti_buf_init(&out, arena);
    while (at < text.n && ti_token_match(s, arena, text, at, &begin, &end)) {
        ti_buf_put(&out, text.p + at, begin - at);
        ti_buf_put(&out, s->other.p ? s->other.p : "", s->other.n);
        at = end;
    }
    ti_buf_put(&out, text.p + at, text.n - at);
    return (tc_str){(const char *)out.data, out.size};
}

/* The characters that represent bytes: themselves if printable, else those from 256 on. */
static uint32_t sign_of(uint32_t byte)
{
    bool seen = (byte >= 33 && byte <= 126) || (byte >= 161 && byte != 173);
    return seen          ? byte
           : byte <= 32  ? 256 + byte
           : byte <= 160 ? 256 + 33 + (byte - 127)
                         : 256 + 33 + 34;
}

void ti_token_signs(tc_str text, tc_buf *out)
{
    for (size_t i = 0; i < text.n; i++)
        ti_utf8_put(out, sign_of((uint8_t)text.p[i]));
}

bool ti_token_unsigned(tc_str text, tc_buf *out)
{
    size_t size;
    for (size_t i = 0; i < text.n; i += size) {
        uint32_t c = ti_utf8_next(text, i, &size);
        uint32_t byte = c < 256              ? c
                        : c <= 256 + 32      ? c - 256
                        : c < 256 + 33 + 34  ? c - 256 - 33 + 127
                                             : 173;
        if (sign_of(byte) != c)
            return false;
        ti_buf_u8(out, (uint8_t)byte);
    }
    return true;
}

/* ---- reading ---- */

static int64_t find(const tc_tokenizer *t, tc_str text)
{
    return (int64_t)(intptr_t)ti_map_get(&t->id, text) - 1;
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
    size_t room = ti_json_is(list, TC_JSON_LIST) ? list->n : 0;
    t->raw.v = tc_new_n(&t->ctx->arena, added, room);
    t->normal.v = tc_new_n(&t->ctx->arena, added, room);
    for (const tc_json *a = ti_json_first(list); a; a = a->next) {
        added one = {.text = ti_token_text(t, a, "content"),
                     .single_word = ti_token_flag(a, "single_word", false),
                     .left = ti_token_flag(a, "lstrip", false),
                     .right = ti_token_flag(a, "rstrip", false)};
        if (!one.text.n || !ti_json_i64(ti_json_get(a, "id"), &one.id))
            return ti_token_broken(t, "an added token without 'content' or 'id'");
        if (one.id < 0 || one.id >= MOST)
            return ti_token_broken(t, "a token id is out of range");
        *ti_map_at(&t->id, one.text) = (void *)(intptr_t)(one.id + 1);
        bool normal = ti_token_flag(a, "normalized", !ti_token_flag(a, "special", false));
        if (normal)
            one.text = ti_token_normalize(&t->normalizer, &t->ctx->arena, one.text);
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
    for (size_t i = 0; i < t->normal.n; i++) /* as they are in a normalized text */
        t->text[t->normal.v[i].id] = t->normal.v[i].text;
}

static void put(tc_ctx *ctx, tc_token_ids *list, int64_t id)
{
    tc_grow(&ctx->arena, list->v, list->n, list->cap);
    list->v[list->n++] = id;
}

/* A special token of the template: the ids that the part lists for it, or its own. */
static tc_status put_special(tc_tokenizer *t, const tc_json *part, tc_str name, tc_token_ids *out)
{
    const tc_json *known = ti_json_get(part, "special_tokens");
    const tc_json *one = ti_json_get(known, ti_text_copy(&t->ctx->arena, name));
    const tc_json *ids = ti_json_first(ti_json_get(one, "ids"));
    int64_t id = find(t, name);
    if (!ids && id < 0)
        return ti_token_broken(t, "a special token of 'post_processor' is not in 'vocab'");
    if (!ids)
        put(t->ctx, out, id);
    for (; ids; ids = ids->next) {
        if (!ti_json_i64(ids, &id) || id < 0)
            return ti_token_broken(t, "a special token of 'post_processor' has no id");
        put(t->ctx, out, id);
    }
    return TC_OK;
}

/* ["[CLS]", 101] */
static tc_status put_pair(tc_tokenizer *t, const tc_json *pair, tc_token_ids *out)
{
    const tc_json *first = ti_json_first(pair);
    int64_t id;
    if (!first || !ti_json_i64(first->next, &id) || id < 0)
        return ti_token_broken(t, "a special token of 'post_processor' has no id");
    put(t->ctx, out, id);
    return TC_OK;
}

/* The template: tokens before and after "A". */
static tc_status read_template(tc_tokenizer *t, const tc_json *part)
{
    if (!part || ti_json_is(part, TC_JSON_NULL))
        return TC_OK;
    tc_str type = ti_token_text(t, part, "type");
    if (ti_str_is(type, "Sequence")) {
        for (const tc_json *p = ti_json_first(ti_json_get(part, "processors")); p; p = p->next)
            TC_TRY(read_template(t, p));
        return TC_OK;
    }
    if (ti_str_is(type, "ByteLevel"))
        return TC_OK;
    if (ti_str_is(type, "BertProcessing") || ti_str_is(type, "RobertaProcessing")) {
        TC_TRY(put_pair(t, ti_json_get(part, "cls"), &t->before));
        return put_pair(t, ti_json_get(part, "sep"), &t->after);
    }
    if (!ti_str_is(type, "TemplateProcessing"))
        return ti_token_beyond(t, "a post-processor of the type", type);
    bool behind = false;
    for (const tc_json *p = ti_json_first(ti_json_get(part, "single")); p; p = p->next) {
        const tc_json *special = ti_json_get(p, "SpecialToken");
        if (special)
            TC_TRY(put_special(t, part, ti_token_text(t, special, "id"),
                               behind ? &t->after : &t->before));
        behind = behind || ti_json_get(p, "Sequence");
    }
    return TC_OK;
}

tc_status ti_tokens_open(tc_ctx *ctx, const char *path, tc_tokenizer **out)
{
    tc_tokenizer *t = tc_new(&ctx->arena, tc_tokenizer);
    const char *reason;
    size_t at;
    tc_bytes text;
    t->ctx = ctx;
    t->loc = (tc_loc){.file = ti_intern_text(ctx, path)};
    TC_TRY(ti_file_read(ctx, path, &text));
    const tc_json *root = ti_json_parse(&ctx->arena, text, &reason, &at);
    if (!root)
        return ti_error(ctx, &t->loc, TC_E_FORMAT, "byte %zu: %s", at, reason);
    ti_map_init(&t->id, &ctx->arena);
    TC_TRY(ti_token_model_read(t, ti_json_get(root, "model"), &t->id, &t->model));
    TC_TRY(ti_token_normalizer(t, ti_json_get(root, "normalizer"), &t->normalizer));
    TC_TRY(read_added(t, ti_json_get(root, "added_tokens")));
    TC_TRY(ti_token_splitter(t, ti_json_get(root, "pre_tokenizer"), &t->splitter));
    TC_TRY(ti_token_decoder(t, ti_json_get(root, "decoder"), &t->decoder));
    number_texts(t);
    TC_TRY(read_template(t, ti_json_get(root, "post_processor")));
    *out = t;
    return TC_OK;
}

size_t tc_tokenizer_size(const tc_tokenizer *tokenizer)
{
    return tokenizer->n;
}

int64_t tc_tokenizer_find(const tc_tokenizer *tokenizer, const char *text)
{
    return find(tokenizer, ti_str_of(text));
}

/* ---- text to tokens ---- */

/* A piece of a text, or an added token. */
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
    uint32_t c = ti_utf8_next(text, from, size);
    if (from + *size != at) {
        *size = 1;
        return UINT32_MAX;
    }
    return c;
}

static bool stands_alone(tc_str text, size_t begin, size_t end)
{
    size_t size;
    return !(begin && ti_char_is(TC_WORD_SPLIT, char_before(text, begin, &size))) &&
           !(end < text.n && ti_char_is(TC_WORD_SPLIT, ti_utf8_next(text, end, &size)));
}

/* Cuts out added tokens, the longest at each position, with their adjacent spaces. */
static void cut_added(const added_list *list, tc_arena *arena, tc_str text, parts *out)
{
    size_t from = 0, size;
    for (size_t at = 0; at < text.n;) {
        const added *a = list->n ? added_at(list, text, at) : NULL;
        size_t begin = at, end = at + (a ? a->text.n : 1);
        at = end;
        if (!a || (a->single_word && !stands_alone(text, begin, end)))
            continue;
        while (a->left && begin > from && ti_is_space(char_before(text, begin, &size)))
            begin -= size;
        begin = begin < from ? from : begin;
        while (a->right && end < text.n && ti_is_space(ti_utf8_next(text, end, &size)))
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
    ti_token_split(&t->splitter, &ctx->scratch, text, &words);
    for (size_t i = 0; i < words.n; i++)
        TC_TRY(ti_token_model_run(t->model, ctx, &t->loc, words.v[i].text, out));
    return TC_OK;
}

static tc_status put_text(const tc_tokenizer *t, tc_ctx *ctx, tc_str text, bool front,
                          tc_token_ids *out)
{
    parts inner = {0};
    text = ti_token_normalize(&t->normalizer, &ctx->scratch, text);
    cut_added(&t->normal, &ctx->scratch, text, &inner);
    for (size_t i = 0; i < inner.n; i++)
        if (inner.v[i].id >= 0)
            put(ctx, out, inner.v[i].id);
        else
            TC_TRY(put_words(t, ctx, (tc_piece){inner.v[i].text, front && !i}, out));
    return TC_OK;
}

tc_status ti_tokens_encode(tc_ctx *ctx, const tc_tokenizer *t, tc_bytes bytes, bool special,
                        const int64_t **out, size_t *n)
{
    tc_str text = {(const char *)bytes.data, bytes.size};
    tc_token_ids list = {0};
    parts outer = {0};
    tc_mark mark = ti_arena_mark(&ctx->scratch);
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
    ti_arena_rewind(&ctx->scratch, mark);
    *out = list.v;
    *n = list.n;
    return status;
}

/* ---- tokens to text ---- */

tc_status ti_tokens_decode(tc_ctx *ctx, const tc_tokenizer *t, const int64_t *token, size_t n,
                        bool continues, tc_bytes *out)
{
    tc_buf buf;
    ti_buf_init(&buf, &ctx->arena);
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_str *text = tc_new_n(&ctx->scratch, tc_str, n + 1);
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (token[i] >= 0 && (size_t)token[i] < t->n && t->text[token[i]].p)
            text[k++] = t->text[token[i]];
    ti_token_decode(&t->decoder, &ctx->scratch, text, k, continues, &buf);
    ti_arena_rewind(&ctx->scratch, mark);
    ti_buf_u8(&buf, 0);
    *out = (tc_bytes){buf.data, buf.size - 1};
    return TC_OK;
}
