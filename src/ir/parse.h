/* SPDX-License-Identifier: Apache-2.0 */
/* parse.h -- what the files of the text reader share.  After a failure these return zeros. */
#ifndef TC_PARSE_H
#define TC_PARSE_H

#include "lex.h"
#include "op.h"

#define FAILED(lex) ((lex)->status != TC_OK)

double ti_parse_f64(tc_lex *lex);

/* "text", or none for NULL. */
void ti_parse_text(tc_lex *lex, const char **text);

/* f32[1,3,8,8], i8[4] q(0.05:-3), or ? for NULL. */
const tc_type *ti_parse_type(tc_lex *lex);

/* name=value ..., in any order, each once, all of them; the record, or NULL when there is none. */
const void *ti_parse_attrs(tc_lex *lex, tc_op op);

#endif
