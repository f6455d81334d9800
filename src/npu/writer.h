/* SPDX-License-Identifier: Apache-2.0 */
/* writer.h -- what the files of the writer share. */
#ifndef TC_WRITER_H
#define TC_WRITER_H

#include "npu_write.h"

#include "../base/bytes.h"

typedef struct tc_npu_writer {
    tc_arena *arena;
    const tc_npu_machine *machine;
    tc_buf words;
    tc_npu_registers reg; /* `known`: `set` is valid */
    const char *error;    /* the first one */
} tc_npu_writer;

/* write_wait.c: what an operation touches, and which waits it needs. */

typedef struct tc_npu_touch {
    uint8_t space; /* a region; the table memory has its own number */
    bool writes;
    tc_npu_range range;
} tc_npu_touch;

enum { TC_NPU_TOUCHES = 64, TC_NPU_QUEUE = 4 };

/* An operation, or all those of a chain. */
typedef struct tc_npu_job {
    size_t n;
    bool everything; /* it touches more than there is room for */
    tc_npu_touch touch[TC_NPU_TOUCHES];
} tc_npu_job;

/* Unfinished jobs, oldest first: each kind ends in order. */
typedef struct tc_npu_queue {
    size_t n;
    tc_npu_job job[TC_NPU_QUEUE];
} tc_npu_queue;

void ti_npu_touched(const tc_npu_machine *machine, bool apart, const tc_npu_op *op,
                    tc_npu_job *job);
/* How many of the queue may be unfinished when the job begins; queue->n: no wait is needed. */
size_t ti_npu_may_run(const tc_npu_queue *queue, const tc_npu_job *job);
/* At most `most` are unfinished from here on. */
void ti_npu_queue_end(tc_npu_queue *queue, size_t most);

/* write_register.c: registers, each written only where it changes. */

/* The value as `width` bits from bit `at` on of register `code`; one that does not fit is an
 * error. */
uint32_t ti_npu_field(tc_npu_writer *w, int code, int64_t value, int at, int width);
uint32_t ti_npu_signed_field(tc_npu_writer *w, int code, int64_t value, int width);
void ti_npu_set(tc_npu_writer *w, int code, int64_t value);
void ti_npu_set2(tc_npu_writer *w, int code, uint32_t param, uint32_t payload);
void ti_npu_set_address(tc_npu_writer *w, int code, uint64_t value);
void ti_npu_set_stride(tc_npu_writer *w, int code, int64_t value);
void ti_npu_forget(tc_npu_writer *w, int code); /* it may hold anything */
void ti_npu_forget_all(tc_npu_writer *w);
/* A command of one word that is not a register. */
void ti_npu_put(tc_npu_writer *w, int code, uint32_t param);
/* NULL, or what is wrong; the first one stays. */
void ti_npu_cannot(tc_npu_writer *w, const char *why);

/* write_op.c: the registers that an operation reads. */
void ti_npu_set_kernel(tc_npu_writer *w, const tc_npu_op *op);
void ti_npu_set_dma(tc_npu_writer *w, const tc_npu_op *op);

/* blockdep.c: ti_npu_blockdep() where it is known that regions 1 and 2 are two memories. */
uint8_t ti_npu_blockdep_in(const tc_npu_machine *machine, bool apart, const tc_npu_op *before,
                           const tc_npu_op *op);

#endif
