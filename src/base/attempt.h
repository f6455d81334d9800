/* SPDX-License-Identifier: Apache-2.0 */
/* attempt.h -- work of which only a result is kept: its memory is freed.
 *
 * Between begin and end the context is used as usual, without messages or progress; then its
 * memory, its interned types and names, its rooms' records and its clean-ups are restored.  Nothing
 * allocated in between may be kept.  Attempts nest; one that runs out of memory needs no end, as
 * the context is unusable then. */
#ifndef TC_ATTEMPT_H
#define TC_ATTEMPT_H

#include "diag.h"

/* The context at a moment: its memory, its interned types and names, its rooms' records and its
 * clean-ups.  Going back gives away all that was made since, messages left aside. */
typedef struct tc_footing {
    tc_mark arena, scratch;
    tc_map types, names;
    void *own[TC_OWN_COUNT]; /* copies of the rooms' records; NULL: there was none */
    struct tc_cleanup *cleanup;
    struct tc_mapped *mapped;
} tc_footing;

void ti_footing_take(tc_ctx *ctx, tc_footing *footing);
void ti_footing_back(tc_ctx *ctx, const tc_footing *footing);

typedef struct tc_attempt {
    tc_footing footing;
    tc_on_progress *on_progress;
    tc_trial trial;
} tc_attempt;

void ti_attempt_begin(tc_ctx *ctx, tc_attempt *attempt);
void ti_attempt_end(tc_ctx *ctx, const tc_attempt *attempt);

/* work(what), with the memory that it takes from the context freed; its result must be elsewhere.
 * Progress is reported.  Work that fails is repeated without all this, for its message: it must be
 * restartable. */
TC_MUST_USE tc_status ti_attempt_work(tc_ctx *ctx, tc_status (*work)(void *what), void *what);

#endif
