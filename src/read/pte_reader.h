/* SPDX-License-Identifier: Apache-2.0 */
/* pte_reader.h -- what the files that make a graph of an ExecuTorch program share: read_pte.c has
 * the values and the instructions, read_pte_loop.c the loops among them. */
#ifndef TC_PTE_READER_H
#define TC_PTE_READER_H

#include "../ir/graph.h"
#include "../target/cortexm_call.h"
#include "read_pte.h"

/* What the body of a loop reads from around it. */
typedef struct tc_pte_capture {
    int64_t at;     /* value of the method */
    tc_val outside; /* what it holds there */
} tc_pte_capture;

/* The graph that nodes go to: the program, or a graph of a loop. */
typedef struct tc_pte_inside {
    tc_graph *g;
    tc_val *val;    /* by value of the method: what it holds, or TC_NONE */
    tc_map written; /* address to the number of the value that was written there last, + 1 */
    struct tc_pte_inside *outer; /* NULL: the program */
    tc_pte_capture *capture;
    size_t n_capture, cap_capture;
} tc_pte_inside;

typedef struct tc_pte_reader {
    tc_ctx *ctx;
    tc_pte_file file;
    tc_pte_method *m;
    tc_module *module;
    tc_pte_inside *in;
    tc_val *before;     /* by value: the initial buffer, if it is one */
    const char **graph; /* by delegate: the graph that it runs, once it is read */
    const tc_loc *loc;  /* of the instruction */
    size_t *jump, n_jump, cap_jump; /* instructions that are jumps */
    int depth;                      /* of loops in loops */
} tc_pte_reader;

/* What the tensor holds now. */
TC_MUST_USE tc_status ti_pte_use(tc_pte_reader *r, int64_t at, tc_val *out);
/* The same with its axes in memory order. */
TC_MUST_USE tc_status ti_pte_use_stored(tc_pte_reader *r, int64_t at, tc_val *out);
/* It holds v from here on; TC_NONE: nothing that may be read. */
void ti_pte_write(tc_pte_reader *r, int64_t at, tc_val v);
/* The instructions from .. to - 1. */
TC_MUST_USE tc_status ti_pte_run(tc_pte_reader *r, size_t from, size_t to);

tc_pte_inside *ti_pte_inside_new(tc_pte_reader *r, tc_graph *g, tc_pte_inside *outer);

/* pte_cortexm.c: one of ExecuTorch's operators for a Cortex-M. */
TC_MUST_USE tc_status ti_pte_read_cortexm(tc_pte_reader *r, const tc_pte_step *s, tc_cm_op op);

/* read_pte_loop.c */
/* The last instruction of the loop that begins with this one and ends before `to`; 0: none does. */
size_t ti_pte_loop_end(const tc_pte_reader *r, size_t begin, size_t to);
TC_MUST_USE tc_status ti_pte_read_loop(tc_pte_reader *r, size_t begin, size_t end);
/* A value that was not written inside of a loop, as an input of its graph. */
TC_MUST_USE tc_status ti_pte_take_in(tc_pte_reader *r, int64_t at, const tc_type *type,
                                     tc_val *out);

#endif
