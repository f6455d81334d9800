/* SPDX-License-Identifier: Apache-2.0 */
/* npu_write.h -- operations as a stream: the inverse of npu_op.h's walk.
 *
 * A list has kernels, DMAs, branches, and any other commands, in the order of the stream.  An
 * operation is as the walk gives it; fields that its kind does not use may be unset.
 *
 *   waits      optional: the writer inserts missing ones, as few as possible
 *   blockdep   set by the writer, whatever the operation has
 *   STOP       optional
 *   BRANCH     `target` is the index in the list of the next operation, n: the end
 *
 * `at` and `number` are ignored.  What may be left 0: acc_bits (then 32), depth (then the ifm's
 * channels). */
#ifndef TC_NPU_WRITE_H
#define TC_NPU_WRITE_H

#include "../base/arena.h"
#include "npu_op.h"

typedef struct tc_npu_how {
    bool apart;         /* region 2 is a separate memory, not region 1 */
    bool keep_waits;    /* none but those of the list */
    bool keep_blockdep; /* as the operations say */
} tc_npu_how;

/* The words of the list, in the arena; word_of[i], unless NULL, is the word of operation i's
 * command.  NULL, or what cannot be written: the register and the value that does not fit it. */
const char *ti_npu_write(tc_arena *arena, const tc_npu_machine *machine, const tc_npu_op *op,
                         size_t n, tc_npu_words *out, size_t *word_of);
const char *ti_npu_write_as(tc_arena *arena, const tc_npu_machine *machine, tc_npu_how how,
                            const tc_npu_op *op, size_t n, tc_npu_words *out, size_t *word_of);

/* How many of the last blocks of the kernel operation before may be unfinished when `op` begins:
 * the most that is safe, also where regions 1 and 2 are one memory.  `before` NULL: it is not
 * known. */
uint8_t ti_npu_blockdep(const tc_npu_machine *machine, const tc_npu_op *before,
                        const tc_npu_op *op);

/* A stream as such a list, with its waits or without; targets of branches are indices then. */
const char *ti_npu_list(tc_arena *arena, const tc_npu_machine *machine, tc_npu_words words,
                        bool waits, tc_npu_op **out, size_t *n);

#endif
