/* SPDX-License-Identifier: Apache-2.0 */
/* codegen.h -- code generation for Ethos-U: a TOSA region in, what the machine loads out.
 *
 *    select    TOSA operators become operations of the machine, on views of what is in memory
 *    split     an operation that is too large for its registers becomes several
 *    block     in what pieces each operation goes through the machine; weights in that order
 *    schedule  in which order, which of them in chains, weights and tables when
 *    place     addresses
 *    write     registers, waits, the driver's words
 *
 * Whether an operator is taken is known after `select`; a region is taken whole, or not at all. */
#ifndef TC_CODEGEN_H
#define TC_CODEGEN_H

#include "../ir/graph.h"
#include "../npu/cost.h"
#include "../npu/mark.h"
#include "../npu/program.h"

/* Bytes of region 0 that belong together. */
typedef struct tc_codegen_piece {
    uint64_t hash;
    size_t at, bytes;
} tc_codegen_piece;

/* How weights were packed. */
typedef struct tc_codegen_packing {
    uint64_t hash; /* of the elements; */
    size_t n;      /* how many, */
    int32_t channels, step; /* of so many channels, and in steps of so many, */
    int32_t more;           /* each longer by so many than the one before */
    int32_t depth, unit; /* channels of a block, and of a microblock; 0: it was packed in steps only */
    bool part_kernel, fast;
} tc_codegen_packing;

/* Programs that have region 0 in common: each reuses what is stored there already, in
 * its order, and appends its own after that. */
typedef struct tc_codegen_shared {
    tc_bytes weights;
    tc_codegen_piece *piece;
    size_t n_piece;
    tc_codegen_packing *packing;
    size_t n_packing;
} tc_codegen_shared;

struct tc_npu_block_memo;

typedef struct tc_codegen_options {
    const tc_npu_machine *machine;
    const tc_npu_system *system;
    bool size;           /* the fewest bytes, not the fewest cycles */
    bool products;       /* U55, U65: a weight stream may be made from an activation */
    tc_npu_marks marks;  /* of operations, for counters */
    int64_t max_scratch; /* bytes of working memory, in whatever memory it is; 0: any */
    bool cascades;       /* a price is that of the best stream, whose memory counts too */
    const tc_codegen_shared *before; /* region 0 as programs before left it; NULL: it is this one's */
    struct tc_npu_block_memo *memo;  /* blocks found for other graphs; NULL: there are none */
} tc_codegen_options;

/* Where a command comes from. */
typedef struct tc_codegen_origin {
    size_t word;         /* of the command in the stream */
    const tc_node *node; /* of the region; its last one, where several are fused */
} tc_codegen_origin;

/* Another form of an operation that was priced next to the plain one (form.def). */
typedef struct tc_codegen_form {
    const char *name;
    const tc_node *node; /* of the region; NULL: it is of several, */
    const tc_type *type; /* and what it makes */
    size_t places;       /* operations like it */
    double without, with; /* cycles of all of them; of the program, where node is NULL */
    bool taken;
} tc_codegen_form;

/* Where a value is stored, and for how long. */
typedef struct tc_codegen_place {
    const char *name, *memory; /* the value's; "Sram" */
    int64_t offset, bytes;
    size_t first, last; /* commands, by their index in `origin`, between which it is live */
} tc_codegen_place;

typedef struct tc_codegen_result {
    tc_npu_program program;
    tc_codegen_origin *origin; /* in the order of the stream */
    size_t n_origin;
    tc_codegen_place *place;
    size_t n_place;
    tc_codegen_form *form;
    size_t n_form;
    tc_codegen_shared shared; /* options->before: region 0 for the next one, */
    size_t taken;             /* of whose bytes so many were there before */
    /* Not taken: why, and which operator; the rest is empty then. */
    const char *refused;
    const tc_node *refused_node;
} tc_codegen_result;

/* What a node's weights and scales take of region 0. */
typedef struct tc_codegen_share {
    const tc_node *node;
    int64_t bytes;
} tc_codegen_share;

/* What the stream of a graph is expected to cost. */
typedef struct tc_codegen_price {
    tc_npu_stream_cost cost; /* of its operations, by the model that streams are measured with */
    const tc_node **node;    /* by operation of `cost`: the region's; NULL: none */
    int64_t memory;          /* bytes of values in the step that needs the most */
    int64_t constants;       /* bytes of region 0, */
    tc_codegen_share *share; /* and those of weights and scales by node, each counted once */
    size_t n_share;
    /* Not taken: why, and which operator; the rest is empty then. */
    const char *refused;
    const tc_node *refused_node;
} tc_codegen_price;

/* g: TOSA by all its rules (target/target.h judges it).  TC_OK also where the region is not taken:
 * out->refused says so.  Memory is the context's. */
TC_MUST_USE tc_status ti_codegen(tc_ctx *ctx, const tc_codegen_options *options, const tc_graph *g,
                                 tc_codegen_result *out);

/* The same without making it: the operations of the stream, each with its block; weights are counted
 * and not packed, values have no addresses, and cascades are tried only where values leave the fast
 * memory, or where options ask for them.
 * Memory is the context's. */
void ti_codegen_price(tc_ctx *ctx, const tc_codegen_options *options, const tc_graph *g,
                      tc_codegen_price *out);

/* Why operators of g have no operations of the machine; NULL: they are taken, up to what is known when
 * all of the program is. */
const char *ti_codegen_refuses(tc_ctx *ctx, const tc_codegen_options *options, const tc_graph *g);

#endif
