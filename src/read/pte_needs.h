/* SPDX-License-Identifier: Apache-2.0 */
/* pte_needs.h -- what ExecuTorch's runtime needs to load and run a program: libraries of kernels,
 * backends, and memory. */
#ifndef TC_PTE_NEEDS_H
#define TC_PTE_NEEDS_H

#include "../base/json_out.h"
#include "read_pte.h"

/* A library of kernels, or a backend. */
typedef struct tc_pte_need {
    const char *name;    /* "quantized_decomposed", "EthosUBackend" */
    const char *library; /* the target of ExecuTorch's CMake that has it; NULL: not known, or none has it */
    const char *python;  /* what makes it known to the runtime in Python: a statement, "" where it is
                            there already; NULL: it cannot be had there */
    const char **op;     /* of kernels: "aten::add.out", each once */
    size_t n_op, cap_op;
    const char *version; /* of ExecuTorch, at least; NULL: 1.4 */
} tc_pte_need;

typedef struct tc_pte_needs {
    tc_pte_need *kernels, *backend;
    size_t n_kernels, cap_kernels, n_backend, cap_backend;
    /* Bytes, of the method that needs the most. */
    size_t planned; /* exactly: the values between steps */
    size_t scratch; /* exactly: an Ethos-U's working memory, which comes from the temporary pool */
    size_t method;  /* what loading allocates: an upper bound for ExecuTorch 1.4 on 32 and 64 bits */
    size_t inputs;  /* input buffers as example runners allocate them */
    size_t temporary; /* the temporary pool: the largest of scratch, topk's pairs and what loading takes */
    size_t pool;      /* planned, method and inputs, aligned: the method allocator's pool of example runners */
} tc_pte_needs;

tc_pte_needs ti_pte_needs(tc_ctx *ctx, const tc_pte_file *f);

/* The lines to paste; fast: bytes of an Ethos-U's own fast memory, 0: none, or not known. */
void ti_pte_needs_lines(const tc_pte_needs *n, size_t fast, tc_buf *out);
/* One line: libraries and backends; nothing where portable kernels are enough. */
void ti_pte_needs_line(const tc_pte_needs *n, tc_buf *out);
void ti_pte_needs_json(const tc_pte_needs *n, size_t fast, tc_json_out *out);

/* What loading a method allocates, and operand types for kernels meanwhile. */
size_t ti_pte_method_bytes(const tc_pte_method *m);
size_t ti_pte_meta_bytes(const tc_pte_method *m);

#endif
