/* SPDX-License-Identifier: Apache-2.0 */
/* token.h -- what the files of the tokenizer share. */
#ifndef TC_API_TOKEN_H
#define TC_API_TOKEN_H

#include "../base/diag.h"
#include "../base/map.h"

/* unicode.c */
bool tc_is_letter(uint32_t c);
bool tc_is_number(uint32_t c);
bool tc_is_space(uint32_t c);

/* The character at `at`, and in *size its bytes; what is no UTF-8 is a character of one byte, past
 * all others. */
uint32_t tc_utf8_next(tc_str text, size_t at, size_t *size);

/* How a text falls into words before pairs are merged, as one of the well-known patterns has it. */
typedef struct tc_word_rules {
    const char *pattern; /* in tokenizer.json */
    bool any_case;       /* 's and its like in capitals too */
    bool lead_any;       /* a letter's word may begin with any one sign; else with a space */
    size_t digits;       /* of a number's word; 0: any, and a space in front */
    bool line_ends;      /* line ends stay with the signs, and with the spaces in front of them */
} tc_word_rules;

/* token_split.c: the rules of a pattern; NULL: it is not known. */
const tc_word_rules *tc_word_rules_of(const char *pattern);
const tc_word_rules *tc_word_rules_bytes(void); /* those of "ByteLevel" itself */

/* Bytes of the word that begins at `at`. */
size_t tc_word_size(const tc_word_rules *rules, tc_str text, size_t at);

#endif
