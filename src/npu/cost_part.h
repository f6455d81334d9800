/* SPDX-License-Identifier: Apache-2.0 */
/* cost_part.h -- jobs of a stream: whole, or in stripes of some rows. */
#ifndef TC_COST_PART_H
#define TC_COST_PART_H

#include "cost.h"

/* A job, and what identifies its continuation. */
typedef struct tc_npu_part {
    tc_npu_job job;
    tc_npu_kind kind;
    uint8_t mode;
    uint64_t weights;    /* equal: the same ones */
    tc_npu_map ifm, ofm; /* of its first operation */
    int32_t top;         /* padding */
    int32_t rows;        /* that it writes itself */
    int64_t lo, hi;      /* bytes of its region that it writes, with those that it continues */
    size_t before;       /* the part that it continues; SIZE_MAX: none */
    size_t whole;        /* the first of those that are one job; itself, if it is alone */
    double share;        /* of the job's figure */
} tc_npu_part;

/* Consecutive operations may be striped, some rows at a time: A A B A B ... is A, and B, as Vela
 * counts them.  The first part of each becomes the whole job; the others refer to it. */
void ti_npu_join_parts(tc_arena *arena, tc_npu_part *part, size_t n);

#endif
