/* SPDX-License-Identifier: Apache-2.0 */
/* softmax_codes.h -- softmax of int8 codes as TensorFlow Lite and CMSIS-NN compute it, in TOSA
 * (tflite/tflite_codes_softmax.c). */
#ifndef TC_SOFTMAX_CODES_H
#define TC_SOFTMAX_CODES_H

#include "../ir/build.h"

/* Over the last axis; power: of e, 31 bits of fraction, of 0 to -255 codes; to i8, or i16. */
tc_val ti_tfl_softmax8(tc_build *m, tc_val x, const int32_t *power, tc_dtype to);

#endif
