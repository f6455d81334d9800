/* SPDX-License-Identifier: Apache-2.0 */
/* npu_weights.h -- compressed weights, back to what they were before the encoder reordered them. */
#ifndef TC_NPU_WEIGHTS_H
#define TC_NPU_WEIGHTS_H

#include "../base/arena.h"
#include "npu_op.h"

/* What the order of an operation's weights depends on. */
typedef struct tc_npu_weight_shape {
    int32_t o, kh, kw, i; /* of a depthwise operation i = 1 */
    bool depthwise;
} tc_npu_weight_shape;

tc_npu_weight_shape ti_npu_weight_shape_of(const tc_npu_op *op);

/* The weights of a CONV or DEPTHWISE, [o][kh][kw][i], zero points already subtracted (-255..255).
 * stream: the bytes of each core's stream.  NULL when all is well, else what is wrong with them. */
const char *ti_npu_weights_decode(tc_arena *scratch, const tc_npu_machine *machine,
                                  const tc_npu_op *op, const tc_bytes *stream, int16_t *out);

/* All values of a stream of the standard format ("mlw"), in the order of the stream, for
 * inspection.  *n: how many.  NULL: the stream is broken, or has more than `most` values.
 */
int16_t *ti_npu_mlw_decode(tc_arena *arena, tc_bytes stream, size_t most, size_t *n);

#endif
