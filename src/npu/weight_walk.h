/* SPDX-License-Identifier: Apache-2.0 */
/* weight_walk.h -- the order of an operation's weights in the stream, for both directions.
 *
 * Each core has a stream of values.  A value is a weight w[o][kh][kw][i], or a zero where the walk
 * passes positions outside the tensor and unused slots. */
#ifndef TC_WEIGHT_WALK_H
#define TC_WEIGHT_WALK_H

#include "npu_weights.h"

typedef struct tc_npu_weight_order {
    tc_npu_weight_shape shape;
    bool u85, part;              /* part: part kernel first */
    int32_t cores, block, micro; /* channels of an output block, of a microblock */
    int32_t ifm_block, ifm_step; /* input channels of a block; U85: that stay together */
    int32_t step;                /* U85: input channels of an output channel contiguous */
    int32_t round;               /* taps of a sub-kernel are a multiple of it */
    int32_t sub_h, sub_w;        /* of the largest sub-kernel */
    int32_t stride_y, stride_x;  /* U85: taps of equal phase are together */
    int32_t padding;             /* U85, depthwise: zeros after each group of taps, a channel */
} tc_npu_weight_order;

/* False: the machine has no such microblock, or the operation no block. */
bool ti_npu_weight_order_of(const tc_npu_machine *machine, const tc_npu_op *op,
                            tc_npu_weight_order *out);

/* How many values the stream of a core has. */
size_t ti_npu_weight_count(const tc_npu_weight_order *order, int32_t core);

/* The fixed-size format of U85 interleaves the cores' values in groups of this many; 0: none. */
size_t ti_npu_weight_turn(const tc_npu_weight_order *order);

/* From the n values of a core's stream to the tensor.  NULL when all is well; more values than the
 * order has must be zeros. */
const char *ti_npu_weights_spread(const tc_npu_weight_order *order, int32_t core,
                                  const int16_t *stream, size_t n, int16_t *tensor);

/* And back: all ti_npu_weight_count() values of the core's stream. */
void ti_npu_weights_gather(const tc_npu_weight_order *order, int32_t core, const int16_t *tensor,
                           int16_t *stream);

#endif
