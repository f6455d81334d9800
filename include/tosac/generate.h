/* SPDX-License-Identifier: Apache-2.0 */
/* generate.h -- language models: tokenizers and text generation.  Experimental. */
#ifndef TOSAC_GENERATE_H
#define TOSAC_GENERATE_H

#include "run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- tokens ---- */

typedef struct tc_tokenizer tc_tokenizer;

/* Opens a tokenizer.json of Hugging Face's tokenizers and gives the same tokens: BPE, WordPiece,
 * Unigram or WordLevel, with normalizers, pre-tokenizers, post-processors, decoders and added
 * tokens.  Anything else (UnicodeScripts, lookbehind in a pattern) is TC_UNSUPPORTED, by name;
 * truncation and padding are ignored.  It lives as long as the context. */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status
tc_tokenizer_open(tc_ctx *ctx, const char *path, tc_tokenizer **out);

/* The vocabulary size: the largest token plus one. */
TC_API TC_EXPERIMENTAL size_t tc_tokenizer_size(const tc_tokenizer *tokenizer);

/* The token of exactly this text, such as "<|endoftext|>"; -1: there is none. */
TC_API TC_EXPERIMENTAL int64_t tc_tokenizer_find(const tc_tokenizer *tokenizer, const char *text);

/* The tokens of a text; special: with those that the post-processor adds.  They live as long as the
 * context. */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status
tc_tokenizer_encode(tc_ctx *ctx, const tc_tokenizer *tokenizer, tc_bytes text, bool special, const
                    int64_t **out, size_t *n);

/* The text of tokens, which may end inside a character; a NUL follows that size does not count.
 * continues: other text comes before it. */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status
tc_tokenizer_decode(tc_ctx *ctx, const tc_tokenizer *tokenizer, const int64_t *token, size_t n, bool
                    continues, tc_bytes *out);

/* ---- generation ---- */

/* Called for every new token; any status but TC_OK ends the call with that status. */
typedef tc_status tc_on_token(void *user, int64_t token);

typedef struct tc_generate_options {
    size_t size; /* of this record */
    /* The methods of one program, in any order.  Their first inputs are integers: a method with one
     * token is the step, its optional second input is the token's position; a method with more is a
     * window (prefill), written to the caches at 0 or at its second input.  Without a step the
     * window is computed again for every token.  Their first outputs are scores. */
    const tc_model *const *method;
    size_t n_method;
    const int64_t *prompt;
    size_t n_prompt;    /* at least 1 */
    size_t n;           /* tokens to make, at most */
    double temperature; /* 0: always the most likely token */
    size_t top_k;       /* sample from the k most likely; 0: from all */
    uint64_t seed;
    int64_t stop;          /* the token that ends the text; negative: none */
    size_t context;        /* length of the caches; 0: from their shapes */
    tc_on_token *on_token; /* or NULL */
    void *user;            /* for on_token */
} tc_generate_options;
TC_SIZED_RECORD(tc_generate_options)

typedef struct tc_generated {
    size_t size;          /* of this record: set by the caller */
    const int64_t *token; /* the new tokens; they live as long as the context */
    size_t n;
    size_t context;        /* length of the caches; 0: not known */
    size_t windows, steps; /* number of calls of each kind */
    double window_seconds, step_seconds;
} tc_generated;
TC_SIZED_RECORD(tc_generated)

/* Continues a prompt: prefill by windows as far as they fit, then token by token.  The text ends
 * when the caches are full.  The same options give the same tokens. */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status
tc_generate(tc_ctx *ctx, const tc_generate_options *options, tc_generated *out);

#ifdef __cplusplus
}
#endif
#endif
