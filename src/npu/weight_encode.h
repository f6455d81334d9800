/* SPDX-License-Identifier: Apache-2.0 */
/* weight_encode.h -- weights and scales as an Ethos-U reads them: the way back of npu_weights.h.
 *
 *    weights --(weight_walk.h)--> values of each core's stream --(mlw_encode.h, or fixed)--> bytes
 *
 * Of the operation count: kind, ifm.bytes, ifm.c, ofm.c, window (kh, kw, stride, dilation,
 * part_kernel), block.depth, microblock, cores, weights.sparse; for scales also acc_bits. */
#ifndef TC_WEIGHT_ENCODE_H
#define TC_WEIGHT_ENCODE_H

#include "../base/arena.h"
#include "npu_op.h"

typedef enum tc_npu_weight_form {
    TC_WEIGHTS_STANDARD, /* compressed ("mlw"): any weights, all machines, one stream a core */
    TC_WEIGHTS_FIXED,    /* 2, 4 or 8 bits a value, one stream for all cores: U85, CONV */
    TC_WEIGHTS_SMALLEST, /* the one of both that has fewer bytes; standard when they are equal */
} tc_npu_weight_form;

typedef struct tc_npu_encoded {
    tc_bytes stream[TC_NPU_CORES]; /* by core; multiples of 16 bytes, empty where a core has none */
    size_t bytes;                  /* of all streams */
    size_t values;                 /* of all cores, padding included */
    bool fixed;                    /* op.weights.fast */
} tc_npu_encoded;

/* w: [o][kh][kw][i], of a depthwise operation i = 1; zero point subtracted, -255..255.  The streams
 * are allocated in the arena; scratch is another one.  NULL: success, else the reason. */
const char *ti_npu_weights_encode(tc_arena *arena, tc_arena *scratch,
                                  const tc_npu_machine *machine, const tc_npu_op *op,
                                  const int16_t *w, tc_npu_weight_form form, tc_npu_encoded *out);

/* ---- what it would be ---- */

/* How often each weight occurs, [w + 255]: counted once for a tensor, used for many blocks. */
typedef struct tc_npu_weight_census {
    uint32_t times[511];
    size_t n;      /* weights */
    uint64_t bits; /* of the standard form, without padding */
} tc_npu_weight_census;

void ti_npu_weights_count(const int16_t *w, size_t n, tc_npu_weight_census *out);

/* Values and bytes without encoding.  Fixed: exact; standard: usually 2 % too many, without what
 * runs of zeros save beyond the padding.  0 bytes: there is no such form. */
typedef struct tc_npu_weight_size {
    size_t values, standard, fixed;
} tc_npu_weight_size;

/* Bytes a weight of the standard form, without its padding. */
double ti_npu_weights_density(const tc_npu_weight_census *census);
tc_npu_weight_size ti_npu_weights_size(const tc_npu_machine *machine, const tc_npu_op *op,
                                       const tc_npu_weight_census *census);

/* The form that is fast enough at the fewest bytes: decoding gives at least 8 values a cycle and
 * core in the standard form, and is repeated for every block of the plane (h x w).  values: of all
 * cores. */
tc_npu_weight_form ti_npu_weights_form(int64_t values, int64_t blocks_in_plane, int32_t cores,
                                       int64_t mac_cycles);

/* U85 takes 2:4 sparse weights: every aligned group of four input channels has two zeros or more,
 * and no weight is beyond +-127.  w as above, not of a depthwise operation. */
bool ti_npu_weights_are_sparse(const int16_t *w, int32_t o, int32_t kh, int32_t kw, int32_t i);

/* ---- scales ---- */

/* (acc + bias) multiplier / 2^shift. */
typedef struct tc_npu_channel_scale {
    int64_t bias;
    uint32_t multiplier;
    uint8_t shift;
} tc_npu_channel_scale;

/* The scale streams of an operation with op->ofm.c channels; U65-512 has two, all others one.
 * NULL when all is well, else which number does not fit into its field. */
const char *ti_npu_scales_encode(tc_arena *arena, const tc_npu_machine *machine,
                                 const tc_npu_op *op, const tc_npu_channel_scale *channel,
                                 tc_bytes out[2]);

#endif
