/* SPDX-License-Identifier: Apache-2.0 */
/* program_file.h -- a compiled module as one program for ExecuTorch's runtime. */
#ifndef TC_PROGRAM_FILE_H
#define TC_PROGRAM_FILE_H

#include "driver.h"

typedef struct tc_pte {
    tc_bytes pte;
    size_t memory; /* bytes of the block that values live in */
    size_t state;  /* bytes of the block that several methods share; 0: there is one method */
    tc_memory plan;
    const tc_graph *planned;
} tc_pte;

/* A program that is one region from its inputs to its outputs: a graph that only calls it, before
 * the graphs of `from`. */
tc_module *ti_program_calling(tc_ctx *ctx, const tc_module *from, const char *target);

/* The program's own graph, not yet in kernels: a copy. */
tc_module *ti_program_of(tc_ctx *ctx, const tc_compiled *compiled);

/* A method; payload: one for each region, in their order.  The file is the last method's `pte`. */
typedef struct tc_program_part {
    const tc_compiled *compiled;
    const char *name;
    tc_payload *payload;
    size_t n_payload;
} tc_program_part;
TC_MUST_USE tc_status ti_program_join(tc_ctx *ctx, const tc_program_part *part, size_t n,
                                      const tc_trace *trace, tc_pte *out);

/* The region's .tosa as a separate delegate payload. */
tc_payload ti_program_tosa_payload(tc_ctx *ctx, const tc_compiled *compiled,
                                   const tc_region *region);

#endif
