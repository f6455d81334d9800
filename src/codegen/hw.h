/* SPDX-License-Identifier: Apache-2.0 */
/* hw.h -- a program of the machine before it has addresses: roots, and operations on views of them.
 *
 * Every step adds to these records: select makes them, format decides how roots are stored, blocks
 * and weights are chosen, schedule orders them and adds DMAs, place gives addresses, write reads
 * them all. */
#ifndef TC_HW_H
#define TC_HW_H

#include "../base/life.h"
#include "../base/map.h"
#include "../ir/graph.h"
#include "../npu/weight_encode.h"
#include "codegen.h"
#include "view.h"

typedef enum tc_root_kind {
    TC_ROOT_VALUE,    /* made and read by the program */
    TC_ROOT_INPUT,    /* filled by the caller */
    TC_ROOT_OUTPUT,   /* read by the caller */
    TC_ROOT_CONSTANT, /* in region 0 */
    TC_ROOT_STAGED    /* constants that a DMA brings: weights, scales */
} tc_root_kind;

/* Bytes that live together. */
typedef struct tc_root {
    const char *name;
    tc_root_kind kind;
    uint8_t bytes; /* of an element: 1, 2, 4, 8 */
    int64_t count; /* elements */
    /* Channels last, as most of its readers see it: what bricks are cut from.  h = 0: it is read in
     * other ways, and stays linear. */
    int32_t h, w, c;
    tc_npu_format format;
    bool bricks;         /* padded ones too: a driver asks for them */
    int32_t roll;        /* rows of a rolling buffer; 0: all rows are stored */
    const void *data;    /* of a constant */
    tc_life life;   /* operations, in their order */
    uint8_t region;
    int64_t address; /* in its region */
} tc_root;

/* Of the kinds that are no kernels there are
 *
 *   DMA      from ifm to ofm, whose roots are linear; ifm2 has the indices, if any.  op.dma
 *            counts bytes from where the roots begin
 *   BRANCH   op.target is the index of a label
 *   STOP     stands for the label op.target itself, and is not written
 *
 * An operand or a result: `map` of the operation has the rest. */
typedef struct tc_hw_op {
    tc_npu_op op;           /* all but what later steps decide: blocks, formats, strides, addresses */
    tc_view ifm, ifm2, ofm; /* rank 3: rows, columns, channels */
    const tc_node *node;    /* of the region, for reports */
    /* CONV, DEPTHWISE: weights [o][kh][kw][i] less their zero point; per_channel: of every channel a
     * bias, a factor and a shift. */
    const int16_t *weight;
    const int64_t *bias;
    const int32_t *factor;
    const uint8_t *shift;
    const tc_npu_weight_census *census; /* of its weights; NULL while operations are selected */
    double density; /* bytes a weight, about, when they are packed */
    int32_t made; /* or the root that its weights are computed in, as a stream; -1: constant */
    bool fixed;   /* its block is fixed: what was made depends on it */
    bool staged;    /* its weights are copied ahead, to the root `stage` (-1: none) */
    bool late;      /* not before the operation before it has ended */
    int32_t stage, step, more; /* channels at a time, and by how many each slice is longer */
    int32_t slice;       /* which of them */
    int64_t staged_bytes;
    bool turns;     /* it is striped, in a cascade */
    int32_t like;   /* 1 + the operation whose block this one uses; 0: none */
    bool joins;     /* chained with the operation before it */
    int32_t table;  /* of tc_hw, or -1 */
    int32_t packed, scales; /* of tc_hw, or -1: weights and scales as bytes */
    int32_t cut_of; /* the first of several slices: channels of all; else 0 */
    const tc_codegen_packing *known; /* how an earlier program packed its weights; NULL: none did */
} tc_hw_op;

/* A table as the memory of tables holds it. */
typedef struct tc_hw_table {
    const uint8_t *data; /* NULL: it is known when the program runs */
    int32_t bytes;       /* 256, 512, 1024, 2048 */
    int32_t root;        /* that it is loaded from */
} tc_hw_table;

/* The weights of an operation, or its scales, in region 0.  They are encoded once for all
 * operations that walk through them alike, in all attempts at a program. */
typedef struct tc_hw_packed {
    const void *from[3]; /* weights; or biases, factors and shifts */
    tc_npu_op walk; /* whose block, window and channels give their order */
    int32_t next; /* 1 + another of the same hash */
    tc_bytes bytes;
    int32_t root; /* of this attempt; -1: none yet */
    bool fast;
    int64_t at[TC_NPU_CORES], size[TC_NPU_CORES]; /* of each core's stream */
} tc_hw_packed;

enum { TC_HW_HASH = 1024 };

/* What is written: kernels and DMAs, with their addresses. */
typedef struct tc_hw_list {
    tc_npu_op *op;
    int32_t *from; /* by entry: the operation of tc_hw, or -1 */
    size_t n, cap;
    int64_t constants, scratch, fast; /* bytes of regions 0, 1 and 2 */
} tc_hw_list;

/* In what an attempt may differ from the first one: bits of tc_hw's ways. */
enum {
    TC_WAY_FEW_COPIES = 1,   /* weights are copied to bytes that values leave idle, and no others */
    TC_WAY_MANY_COPIES = 2,  /* they take all bytes of a memory of their own that make them quicker */
    TC_WAY_WHOLE = 4,        /* those that are copied are not sliced; */
    TC_WAY_BY_BLOCK = 8,     /* or their slices are whole blocks; */
    TC_WAY_EVEN = 16,        /* or do not grow */
    TC_WAY_AHEAD_ONLY = 32,  /* no weights are copied late */
    TC_WAY_AGAIN = 64,       /* blocks may read more again, where that is quicker */
    TC_WAY_UNPADDED = 128    /* values are stored in bricks only where these are full */
};

/* What is packed and the blocks that were found stay for all attempts at a program, in the context's
 * arena; the rest is in ctx->scratch, and goes with the attempt. */
typedef struct tc_hw {
    tc_ctx *ctx;
    tc_arena *arena; /* &ctx->scratch */
    tc_arena *kept;  /* of what stays for all attempts: &ctx->arena */
    bool judges;     /* whether the region is taken is all that is asked: forms are not compared */
    bool ordered;    /* in another order than the region's */
    unsigned ways;
    bool counts;     /* for a price: weights are counted, and every root has bytes of its own */
    const tc_codegen_options *options;
    const tc_npu_machine *machine;
    const tc_graph *g;
    tc_root *root;
    size_t n_root, cap_root;
    tc_hw_op *op;
    size_t n_op, cap_op;
    tc_hw_table *table;
    size_t n_table, cap_table;
    tc_hw_packed *packed;
    size_t n_packed, cap_packed;
    int32_t hash[TC_HW_HASH]; /* 1 + the first of that hash */
    tc_map kernel; /* weights of the region as int16_t, by address and zero point */
    struct tc_npu_block_memo *memo; /* blocks that were searched before, in all attempts */
    tc_codegen_form *form; /* that were compared */
    size_t n_form, cap_form;
    uint32_t n_label; /* targets of branches */
    int32_t *in, *out; /* roots of the region's inputs and outputs */
    int32_t rows; /* of a stripe of a cascade's last operation; 0: no cascades; below: planned */
    tc_hw_list list;
    const char *refused;
    const tc_node *refused_node;
} tc_hw;

/* Rows below 0: cascades as they cost the fewest cycles with a fast memory that is limited, planned with
 * as much room as three guesses say (cascade_plan.c). */
enum { TC_HW_PLANNED = -3 };

/* Fewer channels waste more of a brick than its bursts gain. */
enum { TC_HW_FEWEST = 8 };

static inline bool ti_hw_is_u85(const tc_hw *hw) { return hw->machine->product == TC_U85; }

/* ---- the steps, in order; after a refusal (hw->refused) the later ones are not called ---- */
void ti_hw_select(tc_hw *hw);     /* select.c */
void ti_hw_turns(tc_hw *hw);      /* turn.c: U85: convolutions write what is transposed behind them */
void ti_hw_formats(tc_hw *hw);    /* format.c: bricks or linear */
void ti_hw_near(tc_hw *hw);       /* near.c: constant operands next to values */
void ti_hw_densities(tc_hw *hw);  /* stage.c: which weights there are, and how many bytes they will have */
void ti_hw_chains(tc_hw *hw);     /* chain.c: U85: values that do not go to memory */
bool ti_hw_order(tc_hw *hw);      /* order.c: another order that needs less at the same time; false:
                                   * none was found */
bool ti_hw_cascades(tc_hw *hw);   /* cascade.c: operations in stripes, some rows at a time;
                                   * false: there are none */
void ti_hw_regions(tc_hw *hw);    /* memories.c: which memory each root is in */
void ti_hw_slices(tc_hw *hw);     /* stage.c: channels in slices, where weights are copied ahead */
void ti_hw_maps(tc_hw *hw);       /* format.c: bases within roots, and strides */
void ti_hw_blocks(tc_hw *hw);     /* pack_weights.c */
void ti_hw_pack(tc_hw *hw);       /* pack_weights.c: weights and scales, in the order of blocks */
void ti_hw_stage(tc_hw *hw);      /* stage.c: buffers for weights that are copied ahead */
void ti_hw_emit(tc_hw *hw);       /* emit.c: schedule, place */

/* ---- share.c: what programs have in common ---- */
uint64_t ti_hw_hash(const void *data, size_t bytes);
/* How a program before packed such weights; NULL: none did, or not of this operation. */
const tc_codegen_packing *ti_hw_known(const tc_hw *hw, const tc_hw_op *op);
/* The same of all operations. */
void ti_hw_know(tc_hw *hw);
/* Where region 0 has these bytes already; -1: nowhere. */
int64_t ti_hw_there(const tc_hw *hw, uint64_t hash, const void *data, size_t bytes);
/* Region 0 as the next program finds it, where several have it in common. */
void ti_hw_leave(const tc_hw *hw, tc_bytes weights, tc_codegen_shared *out);

/* What was emitted costs. */
void ti_hw_price(const tc_hw *hw, tc_arena *arena, tc_npu_stream_cost *out); /* stage.c */
/* The stream, and all that belongs to it, in the context's arena. */
void ti_hw_write(tc_hw *hw, tc_codegen_result *out); /* emit.c */

/* An operation without operands (select_emit.c). */
tc_hw_op ti_hw_op_of(const tc_hw *hw, const tc_node *node, tc_npu_kind kind, uint8_t mode);
/* A new root; a constant's data is not copied. */
int32_t ti_hw_root(tc_hw *hw, const char *name, tc_root_kind kind, uint8_t bytes, int64_t count);

/* Some value is in bricks that are not full (format.c). */
bool ti_hw_has_padded(const tc_hw *hw);
/* Bytes that it takes as it is stored. */
int64_t ti_hw_root_bytes(const tc_root *r);

/* Of so many channels of an operation's weights, about as many as they will be when packed. */
int64_t ti_hw_weight_bytes(const tc_hw_op *op, int64_t channels);

/* As many bytes as the weights of such an operation will have when packed, about; padding is much of small ones.  In
 * steps, so that equal shapes are searched once. */
double ti_hw_packed_bytes(const tc_hw *hw, const tc_hw_op *op, const tc_npu_op *as);

/* Cycles of operations [first, end), as far as that is known while they are selected: values in the
 * fast memory, in bricks where these operations allow it; INFINITY: they have no blocks. */
double ti_hw_cycles(tc_hw *hw, size_t first, size_t end);

/* An operation whose maps have regions, as the cost model sees it before there is a stream: its block is
 * found; staged: its weights are copied ahead. */
void ti_hw_job(tc_hw *hw, const tc_hw_op *op, bool staged, tc_npu_job *out);
/* Cycles of a job in a steady stream, and of its commands; slack as in ti_npu_cost_job. */
double ti_hw_job_cycles(const tc_hw *hw, const tc_npu_job *job, double *slack);

/* Of the values in the fullest step the largest leaves the fast region, until so many bytes are
 * enough; false: there is none. */
bool ti_hw_evict(tc_hw *hw, int64_t room);

/* Bytes of a region in the step that needs the most. */
int64_t ti_hw_most(tc_hw *hw, uint8_t region, int32_t *step);

/* First and last step of every root. */
void ti_hw_live(tc_hw *hw);

/* By root: 1 + the root whose memory it reuses, an operand that nothing else reads any more; 0:
 * none. */
const int32_t *ti_hw_in_place(const tc_hw *hw);

/* Weights and constants are in a slower memory than values, and copies of them pay. */
bool ti_hw_stages(const tc_hw *hw);
/* Cycles that so many bytes more of SRAM must save. */
double ti_hw_price_of_bytes(int64_t bytes);
/* The region of values and of what is copied ahead: 2 where that is a memory of its own. */
uint8_t ti_hw_fast_region(const tc_hw *hw);

/* A table; an existing one of equal bytes is reused. */
int32_t ti_hw_table(tc_hw *hw, const uint8_t *data, int32_t bytes);
/* One that is stored in a root, in order; data: its entries, or NULL. */
int32_t ti_hw_table_from(tc_hw *hw, int32_t root, const uint8_t *data, int32_t bytes);

/* Why the region is not taken; the first reason stays. */
void ti_hw_refuse(tc_hw *hw, const tc_node *node, const char *format, ...) TC_PRINTF(3, 4);

#endif
