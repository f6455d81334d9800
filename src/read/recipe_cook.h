/* SPDX-License-Identifier: Apache-2.0 */
/* recipe_cook.h -- the state of a recipe being built: its words, names, scalars and attributes. */
#ifndef TC_RECIPE_COOK_H
#define TC_RECIPE_COOK_H

#include <ctype.h>

#include "recipe.h"

enum { MOST_NAMES = 16 };

typedef struct tc_cook {
    tc_build *b; /* NULL: the text is only checked */
    const tc_recipe_source *from;
    tc_arena *arena;
    const char *at;
    int n_result;
    tc_val first; /* operand that was read */
    tc_val like;  /* of the last `dtype=`: the operand that was named, or TC_NONE */
    struct {
        const char *name;
        tc_val val;
    } known[MOST_NAMES]; /* operands that were read, and names given */
    int n_known;
    bool (*argument)(const void *schema, const char *name);
    const void *schema;
    const char *wrong;
} tc_cook;

static inline bool is_letter(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The first thing that the text has and must not. */
void ti_cook_wrong(tc_cook *c, const char *format, ...) TC_PRINTF(2, 3);

/* Marks and words; spaces before them do not count. */
char ti_cook_next(tc_cook *c); /* left where it is */
bool ti_cook_take(tc_cook *c, char mark);
void ti_cook_need(tc_cook *c, char mark);
tc_str ti_cook_word(tc_cook *c);
bool ti_cook_take_word(tc_cook *c, const char *text);
bool ti_cook_literal(tc_cook *c, double *out);

/* name, or a|b|c: the first that the node has, or the first. */
const char *ti_cook_argument(tc_cook *c);
/* Whether the node has the argument; a message where it must have it. */
bool ti_cook_given(tc_cook *c, const char *name, bool optional, const char *expected);

/* Operands that were read and names that were given. */
tc_val *ti_cook_find(tc_cook *c, const char *name);
tc_val ti_cook_keep(tc_cook *c, const char *name, tc_val val);
tc_val ti_cook_tensor(tc_cook *c, const char *name);

/* Sums and products of literals, arguments, ranks and extents. */
typedef enum sort { REAL, WHOLE, TRUTH } sort;
double ti_cook_number(tc_cook *c, sort s);
int64_t ti_cook_whole(tc_cook *c);

/* One field of the operator's record, from the text after `=`; `first`: operand 0. */
void ti_cook_field(tc_cook *c, tc_op op, const tc_field *f, char *record, tc_val first);

#endif
