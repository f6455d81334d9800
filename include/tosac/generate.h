/* SPDX-License-Identifier: Apache-2.0 */
/* generate.h -- language models: text to tokens and back, and tokens after tokens. */
#ifndef TOSAC_GENERATE_H
#define TOSAC_GENERATE_H

#include "run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- tokens ---- */

typedef struct tc_tokenizer tc_tokenizer;

/* A tokenizer.json as Hugging Face's tokenizers write it, with the same tokens: BPE, WordPiece,
 * Unigram or WordLevel, with their normalizers, pre-tokenizers, post-processors, decoders and added
 * tokens.  What it asks for beyond that (UnicodeScripts, looking behind in a pattern) is
 * TC_UNSUPPORTED, by name; its truncation and padding are left out.  It lives as long as the
 * context. */
TC_API TC_MUST_USE tc_status tc_tokenizer_open(tc_ctx *ctx, const char *path, tc_tokenizer **out);

/* One more than the largest token. */
TC_API size_t tc_tokenizer_size(const tc_tokenizer *tokenizer);

/* The token of a text that stands for one, such as "<|endoftext|>"; -1: there is none. */
TC_API int64_t tc_tokenizer_find(const tc_tokenizer *tokenizer, const char *text);

/* The tokens of a text; special not 0: with those that the file puts around every text.  They live
 * as long as the context. */
TC_API TC_MUST_USE tc_status tc_tokenizer_encode(tc_ctx *ctx, const tc_tokenizer *tokenizer,
                                                 tc_bytes text, int special, const int64_t **out,
                                                 size_t *n);

/* The text of tokens, which need not be whole characters; it ends in a NUL that size does not
 * count.  continues not 0: other text stands in front of it. */
TC_API TC_MUST_USE tc_status tc_tokenizer_decode(tc_ctx *ctx, const tc_tokenizer *tokenizer,
                                                 const int64_t *token, size_t n, int continues,
                                                 tc_bytes *out);

/* ---- text after text ---- */

/* Told of every token as it is made; anything but TC_OK stops there and is what the call comes to.
 */
typedef tc_status tc_on_token(void *user, int64_t token);

typedef struct tc_generate_options {
    size_t size; /* of this record */
    /* The methods of one program, in any order.  By their first inputs, whole numbers: one with a
     * single token is the step, with that token's place as its second input where it has one; one
     * with more is a window, written to the caches at 0 or where its second input says.  Without a
     * step the window is computed anew for every token.  Their first outputs are scores. */
    const tc_model *const *method;
    size_t n_method;
    const int64_t *prompt;
    size_t n_prompt;    /* at least 1 */
    size_t n;           /* tokens to make, at most */
    double temperature; /* 0: the likeliest token every time */
    size_t top_k;       /* among so many of the likeliest; 0: all */
    uint64_t seed;
    int64_t stop;   /* the token that ends the text; less than 0: none */
    size_t context; /* places that the caches have; 0: as their shapes say */
    tc_on_token *on_token; /* or NULL */
    void *user;            /* for on_token */
} tc_generate_options;
TC_SIZED_RECORD(tc_generate_options)

typedef struct tc_generated {
    size_t size;          /* of this record: set by the caller */
    const int64_t *token; /* what was made; it lives as long as the context */
    size_t n;
    size_t context;       /* places that there are; 0: not known */
    size_t windows, steps; /* calls of each kind of method */
    double window_seconds, step_seconds;
} tc_generated;
TC_SIZED_RECORD(tc_generated)

/* Continue a prompt.  It goes through windows as far as they reach, the rest of it and what is made
 * step by step.  The end of the context ends the text.  The same options give the same tokens. */
TC_API TC_MUST_USE tc_status tc_generate(tc_ctx *ctx, const tc_generate_options *options,
                                         tc_generated *out);

#ifdef __cplusplus
}
#endif
#endif
