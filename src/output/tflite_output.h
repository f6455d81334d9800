/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_output.h -- a compiled module as a .tflite for TensorFlow Lite Micro. */
#ifndef TC_TFLITE_OUTPUT_H
#define TC_TFLITE_OUTPUT_H

#include "../drive/driver.h"

typedef struct tc_tflite {
    tc_bytes file;
    tc_memory plan;
    size_t memory; /* bytes of the arena */
    const tc_graph *planned;
    const struct tc_npu_moved *moved; /* by region */
} tc_tflite;

/* c is compiled again where operators of a TFLite file, of which parts stay on the CPU, are to stay
 * there whole. */
TC_MUST_USE tc_status ti_tflite_make(tc_ctx *ctx, tc_compiled *c, tc_tflite *out);

#endif
