/* SPDX-License-Identifier: Apache-2.0 */
/* time_line.h -- where a stream is in time; see time_line.c. */
#ifndef TC_TIME_LINE_H
#define TC_TIME_LINE_H

#include "time.h"

enum { LINE_DMAS = 8, LINE_KERNELS = 4 }; /* how many are kept */

typedef struct tc_npu_line {
    const tc_npu_machine *m;
    const tc_npu_system *s;
    bool made;      /* the list has no waits */
    double now;     /* of the command parser */
    double copied;  /* when the last copy has requested its bytes */
    int copying;    /* from which memory */
    double fetched; /* when the last kernel has, outside */
    double last_kernel, last; /* ends */
    struct tc_line_dma {
        double end;
        uint8_t region; /* UINT8_MAX: tables */
        tc_npu_range bytes;
    } dma[LINE_DMAS];
    size_t n_dma;
    struct tc_line_kernel {
        double end;
        tc_npu_op op;
    } kernel[LINE_KERNELS];
    size_t n_kernel;
} tc_npu_line;

void ti_line_begin(tc_npu_line *line, const tc_npu_machine *m, const tc_npu_system *s, bool made);
void ti_line_wait(tc_npu_line *line, const tc_npu_op *op);
void ti_line_dma(tc_npu_line *line, const tc_npu_op *op);
/* out: its cost and what it waits for. */
void ti_line_kernel(tc_npu_line *line, const tc_npu_op *op, const tc_npu_job *job,
                    tc_npu_op_cost *out);

#endif
