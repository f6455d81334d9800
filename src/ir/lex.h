/* SPDX-License-Identifier: Apache-2.0 */
/* lex.h -- a cursor over the text of a graph.
 *
 * It fails once and stays failed: the first mistake is reported with its line and column, and from
 * then on the cursor is at the end of the text, so loops over it end. */
#ifndef TC_LEX_H
#define TC_LEX_H

#include "../base/diag.h"

typedef struct tc_lex {
    tc_ctx *ctx;
    const char *file; /* as messages name it */
    const char *at, *end;
    const char *line_start;
    int line;
    tc_status status; /* the first failure */
} tc_lex;

void ti_lex_init(tc_lex *lex, tc_ctx *ctx, const char *file, tc_bytes text);

/* "tiny.ir:7:14": where the next token begins; in the context's arena. */
const char *ti_lex_place(tc_lex *lex);

/* Report, unless an earlier failure was. */
void ti_lex_fail(tc_lex *lex, tc_diag_id id, const char *format, ...) TC_PRINTF(3, 4);

/* The next character after spaces and comments (# to the end of the line); 0 at the end. */
char ti_lex_peek(tc_lex *lex);

/* Step over a mark such as "," or "->" when it is next. */
bool ti_lex_accept(tc_lex *lex, const char *mark);
void ti_lex_expect(tc_lex *lex, const char *mark);

/* A word: letters, digits, '_' and '.', starting with a letter or '_'.  Empty when there is none.
 */
tc_str ti_lex_word(tc_lex *lex);
/* The same, not consumed. */
tc_str ti_lex_peek_word(tc_lex *lex);

/* The text of an element or attribute: a word, a number, (1,2), nan(0x1). */
tc_str ti_lex_number(tc_lex *lex);
int64_t ti_lex_int(tc_lex *lex);

/* "text" with escapes \" \\ \n \t \xHH; interned.  NULL after a failure. */
const char *ti_lex_string(tc_lex *lex);

#endif
