/* SPDX-License-Identifier: Apache-2.0 */
/* enter.h -- entry and exit of every public call that allocates.
 *
 * Running out of memory anywhere inside jumps back here: the context is unusable, its clean-ups run
 * when it is freed, and the caller gets TC_NO_MEMORY. */
#ifndef TC_ENTER_H
#define TC_ENTER_H

#include "diag.h"
#include "tosac/tosac.h"

/* `return TC_ENTER(ctx, call)`, as a statement: the status of `call`, or TC_NO_MEMORY or
 * TC_CANCELLED.  The call must be one function's: nothing of the caller's frame may change in it.
 */
#define TC_ENTER(context, call)                                                                    \
    do {                                                                                           \
        tc_door door_;                                                                             \
        tc_status entered_ = ti_door_in(&door_, (context));                                        \
        if (entered_ != TC_OK)                                                                     \
            return entered_;                                                                       \
        if (setjmp((context)->oom) == 0)                                                           \
            return ti_door_out(&door_, (call));                                                    \
        return ti_door_out(&door_, TC_NO_MEMORY);                                                  \
    } while (0)

/* A public call under way.  Calls nest: a callback may make another with the same context. */
typedef struct tc_door {
    tc_ctx *ctx;
    jmp_buf outer; /* the jump target of the enclosing call */
    jmp_buf *arena_oom, *scratch_oom;
    tc_mark mark; /* scratch as it was */
} tc_door;

tc_status ti_door_in(tc_door *door, tc_ctx *ctx);
tc_status ti_door_out(tc_door *door, tc_status status);

/* As many bytes of a caller's record as both versions have; the rest of ours is 0. */
void ti_take_record(void *ours, size_t size, const void *theirs);
/* The other way: theirs has its size first. */
void ti_fill_record(void *theirs, const void *ours, size_t size);

#define TC_TAKE(T, options) (*(const T *)ti_taken(&(T){0}, sizeof(T), (options)))
static inline const void *ti_taken(void *ours, size_t size, const void *theirs)
{
    ti_take_record(ours, size, theirs);
    return ours;
}

#endif
