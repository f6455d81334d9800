/* SPDX-License-Identifier: Apache-2.0 */
/* state.h -- what operations work on: memories, chain buffers, accumulators.  For the files of this
 * folder. */
#ifndef TC_STATE_H
#define TC_STATE_H

#include "curve.h"
#include "npu_exec.h"
#include "scale.h"
#include "weight_walk.h"

/* Elements of h x w x c, channels last. */
typedef struct tc_npu_array {
    int32_t h, w, c;
    int64_t *v;
    size_t cap; /* elements that v has room for */
} tc_npu_array;

/* Decoded weights, kept for every operation that has the same stream in the same order: the stripes
 * of a cascade do. */
typedef struct tc_npu_kept {
    struct tc_npu_kept *next;
    tc_npu_weight_order order;
    bool fast; /* the format */
    uint8_t *stream;     /* of all cores, concatenated */
    size_t bytes;        /* of the stream */
    int32_t *weights;    /* in npu_conv.c's order, or */
    int16_t *pairs;
    int32_t largest;     /* magnitude */
} tc_npu_kept;

struct tc_npu_exec {
    tc_arena *arena;
    tc_arena scratch; /* of one operation */
    const tc_npu_program *program;
    const tc_npu_machine *machine;
    tc_npu_memory memory[TC_NPU_REGIONS + 1];
    tc_npu_array chain[TC_NPU_REGIONS], acc, out;
    bool has_acc;
    int64_t last; /* the element written last: what a branch looks at */
    int64_t limit, work;
    tc_npu_walk walk;
    tc_npu_kept **kept; /* by word of the stream: what the operation there had last; or NULL */
    tc_npu_kept *all_kept;
    const char *error;
    tc_npu_fault fault; /* its kind, */
    int outside;        /* and the region that it is an access outside of; or -1 */
};

/* Says what is wrong, the first time; always false. */
bool ti_npu_stop(tc_npu_exec *x, tc_npu_fault fault, int region, const char *format, ...) TC_PRINTF(4, 5);

/* Of data; of what is valid, and more than can be run here; of an access outside a region. */
#define ti_npu_fail(x, ...)            ti_npu_stop(x, TC_NPU_FAULT_DATA, -1, __VA_ARGS__)
#define ti_npu_beyond(x, ...)          ti_npu_stop(x, TC_NPU_FAULT_LIMIT, -1, __VA_ARGS__)
#define ti_npu_outside(x, region, ...) ti_npu_stop(x, TC_NPU_FAULT_MEMORY, region, __VA_ARGS__)

/* Counts work; false when there is too much of it. */
bool ti_npu_spend(tc_npu_exec *x, double work);

/* Room for h x w x c elements, kept from operation to operation. */
bool ti_npu_array_make(tc_npu_exec *x, tc_npu_array *a, int32_t h, int32_t w, int32_t c);

/* The elements of a map, less its zero point; of the operation's scratch. */
bool ti_npu_load(tc_npu_exec *x, const char *name, const tc_npu_map *m, int64_t scalar,
                 tc_npu_array *out);

/* The same of 8 and 16 bits, into a larger array: element (y, x) goes to row top + y step, column
 * left + x step; the rest is not changed. */
typedef struct tc_npu_frame {
    int32_t *v;
    int32_t h, w;
    int32_t top, left, step;
} tc_npu_frame;
bool ti_npu_load_frame(tc_npu_exec *x, const tc_npu_map *m, const tc_npu_frame *frame);

/* Writes a result to memory or to a chain buffer, transposed and reversed as the operation says. */
bool ti_npu_store(tc_npu_exec *x, const tc_npu_op *op, const tc_npu_array *a);

/* A span of a region; NULL when it is out of bounds. */
const uint8_t *ti_npu_span(const tc_npu_exec *x, int region, uint64_t at, uint64_t bytes);

/* Zero point, clamp, table, store; a[] holds what is already scaled, and is overwritten. */
bool ti_npu_finish(tc_npu_exec *x, const tc_npu_op *op, tc_npu_array *a);

/* The same from accumulators, which stay: scaled by channel or all equally. */
bool ti_npu_put_acc(tc_npu_exec *x, const tc_npu_op *op);

/* x->acc gets the operation's shape and what it starts from. */
bool ti_npu_start_acc(tc_npu_exec *x, const tc_npu_op *op);

/* The operations. */
typedef bool tc_npu_do(tc_npu_exec *x, const tc_npu_op *op);
tc_npu_do ti_npu_conv, ti_npu_depthwise, ti_npu_pooling, ti_npu_elementwise, ti_npu_resizing,
    ti_npu_copy;

#endif
