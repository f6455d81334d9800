/* SPDX-License-Identifier: Apache-2.0 */
/* token.h -- what the files of the tokenizer share.
 *
 *   unicode.c       characters
 *   token_regex.c   patterns
 *   token_charsmap.c  SentencePiece's replacements
 *   token_normal.c  texts are normalized
 *   token_split.c   and fall into words,
 *   token_model.c   each of which becomes tokens
 *   token_decode.c  tokens to text
 *   tokenizer.c     tokenizer.json, added tokens, and the template */
#ifndef TC_TOKEN_H
#define TC_TOKEN_H

#include "../base/diag.h"
#include "../base/map.h"
#include "../wire/json.h"
#include "tosac/tosac.h"

/* ---- unicode.c ---- */

typedef enum tc_chars {
    TC_LETTER,
    TC_UPPER,
    TC_LOWER,
    TC_TITLE,
    TC_MODIFIER,
    TC_NUMBER,
    TC_DIGIT,
    TC_MARK,
    TC_PUNCTUATION,
    TC_SYMBOL,
    TC_WORD,       /* \w of a pattern, */
    TC_WORD_SPLIT, /* and of the pre-tokenizer Whitespace */
    TC_COMBINING,  /* what StripAccents takes away, */
    TC_ACCENT,     /* and BertNormalizer */
    TC_CONTROL,
    TC_BERT_SIGN,
    TC_NUMERIC,
    TC_CHARS,
    TC_SPACE = TC_CHARS,
    TC_OTHER_LETTER
} tc_chars;
bool ti_char_is(tc_chars set, uint32_t c);
bool ti_is_space(uint32_t c);

/* The character at `at`, and in *size its bytes; what is no UTF-8 is a character of one byte, past
 * all others. */
uint32_t ti_utf8_next(tc_str text, size_t at, size_t *size);
void ti_utf8_put(tc_buf *out, uint32_t c);
tc_str ti_text_lower(tc_arena *arena, tc_str text);
/* NFD; composed: NFC; compatible: NFKD and NFKC. */
tc_str ti_text_form(tc_arena *arena, tc_str text, bool composed, bool compatible);

/* ---- token_regex.c ---- */

typedef struct tc_regex tc_regex;
/* NULL: a pattern of a kind that is not supported; *why says which. */
tc_regex *ti_regex_new(tc_arena *arena, tc_str pattern, const char **why);
/* The next match from `at` on; false: there is none. */
bool ti_regex_find(const tc_regex *r, tc_arena *scratch, tc_str text, size_t at, size_t *begin,
                   size_t *end);

/* ---- token_charsmap.c ---- */

typedef struct tc_charsmap tc_charsmap;
tc_charsmap *ti_charsmap_new(tc_arena *arena, tc_str base64); /* NULL: it is none */
tc_str ti_charsmap_run(const tc_charsmap *m, tc_arena *arena, tc_str text);

/* ---- steps ---- */

typedef enum tc_behavior {
    TC_ISOLATED,
    TC_REMOVED,
    TC_CONTIGUOUS,
    TC_MERGED_BEFORE,
    TC_MERGED_BEHIND
} tc_behavior;

/* One step of normalizing, splitting or decoding. */
typedef struct tc_token_step {
    int kind; /* of its file */
    tc_str text, other;
    tc_regex *regex; /* NULL: `text` itself */
    tc_charsmap *map;
    tc_behavior behavior;
    bool invert, yes[4];
    int64_t first, last;
} tc_token_step;

typedef struct tc_token_steps {
    tc_token_step *v;
    size_t n, cap;
} tc_token_steps;

/* A piece of a text. */
typedef struct tc_piece {
    tc_str text;
    bool front; /* the text begins with it */
} tc_piece;
typedef struct tc_pieces {
    tc_piece *v;
    size_t n, cap;
} tc_pieces;

struct tc_tokenizer;
tc_str ti_token_text(const struct tc_tokenizer *t, const tc_json *part, const char *field);
bool ti_token_flag(const tc_json *part, const char *field, bool otherwise);
/* {"String": ...} or {"Regex": ...}: the step's text or regex. */
tc_status ti_token_pattern(struct tc_tokenizer *t, const tc_json *part, tc_token_step *step);
tc_status ti_token_broken(const struct tc_tokenizer *t, const char *what);
tc_status ti_token_beyond(const struct tc_tokenizer *t, const char *what, tc_str name);
tc_arena *ti_token_arena(const struct tc_tokenizer *t);

/* A kind of part of tokenizer.json: its name in messages, the member with the parts of a sequence,
 * the name of its i-th type (NULL: none), and how a step of that type is read. */
typedef struct tc_token_part {
    const char *what, *list;
    const char *(*name)(size_t i);
    tc_status (*read)(struct tc_tokenizer *t, const tc_json *part, tc_token_step *step);
} tc_token_part;
/* Appends one part, or the parts of a sequence. */
tc_status ti_token_read(struct tc_tokenizer *t, const tc_json *part, const tc_token_part *kind,
                        tc_token_steps *out);

tc_status ti_token_normalizer(struct tc_tokenizer *t, const tc_json *part, tc_token_steps *out);
tc_status ti_token_splitter(struct tc_tokenizer *t, const tc_json *part, tc_token_steps *out);
tc_status ti_token_decoder(struct tc_tokenizer *t, const tc_json *part, tc_token_steps *out);

tc_str ti_token_normalize(const tc_token_steps *steps, tc_arena *arena, tc_str text);
void ti_token_split(const tc_token_steps *steps, tc_arena *arena, tc_piece text, tc_pieces *out);
/* before: tokens that came before these */
void ti_token_decode(const tc_token_steps *steps, tc_arena *arena, tc_str *token, size_t n,
                     bool before, tc_buf *out);

/* Every match of the step's pattern replaced. */
tc_str ti_token_replace(const tc_token_step *s, tc_arena *arena, tc_str text);
/* The next match of the step's pattern. */
bool ti_token_match(const tc_token_step *s, tc_arena *arena, tc_str text, size_t at, size_t *begin,
                    size_t *end);
/* Bytes as the signs that byte-level tokens are written in, and back; false: it has others. */
void ti_token_signs(tc_str text, tc_buf *out);
bool ti_token_unsigned(tc_str text, tc_buf *out);

/* ---- token_model.c ---- */

typedef struct tc_token_ids {
    int64_t *v;
    size_t n, cap;
} tc_token_ids;
typedef struct tc_token_model tc_token_model;
/* `id`: text of a token to its number + 1, filled from the model's vocabulary. */
tc_status ti_token_model_read(struct tc_tokenizer *t, const tc_json *part, tc_map *id,
                              tc_token_model **out);
tc_status ti_token_model_run(const tc_token_model *m, tc_ctx *ctx, const tc_loc *loc, tc_str word,
                             tc_token_ids *out);

/* tokenizer.c: what callers do with one. */
TC_MUST_USE tc_status ti_tokens_open(tc_ctx *ctx, const char *path, tc_tokenizer **out);
TC_MUST_USE tc_status ti_tokens_encode(tc_ctx *ctx, const tc_tokenizer *t, tc_bytes bytes, bool special,
                        const int64_t **out, size_t *n);
TC_MUST_USE tc_status ti_tokens_decode(tc_ctx *ctx, const tc_tokenizer *t, const int64_t *token, size_t n,
                        bool continues, tc_bytes *out);

#endif
