/* SPDX-License-Identifier: Apache-2.0 */
/* token_decode.c -- the decoders of tokenizer.json: texts of tokens to texts, joined at the end.
 *
 * Bytes stay bytes: an incomplete character is completed by the next token. */
#include "token.h"

typedef struct texts {
    tc_arena *arena;
    tc_str *v;
    size_t n;
    bool before; /* other tokens came before these */
} texts;

typedef void decode_fn(const tc_token_step *s, texts *t);

static tc_str text_of(const tc_buf *b) { return (tc_str){(const char *)b->data, b->size}; }

static bool begins(tc_str text, tc_str with)
{
    return with.n && text.n >= with.n && memcmp(text.p, with.p, with.n) == 0;
}

static void byte_level(const tc_token_step *s, texts *t)
{
    (void)s;
    for (size_t i = 0; i < t->n; i++) {
        tc_buf out;
        ti_buf_init(&out, t->arena);
        if (ti_token_unsigned(t->v[i], &out))
            t->v[i] = text_of(&out);
    }
}

static void replace(const tc_token_step *s, texts *t)
{
    for (size_t i = 0; i < t->n; i++)
        t->v[i] = ti_token_replace(s, t->arena, t->v[i]);
}

static void fuse(const tc_token_step *s, texts *t)
{
    tc_buf out;
    (void)s;
    ti_buf_init(&out, t->arena);
    for (size_t i = 0; i < t->n; i++)
        ti_buf_put(&out, t->v[i].p ? t->v[i].p : "", t->v[i].n);
    if (t->n)
        t->v[0] = text_of(&out);
    t->n = t->n ? 1 : 0;
}

/* At most `first` of the character in front, and `last` at the end. */
static void strip(const tc_token_step *s, texts *t)
{
    for (size_t i = 0; i < t->n; i++) {
        tc_str *text = &t->v[i];
        for (int64_t k = 0; k < s->first && !(t->before && !i) && begins(*text, s->text); k++)
            *text = (tc_str){text->p + s->text.n, text->n - s->text.n};
        for (int64_t k = 0; k < s->last && text->n >= s->text.n &&
                            memcmp(text->p + text->n - s->text.n, s->text.p, s->text.n) == 0;
             k++)
            text->n -= s->text.n;
    }
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

/* <0x..> is that byte. */
static void byte_fallback(const tc_token_step *s, texts *t)
{
    (void)s;
    for (size_t i = 0; i < t->n; i++) {
        tc_str x = t->v[i];
        if (x.n != 6 || memcmp(x.p, "<0x", 3) != 0 || x.p[5] != '>' || hex_digit(x.p[3]) < 0 ||
            hex_digit(x.p[4]) < 0)
            continue;
        tc_buf out;
        ti_buf_init(&out, t->arena);
        ti_buf_u8(&out, (uint8_t)(hex_digit(x.p[3]) * 16 + hex_digit(x.p[4])));
        t->v[i] = text_of(&out);
    }
}

/* Signs become spaces; of the first token they go, where one was put in front of the text. */
static void metaspace(const tc_token_step *s, texts *t)
{
    for (size_t i = 0; i < t->n; i++) {
        tc_token_step to = {.text = s->text, .other = {" ", 1}};
        if (!i && !t->before && s->yes[0])
            to.other.n = 0;
        t->v[i] = ti_token_replace(&to, t->arena, t->v[i]);
    }
}

static tc_str cleaned(tc_arena *arena, tc_str text)
{
    static const char *const pair[][2] = {{" .", "."},     {" ?", "?"},         {" !", "!"},
                                          {" ,", ","},     {" ' ", "'"},        {" n't", "n't"},
                                          {" 'm", "'m"},   {" do not", " don't"}, {" 's", "'s"},
                                          {" 've", "'ve"}, {" 're", "'re"}};
    for (size_t i = 0; i < TC_COUNT(pair); i++) {
        tc_token_step to = {.text = ti_str_of(pair[i][0]), .other = ti_str_of(pair[i][1])};
        text = ti_token_replace(&to, arena, text);
    }
    return text;
}

static void word_piece(const tc_token_step *s, texts *t)
{
    for (size_t i = 0; i < t->n; i++) {
        if (begins(t->v[i], s->text) && (i || t->before))
            t->v[i] = (tc_str){t->v[i].p + s->text.n, t->v[i].n - s->text.n};
        else if (i || t->before) {
            tc_buf out;
            ti_buf_init(&out, t->arena);
            ti_buf_u8(&out, ' ');
            ti_buf_put(&out, t->v[i].p ? t->v[i].p : "", t->v[i].n);
            t->v[i] = text_of(&out);
        }
        if (s->yes[0])
            t->v[i] = cleaned(t->arena, t->v[i]);
    }
}

/* The sign at a word's end is a space, at the last one's nothing. */
static void suffix(const tc_token_step *s, texts *t)
{
    for (size_t i = 0; i < t->n; i++) {
        tc_token_step to = {.text = s->text, .other = {" ", i + 1 < t->n}};
        t->v[i] = ti_token_replace(&to, t->arena, t->v[i]);
    }
}

static const struct {
    const char *name;
    decode_fn *run;
} kinds[] = {
    {"ByteLevel", byte_level},       {"Replace", replace},     {"Fuse", fuse},
    {"Strip", strip},                {"ByteFallback", byte_fallback},
    {"Metaspace", metaspace},        {"WordPiece", word_piece}, {"BPEDecoder", suffix},
};

static tc_status read_step(struct tc_tokenizer *t, const tc_json *json, tc_token_step *s)
{
    decode_fn *run = kinds[s->kind].run;
    if (run == replace) {
        s->other = ti_token_text(t, json, "content");
        return ti_token_pattern(t, json, s);
    }
    if (run == strip) {
        s->text = ti_token_text(t, json, "content");
        ti_json_i64(ti_json_get(json, "start"), &s->first);
        ti_json_i64(ti_json_get(json, "stop"), &s->last);
        if (!s->text.n)
            return ti_token_broken(t, "a Strip without 'content'");
    }
    if (run == metaspace) {
        tc_str scheme = ti_token_text(t, json, "prepend_scheme");
        s->text = ti_token_text(t, json, "replacement");
        s->yes[0] = scheme.p ? !ti_str_is(scheme, "never")
                             : ti_token_flag(json, "add_prefix_space", true);
    }
    if (run == word_piece) {
        s->text = ti_token_text(t, json, "prefix");
        s->yes[0] = ti_token_flag(json, "cleanup", true);
    }
    if (run == suffix)
        s->text = ti_token_text(t, json, "suffix");
    return TC_OK;
}

static const char *name_of(size_t i)
{
    return i < TC_COUNT(kinds) ? kinds[i].name : NULL;
}

tc_status ti_token_decoder(struct tc_tokenizer *t, const tc_json *part, tc_token_steps *out)
{
    static const tc_token_part kind = {"a decoder of the type", "decoders", name_of, read_step};
    return ti_token_read(t, part, &kind, out);
}

void ti_token_decode(const tc_token_steps *steps, tc_arena *arena, tc_str *token, size_t n,
                     bool before, tc_buf *out)
{
    texts t = {arena, token, n, before};
    for (size_t i = 0; i < steps->n; i++)
        kinds[steps->v[i].kind].run(&steps->v[i], &t);
    for (size_t i = 0; i < t.n; i++) {
        if (!steps->n && (i || before))
            ti_buf_u8(out, ' ');
        ti_buf_put(out, t.v[i].p ? t.v[i].p : "", t.v[i].n);
    }
}
