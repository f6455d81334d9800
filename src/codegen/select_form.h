/* SPDX-License-Identifier: Apache-2.0 */
/* select_form.h -- an operator in several forms (form.def), of which the cheapest stays.
 *
 *    tc_sel_ways w = ti_sel_ways(s, node);
 *    ... emit the plain operations ...
 *    if (another form is possible) {
 *        ti_sel_plain(&w);
 *        ... emit the other form ...
 *        ti_sel_form(&w, TC_SEL_PAIRS, done);
 *    }
 *
 * A form only emits operations and makes roots of its own; what it leaves in values is the same. */
#ifndef TC_SELECT_FORM_H
#define TC_SELECT_FORM_H

#include "select.h"

typedef enum tc_sel_form {
#define FORM(name, text, what) TC_SEL_##name,
#include "form.def"
    TC_SEL_FORMS
} tc_sel_form;

typedef struct tc_sel_ways {
    tc_sel *s;
    const tc_node *node;
    size_t first, end;     /* operations of the best so far, */
    size_t root, root_end; /* roots that were made for them, */
    size_t told, told_end; /* and forms that were compared */
    double cycles;     /* that they cost */
} tc_sel_ways;

/* Operations that are emitted from here on are the plain form. */
tc_sel_ways ti_sel_ways(tc_sel *s, const tc_node *node);
/* They are complete. */
void ti_sel_plain(tc_sel_ways *w);
/* What was emitted since is another form, or (!done) could not be made; gives whether it stays. */
bool ti_sel_form(tc_sel_ways *w, tc_sel_form form, bool done);

#endif
