/* SPDX-License-Identifier: Apache-2.0 */
/* verifier.h -- what the files of the verifier share. */
#ifndef TC_VERIFIER_H
#define TC_VERIFIER_H

#include "npu_verify.h"

/* One bit a byte of a region. */
typedef struct tc_npu_bits {
    uint8_t *bit; /* NULL: not followed */
    int64_t bytes;
} tc_npu_bits;

enum { TC_NPU_INTERNAL = TC_NPU_REGIONS, TC_NPU_SPACES }; /* the memory of tables is a space too */

/* Bytes that an operation touches: a map's elements, or a range. */
typedef struct tc_npu_access {
    int space;
    bool writes;
    bool exact; /* `map` counts */
    bool in_turn; /* read element by element: of each block before the result is written */
    const char *what; /* "ifm" */
    tc_npu_map map;
    int32_t h, w, c;
    tc_npu_range range;
} tc_npu_access;

enum {
    TC_NPU_ACCESSES = 48,
    TC_NPU_UNFINISHED = 8
}; /* of an operation, or a chain of them; in a queue */

typedef struct tc_npu_accesses {
    size_t number; /* of the operation; a chain has its first one's */
    size_t n;
    tc_npu_access list[TC_NPU_ACCESSES];
} tc_npu_accesses;

typedef struct tc_npu_verifier {
    tc_ctx *ctx;
    const tc_npu_program *program;
    const tc_npu_machine *machine;
    tc_npu_findings *out;
    const tc_npu_op *op; /* the one at hand; NULL: none */
    tc_npu_bits written[TC_NPU_SPACES];
    tc_npu_bits unread[TC_NPU_SPACES]; /* sums over channels that were not read */
    int64_t work;   /* how many runs of bytes were looked at */
    bool branches;  /* the words are not the order in which things happen */
    bool broken;    /* an access of the operation at hand is out of bounds */
    /* Unfinished operations, oldest first. */
    tc_npu_accesses kernel[TC_NPU_UNFINISHED], dma[TC_NPU_UNFINISHED];
    size_t n_kernel, n_dma;
    bool in_chain;
    tc_npu_op last; /* the kernel operation before */
    bool has_last;
    uint8_t chained; /* buffers that were filled, a bit each */
    tc_npu_block accumulated; /* the extents of kept accumulators; h 0: there are none */
} tc_npu_verifier;

/* A finding at the operation at hand. */
void ti_npu_found(tc_npu_verifier *v, tc_npu_check check, const char *format, ...) TC_PRINTF(3, 4);

/* verify_memory.c */
void ti_npu_memory_begin(tc_npu_verifier *v);
void ti_npu_memory_op(tc_npu_verifier *v, const tc_npu_op *op);
void ti_npu_memory_end(tc_npu_verifier *v);

/* Whether the two touch a byte in common. */
bool ti_npu_overlap(tc_npu_verifier *v, const tc_npu_access *a, const tc_npu_access *b);

/* verify_order.c: a kernel operation against the one before, before it begins. */
void ti_npu_verify_order(tc_npu_verifier *v, const tc_npu_op *op);

/* verify_block.c */
void ti_npu_verify_block(tc_npu_verifier *v, const tc_npu_op *op);

#endif
