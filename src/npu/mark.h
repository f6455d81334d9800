/* SPDX-License-Identifier: Apache-2.0 */
/* mark.h -- marks: places in a stream at which everything before them is done, so that a counter read
 * there belongs to the operations since the mark before.
 *
 *    IRQ    waits, then an interrupt; its mask is one bit, of mark k bit k % 16
 *    WAIT   waits alone, for whoever watches QREAD (an interrupt ends a job of Linux's driver) */
#ifndef TC_MARK_H
#define TC_MARK_H

#include "npu_op.h"

#include "../base/arena.h"

typedef enum tc_npu_marks { TC_MARKS_NONE, TC_MARKS_IRQ, TC_MARKS_WAIT, TC_MARKS_COUNT } tc_npu_marks;

/* "irq", "wait"; TC_MARKS_COUNT: there is none of that name.  NULL is none. */
tc_npu_marks ti_npu_marks_of(const char *name);
extern const char *const tc_npu_marks_names[TC_MARKS_COUNT];

/* A list with marks, of one of the two kinds: after every kernel, or chain of them, and after every copy that is an operation by
 * itself; but for the last.  was[i]: which of `op` it is, SIZE_MAX: of a mark. */
void ti_npu_put_marks(tc_arena *arena, tc_npu_marks marks, const tc_npu_op *op, size_t n,
                      tc_npu_op **out, size_t **was, size_t *n_out);

typedef struct tc_npu_mark {
    size_t word; /* of its last command */
    uint16_t mask;
} tc_npu_mark;

/* Those of a stream: its interrupts, or where it has none its waits for everything. */
const char *ti_npu_marks_in(tc_arena *arena, const tc_npu_machine *machine, tc_npu_words words,
                            tc_npu_mark **out, size_t *n);

/* What is copied for the kernel that follows: constants, tables; not an operation by itself. */
bool ti_npu_copies_ahead(const tc_npu_dma *dma);

#endif
